/* The dictionary's hash table: open addressing, at most half full, a slot keeping 32 bits of hash
 * beside the index so that a probe touches the values only on a likely hit.
 *
 * I1: slot.next is index + 1; 0 is an empty slot.
 * I2: Every value of `plain` has exactly one slot. */
#include "codec/parquet/dict.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLOT_BITS_MIN 8
#define AHEAD         16

typedef struct tn_dict_slot {
    uint32_t hash, next;
} slot;

void tn_dict_clear(tn_dict *dict)
{
    tn_buf_clear(&dict->plain);
    tn_buf_clear(&dict->spans);
    free(dict->slot);
    dict->slot = NULL;
    dict->slot_bits = 0;
    dict->count = 0;
}

uint64_t tn_dict_bytes(const tn_dict *dict)
{
    return dict->plain.cap + dict->spans.cap +
           (dict->slot != NULL ? sizeof(slot) << dict->slot_bits : 0);
}

static inline size_t home(const tn_dict *dict, uint32_t hash)
{
    return hash >> (32 - dict->slot_bits);
}

static int rehash(tarn_cx *cx, tn_dict *dict, unsigned bits, uint32_t keep)
{
    slot *old = dict->slot, *grown = tn_calloc(cx, (size_t)1 << bits, sizeof *grown);
    size_t n = old != NULL ? (size_t)1 << dict->slot_bits : 0, mask = ((size_t)1 << bits) - 1;

    if (grown == NULL)
        return TARN_E_NOMEM;
    dict->slot = grown;
    dict->slot_bits = bits;
    for (size_t i = 0; i < n; i++) {
        size_t at = home(dict, old[i].hash);

        if (old[i].next == 0 || old[i].next > keep)
            continue;
        while (grown[at].next != 0)
            at = (at + 1) & mask;
        grown[at] = old[i];
    }
    free(old);
    return TARN_OK;
}

int tn_dict_expect(tarn_cx *cx, tn_dict *dict, size_t distinct)
{
    unsigned bits = SLOT_BITS_MIN;

    while (bits < 31 && (size_t)1 << (bits - 1) <= distinct)
        bits++;
    return dict->slot == NULL || bits > dict->slot_bits ? rehash(cx, dict, bits, UINT32_MAX)
                                                        : TARN_OK;
}

int tn_dict_truncate(tarn_cx *cx, tn_dict *dict, uint32_t count)
{
    int rc = TARN_OK;

    if (count >= dict->count)
        return TARN_OK;
    TN_TRY(rehash(cx, dict, dict->slot_bits, count));
    if (dict->views) {
        uint32_t at;

        memcpy(&at, dict->spans.data + (size_t)count * 4, 4);
        dict->plain.len = at;
        dict->spans.len = (size_t)count * 4;
    } else {
        dict->plain.len = (size_t)count * dict->width;
    }
    dict->count = count;
done:
    return rc;
}

static inline __attribute__((always_inline)) uint32_t hash_of(const void *value, size_t width,
                                                              bool views)
{
    uint64_t whole;

    if (views) {
        const tn_view *view = value;

        return (uint32_t)XXH3_64bits(view->ptr, view->len);
    }
    if (width == 4) {
        uint32_t half;

        memcpy(&half, value, 4);
        return (uint32_t)(half * 0x9E3779B97F4A7C15u >> 32);
    }
    if (width == 8) {
        memcpy(&whole, value, 8);
        whole ^= whole >> 32;
        return (uint32_t)(whole * 0x9E3779B97F4A7C15u >> 32);
    }
    return (uint32_t)XXH3_64bits(value, width);
}

static inline __attribute__((always_inline)) bool is_at(const tn_dict *dict, uint32_t index,
                                                        const void *value, size_t width, bool views)
{
    if (views) {
        const tn_view *view = value;
        tn_view have = tn_dict_view(dict, index);

        return have.len == view->len &&
               (view->len == 0 || memcmp(have.ptr, view->ptr, view->len) == 0);
    }
    return memcmp(dict->plain.data + (size_t)index * width, value, width) == 0;
}

/* False when memory is short: the value is then not in the dictionary, and nothing more will be. */
static inline bool put(tn_dict *dict, const void *value)
{
    if (dict->views) {
        const tn_view *view = value;
        uint32_t at = (uint32_t)dict->plain.len;

        tn_buf_add(&dict->spans, &at, 4);
        tn_buf_add(&dict->plain, &view->len, 4);
        tn_buf_add(&dict->plain, view->ptr, view->len);
    } else {
        tn_buf_add(&dict->plain, value, dict->width);
    }
    if (dict->plain.failed || dict->spans.failed)
        return false;
    dict->count++;
    return true;
}

static inline size_t plain_size(const tn_dict *dict, const void *value)
{
    return dict->views ? 4 + (size_t)((const tn_view *)value)->len : dict->width;
}

/* The hashes of the next values, whose slots are fetched meanwhile: a large table is in no near
 * cache. */
static inline __attribute__((always_inline)) void look_ahead(const tn_dict *dict,
                                                             const uint8_t *values, size_t n,
                                                             size_t width, bool views,
                                                             uint32_t *hashes)
{
    size_t item = views ? sizeof(tn_view) : width;

    for (size_t i = 0; i < n; i++) {
        hashes[i] = hash_of(values + i * item, width, views);
        __builtin_prefetch(&dict->slot[home(dict, hashes[i])]);
    }
}

static inline __attribute__((always_inline)) int add(tarn_cx *cx, tn_dict *dict,
                                                     const uint8_t *values, size_t count,
                                                     uint64_t bytes_max, uint32_t *indices,
                                                     size_t *done_out, size_t width, bool views)
{
    size_t item = views ? sizeof(tn_view) : width, i;
    uint32_t hashes[AHEAD];
    int rc = TARN_OK;

    for (i = 0; i < count; i++) {
        const uint8_t *value = values + i * item;
        uint32_t hash;
        size_t at, mask;

        if (i % AHEAD == 0)
            look_ahead(dict, value, count - i < AHEAD ? count - i : AHEAD, width, views, hashes);
        if (!views && i != 0 && memcmp(value, value - item, item) == 0) {
            indices[i] = indices[i - 1];
            continue;
        }
        hash = hashes[i % AHEAD];
        mask = ((size_t)1 << dict->slot_bits) - 1;
        at = home(dict, hash);
        while (dict->slot[at].next != 0 &&
               (dict->slot[at].hash != hash ||
                !is_at(dict, dict->slot[at].next - 1, value, width, views)))
            at = (at + 1) & mask;
        if (dict->slot[at].next == 0) {
            if (dict->plain.len + plain_size(dict, value) > bytes_max)
                break;
            if (!put(dict, value))
                TN_TRY(tn_fail_memory(cx));
            dict->slot[at] = (slot){hash, dict->count};
            indices[i] = dict->count - 1;
            if (dict->count >= (uint32_t)1 << (dict->slot_bits - 1))
                TN_TRY(rehash(cx, dict, dict->slot_bits + 1, UINT32_MAX));
            continue;
        }
        indices[i] = dict->slot[at].next - 1;
    }
    *done_out = i;
done:
    return rc;
}

int tn_dict_add(tarn_cx *cx, tn_dict *dict, const void *values, size_t count, uint64_t bytes_max,
                uint32_t *indices, size_t *done_out)
{
    int rc = TARN_OK;

    /* Offsets of byte arrays have 32 bits, hashes 31 usable table bits. */
    if (bytes_max > (uint64_t)1 << 30)
        bytes_max = (uint64_t)1 << 30;
    if (dict->slot == NULL)
        TN_TRY(rehash(cx, dict, SLOT_BITS_MIN, 0));
    if (dict->views)
        TN_TRY(add(cx, dict, values, count, bytes_max, indices, done_out, 0, true));
    else if (dict->width == 4)
        TN_TRY(add(cx, dict, values, count, bytes_max, indices, done_out, 4, false));
    else if (dict->width == 8)
        TN_TRY(add(cx, dict, values, count, bytes_max, indices, done_out, 8, false));
    else
        TN_TRY(add(cx, dict, values, count, bytes_max, indices, done_out, dict->width, false));
done:
    return rc;
}
