/* The bytes of a feed that have been read and not yet been used, in one piece. */
#ifndef TN_CSV_WINDOW_H
#define TN_CSV_WINDOW_H

#include "codec/parquet/lease.h"
#include "io/feed.h"

typedef struct tn_csv_window {
    tn_feed *feed; /* borrowed */
    tn_lease room;
    size_t at, len; /* [at, len) are there; TN_CSV_PAD more bytes may be read */
    const uint8_t *pending;
    size_t pending_len; /* given by the feed, not yet taken */
    uint64_t taken;     /* bytes that the feed gave in all */
    bool ended;         /* nothing comes after `len` */
} tn_csv_window;

void tn_csv_window_clear(tn_csv_window *window);
/* At least `want` bytes are there, or all that is left. Moves what is there. */
int tn_csv_window_fill(tarn_cx *cx, tn_csv_window *window, size_t want);

static inline const uint8_t *tn_csv_window_text(const tn_csv_window *window)
{
    return window->room.data + window->at;
}

static inline size_t tn_csv_window_size(const tn_csv_window *window)
{
    return window->len - window->at;
}

#endif
