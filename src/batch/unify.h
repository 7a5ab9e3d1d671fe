/* Inputs whose schemas differ, read as one: columns are matched by name, types are widened where
 * no value can change.
 *   missing in one          null there
 *   integers                the smallest integer that holds both; UINT64 with signed ones: none
 *   integer with float/double, float with double   double; a 64-bit integer that no double equals
 *                           is an error naming column and value
 *   decimals                the larger scale and as many digits before the point
 *   timestamps, times, durations   the finer unit; an overflow is an error
 *   large and small text, lists    the large one
 *   dictionary-encoded and not     not
 *   null                    the other
 * Structs are matched by field name at every depth, lists and maps by their elements. */
#ifndef TN_BATCH_UNIFY_H
#define TN_BATCH_UNIFY_H

#include "batch/rows.h"

/* Columns of `a` in their order, then those only `b` has. Names match exactly, else without regard
 * to case if unique on both sides; the name of `a` stays. UNSUPPORTED when a column has no common
 * type: the text names the column, both types, and a_name and b_name where they are. *out is the
 * caller's. */
int tn_unify_fields(tarn_cx *cx, const struct ArrowSchema *a, tn_str a_name,
                    const struct ArrowSchema *b, tn_str b_name, struct ArrowSchema *out);
/* The child of `schema` that `name` means, exactly or else without regard to case if unique; -1:
 * none. For names that people type. */
int64_t tn_unify_child(const struct ArrowSchema *schema, tn_str name);
/* The child of `in` that is the same column as child `i` of `of`: exactly that name, else without
 * regard to case if unique on both sides; -1: none. */
int64_t tn_unify_match(const struct ArrowSchema *of, int64_t i, const struct ArrowSchema *in);
/* Turns an array of `from` into one of `to`, in place, moving what need not change. */
int tn_unify_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                  struct ArrowArray *array);
/* True when arrays of the one are arrays of the other. */
bool tn_unify_same(const struct ArrowSchema *a, const struct ArrowSchema *b);

#endif
