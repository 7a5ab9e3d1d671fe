/* Frames of logs: the page's files, headers, torn blocks as Hudi takes them, damage, few reads. */
#include "unit/codec/log/block.h"
#include "unit/hex.h"

#include "unit/alloc.h"

static tarn_cx *open_all(tn_store **store)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    assert_ok(cx, tn_store_memory_open(cx, store));
    return cx;
}

static void close_all(tarn_cx *cx, tn_store *store, tn_log *log, tn_buf *bytes)
{
    tn_log_close(log);
    tn_buf_clear(bytes);
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void test_log__page_rollback(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    tn_buf bytes = hex_of_page("hudi-log.md", "rollback"), content = {0};
    tn_log log = {0};

    (void)state;
    assert_ok(cx, block_open(cx, store, tn_buf_view(&bytes), &log));
    assert_int_equal(log.block_count, 1);
    assert_int_equal(log.blocks[0].kind, TN_LOG_COMMAND);
    assert_true(log.blocks[0].rollback);
    assert_true(tn_str_is(log.blocks[0].instant, "20250126040936578"));
    assert_true(tn_str_is(log.blocks[0].target, "20250126040826878"));
    assert_int_equal(log.blocks[0].bytes, 105);
    assert_ok(cx, tn_log_content(cx, &log, log.blocks, &content));
    assert_int_equal(content.len, 0);
    tn_buf_clear(&content);
    close_all(cx, store, &log, &bytes);
}

static void test_log__page_seed(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    tn_buf bytes = hex_of_page("hudi-log.md", "seed"), content = {0};
    tn_arena arena = {0};
    tn_log_deletes deletes;
    tn_log log = {0};

    (void)state;
    assert_int_equal(bytes.len, 80);
    assert_ok(cx, block_open(cx, store, tn_buf_view(&bytes), &log));
    assert_int_equal(log.block_count, 1);
    assert_int_equal(log.blocks[0].kind, TN_LOG_DELETE);
    assert_true(tn_str_is(log.blocks[0].instant, "00000000000000000"));
    assert_ok(cx, tn_log_content(cx, &log, log.blocks, &content));
    assert_ok(cx, tn_log_deletes_parse(cx, tn_buf_view(&content), log.path, &arena, &deletes));
    assert_int_equal(deletes.count, 0);
    tn_arena_clear(&arena);
    tn_buf_clear(&content);
    close_all(cx, store, &log, &bytes);
}

static const block_header all_headers[] = {{0, "20260101000000000"},
                                           {2, "{\"type\":\"string\"}"},
                                           {4, "3,2,1"},
                                           {5, "AAAAAAAAAAA="},
                                           {6, "0,1"},
                                           {7, "true"},
                                           {8, "19"},
                                           {0, NULL}};

static void test_log__headers(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    const block_header other[] = {{2, "{\"type\":\"string\"}"}, {7, "false"}, {0, NULL}};
    tn_buf bytes = {0}, content = {0};
    tn_log log = {0};

    (void)state;
    block_add(&bytes, TN_LOG_AVRO, all_headers, TN_STR("content"));
    block_add(&bytes, TN_LOG_CDC, other, TN_STR("more"));
    assert_ok(cx, block_open(cx, store, tn_buf_view(&bytes), &log));
    assert_int_equal(log.block_count, 2);
    assert_true(tn_str_is(log.blocks[0].instant, "20260101000000000"));
    assert_true(tn_str_is(log.blocks[0].schema, "{\"type\":\"string\"}"));
    assert_true(tn_str_is(log.blocks[0].compacted, "3,2,1"));
    assert_true(tn_str_is(log.blocks[0].positions, "AAAAAAAAAAA="));
    assert_true(tn_str_is(log.blocks[0].base_instant, "19"));
    assert_true(log.blocks[0].partial);
    assert_false(log.blocks[0].rollback);
    assert_false(log.blocks[1].partial);
    assert_int_equal(log.blocks[1].kind, TN_LOG_CDC);
    assert_int_equal(log.blocks[1].instant.len, 0);
    /* the same schema is one text */
    assert_ptr_equal(log.blocks[0].schema.ptr, log.blocks[1].schema.ptr);
    assert_int_equal(log.blocks[1].offset, log.blocks[0].bytes);
    assert_ok(cx, tn_log_content(cx, &log, &log.blocks[1], &content));
    assert_true(tn_str_is(tn_buf_view(&content), "more"));
    assert_ok(cx, tn_log_content(cx, &log, &log.blocks[0], &content));
    assert_true(tn_str_is(tn_buf_view(&content), "content"));
    tn_buf_clear(&content);
    close_all(cx, store, &log, &bytes);
}

static const block_header plain[] = {{0, "1"}, {2, "{}"}, {0, NULL}};

/* Sound, torn and sound again: what a writer that died left, and its successor wrote. */
static void test_log__torn(void **state)
{
    static const struct {
        const char *name;
        size_t cut;      /* bytes off the end of the torn block */
        size_t flip;     /* a byte of it that is spoilt, plus one */
        const char *add; /* behind it */
    } cases[] = {{"cut short", 40, 0, ""},
                 {"only the magic", 88, 0, ""},
                 {"a length that is another", 0, 14, ""},
                 {"a pointer that is another", 0, 94, ""},
                 {"rubbish behind it", 0, 0, "rubbish"},
                 {"a magic that is cut, behind it", 0, 0, "#HUD"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int sound_after = 0; sound_after < 2; sound_after++) {
            tn_store *store;
            tarn_cx *cx = open_all(&store);
            tn_buf bytes = {0};
            tn_log log = {0};
            size_t torn, end;

            block_add(&bytes, TN_LOG_AVRO, plain, TN_STR("first"));
            torn = bytes.len;
            block_add(&bytes, TN_LOG_AVRO, plain, TN_STR("01234567890123456789012345678"));
            assert_int_equal(bytes.len - torn, 94);
            if (cases[i].flip > 0)
                bytes.data[torn + cases[i].flip - 1] ^= 1;
            bytes.len -= cases[i].cut;
            tn_buf_text(&bytes, cases[i].add);
            end = bytes.len;
            if (sound_after)
                block_add(&bytes, TN_LOG_DELETE, plain, TN_STR("last"));
            assert_ok(cx, block_open(cx, store, tn_buf_view(&bytes), &log));
            if (!sound_after && strcmp(cases[i].add, "#HUD") == 0) {
                /* fewer than six bytes at the end are nobody's */
                assert_int_equal(log.block_count, 2);
                assert_int_equal(log.blocks[1].kind, TN_LOG_AVRO);
            } else {
                if (log.block_count != 2 + sound_after || log.blocks[1].kind != TN_LOG_CORRUPT)
                    fail_msg("%s: %zu blocks", cases[i].name, log.block_count);
                assert_int_equal(log.blocks[1].offset, torn);
                assert_int_equal(log.blocks[1].bytes, end - torn);
            }
            assert_int_equal(log.blocks[0].kind, TN_LOG_AVRO);
            if (sound_after)
                assert_int_equal(log.blocks[2].kind, TN_LOG_DELETE);
            close_all(cx, store, &log, &bytes);
        }
}

static void test_log__torn_far(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    tn_buf bytes = {0};
    tn_log log = {0};
    size_t next;

    (void)state;
    tn_buf_text(&bytes, "#HUDI#");
    /* the next magic lies over every edge of what is read at once */
    memset(tn_buf_extend(&bytes, (3 << 20) - 3), 'x', (3 << 20) - 3);
    next = bytes.len;
    block_add(&bytes, TN_LOG_AVRO, plain, TN_STR("x"));
    assert_ok(cx, block_open(cx, store, tn_buf_view(&bytes), &log));
    assert_int_equal(log.block_count, 2);
    assert_int_equal(log.blocks[0].kind, TN_LOG_CORRUPT);
    assert_int_equal(log.blocks[0].bytes, next);
    assert_int_equal(log.blocks[1].offset, next);
    close_all(cx, store, &log, &bytes);
}

static void test_log__refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
        int status;
        const char *text;
    } cases[] = {{0, 'x', TARN_E_CORRUPT, "byte 0: no block of a Hudi log begins here"},
                 {17, 0, TARN_E_UNSUPPORTED, "version 0"},
                 {17, 2, TARN_E_UNSUPPORTED, "version 2"},
                 {21, 2, TARN_E_UNSUPPORTED, "kind 2"},
                 {21, 7, TARN_E_UNSUPPORTED, "kind 7"},
                 {25, 200, TARN_E_CORRUPT, "more than 64 entries"},
                 {25, 64, TARN_E_CORRUPT, "does not fit"},
                 {29, 9, TARN_E_UNSUPPORTED, "the key 9"},
                 {33, 200, TARN_E_CORRUPT, "does not fit"},
                 {52, 9, TARN_E_CORRUPT, "content and that of the block differ"},
                 {62, 1, TARN_E_CORRUPT, "footer"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_store *store;
        tarn_cx *cx = open_all(&store);
        tn_buf bytes = {0};
        tn_log log = {0};

        block_add(&bytes, TN_LOG_AVRO, plain, TN_STR("content"));
        bytes.data[cases[i].at] = cases[i].byte;
        assert_fails(cx, cases[i].status, cases[i].text,
                     block_open(cx, store, tn_buf_view(&bytes), &log));
        assert_non_null(strstr(tarn_cx_error(cx), "/log"));
        close_all(cx, store, &log, &bytes);
    }
}

static void test_log__empty(void **state)
{
    static const char *const files[] = {"", "#", "#HUDI"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tn_store *store;
        tarn_cx *cx = open_all(&store);
        tn_buf bytes = {0};
        tn_log log = {0};

        assert_ok(cx, block_open(cx, store, tn_str_of(files[i]), &log));
        assert_int_equal(log.block_count, 0);
        close_all(cx, store, &log, &bytes);
    }
}

/* Every cut is a log of the blocks before it, perhaps with a torn one; every flipped bit is a log
 * or a status with text. */
static void test_log__cut(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    tn_buf bytes = {0};
    size_t first;

    (void)state;
    block_add(&bytes, TN_LOG_AVRO, plain, TN_STR("content"));
    first = bytes.len;
    block_add(&bytes, TN_LOG_DELETE, all_headers, TN_STR("other"));
    for (size_t len = 0; len <= bytes.len; len++) {
        size_t sound = (size_t)(len >= first) + (len == bytes.len), found = 0;
        tn_log log = {0};

        assert_ok(cx, block_open(cx, store, (tn_str){(char *)bytes.data, len}, &log));
        for (size_t i = 0; i < log.block_count; i++)
            found += log.blocks[i].kind != TN_LOG_CORRUPT;
        assert_int_equal(found, sound);
        tn_log_close(&log);
    }
    for (size_t bit = 0; bit < bytes.len * 8; bit++) {
        tn_log log = {0};

        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (block_open(cx, store, tn_buf_view(&bytes), &log) != TARN_OK)
            assert_true(tarn_cx_error(cx)[0] != '\0');
        tn_log_close(&log);
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    tn_buf_clear(&bytes);
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void test_log__hostile(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    tn_buf bytes = {0};
    tn_log log = {0};

    (void)state;
    for (size_t i = 0; i < 10001; i++)
        tn_buf_text(&bytes, "#HUDI#");
    assert_fails(cx, TARN_E_LIMIT, "torn", block_open(cx, store, tn_buf_view(&bytes), &log));
    close_all(cx, store, &log, &bytes);
}

static void test_log__memory(void **state)
{
    tn_store *store;
    tarn_cx *cx = open_all(&store);
    tn_buf bytes = {0};
    tn_log log = {0};
    size_t total;

    (void)state;
    block_add(&bytes, TN_LOG_AVRO, all_headers, TN_STR("content"));
    tn_buf_text(&bytes, "#HUDI#torn");
    block_add(&bytes, TN_LOG_AVRO, plain, TN_STR("content"));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/log"), tn_buf_view(&bytes)));
    alloc_watch(0);
    assert_ok(cx, tn_log_open(cx, store, TN_STR("/log"), &log));
    total = alloc_unwatch();
    tn_log_close(&log);
    assert_true(total > 3);
    for (size_t n = 1; n <= total; n++) {
        int rc;

        alloc_watch(n);
        rc = tn_log_open(cx, store, TN_STR("/log"), &log);
        alloc_unwatch();
        assert_int_equal(rc, TARN_E_NOMEM);
        assert_true(tarn_cx_error(cx)[0] != '\0');
        tn_log_close(&log);
    }
    close_all(cx, store, &log, &bytes);
}
