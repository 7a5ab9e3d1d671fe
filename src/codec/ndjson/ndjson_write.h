/* Arrow batches as NDJSON: one object a line. Forms of values: batch/text.h; besides, text is a
 * string (broken UTF-8 becomes U+FFFD), nulls are written, structs and maps are objects (keys of a
 * map as their text), lists are arrays. */
#ifndef TN_NDJSON_WRITE_H
#define TN_NDJSON_WRITE_H

#include "batch/rows.h"

typedef struct tn_ndjson_writer tn_ndjson_writer;

/* For batches of a struct schema, which is borrowed. UNSUPPORTED naming a column whose type has no
 * text; LIMIT for nesting deeper than TN_PARQUET_DEPTH_MAX. */
int tn_ndjson_writer_open(tarn_cx *cx, const struct ArrowSchema *schema, tn_ndjson_writer **out);
void tn_ndjson_writer_close(tn_ndjson_writer *writer);
/* Appends rows [first, first + rows) of a batch. Many threads may use one writer at once. */
int tn_ndjson_writer_rows(tarn_cx *cx, const tn_ndjson_writer *writer,
                          const struct ArrowArray *batch, int64_t first, int64_t rows, tn_buf *out);
/* Appends row `at` (without the offset) of one top-level column as a JSON value, for CSV. */
int tn_ndjson_writer_value(tarn_cx *cx, const tn_ndjson_writer *writer,
                           const struct ArrowArray *batch, size_t column, int64_t at, tn_buf *out);

#endif
