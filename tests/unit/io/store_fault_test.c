/* Injected failures hit the call that was asked for, and no other. */
#include "unit/test.h"

#include "io/store.h"
#include "io/store_fault.h"
#include "io/store_memory.h"

struct bench {
    tarn_cx *cx;
    tn_store *inner, *store;
};

static void bench_open(struct bench *b, const tn_fault_plan *plan)
{
    b->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    assert_ok(b->cx, tn_store_memory_open(b->cx, &b->inner));
    assert_ok(b->cx, tn_store_fault_open(b->cx, b->inner, plan, &b->store));
}

static void bench_close(struct bench *b)
{
    tn_store_close(b->store);
    tn_store_close(b->inner);
    tarn_cx_close(b->cx);
}

static bool inner_has(struct bench *b, const char *path)
{
    bool found = false;

    assert_ok(b->cx, tn_store_exists(b->cx, b->inner, tn_str_of(path), &found));
    return found;
}

static void test_fault__fails_one_call(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, &(tn_fault_plan){.fail_at = 2, .status = TARN_E_UNSUPPORTED});
    assert_ok(b.cx, tn_store_make_dir(b.cx, b.store, TN_STR("/a")));
    assert_fails(b.cx, TARN_E_UNSUPPORTED, "/b: injected failure of store call 2",
                 tn_store_make_dir(b.cx, b.store, TN_STR("/b")));
    assert_ok(b.cx, tn_store_make_dir(b.cx, b.store, TN_STR("/c")));
    assert_true(inner_has(&b, "/a") && !inner_has(&b, "/b") && inner_has(&b, "/c"));
    assert_int_equal(tn_store_fault_calls(b.store), 3);
    bench_close(&b);
}

static void test_fault__crashes_before_or_after(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        struct bench b;

        bench_open(&b, &(tn_fault_plan){.crash_at = 2, .crash_after = after});
        assert_ok(b.cx, tn_store_make_dir(b.cx, b.store, TN_STR("/a")));
        assert_fails(b.cx, TARN_E_IO, "injected crash",
                     tn_store_make_dir(b.cx, b.store, TN_STR("/b")));
        assert_fails(b.cx, TARN_E_IO, "injected crash",
                     tn_store_make_dir(b.cx, b.store, TN_STR("/c")));
        assert_int_equal(inner_has(&b, "/b"), after);
        assert_false(inner_has(&b, "/c"));
        bench_close(&b);
    }
}

static void test_fault__fills_the_disk(void **state)
{
    struct bench b;
    tn_sink *sink;

    (void)state;
    bench_open(&b, &(tn_fault_plan){.full_after_bytes = 8});
    assert_ok(b.cx, tn_store_create(b.cx, b.store, TN_STR("/f"), &sink));
    assert_ok(b.cx, tn_store_write(b.cx, sink, "12345678", 8));
    assert_fails(b.cx, TARN_E_IO, "no space is left", tn_store_write(b.cx, sink, "9", 1));
    assert_int_equal(sink->written_bytes, 8);
    tn_store_close_sink(sink);
    assert_fails(b.cx, TARN_E_IO, "/p: cannot write to it: no space",
                 tn_store_put(b.cx, b.store, TN_STR("/p"), TN_STR("x")));
    bench_close(&b);
}

static void count_calls(void *arg, uint64_t call)
{
    assert_int_equal(++*(uint64_t *)arg, call);
}

static void test_fault__calls_the_hook_before_each_call(void **state)
{
    struct bench b;
    uint64_t seen = 0;
    bool found;

    (void)state;
    bench_open(&b, &(tn_fault_plan){.hook = count_calls, .hook_arg = &seen});
    for (int i = 0; i < 3; i++)
        assert_ok(b.cx, tn_store_exists(b.cx, b.store, TN_STR("/x"), &found));
    assert_int_equal(seen, 3);
    bench_close(&b);
}
