/* What the files of a commit to a Hudi table share. The state diagram is in commit_hudi.c. */
#ifndef TN_COMMIT_HUDI_PARTS_H
#define TN_COMMIT_HUDI_PARTS_H

#include <pthread.h>

#include "base/map.h"
#include "commit/commit_hudi.h"

enum tn_hudi_state {
    TN_HUDI_OPEN = 0,  /* nothing of ours is on the timeline */
    TN_HUDI_BEGUN,     /* requested, perhaps inflight */
    TN_HUDI_UNCERTAIN, /* the completed file may be there or not: the next open finds out */
    TN_HUDI_FINISHED
};

/* Two locks: ours, which dies with its owner, and Hudi's file, which does not. */
typedef struct tn_hudi_lock {
    tn_store *store;
    tn_lock *own;
    tn_str own_path;
    tn_str hudi_path; /* empty: not held */
} tn_hudi_lock;

/* All strings live in `arena`. */
struct tn_hudi_commit {
    tn_store *store;
    tn_str root, hoodie; /* hoodie: "<root>/.hoodie" */
    tn_hudi_commit_options options;
    tn_arena arena;
    tn_hudi_lock lock;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_str last; /* the greatest instant there is or that was given out */
    tn_str *rolled;
    size_t rolled_count, rolled_cap;

    enum tn_hudi_state state;
    enum tn_action action;
    enum tn_operation operation;
    tn_str instant, word; /* word: the action in file names */
    tn_str completion;
    tn_timeline begun; /* as it was when the commit was begun */

    /* Of mark, which many threads call. */
    pthread_mutex_t mutex;
    bool mutex_made;
    tn_arena mark_arena;
    tn_map partitions; /* that are made */
    tn_str making;     /* the last one of them that was begun */
    int64_t beat_ms;   /* of the last heartbeat */
};

/* One line for the user; what it is about goes on. */
void tn_hudi_commit_warn(tn_hudi_commit *commit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reads properties and timeline; a timeline with times ahead of the clock is a warning. */
int tn_hudi_commit_load(tarn_cx *cx, tn_hudi_commit *commit);
/* CONFLICT when another writer gave the table another version, layout or place of its timeline
 * since. */
int tn_hudi_commit_same(tarn_cx *cx, tn_hudi_commit *commit);
/* The next instant: now, but greater than all there is. In the arena. */
int tn_hudi_commit_time(tarn_cx *cx, tn_hudi_commit *commit, tn_str *out);
/* A new file on the timeline, after tn_hudi_commit_same. CONFLICT when there is one of that name.
 */
int tn_hudi_commit_put(tarn_cx *cx, tn_hudi_commit *commit, tn_str name, tn_str bytes);
/* Removes a file of the timeline with its side file; a missing one is fine. */
int tn_hudi_commit_drop(tarn_cx *cx, tn_hudi_commit *commit, tn_str name);
/* "<hoodie>/<folder>/<name>", name may be empty. */
int tn_hudi_commit_path(tarn_cx *cx, tn_hudi_commit *commit, tn_arena *arena, const char *folder,
                        tn_str name, tn_str *out);
/* Makes the directories of the path `below` in `base`, which is there: a table that somebody took
 * away meanwhile does not come back. */
int tn_hudi_commit_folder(tarn_cx *cx, tn_store *store, tn_str base, tn_str below);
/* What is done for others, after a failure or a cancel too: `child` has no cancel but its own. */
void tn_hudi_commit_shield(tarn_cx *child, const tarn_cx *cx, atomic_bool *never);

/* commit_hudi_lock.c */
int tn_hudi_lock_take(tarn_cx *cx, tn_store *store, tn_str root, int64_t wait_ms, tn_arena *arena,
                      tn_hudi_lock *out);
/* The lock that the table's properties name beside it, and the one that somebody holds. */
int tn_hudi_lock_provider(tarn_cx *cx, tn_str root, const tn_hudi_config *config, tn_arena *arena,
                          tn_hudi_lock *lock);
void tn_hudi_lock_free(tarn_cx *cx, tn_hudi_lock *lock);

/* commit_hudi_marker.c: data files that an instant may have begun. */
typedef struct tn_hudi_marker {
    tn_str partition, name; /* of the data file */
} tn_hudi_marker;
typedef struct tn_hudi_markers {
    bool found; /* the instant has a directory of markers */
    tn_hudi_marker *items;
    size_t count, cap;
} tn_hudi_markers;
int tn_hudi_marker_load(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, tn_arena *arena,
                        tn_hudi_markers *out);
/* Data files of that instant anywhere in the table, for instants without markers. */
int tn_hudi_marker_search(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, tn_arena *arena,
                          tn_hudi_markers *out);
int tn_hudi_marker_remove(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant);
/* A relative path of ordinary components, or empty. */
bool tn_hudi_marker_partition_ok(tn_str partition);

/* commit_hudi_heart.c: heartbeats. */
int tn_hudi_heart_beat(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant);
/* Beats again when half of the interval is over. */
int tn_hudi_heart_again(tarn_cx *cx, tn_hudi_commit *commit);
/* *found: it has one; *alive: its writer may be at work still. */
int tn_hudi_heart_look(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, bool *found,
                       bool *alive, int64_t *age_ms);
int tn_hudi_heart_stop(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant);

/* commit_hudi_undo.c: one instant is rolled back. */
typedef struct tn_hudi_undo {
    tn_str instant, word; /* word: the action as Hudi compares it ("commit", "replacecommit") */
    tn_str completed;     /* name of its completed file; empty: there is none */
    tn_str requested, inflight;         /* names; empty: there is none */
    const tn_commit_metadata *metadata; /* of a completed one */
    tn_str rollback;                    /* of a plan that is there; empty: none */
    bool rollback_inflight;
    const tn_rollback_plan *plan; /* that plan */
} tn_hudi_undo;
int tn_hudi_undo_run(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_undo *undo,
                     tn_hudi_rolled *out);
/* An instant of our own that is not to be: as if it had never been begun, so no rollback tells of
 * it. */
int tn_hudi_undo_withdraw(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_undo *undo);

/* commit_hudi_failed.c */
/* Rolls back what failed writers and rollbacks left, newest first. */
int tn_hudi_failed_settle(tarn_cx *cx, tn_hudi_commit *commit);
/* Whether it is a service's: a pending compaction or clustering, to be run by whoever planned it.
 */
int tn_hudi_failed_service(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *instant,
                           bool *out);
/* Rolls back one pending instant, with the plan that may be there for it. CONFLICT when its writer
 * is alive. */
int tn_hudi_failed_one(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *instant,
                       tn_hudi_rolled *out);
/* Removes halves of puts that a kill left in a directory; *there: there is one. */
int tn_hudi_failed_halves(tarn_cx *cx, tn_hudi_commit *commit, tn_str directory, bool *there);
/* Directories of markers and heartbeats that nobody needs, halves of files. Failures are warnings.
 */
void tn_hudi_failed_sweep(tarn_cx *cx, tn_hudi_commit *commit);

/* commit_hudi_metadata.c: disables the metadata table: property first, then the directory. */
int tn_hudi_metadata_check(tarn_cx *cx, tn_hudi_commit *commit);
int tn_hudi_metadata_drop(tarn_cx *cx, tn_hudi_commit *commit);

/* Opens without rolling back what failed. */
int tn_hudi_commit_enter(tarn_cx *cx, tn_store *store, tn_str root,
                         const tn_hudi_commit_options *options, tn_hudi_commit **out);

#endif
