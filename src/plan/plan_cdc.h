/* Where the changes of commits are to be had (org.apache.hudi.common.table.cdc.HoodieCDCExtractor;
 * docs/format/hudi-cdc.md). A function of what the commits say; no file is looked at. */
#ifndef TN_PLAN_PLAN_CDC_H
#define TN_PLAN_PLAN_CDC_H

#include "table/commit_metadata.h"

enum tn_cdc_case {
    TN_CDC_AS_IS = 1,        /* files of change data, with the images in them */
    TN_CDC_BASE_FILE_INSERT, /* every row of the file is new */
    TN_CDC_BASE_FILE_CHANGE, /* rows of the file, against those of the one before it */
    TN_CDC_BASE_FILE_DELETE, /* every row of the file before is gone */
    TN_CDC_LOG_FILE,         /* the slice with the logs, against the slice without them */
    TN_CDC_REPLACE_COMMIT    /* every row of the group's last slice is gone */
};

typedef struct tn_cdc_commit {
    tn_str instant; /* requested time */
    const tn_commit_metadata *metadata;
} tn_cdc_commit;

typedef struct tn_cdc_change {
    enum tn_cdc_case kind;
    tn_str instant, partition, file_id;
    bool logged;         /* files of change data came with it, whatever is in them */
    tn_str path;         /* BASE_FILE_INSERT, _CHANGE: below the table's base path */
    tn_str prev_instant; /* BASE_FILE_CHANGE, _DELETE: of the file before; LOG_FILE: of the slice */
    /* AS_IS: paths of the files of change data. LOG_FILE: names of the logs that were written. */
    const tn_str *files;
    size_t file_count;
    /* LOG_FILE: names of the slice before, as the commit has them; all empty: it does not say. */
    tn_str base_file;
    const tn_str *logs;
    size_t log_count;
} tn_cdc_change;

/* Changes in the order of the commits; of one commit what is replaced first, so that who applies
 * them in order ends with the rows of the table; then by partition and file group. `images`: files
 * of change data have both images (mode DATA_BEFORE_AFTER); of other modes the base files are
 * compared, which say the same and have the images. In the arena. */
int tn_plan_cdc(tarn_cx *cx, const tn_cdc_commit *commits, size_t count, bool images,
                tn_arena *arena, tn_cdc_change **changes, size_t *change_count);

#endif
