/* Reads one column chunk as batches of whole rows. One thread per reader; many readers per file. */
#ifndef TN_PARQUET_LEAF_READ_H
#define TN_PARQUET_LEAF_READ_H

#include "codec/parquet/file.h"
#include "codec/parquet/leaf.h"

typedef struct tn_leaf_reader tn_leaf_reader;

typedef struct tn_leaf_read_options {
    bool skip_crc;        /* page checksums are verified when present, unless this is set */
    bool keep_dictionary; /* give indices and dictionary where a page is dictionary-encoded; else
                             values only */
    const tn_offset_index *pages; /* lets tn_leaf_reader_skip jump over whole pages; NULL: none */
} tn_leaf_read_options;

/* `source` serves the bytes of the chunk (and only this reader); it is borrowed and must outlive
 * the reader. For a chunk in memory give tn_source_memory(bytes, len, offset of the chunk in the
 * file). */
int tn_leaf_reader_open(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                        tn_source *source, const tn_leaf_read_options *options,
                        tn_leaf_reader **out);
void tn_leaf_reader_close(tn_leaf_reader *reader);
/* The next batch of at most rows_max rows; fewer where a page, a change of dictionary or the size
 * of rebuilt values (about 16 MiB) cuts it; a row that spans pages is joined and comes alone, as
 * values. rows 0 at the end, when the chunk has had exactly the rows of its group. Failures name
 * file, column, row group, page and byte; after one the reader gives nothing more. The batch is
 * valid until the next call. */
int tn_leaf_reader_next(tarn_cx *cx, tn_leaf_reader *reader, int64_t rows_max, tn_leaf_batch *out);
/* Passes over the next `rows` rows, INVALID when there are fewer: whole pages by the index or by
 * their headers without decompressing them, else by levels, without decoding values where it can.
 */
int tn_leaf_reader_skip(tarn_cx *cx, tn_leaf_reader *reader, int64_t rows);

#endif
