/* Decides which slices a filter need not read, by statistics of the metadata table: pure. */
#ifndef TN_PLAN_SKIP_H
#define TN_PLAN_SKIP_H

#include "batch/filter_range.h"
#include "table/hudi_slices.h"
#include "table/metadata.h"

/* What is known of one column of the filter; what is not usable rules nothing out. */
typedef struct tn_skip_column {
    bool usable; /* `stats`: a record per file */
    const tn_metadata_stats *stats;
    size_t count;
} tn_skip_column;

/* Whether statistics of this column may be used at all: not of meta columns, whose values logs do
 * not have in their statistics as rows have them, nor of types that Hudi orders otherwise. */
bool tn_plan_skip_column(const tn_filter_column *column);
/* Statistics as a range of the column's type. Whatever is doubtful (another type than the column
 * has by now, a unit or zone that is not told, an order that differs) is left unknown. */
void tn_plan_skip_range(const tn_filter_column *column, const tn_metadata_stats *stats,
                        tn_filter_range *out);
/* keep[i] becomes 0 where the filter is true for no row of slice i; else it stays. `columns`: one
 * for each of the filter. `hashes`: of the partitions of `slices`, as
 * tn_metadata_partition_hash has them. `logs` false: what is said of logs is not believed (version
 * 6, where a log grows, and an index that was made meanwhile knows only its end). *dropped counts.
 */
int tn_plan_skip_slices(tarn_cx *cx, const tn_filter *filter, const tn_skip_column *columns,
                        const tn_slices *slices, const tn_str *hashes, bool logs, uint8_t *keep,
                        size_t *dropped);

#endif
