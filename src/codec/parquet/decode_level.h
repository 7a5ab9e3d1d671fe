/* Definition or repetition levels of one page, as RLE hybrid or in the deprecated BIT_PACKED form
 * (most significant bit first, no length: 05 39 77 is 0 1 2 3 4 5 6 7 in 3 bits). */
#ifndef TN_PARQUET_DECODE_LEVEL_H
#define TN_PARQUET_DECODE_LEVEL_H

#include "codec/parquet/decode_rle.h"

typedef struct tn_level_decoder {
    tn_rle_decoder rle;
    bool msb_first; /* BIT_PACKED; `bits` then counts those given */
    uint64_t bits;
    uint16_t max;
} tn_level_decoder;

/* Bits that hold 0 … max. */
unsigned tn_decode_level_width(uint16_t max);
/* Levels in a version 1 page begin at *at of a body of `len` bytes; *at moves past them. `max` is
 * above 0. */
int tn_decode_level_init_v1(tarn_cx *cx, tn_level_decoder *decoder, int32_t encoding, uint16_t max,
                            int64_t entries, const uint8_t *body, size_t len, size_t *at);
/* Version 2: exactly these bytes. */
void tn_decode_level_init_v2(tn_level_decoder *decoder, uint16_t max, const uint8_t *bytes,
                             size_t len, size_t base);
/* Exactly n levels; CORRUPT when there are fewer, or one is above the maximum. */
int tn_decode_level_read(tarn_cx *cx, tn_level_decoder *decoder, uint16_t *out, size_t n);
/* *all true, and the levels passed over, when the next n are one repeated run of the maximum. */
int tn_decode_level_all_max(tarn_cx *cx, tn_level_decoder *decoder, uint64_t n, bool *all);

#endif
