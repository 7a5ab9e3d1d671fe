/* The metadata table as a whole: a merge-on-read table of its own at <table>/.hoodie/metadata, with
 * HFiles (HoodieBackedTableMetadata).
 *
 * I1: a partition is used only when hoodie.table.metadata.partitions lists it; that there is a
 *     directory says nothing.
 * I2: a block of a log counts when its instant is completed in the data table, or is completed in
 *     the metadata table and the data table does not have it pending: a crash between the two
 *     leaves the metadata of a commit that never was (getValidInstantTimestamps).
 * I3: each commit of the data table is one of the metadata table first; where one is missing, by
 *     accident or because a writer without it was at work, it lags behind, and readers do without.
 */
#include "table/metadata.h"

#include <assert.h>
#include <stdlib.h>

#include "table/metadata_parts.h"

#define INDEX_BYTES_MAX (64u << 20)
#define INDEX_FILE      TN_STR(".hoodie/.index_defs/index.json")
#define INIT_INSTANT    TN_STR("00000000000000") /* all of the first commits begin so */

/* ---- what is listed (I1) ---- */

static tn_str trim(tn_str text)
{
    while (text.len != 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = tn_str_from(text, 1);
    while (text.len != 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static int take_listed(tarn_cx *cx, tn_metadata *md, tn_str list)
{
    size_t cap = 0;
    int rc = TARN_OK;

    while (list.len != 0) {
        size_t end = tn_str_find(list, ',');
        tn_str name = trim((tn_str){list.ptr, end});

        list = tn_str_from(list, end + 1);
        if (name.len == 0)
            continue;
        TN_TRY(tn_arena_keep(cx, &md->arena, &name));
        TN_TRY(
            tn_arena_grow(cx, &md->arena, &md->listed, md->listed_count, &cap, sizeof *md->listed));
        md->listed[md->listed_count++] = name;
    }
done:
    return rc;
}

bool tn_metadata_has(const tn_metadata *md, const char *partition)
{
    for (size_t i = 0; i < md->listed_count; i++)
        if (tn_str_is(md->listed[i], partition))
            return true;
    return false;
}

tn_metadata_partition *tn_metadata_partition_find(tn_metadata *md, const char *name)
{
    for (size_t i = 0; i < md->listed_count; i++)
        if (tn_str_is(md->listed[i], name))
            return &md->partitions[i];
    return NULL;
}

static int name_partitions(tarn_cx *cx, tn_metadata *md)
{
    int rc = TARN_OK;

    md->partitions = tn_arena_array(cx, &md->arena, md->listed_count, sizeof *md->partitions);
    if (md->partitions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < md->listed_count; i++) {
        md->partitions[i].name = md->listed[i];
        TN_TRY(tn_path_join(cx, &md->arena, md->root, md->listed[i], &md->partitions[i].directory));
    }
done:
    return rc;
}

/* ---- which instants count (I2) ---- */

static bool pending_in(const tn_timeline *timeline, tn_str time)
{
    for (size_t i = tn_timeline_from(timeline, time);
         i < timeline->count && tn_str_equal(timeline->instants[i].time, time); i++)
        if (timeline->instants[i].state != TN_STATE_COMPLETED)
            return true;
    return false;
}

static int find_valid(tarn_cx *cx, tn_metadata *md)
{
    const tn_timeline *data = md->data_timeline, *own = &md->timeline;

    md->valid = tn_arena_array(cx, &md->arena, data->count + own->count + 1, sizeof *md->valid);
    if (md->valid == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < data->count; i++)
        if (data->instants[i].state == TN_STATE_COMPLETED)
            md->valid[md->valid_count++] = data->instants[i].time;
    for (size_t i = 0; i < own->count; i++)
        if (own->instants[i].state == TN_STATE_COMPLETED &&
            !pending_in(data, own->instants[i].time))
            md->valid[md->valid_count++] = own->instants[i].time;
    tn_str_sort(md->valid, md->valid_count);
    return TARN_OK;
}

bool tn_metadata_counts(const tn_metadata *md, tn_str instant)
{
    if (tn_str_starts(instant, INIT_INSTANT) || tn_str_listed(md->valid, md->valid_count, instant))
        return true;
    /* Archived in both tables: it was completed. */
    return md->timeline.start.len != 0 && tn_str_compare(instant, md->timeline.start) < 0 &&
           md->data_timeline->start.len != 0 &&
           tn_str_compare(instant, md->data_timeline->start) < 0 &&
           !pending_in(md->data_timeline, instant) && !pending_in(&md->timeline, instant);
}

bool tn_metadata_ahead(const tn_metadata *md)
{
    tn_str latest = {NULL, 0};

    for (size_t i = 0; i < md->data_timeline->count; i++)
        if (tn_str_compare(md->data_timeline->instants[i].time, latest) > 0)
            latest = md->data_timeline->instants[i].time;
    /* Services of the metadata table itself have times of their own; commits have those of the
     * data table. */
    for (size_t i = 0; i < md->timeline.count; i++)
        if (md->timeline.instants[i].action == TN_ACTION_DELTA &&
            tn_str_compare(md->timeline.instants[i].time, latest) > 0)
            return true;
    return false;
}

/* ---- whether it follows the data table (I3) ---- */

/* When the first commit of all, which lists what was there, was completed; empty: it is archived.
 */
static tn_str made_at(const tn_timeline *own)
{
    if (own->count == 0 || !tn_str_starts(own->instants[0].time, INIT_INSTANT) ||
        own->instants[0].state != TN_STATE_COMPLETED)
        return (tn_str){NULL, 0};
    return own->instants[0].completion;
}

/* The oldest commit of its own that it still has besides those that made it; empty: none. */
static tn_str oldest_commit(const tn_timeline *own)
{
    for (size_t i = 0; i < own->count; i++)
        if (!tn_str_starts(own->instants[i].time, INIT_INSTANT))
            return own->instants[i].time;
    return (tn_str){NULL, 0};
}

/* Whether it has a completed instant of that time, or one that services of it derive from it. */
static bool has_instant(const tn_timeline *own, tn_str time)
{
    for (size_t i = tn_timeline_from(own, time);
         i < own->count && tn_str_starts(own->instants[i].time, time); i++)
        if (own->instants[i].state == TN_STATE_COMPLETED)
            return true;
    return false;
}

int tn_metadata_current(tarn_cx *cx, const tn_metadata *md)
{
    const tn_timeline *data = md->data_timeline, *own = &md->timeline;
    tn_str made = made_at(own), oldest = oldest_commit(own);

    for (size_t i = 0; i < data->count; i++) {
        const tn_instant *instant = &data->instants[i];

        if (!tn_instant_writes_data(instant) || instant->state != TN_STATE_COMPLETED ||
            has_instant(own, instant->time))
            continue;
        /* Older than what it still has: archived there. */
        if (made.len == 0 && oldest.len != 0 && tn_str_compare(instant->time, oldest) < 0)
            continue;
        /* It was made later, of all that was there. */
        if (made.len != 0 && tn_str_compare(instant->completion, made) <= 0)
            continue;
        return tn_fail(
            cx, TARN_E_CORRUPT, "the metadata table of %.*s lags behind: it has missed %.*s %.*s",
            TN_STR_ARG(md->data_root), TN_STR_ARG(instant->word), TN_STR_ARG(instant->time));
    }
    return TARN_OK;
}

/* ---- schemas ---- */

int tn_metadata_type(tarn_cx *cx, tn_metadata *md, tn_str text, tn_str where,
                     const tn_avro_type **out)
{
    tn_metadata_schema made = {.text = text};
    int rc = TARN_OK;

    for (size_t i = 0; i < md->schema_count; i++)
        if (tn_str_equal(md->schemas[i].text, text)) {
            *out = md->schemas[i].schema.root;
            return TARN_OK;
        }
    if (text.len == 0)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: no schema of its records", TN_STR_ARG(where));
    rc = tn_avro_schema_parse(cx, text, "schema of the metadata table", &made.schema);
    if (rc != TARN_OK)
        TN_TRY(tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(where)));
    if (made.schema.root->kind != TN_AVRO_RECORD)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: its schema is no record", TN_STR_ARG(where));
    TN_TRY(tn_arena_keep(cx, &md->arena, &made.text));
    TN_TRY(tn_grow(cx, &md->schemas, md->schema_count, &md->schema_cap, sizeof *md->schemas));
    md->schemas[md->schema_count++] = made;
    *out = made.schema.root;
    made.schema = (tn_avro_schema){0};
done:
    tn_avro_schema_clear(&made.schema);
    return rc;
}

/* ---- definitions of indexes ---- */

static int take_fields(tarn_cx *cx, tn_metadata *md, const json_t *fields, tn_metadata_index *out)
{
    size_t count = json_array_size(fields);
    int rc = TARN_OK;

    out->fields = tn_arena_array(cx, &md->arena, count + 1, sizeof *out->fields);
    if (out->fields == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        tn_str field = tn_str_of(json_string_value(json_array_get(fields, i)));

        if (field.ptr == NULL)
            continue;
        TN_TRY(tn_arena_keep(cx, &md->arena, &field));
        out->fields[out->field_count++] = field;
    }
done:
    return rc;
}

static int take_index(tarn_cx *cx, tn_metadata *md, const char *name, const json_t *def)
{
    tn_metadata_index *out = &md->indexes[md->index_count];
    tn_str version = tn_str_of(json_string_value(json_object_get(def, "version")));
    int rc = TARN_OK;

    out->name = tn_str_of(name);
    out->type = tn_str_of(json_string_value(json_object_get(def, "indexType")));
    TN_TRY(tn_arena_keep(cx, &md->arena, &out->name));
    TN_TRY(tn_arena_keep(cx, &md->arena, &out->type));
    out->v2 = version.len != 0 && !tn_str_is(version, "V1");
    TN_TRY(take_fields(cx, md, json_object_get(def, "sourceFields"), out));
    md->index_count++;
done:
    return rc;
}

static int load_indexes(tarn_cx *cx, tn_metadata *md)
{
    tn_str path = tn_properties_get(&md->data_config->all, "hoodie.table.index.defs.path");
    const char *name;
    json_t *json = NULL, *all, *def;
    tn_buf text = {0};
    int rc = TARN_OK;

    if (path.len == 0)
        path = INDEX_FILE;
    if (path.ptr[0] != '/')
        TN_TRY(tn_path_join(cx, &md->arena, md->data_root, path, &path));
    TN_TRY(tn_arena_keep(cx, &md->arena, &path));
    rc = tn_store_get(cx, md->store, path, INDEX_BYTES_MAX, &text);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    TN_TRY(tn_json_parse(cx, tn_buf_view(&text), path.ptr, &json));
    all = json_object_get(json, "indexDefinitions");
    md->indexes = tn_arena_array(cx, &md->arena, json_object_size(all) + 1, sizeof *md->indexes);
    if (md->indexes == NULL)
        TN_TRY(TARN_E_NOMEM);
    json_object_foreach(all, name, def) TN_TRY(take_index(cx, md, name, def));
    md->indexes_known = true;
done:
    json_decref(json);
    tn_buf_clear(&text);
    return rc;
}

int tn_metadata_indexes(tarn_cx *cx, tn_metadata *md, bool *known)
{
    int rc = TARN_OK;

    if (!md->indexes_loaded)
        TN_TRY(load_indexes(cx, md));
    md->indexes_loaded = true;
    *known = md->indexes_known;
done:
    return rc;
}

/* ---- open ---- */

static int load(tarn_cx *cx, tn_metadata *md)
{
    static const tn_slices_options all = {0};
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &md->arena, md->data_root, TN_STR(".hoodie/metadata"), &md->root));
    TN_TRY(tn_hudi_config_load(cx, md->store, md->root, &md->arena, &md->config));
    if (!tn_str_is(md->config.base_format, "HFILE"))
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: a metadata table with base files of the format %.*s",
                TN_STR_ARG(md->root), TN_STR_ARG(md->config.base_format));
    TN_TRY(tn_timeline_load(cx, md->store, md->root, &md->config, &md->arena, &md->timeline));
    TN_TRY(tn_slices_facts_load(cx, md->store, &md->timeline, &all, &md->facts));
    TN_TRY(name_partitions(cx, md));
    TN_TRY(find_valid(cx, md));
done:
    return rc;
}

int tn_metadata_open(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                     const tn_timeline *timeline, tn_metadata **out)
{
    tn_metadata *md = tn_calloc(cx, 1, sizeof *md);
    int rc = TARN_OK;

    assert(config != NULL && timeline != NULL && out != NULL);
    if (md == NULL)
        return TARN_E_NOMEM;
    md->store = store;
    md->data_config = config;
    md->data_timeline = timeline;
    md->data_root = root;
    TN_TRY(
        take_listed(cx, md, tn_properties_get(&config->all, "hoodie.table.metadata.partitions")));
    if (!tn_metadata_has(md, "files")) {
        *out = NULL;
        goto done;
    }
    TN_TRY(tn_arena_keep(cx, &md->arena, &md->data_root));
    TN_TRY(load(cx, md));
    *out = md;
    md = NULL;
done:
    tn_metadata_close(md);
    return rc;
}

void tn_metadata_close(tn_metadata *md)
{
    if (md == NULL)
        return;
    for (size_t i = 0; md->partitions != NULL && i < md->listed_count; i++)
        for (size_t k = 0; k < md->partitions[i].group_count; k++)
            tn_metadata_group_close(&md->partitions[i].groups[k]);
    for (size_t i = 0; i < md->schema_count; i++)
        tn_avro_schema_clear(&md->schemas[i].schema);
    free(md->schemas);
    tn_slices_facts_clear(&md->facts);
    tn_arena_clear(&md->arena);
    free(md);
}
