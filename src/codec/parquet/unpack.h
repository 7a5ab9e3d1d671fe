/* Bit-packed integers, least significant bit first: value i occupies bits i*width … of the bytes
 * read as one little-endian number. Example, width 3: 88 C6 FA -> 0 1 2 3 4 5 6 7. */
#ifndef TN_PARQUET_UNPACK_H
#define TN_PARQUET_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* `n` values into `out`. The caller has checked that in_len holds them: n * width <= in_len * 8.
 * Nothing beyond in_len is read and nothing beyond n is written. Width 0 gives zeros. */
void tn_unpack_u8(const uint8_t *in, size_t in_len, unsigned width, uint8_t *out, size_t n);
void tn_unpack_u16(const uint8_t *in, size_t in_len, unsigned width, uint16_t *out, size_t n);
void tn_unpack_u32(const uint8_t *in, size_t in_len, unsigned width, uint32_t *out, size_t n);
void tn_unpack_u64(const uint8_t *in, size_t in_len, unsigned width, uint64_t *out, size_t n);

#endif
