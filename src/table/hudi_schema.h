/* The schema of a table, and what a write may make of it. */
#ifndef TN_TABLE_HUDI_SCHEMA_H
#define TN_TABLE_HUDI_SCHEMA_H

#include "table/hudi_slices.h"
#include "tarn/batch.h"

/* The names of the meta columns, in order. */
extern const char *const tn_hudi_meta_names[5];

/* The columns without meta columns: of the latest commit that carries a schema, else of a base
 * file's footer, else of hoodie.table.create.schema. *known false: nothing says. The Arrow schema
 * is the caller's. `avro` (in the arena) is the text it came from, without meta columns. `as_of`
 * empty: latest. */
int tn_hudi_schema_load(tarn_cx *cx, tn_store *store, const tn_hudi_config *config,
                        const tn_timeline *timeline, const tn_slices *slices, tn_str as_of,
                        tn_arena *arena, bool *known, tn_str *avro, struct ArrowSchema *out);
/* The same for readers, who can follow columns that are known by number (schema on read), which the
 * other one refuses: *numbered is then what the commit says of them (see table/hudi_names.h), else
 * empty. */
int tn_hudi_schema_read(tarn_cx *cx, tn_store *store, const tn_hudi_config *config,
                        const tn_timeline *timeline, const tn_slices *slices, tn_str as_of,
                        tn_arena *arena, bool *known, tn_str *avro, tn_str *numbered,
                        struct ArrowSchema *out);
/* What the table's columns become when rows of `rows` (as tn_avro_arrow_stored has them) are
 * written: columns are matched by name; new ones are added behind, nullable; int -> long -> float
 * -> double and int, long, float, double -> string widen; a column that the rows lack is filled
 * with nulls, which a column that is not nullable forbids; one that may be null in the rows becomes
 * nullable. UNSUPPORTED naming column and both types
 * for all else. *changed: it differs from `table`. *out is the caller's. */
int tn_hudi_schema_evolve(tarn_cx *cx, const struct ArrowSchema *table,
                          const struct ArrowSchema *rows, bool *changed, struct ArrowSchema *out);
/* The same columns with the five meta columns in front; *out is the caller's. */
int tn_hudi_schema_meta(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out);

#endif
