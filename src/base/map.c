/* Open addressing, linear probing. I1: at most three quarters of the slots are in use. */
#include "base/map.h"

#include <stdlib.h>
#include <xxhash.h>

struct tn_map_slot {
    tn_str key; /* ptr NULL: free */
    uint64_t hash;
    size_t value;
};

void tn_map_clear(tn_map *map)
{
    free(map->slot);
    *map = (tn_map){0};
}

static struct tn_map_slot *probe(struct tn_map_slot *slot, size_t cap, tn_str key, uint64_t hash)
{
    size_t at = hash & (cap - 1);

    while (slot[at].key.ptr != NULL && !(slot[at].hash == hash && tn_str_equal(slot[at].key, key)))
        at = (at + 1) & (cap - 1);
    return &slot[at];
}

static uint64_t hash_of(tn_str key)
{
    return XXH3_64bits(key.ptr, key.len);
}

size_t *tn_map_find(const tn_map *map, tn_str key)
{
    struct tn_map_slot *slot;

    if (map->cap == 0)
        return NULL;
    slot = probe(map->slot, map->cap, key, hash_of(key));
    return slot->key.ptr != NULL ? &slot->value : NULL;
}

static int grow(tarn_cx *cx, tn_map *map)
{
    size_t cap = map->cap != 0 ? map->cap * 2 : 16;
    struct tn_map_slot *slot = tn_calloc(cx, cap, sizeof *slot);

    if (slot == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < map->cap; i++)
        if (map->slot[i].key.ptr != NULL)
            *probe(slot, cap, map->slot[i].key, map->slot[i].hash) = map->slot[i];
    free(map->slot);
    map->slot = slot;
    map->cap = cap;
    return TARN_OK;
}

size_t *tn_map_add(tarn_cx *cx, tn_map *map, tn_str key, bool *added)
{
    uint64_t hash = hash_of(key);
    struct tn_map_slot *slot;

    if (key.ptr == NULL)
        key.ptr = "";
    if (map->count + 1 > map->cap / 4 * 3 && grow(cx, map) != TARN_OK)
        return NULL;
    slot = probe(map->slot, map->cap, key, hash);
    *added = slot->key.ptr == NULL;
    if (*added) {
        *slot = (struct tn_map_slot){key, hash, 0};
        map->count++;
    }
    return &slot->value;
}
