/* Arrow arrays that tarn builds.
 * I1: every buffer is 64-byte aligned and its allocation is a multiple of 64 bytes.
 * I2: release frees exactly what tn_array_* put in: buffers, children, dictionary, itself. */
#include "batch/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGN 64u

void tn_block_clear(tn_block *block)
{
    free(block->data);
    *block = (tn_block){0};
}

int tn_block_reserve(tarn_cx *cx, tn_block *block, size_t more)
{
    size_t need, cap;
    uint8_t *data;

    if (block->data != NULL && more <= block->cap - block->len)
        return TARN_OK;
    if (more > SIZE_MAX / 4 - block->len)
        return tn_fail_memory(cx);
    need = block->len + more;
    cap = block->cap + block->cap / 2;
    cap = cap < need ? need : cap;
    cap = cap == 0 ? 1 : cap;
    cap = (cap + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
    data = aligned_alloc(BLOCK_ALIGN, cap);
    if (data == NULL)
        return tn_fail_memory(cx);
    if (block->len != 0)
        memcpy(data, block->data, block->len);
    free(block->data);
    block->data = data;
    block->cap = cap;
    return TARN_OK;
}

static void release_built(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)(uintptr_t)array->buffers[i]);
    for (int64_t i = 0; i < array->n_children; i++) {
        tn_array_release(array->children[i]);
        free(array->children[i]);
    }
    if (array->dictionary != NULL) {
        tn_array_release(array->dictionary);
        free(array->dictionary);
    }
    free((void *)(uintptr_t)array->buffers);
    free(array->children);
    array->release = NULL;
}

int tn_array_init(tarn_cx *cx, struct ArrowArray *out, int64_t length, size_t buffers,
                  size_t children)
{
    struct ArrowArray array = {.length = length, .release = release_built};
    int rc = TARN_OK;

    assert(length >= 0);
    array.buffers = tn_calloc(cx, buffers, sizeof array.buffers[0]);
    array.children = tn_calloc(cx, children, sizeof array.children[0]);
    if (array.buffers == NULL || array.children == NULL)
        TN_TRY(TARN_E_NOMEM);
    array.n_buffers = (int64_t)buffers;
    for (size_t i = 0; i < children; i++) {
        array.children[i] = tn_calloc(cx, 1, sizeof *array.children[i]);
        if (array.children[i] == NULL)
            TN_TRY(TARN_E_NOMEM);
        array.n_children++;
    }
    *out = array;
    return TARN_OK;
done:
    release_built(&array);
    return rc;
}

int tn_array_take_block(tarn_cx *cx, struct ArrowArray *array, size_t i, tn_block *block)
{
    assert((int64_t)i < array->n_buffers && array->buffers[i] == NULL);
    if (block->data == NULL) {
        int rc = tn_block_reserve(cx, block, BLOCK_ALIGN);

        if (rc != TARN_OK)
            return rc;
    }
    /* The padding is part of what other programs may hash or send: it must not leak old memory. */
    memset(block->data + block->len, 0,
           block->cap - block->len < BLOCK_ALIGN ? block->cap - block->len : BLOCK_ALIGN);
    array->buffers[i] = block->data;
    *block = (tn_block){0};
    return TARN_OK;
}

int tn_array_make_room(tarn_cx *cx, struct ArrowArray *array, size_t i, size_t bytes, void *out)
{
    tn_block block = {0};
    int rc = tn_block_reserve(cx, &block, bytes + 1);

    if (rc != TARN_OK)
        return rc;
    block.len = bytes;
    rc = tn_array_take_block(cx, array, i, &block);
    if (rc == TARN_OK)
        memcpy(out, &array->buffers[i], sizeof(void *));
    return rc;
}

int tn_array_make_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, size_t bytes, void *out)
{
    void *made = NULL;
    int rc = tn_array_make_room(cx, array, i, bytes, &made);

    if (rc != TARN_OK)
        return rc;
    memset(made, 0, bytes);
    memcpy(out, &made, sizeof made);
    return TARN_OK;
}

int tn_array_make_dictionary(tarn_cx *cx, struct ArrowArray *array)
{
    assert(array->dictionary == NULL);
    array->dictionary = tn_calloc(cx, 1, sizeof *array->dictionary);
    return array->dictionary != NULL ? TARN_OK : TARN_E_NOMEM;
}

void tn_array_release(struct ArrowArray *array)
{
    if (array == NULL)
        return;
    if (array->release != NULL)
        array->release(array);
    memset(array, 0, sizeof *array);
}

void tn_array_move(struct ArrowArray *from, struct ArrowArray *to)
{
    *to = *from;
    memset(from, 0, sizeof *from);
}

int64_t tn_bits_count(const void *bits, int64_t at, int64_t count)
{
    const uint8_t *bytes = bits;
    int64_t ones = 0, i = at, end = at + count;

    if (bytes == NULL)
        return count;
    for (; i < end && (i & 7) != 0; i++)
        ones += tn_bit(bytes, i);
    for (; i + 64 <= end; i += 64) {
        uint64_t word;

        memcpy(&word, bytes + (i >> 3), 8);
        ones += __builtin_popcountll(word);
    }
    for (; i < end; i++)
        ones += tn_bit(bytes, i);
    return ones;
}

/* Clears the bits of the byte that holds bit `at`, from `at` on. */
static void clear_tail(uint8_t *bits, int64_t at)
{
    if ((at & 7) != 0)
        bits[at >> 3] &= (uint8_t)((1u << (at & 7)) - 1);
}

void tn_bits_copy(uint8_t *to, int64_t to_at, const uint8_t *from, int64_t from_at, int64_t count)
{
    int64_t i = 0;

    if (count == 0)
        return;
    if (((to_at | from_at) & 7) == 0) {
        memcpy(to + (to_at >> 3), from + (from_at >> 3), (size_t)((count + 7) >> 3));
        clear_tail(to, to_at + count);
        return;
    }
    clear_tail(to, to_at);
    for (; i < count && ((to_at + i) & 7) != 0; i++)
        if (tn_bit(from, from_at + i))
            tn_bit_set(to, to_at + i);
    for (; i < count; i += 8) {
        int64_t left = count - i < 8 ? count - i : 8;
        uint8_t byte = 0;

        for (int64_t j = 0; j < left; j++)
            byte |= (uint8_t)(tn_bit(from, from_at + i + j) << j);
        to[(to_at + i) >> 3] = byte;
    }
}

void tn_bits_fill(uint8_t *to, int64_t at, int64_t count, bool value)
{
    int64_t i = at, end = at + count;

    if (count == 0)
        return;
    clear_tail(to, at);
    for (; i < end && (i & 7) != 0; i++)
        if (value)
            tn_bit_set(to, i);
    if (i < end) {
        memset(to + (i >> 3), value ? 0xFF : 0, (size_t)((end - i + 7) >> 3));
        clear_tail(to, end);
    }
}

void tn_bits_pack(uint8_t *to, int64_t at, const uint8_t *bytes, int64_t count)
{
    int64_t i = 0;

    if (count == 0)
        return;
    clear_tail(to, at);
    for (; i < count && ((at + i) & 7) != 0; i++)
        to[(at + i) >> 3] |= (uint8_t)(bytes[i] << ((at + i) & 7));
    for (; i + 8 <= count; i += 8) {
        uint64_t word;

        memcpy(&word, bytes + i, 8);
        /* Moves bit 0 of byte j to bit 56 + j: the eight partial products do not overlap. */
        to[(at + i) >> 3] = (uint8_t)((word * 0x0102040810204080u) >> 56);
    }
    if (i < count) {
        uint8_t byte = 0;

        for (int64_t j = 0; i + j < count; j++)
            byte |= (uint8_t)(bytes[i + j] << j);
        to[(at + i) >> 3] = byte;
    }
}
