/* tarn read PATH: rows out. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "tarn/read.h"

struct values {
    const char *columns, *where, *output, *partition_types, *codec, *as_of, *since, *until, *key;
    uint64_t limit;
    int format, mode, v6_slices;
    bool no_crc, skip_damaged, int96_micros, meta, ignore_merger;
};

static const char *const formats[] = {"ndjson", "csv", "parquet", NULL};

static const char *const modes[] = {"snapshot", "read_optimized", "incremental", "cdc", NULL};

static const char *const v6_slices[] = {"completion", "instant", NULL};

static const struct values defaults = {.format = -1, .mode = -1, .v6_slices = -1};

static const struct cmd_option options[] = {
    CMD_TEXT(struct values, columns, "columns", 'c', "A,B,…",
             "only these, in this order; a.b is a field of a struct"),
    CMD_TEXT(struct values, where, "where", 'w', "CONDITION", "only rows for which it is true"),
    CMD_COUNT(struct values, limit, "limit", 'n', "at most N rows"),
    CMD_TEXT(struct values, output, "output", 'o', "FILE",
             "write there; the file appears when it is whole"),
    CMD_CHOICE(struct values, format, "format", 0, "FORMAT", formats,
               "ndjson, csv or parquet (by the ending of -o, else ndjson)"),
    CMD_TEXT(struct values, codec, "codec", 0, "NAME",
             "of Parquet out: zstd, snappy, gzip, lz4, none (zstd)"),
    CMD_TEXT(struct values, partition_types, "partition-types", 0, "COL=TYPE,…",
             "types of partition columns: int, double, date, timestamp, bool, string"),
    CMD_TEXT(struct values, as_of, "as-of", 0, "INSTANT",
             "of a Hudi table: the rows as they were then; also \"2024-05-12 10:00:00\""),
    CMD_TEXT(struct values, since, "since", 0, "INSTANT",
             "of a Hudi table: only rows of commits after that; also a time, or 000: of all"),
    CMD_TEXT(struct values, until, "until", 0, "INSTANT",
             "of a Hudi table: only rows of commits up to that; also a time"),
    CMD_TEXT(struct values, key, "key", 0, "KEY", "of a Hudi table: the row of that record key"),
    CMD_FLAG(struct values, meta, "meta", 0, "of a Hudi table: its meta columns, too, in front"),
    CMD_CHOICE(struct values, mode, "mode", 0, "MODE", modes,
               "of a Hudi table: snapshot, read_optimized, incremental or cdc (snapshot, or "
               "incremental with --since or --until)"),
    CMD_FLAG(struct values, ignore_merger, "ignore-merger", 0,
             "of a Hudi table that merges rows by a program of its own: merge by commit time"),
    CMD_CHOICE(struct values, v6_slices, "v6-slices", 0, "HOW", v6_slices,
               "of a Hudi table of version 6: logs join base files as for Hudi 1.x (completion) "
               "or as for 0.x (instant) (completion)"),
    CMD_FLAG(struct values, skip_damaged, "skip-damaged", 0,
             "leave out files that cannot be read, with a warning"),
    CMD_FLAG(struct values, int96_micros, "int96-us", 0,
             "old INT96 times in microseconds, for years before 1678 and after 2261"),
    CMD_FLAG(struct values, no_crc, "no-crc", 0, "do not verify page checksums"),
    {0}};

/* Splits "a,b" in place of a copy; `backticks` and "quotes" keep their commas. */
static size_t split_columns(char *text, const char **items, size_t max)
{
    size_t count = 0;
    char *to = text;

    if (*text == '\0')
        return 0;
    items[count++] = to;
    for (char quote = 0; *text != '\0'; text++) {
        if (quote == 0 && (*text == '`' || *text == '"')) {
            quote = *text;
        } else if (quote != 0 && *text == quote) {
            quote = 0;
        } else if (quote == 0 && *text == ',' && count < max) {
            *to++ = '\0';
            items[count++] = to;
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
    return count;
}

static void warn(void *arg, const char *text)
{
    out_warn(arg, "%s", text);
}

static int write_out(void *arg, const void *bytes, size_t len)
{
    out_bytes(arg, bytes, len);
    return out_ended(arg);
}

/* A name that comes twice; NULL: none. */
static const char *find_twice(const char *const *names, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return names[i];
    return NULL;
}

/* What the rows are written as: by --format, by the ending of -o. */
static int find_format(struct cmd_call *call, enum tarn_row_format *out)
{
    const struct values *values = call->values;

    *out = values->format < 0 ? TARN_ROWS_NDJSON : (enum tarn_row_format)values->format;
    if (values->format >= 0 || values->output == NULL)
        return TARN_OK;
    return tarn_read_format(call->cx, values->output, out);
}

/* The columns asked for, which point into *text. */
static int take_columns(const struct values *values, tarn_read_options *read, char **text,
                        const char ***columns)
{
    size_t max;

    if (values->columns == NULL)
        return TARN_OK;
    max = strlen(values->columns) + 1;
    *text = strdup(values->columns);
    *columns = calloc(max, sizeof **columns);
    if (*text == NULL || *columns == NULL)
        return TARN_E_NOMEM;
    read->columns = *columns;
    read->column_count = split_columns(*text, *columns, max);
    return TARN_OK;
}

static int put_rows(struct cmd_call *call, struct ArrowArrayStream *rows,
                    enum tarn_row_format format)
{
    const struct values *values = call->values;
    tarn_save_options save = {.format = format, .codec = values->codec};
    struct out_word word;
    uint64_t count = 0;
    int rc;

    if (values->output == NULL)
        return tarn_read_print(call->cx, rows, format, write_out, call->out);
    rc = tarn_read_save(call->cx, rows, values->output, &save, &count);
    if (rc == TARN_OK)
        out_note(call->out, "%s: %s", values->output, out_many(&word, count, "row", NULL));
    return rc;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_read_options read = {.where = values->where,
                              .has_limit = cmd_given(call, "limit"),
                              .limit = values->limit,
                              .partition_types = values->partition_types,
                              .skip_crc = values->no_crc,
                              .skip_damaged = values->skip_damaged,
                              .int96_micros = values->int96_micros,
                              .as_of = values->as_of,
                              .key = values->key,
                              .meta = values->meta,
                              .mode = values->mode < 0 ? NULL : modes[values->mode],
                              .since = values->since,
                              .until = values->until,
                              .ignore_merger = values->ignore_merger,
                              .v6_slices =
                                  values->v6_slices < 0 ? NULL : v6_slices[values->v6_slices],
                              .warn = warn,
                              .arg = call->out};
    struct ArrowArrayStream rows = {0};
    enum tarn_row_format format;
    const char **columns = NULL;
    const char *twice;
    char *text = NULL;
    int usage = 0, rc;

    if (values->codec != NULL && values->format >= 0 && values->format != TARN_ROWS_PARQUET)
        return cmd_usage(call, "--codec is for Parquet out");
    if (call->common.json && values->format > 0)
        return cmd_usage(call, "--json prints NDJSON; leave out --format");
    if (values->columns != NULL && *values->columns == '\0')
        return cmd_usage(call, "--columns names none; leave it out for all");
    if (find_format(call, &format) != TARN_OK)
        return cmd_end(call, tarn_cx_status(call->cx));
    rc = take_columns(values, &read, &text, &columns);
    if (rc != TARN_OK)
        goto done;
    twice = find_twice(columns, read.column_count);
    if (twice != NULL && format != TARN_ROWS_CSV) {
        usage = cmd_usage(call, "--columns names %s twice, which CSV alone can hold", twice);
        goto done;
    }
    rc = tarn_read_open(call->cx, call->args[0], &read, &rows);
    if (rc == TARN_OK) {
        rc = put_rows(call, &rows, format);
        rows.release(&rows);
    }
done:
    free(columns);
    free(text);
    return usage != 0 ? usage : cmd_end(call, rc);
}

const struct cmd cmd_read = {
    .name = "read",
    .help = "rows of a Parquet file, a partitioned directory or a Hudi table",
    .synopsis = "PATH",
    .about =
        "Prints rows as NDJSON, one object a line, or writes CSV or Parquet. Rows come in the "
        "order of partition paths, file names and rows, whatever --jobs is.\n\n"
        "In a directory, files whose schemas differ are unified by name: a column that a file "
        "lacks is null there, and types are widened where no value changes (int to long, int and "
        "float to double). Partition columns (dt=2024-05-12) come last; their values are "
        "URL-decoded, __HIVE_DEFAULT_PARTITION__ and empty ones are null, and they are typed when "
        "every value reads back as written, so 007 stays text. A partition column wins over a "
        "column of the same name in the files, as in Spark and DuckDB. Names that begin with _ or "
        ". are no data, _year=2024 is.\n\n"
        "Of a Hudi table (a directory with .hoodie) the rows of the newest snapshot are read, base "
        "files merged with the logs on top of them, by the rules of the table; with --as-of those "
        "of an earlier one; with --since and --until those that commits of that range wrote "
        "(incremental); with --mode cdc what they changed, as rows op, ts_ms, before, after. A "
        "time "
        "is an instant (20240512103000123), a date, or a date and time of the table's zone. Bounds "
        "of incremental reads are completion times of commits in tables of version 8 and later, "
        "else requested times, of --mode cdc requested times in all; --since itself is not in the "
        "range, --until is.\n\n"
        "Columns come by name, or by number where the table numbers them (schema on read): those "
        "that a file lacks are null, widened ones are cast. Partitions are ruled out by their "
        "paths "
        "where those tell the values, files by column statistics of the metadata table and by the "
        "range and the filter of record keys; --key asks the record index. Conditions see merged "
        "rows. "
        "`docs/reading-hudi.md` tells the rules, and where releases of Hudi differ.\n\n"
        "CONDITION: comparisons (= <> < <= > >=), [NOT] IN (…), [NOT] BETWEEN … AND …, [NOT] LIKE, "
        "IS [NOT] NULL, AND, OR, NOT, parentheses. Columns are bare or in `backticks`, fields of "
        "structs a.b; text is in 'single' quotes, or in \"double\" ones where no column has that "
        "name. Integers, decimals and times compare exactly; NaN equals NaN and is greater than "
        "every number, as in Spark and DuckDB. Partitions, row groups and pages that cannot match "
        "are not read.\n\n"
        "Times are ISO 8601 with Z (without, where the column is not adjusted to UTC), decimals "
        "numbers with all digits, binary base64, maps objects, NaN and infinities strings. In CSV "
        "a null is empty, an empty text is \"\", and nested values are JSON.\n\n"
        "Dates and times before 1582-10-15 that an old Spark stored in the Julian calendar (the "
        "footer says so) come as the same year, month and day of today's calendar. A warning names "
        "file and column where the zone or the calendar of such values is not known.",
    .example =
        "# the busiest day, three columns\n"
        "tarn read lake/events --where 'dt = \"2024-05-12\" AND amount > 100' -c id,dt,amount\n"
        "# one row of a Hudi table, with its meta columns\n"
        "tarn read lake/orders --key 4711 --meta\n"
        "# what came in since a commit was completed\n"
        "tarn read lake/orders --since 20240512103001456\n"
        "# one file out of many\n"
        "tarn read lake/events -o events.parquet",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .defaults = &defaults,
    .run = run,
};
