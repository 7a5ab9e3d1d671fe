/* The name that somebody may have meant: the nearest of many, if it is near at all. */
#ifndef TN_BASE_NEAR_H
#define TN_BASE_NEAR_H

#include <stddef.h>

#include "base/str.h"

/* {.typed = …}, then offered names, which are borrowed. */
typedef struct tn_near {
    tn_str typed;
    tn_str best; /* empty: none is near */
    size_t distance;
} tn_near;

void tn_near_offer(tn_near *near, tn_str name);

#endif
