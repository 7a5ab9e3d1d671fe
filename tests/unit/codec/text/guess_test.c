/* Types guessed from samples. */
#include "codec/text/text_read.h"
#include "unit/test.h"

static void test_guess__samples(void **state)
{
    static const struct {
        const char *values[4];
        const char *want;
    } cases[] = {
        {{NULL}, "u"},
        {{"", "", NULL}, "u"},
        {{"true", "", "FALSE"}, "b"},
        {{"true", "1"}, "u"},
        {{"t"}, "u"},
        {{"1", "-20", "0"}, "l"},
        {{" 1 ", "\t2"}, "l"},
        {{" "}, "u"},
        {{"9223372036854775807", "-9223372036854775808"}, "l"},
        {{"9223372036854775808"}, "u"},
        {{"123456789012345678901234567890"}, "u"},
        {{"007"}, "u"},
        {{"00"}, "u"},
        {{"0"}, "l"},
        {{"-0"}, "g"},
        {{"+1"}, "u"},
        {{"1", "1.5"}, "g"},
        {{"1.5", "", "1e5"}, "g"},
        {{".5", "5.", "-1E-3"}, "g"},
        {{"0.5"}, "g"},
        {{"00.5"}, "u"},
        {{"1e400"}, "u"},
        {{"1e-400"}, "u"},
        {{"0e-400"}, "g"},
        {{"1e"}, "u"},
        {{"."}, "u"},
        {{"-"}, "u"},
        {{"12,50"}, "u"},
        {{"1.2.3.4"}, "u"},
        {{"NaN"}, "u"},
        {{"1.5", "NaN"}, "g"},
        {{"-Infinity", "1", "inf"}, "g"},
        {{"nan", "1234567890123456"}, "u"},
        {{"nan", "true"}, "u"},
        {{"-inf"}, "u"},
        {{"0x10"}, "u"},
        {{"0.30000000000000004"}, "g"},
        {{"0.300000000000000041"}, "u"},
        {{"123456789012345", "0.5"}, "g"},
        {{"1234567890123456", "0.5"}, "u"},
        {{"0.5", "1234567890123456"}, "u"},
        {{"2024-05-12"}, "tdD"},
        {{"2024-02-30"}, "u"},
        {{"2024-05-12", "2024-05-12 10:00"}, "tsu:"},
        {{"2024-05-12T10:00:00.123456"}, "tsu:"},
        {{"2024-05-12T10:00:00.1234567"}, "tsn:"},
        {{"2024-05-12T10:00:00Z", "2024-05-12T10:00:00+02:00"}, "tsu:UTC"},
        {{"2024-05-12T10:00:00Z", "2024-05-12"}, "tsu:UTC"},
        {{"2024-05-12T10:00:00.123456789Z", "2024-05-12T10:00:00Z"}, "tsn:UTC"},
        {{"2024-05-12T10:00:00Z", "2024-05-12T10:00:00"}, "u"},
        {{"2024-05-12T10:00:00.123456789", "2300-01-01T00:00:00"}, "u"},
        {{"2024-05-12T10:00:00.123456789", "9999-12-31"}, "u"},
        {{"9999-12-31T00:00:00"}, "tsu:"},
        {{"+999999-12-31"}, "u"},
        {{"2024-05-12", "7"}, "u"},
        {{"2024-05-12", "true"}, "u"},
        {{"10:00:00"}, "u"},
        {{"20240512"}, "l"},
        {{"a"}, "u"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_text_guess guess = {0};

        for (size_t j = 0; j < 4 && cases[i].values[j] != NULL; j++)
            tn_text_guess_add(&guess, tn_str_of(cases[i].values[j]));
        if (strcmp(tn_text_guess_format(&guess), cases[i].want) != 0)
            fail_msg("%s ...: %s, want %s", cases[i].values[0], tn_text_guess_format(&guess),
                     cases[i].want);
    }
}

static int keep(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    (void)cx;
    *(uint64_t *)arg = bad->line;
    return TARN_OK;
}

static void test_guess__bad_records_are_told(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_text_bad bad = {.source = TN_STR("orders.csv"),
                       .line = 42,
                       .column_number = 3,
                       .column = TN_STR("amount"),
                       .reason = "\"12,50\" is no number that double holds"};
    tn_text_read_options options = {0};
    uint64_t line = 0;

    (void)state;
    (void)tn_text_bad_report(cx, &options, &bad);
    assert_string_equal(tarn_cx_error(cx),
                        "orders.csv: line 42, column 3 \"amount\": \"12,50\" is no number that "
                        "double holds; fix it, give the column another type with --schema, or "
                        "pass it over with --reject FILE");
    bad.inferred_rows = 100;
    bad.column_number = 0;
    assert_fails(cx, TARN_E_DATA,
                 "line 42, column \"amount\": \"12,50\" is no number that double holds (the type "
                 "is that of the first 100 rows); fix it",
                 tn_text_bad_report(cx, &options, &bad));
    bad.column = (tn_str){NULL, 0};
    bad.inferred_rows = 0;
    bad.reason = "has 3 fields where the header has 8";
    assert_fails(
        cx, TARN_E_DATA,
        "orders.csv: line 42: has 3 fields where the header has 8; fix it, or pass it over "
        "with --reject FILE",
        tn_text_bad_report(cx, &options, &bad));
    options.reject = keep;
    options.reject_arg = &line;
    assert_ok(cx, tn_text_bad_report(cx, &options, &bad));
    assert_int_equal(line, 42);
    tarn_cx_close(cx);
}
