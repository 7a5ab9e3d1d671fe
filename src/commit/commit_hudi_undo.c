/* One instant is rolled back (docs/format/hudi-commits.md has the files that each step leaves).
 *
 *   T failed:     plan R.requested -> R.inflight -> data files -> T's inflight, requested -> R done
 *   T unneeded:   data files, markers -> T's inflight, requested: nothing of it was ever to be seen
 *   T completed:  plan R.requested -> R.inflight -> T's requested and inflight are there -> T's
 *                 completed file goes -> data files -> T's inflight, requested -> R done
 *
 * U1: what is to be deleted is on the timeline, in R's plan, before anything is deleted; whoever
 *     finds the plan goes on with that one.
 * U2: only data files of T are deleted, each at its partition below the root, whatever path a plan
 *     of another writer spells.
 * U3: readers stop to see T before any of its files goes.
 * U4: markers and heartbeat go last: until R is done they say what T began.
 * U5: what another writer left is looked for in the partitions as well, not by its markers alone.
 */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

#include "task/data_name.h"

/* A plan under way: requests of one file each, as Hudi's plans by markers have them. */
typedef struct planner {
    tn_hudi_commit *commit;
    const tn_hudi_undo *undo;
    tn_arena arena;
    tn_rollback_plan plan;
    size_t cap;
    uint64_t deleted;
    tn_map swept; /* partitions whose halves of puts are gone */
} planner;

static int add_file(tarn_cx *cx, planner *p, tn_str partition, tn_str name)
{
    tn_rollback_request *request;
    tn_data_name parsed;
    tn_str path = name;
    int rc;

    if (!tn_hudi_marker_partition_ok(partition) || !tn_data_name_parse(name, &parsed) ||
        !tn_str_equal(parsed.instant, p->undo->instant))
        TN_FAIL(TARN_E_CORRUPT,
                "\"%.*s\" in \"%.*s\" is no data file of instant %.*s, which is to be rolled back; "
                "nothing was deleted: look at the instant's files",
                TN_STR_ARG(name), TN_STR_ARG(partition), TN_STR_ARG(p->undo->instant));
    if (partition.len != 0)
        TN_TRY(tn_path_join(cx, &p->arena, partition, name, &path));
    TN_TRY(tn_arena_grow(cx, &p->arena, &p->plan.requests, p->plan.request_count, &p->cap,
                         sizeof *p->plan.requests));
    request = &p->plan.requests[p->plan.request_count];
    request->partition = partition;
    request->file_id = parsed.file_id;
    request->files = tn_arena_array(cx, &p->arena, 1, sizeof *request->files);
    if (request->files == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_path_join(cx, &p->arena, p->commit->root, path, &request->files[0]));
    request->file_count = 1;
    p->plan.request_count++;
done:
    return rc;
}

static int add_markers(tarn_cx *cx, planner *p, const tn_hudi_markers *markers)
{
    tn_map seen = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < markers->count; i++) {
        const tn_hudi_marker *marker = &markers->items[i];
        tn_str path = marker->name;
        bool added;

        if (marker->partition.len != 0)
            TN_TRY(tn_path_join(cx, &p->arena, marker->partition, marker->name, &path));
        if (tn_map_add(cx, &seen, path, &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (added)
            TN_TRY(add_file(cx, p, marker->partition, marker->name));
    }
done:
    tn_map_clear(&seen);
    return rc;
}

/* The files of a completed instant, by what it says of them. */
static int add_stats(tarn_cx *cx, planner *p, const tn_commit_metadata *metadata)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < metadata->stat_count; i++) {
        const tn_write_stat *stat = &metadata->stats[i];
        tn_data_name parsed;

        /* A stat may name a file of another instant: one that was there and got nothing. */
        if (stat->path.len == 0 || !tn_data_name_parse(tn_path_name(stat->path), &parsed) ||
            !tn_str_equal(parsed.instant, p->undo->instant))
            continue;
        TN_TRY(add_file(cx, p, stat->partition, tn_path_name(stat->path)));
    }
done:
    return rc;
}

/* An instant of this process, which sees all of its markers. */
static bool is_own(const tn_hudi_commit *commit, const tn_hudi_undo *undo)
{
    return commit->state == TN_HUDI_BEGUN && tn_str_equal(commit->instant, undo->instant);
}

static int make_plan(tarn_cx *cx, planner *p)
{
    const tn_hudi_undo *undo = p->undo;
    tn_hudi_markers markers = {0};
    int rc;

    if (undo->metadata != NULL)
        TN_TRY(add_stats(cx, p, undo->metadata));
    TN_TRY(tn_hudi_marker_load(cx, p->commit, undo->instant, &p->arena, &markers));
    /* A power failure may take markers that were not stable yet, and leave what they stood for: U5.
     * What is only requested has no files. */
    if (undo->metadata == NULL && undo->inflight.len != 0 && !is_own(p->commit, undo))
        TN_TRY(tn_hudi_marker_search(cx, p->commit, undo->instant, &p->arena, &markers));
    if (undo->metadata == NULL)
        TN_TRY(add_markers(cx, p, &markers));
done:
    return rc;
}

/* U2: the files of a plan that somebody left, by partition and name. */
static int take_plan(tarn_cx *cx, planner *p, const tn_rollback_plan *found)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < found->request_count; i++) {
        const tn_rollback_request *request = &found->requests[i];

        for (size_t k = 0; k < request->file_count; k++)
            TN_TRY(add_file(cx, p, request->partition, tn_path_name(request->files[k])));
    }
done:
    return rc;
}

static int put_state(tarn_cx *cx, tn_hudi_commit *commit, tn_str time, const char *word,
                     enum tn_state state, tn_str bytes)
{
    tn_str name;
    int rc;

    TN_TRY(tn_instant_print(cx, &commit->arena, commit->config.layout, time, tn_str_of(word), state,
                            (tn_str){0}, &name));
    TN_TRY(tn_hudi_commit_put(cx, commit, name, bytes));
done:
    return rc;
}

static int begin_rollback(tarn_cx *cx, planner *p, tn_str *rollback)
{
    tn_hudi_commit *commit = p->commit;
    tn_buf bytes = {0};
    int rc = TARN_OK;

    *rollback = p->undo->rollback;
    if (rollback->len == 0) {
        TN_TRY(tn_hudi_commit_time(cx, commit, rollback));
        TN_TRY(tn_rollback_plan_print(cx, &p->plan, &bytes));
        TN_TRY(
            put_state(cx, commit, *rollback, "rollback", TN_STATE_REQUESTED, tn_buf_view(&bytes)));
    }
    if (!p->undo->rollback_inflight)
        TN_TRY(put_state(cx, commit, *rollback, "rollback", TN_STATE_INFLIGHT, (tn_str){0}));
done:
    tn_buf_clear(&bytes);
    return rc;
}

/* U3: a completed instant becomes an inflight one. */
static int revert(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_undo *undo)
{
    tn_arena arena = {0};
    tn_str names[2] = {undo->requested, undo->inflight};
    int rc = TARN_OK;

    if (undo->completed.len == 0)
        goto done;
    for (int i = 0; i < 2; i++) {
        if (names[i].len != 0)
            continue;
        TN_TRY(tn_instant_print(cx, &arena, commit->config.layout, undo->instant, undo->word,
                                i == 0 ? TN_STATE_REQUESTED : TN_STATE_INFLIGHT, (tn_str){0},
                                &names[i]));
        TN_TRY(tn_hudi_commit_put(cx, commit, names[i], (tn_str){0}));
    }
    TN_TRY(tn_hudi_commit_drop(cx, commit, undo->completed));
    TN_TRY(tn_store_sync_dir(cx, commit->store, commit->timeline.directory));
done:
    tn_arena_clear(&arena);
    return rc;
}

static int delete_file(tarn_cx *cx, planner *p, tn_str path)
{
    tn_store *store = p->commit->store;
    int rc;

    TN_TRY(tn_hudi_config_drop_crc(cx, store, path));
    rc = tn_store_remove(cx, store, path);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    p->deleted++;
done:
    return rc;
}

/* Halves of metadata files that a kill may have left in the partitions of the instant. */
static int sweep_halves(tarn_cx *cx, planner *p, tn_str directory)
{
    bool added, there;
    int rc = TARN_OK;

    if (tn_map_add(cx, &p->swept, directory, &added) == NULL)
        return TARN_E_NOMEM;
    if (!added)
        return TARN_OK;
    TN_TRY(tn_hudi_failed_halves(cx, p->commit, directory, &there));
    if (there)
        TN_TRY(tn_store_sync_dir(cx, p->commit->store, directory));
done:
    return rc;
}

static int delete_files(tarn_cx *cx, planner *p)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < p->plan.request_count; i++)
        TN_TRY(delete_file(cx, p, p->plan.requests[i].files[0]));
    for (size_t i = 0; i < p->plan.request_count; i++)
        TN_TRY(sweep_halves(cx, p, tn_path_parent(p->plan.requests[i].files[0])));
done:
    return rc;
}

/* Both files of T: inflight first, so that what is left is a requested one. */
static int drop_states(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_undo *undo)
{
    tn_str name;
    int rc;

    for (enum tn_state state = TN_STATE_INFLIGHT; state >= TN_STATE_REQUESTED; state--) {
        TN_TRY(tn_instant_print(cx, &commit->arena, commit->config.layout, undo->instant,
                                undo->word, state, (tn_str){0}, &name));
        TN_TRY(tn_hudi_commit_drop(cx, commit, name));
    }
    TN_TRY(tn_store_sync_dir(cx, commit->store, commit->timeline.directory));
done:
    return rc;
}

static int end_rollback(tarn_cx *cx, planner *p, tn_str rollback, int64_t began_ms)
{
    tn_hudi_commit *commit = p->commit;
    int64_t took = tn_cx_now_ms(cx) - began_ms;
    tn_buf bytes = {0};
    tn_str name, completion;
    int rc;

    TN_TRY(tn_rollback_metadata_print(cx, rollback, took > 0 ? took : 0, &p->plan, &bytes));
    TN_TRY(tn_hudi_commit_time(cx, commit, &completion));
    TN_TRY(tn_instant_print(cx, &commit->arena, commit->config.layout, rollback, TN_STR("rollback"),
                            TN_STATE_COMPLETED, completion, &name));
    TN_TRY(tn_hudi_commit_put(cx, commit, name, tn_buf_view(&bytes)));
    TN_TRY(tn_hudi_marker_remove(cx, commit, p->undo->instant));
    TN_TRY(tn_hudi_heart_stop(cx, commit, p->undo->instant));
done:
    tn_buf_clear(&bytes);
    return rc;
}

int tn_hudi_undo_withdraw(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_undo *undo)
{
    planner p = {.commit = commit, .undo = undo};
    int rc;

    assert(undo->completed.len == 0 && undo->metadata == NULL);
    p.plan.instant = undo->instant;
    p.plan.action = undo->word;
    TN_TRY(make_plan(cx, &p));
    TN_TRY(delete_files(cx, &p));
    /* Once the instant is not on the timeline nobody knows that its markers are old. */
    TN_TRY(tn_hudi_marker_remove(cx, commit, undo->instant));
    TN_TRY(tn_hudi_heart_stop(cx, commit, undo->instant));
    TN_TRY(drop_states(cx, commit, undo));
done:
    if (rc != TARN_OK)
        rc = tn_fail_within(cx, rc, "taking back instant %.*s", TN_STR_ARG(undo->instant));
    tn_map_clear(&p.swept);
    tn_arena_clear(&p.arena);
    return rc;
}

int tn_hudi_undo_run(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_undo *undo,
                     tn_hudi_rolled *out)
{
    planner p = {.commit = commit, .undo = undo};
    int64_t began = tn_cx_now_ms(cx);
    tn_str rollback;
    int rc;

    assert(undo->instant.len != 0 && undo->word.len != 0);
    p.plan.instant = undo->instant;
    p.plan.action = undo->word;
    TN_TRY(undo->plan != NULL ? take_plan(cx, &p, undo->plan) : make_plan(cx, &p));
    TN_TRY(begin_rollback(cx, &p, &rollback));
    TN_TRY(revert(cx, commit, undo));
    TN_TRY(delete_files(cx, &p));
    TN_TRY(drop_states(cx, commit, undo));
    TN_TRY(end_rollback(cx, &p, rollback, began));
    *out = (tn_hudi_rolled){.instant = undo->instant,
                            .action = undo->word,
                            .rollback = rollback,
                            .files_deleted = p.deleted,
                            .was_completed = undo->completed.len != 0};
done:
    if (rc != TARN_OK)
        rc = tn_fail_within(cx, rc, "rolling back instant %.*s", TN_STR_ARG(undo->instant));
    tn_map_clear(&p.swept);
    tn_arena_clear(&p.arena);
    return rc;
}
