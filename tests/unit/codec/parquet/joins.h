/* Test helper: chunks of one leaf as any writer may make them (dictionaries of all sorts, page
 * versions, codecs, encodings, page sizes, with and without statistics), each the only one of a
 * file in memory; and what a leaf holds, flattened. */
#ifndef TN_TEST_JOINS_H
#define TN_TEST_JOINS_H

#include "unit/test.h"

#include <math.h>

#include "codec/parquet/chunk_join.h"
#include "codec/parquet/encode.h"
#include "codec/parquet/file_write.h"
#include "codec/parquet/leaf_read.h"
#include "codec/parquet/leaf_write_state.h"
#include "io/store_memory.h"

/* Levels, and the length and bytes of each value. */
typedef struct joins_column {
    tn_buf rep, def, lengths, bytes;
    int64_t rows, entries, values;
} joins_column;

static inline void joins_column_clear(joins_column *c)
{
    tn_buf_clear(&c->rep);
    tn_buf_clear(&c->def);
    tn_buf_clear(&c->lengths);
    tn_buf_clear(&c->bytes);
    memset(c, 0, sizeof *c);
}

static inline void joins_value(joins_column *c, const void *bytes, uint32_t len)
{
    tn_buf_u32le(&c->lengths, len);
    tn_buf_add(&c->bytes, bytes, len);
    c->values++;
}

static inline void joins_level(joins_column *c, uint16_t rep, uint16_t def)
{
    tn_buf_add(&c->rep, &rep, sizeof rep);
    tn_buf_add(&c->def, &def, sizeof def);
    c->entries++;
    c->rows += rep == 0;
}

static inline const uint16_t *joins_levels(const tn_buf *buf)
{
    return (const uint16_t *)(const void *)buf->data;
}

/* What a reader gives of one chunk, appended; definition levels through `map`. */
static inline int joins_read(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                             const uint16_t *map, joins_column *out)
{
    tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
    const tn_leaf *from = &file->schema.leaves[leaf];
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    int rc = TARN_OK;

    TN_TRY(tn_leaf_reader_open(cx, file, group, leaf, &source, NULL, &reader));
    for (;;) {
        TN_TRY(tn_leaf_reader_next(cx, reader, 1000, &batch));
        if (batch.rows == 0)
            break;
        for (int64_t i = 0; i < batch.entries; i++) {
            uint16_t def = batch.def != NULL ? batch.def[i] : from->max_def;

            joins_level(out, batch.rep != NULL ? batch.rep[i] : 0, map != NULL ? map[def] : def);
        }
        for (int64_t i = 0; i < batch.values.count; i++) {
            const tn_view *view = (const tn_view *)batch.values.data + i;
            size_t width = tn_leaf_width(from);

            if (from->physical == TN_BYTE_ARRAY)
                joins_value(out, view->ptr, view->len);
            else
                joins_value(out, (const uint8_t *)batch.values.data + (size_t)i * width,
                            (uint32_t)width);
        }
    }
done:
    tn_leaf_reader_close(reader);
    return rc;
}

static inline bool joins_same_buf(const tn_buf *a, const tn_buf *b)
{
    return tn_str_equal(tn_buf_view(a), tn_buf_view(b));
}

static inline bool joins_same(const joins_column *a, const joins_column *b)
{
    return a->rows == b->rows && a->entries == b->entries && a->values == b->values &&
           joins_same_buf(&a->rep, &b->rep) && joins_same_buf(&a->def, &b->def) &&
           joins_same_buf(&a->lengths, &b->lengths) && joins_same_buf(&a->bytes, &b->bytes);
}

/* ---- a schema of one leaf ---- */

enum joins_shape {
    JOINS_REQUIRED,
    JOINS_OPTIONAL,
    JOINS_MEMBER, /* optional, of an optional struct */
    JOINS_OWN,    /* optional, of a required struct */
    JOINS_LIST,   /* optional list of optional */
    JOINS_LISTS,  /* optional list of such lists */
    JOINS_SHAPES
};

typedef struct joins_schema {
    tn_arena arena;
    tn_element elements[8];
    tn_schema schema;
    const tn_leaf *leaf;
} joins_schema;

static inline tn_element joins_group(const char *name, int32_t children, enum tn_repetition r,
                                     int32_t logical)
{
    return (tn_element){.name = tn_str_of(name),
                        .group = true,
                        .children = children,
                        .repetition = r,
                        .logical = logical,
                        .converted = TN_CONVERTED_NONE};
}

static inline void joins_schema_open(tarn_cx *cx, joins_schema *s, enum joins_shape shape,
                                     tn_element leaf)
{
    size_t n = 0;

    memset(s, 0, sizeof *s);
    s->elements[n++] = joins_group("root", 1, TN_REQUIRED, 0);
    if (shape == JOINS_MEMBER)
        s->elements[n++] = joins_group("s", 1, TN_OPTIONAL, 0);
    if (shape == JOINS_OWN)
        s->elements[n++] = joins_group("s", 1, TN_REQUIRED, 0);
    for (int depth = shape == JOINS_LISTS ? 2 : shape == JOINS_LIST ? 1 : 0; depth > 0; depth--) {
        s->elements[n] = joins_group(n == 1 ? "l" : "element", 1, TN_OPTIONAL, TN_LOGICAL_LIST);
        n++;
        s->elements[n++] = joins_group("list", 1, TN_REPEATED, 0);
    }
    leaf.name = TN_STR("element");
    leaf.converted = TN_CONVERTED_NONE;
    leaf.repetition = shape == JOINS_REQUIRED ? TN_REQUIRED : TN_OPTIONAL;
    s->elements[n++] = leaf;
    assert_ok(cx, tn_schema_build(cx, s->elements, n, &s->arena, &s->schema));
    s->leaf = &s->schema.leaves[0];
}

static inline void joins_schema_close(joins_schema *s)
{
    tn_arena_clear(&s->arena);
}

/* ---- a chunk ---- */

enum joins_dictionary {
    JOINS_PLAIN,  /* none */
    JOINS_SEEN,   /* values in order of first sight */
    JOINS_EACH,   /* a value of its own for every value of the rows, in order */
    JOINS_TURNED, /* the same, in the reverse order */
    JOINS_FIRST   /* JOINS_SEEN for the first page, PLAIN after it */
};

typedef struct joins_maker {
    enum joins_dictionary dictionary;
    int32_t encoding; /* of pages that are not by dictionary */
    int32_t codec;
    int64_t page_rows; /* 0: all */
    bool v2, crc, page_bounds, no_bounds, old_name;
} joins_maker;

typedef struct joins_file {
    tn_buf bytes;
    tn_parquet file;
} joins_file;

static inline void joins_file_close(joins_file *f)
{
    tn_parquet_close(&f->file);
    tn_buf_clear(&f->bytes);
}

/* The chunk as the only one of a file. */
static inline void joins_file_open(tarn_cx *cx, const tn_schema *schema, tn_encoded_chunk *chunk,
                                   int64_t rows, joins_file *out)
{
    tn_store *store;
    tn_sink *sink;
    tn_parquet_writer *w;

    memset(out, 0, sizeof *out);
    assert_ok(cx, tn_store_memory_open(cx, &store));
    assert_ok(cx, tn_store_create(cx, store, TN_STR("/f"), &sink));
    assert_ok(cx, tn_parquet_writer_open(cx, sink, schema, NULL, &w));
    assert_ok(cx, tn_parquet_writer_row_group(cx, w, chunk, rows, NULL, 0));
    assert_ok(cx, tn_parquet_writer_finish(cx, w));
    assert_ok(cx, tn_store_finish(cx, sink));
    tn_parquet_writer_close(w);
    tn_store_close_sink(sink);
    assert_ok(cx, tn_store_get(cx, store, TN_STR("/f"), 1 << 30, &out->bytes));
    tn_store_close(store);
    assert_ok(cx,
              tn_parquet_open_memory(cx, out->bytes.data, out->bytes.len, TN_STR("f"), &out->file));
}

/* The values from `at` on as a decoder would give them: views, or packed. */
static inline tn_values joins_values(const tn_leaf *leaf, const joins_column *c, int64_t at,
                                     int64_t n, tn_buf *views)
{
    const uint32_t *len = (const uint32_t *)(const void *)c->lengths.data;
    size_t from = 0;

    for (int64_t i = 0; i < at; i++)
        from += len[i];
    if (leaf->physical != TN_BYTE_ARRAY)
        return (tn_values){c->bytes.data != NULL ? c->bytes.data + from : NULL, n};
    tn_buf_reset(views);
    for (int64_t i = at; i < at + n; from += len[i++]) {
        tn_view view = {c->bytes.data != NULL ? c->bytes.data + from : (const uint8_t *)"", len[i]};

        tn_buf_add(views, &view, sizeof view);
    }
    return (tn_values){views->data, n};
}

typedef struct joins_state {
    tarn_cx *cx;
    const tn_leaf *leaf;
    const joins_column *column;
    const joins_maker *maker;
    tn_chunk_writer *writer;
    tn_dict dict;
    tn_buf indices, views, body, packed;
    tn_bounds bounds;
} joins_state;

static inline void joins_pack(joins_state *s, tn_page_header *h, size_t levels)
{
    tn_str plain = tn_str_from(tn_buf_view(&s->body), levels);
    bool packs = s->maker->codec != TN_CODEC_NONE && (h->type != TN_PAGE_DATA_V2 || plain.len > 0);

    tn_buf_reset(&s->packed);
    tn_buf_add(&s->packed, s->body.data, levels);
    h->compressed = packs;
    if (packs)
        assert_ok(s->cx,
                  tn_zip_pack(s->cx, tn_zip_of(s->cx), s->maker->codec, 0, plain, &s->packed));
    else
        tn_buf_str(&s->packed, plain);
    h->uncompressed_bytes = (int32_t)s->body.len;
    h->compressed_bytes = (int32_t)s->packed.len;
    h->has_crc = s->maker->crc;
    if (h->has_crc)
        h->crc = tn_write_checksum(tn_buf_view(&s->packed), (tn_str){0});
}

static inline void joins_put_dictionary(joins_state *s)
{
    tn_page_header h = {.type = TN_PAGE_DICTIONARY,
                        .nulls = -1,
                        .rows = -1,
                        .encoding = s->maker->old_name ? TN_ENC_PLAIN_DICTIONARY : TN_ENC_PLAIN};
    tn_values all = joins_values(s->leaf, s->column, 0, s->column->values, &s->views);
    enum joins_dictionary kind = s->maker->dictionary;
    size_t n = (size_t)all.count, done, width = tn_leaf_width(s->leaf);
    uint32_t *index = (uint32_t *)(void *)tn_buf_extend(&s->indices, n * 4 + 4);

    tn_buf_reset(&s->body);
    if (kind == JOINS_SEEN || kind == JOINS_FIRST) {
        s->dict.views = s->leaf->physical == TN_BYTE_ARRAY;
        s->dict.width = s->dict.views ? 0 : width;
        assert_ok(s->cx, tn_dict_add(s->cx, &s->dict, all.data, n, 1 << 30, index, &done));
        assert_int_equal(done, n);
        tn_buf_add(&s->body, s->dict.plain.data, s->dict.plain.len);
        h.values = (int32_t)s->dict.count;
    } else {
        for (size_t i = 0; i < n; i++) {
            size_t at = kind == JOINS_EACH ? i : n - 1 - i;
            tn_values one = {(const uint8_t *)all.data + at * width, 1};

            index[at] = (uint32_t)i;
            tn_encode_plain(&s->body, s->leaf, one);
        }
        h.values = (int32_t)n;
    }
    joins_pack(s, &h, 0);
    assert_ok(s->cx, tn_chunk_writer_add_page(
                         s->cx, s->writer,
                         &(tn_ready_page){.header = h, .body = tn_buf_view(&s->packed)}));
}

static inline int32_t joins_put_levels(joins_state *s, const uint16_t *levels, size_t n,
                                       uint16_t max)
{
    size_t at = s->body.len;
    uint32_t len;

    if (max == 0)
        return 0;
    if (!s->maker->v2)
        tn_buf_u32le(&s->body, 0);
    tn_encode_hybrid(&s->body, levels, 2, n, tn_encode_width(max));
    len = (uint32_t)(s->body.len - at - (s->maker->v2 ? 0 : 4));
    if (!s->maker->v2)
        memcpy(s->body.data + at, &len, 4);
    return (int32_t)len;
}

/* Where a page's entries, values and rows begin, and how many there are. */
typedef struct joins_span {
    int64_t entry, value, rows, entries, values;
} joins_span;

static inline void joins_put_bounds(joins_state *s, const joins_span *at, tn_ready_page *page)
{
    tn_values values = joins_values(s->leaf, s->column, at->value, at->values, &s->views);
    enum tn_bounds_order order = tn_bounds_order_of(s->leaf);
    tn_statistics *stats = &page->header.statistics;

    page->nulls = at->entries - at->values;
    page->null_page = at->values == 0;
    page->unencoded_bytes = -1;
    tn_bounds_of(s->leaf, order, values, &s->bounds);
    if (s->maker->no_bounds) {
        page->nulls = -1;
        return;
    }
    page->has_bounds = s->bounds.any;
    page->bounds_exact = true;
    page->min = tn_buf_view(&s->bounds.min);
    page->max = tn_buf_view(&s->bounds.max);
    if (!s->maker->page_bounds)
        return;
    page->header.has_statistics = true;
    stats->has_null_count = true;
    stats->null_count = page->nulls;
    stats->has_min_value = stats->has_max_value = page->has_bounds;
    stats->min_value = page->min;
    stats->max_value = page->max;
}

static inline void joins_put_page(joins_state *s, const joins_span *at, bool coded)
{
    const joins_maker *m = s->maker;
    tn_ready_page page = {.header = {.type = m->v2 ? TN_PAGE_DATA_V2 : TN_PAGE_DATA,
                                     .values = (int32_t)at->entries,
                                     .nulls = m->v2 ? (int32_t)(at->entries - at->values) : -1,
                                     .rows = m->v2 ? (int32_t)at->rows : -1,
                                     .def_encoding = TN_ENC_RLE,
                                     .rep_encoding = TN_ENC_RLE},
                          .rows = at->rows,
                          .entries = at->entries};
    tn_values values;
    size_t levels;

    page.header.encoding =
        coded ? m->old_name ? TN_ENC_PLAIN_DICTIONARY : TN_ENC_RLE_DICTIONARY : m->encoding;
    joins_put_bounds(s, at, &page);
    tn_buf_reset(&s->body);
    page.header.rep_bytes = joins_put_levels(s, joins_levels(&s->column->rep) + at->entry,
                                             (size_t)at->entries, s->leaf->max_rep);
    page.header.def_bytes = joins_put_levels(s, joins_levels(&s->column->def) + at->entry,
                                             (size_t)at->entries, s->leaf->max_def);
    levels = m->v2 ? s->body.len : 0;
    if (coded) {
        const uint32_t *index = (const uint32_t *)(const void *)s->indices.data + at->value;
        unsigned width = tn_encode_width(s->column->values > 1 ? (uint32_t)s->column->values : 1);

        tn_buf_u8(&s->body, (uint8_t)width);
        tn_encode_hybrid(&s->body, index, 4, (size_t)at->values, width);
    } else {
        values = joins_values(s->leaf, s->column, at->value, at->values, &s->views);
        assert_ok(s->cx, tn_choice_encode(s->cx, &s->body, s->leaf, m->encoding, values));
    }
    joins_pack(s, &page.header, levels);
    page.body = tn_buf_view(&s->packed);
    assert_ok(s->cx, tn_chunk_writer_add_page(s->cx, s->writer, &page));
}

static inline void joins_put_pages(joins_state *s)
{
    const uint16_t *rep = joins_levels(&s->column->rep), *def = joins_levels(&s->column->def);
    int64_t page_rows = s->maker->page_rows != 0 ? s->maker->page_rows : INT64_MAX;
    enum joins_dictionary kind = s->maker->dictionary;
    joins_span at = {0};
    bool first = true;

    for (int64_t i = 0; i <= s->column->entries; i++) {
        bool row = i == s->column->entries || rep[i] == 0;

        if (row && at.rows > 0 && (at.rows == page_rows || i == s->column->entries)) {
            joins_put_page(s, &at, kind == JOINS_FIRST ? first : kind != JOINS_PLAIN);
            at = (joins_span){.entry = i, .value = at.value + at.values};
            first = false;
        }
        if (i == s->column->entries)
            break;
        at.rows += row;
        at.entries++;
        at.values += def[i] == s->leaf->max_def;
    }
}

/* A file of these rows, as `maker` says. */
static inline void joins_make(tarn_cx *cx, const joins_schema *schema, const joins_column *column,
                              const joins_maker *maker, joins_file *out)
{
    joins_state s = {.cx = cx, .leaf = schema->leaf, .column = column, .maker = maker};
    tn_chunk_options options = {.codec = maker->codec};
    tn_encoded_chunk chunk = {0};

    assert_ok(cx, tn_chunk_writer_open(cx, schema->leaf, &options, &s.writer));
    if (maker->dictionary != JOINS_PLAIN)
        joins_put_dictionary(&s);
    joins_put_pages(&s);
    assert_ok(cx, tn_chunk_writer_finish(cx, s.writer, &chunk));
    tn_chunk_writer_close(s.writer);
    joins_file_open(cx, &schema->schema, &chunk, column->rows, out);
    tn_encoded_chunk_clear(&chunk);
    tn_dict_clear(&s.dict);
    tn_bounds_clear(&s.bounds);
    tn_buf_clear(&s.indices);
    tn_buf_clear(&s.views);
    tn_buf_clear(&s.body);
    tn_buf_clear(&s.packed);
}

/* One more chunk for the join. */
static inline int joins_add(tarn_cx *cx, tn_chunk_join *join, const joins_file *from,
                            const uint16_t *map)
{
    tn_source source = tn_source_memory(from->bytes.data, from->bytes.len, 0);
    tn_join_part part = {.file = &from->file, .source = &source, .def_map = map};

    return tn_chunk_join_add(cx, join, &part);
}

#endif
