/* The merge after an append: by the rule of `merge`, in the partitions that were written to.
 * I1: the rows are there already: what fails here is a note, never a failure of the write. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "op/merge_op.h"
#include "op/write_op.h"
#include "plan/plan_scan.h"

#define LISTED_ALONE_MAX 32

/* Partitions of both are in the order of their paths. */
static void mark_touched(const tn_dir *dir, const tarn_write_report *report, uint8_t *keep)
{
    size_t at = 0;

    for (size_t i = 0; i < dir->partition_count; i++) {
        int order = -1;

        while (at < report->partition_count &&
               (order = tn_str_compare(
                    (tn_str){report->partitions[at].path, report->partitions[at].path_len},
                    dir->partitions[i].path)) < 0)
            at++;
        keep[i] = at < report->partition_count && order == 0;
    }
}

/* A few partitions are listed alone; many are found in a listing of all. */
static int choose_listing(tarn_cx *cx, const tarn_write_report *report, tn_arena *arena,
                          tn_dir_options *listing)
{
    tn_str *paths;

    if (report->partition_count > LISTED_ALONE_MAX || report->partitions[0].path_len == 0)
        return TARN_OK;
    paths = tn_arena_array(cx, arena, report->partition_count, sizeof *paths);
    if (paths == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < report->partition_count; i++)
        paths[i] = (tn_str){report->partitions[i].path, report->partitions[i].path_len};
    listing->partitions = paths;
    listing->partition_count = report->partition_count;
    return TARN_OK;
}

static int load_touched(tarn_cx *cx, tn_write *w, tn_dir *out)
{
    tn_dir_options listing = {.no_footers = true, .for_write = true, .probe = true};
    tn_dir dir = {0};
    uint8_t *keep = NULL;
    int64_t *rows = NULL;
    int rc = TARN_OK;

    TN_TRY(choose_listing(cx, &w->log->report, &w->arena, &listing));
    TN_TRY(tn_dir_load(cx, w->store, w->root, &listing, &dir));
    keep = tn_calloc(cx, dir.partition_count, 1);
    rows = tn_calloc(cx, dir.partition_count, sizeof *rows);
    if (keep == NULL || rows == NULL)
        TN_TRY(TARN_E_NOMEM);
    mark_touched(&dir, &w->log->report, keep);
    tn_plan_scan_drop(&dir, keep, rows);
    TN_TRY(tn_dir_load_footers(cx, w->store, &dir));
    *out = dir;
    dir = (tn_dir){0};
done:
    free(keep);
    free(rows);
    tn_dir_clear(&dir);
    return rc;
}

static int merge(tarn_cx *cx, tn_write *w)
{
    const tarn_merge_options options = {.target_bytes = w->plan.target_bytes};
    tn_merge_options plan_options;
    tn_merge_plan plan;
    tn_merge_log *log = NULL;
    tn_arena arena = {0};
    tn_dir dir = {0};
    int64_t started_ms = tn_cx_now_ms(cx);
    int rc = TARN_OK;

    TN_TRY(tn_merge_options_of(cx, &options, &arena, &plan_options));
    TN_TRY(load_touched(cx, w, &dir));
    TN_TRY(tn_plan_merge(cx, &dir, &plan_options, &arena, &plan));
    if (plan.partition_count == 0)
        goto done;
    TN_TRY(tn_merge_log_open(cx, &plan, &log));
    TN_TRY(tn_merge_run(cx, w->store, &plan, &options, log));
    TN_TRY(tn_merge_log_end(cx, log, &plan, false, started_ms));
    w->log->merged = &log->report;
    w->log->report.merged = &log->report;
    log = NULL;
done:
    if (log != NULL)
        tarn_merge_report_close(&log->report);
    tn_dir_clear(&dir);
    tn_arena_clear(&arena);
    return rc;
}

static int note_failed(tarn_cx *cx, tn_write *w)
{
    const tarn_merge_report *merged = w->log->merged;
    tn_str note;
    int rc = TARN_OK;

    for (size_t i = 0; merged != NULL && i < merged->partition_count; i++) {
        const tarn_merge_partition *partition = &merged->partitions[i];

        if (partition->outcome == TARN_MERGE_DONE)
            continue;
        TN_TRY(tn_arena_print(cx, &w->arena, &note, "not merged after it: %.*s: %s",
                              (int)partition->path_len, partition->path, partition->text));
        TN_TRY(tn_write_log_note(cx, w->log, note));
    }
done:
    return rc;
}

int tn_write_merge(tarn_cx *cx, tn_write *w)
{
    tn_str note;
    int rc = merge(cx, w);

    if (rc != TARN_OK) {
        TN_TRY(tn_arena_print(cx, &w->arena, &note,
                              "the rows are written, but were not merged with what was there: %s",
                              tarn_cx_error(cx)));
        tn_cx_forget(cx);
        TN_TRY(tn_write_log_note(cx, w->log, note));
    }
    TN_TRY(note_failed(cx, w));
done:
    return rc;
}
