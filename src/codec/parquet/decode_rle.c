/* Decodes the RLE / bit-packed hybrid.
 *
 * I1: at most one of `repeat` and `packed` is above zero; `lead` is below 8, and 0 without a packed
 *     run.
 * I2: the bytes of a packed run were checked when it was opened. A last run that is cut short holds
 *     as many values as its bytes do: some writers do not pad the last group.
 * I3: each run header takes at least a byte, so empty runs cannot loop for ever. */
#include "codec/parquet/decode_rle.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "codec/parquet/unpack.h"

void tn_decode_rle_init(tn_rle_decoder *decoder, const uint8_t *bytes, size_t len, size_t base,
                        unsigned width)
{
    assert(width <= 32);
    *decoder = (tn_rle_decoder){
        .start = bytes, .at = bytes, .end = bytes + len, .base = base, .width = width};
    if (width == 0)
        decoder->repeat = UINT64_MAX;
}

static size_t place(const tn_rle_decoder *d)
{
    return d->base + (size_t)(d->at - d->start);
}

static int open_packed(tarn_cx *cx, tn_rle_decoder *d, uint64_t groups)
{
    uint64_t left = (uint64_t)(d->end - d->at);
    uint64_t bytes = groups > left / d->width ? left : groups * d->width;

    if (groups > left / d->width)
        d->packed = left * 8 / d->width;
    else
        d->packed = groups * 8;
    if (groups != 0 && d->packed == 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: a packed run of %" PRIu64 " groups has no bytes", place(d),
                       groups);
    d->group = d->at;
    d->lead = 0;
    d->at += bytes;
    return TARN_OK;
}

static int open_repeated(tarn_cx *cx, tn_rle_decoder *d, uint64_t count)
{
    size_t bytes = (d->width + 7) / 8;
    uint32_t value = 0;

    if ((size_t)(d->end - d->at) < bytes)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: a repeated run lacks its value", place(d));
    memcpy(&value, d->at, bytes);
    if (d->width < 32 && value >> d->width != 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: the repeated value %" PRIu32 " does not fit %u bits", place(d),
                       value, d->width);
    d->at += bytes;
    d->value = value;
    d->repeat = count;
    return TARN_OK;
}

int tn_decode_rle_open_run(tarn_cx *cx, tn_rle_decoder *d)
{
    int rc = TARN_OK;

    while (d->repeat == 0 && d->packed == 0) {
        uint64_t header;

        if (d->at < d->end && *d->at < 0x80) { /* short runs are many: no call for them */
            header = *d->at++;
        } else {
            tn_cursor cursor = tn_cursor_of(d->at, (size_t)(d->end - d->at));

            header = tn_cursor_varint(&cursor);
            if (cursor.failed)
                TN_FAIL(TARN_E_CORRUPT, "byte %zu: the runs end before all values are there",
                        place(d));
            d->at += cursor.at;
        }
        if (header & 1)
            TN_TRY(open_packed(cx, d, header >> 1));
        else
            TN_TRY(open_repeated(cx, d, header >> 1));
    }
done:
    return rc;
}

/* Moves past n values of the packed run. */
static void pass_packed(tn_rle_decoder *d, uint64_t n)
{
    uint64_t at = d->lead + n;

    d->packed -= n;
    d->group += at / 8 * d->width;
    d->lead = (unsigned)(at % 8);
}

int tn_decode_rle_skip(tarn_cx *cx, tn_rle_decoder *d, uint64_t n)
{
    int rc = TARN_OK;

    while (n != 0) {
        uint64_t some;

        TN_TRY(tn_decode_rle_open_run(cx, d));
        if (d->repeat != 0) {
            some = n < d->repeat ? n : d->repeat;
            d->repeat -= some;
        } else {
            some = n < d->packed ? n : d->packed;
            pass_packed(d, some);
        }
        n -= some;
    }
done:
    return rc;
}

/* How many of n values the packed run at hand gives in one step: first what is left of an opened
 * group, then the rest. */
static size_t packed_step(const tn_rle_decoder *d, size_t n)
{
    if (n > d->packed)
        n = (size_t)d->packed;
    if (d->lead != 0 && n > 8 - d->lead)
        n = 8 - d->lead;
    return n;
}

#define DEFINE_READ(bits, type)                                                                    \
    static void read_packed_u##bits(tn_rle_decoder *d, type *out, size_t n)                        \
    {                                                                                              \
        size_t len = (size_t)(d->end - d->group); /* readable; the run itself is in it */          \
                                                                                                   \
        if (d->lead == 0) {                                                                        \
            tn_unpack_u##bits(d->group, len, d->width, out, n);                                    \
        } else {                                                                                   \
            type some[8];                                                                          \
                                                                                                   \
            tn_unpack_u##bits(d->group, len, d->width, some, d->lead + n);                         \
            memcpy(out, some + d->lead, n * sizeof *out);                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    int tn_decode_rle_u##bits(tarn_cx *cx, tn_rle_decoder *d, type *out, size_t n)                 \
    {                                                                                              \
        int rc = TARN_OK;                                                                          \
                                                                                                   \
        assert(d->width <= bits);                                                                  \
        while (n != 0) {                                                                           \
            size_t some;                                                                           \
                                                                                                   \
            TN_TRY(tn_decode_rle_open_run(cx, d));                                                 \
            if (d->repeat != 0) {                                                                  \
                some = n < d->repeat ? n : (size_t)d->repeat;                                      \
                for (size_t i = 0; i < some; i++)                                                  \
                    out[i] = (type)d->value;                                                       \
                d->repeat -= some;                                                                 \
            } else {                                                                               \
                some = packed_step(d, n);                                                          \
                read_packed_u##bits(d, out, some);                                                 \
                pass_packed(d, some);                                                              \
            }                                                                                      \
            out += some;                                                                           \
            n -= some;                                                                             \
        }                                                                                          \
    done:                                                                                          \
        return rc;                                                                                 \
    }

DEFINE_READ(8, uint8_t)
DEFINE_READ(16, uint16_t)
DEFINE_READ(32, uint32_t)
