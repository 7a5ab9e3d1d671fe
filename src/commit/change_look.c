/* What the steps of a change share: identity of files, free names, notes. */
#include <stdarg.h>
#include <stdio.h>

#include "commit/change.h"

#define FREE_NAME_TRIES 10000
#define NOTE_BYTES_MAX  2000

bool tn_change_same(const tn_stat *stat, const tn_change_file *file)
{
    return stat->kind == TN_ENTRY_FILE && !stat->link && stat->size_bytes == file->size_bytes &&
           stat->mtime_ns == file->mtime_ns && (file->inode == 0 || stat->inode == file->inode);
}

int tn_change_find(tarn_cx *cx, tn_store *store, tn_str path, bool *found, tn_stat *stat)
{
    int rc = tn_store_stat(cx, store, path, stat);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        *found = false;
        return TARN_OK;
    }
    *found = rc == TARN_OK;
    return rc;
}

int tn_change_find_in(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory, tn_str name,
                      bool *found, tn_stat *stat)
{
    tn_str path;
    int rc;

    TN_TRY(tn_path_join(cx, arena, directory, name, &path));
    TN_TRY(tn_change_find(cx, store, path, found, stat));
done:
    return rc;
}

/* The number goes before the last dot, so that the ending stays. */
int tn_change_free_name(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory,
                        tn_str name, tn_str *out)
{
    size_t dot = name.len;
    tn_str made;
    tn_stat stat;
    bool found;
    int rc = TARN_OK;

    while (dot > 0 && name.ptr[dot - 1] != '.')
        dot--;
    dot = dot > 1 ? dot - 1 : name.len;
    for (int i = 1; i < FREE_NAME_TRIES; i++) {
        TN_TRY(tn_arena_print(cx, arena, &made, "%.*s-%d%.*s", (int)dot, name.ptr, i,
                              (int)(name.len - dot), name.ptr + dot));
        TN_TRY(tn_change_find_in(cx, store, arena, directory, made, &found, &stat));
        if (!found) {
            *out = made;
            goto done;
        }
    }
    TN_FAIL(TARN_E_EXISTS, "%.*s: no free name like %.*s is left", TN_STR_ARG(directory),
            TN_STR_ARG(name));
done:
    return rc;
}

int tn_change_say(tarn_cx *cx, tn_arena *arena, tn_change *change, const char *format, ...)
{
    char text[1024];
    va_list args;

    if (change->note.len > NOTE_BYTES_MAX)
        return TARN_OK;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tn_arena_print(cx, arena, &change->note, "%.*s%s%s", TN_STR_ARG(change->note),
                          change->note.len != 0 ? "; " : "", text);
}

int tn_change_remove(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc = tn_store_remove(cx, store, path);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    return rc;
}

int tn_change_drop(tarn_cx *cx, tn_store *store, const tn_change *change)
{
    int rc;

    TN_TRY(tn_change_remove(cx, store, change->record));
    TN_TRY(tn_store_sync_dir(cx, store, tn_path_parent(change->record)));
done:
    return rc;
}

const char *tn_change_way_out(const tn_change *change)
{
    return change->undo
               ? "the old files stay in the work directory (*/old) until their time is over"
               : "run again";
}

const char *tn_change_since(const tn_change *change)
{
    return change->undo ? "since the merge" : "since the plan";
}

void tn_change_remove_empty(tarn_cx *cx, tn_store *store, tn_str path)
{
    if (tn_store_remove_dir(cx, store, path) != TARN_OK)
        tn_cx_forget(cx);
}

void tn_change_remove_staging(tarn_cx *cx, tn_store *store, tn_str staging)
{
    tn_str run = tn_path_parent(staging);

    tn_change_remove_empty(cx, store, staging);
    tn_change_remove_empty(cx, store, run);
    tn_change_remove_empty(cx, store, tn_path_parent(run));
}

void tn_change_put_times(tarn_cx *cx, tn_store *store, const tn_change *change)
{
    tn_attrs times = {.atime_ns = change->atime_ns, .mtime_ns = change->mtime_ns};

    if (!change->times_now &&
        tn_store_attrs_set(cx, store, change->directory, &times, TN_ATTRS_TIMES) != TARN_OK)
        tn_cx_forget(cx);
}
