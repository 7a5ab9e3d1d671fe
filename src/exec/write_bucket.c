/* Cutting a bucket into files.
 *
 *   open ── reaches the target: it becomes `before`, unfinished, and a new one is opened
 *   open ── reaches a third of the target: `before` is finished; it can be no crumb any more
 *   end  ── open is smaller than that: its row groups are appended to `before`, as they are
 *
 * So no file but the only one of a bucket is smaller than a third of the target, whatever the
 * number of rows to come, which nobody knows for a stream.
 *
 * I1: at most two files of a bucket are open, and of `before` nothing is held but its metadata.
 * I2: a file is counted before it is made, but for one that may still be appended; that one as soon
 *     as it cannot. */
#include "exec/write_bucket.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "batch/gather.h"

#define CRUMB(target) ((target) / 3)
#define STEPS         16 /* a batch is added in parts of about so many to a file */
#define STEP_ROWS_MIN 256

int tn_write_bucket_path(tarn_cx *cx, tn_arena *arena, const tn_write_plan *plan, size_t index,
                         uint64_t number, tn_str *out)
{
    return tn_arena_print(cx, arena, out, "%.*s/%05zu-%05" PRIu64 ".new", TN_STR_ARG(plan->staging),
                          index, number);
}

/* --- one file --- */

/* I2 */
static int count_file(tarn_cx *cx, tn_write_job *job, tn_write_part *part)
{
    int rc = TARN_OK;

    if (part->counted)
        return TARN_OK;
    if (atomic_fetch_add(&job->files, 1) >= job->plan->files_max) {
        atomic_fetch_sub(&job->files, 1);
        TN_FAIL(TARN_E_LIMIT,
                "more than %" PRIu64 " files would be created; partition by fewer or coarser "
                "columns, make larger files, or allow more, as with --max-created-files %" PRIu64,
                job->plan->files_max, job->plan->files_max * 10);
    }
    part->counted = true;
done:
    return rc;
}

static int open_part(tarn_cx *cx, tn_write_bucket *b)
{
    const tn_write_plan *plan = b->job->plan;
    tn_parquet_sink_options options = {.chunk = {.codec = plan->codec,
                                                 .level = plan->level,
                                                 .plain_bytes = b->job->stored != NULL},
                                       .file = {.created_by = plan->created_by},
                                       .group_bytes = plan->group_bytes,
                                       .group_rows = plan->group_rows,
                                       .store_arrow_schema = true,
                                       .stored_schema = b->job->stored};
    tn_arena arena = {0};
    tn_str path;
    int rc = TARN_OK;

    if (b->before.sink == NULL)
        TN_TRY(count_file(cx, b->job, &b->open));
    b->open.number = b->numbers++;
    TN_TRY(tn_write_bucket_path(cx, &arena, plan, b->index, b->open.number, &path));
    TN_TRY(tn_store_create(cx, b->job->store, path, &b->open.sink));
    TN_TRY(tn_parquet_sink_open(cx, b->open.sink, b->job->schema, &options, &b->open.parquet));
done:
    tn_arena_clear(&arena);
    return rc;
}

static void close_part(tn_write_part *part)
{
    tn_parquet_sink_close(part->parquet);
    tn_store_close_sink(part->sink);
    *part = (tn_write_part){0};
}

/* The file is whole and on stable storage. */
static int finish_part(tarn_cx *cx, tn_write_bucket *b, tn_write_part *part)
{
    tn_write_made made = {.number = part->number, .rows = part->rows};
    int rc = TARN_OK;

    assert(part->counted);
    TN_TRY(tn_parquet_sink_finish(cx, part->parquet));
    made.bytes = part->sink->written_bytes;
    TN_TRY(tn_store_finish(cx, part->sink));
    tn_buf_add(&b->made, &made, sizeof made);
    TN_TRY(tn_buf_check(cx, &b->made));
    b->rows += made.rows;
    b->bytes += made.bytes;
    close_part(part);
done:
    return rc;
}

/* Appends the open file's row groups to the one before, and removes it. */
static int append_open(tarn_cx *cx, tn_write_bucket *b)
{
    tn_store *store = b->job->store;
    tn_arena arena = {0};
    tn_file *file = NULL;
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_write_bucket_path(cx, &arena, b->job->plan, b->index, b->open.number, &path));
    b->open.sink->scratch = true;
    TN_TRY(tn_store_finish(cx, b->open.sink));
    TN_TRY(tn_store_open_file(cx, store, path, &file));
    TN_TRY(tn_parquet_sink_append(cx, b->before.parquet, b->open.parquet, file));
    b->before.rows += b->open.rows;
    tn_store_close_file(file);
    file = NULL;
    close_part(&b->open);
    TN_TRY(tn_store_remove(cx, store, path));
done:
    tn_store_close_file(file);
    tn_arena_clear(&arena);
    return rc;
}

/* --- cutting --- */

static bool is_full(const tn_write_bucket *b)
{
    const tn_write_plan *plan = b->job->plan;
    uint64_t bytes = tn_parquet_sink_bytes(b->open.parquet);

    if (bytes >= plan->target_bytes)
        return true;
    /* A row group has just ended, and another would hardly be begun. */
    return tn_parquet_sink_open_bytes(b->open.parquet) == 0 &&
           bytes + plan->group_bytes / 4 >= plan->target_bytes;
}

/* Looks at the open file after rows were added to it. */
static int settle(tarn_cx *cx, tn_write_bucket *b)
{
    uint64_t target = b->job->plan->target_bytes;
    int rc = TARN_OK;

    if (b->before.sink != NULL && tn_parquet_sink_bytes(b->open.parquet) >= CRUMB(target)) {
        TN_TRY(count_file(cx, b->job, &b->open));
        TN_TRY(finish_part(cx, b, &b->before));
    }
    if (b->before.sink == NULL && is_full(b)) {
        TN_TRY(tn_parquet_sink_flush(cx, b->open.parquet));
        b->before = b->open;
        b->open = (tn_write_part){0};
    }
done:
    return rc;
}

/* How many of the batch's rows to add before looking again. */
static int64_t step_rows(const tn_write_bucket *b, const struct ArrowArray *batch, uint64_t raw)
{
    int64_t rows = b->rows + b->open.rows, step;
    uint64_t bytes = b->bytes, fit = b->job->plan->target_bytes / STEPS;
    double each;

    if (b->open.parquet != NULL)
        bytes += tn_parquet_sink_bytes(b->open.parquet);
    /* Before the first rows are encoded, what they take in memory is all there is to go by. */
    each = rows > 0 ? (double)bytes / (double)rows : (double)raw / (double)batch->length;
    step = each > 0 && (double)fit / each < (double)batch->length ? (int64_t)((double)fit / each)
                                                                  : batch->length;
    return step < STEP_ROWS_MIN ? STEP_ROWS_MIN : step;
}

int tn_write_bucket_add(tarn_cx *cx, tn_write_bucket *b, const struct ArrowArray *batch)
{
    uint64_t raw = b->rows + b->open.rows == 0 ? tn_gather_bytes(b->job->schema, batch) : 0;
    int rc = TARN_OK;

    for (int64_t at = 0, rows; at < batch->length; at += rows) {
        struct ArrowArray slice = *batch;

        if (b->open.sink == NULL)
            TN_TRY(open_part(cx, b));
        rows = step_rows(b, batch, raw);
        rows = rows < batch->length - at ? rows : batch->length - at;
        slice.offset += at;
        slice.length = rows;
        TN_TRY(tn_parquet_sink_add(cx, b->open.parquet, &slice));
        b->open.rows += rows;
        TN_TRY(settle(cx, b));
    }
done:
    return rc;
}

int tn_write_bucket_end(tarn_cx *cx, tn_write_bucket *b)
{
    uint64_t target = b->job->plan->target_bytes;
    int rc = TARN_OK;

    if (b->open.sink != NULL && b->before.sink != NULL) {
        TN_TRY(tn_parquet_sink_flush(cx, b->open.parquet));
        if (tn_parquet_sink_bytes(b->open.parquet) < CRUMB(target))
            TN_TRY(append_open(cx, b));
    }
    if (b->open.sink != NULL)
        TN_TRY(count_file(cx, b->job, &b->open));
    if (b->before.sink != NULL)
        TN_TRY(finish_part(cx, b, &b->before));
    if (b->open.sink != NULL)
        TN_TRY(finish_part(cx, b, &b->open));
done:
    return rc;
}

void tn_write_bucket_clear(tn_write_bucket *b)
{
    close_part(&b->before);
    close_part(&b->open);
    tn_buf_clear(&b->made);
}
