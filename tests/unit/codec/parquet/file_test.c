/* Opening files: what is refused and how it is said, what old writers are forgiven. */
#include "unit/codec/parquet/synth.h"

#include "unit/hex.h"

#include "io/store_memory.h"

static tn_buf load(const char *name)
{
    char path[4096];
    tn_buf out = {0};
    FILE *in;
    int c;

    snprintf(path, sizeof path, "%s/fuzz/corpus/file/%s", TARN_SOURCE_DIR, name);
    in = fopen(path, "rb");
    if (in == NULL)
        fail_msg("%s cannot be read", path);
    while ((c = getc(in)) != EOF)
        tn_buf_u8(&out, (uint8_t)c);
    fclose(in);
    return out;
}

static void test_file__not_parquet(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        int status;
        const char *text;
    } cases[] = {
        {"", 0, TARN_E_CORRUPT, "d/x.parquet: empty (0 bytes)"},
        {"PAR1", 4, TARN_E_CORRUPT, "ends at byte 4, right after the magic"},
        {"ab", 2, TARN_E_CORRUPT, "only 2 bytes"},
        {"id,name\n1,Ada\n2,Bob\n", 20, TARN_E_CORRUPT, "text (CSV?): byte 0 begins \"id,name"},
        {"{\"a\": 1}\n{\"a\": 2}\n", 18, TARN_E_CORRUPT, "JSON text"},
        {"ORC123456789", 12, TARN_E_CORRUPT, "an ORC file"},
        {"Obj\1avro.schema", 15, TARN_E_CORRUPT, "an Avro file"},
        {"\x1F\x8B\x08zzzzzzzzz", 12, TARN_E_CORRUPT, "a gzip file"},
        {"\0\1\2\3\4\5\6\7\x8\x9\xA\xB", 12, TARN_E_CORRUPT, "\\x00\\x01"},
        {"PAR1xxxxxxxxxxxx", 16, TARN_E_CORRUPT, "the last 4 bytes (at byte 12) are not"},
        {"xxxxxxxxxxxxPAR1", 16, TARN_E_CORRUPT, "ends as Parquet, but byte 0 begins \"xxxx"},
        {"PAR1\xFF\xFF\xFF\xFFPAR1", 12, TARN_E_CORRUPT, "footer length 4294967295 at byte 4"},
        {"PAR1\0\0\0\0PAR1", 12, TARN_E_CORRUPT, "footer length 0"},
        {"PAR1\0\1\0\0\0PAR1", 13, TARN_E_CORRUPT, "from byte 4: footer: byte 1: no schema"},
        {"PAR1\0\1\0\0\0PARE", 13, TARN_E_UNSUPPORTED, "encrypted"},
        {"PARE\0\1\0\0\0PARE", 13, TARN_E_UNSUPPORTED, "encrypted"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *exact = malloc(cases[i].len + 1);

        memcpy(exact, cases[i].bytes, cases[i].len);
        assert_fails(cx, cases[i].status, cases[i].text,
                     tn_parquet_open_memory(cx, exact, cases[i].len, TN_STR("d/x.parquet"), &file));
        assert_true(strncmp(tarn_cx_error(cx), "d/x.parquet: ", 13) == 0);
        assert_null(file.arena.block);
        free(exact);
    }
    tarn_cx_close(cx);
}

typedef void (*damage)(synth_file *s);

static void wrong_columns(synth_file *s)
{
    s->groups[1].column_count = 0;
}
static void wrong_type(synth_file *s)
{
    s->chunks[1].physical = TN_DOUBLE;
}
static void wrong_path(synth_file *s)
{
    static tn_str path[] = {{"w", 1}};

    s->chunks[1].path = path;
}
static void wrong_span(synth_file *s)
{
    s->chunks[1].compressed_bytes = 11;
}
static void wrong_offset(synth_file *s)
{
    s->chunks[1].data_page_offset = 3;
}
static void huge_span(synth_file *s)
{
    s->chunks[1].data_page_offset = INT64_MAX;
    s->chunks[1].compressed_bytes = INT64_MAX;
}
static void other_file(synth_file *s)
{
    s->chunks[0].file_path = TN_STR("part-0.parquet");
}
static void wrong_rows(synth_file *s)
{
    s->footer.rows = 5;
}
static void wrong_values(synth_file *s)
{
    s->chunks[1].values = 4;
}
static void huge_sizes(synth_file *s)
{
    s->groups[0].column_count = 1;
    s->chunks[0].uncompressed_bytes = INT64_MAX;
    s->groups[0].rows = INT64_MAX;
    s->chunks[0].values = INT64_MAX;
}

static void test_file__footers_that_lie(void **state)
{
    static const struct {
        damage apply;
        int status;
        const char *text;
    } cases[] = {
        {wrong_columns, TARN_E_CORRUPT, "row group 1: 0 column chunks, but the schema has 1"},
        {wrong_type, TARN_E_CORRUPT, "column v: chunk of type DOUBLE, schema of type INT64"},
        {wrong_path, TARN_E_CORRUPT, "chunk 0 is of column w"},
        {wrong_span, TARN_E_CORRUPT, "pages of 11 bytes at byte 4 do not lie"},
        {wrong_offset, TARN_E_CORRUPT, "at byte 3 do not lie"},
        {huge_span, TARN_E_CORRUPT, "do not lie"},
        {other_file, TARN_E_UNSUPPORTED, "another file (part-0.parquet)"},
        {wrong_rows, TARN_E_CORRUPT, "the footer counts 5 rows, its 2 row groups 6"},
        {wrong_values, TARN_E_CORRUPT, "row group 1, column v: 4 values for 3 rows"},
        {huge_sizes, TARN_E_CORRUPT, "row counts beyond 64 bits"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        synth_file s;

        synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT64), 2, 3);
        cases[i].apply(&s);
        synth_finish(&s.bytes, &s.footer);
        assert_fails(cx, cases[i].status, cases[i].text,
                     tn_parquet_open_memory(cx, s.bytes.data, s.bytes.len, TN_STR("x"), &file));
        tn_buf_clear(&s.bytes);
    }
    tarn_cx_close(cx);
}

static void test_file__encrypted_column(void **state)
{
    /* root, column "a" INT32, one group whose chunk has crypto_metadata (8) and no metadata. */
    tn_buf bytes = hex_of("50415231 1502 192c 48016d 150200 1502 2500 180161 00 1602"
                          "191c 191c 2600 6c 1c00 00 00 1602 1602 00 00");
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;

    (void)state;
    tn_buf_u32le(&bytes, (uint32_t)bytes.len - 4);
    tn_buf_text(&bytes, "PAR1");
    assert_fails(cx, TARN_E_UNSUPPORTED, "row group 0, column a: encrypted",
                 tn_parquet_open_memory(cx, bytes.data, bytes.len, TN_STR("x"), &file));
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_file__dictionary_offsets(void **state)
{
    static const struct {
        bool has;
        int64_t dictionary, data;
        uint64_t want;
    } cases[] = {
        {false, 0, 6, 6}, {true, 4, 6, 4}, {true, 0, 6, 6},  {true, 8, 6, 6},
        {true, 6, 6, 6},  {true, 4, 0, 4}, {true, -1, 6, 6},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t offset, bytes;
        tn_parquet file;
        synth_file s;

        synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT64), 1, 3);
        s.chunks[0].has_dictionary_page_offset = cases[i].has;
        s.chunks[0].dictionary_page_offset = cases[i].dictionary;
        s.chunks[0].data_page_offset = cases[i].data;
        s.chunks[0].compressed_bytes = 5;
        synth_open(cx, &s, &file);
        assert_ok(cx, tn_parquet_chunk_span(cx, &file, 0, 0, &offset, &bytes));
        assert_int_equal(offset, cases[i].want);
        assert_int_equal(bytes, 5);
        tn_parquet_close(&file);
        tn_buf_clear(&s.bytes);
    }
    tarn_cx_close(cx);
}

/* R175: old parquet-mr left the dictionary's header out of the size. */
static void test_file__sizes_of_old_parquet_mr(void **state)
{
    static const struct {
        const char *created_by;
        uint64_t want;
    } cases[] = {
        {"parquet-mr version 1.2.8", 10},
        {"parquet-mr version 1.2.8 (build 1)", 10},
        {"parquet-mr version 1.2.9-SNAPSHOT", 10},
        {"parquet-mr version 1.2.9", 6},
        {"parquet-mr version 1.10.0", 6},
        {"parquet-mr", 6},
        {"impala version 1.0.0", 6},
        {"", 6},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t offset, bytes;
        tn_parquet file;
        synth_file s;

        synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT64), 1, 3);
        s.footer.created_by = tn_str_of(cases[i].created_by);
        s.chunks[0].compressed_bytes = 6;
        synth_open(cx, &s, &file);
        assert_ok(cx, tn_parquet_chunk_span(cx, &file, 0, 0, &offset, &bytes));
        assert_int_equal(bytes, cases[i].want); /* never past the footer */
        tn_parquet_close(&file);
        tn_buf_clear(&s.bytes);
    }
    tarn_cx_close(cx);
}

static void test_file__counts_left_out(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;
    synth_file s;

    (void)state;
    synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT64), 2, 3);
    s.footer.rows = 0;
    s.footer.column_order_count = 0;
    s.chunks[0].path_count = 0;
    s.groups[0].sorting = (tn_sorting_column[]){{.column = 7}};
    s.groups[0].sorting_count = 1;
    synth_open(cx, &s, &file);
    assert_int_equal(file.footer.rows, 6);
    assert_int_equal(file.footer.groups[0].total_bytes, 10);
    assert_int_equal(file.footer.groups[0].sorting_count, 0);
    tn_parquet_close(&file);
    tn_buf_clear(&s.bytes);
    tarn_cx_close(cx);
}

static void test_file__through_a_store(void **state)
{
    tn_buf small = load("types.parquet");
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf large = {0};
    tn_store *store = NULL;
    tn_arena arena = {0};
    tn_column_index index;
    tn_parquet file, same;
    synth_file s;
    bool there;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/small.parquet"), tn_buf_view(&small)));
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/small.parquet"), &file));
    assert_ok(cx, tn_parquet_open_memory(cx, small.data, small.len, TN_STR("m"), &same));
    assert_int_equal(file.footer.rows, 2);
    assert_int_equal(file.footer_offset, same.footer_offset);
    assert_ok(cx, tn_parquet_column_index(cx, &file, 0, 1, &arena, &there, &index));
    assert_true(there);
    assert_int_equal(index.pages, 1);
    assert_int_equal(index.null_counts[0], 1);
    tn_parquet_close(&file);
    tn_parquet_close(&same);
    /* A footer that the first read of 64 KiB does not hold. */
    synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT64), 1, 3);
    assert_non_null(tn_buf_extend(&large, 200000));
    memset(large.data, 'x', large.len);
    s.footer.created_by = tn_buf_view(&large);
    synth_put(&s, large.data, large.len);
    synth_finish(&s.bytes, &s.footer);
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/large.parquet"), tn_buf_view(&s.bytes)));
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/large.parquet"), &file));
    assert_int_equal(file.footer.created_by.len, 200000);
    tn_parquet_close(&file);
    s.bytes.data[0] = 'Q';
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/large.parquet"), tn_buf_view(&s.bytes)));
    assert_fails(cx, TARN_E_CORRUPT, "/large.parquet: ends as Parquet, but byte 0",
                 tn_parquet_open(cx, store, TN_STR("/large.parquet"), &file));
    assert_fails(cx, TARN_E_NOTFOUND, "/none.parquet",
                 tn_parquet_open(cx, store, TN_STR("/none.parquet"), &file));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/e.parquet"), (tn_str){NULL, 0}));
    assert_fails(cx, TARN_E_CORRUPT, "/e.parquet: empty",
                 tn_parquet_open(cx, store, TN_STR("/e.parquet"), &file));
    tn_buf_clear(&large);
    tn_buf_clear(&small);
    tn_buf_clear(&s.bytes);
    tn_arena_clear(&arena);
    tn_store_close(store);
    tarn_cx_close(cx);
}

/* Every truncation and every flipped byte of a real file ends in a status with the path, or opens.
 */
static void test_file__damaged_anywhere(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = load("flat.parquet");
    tn_parquet file;

    (void)state;
    assert_ok(cx, tn_parquet_open_memory(cx, bytes.data, bytes.len, TN_STR("x"), &file));
    tn_parquet_close(&file);
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t *exact = malloc(i + 1);

        memcpy(exact, bytes.data, i);
        assert_fails(cx, TARN_E_CORRUPT,
                     "x: ", tn_parquet_open_memory(cx, exact, i, TN_STR("x"), &file));
        free(exact);
    }
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.data[i] ^= 0xFF;
        if (tn_parquet_open_memory(cx, bytes.data, bytes.len, TN_STR("x"), &file) != TARN_OK)
            assert_true(strncmp(tarn_cx_error(cx), "x: ", 3) == 0);
        tn_parquet_close(&file);
        bytes.data[i] ^= 0xFF;
    }
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}
