/* Test helper: blocks of Hudi logs, made by hand, and files of them in memory. */
#ifndef TN_TEST_BLOCK_H
#define TN_TEST_BLOCK_H

#include "unit/test.h"

#include "codec/log/log.h"
#include "io/store_memory.h"

typedef struct block_header {
    uint32_t key;
    const char *text;
} block_header;

static inline void block_u32(tn_buf *out, uint32_t value)
{
    uint32_t swapped = __builtin_bswap32(value);

    tn_buf_add(out, &swapped, 4);
}

static inline void block_u64(tn_buf *out, uint64_t value)
{
    block_u32(out, (uint32_t)(value >> 32));
    block_u32(out, (uint32_t)value);
}

/* Headers end with one whose text is NULL. */
static inline void block_add(tn_buf *out, uint32_t kind, const block_header *headers,
                             tn_str content)
{
    tn_buf head = {0};
    uint32_t count = 0;
    uint64_t span;

    for (const block_header *h = headers; h->text != NULL; h++, count++) {
        block_u32(&head, h->key);
        block_u32(&head, (uint32_t)strlen(h->text));
        tn_buf_text(&head, h->text);
    }
    span = 4 + 4 + 4 + head.len + 8 + content.len + 4 + 8;
    tn_buf_text(out, "#HUDI#");
    block_u64(out, span);
    block_u32(out, 1);
    block_u32(out, kind);
    block_u32(out, count);
    tn_buf_add(out, head.data, head.len);
    block_u64(out, content.len);
    tn_buf_str(out, content);
    block_u32(out, 0);
    block_u64(out, span + 6);
    tn_buf_clear(&head);
}

/* Stores the bytes as "/log" and opens them. */
static inline int block_open(tarn_cx *cx, tn_store *store, tn_str bytes, tn_log *out)
{
    int rc = tn_store_put(cx, store, TN_STR("/log"), bytes);

    return rc != TARN_OK ? rc : tn_log_open(cx, store, TN_STR("/log"), out);
}

#endif
