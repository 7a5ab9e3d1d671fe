/* The first two files of an instant: requested, inflight.
 * G1: an instant is begun once per open, and inflight follows requested. */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

/* A replacement says so in its requested file; Hudi names the operation there only when partitions
 * are deleted. */
static int print_requested(tarn_cx *cx, const tn_hudi_commit *commit, tn_buf *out)
{
    tn_str operation = {0};

    if (commit->action != TN_ACTION_REPLACE)
        return TARN_OK;
    if (commit->operation == TN_OP_DELETE_PARTITION)
        operation = tn_str_of(tn_operation_name(commit->operation));
    return tn_requested_replace_print(cx, operation, out);
}

/* The markers' directory is there before the inflight file: an inflight instant that lacks it is
 * not of tarn. */
static int make_markers(tarn_cx *cx, tn_hudi_commit *commit)
{
    tn_arena arena = {0};
    tn_str path;
    int rc;

    TN_TRY(tn_path_join(cx, &arena, TN_STR(".temp"), commit->instant, &path));
    TN_TRY(tn_hudi_commit_folder(cx, commit->store, commit->hoodie, path));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_commit_begin(tarn_cx *cx, tn_hudi_commit *commit, enum tn_action action,
                         enum tn_operation operation, tn_str *instant)
{
    tn_buf bytes = {0};
    tn_str name;
    int rc;

    assert(commit->state == TN_HUDI_OPEN);
    assert(action == TN_ACTION_COMMIT || action == TN_ACTION_REPLACE);
    /* What the write was planned by: the next step may load the timeline anew. */
    commit->begun = commit->timeline;
    TN_TRY(tn_hudi_metadata_drop(cx, commit));
    TN_TRY(tn_hudi_commit_time(cx, commit, &commit->instant));
    commit->action = action;
    commit->operation = operation;
    commit->word = action == TN_ACTION_REPLACE ? TN_STR("replacecommit") : TN_STR("commit");
    TN_TRY(print_requested(cx, commit, &bytes));
    TN_TRY(tn_instant_print(cx, &commit->arena, commit->config.layout, commit->instant,
                            commit->word, TN_STATE_REQUESTED, (tn_str){0}, &name));
    /* From here on something may be there, whatever the calls say. */
    commit->state = TN_HUDI_BEGUN;
    if (commit->options.lazy)
        TN_TRY(tn_hudi_heart_beat(cx, commit, commit->instant));
    TN_TRY(tn_hudi_commit_put(cx, commit, name, tn_buf_view(&bytes)));
    TN_TRY(make_markers(cx, commit));
    *instant = commit->instant;
done:
    tn_buf_clear(&bytes);
    return rc;
}

int tn_hudi_commit_inflight(tarn_cx *cx, tn_hudi_commit *commit, const tn_write_stat *profile,
                            size_t count)
{
    tn_commit_metadata metadata = {.operation = tn_str_of(tn_operation_name(commit->operation))};
    tn_write_stat *stats = NULL;
    tn_buf bytes = {0};
    tn_str name;
    int rc;

    assert(commit->state == TN_HUDI_BEGUN);
    if (count != 0) {
        stats = tn_arena_array(cx, &commit->arena, count, sizeof *stats);
        if (stats == NULL)
            return TARN_E_NOMEM;
        memcpy(stats, profile, count * sizeof *stats);
    }
    metadata.stats = stats;
    metadata.stat_count = count;
    TN_TRY(tn_commit_metadata_print(cx, &metadata, commit->config.layout, &bytes));
    TN_TRY(tn_instant_print(cx, &commit->arena, commit->config.layout, commit->instant,
                            commit->word, TN_STATE_INFLIGHT, (tn_str){0}, &name));
    TN_TRY(tn_hudi_heart_again(cx, commit));
    TN_TRY(tn_hudi_commit_put(cx, commit, name, tn_buf_view(&bytes)));
done:
    tn_buf_clear(&bytes);
    return rc;
}
