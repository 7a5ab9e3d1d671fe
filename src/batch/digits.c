/* Integers and floating point numbers as digits.
 * Shortest digits by the method of R. Giulietti ("The Schubfach way to render doubles", 2020): the
 * value and the two bounds of the interval that rounds to it are scaled by a power of ten in 128
 * bits, rounded to odd; at most one multiple of ten lies inside, else the nearer integer is taken.
 * I1: the result lies in the rounding interval, is of least length, and of those the closest. */
#include "batch/digits.h"

#include <assert.h>
#include <string.h>

static const char pairs[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233"
    "34353637383940414243444546474849505152535455565758596061626364656667"
    "6869707172737475767778798081828384858687888990919293949596979899";

/* Writes the digits so that they end at `end`; gives the first. */
static char *digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, pairs + value * 2, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

size_t tn_digits_u64(char *out, uint64_t value)
{
    char text[20];
    char *first = digits_before(text + sizeof text, value);
    size_t len = (size_t)(text + sizeof text - first);

    memcpy(out, first, len);
    return len;
}

size_t tn_digits_i64(char *out, int64_t value)
{
    if (value >= 0)
        return tn_digits_u64(out, (uint64_t)value);
    *out = '-';
    return 1 + tn_digits_u64(out + 1, 0 - (uint64_t)value);
}

static inline int32_t floor_log10_pow2(int32_t e)
{
    return (e * 1262611) >> 22;
}

static inline int32_t floor_log10_three_quarters_pow2(int32_t e)
{
    return (e * 1262611 - 524031) >> 22;
}

static inline int32_t floor_log2_pow10(int32_t e)
{
    return (e * 1741647) >> 19;
}

/* The high word of g * c, its last bit set when anything below was not zero. */
static inline uint64_t round_to_odd(const uint64_t g[2], uint64_t c)
{
    unsigned __int128 low = (unsigned __int128)g[1] * c;
    unsigned __int128 high = (unsigned __int128)g[0] * c + (uint64_t)(low >> 64);

    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

typedef struct shortest {
    uint64_t digits;
    int32_t exponent; /* value = digits * 10^exponent */
} shortest;

/* For c * 2^q; `narrow`: the lower neighbour is only half as far. */
static shortest shortest_of(uint64_t c, int32_t q, int narrow)
{
    uint64_t odd = c & 1;
    int32_t k = narrow ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    int32_t h = q + floor_log2_pow10(-k) + 1;
    const uint64_t *g = tn_digits_power[-k + 292];
    uint64_t lower = round_to_odd(g, (4 * c - 2 + (uint64_t)narrow) << h) + odd;
    uint64_t value = round_to_odd(g, (4 * c) << h);
    uint64_t upper = round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = value / 4;

    if (s >= 10) {
        uint64_t tens = s / 10;
        int below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;

        if (below != above)
            return (shortest){tens + (uint64_t)above, k + 1};
    }
    {
        int below = lower <= 4 * s, above = 4 * s + 4 <= upper;
        uint64_t middle = 4 * s + 2;

        if (below != above)
            return (shortest){s + (uint64_t)above, k};
        return (shortest){s + (value > middle || (value == middle && (s & 1) != 0)), k};
    }
}

/* Lays out digits and exponent as text; zeros at the end of the digits are dropped first. */
static size_t lay_out(char *out, shortest d)
{
    char text[20];
    char *first;
    int32_t len, point;
    char *to = out;

    while (d.digits % 10 == 0 && d.digits != 0) {
        d.digits /= 10;
        d.exponent++;
    }
    first = digits_before(text + sizeof text, d.digits);
    len = (int32_t)(text + sizeof text - first);
    point = len + d.exponent; /* digits before the point */
    if (point > 16 || point < -3) {
        *to++ = *first;
        if (len > 1) {
            *to++ = '.';
            memcpy(to, first + 1, (size_t)len - 1);
            to += len - 1;
        }
        *to++ = 'e';
        return (size_t)(to - out) + tn_digits_i64(to, point - 1);
    }
    if (point <= 0) {
        memcpy(to, "0.0000", 6);
        to += 2 - point;
        memcpy(to, first, (size_t)len);
        return (size_t)(to - out) + (size_t)len;
    }
    if (point >= len) {
        memcpy(to, first, (size_t)len);
        memset(to + len, '0', (size_t)(point - len));
        memcpy(to + point, ".0", 2);
        return (size_t)(to - out) + (size_t)point + 2;
    }
    memcpy(to, first, (size_t)point);
    to[point] = '.';
    memcpy(to + point + 1, first + point, (size_t)(len - point));
    return (size_t)(to - out) + (size_t)len + 1;
}

static size_t write_zero(char *out)
{
    memcpy(out, "0.0", 3);
    return 3;
}

size_t tn_digits_double(char *out, double value)
{
    uint64_t bits, fraction;
    int32_t exponent;
    size_t sign;

    memcpy(&bits, &value, 8);
    fraction = bits & ((1ull << 52) - 1);
    exponent = (int32_t)(bits >> 52 & 2047);
    sign = bits >> 63;
    assert(exponent != 2047);
    if (sign != 0)
        *out++ = '-';
    if (exponent == 0 && fraction == 0)
        return sign + write_zero(out);
    if (exponent == 0)
        return sign + lay_out(out, shortest_of(fraction, -1074, 0));
    return sign + lay_out(out, shortest_of(fraction | 1ull << 52, exponent - 1075,
                                           fraction == 0 && exponent > 1));
}

size_t tn_digits_float(char *out, float value)
{
    uint32_t bits, fraction;
    int32_t exponent;
    size_t sign;

    memcpy(&bits, &value, 4);
    fraction = bits & ((1u << 23) - 1);
    exponent = (int32_t)(bits >> 23 & 255);
    sign = bits >> 31;
    assert(exponent != 255);
    if (sign != 0)
        *out++ = '-';
    if (exponent == 0 && fraction == 0)
        return sign + write_zero(out);
    if (exponent == 0)
        return sign + lay_out(out, shortest_of(fraction, -149, 0));
    return sign + lay_out(out, shortest_of(fraction | 1u << 23, exponent - 150,
                                           fraction == 0 && exponent > 1));
}
