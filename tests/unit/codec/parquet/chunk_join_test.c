/* Chunks joined: which way each goes, that the values are those of the inputs whatever these are
 * made of, that statistics and indexes are true, and that damaged inputs end in a status. */
#include "unit/codec/parquet/joins_check.h"

#include "base/budget.h"

/* ---- the ways ---- */

typedef struct way_case {
    const char *name;
    enum tn_physical physical;
    enum joins_taste taste;
    int parts;
    int64_t rows;             /* of each part */
    joins_maker maker, other; /* of the first part, and of the others when `mixed` */
    bool mixed, same_values;
    tn_chunk_options options;
    enum tn_join_way cheapest;
    uint64_t want[TN_JOIN_WAYS];
} way_case;

static void run_way(tarn_cx *cx, const way_case *w, enum joins_shape shape)
{
    joins_schema schema;
    joins_column want = {0};
    tn_chunk_join *join = NULL;
    tn_join_counts counts;
    uint64_t seed = 7;

    joins_schema_open(cx, &schema, shape, (tn_element){.physical = w->physical});
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &w->options, w->cheapest, &join));
    for (int i = 0; i < w->parts; i++) {
        joins_column rows = {0};
        joins_file file;

        seed = w->same_values ? 7 : seed;
        joins_add_rows(&rows, schema.leaf, w->rows, w->taste, shape == JOINS_REQUIRED ? 0 : 1,
                       &seed);
        joins_make(cx, &schema, &rows, w->mixed && i > 0 ? &w->other : &w->maker, &file);
        joins_append(&want, &rows);
        assert_ok(cx, joins_add(cx, join, &file, NULL));
        joins_file_close(&file);
        joins_column_clear(&rows);
    }
    joins_check_joined(cx, &schema, join, &want, &counts);
    for (int way = 0; way < TN_JOIN_WAYS; way++) {
        if (counts.chunks[way] != w->want[way])
            fail_msg("%s, shape %d: way %d taken %llu times, not %llu (%s)", w->name, (int)shape,
                     way, (unsigned long long)counts.chunks[way], (unsigned long long)w->want[way],
                     counts.why[way] != NULL ? counts.why[way] : "-");
        assert_true((counts.chunks[way] != 0) == (counts.bytes[way] != 0) || w->mixed);
        if (way != TN_JOIN_COPY && counts.chunks[way] != 0)
            assert_non_null(counts.why[way]);
    }
    joins_column_clear(&want);
    joins_schema_close(&schema);
}

static void test_chunk_join__each_way_is_taken_where_it_suits(void **state)
{
    static const way_case cases[] = {
        {.name = "plain pages",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 3,
         .rows = 5000,
         .want = {3}},
        {.name = "plain pages, another codec",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 3,
         .rows = 5000,
         .maker = {.codec = TN_CODEC_SNAPPY},
         .options = {.codec = TN_CODEC_ZSTD},
         .want = {0, 0, 0, 3}},
        {.name = "delta pages of both versions",
         .physical = TN_BYTE_ARRAY,
         .taste = MANY,
         .parts = 4,
         .rows = 5000,
         .maker = {.encoding = TN_ENC_DELTA_BYTE_ARRAY, .codec = TN_CODEC_ZSTD},
         .other = {.encoding = TN_ENC_DELTA_LENGTH_BYTE_ARRAY, .codec = TN_CODEC_ZSTD, .v2 = true},
         .mixed = true,
         .options = {.codec = TN_CODEC_ZSTD},
         .want = {4}},
        {.name = "equal dictionaries",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .parts = 5,
         .rows = 5000,
         .same_values = true,
         .maker = {.dictionary = JOINS_SEEN, .page_rows = 5000},
         .want = {5}},
        {.name = "dictionaries in another order",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .parts = 5,
         .rows = 5000,
         .maker = {.dictionary = JOINS_SEEN, .codec = TN_CODEC_SNAPPY, .page_rows = 5000},
         .options = {.codec = TN_CODEC_SNAPPY},
         .want = {1, 0, 4}},
        {.name = "dictionaries of old writers",
         .physical = TN_INT32,
         .taste = FEW,
         .parts = 2,
         .rows = 5000,
         .maker = {.dictionary = JOINS_SEEN, .old_name = true},
         .want = {1, 0, 1}},
        {.name = "an old name in a new page",
         .physical = TN_INT32,
         .taste = FEW,
         .parts = 2,
         .rows = 5000,
         .maker = {.dictionary = JOINS_SEEN, .old_name = true, .v2 = true},
         .want = {0, 0, 0, 0, 2}},
        {.name = "values that stand for themselves",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 3,
         .rows = 6000,
         .maker = {.dictionary = JOINS_EACH, .codec = TN_CODEC_ZSTD},
         .options = {.codec = TN_CODEC_ZSTD, .crc = true},
         .want = {0, 3}},
        {.name = "the same in many pages",
         .physical = TN_BYTE_ARRAY,
         .taste = MANY,
         .parts = 3,
         .rows = 6000,
         .maker = {.dictionary = JOINS_EACH, .page_rows = 100, .v2 = true},
         .want = {0, 3}},
        {.name = "values in the reverse order",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 2,
         .rows = 6000,
         .maker = {.dictionary = JOINS_TURNED},
         .want = {0, 0, 0, 0, 2}},
        {.name = "sequences not allowed",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 2,
         .rows = 6000,
         .maker = {.dictionary = JOINS_EACH},
         .cheapest = TN_JOIN_REMAP,
         .want = {0, 0, 0, 0, 2}},
        {.name = "copies not allowed",
         .physical = TN_INT32,
         .taste = FEW,
         .parts = 2,
         .rows = 6000,
         .same_values = true,
         .maker = {.dictionary = JOINS_SEEN},
         .cheapest = TN_JOIN_REMAP,
         .want = {0, 0, 2}},
        {.name = "nothing but encoding allowed",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 3,
         .rows = 6000,
         .cheapest = TN_JOIN_ENCODE,
         .want = {0, 0, 0, 0, 3}},
        {.name = "tiny plain pages",
         .physical = TN_BYTE_ARRAY,
         .taste = MANY,
         .parts = 40,
         .rows = 200,
         .maker = {.codec = TN_CODEC_SNAPPY},
         .options = {.codec = TN_CODEC_SNAPPY},
         .want = {0, 0, 0, 40}},
        {.name = "tiny delta pages",
         .physical = TN_INT32,
         .taste = RISING,
         .parts = 10,
         .rows = 200,
         .maker = {.encoding = TN_ENC_DELTA_BINARY_PACKED},
         .want = {0, 0, 0, 0, 10}},
        {.name = "tiny booleans",
         .physical = TN_BOOLEAN,
         .taste = FEW,
         .parts = 10,
         .rows = 200,
         .want = {0, 0, 0, 0, 10}},
        {.name = "tiny pages by dictionary",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .parts = 40,
         .rows = 200,
         .maker = {.dictionary = JOINS_SEEN, .codec = TN_CODEC_ZSTD},
         .options = {.codec = TN_CODEC_ZSTD},
         .want = {0, 0, 40}},
        {.name = "unique values that come again in small parts",
         .physical = TN_INT64,
         .taste = MANY,
         .parts = 60,
         .rows = 600,
         .same_values = true,
         .maker = {.dictionary = JOINS_EACH},
         .want = {0, 0, 60}},
        {.name = "a dictionary that is full",
         .physical = TN_BYTE_ARRAY,
         .taste = MANY,
         .parts = 3,
         .rows = 5000,
         .maker = {.dictionary = JOINS_SEEN},
         .options = {.dictionary_bytes_max = 1000},
         .cheapest = TN_JOIN_REMAP,
         .want = {0, 0, 0, 0, 3}},
        {.name = "dictionaries not wanted",
         .physical = TN_BYTE_ARRAY,
         .taste = FEW,
         .parts = 3,
         .rows = 5000,
         .maker = {.dictionary = JOINS_SEEN},
         .options = {.no_dictionary = true},
         .want = {0, 0, 0, 0, 3}},
        {.name = "a dictionary, then plain pages",
         .physical = TN_INT64,
         .taste = FEW,
         .parts = 3,
         .rows = 15000,
         .same_values = true,
         .maker = {.dictionary = JOINS_FIRST, .page_rows = 5000},
         .want = {1, 0, 0, 0, 2}}, /* no page by dictionary after a plain one */
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int shape = JOINS_REQUIRED; shape < JOINS_SHAPES; shape++) {
            /* Lists have more values than rows, and are then not tiny. */
            if (shape >= JOINS_LIST && cases[i].rows < 1000)
                continue;
            run_way(cx, &cases[i], (enum joins_shape)shape);
        }
    tarn_cx_close(cx);
}

/* ---- anything with anything ---- */

static const tn_element kinds[] = {
    {.physical = TN_BOOLEAN},
    {.physical = TN_INT32},
    {.physical = TN_INT32, .logical = TN_LOGICAL_INTEGER, .bit_width = 32},
    {.physical = TN_INT64},
    {.physical = TN_INT96},
    {.physical = TN_FLOAT},
    {.physical = TN_DOUBLE},
    {.physical = TN_BYTE_ARRAY},
    {.physical = TN_BYTE_ARRAY, .logical = TN_LOGICAL_STRING},
    {.physical = TN_BYTE_ARRAY, .logical = TN_LOGICAL_DECIMAL, .precision = 9, .scale = 2},
    {.physical = TN_FIXED, .type_length = 5},
    {.physical = TN_FIXED, .type_length = 2, .logical = TN_LOGICAL_FLOAT16},
};

static int32_t random_encoding(enum tn_physical p, uint64_t *seed)
{
    uint64_t pick = joins_below(seed, 3);

    if (pick == 0)
        return TN_ENC_PLAIN;
    switch (p) {
    case TN_BOOLEAN:
        return TN_ENC_RLE;
    case TN_INT32:
    case TN_INT64:
        return pick == 1 ? TN_ENC_DELTA_BINARY_PACKED : TN_ENC_BYTE_STREAM_SPLIT;
    case TN_FLOAT:
    case TN_DOUBLE:
    case TN_FIXED:
        return TN_ENC_BYTE_STREAM_SPLIT;
    case TN_BYTE_ARRAY:
        return pick == 1 ? TN_ENC_DELTA_BYTE_ARRAY : TN_ENC_DELTA_LENGTH_BYTE_ARRAY;
    default:
        return TN_ENC_PLAIN;
    }
}

static int32_t random_codec(uint64_t *seed)
{
    static const int32_t codecs[] = {TN_CODEC_SNAPPY, TN_CODEC_SNAPPY, TN_CODEC_SNAPPY,
                                     TN_CODEC_ZSTD,   TN_CODEC_NONE,   TN_CODEC_LZ4_RAW};

    return codecs[joins_below(seed, 6)];
}

static joins_maker random_maker(enum tn_physical p, uint64_t *seed)
{
    static const int64_t pages[] = {0, 0, 0, 0, 70, 1500};
    joins_maker m = {.dictionary = (enum joins_dictionary)joins_below(seed, 5),
                     .encoding = random_encoding(p, seed),
                     .codec = random_codec(seed),
                     .page_rows = pages[joins_below(seed, 6)],
                     .v2 = joins_below(seed, 2),
                     .crc = joins_below(seed, 2),
                     .page_bounds = joins_below(seed, 2),
                     .no_bounds = joins_below(seed, 5) == 0,
                     .old_name = joins_below(seed, 8) == 0};

    if (p == TN_BOOLEAN)
        m.dictionary = JOINS_PLAIN;
    return m;
}

static tn_chunk_options random_options(uint64_t *seed)
{
    return (tn_chunk_options){.codec = TN_CODEC_SNAPPY,
                              .page_v2 = joins_below(seed, 2),
                              .crc = joins_below(seed, 2),
                              .bloom = joins_below(seed, 4) == 0,
                              .no_dictionary = joins_below(seed, 8) == 0,
                              .plain_bytes = joins_below(seed, 8) == 0,
                              .dictionary_bytes_max = joins_below(seed, 3) == 0 ? 400 : 0,
                              .page_rows = joins_below(seed, 3) == 0 ? 60 : 0,
                              .bound_bytes_max = joins_below(seed, 3) == 0 ? 3 : 0};
}

/* A part as a chunk, or as a batch of rows. */
static void add_part(tarn_cx *cx, tn_chunk_join *join, const joins_schema *from,
                     const joins_column *rows, const uint16_t *map, uint64_t *seed)
{
    joins_maker maker = random_maker(from->leaf->physical, seed);
    tn_buf views = {0};
    joins_file file;
    tn_leaf_batch batch = {.rows = rows->rows,
                           .entries = rows->entries,
                           .def = joins_levels(&rows->def),
                           .rep = from->leaf->max_rep > 0 ? joins_levels(&rows->rep) : NULL};

    if (map == NULL && rows->rows > 0 && joins_below(seed, 6) == 0) {
        batch.values = joins_values(from->leaf, rows, 0, rows->values, &views);
        batch.all_present = rows->values == rows->entries;
        assert_ok(cx, tn_chunk_join_add_batch(cx, join, &batch, "a test"));
        tn_buf_clear(&views);
        return;
    }
    if (rows->rows == 0)
        return;
    joins_make(cx, from, rows, &maker, &file);
    assert_ok(cx, joins_add(cx, join, &file, map));
    joins_file_close(&file);
}

/* `from` is what the parts are of, `to` the output's; `map` leads from the one's levels to the
 * other's. */
static void run_random(tarn_cx *cx, const joins_schema *from, const joins_schema *to,
                       const uint16_t *map, uint64_t seed, tn_join_counts *total)
{
    static const int64_t sizes[] = {0, 5, 300, 1200, 2500, 4500, 4500};
    tn_chunk_options options = random_options(&seed);
    enum tn_join_way cheapest =
        joins_below(&seed, 8) == 0 ? (enum tn_join_way)joins_below(&seed, 5) : 0;
    joins_column want = {0};
    tn_chunk_join *join = NULL;
    tn_join_counts counts;
    int parts = (int)joins_below(&seed, 6);

    assert_ok(cx, tn_chunk_join_open(cx, to->leaf, &options, cheapest, &join));
    for (int i = 0; i < parts; i++) {
        joins_column rows = {0};

        joins_add_rows(&rows, from->leaf, sizes[joins_below(&seed, 7)],
                       (enum joins_taste)joins_below(&seed, 3), (unsigned)joins_below(&seed, 4) * 3 % 9,
                       &seed);
        add_part(cx, join, from, &rows, map, &seed);
        for (int64_t k = 0; map != NULL && k < rows.entries; k++) {
            uint16_t *def = (uint16_t *)(void *)rows.def.data + k;

            *def = map[*def];
        }
        joins_append(&want, &rows);
        joins_column_clear(&rows);
    }
    joins_check_joined(cx, to, join, &want, &counts);
    for (int way = 0; way < TN_JOIN_WAYS; way++) {
        total->chunks[way] += counts.chunks[way];
        assert_true(way >= (int)cheapest || counts.chunks[way] == 0 || counts.bytes[way] == 0);
    }
    joins_column_clear(&want);
}

static void test_chunk_join__random_chunks_give_their_rows(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_join_counts total = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 210; seed++) {
        joins_schema schema;

        joins_schema_open(cx, &schema, (enum joins_shape)(seed / 12 % JOINS_SHAPES),
                          kinds[seed % 12]);
        run_random(cx, &schema, &schema, NULL, seed * 977 + 5, &total);
        joins_schema_close(&schema);
    }
    for (int way = 0; way < TN_JOIN_WAYS; way++)
        if (total.chunks[way] < 10)
            fail_msg("way %d was taken %llu times only", way,
                     (unsigned long long)total.chunks[way]);
    tarn_cx_close(cx);
}

static void test_chunk_join__levels_of_another_schema_are_mapped(void **state)
{
    static const struct {
        enum joins_shape from, to;
        uint16_t map[3];
    } cases[] = {
        {JOINS_REQUIRED, JOINS_OPTIONAL, {1}},
        {JOINS_REQUIRED, JOINS_MEMBER, {2}},
        {JOINS_OWN, JOINS_MEMBER, {1, 2}}, /* the struct is there, the member may not be */
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_join_counts total = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        joins_schema from, to;
        size_t i = seed % 3;

        joins_schema_open(cx, &from, cases[i].from, kinds[seed % 12]);
        joins_schema_open(cx, &to, cases[i].to, kinds[seed % 12]);
        run_random(cx, &from, &to, cases[i].map, seed * 31 + 1, &total);
        joins_schema_close(&from);
        joins_schema_close(&to);
    }
    assert_true(total.chunks[TN_JOIN_COPY] >= 5);
    assert_true(total.chunks[TN_JOIN_SEQUENCE] >= 5);
    tarn_cx_close(cx);
}

/* ---- refusals, damage, limits ---- */

static void make_part(tarn_cx *cx, const joins_schema *schema, int64_t rows,
                      const joins_maker *maker, joins_file *out)
{
    joins_column column = {0};
    uint64_t seed = 3;

    joins_add_rows(&column, schema->leaf, rows, MANY, 0, &seed);
    joins_make(cx, schema, &column, maker, out);
    joins_column_clear(&column);
}

static void test_chunk_join__another_type_is_refused(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    joins_schema from, to;
    tn_chunk_join *join;
    joins_file file;

    (void)state;
    joins_schema_open(cx, &from, JOINS_OPTIONAL, (tn_element){.physical = TN_INT32});
    joins_schema_open(cx, &to, JOINS_OPTIONAL, (tn_element){.physical = TN_INT64});
    make_part(cx, &from, 10, &(joins_maker){0}, &file);
    assert_ok(cx, tn_chunk_join_open(cx, to.leaf, &(tn_chunk_options){0}, TN_JOIN_COPY, &join));
    assert_fails(cx, TARN_E_INVALID, "another type", joins_add(cx, join, &file, NULL));
    tn_chunk_join_close(join);
    joins_schema_close(&to);
    joins_schema_open(cx, &to, JOINS_MEMBER, (tn_element){.physical = TN_INT32});
    assert_ok(cx, tn_chunk_join_open(cx, to.leaf, &(tn_chunk_options){0}, TN_JOIN_COPY, &join));
    assert_fails(cx, TARN_E_INVALID, "levels", joins_add(cx, join, &file, NULL));
    assert_fails(cx, TARN_E_INVALID, "levels", joins_add(cx, join, &file, (uint16_t[]){0, 1}));
    assert_fails(cx, TARN_E_INVALID, "levels", joins_add(cx, join, &file, (uint16_t[]){2, 2}));
    assert_fails(cx, TARN_E_INVALID, "levels", joins_add(cx, join, &file, (uint16_t[]){3, 2}));
    assert_ok(cx, joins_add(cx, join, &file, (uint16_t[]){0, 2}));
    tn_chunk_join_close(join);
    joins_file_close(&file);
    joins_schema_close(&from);
    joins_schema_close(&to);
    tarn_cx_close(cx);
}

static void test_chunk_join__damage_is_told_with_its_place(void **state)
{
    static const joins_maker makers[] = {
        {.crc = true},
        {.crc = true, .v2 = true, .codec = TN_CODEC_SNAPPY},
        {.crc = true, .dictionary = JOINS_SEEN},
        {.crc = true, .dictionary = JOINS_EACH, .codec = TN_CODEC_ZSTD},
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        tn_chunk_options options = {.codec = makers[i].codec};
        joins_schema schema;
        tn_chunk_join *join;
        joins_file file;

        joins_schema_open(cx, &schema, JOINS_OPTIONAL, (tn_element){.physical = TN_INT64});
        make_part(cx, &schema, 5000, &makers[i], &file);
        file.bytes.data[2000] ^= 4;
        assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &options, TN_JOIN_COPY, &join));
        assert_fails(cx, TARN_E_CORRUPT,
                     "f: column element: row group 0: page 0 at byte 4: the checksum",
                     joins_add(cx, join, &file, NULL));
        tn_chunk_join_close(join);
        joins_file_close(&file);
        joins_schema_close(&schema);
    }
    tarn_cx_close(cx);
}

static void test_chunk_join__what_is_held_counts_against_the_budget(void **state)
{
    tarn_cx *maker = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 1 << 20});
    joins_schema schema;
    tn_chunk_join *join;
    joins_file file;
    int rc = TARN_OK;

    (void)state;
    joins_schema_open(maker, &schema, JOINS_OPTIONAL, (tn_element){.physical = TN_INT64});
    make_part(maker, &schema, 40000, &(joins_maker){.page_rows = 10000}, &file);
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &(tn_chunk_options){0}, TN_JOIN_COPY, &join));
    for (int i = 0; i < 10 && rc == TARN_OK; i++)
        rc = joins_add(cx, join, &file, NULL);
    assert_int_equal(rc, TARN_E_LIMIT);
    assert_true(test_text_has(tarn_cx_error(cx), "--memory"));
    tn_chunk_join_close(join);
    assert_true(tn_budget_try(cx, 1 << 20)); /* all of it was given back */
    tn_budget_give(cx, 1 << 20);
    joins_file_close(&file);
    joins_schema_close(&schema);
    tarn_cx_close(cx);
    tarn_cx_close(maker);
}

static void test_chunk_join__batches_in_a_row_count_as_one_chunk(void **state)
{
    static const int64_t values[] = {1, 2, 3};
    const tn_leaf_batch batch = {
        .rows = 3, .entries = 3, .all_present = true, .values = {values, 3}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_join_counts counts = {.chunks = {[TN_JOIN_ENCODE] = 5}};
    tn_encoded_chunk chunk = {0};
    joins_schema schema;
    tn_chunk_join *join;
    joins_file file;

    (void)state;
    joins_schema_open(cx, &schema, JOINS_OPTIONAL, (tn_element){.physical = TN_INT64});
    make_part(cx, &schema, 2000, &(joins_maker){0}, &file);
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &(tn_chunk_options){0}, TN_JOIN_COPY, &join));
    assert_ok(cx, tn_chunk_join_add_batch(cx, join, &batch, "first"));
    assert_ok(cx, tn_chunk_join_add_batch(cx, join, &batch, "second"));
    assert_ok(cx, joins_add(cx, join, &file, NULL));
    assert_ok(cx, tn_chunk_join_add_batch(cx, join, &batch, "third"));
    assert_ok(cx, tn_chunk_join_finish(cx, join, &chunk, &counts));
    assert_int_equal(counts.chunks[TN_JOIN_ENCODE], 5 + 2);
    assert_int_equal(counts.chunks[TN_JOIN_COPY], 1);
    assert_string_equal(counts.why[TN_JOIN_ENCODE], "first");
    assert_int_equal(chunk.rows, 2009);
    tn_encoded_chunk_clear(&chunk);
    tn_chunk_join_close(join);
    joins_file_close(&file);
    joins_schema_close(&schema);
    tarn_cx_close(cx);
}

/* ---- statistics ---- */

/* parquet-mr says nothing in page headers: its pages' nulls and bounds are in the column index. */
static void test_chunk_join__the_column_index_of_a_part_is_used(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_encoded_chunk chunk = {0};
    tn_join_counts counts = {0};
    joins_column column = {0};
    joins_schema schema;
    tn_chunk_join *join;
    joins_file file;

    (void)state;
    joins_schema_open(cx, &schema, JOINS_OPTIONAL, (tn_element){.physical = TN_INT32});
    for (int32_t i = 0; i < 6000; i++) {
        bool null = i % 3 == 0 || i / 2000 == 1; /* the second page has nothing else */

        joins_level(&column, 0, null ? 0 : 1);
        if (!null)
            joins_value(&column, &i, 4);
    }
    joins_make(cx, &schema, &column, &(joins_maker){.page_rows = 2000}, &file);
    assert_ok(cx, tn_chunk_join_open(cx, schema.leaf, &(tn_chunk_options){.page_rows = 2000},
                                     TN_JOIN_COPY, &join));
    assert_ok(cx, joins_add(cx, join, &file, NULL));
    assert_ok(cx, tn_chunk_join_finish(cx, join, &chunk, &counts));
    assert_int_equal(counts.chunks[TN_JOIN_COPY], 1);
    assert_true(chunk.meta.statistics.has_null_count && chunk.has_column_index);
    assert_int_equal(chunk.meta.statistics.null_count, column.entries - column.values);
    assert_int_equal(chunk.column_index.null_counts[0], 667);
    assert_true(chunk.column_index.null_pages[1]);
    assert_memory_equal(chunk.column_index.max[0].ptr, "\xCF\x07\0\0", 4); /* 1999 */
    assert_int_equal(chunk.column_index.boundary_order, TN_ASCENDING);
    tn_encoded_chunk_clear(&chunk);
    tn_chunk_join_close(join);
    joins_file_close(&file);
    joins_column_clear(&column);
    joins_schema_close(&schema);
    tarn_cx_close(cx);
}

static void test_chunk_join__statistics_stay_where_all_parts_have_them(void **state)
{
    static const joins_maker makers[] = {
        {.codec = TN_CODEC_NONE},
        {.dictionary = JOINS_EACH},
        {.page_rows = 2000, .page_bounds = true},
        {.dictionary = JOINS_SEEN, .v2 = true},
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        joins_maker bare = {.no_bounds = i >= 4};
        tn_encoded_chunk chunk = {0};
        tn_join_counts counts = {0};
        const tn_statistics *s = &chunk.meta.statistics;
        joins_column column = {0};
        joins_schema schema;
        tn_chunk_join *join;
        joins_file file;

        joins_schema_open(cx, &schema, JOINS_REQUIRED, (tn_element){.physical = TN_INT64});
        for (int64_t k = 0; k < 4000; k++) {
            int64_t value = (k * 37 + 11) % 4000 - 50; /* each of 4,000 once */

            joins_level(&column, 0, 0);
            joins_value(&column, &value, 8);
        }
        assert_ok(cx,
                  tn_chunk_join_open(cx, schema.leaf, &(tn_chunk_options){0}, TN_JOIN_COPY, &join));
        joins_make(cx, &schema, &column, &makers[i % 4], &file);
        assert_ok(cx, joins_add(cx, join, &file, NULL));
        joins_file_close(&file);
        joins_make(cx, &schema, &column, &bare, &file);
        assert_ok(cx, joins_add(cx, join, &file, NULL));
        joins_file_close(&file);
        assert_ok(cx, tn_chunk_join_finish(cx, join, &chunk, &counts));
        assert_int_equal(counts.chunks[TN_JOIN_ENCODE], 0);
        assert_true(s->has_null_count && s->null_count == 0);
        assert_false(s->has_distinct_count);
        assert_int_equal(s->has_min_value, i < 4);
        assert_int_equal(chunk.has_column_index, i < 4);
        if (i < 4) {
            int64_t least, most;

            assert_true(s->has_max_value && s->min_value.len == 8 && s->max_value.len == 8);
            memcpy(&least, s->min_value.ptr, 8);
            memcpy(&most, s->max_value.ptr, 8);
            assert_int_equal(least, -50);
            assert_int_equal(most, 3949);
            assert_true(s->has_min_exact && s->min_exact && s->has_max_exact && s->max_exact);
        }
        tn_encoded_chunk_clear(&chunk);
        tn_chunk_join_close(join);
        joins_column_clear(&column);
        joins_schema_close(&schema);
    }
    tarn_cx_close(cx);
}
