/* Loads a plain directory: walk, place, footers, in that order.
 * I1: partitions are sorted by path, files and others by name; nothing depends on threads.
 * I2: every entry of a listed directory is a partition below, a file, or one of `others`, once. */
#include "table/dir.h"

#include <assert.h>
#include <stdlib.h>

#include "table/dir_parts.h"

void tn_dir_clear(tn_dir *dir)
{
    for (size_t i = 0; i < dir->part_count; i++)
        tn_arena_clear(&dir->parts[i]);
    free(dir->parts);
    tn_arena_clear(&dir->arena);
    *dir = (tn_dir){0};
}

static int by_path(const void *a, const void *b)
{
    return tn_str_compare(((const tn_dir_partition *)a)->path, ((const tn_dir_partition *)b)->path);
}

static int by_name(const void *a, const void *b)
{
    return tn_str_compare(((const tn_dir_other *)a)->name, ((const tn_dir_other *)b)->name);
}

static bool is_data(const tn_entry *entry)
{
    return entry->stat.kind == TN_ENTRY_FILE && !tn_dir_hidden_name(entry->name);
}

static bool is_own_work(const tn_dir_node *node, tn_str name)
{
    return node->path.len == 0 && tn_str_is(name, ".tarn");
}

static int fill(tarn_cx *cx, tn_arena *arena, const tn_dir_walk *walk, const tn_dir_node *node,
                tn_dir_partition *out)
{
    out->path = node->path;
    out->directory = node->directory;
    out->stat = node->stat;
    out->symlinked = node->symlinked;
    out->mount_point = node->mount_point;
    out->problem = node->problem;
    out->busy = node->busy;
    out->busy_age_ms = node->busy_age_ms;
    out->files = tn_arena_array(cx, arena, node->entry_count, sizeof *out->files);
    out->others = tn_arena_array(cx, arena, node->entry_count, sizeof *out->others);
    if (out->files == NULL || out->others == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0, child = node->first_child; i < node->entry_count; i++) {
        const tn_entry *entry = &node->entries[i];
        bool below = child < node->first_child + node->child_count &&
                     tn_str_equal(tn_path_name(walk->nodes[child]->directory), entry->name);

        child += below;
        if (is_own_work(node, entry->name))
            continue;
        if (entry->stat.kind == TN_ENTRY_DIR)
            out->has_subdirs = true;
        if (is_data(entry))
            out->files[out->file_count++] = (tn_dir_file){.name = entry->name, .stat = entry->stat};
        else if (!below)
            out->others[out->other_count++] = (tn_dir_other){entry->name, entry->stat};
    }
    return TARN_OK;
}

static int make_partitions(tarn_cx *cx, const tn_dir_walk *walk, tn_dir *dir)
{
    int rc = TARN_OK;

    dir->partitions = tn_arena_array(cx, &dir->arena, walk->count, sizeof *dir->partitions);
    if (dir->partitions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < walk->count; i++)
        if (!walk->nodes[i]->excluded)
            TN_TRY(fill(cx, &dir->arena, walk, walk->nodes[i],
                        &dir->partitions[dir->partition_count++]));
    qsort(dir->partitions, dir->partition_count, sizeof *dir->partitions, by_path);
done:
    return rc;
}

/* Files that turned out to be of another format join the others. */
static void move_others(tn_dir_partition *partition)
{
    size_t kept = 0;

    for (size_t i = 0; i < partition->file_count; i++) {
        tn_dir_file *file = &partition->files[i];

        if (file->state == TN_FILE_NOT_PARQUET)
            partition->others[partition->other_count++] = (tn_dir_other){file->name, file->stat};
        else
            partition->files[kept++] = *file;
    }
    if (kept != partition->file_count)
        qsort(partition->others, partition->other_count, sizeof *partition->others, by_name);
    partition->file_count = kept;
}

static void mark_crc_files(tn_dir_partition *partition)
{
    for (size_t i = 0; i < partition->file_count; i++) {
        char name[300];
        int n = snprintf(name, sizeof name, ".%.*s.crc", TN_STR_ARG(partition->files[i].name));
        tn_dir_other key = {.name = {name, (size_t)n}};

        if (n > 0 && (size_t)n < sizeof name && partition->other_count != 0)
            partition->files[i].has_crc_file =
                bsearch(&key, partition->others, partition->other_count, sizeof *partition->others,
                        by_name) != NULL;
    }
}

static void tidy_partitions(tn_dir *dir)
{
    size_t kept = 0;

    for (size_t i = 0; i < dir->partition_count; i++) {
        tn_dir_partition *partition = &dir->partitions[i];

        move_others(partition);
        mark_crc_files(partition);
        if (partition->file_count + partition->other_count != 0 || partition->problem.len != 0)
            dir->partitions[kept++] = *partition;
    }
    dir->partition_count = kept;
}

/* What the walk's arenas hold is borrowed by the partitions: the directory takes them over. */
static int take_walk(tarn_cx *cx, tn_dir_walk *walk, tn_dir *dir)
{
    tn_arena *parts = tn_realloc(cx, walk->parts, walk->part_count + 1, sizeof *parts);

    if (parts == NULL)
        return TARN_E_NOMEM;
    parts[walk->part_count] = walk->arena;
    dir->parts = parts;
    dir->part_count = walk->part_count + 1;
    walk->parts = NULL;
    walk->part_count = 0;
    walk->arena = (tn_arena){0};
    return TARN_OK;
}

/* Every partition asked for must be there: one that was misspelt would pass for one that is fine.
 */
static int check_found(tarn_cx *cx, const tn_dir_options *options, tn_dir_walk *walk, tn_str root)
{
    int rc = TARN_OK;

    for (size_t k = 0; k < options->partition_count; k++) {
        tn_dir_options one = {.partitions = &options->partitions[k], .partition_count = 1};
        int want = 0;

        for (size_t i = 0; i < walk->count && want != 1; i++)
            if (!walk->nodes[i]->excluded)
                TN_TRY(tn_dir_wanted(cx, &walk->arena, &one, walk->nodes[i]->path, &want));
        if (want != 1)
            TN_FAIL(TARN_E_NOTFOUND,
                    "%.*s: no partition matches %.*s; give it as it stands below the root, such as "
                    "dt=2024-05-12",
                    TN_STR_ARG(root), TN_STR_ARG(options->partitions[k]));
    }
done:
    return rc;
}

int tn_dir_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_dir_options *options,
                tn_dir *out)
{
    static const tn_dir_options plain = {0};
    tn_dir dir = {0};
    tn_dir_walk walk = {0};
    int rc = TARN_OK;

    assert(root.len > 0);
    assert(out != NULL);
    if (options == NULL)
        options = &plain;
    dir.seen_ms = tn_cx_now_ms(cx);
    dir.root = root;
    TN_TRY(tn_arena_keep(cx, &dir.arena, &dir.root));
    if (options->for_write)
        TN_TRY(tn_dir_check_parents(cx, store, root, options->looks));
    TN_TRY(tn_dir_walk_tree(cx, store, dir.root, options, dir.seen_ms, &walk));
    TN_TRY(check_found(cx, options, &walk, dir.root));
    dir.directories = walk.count;
    TN_TRY(make_partitions(cx, &walk, &dir));
    TN_TRY(take_walk(cx, &walk, &dir));
    if (!options->no_footers)
        TN_TRY(tn_dir_read_footers(cx, store, options, &dir));
    tidy_partitions(&dir);
    TN_TRY(tn_dir_find_place(cx, store, options, &dir));
    if (options->count_hidden)
        TN_TRY(tn_dir_count_hidden(cx, store, &dir));
    *out = dir;
    dir = (tn_dir){0};
done:
    tn_dir_walk_clear(&walk);
    tn_dir_clear(&dir);
    return rc;
}

int tn_dir_load_footers(tarn_cx *cx, tn_store *store, tn_dir *dir)
{
    static const tn_dir_options plain = {0};
    int rc = tn_dir_read_footers(cx, store, &plain, dir);

    if (rc == TARN_OK)
        tidy_partitions(dir);
    return rc;
}
