/* Dates, times and exact numbers as text. */
#include "batch/moment.h"

#include "batch/number.h"
#include "unit/test.h"

static void test_moment__writes(void **state)
{
    static const struct {
        int64_t value;
        int digits;
        bool utc;
        const char *want;
    } cases[] = {
        {0, 0, true, "1970-01-01T00:00:00Z"},
        {-1, 6, false, "1969-12-31T23:59:59.999999"},
        {1704067200123, 3, true, "2024-01-01T00:00:00.123Z"},
        {INT64_MIN, 9, false, "1677-09-21T00:12:43.145224192"},
        {INT64_MAX, 9, false, "2262-04-11T23:47:16.854775807"},
        {INT64_MAX, 6, true, "+294247-01-10T04:00:54.775807Z"},
        {-62135596800, 0, false, "0001-01-01T00:00:00"},
        {-62198755200, 0, false, "-0001-01-01T00:00:00"},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text[tn_moment_write(cases[i].value, cases[i].digits, cases[i].utc, text)] = '\0';
        assert_string_equal(text, cases[i].want);
    }
    tn_moment_write(INT64_MIN, 0, true, text);
    text[tn_moment_write_time(-3723001, 3, text)] = '\0';
    assert_string_equal(text, "-01:02:03.001");
}

static void test_moment__days_there_and_back(void **state)
{
    (void)state;
    for (int64_t days = -1000000; days < 1000000; days += 997) {
        int64_t year;
        unsigned month, day;
        tn_moment moment;
        char text[48];

        tn_days_civil(days, &year, &month, &day);
        assert_int_equal(tn_days_of(year, month, day), days);
        assert_true(tn_moment_parse((tn_str){text, tn_moment_write_date(days, text)}, &moment));
        assert_int_equal(moment.seconds, days * 86400);
    }
}

static void test_moment__refuses(void **state)
{
    static const char *const bad[] = {"",
                                      "2024",
                                      "2024-1-01",
                                      "2024-13-01",
                                      "2023-02-29",
                                      "2024-01-01 ",
                                      "2024-01-01T24",
                                      "12345-01-01",
                                      "2024-01-01 10:00 +",
                                      "2024-01-01x",
                                      "2024-01-01T10:00:60"};
    tn_moment moment;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (tn_moment_parse(tn_str_of(bad[i]), &moment))
            fail_msg("\"%s\" was taken", bad[i]);
}

static void test_number__floor_and_text(void **state)
{
    static const struct {
        const char *text;
        int32_t scale;
        const char *want;
        bool exact;
    } cases[] = {
        {"1.5", 2, "1.50", true},
        {"-1.505", 2, "-1.51", false},
        {"0.001", 2, "0.00", false},
        {"-0.001", 2, "-0.01", false},
        {"12e3", 0, "12000", true},
        {"1.25e1", 0, "12", false},
        {"99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999",
         true},
        {"-5", -1, "-10", false},
        {"0e99999999", 3, "0.000", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_int256 value;
        bool exact;
        int beyond;
        char text[128];

        assert_true(
            tn_number_floor(tn_str_of(cases[i].text), cases[i].scale, &value, &exact, &beyond));
        text[tn_number_write(&value, cases[i].scale, text)] = '\0';
        assert_string_equal(text, cases[i].want);
        assert_int_equal(exact, cases[i].exact);
        assert_int_equal(beyond, 0);
    }
}
