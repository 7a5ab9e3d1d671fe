/* Turns the entries of one input leaf into entries of the output's leaf: levels mapped, values
 * cast, missing columns made null. */
#ifndef TN_EXEC_REWRITE_LEAF_H
#define TN_EXEC_REWRITE_LEAF_H

#include "codec/parquet/leaf_read.h"
#include "exec/rewrite_load.h"
#include "task/task.h"

/* Scratch of one output leaf; zeroed is valid. One thread at a time. */
typedef struct tn_leaf_map {
    const tn_leaf *out;
    tn_buf def, rep, values, cells, dictionary, dictionary_cells;
    uint64_t reader_dictionary; /* of the reader at work, as it names it */
    uint64_t dictionary_id;     /* as given on: never the same for two dictionaries */
} tn_leaf_map;

void tn_leaf_map_clear(tn_leaf_map *map);

typedef int (*tn_leaf_take)(tarn_cx *cx, void *arg, const tn_leaf_batch *batch);

/* Does the segment exist, and does the task's mapping fit the file? CONFLICT or INVALID when not.
 */
int tn_leaf_map_check(tarn_cx *cx, const tn_leaf_map *map, const tn_leaf_source *source,
                      const tn_loaded *loaded, const tn_segment *segment);
/* Gives the rows of one segment as batches of the output leaf, in order, to `take`. */
int tn_leaf_map_segment(tarn_cx *cx, tn_store *store, tn_leaf_map *map,
                        const tn_leaf_source *source, const tn_loaded *loaded,
                        const tn_segment *segment, tn_leaf_take take, void *arg);

#endif
