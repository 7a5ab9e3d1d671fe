/* Lists of names as people type them: "a,b", and options given several times. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cmd.h"

struct names {
    char *text;
    const char **items;
    size_t count;
};

/* Split at commas, which `backticks` and "quotes" keep. NULL text: no names. False when memory is
 * short; to be cleared in either case. */
bool names_split(const char *text, struct names *out);
/* The same over all of a list. */
bool names_split_list(const struct cmd_list *list, struct names *out);
void names_clear(struct names *names);

#endif
