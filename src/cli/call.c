/* What a command calls to end: exit codes and usage errors. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

int cmd_exit_of(int status)
{
    switch (status) {
    case TARN_OK:
        return CMD_DONE;
    case TARN_E_CONFLICT:
        return CMD_CONFLICT;
    case TARN_E_INVALID:
        return CMD_USAGE;
    default:
        return CMD_FAILED;
    }
}

int cmd_end(struct cmd_call *call, int status)
{
    if (status == TARN_OK)
        return CMD_DONE;
    /* work that stopped because nobody reads any more is no failure to be told */
    if (!out_ended(call->out))
        out_error(call->out, "%s", tarn_cx_error(call->cx));
    return cmd_exit_of(status);
}

int cmd_usage(struct cmd_call *call, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    out_error(call->out, "%s: %s%s see `tarn %s --help`", call->cmd->name, text,
              text[0] != '\0' && text[strlen(text) - 1] == '?' ? "" : ";", call->cmd->name);
    return CMD_USAGE;
}

bool cmd_given(const struct cmd_call *call, const char *option)
{
    for (size_t i = 0; call->cmd->options != NULL && call->cmd->options[i].name != NULL; i++) {
        if (strcmp(call->cmd->options[i].name, option) == 0)
            return (*call->given >> i & 1) != 0;
    }
    return false;
}
