/* tarn create TABLE: an empty Hudi table. */
#include "table_options.h"
#include "table_print.h"

struct values {
    struct table_values table;
    const char *schema;
};

static const struct values defaults = {.table = {.version = -1}};

static const struct cmd_option options[] = {
    TABLE_OPTIONS(struct values),
    CMD_TEXT(struct values, schema, "schema", 0, "NAME:TYPE,…",
             "its columns, or @FILE that holds them (those of the first write)"),
    {0}};

static void warn(void *arg, const char *text)
{
    out_warn(arg, "%s", text);
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_table_report *report = NULL;
    struct table_names names = {0};
    tarn_table_options table;
    int exit_code;

    if (table_options_of(&values->table, &names, &table)) {
        table.schema = values->schema;
        table.dry_run = call->common.dry_run;
        exit_code = cmd_end(
            call, tarn_table_create(call->cx, call->args[0], &table, warn, call->out, &report));
    } else {
        exit_code = cmd_usage(call, "memory is short");
    }
    if (exit_code == CMD_DONE)
        table_print_made(call, report);
    tarn_table_report_close(report);
    table_options_clear(&names);
    return exit_code;
}

const struct cmd cmd_create = {
    .name = "create",
    .help = "make an empty Hudi table",
    .synopsis = "TABLE",
    .about = "A copy-on-write table, as real Hudi of that version makes it. Nothing is made where "
             "there is a table of any kind already.\n\n"
             "Version 6 is read by every engine that reads Hudi; 8 by Hudi 1.0 and later, 9 by 1.1 "
             "and later. A later Hudi upgrades the table at its first write, unless "
             "hoodie.write.auto.upgrade=false.\n\n"
             "`tarn write` makes a missing table by the same options.",
    .example = "# orders by day; of two rows of an order the later ts stays\n"
               "tarn create lake/orders --key order_id --partition dt --ordering ts\n"
               "# its columns are known\n"
               "tarn create lake/users --key id --schema 'id:bigint,name:string' "
               "--table-version 9",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .defaults = &defaults,
    .changes = true,
    .run = run,
};
