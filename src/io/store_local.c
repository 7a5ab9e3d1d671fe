/* Files and directories of this machine.
 * I1: what `put`, `put_absent` and `finish` wrote is on stable storage when they return.
 * I2: no call leaves a half-written object under the name asked for, `create` apart.
 * I3: every descriptor is closed on exec.
 * Names are bytes and pass through untouched. */
#define _GNU_SOURCE /* renameat2, O_NOATIME */
#include "io/store_local.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/limits.h"
#include "io/store_error.h"

#define WRITEBACK_BYTES (4u << 20)
#define PAGE_ENTRIES    256
#define TRIES_MAX       1000

_Static_assert(sizeof(((tn_store_local_path *)0)->text) > TN_PATH_BYTES_MAX, "a path and its NUL");

typedef struct local_store {
    tn_store base;
    _Atomic unsigned long temporaries; /* names the next one */
} local_store;

typedef struct local_file {
    tn_file base;
    int fd;
    tn_str path; /* behind this struct */
} local_file;

typedef struct local_sink {
    tn_sink base;
    int fd; /* -1: finished */
    tn_str path;
    uint64_t written, started; /* bytes; of them on their way to the disk */
} local_sink;

typedef struct local_list {
    tn_list base;
    DIR *dir;
    tn_str path;
    size_t names_used;
    tn_entry entries[PAGE_ENTRIES];
    char names[PAGE_ENTRIES * 256];
} local_list;

static void local_close(tn_store *store)
{
    free(store);
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void stat_from(const struct stat *from, bool link, tn_stat *out)
{
    *out = (tn_stat){
        .kind = S_ISREG(from->st_mode)   ? TN_ENTRY_FILE
                : S_ISDIR(from->st_mode) ? TN_ENTRY_DIR
                                         : TN_ENTRY_OTHER,
        .link = link,
        .size_bytes = from->st_size > 0 ? (uint64_t)from->st_size : 0,
        .mtime_ns = nanoseconds(from->st_mtim),
        .ctime_ns = nanoseconds(from->st_ctim),
        .device = from->st_dev,
        .inode = from->st_ino,
        .links = from->st_nlink,
        .mode = from->st_mode & 07777,
        .uid = from->st_uid,
        .gid = from->st_gid,
    };
}

/* The device tells mounts apart where the kernel does not (before Linux 5.8). */
static uint64_t mount_of(int at, const char *name, int flags, const struct stat *own)
{
    struct statx more;

    if (statx(at, name, flags | AT_STATX_DONT_SYNC, STATX_MNT_ID, &more) != 0 ||
        (more.stx_mask & STATX_MNT_ID) == 0)
        return own->st_dev;
    return more.stx_mnt_id;
}

/* Of `name` below the open directory `at`; 0 or an errno. A link that leads nowhere (or in a
 * circle, or where we may not look) stays what it is: TN_ENTRY_OTHER. */
static int stat_at(int at, const char *name, tn_stat *out)
{
    struct stat own, target;

    if (fstatat(at, name, &own, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (!S_ISLNK(own.st_mode)) {
        stat_from(&own, false, out);
        if (out->kind == TN_ENTRY_DIR)
            out->mount = mount_of(at, name, AT_SYMLINK_NOFOLLOW, &own);
        return 0;
    }
    stat_from(fstatat(at, name, &target, 0) == 0 ? &target : &own, true, out);
    if (out->kind == TN_ENTRY_DIR)
        out->mount = mount_of(at, name, 0, &target);
    return 0;
}

static int local_stat(tarn_cx *cx, tn_store *store, tn_str path, tn_stat *out)
{
    tn_store_local_path buffer;
    int error = stat_at(AT_FDCWD, tn_store_local_cpath(&buffer, path), out);

    (void)store;
    return error == 0 ? TARN_OK : tn_store_error(cx, error, "look at it", path);
}

/* A struct of `size` bytes with a copy of the path behind it. */
static void *handle_with_path(tarn_cx *cx, size_t size, tn_str path, tn_str *kept)
{
    char *handle = tn_calloc(cx, 1, size + path.len);

    if (handle == NULL)
        return NULL;
    memcpy(handle + size, path.ptr, path.len);
    *kept = (tn_str){handle + size, path.len};
    return handle;
}

static void local_close_file(tn_file *base)
{
    local_file *file = (local_file *)base;

    if (file->fd >= 0)
        close(file->fd);
    free(file);
}

/* O_NONBLOCK: opening a named pipe must not wait for a writer. */
static int local_open(tarn_cx *cx, tn_store *store, tn_str path, tn_file **out)
{
    tn_store_local_path buffer;
    tn_str kept;
    local_file *file = handle_with_path(cx, sizeof *file, path, &kept);
    struct stat stat;
    int rc = TARN_OK;

    if (file == NULL)
        return TARN_E_NOMEM;
    file->base.store = store;
    file->path = kept;
    file->fd = open(tn_store_local_cpath(&buffer, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0 || fstat(file->fd, &stat) != 0) {
        rc = tn_store_error(cx, errno, "open it", path);
        goto done;
    }
    stat_from(&stat, false, &file->base.stat);
    if (file->base.stat.kind == TN_ENTRY_DIR)
        rc = tn_store_error(cx, EISDIR, "open it", path);
    else if (file->base.stat.kind != TN_ENTRY_FILE)
        rc = tn_fail(cx, TARN_E_INVALID, "%.*s: not a regular file but a pipe, socket or device",
                     TN_STR_ARG(path));
done:
    if (rc != TARN_OK)
        local_close_file(&file->base);
    else
        *out = &file->base;
    return rc;
}

static int local_read(tarn_cx *cx, tn_file *base, uint64_t offset, void *into, size_t len)
{
    local_file *file = (local_file *)base;
    char *at = into;

    while (len > 0) {
        ssize_t n = pread(file->fd, at, len, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tn_store_error(cx, errno, "read it", file->path);
        if (n == 0)
            return tn_fail(cx, TARN_E_CORRUPT,
                           "%.*s: ends at byte %llu, %zu bytes short; it is cut off, or was while "
                           "it was read",
                           TN_STR_ARG(file->path), (unsigned long long)offset, len);
        at += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return TARN_OK;
}

static void local_close_sink(tn_sink *base)
{
    local_sink *sink = (local_sink *)base;

    if (sink->fd >= 0)
        close(sink->fd);
    free(sink);
}

static int local_create(tarn_cx *cx, tn_store *store, tn_str path, tn_sink **out)
{
    tn_store_local_path buffer;
    tn_str kept;
    local_sink *sink = handle_with_path(cx, sizeof *sink, path, &kept);

    if (sink == NULL)
        return TARN_E_NOMEM;
    sink->base.store = store;
    sink->path = kept;
    sink->fd =
        open(tn_store_local_cpath(&buffer, path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (sink->fd < 0) {
        int error = errno;

        free(sink);
        return tn_store_error(cx, error, "create it", path);
    }
    *out = &sink->base;
    return TARN_OK;
}

/* 0 or an errno. */
static int write_all(int fd, const char *at, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Sets the disk to work on what has been written, so that the sync at the end finds little left to
 * wait for. A hint: where the system does not take it, nothing is lost. Scratch files are mostly
 * gone before the disk would get to them. */
static void start_writeback(local_sink *sink)
{
    if (sink->base.scratch || sink->written - sink->started < WRITEBACK_BYTES)
        return;
    (void)sync_file_range(sink->fd, (off_t)sink->started, (off_t)(sink->written - sink->started),
                          SYNC_FILE_RANGE_WRITE);
    sink->started = sink->written;
}

static int local_write(tarn_cx *cx, tn_sink *base, const void *bytes, size_t len)
{
    local_sink *sink = (local_sink *)base;
    int error = write_all(sink->fd, bytes, len);

    sink->written += error == 0 ? len : 0;
    start_writeback(sink);
    return error == 0 ? TARN_OK : tn_store_error(cx, error, "write to it", sink->path);
}

static int local_finish(tarn_cx *cx, tn_sink *base)
{
    local_sink *sink = (local_sink *)base;
    int error = !base->scratch && fsync(sink->fd) != 0 ? errno : 0;

    /* close reports what a network file system could not write; it frees the descriptor anyway. */
    if (close(sink->fd) != 0 && error == 0 && errno != EINTR)
        error = errno;
    sink->fd = -1;
    return error == 0 ? TARN_OK : tn_store_error(cx, error, "write it to disk", sink->path);
}

/* Some file systems have nothing to do for a directory and say so. */
static int sync_dir_fd(int fd)
{
    if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS)
        return 0;
    return errno;
}

static int local_sync_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_store_local_path buffer;
    int fd = open(tn_store_local_cpath(&buffer, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 ? errno : sync_dir_fd(fd);

    (void)store;
    if (fd >= 0)
        close(fd);
    return error == 0 ? TARN_OK : tn_store_error(cx, error, "write the directory to disk", path);
}

static int local_sync_all(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_store_local_path buffer;
    int fd = open(tn_store_local_cpath(&buffer, path), O_RDONLY | O_CLOEXEC);
    int error = fd < 0 || syncfs(fd) != 0 ? errno : 0;

    (void)store;
    if (fd >= 0)
        close(fd);
    return error == 0 ? TARN_OK : tn_store_error(cx, error, "write its file system to disk", path);
}

/* A new file beside `path` with the bytes in it, synced; its name in `name`. Hidden, and no
 * ".parquet". 0 or an errno. */
static int write_temporary(local_store *store, tn_str path, tn_str bytes, tn_store_local_path *name)
{
    tn_str parent = tn_path_parent(path);
    int fd = -1, error;

    if (parent.len + 64 > sizeof name->text)
        return ENAMETOOLONG;
    for (int tries = 0; fd < 0; tries++) {
        snprintf(name->text, sizeof name->text, "%.*s/" TN_STORE_PUT_PREFIX "%ld-%lu",
                 (int)parent.len, parent.ptr, (long)getpid(),
                 atomic_fetch_add(&store->temporaries, 1));
        fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && (errno != EEXIST || tries > TRIES_MAX))
            return errno;
    }
    error = write_all(fd, bytes.ptr, bytes.len);
    if (error == 0 && fsync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && error == 0 && errno != EINTR)
        error = errno;
    if (error != 0)
        unlink(name->text);
    return error;
}

static int local_put(tarn_cx *cx, tn_store *base, tn_str path, tn_str bytes)
{
    tn_store_local_path temporary, buffer;
    int error = write_temporary((local_store *)base, path, bytes, &temporary);

    if (error == 0 && rename(temporary.text, tn_store_local_cpath(&buffer, path)) != 0) {
        error = errno;
        unlink(temporary.text);
    }
    if (error != 0)
        return tn_store_error(cx, error, "write it", path);
    return local_sync_dir(cx, base, tn_path_parent(path));
}

/* From `from` to `to`, which must be free; 0 or an errno. */
static int rename_to_free(const char *from, const char *to)
{
    struct stat stat;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* The file system does not know the flag. For files a link does the same; for directories
     * there is only a look before, which a rival can slip past: such names are ours alone. */
    if (link(from, to) == 0)
        return unlink(from) == 0 ? 0 : errno;
    if (errno == EEXIST)
        return EEXIST;
    if (lstat(to, &stat) == 0)
        return EEXIST;
    return rename(from, to) == 0 ? 0 : errno;
}

static int local_put_absent(tarn_cx *cx, tn_store *base, tn_str path, tn_str bytes)
{
    tn_store_local_path temporary, buffer;
    int error = write_temporary((local_store *)base, path, bytes, &temporary);

    if (error == 0) {
        error = rename_to_free(temporary.text, tn_store_local_cpath(&buffer, path));
        if (error != 0)
            unlink(temporary.text);
    }
    if (error != 0)
        return tn_store_error(cx, error, "write it", path);
    return local_sync_dir(cx, base, tn_path_parent(path));
}

static void local_list_close(tn_list *base)
{
    local_list *list = (local_list *)base;

    if (list->dir != NULL)
        closedir(list->dir);
    free(list);
}

/* Looking at a directory does not count as reading it, where we may say so. */
static DIR *open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOATIME);
    DIR *dir;

    if (fd < 0 && errno == EPERM)
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL && fd >= 0)
        close(fd);
    return dir;
}

static int local_list_open(tarn_cx *cx, tn_store *store, tn_str path, tn_list **out)
{
    tn_store_local_path buffer;
    tn_str kept;
    local_list *list = handle_with_path(cx, sizeof *list, path, &kept);

    if (list == NULL)
        return TARN_E_NOMEM;
    list->base.store = store;
    list->path = kept;
    list->dir = open_directory(tn_store_local_cpath(&buffer, path));
    if (list->dir == NULL) {
        int error = errno;

        free(list);
        return tn_store_error(cx, error, "list it", path);
    }
    *out = &list->base;
    return TARN_OK;
}

static bool is_self_or_parent(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* What vanished between the listing and the look at it is passed over. */
static int local_list_next(tarn_cx *cx, tn_list *base, const tn_entry **entries, size_t *count)
{
    local_list *list = (local_list *)base;
    size_t n = 0;

    list->names_used = 0;
    while (n < PAGE_ENTRIES) {
        struct dirent *found;
        size_t length;
        int error;

        errno = 0;
        found = readdir(list->dir);
        if (found == NULL && errno != 0)
            return tn_store_error(cx, errno, "list it", list->path);
        if (found == NULL)
            break;
        if (is_self_or_parent(found->d_name))
            continue;
        length = strlen(found->d_name);
        assert(length < 256);
        error = stat_at(dirfd(list->dir), found->d_name, &list->entries[n].stat);
        if (error == ENOENT)
            continue;
        if (error != 0)
            return tn_store_error(cx, error, "look at its entries", list->path);
        memcpy(list->names + list->names_used, found->d_name, length);
        list->entries[n].name = (tn_str){list->names + list->names_used, length};
        list->names_used += length;
        n++;
    }
    *entries = list->entries;
    *count = n;
    return TARN_OK;
}

static int local_remove(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_store_local_path buffer;

    (void)store;
    if (unlink(tn_store_local_cpath(&buffer, path)) == 0)
        return TARN_OK;
    return tn_store_error(cx, errno, "remove it", path);
}

static int local_make_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_store_local_path buffer;

    (void)store;
    if (mkdir(tn_store_local_cpath(&buffer, path), 0777) == 0)
        return TARN_OK;
    return tn_store_error(cx, errno, "make this directory", path);
}

static int local_remove_dir(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_store_local_path buffer;

    (void)store;
    if (rmdir(tn_store_local_cpath(&buffer, path)) == 0)
        return TARN_OK;
    return tn_store_error(cx, errno == EEXIST ? ENOTEMPTY : errno, "remove this directory", path);
}

static int local_rename(tarn_cx *cx, tn_store *store, tn_str from, tn_str to, bool replace)
{
    tn_store_local_path a, b;
    const char *source = tn_store_local_cpath(&a, from), *target = tn_store_local_cpath(&b, to);
    int error;

    (void)store;
    if (replace)
        error = rename(source, target) == 0 ? 0 : errno == EEXIST ? ENOTEMPTY : errno;
    else
        error = rename_to_free(source, target);
    if (error == 0)
        return TARN_OK;
    /* Whether `from` is missing or the directory of `to`, the kernel does not say. */
    return tn_store_error(cx, error, "rename to it", error == EEXIST ? to : from);
}

static int local_exchange(tarn_cx *cx, tn_store *store, tn_str a, tn_str b)
{
    tn_store_local_path first, second;

    (void)store;
    if (renameat2(AT_FDCWD, tn_store_local_cpath(&first, a), AT_FDCWD,
                  tn_store_local_cpath(&second, b), RENAME_EXCHANGE) == 0)
        return TARN_OK;
    /* EBUSY: a mount point cannot be renamed. */
    return tn_store_error(cx, errno == EBUSY ? EXDEV : errno, "exchange it in one step", a);
}

/* The link itself when `from` is a symbolic one. EPERM: no hard links here, or the kernel protects
 * files of others (fs.protected_hardlinks); either way the caller must do without. */
static int local_link(tarn_cx *cx, tn_store *store, tn_str from, tn_str to)
{
    tn_store_local_path a, b;
    int error;

    (void)store;
    if (linkat(AT_FDCWD, tn_store_local_cpath(&a, from), AT_FDCWD, tn_store_local_cpath(&b, to),
               0) == 0)
        return TARN_OK;
    error = errno;
    return tn_store_error(cx, error == EPERM ? EOPNOTSUPP : error, "make a hard link of it",
                          error == EEXIST ? to : from);
}

static int local_may_write(tarn_cx *cx, tn_store *store, tn_str path, bool *out)
{
    tn_store_local_path buffer;

    (void)store;
    if (faccessat(AT_FDCWD, tn_store_local_cpath(&buffer, path), W_OK | X_OK, AT_EACCESS) == 0) {
        *out = true;
        return TARN_OK;
    }
    if (errno != EACCES && errno != EPERM && errno != EROFS)
        return tn_store_error(cx, errno, "ask for its rights", path);
    *out = false;
    return TARN_OK;
}

static int local_free_bytes(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *out)
{
    tn_store_local_path buffer;
    struct statvfs stat;

    (void)store;
    if (statvfs(tn_store_local_cpath(&buffer, path), &stat) != 0)
        return tn_store_error(cx, errno, "ask for its free space", path);
    if (__builtin_mul_overflow((uint64_t)stat.f_bavail, (uint64_t)stat.f_frsize, out))
        *out = UINT64_MAX;
    return TARN_OK;
}

static const tn_store_ops local_ops = {
    .name = "local",
    .close = local_close,
    .stat = local_stat,
    .open = local_open,
    .read = local_read,
    .close_file = local_close_file,
    .create = local_create,
    .write = local_write,
    .finish = local_finish,
    .close_sink = local_close_sink,
    .put = local_put,
    .put_absent = local_put_absent,
    .list_open = local_list_open,
    .list_next = local_list_next,
    .list_close = local_list_close,
    .remove = local_remove,
    .make_dir = local_make_dir,
    .remove_dir = local_remove_dir,
    .rename = local_rename,
    .exchange = local_exchange,
    .link = local_link,
    .sync_dir = local_sync_dir,
    .sync_all = local_sync_all,
    .lock = tn_store_local_lock,
    .unlock = tn_store_local_unlock,
    .lock_held = tn_store_local_lock_held,
    .attrs_get = tn_store_local_attrs_get,
    .attrs_set = tn_store_local_attrs_set,
    .may_write = local_may_write,
    .free_bytes = local_free_bytes,
};

int tn_store_local_open(tarn_cx *cx, tn_store **out)
{
    local_store *store = tn_calloc(cx, 1, sizeof *store);

    if (store == NULL)
        return TARN_E_NOMEM;
    store->base.ops = &local_ops;
    store->base.caps = TN_STORE_RENAME | TN_STORE_EXCHANGE | TN_STORE_LINK | TN_STORE_LOCK |
                       TN_STORE_ATTRS | TN_STORE_DIRS;
    *out = &store->base;
    return TARN_OK;
}
