/* Plans a write into a plain partitioned directory. A function of the snapshot and the options
 * alone. */
#ifndef TN_PLAN_PLAN_WRITE_H
#define TN_PLAN_PLAN_WRITE_H

#include "table/dir.h"
#include "task/write.h"
#include "tarn/batch.h"

#define TN_WRITE_TARGET_BYTES            (128ull << 20)
#define TN_WRITE_GROUP_BYTES             (32ull << 20)
#define TN_WRITE_GROUP_ROWS              1048576
#define TN_WRITE_FILES_MAX               100000
#define TN_WRITE_PARTITIONS_MAX          1000
#define TN_WRITE_FILES_PER_PARTITION_MAX 10000

typedef struct tn_write_options {
    tn_str id; /* of the run: letters and digits */
    enum tn_write_mode mode;
    const struct ArrowSchema *schema; /* of the rows; NULL: not known, names are taken as given */
    const tn_str *partition_columns;
    size_t partition_column_count;
    const tn_str *distribute_columns;
    size_t distribute_column_count;
    uint32_t files_per_partition; /* 0: by size alone */
    uint64_t target_bytes;        /* 0: TN_WRITE_TARGET_BYTES, and so for those below */
    uint64_t group_bytes;
    int64_t group_rows;
    uint64_t partitions_max, files_max;
    int32_t codec, level; /* enum tn_codec */
    tn_str created_by;
} tn_write_options;

/* `dir` NULL: there is nothing at `root`, which will be made; else `root` is not looked at.
 * Columns are found exactly, else without regard to case if unique; a level of the path is spelled
 * as the directory spells it, else as the schema does.
 * INVALID, by name: a column that is missing or that no directory can be named by, options that
 * contradict each other, rows that are to be added to a directory of another layout (partitioned by
 * other columns, or not, or in two ways at once). With TN_WRITE_OVERWRITE the old layout does not
 * matter. What `out` points to lives in `arena` or in `dir`. */
int tn_plan_write(tarn_cx *cx, const tn_dir *dir, tn_str root, const tn_write_options *options,
                  tn_arena *arena, tn_write_plan *out);

#endif
