/* Patterns of times, as Joda's DateTimeFormat reads them: "yyyy/MM/dd/HH",
 * "yyyy-MM-dd'T'HH:mm:ssZ". The letters y Y M d H m s S Z and quoted text; others are refused, so
 * no pattern is half understood. Pure and immutable once compiled. */
#ifndef TN_BATCH_JODA_H
#define TN_BATCH_JODA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/zone.h"

typedef struct tn_joda_item {
    char letter; /* 0: the text */
    unsigned count;
    unsigned digits_max; /* when parsing */
    tn_str text;
} tn_joda_item;

typedef struct tn_joda {
    tn_joda_item *items;
    size_t count;
    bool has_short_year;
} tn_joda;

/* INVALID, naming the pattern and the letter. Lives in `arena`; borrows `pattern`. */
int tn_joda_compile(tarn_cx *cx, tn_arena *arena, tn_str pattern, tn_joda *out);
/* Appends the text of an instant in a zone. Sticky. */
void tn_joda_print(const tn_joda *joda, int64_t millis, const tn_zone *zone, tn_buf *out);
/* The same at an offset from UTC, in seconds. */
void tn_joda_print_at(const tn_joda *joda, int64_t millis, int32_t offset, tn_buf *out);

/* What a text said. */
typedef struct tn_joda_moment {
    int64_t local_ms; /* by the clock, since 1970-01-01T00:00 */
    bool has_offset;
    int32_t offset; /* seconds */
} tn_joda_moment;

/* False when the text is not wholly of this pattern, or no date. */
bool tn_joda_parse(const tn_joda *joda, tn_str text, tn_joda_moment *out);

#endif
