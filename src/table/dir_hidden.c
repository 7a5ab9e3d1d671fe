/* Counts what lies in hidden sub-directories: no data, but Hive's rule takes it into its average.
 * I1: what cannot be listed is no failure here; the partition says that its count is not whole.
 * I2: links to directories are not followed, and tarn's own work directory is nobody's file. */
#include "table/dir_parts.h"

typedef struct counter {
    tn_store *store;
    tn_dir_partition *partition;
    uint64_t entries; /* seen in all */
} counter;

static int count_below(tarn_cx *cx, counter *c, tn_str directory, int depth)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (depth > TN_DIR_DEPTH_MAX) {
        c->partition->hidden_unknown = true;
        goto done;
    }
    rc = tn_store_list(cx, c->store, directory, &arena, &entries, &count);
    if (rc != TARN_OK && rc != TARN_E_NOMEM && rc != TARN_E_CANCELLED) {
        c->partition->hidden_unknown = true;
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    c->entries += count;
    if (c->entries > TN_DIR_ENTRIES_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "%.*s: more than %d entries in hidden directories; remove them, or "
                "give one partition at a time",
                TN_STR_ARG(directory), TN_DIR_ENTRIES_MAX);
    for (size_t i = 0; i < count; i++) {
        tn_str path;

        if (entries[i].stat.kind == TN_ENTRY_FILE) {
            c->partition->hidden_files++;
            c->partition->hidden_bytes += entries[i].stat.size_bytes;
        } else if (entries[i].stat.kind == TN_ENTRY_DIR && !entries[i].stat.link) {
            TN_TRY(tn_path_join(cx, &arena, directory, entries[i].name, &path));
            TN_TRY(count_below(cx, c, path, depth + 1));
        }
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_dir_count_hidden(tarn_cx *cx, tn_store *store, tn_dir *dir)
{
    tn_arena arena = {0};
    counter c = {.store = store};
    int rc = TARN_OK;

    for (size_t i = 0; i < dir->partition_count; i++) {
        c.partition = &dir->partitions[i];
        for (size_t k = 0; k < c.partition->other_count; k++) {
            const tn_dir_other *other = &c.partition->others[k];
            tn_str path;

            if (other->stat.kind != TN_ENTRY_DIR || other->stat.link ||
                tn_str_is(other->name, ".tarn"))
                continue;
            TN_TRY(tn_path_join(cx, &arena, c.partition->directory, other->name, &path));
            TN_TRY(count_below(cx, &c, path, 1));
        }
    }
done:
    tn_arena_clear(&arena);
    return rc;
}
