/* Writes into Hudi tables through the whole engine, on a store in memory: what readers see after
 * each operation, the counts, what is refused, and what failures leave. */
#include "commit/commit_hudi.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "op/hudi_writer.h"
#include "unit/alloc.h"
#include "unit/op/hudi_world.h"

#define ROOT     "/t"
#define RUNS_MAX 100 /* of one sweep; past it only every so many-th call fails */

static const world_row first_rows[] = {
    {"a", "p", 5, "a5", false}, {"b", "p", 5, "b5", false}, {"c", "q", 5, "c5", false}};
static const world_row next_rows[] = {{"a", "p", 4, "a4", false}, {"b", "p", 5, "b5+", false},
                                      {"c", "q", 9, "", true},    {"d", "q", 1, "d1", false},
                                      {"d", "q", 0, "d0", false}, {"x", "q", 1, "", true}};
#define FIRST       "a/p/a5\nb/p/b5\nc/q/c5"
#define NEXT        "a/p/a5\nb/p/b5+\nd/q/d1"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

typedef struct world {
    tarn_cx *cx;
    tn_store *store;
    tarn_table_report *report;
} world;

static void world_open(world *w)
{
    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 7});
    w->report = NULL;
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->store));
}

static void world_close(world *w)
{
    tarn_table_report_close(w->report);
    tn_store_close(w->store);
    tarn_cx_close(w->cx);
}

static int run(world *w, enum tarn_operation op, int version, bool parts, const world_row *rows,
               size_t count)
{
    tarn_table_write_options options = world_options(op, version, parts);

    tarn_table_report_close(w->report);
    w->report = NULL;
    return world_write(w->cx, w->store, ROOT, rows, count, &options, &w->report);
}

static void expect_counts(const world *w, int64_t inserted, int64_t updated, int64_t deleted,
                          int64_t unchanged, int64_t duplicates, int64_t not_found)
{
    const tarn_table_report *r = w->report;

    assert_int_equal(r->inserted, inserted);
    assert_int_equal(r->updated, updated);
    assert_int_equal(r->deleted, deleted);
    assert_int_equal(r->unchanged, unchanged);
    assert_int_equal(r->duplicates, duplicates);
    assert_int_equal(r->not_found, not_found);
}

static void test_hudi_write__upsert(void **state)
{
    static const int versions[] = {6, 8, 9};

    (void)state;
    for (size_t v = 0; v < COUNT(versions); v++) {
        world w;

        world_open(&w);
        assert_ok(w.cx, run(&w, TARN_OP_UPSERT, versions[v], true, first_rows, 3));
        assert_true(w.report->table_made);
        assert_int_equal(w.report->table_version, versions[v]);
        expect_counts(&w, 3, 0, 0, 0, 0, 0);
        world_expect(w.store, ROOT, FIRST);
        assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 0, true, next_rows, COUNT(next_rows)));
        assert_false(w.report->table_made);
        expect_counts(&w, 1, 1, 1, 1, 1, 1);
        assert_int_equal(w.report->rows, COUNT(next_rows));
        world_expect(w.store, ROOT, NEXT);
        world_close(&w);
    }
}

/* What a later operation does to the first rows of a table without partitions. */
static void test_hudi_write__operations(void **state)
{
    static const world_row two[] = {{"b", "p", 1, "B", false}, {"e", "p", 1, "E", false}};
    static const struct {
        enum tarn_operation op;
        const char *want;
        int64_t inserted, updated, deleted;
    } cases[] = {
        {TARN_OP_INSERT, "a/p/a5\nb/p/B\nb/p/b5\nc/q/c5\ne/p/E", 2, 0, 0},
        {TARN_OP_BULK_INSERT, "a/p/a5\nb/p/B\nb/p/b5\nc/q/c5\ne/p/E", 2, 0, 0},
        {TARN_OP_UPSERT, "a/p/a5\nb/p/b5\nc/q/c5\ne/p/E", 1, 0, 0},
        {TARN_OP_DELETE, "a/p/a5\nc/q/c5", 0, 0, 1},
        {TARN_OP_INSERT_OVERWRITE, "b/p/B\nc/q/c5\ne/p/E", 2, 0, 0},
        {TARN_OP_INSERT_OVERWRITE_TABLE, "b/p/B\ne/p/E", 2, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        world w;

        world_open(&w);
        assert_ok(w.cx, run(&w, TARN_OP_INSERT, 6, true, first_rows, 3));
        assert_ok(w.cx, run(&w, cases[i].op, 0, true, two, 2));
        assert_int_equal(w.report->inserted, cases[i].inserted);
        assert_int_equal(w.report->updated, cases[i].updated);
        assert_int_equal(w.report->deleted, cases[i].deleted);
        world_expect(w.store, ROOT, cases[i].want);
        world_close(&w);
    }
}

/* Rows that go straight from the input to the files. */
static void test_hudi_write__stream(void **state)
{
    static const world_row rows[] = {{"a", "", 1, "1", false},
                                     {"b", "", 1, "2", false},
                                     {"c", "", 1, "", true},
                                     {"d", "", 1, "4", false},
                                     {"e", "", 1, "5", false}};
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 8, false, rows, COUNT(rows)));
    expect_counts(&w, 4, 0, 0, 0, 0, 1);
    assert_int_equal(w.report->files, 1);
    world_expect(w.store, ROOT, "a//1\nb//2\nd//4\ne//5");
    assert_ok(w.cx, run(&w, TARN_OP_INSERT_OVERWRITE_TABLE, 0, false, rows, 1));
    assert_int_equal(w.report->replaced, 1);
    world_expect(w.store, ROOT, "a//1");
    world_close(&w);
}

/* Files far smaller than what any has in it: each takes some rows, and there is an end. */
static void test_hudi_write__tiny_target(void **state)
{
    static const uint64_t targets[] = {1, 4000, 2000000};
    world_row rows[20];
    char keys[20][4];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(keys[i], sizeof keys[i], "%02zu", i);
        rows[i] = (world_row){keys[i], "", 1, "v", false};
    }
    for (size_t i = 0; i < COUNT(targets); i++) {
        tarn_table_write_options options = world_options(TARN_OP_INSERT, 6, false);
        static world_view view;
        world w;

        world_open(&w);
        options.target_bytes = targets[i];
        assert_ok(w.cx, world_write(w.cx, w.store, ROOT, rows, COUNT(rows), &options, &w.report));
        assert_int_equal(w.report->inserted, COUNT(rows));
        assert_in_range(w.report->files, 1, COUNT(rows));
        world_read(w.store, ROOT, &view);
        assert_int_equal(view.count, COUNT(rows));
        world_close(&w);
    }
}

/* Nothing dynamic is emptied by no rows; what is named is. */
static void test_hudi_write__overwrite_nothing(void **state)
{
    static const char *const p[] = {"p"};
    tarn_table_write_options options = world_options(TARN_OP_INSERT_OVERWRITE, 0, true);
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 6, true, first_rows, 3));
    assert_ok(w.cx, run(&w, TARN_OP_INSERT_OVERWRITE, 0, true, first_rows, 0));
    assert_null(w.report->instant);
    world_expect(w.store, ROOT, FIRST);
    options.partitions = p;
    options.partition_count = 1;
    tarn_table_report_close(w.report);
    w.report = NULL;
    assert_fails(w.cx, TARN_E_INVALID, "partition \"q\"",
                 world_write(w.cx, w.store, ROOT, first_rows, 3, &options, &w.report));
    world_expect(w.store, ROOT, FIRST);
    assert_ok(w.cx, world_write(w.cx, w.store, ROOT, first_rows, 0, &options, &w.report));
    assert_non_null(w.report->instant);
    assert_int_equal(w.report->replaced, 1);
    world_expect(w.store, ROOT, "c/q/c5");
    world_close(&w);
}

static void test_hudi_write__delete_partition(void **state)
{
    static const char *const q[] = {"q"}, *const none[] = {"r"};
    tarn_table_write_options options = world_options(TARN_OP_DELETE_PARTITION, 0, true);
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 9, true, first_rows, 3));
    tarn_table_report_close(w.report);
    w.report = NULL;
    options.partitions = none;
    options.partition_count = 1;
    assert_fails(w.cx, TARN_E_NOTFOUND, "\"r\"",
                 tn_hudi_write_rows_into(w.cx, w.store, TN_STR(ROOT), NULL, &options, &w.report));
    options.partitions = q;
    assert_ok(w.cx,
              tn_hudi_write_rows_into(w.cx, w.store, TN_STR(ROOT), NULL, &options, &w.report));
    world_expect(w.store, ROOT, "a/p/a5\nb/p/b5");
    /* The rows come back by a later write. */
    assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 0, true, first_rows + 2, 1));
    world_expect(w.store, ROOT, FIRST);
    world_close(&w);
}

/* One key is one row whatever its partition; a row that moves leaves its old place. */
static void test_hudi_write__global(void **state)
{
    static const world_row moved[] = {{"a", "q", 6, "a6", false}, {"b", "q", 4, "b4", false}};
    static const char *const sets[][2] = {
        {"hoodie.index.type=GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path=true"},
        {"hoodie.index.type=GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path=true"},
        {"hoodie.index.type=GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path=false"}};
    static const char *const wants[] = {"a/q/a6\nb/p/b5\nc/q/c5", "a/q/a6\nb/p/b5\nc/q/c5",
                                        "a/p/a6\nb/p/b5\nc/q/c5"};

    (void)state;
    for (size_t i = 0; i < COUNT(sets); i++) {
        tarn_table_write_options options = world_options(TARN_OP_UPSERT, 0, true);
        world w;

        world_open(&w);
        assert_ok(w.cx, run(&w, TARN_OP_INSERT, 6, true, first_rows, 3));
        tarn_table_report_close(w.report);
        w.report = NULL;
        options.table.set = sets[i];
        options.table.set_count = 2;
        assert_ok(w.cx, world_write(w.cx, w.store, ROOT, moved, 2, &options, &w.report));
        world_expect(w.store, ROOT, wants[i]);
        world_close(&w);
    }
}

static void test_hudi_write__bloom_and_bucket(void **state)
{
    static const char *const bloom[] = {"hoodie.index.type=BLOOM"};
    static const char *const bucket[] = {"hoodie.index.type=BUCKET",
                                         "hoodie.bucket.index.num.buckets=4"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tarn_table_write_options options = world_options(TARN_OP_UPSERT, 9, true);
        world w;

        world_open(&w);
        options.table.set = i == 0 ? bloom : bucket;
        options.table.set_count = i == 0 ? 1 : 2;
        assert_ok(w.cx, world_write(w.cx, w.store, ROOT, first_rows, 3, &options, &w.report));
        tarn_table_report_close(w.report);
        w.report = NULL;
        options.table.version = 0;
        assert_ok(w.cx, world_write(w.cx, w.store, ROOT, next_rows, COUNT(next_rows), &options,
                                    &w.report));
        world_expect(w.store, ROOT, NEXT);
        world_close(&w);
    }
}

/* An insert that does not allow duplicates merges within the small files. */
static void test_hudi_write__insert_without_duplicates(void **state)
{
    static const char *const set[] = {"hoodie.merge.allow.duplicate.on.inserts=false"};
    tarn_table_write_options options = world_options(TARN_OP_INSERT, 0, true);
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 6, true, first_rows, 3));
    tarn_table_report_close(w.report);
    w.report = NULL;
    options.table.set = set;
    options.table.set_count = 1;
    assert_ok(w.cx, world_write(w.cx, w.store, ROOT, next_rows, 2, &options, &w.report));
    world_expect(w.store, ROOT, "a/p/a5\nb/p/b5+\nc/q/c5");
    world_close(&w);
}

static void test_hudi_write__dry_run(void **state)
{
    tarn_table_write_options options = world_options(TARN_OP_UPSERT, 8, true);
    bool there;
    world w;

    (void)state;
    world_open(&w);
    options.dry_run = true;
    assert_ok(w.cx, world_write(w.cx, w.store, ROOT, first_rows, 3, &options, &w.report));
    assert_ok(w.cx, tn_store_exists(w.cx, w.store, TN_STR(ROOT), &there));
    assert_false(there);
    assert_true(w.report->table_made);
    assert_int_equal(w.report->bucket_count, 2);
    assert_int_equal(w.report->inserted, 3);
    assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 8, true, first_rows, 3));
    tarn_table_report_close(w.report);
    w.report = NULL;
    assert_ok(w.cx,
              world_write(w.cx, w.store, ROOT, next_rows, COUNT(next_rows), &options, &w.report));
    assert_int_equal(w.report->inserted, 1);
    assert_true(w.report->foreseen);
    assert_int_equal(w.report->updated, 1);
    assert_int_equal(w.report->deleted, 1);
    assert_int_equal(w.report->unchanged, 1);
    world_expect(w.store, ROOT, FIRST);
    world_close(&w);
}

static void test_hudi_write__second_writer(void **state)
{
    tn_hudi_commit_options none = {0};
    tn_hudi_commit *commit = NULL;
    tarn_cx *other = tarn_cx_open(NULL);
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 6, true, first_rows, 3));
    assert_ok(other, tn_hudi_commit_open(other, w.store, TN_STR(ROOT), &none, &commit));
    assert_fails(w.cx, TARN_E_CONFLICT, NULL, run(&w, TARN_OP_UPSERT, 0, true, next_rows, 2));
    tn_hudi_commit_close(other, commit);
    assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 0, true, next_rows, COUNT(next_rows)));
    world_expect(w.store, ROOT, NEXT);
    tarn_cx_close(other);
    world_close(&w);
}

static void test_hudi_write__refused(void **state)
{
    static const struct {
        const char *set;
        int status;
        const char *text;
    } cases[] = {
        {"hoodie.frobnicate=1", TARN_E_INVALID, "hoodie.frobnicate"},
        {"hoodie.index.typ=BLOOM", TARN_E_INVALID, "did you mean hoodie.index.type?"},
        {"hoodie.index.type=BLOM", TARN_E_INVALID, "it is one of SIMPLE"},
        {"hoodie.metadata.enable=true", TARN_E_UNSUPPORTED, "hoodie.metadata.enable"},
        {"hoodie.index.type=RECORD_INDEX", TARN_E_UNSUPPORTED, "hoodie.index.type"},
        {"hoodie.index.type=BUCKET", TARN_E_INVALID, "num.buckets"},
        {"hoodie.parquet.max.file.size=many", TARN_E_INVALID, "no whole number"},
        {"hoodie.combine.before.upsert=maybe", TARN_E_INVALID, "true or false"},
        {"hoodie.table.type=MERGE_ON_READ", TARN_E_UNSUPPORTED, "merge-on-read"},
        {"hoodie.write.table.version=7", TARN_E_INVALID, "version"},
        {"hoodie.record.merge.mode=COMMIT_TIME_ORDERING", TARN_E_INVALID, "merge mode"},
        {"hoodie.populate.meta.fields=false", TARN_E_INVALID, "meta columns"},
        {"frobnicate=1", TARN_E_INVALID, "no option of Hudi"},
        {"hoodie.index.type", TARN_E_INVALID, "NAME=VALUE"},
    };
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 9, true, first_rows, 3));
    for (size_t i = 0; i < COUNT(cases); i++) {
        tarn_table_write_options options = world_options(TARN_OP_UPSERT, 0, true);

        options.table.set = &cases[i].set;
        options.table.set_count = 1;
        tarn_table_report_close(w.report);
        w.report = NULL;
        assert_fails(w.cx, cases[i].status, cases[i].text,
                     world_write(w.cx, w.store, ROOT, next_rows, 2, &options, &w.report));
    }
    world_expect(w.store, ROOT, FIRST);
    world_close(&w);
}

/* ---- failures */

/* Old rows or new ones, never others; and a second try brings the new ones. */
static void expect_either(world *w)
{
    static world_view view;
    char text[WORLD_ROWS_MAX * 128];

    world_read(w->store, ROOT, &view);
    world_join(&view, text, sizeof text);
    if (strcmp(text, FIRST) != 0)
        assert_string_equal(text, NEXT);
    tarn_table_report_close(w->report);
    w->report = NULL;
    assert_ok(w->cx, run(w, TARN_OP_UPSERT, 0, true, next_rows, COUNT(next_rows)));
    world_expect(w->store, ROOT, NEXT);
}

static void test_hudi_write__allocations_fail(void **state)
{
    size_t total = 1;

    (void)state;
    for (size_t n = 0; n <= total; n += 1 + total / RUNS_MAX) {
        world w;
        int rc;

        world_open(&w);
        assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 8, true, first_rows, 3));
        alloc_watch(n);
        rc = run(&w, TARN_OP_UPSERT, 0, true, next_rows, COUNT(next_rows));
        if (n == 0)
            total = alloc_unwatch();
        else
            alloc_unwatch();
        if (rc != TARN_OK && tarn_cx_error(w.cx)[0] == '\0')
            fail_msg("allocation %zu of %zu: %s without text", n, total, tarn_status_name(rc));
        expect_either(&w);
        world_close(&w);
    }
}

static void test_hudi_write__store_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1, total = 2; n <= total; n += 1 + total / RUNS_MAX) {
        tn_fault_plan plan = {.fail_at = n};
        tn_store *inner, *fault;
        world w;
        int rc;

        world_open(&w);
        assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 6, true, first_rows, 3));
        inner = w.store;
        assert_ok(w.cx, tn_store_fault_open(w.cx, inner, &plan, &fault));
        w.store = fault;
        rc = run(&w, TARN_OP_UPSERT, 0, true, next_rows, COUNT(next_rows));
        if (rc != TARN_OK)
            assert_true(tarn_cx_error(w.cx)[0] != '\0');
        if (tn_store_fault_calls(fault) > total)
            total = tn_store_fault_calls(fault);
        w.store = inner;
        tn_store_close(fault);
        expect_either(&w);
        world_close(&w);
    }
}

/* A first write that fails takes the table that it made away again, wherever it fails: only where
 * the answer to the commit itself was lost the table may be there, whole. */
static void test_hudi_write__first_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1, total = 2; n <= total; n += 1 + total / RUNS_MAX) {
        tn_fault_plan plan = {.fail_at = n};
        static world_view view;
        tn_store *inner, *fault;
        bool there;
        world w;
        int rc;

        world_open(&w);
        inner = w.store;
        assert_ok(w.cx, tn_store_fault_open(w.cx, inner, &plan, &fault));
        w.store = fault;
        rc = run(&w, TARN_OP_UPSERT, 8, true, first_rows, 3);
        if (tn_store_fault_calls(fault) > total)
            total = tn_store_fault_calls(fault);
        w.store = inner;
        tn_store_close(fault);
        assert_ok(w.cx,
                  tn_store_exists(w.cx, inner, TN_STR(ROOT "/.hoodie/hoodie.properties"), &there));
        world_read(inner, ROOT, &view);
        if (rc == TARN_OK || view.count != 0) {
            assert_true(there);
            world_expect(inner, ROOT, FIRST);
        } else if (there) {
            fail_msg("call %d: the table is left, and no row is in it: %s", (int)n,
                     tarn_cx_error(w.cx));
        }
        assert_ok(w.cx, run(&w, TARN_OP_UPSERT, 0, true, first_rows, 3));
        world_expect(inner, ROOT, FIRST);
        world_close(&w);
    }
}

/* A stream of rows that fails behind its first batch, when somebody else has put a file there. */
typedef struct intruder {
    world_stream rows; /* first */
    tn_store *store;
    const char *path;
} intruder;

static int intruder_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    intruder *s = self->private_data;

    if (s->rows.next == 0)
        return world_next(self, out);
    if (s->path != NULL)
        assert_ok(s->rows.cx,
                  tn_store_make_dirs(s->rows.cx, s->store, tn_path_parent(tn_str_of(s->path))));
    if (s->path != NULL && s->path[strlen(s->path) - 1] != '/')
        assert_ok(s->rows.cx,
                  tn_store_put(s->rows.cx, s->store, tn_str_of(s->path), TN_STR("theirs\n")));
    return 5;
}

static void test_hudi_write__first_leaves_others(void **state)
{
    static const struct {
        const char *path;
        bool root; /* the directory was there, with a hidden file in it */
        bool table, directory;
    } cases[] = {
        {NULL, false, false, false},
        {NULL, true, false, true},
        {ROOT "/.hoodie/20260101000000000.commit.requested", false, true, true},
        {ROOT "/.hoodie/hoodie.properties.backup", false, true, true},
        {ROOT "/.hoodie/metadata/.hoodie/hoodie.properties", false, true, true},
        {ROOT "/.hoodie/.temp/20260101000000000/p/x.marker", false, true, true},
        {ROOT "/q/.hoodie_partition_metadata", false, true, true},
        {ROOT "/q/theirs.parquet", false, true, true},
        {ROOT "/theirs.parquet", false, true, true},
        {ROOT "/.theirs", false, false, true},
        {ROOT "/theirs/", false, true, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tarn_table_write_options options = world_options(TARN_OP_BULK_INSERT, 6, false);
        bool table, directory, theirs = true;
        intruder s = {.path = cases[i].path};
        struct ArrowArrayStream stream = {world_schema, intruder_next, world_error, world_release,
                                          &s};
        world w;

        world_open(&w);
        if (cases[i].root) {
            assert_ok(w.cx, tn_store_make_dirs(w.cx, w.store, TN_STR(ROOT)));
            assert_ok(w.cx, tn_store_put(w.cx, w.store, TN_STR(ROOT "/.keep"), TN_STR("")));
        }
        s.store = w.store;
        s.rows = (world_stream){.cx = w.cx, .rows = first_rows, .count = 3, .batch = 2};
        assert_ok(w.cx, world_columns(w.cx, &s.rows.schema));
        assert_int_not_equal(
            tn_hudi_write_rows_into(w.cx, w.store, TN_STR(ROOT), &stream, &options, &w.report),
            TARN_OK);
        stream.release(&stream);
        assert_ok(w.cx, tn_store_exists(w.cx, w.store, TN_STR(ROOT "/.hoodie/hoodie.properties"),
                                        &table));
        assert_ok(w.cx, tn_store_exists(w.cx, w.store, TN_STR(ROOT), &directory));
        if (cases[i].path != NULL) {
            tn_str path = tn_str_of(cases[i].path);

            path.len -= path.ptr[path.len - 1] == '/';
            assert_ok(w.cx, tn_store_exists(w.cx, w.store, path, &theirs));
        }
        if (table != cases[i].table || directory != cases[i].directory || !theirs)
            fail_msg("case %zu: table %d, directory %d, theirs %d", i, table, directory, theirs);
        world_close(&w);
    }
}

/* ---- the writer */

static void count_flush(void *arg, const tarn_table_report *report)
{
    *(int64_t *)arg += report->inserted;
}

static int64_t clock_now;

static int64_t clock_read(void *arg)
{
    (void)arg;
    return clock_now;
}

static void push(world *w, tarn_writer *writer, const world_row *rows, size_t count)
{
    struct ArrowArray batch = {0};

    assert_ok(w->cx, world_batch(w->cx, rows, count, &batch));
    assert_ok(w->cx, tarn_writer_push(w->cx, writer, &batch));
    assert_null(batch.release);
}

static void test_hudi_write__writer(void **state)
{
    tarn_writer_options options = {.write = world_options(TARN_OP_UPSERT, 8, true),
                                   .rows_max = 3,
                                   .age_ms = 1000,
                                   .on_flush = count_flush};
    struct ArrowSchema schema = {0};
    tarn_writer *writer = NULL;
    tarn_table_report *report = NULL;
    int64_t inserted = 0;
    world w;

    (void)state;
    world_open(&w);
    tarn_cx_close(w.cx);
    clock_now = 1800000000000;
    w.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = clock_read});
    options.flush_arg = &inserted;
    assert_ok(w.cx, world_columns(w.cx, &schema));
    assert_ok(w.cx, tn_hudi_writer_open(w.cx, w.store, TN_STR(ROOT), &schema, &options, &writer));
    push(&w, writer, first_rows, 2);
    assert_int_equal(tarn_writer_pending(writer), 2);
    assert_int_equal(inserted, 0);
    push(&w, writer, first_rows + 2, 1); /* by rows */
    assert_int_equal(inserted, 3);
    assert_int_equal(tarn_writer_pending(writer), 0);
    world_expect(w.store, ROOT, FIRST);
    push(&w, writer, next_rows, 2);
    assert_ok(w.cx, tarn_writer_poll(w.cx, writer));
    assert_int_equal(tarn_writer_pending(writer), 2);
    clock_now += 1000; /* by age */
    assert_ok(w.cx, tarn_writer_poll(w.cx, writer));
    assert_int_equal(tarn_writer_pending(writer), 0);
    clock_now += 5;
    push(&w, writer, next_rows + 2, 2);
    assert_ok(w.cx, tarn_writer_flush(w.cx, writer, &report));
    assert_int_equal(report->inserted, 1);
    world_expect(w.store, ROOT, NEXT);
    tarn_table_report_close(report);
    assert_ok(w.cx, tarn_writer_flush(w.cx, writer, &report));
    assert_null(report);
    tarn_writer_close(writer);
    tn_field_release(&schema);
    world_close(&w);
}

/* Rows of a flush that fails are kept. */
static void test_hudi_write__writer_keeps_rows(void **state)
{
    tarn_writer_options options = {.write = world_options(TARN_OP_UPSERT, 6, true)};
    tn_hudi_commit_options none = {0};
    tn_hudi_commit *commit = NULL;
    struct ArrowSchema schema = {0};
    tarn_writer *writer = NULL;
    world w;

    (void)state;
    world_open(&w);
    assert_ok(w.cx, run(&w, TARN_OP_INSERT, 6, true, first_rows, 1));
    assert_ok(w.cx, world_columns(w.cx, &schema));
    assert_ok(w.cx, tn_hudi_writer_open(w.cx, w.store, TN_STR(ROOT), &schema, &options, &writer));
    push(&w, writer, first_rows, 3);
    assert_ok(w.cx, tn_hudi_commit_open(w.cx, w.store, TN_STR(ROOT), &none, &commit));
    assert_fails(w.cx, TARN_E_CONFLICT, NULL, tarn_writer_flush(w.cx, writer, NULL));
    assert_int_equal(tarn_writer_pending(writer), 3);
    tn_hudi_commit_close(w.cx, commit);
    assert_ok(w.cx, tarn_writer_flush(w.cx, writer, NULL));
    world_expect(w.store, ROOT, FIRST);
    tarn_writer_close(writer);
    tn_field_release(&schema);
    world_close(&w);
}
