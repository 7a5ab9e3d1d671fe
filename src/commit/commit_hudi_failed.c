/* What failed writers left, settled before a new instant is begun (HoodieTableServiceClient's
 * rollbackFailedWrites).
 *
 * A1: newest first, and each with the plan that somebody left for it, if there is one.
 * A2: a pending compaction or clustering belongs to whoever planned it, and stays.
 * A3: a writer whose heartbeat is fresh is alive: under the lazy policy it is let be, under the
 *     eager one we stay out.
 * A4: a pending rollback without its target is brought to its end: a JVM would find its plan again
 *     and again. */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

#include "task/data_name.h"

#define PLAN_BYTES_MAX (256u << 20)

/* A rollback that was planned and not completed. */
typedef struct pending {
    tn_str rollback;
    bool inflight;
    tn_rollback_plan plan;
} pending;

typedef struct failed {
    tn_hudi_commit *commit;
    tn_arena arena;
    pending *pendings;
    size_t pending_count, pending_cap;
    tn_hudi_undo *undos;
    size_t undo_count, undo_cap;
} failed;

static tn_str word_of(const tn_instant *instant)
{
    return instant->action == TN_ACTION_REPLACE ? TN_STR("replacecommit")
           : instant->action == TN_ACTION_DELTA ? TN_STR("deltacommit")
                                                : TN_STR("commit");
}

int tn_hudi_failed_service(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *instant,
                           bool *out)
{
    tn_arena arena = {0};
    tn_avro_value plan;
    bool empty, service;
    int rc = TARN_OK;

    service = tn_str_is(instant->word, "compaction") || tn_str_is(instant->word, "logcompaction") ||
              tn_str_is(instant->word, "clustering");
    /* In the first layout a clustering is a replacement whose request holds a plan. */
    if (!service && instant->action == TN_ACTION_REPLACE && instant->requested_name.len != 0) {
        TN_TRY(tn_timeline_value(cx, commit->store, &commit->timeline, instant->requested_name,
                                 &arena, &empty, &plan));
        service = !empty && tn_avro_member(&plan, "clusteringPlan") != NULL;
    }
    *out = service;
done:
    tn_arena_clear(&arena);
    return rc;
}

/* The plan of a rollback; *found false: its request was cut off before it said anything. */
static int read_plan(tarn_cx *cx, failed *f, const tn_instant *instant, bool *found,
                     tn_rollback_plan *out)
{
    tn_hudi_commit *commit = f->commit;
    tn_buf bytes = {0};
    tn_str path, text;
    int rc = TARN_OK;

    *found = false;
    if (instant->requested_name.len == 0)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: rollback %.*s is inflight and has no plan; remove its inflight file and run "
                "again",
                TN_STR_ARG(commit->root), TN_STR_ARG(instant->time));
    TN_TRY(tn_path_join(cx, &f->arena, commit->timeline.directory, instant->requested_name, &path));
    TN_TRY(tn_store_get(cx, commit->store, path, PLAN_BYTES_MAX, &bytes));
    text = tn_buf_view(&bytes);
    TN_TRY(tn_arena_keep(cx, &f->arena, &text));
    rc = tn_rollback_plan_parse(cx, text, path, &f->arena, out);
    if (rc == TARN_OK && out->instant.len != 0) {
        *found = true;
    } else if ((rc == TARN_OK || rc == TARN_E_CORRUPT) &&
               instant->state == TN_STATE_REQUESTED) {
        tn_hudi_commit_warn(commit,
                            "%.*s: it is no plan of a rollback, and nothing was done by it: "
                            "it was removed",
                            TN_STR_ARG(path));
        TN_TRY(tn_hudi_commit_drop(cx, commit, instant->requested_name));
    } else if (rc == TARN_OK) {
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: it does not say what is rolled back; remove it and the "
                "inflight file beside it, and run again",
                TN_STR_ARG(path));
    }
done:
    tn_buf_clear(&bytes);
    return rc;
}

static int find_pendings(tarn_cx *cx, failed *f)
{
    const tn_timeline *timeline = &f->commit->timeline;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];
        pending one = {.rollback = instant->time};
        bool found;

        if (instant->action != TN_ACTION_ROLLBACK || instant->state == TN_STATE_COMPLETED)
            continue;
        one.inflight = instant->state == TN_STATE_INFLIGHT;
        TN_TRY(read_plan(cx, f, instant, &found, &one.plan));
        if (!found)
            continue;
        TN_TRY(tn_arena_grow(cx, &f->arena, &f->pendings, f->pending_count, &f->pending_cap,
                             sizeof one));
        f->pendings[f->pending_count++] = one;
    }
done:
    return rc;
}

static int add_undo(tarn_cx *cx, failed *f, const tn_hudi_undo *undo)
{
    int rc;

    TN_TRY(tn_arena_grow(cx, &f->arena, &f->undos, f->undo_count, &f->undo_cap, sizeof *undo));
    f->undos[f->undo_count++] = *undo;
done:
    return rc;
}

static tn_hudi_undo undo_of(const tn_instant *instant)
{
    return (tn_hudi_undo){
        .instant = instant->time,
        .word = word_of(instant),
        .completed = instant->state == TN_STATE_COMPLETED ? instant->name : (tn_str){0},
        .requested = instant->requested_name,
        .inflight = instant->inflight_name,
    };
}

static bool committed_after(const tn_timeline *timeline, tn_str time)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (tn_instant_writes_data(&timeline->instants[i]) &&
            timeline->instants[i].state == TN_STATE_COMPLETED &&
            tn_str_compare(timeline->instants[i].time, time) > 0)
            return true;
    return false;
}

/* Whether a pending rollback of a completed instant may go on: not over later commits. */
static bool may_revert(tn_hudi_commit *commit, const tn_instant *target, tn_str rollback)
{
    const tn_timeline *timeline = &commit->timeline;
    bool may = !committed_after(timeline, target->time) &&
               tn_timeline_find(timeline, target->time, TN_ACTION_SAVEPOINT) == NULL;

    if (!may)
        tn_hudi_commit_warn(commit,
                            "%.*s: rollback %.*s of the completed instant %.*s is pending, but "
                            "later commits or a savepoint hold it; it was left alone: remove its "
                            "files from the timeline",
                            TN_STR_ARG(commit->root), TN_STR_ARG(rollback),
                            TN_STR_ARG(target->time));
    return may;
}

static int add_pending(tarn_cx *cx, failed *f, const pending *one)
{
    const tn_instant *target = tn_timeline_find_data(&f->commit->timeline, one->plan.instant);
    tn_hudi_undo undo = {.instant = one->plan.instant, .word = one->plan.action};
    bool service = false;
    int rc = TARN_OK;

    if (target != NULL && target->state != TN_STATE_COMPLETED)
        TN_TRY(tn_hudi_failed_service(cx, f->commit, target, &service));
    if (service || (target != NULL && target->state == TN_STATE_COMPLETED &&
                    !may_revert(f->commit, target, one->rollback)))
        goto done;
    if (target != NULL)
        undo = undo_of(target);
    undo.rollback = one->rollback;
    undo.rollback_inflight = one->inflight;
    undo.plan = &one->plan;
    TN_TRY(add_undo(cx, f, &undo));
done:
    return rc;
}

static const pending *find_pending(const failed *f, tn_str instant)
{
    for (size_t i = 0; i < f->pending_count; i++)
        if (tn_str_equal(f->pendings[i].plan.instant, instant))
            return &f->pendings[i];
    return NULL;
}

/* A3. */
static int check_alive(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, bool *alive)
{
    int64_t age_ms;
    bool found;
    int rc;

    TN_TRY(tn_hudi_heart_look(cx, commit, instant, &found, alive, &age_ms));
    if (*alive && !commit->options.lazy)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: the writer of instant %.*s is alive (its heartbeat is %d s old); wait until "
                "it ends, or for its heartbeat to expire, and run again",
                TN_STR_ARG(commit->root), TN_STR_ARG(instant), (int)(age_ms / 1000));
done:
    return rc;
}

static int find_failed(tarn_cx *cx, failed *f)
{
    const tn_timeline *timeline = &f->commit->timeline;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];
        bool service, alive;
        tn_hudi_undo undo;

        if (!tn_instant_writes_data(instant) || instant->state == TN_STATE_COMPLETED ||
            find_pending(f, instant->time) != NULL)
            continue;
        TN_TRY(tn_hudi_failed_service(cx, f->commit, instant, &service));
        if (service)
            continue;
        TN_TRY(check_alive(cx, f->commit, instant->time, &alive));
        if (alive)
            continue;
        undo = undo_of(instant);
        TN_TRY(add_undo(cx, f, &undo));
    }
    for (size_t i = 0; i < f->pending_count; i++)
        TN_TRY(add_pending(cx, f, &f->pendings[i]));
done:
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const tn_hudi_undo *left = a, *right = b;

    return tn_str_compare(right->instant, left->instant);
}

static int note_rolled(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < commit->rolled_count; i++)
        if (tn_str_equal(commit->rolled[i], instant))
            goto done;
    TN_TRY(tn_arena_keep(cx, &commit->arena, &instant));
    TN_TRY(tn_arena_grow(cx, &commit->arena, &commit->rolled, commit->rolled_count,
                         &commit->rolled_cap, sizeof *commit->rolled));
    commit->rolled[commit->rolled_count++] = instant;
done:
    return rc;
}

int tn_hudi_failed_settle(tarn_cx *cx, tn_hudi_commit *commit)
{
    failed f = {.commit = commit};
    tn_hudi_rolled rolled;
    int rc;

    TN_TRY(find_pendings(cx, &f));
    TN_TRY(find_failed(cx, &f));
    if (f.undo_count == 0)
        goto done;
    TN_TRY(tn_hudi_metadata_drop(cx, commit));
    qsort(f.undos, f.undo_count, sizeof *f.undos, newest_first);
    for (size_t i = 0; i < f.undo_count; i++) {
        TN_TRY(tn_hudi_undo_run(cx, commit, &f.undos[i], &rolled));
        TN_TRY(note_rolled(cx, commit, rolled.instant));
    }
    TN_TRY(tn_hudi_commit_load(cx, commit));
done:
    tn_arena_clear(&f.arena);
    return rc;
}

int tn_hudi_failed_one(tarn_cx *cx, tn_hudi_commit *commit, const tn_instant *instant,
                       tn_hudi_rolled *out)
{
    failed f = {.commit = commit};
    tn_hudi_undo undo = undo_of(instant);
    const pending *plan;
    bool alive = false, own = commit->state == TN_HUDI_BEGUN;
    int rc;

    assert(instant->state != TN_STATE_COMPLETED);
    TN_TRY(find_pendings(cx, &f));
    if (!own)
        TN_TRY(check_alive(cx, commit, instant->time, &alive));
    if (alive)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: the writer of instant %.*s is alive; wait until it ends",
                TN_STR_ARG(commit->root), TN_STR_ARG(instant->time));
    plan = find_pending(&f, instant->time);
    if (plan != NULL) {
        undo.rollback = plan->rollback;
        undo.rollback_inflight = plan->inflight;
        undo.plan = &plan->plan;
    }
    TN_TRY(tn_hudi_undo_run(cx, commit, &undo, out));
done:
    tn_arena_clear(&f.arena);
    return rc;
}

static bool all_digits(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len != 0;
}

/* No writer is at that instant any more: it is completed, or gone from the timeline. A time beyond
 * the timeline may be that of a writer who has begun since. */
static bool is_over(const tn_hudi_commit *commit, tn_str time, bool hearts)
{
    const tn_instant *found = tn_timeline_find_data(&commit->timeline, time);

    return found != NULL ? found->state == TN_STATE_COMPLETED
                         : hearts || tn_str_compare(time, commit->last) <= 0;
}

static int sweep_folder(tarn_cx *cx, tn_hudi_commit *commit, const char *folder, bool hearts)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path;
    int rc;

    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, folder, (tn_str){0}, &path));
    TN_TRY(tn_store_list_or_none(cx, commit->store, path, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_str name = entries[i].name;
        bool found = true, alive = false;
        int64_t age_ms;

        if (!all_digits(name) || !is_over(commit, name, hearts))
            continue;
        if (!hearts) {
            TN_TRY(tn_hudi_marker_remove(cx, commit, name));
            continue;
        }
        /* A writer beats before its instant is on the timeline. */
        TN_TRY(tn_hudi_heart_look(cx, commit, name, &found, &alive, &age_ms));
        if (!alive)
            TN_TRY(tn_hudi_heart_stop(cx, commit, name));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_failed_halves(tarn_cx *cx, tn_hudi_commit *commit, tn_str directory, bool *there)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    int rc;

    rc = tn_store_list(cx, commit->store, directory, &arena, &entries, &count);
    *there = rc == TARN_OK;
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    for (size_t i = 0; i < count; i++) {
        tn_str path;

        if (!tn_str_starts(entries[i].name, TN_STR(TN_STORE_PUT_PREFIX)))
            continue;
        TN_TRY(tn_path_join(cx, &arena, directory, entries[i].name, &path));
        TN_TRY(tn_store_remove(cx, commit->store, path));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

void tn_hudi_failed_sweep(tarn_cx *cx, tn_hudi_commit *commit)
{
    tn_str hearts;
    bool there;
    int rc;

    TN_TRY(tn_hudi_commit_path(cx, commit, &commit->arena, ".heartbeat", (tn_str){0}, &hearts));
    TN_TRY(sweep_folder(cx, commit, ".temp", false));
    TN_TRY(sweep_folder(cx, commit, ".heartbeat", true));
    TN_TRY(tn_hudi_failed_halves(cx, commit, commit->hoodie, &there));
    TN_TRY(tn_hudi_failed_halves(cx, commit, hearts, &there));
    if (!tn_str_equal(commit->timeline.directory, commit->hoodie))
        TN_TRY(tn_hudi_failed_halves(cx, commit, commit->timeline.directory, &there));
done:
    if (rc != TARN_OK) {
        tn_hudi_commit_warn(commit, "%.*s: what earlier writers left could not all be removed (%s)",
                            TN_STR_ARG(commit->root), tarn_cx_error(cx));
        tn_cx_forget(cx);
    }
}
