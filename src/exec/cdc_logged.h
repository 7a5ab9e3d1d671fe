/* Changes as a writer logged them: files of change data with both images. */
#ifndef TN_EXEC_CDC_LOGGED_H
#define TN_EXEC_CDC_LOGGED_H

#include "exec/cdc_out.h"
#include "io/store.h"
#include "task/cdc.h"

typedef struct tn_cdc_logged tn_cdc_logged;

int tn_cdc_logged_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task, tn_cdc_logged **out);
/* Adds changes until `out` is full; *more false when that were the last ones. */
int tn_cdc_logged_next(tarn_cx *cx, tn_cdc_logged *logged, tn_cdc_out *out, bool *more);
uint64_t tn_cdc_logged_files(const tn_cdc_logged *logged); /* read so far */
void tn_cdc_logged_close(tn_cdc_logged *logged);

#endif
