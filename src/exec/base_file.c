/* Writes a base file.
 *
 *   open ── change… ── add… ── finish
 *              |          |
 *       base_merge.c    rows that are new: their meta columns are rules, no values
 *
 * I1: a row has the commit time and a sequence number of this commit if and only if it is new or
 *     changed here; all rows have this file's name.
 * I2: sequence numbers of one number (of a write token) are used once.
 * I3: a file that is not finished is removed by close. */
#include "exec/base_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "batch/gather.h"
#include "exec/base_state.h"
#include "task/data_name.h"

/* Of a column chunk in a footer, and its indexes. */
#define CHUNK_FOOTER_BYTES 200
/* New rows are added in steps of about such a part of the target; no step takes more than
 * STEP_MEMORY in memory, however well the rows before it were packed. */
#define STEP_PART   32
#define STEP_MEMORY 8

static int name_file(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_place *place = &w->place;
    tn_str token, dir = w->job->root;
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &w->arena, &place->partition));
    TN_TRY(tn_arena_keep(cx, &w->arena, &place->file_id));
    TN_TRY(tn_data_name_token(cx, &w->arena, place->number, &token));
    TN_TRY(tn_data_name_print(cx, &w->arena, place->file_id, token, w->job->instant, &w->name));
    if (place->partition.len != 0)
        TN_TRY(tn_path_join(cx, &w->arena, dir, place->partition, &dir));
    TN_TRY(tn_path_join(cx, &w->arena, dir, w->name, &w->path));
    TN_TRY(tn_arena_print(cx, &w->arena, &w->sequence, "%.*s_%" PRIu32 "_",
                          TN_STR_ARG(w->job->instant), place->number));
done:
    return rc;
}

tn_made tn_base_made_value(const tn_base_writer *w, size_t column)
{
    assert(tn_base_is_made(w->job, (int64_t)column));
    if (!w->job->meta_fields)
        return (tn_made){.kind = TN_MADE_NULL};
    return (tn_made){.kind = TN_MADE_SAME,
                     .text = column == TN_META_FILE ? w->name : w->place.partition};
}

static int open_sink(tarn_cx *cx, tn_base_writer *w)
{
    const tn_base_job *job = w->job;
    const tn_key_value pairs[] = {{TN_STR("parquet.avro.schema"), job->avro_schema, true},
                                  {TN_STR("writer.model.name"), TN_STR("avro"), true}};
    tn_parquet_sink_options options = {
        .chunk = {.codec = job->codec, .level = job->level, .page_rows = job->page_rows},
        .file = {.key_values = pairs, .key_value_count = 2, .created_by = job->created_by},
        .group_bytes = job->group_bytes != 0 ? job->group_bytes : TN_BASE_GROUP_BYTES,
        .group_rows = job->group_rows};
    tn_made made;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_sink_open(cx, w->file, job->schema, &options, &w->sink));
    for (size_t i = 0; i < TN_META_COUNT; i++)
        if (tn_base_is_made(job, (int64_t)i)) {
            made = tn_base_made_value(w, i);
            TN_TRY(tn_parquet_sink_make(cx, w->sink, i, &made));
        }
    if (job->key_field != 0 && job->meta_fields)
        tn_parquet_sink_repeat(w->sink, TN_META_KEY, job->key_field);
done:
    return rc;
}

int tn_base_writer_open(tarn_cx *cx, tn_base_job *job, const tn_base_place *place,
                        tn_base_writer **out)
{
    tn_base_writer *w = tn_calloc(cx, 1, sizeof *w);
    int rc = TARN_OK;

    assert(job->schema->n_children >= TN_META_COUNT);
    if (w == NULL)
        return TARN_E_NOMEM;
    w->job = job;
    w->place = *place;
    w->next = place->first;
    w->keys.job = job;
    w->keys.about = place->keys_about;
    TN_TRY(name_file(cx, w));
    if (place->before != NULL)
        TN_TRY(tn_base_old_open(cx, w));
    TN_TRY(job->mark(cx, job->mark_arg, w->place.partition, w->name, place->before != NULL));
    TN_TRY(tn_store_create(cx, job->store, w->path, &w->file));
    TN_TRY(open_sink(cx, w));
    if (place->before != NULL)
        TN_TRY(tn_base_old_plan(cx, w));
    atomic_fetch_add(&job->files, 1);
    *out = w;
    w = NULL;
done:
    tn_base_writer_close(cx, w);
    return rc;
}

void tn_base_writer_close(tarn_cx *cx, tn_base_writer *w)
{
    if (w == NULL)
        return;
    tn_parquet_sink_close(w->sink);
    if (w->file != NULL) { /* I3; what went wrong before is what is to be told */
        tarn_cx own;

        tn_store_close_sink(w->file);
        tn_cx_child(&own, cx);
        tn_store_remove(&own, w->job->store, w->path);
        tn_cx_child_clear(&own);
    }
    tn_base_old_close(&w->old);
    tn_base_keys_clear(cx, &w->keys);
    tn_arena_clear(&w->arena);
    free(w);
}

int tn_base_number_rows(tarn_cx *cx, tn_base_writer *w, bool by_rule)
{
    const tn_made time = {.kind = TN_MADE_SAME, .text = w->job->instant};
    const tn_made sequence = {.kind = TN_MADE_SERIES, .text = w->sequence, .first = w->next};
    int rc = TARN_OK;

    if (w->numbered == by_rule || !w->job->meta_fields)
        return TARN_OK;
    TN_TRY(tn_parquet_sink_make(cx, w->sink, TN_META_COMMIT_TIME, by_rule ? &time : NULL));
    TN_TRY(tn_parquet_sink_make(cx, w->sink, TN_META_SEQUENCE, by_rule ? &sequence : NULL));
    w->numbered = by_rule;
done:
    return rc;
}

int tn_base_put_new(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows)
{
    int rc = TARN_OK;

    TN_TRY(tn_base_number_rows(cx, w, true));
    TN_TRY(tn_parquet_sink_add(cx, w->sink, rows));
    w->next += rows->length;
done:
    return rc;
}

int tn_base_put_kept(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows)
{
    int rc = TARN_OK;

    TN_TRY(tn_base_number_rows(cx, w, false));
    TN_TRY(tn_parquet_sink_add(cx, w->sink, rows));
done:
    return rc;
}

int tn_base_writer_change(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                          const int64_t *positions, const uint8_t *deletes)
{
    assert(w->place.before != NULL && !w->old.ended);
    if (w->job->merge_mode != TN_MERGE_COMMIT_TIME && w->job->merge_mode != TN_MERGE_EVENT_TIME)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "rows of this table are merged by rules that tarn does not know; write it "
                       "with the program that has them");
    return tn_base_splice_change(cx, w, rows, positions, deletes);
}

int tn_base_writer_add(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows)
{
    int rc = TARN_OK;

    if (w->place.before != NULL)
        TN_TRY(tn_base_old_end(cx, w, true));
    if (w->job->meta_fields)
        TN_TRY(tn_base_keys_add(cx, &w->keys, rows->children[TN_META_KEY], rows->offset,
                                rows->length));
    w->memory_bytes += tn_gather_bytes(w->job->schema, rows);
    w->encoded_bytes -= tn_parquet_sink_bytes(w->sink);
    TN_TRY(tn_base_put_new(cx, w, rows));
    w->encoded_bytes += tn_parquet_sink_bytes(w->sink);
    w->inserts += rows->length;
done:
    return rc;
}

int64_t tn_base_writer_rows(const tn_base_writer *w)
{
    return tn_parquet_sink_rows(w->sink);
}

int64_t tn_base_writer_next(const tn_base_writer *w)
{
    return w->next;
}

uint64_t tn_base_writer_bytes(const tn_base_writer *w)
{
    const tn_schema *schema = tn_parquet_sink_schema(w->sink);
    uint64_t group = w->job->group_bytes != 0 ? w->job->group_bytes : TN_BASE_GROUP_BYTES;
    uint64_t bytes = tn_parquet_sink_bytes(w->sink), keys = 0;

    if (w->job->meta_fields)
        keys = tn_base_old_filter_bytes(w);
    return bytes + keys + w->job->avro_schema.len +
           (bytes / group + 1) * schema->leaf_count * CHUNK_FOOTER_BYTES;
}

static bool is_full(const tn_base_writer *w, uint64_t target)
{
    uint64_t bytes = tn_base_writer_bytes(w), group = w->job->group_bytes, margin;

    /* A new file takes something, however small the target: else there would be no end of files. */
    if (w->place.before == NULL && tn_parquet_sink_rows(w->sink) == 0)
        return false;
    if (bytes >= target)
        return true;
    /* A row group has just ended, and another would hardly be begun. */
    margin = (group != 0 ? group : TN_BASE_GROUP_BYTES) / 4;
    margin = margin < target / 16 ? margin : target / 16;
    return tn_parquet_sink_open_rows(w->sink) == 0 && bytes + margin >= target;
}

/* How many rows the file will have when it has so many bytes. */
static uint64_t expect_rows(const tn_base_writer *w, uint64_t target)
{
    int64_t rows = tn_parquet_sink_rows(w->sink);
    uint64_t bytes = tn_base_writer_bytes(w);

    if (rows <= 0 || bytes == 0 || target == UINT64_MAX)
        return w->keys.about;
    return (uint64_t)((double)target / (double)bytes * (double)rows);
}

int tn_base_writer_fit(tarn_cx *cx, tn_base_writer *w, uint64_t target,
                       const struct ArrowArray *rows, int64_t *fit)
{
    struct ArrowArray part = *rows;
    double share = 1, most = (double)target / STEP_MEMORY;
    int rc = TARN_OK;

    *fit = 0;
    if (w->place.before != NULL)
        TN_TRY(tn_base_old_end(cx, w, true));
    w->keys.about = expect_rows(w, target);
    if (is_full(w, target))
        goto done;
    /* What rows take in memory tells how wide those to come are, and the rows before them what
     * becomes of that. */
    if (w->memory_bytes != 0)
        share = (double)w->encoded_bytes / (double)w->memory_bytes;
    share = share > 0.01 ? share : 0.01;
    if ((double)target / STEP_PART / share < most)
        most = (double)target / STEP_PART / share;
    part.null_count = 0;
    while (part.length > 1 && (double)tn_gather_bytes(w->job->schema, &part) > most)
        part.length /= 2;
    *fit = part.length;
done:
    return rc;
}

static int fill_stat(tarn_cx *cx, const tn_base_writer *w, tn_arena *arena, tn_write_stat *out)
{
    tn_write_stat stat = {.partition = w->place.partition,
                          .file_id = w->place.file_id,
                          .path = w->name,
                          .writes = tn_parquet_sink_rows(w->sink),
                          .inserts = w->inserts,
                          .updates = w->updates,
                          .deletes = w->deletes,
                          .bytes = w->file->written_bytes};
    int rc = TARN_OK;

    if (w->place.before != NULL)
        stat.prev_instant = w->place.before->instant;
    TN_TRY(tn_arena_keep(cx, arena, &stat.partition));
    TN_TRY(tn_arena_keep(cx, arena, &stat.file_id));
    TN_TRY(tn_arena_keep(cx, arena, &stat.prev_instant));
    if (stat.partition.len != 0)
        TN_TRY(tn_path_join(cx, arena, stat.partition, w->name, &stat.path));
    else
        TN_TRY(tn_arena_keep(cx, arena, &stat.path));
    *out = stat;
done:
    return rc;
}

int tn_base_writer_same(tarn_cx *cx, tn_base_writer *w, bool *out, tn_base_counts *counts)
{
    int rc = TARN_OK;

    *out = false;
    if (w->place.before == NULL || w->inserts + w->updates + w->deletes != 0)
        return TARN_OK;
    TN_TRY(tn_base_old_end(cx, w, false));
    *out = w->updates + w->deletes == 0;
    *counts = (tn_base_counts){.unchanged = w->counts.unchanged};
done:
    return rc;
}

int tn_base_writer_finish(tarn_cx *cx, tn_base_writer *w, tn_arena *arena, tn_write_stat *out,
                          tn_base_counts *counts)
{
    tn_write_stat stat;
    int rc = TARN_OK;

    if (w->place.before != NULL)
        TN_TRY(tn_base_old_end(cx, w, false));
    if (w->place.before != NULL && w->job->meta_fields)
        TN_TRY(tn_base_old_keys(cx, w));
    if (w->job->meta_fields)
        TN_TRY(tn_base_keys_finish(cx, &w->keys, w->sink));
    TN_TRY(tn_parquet_sink_finish(cx, w->sink));
    TN_TRY(fill_stat(cx, w, arena, &stat));
    TN_TRY(tn_store_finish(cx, w->file));
    tn_store_close_sink(w->file);
    w->file = NULL;
    *out = stat;
    if (counts != NULL)
        *counts = w->counts;
done:
    return rc;
}
