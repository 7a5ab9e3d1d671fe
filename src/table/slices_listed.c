/* Partitions and their files as the metadata table lists them, in place of the directories.
 *
 * I1: names and sizes are all that is known: times and inodes are 0.
 * I2: a partition that is asked for and not listed is missing, as one without a directory.
 * I3: a metadata table that lags behind the data is not asked. */
#include <assert.h>

#include "table/metadata.h"
#include "table/slices_parts.h"

static int fill(tarn_cx *cx, tn_metadata *metadata, tn_slices_folder *folder)
{
    tn_arena decoded = {0};
    tn_metadata_file *files;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_metadata_files(cx, metadata, folder->path, &decoded, &files, &count));
    folder->entries = tn_arena_array(cx, &folder->arena, count + 1, sizeof *folder->entries);
    if (folder->entries == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        if (files[i].name.len == 0 || tn_str_find(files[i].name, '/') != files[i].name.len ||
            tn_str_find(files[i].name, '\0') != files[i].name.len)
            TN_FAIL(TARN_E_CORRUPT, "metadata table: partition \"%.*s\" lists a file \"%.*s\"",
                    TN_STR_ARG(folder->path), TN_STR_ARG(files[i].name));
        folder->entries[i].name = files[i].name;
        TN_TRY(tn_arena_keep(cx, &folder->arena, &folder->entries[i].name));
        folder->entries[i].stat =
            (tn_stat){.kind = TN_ENTRY_FILE, .size_bytes = files[i].size_bytes, .links = 1};
    }
    folder->count = count;
done:
    tn_arena_clear(&decoded);
    return rc;
}

static int add_folder(tarn_cx *cx, tn_slices_walk *walk, tn_str root, tn_str path, bool there)
{
    tn_slices_folder folder = {.path = path, .partition = there, .missing = !there};
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &walk->arena, &folder.path));
    folder.directory = root;
    if (path.len != 0)
        TN_TRY(tn_path_join(cx, &walk->arena, root, folder.path, &folder.directory));
    TN_TRY(tn_grow(cx, &walk->folders, walk->count, &walk->cap, sizeof *walk->folders));
    walk->folders[walk->count++] = folder;
done:
    return rc;
}

int tn_slices_listed_run(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                         const tn_timeline *timeline, const tn_slices_options *options,
                         tn_slices_walk *walk, bool *used)
{
    tn_metadata *metadata = NULL;
    tn_arena names = {0};
    const tn_str *wanted;
    tn_str *paths;
    size_t count, n;
    int rc = TARN_OK;

    assert(walk->count == 0);
    *used = false;
    TN_TRY(tn_metadata_open(cx, store, root, config, timeline, &metadata));
    if (metadata == NULL)
        goto done;
    TN_TRY(tn_metadata_current(cx, metadata));
    TN_TRY(tn_metadata_partitions(cx, metadata, &names, &paths, &count));
    wanted = options->partitions != NULL ? options->partitions : paths;
    n = options->partitions != NULL ? options->partition_count : count;
    for (size_t i = 0; i < n; i++) {
        TN_TRY(add_folder(cx, walk, root, wanted[i], tn_str_listed(paths, count, wanted[i])));
        if (walk->folders[walk->count - 1].partition)
            TN_TRY(fill(cx, metadata, &walk->folders[walk->count - 1]));
    }
    *used = true;
done:
    tn_metadata_close(metadata);
    tn_arena_clear(&names);
    return rc;
}
