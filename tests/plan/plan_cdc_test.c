/* Where changes are to be had: a case a kind, order, and commits that change nothing. */
#include "unit/test.h"

#include "plan/plan_cdc.h"

#define LOG1 ".g-0_002.log.1_0-1-1"
#define LOG2 ".g-0_003.log.1_0-1-1"
#define LOG3 ".g-0_003.log.2_0-1-1"

typedef struct place {
    tarn_cx *cx;
    tn_arena arena;
    tn_cdc_change *changes;
    size_t count;
} place;

static place plan(const tn_commit_metadata *metadata, size_t count, bool images)
{
    place p = {.cx = tarn_cx_open(NULL)};
    tn_cdc_commit commits[4];

    for (size_t i = 0; i < count; i++)
        commits[i] = (tn_cdc_commit){i == 0 ? TN_STR("003") : TN_STR("004"), &metadata[i]};
    assert_ok(p.cx, tn_plan_cdc(p.cx, commits, count, images, &p.arena, &p.changes, &p.count));
    return p;
}

static void place_close(place *p)
{
    tn_arena_clear(&p->arena);
    tarn_cx_close(p->cx);
}

static tn_write_stat base_stat(int64_t writes, int64_t inserts, int64_t updates, int64_t deletes,
                               const char *prev)
{
    return (tn_write_stat){.partition = TN_STR("p"),
                           .file_id = TN_STR("f-0"),
                           .path = TN_STR("p/f-0_0-1-1_003.parquet"),
                           .prev_instant = tn_str_of(prev),
                           .writes = writes,
                           .inserts = inserts,
                           .updates = updates,
                           .deletes = deletes};
}

static void test_plan_cdc__base_files(void **state)
{
    static const struct {
        int64_t writes, inserts, updates, deletes;
        const char *prev;
        bool logged, images;
        enum tn_cdc_case kind; /* 0: no change */
    } cases[] = {
        {5, 5, 0, 0, NULL, false, true, TN_CDC_BASE_FILE_INSERT},
        {5, 5, 0, 0, "001", false, true, TN_CDC_BASE_FILE_INSERT},
        {5, 1, 2, 0, "001", false, true, TN_CDC_BASE_FILE_CHANGE},
        {5, 5, 0, 1, "001", false, true, TN_CDC_BASE_FILE_CHANGE},
        {4, 0, 0, 1, "001", false, true, TN_CDC_BASE_FILE_CHANGE},
        {0, 0, 0, 9, "001", false, true, TN_CDC_BASE_FILE_DELETE},
        {0, 0, 0, 0, NULL, false, true, 0},
        {5, 1, 2, 0, "001", true, true, TN_CDC_AS_IS},
        {0, 0, 0, 9, "001", true, true, TN_CDC_AS_IS},
        {5, 1, 2, 0, "001", true, false, TN_CDC_BASE_FILE_CHANGE},
        {0, 0, 0, 9, "001", true, false, TN_CDC_BASE_FILE_DELETE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_str cdc = TN_STR("p/.f-0_003.log.1_0-1-1.cdc");
        tn_write_stat stat = base_stat(cases[i].writes, cases[i].inserts, cases[i].updates,
                                       cases[i].deletes, cases[i].prev);
        tn_commit_metadata m = {.operation = TN_STR("UPSERT"), .stats = &stat, .stat_count = 1};
        place p;

        stat.cdc_files = &cdc;
        stat.cdc_file_count = cases[i].logged;
        p = plan(&m, 1, cases[i].images);
        if (p.count != (cases[i].kind != 0) || (p.count == 1 && p.changes[0].kind != cases[i].kind))
            fail_msg("case %zu: %zu changes, kind %d", i, p.count,
                     p.count == 1 ? (int)p.changes[0].kind : 0);
        if (p.count == 1) {
            assert_true(tn_str_is(p.changes[0].instant, "003"));
            assert_true(tn_str_equal(p.changes[0].prev_instant, tn_str_of(cases[i].prev)));
            assert_int_equal(p.changes[0].file_count, cases[i].kind == TN_CDC_AS_IS);
        }
        place_close(&p);
    }
}

/* The logs of one commit in one group are one change, and the slice before is without them. */
static void test_plan_cdc__logs(void **state)
{
    tn_str first[] = {TN_STR(LOG1), TN_STR(LOG2)};
    tn_str second[] = {TN_STR(LOG1), TN_STR(LOG2), TN_STR(LOG3), TN_STR(LOG1 ".cdc")};
    tn_write_stat stats[] = {{.partition = TN_STR("p"),
                              .file_id = TN_STR("g-0"),
                              .path = TN_STR("p/" LOG3),
                              .prev_instant = TN_STR("001"),
                              .base_file = TN_STR("g-0_0-1-1_001.parquet"),
                              .log_files = second,
                              .log_file_count = 4},
                             {.partition = TN_STR("p"),
                              .file_id = TN_STR("g-0"),
                              .path = TN_STR("p/" LOG2),
                              .prev_instant = TN_STR("001"),
                              .base_file = TN_STR("g-0_0-1-1_001.parquet"),
                              .log_files = first,
                              .log_file_count = 2},
                             {.partition = TN_STR("p"),
                              .file_id = TN_STR("h-0"),
                              .path = TN_STR("p/.h-0_003.log.1_0-1-1")}};
    tn_commit_metadata m = {.operation = TN_STR("UPSERT"), .stats = stats, .stat_count = 3};
    place p = plan(&m, 1, true);

    (void)state;
    assert_int_equal(p.count, 2);
    assert_int_equal(p.changes[0].kind, TN_CDC_LOG_FILE);
    assert_int_equal(p.changes[0].file_count, 2);
    assert_true(tn_str_is(p.changes[0].files[0], LOG2));
    assert_true(tn_str_is(p.changes[0].files[1], LOG3));
    assert_int_equal(p.changes[0].log_count, 1);
    assert_true(tn_str_is(p.changes[0].logs[0], LOG1));
    assert_true(tn_str_is(p.changes[0].base_file, "g-0_0-1-1_001.parquet"));
    assert_int_equal(p.changes[1].file_count, 1);
    assert_int_equal(p.changes[1].log_count, 0);
    assert_int_equal(p.changes[1].base_file.len, 0);
    place_close(&p);
}

/* What is replaced comes before what is new; commits in their order. */
static void test_plan_cdc__order(void **state)
{
    tn_str ids[] = {TN_STR("z-0"), TN_STR("a-0")}, more[] = {TN_STR("x-0")};
    tn_replaced replaced[] = {
        {TN_STR("q"), ids, 2}, {TN_STR("p"), more, 1}, {TN_STR("r"), NULL, 0}};
    tn_write_stat stats[] = {base_stat(1, 1, 0, 0, NULL), base_stat(1, 1, 0, 0, NULL)};
    tn_commit_metadata m[] = {{.operation = TN_STR("INSERT_OVERWRITE"),
                               .replace = true,
                               .stats = stats,
                               .stat_count = 2,
                               .replaced = replaced,
                               .replaced_count = 3},
                              {.operation = TN_STR("DELETE_PARTITION"),
                               .replace = true,
                               .replaced = replaced,
                               .replaced_count = 1}};
    static const char *const want[] = {"003 p x-0", "003 q a-0", "003 q z-0", "003 o f-0",
                                       "003 p f-0", "004 q a-0", "004 q z-0"};
    place p;

    (void)state;
    stats[1].partition = TN_STR("o");
    p = plan(m, 2, true);
    assert_int_equal(p.count, 7);
    for (size_t i = 0; i < 7; i++) {
        char text[64];

        snprintf(text, sizeof text, "%.*s %.*s %.*s", TN_STR_ARG(p.changes[i].instant),
                 TN_STR_ARG(p.changes[i].partition), TN_STR_ARG(p.changes[i].file_id));
        assert_string_equal(text, want[i]);
        assert_int_equal(p.changes[i].kind == TN_CDC_REPLACE_COMMIT, i < 3 || i > 4);
    }
    place_close(&p);
}

static void test_plan_cdc__rows_that_only_move(void **state)
{
    static const char *const names[] = {"COMPACT", "CLUSTER", "LOG_COMPACT", "ALTER_SCHEMA"};
    tn_write_stat stat = base_stat(5, 1, 2, 0, "001");
    tn_str ids[] = {TN_STR("z-0")};
    tn_replaced replaced = {TN_STR("q"), ids, 1};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tn_commit_metadata m = {.operation = tn_str_of(names[i]),
                                .stats = &stat,
                                .stat_count = 1,
                                .replaced = &replaced,
                                .replaced_count = 1};
        place p = plan(&m, 1, true);

        assert_int_equal(p.count, 0);
        place_close(&p);
    }
}
