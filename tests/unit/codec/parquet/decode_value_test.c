/* Every decoder against reference encoders: random values, read and passed over in random pieces;
 * cut at every byte; with every byte changed. */
#include "unit/codec/parquet/encoders.h"

#include "codec/parquet/decode_level.h"
#include "codec/parquet/decode_value.h"

static const struct {
    enum tn_physical physical;
    uint32_t type_length;
} types[] = {{TN_BOOLEAN, 0}, {TN_INT32, 0},  {TN_INT64, 0},      {TN_INT96, 0},
             {TN_FLOAT, 0},   {TN_DOUBLE, 0}, {TN_BYTE_ARRAY, 0}, {TN_FIXED, 2},
             {TN_FIXED, 4},   {TN_FIXED, 8},  {TN_FIXED, 16},     {TN_FIXED, 5}};

typedef struct sample {
    tn_leaf leaf;
    int encoding;
    uint8_t *data, *store;
    size_t n;
    tn_buf bytes;
} sample;

/* A copy that ends exactly with the bytes, so that a sanitizer sees every read past them. */
static uint8_t *exact(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len != 0 ? len : 1);

    if (len != 0)
        memcpy(copy, bytes, len);
    return copy;
}

/* Decodes in random pieces; TARN_OK only when all n values were given, and then they are compared
 * unless `damaged`. */
static int decode(tarn_cx *cx, const sample *s, test_rng *rng, const uint8_t *bytes, size_t len,
                  bool damaged)
{
    tn_value_decoder decoder = {0};
    tn_lease room = {0};
    int rc = TARN_OK;

    tn_decode_value_begin(&decoder, &s->leaf, s->encoding, bytes, len, 0, NULL);
    for (size_t at = 0; at < s->n;) {
        size_t n = 1 + test_below(rng, test_below(rng, 3) == 0 ? 500 : 9);
        const void *values;

        n = n < s->n - at ? n : s->n - at;
        if (test_below(rng, 3) == 0) {
            tn_decode_value_skip(&decoder, n);
            at += n;
            continue;
        }
        if (test_below(rng, 2) == 0)
            TN_TRY(tn_decode_value_fit(cx, &decoder, 1 + test_below(rng, 100), &n));
        if (n > 1 && test_below(rng, 4) == 0)
            n--; /* fewer than what was planned */
        TN_TRY(tn_decode_value_read(cx, &decoder, &room, n, &values));
        for (size_t i = 0; i < n && !damaged; i++)
            assert_true(values_equal(&s->leaf, values, i, s->data, at + i));
        at += n;
    }
done:
    tn_decode_value_clear(&decoder);
    tn_lease_clear(&room);
    return rc;
}

static void make_sample(sample *s, test_rng *rng, size_t type, int encoding, size_t n)
{
    *s = (sample){.encoding = encoding, .n = n};
    s->leaf.physical = types[type].physical;
    s->leaf.type_length = types[type].type_length;
    s->data = make_values(rng, &s->leaf, n, test_below(rng, 3) == 0 ? 1 + test_below(rng, 20) : 0,
                          &s->store);
    encode_values(&s->bytes, rng, &s->leaf, encoding, s->data, n);
}

static void clear_sample(sample *s)
{
    tn_buf_clear(&s->bytes);
    free(s->data);
    free(s->store);
}

static void test_decode_value__gives_what_was_encoded(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    test_rng rng = {1};

    (void)state;
    for (size_t type = 0; type < sizeof types / sizeof types[0]; type++) {
        for (const int *encoding = encodings_of(types[type].physical); *encoding >= 0; encoding++) {
            for (int round = 0; round < 40; round++) {
                sample s;
                uint8_t *bytes;

                make_sample(&s, &rng, type, *encoding, test_below(&rng, round < 20 ? 40 : 1500));
                bytes = exact(s.bytes.data, s.bytes.len);
                assert_ok(cx, decode(cx, &s, &rng, bytes, s.bytes.len, false));
                free(bytes);
                clear_sample(&s);
            }
        }
    }
    tarn_cx_close(cx);
}

static void test_decode_value__damage_ends_in_a_status(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 16 << 20});
    test_rng rng = {2};

    (void)state;
    for (size_t type = 0; type < sizeof types / sizeof types[0]; type++) {
        for (const int *encoding = encodings_of(types[type].physical); *encoding >= 0; encoding++) {
            sample s;
            size_t cut = 0;

            make_sample(&s, &rng, type, *encoding, 150);
            for (size_t len = 0; len < s.bytes.len; len++) {
                uint8_t *bytes = exact(s.bytes.data, len);
                int rc = decode(cx, &s, &rng, bytes, len, *encoding == TN_ENC_BYTE_STREAM_SPLIT);

                assert_true(rc == TARN_OK || strstr(tarn_cx_error(cx), "byte ") != NULL);
                cut += rc != TARN_OK;
                if (len != 0) {
                    bytes[len - 1] ^= (uint8_t)(1 + test_below(&rng, 255));
                    decode(cx, &s, &rng, bytes, len, true);
                }
                free(bytes);
            }
            for (size_t at = 0; at < s.bytes.len; at++) {
                uint8_t *bytes = exact(s.bytes.data, s.bytes.len);

                bytes[at] ^= (uint8_t)(1 + test_below(&rng, 255));
                decode(cx, &s, &rng, bytes, s.bytes.len, true);
                free(bytes);
            }
            assert_true(cut > s.bytes.len / 4); /* the last values are passed over at times */
            clear_sample(&s);
        }
    }
    tarn_cx_close(cx);
}

static void test_decode_value__hybrid_of_every_width(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    test_rng rng = {3};

    (void)state;
    for (unsigned width = 0; width <= 32; width++) {
        for (int round = 0; round < 30; round++) {
            uint32_t values[700], got[700];
            size_t n = 1 + test_below(&rng, 700);
            uint32_t mask = width == 0 ? 0 : UINT32_MAX >> (32 - width);
            tn_buf out = {0};
            tn_rle_decoder decoder;
            uint8_t *bytes;

            for (size_t i = 0; i < n; i++)
                values[i] = i != 0 && test_below(&rng, 20) != 0 && round % 2 == 0
                                ? values[i - 1]
                                : (uint32_t)test_random(&rng) & mask;
            if (width != 0)
                encode_hybrid(&out, &rng, values, n, width);
            bytes = exact(out.data, out.len);
            tn_decode_rle_init(&decoder, bytes, out.len, 0, width);
            for (size_t at = 0; at < n;) {
                size_t some = 1 + test_below(&rng, 90);

                some = some < n - at ? some : n - at;
                if (test_below(&rng, 3) == 0) {
                    assert_ok(cx, tn_decode_rle_skip(cx, &decoder, some));
                } else {
                    assert_ok(cx, tn_decode_rle_u32(cx, &decoder, got, some));
                    assert_memory_equal(got, values + at, some * sizeof *got);
                }
                at += some;
            }
            tn_decode_rle_init(&decoder, bytes, out.len, 0, width);
            assert_ok(cx, tn_decode_rle_u32(cx, &decoder, got, n));
            assert_memory_equal(got, values, n * sizeof *got);
            free(bytes);
            tn_buf_clear(&out);
        }
    }
    tarn_cx_close(cx);
}

static void test_decode_value__large_jumps_wrap(void **state)
{
    static const int64_t values[] = {
        INT64_MIN,           INT64_MAX,           INT64_MIN, 1468797175083351616,
        1468797175804941300, 1468797178324785080, 0,         -1};
    tarn_cx *cx = tarn_cx_open(NULL);
    test_rng rng = {4};

    (void)state;
    for (int round = 0; round < 10; round++) {
        tn_buf out = {0};
        tn_delta_decoder decoder;
        int64_t got[8];

        encode_delta(&out, &rng, values, 8, false);
        assert_ok(cx, tn_decode_delta_init(cx, &decoder, out.data, out.len, 0));
        assert_ok(cx, tn_decode_delta_i64(cx, &decoder, got, 8));
        assert_memory_equal(got, values, sizeof values);
        assert_fails(cx, TARN_E_CORRUPT, "fewer", tn_decode_delta_i64(cx, &decoder, got, 1));
        tn_buf_clear(&out);
    }
    tarn_cx_close(cx);
}

/* 50,000 equal strings need no bits each. */
static void test_decode_value__equal_strings_of_no_bits(void **state)
{
    enum { COUNT = 50000 };
    static tn_view values[COUNT];
    tarn_cx *cx = tarn_cx_open(NULL);
    test_rng rng = {5};
    sample s = {.leaf = {.physical = TN_BYTE_ARRAY}, .data = (uint8_t *)values, .n = COUNT};

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (tn_view){(const uint8_t *)"foo", 3};
    for (s.encoding = TN_ENC_DELTA_LENGTH_BYTE_ARRAY; s.encoding <= TN_ENC_DELTA_BYTE_ARRAY;
         s.encoding++) {
        encode_values(&s.bytes, &rng, &s.leaf, s.encoding, values, COUNT);
        assert_ok(cx, decode(cx, &s, &rng, s.bytes.data, s.bytes.len, false));
        tn_buf_clear(&s.bytes);
    }
    tarn_cx_close(cx);
}

static void test_decode_value__refusals(void **state)
{
    static const struct {
        enum tn_physical physical;
        int encoding;
        const char *bytes;
        size_t len, n;
        int status;
        const char *text;
    } cases[] = {
        {TN_INT32, TN_ENC_PLAIN, "\1\0\0", 3, 1, TARN_E_CORRUPT, "byte 100: 1 more"},
        {TN_BYTE_ARRAY, TN_ENC_PLAIN, "\5\0\0\0abcd", 8, 1, TARN_E_CORRUPT, "byte 100"},
        {TN_INT32, TN_ENC_RLE, "", 0, 1, TARN_E_CORRUPT, "INT32 values cannot be"},
        {TN_INT32, 11, "", 0, 1, TARN_E_UNSUPPORTED, "encoding 11"},
        {TN_INT32, 1, "", 0, 1, TARN_E_UNSUPPORTED, "encoding 1"},
        {TN_BOOLEAN, TN_ENC_RLE, "\xff\xff\xff\xff\0", 5, 1, TARN_E_CORRUPT, "byte 100"},
        {TN_BOOLEAN, TN_ENC_RLE, "\2\0\0\0\2\2", 6, 1, TARN_E_CORRUPT, "does not fit 1 bits"},
        {TN_INT32, TN_ENC_RLE_DICTIONARY, "\0", 1, 1, TARN_E_CORRUPT, "no dictionary"},
        {TN_FLOAT, TN_ENC_BYTE_STREAM_SPLIT, "abcde", 5, 1, TARN_E_CORRUPT, "whole number"},
        {TN_FLOAT, TN_ENC_BYTE_STREAM_SPLIT, "abcd", 4, 2, TARN_E_CORRUPT, "hold 1 values"},
        {TN_INT64, TN_ENC_DELTA_BINARY_PACKED, "\x80\1\3\5\2", 5, 1, TARN_E_CORRUPT, "miniblocks"},
        {TN_INT64, TN_ENC_DELTA_BINARY_PACKED, "\x40\1\5\2", 4, 1, TARN_E_CORRUPT, "of 128"},
        {TN_INT64, TN_ENC_DELTA_BINARY_PACKED, "\x80\1\4\5\2\0\x41\0\0\0", 10, 2, TARN_E_CORRUPT,
         "65 bits"},
        {TN_BYTE_ARRAY, TN_ENC_DELTA_BYTE_ARRAY, "\x80\1\4\1\2\x80\1\4\1\2a", 11, 1, TARN_E_CORRUPT,
         "a prefix of 1 bytes"},
        {TN_BYTE_ARRAY, TN_ENC_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\4\1\1", 5, 1, TARN_E_CORRUPT,
         "a value of -1 bytes"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_leaf leaf = {.physical = cases[i].physical};
        tn_value_decoder decoder = {0};
        tn_lease room = {0};
        const void *values;

        tn_decode_value_begin(&decoder, &leaf, cases[i].encoding, (const uint8_t *)cases[i].bytes,
                              cases[i].len, 100, NULL);
        assert_fails(cx, cases[i].status, cases[i].text,
                     tn_decode_value_read(cx, &decoder, &room, cases[i].n, &values));
        tn_decode_value_clear(&decoder);
        tn_lease_clear(&room);
    }
    tarn_cx_close(cx);
}
