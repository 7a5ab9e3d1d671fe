/* The file writer.
 *
 *   PAR1 · chunks of row group 0, in order · … · column indexes · offset indexes · bloom filters ·
 *   footer · 4: its length · PAR1
 *
 * I1: A chunk's offsets are relative to its first byte until it is written; here they become
 *     absolute.
 * I2: Indexes of a row group are all written or none of that kind: the offset index of every chunk,
 *     the column index of those that have one (readers take a missing one for "unknown").
 * I3: Row groups without rows are not written; a file without any is legal. */
#include "codec/parquet/file_write.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define MAGIC      "PAR1"
#define COPY_BYTES (1u << 20)

/* What is kept of a chunk after its bytes are gone; `arena` owns what it points to. */
typedef struct kept_chunk {
    tn_arena arena;
    bool has_column_index;
    tn_column_index column_index;
    tn_offset_index offset_index;
    tn_buf bloom;
} kept_chunk;

struct tn_parquet_writer {
    tn_arena arena;
    tn_sink *sink;
    const tn_schema *schema;
    bool no_index, finished;
    uint64_t base; /* bytes of the sink before the file */
    tn_footer footer;
    size_t key_value_cap;
    tn_buf groups; /* tn_row_group_meta */
    tn_buf kept;   /* kept_chunk, leaf_count per group */
    tn_buf scratch;
};

/* Logical types that have a converted type beside them for old readers (LogicalTypes.md of the
 * format). Local times get the converted type as well: the format asks for it, since readers of
 * that time took it so. */
static int32_t converted_of(const tn_element *e)
{
    switch (e->logical) {
    case TN_LOGICAL_STRING:
        return TN_UTF8;
    case TN_LOGICAL_MAP:
        return TN_MAP;
    case TN_LOGICAL_LIST:
        return TN_LIST;
    case TN_LOGICAL_ENUM:
        return TN_ENUM;
    case TN_LOGICAL_DECIMAL:
        return TN_DECIMAL;
    case TN_LOGICAL_DATE:
        return TN_DATE;
    case TN_LOGICAL_TIME:
        return e->unit == TN_MILLIS   ? TN_TIME_MILLIS
               : e->unit == TN_MICROS ? TN_TIME_MICROS
                                      : TN_CONVERTED_NONE;
    case TN_LOGICAL_TIMESTAMP:
        return e->unit == TN_MILLIS   ? TN_TIMESTAMP_MILLIS
               : e->unit == TN_MICROS ? TN_TIMESTAMP_MICROS
                                      : TN_CONVERTED_NONE;
    case TN_LOGICAL_INTEGER:
        switch (e->bit_width) {
        case 8:
            return e->is_signed ? TN_INT_8 : TN_UINT_8;
        case 16:
            return e->is_signed ? TN_INT_16 : TN_UINT_16;
        case 32:
            return e->is_signed ? TN_INT_32 : TN_UINT_32;
        case 64:
            return e->is_signed ? TN_INT_64 : TN_UINT_64;
        default:
            return TN_CONVERTED_NONE;
        }
    case TN_LOGICAL_JSON:
        return TN_JSON;
    case TN_LOGICAL_BSON:
        return TN_BSON;
    default:
        return TN_CONVERTED_NONE;
    }
}

static int copy_schema(tarn_cx *cx, tn_parquet_writer *w)
{
    const tn_schema *schema = w->schema;
    tn_footer *f = &w->footer;
    int rc = TARN_OK;

    f->elements = tn_arena_array(cx, &w->arena, schema->node_count, sizeof *f->elements);
    f->column_orders = tn_arena_array(cx, &w->arena, schema->leaf_count + 1, sizeof(int32_t));
    if (f->elements == NULL || f->column_orders == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < schema->node_count; i++) {
        tn_element *e = &f->elements[i];

        *e = schema->elements[i];
        if (e->converted == TN_CONVERTED_NONE)
            e->converted = converted_of(e);
    }
    f->element_count = schema->node_count;
    for (size_t i = 0; i < schema->leaf_count; i++)
        f->column_orders[i] = 1;
    f->column_order_count = schema->leaf_count;
    return rc;
}

static int copy_options(tarn_cx *cx, tn_parquet_writer *w, const tn_parquet_write_options *options)
{
    tn_footer *f = &w->footer;
    int rc = TARN_OK;

    f->version = 2;
    f->created_by = TN_STR("tarn version " TARN_VERSION " (build " TARN_BUILD ")");
    if (options == NULL)
        goto done;
    w->no_index = options->no_index;
    if (options->created_by.len != 0) {
        f->created_by = options->created_by;
        TN_TRY(tn_arena_keep(cx, &w->arena, &f->created_by));
    }
    w->key_value_cap = options->key_value_count + 1;
    f->key_values = tn_arena_array(cx, &w->arena, w->key_value_cap, sizeof *f->key_values);
    if (f->key_values == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < options->key_value_count; i++) {
        tn_key_value *kv = &f->key_values[i];

        *kv = options->key_values[i];
        TN_TRY(tn_arena_keep(cx, &w->arena, &kv->key));
        if (kv->has_value)
            TN_TRY(tn_arena_keep(cx, &w->arena, &kv->value));
    }
    f->key_value_count = options->key_value_count;
done:
    return rc;
}

int tn_parquet_writer_open(tarn_cx *cx, tn_sink *sink, const tn_schema *schema,
                           const tn_parquet_write_options *options, tn_parquet_writer **out)
{
    tn_parquet_writer *w = tn_calloc(cx, 1, sizeof *w);
    int rc = TARN_OK;

    if (w == NULL)
        return TARN_E_NOMEM;
    w->sink = sink;
    w->schema = schema;
    w->base = sink->written_bytes;
    TN_TRY(copy_schema(cx, w));
    TN_TRY(copy_options(cx, w, options));
    TN_TRY(tn_store_write(cx, sink, MAGIC, 4));
    *out = w;
    w = NULL;
done:
    tn_parquet_writer_close(w);
    return rc;
}

void tn_parquet_writer_close(tn_parquet_writer *w)
{
    kept_chunk *kept;

    if (w == NULL)
        return;
    kept = (kept_chunk *)(void *)w->kept.data;
    for (size_t i = 0; i < w->kept.len / sizeof *kept; i++) {
        tn_arena_clear(&kept[i].arena);
        tn_buf_clear(&kept[i].bloom);
    }
    tn_buf_clear(&w->kept);
    tn_buf_clear(&w->groups);
    tn_buf_clear(&w->scratch);
    tn_arena_clear(&w->arena);
    free(w);
}

int tn_parquet_writer_key_value(tarn_cx *cx, tn_parquet_writer *w, tn_str key, tn_str value)
{
    tn_footer *f = &w->footer;
    tn_key_value pair = {key, value, true};
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &w->arena, &pair.key));
    TN_TRY(tn_arena_keep(cx, &w->arena, &pair.value));
    TN_TRY(tn_arena_grow(cx, &w->arena, &f->key_values, f->key_value_count, &w->key_value_cap,
                         sizeof *f->key_values));
    f->key_values[f->key_value_count++] = pair;
done:
    return rc;
}

uint64_t tn_parquet_writer_bytes(const tn_parquet_writer *w)
{
    return w->sink->written_bytes - w->base;
}

static int write_chunk(tarn_cx *cx, tn_parquet_writer *w, tn_encoded_chunk *chunk)
{
    int64_t start = (int64_t)tn_parquet_writer_bytes(w);
    tn_chunk_meta *meta = &chunk->meta;
    int rc = TARN_OK;

    for (size_t i = 0; i < chunk->piece_count; i++) {
        TN_TRY(tn_store_write(cx, w->sink, chunk->pieces[i].data, chunk->pieces[i].len));
        tn_buf_clear(&chunk->pieces[i]);
    }
    /* parquet-format 2.9 on: nothing stands at file_offset any more; 0 is what others write. */
    meta->file_offset = 0;
    meta->data_page_offset += start;
    if (meta->has_dictionary_page_offset)
        meta->dictionary_page_offset += start;
    for (size_t i = 0; i < chunk->offset_index.pages; i++)
        chunk->offset_index.locations[i].offset += start;
done:
    return rc;
}

static void keep_chunk(tn_parquet_writer *w, tn_encoded_chunk *chunk)
{
    kept_chunk kept = {.arena = chunk->arena,
                       .has_column_index = chunk->has_column_index,
                       .column_index = chunk->column_index,
                       .offset_index = chunk->offset_index,
                       .bloom = chunk->bloom};

    tn_buf_add(&w->kept, &kept, sizeof kept);
    if (w->kept.failed)
        return;
    chunk->arena = (tn_arena){0};
    chunk->bloom = (tn_buf){0};
}

static int check_group(tarn_cx *cx, const tn_parquet_writer *w, const tn_encoded_chunk *chunks,
                       int64_t rows)
{
    for (size_t i = 0; i < w->schema->leaf_count; i++) {
        const tn_leaf *leaf = &w->schema->leaves[i];

        if (chunks[i].rows != rows)
            return tn_fail(cx, TARN_E_INVALID,
                           "column %.*s has %" PRId64 " rows in a row group of %" PRId64,
                           TN_STR_ARG(leaf->dotted), chunks[i].rows, rows);
        if (chunks[i].meta.physical != (int32_t)leaf->physical)
            return tn_fail(cx, TARN_E_INVALID, "column %.*s: the chunk is of another type",
                           TN_STR_ARG(leaf->dotted));
    }
    return TARN_OK;
}

static int fill_group(tarn_cx *cx, tn_parquet_writer *w, tn_encoded_chunk *chunks, int64_t rows,
                      const tn_sorting_column *sorting, size_t sorting_count,
                      tn_row_group_meta *group)
{
    size_t n = w->schema->leaf_count;
    size_t ordinal = w->groups.len / sizeof *group;
    int rc = TARN_OK;

    group->columns = tn_arena_array(cx, &w->arena, n, sizeof *group->columns);
    group->sorting = tn_arena_array(cx, &w->arena, sorting_count + 1, sizeof *group->sorting);
    if (group->columns == NULL || group->sorting == NULL)
        return TARN_E_NOMEM;
    group->column_count = n;
    group->rows = rows;
    for (size_t i = 0; i < sorting_count; i++)
        group->sorting[i] = sorting[i];
    group->sorting_count = sorting_count;
    /* The ordinal has 16 bits; it is optional, and left out past them. */
    group->ordinal = ordinal <= INT16_MAX ? (int32_t)ordinal : -1;
    group->file_offset = (int64_t)tn_parquet_writer_bytes(w);
    for (size_t i = 0; i < n; i++) {
        TN_TRY(write_chunk(cx, w, &chunks[i]));
        group->columns[i] = chunks[i].meta;
        group->total_bytes += chunks[i].meta.uncompressed_bytes;
        group->compressed_bytes += chunks[i].meta.compressed_bytes;
    }
done:
    return rc;
}

int tn_parquet_writer_row_group(tarn_cx *cx, tn_parquet_writer *w, tn_encoded_chunk *chunks,
                                int64_t rows, const tn_sorting_column *sorting,
                                size_t sorting_count)
{
    tn_row_group_meta group = {0};
    size_t n = w->schema->leaf_count;
    int rc = TARN_OK;

    TN_TRY(check_group(cx, w, chunks, rows));
    if (w->groups.len / sizeof group >= TN_PARQUET_ROW_GROUPS_MAX)
        TN_FAIL(TARN_E_LIMIT, "a file may have %d row groups; use larger ones",
                TN_PARQUET_ROW_GROUPS_MAX);
    if (rows > 0) {
        TN_TRY(fill_group(cx, w, chunks, rows, sorting, sorting_count, &group));
        tn_buf_add(&w->groups, &group, sizeof group);
        tn_buf_reserve(&w->kept, n * sizeof(kept_chunk));
        TN_TRY(tn_buf_check(cx, &w->groups));
        TN_TRY(tn_buf_check(cx, &w->kept));
        for (size_t i = 0; i < n; i++)
            keep_chunk(w, &chunks[i]);
        w->footer.rows += rows;
    }
    for (size_t i = 0; i < n; i++)
        tn_encoded_chunk_clear(&chunks[i]);
done:
    return rc;
}

/* Copies the bytes of a file from `from` on to the end of the sink. */
static int copy_bytes(tarn_cx *cx, tn_parquet_writer *w, tn_file *file, uint64_t from, uint64_t len)
{
    tn_buf piece = {0};
    int rc = TARN_OK;

    if (tn_buf_extend(&piece, COPY_BYTES) == NULL)
        TN_TRY(tn_fail_memory(cx));
    while (len > 0) {
        size_t n = len < COPY_BYTES ? (size_t)len : COPY_BYTES;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_store_read(cx, file, from, piece.data, n));
        TN_TRY(tn_store_write(cx, w->sink, piece.data, n));
        from += n;
        len -= n;
    }
done:
    tn_buf_clear(&piece);
    return rc;
}

/* A row group of another file whose bytes have moved by `shift`. */
static int move_group(tarn_cx *cx, tn_parquet_writer *w, const tn_row_group_meta *from,
                      kept_chunk *kept, int64_t shift, size_t ordinal, tn_row_group_meta *out)
{
    tn_row_group_meta group = *from;

    group.columns = tn_arena_array(cx, &w->arena, from->column_count, sizeof *group.columns);
    group.sorting = tn_arena_array(cx, &w->arena, from->sorting_count + 1, sizeof *group.sorting);
    if (group.columns == NULL || group.sorting == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < from->sorting_count; i++)
        group.sorting[i] = from->sorting[i];
    group.ordinal = ordinal <= INT16_MAX ? (int32_t)ordinal : -1;
    group.file_offset += shift;
    for (size_t i = 0; i < from->column_count; i++) {
        tn_chunk_meta *meta = &group.columns[i];

        *meta = from->columns[i];
        meta->data_page_offset += shift;
        if (meta->has_dictionary_page_offset)
            meta->dictionary_page_offset += shift;
        for (size_t k = 0; k < kept[i].offset_index.pages; k++)
            kept[i].offset_index.locations[k].offset += shift;
    }
    *out = group;
    return TARN_OK;
}

int tn_parquet_writer_append(tarn_cx *cx, tn_parquet_writer *w, tn_parquet_writer *from,
                             tn_file *file)
{
    const uint64_t head = sizeof MAGIC - 1;
    tn_row_group_meta *groups = (tn_row_group_meta *)(void *)from->groups.data;
    kept_chunk *kept = (kept_chunk *)(void *)from->kept.data;
    size_t count = from->groups.len / sizeof *groups, n = w->schema->leaf_count;
    size_t before = w->groups.len / sizeof *groups;
    int64_t shift = (int64_t)tn_parquet_writer_bytes(w) - (int64_t)head;
    int rc = TARN_OK;

    assert(n == from->schema->leaf_count && !w->finished && !from->finished);
    if (before + count > TN_PARQUET_ROW_GROUPS_MAX)
        TN_FAIL(TARN_E_LIMIT, "a file may have %d row groups; use larger ones",
                TN_PARQUET_ROW_GROUPS_MAX);
    tn_buf_reserve(&w->groups, count * sizeof *groups);
    tn_buf_reserve(&w->kept, from->kept.len);
    TN_TRY(tn_buf_check(cx, &w->groups));
    TN_TRY(tn_buf_check(cx, &w->kept));
    TN_TRY(copy_bytes(cx, w, file, from->base + head, tn_parquet_writer_bytes(from) - head));
    for (size_t i = 0; i < count; i++) {
        tn_row_group_meta moved;

        TN_TRY(move_group(cx, w, &groups[i], &kept[i * n], shift, before + i, &moved));
        tn_buf_add(&w->groups, &moved, sizeof moved);
    }
    /* What the metadata points to goes along, and is `from`'s no more. */
    tn_buf_add(&w->kept, from->kept.data, from->kept.len);
    tn_buf_reset(&from->kept);
    tn_buf_reset(&from->groups);
    w->footer.rows += from->footer.rows;
done:
    return rc;
}

/* Writes `scratch`; *offset and *bytes tell where. */
static int put_scratch(tarn_cx *cx, tn_parquet_writer *w, int64_t *offset, int32_t *bytes)
{
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, &w->scratch));
    if (w->scratch.len > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT, "an index or filter of %zu bytes exceeds 2 GiB", w->scratch.len);
    *offset = (int64_t)tn_parquet_writer_bytes(w);
    *bytes = (int32_t)w->scratch.len;
    TN_TRY(tn_store_write(cx, w->sink, w->scratch.data, w->scratch.len));
    tn_buf_reset(&w->scratch);
done:
    return rc;
}

static tn_chunk_meta *meta_of(tn_parquet_writer *w, size_t i)
{
    tn_row_group_meta *groups = (tn_row_group_meta *)(void *)w->groups.data;
    size_t n = w->schema->leaf_count;

    return &groups[i / n].columns[i % n];
}

static int write_indexes(tarn_cx *cx, tn_parquet_writer *w)
{
    kept_chunk *kept = (kept_chunk *)(void *)w->kept.data;
    size_t n = w->kept.len / sizeof *kept;
    int rc = TARN_OK;

    if (w->no_index)
        goto done;
    for (size_t i = 0; i < n; i++) {
        tn_chunk_meta *meta = meta_of(w, i);

        if (!kept[i].has_column_index)
            continue;
        tn_column_index_encode(&w->scratch, &kept[i].column_index);
        TN_TRY(put_scratch(cx, w, &meta->column_index_offset, &meta->column_index_bytes));
    }
    for (size_t i = 0; i < n; i++) {
        tn_chunk_meta *meta = meta_of(w, i);

        tn_offset_index_encode(&w->scratch, &kept[i].offset_index);
        TN_TRY(put_scratch(cx, w, &meta->offset_index_offset, &meta->offset_index_bytes));
    }
done:
    return rc;
}

static int write_filters(tarn_cx *cx, tn_parquet_writer *w)
{
    kept_chunk *kept = (kept_chunk *)(void *)w->kept.data;
    int rc = TARN_OK;

    for (size_t i = 0; i < w->kept.len / sizeof *kept; i++) {
        tn_chunk_meta *meta = meta_of(w, i);

        if (kept[i].bloom.len == 0)
            continue;
        tn_bloom_header_encode(&w->scratch, (int32_t)kept[i].bloom.len);
        tn_buf_add(&w->scratch, kept[i].bloom.data, kept[i].bloom.len);
        TN_TRY(put_scratch(cx, w, &meta->bloom_offset, &meta->bloom_bytes));
        meta->has_bloom = true;
        tn_buf_clear(&kept[i].bloom);
    }
done:
    return rc;
}

int tn_parquet_writer_finish(tarn_cx *cx, tn_parquet_writer *w)
{
    int rc = TARN_OK;
    int64_t offset;
    int32_t bytes;

    if (w->finished)
        TN_FAIL(TARN_E_INVALID, "a Parquet file was to be finished twice");
    TN_TRY(write_indexes(cx, w));
    TN_TRY(write_filters(cx, w));
    w->footer.groups = (tn_row_group_meta *)(void *)w->groups.data;
    w->footer.group_count = w->groups.len / sizeof(tn_row_group_meta);
    tn_footer_encode(&w->scratch, &w->footer);
    TN_TRY(tn_buf_check(cx, &w->scratch));
    if (w->scratch.len > TN_PARQUET_FOOTER_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "a footer of %zu bytes exceeds the limit of %u; use larger row groups",
                w->scratch.len, TN_PARQUET_FOOTER_BYTES_MAX);
    bytes = (int32_t)w->scratch.len;
    tn_buf_u32le(&w->scratch, (uint32_t)bytes);
    tn_buf_add(&w->scratch, MAGIC, 4);
    TN_TRY(put_scratch(cx, w, &offset, &bytes));
    w->finished = true;
done:
    return rc;
}
