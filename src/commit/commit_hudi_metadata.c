/* Disabling the metadata table as Hudi itself does: the property first, so that readers list files
 * again, then the directory. The next Hudi writer builds it anew from a listing.
 * Done right before something changes, not when the table is opened: a write that is refused has
 * touched nothing.
 * D1: while the property names a partition, nothing in the table is changed: a table whose metadata
 *     table lags behind its files is read wrongly. */
#include "commit/commit_hudi_parts.h"

#define READY    "hoodie.table.metadata.partitions"
#define INFLIGHT "hoodie.table.metadata.partitions.inflight"

int tn_hudi_metadata_check(tarn_cx *cx, tn_hudi_commit *commit)
{
    if (!commit->config.metadata_table || commit->options.drop_metadata_table)
        return TARN_OK;
    return tn_fail(
        cx, TARN_E_UNSUPPORTED,
        "%.*s: the table has a metadata table (" READY "=%.*s), which tarn does not keep "
        "up to date; nothing was touched: write with Hudi, or give "
        "--drop-metadata-table, which disables it as Hudi does (its next writer builds "
        "it anew)",
        TN_STR_ARG(commit->root), TN_STR_ARG(tn_properties_get(&commit->config.all, READY)));
}

static int clear_property(tarn_cx *cx, tn_hudi_commit *commit)
{
    tn_properties changed = {0};
    const tn_properties *all = &commit->config.all;
    int rc = TARN_OK;

    for (size_t i = 0; i < all->count; i++)
        TN_TRY(tn_properties_set(cx, &commit->arena, &changed, all->items[i].key,
                                 all->items[i].value));
    TN_TRY(tn_properties_set(cx, &commit->arena, &changed, TN_STR(READY), (tn_str){0}));
    TN_TRY(tn_properties_set(cx, &commit->arena, &changed, TN_STR(INFLIGHT), (tn_str){0}));
    TN_TRY(tn_hudi_config_update(cx, commit->store, commit->root, &changed));
    TN_TRY(tn_hudi_commit_load(cx, commit));
done:
    return rc;
}

/* A directory that no property names is read by nobody, and stale after the next commit: what a
 * crash left between the two steps goes, with or without the option. */
int tn_hudi_metadata_drop(tarn_cx *cx, tn_hudi_commit *commit)
{
    tn_arena arena = {0};
    bool there, named = commit->config.metadata_table;
    tn_str path;
    int rc;

    if (named)
        TN_TRY(clear_property(cx, commit));
    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, "metadata", (tn_str){0}, &path));
    TN_TRY(tn_store_exists(cx, commit->store, path, &there));
    if (!there)
        goto done;
    TN_TRY(tn_store_remove_tree(cx, commit->store, path));
    tn_hudi_commit_warn(commit,
                        named ? "%.*s: the metadata table was disabled and removed; Hudi builds it "
                                "anew when it next writes with hoodie.metadata.enable"
                              : "%.*s: a metadata table that no property names was removed",
                        TN_STR_ARG(commit->root));
done:
    tn_arena_clear(&arena);
    return rc;
}
