/* What may be said of the order of rows in a row group that is put together of others. */
#ifndef TN_EXEC_REWRITE_ORDER_H
#define TN_EXEC_REWRITE_ORDER_H

#include "codec/parquet/order.h"
#include "exec/rewrite_load.h"

#define TN_ORDER_COLUMNS_MAX 16

/* Zeroed is a row group that nothing came to yet. */
typedef struct tn_rewrite_order {
    bool any;   /* something came */
    bool lost;  /* the rows are in no order that is known */
    bool equal; /* a value stands at the end of one part and at the beginning of the next */
    tn_sorting_column columns[TN_ORDER_COLUMNS_MAX]; /* in terms of the output's leaves */
    size_t count;
    enum tn_domain domain;
    tn_filter_value last; /* the bound at the end of what came; bytes are in `bytes` */
    tn_buf bytes;
} tn_rewrite_order;

void tn_rewrite_order_clear(tn_rewrite_order *order);
/* The segment's rows come next. `mapping` is that of its input, one per output leaf. */
int tn_rewrite_order_add(tarn_cx *cx, tn_rewrite_order *order, const tn_leaf_source *mapping,
                         size_t leaf_count, const tn_loaded *loaded, const tn_segment *segment);
/* How many of `columns` the row group is sorted by. */
size_t tn_rewrite_order_columns(const tn_rewrite_order *order);

#endif
