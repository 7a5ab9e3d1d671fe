/* Turns one stream of rows into buckets: one per partition, or several where the plan distributes
 * skewed ones. What memory does not hold is spilled as sorted runs below the plan's staging
 * directory. One thread calls, but for tn_route_reader_*: after the end several may read, each its
 * own bucket with its own context. */
#ifndef TN_EXEC_ROUTE_H
#define TN_EXEC_ROUTE_H

#include "io/store.h"
#include "tarn/batch.h"
#include "task/write.h"

typedef struct tn_route tn_route;

typedef struct tn_route_bucket {
    tn_str partition; /* path below the root, values escaped as Hive does */
    uint32_t slot;    /* 0 to files_per_partition - 1 */
    int64_t rows;
    uint64_t bytes; /* of the rows in memory form */
} tn_route_bucket;

/* The plan is borrowed until close; the schema (a struct, partition columns included) is copied.
 * INVALID where a partition or distribute column is missing or of a type that has no text. */
int tn_route_open(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                  const struct ArrowSchema *schema, tn_route **out);
void tn_route_close(tn_route *route);
/* Takes the rows over, also on failure. LIMIT when a partition beyond the plan's limit appears. */
int tn_route_add(tarn_cx *cx, tn_route *route, struct ArrowArray *batch);
/* No more rows come: buckets are known from here on, in the order of their paths, then slots. */
int tn_route_end(tarn_cx *cx, tn_route *route, const tn_route_bucket **buckets, size_t *count);
/* The rows of bucket `i` without the partition columns, in the order they came; dictionaries have
 * become plain values. *out is the caller's to release, before close; `cx` serves it until then. */
int tn_route_rows(tarn_cx *cx, tn_route *route, size_t i, struct ArrowArrayStream *out);
/* The schema of those rows; and the same with the dictionaries that the rows came with, or NULL
 * where they had none. Both are borrowed. */
const struct ArrowSchema *tn_route_schema(const tn_route *route);
const struct ArrowSchema *tn_route_stored_schema(const tn_route *route);
/* Bytes of spilled runs, 0: all stayed in memory. */
uint64_t tn_route_spilled_bytes(const tn_route *route);

/* The rows of a bucket batch by batch: what tn_route_rows wraps. */
typedef struct tn_route_reader tn_route_reader;
int tn_route_reader_open(tarn_cx *cx, tn_route *route, size_t i, tn_route_reader **out);
/* A released array at the end; *out is the caller's, before the route's close. Children are not to
 * be moved out of it. */
int tn_route_reader_next(tarn_cx *cx, tn_route_reader *reader, struct ArrowArray *out);
void tn_route_reader_close(tn_route_reader *reader);

#endif
