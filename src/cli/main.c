/* The command: finds the verb, parses its line, gives it a context, and ends with its exit code.
 *
 * I1: a verb runs only after its whole line was understood. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd.h"
#include "help.h"
#include "parse.h"
#include "signals.h"

enum { KEPT_BYTES_MAX = 32 << 20, KEPT_SHARES_MAX = 64 };
enum { SHARING_THREADS_MAX = 4, HUGE_PAGE = 2 << 20, HUGE_BYTES = 48 << 20 };

static int unknown_verb(struct out *out, const char *name)
{
    const char *names[128];
    const char *near;
    size_t count = 0;

    for (size_t i = 0; cmd_later[i] != NULL; i++) {
        if (strcmp(cmd_later[i], name) == 0) {
            out_error(out, "%s: not in this version; see `tarn help` for what is", name);
            return CMD_USAGE;
        }
    }
    for (; cmd_table[count] != NULL && count + 1 < sizeof names / sizeof *names; count++)
        names[count] = cmd_table[count]->name;
    names[count] = NULL;
    near = parse_nearest(name, names);
    if (near != NULL)
        out_error(out, "'%s' is not a verb; did you mean `tarn %s`? see `tarn help`", name, near);
    else if (name[0] == '-')
        out_error(out, "%s: options come after the verb; see `tarn help`", name);
    else
        out_error(out, "'%s' is not a verb; see `tarn help`", name);
    return CMD_USAGE;
}

/* A context for the line, watched for signals, and the verb in it. */
static int run_in_context(struct cmd_call *call)
{
    const tarn_cx_options options = {.jobs = (unsigned)call->common.jobs,
                                     .memory_bytes = call->common.memory_bytes};
    struct signals signals = {0};
    int exit_code;

    call->cx = tarn_cx_open(&options);
    if (call->cx == NULL) {
        out_error(call->out, "memory is short for %s", call->cmd->name);
        return CMD_FAILED;
    }
    signals_watch(&signals, call->cx);
    exit_code = call->cmd->run(call);
    signals_forget(&signals);
    tarn_cx_close(call->cx);
    return exit_code;
}

static int run_verb(struct out *out, int count, char **words)
{
    struct cmd_call call = {.cmd = cmd_find(words[0]), .out = out};
    struct parse parse = {0};
    int exit_code;

    if (call.cmd == NULL)
        return unknown_verb(out, words[0]);
    exit_code = parse_line(&parse, &call, count - 1, words + 1);
    out_quiet(out, call.common.quiet);
    if (exit_code == CMD_DONE && call.common.help)
        help_page(out, call.cmd);
    else if (exit_code == CMD_DONE && call.common.jobs > 1024)
        exit_code =
            cmd_usage(&call, "--jobs %llu: at most 1024", (unsigned long long)call.common.jobs);
    else if (exit_code == CMD_DONE)
        exit_code = run_in_context(&call);
    parse_clear(&parse);
    return exit_code;
}

static int run_words(struct out *out, int count, char **words)
{
    if (count == 0) {
        out_error(out, "a verb is missing; see `tarn help`");
        return CMD_USAGE;
    }
    if (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0) {
        out_text(out, "tarn " TARN_VERSION "\n");
        return CMD_DONE;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0) {
        help_overview(out);
        return CMD_DONE;
    }
    return run_verb(out, count, words);
}

/* The heap's first part in huge pages, where the system gives them when asked: to have each small
 * page faulted in was a sixth of all the time of a write. What is not touched takes no memory. */
static void ask_for_huge_pages(void)
{
    uintptr_t start, end;
    void *first;

    mallopt(M_TOP_PAD, HUGE_BYTES);
    first = malloc(1 << 20);
    start = ((uintptr_t)first + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    end = (uintptr_t)sbrk(0);
    /* Another allocator has no heap there. */
    if (first != NULL && start < end && end - start <= 2 * (uintptr_t)HUGE_BYTES)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
    free(first);
}

/* Few threads share one arena: what one of them gives back serves the others. */
static void share_memory(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES_MAX / 2);
    mallopt(M_TRIM_THRESHOLD, HUGE_BYTES + KEPT_BYTES_MAX / 2);
    ask_for_huge_pages();
    mallopt(M_TOP_PAD, KEPT_BYTES_MAX / 16);
}

/* Memory that goes from one wave of files, or one row group, to the next stays with the process,
 * instead of being given back and faulted in anew page by page. What may stay unused is bounded for
 * all threads together: each of many has an arena of its own. */
static void keep_memory(void)
{
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    int kept;

    if (threads <= SHARING_THREADS_MAX) {
        share_memory();
        return;
    }
    threads = threads > KEPT_SHARES_MAX ? KEPT_SHARES_MAX : threads;
    kept = KEPT_BYTES_MAX / (int)threads;
    mallopt(M_TRIM_THRESHOLD, kept);
    mallopt(M_TOP_PAD, kept / 16);
    mallopt(M_MMAP_THRESHOLD, kept / 2);
}

int main(int argc, char **argv)
{
    struct out *out = out_open();
    int exit_code;

    if (out == NULL)
        return CMD_FAILED;
    keep_memory();
    exit_code = run_words(out, argc - 1, argv + 1);
    if (!out_close(out) && exit_code == CMD_DONE)
        exit_code = CMD_FAILED;
    return exit_code;
}
