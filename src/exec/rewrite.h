/* A rewrite under way, shared by the files of exec/ that do it. */
#ifndef TN_EXEC_REWRITE_H
#define TN_EXEC_REWRITE_H

#include "codec/parquet/chunk_join.h"
#include "codec/parquet/file_write.h"
#include "exec/rewrite_filter.h"
#include "exec/rewrite_hash.h"
#include "exec/rewrite_leaf.h"
#include "io/store.h"
#include "task/task.h"

typedef struct tn_rewrite {
    tn_store *store;
    const tn_task_rewrite *task;
    tn_arena arena;
    tn_schema schema; /* of the output */
    tn_sink *sink;
    tn_parquet_writer *writer;
    tn_leaf_map *maps;          /* per leaf */
    tn_leaf_hash *hashes;       /* per leaf; NULL: no hash is wanted */
    tn_chunk_writer **chunks;   /* per leaf, of the row group at work */
    tn_chunk_join **joins;      /* per leaf, instead of a writer where chunks are joined */
    tn_join_counts *counts;     /* per leaf, of all row groups */
    tn_rewrite_filter *filters; /* per leaf that is joined */
    tn_encoded_chunk *encoded;  /* per leaf */
    bool ready;                 /* the arrays are all there */
    bool *plain_bytes;          /* per leaf: the output's ARROW:schema calls it a dictionary */
    _Atomic uint64_t read_bytes;
    uint64_t hash_in;
    int64_t rows_in;
    uint32_t row_groups;
} tn_rewrite;

tn_chunk_options tn_rewrite_chunk_options(tarn_cx *cx, const tn_rewrite *r, size_t leaf);
/* Hands the chunks that `encoded` holds to the writer as a row group of `rows` rows. */
int tn_rewrite_row_group(tarn_cx *cx, tn_rewrite *r, int64_t rows, const tn_sorting_column *sorting,
                         size_t sorting_count);

/* rewrite_group.c: the task's row groups, in its order of rows. */
int tn_rewrite_groups(tarn_cx *cx, tn_rewrite *r);
/* rewrite_sort.c: the whole task with its rows in the order of its sort keys. */
int tn_rewrite_sorted(tarn_cx *cx, tn_rewrite *r);
/* rewrite_verify.c: reads the output back; its rows and, if wanted, its hash (order-free when
 * sorted). */
int tn_rewrite_verify(tarn_cx *cx, tn_rewrite *r, tn_result *result);

#endif
