/* Help made from the table of commands: what --help and `tarn help` print. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "parse.h"

#define HELP_COLUMN 26
#define HELP_WIDTH  88

void help_options(const struct cmd *cmd, void (*each)(void *arg, const struct cmd_option *option),
                  void *arg)
{
    const struct cmd_option *tables[] = {cmd->options, cmd->changes ? parse_changes : NULL,
                                         cmd->bare ? parse_bare : parse_common};

    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct cmd_option *at = tables[t]; at != NULL && at->name != NULL; at++)
            each(arg, at);
    }
}

/* Characters, not bytes. */
static int width_of(const char *text, int len)
{
    int width = 0;

    for (int i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

/* Words of `text` from column `column` on, the first line already there. */
static void wrap(struct out *out, const char *text, int column)
{
    int at = column;

    while (*text != '\0') {
        int len = (int)strcspn(text, " \n");
        int width = width_of(text, len);

        if (at > column && at + 1 + width > HELP_WIDTH) {
            out_text(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            out_text(out, " ");
            at++;
        }
        out_text(out, "%.*s", len, text);
        at += width;
        text += len;
        if (text[0] == '\n' && text[1] == '\n') {
            out_text(out, "\n\n%*s", column, "");
            at = column;
        }
        text += strspn(text, " \n");
    }
    out_text(out, "\n");
}

static void print_option(void *arg, const struct cmd_option *option)
{
    struct out *out = arg;
    char left[80];
    int len;

    len = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", option->letter != 0 ? '-' : ' ',
                   option->letter != 0 ? option->letter : ' ', option->letter != 0 ? "," : " ",
                   option->name, option->argument != NULL ? " " : "",
                   option->argument != NULL ? option->argument : "");
    out_text(out, "%s", left);
    len = width_of(left, len);
    if (len > HELP_COLUMN - 2)
        out_text(out, "\n%*s", HELP_COLUMN, "");
    else
        out_text(out, "%*s", HELP_COLUMN - len, "");
    wrap(out, option->help, HELP_COLUMN);
}

static void print_example(struct out *out, const char *example)
{
    while (*example != '\0') {
        int len = (int)strcspn(example, "\n");

        out_text(out, "  %.*s\n", len, example);
        example += len;
        example += *example == '\n';
    }
}

void help_page(struct out *out, const struct cmd *cmd)
{
    out_text(out, "tarn %s: %s\n\nUsage: tarn %s %s%s[options]\n\n", cmd->name, cmd->help,
             cmd->name, cmd->synopsis, cmd->synopsis[0] != '\0' ? " " : "");
    if (cmd->about != NULL) {
        wrap(out, cmd->about, 0);
        out_text(out, "\n");
    }
    out_text(out, "Options:\n");
    help_options(cmd, print_option, out);
    if (cmd->example != NULL) {
        out_text(out, "\nExample:\n");
        print_example(out, cmd->example);
    }
}

void help_overview(struct out *out)
{
    out_text(out, "tarn keeps directories of Parquet files free of small ones.\n\n"
                  "Usage: tarn VERB PATH [options]\n\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++)
        out_text(out, "  %-12s %s\n", (*at)->name, (*at)->help);
    out_text(out, "\n`tarn VERB --help` explains one verb, `tarn --version` tells the version.\n"
                  "Sizes: 128M is 128 MiB, 256MB is 256,000,000 bytes. Times: 30s, 10m, 1h, 2d.\n"
                  "Names in --json have %% and bytes that are not UTF-8 as %%XX.\n"
                  "Exit status: 0 done, 1 failed, 2 wrong usage, 3 found problems, 4 conflict, try "
                  "again.\n");
}
