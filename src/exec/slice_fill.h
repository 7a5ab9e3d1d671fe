/* Rows made of several versions, field by field. */
#ifndef TN_EXEC_SLICE_FILL_H
#define TN_EXEC_SLICE_FILL_H

#include "exec/slice_map.h"

typedef struct tn_slice_item {
    tn_slice_entry *entry; /* which has a row */
    int64_t base;          /* row of the base batch; -1: none */
    bool base_on_top;      /* else it is under all others */
} tn_slice_item;

/* The needed columns of one row per item. `base` may be NULL when no item has a row of it. */
int tn_slice_fill(tarn_cx *cx, const tn_slice_map *map, const struct ArrowArray *base,
                  const tn_slice_item *items, size_t count, struct ArrowArray *out);

#endif
