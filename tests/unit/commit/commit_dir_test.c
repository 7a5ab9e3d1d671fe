/* The commit on a real file system: attributes, times, links, hidden names, undo, refusals. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "commit/change.h"
#include "commit/commit_dir.h"
#include "unit/temp_dir.h"

/* A table "t" in a directory of its own, with one partition to merge. */
struct table {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    char base[256];
    tn_str root, directory;
    bool inside;
    int64_t now_ms;
    tn_merge_plan plan;
    tn_merge_partition partition;
    tn_merge_output output;
    tn_result result;
    tn_partition_report report;
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

static void put(struct table *t, const char *name, const char *text)
{
    assert_ok(t->cx, tn_store_put(t->cx, t->store, tn_str_of(at(t, name)), tn_str_of(text)));
}

static bool has(struct table *t, const char *name)
{
    struct stat stat;

    return lstat(at(t, name), &stat) == 0;
}

static void set_times(const char *path, time_t atime, time_t mtime)
{
    struct timespec times[2] = {{atime, 7}, {mtime, 9}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct stat stat_of(const char *path)
{
    struct stat stat;

    assert_int_equal(lstat(path, &stat), 0);
    return stat;
}

/* In memory where that is possible: there syncing costs nothing, so a kill can hit every step. */
static void use_fast_place(void)
{
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
}

static void table_open(struct table *t)
{
    *t = (struct table){.now_ms = 1800000000000};
    t->cx =
        tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = table_now, .now_arg = t, .seed = 3});
    assert_ok(t->cx, tn_store_local_open(t->cx, &t->store));
    temp_dir_make(t->base, sizeof t->base);
    assert_int_equal(mkdir(at(t, "t"), 0755), 0);
    assert_int_equal(mkdir(at(t, "t/dt=1"), 0755), 0);
    t->root = tn_str_of(at(t, "t"));
    t->directory = tn_str_of(at(t, "t/dt=1"));
    put(t, "t/dt=1/a.parquet", "aa");
    put(t, "t/dt=1/b.parquet", "b");
    put(t, "t/dt=1/big.parquet", "large");
    put(t, "t/dt=1/_SUCCESS", "");
    put(t, "t/dt=1/.hidden", "h");
    put(t, "t/dt=1/_metadata", "stale");
    put(t, "t/dt=1/.a.parquet.crc", "stale");
}

static void table_close(struct table *t)
{
    tn_store_close(t->store);
    tn_arena_clear(&t->arena);
    tarn_cx_close(t->cx);
    temp_dir_remove(t->base);
}

static void see(struct table *t, const char *name, tn_file_seen *out)
{
    struct stat stat = stat_of(at(t, name));

    *out = (tn_file_seen){tn_path_name(tn_str_of(at(t, name))), (uint64_t)stat.st_size,
                          (int64_t)stat.st_mtim.tv_sec * 1000000000 + stat.st_mtim.tv_nsec,
                          stat.st_ino};
}

/* a and b into m.parquet; b is the newest. */
static void make_plan(struct table *t, const char *id)
{
    tn_merge_partition *partition = &t->partition;
    struct stat stat = stat_of(t->directory.ptr);

    *partition = (tn_merge_partition){
        .path = TN_STR("dt=1"),
        .directory = t->directory,
        .swap = TN_SWAP_EXCHANGE,
        .staging_inside = t->inside,
        .inode = stat.st_ino,
        .input_count = 2,
        .rows = 3,
        .bytes = 3,
        .outputs = &t->output,
        .output_count = 1,
        .stale_count = 2,
    };
    partition->inputs = tn_arena_array(t->cx, &t->arena, 2, sizeof *partition->inputs);
    partition->stale = tn_arena_array(t->cx, &t->arena, 2, sizeof *partition->stale);
    partition->stale[0] = TN_STR("_metadata");
    partition->stale[1] = TN_STR(".a.parquet.crc");
    see(t, "t/dt=1/a.parquet", &partition->inputs[0]);
    see(t, "t/dt=1/b.parquet", &partition->inputs[1]);
    t->plan = (tn_merge_plan){.id = tn_str_of(id),
                              .root = t->root,
                              .work = tn_str_of(at(t, t->inside ? "t/.tarn" : ".t.tarn")),
                              .made_ms = t->now_ms,
                              .options = t->plan.options,
                              .partitions = partition,
                              .partition_count = 1};
    assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &partition->staging, "%s/%s/0",
                                    t->plan.work.ptr, id));
    t->output = (tn_merge_output){.name = TN_STR("m.parquet"), .rows = 3, .newest_input = 1};
    assert_ok(t->cx, tn_arena_print(t->cx, &t->arena, &t->output.staged, "%s/0.staged",
                                    partition->staging.ptr));
}

static void exec(struct table *t)
{
    assert_ok(t->cx, tn_store_put(t->cx, t->store, t->output.staged, TN_STR("aab")));
    t->result = (tn_result){.plan_id = t->plan.id,
                            .output = t->output.staged,
                            .output_bytes = 3,
                            .rows_in = 3,
                            .rows_out = 3};
}

static void commit(struct table *t)
{
    tn_dir_commit *open = NULL;

    assert_ok(t->cx, tn_dir_commit_open(t->cx, t->store, &t->plan, &open));
    exec(t);
    assert_ok(t->cx, tn_dir_commit_partition(t->cx, open, 0, &t->result, 1, &t->arena, &t->report));
    assert_ok(t->cx, tn_dir_commit_finish(t->cx, open));
    tn_dir_commit_close(open);
}

static void assert_done(struct table *t)
{
    if (t->report.outcome != TN_PARTITION_DONE)
        fail_msg("%d: %.*s", t->report.outcome, TN_STR_ARG(t->report.text));
}

static void assert_swapped(struct table *t)
{
    assert_done(t);
    assert_true(has(t, "t/dt=1/m.parquet"));
    assert_false(has(t, "t/dt=1/a.parquet"));
    assert_false(has(t, "t/dt=1/b.parquet"));
    assert_true(has(t, "t/dt=1/big.parquet"));
    assert_true(has(t, "t/dt=1/_SUCCESS"));
    assert_true(has(t, "t/dt=1/.hidden"));
    assert_false(has(t, "t/dt=1/_metadata"));
    assert_false(has(t, "t/dt=1/.a.parquet.crc"));
}

static void test_commit__swaps_and_cleans_up(void **state)
{
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        struct table t;

        table_open(&t);
        t.inside = inside;
        make_plan(&t, "r1");
        commit(&t);
        assert_swapped(&t);
        assert_int_equal(t.report.files_before, 2);
        assert_int_equal(t.report.files_after, 1);
        assert_int_equal(t.report.text.len, 0);
        assert_false(has(&t, ".t.tarn"));
        assert_false(has(&t, "t/.tarn"));
        table_close(&t);
    }
}

static void test_commit__keeps_attributes(void **state)
{
    struct table t;
    struct stat stat;
    char value[8] = "";

    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        table_open(&t);
        t.inside = inside;
        assert_int_equal(chmod(at(&t, "t/dt=1/a.parquet"), 0600), 0);
        assert_int_equal(chmod(at(&t, "t/dt=1/b.parquet"), 0640), 0);
        assert_int_equal(chmod(t.directory.ptr, 0750), 0);
        setxattr(at(&t, "t/dt=1/b.parquet"), "user.k", "file", 4, 0);
        setxattr(t.directory.ptr, "user.k", "dir", 3, 0);
        if (getuid() == 0) {
            assert_int_equal(chown(at(&t, "t/dt=1/b.parquet"), 1234, 2345), 0);
            assert_int_equal(chown(t.directory.ptr, 3456, 4567), 0);
        }
        set_times(at(&t, "t/dt=1/b.parquet"), 1500000001, 1500000002);
        set_times(t.directory.ptr, 1500000003, 1500000004);
        set_times(t.root.ptr, 1500000005, 1500000006);
        make_plan(&t, "r1");
        commit(&t);
        assert_swapped(&t);

        stat = stat_of(at(&t, "t/dt=1/m.parquet"));
        assert_int_equal(stat.st_mode & 07777, 0640);
        assert_true(stat.st_mtim.tv_sec == 1500000002 && stat.st_mtim.tv_nsec == 9);
        assert_true(stat.st_atim.tv_sec == 1500000001 && stat.st_atim.tv_nsec == 7);
        assert_true(getuid() != 0 || (stat.st_uid == 1234 && stat.st_gid == 2345));
        assert_int_equal(getxattr(at(&t, "t/dt=1/m.parquet"), "user.k", value, sizeof value), 4);
        stat = stat_of(t.directory.ptr);
        assert_int_equal(stat.st_mode & 07777, 0750);
        assert_true(stat.st_mtim.tv_sec == 1500000004 && stat.st_mtim.tv_nsec == 9);
        assert_true(getuid() != 0 || (stat.st_uid == 3456 && stat.st_gid == 4567));
        assert_int_equal(getxattr(t.directory.ptr, "user.k", value, sizeof value), 3);
        assert_int_equal(stat_of(t.root.ptr).st_mtim.tv_sec, 1500000006);
        table_close(&t);
    }
}

static void test_commit__puts_no_times_back_when_told(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    set_times(at(&t, "t/dt=1/b.parquet"), 1500000001, 1500000002);
    set_times(t.directory.ptr, 1500000003, 1500000004);
    t.plan.options.times_now = true;
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    assert_true(stat_of(at(&t, "t/dt=1/m.parquet")).st_mtim.tv_sec > 1500000002);
    assert_true(stat_of(t.directory.ptr).st_mtim.tv_sec > 1500000004);
    table_close(&t);
}

static void test_commit__keeps_links_and_special_files(void **state)
{
    struct table t;
    char text[32] = "";

    (void)state;
    table_open(&t);
    put(&t, "elsewhere.parquet", "far");
    assert_int_equal(symlink("../../elsewhere.parquet", at(&t, "t/dt=1/l.parquet")), 0);
    assert_int_equal(symlink("nowhere", at(&t, "t/dt=1/dangling")), 0);
    assert_int_equal(mkfifo(at(&t, "t/dt=1/pipe"), 0600), 0);
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    assert_int_equal(readlink(at(&t, "t/dt=1/l.parquet"), text, sizeof text - 1), 23);
    assert_string_equal(text, "../../elsewhere.parquet");
    assert_true(has(&t, "t/dt=1/dangling"));
    assert_true(S_ISFIFO(stat_of(at(&t, "t/dt=1/pipe")).st_mode));
    assert_true(has(&t, "elsewhere.parquet"));
    assert_false(has(&t, ".t.tarn"));
    table_close(&t);
}

static void test_commit__takes_any_name(void **state)
{
    static const char *const names[] = {"a b", "it's", "\"q\"", "100%", "new\nline", "\xff\xfe"};
    struct table t;
    char name[64];

    (void)state;
    table_open(&t);
    t.plan.options.keep_old_ms = 1000;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "t/dt=1/%s", names[i]);
        put(&t, name, "x");
    }
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "t/dt=1/%s", names[i]);
        assert_true(has(&t, name));
    }
    table_close(&t);
}

static void test_commit__a_subdirectory_stays_in_place(void **state)
{
    struct table t;
    ino_t before, directory;

    (void)state;
    table_open(&t);
    assert_int_equal(mkdir(at(&t, "t/dt=1/hr=2"), 0755), 0);
    put(&t, "t/dt=1/hr=2/s.parquet", "s");
    before = stat_of(at(&t, "t/dt=1/hr=2")).st_ino;
    directory = stat_of(t.directory.ptr).st_ino;
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    assert_int_equal(stat_of(at(&t, "t/dt=1/hr=2")).st_ino, before);
    assert_int_equal(stat_of(t.directory.ptr).st_ino, directory); /* not exchanged */
    assert_true(has(&t, "t/dt=1/hr=2/s.parquet"));
    table_close(&t);
}

static void test_commit__refuses_results_that_do_not_fit(void **state)
{
    struct {
        const char *name;
        enum tn_partition_outcome outcome;
        const char *text;
    } cases[] = {
        {"another plan", TN_PARTITION_FAILED, "belongs to plan r9, not r1"},
        {"rows lost", TN_PARTITION_FAILED, "2 written where the inputs have 3"},
        {"bytes lost", TN_PARTITION_FAILED, "3 bytes where its writer reported 4"},
        {"other path", TN_PARTITION_FAILED, "the result names /elsewhere"},
        {"failed task", TN_PARTITION_FAILED, "byte 7: broken"},
        {"conflict", TN_PARTITION_CONFLICT, "b.parquet changed"},
        {"missing", TN_PARTITION_SKIPPED, "task 0 has no result"},
        {"doubled", TN_PARTITION_FAILED, "two results"},
        {"no hash", TN_PARTITION_FAILED, "was not compared"},
        {"other hash", TN_PARTITION_FAILED, "the content differs"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t;
        tn_dir_commit *open = NULL;
        tn_result results[2];
        size_t count = 1;

        table_open(&t);
        t.plan.options.verify_content = i >= 8;
        make_plan(&t, "r1");
        assert_ok(t.cx, tn_dir_commit_open(t.cx, t.store, &t.plan, &open));
        exec(&t);
        t.result.hashed = i == 9;
        t.result.hash_out = 1;
        switch (i) {
        case 0:
            t.result.plan_id = TN_STR("r9");
            break;
        case 1:
            t.result.rows_out = 2;
            break;
        case 2:
            t.result.output_bytes = 4;
            break;
        case 3:
            t.result.output = TN_STR("/elsewhere");
            break;
        case 4:
            t.result.status = TARN_E_CORRUPT;
            t.result.text = TN_STR("byte 7: broken");
            break;
        case 5:
            t.result.status = TARN_E_CONFLICT;
            t.result.text = TN_STR("b.parquet changed");
            break;
        case 6:
            count = 0;
            break;
        case 7:
            count = 2;
            break;
        default:
            break;
        }
        results[0] = results[1] = t.result;
        assert_ok(t.cx,
                  tn_dir_commit_partition(t.cx, open, 0, results, count, &t.arena, &t.report));
        if (t.report.outcome != cases[i].outcome ||
            strstr(t.report.text.ptr, cases[i].text) == NULL)
            fail_msg("%s: %d: %s", cases[i].name, t.report.outcome, t.report.text.ptr);
        assert_true(has(&t, "t/dt=1/a.parquet") && has(&t, "t/dt=1/b.parquet"));
        assert_false(has(&t, "t/dt=1/m.parquet"));
        assert_ok(t.cx, tn_dir_commit_finish(t.cx, open));
        tn_dir_commit_close(open);
        assert_false(has(&t, ".t.tarn"));
        table_close(&t);
    }
}

static void test_commit__refuses_changed_inputs(void **state)
{
    struct table t;

    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        table_open(&t);
        t.inside = inside;
        make_plan(&t, "r1");
        put(&t, "t/dt=1/b.parquet", "other");
        commit(&t);
        assert_int_equal(t.report.outcome, TN_PARTITION_CONFLICT);
        assert_non_null(strstr(t.report.text.ptr, "b.parquet changed since the plan"));
        assert_true(has(&t, "t/dt=1/a.parquet") && has(&t, "t/dt=1/_metadata"));
        assert_false(has(&t, ".t.tarn") || has(&t, "t/.tarn"));

        make_plan(&t, "r2");
        assert_int_equal(unlink(at(&t, "t/dt=1/a.parquet")), 0);
        commit(&t);
        assert_int_equal(t.report.outcome, TN_PARTITION_CONFLICT);
        assert_non_null(strstr(t.report.text.ptr, "a.parquet vanished since the plan"));
        table_close(&t);
    }
}

static void test_commit__one_run_per_root(void **state)
{
    struct table t;
    tn_dir_commit *first = NULL, *second = NULL;
    tn_merge_plan beside;

    (void)state;
    table_open(&t);
    make_plan(&t, "r1");
    beside = t.plan;
    assert_ok(t.cx, tn_dir_commit_open(t.cx, t.store, &beside, &first));
    assert_fails(t.cx, TARN_E_CONFLICT, "locked by another tarn (process",
                 tn_dir_commit_open(t.cx, t.store, &beside, &second));
    /* even when the other run has its work directory elsewhere */
    t.inside = true;
    make_plan(&t, "r2");
    assert_fails(t.cx, TARN_E_CONFLICT, "locked by another tarn",
                 tn_dir_commit_open(t.cx, t.store, &t.plan, &second));
    tn_dir_commit_close(first);
    assert_ok(t.cx, tn_dir_commit_open(t.cx, t.store, &t.plan, &second));
    assert_ok(t.cx, tn_dir_commit_finish(t.cx, second));
    tn_dir_commit_close(second);
    table_close(&t);
}

static void undo(struct table *t, int want)
{
    tn_partition_report *reports;
    tn_recovery recovery = {0};
    tn_str *paths;
    size_t count = 0;
    int rc = tn_dir_undo(t->cx, t->store, t->root, &t->arena, &reports, &paths, &count, &recovery);

    tn_recovery_clear(&recovery);
    if (rc != want)
        fail_msg("undo: %s", tarn_cx_error(t->cx));
    if (rc != TARN_OK)
        return;
    assert_int_equal(count, 1);
    assert_true(tn_str_is(paths[0], "dt=1"));
    t->report = reports[0];
}

static void test_undo__restores_what_was(void **state)
{
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        struct table t;
        ino_t a;

        table_open(&t);
        t.inside = inside;
        t.plan.options.keep_old_ms = 60000;
        set_times(t.directory.ptr, 1500000003, 1500000004);
        a = stat_of(at(&t, "t/dt=1/a.parquet")).st_ino;
        make_plan(&t, "r1");
        commit(&t);
        assert_swapped(&t);
        put(&t, "t/dt=1/late.parquet", "late");
        undo(&t, TARN_OK);
        assert_done(&t);
        assert_int_equal(stat_of(at(&t, "t/dt=1/a.parquet")).st_ino, a);
        assert_true(has(&t, "t/dt=1/b.parquet") && has(&t, "t/dt=1/_metadata"));
        assert_true(has(&t, "t/dt=1/.a.parquet.crc") && has(&t, "t/dt=1/late.parquet"));
        assert_false(has(&t, "t/dt=1/m.parquet"));
        assert_false(has(&t, ".t.tarn") || has(&t, "t/.tarn"));
        undo(&t, TARN_E_NOTFOUND);
        table_close(&t);
    }
}

static void test_undo__refuses_what_changed_since(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    t.plan.options.keep_old_ms = 60000;
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    put(&t, "t/dt=1/m.parquet", "rewritten");
    undo(&t, TARN_OK);
    assert_int_equal(t.report.outcome, TN_PARTITION_CONFLICT);
    assert_non_null(strstr(t.report.text.ptr, "m.parquet changed since the merge"));
    assert_true(has(&t, "t/dt=1/m.parquet"));
    assert_false(has(&t, "t/dt=1/a.parquet"));
    table_close(&t);
}

static void test_undo__ends_with_its_time(void **state)
{
    struct table t;
    tn_dir_commit *open = NULL;

    (void)state;
    table_open(&t);
    t.plan.options.keep_old_ms = 60000;
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    assert_true(has(&t, ".t.tarn/undo"));
    t.now_ms += 60001;
    t.plan.partition_count = 0;
    t.plan.id = TN_STR("r2");
    assert_ok(t.cx, tn_dir_commit_open(t.cx, t.store, &t.plan, &open));
    assert_ok(t.cx, tn_dir_commit_finish(t.cx, open));
    tn_dir_commit_close(open);
    assert_false(has(&t, ".t.tarn"));
    undo(&t, TARN_E_NOTFOUND);
    table_close(&t);
}

static void test_undo__keeps_the_run_for_another_try(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    t.plan.options.keep_old_ms = 60000;
    make_plan(&t, "r1");
    commit(&t);
    assert_int_equal(rename(at(&t, "t/dt=1/m.parquet"), at(&t, "t/dt=1/x")), 0);
    undo(&t, TARN_OK);
    assert_int_equal(t.report.outcome, TN_PARTITION_CONFLICT);
    assert_int_equal(rename(at(&t, "t/dt=1/x"), at(&t, "t/dt=1/m.parquet")), 0);
    undo(&t, TARN_OK);
    assert_done(&t);
    assert_true(has(&t, "t/dt=1/a.parquet"));
    table_close(&t);
}

static void test_commit__leaves_no_lock_among_files_of_others(void **state)
{
    struct table t;

    (void)state;
    table_open(&t);
    assert_int_equal(mkdir(at(&t, ".t.tarn"), 0755), 0);
    put(&t, ".t.tarn/notes.txt", "not ours");
    make_plan(&t, "r1");
    commit(&t);
    assert_swapped(&t);
    assert_true(has(&t, ".t.tarn/notes.txt"));
    assert_false(has(&t, ".t.tarn/lock"));
    table_close(&t);
}

/* The record of a swap that cannot be settled: its directory was replaced, its staging is gone. */
static void leave_record(struct table *t, const char *directory)
{
    tn_change change = {.record = tn_str_of(at(t, ".t.tarn/changes/r0-0.json")),
                        .state = TN_CHANGE_BEGUN,
                        .swap = TN_SWAP_EXCHANGE,
                        .run_id = TN_STR("r0"),
                        .made_ms = t->now_ms,
                        .directory = tn_str_of(at(t, directory)),
                        .staging = tn_str_of(at(t, ".t.tarn/r0/0")),
                        .old_inode = 1,
                        .new_inode = 2};

    assert_ok(t->cx, tn_store_make_dirs(t->cx, t->store, tn_str_of(at(t, ".t.tarn/changes"))));
    assert_ok(t->cx, tn_change_record_put(t->cx, t->store, &change, change.record));
}

static void commit_beside(struct table *t, tn_recovery *recovery)
{
    tn_dir_commit *open = NULL;

    make_plan(t, "r1");
    assert_ok(t->cx, tn_dir_commit_open(t->cx, t->store, &t->plan, &open));
    exec(t);
    assert_ok(t->cx, tn_dir_commit_partition(t->cx, open, 0, &t->result, 1, &t->arena, &t->report));
    assert_ok(t->cx, tn_dir_commit_finish(t->cx, open));
    tn_dir_commit_recovery(open, recovery);
    tn_dir_commit_close(open);
}

static void test_recovery__an_open_change_stops_its_partition_alone(void **state)
{
    static const char *const directories[] = {"t/dt=2", "t/dt=1"};
    struct table t;

    (void)state;
    for (int i = 0; i < 2; i++) {
        tn_recovery recovery = {0};

        table_open(&t);
        leave_record(&t, directories[i]);
        commit_beside(&t, &recovery);
        assert_non_null(tn_recovery_open(&recovery, tn_str_of(directories[i] + 2)));
        assert_true(has(&t, ".t.tarn/changes/r0-0.json"));
        if (i == 0) {
            assert_swapped(&t);
        } else {
            assert_int_equal(t.report.outcome, TN_PARTITION_SKIPPED);
            assert_non_null(strstr(t.report.text.ptr, "cannot be settled"));
            assert_true(has(&t, "t/dt=1/a.parquet"));
        }
        tn_recovery_clear(&recovery);

        /* what stood in the way is gone: the next run settles it, and says what became of it */
        assert_ok(t.cx, tn_store_make_dirs(t.cx, t.store, tn_str_of(at(&t, ".t.tarn/r0/0"))));
        assert_ok(t.cx, tn_dir_recover(t.cx, t.store, t.root, &recovery));
        assert_null(tn_recovery_open(&recovery, tn_str_of(directories[i] + 2)));
        assert_int_equal(recovery.note_count, 1);
        assert_non_null(strstr(recovery.notes[0].text.ptr, "/aside"));
        assert_false(has(&t, ".t.tarn/changes/r0-0.json"));
        tn_recovery_clear(&recovery);
        table_close(&t);
    }
}

static void test_recovery__a_damaged_record_stops_the_run(void **state)
{
    struct table t;
    tn_dir_commit *open = NULL;

    (void)state;
    table_open(&t);
    leave_record(&t, "t/dt=2");
    put(&t, ".t.tarn/changes/r0-1.json", "{}");
    make_plan(&t, "r1");
    assert_int_not_equal(tn_dir_commit_open(t.cx, t.store, &t.plan, &open), TARN_OK);
    assert_true(has(&t, "t/dt=1/a.parquet"));
    table_close(&t);
}

/* A process killed at a random moment of its commit, for real; the page cache survives it. */
static void kill_once(bool inside, bool keep, unsigned delay_us)
{
    struct table t;
    tn_recovery recovery;
    bool is_old, is_new;
    int status;
    pid_t child;

    table_open(&t);
    t.inside = inside;
    t.plan.options.keep_old_ms = keep ? 60000 : 0;
    make_plan(&t, "r1");
    child = fork();
    if (child == 0) {
        commit(&t);
        _exit(0);
    }
    usleep(delay_us);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    for (int recovered = 0; recovered < 2; recovered++) {
        is_old = has(&t, "t/dt=1/a.parquet") && has(&t, "t/dt=1/b.parquet") &&
                 !has(&t, "t/dt=1/m.parquet");
        is_new = !has(&t, "t/dt=1/a.parquet") && !has(&t, "t/dt=1/b.parquet") &&
                 has(&t, "t/dt=1/m.parquet");
        if (!is_old && !is_new && (!inside || recovered))
            fail_msg("killed after %u us, inside %d, recovered %d: neither old nor new", delay_us,
                     inside, recovered);
        if (!recovered) {
            assert_ok(t.cx, tn_dir_recover(t.cx, t.store, t.root, &recovery));
            tn_recovery_clear(&recovery);
        }
    }
    if (is_old) {
        make_plan(&t, "r2");
        commit(&t);
        assert_swapped(&t);
    }
    if (keep) {
        undo(&t, TARN_OK);
        assert_done(&t);
        assert_true(has(&t, "t/dt=1/a.parquet") && has(&t, "t/dt=1/b.parquet"));
    }
    table_close(&t);
}

static void test_commit__survives_a_killed_process(void **state)
{
    const char *all = getenv("TARN_FULL");
    unsigned rounds = all != NULL && *all != '\0' ? 600 : 80;
    const char *place = getenv("TMPDIR");

    (void)state;
    place = place != NULL ? strdup(place) : NULL;
    use_fast_place();
    for (unsigned i = 0; i < rounds; i++)
        kill_once(i % 2 == 1, i % 4 > 1, (i * 7919u) % 6000u);
    if (place != NULL)
        setenv("TMPDIR", place, 1);
    else
        unsetenv("TMPDIR");
    free((void *)place);
}
