/* What the logs of a slice say of each record key: the version of a row that wins among them. */
#ifndef TN_EXEC_SLICE_MAP_H
#define TN_EXEC_SLICE_MAP_H

#include "exec/slice_columns.h"

#define TN_SLICE_NO_BATCH UINT32_MAX
#define TN_SLICE_NO_LINK  UINT32_MAX

enum tn_slice_keep {
    TN_KEEP_NOT = 0,
    TN_KEEP_ROW,  /* the row as it is */
    TN_KEEP_PART, /* fields of it */
};

/* A batch of log rows. */
typedef struct tn_slice_batch {
    struct ArrowArray rows; /* of tn_slice_columns.work */
    uint8_t *keep;          /* per row: enum tn_slice_keep */
    const uint8_t *has;     /* per column: its writer had it; NULL: all of them */
    uint64_t bytes;
} tn_slice_batch;

enum tn_slice_flags {
    TN_SLICE_DELETE = 1,
    TN_SLICE_MET = 2, /* a row of the base file had the key */
};

typedef struct tn_slice_entry {
    const char *key;
    uint32_t key_len, hash;
    uint64_t order;      /* the number, or the address of a length (4 bytes) and a text */
    uint32_t batch, row; /* of what wins; no batch: a delete without a row */
    uint32_t more;       /* first link of what fills its gaps, best first */
    uint8_t flags, standing;
} tn_slice_entry;

typedef struct tn_slice_link {
    uint32_t batch, row, next;
} tn_slice_link;

typedef struct tn_slice_slot {
    uint32_t hash, entry; /* + 1; 0: free */
} tn_slice_slot;

typedef struct tn_slice_map {
    tn_slice_columns *columns; /* borrowed */
    bool fills;                /* versions are joined field by field */
    tn_slice_pick pick;
    tn_slice_entry *entries;
    size_t count, cap;
    tn_slice_slot *slots;
    size_t slot_count;
    tn_slice_link *links;
    size_t link_count, link_cap;
    tn_slice_batch *batches;
    size_t batch_count, batch_cap;
    const uint8_t **sets; /* those that batches' `has` point to, each once */
    size_t set_count, set_cap;
    tn_arena texts; /* keys and ordering values that no batch holds */
    uint64_t text_bytes;
    uint64_t batch_bytes; /* of all batches */
    /* Of the batch under way. */
    tn_slice_keys keys;
    tn_slice_orders orders, delete_orders;
    uint8_t *deletes;
    size_t deletes_cap;
    int32_t *steps; /* 0, 8, 16: where positions begin that are taken for keys */
    size_t step_count;
    bool any_deletes, orders_absent;
} tn_slice_map;

/* Zeroed but for columns, fills and pick is empty and valid. */
void tn_slice_map_clear(tn_slice_map *map);
/* Memory that it holds, about. */
uint64_t tn_slice_map_bytes(const tn_slice_map *map);
/* Takes a batch over, whose rows are then added run by run. `has` as in tn_slice_batch, copied;
 * `positions` (or NULL), a number per row, are taken for keys, and must stay until all rows are
 * added; `where` for messages. */
int tn_slice_map_batch(tarn_cx *cx, tn_slice_map *map, struct ArrowArray *rows, const uint8_t *has,
                       const int64_t *positions, const char *where);
/* Rows [first, first + count) of the batch taken over last, in the order of the log. */
int tn_slice_map_rows(tarn_cx *cx, tn_slice_map *map, int64_t first, int64_t count);
int tn_slice_map_deletes(tarn_cx *cx, tn_slice_map *map, const tn_log_deletes *deletes,
                         const int64_t *positions);
/* Rows that nobody needs leave the batches from `first` on, where that is worth it. */
int tn_slice_map_shrink(tarn_cx *cx, tn_slice_map *map, size_t first);
/* The entry of a key, or NULL. */
tn_slice_entry *tn_slice_map_find(const tn_slice_map *map, tn_str key, uint32_t hash);
/* Whether the entry wins against a row of the base file; `at`: its place in the orders. */
bool tn_slice_map_beats(const tn_slice_map *map, const tn_slice_entry *entry,
                        const tn_slice_orders *base, size_t at);
/* Forgets the row and what fills it: nothing of it is given out. */
void tn_slice_map_drop(tn_slice_map *map, tn_slice_entry *entry);

#endif
