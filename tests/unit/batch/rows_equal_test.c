/* Values of every kind of column: each is itself, wherever it lies, and no other. */
#include <math.h>

#include "unit/exec/rows.h"

static bool equal_at(tarn_cx *cx, const struct ArrowSchema *schema, int64_t column,
                     const struct ArrowArray *a, int64_t i, const struct ArrowArray *b, int64_t j)
{
    const struct ArrowArray *x = a->children[column], *y = b->children[column];
    tn_type type;

    assert_ok(cx, tn_type_of(cx, schema->children[column], &type));
    return tn_rows_equal(cx, &type, schema->children[column], x, x->offset + i, y, y->offset + j);
}

static void check(bool dictionary)
{
    static const char *const names[] = {"a", NULL, "b"};
    const rows_shape shape = {
        .names = names, .name_count = 3, .hours = 24, .dictionary = dictionary};
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    struct ArrowArray a = {0}, b = {0};

    rows_schema(cx, &shape, &schema);
    rows_batch(cx, &shape, 0, 120, &a);
    rows_batch(cx, &shape, 20, 100, &b);
    for (int64_t column = 0; column < schema.n_children; column++) {
        int64_t differ = 0;

        for (int64_t i = 0; i < 100; i++) {
            assert_true(equal_at(cx, &schema, column, &a, i + 20, &b, i));
            differ += !equal_at(cx, &schema, column, &a, i, &b, i);
        }
        /* dt, hour and flag have few values */
        assert_true(differ > (column == 1 || column == 4 ? 10 : column == 2 ? 50 : 75));
    }
    tn_array_release(&a);
    tn_array_release(&b);
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

static void test_rows_equal__kinds(void **state)
{
    (void)state;
    check(false);
}

static void test_rows_equal__dictionaries(void **state)
{
    (void)state;
    check(true);
}

static void test_rows_equal__floats_by_their_bits(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    const double values[] = {0.0, -0.0, NAN, NAN};
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};

    (void)state;
    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
    rows_field(cx, &schema, 0, "f", "g", true, 0);
    assert_ok(cx, tn_array_init(cx, &array, 4, 1, 1));
    rows_fixed(cx, array.children[0], values, 8, 4);
    assert_false(equal_at(cx, &schema, 0, &array, 0, &array, 1));
    assert_true(equal_at(cx, &schema, 0, &array, 2, &array, 3));
    tn_array_release(&array);
    tn_field_release(&schema);
    tarn_cx_close(cx);
}
