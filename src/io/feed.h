/* Bytes in order, from a file of a store, standard input or memory. One thread at a time. */
#ifndef TN_IO_FEED_H
#define TN_IO_FEED_H

#include "io/store.h"

typedef struct tn_feed tn_feed;
struct tn_feed {
    /* The next bytes, valid until the next call; *len 0 at the end. */
    int (*next)(tarn_cx *cx, tn_feed *feed, const uint8_t **bytes, size_t *len);
    void (*close)(tn_feed *feed);
    tn_str name; /* for messages: the path, or "standard input" */
};

int tn_feed_next(tarn_cx *cx, tn_feed *feed, const uint8_t **bytes, size_t *len);
/* Accepts NULL. */
void tn_feed_close(tn_feed *feed);

int tn_feed_open_file(tarn_cx *cx, tn_store *store, tn_str path, tn_feed **out);
/* The descriptor is borrowed. */
int tn_feed_open_fd(tarn_cx *cx, int fd, tn_str name, tn_feed **out);
/* The bytes are borrowed. Gives at most `step` bytes a call; 0: all at once. */
int tn_feed_open_memory(tarn_cx *cx, const void *bytes, size_t len, size_t step, tn_str name,
                        tn_feed **out);

/* A look ahead: the first bytes of `feed`, at least `want` or all there are. They come again as the
 * first of *out, to which `feed` then belongs (it stays the caller's on failure). *first is valid
 * until the first tn_feed_next. */
int tn_feed_open_peek(tarn_cx *cx, tn_feed *feed, size_t want, tn_feed **out, tn_str *first);

#endif
