/* tarn schema PATH: the columns of a table, a directory or a file. */
#include <string.h>

#include "cmd.h"
#include "tarn/timeline.h"

struct values {
    const char *as_of;
    bool avro, meta;
};

static const struct cmd_option options[] = {
    CMD_FLAG(struct values, avro, "avro", 0, "the Avro schema of a Hudi table, as JSON"),
    CMD_FLAG(struct values, meta, "meta", 0, "with the meta columns"),
    CMD_TEXT(struct values, as_of, "as-of", 0, "TIME", "as it was at an instant"),
    {0}};

static void print(struct cmd_call *call, const tarn_columns *columns)
{
    static const struct out_column titles[] = {
        {"COLUMN", false}, {"NULLS", false}, {"USE", false}, {"TYPE", false}};
    struct out_table *table = out_table_open(call->out, titles, 4);

    for (size_t i = 0; i < columns->column_count; i++) {
        const tarn_table_column *column = &columns->columns[i];
        const char *comma = column->key ? ", " : "";

        out_cell_name(table, column->name, strlen(column->name));
        out_cell(table, "%s", column->nullable ? "yes" : "no");
        out_cell(table, "%s%s%s%s%s",
                 column->meta  ? "meta"
                 : column->key ? "key"
                               : "",
                 column->partition ? comma : "", column->partition ? "partition" : "",
                 column->ordering ? (column->key || column->partition ? ", " : "") : "",
                 column->ordering ? "ordering" : "");
        out_cell(table, "%s", column->type);
    }
    out_table_close(table);
}

static void print_json(struct cmd_call *call, const tarn_columns *columns)
{
    struct out_json json = out_json_open(call->out, "schema", 1);

    out_json_text(&json, "path", columns->path);
    out_json_bool(&json, "hudi", columns->hudi);
    out_json_bool(&json, "known", columns->known);
    out_json_array(&json, "columns");
    for (size_t i = 0; i < columns->column_count; i++) {
        const tarn_table_column *column = &columns->columns[i];

        out_json_object(&json, NULL);
        out_json_name(&json, "name", column->name, strlen(column->name));
        out_json_text(&json, "type", column->type);
        out_json_bool(&json, "nullable", column->nullable);
        out_json_bool(&json, "meta", column->meta);
        out_json_bool(&json, "key", column->key);
        out_json_bool(&json, "partition", column->partition);
        out_json_bool(&json, "ordering", column->ordering);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_raw(&json, "avro", columns->avro);
    out_json_close(&json);
}

/* CMD_DONE, or the exit code after a message. */
static int show(struct cmd_call *call, const tarn_columns *columns)
{
    const struct values *values = call->values;

    if (call->common.json && !values->avro) {
        print_json(call, columns);
        return CMD_DONE;
    }
    if (!columns->known) {
        out_error(call->out,
                  "%s: the columns are not known: the table has no commit, and was made without "
                  "columns; the first write brings them",
                  columns->path);
        return CMD_FAILED;
    }
    if (!values->avro) {
        print(call, columns);
        return CMD_DONE;
    }
    if (columns->avro == NULL) {
        out_error(call->out, "%s: no Hudi table, so it has no Avro schema; leave --avro away",
                  columns->path);
        return CMD_FAILED;
    }
    out_text(call->out, "%s\n", columns->avro);
    return CMD_DONE;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    const tarn_columns_options chosen = {.as_of = values->as_of, .meta = values->meta};
    tarn_columns *columns = NULL;
    int rc = tarn_columns_open(call->cx, call->args[0], &chosen, &columns);
    int code = rc == TARN_OK ? show(call, columns) : CMD_DONE;

    tarn_columns_close(columns);
    return rc != TARN_OK ? cmd_end(call, rc) : code;
}

const struct cmd cmd_schema = {
    .name = "schema",
    .help = "the columns of a table, a directory or a file",
    .synopsis = "PATH",
    .about =
        "Prints each column with its type, whether it may be null, and what the table uses it "
        "for. Of a Hudi table the newest commit tells; --as-of asks for an earlier one, --avro "
        "prints the schema as the table stores it. Of a directory of Parquet files the common "
        "columns are shown, partition columns behind them.",
    .example = "tarn schema lake/orders\n"
               "# for a schema registry\n"
               "tarn schema lake/orders --avro",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .run = run,
};
