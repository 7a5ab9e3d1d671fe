/* What must hold of every command in the table. */
#include "unit/test.h"

#include "cmd.h"
#include "help.h"
#include "parse.h"

struct seen {
    const struct cmd *cmd;
    const struct cmd_option *options[PARSE_OPTIONS_MAX];
    size_t count;
};

static void look_at(void *arg, const struct cmd_option *option)
{
    struct seen *seen = arg;

    assert_in_range(option->into, CMD_INTO_FLAG, CMD_INTO_CHOICE);
    assert_int_equal(option->argument == NULL, option->into == CMD_INTO_FLAG);
    assert_int_equal(option->choices != NULL, option->into == CMD_INTO_CHOICE);
    assert_non_null(option->help);
    for (size_t i = 0; i < seen->count; i++) {
        if (strcmp(seen->options[i]->name, option->name) == 0)
            fail_msg("%s: --%s is there twice", seen->cmd->name, option->name);
        if (option->letter != 0 && seen->options[i]->letter == option->letter)
            fail_msg("%s: -%c is there twice", seen->cmd->name, option->letter);
    }
    assert_in_range(seen->count, 0, PARSE_OPTIONS_MAX - 1);
    seen->options[seen->count++] = option;
}

static void test_commands__are_whole(void **state)
{
    (void)state;
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        struct seen seen = {.cmd = *at};

        assert_non_null((*at)->help);
        assert_non_null((*at)->synopsis);
        assert_non_null((*at)->example);
        assert_non_null((*at)->run);
        assert_true((*at)->args_min <= (*at)->args_max);
        assert_ptr_equal(cmd_find((*at)->name), *at);
        help_options(*at, look_at, &seen);
    }
}

static void test_commands__offsets_lie_inside_the_values(void **state)
{
    (void)state;
    for (const struct cmd *const *at = cmd_table; *at != NULL; at++) {
        const struct cmd_option *option = (*at)->options;

        for (; option != NULL && option->name != NULL; option++)
            assert_true(option->offset < (*at)->values_size);
    }
}

static void test_commands__exit_codes(void **state)
{
    (void)state;
    assert_int_equal(cmd_exit_of(TARN_OK), 0);
    assert_int_equal(cmd_exit_of(TARN_E_CONFLICT), 4);
    assert_int_equal(cmd_exit_of(TARN_E_INVALID), 2);
    assert_int_equal(cmd_exit_of(TARN_E_DATA), 1);
    assert_int_equal(cmd_exit_of(TARN_E_CANCELLED), 1);
    assert_int_equal(cmd_exit_of(TARN_E_NOTFOUND), 1);
}
