/* Keys of rows put aside, slice by slice.
 *
 *   for each slice of hashes
 *     load   hashes of the rows whose key lies in it, each key once
 *     work   what is to be done with the keys: look for them in the table
 *     apply  to each row of the slice; its facts are written anew
 *
 * I1: slices are as many as memory wants, and what comes out does not depend on them: a key lies in
 *     one slice, and its rows meet in order of arrival.
 *
 * I2: when memory is short nevertheless, all begins again with twice the slices; what was done is
 *     found done. */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "batch/ordering.h"
#include "exec/incoming_state.h"

#define SLICES_MAX  4096
#define AHEAD       32
#define BLOCK       256
#define ENTRY_BYTES 56 /* hash, two numbers, and its share of the slots */

typedef struct slice {
    tn_incoming *in;
    const tn_round *round;
    uint64_t number, count;
    tn_keys keys;
} slice;

/* By bits that neither a slot's place nor its mark is made of. */
static bool in_slice(const slice *s, tn_key_hash hash)
{
    return ((hash.high & UINT32_MAX) * s->count) >> 32 == s->number;
}

static tn_str text_of(const tn_row_facts *facts, size_t i)
{
    uint64_t from = i != 0 ? facts->orders[i - 1] : 0;

    return (tn_str){(const char *)facts->texts + from, (size_t)(facts->orders[i] - from)};
}

static tn_str kept_text(const tn_keys *keys, uint32_t entry)
{
    const uint8_t *at = keys->texts.data + keys->orders[entry];
    uint32_t len;

    memcpy(&len, at, sizeof len);
    return (tn_str){(const char *)at + sizeof len, len};
}

static int keep_text(tarn_cx *cx, tn_keys *keys, uint32_t entry, tn_str text)
{
    uint32_t len = (uint32_t)text.len;
    int rc = TARN_OK;

    if (keys->texts.cap - keys->texts.len < sizeof len + text.len) {
        size_t before = keys->texts.cap;

        if (!tn_buf_reserve(&keys->texts, sizeof len + text.len))
            return tn_fail_memory(cx);
        TN_TRY(tn_incoming_charge(cx, keys->texts.cap - before, "ordering values of rows",
                                  &keys->charged));
    }
    keys->orders[entry] = keys->texts.len;
    tn_buf_add(&keys->texts, &len, sizeof len);
    tn_buf_str(&keys->texts, text);
done:
    return rc;
}

/* Row i takes the place of the winner before it unless its value is smaller. */
static int choose(tarn_cx *cx, slice *s, const tn_row_facts *facts, size_t i, uint32_t entry,
                  bool added)
{
    tn_keys *keys = &s->keys;
    bool texts = !s->round->by_arrival && !tn_ordering_is_u64(s->in->ordering);

    if (s->round->by_arrival || added) {
        keys->winners[entry] = (uint64_t)facts->first + i;
        if (s->round->by_arrival)
            return TARN_OK;
    } else {
        if (texts ? tn_str_compare(text_of(facts, i), kept_text(keys, entry)) < 0
                  : facts->orders[i] < keys->orders[entry])
            return TARN_OK;
        keys->winners[entry] = (uint64_t)facts->first + i;
    }
    if (texts)
        return keep_text(cx, keys, entry, text_of(facts, i));
    keys->orders[entry] = facts->orders[i];
    return TARN_OK;
}

static int load_piece(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    slice *s = arg;
    size_t count = (size_t)facts->count;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        uint32_t entry;
        bool added;

        if (i + AHEAD < count && in_slice(s, facts->hashes[i + AHEAD]))
            __builtin_prefetch(&s->keys.slots[facts->hashes[i + AHEAD].low & s->keys.mask], 1);
        if (facts->flags[i] & TN_ROW_DROPPED || !in_slice(s, facts->hashes[i]))
            continue;
        TN_TRY(tn_keys_add(cx, &s->keys, facts->hashes[i], &entry, &added));
        if (s->round->choose)
            TN_TRY(choose(cx, s, facts, i, entry, added));
        else if (added)
            atomic_init(&s->keys.places[entry], TN_NO_PLACE);
    }
done:
    return rc;
}

static int apply_block(tarn_cx *cx, slice *s, tn_row_facts *facts, const uint32_t *rows,
                       const tn_key_hash *hashes, size_t count)
{
    uint32_t entries[BLOCK];
    int rc = TARN_OK;

    if (count == 0)
        return TARN_OK;
    tn_keys_find(&s->keys, hashes, count, entries);
    for (size_t i = 0; i < count; i++) {
        assert(entries[i] != UINT32_MAX);
        TN_TRY(s->round->apply(cx, &s->keys, entries[i], facts, rows[i], s->round->arg));
    }
done:
    return rc;
}

static int apply_piece(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    slice *s = arg;
    tn_key_hash hashes[BLOCK];
    uint32_t rows[BLOCK];
    size_t n = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < (size_t)facts->count; i++) {
        if (facts->flags[i] & TN_ROW_DROPPED || !in_slice(s, facts->hashes[i]))
            continue;
        rows[n] = (uint32_t)i;
        hashes[n++] = facts->hashes[i];
        if (n == BLOCK) {
            TN_TRY(apply_block(cx, s, facts, rows, hashes, n));
            n = 0;
        }
    }
    TN_TRY(apply_block(cx, s, facts, rows, hashes, n));
done:
    return rc;
}

static int run_slice(tarn_cx *cx, slice *s)
{
    uint64_t rows = (uint64_t)s->in->rows;
    int rc = TARN_OK;

    /* A slice is not quite even: some percent more are expected than its share. */
    TN_TRY(tn_keys_open(cx, (size_t)(rows / s->count + rows / s->count / 32), s->round->choose,
                        &s->keys));
    TN_TRY(tn_incoming_each(cx, s->in, TN_FACTS_KEYS, load_piece, s));
    if (s->round->work != NULL)
        TN_TRY(s->round->work(cx, &s->keys, s->round->arg));
    TN_TRY(tn_incoming_each(cx, s->in, TN_FACTS_KEYS | TN_FACTS_WRITE, apply_piece, s));
done:
    tn_keys_clear(cx, &s->keys);
    return rc;
}

static int run_slices(tarn_cx *cx, tn_incoming *in, const tn_round *round, uint64_t count)
{
    int rc = TARN_OK;

    if (round->begin != NULL)
        TN_TRY(round->begin(cx, round->arg));
    for (uint64_t number = 0; number < count; number++) {
        slice s = {.in = in, .round = round, .number = number, .count = count};

        TN_TRY(run_slice(cx, &s));
    }
done:
    return rc;
}

int tn_incoming_rounds(tarn_cx *cx, tn_incoming *in, const tn_round *round)
{
    uint64_t bytes = (uint64_t)in->rows * ENTRY_BYTES + (round->choose ? in->text_bytes * 2 : 0);
    uint64_t count = bytes / in->memory_max + 1;
    int rc;

    assert(in->spilled);
    count = count < SLICES_MAX ? count : SLICES_MAX;
    while ((rc = run_slices(cx, in, round, count)) == TARN_E_LIMIT && count < SLICES_MAX) {
        tn_cx_forget(cx);
        count *= 2;
    }
    return rc;
}
