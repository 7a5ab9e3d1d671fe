/* One field of rows, dotted through structs, as Java's toString would print it: what record keys
 * and partition paths are made of. Positions are rows of a batch. */
#ifndef TN_BATCH_RECORD_FIELD_H
#define TN_BATCH_RECORD_FIELD_H

#include "base/arena.h"
#include "base/zone.h"
#include "batch/rows.h"

/* How deep a dotted name may go. */
#define TN_RECORD_FIELD_DEPTH_MAX 16

typedef struct tn_record_field {
    tn_str name; /* dotted */
    tn_type type;
    size_t depth;
    uint32_t index[TN_RECORD_FIELD_DEPTH_MAX];
    /* Of the batch loaded: the arrays from the top level down, and what to add to a row. */
    const struct ArrowArray *levels[TN_RECORD_FIELD_DEPTH_MAX];
    int64_t base[TN_RECORD_FIELD_DEPTH_MAX];
    bool has_nulls;
    const tn_zone *zone; /* NULL: times are numbers; else text by this zone's clock */
} tn_record_field;

/* INVALID, naming the field, when it is missing; UNSUPPORTED for a type without a spelling. `what`
 * says what the field is for ("record key"). */
int tn_record_field_bind(tarn_cx *cx, const struct ArrowSchema *schema, tn_str name,
                         const char *what, tn_record_field *out);
/* Looks into a batch, which must stay while the field is asked. */
void tn_record_field_load(tn_record_field *field, const struct ArrowArray *batch);

static inline bool tn_record_field_is_null(const tn_record_field *field, int64_t row)
{
    if (field->type.kind == TN_TYPE_NULL)
        return true;
    for (size_t i = 0; field->has_nulls && i < field->depth; i++)
        if (tn_rows_is_null(field->levels[i], row + field->base[i]))
            return true;
    return false;
}

static inline const struct ArrowArray *tn_record_field_array(const tn_record_field *field)
{
    return field->levels[field->depth - 1];
}

/* The position of a row in that array. */
static inline int64_t tn_record_field_at(const tn_record_field *field, int64_t row)
{
    return row + field->base[field->depth - 1];
}

/* The bytes of a value as they are stored, to compare rows by; of booleans, in *scratch. */
tn_str tn_record_field_raw(const tn_record_field *field, int64_t row, uint8_t *scratch);
/* Appends the text of a value that is not null. Sticky. */
void tn_record_field_text(const tn_record_field *field, int64_t row, tn_buf *out);

#endif
