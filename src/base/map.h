/* A hash map from byte strings to size_t values. Keys are borrowed. Zeroed is empty and valid. */
#ifndef TN_BASE_MAP_H
#define TN_BASE_MAP_H

#include "base/context.h"
#include "base/str.h"

typedef struct tn_map {
    struct tn_map_slot *slot;
    size_t count, cap;
} tn_map;

void tn_map_clear(tn_map *map);
/* The place of the value of `key`, or NULL. */
size_t *tn_map_find(const tn_map *map, tn_str key);
/* The place of the value of `key`, added as 0 when missing (*added says so); NULL with NOMEM in
 * `cx`. The place is valid until the next call. */
size_t *tn_map_add(tarn_cx *cx, tn_map *map, tn_str key, bool *added);

#endif
