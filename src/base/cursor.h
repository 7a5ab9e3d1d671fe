/* Reads bytes in order. Sticky: the first short read poisons the cursor, later reads give zeros;
 * one check at the end. */
#ifndef TN_BASE_CURSOR_H
#define TN_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

typedef struct tn_cursor {
    const uint8_t *data;
    size_t len, at;
    bool failed;
} tn_cursor;

static inline tn_cursor tn_cursor_of(const void *data, size_t len)
{
    return (tn_cursor){data, len, 0, false};
}

static inline tn_cursor tn_cursor_over(const tn_buf *buf)
{
    return tn_cursor_of(buf->data, buf->len);
}

static inline size_t tn_cursor_left(const tn_cursor *c)
{
    return c->failed ? 0 : c->len - c->at;
}

/* True when nothing failed and nothing is left. */
static inline bool tn_cursor_ended(const tn_cursor *c)
{
    return !c->failed && c->at == c->len;
}

/* The next n bytes, in place; NULL and poisoned when fewer are left. */
static inline const uint8_t *tn_cursor_bytes(tn_cursor *c, size_t n)
{
    const uint8_t *at;

    if (c->failed || c->len - c->at < n) {
        c->failed = true;
        return NULL;
    }
    at = c->data + c->at;
    c->at += n;
    return at;
}

static inline tn_str tn_cursor_take(tn_cursor *c, size_t n)
{
    const uint8_t *at = tn_cursor_bytes(c, n);

    return at != NULL ? (tn_str){(const char *)at, n} : (tn_str){NULL, 0};
}

static inline uint8_t tn_cursor_u8(tn_cursor *c)
{
    const uint8_t *at = tn_cursor_bytes(c, 1);

    return at != NULL ? *at : 0;
}

static inline uint32_t tn_cursor_u32le(tn_cursor *c)
{
    const uint8_t *at = tn_cursor_bytes(c, 4);
    uint32_t value = 0;

    if (at != NULL)
        memcpy(&value, at, 4);
    return value;
}

static inline uint64_t tn_cursor_u64le(tn_cursor *c)
{
    const uint8_t *at = tn_cursor_bytes(c, 8);
    uint64_t value = 0;

    if (at != NULL)
        memcpy(&value, at, 8);
    return value;
}

static inline uint32_t tn_cursor_u32be(tn_cursor *c)
{
    return __builtin_bswap32(tn_cursor_u32le(c));
}

static inline uint64_t tn_cursor_u64be(tn_cursor *c)
{
    return __builtin_bswap64(tn_cursor_u64le(c));
}

/* Unsigned LEB128 of at most 64 bits; more poisons the cursor. */
uint64_t tn_cursor_varint(tn_cursor *c);

static inline int64_t tn_zigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static inline uint64_t tn_unzigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

#endif
