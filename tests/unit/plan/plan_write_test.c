#include "plan/plan_write.h"

#include "batch/field.h"
#include "unit/test.h"

#define COLUMNS_MAX 4

typedef struct plan_case {
    const char *why;
    const char *paths[COLUMNS_MAX]; /* of partitions with a data file */
    const char *columns[COLUMNS_MAX];
    const char *by[COLUMNS_MAX];
    enum tn_write_mode mode;
    const char *want[COLUMNS_MAX]; /* levels of the plan */
    const char *text;              /* of the failure; NULL: none */
} plan_case;

static const plan_case cases[] = {
    {"a new directory", {NULL}, {"dt", "v"}, {"dt"}, TN_WRITE_APPEND, {"dt"}, NULL},
    {"as the schema spells it", {NULL}, {"Dt", "v"}, {"dt"}, TN_WRITE_APPEND, {"Dt"}, NULL},
    {"as the directory spells it", {"DT=1"}, {"dt", "v"}, {"dt"}, TN_WRITE_APPEND, {"DT"}, NULL},
    {"two levels",
     {"dt=1/city=a", "dt=2/city=b"},
     {"dt", "city", "v"},
     {"dt", "city"},
     TN_WRITE_OVERWRITE_PARTITIONS,
     {"dt", "city"},
     NULL},
    {"no partitions", {""}, {"v"}, {NULL}, TN_WRITE_APPEND, {NULL}, NULL},
    {"order counts",
     {"dt=1/city=a"},
     {"dt", "city", "v"},
     {"city", "dt"},
     TN_WRITE_APPEND,
     {NULL},
     "is partitioned by dt,city (see \"dt=1/city=a\")"},
    {"fewer", {"dt=1/city=a"}, {"dt", "city", "v"}, {"dt"}, TN_WRITE_APPEND, {NULL}, "dt,city"},
    {"none", {"dt=1"}, {"dt", "v"}, {NULL}, TN_WRITE_APPEND, {NULL}, "give --partition-by dt,"},
    {"more", {""}, {"dt", "v"}, {"dt"}, TN_WRITE_APPEND, {NULL}, "is not partitioned"},
    {"two layouts at once",
     {"dt=1", "x=1"},
     {"dt", "v"},
     {"dt"},
     TN_WRITE_OVERWRITE_PARTITIONS,
     {NULL},
     "is partitioned by x (see \"x=1\")"},
    {"two spellings", {"DT=1", "dt=2"}, {"dt", "v"}, {"dt"}, TN_WRITE_APPEND, {NULL}, "\"DT\""},
    {"levels without names",
     {"2024/05"},
     {"dt", "v"},
     {"dt"},
     TN_WRITE_APPEND,
     {NULL},
     "\"2024/05\" below it"},
    {"all is replaced", {"2024/05"}, {"dt", "v"}, {"dt"}, TN_WRITE_OVERWRITE, {"dt"}, NULL},
    {"missing", {NULL}, {"v"}, {"dt"}, TN_WRITE_APPEND, {NULL}, "no column \"dt\""},
    {"not one", {NULL}, {"Dt", "DT", "v"}, {"dt"}, TN_WRITE_APPEND, {NULL}, "no column \"dt\""},
    {"twice", {NULL}, {"dt", "v"}, {"dt", "DT"}, TN_WRITE_APPEND, {NULL}, "named twice"},
    {"nothing left", {NULL}, {"dt"}, {"dt"}, TN_WRITE_APPEND, {NULL}, "files would have none"},
    {"hidden", {NULL}, {".dt", "v"}, {".dt"}, TN_WRITE_APPEND, {NULL}, "rename the column"},
    {"no name", {NULL}, {"dt", "v"}, {""}, TN_WRITE_APPEND, {NULL}, "is empty"},
};

static size_t count_of(const char *const *list)
{
    size_t n = 0;

    while (n < COLUMNS_MAX && list[n] != NULL)
        n++;
    return n;
}

static void make_schema(tarn_cx *cx, const char *const *columns, const char *format,
                        struct ArrowSchema *out)
{
    size_t count = count_of(columns);

    assert_ok(cx, tn_field_init(cx, out, "+s", TN_STR(""), false, count));
    for (size_t i = 0; i < count; i++)
        assert_ok(cx, tn_field_init(cx, out->children[i], format, tn_str_of(columns[i]), true, 0));
}

static void run_case(tarn_cx *cx, const plan_case *c)
{
    tn_dir_file file = {.name = TN_STR("f.parquet")};
    tn_dir_partition partitions[COLUMNS_MAX] = {{.path = {NULL, 0}}};
    tn_dir dir = {.root = TN_STR("/d/t"), .work = TN_STR("/d/.t.tarn"), .partitions = partitions};
    tn_str by[COLUMNS_MAX];
    tn_write_options options = {.id = TN_STR("r1"), .mode = c->mode, .partition_columns = by};
    struct ArrowSchema schema = {0};
    tn_write_plan plan = {0};
    tn_arena arena = {0};

    make_schema(cx, c->columns, "u", &schema);
    options.schema = &schema;
    options.partition_column_count = count_of(c->by);
    for (size_t i = 0; i < options.partition_column_count; i++)
        by[i] = tn_str_of(c->by[i]);
    for (dir.partition_count = 0; dir.partition_count < count_of(c->paths); dir.partition_count++) {
        partitions[dir.partition_count].path = tn_str_of(c->paths[dir.partition_count]);
        partitions[dir.partition_count].files = &file;
        partitions[dir.partition_count].file_count = 1;
    }
    if (c->text != NULL) {
        assert_fails(cx, TARN_E_INVALID, c->text,
                     tn_plan_write(cx, &dir, (tn_str){0}, &options, &arena, &plan));
        assert_int_equal(plan.target_bytes, 0);
    } else {
        assert_ok(cx, tn_plan_write(cx, &dir, (tn_str){0}, &options, &arena, &plan));
        assert_int_equal(plan.partition_column_count, count_of(c->want));
        for (size_t i = 0; i < plan.partition_column_count; i++)
            if (!tn_str_is(plan.partition_columns[i], c->want[i]))
                fail_msg("%s: level %.*s", c->why, TN_STR_ARG(plan.partition_columns[i]));
        assert_true(tn_str_is(plan.staging, "/d/.t.tarn/r1/p00000"));
    }
    tn_arena_clear(&arena);
    tn_field_release(&schema);
}

static void test_plan_write__keeps_the_layout(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(cx, &cases[i]);
    tarn_cx_close(cx);
}

static void test_plan_write__has_defaults(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_write_options options = {.id = TN_STR("r1"), .mode = TN_WRITE_APPEND};
    tn_write_plan plan;
    tn_arena arena = {0};

    (void)state;
    assert_ok(cx, tn_plan_write(cx, NULL, TN_STR("/d/t"), &options, &arena, &plan));
    assert_true(plan.root_missing && !plan.work_inside);
    assert_true(tn_str_is(plan.root, "/d/t"));
    assert_true(tn_str_is(plan.staging, "/d/.t.tarn/r1/p00000"));
    assert_int_equal(plan.target_bytes, 128 << 20);
    assert_int_equal(plan.group_bytes, 32 << 20);
    assert_int_equal(plan.files_max, 100000);
    assert_int_equal(plan.partitions_max, 1000);
    options.target_bytes = 1 << 20;
    assert_ok(cx, tn_plan_write(cx, NULL, TN_STR("/d/t"), &options, &arena, &plan));
    assert_int_equal(plan.group_bytes, 1 << 20);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_plan_write__checks_what_goes_together(void **state)
{
    static const char *const columns[] = {"dt", "v", NULL, NULL};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_str v = TN_STR("V");
    tn_write_options options = {.id = TN_STR("r1"), .mode = TN_WRITE_APPEND};
    struct ArrowSchema text = {0}, binary = {0};
    tn_write_plan plan = {0};
    tn_arena arena = {0};

    (void)state;
    make_schema(cx, columns, "u", &text);
    make_schema(cx, columns, "z", &binary);
    options.schema = &text;
    options.files_per_partition = 4;
    assert_fails(cx, TARN_E_INVALID, "go together",
                 tn_plan_write(cx, NULL, TN_STR("/t"), &options, &arena, &plan));
    options.distribute_columns = &v;
    options.distribute_column_count = 1;
    assert_ok(cx, tn_plan_write(cx, NULL, TN_STR("/t"), &options, &arena, &plan));
    assert_true(tn_str_is(plan.distribute_columns[0], "v"));
    options.files_per_partition = 10001;
    assert_fails(cx, TARN_E_INVALID, "at most 10000",
                 tn_plan_write(cx, NULL, TN_STR("/t"), &options, &arena, &plan));
    options.files_per_partition = 4;
    options.schema = &binary;
    assert_fails(cx, TARN_E_UNSUPPORTED, "cannot distribute",
                 tn_plan_write(cx, NULL, TN_STR("/t"), &options, &arena, &plan));
    options.files_per_partition = 0;
    options.distribute_column_count = 0;
    options.partition_columns = &v;
    options.partition_column_count = 1;
    assert_fails(cx, TARN_E_UNSUPPORTED, "cannot name directories",
                 tn_plan_write(cx, NULL, TN_STR("/t"), &options, &arena, &plan));
    tn_field_release(&text);
    tn_field_release(&binary);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
