/* The work directory of a root: lock, records, undo folder, staging. It lies beside the root
 * (".NAME.tarn"), or inside it (".tarn") where that cannot be; table/dir.h knows the names. */
#ifndef TN_COMMIT_WORK_H
#define TN_COMMIT_WORK_H

#include "commit/change.h"
#include "commit/commit_dir.h"
#include "io/store.h"

typedef struct tn_work {
    tn_store *store;
    tn_str root, path;
    tn_str lock_path, changes, undo, run; /* below path */
    tn_lock *lock, *other_lock;           /* other: of the work directory that is not in use */
} tn_work;

/* Paths only; nothing is made or locked. */
int tn_work_at(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, tn_str path,
               tn_work *out);
/* Makes it and takes the lock; CONFLICT when another run holds this root's lock. */
int tn_work_open(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, tn_str path,
                 tn_work *out);
/* Removes what is empty, the lock with it, and lets go. */
void tn_work_finish(tarn_cx *cx, tn_work *work);
/* Lets go. */
void tn_work_close(tn_work *work);

/* Is it a staging directory of this root, by its path? Only such are swept. */
bool tn_work_owns(tn_str root, tn_str work, tn_str staging);
/* Writes down which staging directories this run uses, so that they can be swept after a crash. */
int tn_work_put_run(tarn_cx *cx, const tn_work *work, const tn_str *stagings, size_t count);
/* Sweeps what a crashed run wrote down, except under the run's own id. *removed counts. */
int tn_work_sweep_run(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str own_id,
                      uint64_t *removed);
/* Removes staged files and links from one staging directory, and the directory when it is empty. */
int tn_work_sweep(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str staging);
/* Removes a new directory that a crash left there half built. */
int tn_work_sweep_new(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str staging);
/* Sweeps what puts and probes left that a crash cut off. */
int tn_work_sweep_halves(tarn_cx *cx, const tn_work *work, tn_arena *arena);
/* Sweeps staging directories that no run wrote down and nobody touched for a day. */
int tn_work_sweep_stray(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str own_id,
                        uint64_t *removed);
/* Whether a directory in the work directory is left alone by the next run: no run wrote it down and
 * it is not a day old, so it is that of a plan whose tasks or commit are still to come. */
int tn_work_waits(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str path, bool *out);

/* Whether a run works on this root now, and who; *holder empty where nobody does. */
int tn_work_running(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, bool *running,
                    tn_str *holder);

/* undo.c, recover.c: every record of a folder, oldest name first; *count 0 where there is none. */
int tn_work_records(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str folder, tn_str **paths,
                    size_t *count);
/* CONFLICT when the record is of a directory that is not below this root: it was moved or copied.
 */
int tn_work_check_place(tarn_cx *cx, tn_str root, tn_str work, const tn_change *change);
/* Settles all records, sweeps, and removes expired undo, in this work directory. *out is added to,
 * also on failure. */
int tn_work_recover(tarn_cx *cx, const tn_work *work, tn_str own_id, tn_recovery *out);

#endif
