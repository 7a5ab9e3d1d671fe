/* Storage as a vtable. Everything outside io/ goes through the tn_store_* functions below, which
 * check the contract once for all backends; nothing outside io/ asks which backend it has, only
 * which capabilities.
 *
 * Paths are bytes, "/"-separated, absolute within the store, without "." or ".." or a trailing "/"
 * ("/" itself apart); tn_store_locate turns what a user typed into one. Names may hold any byte but
 * "/" and NUL. Thread rule: a store serves many threads at once, each with its own context. A
 * tn_file or tn_sink serves one. */
#ifndef TN_IO_STORE_H
#define TN_IO_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/context.h"
#include "base/str.h"

enum tn_store_caps {
    TN_STORE_RENAME =
        1 << 0, /* atomic rename of files and directories, replacing an empty or no target */
    TN_STORE_EXCHANGE =
        1 << 1, /* may exchange two directories in one step (the file system below may still refuse:
                   tn_store_exchange then gives TARN_E_UNSUPPORTED and changes nothing) */
    TN_STORE_LINK = 1 << 2,  /* hard links of files */
    TN_STORE_LOCK = 1 << 3,  /* locks that die with their owner */
    TN_STORE_ATTRS = 1 << 4, /* owner, mode, times, extended attributes */
    TN_STORE_DIRS = 1 << 5   /* directories are things of their own, made and removed */
};

/* How the names begin that a put uses until it is whole; a crash may leave one. */
#define TN_STORE_PUT_PREFIX ".tarn-put-"

enum tn_entry_kind { TN_ENTRY_FILE, TN_ENTRY_DIR, TN_ENTRY_OTHER };

/* What there is at a path. For a symbolic link: kind, size and times of what it leads to, `link`
 * true; a dangling link is TN_ENTRY_OTHER. */
typedef struct tn_stat {
    enum tn_entry_kind kind;
    bool link;
    uint64_t size_bytes;
    int64_t mtime_ns, ctime_ns;
    uint64_t device, inode; /* identity; 0 where the store has none */
    uint64_t links;         /* hard link count; 1 where the store has none */
    uint64_t mount;         /* of directories: names are renamed and linked within one mount only,
                             * and a bind mount has the device of what it shows */
    uint32_t mode, uid, gid;
} tn_stat;

typedef struct tn_entry {
    tn_str name; /* one path component */
    tn_stat stat;
} tn_entry;

typedef struct tn_attr {
    tn_str name, value;
} tn_attr;

typedef struct tn_attrs {
    uint32_t mode, uid, gid;
    int64_t atime_ns, mtime_ns;
    tn_attr *extended;
    size_t extended_count;
} tn_attrs;

enum tn_attrs_what {
    TN_ATTRS_OWNER = 1,
    TN_ATTRS_MODE = 2,
    TN_ATTRS_TIMES = 4,
    TN_ATTRS_EXTENDED = 8,
    TN_ATTRS_ALL = 15
};

typedef struct tn_store tn_store;
typedef struct tn_file tn_file; /* open for reading */
typedef struct tn_sink tn_sink; /* open for writing, in order */
typedef struct tn_list tn_list; /* a listing under way */
typedef struct tn_lock tn_lock;

struct tn_file {
    tn_store *store;
    tn_stat stat;
};
struct tn_sink {
    tn_store *store;
    uint64_t written_bytes;
    bool scratch; /* set by the owner of a file that need not outlive the process: nothing is done
                     to bring it to stable storage */
};
struct tn_list {
    tn_store *store;
};
struct tn_lock {
    tn_store *store;
};

/* What a backend provides. Each gets paths that satisfy the rule above. Unless said otherwise a
 * missing path is TARN_E_NOTFOUND; failures put path and reason into `cx`. */
typedef struct tn_store_ops {
    const char *name;
    void (*close)(tn_store *store);
    int (*stat)(tarn_cx *cx, tn_store *store, tn_str path, tn_stat *out);
    int (*open)(tarn_cx *cx, tn_store *store, tn_str path, tn_file **out);
    /* Exactly `len` bytes at `offset` into `into`; a shorter file is TARN_E_CORRUPT ("ends at byte
     * …"). */
    int (*read)(tarn_cx *cx, tn_file *file, uint64_t offset, void *into, size_t len);
    void (*close_file)(tn_file *file);
    /* A new file; TARN_E_EXISTS when there is one. */
    int (*create)(tarn_cx *cx, tn_store *store, tn_str path, tn_sink **out);
    int (*write)(tarn_cx *cx, tn_sink *sink, const void *bytes, size_t len);
    /* Data to stable storage, then closed. After a failure the sink is still to be closed. */
    int (*finish)(tarn_cx *cx, tn_sink *sink);
    void (*close_sink)(tn_sink *sink); /* without finish: the file may stay, incomplete */
    /* Whole object, replacing atomically what was there; durable on return. */
    int (*put)(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes);
    /* The same, but TARN_E_EXISTS when the path exists. */
    int (*put_absent)(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes);
    int (*list_open)(tarn_cx *cx, tn_store *store, tn_str path, tn_list **out);
    /* The next page of entries, in no order, without "." and ".."; *count 0 at the end. Valid until
     * the next call. */
    int (*list_next)(tarn_cx *cx, tn_list *list, const tn_entry **entries, size_t *count);
    void (*list_close)(tn_list *list);
    int (*remove)(tarn_cx *cx, tn_store *store,
                  tn_str path); /* a file or a link, never what it leads to */
    int (*make_dir)(tarn_cx *cx, tn_store *store,
                    tn_str path); /* TARN_E_EXISTS when there is something */
    int (*remove_dir)(tarn_cx *cx, tn_store *store,
                      tn_str path); /* an empty one; TARN_E_CONFLICT when it is not */
    int (*rename)(tarn_cx *cx, tn_store *store, tn_str from, tn_str to,
                  bool replace); /* EXISTS without replace */
    int (*exchange)(tarn_cx *cx, tn_store *store, tn_str a, tn_str b);
    int (*link)(tarn_cx *cx, tn_store *store, tn_str from,
                tn_str to); /* EXISTS when `to` is there */
    int (*sync_dir)(tarn_cx *cx, tn_store *store,
                    tn_str path); /* entries of a directory to stable storage */
    /* The same for all that was done on the file system of `path`, by anybody: one wait where
     * many directories changed. */
    int (*sync_all)(tarn_cx *cx, tn_store *store, tn_str path);
    int (*lock)(tarn_cx *cx, tn_store *store, tn_str path,
                tn_lock **out); /* CONFLICT when somebody holds it */
    void (*unlock)(tn_lock *lock);
    /* Whether somebody holds the lock at `path`, and who (in the arena; may be empty); a missing
     * path is held by nobody. Changes nothing. */
    int (*lock_held)(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                     tn_str *holder);
    int (*attrs_get)(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, tn_attrs *out);
    int (*attrs_set)(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                     unsigned what);
    /* Whether this process may make and remove names in a directory, as far as that can be told
     * without doing it. */
    int (*may_write)(tarn_cx *cx, tn_store *store, tn_str path, bool *out);
    /* Free bytes for an ordinary user on the file system of `path`; UINT64_MAX where unknown. */
    int (*free_bytes)(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *out);
} tn_store_ops;

struct tn_store {
    const tn_store_ops *ops;
    unsigned caps;
};

/* Opens the store that serves a user's path or URL ("/a/b", "./t", "t/", "file:///x"), and its path
 * in that store, with symbolic links of the path itself resolved. Other schemes: TARN_E_UNSUPPORTED
 * by name. *store is the caller's. */
int tn_store_locate(tarn_cx *cx, tn_str text, tn_arena *arena, tn_store **store, tn_str *path);
int tn_store_local_open(tarn_cx *cx, tn_store **out);
void tn_store_close(tn_store *store);

int tn_store_stat(tarn_cx *cx, tn_store *store, tn_str path, tn_stat *out);
/* True/false without an error for NOTFOUND. */
int tn_store_exists(tarn_cx *cx, tn_store *store, tn_str path, bool *out);
int tn_store_open_file(tarn_cx *cx, tn_store *store, tn_str path, tn_file **out);
int tn_store_read(tarn_cx *cx, tn_file *file, uint64_t offset, void *into, size_t len);
void tn_store_close_file(tn_file *file);
/* Whole small object appended to `out`; LIMIT when larger than bytes_max. */
int tn_store_get(tarn_cx *cx, tn_store *store, tn_str path, uint64_t bytes_max, tn_buf *out);
int tn_store_create(tarn_cx *cx, tn_store *store, tn_str path, tn_sink **out);
int tn_store_write(tarn_cx *cx, tn_sink *sink, const void *bytes, size_t len);
int tn_store_finish(tarn_cx *cx, tn_sink *sink);
void tn_store_close_sink(tn_sink *sink);
int tn_store_put(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes);
int tn_store_put_absent(tarn_cx *cx, tn_store *store, tn_str path, tn_str bytes);
int tn_store_list_open(tarn_cx *cx, tn_store *store, tn_str path, tn_list **out);
int tn_store_list_next(tarn_cx *cx, tn_list *list, const tn_entry **entries, size_t *count);
void tn_store_list_close(tn_list *list);
/* The whole listing, sorted by name (bytes), in the arena. */
int tn_store_list(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, tn_entry **entries,
                  size_t *count);
/* The same, where a directory that is missing counts as an empty one. */
int tn_store_list_or_none(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                          tn_entry **entries, size_t *count);
int tn_store_remove(tarn_cx *cx, tn_store *store, tn_str path);
int tn_store_make_dir(tarn_cx *cx, tn_store *store, tn_str path);
/* The directory and its missing parents; an existing one is fine. */
int tn_store_make_dirs(tarn_cx *cx, tn_store *store, tn_str path);
int tn_store_remove_dir(tarn_cx *cx, tn_store *store, tn_str path);
/* Everything below and the thing itself; never through a symbolic link; a missing one is fine. */
int tn_store_remove_tree(tarn_cx *cx, tn_store *store, tn_str path);
int tn_store_rename(tarn_cx *cx, tn_store *store, tn_str from, tn_str to, bool replace);
int tn_store_exchange(tarn_cx *cx, tn_store *store, tn_str a, tn_str b);
int tn_store_link(tarn_cx *cx, tn_store *store, tn_str from, tn_str to);
int tn_store_sync_dir(tarn_cx *cx, tn_store *store, tn_str path);
int tn_store_sync_all(tarn_cx *cx, tn_store *store, tn_str path);
int tn_store_lock(tarn_cx *cx, tn_store *store, tn_str path, tn_lock **out);
void tn_store_unlock(tn_lock *lock);
int tn_store_lock_held(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                       tn_str *holder);
int tn_store_attrs_get(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, tn_attrs *out);
int tn_store_attrs_set(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                       unsigned what);
int tn_store_may_write(tarn_cx *cx, tn_store *store, tn_str path, bool *out);
int tn_store_free_bytes(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *out);

/* Path arithmetic; results in the arena. */
int tn_path_join(tarn_cx *cx, tn_arena *arena, tn_str dir, tn_str name, tn_str *out);
tn_str tn_path_parent(tn_str path); /* "/" for "/a" and for "/" */
tn_str tn_path_name(tn_str path);   /* the last component */

#endif
