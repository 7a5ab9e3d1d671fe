/* Plans reading a directory: what its paths say, as columns. */
#ifndef TN_PLAN_SCAN_H
#define TN_PLAN_SCAN_H

#include "batch/rows.h"
#include "table/dir.h"

/* The partition columns of a directory: a struct schema with one column per key found in paths, in
 * order of first appearance, and one row of values per partition. A partition without a key has
 * null there. `types` decides types ("dt=date,hour=int"); other columns get the type that all their
 * values round-trip in. INVALID naming value, column and directory when a value does not fit the
 * type asked for, or a type or column is unknown. Both outputs are the caller's to release. */
int tn_plan_scan_partitions(tarn_cx *cx, const tn_dir *dir, tn_str types,
                            struct ArrowSchema *schema, struct ArrowArray *values);
/* Leaves out partitions: those with keep[i] == 0. Row i of `rows` (one per partition) moves along.
 */
void tn_plan_scan_drop(tn_dir *dir, const uint8_t *keep, int64_t *rows);

#endif
