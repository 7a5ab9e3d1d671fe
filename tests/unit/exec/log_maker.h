/* Hudi log files made by hand: frames, headers, contents (docs/format/hudi-log.md). */
#ifndef TN_TEST_LOG_MAKER_H
#define TN_TEST_LOG_MAKER_H

#include "base/buf.h"
#include "codec/log/log.h"
#include "unit/test.h"

enum log_maker_key { /* ordinals of header keys */
                     LOG_KEY_INSTANT = 0,
                     LOG_KEY_TARGET,
                     LOG_KEY_SCHEMA,
                     LOG_KEY_COMMAND,
                     LOG_KEY_COMPACTED,
                     LOG_KEY_POSITIONS,
                     LOG_KEY_PARTIAL = 7,
                     LOG_KEY_BASE_INSTANT
};

typedef struct log_maker_header {
    enum log_maker_key key;
    tn_str value; /* ptr NULL: the entry is left out */
} log_maker_header;

static inline void log_u32(tn_buf *out, uint32_t value)
{
    value = __builtin_bswap32(value);
    tn_buf_add(out, &value, sizeof value);
}

static inline void log_u64(tn_buf *out, uint64_t value)
{
    value = __builtin_bswap64(value);
    tn_buf_add(out, &value, sizeof value);
}

static inline void log_headers(tn_buf *out, const log_maker_header *headers, size_t count)
{
    uint32_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += headers[i].value.ptr != NULL;
    log_u32(out, n);
    for (size_t i = 0; i < count; i++) {
        if (headers[i].value.ptr == NULL)
            continue;
        log_u32(out, headers[i].key);
        log_u32(out, (uint32_t)headers[i].value.len);
        tn_buf_str(out, headers[i].value);
    }
}

/* Appends a block to a file. */
static inline void log_block(tn_buf *file, enum tn_log_kind kind, const log_maker_header *headers,
                             size_t count, tn_str content)
{
    tn_buf body = {0};

    log_u32(&body, 1);
    log_u32(&body, (uint32_t)kind);
    log_headers(&body, headers, count);
    log_u64(&body, content.len);
    tn_buf_str(&body, content);
    log_u32(&body, 0);
    tn_buf_text(file, "#HUDI#");
    log_u64(file, body.len + 8);
    tn_buf_str(file, tn_buf_view(&body));
    log_u64(file, body.len + 8 + 6);
    tn_buf_clear(&body);
}

/* ---- Avro */

static inline void log_long(tn_buf *out, int64_t value)
{
    uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);

    tn_buf_varint(out, bits);
}

static inline void log_text(tn_buf *out, tn_str text)
{
    log_long(out, (int64_t)text.len);
    tn_buf_str(out, text);
}

/* The content of an AVRO block under construction: its records, each begun and ended. */
typedef struct log_maker_records {
    tn_buf bytes;
    uint32_t count;
    size_t begun;
} log_maker_records;

static inline tn_buf *log_record_begin(log_maker_records *records)
{
    records->count++;
    records->begun = records->bytes.len;
    log_u32(&records->bytes, 0);
    return &records->bytes;
}

static inline void log_record_end(log_maker_records *records)
{
    uint32_t len = __builtin_bswap32((uint32_t)(records->bytes.len - records->begun - 4));

    memcpy(records->bytes.data + records->begun, &len, sizeof len);
}

static inline void log_records_content(const log_maker_records *records, tn_buf *out)
{
    log_u32(out, 3);
    log_u32(out, records->count);
    tn_buf_str(out, tn_buf_view(&records->bytes));
}

/* The content of a DELETE block from the datum of its list. */
static inline void log_deletes_content(tn_str datum, tn_buf *out)
{
    log_u32(out, 3);
    log_u32(out, (uint32_t)datum.len);
    tn_buf_str(out, datum);
}

#endif
