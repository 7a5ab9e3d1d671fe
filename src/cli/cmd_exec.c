/* tarn exec: the tasks of a plan, here or anywhere. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "merge_print.h"
#include "tarn/task.h"

struct values {
    uint64_t task;
};

static const struct cmd_option options[] = {
    CMD_COUNT(struct values, task, "task", 0, "only task N of PLAN (all task lines)"), {0}};

/* A plan's header may stand among the lines: `tarn exec < PLAN` does every task. */
static bool is_header(const char *line, size_t len)
{
    static const char start[] = "{\"kind\":\"merge.plan\"";

    return len >= sizeof start - 1 && memcmp(line, start, sizeof start - 1) == 0;
}

static int do_line(struct cmd_call *call, const char *line, size_t len, int *failed)
{
    tarn_text result = {0};
    int task_status = TARN_OK;
    int rc = tarn_exec(call->cx, line, len, &result, &task_status);

    if (rc != TARN_OK)
        return rc;
    out_bytes(call->out, result.bytes, result.len);
    out_bytes(call->out, "\n", 1);
    if (task_status != TARN_OK) {
        out_warn(call->out, "a task failed: %s; its result says why",
                 tarn_status_name(task_status));
        *failed = 1;
    }
    tarn_text_clear(&result);
    return TARN_OK;
}

/* Nothing was done: fine for a plan of nothing, but not for half a plan. */
static int no_tasks(struct cmd_call *call, const char *path, bool header, size_t named)
{
    const char *where = strcmp(path, "-") == 0 ? "standard input" : path;

    if (header && named == 0)
        return CMD_DONE;
    if (header)
        out_error(call->out, "%s: no task line follows the header, which names %zu: it is cut off",
                  where, named);
    else
        out_error(call->out, "%s: no task line and no plan; give what merge --plan-only writes",
                  where);
    return CMD_FAILED;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    bool one = cmd_given(call, "task"), header = false;
    const char *path = call->arg_count != 0 ? call->args[0] : "-";
    size_t len = 0, named = 0;
    char *text;
    uint64_t number = 0;
    int failed = 0, rc = TARN_OK, exit_code;

    if (one && call->arg_count == 0)
        return cmd_usage(call, "--task needs the PLAN it is of");
    text = merge_print_read(call, path, &len);
    if (text == NULL)
        return CMD_FAILED;
    for (size_t at = 0; at < len && rc == TARN_OK && !out_ended(call->out);) {
        const char *line = text + at;
        const char *end = memchr(line, '\n', len - at);
        size_t n = end != NULL ? (size_t)(end - line) : len - at;

        at += n + 1;
        if (n == 0)
            continue;
        if (is_header(line, n)) {
            rc = tarn_merge_plan_tasks(call->cx, line, n, &named);
            header = true;
            continue;
        }
        if (!one || number == values->task)
            rc = do_line(call, line, n, &failed);
        number++;
    }
    free(text);
    if (rc == TARN_OK && one && number <= values->task)
        return cmd_usage(call, "%s has no task %llu; it has %llu", path,
                         (unsigned long long)values->task, (unsigned long long)number);
    if (rc == TARN_OK && number == 0)
        return no_tasks(call, path, header, named);
    if (rc == TARN_OK)
        return failed != 0 ? CMD_FAILED : CMD_DONE;
    exit_code = cmd_end(call, rc);
    return number == 0 && exit_code == CMD_USAGE ? CMD_FAILED : exit_code; /* no plan at all */
}

const struct cmd cmd_exec = {
    .name = "exec",
    .help = "do tasks of a plan: task lines in, result lines out",
    .synopsis = "[PLAN]",
    .about = "Reads task lines from PLAN, or from standard input, does them in order and prints a "
             "result line each. Tasks are independent: they may be done on any machine that sees "
             "the files, in any order, more than once. What is done becomes visible by tarn commit "
             "alone. Exit code 1 when a task failed; its result line says why.",
    .example = "tarn merge --plan-only -o plan.jsonl /data/events\n"
               "tarn exec --task 0 plan.jsonl > results.0\n"
               "tail -n +3 plan.jsonl | tarn exec > results.1\n"
               "tarn commit plan.jsonl results.0 results.1",
    .options = options,
    .args_min = 0,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .run = run,
};
