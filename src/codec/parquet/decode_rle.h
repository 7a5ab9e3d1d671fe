/* The RLE / bit-packed hybrid: levels, dictionary indices, booleans.
 *
 *   runs      := <header: unsigned LEB128> ...
 *   header&1 == 0: repeated run: header>>1 times the value in ceil(width/8) bytes, little-endian
 *   header&1 == 1: packed run: header>>1 groups of 8 values, width bytes each (unpack.h)
 *
 * Example, width 3: 03 88 C6 FA | 0A 05 -> 0 1 2 3 4 5 6 7 | 5 5 5 5 5 */
#ifndef TN_PARQUET_DECODE_RLE_H
#define TN_PARQUET_DECODE_RLE_H

#include "base/context.h"

typedef struct tn_rle_decoder {
    const uint8_t *start, *at, *end;
    size_t base; /* offset of `start` in the page body, for messages */
    unsigned width;
    uint32_t value;  /* of the repeated run at hand */
    uint64_t repeat; /* values left of it */
    uint64_t packed; /* values left of the packed run at hand; only one of the two is above 0 */
    const uint8_t *group; /* the group of the packed run's next value */
    unsigned lead;        /* values of that group already given */
} tn_rle_decoder;

/* Width 0 … 32. The bytes are borrowed. Values of width 0 are all zero and need no bytes. */
void tn_decode_rle_init(tn_rle_decoder *decoder, const uint8_t *bytes, size_t len, size_t base,
                        unsigned width);
/* Exactly n values, or CORRUPT with the byte. Widths beyond the output type are the caller's bug.
 */
int tn_decode_rle_u8(tarn_cx *cx, tn_rle_decoder *decoder, uint8_t *out, size_t n);
int tn_decode_rle_u16(tarn_cx *cx, tn_rle_decoder *decoder, uint16_t *out, size_t n);
int tn_decode_rle_u32(tarn_cx *cx, tn_rle_decoder *decoder, uint32_t *out, size_t n);
/* Passes over n values without unpacking them. */
int tn_decode_rle_skip(tarn_cx *cx, tn_rle_decoder *decoder, uint64_t n);
/* Opens the next run when none is at hand. */
int tn_decode_rle_open_run(tarn_cx *cx, tn_rle_decoder *decoder);

#endif
