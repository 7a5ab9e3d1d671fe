/* Reading one Parquet file as rows of a common schema: a plain value, complete but for the rows it
 * gives. It points to what the planner owns and has no wire form: a scan runs where it was planned.
 */
#ifndef TN_TASK_SCAN_H
#define TN_TASK_SCAN_H

#include "batch/filter.h"
#include "task/names.h"
#include "task/slice.h"
#include "task/task.h"

/* A column of the result: a column of `needed`, or a field of it, found by child indices. */
typedef struct tn_scan_project {
    const uint32_t *path;
    size_t path_count;
} tn_scan_project;

typedef struct tn_scan_task {
    tn_str path;                      /* of the file, in the store */
    const struct ArrowSchema *all;    /* every column there is: a file's columns are found by it */
    const struct ArrowSchema *needed; /* columns to make: those of the result and of the filter */
    const tn_filter *filter;          /* bound to `needed`; NULL: every row */
    const tn_scan_project *project;   /* columns of the result, from `needed` */
    size_t project_count;
    const struct ArrowSchema *result; /* the schema they make */
    /* Values of partition columns, a row per partition; they win over columns of the file. */
    const struct ArrowSchema *partition_schema;
    const struct ArrowArray *partition_values;
    int64_t partition; /* the row of this file */
    bool skip_crc, int96_micros, int96_utc;
    bool evolves; /* of a Hudi table: columns are widened as its schema may have grown */
    const tn_scan_names
        *names;     /* what columns were called when files were written; NULL: as today */
    tn_str written; /* the instant that decides that; empty: the one in the file's name */
    /* Only rows of these record keys are asked for (the filter says so, too): a file is not read
     * when the key range and the key filter that Hudi puts into footers rule out all of them. */
    const tn_str *record_keys;
    size_t record_key_count;     /* 0: of any */
    int64_t batch_rows;          /* 0: the scan's default */
    const tn_slice_parts *slice; /* of a merge-on-read table: logs to merge; NULL: the file alone.
                                    `path` empty: logs alone */
} tn_scan_task;

/* What reading took; sums over files. */
typedef struct tn_scan_counts {
    uint64_t files;
    uint64_t groups, groups_read;       /* row groups of those files, and those not pruned */
    uint64_t pages_dropped;             /* by page indexes */
    uint64_t rows, rows_read, rows_out; /* in the files, decoded, and true for the filter */
} tn_scan_counts;

#endif
