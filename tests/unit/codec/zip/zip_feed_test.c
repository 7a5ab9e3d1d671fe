/* Unpacking while reading: any boundary, several members and frames, every cut, every flipped bit.
 */
#include "unit/alloc.h"
#include "unit/test.h"

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "codec/zip/zip_feed.h"

static tn_buf make_plain(size_t len)
{
    tn_buf out = {0};
    uint32_t state = 1;

    for (size_t i = 0; i < len; i++) {
        state = state * 1664525 + 1013904223;
        tn_buf_u8(&out, (uint8_t)(i % 7 < 5 ? 'a' + i % 5 : state >> 24));
    }
    return out;
}

static void add_gzip(tn_buf *out, tn_str plain)
{
    z_stream z = {0};
    size_t room = plain.len + 1024;
    uint8_t *to = tn_buf_extend(out, room);

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (uint8_t *)(uintptr_t)plain.ptr;
    z.avail_in = (uInt)plain.len;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->len -= z.avail_out;
    deflateEnd(&z);
}

static void add_zstd(tn_buf *out, tn_str plain, int window_log)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(plain.len), made;
    ZSTD_inBuffer in = {plain.ptr, plain.len, 0};
    ZSTD_outBuffer to = {tn_buf_extend(out, room), room, 0};

    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    if (window_log != 0)
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log);
    /* In two steps, so that the size is not known ahead and the frame states its window. */
    ZSTD_compressStream2(zstd, &to, &in, ZSTD_e_continue);
    made = ZSTD_compressStream2(zstd, &to, &in, ZSTD_e_end);
    assert_int_equal(made, 0);
    out->len -= room - to.pos;
    ZSTD_freeCCtx(zstd);
}

/* The unpacked bytes of `packed`, read by steps. */
static int unpack(tarn_cx *cx, tn_str packed, size_t step, tn_buf *out)
{
    tn_feed *memory = NULL, *feed = NULL;
    const uint8_t *bytes;
    size_t len;
    int rc = TARN_OK;

    tn_buf_reset(out);
    TN_TRY(tn_feed_open_memory(cx, packed.ptr, packed.len, step, TN_STR("in.packed"), &memory));
    TN_TRY(tn_zip_feed_open(cx, memory, &feed));
    memory = NULL;
    for (;;) {
        TN_TRY(tn_feed_next(cx, feed, &bytes, &len));
        if (len == 0)
            break;
        tn_buf_add(out, bytes, len);
    }
    TN_TRY(tn_feed_next(cx, feed, &bytes, &len));
    assert_int_equal(len, 0);
    TN_TRY(tn_buf_check(cx, out));
done:
    tn_feed_close(feed);
    tn_feed_close(memory);
    return rc;
}

static void test_zip_feed__any_step(void **state)
{
    static const size_t sizes[] = {0, 1, 5, 1000, 600000};
    static const size_t steps[] = {0, 1, 2, 7, 4096};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tn_buf plain = make_plain(sizes[s]);
        tn_buf packed[5] = {{0}};
        tn_str view = tn_buf_view(&plain);

        tn_buf_str(&packed[0], view);
        add_gzip(&packed[1], view);
        add_gzip(&packed[2], (tn_str){view.ptr, view.len / 3});
        add_gzip(&packed[2], TN_STR(""));
        add_gzip(&packed[2], tn_str_from(view, view.len / 3));
        add_zstd(&packed[3], view, 0);
        /* A skippable frame first, as pzstd writes. */
        tn_buf_add(&packed[4], "\x50\x2A\x4D\x18\x02\0\0\0xy", 10);
        add_zstd(&packed[4], (tn_str){view.ptr, view.len / 3}, 12);
        add_zstd(&packed[4], tn_str_from(view, view.len / 3), 0);
        for (size_t p = 0; p < 5; p++) {
            for (size_t t = 0; t < sizeof steps / sizeof *steps; t++) {
                assert_ok(cx, unpack(cx, tn_buf_view(&packed[p]), steps[t], &out));
                assert_true(tn_str_equal(tn_buf_view(&out), view));
            }
            tn_buf_clear(&packed[p]);
        }
        tn_buf_clear(&plain);
    }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void test_zip_feed__cuts_and_flips(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf plain = make_plain(300), out = {0};

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tn_buf packed = {0};

        if (kind == 0)
            add_gzip(&packed, tn_buf_view(&plain));
        else
            add_zstd(&packed, tn_buf_view(&plain), 0);
        for (size_t cut = kind == 0 ? 2 : 4; cut < packed.len; cut++) {
            char where[64];

            snprintf(where, sizeof where, "in.packed: byte %zu ", cut);
            assert_fails(cx, TARN_E_CORRUPT, where,
                         unpack(cx, (tn_str){(char *)packed.data, cut}, 1, &out));
            assert_non_null(strstr(tarn_cx_error(cx), "cut off"));
        }
        for (size_t bit = 0; bit < packed.len * 8; bit++) {
            int rc;

            packed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            rc = unpack(cx, tn_buf_view(&packed), 0, &out);
            /* Flags and times of a header are not checked by anything. */
            if (rc == TARN_OK && bit / 8 >= 10)
                assert_true(tn_str_equal(tn_buf_view(&out), tn_buf_view(&plain)));
            else if (rc != TARN_OK)
                assert_true(tarn_cx_error(cx)[0] != '\0');
            packed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        tn_buf_clear(&packed);
    }
    tn_buf_clear(&plain);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void test_zip_feed__what_follows(void **state)
{
    static const struct {
        const char *name, *tail;
        size_t len;
        int kind, status;
        const char *text;
    } cases[] = {
        {"padding of a tape", "\0\0\0\0\0\0", 6, 0, TARN_OK, NULL},
        {"bytes after a gzip member", "garbage", 7, 0, TARN_E_CORRUPT, "broken gzip"},
        {"bytes after padding", "\0\0x", 3, 0, TARN_E_CORRUPT, "bytes follow the last member"},
        {"half of a member", "\x1F\x8B\x08", 3, 0, TARN_E_CORRUPT, "cut off"},
        {"bytes after a zstd frame", "garbage", 7, 1, TARN_E_CORRUPT, "broken zstd"},
        {"half of a frame", "\x28\xB5", 2, 1, TARN_E_CORRUPT, "cut off"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_buf packed = {0};

        if (cases[i].kind == 0)
            add_gzip(&packed, TN_STR("hello\n"));
        else
            add_zstd(&packed, TN_STR("hello\n"), 0);
        tn_buf_add(&packed, cases[i].tail, cases[i].len);
        for (size_t step = 0; step < 3; step++) {
            int rc = unpack(cx, tn_buf_view(&packed), step, &out);

            if (rc != cases[i].status)
                fail_msg("%s: %s", cases[i].name, tarn_cx_error(cx));
            if (rc != TARN_OK)
                assert_non_null(strstr(tarn_cx_error(cx), cases[i].text));
            else
                assert_true(tn_str_is(tn_buf_view(&out), "hello\n"));
        }
        tn_buf_clear(&packed);
    }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void test_zip_feed__other_packings(void **state)
{
    static const struct {
        tn_str bytes;
        const char *text;
    } cases[] = {{TN_STR("BZh91AY&SY"), "bzip2 -dc FILE"},
                 {TN_STR("\xFD"
                         "7zXZ\0\0"),
                  "xz -dc FILE"},
                 {TN_STR("\x04\x22\x4D\x18\x64\x40"), "lz4 -dc FILE"},
                 {TN_STR("PK\x03\x04\x14\x00"), "unzip -p FILE"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(cx, TARN_E_UNSUPPORTED, cases[i].text, unpack(cx, cases[i].bytes, 1, &out));
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

/* A bomb of 64 MiB of zeros unpacks in constant memory. */
static void test_zip_feed__bomb(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.memory_bytes = 16 << 20});
    size_t size = 64 << 20;
    char *zeros = calloc(1, size);

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tn_feed *memory = NULL, *feed = NULL;
        tn_buf packed = {0};
        uint64_t total = 0;
        const uint8_t *bytes;
        size_t len;

        if (kind == 0)
            add_gzip(&packed, (tn_str){zeros, size});
        else
            add_zstd(&packed, (tn_str){zeros, size}, 0);
        assert_ok(cx, tn_feed_open_memory(cx, packed.data, packed.len, 0, TN_STR("b"), &memory));
        assert_ok(cx, tn_zip_feed_open(cx, memory, &feed));
        do {
            assert_ok(cx, tn_feed_next(cx, feed, &bytes, &len));
            assert_true(len <= 1 << 20);
            total += len;
        } while (len != 0);
        assert_int_equal(total, size);
        tn_feed_close(feed);
        tn_buf_clear(&packed);
    }
    free(zeros);
    tarn_cx_close(cx);
}

static void test_zip_feed__windows(void **state)
{
    /* Frames that state windows of 64 MiB and of 256 MiB. */
    static const char large[] = "\x28\xB5\x2F\xFD\x00\x80\x09\x00\x00x";
    static const char huge[] = "\x28\xB5\x2F\xFD\x00\x90\x09\x00\x00x";
    tarn_cx *small = tarn_cx_open(&(tarn_cx_options){.memory_bytes = 32 << 20});
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};

    (void)state;
    for (int i = 0; i < 3; i++) /* what is reserved is given back */
        assert_ok(cx, unpack(cx, (tn_str){large, 10}, 1, &out));
    assert_true(tn_str_is(tn_buf_view(&out), "x"));
    assert_fails(small, TARN_E_LIMIT, "--memory", unpack(small, (tn_str){large, 10}, 0, &out));
    assert_fails(cx, TARN_E_LIMIT, "zstd -dc --long=31", unpack(cx, (tn_str){huge, 10}, 0, &out));
    tn_buf_clear(&out);
    tarn_cx_close(small);
    tarn_cx_close(cx);
}

static void test_zip_feed__allocations_fail(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf packed[2] = {{0}}, out = {0};

    (void)state;
    add_gzip(&packed[0], TN_STR("hello\n"));
    add_zstd(&packed[1], TN_STR("hello\n"), 0);
    tn_buf_reserve(&out, 100);
    for (int i = 0; i < 2; i++) {
        size_t total;

        alloc_watch(0);
        assert_ok(cx, unpack(cx, tn_buf_view(&packed[i]), 1, &out));
        total = alloc_unwatch();
        for (size_t n = 1; n <= total; n++) {
            int rc;

            alloc_watch(n);
            rc = unpack(cx, tn_buf_view(&packed[i]), 1, &out);
            alloc_unwatch();
            assert_true(rc == TARN_OK || rc == TARN_E_NOMEM);
        }
        tn_buf_clear(&packed[i]);
    }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}
