/* The file groups of a table: partitions, their latest slices, what replaced them (format/files.md
 * 2). */
#ifndef TN_TABLE_HUDI_SLICES_H
#define TN_TABLE_HUDI_SLICES_H

#include "table/timeline.h"
#include "task/slice.h"

typedef struct tn_slice {
    tn_base_file base;  /* name empty: a group of logs alone */
    tn_slice_log *logs; /* of merge-on-read tables, in Hudi's order */
    size_t log_count;
    bool pending; /* its group is in a pending compaction or clustering */
} tn_slice;

typedef struct tn_slices {
    tn_str *partitions; /* paths below the base, sorted; "" where the table has none */
    size_t partition_count;
    tn_slice *slices; /* by partition, then file id */
    size_t slice_count;
    /* Of the latest ones alone: files that are not visible, for `files --all` and doctor. */
    uint64_t older, invisible;
} tn_slices;

typedef struct tn_slices_options {
    tn_str as_of;             /* instants up to it; empty: all that are completed */
    const tn_str *partitions; /* only these; NULL: all that have a partition metadata file */
    size_t partition_count;
    bool footers; /* fill rows and filter_bytes of tn_base_file, in parallel */
} tn_slices_options;

/* Lists in parallel. Replaced groups and files of instants that are not completed are left out.
 * What it points to lives in the arena. CORRUPT naming instant and file when a commit names a file
 * that is gone. */
int tn_slices_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                   const tn_timeline *timeline, const tn_slices_options *options, tn_arena *arena,
                   tn_slices *out);
/* Reads the footers of one slice's base file, or of all. */
int tn_slices_footers(tarn_cx *cx, tn_store *store, tn_slices *slices, tn_arena *arena);

#endif
