/* Java's properties text (java.util.Properties.load and store, "line-oriented format"): ISO-8859-1,
 * "\uXXXX", continued lines, "#" and "!" comments; separators "=", ":" or blanks. */
#ifndef TN_CODEC_PROPERTIES_H
#define TN_CODEC_PROPERTIES_H

#include "base/arena.h"
#include "base/buf.h"

typedef struct tn_property {
    tn_str key, value; /* UTF-8 */
} tn_property;

typedef struct tn_properties {
    tn_property *items; /* in the order of the file; of equal keys the last one counts, once */
    size_t count, cap;
} tn_properties;

/* What it points to lives in the arena. CORRUPT naming `name` and the line for a malformed \u, as
 * Java does; LIMIT beyond TN_PROPERTIES_MAX entries. */
int tn_properties_parse(tarn_cx *cx, tn_str text, tn_str name, tn_arena *arena, tn_properties *out);
/* The value, or {NULL, 0}. */
tn_str tn_properties_get(const tn_properties *properties, const char *key);
/* Replaces or adds; value {NULL, 0} removes. Copied into the arena. */
int tn_properties_set(tarn_cx *cx, tn_arena *arena, tn_properties *properties, tn_str key,
                      tn_str value);
/* As Java's store writes keys and values (escapes \ : = # ! tab newline return form feed, blanks at
 * the start; what is beyond Latin-1 printable as \uXXXX), after "#<comment>\n#<date>\n" where
 * `comment` is not empty; `date_ms` as Java's Date.toString in UTC. Sticky. */
void tn_properties_print(tn_buf *out, const tn_properties *properties, tn_str comment,
                         int64_t date_ms);

#endif
