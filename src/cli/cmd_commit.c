/* tarn commit PLAN RESULT…: the results of a plan's tasks become visible. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "merge_print.h"
#include "tarn/commit.h"

struct values {
    const char *after;
    bool explain;
};

static const struct cmd_option options[] = {
    CMD_TEXT(struct values, after, "after", 0, "CMD",
             "run for each changed partition, which is $1 and TARN_PARTITION"),
    CMD_FLAG(struct values, explain, "explain", 0,
             "say of each column how it was to be made, how it was, and why"),
    {0}};

/* The result files as one text, a newline between them; NULL after a message. */
static char *read_results(struct cmd_call *call, size_t *len)
{
    char *all = calloc(1, 1);

    *len = 0;
    for (size_t i = 1; i < call->arg_count && all != NULL; i++) {
        size_t n;
        char *text = merge_print_read(call, call->args[i], &n);
        char *grown = text != NULL ? realloc(all, *len + n + 2) : NULL;

        if (grown == NULL) {
            free(text);
            free(all);
            return NULL;
        }
        all = grown;
        memcpy(all + *len, text, n);
        *len += n;
        all[(*len)++] = '\n';
        all[*len] = '\0';
        free(text);
    }
    return all;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    const tarn_merge_options merge = {.after = values->after};
    tarn_merge_report *report = NULL;
    size_t plan_len = 0, results_len = 0;
    char *plan = merge_print_read(call, call->args[0], &plan_len);
    char *results = plan != NULL ? read_results(call, &results_len) : NULL;
    int exit_code, rc;

    if (results == NULL) {
        free(plan);
        return CMD_FAILED;
    }
    rc = tarn_commit(call->cx, plan, plan_len, results, results_len, &merge, &report);
    free(plan);
    free(results);
    if (rc != TARN_OK)
        return cmd_end(call, rc);
    exit_code = merge_print_report(call, report, "commit", values->explain);
    tarn_merge_report_close(report);
    return exit_code;
}

const struct cmd cmd_commit = {
    .name = "commit",
    .help = "make the results of a plan's tasks visible",
    .synopsis = "PLAN RESULT...",
    .about =
        "Swaps in every partition of PLAN whose tasks all have a good result in the RESULT "
        "files (- is standard input). Partitions whose files changed since the plan are left "
        "as they are. Exit code 1 when a partition failed or was left so; the others are done.",
    .example = "tarn merge --plan-only -o plan.jsonl /data/events\n"
               "tarn exec < plan.jsonl > results.jsonl\n"
               "tarn commit plan.jsonl results.jsonl",
    .options = options,
    .args_min = 2,
    .args_max = CMD_ARGS_ANY,
    .values_size = sizeof(struct values),
    .run = run,
};
