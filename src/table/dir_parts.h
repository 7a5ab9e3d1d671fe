/* The steps of loading a directory, shared by table/dir*.c alone. */
#ifndef TN_TABLE_DIR_PARTS_H
#define TN_TABLE_DIR_PARTS_H

#include "table/dir.h"

/* What a listing found, before it is known which files are data. Lives in the walk's arenas. */
typedef struct tn_dir_node {
    tn_str path, directory;
    tn_stat stat;
    const struct tn_dir_node *parent; /* NULL for the root */
    unsigned depth;
    size_t first_child, child_count; /* nodes of the walk, in the order of the entries */
    bool symlinked, mount_point;
    bool excluded;     /* only on the way to the partitions asked for */
    tn_entry *entries; /* sorted by name */
    size_t entry_count;
    tn_str problem;
    tn_str busy;     /* own or inherited from above */
    bool busy_below; /* `busy` is a directory and holds for what lies below, too */
    int64_t busy_age_ms;
    tn_str foreign; /* names the kind of a foreign table found here; empty: none */
} tn_dir_node;

typedef struct tn_dir_walk {
    tn_arena arena;  /* of nodes and their paths */
    tn_arena *parts; /* of listings: one per run of directories */
    size_t part_count;
    tn_dir_node **nodes;
    size_t count, cap;
    uint64_t entries;
} tn_dir_walk;

/* dir_walk.c: lists the tree below the root. */
int tn_dir_walk_tree(tarn_cx *cx, tn_store *store, tn_str root, const tn_dir_options *options,
                     int64_t now_ms, tn_dir_walk *out);
void tn_dir_walk_clear(tn_dir_walk *walk);
/* Is `path` one of the partitions asked for, or below one (1); on the way to one (2); neither (0)?
 * Levels compare as written on disk or as a user reads them, URL-decoded. */
int tn_dir_wanted(tarn_cx *cx, tn_arena *arena, const tn_dir_options *options, tn_str path,
                  int *out);

/* dir_footer.c: reads the footers of all files of the partitions. */
int tn_dir_read_footers(tarn_cx *cx, tn_store *store, const tn_dir_options *options, tn_dir *dir);

/* dir_hidden.c: counts what lies in hidden sub-directories. */
int tn_dir_count_hidden(tarn_cx *cx, tn_store *store, tn_dir *dir);

/* dir_place.c: work place, exchange, leftovers. */
int tn_dir_find_place(tarn_cx *cx, tn_store *store, const tn_dir_options *options, tn_dir *dir);

#endif
