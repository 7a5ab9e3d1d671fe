/* The tokens of JSON (RFC 8259) in one record, checked strictly. */
#ifndef TN_NDJSON_SCAN_H
#define TN_NDJSON_SCAN_H

#include "base/buf.h"
#include "base/limits.h"

typedef struct tn_ndjson_scan {
    const uint8_t *at, *end;
    const char *why; /* after a false: what is wrong at `at`; static */
} tn_ndjson_scan;

static inline tn_ndjson_scan tn_ndjson_scan_over(tn_str record)
{
    const uint8_t *at = (const uint8_t *)record.ptr;

    return (tn_ndjson_scan){at, at + record.len, NULL};
}

static inline void tn_ndjson_scan_space(tn_ndjson_scan *scan)
{
    while (scan->at < scan->end && *scan->at <= ' ' &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
        scan->at++;
}

/* The next byte, or 0 at the end; NUL is no token either. */
static inline uint8_t tn_ndjson_scan_peek(const tn_ndjson_scan *scan)
{
    return scan->at < scan->end ? *scan->at : 0;
}

/* At a quote: what is between it and the next, well-formed UTF-8, and whether escapes are in it. */
bool tn_ndjson_scan_string(tn_ndjson_scan *scan, tn_str *raw, bool *escaped);
/* Appends the text of what tn_ndjson_scan_string gave, its escapes replaced. Sticky. */
void tn_ndjson_scan_unescape(tn_str raw, tn_buf *out);
bool tn_ndjson_scan_number(tn_ndjson_scan *scan, tn_str *text);
/* One of true, false, null: by its first letter. */
bool tn_ndjson_scan_word(tn_ndjson_scan *scan);
/* A whole value of any kind, checked to its depths; `depth` levels are above it. */
bool tn_ndjson_scan_value(tn_ndjson_scan *scan, int depth, tn_str *text);
/* A key and the colon after it; the scan then stands at the value. */
bool tn_ndjson_scan_key(tn_ndjson_scan *scan, tn_str *raw, bool *escaped);
/* After an element: *more where a comma came, else `close` (']' or '}') has been taken. */
bool tn_ndjson_scan_next(tn_ndjson_scan *scan, uint8_t close, bool *more);
/* Behind an opening bracket: whether an element follows; else `close` has been taken. */
bool tn_ndjson_scan_first(tn_ndjson_scan *scan, uint8_t close);

#endif
