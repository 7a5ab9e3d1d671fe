/* Dictionary-encoded values: one byte of bit width, then indices as RLE hybrid.
 * Example, width 1: 01 | 03 05 -> indices 1 0 1 0 0 0 0 0 */
#ifndef TN_PARQUET_DECODE_DICTIONARY_H
#define TN_PARQUET_DECODE_DICTIONARY_H

#include "codec/parquet/decode_rle.h"
#include "codec/parquet/leaf.h"

int tn_decode_dictionary_init(tarn_cx *cx, tn_rle_decoder *decoder, const uint8_t *bytes,
                              size_t len, size_t base);
/* Exactly n indices below `count`, or CORRUPT. */
int tn_decode_dictionary_indices(tarn_cx *cx, tn_rle_decoder *decoder, int64_t count, uint32_t *out,
                                 size_t n);
/* The values themselves, `width` bytes each. */
int tn_decode_dictionary_values(tarn_cx *cx, tn_rle_decoder *decoder, const tn_values *dictionary,
                                size_t width, uint8_t *out, size_t n);

#endif
