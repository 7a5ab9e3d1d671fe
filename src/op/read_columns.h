/* Columns and condition of a read, bound to the columns there are. */
#ifndef TN_OP_READ_COLUMNS_H
#define TN_OP_READ_COLUMNS_H

#include "batch/field.h"
#include "batch/predicate.h"
#include "task/scan.h"

typedef struct tn_read_columns {
    struct ArrowSchema needed; /* columns of the result and of the filter */
    struct ArrowSchema result;
    bool filtered;
    tn_filter filter; /* bound to `needed` */
    const tn_scan_project *project;
    size_t project_count;
} tn_read_columns;

/* `columns` NULL: all; "a.b": a column of that name, else the field of a struct. `where` NULL:
 * every row. INVALID names a column that is not there and those that are. Cleared by
 * tn_read_columns_clear; the rest of what *out points to lives in `arena`. */
int tn_read_columns_bind(tarn_cx *cx, tn_arena *arena, const struct ArrowSchema *all,
                         const char *const *columns, size_t column_count, const tn_predicate *where,
                         tn_read_columns *out);
void tn_read_columns_clear(tn_read_columns *columns);

#endif
