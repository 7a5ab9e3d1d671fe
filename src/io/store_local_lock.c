/* Locks that die with their owner: flock on a file whose text says who holds it.
 * I1: the lock is held only while its file is the one found at the path. A finishing owner removes
 *     the file (and its directory) and then lets go; who waited holds a lock on a file that nobody
 *     else will ever find, notices, and begins anew.
 * I2: who only asks takes a shared lock for a moment; who wants the lock bears that by trying
 * again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "io/store_error.h"
#include "io/store_local.h"

#define TRIES_MAX  100
#define ASKERS_MAX 5 /* times that an asker may be in the way */

typedef struct local_lock {
    tn_lock base;
    int fd;
} local_lock;

static void read_holder(int fd, char *holder, size_t size)
{
    ssize_t n = pread(fd, holder, size - 1, 0);

    holder[n > 0 ? n : 0] = '\0';
    for (char *at = holder; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            *at = '\0';
}

static int conflict(tarn_cx *cx, int fd, tn_str path)
{
    char holder[256];

    read_holder(fd, holder, sizeof holder);
    return tn_fail(cx, TARN_E_CONFLICT,
                   "%.*s: locked by another tarn (%s); wait until it ends, or stop that process: "
                   "the lock goes with it",
                   TN_STR_ARG(path), holder[0] != '\0' ? holder : "which has just begun");
}

static bool still_at(const char *path, int fd)
{
    struct stat held, found;

    return fstat(fd, &held) == 0 && stat(path, &found) == 0 && held.st_ino == found.st_ino &&
           held.st_dev == found.st_dev;
}

/* Who we are, for others to read. A full disk does not keep us from locking. */
static void sign(tarn_cx *cx, int fd)
{
    char host[128] = "", when[40] = "", text[256];
    time_t now = (time_t)(tn_cx_now_ms(cx) / 1000);
    struct tm utc;
    int length;

    gethostname(host, sizeof host - 1);
    if (gmtime_r(&now, &utc) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    length =
        snprintf(text, sizeof text, "process %ld on %s since %s\n", (long)getpid(), host, when);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length)
        return;
}

/* flock, tried again a few milliseconds long where an asker may hold it. */
static int lock_exclusive(int fd)
{
    const struct timespec pause = {0, 1000000};
    int result = flock(fd, LOCK_EX | LOCK_NB);

    for (int tries = 0; result != 0 && errno == EWOULDBLOCK && tries < ASKERS_MAX; tries++) {
        nanosleep(&pause, NULL);
        result = flock(fd, LOCK_EX | LOCK_NB);
    }
    return result;
}

int tn_store_local_lock(tarn_cx *cx, tn_store *store, tn_str path, tn_lock **out)
{
    tn_store_local_path buffer;
    const char *name = tn_store_local_cpath(&buffer, path);
    local_lock *lock = tn_calloc(cx, 1, sizeof *lock);
    int rc = TARN_OK;

    if (lock == NULL)
        return TARN_E_NOMEM;
    lock->base.store = store;
    lock->fd = -1;
    for (int tries = 0;; tries++) {
        lock->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->fd < 0) {
            rc = tn_store_error(cx, errno, "open the lock", path);
            break;
        }
        if (lock_exclusive(lock->fd) != 0) {
            if (errno == EINTR && tries < TRIES_MAX) {
                close(lock->fd);
                continue;
            }
            rc = errno == EWOULDBLOCK || errno == EINTR ? conflict(cx, lock->fd, path)
                                                        : tn_store_error(cx, errno, "lock", path);
            break;
        }
        if (still_at(name, lock->fd))
            break;
        close(lock->fd);
        lock->fd = -1;
        if (tries == TRIES_MAX) {
            rc = tn_fail(cx, TARN_E_CONFLICT,
                         "%.*s: other runs of tarn begin and end here without "
                         "pause; run again",
                         TN_STR_ARG(path));
            break;
        }
    }
    if (rc != TARN_OK) {
        tn_store_local_unlock(&lock->base);
        return rc;
    }
    sign(cx, lock->fd);
    *out = &lock->base;
    return TARN_OK;
}

void tn_store_local_unlock(tn_lock *base)
{
    local_lock *lock = (local_lock *)base;

    if (lock->fd >= 0)
        close(lock->fd);
    free(lock);
}

int tn_store_local_lock_held(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *held,
                             tn_str *holder)
{
    tn_store_local_path buffer;
    char text[256];
    int fd = open(tn_store_local_cpath(&buffer, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = TARN_OK;

    (void)store;
    *held = false;
    *holder = (tn_str){0};
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? TARN_OK
                   : tn_store_error(cx, errno, "open the lock", path);
    if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        *held = true;
        read_holder(fd, text, sizeof text);
        *holder = tn_str_of(text);
        rc = tn_arena_keep(cx, arena, holder);
    }
    close(fd);
    return rc;
}
