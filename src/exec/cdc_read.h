/* Reads the changes of one file group in one commit as rows (op, ts_ms, before, after), all text:
 * "i", "u" or "d"; the instant; the row before and the row after as JSON, null where there is none
 * (org.apache.hudi.cdc.CDCFileGroupIterator; docs/format/hudi-cdc.md). */
#ifndef TN_EXEC_CDC_READ_H
#define TN_EXEC_CDC_READ_H

#include "io/store.h"
#include "task/cdc.h"
#include "tarn/batch.h"

typedef struct tn_cdc_read tn_cdc_read;

/* The schema of the rows, the caller's to release. */
int tn_cdc_read_schema(tarn_cx *cx, struct ArrowSchema *out);
/* The task is borrowed until close. */
int tn_cdc_read_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task, tn_cdc_read **out);
/* The next batch, not empty; length 0 at the end. *out is the caller's. */
int tn_cdc_read_next(tarn_cx *cx, tn_cdc_read *reader, struct ArrowArray *out);
/* Of the files that were read so far. */
void tn_cdc_read_counts(const tn_cdc_read *reader, tn_scan_counts *out);
void tn_cdc_read_close(tn_cdc_read *reader);

#endif
