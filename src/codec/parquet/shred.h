/* Arrow arrays to the levels and values of Parquet leaves. */
#ifndef TN_PARQUET_SHRED_H
#define TN_PARQUET_SHRED_H

#include "base/arena.h"
#include "base/buf.h"
#include "batch/format.h"
#include "codec/parquet/leaf.h"
#include "tarn/batch.h"

/* How Arrow values become physical ones. */
enum tn_shred_form {
    TN_SHRED_COPY,    /* the same bytes */
    TN_SHRED_BOOL,    /* bits to bytes */
    TN_SHRED_WIDEN,   /* 8 and 16 bits to INT32 */
    TN_SHRED_SECONDS, /* seconds to milliseconds, checked */
    TN_SHRED_DATE64,  /* milliseconds to days, checked */
    TN_SHRED_DECIMAL, /* to big-endian FIXED, checked */
    TN_SHRED_BYTES,   /* offsets or views */
    TN_SHRED_NULL     /* no values */
};

/* A field on the way from the batch to a leaf. */
typedef struct tn_shred_step {
    tn_format format; /* of a dictionary-encoded leaf: its values' */
    tn_format index;  /* of a dictionary-encoded leaf: its indices' */
    bool dictionary, nullable;
    uint32_t child; /* which child of the array one level up */
} tn_shred_step;

typedef struct tn_shred_path {
    tn_shred_step *steps; /* the last is the leaf */
    size_t count;
    enum tn_shred_form form;
} tn_shred_path;

/* The Parquet schema for an Arrow struct, and the path to each of its leaves, in their order (NULL:
 * not wanted). All lives in the arena. INVALID or UNSUPPORTED naming the field. */
int tn_shred_plan(tarn_cx *cx, const struct ArrowSchema *schema, tn_arena *arena, tn_schema *out,
                  tn_shred_path **paths);

/* One leaf's working memory. Zeroed is valid. */
typedef struct tn_shredder {
    tn_buf def[2], rep[2], index[2], values;
} tn_shredder;
void tn_shredder_clear(tn_shredder *shredder);

/* Rows [first, first + rows) of a checked batch (tn_array_check) as a leaf batch, which borrows
 * from the batch and the shredder. `position` is the number of the first of these rows, for
 * messages. DATA, naming column and row, for a null or a value that the leaf cannot hold. */
int tn_shred_leaf(tarn_cx *cx, tn_shredder *shredder, const tn_leaf *leaf,
                  const tn_shred_path *path, const struct ArrowArray *batch, int64_t first,
                  int64_t rows, int64_t position, tn_leaf_batch *out);

/* Values of the leaf array at `index` (NULL: `count` consecutive ones from `base` on) as physical
 * ones. *bad is the first that does not fit, or -1. */
int tn_shred_values(tarn_cx *cx, const tn_leaf *leaf, const tn_shred_path *path,
                    const struct ArrowArray *array, const int64_t *index, int64_t base,
                    int64_t count, tn_buf *scratch, tn_values *out, int64_t *bad);

#endif
