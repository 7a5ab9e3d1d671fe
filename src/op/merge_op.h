/* The parts of the merge operation, shared by op/op_merge.c, op/op_steps.c and op/merge_*.c. */
#ifndef TN_OP_MERGE_OP_H
#define TN_OP_MERGE_OP_H

#include "base/map.h"
#include "commit/commit_dir.h"
#include "plan/plan_merge.h"
#include "table/dir.h"
#include "tarn/op.h"
#include "task/merge_plan.h"

/* op_merge.c: settles what crashed runs left if there is a work directory, under the lock. */
int tn_merge_settle(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                    tn_recovery *recovery);
/* op_merge.c: tarn_merge on a store, which stays the caller's. */
int tn_merge_in(tarn_cx *cx, tn_store *store, tn_str root, const tarn_merge_options *options,
                tarn_merge_report **report);

/* merge_options.c: what the caller asked for, checked; INVALID names the option. */
/* A codec by its name; with `keep` also "keep". */
int tn_merge_codec_of(tarn_cx *cx, const char *name, int level, bool keep, int32_t *out);
int tn_merge_options_of(tarn_cx *cx, const tarn_merge_options *options, tn_arena *arena,
                        tn_merge_options *out);
int tn_merge_dir_options(tarn_cx *cx, const tarn_merge_options *options,
                         const tn_merge_options *plan, tn_arena *arena, tn_dir_options *out);

/* merge_report.c: a report under construction. */
typedef struct tn_merge_log {
    tarn_merge_report report; /* first: the public handle points here */
    tn_arena arena;
    size_t note_cap, column_cap;
    tn_map columns; /* name -> place among the report's */
} tn_merge_log;

int tn_merge_log_open(tarn_cx *cx, const tn_merge_plan *plan, tn_merge_log **out);
int tn_merge_log_note(tarn_cx *cx, tn_merge_log *log, enum tarn_merge_remark kind, tn_str path,
                      tn_str text);
/* What recovery did becomes notes, each once; a directory that it could not settle has failed. */
int tn_merge_log_recovery(tarn_cx *cx, tn_merge_log *log, const tn_recovery *recovery);
int tn_merge_log_skip(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan, size_t partition,
                      const char *why);
/* What the commit said of one partition; `results` are those of its outputs. */
int tn_merge_log_partition(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan,
                           size_t partition, const tn_result *results, size_t result_count,
                           const tn_partition_report *told);
/* Sums up; a dry run takes its sizes from the plan. */
int tn_merge_log_end(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan, bool dry_run,
                     int64_t started_ms);

/* merge_columns.c: what the plan intends for the columns of its tasks, and what their results say
 * was done. */
int tn_merge_log_intents(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan);
int tn_merge_log_done(tarn_cx *cx, tn_merge_log *log, const tn_task_rewrite *task,
                      const tn_result *result);

/* merge_run.c: tasks and commits of a plan, partition by partition, into the log. */
int tn_merge_run(tarn_cx *cx, tn_store *store, const tn_merge_plan *plan,
                 const tarn_merge_options *options, tn_merge_log *log);
/* Commits one partition, logs it, and runs the command for it. */
int tn_merge_commit(tarn_cx *cx, tn_dir_commit *commit, const tn_merge_plan *plan, size_t partition,
                    const tn_result *results, size_t result_count,
                    const tarn_merge_options *options, tn_merge_log *log);

/* merge_after.c: runs a shell command for a changed partition; its failure is a note in the log. */
int tn_merge_after(tarn_cx *cx, const char *command, tn_str root, tn_str partition,
                   tn_merge_log *log);

#endif
