/* Where rows of a write go.
 * I1: a partition's buckets are consecutive: those of its updates first, in the order given, then
 *     those that only take inserts, in the order in which they are filled.
 * I2: a file group has one bucket at most.
 * I3: the plan is a function of its arguments and of the random numbers of `cx`. */
#include "plan/plan_upsert.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "plan/upsert_parts.h"
#include "task/data_name.h"

void tn_sizing_defaults(tn_sizing *out)
{
    *out = (tn_sizing){.max_file_bytes = 125829120,
                       .small_file_bytes = 104857600,
                       .record_bytes = 1024,
                       .estimate_threshold = 1.0,
                       .auto_split = true,
                       .split_rows = 500000,
                       .commits_max = 5};
}

int tn_upsert_check_sizing(tarn_cx *cx, const tn_sizing *sizing)
{
    if (sizing->max_file_bytes == 0 || sizing->max_file_bytes > INT64_MAX)
        return tn_fail(cx, TARN_E_INVALID,
                       "hoodie.parquet.max.file.size: %" PRIu64
                       " is no size of a file; give bytes, "
                       "125829120 for example",
                       sizing->max_file_bytes);
    if (sizing->record_bytes < 1)
        return tn_fail(cx, TARN_E_INVALID,
                       "hoodie.copyonwrite.record.size.estimate: %" PRId64
                       " is no size of a record; give 1 or more bytes",
                       sizing->record_bytes);
    if (!sizing->auto_split && sizing->split_rows < 1)
        return tn_fail(cx, TARN_E_INVALID,
                       "hoodie.copyonwrite.insert.split.size: %" PRId64
                       " rows make no file; give 1 or more, or leave "
                       "hoodie.copyonwrite.insert.auto.split on",
                       sizing->split_rows);
    if (isnan(sizing->estimate_threshold))
        return tn_fail(
            cx, TARN_E_INVALID,
            "hoodie.record.size.estimation.threshold is no number; give 1.0 for example");
    if (sizing->metadata_bytes < 0)
        return tn_fail(cx, TARN_E_INVALID,
                       "hoodie.record.size.estimator.average.metadata.size: %" PRId64
                       " is no size; give 0 or more bytes",
                       sizing->metadata_bytes);
    return TARN_OK;
}

uint64_t tn_upsert_file_bytes(const tn_base_file *file)
{
    return file->size_bytes > file->filter_bytes ? file->size_bytes - file->filter_bytes : 0;
}

bool tn_upsert_fills_files(const tn_upsert_options *options)
{
    return options->has_commit && options->operation != TN_OP_BULK_INSERT &&
           options->operation != TN_OP_INSERT_OVERWRITE &&
           options->operation != TN_OP_INSERT_OVERWRITE_TABLE;
}

static int add_bucket(tarn_cx *cx, tn_upsert_planning *p, const tn_base_file *base, tn_bucket **out)
{
    tn_upsert_plan *plan = p->plan;
    tn_upsert_partition *partition = &plan->partitions[plan->partition_count - 1];
    int rc = TARN_OK;

    if (plan->bucket_count == TN_UPSERT_BUCKETS_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "partition \"%.*s\": a write into more than %d files is not planned; give a larger "
                "hoodie.parquet.max.file.size or hoodie.copyonwrite.insert.split.size, or fewer "
                "rows at a time",
                TN_STR_ARG(partition->path), TN_UPSERT_BUCKETS_MAX);
    TN_TRY(tn_arena_grow(cx, p->arena, &plan->buckets, plan->bucket_count, &p->bucket_cap,
                         sizeof *plan->buckets));
    plan->buckets[plan->bucket_count] =
        (tn_bucket){.partition = (uint32_t)(plan->partition_count - 1), .base = base};
    *out = &plan->buckets[plan->bucket_count++];
    partition->bucket_count++;
done:
    return rc;
}

int tn_upsert_bucket_of(tarn_cx *cx, tn_upsert_planning *p, const tn_base_file *base,
                        tn_bucket **out)
{
    bool added;
    size_t *place = tn_map_add(cx, &p->bases, base->file_id, &added);
    int rc = TARN_OK;

    if (place == NULL)
        return TARN_E_NOMEM;
    if (added) {
        *place = p->plan->bucket_count;
        TN_TRY(add_bucket(cx, p, base, out));
    } else
        *out = &p->plan->buckets[*place];
done:
    return rc;
}

int tn_upsert_bucket_new(tarn_cx *cx, tn_upsert_planning *p, tn_bucket **out)
{
    tn_bucket *bucket;
    int rc = TARN_OK;

    TN_TRY(add_bucket(cx, p, NULL, &bucket));
    TN_TRY(tn_data_name_new_id(cx, p->arena, &bucket->file_id));
    *out = bucket;
done:
    return rc;
}

int tn_upsert_takes(tarn_cx *cx, tn_upsert_planning *p, const tn_bucket *bucket)
{
    tn_upsert_plan *plan = p->plan;
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, p->arena, &plan->insert_buckets, p->insert_count, &p->insert_cap,
                         sizeof *plan->insert_buckets));
    plan->insert_buckets[p->insert_count++] = (uint32_t)(bucket - plan->buckets);
    plan->partitions[plan->partition_count - 1].insert_bucket_count++;
done:
    return rc;
}

static int add_updates(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < in->updated_count; i++) {
        tn_bucket *bucket;

        TN_TRY(tn_upsert_bucket_of(cx, p, in->updated[i], &bucket));
        bucket->updates += in->update_counts[i];
        TN_TRY(tn_arena_print(cx, p->arena, &bucket->why, "holds %" PRId64 " of the keys",
                              bucket->updates));
    }
done:
    return rc;
}

static int add_partition(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in)
{
    tn_upsert_plan *plan = p->plan;
    tn_upsert_partition *partition = &plan->partitions[plan->partition_count++];
    int rc = TARN_OK;

    assert(in->inserts >= 0 || !plan->exact);
    *partition = (tn_upsert_partition){.path = in->path,
                                       .number = in->number,
                                       .inserts = in->inserts,
                                       .first_bucket = plan->bucket_count,
                                       .first_insert = p->insert_count};
    TN_TRY(tn_arena_keep(cx, p->arena, &partition->path));
    tn_map_clear(&p->bases);
    TN_TRY(add_updates(cx, p, in));
    if (in->inserts == 0)
        goto done;
    if (plan->index_buckets != 0)
        TN_TRY(tn_upsert_index(cx, p, in));
    else if (plan->exact)
        TN_TRY(tn_upsert_exact(cx, p, in));
    else
        TN_TRY(tn_upsert_real(cx, p, in));
done:
    return rc;
}

int tn_plan_upsert(tarn_cx *cx, const tn_upsert_options *options, const tn_upsert_in *in,
                   size_t count, tn_arena *arena, tn_upsert_plan *out)
{
    tn_upsert_plan plan = {.exact =
                               options->sizing.exact && options->operation != TN_OP_BULK_INSERT,
                           .index_buckets = options->index_buckets,
                           .record_bytes = options->record_bytes,
                           .record_bytes_why = options->record_bytes_why};
    tn_upsert_planning p = {.options = options, .arena = arena, .plan = &plan};
    int rc = TARN_OK;

    assert(count == 0 || in != NULL);
    assert(options->record_bytes > 0);
    TN_TRY(tn_upsert_check_sizing(cx, &options->sizing));
    plan.partitions = tn_arena_array(cx, arena, count, sizeof *plan.partitions);
    if (plan.partitions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        TN_TRY(add_partition(cx, &p, &in[i]));
    *out = plan;
done:
    tn_map_clear(&p.bases);
    return rc;
}
