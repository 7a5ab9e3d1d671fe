/* Compares what the metadata table lists with what the file system has.
 *
 * I1: files of instants that readers do not see are left out: they are not listed before their
 *     commit, and taken away by a rollback.
 * I2: a log of version 6 may be longer than listed: a write that failed has appended to it. */
#include <assert.h>
#include <stdlib.h>

#include "table/metadata_parts.h"

typedef struct differences {
    tn_arena *arena;
    tn_metadata_difference *items;
    size_t count, cap;
} differences;

static int add(tarn_cx *cx, differences *d, tn_metadata_difference item)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, d->arena, &item.partition));
    TN_TRY(tn_arena_keep(cx, d->arena, &item.name));
    TN_TRY(tn_arena_grow(cx, d->arena, &d->items, d->count, &d->cap, sizeof item));
    d->items[d->count++] = item;
done:
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return tn_str_compare(((const tn_metadata_file *)a)->name, ((const tn_metadata_file *)b)->name);
}

static int by_path(const void *a, const void *b)
{
    return tn_str_compare(((const tn_slices_folder *)a)->path, ((const tn_slices_folder *)b)->path);
}

static bool is_data(const tn_metadata *md, const tn_entry *entry, tn_data_name *parts)
{
    return entry->stat.kind == TN_ENTRY_FILE && tn_data_name_parse(entry->name, parts) &&
           tn_timeline_shows(md->data_timeline, parts->instant);
}

/* `listed` is sorted, as is the folder. */
static int check_folder(tarn_cx *cx, tn_metadata *md, const tn_slices_folder *folder,
                        const tn_metadata_file *listed, size_t count, differences *d)
{
    size_t at = 0;
    tn_data_name parts;
    int rc = TARN_OK;

    for (size_t i = 0; i <= folder->count; i++) {
        const tn_entry *entry = i < folder->count ? &folder->entries[i] : NULL;
        tn_metadata_difference item = {.partition = folder->path};

        for (; at < count && (entry == NULL || tn_str_compare(listed[at].name, entry->name) < 0);
             at++) {
            item.fault = TN_METADATA_MISSING;
            item.name = listed[at].name;
            item.listed_bytes = listed[at].size_bytes;
            TN_TRY(add(cx, d, item));
        }
        if (entry == NULL)
            break;
        item = (tn_metadata_difference){
            .partition = folder->path, .name = entry->name, .stored_bytes = entry->stat.size_bytes};
        if (at < count && tn_str_equal(listed[at].name, entry->name)) {
            item.fault = TN_METADATA_SIZE;
            item.listed_bytes = listed[at++].size_bytes;
            if (item.stored_bytes != item.listed_bytes &&
                !(md->data_timeline->layout == 1 && entry->name.ptr[0] == '.' &&
                  item.stored_bytes > item.listed_bytes))
                TN_TRY(add(cx, d, item));
        } else if (is_data(md, entry, &parts) && !(md->data_timeline->layout == 1 && parts.log)) {
            /* Names of logs of layout 1 do not say which instants wrote them. */
            item.fault = TN_METADATA_UNLISTED;
            TN_TRY(add(cx, d, item));
        }
    }
done:
    return rc;
}

int tn_metadata_check(tarn_cx *cx, tn_metadata *md, tn_arena *arena, tn_metadata_difference **out,
                      size_t *count)
{
    static const tn_slices_options all = {0};
    differences d = {.arena = arena};
    tn_slices_walk walk = {0};
    tn_arena names = {0};
    tn_metadata_file *files = NULL;
    size_t n, paths_count, at = 0;
    tn_str *paths;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_partitions(cx, md, &names, &paths, &paths_count));
    TN_TRY(tn_slices_walk_run(cx, md->store, md->data_root, &all, &walk));
    qsort(walk.folders, walk.count, sizeof *walk.folders, by_path);
    for (size_t i = 0; i <= walk.count; i++) {
        const tn_slices_folder *folder = i < walk.count ? &walk.folders[i] : NULL;
        bool listed;

        /* Partitions that are listed and have no directory. */
        for (; at < paths_count && (folder == NULL || tn_str_compare(paths[at], folder->path) < 0);
             at++) {
            tn_slices_folder none = {.path = paths[at]};

            TN_TRY(tn_metadata_files(cx, md, paths[at], &names, &files, &n));
            qsort(files, n, sizeof *files, by_name);
            TN_TRY(check_folder(cx, md, &none, files, n, &d));
        }
        if (folder == NULL)
            break;
        listed = at < paths_count && tn_str_equal(paths[at], folder->path);
        at += listed;
        if (!listed && !folder->partition)
            continue;
        n = 0;
        if (listed)
            TN_TRY(tn_metadata_files(cx, md, folder->path, &names, &files, &n));
        if (n != 0)
            qsort(files, n, sizeof *files, by_name);
        TN_TRY(check_folder(cx, md, folder, files, n, &d));
    }
    *out = d.items;
    *count = d.count;
done:
    tn_slices_walk_clear(&walk);
    tn_arena_clear(&names);
    return rc;
}
