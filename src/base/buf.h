/* A growing byte buffer. Sticky: after a failed growth all writes do nothing; one check at the end
 * (tn_buf_check). */
#ifndef TN_BASE_BUF_H
#define TN_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/context.h"
#include "base/str.h"

typedef struct tn_buf {
    uint8_t *data;
    size_t len, cap;
    bool failed;
} tn_buf;

void tn_buf_clear(tn_buf *buf);
/* Keeps the memory, forgets the bytes. */
static inline void tn_buf_reset(tn_buf *buf)
{
    buf->len = 0;
}
/* Room for `more` bytes beyond len; false (and sticky) when memory is short. */
bool tn_buf_reserve(tn_buf *buf, size_t more);
/* `n` uninitialised bytes at the end, to be filled by the caller; NULL when memory is short. */
uint8_t *tn_buf_extend(tn_buf *buf, size_t n);
/* NOMEM when a growth failed. */
int tn_buf_check(tarn_cx *cx, const tn_buf *buf);

static inline void tn_buf_add(tn_buf *buf, const void *bytes, size_t n)
{
    if (buf->cap - buf->len < n && !tn_buf_reserve(buf, n))
        return;
    if (n != 0)
        memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
}

static inline void tn_buf_u8(tn_buf *buf, uint8_t value)
{
    if (buf->cap == buf->len && !tn_buf_reserve(buf, 1))
        return;
    buf->data[buf->len++] = value;
}

static inline void tn_buf_str(tn_buf *buf, tn_str text)
{
    tn_buf_add(buf, text.ptr, text.len);
}
/* A word for a shell: bare where it is plain, else in single quotes. */
void tn_buf_shell(tn_buf *buf, tn_str text);

static inline void tn_buf_text(tn_buf *buf, const char *text)
{
    tn_buf_add(buf, text, strlen(text));
}

void tn_buf_print(tn_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tn_buf_u16le(tn_buf *buf, uint16_t value);
void tn_buf_u32le(tn_buf *buf, uint32_t value);
void tn_buf_u64le(tn_buf *buf, uint64_t value);
/* Unsigned LEB128. */
void tn_buf_varint(tn_buf *buf, uint64_t value);

static inline tn_str tn_buf_view(const tn_buf *buf)
{
    return (tn_str){(const char *)buf->data, buf->len};
}

#endif
