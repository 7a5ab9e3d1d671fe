/* MD5 (RFC 1321). */
#include "base/md5.h"

#include <string.h>

#define BLOCK 64

static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const uint8_t turns[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static inline __attribute__((always_inline)) void step(uint32_t *s, const uint32_t *words,
                                                       unsigned i)
{
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], f;
    unsigned word, turn = turns[i / 16][i % 4];

    if (i < 16) {
        f = (b & c) | (~b & d);
        word = i;
    } else if (i < 32) {
        f = (d & b) | (~d & c);
        word = (5 * i + 1) % 16;
    } else if (i < 48) {
        f = b ^ c ^ d;
        word = (3 * i + 5) % 16;
    } else {
        f = c ^ (b | ~d);
        word = 7 * i % 16;
    }
    f += a + sines[i] + words[word];
    s[0] = d;
    s[3] = c;
    s[2] = b;
    s[1] = b + (f << turn | f >> (32 - turn));
}

static void block(uint32_t state[4], const uint8_t *bytes)
{
    uint32_t words[16], s[4];

    memcpy(words, bytes, BLOCK);
    memcpy(s, state, sizeof s);
#pragma GCC unroll 64
    for (unsigned i = 0; i < 64; i++)
        step(s, words, i);
    for (unsigned i = 0; i < 4; i++)
        state[i] += s[i];
}

void tn_md5(tn_str bytes, uint8_t digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t last[2 * BLOCK] = {0};
    uint64_t bits = (uint64_t)bytes.len * 8;
    size_t whole = bytes.len / BLOCK * BLOCK, left = bytes.len - whole;
    size_t end = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;

    for (size_t at = 0; at < whole; at += BLOCK)
        block(state, (const uint8_t *)bytes.ptr + at);
    if (left != 0)
        memcpy(last, bytes.ptr + whole, left);
    last[left] = 0x80;
    memcpy(last + end - 8, &bits, 8);
    for (size_t at = 0; at < end; at += BLOCK)
        block(state, last + at);
    memcpy(digest, state, 16);
}
