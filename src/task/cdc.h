/* The changes of one file group in one commit as a plain value: what is to be read, and what of. */
#ifndef TN_TASK_CDC_H
#define TN_TASK_CDC_H

#include "task/scan.h"

/* Everything is borrowed. `before` and `after` have one result schema: the meta columns, then the
 * table's. */
typedef struct tn_cdc_task {
    tn_str instant;             /* of the commit: ts_ms */
    const tn_scan_task *before; /* NULL: there was nothing, every row of `after` is an insert */
    const tn_scan_task *after;  /* NULL: nothing is left, every row of `before` is a delete */
    /* Files of change data that have both images, in the store; then the two above are NULL. */
    const tn_str *logged;
    size_t logged_count;
    const struct ArrowSchema *columns; /* of the images: the result schema above */
    bool bare_before; /* images before are without meta columns, as they were logged */
    /* Columns that make the record key; NULL: the meta column has it. */
    const tn_str *keys;
    size_t key_count;
} tn_cdc_task;

#endif
