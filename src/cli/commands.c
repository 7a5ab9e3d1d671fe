/* The table of commands. A new command is its file and two lines here. */
#include <string.h>

#include "cmd.h"

extern const struct cmd cmd_commit;
extern const struct cmd cmd_completions;
extern const struct cmd cmd_create;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_exec;
extern const struct cmd cmd_files;
extern const struct cmd cmd_help;
extern const struct cmd cmd_instant;
extern const struct cmd cmd_man;
extern const struct cmd cmd_merge;
extern const struct cmd cmd_read;
extern const struct cmd cmd_rollback;
extern const struct cmd cmd_schema;
extern const struct cmd cmd_show;
extern const struct cmd cmd_splits;
extern const struct cmd cmd_timeline;
extern const struct cmd cmd_write;

/* One a line, so that lines do not meet. */
/* clang-format off */
const struct cmd *const cmd_table[] = {
    &cmd_doctor,
    &cmd_merge,
    &cmd_read,
    &cmd_show,
    &cmd_timeline,
    &cmd_instant,
    &cmd_files,
    &cmd_schema,
    &cmd_write,
    &cmd_create,
    &cmd_rollback,
    &cmd_splits,
    &cmd_exec,
    &cmd_commit,
    &cmd_help,
    &cmd_man,
    &cmd_completions,
    NULL,
};
/* clang-format on */

/* Refused by name until their version. */
const char *const cmd_later[] = {
    "report",  "serve",     "compact", "cluster", "clean", "archive",
    "restore", "savepoint", "repair",  "upgrade", NULL,
};

const struct cmd *cmd_find(const char *name)
{
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
    }
    return NULL;
}
