/* Bytes in order from a file, a descriptor or memory.
 * I1: a chunk is never empty before the end; after the end every call gives the end again.
 * I2: a file is read up to the size it had when it was opened: what a writer appends meanwhile is
 *     not part of it, and what is cut off is CORRUPT. */
#include "io/feed.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/store_error.h"

/* Measured on a local disk: larger reads gain nothing. */
#define CHUNK_BYTES (256u << 10)
#define WAIT_MS     100

typedef struct file_feed {
    tn_feed base;
    tn_file *file;
    uint64_t at;
    uint8_t *chunk;
} file_feed;

typedef struct fd_feed {
    tn_feed base;
    int fd;
    bool ended;
    uint8_t *chunk;
} fd_feed;

typedef struct memory_feed {
    tn_feed base;
    const uint8_t *bytes;
    size_t len, at, step;
} memory_feed;

typedef struct peek_feed {
    tn_feed base;
    tn_feed *inner;
    tn_buf held;
    bool given; /* what is held */
    bool ended; /* `inner` */
} peek_feed;

int tn_feed_next(tarn_cx *cx, tn_feed *feed, const uint8_t **bytes, size_t *len)
{
    int rc = TARN_OK;

    assert(feed != NULL && bytes != NULL && len != NULL);
    TN_TRY(tn_cx_check(cx));
    TN_TRY(feed->next(cx, feed, bytes, len));
done:
    return rc;
}

void tn_feed_close(tn_feed *feed)
{
    if (feed != NULL)
        feed->close(feed);
}

/* A feed of `size` bytes with a copy of its name behind it. */
static void *feed_make(tarn_cx *cx, size_t size, tn_str name,
                       int (*next)(tarn_cx *, tn_feed *, const uint8_t **, size_t *),
                       void (*close_feed)(tn_feed *))
{
    tn_feed *feed = tn_calloc(cx, 1, size + name.len + 1);
    char *copy = (char *)feed + size;

    if (feed == NULL)
        return NULL;
    if (name.len != 0)
        memcpy(copy, name.ptr, name.len);
    feed->name = (tn_str){copy, name.len};
    feed->next = next;
    feed->close = close_feed;
    return feed;
}

static int file_next(tarn_cx *cx, tn_feed *base, const uint8_t **bytes, size_t *len)
{
    file_feed *feed = (file_feed *)base;
    uint64_t left = feed->file->stat.size_bytes - feed->at;
    size_t n = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    int rc = TARN_OK;

    if (n != 0)
        TN_TRY(tn_store_read(cx, feed->file, feed->at, feed->chunk, n));
    feed->at += n;
    *bytes = feed->chunk;
    *len = n;
done:
    return rc;
}

static void file_close(tn_feed *base)
{
    file_feed *feed = (file_feed *)base;

    tn_store_close_file(feed->file);
    free(feed->chunk);
    free(feed);
}

int tn_feed_open_file(tarn_cx *cx, tn_store *store, tn_str path, tn_feed **out)
{
    file_feed *feed = feed_make(cx, sizeof *feed, path, file_next, file_close);
    int rc = TARN_OK;

    if (feed == NULL)
        TN_TRY(TARN_E_NOMEM);
    feed->chunk = tn_alloc(cx, CHUNK_BYTES);
    if (feed->chunk == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_store_open_file(cx, store, path, &feed->file));
    *out = &feed->base;
    feed = NULL;
done:
    if (feed != NULL)
        file_close(&feed->base);
    return rc;
}

/* Until there is something to read, or the end; looks in between whether the caller asked to stop,
 * for the writer of a pipe may never say anything. */
static int fd_wait(tarn_cx *cx, const fd_feed *feed)
{
    struct pollfd wanted = {.fd = feed->fd, .events = POLLIN};
    int found, rc = TARN_OK;

    do {
        TN_TRY(tn_cx_check(cx));
        found = poll(&wanted, 1, WAIT_MS);
    } while (found == 0 || (found < 0 && errno == EINTR));
done:
    return rc;
}

static int fd_next(tarn_cx *cx, tn_feed *base, const uint8_t **bytes, size_t *len)
{
    fd_feed *feed = (fd_feed *)base;
    ssize_t n = 0;
    int rc = TARN_OK;

    if (!feed->ended)
        TN_TRY(fd_wait(cx, feed));
    while (!feed->ended && (n = read(feed->fd, feed->chunk, CHUNK_BYTES)) < 0) {
        /* A signal may have come to ask for the end. */
        if (errno != EINTR)
            TN_TRY(tn_store_error(cx, errno, "read it", base->name));
        TN_TRY(tn_cx_check(cx));
    }
    feed->ended = n == 0;
    *bytes = feed->chunk;
    *len = (size_t)n;
done:
    return rc;
}

static void fd_close(tn_feed *base)
{
    fd_feed *feed = (fd_feed *)base;

    free(feed->chunk);
    free(feed);
}

int tn_feed_open_fd(tarn_cx *cx, int fd, tn_str name, tn_feed **out)
{
    fd_feed *feed = feed_make(cx, sizeof *feed, name, fd_next, fd_close);
    int rc = TARN_OK;

    if (feed == NULL)
        TN_TRY(TARN_E_NOMEM);
    feed->fd = fd;
    feed->chunk = tn_alloc(cx, CHUNK_BYTES);
    if (feed->chunk == NULL)
        TN_TRY(TARN_E_NOMEM);
    *out = &feed->base;
    feed = NULL;
done:
    if (feed != NULL)
        fd_close(&feed->base);
    return rc;
}

static int memory_next(tarn_cx *cx, tn_feed *base, const uint8_t **bytes, size_t *len)
{
    memory_feed *feed = (memory_feed *)base;
    size_t left = feed->len - feed->at;

    (void)cx;
    *bytes = feed->bytes + feed->at;
    *len = feed->step != 0 && feed->step < left ? feed->step : left;
    feed->at += *len;
    return TARN_OK;
}

static void memory_close(tn_feed *base)
{
    free(base);
}

int tn_feed_open_memory(tarn_cx *cx, const void *bytes, size_t len, size_t step, tn_str name,
                        tn_feed **out)
{
    memory_feed *feed = feed_make(cx, sizeof *feed, name, memory_next, memory_close);

    if (feed == NULL)
        return TARN_E_NOMEM;
    feed->bytes = len != 0 ? bytes : (const uint8_t *)"";
    feed->len = len;
    feed->step = step;
    *out = &feed->base;
    return TARN_OK;
}

static int peek_next(tarn_cx *cx, tn_feed *base, const uint8_t **bytes, size_t *len)
{
    peek_feed *feed = (peek_feed *)base;
    bool first = !feed->given && feed->held.len != 0;

    feed->given = true;
    if (!first && !feed->ended) {
        tn_buf_clear(&feed->held);
        return tn_feed_next(cx, feed->inner, bytes, len);
    }
    *bytes = feed->held.data;
    *len = first ? feed->held.len : 0;
    return TARN_OK;
}

static void peek_close(tn_feed *base)
{
    peek_feed *feed = (peek_feed *)base;

    tn_feed_close(feed->inner);
    tn_buf_clear(&feed->held);
    free(feed);
}

int tn_feed_open_peek(tarn_cx *cx, tn_feed *inner, size_t want, tn_feed **out, tn_str *first)
{
    peek_feed *feed = feed_make(cx, sizeof *feed, inner->name, peek_next, peek_close);
    const uint8_t *bytes;
    size_t len;
    int rc = TARN_OK;

    if (feed == NULL)
        TN_TRY(TARN_E_NOMEM);
    while (!feed->ended && feed->held.len < want) {
        TN_TRY(tn_feed_next(cx, inner, &bytes, &len));
        feed->ended = len == 0;
        tn_buf_add(&feed->held, bytes, len);
        TN_TRY(tn_buf_check(cx, &feed->held));
    }
    feed->inner = inner;
    *first = tn_buf_view(&feed->held);
    *out = &feed->base;
    feed = NULL;
done:
    if (feed != NULL)
        peek_close(&feed->base);
    return rc;
}
