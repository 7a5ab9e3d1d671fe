/* The end of a commit.
 * F1: files that no stat names are deleted before the completed file is there, for after it they
 *     would be seen; all others have a marker (H3) and are stable, their names too.
 * F2: a commit that came between begin and finish, or a rollback of this very instant, is a
 *     CONFLICT: what was planned was planned over another state.
 * F3: after the completed file nothing fails. */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

/* Of more directories than this the file system is synced as a whole. */
#define SYNC_EACH_MAX 64

/* The same instant in an older timeline, or NULL; asked for in ascending order, *at moves along. */
static const tn_instant *find_from(const tn_timeline *timeline, size_t *at, const tn_instant *like)
{
    while (*at < timeline->count && tn_str_compare(timeline->instants[*at].time, like->time) < 0)
        ++*at;
    for (size_t i = *at; i < timeline->count; i++) {
        if (!tn_str_equal(timeline->instants[i].time, like->time))
            break;
        if (timeline->instants[i].action == like->action)
            return &timeline->instants[i];
    }
    return NULL;
}

/* Did somebody commit, plan a service or roll us back since begin? `timeline` is fresh. */
static int check_others(tarn_cx *cx, tn_hudi_commit *commit)
{
    const tn_timeline *timeline = &commit->timeline;
    const tn_instant *own = tn_timeline_find(timeline, commit->instant, commit->action);
    size_t at = 0;
    int rc = TARN_OK;

    if (own == NULL || own->state != TN_STATE_INFLIGHT)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another writer rolled instant %.*s back meanwhile; nothing was committed: "
                "run again",
                TN_STR_ARG(commit->root), TN_STR_ARG(commit->instant));
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *other = &timeline->instants[i];
        bool done = other->state == TN_STATE_COMPLETED, service = false;
        const tn_instant *known;

        if (!tn_instant_writes_data(other) || other == own)
            continue;
        known = find_from(&commit->begun, &at, other);
        if (known != NULL && (!done || known->state == TN_STATE_COMPLETED))
            continue;
        if (!done)
            TN_TRY(tn_hudi_failed_service(cx, commit, other, &service));
        if (done || service)
            TN_FAIL(TARN_E_CONFLICT,
                    "%.*s: another writer %s instant %.*s (%.*s) meanwhile; nothing was committed: "
                    "run again",
                    TN_STR_ARG(commit->root), done ? "completed" : "planned",
                    TN_STR_ARG(other->time), TN_STR_ARG(other->word));
    }
done:
    return rc;
}

/* "partition/name", or the name alone. */
static int path_of(tarn_cx *cx, tn_arena *arena, const tn_hudi_marker *marker, tn_str *out)
{
    *out = marker->name;
    return marker->partition.len == 0
               ? TARN_OK
               : tn_path_join(cx, arena, marker->partition, marker->name, out);
}

static int remove_leftover(tarn_cx *cx, tn_hudi_commit *commit, tn_arena *arena, tn_str path)
{
    tn_str full;
    int rc;

    TN_TRY(tn_path_join(cx, arena, commit->root, path, &full));
    rc = tn_store_remove(cx, commit->store, full);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    return rc;
}

/* F1, by markers minus stats. */
static int reconcile(tarn_cx *cx, tn_hudi_commit *commit, const tn_commit_metadata *metadata,
                     tn_arena *arena)
{
    tn_map wanted = {0};
    tn_hudi_markers markers;
    size_t met = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < metadata->stat_count; i++) {
        bool added;

        if (tn_map_add(cx, &wanted, metadata->stats[i].path, &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added)
            TN_FAIL(TARN_E_INVALID, "%.*s: two results for one file",
                    TN_STR_ARG(metadata->stats[i].path));
    }
    TN_TRY(tn_hudi_marker_load(cx, commit, commit->instant, arena, &markers));
    for (size_t i = 0; i < markers.count; i++) {
        size_t *place;
        tn_str path;

        TN_TRY(path_of(cx, arena, &markers.items[i], &path));
        place = tn_map_find(&wanted, path);
        if (place == NULL)
            TN_TRY(remove_leftover(cx, commit, arena, path));
        else if ((*place)++ == 0)
            met++;
    }
    if (met != metadata->stat_count)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: %zu of the %zu files of instant %.*s have no marker; nothing was committed",
                TN_STR_ARG(commit->root), metadata->stat_count - met, metadata->stat_count,
                TN_STR_ARG(commit->instant));
done:
    tn_map_clear(&wanted);
    return rc;
}

/* "a" of "a/b", "" of "a". */
static tn_str above(tn_str partition)
{
    while (partition.len != 0 && partition.ptr[partition.len - 1] != '/')
        partition.len--;
    if (partition.len != 0)
        partition.len--;
    return partition;
}

/* The names of the new files, of new partitions too, are stable. */
static int sync_files(tarn_cx *cx, tn_hudi_commit *commit, const tn_commit_metadata *metadata,
                      tn_arena *arena)
{
    tn_map seen = {0}, synced = {0};
    size_t count = 0;
    bool added;
    int rc = TARN_OK;

    for (size_t i = 0; i < metadata->stat_count; i++) {
        if (tn_map_add(cx, &seen, metadata->stats[i].partition, &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
        count += added;
    }
    if (count > SYNC_EACH_MAX) {
        TN_TRY(tn_store_sync_all(cx, commit->store, commit->root));
        goto done;
    }
    for (size_t i = 0; i < metadata->stat_count; i++)
        for (tn_str at = metadata->stats[i].partition; at.len != 0; at = above(at)) {
            tn_str full;

            if (tn_map_add(cx, &synced, at, &added) == NULL)
                TN_TRY(TARN_E_NOMEM);
            if (!added)
                break;
            TN_TRY(tn_path_join(cx, arena, commit->root, at, &full));
            TN_TRY(tn_store_sync_dir(cx, commit->store, full));
        }
    TN_TRY(tn_store_sync_dir(cx, commit->store, commit->root));
done:
    tn_map_clear(&seen);
    tn_map_clear(&synced);
    return rc;
}

/* The commit point. An answer that was lost is looked for: the file is there whole, or not. */
static int put_completed(tarn_cx *cx, tn_hudi_commit *commit, tn_str name, tn_str bytes)
{
    char text[TN_ERROR_TEXT_MAX];
    tn_arena arena = {0};
    atomic_bool never;
    tarn_cx child;
    tn_str path;
    bool there = false;
    int rc, status;

    TN_TRY(tn_hudi_commit_same(cx, commit));
    TN_TRY(tn_path_join(cx, &arena, commit->timeline.directory, name, &path));
    TN_TRY(tn_hudi_config_drop_crc(cx, commit->store, path));
    status = tn_store_put_absent(cx, commit->store, path, bytes);
    if (status == TARN_E_EXISTS)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: another writer completed this instant; run again",
                TN_STR_ARG(path));
    if (status == TARN_OK)
        goto done;
    tn_hudi_commit_shield(&child, cx, &never);
    rc = tn_store_exists(&child, commit->store, path, &there);
    /* Its name was seen, but may not be stable yet. */
    if (rc == TARN_OK && there)
        rc = tn_store_sync_dir(&child, commit->store, commit->timeline.directory);
    tn_cx_child_clear(&child);
    if (rc != TARN_OK) {
        commit->state = TN_HUDI_UNCERTAIN;
        snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
        TN_FAIL(status,
                "%s; whether instant %.*s was committed is not known: look with tarn "
                "timeline before you run again",
                text, TN_STR_ARG(commit->instant));
    }
    rc = there ? TARN_OK : status;
    if (there)
        tn_cx_forget(cx);
done:
    tn_arena_clear(&arena);
    return rc;
}

/* F3. */
static void tidy(tarn_cx *cx, tn_hudi_commit *commit)
{
    int rc;

    TN_TRY(tn_hudi_marker_remove(cx, commit, commit->instant));
    TN_TRY(tn_hudi_heart_stop(cx, commit, commit->instant));
done:
    if (rc != TARN_OK)
        tn_hudi_commit_warn(commit,
                            "%.*s: instant %.*s is committed, but what it used could not be "
                            "removed (%s); the next write does it",
                            TN_STR_ARG(commit->root), TN_STR_ARG(commit->instant),
                            tarn_cx_error(cx));
}

int tn_hudi_commit_finish(tarn_cx *cx, tn_hudi_commit *commit, const tn_commit_metadata *metadata,
                          tn_str *completion)
{
    tn_arena arena = {0};
    tn_buf bytes = {0};
    atomic_bool never;
    tarn_cx child;
    tn_str name;
    int rc;

    assert(commit->state == TN_HUDI_BEGUN);
    assert(metadata->replace == (commit->action == TN_ACTION_REPLACE));
    TN_TRY(tn_hudi_commit_same(cx, commit));
    TN_TRY(tn_hudi_commit_load(cx, commit));
    TN_TRY(check_others(cx, commit));
    TN_TRY(reconcile(cx, commit, metadata, &arena));
    TN_TRY(sync_files(cx, commit, metadata, &arena));
    TN_TRY(tn_commit_metadata_print(cx, metadata, commit->config.layout, &bytes));
    TN_TRY(tn_hudi_commit_time(cx, commit, &commit->completion));
    TN_TRY(tn_instant_print(cx, &commit->arena, commit->config.layout, commit->instant,
                            commit->word, TN_STATE_COMPLETED, commit->completion, &name));
    TN_TRY(tn_cx_check(cx));
    TN_TRY(put_completed(cx, commit, name, tn_buf_view(&bytes)));
    commit->state = TN_HUDI_FINISHED;
    *completion = commit->completion;
    tn_hudi_commit_shield(&child, cx, &never);
    tidy(&child, commit);
    tn_cx_child_clear(&child);
done:
    tn_buf_clear(&bytes);
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_commit_withdraw(tarn_cx *cx, tn_hudi_commit *commit)
{
    tn_hudi_undo undo = {.instant = commit->instant, .word = commit->word};
    int rc = TARN_OK;

    assert(commit->state == TN_HUDI_BEGUN);
    TN_TRY(tn_hudi_commit_same(cx, commit));
    TN_TRY(tn_hudi_undo_withdraw(cx, commit, &undo));
    commit->state = TN_HUDI_OPEN;
done:
    return rc;
}
