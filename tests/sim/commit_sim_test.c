/* Commits to Hudi tables under failures and crashes. Readers see the old or the new state, the next
 * open repairs, and nothing is left after it. TARN_FULL=1 sweeps every call; otherwise a stride
 * chooses. */
#include "sim/commit_world.h"

#include "unit/alloc.h"

static bool full(void)
{
    const char *text = getenv("TARN_FULL");

    return text != NULL && *text != '\0' && *text != '0';
}

enum what { WHAT_CREATE, WHAT_WRITE, WHAT_ROLLBACK, WHAT_AFTER_FAILED, WHAT_DROP };

struct scene {
    const char *name;
    enum what what;
    int32_t version;
    bool lazy;
    struct lake_write write;
};
static const struct scene scenes[] = {
    {"create 6", WHAT_CREATE, 6, false, {0}},
    {"create 9", WHAT_CREATE, 9, false, {0}},
    {"insert 6",
     WHAT_WRITE,
     6,
     false,
     {.operation = TN_OP_INSERT, .partitions = {"dt=a", "dt=c"}, .word = "two"}},
    {"upsert 9",
     WHAT_WRITE,
     9,
     false,
     {.partitions = {"dt=c"}, .rewrite = {"dt=a"}, .word = "two", .spare = true}},
    {"upsert 8, lazy", WHAT_WRITE, 8, true, {.rewrite = {"dt=a", "dt=b"}, .word = "two"}},
    {"overwrite 9",
     WHAT_WRITE,
     9,
     false,
     {.operation = TN_OP_INSERT_OVERWRITE,
      .partitions = {"dt=a"},
      .replace = "dt=a",
      .word = "two"}},
    {"overwrite 6",
     WHAT_WRITE,
     6,
     false,
     {.operation = TN_OP_INSERT_OVERWRITE,
      .partitions = {"dt=a"},
      .replace = "dt=a",
      .word = "two"}},
    {"delete partition 9",
     WHAT_WRITE,
     9,
     false,
     {.operation = TN_OP_DELETE_PARTITION, .replace = "dt=b"}},
    {"rollback 9", WHAT_ROLLBACK, 9, false, {0}},
    {"rollback 6", WHAT_ROLLBACK, 6, false, {0}},
    {"upsert after failed 9", WHAT_AFTER_FAILED, 9, false, {.rewrite = {"dt=a"}, .word = "two"}},
    {"upsert after failed 6", WHAT_AFTER_FAILED, 6, false, {.rewrite = {"dt=a"}, .word = "two"}},
    {"without the metadata table 9", WHAT_DROP, 9, false, {.rewrite = {"dt=a"}, .word = "two"}},
};
#define SCENES (sizeof scenes / sizeof *scenes)

/* One scene under way. */
struct play {
    struct lake l;
    const struct scene *scene;
    struct lake_view before, after;
    tn_str target; /* of a rollback */
};

static tn_str latest_commit(struct lake *l)
{
    tn_arena *arena = &l->arena;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_str found = {0};

    assert_ok(l->cx, tn_hudi_config_load(l->cx, l->memory, l->root, arena, &config));
    assert_ok(l->cx, tn_timeline_load(l->cx, l->memory, l->root, &config, arena, &timeline));
    for (size_t i = 0; i < timeline.count; i++)
        if (timeline.instants[i].action != TN_ACTION_ROLLBACK)
            found = timeline.instants[i].time;
    return found;
}

/* A write that dies with its files on disk: nothing of the store is reached from its close on. */
static void leave_failed(struct lake *l)
{
    static const struct lake_write write = {.partitions = {"dt=a", "dt=z"}, .word = "bad"};
    tn_store *fault;
    uint64_t calls;

    assert_ok(l->cx, tn_store_fault_open(l->cx, l->memory, &(tn_fault_plan){0}, &fault));
    l->store = fault;
    assert_ok(l->cx, lake_run(l, &write, true));
    calls = tn_store_fault_calls(fault);
    tn_store_close(fault);
    l->store = l->memory;
    assert_ok(l->cx, tn_hudi_rollback(l->cx, l->memory, l->root, latest_commit(l), &l->options,
                                      &l->arena, &(tn_hudi_rolled){{0}, {0}, {0}, 0, false}));
    /* The same again, dead before the completed file: some calls before the end. */
    assert_ok(l->cx, tn_store_fault_open(l->cx, l->memory,
                                         &(tn_fault_plan){.crash_at = calls * 3 / 4}, &fault));
    l->store = fault;
    assert_int_not_equal(lake_run(l, &write, true), TARN_OK);
    tn_store_close(fault);
    l->store = l->memory;
    tn_store_memory_crash(l->memory, 99);
}

static int act(struct play *p)
{
    struct lake *l = &p->l;
    tn_hudi_rolled rolled;

    if (p->scene->what == WHAT_CREATE)
        return lake_create(l);
    if (p->scene->what == WHAT_ROLLBACK)
        return tn_hudi_rollback(l->cx, l->store, l->root, p->target, &l->options, &l->arena,
                                &rolled);
    return lake_write(l, &p->scene->write);
}

static void give_metadata_table(struct lake *l)
{
    tn_arena arena = {0};
    tn_hudi_config config;

    assert_ok(l->cx, tn_hudi_config_load(l->cx, l->memory, l->root, &arena, &config));
    assert_ok(l->cx,
              tn_properties_set(l->cx, &arena, &config.all,
                                TN_STR("hoodie.table.metadata.partitions"), TN_STR("files")));
    assert_ok(l->cx, tn_hudi_config_update(l->cx, l->memory, l->root, &config.all));
    lake_put(l, ".hoodie/metadata/files/x", "x");
    lake_put(l, ".hoodie/metadata/.hoodie/hoodie.properties", "x");
    l->options.drop_metadata_table = true;
    tn_arena_clear(&arena);
}

static void set_up(struct play *p, const struct scene *scene)
{
    static const struct lake_write first = {.partitions = {"dt=a", "dt=b"}, .word = "one"};
    static const struct lake_write second = {.rewrite = {"dt=b"}, .word = "one"};
    static const struct lake_write third = {.operation = TN_OP_INSERT_OVERWRITE,
                                            .partitions = {"dt=b"},
                                            .replace = "dt=b",
                                            .word = "3"};
    struct lake *l = &p->l;

    memset(p, 0, sizeof *p);
    p->scene = scene;
    lake_open(l, scene->version);
    if (scene->what != WHAT_CREATE) {
        assert_ok(l->cx, lake_create(l));
        assert_ok(l->cx, lake_write(l, &first));
        assert_ok(l->cx, lake_write(l, &second));
    }
    if (scene->what == WHAT_ROLLBACK) {
        p->after = lake_see(l);
        assert_ok(l->cx, lake_write(l, &third));
        p->target = latest_commit(l);
    }
    if (scene->what == WHAT_AFTER_FAILED)
        leave_failed(l);
    if (scene->what == WHAT_DROP)
        give_metadata_table(l);
    l->options.lazy = scene->lazy;
    assert_ok(l->cx, tn_store_sync_all(l->cx, l->memory, TN_STR("/")));
    p->before = lake_see(l);
}

static uint64_t count_calls(const struct scene *scene, struct lake_view *after)
{
    struct play p;
    tn_store *fault;
    uint64_t calls;

    set_up(&p, scene);
    assert_ok(p.l.cx, tn_store_fault_open(p.l.cx, p.l.memory, &(tn_fault_plan){0}, &fault));
    p.l.store = fault;
    if (act(&p) != TARN_OK)
        fail_msg("%s: %s", scene->name, tarn_cx_error(p.l.cx));
    calls = tn_store_fault_calls(fault);
    tn_store_close(fault);
    p.l.store = p.l.memory;
    *after = lake_see(&p.l);
    if (scene->what == WHAT_ROLLBACK)
        assert_string_equal(after->text, p.after.text);
    lake_assert_clean(&p.l, scene->name);
    if (scene->what == WHAT_DROP)
        assert_false(lake_has(&p.l, ".hoodie/metadata"));
    lake_close(&p.l);
    return calls;
}

/* The next writer comes, does nothing, and goes. */
static void repair(struct play *p, const char *label)
{
    struct lake *l = &p->l;
    tn_hudi_commit *commit = NULL;
    int rc;

    if (!lake_has(l, ".hoodie/hoodie.properties") && p->scene->what == WHAT_CREATE) {
        rc = lake_create(l);
        if (rc != TARN_OK)
            fail_msg("%s: create again: %s", label, tarn_cx_error(l->cx));
        return;
    }
    rc = tn_hudi_commit_open(l->cx, l->store, l->root, &l->options, &commit);
    if (rc != TARN_OK)
        fail_msg("%s: the next open: %s", label, tarn_cx_error(l->cx));
    tn_hudi_commit_close(l->cx, commit);
}

static void check(struct play *p, int rc, const struct lake_view *after, const char *label)
{
    static const struct lake_write more = {.partitions = {"dt=q"}, .word = "more"};
    struct lake_view seen = lake_see(&p->l), repaired;
    bool is_after = strcmp(seen.text, after->text) == 0;

    if (rc == TARN_OK && !is_after)
        fail_msg("%s: done, but seen: \"%s\"", label, seen.text);
    if (!is_after && strcmp(seen.text, p->before.text) != 0)
        fail_msg("%s: seen: \"%s\"", label, seen.text);
    repair(p, label);
    repaired = lake_see(&p->l);
    /* A rollback of a completed instant goes on, once it is planned. */
    if (strcmp(repaired.text, seen.text) != 0 &&
        !(p->scene->what == WHAT_ROLLBACK && strcmp(repaired.text, after->text) == 0))
        fail_msg("%s: before the next open \"%s\", after it \"%s\"", label, seen.text,
                 repaired.text);
    lake_assert_clean(&p->l, label);
    if (lake_write(&p->l, &more) != TARN_OK)
        fail_msg("%s: the next write: %s", label, tarn_cx_error(p->l.cx));
    lake_assert_clean(&p->l, label);
}

static void play(const struct scene *scene, const tn_fault_plan *plan, bool crash, uint64_t seed,
                 const struct lake_view *after, const char *label)
{
    struct play p;
    tn_store *fault;
    int rc;

    set_up(&p, scene);
    assert_ok(p.l.cx, tn_store_fault_open(p.l.cx, p.l.memory, plan, &fault));
    p.l.store = fault;
    rc = act(&p);
    if (rc != TARN_OK && tarn_cx_error(p.l.cx)[0] == '\0')
        fail_msg("%s: no text", label);
    tn_store_close(fault);
    p.l.store = p.l.memory;
    if (crash)
        tn_store_memory_crash(p.l.memory, seed);
    check(&p, rc, after, label);
    lake_close(&p.l);
}

static uint64_t stride(void)
{
    return full() ? 1 : 11;
}

static void test_commit__survives_each_failing_call(void **state)
{
    static const int statuses[] = {TARN_E_IO, TARN_E_NOMEM};

    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        struct lake_view after;
        uint64_t calls = count_calls(&scenes[s], &after);

        for (uint64_t n = 1 + s % stride(); n <= calls; n += stride()) {
            char label[120];

            snprintf(label, sizeof label, "%s: call %" PRIu64 " of %" PRIu64 " fails",
                     scenes[s].name, n, calls);
            play(&scenes[s], &(tn_fault_plan){.fail_at = n, .status = statuses[n % 2]}, false, 0,
                 &after, label);
        }
    }
}

/* The call did what it should, and says that it failed. */
static void test_commit__survives_each_lost_answer(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        struct lake_view after;
        uint64_t calls = count_calls(&scenes[s], &after);

        for (uint64_t n = 1 + (s + 5) % stride(); n <= calls; n += stride()) {
            char label[120];

            snprintf(label, sizeof label, "%s: answer %" PRIu64 " of %" PRIu64 " is lost",
                     scenes[s].name, n, calls);
            play(&scenes[s], &(tn_fault_plan){.fail_at = n, .fail_late = true}, false, 0, &after,
                 label);
        }
    }
}

static void test_commit__survives_a_crash_at_each_call(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        struct lake_view after;
        uint64_t calls = count_calls(&scenes[s], &after);

        for (uint64_t n = 1 + s % stride(); n <= calls; n += stride())
            for (int late = 0; late < (full() ? 2 : 1); late++) {
                bool crash_after = full() ? late != 0 : n % 2 == 0;
                char label[120];

                snprintf(label, sizeof label, "%s: crash %s call %" PRIu64 " of %" PRIu64,
                         scenes[s].name, crash_after ? "after" : "at", n, calls);
                play(&scenes[s], &(tn_fault_plan){.crash_at = n, .crash_after = crash_after}, true,
                     n * 31 + s, &after, label);
            }
    }
}

/* A crash in the repair of a crash. */
static void test_commit__survives_a_crash_in_the_repair(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        struct lake_view after;
        uint64_t calls = count_calls(&scenes[s], &after);

        for (uint64_t n = 1; n <= calls; n += full() ? 7 : 37)
            for (uint64_t m = 1 + n % 5; m < 120; m += full() ? 13 : 41) {
                struct play p;
                tn_store *fault;
                tn_hudi_commit *commit = NULL;
                char label[120];
                int rc;

                snprintf(label, sizeof label, "%s: crash at %" PRIu64 ", then at %" PRIu64,
                         scenes[s].name, n, m);
                set_up(&p, &scenes[s]);
                assert_ok(p.l.cx, tn_store_fault_open(p.l.cx, p.l.memory,
                                                      &(tn_fault_plan){.crash_at = n}, &fault));
                p.l.store = fault;
                rc = act(&p);
                tn_store_close(fault);
                tn_store_memory_crash(p.l.memory, n);
                assert_ok(p.l.cx, tn_store_fault_open(p.l.cx, p.l.memory,
                                                      &(tn_fault_plan){.crash_at = m}, &fault));
                if (tn_hudi_commit_open(p.l.cx, fault, p.l.root, &p.l.options, &commit) == TARN_OK)
                    tn_hudi_commit_close(p.l.cx, commit);
                tn_cx_forget(p.l.cx);
                tn_store_close(fault);
                tn_store_memory_crash(p.l.memory, m);
                p.l.store = p.l.memory;
                check(&p, rc, &after, label);
                lake_close(&p.l);
            }
    }
}

/* Of the library alone: the other scenes allocate in the test, too. A failed write is there to be
 * rolled back. */
static int act_alone(struct play *p)
{
    tn_hudi_commit *commit = NULL;
    int rc;

    if (p->scene->what == WHAT_CREATE || p->scene->what == WHAT_ROLLBACK)
        return act(p);
    rc = tn_hudi_commit_open(p->l.cx, p->l.store, p->l.root, &p->l.options, &commit);
    tn_hudi_commit_close(p->l.cx, commit);
    return rc;
}

static void test_commit__survives_each_failing_allocation(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        struct lake_view after;
        size_t total = 0, step = 1;

        if (scenes[s].what == WHAT_WRITE)
            continue;
        if (scenes[s].what == WHAT_CREATE || scenes[s].what == WHAT_ROLLBACK)
            (void)count_calls(&scenes[s], &after);
        for (size_t n = 0; n <= total; n += n == 0 ? 1 + s : step) {
            char label[120];
            struct play p;
            size_t calls;
            int rc;

            set_up(&p, &scenes[s]);
            if (scenes[s].what != WHAT_CREATE && scenes[s].what != WHAT_ROLLBACK)
                after = p.before;
            alloc_watch(n);
            rc = act_alone(&p);
            calls = alloc_unwatch();
            total = n == 0 ? calls : total;
            step = full() ? total / 400 + 1 : total / 25 + 1;
            snprintf(label, sizeof label, "%s: allocation %zu of %zu", scenes[s].name, n, total);
            if (rc != TARN_OK && tarn_cx_error(p.l.cx)[0] == '\0')
                fail_msg("%s: no text", label);
            check(&p, rc, &after, label);
            lake_close(&p.l);
        }
    }
}
