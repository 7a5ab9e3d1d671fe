/* A whole write: rows in, staged files out.
 *
 *   no partitions ── stream ── one bucket
 *   partitions    ── stream ── route ── large buckets one after the other, their columns in
 * parallel ── small buckets in parallel, each by one thread
 *
 * I1: names and numbers follow from the order of the partitions alone, whatever thread was faster.
 * I2: small buckets are small enough that a thread each stays within the memory budget. */
#include "exec/exec_write.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/array.h"
#include "batch/field.h"
#include "batch/stream.h"
#include "exec/write_bucket.h"

#define SMALL_BYTES_MAX (32ull << 20) /* in memory form */

/* All rows of a stream into one bucket. */
static int write_stream(tarn_cx *cx, struct ArrowArrayStream *rows, tn_write_bucket *bucket)
{
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    for (;;) {
        TN_TRY(tn_stream_status(cx, rows, rows->get_next(rows, &batch)));
        if (batch.release == NULL)
            break;
        TN_TRY(tn_write_bucket_add(cx, bucket, &batch));
        tn_array_release(&batch);
    }
    TN_TRY(tn_write_bucket_end(cx, bucket));
done:
    tn_array_release(&batch);
    return rc;
}

/* Appends what a bucket made to the files; `number` is that of the first. */
static int list_files(tarn_cx *cx, const tn_write_plan *plan, const tn_write_bucket *bucket,
                      tn_str partition, uint64_t number, tn_arena *arena, tn_write_files *out)
{
    const tn_write_made *made = (const void *)bucket->made.data;
    size_t count = bucket->made.len / sizeof *made;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        tn_write_file *file = &out->files[out->count + i];

        *file =
            (tn_write_file){.partition = partition, .bytes = made[i].bytes, .rows = made[i].rows};
        TN_TRY(tn_arena_print(cx, arena, &file->name, "part-%05" PRIu64 "-%.*s.parquet", number + i,
                              TN_STR_ARG(plan->id)));
        TN_TRY(tn_write_bucket_path(cx, arena, plan, bucket->index, made[i].number, &file->staged));
    }
    out->count += count;
done:
    return rc;
}

static int make_files(tarn_cx *cx, size_t count, tn_arena *arena, tn_write_files *out)
{
    out->files = tn_arena_array(cx, arena, count, sizeof out->files[0]);
    return out->files != NULL ? TARN_OK : TARN_E_NOMEM;
}

int tn_exec_write(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                  const tn_route_bucket *bucket, struct ArrowArrayStream *rows, uint64_t number,
                  tn_arena *arena, tn_write_files *out)
{
    tn_write_job job = {.store = store, .plan = plan, .files = number};
    tn_write_bucket one = {.job = &job, .index = number};
    struct ArrowSchema schema = {0};
    tn_write_files files = {0};
    tn_str partition = bucket->partition;
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(tn_stream_status(cx, rows, rows->get_schema(rows, &schema)));
    job.schema = &schema;
    TN_TRY(write_stream(cx, rows, &one));
    TN_TRY(tn_arena_keep(cx, arena, &partition));
    TN_TRY(make_files(cx, one.made.len / sizeof(tn_write_made), arena, &files));
    TN_TRY(list_files(cx, plan, &one, partition, number, arena, &files));
    *out = files;
done:
    tn_write_bucket_clear(&one);
    tn_field_release(&schema);
    return rc;
}

/* --- many buckets --- */

typedef struct many {
    tn_route *route;
    const tn_route_bucket *buckets;
    tn_write_bucket *made; /* per bucket */
    size_t *small;         /* their numbers */
    size_t small_count;
} many;

static int write_one(tarn_cx *cx, const many *m, size_t i)
{
    tn_route_reader *reader = NULL;
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    TN_TRY(tn_route_reader_open(cx, m->route, i, &reader));
    for (;;) {
        TN_TRY(tn_route_reader_next(cx, reader, &batch));
        if (batch.release == NULL)
            break;
        TN_TRY(tn_write_bucket_add(cx, &m->made[i], &batch));
        tn_array_release(&batch);
    }
    TN_TRY(tn_write_bucket_end(cx, &m->made[i]));
done:
    tn_array_release(&batch);
    tn_route_reader_close(reader);
    return rc;
}

static int write_small(tarn_cx *cx, size_t i, void *arg)
{
    const many *m = arg;

    return write_one(cx, m, m->small[i]);
}

/* I2: what a thread's bucket may take in memory form. */
static uint64_t small_bytes(const tarn_cx *cx)
{
    uint64_t budget = tn_budget_bytes(cx), share = budget / 4 / tn_cx_jobs(cx);

    return share < SMALL_BYTES_MAX ? share : SMALL_BYTES_MAX;
}

static int write_buckets(tarn_cx *cx, many *m, size_t count)
{
    uint64_t small = small_bytes(cx);
    int rc = TARN_OK;

    m->small = tn_calloc(cx, count, sizeof m->small[0]);
    if (m->small == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (m->buckets[i].bytes <= small)
            m->small[m->small_count++] = i;
        else
            TN_TRY(write_one(cx, m, i));
    }
    TN_TRY(tn_parallel(cx, m->small_count, write_small, m));
done:
    return rc;
}

static int list_buckets(tarn_cx *cx, const tn_write_plan *plan, const many *m, size_t count,
                        tn_arena *arena, tn_write_files *out)
{
    tn_str partition = {0};
    size_t files = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        files += m->made[i].made.len / sizeof(tn_write_made);
    TN_TRY(make_files(cx, files, arena, out));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !tn_str_equal(partition, m->buckets[i].partition)) {
            partition = m->buckets[i].partition;
            TN_TRY(tn_arena_keep(cx, arena, &partition));
        }
        TN_TRY(list_files(cx, plan, &m->made[i], partition, out->count, arena, out));
    }
done:
    return rc;
}

static int route_all(tarn_cx *cx, tn_route *route, struct ArrowArrayStream *rows)
{
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    for (;;) {
        TN_TRY(tn_stream_status(cx, rows, rows->get_next(rows, &batch)));
        if (batch.release == NULL)
            break;
        TN_TRY(tn_route_add(cx, route, &batch));
    }
done:
    tn_array_release(&batch);
    return rc;
}

static void count_up(const many *m, size_t count, tn_write_counts *out)
{
    *out = (tn_write_counts){.spilled_bytes = tn_route_spilled_bytes(m->route)};
    for (size_t i = 0; i < count; i++) {
        out->rows += m->buckets[i].rows;
        out->partitions +=
            i == 0 || !tn_str_equal(m->buckets[i].partition, m->buckets[i - 1].partition);
    }
}

static int write_routed(tarn_cx *cx, tn_write_job *job, struct ArrowArrayStream *rows,
                        const struct ArrowSchema *schema, tn_arena *arena, tn_write_files *out,
                        tn_write_counts *counts)
{
    many m = {0};
    tn_write_files files = {0};
    size_t count = 0;
    int rc = TARN_OK;

    TN_TRY(tn_route_open(cx, job->store, job->plan, schema, &m.route));
    job->schema = tn_route_schema(m.route);
    job->stored = tn_route_stored_schema(m.route);
    TN_TRY(route_all(cx, m.route, rows));
    TN_TRY(tn_route_end(cx, m.route, &m.buckets, &count));
    m.made = tn_calloc(cx, count, sizeof m.made[0]);
    if (m.made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        m.made[i].job = job;
        m.made[i].index = i;
    }
    TN_TRY(write_buckets(cx, &m, count));
    TN_TRY(list_buckets(cx, job->plan, &m, count, arena, &files));
    *out = files;
    if (counts != NULL)
        count_up(&m, count, counts);
done:
    for (size_t i = 0; m.made != NULL && i < count; i++)
        tn_write_bucket_clear(&m.made[i]);
    free(m.made);
    free(m.small);
    tn_route_close(m.route);
    return rc;
}

static int write_direct(tarn_cx *cx, tn_write_job *job, struct ArrowArrayStream *rows,
                        tn_arena *arena, tn_write_files *out, tn_write_counts *counts)
{
    tn_write_bucket bucket = {.job = job};
    tn_write_files files = {0};
    int rc = TARN_OK;

    TN_TRY(write_stream(cx, rows, &bucket));
    TN_TRY(make_files(cx, bucket.made.len / sizeof(tn_write_made), arena, &files));
    TN_TRY(list_files(cx, job->plan, &bucket, TN_STR(""), 0, arena, &files));
    *out = files;
    if (counts != NULL)
        *counts = (tn_write_counts){.rows = bucket.rows, .partitions = files.count != 0};
done:
    tn_write_bucket_clear(&bucket);
    return rc;
}

int tn_exec_write_rows(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                       struct ArrowArrayStream *rows, tn_arena *arena, tn_write_files *out,
                       tn_write_counts *counts)
{
    tn_write_job job = {.store = store, .plan = plan};
    struct ArrowSchema schema = {0};
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(tn_stream_status(cx, rows, rows->get_schema(rows, &schema)));
    job.schema = &schema;
    if (plan->partition_column_count == 0 && plan->files_per_partition == 0)
        TN_TRY(write_direct(cx, &job, rows, arena, out, counts));
    else
        TN_TRY(write_routed(cx, &job, rows, &schema, arena, out, counts));
done:
    tn_field_release(&schema);
    return rc;
}
