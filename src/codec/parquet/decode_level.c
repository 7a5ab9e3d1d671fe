/* Decodes levels. I1: no level above the leaf's maximum leaves this file. */
#include "codec/parquet/decode_level.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "codec/parquet/meta.h"

unsigned tn_decode_level_width(uint16_t max)
{
    unsigned width = 0;

    while (max >> width != 0)
        width++;
    return width;
}

int tn_decode_level_init_v1(tarn_cx *cx, tn_level_decoder *decoder, int32_t encoding, uint16_t max,
                            int64_t entries, const uint8_t *body, size_t len, size_t *at)
{
    unsigned width = tn_decode_level_width(max);
    uint64_t bytes;
    size_t from = *at;

    assert(max > 0 && from <= len && entries >= 0);
    *decoder = (tn_level_decoder){.max = max};
    if (encoding == TN_ENC_RLE) {
        uint32_t stated;

        if (len - from < 4)
            return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: the length of the levels is missing",
                           from);
        memcpy(&stated, body + from, 4);
        from += 4;
        bytes = stated;
    } else if (encoding == TN_ENC_BIT_PACKED) {
        decoder->msb_first = true;
        bytes = ((uint64_t)entries * width + 7) / 8;
    } else {
        return tn_fail(cx, TARN_E_UNSUPPORTED, "levels in encoding %" PRId32 " are not known",
                       encoding);
    }
    if (bytes > len - from)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: %" PRIu64 " bytes of levels, but the page ends after %zu", from,
                       bytes, len - from);
    tn_decode_rle_init(&decoder->rle, body + from, (size_t)bytes, from, width);
    *at = from + (size_t)bytes;
    return TARN_OK;
}

void tn_decode_level_init_v2(tn_level_decoder *decoder, uint16_t max, const uint8_t *bytes,
                             size_t len, size_t base)
{
    *decoder = (tn_level_decoder){.max = max};
    tn_decode_rle_init(&decoder->rle, bytes, len, base, tn_decode_level_width(max));
}

/* Levels most significant bit first. Rare (writers before 2014), so value by value. */
static int read_msb_first(tarn_cx *cx, tn_level_decoder *d, uint16_t *out, size_t n)
{
    const uint8_t *bytes = d->rle.start;
    uint64_t have = (uint64_t)(d->rle.end - bytes) * 8;

    if (n > (have - d->bits) / d->rle.width)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: fewer levels than values",
                       d->rle.base + (size_t)(d->rle.end - bytes));
    for (size_t i = 0; i < n; i++) {
        unsigned value = 0;

        for (unsigned k = 0; k < d->rle.width; k++, d->bits++)
            value = value << 1 | (bytes[d->bits / 8] >> (7 - d->bits % 8) & 1);
        out[i] = (uint16_t)value;
    }
    return TARN_OK;
}

int tn_decode_level_read(tarn_cx *cx, tn_level_decoder *d, uint16_t *out, size_t n)
{
    uint16_t most = 0;
    int rc = TARN_OK;

    if (d->msb_first)
        TN_TRY(read_msb_first(cx, d, out, n));
    else
        TN_TRY(tn_decode_rle_u16(cx, &d->rle, out, n));
    /* Where the maximum is all ones in its width no level can be above it. */
    for (size_t i = 0; (d->max & (d->max + 1)) != 0 && i < n; i++)
        most = out[i] > most ? out[i] : most;
    if (most > d->max)
        TN_FAIL(TARN_E_CORRUPT, "byte %zu: a level of %u, but the column's highest is %u",
                d->rle.base + (size_t)(d->rle.at - d->rle.start), most, d->max);
done:
    return rc;
}

int tn_decode_level_all_max(tarn_cx *cx, tn_level_decoder *d, uint64_t n, bool *all)
{
    bool same = false;
    int rc = TARN_OK;

    if (!d->msb_first && n != 0) {
        TN_TRY(tn_decode_rle_open_run(cx, &d->rle));
        same = d->rle.repeat >= n && d->rle.value == d->max;
        if (same)
            d->rle.repeat -= n;
    }
    *all = same;
done:
    return rc;
}
