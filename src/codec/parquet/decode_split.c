/* Gathers split bytes. Widths 2, 4 and 8 interleave 16 values at a time in vector registers. */
#include "codec/parquet/decode_split.h"

#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 load(const uint8_t *at)
{
    bytes16 value;

    memcpy(&value, at, 16);
    return value;
}

static inline void store(uint8_t *at, bytes16 value)
{
    memcpy(at, &value, 16);
}

/* a0 b0 a1 b1 … of the first, or the last, eight bytes. */
static inline bytes16 zip_low(bytes16 a, bytes16 b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline bytes16 zip_high(bytes16 a, bytes16 b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

/* Zips streams k and k + width/2 until each register holds whole values: log2(width) rounds. */
static inline __attribute__((always_inline)) void block(const uint8_t *in, size_t stride,
                                                        unsigned width, uint8_t *out)
{
    bytes16 now[8], next[8];

#pragma GCC unroll 8
    for (unsigned k = 0; k < width; k++)
        now[k] = load(in + k * stride);
#pragma GCC unroll 3
    for (unsigned round = 1; round < width; round *= 2) {
#pragma GCC unroll 4
        for (unsigned k = 0; k < width / 2; k++) {
            next[2 * k] = zip_low(now[k], now[k + width / 2]);
            next[2 * k + 1] = zip_high(now[k], now[k + width / 2]);
        }
#pragma GCC unroll 8
        for (unsigned k = 0; k < width; k++)
            now[k] = next[k];
    }
#pragma GCC unroll 8
    for (unsigned k = 0; k < width; k++)
        store(out + k * 16, now[k]);
}

#define BLOCKS(w)                                                                                  \
    for (; n - done >= 16; done += 16)                                                             \
    block(bytes + from + done, count, w, out + done * (w))

/* Whole blocks of 16 values; how many values were done. */
static size_t blocks(const uint8_t *bytes, size_t count, size_t width, size_t from, uint8_t *out,
                     size_t n)
{
    size_t done = 0;

    switch (width) {
    case 2:
        BLOCKS(2);
        break;
    case 4:
        BLOCKS(4);
        break;
    case 8:
        BLOCKS(8);
        break;
    default:
        break;
    }
    return done;
}

void tn_decode_split(const uint8_t *bytes, size_t count, size_t width, size_t from, uint8_t *out,
                     size_t n)
{
    size_t done = blocks(bytes, count, width, from, out, n);

    /* 256 values at a time, so that what is written stays in the nearest cache. */
    while (done < n) {
        size_t some = n - done < 256 ? n - done : 256;

        for (size_t k = 0; k < width; k++) {
            const uint8_t *stream = bytes + k * count + from + done;
            uint8_t *at = out + done * width + k;

            for (size_t i = 0; i < some; i++)
                at[i * width] = stream[i];
        }
        done += some;
    }
}
