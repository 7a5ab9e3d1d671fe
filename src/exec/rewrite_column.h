/* A whole leaf column in memory, row by row, for sorting; and row-wise hashes that do not depend on
 * the order of rows. */
#ifndef TN_EXEC_REWRITE_COLUMN_H
#define TN_EXEC_REWRITE_COLUMN_H

#include "base/buf.h"
#include "codec/parquet/leaf.h"

typedef struct tn_sort_column {
    const tn_leaf *leaf;
    tn_buf def, rep;  /* uint16_t per entry; empty where the leaf has none */
    tn_buf values;    /* fixed width; or uint64_t offsets into `bytes`, one more than values */
    tn_buf bytes;     /* of byte arrays */
    tn_buf row_entry; /* uint64_t per row, where rows have several entries */
    tn_buf row_value; /* uint64_t per row, where entries may lack values */
    uint64_t rows, entries, value_count;
    uint64_t rows_max; /* how many come; 0: unknown */
    bool levels;       /* def and row_value are kept: some entry lacks a value, or rows repeat */
    uint64_t reserved; /* of the memory budget */
} tn_sort_column;

void tn_sort_column_clear(tarn_cx *cx, tn_sort_column *column);
/* Appends whole rows; LIMIT when the budget does not hold them. */
int tn_sort_column_add(tarn_cx *cx, tn_sort_column *column, const tn_leaf_batch *batch);
/* The value of a row of a leaf without repetition; NULL: null. Byte arrays give a view in *view. */
const void *tn_sort_column_value(const tn_sort_column *column, uint64_t row, tn_view *view);

/* Gathers rows in any order into batches. */
typedef struct tn_sort_column_gather {
    tn_buf def, rep, values;
} tn_sort_column_gather;
void tn_sort_column_gather_clear(tn_sort_column_gather *gather);
int tn_sort_column_gather_rows(tarn_cx *cx, const tn_sort_column *column, const uint32_t *rows,
                               size_t count, tn_sort_column_gather *gather, tn_leaf_batch *out);

/* Adds to rows[i], for each row i of the batch, a hash of what it has in this leaf. Safe when
 * several leaves do so at once. */
int tn_sort_column_hash_rows(tarn_cx *cx, const tn_leaf *leaf, const tn_leaf_batch *batch,
                             tn_buf *scratch, uint64_t *rows);
/* The order-free hash of rows hashed so. */
uint64_t tn_sort_column_hash_fold(const uint64_t *rows, uint64_t count);

#endif
