#include "codec/bloom/murmur.h"

#include "base/str.h"
#include "unit/test.h"

static const struct hash_case {
    const char *key;
    int32_t want[3];
    uint32_t bits[3]; /* of 2587966; 0: not told */
} hashes[] = {
    {"1", {1228156847, 121740187, -1145070053}, {1460963, 105785, 1189081}},
    {"TXN-001", {-1349093075, 2127899483, -1078487205}, {0}},
    {"id:1,name:Alice", {71696166, -668954923, 1663732500}, {0}},
    {"\xc3\xa9", {-384040333, 1849032984, 249031250}, {0}},
};

static void test_murmur__chains_as_hadoop_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
        const struct hash_case *c = &hashes[i];
        int32_t hash = 0;

        for (size_t k = 0; k < 3; k++) {
            hash = tn_murmur((const uint8_t *)c->key, strlen(c->key), hash);
            if (hash != c->want[k])
                fail_msg("%s: hash %zu is %d", c->key, k, hash);
            if (c->bits[k] != 0)
                assert_int_equal(tn_murmur_bit(hash, 2587966), c->bits[k]);
        }
    }
}

static void test_murmur__takes_the_remainder_as_java_does(void **state)
{
    (void)state;
    assert_int_equal(tn_murmur_bit(INT32_MIN, INT32_MAX), 1);
    assert_int_equal(tn_murmur_bit(INT32_MIN, 3), 2);
    assert_int_equal(tn_murmur_bit(-7, 7), 0);
    assert_int_equal(tn_murmur_bit(INT32_MAX, 1), 0);
}

/* The same bits as one key at a time, of every length and of sizes at both ends. */
static void check_lanes(size_t len, uint32_t bits, uint32_t count)
{
    size_t words = ((size_t)bits + 31) / 32;
    uint32_t *got = calloc(words, 4), *want = calloc(words, 4);
    uint8_t bytes[TN_MURMUR_LANES][TN_MURMUR_BYTES_MAX];
    const uint8_t *keys[TN_MURMUR_LANES];
    uint64_t state = len * 977 + bits;

    for (size_t l = 0; l < TN_MURMUR_LANES; l++) {
        int32_t hash = 0;

        keys[l] = bytes[l];
        for (size_t i = 0; i < len; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[l][i] = (uint8_t)(state >> 56);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bit;

            hash = tn_murmur(keys[l], len, hash);
            bit = tn_murmur_bit(hash, bits);
            want[bit / 32] |= 1u << (bit % 32);
        }
    }
    tn_murmur_set(keys, len, count, bits, got);
    if (memcmp(got, want, words * 4) != 0)
        fail_msg("keys of %zu bytes, %u bits: other bits than one by one", len, bits);
    free(got);
    free(want);
}

static void test_murmur__many_at_once_are_as_one_by_one(void **state)
{
    static const uint32_t bits[] = {1, 2, 3, 7, 31, 32, 33, 640, 65536, 2587966};

    (void)state;
    for (size_t len = 0; len <= TN_MURMUR_BYTES_MAX; len++)
        for (size_t b = 0; b + 1 < sizeof bits / sizeof bits[0]; b++)
            check_lanes(len, bits[b], 30);
    check_lanes(36, 2587966, 2000);
    check_lanes(5, (1u << 30) + 7, 500);
}
