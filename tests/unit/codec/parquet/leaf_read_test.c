/* The leaf reader: chunks of random pages beside a model that is the list of entries; and by name
 * what pages of odd or damaged shape must give. */
#include "unit/codec/parquet/chunk.h"

enum { ENTRIES_MAX = 3000 };

/* What a chunk holds, entry by entry. */
typedef struct model {
    uint32_t rep[ENTRIES_MAX], def[ENTRIES_MAX];
    size_t value_at[ENTRIES_MAX]; /* into data, where present */
    size_t row_at[ENTRIES_MAX + 1];
    size_t entries, rows, values;
    uint8_t *data, *store;
} model;

static void make_model(model *m, test_rng *rng, const tn_leaf *leaf, size_t entries)
{
    unsigned nulls = (unsigned)test_below(rng, 4), rows = 1 + (unsigned)test_below(rng, 6);

    memset(m, 0, sizeof *m);
    m->entries = entries;
    for (size_t i = 0; i < entries; i++) {
        bool starts = leaf->max_rep == 0 || i == 0 || test_below(rng, rows) == 0;

        m->rep[i] = starts ? 0 : 1 + (uint32_t)test_below(rng, leaf->max_rep);
        m->def[i] = test_below(rng, 4) < nulls ? (uint32_t)test_below(rng, leaf->max_def + 1u)
                                               : leaf->max_def;
        m->value_at[i] = m->values;
        m->values += m->def[i] == leaf->max_def;
        if (starts)
            m->row_at[m->rows++] = i;
    }
    m->row_at[m->rows] = entries;
    m->data = make_values(rng, leaf, m->values, 1 + test_below(rng, 30), &m->store);
}

static void clear_model(model *m)
{
    free(m->data);
    free(m->store);
}

/* Indices of values into a dictionary of the distinct ones, which are the first of their kind. */
static size_t make_indices(const tn_leaf *leaf, const model *m, uint32_t *indices, size_t *firsts)
{
    size_t count = 0;

    for (size_t i = 0; i < m->values; i++) {
        size_t k = 0;

        while (k < count && !values_equal(leaf, m->data, i, m->data, firsts[k]))
            k++;
        if (k == count)
            firsts[count++] = i;
        indices[i] = (uint32_t)k;
    }
    return count;
}

static void add_dictionary(tarn_cx *cx, test_chunk *chunk, test_rng *rng, const model *m,
                           const size_t *firsts, size_t count)
{
    size_t width = tn_leaf_width(&chunk->leaf);
    uint8_t *distinct = malloc(count * width + 1);

    for (size_t i = 0; i < count; i++)
        memcpy(distinct + i * width, m->data + firsts[i] * width, width);
    chunk_dictionary(cx, chunk, rng, distinct, count);
    free(distinct);
}

/* One page of the entries from … from + n. */
static void add_page(tarn_cx *cx, test_chunk *chunk, test_rng *rng, const model *m, size_t from,
                     size_t n, const uint32_t *indices, bool v2)
{
    size_t first = m->value_at[from];
    size_t values = (from + n < m->entries ? m->value_at[from + n] : m->values) - first;
    test_page page = {.v2 = v2,
                      .old_levels = test_below(rng, 4) == 0,
                      .not_packed = test_below(rng, 4) == 0,
                      .rep = m->rep + from,
                      .def = m->def + from,
                      .entries = n};
    tn_buf body = {0};

    for (size_t i = from; i < from + n; i++)
        page.rows += m->rep[i] == 0;
    if (indices != NULL && test_below(rng, 3) != 0) {
        page.encoding = test_below(rng, 2) == 0 ? TN_ENC_RLE_DICTIONARY : TN_ENC_PLAIN_DICTIONARY;
        if (values != 0 || test_below(rng, 2) == 0) {
            unsigned width = 12 + (unsigned)test_below(rng, 4);

            tn_buf_u8(&body, (uint8_t)width);
            encode_hybrid(&body, rng, indices + first, values, width);
        }
    } else {
        const int *encodings = encodings_of(chunk->leaf.physical);
        size_t count = 0;

        while (encodings[count] >= 0)
            count++;
        page.encoding = encodings[test_below(rng, count)];
        if (values != 0 || test_below(rng, 2) == 0)
            encode_values(&body, rng, &chunk->leaf, page.encoding,
                          m->data + first * tn_leaf_width(&chunk->leaf), values);
    }
    page.values = tn_buf_view(&body);
    chunk_data(cx, chunk, rng, &page);
    tn_buf_clear(&body);
}

/* Pages of any length; with `whole_rows` they begin at rows, and may be of version 2. */
static void add_pages(tarn_cx *cx, test_chunk *chunk, test_rng *rng, const model *m,
                      bool whole_rows, const uint32_t *indices)
{
    size_t most = 1 + test_below(rng, 300);

    for (size_t at = 0; at < m->entries;) {
        size_t n = 1 + test_below(rng, most);

        n = n < m->entries - at ? n : m->entries - at;
        while (whole_rows && at + n < m->entries && m->rep[at + n] != 0)
            n++;
        add_page(cx, chunk, rng, m, at, n, indices, whole_rows && test_below(rng, 2) == 0);
        if (test_below(rng, 9) == 0) /* a page of an unknown kind, and an empty one */
            chunk_page(chunk, (tn_page_header){.type = TN_PAGE_INDEX, .nulls = -1, .rows = -1},
                       TN_STR("index"), TN_STR("index"));
        if (test_below(rng, 9) == 0 && !whole_rows)
            chunk_page(chunk,
                       (tn_page_header){.type = TN_PAGE_DATA,
                                        .nulls = -1,
                                        .rows = -1,
                                        .def_encoding = TN_ENC_RLE,
                                        .rep_encoding = TN_ENC_RLE},
                       (tn_str){"", 0}, (tn_str){"", 0});
        at += n;
    }
}

static void check_batch(const tn_leaf *leaf, const model *m, const tn_leaf_batch *batch, size_t row)
{
    size_t at = m->row_at[row], value = m->value_at[at];

    leaves_check(leaf, batch, NULL);
    assert_int_equal(m->row_at[row + (size_t)batch->rows] - at, batch->entries);
    for (size_t i = 0; i < (size_t)batch->entries; i++) {
        assert_int_equal(batch->rep != NULL ? batch->rep[i] : 0, m->rep[at + i]);
        assert_int_equal(batch->def != NULL ? batch->def[i] : leaf->max_def, m->def[at + i]);
    }
    for (size_t i = 0; i < (size_t)batch->values.count; i++) {
        const tn_values *from = batch->indices != NULL ? &batch->dictionary : &batch->values;

        assert_true(values_equal(leaf, from->data, batch->indices != NULL ? batch->indices[i] : i,
                                 m->data, value + i));
    }
}

/* Reads by random steps. */
static void read_beside(tarn_cx *cx, test_chunk *chunk, test_rng *rng, const model *m, bool indexed)
{
    tn_source source = tn_source_memory(chunk->bytes.data, chunk->bytes.len, 0);
    tn_leaf_read_options options = {.keep_dictionary = test_below(rng, 2) == 0,
                                    .pages = indexed ? &chunk->index : NULL};
    size_t step = test_below(rng, 2) == 0 ? 8 : m->rows + 1, row = 0;
    bool skips = test_below(rng, 3) != 0;
    tn_leaf_reader *reader = NULL;

    assert_ok(cx, tn_leaf_reader_open(cx, &chunk->file, 0, 0, &source, &options, &reader));
    for (;;) {
        size_t n = 1 + test_below(rng, step), over = skips ? test_below(rng, step / 2 + 3) : 0;
        tn_leaf_batch batch;

        over = over < m->rows - row ? over : m->rows - row;
        assert_ok(cx, tn_leaf_reader_skip(cx, reader, (int64_t)over));
        row += over;
        assert_ok(cx, tn_leaf_reader_next(cx, reader, (int64_t)n, &batch));
        if (batch.rows == 0)
            break;
        assert_true((size_t)batch.rows <= n && row + (size_t)batch.rows <= m->rows);
        check_batch(&chunk->leaf, m, &batch, row);
        row += (size_t)batch.rows;
    }
    assert_int_equal(row, m->rows);
    tn_leaf_reader_close(reader);
}

static const enum tn_physical kinds[] = {TN_BOOLEAN, TN_INT32,  TN_INT64,      TN_INT96,
                                         TN_FLOAT,   TN_DOUBLE, TN_BYTE_ARRAY, TN_FIXED};
static const int32_t codecs[] = {TN_CODEC_NONE, TN_CODEC_SNAPPY, TN_CODEC_ZSTD, TN_CODEC_GZIP,
                                 TN_CODEC_LZ4_RAW};

static void one_chunk(tarn_cx *cx, test_rng *rng)
{
    static model m;
    uint16_t max_rep = (uint16_t)(test_below(rng, 2) == 0 ? 0 : 1 + test_below(rng, 3));
    uint16_t max_def = (uint16_t)(max_rep + test_below(rng, 3));
    bool whole_rows = max_rep == 0 || test_below(rng, 2) == 0;
    static uint32_t indices[ENTRIES_MAX];
    static size_t firsts[ENTRIES_MAX];
    test_chunk chunk;
    size_t count;

    chunk_init(&chunk, kinds[test_below(rng, 8)], max_def, max_rep, codecs[test_below(rng, 5)]);
    chunk.crc = test_below(rng, 2) == 0;
    make_model(&m, rng, &chunk.leaf, test_below(rng, test_below(rng, 4) == 0 ? ENTRIES_MAX : 200));
    count = make_indices(&chunk.leaf, &m, indices, firsts);
    if (test_below(rng, 2) == 0) {
        add_dictionary(cx, &chunk, rng, &m, firsts, count);
        add_pages(cx, &chunk, rng, &m, whole_rows, indices);
    } else {
        add_pages(cx, &chunk, rng, &m, whole_rows, NULL);
    }
    chunk_finish(&chunk);
    for (int way = 0; way < 3; way++)
        read_beside(cx, &chunk, rng, &m, false);
    if (whole_rows && chunk.index.pages < 255)
        read_beside(cx, &chunk, rng, &m, true);
    clear_model(&m);
    chunk_clear(&chunk);
}

static void test_leaf_read__random_chunks_equal_the_model(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    test_rng rng = {1};

    (void)state;
    for (int round = 0; round < 400; round++)
        one_chunk(cx, &rng);
    tarn_cx_close(cx);
}

/* ---- named cases ---- */

static int read_chunk(tarn_cx *cx, test_chunk *chunk, const leaves_options *options, int64_t *rows)
{
    chunk_finish(chunk);
    return leaves_read_one(cx, &chunk->file, 0, 0, options, rows);
}

static void expect_corrupt(test_chunk *chunk, const char *text)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    int64_t rows;

    assert_fails(cx, TARN_E_CORRUPT, text, read_chunk(cx, chunk, &(leaves_options){0}, &rows));
    assert_non_null(strstr(tarn_cx_error(cx), "dir/test.parquet: column a.b: row group 0: page "));
    assert_non_null(strstr(tarn_cx_error(cx), " at byte "));
    chunk_clear(chunk);
    tarn_cx_close(cx);
}

static tn_page_header data_page(int encoding, int32_t values)
{
    return (tn_page_header){.type = TN_PAGE_DATA,
                            .values = values,
                            .nulls = -1,
                            .rows = -1,
                            .encoding = encoding,
                            .def_encoding = TN_ENC_RLE,
                            .rep_encoding = TN_ENC_RLE,
                            .compressed = true};
}

#define BYTES(text) ((tn_str){(text), sizeof(text) - 1})

static void start(test_chunk *chunk, enum tn_physical type, uint16_t def, uint16_t rep, int64_t n)
{
    chunk_init(chunk, type, def, rep, TN_CODEC_NONE);
    chunk->meta.values = n;
    chunk->group.rows = n;
}

static void test_leaf_read__damaged_pages_are_refused(void **state)
{
    test_chunk c;

    (void)state;
    start(&c, TN_INT32, 1, 1, 2); /* the first repetition level is 1 */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 2), BYTES("\2\0\0\0\4\1\2\0\0\0\4\1\1\0\0\0\2\0\0\0"),
               BYTES("\2\0\0\0\4\1\2\0\0\0\4\1\1\0\0\0\2\0\0\0"));
    expect_corrupt(&c, "inside a row");

    start(&c, TN_INT32, 1, 0, 3); /* fewer levels than values */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 3), BYTES("\2\0\0\0\4\1\1\0\0\0\2\0\0\0\3\0\0\0"),
               BYTES("\2\0\0\0\4\1\1\0\0\0\2\0\0\0\3\0\0\0"));
    expect_corrupt(&c, "the runs end");

    start(&c, TN_INT32, 2, 0, 1); /* level 3 of at most 2 */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 1), BYTES("\2\0\0\0\2\3\1\0\0\0"),
               BYTES("\2\0\0\0\2\3\1\0\0\0"));
    expect_corrupt(&c, "a level of 3");

    start(&c, TN_INT32, 1, 0, 1); /* levels longer than the page */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 1), BYTES("\xff\0\0\0\2\1"), BYTES("\xff\0\0\0\2\1"));
    expect_corrupt(&c, "255 bytes of levels");

    start(&c, TN_INT32, 0, 0, 3); /* more values than bytes */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 3), BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    expect_corrupt(&c, "3 more values");

    start(&c, TN_INT32, 0, 0, 1); /* more values than the chunk */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 2), BYTES("\1\0\0\0\2\0\0\0"),
               BYTES("\1\0\0\0\2\0\0\0"));
    expect_corrupt(&c, "the chunk has 1 left");

    start(&c, TN_INT32, 0, 0, 2); /* fewer values than the chunk */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 1), BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    expect_corrupt(&c, "1 of its 2 values");

    start(&c, TN_INT32, 1, 1, 2); /* two entries make one row, not two */
    chunk_page(&c, data_page(TN_ENC_PLAIN, 2), BYTES("\2\0\0\0\3\2\2\0\0\0\4\1\1\0\0\0\2\0\0\0"),
               BYTES("\2\0\0\0\3\2\2\0\0\0\4\1\1\0\0\0\2\0\0\0"));
    expect_corrupt(&c, "hold 1 rows");

    start(&c, TN_INT32, 0, 0, 1); /* a size that is not compressed and differs */
    chunk_page(
        &c,
        (tn_page_header){
            .type = TN_PAGE_DATA, .values = 1, .nulls = -1, .rows = -1, .uncompressed_bytes = 400},
        BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    expect_corrupt(&c, "not compressed");

    start(&c, TN_INT32, 0, 0, 1); /* a gigabyte of 4 bytes: no memory is taken for it */
    c.meta.codec = TN_CODEC_SNAPPY;
    chunk_page(&c,
               (tn_page_header){.type = TN_PAGE_DATA,
                                .values = 1,
                                .nulls = -1,
                                .rows = -1,
                                .uncompressed_bytes = 1 << 30},
               BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    expect_corrupt(&c, "cannot unpack");
}

static void test_leaf_read__damaged_dictionaries_are_refused(void **state)
{
    tn_page_header dictionary = {.type = TN_PAGE_DICTIONARY, .values = 1, .nulls = -1, .rows = -1};
    test_chunk c;

    (void)state;
    start(&c, TN_INT32, 0, 0, 8); /* an index past the dictionary */
    chunk_page(&c, dictionary, BYTES("\7\0\0\0"), BYTES("\7\0\0\0"));
    chunk_page(&c, data_page(TN_ENC_RLE_DICTIONARY, 8), BYTES("\1\3\x80"), BYTES("\1\3\x80"));
    expect_corrupt(&c, "index 1 into a dictionary of 1");

    start(&c, TN_INT32, 0, 0, 8);
    chunk_page(&c, data_page(TN_ENC_RLE_DICTIONARY, 8), BYTES("\1\3\x80"), BYTES("\1\3\x80"));
    expect_corrupt(&c, "no dictionary");

    start(&c, TN_INT32, 0, 0, 8);
    chunk_page(&c, dictionary, BYTES("\7\0\0\0"), BYTES("\7\0\0\0"));
    chunk_page(&c, dictionary, BYTES("\7\0\0\0"), BYTES("\7\0\0\0"));
    expect_corrupt(&c, "a second dictionary");

    start(&c, TN_INT32, 0, 0, 8);
    dictionary.values = 1000000;
    chunk_page(&c, dictionary, BYTES("\7\0\0\0"), BYTES("\7\0\0\0"));
    expect_corrupt(&c, "1000000 values in 4 bytes");

    start(&c, TN_INT32, 0, 0, 8);
    dictionary.values = 1;
    dictionary.encoding = TN_ENC_RLE;
    chunk_page(&c, dictionary, BYTES("\7\0\0\0"), BYTES("\7\0\0\0"));
    expect_corrupt(&c, "a dictionary in encoding 3");
}

static void test_leaf_read__bad_lengths_of_version_2(void **state)
{
    static const struct {
        int32_t rep, def, packed, plain;
    } cases[] = {{0, -1, 0, 0}, {-1, 0, 0, 0}, {3, 6, 0, 0},
                 {0, 0, -5, 0}, {0, 0, 0, -5}, {0, 0, 500, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_chunk c;

        start(&c, TN_INT32, 1, 0, 1);
        chunk_page(&c,
                   (tn_page_header){.type = TN_PAGE_DATA_V2,
                                    .values = 1,
                                    .nulls = 0,
                                    .rows = 1,
                                    .rep_bytes = cases[i].rep,
                                    .def_bytes = cases[i].def,
                                    .compressed_bytes = cases[i].packed,
                                    .uncompressed_bytes = cases[i].plain},
                   BYTES("\2\1\1\0\0\0"), BYTES("\2\1\1\0\0\0"));
        expect_corrupt(&c, "page 0 at byte 0: ");
    }
}

static void test_leaf_read__checksums(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_page_header page = data_page(TN_ENC_PLAIN, 1);
    test_chunk c;
    int64_t rows;

    (void)state;
    start(&c, TN_INT32, 0, 0, 1);
    page.has_crc = true;
    page.crc = 0x12345678;
    chunk_page(&c, page, BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    assert_ok(cx, read_chunk(cx, &c, &(leaves_options){.skip_crc = true}, &rows));
    assert_int_equal(rows, 1);
    expect_corrupt(&c, "checksum");
    tarn_cx_close(cx);
}

/* More pages than needed are not looked at, not even for their form. */
static void test_leaf_read__what_follows_the_last_value_is_ignored(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    test_chunk c;
    int64_t rows;

    (void)state;
    start(&c, TN_INT32, 0, 0, 1);
    chunk_page(&c, data_page(TN_ENC_PLAIN, 1), BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    chunk_page(&c, data_page(TN_ENC_PLAIN, 9), BYTES("\1\0\0\0"), BYTES("\1\0\0\0"));
    tn_buf_text(&c.bytes, "rest");
    assert_ok(cx, read_chunk(cx, &c, &(leaves_options){0}, &rows));
    assert_int_equal(rows, 1);
    chunk_clear(&c);
    tarn_cx_close(cx);
}

/* A page of a few bytes may stand for as many rows as it likes: memory does not follow. */
static void test_leaf_read__a_billion_nulls_cost_no_memory(void **state)
{
    enum { COUNT = 1000000000 };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 4 << 20});
    tn_source source;
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    test_chunk c;
    tn_buf body = {0};

    (void)state;
    start(&c, TN_INT64, 1, 0, COUNT);
    tn_buf_u32le(&body, 6);
    tn_buf_varint(&body, (uint64_t)COUNT << 1);
    tn_buf_u8(&body, 0);
    chunk_page(&c, data_page(TN_ENC_PLAIN, COUNT), tn_buf_view(&body), tn_buf_view(&body));
    chunk_finish(&c);
    source = tn_source_memory(c.bytes.data, c.bytes.len, 0);
    assert_ok(cx, tn_leaf_reader_open(cx, &c.file, 0, 0, &source, NULL, &reader));
    assert_ok(cx, tn_leaf_reader_next(cx, reader, INT64_MAX, &batch));
    assert_true(batch.rows > 0 && batch.values.count == 0 && !batch.all_present);
    assert_ok(cx, tn_leaf_reader_skip(cx, reader, 1000));
    assert_ok(cx, tn_leaf_reader_next(cx, reader, 1000, &batch));
    assert_int_equal(batch.rows, 1000);
    tn_leaf_reader_close(reader);
    tn_buf_clear(&body);
    chunk_clear(&c);
    tarn_cx_close(cx);
}

/* Values that share a prefix of 100,000 bytes: batches are cut before they outgrow memory. */
static void test_leaf_read__long_prefixes_cut_batches(void **state)
{
    enum { COUNT = 1000, PREFIX = 100000 };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 40 << 20});
    int64_t *prefix = calloc(COUNT, sizeof *prefix), *rest = calloc(COUNT, sizeof *rest);
    char *text = calloc(1, PREFIX + COUNT);
    test_rng rng = {6};
    tn_buf body = {0};
    test_chunk c;
    int64_t rows;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        prefix[i] = i == 0 ? 0 : PREFIX;
        rest[i] = i == 0 ? PREFIX : 1;
    }
    start(&c, TN_BYTE_ARRAY, 0, 0, COUNT);
    encode_delta(&body, &rng, prefix, COUNT, true);
    encode_delta(&body, &rng, rest, COUNT, true);
    tn_buf_add(&body, text, PREFIX + COUNT - 1);
    chunk_page(&c, data_page(TN_ENC_DELTA_BYTE_ARRAY, COUNT), tn_buf_view(&body),
               tn_buf_view(&body));
    assert_ok(cx, read_chunk(cx, &c, &(leaves_options){.rows_max = COUNT}, &rows));
    assert_int_equal(rows, COUNT);
    tn_buf_clear(&body);
    chunk_clear(&c);
    free(prefix);
    free(rest);
    free(text);
    tarn_cx_close(cx);
}

static void test_leaf_read__an_index_that_lies_is_refused(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_source source;
    tn_leaf_read_options options = {0};
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    test_chunk c;

    (void)state;
    start(&c, TN_INT32, 0, 0, 6);
    for (int i = 0; i < 3; i++) {
        c.locations[i] = (tn_page_location){(int64_t)c.bytes.len, 0, i == 2 ? 3 : 2 * i};
        chunk_page(&c, data_page(TN_ENC_PLAIN, 2), BYTES("\1\0\0\0\2\0\0\0"),
                   BYTES("\1\0\0\0\2\0\0\0"));
    }
    c.index.pages = 3;
    chunk_finish(&c);
    options.pages = &c.index;
    source = tn_source_memory(c.bytes.data, c.bytes.len, 0);
    assert_ok(cx, tn_leaf_reader_open(cx, &c.file, 0, 0, &source, &options, &reader));
    assert_fails(cx, TARN_E_CORRUPT, "the offset index says", tn_leaf_reader_skip(cx, reader, 4));
    assert_fails(cx, TARN_E_INVALID, "after a failure", tn_leaf_reader_next(cx, reader, 1, &batch));
    tn_leaf_reader_close(reader);
    chunk_clear(&c);
    tarn_cx_close(cx);
}

/* A page above the budget is refused by size before memory is taken, and all is given back. */
static void test_leaf_read__pages_count_against_the_budget(void **state)
{
    enum { COUNT = 1 << 20 };
    tn_str zeros = {calloc(COUNT, 8), (size_t)COUNT * 8};
    test_chunk c;

    (void)state;
    for (uint64_t memory = 4 << 20; memory <= 32 << 20; memory *= 8) {
        tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = memory});
        int64_t rows;

        start(&c, TN_INT64, 0, 0, COUNT);
        c.meta.codec = TN_CODEC_ZSTD;
        chunk_packed(cx, &c, data_page(TN_ENC_PLAIN, COUNT), zeros, 0);
        for (int i = 0; i < 20; i++) {
            if (memory < zeros.len) {
                assert_fails(cx, TARN_E_LIMIT, "dir/test.parquet: column a.b: row group 0: page 0",
                             read_chunk(cx, &c, &(leaves_options){0}, &rows));
            } else {
                assert_ok(cx, read_chunk(cx, &c, &(leaves_options){0}, &rows));
                assert_int_equal(rows, COUNT);
            }
        }
        chunk_clear(&c);
        tarn_cx_close(cx);
    }
    free((void *)zeros.ptr);
}
