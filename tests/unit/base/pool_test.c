/* tn_parallel calls each index once, reports the first failure, and works inline. */
#include "unit/test.h"

#include <pthread.h>
#include <signal.h>

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

typedef struct meeting {
    pthread_barrier_t both;
    pthread_t caller;
    _Atomic int open_workers;
} meeting;

/* Two jobs that wait for each other are done by two threads. */
static int meet(tarn_cx *cx, size_t i, void *arg)
{
    meeting *m = arg;
    sigset_t now;

    (void)cx;
    (void)i;
    pthread_barrier_wait(&m->both);
    if (!pthread_equal(pthread_self(), m->caller)) {
        pthread_sigmask(SIG_BLOCK, NULL, &now);
        if (!sigismember(&now, SIGINT) || !sigismember(&now, SIGTERM))
            atomic_fetch_add(&m->open_workers, 1);
    }
    return TARN_OK;
}

static void test_pool__workers_take_no_signals(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});
    meeting m = {.caller = pthread_self()};
    sigset_t now;

    (void)state;
    pthread_barrier_init(&m.both, NULL, 2);
    assert_ok(cx, tn_parallel(cx, 2, meet, &m));
    assert_int_equal(m.open_workers, 0);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    assert_false(sigismember(&now, SIGINT));
    pthread_barrier_destroy(&m.both);
    tarn_cx_close(cx);
}
