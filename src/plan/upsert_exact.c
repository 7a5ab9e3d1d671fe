/* Inserts as Hudi's UpsertPartitioner assigns them (format/writes.md 2.3).
 * I1: counts and weights are computed in its arithmetic: whole divisions of 64 bits, doubles for
 *     weights, which are summed up in the order of assignment. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "plan/upsert_parts.h"

/* A bucket takes `count` of the partition's inserts; *sum is the weight of those before it. */
static int assign(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in, tn_bucket *bucket,
                  int64_t count, double *sum)
{
    *sum += 1.0 * (double)count / (double)in->inserts;
    bucket->inserts = count;
    bucket->until = *sum;
    return tn_upsert_takes(cx, p, bucket);
}

static uint64_t limit_of(const tn_upsert_options *o)
{
    return o->merge_on_read && o->index_sees_logs ? o->sizing.max_file_bytes
                                                  : (uint64_t)o->sizing.small_file_bytes;
}

static int fill_small_files(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in,
                            int64_t record_bytes, int64_t *left, double *sum)
{
    const tn_sizing *sizing = &p->options->sizing;
    tn_upsert_candidate *small;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_upsert_candidates(cx, p, in, &small, &count));
    for (size_t i = 0; i < count && *left != 0; i++) {
        tn_bucket *bucket;
        int64_t room;

        /* Below zero where the limit is set above the maximum. */
        room = ((int64_t)sizing->max_file_bytes - (int64_t)small[i].bytes) / record_bytes;
        if (room <= 0)
            continue;
        TN_TRY(tn_upsert_bucket_of(cx, p, small[i].file, &bucket));
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why,
                              "%" PRIu64 " bytes, under the limit of %" PRIu64 ": room for %" PRId64
                              " records%s",
                              small[i].bytes, limit_of(p->options), room,
                              bucket->updates > 0 ? ", and holds some of the keys" : ""));
        TN_TRY(assign(cx, p, in, bucket, room < *left ? room : *left, sum));
        *left -= bucket->inserts;
    }
done:
    return rc;
}

/* (int) Math.ceil(1.0 * maximum / size) of Java: it ends at 2^31 - 1. */
static int64_t auto_split(const tn_sizing *sizing, int64_t record_bytes)
{
    double each = ceil(1.0 * (double)sizing->max_file_bytes / (double)record_bytes);

    return each >= (double)INT32_MAX ? INT32_MAX : (int64_t)each;
}

static int open_new_files(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in,
                          int64_t record_bytes, int64_t left, double *sum)
{
    const tn_sizing *sizing = &p->options->sizing;
    int64_t each = sizing->auto_split ? auto_split(sizing, record_bytes) : sizing->split_rows;
    int rc = TARN_OK;

    while (left > 0) {
        tn_bucket *bucket;

        TN_TRY(tn_upsert_bucket_new(cx, p, &bucket));
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why, "new: %s %" PRId64 " records%s",
                              left > each ? "takes" : "the rest, at most", each,
                              sizing->auto_split ? "" : " (hoodie.copyonwrite.insert.split.size)"));
        TN_TRY(assign(cx, p, in, bucket, left > each ? each : left, sum));
        left -= bucket->inserts;
    }
done:
    return rc;
}

int tn_upsert_exact(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in)
{
    double size = floor(p->options->record_bytes);
    int64_t record_bytes = size < 1 ? 1 : size >= 0x1p62 ? (int64_t)1 << 62 : (int64_t)size;
    int64_t left = in->inserts;
    double sum = 0;
    int rc = TARN_OK;

    assert(in->inserts > 0);
    if (tn_upsert_fills_files(p->options))
        TN_TRY(fill_small_files(cx, p, in, record_bytes, &left, &sum));
    TN_TRY(open_new_files(cx, p, in, record_bytes, left, &sum));
done:
    return rc;
}
