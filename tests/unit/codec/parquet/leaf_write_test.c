/* Chunks and files as written: bounds by type, encodings chosen, ready pages beside rows, and
 * values that tarn's own reader gives back. */
#include "unit/test.h"

#include <math.h>

#include "base/budget.h"
#include "codec/parquet/bounds.h"
#include "codec/parquet/file_write.h"
#include "codec/parquet/leaf_read.h"
#include "codec/parquet/leaf_write_state.h"
#include "io/store_memory.h"

/* One flat column. */
typedef struct one {
    tarn_cx *cx;
    tn_arena arena;
    tn_element elements[2];
    tn_schema schema;
    const tn_leaf *leaf;
} one;

static void one_open(one *o, enum tn_physical physical, uint32_t length, int32_t logical,
                     bool optional)
{
    memset(o, 0, sizeof *o);
    o->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    o->elements[0] = (tn_element){
        .name = TN_STR("root"), .group = true, .children = 1, .converted = TN_CONVERTED_NONE};
    o->elements[1] = (tn_element){.name = TN_STR("c"),
                                  .physical = physical,
                                  .type_length = (int32_t)length,
                                  .logical = logical,
                                  .bit_width = 32,
                                  .precision = 9,
                                  .converted = TN_CONVERTED_NONE,
                                  .repetition = optional ? TN_OPTIONAL : TN_REQUIRED};
    assert_ok(o->cx, tn_schema_build(o->cx, o->elements, 2, &o->arena, &o->schema));
    o->leaf = &o->schema.leaves[0];
}

static void one_close(one *o)
{
    tn_arena_clear(&o->arena);
    tarn_cx_close(o->cx);
}

static void encode(one *o, const tn_chunk_options *options, const void *values, int64_t n,
                   tn_encoded_chunk *out)
{
    tn_chunk_writer *w;
    tn_leaf_batch batch = {.rows = n, .entries = n, .all_present = true, .values = {values, n}};

    assert_ok(o->cx, tn_chunk_writer_open(o->cx, o->leaf, options, &w));
    assert_ok(o->cx, tn_chunk_writer_add(o->cx, w, &batch));
    assert_ok(o->cx, tn_chunk_writer_finish(o->cx, w, out));
    tn_chunk_writer_close(w);
}

static tn_view view(const char *text)
{
    return (tn_view){(const uint8_t *)text, (uint32_t)strlen(text)};
}

static void test_leaf_write__long_bounds_are_shortened_safely(void **state)
{
    static const struct {
        const char *min, *max;
        bool text;
        const char *low, *high; /* high NULL: none */
        bool low_exact, high_exact;
    } cases[] = {
        {"a", "b", true, "a", "b", true, true},
        {"abcdefgh", "abcdefgh", true, "abcdefgh", "abcdefgh", true, true},
        {"abcdefghi", "abcdefghi", true, "abcdefgh", "abcdefgi", false, false},
        /* cut between characters: C3 A9 is one */
        {"abcdefg\xC3\xA9", "abcdefg\xC3\xA9", true, "abcdefg", "abcdefh", false, false},
        /* the last character has no next one */
        {"abcd\xF4\x8F\xBF\xBFz", "abcd\xF4\x8F\xBF\xBFz", true, "abcd\xF4\x8F\xBF\xBF", "abce",
         false, false},
        {"\xF4\x8F\xBF\xBF\xF4\x8F\xBF\xBFz", "\xF4\x8F\xBF\xBF\xF4\x8F\xBF\xBFz", true,
         "\xF4\x8F\xBF\xBF\xF4\x8F\xBF\xBF", NULL, false, false},
        /* surrogates are passed over: D7FF is followed by E000 */
        {"abcde\xED\x9F\xBFz", "abcde\xED\x9F\xBFz", true, "abcde\xED\x9F\xBF", "abcde\xEE\x80\x80",
         false, false},
        /* 7F grows to two bytes */
        {"abcdefg\x7Fz", "abcdefg\x7Fz", true, "abcdefg\x7F", "abcdefg\xC2\x80", false, false},
        {"abcdefgh\xFF", "abcdefg\xFF\xFF", false, "abcdefgh", "abcdefh", false, false},
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", false,
         "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", NULL, false, false},
        /* text that is no UTF-8 is taken for bytes */
        {"abcdefg\xC3", "abcdefg\xFF\xFF", true, "abcdefg\xC3", "abcdefh", true, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        one o;
        tn_view values[2] = {view(cases[i].min), view(cases[i].max)};
        tn_encoded_chunk chunk = {0};
        const tn_statistics *s = &chunk.meta.statistics;

        one_open(&o, TN_BYTE_ARRAY, 0, cases[i].text ? TN_LOGICAL_STRING : 0, false);
        encode(&o, &(tn_chunk_options){.bound_bytes_max = 8}, values, 2, &chunk);
        assert_true(s->has_min_value);
        assert_true(tn_str_is(s->min_value, cases[i].low));
        assert_int_equal(s->min_exact, cases[i].low_exact);
        assert_int_equal(s->has_max_value, cases[i].high != NULL);
        if (cases[i].high != NULL) {
            assert_true(tn_str_is(s->max_value, cases[i].high));
            assert_int_equal(s->max_exact, cases[i].high_exact);
        }
        /* Signed readers of the deprecated fields would take bytes above 7F for negative. */
        assert_false(s->has_min || s->has_max);
        /* The index needs both bounds; the whole maximum stands where no short one does. */
        assert_true(chunk.has_column_index);
        assert_true(tn_str_compare(chunk.column_index.max[0], tn_str_of(cases[i].max)) >= 0);
        tn_encoded_chunk_clear(&chunk);
        one_close(&o);
    }
}

static void test_leaf_write__bounds_follow_the_order_of_the_type(void **state)
{
    static const double reals[] = {NAN, 0.0, 3, NAN}, zero[] = {-0.0}, nothing[] = {NAN, NAN};
    static const uint32_t naturals[] = {5, 3000000000u, 7};
    static const uint8_t halves[] = {0x00, 0x3C, 0x00, 0xC0, 0x00, 0x7E};   /* 1, -2, NaN */
    static const uint8_t decimals[] = {0x00, 0x01, 0xFF, 0xFE, 0x01, 0x00}; /* 1, -2, 256 */
    const struct {
        enum tn_physical physical;
        uint32_t length;
        int32_t logical;
        const void *values;
        int64_t n;
        const char *min, *max; /* NULL: none */
        size_t len;
        bool old;
        int64_t nans; /* -1: not counted */
    } cases[] = {
        {TN_DOUBLE, 0, 0, reals, 4, "\0\0\0\0\0\0\0\x80", "\0\0\0\0\0\0\x08\x40", 8, true, 2},
        {TN_DOUBLE, 0, 0, zero, 1, "\0\0\0\0\0\0\0\x80", "\0\0\0\0\0\0\0\0", 8, true, 0},
        {TN_DOUBLE, 0, 0, nothing, 2, NULL, NULL, 0, false, 2},
        {TN_INT32, 0, TN_LOGICAL_INTEGER, naturals, 3, "\5\0\0\0", "\x00\x5E\xD0\xB2", 4, false,
         -1},
        {TN_INT32, 0, 0, naturals, 3, "\x00\x5E\xD0\xB2", "\7\0\0\0", 4, true, -1},
        {TN_FIXED, 2, TN_LOGICAL_FLOAT16, halves, 3, "\x00\xC0", "\x00\x3C", 2, false, 1},
        {TN_FIXED, 2, TN_LOGICAL_DECIMAL, decimals, 3, "\xFF\xFE", "\x01\x00", 2, false, -1},
        {TN_FIXED, 2, 0, decimals, 3, "\x00\x01", "\xFF\xFE", 2, false, -1},
        {TN_FIXED, 2, TN_LOGICAL_GEOMETRY, decimals, 3, NULL, NULL, 0, false, -1},
        {TN_INT96, 0, 0, decimals, 0, NULL, NULL, 0, false, -1},
    };

    (void)state;
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        one o;
        tn_encoded_chunk chunk = {0};
        const tn_statistics *s = &chunk.meta.statistics;
        size_t i = k / 2;

        one_open(&o, cases[i].physical, cases[i].length, cases[i].logical, false);
        encode(&o, &(tn_chunk_options){.no_dictionary = k % 2 == 1}, cases[i].values, cases[i].n,
               &chunk);
        assert_int_equal(s->has_nan_count ? s->nan_count : -1, cases[i].nans);
        if (chunk.has_column_index && cases[i].nans >= 0)
            assert_int_equal(chunk.column_index.nan_counts[0], cases[i].nans);
        else
            assert_null(chunk.column_index.nan_counts);
        assert_int_equal(s->has_min_value, cases[i].min != NULL);
        assert_int_equal(s->has_max_value, cases[i].max != NULL);
        assert_int_equal(s->has_min, cases[i].old);
        if (cases[i].min != NULL) {
            assert_true(tn_str_equal(s->min_value, (tn_str){cases[i].min, cases[i].len}));
            assert_true(tn_str_equal(s->max_value, (tn_str){cases[i].max, cases[i].len}));
            assert_true(chunk.has_column_index);
        } else if (cases[i].n > 0) {
            /* A page of NaN has no bounds, so there can be no column index. */
            assert_false(chunk.has_column_index);
        }
        tn_encoded_chunk_clear(&chunk);
        one_close(&o);
    }
}

static bool has_encoding(const tn_encoded_chunk *chunk, int32_t encoding)
{
    for (size_t i = 0; i < chunk->meta.encoding_count; i++)
        if (chunk->meta.encodings[i] == encoding)
            return true;
    return false;
}

static void test_leaf_write__the_encoding_follows_the_values(void **state)
{
    enum { N = 30000 };
    static int64_t values[N];
    uint64_t seed = 1;
    one o;
    tn_encoded_chunk chunk = {0};

    (void)state;
    one_open(&o, TN_INT64, 0, 0, false);
    for (size_t i = 0; i < N; i++)
        values[i] = (int64_t)(i / 3) * 1000;
    encode(&o, &(tn_chunk_options){.codec = TN_CODEC_ZSTD}, values, N, &chunk);
    assert_true(has_encoding(&chunk, TN_ENC_DELTA_BINARY_PACKED));
    assert_false(chunk.meta.has_dictionary_page_offset);
    assert_int_equal(chunk.column_index.boundary_order, TN_ASCENDING);
    assert_int_equal(chunk.offset_index.pages, 2);
    assert_int_equal(chunk.offset_index.locations[1].first_row, 20000);
    tn_encoded_chunk_clear(&chunk);
    for (size_t i = 0; i < N; i++)
        values[i] = (int64_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 60)
                    << 40;
    encode(&o, &(tn_chunk_options){.codec = TN_CODEC_ZSTD}, values, N, &chunk);
    assert_true(has_encoding(&chunk, TN_ENC_RLE_DICTIONARY));
    assert_int_equal(chunk.meta.encoding_stat_count, 2);
    assert_int_equal(chunk.meta.encoding_stats[0].page_type, TN_PAGE_DICTIONARY);
    assert_int_equal(chunk.meta.encoding_stats[1].count, 2);
    assert_true(chunk.meta.statistics.has_distinct_count);
    assert_int_equal(chunk.meta.statistics.distinct_count, 16);
    tn_encoded_chunk_clear(&chunk);
    for (size_t i = 0; i < N; i++)
        values[i] = (int64_t)(seed = seed * 6364136223846793005u + 1442695040888963407u);
    encode(&o, &(tn_chunk_options){.codec = TN_CODEC_ZSTD}, values, N, &chunk);
    assert_int_equal(chunk.meta.encoding_count, 1);
    assert_true(has_encoding(&chunk, TN_ENC_PLAIN));
    assert_false(chunk.meta.statistics.has_distinct_count);
    tn_encoded_chunk_clear(&chunk);
    one_close(&o);
}

/* Two batches by a writer that follows `choice` (NULL: none), and the choice of this one. */
static tn_chunk_choice encode_after(one *o, const tn_chunk_choice *choice, const int64_t *values,
                                    int64_t n, tn_encoded_chunk *out)
{
    tn_chunk_writer *w;
    tn_chunk_choice made;

    assert_ok(o->cx, tn_chunk_writer_open(o->cx, o->leaf,
                                          &(tn_chunk_options){.codec = TN_CODEC_ZSTD}, &w));
    if (choice != NULL)
        tn_chunk_writer_follow(w, choice);
    for (int64_t at = 0; at < n; at += n / 2) {
        tn_leaf_batch batch = {
            .rows = n / 2, .entries = n / 2, .all_present = true, .values = {values + at, n / 2}};

        assert_ok(o->cx, tn_chunk_writer_add(o->cx, w, &batch));
    }
    assert_ok(o->cx, tn_chunk_writer_finish(o->cx, w, out));
    made = tn_chunk_writer_choice(w);
    tn_chunk_writer_close(w);
    return made;
}

static void test_leaf_write__the_next_chunk_follows_the_choice(void **state)
{
    enum { N = 12000 };
    static int64_t values[N];
    uint64_t seed = 1;
    one o;
    tn_encoded_chunk chunk = {0};
    tn_chunk_choice choice, next;

    (void)state;
    one_open(&o, TN_INT64, 0, 0, false);
    for (size_t i = 0; i < N; i++)
        values[i] = (int64_t)(seed = seed * 6364136223846793005u + 1442695040888963407u);
    choice = encode_after(&o, NULL, values, N, &chunk);
    assert_true(choice.distinct && choice.encoding_chosen && choice.level_judged);
    assert_int_equal(choice.encoding, TN_ENC_PLAIN);
    tn_encoded_chunk_clear(&chunk);
    /* The first half has all values of the second: on its own the chunk has a dictionary. */
    for (size_t i = N / 2; i < N; i++)
        values[i] = values[i - N / 2];
    next = encode_after(&o, NULL, values, N, &chunk);
    assert_false(next.distinct);
    assert_true(has_encoding(&chunk, TN_ENC_RLE_DICTIONARY));
    tn_encoded_chunk_clear(&chunk);
    next = encode_after(&o, &choice, values, N, &chunk);
    assert_true(next.distinct);
    assert_int_equal(chunk.meta.encoding_count, 1);
    assert_true(has_encoding(&chunk, TN_ENC_PLAIN));
    assert_int_equal(chunk.rows, N);
    tn_encoded_chunk_clear(&chunk);
    /* Few values get their dictionary all the same. */
    for (size_t i = 0; i < N; i++)
        values[i] = values[i % 100];
    next = encode_after(&o, &choice, values, N, &chunk);
    assert_false(next.distinct);
    assert_true(has_encoding(&chunk, TN_ENC_RLE_DICTIONARY));
    tn_encoded_chunk_clear(&chunk);
    one_close(&o);
}

static int64_t packed_size(one *o, const void *values, int64_t n, int level)
{
    tn_encoded_chunk chunk = {0};
    int64_t bytes;

    encode(o,
           &(tn_chunk_options){.codec = TN_CODEC_ZSTD,
                               .level = level,
                               .force_encoding = true,
                               .encoding = TN_ENC_PLAIN},
           values, n, &chunk);
    bytes = chunk.meta.compressed_bytes;
    tn_encoded_chunk_clear(&chunk);
    return bytes;
}

/* Where nobody asked for one: the quick level where it packs as well as the usual one. */
static void test_leaf_write__the_level_follows_the_values(void **state)
{
    enum { N = 60000 };
    static int64_t values[N];
    uint64_t seed = 1;
    int64_t quick, usual, left;
    one o;

    (void)state;
    one_open(&o, TN_INT64, 0, 0, false);
    for (size_t i = 0; i < N; i++)
        values[i] =
            (int64_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % 50000;
    quick = packed_size(&o, values, N, 1);
    usual = packed_size(&o, values, N, 3);
    left = packed_size(&o, values, N, 0);
    assert_true(quick < usual);
    assert_int_equal(left, quick);
    /* Runs of old values with changes in between. */
    for (size_t i = 1000; i < N; i++)
        values[i] = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 61 == 0
                        ? (int64_t)i
                        : values[i - 1000 + (seed >> 33) % 3];
    quick = packed_size(&o, values, N, 1);
    usual = packed_size(&o, values, N, 3);
    left = packed_size(&o, values, N, 0);
    assert_true(usual < quick - quick / 16);
    assert_int_equal(left, usual);
    one_close(&o);
}

/* The chunk as the only one of a file, in memory. */
static void file_of(one *o, tn_encoded_chunk *chunk, int64_t rows, tn_buf *out)
{
    tn_store *store;
    tn_sink *sink;
    tn_parquet_writer *w;

    assert_ok(o->cx, tn_store_memory_open(o->cx, &store));
    assert_ok(o->cx, tn_store_create(o->cx, store, TN_STR("/f"), &sink));
    assert_ok(o->cx, tn_parquet_writer_open(o->cx, sink, &o->schema, NULL, &w));
    assert_ok(o->cx, tn_parquet_writer_row_group(o->cx, w, chunk, rows, NULL, 0));
    assert_ok(o->cx, tn_parquet_writer_finish(o->cx, w));
    assert_fails(o->cx, TARN_E_INVALID, "twice", tn_parquet_writer_finish(o->cx, w));
    assert_ok(o->cx, tn_store_finish(o->cx, sink));
    tn_parquet_writer_close(w);
    tn_store_close_sink(sink);
    assert_ok(o->cx, tn_store_get(o->cx, store, TN_STR("/f"), 1 << 30, out));
    tn_store_close(store);
}

static void assert_reads(one *o, const tn_buf *bytes, const int32_t *want, int64_t n)
{
    tn_parquet file;
    tn_source source;
    tn_leaf_reader *reader;
    tn_leaf_batch batch;
    int64_t at = 0;

    assert_ok(o->cx, tn_parquet_open_memory(o->cx, bytes->data, bytes->len, TN_STR("f"), &file));
    assert_int_equal(file.footer.rows, n);
    source = tn_source_memory(bytes->data, bytes->len, 0);
    assert_ok(o->cx, tn_leaf_reader_open(o->cx, &file, 0, 0, &source, &(tn_leaf_read_options){0},
                                         &reader));
    for (;;) {
        assert_ok(o->cx, tn_leaf_reader_next(o->cx, reader, 1000, &batch));
        if (batch.rows == 0)
            break;
        assert_memory_equal(batch.values.data, want + at, (size_t)batch.values.count * 4);
        at += batch.values.count;
    }
    assert_int_equal(at, n);
    tn_leaf_reader_close(reader);
    tn_parquet_close(&file);
}

static void test_leaf_write__a_full_dictionary_falls_back(void **state)
{
    enum { N = 6000 };
    static int32_t values[N];
    one o;
    tn_encoded_chunk chunk = {0};
    tn_buf bytes = {0};

    (void)state;
    for (int32_t i = 0; i < N; i++)
        values[i] = i < 2000 ? i * 7919 % 13 : i * 7919;
    one_open(&o, TN_INT32, 0, 0, false);
    encode(
        &o,
        &(tn_chunk_options){
            .dictionary_bytes_max = 400, .page_rows = 500, .codec = TN_CODEC_SNAPPY, .crc = true},
        values, N, &chunk);
    assert_true(has_encoding(&chunk, TN_ENC_RLE_DICTIONARY));
    assert_true(chunk.meta.encoding_count >= 2);
    assert_false(chunk.meta.statistics.has_distinct_count);
    assert_int_equal(chunk.offset_index.pages, 12);
    assert_int_equal(chunk.offset_index.locations[0].offset, chunk.meta.data_page_offset);
    file_of(&o, &chunk, N, &bytes);
    assert_reads(&o, &bytes, values, N);
    tn_buf_clear(&bytes);
    one_close(&o);
}

/* A page of plain int32, not compressed. */
static tn_ready_page plain_page(const int32_t *values, int64_t n)
{
    return (tn_ready_page){.header = {.type = TN_PAGE_DATA,
                                      .values = (int32_t)n,
                                      .nulls = -1,
                                      .rows = -1,
                                      .encoding = TN_ENC_PLAIN,
                                      .def_encoding = TN_ENC_RLE,
                                      .rep_encoding = TN_ENC_RLE,
                                      .uncompressed_bytes = (int32_t)n * 4,
                                      .compressed_bytes = (int32_t)n * 4},
                           .body = {(const char *)values, (size_t)n * 4},
                           .rows = n,
                           .entries = n,
                           .unencoded_bytes = -1};
}

static void test_leaf_write__ready_pages_and_rows_mix(void **state)
{
    enum { N = 300 };
    int32_t values[N];

    (void)state;
    for (int32_t i = 0; i < N; i++)
        values[i] = i % 10 - 3 + (i >= 200 ? 100 : 0);
    for (int bounds = 0; bounds < 3; bounds++) {
        one o;
        tn_chunk_writer *w;
        tn_encoded_chunk chunk = {0};
        tn_buf bytes = {0};
        int32_t low = -5, high = 9;
        tn_ready_page page = plain_page(values + 100, 100);
        tn_leaf_batch batch = {
            .rows = 100, .entries = 100, .all_present = true, .values = {values, 100}};

        page.has_bounds = bounds > 0;
        page.bounds_exact = bounds > 1;
        page.min = (tn_str){(const char *)&low, 4};
        page.max = (tn_str){(const char *)&high, 4};
        one_open(&o, TN_INT32, 0, 0, false);
        assert_ok(o.cx, tn_chunk_writer_open(o.cx, o.leaf,
                                             &(tn_chunk_options){.codec = TN_CODEC_NONE}, &w));
        assert_ok(o.cx, tn_chunk_writer_add(o.cx, w, &batch));
        assert_ok(o.cx, tn_chunk_writer_add_page(o.cx, w, &page));
        batch.values.data = values + 200;
        assert_ok(o.cx, tn_chunk_writer_add(o.cx, w, &batch));
        assert_ok(o.cx, tn_chunk_writer_finish(o.cx, w, &chunk));
        tn_chunk_writer_close(w);
        assert_int_equal(chunk.rows, N);
        assert_int_equal(chunk.has_column_index, bounds > 0);
        assert_int_equal(chunk.meta.statistics.has_min_value, bounds > 0);
        assert_int_equal(chunk.meta.statistics.has_min_exact, bounds > 1);
        if (bounds > 0)
            assert_memory_equal(chunk.meta.statistics.min_value.ptr, &low, 4);
        assert_true(chunk.meta.statistics.has_null_count);
        assert_false(chunk.meta.statistics.has_distinct_count);
        file_of(&o, &chunk, N, &bytes);
        assert_reads(&o, &bytes, values, N);
        tn_buf_clear(&bytes);
        one_close(&o);
    }
}

static void test_leaf_write__ready_pages_that_cannot_stand_are_refused(void **state)
{
    static const int32_t values[4] = {1, 2, 3, 4};
    one o;
    tn_chunk_writer *w;
    tn_ready_page page = plain_page(values, 4), dictionary = plain_page(values, 4);

    (void)state;
    one_open(&o, TN_INT32, 0, 0, false);
    assert_ok(o.cx,
              tn_chunk_writer_open(o.cx, o.leaf, &(tn_chunk_options){.codec = TN_CODEC_NONE}, &w));
    page.header.encoding = TN_ENC_RLE_DICTIONARY;
    assert_fails(o.cx, TARN_E_INVALID, "needs a dictionary page",
                 tn_chunk_writer_add_page(o.cx, w, &page));
    page.header.encoding = TN_ENC_PLAIN;
    page.header.compressed_bytes--;
    assert_fails(o.cx, TARN_E_INVALID, "another size", tn_chunk_writer_add_page(o.cx, w, &page));
    page.header.compressed_bytes++;
    page.entries++;
    assert_fails(o.cx, TARN_E_INVALID, "number of values",
                 tn_chunk_writer_add_page(o.cx, w, &page));
    page.entries--;
    assert_ok(o.cx, tn_chunk_writer_add_page(o.cx, w, &page));
    dictionary.header.type = TN_PAGE_DICTIONARY;
    assert_fails(o.cx, TARN_E_INVALID, "not the first",
                 tn_chunk_writer_add_page(o.cx, w, &dictionary));
    tn_chunk_writer_close(w);
    assert_fails(o.cx, TARN_E_INVALID, "does not suit",
                 tn_chunk_writer_open(o.cx, o.leaf,
                                      &(tn_chunk_options){.force_encoding = true,
                                                          .encoding = TN_ENC_DELTA_BYTE_ARRAY},
                                      &w));
    one_close(&o);
}

static void test_leaf_write__memory_is_reserved_and_given_back(void **state)
{
    enum { N = 200000 };
    int32_t *values = test_malloc(N * sizeof *values);
    uint32_t seed = 1;
    one o;
    tn_encoded_chunk chunk = {0};
    tn_chunk_writer *w;
    tn_leaf_batch batch = {.rows = N, .entries = N, .all_present = true, .values = {values, N}};
    uint64_t whole;

    (void)state;
    for (size_t i = 0; i < N; i++)
        values[i] = (int32_t)(seed = seed * 1664525 + 1013904223);
    one_open(&o, TN_INT32, 0, 0, false);
    whole = tn_budget_bytes(o.cx);
    encode(&o, &(tn_chunk_options){.codec = TN_CODEC_NONE, .bloom = true}, values, N, &chunk);
    assert_true(chunk.bloom.len > 0);
    assert_false(tn_budget_try(o.cx, whole - chunk.bytes + 1));
    tn_encoded_chunk_clear(&chunk);
    assert_true(tn_budget_try(o.cx, whole));
    /* Nothing is left: the writer says so. */
    assert_ok(o.cx, tn_chunk_writer_open(o.cx, o.leaf, &(tn_chunk_options){0}, &w));
    assert_fails(o.cx, TARN_E_LIMIT, "--memory", tn_chunk_writer_add(o.cx, w, &batch));
    tn_chunk_writer_close(w);
    tn_budget_give(o.cx, whole);
    one_close(&o);
    test_free(values);
}

/* Leaves `room` of the budget, adds one value of `bytes` and ends the page. */
static int write_large(one *o, tn_chunk_writer *w, size_t bytes, uint64_t room)
{
    uint64_t taken = tn_budget_bytes(o->cx) - room;
    char *text = malloc(bytes);
    tn_view value = {.ptr = (const uint8_t *)text, .len = (uint32_t)bytes};
    tn_leaf_batch batch = {.rows = 1, .entries = 1, .all_present = true, .values = {&value, 1}};
    int rc;

    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + i * i % 23);
    assert_true(tn_budget_try(o->cx, taken));
    rc = tn_chunk_writer_add(o->cx, w, &batch);
    tn_budget_give(o->cx, taken);
    free(text);
    return rc;
}

static void test_leaf_write__large_values_are_reserved_before_they_are_copied(void **state)
{
    const size_t bytes = 8u << 20;
    const tn_chunk_options options = {.codec = TN_CODEC_SNAPPY};
    tn_chunk_writer *w;
    one o;

    (void)state;
    one_open(&o, TN_BYTE_ARRAY, 0, TN_LOGICAL_STRING, false);
    for (int copies = 0; copies < 10; copies += 3) {
        assert_ok(o.cx, tn_chunk_writer_open(o.cx, o.leaf, &options, &w));
        if (copies == 9) { /* all that is held fits: value, body, packed, piece, four bounds */
            assert_ok(o.cx, write_large(&o, w, bytes, bytes * copies));
        } else {
            assert_fails(o.cx, TARN_E_LIMIT, "--memory", write_large(&o, w, bytes, bytes * copies));
            assert_true(w->body.cap < bytes && w->page_bounds.max.cap < bytes);
            assert_true(copies != 0 || w->page.plain.cap < bytes);
        }
        tn_chunk_writer_close(w);
    }
    one_close(&o);
}

static void test_leaf_write__a_group_must_fit_its_rows(void **state)
{
    static const int32_t values[3] = {1, 2, 3};
    one o;
    tn_encoded_chunk chunk = {0};
    tn_store *store;
    tn_sink *sink;
    tn_parquet_writer *w;

    (void)state;
    one_open(&o, TN_INT32, 0, 0, false);
    encode(&o, &(tn_chunk_options){0}, values, 3, &chunk);
    assert_ok(o.cx, tn_store_memory_open(o.cx, &store));
    assert_ok(o.cx, tn_store_create(o.cx, store, TN_STR("/f"), &sink));
    assert_ok(o.cx, tn_parquet_writer_open(o.cx, sink, &o.schema, NULL, &w));
    assert_fails(o.cx, TARN_E_INVALID, "3 rows in a row group of 4",
                 tn_parquet_writer_row_group(o.cx, w, &chunk, 4, NULL, 0));
    tn_parquet_writer_close(w);
    tn_store_close_sink(sink);
    tn_store_close(store);
    tn_encoded_chunk_clear(&chunk);
    one_close(&o);
}
