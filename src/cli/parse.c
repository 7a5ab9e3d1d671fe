/* Command lines into the values of a command: "--name value", "--name=value", "-n value",
 * "-nvalue", flags, "--" before words that begin with "-"; options and words may be mixed.
 *
 * I1: nothing is guessed: an unknown option, a missing or a surplus word ends in a message with the
 *     nearest name and the way to the help.
 * I2: an option that holds one value is given at most once. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#include "units.h"

const struct cmd_option parse_common[] = {
    CMD_FLAG(struct cmd_common, json, "json", 0, "one JSON document on stdout"),
    CMD_COUNT(struct cmd_common, jobs, "jobs", 'j', "threads to use (one per processor)"),
    CMD_SIZE(struct cmd_common, memory_bytes, "memory", 0, "memory for row data (192M)"),
    CMD_FLAG(struct cmd_common, quiet, "quiet", 'q', "no notes and no progress on stderr"),
    CMD_FLAG(struct cmd_common, help, "help", 'h', "this text"),
    {0},
};

const struct cmd_option parse_changes[] = {
    CMD_FLAG(struct cmd_common, dry_run, "dry-run", 'n', "print the plan, change nothing"),
    {0},
};

const struct cmd_option parse_bare[] = {
    CMD_FLAG(struct cmd_common, help, "help", 'h', "this text"),
    {0},
};

struct found {
    const struct cmd_option *option;
    void *base;    /* what its offset counts from */
    int index;     /* in the command's own table; -1: a common one */
    char name[64]; /* as typed: "--target", "-t" */
};

/* Where options are looked for. */
struct scope {
    struct parse *parse;
    struct cmd_call *call;
    uint64_t common_given[3];
};

static const struct cmd_option *table_at(const struct cmd *cmd, size_t i)
{
    if (i == 0)
        return cmd->options;
    if (i == 1)
        return cmd->bare ? parse_bare : parse_common;
    return cmd->changes ? parse_changes : NULL;
}

/* The option whose name is text[0..len), or whose letter is `letter`. */
static bool look_up(struct scope *scope, const char *text, size_t len, char letter,
                    struct found *found, uint64_t **given)
{
    for (size_t t = 0; t < 3; t++) {
        const struct cmd_option *table = table_at(scope->call->cmd, t);

        for (size_t i = 0; table != NULL && table[i].name != NULL; i++) {
            bool hit = letter != 0
                           ? table[i].letter == letter
                           : strlen(table[i].name) == len && memcmp(table[i].name, text, len) == 0;

            if (!hit)
                continue;
            found->option = &table[i];
            found->base = t == 0 ? scope->call->values : (void *)&scope->call->common;
            found->index = (int)i;
            *given = t == 0 ? &scope->parse->given : &scope->common_given[t];
            return true;
        }
    }
    return false;
}

static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);

    if (n >= sizeof row / sizeof *row || strlen(a) >= sizeof row / sizeof *row)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *parse_nearest(const char *text, const char *const *words)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;

    for (; *words != NULL; words++) {
        size_t d = distance(text, *words);

        /* what somebody began to write and left is near as well */
        if (strlen(text) >= 2 && strncmp(text, *words, strlen(text)) == 0)
            d = 1;
        if (d < best_distance && d <= 2 && d < strlen(text)) {
            best = *words;
            best_distance = d;
        }
    }
    return best;
}

static int unknown_option(struct scope *scope, const char *word, const char *name)
{
    const char *names[3 * PARSE_OPTIONS_MAX + 1];
    const char *near;
    size_t count = 0;

    for (size_t t = 0; t < 3; t++) {
        const struct cmd_option *table = table_at(scope->call->cmd, t);

        for (size_t i = 0; table != NULL && table[i].name != NULL && i < PARSE_OPTIONS_MAX; i++)
            names[count++] = table[i].name;
    }
    names[count] = NULL;
    near = name != NULL ? parse_nearest(name, names) : NULL;
    if (near != NULL)
        return cmd_usage(scope->call, "%s is not an option; did you mean --%s?", word, near);
    return cmd_usage(scope->call, "%s is not an option", word);
}

static int add_to_list(struct scope *scope, struct cmd_list *list, const char *value)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);

    if (items == NULL)
        return cmd_usage(scope->call, "memory is short");
    if (list->items == NULL)
        scope->parse->lists[scope->parse->list_count++] = list;
    list->items = items;
    list->items[list->count++] = value;
    return CMD_DONE;
}

static int choose(struct scope *scope, const struct found *found, const char *value)
{
    const char *const *choices = found->option->choices;
    char all[256] = "";

    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], value) == 0) {
            *(int *)((char *)found->base + found->option->offset) = i;
            return CMD_DONE;
        }
        if (strlen(all) + strlen(choices[i]) + 3 < sizeof all) {
            strcat(all, i == 0 ? "" : ", ");
            strcat(all, choices[i]);
        }
    }
    return cmd_usage(scope->call, "%s '%s': it is one of %s", found->name, value, all);
}

static int store(struct scope *scope, const struct found *found, const char *value)
{
    void *into = (char *)found->base + found->option->offset;
    const char *why = NULL;
    bool good = true;

    switch (found->option->into) {
    case CMD_INTO_FLAG:
        *(bool *)into = true;
        break;
    case CMD_INTO_TEXT:
        *(const char **)into = value;
        break;
    case CMD_INTO_LIST:
        return add_to_list(scope, into, value);
    case CMD_INTO_SIZE:
        good = units_size(value, into, &why);
        break;
    case CMD_INTO_DURATION:
        good = units_duration(value, into, &why);
        break;
    case CMD_INTO_COUNT:
        good = units_count(value, into, &why);
        break;
    case CMD_INTO_CHOICE:
        return choose(scope, found, value);
    }
    if (!good)
        return cmd_usage(scope->call, "%s '%s': %s", found->name, value, why);
    return CMD_DONE;
}

/* One option, whose value may be inside the word or the next one; *used counts the words. */
static int take_option(struct scope *scope, int left, char **words, int *used)
{
    const char *word = words[0];
    bool is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : word + 1;
    size_t len = is_long ? strcspn(name, "=") : 1;
    const char *inside = name[len] == '\0' ? NULL : is_long ? name + len + 1 : name + 1;
    struct found found = {0};
    uint64_t *given = NULL;

    *used = 1;
    if (len + 3 < sizeof found.name) {
        memcpy(found.name, word, len + (is_long ? 2 : 1));
    }
    if (found.name[0] == '\0' ||
        !look_up(scope, name, len, is_long ? '\0' : name[0], &found, &given))
        return unknown_option(scope, found.name[0] != '\0' ? found.name : word,
                              is_long && found.name[0] != '\0' ? found.name + 2 : NULL);
    if (found.option->into != CMD_INTO_FLAG && found.option->into != CMD_INTO_LIST &&
        (*given >> found.index & 1) != 0)
        return cmd_usage(scope->call, "%s is given twice", found.name);
    *given |= UINT64_C(1) << found.index;
    if (found.option->argument == NULL) {
        if (inside != NULL)
            return cmd_usage(scope->call, "%s takes no value", found.name);
        return store(scope, &found, NULL);
    }
    if (inside == NULL) {
        if (left < 2)
            return cmd_usage(scope->call, "%s needs a value: %s %s", found.name, found.name,
                             found.option->argument);
        inside = words[1];
        *used = 2;
    }
    return store(scope, &found, inside);
}

static int check_args(struct cmd_call *call)
{
    const struct cmd *cmd = call->cmd;

    if (call->common.help)
        return CMD_DONE;
    if (call->arg_count < cmd->args_min) {
        const char *word = cmd->synopsis;

        for (size_t i = 0; i < call->arg_count; i++)
            word += strcspn(word, " ") + (word[strcspn(word, " ")] == ' ');
        return cmd_usage(call, "%.*s is missing: tarn %s %s", (int)strcspn(word, " "), word,
                         cmd->name, cmd->synopsis);
    }
    if (call->arg_count > cmd->args_max)
        return cmd_usage(call, "'%s' is one word too many", call->args[cmd->args_max]);
    return CMD_DONE;
}

int parse_line(struct parse *parse, struct cmd_call *call, int count, char **words)
{
    struct scope scope = {parse, call, {0}};
    bool options = true;
    int exit_code;

    parse->values = calloc(1, call->cmd->values_size + 1);
    parse->args = calloc((size_t)count + 1, sizeof *parse->args);
    if (parse->values == NULL || parse->args == NULL)
        return cmd_usage(call, "memory is short");
    if (call->cmd->defaults != NULL)
        memcpy(parse->values, call->cmd->defaults, call->cmd->values_size);
    call->values = parse->values;
    call->args = parse->args;
    call->given = &parse->given;
    for (int i = 0; i < count;) {
        int used = 1;

        if (options && strcmp(words[i], "--") == 0) {
            options = false;
        } else if (options && words[i][0] == '-' && words[i][1] != '\0') {
            exit_code = take_option(&scope, count - i, words + i, &used);
            if (exit_code != CMD_DONE)
                return exit_code;
        } else {
            parse->args[call->arg_count++] = words[i];
        }
        i += used;
    }
    return check_args(call);
}

void parse_clear(struct parse *parse)
{
    for (size_t i = 0; i < parse->list_count; i++)
        free((void *)parse->lists[i]->items);
    free(parse->values);
    free((void *)parse->args);
    *parse = (struct parse){0};
}
