/* Columns that were written as one type and are now of another, as Avro and Hudi let the schema of
 * a table grow:
 *
 *   from                                     to
 *   int                                      long float double text decimal
 *   long                                     float double text decimal
 *   float                                    double text decimal
 *   double                                   text decimal
 *   decimal                                  decimal text
 *   text                                     date decimal binary
 *   binary, fixed                            text binary
 *   date                                     text
 *   timestamp in milli- or microseconds      in the other, rounded down
 * Structs by the names of their fields, lists and maps by their elements, at every depth; a field
 * that was not there is null, or zero where no null is allowed.
 *
 * Values are what Hudi on Spark makes of them: numbers become text as Java prints them; a float
 * becomes the double of its text (1.1, not 1.10000002384), but the decimal of all its digits; a
 * decimal is rounded half up. Integers become the nearest float or double. What has too many digits
 * for its decimal, and text that is no number or date (2024-5-12), is UNSUPPORTED naming column and
 * value, as Hudi fails on it, too. */
#ifndef TN_BATCH_WIDEN_H
#define TN_BATCH_WIDEN_H

#include "batch/unify.h"

/* Whether there is a way from an array of `from` to one of `to`. */
bool tn_widen_able(const struct ArrowSchema *from, const struct ArrowSchema *to);
/* Whether each value stays itself, in another type at most: bounds of the one are bounds of the
 * other, and no value becomes null. */
bool tn_widen_keeps(const struct ArrowSchema *from, const struct ArrowSchema *to);
/* Turns an array of `from` into one of `to`, in place. Ways that are not in the table above are
 * those of tn_unify_cast. UNSUPPORTED naming the column
 * where there is none. */
int tn_widen_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                  struct ArrowArray *array);
/* `rows` values of a column that was not there. */
int tn_widen_missing(tarn_cx *cx, const struct ArrowSchema *field, int64_t rows,
                     struct ArrowArray *out);

#endif
