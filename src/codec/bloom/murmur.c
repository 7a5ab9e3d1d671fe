/* Hadoop's MurmurHash (org.apache.hadoop.util.hash.MurmurHash, as Hudi carries it), chained:
 * hash 0 has seed 0, each later one the hash before it as its seed.
 *
 *     h = seed ^ len
 *     for each whole 4-byte word k, little-endian: k *= M; k ^= k >> 24; k *= M; h = h * M ^ k
 *     of the 1 to 3 bytes left, each sign-extended: h ^= tail; h *= M
 *     h ^= h >> 13; h *= M; h ^= h >> 15
 *
 * I1: the tail differs from the textbook's Murmur2: its bytes are sign-extended, and the last byte
 *     of the key is the lowest (data[len - 3] << 16, data[len - 2] << 8, data[len - 1]).
 * I2: what is done to the words of the key does not depend on the seed. It is done once per key;
 *     each further hash of the chain costs one multiplication a word.
 * I3: the remainder by way of doubles is exact: a quotient of 31 bits is wrong by at most one, and
 *     only next to a whole number; the two corrections see to that. */
#include "codec/bloom/murmur.h"

#include <assert.h>
#include <string.h>

#include "base/clones.h"

#define M          0x5bd1e995u
#define WIDTH      8
#define VECTORS    (TN_MURMUR_LANES / WIDTH)
#define WORDS_MAX  (TN_MURMUR_BYTES_MAX / 4)
#define TAIL_SHIFT 24

typedef uint32_t u32x8 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef double f64x4 __attribute__((vector_size(32)));

static uint32_t scramble(uint32_t k)
{
    k *= M;
    k ^= k >> TAIL_SHIFT;
    return k * M;
}

static uint32_t word_of(const uint8_t *key)
{
    uint32_t word;

    memcpy(&word, key, sizeof word);
    return word;
}

/* What the bytes after the last whole word are xored with; 0 where there are none. */
static uint32_t tail_of(const uint8_t *key, size_t len)
{
    size_t left = len % 4;
    uint32_t tail = 0;

    if (left >= 3)
        tail ^= (uint32_t)(int32_t)(int8_t)key[len - 3] << 16;
    if (left >= 2)
        tail ^= (uint32_t)(int32_t)(int8_t)key[len - 2] << 8;
    if (left >= 1)
        tail ^= (uint32_t)(int32_t)(int8_t)key[len - 1];
    return tail;
}

int32_t tn_murmur(const uint8_t *key, size_t len, int32_t seed)
{
    uint32_t h = (uint32_t)seed ^ (uint32_t)len;

    for (size_t i = 0; i + 4 <= len; i += 4)
        h = h * M ^ scramble(word_of(key + i));
    if (len % 4 != 0)
        h = (h ^ tail_of(key, len)) * M;
    h ^= h >> 13;
    h *= M;
    h ^= h >> 15;
    return (int32_t)h;
}

/* The keys side by side: word w of lane l is words[w][l]. */
typedef struct lanes {
    union {
        uint32_t one[WORDS_MAX + 1][TN_MURMUR_LANES];
        u32x8 vector[WORDS_MAX + 1][VECTORS];
    } words;
    size_t count;
} lanes;

static inline __attribute__((always_inline)) void lanes_fill(lanes *in, const uint8_t *const *keys,
                                                             size_t len)
{
    in->count = len / 4;
    for (size_t l = 0; l < TN_MURMUR_LANES; l++) {
        for (size_t w = 0; w < in->count; w++)
            in->words.one[w][l] = word_of(keys[l] + 4 * w);
        in->words.one[in->count][l] = tail_of(keys[l], len);
    }
    for (size_t w = 0; w < in->count; w++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++) {
            u32x8 k = in->words.vector[w][v] * M;

            in->words.vector[w][v] = (k ^ (k >> TAIL_SHIFT)) * M;
        }
}

/* The next hash of every chain: `h` holds the seeds. */
static inline __attribute__((always_inline)) void lanes_hash(const lanes *in, size_t len, u32x8 *h)
{
#pragma GCC unroll 4
    for (size_t v = 0; v < VECTORS; v++)
        h[v] ^= (uint32_t)len;
    for (size_t w = 0; w < in->count; w++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            h[v] = h[v] * M ^ in->words.vector[w][v];
    if (len % 4 != 0)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            h[v] = (h[v] ^ in->words.vector[in->count][v]) * M;
#pragma GCC unroll 4
    for (size_t v = 0; v < VECTORS; v++) {
        h[v] ^= h[v] >> 13;
        h[v] *= M;
        h[v] ^= h[v] >> 15;
    }
}

/* |h % bits| of each lane (I3); `inverse` is 1 / bits. */
static inline __attribute__((always_inline)) void lanes_bit(const u32x8 *h, uint32_t bits,
                                                            double inverse, u32x8 *out)
{
    i32x8 hash = (i32x8)*h, sign = hash >> 31, left;
    union {
        i32x8 whole;
        i32x4 half[2];
    } q = {hash};

    for (size_t i = 0; i < 2; i++)
        q.half[i] =
            __builtin_convertvector(__builtin_convertvector(q.half[i], f64x4) * inverse, i32x4);
    left = (i32x8)((u32x8)hash - (u32x8)q.whole * bits);
    left = (i32x8)((u32x8)(left ^ sign) - (u32x8)sign);
    left = (i32x8)((u32x8)left + ((u32x8)(left < 0) & bits));
    *out = (u32x8)left - ((u32x8)(left >= (int32_t)bits) & bits);
}

/* Static: of a shared one GCC exports the clones' resolver from the library. */
TN_CLONES static void set_bits(const uint8_t *const *keys, size_t len, uint32_t hashes,
                               uint32_t bits, uint32_t *words)
{
    double inverse = 1.0 / (double)bits;
    u32x8 h[VECTORS] = {{0}};
    union {
        u32x8 vector[VECTORS];
        uint32_t one[TN_MURMUR_LANES];
    } at, mask;
    lanes in;

    lanes_fill(&in, keys, len);
    for (uint32_t round = 0; round < hashes; round++) {
        lanes_hash(&in, len, h);
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++) {
            u32x8 bit;

            lanes_bit(&h[v], bits, inverse, &bit);
            at.vector[v] = bit >> 5;
            mask.vector[v] = 1u << (bit & 31);
        }
#pragma GCC unroll 8
        for (size_t l = 0; l < TN_MURMUR_LANES; l++)
            words[at.one[l]] |= mask.one[l];
    }
}

void tn_murmur_set(const uint8_t *const *keys, size_t len, uint32_t hashes, uint32_t bits,
                   uint32_t *words)
{
    assert(len <= TN_MURMUR_BYTES_MAX);
    set_bits(keys, len, hashes, bits, words);
}
