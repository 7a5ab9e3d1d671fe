#include "table/commit_metadata.h"

#include "unit/test.h"

typedef struct place {
    tarn_cx *cx;
    tn_arena arena;
    tn_buf bytes;
} place;

static place place_open(void)
{
    return (place){.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 3})};
}

static void place_close(place *p)
{
    tn_buf_clear(&p->bytes);
    tn_arena_clear(&p->arena);
    tarn_cx_close(p->cx);
}

static void test_commit_metadata__both_forms_say_the_same(void **state)
{
    tn_str ids[] = {TN_STR("old-0"), TN_STR("old-1")};
    tn_write_stat stats[] = {{.partition = TN_STR("dt=1"),
                              .file_id = TN_STR("f-0"),
                              .path = TN_STR("dt=1/f-0_0-1-1_002.parquet"),
                              .prev_instant = TN_STR("001"),
                              .writes = 9,
                              .inserts = 1,
                              .updates = 2,
                              .deletes = 3,
                              .errors = 4,
                              .bytes = 5000},
                             {.partition = TN_STR("dt=1"),
                              .file_id = TN_STR("g-0"),
                              .path = TN_STR("dt=1/g-0_1-1-1_002.parquet"),
                              .writes = 7,
                              .inserts = 7,
                              .bytes = 1},
                             {.partition = TN_STR(""),
                              .file_id = TN_STR("h-0"),
                              .path = TN_STR("h-0_2-1-1_002.parquet")}};
    tn_replaced replaced = {TN_STR("dt=1"), ids, 2};
    tn_property extra[] = {{TN_STR("schema"), TN_STR("{\"a\":\"\\\"\"}")},
                           {TN_STR("it's \xc3\xa9"), TN_STR("")}};
    tn_commit_metadata metadata = {.operation = TN_STR("INSERT_OVERWRITE"),
                                   .replace = true,
                                   .stats = stats,
                                   .stat_count = 3,
                                   .replaced = &replaced,
                                   .replaced_count = 1,
                                   .extra = extra,
                                   .extra_count = 2};
    place p = place_open();

    (void)state;
    for (int32_t layout = 1; layout <= 2; layout++) {
        tn_commit_metadata m;

        tn_buf_reset(&p.bytes);
        assert_ok(p.cx, tn_commit_metadata_print(p.cx, &metadata, layout, &p.bytes));
        assert_int_equal(p.bytes.data[0], layout == 1 ? '{' : 'O');
        assert_ok(p.cx,
                  tn_commit_metadata_parse(p.cx, tn_buf_view(&p.bytes), TN_STR("f"), &p.arena, &m));
        assert_int_equal(m.stat_count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_true(tn_str_equal(m.stats[i].partition, stats[i].partition));
            assert_true(tn_str_equal(m.stats[i].path, stats[i].path));
            assert_true(tn_str_equal(m.stats[i].file_id, stats[i].file_id));
            assert_true(tn_str_equal(m.stats[i].prev_instant, stats[i].prev_instant));
            assert_int_equal(m.stats[i].writes, stats[i].writes);
            assert_int_equal(m.stats[i].inserts, stats[i].inserts);
            assert_int_equal(m.stats[i].updates, stats[i].updates);
            assert_int_equal(m.stats[i].deletes, stats[i].deletes);
            assert_int_equal(m.stats[i].errors, stats[i].errors);
            assert_int_equal(m.stats[i].bytes, stats[i].bytes);
        }
        assert_true(m.replace && !m.compacted && tn_str_is(m.operation, "INSERT_OVERWRITE"));
        assert_int_equal(m.replaced_count, 1);
        assert_true(tn_str_is(m.replaced[0].file_ids[1], "old-1"));
        assert_true(tn_str_is(tn_commit_metadata_extra(&m, "schema"), "{\"a\":\"\\\"\"}"));
        assert_int_equal(tn_commit_metadata_extra(&m, "it's \xc3\xa9").len, 0);
        assert_null(tn_commit_metadata_extra(&m, "other").ptr);
    }
    place_close(&p);
}

static void test_commit_metadata__a_planned_profile_has_no_paths(void **state)
{
    tn_write_stat stats[] = {{.partition = TN_STR("p"), .file_id = TN_STR(""), .inserts = 12},
                             {.partition = TN_STR("p"),
                              .file_id = TN_STR("f-0"),
                              .prev_instant = TN_STR("001"),
                              .updates = 5}};
    tn_commit_metadata metadata = {.operation = TN_STR("UPSERT"), .stats = stats, .stat_count = 2};
    place p = place_open();

    (void)state;
    assert_ok(p.cx, tn_commit_metadata_print(p.cx, &metadata, 1, &p.bytes));
    tn_buf_u8(&p.bytes, 0);
    assert_non_null(strstr((char *)p.bytes.data, "\"path\":null"));
    assert_non_null(strstr((char *)p.bytes.data, "\"partitionPath\":null"));
    assert_non_null(strstr((char *)p.bytes.data, "\"prevCommit\":\"null\""));
    assert_null(strstr((char *)p.bytes.data, "partitionToReplaceFileIds"));
    place_close(&p);
}

static void test_commit_metadata__what_is_unknown_or_null_is_passed_over(void **state)
{
    static const char text[] =
        "{\"partitionToWriteStats\":{\"p\":[{\"fileId\":null,\"future\":{\"a\":[1,2]},"
        "\"numWrites\":null,\"path\":\"p/x\",\"recordsStats\":{\"val\":null}}]},"
        "\"extraMetadata\":null,\"operationType\":null,\"compacted\":null,\"more\":[[]]}";
    place p = place_open();
    tn_commit_metadata m;

    (void)state;
    assert_ok(p.cx, tn_commit_metadata_parse(p.cx, TN_STR(text), TN_STR("f"), &p.arena, &m));
    assert_int_equal(m.stat_count, 1);
    assert_true(tn_str_is(m.stats[0].path, "p/x") && m.stats[0].writes == 0);
    assert_int_equal(m.operation.len, 0);
    assert_false(m.replace);
    place_close(&p);
}

/* What only readers of merge-on-read tables and of change data ask for, in both forms. */
static void test_commit_metadata__slices_and_change_data(void **state)
{
    static const char text[] =
        "{\"partitionToWriteStats\":{\"p\":[{\"fileId\":\"f-0\",\"baseFile\":\"f-0_1_001.parquet\","
        "\"logFiles\":[\".f-0_001.log.1\",\".f-0_001.log.2\"],"
        "\"cdcStats\":{\"p/.f-0_002.log.1.cdc\":120}},"
        "{\"fileId\":\"g-0\",\"baseFile\":null,\"logFiles\":null,\"cdcStats\":null}]}}";
    static const char schema_text[] =
        "{\"type\":\"record\",\"name\":\"HoodieCommitMetadata\",\"fields\":[{\"name\":"
        "\"partitionToWriteStats\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"array\","
        "\"items\":{\"type\":\"record\",\"name\":\"S\",\"fields\":[{\"name\":\"baseFile\",\"type\":"
        "[\"null\",\"string\"]},{\"name\":\"logFiles\",\"type\":[\"null\",{\"type\":\"array\","
        "\"items\":\"string\"}]},{\"name\":\"cdcStats\",\"type\":[\"null\",{\"type\":\"map\","
        "\"values\":\"long\"}]}]}}}}]}";
    static const char datum[] = "\x02\x02p\x02\x02\x22"
                                "f-0_1_001.parquet"
                                "\x02\x04\x1c"
                                ".f-0_001.log.1\x1c"
                                ".f-0_001.log.2\0\x02\x02\x28"
                                "p/.f-0_002.log.1.cdc"
                                "\xf0\x01\0\0\0";
    place p = place_open();
    tn_avro_schema schema = {0};
    tn_avro_value record;
    tn_commit_metadata m[2];
    size_t used;

    (void)state;
    assert_ok(p.cx, tn_commit_metadata_parse(p.cx, TN_STR(text), TN_STR("f"), &p.arena, &m[0]));
    assert_int_equal(m[0].stat_count, 2);
    assert_int_equal(m[0].stats[1].base_file.len, 0);
    assert_int_equal(m[0].stats[1].log_file_count + m[0].stats[1].cdc_file_count, 0);
    assert_ok(p.cx, tn_avro_schema_parse(p.cx, TN_STR(schema_text), "s", &schema));
    assert_ok(p.cx, tn_avro_decode(p.cx, schema.root, TN_STR(datum), &p.arena, &used, &record));
    assert_ok(p.cx, tn_avro_file_write(p.cx, TN_STR(schema_text), schema.root, &record, &p.bytes));
    assert_ok(p.cx,
              tn_commit_metadata_parse(p.cx, tn_buf_view(&p.bytes), TN_STR("f"), &p.arena, &m[1]));
    for (size_t i = 0; i < 2; i++) {
        const tn_write_stat *stat = &m[i].stats[0];

        assert_true(tn_str_is(stat->base_file, "f-0_1_001.parquet"));
        assert_int_equal(stat->log_file_count, 2);
        assert_true(tn_str_is(stat->log_files[1], ".f-0_001.log.2"));
        assert_int_equal(stat->cdc_file_count, 1);
        assert_true(tn_str_is(stat->cdc_files[0], "p/.f-0_002.log.1.cdc"));
    }
    tn_avro_schema_clear(&schema);
    place_close(&p);
}

static void test_commit_metadata__damage_is_told_with_the_name(void **state)
{
    static const char *const texts[] = {"",
                                        "null",
                                        "{",
                                        "[]",
                                        "{\"partitionToWriteStats\":[]}",
                                        "{\"extraMetadata\":{\"a\":1}}",
                                        "Obj\x01",
                                        "Obj\x01zzz",
                                        "{} x"};
    place p = place_open();
    tn_commit_metadata m;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int rc =
            tn_commit_metadata_parse(p.cx, tn_str_of(texts[i]), TN_STR("the/file"), &p.arena, &m);

        assert_true(rc == TARN_E_CORRUPT || rc == TARN_E_CORRUPT);
        assert_non_null(strstr(tarn_cx_error(p.cx), "the/file"));
    }
    place_close(&p);
}

static void test_commit_metadata__rollbacks(void **state)
{
    tn_str files[] = {TN_STR("/t/p/f-0_0-1-1_007.parquet")};
    tn_rollback_request requests[] = {{TN_STR("p"), TN_STR("f-0"), files, 1},
                                      {TN_STR(""), TN_STR("g-0"), files, 1},
                                      {TN_STR("p"), TN_STR("h-0"), files, 1}};
    tn_rollback_plan plan = {TN_STR("007"), TN_STR("commit"), requests, 3}, again;
    const tn_avro_value *partitions, *done;
    tn_avro_file file = {0};
    place p = place_open();

    (void)state;
    assert_ok(p.cx, tn_rollback_plan_print(p.cx, &plan, &p.bytes));
    assert_ok(p.cx,
              tn_rollback_plan_parse(p.cx, tn_buf_view(&p.bytes), TN_STR("f"), &p.arena, &again));
    assert_true(tn_str_is(again.instant, "007") && tn_str_is(again.action, "commit"));
    assert_int_equal(again.request_count, 3);
    assert_true(tn_str_is(again.requests[0].partition, "p"));
    assert_true(tn_str_is(again.requests[1].file_id, "g-0"));
    assert_true(tn_str_equal(again.requests[2].files[0], files[0]));

    tn_buf_reset(&p.bytes);
    assert_ok(p.cx, tn_rollback_metadata_print(p.cx, TN_STR("008"), 12, &plan, &p.bytes));
    assert_ok(p.cx, tn_avro_file_read(p.cx, tn_buf_view(&p.bytes), TN_STR("f"), &file));
    assert_int_equal(file.record_count, 1);
    assert_int_equal(tn_avro_i64(tn_avro_member(&file.records[0], "totalFilesDeleted"), -1), 3);
    partitions = tn_avro_member(&file.records[0], "partitionMetadata");
    assert_int_equal(partitions->as.many.count, 2);
    done = tn_avro_member(tn_avro_member(partitions, "p"), "successDeleteFiles");
    assert_int_equal(done->as.many.count, 2);
    tn_avro_file_clear(&file);

    tn_buf_reset(&p.bytes);
    assert_ok(p.cx, tn_requested_replace_print(p.cx, TN_STR("DELETE_PARTITION"), &p.bytes));
    assert_ok(p.cx, tn_avro_file_read(p.cx, tn_buf_view(&p.bytes), TN_STR("f"), &file));
    assert_true(tn_str_is(tn_avro_text(tn_avro_member(&file.records[0], "operationType")),
                          "DELETE_PARTITION"));
    tn_avro_file_clear(&file);
    place_close(&p);
}
