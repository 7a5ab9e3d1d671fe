/* Finds the partitions of a table and lists their files.
 *
 * I1: a directory is a partition when it holds a partition metadata file; partitions are not looked
 *     into for further ones, the base path apart (FSUtils.getAllPartitionPaths).
 * I2: each directory is listed once, those of a level in parallel; ".hoodie" never is. */
#include <assert.h>
#include <stdlib.h>

#include "base/pool.h"
#include "table/slices_parts.h"

#define TN_METAFILE TN_STR(".hoodie_partition_metadata")

typedef struct level {
    tn_store *store;
    tn_slices_folder *folders;
    bool by_name;
} level;

void tn_slices_walk_clear(tn_slices_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        tn_arena_clear(&walk->folders[i].arena);
    free(walk->folders);
    tn_arena_clear(&walk->arena);
    *walk = (tn_slices_walk){0};
}

bool tn_slices_walk_wants(const tn_slices_options *options, tn_str partition)
{
    if (options->partitions == NULL)
        return true;
    for (size_t i = 0; i < options->partition_count; i++)
        if (tn_str_equal(options->partitions[i], partition))
            return true;
    return false;
}

static int add_folder(tarn_cx *cx, tn_slices_walk *walk, tn_str root, tn_str path, unsigned depth)
{
    tn_slices_folder folder = {.path = path, .depth = depth};
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &walk->arena, &folder.path));
    if (path.len != 0)
        TN_TRY(tn_path_join(cx, &walk->arena, root, folder.path, &folder.directory));
    else
        folder.directory = root;
    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d directories deep: is there a link in a circle?",
                TN_STR_ARG(folder.directory), TN_DIR_DEPTH_MAX);
    TN_TRY(tn_grow(cx, &walk->folders, walk->count, &walk->cap, sizeof *walk->folders));
    walk->folders[walk->count++] = folder;
done:
    return rc;
}

/* ".hoodie_partition_metadata", or with the ending of a base file format; not what is left over of
 * one half-written. */
static bool is_metafile(tn_str name)
{
    tn_str ending;

    if (!tn_str_starts(name, TN_METAFILE))
        return false;
    ending = tn_str_from(name, TN_METAFILE.len);
    return ending.len == 0 || tn_str_is(ending, ".parquet") || tn_str_is(ending, ".orc");
}

static int list_folder(tarn_cx *cx, size_t i, void *arg)
{
    const level *l = arg;
    tn_slices_folder *folder = &l->folders[i];
    int rc;

    TN_TRY(tn_cx_check(cx));
    rc = tn_store_list(cx, l->store, folder->directory, &folder->arena, &folder->entries,
                       &folder->count);
    if (rc == TARN_E_NOTFOUND && l->by_name) {
        tn_cx_forget(cx);
        folder->missing = true;
        folder->count = 0;
        rc = TARN_OK;
    }
    TN_TRY(rc);
    folder->partition = l->by_name && !folder->missing;
    for (size_t k = 0; k < folder->count && !folder->partition; k++)
        folder->partition =
            folder->entries[k].stat.kind == TN_ENTRY_FILE && is_metafile(folder->entries[k].name);
done:
    return rc;
}

/* The directories below folder number `i`, which may move while they are added. */
static int add_below(tarn_cx *cx, tn_slices_walk *walk, tn_str root, size_t i)
{
    int rc = TARN_OK;

    for (size_t k = 0; k < walk->folders[i].count; k++) {
        const tn_slices_folder *folder = &walk->folders[i];
        const tn_entry *entry = &folder->entries[k];
        tn_str path = entry->name;

        if (entry->stat.kind != TN_ENTRY_DIR || tn_str_is(path, ".hoodie"))
            continue;
        if (folder->path.len != 0)
            TN_TRY(tn_path_join(cx, &walk->arena, folder->path, entry->name, &path));
        TN_TRY(add_folder(cx, walk, root, path, folder->depth + 1));
    }
done:
    return rc;
}

static int run_level(tarn_cx *cx, tn_store *store, tn_slices_walk *walk, size_t first, bool by_name)
{
    level l = {store, walk->folders + first, by_name};

    return tn_parallel(cx, walk->count - first, list_folder, &l);
}

int tn_slices_walk_run(tarn_cx *cx, tn_store *store, tn_str root, const tn_slices_options *options,
                       tn_slices_walk *walk)
{
    size_t first = 0;
    int rc = TARN_OK;

    assert(walk->count == 0);
    if (options->partitions != NULL) {
        for (size_t i = 0; i < options->partition_count; i++)
            TN_TRY(add_folder(cx, walk, root, options->partitions[i], 0));
        return run_level(cx, store, walk, 0, true);
    }
    TN_TRY(add_folder(cx, walk, root, TN_STR(""), 0));
    while (first < walk->count) {
        size_t end = walk->count;

        TN_TRY(run_level(cx, store, walk, first, false));
        for (; first < end; first++)
            if (!walk->folders[first].partition || walk->folders[first].path.len == 0)
                TN_TRY(add_below(cx, walk, root, first));
    }
done:
    return rc;
}
