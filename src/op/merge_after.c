/* The command that a user wants run for each changed partition, to refresh a catalogue, say.
 * I1: its output goes to standard error: standard output carries the report alone. */
#define _GNU_SOURCE /* environ */

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "op/merge_op.h"

/* The environment with two more names, in the arena. */
static int environment(tarn_cx *cx, tn_arena *arena, tn_str root, tn_str partition, char ***out)
{
    size_t count = 0, n = 0;
    tn_str text;
    char **all;
    int rc = TARN_OK;

    while (environ[count] != NULL)
        count++;
    all = tn_arena_array(cx, arena, count + 3, sizeof *all);
    if (all == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_arena_print(cx, arena, &text, "TARN_ROOT=%.*s", TN_STR_ARG(root)));
    all[n++] = (char *)text.ptr;
    TN_TRY(tn_arena_print(cx, arena, &text, "TARN_PARTITION=%.*s", TN_STR_ARG(partition)));
    all[n++] = (char *)text.ptr;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TARN_ROOT=", 10) != 0 &&
            strncmp(environ[i], "TARN_PARTITION=", 15) != 0)
            all[n++] = environ[i];
    *out = all;
done:
    return rc;
}

/* The caller may block signals or ignore SIGPIPE; the command starts as from a shell, so that an
 * interrupt reaches it. */
static void plain_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Runs it to its end; *code is its exit code, 128 and the signal, or -1 when it did not start. */
static int run(tarn_cx *cx, const char *command, const char *partition, char **env, int *code)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *argv[] = {(char *)"sh", (char *)"-c",      (char *)command,
                    (char *)"sh", (char *)partition, NULL};
    pid_t pid;
    int status = 0, failed;

    if (posix_spawnattr_init(&attributes) != 0)
        return tn_fail_memory(cx);
    if (posix_spawn_file_actions_init(&actions) != 0) {
        posix_spawnattr_destroy(&attributes);
        return tn_fail_memory(cx);
    }
    plain_signals(&attributes);
    failed = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (failed == 0)
        failed = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    *code = -1;
    if (failed != 0)
        return TARN_OK;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return TARN_OK;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return TARN_OK;
}

int tn_merge_after(tarn_cx *cx, const char *command, tn_str root, tn_str partition,
                   tn_merge_log *log)
{
    tn_arena arena = {0};
    tn_str kept = partition, text;
    char **env;
    int code = -1, rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &arena, &kept));
    TN_TRY(environment(cx, &arena, root, kept, &env));
    TN_TRY(run(cx, command, kept.ptr, env, &code));
    if (code != 0) {
        TN_TRY(tn_arena_print(cx, &arena, &text,
                              "merged, but the --after command ended with exit code %d; run it "
                              "again for this partition",
                              code));
        TN_TRY(tn_merge_log_note(cx, log, TARN_MERGE_PROBLEM, partition, text));
        log->report.after_failed++;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}
