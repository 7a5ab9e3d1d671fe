/* tarn doctor DIR: facts, findings, and the commands that cure. */
#include <string.h>

#include "cmd.h"
#include "doctor_tables.h"
#include "show_print.h"
#include "tarn/doctor.h"
#include "tarn/table.h"

struct values {
    uint64_t target_bytes;
    struct cmd_list partitions;
    bool deep;
};

static const struct cmd_option options[] = {
    CMD_TEXT_LIST(struct values, partitions, "partition", 'p', "COL=VALUE",
                  "only this partition, or those below this prefix; may be repeated"),
    CMD_SIZE(struct values, target_bytes, "target", 0, "size that merged files would have (128M)"),
    CMD_FLAG(struct values, deep, "deep", 0, "read every page and verify its checksum"),
    {0}};

static double share(uint64_t part, uint64_t all)
{
    return all == 0 ? 0.0 : 100.0 * (double)part / (double)all;
}

static void print_sizes(struct out *out, const tarn_doctor_report *r)
{
    static const struct out_column titles[] = {
        {"SIZE", true}, {"FILES", true}, {"SHARE", true}, {"BYTES", true}, {"", false}};
    static const char bar[] = "########################################";
    struct out_table *table = out_table_open(out, titles, 5);
    struct out_word word;
    uint64_t from = 0;

    for (size_t i = 0; i < TARN_DOCTOR_BUCKETS; i++) {
        const tarn_doctor_bucket *b = &r->buckets[i];

        if (b->below_bytes != 0)
            out_cell(table, "< %s", out_size(&word, b->below_bytes));
        else
            out_cell(table, ">= %s", out_size(&word, from));
        from = b->below_bytes;
        out_cell_count(table, b->files);
        out_cell(table, "%.1f%%", share(b->files, r->files));
        out_cell_size(table, b->bytes);
        out_cell(table, "%.*s", (int)(share(b->files, r->files) * 0.4 + (b->files > 0)), bar);
    }
    out_table_close(table);
}

static void print_worst(struct out *out, const tarn_doctor_report *r)
{
    static const struct out_column titles[] = {{"WORST PARTITIONS", false},
                                               {"FILES", true},
                                               {"SMALL", true},
                                               {"SIZE", true},
                                               {"AFTER MERGE", true}};
    struct out_table *table;

    if (r->worst_count == 0)
        return;
    out_text(out, "\n");
    table = out_table_open(out, titles, 5);
    for (size_t i = 0; i < r->worst_count; i++) {
        const tarn_doctor_partition *p = &r->worst[i];
        const char *path = p->path[0] != '\0' ? p->path : ".";

        out_cell_name(table, path, strlen(path));
        out_cell_count(table, p->files);
        out_cell_count(table, p->small_files);
        out_cell_size(table, p->bytes);
        out_cell_count(table, p->files_after);
    }
    out_table_close(table);
}

/* The arithmetic in full: blocks x replicas x bytes a replica. */
static void print_costs(struct out *out, const tarn_doctor_report *r)
{
    struct out_word a, b, c;

    out_text(out, "name node  %s blocks x %llu replicas x %llu B = ", out_count(&a, r->blocks),
             (unsigned long long)r->replicas, (unsigned long long)r->replica_bytes);
    out_text(out, "%s B", out_count(&a, r->name_node_bytes));
    if (r->blocks_after != r->blocks)
        out_text(out, "; merged: %s x %llu x %llu = %s B", out_count(&b, r->blocks_after),
                 (unsigned long long)r->replicas, (unsigned long long)r->replica_bytes,
                 out_count(&c, r->name_node_bytes_after));
    out_text(out, "\nmap tasks  %s, one per block", out_count(&a, r->map_tasks));
    if (r->map_tasks_after != r->map_tasks)
        out_text(out, "; merged: %s", out_count(&b, r->map_tasks_after));
    out_text(out, "\n");
}

/* The checksums that Hadoop's local file system puts beside every file are counted, not named. */
static bool is_checksum(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t len = strlen(name);

    return name[0] == '.' && len > 4 && strcmp(name + len - 4, ".crc") == 0;
}

static void print_others(struct out *out, const tarn_doctor_report *r)
{
    struct out_word a;
    size_t named = 0;

    if (r->others_total == 0)
        return;
    out_text(out, "no data    %s:", out_many(&a, r->others_total, "file", NULL));
    if (r->others_crc > 0)
        out_text(out, " %s .crc", out_count(&a, r->others_crc));
    for (size_t i = 0; i < r->other_count && named < 6; i++) {
        if (is_checksum(r->others[i]))
            continue;
        out_text(out, "%s ", named++ > 0 || r->others_crc > 0 ? "," : "");
        out_name(out, r->others[i], strlen(r->others[i]));
    }
    out_text(out, "%s\n", named + r->others_crc < r->others_total ? ", …" : "");
}

static void print_health(struct out *out, const tarn_doctor_report *r)
{
    struct out_word a, b, c;

    if (r->groups > 0)
        out_text(out, "row groups %s, on average %s and %s rows\n", out_count(&a, r->groups),
                 out_size(&b, r->group_bytes / r->groups),
                 out_count(&c, r->group_rows / r->groups));
    out_text(out, "codecs     ");
    for (size_t i = 0; i < r->codec_count; i++)
        out_text(out, "%s%s in %s", i > 0 ? ", " : "", r->codecs[i].name,
                 out_many(&a, r->codecs[i].files, "file", NULL));
    out_text(out, "%s\nschemas    %llu", r->codec_count == 0 ? "none" : "",
             (unsigned long long)r->schemas);
    if (r->schema_note[0] != '\0') {
        out_text(out, ": ");
        show_print_line(out, r->schema_note);
        out_text(out, "\n           a column that a file lacks is null there (Spark: mergeSchema)");
    }
    out_text(out, "\n");
    if (r->kept_undo > 0)
        out_text(out, "kept       old files of %s; tarn merge --undo brings them back\n",
                 out_many(&a, r->kept_undo, "partition", NULL));
    if (r->merging[0] != '\0') {
        out_text(out, "running    a merge is at work (");
        show_print_line(out, r->merging);
        out_text(out, "): what this says is of before or after it\n");
    }
    if (r->encrypted + r->bucketed + r->symlinks > 0)
        out_text(out, "left alone %llu encrypted, %llu bucketed, %llu symbolic links\n",
                 (unsigned long long)r->encrypted, (unsigned long long)r->bucketed,
                 (unsigned long long)r->symlinks);
    print_others(out, r);
    if (!r->deep)
        out_text(out, "checked    every footer; --deep reads every page as well\n");
}

static void print(struct out *out, const tarn_doctor_report *r)
{
    struct out_word a, b, c, d;

    out_name(out, r->path, strlen(r->path));
    out_text(out, ": %s, %s, %s in %s\n", out_many(&a, r->files, "file", NULL),
             out_size(&b, r->bytes), out_many(&c, (uint64_t)r->rows, "row", NULL),
             out_many(&d, r->partitions, "partition", NULL));
    out_text(out, "%s below %s (%.1f%% of files, %.1f%% of bytes)\n\n",
             out_many(&a, r->small_files, "file", NULL), out_size(&b, r->small_limit_bytes),
             share(r->small_files, r->files), share(r->small_bytes, r->bytes));
    print_sizes(out, r);
    print_worst(out, r);
    out_text(out, "\n");
    print_costs(out, r);
    print_health(out, r);
    show_print_findings(out, r->findings, r->finding_count);
}

static void json_lists(struct out_json *json, const tarn_doctor_report *r)
{
    out_json_array(json, "buckets");
    for (size_t i = 0; i < TARN_DOCTOR_BUCKETS; i++) {
        out_json_object(json, NULL);
        if (r->buckets[i].below_bytes != 0)
            out_json_u64(json, "below_bytes", r->buckets[i].below_bytes);
        else
            out_json_null(json, "below_bytes");
        out_json_u64(json, "files", r->buckets[i].files);
        out_json_u64(json, "bytes", r->buckets[i].bytes);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    out_json_array(json, "worst");
    for (size_t i = 0; i < r->worst_count; i++) {
        out_json_object(json, NULL);
        out_json_name(json, "path", r->worst[i].path, strlen(r->worst[i].path));
        out_json_u64(json, "files", r->worst[i].files);
        out_json_u64(json, "small_files", r->worst[i].small_files);
        out_json_u64(json, "bytes", r->worst[i].bytes);
        out_json_u64(json, "files_after", r->worst[i].files_after);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    out_json_array(json, "codecs");
    for (size_t i = 0; i < r->codec_count; i++) {
        out_json_object(json, NULL);
        out_json_text(json, "name", r->codecs[i].name);
        out_json_u64(json, "files", r->codecs[i].files);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    out_json_array(json, "others");
    for (size_t i = 0; i < r->other_count; i++)
        out_json_name(json, NULL, r->others[i], strlen(r->others[i]));
    out_json_array_end(json);
}

static void print_json(struct out *out, const tarn_doctor_report *r)
{
    struct out_json json = out_json_open(out, "doctor.report", 1);

    out_json_name(&json, "path", r->path, strlen(r->path));
    out_json_u64(&json, "files", r->files);
    out_json_u64(&json, "bytes", r->bytes);
    out_json_i64(&json, "rows", r->rows);
    out_json_u64(&json, "partitions", r->partitions);
    out_json_u64(&json, "directories", r->directories);
    out_json_u64(&json, "small_limit_bytes", r->small_limit_bytes);
    out_json_u64(&json, "small_files", r->small_files);
    out_json_u64(&json, "small_bytes", r->small_bytes);
    out_json_u64(&json, "block_bytes", r->block_bytes);
    out_json_u64(&json, "replicas", r->replicas);
    out_json_u64(&json, "replica_bytes", r->replica_bytes);
    out_json_u64(&json, "blocks", r->blocks);
    out_json_u64(&json, "name_node_bytes", r->name_node_bytes);
    out_json_u64(&json, "map_tasks", r->map_tasks);
    out_json_u64(&json, "files_after", r->files_after);
    out_json_u64(&json, "blocks_after", r->blocks_after);
    out_json_u64(&json, "name_node_bytes_after", r->name_node_bytes_after);
    out_json_u64(&json, "map_tasks_after", r->map_tasks_after);
    out_json_u64(&json, "groups", r->groups);
    out_json_u64(&json, "group_bytes", r->group_bytes);
    out_json_u64(&json, "group_rows", r->group_rows);
    out_json_u64(&json, "schemas", r->schemas);
    out_json_text(&json, "schema_note", r->schema_note);
    out_json_u64(&json, "kept_undo", r->kept_undo);
    out_json_text(&json, "merging", r->merging);
    out_json_u64(&json, "damaged", r->damaged);
    out_json_u64(&json, "encrypted", r->encrypted);
    out_json_u64(&json, "bucketed", r->bucketed);
    out_json_u64(&json, "symlinks", r->symlinks);
    out_json_u64(&json, "indexed", r->indexed);
    out_json_u64(&json, "others_total", r->others_total);
    out_json_u64(&json, "others_crc", r->others_crc);
    out_json_bool(&json, "deep", r->deep);
    json_lists(&json, r);
    show_print_findings_json(&json, r->findings, r->finding_count);
    out_json_close(&json);
}

static void progress(void *arg, uint64_t done, uint64_t total)
{
    out_progress(arg, "reading pages", done, total);
}

/* A Hudi table: its one screen, and what is found. */
static int run_table(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_overview *table = NULL;
    size_t ailing = 0;
    int rc = TARN_OK;

    if (values->deep || values->target_bytes != 0 || values->partitions.count != 0)
        return cmd_usage(call, "--partition, --target and --deep are for plain directories; "
                               "`tarn files` looks at partitions of a Hudi table");
    rc = tarn_overview_diagnose(call->cx, call->args[0], &table);
    if (rc != TARN_OK)
        return cmd_end(call, rc);
    ailing = show_print_ailing(table->findings, table->finding_count);
    if (call->common.json) {
        show_print_table_json(call, table, "doctor.hudi");
    } else {
        show_print_table(call, table, "--json has all");
        show_print_findings(call->out, table->findings, table->finding_count);
    }
    tarn_overview_close(table);
    return ailing > 0 ? CMD_FOUND : CMD_DONE;
}

static int run_dir(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_doctor_options doctor = {.partitions = values->partitions.items,
                                  .partition_count = values->partitions.count,
                                  .target_bytes = values->target_bytes,
                                  .deep = values->deep,
                                  .on_progress = progress,
                                  .progress_arg = call->out};
    tarn_doctor_report *report = NULL;
    int rc = tarn_doctor(call->cx, call->args[0], &doctor, &report), exit_code;

    out_progress_end(call->out);
    if (rc == TARN_E_UNSUPPORTED)
        return doctor_tables_run(call);
    if (rc != TARN_OK)
        return cmd_end(call, rc);
    if (call->common.json)
        print_json(call->out, report);
    else
        print(call->out, report);
    exit_code = report->finding_count > 0 ? CMD_FOUND : CMD_DONE;
    tarn_doctor_close(report);
    return exit_code;
}

static int run(struct cmd_call *call)
{
    bool hudi = false;
    int rc = tarn_table_exists(call->cx, call->args[0], &hudi);

    if (rc != TARN_OK)
        return cmd_end(call, rc);
    return hudi ? run_table(call) : run_dir(call);
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .help = "what ails a directory or table, why, and the command that cures it",
    .synopsis = "PATH",
    .about =
        "Looks at every file name and footer below PATH and changes nothing. Exit code 3 when "
        "there are findings, 0 when the directory is healthy. Every finding has its evidence, its "
        "cause "
        "and the command that cures it. A column that only some files have, old files kept for "
        "--undo, and a plan whose commit is to come are told but are no findings.\n\n"
        "A file is small when `tarn merge` would take it for a fragment: below 0.75 of the target. "
        "Small files are a finding when a merge would make fewer of them. Name-node memory is "
        "counted as 150 bytes per replica of each 128 MiB block, three replicas: 200 MB in one "
        "file are two blocks and 900 bytes, in 200 files 90,000 bytes.\n\n"
        "Of a Hudi table it shows what `tarn show` does and looks closer: several base files below "
        "100 MiB in a partition, logs that a compaction is due for (more than 5, or more bytes "
        "than their base file), services that were planned and not run, writes that died, files "
        "of no commit, slices and instants that nobody cleans and archives, and where the "
        "metadata table and the directories differ. What tarn has no command for yet is cured by "
        "one of Hudi in Spark SQL. Of a directory that holds Hudi tables it names each and what "
        "was found in it.",
    .example = "# one screen\n"
               "tarn doctor lake/events\n"
               "# for a monitor: how many findings\n"
               "tarn doctor lake/events --json | jq '.findings | length'\n"
               "# a Hudi table\n"
               "tarn doctor lake/orders\n"
               "# every Hudi table of a lake, by name\n"
               "tarn doctor lake",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .run = run,
};
