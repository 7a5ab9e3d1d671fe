/* Keys looked up in the key column: every row that has one, and none that has not, whatever the
 * pages, groups, encodings and threads are. */
#include "exec/read_find.h"

#include "io/store_memory.h"
#include "unit/batch/table.h"
#include "unit/test.h"

#define ROWS 50000

typedef struct world {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    tn_parquet file;
} world;

/* Row i has the key (i * 7) % `distinct`, in groups of 30,000 rows and pages of 500. */
static void make_file(world *w, int64_t distinct, bool dictionary, const char *column)
{
    tn_parquet_sink_options options = {
        .group_rows = 30000,
        .chunk = {.page_rows = 500, .no_dictionary = !dictionary, .plain_bytes = true}};
    const char **keys = malloc(ROWS * sizeof *keys);
    char(*texts)[64] = malloc(ROWS * sizeof *texts);
    tn_parquet_sink *sink;
    tn_sink *file;
    test_table table = {0};

    assert_true(keys != NULL && texts != NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        uint64_t n = (uint64_t)(i * 7 % distinct);

        snprintf(texts[i], sizeof texts[i], "%016llx-%016llx-%lld",
                 (unsigned long long)(n * 0x9E3779B97F4A7C15u),
                 (unsigned long long)(n * 0xC2B2AE3D27D4EB4Fu), (long long)n);
        keys[i] = texts[i];
    }
    table_init(w->cx, &table, 1, ROWS);
    table_text(w->cx, &table, 0, column, "u", keys, 0);
    assert_ok(w->cx, tn_store_create(w->cx, w->store, TN_STR("/f"), &file));
    assert_ok(w->cx, tn_parquet_sink_open(w->cx, file, &table.schema, &options, &sink));
    assert_ok(w->cx, tn_parquet_sink_add(w->cx, sink, &table.array));
    assert_ok(w->cx, tn_parquet_sink_finish(w->cx, sink));
    tn_parquet_sink_close(sink);
    assert_ok(w->cx, tn_store_finish(w->cx, file));
    tn_store_close_sink(file);
    table_clear(&table);
    free(keys);
    free(texts);
}

static void open_world(world *w, int64_t distinct, bool dictionary, const char *column)
{
    *w = (world){0};
    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->store));
    make_file(w, distinct, dictionary, column);
    assert_ok(w->cx, tn_parquet_open(w->cx, w->store, TN_STR("/f"), &w->file));
}

static void close_world(world *w)
{
    tn_parquet_close(&w->file);
    tn_arena_clear(&w->arena);
    tn_store_close(w->store);
    tarn_cx_close(w->cx);
}

static tn_str key_of(world *w, int64_t number)
{
    uint64_t n = (uint64_t)number;
    tn_str out;

    assert_ok(w->cx, tn_arena_print(w->cx, &w->arena, &out, "%016llx-%016llx-%lld",
                                    (unsigned long long)(n * 0x9E3779B97F4A7C15u),
                                    (unsigned long long)(n * 0xC2B2AE3D27D4EB4Fu), (long long)n));
    return out;
}

/* Whether row i of the file is one of those to be found. */
static bool expected(int64_t i, int64_t distinct, const int64_t *numbers, size_t count,
                     const tn_row_range *among, size_t among_count)
{
    int64_t in_group = i % 30000;
    bool within = among == NULL, wanted = false;

    for (size_t r = 0; r < among_count; r++)
        within |= among[r].group == (uint32_t)(i / 30000) && in_group >= among[r].first &&
                  in_group < among[r].first + among[r].rows;
    for (size_t k = 0; k < count; k++)
        wanted |= i * 7 % distinct == numbers[k];
    return within && wanted;
}

static void check(world *w, int64_t distinct, const int64_t *numbers, size_t count,
                  const tn_row_range *among, size_t among_count)
{
    tn_str keys[8];
    tn_row_range *ranges;
    size_t n, at = 0;
    int64_t taken = 0;
    bool found;

    for (size_t k = 0; k < count; k++)
        keys[k] = key_of(w, numbers[k]);
    assert_ok(w->cx, tn_read_find(w->cx, &w->file, false, keys, count, among, among_count,
                                  &w->arena, &found, &ranges, &n));
    assert_true(found);
    for (int64_t i = 0; i < ROWS; i++) {
        if (!expected(i, distinct, numbers, count, among, among_count))
            continue;
        assert_true(at < n);
        assert_int_equal(ranges[at].group, i / 30000);
        assert_int_equal(ranges[at].first + taken, i % 30000);
        if (++taken == ranges[at].rows) {
            at++;
            taken = 0;
        }
    }
    assert_int_equal(at, n);
}

static void test_read_find__keys(void **state)
{
    static const struct {
        int64_t distinct;
        bool dictionary;
    } files[] = {{ROWS + 1, false}, {5000, true}, {3, true}};
    static const int64_t one[] = {2}, none[] = {999999}, many[] = {0, 1, 2, 700, 701, 4999, 77777};
    static const tn_row_range among[] = {
        {0, 250, 1000}, {0, 29000, 1000}, {1, 0, 1}, {1, 777, 15000}};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        world w;

        open_world(&w, files[i].distinct, files[i].dictionary, "_hoodie_record_key");
        assert_true(w.file.footer.group_count == 2);
        check(&w, files[i].distinct, one, 1, NULL, 0);
        check(&w, files[i].distinct, none, 1, NULL, 0);
        check(&w, files[i].distinct, many, 7, NULL, 0);
        check(&w, files[i].distinct, many, 7, among, 4);
        check(&w, files[i].distinct, one, 1, among, 4);
        close_world(&w);
    }
}

/* A file that has no key column tells nothing. */
static void test_read_find__no_column(void **state)
{
    tn_row_range *ranges;
    tn_str key = TN_STR("k");
    size_t n;
    bool found = true;
    world w;

    (void)state;
    open_world(&w, 10, true, "id");
    assert_ok(w.cx,
              tn_read_find(w.cx, &w.file, false, &key, 1, NULL, 0, &w.arena, &found, &ranges, &n));
    assert_false(found);
    close_world(&w);
}
