/* Cuts a feed into records: lines, or the elements of one array that is the whole input. */
#ifndef TN_NDJSON_RECORD_H
#define TN_NDJSON_RECORD_H

#include "io/feed.h"

enum tn_ndjson_place {
    TN_NDJSON_BEFORE,
    TN_NDJSON_FIRST,
    TN_NDJSON_ELEMENT,
    TN_NDJSON_NEXT,
    TN_NDJSON_AFTER
};

/* Zeroed but for `feed`, which is borrowed. */
typedef struct tn_ndjson_records {
    tn_feed *feed; /* NULL: what is held is all there is to see */
    tn_buf held;   /* the first bytes */
    const uint8_t *at;
    size_t left;
    tn_buf carry;  /* the start of a record that goes on in the next chunk */
    uint64_t line; /* of `at`, from 0 */
    bool started, ended;
    bool array;
    enum tn_ndjson_place place;  /* in the array */
    bool inside, quoted, escape; /* of an element */
    size_t depth;
    uint64_t element_line;
} tn_ndjson_records;

/* Holds at least `bytes` of the start, or all there are. Before the first record; may be called
 * again with more. */
int tn_ndjson_records_hold(tarn_cx *cx, tn_ndjson_records *records, size_t bytes);
/* The records that lie whole in what is held, for a look ahead; to be cleared. */
void tn_ndjson_records_peek(const tn_ndjson_records *records, tn_ndjson_records *out);
/* The next one that is not blank, and its line from 1; a NULL record at the end. Valid until the
 * next call. LIMIT for one larger than TN_TEXT_RECORD_BYTES_MAX or a quarter of the memory budget;
 * an array that is broken between its elements is DATA, one that is cut off CORRUPT. */
int tn_ndjson_records_next(tarn_cx *cx, tn_ndjson_records *records, tn_str *record, uint64_t *line);
/* Whole lines, about `bytes` of them, where the input is no array: appended, nothing at the end;
 * the last one may lack its line feed. LIMIT as above, with `line` the one that they begin at. */
int tn_ndjson_records_lines(tarn_cx *cx, tn_ndjson_records *records, size_t bytes, uint64_t line,
                            tn_buf *out);
/* Bytes of the longest record that is read. */
uint64_t tn_ndjson_record_max(const tarn_cx *cx);
void tn_ndjson_records_clear(tn_ndjson_records *records);

#endif
