/* A hash over the entries of one leaf, in order: levels and values, whatever batches and encodings
 * they come in. The hashes of all leaves together are a hash of the whole rows in their order: a
 * row that is lost, moved or changed moves or changes an entry of a leaf. */
#ifndef TN_EXEC_REWRITE_HASH_H
#define TN_EXEC_REWRITE_HASH_H

#include "base/buf.h"
#include "codec/parquet/leaf.h"

typedef struct tn_leaf_hash {
    void *state[3]; /* of definition levels, repetition levels, values */
    tn_buf scratch;
    int64_t rows;
} tn_leaf_hash;

int tn_leaf_hash_init(tarn_cx *cx, tn_leaf_hash *hash);
void tn_leaf_hash_clear(tn_leaf_hash *hash);
int tn_leaf_hash_add(tarn_cx *cx, tn_leaf_hash *hash, const tn_leaf *leaf,
                     const tn_leaf_batch *batch);
uint64_t tn_leaf_hash_value(const tn_leaf_hash *hash);
/* Folds the hash of leaf `i` into that of all. */
uint64_t tn_leaf_hash_fold(uint64_t all, size_t i, uint64_t leaf);

#endif
