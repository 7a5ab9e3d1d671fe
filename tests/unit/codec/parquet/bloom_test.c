/* Bloom filters: bytes by hand, no false negatives, about the errors asked for. */
#include <math.h>

#include "unit/test.h"

#include "base/cursor.h"
#include "codec/parquet/bloom.h"

static void test_bloom__bytes_of_hash_zero(void **state)
{
    uint8_t blocks[32] = {0};
    static const uint8_t want[32] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
                                     1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};

    (void)state;
    tn_bloom_insert(blocks, sizeof blocks, 0);
    assert_memory_equal(blocks, want, sizeof want);
}

/* XXH64 with seed 0 as published for these inputs. */
static void test_bloom__hash_is_xxh64(void **state)
{
    (void)state;
    assert_true(tn_bloom_hash("", 0) == 0xEF46DB3751D8E999u);
    assert_true(tn_bloom_hash("a", 1) == 0xD24EC4F1A98C6E5Bu);
    assert_true(tn_bloom_hash("abc", 3) == 0x44BC2CF5AD770999u);
}

static void test_bloom__finds_all_and_errs_rarely(void **state)
{
    size_t len = tn_bloom_size(10000, 0.01);
    uint8_t *blocks = calloc(1, len);
    tn_str view = {(const char *)blocks, len};
    size_t wrong = 0;

    (void)state;
    assert_non_null(blocks);
    for (int64_t i = 0; i < 10000; i++)
        tn_bloom_insert(blocks, len, tn_bloom_hash(&i, sizeof i));
    for (int64_t i = 0; i < 10000; i++)
        assert_true(tn_bloom_query(view, tn_bloom_hash(&i, sizeof i)));
    for (int64_t i = 10000; i < 60000; i++)
        wrong += tn_bloom_query(view, tn_bloom_hash(&i, sizeof i));
    assert_true(wrong < 50000 / 100);
    free(blocks);
}

static void test_bloom__sizes(void **state)
{
    static const struct {
        uint64_t distinct;
        double fpp;
        size_t want;
    } cases[] = {{0, 0.01, 32},
                 {1, 0.01, 32},
                 {1000000, 0.01, 2097152},
                 {1000000, 0.1, 1048576},
                 {UINT64_MAX, 0.001, TN_PARQUET_BLOOM_BYTES_MAX},
                 {1000, 0.0, 2048},
                 {1000, 2.0, 2048}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tn_bloom_size(cases[i].distinct, cases[i].fpp), cases[i].want);
}

static void test_bloom__values_hash_as_plain(void **state)
{
    tn_view views[] = {{(const uint8_t *)"abc", 3}, {(const uint8_t *)"", 0}};
    tn_leaf text = {.physical = TN_BYTE_ARRAY};
    tn_leaf fixed = {.physical = TN_FIXED, .type_length = 2};
    uint8_t blocks[64] = {0};
    tn_str view = {(const char *)blocks, sizeof blocks};

    (void)state;
    tn_bloom_insert_values(blocks, sizeof blocks, &text, &(tn_values){views, 2});
    assert_true(tn_bloom_query(view, 0x44BC2CF5AD770999u));
    assert_true(tn_bloom_query(view, 0xEF46DB3751D8E999u));
    memset(blocks, 0, sizeof blocks);
    tn_bloom_insert_values(blocks, sizeof blocks, &fixed, &(tn_values){"abcd", 2});
    assert_true(tn_bloom_query(view, tn_bloom_hash("ab", 2)));
    assert_true(tn_bloom_query(view, tn_bloom_hash("cd", 2)));
    assert_false(tn_bloom_query(view, tn_bloom_hash("zz", 2)));
}

static void test_bloom__merged_filters_hold_both_and_tell_how_full_they_are(void **state)
{
    enum { LEN = 1024 };
    uint8_t one[LEN] = {0}, two[LEN] = {0}, full[LEN];
    tn_str other = {(const char *)two, LEN};
    double empty = tn_bloom_fpp((tn_str){(const char *)one, LEN}), before;

    (void)state;
    memset(full, 0xff, LEN);
    assert_true(empty <= 0);
    assert_true(tn_bloom_fpp((tn_str){(const char *)full, LEN}) >= 1);
    for (uint64_t i = 0; i < 400; i++) {
        tn_bloom_insert(one, LEN, tn_bloom_hash(&i, sizeof i));
        i += 1000;
        tn_bloom_insert(two, LEN, tn_bloom_hash(&i, sizeof i));
        i -= 1000;
    }
    before = tn_bloom_fpp((tn_str){(const char *)one, LEN});
    tn_bloom_merge(one, other);
    assert_true(tn_bloom_fpp((tn_str){(const char *)one, LEN}) > before);
    for (uint64_t i = 0; i < 1400; i++)
        if (i < 400 || i >= 1000)
            assert_true(
                tn_bloom_query((tn_str){(const char *)one, LEN}, tn_bloom_hash(&i, sizeof i)));
    {
        int perhaps = 0;

        for (uint64_t i = 10000; i < 20000; i++)
            perhaps +=
                tn_bloom_query((tn_str){(const char *)one, LEN}, tn_bloom_hash(&i, sizeof i));
        /* What the bits say is what queries meet. */
        assert_true(fabs(perhaps / 10000.0 - tn_bloom_fpp((tn_str){(const char *)one, LEN})) <
                    0.02);
    }
}

static void test_bloom__distinct_hashes(void **state)
{
    uint64_t hashes[] = {5, 1, UINT64_MAX, 5, 1, 0, 5};

    (void)state;
    assert_int_equal(tn_bloom_distinct(hashes, 7), 4);
    assert_true(hashes[0] == 0 && hashes[1] == 1 && hashes[2] == 5 && hashes[3] == UINT64_MAX);
    assert_int_equal(tn_bloom_distinct(hashes, 0), 0);
}
