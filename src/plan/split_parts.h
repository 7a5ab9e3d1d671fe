/* The steps of planning splits, shared by plan/plan_split.c and plan/split_*.c alone. */
#ifndef TN_PLAN_SPLIT_PARTS_H
#define TN_PLAN_SPLIT_PARTS_H

#include "plan/plan_split.h"

/* Splits as they are made. I1: chunks of a split are complete before the next one begins. */
typedef struct tn_splitting {
    const tn_split_input *in;
    tn_arena *arena;
    tarn_split_part *splits;
    size_t split_count, split_cap;
    tarn_split_chunk *chunks; /* of all splits; pointers into it are set at the end */
    size_t chunk_count, chunk_cap;
    size_t location_count; /* made in all */
} tn_splitting;

/* LIMIT when `more` chunks beside those there are would be too many. */
int tn_split_room(tarn_cx *cx, const tn_split_file *file, size_t have, int64_t more);
/* Adds a chunk to the split to come, and ends that split. */
int tn_split_chunk_add(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t offset,
                       int64_t len);
int tn_split_end(tarn_cx *cx, tn_splitting *s, const char *const *locations, size_t count);
/* An array of `count` locations; LIMIT when there are too many in all. */
int tn_split_locations_new(tarn_cx *cx, tn_splitting *s, size_t count, const char ***out);

/* split_combine.c */
int tn_split_combine(tarn_cx *cx, tn_splitting *s);
/* split_file.c */
int tn_split_file_new(tarn_cx *cx, tn_splitting *s);
int tn_split_file_old(tarn_cx *cx, tn_splitting *s);

#endif
