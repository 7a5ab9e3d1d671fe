/* The report of a write. I1: every number printed stands in the report. */
#include "write_print.h"

#include <string.h>

#define LINES_MAX 40 /* partitions listed for people, unless it is a dry run */

static const char *const modes[] = {"append", "overwrite", "overwrite-partitions"};

static void json_merged(struct out_json *json, const tarn_merge_report *merged)
{
    if (merged == NULL) {
        out_json_null(json, "merged");
        return;
    }
    out_json_object(json, "merged");
    out_json_u64(json, "partitions", merged->done);
    out_json_u64(json, "skipped", merged->skipped);
    out_json_u64(json, "failed", merged->failed);
    out_json_u64(json, "merged_files", merged->merged_files);
    out_json_u64(json, "merged_bytes", merged->merged_bytes);
    out_json_u64(json, "new_files", merged->new_files);
    out_json_u64(json, "new_bytes", merged->new_bytes);
    out_json_i64(json, "rows", merged->rows);
    out_json_i64(json, "ms", merged->ms);
    out_json_object_end(json);
}

static void print_json(struct out *out, const tarn_write_report *report)
{
    struct out_json json = out_json_open(out, "write.report", 1);

    out_json_name(&json, "root", report->root, report->root_len);
    out_json_text(&json, "op", modes[report->mode]);
    out_json_bool(&json, "dry_run", report->dry_run);
    out_json_bool(&json, "root_made", report->root_made);
    out_json_i64(&json, "rows", report->rows);
    out_json_u64(&json, "files", report->files);
    out_json_u64(&json, "bytes", report->bytes);
    out_json_u64(&json, "old_files", report->old_files);
    out_json_u64(&json, "old_bytes", report->old_bytes);
    out_json_u64(&json, "partitions_removed", report->partitions_removed);
    out_json_u64(&json, "rejected", report->rejected);
    out_json_text(&json, "reject", report->reject);
    out_json_u64(&json, "spilled_bytes", report->spilled_bytes);
    out_json_bool(&json, "pending", report->pending);
    out_json_i64(&json, "ms", report->ms);
    out_json_array(&json, "partitions");
    for (size_t i = 0; i < report->partition_count; i++) {
        const tarn_write_partition *partition = &report->partitions[i];

        out_json_object(&json, NULL);
        out_json_name(&json, "path", partition->path, partition->path_len);
        out_json_i64(&json, "rows", partition->rows);
        out_json_u64(&json, "files", partition->files);
        out_json_u64(&json, "bytes", partition->bytes);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    json_merged(&json, report->merged);
    out_json_array(&json, "notes");
    for (size_t i = 0; i < report->note_count; i++)
        out_json_text(&json, NULL, report->notes[i]);
    out_json_array_end(&json);
    out_json_close(&json);
}

static void print_partitions(struct out *out, const tarn_write_report *report)
{
    static const struct out_column columns[] = {
        {"partition", false}, {"rows", true}, {"files", true}, {"bytes", true}};
    struct out_table *table;

    if (report->partition_count == 0 ||
        (report->partition_count == 1 && report->partitions[0].path_len == 0))
        return;
    table = out_table_open(out, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->partition_count && (report->dry_run || i < LINES_MAX); i++) {
        const tarn_write_partition *partition = &report->partitions[i];

        if (partition->path_len == 0)
            out_cell(table, ".");
        else
            out_cell_name(table, partition->path, partition->path_len);
        out_cell_count(table, (uint64_t)partition->rows);
        out_cell_count(table, partition->files);
        out_cell_size(table, partition->bytes);
    }
    out_table_close(table);
    if (!report->dry_run && report->partition_count > LINES_MAX)
        out_text(out, "… and %zu more\n", report->partition_count - LINES_MAX);
}

static void print_replaced(struct out *out, const tarn_write_report *report)
{
    struct out_word a, b, c;

    if (report->old_files == 0)
        return;
    out_text(out, "%s: %s, %s%s",
             report->dry_run      ? "would be replaced"
             : report->files == 0 ? "removed"
                                  : "replaced",
             out_many(&a, report->old_files, "file", NULL), out_size(&b, report->old_bytes),
             report->partitions_removed != 0 ? "; left without files: " : "\n");
    if (report->partitions_removed != 0)
        out_text(out, "%s\n", out_many(&c, report->partitions_removed, "partition", NULL));
}

static void print_merged(struct out *out, const tarn_merge_report *merged)
{
    struct out_word a, b, c, d;

    if (merged == NULL)
        return;
    if (merged->done == 0 && merged->failed == 0)
        return;
    out_text(out, "merged after it: %s became %s in %s, %s",
             out_many(&a, merged->merged_files, "file", NULL), out_count(&b, merged->new_files),
             out_many(&c, merged->done, "partition", NULL), out_duration(&d, merged->ms));
    if (merged->failed != 0)
        out_text(out, "; %zu failed: see `tarn merge`", merged->failed);
    out_text(out, "\n");
}

static void print_summary(struct out *out, const tarn_write_report *report)
{
    struct out_word a, b, c, d, e;

    out_name(out, report->root, report->root_len);
    if (report->rows == 0 && report->files == 0)
        out_text(out, ": no rows, so nothing %s written", report->dry_run ? "would be" : "was");
    else
        out_text(
            out, ": %s %s%s in %s of %s, %s", out_many(&a, (uint64_t)report->rows, "row", NULL),
            report->dry_run ? "would be written, about " : "written, ", out_size(&b, report->bytes),
            out_many(&c, report->files, "file", NULL),
            out_many(&d, report->partition_count, "partition", NULL), out_duration(&e, report->ms));
    if (report->spilled_bytes != 0)
        out_text(out, ", %s spilled", out_size(&a, report->spilled_bytes));
    out_text(out, "\n");
    print_replaced(out, report);
    if (report->rejected != 0)
        out_text(out, "rejected: %s%s%s\n", out_many(&a, report->rejected, "record", NULL),
                 report->reject != NULL ? ", in " : "",
                 report->reject != NULL ? report->reject : "");
    print_merged(out, report->merged);
    for (size_t i = 0; i < report->note_count; i++) {
        out_text(out, "note: ");
        out_name(out, report->notes[i], strlen(report->notes[i]));
        out_text(out, "\n");
    }
}

void write_print_report(struct cmd_call *call, const tarn_write_report *report)
{
    if (call->common.json) {
        print_json(call->out, report);
        return;
    }
    print_partitions(call->out, report);
    print_summary(call->out, report);
}
