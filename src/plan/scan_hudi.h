/* Plans reading a Hudi table: what the paths of its partitions say. */
#ifndef TN_PLAN_SCAN_HUDI_H
#define TN_PLAN_SCAN_HUDI_H

#include "table/hudi_slices.h"
#include "tarn/batch.h"

typedef struct tn_scan_hudi {
    struct ArrowSchema schema; /* the partition columns whose values the paths tell */
    struct ArrowArray values;  /* a row per partition of the slices */
    uint8_t *unsure; /* per partition: 1 where a value is not told after all, so that it is never
                        ruled out; in the arena */
    /* Columns that are not taken from the files, a row per partition. Partition columns that those
     * lack (hoodie.datasource.write.drop.partition.columns), of the type that the texts of the
     * paths have where the table's is another; and the meta columns, all null, of a table that does
     * not populate them, whatever its files have there: Hudi gives none. */
    struct ArrowSchema given_schema;
    struct ArrowArray given_values;
} tn_scan_hudi;

/* `columns`: those of the table. A value is told where its key generator puts it into the path as
 * it is, and the type of its column has one spelling: text, whole numbers, dates, booleans.
 * UNSUPPORTED naming a path that does not tell the value of a column that the files lack. *out is
 * the caller's to clear. */
int tn_scan_hudi_partitions(tarn_cx *cx, const tn_hudi_config *config, const tn_slices *slices,
                            const struct ArrowSchema *columns, tn_arena *arena, tn_scan_hudi *out);
void tn_scan_hudi_clear(tn_scan_hudi *scan);

#endif
