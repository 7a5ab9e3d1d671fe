/* Writes of real rows, and the merge of what they left, as the operations do them: under failing
 * stores, short memory, full disks and crashes. After each and its recovery the real reader gives
 * exactly the rows before or exactly those after; the next run succeeds, and nothing else is left.
 * TARN_FULL=1 sweeps every call and allocation; otherwise some. */
#include "sim/write_rows_world.h"

#include "commit/commit_dir.h"
#include "op/merge_op.h"
#include "unit/alloc.h"

static bool full(void)
{
    const char *text = getenv("TARN_FULL");

    return text != NULL && *text != '\0' && *text != '0';
}

static const scene scenes[] = {
    {.mode = TARN_WRITE_APPEND,
     .memory_bytes = TINY_MEMORY,
     .rows = 600,
     .batch_rows = 200,
     .levels = 1,
     .names = 10},
    {.mode = TARN_WRITE_APPEND,
     .missing = true,
     .dictionary = true,
     .rows = 200,
     .batch_rows = 50,
     .files_per_partition = 3,
     .levels = 1,
     .merge = true},
    {.mode = TARN_WRITE_OVERWRITE,
     .dictionary = true,
     .rows = 150,
     .batch_rows = 60,
     .files_per_partition = 2,
     .levels = 1,
     .merge = true},
    {.mode = TARN_WRITE_OVERWRITE,
     .memory_bytes = TINY_MEMORY,
     .rows = 600,
     .batch_rows = 300,
     .files_per_partition = 2,
     .levels = 1,
     .merge = true,
     .hive = true},
    {.mode = TARN_WRITE_OVERWRITE_PARTITIONS,
     .memory_bytes = TINY_MEMORY,
     .rows = 600,
     .batch_rows = 150,
     .levels = 2,
     .files_per_partition = 2,
     .merge = true},
    {.mode = TARN_WRITE_OVERWRITE_PARTITIONS,
     .rows = 12,
     .batch_rows = 5,
     .levels = 1,
     .names = 10,
     .merge = true,
     .hive = true},
    {.mode = TARN_WRITE_OVERWRITE_PARTITIONS,
     .renames = true,
     .files_per_partition = 2,
     .rows = 40,
     .batch_rows = 15,
     .levels = 1,
     .merge = true},
    {.mode = TARN_WRITE_APPEND,
     .rows = 100,
     .batch_rows = 40,
     .files_per_partition = 2,
     .merge = true,
     .hive = true},
};
#define SCENES (sizeof scenes / sizeof *scenes)

/* --- runs --- */

typedef struct outcome {
    int rc;     /* of the first operation that failed */
    bool wrote; /* the write was done, and is not left for recovery to bring to its end */
    uint64_t spilled_bytes, merged;
} outcome;

static void run(lake *l, tn_store *store, outcome *out)
{
    const scene *of = l->of;
    const tarn_write_options write = {.mode = of->mode,
                                      .files_per_partition = of->files_per_partition};
    const tarn_merge_options merge = {.rule = of->hive ? TARN_RULE_HIVE : TARN_RULE_SIZE,
                                      .verify = TARN_VERIFY_CONTENT};
    tarn_write_report *written = NULL;
    tarn_merge_report *merged = NULL;

    *out = (outcome){0};
    out->rc = write_rows(l, l->cx, store, &l->rows, &write, &written);
    if (out->rc == TARN_OK) {
        out->wrote = !written->pending;
        out->spilled_bytes = written->spilled_bytes;
        out->merged = written->merged != NULL ? written->merged->done : 0;
        if (of->merge)
            out->rc = tn_merge_in(l->cx, store, TN_STR(ROOT), &merge, &merged);
        if (merged != NULL)
            out->merged += merged->done;
    }
    tarn_write_report_close(written);
    tarn_merge_report_close(merged);
}

static void run_under(lake *l, const tn_fault_plan *plan, outcome *out, uint64_t *calls)
{
    tn_store *fault;

    assert_ok(l->look, tn_store_fault_open(l->look, l->memory, plan, &fault));
    run(l, fault, out);
    *calls = tn_store_fault_calls(fault);
    tn_store_close(fault);
}

/* A few more rows, by a run that nothing disturbs: it leaves nothing but data. */
static void run_next(lake *l, bool *rows, const char *label)
{
    rows_shape shape = shape_of(l->of);
    tarn_write_report *report = NULL;
    premade more;
    int rc;

    premade_open(&more, l->look, &shape, LAST_ID, 7, 7, 1);
    rc = write_rows(l, l->look, l->memory, &more, &(tarn_write_options){0}, &report);
    CHECK(l, rc == TARN_OK && !report->pending, label);
    tarn_write_report_close(report);
    more.stream.release(&more.stream);
    for (int id = LAST_ID; id < LAST_ID + 7; id++)
        rows[id] = true;
    CHECK(l, reads(l, rows), label);
    CHECK(l, is_clean(l, TN_STR("/lake"), false), label);
}

/* What readers see after a run that may have failed, after its recovery, and after a next run. */
static void check(lake *l, const outcome *out, bool crashed, const char *label)
{
    tn_recovery recovery = {0};
    bool done;
    int rc;

    CHECK(l, out->rc == TARN_OK || tarn_cx_error(l->cx)[0] != '\0', label);
    /* Where files are renamed, a merge that is cut off leaves it to recovery to bring it to an end.
     */
    if (!crashed && out->wrote && !l->of->renames)
        CHECK(l, reads(l, l->after), label);
    if (!crashed && !out->wrote && out->rc != TARN_OK)
        CHECK(l, reads(l, l->before), label);
    rc = tn_dir_recover(l->look, l->memory, TN_STR(ROOT), &recovery);
    CHECK(l, rc == TARN_OK, label);
    for (size_t i = 0; i < recovery.note_count; i++)
        CHECK(l, recovery.notes[i].kind == TN_RECOVERY_SETTLED, label);
    tn_recovery_clear(&recovery);
    done = reads(l, l->after);
    CHECK(l, done || (!out->wrote && reads(l, l->before)), label);
    CHECK(l, is_clean(l, TN_STR("/lake"), true), label);
    run_next(l, done ? l->after : l->before, label);
}

/* A run that nothing disturbs. */
static uint64_t count_calls(const scene *of, tn_store *from)
{
    uint64_t calls;
    outcome out;
    lake l;

    lake_open(&l, of, from, 1);
    CHECK(&l, reads(&l, l.before), "before");
    run_under(&l, &(tn_fault_plan){0}, &out, &calls);
    CHECK(&l, out.rc == TARN_OK && out.wrote, "clean run");
    CHECK(&l, out.merged > 0, "clean run");
    CHECK(&l, (out.spilled_bytes > 0) == (of->memory_bytes != 0), "clean run");
    CHECK(&l, is_clean(&l, TN_STR("/lake"), false), "clean run");
    check(&l, &out, false, "clean run");
    lake_close(&l);
    return calls;
}

/* The directory before the write, which each run takes a copy of. */
static tn_store *base_open(const scene *of, tarn_cx **cx)
{
    lake l;

    lake_open(&l, of, NULL, 1);
    l.rows.stream.release(&l.rows.stream);
    tarn_cx_close(l.cx);
    *cx = l.look;
    return l.memory;
}

static void base_close(tn_store *store, tarn_cx *cx)
{
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void fault_once(size_t s, tn_store *from, const tn_fault_plan *plan, uint64_t seed)
{
    char label[120];
    uint64_t calls;
    outcome out;
    lake l;

    snprintf(label, sizeof label, "scene %zu, fail %d, crash %d%s, full after %d, seed %d", s,
             (int)plan->fail_at, (int)plan->crash_at, plan->crash_after ? " after" : "",
             (int)plan->full_after_bytes, (int)seed);
    lake_open(&l, &scenes[s], from, seed);
    run_under(&l, plan, &out, &calls);
    if (plan->crash_at != 0)
        tn_store_memory_crash(l.memory, seed);
    check(&l, &out, plan->crash_at != 0, label);
    lake_close(&l);
}

/* So many of them are tried in each scene, unless all are. */
static uint64_t step_of(uint64_t total, uint64_t most)
{
    return full() ? 1 : total / most + 1;
}

static void test_write_rows__each_failing_call_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        tarn_cx *cx;
        tn_store *from = base_open(&scenes[s], &cx);
        uint64_t total = count_calls(&scenes[s], from), step = step_of(total, 9);

        for (uint64_t n = 1 + s % step; n <= total; n += step)
            fault_once(s, from, &(tn_fault_plan){.fail_at = n}, n);
        base_close(from, cx);
    }
}

static void test_write_rows__a_crash_at_any_call_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        tarn_cx *cx;
        tn_store *from = base_open(&scenes[s], &cx);
        uint64_t total = count_calls(&scenes[s], from), step = step_of(total, 9);

        for (uint64_t n = 1 + (s + 3) % step; n <= total; n += step)
            fault_once(s, from, &(tn_fault_plan){.crash_at = n, .crash_after = n % 2 == 0}, n);
        base_close(from, cx);
    }
}

static void test_write_rows__a_full_disk_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        tarn_cx *cx;
        tn_store *from = base_open(&scenes[s], &cx);
        uint64_t most = scenes[s].memory_bytes != 0 ? 200000 : 40000;

        for (uint64_t bytes = 1 + s * 10; bytes < most; bytes += most / (full() ? 100 : 3))
            fault_once(s, from, &(tn_fault_plan){.full_after_bytes = bytes}, 1);
        base_close(from, cx);
    }
}

static void test_write_rows__each_failing_allocation_has_a_status(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        tarn_cx *cx;
        tn_store *from = base_open(&scenes[s], &cx);
        size_t total = 0, step = 1;

        for (size_t n = 0; n <= total; n += n == 0 ? 1 + s : step) {
            char label[60];
            outcome out;
            size_t calls;
            lake l;

            snprintf(label, sizeof label, "scene %zu, allocation %zu of %zu", s, n, total);
            lake_open(&l, &scenes[s], from, 1);
            alloc_watch(n);
            run(&l, l.memory, &out);
            calls = alloc_unwatch();
            total = n == 0 ? calls : total;
            step = full() ? total / 600 + 1 : total / 9 + 1;
            check(&l, &out, false, label);
            lake_close(&l);
        }
        base_close(from, cx);
    }
}
