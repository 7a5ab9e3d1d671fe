/* Help made from the table of commands. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cmd.h"

/* Everything in one screen; the page of one command. */
void help_overview(struct out *out);
void help_page(struct out *out, const struct cmd *cmd);
/* Calls `each` for every option of the command: its own, then the common ones. */
void help_options(const struct cmd *cmd, void (*each)(void *arg, const struct cmd_option *option),
                  void *arg);

#endif
