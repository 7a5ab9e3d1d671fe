/* A pull reader of JSON (RFC 8259).
 * I1: `at` never passes `end`, and every byte is looked at a bounded number of times.
 * I2: nesting is bounded by TN_JSON_DEPTH_MAX; skipping does not recurse.
 * I3: whole numbers are exact; fractions and exponents are skipped, never read as whole numbers. */
#include "base/json_read.h"

#include <stdarg.h>
#include <stdio.h>

tn_json_reader tn_json_reader_of(tn_str text, const char *name, tn_arena *arena)
{
    tn_json_reader r = {.start = text.ptr, .at = text.ptr, .name = name, .arena = arena};

    r.end = text.len != 0 ? text.ptr + text.len : text.ptr;
    return r;
}

int tn_json_read_fail(tarn_cx *cx, const tn_json_reader *r, const char *format, ...)
{
    char text[512];
    size_t line = 1, column = 1;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char *c = r->start; c < r->at; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    return tn_fail(cx, TARN_E_CORRUPT, "%s: line %zu, column %zu: %s", r->name, line, column, text);
}

static int unexpected(tarn_cx *cx, const tn_json_reader *r, const char *wanted)
{
    if (r->at == r->end)
        return tn_json_read_fail(cx, r, "not JSON: it ends where %s should be", wanted);
    return tn_json_read_fail(cx, r, "%s should be here", wanted);
}

char tn_json_read_peek(tn_json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

int tn_json_read_open(tarn_cx *cx, tn_json_reader *r, char bracket)
{
    if (tn_json_read_peek(r) != bracket)
        return unexpected(cx, r, bracket == '{' ? "an object" : "an array");
    if (r->depth >= TN_JSON_DEPTH_MAX)
        return tn_json_read_fail(cx, r, "nested more than %d levels deep", TN_JSON_DEPTH_MAX);
    r->at++;
    r->depth++;
    r->first = true;
    return TARN_OK;
}

/* Steps over the comma before the next item, or over the closing bracket. */
static int next(tarn_cx *cx, tn_json_reader *r, char bracket, bool *more)
{
    char c = tn_json_read_peek(r);

    if (c == bracket) {
        r->at++;
        r->depth--;
        r->first = false;
        *more = false;
        return TARN_OK;
    }
    if (!r->first) {
        if (c != ',')
            return unexpected(cx, r, bracket == '}' ? "a comma or }" : "a comma or ]");
        r->at++;
        c = tn_json_read_peek(r);
        if (c == bracket)
            return unexpected(cx, r, "a value after the comma");
    }
    r->first = false;
    *more = true;
    return TARN_OK;
}

/* ---- texts */

static int hex4(const tn_json_reader *r, const char *at)
{
    int value = 0;

    if (r->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t put_utf8(char *out, uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xC0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xE0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}

/* The escape at r->at, which stands at its backslash, as UTF-8; at most four bytes, and never more
 * than the escape has. */
static int unescape(tarn_cx *cx, tn_json_reader *r, char *out, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *plain;
    int unit, low;

    if (r->end - r->at < 2)
        return tn_json_read_fail(cx, r, "a text that does not end");
    plain = r->at[1] != '\0' ? strchr(from, r->at[1]) : NULL;
    if (plain != NULL) {
        *out = to[plain - from];
        *n = 1;
        r->at += 2;
        return TARN_OK;
    }
    unit = r->at[1] == 'u' ? hex4(r, r->at + 2) : -1;
    if (unit <= 0)
        return tn_json_read_fail(cx, r,
                                 unit == 0 ? "a text with a NUL in it" : "no escape of JSON");
    if (unit < 0xD800 || unit > 0xDFFF) {
        *n = put_utf8(out, (uint32_t)unit);
        r->at += 6;
        return TARN_OK;
    }
    low = r->end - r->at >= 12 && r->at[6] == '\\' && r->at[7] == 'u' ? hex4(r, r->at + 8) : -1;
    if (unit > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
        return tn_json_read_fail(cx, r, "half a pair of surrogates");
    *n = put_utf8(out, 0x10000 + ((uint32_t)(unit - 0xD800) << 10 | (uint32_t)(low - 0xDC00)));
    r->at += 12;
    return TARN_OK;
}

/* Steps over a text; *escapes says that it has some. `out` is what stands between the quotes. */
static int scan_text(tarn_cx *cx, tn_json_reader *r, tn_str *out, bool *escapes)
{
    const char *begin;

    if (tn_json_read_peek(r) != '"')
        return unexpected(cx, r, "a text");
    begin = ++r->at;
    *escapes = false;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return tn_json_read_fail(cx, r, "a control character in a text; write it as \\u%04x",
                                     (unsigned char)*r->at);
        *escapes |= *r->at == '\\';
        r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
    }
    if (r->at >= r->end) {
        r->at = begin - 1;
        return tn_json_read_fail(cx, r, "not JSON: a text that does not end");
    }
    *out = (tn_str){begin, (size_t)(r->at - begin)};
    r->at++;
    return TARN_OK;
}

/* What stands between the quotes, its escapes undone, in the arena. */
static int decode(tarn_cx *cx, tn_json_reader *r, tn_str raw, tn_str *out)
{
    tn_json_reader inside = *r;
    char *bytes = tn_arena_take(cx, r->arena, raw.len + 1);
    size_t len = 0, n = 0;
    int rc = TARN_OK;

    if (bytes == NULL)
        return TARN_E_NOMEM;
    inside.at = raw.ptr;
    inside.end = raw.ptr + raw.len;
    while (inside.at < inside.end) {
        if (*inside.at != '\\') {
            bytes[len++] = *inside.at++;
            continue;
        }
        TN_TRY(unescape(cx, &inside, bytes + len, &n));
        len += n;
    }
    *out = (tn_str){bytes, len};
done:
    return rc;
}

int tn_json_read_text(tarn_cx *cx, tn_json_reader *r, tn_str *out)
{
    tn_str raw;
    bool escapes;
    int rc = TARN_OK;

    TN_TRY(scan_text(cx, r, &raw, &escapes));
    TN_TRY(escapes ? decode(cx, r, raw, &raw) : tn_arena_keep(cx, r->arena, &raw));
    *out = raw;
done:
    return rc;
}

int tn_json_read_shared(tarn_cx *cx, tn_json_reader *r, tn_str *out)
{
    tn_str raw;
    size_t *place;
    bool escapes, added;
    int rc = TARN_OK;

    TN_TRY(scan_text(cx, r, &raw, &escapes));
    if (escapes)
        TN_TRY(decode(cx, r, raw, &raw));
    place = r->shared != NULL ? tn_map_find(r->shared, raw) : NULL;
    if (place != NULL) {
        *out = (tn_str){(const char *)(uintptr_t)*place, raw.len};
        goto done;
    }
    if (!escapes)
        TN_TRY(tn_arena_keep(cx, r->arena, &raw));
    if (r->shared != NULL) {
        place = tn_map_add(cx, r->shared, raw, &added);
        if (place == NULL)
            return TARN_E_NOMEM;
        *place = (size_t)(uintptr_t)raw.ptr;
    }
    *out = raw;
done:
    return rc;
}

int tn_json_read_member(tarn_cx *cx, tn_json_reader *r, tn_str *key, bool *more)
{
    int rc = TARN_OK;
    bool escapes;

    TN_TRY(next(cx, r, '}', more));
    if (!*more)
        goto done;
    TN_TRY(scan_text(cx, r, key, &escapes));
    if (escapes)
        TN_TRY(decode(cx, r, *key, key));
    if (tn_json_read_peek(r) != ':')
        TN_TRY(unexpected(cx, r, "a colon"));
    r->at++;
done:
    return rc;
}

int tn_json_read_element(tarn_cx *cx, tn_json_reader *r, bool *more)
{
    return next(cx, r, ']', more);
}

/* ---- numbers and words */

static bool is_digit(const tn_json_reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* Steps over a number as the grammar has it. */
static int scan_number(tarn_cx *cx, tn_json_reader *r, bool *whole)
{
    *whole = true;
    if (tn_json_read_peek(r) == '-')
        r->at++;
    if (!is_digit(r))
        return unexpected(cx, r, "a number");
    if (*r->at == '0')
        r->at++;
    else
        while (is_digit(r))
            r->at++;
    if (is_digit(r))
        return tn_json_read_fail(cx, r, "a number that begins with 0");
    if (r->at < r->end && *r->at == '.') {
        *whole = false;
        r->at++;
        if (!is_digit(r))
            return unexpected(cx, r, "a digit after the point");
        while (is_digit(r))
            r->at++;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        *whole = false;
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        if (!is_digit(r))
            return unexpected(cx, r, "an exponent");
        while (is_digit(r))
            r->at++;
    }
    return TARN_OK;
}

int tn_json_read_i64(tarn_cx *cx, tn_json_reader *r, int64_t *out)
{
    const char *begin;
    uint64_t value = 0, most;
    bool whole, negative;
    int rc = TARN_OK;

    (void)tn_json_read_peek(r);
    begin = r->at;
    if (r->at < r->end && *r->at != '-' && !is_digit(r))
        return unexpected(cx, r, "a whole number");
    TN_TRY(scan_number(cx, r, &whole));
    if (!whole) {
        r->at = begin;
        TN_TRY(unexpected(cx, r, "a whole number"));
    }
    negative = *begin == '-';
    most = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    for (const char *c = begin + negative; c < r->at; c++) {
        uint64_t digit = (uint64_t)(*c - '0');

        if (value > (most - digit) / 10) {
            r->at = begin;
            TN_TRY(tn_json_read_fail(cx, r, "a number beyond 2^63"));
        }
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
done:
    return rc;
}

static bool word(tn_json_reader *r, const char *text)
{
    size_t len = strlen(text);

    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

int tn_json_read_bool(tarn_cx *cx, tn_json_reader *r, bool *out)
{
    (void)tn_json_read_peek(r);
    if (word(r, "true"))
        *out = true;
    else if (word(r, "false"))
        *out = false;
    else
        return unexpected(cx, r, "true or false");
    return TARN_OK;
}

/* ---- whole values */

static int skip_plain(tarn_cx *cx, tn_json_reader *r)
{
    char c = tn_json_read_peek(r);
    tn_str text;
    bool unused;

    if (c == '"')
        return scan_text(cx, r, &text, &unused);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(cx, r, &unused);
    if (word(r, "true") || word(r, "false") || word(r, "null"))
        return TARN_OK;
    return unexpected(cx, r, "a value");
}

int tn_json_read_skip(tarn_cx *cx, tn_json_reader *r)
{
    char open[TN_JSON_DEPTH_MAX + 1]; /* brackets that were opened here */
    unsigned n = 0;
    int rc = TARN_OK;

    do {
        char c = tn_json_read_peek(r);
        bool more = false;

        if (c == '{' || c == '[') {
            TN_TRY(tn_json_read_open(cx, r, c));
            open[n++] = c;
        } else {
            TN_TRY(skip_plain(cx, r));
        }
        /* To the next value, closing what ends before it. */
        while (n != 0 && !more) {
            tn_str key;

            if (open[n - 1] == '{')
                TN_TRY(tn_json_read_member(cx, r, &key, &more));
            else
                TN_TRY(tn_json_read_element(cx, r, &more));
            n -= !more;
        }
    } while (n != 0);
done:
    return rc;
}

int tn_json_read_end(tarn_cx *cx, tn_json_reader *r)
{
    if (tn_json_read_peek(r) != '\0' || r->at < r->end)
        return unexpected(cx, r, "the end");
    if (!tn_str_utf8((tn_str){r->start, (size_t)(r->end - r->start)}))
        return tn_fail(cx, TARN_E_CORRUPT, "%s: not UTF-8; write it as UTF-8", r->name);
    return TARN_OK;
}
