/* Reports of what was done to a Hudi table. I1: every number printed stands in the report. */
#include "table_print.h"

#include <string.h>

#define LINES_MAX 40 /* partitions listed for people, unless it is a dry run */

/* ---- JSON */

static void json_partitions(struct out_json *json, const tarn_table_report *report)
{
    out_json_array(json, "partitions");
    for (size_t i = 0; i < report->partition_count; i++) {
        const tarn_table_partition *partition = &report->partitions[i];

        out_json_object(json, NULL);
        out_json_name(json, "path", partition->path, partition->path_len);
        out_json_i64(json, "inserted", partition->inserted);
        out_json_i64(json, "updated", partition->updated);
        out_json_i64(json, "deleted", partition->deleted);
        out_json_u64(json, "files", partition->files);
        out_json_u64(json, "bytes", partition->bytes);
        out_json_u64(json, "replaced", partition->replaced);
        out_json_object_end(json);
    }
    out_json_array_end(json);
}

static void json_buckets(struct out_json *json, const tarn_table_report *report)
{
    out_json_array(json, "buckets");
    for (size_t i = 0; i < report->bucket_count; i++) {
        const tarn_table_bucket *bucket = &report->buckets[i];
        const tarn_table_partition *partition = &report->partitions[bucket->partition];

        out_json_object(json, NULL);
        out_json_name(json, "partition", partition->path, partition->path_len);
        out_json_text(json, "file_id", bucket->file_id);
        out_json_text(json, "base", bucket->base);
        out_json_u64(json, "base_bytes", bucket->base_bytes);
        out_json_i64(json, "updates", bucket->updates);
        out_json_i64(json, "inserts", bucket->inserts);
        out_json_u64(json, "target_bytes", bucket->target_bytes);
        out_json_text(json, "why", bucket->why);
        out_json_object_end(json);
    }
    out_json_array_end(json);
}

static void print_json(struct out *out, const tarn_table_report *report)
{
    struct out_json json = out_json_open(out, "table.report", 1);

    out_json_name(&json, "root", report->root, report->root_len);
    out_json_text(&json, "op", tarn_operation_word(report->op));
    out_json_i64(&json, "table_version", report->table_version);
    out_json_bool(&json, "dry_run", report->dry_run);
    out_json_bool(&json, "table_made", report->table_made);
    out_json_text(&json, "instant", report->instant);
    out_json_text(&json, "completion", report->completion);
    out_json_i64(&json, "rows", report->rows);
    out_json_i64(&json, "inserted", report->inserted);
    out_json_i64(&json, "updated", report->updated);
    out_json_i64(&json, "deleted", report->deleted);
    out_json_i64(&json, "unchanged", report->unchanged);
    out_json_bool(&json, "foreseen", report->foreseen);
    out_json_i64(&json, "duplicates", report->duplicates);
    out_json_i64(&json, "not_found", report->not_found);
    out_json_i64(&json, "moved", report->moved);
    out_json_u64(&json, "rejected", report->rejected);
    out_json_text(&json, "reject", report->reject);
    out_json_u64(&json, "files", report->files);
    out_json_u64(&json, "bytes", report->bytes);
    out_json_u64(&json, "replaced", report->replaced);
    out_json_u64(&json, "groups", report->groups);
    out_json_u64(&json, "groups_carried", report->groups_carried);
    out_json_u64(&json, "bytes_carried", report->bytes_carried);
    out_json_double(&json, "record_bytes", report->record_bytes);
    out_json_text(&json, "record_bytes_why", report->record_bytes_why);
    out_json_i64(&json, "ms", report->ms);
    json_partitions(&json, report);
    json_buckets(&json, report);
    out_json_array(&json, "notes");
    for (size_t i = 0; i < report->note_count; i++)
        out_json_text(&json, NULL, report->notes[i]);
    out_json_array_end(&json);
    out_json_close(&json);
}

/* ---- people */

static void cell_path(struct out_table *table, const tarn_table_partition *partition)
{
    if (partition->path_len == 0)
        out_cell(table, ".");
    else
        out_cell_name(table, partition->path, partition->path_len);
}

static void print_partitions(struct out *out, const tarn_table_report *report)
{
    static const struct out_column columns[] = {
        {"partition", false}, {"inserted", true}, {"updated", true}, {"deleted", true},
        {"files", true},      {"bytes", true},    {"replaced", true}};
    struct out_table *table;

    if (report->partition_count == 0 ||
        (report->partition_count == 1 && report->partitions[0].path_len == 0))
        return;
    table = out_table_open(out, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->partition_count && i < LINES_MAX; i++) {
        const tarn_table_partition *partition = &report->partitions[i];

        cell_path(table, partition);
        out_cell_count(table, (uint64_t)partition->inserted);
        out_cell_count(table, (uint64_t)partition->updated);
        out_cell_count(table, (uint64_t)partition->deleted);
        out_cell_count(table, partition->files);
        out_cell_size(table, partition->bytes);
        out_cell_count(table, partition->replaced);
    }
    out_table_close(table);
    if (report->partition_count > LINES_MAX)
        out_text(out, "… and %zu more\n", report->partition_count - LINES_MAX);
}

static void print_buckets(struct out *out, const tarn_table_report *report)
{
    static const struct out_column columns[] = {{"partition", false}, {"file group", false},
                                                {"updates", true},    {"inserts", true},
                                                {"target", true},     {"why", false}};
    struct out_table *table;

    if (report->bucket_count == 0)
        return;
    table = out_table_open(out, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->bucket_count; i++) {
        const tarn_table_bucket *bucket = &report->buckets[i];

        cell_path(table, &report->partitions[bucket->partition]);
        out_cell(table, "%s", bucket->base != NULL ? bucket->file_id : "new");
        out_cell_count(table, (uint64_t)bucket->updates);
        out_cell_count(table, (uint64_t)bucket->inserts);
        if (bucket->target_bytes != 0)
            out_cell_size(table, bucket->target_bytes);
        else
            out_cell(table, "-");
        out_cell(table, "%s", bucket->why);
    }
    out_table_close(table);
    if (report->record_bytes > 0)
        out_text(out, "a row is about %.0f bytes: %s\n", report->record_bytes,
                 report->record_bytes_why);
}

static void print_counts(struct out *out, const tarn_table_report *report)
{
    struct out_word a, b, c;

    out_text(out, "%s inserted, %s %s, %s deleted", out_count(&a, (uint64_t)report->inserted),
             out_count(&b, (uint64_t)report->updated),
             report->dry_run && !report->foreseen ? "changed" : "updated",
             out_count(&c, (uint64_t)report->deleted));
}

static void print_other(struct out *out, const tarn_table_report *report)
{
    struct out_word a, b, c;

    if (report->unchanged != 0)
        out_text(out, "unchanged: %s, whose stored ones are newer\n",
                 out_many(&a, (uint64_t)report->unchanged, "row", NULL));
    if (report->duplicates != 0)
        out_text(out, "duplicates: %s of the input lost against others of their key\n",
                 out_many(&a, (uint64_t)report->duplicates, "row", NULL));
    if (report->not_found != 0)
        out_text(out, "not found: %s of keys that the table does not have\n",
                 out_many(&a, (uint64_t)report->not_found, "delete", NULL));
    if (report->moved != 0)
        out_text(out, "moved: %s to another partition\n",
                 out_many(&a, (uint64_t)report->moved, "row", NULL));
    if (report->replaced != 0)
        out_text(out, "%s: %s\n", report->dry_run ? "would be replaced" : "replaced",
                 out_many(&a, report->replaced, "file group", NULL));
    if (report->groups != 0)
        out_text(out, "carried over: %s of %s, %s\n", out_count(&a, report->groups_carried),
                 out_many(&b, report->groups, "row group", NULL),
                 out_size(&c, report->bytes_carried));
    if (report->rejected != 0)
        out_text(out, "rejected: %s%s%s\n", out_many(&a, report->rejected, "record", NULL),
                 report->reject != NULL ? ", in " : "",
                 report->reject != NULL ? report->reject : "");
}

static void print_summary(struct out *out, const tarn_table_report *report)
{
    struct out_word a, b, c, d;

    out_name(out, report->root, report->root_len);
    if (report->table_made)
        out_text(out, ": %s a table of version %d", report->dry_run ? "would make" : "made",
                 report->table_version);
    if (report->dry_run) {
        out_text(out, ": %s would write: ", tarn_operation_word(report->op));
        print_counts(out, report);
        out_text(out, "\n");
    } else if (report->instant == NULL) {
        out_text(out, ": %s: nothing to write\n", tarn_operation_word(report->op));
    } else {
        out_text(out, ": %s %s: ", tarn_operation_word(report->op), report->instant);
        print_counts(out, report);
        out_text(out, "; %s, %s in %s, %s\n", out_many(&a, report->files, "file", NULL),
                 out_size(&b, report->bytes),
                 out_many(&c, report->partition_count, "partition", NULL),
                 out_duration(&d, report->ms));
    }
    print_other(out, report);
    for (size_t i = 0; i < report->note_count; i++) {
        out_text(out, "note: ");
        out_name(out, report->notes[i], strlen(report->notes[i]));
        out_text(out, "\n");
    }
}

void table_print_report(struct cmd_call *call, const tarn_table_report *report)
{
    if (call->common.json) {
        print_json(call->out, report);
        return;
    }
    if (report->dry_run)
        print_buckets(call->out, report);
    else
        print_partitions(call->out, report);
    print_summary(call->out, report);
}

void table_print_made(struct cmd_call *call, const tarn_table_report *report)
{
    struct out *out = call->out;

    if (call->common.json) {
        struct out_json json = out_json_open(out, "table.made", 1);

        out_json_name(&json, "root", report->root, report->root_len);
        out_json_bool(&json, "dry_run", report->dry_run);
        out_json_i64(&json, "table_version", report->table_version);
        out_json_close(&json);
        return;
    }
    out_name(out, report->root, report->root_len);
    out_text(out, ": %s a table of version %d\n", report->dry_run ? "would be made" : "made",
             report->table_version);
}

void table_print_rollback(struct cmd_call *call, const tarn_rollback_report *report)
{
    struct out *out = call->out;
    struct out_word a;

    if (call->common.json) {
        struct out_json json = out_json_open(out, "rollback.report", 1);

        out_json_name(&json, "root", report->root, report->root_len);
        out_json_text(&json, "instant", report->instant);
        out_json_text(&json, "action", report->action);
        out_json_text(&json, "rollback", report->rollback);
        out_json_bool(&json, "was_completed", report->was_completed);
        out_json_bool(&json, "dry_run", report->dry_run);
        out_json_u64(&json, "files_deleted", report->files_deleted);
        out_json_array(&json, "files");
        for (size_t i = 0; i < report->file_count; i++)
            out_json_name(&json, NULL, report->files[i], strlen(report->files[i]));
        out_json_array_end(&json);
        out_json_close(&json);
        return;
    }
    out_name(out, report->root, report->root_len);
    if (report->dry_run) {
        out_text(out, ": would roll back %s %s, which %s: %s would be deleted\n", report->action,
                 report->instant, report->was_completed ? "is completed" : "was never completed",
                 out_many(&a, report->file_count, "file", NULL));
        for (size_t i = 0; i < report->file_count; i++) {
            out_name(out, report->files[i], strlen(report->files[i]));
            out_text(out, "\n");
        }
    } else
        out_text(out, ": rolled back %s %s (rollback %s): %s deleted\n", report->action,
                 report->instant, report->rollback,
                 out_many(&a, report->files_deleted, "file", NULL));
}
