/* Where any of four bytes stand in a block of 64: the kernel of scanners of text. */
#ifndef TN_BASE_MARKS_H
#define TN_BASE_MARKS_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define TN_MARKS_BLOCK 64

typedef struct tn_marks {
    uint8_t byte[4];
} tn_marks;

/* Bit i of the result: block[i] is one of the four. Bit i of *high: block[i] is no ASCII. */
#if defined(__SSE2__)
static inline uint64_t tn_marks_find(const tn_marks *marks, const uint8_t *block, uint64_t *high)
{
    __m128i a = _mm_set1_epi8((char)marks->byte[0]), b = _mm_set1_epi8((char)marks->byte[1]);
    __m128i c = _mm_set1_epi8((char)marks->byte[2]), d = _mm_set1_epi8((char)marks->byte[3]);
    uint64_t found = 0, beyond = 0;

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(v, a), _mm_cmpeq_epi8(v, b));
        __m128i cd = _mm_or_si128(_mm_cmpeq_epi8(v, c), _mm_cmpeq_epi8(v, d));

        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(ab, cd)) << (16 * i);
        beyond |= (uint64_t)(uint32_t)_mm_movemask_epi8(v) << (16 * i);
    }
    *high = beyond;
    return found;
}
#else
static inline uint64_t tn_marks_find(const tn_marks *marks, const uint8_t *block, uint64_t *high)
{
    uint64_t found = 0, beyond = 0;

    for (int i = 0; i < TN_MARKS_BLOCK; i++) {
        uint8_t v = block[i];

        found |= (uint64_t)(v == marks->byte[0] || v == marks->byte[1] || v == marks->byte[2] ||
                            v == marks->byte[3])
                 << i;
        beyond |= (uint64_t)(v >> 7) << i;
    }
    *high = beyond;
    return found;
}
#endif

#endif
