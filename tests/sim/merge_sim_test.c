/* Merges under failures, crashes and rivals. After each, and after recovery, readers see each row
 * of the model once: never a third state. TARN_FULL=1 sweeps everything; otherwise seeds
 * choose.
 */
#include "unit/test.h"

#include "sim/merge_world.h"
#include "unit/alloc.h"

static bool full(void)
{
    const char *text = getenv("TARN_FULL");

    return text != NULL && *text != '\0' && *text != '0';
}

#define CHECK(w, what, ...)                                                                        \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            print_message("context: %s\n", tarn_cx_error((w)->cx));                                \
            world_show((w), TN_STR("/lake"));                                                      \
            print_message(__VA_ARGS__);                                                            \
            fail_msg(": %s", #what);                                                               \
        }                                                                                          \
    } while (0)

static void run_under(struct world *w, const tn_fault_plan *plan, bool undo,
                      tn_partition_report *report, int *rc, uint64_t *calls)
{
    tn_store *fault;

    assert_ok(w->cx, tn_store_fault_open(w->cx, w->memory, plan, &fault));
    w->store = fault;
    *rc = undo ? world_undo(w, report) : world_merge(w, report);
    *calls = tn_store_fault_calls(fault);
    w->store = w->memory;
    tn_store_close(fault);
}

/* Recovery, and a clean run afterwards: it succeeds, and leaves nothing but kept old files. */
static void recover_and_check(struct world *w, const char *label)
{
    tn_partition_report report = {0};
    tn_recovery recovery;
    int rc = tn_dir_recover(w->cx, w->memory, TN_STR(ROOT), &recovery);

    CHECK(w, rc == TARN_OK, "%s: recovery", label);
    CHECK(w, tn_recovery_open(&recovery, TN_STR("dt=1")) == NULL, "%s: left open", label);
    tn_recovery_clear(&recovery);
    CHECK(w, world_rows_right(w), "%s: after recovery", label);
    rc = world_merge(w, &report);
    CHECK(w, rc == TARN_OK, "%s: the next run", label);
    CHECK(w, report.outcome == TN_PARTITION_DONE || report.outcome == 0, "%s: %.*s", label,
          TN_STR_ARG(report.text));
    CHECK(w, world_rows_right(w), "%s: after the next run", label);
    CHECK(w, world_has(w, ROOT "/dt=1/_SUCCESS"), "%s", label);
    if (w->keep_old_ms == 0)
        CHECK(w, !world_has(w, "/lake/.t.tarn") && !world_has(w, ROOT "/.tarn"), "%s", label);
}

static uint64_t count_calls(enum way way, int64_t keep_old_ms, bool undo)
{
    struct world w;
    tn_partition_report report = {0};
    uint64_t calls;
    int rc;

    world_open(&w, way, keep_old_ms);
    run_under(&w, &(tn_fault_plan){0}, false, &report, &rc, &calls);
    CHECK(&w, rc == TARN_OK && report.outcome == TN_PARTITION_DONE, "clean run %d: %.*s", way,
          TN_STR_ARG(report.text));
    CHECK(&w, world_rows_right(&w), "clean run");
    CHECK(&w, !world_has(&w, ROOT "/dt=1/a.parquet"), "clean run");
    CHECK(&w, !world_has(&w, ROOT "/dt=1/_metadata"), "clean run");
    if (undo) {
        report = (tn_partition_report){0};
        run_under(&w, &(tn_fault_plan){0}, true, &report, &rc, &calls);
        CHECK(&w, rc == TARN_OK && report.outcome == TN_PARTITION_DONE, "clean undo %d: %.*s", way,
              TN_STR_ARG(report.text));
        CHECK(&w, world_rows_right(&w), "clean undo");
        CHECK(&w, world_has(&w, ROOT "/dt=1/a.parquet"), "clean undo");
        CHECK(&w, world_has(&w, ROOT "/dt=1/_metadata"), "clean undo");
        CHECK(&w, !world_has(&w, "/lake/.t.tarn") && !world_has(&w, ROOT "/.tarn"), "clean undo");
    }
    world_close(&w);
    return calls;
}

/* By exchange readers never see a third state, not even without recovery. */
static bool always_right(enum way way)
{
    return way == WAY_EXCHANGE;
}

static void fail_once(enum way way, int64_t keep_old_ms, bool undo, uint64_t n, int status)
{
    struct world w;
    tn_partition_report report = {0};
    uint64_t calls;
    char label[100];
    int rc;

    snprintf(label, sizeof label, "way %d, undo %d, status %d, call %" PRIu64, way, undo, status,
             n);
    world_open(&w, way, keep_old_ms);
    if (undo)
        assert_ok(w.cx, world_merge(&w, &report));
    report = (tn_partition_report){0};
    run_under(&w, &(tn_fault_plan){.fail_at = n, .status = status}, undo, &report, &rc, &calls);
    CHECK(&w, rc == TARN_OK || tarn_cx_error(w.cx)[0] != '\0', "%s", label);
    if (rc == TARN_OK && report.outcome > TN_PARTITION_DONE)
        CHECK(&w, report.text.len != 0, "%s", label);
    if (always_right(way) && status != TARN_E_UNSUPPORTED)
        CHECK(&w, world_rows_right(&w), "%s: before recovery", label);
    recover_and_check(&w, label);
    world_close(&w);
}

static void sweep_failures(enum way way, int64_t keep_old_ms, bool undo)
{
    static const int statuses[] = {TARN_E_IO, TARN_E_UNSUPPORTED, TARN_E_NOMEM};
    uint64_t total = count_calls(way, keep_old_ms, undo);

    for (int s = 0; s < 3; s++)
        for (uint64_t n = 1; n <= total; n++)
            fail_once(way, keep_old_ms, undo, n, statuses[s]);
}

static void test_merge__survives_each_failing_call(void **state)
{
    (void)state;
    for (int way = 0; way < WAY_COUNT; way++)
        sweep_failures(way, 0, false);
}

static void test_merge__survives_each_failing_call_keeping_old_files(void **state)
{
    (void)state;
    sweep_failures(WAY_EXCHANGE, 60000, false);
    sweep_failures(WAY_INSIDE, 60000, false);
}

static void test_merge__undo_survives_each_failing_call(void **state)
{
    (void)state;
    sweep_failures(WAY_EXCHANGE, 60000, true);
    sweep_failures(WAY_INSIDE, 60000, true);
}

/* One crash, what is left of the unsynced chosen by seed; perhaps a second one in the recovery. */
static void crash_once(enum way way, int64_t keep_old_ms, bool undo, uint64_t at, bool after,
                       uint64_t seed, uint64_t second)
{
    struct world w;
    tn_partition_report report = {0};
    uint64_t calls;
    char label[140];
    int rc;

    snprintf(label, sizeof label,
             "way %d, undo %d, crash %s call %" PRIu64 ", seed %" PRIu64 ", second %" PRIu64, way,
             undo, after ? "after" : "before", at, seed, second);
    world_open(&w, way, keep_old_ms);
    if (undo)
        assert_ok(w.cx, world_merge(&w, &report));
    run_under(&w, &(tn_fault_plan){.crash_at = at, .crash_after = after}, undo, &report, &rc,
              &calls);
    tn_store_memory_crash(w.memory, seed);
    if (always_right(way))
        CHECK(&w, world_rows_right(&w), "%s: before recovery", label);
    if (second != 0) {
        run_under(&w, &(tn_fault_plan){.crash_at = second, .crash_after = after}, false, &report,
                  &rc, &calls);
        tn_store_memory_crash(w.memory, seed + 1);
        if (always_right(way))
            CHECK(&w, world_rows_right(&w), "%s: after the second crash", label);
    }
    recover_and_check(&w, label);
    world_close(&w);
}

static void sweep_crashes(enum way way, int64_t keep_old_ms, bool undo)
{
    uint64_t total = count_calls(way, keep_old_ms, undo), seeds = full() ? 12 : 3;

    for (uint64_t n = 1; n <= total; n++)
        for (int after = 0; after < 2; after++)
            for (uint64_t seed = 0; seed < seeds; seed++)
                crash_once(way, keep_old_ms, undo, n, after, seed, 0);
}

static void test_merge__survives_a_crash_at_each_call(void **state)
{
    (void)state;
    for (int way = 0; way < WAY_COUNT; way++)
        sweep_crashes(way, 0, false);
}

static void test_merge__survives_a_crash_at_each_call_keeping_old_files(void **state)
{
    (void)state;
    sweep_crashes(WAY_EXCHANGE, 60000, false);
    sweep_crashes(WAY_SUBDIR, 60000, false);
}

static void test_merge__undo_survives_a_crash_at_each_call(void **state)
{
    (void)state;
    sweep_crashes(WAY_EXCHANGE, 60000, true);
    sweep_crashes(WAY_INSIDE, 60000, true);
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void test_merge__survives_a_crash_in_the_recovery(void **state)
{
    uint64_t totals[WAY_COUNT], seeds = full() ? 20000 : 600;

    (void)state;
    for (int way = 0; way < WAY_COUNT; way++)
        totals[way] = count_calls(way, 0, false);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        uint64_t random = seed;
        enum way way = random_next(&random) % WAY_COUNT;
        uint64_t at = random_next(&random) % totals[way] + 1;
        uint64_t second = random_next(&random) % totals[way] + 1;
        int64_t keep = random_next(&random) % 2 != 0 ? 60000 : 0;

        crash_once(way, keep, false, at, random_next(&random) % 2, seed, second);
    }
}

struct intrusion {
    struct world *w;
    enum rival rival;
    uint64_t at;
    bool again;
};

static void intrude(void *arg, uint64_t call)
{
    struct intrusion *intrusion = arg;

    if (call == intrusion->at)
        world_rival(intrusion->w, intrusion->rival);
    if (intrusion->rival == RIVAL_BOTH && !intrusion->again &&
        world_has(intrusion->w, ROOT "/dt=1/merged-1.parquet")) {
        intrusion->again = true;
        world_rival(intrusion->w, RIVAL_CHANGES_OTHER);
    }
}

/* A rival at work before one call of a run, which may crash. */
static void intrude_once(enum way way, enum rival rival, uint64_t at, uint64_t crash, bool after,
                         uint64_t seed)
{
    struct world w;
    struct intrusion intrusion = {&w, rival, at, false};
    tn_partition_report report = {0};
    uint64_t calls;
    char label[140];
    int rc;

    snprintf(label, sizeof label,
             "way %d, rival %d before call %" PRIu64 ", crash %s %" PRIu64 ", seed %" PRIu64, way,
             rival, at, after ? "after" : "before", crash, seed);
    world_open(&w, way, 0);
    run_under(&w,
              &(tn_fault_plan){
                  .hook = intrude, .hook_arg = &intrusion, .crash_at = crash, .crash_after = after},
              false, &report, &rc, &calls);
    if (crash != 0)
        tn_store_memory_crash(w.memory, seed);
    else
        CHECK(&w, world_rows_right(&w), "%s: before recovery", label);
    recover_and_check(&w, label);
    world_close(&w);
}

static void test_merge__meets_rivals_at_each_call(void **state)
{
    (void)state;
    for (int way = 0; way < WAY_COUNT; way++) {
        uint64_t total = count_calls(way, 0, false);

        for (int rival = 0; rival < RIVAL_COUNT; rival++)
            for (uint64_t at = 1; at <= total; at++)
                intrude_once(way, rival, at, 0, false, 0);
    }
}

static void test_merge__meets_rivals_and_crashes(void **state)
{
    uint64_t totals[WAY_COUNT], seeds = full() ? 40000 : 1500;

    (void)state;
    for (int way = 0; way < WAY_COUNT; way++)
        totals[way] = count_calls(way, 0, false);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        uint64_t random = seed;
        enum way way = random_next(&random) % WAY_COUNT;
        enum rival rival = random_next(&random) % RIVAL_COUNT;
        uint64_t at = random_next(&random) % totals[way] + 1;
        uint64_t crash = random_next(&random) % totals[way] + 1;

        intrude_once(way, rival, at, crash, random_next(&random) % 2, seed);
    }
}

struct watch {
    struct world *w;
    uint64_t wrong_at;
};

static void read_now(void *arg, uint64_t call)
{
    struct watch *watch = arg;

    if (watch->wrong_at == 0 && !world_rows_right(watch->w))
        watch->wrong_at = call;
}

/* A reader between any two calls of an exchange. */
static void test_merge__exchange_never_shows_a_third_state(void **state)
{
    struct world w;
    struct watch watch = {&w, 0};
    tn_partition_report report = {0};
    uint64_t calls;
    int rc;

    (void)state;
    world_open(&w, WAY_EXCHANGE, 60000);
    for (int undo = 0; undo < 2; undo++) {
        run_under(&w, &(tn_fault_plan){.hook = read_now, .hook_arg = &watch}, undo, &report, &rc,
                  &calls);
        assert_int_equal(rc, TARN_OK);
        assert_int_equal(report.outcome, TN_PARTITION_DONE);
        assert_int_equal(watch.wrong_at, 0);
    }
    world_close(&w);
}

static void test_merge__survives_each_failing_allocation(void **state)
{
    (void)state;
    for (int way = 0; way < WAY_COUNT; way++) {
        size_t total = 1, step = way > 0 && !full() ? 7 : 1;

        for (size_t n = 0; n <= total; n += n != 0 ? step : 1) {
            struct world w;
            tn_partition_report report = {0};
            char label[60];
            size_t calls;
            int rc;

            snprintf(label, sizeof label, "way %d, allocation %zu of %zu", way, n, total);
            world_open(&w, way, 0);
            alloc_watch(n);
            rc = world_merge(&w, &report);
            calls = alloc_unwatch();
            total = n == 0 ? calls : total;
            CHECK(&w, rc == TARN_OK || tarn_cx_error(w.cx)[0] != '\0', "%s", label);
            if (always_right(way))
                CHECK(&w, world_rows_right(&w), "%s: before recovery", label);
            recover_and_check(&w, label);
            world_close(&w);
        }
    }
}
