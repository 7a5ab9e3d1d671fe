/* Encodes one column chunk: pages, dictionary, statistics, indexes, bloom filter. One thread per
 * writer; the chunks of a row group are encoded in parallel and then appended by file_write.h in
 * order. */
#ifndef TN_PARQUET_LEAF_WRITE_H
#define TN_PARQUET_LEAF_WRITE_H

#include "codec/parquet/leaf.h"

typedef struct tn_chunk_writer tn_chunk_writer;

typedef struct tn_chunk_options {
    int32_t codec; /* enum tn_codec */
    int level;     /* of the codec; 0: its default here (zstd 3) */
    bool page_v2;  /* data page v2; default v1 */
    bool no_dictionary;
    uint64_t dictionary_bytes_max; /* 0: 1 MiB; past it the rest falls back to the best plain or
                                      delta encoding */
    uint64_t page_bytes;           /* uncompressed; 0: 1 MiB */
    int64_t page_rows;             /* 0: 20,000 */
    bool crc;
    bool bloom;
    double bloom_fpp;       /* 0: 0.01 */
    bool plain_bytes;       /* byte arrays without dictionary are PLAIN, never delta: pyarrow cannot
                               read delta into the dictionary type that ARROW:schema may name */
    bool byte_stream_split; /* may be chosen for floats and doubles; Spark 3.5 cannot read it */
    bool force_encoding;    /* use `encoding` (enum tn_encoding) whatever it costs; implies
                               no_dictionary. INVALID where the type does not allow it */
    int32_t encoding;
    size_t bound_bytes_max; /* of min and max of byte arrays in statistics and indexes; 0: 64 */
} tn_chunk_options;

/* A finished chunk: page bytes in pieces, and its metadata with offsets relative to the chunk's
 * first byte. */
struct tn_budget;
typedef struct tn_encoded_chunk {
    tn_arena arena; /* of what `meta` and the indexes point to */
    tn_buf *pieces;
    size_t piece_count;
    uint64_t bytes;
    tn_chunk_meta meta;
    bool has_column_index;
    tn_column_index column_index;
    tn_offset_index offset_index;
    tn_buf bloom; /* blocks; empty: none */
    int64_t rows, entries;
    struct tn_budget *budget; /* borrowed: where the bytes were reserved; NULL: nowhere */
    uint64_t reserved_bytes;
    /* The chunk has no pieces: its bytes are those of this one, which stands behind it in its row
     * group, and what `meta` and the column index point to is that one's. NULL: its own. */
    const struct tn_encoded_chunk *same;
} tn_encoded_chunk;

void tn_encoded_chunk_clear(tn_encoded_chunk *chunk);

/* `leaf` is borrowed until close. */
int tn_chunk_writer_open(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                         tn_chunk_writer **out);
void tn_chunk_writer_close(tn_chunk_writer *writer);

/* What the rows of a chunk have told about how they are best written, for the next chunk of their
 * column: it need not try that out again. */
typedef struct tn_chunk_choice {
    bool distinct;        /* the dictionary did not pay, as the first page showed */
    bool encoding_chosen; /* of plain pages */
    int32_t encoding;
    bool level_judged, quick; /* a quicker level than the usual one packs about as well */
} tn_chunk_choice;

/* Before the first row: the choice of the chunk before it, made by a writer of the same options.
 * Whether a dictionary pays is still looked at, by fewer values. */
void tn_chunk_writer_follow(tn_chunk_writer *writer, const tn_chunk_choice *choice);
/* The choice, after the last row. */
tn_chunk_choice tn_chunk_writer_choice(const tn_chunk_writer *writer);
/* Adds whole rows. Values and dictionary are copied or encoded before it returns. */
int tn_chunk_writer_add(tarn_cx *cx, tn_chunk_writer *writer, const tn_leaf_batch *batch);
/* Adds a ready page: header and compressed body as they are to stand in the file, compressed by the
 * chunk's codec (a dictionary page only first). It starts and ends between rows; `rows` of them are
 * in it, with `entries` levels, `nulls` of them without a value (-1: unknown). The bounds go to the
 * column index (null_page, min, max as there). Pages and added rows may be mixed; rows after a
 * ready dictionary page are written without dictionary. Statistics then cover both when every bound
 * is known, else they are left out; null counts, NaN counts, histograms and unencoded bytes
 * likewise; a distinct count and a bloom filter are not given. */
typedef struct tn_ready_page {
    tn_page_header header;
    tn_str levels; /* stands before `body` and counts as part of it: levels made for a v2 page */
    tn_str body;
    int64_t rows, entries, nulls;
    bool has_bounds, null_page;
    bool bounds_exact; /* min and max are values of the page, not mere bounds */
    tn_str min, max;
    bool has_nans; /* `nans` is known: how many values are NaN */
    int64_t nans;
    int64_t unencoded_bytes;                      /* -1: unknown */
    const int64_t *rep_histogram, *def_histogram; /* NULL: unknown */
} tn_ready_page;
int tn_chunk_writer_add_page(tarn_cx *cx, tn_chunk_writer *writer, const tn_ready_page *page);
/* About how many bytes the chunk has so far when compressed. */
uint64_t tn_chunk_writer_bytes(const tn_chunk_writer *writer);
/* Bytes that it holds and has not charged yet: it does when a page ends. NULL: none. */
uint64_t tn_chunk_writer_owed(const tn_chunk_writer *w);
/* Closes the last page and gives the chunk, which is the caller's to clear. */
int tn_chunk_writer_finish(tarn_cx *cx, tn_chunk_writer *writer, tn_encoded_chunk *out);

#endif
