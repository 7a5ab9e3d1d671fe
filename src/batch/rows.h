/* Rows of Arrow arrays: values read one by one, rows taken into new arrays.
 * Positions are absolute in the array's buffers: callers add the offset. */
#ifndef TN_BATCH_ROWS_H
#define TN_BATCH_ROWS_H

#include "batch/array.h"
#include "batch/field.h"
#include "batch/type.h"

static inline bool tn_rows_is_null(const struct ArrowArray *array, int64_t at)
{
    return array->null_count != 0 && array->n_buffers > 0 && !tn_bit(array->buffers[0], at);
}

/* An IEEE 754 binary16 as double. */
double tn_half_get(uint16_t bits);
/* Bytes of value `at` of a text, binary or fixed binary array. */
tn_str tn_rows_bytes(const tn_type *type, const struct ArrowArray *array, int64_t at);
/* Value `at` of an array of integers, indices or times of the kind; the array's offset is the
 * caller's to add. */
int64_t tn_rows_integer(enum tn_type_kind kind, const struct ArrowArray *array, int64_t at);
/* First element and count of the list at `at`, without the child's offset. */
void tn_rows_list(const tn_type *type, const struct ArrowArray *array, int64_t at, int64_t *first,
                  int64_t *count);

/* Whether value `i` of `a` and value `j` of `b` are the same, bit by bit, nulls too. `type` is that
 * of `schema`, which both have. */
bool tn_rows_equal(tarn_cx *cx, const tn_type *type, const struct ArrowSchema *schema,
                   const struct ArrowArray *a, int64_t i, const struct ArrowArray *b, int64_t j);

/* `rows` nulls of the schema's type. */
int tn_rows_nulls(tarn_cx *cx, const struct ArrowSchema *schema, int64_t rows,
                  struct ArrowArray *out);
/* The rows with keep[i] != 0, `kept` in all, as a new array. Dictionaries are copied with it. */
int tn_rows_filter(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                   const uint8_t *keep, int64_t kept, struct ArrowArray *out);
/* The rows at the absolute positions take[0 .. count), -1 for null, as a new array. */
int tn_rows_take(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                 const int64_t *take, int64_t count, struct ArrowArray *out);

#endif
