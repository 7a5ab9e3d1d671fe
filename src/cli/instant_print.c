/* Instants, as several commands print them. */
#include <stdio.h>
#include <string.h>

#include "instant_print.h"

const char *instant_print_time(struct out_word *word, const char *time)
{
    size_t digits = strspn(time, "0123456789"), len = strlen(time);

    if (digits != len || (len != 17 && len != 14)) {
        snprintf(word->text, sizeof word->text, "%s", time);
        return word->text;
    }
    snprintf(word->text, sizeof word->text, "%.4s-%.2s-%.2s %.2s:%.2s:%.2s%s%s", time, time + 4,
             time + 6, time + 8, time + 10, time + 12, len == 17 ? "." : "", time + 14);
    return word->text;
}

static void print_counts(struct out_table *table, const tarn_commit_counts *counts)
{
    if (counts == NULL) {
        for (int i = 0; i < 10; i++)
            out_cell(table, "-");
        return;
    }
    out_cell(table, "%s", counts->operation != NULL ? counts->operation : "-");
    out_cell_count(table, counts->partitions);
    out_cell_count(table, counts->files_added);
    out_cell_count(table, counts->files_updated);
    out_cell_count(table, counts->groups_replaced);
    out_cell(table, "%lld", (long long)counts->rows);
    out_cell(table, "%lld", (long long)counts->inserted);
    out_cell(table, "%lld", (long long)counts->updated);
    out_cell(table, "%lld", (long long)counts->deleted);
    out_cell_size(table, counts->bytes);
}

void instant_print_table(struct out *out, const tarn_instant *instants, size_t count, bool counts)
{
    static const struct out_column columns[] = {
        {"INSTANT", false},   {"ACTION", false},    {"STATE", false},   {"COMPLETED", false},
        {"OPERATION", false}, {"PARTITIONS", true}, {"ADDED", true},    {"REWRITTEN", true},
        {"REPLACED", true},   {"ROWS", true},       {"INSERTED", true}, {"UPDATED", true},
        {"DELETED", true},    {"SIZE", true}};
    struct out_table *table =
        out_table_open(out, columns, counts ? sizeof columns / sizeof columns[0] : 4);
    struct out_word word;

    for (size_t i = 0; i < count; i++) {
        const tarn_instant *at = &instants[i];

        out_cell(table, "%s", at->time);
        out_cell(table, "%s", at->action);
        out_cell(table, "%s%s", at->state,
                 at->problem != NULL ? " (damaged)"
                 : at->archived      ? " (archived)"
                                     : "");
        out_cell(table, "%s",
                 at->completion != NULL ? instant_print_time(&word, at->completion) : "-");
        if (counts)
            print_counts(table, at->counts);
    }
    out_table_close(table);
}

void instant_print_members(struct out_json *json, const tarn_instant *instant)
{
    const tarn_commit_counts *counts = instant->counts;

    out_json_text(json, "time", instant->time);
    out_json_text(json, "completion", instant->completion);
    out_json_text(json, "action", instant->action);
    out_json_text(json, "state", instant->state);
    out_json_text(json, "file", instant->file);
    out_json_u64(json, "bytes", instant->bytes);
    out_json_text(json, "problem", instant->problem);
    if (instant->archived)
        out_json_bool(json, "archived", true);
    if (counts == NULL)
        return;
    out_json_object(json, "counts");
    out_json_text(json, "operation", counts->operation);
    out_json_u64(json, "partitions", counts->partitions);
    out_json_u64(json, "files_added", counts->files_added);
    out_json_u64(json, "files_updated", counts->files_updated);
    out_json_u64(json, "groups_replaced", counts->groups_replaced);
    out_json_i64(json, "rows", counts->rows);
    out_json_i64(json, "inserted", counts->inserted);
    out_json_i64(json, "updated", counts->updated);
    out_json_i64(json, "deleted", counts->deleted);
    out_json_i64(json, "errors", counts->errors);
    out_json_u64(json, "bytes", counts->bytes);
    out_json_object_end(json);
}

void instant_print_json(struct out_json *json, const tarn_instant *instant)
{
    out_json_object(json, NULL);
    instant_print_members(json, instant);
    out_json_object_end(json);
}
