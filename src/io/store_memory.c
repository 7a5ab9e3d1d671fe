/* A store in memory that can lose what was not synced.
 * I1: a node (file or directory) lives until the store is closed; names are kept until then too, so
 *     handles and entries never dangle.
 * I2: every change of directories is one `change` of one or two names, applied to the live entries
 *     at once and kept, in order, until it is stable.
 * I3: the stable entries of all directories are the changes 0 … k for some k: never a later one
 *     without an earlier one.
 * I4: a call that fails has changed nothing.
 * Symbolic links are not kept. */
#include "io/store_memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"

#define ROOT         0
#define NONE         UINT32_MAX
#define PAGE_ENTRIES 64

typedef struct item {
    tn_str name;
    uint32_t node;
} item;

typedef struct items {
    item *item;
    size_t count, cap;
} items;

typedef struct node {
    enum tn_entry_kind kind;
    bool locked;
    uint32_t links; /* in live entries */
    tn_attrs attrs;
    int64_t ctime_ns;
    tn_buf data;
    size_t stable_bytes;
    items live, stable;
} node;

/* "name in directory is now node"; NONE: is gone. */
typedef struct setting {
    uint32_t directory, node;
    tn_str name;
} setting;

typedef struct change {
    setting set[2];
    size_t count;
} change;

typedef struct memory_store {
    tn_store base;
    pthread_mutex_t mutex;
    tn_arena names;
    node **nodes;
    size_t node_count, node_cap;
    change *changes; /* not yet stable */
    size_t change_count, change_cap;
    int64_t clock_ns;
    uint64_t life; /* ends with each crash: older locks are void */
} memory_store;

typedef struct memory_file {
    tn_file base;
    node *node;
} memory_file;

typedef struct memory_sink {
    tn_sink base;
    node *node;
} memory_sink;

typedef struct memory_list {
    tn_list base;
    uint32_t directory;
    tn_str *names;
    size_t count, at;
    tn_entry page[PAGE_ENTRIES];
} memory_list;

typedef struct memory_lock {
    tn_lock base;
    node *node;
    uint64_t life;
} memory_lock;

static memory_store *of(tn_store *store)
{
    return (memory_store *)store;
}

static void enter(memory_store *m)
{
    pthread_mutex_lock(&m->mutex);
}

static void leave(memory_store *m)
{
    pthread_mutex_unlock(&m->mutex);
}

/* Time moves with every change, so that no two changes look alike. */
static int64_t tick(memory_store *m)
{
    return m->clock_ns += 1000;
}

static int missing(tarn_cx *cx, tn_str path)
{
    return tn_fail(cx, TARN_E_NOTFOUND, "%.*s: no such file or directory", TN_STR_ARG(path));
}

static int taken(tarn_cx *cx, tn_str path)
{
    return tn_fail(cx, TARN_E_EXISTS, "%.*s: it exists already", TN_STR_ARG(path));
}

static item *find(const items *in, tn_str name)
{
    for (size_t i = 0; i < in->count; i++)
        if (tn_str_equal(in->item[i].name, name))
            return &in->item[i];
    return NULL;
}

/* The node at `path`, or NONE. */
static uint32_t lookup(const memory_store *m, tn_str path)
{
    uint32_t at = ROOT;

    for (size_t i = 1; i < path.len;) {
        tn_str rest = tn_str_from(path, i);
        tn_str name = {rest.ptr, tn_str_find(rest, '/')};
        const item *found;

        if (m->nodes[at]->kind != TN_ENTRY_DIR)
            return NONE;
        found = find(&m->nodes[at]->live, name);
        if (found == NULL)
            return NONE;
        at = found->node;
        i += name.len + 1;
    }
    return at;
}

/* The directory that holds `path`, and its name there kept in the store. */
static int place_of(tarn_cx *cx, memory_store *m, tn_str path, setting *out)
{
    uint32_t directory = lookup(m, tn_path_parent(path));
    tn_str name = tn_path_name(path);
    const item *known;

    if (directory == NONE || m->nodes[directory]->kind != TN_ENTRY_DIR)
        return missing(cx, tn_path_parent(path));
    if (name.len == 0)
        return tn_fail(cx, TARN_E_INVALID, "/: cannot be made, moved or removed");
    known = find(&m->nodes[directory]->live, name);
    if (known != NULL)
        name = known->name;
    else if (tn_arena_keep(cx, &m->names, &name) != TARN_OK)
        return TARN_E_NOMEM;
    *out = (setting){directory, known != NULL ? known->node : NONE, name};
    return TARN_OK;
}

/* Applies one setting; room was made before, so it cannot fail. */
static void apply(items *to, const setting *set)
{
    item *found = find(to, set->name);

    if (set->node == NONE) {
        if (found != NULL)
            *found = to->item[--to->count];
    } else if (found != NULL) {
        found->node = set->node;
    } else {
        assert(to->count < to->cap);
        to->item[to->count++] = (item){set->name, set->node};
    }
}

/* Room for one more name in each directory of the change. The stable entries are an earlier state
 * of the live ones, so equal room is enough for them. */
static int make_room(tarn_cx *cx, memory_store *m, const change *c)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &m->changes, m->change_count, &m->change_cap, sizeof *m->changes));
    for (size_t i = 0; i < c->count; i++) {
        node *directory = m->nodes[c->set[i].directory];

        TN_TRY(tn_grow(cx, &directory->live.item, directory->live.count + 1, &directory->live.cap,
                       sizeof(item)));
        while (directory->stable.cap < directory->live.cap)
            TN_TRY(tn_grow(cx, &directory->stable.item, directory->stable.cap,
                           &directory->stable.cap, sizeof(item)));
    }
done:
    return rc;
}

static void count_link(memory_store *m, uint32_t at, int by)
{
    if (at != NONE) {
        m->nodes[at]->links += (uint32_t)by;
        m->nodes[at]->ctime_ns = m->clock_ns;
    }
}

static int commit_change(tarn_cx *cx, memory_store *m, const change *c)
{
    int64_t now;

    if (make_room(cx, m, c) != TARN_OK)
        return TARN_E_NOMEM;
    now = tick(m);
    for (size_t i = 0; i < c->count; i++) {
        node *directory = m->nodes[c->set[i].directory];
        const item *old = find(&directory->live, c->set[i].name);

        count_link(m, old != NULL ? old->node : NONE, -1);
        count_link(m, c->set[i].node, 1);
        apply(&directory->live, &c->set[i]);
        directory->attrs.mtime_ns = directory->ctime_ns = now;
    }
    m->changes[m->change_count++] = *c;
    return TARN_OK;
}

static void make_stable(memory_store *m, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < m->changes[i].count; j++)
            apply(&m->nodes[m->changes[i].set[j].directory]->stable, &m->changes[i].set[j]);
    memmove(m->changes, m->changes + count, (m->change_count - count) * sizeof *m->changes);
    m->change_count -= count;
}

static void sync_directory(memory_store *m, uint32_t directory)
{
    size_t upto = 0;

    for (size_t i = 0; i < m->change_count; i++)
        for (size_t j = 0; j < m->changes[i].count; j++)
            if (m->changes[i].set[j].directory == directory)
                upto = i + 1;
    if (upto != 0)
        make_stable(m, upto);
}

static int new_node(tarn_cx *cx, memory_store *m, enum tn_entry_kind kind, uint32_t *out)
{
    node *made;

    if (m->node_count == NONE ||
        tn_grow(cx, &m->nodes, m->node_count, &m->node_cap, sizeof(node *)) != TARN_OK)
        return TARN_E_NOMEM;
    made = tn_calloc(cx, 1, sizeof *made);
    if (made == NULL)
        return TARN_E_NOMEM;
    made->kind = kind;
    made->attrs.mode = kind == TN_ENTRY_DIR ? 0755 : 0644;
    made->attrs.mtime_ns = made->attrs.atime_ns = made->ctime_ns = tick(m);
    m->nodes[m->node_count] = made;
    *out = (uint32_t)m->node_count++;
    return TARN_OK;
}

static void stat_of(const memory_store *m, uint32_t at, tn_stat *out)
{
    const node *n = m->nodes[at];

    *out = (tn_stat){
        .kind = n->kind,
        .size_bytes = n->data.len,
        .mtime_ns = n->attrs.mtime_ns,
        .ctime_ns = n->ctime_ns,
        .device = 1,
        .mount = 1,
        .inode = (uint64_t)at + 1,
        .links = n->links,
        .mode = n->attrs.mode,
        .uid = n->attrs.uid,
        .gid = n->attrs.gid,
    };
}

static void memory_close(tn_store *store)
{
    memory_store *m = of(store);

    for (size_t i = 0; i < m->node_count; i++) {
        tn_buf_clear(&m->nodes[i]->data);
        free(m->nodes[i]->live.item);
        free(m->nodes[i]->stable.item);
        free(m->nodes[i]);
    }
    free(m->nodes);
    free(m->changes);
    tn_arena_clear(&m->names);
    pthread_mutex_destroy(&m->mutex);
    free(m);
}

static int memory_stat(tarn_cx *cx, tn_store *store, tn_str path, tn_stat *out)
{
    memory_store *m = of(store);
    uint32_t at;

    enter(m);
    at = lookup(m, path);
    if (at != NONE)
        stat_of(m, at, out);
    leave(m);
    return at != NONE ? TARN_OK : missing(cx, path);
}

static int memory_open(tarn_cx *cx, tn_store *store, tn_str path, tn_file **out)
{
    memory_store *m = of(store);
    memory_file *file = NULL;
    uint32_t at;
    int rc = TARN_OK;

    enter(m);
    at = lookup(m, path);
    if (at == NONE)
        TN_FAIL(TARN_E_NOTFOUND, "%.*s: no such file or directory", TN_STR_ARG(path));
    if (m->nodes[at]->kind != TN_ENTRY_FILE)
        TN_FAIL(TARN_E_INVALID, "%.*s: it is a directory; name a file", TN_STR_ARG(path));
    file = tn_calloc(cx, 1, sizeof *file);
    if (file == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    file->base.store = store;
    stat_of(m, at, &file->base.stat);
    file->node = m->nodes[at];
    *out = &file->base;
done:
    leave(m);
    return rc;
}

static int memory_read(tarn_cx *cx, tn_file *base, uint64_t offset, void *into, size_t len)
{
    memory_store *m = of(base->store);
    const node *n = ((memory_file *)base)->node;
    int rc = TARN_OK;

    enter(m);
    if (offset > n->data.len || len > n->data.len - offset)
        rc = tn_fail(cx, TARN_E_CORRUPT, "a file that ends at byte %zu, short of a read to %llu",
                     n->data.len, (unsigned long long)(offset + len));
    else
        memcpy(into, n->data.data + offset, len);
    leave(m);
    return rc;
}

static void memory_close_file(tn_file *base)
{
    free(base);
}

/* A new file under a free name. */
static int add_node(tarn_cx *cx, memory_store *m, tn_str path, enum tn_entry_kind kind,
                    uint32_t *out)
{
    change c = {.count = 1};
    uint32_t at;
    int rc;

    TN_TRY(place_of(cx, m, path, &c.set[0]));
    if (c.set[0].node != NONE)
        TN_TRY(taken(cx, path));
    TN_TRY(new_node(cx, m, kind, &at));
    c.set[0].node = at;
    TN_TRY(commit_change(cx, m, &c));
    *out = at;
done:
    return rc;
}

static int memory_create(tarn_cx *cx, tn_store *store, tn_str path, tn_sink **out)
{
    memory_store *m = of(store);
    memory_sink *sink = tn_calloc(cx, 1, sizeof *sink);
    uint32_t at;
    int rc;

    if (sink == NULL)
        return TARN_E_NOMEM;
    enter(m);
    rc = add_node(cx, m, path, TN_ENTRY_FILE, &at);
    if (rc == TARN_OK) {
        sink->base.store = store;
        sink->node = m->nodes[at];
    }
    leave(m);
    if (rc == TARN_OK)
        *out = &sink->base;
    else
        free(sink);
    return rc;
}

static int memory_write(tarn_cx *cx, tn_sink *base, const void *bytes, size_t len)
{
    memory_store *m = of(base->store);
    node *n = ((memory_sink *)base)->node;
    int rc = TARN_OK;

    enter(m);
    tn_buf_add(&n->data, bytes, len);
    if (n->data.failed) {
        n->data.failed = false;
        rc = tn_fail_memory(cx);
    }
    n->attrs.mtime_ns = n->ctime_ns = tick(m);
    leave(m);
    return rc;
}

static int memory_finish(tarn_cx *cx, tn_sink *base)
{
    memory_store *m = of(base->store);
    node *n = ((memory_sink *)base)->node;

    (void)cx;
    enter(m);
    if (!base->scratch)
        n->stable_bytes = n->data.len;
    leave(m);
    return TARN_OK;
}

static void memory_close_sink(tn_sink *base)
{
    free(base);
}

static int put_bytes(tarn_cx *cx, memory_store *m, tn_str path, tn_str bytes, bool absent)
{
    change c = {.count = 1};
    uint32_t at;
    int rc;

    TN_TRY(place_of(cx, m, path, &c.set[0]));
    if (c.set[0].node != NONE && absent)
        TN_TRY(taken(cx, path));
    if (c.set[0].node != NONE && m->nodes[c.set[0].node]->kind == TN_ENTRY_DIR)
        TN_FAIL(TARN_E_INVALID, "%.*s: it is a directory", TN_STR_ARG(path));
    TN_TRY(new_node(cx, m, TN_ENTRY_FILE, &at));
    tn_buf_str(&m->nodes[at]->data, bytes);
    TN_TRY(tn_buf_check(cx, &m->nodes[at]->data));
    m->nodes[at]->stable_bytes = bytes.len;
    c.set[0].node = at;
    TN_TRY(commit_change(cx, m, &c));
    sync_directory(m, c.set[0].directory);
done:
    return rc;
}

static int memory_put(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes)
{
    int rc;

    enter(of(store));
    rc = put_bytes(cx, of(store), path, bytes, false);
    leave(of(store));
    return rc;
}

static int memory_put_absent(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes)
{
    int rc;

    enter(of(store));
    rc = put_bytes(cx, of(store), path, bytes, true);
    leave(of(store));
    return rc;
}

static void memory_list_close(tn_list *base)
{
    memory_list *list = (memory_list *)base;

    free(list->names);
    free(list);
}

static int memory_list_open(tarn_cx *cx, tn_store *store, tn_str path, tn_list **out)
{
    memory_store *m = of(store);
    memory_list *list = tn_calloc(cx, 1, sizeof *list);
    const items *live;
    int rc = TARN_OK;

    if (list == NULL)
        return TARN_E_NOMEM;
    list->base.store = store;
    enter(m);
    list->directory = lookup(m, path);
    if (list->directory == NONE || m->nodes[list->directory]->kind != TN_ENTRY_DIR)
        TN_TRY(missing(cx, path));
    live = &m->nodes[list->directory]->live;
    list->names = tn_calloc(cx, live->count, sizeof *list->names);
    if (list->names == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < live->count; i++)
        list->names[i] = live->item[i].name;
    list->count = live->count;
done:
    leave(m);
    if (rc == TARN_OK)
        *out = &list->base;
    else
        memory_list_close(&list->base);
    return rc;
}

static int memory_list_next(tarn_cx *cx, tn_list *base, const tn_entry **entries, size_t *count)
{
    memory_list *list = (memory_list *)base;
    memory_store *m = of(base->store);
    size_t n = 0;

    (void)cx;
    enter(m);
    while (n < PAGE_ENTRIES && list->at < list->count) {
        tn_str name = list->names[list->at++];
        const item *found = find(&m->nodes[list->directory]->live, name);

        if (found == NULL)
            continue; /* it vanished meanwhile */
        list->page[n].name = name;
        stat_of(m, found->node, &list->page[n].stat);
        n++;
    }
    leave(m);
    *entries = list->page;
    *count = n;
    return TARN_OK;
}

static int remove_node(tarn_cx *cx, memory_store *m, tn_str path, enum tn_entry_kind kind)
{
    change c = {.count = 1};
    const node *n;
    int rc;

    TN_TRY(place_of(cx, m, path, &c.set[0]));
    if (c.set[0].node == NONE)
        TN_TRY(missing(cx, path));
    n = m->nodes[c.set[0].node];
    if (n->kind != kind)
        TN_FAIL(TARN_E_INVALID, "%.*s: is %sa directory", TN_STR_ARG(path),
                kind == TN_ENTRY_DIR ? "not " : "");
    if (n->live.count != 0)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: the directory is not empty", TN_STR_ARG(path));
    c.set[0].node = NONE;
    TN_TRY(commit_change(cx, m, &c));
done:
    return rc;
}

static int memory_remove(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    enter(of(store));
    rc = remove_node(cx, of(store), path, TN_ENTRY_FILE);
    leave(of(store));
    return rc;
}

static int memory_remove_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc;

    enter(of(store));
    rc = remove_node(cx, of(store), path, TN_ENTRY_DIR);
    leave(of(store));
    return rc;
}

static int memory_make_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    uint32_t at;
    int rc;

    enter(of(store));
    rc = path.len == 1 ? taken(cx, path) : add_node(cx, of(store), path, TN_ENTRY_DIR, &at);
    leave(of(store));
    return rc;
}

static bool lies_below(tn_str path, tn_str above)
{
    return path.len > above.len && tn_str_starts(path, above) && path.ptr[above.len] == '/';
}

static int check_target(tarn_cx *cx, const memory_store *m, const setting *source,
                        const setting *target, tn_str path, bool replace)
{
    const node *from = m->nodes[source->node], *to;

    if (target->node == NONE)
        return TARN_OK;
    if (!replace)
        return taken(cx, path);
    to = m->nodes[target->node];
    if (from->kind != to->kind)
        return tn_fail(cx, TARN_E_INVALID, "%.*s: a file cannot take the place of a directory",
                       TN_STR_ARG(path));
    if (to->live.count != 0)
        return tn_fail(cx, TARN_E_CONFLICT, "%.*s: the directory is not empty", TN_STR_ARG(path));
    return TARN_OK;
}

static int memory_rename(tarn_cx *cx, tn_store *store, tn_str from, tn_str to, bool replace)
{
    memory_store *m = of(store);
    change c = {.count = 2};
    setting source, target;
    int rc;

    enter(m);
    TN_TRY(place_of(cx, m, from, &source));
    if (source.node == NONE)
        TN_TRY(missing(cx, from));
    TN_TRY(place_of(cx, m, to, &target));
    if (lies_below(to, from))
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: cannot move into itself", TN_STR_ARG(from));
    TN_TRY(check_target(cx, m, &source, &target, to, replace));
    if (target.node == source.node)
        goto done; /* two names of one file: nothing happens, as POSIX says */
    c.set[0] = (setting){source.directory, NONE, source.name};
    c.set[1] = (setting){target.directory, source.node, target.name};
    TN_TRY(commit_change(cx, m, &c));
done:
    leave(m);
    return rc;
}

static int memory_exchange(tarn_cx *cx, tn_store *store, tn_str a, tn_str b)
{
    memory_store *m = of(store);
    change c = {.count = 2};
    setting first, second;
    int rc;

    enter(m);
    TN_TRY(place_of(cx, m, a, &first));
    if (first.node == NONE)
        TN_TRY(missing(cx, a));
    TN_TRY(place_of(cx, m, b, &second));
    if (second.node == NONE)
        TN_TRY(missing(cx, b));
    if (lies_below(a, b) || lies_below(b, a) || first.node == second.node)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: cannot be exchanged with what lies in it",
                TN_STR_ARG(a));
    c.set[0] = (setting){first.directory, second.node, first.name};
    c.set[1] = (setting){second.directory, first.node, second.name};
    TN_TRY(commit_change(cx, m, &c));
done:
    leave(m);
    return rc;
}

static int memory_link(tarn_cx *cx, tn_store *store, tn_str from, tn_str to)
{
    memory_store *m = of(store);
    change c = {.count = 1};
    uint32_t at;
    int rc;

    enter(m);
    at = lookup(m, from);
    if (at == NONE)
        TN_TRY(missing(cx, from));
    if (m->nodes[at]->kind != TN_ENTRY_FILE)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: only files can be linked", TN_STR_ARG(from));
    TN_TRY(place_of(cx, m, to, &c.set[0]));
    if (c.set[0].node != NONE)
        TN_TRY(taken(cx, to));
    c.set[0].node = at;
    TN_TRY(commit_change(cx, m, &c));
done:
    leave(m);
    return rc;
}

static int memory_sync_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    memory_store *m = of(store);
    uint32_t at;

    enter(m);
    at = lookup(m, path);
    if (at != NONE)
        sync_directory(m, at);
    leave(m);
    return at != NONE ? TARN_OK : missing(cx, path);
}

static int memory_sync_all(tarn_cx *cx, tn_store *store, tn_str path)
{
    memory_store *m = of(store);
    uint32_t at;

    enter(m);
    at = lookup(m, path);
    if (at != NONE)
        make_stable(m, m->change_count);
    leave(m);
    return at != NONE ? TARN_OK : missing(cx, path);
}

static int memory_lock_(tarn_cx *cx, tn_store *store, tn_str path, tn_lock **out)
{
    memory_store *m = of(store);
    memory_lock *lock = tn_calloc(cx, 1, sizeof *lock);
    uint32_t at;
    int rc = TARN_OK;

    if (lock == NULL)
        return TARN_E_NOMEM;
    enter(m);
    at = lookup(m, path);
    if (at == NONE)
        TN_TRY(add_node(cx, m, path, TN_ENTRY_FILE, &at));
    if (m->nodes[at]->locked)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: locked by another tarn (process in memory)",
                TN_STR_ARG(path));
    m->nodes[at]->locked = true;
    *lock = (memory_lock){{store}, m->nodes[at], m->life};
done:
    leave(m);
    if (rc == TARN_OK)
        *out = &lock->base;
    else
        free(lock);
    return rc;
}

static void memory_unlock(tn_lock *base)
{
    memory_lock *lock = (memory_lock *)base;
    memory_store *m = of(base->store);

    enter(m);
    if (lock->life == m->life)
        lock->node->locked = false;
    leave(m);
    free(lock);
}

static int memory_lock_held(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                            tn_str *holder)
{
    memory_store *m = of(store);
    uint32_t at;

    (void)cx;
    (void)arena;
    enter(m);
    at = lookup(m, path);
    *held = at != NONE && m->nodes[at]->locked;
    leave(m);
    *holder = *held ? TN_STR("process in memory") : (tn_str){0};
    return TARN_OK;
}

static int keep_extended(tarn_cx *cx, tn_arena *arena, const tn_attrs *from, tn_attrs *to)
{
    tn_attr *kept = tn_arena_array(cx, arena, from->extended_count, sizeof *kept);

    if (kept == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < from->extended_count; i++) {
        kept[i] = from->extended[i];
        if (tn_arena_keep(cx, arena, &kept[i].name) != TARN_OK ||
            tn_arena_keep(cx, arena, &kept[i].value) != TARN_OK)
            return TARN_E_NOMEM;
    }
    to->extended = kept;
    to->extended_count = from->extended_count;
    return TARN_OK;
}

static int memory_attrs_get(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                            tn_attrs *out)
{
    memory_store *m = of(store);
    uint32_t at;
    tn_attrs attrs;
    int rc = TARN_OK;

    enter(m);
    at = lookup(m, path);
    if (at == NONE)
        TN_TRY(missing(cx, path));
    attrs = m->nodes[at]->attrs;
    TN_TRY(keep_extended(cx, arena, &m->nodes[at]->attrs, &attrs));
    *out = attrs;
done:
    leave(m);
    return rc;
}

static int memory_attrs_set(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                            unsigned what)
{
    memory_store *m = of(store);
    tn_attrs kept = *attrs, *now;
    uint32_t at;
    int rc = TARN_OK;

    enter(m);
    at = lookup(m, path);
    if (at == NONE)
        TN_TRY(missing(cx, path));
    if ((what & TN_ATTRS_EXTENDED) != 0)
        TN_TRY(keep_extended(cx, &m->names, attrs, &kept));
    now = &m->nodes[at]->attrs;
    if ((what & TN_ATTRS_OWNER) != 0) {
        now->uid = attrs->uid;
        now->gid = attrs->gid;
    }
    if ((what & TN_ATTRS_MODE) != 0)
        now->mode = attrs->mode;
    if ((what & TN_ATTRS_TIMES) != 0) {
        now->atime_ns = attrs->atime_ns;
        now->mtime_ns = attrs->mtime_ns;
    }
    if ((what & TN_ATTRS_EXTENDED) != 0) {
        now->extended = kept.extended;
        now->extended_count = kept.extended_count;
    }
    m->nodes[at]->ctime_ns = tick(m);
done:
    leave(m);
    return rc;
}

static int memory_may_write(tarn_cx *cx, tn_store *store, tn_str path, bool *out)
{
    memory_store *m = of(store);
    uint32_t at;

    enter(m);
    at = lookup(m, path);
    if (at != NONE)
        *out = (m->nodes[at]->attrs.mode & 0200) != 0;
    leave(m);
    return at != NONE ? TARN_OK : missing(cx, path);
}

static int memory_free_bytes(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *out)
{
    (void)cx;
    (void)store;
    (void)path;
    *out = UINT64_MAX;
    return TARN_OK;
}

static const tn_store_ops memory_ops = {
    .name = "memory",
    .close = memory_close,
    .stat = memory_stat,
    .open = memory_open,
    .read = memory_read,
    .close_file = memory_close_file,
    .create = memory_create,
    .write = memory_write,
    .finish = memory_finish,
    .close_sink = memory_close_sink,
    .put = memory_put,
    .put_absent = memory_put_absent,
    .list_open = memory_list_open,
    .list_next = memory_list_next,
    .list_close = memory_list_close,
    .remove = memory_remove,
    .make_dir = memory_make_dir,
    .remove_dir = memory_remove_dir,
    .rename = memory_rename,
    .exchange = memory_exchange,
    .link = memory_link,
    .sync_dir = memory_sync_dir,
    .sync_all = memory_sync_all,
    .lock = memory_lock_,
    .unlock = memory_unlock,
    .lock_held = memory_lock_held,
    .attrs_get = memory_attrs_get,
    .attrs_set = memory_attrs_set,
    .may_write = memory_may_write,
    .free_bytes = memory_free_bytes,
};

int tn_store_memory_open(tarn_cx *cx, tn_store **out)
{
    memory_store *m = tn_calloc(cx, 1, sizeof *m);
    uint32_t root;

    if (m == NULL)
        return TARN_E_NOMEM;
    pthread_mutex_init(&m->mutex, NULL);
    m->base.ops = &memory_ops;
    m->base.caps = TN_STORE_RENAME | TN_STORE_EXCHANGE | TN_STORE_LINK | TN_STORE_LOCK |
                   TN_STORE_ATTRS | TN_STORE_DIRS;
    m->clock_ns = 1700000000000000000;
    if (new_node(cx, m, TN_ENTRY_DIR, &root) != TARN_OK) {
        memory_close(&m->base);
        return TARN_E_NOMEM;
    }
    assert(root == ROOT);
    *out = &m->base;
    return TARN_OK;
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Seeds 0 and 1 are the two ends: nothing of the rest, and all of it. */
static size_t kept_of(uint64_t seed, uint64_t *state, size_t count)
{
    return seed == 0 ? 0 : seed == 1 ? count : (size_t)(random_next(state) % (count + 1));
}

/* The live entries become the stable ones, for which they once had room. */
static void live_from_stable(node *n)
{
    assert(n->stable.count <= n->live.cap);
    n->live.count = n->stable.count;
    if (n->stable.count != 0)
        memcpy(n->live.item, n->stable.item, n->stable.count * sizeof *n->stable.item);
}

void tn_store_memory_crash(tn_store *store, uint64_t seed)
{
    memory_store *m = of(store);
    uint64_t state = seed;

    enter(m);
    make_stable(m, kept_of(seed, &state, m->change_count));
    m->change_count = 0;
    for (size_t i = 0; i < m->node_count; i++) {
        node *n = m->nodes[i];

        n->locked = false;
        n->links = 0;
        if (n->data.len > n->stable_bytes)
            n->data.len = n->stable_bytes + kept_of(seed, &state, n->data.len - n->stable_bytes);
        n->stable_bytes = n->data.len;
        live_from_stable(n);
    }
    for (size_t i = 0; i < m->node_count; i++)
        for (size_t j = 0; j < m->nodes[i]->live.count; j++)
            m->nodes[m->nodes[i]->live.item[j].node]->links++;
    m->life++;
    leave(m);
}
