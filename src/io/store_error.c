/* What an errno of a file call means to a user. */
#include "io/store_error.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct meaning {
    int error, status;
    const char *reason; /* NULL: the system's words */
    const char *way_out;
} meanings[] = {
    {ENOENT, TARN_E_NOTFOUND, "no such file or directory", "check the name"},
    {ENOTDIR, TARN_E_NOTFOUND, "a part of the path is not a directory", "check the name"},
    {EEXIST, TARN_E_EXISTS, "it exists already", "move it away, or choose another name"},
    {ENOTEMPTY, TARN_E_CONFLICT, "the directory is not empty",
     "look at what is in it and move that away"},
    {EISDIR, TARN_E_INVALID, "it is a directory", "name a file"},
    {EACCES, TARN_E_IO, "permission denied",
     "run as the owner, or grant access to it and to the directories above"},
    {EPERM, TARN_E_IO, "operation not permitted",
     "run as the owner; chattr -i lifts an immutable flag"},
    {EROFS, TARN_E_IO, "the file system is mounted read-only",
     "mount it writable, or work on a copy"},
    {ENOSPC, TARN_E_IO, "no space is left on the file system (or no inodes: df, df -i)",
     "free some space and run again"},
    {EDQUOT, TARN_E_IO, "the disk quota is used up", "free some space and run again"},
    {EFBIG, TARN_E_LIMIT, "larger than the file system or ulimit -f allows", "raise the limit"},
    {EMFILE, TARN_E_LIMIT, "too many open files in this process",
     "raise the limit with ulimit -n, or use fewer --jobs"},
    {ENFILE, TARN_E_LIMIT, "too many open files on this machine",
     "close some, or raise fs.file-max"},
    {ELOOP, TARN_E_INVALID, "symbolic links lead in a circle", "correct the link"},
    {ENAMETOOLONG, TARN_E_LIMIT, "the name is longer than the file system allows",
     "use a shorter name or a directory nearer to the root"},
    {ENOMEM, TARN_E_NOMEM, "out of memory", "free some memory and run again"},
    {EBUSY, TARN_E_CONFLICT, "it is in use (a mount point?)", "unmount it or wait, and run again"},
    {ESTALE, TARN_E_IO, "the network file system lost it", "remount, and run again"},
    {EIO, TARN_E_IO, "the device reports an error", "look into the kernel log (dmesg)"},
    {EXDEV, TARN_E_UNSUPPORTED, "the two paths are on different file systems",
     "use one file system"},
    {ENOSYS, TARN_E_UNSUPPORTED, "the file system cannot do that", "use another file system"},
    {EOPNOTSUPP, TARN_E_UNSUPPORTED, "the file system cannot do that", "use another file system"},
    {EINVAL, TARN_E_UNSUPPORTED, "the file system cannot do that", "use another file system"},
    {EMLINK, TARN_E_UNSUPPORTED, "too many hard links to it", "use another file system"},
    {ENOLCK, TARN_E_UNSUPPORTED, "the file system has no locks", "start its lock service"},
};

int tn_store_error(tarn_cx *cx, int error, const char *verb, tn_str path)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].error == error)
            return tn_fail(cx, meanings[i].status, "%.*s: cannot %s: %s; %s", TN_STR_ARG(path),
                           verb, meanings[i].reason, meanings[i].way_out);
    return tn_fail(cx, TARN_E_IO, "%.*s: cannot %s: %s", TN_STR_ARG(path), verb, strerror(error));
}
