/* Decodes the delta encodings.
 *
 * I1: a miniblock's bytes are checked when it is opened; a last one that is cut short serves if the
 *     values still wanted are in it.
 * I2: bit widths of miniblocks that are not needed are not looked at: they may be anything.
 * I3: nothing is allocated or looped by a count of the header alone; every value given was asked
 *     for. */
#include "codec/parquet/decode_delta.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "codec/parquet/unpack.h"

static size_t place(const tn_delta_decoder *d)
{
    return d->base + (size_t)(d->at - d->start);
}

int tn_decode_delta_init(tarn_cx *cx, tn_delta_decoder *d, const uint8_t *bytes, size_t len,
                         size_t base)
{
    tn_cursor cursor = tn_cursor_of(bytes, len);
    uint64_t block = tn_cursor_varint(&cursor);
    uint64_t minis = tn_cursor_varint(&cursor);
    uint64_t total = tn_cursor_varint(&cursor);
    int64_t first = tn_zigzag(tn_cursor_varint(&cursor));

    if (cursor.failed)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: the header of the deltas is cut", base);
    if (block == 0 || block % 128 != 0 || block > UINT32_MAX)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: %" PRIu64 " deltas a block is not a multiple of 128", base,
                       block);
    if (minis == 0 || block % minis != 0 || block / minis % TN_DELTA_CHUNK != 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: %" PRIu64 " deltas do not make %" PRIu64
                       " miniblocks of a multiple of 32",
                       base, block, minis);
    if (total > INT32_MAX)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: %" PRIu64 " values are too many for a page",
                       base, total);
    *d = (tn_delta_decoder){.start = bytes,
                            .at = bytes + cursor.at,
                            .end = bytes + len,
                            .base = base,
                            .total = total,
                            .left = total,
                            .first = true,
                            .last = (uint64_t)first,
                            .minis = (uint32_t)minis,
                            .mini = (uint32_t)minis,
                            .mini_values = block / minis};
    return TARN_OK;
}

static int open_block(tarn_cx *cx, tn_delta_decoder *d)
{
    tn_cursor cursor = tn_cursor_of(d->at, (size_t)(d->end - d->at));
    uint64_t least = tn_cursor_varint(&cursor);
    const uint8_t *widths = tn_cursor_bytes(&cursor, d->minis);

    if (cursor.failed)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: the header of a block of deltas is cut",
                       place(d));
    d->least = (uint64_t)tn_zigzag(least);
    d->widths = widths;
    d->mini = 0;
    d->at += cursor.at;
    return TARN_OK;
}

/* Opens the next miniblock, which holds at least the next `wanted` of the values left. */
static int open_mini(tarn_cx *cx, tn_delta_decoder *d, uint64_t deltas_left)
{
    uint64_t bytes, needed, have;
    int rc = TARN_OK;

    if (d->mini == d->minis)
        TN_TRY(open_block(cx, d));
    d->width = d->widths[d->mini];
    if (d->width > 64)
        TN_FAIL(TARN_E_CORRUPT, "byte %zu: deltas of %u bits", place(d), d->width);
    have = (uint64_t)(d->end - d->at);
    bytes = d->mini_values / 8 * d->width;
    needed = deltas_left < d->mini_values ? (deltas_left * d->width + 7) / 8 : bytes;
    if (have < needed)
        TN_FAIL(TARN_E_CORRUPT, "byte %zu: %" PRIu64 " bytes of deltas wanted, %" PRIu64 " left",
                place(d), needed, have);
    d->mini++;
    d->mini_at = d->at;
    d->mini_left = d->mini_values;
    d->at += have < bytes ? have : bytes;
done:
    return rc;
}

/* Unpacks the next deltas, at most a chunk. */
static int fill(tarn_cx *cx, tn_delta_decoder *d)
{
    uint64_t deltas = d->left - (d->first ? 1 : 0), n;
    size_t len;
    int rc = TARN_OK;

    if (d->mini_left == 0)
        TN_TRY(open_mini(cx, d, deltas));
    n = deltas < TN_DELTA_CHUNK ? deltas : TN_DELTA_CHUNK;
    len = (size_t)(d->at - d->mini_at);
    /* I1 has seen to the bytes of these; what follows them may be read too, which is faster. */
    tn_unpack_u64(d->mini_at, (size_t)(d->end - d->mini_at), d->width, d->chunk, (size_t)n);
    d->mini_at += len < 4 * d->width ? len : 4 * d->width;
    d->mini_left -= TN_DELTA_CHUNK;
    d->chunk_at = 0;
    d->chunk_len = (unsigned)n;
done:
    return rc;
}

static int check_left(tarn_cx *cx, const tn_delta_decoder *d, uint64_t n)
{
    if (n > d->left)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: the deltas hold %" PRIu64 " values, fewer than the page",
                       place(d), d->total);
    return TARN_OK;
}

#define DEFINE_READ(bits)                                                                          \
    int tn_decode_delta_i##bits(tarn_cx *cx, tn_delta_decoder *d, int##bits##_t *out, size_t n)    \
    {                                                                                              \
        int rc = TARN_OK;                                                                          \
                                                                                                   \
        TN_TRY(check_left(cx, d, n));                                                              \
        if (n != 0 && d->first) {                                                                  \
            *out++ = (int##bits##_t)d->last;                                                       \
            d->first = false;                                                                      \
            d->left--;                                                                             \
            n--;                                                                                   \
        }                                                                                          \
        while (n != 0) {                                                                           \
            size_t some;                                                                           \
            uint##bits##_t last, least = (uint##bits##_t)d->least;                                 \
                                                                                                   \
            if (d->chunk_at == d->chunk_len) {                                                     \
                TN_TRY(fill(cx, d));                                                               \
                least = (uint##bits##_t)d->least;                                                  \
            }                                                                                      \
            some = d->chunk_len - d->chunk_at;                                                     \
            some = some < n ? some : n;                                                            \
            last = (uint##bits##_t)d->last;                                                        \
            for (size_t i = 0; i < some; i++) {                                                    \
                last += (uint##bits##_t)d->chunk[d->chunk_at + i] + least;                         \
                out[i] = (int##bits##_t)last;                                                      \
            }                                                                                      \
            d->last = last;                                                                        \
            d->chunk_at += (unsigned)some;                                                         \
            d->left -= some;                                                                       \
            out += some;                                                                           \
            n -= some;                                                                             \
        }                                                                                          \
    done:                                                                                          \
        return rc;                                                                                 \
    }

DEFINE_READ(32)
DEFINE_READ(64)

int tn_decode_delta_skip(tarn_cx *cx, tn_delta_decoder *d, uint64_t n)
{
    int64_t dropped[256];
    int rc = TARN_OK;

    TN_TRY(check_left(cx, d, n));
    while (n != 0) {
        size_t some = n < 256 ? (size_t)n : 256;

        TN_TRY(tn_decode_delta_i64(cx, d, dropped, some));
        n -= some;
    }
done:
    return rc;
}

int tn_decode_delta_size(tarn_cx *cx, const tn_delta_decoder *decoder, size_t *size)
{
    tn_delta_decoder d = *decoder;
    uint64_t deltas = d.total == 0 ? 0 : d.total - 1;
    int rc = TARN_OK;

    while (deltas != 0) {
        TN_TRY(open_mini(cx, &d, deltas));
        deltas -= deltas < d.mini_values ? deltas : d.mini_values;
    }
    *size = (size_t)(d.at - d.start);
done:
    return rc;
}

int tn_decode_delta_length_init(tarn_cx *cx, tn_delta_length_decoder *d, const uint8_t *bytes,
                                size_t len, size_t base)
{
    size_t size;
    int rc = TARN_OK;

    TN_TRY(tn_decode_delta_init(cx, &d->lengths, bytes, len, base));
    TN_TRY(tn_decode_delta_size(cx, &d->lengths, &size));
    d->start = d->at = bytes + size;
    d->end = bytes + len;
    d->base = base + size;
done:
    return rc;
}

static int fail_length(tarn_cx *cx, const tn_delta_length_decoder *d, int32_t len)
{
    return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: a value of %" PRId32 " bytes, %zu left",
                   d->base + (size_t)(d->at - d->start), len, (size_t)(d->end - d->at));
}

int tn_decode_delta_length_read(tarn_cx *cx, tn_delta_length_decoder *d, tn_view *out, size_t n)
{
    int32_t lens[256];
    int rc = TARN_OK;

    while (n != 0) {
        size_t some = n < 256 ? n : 256;

        TN_TRY(tn_decode_delta_i32(cx, &d->lengths, lens, some));
        for (size_t i = 0; i < some; i++) {
            if (lens[i] < 0 || lens[i] > d->end - d->at) {
                rc = fail_length(cx, d, lens[i]);
                goto done;
            }
            out[i] = (tn_view){d->at, (uint32_t)lens[i]};
            d->at += lens[i];
        }
        out += some;
        n -= some;
    }
done:
    return rc;
}

int tn_decode_delta_length_skip(tarn_cx *cx, tn_delta_length_decoder *d, uint64_t n)
{
    tn_view dropped[256];
    int rc = TARN_OK;

    while (n != 0) {
        size_t some = n < 256 ? (size_t)n : 256;

        TN_TRY(tn_decode_delta_length_read(cx, d, dropped, some));
        n -= some;
    }
done:
    return rc;
}

int tn_decode_delta_bytes_init(tarn_cx *cx, tn_delta_bytes_decoder *d, const uint8_t *bytes,
                               size_t len, size_t base)
{
    size_t size;
    int rc = TARN_OK;

    d->planned = 0;
    d->last_len = 0;
    TN_TRY(tn_decode_delta_init(cx, &d->prefixes, bytes, len, base));
    TN_TRY(tn_decode_delta_size(cx, &d->prefixes, &size));
    TN_TRY(tn_decode_delta_length_init(cx, &d->suffixes, bytes + size, len - size, base + size));
    if (d->prefixes.total != d->suffixes.lengths.total)
        TN_FAIL(TARN_E_CORRUPT, "byte %zu: %" PRIu64 " prefixes but %" PRIu64 " suffixes",
                base + size, d->prefixes.total, d->suffixes.lengths.total);
done:
    return rc;
}

void tn_decode_delta_bytes_clear(tn_delta_bytes_decoder *d)
{
    tn_lease_clear(&d->lens);
    tn_lease_clear(&d->last);
}

/* Decodes n lengths of each kind into `lens`. */
static int plan_lengths(tarn_cx *cx, tn_delta_bytes_decoder *d, size_t n)
{
    int32_t *lens;
    int rc = TARN_OK;

    TN_TRY(tn_lease_grow(cx, &d->lens, n * 2 * sizeof *lens, 0, "lengths of values"));
    lens = (int32_t *)(void *)d->lens.data;
    TN_TRY(tn_decode_delta_i32(cx, &d->prefixes, lens, n));
    TN_TRY(tn_decode_delta_i32(cx, &d->suffixes.lengths, lens + n, n));
    d->planned = n;
done:
    return rc;
}

/* Checks the planned lengths and counts how many values stay within bytes_max (at least one). */
static int plan_sum(tarn_cx *cx, const tn_delta_bytes_decoder *d, uint64_t bytes_max, size_t *n,
                    uint64_t *bytes)
{
    const int32_t *prefix = (const int32_t *)(const void *)d->lens.data;
    const int32_t *suffix = prefix + d->planned;
    uint64_t before = d->last_len, sum = 0, data = 0;
    uint64_t left = (uint64_t)(d->suffixes.end - d->suffixes.at);
    size_t i;

    for (i = 0; i < d->planned; i++) {
        uint64_t len = (uint64_t)(uint32_t)prefix[i] + (uint32_t)suffix[i];

        if (prefix[i] < 0 || (uint32_t)prefix[i] > before)
            return tn_fail(cx, TARN_E_CORRUPT,
                           "byte %zu: a prefix of %" PRId32
                           " bytes, but the value before has %" PRIu64,
                           d->prefixes.base, prefix[i], before);
        if (suffix[i] < 0 || (uint32_t)suffix[i] > left - data)
            return fail_length(cx, &d->suffixes, suffix[i]);
        if (sum + len > bytes_max && i != 0)
            break;
        data += (uint32_t)suffix[i];
        sum += len;
        before = len;
    }
    *n = i;
    *bytes = sum;
    return TARN_OK;
}

int tn_decode_delta_bytes_plan(tarn_cx *cx, tn_delta_bytes_decoder *d, size_t *n,
                               uint64_t bytes_max, uint64_t *bytes)
{
    size_t fit = 0;
    uint64_t sum = 0;
    int rc = TARN_OK;

    if (d->planned != 0) {
        d->prefixes = d->prefixes_before;
        d->suffixes.lengths = d->lengths_before;
        d->planned = 0;
    }
    d->prefixes_before = d->prefixes;
    d->lengths_before = d->suffixes.lengths;
    TN_TRY(plan_lengths(cx, d, *n));
    TN_TRY(plan_sum(cx, d, bytes_max, &fit, &sum));
    if (fit < *n) {
        d->prefixes = d->prefixes_before;
        d->suffixes.lengths = d->lengths_before;
        TN_TRY(plan_lengths(cx, d, fit));
    }
    d->planned_bytes = sum;
    *n = fit;
    *bytes = sum;
done:
    return rc;
}

/* Keeps the value just given for the prefix of the next. */
static int keep_last(tarn_cx *cx, tn_delta_bytes_decoder *d, const uint8_t *value, uint32_t len)
{
    int rc = TARN_OK;

    TN_TRY(tn_lease_grow(cx, &d->last, len, 0, "a value"));
    if (len != 0)
        memcpy(d->last.data, value, len);
    d->last_len = len;
done:
    return rc;
}

int tn_decode_delta_bytes_read(tarn_cx *cx, tn_delta_bytes_decoder *d, uint8_t *room, tn_view *out,
                               uint32_t width)
{
    const int32_t *prefix = (const int32_t *)(const void *)d->lens.data;
    const int32_t *suffix = prefix + d->planned;
    const uint8_t *before = d->last.data, *bytes = d->suffixes.at;
    uint32_t len = d->last_len;
    int rc = TARN_OK;

    if (d->planned == 0)
        return TARN_OK;
    for (size_t i = 0; i < d->planned; i++) {
        len = (uint32_t)prefix[i] + (uint32_t)suffix[i];
        if (width != 0 && len != width)
            TN_FAIL(TARN_E_CORRUPT,
                    "byte %zu: a value of %" PRIu32 " bytes in a column of %" PRIu32,
                    d->suffixes.base + (size_t)(bytes - d->suffixes.start), len, width);
        if (prefix[i] != 0)
            memcpy(room, before, (size_t)prefix[i]);
        if (suffix[i] != 0)
            memcpy(room + prefix[i], bytes, (size_t)suffix[i]);
        bytes += suffix[i];
        if (out != NULL)
            out[i] = (tn_view){room, len};
        before = room;
        room += len;
    }
    d->suffixes.at = bytes;
    d->planned = 0;
    TN_TRY(keep_last(cx, d, before, len));
done:
    return rc;
}
