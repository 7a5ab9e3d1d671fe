/* Blocks in a list, the newest first; each is at least TN_ARENA_BLOCK_BYTES. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TN_ARENA_BLOCK_BYTES 8192

struct tn_arena_block {
    struct tn_arena_block *next;
    size_t used, size;
    _Alignas(16) char data[];
};

void tn_arena_clear(tn_arena *arena)
{
    struct tn_arena_block *block = arena->block;

    while (block != NULL) {
        struct tn_arena_block *next = block->next;

        free(block);
        block = next;
    }
    arena->block = NULL;
}

void *tn_arena_take(tarn_cx *cx, tn_arena *arena, size_t size)
{
    struct tn_arena_block *block = arena->block;
    void *out;

    if (size > SIZE_MAX / 2) {
        tn_fail_memory(cx);
        return NULL;
    }
    size = (size + 15) & ~(size_t)15;
    if (block == NULL || block->size - block->used < size) {
        size_t room = size > TN_ARENA_BLOCK_BYTES / 4 ? size : TN_ARENA_BLOCK_BYTES;

        block = calloc(1, sizeof *block + room);
        if (block == NULL) {
            tn_fail_memory(cx);
            return NULL;
        }
        block->size = room;
        /* A block made for one large thing goes behind the current one, whose room stays in use. */
        if (room == size && arena->block != NULL) {
            block->next = arena->block->next;
            arena->block->next = block;
        } else {
            block->next = arena->block;
            arena->block = block;
        }
    }
    out = block->data + block->used;
    block->used += size;
    return out;
}

void *tn_arena_array(tarn_cx *cx, tn_arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        tn_fail_memory(cx);
        return NULL;
    }
    return tn_arena_take(cx, arena, bytes);
}

int tn_arena_grow(tarn_cx *cx, tn_arena *arena, void *array, size_t count, size_t *cap, size_t size)
{
    size_t wanted = *cap != 0 ? *cap * 2 : 8;
    void *old, *grown;

    if (count < *cap)
        return TARN_OK;
    grown = tn_arena_array(cx, arena, wanted, size);
    if (grown == NULL)
        return TARN_E_NOMEM;
    memcpy(&old, array, sizeof old);
    if (count != 0)
        memcpy(grown, old, count * size);
    memcpy(array, &grown, sizeof grown);
    *cap = wanted;
    return TARN_OK;
}

int tn_arena_keep(tarn_cx *cx, tn_arena *arena, tn_str *text)
{
    char *copy = tn_arena_take(cx, arena, text->len + 1);

    if (copy == NULL)
        return TARN_E_NOMEM;
    if (text->len != 0)
        memcpy(copy, text->ptr, text->len);
    text->ptr = copy;
    return TARN_OK;
}

int tn_arena_print(tarn_cx *cx, tn_arena *arena, tn_str *out, const char *format, ...)
{
    va_list args;
    int length;
    char *text;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = length >= 0 ? tn_arena_take(cx, arena, (size_t)length + 1) : NULL;
    if (text == NULL)
        return tn_fail_memory(cx);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    *out = (tn_str){text, (size_t)length};
    return TARN_OK;
}
