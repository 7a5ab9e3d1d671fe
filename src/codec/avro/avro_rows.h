/* Avro records straight into Arrow columns, by the writer's schema and the columns wanted. No tree
 * in between: the schemas are compiled once into steps that read, or skip, one field each.
 * (Avro specification, "Schema Resolution", as far as Hudi uses it.) */
#ifndef TN_CODEC_AVRO_ROWS_H
#define TN_CODEC_AVRO_ROWS_H

#include "codec/avro/avro_schema.h"
#include "tarn/batch.h"

typedef struct tn_avro_rows tn_avro_rows;

/* `columns`: a struct schema; its fields are found in `writer` by name (else, if that is the
 * only one, without regard to case, as in base files), at every depth, and widened: int -> long ->
 * float -> double, any number, date and time -> utf8 where Hudi's schema evolution allows it
 * (batch/widen.h), string <-> bytes, decimals by scale. Fields that the writer lacks become null;
 * where the column is not nullable, the zero value. A union of several types is read into a struct
 * whose fields are "member0", "member1"... in the order of its branches without null, or into one
 * column where the types allow it. UNSUPPORTED naming the field and both types for all else.
 * `writer` is borrowed until close. `where` for messages, copied. */
int tn_avro_rows_open(tarn_cx *cx, const tn_avro_type *writer, const struct ArrowSchema *columns,
                      tn_str where, tn_avro_rows **out);
void tn_avro_rows_close(tn_avro_rows *rows);
/* One record, all of whose bytes must be used. CORRUPT naming the field and the byte; LIMIT when
 * the columns hold as much as they can (2 GiB of text in one): take, and add it again. After a
 * failure the rows before are still there. */
int tn_avro_rows_add(tarn_cx *cx, tn_avro_rows *rows, tn_str datum);
int64_t tn_avro_rows_count(const tn_avro_rows *rows);
/* In memory, about. Walks the columns: not to be asked for every row. */
uint64_t tn_avro_rows_bytes(const tn_avro_rows *rows);
/* Hands out what was added as a struct array of `columns`, and begins anew. */
int tn_avro_rows_take(tarn_cx *cx, tn_avro_rows *rows, struct ArrowArray *out);

#endif
