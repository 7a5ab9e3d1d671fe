/* Bloom filters of joined leaves: merged out of the inputs' filters where that is sound, else made
 * anew of decoded values, while the chunks themselves are joined. */
#ifndef TN_EXEC_REWRITE_FILTER_H
#define TN_EXEC_REWRITE_FILTER_H

#include "base/buf.h"
#include "codec/parquet/file.h"
#include "codec/parquet/leaf_write.h"

typedef struct tn_rewrite_filter {
    bool wanted;
    bool by_values;   /* filters of inputs were of no use before: hash the values at once */
    bool broken;      /* in this row group some chunk has no filter, or one of another size */
    bool again;       /* the row group's values must be read for it, after all */
    const char *lost; /* why there is none; static */
    tn_buf merged;    /* the union of the inputs' filters */
    tn_buf hashes;    /* uint64_t, of values seen decoded */
    uint64_t dictionary_id, reserved_bytes;
} tn_rewrite_filter;

void tn_rewrite_filter_clear(tarn_cx *cx, tn_rewrite_filter *filter);
/* A whole chunk is joined: takes its filter. *look: its values must be shown as batches, too. */
int tn_rewrite_filter_chunk(tarn_cx *cx, tn_rewrite_filter *filter, const tn_parquet *file,
                            size_t group, size_t leaf, bool *look);
/* Values of the output's leaf. */
int tn_rewrite_filter_batch(tarn_cx *cx, tn_rewrite_filter *filter, const tn_leaf *leaf,
                            const tn_leaf_batch *batch);
/* The filter of a row group goes into its chunk; or `again` is set: show all values of the row
 * group and end once more. Then the next row group may come. */
int tn_rewrite_filter_end(tarn_cx *cx, tn_rewrite_filter *filter, tn_encoded_chunk *chunk);

#endif
