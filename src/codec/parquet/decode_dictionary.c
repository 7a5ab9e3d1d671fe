/* Looks values up. I1: no index is used before it was compared with the dictionary's count. */
#include "codec/parquet/decode_dictionary.h"

#include <inttypes.h>
#include <string.h>

int tn_decode_dictionary_init(tarn_cx *cx, tn_rle_decoder *decoder, const uint8_t *bytes,
                              size_t len, size_t base)
{
    if (len == 0)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: the bit width of the indices is missing",
                       base);
    if (bytes[0] > 32)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: dictionary indices of %u bits", base,
                       bytes[0]);
    tn_decode_rle_init(decoder, bytes + 1, len - 1, base + 1, bytes[0]);
    return TARN_OK;
}

static int check(tarn_cx *cx, const tn_rle_decoder *d, const uint32_t *indices, size_t n,
                 int64_t count)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = indices[i] > most ? indices[i] : most;
    if (n != 0 && most >= count)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: index %" PRIu32 " into a dictionary of %" PRId64 " values",
                       d->base + (size_t)(d->at - d->start), most, count);
    return TARN_OK;
}

int tn_decode_dictionary_indices(tarn_cx *cx, tn_rle_decoder *decoder, int64_t count, uint32_t *out,
                                 size_t n)
{
    int rc = TARN_OK;

    TN_TRY(tn_decode_rle_u32(cx, decoder, out, n));
    TN_TRY(check(cx, decoder, out, n, count));
done:
    return rc;
}

#define GATHER(w)                                                                                  \
    case w:                                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            memcpy(out + i * (w), from + (size_t)indices[i] * (w), (w));                           \
        break

static void gather(const uint8_t *from, const uint32_t *indices, size_t width, uint8_t *out,
                   size_t n)
{
    switch (width) {
        GATHER(1);
        GATHER(4);
        GATHER(8);
        GATHER(12);
        GATHER(16);
    default:
        for (size_t i = 0; i < n; i++)
            memcpy(out + i * width, from + (size_t)indices[i] * width, width);
    }
}

int tn_decode_dictionary_values(tarn_cx *cx, tn_rle_decoder *d, const tn_values *dictionary,
                                size_t width, uint8_t *out, size_t n)
{
    uint32_t indices[1024];
    int rc = TARN_OK;

    while (n != 0) {
        size_t some = n < 1024 ? n : 1024;

        TN_TRY(tn_decode_dictionary_indices(cx, d, dictionary->count, indices, some));
        gather(dictionary->data, indices, width, out, some);
        out += some * width;
        n -= some;
    }
done:
    return rc;
}
