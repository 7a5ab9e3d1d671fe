/* A write as its record has it: what enters and leaves, directory by directory. The state diagram
 * is in write_run.c. */
#ifndef TN_COMMIT_WRITE_RUN_H
#define TN_COMMIT_WRITE_RUN_H

#include "commit/change.h"
#include "commit/commit_write.h"

/* The last part of the path of a write's staging; see tn_write_commit_staging. */
#define TN_WRITE_STAGING_NAME "write"

enum tn_write_way {
    TN_WRITE_TREE = 1, /* the directory is new: built in staging with all below it, it enters by one
                          rename */
    TN_WRITE_EXCHANGE, /* the new state of the directory is built in staging and exchanged */
    TN_WRITE_RENAME    /* old files are renamed out, then new ones in */
};

/* Of more directories than this, the file system is synced as a whole instead of each: a disk makes
 * us wait for each. */
#define TN_WRITE_SYNC_EACH_MAX 64

/* What happens to one directory. */
typedef struct tn_write_step {
    enum tn_write_way way;
    tn_str path;                   /* below the root; "" is the root */
    uint64_t old_inode, new_inode; /* EXCHANGE: of the directory before and after; TREE: new only */
    bool made;                     /* RENAME: it was missing, and is made with what is above it */
    bool emptied;                  /* gets no file: it goes when nothing is left in it */
    tn_change_file *entering; /* name: in the directory, of a tree below it ("city=a/x.parquet");
                                 path: where it lies until then */
    tn_change_file *leaving;  /* path: where it goes, with RENAME */
    tn_change_file *kept;     /* EXCHANGE: what both directories share */
    size_t entering_count, leaving_count, kept_count;

    /* Not recorded, they follow from the place of the record: */
    tn_str directory, staging;
} tn_write_step;

typedef struct tn_write_record {
    tn_str record; /* path of the file */
    enum tn_change_state state;
    tn_str run_id;
    int64_t made_ms;
    tn_write_step *steps;
    size_t step_count;

    /* Not recorded: */
    tn_str root, staging;
} tn_write_record;

/* Zeroed is empty; entries live in the arena that they were added with. */
typedef struct tn_write_notes {
    tn_write_note *items;
    size_t count, cap;
} tn_write_notes;

/* write_look.c: turns files and what the directory holds into steps. Changes nothing. */
typedef struct tn_write_look {
    tn_store *store;
    tn_arena *arena;
    const tn_write_plan *plan;
    const tn_recovery *recovery; /* directories that wait for another run's change are refused */
    bool root_found;
    uint64_t mount; /* of the root */
} tn_write_look;
int tn_write_look_all(tarn_cx *cx, const tn_write_look *look, const tn_write_file *files,
                      size_t count, tn_write_record *record, tn_write_notes *notes);
/* write_list.c: the entries of a directory that an overwrite replaces, as leaving; *others: names
 * that stay, `first` one of those that a reader would see. The entries are sorted by name. */
int tn_write_list_leaving(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                          const tn_entry *entries, size_t count, tn_write_step *step,
                          uint64_t *strangers, tn_str *first);
/* Adds _metadata and _common_metadata of the directory, where they are, to the leaving. */
int tn_write_list_stale(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                        tn_write_step *step);

/* write_build.c: everything in staging as the steps need it, on stable storage. */
int tn_write_build(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_write_record *record);

/* write_run.c: from the record to its end; every part of it may be done twice. On failure the
 * record's state says whether readers see all of it (DONE) or not yet. */
int tn_write_run(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_write_record *record,
                 tn_write_notes *notes);

/* write_record.c */
/* A relative path without "." and "..", that ends in a name. */
bool tn_write_record_goes_down(tn_str path);
bool tn_write_record_named(tn_str path);
/* Fills what follows from the place: root, staging, the paths of the steps. */
int tn_write_record_place(tarn_cx *cx, tn_arena *arena, tn_str root, tn_str work,
                          tn_write_record *record);
int tn_write_record_put(tarn_cx *cx, tn_store *store, const tn_write_record *record, bool absent);
int tn_write_record_load(tarn_cx *cx, tn_store *store, tn_str path, tn_str root, tn_str work,
                         tn_arena *arena, tn_write_record *out);
int tn_write_note_add(tarn_cx *cx, tn_arena *arena, tn_write_notes *notes, tn_str path,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
