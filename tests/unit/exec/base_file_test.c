#include "exec/base_file.h"

#include "io/store_fault.h"
#include "unit/alloc.h"
#include "unit/exec/base_world.h"

static void test_base_file__new_rows(void **state)
{
    base_row *rows = base_make_rows(0, 5000, 1);
    tn_base_counts counts;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 64 << 10;
    base_world_step(&w, BASE_T1, NULL, 0, rows, 5000, &counts);
    assert_int_equal(w.marks, 1);
    assert_int_equal(w.merges, 0);
    free(rows);
    base_world_close(&w);
}

static void test_base_file__without_rows(void **state)
{
    tn_base_counts counts;
    tn_parquet file;
    base_world w;

    (void)state;
    base_world_open(&w);
    base_world_step(&w, BASE_T1, NULL, 0, NULL, 0, &counts);
    file = base_world_file(&w);
    assert_int_equal(file.footer.group_count, 0);
    assert_null(tn_parquet_key_value(&file, "hoodie_min_record_key").ptr);
    assert_null(tn_parquet_key_value(&file, "hoodie_max_record_key").ptr);
    tn_parquet_close(&file);
    base_world_close(&w);
}

static void test_base_file__changes_rows(void **state)
{
    static const int64_t every[] = {1, 2, 7, 100, 2500, 4999};
    tn_base_counts counts;

    (void)state;
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
        base_row *rows = base_make_rows(0, 5000, 1), *more = base_make_rows(5000, 300, 2);
        int64_t count;
        base_change *changes;
        base_world w;

        base_world_open(&w);
        w.job.group_bytes = 64 << 10;
        base_world_step(&w, BASE_T1, NULL, 0, rows, 5000, &counts);
        changes = base_world_changes(&w, 0, every[i], 2, true, &count);
        base_world_step(&w, BASE_T2, changes, count, more, 300, &counts);
        assert_int_equal(w.merges, 1);
        free(changes);
        changes = base_world_changes(&w, 3, every[i], 3, false, &count);
        base_world_step(&w, BASE_T3, changes, count, NULL, 0, &counts);
        free(changes);
        free(rows);
        free(more);
        base_world_close(&w);
    }
}

/* One changed row: one row group is decoded, the others are carried over. */
static void test_base_file__carries_untouched_groups(void **state)
{
    base_row *rows = base_make_rows(0, 20000, 1);
    tn_base_counts counts;
    size_t groups;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 64 << 10;
    base_world_step(&w, BASE_T1, NULL, 0, rows, 20000, &counts);
    groups = base_world_groups(&w);
    assert_true(groups >= 8);
    for (int64_t at = 0; at < 19000; at += 3333) {
        base_change one = {at, at == 3333, {w.rows[at].key, 2 + at, 100, NULL}};

        base_world_step(&w, base_world_instant(&w), &one, 1, NULL, 0, &counts);
        assert_int_equal(counts.groups, groups);
        assert_true(counts.groups_carried >= groups - 2);
        assert_true(counts.bytes_carried > 0);
        groups = base_world_groups(&w);
    }
    free(rows);
    base_world_close(&w);
}

/* Many small writes: row groups stay about as large as they should be. */
static void test_base_file__does_not_crumble(void **state)
{
    base_row *rows = base_make_rows(0, 2000, 1);
    tn_base_counts counts;
    uint64_t least;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 32 << 10;
    w.job.codec = TN_CODEC_NONE;
    base_world_step(&w, BASE_T1, NULL, 0, rows, 2000, &counts);
    for (int64_t i = 0; i < 100; i++) {
        base_row *more = base_make_rows(2000 + i * 10, 10, 1);
        base_change changes[3];

        for (int64_t k = 0; k < 3; k++)
            changes[k] = (base_change){(i * 131 + k * 500) % 2000, k == 1, {0, i + 2, 100, NULL}};
        for (int64_t k = 0; k < 3; k++)
            for (int64_t j = k + 1; j < 3; j++)
                if (changes[j].position < changes[k].position) {
                    base_change swap = changes[j];

                    changes[j] = changes[k];
                    changes[k] = swap;
                }
        for (int64_t k = 0; k < 3; k++)
            changes[k].row.key = w.rows[changes[k].position].key;
        base_world_step(&w, base_world_instant(&w), changes, 3, more, 10, &counts);
        free(more);
    }
    least = w.file.size_bytes / w.job.group_bytes;
    assert_true(base_world_groups(&w) <= 2 * least + 2);
    free(rows);
    base_world_close(&w);
}

/* --- which row wins --- */

static void test_base_file__event_time(void **state)
{
    static const struct {
        int64_t stored, incoming;
        bool drop, wins;
    } cases[] = {{5, 6, false, true},   {5, 5, false, true},  {5, 4, false, false},
                 {5, -1, false, false}, {-1, 4, false, true}, {-1, -1, false, true},
                 {5, 6, true, true},    {5, 5, true, true},   {5, 4, true, false},
                 {5, -1, true, true},   {-1, 4, true, true},  {-1, -1, true, true}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    base_row *rows = base_make_rows(0, CASES, 1);
    base_change changes[CASES], winners[CASES];
    tn_base_counts counts;
    tn_write_stat stat;
    int64_t won = 0, drops = 0;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.merge_mode = TN_MERGE_EVENT_TIME;
    w.job.ordering = w.ordering;
    w.job.ordering_count = 1;
    for (int64_t i = 0; i < CASES; i++) {
        rows[i].ts = cases[i].stored;
        changes[i] = (base_change){i, cases[i].drop, {i, 2, cases[i].incoming, NULL}};
        if (cases[i].wins)
            winners[won++] = changes[i];
        drops += cases[i].wins && cases[i].drop;
    }
    base_world_step(&w, BASE_T1, NULL, 0, rows, CASES, &counts);
    w.job.instant = TN_STR(BASE_T2);
    assert_ok(w.cx, base_world_write(&w, changes, CASES, NULL, 0, 5, &stat, &counts));
    base_world_model(&w, winners, won, NULL, 0, BASE_T2);
    base_world_base(&w, &stat);
    base_world_check(&w);
    assert_int_equal(stat.deletes, drops);
    assert_int_equal(stat.updates, won - drops);
    assert_int_equal(counts.unchanged, CASES - won);
    free(rows);
    base_world_close(&w);
}

/* Several rows for one stored row, however they are batched. */
static void test_base_file__rows_of_one_position(void **state)
{
    static const struct {
        int64_t ts[3];
        bool drops[3];
        int64_t wins; /* of the three; -1: the stored one */
    } cases[] = {{{6, 7, 8}, {false, false, false}, 2}, {{6, 9, 8}, {false, false, false}, 1},
                 {{6, 6, 6}, {false, false, false}, 2}, {{1, 2, 3}, {false, false, false}, -1},
                 {{6, -1, 5}, {false, true, false}, 2}, {{6, -1, -1}, {false, true, true}, 2},
                 {{9, 7, 8}, {true, false, false}, 0},  {{1, 6, 2}, {false, true, false}, 1}};
    enum { CASES = sizeof cases / sizeof cases[0] };

    (void)state;
    for (int64_t batch = 1; batch <= 5; batch++) {
        base_row *rows = base_make_rows(0, CASES, 1);
        base_change changes[3 * CASES], winners[CASES];
        tn_base_counts counts;
        tn_write_stat stat;
        int64_t won = 0;
        base_world w;

        base_world_open(&w);
        w.job.merge_mode = TN_MERGE_EVENT_TIME;
        w.job.ordering = w.ordering;
        w.job.ordering_count = 1;
        for (int64_t i = 0; i < CASES; i++) {
            rows[i].ts = 5;
            for (int64_t k = 0; k < 3; k++)
                changes[3 * i + k] =
                    (base_change){i, cases[i].drops[k], {i, 2 + k, cases[i].ts[k], NULL}};
            if (cases[i].wins >= 0)
                winners[won++] = changes[3 * i + cases[i].wins];
        }
        base_world_step(&w, BASE_T1, NULL, 0, rows, CASES, &counts);
        w.job.instant = TN_STR(BASE_T2);
        assert_ok(w.cx, base_world_write(&w, changes, 3 * CASES, NULL, 0, batch, &stat, &counts));
        base_world_model(&w, winners, won, NULL, 0, BASE_T2);
        base_world_base(&w, &stat);
        base_world_check(&w);
        free(rows);
        base_world_close(&w);
    }
}

static void test_base_file__refuses_rules_it_does_not_know(void **state)
{
    base_row *rows = base_make_rows(0, 10, 1);
    base_change one = {1, false, {1, 2, 3, NULL}};
    tn_base_counts counts;
    tn_write_stat stat;
    base_world w;

    (void)state;
    base_world_open(&w);
    base_world_step(&w, BASE_T1, NULL, 0, rows, 10, &counts);
    w.job.merge_mode = TN_MERGE_CUSTOM;
    w.job.instant = TN_STR(BASE_T2);
    assert_fails(w.cx, TARN_E_UNSUPPORTED, "merged by rules",
                 base_world_write(&w, &one, 1, NULL, 0, 1, &stat, &counts));
    /* New rows beside the stored ones need no rule. */
    assert_ok(w.cx, base_world_write(&w, NULL, 0, rows, 1, 1, &stat, &counts));
    free(rows);
    base_world_close(&w);
}

static void test_base_file__refuses_rows_that_are_not_there(void **state)
{
    base_row *rows = base_make_rows(0, 10, 1);
    base_change past = {10, false, {1, 2, 3, NULL}};
    base_change back[] = {{4, false, {4, 2, 3, NULL}}, {3, false, {4, 3, 3, NULL}}};
    tn_base_counts counts;
    tn_write_stat stat;
    base_world w;

    (void)state;
    base_world_open(&w);
    base_world_step(&w, BASE_T1, NULL, 0, rows, 10, &counts);
    w.job.instant = TN_STR(BASE_T2);
    assert_fails(w.cx, TARN_E_CORRUPT, "row 10",
                 base_world_write(&w, &past, 1, NULL, 0, 1, &stat, &counts));
    for (int64_t batch = 1; batch <= 2; batch++) {
        assert_fails(w.cx, TARN_E_CORRUPT, "3",
                     base_world_write(&w, back, 2, NULL, 0, batch, &stat, &counts));
    }
    w.file.size_bytes++;
    assert_fails(w.cx, TARN_E_CONFLICT, "run it again",
                 base_world_write(&w, back, 1, NULL, 0, 1, &stat, &counts));
    free(rows);
    base_world_close(&w);
}

/* --- the footer's keys --- */

/* The filter of a file that had room is kept; one without is made anew from the key column. */
static void test_base_file__filter_follows_the_keys(void **state)
{
    base_row *rows = base_make_rows(0, 4000, 1);
    tn_base_counts counts;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 64 << 10;
    base_world_step(&w, BASE_T1, NULL, 0, rows, 1000, &counts);
    base_world_step(&w, BASE_T2, NULL, 0, rows + 1000, 1, &counts);
    base_world_step(&w, BASE_T3, NULL, 0, rows + 1001, 2999, &counts);
    w.job.filter_keys = 100; /* as many as are said, however many there are */
    base_world_step(&w, base_world_instant(&w), NULL, 0, rows, 1, &counts);
    free(rows);
    base_world_close(&w);
}

static void test_base_file__range_follows_javas_order(void **state)
{
    /* In the order of Java: units of 16 bits. */
    static const char *const keys[] = {"a",
                                       "b\xc3\xa9",
                                       "\xed\x9f\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf"};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_base_job job = {.meta_fields = true, .filter_kind = TN_KEY_FILTER_SIMPLE, .filter_fpp = 0.1};

    (void)state;
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            tn_base_keys range = {.job = &job};

            assert_ok(cx, tn_base_keys_range(cx, &range, tn_str_of(keys[i])));
            assert_ok(cx, tn_base_keys_range(cx, &range, tn_str_of(keys[j])));
            assert_true(tn_str_is(tn_buf_view(&range.min), keys[i < j ? i : j]));
            assert_true(tn_str_is(tn_buf_view(&range.max), keys[i < j ? j : i]));
            tn_base_keys_clear(cx, &range);
        }
    tarn_cx_close(cx);
}

/* A filter is as large as its keys ask for while a third of the memory holds them; past that it is
 * made for as many as are expected. Every key is in it either way. */
static void test_base_file__filter_is_sized_when_the_keys_are_known(void **state)
{
    enum { BATCH = 10000, BATCHES = 30, BYTES = 36 };
    tn_base_job job = {.meta_fields = true, .filter_kind = TN_KEY_FILTER_SIMPLE, .filter_fpp = 0.1};
    int32_t *offsets = calloc(BATCH + 1, sizeof *offsets);
    char *data = calloc(BATCH, BYTES + 1);

    (void)state;
    for (int i = 0; i <= BATCH; i++)
        offsets[i] = i * BYTES;
    for (int roomy = 0; roomy < 2; roomy++) {
        tarn_cx *cx =
            tarn_cx_open(&(tarn_cx_options){.memory_bytes = roomy ? 40u << 20 : 12u << 20});
        const void *buffers[] = {NULL, offsets, data};
        struct ArrowArray column = {.length = BATCH, .n_buffers = 3, .buffers = buffers};
        tn_base_keys keys = {.job = &job, .about = 4 * BATCH * BATCHES};
        tn_key_filter *exact;
        uint64_t bytes;

        for (int b = 0; b < BATCHES; b++) {
            for (int i = 0; i < BATCH; i++)
                snprintf(data + i * BYTES, BYTES + 1, "%036d", b * BATCH + i);
            assert_ok(cx, tn_base_keys_add(cx, &keys, &column, 0, BATCH));
        }
        assert_true((keys.filter == NULL) == (roomy != 0));
        assert_ok(cx,
                  tn_key_filter_open(cx, TN_KEY_FILTER_SIMPLE, BATCH * BATCHES, 0.1, 0, &exact));
        bytes = tn_key_filter_text_bytes(exact);
        if (roomy) {
            assert_ok(cx, tn_base_keys_take(cx, &keys, exact));
            assert_int_equal(keys.reserved, 0);
        } else {
            assert_true(tn_key_filter_text_bytes(keys.filter) > 2 * bytes);
            tn_key_filter_close(exact);
        }
        for (int i = 0; i < BATCH * BATCHES; i += 997) {
            char text[BYTES + 1];

            snprintf(text, sizeof text, "%036d", i);
            assert_true(tn_key_filter_has(keys.filter, (tn_str){text, BYTES}));
        }
        tn_base_keys_clear(cx, &keys);
        tarn_cx_close(cx);
    }
    free(offsets);
    free(data);
}

/* --- other schemas --- */

/* A table without meta columns: they are there, and null. */
static void test_base_file__without_meta_fields(void **state)
{
    base_row *rows = base_make_rows(0, 3000, 1);
    tn_parquet_scan_options options = {.column_count = 5, .columns = (uint32_t[]){0, 1, 2, 3, 4}};
    base_change one = {1500, false, {1500, 2, 3, NULL}};
    tn_parquet_scan *scan;
    struct ArrowArray batch;
    tn_base_counts counts;
    tn_write_stat stat;
    tn_parquet file;
    int64_t first;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 32 << 10;
    w.job.meta_fields = false;
    assert_ok(w.cx, base_world_write(&w, NULL, 0, rows, 3000, 500, &stat, &counts));
    base_world_base(&w, &stat);
    w.job.instant = TN_STR(BASE_T2);
    assert_ok(w.cx, base_world_write(&w, &one, 1, rows, 10, 500, &stat, &counts));
    assert_true(counts.groups_carried > 0);
    base_world_base(&w, &stat);
    file = base_world_file(&w);
    assert_int_equal(file.footer.rows, 3010);
    assert_null(tn_parquet_key_value(&file, "org.apache.hudi.bloomfilter").ptr);
    assert_null(tn_parquet_key_value(&file, "hoodie_min_record_key").ptr);
    assert_ok(w.cx, tn_parquet_scan_open(w.cx, &file, &options, &scan));
    for (int64_t at = 0; at < 3010; at += batch.length) {
        assert_ok(w.cx, tn_parquet_scan_next(w.cx, scan, &batch, &first));
        for (int64_t c = 0; c < 5; c++)
            assert_int_equal(batch.children[c]->null_count, batch.length);
        tn_array_release(&batch);
        if (batch.length == 0)
            break;
    }
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    free(rows);
    base_world_close(&w);
}

/* The table has a column more than its file: row groups are carried with nulls there. One is wider
 * now: all is decoded. One is of another type: refused. */
static void test_base_file__schema_evolves(void **state)
{
    enum { CARRIED, DECODED, REFUSED };
    static const struct {
        int64_t column; /* that changes */
        const char *format;
        int how;
    } cases[] = {{-1, NULL, CARRIED}, {BASE_AMOUNT, "d:12,2", DECODED}, {BASE_TXT, "z", REFUSED}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        base_row *rows = base_make_rows(0, 3000, 1);
        struct ArrowSchema wider = {0};
        tn_base_counts counts;
        tn_write_stat stat;
        tn_parquet file;
        base_world w;

        base_world_open(&w);
        w.job.group_bytes = 32 << 10;
        base_world_step(&w, BASE_T1, NULL, 0, rows, 3000, &counts);
        assert_ok(w.cx, tn_field_init(w.cx, &wider, "+s", TN_STR(""), false, BASE_COLUMNS + 1));
        for (int64_t c = 0; c < BASE_COLUMNS; c++)
            if (c == cases[i].column)
                base_field(w.cx, &wider, c, w.schema.children[c]->name, cases[i].format, true, 0);
            else
                assert_ok(w.cx, tn_field_copy(w.cx, w.schema.children[c], wider.children[c]));
        base_field(w.cx, &wider, BASE_COLUMNS, "added", "+l", true, 1);
        base_field(w.cx, wider.children[BASE_COLUMNS], 0, "element", "i", true, 0);
        w.job.schema = &wider;
        w.job.instant = TN_STR(BASE_T2);
        if (cases[i].how == REFUSED) {
            assert_fails(w.cx, TARN_E_UNSUPPORTED, "txt",
                         base_world_write(&w, NULL, 0, NULL, 0, 1, &stat, &counts));
        } else {
            assert_ok(w.cx, base_world_write(&w, NULL, 0, NULL, 0, 1, &stat, &counts));
            assert_int_equal(counts.groups_carried, cases[i].how == CARRIED ? counts.groups : 0);
            base_world_base(&w, &stat);
            base_world_check(&w);
            file = base_world_file(&w);
            assert_int_equal(file.schema.leaf_count, 11);
            for (size_t g = 0; g < file.footer.group_count; g++)
                assert_int_equal(file.footer.groups[g].columns[10].statistics.null_count,
                                 file.footer.groups[g].rows);
            tn_parquet_close(&file);
        }
        tn_field_release(&wider);
        free(rows);
        base_world_close(&w);
    }
}

/* Dates and times before 1582-10-15 that are in the rows of the calendar test: days of the hybrid
 * calendar, and those of today's. 1500-02-28 and 0001-01-01; the last day is after the change. */
static const int32_t hybrid_days[] = {-171597, -719164, -141427},
                     today_days[] = {-171606, -719162, -141427};

/* Three rows that have days in "id" and the same days as times in "ts". */
static void calendar_batch(base_world *w, const int32_t *days, int64_t count,
                           struct ArrowArray *out)
{
    base_row *rows = base_make_rows(0, count, 1);
    int64_t times[3];

    for (int64_t i = 0; i < count; i++)
        times[i] = days[i] * INT64_C(86400000000) + 1;
    base_batch(w->cx, rows, count, BASE_PARTITION, out);
    tn_array_release(out->children[BASE_ID]);
    tn_array_release(out->children[BASE_TS]);
    base_fixed(w->cx, out->children[BASE_ID], days, NULL, 4, count);
    base_fixed(w->cx, out->children[BASE_TS], times, NULL, 8, count);
    free(rows);
}

/* The footer key of the Avro schema becomes that of an old Spark's version. */
static void make_old_spark(base_world *w)
{
    static const char was[] = "\x13parquet.avro.schema\x18\x0a{\"type\":1}",
                      now[] = "\x18org.apache.spark.version\x18\x05"
                              "2.4.0";
    tn_buf bytes = {0};
    size_t at = 0;

    assert_int_equal(sizeof was, sizeof now);
    assert_ok(w->cx, tn_store_get(w->cx, w->memory, w->file.path, 1 << 20, &bytes));
    while (at + sizeof was < bytes.len && memcmp(bytes.data + at, was, sizeof was - 1) != 0)
        at++;
    assert_true(at + sizeof was < bytes.len);
    memcpy(bytes.data + at, now, sizeof now - 1);
    assert_ok(w->cx, tn_store_remove(w->cx, w->memory, w->file.path));
    assert_ok(w->cx, tn_store_put(w->cx, w->memory, w->file.path, tn_buf_view(&bytes)));
    tn_buf_clear(&bytes);
}

/* A file by an old Spark, whose rows before 1582-10-15 are of the hybrid calendar: the rows that
 * stay say the same year, month and day in the file after it, with a change beside them or not. */
static void test_base_file__hybrid_calendar(void **state)
{
    static const char *const formats[] = {"tdD", "tsu:UTC"};

    (void)state;
    for (int64_t changes = 0; changes < 2; changes++) {
        tn_base_place place = {.partition = TN_STR(BASE_PARTITION),
                               .file_id = TN_STR(BASE_FILE_ID)};
        tn_base_writer *writer;
        struct ArrowArray batch;
        tn_parquet_scan *scan;
        tn_base_counts counts;
        tn_write_stat stat;
        int64_t first, position = 2;
        tn_parquet file;
        base_world w;

        base_world_open(&w);
        for (int64_t c = 0; c < 2; c++) {
            tn_field_release(w.schema.children[BASE_ID + c]);
            base_field(w.cx, &w.schema, BASE_ID + c, c == 0 ? "id" : "ts", formats[c], c != 0, 0);
        }
        w.job.avro_schema = TN_STR("{\"type\":1}");
        assert_ok(w.cx, tn_base_writer_open(w.cx, &w.job, &place, &writer));
        calendar_batch(&w, hybrid_days, 3, &batch);
        assert_ok(w.cx, tn_base_writer_add(w.cx, writer, &batch));
        tn_array_release(&batch);
        assert_ok(w.cx, tn_base_writer_finish(w.cx, writer, &w.arena, &stat, &counts));
        tn_base_writer_close(w.cx, writer);
        base_world_base(&w, &stat);
        make_old_spark(&w);
        w.job.instant = TN_STR(BASE_T2);
        place.before = &w.file;
        assert_ok(w.cx, tn_base_writer_open(w.cx, &w.job, &place, &writer));
        calendar_batch(&w, &today_days[2], 1, &batch);
        if (changes != 0)
            assert_ok(w.cx, tn_base_writer_change(w.cx, writer, &batch, &position, NULL));
        tn_array_release(&batch);
        assert_ok(w.cx, tn_base_writer_finish(w.cx, writer, &w.arena, &stat, &counts));
        tn_base_writer_close(w.cx, writer);
        assert_int_equal(counts.groups_carried, 0);
        base_world_base(&w, &stat);
        file = base_world_file(&w);
        assert_null(tn_parquet_key_value(&file, "org.apache.spark.version").ptr);
        assert_ok(w.cx, tn_parquet_scan_open(w.cx, &file, &(tn_parquet_scan_options){0}, &scan));
        assert_ok(w.cx, tn_parquet_scan_next(w.cx, scan, &batch, &first));
        assert_int_equal(batch.length, 3);
        for (int64_t i = 0; i < 3; i++) {
            assert_int_equal(((const int32_t *)batch.children[BASE_ID]->buffers[1])[i],
                             today_days[i]);
            assert_int_equal(((const int64_t *)batch.children[BASE_TS]->buffers[1])[i],
                             today_days[i] * INT64_C(86400000000) + 1);
        }
        tn_array_release(&batch);
        tn_parquet_scan_close(scan);
        tn_parquet_close(&file);
        base_world_close(&w);
    }
}

/* --- what fails --- */

/* One changed row and some new ones, in a world of their own; the store may fail. */
static int faulty_write(base_world *w, const base_row *rows, tn_write_stat *stat)
{
    base_change one = {700, false, {700, 2, 3, NULL}};
    tn_base_counts counts;

    return base_world_write(w, &one, 1, rows, 20, 100, stat, &counts);
}

static void remove_made(base_world *w, const tn_write_stat *stat)
{
    char path[512];

    snprintf(path, sizeof path, "/t/%.*s", TN_STR_ARG(stat->path));
    assert_ok(w->cx, tn_store_remove(w->cx, w->memory, tn_str_of(path)));
}

static void check_nothing_left(base_world *w)
{
    tn_entry *entries;
    size_t count;

    assert_ok(w->cx, tn_store_list(w->cx, w->memory, TN_STR("/t/" BASE_PARTITION), &w->arena,
                                   &entries, &count));
    assert_int_equal(count, 1);
}

static void test_base_file__store_fails(void **state)
{
    base_row *rows = base_make_rows(0, 2000, 1);
    tn_base_counts counts;
    tn_write_stat stat;
    uint64_t calls = 0;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 32 << 10;
    assert_ok(w.cx, base_world_write(&w, NULL, 0, rows, 2000, 500, &stat, &counts));
    base_world_base(&w, &stat);
    w.job.instant = TN_STR(BASE_T2);
    for (uint64_t at = 1; at == 1 || at <= calls; at++) {
        tn_fault_plan plan = {.fail_at = at};
        tn_store *store;
        int rc;

        assert_ok(w.cx, tn_store_fault_open(w.cx, w.memory, &plan, &store));
        w.job.store = store;
        tn_cx_forget(w.cx);
        rc = faulty_write(&w, rows, &stat);
        calls = tn_store_fault_calls(store) > calls ? tn_store_fault_calls(store) : calls;
        tn_store_close(store);
        w.job.store = w.memory;
        if (rc == TARN_OK) /* it could be done without that call */
            remove_made(&w, &stat);
        else
            assert_true(test_text_has(tarn_cx_error(w.cx), NULL));
        check_nothing_left(&w);
    }
    free(rows);
    base_world_close(&w);
}

static void test_base_file__memory_fails(void **state)
{
    base_row *rows = base_make_rows(0, 2000, 1);
    base_change one = {700, false, {700, 2, 3, NULL}};
    tn_base_place place = {.partition = TN_STR(BASE_PARTITION), .file_id = TN_STR(BASE_FILE_ID)};
    struct ArrowArray changed = {0}, added = {0};
    tn_base_counts counts;
    tn_write_stat stat;
    size_t total = 1;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 64 << 10;
    assert_ok(w.cx, base_world_write(&w, NULL, 0, rows, 2000, 500, &stat, &counts));
    base_world_base(&w, &stat);
    place.before = &w.file;
    base_batch(w.cx, &one.row, 1, BASE_PARTITION, &changed);
    base_batch(w.cx, rows, 20, BASE_PARTITION, &added);
    w.job.instant = TN_STR(BASE_T2);
    for (size_t at = 0; at <= total; at += at < 400 ? 1 : 7) {
        tn_base_writer *writer = NULL;
        tarn_cx *cx = w.cx;
        int rc = TARN_OK;

        tn_cx_forget(cx);
        alloc_watch(at);
        TN_TRY(tn_base_writer_open(cx, &w.job, &place, &writer));
        TN_TRY(tn_base_writer_change(cx, writer, &changed, &one.position, NULL));
        TN_TRY(tn_base_writer_add(cx, writer, &added));
        TN_TRY(tn_base_writer_finish(cx, writer, &w.arena, &stat, NULL));
    done:
        tn_base_writer_close(cx, writer);
        total = alloc_unwatch();
        if (rc == TARN_OK) {
            remove_made(&w, &stat);
        } else {
            assert_true(test_text_has(tarn_cx_error(cx), NULL));
        }
        check_nothing_left(&w);
    }
    tn_array_release(&changed);
    tn_array_release(&added);
    free(rows);
    base_world_close(&w);
}

/* Bytes of the old file flipped or cut: a status, or a file; never a crash. */
static void test_base_file__old_file_is_damaged(void **state)
{
    base_row *rows = base_make_rows(0, 400, 1);
    tn_base_counts counts;
    tn_write_stat stat;
    tn_buf whole = {0};
    uint64_t seed = 1;
    base_world w;

    (void)state;
    base_world_open(&w);
    w.job.group_bytes = 8 << 10;
    assert_ok(w.cx, base_world_write(&w, NULL, 0, rows, 400, 100, &stat, &counts));
    base_world_base(&w, &stat);
    assert_ok(w.cx, tn_store_get(w.cx, w.memory, w.file.path, 1 << 20, &whole));
    w.file.path = TN_STR("/t/damaged");
    w.file.size_bytes = 0;
    w.job.instant = TN_STR(BASE_T2);
    for (int i = 0; i < 300; i++) {
        base_change one = {(int64_t)(seed % 400), i % 2 != 0, {0, 2, 3, NULL}};
        tn_str bytes = tn_buf_view(&whole);
        size_t at;
        uint8_t was;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        /* Half of them in the footer and the indexes. */
        at = (size_t)(seed >> 33) % (i % 2 != 0 ? bytes.len / 3 : bytes.len);
        at = i % 2 != 0 ? bytes.len - 1 - at : at;
        was = whole.data[at];
        whole.data[at] ^= (uint8_t)(1u << (seed >> 60 & 7));
        if (i % 10 == 9)
            bytes.len = at;
        assert_ok(w.cx, tn_store_put(w.cx, w.memory, w.file.path, bytes));
        tn_cx_forget(w.cx);
        if (base_world_write(&w, &one, 1, rows, 3, 10, &stat, &counts) == TARN_OK) {
            remove_made(&w, &stat);
        } else {
            assert_true(test_text_has(tarn_cx_error(w.cx), NULL));
        }
        whole.data[at] = was;
    }
    tn_buf_clear(&whole);
    free(rows);
    base_world_close(&w);
}
