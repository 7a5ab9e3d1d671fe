/* Pruning never loses a row: random tables through tarn's own writer, random filters over them,
 * counted over all rows and over those that pruning keeps. */
#include "unit/test.h"

#include <math.h>

#include "batch/predicate.h"
#include "codec/parquet/prune.h"
#include "io/store_memory.h"
#include "unit/batch/table.h"

#define ROWS    60 /* `nulls` of a table are bits of one word */
#define BATCHES 8
#define SEEDS   8
#define FILTERS 60

static uint64_t roll(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static const char *const words[] = {"", "a", "ab", "b", "K\xC3\xB6ln", "z", "\xC3\xA4", "zz~"};
static const double numbers[] = {-1.5, -0.0, 0.0, 0.5, 2.0, NAN, INFINITY, -INFINITY};

/* Values cluster by batch, so that there is something to prune. */
static void make_batch(tarn_cx *cx, test_table *t, uint64_t *state, int64_t base)
{
    int32_t i[ROWS];
    uint32_t u[ROWS];
    double d[ROWS];
    int64_t dec[ROWS * 2];
    const char *s[ROWS];
    uint64_t null_mask[5];

    for (size_t c = 0; c < 5; c++)
        null_mask[c] = roll(state) % 4 == 0 ? ~0ull >> 4 : roll(state) & roll(state) & roll(state);
    for (size_t r = 0; r < ROWS; r++) {
        size_t kind = roll(state) % 3;

        i[r] = (int32_t)(base * 5 + (int64_t)(roll(state) % 12)) - 20;
        u[r] = (uint32_t)(roll(state) % 3 - 1 + (uint64_t)base);
        d[r] = numbers[(roll(state) % 3 + (uint64_t)base) % 8];
        s[r] = words[(kind + (size_t)base) % 8];
        dec[2 * r] = base * 10 - 30 + (int64_t)(roll(state) % 9);
        dec[2 * r + 1] = dec[2 * r] < 0 ? -1 : 0;
    }
    table_init(cx, t, 5, ROWS);
    table_fixed(cx, t, 0, "i", "i", i, 4, null_mask[0]);
    table_fixed(cx, t, 1, "u", "I", u, 4, null_mask[1]);
    table_fixed(cx, t, 2, "d", "g", d, 8, null_mask[2]);
    table_text(cx, t, 3, "s", "u", s, null_mask[3]);
    table_fixed(cx, t, 4, "dec", "d:20,1", dec, 16, null_mask[4]);
}

static void write_file(tarn_cx *cx, tn_store *store, tn_str path, uint64_t *state)
{
    tn_parquet_sink_options options = {.group_rows = 100};
    tn_parquet_sink *sink = NULL;
    tn_sink *file = NULL;

    options.chunk.page_rows = 17;
    options.chunk.bloom = roll(state) & 1;
    options.chunk.no_dictionary = roll(state) & 1;
    options.chunk.page_v2 = roll(state) & 1;
    assert_ok(cx, tn_store_create(cx, store, path, &file));
    for (int64_t b = 0; b < BATCHES; b++) {
        test_table t;

        make_batch(cx, &t, state, b);
        if (b == 0)
            assert_ok(cx, tn_parquet_sink_open(cx, file, &t.schema, &options, &sink));
        assert_ok(cx, tn_parquet_sink_add(cx, sink, &t.array));
        table_clear(&t);
    }
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
}

static void make_test(char *into, size_t room, uint64_t *state)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    const char *op = ops[roll(state) % 6];
    const char *word = words[roll(state) % 8];
    long long number = (long long)(roll(state) % 60) - 30;

    switch (roll(state) % 10) {
    case 0:
        snprintf(into, room, "i %s %lld", op, number);
        break;
    case 1:
        snprintf(into, room, "u %s %lld", op, number + 20);
        break;
    case 2:
        snprintf(into, room, "d %s %lld.5", op, number % 3);
        break;
    case 3:
        snprintf(into, room, "d %s 0", op);
        break;
    case 4:
        snprintf(into, room, "s %s '%s'", op, word);
        break;
    case 5:
        snprintf(into, room, "s LIKE '%s%%'", word);
        break;
    case 6:
        snprintf(into, room, "dec %s %lld.%llu", op, number / 10,
                 (unsigned long long)(roll(state) % 10));
        break;
    case 7:
        snprintf(into, room, "%s IS NULL",
                 (const char *const[]){"i", "u", "d", "s", "dec"}[roll(state) % 5]);
        break;
    case 8:
        snprintf(into, room, "i IN (%lld, %lld)", number, number + 7);
        break;
    default:
        snprintf(into, room, "s NOT IN ('%s', 'q')", word);
    }
}

static void make_filter(char *into, size_t room, uint64_t *state)
{
    char a[100], b[100];

    make_test(a, sizeof a, state);
    make_test(b, sizeof b, state);
    switch (roll(state) % 4) {
    case 0:
        snprintf(into, room, "%s", a);
        break;
    case 1:
        snprintf(into, room, "%s AND %s", a, b);
        break;
    case 2:
        snprintf(into, room, "%s OR %s", a, b);
        break;
    default:
        snprintf(into, room, "NOT (%s AND %s)", a, b);
    }
}

static int64_t count(tarn_cx *cx, const tn_parquet *file, const tn_filter *filter,
                     const tn_prune *prune)
{
    tn_parquet_scan_options options = {.batch_rows = 50};
    tn_parquet_scan *scan = NULL;
    uint8_t keep[64];
    int64_t total = 0;

    if (prune != NULL) {
        if (prune->group_count == 0)
            return 0;
        options.groups = prune->groups;
        options.group_count = prune->group_count;
        options.ranges = prune->ranges;
        options.range_count = prune->range_count;
    }
    assert_ok(cx, tn_parquet_scan_open(cx, file, &options, &scan));
    for (;;) {
        struct ArrowArray batch;
        int64_t first, kept;

        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length != 0) {
            assert_ok(cx, tn_filter_eval(cx, filter, &batch, keep, &kept));
            total += kept;
        }
        first = batch.length;
        tn_array_release(&batch);
        if (first == 0)
            break;
    }
    tn_parquet_scan_close(scan);
    return total;
}

static void check_filter(tarn_cx *cx, const tn_parquet *file, const struct ArrowSchema *schema,
                         const char *text, int64_t *dropped)
{
    tn_arena arena = {0};
    const tn_predicate *predicate;
    tn_filter filter;
    tn_prune prune;
    int64_t all, some;

    assert_ok(cx, tn_predicate_parse(cx, tn_str_of(text), &arena, &predicate));
    assert_ok(cx, tn_predicate_bind(cx, predicate, schema, &arena, &filter));
    assert_ok(cx, tn_prune_file(cx, file, &filter, NULL, &arena, &prune));
    all = count(cx, file, &filter, NULL);
    some = count(cx, file, &filter, &prune);
    if (all != some)
        fail_msg("%s: %lld rows, %lld after pruning", text, (long long)all, (long long)some);
    assert_true(prune.rows >= some);
    *dropped += file->footer.rows - prune.rows;
    tn_arena_clear(&arena);
}

static void test_prune_scan__loses_no_row(void **state)
{
    int64_t dropped = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = seed});
        tn_store *store = NULL;
        uint64_t dice = seed * 1000;
        struct ArrowSchema schema;
        tn_parquet file;

        assert_ok(cx, tn_store_memory_open(cx, &store));
        write_file(cx, store, TN_STR("/x.parquet"), &dice);
        assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/x.parquet"), &file));
        assert_ok(cx, tn_arrow_schema_of(cx, &file, NULL, 0, &schema));
        for (size_t i = 0; i < FILTERS; i++) {
            char text[256];

            make_filter(text, sizeof text, &dice);
            check_filter(cx, &file, &schema, text, &dropped);
        }
        tn_field_release(&schema);
        tn_parquet_close(&file);
        tn_store_close(store);
        tarn_cx_close(cx);
    }
    /* A pruner that keeps all would pass too: about half of all rows must fall. */
    assert_true(dropped > (int64_t)SEEDS * FILTERS * ROWS * BATCHES / 4);
}

/* NaN is greater than all else, so a maximum drops rows only where NaNs were counted and are none.
 */
static void test_prune_scan__a_maximum_counts_where_no_nan_is(void **state)
{
    static const double plain[] = {1, 2, -0.0}, holed[] = {1, NAN, 2};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (int nan = 0; nan < 2; nan++) {
        tn_parquet_sink_options options = {0};
        tn_parquet_sink *sink = NULL;
        tn_store *store = NULL;
        tn_sink *out = NULL;
        tn_parquet file;
        test_table t = {0};
        int64_t dropped = 0;

        table_init(cx, &t, 1, 3);
        table_fixed(cx, &t, 0, "d", "g", nan ? holed : plain, 8, 0);
        assert_ok(cx, tn_store_memory_open(cx, &store));
        assert_ok(cx, tn_store_create(cx, store, TN_STR("/x"), &out));
        assert_ok(cx, tn_parquet_sink_open(cx, out, &t.schema, &options, &sink));
        assert_ok(cx, tn_parquet_sink_add(cx, sink, &t.array));
        assert_ok(cx, tn_parquet_sink_finish(cx, sink));
        assert_ok(cx, tn_store_finish(cx, out));
        assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/x"), &file));
        check_filter(cx, &file, &t.schema, "d > 5", &dropped);
        assert_int_equal(dropped, nan ? 0 : 3);
        tn_parquet_sink_close(sink);
        tn_store_close_sink(out);
        tn_parquet_close(&file);
        tn_store_close(store);
        table_clear(&t);
    }
    tarn_cx_close(cx);
}
