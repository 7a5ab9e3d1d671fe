/* tarn show PATH: one screen on a file or a directory. */
#include <string.h>

#include "cmd.h"
#include "show_log.h"
#include "show_hfile.h"
#include "show_print.h"
#include "tarn/inspect.h"

#define COLUMNS_SHOWN 40
#define GROUPS_SHOWN  8
#define KEYS_SHOWN    12
#define FIELDS_SHOWN  30
#define PARTS_SHOWN   10
#define VALUE_SHOWN   72

struct values {
    bool full;
};

static const struct cmd_option options[] = {
    CMD_FLAG(struct values, full, "full", 0, "everything, however long"), {0}};

static size_t shown(const struct cmd_call *call, size_t count, size_t usual)
{
    const struct values *values = call->values;

    return values->full || count <= usual + 1 ? count : usual;
}

static void more(struct out *out, size_t count, size_t printed, const char *what)
{
    struct out_word word;

    if (printed < count)
        out_text(out, "… %s more %s; --full shows all\n", out_count(&word, count - printed), what);
}

static double ratio(uint64_t uncompressed, uint64_t compressed)
{
    return compressed == 0 ? 1.0 : (double)uncompressed / (double)compressed;
}

/* "all", "none", or "3/7". */
static void cell_share(struct out_table *table, uint64_t have, size_t all)
{
    if (have == 0)
        out_cell(table, "-");
    else if (have == all)
        out_cell(table, "yes");
    else
        out_cell(table, "%llu/%zu", (unsigned long long)have, all);
}

static void cell_text(struct out_table *table, const char *text)
{
    out_cell_name(table, text != NULL ? text : "-", text != NULL ? strlen(text) : 1);
}

static void print_columns(struct cmd_call *call, const tarn_inspect *file)
{
    static const struct out_column titles[] = {
        {"COLUMN", false}, {"TYPE", false},  {"ENCODINGS", false}, {"CODEC", false},
        {"SIZE", true},    {"RATIO", true},  {"NULLS", true},      {"MIN", false},
        {"MAX", false},    {"INDEX", false}, {"BLOOM", false}};
    struct out_table *table = out_table_open(call->out, titles, sizeof titles / sizeof titles[0]);
    size_t count = shown(call, file->column_count, COLUMNS_SHOWN);

    for (size_t i = 0; i < count; i++) {
        const tarn_inspect_column *c = &file->columns[i];

        out_cell_name(table, c->name, strlen(c->name));
        out_cell(table, "%s%s%s", c->physical, c->logical[0] != '\0' ? " " : "", c->logical);
        out_cell(table, "%s", c->encodings);
        out_cell(table, "%s", c->codecs);
        out_cell_size(table, c->compressed_bytes);
        out_cell(table, "%.1f", ratio(c->uncompressed_bytes, c->compressed_bytes));
        if (c->nulls < 0)
            out_cell(table, "?");
        else
            out_cell_count(table, (uint64_t)c->nulls);
        cell_text(table, c->min);
        cell_text(table, c->max);
        cell_share(table, c->column_indexes, file->group_count);
        cell_share(table, c->blooms, file->group_count);
    }
    out_table_close(table);
    more(call->out, file->column_count, count, "columns");
}

static void print_groups(struct cmd_call *call, const tarn_inspect *file)
{
    static const struct out_column titles[] = {
        {"GROUP", true}, {"ROWS", true}, {"SIZE", true}, {"UNCOMPRESSED", true}, {"AT", true}};
    struct out_table *table = out_table_open(call->out, titles, sizeof titles / sizeof titles[0]);
    size_t count = shown(call, file->group_count, GROUPS_SHOWN);

    for (size_t i = 0; i < count; i++) {
        out_cell(table, "%zu", i);
        out_cell_count(table, (uint64_t)file->groups[i].rows);
        out_cell_size(table, file->groups[i].compressed_bytes);
        out_cell_size(table, file->groups[i].uncompressed_bytes);
        out_cell(table, "%llu", (unsigned long long)file->groups[i].offset);
    }
    out_table_close(table);
    more(call->out, file->group_count, count, "row groups");
}

static void print_keys(struct cmd_call *call, const tarn_inspect *file)
{
    const struct values *values = call->values;
    size_t count = shown(call, file->key_count, KEYS_SHOWN);
    struct out_word word;

    for (size_t i = 0; i < count; i++) {
        const tarn_inspect_key *key = &file->keys[i];
        size_t len =
            values->full || key->value_bytes <= VALUE_SHOWN ? key->value_bytes : VALUE_SHOWN;

        out_text(call->out, "  ");
        out_name(call->out, key->key, strlen(key->key));
        if (key->value != NULL) {
            out_text(call->out, " = ");
            while (len > 0 && len < key->value_bytes && (key->value[len] & 0xC0) == 0x80)
                len--;
            out_name(call->out, key->value, len);
        }
        if (len < key->value_bytes)
            out_text(call->out, "… (%s)", out_size(&word, key->value_bytes));
        out_text(call->out, "\n");
    }
    more(call->out, file->key_count, count, "keys");
}

static void print_hudi(struct cmd_call *call, const tarn_inspect_hudi *hudi)
{
    struct out_word word;

    out_text(call->out, "base file of a Hudi table: ");
    if (hudi->filter != NULL)
        out_text(call->out, "key filter %s of %s", hudi->filter,
                 out_size(&word, hudi->filter_bytes));
    else
        out_text(call->out, "no key filter");
    if (hudi->min_key != NULL && hudi->max_key != NULL) {
        out_text(call->out, ", keys from ");
        out_name(call->out, hudi->min_key, strlen(hudi->min_key));
        out_text(call->out, " to ");
        out_name(call->out, hudi->max_key, strlen(hudi->max_key));
    }
    out_text(call->out, "\n");
}

static void print_file(struct cmd_call *call, const tarn_inspect *file)
{
    const struct values *values = call->values;
    struct out_word a, b, c;

    out_name(call->out, file->path, strlen(file->path));
    out_text(call->out, "\nParquet version %d, by %s\n", (int)file->version,
             file->created_by[0] != '\0' ? file->created_by : "an unnamed writer");
    out_text(call->out, "%s, %s, ", out_many(&a, (uint64_t)file->rows, "row", NULL),
             out_size(&b, file->file_bytes));
    out_text(call->out, "%s", out_many(&a, file->group_count, "row group", NULL));
    out_text(call->out, ", %s", out_many(&b, file->column_count, "column", NULL));
    out_text(call->out, ", footer %s, data %.1f:1\n", out_size(&c, file->footer_bytes),
             ratio(file->uncompressed_bytes, file->compressed_bytes));
    if (file->hudi != NULL)
        print_hudi(call, file->hudi);
    if (values->full) {
        out_text(call->out, "\n");
        out_text(call->out, "%s", file->schema);
    }
    if (file->column_count > 0) {
        out_text(call->out, "\n");
        print_columns(call, file);
    }
    if (file->group_count > 0) {
        out_text(call->out, "\n");
        print_groups(call, file);
    }
    if (file->key_count > 0) {
        out_text(call->out, "\nKEYS\n");
        print_keys(call, file);
    }
}

static void json_column(struct out_json *json, const tarn_inspect_column *c)
{
    out_json_name(json, "name", c->name, strlen(c->name));
    out_json_text(json, "physical", c->physical);
    out_json_text(json, "logical", c->logical[0] != '\0' ? c->logical : NULL);
    out_json_u64(json, "max_definition", c->max_definition);
    out_json_u64(json, "max_repetition", c->max_repetition);
    out_json_text(json, "encodings", c->encodings);
    out_json_text(json, "codecs", c->codecs);
    out_json_u64(json, "compressed_bytes", c->compressed_bytes);
    out_json_u64(json, "uncompressed_bytes", c->uncompressed_bytes);
    out_json_i64(json, "values", c->values);
    if (c->nulls < 0)
        out_json_null(json, "nulls");
    else
        out_json_i64(json, "nulls", c->nulls);
    out_json_text(json, "min", c->min);
    out_json_text(json, "max", c->max);
    out_json_u64(json, "statistics", c->statistics);
    out_json_u64(json, "column_indexes", c->column_indexes);
    out_json_u64(json, "offset_indexes", c->offset_indexes);
    out_json_u64(json, "blooms", c->blooms);
}

static int json_groups(struct cmd_call *call, struct out_json *json, const tarn_inspect *file)
{
    tarn_inspect_chunk chunk = {0};
    int rc = TARN_OK;

    out_json_array(json, "groups");
    for (size_t g = 0; g < file->group_count && rc == TARN_OK; g++) {
        out_json_object(json, NULL);
        out_json_i64(json, "rows", file->groups[g].rows);
        out_json_u64(json, "compressed_bytes", file->groups[g].compressed_bytes);
        out_json_u64(json, "uncompressed_bytes", file->groups[g].uncompressed_bytes);
        out_json_u64(json, "offset", file->groups[g].offset);
        out_json_array(json, "columns");
        for (size_t c = 0; c < file->column_count && rc == TARN_OK; c++) {
            rc = tarn_inspect_chunk_at(call->cx, file, g, c, &chunk);
            if (rc != TARN_OK)
                break;
            out_json_object(json, NULL);
            json_column(json, &chunk.column);
            out_json_i64(json, "data_offset", chunk.data_offset);
            if (chunk.dictionary_offset >= 0)
                out_json_i64(json, "dictionary_offset", chunk.dictionary_offset);
            else
                out_json_null(json, "dictionary_offset");
            out_json_object_end(json);
        }
        out_json_array_end(json);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    tarn_inspect_chunk_clear(&chunk);
    return rc;
}

static int json_file(struct cmd_call *call, const tarn_inspect *file)
{
    struct out_json json = out_json_open(call->out, "show.parquet", 1);
    int rc;

    out_json_name(&json, "path", file->path, strlen(file->path));
    out_json_text(&json, "created_by", file->created_by);
    out_json_i64(&json, "format_version", file->version);
    out_json_u64(&json, "file_bytes", file->file_bytes);
    out_json_u64(&json, "footer_bytes", file->footer_bytes);
    out_json_u64(&json, "compressed_bytes", file->compressed_bytes);
    out_json_u64(&json, "uncompressed_bytes", file->uncompressed_bytes);
    out_json_i64(&json, "rows", file->rows);
    out_json_text(&json, "schema", file->schema);
    if (file->hudi != NULL) {
        out_json_object(&json, "hudi");
        out_json_text(&json, "filter", file->hudi->filter);
        out_json_u64(&json, "filter_bytes", file->hudi->filter_bytes);
        out_json_text(&json, "min_key", file->hudi->min_key);
        out_json_text(&json, "max_key", file->hudi->max_key);
        out_json_object_end(&json);
    }
    out_json_array(&json, "columns");
    for (size_t i = 0; i < file->column_count; i++) {
        out_json_object(&json, NULL);
        json_column(&json, &file->columns[i]);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    rc = json_groups(call, &json, file);
    show_print_keys_json(&json, file->keys, file->key_count);
    out_json_close(&json);
    return rc;
}

static void print_dir(struct cmd_call *call, const tarn_inspect_dir *dir)
{
    static const struct out_column fields[] = {{"COLUMN", false}, {"TYPE", false}, {"FROM", false}};
    static const struct out_column parts[] = {
        {"PARTITION", false}, {"FILES", true}, {"SIZE", true}, {"ROWS", true}};
    size_t count = shown(call, dir->field_count, FIELDS_SHOWN);
    struct out_word a, b, c, d;
    struct out_table *table;

    out_name(call->out, dir->path, strlen(dir->path));
    out_text(call->out, "\nplain directory: %s, %s, %s in %s\n",
             out_many(&a, dir->files, "Parquet file", NULL), out_size(&b, dir->bytes),
             out_many(&c, (uint64_t)dir->rows, "row", NULL),
             out_many(&d, dir->partition_count, "partition", NULL));
    if (dir->schema_count > 1)
        out_text(call->out, "%zu different schemas\n", dir->schema_count);
    if (dir->damaged + dir->other > 0)
        out_text(call->out, "%s cannot be read, %s no data; `tarn doctor` names them\n",
                 out_many(&a, dir->damaged, "file", NULL),
                 out_many(&b, dir->other, "other entry is", "other entries are"));
    if (dir->schema_problem != NULL)
        out_text(call->out, "no common schema: %s\n", dir->schema_problem);
    if (dir->field_count > 0) {
        out_text(call->out, "\n");
        table = out_table_open(call->out, fields, 3);
        for (size_t i = 0; i < count; i++) {
            out_cell_name(table, dir->fields[i].name, strlen(dir->fields[i].name));
            out_cell(table, "%s", dir->fields[i].type);
            out_cell(table, "%s", dir->fields[i].partition ? "path" : "files");
        }
        out_table_close(table);
        more(call->out, dir->field_count, count, "columns");
    }
    if (dir->partition_count == 0)
        return;
    count = shown(call, dir->partition_count, PARTS_SHOWN);
    out_text(call->out, "\n");
    table = out_table_open(call->out, parts, 4);
    for (size_t i = 0; i < count; i++) {
        const tarn_inspect_partition *part = &dir->partitions[i];

        cell_text(table, part->path[0] != '\0' ? part->path : ".");
        out_cell_count(table, part->files);
        out_cell_size(table, part->bytes);
        out_cell_count(table, (uint64_t)part->rows);
    }
    out_table_close(table);
    more(call->out, dir->partition_count, count, "partitions");
}

static void json_dir(struct cmd_call *call, const tarn_inspect_dir *dir)
{
    struct out_json json = out_json_open(call->out, "show.dir", 1);

    out_json_name(&json, "path", dir->path, strlen(dir->path));
    out_json_u64(&json, "files", dir->files);
    out_json_u64(&json, "bytes", dir->bytes);
    out_json_i64(&json, "rows", dir->rows);
    out_json_u64(&json, "directories", dir->directories);
    out_json_u64(&json, "damaged", dir->damaged);
    out_json_u64(&json, "other", dir->other);
    out_json_u64(&json, "schema_count", dir->schema_count);
    out_json_text(&json, "schema_problem", dir->schema_problem);
    out_json_array(&json, "fields");
    for (size_t i = 0; i < dir->field_count; i++) {
        out_json_object(&json, NULL);
        out_json_name(&json, "name", dir->fields[i].name, strlen(dir->fields[i].name));
        out_json_text(&json, "type", dir->fields[i].type);
        out_json_bool(&json, "partition", dir->fields[i].partition);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_array(&json, "partitions");
    for (size_t i = 0; i < dir->partition_count; i++) {
        const tarn_inspect_partition *part = &dir->partitions[i];

        out_json_object(&json, NULL);
        out_json_name(&json, "path", part->path, strlen(part->path));
        out_json_u64(&json, "files", part->files);
        out_json_u64(&json, "bytes", part->bytes);
        out_json_i64(&json, "rows", part->rows);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_close(&json);
}

static int run_dir(struct cmd_call *call)
{
    tarn_inspect_dir *dir = NULL;
    int rc = tarn_inspect_dir_open(call->cx, call->args[0], &dir);

    if (rc == TARN_OK && call->common.json)
        json_dir(call, dir);
    else if (rc == TARN_OK)
        print_dir(call, dir);
    tarn_inspect_dir_close(dir);
    return rc;
}

static int run_file(struct cmd_call *call)
{
    tarn_inspect *file = NULL;
    int rc = tarn_inspect_open(call->cx, call->args[0], &file);

    if (rc == TARN_OK && call->common.json)
        rc = json_file(call, file);
    else if (rc == TARN_OK)
        print_file(call, file);
    tarn_inspect_close(file);
    return rc;
}

static int run_table(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_overview *table = NULL;
    int rc = tarn_overview_open(call->cx, call->args[0], &table);

    if (rc == TARN_OK && call->common.json)
        show_print_table_json(call, table, "show.hudi");
    else if (rc == TARN_OK)
        show_print_table(call, table, values->full ? NULL : "--full shows all");
    if (rc == TARN_OK && !call->common.json)
        show_print_warnings(call, table);
    tarn_overview_close(table);
    return rc;
}

static int run_text(struct cmd_call *call, enum tarn_inspect_kind kind)
{
    const struct values *values = call->values;
    tarn_inspect_text *text = NULL;
    int rc = tarn_inspect_text_open(call->cx, call->args[0], kind, &text);

    if (rc == TARN_OK && call->common.json)
        show_print_text_json(call, text);
    else if (rc == TARN_OK)
        show_print_text(call, text, values->full);
    tarn_inspect_text_close(text);
    return rc;
}

static int run_log(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_inspect_log *log = NULL;
    int rc = tarn_inspect_log_open(call->cx, call->args[0], &log);

    if (rc == TARN_OK && call->common.json)
        show_log_json(call, log);
    else if (rc == TARN_OK)
        show_log_blocks(call, log, values->full);
    tarn_inspect_log_close(log);
    return rc;
}

static int run_hfile(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_inspect_hfile *file = NULL;
    int rc = tarn_inspect_hfile_open(call->cx, call->args[0], &file);

    if (rc == TARN_OK && call->common.json)
        show_hfile_print_json(call, file);
    else if (rc == TARN_OK)
        show_hfile_print(call, file, values->full);
    tarn_inspect_hfile_close(file);
    return rc;
}

static int run(struct cmd_call *call)
{
    enum tarn_inspect_kind kind = TARN_INSPECT_PARQUET;
    int rc = tarn_inspect_kind_of(call->cx, call->args[0], &kind);

    if (rc == TARN_OK && kind == TARN_INSPECT_DIR)
        rc = run_dir(call);
    else if (rc == TARN_OK && kind == TARN_INSPECT_HUDI)
        rc = run_table(call);
    else if (rc == TARN_OK && kind == TARN_INSPECT_PARQUET)
        rc = run_file(call);
    else if (rc == TARN_OK && kind == TARN_INSPECT_LOG)
        rc = run_log(call);
    else if (rc == TARN_OK && kind == TARN_INSPECT_HFILE)
        rc = run_hfile(call);
    else if (rc == TARN_OK)
        rc = run_text(call, kind);
    return cmd_end(call, rc);
}

const struct cmd cmd_show = {
    .name = "show",
    .help = "one screen on a table, a directory, or any one file",
    .synopsis = "PATH",
    .about =
        "For a Parquet file: writer, row groups, and for each column its types, encodings, codec, "
        "sizes, nulls, bounds, and whether it has a page index and a bloom filter. Bounds are "
        "shown where the file's statistics can be trusted; of a base file of a Hudi table the "
        "key filter and the range of keys, too. For a directory: files, bytes, rows, the "
        "common schema, and the first partitions. For a Hudi table: what it is, the last "
        "commits, file groups, rows and small files, and warnings. hoodie.properties, other "
        "properties, files of a timeline and any Avro file are shown as what they hold. Of a log "
        "of a Hudi table (.log. files, .cdc, archived commits of version 6) its blocks; of an "
        "HFile of a metadata table the entries, first and last key, and the file info.\n\n"
        "Long lists are cut; --full shows all, and the schema as a message. --json prints "
        "everything, chunk by chunk.",
    .example = "# what a file holds\n"
               "tarn show lake/events/dt=2024-05-12/part-0.parquet\n"
               "# a Hudi table, and one file of it\n"
               "tarn show lake/orders\n"
               "tarn show lake/orders/.hoodie/hoodie.properties\n"
               "tarn show lake/orders/.3e93c8a9-0_20260307162604102.log.1_0-52-126\n"
               "# the encodings of each column, by jq\n"
               "tarn show part-0.parquet --json | jq '.columns[] | [.name, .encodings]'",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .run = run,
};
