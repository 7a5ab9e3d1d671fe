/* The inside of tn_incoming, shared by the files incoming*.c: rows held, what is known of each, and
 * the keys that a round looks at. */
#ifndef TN_EXEC_INCOMING_STATE_H
#define TN_EXEC_INCOMING_STATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "batch/array.h"
#include "exec/incoming.h"
#include "exec/route_spill.h"

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

/* Rows put aside, in order of arrival: the rows; their keys' hashes and ordering values, which
 * never change; what is known of them, which each round writes anew. */
typedef struct tn_spilled {
    int64_t first, count;
    tn_spill_piece rows, keys, facts;
} tn_spilled;

/* Keys of a round, each once: an open table of entries. An entry's number indexes the arrays. */
typedef struct tn_keys {
    tn_key_hash *hashes;
    _Atomic uint64_t *places; /* while the table is read: the least place that was found */
    uint64_t *slots;          /* the number of an entry + 1, above 32 bits of its hash; 0: free */
    uint64_t mask;
    size_t count, cap; /* entries; in memory: rows, of which some are none */
    tn_buf extras;     /* tn_extra; `row` is an entry; sorted by entry, then place */
    /* While one row per key is chosen, of rows put aside: */
    uint64_t *winners, *orders;
    tn_buf texts; /* ordering values as bytes: length (4 bytes) and bytes, where `orders` say */
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

/* A piece of a sorted run: updates or inserts of one stream. */
typedef struct tn_run_piece {
    tn_spill_piece place;
    uint32_t stream, run;
    uint32_t rows;
    bool inserts;
} tn_run_piece;

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
    size_t small_from;  /* batches from here on are small and may be joined */
    tn_row_facts facts; /* of the rows held */
    size_t facts_cap;   /* rows that partitions and flags have room for */

    bool spilled;  /* rows were put aside; those held follow them, and none is held once all came */
    tn_buf pieces; /* tn_spilled */
    tn_spill rows_file, keys_file, facts_file;
    unsigned facts_version;
    uint64_t text_bytes; /* of ordering values */
    bool made_staging;

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
    uint64_t kept;   /* charged for what stays until close: extras */
    /* Of rows put aside: pieces of sorted runs instead, by stream. */
    struct ArrowSchema marked; /* the schema, position and whether it is deleted behind */
    tn_spill runs_file;
    tn_buf runs; /* tn_run_piece: by stream, updates first, by run, in order */
    bool sorted; /* inserts of a run are in order of their keys */
};

/* incoming_rows.c: the batch that holds row `row` of those held. */
const tn_held *tn_incoming_held(const tn_incoming *in, int64_t row);
/* The key of a row held. */
tn_str tn_incoming_key(const tn_incoming *in, int64_t row);
/* Rows rows[0 .. count) as one array; those that follow each other are copied at once. */
int tn_incoming_gather(tarn_cx *cx, const tn_incoming *in, const uint32_t *rows, size_t count,
                       struct ArrowArray *out);
/* Rows [first, first + count) as one array. */
int tn_incoming_gather_run(tarn_cx *cx, const tn_incoming *in, int64_t first, int64_t count,
                           struct ArrowArray *out);
/* How many rows of the usual size take about `bytes`, from 1 to rows_max. */
size_t tn_incoming_rows_in(const tn_incoming *in, uint64_t bytes, size_t rows_max);
/* Reserves `bytes`; *charged grows. */
int tn_incoming_charge(tarn_cx *cx, uint64_t bytes, const char *what, uint64_t *charged);

/* incoming_spill.c: puts aside what is held. */
int tn_incoming_spill(tarn_cx *cx, tn_incoming *in);
/* After the last row: all are held, or all are put aside. */
int tn_incoming_seal(tarn_cx *cx, tn_incoming *in);
/* After a LIMIT: the rows held, what is known of them included, are put aside, which leaves more
 * memory to begin again with. */
int tn_incoming_yield(tarn_cx *cx, tn_incoming *in);
void tn_incoming_drop_held(tn_incoming *in);
/* Calls fn once for all rows held, or for each piece put aside. */
enum {
    TN_FACTS_KEYS = 1, /* with hashes and orders; of rows put aside alone */
    TN_FACTS_WRITE = 2 /* fn changes places and flags */
};
typedef int (*tn_facts_job)(tarn_cx *cx, tn_row_facts *facts, void *arg);
int tn_incoming_each(tarn_cx *cx, tn_incoming *in, unsigned how, tn_facts_job fn, void *arg);
/* Path of a file of the staging directory, which is made. */
int tn_incoming_stage(tarn_cx *cx, tn_incoming *in, const char *name, tn_str *path);
/* The piece of the spill file that `facts` are of. */
const tn_spilled *tn_incoming_piece(const tn_incoming *in, size_t i);
size_t tn_incoming_piece_count(const tn_incoming *in);

/* incoming_keys.c: hash of a key; partitions make keys different unless they are global. */
tn_key_hash tn_keys_hash(const tn_incoming *in, const void *key, size_t len, uint32_t partition);
/* Entries of `count` hashes, UINT32_MAX where there is none. */
void tn_keys_find(const tn_keys *keys, const tn_key_hash *hashes, size_t count, uint32_t *entries);
/* Keys of rows put aside, with room for so many to begin with: with `choose` winners and orders,
 * else places. To be cleared whatever comes of it. */
int tn_keys_open(tarn_cx *cx, size_t expected, bool choose, tn_keys *out);
/* The entry of a hash, added when missing; what it is to have is the caller's to fill. */
int tn_keys_add(tarn_cx *cx, tn_keys *keys, tn_key_hash hash, uint32_t *entry, bool *added);
void tn_keys_clear(tarn_cx *home, tn_keys *keys);
/* Hashes all rows held and fills in->keys, once. Where memory is short for it, the rows are put
 * aside instead. */
int tn_incoming_make_keys(tarn_cx *cx, tn_incoming *in);
void tn_incoming_drop_keys(tn_incoming *in);

/* incoming_rounds.c: the same for rows put aside, by slices of hashes: `work` sees the keys of a
 * slice, with `choose` and the row of each that wins; `apply` then each row of the slice. */
typedef struct tn_round {
    bool choose, by_arrival;
    int (*begin)(tarn_cx *cx, void *arg); /* before the first slice, and again from the start */
    int (*work)(tarn_cx *cx, tn_keys *keys, void *arg); /* NULL: nothing to do */
    int (*apply)(tarn_cx *cx, const tn_keys *keys, uint32_t entry, tn_row_facts *facts, size_t i,
                 void *arg);
    void *arg;
} tn_round;
int tn_incoming_rounds(tarn_cx *cx, tn_incoming *in, const tn_round *round);

/* incoming_place.c: rows held, dealt to the streams of the plan and sorted. */
int tn_incoming_deal(tarn_cx *cx, tn_incoming *in, const tn_place_options *options);
void tn_incoming_undeal(tn_incoming *in);
/* incoming_runs.c: rows put aside, dealt to sorted runs. */
int tn_incoming_make_runs(tarn_cx *cx, tn_incoming *in, const tn_place_options *options);
/* The pieces of a stream's updates or inserts. */
const tn_run_piece *tn_incoming_runs(const tn_incoming *in, size_t stream, bool inserts,
                                     size_t *count);

/* incoming_merge.c: a stream of sorted runs. The same as the reader of incoming.h. */
typedef struct tn_run_reader tn_run_reader;
int tn_run_reader_open(tarn_cx *cx, const tn_incoming *in, size_t stream, tn_run_reader **out);
/* *out is zeroed at the end. */
int tn_run_reader_next(tarn_cx *cx, tn_run_reader *reader, int64_t rows_max,
                       tn_incoming_batch *out);
void tn_run_reader_close(tarn_cx *cx, tn_run_reader *reader);

#endif
