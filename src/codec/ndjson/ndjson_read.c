/* Reads NDJSON straight into builders: a record is parsed once, from its bytes.
 *
 *   feed ─> a block of whole lines ─> pieces of it, a thread each ─> bad records told, in order
 *             │                          parser ─> builders ─> batches     └─> batches, in order
 *             └─ the first sample_bytes, looked at twice: once for the types
 *
 * An array is cut into its elements by one thread, which parses them as well.
 *
 * I1: rows, bad records and warnings come in the order of the input, whatever thread met them.
 * I2: what the sample shows depends on its bytes alone, never on how the feed cuts them.
 * I3: callbacks are called on the caller's thread. */
#include "codec/ndjson/ndjson_read.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/unify.h"
#include "codec/ndjson/ndjson_guess.h"
#include "codec/ndjson/ndjson_piece.h"
#include "codec/ndjson/ndjson_record.h"

#define SAMPLE_BYTES_USUAL (4u << 20)
#define BATCH_ROWS_USUAL   65536
#define PIECE_BYTES        (4u << 20)
#define PIECE_BYTES_MIN    (64u << 10)

struct tn_ndjson_read {
    tn_feed *feed;
    const tn_text_read_options *options;
    struct ArrowSchema schema;
    tn_ndjson_records records;
    uint64_t sampled; /* records that types were made of */
    uint64_t line;    /* of the block's start, from 0 */
    tn_buf block;
    size_t block_bytes;
    tn_ndjson_piece *pieces;
    size_t piece_count;
    size_t piece_at, batch_at;  /* handed out next */
    const tn_text_lines *given; /* lines of the last batch, after `given_from` others */
    uint64_t given_from;
    bool ended;
    tn_map warned; /* paths of keys left out */
    tn_arena arena;
};

typedef tn_ndjson_read reader;

/* ---- what a piece has to tell */

static int warn(tarn_cx *cx, reader *r, const tn_ndjson_left *left, uint64_t line)
{
    char text[TN_ERROR_TEXT_MAX];
    tn_str path = left->path;
    bool added;
    int rc = TARN_OK;

    if (r->warned.count >= TN_NDJSON_LEFT_MAX || tn_map_find(&r->warned, path) != NULL)
        return TARN_OK;
    TN_TRY(tn_arena_keep(cx, &r->arena, &path));
    if (tn_map_add(cx, &r->warned, path, &added) == NULL)
        TN_TRY(TARN_E_NOMEM);
    snprintf(text, sizeof text,
             "%.*s: line %" PRIu64 ": key \"%.*s\" is no column and is left out%s",
             TN_STR_ARG(r->feed->name), line, TN_STR_ARG(path),
             r->warned.count == TN_NDJSON_LEFT_MAX ? "; others are left out without a word" : "");
    r->options->warn(r->options->warn_arg, text);
done:
    return rc;
}

/* Lines of the piece count from `line` on. */
static int tell(tarn_cx *cx, reader *r, tn_ndjson_piece *piece, size_t *left, uint64_t line)
{
    int rc = TARN_OK;

    for (; *left < piece->parser.left_count; ++*left)
        TN_TRY(warn(cx, r, &piece->parser.left[*left], line + piece->parser.left[*left].line));
    for (size_t i = 0; i < piece->bad_count; i++) {
        const tn_ndjson_bad *bad = &piece->bad[i];
        tn_text_bad told = {.source = r->feed->name,
                            .line = line + bad->line,
                            .column = bad->path,
                            .record = bad->record,
                            .reason = bad->why,
                            .inferred_rows = bad->inferred ? r->sampled : 0};

        TN_TRY(tn_text_bad_report(cx, r->options, &told));
    }
    tn_ndjson_piece_settled(piece);
done:
    return rc;
}

/* ---- lines */

static int parse_piece(tarn_cx *cx, size_t i, void *arg)
{
    reader *r = arg;

    return tn_ndjson_piece_lines(cx, &r->pieces[i]);
}

/* Cuts the block between lines, one piece a thread. */
static void cut_block(reader *r)
{
    tn_str left = tn_buf_view(&r->block);

    for (size_t i = 0; i < r->piece_count; i++) {
        size_t n = left.len / (r->piece_count - i);

        n += tn_str_find(tn_str_from(left, n), '\n') + 1;
        n = n < left.len ? n : left.len;
        r->pieces[i].text = (tn_str){left.ptr, n};
        r->pieces[i].lines = 0;
        left = tn_str_from(left, n);
    }
    assert(left.len == 0);
}

/* Tells what the pieces met, in order. One that stopped for its many bad records goes on here. */
static int settle(tarn_cx *cx, reader *r)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < r->piece_count; i++) {
        tn_ndjson_piece *piece = &r->pieces[i];
        size_t *left = &piece->parser.left_told;

        piece->first_line = r->line;
        TN_TRY(tell(cx, r, piece, left, r->line));
        while (piece->text.len > 0) {
            TN_TRY(tn_cx_check(cx));
            TN_TRY(tn_ndjson_piece_lines(cx, piece));
            TN_TRY(tell(cx, r, piece, left, r->line));
        }
        r->line += piece->lines;
    }
done:
    return rc;
}

static int read_block(tarn_cx *cx, reader *r)
{
    int rc = TARN_OK;

    tn_buf_reset(&r->block);
    TN_TRY(tn_ndjson_records_lines(cx, &r->records, r->block_bytes, r->line, &r->block));
    r->ended = r->block.len == 0;
    if (r->ended)
        goto done;
    cut_block(r);
    TN_TRY(tn_parallel(cx, r->piece_count, parse_piece, r));
    TN_TRY(settle(cx, r));
done:
    return rc;
}

/* ---- an array */

/* Its elements, until there is a batch of them. */
static int read_elements(tarn_cx *cx, reader *r)
{
    tn_ndjson_piece *piece = &r->pieces[0];
    uint64_t line;
    tn_str record;
    int rc = TARN_OK;

    while (piece->batch_count == 0 && !r->ended) {
        TN_TRY(tn_ndjson_records_next(cx, &r->records, &record, &line));
        r->ended = record.ptr == NULL;
        if (r->ended)
            TN_TRY(tn_ndjson_piece_flush(cx, piece));
        else
            TN_TRY(tn_ndjson_piece_record(cx, piece, record, line));
        TN_TRY(tell(cx, r, piece, &piece->parser.left_told, 0));
    }
done:
    return rc;
}

/* ---- batches */

/* The next batch there is; false: none. */
static bool take_batch(reader *r, struct ArrowArray *out)
{
    while (r->piece_at < r->piece_count) {
        tn_ndjson_piece *piece = &r->pieces[r->piece_at];

        if (r->batch_at < piece->batch_count) {
            r->given = &piece->batch_lines[r->batch_at];
            r->given_from = piece->first_line;
            tn_array_move(&piece->batches[r->batch_at++], out);
            return true;
        }
        piece->batch_count = 0;
        r->batch_at = 0;
        r->piece_at++;
    }
    return false;
}

uint64_t tn_ndjson_read_line(const tn_ndjson_read *r, int64_t row)
{
    uint64_t line = r->given != NULL ? tn_text_lines_at(r->given, row) : 0;

    return line != 0 ? line + r->given_from : 0;
}

int tn_ndjson_read_next(tarn_cx *cx, tn_ndjson_read *r, struct ArrowArray *out)
{
    int rc = TARN_OK;

    while (!take_batch(r, out)) {
        if (r->ended) {
            TN_TRY(tn_build_finish(cx, r->pieces[0].build, out));
            break;
        }
        TN_TRY(r->records.array ? read_elements(cx, r) : read_block(cx, r));
        r->piece_at = r->batch_at = 0;
    }
done:
    return rc;
}

/* ---- opening */

/* The columns that were given, then those of the sample that are not among them. */
static int join_sample(tarn_cx *cx, reader *r, const struct ArrowSchema *sample)
{
    const struct ArrowSchema *given = r->options->schema;
    int64_t n = given->n_children, added = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < sample->n_children; i++)
        added += tn_unify_child(given, tn_str_of(sample->children[i]->name)) < 0;
    TN_TRY(tn_field_init(cx, &r->schema, "+s", TN_STR(""), false, (size_t)(n + added)));
    for (int64_t i = 0; i < n; i++)
        TN_TRY(tn_field_copy(cx, given->children[i], r->schema.children[i]));
    for (int64_t i = 0; i < sample->n_children; i++)
        if (tn_unify_child(given, tn_str_of(sample->children[i]->name)) < 0)
            TN_TRY(tn_field_copy(cx, sample->children[i], r->schema.children[n++]));
done:
    return rc;
}

/* Looks at the records that end within the first `bytes` of what is held, at least at one; *count:
 * how many. What is wrong with the input is said when it is read. */
static int look(tarn_cx *cx, const tn_ndjson_records *records, size_t bytes, tn_ndjson_guess *guess,
                uint64_t *count)
{
    tn_ndjson_records ahead;
    uint64_t line;
    tn_str record;
    int rc = TARN_OK;

    *count = 0;
    tn_ndjson_records_peek(records, &ahead);
    for (;; ++*count) {
        rc = tn_ndjson_records_next(cx, &ahead, &record, &line);
        if (rc == TARN_E_DATA || rc == TARN_E_CORRUPT || rc == TARN_E_LIMIT) {
            tn_cx_forget(cx);
            rc = TARN_OK;
            break;
        }
        TN_TRY(rc);
        if (record.ptr == NULL || (*count != 0 && records->held.len - ahead.left > bytes))
            break;
        TN_TRY(tn_ndjson_guess_add(cx, guess, record));
    }
done:
    tn_ndjson_records_clear(&ahead);
    return rc;
}

static int sample(tarn_cx *cx, tn_ndjson_records *records, const tn_text_read_options *options,
                  bool nulls, struct ArrowSchema *out, uint64_t *count)
{
    size_t bytes = options->sample_bytes != 0 ? options->sample_bytes : SAMPLE_BYTES_USUAL;
    size_t held = bytes;
    tn_ndjson_guess *guess = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_ndjson_guess_open(cx, &guess));
    for (;;) {
        TN_TRY(tn_ndjson_records_hold(cx, records, held));
        TN_TRY(look(cx, records, bytes, guess, count));
        if (*count != 0 || records->ended || records->held.len > tn_ndjson_record_max(cx))
            break;
        held = records->held.len * 2;
    }
    TN_TRY(tn_ndjson_guess_schema(cx, guess, nulls, out));
done:
    tn_ndjson_guess_close(guess);
    return rc;
}

int tn_ndjson_read_sample(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                          struct ArrowSchema *out, uint64_t *rows)
{
    tn_ndjson_records records = {.feed = feed};
    int rc = sample(cx, &records, options, true, out, rows);

    tn_ndjson_records_clear(&records);
    return rc;
}

static int make_schema(tarn_cx *cx, reader *r)
{
    struct ArrowSchema seen = {0};
    int rc = TARN_OK;

    if (r->options->schema != NULL && !r->options->schema_open) {
        TN_TRY(tn_ndjson_records_hold(cx, &r->records, 0));
        TN_TRY(tn_field_copy(cx, r->options->schema, &r->schema));
        goto done;
    }
    TN_TRY(sample(cx, &r->records, r->options, false, &seen, &r->sampled));
    if (r->options->schema != NULL)
        TN_TRY(join_sample(cx, r, &seen));
    else
        tn_field_move(&seen, &r->schema);
done:
    tn_field_release(&seen);
    return rc;
}

/* A piece a thread; their bytes are a small share of the budget. */
static int make_pieces(tarn_cx *cx, reader *r)
{
    uint64_t share = tn_budget_bytes(cx) / 16;
    size_t bytes = PIECE_BYTES;
    int rc = TARN_OK;

    r->piece_count = r->records.array ? 1 : tn_cx_jobs(cx);
    r->pieces = tn_calloc(cx, r->piece_count, sizeof *r->pieces);
    if (r->pieces == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < r->piece_count; i++) {
        TN_TRY(tn_ndjson_piece_init(cx, &r->pieces[i], &r->schema, r->options));
        r->pieces[i].batch_rows =
            r->options->batch_rows > 0 ? r->options->batch_rows : BATCH_ROWS_USUAL;
    }
    while (bytes > PIECE_BYTES_MIN && bytes * r->piece_count > share)
        bytes /= 2;
    r->block_bytes = bytes * r->piece_count;
    r->piece_at = r->piece_count;
done:
    return rc;
}

int tn_ndjson_read_open(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                        tn_ndjson_read **out)
{
    static const tn_text_read_options usual = {0};
    reader *r = tn_calloc(cx, 1, sizeof *r);
    int rc = TARN_OK;

    if (r == NULL)
        return TARN_E_NOMEM;
    r->feed = feed;
    r->options = options != NULL ? options : &usual;
    r->records.feed = feed;
    r->sampled = r->options->inferred_rows;
    TN_TRY(make_schema(cx, r));
    TN_TRY(make_pieces(cx, r));
    *out = r;
    r = NULL;
done:
    tn_ndjson_read_close(r);
    return rc;
}

int tn_ndjson_read_schema(tarn_cx *cx, const tn_ndjson_read *r, struct ArrowSchema *out)
{
    return tn_field_copy(cx, &r->schema, out);
}

void tn_ndjson_read_close(tn_ndjson_read *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; r->pieces != NULL && i < r->piece_count; i++)
        tn_ndjson_piece_clear(&r->pieces[i]);
    free(r->pieces);
    tn_ndjson_records_clear(&r->records);
    tn_field_release(&r->schema);
    tn_buf_clear(&r->block);
    tn_map_clear(&r->warned);
    tn_arena_clear(&r->arena);
    free(r);
}
