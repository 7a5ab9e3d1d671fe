/* Reference encoders for tests: short and slow, written from docs/format/parquet-encodings.md and
 * sharing nothing with the library's own. They draw on a generator to use every freedom the format
 * leaves. */
#ifndef TN_TEST_ENCODERS_H
#define TN_TEST_ENCODERS_H

#include "unit/test.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "codec/parquet/leaf.h"
#include "codec/parquet/meta.h"

typedef struct test_rng {
    uint64_t state;
} test_rng;

static inline uint64_t test_random(test_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline size_t test_below(test_rng *rng, size_t n)
{
    return n == 0 ? 0 : test_random(rng) % n;
}

/* Bits one by one, lowest first. */
typedef struct bit_sink {
    tn_buf *out;
    unsigned used; /* of the last byte */
} bit_sink;

static inline void put_bits(bit_sink *sink, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        if (sink->used == 0)
            tn_buf_u8(sink->out, 0);
        sink->out->data[sink->out->len - 1] |= (uint8_t)((value >> i & 1) << sink->used);
        sink->used = (sink->used + 1) % 8;
    }
}

/* Runs of either kind, at random; the last packed run is padded. */
static inline void encode_hybrid(tn_buf *out, test_rng *rng, const uint32_t *values, size_t n,
                                 unsigned width)
{
    for (size_t i = 0; i < n;) {
        size_t same = 1;

        while (i + same < n && values[i + same] == values[i])
            same++;
        if (same >= 4 && test_below(rng, 4) != 0) {
            size_t count = test_below(rng, 3) == 0 ? 1 + test_below(rng, same) : same;

            tn_buf_varint(out, count << 1);
            tn_buf_add(out, &values[i], (width + 7) / 8);
            i += count;
        } else {
            size_t groups = 1 + test_below(rng, 5);
            bit_sink sink = {out, 0};

            if (groups * 8 > n - i)
                groups = (n - i + 7) / 8;
            tn_buf_varint(out, groups << 1 | 1);
            for (size_t k = 0; k < groups * 8; k++, i++)
                put_bits(&sink, i < n ? values[i] : 0, width);
        }
        if (test_below(rng, 50) == 0) /* an empty run */
            tn_buf_varint(out, 1);
    }
}

static inline void encode_msb_first(tn_buf *out, const uint32_t *values, size_t n, unsigned width)
{
    unsigned used = 0;

    for (size_t i = 0; i < n; i++) {
        for (unsigned k = width; k-- != 0;) {
            if (used == 0)
                tn_buf_u8(out, 0);
            out->data[out->len - 1] |= (uint8_t)((values[i] >> k & 1) << (7 - used));
            used = (used + 1) % 8;
        }
    }
}

static inline unsigned width_of(uint64_t most)
{
    unsigned width = 0;

    while (width < 64 && most >> width != 0)
        width++;
    return width;
}

/* `narrow`: sums wrap at 32 bits, as for INT32. */
static inline void encode_delta(tn_buf *out, test_rng *rng, const int64_t *values, size_t n,
                                bool narrow)
{
    size_t minis = (size_t)1 << test_below(rng, 3),
           size = 32 * (1 + test_below(rng, 2)) * 4 / minis;
    uint64_t mask = narrow ? UINT32_MAX : UINT64_MAX;
    size_t at = 1;

    if (size % 32 != 0)
        size = 32 * ((size + 31) / 32);
    while (minis * size % 128 != 0)
        size += 32;
    tn_buf_varint(out, minis * size);
    tn_buf_varint(out, minis);
    tn_buf_varint(out, n);
    tn_buf_varint(out, tn_unzigzag(n != 0 ? values[0] : 0));
    while (at < n) {
        size_t in_block = n - at < minis * size ? n - at : minis * size, widths;
        int64_t least = INT64_MAX;

        for (size_t i = 0; i < in_block; i++) {
            uint64_t wide = (uint64_t)values[at + i] - (uint64_t)values[at + i - 1];
            int64_t delta = narrow ? (int32_t)wide : (int64_t)wide;

            least = delta < least ? delta : least;
        }
        tn_buf_varint(out, tn_unzigzag(least));
        widths = out->len;
        for (size_t m = 0; m < minis; m++)
            tn_buf_u8(out, (uint8_t)test_random(rng)); /* of no meaning unless set below */
        for (size_t m = 0; m * size < in_block; m++) {
            bit_sink sink = {out, 0};
            uint64_t most = 0, rest[512] = {0};

            assert_true(size <= 512);
            for (size_t i = 0; i < size && m * size + i < in_block; i++) {
                size_t k = at + m * size + i;

                rest[i] = ((uint64_t)values[k] - (uint64_t)values[k - 1] - (uint64_t)least) & mask;
                most |= rest[i];
            }
            out->data[widths + m] = (uint8_t)width_of(most);
            for (size_t i = 0; i < size; i++)
                put_bits(&sink, rest[i], width_of(most));
        }
        at += in_block;
    }
}

static inline void encode_delta_length(tn_buf *out, test_rng *rng, const tn_view *values, size_t n)
{
    int64_t *lens = calloc(n + 1, sizeof *lens);

    for (size_t i = 0; i < n; i++)
        lens[i] = values[i].len;
    encode_delta(out, rng, lens, n, true);
    for (size_t i = 0; i < n; i++)
        tn_buf_add(out, values[i].ptr, values[i].len);
    free(lens);
}

static inline void encode_delta_bytes(tn_buf *out, test_rng *rng, const tn_view *values, size_t n)
{
    int64_t *shared = calloc(n + 1, sizeof *shared);
    tn_view *rest = calloc(n + 1, sizeof *rest);

    for (size_t i = 0; i < n; i++) {
        size_t most = i == 0                              ? 0
                      : values[i].len < values[i - 1].len ? values[i].len
                                                          : values[i - 1].len;
        size_t k = 0;

        while (k < most && values[i].ptr[k] == values[i - 1].ptr[k])
            k++;
        if (test_below(rng, 4) == 0)
            k = test_below(rng, k + 1); /* a shorter prefix is allowed */
        shared[i] = (int64_t)k;
        rest[i] = (tn_view){values[i].ptr + k, values[i].len - (uint32_t)k};
    }
    encode_delta(out, rng, shared, n, true);
    encode_delta_length(out, rng, rest, n);
    free(shared);
    free(rest);
}

/* Values as tn_values has them, in any encoding but the dictionary ones. */
static inline void encode_values(tn_buf *out, test_rng *rng, const tn_leaf *leaf, int encoding,
                                 const void *data, size_t n)
{
    size_t width = tn_leaf_width(leaf);
    const uint8_t *bytes = data;
    tn_view *views = calloc(n + 1, sizeof *views);
    int64_t *numbers = calloc(n + 1, sizeof *numbers);
    uint32_t *bits = calloc(n + 1, sizeof *bits);

    for (size_t i = 0; i < n; i++) {
        views[i] = leaf->physical == TN_BYTE_ARRAY ? ((const tn_view *)data)[i]
                                                   : (tn_view){bytes + i * width, (uint32_t)width};
        numbers[i] = leaf->physical == TN_INT32   ? ((const int32_t *)data)[i]
                     : leaf->physical == TN_INT64 ? ((const int64_t *)data)[i]
                                                  : 0;
        bits[i] = leaf->physical == TN_BOOLEAN ? bytes[i] : 0;
    }
    if (encoding == TN_ENC_PLAIN && leaf->physical == TN_BOOLEAN) {
        bit_sink sink = {out, 0};

        for (size_t i = 0; i < n; i++)
            put_bits(&sink, bits[i], 1);
    } else if (encoding == TN_ENC_PLAIN) {
        for (size_t i = 0; i < n; i++) {
            if (leaf->physical == TN_BYTE_ARRAY)
                tn_buf_u32le(out, views[i].len);
            tn_buf_add(out, views[i].ptr, views[i].len);
        }
    } else if (encoding == TN_ENC_RLE) {
        tn_buf runs = {0};

        encode_hybrid(&runs, rng, bits, n, 1);
        tn_buf_u32le(out, (uint32_t)runs.len);
        tn_buf_str(out, tn_buf_view(&runs));
        tn_buf_clear(&runs);
    } else if (encoding == TN_ENC_DELTA_BINARY_PACKED) {
        encode_delta(out, rng, numbers, n, leaf->physical == TN_INT32);
    } else if (encoding == TN_ENC_DELTA_LENGTH_BYTE_ARRAY) {
        encode_delta_length(out, rng, views, n);
    } else if (encoding == TN_ENC_DELTA_BYTE_ARRAY) {
        encode_delta_bytes(out, rng, views, n);
    } else {
        assert_int_equal(encoding, TN_ENC_BYTE_STREAM_SPLIT);
        for (size_t k = 0; k < width; k++) {
            for (size_t i = 0; i < n; i++)
                tn_buf_u8(out, bytes[i * width + k]);
        }
    }
    free(views);
    free(numbers);
    free(bits);
}

/* The encodings other than dictionary that a type can have; -1 ends. */
static inline const int *encodings_of(enum tn_physical physical)
{
    static const int booleans[] = {TN_ENC_PLAIN, TN_ENC_RLE, -1};
    static const int integers[] = {TN_ENC_PLAIN, TN_ENC_DELTA_BINARY_PACKED,
                                   TN_ENC_BYTE_STREAM_SPLIT, -1};
    static const int floats[] = {TN_ENC_PLAIN, TN_ENC_BYTE_STREAM_SPLIT, -1};
    static const int strings[] = {TN_ENC_PLAIN, TN_ENC_DELTA_LENGTH_BYTE_ARRAY,
                                  TN_ENC_DELTA_BYTE_ARRAY, -1};
    static const int fixed[] = {TN_ENC_PLAIN, TN_ENC_DELTA_BYTE_ARRAY, TN_ENC_BYTE_STREAM_SPLIT,
                                -1};
    static const int moments[] = {TN_ENC_PLAIN, -1};

    switch (physical) {
    case TN_BOOLEAN:
        return booleans;
    case TN_INT32:
    case TN_INT64:
        return integers;
    case TN_FLOAT:
    case TN_DOUBLE:
        return floats;
    case TN_BYTE_ARRAY:
        return strings;
    case TN_FIXED:
        return fixed;
    default:
        return moments;
    }
}

/* Random values of a leaf: data as tn_values has them, bytes of views in `store`, which must not
 * move afterwards. The caller frees. `spread`: how many distinct ones about (0: any). */
static inline void *make_values(test_rng *rng, const tn_leaf *leaf, size_t n, size_t spread,
                                uint8_t **store)
{
    size_t width = tn_leaf_width(leaf), used = 0;
    uint8_t *data = calloc(n + 1, width);

    *store = malloc(n * 24 + 1);
    for (size_t i = 0; i < n; i++) {
        test_rng one = {spread != 0 ? test_below(rng, spread) * 77 : test_random(rng)};

        if (leaf->physical == TN_BOOLEAN) {
            data[i] = (uint8_t)(test_random(&one) & 1);
        } else if (leaf->physical == TN_BYTE_ARRAY) {
            uint32_t len = (uint32_t)test_below(&one, 24);

            for (uint32_t k = 0; k < len; k++) /* few letters, so that prefixes are shared */
                (*store)[used + k] = (uint8_t)('a' + (k < len / 2 ? 0 : test_below(&one, 3)));
            ((tn_view *)(void *)data)[i] = (tn_view){*store + used, len};
            used += len;
        } else {
            uint64_t bits = test_random(&one) >> test_below(&one, 64);

            for (size_t k = 0; k < width; k++)
                data[i * width + k] = k < 8 ? (uint8_t)(bits >> 8 * k) : (uint8_t)test_random(&one);
        }
    }
    return data;
}

static inline bool values_equal(const tn_leaf *leaf, const void *a, size_t i, const void *b,
                                size_t k)
{
    size_t width = tn_leaf_width(leaf);

    if (leaf->physical == TN_BYTE_ARRAY) {
        const tn_view *left = (const tn_view *)a + i, *right = (const tn_view *)b + k;

        return left->len == right->len &&
               (left->len == 0 || memcmp(left->ptr, right->ptr, left->len) == 0);
    }
    return memcmp((const uint8_t *)a + i * width, (const uint8_t *)b + k * width, width) == 0;
}

#endif
