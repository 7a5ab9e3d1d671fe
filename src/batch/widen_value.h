/* The single values of widen.h: columns without children. */
#ifndef TN_BATCH_WIDEN_VALUE_H
#define TN_BATCH_WIDEN_VALUE_H

#include "batch/unify.h"

enum tn_widen_way {
    TN_WIDEN_NONE = 0,
    TN_WIDEN_UNIFY, /* tn_unify_cast does it */
    TN_WIDEN_REAL,
    TN_WIDEN_TEXT,
    TN_WIDEN_DECIMAL,
    TN_WIDEN_DATE,
    TN_WIDEN_BYTES, /* text as binary, and back */
    TN_WIDEN_FIXED, /* fixed binary as binary or text */
    TN_WIDEN_UNIT   /* timestamps */
};

/* The way of widen.h's table from one type to another. */
enum tn_widen_way tn_widen_way_of(const tn_type *from, const tn_type *to);
/* A new array, by a way that is neither NONE nor UNIFY. `array` may lose its buffers. `name` for
 * messages. */
int tn_widen_value(tarn_cx *cx, enum tn_widen_way way, const tn_type *from, const tn_type *to,
                   const char *name, const struct ArrowArray *array, struct ArrowArray *out);

#endif
