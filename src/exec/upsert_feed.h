/* Rows on their way into files, taken part by part: of a stream that was placed, or straight from
 * the input. */
#ifndef TN_EXEC_UPSERT_FEED_H
#define TN_EXEC_UPSERT_FEED_H

#include "exec/incoming.h"

typedef struct tn_upsert_feed {
    struct ArrowArrayStream *rows; /* borrowed; NULL: `reader` */
    tn_incoming_reader *reader;
    struct ArrowArray batch;  /* of `rows`, owned; else borrowed from the reader */
    const int64_t *positions; /* of the rows that are left; NULL: none has one */
    const uint8_t *deletes;
    int64_t left; /* rows of the batch that were not taken */
    bool ended;
} tn_upsert_feed;

int tn_upsert_feed_open(tarn_cx *cx, tn_incoming *in, size_t stream, tn_upsert_feed *out);
void tn_upsert_feed_close(tarn_cx *cx, tn_upsert_feed *feed);
/* Makes `left` positive, unless there are no more rows. */
int tn_upsert_feed_fill(tarn_cx *cx, tn_upsert_feed *feed);
/* The next `rows` rows, at most what is left; not yet taken. */
struct ArrowArray tn_upsert_feed_part(const tn_upsert_feed *feed, int64_t rows);
void tn_upsert_feed_take(tn_upsert_feed *feed, int64_t rows);

#endif
