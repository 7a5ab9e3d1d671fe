/* The arithmetic of doctor, and what it finds in a snapshot made by hand. */
#include "plan/plan_doctor.h"

#include "plan/plan_merge.h"
#include "unit/test.h"

/* 200 MB in one file of two blocks, and in 200 files of 1 MB. */
static void test_doctor__name_node_arithmetic(void **state)
{
    uint64_t blocks = 0;

    (void)state;
    assert_int_equal(tarn_doctor_blocks(200000000), 2);
    assert_int_equal(tarn_doctor_name_node_bytes(2), 900);
    for (int i = 0; i < 200; i++)
        blocks += tarn_doctor_blocks(1000000);
    assert_int_equal(tarn_doctor_name_node_bytes(blocks), 90000);
    assert_int_equal(tarn_doctor_blocks(128 << 20), 1);
    assert_int_equal(tarn_doctor_blocks((128 << 20) + 1), 2);
    assert_int_equal(tarn_doctor_blocks(0), 1);
}

/* `count` files of `bytes` in one partition. */
static void diagnose(tarn_cx *cx, tn_arena *arena, size_t count, uint64_t bytes,
                     tarn_doctor_report *out)
{
    tn_dir_file *files = tn_arena_array(cx, arena, count, sizeof *files);
    tn_dir_group *group = tn_arena_take(cx, arena, sizeof *group);
    tn_merge_plan *plan = tn_arena_take(cx, arena, sizeof *plan);
    tn_dir *dir = tn_arena_take(cx, arena, sizeof *dir);
    tn_element *elements = tn_arena_array(cx, arena, 2, sizeof *elements);
    tn_dir_schema *schema = tn_arena_take(cx, arena, sizeof *schema);
    tn_dir_keys *keys = tn_arena_take(cx, arena, sizeof *keys);
    tn_dir_partition *partition = tn_arena_take(cx, arena, sizeof *partition);
    tn_merge_options options = {.id = TN_STR("x"), .codec = TN_CODEC_KEEP};

    elements[0] = (tn_element){.name = TN_STR("schema"), .group = true, .children = 1};
    elements[0].converted = TN_CONVERTED_NONE;
    elements[1] = (tn_element){.name = TN_STR("id"),
                               .physical = TN_INT64,
                               .repetition = TN_OPTIONAL,
                               .converted = TN_CONVERTED_NONE};
    *schema = (tn_dir_schema){elements, 2, TN_STR("one")};
    *group = (tn_dir_group){
        .rows = 1000, .compressed_bytes = (int64_t)bytes, .uncompressed_bytes = (int64_t)bytes};
    for (size_t i = 0; i < count; i++) {
        files[i] = (tn_dir_file){.footer_seen = true,
                                 .rows = 1000,
                                 .groups = group,
                                 .group_count = 1,
                                 .codecs = 1u << TN_CODEC_ZSTD};
        files[i].stat.size_bytes = bytes;
        assert_ok(cx, tn_arena_print(cx, arena, &files[i].name, "part-%05zu.parquet", i));
    }
    *partition = (tn_dir_partition){.path = TN_STR("dt=2024-05-12"),
                                    .directory = TN_STR("/lake/it's/dt=2024-05-12"),
                                    .files = files,
                                    .file_count = count};
    *dir = (tn_dir){.root = TN_STR("/lake/it's"),
                    .work = TN_STR("/lake/.it's.tarn"),
                    .partitions = partition,
                    .partition_count = 1,
                    .schemas = schema,
                    .schema_count = 1,
                    .key_sets = keys,
                    .key_set_count = 1};
    assert_ok(cx, tn_plan_merge(cx, dir, &options, arena, plan));
    assert_ok(cx, tn_plan_doctor(cx,
                                 &(tn_doctor_input){.dir = dir,
                                                    .merge = plan,
                                                    .small_bytes = tn_plan_merge_small(&options),
                                                    .shown = TN_STR("/lake/it's")},
                                 arena, out));
}

static void test_doctor__fragments_are_found(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_doctor_report report;
    tn_arena arena = {0};

    (void)state;
    diagnose(cx, &arena, 200, 1000000, &report);
    assert_int_equal(report.name_node_bytes, 90000);
    assert_int_equal(report.map_tasks, 200);
    assert_int_equal(report.files_after, 2);
    assert_int_equal(report.name_node_bytes_after, 900);
    assert_int_equal(report.finding_count, 1);
    assert_string_equal(report.findings[0].kind, "small-files");
    assert_string_equal(report.findings[0].cure, "tarn merge '/lake/it'\\''s'");
    assert_int_equal(report.worst_count, 1);
    assert_int_equal(report.worst[0].files_after, 2);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_doctor__healthy_has_no_findings(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_doctor_report report;
    tn_arena arena = {0};

    (void)state;
    diagnose(cx, &arena, 3, 120 << 20, &report);
    assert_int_equal(report.finding_count, 0);
    assert_int_equal(report.small_files, 0);
    assert_int_equal(report.name_node_bytes, 3 * 450);
    diagnose(cx, &arena, 1, 5, &report);
    assert_int_equal(report.small_files, 1);
    assert_int_equal(report.finding_count, 0);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
