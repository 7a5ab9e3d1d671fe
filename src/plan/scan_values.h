/* Texts of partition paths as columns; shared by plan_scan.c and scan_hudi.c. */
#ifndef TN_PLAN_SCAN_VALUES_H
#define TN_PLAN_SCAN_VALUES_H

#include "table/partition.h"
#include "tarn/batch.h"

typedef struct tn_scan_values {
    tn_str name;
    enum tn_partition_type type;
    tn_str *values; /* per partition; ptr NULL: null */
} tn_scan_values;

/* A struct of the columns, a row per path. INVALID naming value, column and path where a text is no
 * value of the type. Both outputs are the caller's to release. */
int tn_scan_values_make(tarn_cx *cx, const tn_scan_values *columns, size_t count,
                        const tn_str *paths, size_t rows, struct ArrowSchema *schema,
                        struct ArrowArray *values);

#endif
