/* Compression: what is packed unpacks; foreign framings unpack; damage ends in a status. */
#include "unit/hex.h"

#include "codec/zip/zip.h"

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

static void test_zip__round_trips(void **state)
{
    static const int32_t codecs[] = {0, 1, 2, 4, 6, 7};
    static const size_t sizes[] = {0, 1, 100, 100000};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_zip zip = {0};

    (void)state;
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            tn_buf plain = make_plain(sizes[s]);
            tn_buf packed = {0};
            uint8_t *back = malloc(sizes[s] + 1);

            tn_buf_text(&packed, "head"); /* packing appends */
            assert_ok(cx, tn_zip_pack(cx, &zip, codecs[c], 0, tn_buf_view(&plain), &packed));
            assert_ok(cx, tn_zip_unpack(cx, &zip, codecs[c], tn_str_from(tn_buf_view(&packed), 4),
                                        back, sizes[s]));
            assert_true(sizes[s] == 0 || memcmp(back, plain.data, sizes[s]) == 0);
            assert_fails(cx, TARN_E_CORRUPT, "do not unpack to",
                         tn_zip_unpack(cx, &zip, codecs[c], tn_str_from(tn_buf_view(&packed), 4),
                                       back, sizes[s] + 1));
            free(back);
            tn_buf_clear(&plain);
            tn_buf_clear(&packed);
        }
    }
    tn_zip_clear(&zip);
    tarn_cx_close(cx);
}

static void test_zip__foreign_framings(void **state)
{
    static const struct {
        const char *name;
        int32_t codec;
        const char *hex, *want;
    } cases[] = {
        {"gzip", 2, "1f8b080000000000000303 4b4c4a06 00 c2412435 03000000", NULL},
        {"two gzip members", 2,
         "1f8b08000000000000ff4b4c4a0600c241243503000000"
         "1f8b08000000000000ff4b0400 43beb7e8 01000000",
         "abca"},
        {"zlib", 2, "789c4b4c4a0600024d0127", "abc"},
        {"LZ4 in Hadoop's framing", 5, "00000003 00000004 30616263", "abc"},
        {"LZ4 in Hadoop's framing, two blocks", 5,
         "00000001 00000002 1061 00000002 00000003 206263", "abc"},
        {"LZ4 in Hadoop's framing, two pieces", 5, "00000003 00000002 1061 00000003 206263", "abc"},
        {"LZ4 raw under the old number", 5, "30616263", "abc"},
        {"nothing for nothing", 1, "", ""},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_zip zip = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_buf packed = hex_of(cases[i].hex);
        char out[16];
        int rc;

        if (cases[i].want == NULL) { /* a damaged header */
            assert_fails(cx, TARN_E_CORRUPT, "GZIP",
                         tn_zip_unpack(cx, &zip, cases[i].codec, tn_buf_view(&packed), out, 3));
            tn_buf_clear(&packed);
            continue;
        }
        rc = tn_zip_unpack(cx, &zip, cases[i].codec, tn_buf_view(&packed), out,
                           strlen(cases[i].want));
        if (rc != TARN_OK)
            fail_msg("%s: %s", cases[i].name, tarn_cx_error(cx));
        assert_memory_equal(out, cases[i].want, strlen(cases[i].want));
        tn_buf_clear(&packed);
    }
    tn_zip_clear(&zip);
    tarn_cx_close(cx);
}

static void test_zip__unknown_codecs(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_zip zip = {0};
    tn_buf out = {0};
    char into[4];

    (void)state;
    assert_fails(cx, TARN_E_UNSUPPORTED, "LZO", tn_zip_unpack(cx, &zip, 3, TN_STR("abc"), into, 3));
    assert_fails(cx, TARN_E_UNSUPPORTED, "codec 99",
                 tn_zip_unpack(cx, &zip, 99, TN_STR("abc"), into, 3));
    assert_fails(cx, TARN_E_UNSUPPORTED, "LZ4_RAW",
                 tn_zip_pack(cx, &zip, 5, 0, TN_STR("abc"), &out));
    tn_buf_clear(&out);
    tn_zip_clear(&zip);
    tarn_cx_close(cx);
}

/* Every truncation and every flipped byte ends, in a status or in some result. */
static void test_zip__damage(void **state)
{
    static const int32_t codecs[] = {1, 2, 4, 5, 6, 7};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf plain = make_plain(300);
    tn_zip zip = {0};
    uint8_t out[300];

    (void)state;
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        tn_buf packed = {0};
        int32_t codec = codecs[c] == 5 ? 7 : codecs[c];

        assert_ok(cx, tn_zip_pack(cx, &zip, codec, 0, tn_buf_view(&plain), &packed));
        for (size_t i = 0; i < packed.len; i++) {
            uint8_t *exact = malloc(i + 1);

            memcpy(exact, packed.data, i);
            assert_int_not_equal(
                TARN_OK, tn_zip_unpack(cx, &zip, codecs[c], (tn_str){(char *)exact, i}, out, 300));
            free(exact);
            packed.data[i] ^= 0x55;
            (void)tn_zip_unpack(cx, &zip, codecs[c], tn_buf_view(&packed), out, 300);
            packed.data[i] ^= 0x55;
        }
        tn_buf_clear(&packed);
    }
    tn_buf_clear(&plain);
    tn_zip_clear(&zip);
    tarn_cx_close(cx);
}

/* Raw deflate of unknown length, as Avro has it. */
static void test_zip__inflates(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf stored = hex_of("01 02 00 FD FF 06 36"), zeros = {0}, out = {0};
    tn_zip zip = {0};

    (void)state;
    tn_buf_text(&out, "head"); /* it appends */
    assert_ok(cx, tn_zip_inflate(cx, &zip, tn_buf_view(&stored), 2, &out));
    assert_int_equal(out.len, 6);
    assert_memory_equal(out.data, "head\x06\x36", 6);
    assert_fails(cx, TARN_E_LIMIT, "hold more than 1",
                 tn_zip_inflate(cx, &zip, tn_buf_view(&stored), 1, &out));
    assert_int_equal(out.len, 6);
    tn_buf_u8(&stored, 0);
    assert_fails(cx, TARN_E_CORRUPT, "no deflate stream",
                 tn_zip_inflate(cx, &zip, tn_buf_view(&stored), 100, &out));
    assert_fails(cx, TARN_E_CORRUPT, "no deflate stream",
                 tn_zip_inflate(cx, &zip, (tn_str){"\xFF", 1}, 100, &out));
    /* What packs well makes the room grow: the gzip form of zeros without its head and tail. */
    tn_buf_reset(&stored);
    memset(tn_buf_extend(&zeros, 1 << 20), 0, 1 << 20);
    assert_ok(cx, tn_zip_pack(cx, &zip, 2, 0, tn_buf_view(&zeros), &stored));
    tn_buf_reset(&out);
    assert_ok(cx, tn_zip_inflate(cx, &zip, (tn_str){(char *)stored.data + 10, stored.len - 18},
                                 1 << 20, &out));
    assert_true(tn_str_equal(tn_buf_view(&out), tn_buf_view(&zeros)));
    tn_buf_clear(&stored);
    tn_buf_clear(&zeros);
    tn_buf_clear(&out);
    tn_zip_clear(&zip);
    tarn_cx_close(cx);
}
