/* The steps of planning a write into a Hudi table, shared by plan/plan_upsert.c, plan/upsert_*.c
 * and plan/record_size.c alone. */
#ifndef TN_PLAN_UPSERT_PARTS_H
#define TN_PLAN_UPSERT_PARTS_H

#include "base/map.h"
#include "plan/plan_upsert.h"

/* Releases of Hudi whose rules differ: tn_sizing.release. */
#define TN_RELEASE_0_15 15
#define TN_RELEASE_1_0  102
#define TN_RELEASE_1_1  111

typedef struct tn_upsert_planning {
    const tn_upsert_options *options;
    tn_arena *arena;
    tn_upsert_plan *plan;
    size_t bucket_cap, insert_cap, insert_count;
    tn_map bases; /* of the partition at work: file id -> bucket */
} tn_upsert_planning;

/* plan_upsert.c */
/* INVALID naming an option that makes no sense. */
int tn_upsert_check_sizing(tarn_cx *cx, const tn_sizing *sizing);
/* Bytes of a file without its key filter. */
uint64_t tn_upsert_file_bytes(const tn_base_file *file);
/* The bucket that rewrites `base`, added when it is missing. */
int tn_upsert_bucket_of(tarn_cx *cx, tn_upsert_planning *p, const tn_base_file *base,
                        tn_bucket **out);
/* A bucket of a new file group. Both are valid until the next one is added. */
int tn_upsert_bucket_new(tarn_cx *cx, tn_upsert_planning *p, tn_bucket **out);
/* The bucket takes inserts, after those that were told before. */
int tn_upsert_takes(tarn_cx *cx, tn_upsert_planning *p, const tn_bucket *bucket);
/* False: every row goes to new files. */
bool tn_upsert_fills_files(const tn_upsert_options *options);

/* upsert_candidates.c: slices that may take inserts, in the order in which they are filled. */
typedef struct tn_upsert_candidate {
    const tn_base_file *file;
    uint64_t bytes; /* that it counts for */
    size_t number;  /* in the snapshot's order */
} tn_upsert_candidate;
int tn_upsert_candidates(tarn_cx *cx, const tn_upsert_planning *p, const tn_upsert_in *in,
                         tn_upsert_candidate **out, size_t *count);
int tn_upsert_candidates_real(tarn_cx *cx, const tn_upsert_planning *p, const tn_upsert_in *in,
                              tn_upsert_candidate **out, size_t *count);

/* The buckets of a partition's inserts. upsert_exact.c: Hudi's UpsertPartitioner; upsert_real.c: by
 * real bytes; upsert_index.c: a bucket index. */
int tn_upsert_exact(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in);
int tn_upsert_real(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in);
int tn_upsert_index(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in);

#endif
