/* tarn timeline TABLE: the instants of a Hudi table. */
#include "instant_print.h"

struct values {
    bool counts, pending, descending, archived;
    struct cmd_list actions;
    uint64_t limit;
};

static const struct cmd_option options[] = {
    CMD_FLAG(struct values, counts, "counts", 0,
             "what each commit wrote; opens the file of every one shown"),
    CMD_FLAG(struct values, pending, "pending", 0, "only instants that are not completed"),
    CMD_TEXT_LIST(struct values, actions, "action", 0, "ACTION",
                  "only these: commit, deltacommit, replacecommit, clean, rollback, …"),
    CMD_COUNT(struct values, limit, "limit", 'n', "only the newest N (all)"),
    CMD_FLAG(struct values, descending, "desc", 0, "the newest first"),
    CMD_FLAG(struct values, archived, "archived", 0,
             "with instants that were archived; reads the archived timeline"),
    {0}};

static void print(struct cmd_call *call, const tarn_timeline *timeline)
{
    const struct values *values = call->values;
    struct out_word a, b;

    if (timeline->instant_count != 0)
        instant_print_table(call->out, timeline->instants, timeline->instant_count, values->counts);
    out_note(call->out, "%s on the active timeline, %s pending; %s, times are %s",
             out_many(&a, timeline->active, "instant", NULL), out_count(&b, timeline->pending),
             timeline->type, timeline->utc ? "UTC" : "local to their writer");
    if (values->archived)
        out_note(call->out, "%s in the archive", out_many(&a, timeline->archived, "instant", NULL));
}

static void print_json(struct cmd_call *call, const tarn_timeline *timeline)
{
    struct out_json json = out_json_open(call->out, "timeline", 1);

    out_json_text(&json, "path", timeline->path);
    out_json_text(&json, "directory", timeline->directory);
    out_json_text(&json, "name", timeline->name);
    out_json_text(&json, "type", timeline->type);
    out_json_i64(&json, "table_version", timeline->table_version);
    out_json_bool(&json, "utc", timeline->utc);
    out_json_u64(&json, "active", timeline->active);
    out_json_u64(&json, "pending", timeline->pending);
    if (((const struct values *)call->values)->archived)
        out_json_u64(&json, "archived", timeline->archived);
    out_json_array(&json, "instants");
    for (size_t i = 0; i < timeline->instant_count; i++)
        instant_print_json(&json, &timeline->instants[i]);
    out_json_array_end(&json);
    out_json_array(&json, "strange");
    for (size_t i = 0; i < timeline->strange_count; i++)
        out_json_text(&json, NULL, timeline->strange[i]);
    out_json_array_end(&json);
    out_json_close(&json);
}

static void warn(struct cmd_call *call, const tarn_timeline *timeline)
{
    for (size_t i = 0; i < timeline->instant_count; i++)
        if (timeline->instants[i].problem != NULL)
            out_warn(call->out, "%s", timeline->instants[i].problem);
    if (timeline->strange_count != 0)
        out_warn(call->out, "%s/%s is no instant's file%s", timeline->directory,
                 timeline->strange[0], timeline->strange_count > 1 ? ", and others" : "");
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    const tarn_timeline_options chosen = {.counts = values->counts,
                                          .pending = values->pending,
                                          .actions = values->actions.items,
                                          .action_count = values->actions.count,
                                          .limit = values->limit,
                                          .descending = values->descending,
                                          .archived = values->archived};
    tarn_timeline *timeline = NULL;
    int rc = tarn_timeline_open(call->cx, call->args[0], &chosen, &timeline);

    if (rc == TARN_OK && call->common.json)
        print_json(call, timeline);
    else if (rc == TARN_OK)
        print(call, timeline);
    if (rc == TARN_OK)
        warn(call, timeline);
    tarn_timeline_close(timeline);
    return cmd_end(call, rc);
}

const struct cmd cmd_timeline = {
    .name = "timeline",
    .help = "the instants of a Hudi table",
    .synopsis = "TABLE",
    .about =
        "Lists the active timeline: when each action was requested (its instant, by which it "
        "is named everywhere), its state, and when it was completed. Names alone are read, so "
        "thousands of instants take no time; --counts opens the commits that are shown, and "
        "adds operation, file groups added, rewritten and replaced, rows and bytes written.\n\n"
        "Below table version 8 the time of completion is the age of the file. Instants that "
        "were archived are shown with --archived, without counts; `tarn instant` tells what "
        "one of them did.",
    .example = "# what is under way, or was left by a crash\n"
               "tarn timeline lake/orders --pending\n"
               "# what the last ten commits did\n"
               "tarn timeline lake/orders --action commit --limit 10 --desc --counts",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .run = run,
};
