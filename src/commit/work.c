/* The work directory: made, locked, swept, removed.
 * I1: the lock is held before anything else in the directory is looked at, and let go last.
 * I2: two runs over one root exclude each other even when they use different work directories: each
 *     takes its own lock first and then looks at the other's.
 * I3: sweeping removes only files that tarn staged and links that it made; it comes after all
 *     records are settled, and what a record could not settle has been put aside under another
 * name.
 */
#include "commit/work.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "commit/write_run.h"
#include "table/dir.h"

#define LOCK_TRIES_MAX 20
#define STRAY_AGE_MS   (24 * 3600 * 1000ll)

int tn_work_at(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, tn_str path,
               tn_work *out)
{
    tn_work work = {.store = store, .root = root, .path = path};
    int rc;

    TN_TRY(tn_arena_keep(cx, arena, &work.root));
    TN_TRY(tn_arena_keep(cx, arena, &work.path));
    TN_TRY(tn_path_join(cx, arena, work.path, TN_STR("lock"), &work.lock_path));
    TN_TRY(tn_path_join(cx, arena, work.path, TN_STR("changes"), &work.changes));
    TN_TRY(tn_path_join(cx, arena, work.path, TN_STR("undo"), &work.undo));
    TN_TRY(tn_path_join(cx, arena, work.path, TN_STR("run.json"), &work.run));
    *out = work;
done:
    return rc;
}

/* Whoever may write to the root may work here: the same owner, mode and access lists, as far as we
 * can give them. What is made in staging takes the root's default list and group from it. */
static int make(tarn_cx *cx, const tn_work *work)
{
    tn_arena arena = {0};
    tn_attrs attrs;
    int rc = tn_store_make_dir(cx, work->store, work->path);

    if (rc == TARN_E_EXISTS) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    if (tn_store_attrs_get(cx, work->store, work->root, &arena, &attrs) == TARN_OK &&
        tn_store_attrs_set(cx, work->store, work->path, &attrs, TN_ATTRS_OWNER) == TARN_OK) {
        if (tn_store_attrs_set(cx, work->store, work->path, &attrs, TN_ATTRS_EXTENDED) != TARN_OK)
            tn_cx_forget(cx);
        if (tn_store_attrs_set(cx, work->store, work->path, &attrs, TN_ATTRS_MODE) != TARN_OK)
            tn_cx_forget(cx);
    }
    tn_cx_forget(cx);
    TN_TRY(tn_store_sync_dir(cx, work->store, tn_path_parent(work->path)));
done:
    tn_arena_clear(&arena);
    return rc;
}

/* A run that ends removes the directory under our feet: then we begin again. */
static int make_and_lock(tarn_cx *cx, tn_work *work)
{
    int rc = TARN_OK;

    for (int tries = 0; tries < LOCK_TRIES_MAX; tries++) {
        rc = make(cx, work);
        if (rc == TARN_OK)
            rc = tn_store_lock(cx, work->store, work->lock_path, &work->lock);
        if (rc != TARN_E_NOTFOUND)
            break;
    }
    return rc;
}

/* The lock of the other work directory, where there is one. */
static int lock_other(tarn_cx *cx, tn_arena *arena, tn_work *work)
{
    tn_str beside, inside, other, path;
    bool found;
    tn_stat stat;
    int rc;

    TN_TRY(tn_dir_work_names(cx, arena, work->root, &beside, &inside));
    other = tn_str_equal(work->path, beside) ? inside : beside;
    TN_TRY(tn_path_join(cx, arena, other, TN_STR("lock"), &path));
    TN_TRY(tn_change_find(cx, work->store, path, &found, &stat));
    if (!found)
        goto done;
    rc = tn_store_lock(cx, work->store, path, &work->other_lock);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    return rc;
}

int tn_work_running(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, bool *running,
                    tn_str *holder)
{
    tn_str works[2], path;
    int rc = TARN_OK;

    *running = false;
    TN_TRY(tn_dir_work_names(cx, arena, root, &works[0], &works[1]));
    for (int i = 0; i < 2 && !*running; i++) {
        TN_TRY(tn_path_join(cx, arena, works[i], TN_STR("lock"), &path));
        TN_TRY(tn_store_lock_held(cx, store, path, arena, running, holder));
    }
done:
    return rc;
}

/* A directory that was made for a run that cannot begin goes again. */
static void give_back(tarn_cx *cx, tn_work *work)
{
    char text[TN_ERROR_TEXT_MAX];
    int status = tarn_cx_status(cx);

    if (work->lock == NULL)
        return;
    memcpy(text, tarn_cx_error(cx), sizeof text);
    tn_work_finish(cx, work);
    (void)tn_fail(cx, status, "%s", text);
}

int tn_work_open(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str root, tn_str path,
                 tn_work *out)
{
    tn_work work = {0};
    int rc;

    TN_TRY(tn_work_at(cx, store, arena, root, path, &work));
    TN_TRY(make_and_lock(cx, &work));
    TN_TRY(lock_other(cx, arena, &work));
    TN_TRY(tn_store_make_dirs(cx, store, work.changes));
    TN_TRY(tn_store_sync_dir(cx, store, work.path));
    *out = work;
    work = (tn_work){0};
done:
    give_back(cx, &work);
    return rc;
}

void tn_work_close(tn_work *work)
{
    tn_store_unlock(work->other_lock);
    tn_store_unlock(work->lock);
    work->lock = work->other_lock = NULL;
}

void tn_work_finish(tarn_cx *cx, tn_work *work)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count = 0;
    bool foreign = true;

    if (work->lock == NULL)
        return;
    tn_change_remove_empty(cx, work->store, work->changes);
    tn_change_remove_empty(cx, work->store, work->undo);
    if (tn_store_list(cx, work->store, work->path, &arena, &entries, &count) != TARN_OK)
        foreign = false;
    for (size_t i = 0; i < count && foreign; i++)
        foreign = tn_str_is(entries[i].name, "lock") ||
                  (entries[i].stat.kind != TN_ENTRY_DIR && !tn_str_is(entries[i].name, "run.json"));
    /* While something of ours is left (all else are directories) the lock stays, too: it costs
     * nothing. Somebody's own files in there are no reason for it to. */
    if (foreign && tn_store_remove(cx, work->store, work->lock_path) == TARN_OK)
        tn_change_remove_empty(cx, work->store, work->path);
    tn_cx_forget(cx);
    tn_arena_clear(&arena);
    tn_work_close(work);
}

int tn_work_put_run(tarn_cx *cx, const tn_work *work, const tn_str *stagings, size_t count)
{
    tn_buf text = {0};
    tn_json json = tn_json_to(&text);
    int rc;

    tn_json_object(&json);
    tn_json_put_text(&json, "kind", TN_STR("tarn.run"));
    tn_json_put_i64(&json, "version", 1);
    tn_json_key(&json, "stagings");
    tn_json_array(&json);
    for (size_t i = 0; i < count; i++)
        tn_json_bytes(&json, stagings[i]);
    tn_json_array_end(&json);
    tn_json_object_end(&json);
    TN_TRY(tn_buf_check(cx, &text));
    TN_TRY(tn_store_put(cx, work->store, work->run, tn_buf_view(&text)));
done:
    tn_buf_clear(&text);
    return rc;
}

static bool has_component(tn_str path, tn_str name)
{
    for (size_t at = 0; at < path.len;) {
        tn_str rest = tn_str_from(path, at);
        size_t n = tn_str_find(rest, '/');

        if (n == name.len && memcmp(rest.ptr, name.ptr, n) == 0)
            return true;
        at += n + 1;
    }
    return false;
}

static bool is_below(tn_str path, tn_str above)
{
    return path.len > above.len && tn_str_starts(path, above) && path.ptr[above.len] == '/';
}

bool tn_work_owns(tn_str root, tn_str work, tn_str staging)
{
    return is_below(staging, work) ||
           ((root.len == 1 || is_below(staging, root)) && has_component(staging, TN_STR(".tarn")));
}

int tn_work_sweep_run(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str own_id,
                      uint64_t *removed)
{
    tn_buf text = {0};
    json_t *object = NULL, *stagings;
    tn_str staging;
    int rc = tn_store_get(cx, work->store, work->run, TN_TASK_LINE_BYTES_MAX, &text);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    rc = tn_json_parse(cx, tn_buf_view(&text), "list of staging directories", &object);
    if (rc == TARN_OK)
        rc = tn_json_get_array(cx, object, "stagings", &stagings);
    if (rc == TARN_E_CORRUPT) { /* nobody's data: what it listed is swept as stray, later */
        tn_cx_forget(cx);
        rc = tn_change_remove(cx, work->store, work->run);
        goto done;
    }
    TN_TRY(rc);
    for (size_t i = 0; i < json_array_size(stagings); i++) {
        TN_TRY(tn_json_bytes_of(cx, arena, json_array_get(stagings, i), &staging));
        if (own_id.len != 0 && has_component(staging, own_id))
            continue;
        if (!tn_work_owns(work->root, work->path, staging))
            continue; /* of the place where the root lay before it was moved or copied */
        TN_TRY(tn_work_sweep(cx, work->store, arena, staging));
        ++*removed;
    }
    TN_TRY(tn_change_remove(cx, work->store, work->run));
done:
    json_decref(object);
    tn_buf_clear(&text);
    return rc;
}

/* Without a record this directory was never in use: its names are links that tarn made, perhaps the
 * last ones to files that somebody has removed since. */
int tn_work_sweep_new(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str staging)
{
    tn_entry *entries;
    size_t count;
    tn_str path, name;
    int rc;

    TN_TRY(tn_path_join(cx, arena, staging, TN_STR("new"), &path));
    rc = tn_store_list(cx, store, path, arena, &entries, &count);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    TN_TRY(rc);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].stat.kind == TN_ENTRY_DIR && !entries[i].stat.link)
            continue;
        TN_TRY(tn_path_join(cx, arena, path, entries[i].name, &name));
        TN_TRY(tn_change_remove(cx, store, name));
    }
    tn_change_remove_empty(cx, store, path);
done:
    return rc;
}

/* A write's staging holds nothing but what it made: spilled rows, new files, directories. */
static int sweep_write(tarn_cx *cx, tn_store *store, tn_str staging)
{
    int rc;

    TN_TRY(tn_store_remove_tree(cx, store, staging));
    tn_change_remove_staging(cx, store, staging);
done:
    return rc;
}

int tn_work_sweep(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str staging)
{
    tn_entry *entries;
    size_t count;
    tn_str path;
    int rc;

    if (tn_str_is(tn_path_name(staging), TN_WRITE_STAGING_NAME))
        return sweep_write(cx, store, staging);
    rc = tn_store_list(cx, store, staging, arena, &entries, &count);
    if (rc == TARN_E_NOTFOUND) { /* what is above it may have been made already */
        tn_cx_forget(cx);
        rc = TARN_OK;
        tn_change_remove_staging(cx, store, staging);
        goto done;
    }
    TN_TRY(rc);
    /* The new directory first: its links are known by the staged names they share. */
    TN_TRY(tn_work_sweep_new(cx, store, arena, staging));
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_path_join(cx, arena, staging, entries[i].name, &path));
        if (entries[i].stat.kind != TN_ENTRY_DIR)
            TN_TRY(tn_change_remove(cx, store, path));
        else
            tn_change_remove_empty(cx, store, path);
    }
    tn_change_remove_staging(cx, store, staging);
done:
    return rc;
}

/* Halves of puts that a crash cut off: they are made under the lock only, so none is in use. A
 * probe that loses its directories tries again. */
static int sweep_halves(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str folder)
{
    tn_entry *entries;
    size_t count;
    tn_str path;
    int rc = tn_store_list(cx, work->store, folder, arena, &entries, &count);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    TN_TRY(rc);
    for (size_t i = 0; i < count; i++) {
        bool is_directory = entries[i].stat.kind == TN_ENTRY_DIR && !entries[i].stat.link;

        TN_TRY(tn_path_join(cx, arena, folder, entries[i].name, &path));
        if (!is_directory && tn_str_starts(entries[i].name, TN_STR(TN_STORE_PUT_PREFIX)))
            TN_TRY(tn_change_remove(cx, work->store, path));
        else if (is_directory && tn_str_starts(entries[i].name, TN_STR(TN_DIR_PROBE_PREFIX)))
            tn_change_remove_empty(cx, work->store, path);
    }
done:
    return rc;
}

int tn_work_sweep_halves(tarn_cx *cx, const tn_work *work, tn_arena *arena)
{
    const tn_str folders[] = {work->path, work->changes, work->undo};
    int rc = TARN_OK;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        TN_TRY(sweep_halves(cx, work, arena, folders[i]));
done:
    return rc;
}

/* Nobody made a name in it or in the directories below for a day. */
static bool is_old(tarn_cx *cx, int64_t newest_ns, const tn_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        newest_ns = entries[i].stat.mtime_ns > newest_ns ? entries[i].stat.mtime_ns : newest_ns;
    return tn_cx_now_ms(cx) - newest_ns / 1000000 >= STRAY_AGE_MS;
}

int tn_work_waits(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str path, bool *out)
{
    tn_entry *entries;
    tn_stat stat, run;
    size_t count;
    bool found;
    int rc;

    *out = false;
    TN_TRY(tn_change_find(cx, work->store, work->run, &found, &run));
    if (found)
        goto done;
    TN_TRY(tn_store_stat(cx, work->store, path, &stat));
    TN_TRY(tn_store_list(cx, work->store, path, arena, &entries, &count));
    *out = !is_old(cx, stat.mtime_ns, entries, count);
done:
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    return rc;
}

/* A fresh one stays: a plan made apart may still be on its way to its commit. One that another run
 * takes away meanwhile, as a probe does with its own, is none. */
static int sweep_stray_run(tarn_cx *cx, const tn_work *work, tn_arena *arena, const tn_entry *run,
                           uint64_t *removed)
{
    tn_entry *entries;
    size_t count;
    tn_str path, staging;
    int rc;

    TN_TRY(tn_path_join(cx, arena, work->path, run->name, &path));
    rc = tn_store_list(cx, work->store, path, arena, &entries, &count);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    TN_TRY(rc);
    if (!is_old(cx, run->stat.mtime_ns, entries, count))
        goto done;
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_path_join(cx, arena, path, entries[i].name, &staging));
        if (entries[i].stat.kind == TN_ENTRY_DIR && !entries[i].stat.link)
            TN_TRY(tn_work_sweep(cx, work->store, arena, staging));
    }
    tn_change_remove_empty(cx, work->store, path);
    ++*removed;
done:
    return rc;
}

int tn_work_sweep_stray(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str own_id,
                        uint64_t *removed)
{
    tn_entry *entries;
    size_t count;
    int rc;

    TN_TRY(tn_store_list(cx, work->store, work->path, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        if (entries[i].stat.kind != TN_ENTRY_DIR || entries[i].stat.link ||
            tn_str_is(entries[i].name, "changes") || tn_str_is(entries[i].name, "undo") ||
            tn_str_equal(entries[i].name, own_id))
            continue;
        TN_TRY(sweep_stray_run(cx, work, arena, &entries[i], removed));
    }
done:
    return rc;
}
