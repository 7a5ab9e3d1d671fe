#include "base/zone.h"

#include "unit/test.h"

/* What Java's zones said. */
static const struct zone_case {
    const char *zone;
    int64_t at;
    int32_t want;
} cases[] = {
    {"UTC", 0, 0},
    {"GMT", 0, 0},
    {"GMT+8", 0, 28800},
    {"GMT-03:30", 0, -12600},
    {"+05:30", 0, 19800},
    {"-0800", 0, -28800},
    {"Europe/Berlin", 1729989000, 7200},
    {"Europe/Berlin", 1729990799, 7200},
    {"Europe/Berlin", 1729990800, 3600},
    {"Europe/Berlin", 4112424000, 7200}, /* 2100-04-26 */
    {"Europe/Berlin", 4118000000, 7200},
    {"Europe/Berlin", 4133980799, 3600},
    {"America/New_York", 1593565200, -14400},
    {"America/New_York", 4102444800, -18000}, /* 2100-01-01 */
    {"Australia/Sydney", 4102444800, 39600},
    {"Australia/Sydney", 4118000000, 36000},
    {"Asia/Kolkata", 1700000000, 19800},
    {"Asia/Kolkata", 9999999999, 19800},
    {"Europe/Dublin", 4118000000, 3600},
};

static void test_zone__offsets_are_those_of_the_clock(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_zone *zone = NULL;
        int32_t got;

        assert_ok(cx, tn_zone_open(cx, tn_str_of(cases[i].zone), &zone));
        got = tn_zone_offset(zone, cases[i].at);
        if (got != cases[i].want)
            fail_msg("%s at %lld: %d", cases[i].zone, (long long)cases[i].at, got);
        tn_zone_close(zone);
    }
    tarn_cx_close(cx);
}

static void test_zone__local_times_are_twice_once_or_not(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_zone *zone = NULL;
    int32_t offset;

    (void)state;
    assert_ok(cx, tn_zone_open(cx, TN_STR("Europe/Berlin"), &zone));
    assert_true(tn_zone_offset_local(zone, 1729989000 + 7200, &offset)); /* 02:30, the first */
    assert_int_equal(offset, 7200);
    assert_true(tn_zone_offset_local(zone, 1729996200 + 3600, &offset)); /* 03:30 */
    assert_int_equal(offset, 3600);
    assert_false(tn_zone_offset_local(zone, 1711848600 + 3600, &offset)); /* 02:30 on 2024-03-31 */
    assert_true(tn_zone_offset_local(zone, 1711850400 + 7200, &offset));
    assert_int_equal(offset, 7200);
    tn_zone_close(zone);
    tarn_cx_close(cx);
}

static void test_zone__refuses_names_that_are_none(void **state)
{
    static const char *const names[] = {
        "",      "Mars/Phobos", "../../etc/passwd", "/etc/passwd", "GMT+25:00",      "GMT+1:0",
        "+1:60", "GMT+",        "Europe",           "zone.tab",    "Europe/Berlin\n"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tn_zone *zone = NULL;
        int rc = tn_zone_open(cx, tn_str_of(names[i]), &zone);

        if (rc != TARN_E_INVALID && rc != TARN_E_CORRUPT)
            fail_msg("\"%s\" is taken", names[i]);
        assert_true(test_text_has(tarn_cx_error(cx), "zone"));
        assert_null(zone);
    }
    tarn_cx_close(cx);
}
