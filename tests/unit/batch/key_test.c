#include "batch/key.h"

#include "table/partition.h"
#include "unit/batch/table.h"

static const struct level_case {
    const char *value, *want;
} levels[] = {
    {"2024-05-12", "c=2024-05-12"},
    {"K\xc3\xb6ln", "c=K\xc3\xb6ln"},
    {"AC/DC", "c=AC%2FDC"},
    {"50%", "c=50%25"},
    {"a b", "c=a b"},
    {"a\nb\tc", "c=a%0Ab%09c"},
    {"\x7f\x01", "c=%7F%01"},
    {"\"#%'*/:=?\\{[]^", "c=%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E"},
    {"}!$&()+,-.;<>@_`|~", "c=}!$&()+,-.;<>@_`|~"},
    {"..", "c=.."},
    {"", "c=__HIVE_DEFAULT_PARTITION__"},
    {"__HIVE_DEFAULT_PARTITION__", "c=__HIVE_DEFAULT_PARTITION__"},
    {"2024-05-12 10:03:08.5", "c=2024-05-12 10%3A03%3A08.5"},
};

static void test_key__escapes_as_hive(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        tn_buf_reset(&out);
        assert_ok(cx, tn_key_level(cx, &out, TN_STR("c"), tn_str_of(levels[i].value)));
        if (!tn_str_is(tn_buf_view(&out), levels[i].want))
            fail_msg("%s: got %.*s", levels[i].want, TN_STR_ARG(tn_buf_view(&out)));
    }
    tn_buf_reset(&out);
    assert_ok(cx, tn_key_level(cx, &out, TN_STR("a=b"), TN_STR("1")));
    assert_ok(cx, tn_key_level(cx, &out, TN_STR("c/d"), (tn_str){"x\0y", 3}));
    assert_true(tn_str_is(tn_buf_view(&out), "a%3Db=1/c%2Fd=x%00y"));
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

/* Every byte but those of the default name comes back from the path as it went in. */
static void test_key__is_taken_back_by_the_reader(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};

    (void)state;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b += a % 7 + 1) {
            char value[3] = {(char)a, (char)b, 'x'};
            tn_buf out = {0};
            tn_partition_value *values;
            size_t count;

            assert_ok(cx, tn_key_level(cx, &out, TN_STR("k"), (tn_str){value, 3}));
            assert_ok(cx, tn_partition_parse(cx, &arena, tn_buf_view(&out), &values, &count));
            assert_int_equal(count, 1);
            assert_true(tn_str_is(values[0].name, "k"));
            assert_true(tn_str_equal(values[0].value, (tn_str){value, 3}));
            tn_buf_clear(&out);
        }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_key__refuses_names_no_directory_has(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    char value[301];
    tn_buf out = {0};

    (void)state;
    memset(value, 'v', sizeof value);
    assert_ok(cx, tn_key_level(cx, &out, TN_STR("k"), (tn_str){value, 253}));
    tn_buf_reset(&out);
    assert_fails(cx, TARN_E_DATA, "column \"k\": the value \"vvvv",
                 tn_key_level(cx, &out, TN_STR("k"), (tn_str){value, 254}));
    tn_buf_reset(&out);
    memset(value, '/', sizeof value);
    assert_fails(cx, TARN_E_DATA, "302 bytes",
                 tn_key_level(cx, &out, TN_STR("k"), (tn_str){value, 100}));
    tn_buf_reset(&out);
    assert_fails(cx, TARN_E_DATA, "\"x._COPYING_\"",
                 tn_key_level(cx, &out, TN_STR("k"), TN_STR("x._COPYING_")));
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

typedef struct text_case {
    const char *format;
    const void *values;
    size_t width;
    const char *want[3];
} text_case;

static void check_text(tarn_cx *cx, const text_case *c)
{
    test_table table = {0};
    tn_text_type type;
    tn_buf out = {0};

    table_init(cx, &table, 1, 3);
    table_fixed(cx, &table, 0, "k", c->format, c->values, c->width, 0);
    assert_ok(cx, tn_key_type_of(cx, table.schema.children[0], &type));
    for (int64_t i = 0; i < 3; i++) {
        tn_buf_reset(&out);
        tn_key_text(&out, &type, table.array.children[0], i);
        if (!tn_str_is(tn_buf_view(&out), c->want[i]))
            fail_msg("%s: got %.*s, want %s", c->format, TN_STR_ARG(tn_buf_view(&out)), c->want[i]);
    }
    tn_buf_clear(&out);
    table_clear(&table);
}

static void test_key__has_text_for_scalar_types(void **state)
{
    static const int8_t i8[] = {0, -128, 127};
    static const uint64_t u64[] = {0, 1, UINT64_MAX};
    static const int64_t i64[] = {INT64_MIN, -1, INT64_MAX};
    static const int32_t days[] = {0, -1, 19855};
    static const int64_t millis[] = {0, 86400000, 86400500};
    static const int64_t micros[] = {0, 1715508188500000, -1};
    static const int64_t seconds[] = {0, 1715508188, -1};
    static const int64_t nanos[] = {0, 1715508188000000001, 500000000};
    static const int32_t time_ms[] = {0, 36188500, 1};
    static const double doubles[] = {0.0, 1.5, 1e300};
    static const float floats[] = {-0.0f, 0.1f, 1e10f};
    static const __int128 decimals[] = {150, -5, 0};
    static const text_case cases[] = {
        {"c", i8, 1, {"0", "-128", "127"}},
        {"L", u64, 8, {"0", "1", "18446744073709551615"}},
        {"l", i64, 8, {"-9223372036854775808", "-1", "9223372036854775807"}},
        {"tdD", days, 4, {"1970-01-01", "1969-12-31", "2024-05-12"}},
        {"tdm", millis, 8, {"1970-01-01", "1970-01-02", "1970-01-02 00:00:00.5"}},
        {"tsu:",
         micros,
         8,
         {"1970-01-01 00:00:00", "2024-05-12 10:03:08.5", "1969-12-31 23:59:59.999999"}},
        {"tsu:UTC",
         micros,
         8,
         {"1970-01-01 00:00:00", "2024-05-12 10:03:08.5", "1969-12-31 23:59:59.999999"}},
        {"tss:", seconds, 8, {"1970-01-01 00:00:00", "2024-05-12 10:03:08", "1969-12-31 23:59:59"}},
        {"tsn:",
         nanos,
         8,
         {"1970-01-01 00:00:00", "2024-05-12 10:03:08.000000001", "1970-01-01 00:00:00.5"}},
        {"ttm", time_ms, 4, {"00:00:00.000", "10:03:08.500", "00:00:00.001"}},
        {"g", doubles, 8, {"0.0", "1.5", "1e300"}},
        {"f", floats, 4, {"-0.0", "0.1", "10000000000.0"}},
        {"d:10,2", decimals, 16, {"1.50", "-0.05", "0.00"}},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_text(cx, &cases[i]);
    tarn_cx_close(cx);
}

static void test_key__refuses_types_without_text(void **state)
{
    static const char *const formats[] = {"z", "Z", "w:4", "tDs", "tiM", "tiD", "tin"};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_text_type type;

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct ArrowSchema schema = {0};

        assert_ok(cx, tn_field_init(cx, &schema, formats[i], TN_STR("blob"), true, 0));
        assert_fails(cx, TARN_E_UNSUPPORTED, "column \"blob\"", tn_key_type_of(cx, &schema, &type));
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}
