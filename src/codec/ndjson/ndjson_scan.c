/* The tokens of JSON (RFC 8259).
 *     "K\u00f6ln \ud83d\ude00"    text: escapes; a surrogate only as half of a pair
 *     -12.5e3                     no leading zeros, no "+", digits on both sides of a point
 * I1: nothing that is not JSON passes: no NaN, no comments, no single quotes, no trailing commas.
 * I2: nothing at or beyond `end` is read, and nesting meets TN_JSON_DEPTH_MAX. */
#include "codec/ndjson/ndjson_scan.h"

#include <assert.h>

#define ONES  0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

static bool fail(tn_ndjson_scan *scan, const uint8_t *at, const char *why)
{
    scan->at = at < scan->end ? at : scan->end;
    scan->why = why;
    return false;
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits at `at`, or -1. */
static int32_t hex4(const uint8_t *at, const uint8_t *end)
{
    int32_t value = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* The bytes of the escape at the backslash `at`: 0 and `why` where it is none. */
static size_t escape_length(tn_ndjson_scan *scan, const uint8_t *at)
{
    int32_t high, low;

    if (scan->end - at < 2 || at[1] == 0 || strchr("\"\\/bfnrtu", at[1]) == NULL)
        return fail(scan, at, "no such escape in text");
    if (at[1] != 'u')
        return 2;
    high = hex4(at + 2, scan->end);
    if (high < 0)
        return fail(scan, at, "\\u wants four hexadecimal digits");
    if (high < 0xD800 || high > 0xDFFF)
        return 6;
    low = scan->end - at >= 8 && at[6] == '\\' && at[7] == 'u' ? hex4(at + 8, scan->end) : -1;
    if (high > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
        return fail(scan, at, "half of a surrogate pair stands alone");
    return 12;
}

/* The first byte from `at` on that does not stand for itself in text; *high: bytes above 0x7F. */
static const uint8_t *plain_end(const uint8_t *at, const uint8_t *end, uint64_t *high)
{
    for (; end - at >= 8; at += 8) {
        uint64_t w, quote, slash, hit;

        memcpy(&w, at, 8);
        quote = w ^ (ONES * '"');
        slash = w ^ (ONES * '\\');
        hit = (((quote - ONES) & ~quote) | ((slash - ONES) & ~slash) | ((w - ONES * 0x20) & ~w)) &
              HIGHS;
        /* What follows a hit in these bytes may be counted as text: then it is checked in vain. */
        *high |= w & HIGHS;
        if (hit != 0)
            return at + (__builtin_ctzll(hit) >> 3);
    }
    for (; at < end && *at >= 0x20 && *at != '"' && *at != '\\'; at++)
        *high |= *at & 0x80;
    return at;
}

bool tn_ndjson_scan_string(tn_ndjson_scan *scan, tn_str *raw, bool *escaped)
{
    const uint8_t *start = scan->at + 1, *at = start;
    uint64_t high = 0;

    assert(tn_ndjson_scan_peek(scan) == '"');
    *escaped = false;
    for (;;) {
        size_t n;

        at = plain_end(at, scan->end, &high);
        if (at >= scan->end)
            return fail(scan, scan->at, "text without its closing quote");
        if (*at == '"')
            break;
        if (*at != '\\')
            return fail(scan, at, "a control character in text must be written as an escape");
        n = escape_length(scan, at);
        if (n == 0)
            return false;
        *escaped = true;
        at += n;
    }
    *raw = (tn_str){(const char *)start, (size_t)(at - start)};
    if (high != 0 && !tn_str_utf8(*raw))
        return fail(scan, scan->at, "text is not UTF-8");
    scan->at = at + 1;
    return true;
}

static void put_utf8(tn_buf *out, int32_t c)
{
    if (c < 0x80) {
        tn_buf_u8(out, (uint8_t)c);
    } else if (c < 0x800) {
        tn_buf_u8(out, (uint8_t)(0xC0 | c >> 6));
        tn_buf_u8(out, (uint8_t)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        tn_buf_u8(out, (uint8_t)(0xE0 | c >> 12));
        tn_buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3F)));
        tn_buf_u8(out, (uint8_t)(0x80 | (c & 0x3F)));
    } else {
        tn_buf_u8(out, (uint8_t)(0xF0 | c >> 18));
        tn_buf_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3F)));
        tn_buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3F)));
        tn_buf_u8(out, (uint8_t)(0x80 | (c & 0x3F)));
    }
}

/* Appends the escape at `at`, which has been checked; gives its bytes. */
static size_t put_escape(const uint8_t *at, const uint8_t *end, tn_buf *out)
{
    static const char letters[] = "bfnrt", values[] = "\b\f\n\r\t";
    const char *letter = strchr(letters, at[1]);
    int32_t c;

    if (at[1] != 'u') {
        tn_buf_u8(out, letter != NULL ? (uint8_t)values[letter - letters] : at[1]);
        return 2;
    }
    c = hex4(at + 2, end);
    if (c < 0xD800 || c > 0xDFFF) {
        put_utf8(out, c);
        return 6;
    }
    put_utf8(out, 0x10000 + ((c - 0xD800) << 10) + (hex4(at + 8, end) - 0xDC00));
    return 12;
}

void tn_ndjson_scan_unescape(tn_str raw, tn_buf *out)
{
    const uint8_t *at = (const uint8_t *)raw.ptr, *end = at + raw.len;

    while (at < end) {
        const uint8_t *slash = memchr(at, '\\', (size_t)(end - at));

        if (slash == NULL)
            slash = end;
        tn_buf_add(out, at, (size_t)(slash - at));
        at = slash < end ? slash + put_escape(slash, end, out) : end;
    }
}

static const uint8_t *digits_end(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

bool tn_ndjson_scan_number(tn_ndjson_scan *scan, tn_str *text)
{
    const uint8_t *start = scan->at, *end = scan->end;
    const uint8_t *first = start + (start < end && *start == '-');
    const uint8_t *at = digits_end(first, end), *more;

    if (at == first)
        return fail(scan, start, "no JSON value");
    if (*first == '0' && at - first > 1)
        return fail(scan, start, "a number with leading zeros");
    if (at < end && *at == '.') {
        more = digits_end(at + 1, end);
        if (more == at + 1)
            return fail(scan, start, "a number that ends in its point");
        at = more;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const uint8_t *exponent = at + 1;

        exponent += exponent < end && (*exponent == '+' || *exponent == '-');
        at = digits_end(exponent, end);
        if (at == exponent)
            return fail(scan, start, "a number without digits in its exponent");
    }
    *text = (tn_str){(const char *)start, (size_t)(at - start)};
    scan->at = at;
    return true;
}

bool tn_ndjson_scan_word(tn_ndjson_scan *scan)
{
    tn_str left = {(const char *)scan->at, (size_t)(scan->end - scan->at)};

    if (tn_str_starts(left, TN_STR("true")) || tn_str_starts(left, TN_STR("null")))
        scan->at += 4;
    else if (tn_str_starts(left, TN_STR("false")))
        scan->at += 5;
    else
        return fail(scan, scan->at, "no JSON value");
    return true;
}

bool tn_ndjson_scan_key(tn_ndjson_scan *scan, tn_str *raw, bool *escaped)
{
    tn_ndjson_scan_space(scan);
    if (tn_ndjson_scan_peek(scan) != '"')
        return fail(scan, scan->at, "expected a key in double quotes");
    if (!tn_ndjson_scan_string(scan, raw, escaped))
        return false;
    tn_ndjson_scan_space(scan);
    if (tn_ndjson_scan_peek(scan) != ':')
        return fail(scan, scan->at, "expected \":\" after a key");
    scan->at++;
    tn_ndjson_scan_space(scan);
    return true;
}

bool tn_ndjson_scan_first(tn_ndjson_scan *scan, uint8_t close)
{
    scan->at++;
    tn_ndjson_scan_space(scan);
    if (tn_ndjson_scan_peek(scan) != close)
        return true;
    scan->at++;
    return false;
}

bool tn_ndjson_scan_next(tn_ndjson_scan *scan, uint8_t close, bool *more)
{
    uint8_t c;

    tn_ndjson_scan_space(scan);
    c = tn_ndjson_scan_peek(scan);
    if (c != ',' && c != close)
        return fail(scan, scan->at,
                    scan->at == scan->end ? "the record ends in the middle of a value"
                    : close == '}'        ? "expected \",\" or \"}\""
                                          : "expected \",\" or \"]\"");
    scan->at++;
    *more = c == ',';
    if (*more)
        tn_ndjson_scan_space(scan);
    return true;
}

static bool scan_nested(tn_ndjson_scan *scan, uint8_t close, int depth)
{
    bool more = true, escaped;
    tn_str part;

    if (depth >= TN_JSON_DEPTH_MAX)
        return fail(scan, scan->at, "nested deeper than 64 levels");
    if (!tn_ndjson_scan_first(scan, close))
        return true;
    while (more)
        if ((close == '}' && !tn_ndjson_scan_key(scan, &part, &escaped)) ||
            !tn_ndjson_scan_value(scan, depth + 1, &part) ||
            !tn_ndjson_scan_next(scan, close, &more))
            return false;
    return true;
}

bool tn_ndjson_scan_value(tn_ndjson_scan *scan, int depth, tn_str *text)
{
    const uint8_t *start = scan->at;
    bool escaped, good;
    tn_str part;

    switch (tn_ndjson_scan_peek(scan)) {
    case '"':
        good = tn_ndjson_scan_string(scan, &part, &escaped);
        break;
    case '{':
        good = scan_nested(scan, '}', depth);
        break;
    case '[':
        good = scan_nested(scan, ']', depth);
        break;
    case 't':
    case 'f':
    case 'n':
        good = tn_ndjson_scan_word(scan);
        break;
    default:
        good = tn_ndjson_scan_number(scan, &part);
    }
    *text = (tn_str){(const char *)start, (size_t)(scan->at - start)};
    return good;
}
