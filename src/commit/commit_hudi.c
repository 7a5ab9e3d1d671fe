/* A commit to a Hudi table, from the lock to the end.
 *
 *   closed --open--> OPEN --begin--> BEGUN --finish--> FINISHED --close--> closed
 *                     |                |  \
 *                     |                |   `--finish, answer of the store lost--> UNCERTAIN
 *                     `--close         `--close: rolled back
 *
 *   open     tn_hudi_commit_open   lock, settle properties, drop the metadata table, roll back what
 *                                  failed, sweep
 *   begin    tn_hudi_commit_begin (commit_hudi_begin.c)
 *   mark     tn_hudi_commit_mark (commit_hudi_marker.c)
 *   finish   tn_hudi_commit_finish (commit_hudi_finish.c)
 *
 * O1: nothing is changed before the lock is held and the table is known to be one that tarn may
 *     write to.
 * O2: the version, the layout and the place of the timeline are read again before each file that
 *     appears on the timeline: a JVM may have upgraded the table.
 * O3: times are given out greater than every requested and completion time there is, and than all
 *     given out before.
 * O4: what is UNCERTAIN is left as it is: the next open sees whether the completed file is there.
 */
#include "commit/commit_hudi_parts.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

/* A clock that is behind by less than this is no news. */
#define CLOCK_WARN_MS 1000

void tn_hudi_commit_warn(tn_hudi_commit *commit, const char *format, ...)
{
    char text[TN_ERROR_TEXT_MAX];
    va_list args;

    if (commit->options.warn == NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    commit->options.warn(commit->options.warn_arg, text);
}

void tn_hudi_commit_shield(tarn_cx *child, const tarn_cx *cx, atomic_bool *never)
{
    tn_cx_child(child, cx);
    atomic_init(never, false);
    child->cancel = never;
    child->id_state = cx->id_state;
}

int tn_hudi_commit_path(tarn_cx *cx, tn_hudi_commit *commit, tn_arena *arena, const char *folder,
                        tn_str name, tn_str *out)
{
    return tn_arena_print(cx, arena, out, "%.*s/%s%s%.*s", TN_STR_ARG(commit->hoodie), folder,
                          name.len != 0 ? "/" : "", TN_STR_ARG(name));
}

int tn_hudi_commit_folder(tarn_cx *cx, tn_store *store, tn_str base, tn_str below)
{
    tn_arena arena = {0};
    size_t end = 0;
    int rc = TARN_OK;

    while (end < below.len) {
        tn_str path;

        end += tn_str_find(tn_str_from(below, end), '/');
        TN_TRY(tn_path_join(cx, &arena, base, (tn_str){below.ptr, end}, &path));
        rc = tn_store_make_dir(cx, store, path);
        if (rc == TARN_E_EXISTS) {
            tn_cx_forget(cx);
            rc = TARN_OK;
        }
        TN_TRY(rc);
        end++;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static void note_time(tn_hudi_commit *commit, tn_str time)
{
    if (tn_str_compare(time, commit->last) > 0)
        commit->last = time;
}

/* The clock stands before what the timeline has: told once, times go on behind the latest. */
static int compare_clock(tarn_cx *cx, tn_hudi_commit *commit, tn_str latest)
{
    bool utc = commit->config.utc;
    int64_t then, now = tn_cx_now_ms(cx);
    tn_str text;
    int rc = TARN_OK;

    if (latest.len == 0 || tn_str_compare(latest, commit->last) <= 0 ||
        !tn_instant_to_ms(latest, utc, &then) || then - now < CLOCK_WARN_MS)
        goto done;
    TN_TRY(tn_instant_of_ms(cx, &commit->arena, now, utc, &text));
    tn_hudi_commit_warn(commit,
                        "%.*s: the clock (%.*s %s) is behind the latest instant %.*s of the "
                        "timeline; instants go on after that one: check the clock, and the zone in "
                        "hoodie.table.timeline.timezone",
                        TN_STR_ARG(commit->root), TN_STR_ARG(text), utc ? "UTC" : "local time",
                        TN_STR_ARG(latest));
done:
    return rc;
}

int tn_hudi_commit_load(tarn_cx *cx, tn_hudi_commit *commit)
{
    tn_hudi_config config;
    tn_timeline timeline;
    tn_str latest;
    int rc;

    TN_TRY(tn_hudi_config_load(cx, commit->store, commit->root, &commit->arena, &config));
    TN_TRY(tn_timeline_load(cx, commit->store, commit->root, &config, &commit->arena, &timeline));
    commit->config = config;
    commit->timeline = timeline;
    latest = tn_timeline_latest(&timeline);
    TN_TRY(compare_clock(cx, commit, latest));
    note_time(commit, latest);
done:
    return rc;
}

int tn_hudi_commit_same(tarn_cx *cx, tn_hudi_commit *commit)
{
    const tn_hudi_config *was = &commit->config;
    tn_arena arena = {0};
    tn_hudi_config now;
    int rc;

    TN_TRY(tn_hudi_config_load(cx, commit->store, commit->root, &arena, &now));
    if (now.version != was->version || now.layout != was->layout ||
        !tn_str_equal(now.timeline_path, was->timeline_path))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another writer took the table from version %d (layout %d) to version %d "
                "(layout %d) meanwhile; run again",
                TN_STR_ARG(commit->root), (int)was->version, (int)was->layout, (int)now.version,
                (int)now.layout);
    if (now.metadata_table && !was->metadata_table)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another writer gave the table a metadata table meanwhile; nothing was "
                "committed: run again",
                TN_STR_ARG(commit->root));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_commit_time(tarn_cx *cx, tn_hudi_commit *commit, tn_str *out)
{
    tn_str time;
    int rc;

    TN_TRY(tn_instant_of_ms(cx, &commit->arena, tn_cx_now_ms(cx), commit->config.utc, &time));
    if (tn_str_compare(time, commit->last) <= 0)
        TN_TRY(tn_instant_next(cx, &commit->arena, commit->last, &time));
    assert(tn_str_compare(time, commit->last) > 0);
    commit->last = time;
    *out = time;
done:
    return rc;
}

int tn_hudi_commit_put(tarn_cx *cx, tn_hudi_commit *commit, tn_str name, tn_str bytes)
{
    tn_arena arena = {0};
    tn_str path;
    int rc;

    TN_TRY(tn_hudi_commit_same(cx, commit));
    TN_TRY(tn_path_join(cx, &arena, commit->timeline.directory, name, &path));
    TN_TRY(tn_hudi_config_drop_crc(cx, commit->store, path));
    rc = tn_store_put_absent(cx, commit->store, path, bytes);
    if (rc == TARN_E_EXISTS)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another writer made this instant at the same moment; run again",
                TN_STR_ARG(path));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_commit_drop(tarn_cx *cx, tn_hudi_commit *commit, tn_str name)
{
    tn_arena arena = {0};
    tn_str path;
    int rc;

    TN_TRY(tn_path_join(cx, &arena, commit->timeline.directory, name, &path));
    TN_TRY(tn_hudi_config_drop_crc(cx, commit->store, path));
    rc = tn_store_remove(cx, commit->store, path);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int check_restore(tarn_cx *cx, const tn_hudi_commit *commit)
{
    const tn_timeline *timeline = &commit->timeline;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++)
        if (timeline->instants[i].action == TN_ACTION_RESTORE &&
            timeline->instants[i].state != TN_STATE_COMPLETED)
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "%.*s: restore %.*s is not finished; nothing may be written before it is: let "
                    "Hudi finish it",
                    TN_STR_ARG(commit->root), TN_STR_ARG(timeline->instants[i].time));
done:
    return rc;
}

/* What can be told before anything is locked or made. */
static int look_first(tarn_cx *cx, tn_hudi_commit *commit)
{
    int rc;

    TN_TRY(tn_hudi_config_load(cx, commit->store, commit->root, &commit->arena, &commit->config));
    TN_TRY(tn_hudi_config_writable(cx, &commit->config));
    TN_TRY(tn_hudi_metadata_check(cx, commit));
done:
    return rc;
}

static int prepare(tarn_cx *cx, tn_hudi_commit *commit, tn_str root,
                   const tn_hudi_commit_options *options)
{
    int rc = TARN_OK;

    if (options != NULL)
        commit->options = *options;
    commit->root = root;
    TN_TRY(tn_arena_keep(cx, &commit->arena, &commit->root));
    TN_TRY(tn_path_join(cx, &commit->arena, commit->root, TN_STR(".hoodie"), &commit->hoodie));
    if (pthread_mutex_init(&commit->mutex, NULL) != 0)
        TN_FAIL(TARN_E_NOMEM, "out of memory for a mutex");
    commit->mutex_made = true;
done:
    return rc;
}

int tn_hudi_commit_enter(tarn_cx *cx, tn_store *store, tn_str root,
                         const tn_hudi_commit_options *options, tn_hudi_commit **out)
{
    tn_hudi_commit *commit = tn_calloc(cx, 1, sizeof *commit);
    int rc;

    if (commit == NULL)
        return TARN_E_NOMEM;
    commit->store = store;
    TN_TRY(prepare(cx, commit, root, options));
    TN_TRY(look_first(cx, commit));
    TN_TRY(tn_hudi_lock_take(cx, store, commit->root, commit->options.lock_wait_ms, &commit->arena,
                             &commit->lock));
    TN_TRY(tn_hudi_lock_provider(cx, commit->root, &commit->config, &commit->arena, &commit->lock));
    TN_TRY(tn_hudi_config_settle(cx, store, commit->root));
    TN_TRY(tn_hudi_commit_load(cx, commit));
    TN_TRY(tn_hudi_config_writable(cx, &commit->config));
    TN_TRY(tn_hudi_metadata_check(cx, commit));
    TN_TRY(check_restore(cx, commit));
    *out = commit;
    commit = NULL;
done:
    tn_hudi_commit_close(cx, commit);
    return rc;
}

int tn_hudi_commit_open(tarn_cx *cx, tn_store *store, tn_str root,
                        const tn_hudi_commit_options *options, tn_hudi_commit **out)
{
    tn_hudi_commit *commit = NULL;
    int rc;

    TN_TRY(tn_hudi_commit_enter(cx, store, root, options, &commit));
    TN_TRY(tn_hudi_failed_settle(cx, commit));
    tn_hudi_failed_sweep(cx, commit);
    *out = commit;
    commit = NULL;
done:
    tn_hudi_commit_close(cx, commit);
    return rc;
}

const tn_hudi_config *tn_hudi_commit_config(const tn_hudi_commit *commit)
{
    return &commit->config;
}

const tn_timeline *tn_hudi_commit_timeline(const tn_hudi_commit *commit)
{
    return &commit->timeline;
}

size_t tn_hudi_commit_rolled_back(const tn_hudi_commit *commit, const tn_str **instants)
{
    *instants = commit->rolled;
    return commit->rolled_count;
}

/* What was begun goes again. A failure here harms nobody: the next open does it. */
static void give_up(tarn_cx *cx, tn_hudi_commit *commit)
{
    const tn_instant *own;
    tn_hudi_rolled rolled = {0};
    int rc;

    TN_TRY(tn_hudi_commit_load(cx, commit));
    own = tn_timeline_find(&commit->timeline, commit->instant, commit->action);
    if (own == NULL) {
        /* Another writer rolled it back, or its first file never came to be. */
        TN_TRY(tn_hudi_marker_remove(cx, commit, commit->instant));
        TN_TRY(tn_hudi_heart_stop(cx, commit, commit->instant));
        goto done;
    }
    if (own->state == TN_STATE_COMPLETED)
        goto done;
    TN_TRY(tn_hudi_failed_one(cx, commit, own, &rolled));
done:
    if (rc != TARN_OK)
        tn_hudi_commit_warn(commit,
                            "%.*s: the unfinished instant %.*s could not be rolled back now (%s); "
                            "it is invisible, and the next write does it",
                            TN_STR_ARG(commit->root), TN_STR_ARG(commit->instant),
                            tarn_cx_error(cx));
}

void tn_hudi_commit_close(tarn_cx *cx, tn_hudi_commit *commit)
{
    atomic_bool never;
    tarn_cx child;

    if (commit == NULL)
        return;
    tn_hudi_commit_shield(&child, cx, &never);
    if (commit->state == TN_HUDI_BEGUN)
        give_up(&child, commit);
    tn_hudi_lock_free(&child, &commit->lock);
    tn_cx_child_clear(&child);
    if (commit->mutex_made)
        pthread_mutex_destroy(&commit->mutex);
    tn_map_clear(&commit->partitions);
    tn_arena_clear(&commit->mark_arena);
    tn_arena_clear(&commit->arena);
    free(commit);
}
