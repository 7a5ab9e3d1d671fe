#include "batch/widen.h"

#include "batch/array.h"
#include "batch/field.h"
#include "unit/test.h"

static void make_numbers(tarn_cx *cx, const void *values, size_t width, int64_t count,
                         struct ArrowArray *out)
{
    tn_block bits = {0}, data = {0};

    assert_ok(cx, tn_array_init(cx, out, count, 2, 0));
    assert_ok(cx, tn_block_reserve(cx, &bits, 8));
    assert_ok(cx, tn_block_reserve(cx, &data, width * (size_t)count));
    memset(bits.data, 0xfd, 8); /* the second is null */
    bits.len = 8;
    memcpy(data.data, values, width * (size_t)count);
    data.len = width * (size_t)count;
    out->null_count = 1;
    assert_ok(cx, tn_array_take_block(cx, out, 0, &bits));
    assert_ok(cx, tn_array_take_block(cx, out, 1, &data));
}

static void cast(tarn_cx *cx, const char *from, const char *to, struct ArrowArray *array)
{
    struct ArrowSchema have = {0}, want = {0};

    assert_ok(cx, tn_field_init(cx, &have, from, TN_STR("a"), true, 0));
    assert_ok(cx, tn_field_init(cx, &want, to, TN_STR("a"), true, 0));
    assert_ok(cx, tn_widen_cast(cx, &have, &want, array));
    tn_field_release(&have);
    tn_field_release(&want);
}

static void test_widen__numbers_become_text_as_java_has_it(void **state)
{
    static const int64_t longs[] = {-9223372036854775807 - 1, 7, 42};
    static const float floats[] = {1.0f, 7, 1.1f};
    static const double doubles[] = {1e10, 7, -0.5};
    static const struct {
        const char *format;
        const void *values;
        size_t width;
        const char *want;
    } cases[] = {{"l", longs, 8, "-922337203685477580842"},
                 {"f", floats, 4, "1.01.1"},
                 {"g", doubles, 8, "1.0E10-0.5"}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowArray array = {0};
        const int32_t *offsets;

        make_numbers(cx, cases[i].values, cases[i].width, 3, &array);
        cast(cx, cases[i].format, "u", &array);
        offsets = array.buffers[1];
        assert_int_equal(array.length, 3);
        assert_true(tn_rows_is_null(&array, 1) && !tn_rows_is_null(&array, 2));
        assert_int_equal(offsets[1], offsets[2]);
        assert_true(tn_str_is((tn_str){array.buffers[2], (size_t)offsets[3]}, cases[i].want));
        tn_array_release(&array);
    }
    tarn_cx_close(cx);
}

static void test_widen__long_to_float_takes_the_nearest(void **state)
{
    static const int64_t longs[] = {9007199254740993, 7, 16777217};
    struct ArrowArray array = {0};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    make_numbers(cx, longs, 8, 3, &array);
    cast(cx, "l", "f", &array);
    assert_true(((const float *)array.buffers[1])[2] == 16777216.0f);
    assert_true(tn_rows_is_null(&array, 1));
    tn_array_release(&array);
    make_numbers(cx, longs, 8, 3, &array);
    cast(cx, "l", "g", &array);
    assert_true(((const double *)array.buffers[1])[0] == 9007199254740992.0);
    tn_array_release(&array);
    tarn_cx_close(cx);
}
