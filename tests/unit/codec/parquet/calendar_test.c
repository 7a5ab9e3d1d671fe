/* The old calendar of Spark and Java. */
#include "codec/parquet/calendar.h"

#include "batch/moment.h"
#include "unit/test.h"

static void test_calendar__days(void **state)
{
    /* 29 February 1500 was a Julian day alone. */
    static const struct {
        int64_t hybrid;
        const char *want;
    } cases[] = {{-353914, "1001-01-01"}, {-141427, "1582-10-15"}, {-141428, "1582-10-04"},
                 {-719164, "0001-01-01"}, {-719165, "0000-12-31"}, {-171596, "1500-03-01"},
                 {-171595, "1500-03-01"}, {-171594, "1500-03-02"}, {-171597, "1500-02-28"},
                 {0, "1970-01-01"},       {-1, "1969-12-31"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        size_t len = tn_moment_write_date(tn_calendar_proleptic_day(cases[i].hybrid), text);

        text[len] = '\0';
        assert_string_equal(text, cases[i].want);
    }
}

/* I1: the order of values stays, over all eras and at the ends of the range. */
static void test_calendar__order(void **state)
{
    int64_t before = tn_calendar_proleptic_day(INT32_MIN), now;

    (void)state;
    for (int64_t day = INT32_MIN + 1000; day < -100000; day += 997) {
        now = tn_calendar_proleptic_day(day);
        assert_true(now > before);
        before = now;
    }
    for (int64_t day = -900000; day < -141000; day++) {
        now = tn_calendar_proleptic_day(day);
        assert_true(now >= tn_calendar_proleptic_day(day - 1));
    }
}

static void test_calendar__times(void **state)
{
    const int64_t day = 86400000000ll;
    int64_t out = 7;

    (void)state;
    assert_true(tn_calendar_proleptic_time(-353914 * day + 5, day, &out));
    assert_int_equal(out, -353920 * day + 5);
    assert_true(tn_calendar_proleptic_time(-141427 * day, day, &out));
    assert_int_equal(out, -141427 * day);
    assert_true(tn_calendar_proleptic_time(-141427 * day - 1, day, &out));
    assert_int_equal(out, -141437 * day - 1);
    assert_true(tn_calendar_proleptic_time(-1, day, &out));
    assert_int_equal(out, -1);
    /* Far before Christ the old calendar is ahead by hundreds of years. */
    assert_true(tn_calendar_proleptic_time(INT64_MIN, day, &out));
    assert_false(tn_calendar_proleptic_time(INT64_MIN, 86400, &out) && out > INT64_MIN / 2);
}

static void test_calendar__zones(void **state)
{
    (void)state;
    assert_true(tn_calendar_zone_is_utc(TN_STR("UTC")));
    assert_true(tn_calendar_zone_is_utc(TN_STR("Etc/UTC")));
    assert_false(tn_calendar_zone_is_utc(TN_STR("")));
    assert_false(tn_calendar_zone_is_utc(TN_STR("Europe/London")));
}
