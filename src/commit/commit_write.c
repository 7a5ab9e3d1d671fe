/* A write's side of the commit: begin, publish, end.
 * W1: the lock is held from open to close.
 * W2: before the record is on disk, closing leaves the directory as it was, and no staging; from
 *     then on nothing of the run is removed but by tn_write_run.
 * W3: when it is not known whether the record reached the disk, nothing is removed: the next run
 *     finds out. */
#include "commit/commit_write.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "commit/work.h"
#include "commit/write_run.h"

struct tn_write_commit {
    tn_store *store;
    const tn_write_plan *plan;
    tn_arena arena;
    tn_work work;
    tn_recovery recovery;
    tn_stat root; /* as it was at open */
    bool root_found;
    bool staged;   /* staging and its list may exist */
    bool recorded; /* W2, W3: the record is on disk, or may be */
    bool finished;
    tn_write_notes notes;
};

int tn_write_commit_staging(tarn_cx *cx, tn_arena *arena, tn_str work, tn_str id, tn_str *out)
{
    return tn_arena_print(cx, arena, out, "%.*s/%.*s/" TN_WRITE_STAGING_NAME, TN_STR_ARG(work),
                          TN_STR_ARG(id));
}

static int check_staging(tarn_cx *cx, tn_write_commit *commit)
{
    const tn_write_plan *plan = commit->plan;
    tn_str want;
    int rc;

    if (!tn_write_record_goes_down(plan->id) || tn_str_find(plan->id, '/') != plan->id.len)
        TN_FAIL(TARN_E_INVALID, "\"%.*s\": no id of a run", TN_STR_ARG(plan->id));
    TN_TRY(tn_write_commit_staging(cx, &commit->arena, plan->work, plan->id, &want));
    if (!tn_str_equal(want, plan->staging))
        TN_FAIL(TARN_E_INVALID, "%.*s: the staging of this run is %.*s", TN_STR_ARG(plan->staging),
                TN_STR_ARG(want));
done:
    return rc;
}

/* The plan was made without the lock. */
static int check_root(tarn_cx *cx, tn_write_commit *commit)
{
    const tn_write_plan *plan = commit->plan;
    int rc;

    TN_TRY(tn_change_find(cx, commit->store, plan->root, &commit->root_found, &commit->root));
    if (commit->root_found && plan->root_missing)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: %s; nothing was written: run again", TN_STR_ARG(plan->root),
                commit->recovery.completed != 0 ? "an unfinished write has just made it"
                                                : "it was made since the plan");
    if (!commit->root_found && !plan->root_missing)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: it was removed since the plan; nothing was touched: run again",
                TN_STR_ARG(plan->root));
    if (commit->root_found && (commit->root.kind != TN_ENTRY_DIR || commit->root.link))
        TN_FAIL(TARN_E_INVALID, "%.*s: is not a directory", TN_STR_ARG(plan->root));
done:
    return rc;
}

/* A missing root is made, what is above it is not: a crash would leave it empty, in view. */
static int check_parent(tarn_cx *cx, tn_store *store, const tn_write_plan *plan)
{
    tn_stat stat;
    bool found;
    int rc = TARN_OK;

    if (!plan->root_missing)
        goto done;
    TN_TRY(tn_change_find(cx, store, tn_path_parent(plan->root), &found, &stat));
    if (!found || stat.kind != TN_ENTRY_DIR)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: the directory above it does not exist; make it (mkdir -p) and run again",
                TN_STR_ARG(plan->root));
done:
    return rc;
}

static int make_staging(tarn_cx *cx, tn_write_commit *commit)
{
    tn_str staging = commit->plan->staging, run = tn_path_parent(staging);
    tn_stat stat;
    bool found;
    int rc;

    /* Another run's, that recovery could not end: it is not ours to use, nor to remove. */
    TN_TRY(tn_change_find(cx, commit->store, staging, &found, &stat));
    if (found)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: is there already, of another run with the id of this one; nothing was "
                "written: run again",
                TN_STR_ARG(staging));
    commit->staged = true;
    TN_TRY(tn_work_put_run(cx, &commit->work, &staging, 1));
    TN_TRY(tn_store_make_dirs(cx, commit->store, staging));
    TN_TRY(tn_store_sync_dir(cx, commit->store, run));
    TN_TRY(tn_store_sync_dir(cx, commit->store, commit->work.path));
done:
    return rc;
}

int tn_write_commit_open(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                         tn_write_commit **out)
{
    tn_write_commit *commit = tn_calloc(cx, 1, sizeof *commit);
    int rc;

    if (commit == NULL)
        return TARN_E_NOMEM;
    commit->store = store;
    commit->plan = plan;
    TN_TRY(check_staging(cx, commit));
    TN_TRY(check_parent(cx, store, plan));
    TN_TRY(tn_work_open(cx, store, &commit->arena, plan->root, plan->work, &commit->work));
    TN_TRY(tn_dir_recover(cx, store, plan->root, &commit->recovery));
    TN_TRY(check_root(cx, commit));
    TN_TRY(make_staging(cx, commit));
    *out = commit;
    commit = NULL;
done:
    tn_write_commit_close(cx, commit);
    return rc;
}

/* The root may not have changed under the run: staging is renamed into it by its path. */
static int check_root_again(tarn_cx *cx, tn_write_commit *commit)
{
    const tn_write_plan *plan = commit->plan;
    tn_stat now = {0};
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, commit->store, plan->root, &found, &now));
    if (found != commit->root_found ||
        (found && (now.inode != commit->root.inode || now.mount != commit->root.mount)))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: was %s by another program during the run; nothing was touched: run again",
                TN_STR_ARG(plan->root),
                !found                ? "removed"
                : !commit->root_found ? "made"
                                      : "replaced");
done:
    return rc;
}

static void count_done(const tn_write_record *record, const tn_write_file *files, size_t count,
                       tn_write_done *done)
{
    for (size_t i = 0; i < count; i++) {
        done->files++;
        done->bytes += files[i].bytes;
        done->rows += files[i].rows;
    }
    for (size_t i = 0; i < record->step_count; i++) {
        const tn_write_step *step = &record->steps[i];
        uint64_t data = 0;

        for (size_t k = 0; k < step->leaving_count; k++) {
            if (step->leaving[k].side)
                continue;
            data++;
            done->old_bytes += step->leaving[k].size_bytes;
        }
        done->old_files += data;
        done->partitions_removed += step->emptied && data != 0;
    }
}

static int count_partitions(tarn_cx *cx, tn_arena *arena, const tn_write_file *files, size_t count,
                            uint64_t *out)
{
    tn_str *paths = tn_arena_array(cx, arena, count, sizeof *paths);

    if (paths == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        paths[i] = files[i].partition;
    tn_str_sort(paths, count);
    for (size_t i = 0; i < count; i++)
        *out += i == 0 || !tn_str_equal(paths[i], paths[i - 1]);
    return TARN_OK;
}

/* Puts the record, the commit point. W3: a put that failed may have reached the disk. */
static int put_record(tarn_cx *cx, tn_write_commit *commit, const tn_write_record *record)
{
    char text[TN_ERROR_TEXT_MAX];
    int answer, rc;

    commit->recorded = true;
    answer = tn_write_record_put(cx, commit->store, record, true);
    if (answer == TARN_OK)
        return TARN_OK;
    memcpy(text, tarn_cx_error(cx), sizeof text);
    rc = answer; /* EXISTS: it is not ours to remove */
    if (answer != TARN_E_EXISTS)
        rc = tn_change_remove(cx, commit->store, record->record);
    if (rc == TARN_OK)
        rc = tn_store_sync_dir(cx, commit->store, tn_path_parent(record->record));
    if (rc != TARN_OK) {
        tn_cx_forget(cx);
        return tn_fail(cx, answer,
                       "%s; whether the write was recorded is not known: the next run on %.*s "
                       "publishes it or removes it",
                       text, TN_STR_ARG(record->root));
    }
    commit->recorded = false;
    return tn_fail(cx, answer, "%s", text);
}

/* From here on the answer is that the run is done; what is not, is told. */
static int run(tarn_cx *cx, tn_write_commit *commit, tn_write_record *record, tn_write_done *done)
{
    int rc = tn_write_run(cx, commit->store, &commit->arena, record, &commit->notes);

    if (rc == TARN_OK) {
        commit->recorded = false;
        return TARN_OK;
    }
    done->pending = true;
    done->problem = tn_str_of(tarn_cx_error(cx));
    if (tn_arena_keep(cx, &commit->arena, &done->problem) != TARN_OK)
        done->problem = TN_STR("out of memory");
    tn_cx_forget(cx);
    return TARN_OK;
}

int tn_write_commit_finish(tarn_cx *cx, tn_write_commit *commit, const tn_write_file *files,
                           size_t count, tn_write_done *out)
{
    const tn_write_plan *plan = commit->plan;
    tn_write_look look = {.store = commit->store,
                          .arena = &commit->arena,
                          .plan = plan,
                          .recovery = &commit->recovery,
                          .root_found = commit->root_found,
                          .mount = commit->root.mount};
    tn_write_record record = {
        .state = TN_CHANGE_BEGUN, .run_id = plan->id, .made_ms = tn_cx_now_ms(cx)};
    tn_write_done done = {0};
    int rc;

    assert(!commit->finished && commit->work.lock != NULL);
    TN_TRY(tn_cx_check(cx));
    TN_TRY(check_root_again(cx, commit));
    TN_TRY(tn_write_look_all(cx, &look, files, count, &record, &commit->notes));
    TN_TRY(tn_write_record_place(cx, &commit->arena, plan->root, plan->work, &record));
    TN_TRY(count_partitions(cx, &commit->arena, files, count, &done.partitions));
    count_done(&record, files, count, &done);
    if (record.step_count != 0) {
        TN_TRY(tn_write_build(cx, commit->store, &commit->arena, &record));
        TN_TRY(tn_cx_check(cx));
        TN_TRY(put_record(cx, commit, &record));
        TN_TRY(run(cx, commit, &record, &done));
    }
    commit->finished = true;
    done.notes = commit->notes.items;
    done.note_count = commit->notes.count;
    *out = done;
done:
    return rc;
}

void tn_write_commit_recovery(tn_write_commit *commit, tn_recovery *out)
{
    *out = commit->recovery;
    commit->recovery = (tn_recovery){0};
}

/* All of it is swept by the next run where it fails here. */
static void remove_staging(tarn_cx *cx, tn_write_commit *commit)
{
    tn_str staging = commit->plan->staging;

    if (tn_store_remove_tree(cx, commit->store, staging) != TARN_OK) {
        tn_cx_forget(cx);
        return;
    }
    tn_change_remove_empty(cx, commit->store, tn_path_parent(staging));
    if (tn_change_remove(cx, commit->store, commit->work.run) != TARN_OK)
        tn_cx_forget(cx);
}

void tn_write_commit_close(tarn_cx *cx, tn_write_commit *commit)
{
    char text[TN_ERROR_TEXT_MAX];
    int status = tarn_cx_status(cx);

    if (commit == NULL)
        return;
    memcpy(text, tarn_cx_error(cx), sizeof text); /* why finish failed */
    if (commit->work.lock != NULL && !commit->recorded) {
        if (commit->staged)
            remove_staging(cx, commit);
        tn_work_finish(cx, &commit->work);
    }
    tn_work_close(&commit->work);
    tn_recovery_clear(&commit->recovery);
    tn_arena_clear(&commit->arena);
    free(commit);
    if (status != TARN_OK)
        (void)tn_fail(cx, status, "%s", text);
}
