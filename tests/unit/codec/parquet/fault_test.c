/* The codec under failures: every allocation and every store call fails once, in turn, while files
 * are opened, pruned, read leaf by leaf, scanned and written. Each failure ends in its own status
 * with text, gives back what was reserved, and leaks nothing (the sanitizer looks at the end). */
#include "unit/codec/parquet/arrow_fixture.h"
#include "unit/codec/parquet/leaves.h"

#include "base/budget.h"
#include "batch/predicate.h"
#include "codec/parquet/prune.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "unit/alloc.h"

#define RUNS_MAX 700 /* of one sweep; past it only every so many-th allocation fails */
#define PATH     "/read.parquet"
#define NEW_PATH "/written.parquet"

typedef struct fault_case {
    tn_store *memory; /* where files really are */
    struct ArrowSchema schema;
    struct ArrowArray batch;
    tn_parquet_sink_options options;
    const char *where;
} fault_case;

typedef int (*fault_run)(tarn_cx *cx, tn_store *store, const fault_case *c);

static void expect_nothing_reserved(tarn_cx *cx)
{
    assert_true(tn_budget_try(cx, TN_MEMORY_DEFAULT_BYTES));
    tn_budget_give(cx, TN_MEMORY_DEFAULT_BYTES);
}

/* What the run before has written, if it got that far. */
static void remove_written(tarn_cx *cx, const fault_case *c)
{
    tn_store_remove(cx, c->memory, TN_STR(NEW_PATH));
    tn_cx_forget(cx);
}

static void sweep_allocations(tarn_cx *cx, const fault_case *c, fault_run run)
{
    size_t total, step, failed = 0;
    int rc;

    remove_written(cx, c);
    alloc_watch(0);
    rc = run(cx, c->memory, c);
    total = alloc_unwatch();
    assert_ok(cx, rc);
    step = 1 + total / RUNS_MAX;
    for (size_t n = 1; n <= total; n += step) {
        remove_written(cx, c);
        alloc_watch(n);
        rc = run(cx, c->memory, c);
        alloc_unwatch();
        if (rc != TARN_OK && (rc != TARN_E_NOMEM || tarn_cx_error(cx)[0] == '\0'))
            fail_msg("allocation %zu of %zu: %s: %s", n, total, tarn_status_name(rc),
                     tarn_cx_error(cx));
        failed += rc != TARN_OK;
        expect_nothing_reserved(cx);
    }
    assert_true(failed > 0);
}

static void sweep_store(tarn_cx *cx, const fault_case *c, fault_run run)
{
    uint64_t total = UINT64_MAX;

    for (uint64_t n = 0; n <= total; n++) {
        tn_fault_plan plan = {.fail_at = n};
        tn_store *store = NULL;
        int rc;

        remove_written(cx, c);
        assert_ok(cx, tn_store_fault_open(cx, c->memory, &plan, &store));
        rc = run(cx, store, c);
        if (n == 0) {
            assert_ok(cx, rc);
            total = tn_store_fault_calls(store);
            assert_true(total > 0);
        } else if (rc != TARN_E_IO || strstr(tarn_cx_error(cx), "injected") == NULL) {
            fail_msg("store call %" PRIu64 " of %" PRIu64 ": %s: %s", n, total,
                     tarn_status_name(rc), tarn_cx_error(cx));
        }
        tn_store_close(store);
        expect_nothing_reserved(cx);
    }
}

/* --- what is done under failures --- */

static int run_leaves(tarn_cx *cx, tn_store *store, const fault_case *c)
{
    leaves_options options = {.store = store, .ahead_bytes = 4096, .skip = 5, .use_index = true};
    tn_parquet file = {0};
    int64_t rows;
    int rc = TARN_OK;

    (void)c;
    TN_TRY(tn_parquet_open(cx, store, TN_STR(PATH), &file));
    TN_TRY(leaves_read_all(cx, &file, &options, &rows));
    options = (leaves_options){.store = store, .keep_dictionary = true, .rows_max = 7};
    TN_TRY(leaves_read_all(cx, &file, &options, &rows));
done:
    tn_parquet_close(&file);
    return rc;
}

static int run_scan(tarn_cx *cx, tn_store *store, const fault_case *c)
{
    tn_parquet_scan_options options = {.batch_rows = 40};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_parquet_scan *scan = NULL;
    tn_parquet file = {0};
    int64_t first, rows = 0;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, store, TN_STR(PATH), &file));
    TN_TRY(tn_parquet_scan_open(cx, &file, &options, &scan));
    TN_TRY(tn_parquet_scan_schema(cx, scan, &schema));
    for (;;) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        rows += batch.length;
        tn_array_release(&batch);
    }
    assert_int_equal(rows, c->batch.length);
done:
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    return rc;
}

static int run_sink(tarn_cx *cx, tn_store *store, const fault_case *c)
{
    tn_parquet_sink *sink = NULL;
    tn_sink *file = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_store_create(cx, store, TN_STR(NEW_PATH), &file));
    TN_TRY(tn_parquet_sink_open(cx, file, &c->schema, &c->options, &sink));
    TN_TRY(tn_parquet_sink_add(cx, sink, &c->batch));
    TN_TRY(tn_parquet_sink_add(cx, sink, &c->batch));
    TN_TRY(tn_parquet_sink_finish(cx, sink));
    TN_TRY(tn_store_finish(cx, file));
done:
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    return rc;
}

static int run_prune(tarn_cx *cx, tn_store *store, const fault_case *c)
{
    const tn_predicate *predicate;
    struct ArrowSchema schema = {0};
    tn_parquet file = {0};
    tn_arena arena = {0};
    tn_filter filter;
    tn_prune prune;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, store, TN_STR(PATH), &file));
    TN_TRY(tn_arrow_schema_of(cx, &file, NULL, 0, &schema));
    TN_TRY(tn_predicate_parse(cx, tn_str_of(c->where), &arena, &predicate));
    TN_TRY(tn_predicate_bind(cx, predicate, &schema, &arena, &filter));
    TN_TRY(tn_prune_file(cx, &file, &filter, NULL, &arena, &prune));
done:
    tn_arena_clear(&arena);
    tn_field_release(&schema);
    tn_parquet_close(&file);
    return rc;
}

/* --- the cases --- */

static void write_read_file(tarn_cx *cx, const fault_case *c)
{
    tn_parquet_sink *sink = NULL;
    tn_sink *file = NULL;

    assert_ok(cx, tn_store_create(cx, c->memory, TN_STR(PATH), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &c->schema, &c->options, &sink));
    assert_ok(cx, tn_parquet_sink_add(cx, sink, &c->batch));
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
}

static void case_clear(fault_case *c)
{
    tn_array_release(&c->batch);
    tn_field_release(&c->schema);
    tn_store_close(c->memory);
}

static void random_case(tarn_cx *cx, uint64_t seed, fault_case *c)
{
    size_t columns = 1 + fixture_random(&seed) % 3;

    *c = (fault_case){.options = {.store_arrow_schema = true,
                                  .group_rows = 60,
                                  .chunk.codec = TN_CODEC_ZSTD,
                                  .chunk.page_rows = 25,
                                  .chunk.crc = true,
                                  .chunk.bloom = true,
                                  .chunk.page_v2 = seed % 2 == 0}};
    assert_ok(cx, tn_store_memory_open(cx, &c->memory));
    assert_ok(cx, tn_field_init(cx, &c->schema, "+s", TN_STR(""), false, columns));
    for (size_t i = 0; i < columns; i++) {
        char name[32];

        snprintf(name, sizeof name, "c%zu", i);
        fixture_schema(cx, &seed, 2, true, name, c->schema.children[i]);
    }
    fixture_array(cx, &seed, &c->schema, 100, &c->batch);
    write_read_file(cx, c);
}

static void flat_case(tarn_cx *cx, const char *format, const tn_parquet_sink_options *options,
                      fault_case *c)
{
    uint64_t seed = 7;

    *c = (fault_case){.options = *options};
    assert_ok(cx, tn_store_memory_open(cx, &c->memory));
    assert_ok(cx, tn_field_init(cx, &c->schema, "+s", TN_STR(""), false, 1));
    assert_ok(cx, tn_field_init(cx, c->schema.children[0], format, TN_STR("a"), true, 0));
    fixture_array(cx, &seed, &c->schema, 90, &c->batch);
}

static void test_fault__random_schemas(void **state)
{
    static const fault_run runs[] = {run_leaves, run_scan, run_sink};
    static const uint64_t seeds[] = {1, 2, 3, 4, 48}; /* the last: structs beside structs */
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        fault_case c;

        random_case(cx, seeds[k], &c);
        for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
            sweep_allocations(cx, &c, runs[i]);
            sweep_store(cx, &c, runs[i]);
        }
        case_clear(&c);
    }
    tarn_cx_close(cx);
}

static void test_fault__every_encoding(void **state)
{
    static const char *const formats[] = {"b", "i", "l", "f", "g", "z", "w:5"};
    static const int32_t encodings[] = {TN_ENC_PLAIN,
                                        TN_ENC_RLE,
                                        TN_ENC_DELTA_BINARY_PACKED,
                                        TN_ENC_DELTA_LENGTH_BYTE_ARRAY,
                                        TN_ENC_DELTA_BYTE_ARRAY,
                                        TN_ENC_BYTE_STREAM_SPLIT};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    size_t done = 0;

    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (size_t e = 0; e < sizeof encodings / sizeof encodings[0]; e++) {
            tn_parquet_sink_options options = {.chunk = {.codec = TN_CODEC_SNAPPY,
                                                         .page_rows = 40,
                                                         .force_encoding = true,
                                                         .encoding = encodings[e]}};
            fault_case c;

            flat_case(cx, formats[f], &options, &c);
            tn_cx_forget(cx);
            if (run_sink(cx, c.memory, &c) == TARN_OK) {
                write_read_file(cx, &c);
                sweep_allocations(cx, &c, run_leaves);
                sweep_allocations(cx, &c, run_sink);
                done++;
            }
            case_clear(&c);
        }
    }
    assert_true(done == 17);
    tarn_cx_close(cx);
}

static void test_fault__pruning(void **state)
{
    tn_parquet_sink_options options = {.group_rows = 30, .chunk.page_rows = 8, .chunk.bloom = true};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    fault_case c;

    (void)state;
    flat_case(cx, "z", &options, &c);
    c.where = "a = X'00112233' OR a > X'F0' AND a IS NOT NULL";
    write_read_file(cx, &c);
    sweep_allocations(cx, &c, run_prune);
    sweep_store(cx, &c, run_prune);
    case_clear(&c);
    tarn_cx_close(cx);
}
