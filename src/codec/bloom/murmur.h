/* The chained 32-bit Murmur hash of Hudi's bloom filters, of one key or of many at once. */
#ifndef TN_CODEC_MURMUR_H
#define TN_CODEC_MURMUR_H

#include <stddef.h>
#include <stdint.h>

/* Keys that are hashed together: enough to hide the latency of multiplying vectors. */
#define TN_MURMUR_LANES 32
/* Longer keys are hashed one by one. */
#define TN_MURMUR_BYTES_MAX 128

int32_t tn_murmur(const uint8_t *key, size_t len, int32_t seed);

/* The bit that a hash stands for: |hash % bits|, bits in 1 .. INT32_MAX. */
static inline uint32_t tn_murmur_bit(int32_t hash, uint32_t bits)
{
    return (hash < 0 ? 0 - (uint32_t)hash : (uint32_t)hash) % bits;
}

/* Sets, for each of LANES keys of the same length (at most BYTES_MAX), the bits of the first
 * `hashes` hashes of its chain: bit i is bit i % 32 of words[i / 32]. A key may be there twice. */
void tn_murmur_set(const uint8_t *const *keys, size_t len, uint32_t hashes, uint32_t bits,
                   uint32_t *words);

#endif
