/* tarn write TABLE INPUT…: rows into a Hudi table, or into a plain directory of Parquet files,
 * partitioned as Hive does it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "table_options.h"
#include "table_print.h"
#include "tarn/write.h"
#include "write_print.h"

struct values {
    struct table_values table;
    const char *partition_by, *where, *columns, *schema, *delimiter, *null_text, *reject,
        *distribute_by, *codec;
    struct cmd_list partitions, extra;
    uint64_t files_per_partition, files_max, partitions_max, target_bytes, group_bytes, level,
        sample_bytes;
    int as, op, format, sizing;
    bool no_header, no_merge, drop_metadata_table;
};

static const char *const kinds[] = {"hive", "hudi", NULL};
/* Those of Hudi tables in the order of enum tarn_operation, then those of plain directories. */
static const char *const ops[] = {"upsert",
                                  "insert",
                                  "bulk_insert",
                                  "delete",
                                  "insert_overwrite",
                                  "insert_overwrite_table",
                                  "delete_partition",
                                  "append",
                                  "overwrite",
                                  "overwrite-partitions",
                                  NULL};
#define OPS_OF_HUDI 7
static const char *const sizings[] = {"real", "hudi", NULL};
static const char *const formats[] = {"parquet", "csv", "ndjson", NULL};

static const struct values defaults = {.as = -1,
                                       .op = -1,
                                       .format = -1,
                                       .table = {.version = -1},
                                       .files_max = 100000,
                                       .partitions_max = 1000,
                                       .target_bytes = 128u << 20,
                                       .group_bytes = 32u << 20,
                                       .sample_bytes = 4u << 20};

static const struct cmd_option options[] = {
    CMD_CHOICE(struct values, as, "as", 0, "KIND", kinds,
               "hudi, or hive: a plain directory of COL=VALUE paths (hudi where there is such a "
               "table, or --key)"),
    CMD_CHOICE(struct values, op, "op", 0, "OP", ops,
               "hudi: upsert, insert, bulk_insert, delete, insert_overwrite, "
               "insert_overwrite_table, delete_partition (upsert); hive: append, overwrite, "
               "overwrite-partitions (append)"),
    TABLE_OPTIONS(struct values),
    CMD_TEXT_LIST(struct values, partitions, "partitions", 0, "PATH,…",
                  "that insert_overwrite replaces, or delete_partition deletes"),
    CMD_CHOICE(struct values, sizing, "sizing", 0, "MODE", sizings,
               "real: by bytes; hudi: exactly as its partitioner (real)"),
    CMD_TEXT_LIST(struct values, extra, "extra", 0, "KEY=VALUE", "extra metadata of the commit"),
    CMD_FLAG(struct values, drop_metadata_table, "drop-metadata-table", 0,
             "disable the table's metadata table first, as Hudi would"),
    CMD_TEXT(struct values, partition_by, "partition-by", 'p', "A,B,…",
             "columns that become levels of the path (none: all files in DIR itself)"),
    CMD_TEXT(struct values, where, "where", 'w', "CONDITION", "only rows for which it is true"),
    CMD_TEXT(struct values, columns, "columns", 'c', "A,B,…",
             "only these; a.b is a field of a struct"),
    CMD_TEXT(struct values, schema, "schema", 0, "NAME:TYPE,…",
             "columns of text inputs, or @FILE that holds them (as DIR has them, else a sample)"),
    CMD_CHOICE(struct values, format, "format", 0, "FORMAT", formats,
               "of the inputs: parquet, csv or ndjson (by ending, else by first bytes)"),
    CMD_TEXT(struct values, delimiter, "delimiter", 0, "CHAR", "of CSV; \\t is a tab (,)"),
    CMD_FLAG(struct values, no_header, "no-header", 0, "the CSV has none"),
    CMD_TEXT(struct values, null_text, "null", 0, "TEXT",
             "means null in CSV where it is not quoted (the empty text)"),
    CMD_SIZE(struct values, sample_bytes, "sample", 0, "text to infer types from (4M)"),
    CMD_TEXT(struct values, reject, "reject", 0, "FILE",
             "records that do not fit go there as NDJSON, with the reason"),
    CMD_COUNT(struct values, files_per_partition, "files-per-partition", 0,
              "cut each partition in so many, by the hash of --distribute-by"),
    CMD_TEXT(struct values, distribute_by, "distribute-by", 0, "A,B,…",
             "with it: rows of equal values share a file"),
    CMD_COUNT(struct values, files_max, "max-created-files", 0, "stop before more (100000)"),
    CMD_COUNT(struct values, partitions_max, "max-partitions", 0,
              "stop before rows go into more (1000)"),
    CMD_SIZE(struct values, target_bytes, "target", 't', "size of a file (128M; hudi: 120M)"),
    CMD_TEXT(struct values, codec, "codec", 0, "NAME",
             "zstd, snappy, gzip, brotli, lz4 or none (zstd)"),
    CMD_COUNT(struct values, level, "level", 0,
              "of the codec: zstd 1 to 22, gzip 1 to 12, brotli 1 to 11 (its default)"),
    CMD_SIZE(struct values, group_bytes, "row-group", 0,
             "size of a row group, compressed (32M; hudi: 8M)"),
    CMD_FLAG(struct values, no_merge, "no-merge", 0,
             "leave the fragments of partitions appended to as they are"),
    {0}};

static void warn(void *arg, const char *text)
{
    out_warn(arg, "%s", text);
}

static void progress(void *arg, uint64_t rows)
{
    out_progress(arg, "rows", rows, 0);
}

/* One byte, or the two characters of \t. */
static bool delimiter_of(const char *text, char *out)
{
    if (text == NULL)
        return true;
    if (strcmp(text, "\\t") == 0)
        *out = '\t';
    else if (strlen(text) == 1)
        *out = text[0];
    else
        return false;
    return strchr("\"\r\n", *out) == NULL;
}

/* Options that only one kind has. */
static const char *const of_hive[] = {"partition-by",
                                      "files-per-partition",
                                      "distribute-by",
                                      "max-created-files",
                                      "max-partitions",
                                      "no-merge",
                                      NULL};
static const char *const of_hudi[] = {
    "key",     "partition",  "ordering",   "type",           "table-version",
    "keygen",  "hive-style", "url-encode", "no-meta-fields", "merge-mode",
    "payload", "timezone",   "name",       "database",       "set",
    "config",  "partitions", "sizing",     "extra",          "drop-metadata-table",
    NULL};

static const char *given_of(const struct cmd_call *call, const char *const *names)
{
    for (; *names != NULL; names++)
        if (cmd_given(call, *names))
            return *names;
    return NULL;
}

/* Whether the target is a Hudi table: by what was asked for, else by what is there. */
static int choose_kind(struct cmd_call *call, const struct values *values, bool *hudi)
{
    const char *own = given_of(call, of_hudi);
    bool exists = false;
    int rc;

    if (values->as >= 0)
        *hudi = values->as == 1;
    else if (own != NULL || (values->op >= 0 && values->op < OPS_OF_HUDI)) {
        *hudi = true;
    } else {
        rc = tarn_table_exists(call->cx, call->args[0], &exists);
        if (rc != TARN_OK)
            return cmd_end(call, rc);
        *hudi = exists;
        if (!exists)
            return cmd_usage(call,
                             "there is no Hudi table at %s: give --key to make one, or --as hive "
                             "for a plain directory",
                             call->args[0]);
    }
    if (!*hudi && own != NULL)
        return cmd_usage(call, "--%s is an option of Hudi tables, and --as says hive", own);
    own = given_of(call, of_hive);
    if (*hudi && own != NULL)
        return cmd_usage(call, "--%s is an option of --as hive%s", own,
                         strcmp(own, "partition-by") == 0 ? "; Hudi tables have --partition" : "");
    if (values->op >= 0 && (values->op < OPS_OF_HUDI) != *hudi)
        return cmd_usage(call, "--op %s is one of %s", ops[values->op],
                         *hudi ? "--as hive" : "Hudi tables");
    return CMD_DONE;
}

/* What is wrong with the line, or CMD_DONE. */
static int check(struct cmd_call *call, const struct values *values, bool needs_input)
{
    if (values->files_per_partition != 0 && values->distribute_by == NULL)
        return cmd_usage(call, "--files-per-partition needs --distribute-by: columns whose values "
                               "spread evenly");
    if (values->distribute_by != NULL && values->files_per_partition == 0)
        return cmd_usage(call, "--distribute-by goes with --files-per-partition");
    if (cmd_given(call, "files-per-partition") && values->files_per_partition == 0)
        return cmd_usage(call, "--files-per-partition must be more than 0");
    if (values->files_max == 0 || values->partitions_max == 0)
        return cmd_usage(call, "--max-created-files and --max-partitions must be more than 0");
    if (values->target_bytes == 0 || values->group_bytes == 0 || values->sample_bytes == 0)
        return cmd_usage(call, "--target, --row-group and --sample must be more than 0");
    if (needs_input && call->arg_count == 1 && isatty(STDIN_FILENO))
        return cmd_usage(call, "INPUT is missing: name files, or pipe rows in");
    return CMD_DONE;
}

static const char *const standard_input[] = {"-"};

static int level_of(const struct values *values)
{
    return values->level < INT_MAX ? (int)values->level : INT_MAX;
}

static enum tarn_write_format format_of(const struct values *values)
{
    return values->format < 0 ? TARN_WRITE_ANY : (enum tarn_write_format)(values->format + 1);
}

/* What both kinds of writes have of inputs, as members of their options. */
#define INPUT_OPTIONS(call, values, columns, delimiter_of_csv)                                     \
    .format = format_of(values), .where = (values)->where, .columns = (columns)->items,            \
    .column_count = (columns)->count, .schema = (values)->schema, .delimiter = (delimiter_of_csv), \
    .no_header = (values)->no_header, .null_text = (values)->null_text,                            \
    .sample_bytes = (values)->sample_bytes, .reject = (values)->reject, .warn = warn,              \
    .on_progress = progress, .arg = (call)->out

static int run_hive(struct cmd_call *call, const struct values *values, char delimiter,
                    const struct names *columns)
{
    tarn_write_options write = {
        .mode = (enum tarn_write_mode)(values->op < 0 ? 0 : values->op - OPS_OF_HUDI),
        .files_per_partition = values->files_per_partition,
        .target_bytes = values->target_bytes,
        .codec = values->codec,
        .level = level_of(values),
        .group_bytes = values->group_bytes,
        .files_max = values->files_max,
        .partitions_max = values->partitions_max,
        .no_merge = values->no_merge,
        .dry_run = call->common.dry_run,
        INPUT_OPTIONS(call, values, columns, delimiter),
    };
    struct names partitions = {0}, distribute = {0};
    bool piped = call->arg_count == 1;
    tarn_write_report *report = NULL;
    int exit_code = CMD_DONE;

    if (!names_split(values->partition_by, &partitions) ||
        !names_split(values->distribute_by, &distribute))
        exit_code = cmd_usage(call, "memory is short");
    write.partition_by = partitions.items;
    write.partition_by_count = partitions.count;
    write.distribute_by = distribute.items;
    write.distribute_by_count = distribute.count;
    if (exit_code == CMD_DONE) {
        int rc = tarn_write(call->cx, call->args[0], piped ? standard_input : call->args + 1,
                            piped ? 1 : call->arg_count - 1, &write, &report);

        out_progress_end(call->out);
        exit_code = cmd_end(call, rc);
    }
    if (exit_code == CMD_DONE)
        write_print_report(call, report);
    tarn_write_report_close(report);
    names_clear(&partitions);
    names_clear(&distribute);
    return exit_code;
}

static int run_hudi(struct cmd_call *call, const struct values *values, char delimiter,
                    const struct names *columns)
{
    enum tarn_operation op = (enum tarn_operation)(values->op < 0 ? 0 : values->op);
    tarn_table_write_options write = {
        .op = op,
        .exact_sizing = values->sizing == 1,
        .target_bytes = cmd_given(call, "target") ? values->target_bytes : 0,
        .group_bytes = cmd_given(call, "row-group") ? values->group_bytes : 0,
        .codec = values->codec,
        .level = level_of(values),
        .extra = values->extra.items,
        .extra_count = values->extra.count,
        .drop_metadata_table = values->drop_metadata_table,
        .dry_run = call->common.dry_run,
        INPUT_OPTIONS(call, values, columns, delimiter),
    };
    bool piped = call->arg_count == 1 && op != TARN_OP_DELETE_PARTITION;
    struct table_names names = {0};
    struct names partitions = {0};
    tarn_table_report *report = NULL;
    int exit_code = CMD_DONE;

    if (!table_options_of(&values->table, &names, &write.table) ||
        !names_split_list(&values->partitions, &partitions))
        exit_code = cmd_usage(call, "memory is short");
    write.partitions = partitions.items;
    write.partition_count = partitions.count;
    if (exit_code == CMD_DONE) {
        int rc = tarn_table_write(call->cx, call->args[0], piped ? standard_input : call->args + 1,
                                  piped ? 1 : call->arg_count - 1, &write, &report);

        out_progress_end(call->out);
        exit_code = cmd_end(call, rc);
    }
    if (exit_code == CMD_DONE)
        table_print_report(call, report);
    tarn_table_report_close(report);
    table_options_clear(&names);
    names_clear(&partitions);
    return exit_code;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    struct names columns = {0};
    char delimiter = 0;
    bool hudi = false;
    int exit_code = choose_kind(call, values, &hudi);

    if (exit_code == CMD_DONE)
        exit_code = check(call, values, !hudi || values->op != TARN_OP_DELETE_PARTITION);
    if (exit_code == CMD_DONE && !delimiter_of(values->delimiter, &delimiter))
        exit_code =
            cmd_usage(call, "--delimiter '%s': it is one character, or \\t", values->delimiter);
    if (exit_code == CMD_DONE && !names_split(values->columns, &columns))
        exit_code = cmd_usage(call, "memory is short");
    if (exit_code == CMD_DONE)
        exit_code = (hudi ? run_hudi : run_hive)(call, values, delimiter, &columns);
    names_clear(&columns);
    return exit_code;
}

const struct cmd cmd_write = {
    .name = "write",
    .help = "write rows into a Hudi table or a directory, as few well-sized files",
    .synopsis = "DIR [INPUT...]",
    .about =
        "INPUT: Parquet files and directories of them, CSV (RFC 4180), NDJSON, each also as .gz or "
        ".zst; globs (* ? [] **) in quotes; \"-\" for standard input, which is also read when no "
        "INPUT is given. Several are one stream of rows; their columns are matched by name.\n\n"
        "Into a Hudi table: one commit, seen whole or not at all; what a crash left is rolled back "
        "by the next write. A missing table is made by --key, --partition, --ordering. upsert "
        "replaces rows of the same key, or with --ordering the older ones; rows whose "
        "_hoodie_is_deleted is true are deleted. delete takes the key and partition columns alone. "
        "New rows go to small files first, and into new files of the target size; row groups "
        "without a changed row are carried over as they are. Options of Hudi have Hudi's names "
        "(--set hoodie.parquet.max.file.size=125829120, or --config FILE); one that tarn does not "
        "know is refused.\n\n"
        "Into a plain directory (--as hive) rows are gathered by partition before they are "
        "written, so each partition gets the fewest "
        "well-sized files, whatever order they come in; what --memory does not hold is spilled "
        "beside DIR. The values of partition columns stand in the paths (dt=2024-05-12/city=Ulm) "
        "as Hive escapes them, not in the files; a null is __HIVE_DEFAULT_PARTITION__.\n\n"
        "Nothing is visible before the end, and then all of it; what fails or is interrupted "
        "leaves DIR as it was. overwrite replaces all that is there, overwrite-partitions the "
        "partitions that the rows belong to. After an append the partitions it touched are merged "
        "by the rule of `tarn merge`.\n\n"
        "Columns that DIR has keep the types that they have there: text is read as that type, "
        "other values are cast where none changes. Else types come from --schema, or from a "
        "sample of text: int64, double, boolean, date, timestamp, and string for all the rest. "
        "TYPE: boolean, tinyint, smallint, int, bigint, float, double, decimal(p,s), string, "
        "binary, date, timestamp (no zone), timestamptz (UTC), array<T>, map<K,V>, "
        "struct<a:T,…>, with \"not null\" after it. A value that does not fit is an error naming "
        "line and column, or goes to --reject.\n\n"
        "Exit code 4 when another run holds the directory or table.",
    .example = "# changes into a Hudi table, which is made the first time\n"
               "tarn write lake/orders changes.ndjson --key order_id --partition dt --ordering ts\n"
               "# what goes: the keys, and where they are\n"
               "tarn write lake/orders gone.csv --op delete\n"
               "# a day of CSV, a directory per day and city\n"
               "tarn write lake/events 'in/2024-05-12*.csv.gz' --as hive --partition-by dt,city\n"
               "# replace the days that are in a file, from a pipe\n"
               "zcat day.json.gz | tarn write lake/events --as hive -p dt,city --op "
               "overwrite-partitions --format ndjson\n"
               "# what would be written\n"
               "tarn write lake/events more.parquet --as hive -p dt,city --dry-run",
    .options = options,
    .args_min = 1,
    .args_max = CMD_ARGS_ANY,
    .values_size = sizeof(struct values),
    .defaults = &defaults,
    .changes = true,
    .run = run,
};
