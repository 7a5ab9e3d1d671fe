/* hoodie.properties taken apart: what a table is, as far as tarn has to know it.
 *
 * I1: reading is lenient in what cannot harm: what is missing has Hudi's default, and unknown keys
 *     are kept in `all`.
 * I2: what tarn does not understand and what would change rows is refused by name: an unknown
 *     version, a table format of a plug-in.
 * I3: paths from the file stay below ".hoodie".
 * I4: a wrong checksum, a missing name or version is INVALID: the reader then tries the backup. */
#include "table/hudi_config.h"

#include <assert.h>
#include <inttypes.h>
#include <libdeflate.h>

#define TN_HUDI_FIELDS_MAX 1000 /* of keys, partitions, ordering */

typedef struct parse {
    tarn_cx *cx;
    tn_arena *arena;
    tn_str path;
    tn_hudi_config *config;
} parse;

static tn_str get(const parse *p, const char *key)
{
    return tn_properties_get(&p->config->all, key);
}

static bool same_word(tn_str text, const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i < text.len && i < len; i++) {
        char c = text.ptr[i];

        if ((c >= 'a' && c <= 'z' ? c - 32 : c) != word[i])
            return false;
    }
    return text.len == len;
}

static tn_str trimmed(tn_str text)
{
    while (text.len != 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = tn_str_from(text, 1);
    while (text.len != 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static int get_bool(const parse *p, const char *key, bool fallback, bool *out)
{
    tn_str text = trimmed(get(p, key));

    if (text.len == 0)
        *out = fallback;
    else if (same_word(text, "TRUE"))
        *out = true;
    else if (same_word(text, "FALSE"))
        *out = false;
    else
        return tn_fail(p->cx, TARN_E_CORRUPT, "%.*s: %s is \"%.*s\": it must be true or false",
                       TN_STR_ARG(p->path), key, TN_STR_ARG(text));
    return TARN_OK;
}

/* *found false: the key is not there. */
static int get_number(const parse *p, const char *key, bool *found, int32_t *out)
{
    tn_str text = trimmed(get(p, key));
    int32_t value = 0;

    *found = text.len != 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || text.len > 6)
            return tn_fail(p->cx, TARN_E_CORRUPT, "%.*s: %s is \"%.*s\": it must be a number",
                           TN_STR_ARG(p->path), key, TN_STR_ARG(text));
        value = value * 10 + (text.ptr[i] - '0');
    }
    *out = value;
    return TARN_OK;
}

/* Names between commas, without blanks around them; *out NULL where there are none. */
static int get_names(const parse *p, const char *key, tn_str **out, size_t *count)
{
    tarn_cx *cx = p->cx;
    tn_str rest = get(p, key), *names = NULL;
    size_t n = 0, cap = 0;
    int rc = TARN_OK;

    while (rest.len != 0) {
        size_t end = tn_str_find(rest, ',');
        tn_str name = trimmed((tn_str){rest.ptr, end});

        rest = tn_str_from(rest, end + 1);
        if (name.len == 0)
            continue;
        if (n == TN_HUDI_FIELDS_MAX)
            TN_FAIL(TARN_E_LIMIT, "%.*s: %s has more than %d names", TN_STR_ARG(p->path), key,
                    TN_HUDI_FIELDS_MAX);
        TN_TRY(tn_arena_grow(cx, p->arena, &names, n, &cap, sizeof *names));
        names[n++] = name;
    }
    *out = names;
    *count = n;
done:
    return rc;
}

static int parse_version(const parse *p)
{
    tarn_cx *cx = p->cx;
    tn_hudi_config *config = p->config;
    bool found, layout_found;
    int rc = TARN_OK;

    TN_TRY(get_number(p, "hoodie.table.version", &found, &config->version));
    TN_TRY(get_number(p, "hoodie.timeline.layout.version", &layout_found, &config->layout));
    if (!found)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: hoodie.table.version is missing, so what the other files mean is not "
                "known: put it back (6, 8 or 9)",
                TN_STR_ARG(p->path));
    if (config->version < 2 || config->version == 7 || config->version > 9)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: table version %" PRId32 " is not known to this tarn, which reads 2 to 6, 8 "
                "and 9 and writes 6, 8 and 9: use a newer tarn, or let Hudi change the version",
                TN_STR_ARG(p->path), config->version);
    if (!layout_found && config->version < 8)
        config->layout = 1;
    if (config->layout != (config->version < 8 ? 1 : 2))
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: hoodie.timeline.layout.version is %s, but a table of version %" PRId32
                " has layout %d: put that in",
                TN_STR_ARG(p->path), layout_found ? "another one" : "missing", config->version,
                config->version < 8 ? 1 : 2);
done:
    return rc;
}

static int parse_identity(const parse *p)
{
    tarn_cx *cx = p->cx;
    tn_hudi_config *config = p->config;
    tn_str type = trimmed(get(p, "hoodie.table.type")), format = get(p, "hoodie.table.format");
    tn_str sum = trimmed(get(p, "hoodie.table.checksum"));
    char want[16];
    int rc = TARN_OK;

    config->name = get(p, "hoodie.table.name");
    config->database = get(p, "hoodie.database.name");
    if (config->name.len == 0)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: hoodie.table.name is missing: the file is damaged or cut "
                "short; put the name back",
                TN_STR_ARG(p->path));
    snprintf(want, sizeof want, "%" PRIu32, tn_hudi_config_checksum(config));
    if (sum.len != 0 && !tn_str_is(sum, want))
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: hoodie.table.checksum is %.*s, but name and database give %s: the file is "
                "damaged; if both are right, put that number in",
                TN_STR_ARG(p->path), TN_STR_ARG(sum), want);
    config->mor = same_word(type, "MERGE_ON_READ");
    if (type.len != 0 && !config->mor && !same_word(type, "COPY_ON_WRITE"))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: hoodie.table.type \"%.*s\" is not known: COPY_ON_WRITE and MERGE_ON_READ "
                "are",
                TN_STR_ARG(p->path), TN_STR_ARG(type));
    if (format.len != 0 && !same_word(format, "NATIVE"))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: hoodie.table.format \"%.*s\": tables whose metadata another format keeps "
                "are not read; only native ones are",
                TN_STR_ARG(p->path), TN_STR_ARG(format));
done:
    return rc;
}

/* "f:SIMPLE,g:TIMESTAMP" of a custom generator becomes names and kinds. */
static int split_partition_types(const parse *p)
{
    tn_hudi_config *config = p->config;

    if (config->partition_count == 0)
        return TARN_OK;
    config->partition_is_time =
        tn_arena_array(p->cx, p->arena, config->partition_count, sizeof(bool));
    if (config->partition_is_time == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < config->partition_count; i++) {
        tn_str *name = &config->partitions[i];
        size_t colon = tn_str_find(*name, ':');

        config->partition_is_time[i] =
            same_word(trimmed(tn_str_from(*name, colon + 1)), "TIMESTAMP");
        name->len = colon;
        *name = trimmed(*name);
    }
    return TARN_OK;
}

static enum tn_keygen keygen_of_type(tn_str type)
{
    static const struct {
        const char *name;
        enum tn_keygen kind;
    } kinds[] = {{"SIMPLE", TN_KEYGEN_SIMPLE},
                 {"SIMPLE_AVRO", TN_KEYGEN_SIMPLE},
                 {"COMPLEX", TN_KEYGEN_COMPLEX},
                 {"COMPLEX_AVRO", TN_KEYGEN_COMPLEX},
                 {"NON_PARTITION", TN_KEYGEN_NON_PARTITION},
                 {"NON_PARTITION_AVRO", TN_KEYGEN_NON_PARTITION},
                 {"TIMESTAMP", TN_KEYGEN_TIMESTAMP},
                 {"TIMESTAMP_AVRO", TN_KEYGEN_TIMESTAMP},
                 {"CUSTOM", TN_KEYGEN_CUSTOM},
                 {"CUSTOM_AVRO", TN_KEYGEN_CUSTOM}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (same_word(type, kinds[i].name))
            return kinds[i].kind;
    return 0;
}

static enum tn_keygen keygen_of_class(tn_str class)
{
    static const struct {
        const char *name, *avro;
        enum tn_keygen kind;
    } kinds[] = {
        {"SimpleKeyGenerator", "SimpleAvroKeyGenerator", TN_KEYGEN_SIMPLE},
        {"ComplexKeyGenerator", "ComplexAvroKeyGenerator", TN_KEYGEN_COMPLEX},
        {"NonpartitionedKeyGenerator", "NonpartitionedAvroKeyGenerator", TN_KEYGEN_NON_PARTITION},
        {"TimestampBasedKeyGenerator", "TimestampBasedAvroKeyGenerator", TN_KEYGEN_TIMESTAMP},
        {"CustomKeyGenerator", "CustomAvroKeyGenerator", TN_KEYGEN_CUSTOM}};
    tn_str package = TN_STR("org.apache.hudi.keygen.");

    if (!tn_str_starts(class, package))
        return 0;
    class = tn_str_from(class, package.len);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (tn_str_is(class, kinds[i].name) || tn_str_is(class, kinds[i].avro))
            return kinds[i].kind;
    return 0;
}

/* KeyGenUtils.inferKeyGeneratorType. */
static enum tn_keygen keygen_inferred(const tn_hudi_config *config, bool typed)
{
    if (config->partition_count == 0)
        return TN_KEYGEN_NON_PARTITION;
    if (typed)
        return TN_KEYGEN_CUSTOM;
    return config->partition_count == 1 && config->key_count <= 1 ? TN_KEYGEN_SIMPLE
                                                                  : TN_KEYGEN_COMPLEX;
}

static int parse_keys(const parse *p)
{
    tn_hudi_config *config = p->config;
    tn_str type = trimmed(get(p, "hoodie.table.keygenerator.type"));
    tn_str class = trimmed(get(p, "hoodie.table.keygenerator.class"));
    bool typed;
    int rc = TARN_OK;

    TN_TRY(get_names(p, "hoodie.table.recordkey.fields", &config->keys, &config->key_count));
    TN_TRY(get_names(p, "hoodie.table.partition.fields", &config->partitions,
                     &config->partition_count));
    TN_TRY(
        get_names(p, "hoodie.table.ordering.fields", &config->ordering, &config->ordering_count));
    if (config->ordering_count == 0)
        TN_TRY(get_names(p, "hoodie.table.precombine.field", &config->ordering,
                         &config->ordering_count));
    typed = config->partition_count != 0 &&
            tn_str_find(config->partitions[0], ':') < config->partitions[0].len;
    TN_TRY(split_partition_types(p));
    config->keygen_class = class;
    if (type.len != 0 && !same_word(type, "USER_PROVIDED")) {
        config->keygen = keygen_of_type(type);
        if (config->keygen == 0)
            config->keygen_class = type;
    } else if (class.len != 0) {
        config->keygen = keygen_of_class(class);
    } else {
        config->keygen = keygen_inferred(config, typed);
    }
    config->keygen_known = config->keygen != 0;
done:
    return rc;
}

/* hoodie.keygen.timebased.<key>, or its older name. */
static tn_str timebased(const parse *p, const char *key)
{
    char name[128];
    tn_str text;

    snprintf(name, sizeof name, "hoodie.keygen.timebased.%s", key);
    text = get(p, name);
    if (text.ptr == NULL) {
        snprintf(name, sizeof name, "hoodie.deltastreamer.keygen.timebased.%s", key);
        text = get(p, name);
    }
    return text;
}

static void parse_timebased(const parse *p)
{
    static const struct {
        const char *name;
        enum tn_keygen_time type;
    } types[] = {{"UNIX_TIMESTAMP", TN_KEYGEN_UNIX_TIMESTAMP},
                 {"EPOCHMILLISECONDS", TN_KEYGEN_EPOCH_MILLIS},
                 {"EPOCHMICROSECONDS", TN_KEYGEN_EPOCH_MICROS},
                 {"SCALAR", TN_KEYGEN_SCALAR},
                 {"DATE_STRING", TN_KEYGEN_DATE_STRING},
                 {"MIXED", TN_KEYGEN_MIXED}};
    tn_keygen_timebased *time = &p->config->timebased;
    tn_str type = trimmed(timebased(p, "timestamp.type"));

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (same_word(type, types[i].name))
            time->type = types[i].type;
    time->scalar_unit = timebased(p, "timestamp.scalar.time.unit");
    time->input_format = timebased(p, "input.dateformat");
    time->input_delimiter = timebased(p, "input.dateformat.list.delimiter.regex");
    time->input_zone = timebased(p, "input.timezone");
    time->output_format = timebased(p, "output.dateformat");
    time->output_zone = timebased(p, "output.timezone");
    time->zone = timebased(p, "timezone");
}

static enum tn_merge_mode mode_of_strategy(tn_str id)
{
    if (tn_str_is(id, "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"))
        return TN_MERGE_EVENT_TIME;
    if (tn_str_is(id, "ce9acb64-bde0-424c-9b91-f6ebba25356d"))
        return TN_MERGE_COMMIT_TIME;
    return TN_MERGE_CUSTOM;
}

/* The last part of a class's name; classes of before Apache have another package. */
static tn_str class_name(tn_str class)
{
    size_t i = class.len;

    while (i != 0 && class.ptr[i - 1] != '.')
        i--;
    return tn_str_from(class, i);
}

enum tn_merge_mode tn_hudi_config_payload_mode(tn_str payload)
{
    tn_str name = class_name(payload);

    if (tn_str_is(name, "DefaultHoodieRecordPayload") || tn_str_is(name, "EventTimeAvroPayload"))
        return TN_MERGE_EVENT_TIME;
    if (tn_str_is(name, "OverwriteWithLatestAvroPayload"))
        return TN_MERGE_COMMIT_TIME;
    return TN_MERGE_CUSTOM;
}

/* Below version 8 the payload class decides, and a copy-on-write table may have none: Hudi 0.x
 * then takes the later write. From 8 on the mode does; where it is missing, the strategy. */
static int parse_merging(const parse *p)
{
    tarn_cx *cx = p->cx;
    tn_hudi_config *config = p->config;
    tn_str mode = trimmed(get(p, "hoodie.record.merge.mode"));
    tn_str strategy = trimmed(get(p, "hoodie.record.merge.strategy.id"));
    tn_str partial = trimmed(get(p, "hoodie.table.partial.update.mode"));
    tn_str name;
    int rc = TARN_OK;

    config->payload = trimmed(get(p, "hoodie.compaction.payload.class"));
    name = class_name(config->payload);
    config->partial = (partial.len != 0 && !same_word(partial, "NONE")) ||
                      tn_str_is(name, "PartialUpdateAvroPayload") ||
                      tn_str_is(name, "OverwriteNonDefaultsWithLatestAvroPayload");
    if (config->version >= 8 && same_word(mode, "COMMIT_TIME_ORDERING"))
        config->merge_mode = TN_MERGE_COMMIT_TIME;
    else if (config->version >= 8 && same_word(mode, "EVENT_TIME_ORDERING"))
        config->merge_mode = TN_MERGE_EVENT_TIME;
    else if (config->version >= 8 && same_word(mode, "CUSTOM"))
        config->merge_mode = TN_MERGE_CUSTOM;
    else if (config->version >= 8 && mode.len != 0)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: hoodie.record.merge.mode \"%.*s\" is not known",
                TN_STR_ARG(p->path), TN_STR_ARG(mode));
    else if (config->version >= 8 && strategy.len != 0)
        config->merge_mode = mode_of_strategy(strategy);
    else if (config->payload.len != 0)
        config->merge_mode = tn_hudi_config_payload_mode(config->payload);
    else if (config->version < 8 || config->ordering_count == 0)
        config->merge_mode = TN_MERGE_COMMIT_TIME;
    else
        config->merge_mode = TN_MERGE_EVENT_TIME;
    config->delete_field = get(p, "hoodie.record.merge.property.hoodie.payload.delete.field");
    config->delete_marker = get(p, "hoodie.record.merge.property.hoodie.payload.delete.marker");
    if (config->delete_field.ptr == NULL) {
        config->delete_field = get(p, "hoodie.payload.delete.field");
        config->delete_marker = get(p, "hoodie.payload.delete.marker");
    }
done:
    return rc;
}

static int get_path(const parse *p, const char *key, const char *fallback, tn_str *out)
{
    tn_str path = get(p, key), rest;

    *out = path.len != 0 ? path : tn_str_of(fallback);
    for (rest = path; rest.len != 0;) {
        size_t end = tn_str_find(rest, '/');
        tn_str part = {rest.ptr, end};

        rest = tn_str_from(rest, end + 1);
        if (part.len == 0 || tn_str_is(part, ".") || tn_str_is(part, "..") ||
            memchr(part.ptr, '\0', part.len) != NULL || path.ptr[path.len - 1] == '/')
            return tn_fail(p->cx, TARN_E_CORRUPT,
                           "%.*s: %s is \"%.*s\": it must be a path below .hoodie",
                           TN_STR_ARG(p->path), key, TN_STR_ARG(path));
    }
    return TARN_OK;
}

static int parse_storage(const parse *p)
{
    tn_hudi_config *config = p->config;
    int rc = TARN_OK;

    TN_TRY(
        get_bool(p, "hoodie.datasource.write.hive_style_partitioning", false, &config->hive_style));
    TN_TRY(
        get_bool(p, "hoodie.datasource.write.partitionpath.urlencode", false, &config->url_encode));
    TN_TRY(get_bool(p, "hoodie.datasource.write.slash.separated.date.partitioning", false,
                    &config->slash_dates));
    TN_TRY(get_bool(p, "hoodie.datasource.write.drop.partition.columns", false,
                    &config->drop_partition_columns));
    TN_TRY(get_bool(p, "hoodie.populate.meta.fields", true, &config->meta_fields));
    TN_TRY(get_bool(p, "hoodie.partition.metafile.use.base.format", false,
                    &config->metafile_in_base_format));
    TN_TRY(get_bool(p, "hoodie.table.cdc.enabled", false, &config->cdc));
    config->utc = same_word(trimmed(get(p, "hoodie.table.timeline.timezone")), "UTC");
    config->metadata_table = get(p, "hoodie.table.metadata.partitions").len != 0 ||
                             get(p, "hoodie.table.metadata.partitions.inflight").len != 0;
    config->base_format = trimmed(get(p, "hoodie.table.base.file.format"));
    if (config->base_format.len == 0)
        config->base_format = TN_STR("PARQUET");
    config->create_schema = get(p, "hoodie.table.create.schema");
    if (config->layout == 1) {
        config->timeline_path = TN_STR("");
        TN_TRY(get_path(p, "hoodie.archivelog.folder", "archived", &config->history_path));
    } else {
        TN_TRY(get_path(p, "hoodie.timeline.path", "timeline", &config->timeline_path));
        TN_TRY(get_path(p, "hoodie.timeline.history.path", "history", &config->history_path));
    }
done:
    return rc;
}

int tn_hudi_config_parse(tarn_cx *cx, tn_str text, tn_str path, tn_arena *arena,
                         tn_hudi_config *out)
{
    tn_hudi_config config = {0};
    parse p = {cx, arena, path, &config};
    int rc = TARN_OK;

    assert(arena != NULL && out != NULL);
    TN_TRY(tn_properties_parse(cx, text, path, arena, &config.all));
    TN_TRY(parse_version(&p));
    TN_TRY(parse_identity(&p));
    TN_TRY(parse_keys(&p));
    parse_timebased(&p);
    TN_TRY(parse_merging(&p));
    TN_TRY(parse_storage(&p));
    *out = config;
done:
    return rc;
}

uint32_t tn_hudi_config_checksum(const tn_hudi_config *config)
{
    uint32_t crc = libdeflate_crc32(0, NULL, 0);

    if (config->database.len != 0)
        crc = libdeflate_crc32(crc, config->database.ptr, config->database.len);
    crc = libdeflate_crc32(crc, ".", 1);
    if (config->name.len != 0)
        crc = libdeflate_crc32(crc, config->name.ptr, config->name.len);
    return crc;
}

void tn_hudi_config_keys(const tn_hudi_config *config, tn_record_key_options *out)
{
    *out = (tn_record_key_options){.kind = config->keygen,
                                   .keys = config->keys,
                                   .key_count = config->key_count,
                                   .partitions = config->partitions,
                                   .partition_count = config->partition_count,
                                   .partition_is_time = config->partition_is_time,
                                   .hive_style = config->hive_style,
                                   .url_encode = config->url_encode,
                                   .slash_dates = config->slash_dates,
                                   .timebased = config->timebased,
                                   .delete_field = config->delete_field,
                                   .delete_marker = config->delete_marker};
}
