/* tarn merge DIR: a directory full of small Parquet files becomes one of few well-sized ones. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "merge_print.h"
#include "tarn/op.h"
#include "tarn/plan.h"
#include "units.h"

struct values {
    struct cmd_list partitions;
    uint64_t avg_bytes, per_task_bytes, target_bytes, min_files, file_count, bytes_max, rate_bytes,
        level;
    int64_t keep_old_ms, quiet_ms, time_limit_ms;
    const char *small, *codec, *sort_by, *after, *output;
    int verify, times, rule;
    bool widen, crc, undo, plan_only, encode, explain;
};

static const char *const verifies[] = {"rows", "content", NULL};
static const char *const rules[] = {"size", "hive", NULL};
static const char *const times[] = {"keep", "now", NULL};

static const struct values defaults = {.target_bytes = 128u << 20, .min_files = 2};

static const struct cmd_option options[] = {
    CMD_TEXT_LIST(struct values, partitions, "partition", 'p', "COL=VALUE",
                  "only this partition and what is below it; repeatable"),
    CMD_SIZE(struct values, target_bytes, "target", 't', "size of a merged file (128M)"),
    CMD_TEXT(struct values, small, "small", 0, "SIZE",
             "files below it are fragments; a size, or a part of the target (0.75)"),
    CMD_COUNT(struct values, min_files, "min-files", 0, "fragments a partition must have (2)"),
    CMD_COUNT(struct values, file_count, "file-count", 0,
              "files per leaf directory, whatever their sizes"),
    CMD_CHOICE(struct values, rule, "rule", 0, "NAME", rules,
               "size: as above; hive: as Hive's merge of small outputs, by the next two (size)"),
    CMD_SIZE(struct values, avg_bytes, "avg-size", 0,
             "with --rule hive: merge where the average of all files is below (16MB)"),
    CMD_SIZE(struct values, per_task_bytes, "size-per-task", 0,
             "with --rule hive: size of a merged file, at least (256MB)"),
    CMD_TEXT(struct values, codec, "codec", 0, "NAME",
             "keep, zstd, snappy, gzip, brotli, lz4 or none (keep)"),
    CMD_COUNT(struct values, level, "level", 0,
              "of the codec: zstd 1 to 22, gzip 1 to 12, brotli 1 to 11 (its default)"),
    CMD_FLAG(struct values, encode, "encode", 0,
             "decode and encode all values; else column chunks are joined as they are"),
    CMD_FLAG(struct values, explain, "explain", 0,
             "say of each column how it was to be made, how it was, and why"),
    CMD_TEXT(struct values, sort_by, "sort-by", 0, "A, B desc",
             "sort the rows of each merged file; else they keep their order"),
    CMD_FLAG(struct values, widen, "widen", 0,
             "unify columns of different width: int32 with int64 or double, float with double"),
    CMD_CHOICE(struct values, verify, "verify", 0, "WHAT", verifies,
               "before the swap: row counts, or also a hash over whole rows (rows)"),
    CMD_FLAG(struct values, crc, "crc", 0, "write page checksums"),
    CMD_CHOICE(struct values, times, "times", 0, "WHAT", times,
               "times of directories and merged files: put back, or now (keep)"),
    CMD_DURATION(struct values, keep_old_ms, "keep-old", 0,
                 "how long the old files stay for --undo (0s)"),
    CMD_FLAG(struct values, undo, "undo", 0, "restore what the newest run replaced"),
    CMD_DURATION(struct values, quiet_ms, "quiet-for", 0,
                 "leave partitions alone that changed within this time (off)"),
    CMD_DURATION(struct values, time_limit_ms, "time-limit", 0, "start no partition after it"),
    CMD_SIZE(struct values, bytes_max, "max-bytes", 0, "read no more than this, worst first"),
    CMD_SIZE(struct values, rate_bytes, "rate", 0, "bytes a second to read on average"),
    CMD_TEXT(struct values, after, "after", 0, "CMD",
             "run for each changed partition, which is $1 and TARN_PARTITION"),
    CMD_FLAG(struct values, plan_only, "plan-only", 0, "print the plan for exec and commit"),
    CMD_TEXT(struct values, output, "output", 'o', "FILE", "where --plan-only writes"),
    {0}};

static void progress(void *arg, uint64_t done, uint64_t total)
{
    out_progress(arg, "merging", done, total);
}

/* "96M", or "0.75" of the target; false when it is neither. */
static bool small_of(const char *text, uint64_t target, uint64_t *out)
{
    const char *why;
    char *end;
    double part;

    if (text == NULL) {
        *out = 0;
        return true;
    }
    part = strtod(text, &end);
    if (*end == '\0' && part > 0 && part <= 1) {
        *out = (uint64_t)(part * (double)target);
        return true;
    }
    return units_size(text, out, &why);
}

static int write_plan(struct cmd_call *call, const struct values *values,
                      const tarn_merge_options *merge)
{
    tarn_text plan = {0};
    FILE *file;
    bool whole;
    int rc = tarn_merge_plan(call->cx, call->args[0], merge, &plan);

    if (rc != TARN_OK)
        return cmd_end(call, rc);
    if (values->output == NULL || strcmp(values->output, "-") == 0) {
        out_bytes(call->out, plan.bytes, plan.len);
        tarn_text_clear(&plan);
        return CMD_DONE;
    }
    file = fopen(values->output, "wb");
    whole = file != NULL && fwrite(plan.bytes, 1, plan.len, file) == plan.len;
    if (file != NULL)
        whole = fclose(file) == 0 && whole;
    tarn_text_clear(&plan);
    if (!whole) {
        out_error(call->out, "%s: the plan cannot be written there; give another -o",
                  values->output);
        return CMD_FAILED;
    }
    return CMD_DONE;
}

/* Sizes of the one rule mean nothing to the other: CMD_DONE, or CMD_USAGE after a message. */
static int set_rule(struct cmd_call *call, const struct values *values, tarn_merge_options *merge)
{
    static const char *const by_size[] = {"target", "small", "min-files", "file-count"};
    static const char *const by_hive[] = {"avg-size", "size-per-task"};

    merge->rule = (enum tarn_merge_rule)values->rule;
    for (size_t i = 0; i < sizeof by_hive / sizeof by_hive[0]; i++)
        if (merge->rule != TARN_RULE_HIVE && cmd_given(call, by_hive[i]))
            return cmd_usage(call, "--%s is a size of Hive's rule: give --rule hive, too",
                             by_hive[i]);
    if (merge->rule != TARN_RULE_HIVE)
        return CMD_DONE;
    for (size_t i = 0; i < sizeof by_size / sizeof by_size[0]; i++)
        if (cmd_given(call, by_size[i]))
            return cmd_usage(call,
                             "--%s does not go with --rule hive, which sizes by --avg-size and "
                             "--size-per-task",
                             by_size[i]);
    if (cmd_given(call, "avg-size") && values->avg_bytes == 0)
        return cmd_usage(call, "--avg-size must be more than 0: with 0 Hive never merges");
    if (cmd_given(call, "size-per-task") && values->per_task_bytes == 0)
        return cmd_usage(call, "--size-per-task must be more than 0");
    merge->target_bytes = merge->small_bytes = merge->min_files = merge->file_count = 0;
    merge->avg_bytes = values->avg_bytes;
    merge->per_task_bytes = values->per_task_bytes;
    return CMD_DONE;
}

static int run(struct cmd_call *call)
{
    const struct values *values = call->values;
    tarn_merge_options merge = {
        .partitions = values->partitions.items,
        .partition_count = values->partitions.count,
        .target_bytes = values->target_bytes,
        .min_files = values->min_files,
        .file_count = values->file_count,
        .codec = values->codec,
        .level = values->level < INT_MAX ? (int)values->level : INT_MAX,
        .sort_by = values->sort_by,
        .encode = values->encode,
        .widen = values->widen,
        .crc = values->crc,
        .times_now = values->times == 1,
        .dry_run = call->common.dry_run,
        .verify = (enum tarn_merge_verify)values->verify,
        .keep_old_ms = values->keep_old_ms,
        .quiet_ms = values->quiet_ms,
        .time_limit_ms = values->time_limit_ms,
        .bytes_max = values->bytes_max,
        .rate_bytes = values->rate_bytes,
        .after = values->after,
        .on_progress = progress,
        .progress_arg = call->out,
    };
    tarn_merge_report *report = NULL;
    int rc, exit_code;

    if (values->target_bytes == 0)
        return cmd_usage(call, "--target must be more than 0");
    if (cmd_given(call, "file-count") && values->file_count == 0)
        return cmd_usage(call, "--file-count must be more than 0");
    if (values->undo && (values->plan_only || call->common.dry_run))
        return cmd_usage(call, "--undo does not go with --plan-only or --dry-run");
    if (!small_of(values->small, values->target_bytes, &merge.small_bytes))
        return cmd_usage(call, "--small %s is neither a size nor a part of the target",
                         values->small);
    if (values->small != NULL && merge.small_bytes == 0)
        return cmd_usage(call, "--small must be more than 0: no file is smaller than that");
    if (set_rule(call, values, &merge) != CMD_DONE)
        return CMD_USAGE;
    if (values->plan_only)
        return write_plan(call, values, &merge);
    rc = values->undo ? tarn_merge_undo(call->cx, call->args[0], &report)
                      : tarn_merge(call->cx, call->args[0], &merge, &report);
    out_progress_end(call->out);
    if (rc != TARN_OK)
        return cmd_end(call, rc);
    exit_code = merge_print_report(call, report, values->undo ? "undo" : "merge", values->explain);
    tarn_merge_report_close(report);
    return exit_code;
}

const struct cmd cmd_merge = {
    .name = "merge",
    .help = "merge the small Parquet files of a directory into few well-sized ones",
    .synopsis = "DIR",
    .about =
        "Only fragments are rewritten: files below --small. Well-sized files are not touched, nor "
        "is what an earlier merge wrote, unless new fragments have come. A partition becomes "
        "ceil(bytes / 1.2 target) files in equal shares, in name order, rows in their order; "
        "nothing is rewritten when the number of files would not drop.\n\n"
        "--rule hive decides and sizes as Hive's merge of small outputs: a partition is merged "
        "when "
        "the average of all its files, hidden ones and markers too, is below --avg-size, and "
        "becomes a file for each combined split (tarn splits) of --size-per-task, or of --avg-size "
        "where that is larger. Only Parquet files are touched. Where Hive would write the same "
        "files again and again, it stops: nothing is rewritten unless the number of files drops, "
        "what it merged for such a size is no reason to merge, and a file of that size that would "
        "be one again stays as it is.\n\n"
        "The new files are built beside the directory (in ../.NAME.tarn), verified, and the whole "
        "partition is exchanged in one step where the file system can do that: who lists sees the "
        "old or the new files. Who listed before and opens later gets \"no such file\", never "
        "wrong "
        "rows; files already open stay readable. Files that others add meanwhile are carried over; "
        "when an input changes or vanishes, the swap is taken back and the partition reported as a "
        "conflict. A program that goes on appending to a file it holds open writes into one that "
        "has left: --quiet-for leaves partitions alone that are being written.\n\n"
        "A directory with sub-directories, a mount point, and a file system without exchange go "
        "through a journal that renames file by file: meanwhile, and after a crash until the next "
        "run, readers may see too few rows, never a row twice. docs/merge.md tells it moment by "
        "moment.\n\n"
        "Small row groups become large ones without their values being decoded, where that can be: "
        "compressed pages are copied, dictionaries joined and their indices written again, tiny "
        "pages packed together. What is left is decoded and encoded; --explain tells of each "
        "column how it went and why, --encode does it for all. --sort-by, --level and --widen "
        "(for the columns it changes) encode, too.\n\n"
        "Columns are unified by name: order, nullability and missing columns may differ. What "
        "cannot be unified stays apart and is reported. With --sort-by each merged file is sorted; "
        "its largest column must fit --memory.\n\n"
        "Exit code 1 when a partition failed, was a conflict or could not be listed; the others "
        "are done. Exit code 4 when another run holds the directory.",
    .example = "# what would be done\n"
               "tarn merge --dry-run /data/events\n"
               "# do it, and be able to go back for a day\n"
               "tarn merge --keep-old 1d /data/events\n"
               "# what Hive would have made of it, in files of 64 MiB\n"
               "tarn merge --rule hive --avg-size 16MB --size-per-task 64M /data/events\n"
               "# how each column would be made\n"
               "tarn merge --dry-run --explain /data/events\n"
               "# only some days, with whole rows compared before the swap\n"
               "tarn merge --partition dt=2024-05-12 --verify content /data/events",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .values_size = sizeof(struct values),
    .defaults = &defaults,
    .changes = true,
    .run = run,
};
