/* Arrow batches as CSV (RFC 4180): a header, commas, fields quoted where needed, lines ended by a
 * line feed alone, as DuckDB, pandas and Arrow do. A null is an empty field, an empty text is "".
 * Forms of values: batch/text.h; text is written as its bytes; nested values as JSON text. */
#ifndef TN_CSV_WRITE_H
#define TN_CSV_WRITE_H

#include "batch/rows.h"

typedef struct tn_csv_writer tn_csv_writer;

/* The schema is borrowed. */
int tn_csv_writer_open(tarn_cx *cx, const struct ArrowSchema *schema, tn_csv_writer **out);
void tn_csv_writer_close(tn_csv_writer *writer);
int tn_csv_writer_header(tarn_cx *cx, const tn_csv_writer *writer, tn_buf *out);
/* Appends rows [first, first + rows) of a batch. Many threads may use one writer at once. */
int tn_csv_writer_rows(tarn_cx *cx, const tn_csv_writer *writer, const struct ArrowArray *batch,
                       int64_t first, int64_t rows, tn_buf *out);

#endif
