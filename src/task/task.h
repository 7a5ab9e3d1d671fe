/* Tasks and results as plain values, and their wire form (JSON, one line each; task/wire.c).
 * A task is complete: exec needs nothing but it and the store. Paths are those of the store.
 * Everything a task points to lives in the arena of who made or parsed it. */
#ifndef TN_TASK_TASK_H
#define TN_TASK_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "task/way.h"

enum tn_task_kind {
    TN_TASK_REWRITE = 1 /* many Parquet inputs, row ranges of them, into one Parquet output */
};

/* A file as the plan saw it. Exec and commit refuse it (CONFLICT) when it is not the same any more.
 */
typedef struct tn_file_seen {
    tn_str path;
    uint64_t size_bytes;
    int64_t mtime_ns;
    uint64_t inode; /* 0: unknown */
} tn_file_seen;

enum tn_cast {
    TN_CAST_NONE = 0, /* the same physical values */
    TN_CAST_INT32_INT64,
    TN_CAST_INT32_DOUBLE,
    TN_CAST_FLOAT_DOUBLE,
    TN_CAST_DECIMAL, /* big-endian or integer decimal to the output's physical form, sign-extended,
                        same scale */
    TN_CAST_NULL,    /* the input leaf is annotated as always null: its levels count, a value is an
                        error */
    TN_CAST_UINT32_INT64,
    TN_CAST_MILLIS_MICROS /* of int64: times 1000; beyond int64 is an error */
};

/* Where one leaf of the output comes from in one input schema. */
typedef struct tn_leaf_source {
    int32_t leaf;  /* index of the input's leaf, or -1: missing there, so null */
    int32_t donor; /* with leaf -1: an input leaf that shares the longest path, whose levels show
                      where parents are null, absent, or repeat; -1: null for each row */
    int32_t donor_def, donor_rep; /* levels of the deepest shared node, in the input; deeper entries
                                     collapse into one */
    int32_t cast;                 /* enum tn_cast */
    uint16_t *def_map; /* input definition level -> output definition level; def_map_count long;
                          NULL: the same levels */
    uint32_t def_map_count;
} tn_leaf_source;

typedef struct tn_task_input {
    tn_file_seen file;
    uint32_t mapping; /* index into mappings */
    int64_t rows;
} tn_task_input;

/* Rows [first_row, first_row + rows) of one input's row group go to the output row group, in this
 * order. */
typedef struct tn_segment {
    uint32_t input, group;
    int64_t first_row, rows;
} tn_segment;

typedef struct tn_output_group {
    tn_segment *segments;
    size_t segment_count;
    int64_t rows;
} tn_output_group;

typedef struct tn_sort_key {
    tn_str column; /* dotted path of a leaf without repetition */
    bool descending, nulls_last;
} tn_sort_key;

typedef struct tn_task_rewrite {
    tn_task_input *inputs;
    size_t input_count;
    tn_str schema; /* SchemaElements of the output: the Thrift bytes of a footer that holds nothing
                      else */
    tn_leaf_source **mappings; /* mapping -> one per output leaf */
    size_t mapping_count, leaf_count;
    tn_output_group
        *groups; /* without sort keys; with them: what to read, the output is cut anew */
    size_t group_count;
    tn_str
        output; /* staged path: exec creates it, never replacing anything but an own earlier try */
    tn_str *key_names, *key_values; /* footer metadata of the output; a value may be {NULL, 0} */
    size_t key_count;
    tn_str created_by;
    int32_t codec; /* enum tn_codec of the output */
    int32_t level;
    int64_t group_bytes, group_rows; /* for sorted output */
    tn_sort_key *sort;
    size_t sort_count;
    bool hash; /* the result carries a content hash (order-free when sorted) of inputs and of the
                  output */
    bool bloom_leaves_any; /* some input had bloom filters: write them for the leaves in bloom_leaf
                            */
    bool *bloom_leaf;      /* leaf_count long, or NULL */
    bool crc, index;       /* write page checksums, indexes */
    tn_leaf_intent *intents; /* leaf_count long: how each leaf is to be made */
} tn_task_rewrite;

typedef struct tn_task {
    uint32_t number; /* position in the plan, from 0 */
    enum tn_task_kind kind;
    tn_str plan_id;
    tn_task_rewrite rewrite;
} tn_task;

typedef struct tn_result {
    uint32_t number;
    tn_str plan_id;
    int status; /* TARN_OK, or why the task failed, with text */
    tn_str text;
    tn_str output;
    uint64_t output_bytes;
    int64_t rows_in, rows_out;
    bool hashed;
    uint64_t hash_in, hash_out; /* of whole rows; the output's is taken from the bytes read back */
    uint64_t read_bytes;
    uint32_t row_groups;
    tn_leaf_done *leaves; /* how each leaf was made; none after a failure */
    size_t leaf_count;
    tn_str notes; /* what the output does not carry over, a sentence a line; empty: nothing */
} tn_result;

/* One line of JSON without the newline. */
int tn_task_write(tarn_cx *cx, const tn_task *task, tn_buf *out);
int tn_task_parse(tarn_cx *cx, tn_str line, tn_arena *arena, tn_task *out);
int tn_result_write(tarn_cx *cx, const tn_result *result, tn_buf *out);
int tn_result_parse(tarn_cx *cx, tn_str line, tn_arena *arena, tn_result *out);

#endif
