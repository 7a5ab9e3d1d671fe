/* Which row groups and pages of a file may hold rows that a filter is true for: by statistics,
 * bloom filters and page indexes. What is kept may still hold no such row; what is dropped
 * certainly holds none. Statistics that are missing, not to be believed or contradictory drop
 * nothing. */
#ifndef TN_PARQUET_PRUNE_H
#define TN_PARQUET_PRUNE_H

#include "batch/filter.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/order.h"

typedef struct tn_prune_options {
    bool skip_bloom; /* do not read bloom filters */
    bool skip_index; /* do not read page indexes: whole row groups only */
} tn_prune_options;

/* What a scan is to read; `groups` and `ranges` are made for tn_parquet_scan_options. */
typedef struct tn_prune {
    uint32_t *groups; /* kept, ascending */
    size_t group_count;
    tn_row_range *ranges; /* within the kept groups, ascending, apart from each other, not empty */
    size_t range_count;
    int64_t rows; /* of all ranges */
    /* for people: why the others fell */
    size_t by_statistics, by_bloom, by_index; /* row groups */
    size_t pages_dropped;
} tn_prune;

/* Columns of the filter are found in the file by their path of names; a column that is not there,
 * lies below a list or a map, bears a name that its siblings have too, or is of another type than
 * the filter's (a wider one may be the same) prunes nothing. A group without rows is dropped.
 * `options` may be NULL. Arrays live in the arena. Only a failing store or memory is a failure. */
int tn_prune_file(tarn_cx *cx, const tn_parquet *file, const tn_filter *filter,
                  const tn_prune_options *options, tn_arena *arena, tn_prune *out);

#endif
