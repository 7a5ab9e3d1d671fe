/* Partition values as text, and as levels of a path: "dt=2024-05-12/city=K%C3%B6ln", as Hive names
 * them.
 *
 *   booleans     true, false
 *   integers     digits
 *   decimals     all digits of their scale: 1.50
 *   floats       the fewest digits that read back equal; NaN, Infinity, -Infinity. (Hive would
 * write Java's digits; such columns make poor partitions, but each value has one place.) dates
 * 2024-05-12 timestamps   2024-05-12 10:03:08[.f], without zeros at the end; those adjusted to UTC
 * in UTC, without a mark, as Spark does in a session of that zone times        10:03:08[.fff], with
 * all digits of the unit text, UUIDs  as they are null and ""  __HIVE_DEFAULT_PARTITION__; a text
 * that is this very word cannot be told from null Binary, durations, intervals and nested types
 * have no text: UNSUPPORTED by name. */
#ifndef TN_BATCH_KEY_H
#define TN_BATCH_KEY_H

#include "batch/text.h"

/* What a level of a path may have in bytes: file systems take no longer name. */
#define TN_KEY_LEVEL_BYTES_MAX 255

/* UNSUPPORTED naming the column for a type without text. */
int tn_key_type_of(tarn_cx *cx, const struct ArrowSchema *column, tn_text_type *out);
/* Appends the text of the value at the absolute position `at`; nothing for null. Sticky. */
void tn_key_text(tn_buf *out, const tn_text_type *type, const struct ArrowArray *array, int64_t at);
/* Appends `text` with "%XX" for what Hive escapes in names: controls and " # % ' * / : = ? \ DEL {
 * [ ] ^. Sticky. */
void tn_key_escape(tn_buf *out, tn_str text);
/* Appends the level "column=value", with "/" before it where `out` is not empty; an empty value
 * stands for null. DATA, naming column and value, when it is too long for a directory's name,
 * or one that readers hide. */
int tn_key_level(tarn_cx *cx, tn_buf *out, tn_str column, tn_str value);

#endif
