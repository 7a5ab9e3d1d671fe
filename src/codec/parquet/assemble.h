/* Arrow arrays out of levels and values: what one leaf gives is appended to the columns it fills
 * (its own, and the lists and structs around it of which it is the first leaf), and whole rows are
 * taken from them as finished arrays. */
#ifndef TN_PARQUET_ASSEMBLE_H
#define TN_PARQUET_ASSEMBLE_H

#include "base/arena.h"
#include "batch/array.h"
#include "codec/parquet/arrow_field.h"
#include "codec/parquet/leaf.h"

/* Slots collected for one field. Mirrors the tree of tn_arrow_field. */
typedef struct tn_column {
    const tn_arrow_field *field;
    int64_t rows; /* that the slots belong to */
    int64_t slots, nulls;
    tn_block validity; /* empty while there are no nulls */
    tn_block offsets;  /* slots + 1 of them, once there is one slot */
    tn_block data;     /* values of leaves; bits for bool */
    int64_t items;     /* of lists: the last offset */
    struct tn_column *children;
} tn_column;

/* One leaf at work. */
typedef struct tn_assembly {
    const tn_leaf *leaf;
    tn_column **path; /* from the top-level column to the leaf's own */
    size_t path_count, owned_from;
    int64_t rows; /* collected and not yet taken */
    uint8_t *present;
    size_t present_cap;
    const tn_parquet *file; /* for messages */
} tn_assembly;

/* Columns for `field` and all below, in the arena (their blocks are freed by clear). */
int tn_column_build(tarn_cx *cx, const tn_arrow_field *field, tn_arena *arena, tn_column *out);
void tn_column_clear(tn_column *column);
/* How `leaf` is reached from the top-level column; arrays in the arena. */
int tn_assembly_init(tarn_cx *cx, const tn_parquet *file, const tn_leaf *leaf, tn_column *top,
                     tn_arena *arena, tn_assembly *out);
void tn_assembly_clear(tn_assembly *assembly);

/* A part of a leaf batch: rows, and the entries and values that belong to them. */
typedef struct tn_slice {
    const tn_leaf_batch *batch;
    int64_t entry, entries, value, values, rows;
    int64_t position;  /* of the first row in the file, for messages */
    int64_t rows_hint; /* how many rows are about to come in all */
} tn_slice;

/* DATA, naming column and row, for a value that its Arrow type cannot hold. */
int tn_assembly_append(tarn_cx *cx, tn_assembly *assembly, const tn_slice *slice);
/* Bytes the leaf's own column holds. */
uint64_t tn_assembly_bytes(const tn_assembly *assembly);
/* Bytes that a value run would add to the leaf's column, at most. */
uint64_t tn_assembly_cost(const tn_assembly *assembly, const tn_leaf_batch *batch, int64_t value,
                          int64_t values, int64_t entries);

/* The first `slots` slots, those of the first `rows` rows, as an array (at the top both are the
 * same); the rest stays. CORRUPT when there are fewer, or more although no more rows are there. */
int tn_column_take(tarn_cx *cx, tn_column *column, int64_t rows, int64_t slots,
                   struct ArrowArray *out);

/* Dense conversion of `count` values from `first` on into `out`, field->format.width bytes each
 * (BOOL: one byte each). *bad is the first value that does not fit, or -1. Not for BYTES, NULL. */
void tn_convert_values(const tn_arrow_field *field, const tn_leaf *leaf, const tn_leaf_batch *batch,
                       int64_t first, int64_t count, uint8_t *out, int64_t *bad);

#endif
