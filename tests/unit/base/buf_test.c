/* Buffers grow, stick to a failure, and write numbers as they say. */
#include "unit/test.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "unit/alloc.h"

static void test_buf__grows_and_keeps_its_bytes(void **state)
{
    tn_buf buf = {0};

    (void)state;
    for (int i = 0; i < 10000; i++)
        tn_buf_u8(&buf, (uint8_t)(i * 7));
    assert_int_equal(buf.len, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(buf.data[i], (uint8_t)(i * 7));
    tn_buf_reset(&buf);
    assert_int_equal(buf.len, 0);
    assert_true(buf.cap >= 10000);
    tn_buf_clear(&buf);
    assert_null(buf.data);
}

static void test_buf__writes_numbers(void **state)
{
    static const uint8_t want[] = {0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 0xEF, 0xCD, 0xAB, 0x90,
                                   0x78, 0x56, 0x34, 0x12, 0x00, 0x7F, 0x80, 0x01, 0xFF, 0xFF,
                                   0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
    tn_buf buf = {0};

    (void)state;
    tn_buf_u16le(&buf, 0x1234);
    tn_buf_u32le(&buf, 0x12345678);
    tn_buf_u64le(&buf, 0x1234567890ABCDEF);
    tn_buf_varint(&buf, 0);
    tn_buf_varint(&buf, 127);
    tn_buf_varint(&buf, 128);
    tn_buf_varint(&buf, UINT64_MAX);
    assert_int_equal(buf.len, sizeof want);
    assert_memory_equal(buf.data, want, sizeof want);
    tn_buf_clear(&buf);
}

static void test_buf__prints(void **state)
{
    tn_buf buf = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        tn_buf_print(&buf, "%d,", i);
    assert_int_equal(buf.len, 290);
    assert_memory_equal(buf.data, "0,1,2,", 6);
    assert_memory_equal(buf.data + 287, "99,", 3);
    tn_buf_clear(&buf);
}

static void test_buf__sticks_to_a_failed_growth(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_buf buf = {0};

    (void)state;
    tn_buf_text(&buf, "kept");
    assert_ok(cx, tn_buf_check(cx, &buf));
    alloc_watch(1);
    assert_false(tn_buf_reserve(&buf, 1 << 20));
    alloc_unwatch();
    tn_buf_text(&buf, "lost");
    assert_true(tn_buf_extend(&buf, 1 << 10) == NULL);
    assert_int_equal(buf.len, 4);
    assert_fails(cx, TARN_E_NOMEM, "out of memory", tn_buf_check(cx, &buf));
    tn_buf_clear(&buf);
    tn_buf_u8(&buf, 1);
    assert_false(tn_buf_reserve(&buf, SIZE_MAX)); /* the sum does not fit a size_t */
    tn_buf_clear(&buf);
    tarn_cx_close(cx);
}

static void test_cursor__reads_in_order(void **state)
{
    tn_buf buf = {0};
    tn_cursor cursor;

    (void)state;
    tn_buf_u8(&buf, 9);
    tn_buf_u32le(&buf, 70000);
    tn_buf_u64le(&buf, UINT64_C(1) << 40);
    tn_buf_varint(&buf, 300);
    tn_buf_text(&buf, "abc");
    cursor = tn_cursor_over(&buf);
    assert_int_equal(tn_cursor_u8(&cursor), 9);
    assert_int_equal(tn_cursor_u32le(&cursor), 70000);
    assert_true(tn_cursor_u64le(&cursor) == UINT64_C(1) << 40);
    assert_int_equal(tn_cursor_varint(&cursor), 300);
    assert_int_equal(tn_cursor_left(&cursor), 3);
    assert_true(tn_str_is(tn_cursor_take(&cursor, 3), "abc"));
    assert_true(tn_cursor_ended(&cursor));
    tn_buf_clear(&buf);
}

static void test_cursor__is_poisoned_by_a_short_read(void **state)
{
    tn_cursor cursor = tn_cursor_of("abc", 3);

    (void)state;
    assert_int_equal(tn_cursor_u32le(&cursor), 0);
    assert_true(cursor.failed);
    assert_int_equal(tn_cursor_u8(&cursor), 0);
    assert_int_equal(tn_cursor_left(&cursor), 0);
    assert_null(tn_cursor_take(&cursor, 0).ptr);
    assert_false(tn_cursor_ended(&cursor));
}

static void test_cursor__refuses_overlong_varints(void **state)
{
    static const struct {
        const char *name, *bytes;
        size_t len;
        bool good;
        uint64_t want;
    } cases[] = {
        {"one byte", "\x05", 1, true, 5},
        {"64 bits", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10, true, UINT64_MAX},
        {"65 bits", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10, false, 0},
        {"eleven bytes", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, false, 0},
        {"cut off", "\x80\x80", 2, false, 0},
        {"empty", "", 0, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_cursor cursor = tn_cursor_of(cases[i].bytes, cases[i].len);
        uint64_t got = tn_cursor_varint(&cursor);

        if (cursor.failed == cases[i].good || got != cases[i].want)
            fail_msg("%s: %llu", cases[i].name, (unsigned long long)got);
    }
}

static void test_cursor__zigzag_goes_both_ways(void **state)
{
    static const int64_t values[] = {0, -1, 1, -2, 2, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(tn_zigzag(tn_unzigzag(values[i])) == values[i]);
    assert_int_equal(tn_unzigzag(-1), 1);
    assert_int_equal(tn_unzigzag(1), 2);
}
