/* Owner, mode, times and extended attributes of local files and directories.
 * I1: symbolic links are not followed.
 * I2: marks that belong to the bytes or to the machine and not to the user (security.ima, .evm,
 *     .selinux, trusted.*) are neither read nor written: the kernel or the administrator sets them.
 * I3: setting them makes the extended set equal to the one given; extras that a default access list
 *     put on a new file go. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/limits.h"
#include "io/store_error.h"
#include "io/store_local.h"

/* Linux allows no more (XATTR_LIST_MAX, XATTR_SIZE_MAX). */
#define LIST_BYTES_MAX  65536
#define VALUE_BYTES_MAX 65536
#define TRIES_MAX       8

static bool carried(const char *name)
{
    return strncmp(name, "user.", 5) == 0 || strncmp(name, "system.posix_acl_", 17) == 0 ||
           strcmp(name, "security.capability") == 0;
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    if (time.tv_nsec < 0) {
        time.tv_nsec += 1000000000;
        time.tv_sec--;
    }
    return time;
}

/* The names, each ended by NUL, into `names`; 0 bytes where the file system has no attributes. */
static int list_names(tarn_cx *cx, const char *name, tn_str path, tn_buf *names)
{
    ssize_t n;

    tn_buf_reset(names);
    if (!tn_buf_reserve(names, LIST_BYTES_MAX))
        return tn_fail_memory(cx);
    n = llistxattr(name, (char *)names->data, LIST_BYTES_MAX);
    if (n < 0 && (errno == ENOTSUP || errno == ENOSYS))
        n = 0;
    if (n < 0)
        return tn_store_error(cx, errno, "list its extended attributes", path);
    names->len = (size_t)n;
    return TARN_OK;
}

static int read_value(tarn_cx *cx, const char *name, const char *key, tn_str path, tn_arena *arena,
                      tn_attr *out, bool *found)
{
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        ssize_t size = lgetxattr(name, key, NULL, 0), n;
        char *value;

        if (size < 0 && errno == ENODATA)
            return TARN_OK;
        if (size < 0 || size > VALUE_BYTES_MAX)
            return tn_store_error(cx, size < 0 ? errno : E2BIG, "read an extended attribute", path);
        value = tn_arena_take(cx, arena, (size_t)size + 1);
        if (value == NULL)
            return TARN_E_NOMEM;
        n = lgetxattr(name, key, value, (size_t)size + 1);
        if (n < 0 && errno == ERANGE)
            continue; /* it grew meanwhile */
        if (n < 0 && errno == ENODATA)
            return TARN_OK;
        if (n < 0)
            return tn_store_error(cx, errno, "read an extended attribute", path);
        *out = (tn_attr){tn_str_of(key), {value, (size_t)n}};
        *found = true;
        return tn_arena_keep(cx, arena, &out->name);
    }
    return tn_fail(cx, TARN_E_CONFLICT, "%.*s: attribute %s keeps changing; run again",
                   TN_STR_ARG(path), key);
}

static int read_extended(tarn_cx *cx, const char *name, tn_str path, tn_arena *arena, tn_attrs *out)
{
    tn_buf names = {0};
    size_t count = 0;
    int rc;

    TN_TRY(list_names(cx, name, path, &names));
    for (size_t at = 0; at < names.len; at += strlen((char *)names.data + at) + 1)
        count += carried((char *)names.data + at);
    out->extended = tn_arena_array(cx, arena, count, sizeof *out->extended);
    if (out->extended == NULL)
        TN_FAIL(TARN_E_NOMEM, "%.*s: out of memory", TN_STR_ARG(path));
    for (size_t at = 0; at < names.len; at += strlen((char *)names.data + at) + 1) {
        const char *key = (char *)names.data + at;
        bool found = false;

        if (!carried(key))
            continue;
        TN_TRY(read_value(cx, name, key, path, arena, &out->extended[out->extended_count], &found));
        out->extended_count += found;
    }
done:
    tn_buf_clear(&names);
    return rc;
}

int tn_store_local_attrs_get(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                             tn_attrs *out)
{
    tn_store_local_path buffer;
    const char *name = tn_store_local_cpath(&buffer, path);
    tn_attrs attrs = {0};
    struct stat stat;
    int rc = TARN_OK;

    (void)store;
    if (lstat(name, &stat) != 0)
        return tn_store_error(cx, errno, "look at it", path);
    attrs.mode = stat.st_mode & 07777;
    attrs.uid = stat.st_uid;
    attrs.gid = stat.st_gid;
    attrs.atime_ns = nanoseconds(stat.st_atim);
    attrs.mtime_ns = nanoseconds(stat.st_mtim);
    if (!S_ISLNK(stat.st_mode))
        TN_TRY(read_extended(cx, name, path, arena, &attrs));
    *out = attrs;
done:
    return rc;
}

static bool wanted(const tn_attrs *attrs, const char *key)
{
    for (size_t i = 0; i < attrs->extended_count; i++)
        if (tn_str_is(attrs->extended[i].name, key))
            return true;
    return false;
}

static int set_extended(tarn_cx *cx, const char *name, tn_str path, const tn_attrs *attrs)
{
    tn_buf names = {0};
    char key[256];
    int rc;

    TN_TRY(list_names(cx, name, path, &names));
    for (size_t at = 0; at < names.len; at += strlen((char *)names.data + at) + 1) {
        const char *extra = (char *)names.data + at;

        if (carried(extra) && !wanted(attrs, extra) && lremovexattr(name, extra) != 0 &&
            errno != ENODATA)
            TN_FAIL(TARN_E_IO, "%.*s: cannot remove its attribute %s (%s)", TN_STR_ARG(path), extra,
                    strerror(errno));
    }
    for (size_t i = 0; i < attrs->extended_count; i++) {
        const tn_attr *attr = &attrs->extended[i];

        if (attr->name.len >= sizeof key)
            TN_FAIL(TARN_E_INVALID, "%.*s: an attribute name of %zu bytes", TN_STR_ARG(path),
                    attr->name.len);
        memcpy(key, attr->name.ptr, attr->name.len);
        key[attr->name.len] = '\0';
        if (lsetxattr(name, key, attr->value.ptr, attr->value.len, 0) != 0)
            TN_FAIL(errno == ENOTSUP ? TARN_E_UNSUPPORTED : TARN_E_IO,
                    "%.*s: cannot set its attribute %s (%s); run as the owner, or remove the "
                    "attribute from the original",
                    TN_STR_ARG(path), key, strerror(errno));
    }
done:
    tn_buf_clear(&names);
    return rc;
}

/* Owner first: a change of owner clears mode bits and capabilities. Access lists before the mode,
 * which has the last word on the bits both describe. */
int tn_store_local_attrs_set(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs,
                             unsigned what)
{
    tn_store_local_path buffer;
    const char *name = tn_store_local_cpath(&buffer, path);
    struct timespec times[2] = {timespec_of(attrs->atime_ns), timespec_of(attrs->mtime_ns)};
    int rc = TARN_OK;

    (void)store;
    if ((what & TN_ATTRS_OWNER) != 0 && lchown(name, attrs->uid, attrs->gid) != 0)
        return tn_store_error(cx, errno, "set its owner and group", path);
    if ((what & TN_ATTRS_EXTENDED) != 0)
        TN_TRY(set_extended(cx, name, path, attrs));
    if ((what & TN_ATTRS_MODE) != 0 && chmod(name, attrs->mode & 07777) != 0)
        TN_TRY(tn_store_error(cx, errno, "set its mode", path));
    if ((what & TN_ATTRS_TIMES) != 0 && utimensat(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW) != 0)
        TN_TRY(tn_store_error(cx, errno, "set its times", path));
done:
    return rc;
}
