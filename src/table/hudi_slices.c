/* File groups and their latest slices (AbstractTableFileSystemView).
 *
 * I1: a base file is visible when its instant is (tn_timeline_shows) and not later than `as_of`.
 * I2: which logs belong to a slice is slices_group.c's to say; in layout 2 a log counts when the
 *     delta commit that wrote it is completed.
 * I3: replaced groups are left out whole.
 * I4: rows do not vanish silently: what the newest commits name is there (slices_check.c), and what
 *     a service takes away while the table is looked at ends in a conflict. */
#include "table/hudi_slices.h"

#include <assert.h>
#include <stdlib.h>

#include "table/archive.h"
#include "table/slices_parts.h"

typedef struct load {
    tn_store *store;
    tn_str root;
    const tn_hudi_config *config;
    const tn_timeline *timeline;
    const tn_slices_options *options;
    tn_slices_rule rule;
    tn_slices_facts facts;
    tn_slices_tries tries;
    tn_timeline archive; /* once it was asked for */
    bool archive_known;
    tn_arena *arena;
    tn_slices slices;
    size_t slice_cap;
    tn_slices_file *files; /* of the partition at hand, those of a group together */
    size_t file_cap;
} load;

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
        tn_slices_file file = {.name = entry->name,
                               .size_bytes = entry->stat.size_bytes,
                               .inode = entry->stat.inode,
                               .mtime_ns = entry->stat.mtime_ns};

        if (entry->stat.kind != TN_ENTRY_FILE)
            continue;
        if (tn_str_ends(entry->name, TN_STR("_hudiext")))
            TN_TRY(refuse_name(cx, folder->path, entry->name));
        if (!tn_data_name_parse(entry->name, &file.parts) || file.parts.cdc)
            continue;
        if (file.parts.log && l->timeline->layout == 2 &&
            !tn_timeline_shows(l->timeline, file.parts.instant)) {
            l->slices.invisible++;
            l->slices.invisible_bytes += file.size_bytes;
            continue;
        }
        TN_TRY(tn_grow(cx, &l->files, n, &l->file_cap, sizeof *l->files));
        l->files[n++] = file;
    }
    if (n != 0)
        qsort(l->files, n, sizeof *l->files, tn_slices_file_order);
    *count = n;
done:
    return rc;
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

static int keep_base(tarn_cx *cx, load *l, const tn_slices_file *file, tn_base_file *out)
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
    out->size_bytes = file->size_bytes;
    out->mtime_ns = file->mtime_ns;
    out->inode = file->inode;
done:
    return rc;
}

static int keep_logs(tarn_cx *cx, load *l, const tn_slices_file *files, size_t count,
                     const tn_slices_made *made, tn_slice *out)
{
    tn_slice_log *log;
    tn_data_name parts;
    int rc = TARN_OK;

    out->logs = tn_arena_array(cx, l->arena, count, sizeof *out->logs);
    if (out->logs == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!files[i].parts.log || !tn_slices_made_has(&l->rule, made, &files[i]))
            continue;
        log = &out->logs[out->log_count];
        log->name = files[i].name;
        TN_TRY(tn_arena_keep(cx, l->arena, &log->name));
        TN_TRY(path_of(cx, l, out->base.partition_path, log->name, &log->path));
        (void)tn_data_name_parse(log->name, &parts);
        log->instant = parts.instant;
        log->size_bytes = files[i].size_bytes;
        out->log_count++;
    }
done:
    return rc;
}

static uint64_t add_bytes(const tn_slices_file *files, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += files[i].size_bytes;
    return bytes;
}

/* Counts what the slice does not take: visible and older, or not visible. */
static void count_rest(load *l, const tn_slices_file *files, size_t count,
                       const tn_slices_made *made)
{
    for (size_t i = 0; i < count; i++) {
        const tn_slices_file *file = &files[i];
        tn_str slice = file->parts.log ? file->slice : file->parts.instant;

        if (file == made->base || (file->parts.log && tn_slices_made_has(&l->rule, made, file)))
            continue;
        if (made->any && tn_str_compare(slice, made->from) < 0 &&
            (file->parts.log || tn_timeline_shows(l->timeline, slice))) {
            l->slices.older++;
            l->slices.older_bytes += file->size_bytes;
        } else {
            l->slices.invisible++;
            l->slices.invisible_bytes += file->size_bytes;
        }
    }
}

static int note_moved(tarn_cx *cx, load *l, const tn_slices_made *made)
{
    int rc = TARN_OK;

    if (made->moved == 0)
        return TARN_OK;
    if (l->slices.moved == 0) {
        l->slices.moved_log = made->moved_log->name;
        l->slices.moved_to = made->moved_log->slice;
        TN_TRY(tn_arena_keep(cx, l->arena, &l->slices.moved_log));
        TN_TRY(tn_arena_keep(cx, l->arena, &l->slices.moved_to));
    }
    l->slices.moved += made->moved;
done:
    return rc;
}

static int add_slice(tarn_cx *cx, load *l, const tn_slice *slice)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, l->arena, &l->slices.slices, l->slices.slice_count, &l->slice_cap,
                         sizeof *l->slices.slices));
    l->slices.slices[l->slices.slice_count++] = *slice;
done:
    return rc;
}

static int keep_group(tarn_cx *cx, load *l, tn_slices_file *files, size_t count, uint32_t partition)
{
    tn_str path = l->slices.partitions[partition];
    const tn_slices_group *group = tn_slices_facts_find(&l->facts, path, files[0].parts.file_id);
    tn_slice slice = {.base = {.partition = partition, .partition_path = path, .rows = -1}};
    tn_slices_made made;
    size_t kept = count;
    uint64_t all_bytes = add_bytes(files, count);
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, &l->facts.key));
    if (group != NULL && group->replaced.len != 0) {
        l->slices.older += count;
        l->slices.older_bytes += add_bytes(files, count);
        goto done;
    }
    TN_TRY(tn_slices_tries_drop(cx, l->store, l->timeline, &l->tries, files, &kept));
    l->slices.invisible += count - kept;
    l->slices.invisible_bytes += all_bytes - add_bytes(files, kept);
    TN_TRY(tn_slices_group_make(cx, &l->rule, files, kept, group, &made));
    count_rest(l, files, kept, &made);
    TN_TRY(note_moved(cx, l, &made));
    if (made.base != NULL)
        TN_TRY(keep_base(cx, l, made.base, &slice.base));
    TN_TRY(keep_logs(cx, l, files, kept, &made, &slice));
    if (made.base == NULL && slice.log_count == 0)
        goto done;
    if (made.base == NULL) {
        slice.base.file_id = files[0].parts.file_id;
        TN_TRY(tn_arena_keep(cx, l->arena, &slice.base.file_id));
    }
    slice.pending = group != NULL && group->pending;
    TN_TRY(add_slice(cx, l, &slice));
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

    if (walk->count != 0)
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

/* Completion times of archived instants, for slices_group.c: the archive is read once, and only
 * when one is asked for. */
static int ask_archive(tarn_cx *cx, void *arg, tn_str instant, tn_str *completion)
{
    load *l = arg;
    int rc = TARN_OK;

    if (!l->archive_known)
        TN_TRY(tn_archive_load(cx, l->store, l->root, l->config, l->arena, &l->archive));
    l->archive_known = true;
    *completion = tn_timeline_completion(&l->archive, instant);
done:
    return rc;
}

static bool can_do_without(int rc)
{
    return rc == TARN_E_CORRUPT || rc == TARN_E_NOTFOUND || rc == TARN_E_UNSUPPORTED ||
           rc == TARN_E_INVALID || rc == TARN_E_LIMIT;
}

static int keep_problem(tarn_cx *cx, load *l)
{
    tn_str text = tn_str_of(tarn_cx_error(cx));
    int rc = tn_arena_keep(cx, l->arena, &text);

    if (rc != TARN_OK)
        return rc;
    l->slices.listing_problem = text;
    tn_cx_forget(cx);
    return TARN_OK;
}

/* By the metadata table; where there is none, or it cannot be read, by the directories. */
static int list_files(tarn_cx *cx, load *l, tn_slices_walk *walk)
{
    int rc = TARN_OK;

    /* Metadata tables of versions below 6 are of another form, and are made anew by the upgrade. */
    if (l->options->listing == TN_SLICES_METADATA && l->config->metadata_table &&
        l->config->version >= 6 && l->timeline->count != 0) {
        rc = tn_slices_listed_run(cx, l->store, l->root, l->config, l->timeline, l->options, walk,
                                  &l->slices.listed);
        if (rc != TARN_OK && can_do_without(rc)) {
            tn_slices_walk_clear(walk);
            rc = keep_problem(cx, l);
        }
        TN_TRY(rc);
    }
    if (!l->slices.listed)
        TN_TRY(tn_slices_walk_run(cx, l->store, l->root, l->options, walk));
done:
    return rc;
}

/* Every writer begins an instant before its first file, and archives keep the newest: files without
 * any instant are those of a table whose timeline is gone. It is no empty one (I4). */
static int check_timeline(tarn_cx *cx, const load *l)
{
    if (l->timeline->count != 0 || l->slices.invisible == 0)
        return TARN_OK;
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%.*s: there is no instant, but there are %llu data files in %.*s: the timeline "
                   "is gone: restore it from a copy",
                   TN_STR_ARG(l->timeline->directory), (unsigned long long)l->slices.invisible,
                   TN_STR_ARG(l->root));
}

/* Lists files, all or those of a range of commits, and puts slices together. */
static int load_slices(tarn_cx *cx, load *l)
{
    tn_slices_walk walk = {0};
    bool gone = false;
    int rc = TARN_OK;

    l->rule = (tn_slices_rule){.timeline = l->timeline,
                               .as_of = l->options->as_of,
                               .v6_slices = l->options->v6_slices,
                               .archived = ask_archive,
                               .arg = l};
    TN_TRY(tn_slices_facts_load(cx, l->store, l->timeline, l->options, &l->facts));
    if (l->options->written_by != NULL)
        TN_TRY(tn_slices_range_files(cx, l->store, l->timeline, l->options, l->root, &walk, &gone));
    else
        TN_TRY(list_files(cx, l, &walk));
    l->slices.whole = gone;
    if (gone)
        goto done;
    TN_TRY(keep_partitions(cx, l, &walk));
    TN_TRY(check_timeline(cx, l));
    l->slices.whole = tn_slices_range_misses(&walk, &l->slices);
    if (l->options->written_by == NULL)
        TN_TRY(tn_slices_check(cx, l->store, l->root, l->config, l->timeline, l->options, &l->facts,
                               &walk, &l->slices));
done:
    tn_slices_walk_clear(&walk);
    return rc;
}

static void load_clear(load *l)
{
    free(l->files);
    tn_slices_tries_clear(&l->tries);
    tn_slices_facts_clear(&l->facts);
}

/* Forgets what was loaded, but for why the metadata table was not used. */
static void load_anew(load *l)
{
    tn_str problem = l->slices.listing_problem;

    load_clear(l);
    *l = (load){.store = l->store,
                .root = l->root,
                .config = l->config,
                .timeline = l->timeline,
                .options = l->options,
                .arena = l->arena,
                .slices.listing_problem = problem};
}

/* As `chosen` has it; where the metadata table lists other files than the commits name, by the
 * directories. */
static int load_chosen(tarn_cx *cx, load *l, tn_slices_options *chosen)
{
    int rc = load_slices(cx, l);

    if (rc != TARN_E_CORRUPT || !l->slices.listed)
        return rc;
    TN_TRY(keep_problem(cx, l));
    chosen->listing = TN_SLICES_DIRECTORIES;
    load_anew(l);
    TN_TRY(load_slices(cx, l));
done:
    return rc;
}

int tn_slices_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                   const tn_timeline *timeline, const tn_slices_options *options, tn_arena *arena,
                   tn_slices *out)
{
    tn_slices_options chosen = options != NULL ? *options : (tn_slices_options){0};
    load l = {.store = store,
              .root = root,
              .config = config,
              .timeline = timeline,
              .options = &chosen,
              .arena = arena};
    int rc = TARN_OK;

    assert(arena != NULL && out != NULL);
    TN_TRY(check_readable(cx, config));
    if (chosen.as_of.len != 0 && chosen.written_by == NULL)
        TN_TRY(tn_slices_check_as_of(cx, store, timeline, chosen.as_of));
    TN_TRY(load_chosen(cx, &l, &chosen));
    if (l.slices.whole) {
        chosen.written_by = NULL;
        chosen.as_of = (tn_str){NULL, 0};
        load_anew(&l);
        TN_TRY(load_chosen(cx, &l, &chosen));
        l.slices.whole = true;
    }
    if (chosen.footers)
        TN_TRY(tn_slices_footers(cx, store, &l.slices, arena));
    *out = l.slices;
done:
    load_clear(&l);
    return rc;
}

static int moved_warning(tarn_cx *cx, const tn_slices *slices, tn_arena *arena, tn_str *out)
{
    return tn_arena_print(
        cx, arena, out,
        "%llu log%s of this table of version 6 joined other slices than their names say, by the "
        "modification times of the timeline's files, as in Hudi 1.2.0 (%.*s: slice %.*s); if it "
        "was "
        "copied without those times, read it with --v6-slices instant",
        (unsigned long long)slices->moved, slices->moved == 1 ? "" : "s",
        TN_STR_ARG(slices->moved_log), TN_STR_ARG(slices->moved_to));
}

int tn_slices_warning(tarn_cx *cx, const tn_slices *slices, tn_arena *arena, tn_str *out)
{
    tn_str moved = {NULL, 0};
    int rc = TARN_OK;

    if (slices->moved != 0)
        TN_TRY(moved_warning(cx, slices, arena, &moved));
    *out = moved;
    if (slices->listing_problem.len != 0)
        TN_TRY(tn_arena_print(cx, arena, out,
                              "the metadata table cannot be used, files were listed by directory "
                              "(%.*s); `tarn files --check` compares the two%s%.*s",
                              TN_STR_ARG(slices->listing_problem), moved.len != 0 ? "; " : "",
                              TN_STR_ARG(moved)));
done:
    return rc;
}
