/* Calls are counted by kind. */
#include "unit/test.h"

#include "io/store.h"
#include "io/store_memory.h"
#include "io/store_trace.h"

static void test_trace__counts_calls_and_bytes(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_store *inner, *store;
    tn_trace_counts counts;
    tn_buf got = {0};
    bool found;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &inner));
    assert_ok(cx, tn_store_trace_open(cx, inner, &store));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/f"), TN_STR("12345")));
    assert_ok(cx, tn_store_get(cx, store, TN_STR("/f"), 100, &got));
    assert_ok(cx, tn_store_exists(cx, store, TN_STR("/g"), &found));
    assert_ok(cx, tn_store_rename(cx, store, TN_STR("/f"), TN_STR("/g"), false));
    tn_store_trace_counts(store, &counts);
    assert_int_equal(counts.puts, 1);
    assert_int_equal(counts.written_bytes, 5);
    assert_int_equal(counts.opens, 1);
    assert_int_equal(counts.reads, 1);
    assert_int_equal(counts.read_bytes, 5);
    assert_int_equal(counts.renames, 1);
    assert_int_equal(counts.stats, 0); /* it was missing */
    tn_buf_clear(&got);
    tn_store_close(store);
    tn_store_close(inner);
    tarn_cx_close(cx);
}
