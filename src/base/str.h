/* A borrowed run of bytes. Never owns, need not end in NUL. */
#ifndef TN_BASE_STR_H
#define TN_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct tn_str {
    const char *ptr;
    size_t len;
} tn_str;

#define TN_STR(literal) ((tn_str){(literal), sizeof(literal) - 1})
/* For printf's "%.*s". */
#define TN_STR_ARG(s) (int)((s).len > 4096 ? 4096 : (s).len), ((s).ptr != NULL ? (s).ptr : "")

static inline tn_str tn_str_of(const char *text)
{
    return (tn_str){text, text != NULL ? strlen(text) : 0};
}

static inline bool tn_str_equal(tn_str a, tn_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool tn_str_is(tn_str a, const char *text)
{
    return tn_str_equal(a, tn_str_of(text));
}

static inline bool tn_str_starts(tn_str a, tn_str prefix)
{
    return a.len >= prefix.len && (prefix.len == 0 || memcmp(a.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool tn_str_ends(tn_str a, tn_str suffix)
{
    return a.len >= suffix.len &&
           (suffix.len == 0 || memcmp(a.ptr + a.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

static inline tn_str tn_str_from(tn_str a, size_t at)
{
    return at >= a.len ? (tn_str){a.ptr != NULL ? a.ptr + a.len : NULL, 0}
                       : (tn_str){a.ptr + at, a.len - at};
}

/* Index of the first `c`, or a.len. */
static inline size_t tn_str_find(tn_str a, char c)
{
    const char *hit = a.len != 0 ? memchr(a.ptr, c, a.len) : NULL;

    return hit != NULL ? (size_t)(hit - a.ptr) : a.len;
}

/* Order by unsigned bytes, shorter first on a tie. */
static inline int tn_str_compare(tn_str a, tn_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n != 0 ? memcmp(a.ptr, b.ptr, n) : 0;

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len ? 1 : 0;
}

/* Sorts texts by tn_str_compare; `texts` may be NULL with a count of 0. */
void tn_str_sort(tn_str *texts, size_t count);
/* Whether `text` is among texts that are sorted so. */
bool tn_str_listed(const tn_str *sorted, size_t count, tn_str text);

/* True when all bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool tn_str_utf8(tn_str text);
/* How many bytes from the start on are so. */
size_t tn_str_utf8_prefix(tn_str text);

#endif
