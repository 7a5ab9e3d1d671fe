/* The data pages of one column chunk, with its dictionary. */
#ifndef TN_PARQUET_LEAF_FEED_H
#define TN_PARQUET_LEAF_FEED_H

#include "codec/parquet/leaf_page.h"
#include "codec/parquet/leaf_read.h"

typedef struct tn_leaf_feed {
    const tn_leaf *leaf;
    const tn_offset_index *index; /* NULL: none */
    int64_t group_rows, chunk_entries;
    tn_page_reader pages;
    bool jumped;          /* by the index, whose row counts are then checked */
    int64_t entries_seen; /* of pages given or passed; -1: unknown after a jump */
    size_t data_page;     /* ordinal of the next header among the data pages, for the index */
    tn_page dictionary_page;
    tn_lease dictionary_values;
    tn_values dictionary; /* data NULL: none was met */
    uint64_t dictionary_id;
} tn_leaf_feed;

/* The feed is zeroed before; all is borrowed until clear. */
int tn_leaf_feed_init(tarn_cx *cx, tn_leaf_feed *feed, const tn_parquet *file, size_t group,
                      size_t leaf, tn_source *source, const tn_leaf_read_options *options);
void tn_leaf_feed_clear(tn_leaf_feed *feed);
/* Stands at the next data page that has entries, its header in feed->pages.header: loads the
 * dictionary, passes over all else. *ended true when the chunk has no more. */
int tn_leaf_feed_header(tarn_cx *cx, tn_leaf_feed *feed, bool *ended);
/* The next data page into a slot. */
int tn_leaf_feed_load(tarn_cx *cx, tn_leaf_feed *feed, tn_leaf_page *slot, bool *ended);
/* Passes over the data page at which tn_leaf_feed_header stands. */
void tn_leaf_feed_pass(tn_leaf_feed *feed);
/* Jumps ahead to the page that holds row `target`, when the index knows a better one than the next;
 * `row` is the next row now, *landed the first of the page met. A header must have been stood at
 * before, so that the dictionary was met. */
bool tn_leaf_feed_jump(tn_leaf_feed *feed, int64_t row, int64_t target, int64_t *landed);

#endif
