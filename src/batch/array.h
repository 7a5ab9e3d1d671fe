/* Arrow arrays that tarn builds: their memory, their release, and what must hold of foreign ones.
 * A block is one buffer of an array: 64-byte aligned, its length padded to 64 bytes. */
#ifndef TN_BATCH_ARRAY_H
#define TN_BATCH_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "tarn/batch.h"

typedef struct tn_block {
    uint8_t *data;
    size_t len, cap; /* bytes */
} tn_block;

void tn_block_clear(tn_block *block);
/* Room for `more` bytes beyond len; grows by half at least. After it there is a place to point to,
 * even for 0 bytes. */
int tn_block_reserve(tarn_cx *cx, tn_block *block, size_t more);

/* An array without content: `buffers` places (NULL) and `children` places (released ones). It owns
 * what is put into them: blocks by tn_array_take_block, children and dictionary by filling them. */
int tn_array_init(tarn_cx *cx, struct ArrowArray *out, int64_t length, size_t buffers,
                  size_t children);
/* Moves a block into buffer `i`. An empty block becomes a valid 64-byte buffer. */
int tn_array_take_block(tarn_cx *cx, struct ArrowArray *array, size_t i, tn_block *block);
/* Makes buffer `i` of so many zero bytes; `out` points to the pointer that is to write them. */
int tn_array_make_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, size_t bytes, void *out);
/* The same, not filled. */
int tn_array_make_room(tarn_cx *cx, struct ArrowArray *array, size_t i, size_t bytes, void *out);
/* A dictionary place (released); the array owns what is put there. */
int tn_array_make_dictionary(tarn_cx *cx, struct ArrowArray *array);
/* Calls release where it has not been called; zeroes. */
void tn_array_release(struct ArrowArray *array);
/* Moves; `from` becomes released. */
void tn_array_move(struct ArrowArray *from, struct ArrowArray *to);

/* Checks that a foreign array fits `schema`: buffers, children, lengths, offsets in order and
 * within their child, dictionary indices and views in range. Buffers cannot be measured; what they
 * hold is read only within the lengths the array states. INVALID names the field. */
int tn_array_check(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array);

/* Bits: index i of an Arrow bitmap; a NULL bitmap is all ones. */
static inline bool tn_bit(const void *bits, int64_t i)
{
    return bits == NULL || ((((const uint8_t *)bits)[i >> 3] >> (i & 7)) & 1) != 0;
}

static inline void tn_bit_set(uint8_t *bits, int64_t i)
{
    bits[i >> 3] |= (uint8_t)(1u << (i & 7));
}

/* Ones among `count` bits from bit `at` on. */
int64_t tn_bits_count(const void *bits, int64_t at, int64_t count);
/* Copies `count` bits; bits of the target beyond them in the last byte are cleared. */
void tn_bits_copy(uint8_t *to, int64_t to_at, const uint8_t *from, int64_t from_at, int64_t count);
/* Sets `count` bits from `at` on; bits beyond them in the last byte are cleared. */
void tn_bits_fill(uint8_t *to, int64_t at, int64_t count, bool value);
/* Packs bytes of 0 and 1 into bits from bit `at` on; bits beyond are cleared. */
void tn_bits_pack(uint8_t *to, int64_t at, const uint8_t *bytes, int64_t count);

#endif
