/* Columns that were written as one type and are now of a wider one, as Avro and Hudi let the schema
 * of a table grow: int -> long -> float -> double -> string. */
#ifndef TN_BATCH_WIDEN_H
#define TN_BATCH_WIDEN_H

#include "batch/unify.h"

/* Turns an array of `from` into one of `to`, in place. Numbers become text as Java prints them, and
 * the nearest float or double where they are to be that: long -> float may round, as it does in
 * Avro. All else as tn_unify_cast does it. */
int tn_widen_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                  struct ArrowArray *array);

#endif
