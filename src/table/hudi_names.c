/* Columns by number: the history of schemas in ".hoodie/.schema", compared with today's
 * (InternalSchemaCache, FileBasedInternalSchemaStorageManager, SerDeHelper of release 1.2.0).
 *
 *     {"schemas": [{"max_column_id": 12, "version_id": 20240512100000000, "type": "record",
 *                   "fields": [{"id": 5, "name": "id", "optional": true, "type": "int"}, …]}, …]}
 *
 * Types are texts, or objects: records with "fields", arrays with "element_id" and "element", maps
 * with "key_id", "key", "value_id", "value".
 *
 * I1: a field is the same one as long as its number is; names and places may change.
 * I2: only histories of completed commits count, of those the newest: each holds all before it.
 * I3: counts and depths are bounded: the text by TN_HUDI_INSTANT_BYTES_MAX, nesting by
 *     TN_AVRO_DEPTH_MAX, fields by TN_AVRO_TYPES_MAX. */
#include "table/hudi_names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"

#define SCHEMA_FOLDER ".hoodie/.schema"

typedef struct reading {
    tarn_cx *cx;
    tn_arena *arena;
    tn_str where; /* for messages */
    tn_map today; /* number of a column -> its name, a const char * of today's schema */
    size_t fields;
    tn_scan_rename *renames; /* of the version at hand */
    size_t count, cap;
} reading;

static int fail_shape(const reading *r)
{
    return tn_fail(r->cx, TARN_E_CORRUPT, "%.*s: not a history of schemas as Hudi writes it",
                   TN_STR_ARG(r->where));
}

/* What is done with each field of a schema. */
typedef int (*meet_field)(reading *r, const json_t *field, tn_str path);

static int walk_type(reading *r, const json_t *type, tn_str path, unsigned depth, meet_field meet);

static int join(reading *r, tn_str path, const char *name, tn_str *out)
{
    if (path.len == 0)
        return tn_arena_print(r->cx, r->arena, out, "%s", name);
    return tn_arena_print(r->cx, r->arena, out, "%.*s.%s", TN_STR_ARG(path), name);
}

static int walk_fields(reading *r, const json_t *fields, tn_str path, unsigned depth,
                       meet_field meet)
{
    int rc = TARN_OK;

    if (!json_is_array(fields))
        return fail_shape(r);
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        const char *name = json_string_value(json_object_get(field, "name"));
        tn_str below;

        if (name == NULL || !json_is_integer(json_object_get(field, "id")) ||
            ++r->fields > TN_AVRO_TYPES_MAX)
            return fail_shape(r);
        TN_TRY(join(r, path, name, &below));
        TN_TRY(meet(r, field, below));
        TN_TRY(walk_type(r, json_object_get(field, "type"), below, depth + 1, meet));
    }
done:
    return rc;
}

/* What is nested in a type; the names of elements, keys and values never change. */
static int walk_type(reading *r, const json_t *type, tn_str path, unsigned depth, meet_field meet)
{
    static const char *const parts[] = {"element", "key", "value"};
    const json_t *fields = json_object_get(type, "fields");
    tn_str below;
    int rc = TARN_OK;

    if (depth > TN_AVRO_DEPTH_MAX)
        return fail_shape(r);
    if (fields != NULL)
        return walk_fields(r, fields, path, depth, meet);
    for (size_t i = 0; i < 3; i++) {
        const json_t *part = json_object_get(type, parts[i]);

        if (!json_is_object(part))
            continue;
        TN_TRY(join(r, path, parts[i], &below));
        TN_TRY(walk_type(r, part, below, depth + 1, meet));
    }
done:
    return rc;
}

static int print_id(reading *r, const json_t *field, tn_str *out)
{
    return tn_arena_print(r->cx, r->arena, out, "%" PRId64,
                          (int64_t)json_integer_value(json_object_get(field, "id")));
}

static int meet_today(reading *r, const json_t *field, tn_str path)
{
    tarn_cx *cx = r->cx;
    size_t *slot;
    bool added;
    tn_str id;
    int rc = TARN_OK;

    (void)path;
    TN_TRY(print_id(r, field, &id));
    slot = tn_map_add(cx, &r->today, id, &added);
    if (slot == NULL)
        TN_TRY(TARN_E_NOMEM);
    *slot = (size_t)(uintptr_t)json_string_value(json_object_get(field, "name"));
done:
    return rc;
}

/* I1. */
static int meet_then(reading *r, const json_t *field, tn_str path)
{
    tarn_cx *cx = r->cx;
    const char *name = json_string_value(json_object_get(field, "name"));
    tn_scan_rename made = {.path = path};
    const char *now;
    const size_t *slot;
    tn_str id;
    int rc = TARN_OK;

    TN_TRY(print_id(r, field, &id));
    slot = tn_map_find(&r->today, id);
    now = slot != NULL ? (const char *)(uintptr_t)*slot : NULL;
    if (now != NULL && strcmp(now, name) == 0)
        return TARN_OK;
    if (now != NULL) {
        made.name = tn_str_of(now);
        TN_TRY(tn_arena_keep(cx, r->arena, &made.name));
    }
    TN_TRY(tn_arena_grow(cx, r->arena, &r->renames, r->count, &r->cap, sizeof *r->renames));
    r->renames[r->count++] = made;
done:
    return rc;
}

static int by_path(const void *a, const void *b)
{
    return tn_str_compare(((const tn_scan_rename *)a)->path, ((const tn_scan_rename *)b)->path);
}

static int read_version(reading *r, const json_t *schema, tn_scan_version *out)
{
    tarn_cx *cx = r->cx;
    const json_t *id = json_object_get(schema, "version_id");
    int rc = TARN_OK;

    r->renames = NULL;
    r->count = r->cap = 0;
    TN_TRY(tn_arena_print(cx, r->arena, &out->since, "%" PRId64,
                          json_is_integer(id) ? (int64_t)json_integer_value(id) : 0));
    TN_TRY(walk_fields(r, json_object_get(schema, "fields"), TN_STR(""), 0, meet_then));
    if (r->count != 0)
        qsort(r->renames, r->count, sizeof *r->renames, by_path);
    out->renames = r->renames;
    out->count = r->count;
done:
    return rc;
}

static int by_since(const void *a, const void *b)
{
    return tn_str_compare(((const tn_scan_version *)a)->since, ((const tn_scan_version *)b)->since);
}

static int read_versions(reading *r, const json_t *history, tn_scan_names *out)
{
    const json_t *schemas = json_object_get(history, "schemas");
    tn_scan_version *versions;
    size_t count = json_array_size(schemas);
    int rc = TARN_OK;

    if (!json_is_array(schemas))
        return fail_shape(r);
    versions = tn_arena_array(r->cx, r->arena, count + 1, sizeof *versions);
    if (versions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        TN_TRY(read_version(r, json_array_get(schemas, i), &versions[i]));
    if (count != 0)
        qsort(versions, count, sizeof *versions, by_since);
    *out = (tn_scan_names){versions, count};
done:
    return rc;
}

/* ---- which history */

/* "<instant>[_<completion>].schemacommit"; false: another name. */
static bool parse_name(tn_str name, tn_str *instant)
{
    size_t digits = 0;

    while (digits < name.len && name.ptr[digits] >= '0' && name.ptr[digits] <= '9')
        digits++;
    *instant = (tn_str){name.ptr, digits};
    return digits != 0 && tn_str_ends(name, TN_STR(".schemacommit"));
}

/* I2. `path` empty: there is none. */
static int find_history(tarn_cx *cx, tn_store *store, tn_str root, const tn_timeline *timeline,
                        tn_str as_of, tn_arena *arena, tn_str *path)
{
    tn_str folder, newest = {NULL, 0}, name = {NULL, 0}, instant;
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    *path = (tn_str){NULL, 0};
    TN_TRY(tn_path_join(cx, arena, root, TN_STR(SCHEMA_FOLDER), &folder));
    TN_TRY(tn_store_list_or_none(cx, store, folder, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        if (!parse_name(entries[i].name, &instant) || !tn_timeline_shows(timeline, instant) ||
            (as_of.len != 0 && tn_str_compare(instant, as_of) > 0) ||
            tn_str_compare(instant, newest) <= 0)
            continue;
        newest = instant;
        name = entries[i].name;
    }
    if (name.len != 0)
        TN_TRY(tn_path_join(cx, arena, folder, name, path));
done:
    return rc;
}

int tn_hudi_names_parse(tarn_cx *cx, tn_str latest, tn_str history, tn_str where, tn_arena *arena,
                        tn_scan_names *out)
{
    reading r = {.cx = cx, .arena = arena, .where = where};
    json_t *now = NULL, *then = NULL;
    char what[TN_PATH_BYTES_MAX];
    tn_scan_names made;
    int rc = TARN_OK;

    assert(out != NULL);
    snprintf(what, sizeof what, "%.*s", TN_STR_ARG(where));
    TN_TRY(tn_json_parse(cx, latest, "latest_schema of the newest commit", &now));
    TN_TRY(walk_fields(&r, json_object_get(now, "fields"), TN_STR(""), 0, meet_today));
    r.fields = 0;
    TN_TRY(tn_json_parse(cx, history, what, &then));
    TN_TRY(read_versions(&r, then, &made));
    *out = made;
done:
    json_decref(now);
    json_decref(then);
    tn_map_clear(&r.today);
    return rc;
}

int tn_hudi_names_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_timeline *timeline,
                       tn_str latest, tn_str as_of, tn_arena *arena, tn_scan_names *out)
{
    tn_scan_names made = {0};
    tn_buf text = {0};
    tn_str path;
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(find_history(cx, store, root, timeline, as_of, arena, &path));
    if (path.len != 0) {
        TN_TRY(tn_store_get(cx, store, path, TN_HUDI_INSTANT_BYTES_MAX, &text));
        TN_TRY(tn_hudi_names_parse(cx, latest, tn_buf_view(&text), path, arena, &made));
    }
    *out = made;
done:
    tn_buf_clear(&text);
    return rc;
}
