/* tarn instant TABLE TIME: everything that the files of one instant say. */
#include <string.h>

#include "instant_print.h"

#define STATS_SHOWN 40
#define TEXT_SHOWN  200
#define VALUE_SHOWN 100

struct values {
    bool full;
    const char *action;
};

static const struct cmd_option options[] = {
    CMD_TEXT(struct values, action, "action", 0, "ACTION",
             "which one, where several share the time (a savepoint and its commit)"),
    CMD_FLAG(struct values, full, "full", 0, "everything, however long, and each file whole"),
    {0}};

static void print_head(struct cmd_call *call, const tarn_instant_detail *detail)
{
    const tarn_instant *instant = &detail->instant;
    const tarn_commit_counts *counts = instant->counts;
    struct out_word a, b, c;

    out_text(call->out, "%s %s %s", instant->time, instant->action, instant->state);
    if (instant->completion != NULL)
        out_text(call->out, ", completed %s", instant_print_time(&a, instant->completion));
    out_text(call->out, "\n");
    if (counts == NULL)
        return;
    out_text(call->out, "%s: %s added, %s rewritten, %s replaced in ",
             counts->operation != NULL ? counts->operation : "no operation",
             out_many(&a, counts->files_added, "file group", NULL),
             out_count(&b, counts->files_updated), out_count(&c, counts->groups_replaced));
    out_text(call->out, "%s\n%s written", out_many(&a, counts->partitions, "partition", NULL),
             out_many(&b, (uint64_t)counts->rows, "row", NULL));
    out_text(call->out, ": %lld inserted, %lld updated, %lld deleted, %lld failed; %s\n",
             (long long)counts->inserted, (long long)counts->updated, (long long)counts->deleted,
             (long long)counts->errors, out_size(&a, counts->bytes));
}

static void print_files(struct cmd_call *call, const tarn_instant_detail *detail)
{
    static const struct out_column titles[] = {{"FILE", false}, {"STATE", false}, {"SIZE", true}};
    struct out_table *table = out_table_open(call->out, titles, 3);

    for (size_t i = 0; i < detail->file_count; i++) {
        out_cell_name(table, detail->files[i].name, strlen(detail->files[i].name));
        out_cell(table, "%s", detail->files[i].state);
        out_cell_size(table, detail->files[i].bytes);
    }
    out_text(call->out, "\n");
    out_table_close(table);
}

static void print_stats(struct cmd_call *call, const tarn_instant_detail *detail)
{
    static const struct out_column titles[] = {
        {"PARTITION", false}, {"FILE ID", false}, {"BEFORE", false},
        {"ROWS", true},       {"INSERTED", true}, {"UPDATED", true},
        {"DELETED", true},    {"SIZE", true},     {"PATH", false}};
    const struct values *values = call->values;
    size_t count =
        values->full || detail->stat_count <= STATS_SHOWN ? detail->stat_count : STATS_SHOWN;
    struct out_table *table;
    struct out_word word;

    if (detail->stat_count == 0)
        return;
    out_text(call->out, "\n");
    table = out_table_open(call->out, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < count; i++) {
        const tarn_instant_stat *stat = &detail->stats[i];

        out_cell_name(table, stat->partition, strlen(stat->partition));
        out_cell_name(table, stat->file_id, strlen(stat->file_id));
        out_cell(table, "%s", stat->previous != NULL ? stat->previous : "new");
        out_cell(table, "%lld", (long long)stat->rows);
        out_cell(table, "%lld", (long long)stat->inserted);
        out_cell(table, "%lld", (long long)stat->updated);
        out_cell(table, "%lld", (long long)stat->deleted);
        out_cell_size(table, stat->bytes);
        out_cell_name(table, stat->path != NULL ? stat->path : "-",
                      stat->path != NULL ? strlen(stat->path) : 1);
    }
    out_table_close(table);
    if (count < detail->stat_count)
        out_text(call->out, "… %s more files; --full shows all\n",
                 out_count(&word, detail->stat_count - count));
}

static void print_extra(struct cmd_call *call, const tarn_instant_detail *detail)
{
    const struct values *values = call->values;
    struct out_word word;

    if (detail->replaced_count != 0)
        out_text(call->out, "\nREPLACED\n");
    for (size_t i = 0; i < detail->replaced_count; i++) {
        const tarn_instant_replaced *replaced = &detail->replaced[i];

        out_text(call->out, "  ");
        out_name(call->out, replaced->partition, strlen(replaced->partition));
        out_text(call->out, "%s", replaced->partition[0] != '\0' ? "/" : "");
        out_name(call->out, replaced->file_id, strlen(replaced->file_id));
        out_text(call->out, "\n");
    }
    if (detail->extra_count != 0)
        out_text(call->out, "\nEXTRA METADATA\n");
    for (size_t i = 0; i < detail->extra_count; i++) {
        size_t len = strlen(detail->extra[i].value);
        size_t shown = values->full || len <= VALUE_SHOWN ? len : VALUE_SHOWN;

        while (shown > 0 && shown < len && (detail->extra[i].value[shown] & 0xC0) == 0x80)
            shown--;
        out_text(call->out, "  ");
        out_name(call->out, detail->extra[i].key, strlen(detail->extra[i].key));
        out_text(call->out, " = ");
        out_name(call->out, detail->extra[i].value, shown);
        if (shown < len)
            out_text(call->out, "… (%s)", out_size(&word, len));
        out_text(call->out, "\n");
    }
}

/* What the files hold: all of them with --full, else those of which nothing else was shown. */
static void print_contents(struct cmd_call *call, const tarn_instant_detail *detail)
{
    const struct values *values = call->values;

    for (size_t i = 0; i < detail->file_count; i++) {
        const tarn_instant_file *file = &detail->files[i];

        if (file->contents == NULL || (!values->full && detail->instant.counts != NULL))
            continue;
        out_text(call->out, "\n");
        out_name(call->out, file->name, strlen(file->name));
        out_text(call->out, "\n");
        out_json_pretty(call->out, file->contents, values->full ? 0 : TEXT_SHOWN);
    }
}

static void json_stats(struct out_json *json, const tarn_instant_detail *detail)
{
    out_json_array(json, "stats");
    for (size_t i = 0; i < detail->stat_count; i++) {
        const tarn_instant_stat *stat = &detail->stats[i];

        out_json_object(json, NULL);
        out_json_text(json, "partition", stat->partition);
        out_json_text(json, "file_id", stat->file_id);
        out_json_text(json, "path", stat->path);
        out_json_text(json, "previous", stat->previous);
        out_json_i64(json, "rows", stat->rows);
        out_json_i64(json, "inserted", stat->inserted);
        out_json_i64(json, "updated", stat->updated);
        out_json_i64(json, "deleted", stat->deleted);
        out_json_i64(json, "errors", stat->errors);
        out_json_u64(json, "bytes", stat->bytes);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    out_json_array(json, "replaced");
    for (size_t i = 0; i < detail->replaced_count; i++) {
        out_json_object(json, NULL);
        out_json_text(json, "partition", detail->replaced[i].partition);
        out_json_text(json, "file_id", detail->replaced[i].file_id);
        out_json_object_end(json);
    }
    out_json_array_end(json);
}

static void print_json(struct cmd_call *call, const tarn_instant_detail *detail)
{
    struct out_json json = out_json_open(call->out, "instant", 1);

    out_json_text(&json, "path", detail->path);
    out_json_object(&json, "instant");
    instant_print_members(&json, &detail->instant);
    out_json_object_end(&json);
    json_stats(&json, detail);
    out_json_array(&json, "extra");
    for (size_t i = 0; i < detail->extra_count; i++) {
        out_json_object(&json, NULL);
        out_json_text(&json, "key", detail->extra[i].key);
        out_json_text(&json, "value", detail->extra[i].value);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_array(&json, "files");
    for (size_t i = 0; i < detail->file_count; i++) {
        out_json_object(&json, NULL);
        out_json_text(&json, "name", detail->files[i].name);
        out_json_text(&json, "state", detail->files[i].state);
        out_json_u64(&json, "bytes", detail->files[i].bytes);
        out_json_raw(&json, "contents", detail->files[i].contents);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_close(&json);
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_instant_detail *detail = NULL;
    int rc = tarn_instant_open(call->cx, call->args[0], call->args[1], values->action, &detail);

    if (rc == TARN_OK && call->common.json) {
        print_json(call, detail);
    } else if (rc == TARN_OK) {
        print_head(call, detail);
        print_files(call, detail);
        print_stats(call, detail);
        print_extra(call, detail);
        print_contents(call, detail);
    }
    tarn_instant_close(detail);
    return cmd_end(call, rc);
}

const struct cmd cmd_instant = {
    .name = "instant",
    .help = "everything that one instant of a Hudi table says",
    .synopsis = "TABLE TIME",
    .about = "Reads the files of an instant: of a commit what it wrote, file by file, the file "
             "groups it replaced and its extra metadata (with the table's schema); of others the "
             "plan and what was done, as they are stored. TIME may be cut short where only one "
             "instant begins so.\n\n"
             "An empty or damaged file ends in a message that names it and the way out.",
    .example = "# what did this commit do\n"
               "tarn instant lake/orders 20240512103000123\n"
               "# the files it wrote, by jq\n"
               "tarn instant lake/orders 20240512103000123 --json | jq -r '.stats[].path'",
    .options = options,
    .args_min = 2,
    .args_max = 2,
    .values_size = sizeof(struct values),
    .run = run,
};
