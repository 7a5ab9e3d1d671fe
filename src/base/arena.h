/* An arena: many small things that die together. Not thread-safe. Zeroed is empty and valid. */
#ifndef TN_BASE_ARENA_H
#define TN_BASE_ARENA_H

#include <stddef.h>

#include "base/context.h"
#include "base/str.h"

typedef struct tn_arena {
    struct tn_arena_block *block;
} tn_arena;

void tn_arena_clear(tn_arena *arena);
/* Zeroed memory, aligned to 16; NULL with NOMEM in `cx`. */
void *tn_arena_take(tarn_cx *cx, tn_arena *arena, size_t size);
void *tn_arena_array(tarn_cx *cx, tn_arena *arena, size_t count, size_t size);
/* Makes room in an array of the arena: `array` points to its pointer, which holds `count` items in
 * a room for *cap. Does nothing where there is room for one more; else the room doubles, and what
 * is new is zeroed. */
int tn_arena_grow(tarn_cx *cx, tn_arena *arena, void *array, size_t count, size_t *cap,
                  size_t size);
/* Replaces *text by a copy in the arena, followed by a NUL that is not counted. */
int tn_arena_keep(tarn_cx *cx, tn_arena *arena, tn_str *text);
/* A NUL-ended printf in the arena. */
int tn_arena_print(tarn_cx *cx, tn_arena *arena, tn_str *out, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
