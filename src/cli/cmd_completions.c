/* tarn completions SHELL: completion scripts made from the table of commands. */
#include <string.h>

#include "cmd.h"
#include "help.h"

static void option_word(void *arg, const struct cmd_option *option)
{
    out_text(arg, " --%s", option->name);
}

static void bash(struct out *out)
{
    out_text(out, "# bash completion for tarn\n_tarn()\n{\n"
                  "    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                  "        COMPREPLY=($(compgen -W \"--version --help");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++)
        out_text(out, " %s", (*at)->name);
    out_text(out, "\" -- \"$word\"))\n        return\n    fi\n"
                  "    case ${COMP_WORDS[1]} in\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        out_text(out, "    %s) options=\"", (*at)->name);
        help_options(*at, option_word, out);
        out_text(out, "\" ;;\n");
    }
    out_text(out, "    esac\n"
                  "    case $word in\n"
                  "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                  "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                  "    esac\n}\ncomplete -o filenames -F _tarn tarn\n");
}

/* Inside single quotes, where a quote must leave them and come back; zsh wants ":" "[" "]" escaped
 * in its own way. */
static void quoted(struct out *out, const char *text, const char *escaped)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            out_text(out, "'\\''");
        else if (strchr(escaped, *text) != NULL)
            out_text(out, "\\%c", *text);
        else
            out_bytes(out, text, 1);
    }
}

static void zsh_option(void *arg, const struct cmd_option *option)
{
    struct out *out = arg;

    out_text(out, " \\\n            '%s--%s%s[", option->into == CMD_INTO_LIST ? "*" : "",
             option->name, option->argument != NULL ? "=" : "");
    quoted(out, option->help, ":[]\\");
    out_text(out, "]");
    if (option->argument != NULL) {
        out_text(out, ":");
        quoted(out, option->argument, ":[]\\");
        out_text(out, ":_files");
    }
    out_text(out, "'");
}

static void zsh(struct out *out)
{
    out_text(out, "#compdef tarn\n_tarn()\n{\n    local -a verbs\n    verbs=(\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        out_text(out, "        '%s:", (*at)->name);
        quoted(out, (*at)->help, ":\\");
        out_text(out, "'\n");
    }
    out_text(out, "    )\n    if (( CURRENT == 2 )); then\n"
                  "        _describe verb verbs\n        return\n    fi\n"
                  "    case $words[2] in\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        out_text(out, "    %s)\n        _arguments", (*at)->name);
        help_options(*at, zsh_option, out);
        out_text(out, " \\\n            '*:path:_files' ;;\n");
    }
    out_text(out, "    esac\n}\n_tarn \"$@\"\n");
}

struct fish_verb {
    struct out *out;
    const char *name;
};

static void fish_option(void *arg, const struct cmd_option *option)
{
    const struct fish_verb *verb = arg;

    out_text(verb->out, "complete -c tarn -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
             option->name);
    if (option->letter != 0)
        out_text(verb->out, " -s %c", option->letter);
    if (option->argument != NULL)
        out_text(verb->out, " -r");
    out_text(verb->out, " -d '");
    for (const char *text = option->help; *text != '\0'; text++)
        out_text(verb->out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    out_text(verb->out, "'\n");
}

static void fish(struct out *out)
{
    out_text(out, "# fish completion for tarn\n");
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        struct fish_verb verb = {out, (*at)->name};

        out_text(out, "complete -c tarn -n __fish_use_subcommand -f -a %s -d '%s'\n", (*at)->name,
                 (*at)->help);
        help_options(*at, fish_option, &verb);
    }
}

static int run(struct cmd_call *call)
{
    const char *shell = call->args[0];

    if (strcmp(shell, "bash") == 0)
        bash(call->out);
    else if (strcmp(shell, "zsh") == 0)
        zsh(call->out);
    else if (strcmp(shell, "fish") == 0)
        fish(call->out);
    else
        return cmd_usage(call, "'%s': it is one of bash, zsh, fish", shell);
    return CMD_DONE;
}

const struct cmd cmd_completions = {
    .name = "completions",
    .help = "print a completion script for a shell",
    .synopsis = "bash|zsh|fish",
    .example = "tarn completions bash > /etc/bash_completion.d/tarn",
    .args_min = 1,
    .args_max = 1,
    .bare = true,
    .run = run,
};
