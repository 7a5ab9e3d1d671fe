/* Keys of rows as 128-bit hashes, found in an open table; one row per key.
 *
 * I1: two keys are the same when their hashes are. The seed is drawn per object, so nobody can
 *     choose keys that meet; by chance, of 10^9 keys against 10^9 two meet once in 10^20 runs.
 * I2: an entry is the first row of its key, whatever the threads do: hashing is parallel, filling
 *     the table is not. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/ordering.h"
#include "exec/incoming_state.h"

#define BLOCK       64 /* keys whose places in the table are fetched together */
#define SLOTS_MIN   64
#define PARTITION_K 0x9E3779B97F4A7C15u

tn_key_hash tn_keys_hash(const tn_incoming *in, const void *key, size_t len, uint32_t partition)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(key, len, in->seed);

    if (!in->options.global)
        hash.low64 ^= ((uint64_t)partition + 1) * PARTITION_K;
    return (tn_key_hash){hash.low64, hash.high64};
}

static uint64_t slot_of(tn_key_hash hash, size_t entry)
{
    return (hash.high & 0xffffffff00000000u) | (entry + 1);
}

static bool same_hash(tn_key_hash a, tn_key_hash b)
{
    return a.low == b.low && a.high == b.high;
}

/* The entry of a hash, or UINT32_MAX and the free slot in *at. */
static uint32_t probe(const tn_keys *keys, tn_key_hash hash, uint64_t *at)
{
    uint64_t i = hash.low & keys->mask, slot;

    while ((slot = keys->slots[i]) != 0) {
        if ((slot ^ hash.high) >> 32 == 0 && same_hash(keys->hashes[(uint32_t)slot - 1], hash))
            return (uint32_t)slot - 1;
        i = (i + 1) & keys->mask;
    }
    *at = i;
    return UINT32_MAX;
}

void tn_keys_find(const tn_keys *keys, const tn_key_hash *hashes, size_t count, uint32_t *entries)
{
    uint64_t at;

    for (size_t from = 0; from < count; from += BLOCK) {
        size_t n = count - from < BLOCK ? count - from : BLOCK;

        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(&keys->slots[hashes[from + i].low & keys->mask]);
        for (size_t i = 0; i < n; i++) {
            uint64_t slot = keys->slots[hashes[from + i].low & keys->mask];

            if ((slot ^ hashes[from + i].high) >> 32 == 0 && slot != 0)
                __builtin_prefetch(&keys->hashes[(uint32_t)slot - 1]);
        }
        for (size_t i = 0; i < n; i++)
            entries[from + i] = probe(keys, hashes[from + i], &at);
    }
}

void tn_keys_clear(tarn_cx *home, tn_keys *keys)
{
    free(keys->hashes);
    free(keys->places);
    free(keys->slots);
    tn_buf_clear(&keys->extras);
    tn_budget_give(home, keys->charged);
    *keys = (tn_keys){0};
}

/* --- keys of all rows --- */

static int hash_held(tarn_cx *cx, size_t i, void *arg)
{
    const tn_incoming *in = arg;
    const tn_held *held = &in->held[i];
    const struct ArrowArray *keys = held->array.children[in->options.key_column];
    const int32_t *offsets = (const int32_t *)keys->buffers[1] + keys->offset + held->array.offset;
    const char *data = keys->buffers[2];
    const uint32_t *partitions = in->facts.partitions + held->first;
    tn_key_hash *out = in->keys.hashes + held->first;

    for (int64_t k = 0; k < held->array.length; k++)
        out[k] = tn_keys_hash(in, data + offsets[k], (size_t)(offsets[k + 1] - offsets[k]),
                              partitions[k]);
    return tn_cx_check(cx);
}

/* The first row whose key was there already: from here on `same` is kept. */
static int begin_same(tarn_cx *cx, tn_incoming *in)
{
    size_t rows = (size_t)in->rows;
    int rc = TARN_OK;

    TN_TRY(tn_incoming_charge(cx, rows * sizeof *in->same, "keys of rows", &in->keys.charged));
    in->same = tn_alloc(cx, rows * sizeof *in->same);
    if (in->same == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < rows; i++)
        in->same[i] = (uint32_t)i;
done:
    return rc;
}

static int fill_table(tarn_cx *cx, tn_incoming *in)
{
    tn_keys *keys = &in->keys;
    uint64_t at = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < keys->count; i++) {
        uint32_t entry;

        if (i + BLOCK < keys->count)
            __builtin_prefetch(&keys->slots[keys->hashes[i + BLOCK].low & keys->mask], 1);
        entry = probe(keys, keys->hashes[i], &at);
        if (entry == UINT32_MAX) {
            keys->slots[at] = slot_of(keys->hashes[i], i);
            keys->distinct++;
            continue;
        }
        if (in->same == NULL)
            TN_TRY(begin_same(cx, in));
        in->same[i] = entry;
    }
done:
    return rc;
}

int tn_incoming_make_keys(tarn_cx *cx, tn_incoming *in)
{
    tn_keys *keys = &in->keys;
    size_t slots = SLOTS_MIN;
    int rc = TARN_OK;

    if (in->keyed)
        return TARN_OK;
    tn_keys_clear(&in->home, keys);
    while (slots < (size_t)in->rows / 2 * 3)
        slots *= 2;
    TN_TRY(tn_incoming_charge(
        cx, (uint64_t)in->rows * sizeof *keys->hashes + slots * sizeof *keys->slots, "keys of rows",
        &keys->charged));
    keys->hashes = tn_alloc(cx, (size_t)in->rows * sizeof *keys->hashes);
    keys->slots = tn_calloc(cx, slots, sizeof *keys->slots);
    if (keys->hashes == NULL || keys->slots == NULL)
        TN_TRY(TARN_E_NOMEM);
    keys->mask = slots - 1;
    keys->count = keys->cap = (size_t)in->rows;
    TN_TRY(tn_parallel(cx, in->held_count, hash_held, in));
    TN_TRY(fill_table(cx, in));
    in->keyed = true;
done:
    return rc;
}

/* --- one row per key --- */

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

int tn_incoming_dedup(tarn_cx *cx, tn_incoming *in, bool by_arrival, int64_t *dropped)
{
    contest c = {.in = in, .by_arrival = by_arrival || in->options.ordering_count == 0};
    uint64_t charged = 0;
    int64_t before = in->dropped;
    uint32_t *winners = NULL;
    int rc = TARN_OK;

    *dropped = 0;
    if (in->rows == 0)
        return TARN_OK;
    TN_TRY(tn_incoming_make_keys(cx, in));
    if (in->same == NULL)
        goto done;
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
    *dropped = in->dropped - before;
done:
    tn_budget_give(cx, charged);
    tn_buf_clear(&c.held);
    tn_buf_clear(&c.rival);
    free(c.orders);
    free(winners);
    return rc;
}
