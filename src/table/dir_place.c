/* Where a merge can put its work, and how it can swap: tried, not guessed, before something is
 * written for good.
 * I1: a probe leaves no name behind; where it cannot be tried (a dry run), the usual answer is
 *     assumed and the commit finds out. */
#include <inttypes.h>
#include <xxhash.h>

#include "table/dir_parts.h"

/* Names of more than 255 bytes can usually not be made: a long one is cut and told apart by its
 * hash.
 */
#define LONG_NAME_BYTES 240
#define LONG_NAME_KEPT  200
#define PROBE_TRIES_MAX 4

int tn_dir_work_names(tarn_cx *cx, tn_arena *arena, tn_str root, tn_str *beside, tn_str *inside)
{
    tn_str parent = tn_path_parent(root), name = tn_path_name(root), work;
    int rc = TARN_OK;

    if (name.len > LONG_NAME_BYTES)
        TN_TRY(tn_arena_print(cx, arena, &work, ".%.*s-%016" PRIx64 ".tarn", LONG_NAME_KEPT,
                              name.ptr, (uint64_t)XXH3_64bits(name.ptr, name.len)));
    else
        TN_TRY(tn_arena_print(cx, arena, &work, ".%.*s.tarn", TN_STR_ARG(name)));
    TN_TRY(tn_path_join(cx, arena, parent, work, beside));
    TN_TRY(tn_path_join(cx, arena, root, TN_STR(".tarn"), inside));
done:
    return rc;
}

/* Makes two directories in `work` and exchanges them; everything made is taken away again. */
static int probe_once(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str work, bool *writable,
                      bool *exchange, tn_str *why)
{
    tn_str a, b, names[2];
    bool existed = false;
    uint64_t token = tn_cx_random(cx);
    int rc = TARN_OK;

    *writable = *exchange = false;
    for (int i = 0; i < 2; i++)
        TN_TRY(tn_arena_print(cx, arena, &names[i], TN_DIR_PROBE_PREFIX "%016" PRIx64 "-%d", token,
                              i));
    TN_TRY(tn_path_join(cx, arena, work, names[0], &a));
    TN_TRY(tn_path_join(cx, arena, work, names[1], &b));
    if (tn_store_exists(cx, store, work, &existed) == TARN_OK &&
        (existed || tn_store_make_dir(cx, store, work) == TARN_OK) &&
        tn_store_make_dir(cx, store, a) == TARN_OK && tn_store_make_dir(cx, store, b) == TARN_OK) {
        *writable = true;
        *exchange =
            (store->caps & TN_STORE_EXCHANGE) != 0 && tn_store_exchange(cx, store, a, b) == TARN_OK;
    }
    if (!*writable)
        rc = tn_arena_print(cx, arena, why, "%s", tarn_cx_error(cx));
    (void)tn_store_remove_dir(cx, store, a);
    (void)tn_store_remove_dir(cx, store, b);
    if (!existed)
        (void)tn_store_remove_dir(cx, store, work);
    tn_cx_forget(cx);
done:
    return rc;
}

/* A run that ends beside this one may sweep the directories of the probe: then once more. */
static int probe(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str work, bool *writable,
                 bool *exchange, tn_str *why)
{
    int rc = TARN_OK;

    for (int tries = 0; tries < PROBE_TRIES_MAX; tries++) {
        TN_TRY(probe_once(cx, store, arena, work, writable, exchange, why));
        if (*writable && *exchange)
            break;
    }
done:
    return rc;
}

/* Entries of both work directories: staging and undo of earlier runs. */
static int find_leftovers(tarn_cx *cx, tn_store *store, const tn_str *works, size_t count,
                          tn_dir *dir)
{
    tn_entry *entries[2] = {NULL, NULL};
    size_t entry_count[2] = {0, 0};
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        rc = tn_store_list(cx, store, works[i], &dir->arena, &entries[i], &entry_count[i]);
        if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
            goto done;
        if (rc != TARN_OK)
            entry_count[i] = 0;
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    dir->leftovers =
        tn_arena_array(cx, &dir->arena, entry_count[0] + entry_count[1], sizeof *dir->leftovers);
    if (dir->leftovers == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < entry_count[i]; k++)
            if (entries[i][k].stat.kind == TN_ENTRY_DIR)
                TN_TRY(tn_path_join(cx, &dir->arena, works[i], entries[i][k].name,
                                    &dir->leftovers[dir->leftover_count++]));
done:
    return rc;
}

int tn_dir_find_place(tarn_cx *cx, tn_store *store, const tn_dir_options *options, tn_dir *dir)
{
    tn_str works[2], why = {0};
    tn_stat root, parent;
    bool writable = true, same;
    int rc = TARN_OK;

    TN_TRY(tn_dir_work_names(cx, &dir->arena, dir->root, &works[0], &works[1]));
    TN_TRY(find_leftovers(cx, store, works, 2, dir));
    TN_TRY(tn_store_stat(cx, store, dir->root, &root));
    dir->mount = root.mount;
    same = dir->root.len > 1 &&
           tn_store_stat(cx, store, tn_path_parent(dir->root), &parent) == TARN_OK &&
           parent.mount == root.mount;
    tn_cx_forget(cx);
    dir->exchange = (store->caps & TN_STORE_EXCHANGE) != 0;
    dir->work_inside = !same;
    if (options->probe && same)
        TN_TRY(probe(cx, store, &dir->arena, works[0], &writable, &dir->exchange, &why));
    if (!writable)
        dir->work_inside = true;
    if (options->probe && dir->work_inside) {
        bool inside_writable;

        TN_TRY(probe(cx, store, &dir->arena, works[1], &inside_writable, &dir->exchange, &why));
        if (!inside_writable)
            TN_FAIL(
                TARN_E_IO,
                "%.*s: cannot write into it nor beside it, so there is no place for staging, and "
                "nothing was touched: %.*s",
                TN_STR_ARG(dir->root), TN_STR_ARG(why));
    }
    dir->work = works[dir->work_inside ? 1 : 0];
    for (size_t i = 0; i < dir->partition_count; i++) {
        tn_dir_partition *partition = &dir->partitions[i];

        if (partition->path.len != 0)
            continue;
        partition->parent_unwritable = !writable;
        if (!same)
            partition->mount_point = true;
    }
done:
    return rc;
}
