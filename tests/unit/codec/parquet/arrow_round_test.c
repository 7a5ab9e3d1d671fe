/* Random schemas and arrays of every layout through the sink and back through the scan: the values
 * are the same, whatever the cuts into batches, portions, pages and row groups. */
#include "unit/codec/parquet/arrow_fixture.h"

#include "base/budget.h"
#include "codec/parquet/arrow.h"
#include "io/store_memory.h"

typedef struct round_case {
    struct ArrowSchema schema;
    tn_buf text; /* of all rows written */
    int64_t rows;
    tn_store *store;
    tn_parquet file;
} round_case;

static void write_file(tarn_cx *cx, uint64_t *seed, round_case *c)
{
    tn_parquet_sink_options options = {.store_arrow_schema = fixture_random(seed) % 2 == 0,
                                       .group_rows = 1 + fixture_random(seed) % 200,
                                       .chunk.codec = TN_CODEC_SNAPPY,
                                       .chunk.page_rows = 1 + fixture_random(seed) % 40,
                                       .chunk.page_v2 = fixture_random(seed) % 2 == 0,
                                       .chunk.no_dictionary = fixture_random(seed) % 2 == 0};
    unsigned batches = 1 + fixture_random(seed) % 3;
    tn_sink *file = NULL;
    tn_parquet_sink *sink = NULL;

    assert_ok(cx, tn_store_memory_open(cx, &c->store));
    assert_ok(cx, tn_store_create(cx, c->store, TN_STR("/f.parquet"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &c->schema, &options, &sink));
    for (unsigned i = 0; i < batches; i++) {
        struct ArrowArray batch = {0};
        int64_t length = fixture_random(seed) % 150;

        fixture_array(cx, seed, &c->schema, length, &batch);
        assert_ok(cx, tn_parquet_sink_add(cx, sink, &batch));
        fixture_lines(cx, &c->text, &c->schema, &batch);
        c->rows += length;
        tn_array_release(&batch);
    }
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    assert_ok(cx, tn_parquet_open(cx, c->store, TN_STR("/f.parquet"), &c->file));
}

/* Text of what the scan gives; batches must be consecutive. */
static void read_text(tarn_cx *cx, const round_case *c, const tn_parquet_scan_options *options,
                      tn_buf *text)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_parquet_scan *scan = NULL;
    int64_t first, next = -1;

    assert_ok(cx, tn_parquet_scan_open(cx, &c->file, options, &scan));
    assert_ok(cx, tn_parquet_scan_schema(cx, scan, &schema));
    for (;;) {
        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        assert_true(options->ranges != NULL || next < 0 || first == next);
        assert_true(batch.length <= options->batch_rows);
        next = first + batch.length;
        assert_ok(cx, tn_array_check(cx, &schema, &batch));
        fixture_lines(cx, text, &schema, &batch);
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_parquet_scan_close(scan);
}

/* Appends lines [first, first + rows) of a text. */
static void add_lines(tn_buf *out, const tn_buf *text, int64_t first, int64_t rows)
{
    const char *at = (const char *)text->data, *end = at + text->len;

    for (int64_t line = 0; at < end && line < first + rows; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        if (line >= first)
            tn_buf_add(out, at, (size_t)(stop + 1 - at));
        at = stop + 1;
    }
}

static void expect_equal(uint64_t seed, const char *what, const tn_buf *got, const tn_buf *want)
{
    size_t at = 0;

    while (at < got->len && at < want->len && got->data[at] == want->data[at])
        at++;
    if (got->len != want->len || at != got->len)
        fail_msg("seed %" PRIu64 ", %s: differs at byte %zu:\ngot  %.*s\nwant %.*s", seed, what, at,
                 (int)(got->len - at > 200 ? 200 : got->len - at), got->data + at,
                 (int)(want->len - at > 200 ? 200 : want->len - at), want->data + at);
}

static void read_ranges(tarn_cx *cx, uint64_t *seed, uint64_t number, const round_case *c)
{
    tn_row_range ranges[8];
    tn_parquet_scan_options options = {.batch_rows = 50, .ranges = ranges};
    tn_buf got = {0}, want = {0};
    int64_t before = 0;

    for (size_t i = 0; i < c->file.footer.group_count && options.range_count < 6; i++) {
        int64_t rows = c->file.footer.groups[i].rows, at = 0;

        for (int turn = 0; turn < 2 && at < rows; turn++) {
            tn_row_range *range = &ranges[options.range_count++];

            range->group = (uint32_t)i;
            range->first = at + fixture_random(seed) % (rows - at);
            range->rows = 1 + fixture_random(seed) % (rows - range->first);
            at = range->first + range->rows;
            add_lines(&want, &c->text, before + range->first, range->rows);
        }
        before += rows;
    }
    read_text(cx, c, &options, &got);
    expect_equal(number, "ranges", &got, &want);
    tn_buf_clear(&got);
    tn_buf_clear(&want);
}

static void run_seed(tarn_cx *cx, uint64_t number)
{
    static const int64_t batch_rows[] = {1, 13, 1000};
    uint64_t seed = number;
    round_case c = {0};
    tn_buf got = {0};
    size_t columns = 1 + fixture_random(&seed) % 4;

    assert_ok(cx, tn_field_init(cx, &c.schema, "+s", TN_STR(""), false, columns));
    for (size_t i = 0; i < columns; i++) {
        char name[32];

        snprintf(name, sizeof name, "c%zu", i);
        fixture_schema(cx, &seed, 3, fixture_random(&seed) % 4 != 0, name, c.schema.children[i]);
    }
    write_file(cx, &seed, &c);
    for (size_t i = 0; i < sizeof batch_rows / sizeof batch_rows[0]; i++) {
        tn_parquet_scan_options options = {.batch_rows = batch_rows[i]};

        tn_buf_reset(&got);
        read_text(cx, &c, &options, &got);
        expect_equal(number, "all rows", &got, &c.text);
    }
    read_ranges(cx, &seed, number, &c);
    tn_buf_clear(&got);
    tn_buf_clear(&c.text);
    tn_field_release(&c.schema);
    tn_parquet_close(&c.file);
    tn_store_close(c.store);
}

static void test_arrow_round__random_schemas_and_layouts(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});

    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++)
        run_seed(cx, seed);
    assert_true(tn_budget_try(cx, TN_MEMORY_DEFAULT_BYTES));
    tarn_cx_close(cx);
}
