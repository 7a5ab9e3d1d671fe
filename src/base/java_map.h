/* The order in which Java's HashMap and HashSet of strings are walked. Programs on the JVM decide
 * by it without meaning to, so whoever has to decide as they do needs it.
 *
 *     tn_java_names names = {0};
 *     tn_java_map map = {0};
 *     uint32_t id;
 *     tn_java_names_add(cx, &names, TN_STR("node01"), &id);   // the same text, the same id
 *     tn_java_map_add(cx, &map, &names, id);                  // only if it is not in the map yet
 *     tn_java_map_walk(cx, &map, &names, order);              // ids, map.count of them
 *
 * Zeroed names and maps are empty and valid. */
#ifndef TN_BASE_JAVA_MAP_H
#define TN_BASE_JAVA_MAP_H

#include "base/context.h"
#include "base/map.h"
#include "base/str.h"

/* String.hashCode of UTF-8 text: over UTF-16 units, what is not UTF-8 counting as U+FFFD. */
int32_t tn_java_hash(tn_str text);

/* Texts, numbered from 0 as they come. Borrowed: they must outlive this. */
typedef struct tn_java_names {
    tn_map index;
    struct tn_java_name *names;
    size_t count, cap;
} tn_java_names;

int tn_java_names_add(tarn_cx *cx, tn_java_names *names, tn_str text, uint32_t *id);
tn_str tn_java_names_text(const tn_java_names *names, uint32_t id);
void tn_java_names_clear(tn_java_names *names);

/* The keys of a HashMap, or the elements of a HashSet. */
typedef struct tn_java_map {
    uint32_t *ids; /* as they were added */
    size_t count, cap;
    uint32_t buckets; /* Java's table; 0 before the first key */
} tn_java_map;

/* Adds a key that is not in the map: the caller knows that. */
int tn_java_map_add(tarn_cx *cx, tn_java_map *map, const tn_java_names *names, uint32_t id);
/* Java's clear(): the keys go, the size of the table stays. */
void tn_java_map_reset(tn_java_map *map);
/* The keys in the order of an iterator, into `order`, which has room for map->count. */
int tn_java_map_walk(tarn_cx *cx, const tn_java_map *map, const tn_java_names *names,
                     uint32_t *order);
void tn_java_map_clear(tn_java_map *map);

#endif
