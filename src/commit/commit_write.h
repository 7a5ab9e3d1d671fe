/* Makes written files visible in a plain directory: all of a run, or nothing.
 *
 * Until tn_write_commit_finish nothing but hidden staging exists. Finish writes a record of all
 * that is to enter and leave; from then on the run is done: what a crash cuts off, recovery brings
 * to its end (tn_dir_recover, which every opener calls). docs/write.md says what readers see.
 *
 * Thread rule: one caller. */
#ifndef TN_COMMIT_WRITE_H
#define TN_COMMIT_WRITE_H

#include "commit/commit_dir.h"
#include "task/write.h"

typedef struct tn_write_commit tn_write_commit;

/* What the user should know of one directory. */
typedef struct tn_write_note {
    tn_str path; /* below the root; "" is the root */
    tn_str text;
} tn_write_note;

typedef struct tn_write_done {
    uint64_t files, bytes;         /* made visible */
    uint64_t old_files, old_bytes; /* replaced */
    uint64_t partitions;           /* written to */
    uint64_t partitions_removed;   /* by OVERWRITE: had files, have none now */
    int64_t rows;
    bool pending;   /* the record stands, but something keeps the rest from being done: recovery
                       goes on */
    tn_str problem; /* with pending: what; lives until close */
    const tn_write_note *notes; /* until close: files that stay because they are no Parquet, files
                                   that changed meanwhile, names given up for others */
    size_t note_count;
} tn_write_done;

/* Where the plan of the run `id` has its staging: "<work>/<id>/write". Recovery knows it by that
 * name, and removes it whole when no record names it. */
int tn_write_commit_staging(tarn_cx *cx, tn_arena *arena, tn_str work, tn_str id, tn_str *out);

/* Takes the root's lock (CONFLICT when another tarn holds it), settles what crashed runs left, and
 * makes the staging directory; the root itself is not made yet. CONFLICT, too, when the root is not
 * what the plan says: there, or missing. `store`, `plan` are borrowed until close. */
int tn_write_commit_open(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                         tn_write_commit **out);
/* Publishes; once. Any failure leaves the directory as it was, and says so; from the record on the
 * answer is TARN_OK, perhaps with done->pending. The files are finished (their data is on stable
 * storage), each has a name that its directory does not know, and lies below the plan's staging. No
 * files: OVERWRITE empties the directory, the other modes change nothing. */
int tn_write_commit_finish(tarn_cx *cx, tn_write_commit *commit, const tn_write_file *files,
                           size_t count, tn_write_done *done);
/* Hands over what recovery met before the run, as in tn_dir_commit_recovery. */
void tn_write_commit_recovery(tn_write_commit *commit, tn_recovery *out);
/* Without finish, or when that failed: removes all that was staged. Releases the lock. */
void tn_write_commit_close(tarn_cx *cx, tn_write_commit *commit);

#endif
