/* Rows that were found in another partition than their own.
 *
 *   found at     move                       event time          becomes
 *   its own      any                        any                 an update there
 *   elsewhere    no, or it is a delete      any                 an update (or delete) there
 *   elsewhere    yes                        stored is greater   an update there, which will lose
 *   elsewhere    yes                        else                a delete there, and an insert into
 *                                                               its own partition (an update,
 *                                                               where it has a place in that, too)
 *
 * I1: a row that loses at one of its places moves nowhere. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "exec/incoming_stored.h"

typedef struct settling {
    tn_incoming *in;
    tn_stored stored;
    size_t extra; /* those of rows before are behind */
    uint64_t charged;
    uint8_t *lost; /* per row, a bit */
    int64_t moved;
} settling;

static bool elsewhere(const tn_incoming *in, const tn_row_facts *facts, size_t i, uint64_t place)
{
    return in->files[TN_PLACE_FILE(place)]->partition != facts->partitions[i];
}

static tn_extra *extras_of(const tn_incoming *in)
{
    return (tn_extra *)(void *)in->extras.data;
}

/* Extras of a row; those of rows before it are passed. */
static tn_extra *pass_extras(settling *s, uint64_t row, size_t *count)
{
    size_t all = s->in->extras.len / sizeof(tn_extra), end;
    tn_extra *extras = extras_of(s->in);

    while (s->extra < all && extras[s->extra].row < row)
        s->extra++;
    for (end = s->extra; end < all && extras[end].row == row;)
        end++;
    *count = end - s->extra;
    return *count != 0 ? extras + s->extra : NULL;
}

static bool stays(const tn_row_facts *facts, size_t i)
{
    return facts->places[i] == TN_NO_PLACE ||
           (facts->flags[i] & (TN_ROW_DROPPED | TN_ROW_DELETE)) != 0;
}

/* --- asking --- */

static void told(void *arg, const tn_asked *asked)
{
    settling *s = arg;

    if (asked->lost)
        tn_bit_set(s->lost, (int64_t)asked->row);
}

static int ask(tarn_cx *cx, settling *s, const tn_row_facts *facts, size_t i, uint64_t place)
{
    return elsewhere(s->in, facts, i, place) ? tn_stored_ask(cx, &s->stored, facts, i, place)
                                             : TARN_OK;
}

static int ask_rows(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    settling *s = arg;
    int rc = TARN_OK;

    for (size_t i = 0; i < (size_t)facts->count; i++) {
        size_t count;
        const tn_extra *extras = pass_extras(s, (uint64_t)facts->first + i, &count);

        if (stays(facts, i))
            continue;
        TN_TRY(ask(cx, s, facts, i, facts->places[i]));
        for (size_t k = 0; k < count; k++)
            TN_TRY(ask(cx, s, facts, i, extras[k].place));
    }
done:
    return rc;
}

static int find_losers(tarn_cx *cx, settling *s)
{
    int rc = TARN_OK;

    TN_TRY(tn_stored_open(cx, s->in, told, s, &s->stored));
    TN_TRY(tn_incoming_each(cx, s->in, TN_FACTS_KEYS, ask_rows, s));
    TN_TRY(tn_stored_answer(cx, &s->stored));
    s->extra = 0;
done:
    return rc;
}

/* --- moving --- */

/* True when the row goes to its own partition. */
static bool move_row(const tn_incoming *in, tn_row_facts *facts, size_t i, tn_extra *extras,
                     size_t count)
{
    uint64_t *place = &facts->places[i];
    bool moves = elsewhere(in, facts, i, *place), home = !moves;

    for (size_t k = 0; k < count; k++) {
        bool away = elsewhere(in, facts, i, extras[k].place);

        extras[k].deletes = away;
        moves = moves || away;
        /* The place that is an update, if there is one, stands with the row. */
        if (!away && !home) {
            uint64_t kept = extras[k].place;

            extras[k].place = *place;
            extras[k].deletes = true;
            *place = kept;
            home = true;
        }
    }
    if (!home)
        facts->flags[i] |= TN_ROW_MOVED;
    return moves;
}

static int move_rows(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    settling *s = arg;

    for (size_t i = 0; i < (size_t)facts->count; i++) {
        uint64_t row = (uint64_t)facts->first + i;
        size_t count;
        tn_extra *extras = pass_extras(s, row, &count);

        if (!stays(facts, i) && !tn_bit(s->lost, (int64_t)row))
            s->moved += move_row(s->in, facts, i, extras, count);
    }
    return tn_cx_check(cx);
}

int tn_incoming_settle_global(tarn_cx *cx, tn_incoming *in, bool move, bool event_time,
                              int64_t *moved)
{
    settling s = {.in = in};
    int rc = TARN_OK;

    assert(in->options.global && in->plan == NULL);
    *moved = 0;
    if (!move || in->rows == 0 || in->file_count == 0)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, (uint64_t)in->rows / 8 + 1, "rows that change their partition",
                              &s.charged));
    s.lost = tn_calloc(cx, (size_t)in->rows / 8 + 1, 1);
    if (s.lost == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (event_time && in->ordering != NULL)
        TN_TRY(find_losers(cx, &s));
    TN_TRY(tn_incoming_each(cx, in, TN_FACTS_WRITE, move_rows, &s));
    *moved = s.moved;
done:
    tn_budget_give(cx, s.charged);
    tn_stored_clear(cx, &s.stored);
    free(s.lost);
    return rc;
}
