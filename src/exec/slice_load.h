/* Log blocks decoded and put into a map. */
#ifndef TN_EXEC_SLICE_LOAD_H
#define TN_EXEC_SLICE_LOAD_H

#include "exec/slice_blocks.h"
#include "exec/slice_map.h"

typedef struct tn_slice_load_options {
    tn_store *store;
    const tn_slice_blocks *blocks;
    bool by_position;      /* rows are met by the positions that blocks have, not by key */
    uint64_t base_rows;    /* of the base file: positions lie below */
    uint64_t bytes_max;    /* that the map may hold; UINT64_MAX: any */
    uint64_t window_bytes; /* of contents that are decoded at once, about; 0: the usual */
} tn_slice_load_options;

typedef struct tn_slice_loaded {
    bool full;           /* it holds more than it may, and not all blocks were read */
    bool misplaced;      /* positions are missing or wrong: load again by key */
    uint64_t done_bytes; /* of contents that were read */
    uint64_t rows;       /* that were decoded */
} tn_slice_loaded;

/* Runs on the pool of `cx`. Messages name file and byte. */
int tn_slice_load(tarn_cx *cx, const tn_slice_load_options *options, tn_slice_map *map,
                  tn_slice_loaded *out);

#endif
