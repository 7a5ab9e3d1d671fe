/* What a command is. Each src/cli/cmd_<name>.c exports one `const struct cmd cmd_<name>` and has
 * one line in commands.c; parsing, help, completions and the manual are made from the struct.
 *
 *     struct values { const char *output; uint64_t target_bytes; struct cmd_list partitions; };
 *     static const struct values defaults = {.target_bytes = 128 << 20};
 *     static const struct cmd_option options[] = {
 *         CMD_SIZE(struct values, target_bytes, "target", 0, "size of a merged file (128M)"),
 *         CMD_TEXT_LIST(struct values, partitions, "partition", 0, "COL=VALUE", "only this one"),
 *         CMD_TEXT(struct values, output, "output", 'o', "FILE", "where to write"),
 *         {0}};
 *     static int run(struct cmd_call *call)
 *     {
 *         const struct values *values = call->values;
 *
 *         return cmd_end(call, tarn_…(call->cx, call->args[0], …));
 *     }
 *
 * I1: `values` starts as a copy of `defaults` (zeros when NULL), so an option that was not given
 *     holds its default.
 * I2: a command never exits or prints by itself; it returns an exit code and prints through out.h.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"
#include "tarn/context.h"
#include "tarn/status.h"

enum cmd_exit {
    CMD_DONE = 0,
    CMD_FAILED = 1,
    CMD_USAGE = 2,
    CMD_FOUND = 3,   /* checked, and found problems */
    CMD_CONFLICT = 4 /* somebody else was first: try again */
};

enum cmd_into {
    CMD_INTO_FLAG = 1, /* bool */
    CMD_INTO_TEXT,     /* const char * */
    CMD_INTO_LIST,     /* struct cmd_list: the option may be repeated */
    CMD_INTO_SIZE,     /* uint64_t, bytes */
    CMD_INTO_DURATION, /* int64_t, milliseconds */
    CMD_INTO_COUNT,    /* uint64_t */
    CMD_INTO_CHOICE    /* int: index into `choices` */
};

struct cmd_list {
    const char **items;
    size_t count;
};

struct cmd_option {
    const char *name;     /* without "--"; NULL ends the table */
    char letter;          /* of the short form; 0: none */
    const char *argument; /* name of its value in the help; NULL for a flag */
    const char *help;     /* lower case, no full stop; the default in parentheses */
    enum cmd_into into;
    size_t offset; /* into the command's values */
    const char *const *choices;
};

#define CMD_FLAG(type, member, name, letter, help)                                                 \
    {                                                                                              \
        name, letter, NULL, help, CMD_INTO_FLAG, offsetof(type, member), NULL                      \
    }
#define CMD_TEXT(type, member, name, letter, argument, help)                                       \
    {                                                                                              \
        name, letter, argument, help, CMD_INTO_TEXT, offsetof(type, member), NULL                  \
    }
#define CMD_TEXT_LIST(type, member, name, letter, argument, help)                                  \
    {                                                                                              \
        name, letter, argument, help, CMD_INTO_LIST, offsetof(type, member), NULL                  \
    }
#define CMD_SIZE(type, member, name, letter, help)                                                 \
    {                                                                                              \
        name, letter, "SIZE", help, CMD_INTO_SIZE, offsetof(type, member), NULL                    \
    }
#define CMD_DURATION(type, member, name, letter, help)                                             \
    {                                                                                              \
        name, letter, "TIME", help, CMD_INTO_DURATION, offsetof(type, member), NULL                \
    }
#define CMD_COUNT(type, member, name, letter, help)                                                \
    {                                                                                              \
        name, letter, "N", help, CMD_INTO_COUNT, offsetof(type, member), NULL                      \
    }
/* `choices` is a NULL-ended array of words. */
#define CMD_CHOICE(type, member, name, letter, argument, choices, help)                            \
    {                                                                                              \
        name, letter, argument, help, CMD_INTO_CHOICE, offsetof(type, member), choices             \
    }

/* Options every command has. */
struct cmd_common {
    bool json;
    bool help;
    bool quiet;
    bool dry_run; /* only where the command changes something */
    uint64_t jobs;
    uint64_t memory_bytes;
};

struct cmd;

struct cmd_call {
    const struct cmd *cmd;
    tarn_cx *cx;
    struct out *out;
    struct cmd_common common;
    void *values;
    const char **args; /* positional */
    size_t arg_count;
    const uint64_t *given; /* see cmd_given */
};

#define CMD_ARGS_ANY SIZE_MAX

struct cmd {
    const char *name;
    const char *help;     /* one line: what it does */
    const char *synopsis; /* what follows "tarn NAME"; "[options]" is added */
    const char *about;   /* paragraphs for --help and the manual, "\n\n" between them; NULL: none */
    const char *example; /* shell lines with "# " comments, "\n" between them */
    const struct cmd_option *options; /* ended by {0}; at most 60; NULL: none */
    size_t args_min, args_max;
    size_t values_size;
    const void *defaults; /* of values_size bytes; NULL: zeros */
    bool changes;         /* takes --dry-run */
    bool bare;            /* takes neither --json nor work options: help, man, completions */
    int (*run)(struct cmd_call *call); /* gives an enum cmd_exit */
};

/* Every command, in the order of the help, ended by NULL; names kept for later versions. */
extern const struct cmd *const cmd_table[];
extern const char *const cmd_later[];

/* NULL when there is none. */
const struct cmd *cmd_find(const char *name);
/* True when the option was on the command line. */
bool cmd_given(const struct cmd_call *call, const char *option);
/* The exit code for a status; on failure the text of the context goes to stderr. */
int cmd_end(struct cmd_call *call, int status);
int cmd_exit_of(int status);
/* Prints "tarn NAME: <text>; see tarn NAME --help" and gives CMD_USAGE. */
int cmd_usage(struct cmd_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
