/* What changed between two versions of a file group: their rows side by side, by record key. */
#ifndef TN_EXEC_CDC_DIFF_H
#define TN_EXEC_CDC_DIFF_H

#include "exec/cdc_out.h"
#include "exec/cdc_source.h"

typedef struct tn_cdc_diff tn_cdc_diff;

int tn_cdc_diff_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task, tn_cdc_diff **out);
/* Adds changes until `out` is full; *more false when that were the last ones. */
int tn_cdc_diff_next(tarn_cx *cx, tn_cdc_diff *diff, tn_cdc_out *out, bool *more);
void tn_cdc_diff_counts(const tn_cdc_diff *diff, tn_scan_counts *out);
void tn_cdc_diff_close(tn_cdc_diff *diff);

#endif
