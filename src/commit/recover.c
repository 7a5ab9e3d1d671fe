/* What crashed runs left: changes are settled, staging is swept, expired undo goes.
 * I1: all changes are settled before anything is swept; a change that cannot be settled ends the
 *     recovery, so that its staging stays; while old files cannot be removed nothing is swept. */
#include "commit/commit_dir.h"
#include "commit/work.h"
#include "table/dir.h"

int tn_work_records(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str folder, tn_str **paths,
                    size_t *count)
{
    tn_entry *entries = NULL;
    size_t entry_count = 0, n = 0;
    tn_str *found;
    int rc = tn_store_list(cx, store, folder, arena, &entries, &entry_count);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    TN_TRY(rc);
    found = tn_arena_array(cx, arena, entry_count, sizeof *found);
    if (found == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < entry_count; i++)
        if (tn_str_ends(entries[i].name, TN_STR(".json")))
            TN_TRY(tn_path_join(cx, arena, folder, entries[i].name, &found[n++]));
    *paths = found;
    *count = n;
done:
    return rc;
}

/* The path of a record may have been made when the root lay elsewhere. */
int tn_work_check_place(tarn_cx *cx, tn_str root, tn_str work, const tn_change *change)
{
    tn_str directory = change->directory;

    if ((tn_str_equal(directory, root) || root.len == 1 ||
         (tn_str_starts(directory, root) && directory.ptr[root.len] == '/')) &&
        tn_work_owns(root, work, change->staging))
        return TARN_OK;
    return tn_fail(
        cx, TARN_E_CONFLICT,
        "%.*s: the record of a change of %.*s, which is not below %.*s: move the directory and "
        "its work directory back to where they were, run again, and move them then",
        TN_STR_ARG(change->record), TN_STR_ARG(directory), TN_STR_ARG(root));
}

/* *retained: old files could not be removed (an immutable one, say). The directory itself is right,
 * so merging may go on; the record stays, and each run tries again. */
static int settle_all(tarn_cx *cx, const tn_work *work, tn_arena *arena, bool *retained,
                      tn_recovery *out)
{
    tn_str *records;
    size_t count;
    int rc;

    TN_TRY(tn_work_records(cx, work->store, arena, work->changes, &records, &count));
    for (size_t i = 0; i < count; i++) {
        tn_change change;
        bool completed;

        TN_TRY(tn_change_record_load(cx, work->store, records[i], arena, &change));
        TN_TRY(tn_work_check_place(cx, work->root, work->path, &change));
        rc = tn_change_settle(cx, work->store, arena, &change, work->undo, &completed);
        if (change.state == TN_CHANGE_DONE && (rc == TARN_E_IO || rc == TARN_E_CONFLICT)) {
            tn_cx_forget(cx);
            *retained = true;
            rc = TARN_OK;
            continue;
        }
        if (rc != TARN_OK)
            TN_TRY(tn_fail_within(cx, rc, "%.*s: an unfinished change cannot be settled",
                                  TN_STR_ARG(change.directory)));
        out->completed += completed;
        out->undone += !completed;
    }
done:
    return rc;
}

static int forget_expired(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_recovery *out)
{
    tn_str *manifests;
    size_t count;
    int rc;

    TN_TRY(tn_work_records(cx, work->store, arena, work->undo, &manifests, &count));
    for (size_t i = 0; i < count; i++) {
        tn_change change;

        rc = tn_change_record_load(cx, work->store, manifests[i], arena, &change);
        if (rc == TARN_E_CORRUPT) { /* it is a matter for undo, which names it */
            tn_cx_forget(cx);
            rc = TARN_OK;
            continue;
        }
        TN_TRY(rc);
        if (tn_work_check_place(cx, work->root, work->path, &change) != TARN_OK) {
            tn_cx_forget(cx); /* those files belong to another root now */
            continue;
        }
        if (change.keep_until_ms > tn_cx_now_ms(cx))
            continue;
        TN_TRY(tn_change_forget(cx, work->store, arena, &change));
        out->removed++;
    }
    tn_change_remove_empty(cx, work->store, work->undo);
done:
    return rc;
}

int tn_work_recover(tarn_cx *cx, const tn_work *work, tn_str own_id, tn_recovery *out)
{
    tn_arena arena = {0};
    tn_recovery done_so_far = {0};
    bool retained = false;
    int rc;

    TN_TRY(settle_all(cx, work, &arena, &retained, &done_so_far));
    if (!retained) /* I1 */
        TN_TRY(tn_work_sweep_run(cx, work, &arena, own_id, &done_so_far.removed));
    TN_TRY(forget_expired(cx, work, &arena, &done_so_far));
    TN_TRY(tn_work_sweep_halves(cx, work, &arena));
    if (!retained)
        TN_TRY(tn_work_sweep_stray(cx, work, &arena, own_id, &done_so_far.removed));
    out->completed += done_so_far.completed;
    out->undone += done_so_far.undone;
    out->removed += done_so_far.removed;
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_dir_recover_except(tarn_cx *cx, tn_store *store, tn_str root, tn_str own_id,
                          tn_recovery *out)
{
    tn_arena arena = {0};
    tn_recovery recovery = {0};
    tn_str paths[2];
    tn_work work;
    bool found;
    tn_stat stat;
    int rc;

    TN_TRY(tn_dir_work_names(cx, &arena, root, &paths[0], &paths[1]));
    for (int i = 0; i < 2; i++) {
        TN_TRY(tn_change_find(cx, store, paths[i], &found, &stat));
        if (!found)
            continue;
        TN_TRY(tn_work_at(cx, store, &arena, root, paths[i], &work));
        TN_TRY(tn_work_recover(cx, &work, own_id, &recovery));
    }
    *out = recovery;
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_dir_recover(tarn_cx *cx, tn_store *store, tn_str root, tn_recovery *out)
{
    return tn_dir_recover_except(cx, store, root, (tn_str){"", 0}, out);
}
