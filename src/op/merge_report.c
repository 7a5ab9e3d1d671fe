/* The report of a merge. I1: everything it points to lives in its own arena. */
#include <stdlib.h>

#include "op/merge_op.h"

#define TN_BLOCK_BYTES   (128ull << 20)
#define TN_REPLICAS      3
#define TN_REPLICA_BYTES 150

static int keep(tarn_cx *cx, tn_merge_log *log, tn_str text, const char **out)
{
    int rc = tn_arena_keep(cx, &log->arena, &text);

    if (rc == TARN_OK)
        *out = text.ptr;
    return rc;
}

static uint64_t blocks_of(uint64_t bytes)
{
    return bytes == 0 ? 1 : (bytes + TN_BLOCK_BYTES - 1) / TN_BLOCK_BYTES;
}

int tn_merge_log_note(tarn_cx *cx, tn_merge_log *log, enum tarn_merge_remark kind, tn_str path,
                      tn_str text)
{
    tarn_merge_report *report = &log->report;
    tarn_merge_note note = {.kind = kind, .path_len = path.len};
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, &log->arena, &report->notes, report->note_count, &log->note_cap,
                         sizeof *report->notes));
    TN_TRY(keep(cx, log, path, &note.path));
    TN_TRY(keep(cx, log, text, &note.text));
    report->notes[report->note_count++] = note;
done:
    return rc;
}

static bool has_note(const tarn_merge_report *report, const tn_recovery_note *note)
{
    for (size_t i = 0; i < report->note_count; i++) {
        const tarn_merge_note *had = &report->notes[i];

        if (tn_str_equal((tn_str){had->path, had->path_len}, note->path) &&
            tn_str_equal(tn_str_of(had->text), note->text))
            return true;
    }
    return false;
}

int tn_merge_log_recovery(tarn_cx *cx, tn_merge_log *log, const tn_recovery *recovery)
{
    static const enum tarn_merge_remark kinds[] = {[TN_RECOVERY_SETTLED] = TARN_MERGE_SETTLED,
                                                   [TN_RECOVERY_RETAINED] = TARN_MERGE_LATER,
                                                   [TN_RECOVERY_OPEN] = TARN_MERGE_PROBLEM};
    int rc = TARN_OK;

    for (size_t i = 0; i < recovery->note_count; i++) {
        const tn_recovery_note *note = &recovery->notes[i];

        if (has_note(&log->report, note))
            continue;
        TN_TRY(tn_merge_log_note(cx, log, kinds[note->kind], note->path, note->text));
        log->report.directories_failed += note->kind == TN_RECOVERY_OPEN;
    }
done:
    return rc;
}

int tn_merge_log_open(tarn_cx *cx, const tn_merge_plan *plan, tn_merge_log **out)
{
    tn_merge_log *log = tn_calloc(cx, 1, sizeof *log);
    tarn_merge_report *report;
    int rc = TARN_OK;

    if (log == NULL)
        return TARN_E_NOMEM;
    report = &log->report;
    report->stopped = "";
    report->block_bytes = TN_BLOCK_BYTES;
    report->replicas = TN_REPLICAS;
    report->replica_bytes = TN_REPLICA_BYTES;
    report->root_len = plan->root.len;
    TN_TRY(keep(cx, log, plan->root, &report->root));
    report->partitions_seen = plan->partitions_seen;
    report->files_before = plan->files_seen;
    report->bytes_before = plan->bytes_seen;
    report->partitions =
        tn_arena_array(cx, &log->arena, plan->partition_count, sizeof *report->partitions);
    if (report->partitions == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < plan->note_count; i++)
        TN_TRY(tn_merge_log_note(cx, log, (enum tarn_merge_remark)plan->notes[i].kind,
                                 plan->notes[i].path, plan->notes[i].text));
    TN_TRY(tn_merge_log_intents(cx, log, plan));
    *out = log;
    log = NULL;
done:
    if (log != NULL)
        tarn_merge_report_close(&log->report);
    return rc;
}

static int add_partition(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan,
                         size_t partition, tarn_merge_partition **out)
{
    const tn_merge_partition *planned = &plan->partitions[partition];
    tarn_merge_partition *made = &log->report.partitions[log->report.partition_count];
    int rc = TARN_OK;

    *made = (tarn_merge_partition){.path_len = planned->path.len,
                                   .text = "",
                                   .files_before = planned->input_count,
                                   .files_after = planned->output_count,
                                   .bytes_before = planned->bytes,
                                   .rows = planned->rows};
    TN_TRY(keep(cx, log, planned->path, &made->path));
    log->report.partition_count++;
    *out = made;
done:
    return rc;
}

int tn_merge_log_skip(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan, size_t partition,
                      const char *why)
{
    tarn_merge_partition *made;
    int rc = TARN_OK;

    if (plan->partitions[partition].input_count == 0)
        return TARN_OK;
    TN_TRY(add_partition(cx, log, plan, partition, &made));
    made->outcome = TARN_MERGE_SKIPPED;
    made->files_after = made->files_before;
    made->bytes_after = made->bytes_before;
    TN_TRY(keep(cx, log, tn_str_of(why), &made->text));
    log->report.skipped++;
done:
    return rc;
}

static void count_done(tn_merge_log *log, const tn_merge_partition *planned,
                       const tn_result *results, size_t result_count,
                       const tarn_merge_partition *made)
{
    tarn_merge_report *report = &log->report;

    report->done++;
    report->merged_files += made->files_before;
    report->merged_bytes += made->bytes_before;
    report->new_files += made->files_after;
    report->new_bytes += made->bytes_after;
    report->rows += made->rows;
    for (size_t i = 0; i < planned->input_count; i++)
        report->blocks_before += blocks_of(planned->inputs[i].size_bytes);
    for (size_t i = 0; i < result_count; i++)
        report->blocks_after += blocks_of(results[i].output_bytes);
}

/* What one task says of its columns, and of what it left out. The number of a result may come from
 * outside: it is one of the partition's, or the commit would not have taken it. */
static int log_result(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan, size_t partition,
                      const tn_result *result)
{
    tn_str rest = result->notes;
    int rc = TARN_OK;

    if (result->number < plan->task_count)
        TN_TRY(tn_merge_log_done(cx, log, &plan->tasks[result->number].rewrite, result));
    while (rest.len != 0) {
        size_t end = tn_str_find(rest, '\n');

        TN_TRY(tn_merge_log_note(cx, log, TARN_MERGE_CHANGED, plan->partitions[partition].path,
                                 (tn_str){rest.ptr, end}));
        rest = tn_str_from(rest, end + 1);
    }
done:
    return rc;
}

int tn_merge_log_partition(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan,
                           size_t partition, const tn_result *results, size_t result_count,
                           const tn_partition_report *told)
{
    tarn_merge_partition *made;
    int rc = TARN_OK;

    /* A change of side files alone is no partition to report, unless it failed. */
    if (plan->partitions[partition].input_count == 0 && told->outcome == TN_PARTITION_DONE)
        return TARN_OK;
    TN_TRY(add_partition(cx, log, plan, partition, &made));
    made->outcome = (enum tarn_merge_outcome)told->outcome;
    made->newcomers = told->newcomers;
    if (told->text.ptr != NULL)
        TN_TRY(keep(cx, log, told->text, &made->text));
    for (size_t i = 0; i < result_count; i++) {
        log->report.read_bytes += results[i].read_bytes;
        if (told->outcome == TN_PARTITION_DONE)
            TN_TRY(log_result(cx, log, plan, partition, &results[i]));
    }
    if (told->outcome == TN_PARTITION_DONE) {
        made->bytes_after = told->bytes_after;
        count_done(log, &plan->partitions[partition], results, result_count, made);
        goto done;
    }
    made->files_after = made->files_before;
    made->bytes_after = made->bytes_before;
    if (told->outcome == TN_PARTITION_SKIPPED)
        log->report.skipped++;
    else
        log->report.failed++;
done:
    return rc;
}

static int log_planned(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < plan->partition_count; i++) {
        const tn_merge_partition *planned = &plan->partitions[i];
        tarn_merge_partition *made;

        if (planned->input_count == 0)
            continue;
        TN_TRY(add_partition(cx, log, plan, i, &made));
        made->outcome = TARN_MERGE_PLANNED;
        made->bytes_after = made->bytes_before;
        count_done(log, planned, NULL, 0, made);
        log->report.done--;
        for (size_t k = 0; k < planned->output_count; k++)
            log->report.blocks_after += blocks_of(planned->bytes / planned->output_count);
    }
done:
    return rc;
}

int tn_merge_log_end(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan, bool dry_run,
                     int64_t started_ms)
{
    tarn_merge_report *report = &log->report;
    int rc = TARN_OK;

    report->dry_run = dry_run;
    if (dry_run)
        TN_TRY(log_planned(cx, log, plan));
    report->files_after = report->files_before - report->merged_files + report->new_files;
    report->bytes_after = report->bytes_before - report->merged_bytes + report->new_bytes;
    report->ms = tn_cx_now_ms(cx) - started_ms;
done:
    return rc;
}

void tarn_merge_report_close(tarn_merge_report *report)
{
    tn_merge_log *log = (tn_merge_log *)report;

    if (log == NULL)
        return;
    tn_map_clear(&log->columns);
    tn_arena_clear(&log->arena);
    free(log);
}
