/* What a scan does at its bounds: wide values, foreign ARROW:schema, small budgets, bad ranges. */
#include "unit/codec/parquet/arrow_fixture.h"

#include "base/budget.h"
#include "codec/parquet/arrow.h"
#include "io/store_memory.h"

/* id and a long text: 1,000 rows whose dictionary has one value of 256 KiB, in a tiny file. */
static void write_wide(tarn_cx *cx, tn_store *store, const char *arrow_schema)
{
    enum { ROWS = 1000, BYTES = 256 * 1024 };
    tn_key_value pair = {TN_STR("ARROW:schema"), tn_str_of(arrow_schema), arrow_schema != NULL};
    tn_parquet_sink_options options = {.chunk.codec = TN_CODEC_ZSTD,
                                       .file.key_values = &pair,
                                       .file.key_value_count = arrow_schema != NULL};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_block ids = {0}, indices = {0}, offsets = {0}, data = {0};
    tn_sink *file = NULL;
    tn_parquet_sink *sink = NULL;
    int32_t end = BYTES;

    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 2));
    assert_ok(cx, tn_field_init(cx, schema.children[0], "i", TN_STR("id"), false, 0));
    assert_ok(cx, tn_field_init(cx, schema.children[1], "c", TN_STR("text"), false, 0));
    assert_ok(cx, tn_field_make_dictionary(cx, schema.children[1]));
    assert_ok(cx, tn_field_init(cx, schema.children[1]->dictionary, "u", TN_STR(""), true, 0));
    fixture_block(cx, &ids, ROWS * 4, NULL);
    for (int32_t i = 0; i < ROWS; i++)
        memcpy(ids.data + 4 * i, &i, 4);
    fixture_block(cx, &indices, ROWS, NULL);
    fixture_block(cx, &offsets, 8, NULL);
    memcpy(offsets.data + 4, &end, 4);
    fixture_block(cx, &data, BYTES, NULL);
    assert_ok(cx, tn_array_init(cx, &batch, ROWS, 1, 2));
    assert_ok(cx, tn_array_init(cx, batch.children[0], ROWS, 2, 0));
    assert_ok(cx, tn_array_take_block(cx, batch.children[0], 1, &ids));
    assert_ok(cx, tn_array_init(cx, batch.children[1], ROWS, 2, 0));
    assert_ok(cx, tn_array_take_block(cx, batch.children[1], 1, &indices));
    assert_ok(cx, tn_array_make_dictionary(cx, batch.children[1]));
    assert_ok(cx, tn_array_init(cx, batch.children[1]->dictionary, 1, 3, 0));
    assert_ok(cx, tn_array_take_block(cx, batch.children[1]->dictionary, 1, &offsets));
    assert_ok(cx, tn_array_take_block(cx, batch.children[1]->dictionary, 2, &data));
    assert_ok(cx, tn_store_create(cx, store, TN_STR("/wide"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &schema, &options, &sink));
    assert_ok(cx, tn_parquet_sink_add(cx, sink, &batch));
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    tn_array_release(&batch);
    tn_field_release(&schema);
}

/* Of 256 columns, 10,000 rows so many times: their values are few and small in the file, by their
 * dictionaries.
 */
static void write_many_columns(tarn_cx *cx, tn_store *store, int times)
{
    enum { COLUMNS = 256, ROWS = 10000 };
    tn_parquet_sink_options options = {.chunk.codec = TN_CODEC_ZSTD};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_sink *file = NULL;
    tn_parquet_sink *sink = NULL;

    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, COLUMNS));
    assert_ok(cx, tn_array_init(cx, &batch, ROWS, 1, COLUMNS));
    for (int i = 0; i < COLUMNS; i++) {
        tn_block values = {0};
        char name[16];

        snprintf(name, sizeof name, "c%d", i);
        assert_ok(cx, tn_field_init(cx, schema.children[i], "l", tn_str_of(name), false, 0));
        fixture_block(cx, &values, ROWS * 8, NULL);
        memset(values.data, 0, ROWS * 8);
        assert_ok(cx, tn_array_init(cx, batch.children[i], ROWS, 2, 0));
        assert_ok(cx, tn_array_take_block(cx, batch.children[i], 1, &values));
    }
    assert_ok(cx, tn_store_create(cx, store, TN_STR("/many"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &schema, &options, &sink));
    for (int i = 0; i < times; i++)
        assert_ok(cx, tn_parquet_sink_add(cx, sink, &batch));
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    tn_array_release(&batch);
    tn_field_release(&schema);
}

static void test_scan__batches_of_many_columns_fit_the_budget(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_cx *small = tarn_cx_open(&(tarn_cx_options){.jobs = 2, .memory_bytes = 16u << 20});
    tn_store *store = NULL;
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    int64_t first, rows = 0;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    write_many_columns(cx, store, 1);
    assert_ok(small, tn_parquet_open(small, store, TN_STR("/many"), &file));
    assert_ok(small, tn_parquet_scan_open(small, &file, NULL, &scan));
    for (;;) {
        struct ArrowArray batch = {0};

        assert_ok(small, tn_parquet_scan_next(small, scan, &batch, &first));
        if (batch.length == 0) {
            tn_array_release(&batch);
            break;
        }
        assert_true(batch.length * 256 * 8 <= 2 << 20);
        rows += batch.length;
        tn_array_release(&batch);
    }
    assert_int_equal(rows, 10000);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    tn_store_close(store);
    tarn_cx_close(small);
    tarn_cx_close(cx);
}

/* Their pages end together, and only then are charged: the row groups end before that. */
static void test_scan__many_columns_are_written_within_the_budget(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2, .memory_bytes = 32u << 20});
    tn_store *store = NULL;
    tn_parquet file = {0};

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    write_many_columns(cx, store, 3);
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/many"), &file));
    assert_int_equal(file.footer.rows, 30000);
    assert_true(file.footer.group_count >= 2 && file.footer.group_count <= 30);
    tn_parquet_close(&file);
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void test_scan__batches_of_wide_values_stay_small(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});
    tn_store *store = NULL;
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    int64_t first, next = 0, batches = 0;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    write_wide(cx, store, NULL);
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/wide"), &file));
    assert_true(file.size_bytes < 1u << 20);
    assert_ok(cx, tn_parquet_scan_open(cx, &file, NULL, &scan));
    for (;;) {
        struct ArrowArray batch = {0};
        const int32_t *ids, *offsets;

        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0) {
            tn_array_release(&batch);
            break;
        }
        assert_int_equal(first, next);
        ids = batch.children[0]->buffers[1];
        offsets = batch.children[1]->buffers[1];
        for (int64_t i = 0; i < batch.length; i++)
            assert_int_equal(ids[i], first + i);
        assert_true(offsets[batch.length] <= 33 << 20);
        assert_int_equal(offsets[batch.length], batch.length * 256 * 1024);
        next += batch.length;
        batches++;
        tn_array_release(&batch);
    }
    assert_int_equal(next, 1000);
    assert_true(batches >= 8 && batches <= 40);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    tn_store_close(store);
    assert_true(tn_budget_try(cx, TN_MEMORY_DEFAULT_BYTES));
    tarn_cx_close(cx);
}

static void test_scan__a_foreign_arrow_schema_changes_nothing(void **state)
{
    static const char *const texts[] = {"", "!!!", "AAAA", "/////wAAAAAAAAAAAAAAAAAAAAA="};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tn_store *store = NULL;
        tn_parquet file = {0};
        struct ArrowSchema schema = {0};

        assert_ok(cx, tn_store_memory_open(cx, &store));
        write_wide(cx, store, texts[i]);
        assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/wide"), &file));
        assert_ok(cx, tn_arrow_schema_of(cx, &file, NULL, 0, &schema));
        assert_string_equal(schema.children[0]->format, "i");
        assert_string_equal(schema.children[1]->format, "u");
        tn_field_release(&schema);
        tn_parquet_close(&file);
        tn_store_close(store);
    }
    tarn_cx_close(cx);
}

static void test_scan__bounds_are_checked(void **state)
{
    static const uint32_t no_column[] = {2}, no_group[] = {1};
    static const tn_row_range beyond[] = {{0, 999, 2}};
    static const struct {
        tn_parquet_scan_options options;
        const char *want;
    } cases[] = {
        {{.columns = no_column, .column_count = 1}, "no column 2 among 2"},
        {{.groups = no_group, .group_count = 1}, "no row group 1 among 1"},
        {{.ranges = beyond, .range_count = 1}, "rows 999 to 1001"},
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_cx *poor = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 1 << 18});
    tn_store *store = NULL;
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    struct ArrowArray batch = {0};
    int64_t first;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    write_wide(cx, store, NULL);
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/wide"), &file));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(cx, TARN_E_INVALID, cases[i].want,
                     tn_parquet_scan_open(cx, &file, &cases[i].options, &scan));
    assert_ok(poor, tn_parquet_scan_open(poor, &file, NULL, &scan));
    assert_fails(poor, TARN_E_LIMIT, "--memory", tn_parquet_scan_next(poor, scan, &batch, &first));
    tn_parquet_scan_close(scan);
    assert_true(tn_budget_try(poor, 1 << 18));
    tn_parquet_close(&file);
    tn_store_close(store);
    tarn_cx_close(poor);
    tarn_cx_close(cx);
}
