/* tarn splits PATH: which parts of which files one reader takes, as Hadoop decides it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "merge_print.h"
#include "tarn/split.h"

#define LINES_MAX     40 /* splits listed for people */
#define LOCATIONS_MAX 3  /* hosts named in a line */

struct values {
    struct cmd_list pools;
    uint64_t max_bytes, min_bytes, min_node_bytes, min_rack_bytes, block_bytes, split_count;
    const char *locations;
    int api;
    bool ignore_subdirs, recursive;
};

static const char *const apis[] = {"combine", "hive-shim", "file-new", "file-old", NULL};

static const struct cmd_option options[] = {
    CMD_CHOICE(struct values, api, "api", 0, "NAME", apis,
               "combine: CombineFileInputFormat; hive-shim: as Hive calls it; file-new, file-old: "
               "the plain FileInputFormat of mapreduce, of mapred (combine)"),
    CMD_SIZE(struct values, max_bytes, "max-size", 0,
             "of a split; for combine 0 is no limit (not set)"),
    CMD_SIZE(struct values, min_bytes, "min-size", 0,
             "of a split; for hive-shim it stands in for the other three (not set)"),
    CMD_SIZE(struct values, min_node_bytes, "min-size-node", 0,
             "what is left on a node becomes a split from this on (not set)"),
    CMD_SIZE(struct values, min_rack_bytes, "min-size-rack", 0,
             "what is left in a rack becomes a split from this on (not set)"),
    CMD_COUNT(struct values, split_count, "num-splits", 0,
              "splits wanted, for file-old (2, as mapreduce.job.maps)"),
    CMD_TEXT_LIST(struct values, pools, "pool", 0, "PREFIX[,PREFIX]",
                  "files whose paths begin so share splits with each other only; repeatable, one "
                  "pool each"),
    CMD_FLAG(struct values, ignore_subdirs, "ignore-subdirs", 0,
             "leave sub-directories out where the api would not"),
    CMD_FLAG(struct values, recursive, "recursive", 0, "take the files of sub-directories, too"),
    CMD_SIZE(struct values, block_bytes, "block-size", 0,
             "files lie in blocks of this size, as on HDFS (one block each; 128M for file-*)"),
    CMD_TEXT(struct values, locations, "locations", 0, "FILE",
             "files, their blocks and hosts as JSON, instead of PATH; - is standard input"),
    {0}};

/* ---- pools */

static void free_pools(tarn_split_pool *pools, size_t count)
{
    for (size_t i = 0; pools != NULL && i < count; i++) {
        if (pools[i].prefix_count != 0)
            free((char *)pools[i].prefixes[0]);
        free((void *)pools[i].prefixes);
    }
    free(pools);
}

/* "a,b": prefixes of one pool, cut out of one copy of the text. */
static bool parse_pool(const char *text, tarn_split_pool *out)
{
    char *copy = strdup(text), *at = copy;
    size_t count = 1;
    const char **prefixes;

    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',';
    prefixes = calloc(count, sizeof *prefixes);
    if (copy == NULL || prefixes == NULL) {
        free(copy);
        free(prefixes);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        prefixes[i] = at;
        at += strcspn(at, ",");
        if (*at == ',')
            *at++ = '\0';
    }
    *out = (tarn_split_pool){prefixes, count};
    return true;
}

static tarn_split_pool *parse_pools(const struct cmd_list *list)
{
    tarn_split_pool *pools = calloc(list->count + 1, sizeof *pools);

    for (size_t i = 0; pools != NULL && i < list->count; i++)
        if (!parse_pool(list->items[i], &pools[i])) {
            free_pools(pools, i);
            return NULL;
        }
    return pools;
}

/* ---- printing */

static void json_name(struct out_json *json, const tarn_split_plan *plan, const char *path)
{
    if (plan->text_paths)
        out_json_text(json, NULL, path);
    else
        out_json_name(json, NULL, path, strlen(path));
}

static void print_json(struct out *out, const tarn_split_plan *plan)
{
    struct out_json json = out_json_open(out, "splits", 1);

    out_json_array(&json, "splits");
    for (size_t i = 0; i < plan->split_count && !out_ended(out); i++) {
        const tarn_split_part *part = &plan->splits[i];

        out_json_object(&json, NULL);
        out_json_i64(&json, "len", part->len);
        out_json_array(&json, "chunks");
        for (size_t k = 0; k < part->chunk_count; k++) {
            out_json_array(&json, NULL);
            json_name(&json, plan, part->chunks[k].path);
            out_json_i64(&json, NULL, part->chunks[k].offset);
            out_json_i64(&json, NULL, part->chunks[k].len);
            out_json_array_end(&json);
        }
        out_json_array_end(&json);
        out_json_array(&json, "locations");
        for (size_t k = 0; k < part->location_count; k++)
            out_json_text(&json, NULL, part->locations[k]);
        out_json_array_end(&json);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_close(&json);
}

static void cell_locations(struct out_table *table, const tarn_split_part *part)
{
    char text[256] = "";
    size_t len = 0;

    for (size_t i = 0; i < part->location_count && i < LOCATIONS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.60s", i != 0 ? ", " : "",
                                part->locations[i]);
    if (part->location_count > LOCATIONS_MAX)
        snprintf(text + len, sizeof text - len, ", … (%zu)", part->location_count);
    out_cell_name(table, part->location_count != 0 ? text : "-",
                  part->location_count != 0 ? strlen(text) : 1);
}

/* What is in a split: the first chunk, and how many more. */
static void cell_chunks(struct out_table *table, const tarn_split_part *part)
{
    const tarn_split_chunk *first = &part->chunks[0];
    size_t room = strlen(first->path) + 80;
    char *text = malloc(room);

    if (text == NULL) {
        out_cell(table, "-");
        return;
    }
    snprintf(text, room, "%s", first->path);
    if (first->offset != 0)
        snprintf(text + strlen(text), 80, " from %lld", (long long)first->offset);
    if (part->chunk_count > 1)
        snprintf(text + strlen(text), 40, ", … (%zu)", part->chunk_count);
    out_cell_name(table, text, strlen(text));
    free(text);
}

static void print(struct out *out, const tarn_split_plan *plan)
{
    static const struct out_column columns[] = {
        {"split", true}, {"size", true}, {"chunks", true}, {"locations", false}, {"of", false}};
    struct out_word a, b, c, d;
    struct out_table *table;

    if (plan->split_count != 0) {
        table = out_table_open(out, columns, sizeof columns / sizeof columns[0]);
        for (size_t i = 0; i < plan->split_count && i < LINES_MAX; i++) {
            out_cell_count(table, i + 1);
            out_cell_size(table, (uint64_t)plan->splits[i].len);
            out_cell_count(table, plan->splits[i].chunk_count);
            cell_locations(table, &plan->splits[i]);
            cell_chunks(table, &plan->splits[i]);
        }
        out_table_close(table);
    }
    if (plan->split_count > LINES_MAX)
        out_text(out, "… and %zu more\n", plan->split_count - LINES_MAX);
    out_text(out, "%s of %s in %s become %s (%s)\n", out_many(&a, plan->files, "file", NULL),
             out_size(&b, plan->bytes), out_many(&c, plan->chunk_count, "chunk", NULL),
             out_many(&d, plan->split_count, "split", NULL), apis[plan->api - 1]);
    if (plan->directories != 0)
        out_text(out, "%s among the input; --recursive takes what is in it\n",
                 out_many(&a, plan->directories, "sub-directory", "sub-directories"));
}

/* ---- the command */

static int plan(struct cmd_call *call, const tarn_split_options *split, tarn_split_plan **out)
{
    const struct values *values = call->values;
    const char *name = values->locations;
    size_t len = 0;
    char *text;
    int rc;

    if (name == NULL)
        return tarn_split(call->cx, call->args, call->arg_count, split, out);
    text = merge_print_read(call, name, &len);
    if (text == NULL)
        return -1;
    rc = tarn_split_locations(call->cx, text, len, strcmp(name, "-") == 0 ? "standard input" : name,
                              split, out);
    free(text);
    return rc;
}

static const uint64_t *given(const struct cmd_call *call, const char *name, const uint64_t *value)
{
    return cmd_given(call, name) ? value : NULL;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_split_pool *pools;
    tarn_split_plan *made = NULL;
    int rc;

    if (values->locations == NULL && call->arg_count == 0)
        return cmd_usage(call, "a PATH is missing, or --locations FILE");
    if (values->locations != NULL && call->arg_count != 0)
        return cmd_usage(call, "--locations stands instead of a PATH; give one of them");
    if (values->locations != NULL && (values->recursive || cmd_given(call, "block-size")))
        return cmd_usage(call, "--recursive and --block-size are for a PATH; --locations says it");
    pools = parse_pools(&values->pools);
    if (pools == NULL) {
        out_error(call->out, "memory is short");
        return CMD_FAILED;
    }
    rc = plan(call,
              &(tarn_split_options){
                  .api = cmd_given(call, "api") ? (enum tarn_split_api)(values->api + 1) : 0,
                  .max_bytes = given(call, "max-size", &values->max_bytes),
                  .min_bytes = given(call, "min-size", &values->min_bytes),
                  .min_node_bytes = given(call, "min-size-node", &values->min_node_bytes),
                  .min_rack_bytes = given(call, "min-size-rack", &values->min_rack_bytes),
                  .split_count = given(call, "num-splits", &values->split_count),
                  .block_bytes = given(call, "block-size", &values->block_bytes),
                  .ignore_subdirs = values->ignore_subdirs ? &values->ignore_subdirs : NULL,
                  .pools = pools,
                  .pool_count = values->pools.count,
                  .recursive = values->recursive},
              &made);
    free_pools(pools, values->pools.count);
    if (rc == TARN_OK && call->common.json)
        print_json(call->out, made);
    else if (rc == TARN_OK)
        print(call->out, made);
    else if (rc > 0)
        out_error(call->out, "%s", tarn_cx_error(call->cx));
    tarn_split_close(made);
    /* What Hadoop refuses is a failed plan, not a slip on the command line. */
    return rc == TARN_OK ? CMD_DONE : CMD_FAILED;
}

const struct cmd cmd_splits = {
    .name = "splits",
    .help = "plan the splits that Hadoop or Hive would read files by",
    .synopsis = "PATH…",
    .about =
        "Prints what a job would give each of its map tasks: parts of files, and the hosts to read "
        "them on, decided as by Hadoop 3.3.6 (and Hive 2.3.9), in their order. Nothing is read or "
        "changed.\n\n"
        "combine cuts each block at --max-size (142M at 128M are two of 71M), fills splits with "
        "the chunks of one node, then of one rack, then with what is left. hive-shim does the same "
        "after dropping empty files. file-new and file-old keep every file to itself, the last "
        "split of one up to 1.1 times the size. docs/splits.md has the rules and a picture.\n\n"
        "The input is the files of PATH, by name, but those that begin with \"_\" or \".\"; of a "
        "Hudi table those of its latest snapshot, at any depth (a directory inside of one is "
        "refused: it has old files, too). Of "
        "sub-directories combine and hive-shim take nothing, file-new makes an empty split, and "
        "file-old refuses them: see --recursive and --ignore-subdirs. Names that end in .gz, "
        ".snappy, .lz4, .zst or .deflate are never cut. All is on localhost, each file one block, "
        "as Hadoop's local file system says; with --block-size files lie in blocks as on HDFS.\n\n"
        "--locations reads an object with \"files\", and maybe \"config\", \"pools\" and \"api\"; "
        "options given here win over it.",
    .example =
        "# how many map tasks would read this day\n"
        "tarn splits --max-size 128M --min-size-node 1 --min-size-rack 1 /data/dt=2024-05-12\n"
        "# as Hive's defaults would\n"
        "tarn splits --api hive-shim --max-size 256MB --min-size 1 /data/dt=2024-05-12\n"
        "# with the blocks and hosts of a cluster\n"
        "tarn splits --locations blocks.json --max-size 128M --json",
    .options = options,
    .args_min = 0,
    .args_max = CMD_ARGS_ANY,
    .values_size = sizeof(struct values),
    .run = run,
};
