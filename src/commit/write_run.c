/* A write from its record to its end. There is no way back: the record is the commit point.
 *
 * I1: nothing is removed that the record does not name: leaving files (by size, time and inode),
 *     the links it made, and what it staged. A leaving file that changed since stays, and is noted.
 * I2: nothing is ever replaced: a name that is taken is given up for a free one, and noted.
 * I3: an old file goes for good only after the new state is on stable storage, and the record says
 *     DONE.
 * I4: every step may be done twice. Whether it has been, the staged thing itself says: while it is
 *     in staging, it has not entered.
 * I5: what others add to a directory meanwhile is in it afterwards.
 *
 * On disk: D a directory, T its new state built in staging ("S/new").
 *
 *                              in view of readers                      record  a crash here
 *   1 look, build, sync        old                                     -       staging is swept
 *   2 put the record BEGUN     old                                     BEGUN   3
 *   3 steps, one by one:       some directories new, the others old    BEGUN   3 again
 *       TREE      T becomes D                one moment, whole
 *       EXCHANGE  T and D change places      one moment, whole
 *       RENAME    old files out, then        too few rows between (overwrite), or a growing
 *                 new files in               directory (append); never a row twice
 *     emptied directories go, all is synced
 *   4 put the record DONE      new                                     DONE    5
 *   5 old files and staging go new                                     DONE    5 again
 *   6 remove the record        new                                     -       nothing to do
 *
 * A TREE or EXCHANGE whose directory is not what it was any more (another program made or replaced
 * it) ends as a RENAME does. */
#include <assert.h>

#include "base/map.h"
#include "commit/write_run.h"

#define EMPTY_TRIES_MAX 3

typedef struct run {
    tn_store *store;
    tn_arena *arena;
    tn_write_record *record;
    tn_write_notes *notes;
    tn_map synced; /* directories to sync before DONE, as keys */
} run;

static bool is_fatal(int rc)
{
    return rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED;
}

static int fresh_path(tarn_cx *cx, const run *r, const tn_write_step *step, tn_str *out)
{
    return tn_path_join(cx, r->arena, step->staging, TN_STR("new"), out);
}

/* A link is the same while it is one: a relative one leads elsewhere, or nowhere, once it is out.
 */
static bool is_same(const tn_stat *stat, const tn_change_file *file)
{
    if (file->link)
        return stat->link;
    return stat->kind == TN_ENTRY_FILE && !stat->link && stat->size_bytes == file->size_bytes &&
           stat->mtime_ns == file->mtime_ns && stat->inode == file->inode;
}

static int index_names(tarn_cx *cx, tn_map *map, const tn_change_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool added;
        size_t *place = tn_map_add(cx, map, files[i].name, &added);

        if (place == NULL)
            return TARN_E_NOMEM;
        *place = i;
    }
    return TARN_OK;
}

/* ---- RENAME */

/* An old file that turned out to be another one once it was out: it was replaced in that moment, so
 * it is nothing of ours. */
static int move_home(tarn_cx *cx, run *r, const tn_write_step *step, const tn_change_file *file,
                     tn_str away)
{
    tn_str home, name = file->name;
    int rc;

    TN_TRY(tn_path_join(cx, r->arena, step->directory, name, &home));
    rc = tn_store_rename(cx, r->store, away, home, false);
    if (rc == TARN_E_EXISTS) {
        tn_cx_forget(cx);
        TN_TRY(tn_change_free_name(cx, r->store, r->arena, step->directory, file->name, &name));
        TN_TRY(tn_path_join(cx, r->arena, step->directory, name, &home));
        rc = tn_store_rename(cx, r->store, away, home, false);
    }
    TN_TRY(rc);
    TN_TRY(tn_write_note_add(cx, r->arena, r->notes, step->path,
                             "%.*s was replaced by another program during the write; it stays as "
                             "%.*s",
                             TN_STR_ARG(file->name), TN_STR_ARG(name)));
done:
    return rc;
}

static int move_out_one(tarn_cx *cx, run *r, const tn_write_step *step, tn_str old, size_t number)
{
    const tn_change_file *file = &step->leaving[number];
    tn_str home, away, name;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_path_join(cx, r->arena, step->directory, file->name, &home));
    TN_TRY(tn_arena_print(cx, r->arena, &name, "%zu.old", number));
    TN_TRY(tn_path_join(cx, r->arena, old, name, &away));
    TN_TRY(tn_change_find(cx, r->store, away, &found, &stat));
    if (found)
        goto done;
    TN_TRY(tn_change_find(cx, r->store, home, &found, &stat));
    if (!found || (file->side && stat.kind == TN_ENTRY_DIR))
        goto done;
    if (!file->side && !is_same(&stat, file)) {
        TN_TRY(tn_write_note_add(cx, r->arena, r->notes, step->path,
                                 "%.*s was changed by another program during the write; it stays",
                                 TN_STR_ARG(file->name)));
        goto done;
    }
    rc = tn_store_rename(cx, r->store, home, away, false);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    if (file->side)
        goto done;
    TN_TRY(tn_change_find(cx, r->store, away, &found, &stat));
    if (found && !is_same(&stat, file))
        TN_TRY(move_home(cx, r, step, file, away));
done:
    return rc;
}

static int move_out(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_str old;
    int rc = TARN_OK;

    if (step->leaving_count == 0)
        goto done;
    TN_TRY(tn_path_join(cx, r->arena, step->staging, TN_STR("old"), &old));
    TN_TRY(tn_store_make_dirs(cx, r->store, old));
    for (size_t i = 0; i < step->leaving_count; i++)
        TN_TRY(move_out_one(cx, r, step, old, i));
    if (step->entering_count == 0)
        goto done;
    /* No row twice after a crash: the old ones are out for good before the first new one is in. */
    TN_TRY(tn_store_sync_dir(cx, r->store, old));
    TN_TRY(tn_store_sync_dir(cx, r->store, step->directory));
done:
    return rc;
}

/* The name is taken: by the file itself where a rename left both names, or by a stranger. */
static int enter_beside(tarn_cx *cx, run *r, const tn_write_step *step, const tn_change_file *file,
                        tn_str target)
{
    tn_str directory = tn_path_parent(target), name, free_name, free_path;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, r->store, target, &found, &stat));
    if (found && stat.inode == file->inode) {
        TN_TRY(tn_change_remove(cx, r->store, file->path));
        goto done;
    }
    name = tn_path_name(target);
    TN_TRY(tn_change_free_name(cx, r->store, r->arena, directory, name, &free_name));
    TN_TRY(tn_path_join(cx, r->arena, directory, free_name, &free_path));
    TN_TRY(tn_store_rename(cx, r->store, file->path, free_path, false));
    TN_TRY(tn_write_note_add(cx, r->arena, r->notes, step->path,
                             "%.*s was taken meanwhile, so the file is %.*s", TN_STR_ARG(name),
                             TN_STR_ARG(free_name)));
done:
    return rc;
}

static int move_in_one(tarn_cx *cx, run *r, const tn_write_step *step, const tn_change_file *file)
{
    tn_str target;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, r->store, file->path, &found, &stat));
    if (!found) /* I4 */
        goto done;
    TN_TRY(tn_path_join(cx, r->arena, step->directory, file->name, &target));
    rc = tn_store_rename(cx, r->store, file->path, target, false);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        TN_TRY(tn_store_make_dirs(cx, r->store, tn_path_parent(target)));
        rc = tn_store_rename(cx, r->store, file->path, target, false);
    }
    if (rc == TARN_E_EXISTS) {
        tn_cx_forget(cx);
        rc = enter_beside(cx, r, step, file, target);
    }
done:
    return rc;
}

static int run_rename(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_str last = {0};
    int rc;

    if (step->entering_count != 0)
        TN_TRY(tn_store_make_dirs(cx, r->store, step->directory));
    TN_TRY(move_out(cx, r, step));
    for (size_t i = 0; i < step->entering_count; i++)
        TN_TRY(move_in_one(cx, r, step, &step->entering[i]));
    if (step->way != TN_WRITE_TREE)
        goto done;
    /* The directories below D that a tree brought are known here only. */
    for (size_t i = 0; i < step->entering_count; i++) {
        tn_str target, directory;

        TN_TRY(tn_path_join(cx, r->arena, step->directory, step->entering[i].name, &target));
        for (directory = tn_path_parent(target);
             directory.len > step->directory.len && !tn_str_equal(directory, last);
             directory = tn_path_parent(directory))
            TN_TRY(tn_store_sync_dir(cx, r->store, directory));
        last = tn_path_parent(target);
    }
done:
    return rc;
}

/* ---- EXCHANGE */

/* Carries a newcomer; an emptied directory may be gone already, and is made again for it. */
static int carry(tarn_cx *cx, run *r, tn_change *change, tn_str fresh, const tn_entry *entry)
{
    int rc;

    TN_TRY(tn_store_make_dirs(cx, r->store, change->directory));
    TN_TRY(tn_change_exchange_carry(cx, r->store, r->arena, change, fresh, entry));
done:
    return rc;
}

/* A file that stays was replaced while the new directory was built or in use: the new directory
 * gets the new version, if it still has the old one. Otherwise it is carried like any newcomer. */
static int bring_replaced(tarn_cx *cx, run *r, tn_change *change, tn_str fresh,
                          const tn_entry *entry, const tn_change_file *kept)
{
    tn_str from, to;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(
        tn_change_find_in(cx, r->store, r->arena, change->directory, entry->name, &found, &stat));
    if (!found || stat.inode != kept->inode) {
        TN_TRY(carry(cx, r, change, fresh, entry));
        goto done;
    }
    TN_TRY(tn_path_join(cx, r->arena, fresh, entry->name, &from));
    TN_TRY(tn_path_join(cx, r->arena, change->directory, entry->name, &to));
    TN_TRY(tn_store_rename(cx, r->store, from, to, true));
done:
    return rc;
}

/* A file that stays was removed while the new directory was built: its link there goes, too. */
static int drop_vanished(tarn_cx *cx, run *r, const tn_write_step *step, const bool *met)
{
    tn_str path;
    tn_stat stat;
    bool found;
    int rc = TARN_OK;

    for (size_t i = 0; i < step->kept_count; i++) {
        if (met[i])
            continue;
        TN_TRY(tn_path_join(cx, r->arena, step->directory, step->kept[i].name, &path));
        TN_TRY(tn_change_find(cx, r->store, path, &found, &stat));
        if (found && stat.inode == step->kept[i].inode)
            TN_TRY(tn_change_remove(cx, r->store, path));
    }
done:
    return rc;
}

static int say_carried(tarn_cx *cx, run *r, const tn_write_step *step, const tn_change *change)
{
    if (change->note.len == 0)
        return TARN_OK;
    return tn_write_note_add(cx, r->arena, r->notes, step->path, "%.*s", TN_STR_ARG(change->note));
}

/* The old directory lies in staging now: what it holds beyond what the record knows is carried into
 * the new one. */
static int settle_old(tarn_cx *cx, run *r, const tn_write_step *step, tn_str fresh)
{
    tn_change change = {.directory = step->directory};
    tn_map leaving = {0}, kept = {0};
    tn_entry *entries;
    size_t count;
    bool *met;
    int rc;

    TN_TRY(index_names(cx, &leaving, step->leaving, step->leaving_count));
    TN_TRY(index_names(cx, &kept, step->kept, step->kept_count));
    met = tn_arena_array(cx, r->arena, step->kept_count, sizeof *met);
    if (met == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_store_list(cx, r->store, fresh, r->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const tn_entry *entry = &entries[i];
        const size_t *leaves = tn_map_find(&leaving, entry->name);
        const size_t *stays = tn_map_find(&kept, entry->name);

        if (stays != NULL) {
            met[*stays] = true;
            if (step->kept[*stays].inode != entry->stat.inode)
                TN_TRY(bring_replaced(cx, r, &change, fresh, entry, &step->kept[*stays]));
            continue;
        }
        if (leaves != NULL &&
            (step->leaving[*leaves].side || is_same(&entry->stat, &step->leaving[*leaves])))
            continue;
        TN_TRY(carry(cx, r, &change, fresh, entry));
        if (leaves != NULL)
            TN_TRY(
                tn_write_note_add(cx, r->arena, r->notes, step->path,
                                  "%.*s was changed by another program during the write; it stays",
                                  TN_STR_ARG(entry->name)));
    }
    TN_TRY(drop_vanished(cx, r, step, met));
    TN_TRY(say_carried(cx, r, step, &change));
done:
    tn_map_clear(&kept);
    tn_map_clear(&leaving);
    return rc;
}

/* *new: the new directory is in staging still. */
static int look_at_fresh(tarn_cx *cx, const run *r, const tn_write_step *step, tn_str fresh,
                         bool *found, bool *is_new)
{
    tn_stat stat;
    int rc;

    TN_TRY(tn_change_find(cx, r->store, fresh, found, &stat));
    *is_new = *found && stat.inode == step->new_inode;
done:
    return rc;
}

static int run_exchange(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_str fresh;
    tn_stat stat;
    bool found, is_new, there;
    int rc;

    TN_TRY(fresh_path(cx, r, step, &fresh));
    TN_TRY(look_at_fresh(cx, r, step, fresh, &found, &is_new));
    if (is_new) {
        TN_TRY(tn_change_find(cx, r->store, step->directory, &there, &stat));
        if (there && stat.inode == step->old_inode && !stat.link) {
            rc = tn_store_exchange(cx, r->store, step->directory, fresh);
            if (is_fatal(rc))
                goto done;
            /* Whatever it answered, what lies in staging now decides. */
            tn_cx_forget(cx);
            TN_TRY(look_at_fresh(cx, r, step, fresh, &found, &is_new));
        }
    }
    if (is_new)
        TN_TRY(run_rename(cx, r, step));
    else if (found)
        TN_TRY(settle_old(cx, r, step, fresh));
done:
    return rc;
}

/* ---- TREE */

static int run_tree(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_str fresh;
    bool found, is_new;
    int rc;

    TN_TRY(fresh_path(cx, r, step, &fresh));
    TN_TRY(look_at_fresh(cx, r, step, fresh, &found, &is_new));
    if (!found) /* I4 */
        goto done;
    rc = tn_store_rename(cx, r->store, fresh, step->directory, false);
    if (rc == TARN_E_NOTFOUND) { /* another program removed the directory above */
        tn_cx_forget(cx);
        TN_TRY(tn_store_make_dirs(cx, r->store, tn_path_parent(step->directory)));
        rc = tn_store_rename(cx, r->store, fresh, step->directory, false);
    }
    if (rc == TARN_E_EXISTS) { /* another program made it */
        tn_cx_forget(cx);
        rc = run_rename(cx, r, step);
    }
done:
    return rc;
}

/* ---- all of them */

static int run_step(tarn_cx *cx, run *r, const tn_write_step *step)
{
    switch (step->way) {
    case TN_WRITE_TREE:
        return run_tree(cx, r, step);
    case TN_WRITE_EXCHANGE:
        return run_exchange(cx, r, step);
    case TN_WRITE_RENAME:
        return run_rename(cx, r, step);
    }
    return tn_fail(cx, TARN_E_INVALID, "way %d: no such thing", step->way);
}

static int will_sync(tarn_cx *cx, run *r, tn_str directory)
{
    bool added;

    return tn_map_add(cx, &r->synced, directory, &added) != NULL ? TARN_OK : TARN_E_NOMEM;
}

/* An emptied directory goes, and those above it up to the root when it was the last thing in them.
 * Any failure means that it is of use to somebody. */
static int remove_emptied(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_str directory = step->directory;
    int rc = TARN_OK;

    while (directory.len > r->record->root.len && rc == TARN_OK) {
        rc = tn_store_remove_dir(cx, r->store, directory);
        if (is_fatal(rc))
            return rc;
        if (rc == TARN_E_NOTFOUND)
            rc = TARN_OK;
        directory = tn_path_parent(directory);
        if (rc == TARN_OK && will_sync(cx, r, directory) != TARN_OK)
            return TARN_E_NOMEM;
    }
    tn_cx_forget(cx);
    return TARN_OK;
}

/* What of this step is to be synced: in a recovery nobody knows whether it was. */
static int note_syncs(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_str directory = step->directory;
    int rc = TARN_OK;

    TN_TRY(will_sync(cx, r, directory));
    if (step->way != TN_WRITE_RENAME)
        TN_TRY(will_sync(cx, r, tn_path_parent(directory)));
    while (step->made && directory.len > r->record->root.len) {
        directory = tn_path_parent(directory);
        TN_TRY(will_sync(cx, r, directory));
    }
done:
    return rc;
}

/* A directory that is gone again, because it was emptied, needs none. */
static int sync_one(tarn_cx *cx, run *r, tn_str directory)
{
    int rc = tn_store_sync_dir(cx, r->store, directory);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    return rc;
}

static int sync_all(tarn_cx *cx, run *r)
{
    tn_map done = {0};
    int rc = TARN_OK;

    if (r->synced.count > TN_WRITE_SYNC_EACH_MAX) {
        TN_TRY(tn_store_sync_all(cx, r->store, r->record->root));
        goto done;
    }
    /* The steps name all directories but those above emptied ones, so the map is walked by them. */
    for (size_t i = 0; i < r->record->step_count; i++) {
        tn_str directory = r->record->steps[i].directory;

        while (tn_map_find(&r->synced, directory) != NULL) {
            bool added;

            if (tn_map_add(cx, &done, directory, &added) == NULL)
                TN_TRY(TARN_E_NOMEM);
            if (!added)
                break;
            TN_TRY(sync_one(cx, r, directory));
            if (directory.len == 1)
                break;
            directory = tn_path_parent(directory);
        }
    }
done:
    tn_map_clear(&done);
    return rc;
}

/* Step 3. One that fails does not keep the others from entering; the first failure is told. */
static int publish(tarn_cx *cx, run *r)
{
    char text[TN_ERROR_TEXT_MAX];
    int failure = TARN_OK, rc = TARN_OK;

    for (size_t i = 0; i < r->record->step_count; i++) {
        const tn_write_step *step = &r->record->steps[i];

        rc = run_step(cx, r, step);
        if (is_fatal(rc))
            goto done;
        if (rc != TARN_OK && failure == TARN_OK) {
            memcpy(text, tarn_cx_error(cx), sizeof text);
            failure = rc;
        }
        tn_cx_forget(cx);
        TN_TRY(note_syncs(cx, r, step));
    }
    if (failure != TARN_OK)
        TN_FAIL(failure, "%s", text);
    for (size_t i = 0; i < r->record->step_count; i++)
        if (r->record->steps[i].emptied)
            TN_TRY(remove_emptied(cx, r, &r->record->steps[i]));
    TN_TRY(sync_all(cx, r));
    r->record->state = TN_CHANGE_DONE;
    rc = tn_write_record_put(cx, r->store, r->record, false);
    if (rc != TARN_OK)
        r->record->state = TN_CHANGE_BEGUN;
done:
    return rc;
}

/* An emptied directory is gone, but a program that had it open made a name in the old one since. */
static int make_again(tarn_cx *cx, run *r, const tn_write_step *step, tn_str fresh)
{
    tn_map known = {0};
    tn_entry *entries;
    size_t count;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, r->store, step->directory, &found, &stat));
    if (found)
        goto done;
    TN_TRY(index_names(cx, &known, step->leaving, step->leaving_count));
    TN_TRY(index_names(cx, &known, step->kept, step->kept_count));
    TN_TRY(tn_store_list(cx, r->store, fresh, r->arena, &entries, &count));
    for (size_t i = 0; i < count && !found; i++)
        found = tn_map_find(&known, entries[i].name) == NULL;
    if (!found)
        goto done;
    TN_TRY(tn_store_make_dirs(cx, r->store, step->directory));
    TN_TRY(tn_store_sync_dir(cx, r->store, tn_path_parent(step->directory)));
done:
    tn_map_clear(&known);
    return rc;
}

/* Old links, which nobody can tell from newcomers by what they lead to. */
static int remove_links(tarn_cx *cx, run *r, const tn_write_step *step, tn_str fresh)
{
    tn_str path;
    tn_stat stat;
    bool found;
    int rc = TARN_OK;

    for (size_t i = 0; i < step->leaving_count; i++) {
        if (!step->leaving[i].link)
            continue;
        TN_TRY(tn_path_join(cx, r->arena, fresh, step->leaving[i].name, &path));
        TN_TRY(tn_change_find(cx, r->store, path, &found, &stat));
        if (found && stat.link)
            TN_TRY(tn_change_remove(cx, r->store, path));
    }
done:
    return rc;
}

/* Step 5, one directory: names that came into the old one late are carried over. */
static int empty_old(tarn_cx *cx, run *r, const tn_write_step *step)
{
    tn_change change = {.state = TN_CHANGE_DONE,
                        .directory = step->directory,
                        .staging = step->staging,
                        .new_inode = step->new_inode,
                        .leaving = step->leaving,
                        .leaving_count = step->leaving_count,
                        .kept = step->kept,
                        .kept_count = step->kept_count};
    tn_str fresh;
    bool found, is_new;
    int rc;

    TN_TRY(fresh_path(cx, r, step, &fresh));
    TN_TRY(look_at_fresh(cx, r, step, fresh, &found, &is_new));
    if (!found || is_new) /* never used: it is staging like any other */
        goto done;
    TN_TRY(remove_links(cx, r, step, fresh));
    for (int tries = 0; tries < EMPTY_TRIES_MAX; tries++) {
        TN_TRY(make_again(cx, r, step, fresh));
        rc = tn_change_exchange_empty(cx, r->store, r->arena, &change);
        if (rc != TARN_E_CONFLICT) /* not that a name came after make_again looked */
            break;
    }
    TN_TRY(rc);
    TN_TRY(say_carried(cx, r, step, &change));
done:
    return rc;
}

/* Steps 5 and 6. */
static int retire(tarn_cx *cx, run *r)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < r->record->step_count; i++)
        if (r->record->steps[i].way == TN_WRITE_EXCHANGE)
            TN_TRY(empty_old(cx, r, &r->record->steps[i]));
    TN_TRY(tn_store_remove_tree(cx, r->store, r->record->staging));
    tn_change_remove_empty(cx, r->store, tn_path_parent(r->record->staging));
    TN_TRY(tn_change_remove(cx, r->store, r->record->record));
    TN_TRY(tn_store_sync_dir(cx, r->store, tn_path_parent(r->record->record)));
done:
    return rc;
}

int tn_write_run(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_write_record *record,
                 tn_write_notes *notes)
{
    run r = {.store = store, .arena = arena, .record = record, .notes = notes};
    int rc = TARN_OK;

    assert(record->staging.len != 0);
    if (record->state == TN_CHANGE_BEGUN)
        TN_TRY(publish(cx, &r));
    TN_TRY(retire(cx, &r));
done:
    tn_map_clear(&r.synced);
    return rc;
}
