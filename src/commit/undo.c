/* Takes the newest kept run back: each of its changes is run the other way round.
 * I1: a directory whose merged files are not as the merge left them is not touched.
 * I2: neither is one with a change that recovery could not settle: its record has the name that the
 *     undo of it would take. */
#include "commit/commit_dir.h"
#include "commit/work.h"
#include "table/dir.h"

typedef struct kept_run {
    tn_str work; /* path of the work directory it is in */
    tn_change *changes;
    size_t count;
} kept_run;

static bool is_newer(const tn_change *a, const tn_change *b)
{
    return a->made_ms != b->made_ms ? a->made_ms > b->made_ms
                                    : tn_str_compare(a->run_id, b->run_id) > 0;
}

/* The newest run among the manifests of one folder, if it is newer than *newest; ties go to the
 * larger id. */
static int find_newest(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str work, kept_run *newest)
{
    const tn_change *best = newest->count != 0 ? &newest->changes[0] : NULL;
    tn_change *all, *chosen;
    tn_str folder, *paths;
    size_t count, n = 0;
    int rc;

    TN_TRY(tn_path_join(cx, arena, work, TN_STR("undo"), &folder));
    TN_TRY(tn_work_records(cx, store, arena, folder, &paths, &count));
    all = tn_arena_array(cx, arena, count, sizeof *all);
    chosen = tn_arena_array(cx, arena, count, sizeof *chosen);
    if (all == NULL || chosen == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_change_record_load(cx, store, paths[i], arena, &all[i]));
        if (best == NULL || is_newer(&all[i], best))
            best = &all[i];
    }
    for (size_t i = 0; i < count; i++)
        if (tn_str_equal(all[i].run_id, best->run_id))
            chosen[n++] = all[i];
    if (n != 0)
        *newest = (kept_run){work, chosen, n};
done:
    return rc;
}

/* The old files as they lie in staging now. A side file that was gone before the merge is gone. */
static int fill_entering(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *kept,
                         tn_change *change)
{
    size_t n = 0;
    int rc = TARN_OK;

    change->entering = tn_arena_array(cx, arena, kept->leaving_count, sizeof *change->entering);
    if (change->entering == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < kept->leaving_count; i++) {
        tn_change_file file = kept->leaving[i];
        tn_stat stat;
        bool found;

        TN_TRY(tn_change_find(cx, store, file.path, &found, &stat));
        if (!found && file.side)
            continue;
        if (!found)
            TN_FAIL(TARN_E_NOTFOUND, "%.*s: the old file kept as %.*s is gone; it cannot be undone",
                    TN_STR_ARG(file.name), TN_STR_ARG(file.path));
        file.inode = stat.inode;
        file.size_bytes = stat.size_bytes;
        file.mtime_ns = stat.mtime_ns;
        file.side = false;
        change->entering[n++] = file;
    }
    change->entering_count = n;
done:
    return rc;
}

static int turn_round(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_work *work,
                      const tn_change *kept, tn_change *change)
{
    int rc;

    *change = (tn_change){
        .state = TN_CHANGE_BEGUN,
        .swap = kept->swap,
        .run_id = kept->run_id,
        .made_ms = kept->made_ms,
        .times_now = kept->times_now,
        .undo = true,
        .directory = kept->directory,
        .leaving_count = kept->entering_count,
    };
    TN_TRY(tn_arena_print(cx, arena, &change->staging, "%.*s" TN_UNDO_STAGING_END,
                          TN_STR_ARG(kept->staging)));
    TN_TRY(tn_path_join(cx, arena, work->changes, tn_path_name(kept->record), &change->record));
    change->leaving = tn_arena_array(cx, arena, kept->entering_count, sizeof *change->leaving);
    if (change->leaving == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < kept->entering_count; i++) {
        change->leaving[i] = kept->entering[i];
        change->leaving[i].path = (tn_str){"", 0};
    }
    TN_TRY(fill_entering(cx, store, arena, kept, change));
    TN_TRY(tn_store_make_dirs(cx, store, change->staging));
    TN_TRY(tn_work_sweep_new(cx, store, arena, change->staging));
    TN_TRY(tn_store_sync_dir(cx, store, tn_path_parent(change->staging)));
done:
    return rc;
}

static int undo_one(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_work *work,
                    const tn_change *kept, tn_partition_report *report)
{
    tn_partition_report told = {.files_before = kept->entering_count,
                                .files_after = kept->leaving_count};
    tn_change change = {0};
    int rc = turn_round(cx, store, arena, work, kept, &change);

    if (rc == TARN_OK)
        rc = tn_change_run(cx, store, arena, &change, work->undo);
    if (rc == TARN_OK)
        rc = tn_change_forget(cx, store, arena, kept);
    if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
        goto done;
    for (size_t i = 0; i < kept->entering_count; i++)
        told.bytes_before += kept->entering[i].size_bytes;
    for (size_t i = 0; i < kept->leaving_count; i++)
        told.bytes_after += kept->leaving[i].size_bytes;
    told.newcomers = change.newcomers;
    told.text = change.note;
    told.outcome = rc == TARN_OK           ? TN_PARTITION_DONE
                   : rc == TARN_E_CONFLICT ? TN_PARTITION_CONFLICT
                                           : TN_PARTITION_FAILED;
    if (rc != TARN_OK) {
        told.text = tn_str_of(tarn_cx_error(cx));
        TN_TRY(tn_arena_keep(cx, arena, &told.text));
        tn_cx_forget(cx);
        if (change.staging.len != 0)
            tn_change_remove_empty(cx, store, change.staging);
    }
    *report = told;
    rc = TARN_OK;
done:
    return rc;
}

static tn_str below_root(tn_str directory, tn_str root)
{
    return tn_str_equal(directory, root) ? (tn_str){"", 0} : tn_str_from(directory, root.len + 1);
}

/* Where a work directory already is; there is nothing to undo otherwise. */
static int open_work(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, tn_work *work)
{
    tn_str places[2];
    tn_stat stat;
    bool found = false;
    int rc;

    TN_TRY(tn_dir_work_names(cx, arena, root, &places[0], &places[1]));
    for (int i = 0; i < 2 && !found; i++) {
        TN_TRY(tn_change_find(cx, store, places[i], &found, &stat));
        if (found)
            TN_TRY(tn_work_open(cx, store, arena, root, places[i], work));
    }
    if (!found)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: nothing to undo: no run kept its old files (merge --keep-old)",
                TN_STR_ARG(root));
done:
    return rc;
}

static int undo_run(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                    const tn_recovery *recovery, tn_partition_report **reports, tn_str **paths,
                    size_t *count)
{
    const tn_recovery_note *waits;
    tn_partition_report *told;
    tn_str places[2], *names;
    kept_run run = {0};
    tn_work work = {0};
    int rc;

    TN_TRY(tn_dir_work_names(cx, arena, root, &places[0], &places[1]));
    for (int i = 0; i < 2; i++)
        TN_TRY(find_newest(cx, store, arena, places[i], &run));
    if (run.count == 0)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: nothing to undo: no run kept its old files, or their time is over (merge "
                "--keep-old)",
                TN_STR_ARG(root));
    TN_TRY(tn_work_at(cx, store, arena, root, run.work, &work));
    TN_TRY(tn_store_make_dirs(cx, store, work.changes));
    told = tn_arena_array(cx, arena, run.count, sizeof *told);
    names = tn_arena_array(cx, arena, run.count, sizeof *names);
    if (told == NULL || names == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < run.count; i++) {
        TN_TRY(tn_work_check_place(cx, root, run.work, &run.changes[i]));
        names[i] = below_root(run.changes[i].directory, root);
        waits = tn_recovery_open(recovery, names[i]);
        if (waits != NULL) { /* I2 */
            told[i] = (tn_partition_report){.outcome = TN_PARTITION_SKIPPED, .text = waits->text};
            TN_TRY(tn_arena_keep(cx, arena, &told[i].text));
            continue;
        }
        TN_TRY(undo_one(cx, store, arena, &work, &run.changes[i], &told[i]));
    }
    *reports = told;
    *paths = names;
    *count = run.count;
done:
    return rc;
}

int tn_dir_undo(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                tn_partition_report **reports, tn_str **paths, size_t *count, tn_recovery *recovery)
{
    tn_work work = {0};
    tn_recovery made = {0};
    int rc;

    TN_TRY(open_work(cx, store, arena, root, &work));
    TN_TRY(tn_dir_recover(cx, store, root, &made));
    rc = undo_run(cx, store, root, arena, &made, reports, paths, count);
    if (rc == TARN_E_NOTFOUND) { /* all was undone, by a run that was killed before its end */
        char text[TN_ERROR_TEXT_MAX];

        memcpy(text, tarn_cx_error(cx), sizeof text);
        tn_work_finish(cx, &work);
        TN_FAIL(rc, "%s", text);
    }
    TN_TRY(rc);
    tn_work_finish(cx, &work);
    *recovery = made;
    made = (tn_recovery){0};
done:
    tn_recovery_clear(&made);
    tn_work_close(&work);
    return rc;
}
