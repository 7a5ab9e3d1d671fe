/* tarn files PATH: the file groups of a Hudi table, or the files of a directory. */
#include <string.h>

#include "cmd.h"
#include "tarn/timeline.h"

struct values {
    struct cmd_list partitions;
    const char *group, *as_of;
    bool all, no_rows, check;
    uint64_t small_bytes;
};

static const struct values defaults = {.small_bytes = 100ull << 20};

static const struct cmd_option options[] = {
    CMD_TEXT_LIST(struct values, partitions, "partition", 0, "PATH", "only this one"),
    CMD_TEXT(struct values, group, "group", 0, "ID", "the history of one file group"),
    CMD_FLAG(struct values, all, "all", 0, "older, replaced and uncommitted files, too"),
    CMD_TEXT(struct values, as_of, "as-of", 0, "TIME", "as they were at an instant"),
    CMD_SIZE(struct values, small_bytes, "small", 0, "what counts as small (100M)"),
    CMD_FLAG(struct values, no_rows, "no-rows", 0, "leave footers closed: names and sizes alone"),
    CMD_FLAG(struct values, check, "check", 0,
             "compare the metadata table with the directories; exit 3 where they differ"),
    {0}};

static const char *const faults[] = {[TARN_FILES_MISSING] = "missing",
                                     [TARN_FILES_UNLISTED] = "not listed",
                                     [TARN_FILES_SIZE] = "size"};

static const char *const notes[] = {[TARN_FILE_CURRENT] = "current",
                                    [TARN_FILE_OLDER] = "older",
                                    [TARN_FILE_REPLACED] = "replaced",
                                    [TARN_FILE_UNCOMMITTED] = "uncommitted",
                                    [TARN_FILE_LATER] = "later"};

static void cell_text(struct out_table *table, const char *text)
{
    out_cell_name(table, text != NULL ? text : "-", text != NULL ? strlen(text) : 1);
}

static void print_note(struct out_table *table, const tarn_table_file *file)
{
    const char *what = file->note != TARN_FILE_CURRENT ? notes[file->note]
                       : file->name == NULL            ? "logs alone"
                       : file->log                     ? "log"
                       : file->small                   ? "small"
                                                       : "";

    out_cell(table, "%s%s%s", what, file->pending && what[0] != '\0' ? ", " : "",
             file->pending ? "pending" : "");
}

static void cell_rows(struct out_table *table, int64_t rows)
{
    if (rows < 0)
        out_cell(table, "?");
    else
        out_cell_count(table, (uint64_t)rows);
}

static void cell_logs(struct out_table *table, const tarn_table_file *file)
{
    if (file->logs == 0) {
        out_cell(table, "-");
        out_cell(table, "-");
        return;
    }
    out_cell_count(table, file->logs);
    out_cell_size(table, file->log_bytes);
}

static void print_hudi(struct cmd_call *call, const tarn_files *files)
{
    static const struct out_column cow[] = {
        {"PARTITION", false}, {"FILE ID", false}, {"INSTANT", false}, {"ACTION", false},
        {"SIZE", true},       {"ROWS", true},     {"NOTE", false},    {"FILE", false}};
    static const struct out_column mor[] = {
        {"PARTITION", false}, {"FILE ID", false}, {"INSTANT", false}, {"ACTION", false},
        {"SIZE", true},       {"ROWS", true},     {"LOGS", true},     {"LOG SIZE", true},
        {"NOTE", false},      {"FILE", false}};
    struct out_table *table =
        out_table_open(call->out, files->mor ? mor : cow,
                       files->mor ? sizeof mor / sizeof *mor : sizeof cow / sizeof *cow);

    for (size_t i = 0; i < files->file_count; i++) {
        const tarn_table_file *file = &files->files[i];

        out_cell_name(table, file->partition, strlen(file->partition));
        cell_text(table, file->file_id);
        out_cell(table, "%s", file->instant != NULL ? file->instant : "-");
        out_cell(table, "%s", file->action != NULL ? file->action : "-");
        out_cell_size(table, file->bytes);
        if (files->mor && (file->log || file->name == NULL))
            out_cell(table, "-");
        else
            cell_rows(table, file->rows);
        if (files->mor)
            cell_logs(table, file);
        print_note(table, file);
        cell_text(table, file->name);
    }
    out_table_close(table);
}

static void print_plain(struct cmd_call *call, const tarn_files *files)
{
    static const struct out_column titles[] = {
        {"PARTITION", false}, {"SIZE", true}, {"ROWS", true}, {"NOTE", false}, {"FILE", false}};
    struct out_table *table = out_table_open(call->out, titles, 5);

    for (size_t i = 0; i < files->file_count; i++) {
        const tarn_table_file *file = &files->files[i];

        out_cell_name(table, file->partition, strlen(file->partition));
        out_cell_size(table, file->bytes);
        cell_rows(table, file->rows);
        print_note(table, file);
        cell_text(table, file->name);
    }
    out_table_close(table);
}

static void print_check(struct cmd_call *call, const tarn_files *files)
{
    static const struct out_column titles[] = {{"FAULT", false},
                                               {"LISTED", true},
                                               {"STORED", true},
                                               {"PARTITION", false},
                                               {"FILE", false}};
    struct out_table *table;
    struct out_word word;

    if (!files->checked) {
        out_note(call->out, "the table has no metadata table to compare with");
        return;
    }
    if (files->difference_count == 0) {
        out_note(call->out, "the metadata table lists what the directories hold");
        return;
    }
    out_text(call->out, "\n");
    table = out_table_open(call->out, titles, 5);
    for (size_t i = 0; i < files->difference_count; i++) {
        const tarn_files_difference *at = &files->differences[i];

        out_cell(table, "%s", faults[at->fault]);
        if (at->fault == TARN_FILES_UNLISTED)
            out_cell(table, "-");
        else
            out_cell_size(table, at->listed_bytes);
        if (at->fault == TARN_FILES_MISSING)
            out_cell(table, "-");
        else
            out_cell_size(table, at->stored_bytes);
        out_cell_name(table, at->partition, strlen(at->partition));
        out_cell_name(table, at->name, strlen(at->name));
    }
    out_table_close(table);
    out_note(call->out,
             "the metadata table and the directories differ in %s: have Hudi build it anew "
             "(delete it with hoodie.metadata.enable=false, then write with it on)",
             out_many(&word, files->difference_count, "file", NULL));
}

static void print(struct cmd_call *call, const tarn_files *files)
{
    const struct values *values = call->values;
    struct out_word a, b, c, d, e;

    if (files->file_count != 0 && files->hudi)
        print_hudi(call, files);
    else if (files->file_count != 0)
        print_plain(call, files);
    out_note(call->out, "%s, %s, %s, %s; %s under %s",
             out_many(&a, files->partitions, "partition", NULL),
             out_many(&b, files->groups, files->hudi ? "file group" : "file", NULL),
             out_size(&c, files->bytes), out_many(&d, (uint64_t)files->rows, "row", NULL),
             files->small == files->groups && files->small != 0 ? "all"
                                                                : out_count(&e, files->small),
             out_size(&(struct out_word){{0}}, files->small_bytes));
    if (files->logs != 0)
        out_note(call->out, "%s of %s on top, merged by every read; rows are those of base files",
                 out_many(&a, files->logs, "log", NULL), out_size(&b, files->log_bytes));
    if (files->older + files->uncommitted != 0)
        out_note(call->out, "not shown: %s of earlier slices, %s uncommitted%s; --all shows them",
                 out_many(&a, files->older, "file", NULL), out_count(&b, files->uncommitted),
                 values->as_of != NULL ? " or later" : "");
    if (files->listed)
        out_note(call->out, "listed by the metadata table");
    if (values->check)
        print_check(call, files);
    if (files->warning != NULL)
        out_warn(call->out, "%s", files->warning);
}

static void json_file(struct out_json *json, const tarn_table_file *file)
{
    out_json_object(json, NULL);
    out_json_name(json, "partition", file->partition, strlen(file->partition));
    out_json_text(json, "file_id", file->file_id);
    out_json_text(json, "instant", file->instant);
    out_json_text(json, "action", file->action);
    if (file->name != NULL)
        out_json_name(json, "name", file->name, strlen(file->name));
    else
        out_json_null(json, "name");
    out_json_u64(json, "bytes", file->bytes);
    if (file->rows >= 0)
        out_json_i64(json, "rows", file->rows);
    else
        out_json_null(json, "rows");
    out_json_bool(json, "log", file->log);
    out_json_u64(json, "logs", file->logs);
    out_json_u64(json, "log_bytes", file->log_bytes);
    out_json_text(json, "note", notes[file->note]);
    out_json_bool(json, "small", file->small);
    out_json_bool(json, "pending", file->pending);
    out_json_object_end(json);
}

static void json_differences(struct out_json *json, const tarn_files *files)
{
    out_json_array(json, "differences");
    for (size_t i = 0; i < files->difference_count; i++) {
        const tarn_files_difference *at = &files->differences[i];

        out_json_object(json, NULL);
        out_json_text(json, "fault", faults[at->fault]);
        out_json_name(json, "partition", at->partition, strlen(at->partition));
        out_json_name(json, "name", at->name, strlen(at->name));
        out_json_u64(json, "listed_bytes", at->listed_bytes);
        out_json_u64(json, "stored_bytes", at->stored_bytes);
        out_json_object_end(json);
    }
    out_json_array_end(json);
}

static void print_json(struct cmd_call *call, const tarn_files *files)
{
    const struct values *values = call->values;
    struct out_json json = out_json_open(call->out, "files", 1);

    out_json_text(&json, "path", files->path);
    out_json_bool(&json, "hudi", files->hudi);
    out_json_bool(&json, "mor", files->mor);
    out_json_u64(&json, "partitions", files->partitions);
    out_json_u64(&json, "groups", files->groups);
    out_json_u64(&json, "bytes", files->bytes);
    out_json_u64(&json, "logs", files->logs);
    out_json_u64(&json, "log_bytes", files->log_bytes);
    out_json_i64(&json, "rows", files->rows);
    out_json_u64(&json, "small", files->small);
    out_json_u64(&json, "small_bytes", files->small_bytes);
    out_json_u64(&json, "older", files->older);
    out_json_u64(&json, "uncommitted", files->uncommitted);
    out_json_text(&json, "listing", files->listed ? "metadata" : "directories");
    out_json_text(&json, "warning", files->warning);
    if (values->check) {
        out_json_bool(&json, "checked", files->checked);
        json_differences(&json, files);
    }
    out_json_array(&json, "files");
    for (size_t i = 0; i < files->file_count; i++)
        json_file(&json, &files->files[i]);
    out_json_array_end(&json);
    out_json_close(&json);
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    const tarn_files_options chosen = {.partitions = values->partitions.items,
                                       .partition_count = values->partitions.count,
                                       .group = values->group,
                                       .all = values->all,
                                       .as_of = values->as_of,
                                       .no_rows = values->no_rows,
                                       .check = values->check,
                                       .small_bytes = values->small_bytes};
    tarn_files *files = NULL;
    int rc = tarn_files_open(call->cx, call->args[0], &chosen, &files), exit_code;
    bool differ = false;

    if (rc == TARN_OK && call->common.json)
        print_json(call, files);
    else if (rc == TARN_OK)
        print(call, files);
    if (rc == TARN_OK)
        differ = files->difference_count != 0;
    tarn_files_close(files);
    exit_code = cmd_end(call, rc);
    return exit_code == CMD_DONE && differ ? CMD_FOUND : exit_code;
}

const struct cmd cmd_files = {
    .name = "files",
    .help = "the file groups of a Hudi table, or the files of a directory",
    .synopsis = "PATH",
    .about =
        "For a Hudi table: the latest slice of each file group, with the instant that wrote "
        "it, its size and rows. --all adds what a reader does not see: files of earlier "
        "slices, which a cleaner will take away, of replaced groups, and of instants that were "
        "never completed. --group shows the history of one group. Of a merge-on-read table each "
        "slice has the number and size of the logs on top of its base file; with --all and --group "
        "each log has a line of its own.\n\n"
        "Where the table has a metadata table, names and sizes come from it, and the last line "
        "says "
        "so; --all and --group look into the directories. --check compares the two.\n\n"
        "For a plain directory: its Parquet files. Rows are read from footers; --no-rows "
        "leaves them closed.",
    .example = "# the files of one partition\n"
               "tarn files lake/orders --partition dt=2024-05-12\n"
               "# how a file group came to be\n"
               "tarn files lake/orders --group 7e0d4c5c-4a4c-4c7b-b0ff-3e1e0f4e6f3a-0",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .defaults = &defaults,
    .run = run,
};
