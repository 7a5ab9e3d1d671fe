/* What the files of the local store share. */
#ifndef TN_IO_STORE_LOCAL_H
#define TN_IO_STORE_LOCAL_H

#include "io/store.h"

struct stat;

/* A path for the system calls: ended by NUL. */
typedef struct tn_store_local_path {
    char text[4097];
} tn_store_local_path;

static inline const char *tn_store_local_cpath(tn_store_local_path *buffer, tn_str path)
{
    memcpy(buffer->text, path.ptr, path.len);
    buffer->text[path.len] = '\0';
    return buffer->text;
}

/* Attributes: store_local_attrs.c. */
int tn_store_local_attrs_get(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                             tn_attrs *out);
int tn_store_local_attrs_set(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                             unsigned what);

/* Locks: store_local_lock.c. */
int tn_store_local_lock(tarn_cx *cx, tn_store *store, tn_str path, tn_lock **out);
void tn_store_local_unlock(tn_lock *lock);
int tn_store_local_lock_held(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                             tn_str *holder);

#endif
