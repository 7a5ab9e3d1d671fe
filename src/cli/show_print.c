/* What `tarn show` prints of a Hudi table, and of files that are no Parquet. */
#include "show_print.h"

#include <string.h>

#include "instant_print.h"

#define PARTS_SHOWN 10
#define TEXT_SHOWN  200
#define VALUE_SHOWN 100

/* ---- a table */

static void print_names(struct out *out, const char *title, const char *const *names, size_t count,
                        const char *none)
{
    out_text(out, "  %-14s ", title);
    for (size_t i = 0; i < count; i++) {
        out_text(out, "%s", i > 0 ? ", " : "");
        out_name(out, names[i], strlen(names[i]));
    }
    out_text(out, "%s\n", count == 0 ? none : "");
}

static void print_logs(struct out *out, const tarn_overview *table)
{
    struct out_word a, b, c;

    if (table->logs == 0)
        return;
    out_text(out, "  %-14s %s, %s, on %s", "logs", out_many(&a, table->logs, "log file", NULL),
             out_size(&b, table->log_bytes), out_many(&c, table->log_groups, "file group", NULL));
    if (table->log_only != 0)
        out_text(out, ", %s without a base file", out_count(&a, table->log_only));
    out_text(out, "\n");
}

static void print_traits(struct out *out, const tarn_overview *table)
{
    print_names(out, "record key", table->keys, table->key_count, "made by Hudi");
    print_names(out, "partitioned by", table->partition_fields, table->partition_field_count,
                "nothing");
    print_names(out, "ordering", table->ordering, table->ordering_count, "none: the last one wins");
    out_text(out, "  %-14s %s\n", "merge mode", table->merge_mode);
    out_text(out, "  %-14s %s%s%s\n", "key generator",
             table->keygen != NULL ? table->keygen : "unknown",
             table->hive_style ? ", hive-style paths" : "",
             table->url_encode ? ", URL-encoded paths" : "");
    out_text(out, "  %-14s %s%s%s%s\n", "files", table->base_format,
             table->meta_fields ? "" : ", without meta columns",
             table->metadata_table && table->metadata_partition_count == 0
                 ? ", with a metadata table that is being built"
                 : "",
             table->cdc ? ", with change data" : "");
    if (table->metadata_partition_count != 0)
        print_names(out, "metadata table", table->metadata_partitions,
                    table->metadata_partition_count, "");
    if (table->buckets != 0)
        out_text(out,
                 "  %-14s file groups have bucket numbers up to %llu: %llu buckets or more, to be "
                 "given to every write\n",
                 "bucket index", (unsigned long long)table->buckets - 1,
                 (unsigned long long)table->buckets);
    print_logs(out, table);
}

/* Slices with the most logs: where reads are slow, and what to compact first. */
static void print_heavy(struct out *out, const tarn_overview *table)
{
    static const struct out_column titles[] = {
        {"PARTITION", false}, {"FILE ID", false}, {"BASE", false}, {"BASE SIZE", true},
        {"LOGS", true},       {"LOG SIZE", true}, {"NOTE", false}};
    struct out_table *made;

    if (table->heavy_count == 0)
        return;
    out_text(out, "\nMOST LOGS\n");
    made = out_table_open(out, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < table->heavy_count; i++) {
        const tarn_overview_slice *at = &table->heavy[i];

        out_cell_name(made, at->partition[0] != '\0' ? at->partition : ".",
                      at->partition[0] != '\0' ? strlen(at->partition) : 1);
        out_cell_name(made, at->file_id, strlen(at->file_id));
        out_cell(made, "%s", at->instant != NULL ? at->instant : "none");
        if (at->instant != NULL)
            out_cell_size(made, at->base_bytes);
        else
            out_cell(made, "-");
        out_cell_count(made, at->logs);
        out_cell_size(made, at->log_bytes);
        out_cell(made, "%s", at->pending ? "pending" : "");
    }
    out_table_close(made);
}

static void print_services(struct out *out, const tarn_overview *table)
{
    static const struct out_column titles[] = {
        {"INSTANT", false}, {"SERVICE", false}, {"STATE", false}, {"FILE GROUPS", true}};
    struct out_table *made;

    if (table->service_count == 0)
        return;
    out_text(out, "\nPENDING SERVICES\n");
    made = out_table_open(out, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < table->service_count; i++) {
        const tarn_overview_service *at = &table->services[i];

        out_cell(made, "%s", at->time);
        out_cell(made, "%s", at->action);
        out_cell(made, "%s", at->state);
        if (at->problem != NULL)
            out_cell(made, "?");
        else
            out_cell_count(made, at->groups);
    }
    out_table_close(made);
    for (size_t i = 0; i < table->service_count; i++)
        if (table->services[i].problem != NULL)
            out_warn(out, "%s", table->services[i].problem);
}

static void print_partitions(struct out *out, const tarn_overview *table, const char *rest)
{
    static const struct out_column titles[] = {{"PARTITION", false},
                                               {"FILE GROUPS", true},
                                               {"SMALL", true},
                                               {"SIZE", true},
                                               {"ROWS", true}};
    size_t count = rest == NULL || table->partition_count <= PARTS_SHOWN + 1
                       ? table->partition_count
                       : PARTS_SHOWN;
    struct out_table *made;
    struct out_word word;

    if (table->partition_count == 0 ||
        (table->partition_count == 1 && table->partitions[0].path[0] == '\0'))
        return;
    out_text(out, "\n");
    made = out_table_open(out, titles, 5);
    for (size_t i = 0; i < count; i++) {
        const tarn_overview_partition *at = &table->partitions[i];

        out_cell_name(made, at->path, strlen(at->path));
        out_cell_count(made, at->groups);
        out_cell_count(made, at->small);
        out_cell_size(made, at->bytes);
        out_cell_count(made, (uint64_t)at->rows);
    }
    out_table_close(made);
    if (count < table->partition_count)
        out_text(out, "… %s more partitions; %s\n",
                 out_count(&word, table->partition_count - count), rest);
}

void show_print_warnings(struct cmd_call *call, const tarn_overview *table)
{
    for (size_t i = 0; i < table->finding_count; i++) {
        const tarn_finding *at = &table->findings[i];

        out_warn(call->out, "%s%s%s%s%s", at->evidence, at->cause != NULL ? ": " : "",
                 at->cause != NULL ? at->cause : "", at->cure != NULL ? "; " : "",
                 at->cure != NULL ? at->cure : "");
    }
}

void show_print_table(struct cmd_call *call, const tarn_overview *table, const char *rest)
{
    struct out *out = call->out;
    struct out_word a, b, c, d, e;

    out_name(out, table->path, strlen(table->path));
    out_text(out, "\nHudi table %s%s%s, %s, version %d, timeline layout %d, times are %s\n",
             table->database != NULL ? table->database : "", table->database != NULL ? "." : "",
             table->name != NULL ? table->name : "", table->type, table->table_version,
             table->timeline_layout, table->utc ? "UTC" : "local to their writer");
    if (table->files_known) {
        out_text(out, "%s, %s, ", out_many(&a, table->partition_count, "partition", NULL),
                 out_many(&b, table->groups, "file group", NULL));
        out_text(out, "%s, %s; %s under %s; ", out_size(&a, table->bytes),
                 out_many(&b, (uint64_t)table->rows, "row", NULL), out_count(&c, table->small),
                 out_size(&d, table->small_bytes));
    } else {
        out_text(out, "files could not be listed; ");
    }
    out_text(out, "%s\n\n", out_many(&e, table->instants, "instant", NULL));
    print_traits(out, table);
    if (table->last_count != 0) {
        out_text(out, "\nLAST COMMITS\n");
        instant_print_table(out, table->last, table->last_count, true);
    }
    print_services(out, table);
    print_heavy(out, table);
    print_partitions(out, table, rest);
}

static void json_names(struct out_json *json, const char *key, const char *const *names,
                       size_t count)
{
    out_json_array(json, key);
    for (size_t i = 0; i < count; i++)
        out_json_text(json, NULL, names[i]);
    out_json_array_end(json);
}

static void json_traits(struct out_json *json, const tarn_overview *table)
{
    out_json_text(json, "path", table->path);
    out_json_text(json, "name", table->name);
    out_json_text(json, "database", table->database);
    out_json_text(json, "type", table->type);
    out_json_i64(json, "table_version", table->table_version);
    out_json_i64(json, "timeline_layout", table->timeline_layout);
    out_json_text(json, "keygen", table->keygen);
    json_names(json, "keys", table->keys, table->key_count);
    json_names(json, "partition_fields", table->partition_fields, table->partition_field_count);
    json_names(json, "ordering", table->ordering, table->ordering_count);
    out_json_text(json, "merge_mode", table->merge_mode);
    out_json_text(json, "base_format", table->base_format);
    out_json_bool(json, "hive_style", table->hive_style);
    out_json_bool(json, "url_encode", table->url_encode);
    out_json_bool(json, "meta_fields", table->meta_fields);
    out_json_bool(json, "utc", table->utc);
    out_json_bool(json, "metadata_table", table->metadata_table);
    out_json_bool(json, "cdc", table->cdc);
}

static void json_logs(struct out_json *json, const tarn_overview *table)
{
    out_json_u64(json, "logs", table->logs);
    out_json_u64(json, "log_bytes", table->log_bytes);
    out_json_u64(json, "log_groups", table->log_groups);
    out_json_u64(json, "log_only", table->log_only);
    out_json_u64(json, "log_many", table->log_many);
    out_json_u64(json, "log_big", table->log_big);
    out_json_u64(json, "log_due", table->log_due);
    out_json_array(json, "heavy");
    for (size_t i = 0; i < table->heavy_count; i++) {
        const tarn_overview_slice *at = &table->heavy[i];

        out_json_object(json, NULL);
        out_json_name(json, "partition", at->partition, strlen(at->partition));
        out_json_text(json, "file_id", at->file_id);
        out_json_text(json, "instant", at->instant);
        out_json_u64(json, "base_bytes", at->base_bytes);
        out_json_u64(json, "logs", at->logs);
        out_json_u64(json, "log_bytes", at->log_bytes);
        out_json_bool(json, "pending", at->pending);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    out_json_array(json, "services");
    for (size_t i = 0; i < table->service_count; i++) {
        const tarn_overview_service *at = &table->services[i];

        out_json_object(json, NULL);
        out_json_text(json, "time", at->time);
        out_json_text(json, "action", at->action);
        out_json_text(json, "state", at->state);
        out_json_u64(json, "groups", at->groups);
        out_json_text(json, "problem", at->problem);
        out_json_object_end(json);
    }
    out_json_array_end(json);
    json_names(json, "metadata_partitions", table->metadata_partitions,
               table->metadata_partition_count);
}

void show_print_table_json(struct cmd_call *call, const tarn_overview *table, const char *kind)
{
    struct out_json json = out_json_open(call->out, kind, 1);

    json_traits(&json, table);
    out_json_u64(&json, "instants", table->instants);
    out_json_u64(&json, "pending", table->pending);
    out_json_array(&json, "last");
    for (size_t i = 0; i < table->last_count; i++)
        instant_print_json(&json, &table->last[i]);
    out_json_array_end(&json);
    out_json_bool(&json, "files_known", table->files_known);
    out_json_u64(&json, "groups", table->groups);
    out_json_u64(&json, "bytes", table->bytes);
    out_json_i64(&json, "rows", table->rows);
    out_json_u64(&json, "small", table->small);
    out_json_u64(&json, "small_bytes", table->small_bytes);
    out_json_u64(&json, "older", table->older);
    out_json_u64(&json, "older_bytes", table->older_bytes);
    out_json_u64(&json, "uncommitted", table->uncommitted);
    out_json_u64(&json, "uncommitted_bytes", table->uncommitted_bytes);
    out_json_u64(&json, "buckets", table->buckets);
    json_logs(&json, table);
    out_json_array(&json, "partitions");
    for (size_t i = 0; i < table->partition_count; i++) {
        const tarn_overview_partition *at = &table->partitions[i];

        out_json_object(&json, NULL);
        out_json_name(&json, "path", at->path, strlen(at->path));
        out_json_u64(&json, "groups", at->groups);
        out_json_u64(&json, "small", at->small);
        out_json_u64(&json, "small_bytes", at->small_bytes);
        out_json_u64(&json, "bytes", at->bytes);
        out_json_i64(&json, "rows", at->rows);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    show_print_findings_json(&json, table->findings, table->finding_count);
    out_json_close(&json);
}

/* ---- findings */

static const char *severity_word(enum tarn_severity severity)
{
    return severity == TARN_SEVERITY_ERROR     ? "error"
           : severity == TARN_SEVERITY_WARNING ? "warning"
                                               : "note";
}

/* As it is, since it may be a command to copy, but for what would break the line. */
void show_print_line(struct out *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        out_bytes(out, (unsigned char)*at < 0x20 || *at == 0x7F ? "?" : at, 1);
}

static void print_part(struct out *out, const char *title, const char *text)
{
    if (text == NULL)
        return;
    out_text(out, "\n   %s", title);
    show_print_line(out, text);
}

size_t show_print_ailing(const tarn_finding *findings, size_t count)
{
    size_t ailing = 0;

    for (size_t i = 0; i < count; i++)
        ailing += findings[i].severity != TARN_SEVERITY_NOTE;
    return ailing;
}

void show_print_findings(struct out *out, const tarn_finding *findings, size_t count)
{
    size_t ailing = show_print_ailing(findings, count);
    struct out_word word;

    if (ailing == 0)
        out_text(out, "\nno findings: healthy\n");
    else
        out_text(out, "\n%s\n", out_many(&word, ailing, "finding", NULL));
    for (size_t i = 0; i < count; i++) {
        const tarn_finding *f = &findings[i];

        if (f->severity != TARN_SEVERITY_NOTE)
            out_text(out, "%zu. ", i + 1);
        out_text(out, "%s: %s",
                 f->severity == TARN_SEVERITY_ERROR ? "ERROR" : severity_word(f->severity),
                 f->kind);
        print_part(out, "", f->evidence);
        print_part(out, "cause: ", f->cause);
        print_part(out, "cure:  ", f->cure);
        out_text(out, "\n");
    }
}

void show_print_findings_json(struct out_json *json, const tarn_finding *findings, size_t count)
{
    out_json_array(json, "findings");
    for (size_t i = 0; i < count; i++) {
        const tarn_finding *f = &findings[i];

        out_json_object(json, NULL);
        out_json_text(json, "kind", f->kind);
        out_json_text(json, "severity", severity_word(f->severity));
        out_json_text(json, "evidence", f->evidence);
        out_json_text(json, "cause", f->cause);
        out_json_text(json, "cure", f->cure);
        out_json_object_end(json);
    }
    out_json_array_end(json);
}

/* ---- files */

void show_print_key(struct out *out, const tarn_inspect_key *key, bool full)
{
    size_t len = full || key->value_bytes <= VALUE_SHOWN ? key->value_bytes : VALUE_SHOWN;
    struct out_word word;

    while (len > 0 && len < key->value_bytes && (key->value[len] & 0xC0) == 0x80)
        len--;
    out_name(out, key->key, strlen(key->key));
    out_text(out, " = ");
    out_name(out, key->value, len);
    if (len < key->value_bytes)
        out_text(out, "… (%s)", out_size(&word, key->value_bytes));
    out_text(out, "\n");
}

void show_print_keys_json(struct out_json *json, const tarn_inspect_key *keys, size_t count)
{
    out_json_array(json, "keys");
    for (size_t i = 0; i < count; i++) {
        out_json_object(json, NULL);
        out_json_text(json, "key", keys[i].key);
        out_json_text(json, "value", keys[i].value);
        out_json_object_end(json);
    }
    out_json_array_end(json);
}

void show_print_text(struct cmd_call *call, const tarn_inspect_text *text, bool full)
{
    struct out *out = call->out;
    struct out_word a, b;

    out_name(out, text->path, strlen(text->path));
    if (text->schema != NULL)
        out_text(out, "\nAvro, %s, %s", out_size(&a, text->file_bytes),
                 out_many(&b, text->record_count, "record", NULL));
    else if (text->record_count != 0)
        out_text(out, "\nJSON, %s", out_size(&a, text->file_bytes));
    else if (text->key_count != 0)
        out_text(out, "\nproperties, %s, %s", out_size(&a, text->file_bytes),
                 out_many(&b, text->key_count, "key", NULL));
    else
        out_text(out, "\n%s", text->file_bytes == 0 ? "an empty file" : "nothing in it");
    if (text->record != NULL && text->record[0] != '\0')
        out_text(out, " of %s", text->record);
    out_text(out, "\n\n");
    for (size_t i = 0; i < text->key_count; i++)
        show_print_key(out, &text->keys[i], full);
    for (size_t i = 0; i < text->record_count; i++)
        out_json_pretty(out, text->records[i], full ? 0 : TEXT_SHOWN);
    if (full && text->schema != NULL) {
        out_text(out, "\nSCHEMA\n");
        out_json_pretty(out, text->schema, 0);
    }
}

void show_print_text_json(struct cmd_call *call, const tarn_inspect_text *text)
{
    const char *kind = text->schema != NULL      ? "show.avro"
                       : text->record_count != 0 ? "show.json"
                       : text->file_bytes == 0   ? "show.empty"
                                                 : "show.properties";
    struct out_json json = out_json_open(call->out, kind, 1);

    out_json_name(&json, "path", text->path, strlen(text->path));
    out_json_u64(&json, "file_bytes", text->file_bytes);
    if (text->record_count != 0 || text->schema != NULL) {
        out_json_text(&json, "record", text->record);
        out_json_raw(&json, "schema", text->schema);
        out_json_array(&json, "records");
        for (size_t i = 0; i < text->record_count; i++)
            out_json_raw(&json, NULL, text->records[i]);
        out_json_array_end(&json);
    } else {
        show_print_keys_json(&json, text->keys, text->key_count);
    }
    out_json_close(&json);
}
