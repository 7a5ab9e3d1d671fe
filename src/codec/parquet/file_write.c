/* The file writer.
 *
 *   PAR1 · chunks of row group 0, in order · … · column indexes · offset indexes · bloom filters ·
 *   footer · 4: its length · PAR1
 *
 * I1: A chunk's offsets are relative to its first byte until it is written; here they become
 *     absolute.
 * I2: Indexes of a row group are all written or none of that kind: the offset index of every chunk,
 *     the column index of those that have one (readers take a missing one for "unknown"). A row
 *     group carried over from a file without them has none.
 * I3: Row groups without rows are not written; a file without any is legal. */
#include "codec/parquet/file_write_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

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
    TN_TRY(tn_store_write(cx, sink, TN_PARQUET_MAGIC, 4));
    *out = w;
    w = NULL;
done:
    tn_parquet_writer_close(w);
    return rc;
}

void tn_parquet_writer_close(tn_parquet_writer *w)
{
    tn_kept_chunk *kept;

    if (w == NULL)
        return;
    kept = (tn_kept_chunk *)(void *)w->kept.data;
    for (size_t i = 0; i < w->kept.len / sizeof *kept; i++) {
        tn_arena_clear(&kept[i].arena);
        tn_buf_clear(&kept[i].bloom);
    }
    tn_buf_clear(&w->kept);
    tn_buf_clear(&w->groups);
    tn_buf_clear(&w->scratch);
    tn_buf_clear(&w->piece);
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

int tn_write_chunk(tarn_cx *cx, tn_parquet_writer *w, tn_encoded_chunk *chunk)
{
    int64_t start = (int64_t)tn_parquet_writer_bytes(w);
    const tn_encoded_chunk *from = chunk->same != NULL ? chunk->same : chunk;
    tn_chunk_meta *meta = &chunk->meta;
    int rc = TARN_OK;

    for (size_t i = 0; i < from->piece_count; i++) {
        TN_TRY(tn_store_write(cx, w->sink, from->pieces[i].data, from->pieces[i].len));
        if (from == chunk)
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

void tn_write_keep(tn_parquet_writer *w, tn_encoded_chunk *chunk)
{
    tn_kept_chunk kept = {.arena = chunk->arena,
                          .has_column_index = chunk->has_column_index,
                          .has_offset_index = true,
                          .column_index = chunk->column_index,
                          .offset_index = chunk->offset_index,
                          .bloom = chunk->bloom};

    tn_buf_add(&w->kept, &kept, sizeof kept);
    if (w->kept.failed)
        return;
    chunk->arena = (tn_arena){0};
    chunk->bloom = (tn_buf){0};
}

int tn_write_room(tarn_cx *cx, tn_parquet_writer *w, size_t count)
{
    int rc = TARN_OK;

    if (w->groups.len / sizeof(tn_row_group_meta) + count > TN_PARQUET_ROW_GROUPS_MAX)
        TN_FAIL(TARN_E_LIMIT, "a file may have %d row groups; use larger ones",
                TN_PARQUET_ROW_GROUPS_MAX);
    tn_buf_reserve(&w->groups, count * sizeof(tn_row_group_meta));
    tn_buf_reserve(&w->kept, count * w->schema->leaf_count * sizeof(tn_kept_chunk));
    TN_TRY(tn_buf_check(cx, &w->groups));
    TN_TRY(tn_buf_check(cx, &w->kept));
done:
    return rc;
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
        TN_TRY(tn_write_chunk(cx, w, &chunks[i]));
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
    TN_TRY(tn_write_room(cx, w, 1));
    if (rows > 0) {
        TN_TRY(fill_group(cx, w, chunks, rows, sorting, sorting_count, &group));
        tn_buf_add(&w->groups, &group, sizeof group);
        for (size_t i = 0; i < n; i++)
            tn_write_keep(w, &chunks[i]);
        w->footer.rows += rows;
    }
    for (size_t i = 0; i < n; i++)
        tn_encoded_chunk_clear(&chunks[i]);
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

/* I2: whether all chunks of the group that chunk i is of have an offset index. */
static bool group_indexed(const tn_parquet_writer *w, size_t i)
{
    const tn_kept_chunk *kept = (const tn_kept_chunk *)(const void *)w->kept.data;
    size_t n = w->schema->leaf_count, first = i - i % n;
    bool all = true;

    for (size_t k = first; k < first + n; k++)
        all = all && kept[k].has_offset_index;
    return all;
}

static int write_indexes(tarn_cx *cx, tn_parquet_writer *w)
{
    tn_kept_chunk *kept = (tn_kept_chunk *)(void *)w->kept.data;
    size_t n = w->kept.len / sizeof *kept;
    int rc = TARN_OK;

    if (w->no_index)
        goto done;
    for (size_t i = 0; i < n; i++) {
        tn_chunk_meta *meta = meta_of(w, i);

        if (!kept[i].has_column_index || !group_indexed(w, i))
            continue;
        tn_column_index_encode(&w->scratch, &kept[i].column_index);
        TN_TRY(put_scratch(cx, w, &meta->column_index_offset, &meta->column_index_bytes));
    }
    for (size_t i = 0; i < n; i++) {
        tn_chunk_meta *meta = meta_of(w, i);

        if (!group_indexed(w, i))
            continue;
        tn_offset_index_encode(&w->scratch, &kept[i].offset_index);
        TN_TRY(put_scratch(cx, w, &meta->offset_index_offset, &meta->offset_index_bytes));
    }
done:
    return rc;
}

static int write_filters(tarn_cx *cx, tn_parquet_writer *w)
{
    tn_kept_chunk *kept = (tn_kept_chunk *)(void *)w->kept.data;
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
    tn_buf_add(&w->scratch, TN_PARQUET_MAGIC, 4);
    TN_TRY(put_scratch(cx, w, &offset, &bytes));
    w->finished = true;
done:
    return rc;
}
