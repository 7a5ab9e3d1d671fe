/* A piece of the input: lines parsed apart from all others, for a thread of its own. */
#ifndef TN_NDJSON_PIECE_H
#define TN_NDJSON_PIECE_H

#include "batch/array.h"
#include "codec/ndjson/ndjson_parse.h"
#include "codec/text/text_lines.h"

/* A record that did not fit. */
typedef struct tn_ndjson_bad {
    uint64_t line; /* of the piece, from 1 */
    tn_str path, record;
    const char *why;
    bool inferred;
} tn_ndjson_bad;

typedef struct tn_ndjson_piece {
    tn_build *build;
    tn_ndjson_parser parser;
    int64_t batch_rows;
    bool stop_at_bad;
    tn_str text;    /* lines to be parsed; what is left of them */
    uint64_t lines; /* taken from `text` so far */
    int64_t rows;   /* in the builders */
    struct ArrowArray *batches;
    tn_text_lines *batch_lines; /* of each, lines of the piece */
    size_t batch_count, batch_cap, lines_cap, lines_count;
    tn_text_lines made_lines; /* of the rows in the builders */
    uint64_t first_line;      /* lines before the piece, once they are known */
    tn_ndjson_bad *bad;
    size_t bad_count, bad_cap;
    tn_arena arena; /* of `bad` */
} tn_ndjson_piece;

/* Zeroed before; cleared after a failure too. All is borrowed. */
int tn_ndjson_piece_init(tarn_cx *cx, tn_ndjson_piece *piece, const struct ArrowSchema *schema,
                         const tn_text_read_options *options);
void tn_ndjson_piece_clear(tn_ndjson_piece *piece);
/* Parses the lines of `text`, until there are none left or many bad ones: then `text` is not empty,
 * and once they are settled it is to be called again. */
int tn_ndjson_piece_lines(tarn_cx *cx, tn_ndjson_piece *piece);
/* Parses one record, at a line of its own count. */
int tn_ndjson_piece_record(tarn_cx *cx, tn_ndjson_piece *piece, tn_str record, uint64_t line);
/* Makes a batch of the rows that are in the builders, if there are any. */
int tn_ndjson_piece_flush(tarn_cx *cx, tn_ndjson_piece *piece);
/* Forgets the bad records, and keys left out, which have been told. */
void tn_ndjson_piece_settled(tn_ndjson_piece *piece);

#endif
