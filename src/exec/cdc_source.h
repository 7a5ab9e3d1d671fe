/* The rows of one side of a change, a row at a time, with their record keys. */
#ifndef TN_EXEC_CDC_SOURCE_H
#define TN_EXEC_CDC_SOURCE_H

#include "batch/record_key.h"
#include "exec/exec_read.h"
#include "task/cdc.h"

typedef struct tn_cdc_source {
    const tn_scan_task *task; /* NULL: no rows */
    tn_exec_read *rows;       /* of a base file alone, or merged with logs */
    tn_record_key *maker;     /* NULL: keys are stored */
    tn_record_key_options options;
    tn_record_keys keys; /* of the batch */
    struct ArrowArray batch;
    int64_t at, rows_before; /* row of the batch; rows of the batches before it */
    bool ended;
    tn_str key; /* of the row at hand; as long as the batch */
} tn_cdc_source;

/* `scan` NULL: a source without rows. Before the first row. */
int tn_cdc_source_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task,
                       const tn_scan_task *scan, tn_cdc_source *out);
/* To the next row; ->ended behind the last. */
int tn_cdc_source_next(tarn_cx *cx, tn_cdc_source *source);
void tn_cdc_source_counts(const tn_cdc_source *source, tn_scan_counts *out);
void tn_cdc_source_close(tn_cdc_source *source);

#endif
