#include "batch/ordering.h"

#include <math.h>

#include "unit/batch/table.h"

/* Rows of one column, from the smallest on; row 0 is null. */
typedef struct order_case {
    const char *format;
    const void *values;
    size_t width, rows;
    uint64_t equal; /* bit i: row i equals row i - 1 */
    bool u64;
} order_case;

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static int compare_bytes(const tn_buf *a, const tn_buf *b)
{
    return sign(tn_str_compare(tn_buf_view(a), tn_buf_view(b)));
}

static void check_order(tarn_cx *cx, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, size_t columns, uint64_t equal, bool u64,
                        const char *name)
{
    static const uint32_t indices[] = {0, 1, 2};
    tn_ordering *ordering = NULL;
    uint64_t values[64] = {0};

    assert_ok(cx, tn_ordering_open(cx, schema, indices, columns, &ordering));
    assert_int_equal(tn_ordering_is_u64(ordering), u64);
    if (u64)
        assert_ok(cx, tn_ordering_u64(cx, ordering, array, values));
    for (int64_t i = 0; i + 1 < array->length; i++) {
        int want = equal >> (i + 1) & 1 ? 0 : -1;
        tn_buf a = {0}, b = {0};

        tn_ordering_bytes(ordering, array, i, &a);
        tn_ordering_bytes(ordering, array, i + 1, &b);
        if (compare_bytes(&a, &b) != want)
            fail_msg("%s: rows %d and %d as bytes", name, (int)i, (int)i + 1);
        if (u64 && (values[i] < values[i + 1] ? -1 : values[i] > values[i + 1]) != want)
            fail_msg("%s: rows %d and %d as numbers", name, (int)i, (int)i + 1);
        tn_buf_clear(&a);
        tn_buf_clear(&b);
    }
    tn_ordering_close(ordering);
}

static void test_ordering__is_that_of_the_values(void **state)
{
    static const int8_t i8[] = {0, -128, -1, 0, 127};
    static const int32_t i32[] = {0, INT32_MIN, -1, 0, INT32_MAX};
    static const int64_t i64[] = {0, INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
    static const uint64_t u64[] = {9, 0, 1, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    static const double doubles[] = {0, -(double)INFINITY, -1.5,        -0.0,        0.0, 1e-300,
                                     2, (double)INFINITY,  (double)NAN, -(double)NAN};
    static const float floats[] = {0, -1.5f, -0.0f, 0.0f, 2, INFINITY, NAN};
    static const __int128 decimals[] = {0, -5, 0, 7, 1000000};
    static const uint8_t fixed[][2] = {{0}, {0, 0}, {0, 1}, {1, 0}, {255, 255}};
    static const order_case cases[] = {
        {"c", i8, 1, 5, 0, true},
        {"i", i32, 4, 5, 0, true},
        {"tdD", i32, 4, 5, 0, true},
        {"l", i64, 8, 7, 1 << 6, true},
        {"tsu:UTC", i64, 8, 7, 1 << 6, true},
        {"L", u64, 8, 6, 1 << 5, true},
        {"g", doubles, 8, 10, 1 << 4 | 1 << 9, true},
        {"f", floats, 4, 7, 1 << 3, true},
        {"d:18,2", decimals, 16, 5, 0, true},
        {"d:38,2", decimals, 16, 5, 0, false},
        {"w:2", fixed, 2, 5, 0, false},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_table table = {0};

        table_init(cx, &table, 1, (int64_t)cases[i].rows);
        table_fixed(cx, &table, 0, "o", cases[i].format, cases[i].values, cases[i].width, 1);
        check_order(cx, &table.schema, &table.array, 1, cases[i].equal, cases[i].u64,
                    cases[i].format);
        table_clear(&table);
    }
    tarn_cx_close(cx);
}

/* Text by bytes; U+E000 comes before U+20000, as in UTF-8 and not as in UTF-16. */
static void test_ordering__of_text_is_that_of_its_bytes(void **state)
{
    static const char *const texts[] = {
        NULL, "", "2020-01-01", "2020-01-02", "\xee\x80\x80", "\xf0\xa0\x80\x80"};
    tarn_cx *cx = tarn_cx_open(NULL);
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 1, 6);
    table_text(cx, &table, 0, "o", "u", texts, 1);
    check_order(cx, &table.schema, &table.array, 1, 0, false, "u");
    table_clear(&table);
    tarn_cx_close(cx);
}

/* The first column decides, the second between equals; no text runs into what follows it. */
static void test_ordering__of_several_columns_is_one_after_the_other(void **state)
{
    static const char *const first[] = {NULL, NULL, "", "", "a", "a", "aa", "b"};
    static const int64_t second[] = {0, 5, -1, 3, -9, INT64_MAX, INT64_MIN, 0};
    tarn_cx *cx = tarn_cx_open(NULL);
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 2, 8);
    table_text(cx, &table, 0, "a", "u", first, 3);
    table_fixed(cx, &table, 1, "b", "l", second, 8, 1);
    check_order(cx, &table.schema, &table.array, 2, 0, false, "u, l");
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_ordering__zero_bytes_do_not_end_a_text(void **state)
{
    static const char bytes[] = "a\0aa\0ba\0\0";
    static const int32_t ends[] = {0, 1, 2, 3, 6, 9};
    tarn_cx *cx = tarn_cx_open(NULL);
    static const uint32_t indices[] = {0, 1};
    static const int64_t second[] = {9, 8, 7, 6, 5};
    /* "a", "\0", "a", "a\0b", "a\0\0" */
    static const int order[] = {1, 2, 0, 4, 3};
    test_table table = {0};
    tn_ordering *ordering = NULL;

    (void)state;
    table_init(cx, &table, 2, 5);
    table_text(cx, &table, 0, "a", "u", (const char *const[]){"a", "1", "a", "123", "123"}, 0);
    memcpy((void *)(uintptr_t)table.array.children[0]->buffers[2], bytes, 9);
    memcpy((void *)(uintptr_t)table.array.children[0]->buffers[1], ends, sizeof ends);
    table_fixed(cx, &table, 1, "b", "l", second, 8, 0);
    assert_ok(cx, tn_ordering_open(cx, &table.schema, indices, 2, &ordering));
    for (int i = 0; i < 4; i++) {
        tn_buf a = {0}, b = {0};

        tn_ordering_bytes(ordering, &table.array, order[i], &a);
        tn_ordering_bytes(ordering, &table.array, order[i + 1], &b);
        assert_int_equal(compare_bytes(&a, &b), -1);
        tn_buf_clear(&a);
        tn_buf_clear(&b);
    }
    tn_ordering_close(ordering);
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_ordering__without_columns_all_are_equal(void **state)
{
    static const int64_t values[] = {1, 2};
    tarn_cx *cx = tarn_cx_open(NULL);
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 1, 2);
    table_fixed(cx, &table, 0, "o", "l", values, 8, 0);
    check_order(cx, &table.schema, &table.array, 0, 2, true, "none");
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_ordering__refuses_types_without_an_order(void **state)
{
    static const uint32_t first = 0;
    static const char *const formats[] = {"+s", "tin", "tiD", "tiM"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct ArrowSchema schema = {0};
        tn_ordering *ordering = NULL;

        assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
        assert_ok(cx, tn_field_init(cx, schema.children[0], formats[i], TN_STR("o"), true, 0));
        assert_fails(cx, TARN_E_UNSUPPORTED, "column \"o\"",
                     tn_ordering_open(cx, &schema, &first, 1, &ordering));
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}
