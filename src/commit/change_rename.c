/* A change by renames under a record, where a directory cannot be exchanged. Steps as in change.c.
 * J1: new files enter only when all old ones are out.
 * J2: no rename replaces anything. */
#include <assert.h>
#include <inttypes.h>

#include "commit/change.h"

enum where { HOME, AWAY, GONE, CHANGED };

static int old_directory(tarn_cx *cx, tn_arena *arena, const tn_change *change, tn_str *out)
{
    return tn_path_join(cx, arena, change->staging, TN_STR("old"), out);
}

static int locate_leaving(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change,
                          const tn_change_file *file, enum where *out)
{
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, store, file->path, &found, &stat));
    if (found) {
        *out = file->side || tn_change_same(&stat, file) ? AWAY : CHANGED;
        goto done;
    }
    TN_TRY(tn_change_find_in(cx, store, arena, change->directory, file->name, &found, &stat));
    *out = !found ? GONE : file->side || tn_change_same(&stat, file) ? HOME : CHANGED;
done:
    return rc;
}

/* Is the entering file in the directory? It goes by its inode: its name may be somebody else's. */
static int is_placed(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change,
                     const tn_change_file *file, bool *out)
{
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find_in(cx, store, arena, change->directory, file->name, &found, &stat));
    *out = found && stat.inode == file->inode;
done:
    return rc;
}

static int is_staged(tarn_cx *cx, tn_store *store, const tn_change_file *file, bool *out)
{
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, store, file->path, &found, &stat));
    *out = found && stat.inode == file->inode && stat.size_bytes == file->size_bytes;
done:
    return rc;
}

static int say_offender(tarn_cx *cx, tn_arena *arena, tn_change *change, tn_str name,
                        enum where where)
{
    return tn_change_say(cx, arena, change, "%.*s %s %s; nothing is changed: %s", TN_STR_ARG(name),
                         where == GONE ? "vanished" : "changed", tn_change_since(change),
                         tn_change_way_out(change));
}

/* Whether all is there for going forward; if not, *fit is false and the note says why. */
static int check_fit(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, bool *fit)
{
    int rc = TARN_OK;

    *fit = true;
    for (size_t i = 0; i < change->leaving_count && *fit; i++) {
        const tn_change_file *file = &change->leaving[i];
        enum where where;

        TN_TRY(locate_leaving(cx, store, arena, change, file, &where));
        if ((where == GONE && !file->side) || where == CHANGED) {
            *fit = false;
            TN_TRY(say_offender(cx, arena, change, file->name, where));
        }
    }
    for (size_t i = 0; i < change->entering_count && *fit; i++) {
        bool there;

        TN_TRY(is_staged(cx, store, &change->entering[i], &there));
        if (!there)
            TN_TRY(is_placed(cx, store, arena, change, &change->entering[i], &there));
        if (!there) {
            *fit = false;
            TN_TRY(tn_change_say(cx, arena, change, "the staged file %.*s is gone; run again",
                                 TN_STR_ARG(change->entering[i].path)));
        }
    }
done:
    return rc;
}

/* Step 3. A file that turns out to be another one once it is out makes the change go back. */
static int move_out(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, bool *fit)
{
    tn_str old, home;
    int rc;

    *fit = true;
    for (size_t i = 0; i < change->leaving_count && *fit; i++) {
        const tn_change_file *file = &change->leaving[i];
        enum where where;

        TN_TRY(tn_path_join(cx, arena, change->directory, file->name, &home));
        rc = tn_store_rename(cx, store, home, file->path, false);
        if (rc == TARN_E_NOTFOUND || rc == TARN_E_EXISTS) {
            tn_cx_forget(cx); /* gone, or out already */
            rc = TARN_OK;
        }
        TN_TRY(rc);
        TN_TRY(locate_leaving(cx, store, arena, change, file, &where));
        if (where != AWAY && !(where == GONE && file->side)) {
            *fit = false;
            TN_TRY(say_offender(cx, arena, change, file->name, where));
        }
    }
    TN_TRY(old_directory(cx, arena, change, &old));
    TN_TRY(tn_store_sync_dir(cx, store, old));
    TN_TRY(tn_store_sync_dir(cx, store, change->directory));
done:
    return rc;
}

/* One file of step 4. When its name was taken the record learns the new one before it is used. */
static int place(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                 tn_change_file *file)
{
    tn_str target, name;
    bool placed;
    int rc;

    for (;;) {
        TN_TRY(is_placed(cx, store, arena, change, file, &placed));
        if (placed)
            goto done;
        TN_TRY(tn_path_join(cx, arena, change->directory, file->name, &target));
        rc = tn_store_rename(cx, store, file->path, target, false);
        if (rc != TARN_E_EXISTS)
            goto done;
        tn_cx_forget(cx);
        TN_TRY(tn_change_free_name(cx, store, arena, change->directory, file->name, &name));
        TN_TRY(tn_change_say(cx, arena, change, "%.*s was taken meanwhile, so the file is %.*s",
                             TN_STR_ARG(file->name), TN_STR_ARG(name)));
        file->name = name;
        TN_TRY(tn_change_record_put(cx, store, change, change->record));
    }
done:
    return rc;
}

/* Steps 4 and 5. */
static int move_in(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < change->entering_count; i++)
        TN_TRY(place(cx, store, arena, change, &change->entering[i]));
    TN_TRY(tn_store_sync_dir(cx, store, change->directory));
    TN_TRY(tn_store_sync_dir(cx, store, change->staging));
    change->state = TN_CHANGE_DONE;
    rc = tn_change_record_put(cx, store, change, change->record);
    if (rc != TARN_OK)
        change->state = TN_CHANGE_BEGUN;
done:
    return rc;
}

/* An old file returns. If its name is in use by now it gets a free one: its rows must be there. */
static int move_home(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                     const tn_change_file *file)
{
    tn_str home, name = file->name;
    tn_stat stat;
    bool away;
    int rc;

    for (;;) {
        /* Asked first: where no rename can succeed (another mount, no rights), none is needed. */
        TN_TRY(tn_change_find(cx, store, file->path, &away, &stat));
        if (!away)
            goto done;
        TN_TRY(tn_path_join(cx, arena, change->directory, name, &home));
        rc = tn_store_rename(cx, store, file->path, home, false);
        if (rc == TARN_E_NOTFOUND) { /* somebody removed it under our eyes */
            tn_cx_forget(cx);
            rc = TARN_OK;
        }
        if (rc != TARN_E_EXISTS)
            goto done;
        tn_cx_forget(cx);
        TN_TRY(tn_change_free_name(cx, store, arena, change->directory, file->name, &name));
        TN_TRY(tn_change_say(cx, arena, change, "%.*s was taken meanwhile, so it is %.*s now",
                             TN_STR_ARG(file->name), TN_STR_ARG(name)));
    }
done:
    return rc;
}

static int move_back(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_str placed_path;
    bool placed;
    int rc = TARN_OK;

    for (size_t i = 0; i < change->entering_count; i++) {
        const tn_change_file *file = &change->entering[i];

        TN_TRY(is_placed(cx, store, arena, change, file, &placed));
        if (!placed)
            continue;
        TN_TRY(tn_path_join(cx, arena, change->directory, file->name, &placed_path));
        TN_TRY(tn_store_rename(cx, store, placed_path, file->path, false));
    }
    for (size_t i = 0; i < change->leaving_count; i++)
        TN_TRY(move_home(cx, store, arena, change, &change->leaving[i]));
    TN_TRY(tn_store_sync_dir(cx, store, change->directory));
    TN_TRY(tn_change_drop(cx, store, change));
done:
    return rc;
}

static int go_forward(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, bool *fit)
{
    int rc;

    TN_TRY(check_fit(cx, store, arena, change, fit));
    if (*fit)
        TN_TRY(move_out(cx, store, arena, change, fit));
    if (*fit)
        TN_TRY(move_in(cx, store, arena, change));
done:
    return rc;
}

/* A step failed, for want of rights perhaps: back, then, if that can be done. The record says BEGUN
 * again first: one that says DONE may have reached the disk although putting it failed. Where not
 * even this works, the record stays for the next run, and the failure is returned. */
static int give_up(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, int failure)
{
    char text[TN_ERROR_TEXT_MAX];

    memcpy(text, tarn_cx_error(cx), sizeof text);
    if (failure == TARN_E_NOMEM ||
        tn_change_record_put(cx, store, change, change->record) != TARN_OK ||
        move_back(cx, store, arena, change) != TARN_OK)
        return tn_fail(cx, failure, "%s", text);
    tn_cx_forget(cx);
    change->failure = failure;
    change->note = (tn_str){"", 0};
    return tn_change_say(cx, arena, change, "%s", text);
}

int tn_change_rename_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                            bool *completed)
{
    bool fit = false, found;
    tn_stat stat;
    int rc;

    *completed = false;
    if (change->state == TN_CHANGE_DONE) {
        *completed = true;
        return TARN_OK;
    }
    TN_TRY(tn_change_find(cx, store, change->directory, &found, &stat));
    if (!found) {
        TN_TRY(tn_change_say(cx, arena, change,
                             "%.*s was removed by another program; what is left of the swap is in "
                             "%.*s: look at it, then remove it",
                             TN_STR_ARG(change->directory), TN_STR_ARG(change->staging)));
        TN_TRY(tn_change_drop(cx, store, change));
        goto done;
    }
    rc = go_forward(cx, store, arena, change, &fit);
    if (rc != TARN_OK)
        TN_TRY(give_up(cx, store, arena, change, rc));
    else if (!fit)
        TN_TRY(move_back(cx, store, arena, change));
    *completed = change->state == TN_CHANGE_DONE;
done:
    return rc;
}

/* Step 1. */
static int look(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_attrs attrs;
    tn_stat stat;
    bool found;
    int rc;

    rc = tn_store_attrs_get(cx, store, change->directory, arena, &attrs);
    if (rc == TARN_E_NOTFOUND)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: was removed %s; nothing was touched: %s",
                TN_STR_ARG(change->directory), tn_change_since(change), tn_change_way_out(change));
    TN_TRY(rc);
    change->atime_ns = attrs.atime_ns;
    change->mtime_ns = attrs.mtime_ns;
    TN_TRY(tn_store_stat(cx, store, change->directory, &stat));
    if (stat.kind != TN_ENTRY_DIR || (change->old_inode != 0 && stat.inode != change->old_inode))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another directory took its place %s; nothing was touched: %s",
                TN_STR_ARG(change->directory), tn_change_since(change), tn_change_way_out(change));
    for (size_t i = 0; i < change->leaving_count; i++) {
        const tn_change_file *file = &change->leaving[i];

        TN_TRY(tn_change_find_in(cx, store, arena, change->directory, file->name, &found, &stat));
        if (!file->side && (!found || !tn_change_same(&stat, file)))
            TN_FAIL(TARN_E_CONFLICT, "%.*s: %.*s %s %s; nothing was touched: %s",
                    TN_STR_ARG(change->directory), TN_STR_ARG(file->name),
                    found ? "changed" : "vanished", tn_change_since(change),
                    tn_change_way_out(change));
    }
done:
    return rc;
}

/* Where the old files go. Their names there end in nothing that a reader looks for. */
static int make_room(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_str old, name;
    int rc;

    TN_TRY(old_directory(cx, arena, change, &old));
    TN_TRY(tn_store_make_dirs(cx, store, old));
    for (size_t i = 0; i < change->leaving_count; i++) {
        TN_TRY(tn_arena_print(cx, arena, &name, "%zu.old", i));
        TN_TRY(tn_path_join(cx, arena, old, name, &change->leaving[i].path));
    }
    TN_TRY(tn_store_sync_dir(cx, store, change->staging));
done:
    return rc;
}

/* Names that the change does not know came meanwhile: then the directory's time is theirs. */
static int put_times(tarn_cx *cx, tn_store *store, const tn_change *change, const tn_entry *before,
                     size_t before_count, tn_arena *arena)
{
    tn_entry *now;
    size_t count, at = 0;
    int rc;

    TN_TRY(tn_store_list(cx, store, change->directory, arena, &now, &count));
    for (size_t i = 0; i < count; i++) {
        bool known;

        while (at < before_count && tn_str_compare(before[at].name, now[i].name) < 0)
            at++;
        known = at < before_count && tn_str_equal(before[at].name, now[i].name);
        for (size_t k = 0; k < change->entering_count && !known; k++)
            known = tn_str_equal(change->entering[k].name, now[i].name);
        if (!known)
            goto done;
    }
    tn_change_put_times(cx, store, change);
done:
    return rc;
}

int tn_change_rename(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    char text[TN_ERROR_TEXT_MAX];
    tn_entry *before;
    size_t before_count;
    bool completed = false;
    int answer, rc;

    assert(change->state == TN_CHANGE_BEGUN);
    TN_TRY(look(cx, store, arena, change));
    TN_TRY(tn_store_list(cx, store, change->directory, arena, &before, &before_count));
    TN_TRY(make_room(cx, store, arena, change));
    answer = tn_change_record_put(cx, store, change, change->record);
    if (answer != TARN_OK) {
        memcpy(text, tarn_cx_error(cx), sizeof text);
        if (tn_change_drop(cx, store, change) != TARN_OK)
            tn_cx_forget(cx); /* if it is there after all, nothing has moved: it can be settled */
        TN_FAIL(answer, "%s", text);
    }
    TN_TRY(tn_change_rename_settle(cx, store, arena, change, &completed));
    if (!completed && change->failure != TARN_OK)
        TN_FAIL(change->failure, "%.*s", TN_STR_ARG(change->note));
    if (!completed)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: %.*s", TN_STR_ARG(change->directory),
                TN_STR_ARG(change->note));
    if (put_times(cx, store, change, before, before_count, arena) != TARN_OK)
        tn_cx_forget(cx);
done:
    return rc;
}
