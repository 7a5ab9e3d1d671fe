#include "batch/widen.h"

#include "batch/array.h"
#include "batch/field.h"
#include "codec/ndjson/ndjson_write.h"
#include "codec/text/build.h"
#include "unit/test.h"

static void make_numbers(tarn_cx *cx, const void *values, size_t width, int64_t count,
                         struct ArrowArray *out)
{
    tn_block bits = {0}, data = {0};

    assert_ok(cx, tn_array_init(cx, out, count, 2, 0));
    assert_ok(cx, tn_block_reserve(cx, &bits, 8));
    assert_ok(cx, tn_block_reserve(cx, &data, width * (size_t)count));
    memset(bits.data, 0xfd, 8); /* the second is null */
    bits.len = 8;
    memcpy(data.data, values, width * (size_t)count);
    data.len = width * (size_t)count;
    out->null_count = 1;
    assert_ok(cx, tn_array_take_block(cx, out, 0, &bits));
    assert_ok(cx, tn_array_take_block(cx, out, 1, &data));
}

static void cast(tarn_cx *cx, const char *from, const char *to, struct ArrowArray *array)
{
    struct ArrowSchema have = {0}, want = {0};

    assert_ok(cx, tn_field_init(cx, &have, from, TN_STR("a"), true, 0));
    assert_ok(cx, tn_field_init(cx, &want, to, TN_STR("a"), true, 0));
    assert_ok(cx, tn_widen_cast(cx, &have, &want, array));
    tn_field_release(&have);
    tn_field_release(&want);
}

static void test_widen__numbers_become_text_as_java_has_it(void **state)
{
    static const int64_t longs[] = {-9223372036854775807 - 1, 7, 42};
    static const float floats[] = {1.0f, 7, 1.1f};
    static const double doubles[] = {1e10, 7, -0.5};
    static const struct {
        const char *format;
        const void *values;
        size_t width;
        const char *want;
    } cases[] = {{"l", longs, 8, "-922337203685477580842"},
                 {"f", floats, 4, "1.01.1"},
                 {"g", doubles, 8, "1.0E10-0.5"}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowArray array = {0};
        const int32_t *offsets;

        make_numbers(cx, cases[i].values, cases[i].width, 3, &array);
        cast(cx, cases[i].format, "u", &array);
        offsets = array.buffers[1];
        assert_int_equal(array.length, 3);
        assert_true(tn_rows_is_null(&array, 1) && !tn_rows_is_null(&array, 2));
        assert_int_equal(offsets[1], offsets[2]);
        assert_true(tn_str_is((tn_str){array.buffers[2], (size_t)offsets[3]}, cases[i].want));
        tn_array_release(&array);
    }
    tarn_cx_close(cx);
}

static void test_widen__long_to_float_takes_the_nearest(void **state)
{
    static const int64_t longs[] = {9007199254740993, 7, 16777217};
    struct ArrowArray array = {0};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    make_numbers(cx, longs, 8, 3, &array);
    cast(cx, "l", "f", &array);
    assert_true(((const float *)array.buffers[1])[2] == 16777216.0f);
    assert_true(tn_rows_is_null(&array, 1));
    tn_array_release(&array);
    make_numbers(cx, longs, 8, 3, &array);
    cast(cx, "l", "g", &array);
    assert_true(((const double *)array.buffers[1])[0] == 9007199254740992.0);
    tn_array_release(&array);
    tarn_cx_close(cx);
}

/* `text` as a value of `from`, cast to `to`, as JSON; "" for a null. */
static void assert_cast(tarn_cx *cx, const char *from, const char *to, const char *text,
                        const char *want)
{
    struct ArrowSchema have = {0}, wanted = {0};
    struct ArrowArray array = {0};
    tn_ndjson_writer *writer = NULL;
    tn_build *build = NULL;
    const char *why = NULL;
    tn_buf out = {0};

    for (int i = 0; i < 2; i++) {
        struct ArrowSchema *schema = i == 0 ? &have : &wanted;

        assert_ok(cx, tn_field_init(cx, schema, "+s", TN_STR(""), false, 1));
        assert_ok(cx,
                  tn_field_init(cx, schema->children[0], i == 0 ? from : to, TN_STR("a"), true, 0));
    }
    assert_ok(cx, tn_build_open(cx, &have, &build));
    assert_ok(cx, tn_build_null(cx, tn_build_child(build, 0), &why));
    assert_ok(cx, tn_build_text(cx, tn_build_child(build, 0), tn_str_of(text), &why));
    if (why != NULL)
        fail_msg("%s: %s", from, why);
    tn_build_rows_add(build, 2);
    assert_ok(cx, tn_build_finish(cx, build, &array));
    assert_true(tn_widen_able(&have, &wanted));
    assert_ok(cx, tn_widen_cast(cx, &have, &wanted, &array));
    assert_ok(cx, tn_array_check(cx, &wanted, &array));
    assert_ok(cx, tn_ndjson_writer_open(cx, &wanted, &writer));
    assert_ok(cx, tn_ndjson_writer_value(cx, writer, &array, 0, 0, &out));
    assert_true(tn_str_is(tn_buf_view(&out), "null"));
    tn_buf_reset(&out);
    assert_ok(cx, tn_ndjson_writer_value(cx, writer, &array, 0, 1, &out));
    if (!tn_str_is(tn_buf_view(&out), want))
        fail_msg("%s as %s: %s becomes %.*s, not %s", from, to, text, TN_STR_ARG(tn_buf_view(&out)),
                 want);
    tn_ndjson_writer_close(writer);
    tn_array_release(&array);
    tn_build_close(build);
    tn_field_release(&have);
    tn_field_release(&wanted);
    tn_buf_clear(&out);
}

/* Every way, with values at its edges. */
static void test_widen__ways(void **state)
{
    static const char *const cases[][4] = {
        {"i", "l", "-2147483648", "-2147483648"},
        {"i", "f", "7", "7.0"},
        {"i", "g", "-2147483648", "-2147483648.0"},
        {"i", "u", "-2147483648", "\"-2147483648\""},
        {"i", "d:12,2", "-7", "-7.00"},
        {"l", "d:24,2", "-9007199254740993", "-9007199254740993.00"},
        {"f", "g", "1.1", "1.1"},
        {"f", "g", "16777216", "16777216.0"},
        {"f", "g", "-0", "-0.0"},
        {"f", "g", "NaN", "\"NaN\""},
        {"f", "g", "-Infinity", "\"-Infinity\""},
        {"f", "u", "0.0001", "\"1.0E-4\""},
        {"f", "d:12,3", "1.1", "1.100"},
        {"f", "d:12,8", "1.1", "1.10000002"},
        {"g", "d:16,3", "1.0005", "1.001"},
        {"g", "d:16,3", "-1.0005", "-1.001"},
        {"g", "d:16,3", "-1.00049", "-1.000"},
        {"g", "d:16,0", "0.5", "1"},
        {"g", "d:4,0", "9999.4", "9999"},
        {"d:10,2", "d:14,4", "-0.01", "-0.0100"},
        {"d:10,2", "d:6,0", "-1.5", "-2"},
        {"d:18,10", "u", "1.5", "\"1.5000000000\""},
        {"d:18,10", "u", "0.0000000001", "\"1E-10\""},
        {"d:18,10", "u", "0", "\"0E-10\""},
        {"d:10,0", "u", "-12", "\"-12\""},
        {"u", "d:10,2", " 12.345 ", "12.35"},
        {"u", "d:10,2", "1e3", "1000.00"},
        {"u", "d:38,0", "99999999999999999999999999999999999999",
         "99999999999999999999999999999999999999"},
        {"u", "tdD", "2024-02-29", "\"2024-02-29\""},
        {"u", "tdD", "1969-12-31", "\"1969-12-31\""},
        {"u", "tdD", "2023-2-9", "\"2023-02-09\""},
        {"u", "tdD", "2023-2-30", "\"2023-03-02\""},
        {"tdD", "u", "2024-02-29", "\"2024-02-29\""},
        {"tdD", "u", "0001-01-01", "\"0001-01-01\""},
        {"u", "z", "ab", "\"YWI=\""},
        {"z", "u", "YWI=", "\"ab\""},
        {"tsm:UTC", "tsu:UTC", "1969-12-31T23:59:59.999Z", "\"1969-12-31T23:59:59.999000Z\""},
        {"tsu:UTC", "tsm:UTC", "1969-12-31T23:59:59.999999Z", "\"1969-12-31T23:59:59.999Z\""},
        {"tsu:", "tsm:", "2024-05-12T00:00:00.000001", "\"2024-05-12T00:00:00.000\""},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_cast(cx, cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
    tarn_cx_close(cx);
}

/* What has no equal is told by column and value, not made null. */
static void test_widen__values_that_have_no_equal(void **state)
{
    static const char *const cases[][3] = {
        {"u", "tdD", "nonsense"},  {"u", "tdD", " 2024-05-12"}, {"u", "tdD", "2024-13-01"},
        {"u", "tdD", "24-01-01"},  {"u", "tdD", "2024-01-"},    {"u", "tdD", ""},
        {"u", "d:10,2", "x"},      {"u", "d:4,2", "100"},       {"u", "d:4,2", "99.995"},
        {"i", "d:4,2", "100"},     {"g", "d:10,2", "NaN"},      {"g", "d:10,2", "1e30"},
        {"d:10,2", "d:4,2", "100"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tarn_cx *cx = tarn_cx_open(NULL);
        struct ArrowSchema from = {0}, to = {0};
        struct ArrowArray rows = {0};
        tn_build *build = NULL;
        const char *why = NULL;

        assert_ok(cx, tn_field_init(cx, &from, "+s", TN_STR(""), false, 1));
        assert_ok(cx, tn_field_init(cx, from.children[0], cases[i][0], TN_STR("a"), true, 0));
        assert_ok(cx, tn_field_init(cx, &to, cases[i][1], TN_STR("a"), true, 0));
        assert_ok(cx, tn_build_open(cx, &from, &build));
        assert_ok(cx, tn_build_text(cx, tn_build_child(build, 0), tn_str_of(cases[i][2]), &why));
        assert_null(why);
        tn_build_rows_add(build, 1);
        assert_ok(cx, tn_build_finish(cx, build, &rows));
        assert_fails(cx, TARN_E_UNSUPPORTED, "column \"a\": \"",
                     tn_widen_cast(cx, from.children[0], &to, rows.children[0]));
        tn_array_release(&rows);
        tn_build_close(build);
        tn_field_release(&from);
        tn_field_release(&to);
        tarn_cx_close(cx);
    }
}

/* What bounds of a file's values say of today's values. */
static void test_widen__keeps(void **state)
{
    static const struct {
        const char *from, *to;
        bool keeps;
    } cases[] = {{"i", "i", true},  {"i", "l", true},     {"i", "g", true},  {"l", "f", false},
                 {"l", "g", false}, {"f", "g", false},    {"i", "u", false}, {"u", "tdD", false},
                 {"u", "z", false}, {"d:9,2", "u", false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tarn_cx *cx = tarn_cx_open(NULL);
        struct ArrowSchema from = {0}, to = {0};

        assert_ok(cx, tn_field_init(cx, &from, cases[i].from, TN_STR("a"), true, 0));
        assert_ok(cx, tn_field_init(cx, &to, cases[i].to, TN_STR("a"), true, 0));
        if (tn_widen_keeps(&from, &to) != cases[i].keeps)
            fail_msg("%s to %s", cases[i].from, cases[i].to);
        tn_field_release(&from);
        tn_field_release(&to);
        tarn_cx_close(cx);
    }
}
