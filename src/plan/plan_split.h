/* Plans splits as Hadoop's input formats do: files, their blocks and settings in, splits out. A
 * function of its input alone. */
#ifndef TN_PLAN_PLAN_SPLIT_H
#define TN_PLAN_PLAN_SPLIT_H

#include "base/arena.h"
#include "base/str.h"
#include "tarn/split.h"

typedef struct tn_split_block {
    int64_t offset, len;
    const tn_str *hosts; /* of its replicas */
    const tn_str *racks; /* of the hosts; NULL: none is known */
    size_t host_count;
} tn_split_block;

typedef struct tn_split_file {
    tn_str path;  /* ended by a NUL that is not counted */
    size_t below; /* where the part below the directory that was named begins, for pools */
    int64_t len, block_size;
    bool splittable, dir;
    const tn_split_block *blocks; /* in order of offset */
    size_t block_count;
} tn_split_file;

typedef struct tn_split_size {
    bool given;
    int64_t bytes; /* 0 when not given */
} tn_split_size;

typedef struct tn_split_config {
    tn_split_size max, min, min_node, min_rack;
    int32_t split_count; /* wanted, for FILE_OLD; 0 counts as 1 */
    bool ignore_subdirs;
} tn_split_config;

typedef struct tn_split_pool {
    const tn_str *prefixes;
    size_t prefix_count;
} tn_split_pool;

typedef struct tn_split_input {
    enum tarn_split_api api;
    tn_split_config config;
    tn_split_file *files; /* in the order of the listing */
    size_t file_count;
    tn_split_pool *pools;
    size_t pool_count;
    tn_str scheme; /* what goes before a path in Hadoop's messages: "file:" */
} tn_split_input;

/* Splits that a job wants unless it says so: mapreduce.job.maps. */
#define TN_SPLIT_COUNT_DEFAULT 2

/* What `out` points to lives in `arena` or in the input. INVALID: what Hadoop would refuse, in its
 * words, and blocks that make no file; LIMIT: more splits or locations than fit. */
int tn_plan_split(tarn_cx *cx, const tn_split_input *input, tn_arena *arena, tarn_split_plan *out);

/* split_locations.c: the input as JSON; what `out` points to lives in `arena`. `name` is what
 * messages call it. */
int tn_split_locations(tarn_cx *cx, tn_str text, const char *name, tn_arena *arena,
                       tn_split_input *out);

#endif
