/* Floating point numbers from decimal text.
 * The first 19 digits are a 64-bit integer w; w * 10^k is bounded from both sides in 192 bits with
 * the rounded-up powers of ten of digits_power.c. Where both bounds round to the same double that
 * is the answer; else (ties, subnormals, the edge of the range) strtod decides in the C locale. I1:
 * the result is the double (float, half) nearest to the text, ties to even. I2: a text that is
 * longer than TN_REAL_BYTES_MAX is never copied. */
#define _GNU_SOURCE /* strtod_l */
#include "batch/real.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/digits.h"
#include "batch/number.h"

#define DIGITS_MAX   19 /* that fit a 64-bit integer whatever they are */
#define EXPONENT_MAX 100000

/* The table of digits_power.c: its range, and the powers that are exact in 128 bits. */
#define POWER_MIN       (-292)
#define POWER_MAX       324
#define POWER_EXACT_MAX 55

typedef struct real {
    bool negative, special;
    bool more;     /* digits that are not zero follow the first 19 */
    uint64_t w;    /* special: 0 is infinity, 1 is NaN */
    int64_t power; /* value = w * 10^power */
} real;

static bool is_word(tn_str text, const char *lower)
{
    size_t i = 0;

    for (; i < text.len && lower[i] != '\0'; i++)
        if ((text.ptr[i] | 0x20) != lower[i])
            return false;
    return i == text.len && lower[i] == '\0';
}

static bool scan_word(tn_str text, real *out)
{
    out->special = true;
    out->w = is_word(text, "nan");
    return out->w != 0 || is_word(text, "inf") || is_word(text, "infinity");
}

/* The digits after "e"; *at ends behind them. */
static bool scan_exponent(tn_str text, size_t *at, int64_t *power)
{
    int64_t value = 0;
    bool negative = false;
    size_t first;

    if (*at < text.len && (text.ptr[*at] == '-' || text.ptr[*at] == '+'))
        negative = text.ptr[(*at)++] == '-';
    for (first = *at; *at < text.len; ++*at) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[*at] - '0';

        if (digit > 9)
            break;
        if (value < EXPONENT_MAX)
            value = value * 10 + digit;
    }
    *power += negative ? -value : value;
    return *at > first;
}

/* Digits beyond the nineteenth: they count, and say whether they are all zero. */
static size_t skip_digits(tn_str text, size_t at, real *n, bool point)
{
    for (; at < text.len; at++) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[at] - '0';

        if (digit > 9)
            break;
        n->more |= digit != 0;
        n->power += !point;
    }
    return at;
}

/* A run of digits into n->w. */
static size_t take_digits(tn_str text, size_t at, real *n, int *significant, bool point)
{
    for (; at < text.len && *significant < DIGITS_MAX; at++) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[at] - '0';

        if (digit > 9)
            return at;
        n->w = n->w * 10 + digit;
        *significant += n->w != 0;
        n->power -= point;
    }
    return skip_digits(text, at, n, point);
}

static bool scan(tn_str text, real *out)
{
    real n = {0};
    size_t at = 0, first, digits;
    int significant = 0;

    if (text.len == 0 || text.len > TN_REAL_BYTES_MAX)
        return false;
    if (text.ptr[0] == '-' || text.ptr[0] == '+')
        n.negative = text.ptr[at++] == '-';
    first = at;
    at = take_digits(text, at, &n, &significant, false);
    digits = at - first;
    if (at < text.len && text.ptr[at] == '.') {
        first = ++at;
        at = take_digits(text, at, &n, &significant, true);
        digits += at - first;
    }
    if (digits == 0) {
        *out = n;
        return scan_word(tn_str_from(text, first), out);
    }
    if (at < text.len && (text.ptr[at] | 0x20) == 'e') {
        at++;
        if (!scan_exponent(text, &at, &n.power))
            return false;
    }
    *out = n;
    return at == text.len;
}

typedef struct words {
    uint64_t high, middle, low;
} words;

static words multiply(uint64_t w, const uint64_t g[2])
{
    unsigned __int128 low = (unsigned __int128)w * g[1];
    unsigned __int128 high = (unsigned __int128)w * g[0] + (uint64_t)(low >> 64);

    return (words){(uint64_t)(high >> 64), (uint64_t)high, (uint64_t)low};
}

static words subtract(words from, uint64_t w)
{
    uint64_t borrow = from.low < w;

    from.low -= w;
    from.high -= from.middle < borrow;
    from.middle -= borrow;
    return from;
}

/* The nearest double's bits of a product, whose highest bit stands for 2^top. 0: not a normal
 * double. */
static uint64_t round_bits(words product, int32_t top)
{
    int unused = 10 + (int)(product.high >> 63);
    uint64_t bits = product.high >> unused, rest = product.high << (64 - unused);
    bool sticky = (product.middle | product.low) != 0;
    int32_t biased = top - 1 + (int32_t)(product.high >> 63) + 1023;

    if (biased < 1 || biased > 2045)
        return 0;
    bits += rest > 1ull << 63 || (rest == 1ull << 63 && (sticky || (bits & 1) != 0));
    /* A carry out of the fraction is a carry into the exponent, as it should be. */
    return ((uint64_t)(biased - 1) << 52) + bits;
}

/* Both bounds of w * 10^power; false where they differ. */
static bool fast_double(const real *n, double *out)
{
    const uint64_t *g;
    uint64_t w = n->w, upper_bits, lower_bits;
    words upper, lower;
    int32_t top;
    int shift;

    if (n->power < POWER_MIN || n->power > POWER_MAX || w == 0)
        return false;
    g = tn_digits_power[n->power - POWER_MIN];
    shift = __builtin_clzll(w);
    /* g * 2^-127 is 10^power * 2^-floor(log2(10^power)), in [1, 2). */
    top = (int32_t)((n->power * 1741647) >> 19) + 64 - shift;
    lower = upper = multiply(w << shift, g);
    if (n->power < 0 || n->power > POWER_EXACT_MAX)
        lower = subtract(upper, w << shift);
    if (n->more) {
        /* The true w lies between w and w + 1. */
        if (__builtin_clzll(w + 1) != shift)
            return false;
        upper = multiply((w + 1) << shift, g);
    }
    upper_bits = round_bits(upper, top);
    lower_bits = round_bits(lower, top);
    if (upper_bits != lower_bits || upper_bits == 0)
        return false;
    upper_bits |= (uint64_t)n->negative << 63;
    memcpy(out, &upper_bits, sizeof *out);
    return true;
}

static double special_value(const real *n)
{
    double value = n->w != 0 ? (double)NAN : (double)INFINITY;

    return n->negative ? -value : value;
}

/* What strtod says in the C locale; `single`: strtof. */
static double slow_double(tn_str text, bool single)
{
    char plain[TN_REAL_BYTES_MAX + 1];
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value;

    memcpy(plain, text.ptr, text.len);
    plain[text.len] = '\0';
    /* The locale "C" is static in every C library: this cannot fail but for memory. */
    if (c == (locale_t)0)
        return (double)NAN;
    value = single ? (double)strtof_l(plain, NULL, c) : strtod_l(plain, NULL, c);
    freelocale(c);
    return value;
}

static bool double_of(tn_str text, const real *n, double *out)
{
    double value;

    if (n->special)
        value = special_value(n);
    else if (n->w == 0 && !n->more)
        value = n->negative ? -0.0 : 0.0;
    else if (!fast_double(n, &value))
        value = slow_double(text, false);
    if (!n->special && !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool tn_real_double(tn_str text, double *out)
{
    real n;

    return scan(text, &n) && double_of(text, &n, out);
}

bool tn_real_float(tn_str text, float *out)
{
    double value;
    uint64_t bits;
    float result;
    real n;

    if (!scan(text, &n) || !double_of(text, &n, &value))
        return false;
    memcpy(&bits, &value, sizeof bits);
    /* Rounding twice is wrong only where the double lies on the middle between two floats, which
     * has one bit more than a float, and among the subnormals. */
    if ((bits << 35) == 1ull << 63 || (fabs(value) < 0x1p-126 && value != 0))
        value = slow_double(text, true);
    /* What would be rounded to 2^128 has no float. */
    if (isfinite(value) && fabs(value) >= 0x1.ffffffp127)
        return false;
    result = (float)value;
    if (isinf(result) && !n.special)
        return false;
    *out = result;
    return true;
}

/* -1, 0 or 1: the text's size against that of a double whose size is less than 2^17 and a multiple
 * of 2^-25. */
static int compare_size(tn_str text, double size)
{
    static const uint64_t five25 = 298023223876953125u;
    unsigned __int128 scaled = (unsigned __int128)(uint64_t)ldexp(size, 25) * five25;
    tn_int256 limit = {{(uint64_t)scaled, (uint64_t)(scaled >> 64), 0, 0}}, value;
    int beyond, order;
    bool exact;

    if (text.ptr[0] == '-' || text.ptr[0] == '+')
        text = tn_str_from(text, 1);
    if (!tn_number_floor(text, 25, &value, &exact, &beyond) || beyond != 0)
        return 1;
    order = tn_int256_compare(&value, &limit);
    return order == 0 && !exact ? 1 : order;
}

/* The half nearest to a size below 65,520: its neighbours are a multiple of the unit apart. */
static uint16_t half_of_size(tn_str text, double size)
{
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    double unit = ldexp(1, exponent - 10), steps = floor(size / unit), rest = size / unit - steps;
    uint16_t bits = (uint16_t)(((exponent + 14) << 10) + (int)steps);
    int side = rest > 0.5 ? 1 : rest < 0.5 ? -1 : compare_size(text, size);

    /* Normal halves have the implied bit in `steps`, which is one step of the exponent. */
    return (uint16_t)(bits + (side > 0 || (side == 0 && (bits & 1) != 0)));
}

bool tn_real_half(tn_str text, uint16_t *out)
{
    double value, size;
    uint16_t bits;
    real n;

    if (!scan(text, &n) || !double_of(text, &n, &value))
        return false;
    size = fabs(value);
    if (isnan(value))
        bits = 0x7E00;
    else if (isinf(value))
        bits = 0x7C00;
    else if (size > 65520)
        return false;
    else
        bits = half_of_size(text, size);
    if (!n.special && bits >= 0x7C00)
        return false;
    *out = (uint16_t)(bits | (signbit(value) ? 0x8000 : 0));
    return true;
}
