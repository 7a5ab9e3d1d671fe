/* Files that some commits wrote, in place of a listing: what an incremental query reads
 * (HoodieInputFormatUtils.listAffectedFilesForCommits).
 *
 * I1: files come from the commits' own words, change logs (.cdc) apart, and each is looked at.
 * I2: when one is gone, as after a cleaner, none of them are used: the caller reads a snapshot
 *     instead, and filters its rows. In layout 1 so only when one is gone that a slice is made of:
 *     Hudi looks for all of them in tables of version 8 and later alone.
 * I3: a log that is shorter than its commit says fails the load, as in a snapshot.
 * I4: base files and logs of a range make slices of their own: logs are not merged with a base file
 *     that no commit of the range wrote. */
#include <assert.h>
#include <stdlib.h>

#include "base/pool.h"
#include "table/slices_parts.h"

typedef struct named_file {
    tn_str partition, path; /* below the base path */
    tn_str whole;           /* in the store */
    tn_str instant;         /* that names it, of several the one that names most bytes */
    uint64_t named_bytes;   /* of a log, by the commit */
    tn_stat stat;
    bool gone;
} named_file;

typedef struct naming {
    tn_store *store;
    named_file *files;
    size_t count, cap;
} naming;

static int name_files(tarn_cx *cx, naming *n, tn_str root, const tn_slices_options *options,
                      tn_str instant, const tn_commit_metadata *commit, tn_arena *arena)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < commit->stat_count; i++) {
        const tn_write_stat *stat = &commit->stats[i];
        named_file file = {.partition = stat->partition, .path = stat->path, .instant = instant};
        tn_data_name parts;

        if (!tn_data_name_parse(tn_path_name(stat->path), &parts) || parts.cdc ||
            !tn_slices_walk_wants(options, stat->partition))
            continue;
        TN_TRY(tn_arena_keep(cx, arena, &file.partition));
        TN_TRY(tn_arena_keep(cx, arena, &file.path));
        file.named_bytes = parts.log ? stat->bytes : 0;
        TN_TRY(tn_path_join(cx, arena, root, file.path, &file.whole));
        TN_TRY(tn_grow(cx, &n->files, n->count, &n->cap, sizeof *n->files));
        n->files[n->count++] = file;
    }
done:
    return rc;
}

static int look_at(tarn_cx *cx, size_t i, void *arg)
{
    const naming *n = arg;
    named_file *file = &n->files[i];
    int rc;

    TN_TRY(tn_cx_check(cx));
    rc = tn_store_stat(cx, n->store, file->whole, &file->stat);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        file->gone = true;
        rc = TARN_OK;
    } else {
        TN_TRY(rc);
        rc = tn_slices_check_size(cx, file->instant, file->path, file->stat.size_bytes,
                                  file->named_bytes);
    }
done:
    return rc;
}

static int by_path(const void *a, const void *b)
{
    const named_file *x = a, *y = b;
    int order = tn_str_compare(x->partition, y->partition);

    if (order == 0)
        order = tn_str_compare(x->path, y->path);
    if (order == 0 && x->named_bytes != y->named_bytes)
        order = x->named_bytes > y->named_bytes ? -1 : 1;
    return order;
}

/* Sorted, each once: a log of version 6 may be appended to by many commits. */
static void make_distinct(naming *n)
{
    size_t kept = 0;

    if (n->count != 0)
        qsort(n->files, n->count, sizeof *n->files, by_path);
    for (size_t i = 0; i < n->count; i++)
        if (kept == 0 || !tn_str_equal(n->files[kept - 1].path, n->files[i].path))
            n->files[kept++] = n->files[i];
    n->count = kept;
}

static int note_gone(tarn_cx *cx, const naming *n, tn_slices_walk *walk)
{
    walk->gone = tn_arena_array(cx, &walk->arena, n->count, sizeof *walk->gone);
    if (walk->gone == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n->count; i++)
        if (n->files[i].gone)
            walk->gone[walk->gone_count++] = n->files[i].whole;
    tn_str_sort(walk->gone, walk->gone_count);
    return TARN_OK;
}

bool tn_slices_range_misses(const tn_slices_walk *walk, const tn_slices *slices)
{
    for (size_t i = 0; walk->gone_count != 0 && i < slices->slice_count; i++) {
        const tn_slice *slice = &slices->slices[i];

        if (slice->base.name.len != 0 &&
            tn_str_listed(walk->gone, walk->gone_count, slice->base.path))
            return true;
        for (size_t k = 0; k < slice->log_count; k++)
            if (tn_str_listed(walk->gone, walk->gone_count, slice->logs[k].path))
                return true;
    }
    return false;
}

/* Files of a partition, which stand together, as if its directory had been listed. */
static int add_folders(tarn_cx *cx, const naming *n, tn_slices_walk *walk)
{
    tn_slices_folder *folder;
    int rc = TARN_OK;

    for (size_t first = 0, end; first < n->count; first = end) {
        tn_str partition = n->files[first].partition;

        for (end = first; end < n->count; end++)
            if (!tn_str_equal(n->files[end].partition, partition))
                break;
        TN_TRY(tn_grow(cx, &walk->folders, walk->count, &walk->cap, sizeof *walk->folders));
        folder = &walk->folders[walk->count++];
        *folder = (tn_slices_folder){.path = partition, .partition = true};
        folder->entries = tn_arena_array(cx, &folder->arena, end - first, sizeof *folder->entries);
        if (folder->entries == NULL)
            TN_TRY(TARN_E_NOMEM);
        for (size_t i = first; i < end; i++)
            folder->entries[folder->count++] =
                (tn_entry){.name = tn_path_name(n->files[i].path), .stat = n->files[i].stat};
    }
done:
    return rc;
}

static int read_commits(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                        const tn_slices_options *options, tn_slices_commits *out)
{
    const tn_instant **instants = tn_calloc(cx, options->written_by_count + 1, sizeof *instants);
    size_t count = 0;

    if (instants == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < options->written_by_count; i++) {
        const tn_instant *instant = tn_timeline_find_commit(timeline, options->written_by[i]);

        if (instant != NULL)
            instants[count++] = instant;
    }
    return tn_slices_commits_read(cx, store, timeline, instants, count, out);
}

int tn_slices_range_files(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                          const tn_slices_options *options, tn_str root, tn_slices_walk *walk,
                          bool *gone)
{
    tn_slices_commits commits = {0};
    naming n = {.store = store};
    bool missing = false;
    int rc = TARN_OK;

    assert(options->written_by != NULL && walk->count == 0);
    TN_TRY(read_commits(cx, store, timeline, options, &commits));
    for (size_t i = 0; i < commits.count; i++)
        TN_TRY(name_files(cx, &n, root, options, commits.instants[i]->time, &commits.commits[i],
                          &walk->arena));
    make_distinct(&n);
    TN_TRY(tn_parallel(cx, n.count, look_at, &n));
    for (size_t i = 0; i < n.count; i++)
        missing |= n.files[i].gone;
    if (missing && timeline->layout == 1)
        TN_TRY(note_gone(cx, &n, walk));
    missing &= timeline->layout != 1;
    if (!missing)
        TN_TRY(add_folders(cx, &n, walk));
    *gone = missing;
done:
    tn_slices_commits_clear(&commits);
    free(n.files);
    return rc;
}
