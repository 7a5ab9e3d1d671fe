#include "table/instant.h"

#include <time.h>

#include "unit/test.h"

static void test_instant__takes_names_apart(void **state)
{
    static const struct {
        const char *name;
        int32_t layout;
        const char *time, *completion, *word;
        enum tn_action action;
        enum tn_state state;
        bool legacy;
    } cases[] = {
        {"001.commit", 1, "001", "", "commit", TN_ACTION_COMMIT, TN_STATE_COMPLETED, false},
        {"20250126040823628.inflight", 1, "20250126040823628", "", "commit", TN_ACTION_COMMIT,
         TN_STATE_INFLIGHT, false},
        {"20250126040823628.inflight", 2, "20250126040823628", "", "commit", TN_ACTION_COMMIT,
         TN_STATE_INFLIGHT, false},
        {"1.commit.requested", 2, "1", "", "commit", TN_ACTION_COMMIT, TN_STATE_REQUESTED, false},
        {"1_2.commit", 2, "1", "2", "commit", TN_ACTION_COMMIT, TN_STATE_COMPLETED, false},
        {"1.commit", 2, "1", "", "commit", TN_ACTION_COMMIT, TN_STATE_COMPLETED, true},
        {"1_2.replacecommit", 2, "1", "2", "replacecommit", TN_ACTION_REPLACE, TN_STATE_COMPLETED,
         false},
        {"1.clustering.inflight", 2, "1", "", "clustering", TN_ACTION_REPLACE, TN_STATE_INFLIGHT,
         false},
        {"1.compaction.requested", 1, "1", "", "compaction", TN_ACTION_COMMIT, TN_STATE_REQUESTED,
         false},
        {"1.logcompaction.inflight", 2, "1", "", "logcompaction", TN_ACTION_DELTA,
         TN_STATE_INFLIGHT, false},
        {"1.savepoint", 1, "1", "", "savepoint", TN_ACTION_SAVEPOINT, TN_STATE_COMPLETED, false},
        {"1_3.rollback", 2, "1", "3", "rollback", TN_ACTION_ROLLBACK, TN_STATE_COMPLETED, false},
        {"1.indexing.requested", 2, "1", "", "indexing", TN_ACTION_INDEXING, TN_STATE_REQUESTED,
         false},
        {"1_2.schemacommit", 2, "1", "2", "schemacommit", TN_ACTION_SCHEMA, TN_STATE_COMPLETED,
         false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_instant instant;

        if (!tn_instant_parse(tn_str_of(cases[i].name), cases[i].layout, &instant))
            fail_msg("%s is not taken for an instant's name", cases[i].name);
        assert_true(tn_str_is(instant.time, cases[i].time));
        assert_true(tn_str_is(instant.completion, cases[i].completion));
        assert_true(tn_str_is(instant.word, cases[i].word));
        assert_int_equal(instant.action, cases[i].action);
        assert_int_equal(instant.state, cases[i].state);
        assert_int_equal(instant.legacy, cases[i].legacy);
    }
}

static void test_instant__refuses_other_names(void **state)
{
    static const char *const names[] = {"",
                                        "hoodie.properties",
                                        "1",
                                        "1.",
                                        ".1.commit",
                                        "1.commit.",
                                        "1.commit.done",
                                        "1.compaction",
                                        "1.clustering",
                                        "1_2.commit.requested",
                                        "1_2.inflight",
                                        "1_.commit",
                                        "_2.commit",
                                        "1_2_3.commit",
                                        "x.commit",
                                        "1.commits",
                                        "1.requested",
                                        "1.commit.7c9e6679-7425-40de-944b-e07fc1f90ae7",
                                        "1_2.commit.crc",
                                        ".1_2.commit.crc",
                                        "1.commit.requested.inflight"};
    tn_instant instant;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tn_instant_parse(tn_str_of(names[i]), 2, &instant))
            fail_msg("%s is taken for an instant's name", names[i]);
    assert_false(tn_instant_parse(TN_STR("1_2.commit"), 1, &instant));
}

static void test_instant__prints_names(void **state)
{
    static const struct {
        int32_t layout;
        const char *word;
        enum tn_state state;
        const char *completion, *want;
    } cases[] = {{1, "commit", TN_STATE_REQUESTED, "", "17.commit.requested"},
                 {1, "commit", TN_STATE_INFLIGHT, "", "17.inflight"},
                 {1, "commit", TN_STATE_COMPLETED, "18", "17.commit"},
                 {2, "commit", TN_STATE_INFLIGHT, "", "17.inflight"},
                 {2, "commit", TN_STATE_COMPLETED, "18", "17_18.commit"},
                 {2, "clustering", TN_STATE_REQUESTED, "", "17.clustering.requested"},
                 {2, "clustering", TN_STATE_COMPLETED, "18", "17_18.replacecommit"},
                 {2, "compaction", TN_STATE_INFLIGHT, "", "17.compaction.inflight"},
                 {1, "compaction", TN_STATE_COMPLETED, "", "17.commit"},
                 {2, "replacecommit", TN_STATE_INFLIGHT, "", "17.replacecommit.inflight"},
                 {2, "rollback", TN_STATE_COMPLETED, "18", "17_18.rollback"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_instant instant;
    tn_str name;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(cx, tn_instant_print(cx, &arena, cases[i].layout, TN_STR("17"),
                                       tn_str_of(cases[i].word), cases[i].state,
                                       tn_str_of(cases[i].completion), &name));
        assert_true(tn_str_is(name, cases[i].want));
        assert_true(tn_instant_parse(name, cases[i].layout, &instant));
        assert_int_equal(instant.state, cases[i].state);
        assert_true(tn_str_is(instant.time, "17"));
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_instant__times_are_text_of_a_zone(void **state)
{
    static const struct {
        int64_t ms;
        const char *utc, *local; /* local: New York */
    } cases[] = {{0, "19700101000000000", "19691231190000000"},
                 {-1, "19691231235959999", "19691231185959999"},
                 {1772922157587, "20260307222237587", "20260307172237587"},
                 {1700000000001, "20231114221320001", "20231114171320001"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    char *zone = getenv("TZ"), *kept = zone != NULL ? strdup(zone) : NULL;
    tn_arena arena = {0};
    tn_str text;
    int64_t ms;

    (void)state;
    setenv("TZ", "EST5", 1);
    tzset();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int utc = 0; utc < 2; utc++) {
            const char *want = utc ? cases[i].utc : cases[i].local;

            assert_ok(cx, tn_instant_of_ms(cx, &arena, cases[i].ms, utc, &text));
            if (!tn_str_is(text, want))
                fail_msg("%s, want %s", text.ptr, want);
            assert_true(tn_instant_to_ms(text, utc, &ms));
            assert_int_equal(ms, cases[i].ms);
        }
    if (kept != NULL)
        setenv("TZ", kept, 1);
    else
        unsetenv("TZ");
    tzset();
    free(kept);
    assert_true(tn_instant_to_ms(TN_STR("20240229000000"), true, &ms));
    assert_int_equal(ms, 1709164800999);
    assert_true(tn_instant_to_ms(TN_STR("20240229000000123001"), true, &ms));
    assert_int_equal(ms, 1709164800123);
    assert_false(tn_instant_to_ms(TN_STR("20230229000000"), true, &ms));
    assert_false(tn_instant_to_ms(TN_STR("20231301000000"), true, &ms));
    assert_false(tn_instant_to_ms(TN_STR("00000000000001"), true, &ms));
    assert_false(tn_instant_to_ms(TN_STR("001"), true, &ms));
    assert_fails(cx, TARN_E_INVALID, "clock",
                 tn_instant_of_ms(cx, &arena, INT64_MAX / 2, true, &text));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_instant__the_next_one_is_greater(void **state)
{
    static const struct {
        const char *time, *want;
    } cases[] = {{"20240101000000000", "20240101000000001"},
                 {"20241231235959999", "20250101000000000"},
                 {"20240228235959999", "20240229000000000"},
                 {"20240101000000", "20240101000001000"},
                 {"20240101000000000001", "20240101000000001"},
                 {"001", "002"},
                 {"199", "200"},
                 {"999", "9990"},
                 {"00000000000001", "00000000000002"},
                 {"99991231235959", "99991231235960"},
                 {"99991231235959999", "99991231235960000"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_str next;

        assert_ok(cx, tn_instant_next(cx, &arena, tn_str_of(cases[i].time), &next));
        if (!tn_str_is(next, cases[i].want))
            fail_msg("%s, want %s", next.ptr, cases[i].want);
        assert_true(tn_str_compare(next, tn_str_of(cases[i].time)) > 0);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
