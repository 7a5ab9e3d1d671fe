/* A piece of the input.
 * I1: what a piece gives depends on its lines alone: pieces may be parsed in any order, on any
 *     thread, and are told and handed out in theirs.
 * I2: what is kept of bad records is bounded, however many there are. */
#include "codec/ndjson/ndjson_piece.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Measured as a batch is built, every so many rows. */
#define BATCH_BYTES_MAX  (32u << 20)
#define BATCH_CHECK_ROWS 256
#define BAD_MAX          1024

int tn_ndjson_piece_init(tarn_cx *cx, tn_ndjson_piece *piece, const struct ArrowSchema *schema,
                         const tn_text_read_options *options)
{
    int rc = TARN_OK;

    TN_TRY(tn_build_open(cx, schema, &piece->build));
    TN_TRY(tn_ndjson_parser_init(cx, &piece->parser, piece->build, options));
    piece->stop_at_bad = options->reject == NULL;
done:
    return rc;
}

void tn_ndjson_piece_clear(tn_ndjson_piece *piece)
{
    for (size_t i = 0; i < piece->batch_count; i++)
        tn_array_release(&piece->batches[i]);
    for (size_t i = 0; i < piece->lines_count; i++)
        tn_text_lines_clear(&piece->batch_lines[i]);
    tn_text_lines_clear(&piece->made_lines);
    free(piece->batch_lines);
    free(piece->batches);
    free(piece->bad);
    tn_ndjson_parser_clear(&piece->parser);
    tn_build_close(piece->build);
    tn_arena_clear(&piece->arena);
}

void tn_ndjson_piece_settled(tn_ndjson_piece *piece)
{
    piece->bad_count = 0;
    tn_arena_clear(&piece->arena);
}

/* The lines of the rows that become a batch; those of an earlier one there are let go. */
static int keep_lines(tarn_cx *cx, tn_ndjson_piece *piece)
{
    size_t at = piece->batch_count;
    tn_text_lines swap;
    int rc = TARN_OK;

    if (at == piece->lines_count) {
        TN_TRY(tn_grow(cx, &piece->batch_lines, at, &piece->lines_cap, sizeof *piece->batch_lines));
        piece->batch_lines[at] = (tn_text_lines){0};
        piece->lines_count++;
    }
    swap = piece->batch_lines[at];
    piece->batch_lines[at] = piece->made_lines;
    piece->made_lines = swap;
    tn_text_lines_reset(&piece->made_lines);
done:
    return rc;
}

int tn_ndjson_piece_flush(tarn_cx *cx, tn_ndjson_piece *piece)
{
    int rc = TARN_OK;

    assert(tn_build_rows(piece->build) == piece->rows);
    if (piece->rows == 0)
        return TARN_OK;
    TN_TRY(tn_grow(cx, &piece->batches, piece->batch_count, &piece->batch_cap,
                   sizeof *piece->batches));
    TN_TRY(keep_lines(cx, piece));
    TN_TRY(tn_build_finish(cx, piece->build, &piece->batches[piece->batch_count]));
    piece->batch_count++;
    piece->rows = 0;
done:
    return rc;
}

/* Keeps what there is to tell of a bad record; the record stays where it lies. */
static int keep_bad(tarn_cx *cx, tn_ndjson_piece *piece, tn_str record, uint64_t line)
{
    const tn_ndjson_parser *parser = &piece->parser;
    tn_ndjson_bad made = {.line = line, .record = record, .inferred = parser->inferred};
    tn_str why = tn_str_of(parser->why);
    tn_buf path = {0};
    int rc = TARN_OK;

    tn_ndjson_parser_path(parser, (tn_str){0}, &path);
    TN_TRY(tn_buf_check(cx, &path));
    made.path = tn_buf_view(&path);
    TN_TRY(tn_arena_keep(cx, &piece->arena, &made.path));
    TN_TRY(tn_arena_keep(cx, &piece->arena, &why));
    made.why = why.ptr;
    TN_TRY(tn_grow(cx, &piece->bad, piece->bad_count, &piece->bad_cap, sizeof *piece->bad));
    piece->bad[piece->bad_count++] = made;
done:
    tn_buf_clear(&path);
    return rc;
}

int tn_ndjson_piece_record(tarn_cx *cx, tn_ndjson_piece *piece, tn_str record, uint64_t line)
{
    int rc = tn_ndjson_parser_record(cx, &piece->parser, record, line);

    if (rc == TARN_E_INVALID) {
        TN_TRY(tn_build_truncate(cx, piece->build, piece->rows));
        return keep_bad(cx, piece, record, line);
    }
    TN_TRY(rc);
    tn_text_lines_add(&piece->made_lines, piece->rows, 1, line);
    piece->rows++;
    if (piece->rows == piece->batch_rows ||
        (piece->rows % BATCH_CHECK_ROWS == 0 && tn_build_bytes(piece->build) > BATCH_BYTES_MAX))
        TN_TRY(tn_ndjson_piece_flush(cx, piece));
done:
    return rc;
}

static bool is_blank(tn_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r')
            return false;
    return true;
}

int tn_ndjson_piece_lines(tarn_cx *cx, tn_ndjson_piece *piece)
{
    size_t bad_max = piece->stop_at_bad ? 1 : BAD_MAX;
    int rc = TARN_OK;

    while (piece->text.len > 0 && piece->bad_count < bad_max) {
        tn_str line = {piece->text.ptr, tn_str_find(piece->text, '\n')};

        piece->text = tn_str_from(piece->text, line.len + 1);
        piece->lines++;
        if (line.len == 0 || (line.ptr[0] != '{' && is_blank(line)))
            continue;
        TN_TRY(tn_ndjson_piece_record(cx, piece, line, piece->lines));
    }
    if (piece->text.len == 0)
        TN_TRY(tn_ndjson_piece_flush(cx, piece));
done:
    return rc;
}
