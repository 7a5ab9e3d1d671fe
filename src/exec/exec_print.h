/* Rows of a stream as bytes: NDJSON, CSV or Parquet. */
#ifndef TN_EXEC_PRINT_H
#define TN_EXEC_PRINT_H

#include "base/buf.h"
#include "io/store.h"
#include "tarn/batch.h"

enum tn_print_format { TN_PRINT_NDJSON, TN_PRINT_CSV, TN_PRINT_PARQUET };

/* Takes bytes in order; *stop true: no more are wanted. */
typedef int (*tn_print_write)(tarn_cx *cx, void *arg, const void *bytes, size_t len, bool *stop);

/* Text formats to a function. The failure of a stream keeps the text that it left in `cx`. */
int tn_exec_print(tarn_cx *cx, struct ArrowArrayStream *rows, enum tn_print_format format,
                  tn_print_write write, void *arg, uint64_t *row_count);
/* Parquet to a sink, which is neither finished nor closed. `codec`: a name, or empty for zstd. */
int tn_exec_print_parquet(tarn_cx *cx, struct ArrowArrayStream *rows, tn_sink *sink, tn_str codec,
                          uint64_t *row_count);

/* Appends one row of a batch as a JSON object, without the end of a line. */
int tn_exec_print_row(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                      int64_t row, tn_buf *out);

#endif
