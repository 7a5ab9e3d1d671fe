/* BYTE_STREAM_SPLIT: the first bytes of all values, then all second bytes, and so on.
 * Example: the floats of bytes 01 02 03 04 and 11 12 13 14 are 01 11 02 12 03 13 04 14. */
#include "codec/parquet/encode.h"

static inline __attribute__((always_inline)) void split(uint8_t *to, const uint8_t *from,
                                                        size_t count, size_t width)
{
    /* Blocks keep the writes of all streams within the first-level cache. */
    for (size_t at = 0; at < count; at += 256) {
        size_t n = count - at < 256 ? count - at : 256;

        for (size_t k = 0; k < width; k++)
            for (size_t i = 0; i < n; i++)
                to[k * count + at + i] = from[(at + i) * width + k];
    }
}

void tn_encode_split(tn_buf *out, const void *values, size_t count, size_t width)
{
    uint8_t *to = tn_buf_extend(out, count * width);

    if (to == NULL || count == 0)
        return;
    if (width == 4)
        split(to, values, count, 4);
    else if (width == 8)
        split(to, values, count, 8);
    else
        split(to, values, count, width);
}
