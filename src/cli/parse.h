/* Command lines into the values of a command. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include "cmd.h"

#define PARSE_OPTIONS_MAX 64

/* The options every command has, and those of work that changes something; each ended by {0}.
 * Offsets are into struct cmd_common. */
extern const struct cmd_option parse_common[];
extern const struct cmd_option parse_changes[];
extern const struct cmd_option parse_bare[];

/* Memory of a parsed line. */
struct parse {
    void *values;
    const char **args;
    uint64_t given; /* bit per option: those of the command, in its order */
    struct cmd_list *lists[PARSE_OPTIONS_MAX];
    size_t list_count;
};

/* Fills `call` from the words after the command's name. CMD_DONE, or CMD_USAGE after the message.
 * `parse` is to be cleared in either case, once the call is over. */
int parse_line(struct parse *parse, struct cmd_call *call, int count, char **words);
void parse_clear(struct parse *parse);
/* The member of `words` (ended by NULL) that `text` was most likely meant to be; NULL: none is
 * near. */
const char *parse_nearest(const char *text, const char *const *words);

#endif
