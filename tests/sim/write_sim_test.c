/* Writes under failures, crashes and rivals. While a write publishes, readers see what
 * docs/write.md allows; after a crash and its recovery exactly the rows before or exactly those
 * after, and no staging. TARN_FULL=1 sweeps everything; otherwise seeds choose. */
#include "unit/test.h"

#include "sim/write_world.h"
#include "unit/alloc.h"

static bool full(void)
{
    const char *text = getenv("TARN_FULL");

    return text != NULL && *text != '\0' && *text != '0';
}

#define CHECK(l, what, ...)                                                                        \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            print_message("context: %s\n", tarn_cx_error((l)->w.cx));                              \
            world_show(&(l)->w, TN_STR("/lake"));                                                  \
            print_message(__VA_ARGS__);                                                            \
            fail_msg(": %s", #what);                                                               \
        }                                                                                          \
    } while (0)

/* The scenes that are swept: a way, a mode, and whether there is a root at all. */
struct scene {
    enum way way;
    bool missing;
    struct request request;
};
static const struct scene scenes[] = {
    {WAY_EXCHANGE, false, {TN_WRITE_APPEND, {1, 0, 2, 1, 1, 0}, 2}},
    {WAY_EXCHANGE, false, {TN_WRITE_OVERWRITE, {2, 0, 0, 1, 1, 1}, 1}},
    {WAY_EXCHANGE, false, {TN_WRITE_OVERWRITE_PARTITIONS, {1, 0, 1, 0, 1, 0}, 1}},
    {WAY_EXCHANGE, false, {TN_WRITE_OVERWRITE, {0}, 1}},
    {WAY_EXCHANGE, true, {TN_WRITE_APPEND, {1, 2, 0, 1, 0, 0}, 1}},
    {WAY_EXCHANGE, true, {TN_WRITE_OVERWRITE, {1, 0, 0, 0, 1, 0}, 1}},
    {WAY_REFUSED, false, {TN_WRITE_OVERWRITE, {1, 0, 0, 1, 0, 0}, 1}},
    {WAY_SUBDIR, false, {TN_WRITE_OVERWRITE_PARTITIONS, {2, 1, 0, 0, 0, 0}, 1}},
    {WAY_INSIDE, false, {TN_WRITE_APPEND, {1, 0, 0, 1, 1, 0}, 1}},
    {WAY_INSIDE, false, {TN_WRITE_OVERWRITE, {1, 0, 0, 0, 1, 1}, 1}},
};
#define SCENES (sizeof scenes / sizeof *scenes)

static void write_under(struct lake *l, const tn_fault_plan *plan, const struct request *request,
                        struct outcome *out)
{
    tn_store *fault;

    *out = (struct outcome){0};
    lake_expect(l, request, out);
    assert_ok(l->w.cx, tn_store_fault_open(l->w.cx, l->w.memory, plan, &fault));
    l->w.store = fault;
    out->rc = lake_write(l, request, out);
    out->calls = tn_store_fault_calls(fault);
    l->w.store = l->w.memory;
    tn_store_close(fault);
}

static void recover_under(struct lake *l, const tn_fault_plan *plan)
{
    tn_recovery recovery = {0};
    tn_store *fault;

    assert_ok(l->w.cx, tn_store_fault_open(l->w.cx, l->w.memory, plan, &fault));
    if (tn_dir_recover(l->w.cx, fault, TN_STR(ROOT), &recovery) == TARN_OK)
        tn_recovery_clear(&recovery);
    tn_cx_forget(l->w.cx);
    tn_store_close(fault);
}

/* Recovery: exactly the one or exactly the other, which becomes the model. Then a write that brings
 * nothing, and nothing is left. */
static void recover_and_check(struct lake *l, const struct outcome *was, const char *label)
{
    static const struct request nothing = {.mode = TN_WRITE_APPEND};
    struct outcome end;
    tn_recovery recovery;
    bool is_after;
    int rc = tn_dir_recover(l->w.cx, l->w.memory, TN_STR(ROOT), &recovery);

    CHECK(l, rc == TARN_OK, "%s: recovery", label);
    for (size_t i = 0; i < recovery.note_count; i++)
        CHECK(l, recovery.notes[i].kind == TN_RECOVERY_SETTLED, "%s: %.*s", label,
              TN_STR_ARG(recovery.notes[i].text));
    tn_recovery_clear(&recovery);
    is_after = lake_sees(l, was->after);
    CHECK(l, is_after || lake_sees(l, was->before), "%s: after recovery", label);
    CHECK(l, was->rc != TARN_OK || is_after, "%s: it was done", label);
    lake_model(l, is_after ? was->after : was->before);
    write_under(l, &(tn_fault_plan){0}, &nothing, &end);
    CHECK(l, end.rc == TARN_OK, "%s: the next run", label);
    CHECK(l, lake_sees(l, end.after), "%s: after the next run", label);
    CHECK(l, !world_has(&l->w, WORK) && !world_has(&l->w, ROOT "/.tarn"), "%s", label);
}

static uint64_t count_calls(const struct scene *scene)
{
    struct lake l;
    struct outcome out;

    lake_open(&l, scene->way, scene->missing);
    write_under(&l, &(tn_fault_plan){0}, &scene->request, &out);
    CHECK(&l, out.rc == TARN_OK && !out.done.pending, "clean run");
    CHECK(&l, lake_sees(&l, out.after), "clean run");
    CHECK(&l, !world_has(&l.w, WORK) && !world_has(&l.w, ROOT "/.tarn"), "clean run");
    CHECK(&l, scene->missing || world_has(&l.w, ROOT "/a=1/b=1/_SUCCESS"), "clean run");
    CHECK(&l, scene->missing || world_has(&l.w, ROOT "/a=1/b=1/notes.txt"), "clean run");
    CHECK(&l, !world_has(&l.w, ROOT "/_metadata"), "clean run");
    if (scene->request.mode == TN_WRITE_OVERWRITE) {
        CHECK(&l, !world_has(&l.w, ROOT "/a=1/b=2"), "clean run");
        CHECK(&l, !world_has(&l.w, ROOT "/a=1/b=1/.x.parquet.crc"), "clean run");
    }
    lake_close(&l);
    return out.calls;
}

static void fail_once(size_t s, uint64_t n, int status)
{
    const struct scene *scene = &scenes[s];
    struct lake l;
    struct outcome out;
    char label[100];

    snprintf(label, sizeof label, "scene %zu, status %d, call %" PRIu64, s, status, n);
    lake_open(&l, scene->way, scene->missing);
    write_under(&l, &(tn_fault_plan){.fail_at = n, .status = status}, &scene->request, &out);
    CHECK(&l, out.rc == TARN_OK || tarn_cx_error(l.w.cx)[0] != '\0', "%s", label);
    if (out.rc == TARN_OK && !out.done.pending)
        CHECK(&l, lake_sees(&l, out.after), "%s: done", label);
    recover_and_check(&l, &out, label);
    lake_close(&l);
}

static void test_write__survives_each_failing_call(void **state)
{
    static const int statuses[] = {TARN_E_IO, TARN_E_UNSUPPORTED, TARN_E_NOMEM};

    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        uint64_t total = count_calls(&scenes[s]);

        for (int k = 0; k < 3; k++)
            for (uint64_t n = 1; n <= total; n++)
                fail_once(s, n, statuses[k]);
    }
}

/* One crash, what is left of the unsynced chosen by seed; perhaps a second one in the recovery. */
static void crash_once(size_t s, uint64_t at, bool after, uint64_t seed, uint64_t second)
{
    const struct scene *scene = &scenes[s];
    struct lake l;
    struct outcome out;
    char label[140];

    snprintf(label, sizeof label,
             "scene %zu, crash %s call %" PRIu64 ", seed %" PRIu64 ", second %" PRIu64, s,
             after ? "after" : "before", at, seed, second);
    lake_open(&l, scene->way, scene->missing);
    write_under(&l, &(tn_fault_plan){.crash_at = at, .crash_after = after}, &scene->request, &out);
    tn_store_memory_crash(l.w.memory, seed);
    if (second != 0) {
        recover_under(&l, &(tn_fault_plan){.crash_at = second, .crash_after = after});
        tn_store_memory_crash(l.w.memory, seed + 1);
    }
    recover_and_check(&l, &out, label);
    lake_close(&l);
}

static void test_write__survives_a_crash_at_each_call(void **state)
{
    uint64_t seeds = full() ? 12 : 2;

    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        uint64_t total = count_calls(&scenes[s]);

        for (uint64_t n = 1; n <= total; n++)
            for (int after = 0; after < 2; after++)
                for (uint64_t seed = 0; seed < seeds; seed++)
                    crash_once(s, n, after, seed, 0);
    }
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void test_write__survives_a_crash_in_the_recovery(void **state)
{
    uint64_t totals[SCENES], seeds = full() ? 20000 : 800;

    (void)state;
    for (size_t s = 0; s < SCENES; s++)
        totals[s] = count_calls(&scenes[s]);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        uint64_t random = seed;
        size_t s = random_next(&random) % SCENES;
        uint64_t at = random_next(&random) % totals[s] + 1;
        uint64_t second = random_next(&random) % totals[s] + 1;

        crash_once(s, at, random_next(&random) % 2, seed, second);
    }
}

/* ---- what readers see meanwhile */

struct watch {
    struct lake *l;
    const struct scene *scene;
    const struct outcome *out;
    uint64_t wrong_at;
};

/* The rule of docs/write.md: no row twice; a row that stays is always seen; and where directories
 * are exchanged or new, a partition shows all of its old or all of its new rows. */
static bool view_allowed(const struct watch *watch, const int *seen)
{
    const struct outcome *out = watch->out;
    bool whole = watch->scene->way == WAY_EXCHANGE && watch->scene->request.mode != TN_WRITE_APPEND;

    for (int i = 0; i < ROWS_MAX; i++)
        if (seen[i] > 1 || (seen[i] != 0 && !out->before[i] && !out->after[i]) ||
            (seen[i] == 0 && out->before[i] && out->after[i]))
            return false;
    for (int p = 0; p < PARTITIONS; p++) {
        bool old = true, new = true, mixed_old = false, mixed_new = false;

        for (int i = 0; i < watch->l->w.next_row; i++) {
            if (watch->l->partition_of[i] != p)
                continue;
            old &= (seen[i] != 0) == out->before[i];
            new &= (seen[i] != 0) == out->after[i];
            mixed_old |= seen[i] != 0 && !out->after[i];
            mixed_new |= seen[i] != 0 && !out->before[i];
        }
        if ((whole && !old && !new) || (mixed_old && mixed_new))
            return false;
    }
    return true;
}

static void read_now(void *arg, uint64_t call)
{
    struct watch *watch = arg;
    int seen[ROWS_MAX];

    lake_read(watch->l, seen);
    if (watch->wrong_at == 0 && !view_allowed(watch, seen))
        watch->wrong_at = call;
}

static void test_write__readers_see_what_is_documented(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        struct lake l;
        struct outcome out;
        struct watch watch = {&l, &scenes[s], &out, 0};

        lake_open(&l, scenes[s].way, scenes[s].missing);
        write_under(&l, &(tn_fault_plan){.hook = read_now, .hook_arg = &watch}, &scenes[s].request,
                    &out);
        CHECK(&l, out.rc == TARN_OK, "scene %zu", s);
        CHECK(&l, watch.wrong_at == 0, "scene %zu, call %" PRIu64, s, watch.wrong_at);
        lake_close(&l);
    }
}

/* ---- rivals */

enum intruder {
    ADDS,
    CHANGES_OLD,
    REMOVES_OLD,
    CHANGES_STRANGER,
    REMOVES_STRANGER,
    MAKES_TARGET,
    ADDS_LATE, /* by a handle: into the directory that has been exchanged already */
    INTRUDERS
};

struct intrusion {
    struct lake *l;
    enum intruder kind;
    uint64_t at;
    bool recorded; /* when it happened */
    int row;       /* that it brought; -1: none */
    int gone;      /* that it took; -1: none */
};

static bool has_record(struct lake *l)
{
    return world_has(&l->w, WORK "/changes/w1.write.json") ||
           world_has(&l->w, ROOT "/.tarn/changes/w1.write.json");
}

static void remove_now(struct world *w, const char *path)
{
    if (tn_store_remove(w->cx, w->memory, tn_str_of(path)) != TARN_OK ||
        tn_store_sync_dir(w->cx, w->memory, TN_STR(ROOT "/a=1/b=1")) != TARN_OK)
        abort();
}

/* A program that had an old directory open makes a name in it once it lies in staging. */
static void add_late(struct intrusion *x)
{
    struct world *w = &x->l->w;

    for (int i = 0; i < 8; i++) {
        tn_str old = world_path(w, WORK "/w1/write/s%05d/new", i);
        tn_str known = world_path(w, "%.*s/x.parquet", TN_STR_ARG(old));
        tn_buf text = {0};
        char row[20];

        if (!world_has(w, known.ptr) || tn_store_get(w->cx, w->memory, known, 20, &text) != TARN_OK)
            continue;
        tn_buf_u8(&text, 0);
        x->row = lake_new_row(x->l, x->l->partition_of[atoi((char *)text.data)]);
        tn_buf_clear(&text);
        snprintf(row, sizeof row, "%d\n", x->row);
        world_put(w, world_path(w, "%.*s/late.parquet", TN_STR_ARG(old)), row);
        return;
    }
}

static void intrude(void *arg, uint64_t call)
{
    struct intrusion *x = arg;
    struct world *w = &x->l->w;
    const char *old = ROOT "/a=1/b=1/y.parquet", *stranger = ROOT "/a=1/b=1/notes.txt";
    char text[20];

    if (call != x->at)
        return;
    x->recorded = has_record(x->l);
    x->row = x->gone = -1;
    if (x->kind == MAKES_TARGET) {
        if (tn_store_make_dirs(w->cx, w->memory, TN_STR(ROOT "/a=3/b=1")) != TARN_OK)
            abort();
        x->row = lake_new_row(x->l, 4);
        snprintf(text, sizeof text, "%d\n", x->row);
        world_put(w, TN_STR(ROOT "/a=3/b=1/rival.parquet"), text);
        return;
    }
    if (x->kind == ADDS_LATE)
        add_late(x);
    if (!world_has(w, ROOT "/a=1/b=1"))
        return;
    if (x->kind == REMOVES_OLD && world_has(w, old)) {
        x->gone = 3; /* the row of y.parquet */
        remove_now(w, old);
    }
    if (x->kind == REMOVES_STRANGER && world_has(w, stranger))
        remove_now(w, stranger);
    if (x->kind == CHANGES_STRANGER)
        world_put(w, TN_STR(ROOT "/a=1/b=1/notes.txt"), "other notes");
    if (x->kind == ADDS || (x->kind == CHANGES_OLD && world_has(w, old))) {
        x->row = lake_new_row(x->l, 0);
        x->gone = x->kind == CHANGES_OLD ? 3 : -1;
        snprintf(text, sizeof text, "%d\n", x->row);
        world_put(w, x->kind == ADDS ? TN_STR(ROOT "/a=1/b=1/rival.parquet") : tn_str_of(old),
                  text);
    }
}

/* A row that a rival brought after the record is there in the end; one before it may have gone with
 * the others. */
static bool rows_fit(struct lake *l, const struct intrusion *x, const bool *want)
{
    int seen[ROWS_MAX];

    lake_read(l, seen);
    for (int i = 0; i < ROWS_MAX; i++) {
        bool fits = seen[i] == want[i];

        if (i == x->gone)
            fits = seen[i] <= want[i];
        if (i == x->row)
            fits = seen[i] == 1 || (seen[i] == 0 && !x->recorded);
        if (!fits)
            return false;
    }
    return true;
}

static void intrude_once(size_t s, enum intruder kind, uint64_t at, uint64_t crash, bool after,
                         uint64_t seed)
{
    const struct scene *scene = &scenes[s];
    struct lake l;
    struct intrusion x = {&l, kind, at, false, -1, -1};
    struct outcome out;
    tn_recovery recovery;
    char label[140];

    snprintf(label, sizeof label,
             "scene %zu, intruder %d before call %" PRIu64 ", crash %s %" PRIu64 ", seed %" PRIu64,
             s, kind, at, after ? "after" : "before", crash, seed);
    lake_open(&l, scene->way, scene->missing);
    write_under(
        &l,
        &(tn_fault_plan){.hook = intrude, .hook_arg = &x, .crash_at = crash, .crash_after = after},
        &scene->request, &out);
    if (crash != 0)
        tn_store_memory_crash(l.w.memory, seed);
    else if (out.rc == TARN_OK && !out.done.pending)
        CHECK(&l, rows_fit(&l, &x, out.after), "%s: done", label);
    CHECK(&l, tn_dir_recover(l.w.cx, l.w.memory, TN_STR(ROOT), &recovery) == TARN_OK, "%s", label);
    for (size_t i = 0; i < recovery.note_count; i++)
        CHECK(&l, recovery.notes[i].kind == TN_RECOVERY_SETTLED, "%s: %.*s", label,
              TN_STR_ARG(recovery.notes[i].text));
    tn_recovery_clear(&recovery);
    CHECK(&l, rows_fit(&l, &x, out.after) || rows_fit(&l, &x, out.before), "%s: recovered", label);
    if (kind == REMOVES_STRANGER && x.recorded)
        CHECK(&l, !world_has(&l.w, ROOT "/a=1/b=1/notes.txt"), "%s", label);
    if (kind == CHANGES_STRANGER && x.recorded && world_has(&l.w, ROOT "/a=1/b=1/notes.txt")) {
        tn_buf text = {0};

        assert_ok(l.w.cx,
                  tn_store_get(l.w.cx, l.w.memory, TN_STR(ROOT "/a=1/b=1/notes.txt"), 100, &text));
        CHECK(&l, tn_str_is(tn_buf_view(&text), "other notes"), "%s", label);
        tn_buf_clear(&text);
    }
    lake_close(&l);
}

static void test_write__meets_rivals_at_each_call(void **state)
{
    uint64_t step = full() ? 1 : 2;

    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        uint64_t total = count_calls(&scenes[s]);

        for (int kind = 0; kind < INTRUDERS; kind++)
            for (uint64_t at = 1 + (s + (size_t)kind) % step; at <= total; at += step)
                intrude_once(s, kind, at, 0, false, 0);
    }
}

static void test_write__meets_rivals_and_crashes(void **state)
{
    uint64_t totals[SCENES], seeds = full() ? 40000 : 1500;

    (void)state;
    for (size_t s = 0; s < SCENES; s++)
        totals[s] = count_calls(&scenes[s]);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        uint64_t random = seed;
        size_t s = random_next(&random) % SCENES;
        enum intruder kind = random_next(&random) % INTRUDERS;
        uint64_t at = random_next(&random) % totals[s] + 1;
        uint64_t crash = random_next(&random) % totals[s] + 1;

        intrude_once(s, kind, at, crash, random_next(&random) % 2, seed);
    }
}

/* ---- long sequences */

static void random_request(uint64_t *random, struct request *out)
{
    *out = (struct request){.mode = (enum tn_write_mode)(random_next(random) % 3 + 1),
                            .rows = (int)(random_next(random) % 2) + 1};
    for (int p = 0; p < PARTITIONS; p++)
        if (random_next(random) % 3 == 0)
            out->files[p] = (int)(random_next(random) % 2) + 1;
}

static void merge_somewhere(struct lake *l, uint64_t *random, const char *label)
{
    tn_partition_report report = {0};
    int rc;

    l->w.partition = partition_names[random_next(random) % PARTITIONS];
    if (!world_has(&l->w, world_path(&l->w, ROOT "/%s", l->w.partition).ptr))
        return;
    rc = world_merge(&l->w, &report);
    CHECK(l, rc == TARN_OK, "%s: merge of %s", label, l->w.partition);
    CHECK(l, report.outcome == TN_PARTITION_DONE || report.outcome == 0, "%s: %.*s", label,
          TN_STR_ARG(report.text));
    CHECK(l, lake_sees(l, l->alive), "%s: merge of %s", label, l->w.partition);
}

/* Writes in all modes and merges; each write may be cut off, by a failure or a crash. */
static void play(uint64_t seed)
{
    uint64_t random = seed;
    struct lake l;
    char label[100];

    lake_open(&l, random_next(&random) % WAY_COUNT, random_next(&random) % 4 == 0);
    for (int i = 0; i < 12 && l.w.next_row < ROWS_MAX - 40; i++) {
        struct request request;
        struct outcome out;
        tn_fault_plan plan = {0};
        bool crash = false;

        snprintf(label, sizeof label, "seed %" PRIu64 ", step %d", seed, i);
        if (random_next(&random) % 4 == 0) {
            merge_somewhere(&l, &random, label);
            continue;
        }
        random_request(&random, &request);
        if (random_next(&random) % 2 == 0) {
            crash = random_next(&random) % 2 == 0;
            *(crash ? &plan.crash_at : &plan.fail_at) = random_next(&random) % 220 + 1;
            plan.crash_after = random_next(&random) % 2 == 0;
        }
        write_under(&l, &plan, &request, &out);
        if (crash)
            tn_store_memory_crash(l.w.memory, random_next(&random));
        if (out.rc == TARN_OK && !out.done.pending && !crash)
            lake_model(&l, out.after);
        else
            recover_and_check(&l, &out, label);
        CHECK(&l, lake_sees(&l, l.alive), "%s", label);
    }
    lake_close(&l);
}

static void test_write__random_sequences_keep_every_row(void **state)
{
    uint64_t seeds = full() ? 20000 : 400;

    (void)state;
    for (uint64_t seed = 0; seed < seeds; seed++)
        play(seed);
}

static void test_write__survives_each_failing_allocation(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        size_t total = 1, step = s > 1 && !full() ? 7 : 1;

        for (size_t n = 0; n <= total; n += n != 0 ? step : 1) {
            struct lake l;
            struct outcome out = {0};
            char label[60];
            size_t calls;

            snprintf(label, sizeof label, "scene %zu, allocation %zu of %zu", s, n, total);
            lake_open(&l, scenes[s].way, scenes[s].missing);
            lake_expect(&l, &scenes[s].request, &out);
            alloc_watch(n);
            out.rc = lake_write(&l, &scenes[s].request, &out);
            calls = alloc_unwatch();
            total = n == 0 ? calls : total;
            CHECK(&l, out.rc == TARN_OK || tarn_cx_error(l.w.cx)[0] != '\0', "%s", label);
            recover_and_check(&l, &out, label);
            lake_close(&l);
        }
    }
}
