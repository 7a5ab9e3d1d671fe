/* What decoding some blocks of logs gave: batches, and in which order their rows and the deletes
 * between them stand. */
#ifndef TN_EXEC_SLICE_PIECE_H
#define TN_EXEC_SLICE_PIECE_H

#include "codec/avro/avro_rows.h"
#include "exec/slice_blocks.h"
#include "exec/slice_columns.h"

/* Fields before a record's key that are looked over to find it. */
#define TN_SLICE_PEEK_MAX 8

typedef struct tn_slice_run {
    bool is_deletes;
    size_t batch; /* of the piece */
    int64_t first, rows;
    tn_log_deletes deletes;   /* in the piece's arena, and so are these: */
    const int64_t *positions; /* of deletes; NULL: not asked for */
} tn_slice_run;

/* Decodes records of one schema. */
typedef struct tn_slice_writer {
    tn_str text;                    /* of the schema */
    const tn_scan_version *version; /* what its columns were called; NULL: as today */
    bool partial;
    tn_avro_schema schema;
    tn_avro_rows *rows;
    int key_field; /* strings, or strings or null, reach to the record key; -1: it is elsewhere */
    uint8_t nullable[TN_SLICE_PEEK_MAX]; /* of those: 1 where null is branch 0, 2 where it is 1 */
    uint8_t *has; /* as in tn_slice_batch; NULL: all columns, or those of today count as there */
} tn_slice_writer;

typedef struct tn_slice_piece {
    const tn_slice_columns *columns;
    tn_store *store;
    const tn_slice_pick *pick;
    bool by_position;   /* positions of records are asked for */
    uint64_t base_rows; /* of the base file that they are of */
    bool misplaced;     /* a block has another number of them than of records, or one beyond */
    tn_arena arena;
    struct ArrowArray *batches;
    const uint8_t **has; /* per batch */
    tn_buf *places;      /* per batch: the position of each row; empty: not asked for */
    size_t batch_count, batch_cap, has_cap, place_cap;
    tn_buf open_places; /* of the rows that are not handed out yet */
    tn_slice_run *runs;
    size_t run_count, run_cap;
    tn_slice_writer **writers;
    size_t writer_count, writer_cap;
    tn_slice_writer *open; /* whose rows are not handed out yet */
    const tn_log *log;     /* whose file is open */
    tn_file *file;
    tn_buf content;
    char where[256];
} tn_slice_piece;

/* Zeroed but for columns, store, pick, by_position and base_rows is empty and valid. */
void tn_slice_piece_clear(tn_slice_piece *piece);
/* All of a block. */
int tn_slice_piece_add(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block);
/* Some records of an Avro block; their positions, or NULL. */
int tn_slice_piece_records(tarn_cx *cx, tn_slice_piece *piece, const tn_slice_block *block,
                           const tn_str *records, const int64_t *positions, size_t count);
/* The positions of a block's records, in the arena; NULL when they are not `count`, or not all of
 * rows below `base_rows`. */
int tn_slice_positions(tarn_cx *cx, const tn_slice_block *block, tn_arena *arena, size_t count,
                       uint64_t base_rows, const int64_t **out);
/* After the last of them. */
int tn_slice_piece_finish(tarn_cx *cx, tn_slice_piece *piece);
/* "path: byte n", cut where it is long. */
void tn_slice_where(const tn_slice_block *block, char *text, size_t size);

#endif
