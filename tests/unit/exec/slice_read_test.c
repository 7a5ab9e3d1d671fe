/* Rules of merging, a case each; what Hudi 1.2.0 does is in its BufferedRecordMergerFactory. */
#include "unit/exec/slice_world.h"

typedef struct slice_case {
    const char *name;
    enum tn_merge_mode mode;
    const char *base, *logs, *want;
} slice_case;

static void run(const slice_case *cases, size_t count, const tn_slice_rules *rules)
{
    for (size_t i = 0; i < count; i++) {
        slice_world w;

        print_message("    %s\n", cases[i].name);
        slice_open(&w);
        if (rules != NULL)
            w.rules = *rules;
        w.rules.mode = cases[i].mode;
        if (rules == NULL || w.rules.ordering == NULL) {
            static const tn_str ordering[1] = {{"ts", 2}};

            w.rules.ordering = ordering;
            w.rules.ordering_count = 1;
            w.rules.meta_fields = true;
        }
        slice_make(&w, cases[i].base, cases[i].logs);
        slice_expect(&w, cases[i].want);
        slice_close(&w);
    }
}

#define COMMIT TN_MERGE_COMMIT_TIME
#define EVENT  TN_MERGE_EVENT_TIME

static void test_slice_read__commit_time(void **state)
{
    static const slice_case cases[] = {
        {"an update, an insert, a row left alone", COMMIT, "a/5/x b/5/y", "R 001 a/1/z c/2/w",
         "a/1/z/-@001 b/5/y/-@000 c/2/w/-@001"},
        {"the later of two logs", COMMIT, "a/5/x", "R 001 a/9/y | R 002 a/1/z", "a/1/z/-@002"},
        {"the later of two rows of a block", COMMIT, NULL, "R 001 a/9/y a/1/z", "a/1/z/-@001"},
        {"a delete", COMMIT, "a/5/x b/5/y", "D 001 a@i0", "b/5/y/-@000"},
        {"a delete with a low value", COMMIT, "a/5/x", "D 001 a@l1", ""},
        {"an insert after a delete", COMMIT, "a/5/x", "D 001 a@i0 | R 002 a/1/y", "a/1/y/-@002"},
        {"a delete after an insert", COMMIT, NULL, "R 001 a/1/y; D 001 a@i0", ""},
        {"a delete of what is nowhere", COMMIT, "a/5/x", "D 001 b@i0", "a/5/x/-@000"},
        {"logs alone", COMMIT, NULL, "R 001 b/1/y a/1/x", "a/1/x/-@001 b/1/y/-@001"},
        {"no rows at all", COMMIT, NULL, "D 001 a@i0", ""},
        {"no deletes in a block of them", COMMIT, "a/5/x", "D 001", "a/5/x/-@000"},
        {"_hoodie_is_deleted", COMMIT, "a/5/x b/5/y", "R 001 a/6/-/-/true b/6/z/-/false",
         "b/6/z/-@001"},
        {"_hoodie_operation", COMMIT, "a/5/x b/5/y c/5/z",
         "R 001 a/6/-/-/-/D b/6/-/-/-/-U c/6/w/-/-/U", "c/6/w/-@001"},
        {"a base row that says it is deleted stays", COMMIT, "a/5/x/-/true", "R 001 b/1/y",
         "a/5/x/-@000 b/1/y/-@001"},
        {"into the first of base rows with one key", COMMIT, "a/5/x a/6/y", "R 001 a/7/z",
         "a/6/y/-@000 a/7/z/-@001"},
        {"a Parquet block", COMMIT, "a/5/x b/5/y", "Q 001 a/1/z c/2/w; D 001 b@i0",
         "a/1/z/-@001 c/2/w/-@001"},
        {"Avro and Parquet blocks in turn", COMMIT, "a/5/x",
         "R 001 a/1/p; Q 001 a/1/q b/1/q; R 001 a/1/r", "a/1/r/-@001 b/1/q/-@001"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, NULL);
}

static void test_slice_read__event_time(void **state)
{
    static const slice_case cases[] = {
        {"a greater value", EVENT, "a/5/x", "R 001 a/6/y", "a/6/y/-@001"},
        {"a smaller value", EVENT, "a/5/x", "R 001 a/4/y", "a/5/x/-@000"},
        {"an equal value: the later", EVENT, "a/5/x", "R 001 a/5/y", "a/5/y/-@001"},
        {"an equal value among logs: the later", EVENT, NULL, "R 001 a/5/x | R 002 a/5/y",
         "a/5/y/-@002"},
        {"the greater of logs, whatever the order", EVENT, "a/5/x", "R 001 a/9/y | R 002 a/7/z",
         "a/9/y/-@001"},
        {"a negative value", EVENT, "a/-5/x b/-5/x", "R 001 a/-6/y b/-4/y",
         "a/-5/x/-@000 b/-4/y/-@001"},
        {"a delete by commit time", EVENT, "a/5/x", "D 001 a@i0", ""},
        {"a delete without a value", EVENT, "a/5/x", "D 001 a@n", ""},
        {"a delete by commit time after a greater row", EVENT, "a/5/x", "R 001 a/9/y | D 002 a@i0",
         ""},
        {"a delete with a smaller value", EVENT, "a/5/x", "D 001 a@l4", "a/5/x/-@000"},
        {"a delete with an equal value", EVENT, "a/5/x", "D 001 a@l5", ""},
        {"a delete with the long 0 is an ordinary value", EVENT, "a/5/x", "D 001 a@l0",
         "a/5/x/-@000"},
        {"a delete that loses among logs", EVENT, "a/1/x", "R 001 a/9/y | D 002 a@l8",
         "a/9/y/-@001"},
        {"a delete that wins among logs", EVENT, "a/1/x", "R 001 a/9/y | D 002 a@l9", ""},
        {"a delete of another class wins", EVENT, "a/5/x", "D 001 a@i4", ""},
        {"a delete of another class wins among logs", EVENT, "a/1/x", "R 001 a/9/y | D 002 a@szz",
         ""},
        {"a row after a delete with a greater value loses", EVENT, "a/1/x",
         "D 001 a@l9 | R 002 a/8/y", ""},
        {"a row after a delete with an equal value", EVENT, "a/1/x", "D 001 a@l8 | R 002 a/8/y",
         "a/8/y/-@002"},
        {"a row after a delete by commit time", EVENT, NULL, "D 001 a@i0 | R 002 a/-8/y",
         "a/-8/y/-@002"},
        {"two steps: the delete is gone before the base is met", EVENT, "a/5/x",
         "D 001 a@i0 | R 002 a/3/y", "a/5/x/-@000"},
        {"a delete by commit time is not replaced by one with a value", EVENT, "a/5/x",
         "D 001 a@i0 | D 002 a@l1", ""},
        {"_hoodie_is_deleted with a smaller value", EVENT, "a/5/x", "R 001 a/4/-/-/true",
         "a/5/x/-@000"},
        {"_hoodie_is_deleted with a greater value", EVENT, "a/5/x", "R 001 a/6/-/-/true", ""},
        {"_hoodie_is_deleted without a value: by commit time", EVENT, "a/5/x", "R 001 a/-/-/-/true",
         ""},
        {"a late delete, then a later row", EVENT, "a/101/x", "D 001 a@l97 | R 002 a/96/y",
         "a/101/x/-@000"},
        {"a row without a value", EVENT, "a/5/x b/-/x", "R 001 a/-/y b/-/y",
         "a/5/x/-@000 b/-/y/-@001"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, NULL);
}

static void test_slice_read__ordering_by_int(void **state)
{
    static const tn_str ordering[1] = {{"n", 1}};
    static const tn_slice_rules rules = {
        .ordering = ordering, .ordering_count = 1, .meta_fields = true};
    static const slice_case cases[] = {
        {"null is 0", EVENT, "a/-/x/-1 b/-/x/1", "R 001 a/-/y/- b/-/y/-",
         "a/-/y/-@001 b/-/x/1@000"},
        {"a deleted row with 0 goes by commit time", EVENT, "a/-/x/7", "R 001 a/-/-/0/true", ""},
        {"a delete with an int", EVENT, "a/-/x/7 b/-/x/7", "D 001 a@i6 b@i7", "a/-/x/7@000"},
        {"a delete with a long is of another class", EVENT, "a/-/x/7", "D 001 a@l6", ""},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__ordering_by_text(void **state)
{
    static const tn_str ordering[1] = {{"txt", 3}};
    static const tn_slice_rules rules = {
        .ordering = ordering, .ordering_count = 1, .meta_fields = true};
    static const slice_case cases[] = {
        {"texts by bytes", EVENT, "a/1/bb b/1/bb", "R 001 a/2/b b/2/c", "a/1/bb/-@000 b/2/c/-@001"},
        {"among logs", EVENT, NULL, "R 001 a/1/bb | R 002 a/2/b | R 003 a/3/bb", "a/3/bb/-@003"},
        {"a delete by commit time", EVENT, "a/1/zz", "R 001 a/2/zzz | D 002 a@i0", ""},
        {"a delete with a text", EVENT, "a/1/m b/1/m", "D 001 a@sl b@sn", "a/1/m/-@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__several_ordering_columns(void **state)
{
    static const tn_str ordering[2] = {{"ts", 2}, {"n", 1}};
    static const tn_slice_rules rules = {
        .ordering = ordering, .ordering_count = 2, .meta_fields = true};
    static const slice_case cases[] = {
        {"the second decides between equals", EVENT, "a/5/x/3 b/5/x/3", "R 001 a/5/y/2 b/5/y/4",
         "a/5/x/3@000 b/5/y/4@001"},
        {"the first comes first", EVENT, "a/5/x/3", "R 001 a/6/y/0", "a/6/y/0@001"},
        {"a delete by commit time", EVENT, "a/5/x/3", "D 001 a@i0", ""},
        {"a delete with one value is of another class", EVENT, "a/5/x/3", "D 001 a@l1", ""},
        {"a deleted row with zeros is an ordinary value", EVENT, "a/5/x/3", "R 001 a/0/-/0/true",
         "a/5/x/3@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__delete_marker(void **state)
{
    static const tn_slice_rules rules = {.delete_field = {"n", 1}, .delete_marker = {"9", 1}};
    static const slice_case cases[] = {
        {"a number as the marker", COMMIT, "a/5/x/1 b/5/y/1 c/5/z/9",
         "R 001 a/6/-/9 b/6/w/8 d/6/-/9", "b/6/w/8@001 c/5/z/9@000"},
        {"by event time", EVENT, "a/5/x/1 b/5/y/1", "R 001 a/6/-/9 b/4/w/9", "b/5/y/1@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__partial_updates(void **state)
{
    static const slice_case cases[] = {
        {"columns named change, others stay", COMMIT, "a/5/x/1 b/5/y/2", "U 001 txt a/-/z",
         "a/5/z/1@001 b/5/y/2@000"},
        {"a null that is named is a value", COMMIT, "a/5/x/1", "U 001 txt a/-/-", "a/5/-/1@001"},
        {"two of different columns", COMMIT, "a/5/x/1", "U 001 txt a/-/y | U 002 n a/-/-/7",
         "a/5/y/7@002"},
        {"two of the same column", COMMIT, "a/5/x/1", "U 001 txt a/-/y | U 002 txt a/-/z",
         "a/5/z/1@002"},
        {"over a whole row of a log", COMMIT, "a/5/x/1", "R 001 a/6/y/2 | U 002 n a/-/-/3",
         "a/6/y/3@002"},
        {"under a whole row of a log", COMMIT, "a/5/x/1", "U 001 n a/-/-/3 | R 002 a/6/y/2",
         "a/6/y/2@002"},
        {"a delete over it", COMMIT, "a/5/x/1", "U 001 n a/-/-/3; D 001 a@i0", ""},
        {"after a delete, which is gone before the base is met", COMMIT, "a/5/x/1",
         "D 001 a@i0 | U 002 n a/-/-/3 | U 003 txt a/-/q", "a/5/q/3@003"},
        {"over a row of logs alone", COMMIT, NULL, "R 001 a/5/x/1 | U 002 txt a/-/y",
         "a/5/y/1@002"},
        {"of a row that is nowhere", COMMIT, "b/5/x/1", "U 001 txt a/-/y",
         "a/-/y/-@001 b/5/x/1@000"},
        {"by event time: a late one changes nothing that is there", EVENT, "a/5/x/1",
         "U 001 ts,txt a/4/z", "a/5/x/1@000"},
        {"by event time: one in time", EVENT, "a/5/x/1", "U 001 ts,txt a/6/z", "a/6/z/1@001"},
        {"by event time: a late one still fills", EVENT, "a/5/x/1",
         "U 001 ts,txt a/9/y | U 002 ts,n a/7/-/3", "a/9/y/3@001"},
        {"by event time: a late one fills no more than gaps", EVENT, "a/5/x/1",
         "U 001 ts,txt a/9/y | U 002 ts,txt,n a/7/z/3", "a/9/y/3@001"},
        {"by event time, without its value: as a commit", EVENT, "a/5/x/1",
         "U 001 txt a/-/y | R 002 a/4/z/2", "a/5/x/1@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, NULL);
}

static void test_slice_read__ignore_defaults(void **state)
{
    static const tn_slice_rules rules = {.partial = TN_PARTIAL_IGNORE_DEFAULTS};
    static const slice_case cases[] = {
        {"nulls keep what was", COMMIT, "a/5/x/1", "R 001 a/6/-/2", "a/6/x/2@001"},
        {"through several versions", COMMIT, "a/5/x/1", "R 001 a/6/-/2 | R 002 a/-/-/-",
         "a/6/x/2@002"},
        {"among logs alone", COMMIT, NULL, "R 001 a/6/y/- | R 002 a/-/-/3", "a/6/y/3@002"},
        {"not through a delete", COMMIT, NULL, "R 001 a/6/y/- | D 002 a@i0 | R 003 a/-/-/3",
         "a/-/-/3@003"},
        {"nothing anywhere", COMMIT, "a/5/-/1", "R 001 a/6/-/2", "a/6/-/2@001"},
        {"by event time: the base on top", EVENT, "a/5/-/1", "R 001 a/4/y/2", "a/5/y/1@000"},
        {"by event time: late among logs", EVENT, "a/1/x/1", "R 001 a/9/-/2 | R 002 a/8/z/3",
         "a/9/z/2@001"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__ignore_other_defaults(void **state)
{
    slice_world w;

    (void)state;
    slice_open(&w);
    w.rules.partial = TN_PARTIAL_IGNORE_DEFAULTS;
    w.parts.avro =
        TN_STR("{\"type\":\"record\",\"name\":\"r\",\"fields\":["
               "{\"name\":\"n\",\"type\":[\"int\",\"null\"],\"default\":7},"
               "{\"name\":\"ts\",\"type\":[\"long\",\"null\"],\"default\":1000},"
               "{\"name\":\"txt\",\"type\":[\"string\",\"null\"],\"default\":\"none\"}]}");
    slice_make(&w, "a/5/x/1 b/5/x/1", "R 001 a/1000/none/7 b/-/-/-");
    /* Java shares the object of 7, but not of 1000 and of texts; null is no default here. */
    slice_expect(&w, "a/1000/none/1@001 b/-/-/-@001");
    slice_close(&w);
}

static void test_slice_read__fill_unavailable(void **state)
{
    static const tn_slice_rules rules = {.partial = TN_PARTIAL_FILL_UNAVAILABLE,
                                         .unavailable = {"__gone", 6}};
    static const slice_case cases[] = {
        {"the marker keeps what was", COMMIT, "a/5/x/1", "R 001 a/6/__gone/2", "a/6/x/2@001"},
        {"a null is a value", COMMIT, "a/5/x/1", "R 001 a/6/-/2", "a/6/-/2@001"},
        {"nothing but the marker", COMMIT, NULL, "R 001 a/6/__gone/2", "a/6/__gone/2@001"},
        {"by event time: the base has the marker", EVENT, "a/5/__gone/1", "R 001 a/4/y/2",
         "a/5/y/1@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__payload_that_ignores_nulls(void **state)
{
    static const tn_slice_rules rules = {.partial = TN_PARTIAL_IGNORE_NULLS,
                                         .deletes_always = true};
    static const slice_case cases[] = {
        {"a late row gives the commit, though the base is on top", EVENT, "a/5/x/1",
         "R 001 a/4/y/2", "a/5/x/1@001"},
        {"a late row fills, and gives the commit", EVENT, NULL,
         "R 001 a/9/-/2 | R 002 a/8/z/3 | R 003 a/7/w/4", "a/9/z/2@003"},
        {"a greater value after a late row", EVENT, "a/1/x/1", "R 001 a/8/y/- | R 002 a/9/-/-",
         "a/9/y/1@002"},
        {"two rows of a block", EVENT, NULL, "R 001 a/9/-/2 | R 002 b/1/q/1 a/8/z/3",
         "a/9/z/2@002 b/1/q/1@002"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

static void test_slice_read__deletes_that_always_count(void **state)
{
    static const tn_slice_rules rules = {.deletes_always = true};
    static const slice_case cases[] = {
        {"with a smaller value", EVENT, "a/5/x", "D 001 a@l4", ""},
        {"with a smaller value among logs", EVENT, "a/1/x", "R 001 a/9/y | D 002 a@l8", ""},
        {"a row that is a delete", EVENT, "a/5/x", "R 001 a/4/-/-/true", ""},
        {"a row after one with a greater value", EVENT, NULL, "D 001 a@l9 | R 002 a/8/y",
         "a/8/y/-@002"},
        {"which then meets the base file", EVENT, "a/10/x", "D 001 a@l20 | R 002 a/8/y",
         "a/10/x/-@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, &rules);
}

/* Rows that a damaged log lost do not go without a word. */
static void test_slice_read__lost_blocks(void **state)
{
    char text[512];
    struct ArrowArray batch = {0};
    tn_exec_read *reader = NULL;
    tn_buf lines = {0};
    slice_world w;

    (void)state;
    slice_open(&w);
    slice_make(&w, "a/5/x", "R 001 a/6/y;! | !");
    assert_ok(w.cx, tn_exec_read_open(w.cx, w.store, &w.task, &reader));
    assert_ok(w.cx, tn_exec_read_next(w.cx, reader, &batch));
    assert_true(tn_exec_read_note(reader, text, sizeof text));
    assert_non_null(strstr(text, "a torn block"));
    assert_non_null(strstr(text, "and others"));
    tn_array_release(&batch);
    tn_exec_read_close(reader);
    slice_expect(&w, "a/6/y/-@001");
    slice_add_log(&w, TN_STR("/t/.f_000.log.9_0-0-0"), TN_STR("no block"));
    assert_fails(w.cx, TARN_E_CORRUPT, "begins here: restore the log from a copy",
                 slice_read_lines(&w, &lines));
    w.parts.log_count--;
    w.logs[1].size_bytes++;
    assert_fails(w.cx, TARN_E_CORRUPT, "the log is cut off", slice_read_lines(&w, &lines));
    tn_buf_clear(&lines);
    slice_close(&w);
}

static void test_slice_read__which_blocks(void **state)
{
    static const slice_case cases[] = {
        {"a rollback takes what came before it", COMMIT, "a/5/x",
         "R 001 a/6/y; R 002 a/7/z; X 003 002", "a/6/y/-@001"},
        {"across logs", COMMIT, "a/5/x", "R 001 a/6/y | X 003 001 | R 002 b/1/z",
         "a/5/x/-@000 b/1/z/-@002"},
        {"what comes after it counts", COMMIT, "a/5/x", "R 001 a/6/y; X 003 001; R 001 a/8/w",
         "a/8/w/-@001"},
        {"of what is not there", COMMIT, "a/5/x", "X 003 009; R 001 a/6/y", "a/6/y/-@001"},
        {"a torn block between sound ones", COMMIT, "a/5/x", "R 001 a/6/y;!;R 002 b/1/z",
         "a/6/y/-@001 b/1/z/-@002"},
        {"a torn block alone", COMMIT, "a/5/x", "!", "a/5/x/-@000"},
        {"a torn block alone, without a base file", COMMIT, NULL, "!", ""},
        {"blocks of one instant stand together", COMMIT, NULL,
         "R 001 a/1/x; R 002 a/2/y; R 001 a/3/z", "a/2/y/-@002"},
        {"a log compaction replaces its instants", COMMIT, "a/5/x",
         "R 001 a/1/p b/1/p | R 002 a/2/q | C 003 002,001 a/3/r | R 004 c/4/s",
         "a/3/r/-@003 c/4/s/-@004"},
        {"it stands where its latest instant stood", COMMIT, NULL,
         "R 001 a/1/p | R 002 b/2/q | R 003 a/3/r | C 004 001,002 a/4/s b/4/s",
         "a/3/r/-@003 b/4/s/-@004"},
        {"a compaction of compactions", COMMIT, NULL,
         "R 001 a/1/p | R 002 a/2/q | C 003 001,002 a/3/r | R 004 b/4/s | C 005 003,004 a/5/t",
         "a/5/t/-@005"},
        {"a compaction that was rolled back", COMMIT, NULL,
         "R 001 a/1/p | R 002 b/2/q | C 003 002,001 a/3/r | X 004 003", "a/1/p/-@001 b/2/q/-@002"},
        {"a compaction of what is not there", COMMIT, "a/5/x", "C 003 001,002 a/3/r",
         "a/5/x/-@000"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, NULL);
}

static void test_slice_read__which_instants(void **state)
{
    static const tn_str two[] = {{"002", 3}, {"004", 3}};
    static const struct {
        const char *name;
        tn_slice_instants instants;
        const char *want;
    } cases[] = {
        {"all", {.trusted = true}, "a/4/s/-@004 b/3/r/-@003 c/1/p/-@001"},
        {"up to", {.trusted = true, .until = {"002", 3}}, "a/2/q/-@002 c/1/p/-@001"},
        {"listed", {.instants = two, .count = 2}, "a/4/s/-@004"},
        {"listed, and before the start",
         {.instants = two, .count = 2, .start = {"002", 3}},
         "a/4/s/-@004 c/1/p/-@001"},
        {"listed exactly",
         {.instants = two, .count = 2, .start = {"002", 3}, .exact = true},
         "a/4/s/-@004"},
        {"listed, up to", {.instants = two, .count = 2, .until = {"003", 3}}, "a/2/q/-@002"},
        {"none", {.exact = true}, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slice_world w;

        print_message("    %s\n", cases[i].name);
        slice_open(&w);
        w.instants = cases[i].instants;
        slice_make(&w, NULL, "R 001 c/1/p; R 002 a/2/q; R 003 b/3/r; R 004 a/4/s");
        slice_expect(&w, cases[i].want);
        slice_close(&w);
    }
}

static void test_slice_read__keys_of_columns(void **state)
{
    static const tn_str keys[2] = {{"txt", 3}, {"n", 1}};
    slice_world w;

    (void)state;
    for (size_t count = 1; count <= 2; count++) {
        slice_open(&w);
        w.rules.meta_fields = false;
        w.rules.keys = keys;
        w.rules.key_count = count;
        slice_make(&w, "-/1/x/1 -/2/y/2 -/3/z/3",
                   count == 1 ? "R 001 -/5/x/1; D 002 z@i0" : "R 001 -/5/x/1; D 002 txt:z,n:3@i0");
        slice_expect(&w, "-/2/y/2@000 -/5/x/1@001");
        slice_close(&w);
    }
}

static void test_slice_read__order_of_rows(void **state)
{
    tn_buf lines = {0};
    slice_world w;

    (void)state;
    slice_open(&w);
    slice_make(&w, "d/1/x c/1/x b/1/x a/1/x", "R 001 b/2/y f/2/y | R 002 d/3/z e/3/z");
    assert_ok(w.cx, slice_read_lines(&w, &lines));
    assert_string_equal((char *)lines.data, "c/1/x/-@000\na/1/x/-@000\nb/2/y/-@001\nf/2/y/-@001\n"
                                            "d/3/z/-@002\ne/3/z/-@002\n");
    assert_int_equal(w.counts.files, 3);
    assert_int_equal(w.counts.rows_out, 6);
    tn_buf_clear(&lines);
    slice_close(&w);
}

/* The filter sees merged rows alone: a base row that it keeps may be replaced by one that it drops,
 * and the other way round. */
static void test_slice_read__filter(void **state)
{
    (void)state;
    for (int event = 0; event < 2; event++) {
        const tn_predicate *where = NULL;
        tn_filter filter = {0};
        tn_arena arena = {0};
        slice_world w;

        slice_open(&w);
        w.rules.mode = event ? EVENT : COMMIT;
        slice_make(&w, "a/5/x/1 b/5/x/9 c/5/x/1 d/9/x/1", "R 001 a/6/y/9 b/6/y/1 d/6/y/2 e/6/y/1");
        assert_ok(w.cx, tn_predicate_parse(w.cx, TN_STR("n = 1"), &arena, &where));
        assert_ok(w.cx, tn_predicate_bind(w.cx, where, &w.all, &arena, &filter));
        w.task.filter = &filter;
        slice_expect(&w, event ? "b/6/y/1@001 c/5/x/1@000 d/9/x/1@000 e/6/y/1@001"
                               : "b/6/y/1@001 c/5/x/1@000 e/6/y/1@001");
        tn_arena_clear(&arena);
        slice_close(&w);
    }
}

/* Positions are believed, as Hudi believes them: keys that are wrong show that they were used. */
static void test_slice_read__positions(void **state)
{
    static const slice_case cases[] = {
        {"of rows", COMMIT, "a/5/x b/5/y c/5/z", "R 001#0,2@000 A/6/p C/6/q",
         "A/6/p/-@001 C/6/q/-@001 b/5/y/-@000"},
        {"of a Parquet block", COMMIT, "a/5/x b/5/y c/5/z", "Q 001#0,2@000 A/6/p C/6/q",
         "A/6/p/-@001 C/6/q/-@001 b/5/y/-@000"},
        {"of deletes", COMMIT, "a/5/x b/5/y c/5/z", "D 001#1@000 B@i0", "a/5/x/-@000 c/5/z/-@000"},
        {"in several blocks", EVENT, "a/5/x b/5/y c/5/z",
         "R 001#0,1@000 A/6/p B/4/q; D 001#2@000 C@l6 | R 002#0@000 A/5/r",
         "A/6/p/-@001 b/5/y/-@000"},
        {"of partial updates", COMMIT, "a/5/x/1 b/5/y/2", "U 001#1@000 txt b/-/q",
         "a/5/x/1@000 b/5/q/2@001"},
        {"of another base file", COMMIT, "a/5/x b/5/y", "R 001#0@009 b/6/p",
         "a/5/x/-@000 b/6/p/-@001"},
        {"beyond the file", COMMIT, "a/5/x b/5/y", "R 001#7@000 b/6/p", "a/5/x/-@000 b/6/p/-@001"},
        {"more than records", COMMIT, "a/5/x b/5/y", "R 001#0,1@000 b/6/p",
         "a/5/x/-@000 b/6/p/-@001"},
        {"fewer than records", COMMIT, "a/5/x b/5/y", "R 001#0@000 a/6/p b/6/q",
         "a/6/p/-@001 b/6/q/-@001"},
        {"not in all blocks", COMMIT, "a/5/x b/5/y", "R 001#0@000 b/6/p | R 002 a/7/q",
         "a/7/q/-@002 b/6/p/-@001"},
        {"without a base file", COMMIT, NULL, "R 001#0@000 b/6/p", "b/6/p/-@001"},
    };

    (void)state;
    run(cases, sizeof cases / sizeof *cases, NULL);
}

/* Only rows of these keys are asked for; by event time the base file still has its say. */
static void test_slice_read__record_keys(void **state)
{
    static const tn_str keys[] = {{"c", 1}, {"a", 1}, {"a", 1}, {"nowhere", 7}};

    (void)state;
    for (int event = 0; event < 2; event++) {
        const tn_predicate *where = NULL;
        tn_filter filter = {0};
        tn_arena arena = {0};
        slice_world w;

        slice_open(&w);
        w.rules.mode = event ? EVENT : COMMIT;
        slice_make(&w, "a/5/x b/5/x c/5/x d/5/x",
                   "R 001 a/4/y b/6/y; D 001 d@i0; Q 002 c/6/z e/6/z");
        assert_ok(w.cx,
                  tn_predicate_parse(w.cx, TN_STR("_hoodie_record_key IN ('a', 'c', 'nowhere')"),
                                     &arena, &where));
        assert_ok(w.cx, tn_predicate_bind(w.cx, where, &w.all, &arena, &filter));
        w.task.filter = &filter;
        w.task.record_keys = keys;
        w.task.record_key_count = 4;
        slice_expect(&w, event ? "a/5/x/-@000 c/6/z/-@002" : "a/4/y/-@001 c/6/z/-@002");
        tn_arena_clear(&arena);
        slice_close(&w);
    }
}

/* Keys are the file's; the values of this one are 17 bytes each. */
static void test_slice_read__hfile_block(void **state)
{
    tn_buf content = {0}, file = {0};
    slice_world w;
    FILE *in;
    int c;

    (void)state;
    slice_open(&w);
    in = fopen(TARN_SOURCE_DIR "/fuzz/corpus/hfile/one", "rb");
    assert_non_null(in);
    while ((c = getc(in)) != EOF)
        tn_buf_u8(&content, (uint8_t)c);
    fclose(in);
    log_block(&file, TN_LOG_HFILE,
              (log_maker_header[]){
                  {LOG_KEY_INSTANT, TN_STR("001")},
                  {LOG_KEY_SCHEMA, TN_STR("{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                                          "{\"name\":\"x\",\"type\":{\"type\":\"fixed\","
                                          "\"name\":\"f\",\"size\":17}}]}")}},
              2, tn_buf_view(&content));
    slice_make(&w, "key-00001/5/x other/5/y", "");
    slice_add_log(&w, TN_STR("/t/.f_000.log.1_1-0-1"), tn_buf_view(&file));
    slice_expect(&w, "key-00000/-/-/-@- key-00001/-/-/-@- key-00002/-/-/-@- other/5/y/-@000");
    tn_buf_clear(&content);
    tn_buf_clear(&file);
    slice_close(&w);
}

static void test_slice_read__refused(void **state)
{
    slice_world w;
    tn_buf lines = {0};

    (void)state;
    slice_open(&w);
    w.rules.mode = TN_MERGE_CUSTOM;
    slice_make(&w, NULL, "R 001 a/1/x");
    assert_fails(w.cx, TARN_E_UNSUPPORTED, "class of its own", slice_read_lines(&w, &lines));
    slice_close(&w);
    slice_open(&w);
    w.rules.mode = EVENT;
    w.rules.ordering = &(tn_str){"nowhere", 7};
    slice_make(&w, NULL, "R 001 a/1/x");
    assert_fails(w.cx, TARN_E_CORRUPT, "\"nowhere\"", slice_read_lines(&w, &lines));
    slice_close(&w);
    slice_open(&w);
    slice_make(&w, NULL, "R 001 -/1/x");
    assert_fails(w.cx, TARN_E_CORRUPT, "without a record key", slice_read_lines(&w, &lines));
    slice_close(&w);
    tn_buf_clear(&lines);
}
