/* A write as a caller of the library sees it: what a stream gives, what options refuse, and that a
 * failed allocation anywhere leaves the directory as it was. */
#include "unit/batch/table.h"
#include "unit/temp_dir.h"

#include "tarn/read.h"
#include "tarn/write.h"
#include "unit/alloc.h"

#define ROWS     6
#define RUNS_MAX 120 /* of one sweep; past it only every so many-th allocation fails */

/* A stream of one table, given once. */
typedef struct one_table {
    tarn_cx *cx;
    test_table *table;
    bool fails;
    bool given;
} one_table;

static int one_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    one_table *one = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(one->cx, &one->table->schema, out) == TARN_OK ? 0 : 12;
}

/* A copy: who takes a batch moves its children. */
static int one_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    one_table *one = self->private_data;
    int64_t take[ROWS];

    memset(out, 0, sizeof *out);
    if (one->given)
        return one->fails ? 5 : 0;
    one->given = true;
    for (int64_t i = 0; i < ROWS; i++)
        take[i] = i;
    return tn_rows_take(one->cx, &one->table->schema, &one->table->array, take, ROWS, out) ==
                   TARN_OK
               ? 0
               : 12;
}

static const char *one_error(struct ArrowArrayStream *self)
{
    (void)self;
    return "the source went away";
}

static void one_release(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

/* Rows with ids from `first` on, in partitions k=a and k=b. */
static void rows_make(tarn_cx *cx, test_table *table, int64_t first)
{
    static const char *const keys[ROWS] = {"a", "b", "a", "b", "a", "a"};
    int64_t ids[ROWS];

    for (int64_t i = 0; i < ROWS; i++)
        ids[i] = first + i;
    *table = (test_table){0};
    table_init(cx, table, 2, ROWS);
    table_fixed(cx, table, 0, "id", "l", ids, 8, 0);
    table_text(cx, table, 1, "k", "u", keys, 0);
}

static const char *const by_k[] = {"k"};

static int write_table(tarn_cx *cx, const char *dir, test_table *table, enum tarn_write_mode mode,
                       tarn_write_report **report)
{
    one_table one = {.cx = cx, .table = table};
    struct ArrowArrayStream rows = {one_schema, one_next, one_error, one_release, &one};
    tarn_write_options options = {.mode = mode, .partition_by = by_k, .partition_by_count = 1};

    return tarn_write_rows(cx, dir, &rows, &options, report);
}

/* Rows and the sum of their ids, as `read` sees them. */
static void read_back(const char *dir, int64_t *count, int64_t *sum)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    static const char *const id[] = {"id"};
    tarn_read_options options = {.columns = id, .column_count = 1};
    struct ArrowArrayStream rows;
    struct ArrowArray batch = {0};

    *count = *sum = 0;
    assert_ok(cx, tarn_read_open(cx, dir, &options, &rows));
    for (;;) {
        assert_int_equal(rows.get_next(&rows, &batch), 0);
        if (batch.release == NULL)
            break;
        for (int64_t i = 0; i < batch.length; i++)
            *sum += tn_rows_integer(TN_TYPE_INT64, batch.children[0],
                                    batch.children[0]->offset + batch.offset + i);
        *count += batch.length;
        tn_array_release(&batch);
    }
    rows.release(&rows);
    tarn_cx_close(cx);
}

static int64_t sum_from(int64_t first)
{
    return ROWS * first + ROWS * (ROWS - 1) / 2;
}

static void expect_no_leftovers(const char *base)
{
    DIR *dir = opendir(base);
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, "lake") != 0)
            fail_msg("%s is left", entry->d_name);
    closedir(dir);
}

static void test_op_write__rows(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_write_report *report = NULL;
    char base[1024], dir[2048];
    int64_t count, sum;
    test_table table;

    (void)state;
    temp_dir_make(base, sizeof base);
    snprintf(dir, sizeof dir, "%s/lake", base);
    rows_make(cx, &table, 100);
    assert_ok(cx, write_table(cx, dir, &table, TARN_WRITE_APPEND, &report));
    assert_true(report->root_made);
    assert_int_equal(report->rows, ROWS);
    assert_int_equal(report->files, 2);
    assert_int_equal(report->partition_count, 2);
    assert_string_equal(report->partitions[0].path, "k=a");
    assert_int_equal(report->partitions[0].rows, 4);
    assert_null(report->merged);
    tarn_write_report_close(report);
    assert_ok(cx, write_table(cx, dir, &table, TARN_WRITE_APPEND, &report));
    assert_false(report->root_made);
    assert_non_null(report->merged);
    assert_int_equal(report->merged->new_files, 2);
    tarn_write_report_close(report);
    read_back(dir, &count, &sum);
    assert_int_equal(count, 2 * ROWS);
    assert_int_equal(sum, 2 * sum_from(100));
    assert_ok(cx, write_table(cx, dir, &table, TARN_WRITE_OVERWRITE, &report));
    assert_int_equal(report->old_files, 2);
    tarn_write_report_close(report);
    read_back(dir, &count, &sum);
    assert_int_equal(count, ROWS);
    expect_no_leftovers(base);
    table_clear(&table);
    temp_dir_remove(base);
    tarn_cx_close(cx);
}

static void test_op_write__failing_stream(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_write_options options = {.partition_by = by_k, .partition_by_count = 1, .where = "id > 1"};
    one_table one = {.cx = cx, .fails = true};
    struct ArrowArrayStream rows = {one_schema, one_next, one_error, one_release, &one};
    tarn_write_report *report = NULL;
    char base[1024], dir[2048];
    test_table table;

    (void)state;
    temp_dir_make(base, sizeof base);
    snprintf(dir, sizeof dir, "%s/lake", base);
    rows_make(cx, &table, 0);
    one.table = &table;
    assert_fails(cx, TARN_E_INVALID, "are of inputs",
                 tarn_write_rows(cx, dir, &rows, &options, &report));
    options.where = NULL;
    assert_fails(cx, TARN_E_IO, "the source went away",
                 tarn_write_rows(cx, dir, &rows, &options, &report));
    options.mode = (enum tarn_write_mode)7;
    assert_fails(cx, TARN_E_INVALID, "op: 7", tarn_write_rows(cx, dir, &rows, &options, &report));
    assert_null(report);
    assert_int_equal(rmdir(base), 0);
    table_clear(&table);
    tarn_cx_close(cx);
}

static void settle(tarn_cx *cx, const char *dir)
{
    tarn_merge_report *report = NULL;

    assert_ok(cx, tarn_merge(cx, dir, NULL, &report));
    tarn_merge_report_close(report);
}

/* Every allocation fails once: a status, and the old rows; or, after the commit, the new ones. */
static void sweep(enum tarn_write_mode mode)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_write_report *report = NULL;
    char base[1024], dir[2048];
    int64_t had_count = ROWS, had_sum = sum_from(0), count, sum;
    size_t total, step, failed = 0;
    test_table table;

    /* In memory where that can be: a hundred runs are hundreds of waits for a disk. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    temp_dir_make(base, sizeof base);
    snprintf(dir, sizeof dir, "%s/lake", base);
    rows_make(cx, &table, 0);
    assert_ok(cx, write_table(cx, dir, &table, TARN_WRITE_OVERWRITE, &report));
    tarn_write_report_close(report);
    alloc_watch(0);
    assert_ok(cx, write_table(cx, dir, &table, TARN_WRITE_OVERWRITE, &report));
    total = alloc_unwatch();
    tarn_write_report_close(report);
    table_clear(&table);
    step = 1 + total / RUNS_MAX;
    for (size_t n = 1; n <= total; n += step) {
        int64_t first = (int64_t)n * 1000;
        int rc;

        report = NULL;
        rows_make(cx, &table, first);
        alloc_watch(n);
        rc = write_table(cx, dir, &table, mode, &report);
        alloc_unwatch();
        if (rc != TARN_OK && (tarn_cx_error(cx)[0] == '\0' || report != NULL))
            fail_msg("allocation %zu of %zu: %s without a text", n, total, tarn_status_name(rc));
        failed += rc != TARN_OK;
        /* All is decided, but the end was not reached: the next run, whatever it is, goes on. */
        if (rc == TARN_OK && report->pending)
            settle(cx, dir);
        tarn_write_report_close(report);
        if (rc == TARN_OK) {
            had_count = ROWS + (mode == TARN_WRITE_APPEND ? had_count : 0);
            had_sum = sum_from(first) + (mode == TARN_WRITE_APPEND ? had_sum : 0);
        }
        read_back(dir, &count, &sum);
        if (count != had_count || sum != had_sum)
            fail_msg("allocation %zu of %zu: %s, and there are %lld rows", n, total,
                     rc == TARN_OK ? "done" : tarn_cx_error(cx), (long long)count);
        table_clear(&table);
    }
    assert_true(failed > 0);
    /* The next run settles whatever is left. */
    rows_make(cx, &table, 7);
    assert_ok(cx, write_table(cx, dir, &table, TARN_WRITE_OVERWRITE, &report));
    tarn_write_report_close(report);
    expect_no_leftovers(base);
    table_clear(&table);
    temp_dir_remove(base);
    tarn_cx_close(cx);
}

static void test_op_write__allocations_of_overwrite(void **state)
{
    (void)state;
    sweep(TARN_WRITE_OVERWRITE);
}

static void test_op_write__allocations_of_append(void **state)
{
    (void)state;
    sweep(TARN_WRITE_APPEND);
}
