/* The report of a write. I1: everything it points to lives in its own arena, the merge apart. */
#include <stdlib.h>
#include <string.h>

#include "op/write_op.h"

static int keep(tarn_cx *cx, tn_write_log *log, tn_str text, const char **out)
{
    int rc = tn_arena_keep(cx, &log->arena, &text);

    if (rc == TARN_OK)
        *out = text.ptr;
    return rc;
}

int tn_write_log_open(tarn_cx *cx, tn_str root, const tarn_write_options *options,
                      tn_write_log **out)
{
    tn_write_log *log = tn_calloc(cx, 1, sizeof *log);
    int rc = TARN_OK;

    if (log == NULL)
        return TARN_E_NOMEM;
    log->report.root_len = root.len;
    TN_TRY(keep(cx, log, root, &log->report.root));
    log->report.mode = options->mode;
    log->report.dry_run = options->dry_run;
    *out = log;
    log = NULL;
done:
    tn_write_log_close(log);
    return rc;
}

void tn_write_log_close(tn_write_log *log)
{
    if (log == NULL)
        return;
    tarn_merge_report_close(log->merged);
    tn_arena_clear(&log->arena);
    free(log->partitions);
    free(log->notes);
    free(log);
}

int tn_write_log_note(tarn_cx *cx, tn_write_log *log, tn_str text)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &log->notes, log->report.note_count, &log->note_cap, sizeof *log->notes));
    log->report.notes = log->notes;
    TN_TRY(keep(cx, log, text, &log->notes[log->report.note_count]));
    log->report.note_count++;
done:
    return rc;
}

int tn_write_log_add(tarn_cx *cx, tn_write_log *log, tn_str partition, int64_t rows, uint64_t files,
                     uint64_t bytes)
{
    tarn_write_report *report = &log->report;
    tarn_write_partition *last;
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &log->partitions, report->partition_count, &log->partition_cap,
                   sizeof *log->partitions));
    report->partitions = log->partitions;
    last = &log->partitions[report->partition_count];
    if (report->partition_count == 0 ||
        !tn_str_equal((tn_str){last[-1].path, last[-1].path_len}, partition)) {
        *last = (tarn_write_partition){.path_len = partition.len};
        TN_TRY(keep(cx, log, partition, &last->path));
        report->partition_count++;
    } else {
        last--;
    }
    last->rows += rows;
    last->files += files;
    last->bytes += bytes;
    report->rows += rows;
    report->files += files;
    report->bytes += bytes;
done:
    return rc;
}

void tarn_write_report_close(tarn_write_report *report)
{
    tn_write_log_close((tn_write_log *)report);
}
