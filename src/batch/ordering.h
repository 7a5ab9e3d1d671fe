/* Ordering values of rows, made comparable: EVENT_TIME_ORDERING keeps the row whose value is not
 * smaller. Several columns compare one after the other; null is lowest. Integers, dates, times and
 * timestamps, floats (NaN greatest, -0.0 equals 0.0), decimals, booleans, text (by bytes), binary.
 */
#ifndef TN_BATCH_ORDERING_H
#define TN_BATCH_ORDERING_H

#include "base/buf.h"
#include "tarn/batch.h"

typedef struct tn_ordering tn_ordering;

/* `columns` are child indices of `schema`; with none every value is equal. UNSUPPORTED by name. */
int tn_ordering_open(tarn_cx *cx, const struct ArrowSchema *schema, const uint32_t *columns,
                     size_t count, tn_ordering **out);
void tn_ordering_close(tn_ordering *ordering);
/* True when all values of the columns fit 8 bytes in order: then only _u64 is to be used. */
bool tn_ordering_is_u64(const tn_ordering *ordering);
/* out[i] for rows [0, length) of the batch; unsigned order is that of the values, null is 0. */
int tn_ordering_u64(tarn_cx *cx, const tn_ordering *ordering, const struct ArrowArray *batch,
                    uint64_t *out);
/* Appends one row's value as bytes whose order (unsigned, shorter first) is that of the values. */
void tn_ordering_bytes(const tn_ordering *ordering, const struct ArrowArray *batch, int64_t row,
                       tn_buf *out);
/* A row that says nothing of its time, as SQL's DELETE does: all null. The engines that made Hudi
 * take an int of 0 in the only column for the same. */
bool tn_ordering_is_none(const tn_ordering *ordering, const struct ArrowArray *batch, int64_t row);

#endif
