/* What table/hudi_slices*.c and slices_*.c share. */
#ifndef TN_TABLE_SLICES_PARTS_H
#define TN_TABLE_SLICES_PARTS_H

#include "base/map.h"
#include "table/hudi_slices.h"

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
} tn_slices_walk;

/* Lists the partitions asked for, or finds all of them. */
int tn_slices_walk_run(tarn_cx *cx, tn_store *store, tn_str root, const tn_slices_options *options,
                       tn_slices_walk *walk);
void tn_slices_walk_clear(tn_slices_walk *walk);

/* ---- what the timeline says of file groups (slices_facts.c) ---- */

typedef struct tn_slices_named tn_slices_named;
struct tn_slices_named {
    tn_str time, completion; /* of the instant that names it */
    tn_str path;             /* below the base path */
    tn_slices_named *next;
};

typedef struct tn_slices_group {
    tn_str partition, file_id;
    tn_str replaced;       /* the instant that replaced it; empty: none did */
    tn_slices_named base;  /* the newest base file that a commit names; path empty: none */
    tn_slices_named *logs; /* newest first */
    bool pending;          /* in a pending compaction or clustering */
    tn_str compaction;     /* the pending one's instant; empty: none */
} tn_slices_group;

typedef struct tn_slices_facts {
    tn_arena arena;
    tn_map map; /* "<partition> NUL <file id>" -> index */
    tn_slices_group *groups;
    size_t count, cap;
    tn_buf key; /* of look-ups */
} tn_slices_facts;

int tn_slices_facts_load(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str as_of,
                         tn_slices_facts *facts);
void tn_slices_facts_clear(tn_slices_facts *facts);
/* NULL: nothing is said of it, or memory is short. */
tn_slices_group *tn_slices_facts_find(tn_slices_facts *facts, tn_str partition, tn_str file_id);

#endif
