/* Unpacks a feed while it is read.
 *
 *   first bytes                 is
 *   1F 8B                       gzip: members back to back, each with its own checksum; zero bytes
 *                               after the last one are the padding of tapes and blocks
 *   28 B5 2F FD                 zstd: frames back to back
 *   5x 2A 4D 18                 a skippable frame, which parallel zstd writers begin with
 *
 *   head ──> chunk of the packed feed ──> unpacked chunk
 *
 * I1: the input may end between members or frames, nowhere else.
 * I2: `at` is the place of the first packed byte not yet used, which every failure names.
 * I3: one unpacked chunk is held, however far the packed bytes unpack. */
#include "codec/zip/zip_feed.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/budget.h"

#define CHUNK_BYTES (256u << 10)
/* Enough to know every packing, and a zstd frame's window. */
#define HEAD_BYTES 6
/* Streams of the highest level without --ultra have this window. */
#define WINDOW_BYTES_USUAL (8u << 20)
/* zlib's own number for a gzip wrapping and the largest window. */
#define GZIP_WINDOW_BITS (15 + 16)

enum packing { PLAIN, GZIP, ZSTD };

typedef struct zip_feed {
    tn_feed base;
    tn_feed *inner;
    enum packing packing;
    tn_buf head;       /* the first chunks, gathered until there are HEAD_BYTES */
    const uint8_t *in; /* packed bytes that are left */
    size_t in_len;
    uint64_t at;
    bool input_ended;
    bool inside;  /* of a member or frame */
    bool padding; /* gzip: the members are over */
    bool flush;   /* the last unpacked chunk was full: there may be more without more input */
    z_stream gzip;
    bool gzip_made;
    ZSTD_DStream *zstd;
    uint8_t *chunk;
    uint64_t reserved;
    struct tn_budget *budget; /* that `reserved` was taken from */
} zip_feed;

static const struct {
    const char *magic;
    size_t len;
    const char *name, *tool;
} others[] = {
    {"BZh", 3, "bzip2", "bzip2 -dc"},
    {"\xFD"
     "7zXZ",
     5, "xz", "xz -dc"},
    {"\x04\x22\x4D\x18", 4, "lz4", "lz4 -dc"},
    {"\xFF\x06\x00\x00s", 5, "snappy's framing", "snzip -dc"},
    {"PK\x03\x04", 4, "zip", "unzip -p"},
};

static int find_packing(tarn_cx *cx, tn_str name, tn_str head, enum packing *out)
{
    const uint8_t *at = (const uint8_t *)head.ptr;

    *out = PLAIN;
    if (head.len >= 2 && at[0] == 0x1F && at[1] == 0x8B)
        *out = GZIP;
    else if (head.len >= 4 && at[1] == 0xB5 && at[0] == 0x28 && at[2] == 0x2F && at[3] == 0xFD)
        *out = ZSTD;
    else if (head.len >= 4 && at[0] >> 4 == 5 && at[1] == 0x2A && at[2] == 0x4D && at[3] == 0x18)
        *out = ZSTD;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tn_str_starts(head, (tn_str){others[i].magic, others[i].len}))
            return tn_fail(cx, TARN_E_UNSUPPORTED,
                           "%.*s: packed with %s, which is not read; unpack it into standard "
                           "input: %s FILE | tarn … -",
                           TN_STR_ARG(name), others[i].name, others[i].tool);
    return TARN_OK;
}

/* Gathers the first bytes: chunks of the packed feed may be as short as one byte. */
static int read_head(tarn_cx *cx, zip_feed *feed)
{
    const uint8_t *bytes;
    size_t len;
    int rc = TARN_OK;

    while (feed->head.len < HEAD_BYTES && !feed->input_ended) {
        TN_TRY(tn_feed_next(cx, feed->inner, &bytes, &len));
        feed->input_ended = len == 0;
        tn_buf_add(&feed->head, bytes, len);
    }
    TN_TRY(tn_buf_check(cx, &feed->head));
    feed->in = feed->head.data;
    feed->in_len = feed->head.len;
done:
    return rc;
}

/* The window that the first frame asks for (RFC 8878, 3.1.1.1): a descriptor byte behind the
 * magic and the flags, unless the frame is a single segment, as small ones are. */
static uint64_t first_window(tn_str head)
{
    const uint8_t *at = (const uint8_t *)head.ptr;
    bool frame = head.len >= HEAD_BYTES && at[0] == 0x28;
    uint64_t base;

    if (!frame || (at[4] & 0x20) != 0)
        return WINDOW_BYTES_USUAL;
    base = 1ull << (10 + (at[5] >> 3));
    return base + base / 8 * (at[5] & 7);
}

static int open_zstd(tarn_cx *cx, zip_feed *feed)
{
    uint64_t window = first_window(tn_buf_view(&feed->head));
    int rc = TARN_OK;

    if (window > 1ull << TN_ZSTD_WINDOW_LOG_MAX)
        window = 1ull << TN_ZSTD_WINDOW_LOG_MAX;
    TN_TRY(tn_budget_take(cx, window, "unpacking zstd"));
    feed->reserved = window;
    feed->budget = cx->budget;
    feed->zstd = ZSTD_createDStream();
    if (feed->zstd == NULL)
        TN_TRY(tn_fail_memory(cx));
    ZSTD_DCtx_setParameter(feed->zstd, ZSTD_d_windowLogMax, TN_ZSTD_WINDOW_LOG_MAX);
done:
    return rc;
}

static int open_unpacker(tarn_cx *cx, zip_feed *feed)
{
    int rc = TARN_OK;

    if (feed->packing == PLAIN)
        return TARN_OK;
    feed->chunk = tn_alloc(cx, CHUNK_BYTES);
    if (feed->chunk == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (feed->packing == ZSTD) {
        TN_TRY(open_zstd(cx, feed));
    } else {
        if (inflateInit2(&feed->gzip, GZIP_WINDOW_BITS) != Z_OK)
            TN_TRY(tn_fail_memory(cx));
        feed->gzip_made = true;
    }
done:
    return rc;
}

static int fail_broken(tarn_cx *cx, const zip_feed *feed, const char *why)
{
    return tn_fail(cx, TARN_E_CORRUPT, "%.*s: byte %" PRIu64 " of the packed file: %s: %s",
                   TN_STR_ARG(feed->base.name), feed->at,
                   feed->packing == GZIP ? "broken gzip" : "broken zstd", why);
}

/* More packed bytes where there are none left; at their end the state must be a whole one (I1). */
static int refill(tarn_cx *cx, zip_feed *feed)
{
    int rc = TARN_OK;

    if (feed->in_len != 0)
        return TARN_OK;
    if (!feed->input_ended) {
        TN_TRY(tn_feed_next(cx, feed->inner, &feed->in, &feed->in_len));
        feed->input_ended = feed->in_len == 0;
    }
    if (feed->input_ended && feed->inside)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: byte %" PRIu64 " of the packed file: the %s stream is cut off there; copy "
                "the file again from where it is whole",
                TN_STR_ARG(feed->base.name), feed->at, feed->packing == GZIP ? "gzip" : "zstd");
done:
    return rc;
}

static void use(zip_feed *feed, size_t n)
{
    assert(n <= feed->in_len);
    if (n == 0)
        return; /* an input without bytes has no place to count from */
    feed->in += n;
    feed->in_len -= n;
    feed->at += n;
}

/* Between gzip members: another one, or nothing but padding. */
static int start_member(tarn_cx *cx, zip_feed *feed)
{
    feed->padding = feed->padding || (feed->at != 0 && feed->in[0] == 0);
    if (!feed->padding) {
        feed->inside = true;
        return inflateReset(&feed->gzip) == Z_OK ? TARN_OK : fail_broken(cx, feed, "no state");
    }
    while (feed->in_len != 0 && feed->in[0] == 0)
        use(feed, 1);
    return feed->in_len == 0 ? TARN_OK : fail_broken(cx, feed, "bytes follow the last member");
}

/* One step of zlib; *made 0 where it only took input. */
static int step_gzip(tarn_cx *cx, zip_feed *feed, size_t *made)
{
    z_stream *z = &feed->gzip;
    int got, rc = TARN_OK;

    *made = 0;
    if (!feed->inside) {
        TN_TRY(start_member(cx, feed));
        if (!feed->inside)
            return TARN_OK;
    }
    z->next_in = (uint8_t *)(uintptr_t)feed->in;
    z->avail_in = feed->in_len < CHUNK_BYTES ? (uInt)feed->in_len : CHUNK_BYTES;
    z->next_out = feed->chunk;
    z->avail_out = CHUNK_BYTES;
    got = inflate(z, Z_NO_FLUSH);
    use(feed, (size_t)(z->next_in - feed->in));
    *made = CHUNK_BYTES - z->avail_out;
    feed->flush = z->avail_out == 0 && got == Z_OK;
    if (got == Z_STREAM_END)
        feed->inside = false;
    else if (got == Z_MEM_ERROR)
        rc = tn_fail_memory(cx);
    else if (got != Z_OK && got != Z_BUF_ERROR)
        rc = fail_broken(cx, feed, z->msg != NULL ? z->msg : "no such stream");
done:
    return rc;
}

static int fail_zstd(tarn_cx *cx, const zip_feed *feed, size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return tn_fail_memory(cx);
    case ZSTD_error_frameParameter_windowTooLarge:
        return tn_fail(cx, TARN_E_LIMIT,
                       "%.*s: byte %" PRIu64 " of the packed file: the zstd frame needs a window "
                       "of more than %u MiB; unpack it into standard input: zstd -dc --long=31 "
                       "FILE | tarn … -",
                       TN_STR_ARG(feed->base.name), feed->at, 1u << (TN_ZSTD_WINDOW_LOG_MAX - 20));
    default:
        return fail_broken(cx, feed, ZSTD_getErrorName(code));
    }
}

static int step_zstd(tarn_cx *cx, zip_feed *feed, size_t *made)
{
    ZSTD_inBuffer in = {feed->in, feed->in_len, 0};
    ZSTD_outBuffer out = {feed->chunk, CHUNK_BYTES, 0};
    size_t left = ZSTD_decompressStream(feed->zstd, &out, &in);

    *made = out.pos;
    if (ZSTD_isError(left))
        return fail_zstd(cx, feed, left);
    use(feed, in.pos);
    feed->inside = left != 0;
    feed->flush = feed->inside && out.pos == CHUNK_BYTES;
    return TARN_OK;
}

static int unpack_next(tarn_cx *cx, zip_feed *feed, size_t *len)
{
    size_t made = 0;
    int rc = TARN_OK;

    while (made == 0) {
        if (!feed->flush)
            TN_TRY(refill(cx, feed));
        if (feed->in_len == 0 && !feed->flush)
            break;
        feed->flush = false;
        TN_TRY(feed->packing == GZIP ? step_gzip(cx, feed, &made) : step_zstd(cx, feed, &made));
    }
    *len = made;
done:
    return rc;
}

static int zip_next(tarn_cx *cx, tn_feed *base, const uint8_t **bytes, size_t *len)
{
    zip_feed *feed = (zip_feed *)base;
    size_t n;
    int rc = TARN_OK;

    if (feed->packing != PLAIN) {
        TN_TRY(unpack_next(cx, feed, &n));
        *bytes = feed->chunk;
        *len = n;
    } else {
        TN_TRY(refill(cx, feed));
        *bytes = feed->in;
        *len = feed->in_len;
        use(feed, feed->in_len);
    }
done:
    return rc;
}

/* All but the packed feed. */
static void release(zip_feed *feed)
{
    tarn_cx lender = {.budget = feed->budget};

    if (feed->gzip_made)
        inflateEnd(&feed->gzip);
    ZSTD_freeDStream(feed->zstd);
    if (feed->reserved != 0)
        tn_budget_give(&lender, feed->reserved);
    free(feed->chunk);
    tn_buf_clear(&feed->head);
    free(feed);
}

static void zip_close(tn_feed *base)
{
    zip_feed *feed = (zip_feed *)base;

    tn_feed_close(feed->inner);
    release(feed);
}

int tn_zip_feed_open(tarn_cx *cx, tn_feed *packed, tn_feed **out)
{
    zip_feed *feed = tn_calloc(cx, 1, sizeof *feed);
    int rc = TARN_OK;

    assert(packed != NULL && out != NULL);
    if (feed == NULL)
        return TARN_E_NOMEM;
    feed->base = (tn_feed){.next = zip_next, .close = zip_close, .name = packed->name};
    feed->inner = packed;
    TN_TRY(read_head(cx, feed));
    TN_TRY(find_packing(cx, packed->name, tn_buf_view(&feed->head), &feed->packing));
    TN_TRY(open_unpacker(cx, feed));
    *out = &feed->base;
    feed = NULL;
done:
    if (feed != NULL)
        release(feed);
    return rc;
}
