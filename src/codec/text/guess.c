/* Types that a sample of texts shows.
 * I1: a type is given only when every value seen reads back as the same value: integers stay
 *     integers, numbers of more digits than a double keeps stay text, as do digits with leading
 *     zeros.
 * I2: the answer depends on the set of values, not on their order. */
#include <string.h>

#include "batch/moment.h"
#include "batch/real.h"
#include "codec/text/build_value.h"
#include "codec/text/text_read.h"

/* Any double of fewer digits reads back as written; writers print up to 17. */
#define INTEGER_DIGITS_EXACT 15
#define DOUBLE_DIGITS_MAX    17

enum seen {
    SEEN_TEXT = 1,
    SEEN_BOOL = 2,
    SEEN_INTEGER = 4,
    SEEN_NUMBER = 8,
    SEEN_DATE = 16,
    SEEN_LOCAL = 32, /* a time without a zone */
    SEEN_ZONED = 64,
    SEEN_WORD = 256, /* NaN, Infinity: a number where there are others */
    SEEN_FAR = 128,  /* a time beyond 64-bit nanoseconds */
    SEEN_WIDE = 512  /* an integer beyond 32 bits */
};

#define SEEN_TIMES (SEEN_DATE | SEEN_LOCAL | SEEN_ZONED | SEEN_FAR)

static bool is_word(tn_str text, const char *lower)
{
    if (text.len != strlen(lower))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] | 0x20) != lower[i])
            return false;
    return true;
}

static bool digit_at(tn_str text, size_t at)
{
    return at < text.len && (unsigned)(uint8_t)text.ptr[at] - '0' <= 9;
}

/* Digits from *at on; those before the first that is not zero are not significant. */
static size_t count_digits(tn_str text, size_t *at, uint32_t *significant)
{
    size_t first = *at;

    for (; digit_at(text, *at); ++*at)
        *significant += *significant != 0 || text.ptr[*at] != '0';
    return *at - first;
}

/* SEEN_INTEGER, with SEEN_WIDE or not; SEEN_TEXT: beyond 64 bits. */
static uint32_t see_integer(tn_str text)
{
    tn_format int64 = {.kind = TN_FORMAT_INT64, .width = 8};
    int64_t value;

    if (tn_value_parse(&int64, text, &value) != TN_VALUE_FITS)
        return SEEN_TEXT;
    return value < INT32_MIN || value > INT32_MAX ? SEEN_INTEGER | SEEN_WIDE : SEEN_INTEGER;
}

/* NaN, inf, Infinity, with or without a minus. */
static bool is_special(tn_str text)
{
    if (text.ptr[0] == '-')
        text = tn_str_from(text, 1);
    return is_word(text, "nan") || is_word(text, "inf") || is_word(text, "infinity");
}

/* SEEN_INTEGER (and SEEN_WIDE), SEEN_NUMBER, or SEEN_TEXT. */
static uint32_t see_number(tn_str text, uint32_t *digits_max)
{
    size_t at = text.ptr[0] == '-', whole, fraction = 0;
    bool zero_first, exponent = false;
    uint32_t significant = 0;
    double value;

    zero_first = at < text.len && text.ptr[at] == '0';
    whole = count_digits(text, &at, &significant);
    if (zero_first && whole > 1)
        return SEEN_TEXT;
    if (at == text.len && whole > 0 && !(text.ptr[0] == '-' && significant == 0)) {
        *digits_max = significant > *digits_max ? significant : *digits_max;
        return see_integer(text);
    }
    if (at < text.len && text.ptr[at] == '.') {
        at++;
        fraction = count_digits(text, &at, &significant);
    }
    if (whole + fraction == 0 || significant > DOUBLE_DIGITS_MAX)
        return SEEN_TEXT;
    if (at < text.len && (text.ptr[at] | 0x20) == 'e') {
        at++;
        at += at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+');
        exponent = true;
        if (!digit_at(text, at))
            return SEEN_TEXT;
        while (digit_at(text, at))
            at++;
    }
    if (at != text.len)
        return SEEN_TEXT;
    /* Exponents may leave what a double holds, on either side. */
    if (exponent && (!tn_real_double(text, &value) || (value == 0 && significant != 0)))
        return SEEN_TEXT;
    return SEEN_NUMBER;
}

static uint32_t fraction_digits(tn_str text)
{
    size_t at = tn_str_find(text, '.') + 1;
    uint32_t digits = 0;

    for (; digit_at(text, at); at++)
        digits++;
    return digits;
}

/* The types that the guess may lead to hold what is seen here. */
static uint32_t see_moment(tn_str text, uint32_t *fraction_max)
{
    static const int64_t near = INT64_MAX / 1000000000 - 1, far = INT64_MAX / 1000000 - 1;
    tn_moment moment;
    uint32_t seen, digits;

    if (!tn_moment_parse(text, &moment))
        return SEEN_TEXT;
    if (moment.seconds > far || moment.seconds < -far)
        return SEEN_TEXT;
    seen = !moment.has_time ? SEEN_DATE : moment.has_zone ? SEEN_ZONED : SEEN_LOCAL;
    if (moment.seconds > near || moment.seconds < -near)
        seen |= SEEN_FAR;
    if (moment.has_time) {
        digits = fraction_digits(text);
        *fraction_max = digits > *fraction_max ? digits : *fraction_max;
    }
    /* Days are 32 bits wide. */
    if (moment.seconds / 86400 > INT32_MAX || moment.seconds / 86400 < INT32_MIN)
        return SEEN_TEXT;
    return seen;
}

static uint32_t see(tn_text_guess *guess, tn_str text)
{
    char first = text.ptr[0];
    char last = text.ptr[text.len - 1];

    /* Numbers, dates and words begin and end so; most text does not. */
    if (digit_at(text, 0) || first == '-' || first == '.' || first == '+') {
        uint32_t seen = see_number(text, &guess->digits_max);

        if (seen == SEEN_TEXT && text.len >= 10 && first != '.')
            seen = see_moment(text, &guess->fraction_max);
        return seen == SEEN_TEXT && first == '-' && is_special(text) ? SEEN_WORD : seen;
    }
    if ((last | 0x20) == 'e' && (is_word(text, "true") || is_word(text, "false")))
        return SEEN_BOOL;
    return is_special(text) ? SEEN_WORD : SEEN_TEXT;
}

void tn_text_guess_add(tn_text_guess *guess, tn_str text)
{
    if (text.len == 0 || (guess->seen & SEEN_TEXT) != 0)
        return;
    text = tn_value_trim(text);
    guess->seen |= text.len == 0 ? (uint32_t)SEEN_TEXT : see(guess, text);
}

static const char *time_format(const tn_text_guess *guess)
{
    bool zoned = (guess->seen & SEEN_ZONED) != 0;

    if ((guess->seen & (SEEN_LOCAL | SEEN_ZONED)) == 0)
        return "tdD";
    if (zoned && (guess->seen & SEEN_LOCAL) != 0)
        return "u";
    if (guess->fraction_max <= 6)
        return zoned ? "tsu:UTC" : "tsu:";
    if ((guess->seen & SEEN_FAR) != 0)
        return "u";
    return zoned ? "tsn:UTC" : "tsn:";
}

const char *tn_text_guess_format(const tn_text_guess *guess)
{
    uint32_t seen = guess->seen & ~(uint32_t)SEEN_WIDE;

    if (seen == SEEN_BOOL)
        return "b";
    if (seen == SEEN_INTEGER)
        return "l";
    if ((seen & ~(uint32_t)(SEEN_INTEGER | SEEN_NUMBER | SEEN_WORD)) == 0 &&
        (seen & (SEEN_INTEGER | SEEN_NUMBER)) != 0 &&
        ((seen & SEEN_INTEGER) == 0 || guess->digits_max <= INTEGER_DIGITS_EXACT))
        return "g";
    if (seen != 0 && (seen & ~(uint32_t)SEEN_TIMES) == 0)
        return time_format(guess);
    return "u";
}

bool tn_text_guess_small(const tn_text_guess *guess)
{
    return guess->seen == SEEN_INTEGER;
}
