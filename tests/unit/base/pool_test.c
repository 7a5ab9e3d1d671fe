/* tn_parallel calls each index once, reports the first failure, and works inline. */
#include "unit/test.h"

#include "base/pool.h"

static int mark(tarn_cx *cx, size_t i, void *arg)
{
    (void)cx;
    atomic_fetch_add((_Atomic int *)arg + i, 1);
    return TARN_OK;
}

static int fail_at_7(tarn_cx *cx, size_t i, void *arg)
{
    (void)arg;
    return i == 7 ? tn_fail(cx, TARN_E_INVALID, "index %zu", i) : TARN_OK;
}

static void test_pool__calls_each_index_once(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = jobs});
        _Atomic int seen[1000] = {0};

        for (int round = 0; round < 50; round++)
            assert_ok(cx, tn_parallel(cx, 1000, mark, seen));
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(seen[i], 50);
        tarn_cx_close(cx);
    }
}

static void test_pool__reports_a_failure_with_its_text(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = jobs});

        assert_fails(cx, TARN_E_INVALID, "index 7", tn_parallel(cx, 100, fail_at_7, NULL));
        assert_int_equal(tarn_cx_status(cx), TARN_E_INVALID);
        tarn_cx_close(cx);
    }
}

static void test_pool__stops_on_cancel(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});
    _Atomic int seen[10] = {0};

    (void)state;
    tarn_cx_cancel(cx);
    assert_fails(cx, TARN_E_CANCELLED, NULL, tn_parallel(cx, 10, mark, seen));
    tarn_cx_close(cx);
}
