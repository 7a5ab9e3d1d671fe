/* What the files of the chunk writer share: leaf_write.c takes rows and ready pages,
 * leaf_write_page.c makes pages of them, leaf_write_choice.c picks encodings, leaf_write_finish.c
 * makes the chunk's metadata. */
#ifndef TN_PARQUET_LEAF_WRITE_STATE_H
#define TN_PARQUET_LEAF_WRITE_STATE_H

#include "codec/parquet/bounds.h"
#include "codec/parquet/dict.h"
#include "codec/parquet/leaf_write.h"
#include "codec/zip/zip.h"

/* The page under way. Its values are dictionary indices, or plain: packed as in tn_values, byte
 * arrays each with its length before it (which is their PLAIN encoding). */
typedef struct tn_pending {
    int64_t rows, entries, values;
    bool leveled; /* `def` has been written; else every entry is present */
    tn_buf def, rep;
    tn_buf indices; /* uint32_t */
    tn_buf plain;
} tn_pending;

/* A page written. */
typedef struct tn_written_page {
    int64_t bytes; /* header included */
    int64_t rows, entries, nulls;
    int64_t nans;            /* -1: unknown; 0 for types that have none */
    int64_t unencoded_bytes; /* -1: unknown */
    int32_t type, encoding;
    bool null_page, has_bounds;
    size_t min_at, min_len, max_at, max_len; /* in bound_bytes, shortened */
} tn_written_page;

struct tn_chunk_writer {
    const tn_leaf *leaf;
    tn_chunk_options options; /* defaults filled in */
    enum tn_bounds_order order;
    bool text;
    size_t width;
    unsigned def_width, rep_width;

    tn_pending page;
    bool dictionary;      /* rows go through `dict` */
    bool encoding_chosen; /* of plain pages: `encoding` holds */
    int32_t encoding;
    tn_dict dict;
    uint32_t dict_written; /* values of `dict` that written pages may use */
    bool dict_spare;       /* `dict` may hold values that no row has */
    bool dict_kept;        /* whether it pays was judged elsewhere */
    bool dict_doubted;     /* it did not pay in the chunk before */
    tn_buf remap;          /* uint32_t per value of the incoming dictionary, UINT32_MAX: not yet */
    uint64_t remap_id;

    tn_buf pieces; /* tn_buf each, one per page */
    tn_buf notes;  /* tn_written_page of data pages */
    tn_buf bound_bytes;
    tn_buf rep_histograms, def_histograms; /* int64_t, max level + 1 per data page */
    tn_bounds page_bounds, bounds;         /* `bounds` of the whole chunk, not shortened */
    bool bounds_inexact, bounds_unknown;   /* by ready pages */
    bool index_unbounded;                  /* a page has no bounds that may stand in an index */
    bool histograms_unknown;
    bool ready, ready_dictionary;
    tn_encoding_stat dictionary_stat;
    int64_t rows, entries;
    uint64_t bytes, uncompressed_bytes; /* of data pages */
    uint64_t dictionary_bytes, dictionary_uncompressed_bytes;
    uint64_t filter_bytes;
    bool dense;               /* the page packed last hardly shrank */
    bool level_judged, quick; /* `quick`: the quickest level of zstd packs about as well */
    tn_buf hashes;            /* uint64_t of plain values, for the bloom filter */

    tn_buf body, packed, scratch, views, header;
    struct tn_budget *budget; /* borrowed: where reserved_bytes were taken */
    uint64_t reserved_bytes;
};

static inline size_t tn_write_page_count(const tn_chunk_writer *w)
{
    return w->notes.len / sizeof(tn_written_page);
}

/* Writes the pending page, which is not empty. */
int tn_write_page(tarn_cx *cx, tn_chunk_writer *w);
/* Compresses `body`, of which the first `levels` bytes are v2 levels, and appends header and bytes
 * to `out`; *uncompressed is what the footer counts. */
int tn_write_pack(tarn_cx *cx, tn_chunk_writer *w, tn_page_header *header, size_t levels,
                  tn_buf *out, uint64_t *uncompressed);
/* Keeps a note of a data page, and its bounds, shortened. `histograms` may be NULL: unknown. */
int tn_write_note(tarn_cx *cx, tn_chunk_writer *w, tn_written_page note, const int64_t *rep,
                  const int64_t *def, tn_str min, tn_str max);
/* The pending plain values as tn_values (views into `plain`), valid until the next change. */
int tn_write_values(tarn_cx *cx, tn_chunk_writer *w, tn_values *out);

/* True when the dictionary is not worth keeping, judged on the first page. */
int tn_choice_drops_dictionary(tarn_cx *cx, tn_chunk_writer *w, bool *out);
/* True when values that had no use for a dictionary in the chunk before have none here either. */
bool tn_choice_still_distinct(const tn_chunk_writer *w);
/* The encoding of plain pages, judged on a sample of `values`. */
int tn_choice_of_encoding(tarn_cx *cx, tn_chunk_writer *w, tn_values values, int32_t *out);
/* Appends `values` by `encoding`. */
int tn_choice_encode(tarn_cx *cx, tn_buf *out, const tn_leaf *leaf, int32_t encoding,
                     tn_values values);

/* True when so many values, of which `dict` holds the distinct ones, foretell a dictionary past its
 * limit or one whose indices save nothing. */
bool tn_choice_outgrows(const tn_chunk_writer *w, int64_t values);

/* A data page whose indices are those of `dict`, of which it may use the first `used` values.
 * Nothing is pending: writing that might give `dict` up. */
int tn_chunk_writer_add_indexed(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page,
                                uint32_t used);
/* A ready page whose body is not compressed yet (its levels, if apart, stay plain): sizes and
 * checksum of the header are set here. `used` as above; 0: no indices of `dict`. */
int tn_chunk_writer_add_loose(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page,
                              uint32_t used);
/* Whole rows, few enough for one page, whose values are given by PLAIN as a page has them. CORRUPT
 * when these are fewer than batch->values.count values; what follows those is passed over. Not for
 * booleans; rows do not go by `dict` now. */
int tn_chunk_writer_add_plain(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch,
                              tn_str plain);
/* CRC-32 of bytes that stand one after the other. */
uint32_t tn_write_checksum(tn_str a, tn_str b);

/* Writes what is pending. */
int tn_chunk_writer_flush(tarn_cx *cx, tn_chunk_writer *w);
/* The bloom filter of the rows added, when wanted; nothing when there are ready pages. */
int tn_write_filter(tarn_cx *cx, tn_chunk_writer *w, tn_buf *out);
/* Brings the memory reservation in line with what is held. */
int tn_chunk_writer_settle(tarn_cx *cx, tn_chunk_writer *w);
/* Reserves `more` beyond what is held before it is allocated; settle puts right what was too much.
 */
int tn_chunk_writer_expect(tarn_cx *cx, tn_chunk_writer *w, uint64_t more);
/* Growth smaller than this is reserved by settle alone, after the fact. */
#define TN_LARGE_COPY_BYTES (4u << 20)

#endif
