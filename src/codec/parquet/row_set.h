/* Rows of one row group as ranges that ascend, are not empty and do not touch. Arrays live in
 * arenas.
 */
#ifndef TN_PARQUET_ROW_SET_H
#define TN_PARQUET_ROW_SET_H

#include "base/arena.h"
#include "codec/parquet/arrow.h"

typedef struct tn_row_set {
    tn_row_range *ranges;
    size_t count;
} tn_row_set;

/* The empty set, with room for so many ranges. */
int tn_row_set_make(tarn_cx *cx, tn_arena *arena, size_t room, tn_row_set *out);
/* Adds rows that begin at or behind the first row of its last range; there must be room. */
void tn_row_set_add(tn_row_set *set, uint32_t group, int64_t first, int64_t rows);
/* Rows that are in both, and in either; *out may be `a` or `b`. */
int tn_row_set_both(tarn_cx *cx, tn_arena *arena, const tn_row_set *a, const tn_row_set *b,
                    tn_row_set *out);
int tn_row_set_either(tarn_cx *cx, tn_arena *arena, const tn_row_set *a, const tn_row_set *b,
                      tn_row_set *out);

#endif
