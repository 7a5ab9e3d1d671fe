/* tarn rollback TABLE --instant T: a write undone. */
#include "cmd.h"
#include "table_print.h"

struct values {
    const char *instant;
    bool drop_metadata_table;
};

static const struct cmd_option options[] = {
    CMD_TEXT(struct values, instant, "instant", 0, "T",
             "the write: its time as the timeline has it, or the digits that only it begins with"),
    CMD_FLAG(struct values, drop_metadata_table, "drop-metadata-table", 0,
             "disable the table's metadata table first, as Hudi would"),
    {0}};

static void warn(void *arg, const char *text)
{
    out_warn(arg, "%s", text);
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_rollback_options rollback = {.drop_metadata_table = values->drop_metadata_table,
                                      .dry_run = call->common.dry_run,
                                      .warn = warn,
                                      .arg = call->out};
    tarn_rollback_report *report = NULL;
    int exit_code;

    if (values->instant == NULL)
        return cmd_usage(call, "--instant is missing: which write, as `tarn timeline` shows it?");
    exit_code = cmd_end(
        call, tarn_table_rollback(call->cx, call->args[0], values->instant, &rollback, &report));
    if (exit_code == CMD_DONE)
        table_print_rollback(call, report);
    tarn_rollback_report_close(report);
    return exit_code;
}

const struct cmd cmd_rollback = {
    .name = "rollback",
    .help = "undo a write into a Hudi table",
    .synopsis = "TABLE --instant T",
    .about =
        "Rolls back the write that --instant names: the latest completed one, or one that was "
        "never completed; `tarn timeline` shows them, and the digits that only one of them begins "
        "with are enough, from the day on. What it wrote is deleted, readers see the "
        "table as it was before, and the timeline has a rollback.\n\n"
        "A write that others stand on is refused, and so is one with a savepoint: roll back "
        "the later ones first. --dry-run names the files that would go. Failed writes need no "
        "command: the next write rolls them back."
        "\n\nExit code 4 when another writer holds the table.",
    .example = "# the write of half past ten\n"
               "tarn rollback lake/orders --instant 20240512103000123",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .changes = true,
    .run = run,
};
