/* The files of a change of a Hudi table, as a task that reads it. */
#ifndef TN_OP_READ_CHANGE_H
#define TN_OP_READ_CHANGE_H

#include "op/read_cdc.h"
#include "task/cdc.h"

typedef struct tn_read_version {
    tn_scan_task scan;
    tn_slice_parts parts;
    tn_slice_instants instants;
    bool there;
} tn_read_version;

/* One change being read. What it points to lives in `arena`, or in the reading. */
typedef struct tn_read_change {
    const tn_reading *reading;
    const tn_cdc_change *of;
    tn_arena arena;
    tn_str directory; /* of the partition */
    int64_t partition;
    tn_read_version before, after;
    tn_str *logged;
    tn_cdc_task task;
} tn_read_change;

/* Fills *change, which stays where it is until close; its task has neither files nor logs where
 * nothing is to be read. NOTFOUND naming what was cleaned. Close it also after failures. */
int tn_read_change_open(tarn_cx *cx, const tn_reading *reading, const tn_cdc_change *of,
                        tn_read_change *change);
void tn_read_change_close(tn_read_change *change);

#endif
