/* One data page opened for decoding: a window of its levels, and its values in order. */
#ifndef TN_PARQUET_LEAF_PAGE_H
#define TN_PARQUET_LEAF_PAGE_H

#include "codec/parquet/decode_level.h"
#include "codec/parquet/decode_value.h"
#include "codec/parquet/page_read.h"

typedef struct tn_leaf_page {
    tn_page page;
    uint16_t max_def, max_rep;
    tn_level_decoder rep, def;
    tn_value_decoder values;
    int64_t undecoded;               /* entries whose levels are not in the window yet */
    tn_lease rep_levels, def_levels; /* the window: levels decoded and not taken are at … len */
    size_t at, len;
} tn_leaf_page;

void tn_leaf_page_clear(tn_leaf_page *page);
/* Reads the body of the data page whose header is ready. `dictionary` may be NULL. */
int tn_leaf_page_open(tarn_cx *cx, tn_page_reader *reader, const tn_values *dictionary,
                      tn_leaf_page *page);
/* Entries not taken yet. */
int64_t tn_leaf_page_left(const tn_leaf_page *page);
/* Makes the window hold at least `want` entries, or all that are left. Moves what earlier windows
 * pointed to. */
int tn_leaf_page_fill(tarn_cx *cx, tn_leaf_page *page, size_t want);
/* For flat columns with an empty window: *all true when the next n entries are all present; they
 * are then taken. */
int tn_leaf_page_all_present(tarn_cx *cx, tn_leaf_page *page, size_t n, bool *all);
/* Gives back the last n of the entries taken by tn_leaf_page_all_present. */
int tn_leaf_page_give_back(tarn_cx *cx, tn_leaf_page *page, size_t n);

/* Takes all that is left without looking at it. */
static inline void tn_leaf_page_drop(tn_leaf_page *page)
{
    page->at = page->len;
    page->undecoded = 0;
}

static inline const uint16_t *tn_leaf_page_rep(const tn_leaf_page *page)
{
    return page->max_rep == 0 ? NULL
                              : (const uint16_t *)(const void *)page->rep_levels.data + page->at;
}

static inline const uint16_t *tn_leaf_page_def(const tn_leaf_page *page)
{
    return page->max_def == 0 ? NULL
                              : (const uint16_t *)(const void *)page->def_levels.data + page->at;
}

/* How many of the first n entries of the window are present. */
size_t tn_leaf_page_present(const tn_leaf_page *page, size_t n);

#endif
