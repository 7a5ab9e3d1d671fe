/* The inside of tn_incoming, shared by the files incoming*.c: rows held, what is known of each, and
 * the keys that a round looks at. */
#ifndef TN_EXEC_INCOMING_STATE_H
#define TN_EXEC_INCOMING_STATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "batch/array.h"
#include "exec/incoming.h"

/* Of a row. */
enum {
    TN_ROW_DELETE = 1,  /* as it came */
    TN_ROW_DROPPED = 2, /* lost against another row of its key */
    TN_ROW_MOVED = 4,   /* what is stored at its place is deleted; it is an insert itself */
    TN_ROW_SEVERAL = 8  /* there are more places: tn_incoming.extras */
};

/* A place in the table: a file of the tag's, and a row of it. Places order as files and rows do. */
#define TN_NO_PLACE           UINT64_MAX
#define TN_PLACE_BITS         40
#define TN_PLACE_FILES_MAX    (1u << 23)
#define TN_PLACE_ROWS_MAX     (1ll << TN_PLACE_BITS)
#define TN_PLACE_FILE(place)  ((size_t)((place) >> TN_PLACE_BITS))
#define TN_PLACE_ROW(place)   ((int64_t)((place) & ((1ull << TN_PLACE_BITS) - 1)))
#define TN_PLACE_OF(file, at) ((uint64_t)(file) << TN_PLACE_BITS | (uint64_t)(at))

typedef struct tn_key_hash {
    uint64_t low, high;
} tn_key_hash;

typedef struct tn_held {
    struct ArrowArray array;
    int64_t first; /* number of its first row among all that are held */
} tn_held;

/* A further place of a row. */
typedef struct tn_extra {
    uint64_t row;
    uint64_t place;
    bool deletes; /* the stored row goes, whatever the row is */
} tn_extra;

/* What is known of rows [first, first + count), one array per fact; NULL: not asked for yet. */
typedef struct tn_row_facts {
    int64_t first, count;
    uint32_t *partitions;
    uint8_t *flags;
    uint64_t *places;
    tn_key_hash *hashes;
    uint64_t *orders;     /* ordering values, or where they end in `texts` */
    const uint8_t *texts; /* ordering values as bytes, one after the other */
} tn_row_facts;

/* Keys of a round, each once: an open table of entries. An entry's number indexes the arrays. */
typedef struct tn_keys {
    tn_key_hash *hashes;
    _Atomic uint64_t *places; /* while the table is read: the least place that was found */
    uint64_t *slots;          /* the number of an entry + 1, above 32 bits of its hash; 0: free */
    uint64_t mask;
    size_t count, cap; /* entries that the arrays hold; in memory: rows, of which some are none */
    size_t distinct;
    tn_buf extras; /* tn_extra; `row` is an entry; sorted by entry, then place */
    uint64_t charged;
} tn_keys;

/* Update of a stream: row `position` of the old file. */
typedef struct tn_update {
    int64_t position;
    uint32_t row;
    bool deletes;
} tn_update;

typedef struct tn_stream_range {
    size_t update, update_end; /* in updates */
    size_t insert, insert_end; /* in inserts */
} tn_stream_range;

struct tn_incoming {
    tarn_cx home; /* gives back what was charged, and removes, at close */
    tn_arena arena;
    tn_store *store;
    struct ArrowSchema schema;
    tn_incoming_options options;
    struct tn_ordering *ordering;
    uint64_t seed;
    int64_t rows, dropped;
    uint64_t row_bytes; /* in memory form, of all rows */
    uint64_t charged;   /* rows held, and what is known of them */
    uint64_t memory_max;

    tn_held *held;
    size_t held_count, held_cap;
    size_t small_from; /* batches from here on are small and may be joined */
    tn_row_facts facts;
    size_t facts_cap; /* rows that partitions and flags have room for */
    bool any_deletes;

    tn_keys keys; /* of all rows, once they were asked for */
    bool keyed;
    uint32_t *same; /* per row: the entry of its key; NULL: its own number */

    const tn_base_file **files; /* the tag's */
    size_t file_count;
    tn_buf extras; /* tn_extra, sorted by row, then place */

    const tn_upsert_plan *plan; /* once placed */
    tn_stream_range *streams;
    size_t stream_count;
    tn_update *updates;
    uint32_t *inserts;
    uint64_t placed; /* charged for these */
};

/* incoming_rows.c: the batch that holds row `row`. */
const tn_held *tn_incoming_held(const tn_incoming *in, int64_t row);
/* The key of a row held. */
tn_str tn_incoming_key(const tn_incoming *in, int64_t row);
/* Rows rows[0 .. count) as one array; positions that follow each other are copied at once. */
int tn_incoming_gather(tarn_cx *cx, const tn_incoming *in, const uint32_t *rows, size_t count,
                       struct ArrowArray *out);
/* Reserves `count` items of `size` bytes for a while of the object; *charged grows. */
int tn_incoming_charge(tarn_cx *cx, uint64_t bytes, const char *what, uint64_t *charged);

/* incoming_keys.c: hash of a key; partitions make keys different unless they are global. */
tn_key_hash tn_keys_hash(const tn_incoming *in, const void *key, size_t len, uint32_t partition);
/* Entries of `count` hashes, UINT32_MAX where there is none. */
void tn_keys_find(const tn_keys *keys, const tn_key_hash *hashes, size_t count, uint32_t *entries);
void tn_keys_clear(tarn_cx *home, tn_keys *keys);
/* Hashes all rows and fills in->keys, once. */
int tn_incoming_make_keys(tarn_cx *cx, tn_incoming *in);

#endif
