/* Joins column chunks of many row groups into one chunk, decoding as little as it can.
 *
 * Ways, from the cheapest; a chunk of the output may have several, run by run:
 *   COPY      pages that are not dictionary-encoded, and pages under an equal dictionary: their
 *             compressed bytes as they are
 *   SEQUENCE  a dictionary as long as its values, used as 0, 1, 2 …: the dictionary page's
 *             compressed bytes are the PLAIN values of a data page v2
 *   REMAP     indices are decoded and written again under the union of the dictionaries
 *   REPACK    tiny pages: PLAIN bytes appended, levels and indices run-length encoded again
 *   ENCODE    values are decoded and encoded
 * Or takes one chunk over with some of its rows changed (chunk_splice.c).
 * One thread per join; the chunks of a row group are joined in parallel. */
#ifndef TN_PARQUET_CHUNK_JOIN_H
#define TN_PARQUET_CHUNK_JOIN_H

#include "codec/parquet/file.h"
#include "codec/parquet/leaf_write.h"

enum tn_join_way {
    TN_JOIN_COPY = 0,
    TN_JOIN_SEQUENCE,
    TN_JOIN_REMAP,
    TN_JOIN_REPACK,
    TN_JOIN_ENCODE,
    TN_JOIN_WAYS
};

/* What was done, summed over the chunks joined. */
typedef struct tn_join_counts {
    uint64_t chunks[TN_JOIN_WAYS]; /* input chunks, by the dearest way that was taken for it */
    uint64_t bytes[TN_JOIN_WAYS];  /* compressed, of the pages that went each way */
    const char *why[TN_JOIN_WAYS]; /* the first reason why a dearer way than COPY was taken; static
                                      text, NULL: none */
} tn_join_counts;

/* One whole input chunk. All is borrowed for the call. */
typedef struct tn_join_part {
    const tn_parquet *file;
    size_t group, leaf;
    tn_source *source; /* serves the chunk's bytes */
    /* Input definition level -> output definition level, max_def + 1 long; NULL: the same. The
     * repetition levels are the same. */
    const uint16_t *def_map;
    /* Its indexes, where they were read; NULL: what they know of pages is looked for elsewhere. */
    const tn_column_index *column_index;
    const tn_offset_index *offset_index;
} tn_join_part;

/* A row of a chunk that changes. */
typedef struct tn_splice_row {
    int64_t row;  /* of the row group */
    int64_t with; /* which of the rows that come in stands in its place; -1: none, it is deleted */
} tn_splice_row;

/* The changes of a chunk: rows ascend strictly, and so does `with` of those that have one. */
typedef struct tn_splice {
    const tn_splice_row *rows;
    size_t count;
    /* Rows [first, first + rows) of those that come in, with the levels of the output, which stay
     * until its next call. */
    int (*give)(tarn_cx *cx, void *arg, int64_t first, int64_t rows, tn_leaf_batch *out);
    void *arg;
} tn_splice;

typedef struct tn_chunk_join tn_chunk_join;

/* `leaf` is that of the output, borrowed until close. `cheapest`: no way before it is taken (what
 * the plan allows). */
int tn_chunk_join_open(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                       enum tn_join_way cheapest, tn_chunk_join **out);
void tn_chunk_join_close(tn_chunk_join *join);
/* Appends all rows of a chunk of the same physical type (and length, and annotation). */
int tn_chunk_join_add(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part);
/* Appends rows that the caller decoded: parts of row groups, cast values, nulls. Counts as ENCODE,
 * with `why`. */
int tn_chunk_join_add_batch(tarn_cx *cx, tn_chunk_join *join, const tn_leaf_batch *batch,
                            const char *why);
/* Appends the rows of a chunk but for some: pages without a change go as tn_chunk_join_add has
 * them, pages with one row by row. Alone in its join, without def_map; the source has the chunk in
 * memory. Where pages cannot be told apart, or have become small, all of them go row by row. */
int tn_chunk_join_splice(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part,
                         const tn_splice *splice);
/* The chunk, which is the caller's to clear, and what was done (`counts` is added to). */
int tn_chunk_join_finish(tarn_cx *cx, tn_chunk_join *join, tn_encoded_chunk *out,
                         tn_join_counts *counts);

#endif
