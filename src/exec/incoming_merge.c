/* A stream of sorted runs, read in order.
 *
 *   updates          merged by position, earlier runs first
 *   sorted inserts   merged by key, earlier runs first
 *   other inserts    run after run
 *
 * A batch ends where a piece does, so that it is gathered from pieces that are all there. Rows of
 * one piece that follow each other and fill a batch are not copied.
 *
 * I1: a reader holds a piece of each run, charged to the budget, and one batch. */
#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "exec/incoming_state.h"

#define BATCH_ROWS  16384
#define BATCH_BYTES (4ull << 20)

/* Pieces of one run. */
typedef struct cursor {
    const tn_run_piece *next, *end;
    struct ArrowArray array;
    int64_t at;
    uint64_t charged;
} cursor;

enum phase { UPDATES, INSERTS, ENDED };

struct tn_run_reader {
    const tn_incoming *in;
    size_t stream;
    enum phase phase;
    bool merges;
    tn_file *file;
    cursor *cursors;
    size_t count;
    uint32_t *heap; /* cursors with rows, the least first */
    size_t heap_count;
    tn_incoming pieces; /* the arrays of all cursors, to gather from */
    tn_buf rows, positions;
    struct ArrowArray gathered;
    struct ArrowArray *columns;
    struct ArrowArray **children;
    const void *no_validity[1];
};

/* --- order --- */

static int64_t position_of(const tn_run_reader *r, const cursor *c, int64_t at)
{
    const struct ArrowArray *column = c->array.children[r->in->schema.n_children];

    return ((const int64_t *)column->buffers[1])[at];
}

static tn_str key_of(const tn_run_reader *r, const cursor *c)
{
    const struct ArrowArray *column = c->array.children[r->in->options.key_column];
    const int32_t *offsets = (const int32_t *)column->buffers[1] + c->at;

    return (tn_str){(const char *)column->buffers[2] + offsets[0],
                    (size_t)(offsets[1] - offsets[0])};
}

/* Whether the next row of cursor a comes before that of b. */
static bool before(const tn_run_reader *r, uint32_t a, uint32_t b)
{
    const cursor *x = &r->cursors[a], *y = &r->cursors[b];
    int order = 0;

    if (r->phase == UPDATES) {
        int64_t p = position_of(r, x, x->at), q = position_of(r, y, y->at);

        order = p < q ? -1 : p > q;
    } else if (r->merges) {
        order = tn_str_compare(key_of(r, x), key_of(r, y));
    }
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(tn_run_reader *r, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        uint32_t swap;

        if (left < r->heap_count && before(r, r->heap[left], r->heap[least]))
            least = left;
        if (left + 1 < r->heap_count && before(r, r->heap[left + 1], r->heap[least]))
            least = left + 1;
        if (least == at)
            return;
        swap = r->heap[at];
        r->heap[at] = r->heap[least];
        r->heap[least] = swap;
        at = least;
    }
}

/* --- pieces --- */

static void drop_piece(tarn_cx *cx, cursor *c)
{
    tn_array_release(&c->array);
    tn_budget_give(cx, c->charged);
    c->charged = 0;
    c->at = 0;
}

static int load_piece(tarn_cx *cx, tn_run_reader *r, cursor *c)
{
    const struct ArrowSchema *schema = r->phase == UPDATES ? &r->in->marked : &r->in->schema;
    int rc = TARN_OK;

    drop_piece(cx, c);
    if (c->next == c->end)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, c->next->place.bytes, "reading sorted rows", &c->charged));
    TN_TRY(tn_spill_read(cx, &r->in->runs_file, r->file, schema, &c->next->place, &c->array));
    c->next++;
done:
    return rc;
}

/* The arrays of the cursors as batches held. */
static void list_pieces(tn_run_reader *r)
{
    int64_t first = 0;

    r->pieces.held_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->cursors[i].array.release == NULL)
            continue;
        r->pieces.held[r->pieces.held_count++] = (tn_held){r->cursors[i].array, first};
        first += r->cursors[i].array.length;
    }
}

/* Cursors whose piece is read get the next one; the heap is made anew where one was. */
static int refill(tarn_cx *cx, tn_run_reader *r)
{
    bool changed = false;
    int rc = TARN_OK;

    for (size_t i = 0; i < r->count; i++) {
        cursor *c = &r->cursors[i];

        if (c->at < c->array.length || (c->array.release == NULL && c->next == c->end))
            continue;
        TN_TRY(load_piece(cx, r, c));
        changed = true;
    }
    if (!changed)
        goto done;
    r->heap_count = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->cursors[i].array.release != NULL)
            r->heap[r->heap_count++] = (uint32_t)i;
    for (size_t i = r->heap_count / 2; i-- > 0;)
        sift_down(r, i);
    list_pieces(r);
done:
    return rc;
}

static void close_phase(tarn_cx *cx, tn_run_reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        drop_piece(cx, &r->cursors[i]);
    free(r->cursors);
    free(r->heap);
    free(r->pieces.held);
    r->cursors = NULL;
    r->heap = NULL;
    r->pieces.held = NULL;
    r->count = r->heap_count = 0;
}

/* A cursor per run where rows are merged, else one for all. */
static int open_phase(tarn_cx *cx, tn_run_reader *r, enum phase phase)
{
    const tn_run_piece *pieces;
    size_t count;
    int rc = TARN_OK;

    close_phase(cx, r);
    r->phase = phase;
    if (phase == ENDED)
        return TARN_OK;
    r->merges = phase == UPDATES || r->in->sorted;
    pieces = tn_incoming_runs(r->in, r->stream, phase == INSERTS, &count);
    r->cursors = tn_calloc(cx, count, sizeof *r->cursors);
    r->heap = tn_calloc(cx, count, sizeof *r->heap);
    r->pieces.held = tn_calloc(cx, count, sizeof *r->pieces.held);
    if (r->cursors == NULL || r->heap == NULL || r->pieces.held == NULL)
        TN_TRY(TARN_E_NOMEM);
    r->pieces.schema = phase == UPDATES ? r->in->marked : r->in->schema;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || (r->merges && pieces[i].run != pieces[i - 1].run))
            r->cursors[r->count++].next = &pieces[i];
        r->cursors[r->count - 1].end = &pieces[i + 1];
    }
done:
    return rc;
}

/* --- batches --- */

static void release_view(struct ArrowArray *array)
{
    array->release = NULL;
}

/* Rows [first, first + rows) of an array without the columns of updates, which become marks. */
static void view(tn_run_reader *r, const struct ArrowArray *array, int64_t first, int64_t rows,
                 tn_incoming_batch *out)
{
    int64_t columns = r->in->schema.n_children;

    for (int64_t c = 0; c < columns; c++) {
        r->columns[c] = *array->children[c];
        r->columns[c].offset += first;
        r->columns[c].length = rows;
        if (r->columns[c].null_count != 0)
            r->columns[c].null_count = -1;
        r->columns[c].release = release_view;
    }
    out->rows = (struct ArrowArray){.length = rows,
                                    .n_buffers = 1,
                                    .buffers = r->no_validity,
                                    .n_children = columns,
                                    .children = r->children,
                                    .release = release_view};
    if (r->phase != UPDATES)
        return;
    out->positions = (const int64_t *)array->children[columns]->buffers[1] + first;
    for (int64_t i = 0; i < rows && out->deletes == NULL; i++) {
        const uint8_t *deletes = (const uint8_t *)array->children[columns + 1]->buffers[1] + first;

        if (deletes[i] != 0)
            out->deletes = deletes;
    }
}

static int no_positions(tarn_cx *cx, tn_run_reader *r, int64_t rows, tn_incoming_batch *out)
{
    size_t bytes = (size_t)rows * sizeof(int64_t);

    tn_buf_reset(&r->positions);
    if (tn_buf_extend(&r->positions, bytes) == NULL)
        return tn_fail_memory(cx);
    memset(r->positions.data, 0xff, bytes);
    out->positions = (const int64_t *)(const void *)r->positions.data;
    return TARN_OK;
}

/* Number of a cursor's next row among those of all pieces. */
static uint32_t row_number(const tn_run_reader *r, const int64_t *firsts, uint32_t number)
{
    return (uint32_t)(firsts[number] + r->cursors[number].at);
}

/* Up to `most` rows of several pieces, until one of them ends. */
static int merge_rows(tarn_cx *cx, tn_run_reader *r, int64_t most, int64_t *count)
{
    int64_t *firsts = tn_calloc(cx, r->count, sizeof *firsts), first = 0;
    uint32_t *rows;
    int rc = TARN_OK;

    tn_buf_reset(&r->rows);
    rows = (uint32_t *)(void *)tn_buf_extend(&r->rows, (size_t)most * sizeof *rows);
    if (firsts == NULL || rows == NULL)
        TN_TRY(tn_fail_memory(cx));
    for (size_t i = 0; i < r->count; i++) {
        firsts[i] = first;
        first += r->cursors[i].array.release != NULL ? r->cursors[i].array.length : 0;
    }
    for (*count = 0; *count < most;) {
        cursor *top = &r->cursors[r->heap[0]];

        rows[(*count)++] = row_number(r, firsts, r->heap[0]);
        if (++top->at == top->array.length)
            break;
        sift_down(r, 0);
    }
    TN_TRY(tn_incoming_gather(cx, &r->pieces, rows, (size_t)*count, &r->gathered));
done:
    free(firsts);
    return rc;
}

static int next_rows(tarn_cx *cx, tn_run_reader *r, int64_t rows_max, tn_incoming_batch *out)
{
    int64_t most = rows_max > 0 && rows_max < BATCH_ROWS ? rows_max : BATCH_ROWS, count;
    cursor *only = &r->cursors[r->heap[0]];
    int rc = TARN_OK;

    if (r->heap_count > 1) {
        most = (int64_t)tn_incoming_rows_in(r->in, BATCH_BYTES, (size_t)most);
        TN_TRY(merge_rows(cx, r, most, &count));
        view(r, &r->gathered, 0, count, out);
    } else {
        count = only->array.length - only->at;
        count = rows_max > 0 && rows_max < count ? rows_max : count;
        view(r, &only->array, only->at, count, out);
        only->at += count;
    }
    if (r->phase == INSERTS)
        TN_TRY(no_positions(cx, r, count, out));
done:
    return rc;
}

int tn_run_reader_next(tarn_cx *cx, tn_run_reader *r, int64_t rows_max, tn_incoming_batch *out)
{
    tn_incoming_batch made = {0};
    int rc = TARN_OK;

    tn_array_release(&r->gathered);
    while (r->phase != ENDED) {
        TN_TRY(refill(cx, r));
        if (r->heap_count != 0)
            break;
        TN_TRY(open_phase(cx, r, r->phase == UPDATES ? INSERTS : ENDED));
    }
    if (r->phase != ENDED)
        TN_TRY(next_rows(cx, r, rows_max, &made));
    *out = made;
done:
    return rc;
}

int tn_run_reader_open(tarn_cx *cx, const tn_incoming *in, size_t stream, tn_run_reader **out)
{
    tn_run_reader *r = tn_calloc(cx, 1, sizeof *r);
    size_t columns = (size_t)in->schema.n_children;
    int rc = TARN_OK;

    if (r == NULL)
        return TARN_E_NOMEM;
    r->in = in;
    r->stream = stream;
    r->columns = tn_calloc(cx, columns, sizeof *r->columns);
    r->children = tn_calloc(cx, columns, sizeof *r->children);
    if (r->columns == NULL || r->children == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t c = 0; c < columns; c++)
        r->children[c] = &r->columns[c];
    if (in->runs.len != 0)
        TN_TRY(tn_store_open_file(cx, in->store, in->runs_file.path, &r->file));
    TN_TRY(open_phase(cx, r, UPDATES));
    *out = r;
    r = NULL;
done:
    tn_run_reader_close(cx, r);
    return rc;
}

void tn_run_reader_close(tarn_cx *cx, tn_run_reader *r)
{
    if (r == NULL)
        return;
    close_phase(cx, r);
    tn_array_release(&r->gathered);
    if (r->file != NULL)
        tn_store_close_file(r->file);
    free(r->columns);
    free(r->children);
    tn_buf_clear(&r->rows);
    tn_buf_clear(&r->positions);
    free(r);
}
