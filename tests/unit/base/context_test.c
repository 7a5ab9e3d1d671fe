/* Contexts and budgets. */
#include "unit/test.h"

#include "base/budget.h"
#include "unit/alloc.h"

static void test_context__keeps_the_last_failure(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    assert_string_equal(tarn_cx_error(cx), "");
    assert_int_equal(tn_fail(cx, TARN_E_CORRUPT, "byte %d", 7), TARN_E_CORRUPT);
    assert_int_equal(tn_fail_within(cx, TARN_E_CORRUPT, "%s", "/a/b"), TARN_E_CORRUPT);
    assert_string_equal(tarn_cx_error(cx), "/a/b: byte 7");
    assert_int_equal(tarn_cx_status(cx), TARN_E_CORRUPT);
    tn_cx_forget(cx);
    assert_string_equal(tarn_cx_error(cx), "");
    assert_int_equal(tarn_cx_status(cx), TARN_OK);
    tarn_cx_close(cx);
    tarn_cx_close(NULL);
}

static void test_context__bounds_its_text(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    static char text[TN_ERROR_TEXT_MAX * 2];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    tn_fail(cx, TARN_E_IO, "%s", text);
    assert_int_equal(strlen(tarn_cx_error(cx)), TN_ERROR_TEXT_MAX - 1);
    for (int i = 0; i < 5; i++)
        tn_fail_within(cx, TARN_E_IO, "%s", text);
    assert_true(strlen(tarn_cx_error(cx)) < TN_ERROR_TEXT_MAX);
    tarn_cx_close(cx);
}

static void test_context__cancels(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct tarn_cx child;

    (void)state;
    tn_cx_child(&child, cx);
    assert_ok(cx, tn_cx_check(&child));
    tarn_cx_cancel(cx);
    assert_fails(&child, TARN_E_CANCELLED, "stopped", tn_cx_check(&child));
    assert_string_equal(tarn_cx_error(cx), ""); /* a child has its own text */
    assert_fails(cx, TARN_E_CANCELLED, "stopped", tn_cx_check(cx));
    tarn_cx_close(cx);
}

static void test_context__repeats_its_random_numbers(void **state)
{
    tarn_cx *a = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 5});
    tarn_cx *b = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 5});
    uint64_t first = tn_cx_random(a);

    (void)state;
    assert_true(first == tn_cx_random(b));
    assert_true(first != tn_cx_random(a));
    tarn_cx_close(a);
    tarn_cx_close(b);
}

static void test_context__opens_or_gives_nothing_when_memory_is_short(void **state)
{
    size_t total;

    (void)state;
    alloc_watch(0);
    tarn_cx_close(tarn_cx_open(&(tarn_cx_options){.jobs = 1}));
    total = alloc_unwatch();
    assert_true(total > 0);
    for (size_t n = 1; n <= total; n++) {
        tarn_cx *cx;

        alloc_watch(n);
        cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
        alloc_unwatch();
        assert_null(cx);
    }
}

static void test_budget__lends_what_there_is(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 100});
    struct tarn_cx child;

    (void)state;
    tn_cx_child(&child, cx);
    assert_true(tn_budget_bytes(cx) == 100);
    assert_ok(cx, tn_budget_take(cx, 60, "a page"));
    assert_true(tn_budget_try(&child, 40));
    assert_false(tn_budget_try(cx, 1));
    assert_fails(cx, TARN_E_LIMIT, "a page needs 1 bytes", tn_budget_take(cx, 1, "a page"));
    assert_non_null(strstr(tarn_cx_error(cx), "--memory"));
    tn_budget_give(&child, 100);
    assert_ok(cx, tn_budget_take(cx, 100, "all"));
    assert_fails(cx, TARN_E_LIMIT, NULL, tn_budget_take(cx, UINT64_MAX, "more than all"));
    tarn_cx_close(cx);
}

static void test_budget__is_boundless_without_one(void **state)
{
    struct tarn_cx bare = {0};

    (void)state;
    assert_true(tn_budget_bytes(&bare) == UINT64_MAX);
    assert_true(tn_budget_try(&bare, UINT64_MAX));
    tn_budget_give(&bare, 5);
}

static void count_clear(void *scratch)
{
    ++**(int **)scratch;
}

static void test_context__scratch_is_made_once_and_cleared_with_its_context(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_cx child;
    int cleared = 0;
    int **scratch;

    (void)state;
    tn_cx_child(&child, cx);
    scratch = tn_cx_scratch(&child, sizeof *scratch, count_clear);
    assert_null(*scratch);
    *scratch = &cleared;
    assert_ptr_equal(tn_cx_scratch(&child, sizeof *scratch, count_clear), scratch);
    tn_cx_child_clear(&child);
    assert_int_equal(cleared, 1);
    scratch = tn_cx_scratch(cx, sizeof *scratch, count_clear);
    *scratch = &cleared;
    tarn_cx_close(cx);
    assert_int_equal(cleared, 2);
}
