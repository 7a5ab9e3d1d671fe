/* Every form of HFile (fuzz/make_hfile_seeds.py), those that real Hudi wrote, and broken ones. */
#include "codec/hfile/hfile.h"

#include "codec/bloom/key_filter.h"
#include "io/store_memory.h"
#include "unit/alloc.h"
#include "unit/hex.h"

static tn_buf load(const char *path)
{
    FILE *in = fopen(path, "rb");
    tn_buf out = {0};
    int c;

    if (in == NULL)
        fail_msg("%s cannot be read", path);
    while ((c = getc(in)) != EOF)
        tn_buf_u8(&out, (uint8_t)c);
    fclose(in);
    return out;
}

static tn_buf load_seed(const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/fuzz/corpus/hfile/%s", TARN_SOURCE_DIR, name);
    return load(path);
}

static const struct seed {
    const char *name;
    size_t count, pad;
} seeds[] = {{"one", 3, 0},        {"none_crc", 40, 0},
             {"gzip_crc", 40, 0},  {"gzip_bare", 40, 0},
             {"fake_keys", 40, 0}, {"long_keys", 20, 200},
             {"levels_2", 40, 0},  {"long_keys_varint", 20, 200},
             {"levels_3", 40, 0},  {"no_mvcc", 20, 0},
             {"meta", 3, 0},       {"empty", 0, 0}};

static tn_str key_of(const struct seed *seed, size_t i, char *text)
{
    size_t len = (size_t)sprintf(text, "key-%05zu", i);

    memset(text + len, 'x', seed->pad);
    return (tn_str){text, len + seed->pad};
}

static void check_entry(tarn_cx *cx, tn_hfile_cursor *cursor, const struct seed *seed, size_t i)
{
    char text[256], want[64];
    tn_str key, value;
    bool more;

    assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
    assert_int_equal(more, i < seed->count);
    if (!more)
        return;
    snprintf(want, sizeof want, "value %zu of a file", i);
    if (!tn_str_equal(key, key_of(seed, i, text)) || !tn_str_is(value, want))
        fail_msg("%s: entry %zu is %.*s = %.*s", seed->name, i, TN_STR_ARG(key), TN_STR_ARG(value));
}

/* All entries in order; each by a seek to it, to what is just before and just behind it. */
static void check_file(tarn_cx *cx, tn_hfile *file, const struct seed *seed)
{
    tn_hfile_cursor *cursor = NULL;
    char text[256];
    tn_str key;

    assert_int_equal(tn_hfile_count(file), seed->count);
    assert_ok(cx, tn_hfile_cursor_open(cx, file, &cursor));
    for (size_t i = 0; i <= seed->count; i++)
        check_entry(cx, cursor, seed, i);
    for (size_t n = 0; n < 3 * seed->count; n++) {
        size_t i = n * 7 % seed->count; /* forth and back */

        key = key_of(seed, i, text);
        assert_ok(cx, tn_hfile_cursor_seek(cx, cursor, key));
        check_entry(cx, cursor, seed, i);
        check_entry(cx, cursor, seed, i + 1);
        text[key.len++] = '!';
        assert_ok(cx, tn_hfile_cursor_seek(cx, cursor, key));
        check_entry(cx, cursor, seed, i + 1);
        key.len -= 2;
        assert_ok(cx, tn_hfile_cursor_seek(cx, cursor, (tn_str){key.ptr, key.len}));
        check_entry(cx, cursor, seed, seed->pad != 0 ? i : i - i % 10);
    }
    assert_ok(cx, tn_hfile_cursor_seek(cx, cursor, TN_STR("")));
    check_entry(cx, cursor, seed, 0);
    assert_ok(cx, tn_hfile_cursor_seek(cx, cursor, TN_STR("z")));
    check_entry(cx, cursor, seed, seed->count);
    tn_hfile_cursor_close(cursor);
}

static void test_hfile__every_form(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        tn_buf bytes = load_seed(seeds[i].name);
        tn_hfile *file = NULL;

        assert_ok(cx, tn_hfile_open_memory(cx, tn_buf_view(&bytes), TN_STR("seed"), &file));
        check_file(cx, file, &seeds[i]);
        tn_hfile_close(file);
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

/* Within another file, as in a log; a small one is one read. */
static void test_hfile__in_a_file(void **state)
{
    static const uint8_t before[77] = {1};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_store *store = NULL;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        tn_buf bytes = load_seed(seeds[i].name), all = {0};
        tn_hfile *file = NULL;

        tn_buf_add(&all, before, sizeof before);
        tn_buf_str(&all, tn_buf_view(&bytes));
        tn_buf_add(&all, before, sizeof before);
        assert_ok(cx, tn_store_put(cx, store, TN_STR("/f"), tn_buf_view(&all)));
        assert_ok(cx, tn_hfile_open(cx, store, TN_STR("/f"), sizeof before, bytes.len, &file));
        check_file(cx, file, &seeds[i]);
        tn_hfile_close(file);
        assert_fails(
            cx, TARN_E_CORRUPT, "/f: ends at byte",
            tn_hfile_open(cx, store, TN_STR("/f"), 2 * sizeof before + 1, bytes.len, &file));
        tn_buf_clear(&bytes);
        tn_buf_clear(&all);
    }
    tn_store_close(store);
    tarn_cx_close(cx);
}

/* A key that stands many times, in many blocks: a seek comes before the first of them. */
static void test_hfile__same_keys(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = load_seed("same_keys");
    tn_hfile_cursor *cursor = NULL;
    tn_hfile *file = NULL;
    tn_str key, value;
    bool more;

    (void)state;
    assert_ok(cx, tn_hfile_open_memory(cx, tn_buf_view(&bytes), TN_STR("seed"), &file));
    assert_ok(cx, tn_hfile_cursor_open(cx, file, &cursor));
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(cx, tn_hfile_cursor_seek(cx, cursor, TN_STR("same")));
        for (size_t i = 0; i < 20; i++) {
            char want[64];

            snprintf(want, sizeof want, "value %zu of a file", i);
            assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
            assert_true(more && tn_str_is(key, "same") && tn_str_is(value, want));
        }
        assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
        assert_false(more);
    }
    tn_hfile_cursor_close(cursor);
    tn_hfile_close(file);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_hfile__info_and_meta(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = load_seed("meta"), meta = {0};
    tn_key_filter *filter = NULL;
    tn_hfile *file = NULL;
    bool present;

    (void)state;
    assert_ok(cx, tn_hfile_open_memory(cx, tn_buf_view(&bytes), TN_STR("seed"), &file));
    assert_true(tn_str_starts(tn_hfile_info(file, "schema"), TN_STR("{\"type\":\"record\"")));
    assert_null(tn_hfile_info(file, "none").ptr);
    assert_ok(cx, tn_hfile_meta(cx, file, "bloomFilter", &present, &meta));
    assert_true(present);
    assert_ok(cx, tn_key_filter_parse(cx, tn_buf_view(&meta), TN_KEY_FILTER_SIMPLE, TN_STR("seed"),
                                      &filter));
    assert_true(tn_key_filter_has(filter, TN_STR("id:1,name:Alice")));
    assert_false(tn_key_filter_has(filter, TN_STR("id:2,name:Alice")));
    assert_ok(cx, tn_hfile_meta(cx, file, "other", &present, &meta));
    assert_true(present && tn_str_is(tn_buf_view(&meta), "x"));
    assert_ok(cx, tn_hfile_meta(cx, file, "none", &present, &meta));
    assert_false(present);
    tn_key_filter_close(filter);
    tn_hfile_close(file);
    tn_buf_clear(&meta);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

/* The blocks that the page takes apart, as a file. */
static void test_hfile__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("hfile.md", "file"), end = hex_of_page("hfile.md", "version");
    tn_hfile_cursor *cursor = NULL;
    tn_hfile *file = NULL;
    tn_str key, value;
    size_t trailer = 0;
    bool more;

    (void)state;
    while (memcmp(bytes.data + trailer, "TRABLK\"$", 8) != 0)
        trailer++;
    while (bytes.len < trailer + 4092)
        tn_buf_u8(&bytes, 0);
    tn_buf_str(&bytes, tn_buf_view(&end));
    assert_ok(cx, tn_hfile_open_memory(cx, tn_buf_view(&bytes), TN_STR("page"), &file));
    assert_int_equal(tn_hfile_count(file), 2);
    assert_ok(cx, tn_hfile_cursor_open(cx, file, &cursor));
    assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
    assert_true(more && tn_str_is(key, "Amsterdam") && tn_str_is(value, "NL"));
    assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
    assert_true(more && tn_str_is(key, "Oslo") && tn_str_is(value, "NO"));
    assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
    assert_false(more);
    tn_hfile_cursor_close(cursor);
    tn_hfile_close(file);
    tn_buf_clear(&bytes);
    tn_buf_clear(&end);
    tarn_cx_close(cx);
}

/* What the writers inside of Hudi 0.15, 1.0 and 1.2 made. */
static void test_hfile__of_hudi(void **state)
{
    static const struct {
        const char *name, *first;
        uint64_t count;
        bool filter;
    } cases[] = {
        {"hudi_0_15_files", "__all_partitions__", 5, true},
        {"hudi_1_0_column_stats", NULL, 65, true},
        {"hudi_1_2_record_index", NULL, 41, true},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf bytes = load_seed(cases[i].name), meta = {0};
        tn_key_filter *filter = NULL;
        tn_hfile_cursor *cursor = NULL;
        tn_hfile *file = NULL;
        tn_str key, value;
        uint64_t count = 0;
        bool more, present;

        assert_ok(cx, tn_hfile_open_memory(cx, tn_buf_view(&bytes), TN_STR("file"), &file));
        assert_true(tn_str_starts(tn_hfile_info(file, "schema"), TN_STR("{\"type\":\"record\"")));
        assert_ok(cx, tn_hfile_meta(cx, file, "bloomFilter", &present, &meta));
        assert_int_equal(present, cases[i].filter);
        assert_ok(cx, tn_key_filter_parse(cx, tn_buf_view(&meta), TN_KEY_FILTER_DYNAMIC,
                                          TN_STR("file"), &filter));
        assert_ok(cx, tn_hfile_cursor_open(cx, file, &cursor));
        for (;; count++) {
            assert_ok(cx, tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
            if (!more)
                break;
            assert_true(tn_key_filter_has(filter, key));
            if (count == 0 && cases[i].first != NULL)
                assert_true(tn_str_is(key, cases[i].first));
        }
        if (count != cases[i].count || count != tn_hfile_count(file))
            fail_msg("%s: %llu entries", cases[i].name, (unsigned long long)count);
        tn_key_filter_close(filter);
        tn_hfile_cursor_close(cursor);
        tn_hfile_close(file);
        tn_buf_clear(&meta);
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

/* ---- broken ones ---- */

/* Reads all there is; a status. */
static int read_all(tarn_cx *cx, tn_str bytes)
{
    tn_hfile_cursor *cursor = NULL;
    tn_hfile *file = NULL;
    tn_str key, value;
    tn_buf meta = {0};
    bool more = true;
    int rc = tn_hfile_open_memory(cx, bytes, TN_STR("broken"), &file);

    if (rc == TARN_OK)
        rc = tn_hfile_cursor_open(cx, file, &cursor);
    if (rc == TARN_OK)
        rc = tn_hfile_meta(cx, file, "bloomFilter", &more, &meta);
    more = true;
    while (rc == TARN_OK && more)
        rc = tn_hfile_cursor_next(cx, cursor, &more, &key, &value);
    tn_buf_clear(&meta);
    tn_hfile_cursor_close(cursor);
    tn_hfile_close(file);
    return rc;
}

static void test_hfile__cut_anywhere(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        tn_buf bytes = load_seed(seeds[i].name);

        for (size_t len = 0; len < bytes.len; len += 1 + bytes.len / 500) {
            int rc = read_all(cx, (tn_str){(const char *)bytes.data, len});

            if (rc == TARN_OK || tarn_cx_error(cx)[0] == '\0')
                fail_msg("%s: cut to %zu bytes: %d", seeds[i].name, len, rc);
        }
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

/* With checksums a flipped bit of a block is always seen. */
static void test_hfile__flipped_bits(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        tn_buf bytes = load_seed(seeds[i].name);
        bool sums = strstr(seeds[i].name, "crc") != NULL;
        size_t end = bytes.len - 4096;

        for (size_t at = 0; at < end + 160; at++) {
            int rc;

            bytes.data[at] ^= (uint8_t)(1 << at % 8);
            rc = read_all(cx, tn_buf_view(&bytes));
            bytes.data[at] ^= (uint8_t)(1 << at % 8);
            if (rc != TARN_OK && tarn_cx_error(cx)[0] == '\0')
                fail_msg("%s: byte %zu: no text", seeds[i].name, at);
            if (rc == TARN_OK && sums && at < end)
                fail_msg("%s: byte %zu flipped, and nobody sees it", seeds[i].name, at);
        }
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

/* The n-th allocation fails, for every n: a status with text, and nothing is lost. */
static void test_hfile__no_memory(void **state)
{
    static const char *const names[] = {"levels_3", "meta", "hudi_1_2_record_index"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tn_buf bytes = load_seed(names[i]);
        size_t total;

        alloc_watch(0);
        assert_ok(cx, read_all(cx, tn_buf_view(&bytes)));
        total = alloc_unwatch();
        for (size_t n = 1; n <= total; n++) {
            int rc;

            alloc_watch(n);
            rc = read_all(cx, tn_buf_view(&bytes));
            alloc_unwatch();
            if (rc != TARN_OK && (rc != TARN_E_NOMEM || tarn_cx_error(cx)[0] == '\0'))
                fail_msg("%s: allocation %zu: %s", names[i], n, tarn_cx_error(cx));
        }
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

/* Bytes of the trailer's message of "one", replaced. */
static void expect(tarn_cx *cx, const char *from, const char *to, int status, const char *text)
{
    tn_buf bytes = load_seed("one"), old = hex_of(from), new = hex_of(to);
    size_t at = bytes.len - 4096;

    assert_int_equal(old.len, new.len);
    while (at + old.len <= bytes.len && memcmp(bytes.data + at, old.data, old.len) != 0)
        at++;
    assert_true(at + old.len <= bytes.len);
    memcpy(bytes.data + at, new.data, new.len);
    assert_fails(cx, status, text, read_all(cx, tn_buf_view(&bytes)));
    tn_buf_clear(&bytes);
    tn_buf_clear(&old);
    tn_buf_clear(&new);
}

static void test_hfile__refused(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    expect(cx, "60 02", "60 03", TARN_E_UNSUPPORTED, "codec 3 (SNAPPY)");
    expect(cx, "60 02", "60 06", TARN_E_UNSUPPORTED, "codec 6 (ZSTD)");
    expect(cx, "60 02", "60 7f", TARN_E_UNSUPPORTED, "codec 127 (unknown)");
    expect(cx, "60 02", "6a 00", TARN_E_UNSUPPORTED, "encrypted");
    expect(cx, "00 00 00 00 03", "00 00 00 00 02", TARN_E_UNSUPPORTED, "version 2");
    expect(cx, "40 01 48", "40 7f 48", TARN_E_LIMIT, "127 levels");
    expect(cx, "28 01 30", "28 7f 30", TARN_E_CORRUPT, "counts more blocks");
    expect(cx, "28 01 30", "28 02 30", TARN_E_CORRUPT, "do not add up");
    expect(cx, "28 01 30", "18 01 30", TARN_E_CORRUPT, "do not add up");
    assert_fails(cx, TARN_E_CORRUPT, "too short", read_all(cx, TN_STR("x")));
    tarn_cx_close(cx);
}

static void test_hfile__no_file(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = load_seed("levels_3");
    tn_store *store = NULL;
    tn_hfile *file = NULL;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    assert_fails(cx, TARN_E_NOTFOUND, "/f",
                 tn_hfile_open(cx, store, TN_STR("/f"), 0, bytes.len, &file));
    assert_null(file);
    tn_buf_clear(&bytes);
    tn_store_close(store);
    tarn_cx_close(cx);
}
