/* Arrow schemas (fields) that tarn builds or copies, and their metadata. */
#ifndef TN_BATCH_FIELD_H
#define TN_BATCH_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/context.h"
#include "base/str.h"
#include "tarn/batch.h"

/* A schema with its own copies of format and name, `children` released places to fill. */
int tn_field_init(tarn_cx *cx, struct ArrowSchema *out, const char *format, tn_str name,
                  bool nullable, size_t children);
/* A dictionary place (released). */
int tn_field_make_dictionary(tarn_cx *cx, struct ArrowSchema *schema);
/* Takes `metadata` in the interface's encoding (see tn_metadata_add); empty: none. */
int tn_field_set_metadata(tarn_cx *cx, struct ArrowSchema *schema, const tn_buf *metadata);
int tn_field_copy(tarn_cx *cx, const struct ArrowSchema *from, struct ArrowSchema *out);
void tn_field_release(struct ArrowSchema *schema);
void tn_field_move(struct ArrowSchema *from, struct ArrowSchema *to);
static inline bool tn_field_nullable(const struct ArrowSchema *schema)
{
    return (schema->flags & ARROW_FLAG_NULLABLE) != 0;
}

/* Metadata: int32 count, then int32 length and bytes of each key and value, native byte order.
 * Adding to an empty buffer starts one. Sticky. */
void tn_metadata_add(tn_buf *metadata, tn_str key, tn_str value);
/* The i-th pair; false past the end. */
bool tn_metadata_at(const char *metadata, int32_t i, tn_str *key, tn_str *value);
/* The value of a key; {NULL, 0} where missing. */
tn_str tn_metadata_get(const char *metadata, const char *key);

/* For who asked for a column that there is not: "did you mean "id"? there are: id, n". Columns of
 * the table come before Hudi's meta columns. */
void tn_field_print_hint(tn_buf *out, const struct ArrowSchema *columns, tn_str asked);

#endif
