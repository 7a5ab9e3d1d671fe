#include "batch/java_text.h"

#include <float.h>
#include <math.h>

#include "unit/test.h"

static void check(const char *got, size_t len, const char *want)
{
    if (len > TN_JAVA_TEXT_BYTES_MAX || strlen(want) != len || memcmp(got, want, len) != 0)
        fail_msg("got %.*s, want %s", (int)len, got, want);
}

/* What OpenJDK 17 printed; the numbers are those of which all releases print the same. */
static void test_java_text__doubles(void **state)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {1.5, "1.5"},
        {-1.5, "-1.5"},
        {0.001, "0.001"},
        {0.00099, "9.9E-4"},
        {0.002, "0.002"},
        {0.05, "0.05"},
        {9999999, "9999999.0"},
        {1e7, "1.0E7"},
        {12345678.9, "1.23456789E7"},
        {1e300, "1.0E300"},
        {1.5e-7, "1.5E-7"},
        {123456.789, "123456.789"},
        {100, "100.0"},
        {4.9e-324, "4.9E-324"},
        {DBL_MAX, "1.7976931348623157E308"},
        {DBL_MIN, "2.2250738585072014E-308"},
        {(double)NAN, "NaN"},
        {(double)INFINITY, "Infinity"},
        {-(double)INFINITY, "-Infinity"},
    };
    char out[TN_JAVA_TEXT_BYTES_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(out, tn_java_text_double(cases[i].value, out), cases[i].want);
}

static void test_java_text__floats(void **state)
{
    static const struct {
        float value;
        const char *want;
    } cases[] = {
        {0.0f, "0.0"},
        {1.1f, "1.1"},
        {1e10f, "1.0E10"},
        {16777216.0f, "1.6777216E7"},
        {3.4028235e38f, "3.4028235E38"},
        {1.4e-45f, "1.4E-45"},
        {0.001f, "0.001"},
        {9999999.0f, "9999999.0"},
        {33554432.0f, "3.3554432E7"},
    };
    char out[TN_JAVA_TEXT_BYTES_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(out, tn_java_text_float(cases[i].value, out), cases[i].want);
}

static void test_java_text__decimals(void **state)
{
    static const struct {
        int64_t value;
        int32_t scale;
        const char *want;
    } cases[] = {
        {150, 2, "1.50"},
        {1, 7, "1E-7"},
        {0, 7, "0E-7"},
        {-5, 10, "-5E-10"},
        {123, -2, "1.23E+4"},
        {0, 2, "0.00"},
        {123456, 12, "1.23456E-7"},
        {1, 6, "0.000001"},
        {0, 6, "0.000000"},
        {0, 0, "0"},
        {5, -1, "5E+1"},
        {-12345, 3, "-12.345"},
        {42, 0, "42"},
    };
    char out[TN_JAVA_TEXT_BYTES_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_int256 value = tn_int256_of(cases[i].value);

        check(out, tn_java_text_decimal(&value, cases[i].scale, out), cases[i].want);
    }
}

static void test_java_text__moments(void **state)
{
    static const struct {
        int64_t value;
        const char *want;
    } days[] = {{0, "1970-01-01"},
                {-800000, "-0221-09-04"},
                {3000000, "+10183-09-21"},
                {-719529, "-0001-12-31"}},
      stamps[] = {{0, "1970-01-01 00:00:00.0"},
                  {1483005240000, "2016-12-29 09:54:00.0"},
                  {1483005240120, "2016-12-29 09:54:00.12"},
                  {-1, "1969-12-31 23:59:59.999"},
                  {-62135596800000, "0001-01-03 00:00:00.0"},
                  {-62167219200000, "0001-01-03 00:00:00.0"},
                  {-12219292800000, "1582-10-15 00:00:00.0"},
                  {-12219292800001, "1582-10-04 23:59:59.999"},
                  {-26000000000000, "1146-01-28 01:46:40.0"},
                  {-14825808000000, "1500-03-01 00:00:00.0"},
                  {-14825894400000, "1500-02-29 00:00:00.0"},
                  {-14830992000000, "1500-01-01 00:00:00.0"},
                  {253402300800000, "10000-01-01 00:00:00.0"}};
    char out[TN_JAVA_TEXT_BYTES_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++)
        check(out, tn_java_text_date(days[i].value, out), days[i].want);
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++)
        check(out, tn_java_text_timestamp(stamps[i].value, out), stamps[i].want);
}
