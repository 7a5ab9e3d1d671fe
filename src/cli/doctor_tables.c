/* Every Hudi table below a directory, a line each.
 *
 * I1: a table that cannot be read ails, too, and does not keep the others from being looked at. */
#include "doctor_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show_print.h"
#include "tarn/table.h"
#include "tarn/timeline.h"

struct looking {
    struct cmd_call *call;
    struct out_table *table; /* NULL: JSON */
    struct out_json *json;
    size_t ailing;
};

/* "small-files, old-slices", each kind once. */
static void cell_kinds(struct out_table *table, const tarn_overview *overview)
{
    char text[512] = "";
    size_t len = 0;

    for (size_t i = 0; i < overview->finding_count && len < sizeof text; i++) {
        const tarn_finding *at = &overview->findings[i];

        if (at->severity == TARN_SEVERITY_NOTE || strstr(text, at->kind) != NULL)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s", len > 0 ? ", " : "",
                                at->severity == TARN_SEVERITY_ERROR ? "ERROR " : "", at->kind);
    }
    out_cell(table, "%s", len > 0 ? text : "none");
}

static void print_row(struct looking *l, const char *path, const tarn_overview *overview)
{
    out_cell_name(l->table, path, strlen(path));
    if (overview == NULL) {
        for (int i = 0; i < 5; i++)
            out_cell(l->table, "?");
        out_cell(l->table, "ERROR %s", tarn_cx_error(l->call->cx));
        return;
    }
    out_cell(l->table, "%s", overview->type);
    out_cell(l->table, "%d", overview->table_version);
    out_cell_count(l->table, overview->groups);
    out_cell_count(l->table, overview->small);
    out_cell_size(l->table, overview->bytes + overview->log_bytes);
    cell_kinds(l->table, overview);
}

static void print_object(struct looking *l, const char *path, const tarn_overview *overview)
{
    out_json_object(l->json, NULL);
    out_json_name(l->json, "path", path, strlen(path));
    out_json_text(l->json, "problem", overview == NULL ? tarn_cx_error(l->call->cx) : NULL);
    if (overview != NULL) {
        out_json_text(l->json, "type", overview->type);
        out_json_i64(l->json, "table_version", overview->table_version);
        out_json_u64(l->json, "groups", overview->groups);
        out_json_u64(l->json, "small", overview->small);
        out_json_u64(l->json, "bytes", overview->bytes);
        out_json_u64(l->json, "log_bytes", overview->log_bytes);
        show_print_findings_json(l->json, overview->findings, overview->finding_count);
    }
    out_json_object_end(l->json);
}

/* A table that cannot be read ails, too; the others are looked at all the same. */
static bool look(struct looking *l, const char *path)
{
    tarn_overview *overview = NULL;
    int rc = tarn_overview_diagnose(l->call->cx, path, &overview);

    if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
        return false;
    l->ailing +=
        rc != TARN_OK || show_print_ailing(overview->findings, overview->finding_count) != 0;
    if (l->table != NULL)
        print_row(l, path, overview);
    else
        print_object(l, path, overview);
    tarn_overview_close(overview);
    return true;
}

static bool look_all(struct looking *l, const tarn_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        out_progress(l->call->out, "looking at tables", i, tables->count);
        if (!look(l, tables->paths[i]))
            return false;
    }
    out_progress_end(l->call->out);
    return true;
}

static bool print_tables(struct looking *l, const tarn_tables *tables)
{
    static const struct out_column titles[] = {
        {"TABLE", false}, {"TYPE", false}, {"VERSION", true},  {"FILE GROUPS", true},
        {"SMALL", true},  {"SIZE", true},  {"FINDINGS", false}};
    struct out *out = l->call->out;
    struct out_word a;
    bool whole;

    l->table = out_table_open(out, titles, sizeof titles / sizeof titles[0]);
    whole = look_all(l, tables);
    out_table_close(l->table);
    out_text(out, "\n%s, %llu with findings; `tarn doctor TABLE` tells evidence, cause and cure\n",
             out_many(&a, tables->count, "Hudi table", NULL), (unsigned long long)l->ailing);
    if (tables->cut)
        out_text(out, "there are too many directories to find every table; look at those below\n");
    return whole;
}

static bool print_tables_json(struct looking *l, const tarn_tables *tables)
{
    struct out_json json = out_json_open(l->call->out, "doctor.tables", 1);
    bool whole;

    l->json = &json;
    out_json_text(&json, "path", l->call->args[0]);
    out_json_bool(&json, "cut", tables->cut);
    out_json_array(&json, "tables");
    whole = look_all(l, tables);
    out_json_array_end(&json);
    out_json_close(&json);
    return whole;
}

int doctor_tables_run(struct cmd_call *call)
{
    struct looking l = {.call = call};
    char *refusal = strdup(tarn_cx_error(call->cx));
    tarn_tables *tables = NULL;
    int exit_code = CMD_FAILED;
    bool whole;

    if (tarn_tables_open(call->cx, call->args[0], &tables) == TARN_OK && tables->count != 0) {
        whole = call->common.json ? print_tables_json(&l, tables) : print_tables(&l, tables);
        exit_code = !whole         ? cmd_end(call, tarn_cx_status(call->cx))
                    : l.ailing > 0 ? CMD_FOUND
                                   : CMD_DONE;
    } else {
        out_error(call->out, "%s", refusal != NULL ? refusal : "out of memory");
    }
    tarn_tables_close(tables);
    free(refusal);
    return exit_code;
}
