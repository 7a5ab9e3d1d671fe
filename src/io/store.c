/* One wrapper per call of the vtable: the contract is checked here, once for all backends.
 * I1: a backend sees only paths that satisfy the rule in store.h.
 * I2: a call whose capability the store lacks never reaches the backend.
 * I3: nothing here follows a symbolic link to remove what it leads to.
 * No wrapper looks at the cancel flag: a swap that has begun must be able to end. */
#include "io/store.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"

static bool component_allowed(tn_str name)
{
    return name.len != 0 && !tn_str_is(name, ".") && !tn_str_is(name, "..") &&
           memchr(name.ptr, '\0', name.len) == NULL;
}

static bool path_allowed(tn_str path)
{
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    if (path.len == 1)
        return true;
    for (size_t at = 1; at <= path.len;) {
        size_t n = tn_str_find(tn_str_from(path, at), '/');

        if (!component_allowed((tn_str){path.ptr + at, n}))
            return false;
        at += n + 1;
    }
    return path.ptr[path.len - 1] != '/';
}

static int check_path(tarn_cx *cx, tn_str path)
{
    if (path.len > TN_PATH_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "%.*s…: a path of %zu bytes; the longest allowed has %d",
                       60, path.ptr, path.len, TN_PATH_BYTES_MAX);
    if (!path_allowed(path))
        return tn_fail(cx, TARN_E_INVALID,
                       "\"%.*s\": not an absolute path without \".\", \"..\" and empty names",
                       TN_STR_ARG(path));
    return TARN_OK;
}

static int check_caps(tarn_cx *cx, const tn_store *store, unsigned caps, const char *what)
{
    if ((store->caps & caps) == caps)
        return TARN_OK;
    return tn_fail(cx, TARN_E_UNSUPPORTED, "%s storage cannot %s", store->ops->name, what);
}

void tn_store_close(tn_store *store)
{
    if (store != NULL)
        store->ops->close(store);
}

int tn_store_stat(tarn_cx *cx, tn_store *store, tn_str path, tn_stat *out)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->stat(cx, store, path, out));
done:
    return rc;
}

int tn_store_exists(tarn_cx *cx, tn_store *store, tn_str path, bool *out)
{
    tn_stat stat;
    int rc = tn_store_stat(cx, store, path, &stat);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        *out = false;
        return TARN_OK;
    }
    if (rc == TARN_OK)
        *out = true;
    return rc;
}

int tn_store_open_file(tarn_cx *cx, tn_store *store, tn_str path, tn_file **out)
{
    tn_file *file = NULL;
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->open(cx, store, path, &file));
    assert(file != NULL && file->store != NULL);
    *out = file;
done:
    return rc;
}

int tn_store_read(tarn_cx *cx, tn_file *file, uint64_t offset, void *into, size_t len)
{
    assert(file != NULL && (into != NULL || len == 0));
    if (len == 0)
        return TARN_OK;
    if (offset > INT64_MAX || len > INT64_MAX - offset)
        return tn_fail(cx, TARN_E_INVALID, "a read at byte %llu lies beyond any file",
                       (unsigned long long)offset);
    return file->store->ops->read(cx, file, offset, into, len);
}

void tn_store_close_file(tn_file *file)
{
    if (file != NULL)
        file->store->ops->close_file(file);
}

int tn_store_get(tarn_cx *cx, tn_store *store, tn_str path, uint64_t bytes_max, tn_buf *out)
{
    tn_file *file = NULL;
    size_t before = out->len;
    uint8_t *into;
    int rc;

    TN_TRY(tn_store_open_file(cx, store, path, &file));
    if (file->stat.size_bytes > bytes_max)
        TN_FAIL(TARN_E_LIMIT, "%.*s: %llu bytes, more than the %llu expected here",
                TN_STR_ARG(path), (unsigned long long)file->stat.size_bytes,
                (unsigned long long)bytes_max);
    into = tn_buf_extend(out, (size_t)file->stat.size_bytes);
    if (into == NULL)
        TN_FAIL(TARN_E_NOMEM, "%.*s: out of memory", TN_STR_ARG(path));
    TN_TRY(tn_store_read(cx, file, 0, into, (size_t)file->stat.size_bytes));
done:
    if (rc != TARN_OK && !out->failed)
        out->len = before;
    tn_store_close_file(file);
    return rc;
}

int tn_store_create(tarn_cx *cx, tn_store *store, tn_str path, tn_sink **out)
{
    tn_sink *sink = NULL;
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->create(cx, store, path, &sink));
    assert(sink != NULL && sink->store != NULL);
    *out = sink;
done:
    return rc;
}

int tn_store_write(tarn_cx *cx, tn_sink *sink, const void *bytes, size_t len)
{
    int rc = TARN_OK;

    assert(sink != NULL && (bytes != NULL || len == 0));
    if (len == 0)
        return TARN_OK;
    TN_TRY(sink->store->ops->write(cx, sink, bytes, len));
    sink->written_bytes += len;
done:
    return rc;
}

int tn_store_finish(tarn_cx *cx, tn_sink *sink)
{
    assert(sink != NULL);
    return sink->store->ops->finish(cx, sink);
}

void tn_store_close_sink(tn_sink *sink)
{
    if (sink != NULL)
        sink->store->ops->close_sink(sink);
}

int tn_store_put(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->put(cx, store, path, bytes));
done:
    return rc;
}

int tn_store_put_absent(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->put_absent(cx, store, path, bytes));
done:
    return rc;
}

int tn_store_list_open(tarn_cx *cx, tn_store *store, tn_str path, tn_list **out)
{
    tn_list *list = NULL;
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->list_open(cx, store, path, &list));
    assert(list != NULL && list->store != NULL);
    *out = list;
done:
    return rc;
}

int tn_store_list_next(tarn_cx *cx, tn_list *list, const tn_entry **entries, size_t *count)
{
    assert(list != NULL);
    return list->store->ops->list_next(cx, list, entries, count);
}

void tn_store_list_close(tn_list *list)
{
    if (list != NULL)
        list->store->ops->list_close(list);
}

static int by_name(const void *a, const void *b)
{
    return tn_str_compare(((const tn_entry *)a)->name, ((const tn_entry *)b)->name);
}

int tn_store_list(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, tn_entry **entries,
                  size_t *count)
{
    tn_list *list = NULL;
    tn_buf all = {0};
    const tn_entry *page;
    tn_entry *kept;
    size_t n = 0, page_count;
    int rc;

    TN_TRY(tn_store_list_open(cx, store, path, &list));
    for (;;) {
        TN_TRY(tn_store_list_next(cx, list, &page, &page_count));
        if (page_count == 0)
            break;
        if (n + page_count > TN_DIR_ENTRIES_MAX)
            TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d entries in one directory", TN_STR_ARG(path),
                    TN_DIR_ENTRIES_MAX);
        for (size_t i = 0; i < page_count; i++) {
            tn_entry entry = page[i];

            TN_TRY(tn_arena_keep(cx, arena, &entry.name));
            tn_buf_add(&all, &entry, sizeof entry);
        }
        TN_TRY(tn_buf_check(cx, &all));
        n += page_count;
    }
    kept = tn_arena_array(cx, arena, n, sizeof *kept);
    if (kept == NULL)
        TN_FAIL(TARN_E_NOMEM, "%.*s: out of memory", TN_STR_ARG(path));
    if (n != 0) {
        memcpy(kept, all.data, n * sizeof *kept);
        qsort(kept, n, sizeof *kept, by_name);
    }
    *entries = kept;
    *count = n;
done:
    tn_store_list_close(list);
    tn_buf_clear(&all);
    return rc;
}

int tn_store_list_or_none(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                          tn_entry **entries, size_t *count)
{
    int rc = tn_store_list(cx, store, path, arena, entries, count);

    if (rc != TARN_E_NOTFOUND)
        return rc;
    tn_cx_forget(cx);
    *entries = NULL;
    *count = 0;
    return TARN_OK;
}

int tn_store_remove(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->remove(cx, store, path));
done:
    return rc;
}

int tn_store_make_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(check_caps(cx, store, TN_STORE_DIRS, "make directories"));
    TN_TRY(store->ops->make_dir(cx, store, path));
done:
    return rc;
}

int tn_store_make_dirs(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_stat stat;
    int rc = tn_store_make_dir(cx, store, path);

    if (rc == TARN_E_NOTFOUND && path.len > 1) {
        tn_cx_forget(cx);
        TN_TRY(tn_store_make_dirs(cx, store, tn_path_parent(path)));
        rc = tn_store_make_dir(cx, store, path);
    }
    if (rc != TARN_E_EXISTS)
        goto done;
    tn_cx_forget(cx);
    TN_TRY(tn_store_stat(cx, store, path, &stat));
    if (stat.kind != TN_ENTRY_DIR)
        TN_FAIL(TARN_E_EXISTS, "%.*s: is not a directory; move it away", TN_STR_ARG(path));
done:
    return rc;
}

int tn_store_remove_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(check_caps(cx, store, TN_STORE_DIRS, "remove directories"));
    TN_TRY(store->ops->remove_dir(cx, store, path));
done:
    return rc;
}

static int missing_is_fine(tarn_cx *cx, int rc)
{
    if (rc != TARN_E_NOTFOUND)
        return rc;
    tn_cx_forget(cx);
    return TARN_OK;
}

static int remove_below(tarn_cx *cx, tn_store *store, tn_str path, unsigned depth)
{
    tn_arena arena = {0};
    tn_entry *entries = NULL;
    size_t count = 0;
    tn_str below;
    int rc;

    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: directories nested deeper than %d", TN_STR_ARG(path),
                TN_DIR_DEPTH_MAX);
    TN_TRY(tn_store_list(cx, store, path, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_path_join(cx, &arena, path, entries[i].name, &below));
        if (entries[i].stat.kind == TN_ENTRY_DIR && !entries[i].stat.link)
            TN_TRY(missing_is_fine(cx, remove_below(cx, store, below, depth + 1)));
        else
            TN_TRY(missing_is_fine(cx, tn_store_remove(cx, store, below)));
    }
    TN_TRY(tn_store_remove_dir(cx, store, path));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_store_remove_tree(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_stat stat;
    int rc = tn_store_stat(cx, store, path, &stat);

    if (rc == TARN_OK)
        rc = stat.kind == TN_ENTRY_DIR && !stat.link ? remove_below(cx, store, path, 0)
                                                     : tn_store_remove(cx, store, path);
    return missing_is_fine(cx, rc);
}

int tn_store_rename(tarn_cx *cx, tn_store *store, tn_str from, tn_str to, bool replace)
{
    int rc;

    TN_TRY(check_path(cx, from));
    TN_TRY(check_path(cx, to));
    TN_TRY(check_caps(cx, store, TN_STORE_RENAME, "rename"));
    TN_TRY(store->ops->rename(cx, store, from, to, replace));
done:
    return rc;
}

int tn_store_exchange(tarn_cx *cx, tn_store *store, tn_str a, tn_str b)
{
    int rc;

    TN_TRY(check_path(cx, a));
    TN_TRY(check_path(cx, b));
    TN_TRY(check_caps(cx, store, TN_STORE_EXCHANGE, "exchange two directories in one step"));
    TN_TRY(store->ops->exchange(cx, store, a, b));
done:
    return rc;
}

int tn_store_link(tarn_cx *cx, tn_store *store, tn_str from, tn_str to)
{
    int rc;

    TN_TRY(check_path(cx, from));
    TN_TRY(check_path(cx, to));
    TN_TRY(check_caps(cx, store, TN_STORE_LINK, "make hard links"));
    TN_TRY(store->ops->link(cx, store, from, to));
done:
    return rc;
}

int tn_store_sync_all(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->sync_all(cx, store, path));
done:
    return rc;
}

int tn_store_sync_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    TN_TRY(check_path(cx, path));
    if ((store->caps & TN_STORE_DIRS) != 0)
        TN_TRY(store->ops->sync_dir(cx, store, path));
done:
    return rc;
}

int tn_store_lock(tarn_cx *cx, tn_store *store, tn_str path, tn_lock **out)
{
    tn_lock *lock = NULL;
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(check_caps(cx, store, TN_STORE_LOCK, "lock"));
    TN_TRY(store->ops->lock(cx, store, path, &lock));
    assert(lock != NULL && lock->store != NULL);
    *out = lock;
done:
    return rc;
}

int tn_store_lock_held(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                       tn_str *holder)
{
    *held = false;
    *holder = (tn_str){0};
    return store->ops->lock_held != NULL
               ? store->ops->lock_held(cx, store, path, arena, held, holder)
               : TARN_OK;
}

void tn_store_unlock(tn_lock *lock)
{
    if (lock != NULL)
        lock->store->ops->unlock(lock);
}

int tn_store_attrs_get(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, tn_attrs *out)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(check_caps(cx, store, TN_STORE_ATTRS, "keep attributes"));
    TN_TRY(store->ops->attrs_get(cx, store, path, arena, out));
done:
    return rc;
}

int tn_store_attrs_set(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                       unsigned what)
{
    int rc;

    assert((what & ~(unsigned)TN_ATTRS_ALL) == 0);
    TN_TRY(check_path(cx, path));
    TN_TRY(check_caps(cx, store, TN_STORE_ATTRS, "keep attributes"));
    TN_TRY(store->ops->attrs_set(cx, store, path, attrs, what));
done:
    return rc;
}

int tn_store_may_write(tarn_cx *cx, tn_store *store, tn_str path, bool *out)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->may_write(cx, store, path, out));
done:
    return rc;
}

int tn_store_free_bytes(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *out)
{
    int rc;

    TN_TRY(check_path(cx, path));
    TN_TRY(store->ops->free_bytes(cx, store, path, out));
done:
    return rc;
}

int tn_path_join(tarn_cx *cx, tn_arena *arena, tn_str dir, tn_str name, tn_str *out)
{
    size_t base = dir.len == 1 && dir.ptr[0] == '/' ? 0 : dir.len;
    char *path = tn_arena_take(cx, arena, base + name.len + 2);

    if (path == NULL)
        return TARN_E_NOMEM;
    if (name.len == 0) {
        memcpy(path, dir.ptr, dir.len);
        *out = (tn_str){path, dir.len};
        return TARN_OK;
    }
    if (base != 0)
        memcpy(path, dir.ptr, base);
    path[base] = '/';
    memcpy(path + base + 1, name.ptr, name.len);
    *out = (tn_str){path, base + 1 + name.len};
    return TARN_OK;
}

static size_t last_slash(tn_str path)
{
    size_t at = path.len;

    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return at; /* one past it; 0: none */
}

tn_str tn_path_parent(tn_str path)
{
    size_t at = last_slash(path);

    return at <= 1 ? TN_STR("/") : (tn_str){path.ptr, at - 1};
}

tn_str tn_path_name(tn_str path)
{
    return tn_str_from(path, last_slash(path));
}
