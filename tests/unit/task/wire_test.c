#include "task/wire.h"

#include "task/merge_plan.h"
#include "unit/test.h"

static tn_task example(void)
{
    static uint16_t map[] = {0, 2};
    static tn_leaf_source leaves[] = {
        {.leaf = 0, .donor = -1, .cast = TN_CAST_INT32_INT64},
        {.leaf = -1, .donor = 0, .donor_def = 1, .def_map = map, .def_map_count = 2}};
    static tn_leaf_source *mappings[] = {leaves};
    static tn_task_input inputs[] = {{.file = {.path = {"/t/a%b\xff\n.parquet", 14},
                                               .size_bytes = 10,
                                               .mtime_ns = -5,
                                               .inode = UINT64_MAX},
                                      .rows = 7}};
    static tn_segment segments[] = {{0, 0, 2, 5}};
    static tn_output_group groups[] = {{segments, 1, 5}};
    static tn_str names[] = {{"k\xfe", 2}, {"empty", 5}, {"none", 4}},
                  values[] = {{"v\0w", 3}, {"", 0}, {NULL, 0}};
    static tn_sort_key sort[] = {{.column = {"a.b", 3}, .descending = true}};
    static bool bloom[] = {false, true};
    static tn_leaf_intent intents[] = {
        {.column = {"a.b%\xff", 5}, .way = TN_WAY_REMAP, .why = {"cast", 4}},
        {.column = {"c", 1}, .way = TN_WAY_COPY}};

    return (tn_task){.number = 3,
                     .kind = TN_TASK_REWRITE,
                     .plan_id = TN_STR("p1"),
                     .rewrite = {.inputs = inputs,
                                 .input_count = 1,
                                 .schema = TN_STR("\1\2\xff"),
                                 .mappings = mappings,
                                 .mapping_count = 1,
                                 .leaf_count = 2,
                                 .groups = groups,
                                 .group_count = 1,
                                 .output = TN_STR("/.t.tarn/p1/p00000/x.new"),
                                 .key_names = names,
                                 .key_values = values,
                                 .key_count = 3,
                                 .created_by = TN_STR("me"),
                                 .codec = 6,
                                 .level = -2,
                                 .group_bytes = 1,
                                 .group_rows = 2,
                                 .sort = sort,
                                 .sort_count = 1,
                                 .hash = true,
                                 .bloom_leaves_any = true,
                                 .bloom_leaf = bloom,
                                 .crc = true,
                                 .index = true,
                                 .intents = intents}};
}

static void test_wire__task_round_trip(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_buf first = {0}, second = {0};
    tn_task task = example(), again;

    (void)state;
    assert_ok(cx, tn_task_write(cx, &task, &first));
    assert_null(memchr(first.data, '\n', first.len));
    assert_ok(cx, tn_task_parse(cx, tn_buf_view(&first), &arena, &again));
    assert_int_equal(again.rewrite.inputs[0].file.inode, UINT64_MAX);
    assert_int_equal(again.rewrite.key_values[0].len, 3);
    assert_null(again.rewrite.key_values[2].ptr);
    assert_non_null(again.rewrite.key_values[1].ptr);
    assert_int_equal(again.rewrite.groups[0].rows, 5);
    assert_true(again.rewrite.bloom_leaf[1] && !again.rewrite.bloom_leaf[0]);
    assert_true(tn_str_equal(again.rewrite.intents[0].column, task.rewrite.intents[0].column));
    assert_int_equal(again.rewrite.intents[0].way, TN_WAY_REMAP);
    assert_true(tn_str_is(again.rewrite.intents[0].why, "cast"));
    assert_int_equal(again.rewrite.intents[1].way, TN_WAY_COPY);
    assert_int_equal(again.rewrite.intents[1].why.len, 0);
    assert_ok(cx, tn_task_write(cx, &again, &second));
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_wire__every_truncation_is_refused(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf text = {0};
    tn_task task = example(), out;

    (void)state;
    assert_ok(cx, tn_task_write(cx, &task, &text));
    for (size_t len = 0; len < text.len; len++) {
        tn_arena arena = {0};

        assert_int_not_equal(tn_task_parse(cx, (tn_str){(char *)text.data, len}, &arena, &out),
                             TARN_OK);
        tn_arena_clear(&arena);
    }
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

/* Replaces `from` by `to` in a written task; the result must be refused with `part`. */
static void refuse(tarn_cx *cx, const char *from, const char *to, int status, const char *part)
{
    tn_arena arena = {0};
    tn_buf text = {0}, changed = {0};
    tn_task task = example(), out;
    char *hit;

    assert_ok(cx, tn_task_write(cx, &task, &text));
    tn_buf_u8(&text, '\0');
    hit = strstr((char *)text.data, from);
    assert_non_null(hit);
    tn_buf_add(&changed, text.data, (size_t)(hit - (char *)text.data));
    tn_buf_text(&changed, to);
    tn_buf_text(&changed, hit + strlen(from));
    assert_fails(cx, status, part, tn_task_parse(cx, tn_buf_view(&changed), &arena, &out));
    tn_buf_clear(&text);
    tn_buf_clear(&changed);
    tn_arena_clear(&arena);
}

static void test_wire__what_points_outside_is_refused(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    refuse(cx, "\"version\":2", "\"version\":3", TARN_E_UNSUPPORTED, "version 3");
    refuse(cx, "\"version\":2", "\"version\":1", TARN_E_UNSUPPORTED, "plan again");
    refuse(cx, "/.t.tarn/", "/t/", TARN_E_CORRUPT, "staging");
    refuse(cx, "/p1/", "/p2/", TARN_E_CORRUPT, "staging");
    refuse(cx, "/p00000/x.new", "/../x.new", TARN_E_CORRUPT, "staging");
    refuse(cx, "/p00000/x.new", "/p00000/x.parquet", TARN_E_CORRUPT, "staging");
    refuse(cx, "/p00000/x.new", "/p00000//x.new", TARN_E_CORRUPT, "staging");
    refuse(cx, "merge.task", "merge.tusk", TARN_E_CORRUPT, "merge.tusk");
    refuse(cx, "\"rewrite\"", "\"forget\"", TARN_E_UNSUPPORTED, "forget");
    refuse(cx, "\"mapping\":0", "\"mapping\":1", TARN_E_CORRUPT, "mapping");
    refuse(cx, "\"leaf_count\":2", "\"leaf_count\":3", TARN_E_CORRUPT, "leaves");
    refuse(cx, "[[[0,0,2,5]]]", "[[[1,0,2,5]]]", TARN_E_CORRUPT, "bounds");
    refuse(cx, "[[[0,0,2,5]]]", "[[[0,0,-1,5]]]", TARN_E_CORRUPT, "bounds");
    refuse(cx, "\"bloom_leaves\":[1]", "\"bloom_leaves\":[2]", TARN_E_CORRUPT, "bounds");
    refuse(cx, "\"codec\":6", "\"codec\":9", TARN_E_CORRUPT, "codec");
    refuse(cx, ",0,2]", ",0,200]", TARN_E_CORRUPT, "bounds");
    refuse(cx, "\"remap\"", "\"guess\"", TARN_E_CORRUPT, "guess");
    refuse(cx, "\"remap\"", "3", TARN_E_CORRUPT, "no way");
    refuse(cx, "\"cast\"", "null", TARN_E_CORRUPT, "reason");
    refuse(cx, ",[\"c\",\"copy\",\"\"]]", "]", TARN_E_CORRUPT, "leaves");
    refuse(cx, "\"c\",\"copy\",\"\"", "", TARN_E_CORRUPT, "");
    tarn_cx_close(cx);
}

static void test_wire__result_round_trip(void **state)
{
    tn_leaf_done leaves[2] = {{.chunks = {[TN_WAY_COPY] = 3, [TN_WAY_ENCODE] = 1},
                               .bytes = {[TN_WAY_COPY] = 30, [TN_WAY_ENCODE] = 10},
                               .why = {[TN_WAY_ENCODE] = {"it differs", 10}}}};
    tn_result result = {.number = 4,
                        .plan_id = TN_STR("p"),
                        .status = TARN_E_CORRUPT,
                        .text = TN_STR("why"),
                        .output = TN_STR("/o%"),
                        .output_bytes = 9,
                        .rows_in = 1,
                        .rows_out = 2,
                        .hashed = true,
                        .hash_in = UINT64_MAX,
                        .hash_out = 7,
                        .read_bytes = 8,
                        .row_groups = 3,
                        .leaves = leaves,
                        .leaf_count = 2,
                        .notes = TN_STR("one\ntwo")};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_buf text = {0};
    tn_result out;

    (void)state;
    assert_ok(cx, tn_result_write(cx, &result, &text));
    assert_ok(cx, tn_result_parse(cx, tn_buf_view(&text), &arena, &out));
    assert_int_equal(out.hash_in, UINT64_MAX);
    assert_int_equal(out.status, TARN_E_CORRUPT);
    assert_true(tn_str_is(out.output, "/o%"));
    assert_int_equal(out.rows_out, 2);
    assert_int_equal(out.leaf_count, 2);
    assert_memory_equal(out.leaves[0].chunks, leaves[0].chunks, sizeof leaves[0].chunks);
    assert_memory_equal(out.leaves[0].bytes, leaves[0].bytes, sizeof leaves[0].bytes);
    assert_true(tn_str_is(out.leaves[0].why[TN_WAY_ENCODE], "it differs"));
    assert_int_equal(out.leaves[0].why[TN_WAY_COPY].len, 0);
    assert_int_equal(out.leaves[1].chunks[TN_WAY_COPY], 0);
    assert_true(tn_str_is(out.notes, "one\ntwo"));
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_wire__a_result_with_ways_out_of_bounds_is_refused(void **state)
{
    static const struct {
        const char *columns, *want;
    } cases[] = {{"[[[\"fly\",1,1,\"\"]]]", "fly"},
                 {"[[[\"copy\",-1,1,\"\"]]]", "count"},
                 {"[[[\"copy\",1,1.5,\"\"]]]", "count"},
                 {"[[[\"copy\",1,1,7]]]", "reason"},
                 {"[7]", "list"},
                 {"[[[\"copy\",1]]]", "count"},
                 {"[[7,7,7,7,7,7]]", "list"}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_arena arena = {0};
        tn_result out;
        char line[512];

        snprintf(line, sizeof line,
                 "{\"kind\":\"merge.result\",\"version\":2,\"number\":0,\"plan\":\"p\","
                 "\"status\":0,\"text\":\"\",\"output\":\"/o\",\"output_bytes\":0,\"rows_in\":0,"
                 "\"rows_out\":0,\"hashed\":false,\"hash_in\":0,\"hash_out\":0,\"read_bytes\":0,"
                 "\"row_groups\":0,\"notes\":\"\",\"columns\":%s}",
                 cases[i].columns);
        assert_fails(cx, TARN_E_CORRUPT, cases[i].want,
                     tn_result_parse(cx, tn_str_of(line), &arena, &out));
        tn_arena_clear(&arena);
    }
    tarn_cx_close(cx);
}
