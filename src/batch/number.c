/* Exact decimal numbers.
 * I1: at most 77 digits are ever multiplied, so 256 bits never overflow unseen (10^76 < 2^255 <
 * 10^77; the last digit is checked). */
#include "batch/number.h"

#include <string.h>

#define DIGITS_MAX 76

static void multiply_add(tn_int256 *value, uint64_t factor, uint64_t add)
{
    unsigned __int128 carry = add;

    for (int i = 0; i < 4; i++) {
        carry += (unsigned __int128)value->limb[i] * factor;
        value->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

void tn_number_negate(tn_int256 *value)
{
    unsigned __int128 carry = 1;

    for (int i = 0; i < 4; i++) {
        carry += (uint64_t)~value->limb[i];
        value->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* Sign, digits and the power of ten of the last digit. */
typedef struct number {
    bool negative;
    tn_str digits; /* as written, one point possible */
    int64_t exponent;
} number;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool parse_exponent(tn_str text, size_t at, int64_t *out)
{
    bool negative = at < text.len && text.ptr[at] == '-';
    int64_t value = 0;

    if (at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+'))
        at++;
    if (at >= text.len)
        return false;
    for (; at < text.len; at++) {
        if (!is_digit(text.ptr[at]))
            return false;
        if (value < 1000000)
            value = value * 10 + (text.ptr[at] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static bool parse(tn_str text, number *out)
{
    size_t at = 0, first, digits = 0;
    int64_t fraction = 0, exponent = 0;
    bool point = false;

    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+'))
        at++;
    for (first = at; at < text.len && (is_digit(text.ptr[at]) || (text.ptr[at] == '.' && !point));
         at++) {
        if (text.ptr[at] == '.') {
            point = true;
        } else {
            digits++;
            fraction += point;
        }
    }
    if (digits == 0)
        return false;
    *out = (number){.negative = text.ptr[0] == '-', .digits = {text.ptr + first, at - first}};
    if (at < text.len) {
        if ((text.ptr[at] != 'e' && text.ptr[at] != 'E') ||
            !parse_exponent(text, at + 1, &exponent))
            return false;
    }
    out->exponent = exponent - fraction;
    return true;
}

bool tn_number_floor(tn_str text, int32_t scale, tn_int256 *out, bool *exact, int *beyond)
{
    number n;
    int64_t keep, significant = 0, total = 0;
    tn_int256 value = {0};
    bool rest = false, any = false;

    if (!parse(text, &n))
        return false;
    for (size_t i = 0; i < n.digits.len; i++)
        total += n.digits.ptr[i] != '.';
    keep = total + n.exponent + scale; /* digits that stay left of the point once scaled */
    for (size_t i = 0; i < n.digits.len; i++) {
        char c = n.digits.ptr[i];

        if (c == '.')
            continue;
        any |= c != '0';
        if (keep-- > 0) {
            significant += any;
            if (significant <= DIGITS_MAX)
                multiply_add(&value, 10, (uint64_t)(c - '0'));
        } else {
            rest |= c != '0';
        }
    }
    for (; any && keep > 0 && significant <= DIGITS_MAX; keep--, significant++)
        multiply_add(&value, 10, 0);
    *beyond = significant > DIGITS_MAX ? (n.negative ? -1 : 1) : 0;
    *exact = !rest;
    if (n.negative) {
        if (rest)
            multiply_add(&value, 1, 1);
        tn_number_negate(&value);
    }
    *out = value;
    return true;
}

uint32_t tn_number_divide10(tn_int256 *value)
{
    unsigned __int128 rest = 0;

    for (int i = 3; i >= 0; i--) {
        rest = rest << 64 | value->limb[i];
        value->limb[i] = (uint64_t)(rest / 10);
        rest %= 10;
    }
    return (uint32_t)rest;
}

static bool is_zero(const tn_int256 *value)
{
    return (value->limb[0] | value->limb[1] | value->limb[2] | value->limb[3]) == 0;
}

size_t tn_number_write(const tn_int256 *value, int32_t scale, char *out)
{
    tn_int256 left = *value;
    bool negative = (int64_t)left.limb[3] < 0;
    char digits[200];
    size_t n = 0, len = 0;

    if (negative)
        tn_number_negate(&left);
    for (int32_t i = 0; i > scale && !is_zero(&left); i--)
        digits[n++] = '0';
    while (!is_zero(&left) || (int32_t)n < scale + 1 || n == 0)
        digits[n++] = (char)('0' + tn_number_divide10(&left));
    if (negative)
        out[len++] = '-';
    while (n > 0) {
        out[len++] = digits[--n];
        if (n > 0 && (int32_t)n == scale)
            out[len++] = '.';
    }
    return len;
}
