/* The properties of a new table, as real Hudi of that version stores them (format of each key:
 * docs/format/hudi-table.md).
 * N1: what readers cannot do without is always there: name, type, version, layout, key and
 *     partition fields; on 6 the payload class, without which releases differ in who wins.
 * N2: nothing is stored that tarn itself would refuse to write to afterwards. */
#include "table/config_write.h"

#include <assert.h>

#define PAYLOAD_PREFIX "org.apache.hudi.common.model."
#define EVENT_TIME_ID  "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
#define COMMIT_TIME_ID "ce9acb64-bde0-424c-9b91-f6ebba25356d"

/* The properties under way: the first failure sticks. */
typedef struct maker {
    tarn_cx *cx;
    tn_arena *arena;
    tn_properties properties;
    int rc;
} maker;

static void put(maker *m, const char *key, tn_str value)
{
    /* A value {NULL, 0} would remove the key. */
    if (m->rc == TARN_OK)
        m->rc = tn_properties_set(m->cx, m->arena, &m->properties, tn_str_of(key),
                                  value.ptr != NULL ? value : TN_STR(""));
}

static void put_text(maker *m, const char *key, const char *value)
{
    put(m, key, tn_str_of(value));
}

static void put_if(maker *m, const char *key, tn_str value)
{
    if (value.len != 0)
        put(m, key, value);
}

static void put_bool(maker *m, const char *key, bool value)
{
    put_text(m, key, value ? "true" : "false");
}

static void put_number(maker *m, const char *key, uint32_t value)
{
    tn_str text = {0};

    if (m->rc == TARN_OK)
        m->rc = tn_arena_print(m->cx, m->arena, &text, "%u", value);
    put(m, key, text);
}

/* Names joined by commas, each with what `ending` says of it. */
static void put_names(maker *m, const char *key, const tn_str *names, size_t count,
                      const bool *is_time)
{
    tn_buf text = {0};

    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            tn_buf_u8(&text, ',');
        tn_buf_str(&text, names[i]);
        if (is_time != NULL)
            tn_buf_text(&text, is_time[i] ? ":TIMESTAMP" : ":SIMPLE");
    }
    if (m->rc == TARN_OK)
        m->rc = tn_buf_check(m->cx, &text);
    put(m, key, tn_buf_view(&text));
    tn_buf_clear(&text);
}

static const char *const keygen_types[] = {
    [TN_KEYGEN_SIMPLE] = "SIMPLE",
    [TN_KEYGEN_COMPLEX] = "COMPLEX",
    [TN_KEYGEN_NON_PARTITION] = "NON_PARTITION",
    [TN_KEYGEN_TIMESTAMP] = "TIMESTAMP",
    [TN_KEYGEN_CUSTOM] = "CUSTOM",
};
static const char *const keygen_classes[] = {
    [TN_KEYGEN_SIMPLE] = "org.apache.hudi.keygen.SimpleKeyGenerator",
    [TN_KEYGEN_COMPLEX] = "org.apache.hudi.keygen.ComplexKeyGenerator",
    [TN_KEYGEN_NON_PARTITION] = "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    [TN_KEYGEN_TIMESTAMP] = "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    [TN_KEYGEN_CUSTOM] = "org.apache.hudi.keygen.CustomKeyGenerator",
};

/* As Hudi infers it (KeyGenUtils.inferKeyGeneratorType). */
static enum tn_keygen infer_keygen(const tn_hudi_new *options)
{
    if (options->partition_count == 0)
        return TN_KEYGEN_NON_PARTITION;
    for (size_t i = 0; options->partition_is_time != NULL && i < options->partition_count; i++)
        if (options->partition_is_time[i])
            return TN_KEYGEN_CUSTOM;
    return options->partition_count == 1 && options->key_count <= 1 ? TN_KEYGEN_SIMPLE
                                                                    : TN_KEYGEN_COMPLEX;
}

static int check_names(tarn_cx *cx, const tn_str *names, size_t count, const char *what)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        if (names[i].len == 0 || tn_str_find(names[i], ',') != names[i].len ||
            tn_str_find(names[i], ':') != names[i].len)
            TN_FAIL(TARN_E_INVALID,
                    "\"%.*s\": no name for a %s column: it is empty or has \",\" or \":\", which "
                    "separate names in hoodie.properties; rename the column",
                    TN_STR_ARG(names[i]), what);
        for (size_t k = 0; k < i; k++)
            if (tn_str_equal(names[i], names[k]))
                TN_FAIL(TARN_E_INVALID, "\"%.*s\": is a %s column twice; give it once",
                        TN_STR_ARG(names[i]), what);
    }
done:
    return rc;
}

static int check_times(tarn_cx *cx, const tn_hudi_new *options, enum tn_keygen keygen)
{
    bool times = keygen == TN_KEYGEN_TIMESTAMP;
    int rc = TARN_OK;

    for (size_t i = 0; options->partition_is_time != NULL && i < options->partition_count; i++)
        times = times || options->partition_is_time[i];
    if (!times)
        goto done;
    if (keygen != TN_KEYGEN_TIMESTAMP && keygen != TN_KEYGEN_CUSTOM)
        TN_FAIL(TARN_E_INVALID,
                "a partition by time needs the key generator timestamp or custom, "
                "not %s; give another one",
                keygen_types[keygen]);
    /* Which columns are times is not in hoodie.properties then: writers would have to agree. */
    if (keygen == TN_KEYGEN_CUSTOM && options->version < 8)
        TN_FAIL(TARN_E_INVALID,
                "a table of version %d does not say which of its partition columns are times; make "
                "it with --table-version 8 or 9, or with one partition column and the key "
                "generator timestamp",
                (int)options->version);
    if (options->timebased.type == 0 || options->timebased.output_format.len == 0)
        TN_FAIL(TARN_E_INVALID, "a partition by time needs hoodie.keygen.timebased.timestamp.type "
                                "and hoodie.keygen.timebased.output.dateformat; set both");
done:
    return rc;
}

static int check_keys(tarn_cx *cx, const tn_hudi_new *options, enum tn_keygen keygen)
{
    bool one = keygen == TN_KEYGEN_SIMPLE || keygen == TN_KEYGEN_TIMESTAMP;
    int rc;

    if ((size_t)keygen >= sizeof keygen_types / sizeof *keygen_types)
        TN_FAIL(TARN_E_INVALID, "%d: no key generator", (int)keygen);
    if (options->key_count == 0)
        TN_FAIL(TARN_E_INVALID, "a table needs at least one key column; name it with --key");
    TN_TRY(check_names(cx, options->keys, options->key_count, "key"));
    TN_TRY(check_names(cx, options->partitions, options->partition_count, "partition"));
    TN_TRY(check_names(cx, options->ordering, options->ordering_count, "ordering"));
    if (one && (options->key_count != 1 || options->partition_count != 1))
        TN_FAIL(TARN_E_INVALID,
                "the key generator %s takes one key column and one partition column, not %zu and "
                "%zu; complex takes more",
                keygen_types[keygen], options->key_count, options->partition_count);
    if ((keygen == TN_KEYGEN_NON_PARTITION) != (options->partition_count == 0))
        TN_FAIL(TARN_E_INVALID, "the key generator %s %s partition columns; %s",
                keygen_types[keygen], keygen == TN_KEYGEN_NON_PARTITION ? "takes no" : "needs",
                keygen == TN_KEYGEN_NON_PARTITION ? "leave --partition out"
                                                  : "name them with --partition");
    TN_TRY(check_times(cx, options, keygen));
done:
    return rc;
}

/* What rows win: the mode that the payload means, or that follows from the ordering columns. */
static int merge_mode(tarn_cx *cx, const tn_hudi_new *options, enum tn_merge_mode *out)
{
    enum tn_merge_mode mode = options->merge_mode, meant = mode;
    tn_str payload = options->payload;
    int rc = TARN_OK;

    if (payload.len != 0 && tn_str_starts(payload, TN_STR(PAYLOAD_PREFIX)))
        payload = tn_str_from(payload, sizeof PAYLOAD_PREFIX - 1);
    if (tn_str_is(payload, "DefaultHoodieRecordPayload") ||
        tn_str_is(payload, "EventTimeAvroPayload"))
        meant = TN_MERGE_EVENT_TIME;
    else if (tn_str_is(payload, "OverwriteWithLatestAvroPayload"))
        meant = TN_MERGE_COMMIT_TIME;
    else if (payload.len != 0)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: tarn does not merge by that payload class; use DefaultHoodieRecordPayload "
                "or OverwriteWithLatestAvroPayload",
                TN_STR_ARG(options->payload));
    if (mode == TN_MERGE_CUSTOM)
        TN_FAIL(TARN_E_UNSUPPORTED, "merge mode CUSTOM: tarn does not merge by classes of a user; "
                                    "use COMMIT_TIME_ORDERING or EVENT_TIME_ORDERING");
    if (mode == 0)
        mode = meant != 0                     ? meant
               : options->ordering_count != 0 ? TN_MERGE_EVENT_TIME
                                              : TN_MERGE_COMMIT_TIME;
    if (meant != 0 && meant != mode)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: means another merge mode than the one given; give one of "
                "both",
                TN_STR_ARG(options->payload));
    if (mode == TN_MERGE_EVENT_TIME && options->ordering_count == 0)
        TN_FAIL(TARN_E_INVALID, "EVENT_TIME_ORDERING needs an ordering column; name it with "
                                "--ordering");
    if (options->ordering_count > 1 && options->version < 9)
        TN_FAIL(TARN_E_INVALID,
                "tables of version %d have one ordering column, not %zu; name one, or make the "
                "table with --table-version 9",
                (int)options->version, options->ordering_count);
    *out = mode;
done:
    return rc;
}

static void put_merge(maker *m, const tn_hudi_new *options, enum tn_merge_mode mode)
{
    bool event = mode == TN_MERGE_EVENT_TIME;
    tn_str payload = options->payload;

    if (payload.len == 0)
        payload = event ? TN_STR(PAYLOAD_PREFIX "DefaultHoodieRecordPayload")
                        : TN_STR(PAYLOAD_PREFIX "OverwriteWithLatestAvroPayload");
    if (options->version < 9) {
        if (options->ordering_count != 0)
            put(m, "hoodie.table.precombine.field", options->ordering[0]);
        put(m, "hoodie.compaction.payload.class", payload);
    } else {
        if (options->ordering_count != 0)
            put_names(m, "hoodie.table.ordering.fields", options->ordering, options->ordering_count,
                      NULL);
        put_if(m, "hoodie.table.legacy.payload.class", options->payload);
    }
    if (options->version >= 8)
        put_text(m, "hoodie.record.merge.mode",
                 event ? "EVENT_TIME_ORDERING" : "COMMIT_TIME_ORDERING");
    if (options->version == 8)
        put_text(m, "hoodie.record.merge.strategy.id", event ? EVENT_TIME_ID : COMMIT_TIME_ID);
}

static void put_keys(maker *m, const tn_hudi_new *options, enum tn_keygen keygen)
{
    /* Below version 8 the types of a custom generator are known to its writers alone. */
    bool typed = keygen == TN_KEYGEN_CUSTOM && options->version >= 8;
    bool none[TN_HUDI_PARTITIONS_MAX] = {false};

    put_names(m, "hoodie.table.recordkey.fields", options->keys, options->key_count, NULL);
    put_names(m, "hoodie.table.partition.fields", options->partitions, options->partition_count,
              !typed                               ? NULL
              : options->partition_is_time != NULL ? options->partition_is_time
                                                   : none);
    if (options->version >= 8)
        put_text(m, "hoodie.table.keygenerator.type", keygen_types[keygen]);
    else
        put_text(m, "hoodie.table.keygenerator.class", keygen_classes[keygen]);
    put_bool(m, "hoodie.datasource.write.hive_style_partitioning", options->hive_style);
    put_bool(m, "hoodie.datasource.write.partitionpath.urlencode", options->url_encode);
}

static void put_times(maker *m, const tn_keygen_timebased *times)
{
    static const char *const types[] = {
        [TN_KEYGEN_UNIX_TIMESTAMP] = "UNIX_TIMESTAMP",
        [TN_KEYGEN_EPOCH_MILLIS] = "EPOCHMILLISECONDS",
        [TN_KEYGEN_EPOCH_MICROS] = "EPOCHMICROSECONDS",
        [TN_KEYGEN_SCALAR] = "SCALAR",
        [TN_KEYGEN_DATE_STRING] = "DATE_STRING",
        [TN_KEYGEN_MIXED] = "MIXED",
    };

    if (times->type == 0)
        return;
    put_text(m, "hoodie.keygen.timebased.timestamp.type", types[times->type]);
    put_if(m, "hoodie.keygen.timebased.timestamp.scalar.time.unit", times->scalar_unit);
    put_if(m, "hoodie.keygen.timebased.input.dateformat", times->input_format);
    put_if(m, "hoodie.keygen.timebased.input.dateformat.list.delimiter.regex",
           times->input_delimiter);
    put_if(m, "hoodie.keygen.timebased.input.timezone", times->input_zone);
    put_if(m, "hoodie.keygen.timebased.output.dateformat", times->output_format);
    put_if(m, "hoodie.keygen.timebased.output.timezone", times->output_zone);
    put_if(m, "hoodie.keygen.timebased.timezone", times->zone);
}

static void put_table(maker *m, const tn_hudi_new *options)
{
    bool second = options->version >= 8;

    put(m, "hoodie.table.name", options->name);
    put_if(m, "hoodie.database.name", options->database);
    put_text(m, "hoodie.table.type", "COPY_ON_WRITE");
    put_number(m, "hoodie.table.version", (uint32_t)options->version);
    put_text(m, "hoodie.timeline.layout.version", second ? "2" : "1");
    put_text(m, "hoodie.table.base.file.format", "PARQUET");
    put_text(m, "hoodie.archivelog.folder", second ? "history" : "archived");
    put_text(m, "hoodie.table.timeline.timezone", options->local_time ? "LOCAL" : "UTC");
    put_bool(m, "hoodie.populate.meta.fields", !options->no_meta_fields);
    put_bool(m, "hoodie.datasource.write.drop.partition.columns", false);
    put_bool(m, "hoodie.partition.metafile.use.base.format", false);
    put_bool(m, "hoodie.table.cdc.enabled", false);
    put_if(m, "hoodie.table.create.schema", options->create_schema);
    if (second) {
        put_number(m, "hoodie.table.initial.version", (uint32_t)options->version);
        put_text(m, "hoodie.timeline.path", "timeline");
        put_text(m, "hoodie.timeline.history.path", "history");
        put_bool(m, "hoodie.table.multiple.base.file.formats.enable", false);
    }
    if (options->version >= 9)
        put_text(m, "hoodie.table.format", "native");
}

int tn_hudi_config_new(tarn_cx *cx, const tn_hudi_new *options, tn_arena *arena, tn_properties *out)
{
    maker m = {.cx = cx, .arena = arena};
    enum tn_keygen keygen = options->keygen != 0 ? options->keygen : infer_keygen(options);
    tn_hudi_config named = {.name = options->name, .database = options->database};
    enum tn_merge_mode mode = 0;
    int rc;

    assert(out != NULL);
    if (options->version != 6 && options->version != 8 && options->version != 9)
        TN_FAIL(TARN_E_INVALID, "table version %d: tarn makes tables of version 6, 8 and 9",
                (int)options->version);
    if (options->name.len == 0)
        TN_FAIL(TARN_E_INVALID, "a table needs a name; give it with --name");
    if (options->partition_count > TN_HUDI_PARTITIONS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%zu partition columns: more than %d", options->partition_count,
                TN_HUDI_PARTITIONS_MAX);
    TN_TRY(check_keys(cx, options, keygen));
    TN_TRY(merge_mode(cx, options, &mode));
    put_table(&m, options);
    put_keys(&m, options, keygen);
    put_times(&m, &options->timebased);
    put_merge(&m, options, mode);
    for (size_t i = 0; m.rc == TARN_OK && i < options->more_count; i++)
        m.rc = tn_properties_set(cx, arena, &m.properties, options->more[i].key,
                                 options->more[i].value);
    put_number(&m, "hoodie.table.checksum", tn_hudi_config_checksum(&named));
    TN_TRY(m.rc);
    *out = m.properties;
done:
    return rc;
}
