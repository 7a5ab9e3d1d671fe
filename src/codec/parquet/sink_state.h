/* What the files of the Parquet sink share: sink.c takes batches, sink_splice.c row groups of other
 * files with some rows changed, sink_repeat.c knows of a column that has the values of another. */
#ifndef TN_PARQUET_SINK_STATE_H
#define TN_PARQUET_SINK_STATE_H

#include "codec/parquet/arrow.h"
#include "codec/parquet/shred.h"

typedef struct tn_sink_leaf {
    tn_shredder shredder;
    tn_chunk_writer *writer;
    tn_encoded_chunk chunk;
    bool ruled;             /* rows to come follow `made` */
    tn_made made;           /* its `first` is that of the next row */
    tn_buf text;            /* of `made` */
    int64_t ruled_rows;     /* of the open group: the first ones, in no writer */
    tn_chunk_choice choice; /* of the group before */
    unsigned followed;      /* groups in a row that followed it; 0: there is none */
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
    /* Leaf `repeat` may have the values of leaf `repeat_of`, which stands behind it; where
     * `repeating`, it had so in all rows of the open group, and no writer has them. */
    bool may_repeat, repeating;
    size_t repeat, repeat_of, repeat_columns[2];
};

/* sink.c: the leaf of a flat top-level column; NULL: it is not flat. */
const tn_node *tn_sink_column(const tn_parquet_sink *sink, size_t column);
/* sink_repeat.c: whether rows [first, first + rows) of the batch repeat as well. */
bool tn_sink_repeats(const tn_parquet_sink *sink, const struct ArrowArray *batch, int64_t first,
                     int64_t rows);
/* The chunk of the leaf that repeats, out of the chunks of all others. */
int tn_sink_repeat_chunk(tarn_cx *cx, const tn_parquet_sink *sink, tn_encoded_chunk *chunks);

#endif
