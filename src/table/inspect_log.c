/* A log file of a Hudi table as a value, for `tarn show`.
 * I1: what is wrong within a block is said of the block; the others are shown all the same. */
#include <assert.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "codec/avro/avro_schema.h"
#include "codec/hfile/hfile.h"
#include "codec/log/log.h"
#include "codec/parquet/file.h"
#include "tarn/inspect.h"

#define CONTENT_MAX (256u << 20) /* of blocks that are looked into */

typedef struct inspection {
    tarn_inspect_log face; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_log log;
    tarn_inspect_block *blocks;
} inspection;

static int keep(tarn_cx *cx, inspection *self, tn_str text, const char **out)
{
    int rc = TARN_OK;

    if (text.ptr == NULL)
        return TARN_OK;
    rc = tn_arena_keep(cx, &self->arena, &text);
    if (rc == TARN_OK)
        *out = text.ptr;
    return rc;
}

static const char *kind_name(enum tn_log_kind kind)
{
    static const char *const names[] = {"command", "delete",  "corrupt", "avro",
                                        "hfile",   "parquet", "cdc"};

    return names[kind];
}

static int count_avro(tarn_cx *cx, inspection *self, const tn_log_block *from, int64_t *out)
{
    uint8_t bytes[8];
    tn_cursor in = tn_cursor_of(bytes + 4, 4);
    int rc = TARN_OK;

    if (from->content_bytes < sizeof bytes)
        TN_FAIL(TARN_E_CORRUPT, "a block of records that is shorter than its count");
    TN_TRY(tn_store_read(cx, self->log.file, from->content_offset, bytes, sizeof bytes));
    *out = tn_cursor_u32be(&in);
done:
    return rc;
}

static int count_content(tarn_cx *cx, inspection *self, const tn_log_block *from, int64_t *out)
{
    tn_buf content = {0};
    tn_arena arena = {0};
    tn_parquet file = {0};
    tn_log_deletes deletes;
    int rc = TARN_OK;

    if (from->content_bytes > CONTENT_MAX)
        goto done;
    TN_TRY(tn_log_content(cx, &self->log, from, &content));
    if (from->kind == TN_LOG_DELETE) {
        TN_TRY(tn_log_deletes_parse(cx, tn_buf_view(&content), self->log.path, &arena, &deletes));
        *out = (int64_t)deletes.count;
    } else {
        TN_TRY(tn_parquet_open_memory(cx, content.data, content.len, self->log.path, &file));
        *out = file.footer.rows;
    }
done:
    tn_parquet_close(&file);
    tn_arena_clear(&arena);
    tn_buf_clear(&content);
    return rc;
}

static int count_hfile(tarn_cx *cx, inspection *self, const tn_log_block *from, int64_t *out)
{
    tn_hfile *file = NULL;
    int rc = tn_hfile_open(cx, self->store, self->log.path, from->content_offset,
                           from->content_bytes, &file);

    if (rc == TARN_OK)
        *out = (int64_t)tn_hfile_count(file);
    tn_hfile_close(file);
    return rc;
}

static int count_positions(tarn_cx *cx, inspection *self, const tn_log_block *from, int64_t *out)
{
    tn_arena arena = {0};
    int64_t *positions;
    size_t count = 0;
    int rc = TARN_OK;

    if (from->positions.len > 0) {
        TN_TRY(tn_log_positions_parse(cx, from->positions, self->log.path, TN_LOG_CONTENT_MAX / 4,
                                      &arena, &positions, &count));
        *out = (int64_t)count;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int fill_fields(tarn_cx *cx, inspection *self, const tn_log_block *from,
                       tarn_inspect_block *block)
{
    tn_avro_schema schema = {0};
    const char **fields = NULL;
    int rc = TARN_OK;

    if (from->schema.len == 0)
        goto done;
    TN_TRY(tn_avro_schema_parse(cx, from->schema, "schema", &schema));
    fields = tn_arena_array(cx, &self->arena, schema.root->field_count + 1, sizeof *fields);
    if (fields == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < schema.root->field_count; i++)
        TN_TRY(keep(cx, self, schema.root->fields[i].name, &fields[i]));
    block->fields = fields;
    block->field_count = schema.root->field_count;
done:
    tn_avro_schema_clear(&schema);
    return rc;
}

static int fill_inside(tarn_cx *cx, inspection *self, size_t at, tarn_inspect_block *block)
{
    const tn_log_block *from = &self->log.blocks[at];
    int rc = TARN_OK;

    if (at > 0 && from->schema.ptr == from[-1].schema.ptr) {
        block->fields = block[-1].fields;
        block->field_count = block[-1].field_count;
    } else {
        TN_TRY(fill_fields(cx, self, from, block));
    }
    if (from->kind == TN_LOG_AVRO || from->kind == TN_LOG_CDC)
        TN_TRY(count_avro(cx, self, from, &block->records));
    else if (from->kind == TN_LOG_DELETE || from->kind == TN_LOG_PARQUET)
        TN_TRY(count_content(cx, self, from, &block->records));
    else if (from->kind == TN_LOG_HFILE)
        TN_TRY(count_hfile(cx, self, from, &block->records));
    TN_TRY(count_positions(cx, self, from, &block->positions));
done:
    return rc;
}

static int fill_block(tarn_cx *cx, inspection *self, size_t at)
{
    const tn_log_block *from = &self->log.blocks[at];
    tarn_inspect_block *block = &self->blocks[at];
    int rc = TARN_OK;

    *block = (tarn_inspect_block){.kind = kind_name(from->kind),
                                  .offset = from->offset,
                                  .bytes = from->bytes,
                                  .content_bytes = from->content_bytes,
                                  .rollback = from->rollback,
                                  .partial = from->partial,
                                  .records = -1,
                                  .positions = -1};
    TN_TRY(keep(cx, self, from->instant, &block->instant));
    TN_TRY(keep(cx, self, from->target, &block->target));
    TN_TRY(keep(cx, self, from->compacted, &block->compacted));
    TN_TRY(keep(cx, self, from->base_instant, &block->base_instant));
    rc = fill_inside(cx, self, at, block);
    if (rc != TARN_OK && rc != TARN_E_NOMEM && rc != TARN_E_CANCELLED && rc != TARN_E_IO) {
        TN_TRY(keep(cx, self, tn_str_of(tarn_cx_error(cx)), &block->problem));
        tn_cx_forget(cx);
    }
done:
    return rc;
}

int tarn_inspect_log_open(tarn_cx *cx, const char *path, tarn_inspect_log **out)
{
    inspection *self = tn_calloc(cx, 1, sizeof *self);
    tn_str place;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &self->arena, &self->store, &place));
    TN_TRY(tn_log_open(cx, self->store, place, &self->log));
    TN_TRY(keep(cx, self, place, &self->face.path));
    self->face.file_bytes = self->log.file->stat.size_bytes;
    self->blocks =
        tn_arena_array(cx, &self->arena, self->log.block_count + 1, sizeof *self->blocks);
    if (self->blocks == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < self->log.block_count; i++)
        TN_TRY(fill_block(cx, self, i));
    self->face.blocks = self->blocks;
    self->face.block_count = self->log.block_count;
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_inspect_log_close(&self->face);
    return rc;
}

void tarn_inspect_log_close(tarn_inspect_log *log)
{
    inspection *self = (inspection *)log;

    if (self == NULL)
        return;
    tn_log_close(&self->log);
    tn_store_close(self->store);
    tn_arena_clear(&self->arena);
    free(self);
}
