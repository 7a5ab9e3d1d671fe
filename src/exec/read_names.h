/* Files whose columns were called otherwise when they were written, seen with today's names. */
#ifndef TN_EXEC_READ_NAMES_H
#define TN_EXEC_READ_NAMES_H

#include "codec/avro/avro_schema.h"
#include "codec/parquet/file.h"
#include "task/names.h"

/* Renames the columns of an opened file, or of a schema, at every depth; those that are no columns
 * any more get names that no column has. `version` NULL: nothing. */
int tn_read_names_parquet(tarn_cx *cx, const tn_scan_version *version, tn_parquet *file);
int tn_read_names_avro(tarn_cx *cx, const tn_scan_version *version, tn_avro_schema *schema);

#endif
