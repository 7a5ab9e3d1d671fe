/* The record keys of one base file on their way into its footer: the filter and the range. */
#ifndef TN_EXEC_BASE_KEYS_H
#define TN_EXEC_BASE_KEYS_H

#include "codec/parquet/arrow.h"
#include "exec/base_file.h"

/* Some of the keys that wait: as in a utf8 array, `offsets` has one more than keys. */
typedef struct tn_base_piece {
    tn_buf data, offsets;
} tn_base_piece;

typedef struct tn_base_keys {
    const tn_base_job *job;
    uint64_t about;        /* keys that are expected; 0: unknown */
    uint64_t count;        /* keys added */
    tn_key_filter *filter; /* NULL: keys wait in `pieces` until their number is known */
    tn_str same;           /* text of `filter` as the file before has it; empty: keys were added */
    tn_base_piece *pieces;
    size_t piece_count, piece_cap;
    uint64_t waiting_bytes; /* in all pieces */
    uint64_t reserved;      /* of the memory budget, for what waits */
    bool any;               /* there is a range */
    tn_buf min, max;
} tn_base_keys;

/* Zeroed but for job and about is valid. */
void tn_base_keys_clear(tarn_cx *cx, tn_base_keys *keys);
/* Keys of rows [first, first + rows) of a utf8 array, its offset not counted in `first`. INVALID
 * for a null. */
int tn_base_keys_add(tarn_cx *cx, tn_base_keys *keys, const struct ArrowArray *column,
                     int64_t first, int64_t rows);
/* Widens the range. */
int tn_base_keys_range(tarn_cx *cx, tn_base_keys *keys, tn_str key);
/* Takes a filter over, which the keys that wait go into; there is none yet. */
int tn_base_keys_take(tarn_cx *cx, tn_base_keys *keys, tn_key_filter *filter);
/* Bytes in the footer, as far as can be told. */
uint64_t tn_base_keys_bytes(const tn_base_keys *keys);
/* Puts the pairs into the footer. */
int tn_base_keys_finish(tarn_cx *cx, tn_base_keys *keys, tn_parquet_sink *sink);

#endif
