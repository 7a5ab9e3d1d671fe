/* Arrays turned into arrays of a type that holds less, where each value is looked at: what
 * tn_unify_cast does, and
 *   timestamps, times, durations   a coarser unit, where it is exact
 *   date64                         date32, where it is a whole day
 *   large text, binary, lists      32-bit offsets, where they reach
 *   lists of fixed length          lists
 *   integers                       text, as digits
 * Structs are matched by field name at every depth, lists and maps by their elements. */
#ifndef TN_BATCH_NARROW_H
#define TN_BATCH_NARROW_H

#include "batch/unify.h"

/* In place. DATA "row N of the input, column …" for a value that does not fit, where row 0 of
 * the array is row `first_row` of the input, from 0; UNSUPPORTED for types without a way. */
int tn_narrow_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                   int64_t first_row, struct ArrowArray *array);

#endif
