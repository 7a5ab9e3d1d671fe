/* Rows filtered and projected. */
#ifndef TN_EXEC_READ_ROWS_H
#define TN_EXEC_READ_ROWS_H

#include "base/buf.h"
#include "batch/array.h"
#include "task/scan.h"

/* A batch of task->result from one of task->needed, whose columns it takes, by task->filter and
 * task->project. *out stays as it was where no row is left. `which` (or NULL) gets a byte per
 * row, not 0 where it is kept; nothing where there is no filter. */
int tn_read_rows_refine(tarn_cx *cx, const tn_scan_task *task, struct ArrowArray *needed,
                        struct ArrowArray *out, tn_buf *which);
/* The same of the rows alone whose byte in `only` is 1; NULL: all. */
int tn_read_rows_refine_some(tarn_cx *cx, const tn_scan_task *task, struct ArrowArray *needed,
                             const uint8_t *only, struct ArrowArray *out, tn_buf *which);

#endif
