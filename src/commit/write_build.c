/* Builds in staging what the steps of a write need, and makes it durable.
 * B1: nothing outside staging is changed; what is linked from there is a second name only.
 * B2: when this returns, all that the record will name is on stable storage. Everything is made
 *     first and synced afterwards: on most file systems the first sync then carries the others. */
#include <assert.h>

#include "commit/write_run.h"

typedef struct build {
    tn_store *store;
    tn_arena *arena;
    tn_write_record *record;
    tn_str *dirs; /* to sync */
    size_t dir_count, dir_cap;
} build;

static int will_sync(tarn_cx *cx, build *b, tn_str path)
{
    if (tn_arena_grow(cx, b->arena, &b->dirs, b->dir_count, &b->dir_cap, sizeof *b->dirs) !=
        TARN_OK)
        return TARN_E_NOMEM;
    b->dirs[b->dir_count++] = path;
    return TARN_OK;
}

static int make_dir(tarn_cx *cx, build *b, tn_str path)
{
    int rc;

    TN_TRY(tn_store_make_dir(cx, b->store, path));
    TN_TRY(will_sync(cx, b, path));
done:
    return rc;
}

/* `below` and what is missing above it, up to `base`. */
static int make_below(tarn_cx *cx, build *b, tn_str base, tn_str below)
{
    tn_str path;
    int rc = TARN_OK;

    for (size_t at = 0; at < below.len;) {
        at += tn_str_find(tn_str_from(below, at), '/');
        TN_TRY(tn_path_join(cx, b->arena, base, (tn_str){below.ptr, at}, &path));
        rc = make_dir(cx, b, path);
        if (rc == TARN_E_EXISTS) {
            tn_cx_forget(cx);
            rc = TARN_OK;
        }
        TN_TRY(rc);
        at++;
    }
done:
    return rc;
}

/* The file lies where the step wants it from here on. */
static int stage(tarn_cx *cx, build *b, tn_change_file *file, tn_str directory)
{
    tn_str path;
    int rc;

    TN_TRY(tn_path_join(cx, b->arena, directory, file->name, &path));
    TN_TRY(tn_store_rename(cx, b->store, file->path, path, false));
    file->path = path;
done:
    return rc;
}

static int learn_inode(tarn_cx *cx, build *b, tn_str path, uint64_t *inode)
{
    tn_stat stat;
    int rc;

    TN_TRY(tn_store_stat(cx, b->store, path, &stat));
    *inode = stat.inode;
done:
    return rc;
}

static int build_tree(tarn_cx *cx, build *b, tn_write_step *step, tn_str fresh)
{
    tn_str last = {0};
    int rc;

    TN_TRY(make_dir(cx, b, fresh));
    for (size_t i = 0; i < step->entering_count; i++) {
        tn_str name = step->entering[i].name;
        size_t file = tn_path_name(name).len;
        tn_str below = {name.ptr, name.len > file ? name.len - file - 1 : 0};

        if (below.len != 0 && !tn_str_equal(below, last))
            TN_TRY(make_below(cx, b, fresh, below));
        last = below;
        TN_TRY(stage(cx, b, &step->entering[i], fresh));
    }
    TN_TRY(learn_inode(cx, b, fresh, &step->new_inode));
done:
    return rc;
}

/* A name may have come to mean another file since it was listed: what was linked counts. One that
 * is gone is gone. */
static int link_kept(tarn_cx *cx, build *b, tn_write_step *step, tn_str fresh)
{
    size_t n = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < step->kept_count; i++) {
        tn_change_file file = step->kept[i];
        tn_str from, to;

        TN_TRY(tn_path_join(cx, b->arena, step->directory, file.name, &from));
        TN_TRY(tn_path_join(cx, b->arena, fresh, file.name, &to));
        rc = tn_store_link(cx, b->store, from, to);
        if (rc == TARN_E_NOTFOUND) {
            tn_cx_forget(cx);
            rc = TARN_OK;
            continue;
        }
        TN_TRY(rc);
        TN_TRY(learn_inode(cx, b, to, &file.inode));
        step->kept[n++] = file;
    }
    step->kept_count = n;
done:
    return rc;
}

/* Who owns it matters, but an ordinary user cannot give files away: then they are his. */
static int dress(tarn_cx *cx, build *b, const tn_write_step *step, tn_str fresh)
{
    tn_attrs attrs;
    int rc;

    TN_TRY(tn_store_attrs_get(cx, b->store, step->directory, b->arena, &attrs));
    if (tn_store_attrs_set(cx, b->store, fresh, &attrs, TN_ATTRS_OWNER) != TARN_OK)
        tn_cx_forget(cx);
    TN_TRY(tn_store_attrs_set(cx, b->store, fresh, &attrs, TN_ATTRS_EXTENDED | TN_ATTRS_MODE));
done:
    return rc;
}

static int build_exchange(tarn_cx *cx, build *b, tn_write_step *step, tn_str fresh)
{
    int rc;

    TN_TRY(tn_store_make_dir(cx, b->store, fresh));
    TN_TRY(link_kept(cx, b, step, fresh));
    TN_TRY(dress(cx, b, step, fresh));
    TN_TRY(will_sync(cx, b, fresh));
    for (size_t i = 0; i < step->entering_count; i++)
        TN_TRY(stage(cx, b, &step->entering[i], fresh));
    TN_TRY(learn_inode(cx, b, fresh, &step->new_inode));
done:
    return rc;
}

/* The new directory cannot be like the old one (a file that must not be linked, a mode that cannot
 * be set): renames, then. */
static int give_up_exchange(tarn_cx *cx, build *b, tn_write_step *step, tn_str fresh)
{
    int rc;

    tn_cx_forget(cx);
    TN_TRY(tn_store_remove_tree(cx, b->store, fresh));
    step->way = TN_WRITE_RENAME;
    step->kept_count = 0;
    step->new_inode = 0;
done:
    return rc;
}

static bool is_staged(const tn_write_step *step, tn_str fresh)
{
    return step->entering_count != 0 && tn_str_starts(step->entering[0].path, fresh);
}

static int build_step(tarn_cx *cx, build *b, tn_write_step *step, bool exchange)
{
    tn_str fresh, old;
    int rc;

    if (step->way != TN_WRITE_RENAME || step->leaving_count != 0)
        TN_TRY(make_dir(cx, b, step->staging));
    TN_TRY(tn_path_join(cx, b->arena, step->staging, TN_STR("new"), &fresh));
    if (step->way == TN_WRITE_EXCHANGE && !exchange)
        TN_TRY(give_up_exchange(cx, b, step, fresh));
    if (step->way == TN_WRITE_TREE)
        TN_TRY(build_tree(cx, b, step, fresh));
    if (step->way == TN_WRITE_EXCHANGE) {
        rc = build_exchange(cx, b, step, fresh);
        if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED || is_staged(step, fresh))
            TN_TRY(rc);
        if (rc != TARN_OK)
            TN_TRY(give_up_exchange(cx, b, step, fresh));
    }
    if (step->way == TN_WRITE_RENAME && step->leaving_count != 0) {
        TN_TRY(tn_path_join(cx, b->arena, step->staging, TN_STR("old"), &old));
        TN_TRY(make_dir(cx, b, old));
    }
    for (size_t i = 0; i < step->entering_count; i++)
        TN_TRY(learn_inode(cx, b, step->entering[i].path, &step->entering[i].inode));
done:
    return rc;
}

/* Whether the file system can exchange: tried once, in staging. */
static int probe(tarn_cx *cx, build *b, bool *out)
{
    tn_str a, c;
    int rc;

    *out = false;
    TN_TRY(tn_path_join(cx, b->arena, b->record->staging, TN_STR("probe-0"), &a));
    TN_TRY(tn_path_join(cx, b->arena, b->record->staging, TN_STR("probe-1"), &c));
    TN_TRY(tn_store_make_dir(cx, b->store, a));
    TN_TRY(tn_store_make_dir(cx, b->store, c));
    rc = tn_store_exchange(cx, b->store, a, c);
    if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
        goto done;
    *out = rc == TARN_OK;
    tn_cx_forget(cx);
    TN_TRY(tn_store_remove_dir(cx, b->store, a));
    TN_TRY(tn_store_remove_dir(cx, b->store, c));
done:
    return rc;
}

int tn_write_build(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_write_record *record)
{
    build b = {.store = store, .arena = arena, .record = record};
    bool wanted = false, exchange = false;
    int rc = TARN_OK;

    assert(record->staging.len != 0);
    for (size_t i = 0; i < record->step_count; i++)
        wanted |= record->steps[i].way == TN_WRITE_EXCHANGE;
    if (wanted)
        TN_TRY(probe(cx, &b, &exchange));
    for (size_t i = 0; i < record->step_count; i++)
        TN_TRY(build_step(cx, &b, &record->steps[i], exchange));
    TN_TRY(will_sync(cx, &b, record->staging));
    if (b.dir_count > TN_WRITE_SYNC_EACH_MAX) {
        TN_TRY(tn_store_sync_all(cx, store, record->staging));
        goto done;
    }
    for (size_t i = 0; i < b.dir_count; i++)
        TN_TRY(tn_store_sync_dir(cx, store, b.dirs[i]));
done:
    return rc;
}
