/* tarn write DIR INPUT…: rows into a directory of Parquet files, partitioned as Hive does it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "tarn/write.h"
#include "write_print.h"

struct values {
    const char *partition_by, *where, *columns, *schema, *delimiter, *null_text, *reject,
        *distribute_by, *codec;
    uint64_t files_per_partition, files_max, partitions_max, target_bytes, group_bytes, level,
        sample_bytes;
    int as, op, format;
    bool no_header, no_merge;
};

static const char *const kinds[] = {"hive", NULL};
static const char *const ops[] = {"append", "overwrite", "overwrite-partitions", NULL};
static const char *const formats[] = {"parquet", "csv", "ndjson", NULL};

static const struct values defaults = {.as = -1,
                                       .format = -1,
                                       .files_max = 100000,
                                       .partitions_max = 1000,
                                       .target_bytes = 128u << 20,
                                       .group_bytes = 32u << 20,
                                       .sample_bytes = 4u << 20};

static const struct cmd_option options[] = {
    CMD_CHOICE(struct values, as, "as", 0, "KIND", kinds,
               "hive: a plain directory, partitioned by COL=VALUE paths"),
    CMD_TEXT(struct values, partition_by, "partition-by", 'p', "A,B,…",
             "columns that become levels of the path (none: all files in DIR itself)"),
    CMD_CHOICE(struct values, op, "op", 0, "OP", ops,
               "append, overwrite, or overwrite-partitions (append)"),
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
    CMD_SIZE(struct values, target_bytes, "target", 't', "size of a file (128M)"),
    CMD_TEXT(struct values, codec, "codec", 0, "NAME",
             "zstd, snappy, gzip, brotli, lz4 or none (zstd)"),
    CMD_COUNT(struct values, level, "level", 0,
              "of the codec: zstd 1 to 22, gzip 1 to 12, brotli 1 to 11 (its default)"),
    CMD_SIZE(struct values, group_bytes, "row-group", 0, "size of a row group, compressed (32M)"),
    CMD_FLAG(struct values, no_merge, "no-merge", 0,
             "leave the fragments of partitions appended to as they are"),
    {0}};

/* A list of names split at commas, which quotes keep. */
struct names {
    char *text;
    const char **items;
    size_t count;
};

static void names_clear(struct names *names)
{
    free(names->text);
    free((void *)names->items);
}

/* NULL text: no names. False when memory is short. */
static bool names_split(const char *text, struct names *out)
{
    char *to, quote = 0;

    if (text == NULL)
        return true;
    out->text = strdup(text);
    out->items = calloc(strlen(text) + 1, sizeof *out->items);
    if (out->text == NULL || out->items == NULL)
        return false;
    out->items[out->count++] = to = out->text;
    for (const char *at = text; *at != '\0'; at++) {
        if (quote == 0 && (*at == '`' || *at == '"')) {
            quote = *at;
        } else if (quote != 0 && *at == quote) {
            quote = 0;
        } else if (quote == 0 && *at == ',') {
            *to++ = '\0';
            out->items[out->count++] = to;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return true;
}

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

/* What is wrong with the line, or CMD_DONE. */
static int check(struct cmd_call *call, const struct values *values)
{
    if (values->as < 0)
        return cmd_usage(call, "give --as hive: Hudi tables are not written in this version");
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
    if (call->arg_count == 1 && isatty(STDIN_FILENO))
        return cmd_usage(call, "INPUT is missing: name files, or pipe rows in");
    return CMD_DONE;
}

static int run_write(struct cmd_call *call, tarn_write_options *write)
{
    static const char *const standard_input[] = {"-"};
    bool piped = call->arg_count == 1;
    tarn_write_report *report = NULL;
    int rc = tarn_write(call->cx, call->args[0], piped ? standard_input : call->args + 1,
                        piped ? 1 : call->arg_count - 1, write, &report);

    out_progress_end(call->out);
    if (rc != TARN_OK)
        return cmd_end(call, rc);
    write_print_report(call, report);
    tarn_write_report_close(report);
    return CMD_DONE;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_write_options write = {
        .mode = (enum tarn_write_mode)values->op,
        .files_per_partition = values->files_per_partition,
        .target_bytes = values->target_bytes,
        .codec = values->codec,
        .level = values->level < INT_MAX ? (int)values->level : INT_MAX,
        .group_bytes = values->group_bytes,
        .files_max = values->files_max,
        .partitions_max = values->partitions_max,
        .no_merge = values->no_merge,
        .dry_run = call->common.dry_run,
        .format =
            values->format < 0 ? TARN_WRITE_ANY : (enum tarn_write_format)(values->format + 1),
        .where = values->where,
        .schema = values->schema,
        .no_header = values->no_header,
        .null_text = values->null_text,
        .sample_bytes = values->sample_bytes,
        .reject = values->reject,
        .warn = warn,
        .on_progress = progress,
        .arg = call->out,
    };
    struct names partitions = {0}, columns = {0}, distribute = {0};
    int exit_code = check(call, values);

    if (exit_code == CMD_DONE && !delimiter_of(values->delimiter, &write.delimiter))
        exit_code =
            cmd_usage(call, "--delimiter '%s': it is one character, or \\t", values->delimiter);
    if (exit_code == CMD_DONE && (!names_split(values->partition_by, &partitions) ||
                                  !names_split(values->columns, &columns) ||
                                  !names_split(values->distribute_by, &distribute)))
        exit_code = cmd_usage(call, "memory is short");
    write.partition_by = partitions.items;
    write.partition_by_count = partitions.count;
    write.columns = columns.items;
    write.column_count = columns.count;
    write.distribute_by = distribute.items;
    write.distribute_by_count = distribute.count;
    if (exit_code == CMD_DONE)
        exit_code = run_write(call, &write);
    names_clear(&partitions);
    names_clear(&columns);
    names_clear(&distribute);
    return exit_code;
}

const struct cmd cmd_write = {
    .name = "write",
    .help = "write rows into a partitioned directory, as few well-sized files",
    .synopsis = "DIR [INPUT...]",
    .about =
        "INPUT: Parquet files and directories of them, CSV (RFC 4180), NDJSON, each also as .gz or "
        ".zst; globs (* ? [] **) in quotes; \"-\" for standard input, which is also read when no "
        "INPUT is given. Several are one stream of rows; their columns are matched by name.\n\n"
        "Rows are gathered by partition before they are written, so each partition gets the fewest "
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
        "Exit code 4 when another run holds the directory.",
    .example = "# a day of CSV, a directory per day and city\n"
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
