/* Looks before a write is recorded: which directories the files go to, what is there, and how each
 * can change.
 * K1: nothing is changed here; whatever cannot be understood or could not be brought to its end is
 *     refused, so that the record is put only for what can be done.
 * K2: each directory that exists on the way to a file, and each that an overwrite empties, is a
 *     directory of the root's own mount and no link: beyond those, staging cannot be renamed to. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "commit/write_run.h"
#include "table/dir.h"

/* The files of one partition, a run of the sorted files. */
typedef struct target {
    tn_str path;
    size_t first, count;
    size_t step;
    bool placed;
} target;

typedef struct looking {
    const tn_write_look *in;
    tn_write_notes *notes;
    tn_write_file *files; /* sorted by partition and name */
    size_t file_count;
    target *targets;
    size_t target_count;
    tn_map target_of; /* partition path -> target */
    tn_map levels;    /* directory on the way to a partition -> 1 it exists, 0 it is missing */
    tn_map trees;     /* topmost missing directory -> step */
    tn_write_step *steps;
    size_t step_count, step_cap;
    uint64_t entries;
} looking;

static int by_place(const void *a, const void *b)
{
    const tn_write_file *x = a, *y = b;
    int order = tn_str_compare(x->partition, y->partition);

    return order != 0 ? order : tn_str_compare(x->name, y->name);
}

static bool is_visible(tn_str path)
{
    while (path.len != 0) {
        size_t end = tn_str_find(path, '/');

        if (tn_dir_hidden_name((tn_str){path.ptr, end}))
            return false;
        path = tn_str_from(path, end + 1);
    }
    return true;
}

static int check_file(tarn_cx *cx, const looking *l, const tn_write_file *file)
{
    tn_str staging = l->in->plan->staging;
    tn_stat stat;
    int rc = TARN_OK;

    if ((file->partition.len != 0 && !tn_write_record_goes_down(file->partition)) ||
        !is_visible(file->partition) || !tn_write_record_goes_down(file->name) ||
        tn_str_find(file->name, '/') != file->name.len || tn_dir_hidden_name(file->name))
        TN_FAIL(TARN_E_INVALID, "\"%.*s/%.*s\": no place that readers look at",
                TN_STR_ARG(file->partition), TN_STR_ARG(file->name));
    if (file->staged.len <= staging.len + 1 || !tn_str_starts(file->staged, staging) ||
        file->staged.ptr[staging.len] != '/' ||
        !tn_write_record_goes_down(tn_str_from(file->staged, staging.len + 1)))
        TN_FAIL(TARN_E_INVALID, "%.*s: is not below the staging %.*s", TN_STR_ARG(file->staged),
                TN_STR_ARG(staging));
    TN_TRY(tn_store_stat(cx, l->in->store, file->staged, &stat));
    if (stat.kind != TN_ENTRY_FILE || stat.link || stat.size_bytes != file->bytes)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: %llu bytes where its writer reported %llu; nothing was touched",
                TN_STR_ARG(file->staged), (unsigned long long)stat.size_bytes,
                (unsigned long long)file->bytes);
done:
    return rc;
}

/* Sorts the files and cuts them into targets. */
static int take_files(tarn_cx *cx, looking *l, const tn_write_file *files, size_t count)
{
    tn_arena *arena = l->in->arena;
    int rc = TARN_OK;

    l->files = tn_arena_array(cx, arena, count, sizeof *l->files);
    l->targets = tn_arena_array(cx, arena, count, sizeof *l->targets);
    if (l->files == NULL || l->targets == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (count == 0)
        goto done;
    memcpy(l->files, files, count * sizeof *files);
    l->file_count = count;
    qsort(l->files, count, sizeof *l->files, by_place);
    for (size_t i = 0; i < count; i++) {
        const tn_write_file *file = &l->files[i];
        bool begins = i == 0 || !tn_str_equal(file->partition, file[-1].partition);

        TN_TRY(check_file(cx, l, file));
        if (!begins && tn_str_equal(file->name, file[-1].name))
            TN_FAIL(TARN_E_INVALID, "%.*s/%.*s: is given twice", TN_STR_ARG(file->partition),
                    TN_STR_ARG(file->name));
        if (begins) {
            bool added;
            size_t *place = tn_map_add(cx, &l->target_of, file->partition, &added);

            if (place == NULL)
                TN_TRY(TARN_E_NOMEM);
            *place = l->target_count;
            l->targets[l->target_count++] = (target){.path = file->partition, .first = i};
        }
        l->targets[l->target_count - 1].count++;
    }
done:
    return rc;
}

static int step_add(tarn_cx *cx, looking *l, const tn_write_step *step, size_t *number)
{
    if (tn_arena_grow(cx, l->in->arena, &l->steps, l->step_count, &l->step_cap, sizeof *l->steps) !=
        TARN_OK)
        return TARN_E_NOMEM;
    if (number != NULL)
        *number = l->step_count;
    l->steps[l->step_count++] = *step;
    return TARN_OK;
}

/* ---- what a directory must be */

static int directory_of(tarn_cx *cx, const looking *l, tn_str path, tn_str *out)
{
    return tn_path_join(cx, l->in->arena, l->in->plan->root, path, out);
}

/* K2 */
static int check_directory(tarn_cx *cx, const looking *l, tn_str directory, const tn_stat *stat)
{
    if (stat->kind != TN_ENTRY_DIR)
        return tn_fail(cx, TARN_E_INVALID,
                       "%.*s: is not a directory, so no partition can be written there; nothing "
                       "was touched: move it away",
                       TN_STR_ARG(directory));
    if (stat->link)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s: is a symbolic link, and a write stays within its directory; nothing "
                       "was touched: write into what it leads to by itself",
                       TN_STR_ARG(directory));
    if (stat->mount != l->in->mount)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s: is a mount point, and a run publishes within one file system; "
                       "nothing was touched: write into it by itself",
                       TN_STR_ARG(directory));
    return TARN_OK;
}

static int check_rights(tarn_cx *cx, const looking *l, tn_str directory)
{
    bool may;
    int rc;

    TN_TRY(tn_store_may_write(cx, l->in->store, directory, &may));
    if (!may)
        TN_FAIL(TARN_E_IO,
                "%.*s: no right to make or remove files in it; nothing was touched: run as its "
                "owner, or grant the right",
                TN_STR_ARG(directory));
done:
    return rc;
}

static int check_waiting(tarn_cx *cx, const looking *l, tn_str path, tn_str directory)
{
    const tn_recovery_note *waits = tn_recovery_open(l->in->recovery, path);

    if (waits == NULL)
        return TARN_OK;
    return tn_fail(cx, TARN_E_CONFLICT, "%.*s: %.*s; nothing was written", TN_STR_ARG(directory),
                   TN_STR_ARG(waits->text));
}

/* The signs of other tables that can be asked for by name: the directory may be large. */
static int check_signs(tarn_cx *cx, const looking *l, tn_str directory)
{
    static const char *const names[] = {".hoodie", "_delta_log", ".hoodie_partition_metadata"};
    int rc = TARN_OK;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tn_entry entry = {.name = tn_str_of(names[i])};
        tn_str kind;
        bool found;

        TN_TRY(tn_change_find_in(cx, l->in->store, l->in->arena, directory, entry.name, &found,
                                 &entry.stat));
        kind = found ? tn_dir_foreign_kind(directory, &entry, 1) : (tn_str){0};
        if (kind.len != 0)
            TN_TRY(tn_dir_refuse(cx, l->in->plan->root, directory, kind, false));
    }
done:
    return rc;
}

/* A directory on the way to a partition, once: its summary of what lies below is no longer true. */
static int check_level(tarn_cx *cx, looking *l, tn_str path, bool *found)
{
    tn_write_step step = {.way = TN_WRITE_RENAME, .path = path};
    bool added, is_target = tn_map_find(&l->target_of, path) != NULL;
    size_t *known = tn_map_add(cx, &l->levels, path, &added);
    tn_str directory;
    tn_stat stat;
    int rc = TARN_OK;

    if (known == NULL)
        TN_TRY(TARN_E_NOMEM);
    *found = *known != 0;
    if (!added)
        goto done;
    TN_TRY(directory_of(cx, l, path, &directory));
    TN_TRY(tn_change_find(cx, l->in->store, directory, found, &stat));
    *known = *found;
    if (!*found)
        goto done;
    TN_TRY(check_directory(cx, l, directory, &stat));
    TN_TRY(check_signs(cx, l, directory));
    if (is_target || l->in->plan->mode == TN_WRITE_OVERWRITE)
        goto done;
    TN_TRY(tn_write_list_stale(cx, l->in->store, l->in->arena, directory, &step));
    if (step.leaving_count == 0)
        goto done;
    TN_TRY(check_rights(cx, l, directory));
    TN_TRY(check_waiting(cx, l, path, directory));
    TN_TRY(step_add(cx, l, &step, NULL));
done:
    return rc;
}

/* *found: the partition's directory exists. Else *top is the topmost directory that is missing. */
static int check_way(tarn_cx *cx, looking *l, tn_str path, bool *found, tn_str *top)
{
    int rc = TARN_OK;

    *top = (tn_str){path.ptr, 0};
    *found = l->in->root_found;
    if (*found)
        TN_TRY(check_level(cx, l, *top, found));
    while (*found && top->len < path.len) {
        size_t from = top->len != 0 ? top->len + 1 : 0;

        top->len = from + tn_str_find(tn_str_from(path, from), '/');
        TN_TRY(check_level(cx, l, *top, found));
    }
done:
    return rc;
}

/* ---- steps */

/* New directories enter whole; where staging lies inside the root they cannot be built there:
 * a reader that looks into hidden directories would see them. */
static int add_missing(tarn_cx *cx, looking *l, target *t, tn_str top)
{
    tn_write_step step = {.way = TN_WRITE_RENAME, .path = t->path, .made = true};
    tn_str directory;
    bool added = true;
    size_t *known;
    int rc = TARN_OK;

    TN_TRY(directory_of(cx, l, top, &directory));
    TN_TRY(check_rights(cx, l, tn_path_parent(directory)));
    if (l->in->plan->work_inside) {
        TN_TRY(step_add(cx, l, &step, &t->step));
        goto done;
    }
    known = tn_map_add(cx, &l->trees, top, &added);
    if (known == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (added) {
        step = (tn_write_step){.way = TN_WRITE_TREE, .path = top};
        TN_TRY(step_add(cx, l, &step, known));
    }
    t->step = *known;
done:
    return rc;
}

static int check_names(tarn_cx *cx, const looking *l, const target *t, tn_str directory)
{
    tn_stat stat;
    bool found;
    int rc = TARN_OK;

    for (size_t i = t->first; i < t->first + t->count; i++) {
        TN_TRY(tn_change_find_in(cx, l->in->store, l->in->arena, directory, l->files[i].name,
                                 &found, &stat));
        if (found)
            TN_FAIL(TARN_E_EXISTS,
                    "%.*s/%.*s: exists already, and nothing is ever replaced; nothing was touched: "
                    "run again",
                    TN_STR_ARG(directory), TN_STR_ARG(l->files[i].name));
    }
done:
    return rc;
}

static int add_append(tarn_cx *cx, looking *l, target *t)
{
    tn_write_step step = {.way = TN_WRITE_RENAME, .path = t->path};
    tn_str directory;
    int rc;

    TN_TRY(directory_of(cx, l, t->path, &directory));
    TN_TRY(check_rights(cx, l, directory));
    TN_TRY(check_waiting(cx, l, t->path, directory));
    TN_TRY(check_names(cx, l, t, directory));
    TN_TRY(tn_write_list_stale(cx, l->in->store, l->in->arena, directory, &step));
    TN_TRY(step_add(cx, l, &step, &t->step));
done:
    return rc;
}

static int can_exchange(tarn_cx *cx, const looking *l, tn_str directory, const tn_entry *entries,
                        size_t count, bool *out)
{
    unsigned caps = TN_STORE_EXCHANGE | TN_STORE_LINK;
    int rc = TARN_OK;

    *out = !l->in->plan->work_inside && (l->in->store->caps & caps) == caps && directory.len > 1;
    for (size_t i = 0; i < count && *out; i++)
        *out = entries[i].stat.kind != TN_ENTRY_DIR || entries[i].stat.link;
    if (*out)
        TN_TRY(tn_store_may_write(cx, l->in->store, tn_path_parent(directory), out));
done:
    return rc;
}

/* What an exchange shares between both directories: all that does not leave. */
static int fill_kept(tarn_cx *cx, const looking *l, const tn_entry *entries, size_t count,
                     tn_write_step *step)
{
    step->kept = tn_arena_array(cx, l->in->arena, count, sizeof *step->kept);
    if (step->kept == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0, k = 0; i < count; i++) {
        if (k < step->leaving_count && tn_str_equal(step->leaving[k].name, entries[i].name))
            k++;
        else
            step->kept[step->kept_count++] =
                (tn_change_file){.name = entries[i].name, .inode = entries[i].stat.inode};
    }
    return TARN_OK;
}

static int note_strangers(tarn_cx *cx, const looking *l, tn_str path, uint64_t strangers,
                          tn_str first)
{
    if (strangers == 0)
        return TARN_OK;
    return tn_write_note_add(cx, l->in->arena, l->notes, path,
                             "%llu file%s no Parquet and stay%s (%.*s%s); remove them by hand if "
                             "readers take them for data",
                             (unsigned long long)strangers, strangers == 1 ? " is" : "s are",
                             strangers == 1 ? "s" : "", TN_STR_ARG(first),
                             strangers == 1 ? "" : ", …");
}

/* A directory whose data leaves; `t` is NULL when nothing new comes. */
static int add_replaced(tarn_cx *cx, looking *l, tn_str path, tn_str directory, uint64_t inode,
                        const tn_entry *entries, size_t count, target *t)
{
    tn_write_step step = {.way = TN_WRITE_RENAME, .path = path, .old_inode = inode};
    uint64_t strangers = 0;
    tn_str first = {0};
    bool exchange = false, data = false;
    int rc;

    TN_TRY(tn_write_list_leaving(cx, l->in->store, l->in->arena, directory, entries, count, &step,
                                 &strangers, &first));
    TN_TRY(note_strangers(cx, l, path, strangers, first));
    if (t == NULL && step.leaving_count == 0)
        goto done;
    TN_TRY(check_rights(cx, l, directory));
    TN_TRY(check_waiting(cx, l, path, directory));
    if (t != NULL)
        TN_TRY(check_names(cx, l, t, directory));
    step.emptied = t == NULL && path.len != 0;
    for (size_t i = 0; i < step.leaving_count; i++)
        data |= !step.leaving[i].side;
    if (data)
        TN_TRY(can_exchange(cx, l, directory, entries, count, &exchange));
    if (exchange) {
        step.way = TN_WRITE_EXCHANGE;
        TN_TRY(fill_kept(cx, l, entries, count, &step));
    }
    TN_TRY(step_add(cx, l, &step, t != NULL ? &t->step : NULL));
done:
    return rc;
}

static int list_directory(tarn_cx *cx, looking *l, tn_str directory, tn_entry **entries,
                          size_t *count)
{
    tn_str kind;
    int rc;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_store_list(cx, l->in->store, directory, l->in->arena, entries, count));
    kind = tn_dir_foreign_kind(directory, *entries, *count);
    if (kind.len != 0)
        TN_TRY(tn_dir_refuse(cx, l->in->plan->root, directory, kind, false));
    l->entries += *count;
    if (l->entries > TN_DIR_ENTRIES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d names in and below it; nothing was touched",
                TN_STR_ARG(l->in->plan->root), TN_DIR_ENTRIES_MAX);
done:
    return rc;
}

/* A partition that is replaced has no directories of its own: its rows would survive in them. */
static int add_partition(tarn_cx *cx, looking *l, target *t)
{
    tn_entry *entries;
    size_t count;
    tn_str directory;
    tn_stat stat;
    int rc;

    TN_TRY(directory_of(cx, l, t->path, &directory));
    TN_TRY(tn_store_stat(cx, l->in->store, directory, &stat));
    TN_TRY(list_directory(cx, l, directory, &entries, &count));
    for (size_t i = 0; i < count; i++)
        if (entries[i].stat.kind == TN_ENTRY_DIR && !tn_dir_hidden_name(entries[i].name))
            TN_FAIL(TARN_E_INVALID,
                    "%.*s: has directories below it (%.*s), so it is no whole partition; nothing "
                    "was touched: name all partition columns, or overwrite all",
                    TN_STR_ARG(directory), TN_STR_ARG(entries[i].name));
    TN_TRY(add_replaced(cx, l, t->path, directory, stat.inode, entries, count, t));
done:
    return rc;
}

/* Everything from `path` down is replaced. */
static int walk(tarn_cx *cx, looking *l, tn_str path, tn_str directory, uint64_t inode,
                unsigned depth)
{
    const size_t *place = tn_map_find(&l->target_of, path);
    target *t = place != NULL ? &l->targets[*place] : NULL;
    tn_entry *entries;
    size_t count;
    int rc;

    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: deeper than %d levels of directories; nothing was touched",
                TN_STR_ARG(directory), TN_DIR_DEPTH_MAX);
    TN_TRY(list_directory(cx, l, directory, &entries, &count));
    TN_TRY(add_replaced(cx, l, path, directory, inode, entries, count, t));
    if (t != NULL)
        t->placed = true;
    for (size_t i = 0; i < count; i++) {
        tn_str below = entries[i].name, below_directory;

        if (entries[i].stat.kind != TN_ENTRY_DIR || tn_dir_hidden_name(entries[i].name))
            continue;
        if (path.len != 0)
            TN_TRY(tn_path_join(cx, l->in->arena, path, below, &below));
        TN_TRY(tn_path_join(cx, l->in->arena, directory, entries[i].name, &below_directory));
        TN_TRY(check_directory(cx, l, below_directory, &entries[i].stat));
        TN_TRY(walk(cx, l, below, below_directory, entries[i].stat.inode, depth + 1));
    }
done:
    return rc;
}

static int add_target(tarn_cx *cx, looking *l, target *t)
{
    tn_str top;
    bool found;
    int rc;

    if (t->placed)
        return TARN_OK;
    TN_TRY(check_way(cx, l, t->path, &found, &top));
    if (!found)
        TN_TRY(add_missing(cx, l, t, top));
    else if (l->in->plan->mode == TN_WRITE_APPEND)
        TN_TRY(add_append(cx, l, t));
    else
        TN_TRY(add_partition(cx, l, t));
    t->placed = true;
done:
    return rc;
}

/* A step may have several targets: a tree. */
static int fill_entering(tarn_cx *cx, looking *l)
{
    tn_arena *arena = l->in->arena;
    int rc = TARN_OK;

    for (size_t i = 0; i < l->target_count; i++)
        l->steps[l->targets[i].step].entering_count += l->targets[i].count;
    for (size_t i = 0; i < l->step_count; i++) {
        tn_write_step *step = &l->steps[i];

        step->entering = tn_arena_array(cx, arena, step->entering_count, sizeof *step->entering);
        if (step->entering == NULL)
            TN_TRY(TARN_E_NOMEM);
        step->entering_count = 0;
    }
    for (size_t i = 0; i < l->target_count; i++) {
        const target *t = &l->targets[i];
        tn_write_step *step = &l->steps[t->step];
        tn_str below = tn_str_from(t->path, step->path.len != 0 ? step->path.len + 1 : 0);

        for (size_t k = t->first; k < t->first + t->count; k++) {
            tn_change_file *file = &step->entering[step->entering_count++];

            *file = (tn_change_file){.name = l->files[k].name,
                                     .path = l->files[k].staged,
                                     .size_bytes = l->files[k].bytes};
            if (below.len != 0)
                TN_TRY(tn_path_join(cx, arena, below, file->name, &file->name));
        }
    }
done:
    return rc;
}

static int check_root(tarn_cx *cx, const looking *l)
{
    tn_str root = l->in->plan->root, below = root;
    int rc = TARN_OK;

    /* Asked from below, the root itself counts as a parent. */
    if (l->in->root_found)
        TN_TRY(tn_path_join(cx, l->in->arena, root, TN_STR("x"), &below));
    TN_TRY(tn_dir_check_parents(cx, l->in->store, below, false));
done:
    return rc;
}

int tn_write_look_all(tarn_cx *cx, const tn_write_look *look, const tn_write_file *files,
                      size_t count, tn_write_record *record, tn_write_notes *notes)
{
    looking l = {.in = look, .notes = notes};
    tn_stat stat;
    int rc;

    TN_TRY(take_files(cx, &l, files, count));
    TN_TRY(check_root(cx, &l));
    if (look->plan->mode == TN_WRITE_OVERWRITE && look->root_found) {
        TN_TRY(tn_store_stat(cx, look->store, look->plan->root, &stat));
        TN_TRY(walk(cx, &l, (tn_str){"", 0}, look->plan->root, stat.inode, 0));
    }
    for (size_t i = 0; i < l.target_count; i++)
        TN_TRY(add_target(cx, &l, &l.targets[i]));
    TN_TRY(fill_entering(cx, &l));
    record->steps = l.steps;
    record->step_count = l.step_count;
done:
    tn_map_clear(&l.trees);
    tn_map_clear(&l.levels);
    tn_map_clear(&l.target_of);
    return rc;
}
