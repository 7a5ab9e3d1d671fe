/* The forwarding that wrappers share.
 * I1: a handle that a wrapper gives out names the wrapper as its store and owns the inner handle.
 * I2: when `after` fails for a call that opened a handle, the inner handle is closed. */
#include "io/store_wrap.h"

#include <assert.h>
#include <stdlib.h>

typedef struct wrap_file {
    tn_file base;
    tn_file *inner;
} wrap_file;

typedef struct wrap_sink {
    tn_sink base;
    tn_sink *inner;
} wrap_sink;

typedef struct wrap_list {
    tn_list base;
    tn_list *inner;
} wrap_list;

typedef struct wrap_lock {
    tn_lock base;
    tn_lock *inner;
} wrap_lock;

static int before(tarn_cx *cx, tn_store *store, enum tn_store_call call, tn_str path,
                  uint64_t bytes)
{
    tn_store_wrap *wrap = (tn_store_wrap *)store;

    return wrap->before != NULL ? wrap->before(cx, wrap, call, path, bytes) : TARN_OK;
}

static int after(tarn_cx *cx, tn_store *store, enum tn_store_call call, tn_str path, uint64_t bytes)
{
    tn_store_wrap *wrap = (tn_store_wrap *)store;

    return wrap->after != NULL ? wrap->after(cx, wrap, call, path, bytes) : TARN_OK;
}

static tn_store *within(tn_store *store)
{
    return ((tn_store_wrap *)store)->inner;
}

/* One call between its two hooks; INNER is the store within. */
#define AROUND(call, path, bytes, op, ...)                                                         \
    do {                                                                                           \
        tn_store *INNER = within(store);                                                           \
        int rc = before(cx, store, (call), (path), (bytes));                                       \
                                                                                                   \
        if (rc == TARN_OK)                                                                         \
            rc = INNER->ops->op(cx, __VA_ARGS__);                                                  \
        return rc == TARN_OK ? after(cx, store, (call), (path), (bytes)) : rc;                     \
    } while (0)

static void wrap_close(tn_store *store)
{
    free(store);
}

static int wrap_stat(tarn_cx *cx, tn_store *store, tn_str path, tn_stat *out)
{
    AROUND(TN_CALL_STAT, path, 0, stat, INNER, path, out);
}

static void wrap_close_file(tn_file *base)
{
    wrap_file *file = (wrap_file *)base;

    if (file->inner != NULL)
        file->inner->store->ops->close_file(file->inner);
    free(file);
}

static int wrap_open(tarn_cx *cx, tn_store *store, tn_str path, tn_file **out)
{
    wrap_file *file = tn_calloc(cx, 1, sizeof *file);
    int rc;

    if (file == NULL)
        return TARN_E_NOMEM;
    TN_TRY(before(cx, store, TN_CALL_OPEN, path, 0));
    TN_TRY(within(store)->ops->open(cx, within(store), path, &file->inner));
    TN_TRY(after(cx, store, TN_CALL_OPEN, path, 0));
    file->base = (tn_file){.store = store, .stat = file->inner->stat};
    *out = &file->base;
done:
    if (rc != TARN_OK)
        wrap_close_file(&file->base);
    return rc;
}

static int wrap_read(tarn_cx *cx, tn_file *file, uint64_t offset, void *into, size_t len)
{
    tn_store *store = file->store;

    AROUND(TN_CALL_READ, TN_STR(""), len, read, ((wrap_file *)file)->inner, offset, into, len);
}

static void wrap_close_sink(tn_sink *base)
{
    wrap_sink *sink = (wrap_sink *)base;

    if (sink->inner != NULL)
        sink->inner->store->ops->close_sink(sink->inner);
    free(sink);
}

static int wrap_create(tarn_cx *cx, tn_store *store, tn_str path, tn_sink **out)
{
    wrap_sink *sink = tn_calloc(cx, 1, sizeof *sink);
    int rc;

    if (sink == NULL)
        return TARN_E_NOMEM;
    TN_TRY(before(cx, store, TN_CALL_CREATE, path, 0));
    TN_TRY(within(store)->ops->create(cx, within(store), path, &sink->inner));
    TN_TRY(after(cx, store, TN_CALL_CREATE, path, 0));
    sink->base.store = store;
    *out = &sink->base;
done:
    if (rc != TARN_OK)
        wrap_close_sink(&sink->base);
    return rc;
}

static int wrap_write(tarn_cx *cx, tn_sink *sink, const void *bytes, size_t len)
{
    tn_store *store = sink->store;

    AROUND(TN_CALL_WRITE, TN_STR(""), len, write, ((wrap_sink *)sink)->inner, bytes, len);
}

static int wrap_finish(tarn_cx *cx, tn_sink *sink)
{
    tn_store *store = sink->store;

    ((wrap_sink *)sink)->inner->scratch = sink->scratch;
    AROUND(TN_CALL_FINISH, TN_STR(""), 0, finish, ((wrap_sink *)sink)->inner);
}

static int wrap_put(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes)
{
    AROUND(TN_CALL_PUT, path, bytes.len, put, INNER, path, bytes);
}

static int wrap_put_absent(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes)
{
    AROUND(TN_CALL_PUT_ABSENT, path, bytes.len, put_absent, INNER, path, bytes);
}

static void wrap_list_close(tn_list *base)
{
    wrap_list *list = (wrap_list *)base;

    if (list->inner != NULL)
        list->inner->store->ops->list_close(list->inner);
    free(list);
}

static int wrap_list_open(tarn_cx *cx, tn_store *store, tn_str path, tn_list **out)
{
    wrap_list *list = tn_calloc(cx, 1, sizeof *list);
    int rc;

    if (list == NULL)
        return TARN_E_NOMEM;
    TN_TRY(before(cx, store, TN_CALL_LIST_OPEN, path, 0));
    TN_TRY(within(store)->ops->list_open(cx, within(store), path, &list->inner));
    TN_TRY(after(cx, store, TN_CALL_LIST_OPEN, path, 0));
    list->base.store = store;
    *out = &list->base;
done:
    if (rc != TARN_OK)
        wrap_list_close(&list->base);
    return rc;
}

static int wrap_list_next(tarn_cx *cx, tn_list *list, const tn_entry **entries, size_t *count)
{
    tn_store *store = list->store;

    AROUND(TN_CALL_LIST_NEXT, TN_STR(""), 0, list_next, ((wrap_list *)list)->inner, entries, count);
}

static int wrap_remove(tarn_cx *cx, tn_store *store, tn_str path)
{
    AROUND(TN_CALL_REMOVE, path, 0, remove, INNER, path);
}

static int wrap_make_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    AROUND(TN_CALL_MAKE_DIR, path, 0, make_dir, INNER, path);
}

static int wrap_remove_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    AROUND(TN_CALL_REMOVE_DIR, path, 0, remove_dir, INNER, path);
}

static int wrap_rename(tarn_cx *cx, tn_store *store, tn_str from, tn_str to, bool replace)
{
    AROUND(TN_CALL_RENAME, from, 0, rename, INNER, from, to, replace);
}

static int wrap_exchange(tarn_cx *cx, tn_store *store, tn_str a, tn_str b)
{
    AROUND(TN_CALL_EXCHANGE, a, 0, exchange, INNER, a, b);
}

static int wrap_link(tarn_cx *cx, tn_store *store, tn_str from, tn_str to)
{
    AROUND(TN_CALL_LINK, from, 0, link, INNER, from, to);
}

static int wrap_sync_all(tarn_cx *cx, tn_store *store, tn_str path)
{
    AROUND(TN_CALL_SYNC_ALL, path, 0, sync_all, INNER, path);
}

static int wrap_sync_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    AROUND(TN_CALL_SYNC_DIR, path, 0, sync_dir, INNER, path);
}

static void wrap_unlock(tn_lock *base)
{
    wrap_lock *lock = (wrap_lock *)base;

    if (lock->inner != NULL)
        lock->inner->store->ops->unlock(lock->inner);
    free(lock);
}

static int wrap_lock_(tarn_cx *cx, tn_store *store, tn_str path, tn_lock **out)
{
    wrap_lock *lock = tn_calloc(cx, 1, sizeof *lock);
    int rc;

    if (lock == NULL)
        return TARN_E_NOMEM;
    TN_TRY(before(cx, store, TN_CALL_LOCK, path, 0));
    TN_TRY(within(store)->ops->lock(cx, within(store), path, &lock->inner));
    TN_TRY(after(cx, store, TN_CALL_LOCK, path, 0));
    lock->base.store = store;
    *out = &lock->base;
done:
    if (rc != TARN_OK)
        wrap_unlock(&lock->base);
    return rc;
}

/* No call of its own for traces and faults: it changes nothing. */
static int wrap_lock_held(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                          tn_str *holder)
{
    return tn_store_lock_held(cx, within(store), path, arena, held, holder);
}

static int wrap_attrs_get(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, tn_attrs *out)
{
    AROUND(TN_CALL_ATTRS_GET, path, 0, attrs_get, INNER, path, arena, out);
}

static int wrap_attrs_set(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                          unsigned what)
{
    AROUND(TN_CALL_ATTRS_SET, path, 0, attrs_set, INNER, path, attrs, what);
}

static int wrap_may_write(tarn_cx *cx, tn_store *store, tn_str path, bool *out)
{
    AROUND(TN_CALL_MAY_WRITE, path, 0, may_write, INNER, path, out);
}

static int wrap_free_bytes(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *out)
{
    AROUND(TN_CALL_FREE_BYTES, path, 0, free_bytes, INNER, path, out);
}

static const tn_store_ops wrap_ops = {
    .close = wrap_close,
    .stat = wrap_stat,
    .open = wrap_open,
    .read = wrap_read,
    .close_file = wrap_close_file,
    .create = wrap_create,
    .write = wrap_write,
    .finish = wrap_finish,
    .close_sink = wrap_close_sink,
    .put = wrap_put,
    .put_absent = wrap_put_absent,
    .list_open = wrap_list_open,
    .list_next = wrap_list_next,
    .list_close = wrap_list_close,
    .remove = wrap_remove,
    .make_dir = wrap_make_dir,
    .remove_dir = wrap_remove_dir,
    .rename = wrap_rename,
    .exchange = wrap_exchange,
    .link = wrap_link,
    .sync_dir = wrap_sync_dir,
    .sync_all = wrap_sync_all,
    .lock = wrap_lock_,
    .unlock = wrap_unlock,
    .lock_held = wrap_lock_held,
    .attrs_get = wrap_attrs_get,
    .attrs_set = wrap_attrs_set,
    .may_write = wrap_may_write,
    .free_bytes = wrap_free_bytes,
    .name = "wrapped",
};

void tn_store_wrap_init(tn_store_wrap *wrap, tn_store *inner)
{
    assert(inner != NULL);
    wrap->base.ops = &wrap_ops;
    wrap->base.caps = inner->caps;
    wrap->inner = inner;
}
