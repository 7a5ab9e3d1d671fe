/* Encoders of page contents. Each appends to `out`; a failed growth is sticky there
 * (tn_buf_check). None of them knows pages, levels' length prefixes or compression. */
#ifndef TN_PARQUET_ENCODE_H
#define TN_PARQUET_ENCODE_H

#include "codec/parquet/leaf.h"

/* The RLE/bit-packed hybrid without any length prefix. `width` is bits per value, 0 to 32; values
 * must fit it. `item` is the size of an element of `values`: 1, 2 or 4 bytes. */
void tn_encode_hybrid(tn_buf *out, const void *values, size_t item, size_t count, unsigned width);
/* `count` times the same value, as one run. */
void tn_encode_run(tn_buf *out, uint32_t value, size_t count, unsigned width);
/* Bits needed for values 0 to `max`. */
static inline unsigned tn_encode_width(uint32_t max)
{
    return max == 0 ? 0 : 32 - (unsigned)__builtin_clz(max);
}

/* PLAIN of any physical type. */
void tn_encode_plain(tn_buf *out, const tn_leaf *leaf, tn_values values);

/* DELTA_BINARY_PACKED: blocks of 128 values in four miniblocks, as all writers do. */
void tn_encode_delta32(tn_buf *out, const int32_t *values, size_t count);
void tn_encode_delta64(tn_buf *out, const int64_t *values, size_t count);

/* DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY. */
void tn_encode_delta_length(tn_buf *out, const tn_view *values, size_t count);
void tn_encode_delta_bytes(tn_buf *out, const tn_view *values, size_t count);

/* BYTE_STREAM_SPLIT of values of `width` bytes each. */
void tn_encode_split(tn_buf *out, const void *values, size_t count, size_t width);

#endif
