/* Commits to a Hudi table (format/writes.md 6 and 7; timeline.md 2.1).
 *
 *   open   lock, read the properties anew, settle a broken properties update, roll back failed
 * writes begin  a new instant, greater than every time there is; T.<action>.requested inflight,
 * mark… (data files under markers), finish: T_C.<action> by put-if-absent
 *
 * H1: nothing is visible before the completed file is there; it is there whole or not at all.
 * H2: no instant is begun over a failed one.
 * H3: every data file has its marker before it has a byte.
 * H4: where a file is created whose name may have a ".<name>.crc" beside it, that goes first.
 * One thread calls, but for mark: any. */
#ifndef TN_COMMIT_COMMIT_HUDI_H
#define TN_COMMIT_COMMIT_HUDI_H

#include "table/config_write.h"
#include "table/hudi_schema.h"
#include "table/hudi_slices.h"

typedef struct tn_hudi_commit tn_hudi_commit;

typedef struct tn_hudi_commit_options {
    bool drop_metadata_table; /* disable it as Hudi would: property first, then the directory */
    bool lazy; /* hoodie.clean.failed.writes.policy=LAZY: only those whose heartbeat expired */
    int64_t heartbeat_ms;      /* hoodie.client.heartbeat.interval_in_ms; 0: 60,000 */
    uint64_t heartbeat_misses; /* 0: 2 */
    int64_t lock_wait_ms;      /* how long to wait for another writer; 0: not */
    void (*warn)(void *arg, const char *text);
    void *warn_arg;
} tn_hudi_commit_options;

/* CONFLICT when another writer holds the table (exit code 4); UNSUPPORTED by name for a table that
 * tarn must not write to: unknown version, metadata table without drop_metadata_table, pending
 * restore, … . */
int tn_hudi_commit_open(tarn_cx *cx, tn_store *store, tn_str root,
                        const tn_hudi_commit_options *options, tn_hudi_commit **out);
/* As they are under the lock, failed writes already rolled back; until close. */
const tn_hudi_config *tn_hudi_commit_config(const tn_hudi_commit *commit);
const tn_timeline *tn_hudi_commit_timeline(const tn_hudi_commit *commit);
size_t tn_hudi_commit_rolled_back(const tn_hudi_commit *commit, const tn_str **instants);

/* `action`: COMMIT or REPLACE; `operation` as stored. */
int tn_hudi_commit_begin(tarn_cx *cx, tn_hudi_commit *commit, enum tn_action action,
                         enum tn_operation operation, tn_str *instant);
/* The planned profile: per partition inserts, and per updated file group its base instant and
 * count. */
int tn_hudi_commit_inflight(tarn_cx *cx, tn_hudi_commit *commit, const tn_write_stat *profile,
                            size_t count);
/* A tn_base_job.mark; `arg` is the commit. Makes the partition's directory and metadata file, once.
 */
int tn_hudi_commit_mark(tarn_cx *cx, void *arg, tn_str partition, tn_str name, bool merge);
/* The metadata has operation, stats, replaced, extra filled. Removes data files of this instant
 * that no stat names; re-reads version and layout; completes. *completion lives until close. After
 * it nothing fails: what could not be tidied is a warning. */
int tn_hudi_commit_finish(tarn_cx *cx, tn_hudi_commit *commit, const tn_commit_metadata *metadata,
                          tn_str *completion);
/* Instead of finish, where there turned out to be nothing to commit: the instant goes from the
 * timeline as if it had never been begun. */
int tn_hudi_commit_withdraw(tarn_cx *cx, tn_hudi_commit *commit);
/* Without either, what was begun is rolled back (its files go by their markers); unlocks. */
void tn_hudi_commit_close(tarn_cx *cx, tn_hudi_commit *commit);

/* What a creation made that was not there. */
typedef struct tn_hudi_made {
    bool root, hoodie;
} tn_hudi_made;
/* Where the write that made the table failed and nothing was finished: takes the table away again,
 * before `commit` is closed; NULL: it could not be opened. What somebody else put there in the
 * meantime stays, and the table with it. What goes wrong is a warning. */
void tn_hudi_discard(tarn_cx *cx, tn_store *store, tn_str root, tn_hudi_commit *commit,
                     const tn_hudi_made *made);

/* A new table at `root`: EXISTS when there is one, UNSUPPORTED when `root` is, holds or lies in a
 * table of another kind, CONFLICT when another process makes it. An empty or missing directory is
 * fine; so is one that a creation cut off. `made` may be NULL. */
int tn_hudi_create(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_new *options,
                   tn_hudi_made *made);

/* Rolls back instant `time`: an inflight one, or the latest completed commit or replacecommit
 * (INVALID naming the later ones otherwise, or a savepoint on it). */
typedef struct tn_hudi_rolled {
    tn_str instant, action, rollback; /* what was rolled back, and the rollback's own instant */
    uint64_t files_deleted;
    bool was_completed;
} tn_hudi_rolled;
int tn_hudi_rollback(tarn_cx *cx, tn_store *store, tn_str root, tn_str time,
                     const tn_hudi_commit_options *options, tn_arena *arena, tn_hudi_rolled *out);

#endif
