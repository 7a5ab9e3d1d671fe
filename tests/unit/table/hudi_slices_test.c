/* Small tables made by hand in memory: timelines, groups, slices, and what is not visible. */
#include "table/hudi_slices.h"

#include "io/store_memory.h"
#include "unit/test.h"

typedef struct lake {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_slices slices;
} lake;

static lake lake_open(int32_t version)
{
    lake l = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2})};
    char text[256];

    snprintf(text, sizeof text,
             "hoodie.table.name=t\nhoodie.table.version=%d\nhoodie.timeline.layout.version=%d\n",
             version, version < 8 ? 1 : 2);
    assert_ok(l.cx, tn_store_memory_open(l.cx, &l.store));
    assert_ok(l.cx, tn_hudi_config_parse(l.cx, tn_str_of(text), TN_STR("p"), &l.arena, &l.config));
    assert_ok(l.cx, tn_store_make_dirs(l.cx, l.store,
                                       version < 8 ? TN_STR("/t/.hoodie")
                                                   : TN_STR("/t/.hoodie/timeline")));
    return l;
}

static void lake_close(lake *l)
{
    tn_arena_clear(&l->arena);
    tn_store_close(l->store);
    tarn_cx_close(l->cx);
}

static void put(lake *l, const char *path, const char *text)
{
    char whole[512];

    snprintf(whole, sizeof whole, "/t/%s", path);
    assert_ok(l->cx, tn_store_make_dirs(l->cx, l->store, tn_path_parent(tn_str_of(whole))));
    assert_ok(l->cx, tn_store_put(l->cx, l->store, tn_str_of(whole), tn_str_of(text)));
}

static void instant(lake *l, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, ".hoodie/%s%s", l->config.layout == 2 ? "timeline/" : "", name);
    put(l, path, text);
}

/* A completed commit that names one file. */
static void commit(lake *l, const char *name, const char *partition, const char *file)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"partitionToWriteStats\":{\"%s\":[{\"fileId\":\"x\",\"path\":\"%s%s%s\"}]}}",
             partition, partition, partition[0] != '\0' ? "/" : "", file);
    instant(l, name, text);
}

static void partition(lake *l, const char *path)
{
    char file[256];

    snprintf(file, sizeof file, "%s%s.hoodie_partition_metadata", path, path[0] != '\0' ? "/" : "");
    put(l, file, "commitTime=001\npartitionDepth=1\n");
}

static int load_as_of(lake *l, const char *as_of)
{
    tn_slices_options options = {.as_of = tn_str_of(as_of)};
    int rc = tn_timeline_load(l->cx, l->store, TN_STR("/t"), &l->config, &l->arena, &l->timeline);

    return rc != TARN_OK ? rc
                         : tn_slices_load(l->cx, l->store, TN_STR("/t"), &l->config, &l->timeline,
                                          &options, &l->arena, &l->slices);
}

static void expect_slices(lake *l, const char *as_of, const char *const *names, size_t count)
{
    assert_ok(l->cx, load_as_of(l, as_of));
    assert_int_equal(l->slices.slice_count, count);
    for (size_t i = 0; i < count; i++)
        if (!tn_str_is(l->slices.slices[i].base.name, names[i]))
            fail_msg("slice %zu is %.*s, want %s", i, TN_STR_ARG(l->slices.slices[i].base.name),
                     names[i]);
}

static void test_hudi_slices__the_newest_committed_file_counts(void **state)
{
    static const char *const first[] = {"a_0-1-1_001.parquet", "b_1-1-1_001.parquet"};
    static const char *const second[] = {"a_0-1-1_002.parquet", "b_1-1-1_001.parquet"};

    (void)state;
    for (int32_t version = 6; version <= 9; version += 3) {
        lake l = lake_open(version);
        bool old = version == 6;

        partition(&l, "p=1");
        commit(&l, old ? "001.commit" : "001_0011.commit", "p=1", "a_0-1-1_001.parquet");
        commit(&l, old ? "002.commit" : "002_0021.commit", "p=1", "a_0-1-1_002.parquet");
        instant(&l, "003.commit.requested", "");
        instant(&l, "003.inflight", "");
        put(&l, "p=1/a_0-1-1_001.parquet", "x");
        put(&l, "p=1/a_0-1-1_002.parquet", "x");
        put(&l, "p=1/a_0-1-1_003.parquet", "x");
        put(&l, "p=1/b_1-1-1_001.parquet", "x");
        put(&l, "p=1/b_1-1-1_004.parquet", "x"); /* of no instant: rolled back */
        put(&l, "p=1/.b_1-1-1_001.parquet.crc", "x");
        put(&l, "p=1/_SUCCESS", "");
        put(&l, "stray/c_1-1-1_001.parquet", "x"); /* in no partition */
        expect_slices(&l, "", second, 2);
        assert_int_equal(l.slices.invisible, 2);
        assert_int_equal(l.slices.older, 1);
        assert_int_equal(l.slices.partition_count, 1);
        expect_slices(&l, "001", first, 2);
        expect_slices(&l, "0009", NULL, 0);
        lake_close(&l);
    }
}

static void test_hudi_slices__older_than_the_timeline_is_committed(void **state)
{
    static const char *const want[] = {"a_0-1-1_003.parquet", "b_0-1-1_005.parquet"};
    lake l = lake_open(9);

    (void)state;
    partition(&l, "");
    /* 002 stays behind for its savepoint; 003 to 005 are archived. */
    instant(&l, "002_0021.commit", "{}");
    instant(&l, "002.savepoint.inflight", "");
    instant(&l, "002_0022.savepoint", "");
    instant(&l, "006_0061.commit", "{}");
    put(&l, "a_0-1-1_003.parquet", "x");
    put(&l, "b_0-1-1_005.parquet", "x");
    put(&l, "b_0-1-1_007.parquet", "x");
    expect_slices(&l, "", want, 2);
    assert_true(tn_str_is(l.timeline.start, "006"));
    assert_true(tn_str_is(tn_timeline_latest(&l.timeline), "0061"));
    lake_close(&l);
}

static void test_hudi_slices__replaced_groups_go_and_come_back_in_time(void **state)
{
    static const char *const before[] = {"a_0-1-1_001.parquet", "b_0-1-1_001.parquet"};
    static const char *const after[] = {"b_0-1-1_001.parquet", "c_0-1-1_002.parquet"};
    lake l = lake_open(6);

    (void)state;
    partition(&l, "p");
    instant(&l, "001.commit", "{}");
    instant(&l, "002.replacecommit", "{\"partitionToReplaceFileIds\":{\"p\":[\"a\"]}}");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    put(&l, "p/b_0-1-1_001.parquet", "x");
    put(&l, "p/c_0-1-1_002.parquet", "x");
    expect_slices(&l, "", after, 2);
    expect_slices(&l, "001", before, 2);
    lake_close(&l);
}

static void test_hudi_slices__a_file_that_is_gone_is_told(void **state)
{
    static const char *const want[] = {"a_0-1-1_002.parquet"};
    lake l = lake_open(6);

    (void)state;
    partition(&l, "p");
    commit(&l, "001.commit", "p", "a_0-1-1_001.parquet");
    commit(&l, "002.commit", "p", "a_0-1-1_002.parquet");
    put(&l, "p/a_0-1-1_002.parquet", "x");
    /* The older one was cleaned: nobody misses it but who asks for that time. */
    expect_slices(&l, "", want, 1);
    assert_fails(l.cx, TARN_E_CORRUPT, "read as of a later instant", load_as_of(&l, "001"));
    assert_non_null(strstr(tarn_cx_error(l.cx), "instant 001"));
    commit(&l, "003.commit", "p", "b_0-1-1_003.parquet");
    assert_fails(l.cx, TARN_E_CORRUPT, "p/b_0-1-1_003.parquet is gone", load_as_of(&l, ""));
    assert_non_null(strstr(tarn_cx_error(l.cx), "instant 003"));
    commit(&l, "003.commit", "q", "b_0-1-1_003.parquet");
    put(&l, "q/b_0-1-1_003.parquet", "x");
    assert_fails(l.cx, TARN_E_CORRUPT, ".hoodie_partition_metadata", load_as_of(&l, ""));
    lake_close(&l);
}

static void test_hudi_slices__of_two_tries_the_committed_one_counts(void **state)
{
    static const char *const want[] = {"a_1-1-1_001.parquet"};
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    commit(&l, "001_0011.commit", "p", "a_1-1-1_001.parquet");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    put(&l, "p/a_1-1-1_001.parquet", "x");
    put(&l, "p/a_2-1-1_001.parquet", "x");
    expect_slices(&l, "", want, 1);
    lake_close(&l);
}

static void test_hudi_slices__logs_join_the_slice_of_their_time(void **state)
{
    static const char *const bases[] = {"a_0-1-1_20240101000000003.parquet"};
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    instant(&l, "20240101000000001_20240101000000002.deltacommit", "{}");
    /* Requested before the compaction, completed after it. */
    instant(&l, "20240101000000002_20240101000000009.deltacommit", "{}");
    instant(&l, "20240101000000003_20240101000000004.commit", "{}");
    instant(&l, "20240101000000005.deltacommit.inflight", "");
    put(&l, "p/a_0-1-1_20240101000000001.parquet", "x");
    put(&l, "p/a_0-1-1_20240101000000003.parquet", "x");
    put(&l, "p/.a_20240101000000001.log.1_0-1-2", "x");
    put(&l, "p/.a_20240101000000002.log.1_0-1-2", "x");
    put(&l, "p/.a_20240101000000002.log.1_0-1-2.cdc", "x");
    put(&l, "p/.a_20240101000000005.log.1_0-1-2", "x");
    expect_slices(&l, "", bases, 1);
    assert_int_equal(l.slices.slices[0].log_count, 1);
    assert_true(tn_str_is(l.slices.slices[0].logs[0].name, ".a_20240101000000002.log.1_0-1-2"));
    assert_int_equal(l.slices.invisible, 1);
    lake_close(&l);
}

static void test_hudi_slices__names_of_other_programs_are_refused(void **state)
{
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    instant(&l, "001_0011.commit", "{}");
    put(&l, "p/part-0.parquet_001_hudiext", "x");
    assert_fails(l.cx, TARN_E_UNSUPPORTED, "p/part-0.parquet_001_hudiext", load_as_of(&l, ""));
    lake_close(&l);
}

static void test_timeline__names_become_instants(void **state)
{
    lake l = lake_open(9);
    const tn_instant *found;

    (void)state;
    instant(&l, "002.commit.requested", "");
    instant(&l, "002.inflight", "x");
    instant(&l, "002_0025.commit", "{}");
    instant(&l, "001.clustering.requested", "");
    instant(&l, "001.clustering.inflight", "");
    instant(&l, "003.rollback.requested", "");
    instant(&l, "004.commit", "{}"); /* legacy: without completion time */
    instant(&l, ".002_0025.commit.crc", "");
    instant(&l, "005.commit.7c9e6679-7425-40de-944b-e07fc1f90ae7", "");
    instant(&l, "notes.txt", "");
    assert_ok(l.cx, load_as_of(&l, ""));
    assert_int_equal(l.timeline.count, 4);
    assert_int_equal(l.timeline.strange_count, 1);
    assert_true(tn_str_is(l.timeline.strange[0], "notes.txt"));
    found = tn_timeline_find(&l.timeline, TN_STR("002"), TN_ACTION_COMMIT);
    assert_non_null(found);
    assert_int_equal(found->state, TN_STATE_COMPLETED);
    assert_true(tn_str_is(found->completion, "0025"));
    assert_true(tn_str_is(found->inflight_name, "002.inflight"));
    assert_true(tn_str_is(found->requested_name, "002.commit.requested"));
    found = tn_timeline_find(&l.timeline, TN_STR("001"), TN_ACTION_REPLACE);
    assert_int_equal(found->state, TN_STATE_INFLIGHT);
    assert_true(tn_str_is(found->word, "clustering"));
    found = tn_timeline_find(&l.timeline, TN_STR("004"), TN_ACTION_COMMIT);
    assert_true(found->legacy && found->completion.len == 17);
    assert_null(tn_timeline_find(&l.timeline, TN_STR("009"), TN_ACTION_COMMIT));
    assert_true(tn_timeline_shows(&l.timeline, TN_STR("002")));
    assert_false(tn_timeline_shows(&l.timeline, TN_STR("001")));
    assert_true(tn_timeline_shows(&l.timeline, TN_STR("0001")));
    assert_false(tn_timeline_shows(&l.timeline, TN_STR("008")));
    lake_close(&l);
}

static void test_timeline__damaged_instants_name_themselves(void **state)
{
    static const char *const texts[] = {"", "{", "Obj\x01", "no"};
    lake l = lake_open(9);
    tn_commit_metadata metadata;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        instant(&l, "001_0011.commit", texts[i]);
        assert_ok(l.cx,
                  tn_timeline_load(l.cx, l.store, TN_STR("/t"), &l.config, &l.arena, &l.timeline));
        assert_fails(l.cx, TARN_E_CORRUPT, "/t/.hoodie/timeline/001_0011.commit",
                     tn_timeline_commit(l.cx, l.store, &l.timeline, &l.timeline.instants[0],
                                        &l.arena, &metadata));
        assert_non_null(strstr(tarn_cx_error(l.cx), "roll the instant back"));
    }
    lake_close(&l);
}
