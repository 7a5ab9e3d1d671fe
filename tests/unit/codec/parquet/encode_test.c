/* What the encoders write: the bytes of their examples, and values that come back from the
 * decoders, for every width, length and shape of runs. */
#include "unit/test.h"

#include "codec/parquet/decode_rle.h"
#include "codec/parquet/decode_value.h"
#include "codec/parquet/encode.h"

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void assert_bytes(const tn_buf *buf, const char *hex)
{
    char text[200] = "";

    for (size_t i = 0; i < buf->len && i < 60; i++)
        sprintf(text + strlen(text), "%02x", buf->data[i]);
    assert_string_equal(text, hex);
}

static void test_encode__bytes_of_the_examples(void **state)
{
    static const uint32_t eight[] = {0, 1, 2, 3, 4, 5, 6, 7},
                          fives[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    static const int32_t rising[] = {1, 2, 3};
    static const tn_view words[] = {{(const uint8_t *)"ab", 2}, {(const uint8_t *)"", 0}};
    static const uint8_t flags[] = {1, 0, 1};
    static const uint8_t reals[] = {1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14};
    tn_leaf leaf = {.physical = TN_BYTE_ARRAY};
    tn_buf out = {0};

    (void)state;
    tn_encode_hybrid(&out, eight, 4, 8, 3);
    assert_bytes(&out, "0388c6fa");
    tn_buf_reset(&out);
    tn_encode_hybrid(&out, fives, 4, 16, 3);
    assert_bytes(&out, "2005");
    tn_buf_reset(&out);
    tn_encode_delta32(&out, rising, 3);
    assert_bytes(&out, "800104030202"
                       "00000000");
    tn_buf_reset(&out);
    tn_encode_plain(&out, &leaf, (tn_values){words, 2});
    assert_bytes(&out, "02000000616200000000");
    tn_buf_reset(&out);
    leaf.physical = TN_BOOLEAN;
    tn_encode_plain(&out, &leaf, (tn_values){flags, 3});
    assert_bytes(&out, "05");
    tn_buf_reset(&out);
    tn_encode_split(&out, reals, 2, 4);
    assert_bytes(&out, "0111021203130414");
    tn_buf_clear(&out);
}

/* Runs and mixtures of all widths, as 1, 2 and 4 byte elements. */
static void test_encode__hybrid_comes_back(void **state)
{
    enum { MAX = 700 };
    tarn_cx *cx = tarn_cx_open(NULL);
    uint64_t seed = 5;
    uint32_t wide[MAX], back[MAX];
    uint16_t half[MAX];
    uint8_t byte[MAX];
    tn_buf out = {0};

    (void)state;
    for (unsigned width = 0; width <= 32; width++)
        for (int round = 0; round < 30; round++) {
            size_t n = 1 + random_next(&seed) % MAX;
            uint32_t mask = width == 32 ? UINT32_MAX : ((uint32_t)1 << width) - 1;
            unsigned calm = (unsigned)(random_next(&seed) % 40);
            tn_rle_decoder decoder = {0};

            for (size_t i = 0; i < n; i++) {
                wide[i] = i != 0 && random_next(&seed) % 40 < calm
                              ? wide[i - 1]
                              : (uint32_t)random_next(&seed) & mask;
                half[i] = (uint16_t)wide[i];
                byte[i] = (uint8_t)wide[i];
            }
            for (size_t item = width <= 8 ? 1 : width <= 16 ? 2 : 4; item <= 4; item *= 2) {
                tn_buf_reset(&out);
                tn_encode_hybrid(&out,
                                 item == 1   ? (const void *)byte
                                 : item == 2 ? (const void *)half
                                             : wide,
                                 item, n, width);
                assert_ok(cx, tn_buf_check(cx, &out));
                tn_decode_rle_init(&decoder, out.data, out.len, 0, width);
                assert_ok(cx, tn_decode_rle_u32(cx, &decoder, back, n));
                assert_memory_equal(back, wide, n * 4);
            }
        }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void check_back(tarn_cx *cx, const tn_leaf *leaf, int32_t encoding, const tn_buf *out,
                       const void *values, size_t n)
{
    tn_value_decoder decoder = {0};
    tn_lease into = {0};
    const void *back;

    tn_decode_value_begin(&decoder, leaf, encoding, out->data, out->len, 0, NULL);
    assert_ok(cx, tn_decode_value_read(cx, &decoder, &into, n, &back));
    if (leaf->physical == TN_BYTE_ARRAY) {
        const tn_view *a = values, *b = back;

        for (size_t i = 0; i < n; i++) {
            assert_int_equal(a[i].len, b[i].len);
            if (a[i].len != 0)
                assert_memory_equal(a[i].ptr, b[i].ptr, a[i].len);
        }
    } else {
        assert_memory_equal(back, values, n * tn_leaf_width(leaf));
    }
    tn_decode_value_clear(&decoder);
    tn_lease_clear(&into);
}

/* All lengths around the blocks' edges, all widths of deltas, wrap-around included. */
static void test_encode__delta_comes_back(void **state)
{
    enum { MAX = 400 };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_leaf narrow = {.physical = TN_INT32}, wide = {.physical = TN_INT64};
    uint64_t seed = 6;
    int32_t v32[MAX];
    int64_t v64[MAX];
    tn_buf out = {0};

    (void)state;
    for (unsigned width = 0; width <= 64; width++)
        for (int round = 0; round < 12; round++) {
            static const size_t lengths[] = {1, 2, 32, 33, 128, 129, 130, 257, 258, 400};
            size_t n = round < 10 ? lengths[round] : 1 + random_next(&seed) % MAX;

            for (size_t i = 0; i < n; i++) {
                uint64_t r = width == 0 ? 0 : random_next(&seed) >> (64 - width);

                v64[i] = (int64_t)(random_next(&seed) % 2 ? r : 0 - r);
                v32[i] = (int32_t)v64[i];
            }
            tn_buf_reset(&out);
            tn_encode_delta64(&out, v64, n);
            check_back(cx, &wide, TN_ENC_DELTA_BINARY_PACKED, &out, v64, n);
            tn_buf_reset(&out);
            tn_encode_delta32(&out, v32, n);
            check_back(cx, &narrow, TN_ENC_DELTA_BINARY_PACKED, &out, v32, n);
        }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void test_encode__strings_come_back(void **state)
{
    enum { MAX = 300 };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_leaf leaf = {.physical = TN_BYTE_ARRAY};
    uint64_t seed = 7;
    static uint8_t bytes[MAX * 40];
    tn_view views[MAX];
    tn_buf out = {0};

    (void)state;
    for (int round = 0; round < 100; round++) {
        size_t n = 1 + random_next(&seed) % MAX, at = 0;
        bool shared = round % 2;

        for (size_t i = 0; i < n; i++) {
            uint32_t len = (uint32_t)(random_next(&seed) % 40);

            for (uint32_t k = 0; k < len; k++)
                bytes[at + k] = (uint8_t)(shared && k < 12 ? 'x' : random_next(&seed));
            views[i] = (tn_view){len != 0 ? bytes + at : NULL, len};
            at += len;
        }
        tn_buf_reset(&out);
        tn_encode_plain(&out, &leaf, (tn_values){views, (int64_t)n});
        check_back(cx, &leaf, TN_ENC_PLAIN, &out, views, n);
        tn_buf_reset(&out);
        tn_encode_delta_length(&out, views, n);
        check_back(cx, &leaf, TN_ENC_DELTA_LENGTH_BYTE_ARRAY, &out, views, n);
        tn_buf_reset(&out);
        tn_encode_delta_bytes(&out, views, n);
        check_back(cx, &leaf, TN_ENC_DELTA_BYTE_ARRAY, &out, views, n);
    }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void test_encode__split_comes_back(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_leaf leaves[] = {
        {.physical = TN_FLOAT}, {.physical = TN_DOUBLE}, {.physical = TN_FIXED, .type_length = 5}};
    static uint8_t bytes[700 * 8];
    uint64_t seed = 8;
    tn_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_next(&seed);
    for (size_t k = 0; k < 3; k++)
        for (size_t n = 1; n <= 700; n += 37) {
            tn_buf_reset(&out);
            tn_encode_split(&out, bytes, n, tn_leaf_width(&leaves[k]));
            check_back(cx, &leaves[k], TN_ENC_BYTE_STREAM_SPLIT, &out, bytes, n);
        }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}
