/* What the files of the chunk joiner share: chunk_join.c chooses the ways, chunk_join_list.c lists
 * the pages of a part, chunk_join_dictionary.c brings its dictionary under the output's,
 * chunk_join_page.c moves pages, chunk_join_known.c says what is known of them, chunk_splice.c
 * changes rows of a part. */
#ifndef TN_PARQUET_CHUNK_JOIN_STATE_H
#define TN_PARQUET_CHUNK_JOIN_STATE_H

#include "codec/parquet/chunk_join.h"
#include "codec/parquet/leaf_page.h"
#include "codec/parquet/leaf_write_state.h"

/* A data page of the part at hand. */
typedef struct tn_join_page {
    tn_page_header header; /* its statistics are in the part's arena, or taken off */
    uint64_t at;
    int64_t number;
    int64_t rows;
    int64_t nulls; /* -1: unknown */
    bool coded;    /* by dictionary */
    bool counted;  /* its histograms are known */
} tn_join_page;

/* What the chunk's own statistics say, when they may be believed. */
typedef struct tn_join_bounds {
    bool has, exact;
    tn_str min, max;
} tn_join_bounds;

struct tn_chunk_join {
    const tn_leaf *leaf;
    enum tn_join_way cheapest;
    tn_chunk_writer *writer;
    tn_join_counts counts;
    bool in_batches; /* the rows added last came as batches */
    bool splices;    /* the output's dictionary is the part's, whether it pays or not */
    bool closed;     /* no more values go to the output's dictionary */
    int64_t seen;    /* values that went by it so far */

    /* The part at hand. */
    const tn_join_part *part;
    const tn_leaf *from;
    const tn_chunk_meta *meta;
    tn_page_reader pages;
    tn_arena arena;
    tn_lease list; /* tn_join_page each */
    size_t page_count, coded_count;
    int64_t entries, nulls; /* of all pages; nulls -1: unknown */
    tn_lease histograms;    /* per page: repetition, then definition levels of the input */
    bool has_dictionary;
    tn_join_page dictionary_page; /* its header and place */
    tn_page dictionary;           /* the body, once loaded */
    tn_lease dictionary_room;
    tn_values values; /* of it; data NULL: not loaded */
    uint64_t dictionary_id;
    tn_bounds dictionary_bounds;
    bool dictionary_bounded; /* they are known */
    bool same_indices;       /* once mapped: an index stands for the same value in the output */
    tn_join_bounds bounds;
    tn_column_index index; /* where `indexed` */
    bool indexed;          /* what it says of nulls agrees with the chunk's */
    enum tn_join_way way;  /* the dearest so far */

    tn_leaf_page slot;
    tn_lease indices;
    tn_pending gathered; /* levels of several pages */
    tn_buf def, levels;  /* mapped; encoded */
    tn_buf out_histogram;
};

static inline tn_join_page *tn_join_page_at(const tn_chunk_join *join, size_t i)
{
    return (tn_join_page *)(void *)join->list.data + i;
}

/* The histograms of page i: repetition levels, then definition levels. */
static inline int64_t *tn_join_histogram(const tn_chunk_join *join, size_t i)
{
    size_t each = join->from->max_rep + (size_t)1 + join->from->max_def + 1;

    return (int64_t *)(void *)join->histograms.data + i * each;
}

/* Makes `part` the one at hand. INVALID when it is of another type, CORRUPT when its counts
 * contradict each other. */
int tn_join_begin(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part);
/* Forgets it. */
void tn_join_end(tn_chunk_join *join);
/* Rows come by the writer's dictionary or not; what is pending of the other kind is written first.
 */
int tn_join_turn(tarn_cx *cx, tn_chunk_join *join, bool by_index);
/* Pages by dictionary stand before all others, as every writer makes them: the vectorized reader of
 * Spark 3.5 takes rows of a plain page for indices where a page by dictionary comes later in the
 * same batch, and in repeated columns, whose batches may hold more values than rows, writes past an
 * array. A flat page of nulls alone does not count, nobody looks into it. */
bool tn_join_past_dictionary(const tn_chunk_join *join);
/* Bytes of the part at hand went this way; the first reason stays. */
void tn_join_went(tn_chunk_join *join, enum tn_join_way way, uint64_t bytes, const char *why);
/* Of a page, its header included. */
static inline uint64_t tn_join_bytes_of(const tn_join_page *page)
{
    return page->header.header_bytes + (uint64_t)page->header.compressed_bytes;
}

/* Puts file, column, row group and page before a failure about the page. */
int tn_join_fail(tarn_cx *cx, int status, const tn_chunk_join *join, const tn_join_page *page);

/* Reads the headers of all pages, and the levels where these are needed: those of nested columns,
 * whose pages must end between rows, and those of version 2 pages, which are plain. *why is a
 * reason why pages cannot be moved, or NULL. */
int tn_join_list(tarn_cx *cx, tn_chunk_join *join, const char **why);

/* Whether every value of the part stands for itself: the dictionary has as many values as there
 * are, and the indices run 0, 1, 2 …; the levels of all pages are then in `gathered`. */
int tn_join_runs(tarn_cx *cx, tn_chunk_join *join, bool *runs);
/* Brings the values of the part's dictionary into the output's; *mapped false: they do not fit, or
 * it would not pay. The writer has nothing pending, unless rows are to be added to what is. */
int tn_join_map(tarn_cx *cx, tn_chunk_join *join, bool *mapped);
int tn_join_dictionary(tarn_cx *cx, tn_chunk_join *join);

/* Bounds of the chunk, when they may be believed. */
void tn_join_bounds_of_chunk(tn_chunk_join *join);
/* Rows, nulls, bounds, histograms … of page i. */
int tn_join_know(tarn_cx *cx, tn_chunk_join *join, size_t i, tn_ready_page *out);
/* The same of all pages as one of `bytes` of PLAIN values behind `gathered` levels. */
int tn_join_know_all(tarn_cx *cx, tn_chunk_join *join, size_t bytes, tn_ready_page *out);

/* Whether levels, and compressed bytes of a page, may stand in the output as they are. */
bool tn_join_same_levels(const tn_chunk_join *join);
bool tn_join_same_codec(const tn_chunk_join *join, const tn_page_header *header);
/* Page i as it is, or with new levels, or packed anew by the output's codec. */
int tn_join_copy(tarn_cx *cx, tn_chunk_join *join, size_t i);
/* Takes the next n levels of `slot`: those of the output, and how many entries are present. */
int tn_join_take_levels(tarn_cx *cx, tn_chunk_join *join, size_t n, tn_leaf_batch *batch);
/* Appends the levels of a batch to `gathered`. */
int tn_join_gather(tarn_cx *cx, tn_chunk_join *join, const tn_leaf_batch *batch);
/* The dictionary's bytes as one data page behind `gathered` levels. */
int tn_join_sequence(tarn_cx *cx, tn_chunk_join *join);
/* The dictionary's bytes, appended to the plain page under way behind `gathered` levels. */
int tn_join_append_dictionary(tarn_cx *cx, tn_chunk_join *join);
/* The PLAIN bytes of page i, appended likewise. */
int tn_join_append(tarn_cx *cx, tn_chunk_join *join, size_t i);
/* Page i, which is by dictionary, as rows: by index where the writer goes by dictionary, else by
 * value. */
int tn_join_rows(tarn_cx *cx, tn_chunk_join *join, size_t i);

#endif
