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

/* The common forms, which are read at once, and others of the same moments. */
static void test_moment__forms(void **state)
{
    static const char *const forms[] = {"%s %s",   "%sT%s",       "%sT%sZ",
                                        "%s %s Z", "%s %s+00:00", "%sT%s-00"};

    (void)state;
    for (int64_t value = -70000000000123; value < 9000000000000; value += 86399999 * 17) {
        for (int digits = 0; digits <= 9; digits += 3) {
            char date[64], text[80];
            size_t len = tn_moment_write(value, digits, false, date);
            int64_t unit = digits == 0   ? 1
                           : digits == 3 ? 1000
                           : digits == 6 ? 1000000
                                         : 1000000000;

            date[len] = '\0';
            if (date[10] != 'T')
                continue; /* years of more digits */
            date[10] = '\0';
            for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
                tn_moment moment = {0};

                snprintf(text, sizeof text, forms[i], date, date + 11);
                if (!tn_moment_parse(tn_str_of(text), &moment))
                    fail_msg("\"%s\" was not taken", text);
                assert_true(moment.has_time && moment.has_zone == (i > 1));
                assert_true(moment.nanos >= 0);
                assert_true(moment.seconds * unit + moment.nanos / (1000000000 / unit) == value);
            }
        }
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
                                      "2024-01-01T10:00:60",
                                      "2024-01-01T10:00:00.",
                                      "2024-01-01T10:00:00.Z",
                                      "2024-01-01T10:00:00.1ZZ",
                                      "2024-01-01T10:00:00.1234567891",
                                      "2024-01-01T10:61:00",
                                      "2024-02-30T10:00:00Z",
                                      "20240-1-01T10:00:00Z"};
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
