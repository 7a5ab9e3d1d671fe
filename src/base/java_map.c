/* Java's HashMap as far as the order of its keys goes (OpenJDK 8 and later, which agree).
 * I1: a table has 16 buckets, and doubles when an insertion makes more than 3/4 of them full.
 * I2: below 64 buckets it also doubles when a key comes into a bucket that holds 8 or more.
 * I3: within a bucket keys keep the order of their insertion, through every doubling.
 *
 * From 64 buckets on Java makes a tree of a bucket that holds more than 8 keys, which can change
 * the order within that bucket. That is not followed here: it takes dozens of names made to
 * collide. */
#include "base/java_map.h"

#include <assert.h>
#include <stdlib.h>

#define BUCKETS_FIRST 16
#define BUCKETS_TREES 64
#define BUCKETS_MAX   (1u << 30)
#define CHAIN_FULL    8
/* Up to so many keys are put into order by insertion, without memory of its own. */
#define WALK_SMALL 24

struct tn_java_name {
    tn_str text;
    uint32_t spread; /* of its hash */
};

/* The code point at `at`, and how many bytes it takes; what is not UTF-8 is U+FFFD, one byte. */
static uint32_t point_at(tn_str text, size_t at, size_t *bytes)
{
    const uint8_t *p = (const uint8_t *)text.ptr + at;
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    uint32_t point;

    *bytes = 1;
    if (n == 1)
        return p[0];
    if (n > text.len - at || !tn_str_utf8((tn_str){text.ptr + at, n}))
        return 0xFFFD;
    point = p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++)
        point = point << 6 | (p[i] & 0x3F);
    *bytes = n;
    return point;
}

int32_t tn_java_hash(tn_str text)
{
    uint32_t hash = 0;
    size_t n;

    for (size_t at = 0; at < text.len; at += n) {
        uint32_t point = point_at(text, at, &n);

        if (point >= 0x10000) {
            hash = 31 * hash + (0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        hash = 31 * hash + point;
    }
    return (int32_t)hash;
}

int tn_java_names_add(tarn_cx *cx, tn_java_names *names, tn_str text, uint32_t *id)
{
    bool added;
    size_t *place;
    uint32_t hash;
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &names->names, names->count, &names->cap, sizeof *names->names));
    place = tn_map_add(cx, &names->index, text, &added);
    if (place == NULL)
        return TARN_E_NOMEM;
    if (added) {
        assert(names->count < UINT32_MAX);
        hash = (uint32_t)tn_java_hash(text);
        names->names[names->count] = (struct tn_java_name){text, hash ^ hash >> 16};
        *place = names->count++;
    }
    *id = (uint32_t)*place;
done:
    return rc;
}

tn_str tn_java_names_text(const tn_java_names *names, uint32_t id)
{
    assert(id < names->count);
    return names->names[id].text;
}

void tn_java_names_clear(tn_java_names *names)
{
    tn_map_clear(&names->index);
    free(names->names);
    *names = (tn_java_names){0};
}

static uint32_t bucket_of(const tn_java_map *map, const tn_java_names *names, uint32_t id)
{
    return names->names[id].spread & (map->buckets - 1);
}

static bool bucket_full(const tn_java_map *map, const tn_java_names *names, uint32_t id)
{
    size_t held = 0;

    for (size_t i = 0; i < map->count; i++)
        held += bucket_of(map, names, map->ids[i]) == bucket_of(map, names, id);
    return held >= CHAIN_FULL;
}

int tn_java_map_add(tarn_cx *cx, tn_java_map *map, const tn_java_names *names, uint32_t id)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &map->ids, map->count, &map->cap, sizeof *map->ids));
    if (map->buckets == 0)
        map->buckets = BUCKETS_FIRST;
    /* At most 48 keys: this does not grow with the map. */
    if (map->buckets < BUCKETS_TREES && bucket_full(map, names, id))
        map->buckets *= 2;
    map->ids[map->count++] = id;
    if (map->count > map->buckets / 4 * 3 && map->buckets < BUCKETS_MAX)
        map->buckets *= 2;
done:
    return rc;
}

void tn_java_map_reset(tn_java_map *map)
{
    map->count = 0;
}

int tn_java_map_walk(tarn_cx *cx, const tn_java_map *map, const tn_java_names *names,
                     uint32_t *order)
{
    uint32_t *first;

    if (map->count <= WALK_SMALL) {
        for (size_t i = 0; i < map->count; i++) {
            uint32_t bucket = bucket_of(map, names, map->ids[i]);
            size_t at = i;

            for (; at > 0 && bucket_of(map, names, order[at - 1]) > bucket; at--)
                order[at] = order[at - 1];
            order[at] = map->ids[i];
        }
        return TARN_OK;
    }
    first = tn_calloc(cx, (size_t)map->buckets + 1, sizeof *first);
    if (first == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < map->count; i++)
        first[bucket_of(map, names, map->ids[i]) + 1]++;
    for (uint32_t b = 0; b < map->buckets; b++)
        first[b + 1] += first[b];
    for (size_t i = 0; i < map->count; i++)
        order[first[bucket_of(map, names, map->ids[i])]++] = map->ids[i];
    free(first);
    return TARN_OK;
}

void tn_java_map_clear(tn_java_map *map)
{
    free(map->ids);
    *map = (tn_java_map){0};
}
