/* One row put together from several pages: version 1 pages may end inside a row. */
#ifndef TN_PARQUET_LEAF_JOIN_H
#define TN_PARQUET_LEAF_JOIN_H

#include "codec/parquet/leaf_page.h"

typedef struct tn_leaf_join {
    tn_lease rep, def, values; /* all pieces so far */
    size_t entries, count;
    tn_lease piece; /* values of the piece at hand */
    tn_lease
        *blocks; /* bytes of its BYTE_ARRAY values, one block a piece, so that views stay valid */
    size_t block_count, block_cap;
} tn_leaf_join;

void tn_leaf_join_clear(tn_leaf_join *join);
/* Forgets the row before. */
void tn_leaf_join_reset(tn_leaf_join *join);
/* Takes the first `entries` of the page's window and their values, by copy. */
int tn_leaf_join_add(tarn_cx *cx, tn_leaf_join *join, const tn_leaf *leaf, tn_leaf_page *page,
                     size_t entries);
/* The row as a batch, valid until the next reset. */
void tn_leaf_join_batch(const tn_leaf_join *join, tn_leaf_batch *out);

#endif
