/* Makes the results of a merge visible in a plain directory, and takes them back. The only writer
 * of such directories. Thread rule: one caller per root; the lock sees to that between processes.
 */
#ifndef TN_COMMIT_DIR_H
#define TN_COMMIT_DIR_H

#include "io/store.h"
#include "task/merge_plan.h"

typedef struct tn_dir_commit tn_dir_commit;

/* What happened to one partition. */
enum tn_partition_outcome {
    TN_PARTITION_DONE = 1,
    TN_PARTITION_SKIPPED, /* not started: time or byte limit, or a task failed */
    TN_PARTITION_FAILED,
    TN_PARTITION_CONFLICT /* files changed or vanished since the plan: nothing was touched */
};
typedef struct tn_partition_report {
    enum tn_partition_outcome outcome;
    tn_str text; /* why; with DONE: what else is worth knowing, or empty */
    uint64_t files_before, files_after, bytes_before, bytes_after;
    int64_t rows;
    uint64_t newcomers; /* files that appeared meanwhile and were carried over */
} tn_partition_report;

/* Takes the root's lock (CONFLICT with the way out when another tarn holds it), completes or undoes
 * what a crashed run left (`tn_dir_recover`), removes expired undo, and makes the staging
 * directories of the plan. */
int tn_dir_commit_open(tarn_cx *cx, tn_store *store, const tn_merge_plan *plan,
                       tn_dir_commit **out);
/* Verifies the results of one partition (row counts from the footers that exec reported; hashes
 * when asked) and swaps it in. A failure concerns this partition alone and is in *report, whose
 * text lives in the arena; the return is TARN_OK unless nothing more can be done (CANCELLED,
 * NOMEM). */
int tn_dir_commit_partition(tarn_cx *cx, tn_dir_commit *commit, size_t partition,
                            const tn_result *results, size_t result_count, tn_arena *arena,
                            tn_partition_report *report);
/* Removes staging and, when undo is not kept, the old files; publishes the end. */
int tn_dir_commit_finish(tarn_cx *cx, tn_dir_commit *commit);
/* Releases the lock; without finish: staging of this run stays for recovery. */
void tn_dir_commit_close(tn_dir_commit *commit);

/* What recovery did, or could not do, to one directory. */
enum tn_recovery_kind {
    TN_RECOVERY_SETTLED = 1,
    TN_RECOVERY_RETAINED, /* settled, but old files cannot be removed: the record stays */
    TN_RECOVERY_OPEN      /* cannot be settled: it is left alone, and the record stays */
};
typedef struct tn_recovery_note {
    enum tn_recovery_kind kind;
    tn_str path; /* of the directory, below the root; "" is the root */
    tn_str text;
} tn_recovery_note;
/* Zeroed is empty and valid; tn_recovery_clear. */
typedef struct tn_recovery {
    uint64_t completed, undone,
        removed; /* partitions brought forward, back; leftover directories removed */
    tn_recovery_note *notes;
    size_t note_count, note_cap;
    tn_arena arena; /* of the notes */
} tn_recovery;
void tn_recovery_clear(tn_recovery *recovery);
/* Why the directory `path` below the root is to be left alone; NULL when it is not. */
const tn_recovery_note *tn_recovery_open(const tn_recovery *recovery, tn_str path);
/* Hands over what the recovery of this commit met, after finish; the caller's to clear. */
void tn_dir_commit_recovery(tn_dir_commit *commit, tn_recovery *out);
/* Repairs what crashed runs left at `root`. The caller holds the lock, or has seen that nobody
 * does. A change that cannot be settled (a full disk, no rights) is a note and stops nothing but
 * its directory; a record that cannot be believed stops all. */
int tn_dir_recover(tarn_cx *cx, tn_store *store, tn_str root, tn_recovery *out);
/* The same, leaving alone what belongs to the run `own_id`. */
int tn_dir_recover_except(tarn_cx *cx, tn_store *store, tn_str root, tn_str own_id,
                          tn_recovery *out);
/* Restores the directories as they were before the newest run whose old files were kept (merge
 * --undo). Partitions whose merged files changed since are left alone and reported. *recovery: what
 * was settled before. */
int tn_dir_undo(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                tn_partition_report **reports, tn_str **paths, size_t *count,
                tn_recovery *recovery);

#endif
