/* Columns built from text: every type, what fits and what does not, nesting, rows taken back. */
#include "codec/text/build.h"

#include "codec/ndjson/ndjson_write.h"
#include "unit/test.h"

#define BAD "!" /* what follows is part of the reason */

typedef struct value_case {
    const char *format, *text, *want;
} value_case;

/* Children are given as "name:format" and "+…" formats nest by `children`. */
static void field(tarn_cx *cx, struct ArrowSchema *out, const char *name, const char *format,
                  bool nullable, size_t children)
{
    assert_ok(cx, tn_field_init(cx, out, format, tn_str_of(name), nullable, children));
}

static void one_column(tarn_cx *cx, struct ArrowSchema *out, const char *format, bool uuid)
{
    field(cx, out, "", "+s", false, 1);
    field(cx, out->children[0], "v", format, true, 0);
    if (uuid) {
        tn_buf metadata = {0};

        tn_metadata_add(&metadata, TN_STR("ARROW:extension:name"), TN_STR("arrow.uuid"));
        assert_ok(cx, tn_field_set_metadata(cx, out->children[0], &metadata));
        tn_buf_clear(&metadata);
    }
}

/* All that was built as NDJSON; starts anew. */
static const char *drain(tarn_cx *cx, tn_build *build, tn_buf *out)
{
    struct ArrowArray array = {0};
    tn_ndjson_writer *writer = NULL;

    tn_buf_reset(out);
    assert_ok(cx, tn_build_finish(cx, build, &array));
    assert_ok(cx, tn_array_check(cx, tn_build_schema(build), &array));
    assert_ok(cx, tn_ndjson_writer_open(cx, tn_build_schema(build), &writer));
    assert_ok(cx, tn_ndjson_writer_rows(cx, writer, &array, 0, array.length, out));
    tn_buf_u8(out, 0);
    assert_false(out->failed);
    tn_ndjson_writer_close(writer);
    tn_array_release(&array);
    assert_int_equal(tn_build_rows(build), 0);
    return (const char *)out->data;
}

static void put_row(tarn_cx *cx, tn_build *build)
{
    const char *why;

    assert_ok(cx, tn_build_nested(cx, build, 0, &why));
    assert_null(why);
}

static void check_value(tarn_cx *cx, const value_case *c)
{
    bool uuid = strcmp(c->format, "uuid") == 0;
    struct ArrowSchema schema = {0};
    tn_build *build = NULL;
    tn_buf out = {0};
    const char *why;
    char want[200];

    one_column(cx, &schema, uuid ? "w:16" : c->format, uuid);
    assert_ok(cx, tn_build_open(cx, &schema, &build));
    assert_ok(cx, tn_build_text(cx, tn_build_child(build, 0), tn_str_of(c->text), &why));
    if (c->want[0] == BAD[0]) {
        if (why == NULL)
            fail_msg("%s \"%s\" was taken", c->format, c->text);
        if (strstr(why, c->want + 1) == NULL)
            fail_msg("%s \"%s\": %s", c->format, c->text, why);
        assert_string_equal(drain(cx, build, &out), "");
    } else {
        if (why != NULL)
            fail_msg("%s \"%s\": %s", c->format, c->text, why);
        put_row(cx, build);
        snprintf(want, sizeof want, "{\"v\":%s}\n", c->want);
        assert_string_equal(drain(cx, build, &out), want);
    }
    tn_build_close(build);
    tn_field_release(&schema);
    tn_buf_clear(&out);
}

static void test_build__values(void **state)
{
    static const value_case cases[] = {
        {"b", "true", "true"},
        {"b", "FALSE", "false"},
        {"b", "1", "true"},
        {"b", "yes", "!\"yes\" is not true or false"},
        {"c", "-128", "-128"},
        {"c", "128", "!\"128\" is no number that int8 holds"},
        {"C", "255", "255"},
        {"C", "-1", "!uint8"},
        {"s", "-32769", "!int16"},
        {"S", "65535", "65535"},
        {"i", "2147483647", "2147483647"},
        {"i", "2147483648", "!int32"},
        {"I", "4294967295", "4294967295"},
        {"l", "-9223372036854775808", "-9223372036854775808"},
        {"l", "9223372036854775807", "9223372036854775807"},
        {"l", "9223372036854775808", "!int64"},
        {"l", "007", "7"},
        {"l", "+7", "7"},
        {"l", " 7\t", "7"},
        {"l", "7.0", "7"},
        {"l", "7e2", "700"},
        {"l", "7.5", "!no number that int64 holds"},
        {"l", "1 000", "!int64"},
        {"l", "", "!\"\" is no number"},
        {"l", "-", "!int64"},
        {"l", "0x10", "!int64"},
        {"L", "18446744073709551615", "18446744073709551615"},
        {"L", "18446744073709551616", "!uint64"},
        {"L", "-0", "0"},
        {"g", "12,50", "!\"12,50\" is no number that double holds"},
        {"g", "1e400", "!double"},
        {"g", "1e-400", "0.0"},
        {"g", "nan", "\"NaN\""},
        {"g", "-inf", "\"-Infinity\""},
        {"g", "0x1p3", "!double"},
        {"g", "1e", "!double"},
        {"g", ".", "!double"},
        {"g", "1_000", "!double"},
        {"g", "9007199254740993", "9007199254740992.0"},
        {"g", "-0", "-0.0"},
        {"f", "16777217", "16777216.0"},
        {"f", "3.4028236e38", "!float"},
        {"f", "0.1", "0.1"},
        {"e", "65504", "65504.0"},
        {"e", "65520", "!halffloat"},
        {"u", "g\xC3\xBC", "\"g\xC3\xBC\""},
        {"u", "ab\xE4", "!\"ab?\" is no UTF-8: its byte 3 is 0xE4"},
        {"U", " a ", "\" a \""},
        {"vu", "a", "\"a\""},
        {"z", "AQI=", "\"AQI=\""},
        {"z", "AQI", "\"AQI=\""},
        {"z", "A!", "!\"A!\" is no base64, which stands for binary"},
        {"Z", "", "\"\""},
        {"w:2", "AQI=", "\"AQI=\""},
        {"w:3", "AQI=", "!another length than binary(3)"},
        {"uuid", "F81D4FAE-7dec-11d0-a765-00a0c91e6bf6",
         "\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\""},
        {"uuid", "f81d4fae7dec11d0a76500a0c91e6bf6", "!no UUID"},
        {"d:10,2", "1.5", "1.50"},
        {"d:10,2", "-1.500", "-1.50"},
        {"d:10,2", "1.505", "!\"1.505\" has more digits below the point than decimal(10,2) holds"},
        {"d:10,2", "99999999.99", "99999999.99"},
        {"d:10,2", "100000000", "!decimal(10,2)"},
        {"d:10,2", "15e-1", "1.50"},
        {"d:4,-2", "1200", "1200"},
        {"d:4,-2", "1250", "!digits below"},
        {"d:5,2,32", "-123.45", "-123.45"},
        {"d:18,9,64", "123456789.123456789", "123456789.123456789"},
        {"d:38,10", "-1234567890123456789012345678.0123456789",
         "-1234567890123456789012345678.0123456789"},
        {"d:38,0", "99999999999999999999999999999999999999",
         "99999999999999999999999999999999999999"},
        {"d:38,0", "100000000000000000000000000000000000000", "!decimal(38,0)"},
        {"d:76,0,256",
         "-9999999999999999999999999999999999999999999999999999999999999999999999999999",
         "-9999999999999999999999999999999999999999999999999999999999999999999999999999"},
        {"d:9,3", "1e", "!no number"},
        {"tdD", "2024-02-29", "\"2024-02-29\""},
        {"tdD", "2023-02-29", "!\"2023-02-29\" is no date as in 2024-05-12"},
        {"tdD", "2024-05-12T00:00:00", "\"2024-05-12\""},
        {"tdD", "2024-05-12 10:00", "!has a time of day"},
        {"tdD", "2024-05-12 00:00Z", "!has a zone"},
        {"tdD", "-0001-12-31", "\"-0001-12-31\""},
        {"tdm", "1969-12-31", "\"1969-12-31\""},
        {"tts", "10:03:08", "\"10:03:08\""},
        {"ttm", "10:03:08.5", "\"10:03:08.500\""},
        {"ttm", "10:03:08.0005", "!more digits below the second than time[ms] holds"},
        {"ttu", "10:03", "\"10:03:00.000000\""},
        {"ttn", "24:00", "!no time"},
        {"tss:", "2024-05-12 10:00", "\"2024-05-12T10:00:00\""},
        {"tsm:", "2024-05-12", "\"2024-05-12T00:00:00.000\""},
        {"tsu:", "2024-05-12T10:00:00.1234567", "!more digits below the second"},
        {"tsu:", "2024-05-12T10:00:00.1234560", "\"2024-05-12T10:00:00.123456\""},
        {"tsu:", "2024-05-12T10:00:00Z", "!has a zone, and timestamp[us] has none"},
        {"tsu:UTC", "2024-05-12T10:00:00+02:00", "\"2024-05-12T08:00:00.000000Z\""},
        {"tsu:UTC", "2024-05-12T10:00:00", "\"2024-05-12T10:00:00.000000Z\""},
        {"tsu:Europe/Berlin", "2024-05-12T10:00:00",
         "!has no zone, which timestamp[us, Europe/Berlin] needs"},
        {"tsn:", "1677-09-21T00:12:43.145224192", "\"1677-09-21T00:12:43.145224192\""},
        {"tsn:", "1677-09-21T00:12:43.145224191", "!no time as in"},
        {"tDm", "PT3723.001S", "\"PT3723.001S\""},
        {"tDm", "PT-0.500S", "\"PT-0.500S\""},
        {"tDs", "-P1DT1H1M1S", "\"PT-90061S\""},
        {"tDs", "PT1.5S", "!more digits below the second than duration[s]"},
        {"tDs", "PT", "!no duration"},
        {"tDs", "P1M", "!no duration"},
        {"tDs", "PT1S2S", "!no duration"},
        {"n", "x", "!type null"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_value(cx, &cases[i]);
    tarn_cx_close(cx);
}

static void test_build__long_value_is_cut_in_the_reason(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_build *build = NULL;
    const char *why;
    char text[2000];

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text + 63, "\xC3\xBC\n", 3);
    one_column(cx, &schema, "l", false);
    assert_ok(cx, tn_build_open(cx, &schema, &build));
    assert_ok(cx, tn_build_text(cx, tn_build_child(build, 0), (tn_str){text, sizeof text}, &why));
    assert_string_equal(why,
                        "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"... "
                        "is no number that int64 holds");
    tn_build_close(build);
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

static void test_build__types_that_text_cannot_give(void **state)
{
    static const char *const formats[] = {"tiM", "tiD", "tin", "+ud:0", "+r"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct ArrowSchema schema = {0};
        tn_build *build = NULL;

        one_column(cx, &schema, formats[i], false);
        assert_fails(cx, TARN_E_UNSUPPORTED, "column \"v\"", tn_build_open(cx, &schema, &build));
        assert_null(build);
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}

/* struct<a: int64 not null, l: list<string>, m: map<string, struct<x: double, f: fixed 2 int8>>> */
static void nested_schema(tarn_cx *cx, struct ArrowSchema *out)
{
    struct ArrowSchema *entries, *value;

    field(cx, out, "", "+s", false, 3);
    field(cx, out->children[0], "a", "l", false, 0);
    field(cx, out->children[1], "l", "+l", true, 1);
    field(cx, out->children[1]->children[0], "item", "u", true, 0);
    field(cx, out->children[2], "m", "+m", true, 1);
    entries = out->children[2]->children[0];
    field(cx, entries, "entries", "+s", false, 2);
    field(cx, entries->children[0], "key", "u", false, 0);
    value = entries->children[1];
    field(cx, value, "value", "+s", true, 2);
    field(cx, value->children[0], "x", "g", true, 0);
    field(cx, value->children[1], "f", "+w:2", true, 1);
    field(cx, value->children[1]->children[0], "item", "c", true, 0);
}

static void text(tarn_cx *cx, tn_build *column, const char *value)
{
    const char *why;

    assert_ok(cx, tn_build_text(cx, column, tn_str_of(value), &why));
    assert_null(why);
}

static void nest(tarn_cx *cx, tn_build *column, int64_t count)
{
    const char *why;

    assert_ok(cx, tn_build_nested(cx, column, count, &why));
    assert_null(why);
}

static void null(tarn_cx *cx, tn_build *column)
{
    const char *why;

    assert_ok(cx, tn_build_null(cx, column, &why));
    assert_null(why);
}

/* A row with two texts, and a map of one entry; `upto` stops in the middle of it. */
static void nested_row(tarn_cx *cx, tn_build *build, int upto)
{
    tn_build *list = tn_build_child(build, 1), *map = tn_build_child(build, 2);
    tn_build *value = tn_build_child(map, 1), *pair = tn_build_child(value, 1);
    int step = 0;

#define STEP(call)                                                                                 \
    if (step++ < upto)                                                                             \
    call
    STEP(text(cx, tn_build_child(build, 0), "7"));
    STEP(text(cx, tn_build_child(list, 0), "p"));
    STEP(null(cx, tn_build_child(list, 0)));
    STEP(nest(cx, list, 2));
    STEP(text(cx, tn_build_child(map, 0), "k"));
    STEP(text(cx, tn_build_child(value, 0), "0.5"));
    STEP(text(cx, tn_build_child(pair, 0), "1"));
    STEP(text(cx, tn_build_child(pair, 0), "2"));
    STEP(nest(cx, pair, 2));
    STEP(nest(cx, value, 0));
    STEP(nest(cx, map, 1));
    STEP(nest(cx, build, 0));
#undef STEP
}

#define NESTED_STEPS 12
#define NESTED_TEXT  "{\"a\":7,\"l\":[\"p\",null],\"m\":{\"k\":{\"x\":0.5,\"f\":[1,2]}}}\n"

static void test_build__nested_rows_and_nulls(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_build *build = NULL, *map, *value;
    tn_buf out = {0};
    const char *why;

    (void)state;
    nested_schema(cx, &schema);
    assert_ok(cx, tn_build_open(cx, &schema, &build));
    map = tn_build_child(build, 2);
    value = tn_build_child(map, 1);
    nested_row(cx, build, NESTED_STEPS);
    text(cx, tn_build_child(build, 0), "8");
    null(cx, tn_build_child(build, 1));
    null(cx, map);
    nest(cx, build, 0);
    text(cx, tn_build_child(build, 0), "9");
    nest(cx, tn_build_child(build, 1), 0);
    text(cx, tn_build_child(map, 0), "q");
    null(cx, value);
    nest(cx, map, 1);
    nest(cx, build, 0);
    assert_int_equal(tn_build_rows(build), 3);
    assert_string_equal(drain(cx, build, &out),
                        NESTED_TEXT "{\"a\":8,\"l\":null,\"m\":null}\n"
                                    "{\"a\":9,\"l\":[],\"m\":{\"q\":null}}\n");
    /* What does not fit. */
    assert_ok(cx, tn_build_null(cx, tn_build_child(build, 0), &why));
    assert_string_equal(why, "a null does not fit a column that has none");
    assert_ok(cx, tn_build_null(cx, tn_build_child(map, 0), &why));
    assert_non_null(why);
    assert_ok(cx, tn_build_nested(cx, tn_build_child(value, 1), 3, &why));
    assert_string_equal(why, "has 3 elements where a list of 2 is wanted");
    assert_ok(cx, tn_build_text(cx, map, TN_STR("x"), &why));
    assert_non_null(strstr(why, "\"x\" is text where a value is wanted of type map<"));
    assert_ok(cx, tn_build_bool(cx, tn_build_child(build, 0), true, &why));
    assert_string_equal(why, "\"true\" is a truth value where one is wanted of type int64");
    assert_string_equal(drain(cx, build, &out), "");
    tn_build_close(build);
    tn_field_release(&schema);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

/* However far a bad row came, and after however many good ones, it leaves nothing. */
static void test_build__truncation_is_exact(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_build *build = NULL;
    tn_buf out = {0}, want = {0};

    (void)state;
    nested_schema(cx, &schema);
    assert_ok(cx, tn_build_open(cx, &schema, &build));
    for (int good = 0; good < 18; good++) {
        for (int upto = 0; upto < NESTED_STEPS; upto++) {
            uint64_t bytes;

            tn_buf_reset(&want);
            for (int i = 0; i < good; i++) {
                nested_row(cx, build, NESTED_STEPS);
                tn_buf_text(&want, NESTED_TEXT);
            }
            bytes = tn_build_bytes(build);
            nested_row(cx, build, upto);
            assert_ok(cx, tn_build_truncate(cx, build, good));
            assert_int_equal(tn_build_rows(build), good);
            assert_true(tn_build_bytes(build) == bytes);
            nested_row(cx, build, NESTED_STEPS);
            tn_buf_text(&want, NESTED_TEXT);
            tn_buf_u8(&want, 0);
            assert_string_equal(drain(cx, build, &out), (char *)want.data);
        }
    }
    tn_build_close(build);
    tn_field_release(&schema);
    tn_buf_clear(&out);
    tn_buf_clear(&want);
    tarn_cx_close(cx);
}

/* Nulls and values of every shape, cut back at every row and continued. */
static void test_build__truncation_of_nulls(void **state)
{
    static const char *const formats[] = {"b", "l", "u", "U", "z", "n"};
    static const char *const values[] = {"true", "1", "a", "b", "AQ==", NULL};
    enum { COLUMNS = sizeof formats / sizeof formats[0], ROWS = 20 };
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_build *build = NULL;
    tn_buf out = {0};
    char *want = NULL;

    (void)state;
    field(cx, &schema, "", "+s", false, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        field(cx, schema.children[i], formats[i], formats[i], true, 0);
    assert_ok(cx, tn_build_open(cx, &schema, &build));
    for (int cut = -1; cut <= ROWS; cut++) {
        for (int row = 0, again = cut >= 0; row < ROWS || again; row++) {
            if (row == ROWS) {
                assert_ok(cx, tn_build_truncate(cx, build, cut));
                row = cut;
                again = 0;
                if (row == ROWS)
                    break;
            }
            for (size_t i = 0; i < COLUMNS; i++)
                if (row < 5 || row % 3 == (int)i % 3 || values[i] == NULL)
                    null(cx, tn_build_child(build, i));
                else
                    text(cx, tn_build_child(build, i), values[i]);
            put_row(cx, build);
        }
        drain(cx, build, &out);
        if (cut < 0)
            want = strdup((char *)out.data);
        else
            assert_string_equal((char *)out.data, want);
    }
    free(want);
    tn_build_close(build);
    tn_field_release(&schema);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void test_build__dictionaries_become_values(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_build *build = NULL;
    tn_buf out = {0};

    (void)state;
    one_column(cx, &schema, "i", false);
    assert_ok(cx, tn_field_make_dictionary(cx, schema.children[0]));
    field(cx, schema.children[0]->dictionary, "", "u", true, 0);
    assert_ok(cx, tn_build_open(cx, &schema, &build));
    assert_null(tn_build_schema(build)->children[0]->dictionary);
    assert_string_equal(tn_build_schema(build)->children[0]->format, "u");
    text(cx, tn_build_child(build, 0), "x");
    put_row(cx, build);
    assert_string_equal(drain(cx, build, &out), "{\"v\":\"x\"}\n");
    tn_build_close(build);
    tn_field_release(&schema);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}
