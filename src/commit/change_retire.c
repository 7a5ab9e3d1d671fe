/* What becomes of the old files of a change that is DONE, and the end of its record.
 * Kept files lie in S/old until their time is over; a manifest (a record, DONE, in the undo folder)
 * says where. */
#include <assert.h>

#include "commit/change.h"

/* The old directory's leaving files to S/old. */
static int keep_from_exchange(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_str fresh, old, from, name;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_path_join(cx, arena, change->staging, TN_STR("old"), &old));
    TN_TRY(tn_store_make_dirs(cx, store, old));
    TN_TRY(tn_change_exchange_path(cx, arena, change, &fresh));
    for (size_t i = 0; i < change->leaving_count; i++) {
        tn_change_file *file = &change->leaving[i];

        TN_TRY(tn_arena_print(cx, arena, &name, "%zu.old", i));
        TN_TRY(tn_path_join(cx, arena, old, name, &file->path));
        TN_TRY(tn_path_join(cx, arena, fresh, file->name, &from));
        TN_TRY(tn_change_find(cx, store, from, &found, &stat));
        if (found && (stat.inode == file->inode || file->inode == 0))
            TN_TRY(tn_store_rename(cx, store, from, file->path, false));
    }
    TN_TRY(tn_store_sync_dir(cx, store, old));
done:
    return rc;
}

static int remove_from_exchange(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_str fresh, path;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_exchange_path(cx, arena, change, &fresh));
    TN_TRY(tn_change_find(cx, store, fresh, &found, &stat));
    if (!found)
        goto done;
    if (stat.inode == change->new_inode)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: is the new directory, not the old one; left alone",
                TN_STR_ARG(fresh));
    for (size_t i = 0; i < change->leaving_count; i++) {
        const tn_change_file *file = &change->leaving[i];

        TN_TRY(tn_path_join(cx, arena, fresh, file->name, &path));
        TN_TRY(tn_change_find(cx, store, path, &found, &stat));
        if (found && (stat.inode == file->inode || file->inode == 0))
            TN_TRY(tn_change_remove(cx, store, path));
    }
done:
    return rc;
}

static int remove_renamed(tarn_cx *cx, tn_store *store, const tn_change *change)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < change->leaving_count; i++)
        if (change->leaving[i].path.len != 0)
            TN_TRY(tn_change_remove(cx, store, change->leaving[i].path));
done:
    return rc;
}

/* The staged names of what is in the directory now. */
static int remove_staged(tarn_cx *cx, tn_store *store, const tn_change *change)
{
    tn_stat stat;
    bool found;
    int rc = TARN_OK;

    for (size_t i = 0; i < change->entering_count; i++) {
        const tn_change_file *file = &change->entering[i];

        TN_TRY(tn_change_find(cx, store, file->path, &found, &stat));
        if (found && stat.inode == file->inode)
            TN_TRY(tn_change_remove(cx, store, file->path));
    }
done:
    return rc;
}

static void remove_empty(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str staging)
{
    tn_str old;

    if (tn_path_join(cx, arena, staging, TN_STR("old"), &old) == TARN_OK)
        tn_change_remove_empty(cx, store, old);
    tn_change_remove_staging(cx, store, staging);
    tn_cx_forget(cx);
}

/* Undo has emptied the staging of the change that it takes back, too, and removes its manifest. */
static void remove_empty_staging(tarn_cx *cx, tn_store *store, tn_arena *arena,
                                 const tn_change *change)
{
    tn_str end = TN_STR(TN_UNDO_STAGING_END), kept = change->staging;

    if (change->undo && tn_str_ends(kept, end)) {
        kept.len -= end.len;
        remove_empty(cx, store, arena, kept);
    }
    remove_empty(cx, store, arena, change->staging);
}

/* The manifest is the record under another name: the inodes in it are those on disk. */
static int put_manifest(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change,
                        tn_str undo)
{
    tn_str path;
    int rc;

    TN_TRY(tn_store_make_dirs(cx, store, undo));
    TN_TRY(tn_path_join(cx, arena, undo, tn_path_name(change->record), &path));
    TN_TRY(tn_change_record_put(cx, store, change, path));
    TN_TRY(tn_store_sync_dir(cx, store, tn_path_parent(undo)));
done:
    return rc;
}

/* A change that undoes another bears its name. */
static int remove_manifest(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change,
                           tn_str undo)
{
    tn_str path;
    int rc;

    TN_TRY(tn_path_join(cx, arena, undo, tn_path_name(change->record), &path));
    TN_TRY(tn_change_remove(cx, store, path));
done:
    return rc;
}

int tn_change_retire(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str undo)
{
    bool keep = change->keep_until_ms != 0;
    int rc = TARN_OK;

    assert(change->state == TN_CHANGE_DONE); /* I2 */
    if (change->swap == TN_SWAP_EXCHANGE && keep)
        TN_TRY(keep_from_exchange(cx, store, arena, change));
    if (keep)
        TN_TRY(put_manifest(cx, store, arena, change, undo));
    if (change->swap == TN_SWAP_EXCHANGE && !keep)
        TN_TRY(remove_from_exchange(cx, store, arena, change));
    if (change->swap == TN_SWAP_JOURNAL && !keep)
        TN_TRY(remove_renamed(cx, store, change));
    if (change->swap == TN_SWAP_EXCHANGE)
        TN_TRY(tn_change_exchange_empty(cx, store, arena, change));
    TN_TRY(remove_staged(cx, store, change));
    if (change->undo)
        TN_TRY(remove_manifest(cx, store, arena, change, undo));
    /* The record goes last: what it names is found again after a crash, empty directories too. */
    remove_empty_staging(cx, store, arena, change);
    TN_TRY(tn_change_drop(cx, store, change));
done:
    return rc;
}

int tn_change_forget(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change)
{
    int rc;

    TN_TRY(remove_renamed(cx, store, change));
    remove_empty_staging(cx, store, arena, change);
    TN_TRY(tn_change_drop(cx, store, change));
done:
    return rc;
}
