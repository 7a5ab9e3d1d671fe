/* The report of a write into a Hudi table. I1: everything it points to lives in its own arena. */
#include <stdlib.h>
#include <string.h>

#include "op/hudi_op.h"

int tn_hudi_log_text(tarn_cx *cx, tn_hudi_log *log, tn_str text, const char **out)
{
    int rc = tn_arena_keep(cx, &log->arena, &text);

    if (rc == TARN_OK)
        *out = text.ptr;
    return rc;
}

int tn_hudi_log_open(tarn_cx *cx, tn_str root, tn_hudi_log **out)
{
    tn_hudi_log *log = tn_calloc(cx, 1, sizeof *log);
    int rc = TARN_OK;

    if (log == NULL)
        return TARN_E_NOMEM;
    log->report.root_len = root.len;
    TN_TRY(tn_hudi_log_text(cx, log, root, &log->report.root));
    *out = log;
    log = NULL;
done:
    tn_hudi_log_close(log);
    return rc;
}

void tn_hudi_log_close(tn_hudi_log *log)
{
    if (log == NULL)
        return;
    tn_map_clear(&log->by_path);
    tn_arena_clear(&log->arena);
    free(log->partitions);
    free(log->notes);
    free(log);
}

int tn_hudi_log_note(tarn_cx *cx, tn_hudi_log *log, tn_str text)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &log->notes, log->report.note_count, &log->note_cap, sizeof *log->notes));
    log->report.notes = log->notes;
    TN_TRY(tn_hudi_log_text(cx, log, text, &log->notes[log->report.note_count]));
    log->report.note_count++;
done:
    return rc;
}

int tn_hudi_log_partition(tarn_cx *cx, tn_hudi_log *log, tn_str path, tarn_table_partition **out)
{
    size_t count = log->report.partition_count;
    size_t *place = tn_map_find(&log->by_path, path);
    bool added;
    int rc = TARN_OK;

    if (place != NULL) {
        *out = &log->partitions[*place];
        return TARN_OK;
    }
    TN_TRY(tn_grow(cx, &log->partitions, count, &log->partition_cap, sizeof *log->partitions));
    log->report.partitions = log->partitions;
    log->partitions[count] = (tarn_table_partition){.path_len = path.len};
    TN_TRY(tn_hudi_log_text(cx, log, path, &log->partitions[count].path));
    place = tn_map_add(cx, &log->by_path, (tn_str){log->partitions[count].path, path.len}, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = count;
    log->report.partition_count++;
    *out = &log->partitions[count];
done:
    return rc;
}

static int by_path(const void *a, const void *b)
{
    const tarn_table_partition *x = a, *y = b;

    return tn_str_compare((tn_str){x->path, x->path_len}, (tn_str){y->path, y->path_len});
}

void tn_hudi_log_sort(tn_hudi_log *log)
{
    if (log->report.partition_count != 0 && log->report.bucket_count == 0)
        qsort(log->partitions, log->report.partition_count, sizeof *log->partitions, by_path);
}

void tarn_table_report_close(tarn_table_report *report)
{
    tn_hudi_log_close((tn_hudi_log *)report);
}

const char *tarn_operation_word(enum tarn_operation op)
{
    static const char *const words[] = {"upsert",           "insert",
                                        "bulk_insert",      "delete",
                                        "insert_overwrite", "insert_overwrite_table",
                                        "delete_partition"};

    return (unsigned)op < sizeof words / sizeof *words ? words[op] : NULL;
}
