/* BYTE_STREAM_SPLIT: byte k of every value stands in stream k; the streams follow each other.
 * Example, two FLOATs AA BB CC DD and 00 11 22 33: AA 00 BB 11 CC 22 DD 33. */
#ifndef TN_PARQUET_DECODE_SPLIT_H
#define TN_PARQUET_DECODE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/* Values from … from + n of the `count` whose streams are at `bytes` (count * width bytes). */
void tn_decode_split(const uint8_t *bytes, size_t count, size_t width, size_t from, uint8_t *out,
                     size_t n);

#endif
