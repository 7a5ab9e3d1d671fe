/* Split-block bloom filters.
 *
 *   a block    32 bytes: 8 words of 32 bits, little-endian
 *   a hash h   chooses block (h >> 32) * blocks >> 32, and in word i of it
 *              the bit (low32(h) * SALT[i] mod 2^32) >> 27
 *
 * Example: a filter of one block after inserting the hash 0 has bit 0 set in each word:
 * 01 00 00 00 eight times.
 *
 * I1: a query finds every hash that was inserted. */
#include "codec/parquet/bloom.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

#define BLOCK_BYTES 32
#define BLOCK_WORDS 8

static const uint32_t salt[BLOCK_WORDS] = {0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
                                           0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31};

size_t tn_bloom_size(uint64_t distinct, double fpp)
{
    size_t bytes = BLOCK_BYTES;
    double want;

    /* Out of (0, 1), or not a number, says nothing: one in a hundred. */
    if (!(fpp > 0.0 && fpp < 1.0))
        fpp = 0.01;
    /* The format's own estimate for 8 bits per value. */
    want = -8.0 * (double)distinct / log(1.0 - pow(fpp, 1.0 / 8.0)) / 8.0;
    while (bytes < want && bytes < TN_PARQUET_BLOOM_BYTES_MAX)
        bytes *= 2;
    return bytes;
}

uint64_t tn_bloom_hash(const void *bytes, size_t len)
{
    return XXH64(bytes, len, 0);
}

static size_t block_at(size_t len, uint64_t hash)
{
    return (size_t)((hash >> 32) * (uint64_t)(len / BLOCK_BYTES) >> 32) * BLOCK_BYTES;
}

void tn_bloom_insert(uint8_t *blocks, size_t len, uint64_t hash)
{
    uint8_t *block = blocks + block_at(len, hash);

    for (size_t i = 0; i < BLOCK_WORDS; i++) {
        uint32_t bit = (uint32_t)hash * salt[i] >> 27;

        block[i * 4 + bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

bool tn_bloom_query(tn_str blocks, uint64_t hash)
{
    const uint8_t *block;

    if (blocks.len < BLOCK_BYTES)
        return true;
    block = (const uint8_t *)blocks.ptr + block_at(blocks.len, hash);
    for (size_t i = 0; i < BLOCK_WORDS; i++) {
        uint32_t bit = (uint32_t)hash * salt[i] >> 27;

        if ((block[i * 4 + bit / 8] & 1u << bit % 8) == 0)
            return false;
    }
    return true;
}

void tn_bloom_insert_values(uint8_t *blocks, size_t len, const tn_leaf *leaf,
                            const tn_values *values)
{
    size_t width = tn_leaf_width(leaf);
    const uint8_t *at = values->data;

    for (int64_t i = 0; i < values->count; i++, at += width) {
        const tn_view *view = (const tn_view *)(const void *)at;
        uint64_t hash = leaf->physical == TN_BYTE_ARRAY ? tn_bloom_hash(view->ptr, view->len)
                                                        : tn_bloom_hash(at, width);

        tn_bloom_insert(blocks, len, hash);
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

size_t tn_bloom_distinct(uint64_t *hashes, size_t count)
{
    size_t distinct = 0;

    if (count != 0)
        qsort(hashes, count, sizeof *hashes, compare_hashes);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || hashes[i] != hashes[distinct - 1])
            hashes[distinct++] = hashes[i];
    return distinct;
}

double tn_bloom_fpp(tn_str blocks)
{
    size_t count = blocks.len / BLOCK_BYTES;
    double sum = 0;

    for (size_t b = 0; b < count; b++) {
        double perhaps = 1;

        for (size_t i = 0; i < BLOCK_WORDS; i++) {
            uint32_t word;

            memcpy(&word, blocks.ptr + b * BLOCK_BYTES + i * sizeof word, sizeof word);
            perhaps *= __builtin_popcount(word) / 32.0;
        }
        sum += perhaps;
    }
    return count != 0 ? sum / (double)count : 1;
}

void tn_bloom_merge(uint8_t *blocks, tn_str other)
{
    for (size_t i = 0; i < other.len; i++)
        blocks[i] |= (uint8_t)other.ptr[i];
}
