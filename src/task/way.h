/* How the chunks of an output leaf are made of chunks of the inputs: what a plan intends, and what
 * exec did. Names, counts, and their wire form. */
#ifndef TN_TASK_WAY_H
#define TN_TASK_WAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

/* From the cheapest to the dearest. Exec may go down this list, never up. */
enum tn_way {
    TN_WAY_COPY = 0, /* compressed pages as they are */
    TN_WAY_SEQUENCE, /* a dictionary of unique values becomes a page of plain ones */
    TN_WAY_REMAP,    /* indices are written again under one dictionary */
    TN_WAY_REPACK,   /* tiny pages are joined, their values untouched */
    TN_WAY_ENCODE,   /* values are decoded and encoded */
    TN_WAY_COUNT
};

#define TN_WAY_WHY_BYTES_MAX 1024

/* What a plan says of one leaf. */
typedef struct tn_leaf_intent {
    tn_str column; /* dotted */
    int32_t way;   /* enum tn_way: none cheaper may be taken */
    tn_str why;    /* why not all of it is copied; empty: nothing stands against it */
} tn_leaf_intent;

/* What was done for one leaf, over all row groups of the output. */
typedef struct tn_leaf_done {
    uint64_t chunks[TN_WAY_COUNT]; /* input chunks, by the dearest way that was taken for them */
    uint64_t bytes[TN_WAY_COUNT];  /* of pages, compressed */
    tn_str why[TN_WAY_COUNT];      /* why this way and none cheaper; empty: not told */
} tn_leaf_done;

/* "copy", "sequence", "remap", "repack", "encode". */
const char *tn_way_name(int32_t way);

void tn_way_intents_write(tn_json *json, const tn_leaf_intent *intents, size_t count);
/* As many intents as the task has leaves. */
int tn_way_intents_parse(tarn_cx *cx, tn_arena *arena, const json_t *array, size_t count,
                         tn_leaf_intent **out);
void tn_way_done_write(tn_json *json, const tn_leaf_done *done, size_t count);
int tn_way_done_parse(tarn_cx *cx, tn_arena *arena, const json_t *array, tn_leaf_done **out,
                      size_t *count);

#endif
