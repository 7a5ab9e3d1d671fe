/* What is known of the values of a column in some place (a row group, a page, a file), and whether
 * a filter may be true there. */
#ifndef TN_BATCH_FILTER_RANGE_H
#define TN_BATCH_FILTER_RANGE_H

#include "batch/filter.h"

typedef struct tn_filter_range {
    bool has_min, has_max; /* of the values other than NaN */
    tn_filter_value min, max;
    bool nan_free;   /* certainly without NaN; true for types that have none */
    bool has_nulls;  /* `nulls` is known */
    bool empty;      /* certainly without any value that is not null */
    bool contradict; /* the statistics contradict themselves; nothing else was taken from them */
    int64_t entries, nulls; /* of the leaf, nulls among the entries; below 0: nothing is known */
} tn_filter_range;

/* Whether some value of the range may equal `value`. */
bool tn_filter_range_equal(enum tn_domain domain, const tn_filter_range *range,
                           const tn_filter_value *value);
/* Whether a leaf of the filter may be true for an entry of the range of its column. */
bool tn_filter_range_leaf(const tn_filter *filter, const tn_filter_node *node,
                          const tn_filter_range *range);
/* The same of a node and all below it, by one range for each column. */
bool tn_filter_range_node(const tn_filter *filter, const tn_filter_node *node,
                          const tn_filter_range *ranges);
/* Whether the filter may be true of rows whose values come out of `sets` places: `ranges` has those
 * of one set behind those of the other, one for each column of the filter. A row may have its
 * columns from different places, as those of a merge do, so each leaf is asked of all of them. */
bool tn_filter_range_may(const tn_filter *filter, const tn_filter_range *ranges, size_t sets);

#endif
