/* Decimal text to floating point numbers: against strtod and at the hard places. */
#include "batch/real.h"

#include <math.h>

#include "batch/rows.h"
#include "unit/test.h"

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void check(const char *text)
{
    double want = strtod(text, NULL), got = -1;
    float want_single = strtof(text, NULL), got_single = -1;
    bool ok = tn_real_double(tn_str_of(text), &got);

    if (ok != isfinite(want) || (ok && memcmp(&want, &got, sizeof got) != 0))
        fail_msg("\"%s\": %d %a, want %a", text, ok, got, want);
    ok = tn_real_float(tn_str_of(text), &got_single);
    if (ok != isfinite(want_single) ||
        (ok && memcmp(&want_single, &got_single, sizeof got_single) != 0))
        fail_msg("\"%s\": %d %a, want %a", text, ok, (double)got_single, (double)want_single);
}

static void test_real__random(void **state)
{
    uint64_t seed = 88172645463325252u, bits;
    char text[80];
    double value;

    (void)state;
    for (int i = 0; i < 30000; i++) {
        bits = next(&seed);
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            snprintf(text, sizeof text, "%.*g", 1 + (int)(next(&seed) % 25), value);
            check(text);
            /* Halfway to the next double, to many digits. */
            snprintf(text, sizeof text, "%.45Le",
                     ((long double)value + (long double)nextafter(value, INFINITY)) / 2);
            check(text);
        }
        snprintf(text, sizeof text, "%llu.%llue%d",
                 (unsigned long long)(next(&seed) >> (next(&seed) & 63)),
                 (unsigned long long)(next(&seed) >> (next(&seed) & 63)),
                 (int)(next(&seed) % 700) - 350);
        check(text);
        snprintf(text, sizeof text, "-%llu.%02llu", (unsigned long long)(next(&seed) >> 44),
                 (unsigned long long)(next(&seed) % 100));
        check(text);
    }
}

static void test_real__hard(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "0e99999999999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999999999999",
        "4503599627370497.5",
        "4503599627370496.5",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "3.4028234663852886e38",
        "3.40282356779733661637539395458142568447e38",
        "3.40282356779733661637539395458142568448e38",
        "1.00000005960464477539062499999",
        "1.000000059604644775390625",
        "1.00000005960464477539062500001",
        "1.401298464324817e-45",
        "7.006492321624085e-46",
        "00000000000000000000000000000000000001.5",
        "0.00000000000000000000000000000000000001",
        "99999999999999999999999",
        "18446744073709551615",
        "10000000000000000000e-19",
        ".5",
        "5.",
        "+5e+0",
        "1e23",
        "8.5e22",
        "6.02214076e23",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check(texts[i]);
}

static void test_real__no_numbers(void **state)
{
    static const char *const texts[] = {"",   "-",   "+",     ".",       "e5",    "1e",   "1e+",
                                        "1 ", " 1",  "0x1",   "1,5",     "1.2.3", "nano", "in",
                                        "1f", "--1", "1e5.5", "infinit", "-+1"};
    char lots[TN_REAL_BYTES_MAX + 1];
    double value;
    float single;
    uint16_t half;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (tn_real_double(tn_str_of(texts[i]), &value) ||
            tn_real_float(tn_str_of(texts[i]), &single) || tn_real_half(tn_str_of(texts[i]), &half))
            fail_msg("\"%s\" was taken", texts[i]);
    }
    memset(lots, '1', sizeof lots);
    lots[1] = '.';
    assert_false(tn_real_double((tn_str){lots, sizeof lots}, &value));
    assert_true(tn_real_double((tn_str){lots, sizeof lots - 1}, &value));
    assert_true(tn_real_double(TN_STR("-Infinity"), &value) && isinf(value) && value < 0);
    assert_true(tn_real_float(TN_STR("NAN"), &single) && isnan(single));
}

static void test_real__halves(void **state)
{
    static const struct {
        const char *text;
        int bits; /* -1: none */
    } cases[] = {
        {"65504", 0x7BFF},
        {"65519.99999999999999999999999999", 0x7BFF},
        {"65520", -1},
        {"-Infinity", 0xFC00},
        {"1.00048828125", 0x3C00},
        {"1.00048828125000000000000000000001", 0x3C01},
        {"1.00146484375", 0x3C02},
        {"1.00146484374999999999999999999999", 0x3C01},
        {"2.98023223876953125e-8", 0},
        {"2.98023223876953125000000000001e-8", 1},
        {"6.103515625e-5", 0x0400},
        {"-0", 0x8000},
        {"6.0975552e-5", 0x03FF},
    };
    uint16_t bits;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool ok = tn_real_half(tn_str_of(cases[i].text), &bits);

        if (ok != (cases[i].bits >= 0) || (ok && bits != cases[i].bits))
            fail_msg("\"%s\": %d %04X", cases[i].text, ok, bits);
    }
    for (unsigned want = 0; want < 0x7C00; want++) {
        char text[40];

        snprintf(text, sizeof text, "%.17g", tn_half_get((uint16_t)want));
        assert_true(tn_real_half(tn_str_of(text), &bits));
        assert_int_equal(bits, want);
    }
}
