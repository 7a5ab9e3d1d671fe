/* Hive's hash of key columns, which decides the reducer of a row under DISTRIBUTE BY:
 *     h = 0; for each column: h = 31 * h + hash(value), in 32 bits
 *     reducer = (h & 0x7fffffff) % reducers
 * of values: null 0; boolean 1 or 0; integers of up to 32 bits the value; 64 bits the halves
 * exclusive-or; float its bits, double its bits as 64 (0.0 and -0.0 differ; every NaN is Java's
 * one); date its days; text r = 31 * r + signed byte over UTF-8, from 0. An unsigned integer of 32
 * or 64 bits is hashed as Hive's bigint, which holds it where int cannot.
 * Other types (decimals, timestamps, binary, nested ones) are UNSUPPORTED by name: their hashes
 * differ between releases of Hive. */
#ifndef TN_BATCH_HIVE_HASH_H
#define TN_BATCH_HIVE_HASH_H

#include "batch/rows.h"

/* UNSUPPORTED, naming the column, for a type without a hash. */
int tn_hive_hash_check(tarn_cx *cx, const struct ArrowSchema *column);
/* hashes[i] = 31 * hashes[i] + hash of value i, for `count` rows from row `first` of the array (its
 * offset is added here). The type is a checked one, and no dictionary. */
void tn_hive_hash_add(const tn_type *type, const struct ArrowArray *array, int64_t first,
                      int64_t count, uint32_t *hashes);
uint32_t tn_hive_hash_reducer(uint32_t hash, uint32_t reducers);

#endif
