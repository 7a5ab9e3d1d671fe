/* The delta encodings.
 *
 * DELTA_BINARY_PACKED
 *   header    := block size, miniblocks per block, values (LEB128 each), first value (zigzag
 * LEB128) block     := least delta (zigzag LEB128), one byte of bit width per miniblock, the
 * miniblocks miniblock := block size / miniblocks deltas less the least one, bit-packed (unpack.h)
 *   Example, 1 2 3 4 5 as INT32: 80 01 04 05 02 | 02 00 00 00 00
 * DELTA_LENGTH_BYTE_ARRAY: the lengths in DELTA_BINARY_PACKED, then all bytes
 * DELTA_BYTE_ARRAY: lengths of the prefix shared with the value before, in DELTA_BINARY_PACKED,
 *   then the suffixes as DELTA_LENGTH_BYTE_ARRAY */
#ifndef TN_PARQUET_DECODE_DELTA_H
#define TN_PARQUET_DECODE_DELTA_H

#include "base/context.h"
#include "codec/parquet/leaf.h"
#include "codec/parquet/lease.h"

enum { TN_DELTA_CHUNK = 32 }; /* a miniblock is a multiple of this */

typedef struct tn_delta_decoder {
    const uint8_t *start, *at, *end;
    size_t base;
    uint64_t total, left; /* values of the header; not given yet */
    bool first;           /* the first value is still to be given */
    uint64_t last;        /* the value given last; arithmetic wraps */
    uint64_t least;       /* of the block */
    const uint8_t *widths;
    uint32_t minis, mini; /* per block; those opened of this block */
    uint64_t mini_values; /* per miniblock */
    const uint8_t *mini_at;
    uint64_t mini_left; /* values of the opened miniblock not unpacked yet */
    unsigned width;
    unsigned chunk_at, chunk_len; /* deltas unpacked, not given yet */
    uint64_t chunk[TN_DELTA_CHUNK];
} tn_delta_decoder;

int tn_decode_delta_init(tarn_cx *cx, tn_delta_decoder *decoder, const uint8_t *bytes, size_t len,
                         size_t base);
/* Exactly n values, or CORRUPT with the byte. For INT32 sums wrap at 32 bits. */
int tn_decode_delta_i32(tarn_cx *cx, tn_delta_decoder *decoder, int32_t *out, size_t n);
int tn_decode_delta_i64(tarn_cx *cx, tn_delta_decoder *decoder, int64_t *out, size_t n);
int tn_decode_delta_skip(tarn_cx *cx, tn_delta_decoder *decoder, uint64_t n);
/* Bytes from `start` to the end of the last miniblock, found without unpacking; `decoder` is as
 * init left it. */
int tn_decode_delta_size(tarn_cx *cx, const tn_delta_decoder *decoder, size_t *size);

typedef struct tn_delta_length_decoder {
    tn_delta_decoder lengths;
    const uint8_t *start, *at, *end; /* the bytes */
    size_t base;
} tn_delta_length_decoder;

int tn_decode_delta_length_init(tarn_cx *cx, tn_delta_length_decoder *decoder, const uint8_t *bytes,
                                size_t len, size_t base);
/* Exactly n views into the page. */
int tn_decode_delta_length_read(tarn_cx *cx, tn_delta_length_decoder *decoder, tn_view *out,
                                size_t n);
int tn_decode_delta_length_skip(tarn_cx *cx, tn_delta_length_decoder *decoder, uint64_t n);

/* Whole values need memory that the page does not tell in advance, so reading has two steps: plan
 * decodes lengths and tells the sum, read copies. */
typedef struct tn_delta_bytes_decoder {
    tn_delta_decoder prefixes;
    tn_delta_length_decoder suffixes;
    tn_delta_decoder prefixes_before, lengths_before; /* as they were before the plan */
    tn_lease lens; /* of the plan: prefix and suffix lengths, `planned` of each */
    size_t planned;
    uint64_t planned_bytes; /* their sum */
    tn_lease last;          /* the value before */
    uint32_t last_len;
} tn_delta_bytes_decoder;

/* The leases stay between pages; all else is set. */
int tn_decode_delta_bytes_init(tarn_cx *cx, tn_delta_bytes_decoder *decoder, const uint8_t *bytes,
                               size_t len, size_t base);
void tn_decode_delta_bytes_clear(tn_delta_bytes_decoder *decoder);
/* Plans the next *n values, or as many of them (at least one) as stay within bytes_max; *bytes is
 * their sum. A plan may be replaced by a smaller one. */
int tn_decode_delta_bytes_plan(tarn_cx *cx, tn_delta_bytes_decoder *decoder, size_t *n,
                               uint64_t bytes_max, uint64_t *bytes);
/* Gives all that is planned: views into `room`, which has the bytes told. `width` 0: any length;
 * else every value must have that length and `out` may be NULL. */
int tn_decode_delta_bytes_read(tarn_cx *cx, tn_delta_bytes_decoder *decoder, uint8_t *room,
                               tn_view *out, uint32_t width);

#endif
