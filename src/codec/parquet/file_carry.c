/* Row groups of other files, taken over without decoding a value.
 *
 *   chunk's bytes     copied; neighbours of the source that stay neighbours in one go
 *   metadata          as it was, offsets moved
 *   indexes, filters  read, kept with the others, offsets moved
 *
 * I1: a chunk is carried only where its pages would mean the same under the new schema: the same
 *     names, repetition and physical type on its path, and the same annotation.
 * I2: nothing that only the footer of the source said is lost: files whose statistics, encodings or
 *     calendar are to be read by the name of their writer, or in an order that is not the format's,
 *     are not carried from. */
#include "codec/parquet/file_carry.h"

#include <assert.h>
#include <inttypes.h>

#include "codec/parquet/arrow_field.h"
#include "codec/parquet/calendar.h"
#include "codec/parquet/file_write_state.h"
#include "codec/parquet/writer.h"

#define COPY_BYTES (1u << 20)

/* --- what may be carried --- */

static bool node_same(const tn_node *a, const tn_node *b)
{
    return a->shape == b->shape && a->element_meta->repetition == b->element_meta->repetition &&
           tn_str_equal(a->name, b->name) && a->depth == b->depth;
}

static bool meaning_same(const tn_meaning *a, const tn_meaning *b)
{
    bool decimal = a->logical == TN_LOGICAL_DECIMAL;

    return a->logical == b->logical && a->interval == b->interval && a->unit == b->unit &&
           a->adjusted_to_utc == b->adjusted_to_utc && a->bit_width == b->bit_width &&
           a->is_signed == b->is_signed &&
           (!decimal || (a->precision == b->precision && a->scale == b->scale));
}

/* I1 */
static bool leaf_same(const tn_schema *a_schema, const tn_leaf *a, const tn_schema *b_schema,
                      const tn_leaf *b)
{
    tn_meaning a_meaning = tn_element_meaning(a->node->element_meta);
    tn_meaning b_meaning = tn_element_meaning(b->node->element_meta);
    const tn_node *x = a->node, *y = b->node;

    if (a->physical != b->physical || a->max_def != b->max_def || a->max_rep != b->max_rep ||
        (a->physical == TN_FIXED && a->type_length != b->type_length) ||
        !meaning_same(&a_meaning, &b_meaning))
        return false;
    while (x->index != 0 && y->index != 0) {
        if (!node_same(x, y))
            return false;
        x = &a_schema->nodes[x->parent];
        y = &b_schema->nodes[y->parent];
    }
    return x->index == y->index;
}

static const tn_node *column_named(const tn_schema *schema, tn_str name)
{
    const tn_node *root = &schema->nodes[0];
    uint32_t at = root->first_child;

    for (uint32_t i = 0; i < root->child_count; i++) {
        if (tn_str_equal(schema->nodes[at].name, name))
            return &schema->nodes[at];
        at = schema->nodes[at].next_sibling;
    }
    return NULL;
}

/* I2 */
static bool source_plain(const tn_parquet *file)
{
    const tn_footer *footer = &file->footer;
    tn_writer writer = tn_writer_of(footer->created_by);
    tn_calendars calendars =
        tn_calendar_of(footer->key_values, footer->key_value_count, footer->created_by);

    /* Before 1.10, parquet-mr wrote bounds of text in a wrong order, and no column orders. */
    if (tn_writer_before(&writer, "parquet-mr", 1, 10, 0) ||
        calendars.dates == TN_CALENDAR_HYBRID || calendars.int96 == TN_CALENDAR_HYBRID ||
        footer->column_order_count != file->schema.leaf_count)
        return false;
    for (size_t i = 0; i < footer->column_order_count; i++)
        if (footer->column_orders[i] != 1)
            return false;
    return true;
}

static bool match_column(const tn_parquet *file, const tn_schema *schema, const tn_node *column,
                         tn_carry_leaf *leaves)
{
    const tn_node *from = column_named(&file->schema, column->name);

    if (from != NULL && from->leaf_count != column->leaf_count)
        return false;
    for (uint32_t i = 0; i < column->leaf_count; i++) {
        const tn_leaf *leaf = &schema->leaves[column->first_leaf + i];

        leaves[leaf->index] = (tn_carry_leaf){.from = -1, .made = {.kind = TN_MADE_NULL}};
        if (from == NULL && column->element_meta->repetition != TN_OPTIONAL)
            return false;
        if (from == NULL)
            continue;
        leaves[leaf->index].from = from->first_leaf + i;
        if (!leaf_same(schema, leaf, &file->schema, &file->schema.leaves[from->first_leaf + i]))
            return false;
    }
    return true;
}

int tn_carry_plan(tarn_cx *cx, const tn_parquet *file, const tn_schema *schema, tn_arena *arena,
                  tn_carry_leaf **leaves, bool *whole)
{
    const tn_node *root = &schema->nodes[0];
    tn_carry_leaf *made = tn_arena_array(cx, arena, schema->leaf_count + 1, sizeof *made);
    uint32_t at = root->first_child;

    if (made == NULL)
        return TARN_E_NOMEM;
    *whole = source_plain(file);
    for (uint32_t i = 0; *whole && i < root->child_count; i++) {
        *whole = match_column(file, schema, &schema->nodes[at], made);
        at = schema->nodes[at].next_sibling;
    }
    *leaves = made;
    return TARN_OK;
}

/* --- carrying --- */

/* Copies the bytes of a file from `from` on to the end of the sink. */
static int copy_bytes(tarn_cx *cx, tn_parquet_writer *w, tn_file *file, uint64_t from, uint64_t len)
{
    int rc = TARN_OK;

    tn_buf_reset(&w->piece);
    if (tn_buf_extend(&w->piece, COPY_BYTES) == NULL)
        TN_TRY(tn_fail_memory(cx));
    while (len > 0) {
        size_t n = len < COPY_BYTES ? (size_t)len : COPY_BYTES;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_store_read(cx, file, from, w->piece.data, n));
        TN_TRY(tn_store_write(cx, w->sink, w->piece.data, n));
        from += n;
        len -= n;
    }
done:
    return rc;
}

/* A row group of another file whose bytes have moved by `shift`. */
static int move_group(tarn_cx *cx, tn_parquet_writer *w, const tn_row_group_meta *from,
                      tn_kept_chunk *kept, int64_t shift, size_t ordinal, tn_row_group_meta *out)
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
    const uint64_t head = sizeof TN_PARQUET_MAGIC - 1;
    tn_row_group_meta *groups = (tn_row_group_meta *)(void *)from->groups.data;
    tn_kept_chunk *kept = (tn_kept_chunk *)(void *)from->kept.data;
    size_t count = from->groups.len / sizeof *groups, n = w->schema->leaf_count;
    size_t before = w->groups.len / sizeof *groups;
    int64_t shift = (int64_t)tn_parquet_writer_bytes(w) - (int64_t)head;
    int rc = TARN_OK;

    assert(n == from->schema->leaf_count && !w->finished && !from->finished);
    TN_TRY(tn_write_room(cx, w, count));
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

/* Bytes of the source that wait to be copied in one go. */
typedef struct span {
    uint64_t from, bytes;
} span;

static int copy_span(tarn_cx *cx, tn_parquet_writer *w, tn_file *file, span *at)
{
    int rc = at->bytes != 0 ? copy_bytes(cx, w, file, at->from, at->bytes) : TARN_OK;

    at->bytes = 0;
    return rc;
}

/* Metadata of a chunk whose pages begin at `start` now, and at `offset` in the source. */
static void move_chunk(const tn_leaf *leaf, const tn_chunk_meta *from, uint64_t offset,
                       uint64_t bytes, uint64_t start, tn_chunk_meta *out)
{
    int64_t shift = (int64_t)start - (int64_t)offset;
    tn_chunk_meta meta = *from;

    meta.file_offset = 0;
    meta.path = leaf->path;
    meta.path_count = leaf->path_count;
    meta.compressed_bytes = (int64_t)bytes;
    meta.data_page_offset += shift;
    /* An offset that leads elsewhere was a writer's way to say that there is none. */
    meta.has_dictionary_page_offset =
        from->has_dictionary_page_offset && (uint64_t)from->dictionary_page_offset == offset;
    meta.dictionary_page_offset = meta.has_dictionary_page_offset ? (int64_t)start : 0;
    if (from->data_page_offset < (int64_t)offset)
        meta.data_page_offset = (int64_t)start;
    meta.has_index_page_offset = false;
    meta.has_bloom = false;
    meta.bloom_offset = meta.column_index_offset = meta.offset_index_offset = 0;
    meta.bloom_bytes = meta.column_index_bytes = meta.offset_index_bytes = 0;
    *out = meta;
}

/* What stands behind the row groups of the source. */
static int load_indexes(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                        int64_t shift, tn_kept_chunk *kept)
{
    bool filtered;
    tn_str blocks;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_offset_index(cx, file, group, leaf, &kept->arena, &kept->has_offset_index,
                                   &kept->offset_index));
    for (size_t i = 0; kept->has_offset_index && i < kept->offset_index.pages; i++)
        kept->offset_index.locations[i].offset += shift;
    if (kept->has_offset_index)
        TN_TRY(tn_parquet_column_index(cx, file, group, leaf, &kept->arena, &kept->has_column_index,
                                       &kept->column_index));
    if (kept->has_column_index && kept->column_index.pages != kept->offset_index.pages)
        kept->has_column_index = kept->has_offset_index = false;
    TN_TRY(tn_parquet_bloom(cx, file, group, leaf, &kept->arena, &filtered, &blocks));
    if (filtered)
        tn_buf_str(&kept->bloom, blocks);
    TN_TRY(tn_buf_check(cx, &kept->bloom));
done:
    return rc;
}

static int carry_leaf(tarn_cx *cx, tn_parquet_writer *w, const tn_parquet *from, size_t group,
                      size_t leaf, size_t target, tn_file *file, span *waiting, tn_chunk_meta *meta)
{
    const tn_chunk_meta *chunk = &from->footer.groups[group].columns[leaf];
    tn_kept_chunk kept = {0};
    uint64_t offset, bytes, start;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_chunk_span(cx, from, group, leaf, &offset, &bytes));
    if (waiting->bytes != 0 && waiting->from + waiting->bytes != offset)
        TN_TRY(copy_span(cx, w, file, waiting));
    start = tn_parquet_writer_bytes(w) + waiting->bytes;
    if (waiting->bytes == 0)
        waiting->from = offset;
    waiting->bytes += bytes;
    move_chunk(&w->schema->leaves[target], chunk, offset, bytes, start, meta);
    TN_TRY(load_indexes(cx, from, group, leaf, (int64_t)start - (int64_t)offset, &kept));
    tn_buf_add(&w->kept, &kept, sizeof kept); /* there is room */
    kept = (tn_kept_chunk){0};
done:
    tn_arena_clear(&kept.arena);
    tn_buf_clear(&kept.bloom);
    return rc;
}

static int make_leaf(tarn_cx *cx, tn_parquet_writer *w, const tn_carry_leaf *carry, size_t target,
                     const tn_chunk_options *options, int64_t rows, tn_chunk_meta *meta)
{
    tn_encoded_chunk chunk = {0};
    int rc = TARN_OK;

    TN_TRY(tn_chunk_made(cx, &w->schema->leaves[target], options, &carry->made, rows, &chunk));
    TN_TRY(tn_write_chunk(cx, w, &chunk));
    *meta = chunk.meta;
    tn_write_keep(w, &chunk);
done:
    tn_encoded_chunk_clear(&chunk);
    return rc;
}

static int carry_group(tarn_cx *cx, tn_parquet_writer *w, const tn_parquet *from, tn_file *file,
                       size_t group, const tn_carry_leaf *leaves, const tn_chunk_options *options,
                       tn_row_group_meta *out)
{
    const tn_row_group_meta *source = &from->footer.groups[group];
    size_t n = w->schema->leaf_count, ordinal = w->groups.len / sizeof *out;
    span waiting = {0};
    int rc = TARN_OK;

    out->columns = tn_arena_array(cx, &w->arena, n, sizeof *out->columns);
    if (out->columns == NULL)
        return TARN_E_NOMEM;
    out->column_count = n;
    out->rows = source->rows;
    out->ordinal = ordinal <= INT16_MAX ? (int32_t)ordinal : -1;
    out->file_offset = (int64_t)tn_parquet_writer_bytes(w);
    for (size_t i = 0; i < n; i++) {
        if (leaves[i].from >= 0) {
            TN_TRY(carry_leaf(cx, w, from, group, (size_t)leaves[i].from, i, file, &waiting,
                              &out->columns[i]));
        } else {
            TN_TRY(copy_span(cx, w, file, &waiting));
            TN_TRY(make_leaf(cx, w, &leaves[i], i, options, source->rows, &out->columns[i]));
        }
        out->total_bytes += out->columns[i].uncompressed_bytes;
        out->compressed_bytes += out->columns[i].compressed_bytes;
    }
    TN_TRY(copy_span(cx, w, file, &waiting));
done:
    return rc;
}

int tn_parquet_writer_carry(tarn_cx *cx, tn_parquet_writer *w, const tn_parquet *from,
                            tn_file *file, size_t group, const tn_carry_leaf *leaves,
                            const tn_chunk_options *options)
{
    tn_row_group_meta out = {0};
    int rc = TARN_OK;

    assert(!w->finished);
    if (from->footer.groups[group].rows == 0)
        return TARN_OK;
    TN_TRY(tn_write_room(cx, w, 1));
    TN_TRY(carry_group(cx, w, from, file, group, leaves, options, &out));
    tn_buf_add(&w->groups, &out, sizeof out);
    w->footer.rows += out.rows;
done:
    return rc;
}
