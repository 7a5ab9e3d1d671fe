/* Column chunks whose values follow from a rule: one value throughout, a numbered series, nulls.
 * They are made without a value per row being kept or looked at. */
#ifndef TN_PARQUET_CHUNK_MADE_H
#define TN_PARQUET_CHUNK_MADE_H

#include "codec/parquet/leaf_write.h"

enum tn_made_kind {
    TN_MADE_NULL = 1, /* of an optional column, of any type */
    TN_MADE_SAME,     /* `text` in every row */
    TN_MADE_SERIES    /* `text`, then the decimal number first + i in row i */
};

/* SAME and SERIES are for flat columns of byte arrays. */
typedef struct tn_made {
    enum tn_made_kind kind;
    tn_str text;
    int64_t first; /* of a SERIES; not negative */
} tn_made;

/* A whole chunk of `rows` rows; the caller's to clear. Of the options, codec and level count, and
 * whether pages have checksums. INVALID when the rule does not suit the leaf.
 *   NULL    one page of levels
 *   SAME    a dictionary of one value, and one run per page
 *   SERIES  DELTA_BYTE_ARRAY: of each value the digits that differ from the value before */
int tn_chunk_made(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                  const tn_made *made, int64_t rows, tn_encoded_chunk *out);
/* The same rows into a chunk that has others, too. */
int tn_chunk_made_add(tarn_cx *cx, tn_chunk_writer *writer, const tn_leaf *leaf,
                      const tn_made *made, int64_t rows);
/* About how many bytes the chunk takes. */
uint64_t tn_chunk_made_bytes(const tn_made *made, int64_t rows);

#endif
