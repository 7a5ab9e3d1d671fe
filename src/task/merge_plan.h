/* The plan of a merge: what becomes of each partition directory. A plain value with a wire form:
 * the header is one JSON line, then a line per task. Kind "any": partitions commit alone. */
#ifndef TN_TASK_MERGE_PLAN_H
#define TN_TASK_MERGE_PLAN_H

#include "task/task.h"

/* How the new state of a partition becomes visible. */
enum tn_swap {
    TN_SWAP_EXCHANGE = 1, /* the whole new directory is built beside and exchanged in one step */
    TN_SWAP_JOURNAL =
        2 /* files are renamed one by one under a journal that recovery completes or undoes */
};

typedef struct tn_merge_output {
    tn_str name;   /* final file name in the partition directory; new there */
    tn_str staged; /* path exec writes; does not end in ".parquet" */
    int64_t rows;  /* that the inputs have together */
    uint32_t task;
    uint32_t newest_input; /* index into inputs: gives times, owner, mode and attributes */
} tn_merge_output;

typedef struct tn_merge_partition {
    tn_str path;         /* below the root; "" is the root itself */
    tn_str directory;    /* path in the store */
    tn_str staging;      /* directory for this partition's new files and undo; on its file system */
    bool staging_inside; /* lies below the root: hidden, and no name in it ends in ".parquet" */
    enum tn_swap swap;
    uint64_t mount, inode; /* of the directory as the plan saw it */
    int64_t mtime_ns;
    tn_file_seen *inputs; /* to be replaced; path is the file name */
    size_t input_count;
    int64_t rows;
    uint64_t bytes;
    tn_merge_output *outputs;
    size_t output_count;
    tn_str *stale; /* names that go with the swap: _metadata, _common_metadata, .crc side files of
                      inputs */
    size_t stale_count;
} tn_merge_partition;

typedef struct tn_merge_options_wire {
    int64_t keep_old_ms; /* how long undo stays */
    bool verify_content;
    bool times_now; /* do not put times back */
} tn_merge_options_wire;

/* What the plan leaves alone and why, and what the user should know of what it does. */
enum tn_merge_note_kind {
    TN_NOTE_SKIPPED = 1, /* a partition that has something to do, but not now */
    TN_NOTE_PROBLEM,     /* a file or partition that cannot be read */
    TN_NOTE_KEPT,        /* files that stay as they are, by their nature */
    TN_NOTE_APART,       /* fragments whose schema cannot be unified with the others' */
    TN_NOTE_CHANGED      /* what a merged file will not carry over */
};
typedef struct tn_merge_note {
    enum tn_merge_note_kind kind;
    tn_str path; /* of the partition, below the root */
    tn_str text;
} tn_merge_note;

typedef struct tn_merge_plan {
    tn_str id;   /* of this run: letters and digits */
    tn_str root; /* path in the store */
    tn_str work; /* directory of lock, journal and undo: beside the root, or inside it when that
                    cannot be */
    int64_t made_ms;
    tn_merge_options_wire options;
    tn_merge_partition *partitions; /* in the order to be done: worst first */
    size_t partition_count;
    tn_task *tasks;
    size_t task_count;
    tn_merge_note *notes;
    size_t note_count;
    uint64_t files_seen, bytes_seen, partitions_seen; /* data files of the directory */
} tn_merge_plan;

int tn_merge_plan_write(tarn_cx *cx, const tn_merge_plan *plan, tn_buf *out); /* all lines */
/* How many tasks the header line of a plan names; CORRUPT when it is none, or is cut off. */
int tn_merge_plan_count(tarn_cx *cx, tn_str line, size_t *tasks);
int tn_merge_plan_parse(tarn_cx *cx, tn_str text, tn_arena *arena, tn_merge_plan *out);

#endif
