/* Where rows of a write go: the upsert partitioner of Hudi, exactly, or sizing by real bytes. A
 * function of its arguments alone. docs/sizing.md tells both for people.
 *
 *   exact  org.apache.hudi.table.action.commit.UpsertPartitioner and AverageRecordSizeUtils (0.15),
 *          AverageRecordSizeEstimator (1.0 and later): format/writes.md 2.2, 2.3
 *   real   small files first, in order of size; what is left is one stream of new files, cut at the
 *          target by the bytes that were really written */
#ifndef TN_PLAN_PLAN_UPSERT_H
#define TN_PLAN_PLAN_UPSERT_H

#include "task/upsert.h"

/* Options of Hudi's names, with its defaults. */
typedef struct tn_sizing {
    bool exact;
    int32_t release; /* exact: 15 (0.15), 102 (1.0.2), 111 (1.1, 1.2), 0 by the table's version */
    uint64_t max_file_bytes;   /* hoodie.parquet.max.file.size */
    int64_t small_file_bytes;  /* hoodie.parquet.small.file.limit; <= 0: nothing is small */
    int64_t record_bytes;      /* hoodie.copyonwrite.record.size.estimate */
    double estimate_threshold; /* hoodie.record.size.estimation.threshold, of the limit above */
    bool auto_split;           /* hoodie.copyonwrite.insert.auto.split */
    int64_t split_rows;        /* hoodie.copyonwrite.insert.split.size */
    int64_t commits_max;       /* _hoodie.record.size.estimator.max.commits */
    int64_t metadata_bytes;    /* hoodie.record.size.estimator.average.metadata.size */
} tn_sizing;
void tn_sizing_defaults(tn_sizing *out);

/* A completed commit, newest first, as the estimate asks for it. */
typedef struct tn_commit_size {
    tn_str instant;             /* for people; may be empty */
    bool delta, replace;        /* its action */
    const tn_write_stat *stats; /* base files' stats alone for a deltacommit */
    size_t stat_count;
} tn_commit_size;

/* Average record size; exact as the release does it. `real`: bytes and rows of `files` without
 * their filters; no rows known: `input_record_bytes`, else record_bytes. *why is for people, in the
 * arena. */
int tn_plan_record_bytes(tarn_cx *cx, const tn_sizing *sizing, int32_t table_version,
                         const tn_commit_size *commits, size_t commit_count,
                         const tn_base_file *const *files, size_t file_count,
                         double input_record_bytes, tn_arena *arena, double *out, tn_str *why);

/* What one partition receives. */
typedef struct tn_upsert_in {
    tn_str path;
    uint32_t number;
    int64_t inserts; /* rows without a place; real: may be 0 and still a stream comes (-1) */
    const tn_base_file *const *updated; /* file groups with updates, in order of first appearance */
    const int64_t *update_counts;
    size_t updated_count;
    const tn_base_file *const *files; /* all its latest base files, in the snapshot's order; those
                                         of groups in a pending clustering left out */
    size_t file_count;
    const uint64_t *log_bytes; /* of each file's slice; NULL: none has logs */
} tn_upsert_in;

typedef struct tn_upsert_options {
    enum tn_operation operation;
    tn_sizing sizing;
    double record_bytes;
    tn_str record_bytes_why;
    bool has_commit;        /* a completed commit exists: else no file counts as small */
    uint32_t index_buckets; /* bucket index: inserts go by key, sizes do not matter; 0: another */
    /* Exact sizing of merge-on-read tables: */
    bool merge_on_read;
    bool index_sees_logs;    /* BUCKET, HBASE, INMEMORY; false: BLOOM, SIMPLE, RECORD_INDEX */
    uint64_t candidates_max; /* hoodie.merge.small.file.group.candidates.limit; Hudi's default: 1 */
    double log_ratio;        /* hoodie.logfile.to.parquet.compression.ratio; 0.35 */
} tn_upsert_options;

/* New file ids come from cx's random numbers. In the arena. Overwrites and bulk inserts take no
 * small file; bulk inserts are sized by real bytes always, as Hudi's are. Where rows go: inserts of
 * a plan with exact sizing or a bucket index by tn_upsert_route (task/upsert_route.h). INVALID
 * naming the option that makes no sense; LIMIT when there would be too many buckets. */
int tn_plan_upsert(tarn_cx *cx, const tn_upsert_options *options, const tn_upsert_in *in,
                   size_t count, tn_arena *arena, tn_upsert_plan *out);

#endif
