/* What options say of a table: of one that is to be made, and whether one that is there agrees.
 *
 * I1: a table that is there is never changed by options: what contradicts it is refused. */
#include <stdlib.h>
#include <strings.h>

#include "op/hudi_op.h"

#define VERSION_DEFAULT 6

static const struct {
    const char *word, *name; /* as people type it; as the class is named */
    enum tn_keygen kind;
} keygens[] = {{"simple", "SimpleKeyGenerator", TN_KEYGEN_SIMPLE},
               {"complex", "ComplexKeyGenerator", TN_KEYGEN_COMPLEX},
               {"non_partition", "NonpartitionedKeyGenerator", TN_KEYGEN_NON_PARTITION},
               {"timestamp", "TimestampBasedKeyGenerator", TN_KEYGEN_TIMESTAMP},
               {"custom", "CustomKeyGenerator", TN_KEYGEN_CUSTOM}};

static const struct {
    const char *word;
    enum tn_keygen_time type;
} times[] = {
    {"UNIX_TIMESTAMP", TN_KEYGEN_UNIX_TIMESTAMP},  {"EPOCHMILLISECONDS", TN_KEYGEN_EPOCH_MILLIS},
    {"EPOCHMICROSECONDS", TN_KEYGEN_EPOCH_MICROS}, {"SCALAR", TN_KEYGEN_SCALAR},
    {"DATE_STRING", TN_KEYGEN_DATE_STRING},        {"MIXED", TN_KEYGEN_MIXED}};

static bool same_word(tn_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static int list_of(tarn_cx *cx, tn_arena *arena, const char *const *items, size_t count,
                   tn_hudi_list *out)
{
    if (count == 0)
        return TARN_OK;
    out->items = tn_arena_array(cx, arena, count, sizeof *out->items);
    if (out->items == NULL)
        return TARN_E_NOMEM;
    out->count = count;
    for (size_t i = 0; i < count; i++)
        out->items[i] = tn_str_of(items[i]);
    return TARN_OK;
}

static void text_of(const char *given, tn_str *out)
{
    if (given != NULL)
        *out = tn_str_of(given);
}

int tn_hudi_table_given(tarn_cx *cx, tn_arena *arena, const tarn_table_options *given,
                        tn_hudi_options *options)
{
    int rc = TARN_OK;

    TN_TRY(list_of(cx, arena, given->keys, given->key_count, &options->keys));
    TN_TRY(
        list_of(cx, arena, given->partition_by, given->partition_by_count, &options->partitions));
    TN_TRY(list_of(cx, arena, given->ordering, given->ordering_count, &options->ordering));
    text_of(given->type, &options->type);
    text_of(given->keygen, &options->keygen);
    text_of(given->merge_mode, &options->merge_mode);
    text_of(given->payload, &options->payload);
    text_of(given->timezone, &options->timezone);
    text_of(given->name, &options->name);
    text_of(given->database, &options->database);
    if (given->version != 0)
        options->version = given->version;
    if (given->hive_style)
        options->hive_style = 1;
    if (given->url_encode)
        options->url_encode = 1;
    if (given->no_meta_fields)
        options->meta_fields = 0;
done:
    return rc;
}

/* 0: a class of the user's own, or no such word. */
static enum tn_keygen keygen_of(tn_str text)
{
    tn_str name = text;

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '.')
            name = tn_str_from(text, i + 1);
    for (size_t i = 0; i < sizeof keygens / sizeof *keygens; i++) {
        char avro[64];

        snprintf(avro, sizeof avro, "%.*sAvroKeyGenerator",
                 (int)(strlen(keygens[i].name) - strlen("KeyGenerator")), keygens[i].name);
        if (same_word(text, keygens[i].word) || tn_str_is(name, keygens[i].name) ||
            tn_str_is(name, avro))
            return keygens[i].kind;
        snprintf(avro, sizeof avro, "%s_AVRO", keygens[i].word);
        if (same_word(text, avro))
            return keygens[i].kind;
    }
    return 0;
}

static const char *keygen_word(enum tn_keygen kind)
{
    for (size_t i = 0; i < sizeof keygens / sizeof *keygens; i++)
        if (keygens[i].kind == kind)
            return keygens[i].word;
    return "of its own";
}

/* 0: none. */
static enum tn_merge_mode merge_mode_of(tn_str text)
{
    if (same_word(text, "commit_time") || same_word(text, "COMMIT_TIME_ORDERING"))
        return TN_MERGE_COMMIT_TIME;
    if (same_word(text, "event_time") || same_word(text, "EVENT_TIME_ORDERING"))
        return TN_MERGE_EVENT_TIME;
    if (same_word(text, "CUSTOM"))
        return TN_MERGE_CUSTOM;
    return 0;
}

static const char *const merge_words[] = {
    [TN_MERGE_COMMIT_TIME] = "COMMIT_TIME_ORDERING",
    [TN_MERGE_EVENT_TIME] = "EVENT_TIME_ORDERING",
    [TN_MERGE_CUSTOM] = "CUSTOM",
};

/* "f:timestamp" taken apart: names, and which of them are times. */
static int split_partitions(tarn_cx *cx, tn_arena *arena, const tn_hudi_list *given,
                            tn_hudi_list *names, bool **is_time, bool *typed)
{
    int rc = TARN_OK;

    *typed = false;
    *names = (tn_hudi_list){0};
    *is_time = tn_arena_array(cx, arena, given->count + 1, sizeof **is_time);
    names->items = tn_arena_array(cx, arena, given->count + 1, sizeof *names->items);
    if (*is_time == NULL || names->items == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < given->count; i++) {
        tn_str item = given->items[i];
        size_t at = tn_str_find(item, ':');
        tn_str type = tn_str_from(item, at + 1);

        if (at != item.len && !same_word(type, "simple") && !same_word(type, "timestamp"))
            TN_FAIL(TARN_E_INVALID,
                    "partition column %.*s: what follows the colon is simple or timestamp",
                    TN_STR_ARG(item));
        *typed = *typed || at != item.len;
        (*is_time)[i] = at != item.len && same_word(type, "timestamp");
        names->items[names->count++] = (tn_str){item.ptr, at};
    }
done:
    return rc;
}

/* The generator that was asked for, or that Hudi would take (KeyGenUtils.inferKeyGeneratorType). */
static int choose_keygen(tarn_cx *cx, const tn_hudi_options *options, bool typed, tn_hudi_new *out)
{
    int rc = TARN_OK;

    if (options->keygen.len != 0) {
        out->keygen = keygen_of(options->keygen);
        /* A class of somebody's own has a package; what has none is no class at all. */
        if (out->keygen == 0)
            TN_FAIL(tn_str_find(options->keygen, '.') != options->keygen.len ? TARN_E_UNSUPPORTED
                                                                             : TARN_E_INVALID,
                    "key generator %.*s: tarn knows simple, complex, non_partition, timestamp and "
                    "custom",
                    TN_STR_ARG(options->keygen));
    } else if (out->partition_count == 0) {
        out->keygen = TN_KEYGEN_NON_PARTITION;
    } else if (typed) {
        out->keygen = TN_KEYGEN_CUSTOM;
    } else if (out->timebased.type != 0) {
        out->keygen = TN_KEYGEN_TIMESTAMP;
    } else {
        out->keygen =
            out->partition_count == 1 && out->key_count == 1 ? TN_KEYGEN_SIMPLE : TN_KEYGEN_COMPLEX;
    }
    if (typed && out->keygen != TN_KEYGEN_CUSTOM)
        TN_FAIL(TARN_E_INVALID,
                "key generator %s: partition columns have types (COL:timestamp) "
                "with custom alone",
                keygen_word(out->keygen));
    if (out->keygen == TN_KEYGEN_NON_PARTITION && out->partition_count != 0)
        TN_FAIL(TARN_E_INVALID, "key generator non_partition: the table has partition columns");
    if ((out->keygen == TN_KEYGEN_SIMPLE || out->keygen == TN_KEYGEN_TIMESTAMP) &&
        (out->partition_count != 1 || out->key_count != 1))
        TN_FAIL(TARN_E_INVALID,
                "key generator %s: it takes one key column and one partition column",
                keygen_word(out->keygen));
    if (out->keygen == TN_KEYGEN_TIMESTAMP &&
        (out->timebased.type == 0 || out->timebased.output_format.len == 0))
        TN_FAIL(TARN_E_INVALID,
                "key generator timestamp: it needs --set hoodie.keygen.timebased.timestamp.type=… "
                "and --set hoodie.keygen.timebased.output.dateformat=…");
done:
    return rc;
}

static int choose_time(tarn_cx *cx, const tn_hudi_options *options, tn_hudi_new *out)
{
    out->timebased = options->timebased;
    if (options->time_type.len == 0)
        return TARN_OK;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (same_word(options->time_type, times[i].word))
            out->timebased.type = times[i].type;
    if (out->timebased.type == 0)
        return tn_fail(cx, TARN_E_INVALID,
                       "hoodie.keygen.timebased.timestamp.type=%.*s: it is one of UNIX_TIMESTAMP, "
                       "EPOCHMILLISECONDS, EPOCHMICROSECONDS, SCALAR, DATE_STRING, MIXED",
                       TN_STR_ARG(options->time_type));
    return TARN_OK;
}

static int choose_merging(tarn_cx *cx, const tn_hudi_options *options, tn_hudi_new *out)
{
    int rc = TARN_OK;

    out->payload = options->payload;
    if (options->merge_mode.len == 0)
        return TARN_OK;
    out->merge_mode = merge_mode_of(options->merge_mode);
    if (out->merge_mode == 0)
        TN_FAIL(TARN_E_INVALID, "merge mode %.*s: it is commit_time or event_time",
                TN_STR_ARG(options->merge_mode));
    if (out->merge_mode == TN_MERGE_CUSTOM)
        TN_FAIL(TARN_E_UNSUPPORTED, "merge mode CUSTOM: tarn merges by commit_time or event_time");
    if (out->merge_mode == TN_MERGE_EVENT_TIME && out->ordering_count == 0)
        TN_FAIL(TARN_E_INVALID, "merge mode event_time: it needs an ordering column (--ordering)");
done:
    return rc;
}

static int add_more(tarn_cx *cx, tn_arena *arena, const char *key, tn_str value, tn_hudi_new *out)
{
    tn_property *more = tn_arena_array(cx, arena, out->more_count + 1, sizeof *more);

    if (more == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < out->more_count; i++)
        more[i] = out->more[i];
    more[out->more_count++] = (tn_property){tn_str_of(key), value};
    out->more = more;
    return TARN_OK;
}

/* Properties that have no member of their own. */
static int choose_more(tarn_cx *cx, tn_arena *arena, const tn_hudi_options *options,
                       tn_hudi_new *out)
{
    const char *prefix = out->version >= 9 ? "hoodie.record.merge.property." : "";
    tn_str name;
    int rc = TARN_OK;

    if (options->slash_dates == 1)
        TN_TRY(add_more(cx, arena, "hoodie.datasource.write.slash.separated.date.partitioning",
                        TN_STR("true"), out));
    if ((options->delete_field.len != 0) != (options->delete_marker.len != 0))
        TN_FAIL(TARN_E_INVALID, "hoodie.payload.delete.field and hoodie.payload.delete.marker: one "
                                "needs the other");
    if (options->delete_field.len == 0)
        goto done;
    TN_TRY(tn_arena_print(cx, arena, &name, "%shoodie.payload.delete.field", prefix));
    TN_TRY(add_more(cx, arena, name.ptr, options->delete_field, out));
    TN_TRY(tn_arena_print(cx, arena, &name, "%shoodie.payload.delete.marker", prefix));
    TN_TRY(add_more(cx, arena, name.ptr, options->delete_marker, out));
done:
    return rc;
}

static int check_kind(tarn_cx *cx, const tn_hudi_options *options)
{
    tn_str type = options->type;

    if (type.len == 0 || same_word(type, "cow") || same_word(type, "COPY_ON_WRITE"))
        return TARN_OK;
    if (same_word(type, "mor") || same_word(type, "MERGE_ON_READ"))
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "merge-on-read tables are not written in this version; use --type cow");
    return tn_fail(cx, TARN_E_INVALID, "table type %.*s: it is cow", TN_STR_ARG(type));
}

static int check_timezone(tarn_cx *cx, const tn_hudi_options *options)
{
    if (options->timezone.len == 0 || same_word(options->timezone, "utc") ||
        same_word(options->timezone, "local"))
        return TARN_OK;
    return tn_fail(cx, TARN_E_INVALID, "timezone %.*s: it is utc or local",
                   TN_STR_ARG(options->timezone));
}

int tn_hudi_table_new(tarn_cx *cx, tn_arena *arena, tn_str root, const tn_hudi_options *options,
                      tn_hudi_new *out)
{
    tn_hudi_new made = {.version = (int32_t)options->version};
    tn_hudi_list names;
    bool *is_time, typed;
    int rc = TARN_OK;

    TN_TRY(check_kind(cx, options));
    if (options->version == 0)
        made.version = VERSION_DEFAULT;
    else if (options->version != 6 && options->version != 8 && options->version != 9)
        TN_FAIL(TARN_E_INVALID, "table version %lld: it is one of 6, 8, 9",
                (long long)options->version);
    if (options->keys.count == 0)
        TN_FAIL(TARN_E_INVALID, "%.*s: a table needs a record key; name its columns with --key",
                TN_STR_ARG(root));
    made.keys = options->keys.items;
    made.key_count = options->keys.count;
    made.ordering = options->ordering.items;
    made.ordering_count = options->ordering.count;
    TN_TRY(split_partitions(cx, arena, &options->partitions, &names, &is_time, &typed));
    made.partitions = names.items;
    made.partition_count = names.count;
    made.partition_is_time = is_time;
    made.name = options->name.len != 0 ? options->name : tn_path_name(root);
    made.database = options->database;
    made.hive_style = options->hive_style == 1;
    made.url_encode = options->url_encode == 1;
    made.no_meta_fields = options->meta_fields == 0;
    TN_TRY(check_timezone(cx, options));
    made.local_time = same_word(options->timezone, "local");
    TN_TRY(choose_time(cx, options, &made));
    TN_TRY(choose_keygen(cx, options, typed, &made));
    TN_TRY(choose_merging(cx, options, &made));
    TN_TRY(choose_more(cx, arena, options, &made));
    *out = made;
done:
    return rc;
}

int tn_hudi_table_imagine(tarn_cx *cx, tn_arena *arena, const tn_hudi_new *made,
                          tn_hudi_config *out)
{
    tn_properties properties = {0};
    tn_buf buf = {0};
    tn_str text;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_config_new(cx, made, arena, &properties));
    tn_properties_print(&buf, &properties, (tn_str){0}, 0);
    TN_TRY(tn_buf_check(cx, &buf));
    text = tn_buf_view(&buf);
    TN_TRY(tn_arena_keep(cx, arena, &text));
    TN_TRY(tn_hudi_config_parse(cx, text, TN_STR("hoodie.properties"), arena, out));
done:
    tn_buf_clear(&buf);
    return rc;
}

/* ---- a table that is there */

static void print_list(tn_buf *out, const tn_str *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tn_buf_text(out, i != 0 ? "," : "");
        tn_buf_str(out, items[i]);
    }
    if (count == 0)
        tn_buf_text(out, "none");
}

static int differs(tarn_cx *cx, tn_str root, const char *what, tn_str given, tn_str has)
{
    return tn_fail(cx, TARN_E_INVALID,
                   "%.*s: the table has %s %.*s, not %.*s; leave it out, or write to another table",
                   TN_STR_ARG(root), what, TN_STR_ARG(has), TN_STR_ARG(given));
}

static int agree_list(tarn_cx *cx, tn_str root, const char *what, const tn_hudi_list *given,
                      const tn_str *has, size_t count)
{
    bool same = given->count == count;
    tn_buf a = {0}, b = {0};
    int rc = TARN_OK;

    if (given->count == 0)
        return TARN_OK;
    for (size_t i = 0; same && i < count; i++)
        same = tn_str_equal(given->items[i], has[i]);
    if (!same) {
        print_list(&a, given->items, given->count);
        print_list(&b, has, count);
        rc = differs(cx, root, what, tn_buf_view(&a), tn_buf_view(&b));
    }
    tn_buf_clear(&a);
    tn_buf_clear(&b);
    return rc;
}

static int agree_flag(tarn_cx *cx, tn_str root, const char *what, int32_t given, bool has)
{
    if (given < 0 || (given != 0) == has)
        return TARN_OK;
    return differs(cx, root, what, given != 0 ? TN_STR("true") : TN_STR("false"),
                   has ? TN_STR("true") : TN_STR("false"));
}

enum tn_merge_mode tn_hudi_table_rule(const tn_hudi_options *options, const tn_hudi_config *config)
{
    if (config->version >= 8 || config->payload.len != 0)
        return config->merge_mode;
    if (options->payload.len != 0)
        return tn_hudi_config_payload_mode(options->payload);
    if (merge_mode_of(options->merge_mode) != 0)
        return merge_mode_of(options->merge_mode);
    return config->merge_mode;
}

static int agree_merging(tarn_cx *cx, tn_str root, const tn_hudi_options *options,
                         const tn_hudi_config *config)
{
    tn_str mode = options->merge_mode;
    enum tn_merge_mode rule = tn_hudi_table_rule(options, config);
    int rc = TARN_OK;

    if (rule == TN_MERGE_EVENT_TIME && rule != config->merge_mode && config->ordering_count == 0)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: the table has no ordering columns, so its rows cannot be merged by them",
                TN_STR_ARG(root));
    if (rule == TN_MERGE_CUSTOM && rule != config->merge_mode)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: rows are to be merged by %.*s, which tarn does not do",
                TN_STR_ARG(root), TN_STR_ARG(options->payload));
    if (mode.len != 0 && merge_mode_of(mode) != rule)
        return differs(cx, root, "merge mode", mode, tn_str_of(merge_words[rule]));
    if (options->payload.len != 0 && config->payload.len != 0 &&
        !tn_str_equal(options->payload, config->payload))
        return differs(cx, root, "payload class", options->payload, config->payload);
done:
    return rc;
}

int tn_hudi_table_agree(tarn_cx *cx, tn_str root, const tn_hudi_options *options,
                        const tn_hudi_config *config)
{
    tn_arena arena = {0};
    tn_hudi_list names;
    bool *is_time, typed;
    int rc = TARN_OK;

    TN_TRY(check_kind(cx, options));
    if (options->version != 0 && options->version != config->version)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: the table has version %d, not %lld, and a write does not change it",
                TN_STR_ARG(root), (int)config->version, (long long)options->version);
    TN_TRY(agree_list(cx, root, "the key", &options->keys, config->keys, config->key_count));
    TN_TRY(split_partitions(cx, &arena, &options->partitions, &names, &is_time, &typed));
    TN_TRY(agree_list(cx, root, "the partition columns", &names, config->partitions,
                      config->partition_count));
    TN_TRY(agree_list(cx, root, "the ordering columns", &options->ordering, config->ordering,
                      config->ordering_count));
    TN_TRY(agree_flag(cx, root, "hive style partitions:", options->hive_style, config->hive_style));
    TN_TRY(agree_flag(cx, root, "escaped partitions:", options->url_encode, config->url_encode));
    TN_TRY(agree_flag(cx, root, "slash dates:", options->slash_dates, config->slash_dates));
    TN_TRY(agree_flag(cx, root, "meta columns:", options->meta_fields, config->meta_fields));
    TN_TRY(agree_merging(cx, root, options, config));
    TN_TRY(check_timezone(cx, options));
    if (options->timezone.len != 0 && same_word(options->timezone, "utc") != config->utc)
        TN_TRY(differs(cx, root, "the timezone", options->timezone,
                       config->utc ? TN_STR("utc") : TN_STR("local")));
    if (options->keygen.len != 0 && config->keygen_known &&
        keygen_of(options->keygen) != config->keygen)
        TN_TRY(differs(cx, root, "key generator", options->keygen,
                       tn_str_of(keygen_word(config->keygen))));
    if (options->name.len != 0 && !tn_str_equal(options->name, config->name))
        TN_TRY(differs(cx, root, "the name", options->name, config->name));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_table_check(tarn_cx *cx, tn_str root, const tn_hudi_config *config, bool merges)
{
    int rc = TARN_OK;

    if (config->mor)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: a merge-on-read table, which is not written in this version",
                TN_STR_ARG(root));
    TN_TRY(tn_hudi_config_writable(cx, config));
    if (config->key_count == 0)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: the table has no key columns (Hudi makes its keys), which tarn does not "
                "write to",
                TN_STR_ARG(root));
    if (!config->keygen_known)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: key generator %.*s is not one of Hudi's own",
                TN_STR_ARG(root), TN_STR_ARG(config->keygen_class));
    if (config->drop_partition_columns)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: its files lack the partition columns "
                "(hoodie.datasource.write.drop.partition.columns), which tarn does not write",
                TN_STR_ARG(root));
    if (merges && (config->merge_mode == TN_MERGE_CUSTOM || config->partial))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: rows are merged by %.*s%s, which tarn does not do; --op insert, "
                "bulk_insert, delete and the overwrites merge nothing",
                TN_STR_ARG(root),
                TN_STR_ARG(config->payload.len != 0 ? config->payload : TN_STR("a custom mode")),
                config->partial ? " with partial updates" : "");
done:
    return rc;
}
