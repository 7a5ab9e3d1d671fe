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

/* The slices of a partition as they were before a commit: changes of one commit stand together, and
 * share them. */
typedef struct tn_read_before {
    tn_arena arena;
    tn_str instant, partition; /* of the changes that they are for */
    bool loaded;
    tn_slices slices;
} tn_read_before;

/* One change being read. What it points to lives in `arena`, in the reading, or in `slices`. */
typedef struct tn_read_change {
    const tn_reading *reading;
    const tn_cdc_change *of;
    tn_read_before *slices;
    tn_arena arena;
    tn_str directory; /* of the partition */
    int64_t partition;
    tn_read_version before, after;
    tn_str *logged;
    tn_cdc_task task;
} tn_read_change;

/* Fills *change, which stays where it is until close; its task has neither files nor logs where
 * nothing is to be read. `slices` is kept from change to change, and is the caller's to clear when
 * the last is closed. NOTFOUND naming what was cleaned. Close it also after failures. */
int tn_read_change_open(tarn_cx *cx, const tn_reading *reading, const tn_cdc_change *of,
                        tn_read_before *slices, tn_read_change *change);
void tn_read_change_close(tn_read_change *change);
void tn_read_before_clear(tn_read_before *slices);

#endif
