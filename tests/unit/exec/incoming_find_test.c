#include "base/budget.h"
#include "batch/record_key.h"
#include "codec/bloom/key_filter.h"
#include "io/store_fault.h"
#include "task/upsert_route.h"
#include "unit/alloc.h"
#include "unit/exec/incoming_world.h"

static tn_incoming *open_incoming(iw *w, tarn_cx *cx)
{
    static const uint32_t ordering[] = {1};
    tn_incoming_options options = {
        .staging = TN_STR(IW_STAGING), .ordering = ordering, .ordering_count = 1};
    tn_incoming *in = NULL;

    assert_ok(cx, tn_incoming_open(cx, w->store, &w->schema, &options, &in));
    return in;
}

static void number_rows(iw_row *rows, int64_t count, uint32_t first, uint32_t step)
{
    for (int64_t i = 0; i < count; i++)
        rows[i] = (iw_row){.key = first + (uint32_t)i * step};
}

/* Looks for rows and gives the counts. */
static tn_tag_counts find(iw *w, const iw_row *rows, int64_t count, const tn_tag_options *how)
{
    tn_incoming *in = open_incoming(w, w->cx);
    tn_tag_options options = *how;
    tn_tag_counts counts = {0};

    options.files = (const tn_base_file *const *)w->files;
    options.file_count = w->file_count;
    assert_ok(w->cx, iw_add(w, w->cx, in, rows, count, 1000));
    assert_ok(w->cx, tn_incoming_tag(w->cx, in, &options, &counts));
    tn_incoming_close(w->cx, in);
    return counts;
}

/* Ten keys of one row group cost about one page of it; keys of none cost nothing. */
static void test_incoming_find__clustered_keys_read_few_pages(void **state)
{
    static const struct {
        uint32_t first, step;
        int64_t found, read_max;
    } cases[] = {
        {1210, 1, 10, 50},  /* in one page */
        {1195, 1, 10, 100}, /* around the edge of two */
        {395, 1, 10, 100},  /* of two groups */
        {100000, 1, 0, 0},  /* behind all */
        {0, 400, 10, 500},  /* one of each group */
        {3995, 1, 5, 50},   /* at the end */
    };
    iw_row *stored = calloc(4000, sizeof *stored), rows[10];
    tn_parquet_sink_options options = {.group_rows = 400, .chunk = {.page_rows = 50}};
    tn_tag_counts counts;
    iw w;

    (void)state;
    iw_open(&w, 0, 2, false);
    number_rows(stored, 4000, 0, 1);
    iw_file_as(&w, 0, stored, 4000, &options);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        number_rows(rows, 10, cases[i].first, cases[i].step);
        counts = find(&w, rows, 10, &(tn_tag_options){0});
        assert_int_equal(counts.found, cases[i].found);
        assert_true(counts.keys_read <= cases[i].read_max);
        assert_true(counts.keys_read >= cases[i].found);
    }
    free(stored);
    iw_close(&w);
}

/* A file as Hudi's bloom index has it: key range and filter in the footer. */
static void indexed_file(iw *w, const iw_row *stored, int64_t count)
{
    tn_key_filter *filter = NULL;
    tn_buf text = {0}, data = {0};
    int32_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
    char min[32], max[32];
    tn_key_value values[4];

    for (int64_t i = 0; i < count; i++) {
        char key[32];

        tn_buf_add(&data, key, iw_key(stored[i].key, key));
        offsets[i + 1] = (int32_t)data.len;
    }
    assert_ok(w->cx, tn_key_filter_open(w->cx, TN_KEY_FILTER_DYNAMIC, (uint64_t)count, 1e-9, 100000,
                                        &filter));
    assert_ok(w->cx, tn_key_filter_add(w->cx, filter, (const char *)data.data, offsets, count));
    assert_ok(w->cx, tn_key_filter_print(w->cx, filter, &text));
    values[0] = (tn_key_value){TN_STR("org.apache.hudi.bloomfilter"), tn_buf_view(&text), true};
    values[1] = (tn_key_value){TN_STR("hoodie_bloom_filter_type_code"), TN_STR("DYNAMIC_V0"), true};
    values[2] =
        (tn_key_value){TN_STR("hoodie_min_record_key"), {min, iw_key(stored[0].key, min)}, true};
    values[3] = (tn_key_value){
        TN_STR("hoodie_max_record_key"), {max, iw_key(stored[count - 1].key, max)}, true};
    iw_file_as(w, 0, stored, count,
               &(tn_parquet_sink_options){.file = {.key_values = values, .key_value_count = 4}});
    tn_key_filter_close(filter);
    tn_buf_clear(&text);
    tn_buf_clear(&data);
    free(offsets);
}

static void test_incoming_find__footers_rule_files_out(void **state)
{
    iw_row *stored = calloc(2000, sizeof *stored), rows[10];
    tn_tag_options with = {.use_filters = true, .ranges = true};
    tn_tag_counts counts;
    iw w;

    (void)state;
    iw_open(&w, 0, 2, false);
    number_rows(stored, 2000, 0, 3); /* 0, 3 … 5997 */
    indexed_file(&w, stored, 2000);
    number_rows(stored, 2000, 1, 3); /* 1, 4 … 5998 */
    indexed_file(&w, stored, 2000);
    number_rows(stored, 2000, 9000, 1);
    indexed_file(&w, stored, 2000);
    number_rows(rows, 10, 300, 3);
    counts = find(&w, rows, 10, &with);
    assert_int_equal(counts.found, 10);
    assert_int_equal(counts.files, 3);
    assert_int_equal(counts.files_ruled_out, 2);
    assert_int_equal(counts.keys_read, 2000);
    with.ranges = false;
    counts = find(&w, rows, 10, &with);
    assert_int_equal(counts.found, 10);
    assert_int_equal(counts.files_ruled_out, 2);
    with.use_filters = false;
    counts = find(&w, rows, 10, &with);
    assert_int_equal(counts.found, 10);
    assert_int_equal(counts.files_ruled_out, 0);
    /* More keys than are looked at one by one: nothing is ruled out, all is found. */
    free(stored);
    stored = calloc(20000, sizeof *stored);
    number_rows(stored, 20000, 0, 1);
    counts = find(&w, stored, 20000, &(tn_tag_options){.use_filters = true, .ranges = true});
    assert_int_equal(counts.found, 6000);
    assert_int_equal(counts.files_ruled_out, 0);
    free(stored);
    iw_close(&w);
}

/* In UTF-16, which Hudi's ranges follow, U+1F600 lies below U+E000; in bytes it lies above. */
static void test_incoming_find__ranges_are_in_the_order_of_java(void **state)
{
    iw_row stored[] = {{.key = 1}, {.key = IW_KEY_BEYOND}, {.key = IW_KEY_PRIVATE}};
    iw_row rows[] = {{.key = IW_KEY_BEYOND}};
    tn_tag_options with = {.use_filters = true, .ranges = true};
    iw w;

    (void)state;
    iw_open(&w, 0, 1, false);
    indexed_file(&w, stored, 3);
    assert_int_equal(find(&w, rows, 1, &with).found, 1);
    rows[0].key = 1;
    assert_int_equal(find(&w, rows, 1, &with).found, 1);
    iw_close(&w);
}

static int keys_of_column(tarn_cx *cx, void *arg, const tn_base_file *file,
                          const struct ArrowSchema *schema, struct ArrowArray *batch,
                          int64_t first_row, const char **data, const int32_t **offsets)
{
    const struct ArrowArray *keys = batch->children[0];
    int64_t *rows = arg;

    (void)cx;
    assert_non_null(file->path.ptr);
    assert_string_equal(schema->children[0]->name, "_hoodie_record_key");
    assert_int_equal(first_row, *rows);
    assert_int_equal(batch->n_children, 1);
    *rows += batch->length;
    *data = keys->buffers[2];
    *offsets = (const int32_t *)keys->buffers[1] + keys->offset + batch->offset;
    return TARN_OK;
}

static void test_incoming_find__keys_are_made_from_columns(void **state)
{
    static const char *const columns[] = {"_hoodie_record_key"};
    iw_row *stored = calloc(3000, sizeof *stored), rows[100];
    int64_t seen = 0;
    tn_tag_options how = {.keys_of = keys_of_column,
                          .keys_arg = &seen,
                          .key_columns = columns,
                          .key_column_count = 1};
    tn_tag_counts counts;
    iw w;

    (void)state;
    iw_open(&w, 0, 2, false);
    number_rows(stored, 3000, 0, 2);
    iw_file(&w, 0, stored, 3000, 700);
    number_rows(rows, 100, 10, 1);
    counts = find(&w, rows, 100, &how);
    assert_int_equal(counts.found, 50);
    assert_int_equal(counts.keys_read, 3000);
    assert_int_equal(seen, 3000);
    free(stored);
    iw_close(&w);
}

static void test_incoming_find__file_without_keys_is_refused(void **state)
{
    iw_row rows[4];
    tn_tag_options options = {0};
    tn_tag_counts counts = {0};
    tn_incoming *in;
    iw w;

    (void)state;
    iw_open(&w, 0, 1, false);
    number_rows(rows, 4, 0, 1);
    tn_field_release(w.schema.children[0]);
    assert_ok(w.cx, tn_field_init(w.cx, w.schema.children[0], "u", TN_STR("other"), true, 0));
    iw_file(&w, 0, rows, 4, 10);
    in = open_incoming(&w, w.cx);
    assert_ok(w.cx, iw_add(&w, w.cx, in, rows, 4, 4));
    options.files = (const tn_base_file *const *)w.files;
    options.file_count = 1;
    assert_fails(w.cx, TARN_E_CORRUPT, "/t/f0.parquet: there is no column _hoodie_record_key",
                 tn_incoming_tag(w.cx, in, &options, &counts));
    tn_incoming_close(w.cx, in);
    iw_close(&w);
}

/* --- where inserts go by their keys --- */

static void check_routes(iw *w, tn_incoming *in, const tn_upsert_plan *plan)
{
    static const tn_str field[] = {{"k", 1}};
    int64_t rows = 0;

    for (size_t s = 0; s < plan->bucket_count; s++) {
        tn_incoming_reader *reader;
        const tn_incoming_batch *batch;
        int64_t last = -1;

        assert_ok(w->cx, tn_incoming_reader_open(w->cx, in, s, &reader));
        for (;;) {
            assert_ok(w->cx, tn_incoming_reader_next(w->cx, reader, 0, &batch));
            if (batch->rows.length == 0)
                break;
            for (int64_t i = 0; i < batch->rows.length; i++) {
                const struct ArrowArray *ids = batch->rows.children[2];
                int64_t id = ((const int64_t *)ids->buffers[1])[ids->offset + i];
                char text[32];
                tn_str key = {text, iw_key((uint32_t)id * 7, text)};

                assert_true(id > last);
                last = id;
                assert_int_equal(batch->positions[i], -1);
                assert_int_equal(s,
                                 tn_upsert_route(plan, 0,
                                                 plan->index_buckets != 0
                                                     ? tn_record_key_bucket(key, field, 1, field, 1,
                                                                            plan->index_buckets)
                                                     : tn_record_key_md5(key)));
                rows++;
            }
        }
        tn_incoming_reader_close(w->cx, reader);
    }
    assert_int_equal(rows, 900);
}

static void test_incoming_find__inserts_go_by_their_keys(void **state)
{
    static const struct {
        uint64_t memory_bytes;
        bool index;
    } cases[] = {{0, false}, {0, true}, {60000, false}, {60000, true}};
    static const tn_str field[] = {{"k", 1}};
    iw_row rows[900];

    (void)state;
    number_rows(rows, 900, 0, 7);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_bucket buckets[3] = {{.until = 0.2}, {.until = 0.7}, {.until = 1}};
        uint32_t numbers[3] = {0, 1, 2};
        tn_upsert_partition partition = {
            .inserts = 900, .bucket_count = 3, .insert_bucket_count = 3};
        tn_upsert_plan plan = {.exact = !cases[i].index,
                               .index_buckets = cases[i].index ? 3 : 0,
                               .partitions = &partition,
                               .partition_count = 1,
                               .buckets = buckets,
                               .bucket_count = 3,
                               .insert_buckets = numbers};
        tn_incoming *in;
        iw w;

        iw_open(&w, cases[i].memory_bytes, 2, false);
        in = open_incoming(&w, w.cx);
        assert_ok(w.cx, iw_add(&w, w.cx, in, rows, 900, 50));
        assert_ok(w.cx, tn_incoming_place(w.cx, in,
                                          &(tn_place_options){.plan = &plan,
                                                              .index_keys = field,
                                                              .index_key_count = 1,
                                                              .index_fields = field,
                                                              .index_field_count = 1}));
        assert_int_equal(tn_incoming_spilled_bytes(in) != 0, cases[i].memory_bytes != 0);
        check_routes(&w, in, &plan);
        tn_incoming_close(w.cx, in);
        iw_close(&w);
    }
}

static void test_incoming_find__plan_without_a_stream_is_refused(void **state)
{
    tn_upsert_plan plan = {0};
    tn_incoming *in;
    iw_row rows[4];
    iw w;

    (void)state;
    iw_open(&w, 0, 1, false);
    number_rows(rows, 4, 0, 1);
    in = open_incoming(&w, w.cx);
    assert_ok(w.cx, iw_add(&w, w.cx, in, rows, 4, 4));
    assert_fails(w.cx, TARN_E_INVALID, "the plan names no partition",
                 tn_incoming_place(w.cx, in, &(tn_place_options){.plan = &plan}));
    tn_incoming_close(w.cx, in);
    iw_close(&w);
}

/* --- memory, faults, threads --- */

#define BATCH 60

typedef struct ride {
    iw *w;
    tn_store *store;
    tn_upsert_plan plan;
    tn_bucket buckets[2];
    tn_upsert_partition partitions[2];
    struct ArrowArray batches[64]; /* made before allocations are watched */
    uint32_t partitions_of[1200];
    uint8_t deletes[1200];
    size_t batch_count;
    tn_incoming *in;
    int64_t read;
} ride;

/* Reads one stream to its end; any thread. */
static int read_stream(tarn_cx *cx, size_t stream, void *arg)
{
    ride *r = arg;
    tn_incoming_reader *reader = NULL;
    const tn_incoming_batch *batch = NULL;
    int64_t rows = 0;
    int rc = TARN_OK;

    TN_TRY(tn_incoming_reader_open(cx, r->in, stream, &reader));
    do {
        TN_TRY(tn_incoming_reader_next(cx, reader, 0, &batch));
        rows += batch->rows.length;
    } while (batch->rows.length != 0);
    __atomic_fetch_add(&r->read, rows, __ATOMIC_RELAXED);
done:
    tn_incoming_reader_close(cx, reader);
    return rc;
}

/* The whole way of rows through `store`. */
static int run_ride(tarn_cx *cx, ride *r)
{
    static const uint32_t ordering[] = {1};
    tn_incoming_options options = {
        .staging = TN_STR(IW_STAGING), .global = true, .ordering = ordering, .ordering_count = 1};
    tn_tag_options tag = {.files = (const tn_base_file *const *)r->w->files,
                          .file_count = r->w->file_count,
                          .duplicates_all = true};
    tn_incoming_summary sum = {0};
    tn_tag_counts counts;
    int64_t n;
    int rc = TARN_OK;

    r->in = NULL;
    r->read = 0;
    r->plan = (tn_upsert_plan){.buckets = r->buckets,
                               .bucket_count = 2,
                               .partitions = r->partitions,
                               .partition_count = 2};
    for (uint32_t i = 0; i < 2; i++) {
        r->buckets[i].base = r->w->files[i];
        r->partitions[i].number = i;
    }
    TN_TRY(tn_incoming_open(cx, r->store, &r->w->schema, &options, &r->in));
    for (size_t i = 0; i < r->batch_count; i++)
        TN_TRY(tn_incoming_add(cx, r->in, &r->batches[i], r->partitions_of + i * BATCH,
                               r->deletes + i * BATCH));
    TN_TRY(tn_incoming_dedup(cx, r->in, false, &n));
    TN_TRY(tn_incoming_tag(cx, r->in, &tag, &counts));
    TN_TRY(tn_incoming_settle_global(cx, r->in, true, true, &n));
    TN_TRY(tn_incoming_summarise(cx, r->in, &r->w->arena, &sum));
    TN_TRY(tn_incoming_place(cx, r->in, &(tn_place_options){.plan = &r->plan, .sort = true}));
    TN_TRY(tn_parallel(cx, 4, read_stream, r));
done:
    tn_incoming_close(cx, r->in);
    return rc;
}

static void open_ride(iw *w, ride *r, iw_row *rows, int64_t count, uint64_t memory_bytes,
                      unsigned jobs)
{
    iw_row stored[120];

    iw_open(w, memory_bytes, jobs, true);
    number_rows(stored, 120, 0, 3);
    iw_file(w, 0, stored, 120, 50);
    iw_file(w, 1, stored, 120, 70);
    for (int64_t i = 0; i < count; i++)
        rows[i] = (iw_row){.key = (uint32_t)(i * 5 % 400),
                           .partition = (uint32_t)i % 2,
                           .ts = i % 9 - 4,
                           .deletes = i % 11 == 0};
    *r = (ride){.w = w, .store = w->store};
    for (int64_t at = 0; at < count; at += BATCH) {
        int64_t n = count - at < BATCH ? count - at : BATCH;

        iw_batch(w, rows + at, n, at, &r->batches[r->batch_count++]);
        for (int64_t i = at; i < at + n; i++) {
            r->partitions_of[i] = rows[i].partition;
            r->deletes[i] = rows[i].deletes;
        }
    }
}

static void close_ride(ride *r)
{
    for (size_t i = 0; i < r->batch_count; i++)
        tn_array_release(&r->batches[i]);
    iw_close(r->w);
}

/* All that was reserved is given back, in success and in failure, and LIMIT names the way out. */
static void test_incoming_find__memory_is_given_back(void **state)
{
    iw_row *rows = calloc(1200, sizeof *rows);
    bool limited = false, done = false;
    int64_t want = 0;

    (void)state;
    for (uint64_t memory = 8ull << 20; memory >= 6000; memory = memory * 2 / 3) {
        int rc;
        ride r;
        iw w;

        open_ride(&w, &r, rows, 1200, memory, 2);
        rc = run_ride(w.cx, &r);
        if (rc == TARN_OK) {
            done = true;
            want = want != 0 ? want : r.read;
            assert_int_equal(r.read, want);
        } else {
            limited = true;
            assert_int_equal(rc, TARN_E_LIMIT);
            assert_true(test_text_has(tarn_cx_error(w.cx), "--memory"));
        }
        assert_true(tn_budget_try(w.cx, memory));
        tn_budget_give(w.cx, memory);
        close_ride(&r);
    }
    assert_true(done && limited);
    free(rows);
}

static void sweep_store(uint64_t memory_bytes)
{
    uint64_t calls = 0;
    iw_row rows[600];

    for (uint64_t n = 0; n == 0 || n <= calls; n++) {
        tn_fault_plan faults = {.fail_at = n};
        bool there;
        ride r;
        iw w;
        int rc;

        open_ride(&w, &r, rows, 600, memory_bytes, 1);
        assert_ok(w.cx, tn_store_fault_open(w.cx, w.store, &faults, &r.store));
        rc = run_ride(w.cx, &r);
        if (n == 0) {
            assert_ok(w.cx, rc);
            calls = tn_store_fault_calls(r.store);
        } else if (rc != TARN_OK) {
            assert_int_equal(rc, TARN_E_IO);
            assert_true(tarn_cx_error(w.cx)[0] != '\0');
            /* Nothing stays but where the removal itself failed. */
            assert_ok(w.cx, tn_store_exists(w.cx, w.store, TN_STR(IW_STAGING), &there));
            assert_false(there);
        }
        tn_store_close(r.store);
        close_ride(&r);
    }
    assert_true(calls > (memory_bytes != 0 ? 60 : 10));
}

static void test_incoming_find__store_faults_leave_nothing(void **state)
{
    (void)state;
    sweep_store(0);
    sweep_store(60000);
}

static void sweep_allocations(uint64_t memory_bytes)
{
    size_t total = 1;
    iw_row rows[300];

    for (size_t n = 0; n <= total; n += n < 400 ? 1 : 7) {
        size_t met;
        ride r;
        iw w;
        int rc;

        open_ride(&w, &r, rows, 300, memory_bytes, 1);
        alloc_watch(n);
        rc = run_ride(w.cx, &r);
        met = alloc_unwatch();
        if (n == 0) {
            assert_ok(w.cx, rc);
            total = met;
        } else if (rc != TARN_OK) {
            assert_int_equal(rc, TARN_E_NOMEM);
            assert_true(tarn_cx_error(w.cx)[0] != '\0');
        }
        close_ride(&r);
    }
}

static void test_incoming_find__failed_allocations_leave_nothing(void **state)
{
    (void)state;
    sweep_allocations(0);
    sweep_allocations(40000);
}

static void test_incoming_find__many_readers_at_once(void **state)
{
    static const uint64_t memory[] = {0, 60000};
    iw_row rows[900];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        ride r;
        iw w;

        open_ride(&w, &r, rows, 900, memory[i], 4);
        assert_ok(w.cx, run_ride(w.cx, &r));
        assert_true(r.read > 0);
        close_ride(&r);
    }
}
