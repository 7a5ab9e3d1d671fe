/* Plans the cure of a plain directory: which fragments become which files. A function of the
 * snapshot and the options alone. */
#ifndef TN_PLAN_PLAN_MERGE_H
#define TN_PLAN_PLAN_MERGE_H

#include "plan/hive_rule.h"
#include "table/dir.h"
#include "task/merge_plan.h"

typedef struct tn_merge_options {
    tn_str id; /* of the run: letters and digits */
    int64_t now_ms;
    uint64_t target_bytes; /* 0: 128 MiB */
    uint64_t small_bytes;  /* files below it are fragments; 0: 0.75 of the target */
    uint64_t min_files;    /* fragments a partition must have; 0: 2 */
    uint64_t file_count;   /* per directory, whatever the sizes; 0: by size */
    bool hive;             /* sized by Hive's rule, not by the four above */
    tn_hive_rule hive_rule;
    uint64_t bytes_max; /* of inputs in all; 0: no limit */
    int64_t quiet_ms;   /* skip what changed within that time; 0: off */
    int64_t keep_old_ms;
    int32_t codec; /* enum tn_codec, or TN_CODEC_KEEP */
    int32_t level;
    bool widen, verify_content, times_now, crc;
    bool encode; /* all values are decoded and encoded, none joined */
    const tn_sort_key *sort;
    size_t sort_count;
    tn_str created_by;
    uint64_t group_bytes; /* of an output's row groups; 0: 32 MiB */
    int64_t group_rows;   /* 0: 1,048,576 */
} tn_merge_options;

#define TN_CODEC_KEEP (-1)

/* What `out` points to lives in `arena` or in `dir`. */
int tn_plan_merge(tarn_cx *cx, const tn_dir *dir, const tn_merge_options *options, tn_arena *arena,
                  tn_merge_plan *out);
/* The size below which a file is a fragment, and so the footers that a plan needs. */
uint64_t tn_plan_merge_small(const tn_merge_options *options);

#endif
