/* Whole operations on a Hudi table, chosen by seeds, beside a model of it as a map from key to row:
 * writes of every kind and rollbacks, under failing calls, crashes, full disks, a clock that goes
 * backwards, and a second writer in between. After every step readers see the table before or after
 * it, never a third; after a crash the next open repairs, and nothing is left. TARN_SEEDS=N runs N
 * seeds, TARN_SEED=S that one alone; a failing seed is in the message. */
#include "sim/hudi_world.h"

#include "io/store_wrap.h"

#define STEPS       26
#define SEEDS       10
#define HISTORY_MAX 64
#define CALLS_MAX   420

enum fault { FAULT_NONE, FAULT_CALL, FAULT_CRASH, FAULT_FULL, FAULT_RIVAL };

struct past {
    struct model before;
    char instant[32];
};

/* How often what is to be simulated came about. */
struct met {
    int writes, committed, failed, undone, lost_answers, rivals, rivals_refused, rollbacks;
};

struct sim {
    struct hudi_world w;
    struct met met;
    struct model model;
    struct past history[HISTORY_MAX];
    size_t history_count;
    int64_t next_val;
    uint64_t calls; /* of the last write that nothing disturbed */
    char label[200];

    /* The second writer. */
    uint64_t rival_at;
    struct step rival;
    bool rival_ran, rival_committed;
};

#define CHECK(s, what)                                                                             \
    do {                                                                                           \
        if (!(what))                                                                               \
            fail_msg("%s: %s; cx: %s; look: %s; warned: %s", (s)->label, #what,                    \
                     tarn_cx_error((s)->w.cx), tarn_cx_error((s)->w.look), (s)->w.warned);         \
    } while (0)

/* ---- what to do */

static bool has_key(const struct step *step, int key)
{
    for (int i = 0; i < step->count; i++)
        if (step->rows[i].key == key)
            return true;
    return false;
}

static void choose_rows(struct sim *s, struct step *step, int wanted)
{
    struct hudi_world *w = &s->w;
    bool again = step->op == TARN_OP_UPSERT,
         fresh = step->op == TARN_OP_INSERT || step->op == TARN_OP_BULK_INSERT;

    for (int tries = 0; tries < 4 * wanted && step->count < wanted; tries++) {
        int key = (int)world_random(w, KEYS);

        if ((!again && has_key(step, key)) || (fresh && s->model.rows[key].here))
            continue;
        step->rows[step->count++] =
            (struct batch_row){key, (int64_t)world_random(w, 10), ++s->next_val};
    }
}

static struct step choose_step(struct sim *s)
{
    static const enum tarn_operation operations[] = {
        TARN_OP_UPSERT,           TARN_OP_UPSERT,
        TARN_OP_UPSERT,           TARN_OP_UPSERT,
        TARN_OP_INSERT,           TARN_OP_DELETE,
        TARN_OP_INSERT_OVERWRITE, TARN_OP_INSERT_OVERWRITE_TABLE,
        TARN_OP_DELETE,           TARN_OP_BULK_INSERT,
        TARN_OP_DELETE_PARTITION};
    struct hudi_world *w = &s->w;
    struct step step = {.op = operations[world_random(w, sizeof operations / sizeof *operations)]};

    if (step.op == TARN_OP_DELETE_PARTITION && !w->parts)
        step.op = TARN_OP_UPSERT;
    step.partition = (int)world_random(w, PARTITIONS);
    if (step.op != TARN_OP_DELETE_PARTITION)
        choose_rows(s, &step, 1 + (int)world_random(w, BATCH_MAX));
    return step;
}

/* A rival brings rows of its own, so that what both did can be told apart. */
static void choose_rival(struct sim *s)
{
    s->rival = (struct step){.op = TARN_OP_UPSERT};
    choose_rows(s, &s->rival, 3);
    /* Before the lock is taken, or anywhere. */
    s->rival_at = 1 + world_random(&s->w, world_random(&s->w, 2) == 0 ? 20 : CALLS_MAX);
}

static void run_rival(void *arg, uint64_t call)
{
    struct sim *s = arg;
    int rc;

    if (call != s->rival_at || s->rival_ran)
        return;
    s->rival_ran = true;
    rc = world_write(&s->w, s->w.look, s->w.memory, &s->rival, &s->rival_committed);
    CHECK(s, rc == TARN_OK || rc == TARN_E_CONFLICT || rc == TARN_E_EXISTS);
    s->met.rivals += s->rival_committed;
    s->met.rivals_refused += rc != TARN_OK;
    tn_cx_forget(s->w.look);
}

static enum fault choose_fault(struct sim *s, tn_fault_plan *plan)
{
    struct hudi_world *w = &s->w;
    enum fault fault = (enum fault)world_random(w, 7);

    *plan = (tn_fault_plan){0};
    s->rival_ran = s->rival_committed = false;
    switch (fault) {
    case FAULT_CALL:
        plan->fail_at = 1 + world_random(w, CALLS_MAX);
        return fault;
    case FAULT_CRASH:
        plan->crash_at = 1 + world_random(w, CALLS_MAX);
        /* Around the commit point, which is near the end. */
        if (s->calls > 40 && world_random(w, 2) == 0)
            plan->crash_at = s->calls - world_random(w, 40);
        plan->crash_after = world_random(w, 2) != 0;
        return fault;
    case FAULT_FULL:
        plan->full_after_bytes = 1 + world_random(w, 30000);
        return fault;
    case FAULT_RIVAL:
        choose_rival(s);
        plan->hook = run_rival;
        plan->hook_arg = s;
        return fault;
    default:
        return FAULT_NONE;
    }
}

static void move_clock(struct hudi_world *w)
{
    if (world_random(w, 8) == 0)
        w->now_ms -= (int64_t)world_random(w, 600000);
    else
        w->now_ms += (int64_t)world_random(w, 5000);
}

/* ---- what must be */

/* The state that is seen is one of these; it becomes the model. */
static void settle(struct sim *s, const struct model *states, size_t count)
{
    struct model seen;

    world_read(&s->w, &seen);
    for (size_t i = 0; i < count; i++)
        if (model_same(&seen, &states[i])) {
            s->model = seen;
            return;
        }
    for (int key = 0; key < KEYS; key++)
        if (seen.rows[key].here || states[0].rows[key].here)
            print_message("key %d: seen %d ts %d val %d; %d ts %d val %d\n", key,
                          seen.rows[key].here, (int)seen.rows[key].ts, (int)seen.rows[key].val,
                          states[0].rows[key].here, (int)states[0].rows[key].ts,
                          (int)states[0].rows[key].val);
    CHECK(s, !"a third state is seen");
}

/* The next writer comes and goes; perhaps it dies, too, and another one comes. */
static void repair(struct sim *s)
{
    struct hudi_world *w = &s->w;
    tn_hudi_commit *commit = NULL;

    if (!world_exists(w))
        return;
    if (world_random(w, 3) == 0) {
        tn_fault_plan plan = {.crash_at = 1 + world_random(w, 80)};
        tn_store *store;

        assert_ok(w->look, tn_store_fault_open(w->look, w->memory, &plan, &store));
        if (tn_hudi_commit_open(w->look, store, TN_STR(HUDI_ROOT), NULL, &commit) == TARN_OK)
            tn_hudi_commit_close(w->look, commit);
        tn_cx_forget(w->look);
        tn_store_close(store);
        tn_store_memory_crash(w->memory, w->random);
        commit = NULL;
    }
    CHECK(s, tn_hudi_commit_open(w->look, w->memory, TN_STR(HUDI_ROOT), NULL, &commit) == TARN_OK);
    tn_hudi_commit_close(w->look, commit);
    world_assert_clean(w, s->label);
}

static void latest_of(struct sim *s, char *out, size_t size)
{
    tn_arena arena = {0};
    tn_str latest = world_latest(&s->w, &arena);

    snprintf(out, size, "%.*s", TN_STR_ARG(latest));
    tn_arena_clear(&arena);
}

/* Keeps what there was before the instant that the step made, for a rollback. */
static void remember(struct sim *s, const struct model *before, const char *latest_before)
{
    char latest[32];
    struct past *top;

    latest_of(s, latest, sizeof latest);
    if (strcmp(latest, latest_before) == 0)
        return;
    /* What two writers did cannot be taken apart. */
    if (s->rival_committed || s->history_count == HISTORY_MAX)
        s->history_count = 0;
    if (s->rival_committed)
        return;
    top = &s->history[s->history_count++];
    top->before = *before;
    memcpy(top->instant, latest, sizeof latest);
}

/* What the table may be after a write and a rival's, whoever of both was done, in either order. */
static size_t states_of(struct sim *s, const struct step *step, bool main_may, bool main_must,
                        struct model *states)
{
    struct model before = s->model, rival = before, after = before, both = before, other = before;
    size_t count = 0;

    model_apply(&s->w, &after, step);
    model_apply(&s->w, &rival, &s->rival);
    both = rival;
    model_apply(&s->w, &both, step);
    other = after;
    model_apply(&s->w, &other, &s->rival);
    if (!s->rival_committed) {
        if (!main_must)
            states[count++] = before;
        if (main_may)
            states[count++] = after;
        return count;
    }
    if (!main_must)
        states[count++] = rival;
    if (main_may) {
        states[count++] = both;
        states[count++] = other;
    }
    return count;
}

static void play_write(struct sim *s, int number)
{
    struct hudi_world *w = &s->w;
    struct step step = choose_step(s);
    struct model before = s->model, states[4];
    bool missing = !world_exists(w), committed, refused;
    tn_fault_plan plan;
    enum fault fault = choose_fault(s, &plan);
    tn_store *store;
    char latest[32];
    size_t count;
    int rc;

    latest_of(s, latest, sizeof latest);
    snprintf(s->label, sizeof s->label, "seed step %d: op %d, %d rows, fault %d at %d, version %d",
             number, (int)step.op, step.count, (int)fault,
             (int)(plan.fail_at + plan.crash_at + plan.full_after_bytes + s->rival_at),
             (int)w->version);
    assert_ok(w->look, tn_store_fault_open(w->look, w->memory, &plan, &store));
    rc = world_write(w, w->cx, store, &step, &committed);
    if (fault == FAULT_NONE && rc == TARN_OK)
        s->calls = tn_store_fault_calls(store);
    tn_store_close(store);
    if (fault == FAULT_CRASH)
        tn_store_memory_crash(w->memory, w->random);
    CHECK(s, rc == TARN_OK || tarn_cx_error(w->cx)[0] != '\0');
    /* There is nothing to delete from. */
    refused = (missing && (step.op == TARN_OP_DELETE || step.op == TARN_OP_DELETE_PARTITION)) ||
              (step.op == TARN_OP_DELETE_PARTITION && rc == TARN_E_NOTFOUND);
    CHECK(s, rc == TARN_OK || fault != FAULT_NONE || refused);
    /* A crash may lose the answer; nothing else may. */
    count = states_of(s, &step, rc == TARN_OK || fault == FAULT_CRASH, rc == TARN_OK, states);
    settle(s, states, count);
    s->met.writes++;
    s->met.committed += committed;
    s->met.failed += rc != TARN_OK && !refused;
    s->met.undone += rc != TARN_OK && fault == FAULT_CRASH && model_same(&s->model, &before);
    s->met.lost_answers += rc != TARN_OK && !model_same(&s->model, &before);
    if (rc != TARN_OK || fault == FAULT_CRASH) {
        states[0] = s->model;
        repair(s);
        settle(s, states, 1);
    }
    if (fault == FAULT_NONE)
        world_assert_clean(w, s->label);
    remember(s, &before, latest);
    tn_cx_forget(w->cx);
}

/* The history ends with the latest instant, or nothing is known of it. */
static void forget_rolled(struct sim *s)
{
    char latest[32];

    latest_of(s, latest, sizeof latest);
    for (int i = 0; i < 2; i++)
        if (s->history_count != 0 && strcmp(latest, s->history[s->history_count - 1].instant) != 0)
            s->history_count = i == 0 ? s->history_count - 1 : 0;
}

static void play_rollback(struct sim *s, int number)
{
    struct hudi_world *w = &s->w;
    struct past *top = &s->history[s->history_count - 1];
    struct model states[2] = {s->model, top->before};
    tarn_rollback_report *report = NULL;
    tn_fault_plan plan;
    enum fault fault = choose_fault(s, &plan);
    tn_store *store;
    int rc;

    if (fault == FAULT_RIVAL)
        plan = (tn_fault_plan){0};
    snprintf(s->label, sizeof s->label, "seed step %d: rollback of %s, fault %d at %d, version %d",
             number, top->instant, (int)fault,
             (int)(plan.fail_at + plan.crash_at + plan.full_after_bytes), (int)w->version);
    assert_ok(w->look, tn_store_fault_open(w->look, w->memory, &plan, &store));
    rc = tn_hudi_rollback_at(w->cx, store, TN_STR(HUDI_ROOT), top->instant, NULL, &report);
    tarn_rollback_report_close(report);
    tn_store_close(store);
    if (fault == FAULT_CRASH)
        tn_store_memory_crash(w->memory, w->random);
    CHECK(s, rc == TARN_OK || fault != FAULT_NONE);
    settle(s, rc == TARN_OK ? &states[1] : states, rc == TARN_OK ? 1 : 2);
    /* A rollback that was planned is brought to its end by whoever comes next. */
    if (rc != TARN_OK || fault == FAULT_CRASH) {
        states[0] = s->model;
        repair(s);
        settle(s, states, 2);
    }
    forget_rolled(s);
    s->met.rollbacks += rc == TARN_OK;
    tn_cx_forget(w->cx);
}

static void add_met(struct met *all, const struct met *one)
{
    all->writes += one->writes;
    all->committed += one->committed;
    all->failed += one->failed;
    all->undone += one->undone;
    all->lost_answers += one->lost_answers;
    all->rivals += one->rivals;
    all->rivals_refused += one->rivals_refused;
    all->rollbacks += one->rollbacks;
}

static void play(uint64_t seed, int steps, struct met *all)
{
    struct sim *s = calloc(1, sizeof *s);

    assert_non_null(s);
    world_open_on(&s->w, seed, NULL);
    for (int i = 0; i < steps; i++) {
        move_clock(&s->w);
        s->w.warned[0] = '\0';
        if (s->history_count != 0 && world_random(&s->w, 6) == 0)
            play_rollback(s, i);
        else
            play_write(s, i);
    }
    world_close(&s->w);
    add_met(all, &s->met);
    free(s);
}

static uint64_t number_of(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : fallback;
}

static void test_hudi__sees_the_old_or_the_new_whatever_happens(void **state)
{
    uint64_t only = number_of("TARN_SEED", 0), seeds = number_of("TARN_SEEDS", SEEDS);
    struct met met = {0};

    (void)state;
    for (uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : seeds); seed++) {
        print_message("seed %" PRIu64 "\n", seed);
        play(seed, STEPS, &met);
    }
    print_message("%d writes: %d committed, %d failed, %d undone after a crash, %d answers lost; "
                  "rivals: %d done, %d refused; %d rollbacks\n",
                  met.writes, met.committed, met.failed, met.undone, met.lost_answers, met.rivals,
                  met.rivals_refused, met.rollbacks);
    if (only == 0 && seeds >= SEEDS) {
        assert_true(met.failed > met.writes / 10 && met.undone > 0 && met.lost_answers > 0);
        assert_true(met.rivals > 0 && met.rivals_refused > 0 && met.rollbacks > 0);
    }
}

/* ---- a table that cannot be written to, or goes away */

static void start_with_rows(struct hudi_world *w, uint64_t seed, struct model *model)
{
    struct step step = {.op = TARN_OP_INSERT};

    world_open_on(w, seed, NULL);
    w->version = seed % 2 == 0 ? 9 : 6;
    w->parts = w->ordered = true;
    for (int key = 0; key < 12; key++)
        step.rows[step.count++] = (struct batch_row){key, 1, key};
    assert_ok(w->look, world_write(w, w->cx, w->memory, &step, NULL));
    w->made = true;
    world_read(w, model);
}

static struct step an_upsert(void)
{
    struct step step = {.op = TARN_OP_UPSERT};

    for (int key = 6; key < 20; key++)
        step.rows[step.count++] = (struct batch_row){key, 2, 100 + key};
    return step;
}

static int refuse_changes(tarn_cx *cx, tn_store_wrap *wrap, enum tn_store_call call, tn_str path,
                          uint64_t bytes)
{
    (void)wrap;
    (void)bytes;
    if (call == TN_CALL_STAT || call == TN_CALL_OPEN || call == TN_CALL_READ ||
        call == TN_CALL_LIST_OPEN || call == TN_CALL_LIST_NEXT || call == TN_CALL_MAY_WRITE ||
        call == TN_CALL_FREE_BYTES || call == TN_CALL_ATTRS_GET)
        return TARN_OK;
    return tn_fail(cx, TARN_E_IO, "%.*s: Read-only file system", TN_STR_ARG(path));
}

static void test_hudi__leaves_a_read_only_table_as_it_is(void **state)
{
    struct step step = an_upsert();
    struct model before, after;
    struct hudi_world w;
    tn_store_wrap *wrap;

    (void)state;
    start_with_rows(&w, 3, &before);
    wrap = calloc(1, sizeof *wrap);
    assert_non_null(wrap);
    tn_store_wrap_init(wrap, w.memory);
    wrap->before = refuse_changes;
    assert_fails(w.cx, TARN_E_IO, "Read-only", world_write(&w, w.cx, &wrap->base, &step, NULL));
    tn_store_close(&wrap->base);
    world_read(&w, &after);
    assert_true(model_same(&before, &after));
    world_assert_clean(&w, "read-only");
    world_close(&w);
}

struct thief {
    struct hudi_world *w;
    uint64_t at;
    bool gone;
};

static void take_away(void *arg, uint64_t call)
{
    struct thief *t = arg;

    if (call != t->at)
        return;
    assert_ok(t->w->look, tn_store_rename(t->w->look, t->w->memory, TN_STR(HUDI_ROOT),
                                          TN_STR("/lake/elsewhere"), false));
    t->gone = true;
}

/* Somebody moves the table away: the write fails, makes nothing in its place, and the table, moved
 * back, is as it was. */
static void test_hudi__makes_nothing_where_a_table_went_away(void **state)
{
    bool gone = true;

    (void)state;
    for (uint64_t n = 1; gone; n += 7) {
        struct step step = an_upsert();
        struct model before, both[2], seen;
        struct hudi_world w;
        struct thief thief = {.w = &w, .at = n};
        tn_hudi_commit *commit;
        tn_fault_plan plan = {.hook = take_away, .hook_arg = &thief};
        tn_store *store;
        bool there;
        int rc;

        start_with_rows(&w, n, &before);
        both[0] = both[1] = before;
        model_apply(&w, &both[1], &step);
        assert_ok(w.look, tn_store_fault_open(w.look, w.memory, &plan, &store));
        rc = world_write(&w, w.cx, store, &step, NULL);
        tn_store_close(store);
        gone = thief.gone;
        if (!gone) {
            assert_ok(w.cx, rc);
            world_close(&w);
            break;
        }
        assert_true(rc == TARN_OK || tarn_cx_error(w.cx)[0] != '\0');
        assert_ok(w.look, tn_store_exists(w.look, w.memory, TN_STR(HUDI_ROOT), &there));
        if (there)
            fail_msg("call %d: something was made in the table's place", (int)n);
        assert_ok(w.look, tn_store_rename(w.look, w.memory, TN_STR("/lake/elsewhere"),
                                          TN_STR(HUDI_ROOT), false));
        world_read(&w, &seen);
        assert_true(model_same(&seen, &both[0]) || model_same(&seen, &both[1]));
        assert_true(rc != TARN_OK || model_same(&seen, &both[1]));
        assert_ok(w.look, tn_hudi_commit_open(w.look, w.memory, TN_STR(HUDI_ROOT), NULL, &commit));
        tn_hudi_commit_close(w.look, commit);
        world_assert_clean(&w, "moved back");
        world_close(&w);
    }
}
