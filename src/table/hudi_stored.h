/* Columns as Hudi tables store them, and as commits and footers tell them. */
#ifndef TN_TABLE_HUDI_STORED_H
#define TN_TABLE_HUDI_STORED_H

#include "base/buf.h"
#include "tarn/batch.h"

/* The types that arrays of `schema` are cast to before they are written (codec/avro/avro_arrow.h);
 * *out is the caller's. UNSUPPORTED naming a column that has none. */
int tn_hudi_stored_schema(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out);
/* Appends the Avro JSON of the columns of a table of this name; with `meta` the meta columns stand
 * first. */
int tn_hudi_stored_avro(tarn_cx *cx, const struct ArrowSchema *schema, tn_str table_name, bool meta,
                        tn_buf *out);

#endif
