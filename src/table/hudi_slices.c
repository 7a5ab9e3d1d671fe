/* File groups and their latest slices (AbstractTableFileSystemView, HoodieFileGroup).
 *
 * I1: a base file is visible when its instant is (tn_timeline_shows) and not later than `as_of`.
 * I2: a log belongs to the slice with the greatest instant not greater than the log's: in layout 1
 *     the instant of its name, which is a slice's; in layout 2 the completion time of the delta
 *     commit that wrote it, which must be completed.
 * I3: the slice of a pending compaction has no base file yet: its logs are read with the slice
 *     before.
 * I4: replaced groups are left out whole.
 * I5: a file that the newest commit of a group names is there, or the load fails: rows do not
 *     vanish silently. */
#include "table/hudi_slices.h"

#include <assert.h>
#include <stdlib.h>

#include "table/slices_parts.h"
#include "task/data_name.h"

typedef struct data_file {
    tn_data_name parts;
    tn_str name;
    const tn_stat *stat;
    tn_str key; /* of a log: what places it among slices (I2) */
} data_file;

typedef struct load {
    tn_str root;
    const tn_timeline *timeline;
    tn_str as_of;
    tn_slices_facts facts;
    tn_arena *arena;
    tn_slices slices;
    size_t slice_cap;
    data_file *files; /* of the partition at hand, those of a group together */
    size_t file_cap;
} load;

static bool up_to(tn_str instant, tn_str as_of)
{
    return as_of.len == 0 || tn_str_compare(instant, as_of) <= 0;
}

/* By file id, base files before logs; base files by instant and token, logs as Hudi orders them. */
static int by_group(const void *a, const void *b)
{
    const tn_data_name *x = &((const data_file *)a)->parts, *y = &((const data_file *)b)->parts;
    int order = tn_str_compare(x->file_id, y->file_id);

    if (order == 0)
        order = (int)x->log - (int)y->log;
    if (order == 0)
        order = tn_str_compare(x->instant, y->instant);
    if (order == 0)
        order = (x->version > y->version) - (x->version < y->version);
    return order != 0 ? order : tn_str_compare(x->token, y->token);
}

/* Where a log stands among the slices; false: its delta commit is not completed, or later than
 * asked for. An instant that is archived has no completion time on the active timeline: it was
 * completed before all slices that are made from then on, and its own time stands in. */
static bool place_log(const load *l, data_file *file)
{
    const tn_instant *instant;

    file->key = file->parts.instant;
    if (l->timeline->layout == 1)
        return up_to(file->key, l->as_of);
    if (!up_to(file->key, l->as_of) || !tn_timeline_shows(l->timeline, file->key))
        return false;
    instant = tn_timeline_find(l->timeline, file->parts.instant, TN_ACTION_DELTA);
    /* Test tables have instants like "001", whose completion times, taken from clocks, do not
     * compare with them; Hudi looks at the lengths, too. */
    if (instant != NULL && instant->state == TN_STATE_COMPLETED &&
        instant->completion.len == file->key.len)
        file->key = instant->completion;
    return true;
}

static int refuse_name(tarn_cx *cx, tn_str partition, tn_str name)
{
    return tn_fail(cx, TARN_E_UNSUPPORTED,
                   "%.*s%s%.*s: a file of another program that the table has taken in (its name "
                   "ends in _hudiext): tarn does not read such tables",
                   TN_STR_ARG(partition), partition.len != 0 ? "/" : "", TN_STR_ARG(name));
}

/* The data files of a partition into l->files, sorted by group. */
static int gather_files(tarn_cx *cx, load *l, const tn_slices_folder *folder, size_t *count)
{
    size_t n = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < folder->count; i++) {
        const tn_entry *entry = &folder->entries[i];
        data_file file = {.name = entry->name, .stat = &entry->stat};

        if (entry->stat.kind != TN_ENTRY_FILE)
            continue;
        if (tn_str_ends(entry->name, TN_STR("_hudiext")))
            TN_TRY(refuse_name(cx, folder->path, entry->name));
        if (!tn_data_name_parse(entry->name, &file.parts) || file.parts.cdc)
            continue;
        if (file.parts.log && !place_log(l, &file)) {
            l->slices.invisible++;
            continue;
        }
        TN_TRY(tn_grow(cx, &l->files, n, &l->file_cap, sizeof *l->files));
        l->files[n++] = file;
    }
    if (n != 0)
        qsort(l->files, n, sizeof *l->files, by_group);
    *count = n;
done:
    return rc;
}

/* The base file of the latest visible slice among `count` files of a group, sorted; NULL: there is
 * none. Of several of one instant (a task that was tried twice) the one that the commit names. */
static const data_file *latest_base(load *l, const data_file *files, size_t count,
                                    const tn_slices_group *group)
{
    const data_file *latest = NULL;

    for (size_t i = 0; i < count && !files[i].parts.log; i++) {
        const tn_data_name *parts = &files[i].parts;

        if (!up_to(parts->instant, l->as_of) || !tn_timeline_shows(l->timeline, parts->instant)) {
            l->slices.invisible++;
            continue;
        }
        if (latest != NULL && tn_str_equal(latest->parts.instant, parts->instant) &&
            group != NULL && tn_str_equal(latest->name, tn_path_name(group->base.path))) {
            l->slices.invisible++;
            continue;
        }
        l->slices.older += latest != NULL;
        latest = &files[i];
    }
    return latest;
}

/* The path in the store of a file of a partition. */
static int path_of(tarn_cx *cx, const load *l, tn_str partition, tn_str name, tn_str *out)
{
    tn_str below = l->root;
    int rc = TARN_OK;

    if (partition.len != 0)
        TN_TRY(tn_path_join(cx, l->arena, l->root, partition, &below));
    TN_TRY(tn_path_join(cx, l->arena, below, name, out));
done:
    return rc;
}

static int keep_base(tarn_cx *cx, load *l, const data_file *file, tn_base_file *out)
{
    tn_str partition = out->partition_path;
    tn_data_name parts;
    int rc = TARN_OK;

    out->name = file->name;
    TN_TRY(tn_arena_keep(cx, l->arena, &out->name));
    (void)tn_data_name_parse(out->name, &parts);
    if (!tn_str_is(parts.ending, "parquet"))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s%s%.*s: base files of the format %.*s are not read, Parquet alone is",
                TN_STR_ARG(partition), partition.len != 0 ? "/" : "", TN_STR_ARG(out->name),
                TN_STR_ARG(parts.ending));
    out->file_id = parts.file_id;
    out->instant = parts.instant;
    out->token = parts.token;
    TN_TRY(path_of(cx, l, partition, out->name, &out->path));
    out->size_bytes = file->stat->size_bytes;
    out->mtime_ns = file->stat->mtime_ns;
    out->inode = file->stat->inode;
done:
    return rc;
}

/* Logs of the latest slice: those placed at its instant or later. */
static int keep_logs(tarn_cx *cx, load *l, const data_file *files, size_t count, tn_str from,
                     tn_slice *out)
{
    tn_slice_log *log;
    tn_data_name parts;
    int rc = TARN_OK;

    out->logs = tn_arena_array(cx, l->arena, count, sizeof *out->logs);
    if (out->logs == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!files[i].parts.log)
            continue;
        if (tn_str_compare(files[i].key, from) < 0) {
            l->slices.older++;
            continue;
        }
        log = &out->logs[out->log_count];
        log->name = files[i].name;
        TN_TRY(tn_arena_keep(cx, l->arena, &log->name));
        TN_TRY(path_of(cx, l, out->base.partition_path, log->name, &log->path));
        (void)tn_data_name_parse(log->name, &parts);
        log->instant = parts.instant;
        log->size_bytes = files[i].stat->size_bytes;
        out->log_count++;
    }
done:
    return rc;
}

/* Without a base file: the greatest key of a slice that its logs make, the slice of a pending
 * compaction apart (I3). In layout 2 a group without base files has one slice, at its first log. */
static tn_str latest_log_slice(const load *l, const data_file *files, size_t count,
                               const tn_slices_group *group)
{
    tn_str latest = {NULL, 0};

    for (size_t i = 0; i < count; i++) {
        tn_str key = files[i].key;

        if (!files[i].parts.log || (group != NULL && group->compaction.len != 0 &&
                                    tn_str_compare(key, group->compaction) >= 0))
            continue;
        if (latest.len == 0 || (l->timeline->layout == 1) == (tn_str_compare(key, latest) > 0))
            latest = key;
    }
    return latest;
}

static int keep_group(tarn_cx *cx, load *l, const data_file *files, size_t count,
                      uint32_t partition)
{
    tn_str path = l->slices.partitions[partition];
    tn_slices_group *group = tn_slices_facts_find(&l->facts, path, files[0].parts.file_id);
    tn_slice slice = {.base = {.partition = partition, .partition_path = path, .rows = -1}};
    const data_file *base;
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, &l->facts.key));
    if (group != NULL && group->replaced.len != 0) {
        l->slices.older += count;
        goto done;
    }
    base = latest_base(l, files, count, group);
    if (base != NULL)
        TN_TRY(keep_base(cx, l, base, &slice.base));
    TN_TRY(keep_logs(cx, l, files, count,
                     base != NULL ? base->parts.instant : latest_log_slice(l, files, count, group),
                     &slice));
    if (base == NULL && slice.log_count == 0)
        goto done;
    if (base == NULL) {
        slice.base.file_id = files[0].parts.file_id;
        TN_TRY(tn_arena_keep(cx, l->arena, &slice.base.file_id));
    }
    slice.pending = group != NULL && group->pending;
    TN_TRY(tn_arena_grow(cx, l->arena, &l->slices.slices, l->slices.slice_count, &l->slice_cap,
                         sizeof *l->slices.slices));
    l->slices.slices[l->slices.slice_count++] = slice;
done:
    return rc;
}

static int keep_partition(tarn_cx *cx, load *l, const tn_slices_folder *folder, uint32_t partition)
{
    size_t count = 0;
    int rc = TARN_OK;

    TN_TRY(gather_files(cx, l, folder, &count));
    for (size_t first = 0; first < count;) {
        size_t end = first + 1;

        while (end < count &&
               tn_str_equal(l->files[end].parts.file_id, l->files[first].parts.file_id))
            end++;
        TN_TRY(keep_group(cx, l, l->files + first, end - first, partition));
        first = end;
    }
done:
    return rc;
}

static int by_path(const void *a, const void *b)
{
    return tn_str_compare(((const tn_slices_folder *)a)->path, ((const tn_slices_folder *)b)->path);
}

static int keep_partitions(tarn_cx *cx, load *l, tn_slices_walk *walk)
{
    tn_str last = {NULL, 0};
    int rc = TARN_OK;

    qsort(walk->folders, walk->count, sizeof *walk->folders, by_path);
    l->slices.partitions = tn_arena_array(cx, l->arena, walk->count, sizeof *l->slices.partitions);
    if (l->slices.partitions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < walk->count; i++) {
        const tn_slices_folder *folder = &walk->folders[i];
        size_t n = l->slices.partition_count;

        if (!folder->partition || (n != 0 && tn_str_equal(folder->path, last)))
            continue;
        last = folder->path;
        l->slices.partitions[n] = folder->path;
        TN_TRY(tn_arena_keep(cx, l->arena, &l->slices.partitions[n]));
        l->slices.partition_count++;
        TN_TRY(keep_partition(cx, l, folder, (uint32_t)n));
    }
done:
    return rc;
}

/* ---- what must be there (I5) ---- */

static int by_slice(const void *key, const void *item)
{
    const tn_slices_group *group = key;
    const tn_base_file *base = &((const tn_slice *)item)->base;
    int order = tn_str_compare(group->partition, base->partition_path);

    return order != 0 ? order : tn_str_compare(group->file_id, base->file_id);
}

static bool asked_for(const tn_slices_options *options, tn_str partition)
{
    if (options->partitions == NULL)
        return true;
    for (size_t i = 0; i < options->partition_count; i++)
        if (tn_str_equal(options->partitions[i], partition))
            return true;
    return false;
}

static int fail_missing(tarn_cx *cx, tn_store *store, const load *l, const tn_slices_named *named)
{
    tn_arena arena = {0};
    tn_str path;
    bool there;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &arena, l->root, named->path, &path));
    TN_TRY(tn_store_exists(cx, store, path, &there));
    if (there)
        TN_FAIL(TARN_E_CORRUPT,
                "instant %.*s: its file %.*s is there, but its partition has no "
                ".hoodie_partition_metadata, without which Hudi does not see it: put one there, "
                "as in the other partitions",
                TN_STR_ARG(named->time), TN_STR_ARG(named->path));
    TN_FAIL(TARN_E_CORRUPT,
            "instant %.*s: its file %.*s is gone: restore it from a copy, or roll the instant "
            "back%s",
            TN_STR_ARG(named->time), TN_STR_ARG(named->path),
            l->as_of.len != 0 ? "; where a cleaner took it away, read as of a later instant" : "");
done:
    tn_arena_clear(&arena);
    return rc;
}

static bool has_log(const tn_slice *slice, tn_str name)
{
    for (size_t i = 0; i < slice->log_count; i++)
        if (tn_str_equal(slice->logs[i].name, name))
            return true;
    return false;
}

/* The first log of a group that its latest slice must have and has not; NULL: none. */
static const tn_slices_named *missing_log(const load *l, const tn_slices_group *group,
                                          const tn_slice *slice)
{
    tn_str base = slice != NULL ? slice->base.instant : (tn_str){NULL, 0};

    for (const tn_slices_named *log = group->logs; log != NULL; log = log->next) {
        tn_str name = tn_path_name(log->path), key = log->completion;
        tn_data_name parts;

        if (!tn_data_name_parse(name, &parts))
            continue;
        if (l->timeline->layout == 1 || key.len != parts.instant.len)
            key = parts.instant;
        if (base.len != 0 && tn_str_compare(key, base) < 0)
            continue;
        if (slice == NULL || !has_log(slice, name))
            return log;
    }
    return NULL;
}

static int check_group(tarn_cx *cx, tn_store *store, const load *l, const tn_slices_group *group)
{
    const tn_slice *slice = NULL;
    const tn_slices_named *log;
    tn_data_name parts;

    if (l->slices.slice_count != 0)
        slice = bsearch(group, l->slices.slices, l->slices.slice_count, sizeof *slice, by_slice);
    if (group->base.path.len != 0) {
        tn_str name = tn_path_name(group->base.path);

        if (tn_data_name_parse(name, &parts) &&
            (slice == NULL || tn_str_compare(slice->base.instant, parts.instant) < 0 ||
             (tn_str_equal(slice->base.instant, parts.instant) &&
              !tn_str_equal(slice->base.name, name))))
            return fail_missing(cx, store, l, &group->base);
    }
    /* Without a base file on the active timeline it is not known which logs were compacted. */
    if (group->base.path.len == 0 && (slice == NULL || slice->base.name.len == 0))
        return TARN_OK;
    log = missing_log(l, group, slice);
    return log != NULL ? fail_missing(cx, store, l, log) : TARN_OK;
}

static int check_named(tarn_cx *cx, tn_store *store, const load *l,
                       const tn_slices_options *options)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < l->facts.count; i++) {
        const tn_slices_group *group = &l->facts.groups[i];

        if (group->replaced.len == 0 && asked_for(options, group->partition))
            TN_TRY(check_group(cx, store, l, group));
    }
done:
    return rc;
}

static int check_readable(tarn_cx *cx, const tn_hudi_config *config)
{
    if (!tn_str_is(config->base_format, "PARQUET"))
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "table %.*s: base files of the format %.*s are not read, Parquet alone is",
                       TN_STR_ARG(config->name), TN_STR_ARG(config->base_format));
    if (tn_properties_get(&config->all, "hoodie.bootstrap.base.path").len != 0)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "table %.*s: it is bootstrapped (hoodie.bootstrap.base.path): its rows are "
                       "in files of another place, which tarn does not read",
                       TN_STR_ARG(config->name));
    return TARN_OK;
}

int tn_slices_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                   const tn_timeline *timeline, const tn_slices_options *options, tn_arena *arena,
                   tn_slices *out)
{
    static const tn_slices_options all = {0};
    load l = {.root = root, .timeline = timeline, .arena = arena};
    tn_slices_walk walk = {0};
    int rc = TARN_OK;

    assert(arena != NULL && out != NULL);
    if (options == NULL)
        options = &all;
    l.as_of = options->as_of;
    TN_TRY(check_readable(cx, config));
    TN_TRY(tn_slices_facts_load(cx, store, timeline, l.as_of, &l.facts));
    TN_TRY(tn_slices_walk_run(cx, store, root, options, &walk));
    TN_TRY(keep_partitions(cx, &l, &walk));
    TN_TRY(check_named(cx, store, &l, options));
    if (options->footers)
        TN_TRY(tn_slices_footers(cx, store, &l.slices, arena));
    *out = l.slices;
done:
    free(l.files);
    tn_slices_walk_clear(&walk);
    tn_slices_facts_clear(&l.facts);
    return rc;
}
