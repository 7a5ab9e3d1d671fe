/* Inserts by real bytes: every small file of the partition, the smallest first, then one stream of
 * new files.
 * I1: no estimate decides where a row goes. Each bucket takes rows until its file has the target's
 *     bytes, so all small files and a new one are listed, also where the estimate says that the
 *     first of them will do: counts of rows are for people, and for laying out work. */
#include <assert.h>
#include <inttypes.h>

#include "plan/upsert_parts.h"

/* Rows of the estimated size that fit into so many bytes. */
static int64_t rows_in(const tn_upsert_planning *p, uint64_t bytes)
{
    double rows = (double)bytes / p->options->record_bytes;

    return rows >= 0x1p62 ? (int64_t)1 << 62 : (int64_t)rows;
}

static int fill_small_files(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in,
                            int64_t *left)
{
    const tn_sizing *sizing = &p->options->sizing;
    tn_upsert_candidate *small;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_upsert_candidates_real(cx, p, in, &small, &count));
    for (size_t i = 0; i < count; i++) {
        int64_t room = rows_in(p, sizing->max_file_bytes - small[i].bytes);
        tn_bucket *bucket;

        TN_TRY(tn_upsert_bucket_of(cx, p, small[i].file, &bucket));
        bucket->target_bytes = sizing->max_file_bytes;
        bucket->inserts = room < *left ? room : *left;
        *left -= bucket->inserts;
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why,
                              "%" PRIu64 " bytes without its key filter, under the limit of "
                              "%" PRId64 ": room for about %" PRId64 " rows%s",
                              small[i].bytes, sizing->small_file_bytes, room,
                              bucket->updates > 0 ? ", and holds some of the keys" : ""));
        TN_TRY(tn_upsert_takes(cx, p, bucket));
    }
done:
    return rc;
}

static int open_new_files(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in, int64_t left)
{
    const tn_sizing *sizing = &p->options->sizing;
    int64_t each = rows_in(p, sizing->max_file_bytes);
    tn_bucket *bucket;
    int rc = TARN_OK;

    TN_TRY(tn_upsert_bucket_new(cx, p, &bucket));
    bucket->target_bytes = sizing->max_file_bytes;
    bucket->inserts = left;
    if (in->inserts < 0)
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why, "new: a file for every %" PRIu64 " bytes",
                              sizing->max_file_bytes));
    else if (left == 0)
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why,
                              "new: only if rows are larger than they were so far"));
    else
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why,
                              "new: a file for every %" PRIu64 " bytes, about %" PRId64 " files",
                              sizing->max_file_bytes, each > 0 ? (left - 1) / each + 1 : left));
    TN_TRY(tn_upsert_takes(cx, p, bucket));
done:
    return rc;
}

int tn_upsert_real(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in)
{
    int64_t left = in->inserts > 0 ? in->inserts : 0;
    int rc = TARN_OK;

    assert(in->inserts != 0);
    if (tn_upsert_fills_files(p->options))
        TN_TRY(fill_small_files(cx, p, in, &left));
    TN_TRY(open_new_files(cx, p, in, left));
done:
    return rc;
}
