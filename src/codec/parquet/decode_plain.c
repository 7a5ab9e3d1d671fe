/* Decodes PLAIN. I1: `at` never passes `end`. */
#include "codec/parquet/decode_plain.h"

#include <inttypes.h>
#include <string.h>

void tn_decode_plain_init(tn_plain_decoder *decoder, const uint8_t *bytes, size_t len, size_t base,
                          size_t width)
{
    *decoder = (tn_plain_decoder){bytes, bytes, bytes + len, base, width, 0};
}

static int fail_short(tarn_cx *cx, const tn_plain_decoder *d, uint64_t n)
{
    return tn_fail(cx, TARN_E_CORRUPT,
                   "byte %zu: %" PRIu64 " more values wanted, but only %zu bytes are left",
                   d->base + (size_t)(d->at - d->start), n, (size_t)(d->end - d->at));
}

int tn_decode_plain_fixed(tarn_cx *cx, tn_plain_decoder *d, size_t n, const uint8_t **out)
{
    if (d->width != 0 && n > (size_t)(d->end - d->at) / d->width)
        return fail_short(cx, d, n);
    *out = d->at;
    d->at += n * d->width;
    return TARN_OK;
}

int tn_decode_plain_bytes(tarn_cx *cx, tn_plain_decoder *d, tn_view *out, size_t n)
{
    const uint8_t *at = d->at, *end = d->end;
    size_t i;

    for (i = 0; i < n; i++) {
        uint32_t len;

        if ((size_t)(end - at) < 4)
            break;
        memcpy(&len, at, 4);
        if (len > (size_t)(end - at) - 4)
            break;
        out[i] = (tn_view){at + 4, len};
        at += 4 + (size_t)len;
    }
    d->at = at;
    return i == n ? TARN_OK : fail_short(cx, d, n - i);
}

int tn_decode_plain_skip_bytes(tarn_cx *cx, tn_plain_decoder *d, uint64_t n)
{
    tn_view dropped[64];
    int rc = TARN_OK;

    while (n != 0) {
        size_t some = n < 64 ? (size_t)n : 64;

        TN_TRY(tn_decode_plain_bytes(cx, d, dropped, some));
        n -= some;
    }
done:
    return rc;
}

/* The eight bits of a byte as eight bytes of 0 or 1. */
static inline void spread(uint8_t byte, uint8_t *out)
{
    uint64_t word = (byte * 0x0101010101010101ull) & 0x8040201008040201ull;

    word = (word + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
    memcpy(out, &word, 8);
}

int tn_decode_plain_skip_booleans(tarn_cx *cx, tn_plain_decoder *d, uint64_t n)
{
    uint64_t have = (uint64_t)(d->end - d->at) * 8 - d->bit;

    if (n > have)
        return fail_short(cx, d, n);
    d->at += (d->bit + n) / 8;
    d->bit = (unsigned)((d->bit + n) % 8);
    return TARN_OK;
}

int tn_decode_plain_booleans(tarn_cx *cx, tn_plain_decoder *d, uint8_t *out, size_t n)
{
    const uint8_t *at = d->at;
    unsigned bit = d->bit;
    int rc = TARN_OK;

    TN_TRY(tn_decode_plain_skip_booleans(cx, d, n));
    for (; n != 0 && bit != 0; n--) {
        *out++ = *at >> bit & 1;
        bit = (bit + 1) % 8;
        at += bit == 0;
    }
    for (; n >= 8; n -= 8, out += 8)
        spread(*at++, out);
    for (size_t i = 0; i < n; i++)
        out[i] = *at >> i & 1;
done:
    return rc;
}
