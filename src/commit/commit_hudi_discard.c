/* A table that a write made for itself and then failed to fill goes again.
 *
 * D1: only what this run made is removed: files by what stands in them, directories by their names
 *     and when they are empty. What is not known to be ours stays, and the table with it.
 * D2: hoodie.properties goes when nothing but directories is left beside it: what a kill leaves
 *     then is a creation cut off, or an empty table.
 * D3: all of it happens under the lock that the write holds. */
#include "commit/commit_hudi_parts.h"

#include <string.h>

#define PARTITION_FILE       ".hoodie_partition_metadata"
#define PARTITION_BYTES_MAX  4096
#define PARTITION_LEVELS_MAX 64

/* Directories of .hoodie as a creation and a commit make them, those below before those above. */
static const char *const folders[] = {".aux/.bootstrap/.partitions",
                                      ".aux/.bootstrap/.fileids",
                                      ".aux/.bootstrap",
                                      ".aux",
                                      ".schema",
                                      ".temp",
                                      ".heartbeat",
                                      "archived",
                                      "timeline/history",
                                      "timeline"};

typedef struct discard {
    tn_hudi_commit *commit;
    tn_arena arena;
    bool foreign; /* something is there that this run did not make */
} discard;

static bool is_folder(tn_str below)
{
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (tn_str_is(below, folders[i]))
            return true;
    return false;
}

/* What is in .hoodie or a directory of it: known directories, the properties, and our lock. */
static int look_hidden(tarn_cx *cx, discard *d, tn_str below)
{
    tn_entry *entries;
    size_t count;
    tn_str path = d->commit->hoodie;
    int rc = TARN_OK;

    if (below.len != 0)
        TN_TRY(tn_path_join(cx, &d->arena, d->commit->hoodie, below, &path));
    TN_TRY(tn_store_list_or_none(cx, d->commit->store, path, &d->arena, &entries, &count));
    for (size_t i = 0; i < count && !d->foreign; i++) {
        tn_str name = entries[i].name;

        if (below.len != 0)
            TN_TRY(tn_path_join(cx, &d->arena, below, name, &name));
        if (entries[i].stat.kind == TN_ENTRY_DIR && is_folder(name))
            TN_TRY(look_hidden(cx, d, name));
        else
            d->foreign =
                entries[i].stat.kind != TN_ENTRY_FILE ||
                !(tn_str_is(name, "hoodie.properties") || tn_str_is(name, ".aux/tarn.lock"));
    }
done:
    return rc;
}

/* A partition's metadata file that this commit wrote. */
static int is_own_partition(tarn_cx *cx, discard *d, tn_str path, bool *own)
{
    tn_str instant = d->commit->instant;
    tn_buf text = {0};
    int rc;

    *own = false;
    if (instant.len == 0)
        return TARN_OK;
    TN_TRY(tn_store_get(cx, d->commit->store, path, PARTITION_BYTES_MAX, &text));
    for (size_t i = 0; !*own && i + instant.len <= text.len; i++)
        *own = memcmp(text.data + i, instant.ptr, instant.len) == 0;
done:
    tn_buf_clear(&text);
    return rc;
}

/* A directory of the partition that was being made when the write failed: it may have no file yet.
 */
static bool is_begun(const tn_hudi_commit *commit, tn_str path)
{
    tn_str below = tn_str_from(path, commit->root.len + (commit->root.len > 1));

    return below.len != 0 && tn_str_starts(commit->making, below) &&
           (commit->making.len == below.len || commit->making.ptr[below.len] == '/');
}

/* D1: one walk finds what is foreign, a second one takes away. *own: a partition of ours is there
 * or below. What begins with a dot in the root was perhaps there before, and stays. */
static int walk(tarn_cx *cx, discard *d, tn_str path, int depth, bool take, bool *own)
{
    tn_store *store = d->commit->store;
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    *own = false;
    if (depth > PARTITION_LEVELS_MAX) {
        d->foreign = true;
        return TARN_OK;
    }
    TN_TRY(tn_store_list_or_none(cx, d->commit->store, path, &d->arena, &entries, &count));
    for (size_t i = 0; i < count && !d->foreign; i++) {
        const tn_entry *entry = &entries[i];
        tn_str child;
        bool ours = false;

        TN_TRY(tn_path_join(cx, &d->arena, path, entry->name, &child));
        if (entry->stat.kind == TN_ENTRY_DIR && !entry->stat.link) {
            if (depth == 0 && tn_str_is(entry->name, ".hoodie"))
                continue;
            TN_TRY(walk(cx, d, child, depth + 1, take, &ours));
            ours |= is_begun(d->commit, child);
            /* An empty one of somebody else: in its company no new table could be made. */
            d->foreign |= !ours;
            if (take && ours)
                TN_TRY(tn_store_remove_dir(cx, store, child));
        } else if (entry->stat.kind == TN_ENTRY_FILE && tn_str_is(entry->name, PARTITION_FILE)) {
            TN_TRY(is_own_partition(cx, d, child, &ours));
            d->foreign = !ours;
            if (take && ours)
                TN_TRY(tn_store_remove(cx, store, child));
        } else if (depth != 0 || entry->name.ptr[0] != '.') {
            d->foreign = true;
        }
        *own |= ours;
    }
done:
    return rc;
}

/* Another writer's instant, or a property that somebody set meanwhile. */
static int look_table(tarn_cx *cx, discard *d)
{
    tn_hudi_commit *commit = d->commit;
    tn_hudi_config now;
    tn_timeline timeline;
    int rc;

    TN_TRY(tn_hudi_config_load(cx, commit->store, commit->root, &d->arena, &now));
    TN_TRY(tn_timeline_load(cx, commit->store, commit->root, &now, &d->arena, &timeline));
    d->foreign |= timeline.count != 0 || now.all.count != commit->config.all.count;
    for (size_t i = 0; !d->foreign && i < now.all.count; i++)
        d->foreign = !tn_str_equal(now.all.items[i].key, commit->config.all.items[i].key) ||
                     !tn_str_equal(now.all.items[i].value, commit->config.all.items[i].value);
done:
    return rc;
}

static int take(tarn_cx *cx, discard *d, bool made_root)
{
    tn_hudi_commit *commit = d->commit;
    tn_store *store = commit->store;
    tn_str path;
    bool own;
    int rc;

    TN_TRY(walk(cx, d, commit->root, 0, true, &own));
    if (d->foreign)
        goto done;
    TN_TRY(tn_path_join(cx, &d->arena, commit->hoodie, TN_STR("hoodie.properties"), &path));
    TN_TRY(tn_store_remove(cx, store, path)); /* D2: from here on it is no table */
    /* What is not empty or not there is not ours: that removing it fails is no failure. */
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        TN_TRY(tn_path_join(cx, &d->arena, commit->hoodie, tn_str_of(folders[i]), &path));
        if (tn_str_is(tn_str_of(folders[i]), ".aux"))
            tn_hudi_lock_free(cx, &commit->lock);
        (void)tn_store_remove_dir(cx, store, path);
    }
    if (tn_store_remove_dir(cx, store, commit->hoodie) == TARN_OK && made_root)
        (void)tn_store_remove_dir(cx, store, commit->root);
    tn_cx_forget(cx);
done:
    return rc;
}

static int run(tarn_cx *cx, discard *d, const tn_hudi_made *made)
{
    bool own;
    int rc = TARN_OK;

    if (d->commit->state == TN_HUDI_BEGUN)
        TN_TRY(tn_hudi_commit_withdraw(cx, d->commit));
    TN_TRY(look_table(cx, d));
    TN_TRY(look_hidden(cx, d, (tn_str){0}));
    TN_TRY(walk(cx, d, d->commit->root, 0, false, &own));
    if (!d->foreign)
        TN_TRY(take(cx, d, made->root));
done:
    return rc;
}

static void discard_held(tarn_cx *cx, tn_hudi_commit *commit, const tn_hudi_made *made)
{
    discard d = {.commit = commit};

    if (commit->state > TN_HUDI_BEGUN || commit->lock.own == NULL)
        return;
    if (run(cx, &d, made) != TARN_OK)
        tn_hudi_commit_warn(commit,
                            "%.*s: the table that this write made could not be taken away again "
                            "(%s); it is empty: remove it, or write to it",
                            TN_STR_ARG(commit->root), tarn_cx_error(cx));
    tn_arena_clear(&d.arena);
}

void tn_hudi_discard(tarn_cx *cx, tn_store *store, tn_str root, tn_hudi_commit *commit,
                     const tn_hudi_made *made)
{
    static const tn_hudi_commit_options none = {0};
    tn_hudi_commit *own = NULL;
    atomic_bool never;
    tarn_cx child;

    if (!made->hoodie)
        return;
    tn_hudi_commit_shield(&child, cx, &never);
    /* Who holds the table by now has it. */
    if (commit != NULL || tn_hudi_commit_enter(&child, store, root, &none, &own) == TARN_OK)
        discard_held(&child, commit != NULL ? commit : own, made);
    tn_hudi_commit_close(&child, own);
    tn_cx_child_clear(&child);
}
