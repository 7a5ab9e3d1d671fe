/* The columns that merging a slice works on, and what it asks of a batch of them: keys, ordering
 * values, which rows are deletes. */
#ifndef TN_EXEC_SLICE_COLUMNS_H
#define TN_EXEC_SLICE_COLUMNS_H

#include <xxhash.h>

#include "base/map.h"
#include "batch/ordering.h"
#include "batch/record_field.h"
#include "batch/record_key.h"
#include "codec/log/log.h"
#include "task/scan.h"

/* What a field holds that stands for "as before" (hoodie.table.partial.update.mode). */
enum tn_slice_blank {
    TN_BLANK_NEVER = 0,
    TN_BLANK_NULL,   /* null */
    TN_BLANK_NUMBER, /* `number` */
    TN_BLANK_TEXT    /* the text of the rules */
};

typedef struct tn_slice_column {
    tn_type type;
    enum tn_slice_blank blank;
    int64_t number;
    int32_t partition; /* column of the partition values that wins over the files', or -1 */
    bool of_latest;    /* of the version that came last (TN_PARTIAL_IGNORE_NULLS) */
} tn_slice_column;

/* A field, down through structs. */
typedef struct tn_slice_path {
    uint32_t index[TN_RECORD_FIELD_DEPTH_MAX];
    size_t depth;
} tn_slice_path;

typedef struct tn_slice_columns {
    const tn_scan_task *task;
    const tn_slice_rules *rules;
    tn_arena arena;
    struct ArrowSchema work; /* those of task->needed, then what merging needs besides */
    int64_t needed_count;
    /* The first so many are asked of base files whose rows are met by position, and by key. */
    int64_t placed_count, base_count;
    tn_slice_column *columns;
    bool by_order; /* ordering values decide */
    /* The ordering columns as a struct of their own, and where each lies in `work`. */
    struct ArrowSchema order_schema;
    tn_slice_path *order_paths;
    tn_type *order_types;
    size_t order_count;
    tn_ordering *ordering;
    int64_t key; /* column of stored record keys; -1: `keys` makes them */
    tn_record_key_options key_options;
    tn_record_key *keys;
    int64_t deleted, operation; /* columns; -1: none */
    bool has_marker;
    tn_record_field marker;
} tn_slice_columns;

/* The task and its rules are borrowed. UNSUPPORTED for the rules of a merger that is not
 * understood; CORRUPT naming a column that is missing. */
int tn_slice_columns_open(tarn_cx *cx, const tn_scan_task *task, tn_slice_columns *out);
void tn_slice_columns_close(tn_slice_columns *columns);

/* Which record keys are merged. */
typedef struct tn_slice_pick {
    uint32_t pass, passes; /* of all keys only this part by hash */
    const tn_map *keys;    /* only these; NULL: all */
} tn_slice_pick;

static inline uint32_t tn_slice_hash(tn_str key)
{
    return (uint32_t)(XXH3_64bits(key.ptr, key.len) >> 16);
}

static inline bool tn_slice_is_of_pass(const tn_slice_pick *pick, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * pick->passes >> 32) == pick->pass;
}

static inline bool tn_slice_picks(const tn_slice_pick *pick, tn_str key, uint32_t hash)
{
    return tn_slice_is_of_pass(pick, hash) &&
           (pick->keys == NULL || tn_map_find(pick->keys, key) != NULL);
}

/* Record keys of a batch: key i is data[offsets[i] .. offsets[i + 1]). */
typedef struct tn_slice_keys {
    const char *data;
    const int32_t *offsets;
    bool lasting; /* they live as long as the batch does; else until the next call */
} tn_slice_keys;
/* CORRUPT naming `where` for a row without one. */
int tn_slice_columns_keys(tarn_cx *cx, tn_slice_columns *columns, const struct ArrowArray *batch,
                          const char *where, tn_slice_keys *out);

/* The condition that a row's stored key is one of these; in the arena of `columns`. */
int tn_slice_columns_key_filter(tarn_cx *cx, tn_slice_columns *columns, const tn_str *keys,
                                size_t count, tn_filter *out);

/* How an ordering value stands to others. */
enum tn_slice_standing {
    TN_STANDS_BY_VALUE = 0,
    TN_STANDS_ALWAYS,  /* of a delete: by commit time */
    TN_STANDS_FOREIGN, /* of another type, or of a row whose writer left the column out */
};
typedef struct tn_slice_orders {
    uint64_t *numbers; /* where tn_ordering_is_u64 */
    tn_buf texts;      /* else: text i is bytes [ends[i - 1], ends[i]) */
    uint64_t *ends;
    uint8_t *standings; /* of deletes alone; NULL: all by value */
    size_t count;
} tn_slice_orders;
void tn_slice_orders_clear(tn_slice_orders *orders);
/* Of the rows of a batch. *out is the caller's, and zeroed or used before. */
int tn_slice_columns_orders(tarn_cx *cx, const tn_slice_columns *columns,
                            const struct ArrowArray *batch, tn_slice_orders *out);
/* Of a batch of order_schema. */
int tn_slice_orders_of(tarn_cx *cx, const tn_slice_columns *columns, const struct ArrowArray *batch,
                       tn_slice_orders *out);
/* Of a delete block. */
int tn_slice_columns_delete_orders(tarn_cx *cx, const tn_slice_columns *columns,
                                   const tn_log_deletes *deletes, tn_slice_orders *out);
/* flags[i] = 1 for rows that are deletes, 2 for those by commit time whatever the order says;
 * *any: there are some. `flags` has room for all rows. */
int tn_slice_columns_deletes(tarn_cx *cx, tn_slice_columns *columns, const struct ArrowArray *batch,
                             uint8_t *flags, bool *any);
/* Puts values of partition columns into a batch of `work`. */
int tn_slice_columns_partition(tarn_cx *cx, const tn_slice_columns *columns,
                               struct ArrowArray *batch);

#endif
