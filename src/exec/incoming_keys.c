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

/* --- growing --- */

static int grow_array(tarn_cx *cx, tn_keys *keys, void *array, size_t cap, size_t size)
{
    void *old, *grown;
    int rc = TARN_OK;

    memcpy(&old, array, sizeof old);
    if (old == NULL)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, (cap - keys->cap) * size, "keys of rows", &keys->charged));
    grown = tn_realloc(cx, old, cap, size);
    if (grown == NULL)
        return TARN_E_NOMEM;
    memcpy(array, &grown, sizeof grown);
done:
    return rc;
}

static int grow_slots(tarn_cx *cx, tn_keys *keys, size_t entries)
{
    size_t slots = SLOTS_MIN, old = keys->slots != NULL ? keys->mask + 1 : 0;
    uint64_t *grown;
    int rc = TARN_OK;

    while (slots / 3 * 2 < entries)
        slots *= 2;
    if (slots <= old)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, slots * sizeof *grown, "keys of rows", &keys->charged));
    grown = tn_calloc(cx, slots, sizeof *grown);
    if (grown == NULL)
        return TARN_E_NOMEM;
    free(keys->slots);
    keys->slots = grown;
    keys->mask = slots - 1;
    tn_budget_give(cx, old * sizeof *grown);
    keys->charged -= old * sizeof *grown;
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t at = keys->hashes[i].low & keys->mask;

        while (grown[at] != 0)
            at = (at + 1) & keys->mask;
        grown[at] = slot_of(keys->hashes[i], i);
    }
done:
    return rc;
}

/* The four arrays have one length each: those that are there grow together. */
static int grow_keys(tarn_cx *cx, tn_keys *keys, size_t cap)
{
    int rc = TARN_OK;

    TN_TRY(grow_array(cx, keys, &keys->hashes, cap, sizeof *keys->hashes));
    TN_TRY(grow_array(cx, keys, &keys->places, cap, sizeof *keys->places));
    TN_TRY(grow_array(cx, keys, &keys->winners, cap, sizeof *keys->winners));
    TN_TRY(grow_array(cx, keys, &keys->orders, cap, sizeof *keys->orders));
    TN_TRY(grow_slots(cx, keys, cap));
    keys->cap = cap;
done:
    return rc;
}

int tn_keys_open(tarn_cx *cx, size_t expected, bool choose, tn_keys *out)
{
    int rc = TARN_OK;

    out->hashes = tn_alloc(cx, 1);
    if (choose) {
        out->winners = tn_alloc(cx, 1);
        out->orders = tn_alloc(cx, 1);
    } else {
        out->places = tn_alloc(cx, 1);
    }
    if (out->hashes == NULL || (choose && (out->winners == NULL || out->orders == NULL)) ||
        (!choose && out->places == NULL))
        return TARN_E_NOMEM;
    TN_TRY(grow_keys(cx, out, expected + SLOTS_MIN));
done:
    return rc;
}

int tn_keys_add(tarn_cx *cx, tn_keys *keys, tn_key_hash hash, uint32_t *entry, bool *added)
{
    uint64_t at = 0;
    int rc = TARN_OK;

    *entry = probe(keys, hash, &at);
    *added = *entry == UINT32_MAX;
    if (!*added)
        goto done;
    if (keys->count == keys->cap) {
        TN_TRY(grow_keys(cx, keys, keys->cap + keys->cap / 2));
        (void)probe(keys, hash, &at);
    }
    if (keys->count >= UINT32_MAX - 1)
        TN_FAIL(TARN_E_LIMIT, "too many keys for one round; give less with --memory");
    *entry = (uint32_t)keys->count++;
    keys->hashes[*entry] = hash;
    keys->slots[at] = slot_of(hash, *entry);
done:
    return rc;
}

void tn_keys_clear(tarn_cx *home, tn_keys *keys)
{
    free(keys->hashes);
    free(keys->places);
    free(keys->slots);
    free(keys->winners);
    free(keys->orders);
    tn_buf_clear(&keys->texts);
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
            continue;
        }
        if (in->same == NULL)
            TN_TRY(begin_same(cx, in));
        in->same[i] = entry;
    }
done:
    return rc;
}

static int make_keys(tarn_cx *cx, tn_incoming *in)
{
    tn_keys *keys = &in->keys;
    size_t slots = SLOTS_MIN, rows = (size_t)in->rows;
    int rc = TARN_OK;

    while (slots / 3 * 2 < rows)
        slots *= 2;
    TN_TRY(tn_incoming_charge(cx, rows * sizeof *keys->hashes + slots * sizeof *keys->slots,
                              "keys of rows", &keys->charged));
    keys->hashes = tn_alloc(cx, rows * sizeof *keys->hashes);
    keys->slots = tn_calloc(cx, slots, sizeof *keys->slots);
    if (keys->hashes == NULL || keys->slots == NULL)
        TN_TRY(TARN_E_NOMEM);
    keys->mask = slots - 1;
    keys->count = keys->cap = rows;
    TN_TRY(tn_parallel(cx, in->held_count, hash_held, in));
    TN_TRY(fill_table(cx, in));
done:
    return rc;
}

void tn_incoming_drop_keys(tn_incoming *in)
{
    tn_keys_clear(&in->home, &in->keys);
    free(in->same);
    in->same = NULL;
    in->keyed = false;
}

int tn_incoming_make_keys(tarn_cx *cx, tn_incoming *in)
{
    int rc = in->spilled || in->keyed ? TARN_OK : make_keys(cx, in);

    if (rc == TARN_OK)
        in->keyed = !in->spilled;
    else
        tn_incoming_drop_keys(in);
    return rc == TARN_E_LIMIT ? tn_incoming_yield(cx, in) : rc;
}
