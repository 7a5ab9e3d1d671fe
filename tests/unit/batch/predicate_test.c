/* Predicates: parsing, binding, three-valued evaluation. */
#include "batch/predicate.h"

#include <math.h>

#include "unit/batch/table.h"

/* Six rows; row 2 is null in every column. */
static void make_rows(tarn_cx *cx, test_table *t)
{
    static const int32_t i[] = {1, 2, 0, 4, -5, 2147483647};
    static const uint64_t u[] = {0, 1, 0, 9223372036854775808ull, UINT64_MAX, 7};
    static const double d[] = {1.5, -0.0, 0, NAN, INFINITY, 0.1};
    static const float f[] = {1.5f, 0.1f, 0, NAN, -INFINITY, 0};
    static const char *const s[] = {"a", "b'c", NULL, "", "K\xC3\xB6ln", "a%_"};
    static const int32_t dt[] = {19723, 19724, 0, -1, 0, 20000}; /* 2024-01-01, 2024-01-02 */
    static const int64_t ts[] = {1704067200000000, 1704067200000001, 0, -1, 0, 1};
    static const int64_t dec[] = {150, 0, -5, -1, 0, 0, 0, 0, 99999, 0, 1, 0}; /* scale 2 */

    table_init(cx, t, 9, 6);
    table_fixed(cx, t, 0, "i", "i", i, 4, 4);
    table_fixed(cx, t, 1, "u", "L", u, 8, 4);
    table_fixed(cx, t, 2, "d", "g", d, 8, 4);
    table_fixed(cx, t, 3, "f", "f", f, 4, 4);
    table_text(cx, t, 4, "s", "u", s, 4);
    table_fixed(cx, t, 5, "dt", "tdD", dt, 4, 4);
    table_fixed(cx, t, 6, "ts", "tsu:UTC", ts, 8, 4);
    table_fixed(cx, t, 7, "dec", "d:10,2", dec, 16, 4);
    table_bool(cx, t, 8, "ok.not", 0x29, 4); /* rows 0, 3, 5 */
}

static void run(tarn_cx *cx, const test_table *t, const char *text, const char *want)
{
    tn_arena arena = {0};
    const tn_predicate *predicate;
    tn_filter filter;
    uint8_t keep[64];
    char got[65] = {0};
    int64_t kept;

    assert_ok(cx, tn_predicate_parse(cx, tn_str_of(text), &arena, &predicate));
    assert_ok(cx, tn_predicate_bind(cx, predicate, &t->schema, &arena, &filter));
    assert_ok(cx, tn_filter_eval(cx, &filter, &t->array, keep, &kept));
    for (int64_t i = 0; i < t->array.length; i++)
        got[i] = keep[i] != 0 ? '1' : '0';
    if (strcmp(got, want) != 0)
        fail_msg("%s: rows %s, want %s", text, got, want);
    tn_arena_clear(&arena);
}

static void test_predicate__rows(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"i = 1", "100000"},
        {"i == 1", "100000"},
        {"i <> 1", "010111"},
        {"i != 1", "010111"},
        {"NOT i = 1", "010111"},
        {"1 < i", "010101"},
        {"i < 1.5", "100010"},
        {"i <= 1.5", "100010"},
        {"i > 1.5", "010101"},
        {"i = 1.5", "000000"},
        {"i <> 1.5", "110111"},
        {"NOT (i = 1.5)", "110111"},
        {"i < 1e300", "110111"},
        {"i > -1e300", "110111"},
        {"i > 1e300", "000000"},
        {"i < -4.5", "000010"},
        {"i = '2'", "010000"},
        {"i IN (1, 4, 1.5, 1)", "100100"},
        {"i NOT IN (1, 4)", "010011"},
        {"i NOT IN (1, NULL)", "000000"},
        {"i IN (1, NULL)", "100000"},
        {"i BETWEEN 1 AND 2", "110000"},
        {"i NOT BETWEEN 1 AND 2", "000111"},
        {"i IS NULL", "001000"},
        {"i IS NOT NULL", "110111"},
        {"NOT i IS NULL", "110111"},
        {"i = NULL", "000000"},
        {"NOT (i = NULL)", "000000"},
        {"u = 18446744073709551615", "000010"},
        {"u > 9223372036854775807", "000110"},
        {"u > -1", "110111"},
        {"u < 18446744073709551616", "110111"},
        {"d > 0", "100111"}, /* NaN is greater than all */
        {"d = 0", "010000"},
        {"d = 'NaN'", "000100"},
        {"d < 'NaN'", "110011"},
        {"d = 'Infinity'", "000010"},
        {"d = 0.1", "000001"},
        {"f = 0.1", "010000"},
        {"f < 0", "000010"},
        {"s = 'a'", "100000"},
        {"s = \"a\"", "100000"},
        {"s = 'b''c'", "010000"},
        {"s = ''", "000100"},
        {"s LIKE 'K_ln'", "000010"},
        {"s LIKE 'a%'", "100001"},
        {"s LIKE '%\\%\\_'", "000001"},
        {"s NOT LIKE 'a%'", "010110"},
        {"s LIKE '%'", "110111"},
        {"s > 'a'", "010001"},
        {"dt >= \"2024-01-01\"", "110001"},
        {"dt > '2024-01-01 00:00:01'", "010001"},
        {"dt = '2024-01-01 00:00:01'", "000000"},
        {"dt = DATE '1969-12-31'", "000100"},
        {"ts = '2024-01-01'", "100000"},
        {"ts = TIMESTAMP '2024-01-01 01:00:00+01:00'", "100000"},
        {"ts > '2024-01-01T00:00:00Z'", "010000"},
        {"ts < '1969-12-31T23:59:59.999999500'", "000100"},
        {"ts >= '1969-12-31T23:59:59.999999500'", "110011"},
        {"dec = 1.5", "100000"},
        {"dec = -0.05", "010000"},
        {"dec < 1.505", "110101"},
        {"dec > 1.505", "000010"},
        {"dec = 1.505", "000000"},
        {"dec >= 999.99", "000010"},
        {"dec < 1e60", "110111"},
        {"`ok.not`", "100101"},
        {"NOT `ok.not`", "010010"},
        {"ok.not = true", "100101"},
        {"\"ok.not\" = false", "010010"},
        {"I = 1", "100000"},
        {"i = 1 OR i = 2 AND s = 'nope'", "100000"},
        {"(i = 1 OR i = 2) AND s = 'nope'", "000000"},
        {"i = 1 OR i IS NULL", "101000"},
        {"i = 1 OR s = 'a' OR TRUE", "111111"},
        {"NULL OR i = 1", "100000"},
        {"NOT (NULL AND i = 1)", "010111"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    test_table t = {0};

    (void)state;
    make_rows(cx, &t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run(cx, &t, cases[i].text, cases[i].want);
    table_clear(&t);
    tarn_cx_close(cx);
}

static void test_predicate__errors(void **state)
{
    static const struct {
        const char *text, *part;
        int status;
    } cases[] = {
        {"", "it is empty", TARN_E_INVALID},
        {"i =", "byte 4: it ends where a column or a value is expected", TARN_E_INVALID},
        {"i = 1 x", "byte 7: AND, OR or the end is expected before \"x\"", TARN_E_INVALID},
        {"i = 2024-05-01", "a date or time goes in quotes", TARN_E_INVALID},
        {"(i = 1", "\")\", AND or OR is expected", TARN_E_INVALID},
        {"i = 'x", "byte 5: the quote ' opened here is not closed", TARN_E_INVALID},
        {"i LIKE 3", "a pattern in single quotes is expected", TARN_E_INVALID},
        {"i = 2x", "byte 5: \"2x\" is not a number", TARN_E_INVALID},
        {"i ~ 3", "byte 3", TARN_E_INVALID},
        {"i IN ()", "a column or a value is expected", TARN_E_INVALID},
        {"X'0' = s", "pairs of hexadecimal", TARN_E_INVALID},
        {"i.x = 1", "there is no column \"i.x\": \"i\" has no fields", TARN_E_INVALID},
        {"nope = 1", "there is no column \"nope\"; there are: i, u, d", TARN_E_INVALID},
        {"i = 'abc'", "column \"i\" is compared with a number", TARN_E_INVALID},
        {"s = 1", "text: put it in single quotes", TARN_E_INVALID},
        {"dt = 5", "a date, such as", TARN_E_INVALID},
        {"dt = '2024-02-30'", "a date, such as", TARN_E_INVALID},
        {"s", "only a boolean column stands alone", TARN_E_INVALID},
        {"1 = 2", "a column is expected here", TARN_E_INVALID},
        {"i = u", "is a column too", TARN_E_UNSUPPORTED},
        {"i.x = 1", "no column \"i.x\"", TARN_E_INVALID},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    test_table t = {0};

    (void)state;
    make_rows(cx, &t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_arena arena = {0};
        const tn_predicate *predicate = NULL;
        tn_filter filter;
        int rc = tn_predicate_parse(cx, tn_str_of(cases[i].text), &arena, &predicate);

        if (rc == TARN_OK)
            rc = tn_predicate_bind(cx, predicate, &t.schema, &arena, &filter);
        if (rc != cases[i].status || strstr(tarn_cx_error(cx), cases[i].part) == NULL)
            fail_msg("%s: %s: %s", cases[i].text, tarn_status_name(rc), tarn_cx_error(cx));
        tn_arena_clear(&arena);
    }
    table_clear(&t);
    tarn_cx_close(cx);
}

static void test_predicate__depth_is_bounded(void **state)
{
    enum { DEEP = 5000 };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    const tn_predicate *predicate;
    char text[DEEP + 1];

    (void)state;
    memset(text, '(', DEEP);
    text[DEEP] = '\0';
    assert_fails(cx, TARN_E_LIMIT, "nested deeper",
                 tn_predicate_parse(cx, tn_str_of(text), &arena, &predicate));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_predicate__names(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    const tn_predicate *predicate;
    tn_str *names;
    size_t count;

    (void)state;
    assert_ok(cx,
              tn_predicate_parse(cx, TN_STR("a.b = 1 AND (c IN ('x', d) OR 3 > a) OR \"e\" = 1"),
                                 &arena, &predicate));
    assert_ok(cx, tn_predicate_names(cx, predicate, &arena, &names, &count));
    assert_int_equal(count, 3);
    assert_true(tn_str_is(names[0], "a"));
    assert_true(tn_str_is(names[1], "c"));
    assert_true(tn_str_is(names[2], "e"));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
