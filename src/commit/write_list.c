/* What of a directory an overwrite replaces.
 *
 * Data is every visible file that is Parquet, by its name or by its first and last bytes: Hive
 * writes names without an ending, and a damaged "x.parquet" is what somebody wants to be rid of.
 * With it go the files that describe it: _metadata, _common_metadata, and the .crc of a file that
 * goes. All else stays: hidden names (Spark's _SUCCESS, another writer's _temporary), and visible
 * files of another format, which are reported, for a reader may take them for data.
 *
 * L1: nothing is named that is no file, or a link to one. */
#include <stdlib.h>

#include "commit/write_run.h"
#include "table/dir.h"

#define MAGIC_BYTES 4

static bool ends_like(tn_str name, const char *ending)
{
    size_t n = strlen(ending);

    if (name.len <= n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = name.ptr[name.len - n + i];

        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != ending[i])
            return false;
    }
    return true;
}

/* By its bytes. One that vanishes meanwhile is nothing. */
static int has_magic(tarn_cx *cx, tn_store *store, tn_str path, bool *out)
{
    tn_file *file = NULL;
    char first[MAGIC_BYTES], last[MAGIC_BYTES];
    int rc = tn_store_open_file(cx, store, path, &file);

    *out = false;
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    if (file->stat.size_bytes < 3 * MAGIC_BYTES)
        goto done;
    TN_TRY(tn_store_read(cx, file, 0, first, MAGIC_BYTES));
    TN_TRY(tn_store_read(cx, file, file->stat.size_bytes - MAGIC_BYTES, last, MAGIC_BYTES));
    *out = (memcmp(first, "PAR1", MAGIC_BYTES) == 0 || memcmp(first, "PARE", MAGIC_BYTES) == 0) &&
           memcmp(first, last, MAGIC_BYTES) == 0;
done:
    tn_store_close_file(file);
    return rc;
}

static bool describes(tn_str name)
{
    return tn_str_is(name, "_metadata") || tn_str_is(name, "_common_metadata");
}

static int by_name(const void *key, const void *entry)
{
    return tn_str_compare(*(const tn_str *)key, ((const tn_entry *)entry)->name);
}

/* Is `name` ".X.crc" for an X that leaves? */
static bool belongs(tn_str name, const tn_entry *entries, size_t count, const bool *leaves)
{
    tn_str of = tn_str_from(name, 1);
    const tn_entry *found;

    if (!tn_str_starts(name, TN_STR(".")) || !tn_str_ends(of, TN_STR(".crc")) || count == 0)
        return false;
    of.len -= 4;
    found = bsearch(&of, entries, count, sizeof *entries, by_name);
    return found != NULL && leaves[found - entries];
}

static int find_data(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                     const tn_entry *entries, size_t count, bool *leaves, uint64_t *strangers,
                     tn_str *first)
{
    tn_str path;
    int rc = TARN_OK;

    *strangers = 0;
    for (size_t i = 0; i < count; i++) {
        const tn_entry *entry = &entries[i];

        if (entry->stat.kind == TN_ENTRY_DIR || tn_dir_hidden_name(entry->name))
            continue;
        if (entry->stat.kind == TN_ENTRY_FILE) { /* L1 */
            leaves[i] = ends_like(entry->name, ".parquet") || ends_like(entry->name, ".parq");
            if (!leaves[i]) {
                TN_TRY(tn_path_join(cx, arena, directory, entry->name, &path));
                TN_TRY(has_magic(cx, store, path, &leaves[i]));
            }
        }
        if (!leaves[i] && (*strangers)++ == 0)
            *first = entry->name;
    }
done:
    return rc;
}

static tn_change_file leaving_of(const tn_entry *entry, bool side)
{
    return (tn_change_file){.name = entry->name,
                            .size_bytes = entry->stat.size_bytes,
                            .mtime_ns = entry->stat.mtime_ns,
                            .inode = entry->stat.inode,
                            .link = entry->stat.link,
                            .side = side};
}

int tn_write_list_leaving(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                          const tn_entry *entries, size_t count, tn_write_step *step,
                          uint64_t *strangers, tn_str *first)
{
    bool *leaves = tn_arena_array(cx, arena, count, sizeof *leaves);
    size_t n = 0;
    int rc;

    step->leaving = tn_arena_array(cx, arena, count, sizeof *step->leaving);
    if (leaves == NULL || step->leaving == NULL)
        return TARN_E_NOMEM;
    TN_TRY(find_data(cx, store, arena, directory, entries, count, leaves, strangers, first));
    for (size_t i = 0; i < count; i++) {
        const tn_entry *entry = &entries[i];
        bool side = entry->stat.kind == TN_ENTRY_FILE &&
                    (describes(entry->name) || belongs(entry->name, entries, count, leaves));

        if (leaves[i] || side)
            step->leaving[n++] = leaving_of(entry, side);
    }
    step->leaving_count = n;
done:
    return rc;
}

int tn_write_list_stale(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                        tn_write_step *step)
{
    static const char *const names[] = {"_metadata", "_common_metadata"};
    tn_entry entry;
    bool found;
    int rc = TARN_OK;

    step->leaving = tn_arena_array(cx, arena, 2, sizeof *step->leaving);
    if (step->leaving == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < 2; i++) {
        entry.name = tn_str_of(names[i]);
        TN_TRY(tn_change_find_in(cx, store, arena, directory, entry.name, &found, &entry.stat));
        if (found && entry.stat.kind == TN_ENTRY_FILE)
            step->leaving[step->leaving_count++] = leaving_of(&entry, true);
    }
done:
    return rc;
}
