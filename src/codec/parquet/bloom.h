/* Split-block bloom filters: the blocks that stand in a file behind their header
 * (tn_bloom_header_encode). A filter says "certainly not there" or "perhaps there".
 *
 * Hashes are XXH64, seed 0, of a value's plain encoding; a byte array's without its length. NaN and
 * zeros are hashed by their bits: who asks must ask for -0.0 and 0.0 both, and may not ask for NaN.
 */
#ifndef TN_PARQUET_BLOOM_H
#define TN_PARQUET_BLOOM_H

#include "codec/parquet/leaf.h"

/* Bytes of a filter that errs with probability `fpp` on `distinct` values: a power of two from 32
 * to TN_PARQUET_BLOOM_BYTES_MAX. */
size_t tn_bloom_size(uint64_t distinct, double fpp);

uint64_t tn_bloom_hash(const void *bytes, size_t len);
/* `blocks` has `len` bytes, a multiple of 32 and not 0; zeroed it is the empty filter. */
void tn_bloom_insert(uint8_t *blocks, size_t len, uint64_t hash);
/* Inserts values of a leaf as tn_values holds them (any type but BOOLEAN). */
void tn_bloom_insert_values(uint8_t *blocks, size_t len, const tn_leaf *leaf,
                            const tn_values *values);
/* Sorts hashes and drops doubles; how many are left. */
size_t tn_bloom_distinct(uint64_t *hashes, size_t count);
/* How probably the filter says "perhaps" to a value it does not hold, by the bits that are set. */
double tn_bloom_fpp(tn_str blocks);
/* Adds what another filter of the same size holds. */
void tn_bloom_merge(uint8_t *blocks, tn_str other);
/* False when no value of this hash was inserted. */
bool tn_bloom_query(tn_str blocks, uint64_t hash);

#endif
