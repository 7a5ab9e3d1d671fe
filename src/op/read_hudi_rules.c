/* How versions of a row become one, from hoodie.properties (HoodieTableConfig, release 1.2.0:
 * inferMergingConfigsForPreV9Table, inferMergingConfigsForV9TableCreation,
 * getTableMergeProperties).
 *
 * I1: below version 8 the payload class decides, then the strategy; without both the ordering
 *     columns do. From 8 on the mode does, and the strategy where it is missing.
 * I2: Hudi's own payload classes mean what the upgrade to version 9 makes of them, but for those
 *     which 1.2.0 still runs in tables of older versions, with other answers (`runs`): it gives the
 *     row of PostgresDebeziumAvroPayload as it came, without the values that are filled there.
 * I3: a merger that is a program of the user's is refused by name: which row of a key is right,
 *     only it knows. */
#include "op/read_hudi.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_STRATEGY  "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
#define COMMIT_STRATEGY "ce9acb64-bde0-424c-9b91-f6ebba25356d"
#define DEBEZIUM_ABSENT "__debezium_unavailable_value"

/* What a payload class means. */
typedef struct payload {
    const char *name; /* its last part */
    enum tn_merge_mode mode;
    enum tn_partial_mode partial;
    const char *ordering[2]; /* where the table names no ordering columns */
    const char *delete_field, *delete_marker;
    const char *unavailable;
    /* Below version 9 the class itself runs (HoodieAvroRecordMerger): a delete has no row to be
     * compared with, so it always counts, and what it fills is other than later. */
    bool runs;
    enum tn_partial_mode partial_run;
} payload;

static const payload payloads[] = {
    {.name = "DefaultHoodieRecordPayload", .mode = TN_MERGE_EVENT_TIME},
    {.name = "EventTimeAvroPayload", .mode = TN_MERGE_EVENT_TIME},
    {.name = "OverwriteWithLatestAvroPayload", .mode = TN_MERGE_COMMIT_TIME},
    {.name = "OverwriteNonDefaultsWithLatestAvroPayload",
     .mode = TN_MERGE_COMMIT_TIME,
     .partial = TN_PARTIAL_IGNORE_DEFAULTS},
    {.name = "PartialUpdateAvroPayload",
     .mode = TN_MERGE_EVENT_TIME,
     .partial = TN_PARTIAL_IGNORE_DEFAULTS,
     .runs = true,
     .partial_run = TN_PARTIAL_IGNORE_NULLS},
    {.name = "AWSDmsAvroPayload",
     .mode = TN_MERGE_COMMIT_TIME,
     .delete_field = "Op",
     .delete_marker = "D"},
    {.name = "MySqlDebeziumAvroPayload",
     .mode = TN_MERGE_EVENT_TIME,
     .ordering = {"_event_bin_file", "_event_pos"},
     .delete_field = "_change_operation_type",
     .delete_marker = "d",
     .runs = true},
    {.name = "PostgresDebeziumAvroPayload",
     .mode = TN_MERGE_EVENT_TIME,
     .partial = TN_PARTIAL_FILL_UNAVAILABLE,
     .ordering = {"_event_lsn"},
     .delete_field = "_change_operation_type",
     .delete_marker = "d",
     .unavailable = DEBEZIUM_ABSENT,
     .runs = true}};

static tn_str property(const tn_hudi_config *config, const char *key)
{
    return tn_properties_get(&config->all, key);
}

/* Of Hudi's own, of today's and of the old package; NULL: another one. */
static const payload *find_payload(tn_str class)
{
    size_t i = class.len;
    tn_str name;

    if (!tn_str_starts(class, TN_STR("org.apache.hudi.")) &&
        !tn_str_starts(class, TN_STR("com.uber.hoodie.")))
        return NULL;
    while (i != 0 && class.ptr[i - 1] != '.')
        i--;
    name = tn_str_from(class, i);
    for (size_t k = 0; k < sizeof payloads / sizeof payloads[0]; k++)
        if (tn_str_is(name, payloads[k].name))
            return &payloads[k];
    return NULL;
}

static tn_str strategy_of(const tn_hudi_config *config)
{
    tn_str id = property(config, "hoodie.record.merge.strategy.id");

    return id.len != 0 ? id : property(config, "hoodie.compaction.record.merger.strategy");
}

static enum tn_merge_mode mode_of_strategy(tn_str id)
{
    if (tn_str_is(id, EVENT_STRATEGY))
        return TN_MERGE_EVENT_TIME;
    return tn_str_is(id, COMMIT_STRATEGY) ? TN_MERGE_COMMIT_TIME : TN_MERGE_CUSTOM;
}

static tn_str merge_property(const tn_hudi_config *config, const char *prefixed, const char *bare)
{
    tn_str text = property(config, prefixed);

    return text.len != 0 ? text : property(config, bare);
}

/* I1, I2. */
static enum tn_merge_mode mode_of(const tn_hudi_config *config, const payload *own)
{
    tn_str mode = property(config, "hoodie.record.merge.mode"), strategy = strategy_of(config);

    if (config->version >= 8 && mode.len != 0 && config->merge_mode != TN_MERGE_CUSTOM)
        return config->merge_mode;
    if (own != NULL && (config->version < 8 || config->merge_mode == TN_MERGE_CUSTOM))
        return own->mode;
    if (config->payload.len != 0 && own == NULL)
        return TN_MERGE_CUSTOM;
    if (strategy.len != 0)
        return mode_of_strategy(strategy);
    if (config->version >= 8)
        return config->merge_mode;
    return TN_MERGE_EVENT_TIME; /* of DefaultHoodieRecordPayload, which is Hudi's default */
}

static int refuse_merger(tarn_cx *cx, const tn_reading *reading)
{
    const tn_hudi_config *config = &reading->config;
    tn_str class = config->payload, strategy = strategy_of(config);

    return tn_fail(
        cx, TARN_E_UNSUPPORTED,
        "%.*s merges rows by a program of its own (%s %.*s), which only Hudi on Java can "
        "run: compact it there and read it with --mode read_optimized, or take the "
        "newest row of each key with --ignore-merger",
        TN_STR_ARG(reading->read->root), class.len != 0 ? "payload class" : "merge strategy",
        TN_STR_ARG(class.len != 0 ? class : strategy));
}

/* MySqlDebeziumAvroPayload compares "_event_seq" as two numbers, a file's and a place in it, which
 * as one text are in another order ("7.98" after "7.105"). The columns that it was made of have it,
 * and are what orders the rows of version 9. */
static bool is_sequence(const tn_slice_rules *rules, const payload *own)
{
    return own != NULL && own->ordering[1] != NULL && rules->ordering_count == 1 &&
           tn_str_is(rules->ordering[0], "_event_seq");
}

static int take_ordering(tarn_cx *cx, tn_reading *reading, const payload *own)
{
    tn_slice_rules *rules = &reading->rules;
    tn_str *names;

    rules->ordering = reading->config.ordering;
    rules->ordering_count = reading->config.ordering_count;
    if (is_sequence(rules, own))
        rules->ordering_count = 0;
    if (rules->ordering_count != 0 || own == NULL || own->ordering[0] == NULL)
        return TARN_OK;
    names = tn_arena_array(cx, &reading->read->arena, 2, sizeof *names);
    if (names == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < 2 && own->ordering[i] != NULL; i++)
        names[rules->ordering_count++] = tn_str_of(own->ordering[i]);
    rules->ordering = names;
    return TARN_OK;
}

static bool runs(const tn_hudi_config *config, const payload *own)
{
    return own != NULL && own->runs && config->version < 9;
}

static int take_deletes(tarn_cx *cx, tn_reading *reading, const payload *own)
{
    const tn_hudi_config *config = &reading->config;
    tn_slice_rules *rules = &reading->rules;

    rules->deletes_always = runs(config, own);
    rules->delete_field = config->delete_field;
    rules->delete_marker = config->delete_marker;
    if (rules->delete_field.len == 0 && own != NULL && own->delete_field != NULL) {
        rules->delete_field = tn_str_of(own->delete_field);
        rules->delete_marker = tn_str_of(own->delete_marker);
    }
    if ((rules->delete_field.len == 0) != (rules->delete_marker.len == 0))
        return tn_fail(cx, TARN_E_INVALID,
                       "%.*s/.hoodie/hoodie.properties: hoodie.payload.delete.field and "
                       "hoodie.payload.delete.marker must both be set, or neither",
                       TN_STR_ARG(reading->read->root));
    return TARN_OK;
}

static int take_partial(tarn_cx *cx, tn_reading *reading, const payload *own)
{
    const tn_hudi_config *config = &reading->config;
    tn_slice_rules *rules = &reading->rules;
    tn_str mode = property(config, "hoodie.table.partial.update.mode");

    rules->partial = own == NULL         ? TN_PARTIAL_NONE
                     : runs(config, own) ? own->partial_run
                                         : own->partial;
    if (tn_str_is(mode, "IGNORE_DEFAULTS"))
        rules->partial = TN_PARTIAL_IGNORE_DEFAULTS;
    else if (tn_str_is(mode, "FILL_UNAVAILABLE"))
        rules->partial = TN_PARTIAL_FILL_UNAVAILABLE;
    else if (mode.len != 0 && !tn_str_is(mode, "NONE") && !tn_str_is(mode, "KEEP_VALUES"))
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s/.hoodie/hoodie.properties: hoodie.table.partial.update.mode \"%.*s\" "
                       "is not known: IGNORE_DEFAULTS and FILL_UNAVAILABLE are; use a newer tarn",
                       TN_STR_ARG(reading->read->root), TN_STR_ARG(mode));
    rules->unavailable = merge_property(
        config, "hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value",
        "hoodie.write.partial.update.unavailable.value");
    if (rules->unavailable.len == 0 && rules->partial == TN_PARTIAL_FILL_UNAVAILABLE)
        rules->unavailable = TN_STR(DEBEZIUM_ABSENT);
    return TARN_OK;
}

int tn_reading_rules(tarn_cx *cx, tn_reading *reading)
{
    const tn_hudi_config *config = &reading->config;
    const payload *own = find_payload(config->payload);
    tn_slice_rules *rules = &reading->rules;
    int rc = TARN_OK;

    *rules = (tn_slice_rules){.meta_fields = config->meta_fields,
                              .keys = config->keys,
                              .key_count = config->key_count,
                              .mode = mode_of(config, own)};
    if (rules->mode == TN_MERGE_CUSTOM) {
        if (!reading->options->ignore_merger)
            TN_TRY(refuse_merger(cx, reading));
        rules->mode = TN_MERGE_COMMIT_TIME;
        tn_reading_say(
            reading, "rows are merged by commit time, not by %.*s: they may differ from Hudi's",
            TN_STR_ARG(config->payload.len != 0 ? config->payload : strategy_of(config)));
    }
    if (!config->meta_fields && config->key_count == 0)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: rows have no record keys (hoodie.populate.meta.fields=false), and "
                "hoodie.table.recordkey.fields names no columns: logs cannot be merged; put the "
                "names in",
                TN_STR_ARG(reading->read->root));
    TN_TRY(take_ordering(cx, reading, own));
    TN_TRY(take_deletes(cx, reading, own));
    TN_TRY(take_partial(cx, reading, own));
    /* Without ordering columns there is no event time: the later row wins. */
    if (rules->ordering_count == 0)
        rules->mode = TN_MERGE_COMMIT_TIME;
done:
    return rc;
}
