/* Command lines into values: every kind of option, and what is refused. */
#include "unit/test.h"

#include "cmd.h"
#include "parse.h"

struct values {
    bool force;
    const char *output;
    struct cmd_list partitions;
    uint64_t target_bytes;
    int64_t keep_ms;
    uint64_t files;
    int codec;
};

static const char *const codecs[] = {"keep", "zstd", "none", NULL};
static const struct values defaults = {.target_bytes = 128 << 20, .output = "-"};
static const struct cmd_option options[] = {
    CMD_FLAG(struct values, force, "force", 'f', "go on"),
    CMD_TEXT(struct values, output, "output", 'o', "FILE", "where to"),
    CMD_TEXT_LIST(struct values, partitions, "partition", 'p', "COL=VALUE", "only this"),
    CMD_SIZE(struct values, target_bytes, "target", 0, "size (128M)"),
    CMD_DURATION(struct values, keep_ms, "keep-old", 0, "how long (0s)"),
    CMD_COUNT(struct values, files, "file-count", 0, "how many"),
    CMD_CHOICE(struct values, codec, "codec", 0, "NAME", codecs, "compression (keep)"),
    {0},
};
static const struct cmd trial = {
    .name = "trial",
    .help = "try",
    .synopsis = "DIR",
    .options = options,
    .args_min = 1,
    .args_max = 2,
    .values_size = sizeof(struct values),
    .defaults = &defaults,
    .changes = true,
};

#define WORDS_MAX 16

struct line {
    struct out *out;
    struct parse parse;
    struct cmd_call call;
    char *words[WORDS_MAX];
    int exit_code;
};

static void begin(struct line *line, const char *const *words)
{
    int count = 0;

    *line = (struct line){.out = out_open()};
    line->call.cmd = &trial;
    line->call.out = line->out;
    for (; words[count] != NULL; count++)
        line->words[count] = (char *)words[count];
    line->exit_code = parse_line(&line->parse, &line->call, count, line->words);
}

static void end(struct line *line)
{
    parse_clear(&line->parse);
    free(line->out);
}

static void test_parse__every_kind(void **state)
{
    static const char *const words[] = {
        "-f",       "dir",  "--output=a=b",   "-pdt=1",       "--partition", "dt=2",
        "--target", "1.5G", "--keep-old=10m", "--file-count", "7",           "--codec=zstd",
        "-j4",      NULL};
    struct line line;
    const struct values *values;

    (void)state;
    begin(&line, words);
    values = line.call.values;
    assert_int_equal(line.exit_code, CMD_DONE);
    assert_true(values->force);
    assert_string_equal(values->output, "a=b");
    assert_int_equal(values->partitions.count, 2);
    assert_string_equal(values->partitions.items[0], "dt=1");
    assert_string_equal(values->partitions.items[1], "dt=2");
    assert_int_equal(values->target_bytes, 1610612736);
    assert_int_equal(values->keep_ms, 600000);
    assert_int_equal(values->files, 7);
    assert_int_equal(values->codec, 1);
    assert_int_equal(line.call.common.jobs, 4);
    assert_int_equal(line.call.arg_count, 1);
    assert_string_equal(line.call.args[0], "dir");
    assert_true(cmd_given(&line.call, "target"));
    end(&line);
}

static void test_parse__defaults_stay(void **state)
{
    static const char *const words[] = {"--dry-run", "--", "-f", "-", NULL};
    struct line line;
    const struct values *values;

    (void)state;
    begin(&line, words);
    values = line.call.values;
    assert_int_equal(line.exit_code, CMD_DONE);
    assert_true(line.call.common.dry_run);
    assert_false(values->force);
    assert_int_equal(values->target_bytes, 128 << 20);
    assert_false(cmd_given(&line.call, "target"));
    assert_int_equal(line.call.arg_count, 2);
    assert_string_equal(line.call.args[0], "-f");
    assert_string_equal(line.call.args[1], "-");
    end(&line);
}

static void test_parse__refused(void **state)
{
    static const char *const cases[][5] = {
        {NULL},                                    /* DIR is missing */
        {"a", "b", "c", NULL},                     /* too many */
        {"a", "--targe", "1M", NULL},              /* unknown; names are never cut short */
        {"a", "--target", NULL},                   /* no value */
        {"a", "--target=", NULL},                  /* an empty one */
        {"a", "--target", "12 parsecs", NULL},     /* no size */
        {"a", "--target=1M", "--target=2M", NULL}, /* twice */
        {"a", "--force=no", NULL},                 /* a flag with a value */
        {"a", "-fo", "x", NULL},                   /* letters are not joined */
        {"a", "--codec", "rar", NULL},             /* none of the choices */
        {"a", "--file-count", "-1", NULL},         /* negative */
        {"a", "--keep-old", "10", NULL},           /* no unit */
        {"a", "--", "--target", "1M", NULL},       /* words, and too many */
        {"a", "--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         NULL},
        {"a", "---", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line line;

        begin(&line, cases[i]);
        assert_int_equal(line.exit_code, CMD_USAGE);
        end(&line);
    }
}

static void test_parse__nearest(void **state)
{
    static const char *const words[] = {"merge", "commit", "doctor", NULL};

    (void)state;
    assert_string_equal(parse_nearest("marge", words), "merge");
    assert_string_equal(parse_nearest("doc", words), "doctor");
    assert_string_equal(parse_nearest("comit", words), "commit");
    assert_null(parse_nearest("zebra", words));
    assert_null(parse_nearest("", words));
}
