/* What the files of the file writer share: file_write.c writes chunks, indexes and footer,
 * file_carry.c takes over row groups of other files. */
#ifndef TN_PARQUET_FILE_WRITE_STATE_H
#define TN_PARQUET_FILE_WRITE_STATE_H

#include "codec/parquet/file_write.h"

#define TN_PARQUET_MAGIC "PAR1"

/* What is kept of a chunk after its bytes are gone; `arena` owns what it points to. */
typedef struct tn_kept_chunk {
    tn_arena arena;
    bool has_column_index, has_offset_index;
    tn_column_index column_index;
    tn_offset_index offset_index;
    tn_buf bloom;
} tn_kept_chunk;

struct tn_parquet_writer {
    tn_arena arena;
    tn_sink *sink;
    const tn_schema *schema;
    bool no_index, finished;
    uint64_t base; /* bytes of the sink before the file */
    tn_footer footer;
    size_t key_value_cap;
    tn_buf groups; /* tn_row_group_meta */
    tn_buf kept;   /* tn_kept_chunk, leaf_count per group */
    tn_buf scratch, piece;
};

/* Room for `count` row groups more, in the file and in memory. */
int tn_write_room(tarn_cx *cx, tn_parquet_writer *w, size_t count);
/* Writes a chunk's bytes and makes its offsets those of the file. */
int tn_write_chunk(tarn_cx *cx, tn_parquet_writer *w, tn_encoded_chunk *chunk);
/* Keeps what stands behind the row groups; there is room. */
void tn_write_keep(tn_parquet_writer *w, tn_encoded_chunk *chunk);

#endif
