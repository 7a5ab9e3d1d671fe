/* Which of two rows of one key wins.
 *
 * I1: by commit time the one that comes in; by event time the stored one if its ordering value is
 *     greater. A delete without ordering value wins. (format: merge modes) Several rows for one
 *     stored row meet it in the order of their arrival. */
#include "exec/base_state.h"

int tn_base_order_held(tarn_cx *cx, tn_base_old *old)
{
    uint64_t *order;

    if (old->ordering == NULL || !tn_ordering_is_u64(old->ordering))
        return TARN_OK;
    tn_buf_reset(&old->held_order);
    order = (uint64_t *)(void *)tn_buf_extend(&old->held_order, (size_t)old->held.length * 8);
    if (order == NULL)
        return tn_buf_check(cx, &old->held_order);
    return tn_ordering_u64(cx, old->ordering, &old->held, order);
}

int tn_base_order_incoming(tarn_cx *cx, tn_base_old *old, const struct ArrowArray *rows)
{
    uint64_t *order;

    if (old->ordering == NULL || !tn_ordering_is_u64(old->ordering))
        return TARN_OK;
    tn_buf_reset(&old->incoming_order);
    order = (uint64_t *)(void *)tn_buf_extend(&old->incoming_order, (size_t)rows->length * 8);
    if (order == NULL)
        return tn_buf_check(cx, &old->incoming_order);
    return tn_ordering_u64(cx, old->ordering, rows, order);
}

static uint64_t order_of(const tn_buf *orders, int64_t row)
{
    return ((const uint64_t *)(const void *)orders->data)[row];
}

/* I1: whether row `row` of what comes in wins against row `other` of it (-1: against the stored
 * one). */
static bool wins(tn_base_writer *w, const struct ArrowArray *rows, int64_t row, int64_t other,
                 int64_t stored, bool deletes)
{
    tn_base_old *old = &w->old;

    if (old->ordering == NULL || (deletes && tn_ordering_is_none(old->ordering, rows, row)))
        return true;
    if (tn_ordering_is_u64(old->ordering))
        return order_of(&old->incoming_order, row) >= (other >= 0
                                                           ? order_of(&old->incoming_order, other)
                                                           : order_of(&old->held_order, stored));
    tn_buf_reset(&old->held_bytes);
    tn_buf_reset(&old->incoming_bytes);
    tn_ordering_bytes(old->ordering, rows, row, &old->incoming_bytes);
    if (other >= 0)
        tn_ordering_bytes(old->ordering, rows, other, &old->held_bytes);
    else
        tn_ordering_bytes(old->ordering, &old->held, stored, &old->held_bytes);
    return tn_str_compare(tn_buf_view(&old->incoming_bytes), tn_buf_view(&old->held_bytes)) >= 0;
}

int64_t tn_base_winner(tn_base_writer *w, const struct ArrowArray *rows, const uint8_t *deletes,
                       int64_t i, int64_t n, int64_t stored)
{
    int64_t best = -1;

    for (; i < n; i++) {
        if (wins(w, rows, i, best, stored, deletes != NULL && deletes[i] != 0))
            best = i;
        else
            w->counts.unchanged++;
    }
    return best;
}
