/* Shortest digits: known texts, and that random values read back equal and are not longer than
 * what printf finds. */
#include "batch/digits.h"

#include <math.h>

#include "unit/test.h"

static void test_digits__known(void **state)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {0.1, "0.1"},
        {-1.5, "-1.5"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e16"},
        {1e22, "1e22"},
        {1e23, "1e23"},
        {9007199254740993, "9007199254740992.0"},
        {0.0001, "0.0001"},
        {0.00001, "1e-5"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {123456.789, "123456.789"},
        {1234567890123456.7, "1234567890123456.8"},
        {2e-3, "0.002"},
        {9.5, "9.5"},
    };
    char text[40];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text[tn_digits_double(text, cases[i].value)] = '\0';
        assert_string_equal(text, cases[i].want);
    }
    text[tn_digits_float(text, 0.1f)] = '\0';
    assert_string_equal(text, "0.1");
    text[tn_digits_float(text, 16777216.0f)] = '\0';
    assert_string_equal(text, "16777216.0");
    text[tn_digits_float(text, 3.4028235e38f)] = '\0';
    assert_string_equal(text, "3.4028235e38");
    text[tn_digits_float(text, 1e-45f)] = '\0';
    assert_string_equal(text, "1e-45");
    text[tn_digits_i64(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
    text[tn_digits_u64(text, UINT64_MAX)] = '\0';
    assert_string_equal(text, "18446744073709551615");
    text[tn_digits_u64(text, 100)] = '\0';
    assert_string_equal(text, "100");
}

/* From the first to the last digit that is not 0. */
static int digit_count(const char *text)
{
    int n = 0, last = 0;

    for (; *text != '\0' && *text != 'e'; text++) {
        n += (n > 0 || (*text >= '1' && *text <= '9')) && *text >= '0' && *text <= '9';
        if (*text >= '1' && *text <= '9')
            last = n;
    }
    return last;
}

static void test_digits__random_doubles_read_back(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[40], least[40];
        uint64_t bits;
        double value;
        int digits = 1;

        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        bits = seed ^ seed >> 29;
        memcpy(&value, &bits, 8);
        if (!isfinite(value))
            continue;
        text[tn_digits_double(text, value)] = '\0';
        if (strtod(text, NULL) != value)
            fail_msg("%.17g became %s", value, text);
        if (i % 16 != 0)
            continue;
        do
            snprintf(least, sizeof least, "%.*e", digits - 1, value);
        while (strtod(least, NULL) != value && ++digits < 18);
        if (digit_count(text) > digits)
            fail_msg("%.17g became %s, %s is shorter", value, text, least);
    }
}

static void test_digits__random_floats_read_back(void **state)
{
    uint32_t bits = 1;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[40];
        float value;

        bits = bits * 1664525u + 1013904223u;
        memcpy(&value, &bits, 4);
        if (!isfinite(value))
            continue;
        text[tn_digits_float(text, value)] = '\0';
        if (strtof(text, NULL) != value)
            fail_msg("%.9g became %s", (double)value, text);
    }
}
