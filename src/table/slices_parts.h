/* What table/hudi_slices*.c and slices_*.c share. */
#ifndef TN_TABLE_SLICES_PARTS_H
#define TN_TABLE_SLICES_PARTS_H

#include "base/map.h"
#include "table/hudi_slices.h"
#include "task/data_name.h"

/* ---- directories (slices_walk.c) ---- */

typedef struct tn_slices_folder {
    tn_str path;      /* below the table's base path */
    tn_str directory; /* in the store */
    unsigned depth;
    tn_arena arena; /* of its entries */
    tn_entry *entries;
    size_t count;
    bool partition; /* it has a partition metadata file, or was asked for by name */
    bool missing;   /* asked for by name, and not there */
} tn_slices_folder;

typedef struct tn_slices_walk {
    tn_arena arena; /* of paths */
    tn_slices_folder *folders;
    size_t count, cap;
    /* Of a range of commits of layout 1: files that are gone, and stand among the entries. In the
     * store, sorted. */
    tn_str *gone;
    size_t gone_count;
} tn_slices_walk;

/* Lists the partitions asked for, or finds all of them. */
int tn_slices_walk_run(tarn_cx *cx, tn_store *store, tn_str root, const tn_slices_options *options,
                       tn_slices_walk *walk);
void tn_slices_walk_clear(tn_slices_walk *walk);
/* Whether a partition is asked for. */
bool tn_slices_walk_wants(const tn_slices_options *options, tn_str partition);

/* ---- what the metadata table lists (slices_listed.c) ---- */

/* The same as tn_slices_walk_run out of the metadata table; *used false: there is none. */
int tn_slices_listed_run(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                         const tn_timeline *timeline, const tn_slices_options *options,
                         tn_slices_walk *walk, bool *used);

/* ---- what the timeline says of file groups (slices_facts.c) ---- */

typedef struct tn_slices_group {
    tn_str replaced;   /* the instant that replaced it; empty: none did */
    bool pending;      /* in a pending compaction, log compaction or clustering */
    tn_str compaction; /* the pending compaction's instant; empty: none */
} tn_slices_group;

typedef struct tn_slices_facts {
    tn_arena arena;
    tn_map map; /* "<partition> NUL <file id>" -> index */
    tn_slices_group *groups;
    size_t count, cap;
    tn_buf key; /* of look-ups */
} tn_slices_facts;

int tn_slices_facts_load(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                         const tn_slices_options *options, tn_slices_facts *facts);
void tn_slices_facts_clear(tn_slices_facts *facts);
/* NULL: nothing is said of it, or memory is short. */
const tn_slices_group *tn_slices_facts_find(tn_slices_facts *facts, tn_str partition,
                                            tn_str file_id);

/* ---- commits (slices_commits.c) ---- */

typedef struct tn_slices_commits {
    const tn_instant **instants; /* by time */
    tn_arena *arenas;
    tn_commit_metadata *commits;
    size_t count;
} tn_slices_commits;

/* Reads completed commits in parallel. `instants` is taken over, with tn_calloc's memory. */
int tn_slices_commits_read(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                           const tn_instant **instants, size_t count, tn_slices_commits *out);
void tn_slices_commits_clear(tn_slices_commits *commits);

/* ---- one file group (slices_group.c) ---- */

typedef struct tn_slices_file {
    tn_data_name parts;
    tn_str name;
    uint64_t size_bytes, inode;
    int64_t mtime_ns;
    tn_str slice; /* of a log: the key of the slice it joined */
} tn_slices_file;

/* How logs find their slices. */
typedef struct tn_slices_rule {
    const tn_timeline *timeline;
    tn_str as_of;
    enum tn_v6_slices v6_slices;
    /* Completion times of instants that left the active timeline; empty text: unknown. May be
     * NULL. */
    int (*archived)(tarn_cx *cx, void *arg, tn_str instant, tn_str *completion);
    void *arg;
} tn_slices_rule;

/* A slice being put together: files of the group, by index. */
typedef struct tn_slices_made {
    const tn_slices_file *base; /* NULL: none */
    tn_str from, before;        /* keys of the slice, and of the one before that is read with it */
    uint64_t moved;             /* logs that are elsewhere than their names say */
    const tn_slices_file *moved_log;
    bool any; /* false: the group has nothing visible */
} tn_slices_made;

/* By file id, base files before logs; base files by instant and token, logs as Hudi orders them. */
int tn_slices_file_order(const void *a, const void *b);
/* Places the logs and picks the slice that readers see. `files`: of one group, in that order, at
 * most one base file of an instant. */
int tn_slices_group_make(tarn_cx *cx, const tn_slices_rule *rule, tn_slices_file *files,
                         size_t count, const tn_slices_group *group, tn_slices_made *out);
/* Whether a log, placed, is of the slice that was made. */
bool tn_slices_made_has(const tn_slices_rule *rule, const tn_slices_made *made,
                        const tn_slices_file *log);

/* ---- files of a task that was tried twice (slices_tries.c) ---- */

/* The commit that was asked last. */
typedef struct tn_slices_tries {
    tn_arena arena;
    tn_str instant;
    tn_commit_metadata commit;
} tn_slices_tries;

/* Of several base files of one instant leaves the one that the commit names, or the last. `files`:
 * of one group, in order; *count is what is left. */
int tn_slices_tries_drop(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                         tn_slices_tries *tries, tn_slices_file *files, size_t *count);
void tn_slices_tries_clear(tn_slices_tries *tries);

/* ---- what must be there (slices_check.c) ---- */

/* CORRUPT or CONFLICT when one of the newest commits names a file of a latest slice that is gone,
 * a log that is shorter than it says, or a file that the metadata table does not list. */
int tn_slices_check(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                    const tn_timeline *timeline, const tn_slices_options *options,
                    tn_slices_facts *facts, const tn_slices_walk *walk, const tn_slices *slices);
/* CORRUPT for a log of `size_bytes` when `instant` wrote more of it. */
int tn_slices_check_size(tarn_cx *cx, tn_str instant, tn_str path, uint64_t size_bytes,
                         uint64_t named_bytes);
/* INVALID when the cleaner took away what a query as of a time needs (validateTimestampAsOf). */
int tn_slices_check_as_of(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str as_of);

/* ---- files of some commits alone (slices_range.c) ---- */

/* Replaces what was listed by the files that the commits of options->written_by wrote. *gone: one
 * of them is not there any more, and none are given; in layout 1 that depends on the slices. */
int tn_slices_range_files(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                          const tn_slices_options *options, tn_str root, tn_slices_walk *walk,
                          bool *gone);
/* Whether a slice has a file that is gone. */
bool tn_slices_range_misses(const tn_slices_walk *walk, const tn_slices *slices);

#endif
