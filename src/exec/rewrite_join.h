/* One leaf of an output row group, from open to a finished chunk. One thread at a time for a leaf;
 * leaves are independent. */
#ifndef TN_EXEC_REWRITE_JOIN_H
#define TN_EXEC_REWRITE_JOIN_H

#include "exec/rewrite.h"

void tn_rewrite_leaf_init(tn_rewrite *r, size_t leaf);
/* The plan has it encoded, all of it. */
bool tn_rewrite_leaf_encodes(const tn_rewrite *r, size_t leaf);
bool tn_rewrite_leaf_is_open(const tn_rewrite *r, size_t leaf);
int tn_rewrite_leaf_open(tarn_cx *cx, tn_rewrite *r, size_t leaf);
/* Appends the segment's rows, and hashes them where a hash is wanted. */
int tn_rewrite_leaf_segment(tarn_cx *cx, tn_rewrite *r, size_t leaf, const tn_loaded *loaded,
                            const tn_segment *segment);
/* The chunk goes to r->encoded[leaf]; it must have `rows` rows. */
int tn_rewrite_leaf_finish(tarn_cx *cx, tn_rewrite *r, size_t leaf, int64_t rows);
/* Shows the segment's values to the leaf's bloom filter, which asked for them again. */
int tn_rewrite_leaf_look(tarn_cx *cx, tn_rewrite *r, size_t leaf, const tn_loaded *loaded,
                         const tn_segment *segment);
void tn_rewrite_leaf_close(tn_rewrite *r, size_t leaf);
/* What was done for each leaf, into the result. */
int tn_rewrite_leaves_told(tarn_cx *cx, const tn_rewrite *r, tn_arena *arena, tn_result *result);

#endif
