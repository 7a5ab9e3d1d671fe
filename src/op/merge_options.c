/* Options of a merge as people give them. I1: what is not understood is INVALID and named. */
#include <ctype.h>
#include <inttypes.h>

#include "op/merge_op.h"

static const struct {
    const char *name;
    int32_t codec;
    int level_max; /* 0: it has no levels */
} codecs[] = {{"keep", TN_CODEC_KEEP, 22},       {"zstd", TN_CODEC_ZSTD, 22},
              {"snappy", TN_CODEC_SNAPPY, 0},    {"gzip", TN_CODEC_GZIP, 12},
              {"brotli", TN_CODEC_BROTLI, 11},   {"lz4", TN_CODEC_LZ4_RAW, 0},
              {"lz4_raw", TN_CODEC_LZ4_RAW, 0},  {"none", TN_CODEC_NONE, 0},
              {"uncompressed", TN_CODEC_NONE, 0}};

/* "keep" goes as far as the codec that goes furthest; the others stop at their own end. */
int tn_merge_codec_of(tarn_cx *cx, const char *name, int level, bool keep, int32_t *out)
{
    for (size_t i = keep ? 0 : 1; i < sizeof codecs / sizeof codecs[0]; i++) {
        if (strcmp(name, codecs[i].name) != 0)
            continue;
        if (level != 0 && codecs[i].level_max == 0)
            return tn_fail(cx, TARN_E_INVALID, "level: %s has no levels; leave the level out",
                           name);
        if (level < 0 || level > codecs[i].level_max)
            return tn_fail(cx, TARN_E_INVALID,
                           "level: %d is not one of %s; give 1 to %d, or 0 for its default", level,
                           name, codecs[i].level_max);
        *out = codecs[i].codec;
        return TARN_OK;
    }
    return tn_fail(cx, TARN_E_INVALID,
                   "codec \"%s\" is not known; give %szstd, snappy, gzip, brotli, lz4 or none",
                   name, keep ? "keep, " : "");
}

static tn_str trim(tn_str text)
{
    while (text.len != 0 && isspace((unsigned char)text.ptr[0]))
        text = tn_str_from(text, 1);
    while (text.len != 0 && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Takes `word` off the end of the text, whatever its case. */
static bool take_end(tn_str *text, const char *word)
{
    size_t n = strlen(word), at;

    if (text->len <= n || !isspace((unsigned char)text->ptr[text->len - n - 1]))
        return false;
    at = text->len - n;
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)text->ptr[at + i]) != word[i])
            return false;
    text->len = at;
    *text = trim(*text);
    return true;
}

/* "column", "column desc", "column asc nulls last"; a column in double quotes may hold anything. */
static int sort_key_of(tarn_cx *cx, tn_str text, tn_sort_key *out)
{
    bool first, last;

    text = trim(text);
    last = take_end(&text, "nulls last");
    first = !last && take_end(&text, "nulls first");
    out->descending = take_end(&text, "desc");
    if (!out->descending)
        (void)take_end(&text, "asc");
    out->nulls_last = last || (out->descending && !first);
    if (text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        text = (tn_str){text.ptr + 1, text.len - 2};
    out->column = text;
    return text.len != 0
               ? TARN_OK
               : tn_fail(cx, TARN_E_INVALID, "sort-by: a column is missing; give \"a, b desc\"");
}

static int sort_of(tarn_cx *cx, const char *text, tn_arena *arena, tn_merge_options *out)
{
    tn_str rest = tn_str_of(text);
    size_t count = 1;
    tn_sort_key *keys;
    int rc = TARN_OK;

    for (size_t i = 0; i < rest.len; i++)
        count += rest.ptr[i] == ',';
    keys = tn_arena_array(cx, arena, count, sizeof *keys);
    if (keys == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t end = tn_str_find(rest, ',');

        TN_TRY(sort_key_of(cx, (tn_str){rest.ptr, end}, &keys[i]));
        rest = tn_str_from(rest, end + 1);
    }
    out->sort = keys;
    out->sort_count = count;
done:
    return rc;
}

/* Hive's two sizes; those of the other rule must not be given. */
static int hive_of(tarn_cx *cx, const tarn_merge_options *options, tn_merge_options *out)
{
    if (options->rule != TARN_RULE_HIVE) {
        if (options->avg_bytes != 0 || options->per_task_bytes != 0)
            return tn_fail(
                cx, TARN_E_INVALID,
                "avg-size and size-per-task are sizes of Hive's rule: give the rule, too");
        return TARN_OK;
    }
    if (options->target_bytes != 0 || options->small_bytes != 0 || options->min_files != 0 ||
        options->file_count != 0)
        return tn_fail(
            cx, TARN_E_INVALID,
            "Hive's rule sizes by avg-size and size-per-task alone: leave target, small, "
            "min-files and file-count out");
    if (options->avg_bytes > INT64_MAX / 16 || options->per_task_bytes > INT64_MAX / 16)
        return tn_fail(cx, TARN_E_INVALID,
                       "avg-size, size-per-task: more bytes than a file can have");
    out->hive = true;
    out->hive_rule.avg_bytes =
        options->avg_bytes != 0 ? (int64_t)options->avg_bytes : TN_HIVE_AVG_BYTES;
    out->hive_rule.per_task_bytes =
        options->per_task_bytes != 0 ? (int64_t)options->per_task_bytes : TN_HIVE_PER_TASK_BYTES;
    return TARN_OK;
}

int tn_merge_options_of(tarn_cx *cx, const tarn_merge_options *options, tn_arena *arena,
                        tn_merge_options *out)
{
    tn_merge_options made = {.now_ms = tn_cx_now_ms(cx)};
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, arena, &made.id, "%016" PRIx64, tn_cx_random(cx)));
    made.target_bytes = options->target_bytes;
    made.small_bytes = options->small_bytes;
    made.min_files = options->min_files;
    made.file_count = options->file_count;
    made.bytes_max = options->bytes_max;
    made.quiet_ms = options->quiet_ms;
    made.keep_old_ms = options->keep_old_ms;
    made.level = options->level;
    made.widen = options->widen;
    made.encode = options->encode;
    made.crc = options->crc;
    made.times_now = options->times_now;
    made.verify_content = options->verify == TARN_VERIFY_CONTENT;
    TN_TRY(tn_merge_codec_of(cx, options->codec != NULL ? options->codec : "keep", options->level,
                             true, &made.codec));
    if (options->sort_by != NULL && options->sort_by[0] != '\0')
        TN_TRY(sort_of(cx, options->sort_by, arena, &made));
    TN_TRY(hive_of(cx, options, &made));
    if (made.target_bytes > INT64_MAX / 16)
        TN_FAIL(TARN_E_INVALID, "target: %" PRIu64 " bytes are more than a file can have",
                made.target_bytes);
    if (made.small_bytes > (made.target_bytes != 0 ? made.target_bytes : 128u << 20))
        TN_FAIL(TARN_E_INVALID,
                "small: %" PRIu64 " bytes are more than the target; files of that size are no "
                "fragments: give a smaller one, or a larger --target",
                made.small_bytes);
    *out = made;
done:
    return rc;
}

int tn_merge_dir_options(tarn_cx *cx, const tarn_merge_options *options,
                         const tn_merge_options *plan, tn_arena *arena, tn_dir_options *out)
{
    tn_dir_options made = {.for_write = true, .probe = !options->dry_run};
    tn_str *partitions = tn_arena_array(cx, arena, options->partition_count, sizeof *partitions);

    if (partitions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < options->partition_count; i++)
        partitions[i] = tn_str_of(options->partitions[i]);
    made.partitions = options->partition_count != 0 ? partitions : NULL;
    made.partition_count = options->partition_count;
    made.count_hidden = plan->hive;
    made.footers_below_bytes =
        options->file_count != 0 || plan->hive ? 0 : tn_plan_merge_small(plan);
    *out = made;
    return TARN_OK;
}
