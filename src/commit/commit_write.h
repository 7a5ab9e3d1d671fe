/* Makes written files visible in a plain directory: all of a run, or nothing.
 *
 * Until tn_write_commit_finish nothing but hidden staging exists. Finish writes a record of all
 * that is to enter and leave; from then on the run is done: what a crash cuts off, recovery brings
 * to its end (tn_dir_recover, which every opener calls). */
#ifndef TN_COMMIT_WRITE_H
#define TN_COMMIT_WRITE_H

#include "commit/commit_dir.h"
#include "task/write.h"

typedef struct tn_write_commit tn_write_commit;

typedef struct tn_write_done {
    uint64_t files, bytes;         /* made visible */
    uint64_t old_files, old_bytes; /* replaced */
    uint64_t partitions;           /* written to */
    uint64_t partitions_removed;   /* by OVERWRITE: had files, have none now */
    int64_t rows;
    bool pending; /* the record stands, but something (text in `cx`) keeps the rest from being done:
                     recovery goes on */
} tn_write_done;

/* Takes the root's lock (CONFLICT when another tarn holds it), settles what crashed runs left, and
 * makes the staging directory. `store`, `plan` are borrowed until close. */
int tn_write_commit_open(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                         tn_write_commit **out);
/* Publishes. Before the record: any failure leaves the directory as it was. */
int tn_write_commit_finish(tarn_cx *cx, tn_write_commit *commit, const tn_write_file *files,
                           size_t count, tn_write_done *done);
/* What recovery met, as in tn_dir_commit_recovery. */
void tn_write_commit_recovery(tn_write_commit *commit, tn_recovery *out);
/* Without finish: removes all that was staged. Releases the lock. */
void tn_write_commit_close(tarn_cx *cx, tn_write_commit *commit);

#endif
