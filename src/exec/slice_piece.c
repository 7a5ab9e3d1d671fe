/* Blocks decoded, each kind its own way:
 *
 *   AVRO     record after record into the columns of its schema; rows of blocks that follow each
 *            other and have one schema make batches together
 *   PARQUET  a file in memory, read like any base file
 *   HFILE    the values are Avro records; the keys are those of the file, which leaves them out of
 *            the records
 *   DELETE   keys and ordering values
 *
 * I1: the runs are in the order of the blocks, and of the records in them.
 * I2: of records that are not picked no more than the key is decoded where that can be.
 * I3: a batch is handed out before it is large: BATCH_ROWS, BATCH_BYTES. */
#include "exec/slice_piece.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "codec/hfile/hfile.h"
#include "exec/exec_read.h"
#include "exec/read_names.h"

#define BATCH_ROWS  65536
#define BATCH_BYTES (8u << 20)
#define LOOK_ROWS   512 /* bytes are asked for after so many */

void tn_slice_where(const tn_slice_block *block, char *text, size_t size)
{
    tn_str path = block->log->path;
    tn_str end = tn_str_from(path, path.len > size - 40 ? path.len - (size - 40) : 0);

    snprintf(text, size, "%.*s: byte %" PRIu64, TN_STR_ARG(end), block->block->offset);
}

static void writer_close(tn_slice_writer *writer)
{
    tn_avro_rows_close(writer->rows);
    tn_avro_schema_clear(&writer->schema);
    free(writer->has);
    free(writer);
}

void tn_slice_piece_clear(tn_slice_piece *piece)
{
    for (size_t i = 0; i < piece->batch_count; i++) {
        tn_array_release(&piece->batches[i]);
        tn_buf_clear(&piece->places[i]);
    }
    for (size_t i = 0; i < piece->writer_count; i++)
        writer_close(piece->writers[i]);
    free(piece->batches);
    free(piece->has);
    free(piece->places);
    tn_buf_clear(&piece->open_places);
    free(piece->runs);
    free(piece->writers);
    tn_store_close_file(piece->file);
    tn_buf_clear(&piece->content);
    tn_arena_clear(&piece->arena);
    *piece = (tn_slice_piece){.columns = piece->columns,
                              .store = piece->store,
                              .pick = piece->pick,
                              .by_position = piece->by_position,
                              .base_rows = piece->base_rows};
}

/* ---- batches and runs */

static int add_run(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_run *run)
{
    tn_slice_run *last = piece->run_count > 0 ? &piece->runs[piece->run_count - 1] : NULL;
    int rc = TARN_OK;

    if (!run->is_deletes && last != NULL && !last->is_deletes && last->batch == run->batch) {
        last->rows += run->rows;
        return TARN_OK;
    }
    TN_TRY(tn_grow(cx, &piece->runs, piece->run_count, &piece->run_cap, sizeof *piece->runs));
    piece->runs[piece->run_count++] = *run;
done:
    return rc;
}

static int add_batch(tarn_cx *cx, tn_slice_piece *piece, struct ArrowArray *rows,
                     const uint8_t *has)
{
    int rc = TARN_OK;

    TN_TRY(tn_slice_columns_partition(cx, piece->columns, rows));
    TN_TRY(tn_grow(cx, &piece->batches, piece->batch_count, &piece->batch_cap,
                   sizeof *piece->batches));
    TN_TRY(tn_grow(cx, &piece->has, piece->batch_count, &piece->has_cap, sizeof *piece->has));
    TN_TRY(
        tn_grow(cx, &piece->places, piece->batch_count, &piece->place_cap, sizeof *piece->places));
    TN_TRY(tn_buf_check(cx, &piece->open_places));
    piece->places[piece->batch_count] = piece->open_places;
    piece->open_places = (tn_buf){0};
    piece->has[piece->batch_count] = has;
    tn_array_move(rows, &piece->batches[piece->batch_count++]);
done:
    return rc;
}

/* Hands the rows of the open writer out as a batch; runs have named it already. */
static int flush(tarn_cx *cx, tn_slice_piece *piece)
{
    struct ArrowArray rows = {0};
    tn_slice_writer *writer = piece->open;
    int rc = TARN_OK;

    piece->open = NULL;
    if (writer == NULL || tn_avro_rows_count(writer->rows) == 0)
        return TARN_OK;
    rc = tn_avro_rows_take(cx, writer->rows, &rows);
    if (rc != TARN_OK)
        tn_fail_within(cx, rc, "%s, or before", piece->where);
    if (rc == TARN_OK)
        rc = add_batch(cx, piece, &rows, writer->has);
    tn_array_release(&rows);
    return rc;
}

int tn_slice_piece_finish(tarn_cx *cx, tn_slice_piece *piece)
{
    int rc = flush(cx, piece);

    tn_store_close_file(piece->file);
    piece->file = NULL;
    piece->log = NULL;
    tn_buf_clear(&piece->content);
    return rc;
}

/* ---- writers */

/* Which columns a writer's schema has. */
static int find_has(tarn_cx *cx, const tn_slice_columns *columns, tn_slice_writer *writer)
{
    const tn_avro_type *root = writer->schema.root;

    writer->has = tn_calloc(cx, (size_t)columns->work.n_children, 1);
    if (writer->has == NULL)
        return TARN_E_NOMEM;
    for (size_t f = 0; f < root->field_count; f++)
        for (int64_t i = 0; i < columns->work.n_children; i++)
            if (tn_str_is(root->fields[f].name, columns->work.children[i]->name))
                writer->has[i] = 1;
    for (int64_t i = 0; i < columns->work.n_children; i++)
        if (columns->columns[i].partition >= 0)
            writer->has[i] = 1;
    return TARN_OK;
}

/* I2: whether the key can be found without decoding, and how. */
static void find_key(const tn_slice_columns *columns, tn_slice_writer *writer)
{
    const tn_avro_type *root = writer->schema.root;

    writer->key_field = -1;
    for (size_t f = 0; columns->key >= 0 && f < root->field_count && f < TN_SLICE_PEEK_MAX; f++) {
        const tn_avro_type *type = root->fields[f].type;
        bool nullable;

        if (tn_avro_plain(type, &nullable)->kind != TN_AVRO_STRING)
            return;
        if (type->kind == TN_AVRO_UNION && type->branch_count != 2)
            return;
        if (type->kind == TN_AVRO_UNION)
            writer->nullable[f] = type->branches[0]->kind == TN_AVRO_NULL ? 1 : 2;
        if (tn_str_is(root->fields[f].name, columns->work.children[columns->key]->name)) {
            writer->key_field = (int)f;
            return;
        }
    }
}

static int open_writer(tarn_cx *cx, tn_slice_piece *piece, const tn_log_block *block,
                       tn_slice_writer *writer)
{
    int rc = TARN_OK;

    writer->text = block->schema;
    writer->version = tn_scan_names_at(piece->columns->task->names, block->instant);
    writer->partial = block->partial;
    if (block->schema.len == 0)
        TN_FAIL(TARN_E_CORRUPT, "%s: a block of rows without a schema", piece->where);
    TN_TRY(tn_avro_schema_parse(cx, block->schema, piece->where, &writer->schema));
    if (writer->schema.root->kind != TN_AVRO_RECORD)
        TN_FAIL(TARN_E_CORRUPT, "%s: the schema of the block is no record", piece->where);
    TN_TRY(tn_read_names_avro(cx, writer->version, &writer->schema));
    find_key(piece->columns, writer);
    if (block->partial)
        TN_TRY(find_has(cx, piece->columns, writer));
    rc = tn_avro_rows_open(cx, writer->schema.root, &piece->columns->work, (tn_str){NULL, 0},
                           &writer->rows);
    if (rc != TARN_OK)
        tn_fail_within(cx, rc, "%s", piece->where);
done:
    return rc;
}

/* The writer of a block's schema. */
static int writer_of(tarn_cx *cx, tn_slice_piece *piece, const tn_log_block *block,
                     tn_slice_writer **out)
{
    const tn_scan_version *version = tn_scan_names_at(piece->columns->task->names, block->instant);
    tn_slice_writer *writer;
    int rc = TARN_OK;

    for (size_t i = piece->writer_count; i-- > 0;) {
        writer = piece->writers[i];
        if (writer->partial == block->partial && writer->version == version &&
            tn_str_equal(writer->text, block->schema)) {
            *out = writer;
            return TARN_OK;
        }
    }
    writer = tn_calloc(cx, 1, sizeof *writer);
    if (writer == NULL)
        return TARN_E_NOMEM;
    TN_TRY(open_writer(cx, piece, block, writer));
    TN_TRY(tn_grow(cx, &piece->writers, piece->writer_count, &piece->writer_cap,
                   sizeof *piece->writers));
    *out = piece->writers[piece->writer_count++] = writer;
    writer = NULL;
done:
    if (writer != NULL)
        writer_close(writer);
    return rc;
}

/* ---- rows */

static int begin_rows(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    tn_slice_writer *writer = NULL;
    int rc = TARN_OK;

    piece->log = block->log;
    tn_slice_where(block, piece->where, sizeof piece->where);
    TN_TRY(writer_of(cx, piece, block->block, &writer));
    if (piece->open != writer)
        TN_TRY(flush(cx, piece));
    piece->open = writer;
done:
    return rc;
}

/* The key of a record; false where it cannot be told. */
static bool peek(const tn_slice_writer *writer, tn_str datum, tn_str *key)
{
    tn_cursor in = tn_cursor_of(datum.ptr, datum.len);

    if (writer->key_field < 0)
        return false;
    for (int f = 0; f <= writer->key_field; f++) {
        int64_t branch = writer->nullable[f] != 0 ? tn_zigzag(tn_cursor_varint(&in)) : -1, len;

        *key = (tn_str){NULL, 0};
        if (writer->nullable[f] != 0 && branch == writer->nullable[f] - 1)
            continue;
        len = tn_zigzag(tn_cursor_varint(&in));
        if (len < 0)
            return false;
        *key = tn_cursor_take(&in, (size_t)len);
    }
    return !in.failed && key->ptr != NULL;
}

/* I2. */
static bool is_picked(const tn_slice_piece *piece, tn_str datum, const int64_t *position)
{
    tn_str key = {(const char *)position, sizeof *position};

    if (piece->pick->passes == 1 && piece->pick->keys == NULL)
        return true;
    if (position == NULL && !peek(piece->open, datum, &key))
        return true;
    return tn_slice_picks(piece->pick, key, tn_slice_hash(key));
}

static int add_record(tarn_cx *cx, tn_slice_piece *piece, tn_str datum, const int64_t *position)
{
    tn_slice_writer *writer = piece->open;
    int64_t count;
    int rc = TARN_OK;

    if (!is_picked(piece, datum, position))
        return TARN_OK;
    rc = tn_avro_rows_add(cx, writer->rows, datum);
    if (rc != TARN_OK)
        tn_fail_within(cx, rc, "%s", piece->where);
    TN_TRY(rc);
    if (position != NULL)
        tn_buf_add(&piece->open_places, position, sizeof *position);
    count = tn_avro_rows_count(writer->rows);
    TN_TRY(add_run(cx, piece,
                   &(tn_slice_run){.batch = piece->batch_count, .first = count - 1, .rows = 1}));
    if (count >= BATCH_ROWS ||
        (count % LOOK_ROWS == 0 && tn_avro_rows_bytes(writer->rows) > BATCH_BYTES)) {
        TN_TRY(flush(cx, piece));
        piece->open = writer;
    }
done:
    return rc;
}

int tn_slice_positions(tarn_cx *cx, const tn_slice_block *block, tn_arena *arena, size_t count,
                       uint64_t base_rows, const int64_t **out)
{
    char where[256];
    int64_t *positions = NULL;
    size_t found = 0;
    int rc = TARN_OK;

    *out = NULL;
    tn_slice_where(block, where, sizeof where);
    rc = tn_log_positions_parse(cx, block->block->positions, tn_str_of(where), count, arena,
                                &positions, &found);
    /* Damaged ones, or more than records: keys do as well. */
    if (rc == TARN_E_CORRUPT || rc == TARN_E_LIMIT) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    /* They ascend. */
    if (rc == TARN_OK && found == count &&
        (count == 0 || (uint64_t)positions[count - 1] < base_rows))
        *out = positions;
    return rc;
}

/* Of a block with so many records, when they are asked for. */
static int find_positions(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block,
                          size_t count, const int64_t **out)
{
    int rc = TARN_OK;

    *out = NULL;
    if (!piece->by_position || count == 0)
        return TARN_OK;
    TN_TRY(tn_slice_positions(cx, block, &piece->arena, count, piece->base_rows, out));
    piece->misplaced = piece->misplaced || *out == NULL;
done:
    return rc;
}

int tn_slice_piece_records(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block,
                           const tn_str *records, const int64_t *positions, size_t count)
{
    int rc = TARN_OK;

    TN_TRY(begin_rows(cx, piece, block));
    for (size_t i = 0; i < count; i++)
        TN_TRY(add_record(cx, piece, records[i], positions != NULL ? &positions[i] : NULL));
done:
    return rc;
}

static int add_avro(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    const int64_t *positions = NULL;
    tn_log_records records;
    tn_str datum;
    bool more = true;
    int rc = TARN_OK;

    TN_TRY(begin_rows(cx, piece, block));
    TN_TRY(
        tn_log_records_open(cx, tn_buf_view(&piece->content), tn_str_of(piece->where), &records));
    TN_TRY(find_positions(cx, piece, block, records.count, &positions));
    for (;;) {
        TN_TRY(tn_log_records_next(cx, &records, &more, &datum));
        if (!more)
            break;
        TN_TRY(
            add_record(cx, piece, datum, positions != NULL ? &positions[records.done - 1] : NULL));
    }
done:
    return rc;
}

/* ---- HFile */

/* Makes the texts of `keys`, which end at `ends`, the key column of a batch. */
static int put_keys(tarn_cx *cx, const tn_slice_columns *columns, tn_block *ends, tn_block *keys,
                    struct ArrowArray *batch)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    if (columns->key < 0)
        return TARN_OK;
    TN_TRY(tn_array_init(cx, &made, batch->length, 3, 0));
    TN_TRY(tn_array_take_block(cx, &made, 1, ends));
    TN_TRY(tn_array_take_block(cx, &made, 2, keys));
    tn_array_release(batch->children[columns->key]);
    tn_array_move(&made, batch->children[columns->key]);
done:
    tn_array_release(&made);
    return rc;
}

static int add_text(tarn_cx *cx, tn_block *ends, tn_block *texts, tn_str text)
{
    int32_t end;
    int rc = TARN_OK;

    if (texts->len + text.len > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT, "a block with more than 2 GiB of record keys");
    TN_TRY(tn_block_reserve(cx, texts, text.len));
    TN_TRY(tn_block_reserve(cx, ends, sizeof end));
    if (text.len != 0)
        memcpy(texts->data + texts->len, text.ptr, text.len);
    texts->len += text.len;
    end = (int32_t)texts->len;
    memcpy(ends->data + ends->len, &end, sizeof end);
    ends->len += sizeof end;
done:
    return rc;
}

static int add_entries(tarn_cx *cx, tn_slice_piece *piece, tn_hfile_cursor *cursor,
                       tn_avro_rows *rows, struct ArrowArray *out)
{
    tn_block ends = {0}, keys = {0};
    tn_str key, value;
    bool more = true;
    int rc = TARN_OK;

    TN_TRY(add_text(cx, &ends, &keys, (tn_str){NULL, 0}));
    for (;;) {
        TN_TRY(tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
        if (!more)
            break;
        TN_TRY(tn_avro_rows_add(cx, rows, value));
        TN_TRY(add_text(cx, &ends, &keys, key));
    }
    TN_TRY(tn_avro_rows_take(cx, rows, out));
    TN_TRY(put_keys(cx, piece->columns, &ends, &keys, out));
done:
    if (rc != TARN_OK)
        tn_fail_within(cx, rc, "%s", piece->where);
    tn_block_clear(&ends);
    tn_block_clear(&keys);
    return rc;
}

static int add_hfile(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    tn_hfile_cursor *cursor = NULL;
    struct ArrowArray rows = {0};
    tn_hfile *file = NULL;
    int rc = TARN_OK;

    TN_TRY(flush(cx, piece));
    TN_TRY(begin_rows(cx, piece, block));
    TN_TRY(tn_hfile_open_memory(cx, tn_buf_view(&piece->content), piece->log->path, &file));
    TN_TRY(tn_hfile_cursor_open(cx, file, &cursor));
    TN_TRY(add_entries(cx, piece, cursor, piece->open->rows, &rows));
    if (rows.length > 0) {
        TN_TRY(
            add_run(cx, piece, &(tn_slice_run){.batch = piece->batch_count, .rows = rows.length}));
        TN_TRY(add_batch(cx, piece, &rows, piece->open->has));
    }
done:
    tn_array_release(&rows);
    tn_hfile_cursor_close(cursor);
    tn_hfile_close(file);
    return rc;
}

/* ---- Parquet */

/* The block as the file of a task that has all columns and no filter. */
static int open_parquet(tarn_cx *cx, tn_slice_piece *piece, tn_str written, tn_exec_read **out)
{
    const tn_slice_columns *columns = piece->columns;
    size_t n = (size_t)columns->work.n_children;
    tn_scan_project *project = tn_arena_array(cx, &piece->arena, n + 1, sizeof *project);
    tn_scan_task *task = tn_arena_take(cx, &piece->arena, sizeof *task);
    uint32_t *indices = tn_arena_array(cx, &piece->arena, n + 1, sizeof *indices);

    if (project == NULL || task == NULL || indices == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        indices[i] = (uint32_t)i;
        project[i] = (tn_scan_project){&indices[i], 1};
    }
    *task = *columns->task;
    task->path = piece->log->path;
    task->needed = task->result = &columns->work;
    task->filter = NULL;
    task->project = project;
    task->project_count = n;
    task->record_key_count = 0;
    task->slice = NULL;
    task->written = written;
    task->batch_rows = 0;
    return tn_exec_read_open_memory(cx, tn_buf_view(&piece->content), task, out);
}

static int add_parquet(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    tn_slice_writer *writer = NULL;
    const int64_t *positions = NULL;
    struct ArrowArray rows = {0};
    tn_exec_read *reader = NULL;
    tn_scan_counts counts;
    int rc = TARN_OK;

    TN_TRY(flush(cx, piece));
    if (block->block->partial)
        TN_TRY(writer_of(cx, piece, block->block, &writer));
    TN_TRY(open_parquet(cx, piece, block->block->instant, &reader));
    tn_exec_read_counts(reader, &counts);
    TN_TRY(find_positions(cx, piece, block, (size_t)counts.rows, &positions));
    for (;;) {
        int64_t count;

        TN_TRY(tn_exec_read_next(cx, reader, &rows));
        count = rows.length;
        if (count == 0)
            break;
        if (positions != NULL) {
            tn_buf_add(&piece->open_places, positions, (size_t)count * sizeof *positions);
            positions += count;
        }
        TN_TRY(add_run(cx, piece, &(tn_slice_run){.batch = piece->batch_count, .rows = count}));
        TN_TRY(add_batch(cx, piece, &rows, writer != NULL ? writer->has : NULL));
    }
done:
    tn_array_release(&rows);
    tn_exec_read_close(reader);
    return rc;
}

/* ---- deletes */

static int add_deletes(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    tn_slice_run run = {.is_deletes = true};
    tn_str content = tn_buf_view(&piece->content);
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &piece->arena, &content));
    TN_TRY(tn_log_deletes_parse(cx, content, tn_str_of(piece->where), &piece->arena, &run.deletes));
    TN_TRY(find_positions(cx, piece, block, run.deletes.count, &run.positions));
    if (run.deletes.count > 0)
        TN_TRY(add_run(cx, piece, &run));
done:
    return rc;
}

/* ---- blocks */

static int read_content(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    tn_log log = *block->log;
    int rc = TARN_OK;

    if (piece->log != block->log || piece->file == NULL) {
        tn_store_close_file(piece->file);
        piece->file = NULL;
        TN_TRY(tn_store_open_file(cx, piece->store, log.path, &piece->file));
        piece->log = block->log;
    }
    log.file = piece->file;
    TN_TRY(tn_log_content(cx, &log, block->block, &piece->content));
done:
    return rc;
}

int tn_slice_piece_add(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block)
{
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    tn_slice_where(block, piece->where, sizeof piece->where);
    TN_TRY(read_content(cx, piece, block));
    switch (block->block->kind) {
    case TN_LOG_AVRO:
        TN_TRY(add_avro(cx, piece, block));
        break;
    case TN_LOG_PARQUET:
        TN_TRY(add_parquet(cx, piece, block));
        break;
    case TN_LOG_DELETE:
        TN_TRY(add_deletes(cx, piece, block));
        break;
    default:
        assert(block->block->kind == TN_LOG_HFILE);
        TN_TRY(add_hfile(cx, piece, block));
        break;
    }
done:
    return rc;
}
