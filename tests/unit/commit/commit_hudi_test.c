/* Commits to Hudi tables: what each step leaves, who is refused, what is rolled back. */
#include "sim/commit_world.h"

#include "commit/commit_hudi_parts.h"
#include "io/store_trace.h"
#include "table/dir.h"
#include "unit/temp_dir.h"

static const struct lake_write first_write = {.partitions = {"dt=a", "dt=b"}, .word = "one"};
static const struct lake_write second_write = {.rewrite = {"dt=b"}, .word = "two"};

static void lake_with_rows(struct lake *l, int32_t version)
{
    lake_open(l, version);
    assert_ok(l->cx, lake_create(l));
    assert_ok(l->cx, lake_write(l, &first_write));
}

static void load(struct lake *l, tn_timeline *timeline)
{
    tn_hudi_config config;

    assert_ok(l->cx, tn_hudi_config_load(l->cx, l->memory, l->root, &l->arena, &config));
    assert_ok(l->cx, tn_timeline_load(l->cx, l->memory, l->root, &config, &l->arena, timeline));
}

/* The last instant of an action. */
static const tn_instant *last_of(struct lake *l, enum tn_action action)
{
    tn_timeline *timeline = tn_arena_take(l->cx, &l->arena, sizeof *timeline);
    const tn_instant *found = NULL;

    assert_non_null(timeline);
    load(l, timeline);
    for (size_t i = 0; i < timeline->count; i++)
        if (timeline->instants[i].action == action)
            found = &timeline->instants[i];
    return found;
}

static const char *timeline_folder(const struct lake *l)
{
    return l->version >= 8 ? ".hoodie/timeline" : ".hoodie";
}

static void put_instant(struct lake *l, const char *name, const char *text)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%s", timeline_folder(l), name);
    lake_put(l, path, text);
}

static void assert_sees(struct lake *l, const char *want)
{
    struct lake_view view = lake_see(l);

    assert_string_equal(view.text, want);
}

static int open_and_close(struct lake *l)
{
    tn_hudi_commit *commit = NULL;
    int rc = tn_hudi_commit_open(l->cx, l->store, l->root, &l->options, &commit);

    tn_hudi_commit_close(l->cx, commit);
    return rc;
}

/* A write that dies once its files are there. Its rollback is kept from happening. */
static tn_str leave_failed(struct lake *l, const struct lake_write *write)
{
    tn_hudi_commit *commit;
    tn_write_stat stat;
    tn_str instant;

    assert_ok(l->cx, tn_hudi_commit_open(l->cx, l->store, l->root, &l->options, &commit));
    assert_ok(l->cx,
              tn_hudi_commit_begin(l->cx, commit, TN_ACTION_COMMIT, write->operation, &instant));
    assert_ok(l->cx, tn_hudi_commit_inflight(l->cx, commit, NULL, 0));
    for (int i = 0; i < 4 && write->partitions[i] != NULL; i++)
        assert_ok(l->cx, lake_file(l, commit, instant, write->partitions[i], (tn_str){0},
                                   (tn_str){0}, write->word, &stat));
    assert_ok(l->cx, tn_arena_keep(l->cx, &l->arena, &instant));
    commit->state = TN_HUDI_UNCERTAIN; /* as if the process were gone */
    tn_hudi_commit_close(l->cx, commit);
    return instant;
}

static void test_commit__makes_instants_of_each_version(void **state)
{
    static const int32_t versions[] = {6, 8, 9};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const tn_instant *instant;
        struct lake l;

        lake_with_rows(&l, versions[i]);
        assert_sees(&l, "dt=a:one dt=b:one");
        l.now_ms += 5000;
        assert_ok(l.cx, lake_write(&l, &second_write));
        assert_sees(&l, "dt=a:one dt=b:two");
        lake_assert_clean(&l, "two writes");
        instant = last_of(&l, TN_ACTION_COMMIT);
        assert_int_equal(instant->state, TN_STATE_COMPLETED);
        assert_true(instant->requested_name.len != 0 && instant->inflight_name.len != 0);
        assert_true(tn_str_is(instant->time, "20270115080005123"));
        if (versions[i] >= 8)
            assert_true(tn_str_is(instant->completion, "20270115080005124"));
        assert_true(lake_has(&l, "dt=a/.hoodie_partition_metadata"));
        assert_string_equal(l.warned, "");
        lake_close(&l);
    }
}

static void test_commit__writes_the_partition_metadata_file(void **state)
{
    tn_buf text = {0};
    struct lake l;

    (void)state;
    lake_open(&l, 9);
    assert_ok(l.cx,
              tn_hudi_partition_print(l.cx, TN_STR("20270115080000123"), TN_STR("a=1/b=2"), &text));
    tn_buf_u8(&text, 0);
    assert_string_equal((char *)text.data, "#partition metadata\n"
                                           "#Fri Jan 15 08:00:00 UTC 2027\n"
                                           "commitTime=20270115080000123\n"
                                           "partitionDepth=2\n");
    tn_buf_clear(&text);
    lake_close(&l);
}

static void test_commit__removes_files_that_no_result_names(void **state)
{
    static const struct lake_write write = {.partitions = {"dt=a"}, .word = "x", .spare = true};
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    assert_ok(l.cx, lake_write(&l, &write));
    assert_sees(&l, "dt=a:one dt=a:x dt=b:one");
    lake_assert_clean(&l, "spare");
    lake_close(&l);
}

static void test_commit__replaces_groups(void **state)
{
    static const struct lake_write write = {.operation = TN_OP_INSERT_OVERWRITE,
                                            .partitions = {"dt=a"},
                                            .replace = "dt=a",
                                            .word = "new"};
    static const int32_t versions[] = {6, 9};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct lake l;

        lake_with_rows(&l, versions[i]);
        assert_ok(l.cx, lake_write(&l, &write));
        assert_sees(&l, "dt=a:new dt=b:one");
        lake_assert_clean(&l, "replace");
        lake_close(&l);
    }
}

static void test_commit__rolls_its_own_back_when_it_is_given_up(void **state)
{
    static const int32_t versions[] = {6, 9};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const tn_instant *rollback;
        struct lake l;

        lake_with_rows(&l, versions[i]);
        assert_ok(l.cx, lake_run(&l, &second_write, false));
        assert_sees(&l, "dt=a:one dt=b:one");
        lake_assert_clean(&l, "given up");
        rollback = last_of(&l, TN_ACTION_ROLLBACK);
        assert_non_null(rollback);
        assert_int_equal(rollback->state, TN_STATE_COMPLETED);
        lake_close(&l);
    }
}

static void test_commit__gives_up_after_a_cancel_too(void **state)
{
    tn_hudi_commit *commit;
    tn_str instant;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &commit));
    assert_ok(l.cx, tn_hudi_commit_begin(l.cx, commit, TN_ACTION_COMMIT, TN_OP_INSERT, &instant));
    tarn_cx_cancel(l.cx);
    tn_hudi_commit_close(l.cx, commit);
    tarn_cx_close(l.cx);
    l.cx =
        tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = lake_now, .now_arg = &l, .seed = 8});
    lake_assert_clean(&l, "cancelled");
    lake_close(&l);
}

static void test_commit__rolls_back_failed_writes_newest_first(void **state)
{
    static const struct lake_write bad = {.partitions = {"dt=a", "dt=z"}, .word = "bad"};
    static const int32_t versions[] = {6, 8, 9};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tn_hudi_commit *commit;
        const tn_str *rolled;
        tn_str failed;
        struct lake l;

        lake_with_rows(&l, versions[i]);
        failed = leave_failed(&l, &bad);
        assert_sees(&l, "dt=a:one dt=b:one");
        assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &commit));
        assert_int_equal(tn_hudi_commit_rolled_back(commit, &rolled), 1);
        assert_true(tn_str_equal(rolled[0], failed));
        tn_hudi_commit_close(l.cx, commit);
        lake_assert_clean(&l, "failed");
        assert_ok(l.cx, lake_write(&l, &second_write));
        assert_sees(&l, "dt=a:one dt=b:two");
        lake_close(&l);
    }
}

/* Of Hudi's timeline server: a type, and lists of names. */
static void test_commit__reads_markers_of_a_timeline_server(void **state)
{
    static const char *const data =
        "0a1b2c3d-0000-0000-0000-000000000000-0_0-1-2_20260101000000000";
    char text[400];
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    put_instant(&l, "20260101000000000.commit.requested", "");
    put_instant(&l, "20260101000000000.inflight", "");
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS.type", "TIMELINE_SERVER_BASED");
    /* The last line is torn: its file was never begun. */
    snprintf(text, sizeof text, "dt=a/%s.parquet.marker.CREATE\ndt=b/%s.par", data, data);
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS0", text);
    snprintf(text, sizeof text, "dt=b/%s.parquet.marker.MERGE,dt=c/%s.parquet.marker.CREATE\n",
             data, data);
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS17", text);
    for (const char *p = "abc"; *p != '\0'; p++) {
        snprintf(text, sizeof text, "dt=%c/%s.parquet", *p, data);
        lake_put(&l, text, "bad");
    }
    assert_ok(l.cx, open_and_close(&l));
    lake_assert_clean(&l, "server markers");
    assert_sees(&l, "dt=a:one dt=b:one");
    lake_close(&l);
}

static void test_commit__refuses_markers_it_does_not_understand(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    put_instant(&l, "20260101000000000.commit.requested", "");
    put_instant(&l, "20260101000000000.inflight", "");
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS.type", "DIRECT");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "DIRECT", open_and_close(&l));
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS.type", "TIMELINE_SERVER_BASED");
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS0",
             "../../etc/x_0-0-1_20260101000000000.parquet.marker.CREATE\n");
    assert_fails(l.cx, TARN_E_CORRUPT, "etc", open_and_close(&l));
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS0",
             "dt=a/x_0-0-1_20270101000000000.parquet.marker.CREATE\n");
    assert_fails(l.cx, TARN_E_CORRUPT, "20270101000000000", open_and_close(&l));
    lake_put(&l, ".hoodie/.temp/20260101000000000/MARKERS0",
             "dt=a/.x_20260101000000000.log.1_0-0-1.marker.APPEND\n");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "log", open_and_close(&l));
    assert_sees(&l, "dt=a:one dt=b:one");
    lake_close(&l);
}

/* Markers may have been lost, when the power failed, while the files that they stood for were not.
 */
static void test_commit__finds_files_of_a_failed_write_whose_markers_are_lost(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 6);
    put_instant(&l, "20260101000000000.commit.requested", "");
    put_instant(&l, "20260101000000000.inflight", "{}");
    lake_put(&l,
             ".hoodie/.temp/20260101000000000/dt=a/"
             "x-0_0-0-1_20260101000000000.parquet.marker.CREATE",
             "");
    lake_put(&l, "dt=a/x-0_0-0-1_20260101000000000.parquet", "bad");
    lake_put(&l, "dt=b/y-0_1-0-1_20260101000000000.parquet", "bad");
    assert_ok(l.cx, open_and_close(&l));
    lake_assert_clean(&l, "lost markers");
    assert_sees(&l, "dt=a:one dt=b:one");
    lake_close(&l);
}

/* Without any marker its files are looked for. */
static void test_commit__finds_files_of_a_failed_write_without_markers(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 6);
    put_instant(&l, "20260101000000000.commit.requested", "");
    put_instant(&l, "20260101000000000.inflight", "{}");
    lake_put(&l, "dt=a/x-0_0-0-1_20260101000000000.parquet", "bad");
    lake_put(&l, "dt=q/w/x-0_0-0-1_20260101000000000.parquet", "bad");
    assert_ok(l.cx, open_and_close(&l));
    lake_assert_clean(&l, "no markers");
    lake_close(&l);
}

static void test_commit__leaves_planned_services_alone(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    put_instant(&l, "20260101000000000.clustering.requested", "");
    put_instant(&l, "20260101000000001.compaction.requested", "");
    put_instant(&l, "20260101000000001.compaction.inflight", "");
    assert_ok(l.cx, open_and_close(&l));
    assert_true(lake_has(&l, ".hoodie/timeline/20260101000000000.clustering.requested"));
    assert_true(lake_has(&l, ".hoodie/timeline/20260101000000001.compaction.inflight"));
    assert_null(last_of(&l, TN_ACTION_ROLLBACK));
    lake_close(&l);
}

static void test_commit__refuses_a_pending_restore(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    put_instant(&l, "20260101000000000.restore.requested", "");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "20260101000000000", open_and_close(&l));
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "restore", lake_write(&l, &second_write));
    lake_close(&l);
}

/* The plan of a rollback that another writer left is found, and brought to its end. */
static void test_commit__goes_on_with_a_rollback_that_was_left(void **state)
{
    static const struct lake_write bad = {.partitions = {"dt=a"}, .word = "bad"};
    static const int32_t versions[] = {6, 9};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const tn_instant *rollback;
        tn_rollback_plan plan = {.action = TN_STR("commit")};
        tn_buf bytes = {0};
        char name[100];
        struct lake l;

        lake_with_rows(&l, versions[i]);
        plan.instant = leave_failed(&l, &bad);
        assert_ok(l.cx, tn_rollback_plan_print(l.cx, &plan, &bytes));
        snprintf(name, sizeof name, "%s/20270115080000999.rollback.requested", timeline_folder(&l));
        assert_ok(l.cx,
                  tn_store_put(l.cx, l.memory, lake_path(&l, "%s", name), tn_buf_view(&bytes)));
        assert_ok(l.cx, open_and_close(&l));
        rollback = last_of(&l, TN_ACTION_ROLLBACK);
        assert_true(tn_str_is(rollback->time, "20270115080000999"));
        assert_int_equal(rollback->state, TN_STATE_COMPLETED);
        tn_buf_clear(&bytes);
        lake_close(&l);
    }
}

static void test_commit__ends_a_rollback_without_its_target(void **state)
{
    tn_rollback_plan plan = {.action = TN_STR("commit"), .instant = TN_STR("20260101000000000")};
    tn_buf bytes = {0};
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    assert_ok(l.cx, tn_rollback_plan_print(l.cx, &plan, &bytes));
    assert_ok(l.cx,
              tn_store_put(l.cx, l.memory,
                           lake_path(&l, ".hoodie/timeline/20260101000000009.rollback.requested"),
                           tn_buf_view(&bytes)));
    put_instant(&l, "20260101000000009.rollback.inflight", "");
    /* One whose plan was cut off before it was written. */
    put_instant(&l, "20260101000000010.rollback.requested", "");
    assert_ok(l.cx, open_and_close(&l));
    lake_assert_clean(&l, "rollbacks");
    assert_non_null(strstr(l.warned, "20260101000000010.rollback.requested"));
    tn_buf_clear(&bytes);
    lake_close(&l);
}

static void test_commit__keeps_times_greater_than_all_there_is(void **state)
{
    const tn_instant *instant;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    l.now_ms -= 5 * 60 * 1000;
    assert_ok(l.cx, lake_write(&l, &second_write));
    assert_non_null(strstr(l.warned, "clock"));
    instant = last_of(&l, TN_ACTION_COMMIT);
    assert_true(tn_str_is(instant->time, "20270115080000125"));
    assert_true(tn_str_is(instant->completion, "20270115080000126"));
    assert_sees(&l, "dt=a:one dt=b:two");
    lake_close(&l);
}

/* Side files of Hadoop's local file system go before a file of that name comes back. */
static void test_commit__removes_crc_files_first(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    lake_put(&l, ".hoodie/timeline/.20270115080005123.commit.requested.crc", "old");
    lake_put(&l, ".hoodie/timeline/.20270115080005123.inflight.crc", "old");
    lake_put(&l, ".hoodie/timeline/.20270115080005123_20270115080005124.commit.crc", "old");
    lake_put(&l, "dt=n/..hoodie_partition_metadata.crc", "old");
    l.now_ms += 5000;
    assert_ok(l.cx, lake_write(&l, &(struct lake_write){.partitions = {"dt=n"}, .word = "n"}));
    assert_false(lake_has(&l, ".hoodie/timeline/.20270115080005123.commit.requested.crc"));
    assert_false(lake_has(&l, ".hoodie/timeline/.20270115080005123.inflight.crc"));
    assert_false(lake_has(&l, ".hoodie/timeline/.20270115080005123_20270115080005124.commit.crc"));
    assert_false(lake_has(&l, "dt=n/..hoodie_partition_metadata.crc"));
    lake_close(&l);
}

/* ---- other writers */

static void test_commit__lets_one_writer_in(void **state)
{
    tn_hudi_commit *one, *two = NULL;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &one));
    assert_fails(l.cx, TARN_E_CONFLICT, "lock",
                 tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &two));
    l.options.lock_wait_ms = 60;
    assert_fails(l.cx, TARN_E_CONFLICT, "lock",
                 tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &two));
    tn_hudi_commit_close(l.cx, one);
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &two));
    tn_hudi_commit_close(l.cx, two);
    lake_close(&l);
}

static void set_property(struct lake *l, const char *key, const char *value)
{
    tn_arena arena = {0};
    tn_hudi_config config;

    assert_ok(l->cx, tn_hudi_config_load(l->cx, l->memory, l->root, &arena, &config));
    assert_ok(l->cx,
              tn_properties_set(l->cx, &arena, &config.all, tn_str_of(key), tn_str_of(value)));
    assert_ok(l->cx, tn_hudi_config_update(l->cx, l->memory, l->root, &config.all));
    tn_arena_clear(&arena);
}

static void test_commit__honours_the_lock_file_of_hudi(void **state)
{
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    lake_put(&l, ".hoodie/lock", "{\"lockCreateTime\":\"x\"}");
    assert_fails(l.cx, TARN_E_CONFLICT, "lockCreateTime", lake_write(&l, &second_write));
    assert_true(lake_has(&l, ".hoodie/lock"));
    /* It expires only where the table says so. */
    set_property(&l, "hoodie.write.lock.filesystem.expire", "10");
    assert_ok(l.cx, lake_write(&l, &second_write));
    assert_false(lake_has(&l, ".hoodie/lock"));
    lake_close(&l);
}

static void test_commit__holds_the_lock_of_a_provider(void **state)
{
    tn_hudi_commit *commit;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    set_property(&l, "hoodie.write.lock.provider",
                 "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider");
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &commit));
    assert_true(lake_has(&l, ".hoodie/lock"));
    tn_hudi_commit_close(l.cx, commit);
    assert_false(lake_has(&l, ".hoodie/lock"));
    /* Of a tarn that died: no living one can be there, for we hold what it would hold. */
    lake_put(&l, ".hoodie/lock", "tarn holds this table\n");
    assert_ok(l.cx, lake_write(&l, &second_write));
    set_property(&l, "hoodie.write.lock.provider",
                 "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "Zookeeper", lake_write(&l, &second_write));
    lake_close(&l);
}

static void test_commit__waits_for_a_writer_that_is_alive(void **state)
{
    static const struct lake_write bad = {.partitions = {"dt=a"}, .word = "bad"};
    tn_attrs attrs = {.mtime_ns = 0};
    tn_str failed, path;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    failed = leave_failed(&l, &bad);
    path = lake_path(&l, ".hoodie/.heartbeat/%.*s", TN_STR_ARG(failed));
    assert_ok(l.cx, tn_store_make_dirs(l.cx, l.memory, tn_path_parent(path)));
    assert_ok(l.cx, tn_store_put(l.cx, l.memory, path, TN_STR("")));
    attrs.mtime_ns = (l.now_ms - 90 * 1000) * 1000000;
    assert_ok(l.cx, tn_store_attrs_set(l.cx, l.memory, path, &attrs, TN_ATTRS_TIMES));
    assert_fails(l.cx, TARN_E_CONFLICT, "90 s", lake_write(&l, &second_write));
    /* Under the lazy policy both go on. */
    l.options.lazy = true;
    assert_ok(l.cx, open_and_close(&l));
    assert_int_equal(last_of(&l, TN_ACTION_COMMIT)->state, TN_STATE_INFLIGHT);
    l.options.lazy = false;
    l.now_ms += 31 * 1000;
    assert_ok(l.cx, lake_write(&l, &second_write));
    lake_assert_clean(&l, "expired");
    lake_close(&l);
}

static void test_commit__beats_when_lazy(void **state)
{
    tn_hudi_commit *commit;
    tn_write_stat stat;
    tn_str instant;
    tn_stat before, after;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    l.options.lazy = true;
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &commit));
    assert_ok(l.cx, tn_hudi_commit_begin(l.cx, commit, TN_ACTION_COMMIT, TN_OP_INSERT, &instant));
    assert_ok(l.cx, tn_store_stat(l.cx, l.memory,
                                  lake_path(&l, ".hoodie/.heartbeat/%.*s", TN_STR_ARG(instant)),
                                  &before));
    l.now_ms += 31000;
    assert_ok(l.cx, lake_file(&l, commit, instant, "dt=a", (tn_str){0}, (tn_str){0}, "x", &stat));
    assert_ok(l.cx,
              tn_store_stat(l.cx, l.memory,
                            lake_path(&l, ".hoodie/.heartbeat/%.*s", TN_STR_ARG(instant)), &after));
    assert_true(after.mtime_ns > before.mtime_ns);
    tn_hudi_commit_close(l.cx, commit);
    lake_assert_clean(&l, "lazy");
    lake_close(&l);
}

/* What another writer does between begin and finish. */
static void rival(struct lake *l, const char *name, const char *from, tn_hudi_commit **commit,
                  tn_commit_metadata *metadata)
{
    tn_write_stat *stat = tn_arena_array(l->cx, &l->arena, 1, sizeof *stat);
    tn_str instant;
    tn_buf bytes = {0};

    assert_non_null(stat);
    assert_ok(l->cx, tn_hudi_commit_open(l->cx, l->store, l->root, &l->options, commit));
    assert_ok(l->cx,
              tn_hudi_commit_begin(l->cx, *commit, TN_ACTION_COMMIT, TN_OP_INSERT, &instant));
    assert_ok(l->cx, tn_hudi_commit_inflight(l->cx, *commit, NULL, 0));
    assert_ok(l->cx, lake_file(l, *commit, instant, "dt=a", (tn_str){0}, (tn_str){0}, "x", stat));
    *metadata = (tn_commit_metadata){.operation = TN_STR("INSERT"), .stats = stat, .stat_count = 1};
    if (from != NULL)
        assert_ok(l->cx,
                  tn_store_get(l->cx, l->memory, lake_path(l, "%s/%s", timeline_folder(l), from),
                               1 << 20, &bytes));
    if (name != NULL)
        assert_ok(l->cx,
                  tn_store_put(l->cx, l->memory, lake_path(l, "%s/%s", timeline_folder(l), name),
                               tn_buf_view(&bytes)));
    tn_buf_clear(&bytes);
}

static void test_commit__sees_another_commit_at_the_end(void **state)
{
    tn_commit_metadata metadata;
    tn_hudi_commit *commit;
    tn_str completion = {0};
    const tn_instant *before;
    char from[100];
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    before = last_of(&l, TN_ACTION_COMMIT);
    snprintf(from, sizeof from, "%.*s", TN_STR_ARG(before->name));
    rival(&l, "20270115080000129_20270115080000130.commit", from, &commit, &metadata);
    assert_fails(l.cx, TARN_E_CONFLICT, "20270115080000129",
                 tn_hudi_commit_finish(l.cx, commit, &metadata, &completion));
    assert_null(completion.ptr);
    tn_hudi_commit_close(l.cx, commit);
    lake_assert_clean(&l, "conflict");
    assert_sees(&l, "dt=a:one dt=b:one");

    rival(&l, "20270115080000139.clustering.requested", NULL, &commit, &metadata);
    assert_fails(l.cx, TARN_E_CONFLICT, "clustering",
                 tn_hudi_commit_finish(l.cx, commit, &metadata, &completion));
    tn_hudi_commit_close(l.cx, commit);
    lake_close(&l);
}

static void test_commit__sees_that_it_was_rolled_back(void **state)
{
    tn_commit_metadata metadata;
    tn_hudi_commit *commit;
    tn_str completion;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    rival(&l, NULL, NULL, &commit, &metadata);
    assert_ok(l.cx, tn_store_remove(l.cx, l.memory,
                                    lake_path(&l, ".hoodie/timeline/%.*s.inflight",
                                              TN_STR_ARG(commit->instant))));
    assert_ok(l.cx, tn_store_remove(l.cx, l.memory,
                                    lake_path(&l, ".hoodie/timeline/%.*s.commit.requested",
                                              TN_STR_ARG(commit->instant))));
    assert_fails(l.cx, TARN_E_CONFLICT, "rolled",
                 tn_hudi_commit_finish(l.cx, commit, &metadata, &completion));
    tn_hudi_commit_close(l.cx, commit);
    assert_sees(&l, "dt=a:one dt=b:one");
    lake_close(&l);
}

/* A JVM may upgrade the table while tarn writes: no file lands in the old place. */
static void test_commit__sees_an_upgrade(void **state)
{
    tn_commit_metadata metadata;
    tn_hudi_commit *commit;
    tn_str completion;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 8);
    rival(&l, NULL, NULL, &commit, &metadata);
    set_property(&l, "hoodie.table.version", "9");
    assert_fails(l.cx, TARN_E_CONFLICT, "version",
                 tn_hudi_commit_finish(l.cx, commit, &metadata, &completion));
    tn_hudi_commit_close(l.cx, commit);
    assert_sees(&l, "dt=a:one dt=b:one");
    l.version = 9;
    assert_ok(l.cx, open_and_close(&l));
    lake_assert_clean(&l, "upgraded");
    lake_close(&l);
}

static void test_commit__refuses_a_result_without_a_marker(void **state)
{
    tn_commit_metadata metadata;
    tn_hudi_commit *commit;
    tn_str completion;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    rival(&l, NULL, NULL, &commit, &metadata);
    metadata.stats[0].path = TN_STR("dt=a/y-0_0-0-1_20270115080000125.parquet");
    assert_fails(l.cx, TARN_E_INVALID, "marker",
                 tn_hudi_commit_finish(l.cx, commit, &metadata, &completion));
    tn_hudi_commit_close(l.cx, commit);
    lake_assert_clean(&l, "no marker");
    lake_close(&l);
}

static void test_commit__refuses_names_that_lead_elsewhere(void **state)
{
    static const char *const bad[] = {"..", "a/../b", "a//b", "/a", "a/", ".hoodie", "a/."};
    tn_hudi_commit *commit;
    tn_str instant;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &commit));
    assert_ok(l.cx, tn_hudi_commit_begin(l.cx, commit, TN_ACTION_COMMIT, TN_OP_INSERT, &instant));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(l.cx, TARN_E_INVALID, "partition",
                     tn_hudi_commit_mark(l.cx, commit, tn_str_of(bad[i]),
                                         TN_STR("x-0_0-0-1_20270115080000125.parquet"), false));
    assert_fails(l.cx, TARN_E_INVALID, "data file",
                 tn_hudi_commit_mark(l.cx, commit, TN_STR("a"),
                                     TN_STR("x-0_0-0-1_20270115080000999.parquet"), false));
    tn_hudi_commit_close(l.cx, commit);
    lake_close(&l);
}

/* ---- the metadata table */

static void test_commit__drops_the_metadata_table_when_told(void **state)
{
    tn_hudi_commit *commit;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    set_property(&l, "hoodie.table.metadata.partitions", "column_stats,files");
    lake_put(&l, ".hoodie/metadata/files/f", "x");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "--drop-metadata-table", lake_write(&l, &second_write));
    assert_true(lake_has(&l, ".hoodie/metadata/files/f"));
    l.options.drop_metadata_table = true;
    /* Opened, and then given up before anything begins: it is there as before. */
    assert_ok(l.cx, tn_hudi_commit_open(l.cx, l.store, l.root, &l.options, &commit));
    tn_hudi_commit_close(l.cx, commit);
    assert_true(lake_has(&l, ".hoodie/metadata/files/f"));
    assert_ok(l.cx, lake_write(&l, &second_write));
    assert_false(lake_has(&l, ".hoodie/metadata"));
    assert_non_null(strstr(l.warned, "metadata table"));
    /* One that is being built counts, too. */
    l.options.drop_metadata_table = false;
    set_property(&l, "hoodie.table.metadata.partitions.inflight", "files");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "metadata table", lake_write(&l, &second_write));
    lake_close(&l);
}

/* ---- rollback of one instant */

static int roll_back(struct lake *l, tn_str time, tn_hudi_rolled *rolled)
{
    return tn_hudi_rollback(l->cx, l->store, l->root, time, &l->options, &l->arena, rolled);
}

static void test_rollback__takes_back_the_latest_commit(void **state)
{
    static const struct lake_write overwrite = {.operation = TN_OP_INSERT_OVERWRITE,
                                                .partitions = {"dt=a"},
                                                .replace = "dt=a",
                                                .word = "new"};
    static const int32_t versions[] = {6, 8, 9};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tn_hudi_rolled rolled;
        struct lake l;

        lake_with_rows(&l, versions[i]);
        assert_ok(l.cx, lake_write(&l, &second_write));
        assert_ok(l.cx, lake_write(&l, &overwrite));
        assert_sees(&l, "dt=a:new dt=b:two");
        assert_ok(l.cx, roll_back(&l, last_of(&l, TN_ACTION_REPLACE)->time, &rolled));
        assert_true(rolled.was_completed);
        assert_int_equal(rolled.files_deleted, 1);
        assert_true(tn_str_is(rolled.action, "replacecommit"));
        assert_sees(&l, "dt=a:one dt=b:two");
        assert_ok(l.cx, roll_back(&l, last_of(&l, TN_ACTION_COMMIT)->time, &rolled));
        assert_sees(&l, "dt=a:one dt=b:one");
        lake_assert_clean(&l, "rolled back");
        lake_close(&l);
    }
}

static void test_rollback__takes_back_a_failed_write(void **state)
{
    static const struct lake_write bad = {.partitions = {"dt=a", "dt=z"}, .word = "bad"};
    tn_hudi_rolled rolled;
    tn_str failed;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    failed = leave_failed(&l, &bad);
    assert_ok(l.cx, roll_back(&l, failed, &rolled));
    assert_false(rolled.was_completed);
    assert_int_equal(rolled.files_deleted, 2);
    lake_assert_clean(&l, "failed");
    lake_close(&l);
}

static void test_rollback__refuses(void **state)
{
    tn_hudi_rolled rolled;
    const tn_instant *first;
    char name[100];
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    first = last_of(&l, TN_ACTION_COMMIT);
    assert_ok(l.cx, lake_write(&l, &second_write));
    assert_fails(l.cx, TARN_E_INVALID, "later", roll_back(&l, first->time, &rolled));
    assert_fails(l.cx, TARN_E_NOTFOUND, "19990101000000000",
                 roll_back(&l, TN_STR("19990101000000000"), &rolled));
    snprintf(name, sizeof name, "%.*s.savepoint.inflight",
             TN_STR_ARG(last_of(&l, TN_ACTION_COMMIT)->time));
    put_instant(&l, name, "");
    assert_fails(l.cx, TARN_E_INVALID, "savepoint",
                 roll_back(&l, last_of(&l, TN_ACTION_COMMIT)->time, &rolled));
    assert_sees(&l, "dt=a:one dt=b:two");
    lake_close(&l);
}

/* A cleaner took the files that the commit replaced: going back would lose rows. */
static void test_rollback__refuses_when_the_files_before_are_gone(void **state)
{
    struct lake_file latest[LAKE_GROUPS + 1];
    tn_hudi_rolled rolled;
    size_t count;
    struct lake l;

    (void)state;
    lake_with_rows(&l, 9);
    count = lake_latest(&l, &l.arena, latest);
    assert_ok(l.cx, lake_write(&l, &second_write));
    for (size_t i = 0; i < count; i++)
        if (tn_str_is(latest[i].partition, "dt=b"))
            assert_ok(l.cx,
                      tn_store_remove(l.cx, l.memory,
                                      lake_path(&l, "dt=b/%.*s", TN_STR_ARG(latest[i].name))));
    assert_fails(l.cx, TARN_E_INVALID, "cleaned",
                 roll_back(&l, last_of(&l, TN_ACTION_COMMIT)->time, &rolled));
    assert_sees(&l, "dt=a:one dt=b:two");
    lake_close(&l);
}

/* ---- creation */

static void test_create__refuses_what_is_there(void **state)
{
    struct lake l;

    (void)state;
    lake_open(&l, 9);
    lake_put(&l, "x.parquet", "PAR1");
    assert_fails(l.cx, TARN_E_INVALID, "x.parquet", lake_create(&l));
    assert_ok(l.cx, tn_store_remove_tree(l.cx, l.memory, l.root));
    lake_put(&l, "_delta_log/0.json", "{}");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "Delta", lake_create(&l));
    assert_ok(l.cx, tn_store_remove_tree(l.cx, l.memory, l.root));
    lake_put(&l, ".hoodie_partition_metadata", "");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "partition of a Hudi table", lake_create(&l));
    assert_ok(l.cx, tn_store_remove_tree(l.cx, l.memory, l.root));
    lake_put(&l, ".hoodie/timeline/20260101000000000.commit.requested", "");
    assert_fails(l.cx, TARN_E_INVALID, "hoodie.properties", lake_create(&l));
    assert_ok(l.cx, tn_store_remove_tree(l.cx, l.memory, l.root));
    lake_put(&l, ".hoodie/.temp/x", "");
    assert_ok(l.cx, lake_create(&l));
    assert_fails(l.cx, TARN_E_EXISTS, "already", lake_create(&l));
    l.root = TN_STR(LAKE_ROOT "/inner");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "lies in", lake_create(&l));
    lake_close(&l);
}

/* On a real file system: what is left there is what Hudi would have made. */
static void test_create__makes_the_folders_of_hudi(void **state)
{
    static const char *const folders[] = {".hoodie/.schema", ".hoodie/.temp",
                                          ".hoodie/.aux/.bootstrap/.partitions",
                                          ".hoodie/.aux/.bootstrap/.fileids"};
    char base[256];

    (void)state;
    temp_dir_make(base, sizeof base);
    for (int32_t version = 6; version <= 9; version += 3) {
        char root[300];
        tn_store *store;
        struct lake l;

        snprintf(root, sizeof root, "%s/v%d", base, (int)version);
        lake_open_on(&l, version, NULL, tn_str_of(root));
        tn_store_close(l.memory);
        assert_ok(l.cx, tn_store_local_open(l.cx, &store));
        l.memory = l.store = store;
        assert_ok(l.cx, lake_create(&l));
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
            assert_true(lake_has(&l, folders[i]));
        assert_int_equal(lake_has(&l, ".hoodie/archived"), version == 6);
        assert_int_equal(lake_has(&l, ".hoodie/timeline/history"), version == 9);
        assert_ok(l.cx, lake_write(&l, &first_write));
        assert_ok(l.cx, lake_write(&l, &second_write));
        assert_sees(&l, "dt=a:one dt=b:two");
        assert_ok(l.cx, lake_run(&l, &second_write, false));
        lake_assert_clean(&l, "on disk");
        lake_close(&l);
    }
    temp_dir_remove(base);
}
