/* Writing rows into a plain partitioned directory: what was decided, as plain values. Rows come as
 * a stream, so these have no wire form; what exec hands to the commit is tn_write_file. Everything
 * pointed to lives in the arena of who made it. */
#ifndef TN_TASK_WRITE_H
#define TN_TASK_WRITE_H

#include "task/task.h"

enum tn_write_mode {
    TN_WRITE_APPEND = 1,          /* files are added */
    TN_WRITE_OVERWRITE,           /* the new rows replace all that is there */
    TN_WRITE_OVERWRITE_PARTITIONS /* they replace the partitions that they have rows for */
};

typedef struct tn_write_plan {
    tn_str id; /* of the run: letters and digits; part of every file name */
    tn_str root, work;
    bool work_inside;  /* see tn_dir */
    bool root_missing; /* it will be made */
    tn_str staging; /* directory below `work` for spilled runs and new files; no name in it ends in
                       ".parquet" */
    enum tn_write_mode mode;
    tn_str
        *partition_columns; /* in the order of the path's levels; none: the root takes the files */
    size_t partition_column_count;
    tn_str *distribute_columns; /* with files_per_partition: rows of equal values share a file */
    size_t distribute_column_count;
    uint32_t files_per_partition; /* 0: by size alone; else rows go to one of so many buckets, by
                                     the hash of the distribute columns as Hive has it */
    uint64_t target_bytes;
    uint64_t group_bytes; /* of row groups, compressed */
    int64_t group_rows;
    int32_t codec, level;
    tn_str created_by;
    uint64_t partitions_max, files_max; /* LIMIT before one more is made */
} tn_write_plan;

/* A finished data file, not visible yet. */
typedef struct tn_write_file {
    tn_str partition; /* path below the root: "dt=2024-05-12/city=K%C3%B6ln"; "" is the root */
    tn_str name;      /* final name: "part-00003-<id>.parquet" */
    tn_str staged;    /* where it lies */
    uint64_t bytes;
    int64_t rows;
} tn_write_file;

#endif
