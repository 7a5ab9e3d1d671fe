/* Merge: plan, tasks and commit of a plain directory in one call.
 * I1: what a crashed run left is settled before the directory is looked at for the plan.
 * I2: a dry run writes nothing, not even a probe. */
#include <assert.h>

#include "op/merge_op.h"

int tn_merge_settle(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                    tn_recovery *recovery)
{
    tn_merge_plan nothing = {.id = TN_STR("0"), .root = root};
    tn_dir_commit *commit = NULL;
    tn_str works[2];
    bool exists = false;
    int rc = TARN_OK;

    TN_TRY(tn_dir_work_names(cx, arena, root, &works[0], &works[1]));
    for (int i = 0; i < 2 && !exists; i++) {
        TN_TRY(tn_store_exists(cx, store, works[i], &exists));
        nothing.work = works[i];
    }
    if (!exists)
        goto done;
    TN_TRY(tn_dir_commit_open(cx, store, &nothing, &commit));
    TN_TRY(tn_dir_commit_finish(cx, commit));
    tn_dir_commit_recovery(commit, recovery);
done:
    tn_dir_commit_close(commit);
    return rc;
}

int tn_merge_in(tarn_cx *cx, tn_store *store, tn_str root, const tarn_merge_options *options,
                tarn_merge_report **report)
{
    static const tarn_merge_options plain = {0};
    tn_arena arena = {0};
    tn_merge_options plan_options;
    tn_dir_options dir_options;
    tn_dir dir = {0};
    tn_merge_plan plan;
    tn_merge_log *log = NULL;
    tn_recovery recovery = {0};
    int64_t started_ms = tn_cx_now_ms(cx);
    int rc = TARN_OK;

    assert(report != NULL);
    if (options == NULL)
        options = &plain;
    TN_TRY(tn_merge_options_of(cx, options, &arena, &plan_options));
    TN_TRY(tn_merge_dir_options(cx, options, &plan_options, &arena, &dir_options));
    if (!options->dry_run)
        TN_TRY(tn_merge_settle(cx, store, root, &arena, &recovery));
    TN_TRY(tn_dir_load(cx, store, root, &dir_options, &dir));
    TN_TRY(tn_plan_merge(cx, &dir, &plan_options, &arena, &plan));
    TN_TRY(tn_merge_log_open(cx, &plan, &log));
    TN_TRY(tn_merge_log_recovery(cx, log, &recovery));
    for (size_t i = 0; i < dir.partition_count; i++)
        log->report.directories_failed += dir.partitions[i].problem.len != 0;
    if (!options->dry_run && plan.partition_count != 0)
        TN_TRY(tn_merge_run(cx, store, &plan, options, log));
    TN_TRY(tn_merge_log_end(cx, log, &plan, options->dry_run, started_ms));
    *report = &log->report;
    log = NULL;
done:
    if (log != NULL)
        tarn_merge_report_close(&log->report);
    tn_recovery_clear(&recovery);
    tn_dir_clear(&dir);
    tn_arena_clear(&arena);
    return rc;
}

int tarn_merge(tarn_cx *cx, const char *path, const tarn_merge_options *options,
               tarn_merge_report **report)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str root;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_merge_in(cx, store, root, options, report));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

/* The reports of an undo as those of a merge: what was merged is before, the old files are after.
 */
static int log_undo(tarn_cx *cx, tn_merge_log *log, tn_partition_report *told, tn_str *paths,
                    size_t count)
{
    int rc = TARN_OK;

    log->report.partitions = tn_arena_array(cx, &log->arena, count, sizeof *log->report.partitions);
    if (log->report.partitions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        tarn_merge_partition *made = &log->report.partitions[i];
        tn_str path = paths[i], text = told[i].text.ptr != NULL ? told[i].text : TN_STR("");

        TN_TRY(tn_arena_keep(cx, &log->arena, &path));
        TN_TRY(tn_arena_keep(cx, &log->arena, &text));
        *made = (tarn_merge_partition){.path = path.ptr,
                                       .path_len = path.len,
                                       .outcome = (enum tarn_merge_outcome)told[i].outcome,
                                       .text = text.ptr,
                                       .files_before = told[i].files_before,
                                       .files_after = told[i].files_after,
                                       .bytes_before = told[i].bytes_before,
                                       .bytes_after = told[i].bytes_after,
                                       .rows = told[i].rows,
                                       .newcomers = told[i].newcomers};
        log->report.partition_count++;
        if (told[i].outcome == TN_PARTITION_DONE)
            log->report.done++;
        else if (told[i].outcome == TN_PARTITION_SKIPPED)
            log->report.skipped++;
        else
            log->report.failed++;
    }
done:
    return rc;
}

int tarn_merge_undo(tarn_cx *cx, const char *path, tarn_merge_report **report)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_merge_plan nothing = {0};
    tn_partition_report *told;
    tn_merge_log *log = NULL;
    tn_recovery recovery = {0};
    int64_t started_ms = tn_cx_now_ms(cx);
    tn_str *paths;
    size_t count;
    int rc = TARN_OK;

    assert(report != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &nothing.root));
    TN_TRY(tn_dir_undo(cx, store, nothing.root, &arena, &told, &paths, &count, &recovery));
    TN_TRY(tn_merge_log_open(cx, &nothing, &log));
    TN_TRY(tn_merge_log_recovery(cx, log, &recovery));
    TN_TRY(log_undo(cx, log, told, paths, count));
    TN_TRY(tn_merge_log_end(cx, log, &nothing, false, started_ms));
    *report = &log->report;
    log = NULL;
done:
    if (log != NULL)
        tarn_merge_report_close(&log->report);
    tn_recovery_clear(&recovery);
    tn_arena_clear(&arena);
    tn_store_close(store);
    return rc;
}
