/* Readers of streams: batches in the order that place has made.
 *
 * Inserts that lay next to each other in a batch are given back where they are; all others are
 * gathered. */
#include <assert.h>
#include <stdlib.h>

#include "batch/gather.h"
#include "exec/incoming_state.h"

#define BATCH_ROWS  16384
#define VIEW_ROWS   65536
#define BATCH_BYTES (4ull << 20)

struct tn_incoming_reader {
    const tn_incoming *in;
    tn_run_reader *runs; /* of rows put aside; then all below is unused */
    tn_stream_range left;
    tn_incoming_batch batch;
    struct ArrowArray *columns; /* of a view */
    struct ArrowArray **children;
    const void *no_validity[1];
    tn_buf rows, positions, deletes;
};

int tn_incoming_reader_open(tarn_cx *cx, tn_incoming *in, size_t stream, tn_incoming_reader **out)
{
    tn_incoming_reader *reader = tn_calloc(cx, 1, sizeof *reader);
    size_t columns = (size_t)in->schema.n_children;

    assert(in->plan != NULL && stream < in->stream_count);
    if (reader == NULL)
        return TARN_E_NOMEM;
    reader->in = in;
    if (in->spilled) {
        int rc = tn_run_reader_open(cx, in, stream, &reader->runs);

        if (rc != TARN_OK)
            free(reader);
        else
            *out = reader;
        return rc;
    }
    reader->left = in->streams[stream];
    reader->columns = tn_calloc(cx, columns, sizeof *reader->columns);
    reader->children = tn_calloc(cx, columns, sizeof *reader->children);
    if (reader->columns == NULL || reader->children == NULL) {
        tn_incoming_reader_close(cx, reader);
        return TARN_E_NOMEM;
    }
    for (size_t c = 0; c < columns; c++)
        reader->children[c] = &reader->columns[c];
    *out = reader;
    return TARN_OK;
}

void tn_incoming_reader_close(tarn_cx *cx, tn_incoming_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->runs != NULL)
        tn_run_reader_close(cx, reader->runs);
    else
        tn_array_release(&reader->batch.rows);
    free(reader->columns);
    free(reader->children);
    tn_buf_clear(&reader->rows);
    tn_buf_clear(&reader->positions);
    tn_buf_clear(&reader->deletes);
    free(reader);
}

static int64_t batch_rows(const tn_incoming *in, int64_t rows_max)
{
    size_t most = rows_max > 0 && rows_max < BATCH_ROWS ? (size_t)rows_max : BATCH_ROWS;

    return (int64_t)tn_incoming_rows_in(in, BATCH_BYTES, most);
}

static void release_view(struct ArrowArray *array)
{
    array->release = NULL;
}

/* Rows [first, first + rows) of a batch held, not copied. */
static void view(tn_incoming_reader *reader, const tn_held *held, int64_t first, int64_t rows)
{
    int64_t at = held->array.offset + first;

    for (int64_t c = 0; c < held->array.n_children; c++) {
        reader->columns[c] = *held->array.children[c];
        reader->columns[c].offset += at;
        reader->columns[c].length = rows;
        if (reader->columns[c].null_count != 0)
            reader->columns[c].null_count = -1;
        reader->columns[c].release = release_view;
    }
    reader->batch.rows = (struct ArrowArray){.length = rows,
                                             .n_buffers = 1,
                                             .buffers = reader->no_validity,
                                             .n_children = held->array.n_children,
                                             .children = reader->children,
                                             .release = release_view};
}

static int positions_of(tarn_cx *cx, tn_incoming_reader *reader, int64_t rows, int64_t **out)
{
    tn_buf_reset(&reader->positions);
    *out = (int64_t *)(void *)tn_buf_extend(&reader->positions, (size_t)rows * sizeof **out);
    if (*out == NULL)
        return tn_fail_memory(cx);
    reader->batch.positions = *out;
    return TARN_OK;
}

static int next_updates(tarn_cx *cx, tn_incoming_reader *reader, int64_t rows_max)
{
    const tn_update *updates = reader->in->updates + reader->left.update;
    int64_t left = (int64_t)(reader->left.update_end - reader->left.update);
    int64_t rows = batch_rows(reader->in, rows_max), *positions;
    uint32_t *numbers;
    uint8_t *deletes;
    bool any = false;
    int rc = TARN_OK;

    rows = rows < left ? rows : left;
    tn_buf_reset(&reader->rows);
    tn_buf_reset(&reader->deletes);
    numbers = (uint32_t *)(void *)tn_buf_extend(&reader->rows, (size_t)rows * sizeof *numbers);
    deletes = tn_buf_extend(&reader->deletes, (size_t)rows);
    if (numbers == NULL || deletes == NULL)
        TN_TRY(tn_fail_memory(cx));
    TN_TRY(positions_of(cx, reader, rows, &positions));
    for (int64_t i = 0; i < rows; i++) {
        numbers[i] = updates[i].row;
        positions[i] = updates[i].position;
        deletes[i] = updates[i].deletes;
        any = any || updates[i].deletes;
    }
    TN_TRY(tn_incoming_gather(cx, reader->in, numbers, (size_t)rows, &reader->batch.rows));
    reader->batch.deletes = any ? deletes : NULL;
    reader->left.update += (size_t)rows;
done:
    return rc;
}

static int next_inserts(tarn_cx *cx, tn_incoming_reader *reader, int64_t rows_max)
{
    const uint32_t *rows = reader->in->inserts + reader->left.insert;
    int64_t left = (int64_t)(reader->left.insert_end - reader->left.insert), n = 1;
    int64_t most = rows_max > 0 && rows_max < VIEW_ROWS ? rows_max : VIEW_ROWS, *positions;
    const tn_held *held = tn_incoming_held(reader->in, rows[0]);
    int64_t first = rows[0] - held->first, gathered = batch_rows(reader->in, rows_max);
    int rc = TARN_OK;

    most = most < left ? most : left;
    most = most < held->array.length - first ? most : held->array.length - first;
    while (n < most && rows[n] == rows[0] + n)
        n++;
    gathered = gathered < left ? gathered : left;
    /* A short run ends where rows of other streams lie between: then a copy is the better batch. */
    if (n < most && n < gathered / 2) {
        n = gathered;
        TN_TRY(tn_incoming_gather(cx, reader->in, rows, (size_t)n, &reader->batch.rows));
    } else {
        view(reader, held, first, n);
    }
    TN_TRY(positions_of(cx, reader, n, &positions));
    for (int64_t i = 0; i < n; i++)
        positions[i] = -1;
    reader->left.insert += (size_t)n;
done:
    return rc;
}

int tn_incoming_reader_next(tarn_cx *cx, tn_incoming_reader *reader, int64_t rows_max,
                            const tn_incoming_batch **out)
{
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (reader->runs != NULL) {
        TN_TRY(tn_run_reader_next(cx, reader->runs, rows_max, &reader->batch));
        *out = &reader->batch;
        goto done;
    }
    tn_array_release(&reader->batch.rows);
    reader->batch = (tn_incoming_batch){0};
    if (reader->left.update < reader->left.update_end)
        TN_TRY(next_updates(cx, reader, rows_max));
    else if (reader->left.insert < reader->left.insert_end)
        TN_TRY(next_inserts(cx, reader, rows_max));
    *out = &reader->batch;
done:
    return rc;
}
