/* Where in a schema or value something is wrong: a chain of names on the stack of whoever walks
 * it. */
#ifndef TN_CODEC_AVRO_PLACE_H
#define TN_CODEC_AVRO_PLACE_H

#include "base/buf.h"
#include "base/context.h"

typedef struct tn_avro_place {
    const struct tn_avro_place *up; /* NULL: at the top */
    tn_str name;
} tn_avro_place;

/* Fails with `<noun> "a.b.c": <text>`; at the top (NULL) with the text alone. */
int tn_avro_place_fail(tarn_cx *cx, int status, const tn_avro_place *at, const char *noun,
                       const char *text);

#endif
