/* Small tables made by hand in memory: timelines, groups, slices, and what is not visible. */
#include "table/hudi_slices.h"

#include "io/store_fault.h"
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

static int load_with(lake *l, const tn_slices_options *options)
{
    int rc = tn_timeline_load(l->cx, l->store, TN_STR("/t"), &l->config, &l->arena, &l->timeline);

    return rc != TARN_OK ? rc
                         : tn_slices_load(l->cx, l->store, TN_STR("/t"), &l->config, &l->timeline,
                                          options, &l->arena, &l->slices);
}

/* What a log lost would look like the torn end of a writer that died, which readers pass over. */
static void test_hudi_slices__a_log_that_is_cut_off_is_told(void **state)
{
    static const tn_str range[] = {{"002", 3}};
    tn_slices_options options = {.written_by = range, .written_by_count = 1};
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    commit(&l, "001_0011.deltacommit", "p", "a_0-1-1_001.parquet");
    instant(&l, "002_0021.deltacommit",
            "{\"partitionToWriteStats\":{\"p\":[{\"fileId\":\"a\",\"path\":"
            "\"p/.a_002.log.1_0-1-2\",\"fileSizeInBytes\":3}]}}");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    put(&l, "p/.a_002.log.1_0-1-2", "xy");
    assert_fails(l.cx, TARN_E_CORRUPT,
                 "instant 002: its file p/.a_002.log.1_0-1-2 is cut off, at 2 bytes of 3",
                 load_as_of(&l, ""));
    assert_fails(l.cx, TARN_E_CORRUPT, "is cut off", load_with(&l, &options));
    assert_ok(l.cx, load_as_of(&l, "001"));
    /* Others may have appended to it. */
    put(&l, "p/.a_002.log.1_0-1-2", "xyzz");
    assert_ok(l.cx, load_as_of(&l, ""));
    assert_ok(l.cx, load_with(&l, &options));
    lake_close(&l);
}

static void test_hudi_slices__a_timeline_that_is_gone_is_told(void **state)
{
    lake l = lake_open(9);

    (void)state;
    expect_slices(&l, "", NULL, 0);
    partition(&l, "p");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    assert_fails(l.cx, TARN_E_CORRUPT, "the timeline is gone", load_as_of(&l, ""));
    instant(&l, "001.deltacommit.requested", "");
    expect_slices(&l, "", NULL, 0);
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

/* What a writer rolls back, completes or archives meanwhile is no damage. */
static void test_timeline__vanished_instants_are_conflicts(void **state)
{
    tn_commit_metadata commit_said;
    tn_avro_value value;
    bool empty;
    lake l = lake_open(9);

    (void)state;
    commit(&l, "001_0011.deltacommit", "p", "a_0-1-1_001.parquet");
    assert_ok(l.cx,
              tn_timeline_load(l.cx, l.store, TN_STR("/t"), &l.config, &l.arena, &l.timeline));
    assert_ok(l.cx,
              tn_store_remove(l.cx, l.store, TN_STR("/t/.hoodie/timeline/001_0011.deltacommit")));
    assert_fails(l.cx, TARN_E_CONFLICT, "001_0011.deltacommit: the instant was archived",
                 tn_timeline_commit(l.cx, l.store, &l.timeline, &l.timeline.instants[0], &l.arena,
                                    &commit_said));
    assert_fails(l.cx, TARN_E_CONFLICT, "try again",
                 tn_timeline_value(l.cx, l.store, &l.timeline, TN_STR("001_0011.deltacommit"),
                                   &l.arena, &empty, &value));
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

/* ---- ranges, cleaners, readers beside services ---- */

static void test_hudi_slices__of_a_range_of_commits(void **state)
{
    static const tn_str range[] = {{"002", 3}, {"003", 3}};
    tn_slices_options options = {
        .written_by = range, .written_by_count = 2, .as_of = TN_STR("003")};
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    commit(&l, "001_0011.deltacommit", "p", "a_0-1-1_001.parquet");
    commit(&l, "002_0021.deltacommit", "p", ".a_002.log.1_0-1-2");
    commit(&l, "003_0031.deltacommit", "p", ".a_003.log.1_0-1-2");
    commit(&l, "004_0041.deltacommit", "p", ".a_004.log.1_0-1-2");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    put(&l, "p/.a_002.log.1_0-1-2", "x");
    put(&l, "p/.a_003.log.1_0-1-2", "x");
    put(&l, "p/.a_004.log.1_0-1-2", "x");
    /* The base file is of no commit of the range: the logs stand alone. */
    assert_ok(l.cx, load_with(&l, &options));
    assert_false(l.slices.whole);
    assert_int_equal(l.slices.slice_count, 1);
    assert_int_equal(l.slices.slices[0].base.name.len, 0);
    assert_int_equal(l.slices.slices[0].log_count, 2);
    assert_true(tn_str_is(l.slices.slices[0].logs[1].path, "/t/p/.a_003.log.1_0-1-2"));
    /* One of its files was cleaned: the latest snapshot stands in. */
    assert_ok(l.cx, tn_store_remove(l.cx, l.store, TN_STR("/t/p/.a_002.log.1_0-1-2")));
    commit(&l, "002_0021.deltacommit", "p", "gone_0-1-1_002.parquet");
    commit(&l, "005_0051.replacecommit", "q", "b_0-1-1_005.parquet");
    instant(&l, "006_0061.replacecommit", "{\"partitionToReplaceFileIds\":{\"p\":[\"gone\"]}}");
    partition(&l, "q");
    put(&l, "q/b_0-1-1_005.parquet", "x");
    assert_ok(l.cx, load_with(&l, &options));
    assert_true(l.slices.whole);
    assert_int_equal(l.slices.slice_count, 2);
    assert_int_equal(l.slices.slices[0].log_count, 2);
    assert_true(tn_str_is(l.slices.slices[0].base.name, "a_0-1-1_001.parquet"));
    lake_close(&l);
}

static void test_hudi_slices__a_range_leaves_out_what_it_replaced(void **state)
{
    static const tn_str range[] = {{"002", 3}, {"003", 3}};
    tn_slices_options options = {
        .written_by = range, .written_by_count = 2, .as_of = TN_STR("003")};
    lake l = lake_open(6);

    (void)state;
    commit(&l, "001.commit", "p", "a_0-1-1_001.parquet");
    commit(&l, "002.commit", "p", "b_0-1-1_002.parquet");
    instant(&l, "003.replacecommit",
            "{\"partitionToWriteStats\":{\"p\":[{\"fileId\":\"c\",\"path\":\"p/"
            "c_0-1-1_003.parquet\"}]},\"partitionToReplaceFileIds\":{\"p\":[\"b\"]}}");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    put(&l, "p/b_0-1-1_002.parquet", "x");
    put(&l, "p/c_0-1-1_003.parquet", "x");
    assert_ok(l.cx, load_with(&l, &options));
    assert_int_equal(l.slices.slice_count, 1);
    assert_true(tn_str_is(l.slices.slices[0].base.name, "c_0-1-1_003.parquet"));
    options.written_by_count = 1;
    options.as_of = TN_STR("002");
    assert_ok(l.cx, load_with(&l, &options));
    assert_true(tn_str_is(l.slices.slices[0].base.name, "b_0-1-1_002.parquet"));
    lake_close(&l);
}

/* The completed file of a clean that says what it kept. */
static void clean(lake *l, const char *name, const char *kept)
{
    static const char schema[] = "{\"type\":\"record\",\"name\":\"HoodieCleanMetadata\",\"fields\":"
                                 "[{\"name\":\"earliestCommitToRetain\",\"type\":\"string\"}]}";
    tn_str member = TN_STR("earliestCommitToRetain");
    tn_avro_value item = {.kind = TN_AVRO_STRING, .as.text = tn_str_of(kept)};
    tn_avro_value record = {.kind = TN_AVRO_RECORD};
    tn_avro_schema parsed;
    tn_buf bytes = {0};
    tn_str path;

    record.as.many.names = &member;
    record.as.many.items = &item;
    record.as.many.count = 1;
    assert_ok(l->cx, tn_avro_schema_parse(l->cx, TN_STR(schema), "s", &parsed));
    assert_ok(l->cx, tn_avro_file_write(l->cx, TN_STR(schema), parsed.root, &record, &bytes));
    assert_ok(l->cx, tn_arena_print(l->cx, &l->arena, &path, "/t/.hoodie/timeline/%s", name));
    assert_ok(l->cx, tn_store_put(l->cx, l->store, path, tn_buf_view(&bytes)));
    tn_buf_clear(&bytes);
    tn_avro_schema_clear(&parsed);
}

static void test_hudi_slices__times_that_were_cleaned_are_refused(void **state)
{
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    commit(&l, "003_0031.commit", "p", "a_0-1-1_003.parquet");
    commit(&l, "005_0051.commit", "p", "a_0-1-1_005.parquet");
    put(&l, "p/a_0-1-1_003.parquet", "x");
    put(&l, "p/a_0-1-1_005.parquet", "x");
    assert_ok(l.cx, load_as_of(&l, "001"));
    clean(&l, "006_0061.clean", "004");
    assert_fails(l.cx, TARN_E_INVALID, "Cleaner cleaned up", load_as_of(&l, "003"));
    assert_non_null(strstr(tarn_cx_error(l.cx), "from 004 on"));
    assert_ok(l.cx, load_as_of(&l, "004"));
    /* The newest clean counts; one that counts versions of files tells no instant. */
    clean(&l, "007_0071.clean", "");
    assert_ok(l.cx, load_as_of(&l, "003"));
    assert_fails(l.cx, TARN_E_INVALID, "begins with 003", load_as_of(&l, "002"));
    lake_close(&l);
}

static void test_hudi_slices__what_a_service_took_away_is_a_conflict(void **state)
{
    tn_timeline before;
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    commit(&l, "001_0011.commit", "p", "a_0-1-1_001.parquet");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    assert_ok(l.cx, load_as_of(&l, ""));
    before = l.timeline;
    assert_fails(l.cx, TARN_E_CORRUPT, "no service of the table took it away",
                 tn_slices_gone(l.cx, l.store, TN_STR("/t"), &l.config, &before,
                                TN_STR("/t/p/a_0-1-1_001.parquet")));
    instant(&l, "002.rollback.requested", "x");
    assert_fails(l.cx, TARN_E_CONFLICT, "rollback 002",
                 tn_slices_gone(l.cx, l.store, TN_STR("/t"), &l.config, &before,
                                TN_STR("/t/p/a_0-1-1_001.parquet")));
    assert_non_null(strstr(tarn_cx_error(l.cx), "read again"));
    /* With the old timeline the file is missed, for that reason. */
    assert_ok(l.cx, tn_store_remove(l.cx, l.store, TN_STR("/t/p/a_0-1-1_001.parquet")));
    assert_fails(
        l.cx, TARN_E_CONFLICT, "rollback 002",
        tn_slices_load(l.cx, l.store, TN_STR("/t"), &l.config, &before, NULL, &l.arena, &l.slices));
    lake_close(&l);
}

static void test_hudi_slices__a_snapshot_is_of_one_state(void **state)
{
    lake l = lake_open(9);

    (void)state;
    partition(&l, "p");
    commit(&l, "001_0011.commit", "p", "a_0-1-1_001.parquet");
    put(&l, "p/a_0-1-1_001.parquet", "x");
    instant(&l, "002_0021.clean", "");
    assert_ok(l.cx, tn_slices_snapshot(l.cx, l.store, TN_STR("/t"), &l.config, NULL, &l.arena,
                                       &l.timeline, &l.slices));
    assert_int_equal(l.timeline.count, 2);
    assert_int_equal(l.slices.slice_count, 1);
    assert_ok(l.cx, tn_store_remove(l.cx, l.store, TN_STR("/t/p/a_0-1-1_001.parquet")));
    assert_fails(l.cx, TARN_E_CORRUPT, "is gone",
                 tn_slices_snapshot(l.cx, l.store, TN_STR("/t"), &l.config, NULL, &l.arena,
                                    &l.timeline, &l.slices));
    lake_close(&l);
}

/* The file of an instant is last changed at a time of 2024-02-01. */
static void touch(lake *l, const char *name)
{
    const tn_attrs attrs = {.mtime_ns = INT64_C(1706745600) * 1000000000};
    tn_str path;

    assert_ok(l->cx, tn_arena_print(l->cx, &l->arena, &path, "/t/.hoodie/%s", name));
    assert_ok(l->cx, tn_store_attrs_set(l->cx, l->store, path, &attrs, TN_ATTRS_TIMES));
}

static void test_hudi_slices__moved_logs_are_told(void **state)
{
    tn_slices_options options = {0};
    lake l = lake_open(6);
    tn_str text;

    (void)state;
    partition(&l, "p");
    /* Both instants' files are of a later day: the logs of the first fall to the second. */
    instant(&l, "20240101000000001.deltacommit", "{}");
    instant(&l, "20240101000000003.commit", "{}");
    touch(&l, "20240101000000001.deltacommit");
    touch(&l, "20240101000000003.commit");
    put(&l, "p/a_0-1-1_20240101000000001.parquet", "x");
    put(&l, "p/a_0-1-1_20240101000000003.parquet", "x");
    put(&l, "p/.a_20240101000000001.log.1_0-1-2", "x");
    assert_ok(l.cx, load_with(&l, &options));
    assert_int_equal(l.slices.slices[0].log_count, 1);
    assert_int_equal(l.slices.moved, 1);
    assert_ok(l.cx, tn_slices_warning(l.cx, &l.slices, &l.arena, &text));
    assert_non_null(strstr(text.ptr, ".a_20240101000000001.log.1_0-1-2"));
    assert_non_null(strstr(text.ptr, "--v6-slices instant"));
    options.v6_slices = TN_V6_SLICES_INSTANT;
    assert_ok(l.cx, load_with(&l, &options));
    assert_int_equal(l.slices.slices[0].log_count, 0);
    assert_int_equal(l.slices.moved, 0);
    assert_ok(l.cx, tn_slices_warning(l.cx, &l.slices, &l.arena, &text));
    assert_int_equal(text.len, 0);
    lake_close(&l);
}

static void test_hudi_slices__which_blocks_count(void **state)
{
    tn_slice_instants instants;
    lake l = lake_open(6);

    (void)state;
    instant(&l, "001.deltacommit.inflight", "");
    instant(&l, "002.deltacommit", "{}");
    instant(&l, "003.deltacommit.requested", "");
    instant(&l, "004.commit", "{}");
    instant(&l, "005.clean", "");
    assert_ok(l.cx, load_as_of(&l, ""));
    assert_ok(l.cx, tn_slices_instants(l.cx, &l.timeline, (tn_str){0}, &l.arena, &instants));
    assert_false(instants.trusted || instants.exact);
    assert_int_equal(instants.count, 2);
    assert_true(tn_str_is(instants.instants[0], "002") && tn_str_is(instants.instants[1], "004"));
    assert_true(tn_str_is(instants.start, "001") && tn_str_is(instants.until, "004"));
    assert_ok(l.cx, tn_slices_instants(l.cx, &l.timeline, TN_STR("003"), &l.arena, &instants));
    assert_true(tn_str_is(instants.until, "003"));
    lake_close(&l);
    l = lake_open(9);
    instant(&l, "002_0021.deltacommit", "{}");
    assert_ok(l.cx, load_as_of(&l, ""));
    assert_ok(l.cx, tn_slices_instants(l.cx, &l.timeline, (tn_str){0}, &l.arena, &instants));
    assert_true(instants.trusted && tn_str_is(instants.until, "002"));
    lake_close(&l);
}

static void test_hudi_slices__old_versions_are_read_as_version_6(void **state)
{
    (void)state;
    for (int32_t version = 2; version <= 5; version++) {
        lake l = lake_open(version);

        partition(&l, "p");
        instant(&l, "20210101000000.deltacommit", "{}");
        instant(&l, "20210101000003.commit", "{}");
        instant(&l, "20210101000005.deltacommit.inflight", "");
        put(&l, "p/a_0-1-1_20210101000000.parquet", "x");
        put(&l, "p/a_0-1-1_20210101000003.parquet", "x");
        put(&l, "p/.a_20210101000000.log.1_0-1-2", "x");
        put(&l, "p/.a_20210101000003.log.1", "x"); /* very old: without a token */
        /* Instants of seconds do not compare with times of milliseconds: they stand for
         * themselves, whatever the ages of the files. */
        touch(&l, "20210101000000.deltacommit");
        touch(&l, "20210101000003.commit");
        assert_ok(l.cx, load_as_of(&l, ""));
        assert_int_equal(l.slices.slice_count, 1);
        assert_int_equal(l.slices.moved, 0);
        assert_true(tn_str_is(l.slices.slices[0].base.instant, "20210101000003"));
        assert_int_equal(l.slices.slices[0].log_count, 1);
        assert_true(tn_str_is(l.slices.slices[0].logs[0].name, ".a_20210101000003.log.1"));
        lake_close(&l);
    }
}

static void test_hudi_slices__of_a_range_of_version_6_older_files_may_be_gone(void **state)
{
    static const tn_str range[] = {{"001", 3}, {"002", 3}};
    tn_slices_options options = {
        .written_by = range, .written_by_count = 2, .as_of = TN_STR("002")};

    (void)state;
    for (int32_t version = 6; version <= 9; version += 3) {
        lake l = lake_open(version);

        partition(&l, "p");
        commit(&l, version == 6 ? "001.commit" : "001_0011.commit", "p", "a_0-1-1_001.parquet");
        commit(&l, version == 6 ? "002.commit" : "002_0021.commit", "p", "a_0-1-1_002.parquet");
        put(&l, "p/a_0-1-1_002.parquet", "x");
        put(&l, "p/b_0-1-1_000.parquet", "x"); /* archived, and of no range */
        assert_ok(l.cx, load_with(&l, &options));
        assert_int_equal(l.slices.whole, version == 9);
        assert_int_equal(l.slices.slice_count, version == 9 ? 2 : 1);
        commit(&l, version == 6 ? "002.commit" : "002_0021.commit", "p", "c_0-1-1_002.parquet");
        if (version == 6) {
            commit(&l, "003.commit", "p", "c_0-1-1_003.parquet");
            put(&l, "p/c_0-1-1_003.parquet", "x");
            assert_ok(l.cx, load_with(&l, &options));
            assert_true(l.slices.whole);
        }
        lake_close(&l);
    }
}

/* A rival that works between two calls of the reader: a commit and the cleaner after it, or the
 * rollback of the newest commit. */
typedef struct rival {
    lake *lake;
    uint64_t at;
    bool rolls_back, done;
} rival;

static void drop(lake *l, const char *path)
{
    assert_ok(l->cx, tn_store_remove(l->cx, l->store, tn_str_of(path)));
}

static void rival_works(void *arg, uint64_t call)
{
    rival *r = arg;
    lake *l = r->lake;

    if (call != r->at)
        return;
    r->done = true;
    if (r->rolls_back) {
        instant(l, "003.rollback.requested", "x");
        drop(l, "/t/.hoodie/timeline/002_0021.commit");
        drop(l, "/t/p/a_0-1-1_002.parquet");
        instant(l, "003_0031.rollback", "x");
        return;
    }
    put(l, "p/a_0-1-1_003.parquet", "x");
    commit(l, "003_0031.commit", "p", "a_0-1-1_003.parquet");
    instant(l, "004.clean.requested", "x");
    drop(l, "/t/p/a_0-1-1_002.parquet");
    clean(l, "004_0041.clean", "003");
}

/* What the reader gets is of before or after; a file that it then misses is called a conflict. */
static void read_beside(lake *l, tn_store *store, const rival *r)
{
    bool there;
    int rc;

    assert_ok(l->cx, tn_slices_snapshot(l->cx, store, TN_STR("/t"), &l->config, NULL, &l->arena,
                                        &l->timeline, &l->slices));
    assert_int_equal(l->slices.slice_count, 1);
    assert_ok(l->cx, tn_store_exists(l->cx, l->store, l->slices.slices[0].base.path, &there));
    if (there)
        return;
    assert_true(r->done);
    rc = tn_slices_gone(l->cx, l->store, TN_STR("/t"), &l->config, &l->timeline,
                        l->slices.slices[0].base.path);
    assert_int_equal(rc, TARN_E_CONFLICT);
}

static void test_hudi_slices__beside_services_the_old_or_the_new_state(void **state)
{
    (void)state;
    for (int rolls_back = 0; rolls_back <= 1; rolls_back++)
        for (uint64_t at = 1, last = false; !last; at++) {
            lake l = lake_open(9);
            rival r = {.lake = &l, .at = at, .rolls_back = rolls_back != 0};
            tn_fault_plan plan = {.hook = rival_works, .hook_arg = &r};
            tn_store *store;

            partition(&l, "p");
            commit(&l, "001_0011.commit", "p", "a_0-1-1_001.parquet");
            commit(&l, "002_0021.commit", "p", "a_0-1-1_002.parquet");
            put(&l, "p/a_0-1-1_001.parquet", "x");
            put(&l, "p/a_0-1-1_002.parquet", "x");
            assert_ok(l.cx, tn_store_fault_open(l.cx, l.store, &plan, &store));
            read_beside(&l, store, &r);
            last = !r.done;
            assert_true(at < 1000);
            tn_store_close(store);
            lake_close(&l);
        }
}
