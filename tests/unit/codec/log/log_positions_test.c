/* Row positions: the page's bitmaps, those of another library, and bitmaps that lie. */
#include "unit/hex.h"

#include "base/base64.h"
#include "codec/log/log.h"

static int parse(tarn_cx *cx, const tn_buf *bytes, uint64_t max, tn_arena *arena, int64_t **out,
                 size_t *count)
{
    tn_buf text = {0};
    int rc;

    tn_base64_encode(&text, tn_buf_view(bytes));
    rc = tn_log_positions_parse(cx, tn_buf_view(&text), TN_STR("f.log"), max, arena, out, count);
    tn_buf_clear(&text);
    return rc;
}

static void test_log_positions__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf array = hex_of_page("hudi-log.md", "positions");
    tn_buf run = hex_of_page("hudi-log.md", "positions-run");
    tn_buf none = hex_of("00 00 00 00 00 00 00 00");
    tn_arena arena = {0};
    int64_t *at;
    size_t count;

    (void)state;
    assert_ok(cx, parse(cx, &array, 4, &arena, &at, &count));
    assert_int_equal(count, 4);
    assert_true(at[0] == 0 && at[1] == 1 && at[2] == 2 && at[3] == 7);
    assert_ok(cx, parse(cx, &run, 10, &arena, &at, &count));
    assert_int_equal(count, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(at[i], 3 + i);
    assert_fails(cx, TARN_E_LIMIT, "more than 9", parse(cx, &run, 9, &arena, &at, &count));
    assert_ok(cx, parse(cx, &none, 0, &arena, &at, &count));
    assert_int_equal(count, 0);
    tn_arena_clear(&arena);
    tn_buf_clear(&array);
    tn_buf_clear(&run);
    tn_buf_clear(&none);
    tarn_cx_close(cx);
}

/* Two buckets, a bitset of every second value, and four containers with runs, hence offsets. */
static void test_log_positions__kinds(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of("02 00 00 00 00 00 00 00"
                          "00 00 00 00 3a 30 00 00 01 00 00 00 01 00 ff 7f 10 00 00 00");
    tn_buf rest = hex_of("05 00 00 00 3b 30 03 00 0f" /* five, four containers, all with runs */
                         "00 00 00 00 01 00 01 00 02 00 02 00 ff ff ff ff"
                         "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
                         "01 00 09 00 00 00"             /* 9 */
                         "01 00 00 00 01 00"             /* 0, 1 */
                         "02 00 05 00 01 00 ff ff 00 00" /* 5, 6, 65535 */
                         "01 00 00 00 ff ff" /* all of them */);
    tn_arena arena = {0};
    int64_t *at, high = 5ll << 32;
    size_t count;

    (void)state;
    memset(tn_buf_extend(&bytes, 8192), 0x55, 8192);
    tn_buf_add(&bytes, rest.data, rest.len);
    assert_ok(cx, parse(cx, &bytes, 1000000, &arena, &at, &count));
    assert_int_equal(count, 32768 + 1 + 2 + 3 + 65536);
    for (int64_t i = 0; i < 32768; i++)
        assert_int_equal(at[i], 65536 + 2 * i);
    at += 32768;
    assert_int_equal(at[0], high + 9);
    assert_int_equal(at[2], high + 65537);
    assert_int_equal(at[5], high + 2 * 65536 + 65535);
    assert_int_equal(at[6], high + 65535ll * 65536);
    assert_int_equal(at[6 + 65535], high + UINT32_MAX);
    for (size_t len = 0; len < bytes.len; len += len < 60 || len > 8180 ? 1 : 97) {
        tn_buf part = {.data = bytes.data, .len = len};

        assert_fails(cx, TARN_E_CORRUPT, "f.log", parse(cx, &part, 1000000, &arena, &at, &count));
    }
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tn_buf_clear(&rest);
    tarn_cx_close(cx);
}

static void test_log_positions__damaged(void **state)
{
#define ONE "01 00 00 00 00 00 00 00"
    static const struct {
        const char *hex, *text;
    } cases[] = {
        {"", "cut off|ends elsewhere|no roaring|is cut"},
        {"ff ff ff ff ff ff ff ff", "cut off"},
        {ONE "00 00 00 00 3c 30 00 00 00 00 00 00", "no roaring bitmap"},
        {ONE "00 00 00 80 3a 30 00 00 00 00 00 00", "not in order"},
        {ONE "00 00 00 00 3a 30 00 00 01 00 01 00", "65,536 containers"},
        {"02 00 00 00 00 00 00 00 00 00 00 00 3a 30 00 00 00 00 00 00 00 00 00 00", "in order"},
        /* values that go down, twice the same one */
        {ONE "00 00 00 00 3a 30 00 00 01 00 00 00 00 00 01 00 10 00 00 00 05 00 04 00", "in order"},
        {ONE "00 00 00 00 3a 30 00 00 01 00 00 00 00 00 01 00 10 00 00 00 05 00 05 00", "in order"},
        /* containers that go down */
        {ONE "00 00 00 00 3a 30 00 00 02 00 00 00 01 00 00 00 00 00 00 00 18 00 00 00 1a 00 00 00"
             "05 00 06 00",
         "in order"},
        /* runs: more than the count, fewer, beyond 65,535, touching the one before */
        {ONE "00 00 00 00 3b 30 00 00 01 00 00 01 00 01 00 03 00 02 00", "as many"},
        {ONE "00 00 00 00 3b 30 00 00 01 00 00 05 00 01 00 03 00 02 00", "as many"},
        {ONE "00 00 00 00 3b 30 00 00 01 00 00 02 00 01 00 fe ff 02 00", "as many"},
        {ONE "00 00 00 00 3b 30 00 00 01 00 00 02 00 02 00 03 00 01 00 04 00 00 00", "as many"},
        /* bytes behind it */
        {"00 00 00 00 00 00 00 00 00", "ends elsewhere"}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 1; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf bytes = hex_of(cases[i].hex);
        tn_arena arena = {0};
        int64_t *at;
        size_t count;

        assert_fails(cx, TARN_E_CORRUPT, cases[i].text,
                     parse(cx, &bytes, 100, &arena, &at, &count));
        tn_arena_clear(&arena);
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

/* A bitset of fewer and of more values than it says: room is made for what it says. */
static void test_log_positions__bits_that_lie(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of(ONE "00 00 00 00 3a 30 00 00 01 00 00 00 00 00 87 13 10 00 00 00");
    size_t start = bytes.len, count;
    tn_arena arena = {0};
    int64_t *at;

    (void)state;
    memset(tn_buf_extend(&bytes, 8192), 0xff, 8192);
    assert_fails(cx, TARN_E_CORRUPT, "as many", parse(cx, &bytes, 100000, &arena, &at, &count));
    memset(bytes.data + start, 0, 8192);
    assert_fails(cx, TARN_E_CORRUPT, "as many", parse(cx, &bytes, 100000, &arena, &at, &count));
    assert_fails(
        cx, TARN_E_CORRUPT, "base64",
        tn_log_positions_parse(cx, TN_STR("!!!!"), TN_STR("f.log"), 9, &arena, &at, &count));
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}
