/* Deletes: the page's example, every kind of ordering value, arrays in parts, damage. */
#include "unit/hex.h"

#include "codec/log/log.h"

/* Parses the datum `hex` with the two numbers before it. */
static int parse(tarn_cx *cx, const char *hex, tn_buf *bytes, tn_arena *arena, tn_log_deletes *out)
{
    tn_buf datum = hex_of(hex);
    uint32_t len = __builtin_bswap32((uint32_t)datum.len);

    tn_buf_add(bytes, "\0\0\0\3", 4);
    tn_buf_add(bytes, &len, 4);
    tn_buf_add(bytes, datum.data, datum.len);
    tn_buf_clear(&datum);
    return tn_log_deletes_parse(cx, tn_buf_view(bytes), TN_STR("f.log"), arena, out);
}

static void test_log_deletes__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("hudi-log.md", "deletes");
    tn_arena arena = {0};
    tn_log_deletes deletes;

    (void)state;
    assert_ok(cx, tn_log_deletes_parse(cx, tn_buf_view(&bytes), TN_STR("page"), &arena, &deletes));
    assert_int_equal(deletes.count, 1);
    assert_true(tn_str_is(deletes.keys[0], "TXN-002"));
    assert_non_null(deletes.partitions[0].ptr);
    assert_int_equal(deletes.partitions[0].len, 0);
    assert_int_equal(deletes.orders[0].kind, TN_LOG_ORDER_INT);
    assert_true(tn_log_order_always(&deletes.orders[0]));
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_log_deletes__orders(void **state)
{
    static const struct {
        const char *hex;
        enum tn_log_order_kind kind;
        int64_t i;
        double d;
        const char *bytes;
        bool always;
    } cases[] = {{"00", TN_LOG_ORDER_NULL, 0, 0, NULL, true},
                 {"02 01", TN_LOG_ORDER_BOOLEAN, 1, 0, NULL, false},
                 {"04 00", TN_LOG_ORDER_INT, 0, 0, NULL, true},
                 {"04 03", TN_LOG_ORDER_INT, -2, 0, NULL, false},
                 {"06 00", TN_LOG_ORDER_LONG, 0, 0, NULL, false},
                 {"06 82 a4 da dd fa 62", TN_LOG_ORDER_LONG, 1700100000001, 0, NULL, false},
                 {"06 ff ff ff ff ff ff ff ff ff 01", TN_LOG_ORDER_LONG, INT64_MIN, 0, NULL, false},
                 {"08 00 00 c0 3f", TN_LOG_ORDER_FLOAT, 0, 1.5, NULL, false},
                 {"0a 00 00 00 00 00 00 f8 bf", TN_LOG_ORDER_DOUBLE, 0, -1.5, NULL, false},
                 {"0c 04 61 62", TN_LOG_ORDER_BYTES, 0, 0, "ab", false},
                 {"0e 00", TN_LOG_ORDER_STRING, 0, 0, "", false},
                 {"10 02", TN_LOG_ORDER_DATE, 1, 0, NULL, false},
                 {"12 02 7f", TN_LOG_ORDER_DECIMAL, 0, 0, "\x7f", false},
                 {"14 02", TN_LOG_ORDER_TIME, 1, 0, NULL, false},
                 {"16 04", TN_LOG_ORDER_TIMESTAMP, 2, 0, NULL, false}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char hex[200];
        tn_buf bytes = {0};
        tn_arena arena = {0};
        tn_log_deletes deletes;
        const tn_log_order *order;

        snprintf(hex, sizeof hex, "02 02 02 6b 00 %s 00", cases[i].hex);
        assert_ok(cx, parse(cx, hex, &bytes, &arena, &deletes));
        assert_int_equal(deletes.count, 1);
        assert_true(tn_str_is(deletes.keys[0], "k"));
        assert_null(deletes.partitions[0].ptr);
        order = &deletes.orders[0];
        assert_int_equal(order->kind, cases[i].kind);
        assert_true(order->i == cases[i].i && order->d == cases[i].d);
        assert_true(tn_str_equal(order->bytes, tn_str_of(cases[i].bytes)));
        assert_int_equal(tn_log_order_always(order), cases[i].always);
        tn_arena_clear(&arena);
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

static void test_log_deletes__lists(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = {0};
    tn_arena arena = {0};
    tn_log_deletes deletes;

    (void)state;
    /* a list of none; one of an int 0; one in two parts, with a local date */
    assert_ok(cx, parse(cx,
                        "06  00 00 18 00  00 00 18 02 02 04 00 00"
                        "  00 00 18 02 02 06 02 03 0a 18 06 0e 02 78 00  00",
                        &bytes, &arena, &deletes));
    assert_int_equal(deletes.count, 3);
    assert_int_equal(deletes.orders[0].kind, TN_LOG_ORDER_LIST);
    assert_int_equal(deletes.orders[0].item_count, 0);
    assert_false(tn_log_order_always(&deletes.orders[1]));
    assert_int_equal(deletes.orders[1].items[0].kind, TN_LOG_ORDER_INT);
    assert_int_equal(deletes.orders[2].item_count, 3);
    assert_int_equal(deletes.orders[2].items[0].kind, TN_LOG_ORDER_LONG);
    assert_int_equal(deletes.orders[2].items[1].kind, TN_LOG_ORDER_LOCAL_DATE);
    assert_int_equal(deletes.orders[2].items[1].i, 3);
    assert_true(tn_str_is(deletes.orders[2].items[2].bytes, "x"));
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_log_deletes__parts(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = {0};
    tn_arena arena = {0};
    tn_log_deletes deletes;

    (void)state;
    /* 1 item; then -2 of them and their bytes; then 1 more */
    assert_ok(cx, parse(cx,
                        "02 02 02 61 00 00"
                        "03 14 02 02 62 00 00 02 02 63 00 00"
                        "02 02 02 64 00 00 00",
                        &bytes, &arena, &deletes));
    assert_int_equal(deletes.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(deletes.keys[i].len == 1 && deletes.keys[i].ptr[0] == (char)('a' + i));
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_log_deletes__refused(void **state)
{
    static const struct {
        const char *hex;
        int status;
        const char *text;
    } cases[] = {
        {"", TARN_E_CORRUPT, "shorter"},
        {"00 00 00 01 00 00 00 00", TARN_E_UNSUPPORTED, "compact the table with Hudi"},
        {"00 00 00 02 00 00 00 00", TARN_E_UNSUPPORTED, "version 2"},
        {"00 00 00 04 00 00 00 00", TARN_E_UNSUPPORTED, "version 4"},
        {"00 00 00 03 00 00 00 01", TARN_E_CORRUPT, "its length"},
        {"00 00 00 03 00 00 00 02 00 00", TARN_E_CORRUPT, "behind the last record"},
        {"00 00 00 03 00 00 00 01 02", TARN_E_CORRUPT, "more items than bytes"},
        {"00 00 00 03 00 00 00 04 02 04 00 00", TARN_E_CORRUPT, "neither null nor"},
        {"00 00 00 03 00 00 00 04 02 02 7e 00", TARN_E_CORRUPT, "beyond the end"},
        {"00 00 00 03 00 00 00 05 02 00 00 1a 00", TARN_E_CORRUPT, "does not have"},
        {"00 00 00 03 00 00 00 05 02 00 00 02 02", TARN_E_CORRUPT, "is none"},
        {"00 00 00 03 00 00 00 05 02 00 00 0a 00", TARN_E_CORRUPT, "is none"},
        /* -2^63 items */
        {"00 00 00 03 00 00 00 0b ff ff ff ff ff ff ff ff ff 01 00", TARN_E_CORRUPT, "more items"}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf bytes = hex_of(cases[i].hex);
        tn_arena arena = {0};
        tn_log_deletes deletes;

        assert_fails(
            cx, cases[i].status, cases[i].text,
            tn_log_deletes_parse(cx, tn_buf_view(&bytes), TN_STR("f.log"), &arena, &deletes));
        assert_non_null(strstr(tarn_cx_error(cx), "f.log"));
        tn_arena_clear(&arena);
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}
