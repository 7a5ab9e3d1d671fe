/* Values of one leaf column: what page decoders give and page encoders take. */
#ifndef TN_PARQUET_LEAF_H
#define TN_PARQUET_LEAF_H

#include "codec/parquet/schema.h"

typedef struct tn_view {
    const uint8_t *ptr;
    uint32_t len;
} tn_view;

typedef struct tn_int96 {
    uint32_t word[3]; /* little-endian: nanoseconds of the day (word 0, 1), Julian day (word 2) */
} tn_int96;

/* Physical values, non-null ones only, densely packed:
 *   BOOLEAN uint8_t 0/1 · INT32 int32_t · INT64 int64_t · INT96 tn_int96 · FLOAT float · DOUBLE
 * double BYTE_ARRAY tn_view · FIXED type_length bytes each */
typedef struct tn_values {
    const void *data;
    int64_t count;
} tn_values;

/* A run of whole rows of one leaf: entries of levels, and the values where def == max_def.
 * When `indices` is set the values are dictionary[indices[i]] and `values.data` is NULL
 * (values.count still counts). Everything is borrowed from who made the batch, until its next call.
 */
typedef struct tn_leaf_batch {
    int64_t rows;    /* records that start in this batch */
    int64_t entries; /* level pairs; equal to rows when max_rep is 0 */
    const uint16_t
        *def; /* NULL when max_def is 0 (or: all entries are present, when `all_present`) */
    const uint16_t *rep; /* NULL when max_rep is 0 */
    bool all_present;    /* max_def == 0 or every def equals max_def */
    tn_values values;
    const uint32_t *indices;
    tn_values dictionary;
    uint64_t dictionary_id; /* a hash of `dictionary`: changes whenever it does, and is the same for
                               equal dictionaries of one type in any chunk or file; 0 without one */
} tn_leaf_batch;

/* Bytes of one value in tn_values.data. */
static inline size_t tn_leaf_width(const tn_leaf *leaf)
{
    switch (leaf->physical) {
    case TN_BOOLEAN:
        return 1;
    case TN_INT32:
    case TN_FLOAT:
        return 4;
    case TN_INT64:
    case TN_DOUBLE:
        return 8;
    case TN_INT96:
        return 12;
    case TN_BYTE_ARRAY:
        return sizeof(tn_view);
    case TN_FIXED:
        return leaf->type_length;
    }
    return 0;
}

#endif
