/* The report of a merge. I1: every number printed stands in the report; nothing is computed from
 * the table here. */
#include "merge_print.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 40 /* partitions listed for people, unless it is a dry run */

static const char *const outcomes[] = {"", "done", "skipped", "failed", "conflict", "planned"};
static const char *const remarks[] = {"",      "later",   "problem", "kept",
                                      "apart", "changed", "settled"};

static void json_partition(struct out_json *json, const tarn_merge_partition *partition)
{
    out_json_object(json, NULL);
    out_json_name(json, "path", partition->path, partition->path_len);
    out_json_text(json, "outcome", outcomes[partition->outcome]);
    out_json_text(json, "text", partition->text);
    out_json_u64(json, "files_before", partition->files_before);
    out_json_u64(json, "files_after", partition->files_after);
    out_json_u64(json, "bytes_before", partition->bytes_before);
    out_json_u64(json, "bytes_after", partition->bytes_after);
    out_json_i64(json, "rows", partition->rows);
    out_json_u64(json, "newcomers", partition->newcomers);
    out_json_object_end(json);
}

static void json_totals(struct out_json *json, const tarn_merge_report *report)
{
    out_json_name(json, "root", report->root, report->root_len);
    out_json_bool(json, "dry_run", report->dry_run);
    out_json_u64(json, "partitions_seen", report->partitions_seen);
    out_json_u64(json, "files_before", report->files_before);
    out_json_u64(json, "files_after", report->files_after);
    out_json_u64(json, "bytes_before", report->bytes_before);
    out_json_u64(json, "bytes_after", report->bytes_after);
    out_json_u64(json, "merged_files", report->merged_files);
    out_json_u64(json, "merged_bytes", report->merged_bytes);
    out_json_u64(json, "new_files", report->new_files);
    out_json_u64(json, "new_bytes", report->new_bytes);
    out_json_u64(json, "read_bytes", report->read_bytes);
    out_json_i64(json, "rows", report->rows);
    out_json_i64(json, "ms", report->ms);
    out_json_u64(json, "done", report->done);
    out_json_u64(json, "skipped", report->skipped);
    out_json_u64(json, "failed", report->failed);
    out_json_u64(json, "after_failed", report->after_failed);
    out_json_u64(json, "directories_failed", report->directories_failed);
    out_json_u64(json, "blocks_before", report->blocks_before);
    out_json_u64(json, "blocks_after", report->blocks_after);
    out_json_u64(json, "block_bytes", report->block_bytes);
    out_json_u64(json, "replicas", report->replicas);
    out_json_u64(json, "replica_bytes", report->replica_bytes);
    out_json_text(json, "stopped", report->stopped);
}

static const char *const ways[TARN_WAY_COUNT] = {"copy", "sequence", "remap", "repack", "encode"};

static void json_column(struct out_json *json, const tarn_merge_column *column)
{
    out_json_object(json, NULL);
    out_json_name(json, "name", column->name, column->name_len);
    out_json_text(json, "intended", ways[column->intended]);
    out_json_text(json, "why", column->why);
    out_json_array(json, "done");
    for (int way = 0; way < TARN_WAY_COUNT; way++) {
        if (column->chunks[way] == 0 && column->bytes[way] == 0)
            continue;
        out_json_object(json, NULL);
        out_json_text(json, "way", ways[way]);
        out_json_u64(json, "chunks", column->chunks[way]);
        out_json_u64(json, "bytes", column->bytes[way]);
        out_json_text(json, "why", column->reasons[way]);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    out_json_object_end(json);
}

static void print_json(struct out *out, const tarn_merge_report *report)
{
    struct out_json json = out_json_open(out, "merge.report", 1);

    json_totals(&json, report);
    out_json_array(&json, "partitions");
    for (size_t i = 0; i < report->partition_count; i++)
        json_partition(&json, &report->partitions[i]);
    out_json_array_end(&json);
    out_json_array(&json, "columns");
    for (size_t i = 0; i < report->column_count; i++)
        json_column(&json, &report->columns[i]);
    out_json_array_end(&json);
    out_json_array(&json, "notes");
    for (size_t i = 0; i < report->note_count; i++) {
        out_json_object(&json, NULL);
        out_json_text(&json, "kind", remarks[report->notes[i].kind]);
        out_json_name(&json, "path", report->notes[i].path, report->notes[i].path_len);
        out_json_text(&json, "text", report->notes[i].text);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_close(&json);
}

static void cell_path(struct out_table *table, const char *path, size_t len)
{
    if (len == 0)
        out_cell(table, ".");
    else
        out_cell_name(table, path, len);
}

static void print_partitions(struct out *out, const tarn_merge_report *report)
{
    static const struct out_column columns[] = {
        {"partition", false}, {"files", true}, {"become", true},  {"bytes", true},
        {"become", true},     {"rows", true},  {"outcome", false}};
    struct out_table *table;
    size_t shown = 0;

    if (report->partition_count == 0)
        return;
    table = out_table_open(out, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->partition_count; i++) {
        const tarn_merge_partition *partition = &report->partitions[i];

        if (partition->outcome == TARN_MERGE_DONE && shown >= LINES_MAX)
            continue;
        shown++;
        cell_path(table, partition->path, partition->path_len);
        out_cell_count(table, partition->files_before);
        out_cell_count(table, partition->files_after);
        out_cell_size(table, partition->bytes_before);
        if (partition->outcome == TARN_MERGE_PLANNED)
            out_cell(table, "-");
        else
            out_cell_size(table, partition->bytes_after);
        out_cell_count(table, (uint64_t)partition->rows);
        out_cell(table, "%s", outcomes[partition->outcome]);
    }
    out_table_close(table);
    if (shown < report->partition_count)
        out_text(out, "… and %zu more\n", report->partition_count - shown);
}

/* The reason given, else the other. */
static void cell_why(struct out_table *table, const char *first, const char *second)
{
    if (first[0] != '\0')
        out_cell(table, "%s", first);
    else
        out_cell(table, "%s", second);
}

/* A line per column and way; of a dry run, what is intended. */
static void print_columns(struct out *out, const tarn_merge_report *report)
{
    static const struct out_column columns[] = {{"column", false}, {"intended", false},
                                                {"done", false},   {"chunks", true},
                                                {"bytes", true},   {"why", false}};
    struct out_table *table;

    if (report->column_count == 0)
        return;
    table = out_table_open(out, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->column_count; i++) {
        const tarn_merge_column *column = &report->columns[i];
        bool any = false;

        for (int way = 0; way < TARN_WAY_COUNT; way++) {
            if (column->chunks[way] == 0 && column->bytes[way] == 0)
                continue;
            any = true;
            cell_path(table, column->name, column->name_len);
            out_cell(table, "%s", ways[column->intended]);
            out_cell(table, "%s", ways[way]);
            out_cell_count(table, column->chunks[way]);
            out_cell_size(table, column->bytes[way]);
            cell_why(table, column->reasons[way], way == TARN_WAY_ENCODE ? column->why : "");
        }
        if (any)
            continue;
        cell_path(table, column->name, column->name_len);
        out_cell(table, "%s", ways[column->intended]);
        out_cell(table, "-");
        out_cell(table, "-");
        out_cell(table, "-");
        out_cell(table, "%s", column->why);
    }
    out_table_close(table);
}

static void print_reasons(struct out *out, const tarn_merge_report *report)
{
    for (size_t i = 0; i < report->partition_count; i++) {
        const tarn_merge_partition *partition = &report->partitions[i];

        if (partition->text[0] == '\0')
            continue;
        out_text(out, "%s: ", outcomes[partition->outcome]);
        out_name(out, partition->path_len != 0 ? partition->path : ".",
                 partition->path_len != 0 ? partition->path_len : 1);
        out_text(out, ": %s\n", partition->text);
    }
    for (size_t i = 0; i < report->note_count; i++) {
        const tarn_merge_note *note = &report->notes[i];

        out_text(out, "%s: ", remarks[note->kind]);
        out_name(out, note->path_len != 0 ? note->path : ".",
                 note->path_len != 0 ? note->path_len : 1);
        out_text(out, ": %s\n", note->text);
    }
}

/* The arithmetic of name-node memory, for what was (or would be) replaced. */
static void print_memory(struct out *out, const tarn_merge_report *report)
{
    uint64_t each = report->replicas * report->replica_bytes;
    uint64_t before = report->blocks_before * each, after = report->blocks_after * each;
    struct out_word a, b, c, d, e;

    out_text(out,
             "name-node memory: %s x %" PRIu64 " replicas x %" PRIu64
             " B = %s B before, %s = %s B after, %s B saved\n",
             out_many(&a, report->blocks_before, "block", NULL), report->replicas,
             report->replica_bytes, out_count(&b, before),
             out_many(&c, report->blocks_after, "block", NULL), out_count(&d, after),
             out_count(&e, before > after ? before - after : 0));
}

static void print_summary(struct out *out, const tarn_merge_report *report, const char *verb)
{
    struct out_word a, b, c, d, e;
    bool any = report->done != 0 || (report->dry_run && report->partition_count != 0);

    out_name(out, report->root, report->root_len);
    if (strcmp(verb, "undo") == 0) {
        out_text(out, ": %s restored, %zu skipped, %zu failed, in %s\n",
                 out_many(&a, report->done, "partition", NULL), report->skipped, report->failed,
                 out_duration(&b, report->ms));
        return;
    }
    if (!any && report->partition_count == 0) {
        out_text(out, ": nothing to %s: %s in %s\n", verb,
                 out_many(&a, report->files_before, "file", NULL),
                 out_many(&b, report->partitions_seen, "partition", NULL));
        return;
    }
    out_text(out, ": %s %s %s", out_many(&a, report->files_before, "file", NULL),
             report->dry_run ? "would become" : "became", out_count(&b, report->files_after));
    if (report->merged_files != report->files_before)
        out_text(out, " (%s fragments %s)", out_count(&c, report->merged_files),
                 out_count(&d, report->new_files));
    out_text(out, ", %s, %s %s, %s\n", out_many(&e, (uint64_t)report->rows, "row", NULL),
             out_size(&(struct out_word){{0}},
                      report->dry_run ? report->merged_bytes : report->read_bytes),
             report->dry_run ? "to read" : "read",
             out_duration(&(struct out_word){{0}}, report->ms));
    if (!report->dry_run)
        out_text(out, "%s of %s before, %s after; %zu done, %zu skipped, %zu failed\n",
                 out_many(&a, report->partition_count, "partition", NULL),
                 out_size(&b, report->bytes_before), out_size(&c, report->bytes_after),
                 report->done, report->skipped, report->failed);
    print_memory(out, report);
    if (report->stopped[0] != '\0')
        out_text(out, "stopped: %s\n", report->stopped);
}

int merge_print_report(struct cmd_call *call, const tarn_merge_report *report, const char *verb,
                       bool explain)
{
    if (call->common.json) {
        print_json(call->out, report);
    } else {
        print_partitions(call->out, report);
        if (explain)
            print_columns(call->out, report);
        print_reasons(call->out, report);
        print_summary(call->out, report, verb);
    }
    return report->failed != 0 || report->after_failed != 0 || report->directories_failed != 0
               ? CMD_FAILED
               : CMD_DONE;
}

/* While we wait for somebody's text nothing is to be ended in good order: a signal ends us. */
static void let_signals(bool through)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(through ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

static char *read_whole(struct cmd_call *call, const char *path, size_t *len)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    size_t cap = 0, n = 0, got = 1;
    char *bytes = NULL;

    if (file == NULL) {
        out_error(call->out, "%s: cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    while (got != 0) {
        if (cap - n < 2) {
            char *grown = realloc(bytes, cap = cap != 0 ? cap * 2 : 65536);

            if (grown == NULL)
                break;
            bytes = grown;
        }
        got = fread(bytes + n, 1, cap - n - 1, file);
        n += got;
    }
    if (got != 0 || ferror(file)) {
        out_error(call->out, "%s: cannot be read to its end", path);
        free(bytes);
        bytes = NULL;
    } else {
        bytes[n] = '\0';
        *len = n;
    }
    if (file != stdin)
        fclose(file);
    return bytes;
}

char *merge_print_read(struct cmd_call *call, const char *path, size_t *len)
{
    char *bytes;

    let_signals(true);
    bytes = read_whole(call, path, len);
    let_signals(false);
    return bytes;
}
