/* tarn rollback: one instant, by its time.
 * R1: a completed instant is taken back only when it is the latest that wrote data, no savepoint
 *     holds it, no planned service builds on it, and what it replaced is still there: else the rows
 *     that were there before it would be lost.
 * R2: an inflight one may always be: its files are its own. */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

#include "task/data_name.h"

static int find(tarn_cx *cx, const tn_hudi_commit *commit, tn_str time, const tn_instant **out)
{
    const tn_timeline *timeline = &commit->timeline;
    const tn_instant *other = NULL;
    int rc = TARN_OK;

    *out = NULL;
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (!tn_str_equal(instant->time, time))
            continue;
        if (tn_instant_writes_data(instant))
            *out = instant;
        else
            other = instant;
    }
    if (*out == NULL && other != NULL)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: instant %.*s is a %.*s; only commits and replacements are "
                "rolled back",
                TN_STR_ARG(commit->root), TN_STR_ARG(time), TN_STR_ARG(other->word));
    if (*out == NULL)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: no instant %.*s on the active timeline; \"tarn timeline\" lists them",
                TN_STR_ARG(commit->root), TN_STR_ARG(time));
done:
    return rc;
}

/* R1, as far as the timeline tells. */
static int check_latest(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *target)
{
    const tn_timeline *timeline = &commit->timeline;
    tn_buf later = {0};
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *other = &timeline->instants[i];
        bool service = false;

        if (tn_str_equal(other->time, target->time) && other->action == TN_ACTION_SAVEPOINT)
            TN_FAIL(TARN_E_INVALID,
                    "%.*s: a savepoint holds instant %.*s; delete the savepoint first",
                    TN_STR_ARG(commit->root), TN_STR_ARG(target->time));
        if (!tn_instant_writes_data(other) || tn_str_compare(other->time, target->time) <= 0)
            continue;
        if (other->state != TN_STATE_COMPLETED) {
            TN_TRY(tn_hudi_failed_service(cx, commit, other, &service));
            if (service)
                TN_FAIL(
                    TARN_E_INVALID,
                    "%.*s: the %.*s planned at %.*s may build on instant %.*s; run or remove it "
                    "first",
                    TN_STR_ARG(commit->root), TN_STR_ARG(other->word), TN_STR_ARG(other->time),
                    TN_STR_ARG(target->time));
        }
        if (count++ < 5)
            tn_buf_print(&later, "%s%.*s", count > 1 ? ", " : "", TN_STR_ARG(other->time));
    }
    if (count != 0)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: %zu later instants build on %.*s: %.*s%s; roll them back first, the latest "
                "before the others",
                TN_STR_ARG(commit->root), count, TN_STR_ARG(target->time),
                TN_STR_ARG(tn_buf_view(&later)), count > 5 ? ", …" : "");
done:
    tn_buf_clear(&later);
    return rc;
}

/* Is there a base file of the group, of the instant (empty: of any before `before`)? */
static int find_base(tarn_cx *cx, tn_hudi_commit *commit, tn_arena *arena, tn_str partition,
                     tn_str file_id, tn_str instant, tn_str before, bool *out)
{
    tn_str directory = commit->root;
    tn_entry *entries;
    size_t count;
    int rc;

    *out = false;
    if (partition.len != 0)
        TN_TRY(tn_path_join(cx, arena, commit->root, partition, &directory));
    TN_TRY(tn_store_list_or_none(cx, commit->store, directory, arena, &entries, &count));
    for (size_t i = 0; i < count && !*out; i++) {
        tn_data_name parsed;

        *out = tn_data_name_parse(entries[i].name, &parsed) && !parsed.log &&
               tn_str_equal(parsed.file_id, file_id) &&
               (instant.len != 0 ? tn_str_equal(parsed.instant, instant)
                                 : tn_str_compare(parsed.instant, before) < 0);
    }
done:
    return rc;
}

static int refuse_cleaned(tarn_cx *cx, const tn_hudi_commit *commit, tn_str time, tn_str partition,
                          tn_str file_id)
{
    return tn_fail(cx, TARN_E_INVALID,
                   "%.*s: instant %.*s replaced a file of group %.*s in \"%.*s\" that has been "
                   "cleaned since; rolling back would lose its rows, so nothing was touched",
                   TN_STR_ARG(commit->root), TN_STR_ARG(time), TN_STR_ARG(file_id),
                   TN_STR_ARG(partition));
}

/* R1: what was there before is there still. */
static int check_before(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *target,
                        const tn_commit_metadata *metadata)
{
    tn_arena arena = {0};
    bool there;
    int rc = TARN_OK;

    for (size_t i = 0; i < metadata->stat_count; i++) {
        const tn_write_stat *stat = &metadata->stats[i];

        if (stat->prev_instant.len == 0 || tn_str_is(stat->prev_instant, "null"))
            continue;
        TN_TRY(find_base(cx, commit, &arena, stat->partition, stat->file_id, stat->prev_instant,
                         (tn_str){0}, &there));
        if (!there)
            TN_TRY(refuse_cleaned(cx, commit, target->time, stat->partition, stat->file_id));
    }
    for (size_t i = 0; i < metadata->replaced_count; i++)
        for (size_t k = 0; k < metadata->replaced[i].file_id_count; k++) {
            const tn_replaced *replaced = &metadata->replaced[i];

            TN_TRY(find_base(cx, commit, &arena, replaced->partition, replaced->file_ids[k],
                             (tn_str){0}, target->time, &there));
            if (!there)
                TN_TRY(refuse_cleaned(cx, commit, target->time, replaced->partition,
                                      replaced->file_ids[k]));
        }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int undo_completed(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *target,
                          tn_hudi_rolled *out)
{
    tn_arena arena = {0};
    tn_commit_metadata metadata;
    tn_hudi_undo undo;
    int rc;

    TN_TRY(check_latest(cx, commit, target));
    TN_TRY(tn_timeline_commit(cx, commit->store, &commit->timeline, target, &arena, &metadata));
    if (tn_str_is(metadata.operation, "CLUSTER") || tn_str_is(metadata.operation, "COMPACT") ||
        metadata.compacted)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: instant %.*s is a %.*s, which tarn does not roll back; let Hudi do it",
                TN_STR_ARG(commit->root), TN_STR_ARG(target->time), TN_STR_ARG(metadata.operation));
    TN_TRY(check_before(cx, commit, target, &metadata));
    undo = (tn_hudi_undo){
        .instant = target->time,
        .word = target->action == TN_ACTION_REPLACE ? TN_STR("replacecommit") : TN_STR("commit"),
        .completed = target->name,
        .requested = target->requested_name,
        .inflight = target->inflight_name,
        .metadata = &metadata,
    };
    TN_TRY(tn_hudi_undo_run(cx, commit, &undo, out));
done:
    tn_arena_clear(&arena);
    return rc;
}

static int undo_pending(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *target,
                        tn_hudi_rolled *out)
{
    bool service;
    int rc;

    TN_TRY(tn_hudi_failed_service(cx, commit, target, &service));
    if (service)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: instant %.*s is a pending %.*s, which tarn does not roll back; let Hudi run "
                "it or take it back",
                TN_STR_ARG(commit->root), TN_STR_ARG(target->time), TN_STR_ARG(target->word));
    TN_TRY(tn_hudi_failed_one(cx, commit, target, out));
done:
    return rc;
}

/* Later failed writes would be found in the way: they are rolled back first. */
static int settle_later(tarn_cx *cx, tn_hudi_commit *commit, tn_str time, const tn_instant **target)
{
    int rc = TARN_OK;

    if ((*target)->state != TN_STATE_COMPLETED)
        goto done;
    TN_TRY(tn_hudi_failed_settle(cx, commit));
    TN_TRY(find(cx, commit, time, target));
done:
    return rc;
}

int tn_hudi_rollback(tarn_cx *cx, tn_store *store, tn_str root, tn_str time,
                     const tn_hudi_commit_options *options, tn_arena *arena, tn_hudi_rolled *out)
{
    tn_hudi_commit *commit = NULL;
    const tn_instant *target;
    tn_hudi_rolled rolled;
    int rc;

    assert(out != NULL);
    TN_TRY(tn_hudi_commit_enter(cx, store, root, options, &commit));
    TN_TRY(find(cx, commit, time, &target));
    TN_TRY(tn_hudi_metadata_drop(cx, commit));
    TN_TRY(find(cx, commit, time, &target));
    TN_TRY(settle_later(cx, commit, time, &target));
    if (target->state == TN_STATE_COMPLETED)
        TN_TRY(undo_completed(cx, commit, target, &rolled));
    else
        TN_TRY(undo_pending(cx, commit, target, &rolled));
    TN_TRY(tn_arena_keep(cx, arena, &rolled.instant));
    TN_TRY(tn_arena_keep(cx, arena, &rolled.action));
    TN_TRY(tn_arena_keep(cx, arena, &rolled.rollback));
    *out = rolled;
done:
    tn_hudi_commit_close(cx, commit);
    return rc;
}
