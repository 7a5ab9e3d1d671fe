/* Rows held in memory, as their batches came: found by number, and gathered.
 *
 *   runs        neighbours are copied at once
 *   stretches   rows of one batch after the other, such as every tenth
 *   here and there   in two steps: batch by batch, then brought into order. Both copy a column in
 *                    one go; one step alone would begin anew with each row */
#include "exec/incoming_state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "batch/gather.h"

const tn_held *tn_incoming_held(const tn_incoming *in, int64_t row)
{
    size_t low = 0, high = in->held_count - 1;

    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (in->held[middle].first <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return &in->held[low];
}

tn_str tn_incoming_key(const tn_incoming *in, int64_t row)
{
    const tn_held *held = tn_incoming_held(in, row);
    const struct ArrowArray *keys = held->array.children[in->options.key_column];
    const int32_t *offsets =
        (const int32_t *)keys->buffers[1] + keys->offset + held->array.offset + (row - held->first);

    return (tn_str){(const char *)keys->buffers[2] + offsets[0], (size_t)(offsets[1] - offsets[0])};
}

int tn_incoming_charge(tarn_cx *cx, uint64_t bytes, const char *what, uint64_t *charged)
{
    int rc = tn_budget_take(cx, bytes, what);

    if (rc == TARN_OK)
        *charged += bytes;
    return rc;
}

size_t tn_incoming_rows_in(const tn_incoming *in, uint64_t bytes, size_t rows_max)
{
    uint64_t each = in->row_bytes / (uint64_t)(in->rows != 0 ? in->rows : 1) + 1;
    uint64_t rows = bytes / each;

    return rows < 1 ? 1 : rows < rows_max ? (size_t)rows : rows_max;
}

/* Where the rows of one gather lie. */
typedef struct wanted {
    uint32_t batch; /* number of the batch among those met */
    int64_t at;     /* position in it, its offset included */
} wanted;

static int locate(tarn_cx *cx, const tn_incoming *in, const uint32_t *rows, size_t count,
                  wanted *out, tn_buf *batches, size_t *runs, size_t *stretches)
{
    const tn_held *held = NULL;
    uint32_t *number = tn_alloc(cx, in->held_count * sizeof *number);
    uint32_t met = 0;

    if (number == NULL)
        return TARN_E_NOMEM;
    memset(number, 0xff, in->held_count * sizeof *number);
    *runs = *stretches = 0;
    for (size_t i = 0; i < count; i++) {
        size_t h;

        if (held == NULL || rows[i] < held->first || rows[i] >= held->first + held->array.length)
            held = tn_incoming_held(in, rows[i]);
        h = (size_t)(held - in->held);
        if (number[h] == UINT32_MAX) {
            number[h] = met++;
            tn_buf_add(batches, &h, sizeof h);
        }
        out[i] = (wanted){number[h], rows[i] - held->first + held->array.offset};
        *stretches += i == 0 || out[i].batch != out[i - 1].batch;
        *runs += i == 0 || out[i].batch != out[i - 1].batch || out[i].at != out[i - 1].at + 1;
    }
    free(number);
    return tn_buf_check(cx, batches);
}

/* One part for each run of neighbours. */
static int gather_runs(tarn_cx *cx, const tn_incoming *in, const wanted *want, size_t count,
                       const size_t *batches, size_t runs, struct ArrowArray *out)
{
    tn_gather_part *parts = tn_calloc(cx, runs, sizeof *parts);
    size_t n = 0;
    int rc = TARN_OK;

    if (parts == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || want[i].batch != want[i - 1].batch || want[i].at != want[i - 1].at + 1)
            parts[n++] = (tn_gather_part){.array = &in->held[batches[want[i].batch]].array,
                                          .first = want[i].at};
        parts[n - 1].count++;
    }
    rc = tn_gather(cx, &in->schema, parts, n, out);
    free(parts);
    return rc;
}

/* One part for each stretch of rows of one batch. */
static int gather_stretches(tarn_cx *cx, const tn_incoming *in, const wanted *want, size_t count,
                            const size_t *batches, size_t stretches, struct ArrowArray *out)
{
    tn_gather_part *parts = tn_calloc(cx, stretches, sizeof *parts);
    int64_t *take = tn_alloc(cx, count * sizeof *take);
    size_t n = 0;
    int rc = TARN_OK;

    if (parts == NULL || take == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || want[i].batch != want[i - 1].batch)
            parts[n++] = (tn_gather_part){.array = &in->held[batches[want[i].batch]].array,
                                          .take = take + i};
        take[i] = want[i].at;
        parts[n - 1].count++;
    }
    TN_TRY(tn_gather(cx, &in->schema, parts, n, out));
done:
    free(parts);
    free(take);
    return rc;
}

/* The rows batch by batch into one array, and `order`: where each row wanted lies in it. */
static int gather_batches(tarn_cx *cx, const tn_incoming *in, const wanted *want, size_t count,
                          const size_t *batches, size_t batch_count, int64_t *order,
                          struct ArrowArray *out)
{
    tn_gather_part *parts = tn_calloc(cx, batch_count, sizeof *parts);
    int64_t *take = tn_alloc(cx, count * sizeof *take);
    int64_t *starts = tn_calloc(cx, batch_count + 1, sizeof *starts);
    int rc = TARN_OK;

    if (parts == NULL || take == NULL || starts == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        starts[want[i].batch + 1]++;
    for (size_t b = 0; b < batch_count; b++) {
        parts[b] = (tn_gather_part){
            .array = &in->held[batches[b]].array, .take = take + starts[b], .count = starts[b + 1]};
        starts[b + 1] += starts[b];
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = starts[want[i].batch]++;
        take[order[i]] = want[i].at;
    }
    TN_TRY(tn_gather(cx, &in->schema, parts, batch_count, out));
done:
    free(parts);
    free(take);
    free(starts);
    return rc;
}

static int gather_ordered(tarn_cx *cx, const tn_incoming *in, const wanted *want, size_t count,
                          const size_t *batches, size_t batch_count, struct ArrowArray *out)
{
    int64_t *order = tn_alloc(cx, count * sizeof *order);
    struct ArrowArray grouped = {0};
    tn_gather_part part = {.array = &grouped, .take = order, .count = (int64_t)count};
    int rc = TARN_OK;

    if (order == NULL)
        return TARN_E_NOMEM;
    TN_TRY(gather_batches(cx, in, want, count, batches, batch_count, order, &grouped));
    TN_TRY(tn_gather(cx, &in->schema, &part, 1, out));
done:
    tn_array_release(&grouped);
    free(order);
    return rc;
}

int tn_incoming_gather(tarn_cx *cx, const tn_incoming *in, const uint32_t *rows, size_t count,
                       struct ArrowArray *out)
{
    wanted *want = tn_alloc(cx, count * sizeof *want);
    tn_buf batches = {0};
    const size_t *met;
    size_t runs, stretches;
    int rc = TARN_OK;

    assert(count > 0 && in->held_count > 0);
    if (want == NULL)
        return TARN_E_NOMEM;
    TN_TRY(locate(cx, in, rows, count, want, &batches, &runs, &stretches));
    met = (const size_t *)(const void *)batches.data;
    if (runs <= count / 8 + 1)
        TN_TRY(gather_runs(cx, in, want, count, met, runs, out));
    else if (stretches <= count / 8 + 1)
        TN_TRY(gather_stretches(cx, in, want, count, met, stretches, out));
    else
        TN_TRY(gather_ordered(cx, in, want, count, met, batches.len / sizeof(size_t), out));
done:
    tn_buf_clear(&batches);
    free(want);
    return rc;
}

int tn_incoming_gather_run(tarn_cx *cx, const tn_incoming *in, int64_t first, int64_t count,
                           struct ArrowArray *out)
{
    const tn_held *held = tn_incoming_held(in, first), *end = in->held + in->held_count;
    tn_gather_part *parts = tn_calloc(cx, (size_t)(end - held), sizeof *parts);
    size_t n = 0;
    int rc;

    if (parts == NULL)
        return TARN_E_NOMEM;
    for (int64_t at = first; at < first + count; held++) {
        int64_t past = held->first + held->array.length;

        past = past < first + count ? past : first + count;
        parts[n++] = (tn_gather_part){.array = &held->array,
                                      .first = at - held->first + held->array.offset,
                                      .count = past - at};
        at = past;
    }
    rc = tn_gather(cx, &in->schema, parts, n, out);
    free(parts);
    return rc;
}
