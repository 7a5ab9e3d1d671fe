/* tarn man [VERB]: manual pages in roff, made from the table of commands. */
#include <ctype.h>
#include <string.h>

#include "cmd.h"
#include "help.h"

/* roff reads "\", "-" and a leading "." or "'" as its own. */
static void roff(struct out *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool first = i == 0 || text[i - 1] == '\n';

        if (first && (text[i] == '.' || text[i] == '\''))
            out_text(out, "\\&");
        if (text[i] == '\\')
            out_text(out, "\\e");
        else if (text[i] == '-')
            out_text(out, "\\-");
        else
            out_bytes(out, &text[i], 1);
    }
}

static void roff_line(struct out *out, const char *text)
{
    roff(out, text, strlen(text));
    out_text(out, "\n");
}

static void print_option(void *arg, const struct cmd_option *option)
{
    struct out *out = arg;

    out_text(out, ".TP\n");
    if (option->letter != 0)
        out_text(out, "\\fB\\-%c\\fR, ", option->letter);
    out_text(out, "\\fB\\-\\-");
    roff(out, option->name, strlen(option->name));
    out_text(out, "\\fR");
    if (option->argument != NULL) {
        out_text(out, " \\fI");
        roff(out, option->argument, strlen(option->argument));
        out_text(out, "\\fR");
    }
    out_text(out, "\n");
    roff_line(out, option->help);
}

static void paragraphs(struct out *out, const char *text)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t len = end != NULL ? (size_t)(end - text) : strlen(text);

        out_text(out, ".PP\n");
        roff(out, text, len);
        out_text(out, "\n");
        text += len + (end != NULL ? 2 : 0);
    }
}

static void title(struct out *out, const char *name)
{
    out_text(out, ".TH TARN");
    if (name != NULL) {
        out_text(out, "\\-");
        for (; *name != '\0'; name++)
            out_text(out, "%c", toupper((unsigned char)*name));
    }
    out_text(out, " 1 \"\" \"tarn " TARN_VERSION "\"\n.SH NAME\n");
}

static void page_of(struct out *out, const struct cmd *cmd)
{
    title(out, cmd->name);
    out_text(out, "tarn\\-%s \\- ", cmd->name);
    roff_line(out, cmd->help);
    out_text(out, ".SH SYNOPSIS\n\\fBtarn %s\\fR ", cmd->name);
    roff(out, cmd->synopsis, strlen(cmd->synopsis));
    out_text(out, " [options]\n");
    if (cmd->about != NULL) {
        out_text(out, ".SH DESCRIPTION\n");
        paragraphs(out, cmd->about);
    }
    out_text(out, ".SH OPTIONS\n");
    help_options(cmd, print_option, out);
    if (cmd->example != NULL) {
        out_text(out, ".SH EXAMPLES\n.nf\n");
        roff_line(out, cmd->example);
        out_text(out, ".fi\n");
    }
    out_text(out, ".SH SEE ALSO\n.BR tarn (1)\n");
}

static void overview(struct out *out)
{
    title(out, NULL);
    out_text(out, "tarn \\- keeps directories of Parquet files free of small ones\n"
                  ".SH SYNOPSIS\n\\fBtarn\\fR \\fIVERB\\fR \\fIPATH\\fR [options]\n"
                  ".SH VERBS\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        out_text(out, ".TP\n\\fB%s\\fR\n", (*at)->name);
        roff_line(out, (*at)->help);
    }
    out_text(out, ".SH SIZES AND TIMES\n"
                  "K, M, G and T are powers of 1024 (so are KiB, MiB, GiB and TiB); KB, MB, GB and "
                  "TB are powers of 1000;\n"
                  "a number alone is bytes. Times are 250ms, 30s, 10m, 1h or 2d.\n"
                  ".SH EXIT STATUS\n"
                  ".TP\n0\ndone\n.TP\n1\nfailed\n.TP\n2\nwrong usage\n"
                  ".TP\n3\nchecked, and found problems\n"
                  ".TP\n4\nconflict: somebody else was first, try again\n"
                  ".SH SIGNALS\nThe first SIGINT or SIGTERM ends the work cleanly, the second one "
                  "at once.\nWhat an ended run leaves is repaired by the next one.\n"
                  ".SH SEE ALSO\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++)
        out_text(out, ".BR tarn\\-%s (1)%s\n", (*at)->name, at[1] != NULL ? "," : "");
}

static int run(struct cmd_call *call)
{
    const struct cmd *cmd;

    if (call->arg_count == 0) {
        overview(call->out);
        return CMD_DONE;
    }
    cmd = cmd_find(call->args[0]);
    if (cmd == NULL)
        return cmd_usage(call, "there is no verb '%s'", call->args[0]);
    page_of(call->out, cmd);
    return CMD_DONE;
}

const struct cmd cmd_man = {
    .name = "man",
    .help = "print a manual page in roff",
    .synopsis = "[VERB]",
    .example = "tarn man merge | man -l -",
    .args_max = 1,
    .bare = true,
    .run = run,
};
