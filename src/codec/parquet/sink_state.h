/* What the files of the Parquet sink share: sink.c takes batches, sink_splice.c row groups of other
 * files with some rows changed. */
#ifndef TN_PARQUET_SINK_STATE_H
#define TN_PARQUET_SINK_STATE_H

#include "codec/parquet/arrow.h"
#include "codec/parquet/shred.h"

typedef struct tn_sink_leaf {
    tn_shredder shredder;
    tn_chunk_writer *writer;
    tn_encoded_chunk chunk;
    bool ruled;         /* rows to come follow `made` */
    tn_made made;       /* its `first` is that of the next row */
    tn_buf text;        /* of `made` */
    int64_t ruled_rows; /* of the open group: the first ones, in no writer */
} tn_sink_leaf;

struct tn_parquet_sink {
    tn_arena arena;
    struct ArrowSchema arrow;
    tn_schema schema;
    tn_shred_path *paths;
    tn_parquet_sink_options options;
    tn_parquet_writer *writer;
    tn_sink_leaf *leaves;
    int64_t rows, group_rows; /* added in all, and to the open group */
    bool group_open, ruled;   /* `ruled`: a leaf is */
};

#endif
