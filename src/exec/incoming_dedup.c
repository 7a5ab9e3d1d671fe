/* One row per key: of rows with one key the one with the greatest ordering value stays, of equal
 * ones the last.
 *
 * I1: rows meet in order of arrival, so which one stays does not depend on how many fit into
 *     memory. */
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/ordering.h"
#include "exec/incoming_state.h"

/* --- rows held --- */

typedef struct contest {
    tn_incoming *in;
    bool by_arrival;
    uint64_t *orders;   /* of all rows, where values fit 8 bytes */
    tn_buf held, rival; /* values as bytes of the row that leads, and of another */
} contest;

static int order_held(tarn_cx *cx, size_t i, void *arg)
{
    contest *c = arg;
    const tn_held *held = &c->in->held[i];

    return tn_ordering_u64(cx, c->in->ordering, &held->array, c->orders + held->first);
}

static void value_of(const contest *c, uint32_t row, tn_buf *out)
{
    const tn_held *held = tn_incoming_held(c->in, row);

    tn_buf_reset(out);
    tn_ordering_bytes(c->in->ordering, &held->array, row - held->first, out);
}

/* Whether `later` wins against `row`, which came before it. */
static bool wins(contest *c, uint32_t later, uint32_t row)
{
    if (c->by_arrival)
        return true;
    if (c->orders != NULL)
        return c->orders[later] >= c->orders[row];
    value_of(c, row, &c->held);
    value_of(c, later, &c->rival);
    return tn_str_compare(tn_buf_view(&c->rival), tn_buf_view(&c->held)) >= 0;
}

static int drop_losers(tarn_cx *cx, contest *c, uint32_t *winners)
{
    tn_incoming *in = c->in;
    uint8_t *flags = in->facts.flags;
    int rc = TARN_OK;

    for (uint32_t i = 0; i < in->rows; i++) {
        uint32_t entry = in->same[i];

        if (flags[i] & TN_ROW_DROPPED)
            continue;
        if (winners[entry] == UINT32_MAX) {
            winners[entry] = i;
            continue;
        }
        if (wins(c, i, winners[entry])) {
            flags[winners[entry]] |= TN_ROW_DROPPED;
            winners[entry] = i;
        } else {
            flags[i] |= TN_ROW_DROPPED;
        }
        in->dropped++;
    }
    TN_TRY(tn_buf_check(cx, &c->held));
    TN_TRY(tn_buf_check(cx, &c->rival));
done:
    return rc;
}

static int dedup_held(tarn_cx *cx, tn_incoming *in, bool by_arrival)
{
    contest c = {.in = in, .by_arrival = by_arrival};
    uint64_t charged = 0;
    uint32_t *winners = NULL;
    int rc = TARN_OK;

    if (in->same == NULL)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, (uint64_t)in->rows * (sizeof *winners + sizeof *c.orders),
                              "rows of one key", &charged));
    winners = tn_alloc(cx, (size_t)in->rows * sizeof *winners);
    if (winners == NULL)
        TN_TRY(TARN_E_NOMEM);
    memset(winners, 0xff, (size_t)in->rows * sizeof *winners);
    if (!c.by_arrival && tn_ordering_is_u64(in->ordering)) {
        c.orders = tn_alloc(cx, (size_t)in->rows * sizeof *c.orders);
        if (c.orders == NULL)
            TN_TRY(TARN_E_NOMEM);
        TN_TRY(tn_parallel(cx, in->held_count, order_held, &c));
    }
    TN_TRY(drop_losers(cx, &c, winners));
done:
    tn_budget_give(cx, charged);
    tn_buf_clear(&c.held);
    tn_buf_clear(&c.rival);
    free(c.orders);
    free(winners);
    return rc;
}

/* --- rows put aside --- */

static int drop_loser(tarn_cx *cx, const tn_keys *keys, uint32_t entry, tn_row_facts *facts,
                      size_t i, void *arg)
{
    tn_incoming *in = arg;

    (void)cx;
    if (keys->winners[entry] == (uint64_t)facts->first + i)
        return TARN_OK;
    facts->flags[i] |= TN_ROW_DROPPED;
    in->dropped++;
    return TARN_OK;
}

int tn_incoming_dedup(tarn_cx *cx, tn_incoming *in, bool by_arrival, int64_t *dropped)
{
    tn_round round = {.choose = true,
                      .by_arrival = by_arrival || in->ordering == NULL,
                      .apply = drop_loser,
                      .arg = in};
    int64_t before = in->dropped;
    int rc = TARN_OK;

    *dropped = 0;
    TN_TRY(tn_incoming_seal(cx, in));
    if (in->rows == 0)
        goto done;
    TN_TRY(tn_incoming_make_keys(cx, in));
    /* What memory is short for comes before the first row is dropped. */
    rc = in->spilled ? TARN_OK : dedup_held(cx, in, round.by_arrival);
    if (rc == TARN_E_LIMIT)
        rc = tn_incoming_yield(cx, in);
    TN_TRY(rc);
    if (in->spilled)
        TN_TRY(tn_incoming_rounds(cx, in, &round));
    *dropped = in->dropped - before;
done:
    return rc;
}
