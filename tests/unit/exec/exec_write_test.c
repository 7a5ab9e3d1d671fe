#include "exec/exec_write.h"

#include "batch/hive_hash.h"
#include "batch/key.h"
#include "codec/zip/zip.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "unit/alloc.h"
#include "unit/exec/rows.h"

#define STAGING "/w/r1/p00000"

static const char *const hostile[] = {"2024-05-12", "K\xc3\xb6ln", "AC/DC", "50%",  "with space",
                                      "new\nline",  NULL,          "",      "..",   "a=b",
                                      "%2F",        "\"quoted\"",  "x\x7f", "{[^]}"};
static const rows_shape shape = {hostile, sizeof hostile / sizeof hostile[0], 3, false, false};

typedef struct world {
    tarn_cx *cx;
    tn_store *memory;
    tn_arena arena;
    tn_str columns[2], spread[1];
    tn_write_plan plan;
} world;

static void world_open(world *w, uint64_t memory_bytes, unsigned jobs)
{
    *w = (world){0};
    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = jobs, .memory_bytes = memory_bytes});
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->memory));
    assert_ok(w->cx, tn_store_make_dirs(w->cx, w->memory, TN_STR(STAGING)));
    w->columns[0] = TN_STR("dt");
    w->columns[1] = TN_STR("hour");
    w->spread[0] = TN_STR("id");
    w->plan = (tn_write_plan){.id = TN_STR("r1"),
                              .staging = TN_STR(STAGING),
                              .partition_columns = w->columns,
                              .partition_column_count = 2,
                              .target_bytes = 128 << 20,
                              .group_bytes = 32 << 20,
                              .group_rows = 1 << 20,
                              .codec = 1,
                              .partitions_max = 1000,
                              .files_max = 100000};
}

static void world_close(world *w)
{
    tn_arena_clear(&w->arena);
    tn_store_close(w->memory);
    tarn_cx_close(w->cx);
}

static int world_write(world *w, tn_store *store, const rows_shape *of, int64_t rows,
                       int64_t batch_rows, tn_write_files *files, tn_write_counts *counts)
{
    rows_source source = {w->cx, of, rows, 0, batch_rows, 7, {0}};

    rows_open(&source);
    return tn_exec_write_rows(w->cx, store, &w->plan, &source.stream, &w->arena, files, counts);
}

/* The partition that row `id` is to lie in. */
static void want_path(world *w, const rows_shape *of, int64_t id, tn_buf *out)
{
    const char *name = of->names[rows_name(of, id)];
    char hour[16];

    tn_buf_reset(out);
    sprintf(hour, "%d", (int)rows_hour(of, id));
    if (w->plan.partition_column_count > 0)
        assert_ok(w->cx, tn_key_level(w->cx, out, TN_STR("dt"), tn_str_of(name)));
    if (w->plan.partition_column_count > 1)
        assert_ok(w->cx, tn_key_level(w->cx, out, TN_STR("hour"), tn_str_of(hour)));
}

/* Every row once, in its partition, in order within each file and slot. */
static void check_files(world *w, const rows_shape *of, int64_t rows, const tn_write_files *files)
{
    uint8_t *seen = calloc(1, (size_t)rows);
    tn_buf ids = {0}, path = {0};
    int64_t total = 0;

    for (size_t f = 0; f < files->count; f++) {
        const tn_write_file *file = &files->files[f];
        char name[64];
        tn_stat stat;

        sprintf(name, "part-%05zu-r1.parquet", f);
        assert_true(tn_str_is(file->name, name));
        assert_false(tn_str_ends(file->staged, TN_STR(".parquet")));
        assert_ok(w->cx, tn_store_stat(w->cx, w->memory, file->staged, &stat));
        assert_int_equal(stat.size_bytes, file->bytes);
        /* A partition's files follow each other, and so do their rows. */
        if (f == 0 || !tn_str_equal(file->partition, files->files[f - 1].partition) ||
            w->plan.files_per_partition != 0)
            tn_buf_reset(&ids);
        total -= (int64_t)(ids.len / 8);
        rows_read(w->cx, w->memory, file->staged, 2 - (int64_t)w->plan.partition_column_count,
                  &ids);
        total += (int64_t)(ids.len / 8);
        for (size_t i = 0; i < ids.len / 8; i++) {
            int64_t id = ((const int64_t *)(const void *)ids.data)[i];

            want_path(w, of, id, &path);
            assert_true(tn_str_equal(tn_buf_view(&path), file->partition));
            if (i > 0)
                assert_true(id > ((const int64_t *)(const void *)ids.data)[i - 1]);
            seen[id] = 1;
        }
    }
    for (int64_t id = 0; id < rows; id++)
        assert_true(seen[id]);
    assert_int_equal(total, rows);
    free(seen);
    tn_buf_clear(&ids);
    tn_buf_clear(&path);
}

/* Nothing but the files lies in staging. */
static void check_staging(world *w, size_t files)
{
    tn_entry *entries;
    size_t count;

    assert_ok(w->cx, tn_store_list(w->cx, w->memory, TN_STR(STAGING), &w->arena, &entries, &count));
    assert_int_equal(count, files);
}

static void test_exec_write__routes_rows_in_memory(void **state)
{
    tn_write_files files = {0};
    tn_write_counts counts;
    world w;

    (void)state;
    world_open(&w, 0, 1);
    assert_ok(w.cx, world_write(&w, w.memory, &shape, 20000, 3000, &files, &counts));
    assert_int_equal(counts.rows, 20000);
    assert_int_equal(counts.spilled_bytes, 0);
    /* Null and the empty text are one partition. */
    assert_int_equal(counts.partitions, 13 * 3);
    assert_int_equal(files.count, 13 * 3);
    check_files(&w, &shape, 20000, &files);
    check_staging(&w, files.count);
    world_close(&w);
}

/* Budgets that hold a small part of the rows, batches of one row to many, one thread and two. */
static void test_exec_write__spills_and_keeps_order(void **state)
{
    static const struct {
        uint64_t memory;
        int64_t rows, batch;
        unsigned jobs;
        bool clustered, dictionary;
    } cases[] = {
        {6 << 20, 36000, 900, 1, false, false}, {6 << 20, 36000, 6000, 2, false, false},
        {4 << 20, 20000, 40, 2, false, false},  {6 << 20, 36000, -5000, 2, true, false},
        {6 << 20, 36000, 5000, 2, false, true}, {8 << 20, 6000, -1, 1, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rows_shape of = shape;
        tn_write_files files = {0};
        tn_write_counts counts;
        world w;

        of.clustered = cases[i].clustered;
        of.dictionary = cases[i].dictionary;
        world_open(&w, cases[i].memory, cases[i].jobs);
        assert_ok(w.cx,
                  world_write(&w, w.memory, &of, cases[i].rows, cases[i].batch, &files, &counts));
        if (cases[i].rows > 6000 && counts.spilled_bytes == 0)
            fail_msg("case %zu did not spill", i);
        check_files(&w, &of, cases[i].rows, &files);
        check_staging(&w, files.count);
        world_close(&w);
    }
}

static void test_exec_write__writes_one_directory_without_routing(void **state)
{
    tn_write_files files = {0};
    tn_write_counts counts;
    world w;

    (void)state;
    world_open(&w, 0, 1);
    w.plan.partition_column_count = 0;
    assert_ok(w.cx, world_write(&w, w.memory, &shape, 20000, 3000, &files, &counts));
    assert_int_equal(files.count, 1);
    assert_true(files.files[0].partition.len == 0);
    check_files(&w, &shape, 20000, &files);
    assert_ok(w.cx, world_write(&w, w.memory, &shape, 0, 3000, &files, &counts));
    assert_int_equal(files.count, 0);
    world_close(&w);
}

/* No file is a crumb, none much above the target, whatever the number of rows. */
static void test_exec_write__cuts_files_without_crumbs(void **state)
{
    (void)state;
    for (int64_t rows = 2000; rows < 30000; rows += 4711) {
        tn_write_files files = {0};
        uint64_t target = 60000;
        world w;

        world_open(&w, 0, 1);
        w.plan.partition_column_count = 0;
        w.plan.target_bytes = target;
        w.plan.group_bytes = target / 4;
        assert_ok(w.cx, world_write(&w, w.memory, &shape, rows, 1500, &files, NULL));
        check_files(&w, &shape, rows, &files);
        check_staging(&w, files.count);
        for (size_t f = 0; f < files.count; f++) {
            if (files.count > 1 && files.files[f].bytes < target / 3)
                fail_msg("%d rows: file %zu has %d bytes", (int)rows, f, (int)files.files[f].bytes);
            /* The footer comes on top, and one look in between. */
            if (files.files[f].bytes > target * 5 / 3)
                fail_msg("%d rows: file %zu has %d bytes", (int)rows, f, (int)files.files[f].bytes);
        }
        world_close(&w);
    }
}

/* Slots as Hive's reducers, of partitions and of a directory without them. */
static void test_exec_write__spreads_a_partition_as_hive_does(void **state)
{
    (void)state;
    for (size_t columns = 0; columns < 2; columns++) {
        tn_write_files files = {0};
        tn_buf ids = {0};
        world w;

        world_open(&w, 0, 2);
        w.plan.partition_column_count = columns;
        w.plan.files_per_partition = 4;
        w.plan.distribute_columns = w.spread;
        w.plan.distribute_column_count = 1;
        assert_ok(w.cx, world_write(&w, w.memory, &shape, 20000, 3000, &files, NULL));
        assert_int_equal(files.count, columns == 0 ? 4 : 13 * 4);
        for (size_t f = 0; f < files.count; f++) {
            tn_parquet file = {0};

            assert_ok(w.cx, tn_parquet_open(w.cx, w.memory, files.files[f].staged, &file));
            assert_int_equal(file.schema.leaf_count, 8 - columns);
            assert_int_equal(file.footer.rows, files.files[f].rows);
            tn_parquet_close(&file);
            tn_buf_reset(&ids);
            rows_read(w.cx, w.memory, files.files[f].staged, 2 - (int64_t)columns, &ids);
            for (size_t i = 0; i < ids.len / 8; i++) {
                uint64_t id = ((const uint64_t *)(const void *)ids.data)[i];

                assert_int_equal((id ^ id >> 32) % 4, f % 4);
            }
        }
        tn_buf_clear(&ids);
        world_close(&w);
    }
}

static void test_exec_write__stops_at_limits(void **state)
{
    static char long_name[301];
    static const char *const long_names[] = {long_name};
    rows_shape of = {long_names, 1, 1, false, false};
    tn_write_files files = {0};
    world w;

    (void)state;
    memset(long_name, 'n', 300);
    world_open(&w, 0, 1);
    w.plan.partitions_max = 38;
    assert_fails(w.cx, TARN_E_LIMIT, "--max-partitions 380",
                 world_write(&w, w.memory, &shape, 20000, 3000, &files, NULL));
    check_staging(&w, 0);
    w.plan.partitions_max = 39;
    w.plan.files_max = 38;
    assert_fails(w.cx, TARN_E_LIMIT, "--max-created-files 380",
                 world_write(&w, w.memory, &shape, 20000, 3000, &files, NULL));
    check_staging(&w, 0);
    w.plan.files_max = 39;
    assert_ok(w.cx, world_write(&w, w.memory, &shape, 20000, 3000, &files, NULL));
    assert_int_equal(files.count, 39);
    assert_fails(w.cx, TARN_E_DATA, "column \"dt\": the value \"nnn",
                 world_write(&w, w.memory, &of, 10, 5, &files, NULL));
    w.columns[1] = TN_STR("nums");
    assert_fails(w.cx, TARN_E_UNSUPPORTED, "\"nums\"",
                 world_write(&w, w.memory, &shape, 10, 5, &files, NULL));
    w.columns[1] = TN_STR("nosuch");
    assert_fails(w.cx, TARN_E_INVALID, "\"nosuch\"",
                 world_write(&w, w.memory, &shape, 10, 5, &files, NULL));
    world_close(&w);
}

/* A file that may still be appended to the one before is no file too many. */
static void test_exec_write__counts_files_that_stay(void **state)
{
    tn_write_files files = {0};
    world w;
    size_t want;

    (void)state;
    world_open(&w, 0, 1);
    w.plan.partition_column_count = 0;
    w.plan.target_bytes = 60000;
    w.plan.group_bytes = 15000;
    assert_ok(w.cx, world_write(&w, w.memory, &shape, 9000, 1500, &files, NULL));
    want = files.count;
    assert_true(want > 1);
    world_close(&w);
    for (uint64_t most = 1; most <= want; most++) {
        world_open(&w, 0, 1);
        w.plan.partition_column_count = 0;
        w.plan.target_bytes = 60000;
        w.plan.group_bytes = 15000;
        w.plan.files_max = most;
        if (most < want)
            assert_fails(w.cx, TARN_E_LIMIT, "--max-created-files",
                         world_write(&w, w.memory, &shape, 9000, 1500, &files, NULL));
        else
            assert_ok(w.cx, world_write(&w, w.memory, &shape, 9000, 1500, &files, NULL));
        world_close(&w);
    }
}

/* Dictionaries come as plain values, but the file says what they were. */
static void test_exec_write__remembers_dictionaries(void **state)
{
    rows_shape of = shape;
    tn_write_files files = {0};
    tn_parquet file = {0};
    bool leaves[8] = {false};
    world w;

    (void)state;
    of.dictionary = true;
    world_open(&w, 0, 1);
    assert_ok(w.cx, world_write(&w, w.memory, &of, 5000, 300, &files, NULL));
    assert_ok(w.cx, tn_parquet_open(w.cx, w.memory, files.files[0].staged, &file));
    assert_ok(w.cx, tn_arrow_dictionary_leaves(w.cx, tn_parquet_key_value(&file, "ARROW:schema"),
                                               &file.schema, leaves));
    assert_false(leaves[0]);
    assert_true(leaves[1]);
    tn_parquet_close(&file);
    world_close(&w);
}

/* The n-th call of the store fails, for every n: a status with text, and nothing outside staging.
 */
static void test_exec_write__survives_failing_stores(void **state)
{
    uint64_t calls = 0;

    (void)state;
    for (uint64_t n = 0; n == 0 || n <= calls; n += n < 20 ? 1 : calls / 20 + 1) {
        tn_fault_plan faults = {.fail_at = n};
        tn_write_files files = {0};
        tn_store *store = NULL;
        world w;
        int rc;

        world_open(&w, 2 << 20, 1);
        w.plan.partition_column_count = 1;
        w.plan.target_bytes = 30000;
        w.plan.group_bytes = 10000;
        assert_ok(w.cx, tn_store_fault_open(w.cx, w.memory, &faults, &store));
        rc = world_write(&w, store, &shape, 8000, 1500, &files, NULL);
        if (n == 0) {
            assert_ok(w.cx, rc);
            calls = tn_store_fault_calls(store);
        } else if (rc != TARN_OK) {
            assert_int_equal(rc, TARN_E_IO);
            assert_true(tarn_cx_error(w.cx)[0] != '\0');
            assert_null(files.files);
        }
        tn_store_close(store);
        world_close(&w);
    }
    assert_true(calls > 60);
}

static void test_exec_write__survives_failing_allocations(void **state)
{
    size_t total = 0;

    (void)state;
    for (size_t n = 0; n == 0 || n <= total; n += n < 200 ? 1 : 37) {
        static const char *const two[] = {"a", NULL};
        rows_shape of = {two, 2, 1, false, false};
        tn_write_files files = {0};
        struct ArrowArray batch = {0};
        struct ArrowSchema schema = {0};
        tn_route *route = NULL;
        const tn_route_bucket *buckets;
        size_t count = 0;
        world w;
        int rc = TARN_OK;

        world_open(&w, 0, 1);
        w.plan.partition_column_count = 1;
        rows_schema(w.cx, &of, &schema);
        rows_batch(w.cx, &of, 0, 300, &batch);
        alloc_watch(n);
        rc = tn_route_open(w.cx, w.memory, &w.plan, &schema, &route);
        if (rc == TARN_OK)
            rc = tn_route_add(w.cx, route, &batch);
        if (rc == TARN_OK)
            rc = tn_route_end(w.cx, route, &buckets, &count);
        for (size_t i = 0; rc == TARN_OK && i < count; i++) {
            struct ArrowArrayStream rows = {0};

            rc = tn_route_rows(w.cx, route, i, &rows);
            if (rc == TARN_OK) {
                rc =
                    tn_exec_write(w.cx, w.memory, &w.plan, &buckets[i], &rows, i, &w.arena, &files);
                rows.release(&rows);
            }
        }
        tn_route_close(route);
        total = n == 0 ? alloc_unwatch() : (alloc_unwatch(), total);
        if (n == 0)
            assert_ok(w.cx, rc);
        else if (rc != TARN_OK)
            assert_int_equal(rc, TARN_E_NOMEM);
        tn_array_release(&batch);
        tn_field_release(&schema);
        world_close(&w);
    }
    assert_true(total > 300);
}
