#include "batch/gather.h"

#include "unit/exec/rows.h"

#define ROWS 500

static const char *const names[] = {"a", "bb", NULL, ""};
static const rows_shape shape = {names, 4, 5, false, false};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Random parts of two batches, runs and single rows, of every kind of column. */
static void test_gather__takes_rows_of_many_arrays(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});
    struct ArrowSchema schema = {0};
    struct ArrowArray batches[2] = {{0}};
    uint64_t seed = 5;

    (void)state;
    rows_schema(cx, &shape, &schema);
    rows_batch(cx, &shape, 0, ROWS, &batches[0]);
    rows_batch(cx, &shape, ROWS, ROWS, &batches[1]);
    /* One is a window. */
    batches[1].offset = 3;
    batches[1].length = ROWS - 7;
    for (int turn = 0; turn < 60; turn++) {
        tn_gather_part parts[6];
        int64_t take[6][40], want[240], n = 0;
        struct ArrowArray out = {0};
        size_t count = next_random(&seed) % 6 + 1;

        for (size_t p = 0; p < count; p++) {
            struct ArrowArray *batch = &batches[next_random(&seed) % 2];
            int64_t first = (int64_t)(next_random(&seed) % (ROWS - 60)) + batch->offset;

            parts[p] = (tn_gather_part){
                .array = batch, .first = first, .count = (int64_t)(next_random(&seed) % 40)};
            for (int64_t i = 0; i < parts[p].count; i++)
                take[p][i] = first + i;
            if (next_random(&seed) % 2 == 0) {
                for (int64_t i = 0; i < parts[p].count; i++)
                    take[p][i] = (int64_t)(next_random(&seed) % (ROWS - 60)) + batch->offset;
                parts[p].take = take[p];
            }
            for (int64_t i = 0; i < parts[p].count; i++)
                want[n++] = take[p][i] + (batch == &batches[1] ? ROWS : 0);
        }
        assert_ok(cx, tn_gather(cx, &schema, parts, count, &out));
        assert_int_equal(out.length, n);
        assert_ok(cx, tn_array_check(cx, &schema, &out));
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(rows_check(&out, i, 2), want[i]);
        assert_true(tn_gather_bytes(&schema, &out) >= (uint64_t)n * 30);
        tn_array_release(&out);
    }
    tn_array_release(&batches[0]);
    tn_array_release(&batches[1]);
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

/* A child's own offset moves its rows. */
static void test_gather__adds_offsets_of_children(void **state)
{
    static const int64_t take[] = {4, 1, 1};
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0}, out = {0};
    tn_gather_part part = {.array = &batch, .take = take, .count = 3};

    (void)state;
    rows_schema(cx, &shape, &schema);
    rows_batch(cx, &shape, 0, 20, &batch);
    for (int64_t c = 0; c < 7; c++) {
        batch.children[c]->offset = 2;
        batch.children[c]->length = 18;
    }
    batch.length = 18;
    assert_ok(cx, tn_gather(cx, &schema, &part, 1, &out));
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(rows_check(&out, i, 2), take[i] + 2);
    tn_array_release(&out);
    part = (tn_gather_part){.array = &batch, .first = 3, .count = 10};
    assert_ok(cx, tn_gather(cx, &schema, &part, 1, &out));
    for (int64_t i = 0; i < 10; i++)
        assert_int_equal(rows_check(&out, i, 2), i + 5);
    tn_array_release(&out);
    tn_array_release(&batch);
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

/* Fixed lists, and lists of 64-bit offsets: runs and single rows give the same. */
static void test_gather__takes_lists_of_every_kind(void **state)
{
    static const int64_t values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const int64_t offsets[] = {0, 2, 2, 5, 8, 12};
    static const int64_t taken[] = {2, 3, 4}, other[] = {4, 2};
    tarn_cx *cx = tarn_cx_open(NULL);
    const char *const formats[] = {"+w:2", "+L"};

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct ArrowSchema schema = {0};
        struct ArrowArray array = {0}, runs = {0}, singles = {0};
        tn_gather_part run = {.array = &array, .first = 2, .count = 3};
        tn_gather_part single = {.array = &array, .take = taken, .count = 3};

        assert_ok(cx, tn_field_init(cx, &schema, formats[f], TN_STR("l"), true, 1));
        assert_ok(cx, tn_field_init(cx, schema.children[0], "l", TN_STR("i"), true, 0));
        assert_ok(cx, tn_array_init(cx, &array, 5, f == 0 ? 1 : 2, 1));
        if (f == 1)
            rows_buffer(cx, &array, 1, offsets, sizeof offsets);
        rows_fixed(cx, array.children[0], values, 8, 12);
        assert_ok(cx, tn_gather(cx, &schema, &run, 1, &runs));
        assert_ok(cx, tn_gather(cx, &schema, &single, 1, &singles));
        assert_ok(cx, tn_array_check(cx, &schema, &runs));
        assert_int_equal(runs.children[0]->length, f == 0 ? 6 : 10);
        assert_int_equal(singles.children[0]->length, runs.children[0]->length);
        assert_memory_equal(runs.children[0]->buffers[1], singles.children[0]->buffers[1],
                            (size_t)runs.children[0]->length * 8);
        assert_int_equal(((const int64_t *)runs.children[0]->buffers[1])[0], f == 0 ? 4 : 2);
        tn_array_release(&singles);
        single = (tn_gather_part){.array = &array, .take = other, .count = 2};
        assert_ok(cx, tn_gather(cx, &schema, &single, 1, &singles));
        assert_int_equal(((const int64_t *)singles.children[0]->buffers[1])[0], 8);
        tn_array_release(&singles);
        tn_array_release(&runs);
        tn_array_release(&array);
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}

static void test_gather__makes_schemas_plain(void **state)
{
    rows_shape with = shape;
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0}, plain = {0}, want = {0};
    struct ArrowArray batch = {0};
    bool had = false;

    (void)state;
    rows_schema(cx, &shape, &want);
    assert_ok(cx, tn_gather_plain(cx, &want, &plain, &had));
    assert_false(had);
    tn_field_release(&plain);
    with.dictionary = true;
    rows_schema(cx, &with, &schema);
    assert_ok(cx, tn_gather_plain(cx, &schema, &plain, &had));
    assert_true(had);
    assert_string_equal(plain.children[1]->format, "u");
    assert_string_equal(plain.children[1]->name, "dt");
    assert_null(plain.children[1]->dictionary);
    assert_string_equal(plain.children[6]->children[1]->format, "U");
    rows_batch(cx, &with, 0, 50, &batch);
    assert_true(tn_gather_bytes(&schema, &batch) > 50 * 20);
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_field_release(&plain);
    tn_field_release(&want);
    tarn_cx_close(cx);
}
