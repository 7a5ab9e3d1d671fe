/* Sizes and durations on the command line. */
#include "unit/test.h"

#include "units.h"

static void test_units__sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t want;
    } cases[] = {
        {"0", 0},
        {"17", 17},
        {"17B", 17},
        {"128M", UINT64_C(128) << 20},
        {"128MiB", UINT64_C(128) << 20},
        {"128m", UINT64_C(128) << 20},
        {"256MB", 256000000},
        {"1K", 1024},
        {"1KB", 1000},
        {"1.5G", UINT64_C(1610612736)},
        {"0.1K", 102},
        {"2T", UINT64_C(2) << 40},
        {"2TB", UINT64_C(2000000000000)},
        {"64 M", UINT64_C(64) << 20},
        {"0.0000001G", 0},
        {"9223372036854775000", INT64_C(9223372036854775000)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        uint64_t got = 42;

        assert_true(units_size(cases[i].text, &got, &why));
        assert_int_equal(got, cases[i].want);
    }
}

static void test_units__bad_sizes(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "it must begin with a number"},
        {"M", "it must begin with a number"},
        {"-1M", "it must not be negative"},
        {"1.M", "digits are missing after the point"},
        {".5M", "it must begin with a number"},
        {"1X", "its unit is not one of K, M, G, T (powers of 1024), KB, MB, GB, TB"},
        {"1M1", "its unit is not one of K, M, G, T (powers of 1024), KB, MB, GB, TB"},
        {"99999999999999999999", "it is too large"},
        {"9223372036854775807K", "it is too large"},
        {"9000000T", "it is too large"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        uint64_t got = 42;

        assert_false(units_size(cases[i].text, &got, &why));
        assert_string_equal(why, cases[i].why);
    }
}

static void test_units__durations(void **state)
{
    static const struct {
        const char *text;
        int64_t want; /* -1: refused */
    } cases[] = {
        {"0", 0},          {"0s", 0},
        {"30s", 30000},    {"10m", 600000},
        {"1h", 3600000},   {"2d", 172800000},
        {"1.5h", 5400000}, {"250ms", 250},
        {"10", -1},        {"10x", -1},
        {"-1s", -1},       {"", -1},
        {"1e3s", -1},      {"99999999999999999d", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        int64_t got = 42;
        bool good = units_duration(cases[i].text, &got, &why);

        assert_int_equal(good, cases[i].want >= 0);
        if (good)
            assert_int_equal(got, cases[i].want);
        else
            assert_non_null(why);
    }
}

static void test_units__counts(void **state)
{
    const char *why = NULL;
    uint64_t got = 0;

    (void)state;
    assert_true(units_count("12", &got, &why));
    assert_int_equal(got, 12);
    assert_false(units_count("12.0", &got, &why));
    assert_false(units_count("12k", &got, &why));
    assert_false(units_count("", &got, &why));
}
