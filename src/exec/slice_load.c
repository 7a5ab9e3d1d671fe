/* Blocks on their way into a map.
 *
 *   small blocks   a round of them is shared out: pieces of about the same size, decoded in
 *                  parallel, put into the map in order
 *   a large block  of Avro records is read window by window; the records of a window are shared
 *                  out the same way
 *
 * I1: pieces enter the map in the order of the log, whatever thread made them.
 * I2: at any time a round or a window of contents is in memory, and what the map holds. */
#include "exec/slice_load.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/pool.h"
#include "exec/slice_piece.h"

#define WINDOW_BYTES    (16u << 20)
#define LARGE_BYTES_MIN (1u << 20) /* of a block that is read in windows */
#define PIECE_BYTES_MIN (64u << 10)
#define PIECES_PER_JOB  2
#define PIECES_MAX      (PIECES_PER_JOB * TN_JOBS_MAX) /* jobs are no more than that */

typedef struct loader {
    const tn_slice_load_options *options;
    tn_slice_map *map;
    tn_slice_loaded *out;
    tn_slice_piece *pieces;
    size_t piece_count;
    uint64_t window_bytes;
} loader;

/* ---- into the map */

static const int64_t *places_of(const tn_slice_piece *piece, size_t batch)
{
    return (const int64_t *)(const void *)piece->places[batch].data;
}

static int merge_piece(tarn_cx *cx, loader *l, tn_slice_piece *piece)
{
    size_t taken = 0; /* batches that the map has */
    int rc = TARN_OK;

    for (size_t i = 0; i < piece->run_count; i++) {
        const tn_slice_run *run = &piece->runs[i];

        if (run->is_deletes) {
            TN_TRY(tn_slice_map_deletes(cx, l->map, &run->deletes, run->positions));
            continue;
        }
        if (run->batch == taken) {
            l->out->rows += (uint64_t)piece->batches[taken].length;
            TN_TRY(tn_slice_map_batch(cx, l->map, &piece->batches[taken], piece->has[taken],
                                      places_of(piece, taken), piece->where));
            taken++;
        }
        assert(run->batch + 1 == taken);
        TN_TRY(tn_slice_map_rows(cx, l->map, run->first, run->rows));
    }
done:
    return rc;
}

/* Pieces [0, n), which are empty then. */
static int merge(tarn_cx *cx, loader *l, size_t n)
{
    size_t first = l->map->batch_count;
    int rc = TARN_OK;

    for (size_t i = 0; i < n; i++)
        l->out->misplaced = l->out->misplaced || l->pieces[i].misplaced;
    if (l->out->misplaced)
        return TARN_OK;
    for (size_t i = 0; i < n; i++) {
        TN_TRY(merge_piece(cx, l, &l->pieces[i]));
        tn_slice_piece_clear(&l->pieces[i]);
    }
    TN_TRY(tn_slice_map_shrink(cx, l->map, first));
    if (tn_slice_map_bytes(l->map) > l->options->bytes_max)
        TN_TRY(tn_slice_map_shrink(cx, l->map, 0));
    l->out->full = tn_slice_map_bytes(l->map) > l->options->bytes_max;
done:
    return rc;
}

/* Into how many pieces so many bytes are shared out. */
static size_t pieces_for(const loader *l, uint64_t bytes)
{
    uint64_t n = bytes / PIECE_BYTES_MIN + 1;

    return n < l->piece_count ? (size_t)n : l->piece_count;
}

/* ---- small blocks */

typedef struct shares {
    loader *l;
    const size_t *ends; /* per piece: the block after its last */
    size_t first;
} shares;

static int decode_blocks(tarn_cx *cx, size_t i, void *arg)
{
    shares *s = arg;
    int rc = TARN_OK;

    for (size_t b = i > 0 ? s->ends[i - 1] : s->first; b < s->ends[i]; b++)
        TN_TRY(tn_slice_piece_add(cx, &s->l->pieces[i], &s->l->options->blocks->blocks[b]));
    TN_TRY(tn_slice_piece_finish(cx, &s->l->pieces[i]));
done:
    return rc;
}

/* Blocks [first, end), shared out by their bytes. */
static int load_round(tarn_cx *cx, loader *l, size_t first, size_t end, uint64_t bytes)
{
    const tn_slice_block *blocks = l->options->blocks->blocks;
    size_t ends[PIECES_MAX], n = pieces_for(l, bytes), at = first;
    shares s = {l, ends, first};
    uint64_t sum = 0;
    int rc = TARN_OK;

    assert(n <= PIECES_MAX);
    for (size_t i = 0; i < n; i++) {
        while (at < end && (i + 1 == n || sum < bytes / n * (i + 1)))
            sum += blocks[at++].block->content_bytes;
        ends[i] = at;
    }
    TN_TRY(tn_parallel(cx, n, decode_blocks, &s));
    TN_TRY(merge(cx, l, n));
    l->out->done_bytes += bytes;
done:
    return rc;
}

/* ---- a large block */

typedef struct window {
    loader *l;
    const tn_slice_block *block;
    tn_file *file;
    tn_buf bytes;
    size_t start;    /* of the first record in them */
    tn_str *records; /* that lie in the window */
    size_t count, cap;
    const int64_t *positions; /* of them; NULL: not asked for */
    size_t pieces;
} window;

static int decode_records(tarn_cx *cx, size_t i, void *arg)
{
    window *w = arg;
    size_t first = w->count * i / w->pieces, end = w->count * (i + 1) / w->pieces;
    int rc = TARN_OK;

    TN_TRY(tn_slice_piece_records(cx, &w->l->pieces[i], w->block, w->records + first,
                                  w->positions != NULL ? w->positions + first : NULL, end - first));
    TN_TRY(tn_slice_piece_finish(cx, &w->l->pieces[i]));
done:
    return rc;
}

static int fail_block(tarn_cx *cx, const tn_slice_block *block, const char *text)
{
    char where[256];

    tn_slice_where(block, where, sizeof where);
    return tn_fail(cx, TARN_E_CORRUPT, "%s: %s", where, text);
}

/* Bytes of the content from `at` on, as many as fit the window, at least `least` of them. */
static int fill(tarn_cx *cx, window *w, uint64_t at, uint64_t least)
{
    const tn_log_block *block = w->block->block;
    uint64_t left = block->content_bytes - at, want = w->l->window_bytes;
    uint8_t *room;

    if (least > left)
        return fail_block(cx, w->block, "a record that does not fit into its block");
    want = want < least ? least : want;
    want = want > left ? left : want;
    tn_buf_reset(&w->bytes);
    room = tn_buf_extend(&w->bytes, (size_t)want);
    if (room == NULL)
        return tn_fail_memory(cx);
    return tn_store_read(cx, w->file, block->content_offset + at, room, (size_t)want);
}

/* The records that lie in the window whole, at most `most`, in *used bytes. *next: how many the one
 * behind them takes, 0: its length is not there. */
static int find_records(tarn_cx *cx, window *w, uint32_t most, size_t *used, uint64_t *next)
{
    tn_cursor in = tn_cursor_over(&w->bytes);
    int rc = TARN_OK;

    in.at = w->start;
    w->count = 0;
    *used = 0;
    *next = 0;
    while (w->count < most && tn_cursor_left(&in) >= 4) {
        uint32_t len = tn_cursor_u32be(&in);

        if (tn_cursor_left(&in) < len) {
            *next = (uint64_t)len + 4;
            break;
        }
        TN_TRY(tn_grow(cx, &w->records, w->count, &w->cap, sizeof *w->records));
        w->records[w->count++] = tn_cursor_take(&in, len);
        *used = in.at - w->start;
    }
done:
    return rc;
}

static int find_positions(tarn_cx *cx, window *w, uint32_t count, tn_arena *arena)
{
    int rc = TARN_OK;

    if (!w->l->options->by_position || count == 0)
        return TARN_OK;
    TN_TRY(tn_slice_positions(cx, w->block, arena, count, w->l->options->base_rows, &w->positions));
    w->l->out->misplaced = w->positions == NULL;
done:
    return rc;
}

static int load_windows(tarn_cx *cx, loader *l, window *w, tn_arena *arena)
{
    const tn_log_block *block = w->block->block;
    uint64_t at = 8, next = 0;
    uint32_t left;
    tn_cursor in;
    size_t used;
    int rc = TARN_OK;

    TN_TRY(fill(cx, w, 0, 8));
    in = tn_cursor_over(&w->bytes);
    (void)tn_cursor_u32be(&in);
    left = tn_cursor_u32be(&in);
    if (left > (block->content_bytes - 8) / 4)
        TN_TRY(fail_block(cx, w->block, "a block with more records than bytes"));
    TN_TRY(find_positions(cx, w, left, arena));
    for (w->start = 8; left > 0 && !l->out->full && !l->out->misplaced; w->start = 0) {
        if (w->start == 0)
            TN_TRY(fill(cx, w, at, next > 4 ? next : 4));
        TN_TRY(find_records(cx, w, left, &used, &next));
        if (w->count > 0) {
            w->pieces = pieces_for(l, used);
            TN_TRY(tn_parallel(cx, w->pieces, decode_records, w));
            TN_TRY(merge(cx, l, w->pieces));
        }
        left -= (uint32_t)w->count;
        if (w->positions != NULL)
            w->positions += w->count;
        at += used;
        l->out->done_bytes += used;
    }
    if (left == 0 && at != block->content_bytes)
        TN_TRY(fail_block(cx, w->block, "a block with bytes behind its last record"));
done:
    return rc;
}

static int load_large(tarn_cx *cx, loader *l, const tn_slice_block *block)
{
    window w = {.l = l, .block = block};
    tn_arena arena = {0};
    int rc = TARN_OK;

    TN_TRY(tn_store_open_file(cx, l->options->store, block->log->path, &w.file));
    TN_TRY(load_windows(cx, l, &w, &arena));
done:
    tn_arena_clear(&arena);
    tn_store_close_file(w.file);
    tn_buf_clear(&w.bytes);
    free(w.records);
    return rc;
}

/* ---- all */

static bool is_large(const tn_slice_block *block)
{
    return block->block->kind == TN_LOG_AVRO && block->block->content_bytes >= LARGE_BYTES_MIN;
}

static int load_all(tarn_cx *cx, loader *l)
{
    const tn_slice_blocks *blocks = l->options->blocks;
    size_t at = 0;
    int rc = TARN_OK;

    while (at < blocks->count && !l->out->full && !l->out->misplaced) {
        uint64_t bytes = 0;
        size_t end = at;

        TN_TRY(tn_cx_check(cx));
        if (is_large(&blocks->blocks[at])) {
            TN_TRY(load_large(cx, l, &blocks->blocks[at++]));
            continue;
        }
        while (end < blocks->count && !is_large(&blocks->blocks[end]) &&
               (bytes == 0 || bytes + blocks->blocks[end].block->content_bytes <= l->window_bytes))
            bytes += blocks->blocks[end++].block->content_bytes;
        TN_TRY(load_round(cx, l, at, end, bytes));
        at = end;
    }
done:
    return rc;
}

int tn_slice_load(tarn_cx *cx, const tn_slice_load_options *options, tn_slice_map *map,
                  tn_slice_loaded *out)
{
    loader l = {.options = options,
                .map = map,
                .out = out,
                .piece_count = tn_cx_jobs(cx) > 1 ? (size_t)tn_cx_jobs(cx) * PIECES_PER_JOB : 1,
                .window_bytes = options->window_bytes};
    int rc = TARN_OK;

    *out = (tn_slice_loaded){0};
    if (l.window_bytes == 0)
        l.window_bytes = WINDOW_BYTES;
    assert(l.piece_count <= PIECES_MAX);
    l.pieces = tn_calloc(cx, l.piece_count, sizeof *l.pieces);
    if (l.pieces == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < l.piece_count; i++)
        l.pieces[i] = (tn_slice_piece){.columns = map->columns,
                                       .store = options->store,
                                       .pick = &map->pick,
                                       .by_position = options->by_position,
                                       .base_rows = options->base_rows};
    TN_TRY(load_all(cx, &l));
done:
    for (size_t i = 0; i < l.piece_count; i++)
        tn_slice_piece_clear(&l.pieces[i]);
    free(l.pieces);
    return rc;
}
