/* Row groups of which few rows change: the file holds what the model holds whichever rows change,
 * most of it is copied, and its page index is true. */
#include "io/store_fault.h"
#include "unit/alloc.h"
#include "unit/exec/base_world.h"

static uint64_t below(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

static void open_world(base_world *w, bool by_event)
{
    base_world_open(w);
    w->job.group_bytes = 16 << 10;
    w->job.page_rows = 100;
    if (!by_event)
        return;
    w->job.merge_mode = TN_MERGE_EVENT_TIME;
    w->job.ordering = w->ordering;
    w->job.ordering_count = 1;
}

/* Of the two columns whose values follow from the row alone, id and ordering value: bounds and
 * nulls of every page are those of its rows. */
static void check_index(base_world *w)
{
    tn_parquet file = base_world_file(w);
    int64_t row = 0;

    for (size_t g = 0; g < file.footer.group_count; g++) {
        int64_t rows = file.footer.groups[g].rows;

        for (size_t leaf = BASE_ID; leaf <= BASE_TS; leaf++) {
            tn_arena arena = {0};
            tn_column_index columns;
            tn_offset_index offsets;
            bool has;

            assert_ok(w->cx,
                      tn_parquet_column_index(w->cx, &file, g, leaf, &arena, &has, &columns));
            assert_true(has);
            assert_ok(w->cx,
                      tn_parquet_offset_index(w->cx, &file, g, leaf, &arena, &has, &offsets));
            assert_true(has);
            for (size_t p = 0; p < offsets.pages; p++) {
                int64_t first = offsets.locations[p].first_row, min = INT64_MAX, max = -1;
                int64_t end = p + 1 < offsets.pages ? offsets.locations[p + 1].first_row : rows;
                int64_t nulls = 0, told;

                for (int64_t i = first; i < end; i++) {
                    const base_row *of = &w->rows[row + i];
                    int64_t v = leaf == BASE_ID ? of->key : of->ts;

                    nulls += v < 0;
                    min = v >= 0 && v < min ? v : min;
                    max = v > max ? v : max;
                }
                assert_int_equal(columns.null_pages[p], nulls == end - first);
                assert_int_equal(columns.null_counts[p], nulls);
                if (columns.null_pages[p])
                    continue;
                memcpy(&told, columns.min[p].ptr, 8);
                assert_int_equal(told, min);
                memcpy(&told, columns.max[p].ptr, 8);
                assert_int_equal(told, max);
            }
            tn_arena_clear(&arena);
        }
        row += rows;
    }
    tn_parquet_close(&file);
}

/* What should come of a change: by commit time it wins; by event time see base_file_test. */
static bool beats(const base_world *w, const base_change *c, int64_t stored_ts)
{
    if (w->job.merge_mode == TN_MERGE_COMMIT_TIME || (c->drop && c->row.ts < 0))
        return true;
    return c->row.ts >= stored_ts;
}

/* Changes at random places, some in runs, some of one row twice; their winners. */
static int64_t choose(const base_world *w, uint64_t *seed, int64_t every, int64_t version,
                      base_change *changes, base_change *winners, int64_t *won)
{
    int64_t n = 0;

    *won = 0;
    for (int64_t at = (int64_t)below(seed, (uint64_t)every); at < w->count;
         at += 1 + (below(seed, 3) == 0 ? 0 : (int64_t)below(seed, 2 * (uint64_t)every))) {
        int64_t ts = w->rows[at].ts, best = -1;

        for (uint64_t k = 0; k < 1 + (below(seed, 6) == 0); k++) {
            base_change *c = &changes[n];

            *c = (base_change){
                at,
                below(seed, 5) == 0,
                {w->rows[at].key, version + (int64_t)k, (int64_t)below(seed, 201) - 1, NULL}};
            if (beats(w, c, ts)) {
                best = n;
                ts = c->row.ts;
            }
            n++;
        }
        if (best >= 0)
            winners[(*won)++] = changes[best];
    }
    return n;
}

/* Write after write, few and many changes, with and without new rows. */
static void test_base_splice__file_holds_what_it_should(void **state)
{
    static const int64_t every[] = {1500, 4000, 300, 900, 40, 1200, 2000, 700};

    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        enum { ROWS = 6000 };
        base_row *rows = base_make_rows(0, ROWS + 1000, 1);
        base_change *changes = calloc(2 * ROWS + 2000, sizeof *changes);
        base_change *winners = calloc(ROWS + 1000, sizeof *winners);
        uint64_t seed = 11 + (uint64_t)variant, copied = 0;
        int64_t next = ROWS;
        tn_base_counts counts;
        base_world w;

        open_world(&w, variant % 2 != 0);
        w.job.codec = variant < 2 ? TN_CODEC_ZSTD : TN_CODEC_NONE;
        base_world_step(&w, BASE_T1, NULL, 0, rows, ROWS, &counts);
        assert_true(base_world_groups(&w) >= 3);
        for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
            int64_t won, n, added = i % 3 == 2 ? 50 : 0;
            tn_write_stat stat;

            n = choose(&w, &seed, every[i], 2 + 2 * (int64_t)i, changes, winners, &won);
            w.job.instant = tn_str_of(base_world_instant(&w));
            assert_ok(w.cx, base_world_write(&w, changes, n, rows + next, added,
                                             i % 2 == 0 ? 777 : 5, &stat, &counts));
            base_world_model(&w, winners, won, rows + next, added, w.job.instant.ptr);
            next += added;
            base_world_base(&w, &stat);
            assert_int_equal(stat.updates + stat.deletes, won);
            assert_true(counts.unchanged >= 0 && counts.unchanged <= n - won);
            base_world_check(&w);
            check_index(&w);
            copied += counts.groups_carried < counts.groups ? counts.bytes_carried : 0;
        }
        assert_true(copied > 0);
        free(changes);
        free(winners);
        free(rows);
        base_world_close(&w);
    }
}

static uint64_t pages_bytes(base_world *w)
{
    tn_parquet file = base_world_file(w);
    uint64_t bytes = 0;

    for (size_t g = 0; g < file.footer.group_count; g++)
        for (size_t i = 0; i < file.footer.groups[g].column_count; i++)
            bytes += (uint64_t)file.footer.groups[g].columns[i].compressed_bytes;
    tn_parquet_close(&file);
    return bytes;
}

/* One row in each row group: nearly all of the file is copied, though no row group is. */
static void test_base_splice__copies_what_did_not_change(void **state)
{
    base_row *rows = base_make_rows(0, 12000, 1);
    base_change changes[64];
    tn_base_counts counts;
    int64_t n = 0;
    tn_parquet file;
    base_world w;

    (void)state;
    open_world(&w, false);
    base_world_step(&w, BASE_T1, NULL, 0, rows, 12000, &counts);
    file = base_world_file(&w);
    for (size_t g = 0, first = 0; g < file.footer.group_count; g++) {
        int64_t at = (int64_t)first + file.footer.groups[g].rows / 2;

        changes[n++] = (base_change){at, g == 1, {w.rows[at].key, 2, 100, NULL}};
        first += (size_t)file.footer.groups[g].rows;
    }
    tn_parquet_close(&file);
    assert_true(n >= 4);
    base_world_step(&w, BASE_T2, changes, n, NULL, 0, &counts);
    assert_int_equal(counts.groups_carried, 0);
    assert_true(counts.bytes_carried * 10 > pages_bytes(&w) * 7);
    check_index(&w);
    free(rows);
    base_world_close(&w);
}

/* Every change loses: the row group is carried over as it is. */
static void test_base_splice__changes_that_lose_carry_the_group(void **state)
{
    base_row *rows = base_make_rows(0, 6000, 1);
    base_change one = {3000, false, {3000, 2, 99, NULL}};
    tn_base_counts counts;
    tn_write_stat stat;
    base_world w;

    (void)state;
    open_world(&w, true);
    base_world_step(&w, BASE_T1, NULL, 0, rows, 6000, &counts);
    w.job.instant = TN_STR(BASE_T2);
    assert_ok(w.cx, base_world_write(&w, &one, 1, NULL, 0, 1, &stat, &counts));
    assert_int_equal(counts.groups_carried, counts.groups);
    assert_int_equal(counts.unchanged, 1);
    base_world_base(&w, &stat);
    base_world_check(&w);
    free(rows);
    base_world_close(&w);
}

/* All rows of a row group are deleted but for one, then that one, too. */
static void test_base_splice__deletes_what_is_in_a_group(void **state)
{
    base_row *rows = base_make_rows(0, 6000, 1);
    base_change *changes = calloc(6000, sizeof *changes);
    tn_base_counts counts;
    tn_parquet file;
    int64_t n = 0, first, end;
    base_world w;

    (void)state;
    open_world(&w, false);
    base_world_step(&w, BASE_T1, NULL, 0, rows, 6000, &counts);
    file = base_world_file(&w);
    first = file.footer.groups[0].rows;
    end = first + file.footer.groups[1].rows;
    tn_parquet_close(&file);
    for (int64_t at = first; at < end; at++)
        if (at - first < 100 || at - first >= 200) /* a page stays */
            changes[n++] = (base_change){at, true, {w.rows[at].key, 2, 100, NULL}};
    base_world_step(&w, BASE_T2, changes, n, NULL, 0, &counts);
    n = 0;
    for (int64_t at = first; at < first + 100; at++)
        changes[n++] = (base_change){at, true, {w.rows[at].key, 3, 100, NULL}};
    base_world_step(&w, BASE_T3, changes, n, NULL, 0, &counts);
    check_index(&w);
    free(changes);
    free(rows);
    base_world_close(&w);
}

/* Hundreds of writes of one row: pages and row groups stay about as large as they should be. */
static void test_base_splice__does_not_crumble(void **state)
{
    enum { WRITES = 120 };
    base_row *rows = base_make_rows(0, 3000, 1);
    size_t groups, pages = 0;
    uint64_t seed = 3;
    tn_base_counts counts;
    tn_parquet file;
    base_world w;

    (void)state;
    open_world(&w, false);
    base_world_step(&w, BASE_T1, NULL, 0, rows, 3000, &counts);
    groups = base_world_groups(&w);
    for (int64_t i = 0; i < WRITES; i++) {
        int64_t at = (int64_t)below(&seed, (uint64_t)w.count);
        base_change one = {at, i % 4 == 0, {w.rows[at].key, i + 2, 100, NULL}};

        base_world_step(&w, base_world_instant(&w), &one, 1, NULL, 0, &counts);
    }
    assert_true(base_world_groups(&w) <= groups + 1);
    file = base_world_file(&w);
    for (size_t g = 0; g < file.footer.group_count; g++) {
        tn_arena arena = {0};
        tn_offset_index offsets;
        bool has;

        assert_ok(w.cx, tn_parquet_offset_index(w.cx, &file, g, BASE_ID, &arena, &has, &offsets));
        pages += offsets.pages;
        tn_arena_clear(&arena);
    }
    tn_parquet_close(&file);
    assert_true(pages <= 2 * (size_t)w.count / 100 + groups);
    free(rows);
    base_world_close(&w);
}

/* --- what can go wrong --- */

/* A file of which one row changes, by event time. */
static void open_small(base_world *w, base_change *one)
{
    base_row *rows = base_make_rows(0, 2500, 1);
    tn_base_counts counts;

    open_world(w, true);
    base_world_step(w, BASE_T1, NULL, 0, rows, 2500, &counts);
    *one = (base_change){300, false, {300, 2, 100, NULL}};
    w->job.instant = TN_STR(BASE_T2);
    free(rows);
}

/* The whole write, without an assertion on the way. */
static int write_one(base_world *w, const struct ArrowArray *changed, const base_change *one,
                     tn_write_stat *stat, tn_base_counts *counts)
{
    tn_base_place place = {.partition = TN_STR(BASE_PARTITION),
                           .file_id = TN_STR(BASE_FILE_ID),
                           .before = &w->file,
                           .number = 7};
    tn_base_writer *writer = NULL;
    tarn_cx *cx = w->cx;
    int rc = TARN_OK;

    TN_TRY(tn_base_writer_open(cx, &w->job, &place, &writer));
    TN_TRY(tn_base_writer_change(cx, writer, changed, &one->position, NULL));
    TN_TRY(tn_base_writer_finish(cx, writer, &w->arena, stat, counts));
done:
    tn_base_writer_close(cx, writer);
    return rc;
}

static void remove_made(base_world *w, const tn_write_stat *stat)
{
    tn_str path;

    assert_ok(w->cx, tn_arena_print(w->cx, &w->arena, &path, "/t/%.*s", TN_STR_ARG(stat->path)));
    assert_ok(w->cx, tn_store_remove(w->cx, w->memory, path));
}

static void test_base_splice__memory_fails(void **state)
{
    struct ArrowArray changed = {0};
    tn_base_counts counts;
    tn_write_stat stat;
    base_change one;
    size_t total = 1;
    base_world w;

    (void)state;
    open_small(&w, &one);
    base_batch(w.cx, &one.row, 1, BASE_PARTITION, &changed);
    for (size_t at = 0; at <= total; at += at < 300 ? 1 : 5) {
        int rc;

        tn_cx_forget(w.cx);
        alloc_watch(at);
        rc = write_one(&w, &changed, &one, &stat, &counts);
        total = alloc_unwatch();
        if (rc == TARN_OK)
            remove_made(&w, &stat);
        else
            assert_true(test_text_has(tarn_cx_error(w.cx), NULL));
        if (at == 0) /* none failed: it is a splice that is tried */
            assert_true(rc == TARN_OK && counts.groups_carried + 1 == counts.groups &&
                        counts.bytes_carried > 0);
    }
    tn_array_release(&changed);
    base_world_close(&w);
}

static void test_base_splice__store_fails(void **state)
{
    struct ArrowArray changed = {0};
    tn_base_counts counts;
    tn_write_stat stat;
    base_change one;
    uint64_t calls = 0;
    base_world w;

    (void)state;
    open_small(&w, &one);
    base_batch(w.cx, &one.row, 1, BASE_PARTITION, &changed);
    for (uint64_t at = 1; at == 1 || at <= calls; at++) {
        tn_fault_plan plan = {.fail_at = at};
        tn_store *store;
        int rc;

        assert_ok(w.cx, tn_store_fault_open(w.cx, w.memory, &plan, &store));
        w.job.store = store;
        tn_cx_forget(w.cx);
        rc = write_one(&w, &changed, &one, &stat, &counts);
        calls = tn_store_fault_calls(store) > calls ? tn_store_fault_calls(store) : calls;
        tn_store_close(store);
        w.job.store = w.memory;
        if (rc == TARN_OK) /* it could be done without that call */
            remove_made(&w, &stat);
        else
            assert_true(test_text_has(tarn_cx_error(w.cx), NULL));
    }
    base_world_check(&w); /* of the file before */
    tn_array_release(&changed);
    base_world_close(&w);
}

/* Memory is short in the middle of it: nothing was written, and the group goes row by row. A store
 * whose calls end so, one after the other, stands for a budget that others have emptied. */
static void test_base_splice__memory_is_short(void **state)
{
    struct ArrowArray changed = {0};
    tn_base_counts counts;
    tn_write_stat stat;
    base_change one;
    uint64_t copied;
    bool decoded = false;
    base_world w;

    (void)state;
    open_small(&w, &one);
    base_batch(w.cx, &one.row, 1, BASE_PARTITION, &changed);
    assert_ok(w.cx, write_one(&w, &changed, &one, &stat, &counts));
    copied = counts.bytes_carried;
    remove_made(&w, &stat);
    for (uint64_t at = 1; !decoded; at++) {
        tn_fault_plan plan = {.fail_at = at, .status = TARN_E_LIMIT};
        tn_store *store;
        int rc;

        assert_ok(w.cx, tn_store_fault_open(w.cx, w.memory, &plan, &store));
        w.job.store = store;
        tn_cx_forget(w.cx);
        rc = write_one(&w, &changed, &one, &stat, &counts);
        assert_true(at <= tn_store_fault_calls(store)); /* some call is of the splice */
        tn_store_close(store);
        w.job.store = w.memory;
        assert_true(rc == TARN_OK || rc == TARN_E_LIMIT);
        decoded = rc == TARN_OK && counts.bytes_carried < copied;
        if (rc == TARN_OK && !decoded)
            remove_made(&w, &stat);
    }
    assert_int_equal(stat.updates, 1);
    base_world_model(&w, &one, 1, NULL, 0, BASE_T2);
    base_world_base(&w, &stat);
    base_world_check(&w);
    tn_array_release(&changed);
    base_world_close(&w);
}
