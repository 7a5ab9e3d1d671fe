/* Operations: plan, tasks and commit in one call, on the threads of the context.
 *
 *     tarn_merge_report *report = NULL;
 *     int rc = tarn_merge(cx, "/data/events", &(tarn_merge_options){.target_bytes = 1 << 28},
 *                         &report);
 *     if (rc == TARN_OK)
 *         printf("%llu files became %llu\n", (unsigned long long)report->files_before,
 *                (unsigned long long)report->files_after);
 *     tarn_merge_report_close(report);
 *
 * Thread rule: any thread, each with its own context. */
#ifndef TARN_OP_H
#define TARN_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tarn_merge_verify {
    TARN_VERIFY_ROWS = 0, /* row counts, read back from the footers */
    TARN_VERIFY_CONTENT   /* also a hash over whole rows, read back from the files */
};

enum tarn_merge_rule {
    TARN_RULE_SIZE = 0, /* fragments become files of the target */
    TARN_RULE_HIVE      /* as Hive's merge of small outputs: see tarn_merge */
};

typedef struct tarn_merge_options {
    const char *const *partitions; /* only these and what is below: "dt=2024-05-12"; NULL: all */
    size_t partition_count;
    uint64_t target_bytes; /* of a merged file; 0: 128 MiB */
    uint64_t small_bytes;  /* files below it are fragments; 0: 0.75 of the target */
    uint64_t min_files;    /* fragments a partition must have; 0: 2 */
    uint64_t file_count;   /* files per directory, whatever their sizes; 0: by size */
    enum tarn_merge_rule rule;
    uint64_t avg_bytes;      /* of RULE_HIVE: merge where the average is below; 0: 16,000,000 */
    uint64_t per_task_bytes; /* of RULE_HIVE: size of a merged file; 0: 256,000,000 */
    const char *codec;       /* "keep" (NULL), "zstd", "snappy", "gzip", "brotli", "lz4", "none" */
    int level;               /* of the codec; 0: its default */
    const char *sort_by;     /* "a, b desc, c nulls last"; NULL: rows keep their order */
    bool encode;    /* decode and encode all values, where chunks could be joined as they are */
    bool widen;     /* unify int32 with int64 or double, float with double, … */
    bool crc;       /* write page checksums */
    bool times_now; /* do not put times back */
    bool dry_run;   /* plan only: the report tells what would be done */
    enum tarn_merge_verify verify;
    int64_t keep_old_ms;   /* how long replaced files stay for tarn_merge_undo; 0: not */
    int64_t quiet_ms;      /* leave partitions alone that changed within this time; 0: off */
    int64_t time_limit_ms; /* start no partition after it; 0: none */
    uint64_t bytes_max;    /* of inputs, in whole partitions; 0: no limit */
    uint64_t rate_bytes;   /* of inputs a second, on average; 0: no limit */
    const char *after;     /* shell command for each changed partition, as $1 and TARN_PARTITION */
    /* Called between partitions, by the calling thread; may be NULL. */
    void (*on_progress)(void *arg, uint64_t bytes_done, uint64_t bytes_total);
    void *progress_arg;
} tarn_merge_options;

enum tarn_merge_outcome {
    TARN_MERGE_DONE = 1,
    TARN_MERGE_SKIPPED,  /* not started, or left for the next run */
    TARN_MERGE_FAILED,   /* as it was before */
    TARN_MERGE_CONFLICT, /* files changed meanwhile: as it was before */
    TARN_MERGE_PLANNED   /* a dry run */
};

/* Texts and paths live as long as the report. Paths are bytes below the root; "" is the root. */
typedef struct tarn_merge_partition {
    const char *path;
    size_t path_len;
    enum tarn_merge_outcome outcome;
    const char *text; /* why; with DONE: what else is worth knowing, or "" */
    uint64_t files_before, files_after, bytes_before, bytes_after; /* of what is rewritten */
    int64_t rows;
    uint64_t newcomers; /* files that appeared meanwhile and were carried over */
} tarn_merge_partition;

enum tarn_merge_remark {
    TARN_MERGE_LATER = 1, /* a partition left for another run */
    TARN_MERGE_PROBLEM,   /* a file or directory that cannot be read */
    TARN_MERGE_KEPT,      /* files that stay as they are, by their nature */
    TARN_MERGE_APART,     /* fragments whose schema cannot be unified with the others' */
    TARN_MERGE_CHANGED,   /* what merged files do not carry over */
    TARN_MERGE_SETTLED    /* what was done about a swap that an earlier run did not finish */
};

typedef struct tarn_merge_note {
    enum tarn_merge_remark kind;
    const char *path;
    size_t path_len;
    const char *text;
} tarn_merge_note;

/* How column chunks of inputs become those of a merged file, from the cheapest to the dearest. */
enum tarn_merge_way {
    TARN_WAY_COPY = 0, /* compressed pages as they are */
    TARN_WAY_SEQUENCE, /* a dictionary of unique values becomes a page of plain ones */
    TARN_WAY_REMAP,    /* dictionary indices are written again under one dictionary */
    TARN_WAY_REPACK,   /* tiny pages are joined, their values untouched */
    TARN_WAY_ENCODE,   /* values are decoded and encoded */
    TARN_WAY_COUNT
};

/* One column of the merged files, over all of them. */
typedef struct tarn_merge_column {
    const char *name; /* dotted */
    size_t name_len;
    enum tarn_merge_way intended; /* the cheapest that a plan allowed */
    const char *why;              /* what the plan saw against copying; "": nothing */
    /* Done, as far as the partitions are: input chunks by the dearest way that was taken for them,
     * the compressed bytes of their pages, and the first reason for it, or "". */
    uint64_t chunks[TARN_WAY_COUNT];
    uint64_t bytes[TARN_WAY_COUNT];
    const char *reasons[TARN_WAY_COUNT];
} tarn_merge_column;

typedef struct tarn_merge_report {
    const char *root;
    size_t root_len;
    bool dry_run;
    tarn_merge_partition *partitions; /* those with something to do, in the order done */
    size_t partition_count;
    tarn_merge_note *notes;
    size_t note_count;
    tarn_merge_column *columns; /* in the order in which files name them first */
    size_t column_count;
    uint64_t partitions_seen;
    uint64_t files_before, files_after; /* data files of the directory (of the partitions asked) */
    uint64_t bytes_before, bytes_after;
    uint64_t merged_files, merged_bytes, new_files, new_bytes; /* of done partitions */
    uint64_t read_bytes;
    int64_t rows;
    int64_t ms;
    size_t done, skipped, failed; /* partitions; conflicts count as failed */
    size_t after_failed;          /* runs of the `after` command that failed */
    /* Name-node memory of what was replaced: bytes = blocks * replicas * bytes a replica. */
    uint64_t blocks_before, blocks_after;
    uint64_t block_bytes, replicas, replica_bytes; /* 128 MiB, 3, 150 */
    /* Directories that could not be listed, or that an unfinished swap keeps from being merged. */
    size_t directories_failed;
    const char *stopped; /* why it ended before all partitions were done; "": it did not */
} tarn_merge_report;

/* Merges the fragments of a plain directory of Parquet files. A partition that fails leaves the
 * others to be done; the report says so and the status is TARN_OK. Statuses: NOTFOUND and INVALID
 * for a path that is no directory or bad options, UNSUPPORTED for tables of another kind, CONFLICT
 * when another run holds the directory, CANCELLED.
 *
 * RULE_HIVE decides for each partition by all that lies in it, and makes a file for each combined
 * split of max(avg_bytes, per_task_bytes); the four sizes above it must be 0 then. What the other
 * rule keeps stays true: nothing is rewritten unless the number of files drops, and a second run
 * finds nothing to do. `options` may be NULL. *report is the caller's,
 * to tarn_merge_report_close. */
TARN_API int tarn_merge(tarn_cx *cx, const char *path, const tarn_merge_options *options,
                        tarn_merge_report **report);
/* Restores what the newest run replaced, if it kept the old files. NOTFOUND when none did. */
TARN_API int tarn_merge_undo(tarn_cx *cx, const char *path, tarn_merge_report **report);
TARN_API void tarn_merge_report_close(tarn_merge_report *report);

#ifdef __cplusplus
}
#endif
#endif
