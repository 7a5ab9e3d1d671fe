/* Which bucket each row belongs to: by the values of its partition columns, and where rows are
 * spread over several files of a partition, by Hive's hash of the distribute columns. */
#ifndef TN_EXEC_ROUTE_KEYS_H
#define TN_EXEC_ROUTE_KEYS_H

#include "base/map.h"
#include "batch/key.h"
#include "task/write.h"

typedef struct tn_route_column {
    tn_str level;   /* its name in paths */
    uint32_t child; /* of the rows */
    tn_text_type text;
} tn_route_column;

typedef struct tn_route_place {
    uint32_t partition; /* index into paths */
    uint32_t slot;
    int64_t rows;
} tn_route_place;

typedef struct tn_route_keys {
    const tn_write_plan *plan;
    tn_arena arena;
    tn_route_column *partition_by, *distribute_by;
    tn_map by_value, by_path; /* bytes of the values, path -> partition */
    tn_buf partitions;        /* tn_route_partition */
    tn_buf places;            /* tn_route_place, by number of the bucket */
} tn_route_keys;

typedef struct tn_route_partition {
    tn_str path;
    uint32_t *buckets; /* per slot: the bucket's number + 1; 0: none yet */
} tn_route_partition;

/* `schema` has no dictionaries; the plan is borrowed. INVALID or UNSUPPORTED naming a column that
 * is missing or has no text or hash. */
int tn_route_keys_init(tarn_cx *cx, const tn_write_plan *plan, const struct ArrowSchema *schema,
                       tn_route_keys *out);
void tn_route_keys_clear(tn_route_keys *keys);
/* Whether child `i` of the rows is a partition column. */
bool tn_route_keys_has(const tn_route_keys *keys, int64_t i);
/* ids[i]: the bucket of row i of the batch; new partitions and buckets are added. LIMIT when one
 * more than the plan allows appears. Runs on the pool of `cx`. */
int tn_route_keys_number(tarn_cx *cx, tn_route_keys *keys, const struct ArrowArray *batch,
                         uint32_t *ids);

static inline size_t tn_route_keys_count(const tn_route_keys *keys)
{
    return keys->places.len / sizeof(tn_route_place);
}
static inline tn_route_place *tn_route_keys_place(const tn_route_keys *keys, size_t i)
{
    return &((tn_route_place *)(void *)keys->places.data)[i];
}
static inline tn_str tn_route_keys_path(const tn_route_keys *keys, size_t partition)
{
    return ((tn_route_partition *)(void *)keys->partitions.data)[partition].path;
}

#endif
