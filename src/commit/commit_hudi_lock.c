/* One writer per table.
 *
 *   .hoodie/.aux/tarn.lock   flock: dies with its owner; removed by an owner that ends
 *   .hoodie/lock             a file that a JVM's FileSystemBasedLockProvider made: whoever finds it
 *                            stays out; a table that names that provider gets one from us too
 *
 * L1: the flock is taken first and let go last.
 * L2: a lock file of ours begins with LOCK_TEXT. Found under the flock it is a dead tarn's, for a
 *     living one would hold the flock: it is taken over. */
#include "commit/commit_hudi_parts.h"

#include <time.h>

#define LOCK_TEXT       "tarn holds this table\n"
#define LOCK_BYTES_MAX  4096
#define WAIT_STEP_MS    50
#define PROVIDER        "hoodie.write.lock.provider"
#define PROVIDER_FOLDER "hoodie.write.lock.filesystem.path"
#define PROVIDER_EXPIRE "hoodie.write.lock.filesystem.expire"

static void wait_step(void)
{
    const struct timespec step = {0, WAIT_STEP_MS * 1000000l};

    nanosleep(&step, NULL);
}

int tn_hudi_lock_take(tarn_cx *cx, tn_store *store, tn_str root, int64_t wait_ms, tn_arena *arena,
                      tn_hudi_lock *out)
{
    tn_hudi_lock lock = {.store = store};
    tn_str hoodie;
    int rc;

    TN_TRY(tn_path_join(cx, arena, root, TN_STR(".hoodie"), &hoodie));
    TN_TRY(tn_path_join(cx, arena, hoodie, TN_STR(".aux/tarn.lock"), &lock.own_path));
    TN_TRY(tn_hudi_commit_folder(cx, store, hoodie, TN_STR(".aux")));
    for (;;) {
        rc = tn_store_lock(cx, store, lock.own_path, &lock.own);
        if (rc != TARN_E_CONFLICT || wait_ms <= 0)
            break;
        TN_TRY(tn_cx_check(cx));
        wait_step();
        wait_ms -= WAIT_STEP_MS;
    }
    TN_TRY(rc);
    *out = lock;
done:
    return rc;
}

/* "3 h 12 min": how long ago, for people. */
static void print_age(char *out, size_t size, int64_t ms)
{
    int64_t s = ms > 0 ? ms / 1000 : 0;

    if (s < 120)
        snprintf(out, size, "%d s", (int)s);
    else if (s < 7200)
        snprintf(out, size, "%d min", (int)(s / 60));
    else if (s < 48 * 3600)
        snprintf(out, size, "%d h %d min", (int)(s / 3600), (int)(s / 60 % 60));
    else
        snprintf(out, size, "%lld days", (long long)(s / 86400));
}

/* What the lock's file says of its owner, made fit for a message. */
static void read_owner(tarn_cx *cx, tn_store *store, tn_str path, char *out, size_t size)
{
    tn_buf text = {0};
    size_t n = 0;

    if (tn_store_get(cx, store, path, LOCK_BYTES_MAX, &text) != TARN_OK)
        tn_cx_forget(cx);
    for (size_t i = 0; i < text.len && n + 1 < size; i++)
        out[n++] = text.data[i] >= 0x20 && text.data[i] < 0x7f ? (char)text.data[i] : ' ';
    out[n] = '\0';
    tn_buf_clear(&text);
}

static int refuse(tarn_cx *cx, tn_store *store, tn_str path, int64_t age_ms)
{
    char age[40], owner[200];

    print_age(age, sizeof age, age_ms);
    read_owner(cx, store, path, owner, sizeof owner);
    return tn_fail(cx, TARN_E_CONFLICT,
                   "%.*s: a Hudi writer holds the table since %s (owner: %s); wait until it ends; "
                   "if it is dead, remove that file and run again",
                   TN_STR_ARG(path), age, owner[0] != '\0' ? owner : "the file does not say");
}

static bool is_ours(tarn_cx *cx, tn_store *store, tn_str path)
{
    char owner[sizeof LOCK_TEXT + 1];

    read_owner(cx, store, path, owner, sizeof owner);
    return strncmp(owner, LOCK_TEXT, sizeof LOCK_TEXT - 2) == 0;
}

/* Minutes after which a contender may remove the file; 0: never. */
static int64_t expire_minutes(const tn_hudi_config *config)
{
    tn_str text = tn_properties_get(&config->all, PROVIDER_EXPIRE);
    int64_t minutes = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || minutes > INT32_MAX)
            return 0;
        minutes = 10 * minutes + (text.ptr[i] - '0');
    }
    return minutes;
}

/* A lock file at `path`: expired and dead ones go, for others we stay out. */
static int look(tarn_cx *cx, tn_store *store, tn_str path, int64_t expire_min)
{
    tn_stat stat;
    int64_t age_ms;
    int rc = tn_store_stat(cx, store, path, &stat);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    age_ms = tn_cx_now_ms(cx) - stat.mtime_ns / 1000000;
    if (!is_ours(cx, store, path) && (expire_min == 0 || age_ms <= expire_min * 60000))
        TN_TRY(refuse(cx, store, path, age_ms));
    rc = tn_store_remove(cx, store, path);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    TN_TRY(rc);
    TN_TRY(tn_hudi_config_drop_crc(cx, store, path));
done:
    return rc;
}

/* The folder that the provider is given, as a path of the store. */
static int provider_path(tarn_cx *cx, tn_str root, const tn_hudi_config *config, tn_arena *arena,
                         tn_str *out)
{
    tn_str folder = tn_properties_get(&config->all, PROVIDER_FOLDER);
    int rc;

    if (folder.len == 0)
        return tn_path_join(cx, arena, root, TN_STR(".hoodie/lock"), out);
    if (tn_str_starts(folder, TN_STR("file:")))
        folder = tn_str_from(folder, 5);
    while (folder.len > 1 && folder.ptr[0] == '/' && folder.ptr[1] == '/')
        folder = tn_str_from(folder, 1);
    while (folder.len > 1 && folder.ptr[folder.len - 1] == '/')
        folder.len--;
    if (folder.len == 0 || folder.ptr[0] != '/')
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%s=%.*s: tarn cannot hold a lock there; give an absolute path of this file system",
                PROVIDER_FOLDER, TN_STR_ARG(folder));
    TN_TRY(tn_path_join(cx, arena, folder, TN_STR("lock"), out));
done:
    return rc;
}

static int hold(tarn_cx *cx, tn_hudi_lock *lock, tn_str path)
{
    int rc;

    TN_TRY(tn_hudi_config_drop_crc(cx, lock->store, path));
    rc = tn_store_put_absent(cx, lock->store, path, TN_STR(LOCK_TEXT));
    if (rc == TARN_E_EXISTS)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: a Hudi writer took the table's lock at the same moment; "
                "wait until it ends and run again",
                TN_STR_ARG(path));
    TN_TRY(rc);
    lock->hudi_path = path;
done:
    return rc;
}

int tn_hudi_lock_provider(tarn_cx *cx, tn_str root, const tn_hudi_config *config, tn_arena *arena,
                          tn_hudi_lock *lock)
{
    tn_str provider = tn_properties_get(&config->all, PROVIDER), path, usual;
    bool named = tn_str_ends(provider, TN_STR(".FileSystemBasedLockProvider"));
    int rc;

    if (provider.len != 0 && !named && !tn_str_ends(provider, TN_STR(".InProcessLockProvider")))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: the table names the lock provider %.*s, which tarn cannot hold; write with "
                "Hudi, or change %s",
                TN_STR_ARG(root), TN_STR_ARG(provider), PROVIDER);
    TN_TRY(tn_path_join(cx, arena, root, TN_STR(".hoodie/lock"), &usual));
    TN_TRY(look(cx, lock->store, usual, expire_minutes(config)));
    if (!named)
        goto done;
    TN_TRY(provider_path(cx, root, config, arena, &path));
    if (!tn_str_equal(path, usual))
        TN_TRY(look(cx, lock->store, path, expire_minutes(config)));
    TN_TRY(hold(cx, lock, path));
done:
    return rc;
}

void tn_hudi_lock_free(tarn_cx *cx, tn_hudi_lock *lock)
{
    if (lock->hudi_path.len != 0)
        (void)tn_store_remove(cx, lock->store, lock->hudi_path);
    if (lock->own != NULL) {
        (void)tn_store_remove(cx, lock->store, lock->own_path);
        tn_store_unlock(lock->own);
    }
    *lock = (tn_hudi_lock){0};
}
