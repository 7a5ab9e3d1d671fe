/* A change replaces files of one directory by others. It is what a merge does to a partition and
 * what undo does to it again. The state diagram is in change.c. */
#ifndef TN_COMMIT_CHANGE_H
#define TN_COMMIT_CHANGE_H

#include "io/store.h"
#include "task/merge_plan.h"

/* What the record on disk says. */
enum tn_change_state {
    TN_CHANGE_BEGUN = 1, /* the swap may have begun, and may have ended */
    TN_CHANGE_DONE = 2   /* the swap has ended and is durable; the old files may go */
};

/* The staging of a change that takes another back is that one's with this behind. */
#define TN_UNDO_STAGING_END ".undo"

typedef struct tn_change_file {
    tn_str name; /* in the directory */
    tn_str path; /* leaving: where it goes; entering: where it lies until then; kept: none */
    uint64_t size_bytes; /* entering, leaving: identity; kept: 0 */
    int64_t mtime_ns;    /* leaving: identity */
    uint64_t inode;
    bool side; /* a leaving side file: it may be gone already, or be another by now */
    bool link; /* a leaving symbolic link (writes only): the link goes, what it leads to stays */
} tn_change_file;

typedef struct tn_change {
    tn_str record; /* path of the record */
    enum tn_change_state state;
    enum tn_swap swap;
    tn_str run_id;
    int64_t made_ms;
    int64_t keep_until_ms; /* old files stay until then; 0: they go at once */
    bool times_now;
    bool undo; /* takes an earlier change back */
    tn_str directory, staging;
    uint64_t old_inode, new_inode; /* of the directory before, after; new: exchange only */
    int64_t atime_ns, mtime_ns;    /* of the directory, to be put back */
    tn_change_file *leaving, *entering, *kept; /* kept: files that the new directory shares */
    size_t leaving_count, entering_count, kept_count;

    /* Not recorded: */
    uint64_t newcomers; /* carried over */
    int failure;        /* why it went back, when a step failed */
    tn_str note;        /* what the user should know */
} tn_change;

/* Makes the change visible. On success its old files are where they belong (removed, or kept with a
 * manifest in `undo`). On failure the directory is as it was, or, when even that failed, the record
 * stays and tn_change_settle brings the directory to the one or the other. CONFLICT: files changed
 * or vanished; nothing was touched. Everything the change points to lives in `arena`. */
int tn_change_run(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str undo);
/* Brings a change that a record was left of to its end, or back: *completed says which. */
int tn_change_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str undo,
                     bool *completed);

/* change_exchange.c. UNSUPPORTED before anything was touched: use the other way. */
int tn_change_exchange(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change);
int tn_change_exchange_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                              bool *completed);
/* Removes a built but not exchanged directory. */
int tn_change_exchange_discard(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change);
/* The directory in staging: the new one before the exchange, the old one after. */
int tn_change_exchange_path(tarn_cx *cx, tn_arena *arena, const tn_change *change, tn_str *out);
/* Brings one newcomer from `from` into the directory, under its name if that is free. */
int tn_change_exchange_carry(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                             tn_str from, const tn_entry *entry);
/* Carries what a listing of the old directory shows and the change does not know into the
 * directory, and removes names that live on there. */
int tn_change_exchange_empty(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change);

/* change_rename.c */
int tn_change_rename(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change);
int tn_change_rename_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                            bool *completed);

/* change_retire.c: the old files of a DONE change, and the end of its record. */
int tn_change_retire(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str undo);
/* Removes the files a manifest keeps, and the manifest. */
int tn_change_forget(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change);

/* change_record.c. The file is one line of JSON and one with its checksum. */
int tn_change_record_put(tarn_cx *cx, tn_store *store, const tn_change *change, tn_str path);
int tn_change_record_load(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                          tn_change *out);

/* change_look.c: what the steps share. */
bool tn_change_same(const tn_stat *stat, const tn_change_file *file);
/* Stat that says "missing" with *found false instead of failing. */
int tn_change_find(tarn_cx *cx, tn_store *store, tn_str path, bool *found, tn_stat *stat);
int tn_change_find_in(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory, tn_str name,
                      bool *found, tn_stat *stat);
/* A name like `name` that is free in `directory`. */
int tn_change_free_name(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                        tn_str name, tn_str *out);
/* Adds a sentence to the note. */
int tn_change_say(tarn_cx *cx, tn_arena *arena, tn_change *change, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Removes a file; a missing one is fine. */
int tn_change_remove(tarn_cx *cx, tn_store *store, tn_str path);
/* Removes the record, durably: a record that came back would be settled a second time. */
int tn_change_drop(tarn_cx *cx, tn_store *store, const tn_change *change);
/* What to do when files are not as they were: "run again", or for undo where the old files are. */
const char *tn_change_way_out(const tn_change *change);
/* "since the plan", or for undo "since the merge". */
const char *tn_change_since(const tn_change *change);
/* Removes a directory if it is empty; anything else is fine. */
void tn_change_remove_empty(tarn_cx *cx, tn_store *store, tn_str path);
/* The same for a staging directory, that of its run above it, and the one above that: the work
 * directory, which the lock keeps, or one that a partition on another file system has of its own.
 */
void tn_change_remove_staging(tarn_cx *cx, tn_store *store, tn_str staging);
/* Times of the directory as recorded; failures are no matter. */
void tn_change_put_times(tarn_cx *cx, tn_store *store, const tn_change *change);

#endif
