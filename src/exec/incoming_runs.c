/* Rows put aside, brought into the order of their streams: sorted runs.
 *
 *   read   pieces in order of arrival, as many as memory holds
 *   deal   them to their streams, as rows held are (incoming_place.c)
 *   write  each stream's rows as pieces of the run: updates with two more columns, inserts as they
 *          are
 *
 * I1: rows of one stream that compare equal keep their order: within a run by the sort, between
 *     runs by the runs' numbers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/field.h"
#include "exec/incoming_state.h"

#define RUN_SHARE       2 /* a run takes memory_max over this */
#define PIECE_ROWS      65536
#define PIECE_BYTES_MAX (4ull << 20)
#define PIECE_BYTES_MIN (4ull << 10)

/* Rows [from, from + count) of a stream's updates or inserts. */
typedef struct cut {
    tn_run_piece piece;
    size_t from;
    tn_buf bytes;
} cut;

typedef struct making {
    tn_incoming *in;
    const tn_place_options *options;
    tn_incoming part; /* the rows of one run, as if they were all; schema and files are borrowed */
    tn_file *rows;
    size_t piece; /* that is read next */
    size_t extra; /* those of rows before are behind */
    size_t part_cap;
    uint64_t part_first; /* number of its first row */
    size_t piece_rows;
    uint32_t run;
    cut *cuts;
} making;

/* --- the columns of updates --- */

static int mark_schema(tarn_cx *cx, tn_incoming *in)
{
    struct ArrowSchema made = {0};
    size_t columns = (size_t)in->schema.n_children;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, columns + 2));
    for (size_t c = 0; c < columns; c++)
        TN_TRY(tn_field_copy(cx, in->schema.children[c], made.children[c]));
    TN_TRY(tn_field_init(cx, made.children[columns], "l", TN_STR("position"), false, 0));
    TN_TRY(tn_field_init(cx, made.children[columns + 1], "C", TN_STR("deletes"), false, 0));
    tn_field_move(&made, &in->marked);
done:
    tn_field_release(&made);
    return rc;
}

static int fixed_column(tarn_cx *cx, struct ArrowArray *out, int64_t rows, size_t width,
                        uint8_t **values)
{
    tn_block block = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, rows, 2, 0));
    TN_TRY(tn_block_reserve(cx, &block, (size_t)rows * width));
    block.len = (size_t)rows * width;
    TN_TRY(tn_array_take_block(cx, out, 1, &block));
    *values = (uint8_t *)(uintptr_t)out->buffers[1];
done:
    tn_block_clear(&block);
    return rc;
}

/* The columns of `rows`, and what the updates say of each. */
static int mark_rows(tarn_cx *cx, const tn_update *updates, struct ArrowArray *rows,
                     struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    int64_t columns = rows->n_children;
    uint8_t *positions, *deletes;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, rows->length, 1, (size_t)columns + 2));
    TN_TRY(fixed_column(cx, made.children[columns], rows->length, sizeof(int64_t), &positions));
    TN_TRY(fixed_column(cx, made.children[columns + 1], rows->length, 1, &deletes));
    for (int64_t i = 0; i < rows->length; i++) {
        memcpy(positions + (size_t)i * sizeof(int64_t), &updates[i].position, sizeof(int64_t));
        deletes[i] = updates[i].deletes;
    }
    for (int64_t c = 0; c < columns; c++)
        tn_array_move(rows->children[c], made.children[c]);
    tn_array_release(rows);
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

/* --- writing a run --- */

static int pack_inserts(tarn_cx *cx, const tn_incoming *part, cut *c)
{
    struct ArrowArray rows = {0};
    int rc = TARN_OK;

    TN_TRY(tn_incoming_gather(cx, part, part->inserts + c->from, c->piece.rows, &rows));
    TN_TRY(tn_spill_pack(cx, &part->schema, &rows, &c->bytes));
done:
    tn_array_release(&rows);
    return rc;
}

static int pack_updates(tarn_cx *cx, const making *m, cut *c)
{
    const tn_update *updates = m->part.updates + c->from;
    uint32_t *numbers = tn_alloc(cx, c->piece.rows * sizeof *numbers);
    struct ArrowArray rows = {0};
    int rc = TARN_OK;

    if (numbers == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < c->piece.rows; i++)
        numbers[i] = updates[i].row;
    TN_TRY(tn_incoming_gather(cx, &m->part, numbers, c->piece.rows, &rows));
    TN_TRY(mark_rows(cx, updates, &rows, &rows));
    TN_TRY(tn_spill_pack(cx, &m->in->marked, &rows, &c->bytes));
done:
    tn_array_release(&rows);
    free(numbers);
    return rc;
}

static int pack_cut(tarn_cx *cx, size_t i, void *arg)
{
    const making *m = arg;
    cut *c = &m->cuts[i];
    int rc;

    tn_buf_reset(&c->bytes);
    rc = c->piece.inserts ? pack_inserts(cx, &m->part, c) : pack_updates(cx, m, c);
    if (rc == TARN_OK)
        c->piece.place =
            (tn_spill_piece){0, c->bytes.len, tn_spill_checksum(tn_buf_view(&c->bytes))};
    return rc;
}

/* Packs and writes the first `count` cuts. */
static int write_cuts(tarn_cx *cx, making *m, size_t count)
{
    tn_incoming *in = m->in;
    int rc = TARN_OK;

    TN_TRY(tn_parallel(cx, count, pack_cut, m));
    for (size_t i = 0; i < count; i++) {
        m->cuts[i].piece.place.offset = in->runs_file.bytes;
        TN_TRY(tn_spill_write(cx, &in->runs_file, tn_buf_view(&m->cuts[i].bytes)));
        tn_buf_add(&in->runs, &m->cuts[i].piece, sizeof m->cuts[i].piece);
    }
    TN_TRY(tn_buf_check(cx, &in->runs));
done:
    return rc;
}

/* The next cut of a stream from *from on; false at its end. */
static bool next_cut(const making *m, size_t stream, bool inserts, size_t *from, size_t end, cut *c)
{
    size_t left = end - *from;

    if (left == 0)
        return false;
    c->from = *from;
    c->piece = (tn_run_piece){.stream = (uint32_t)stream,
                              .run = m->run,
                              .rows = (uint32_t)(left < m->piece_rows ? left : m->piece_rows),
                              .inserts = inserts};
    *from += c->piece.rows;
    return true;
}

static int write_run(tarn_cx *cx, making *m)
{
    size_t jobs = tn_cx_jobs(cx), n = 0;
    int rc = TARN_OK;

    for (size_t s = 0; s < m->part.stream_count; s++) {
        tn_stream_range range = m->part.streams[s];

        while (next_cut(m, s, false, &range.update, range.update_end, &m->cuts[n]) ||
               next_cut(m, s, true, &range.insert, range.insert_end, &m->cuts[n])) {
            if (++n < jobs)
                continue;
            TN_TRY(write_cuts(cx, m, n));
            n = 0;
        }
    }
    TN_TRY(write_cuts(cx, m, n));
done:
    return rc;
}

/* --- gathering a run --- */

static void drop_part(making *m)
{
    tn_incoming *part = &m->part;

    tn_incoming_undeal(part);
    for (size_t i = 0; i < part->held_count; i++)
        tn_array_release(&part->held[i].array);
    part->held_count = 0;
    part->facts.count = 0;
    part->rows = 0;
    part->row_bytes = 0;
    tn_buf_reset(&part->extras);
    tn_budget_give(&part->home, part->charged);
    part->charged = 0;
}

/* The extras of the run's rows, by their numbers in it. */
static int take_extras(tarn_cx *cx, making *m)
{
    const tn_extra *extras = (const tn_extra *)(const void *)m->in->extras.data;
    uint64_t past = m->part_first + (uint64_t)m->part.facts.count;

    for (; m->extra < m->in->extras.len / sizeof *extras && extras[m->extra].row < past;
         m->extra++) {
        tn_extra extra = extras[m->extra];

        extra.row -= m->part_first;
        tn_buf_add(&m->part.extras, &extra, sizeof extra);
    }
    return tn_buf_check(cx, &m->part.extras);
}

static int end_run(tarn_cx *cx, making *m)
{
    int rc = TARN_OK;

    if (m->part.facts.count == 0)
        return TARN_OK;
    TN_TRY(take_extras(cx, m));
    TN_TRY(tn_incoming_deal(cx, &m->part, m->options));
    TN_TRY(write_run(cx, m));
    m->run++;
    drop_part(m);
done:
    return rc;
}

static int grow_part(tarn_cx *cx, making *m, size_t more)
{
    size_t need = (size_t)m->part.facts.count + more, cap = m->part_cap + m->part_cap / 2;
    tn_row_facts *facts = &m->part.facts;
    void *grown;

    if (need <= m->part_cap)
        return TARN_OK;
    cap = cap < need ? need : cap;
    if ((grown = tn_realloc(cx, facts->partitions, cap, sizeof *facts->partitions)) == NULL)
        return TARN_E_NOMEM;
    facts->partitions = grown;
    if ((grown = tn_realloc(cx, facts->flags, cap, sizeof *facts->flags)) == NULL)
        return TARN_E_NOMEM;
    facts->flags = grown;
    if ((grown = tn_realloc(cx, facts->places, cap, sizeof *facts->places)) == NULL)
        return TARN_E_NOMEM;
    facts->places = grown;
    m->part_cap = cap;
    return TARN_OK;
}

static int take_piece(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    making *m = arg;
    const tn_spilled *piece = tn_incoming_piece(m->in, m->piece++);
    uint64_t bytes = piece->rows.bytes + (uint64_t)piece->count * 16;
    size_t at, count = (size_t)piece->count;
    tn_incoming *part = &m->part;
    int rc = TARN_OK;

    if (part->charged + bytes > m->in->memory_max / RUN_SHARE ||
        part->facts.count + facts->count >= UINT32_MAX || !tn_budget_try(cx, bytes)) {
        TN_TRY(end_run(cx, m));
        TN_TRY(tn_budget_take(cx, bytes, "rows on their way to their files"));
    }
    part->charged += bytes;
    if (part->facts.count == 0)
        m->part_first = (uint64_t)facts->first;
    TN_TRY(grow_part(cx, m, count));
    TN_TRY(tn_grow(cx, &part->held, part->held_count, &part->held_cap, sizeof *part->held));
    part->held[part->held_count] = (tn_held){.first = part->facts.count};
    TN_TRY(tn_spill_read(cx, &m->in->rows_file, m->rows, &m->in->schema, &piece->rows,
                         &part->held[part->held_count].array));
    part->held_count++;
    at = (size_t)part->facts.count;
    memcpy(part->facts.partitions + at, facts->partitions, count * sizeof *facts->partitions);
    memcpy(part->facts.flags + at, facts->flags, count);
    memcpy(part->facts.places + at, facts->places, count * sizeof *facts->places);
    part->facts.count += facts->count;
    part->rows = part->facts.count;
    part->row_bytes += piece->rows.bytes;
done:
    return rc;
}

/* --- all runs --- */

static int compare_pieces(const void *a, const void *b)
{
    const tn_run_piece *x = a, *y = b;

    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->inserts != y->inserts)
        return x->inserts ? 1 : -1;
    return x->place.offset < y->place.offset ? -1 : x->place.offset > y->place.offset;
}

/* Readers hold a piece of each run. */
static size_t piece_rows(tarn_cx *cx, const tn_incoming *in)
{
    uint64_t runs = in->row_bytes / (in->memory_max / RUN_SHARE) + 1;
    uint64_t bytes = in->memory_max / 2 / tn_cx_jobs(cx) / runs;

    bytes = bytes > PIECE_BYTES_MAX   ? PIECE_BYTES_MAX
            : bytes < PIECE_BYTES_MIN ? PIECE_BYTES_MIN
                                      : bytes;
    return tn_incoming_rows_in(in, bytes, PIECE_ROWS);
}

static void clear_making(tarn_cx *cx, making *m)
{
    drop_part(m);
    free(m->part.held);
    free(m->part.facts.partitions);
    free(m->part.facts.flags);
    free(m->part.facts.places);
    tn_buf_clear(&m->part.extras);
    tn_cx_child_clear(&m->part.home);
    for (size_t i = 0; m->cuts != NULL && i <= tn_cx_jobs(cx); i++)
        tn_buf_clear(&m->cuts[i].bytes);
    free(m->cuts);
    if (m->rows != NULL)
        tn_store_close_file(m->rows);
}

int tn_incoming_make_runs(tarn_cx *cx, tn_incoming *in, const tn_place_options *options)
{
    making m = {.in = in, .options = options};
    int rc = TARN_OK;

    tn_cx_child(&m.part.home, cx);
    m.part.schema = in->schema;
    m.part.options = in->options;
    m.part.files = in->files;
    m.part.file_count = in->file_count;
    m.piece_rows = piece_rows(cx, in);
    m.cuts = tn_calloc(cx, tn_cx_jobs(cx) + 1, sizeof *m.cuts);
    if (m.cuts == NULL)
        TN_TRY(TARN_E_NOMEM);
    in->stream_count = options->plan->bucket_count + options->plan->partition_count;
    in->runs_file = (tn_spill){.store = in->store};
    TN_TRY(tn_incoming_stage(cx, in, "runs.spill", &in->runs_file.path));
    TN_TRY(mark_schema(cx, in));
    TN_TRY(tn_store_open_file(cx, in->store, in->rows_file.path, &m.rows));
    TN_TRY(tn_incoming_each(cx, in, 0, take_piece, &m));
    TN_TRY(end_run(cx, &m));
    TN_TRY(tn_spill_finish(cx, &in->runs_file));
    if (in->runs.len != 0)
        qsort(in->runs.data, in->runs.len / sizeof(tn_run_piece), sizeof(tn_run_piece),
              compare_pieces);
    tn_spill_clear(cx, &in->rows_file);
    tn_spill_clear(cx, &in->keys_file);
done:
    clear_making(cx, &m);
    return rc;
}

const tn_run_piece *tn_incoming_runs(const tn_incoming *in, size_t stream, bool inserts,
                                     size_t *count)
{
    const tn_run_piece *pieces = (const tn_run_piece *)(const void *)in->runs.data;
    size_t all = in->runs.len / sizeof *pieces, low = 0, high = all;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const tn_run_piece *p = &pieces[middle];

        if (p->stream < stream || (p->stream == stream && !p->inserts && inserts))
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < all && pieces[low + *count].stream == stream &&
           pieces[low + *count].inserts == inserts)
        (*count)++;
    return pieces + low;
}
