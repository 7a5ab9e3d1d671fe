/* Lists a tree, level by level, the directories of a level in parallel.
 * I1: hidden directories are not descended into; they are entries of their parent.
 * I2: nodes, and so everything that follows, come in an order that does not depend on threads.
 * I3: a directory that is its own ancestor by a symbolic link is not descended into. */
#include <stdlib.h>

#include "base/pool.h"
#include "table/dir_parts.h"

#define TN_BUSY_AGE_MS      3600000
#define TN_BUSY_DEPTH_MAX   8
#define TN_BUSY_ENTRIES_MAX 100000
#define TN_WALK_RUN_MAX     64

typedef struct level {
    tn_store *store;
    tn_dir_node **nodes;
    size_t count, run; /* directories per job */
    tn_arena *arenas;  /* one per job */
    int64_t now_ms;
} level;

void tn_dir_walk_clear(tn_dir_walk *walk)
{
    for (size_t i = 0; i < walk->part_count; i++)
        tn_arena_clear(&walk->parts[i]);
    free(walk->parts);
    free(walk->nodes);
    tn_arena_clear(&walk->arena);
    *walk = (tn_dir_walk){0};
}

/* The newest change anywhere below `path`: a job writes deep inside its _temporary. */
static int newest_below(tarn_cx *cx, tn_store *store, tn_str path, unsigned depth, size_t *budget,
                        int64_t *newest_ns)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    if (depth >= TN_BUSY_DEPTH_MAX)
        return TARN_OK;
    if (tn_store_list(cx, store, path, &arena, &entries, &count) != TARN_OK) {
        tn_cx_forget(cx);
        goto done;
    }
    for (size_t i = 0; i<count && * budget> 0; i++) {
        (*budget)--;
        if (entries[i].stat.mtime_ns > *newest_ns)
            *newest_ns = entries[i].stat.mtime_ns;
        if (entries[i].stat.kind == TN_ENTRY_DIR && !entries[i].stat.link) {
            tn_str below;

            TN_TRY(tn_path_join(cx, &arena, path, entries[i].name, &below));
            TN_TRY(newest_below(cx, store, below, depth + 1, budget, newest_ns));
        }
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int look_busy(tarn_cx *cx, const level *l, tn_arena *arena, tn_dir_node *node,
                     const tn_entry *entry)
{
    int64_t newest_ns = entry->stat.mtime_ns, age_ms;
    size_t budget = TN_BUSY_ENTRIES_MAX;
    int rc = TARN_OK;

    if (entry->stat.kind == TN_ENTRY_DIR) {
        tn_str path;

        TN_TRY(tn_path_join(cx, arena, node->directory, entry->name, &path));
        TN_TRY(newest_below(cx, l->store, path, 0, &budget, &newest_ns));
    }
    age_ms = l->now_ms - newest_ns / 1000000;
    if (age_ms >= TN_BUSY_AGE_MS || (node->busy.len != 0 && node->busy_age_ms <= age_ms))
        goto done;
    if (node->path.len == 0)
        node->busy = entry->name;
    else
        TN_TRY(tn_path_join(cx, arena, node->path, entry->name, &node->busy));
    node->busy_age_ms = age_ms;
    node->busy_below = entry->stat.kind == TN_ENTRY_DIR;
done:
    return rc;
}

static int list_node(tarn_cx *cx, const level *l, tn_arena *arena, tn_dir_node *node)
{
    int rc =
        tn_store_list(cx, l->store, node->directory, arena, &node->entries, &node->entry_count);

    if (rc != TARN_OK) {
        if (node->parent == NULL || rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
            return rc;
        node->problem = tn_str_of(tarn_cx_error(cx));
        node->entry_count = 0;
        rc = tn_arena_keep(cx, arena, &node->problem);
        tn_cx_forget(cx);
        return rc;
    }
    node->foreign = tn_dir_foreign_kind(node->directory, node->entries, node->entry_count);
    for (size_t i = 0; i < node->entry_count; i++)
        if (tn_dir_busy_name(node->entries[i].name))
            TN_TRY(look_busy(cx, l, arena, node, &node->entries[i]));
done:
    return rc;
}

static int list_run(tarn_cx *cx, size_t job, void *arg)
{
    const level *l = arg;
    int rc = TARN_OK;

    for (size_t i = job * l->run; i < l->count && i < (job + 1) * l->run; i++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(list_node(cx, l, &l->arenas[job], l->nodes[i]));
    }
done:
    return rc;
}

int tn_dir_wanted(tarn_cx *cx, tn_arena *arena, const tn_dir_options *options, tn_str path,
                  int *out)
{
    int rc = TARN_OK;

    *out = options->partition_count == 0 ? 1 : 0;
    for (size_t i = 0; i < options->partition_count && *out != 1; i++) {
        tn_str filter = options->partitions[i], plain;

        while (filter.len != 0 && filter.ptr[filter.len - 1] == '/')
            filter.len--;
        while (filter.len != 0 && filter.ptr[0] == '/')
            filter = tn_str_from(filter, 1);
        TN_TRY(tn_partition_decode(cx, arena, path, &plain));
        for (int form = 0; form < 2; form++) {
            tn_str at = form == 0 ? path : plain;

            if (filter.len == 0 ||
                (tn_str_starts(at, filter) && (at.len == filter.len || at.ptr[filter.len] == '/')))
                *out = 1;
            else if (*out == 0 &&
                     (at.len == 0 || (at.len < filter.len && tn_str_starts(filter, at) &&
                                      filter.ptr[at.len] == '/')))
                *out = 2;
        }
    }
done:
    return rc;
}

static int add_node(tarn_cx *cx, tn_dir_walk *walk, tn_dir_node *node)
{
    if (tn_grow(cx, &walk->nodes, walk->count, &walk->cap, sizeof *walk->nodes) != TARN_OK)
        return TARN_E_NOMEM;
    walk->nodes[walk->count++] = node;
    return TARN_OK;
}

static bool own_ancestor(const tn_dir_node *node, const tn_stat *stat)
{
    for (; node != NULL; node = node->parent)
        if (stat->inode != 0 && node->stat.inode == stat->inode &&
            node->stat.device == stat->device)
            return true;
    return false;
}

static int add_child(tarn_cx *cx, tn_dir_walk *walk, const tn_dir_options *options,
                     const tn_dir_node *parent, const tn_entry *entry)
{
    tn_dir_node *node = tn_arena_take(cx, &walk->arena, sizeof *node);
    int want = 0, rc = TARN_OK;

    if (node == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_path_join(cx, &walk->arena, parent->directory, entry->name, &node->directory));
    node->path = entry->name;
    if (parent->path.len != 0)
        TN_TRY(tn_path_join(cx, &walk->arena, parent->path, entry->name, &node->path));
    TN_TRY(tn_dir_wanted(cx, &walk->arena, options, node->path, &want));
    /* A directory "metadata" may be the sign of an Iceberg table, whatever was asked for. */
    if (want == 0 && !tn_str_is(entry->name, "metadata"))
        goto done;
    if (parent->depth + 1 > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "%.*s: deeper than %d levels of directories; merge the directory at a level below "
                "the root by itself",
                TN_STR_ARG(node->directory), TN_DIR_DEPTH_MAX);
    node->excluded = want != 1;
    node->stat = entry->stat;
    node->parent = parent;
    node->depth = parent->depth + 1;
    node->symlinked = parent->symlinked || entry->stat.link;
    node->mount_point = !entry->stat.link && entry->stat.mount != parent->stat.mount;
    if (parent->busy.len != 0 && parent->busy_below) {
        node->busy = parent->busy;
        node->busy_age_ms = parent->busy_age_ms;
        node->busy_below = true;
    }
    TN_TRY(add_node(cx, walk, node));
done:
    return rc;
}

static int list_level(tarn_cx *cx, tn_store *store, int64_t now_ms, tn_dir_walk *walk, size_t from)
{
    level l = {
        .store = store, .nodes = walk->nodes + from, .count = walk->count - from, .now_ms = now_ms};
    size_t jobs;
    tn_arena *parts;

    l.run = l.count / (tn_cx_jobs(cx) * 8) + 1;
    if (l.run > TN_WALK_RUN_MAX)
        l.run = TN_WALK_RUN_MAX;
    jobs = (l.count + l.run - 1) / l.run;
    parts = tn_realloc(cx, walk->parts, walk->part_count + jobs, sizeof *parts);
    if (parts == NULL)
        return TARN_E_NOMEM;
    memset(parts + walk->part_count, 0, jobs * sizeof *parts);
    walk->parts = parts;
    l.arenas = parts + walk->part_count;
    walk->part_count += jobs;
    return tn_parallel(cx, jobs, list_run, &l);
}

/* Adds the next level below the nodes from `from` on. */
static int descend(tarn_cx *cx, tn_str root, const tn_dir_options *options, tn_dir_walk *walk,
                   size_t from, size_t to)
{
    int rc = TARN_OK;

    for (size_t i = from; i < to; i++) {
        tn_dir_node *node = walk->nodes[i];

        if (options->for_write && node->foreign.len != 0)
            TN_TRY(tn_dir_refuse(cx, root, node->directory, node->foreign, options->looks));
        walk->entries += node->entry_count;
        if (walk->entries > TN_DIR_ENTRIES_MAX)
            TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d entries; give one partition at a time",
                    TN_STR_ARG(root), TN_DIR_ENTRIES_MAX);
        node->first_child = walk->count;
        for (size_t k = 0; k < node->entry_count; k++) {
            const tn_entry *entry = &node->entries[k];

            if (entry->stat.kind == TN_ENTRY_DIR && !tn_dir_hidden_name(entry->name) &&
                !own_ancestor(node, &entry->stat))
                TN_TRY(add_child(cx, walk, options, node, entry));
        }
        node->child_count = walk->count - node->first_child;
    }
done:
    return rc;
}

int tn_dir_walk_tree(tarn_cx *cx, tn_store *store, tn_str root, const tn_dir_options *options,
                     int64_t now_ms, tn_dir_walk *out)
{
    tn_dir_walk walk = {0};
    tn_dir_node *top;
    size_t from = 0;
    int want = 0, rc = TARN_OK;

    top = tn_arena_take(cx, &walk.arena, sizeof *top);
    if (top == NULL)
        TN_TRY(TARN_E_NOMEM);
    top->directory = root;
    top->path = TN_STR("");
    TN_TRY(tn_store_stat(cx, store, root, &top->stat));
    if (top->stat.kind != TN_ENTRY_DIR)
        TN_FAIL(TARN_E_INVALID, "%.*s: not a directory; give the directory the files lie in",
                TN_STR_ARG(root));
    TN_TRY(tn_dir_wanted(cx, &walk.arena, options, top->path, &want));
    top->excluded = want != 1;
    TN_TRY(add_node(cx, &walk, top));
    while (from < walk.count) {
        size_t to = walk.count;

        TN_TRY(list_level(cx, store, now_ms, &walk, from));
        TN_TRY(descend(cx, root, options, &walk, from, to));
        from = to;
    }
    *out = walk;
    walk = (tn_dir_walk){0};
done:
    tn_dir_walk_clear(&walk);
    return rc;
}
