/* PLAIN.
 *   BOOLEAN               bits, least significant first: 0D is 1 0 1 1
 *   INT32 … DOUBLE, FIXED the bytes of each value, little-endian
 *   BYTE_ARRAY            a little-endian u32 of its length, then its bytes: 02 00 00 00 68 69 is
 * "hi" */
#ifndef TN_PARQUET_DECODE_PLAIN_H
#define TN_PARQUET_DECODE_PLAIN_H

#include "base/context.h"
#include "codec/parquet/leaf.h"

typedef struct tn_plain_decoder {
    const uint8_t *start, *at, *end;
    size_t base;
    size_t width; /* of a fixed value; 0 for BOOLEAN and BYTE_ARRAY */
    unsigned bit; /* BOOLEAN: bits given of the byte `at` */
} tn_plain_decoder;

void tn_decode_plain_init(tn_plain_decoder *decoder, const uint8_t *bytes, size_t len, size_t base,
                          size_t width);
/* n values that stand in the page, without a copy; CORRUPT when there are fewer. */
int tn_decode_plain_fixed(tarn_cx *cx, tn_plain_decoder *decoder, size_t n, const uint8_t **out);
int tn_decode_plain_bytes(tarn_cx *cx, tn_plain_decoder *decoder, tn_view *out, size_t n);
int tn_decode_plain_skip_bytes(tarn_cx *cx, tn_plain_decoder *decoder, uint64_t n);
int tn_decode_plain_booleans(tarn_cx *cx, tn_plain_decoder *decoder, uint8_t *out, size_t n);
int tn_decode_plain_skip_booleans(tarn_cx *cx, tn_plain_decoder *decoder, uint64_t n);

#endif
