/* The growing byte buffer. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tn_buf_clear(tn_buf *buf)
{
    free(buf->data);
    *buf = (tn_buf){0};
}

/* No room is left from now on: what would fit must not be written after what did not. */
static bool give_up(tn_buf *buf)
{
    buf->failed = true;
    buf->cap = buf->len;
    return false;
}

bool tn_buf_reserve(tn_buf *buf, size_t more)
{
    size_t want, cap;
    uint8_t *grown;

    if (buf->failed)
        return false;
    if (buf->cap - buf->len >= more)
        return true;
    if (__builtin_add_overflow(buf->len, more, &want))
        return give_up(buf);
    cap = buf->cap + buf->cap / 2;
    cap = cap < want ? want : cap;
    cap = cap < 64 ? 64 : cap;
    grown = realloc(buf->data, cap);
    if (grown == NULL)
        return give_up(buf);
    buf->data = grown;
    buf->cap = cap;
    return true;
}

uint8_t *tn_buf_extend(tn_buf *buf, size_t n)
{
    uint8_t *at;

    if (!tn_buf_reserve(buf, n != 0 ? n : 1))
        return NULL;
    at = buf->data + buf->len;
    buf->len += n;
    return at;
}

int tn_buf_check(tarn_cx *cx, const tn_buf *buf)
{
    return buf->failed ? tn_fail_memory(cx) : TARN_OK;
}

void tn_buf_print(tn_buf *buf, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !tn_buf_reserve(buf, (size_t)length + 1))
        return;
    va_start(args, format);
    vsnprintf((char *)buf->data + buf->len, (size_t)length + 1, format, args);
    va_end(args);
    buf->len += (size_t)length;
}

static void add_le(tn_buf *buf, uint64_t value, size_t n)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    tn_buf_add(buf, bytes, n);
}

void tn_buf_u16le(tn_buf *buf, uint16_t value)
{
    add_le(buf, value, 2);
}

void tn_buf_u32le(tn_buf *buf, uint32_t value)
{
    add_le(buf, value, 4);
}

void tn_buf_u64le(tn_buf *buf, uint64_t value)
{
    add_le(buf, value, 8);
}

void tn_buf_varint(tn_buf *buf, uint64_t value)
{
    while (value >= 0x80) {
        tn_buf_u8(buf, (uint8_t)(value | 0x80));
        value >>= 7;
    }
    tn_buf_u8(buf, (uint8_t)value);
}

void tn_buf_shell(tn_buf *buf, tn_str text)
{
    bool plain = text.len > 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        plain = plain && c != '\0' &&
                ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 strchr("/._-=:,+@%", c) != NULL);
    }
    if (!plain)
        tn_buf_u8(buf, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            tn_buf_text(buf, "'\\''");
        else
            tn_buf_u8(buf, (uint8_t)text.ptr[i]);
    }
    if (!plain)
        tn_buf_u8(buf, '\'');
}
