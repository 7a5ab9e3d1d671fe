/* What may go wrong while a slice is read: little memory, failing reads, damaged logs. */
#include "base/budget.h"
#include "io/store_fault.h"
#include "unit/alloc.h"
#include "unit/exec/slice_world.h"

/* Many rows of many versions, in one log a version. */
static void make_many(slice_world *w, size_t keys, size_t versions, const char *kind)
{
    tn_buf base = {0}, logs = {0};

    for (size_t k = 0; k < keys; k += 2)
        tn_buf_print(&base, "key-%05zu/%d/the-first-text-of-%zu/1 ", k, 0, k);
    for (size_t v = 0; v < versions; v++) {
        tn_buf_print(&logs, "%s%s %03zu", v > 0 ? "|" : "", kind, v + 1);
        for (size_t k = v % 3; k < keys; k += 3)
            tn_buf_print(&logs, " key-%05zu/%zu/text-%zu-of-a-row-that-is-not-short/%zu", k, v + 1,
                         v, k % 7);
        tn_buf_print(&logs, "; D %03zu key-%05zu@i0", v + 1, v * 7 % keys);
    }
    tn_buf_u8(&base, '\0');
    tn_buf_u8(&logs, '\0');
    slice_make(w, (char *)base.data, (char *)logs.data);
    tn_buf_clear(&base);
    tn_buf_clear(&logs);
}

/* The rows sorted, read under a memory budget by so many threads. */
static char *read_under(uint64_t memory, unsigned jobs, enum tn_merge_mode mode, const char *kind,
                        size_t keys, size_t versions, uint64_t *rows_read)
{
    tn_buf lines = {0};
    slice_world w;
    char *out;

    slice_open_with(&w, &(tarn_cx_options){.jobs = jobs, .memory_bytes = memory});
    w.rules.mode = mode;
    make_many(&w, keys, versions, kind);
    assert_ok(w.cx, slice_read_lines(&w, &lines));
    out = slice_sorted(&lines);
    *rows_read = w.counts.rows_read;
    if (w.cx->budget != NULL) /* all was given back */
        assert_true(tn_budget_try(w.cx, tn_budget_bytes(w.cx)));
    tn_buf_clear(&lines);
    slice_close(&w);
    return out;
}

static void test_slice_fault__little_memory(void **state)
{
    static const enum tn_merge_mode modes[] = {TN_MERGE_COMMIT_TIME, TN_MERGE_EVENT_TIME};
    static const char *const kinds[] = {"R", "Q"};

    (void)state;
    for (size_t m = 0; m < 2; m++)
        for (size_t k = 0; k < 2; k++) {
            uint64_t once, again, often;
            char *want = read_under(1ull << 30, 1, modes[m], kinds[k], 3000, 12, &once);
            char *threads = read_under(1ull << 30, 4, modes[m], kinds[k], 3000, 12, &again);
            char *little = read_under(512 << 10, 2, modes[m], kinds[k], 3000, 12, &often);

            assert_true(strlen(want) > 100000);
            assert_int_equal(again, once);
            assert_true(often > once); /* at least a pass that was given up */
            assert_string_equal(threads, want);
            assert_string_equal(little, want);
            free(want);
            free(threads);
            free(little);
        }
}

/* Blocks beyond a megabyte are read window by window, and their records shared out. */
static void test_slice_fault__large_blocks(void **state)
{
    uint64_t once, again, often;
    char *want, *threads, *little;

    (void)state;
    want = read_under(1ull << 30, 1, TN_MERGE_EVENT_TIME, "R", 60000, 2, &once);
    threads = read_under(1ull << 30, 3, TN_MERGE_EVENT_TIME, "R", 60000, 2, &again);
    little = read_under(3 << 20, 2, TN_MERGE_EVENT_TIME, "R", 60000, 2, &often);
    assert_true(strlen(want) > 1 << 20);
    assert_int_equal(again, once);
    assert_true(often > once);
    assert_string_equal(threads, want);
    assert_string_equal(little, want);
    free(want);
    free(threads);
    free(little);
}

/* Every row of the base file changed, by logs that place all rows but the last; that one at `last`.
 * Sorted; 0: without positions. */
static char *read_placed(uint64_t memory, size_t last, uint64_t *rows_read)
{
    tn_buf base = {0}, logs = {0}, lines = {0};
    slice_world w;
    char *out;

    for (size_t k = 0; k < 2000; k++)
        tn_buf_print(&base, "key-%05zu/5/x ", k);
    for (size_t v = 0; v < 20; v++) {
        tn_buf_print(&logs, "%sR %03zu", v > 0 ? "|" : "", v + 1);
        for (size_t k = v * 100; k < v * 100 + 100 && last > 0; k++)
            tn_buf_print(&logs, "%s%zu", k == v * 100 ? "#" : ",", k == 1999 ? last : k);
        tn_buf_print(&logs, "%s", last > 0 ? "@000" : "");
        for (size_t k = v * 100; k < v * 100 + 100; k++)
            tn_buf_print(&logs, " key-%05zu/6/text-of-a-row-that-is-not-short-%zu", k, v);
    }
    tn_buf_u8(&base, '\0');
    tn_buf_u8(&logs, '\0');
    slice_open_with(&w, &(tarn_cx_options){.jobs = 1, .memory_bytes = memory});
    slice_make(&w, (char *)base.data, (char *)logs.data);
    assert_ok(w.cx, slice_read_lines(&w, &lines));
    out = slice_sorted(&lines);
    *rows_read = w.counts.rows_read;
    slice_close(&w);
    tn_buf_clear(&base);
    tn_buf_clear(&logs);
    tn_buf_clear(&lines);
    return out;
}

/* A position beyond the file is found before a row is given out, whichever pass it would be of. */
static void test_slice_fault__misplaced(void **state)
{
    uint64_t once, often;
    char *want = read_placed(1ull << 30, 0, &once);

    (void)state;
    for (size_t last = 2000; last < 2008; last++) {
        char *little = read_placed(256 << 10, last, &often);

        assert_true(often > once);
        assert_string_equal(little, want);
        free(little);
    }
    free(want);
}

/* A budget that holds not even a part: named, and nothing is left reserved. */
static void test_slice_fault__no_memory(void **state)
{
    tn_buf lines = {0};
    slice_world w;

    (void)state;
    slice_open_with(&w, &(tarn_cx_options){.jobs = 1, .memory_bytes = 1 << 30});
    make_many(&w, 30, 3, "R");
    assert_ok(w.cx, tn_budget_take(w.cx, (1 << 30) - 64, "all"));
    assert_fails(w.cx, TARN_E_LIMIT, "--memory", slice_read_lines(&w, &lines));
    tn_budget_give(w.cx, (1 << 30) - 64);
    assert_true(tn_budget_try(w.cx, 1 << 30));
    tn_buf_clear(&lines);
    slice_close(&w);
}

static const char small_logs[] =
    "R 001 a/6/y b/4/w; D 001 c@i0 | U 002 txt a/-/q d/-/r | Q 003 e/1/z; X 004 009";

/* Each call of the store fails once: a status with a text, nothing lost, nothing held. */
static void test_slice_fault__reads_fail(void **state)
{
    uint64_t calls = 1;

    (void)state;
    for (uint64_t at = 1; at <= calls; at++) {
        tn_buf lines = {0};
        slice_world w;

        slice_open(&w);
        slice_make(&w, "a/5/x b/5/x c/5/x", small_logs);
        assert_ok(w.cx,
                  tn_store_fault_open(w.cx, w.memory, &(tn_fault_plan){.fail_at = at}, &w.store));
        assert_int_equal(slice_read_lines(&w, &lines),
                         at < calls || calls == 1 ? TARN_E_IO : TARN_OK);
        if (at == 1) {
            tn_store_close(w.store);
            assert_ok(w.cx, tn_store_fault_open(w.cx, w.memory, &(tn_fault_plan){0}, &w.store));
            assert_ok(w.cx, slice_read_lines(&w, &lines));
            calls = tn_store_fault_calls(w.store) + 1;
        }
        tn_store_close(w.store);
        tn_buf_clear(&lines);
        slice_close(&w);
    }
    assert_true(calls > 8);
}

/* The n-th allocation fails, for every n: a status, or the rows where one could do without. */
static void test_slice_fault__allocations_fail(void **state)
{
    size_t total = 1;

    (void)state;
    for (size_t n = 0; n <= total; n++) {
        tn_buf lines = {0};
        slice_world w;
        int rc;

        slice_open(&w);
        slice_make(&w, "a/5/x b/5/x c/5/x", small_logs);
        tn_buf_reserve(&lines, 4096);
        alloc_watch(n);
        rc = slice_read_lines(&w, &lines);
        total = n == 0 ? alloc_unwatch() : (alloc_unwatch(), total);
        if (rc != TARN_OK)
            assert_int_equal(rc, TARN_E_NOMEM);
        if (n == 0)
            assert_int_equal(rc, TARN_OK);
        tn_buf_clear(&lines);
        slice_close(&w);
    }
    assert_true(total > 100);
}

/* Logs cut anywhere, and with a flipped bit anywhere, give rows or a status. */
static void test_slice_fault__damaged_logs(void **state)
{
    tn_buf whole = {0}, bytes = {0};
    slice_world w;

    (void)state;
    slice_open(&w);
    slice_make(&w, "a/5/x b/5/x c/5/x", "R 001 a/6/y b/4/w; D 001 c@l7; U 002 txt a/-/q");
    w.rules.mode = TN_MERGE_EVENT_TIME;
    assert_ok(w.cx, tn_store_get(w.cx, w.memory, w.logs[0].path, 1 << 20, &whole));
    for (size_t i = 0; i < whole.len * 2; i++) {
        size_t at = i / 2;
        tn_buf lines = {0};
        int rc;

        tn_buf_reset(&bytes);
        tn_buf_add(&bytes, whole.data, i % 2 == 0 ? at : whole.len);
        assert_ok(w.cx, tn_buf_check(w.cx, &bytes));
        if (i % 2 == 1)
            bytes.data[at] ^= (uint8_t)(1u << at % 8);
        assert_ok(w.cx, tn_store_put(w.cx, w.memory, w.logs[0].path, tn_buf_view(&bytes)));
        rc = slice_read_lines(&w, &lines);
        if (rc != TARN_OK)
            assert_true(strlen(tarn_cx_error(w.cx)) > 0);
        tn_buf_clear(&lines);
    }
    tn_buf_clear(&whole);
    tn_buf_clear(&bytes);
    slice_close(&w);
}
