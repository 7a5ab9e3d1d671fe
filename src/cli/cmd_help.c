/* tarn help [VERB] */
#include "cmd.h"
#include "help.h"

static int run(struct cmd_call *call)
{
    const struct cmd *cmd;

    if (call->arg_count == 0) {
        help_overview(call->out);
        return CMD_DONE;
    }
    cmd = cmd_find(call->args[0]);
    if (cmd == NULL)
        return cmd_usage(call, "there is no verb '%s'", call->args[0]);
    help_page(call->out, cmd);
    return CMD_DONE;
}

const struct cmd cmd_help = {
    .name = "help",
    .help = "explain tarn, or one verb",
    .synopsis = "[VERB]",
    .example = "tarn help merge",
    .args_max = 1,
    .bare = true,
    .run = run,
};
