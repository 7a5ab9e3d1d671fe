/* Logical types come back from an encoded footer, and what follows them is still in its place. */
#include "unit/test.h"

#include "codec/parquet/meta.h"

static void test_meta__times_end_where_they_should(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_buf out = {0};
    tn_element elements[] = {
        {.name = TN_STR("root"), .group = true, .children = 3, .converted = TN_CONVERTED_NONE},
        {.name = TN_STR("at"),
         .physical = TN_INT64,
         .converted = TN_TIMESTAMP_MICROS,
         .logical = TN_LOGICAL_TIMESTAMP,
         .unit = TN_MICROS,
         .adjusted_to_utc = true},
        {.name = TN_STR("of_day"),
         .physical = TN_INT64,
         .converted = TN_CONVERTED_NONE,
         .logical = TN_LOGICAL_TIME,
         .unit = TN_NANOS},
        {.name = TN_STR("n"),
         .physical = TN_INT32,
         .converted = TN_CONVERTED_NONE,
         .logical = TN_LOGICAL_INTEGER,
         .bit_width = 16},
    };
    tn_footer footer = {.version = 2,
                        .elements = elements,
                        .element_count = 4,
                        .rows = 7,
                        .created_by = TN_STR("tarn")};
    tn_footer back = {0};

    (void)state;
    tn_footer_encode(&out, &footer);
    assert_ok(cx, tn_buf_check(cx, &out));
    assert_ok(cx, tn_footer_decode(cx, tn_buf_view(&out), &arena, &back));
    assert_int_equal(back.element_count, 4);
    assert_int_equal(back.elements[1].unit, TN_MICROS);
    assert_true(back.elements[1].adjusted_to_utc);
    assert_int_equal(back.elements[2].logical, TN_LOGICAL_TIME);
    assert_int_equal(back.elements[2].unit, TN_NANOS);
    assert_int_equal(back.elements[3].bit_width, 16);
    assert_int_equal(back.rows, 7);
    tn_buf_clear(&out);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
