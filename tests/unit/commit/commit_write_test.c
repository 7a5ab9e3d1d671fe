/* Writes into a directory on a real file system: what enters, what leaves, what stays, what is
 * refused, and what a kill leaves. */
#include "unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "commit/commit_write.h"
#include "commit/write_run.h"
#include "io/store_fault.h"
#include "io/store_trace.h"
#include "unit/temp_dir.h"

#define FILES_MAX 1024

/* A table "t" in a directory of its own. A data file's bytes are "PAR1", its rows, "PAR1". */
struct table {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    char base[256];
    int runs;
    bool inside;
    int64_t now_ms;
    tn_write_plan plan;
    tn_write_commit *commit;
    tn_write_file files[FILES_MAX];
    size_t count;
    tn_write_done done;
    char notes[2000]; /* of the last write, a line each: "path: text" */
};

static int64_t table_now(void *arg)
{
    return ((struct table *)arg)->now_ms;
}

static const char *at(struct table *t, const char *name)
{
    tn_str path;

    assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &path, "%s/%s", t->base, name));
    return path.ptr;
}

static tn_str path_of(struct table *t, const char *name)
{
    return tn_str_of(at(t, name));
}

static bool has(struct table *t, const char *name)
{
    struct stat stat;

    return lstat(at(t, name), &stat) == 0;
}

static void put(struct table *t, const char *name, const char *text)
{
    assert_ok(t->cx, tn_store_make_dirs(t->cx, t->store, tn_path_parent(path_of(t, name))));
    assert_ok(t->cx, tn_store_put(t->cx, t->store, path_of(t, name), tn_str_of(text)));
}

static void assert_text(struct table *t, const char *name, const char *want)
{
    tn_buf text = {0};

    assert_ok(t->cx, tn_store_get(t->cx, t->store, path_of(t, name), 1000, &text));
    if (!tn_str_is(tn_buf_view(&text), want))
        fail_msg("%s: \"%.*s\", want \"%s\"", name, TN_STR_ARG(tn_buf_view(&text)), want);
    tn_buf_clear(&text);
}

static struct stat stat_of(struct table *t, const char *name)
{
    struct stat stat;

    assert_int_equal(lstat(at(t, name), &stat), 0);
    return stat;
}

/* In memory where that is possible: there syncing costs nothing, so a kill can hit every step. */
static void table_open_bare(struct table *t)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    *t = (struct table){.now_ms = 1800000000000};
    t->cx =
        tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = table_now, .now_arg = t, .seed = 3});
    assert_ok(t->cx, tn_store_local_open(t->cx, &t->store));
    temp_dir_make(t->base, sizeof t->base);
}

static void table_open(struct table *t)
{
    table_open_bare(t);
    put(t, "t/dt=1/a.parquet", "PAR1 a1 PAR1");
    put(t, "t/dt=1/b.parquet", "PAR1 b1 PAR1");
    put(t, "t/dt=2/a.parquet", "PAR1 a2 PAR1");
}

static void table_close(struct table *t)
{
    tn_write_commit_close(t->cx, t->commit);
    tn_store_close(t->store);
    tn_arena_clear(&t->arena);
    tarn_cx_close(t->cx);
    temp_dir_remove(t->base);
}

static void make_plan(struct table *t, enum tn_write_mode mode)
{
    tn_str id;

    assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &id, "w%d", ++t->runs));
    t->plan = (tn_write_plan){.id = id,
                              .root = path_of(t, "t"),
                              .work = path_of(t, t->inside ? "t/.tarn" : ".t.tarn"),
                              .work_inside = t->inside,
                              .root_missing = !has(t, "t"),
                              .mode = mode};
    assert_ok(t->cx, tn_write_commit_staging(t->cx, &t->arena, t->plan.work, id, &t->plan.staging));
    t->count = 0;
}

static int begin(struct table *t, enum tn_write_mode mode)
{
    make_plan(t, mode);
    return tn_write_commit_open(t->cx, t->store, &t->plan, &t->commit);
}

/* A staged file for `partition`, named "<name>-<id>.parquet". */
static void stage(struct table *t, const char *partition, const char *name)
{
    tn_write_file *file = &t->files[t->count];
    char text[100];

    snprintf(text, sizeof text, "PAR1 %s PAR1", name);
    *file = (tn_write_file){.partition = tn_str_of(partition), .bytes = strlen(text), .rows = 1};
    assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &file->name, "%s-%.*s.parquet", name,
                                    TN_STR_ARG(t->plan.id)));
    assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &file->staged, "%.*s/%zu.new",
                                    TN_STR_ARG(t->plan.staging), t->count));
    assert_ok(t->cx, tn_store_put(t->cx, t->store, file->staged, tn_str_of(text)));
    t->count++;
}

static int finish(struct table *t)
{
    int rc = tn_write_commit_finish(t->cx, t->commit, t->files, t->count, &t->done);

    t->notes[0] = '\0';
    for (size_t i = 0; rc == TARN_OK && i < t->done.note_count; i++)
        snprintf(t->notes + strlen(t->notes), sizeof t->notes - strlen(t->notes), "%.*s: %.*s\n",
                 TN_STR_ARG(t->done.notes[i].path), TN_STR_ARG(t->done.notes[i].text));
    tn_write_commit_close(t->cx, t->commit);
    t->commit = NULL;
    return rc;
}

/* One file for each partition named. */
static int write_rows(struct table *t, enum tn_write_mode mode, const char *const *partitions,
                      size_t count)
{
    int rc = begin(t, mode);

    if (rc != TARN_OK)
        return rc;
    for (size_t i = 0; i < count; i++)
        stage(t, partitions[i], "new");
    return finish(t);
}

#define WRITE(t, mode, ...)                                                                        \
    write_rows(t, mode, (const char *const[]){__VA_ARGS__},                                        \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void assert_nothing_left(struct table *t)
{
    assert_false(has(t, ".t.tarn"));
    assert_false(has(t, "t/.tarn"));
}

static void test_write__append_adds_and_cleans_up(void **state)
{
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        struct table t;

        table_open(&t);
        t.inside = inside;
        put(&t, "t/_metadata", "stale");
        put(&t, "t/dt=1/_common_metadata", "stale");
        assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=1", "dt=3/h=1", "dt=3/h=2"));
        assert_int_equal(t.done.files, 3);
        assert_int_equal(t.done.bytes, 39);
        assert_int_equal(t.done.rows, 3);
        assert_int_equal(t.done.partitions, 3);
        assert_int_equal(t.done.old_files, 0);
        assert_false(t.done.pending);
        assert_string_equal(t.notes, "");
        assert_text(&t, "t/dt=1/new-w1.parquet", "PAR1 new PAR1");
        assert_text(&t, "t/dt=3/h=1/new-w1.parquet", "PAR1 new PAR1");
        assert_text(&t, "t/dt=3/h=2/new-w1.parquet", "PAR1 new PAR1");
        assert_text(&t, "t/dt=1/a.parquet", "PAR1 a1 PAR1");
        assert_false(has(&t, "t/_metadata"));
        assert_false(has(&t, "t/dt=1/_common_metadata"));
        assert_nothing_left(&t);
        table_close(&t);
    }
}

static void test_write__makes_a_missing_root(void **state)
{
    struct table t;

    (void)state;
    table_open_bare(&t);
    assert_ok(t.cx, WRITE(&t, TN_WRITE_OVERWRITE, "dt=1/h=1", "dt=1/h=2", ""));
    assert_text(&t, "t/dt=1/h=2/new-w1.parquet", "PAR1 new PAR1");
    assert_text(&t, "t/new-w1.parquet", "PAR1 new PAR1");
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__closing_without_finish_leaves_nothing(void **state)
{
    struct table t;

    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        if (missing)
            table_open_bare(&t);
        else
            table_open(&t);
        assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
        stage(&t, "dt=9", "new");
        assert_ok(t.cx,
                  tn_store_make_dirs(t.cx, t.store, path_of(&t, ".t.tarn/w1/write/spill/deep")));
        put(&t, ".t.tarn/w1/write/spill/deep/run", "rows");
        tn_write_commit_close(t.cx, t.commit);
        t.commit = NULL;
        assert_int_equal(has(&t, "t"), !missing);
        assert_false(has(&t, "t/dt=9"));
        assert_nothing_left(&t);
        table_close(&t);
    }
}

/* What is data goes, what is not stays, and strangers are named. */
static void test_write__overwrite_knows_what_is_data(void **state)
{
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        struct table t;

        table_open(&t);
        t.inside = inside;
        put(&t, "elsewhere", "PAR1 linked PAR1");
        put(&t, "t/dt=1/000000_0", "PAR1 hive PAR1");
        put(&t, "t/dt=1/broken.PARQUET", "x");
        put(&t, "t/dt=1/_SUCCESS", "");
        put(&t, "t/dt=1/.hidden.parquet", "h");
        put(&t, "t/dt=1/_metadata", "stale");
        put(&t, "t/dt=1/.a.parquet.crc", "crc");
        put(&t, "t/dt=1/.other.crc", "crc");
        put(&t, "t/dt=1/readme.txt", "text of more than twelve bytes");
        put(&t, "t/dt=1/empty", "");
        assert_int_equal(symlink("../../elsewhere", at(&t, "t/dt=1/link.parquet")), 0);
        assert_int_equal(symlink("../../nowhere", at(&t, "t/dt=1/dangling.parquet")), 0);
        assert_ok(t.cx, WRITE(&t, TN_WRITE_OVERWRITE, "dt=1"));
        assert_int_equal(t.done.old_files, 6);
        assert_int_equal(t.done.partitions_removed, 1);
        assert_text(&t, "t/dt=1/new-w1.parquet", "PAR1 new PAR1");
        assert_text(&t, "elsewhere", "PAR1 linked PAR1");
        assert_text(&t, "t/dt=1/readme.txt", "text of more than twelve bytes");
        assert_true(has(&t, "t/dt=1/_SUCCESS") && has(&t, "t/dt=1/.hidden.parquet"));
        assert_true(has(&t, "t/dt=1/.other.crc") && has(&t, "t/dt=1/empty"));
        assert_true(has(&t, "t/dt=1/dangling.parquet"));
        assert_false(has(&t, "t/dt=1/a.parquet") || has(&t, "t/dt=1/b.parquet"));
        assert_false(has(&t, "t/dt=1/000000_0") || has(&t, "t/dt=1/broken.PARQUET"));
        assert_false(has(&t, "t/dt=1/link.parquet") || has(&t, "t/dt=1/_metadata"));
        assert_false(has(&t, "t/dt=1/.a.parquet.crc") || has(&t, "t/dt=2"));
        if (strncmp(t.notes, "dt=1: 3 files are no Parquet and stay (dangling.parquet, …)", 59) !=
            0)
            fail_msg("%s", t.notes);
        assert_nothing_left(&t);
        table_close(&t);
    }
}

static void test_write__overwrite_keeps_directories_that_are_not_empty(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    put(&t, "t/dt=2/_SUCCESS", "");
    put(&t, "t/y=1/m=2/d=3/a.parquet", "PAR1");
    put(&t, "t/top.parquet", "PAR1");
    assert_ok(t.cx, WRITE(&t, TN_WRITE_OVERWRITE, "dt=1"));
    assert_true(has(&t, "t/dt=2/_SUCCESS"));
    assert_false(has(&t, "t/dt=2/a.parquet") || has(&t, "t/y=1") || has(&t, "t/top.parquet"));
    assert_int_equal(t.done.old_files, 5);
    assert_int_equal(t.done.partitions_removed, 2);
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__without_rows(void **state)
{
    static const enum tn_write_mode modes[] = {TN_WRITE_APPEND, TN_WRITE_OVERWRITE_PARTITIONS,
                                               TN_WRITE_OVERWRITE};
    struct table t;

    (void)state;
    table_open(&t);
    for (int i = 0; i < 3; i++) {
        assert_ok(t.cx, write_rows(&t, modes[i], NULL, 0));
        assert_int_equal(has(&t, "t/dt=1/a.parquet"), i < 2);
        assert_int_equal(t.done.files, 0);
        assert_int_equal(t.done.old_files, i < 2 ? 0 : 3);
        assert_true(has(&t, "t"));
        assert_nothing_left(&t);
    }
    table_close(&t);
}

static void test_write__overwrite_partitions_leaves_the_others(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    assert_int_equal(chmod(at(&t, "t/dt=1"), 02751), 0);
    assert_int_equal(setxattr(at(&t, "t/dt=1"), "user.owner", "x", 1, 0) == 0 || errno == ENOTSUP,
                     1);
    assert_ok(t.cx, WRITE(&t, TN_WRITE_OVERWRITE_PARTITIONS, "dt=1", "dt=3"));
    assert_false(has(&t, "t/dt=1/a.parquet"));
    assert_true(has(&t, "t/dt=1/new-w1.parquet") && has(&t, "t/dt=3/new-w1.parquet"));
    assert_text(&t, "t/dt=2/a.parquet", "PAR1 a2 PAR1");
    assert_int_equal(stat_of(&t, "t/dt=1").st_mode & 07777, 02751);
    assert_int_equal(t.done.old_files, 2);
    assert_int_equal(t.done.old_bytes, 24);
    assert_int_equal(t.done.partitions_removed, 0);
    put(&t, "t/dt=3/h=1/a.parquet", "PAR1 deep PAR1");
    assert_fails(t.cx, TARN_E_INVALID, "directories below it (h=1)",
                 WRITE(&t, TN_WRITE_OVERWRITE_PARTITIONS, "dt=3"));
    assert_true(has(&t, "t/dt=3/new-w1.parquet") && has(&t, "t/dt=3/h=1/a.parquet"));
    assert_nothing_left(&t);
    table_close(&t);
}

/* An unpartitioned table: the root itself is exchanged. */
static void test_write__overwrites_a_root_of_files(void **state)
{
    struct table t;
    ino_t before;

    (void)state;
    table_open_bare(&t);
    put(&t, "t/a.parquet", "PAR1 a PAR1");
    before = stat_of(&t, "t").st_ino;
    assert_ok(t.cx, WRITE(&t, TN_WRITE_OVERWRITE, ""));
    assert_text(&t, "t/new-w1.parquet", "PAR1 new PAR1");
    assert_false(has(&t, "t/a.parquet"));
    assert_true(stat_of(&t, "t").st_ino != before);
    assert_ok(t.cx, write_rows(&t, TN_WRITE_OVERWRITE, NULL, 0));
    assert_true(has(&t, "t"));
    assert_false(has(&t, "t/new-w1.parquet"));
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__takes_the_group_of_a_shared_root(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    if (chown(at(&t, "t"), (uid_t)-1, 12345) != 0) {
        table_close(&t);
        skip();
    }
    assert_int_equal(chmod(at(&t, "t"), 02775), 0);
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=3/h=1"));
    assert_int_equal(stat_of(&t, "t/dt=3").st_gid, 12345);
    assert_int_equal(stat_of(&t, "t/dt=3/h=1").st_gid, 12345);
    assert_int_equal(stat_of(&t, "t/dt=3/h=1/new-w1.parquet").st_gid, 12345);
    assert_true((stat_of(&t, "t/dt=3/h=1").st_mode & S_ISGID) != 0);
    table_close(&t);
}

/* "user::rwx, group::rwx, mask::rwx, other::---, user 54321: rwx" as the kernel has it. */
static const unsigned char acl[] = {2,   0,   0,   0,   1,   0,    7,    0,   255, 255, 255,
                                    255, 2,   0,   7,   0,   0x31, 0xd4, 0,   0,   4,   0,
                                    7,   0,   255, 255, 255, 255,  16,   0,   7,   0,   255,
                                    255, 255, 255, 32,  0,   0,    0,    255, 255, 255, 255};

static void test_write__takes_the_default_access_list_of_the_root(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    if (setxattr(at(&t, "t"), "system.posix_acl_default", acl, sizeof acl, 0) != 0) {
        table_close(&t);
        skip();
    }
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=3"));
    assert_true(getxattr(at(&t, "t/dt=3"), "system.posix_acl_default", NULL, 0) > 0);
    assert_true(getxattr(at(&t, "t/dt=3/new-w1.parquet"), "system.posix_acl_access", NULL, 0) > 0);
    table_close(&t);
}

/* ---- refusals: nothing is touched */

static void test_write__refuses_what_it_cannot_do(void **state)
{
    static const struct {
        const char *make; /* a file; ending in "/": a directory; "a>b": a link a to b */
        enum tn_write_mode mode;
        const char *partition;
        int status;
        const char *text;
    } cases[] = {
        {"t/.hoodie/", TN_WRITE_APPEND, "dt=3", TARN_E_UNSUPPORTED, "Hudi table"},
        {".hoodie/", TN_WRITE_APPEND, "dt=3", TARN_E_UNSUPPORTED, "Hudi table"},
        {"t/dt=1/_delta_log/", TN_WRITE_APPEND, "dt=1", TARN_E_UNSUPPORTED, "Delta table"},
        {"t/dt=2/_delta_log/", TN_WRITE_OVERWRITE, "dt=1", TARN_E_UNSUPPORTED, "Delta table"},
        {"t/metadata/v1.metadata.json", TN_WRITE_APPEND, "dt=1", TARN_E_UNSUPPORTED, "Iceberg"},
        {"t/dt=1/.hoodie_partition_metadata", TN_WRITE_OVERWRITE_PARTITIONS, "dt=1",
         TARN_E_UNSUPPORTED, "partition of a Hudi table"},
        {"t/delta_0000001_0000002/", TN_WRITE_OVERWRITE, "dt=1", TARN_E_UNSUPPORTED,
         "Hive transactional"},
        {"t/dt=7>dt=1", TN_WRITE_APPEND, "dt=7", TARN_E_UNSUPPORTED, "is a symbolic link"},
        {"t/dt=7>dt=1", TN_WRITE_APPEND, "dt=7/h=1", TARN_E_UNSUPPORTED, "is a symbolic link"},
        {"t/dt=7>dt=1", TN_WRITE_OVERWRITE, "dt=1", TARN_E_UNSUPPORTED, "is a symbolic link"},
        {"t/dt=3", TN_WRITE_APPEND, "dt=3", TARN_E_INVALID, "not a directory"},
        {"t/dt=3", TN_WRITE_APPEND, "dt=3/h=1", TARN_E_INVALID, "not a directory"},
        {"t/dt=1/new-w1.parquet", TN_WRITE_APPEND, "dt=1", TARN_E_EXISTS, "exists already"},
        {NULL, TN_WRITE_APPEND, "../x", TARN_E_INVALID, "no place"},
        {NULL, TN_WRITE_APPEND, "/dt=1", TARN_E_INVALID, "no place"},
        {NULL, TN_WRITE_APPEND, "dt=1//h=1", TARN_E_INVALID, "no place"},
        {NULL, TN_WRITE_APPEND, "_dt", TARN_E_INVALID, "no place"},
        {NULL, TN_WRITE_APPEND, "dt=1/.h", TARN_E_INVALID, "no place"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        const char *make = cases[i].make, *link = make != NULL ? strchr(make, '>') : NULL;

        table_open(&t);
        if (link != NULL) {
            char from[100];

            snprintf(from, sizeof from, "%.*s", (int)(link - make), make);
            assert_int_equal(symlink(link + 1, at(&t, from)), 0);
        } else if (make != NULL && make[strlen(make) - 1] == '/') {
            char name[100];

            snprintf(name, sizeof name, "%.*s", (int)strlen(make) - 1, make);
            assert_ok(t.cx, tn_store_make_dirs(t.cx, t.store, path_of(&t, name)));
        } else if (make != NULL) {
            put(&t, make, "x");
        }
        assert_fails(t.cx, cases[i].status, cases[i].text,
                     WRITE(&t, cases[i].mode, cases[i].partition));
        assert_text(&t, "t/dt=1/a.parquet", "PAR1 a1 PAR1");
        assert_text(&t, "t/dt=2/a.parquet", "PAR1 a2 PAR1");
        assert_int_equal(has(&t, "t/dt=1/new-w1.parquet"), i == 12);
        assert_nothing_left(&t);
        table_close(&t);
    }
}

static void test_write__refuses_a_mount_point(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    assert_int_equal(mkdir(at(&t, "t/dt=3"), 0755), 0);
    if (mount("none", at(&t, "t/dt=3"), "tmpfs", 0, "") != 0) {
        table_close(&t);
        skip();
    }
    assert_fails(t.cx, TARN_E_UNSUPPORTED, "is a mount point", WRITE(&t, TN_WRITE_APPEND, "dt=3"));
    assert_fails(t.cx, TARN_E_UNSUPPORTED, "is a mount point",
                 WRITE(&t, TN_WRITE_OVERWRITE, "dt=1"));
    assert_true(has(&t, "t/dt=1/a.parquet"));
    assert_int_equal(umount(at(&t, "t/dt=3")), 0);
    table_close(&t);
}

/* As an ordinary user; root may write anywhere. */
static int try_without_rights(struct table *t)
{
    static const struct {
        enum tn_write_mode mode;
        const char *partitions[2];
        size_t count;
    } cases[] = {{TN_WRITE_APPEND, {"dt=1", "dt=2"}, 2},
                 {TN_WRITE_APPEND, {"dt=2/h=1"}, 1},
                 {TN_WRITE_OVERWRITE, {"dt=1"}, 1},
                 {TN_WRITE_OVERWRITE_PARTITIONS, {"dt=1", "dt=2"}, 2}};

    if (geteuid() == 0 && setuid(65534) != 0)
        return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (write_rows(t, cases[i].mode, cases[i].partitions, cases[i].count) != TARN_E_IO ||
            strstr(tarn_cx_error(t->cx), "dt=2: no right to make or remove") == NULL)
            return 10 + (int)i;
    return 0;
}

static void test_write__refuses_where_it_has_no_rights(void **state)
{
    char command[600];
    struct table t;
    pid_t child;
    int status;

    (void)state;
    table_open(&t);
    assert_int_equal(chmod(at(&t, "t/dt=2"), 0555), 0);
    snprintf(command, sizeof command, "chown -R 65534 '%s'", t.base);
    if (geteuid() == 0)
        assert_int_equal(system(command), 0);
    child = fork();
    if (child == 0)
        _exit(try_without_rights(&t));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_text(&t, "t/dt=1/a.parquet", "PAR1 a1 PAR1");
    assert_false(has(&t, "t/dt=1/new-w1.parquet"));
    assert_nothing_left(&t);
    assert_int_equal(chmod(at(&t, "t/dt=2"), 0755), 0);
    table_close(&t);
}

static void test_write__one_at_a_time(void **state)
{
    struct table t;
    tn_write_commit *first;

    (void)state;
    table_open(&t);
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    first = t.commit;
    t.commit = NULL;
    assert_fails(t.cx, TARN_E_CONFLICT, NULL, begin(&t, TN_WRITE_APPEND));
    t.inside = true;
    assert_fails(t.cx, TARN_E_CONFLICT, NULL, begin(&t, TN_WRITE_APPEND));
    tn_write_commit_close(t.cx, first);
    t.inside = false;
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=1"));
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__notices_another_root(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    stage(&t, "dt=1", "new");
    assert_int_equal(rename(at(&t, "t"), at(&t, "old")), 0);
    assert_fails(t.cx, TARN_E_CONFLICT, "removed", finish(&t));
    assert_int_equal(mkdir(at(&t, "t"), 0755), 0);
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    stage(&t, "dt=1", "new");
    assert_int_equal(rename(at(&t, "t"), at(&t, "other")), 0);
    assert_int_equal(rename(at(&t, "old"), at(&t, "t")), 0);
    assert_fails(t.cx, TARN_E_CONFLICT, "replaced", finish(&t));
    make_plan(&t, TN_WRITE_APPEND);
    t.plan.root_missing = true;
    assert_fails(t.cx, TARN_E_CONFLICT, "it was made since",
                 tn_write_commit_open(t.cx, t.store, &t.plan, &t.commit));
    make_plan(&t, TN_WRITE_APPEND);
    t.plan.staging = path_of(&t, ".t.tarn/elsewhere");
    assert_fails(t.cx, TARN_E_INVALID, "the staging of this run",
                 tn_write_commit_open(t.cx, t.store, &t.plan, &t.commit));
    assert_nothing_left(&t);
    table_close(&t);
    table_open_bare(&t);
    make_plan(&t, TN_WRITE_APPEND);
    t.plan.root = path_of(&t, "no/t");
    t.plan.work = path_of(&t, "no/.t.tarn");
    assert_ok(t.cx,
              tn_write_commit_staging(t.cx, &t.arena, t.plan.work, t.plan.id, &t.plan.staging));
    assert_fails(t.cx, TARN_E_NOTFOUND, "mkdir -p",
                 tn_write_commit_open(t.cx, t.store, &t.plan, &t.commit));
    assert_false(has(&t, "no"));
    table_close(&t);
}

static void test_write__checks_what_was_staged(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    stage(&t, "dt=1", "new");
    t.files[0].bytes++;
    assert_fails(t.cx, TARN_E_CORRUPT, "where its writer reported", finish(&t));
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    stage(&t, "dt=1", "new");
    stage(&t, "dt=1", "new");
    assert_fails(t.cx, TARN_E_INVALID, "given twice", finish(&t));
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    stage(&t, "dt=1", "new");
    t.files[0].staged = path_of(&t, "t/dt=2/a.parquet");
    assert_fails(t.cx, TARN_E_INVALID, "is not below the staging", finish(&t));
    assert_ok(t.cx, begin(&t, TN_WRITE_APPEND));
    stage(&t, "dt=1", "new");
    assert_int_equal(unlink(t.files[0].staged.ptr), 0);
    assert_fails(t.cx, TARN_E_NOTFOUND, NULL, finish(&t));
    assert_nothing_left(&t);
    table_close(&t);
}

/* ---- crashes */

/* Runs a write that dies at the first call after which its record is on disk. */
static void die_after_record(struct table *t, enum tn_write_mode mode,
                             const char *const *partitions, size_t count)
{
    tn_store *real = t->store;
    char record[100];

    for (uint64_t n = 1;; n++) {
        tn_fault_plan plan = {.crash_at = n, .crash_after = true};

        assert_ok(t->cx, tn_store_fault_open(t->cx, real, &plan, &t->store));
        if (begin(t, mode) == TARN_OK) {
            t->count = 0;
            for (size_t i = 0; i < count; i++) {
                tn_store *fault = t->store;

                t->store = real; /* the staged files are there, whatever dies */
                if (has(t, t->inside ? "t/.tarn" : ".t.tarn"))
                    stage(t, partitions[i], "new");
                t->store = fault;
            }
            (void)finish(t);
        }
        tn_store_close(t->store);
        t->store = real;
        snprintf(record, sizeof record, ".t.tarn/changes/w%d.write.json", t->runs);
        if (has(t, record))
            return;
        assert_true(n < 1000);
    }
}

static void recover(struct table *t, tn_recovery *recovery)
{
    assert_ok(t->cx, tn_dir_recover(t->cx, t->store, path_of(t, "t"), recovery));
}

/* A directory of another run is gone before one of the calls of this one. */
struct passer_by {
    struct table *t;
    tn_store *real;
    uint64_t at;
};

static void pass_by(void *arg, uint64_t call)
{
    struct passer_by *rival = arg;

    if (call == rival->at)
        assert_ok(rival->t->cx, tn_store_remove_tree(rival->t->cx, rival->real,
                                                     path_of(rival->t, ".t.tarn/w9")));
}

static void test_write__recovery_meets_a_directory_that_vanishes(void **state)
{
    uint64_t calls = 0;

    (void)state;
    for (uint64_t n = 1; n == 1 || n <= calls; n++) {
        struct table t;
        struct passer_by rival;
        tn_fault_plan plan = {.hook = pass_by, .hook_arg = &rival};
        tn_store *real, *fault;
        tn_recovery recovery = {0};

        table_open(&t);
        real = t.store;
        rival = (struct passer_by){&t, real, n};
        assert_ok(t.cx, tn_store_make_dirs(t.cx, real, path_of(&t, ".t.tarn/w9")));
        assert_ok(t.cx, tn_store_fault_open(t.cx, real, &plan, &fault));
        t.store = fault;
        recover(&t, &recovery);
        calls = tn_store_fault_calls(fault);
        t.store = real;
        tn_store_close(fault);
        table_close(&t);
    }
}

static void test_write__recovery_completes_and_tells(void **state)
{
    static const char *const partitions[] = {"dt=1", "dt=3"};
    tn_recovery recovery;
    struct table t;
    char name[100];

    (void)state;
    table_open(&t);
    die_after_record(&t, TN_WRITE_OVERWRITE, partitions, 2);
    recover(&t, &recovery);
    assert_int_equal(recovery.note_count, 1);
    assert_int_equal(recovery.notes[0].kind, TN_RECOVERY_SETTLED);
    assert_true(tn_str_is(recovery.notes[0].text, "an unfinished write of 2 files was completed"));
    tn_recovery_clear(&recovery);
    snprintf(name, sizeof name, "t/dt=3/new-w%d.parquet", t.runs);
    assert_text(&t, name, "PAR1 new PAR1");
    assert_false(has(&t, "t/dt=2") || has(&t, "t/dt=1/a.parquet"));
    assert_ok(t.cx, write_rows(&t, TN_WRITE_APPEND, NULL, 0));
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__recovery_makes_a_missing_root(void **state)
{
    static const char *const partitions[] = {"dt=1"};
    struct table t;
    char name[100];

    (void)state;
    table_open_bare(&t);
    die_after_record(&t, TN_WRITE_APPEND, partitions, 1);
    snprintf(name, sizeof name, "t/dt=1/new-w%d.parquet", t.runs);
    assert_fails(t.cx, TARN_E_CONFLICT, "an unfinished write has just made it",
                 begin(&t, TN_WRITE_APPEND));
    assert_text(&t, name, "PAR1 new PAR1");
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=1"));
    assert_nothing_left(&t);
    table_close(&t);
}

/* A file has taken the place of the new partition: the write waits, its directories are closed to
 * others, and all goes on when the file is gone. */
static void test_write__waits_for_what_cannot_be_settled(void **state)
{
    static const char *const partitions[] = {"dt=1", "dt=3"};
    tn_recovery recovery;
    struct table t;
    char name[100];

    (void)state;
    table_open(&t);
    die_after_record(&t, TN_WRITE_APPEND, partitions, 2);
    snprintf(name, sizeof name, "t/dt=3/new-w%d.parquet", t.runs);
    put(&t, "t/dt=3", "a file");
    recover(&t, &recovery);
    assert_non_null(tn_recovery_open(&recovery, TN_STR("dt=1")));
    assert_non_null(tn_recovery_open(&recovery, TN_STR("dt=3")));
    assert_null(tn_recovery_open(&recovery, TN_STR("dt=2")));
    tn_recovery_clear(&recovery);
    assert_fails(t.cx, TARN_E_CONFLICT, "an unfinished write cannot be completed",
                 WRITE(&t, TN_WRITE_APPEND, "dt=1"));
    t.runs -= 2; /* the id of the run that waits */
    assert_fails(t.cx, TARN_E_CONFLICT, "of another run", begin(&t, TN_WRITE_APPEND));
    t.runs++;
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=2"));
    assert_int_equal(unlink(at(&t, "t/dt=3")), 0);
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=1"));
    assert_text(&t, name, "PAR1 new PAR1");
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__records_are_not_believed_blindly(void **state)
{
    static const char *const partitions[] = {"dt=1"};
    struct table t;
    char record[100];
    FILE *file;

    (void)state;
    table_open(&t);
    die_after_record(&t, TN_WRITE_OVERWRITE, partitions, 1);
    snprintf(record, sizeof record, ".t.tarn/changes/w%d.write.json", t.runs);
    assert_int_equal(rename(at(&t, "t"), at(&t, "u")), 0);
    assert_int_equal(rename(at(&t, ".t.tarn"), at(&t, ".u.tarn")), 0);
    assert_fails(t.cx, TARN_E_CONFLICT, "move the directory",
                 tn_dir_recover(t.cx, t.store, path_of(&t, "u"), &(tn_recovery){0}));
    assert_int_equal(rename(at(&t, "u"), at(&t, "t")), 0);
    assert_int_equal(rename(at(&t, ".u.tarn"), at(&t, ".t.tarn")), 0);
    file = fopen(at(&t, record), "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 30, SEEK_SET), 0);
    assert_int_equal(fputc('9', file), '9');
    assert_int_equal(fclose(file), 0);
    assert_fails(t.cx, TARN_E_CORRUPT, "is damaged", begin(&t, TN_WRITE_APPEND));
    assert_text(&t, "t/dt=2/a.parquet", "PAR1 a2 PAR1");
    table_close(&t);
}

/* A record with a right checksum and paths that lead out. */
static void test_record__paths_stay_inside(void **state)
{
    static const struct {
        const char *path, *name, *entering, *entering_path;
        int status;
    } cases[] = {{"dt=1", "a.parquet", "n.parquet", "0.new", TARN_OK},
                 {"../dt=1", "a.parquet", "n.parquet", "0.new", TARN_E_CORRUPT},
                 {"dt=1/..", "a.parquet", "n.parquet", "0.new", TARN_E_CORRUPT},
                 {"dt=1", "../a.parquet", "n.parquet", "0.new", TARN_E_CORRUPT},
                 {"dt=1", "..", "n.parquet", "0.new", TARN_E_CORRUPT},
                 {"dt=1", "a.parquet", "../n.parquet", "0.new", TARN_E_CORRUPT},
                 {"dt=1", "a.parquet", "n.parquet", "../0.new", TARN_E_CORRUPT}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        tn_change_file leaving = {.name = tn_str_of(cases[i].name)}, entering = {0};
        tn_write_step step = {.way = TN_WRITE_RENAME,
                              .path = tn_str_of(cases[i].path),
                              .leaving = &leaving,
                              .leaving_count = 1,
                              .entering = &entering,
                              .entering_count = 1};
        tn_write_record record = {.state = TN_CHANGE_BEGUN,
                                  .run_id = TN_STR("w1"),
                                  .steps = &step,
                                  .step_count = 1},
                        loaded;
        tn_str root, work;

        table_open(&t);
        root = path_of(&t, "t");
        work = path_of(&t, ".t.tarn");
        assert_ok(t.cx, tn_store_make_dirs(t.cx, t.store, path_of(&t, ".t.tarn/changes")));
        assert_ok(t.cx, tn_write_record_place(t.cx, &t.arena, root, work, &record));
        entering.name = tn_str_of(cases[i].entering);
        assert_ok(t.cx, tn_arena_print(t.cx, &t.arena, &entering.path, "%.*s/%s",
                                       TN_STR_ARG(record.staging), cases[i].entering_path));
        assert_ok(t.cx, tn_write_record_put(t.cx, t.store, &record, true));
        assert_int_equal(
            tn_write_record_load(t.cx, t.store, record.record, root, work, &t.arena, &loaded),
            cases[i].status);
        table_close(&t);
    }
}

/* ---- beside merge and undo */

/* a and b of dt=1 into m.parquet, the old ones kept. */
static void merge_keeping(struct table *t)
{
    tn_file_seen inputs[2] = {{TN_STR("a.parquet"), 0, 0, 0}, {TN_STR("b.parquet"), 0, 0, 0}};
    tn_merge_output output = {.name = TN_STR("m.parquet"), .rows = 2};
    tn_merge_partition partition = {.path = TN_STR("dt=1"),
                                    .directory = path_of(t, "t/dt=1"),
                                    .swap = TN_SWAP_EXCHANGE,
                                    .inode = stat_of(t, "t/dt=1").st_ino,
                                    .staging = path_of(t, ".t.tarn/m1/p00000"),
                                    .inputs = inputs,
                                    .input_count = 2,
                                    .rows = 2,
                                    .outputs = &output,
                                    .output_count = 1};
    tn_merge_plan plan = {.id = TN_STR("m1"),
                          .root = path_of(t, "t"),
                          .work = path_of(t, ".t.tarn"),
                          .made_ms = t->now_ms,
                          .options = {.keep_old_ms = 60000},
                          .partitions = &partition,
                          .partition_count = 1};
    tn_result result = {.plan_id = plan.id, .output_bytes = 4, .rows_in = 2, .rows_out = 2};
    tn_partition_report report;
    tn_dir_commit *commit;

    for (int i = 0; i < 2; i++) {
        char name[40];
        struct stat stat;

        snprintf(name, sizeof name, "t/dt=1/%.*s", TN_STR_ARG(inputs[i].path));
        stat = stat_of(t, name);
        inputs[i].size_bytes = (uint64_t)stat.st_size;
        inputs[i].mtime_ns = (int64_t)stat.st_mtim.tv_sec * 1000000000 + stat.st_mtim.tv_nsec;
        inputs[i].inode = stat.st_ino;
    }
    assert_ok(t->cx, tn_dir_commit_open(t->cx, t->store, &plan, &commit));
    output.staged = result.output = path_of(t, ".t.tarn/m1/p00000/0.new");
    put(t, ".t.tarn/m1/p00000/0.new", "PAR1");
    assert_ok(t->cx, tn_dir_commit_partition(t->cx, commit, 0, &result, 1, &t->arena, &report));
    if (report.outcome != TN_PARTITION_DONE)
        fail_msg("%.*s", TN_STR_ARG(report.text));
    assert_ok(t->cx, tn_dir_commit_finish(t->cx, commit));
    tn_dir_commit_close(commit);
}

static enum tn_partition_outcome undo(struct table *t)
{
    tn_partition_report *reports;
    tn_recovery recovery;
    tn_str *paths;
    size_t count;

    assert_ok(t->cx, tn_dir_undo(t->cx, t->store, path_of(t, "t"), &t->arena, &reports, &paths,
                                 &count, &recovery));
    tn_recovery_clear(&recovery);
    assert_int_equal(count, 1);
    return reports[0].outcome;
}

static void test_write__undo_of_a_merge_keeps_rows_appended_since(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    merge_keeping(&t);
    assert_ok(t.cx, WRITE(&t, TN_WRITE_APPEND, "dt=1"));
    assert_int_equal(undo(&t), TN_PARTITION_DONE);
    assert_true(has(&t, "t/dt=1/a.parquet") && has(&t, "t/dt=1/b.parquet"));
    assert_false(has(&t, "t/dt=1/m.parquet"));
    assert_text(&t, "t/dt=1/new-w1.parquet", "PAR1 new PAR1");
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__undo_of_a_merge_leaves_what_a_write_replaced(void **state)
{
    (void)state;
    for (int removed = 0; removed < 2; removed++) {
        struct table t;

        table_open(&t);
        merge_keeping(&t);
        assert_ok(t.cx, WRITE(&t, TN_WRITE_OVERWRITE, removed ? "dt=2" : "dt=1"));
        assert_int_equal(has(&t, "t/dt=1"), !removed);
        assert_int_equal(undo(&t), TN_PARTITION_CONFLICT);
        assert_int_equal(has(&t, "t/dt=1"), !removed);
        assert_false(has(&t, "t/dt=1/a.parquet") || has(&t, "t/dt=1/m.parquet"));
        assert_int_equal(has(&t, "t/dt=1/new-w1.parquet"), !removed);
        table_close(&t);
    }
}

/* ---- cost */

static uint64_t count_syncs(struct table *t, enum tn_write_mode mode, size_t partitions)
{
    tn_store *real = t->store;
    tn_trace_counts before, after;

    assert_ok(t->cx, tn_store_trace_open(t->cx, real, &t->store));
    assert_ok(t->cx, begin(t, mode));
    for (size_t i = 0; i < partitions; i++) {
        tn_str name;

        assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &name, "dt=%zu", i));
        stage(t, name.ptr, "new");
    }
    tn_store_trace_counts(t->store, &before);
    assert_ok(t->cx, finish(t));
    tn_store_trace_counts(t->store, &after);
    tn_store_close(t->store);
    t->store = real;
    return after.syncs - before.syncs;
}

/* Besides what each partition needs: staging and the root or its parent, the end of the record. */
static void test_write__syncs_each_directory_when_it_is_whole(void **state)
{
    const size_t n = 20;
    struct table t;

    (void)state;
    table_open_bare(&t);
    /* The new root: its partitions, itself, the directories above it in staging. */
    assert_int_equal(count_syncs(&t, TN_WRITE_APPEND, n), n + 6);
    assert_int_equal(count_syncs(&t, TN_WRITE_APPEND, n), n + 2);
    /* The new directory and the one above it in staging; the directory again, with newcomers. */
    assert_int_equal(count_syncs(&t, TN_WRITE_OVERWRITE, n), 3 * n + 3);
    table_close(&t);
}

static void test_write__syncs_many_directories_at_once(void **state)
{
    static const enum tn_write_mode modes[] = {TN_WRITE_APPEND, TN_WRITE_APPEND,
                                               TN_WRITE_OVERWRITE_PARTITIONS, TN_WRITE_OVERWRITE};
    struct table t;

    (void)state;
    table_open_bare(&t);
    for (int i = 0; i < 4; i++)
        assert_in_range(count_syncs(&t, modes[i], 150), 2, 6);
    assert_true(has(&t, "t/dt=149/new-w4.parquet"));
    assert_false(has(&t, "t/dt=149/new-w3.parquet"));
    table_close(&t);
}

/* ---- a killed process */

static void kill_once(enum tn_write_mode mode, bool inside, unsigned delay_us)
{
    struct table t;
    tn_recovery recovery;
    pid_t child;
    int status;
    bool old = false, new = false;

    table_open(&t);
    t.inside = inside;
    child = fork();
    if (child == 0) {
        (void)WRITE(&t, mode, "dt=1", "dt=3");
        _exit(0);
    }
    usleep(delay_us);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    recover(&t, &recovery);
    tn_recovery_clear(&recovery);
    new = has(&t, "t/dt=1/new-w1.parquet") && has(&t, "t/dt=3/new-w1.parquet") &&
          has(&t, "t/dt=1/a.parquet") == (mode == TN_WRITE_APPEND) &&
          has(&t, "t/dt=2") == (mode != TN_WRITE_OVERWRITE);
    old = !has(&t, "t/dt=1/new-w1.parquet") && !has(&t, "t/dt=3") && has(&t, "t/dt=1/a.parquet") &&
          has(&t, "t/dt=2/a.parquet");
    if (!old && !new)
        fail_msg("killed after %u us, mode %d, inside %d: neither old nor new", delay_us, mode,
                 inside);
    t.runs = 1;
    assert_ok(t.cx, write_rows(&t, TN_WRITE_APPEND, NULL, 0));
    assert_nothing_left(&t);
    table_close(&t);
}

static void test_write__survives_a_killed_process(void **state)
{
    const char *all = getenv("TARN_FULL");
    unsigned rounds = all != NULL && *all != '\0' ? 900 : 90;

    (void)state;
    for (unsigned i = 0; i < rounds; i++)
        kill_once((enum tn_write_mode)(i % 3 + 1), i % 2 == 1, (i * 7919u) % 6000u);
}
