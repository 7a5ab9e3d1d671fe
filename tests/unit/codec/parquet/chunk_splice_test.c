/* Chunks of which some rows change: the values are those of the rows as they should be then, pages
 * without a change are the same bytes, statistics and indexes are true. */
#include "unit/codec/parquet/joins_check.h"

/* ---- rows that come in ---- */

typedef struct incoming {
    const tn_leaf *leaf;
    const joins_column *rows;
    tn_buf views;
    int64_t asked; /* rows given so far */
} incoming;

static int give(tarn_cx *cx, void *arg, int64_t first, int64_t rows, tn_leaf_batch *out)
{
    incoming *in = arg;
    int64_t entry, value, entry_end, value_end;

    (void)cx;
    joins_find(in->leaf, in->rows, first, &entry, &value);
    joins_find(in->leaf, in->rows, first + rows, &entry_end, &value_end);
    *out = (tn_leaf_batch){.rows = rows,
                           .entries = entry_end - entry,
                           .def = joins_levels(&in->rows->def) + entry,
                           .all_present = entry_end - entry == value_end - value};
    if (in->leaf->max_rep > 0)
        out->rep = joins_levels(&in->rows->rep) + entry;
    out->values = joins_values(in->leaf, in->rows, value, value_end - value, &in->views);
    in->asked += rows;
    return TARN_OK;
}

/* Rows [first, first + rows) of a column, appended to another. */
static void append_rows(const tn_leaf *leaf, joins_column *to, const joins_column *from,
                        int64_t first, int64_t rows)
{
    const uint32_t *len = (const uint32_t *)(const void *)from->lengths.data;
    int64_t entry, value, entry_end, value_end;
    size_t at = 0;

    joins_find(leaf, from, first, &entry, &value);
    joins_find(leaf, from, first + rows, &entry_end, &value_end);
    for (int64_t i = entry; i < entry_end; i++)
        joins_level(to, joins_levels(&from->rep)[i], joins_levels(&from->def)[i]);
    for (int64_t i = 0; i < value; i++)
        at += len[i];
    for (int64_t i = value; i < value_end; at += len[i++])
        joins_value(to, from->bytes.data != NULL ? from->bytes.data + at : (const uint8_t *)"",
                    len[i]);
}

/* ---- a splice ---- */

typedef struct splice_case {
    const char *name;
    enum tn_physical physical;
    enum joins_taste taste, incoming;
    joins_maker maker;
    tn_chunk_options options;
    int64_t every; /* such a row changes, on average */
    bool copies;   /* some page is copied, wherever the changes are */
} splice_case;

/* Changes as a write may have them: alone and in runs, some of them deletes. */
static size_t choose(const splice_case *c, int64_t rows, uint64_t *seed, tn_splice_row *out,
                     int64_t *with)
{
    size_t n = 0;

    *with = 0;
    for (int64_t row = (int64_t)joins_below(seed, (uint64_t)c->every); row < rows;
         row +=
         1 + (joins_below(seed, 3) == 0 ? 0 : (int64_t)joins_below(seed, 2 * (uint64_t)c->every)))
        out[n++] = (tn_splice_row){row, joins_below(seed, 5) == 0 ? -1 : (*with)++};
    return n;
}

static void run_splice(tarn_cx *cx, const splice_case *c, enum joins_shape shape, uint64_t seed)
{
    enum { ROWS = 3000 };
    joins_column stored = {0}, rows = {0}, want = {0};
    unsigned nulls = shape == JOINS_REQUIRED ? 0 : 1;
    tn_splice_row *changes = calloc(ROWS, sizeof *changes);
    tn_splice splice = {.rows = changes, .give = give};
    incoming in = {.rows = &rows};
    int64_t with, at = 0;
    tn_arena arena = {0};
    tn_column_index columns;
    tn_offset_index offsets;
    tn_source source;
    tn_join_part part = {.source = &source};
    tn_chunk_join *join = NULL;
    tn_join_counts counts;
    joins_schema schema;
    joins_file file;
    bool has;

    joins_schema_open(cx, &schema, shape, (tn_element){.physical = c->physical});
    joins_add_rows(&stored, schema.leaf, ROWS, c->taste, nulls, &seed);
    joins_make(cx, &schema, &stored, &c->maker, &file);
    splice.count = choose(c, ROWS, &seed, changes, &with);
    joins_add_rows(&rows, schema.leaf, with, c->incoming, nulls, &seed);
    for (size_t i = 0; i < splice.count; i++) {
        append_rows(schema.leaf, &want, &stored, at, changes[i].row - at);
        if (changes[i].with >= 0)
            append_rows(schema.leaf, &want, &rows, changes[i].with, 1);
        at = changes[i].row + 1;
    }
    append_rows(schema.leaf, &want, &stored, at, ROWS - at);
    in.leaf = schema.leaf;
    splice.arg = &in;
    source = tn_source_memory(file.bytes.data, file.bytes.len, 0);
    part.file = &file.file;
    assert_ok(cx, tn_parquet_column_index(cx, &file.file, 0, 0, &arena, &has, &columns));
    part.column_index = has ? &columns : NULL;
    assert_ok(cx, tn_parquet_offset_index(cx, &file.file, 0, 0, &arena, &has, &offsets));
    part.offset_index = has && seed % 2 == 0 ? &offsets : NULL;
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &c->options, TN_JOIN_COPY, &join));
    assert_ok(cx, tn_chunk_join_splice(cx, join, &part, &splice));
    assert_int_equal(in.asked, with);
    joins_check_joined(cx, &schema, join, &want, &counts);
    if (c->copies && counts.bytes[TN_JOIN_COPY] + counts.bytes[TN_JOIN_REPACK] == 0)
        fail_msg("%s, shape %d: no page was copied: %s", c->name, (int)shape,
                 counts.why[TN_JOIN_ENCODE]);
    tn_arena_clear(&arena);
    joins_file_close(&file);
    joins_schema_close(&schema);
    joins_column_clear(&stored);
    joins_column_clear(&rows);
    joins_column_clear(&want);
    tn_buf_clear(&in.views);
    free(changes);
}

static void test_chunk_splice__rows_are_those_that_should_be_there(void **state)
{
    static const splice_case cases[] = {
        {.name = "plain pages",
         .physical = TN_INT64,
         .taste = MANY,
         .incoming = MANY,
         .maker = {.page_rows = 300},
         .options = {.page_rows = 300},
         .every = 600,
         .copies = true},
        {.name = "pages of version 2 with checksums, another codec",
         .physical = TN_DOUBLE,
         .taste = MANY,
         .incoming = FEW,
         .maker = {.page_rows = 300, .v2 = true, .crc = true, .codec = TN_CODEC_SNAPPY},
         .options = {.page_rows = 300, .codec = TN_CODEC_ZSTD},
         .every = 600,
         .copies = true},
        {.name = "delta pages",
         .physical = TN_BYTE_ARRAY,
         .taste = RISING,
         .incoming = MANY,
         .maker = {.encoding = TN_ENC_DELTA_BYTE_ARRAY, .page_rows = 250, .codec = TN_CODEC_ZSTD},
         .options = {.page_rows = 300, .codec = TN_CODEC_ZSTD, .crc = true},
         .every = 500,
         .copies = true},
        {.name = "pages without known bounds",
         .physical = TN_INT32,
         .taste = MANY,
         .incoming = MANY,
         .maker = {.page_rows = 300, .no_bounds = true},
         .options = {.page_rows = 300},
         .every = 600,
         .copies = true},
        {.name = "booleans",
         .physical = TN_BOOLEAN,
         .taste = MANY,
         .incoming = FEW,
         .maker = {.page_rows = 300},
         .options = {.page_rows = 300},
         .every = 700,
         .copies = true},
        {.name = "a dictionary that has all values",
         .physical = TN_INT64,
         .taste = FEW,
         .incoming = FEW,
         .maker = {.dictionary = JOINS_SEEN, .page_rows = 300, .codec = TN_CODEC_ZSTD},
         .options = {.page_rows = 300, .codec = TN_CODEC_ZSTD},
         .every = 600,
         .copies = true},
        {.name = "a dictionary that grows",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .incoming = MANY,
         .maker = {.dictionary = JOINS_SEEN, .page_rows = 300, .old_name = true},
         .options = {.page_rows = 300},
         .every = 600,
         .copies = true},
        {.name = "a dictionary that has no room",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .incoming = MANY,
         .maker = {.dictionary = JOINS_SEEN, .page_rows = 300},
         .options = {.page_rows = 300, .dictionary_bytes_max = 120},
         .every = 300},
        {.name = "a dictionary that is too large",
         .physical = TN_INT64,
         .taste = MANY,
         .incoming = MANY,
         .maker = {.dictionary = JOINS_SEEN, .page_rows = 300},
         .options = {.page_rows = 300, .dictionary_bytes_max = 1000},
         .every = 600},
        {.name = "a dictionary with a value twice",
         .physical = TN_INT64,
         .taste = FEW,
         .incoming = FEW,
         .maker = {.dictionary = JOINS_EACH, .page_rows = 300},
         .options = {.page_rows = 300},
         .every = 600},
        {.name = "a dictionary, and plain pages behind it",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .incoming = MANY,
         .maker = {.dictionary = JOINS_FIRST, .page_rows = 300, .page_bounds = true},
         .options = {.page_rows = 300},
         .every = 600,
         .copies = true},
        {.name = "pages that have become small",
         .physical = TN_INT64,
         .taste = MANY,
         .incoming = MANY,
         .maker = {.page_rows = 20},
         .options = {.page_rows = 300},
         .every = 600},
        {.name = "one page",
         .physical = TN_BYTE_ARRAY,
         .taste = MANY,
         .incoming = MANY,
         .options = {.page_rows = 300},
         .every = 600},
        {.name = "every row",
         .physical = TN_FLOAT,
         .taste = MANY,
         .incoming = MANY,
         .maker = {.page_rows = 300},
         .options = {.page_rows = 300},
         .every = 1},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int shape = 0; shape < JOINS_SHAPES; shape++)
            for (uint64_t seed = 1; seed <= 2; seed++)
                run_splice(cx, &cases[i], (enum joins_shape)shape, seed * 977 + i);
    tarn_cx_close(cx);
}

/* ---- pages ---- */

static tn_str page_of(const joins_file *file, size_t page)
{
    tn_arena arena = {0};
    tn_offset_index index;
    tn_str bytes;
    bool has;
    tarn_cx *cx = tarn_cx_open(NULL);

    assert_ok(cx, tn_parquet_offset_index(cx, &file->file, 0, 0, &arena, &has, &index));
    assert_true(has && page < index.pages);
    bytes = (tn_str){(const char *)file->bytes.data + index.locations[page].offset,
                     (size_t)index.locations[page].bytes};
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return bytes;
}

/* One row changes: the pages beside its own are the same bytes, and the index knows of each what it
 * knew. */
static void test_chunk_splice__pages_without_a_change_are_the_same_bytes(void **state)
{
    enum { PAGES = 8, ROWS = 500 };
    const joins_maker maker = {.page_rows = ROWS, .codec = TN_CODEC_ZSTD};
    const tn_chunk_options options = {.page_rows = ROWS, .codec = TN_CODEC_ZSTD};
    tarn_cx *cx = tarn_cx_open(NULL);
    joins_column stored = {0}, rows = {0};
    tn_splice_row change = {.row = 3 * ROWS + 7};
    tn_splice splice = {.rows = &change, .count = 1, .give = give};
    incoming in = {.rows = &rows};
    tn_encoded_chunk chunk = {0};
    tn_column_index before, after;
    tn_join_counts counts = {0};
    tn_arena arena = {0};
    tn_chunk_join *join;
    tn_source source;
    tn_join_part part = {.source = &source, .column_index = &before};
    joins_file file, made;
    joins_schema schema;
    uint64_t seed = 5;
    bool has;

    (void)state;
    joins_schema_open(cx, &schema, JOINS_OPTIONAL, (tn_element){.physical = TN_INT64});
    joins_add_rows(&stored, schema.leaf, PAGES * ROWS, RISING, 1, &seed);
    joins_add_rows(&rows, schema.leaf, 1, MANY, 0, &seed);
    joins_make(cx, &schema, &stored, &maker, &file);
    in.leaf = schema.leaf;
    splice.arg = &in;
    source = tn_source_memory(file.bytes.data, file.bytes.len, 0);
    part.file = &file.file;
    assert_ok(cx, tn_parquet_column_index(cx, &file.file, 0, 0, &arena, &has, &before));
    assert_true(has);
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &options, TN_JOIN_COPY, &join));
    assert_ok(cx, tn_chunk_join_splice(cx, join, &part, &splice));
    assert_ok(cx, tn_chunk_join_finish(cx, join, &chunk, &counts));
    tn_chunk_join_close(join);
    joins_file_open(cx, &schema.schema, &chunk, PAGES * ROWS, &made);
    assert_ok(cx, tn_parquet_column_index(cx, &made.file, 0, 0, &arena, &has, &after));
    assert_true(has);
    assert_int_equal(after.pages, PAGES);
    for (size_t i = 0; i < PAGES; i++) {
        if (i == 3)
            continue;
        assert_true(tn_str_equal(page_of(&file, i), page_of(&made, i)));
        assert_true(tn_str_equal(before.min[i], after.min[i]));
        assert_true(tn_str_equal(before.max[i], after.max[i]));
        assert_int_equal(before.null_counts[i], after.null_counts[i]);
    }
    assert_true(counts.bytes[TN_JOIN_ENCODE] * 4 < counts.bytes[TN_JOIN_COPY]);
    tn_encoded_chunk_clear(&chunk);
    joins_file_close(&file);
    joins_file_close(&made);
    joins_column_clear(&stored);
    joins_column_clear(&rows);
    joins_schema_close(&schema);
    tn_buf_clear(&in.views);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_chunk_splice__refuses_rows_that_are_not_there(void **state)
{
    const joins_maker maker = {.page_rows = 50};
    const tn_chunk_options options = {.page_rows = 50};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_splice_row change = {.row = 100, .with = -1};
    tn_splice splice = {.rows = &change, .count = 1, .give = give};
    joins_column stored = {0};
    tn_chunk_join *join;
    tn_source source;
    tn_join_part part = {.source = &source};
    joins_schema schema;
    joins_file file;
    uint64_t seed = 5;

    (void)state;
    joins_schema_open(cx, &schema, JOINS_OPTIONAL, (tn_element){.physical = TN_INT64});
    joins_add_rows(&stored, schema.leaf, 100, MANY, 1, &seed);
    joins_make(cx, &schema, &stored, &maker, &file);
    source = tn_source_memory(file.bytes.data, file.bytes.len, 0);
    part.file = &file.file;
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &options, TN_JOIN_COPY, &join));
    assert_fails(cx, TARN_E_INVALID, "row 100", tn_chunk_join_splice(cx, join, &part, &splice));
    tn_chunk_join_close(join);
    joins_file_close(&file);
    joins_column_clear(&stored);
    joins_schema_close(&schema);
    tarn_cx_close(cx);
}
