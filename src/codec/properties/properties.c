/* Properties text, read as java.util.Properties.load(InputStream) reads it and written as
 * store(OutputStream) writes it:
 *
 *   # or ! first, blanks apart      a comment, to the end of the line; it is never continued
 *   key=value   key:value   key value    blanks around the separator do not count
 *   \ before the end of a line      goes on with the next line, without its leading blanks
 *   \t \n \r \f \uXXXX              a character; \ before any other is left out
 *   bytes                           ISO-8859-1
 *
 * I1: a character beyond U+FFFF is two escapes of UTF-16; half of one alone is read as U+FFFD. */
#include "codec/properties/properties.h"

#include <assert.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/map.h"

typedef struct parser {
    tarn_cx *cx;
    tn_str text, name;
    size_t at;
    size_t line;  /* natural, from 1 */
    size_t first; /* where the logical line began */
    tn_arena *arena;
    tn_buf logical; /* a line with its continuations */
    tn_buf utf8;
    tn_map index;
    tn_properties *out;
} parser;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

/* ---- lines */

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

static void skip_comment(parser *p)
{
    while (p->at < p->text.len && !is_end(p->text.ptr[p->at]))
        p->at++;
}

/* Steps over the end of a line, "\r\n" being one. */
static void skip_end(parser *p)
{
    if (p->text.ptr[p->at] == '\r' && p->at + 1 < p->text.len && p->text.ptr[p->at + 1] == '\n')
        p->at++;
    p->at++;
    p->line++;
}

/* Adds the rest of a natural line; true when it ends with an odd number of backslashes, the last of
 * which is not added. */
static bool add_natural(parser *p)
{
    size_t start = p->at, slashes = 0;

    while (p->at < p->text.len && !is_end(p->text.ptr[p->at]))
        p->at++;
    while (slashes < p->at - start && p->text.ptr[p->at - 1 - slashes] == '\\')
        slashes++;
    tn_buf_add(&p->logical, p->text.ptr + start, p->at - start - slashes % 2);
    return slashes % 2 == 1;
}

/* The next logical line into p->logical; false at the end. As in Java, a line that is empty so far
 * may begin with a comment even where it goes on with another one; and a backslash that is all of
 * the last line is an empty key. */
static bool next_logical(parser *p)
{
    bool more;

    tn_buf_reset(&p->logical);
    for (;;) {
        while (p->at < p->text.len && is_blank(p->text.ptr[p->at]))
            p->at++;
        if (p->at >= p->text.len)
            return p->logical.len != 0;
        if (p->logical.len == 0 && (p->text.ptr[p->at] == '#' || p->text.ptr[p->at] == '!')) {
            skip_comment(p);
            continue;
        }
        if (is_end(p->text.ptr[p->at]) && p->logical.len == 0) {
            skip_end(p);
            continue;
        }
        if (p->logical.len == 0)
            p->first = p->line;
        more = add_natural(p);
        if (p->at >= p->text.len || (p->logical.len == 0 && p->at + 1 == p->text.len)) {
            p->at = p->text.len;
            return true;
        }
        skip_end(p);
        if (!more)
            return true;
    }
}

/* ---- characters */

static void add_point(tn_buf *out, uint32_t point)
{
    if (point < 0x80) {
        tn_buf_u8(out, (uint8_t)point);
        return;
    }
    if (point < 0x800) {
        tn_buf_u8(out, (uint8_t)(0xC0 | point >> 6));
    } else if (point < 0x10000) {
        tn_buf_u8(out, (uint8_t)(0xE0 | point >> 12));
        tn_buf_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3F)));
    } else {
        tn_buf_u8(out, (uint8_t)(0xF0 | point >> 18));
        tn_buf_u8(out, (uint8_t)(0x80 | (point >> 12 & 0x3F)));
        tn_buf_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3F)));
    }
    tn_buf_u8(out, (uint8_t)(0x80 | (point & 0x3F)));
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The UTF-16 unit of "XXXX" at `at`, or -1. */
static int32_t unit_at(tn_str text, size_t at)
{
    int32_t unit = 0;

    if (text.len < at + 4)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        int digit = hex_digit(text.ptr[i]);

        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* The escape whose backslash is at *at; steps behind it. */
static int add_escape(parser *p, tn_str text, size_t *at)
{
    static const char from[] = "tnrf", to[] = "\t\n\r\f";
    char c = text.ptr[*at + 1];
    const char *hit = c != '\0' ? strchr(from, c) : NULL;
    int32_t unit, low;

    if (c != 'u') {
        add_point(&p->utf8, hit != NULL ? (uint8_t)to[hit - from] : (uint8_t)c);
        *at += 2;
        return TARN_OK;
    }
    unit = unit_at(text, *at + 2);
    if (unit < 0)
        return tn_fail(p->cx, TARN_E_CORRUPT,
                       "%.*s: line %zu: \\u without four hexadecimal digits; write a backslash as "
                       "\\\\",
                       TN_STR_ARG(p->name), p->first);
    *at += 6;
    low = unit >= 0xD800 && unit < 0xDC00 && *at + 1 < text.len && text.ptr[*at] == '\\' &&
                  text.ptr[*at + 1] == 'u'
              ? unit_at(text, *at + 2)
              : -1;
    if (low >= 0xDC00 && low < 0xE000) {
        add_point(&p->utf8, 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
        *at += 6;
    } else {
        add_point(&p->utf8, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : (uint32_t)unit);
    }
    return TARN_OK;
}

/* Escapes undone, in the arena. */
static int unescape(parser *p, tn_str text, tn_str *out)
{
    size_t at = 0;
    int rc = TARN_OK;

    tn_buf_reset(&p->utf8);
    while (at < text.len) {
        if (text.ptr[at] == '\\' && at + 1 < text.len) {
            TN_TRY(add_escape(p, text, &at));
        } else {
            /* A backslash at the very end stands for nothing. */
            if (text.ptr[at] != '\\')
                add_point(&p->utf8, (uint8_t)text.ptr[at]);
            at++;
        }
    }
    TN_TRY(tn_buf_check(p->cx, &p->utf8));
    *out = tn_buf_view(&p->utf8);
    TN_TRY(tn_arena_keep(p->cx, p->arena, out));
done:
    return rc;
}

/* ---- pairs */

/* Where the key ends and the value begins. */
static void split(tn_str line, size_t *key_end, size_t *value_at)
{
    size_t at = 0;
    bool separated;

    while (at < line.len && line.ptr[at] != '=' && line.ptr[at] != ':' && !is_blank(line.ptr[at]))
        at += line.ptr[at] == '\\' && at + 1 < line.len ? 2 : 1;
    *key_end = at;
    separated = at < line.len && !is_blank(line.ptr[at]);
    at += at < line.len;
    while (at < line.len) {
        bool mark = line.ptr[at] == '=' || line.ptr[at] == ':';

        if (!is_blank(line.ptr[at]) && (separated || !mark))
            break;
        separated |= mark;
        at++;
    }
    *value_at = at;
}

static int add_pair(parser *p)
{
    tn_str line = tn_buf_view(&p->logical);
    tn_property found;
    size_t key_end, value_at, *place;
    bool added;
    int rc = TARN_OK;

    split(line, &key_end, &value_at);
    TN_TRY(unescape(p, (tn_str){line.ptr, key_end}, &found.key));
    TN_TRY(unescape(p, tn_str_from(line, value_at), &found.value));
    place = tn_map_add(p->cx, &p->index, found.key, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (!added) {
        p->out->items[*place].value = found.value;
        goto done;
    }
    if (p->out->count >= TN_PROPERTIES_MAX)
        TN_TRY(tn_fail(p->cx, TARN_E_LIMIT, "%.*s: line %zu: more than %d properties",
                       TN_STR_ARG(p->name), p->first, TN_PROPERTIES_MAX));
    *place = p->out->count;
    TN_TRY(
        tn_arena_grow(p->cx, p->arena, &p->out->items, p->out->count, &p->out->cap, sizeof found));
    p->out->items[p->out->count++] = found;
done:
    return rc;
}

int tn_properties_parse(tarn_cx *cx, tn_str text, tn_str name, tn_arena *arena, tn_properties *out)
{
    tn_properties found = {0};
    parser p = {.cx = cx, .text = text, .name = name, .arena = arena, .out = &found, .line = 1};
    int rc = TARN_OK;

    if (text.len > TN_PROPERTIES_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: properties of %zu bytes; tarn reads up to 64 MiB",
                TN_STR_ARG(name), text.len);
    while (next_logical(&p)) {
        TN_TRY(tn_buf_check(cx, &p.logical));
        TN_TRY(add_pair(&p));
    }
    TN_TRY(tn_buf_check(cx, &p.logical));
    *out = found;
done:
    tn_buf_clear(&p.logical);
    tn_buf_clear(&p.utf8);
    tn_map_clear(&p.index);
    return rc;
}

static size_t find(const tn_properties *properties, tn_str key)
{
    size_t at = 0;

    while (at < properties->count && !tn_str_equal(properties->items[at].key, key))
        at++;
    return at;
}

tn_str tn_properties_get(const tn_properties *properties, const char *key)
{
    size_t at = find(properties, tn_str_of(key));

    return at < properties->count ? properties->items[at].value : (tn_str){NULL, 0};
}

int tn_properties_set(tarn_cx *cx, tn_arena *arena, tn_properties *properties, tn_str key,
                      tn_str value)
{
    size_t at = find(properties, key);
    int rc = TARN_OK;

    if (value.ptr == NULL) {
        if (at < properties->count) {
            properties->count--;
            memmove(properties->items + at, properties->items + at + 1,
                    (properties->count - at) * sizeof properties->items[0]);
        }
        goto done;
    }
    TN_TRY(tn_arena_keep(cx, arena, &value));
    if (at < properties->count) {
        properties->items[at].value = value;
        goto done;
    }
    TN_TRY(tn_arena_keep(cx, arena, &key));
    TN_TRY(tn_arena_grow(cx, arena, &properties->items, properties->count, &properties->cap,
                         sizeof properties->items[0]));
    properties->items[properties->count++] = (tn_property){key, value};
done:
    return rc;
}
