/* Avro schemas: parsed from JSON.
 *
 *   "int"                                      a primitive type, or the name of a type met before
 *   {"type":"int","logicalType":"date"}        the same with properties; "type" may nest
 *   ["null","int"]                             a union
 *   {"type":"record","name":N,"fields":[…]}    and "enum", "fixed"; "array" has "items", "map"
 *                                              has "values"
 *
 * I1: no type holds itself, so every walk over a schema ends.
 * I2: the tree that references make is bounded, not the text alone: a type's weight and depth
 *     count what it refers to.
 * I3: names and defaults point into the JSON, which lives as long as the schema. */
#include "codec/avro/avro_schema.h"

#include <assert.h>

#include "base/map.h"
#include "codec/avro/avro_place.h"

typedef struct parser {
    tarn_cx *cx;
    tn_arena *arena;
    const char *what;
    tn_map named; /* full name: index into types; an open one has index 0 */
    const tn_avro_type **types;
    size_t type_count, type_cap;
    unsigned depth;
    size_t made;
} parser;

static const char *const primitives[] = {"null",  "boolean", "int",   "long",
                                         "float", "double",  "bytes", "string"};

static int fail_at(parser *p, int status, const tn_avro_place *at, const char *text)
{
    return tn_fail_within(p->cx, tn_avro_place_fail(p->cx, status, at, "field", text),
                          "%s: Avro schema", p->what);
}

static tn_str text_of(const json_t *value)
{
    return (tn_str){json_string_value(value), json_string_length(value)};
}

static int parse_type(parser *p, const json_t *json, tn_str space, const tn_avro_place *at,
                      const tn_avro_type **out);

/* ---- names */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(tn_str text, bool dots)
{
    bool first = true;

    for (size_t i = 0; i < text.len && text.len <= TN_AVRO_NAME_BYTES_MAX; i++) {
        char c = text.ptr[i];

        if (dots && c == '.' && !first) {
            first = true;
            continue;
        }
        if (!is_letter(c) && (first || c < '0' || c > '9'))
            return false;
        first = false;
    }
    return text.len != 0 && !first;
}

static int kind_of(tn_str name)
{
    for (int i = 0; i < (int)(sizeof primitives / sizeof primitives[0]); i++)
        if (tn_str_is(name, primitives[i]))
            return i;
    return -1;
}

static int full_name(parser *p, tn_str name, tn_str space, tn_str *out)
{
    if (space.len == 0) {
        *out = name;
        return TARN_OK;
    }
    return tn_arena_print(p->cx, p->arena, out, "%.*s.%.*s", TN_STR_ARG(space), TN_STR_ARG(name));
}

/* Splits "a.b.C" at its last dot. */
static void split_name(tn_str name, tn_str *space, tn_str *last)
{
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] != '.')
        at--;
    *space = (tn_str){name.ptr, at > 0 ? at - 1 : 0};
    *last = tn_str_from(name, at);
}

/* Name and namespace of a definition, by the specification's "Names": a name with dots is whole, a
 * "namespace" is next, the one around is last. */
static int read_name(parser *p, const json_t *json, tn_str around, const tn_avro_place *at,
                     tn_avro_type *type)
{
    tn_str name = text_of(json_object_get(json, "name"));
    const json_t *space = json_object_get(json, "namespace");
    int rc = TARN_OK;

    if (!is_name(name, true))
        TN_TRY(fail_at(p, TARN_E_CORRUPT, at,
                       name.len == 0 ? "a record, enum or fixed without a name"
                                     : "a name may hold letters, digits and _ alone"));
    if (tn_str_find(name, '.') < name.len) {
        split_name(name, &type->space, &type->name);
    } else {
        type->name = name;
        type->space = json_is_string(space) ? text_of(space) : around;
    }
    if (type->space.len != 0 && !is_name(type->space, true))
        TN_TRY(fail_at(p, TARN_E_CORRUPT, at, "a namespace may hold letters, digits, _ and dots"));
    type->doc = text_of(json_object_get(json, "doc"));
    TN_TRY(full_name(p, type->name, type->space, &type->full));
done:
    return rc;
}

/* Notes that a definition begins; its place is filled when it ends (define). */
static int begin_name(parser *p, const tn_avro_type *type, const tn_avro_place *at)
{
    bool added;
    size_t *index;

    if (type->space.len == 0 && kind_of(type->name) >= 0)
        return fail_at(p, TARN_E_CORRUPT, at, "a type takes the name of a primitive one");
    index = tn_map_add(p->cx, &p->named, type->full, &added);
    if (index == NULL)
        return TARN_E_NOMEM;
    if (!added)
        return fail_at(p, TARN_E_CORRUPT, at, "a name is defined twice");
    return TARN_OK;
}

static int end_name(parser *p, const tn_avro_type *type)
{
    size_t *index = tn_map_find(&p->named, type->full);
    int rc = TARN_OK;

    assert(index != NULL);
    TN_TRY(
        tn_arena_grow(p->cx, p->arena, &p->types, p->type_count, &p->type_cap, sizeof p->types[0]));
    p->types[p->type_count++] = type;
    *index = p->type_count;
done:
    return rc;
}

/* ---- sizes */

/* Counts what is below `type`, which is complete but for that. */
static int charge(parser *p, tn_avro_type *type, const tn_avro_place *at)
{
    static const uint8_t own[] = {0, 1, 1, 1, 4, 8, 1, 1, 0, 1, 0, 1, 1, 1}; /* by kind */
    uint64_t least = own[type->kind] + (uint64_t)type->size, branch_least = UINT64_MAX;
    size_t weight = 1;
    uint32_t depth = 0;

    for (size_t i = 0; i < type->field_count + type->branch_count; i++) {
        const tn_avro_type *below =
            i < type->field_count ? type->fields[i].type : type->branches[i - type->field_count];

        weight += below->weight;
        depth = below->depth > depth ? below->depth : depth;
        if (type->kind == TN_AVRO_RECORD)
            least += below->least_bytes;
        branch_least = below->least_bytes < branch_least ? below->least_bytes : branch_least;
        if (weight > TN_AVRO_TYPES_MAX)
            return fail_at(p, TARN_E_LIMIT, at, "more types than tarn reads (1,000,000)");
    }
    if (type->kind == TN_AVRO_UNION)
        least += branch_least;
    if (depth >= TN_AVRO_DEPTH_MAX)
        return fail_at(p, TARN_E_LIMIT, at, "nested more than 64 levels deep");
    type->weight = weight;
    type->depth = depth + 1;
    type->least_bytes = least;
    return TARN_OK;
}

static int new_type(parser *p, enum tn_avro_kind kind, const tn_avro_place *at, tn_avro_type **out)
{
    if (p->made++ >= TN_AVRO_TYPES_MAX)
        return fail_at(p, TARN_E_LIMIT, at, "more types than tarn reads (1,000,000)");
    *out = tn_arena_take(p->cx, p->arena, sizeof **out);
    if (*out == NULL)
        return TARN_E_NOMEM;
    (*out)->kind = kind;
    return TARN_OK;
}

/* ---- definitions */

static const struct {
    const char *word;
    enum tn_avro_logical logical;
    enum tn_avro_kind base;
} logicals[] = {
    {"date", TN_AVRO_DATE, TN_AVRO_INT},
    {"time-millis", TN_AVRO_TIME_MILLIS, TN_AVRO_INT},
    {"time-micros", TN_AVRO_TIME_MICROS, TN_AVRO_LONG},
    {"timestamp-millis", TN_AVRO_TIMESTAMP_MILLIS, TN_AVRO_LONG},
    {"timestamp-micros", TN_AVRO_TIMESTAMP_MICROS, TN_AVRO_LONG},
    {"local-timestamp-millis", TN_AVRO_LOCAL_TIMESTAMP_MILLIS, TN_AVRO_LONG},
    {"local-timestamp-micros", TN_AVRO_LOCAL_TIMESTAMP_MICROS, TN_AVRO_LONG},
    {"uuid", TN_AVRO_UUID, TN_AVRO_STRING},
};

/* As the specification asks: a logical type that is not known, or does not fit, is none. */
static void read_logical(const json_t *json, tn_avro_type *type)
{
    tn_str word = text_of(json_object_get(json, "logicalType"));
    const json_t *precision = json_object_get(json, "precision");
    const json_t *scale = json_object_get(json, "scale");
    json_int_t digits = json_integer_value(precision), places = json_integer_value(scale);

    for (size_t i = 0; i < sizeof logicals / sizeof logicals[0]; i++)
        if (word.ptr != NULL && tn_str_is(word, logicals[i].word) && type->kind == logicals[i].base)
            type->logical = logicals[i].logical;
    if (word.ptr == NULL || !tn_str_is(word, "decimal") ||
        (type->kind != TN_AVRO_BYTES && type->kind != TN_AVRO_FIXED))
        return;
    if (!json_is_integer(precision) || digits < 1 || digits > INT32_MAX || places < 0 ||
        places > digits || (scale != NULL && !json_is_integer(scale)))
        return;
    type->logical = TN_AVRO_DECIMAL;
    type->precision = (int32_t)digits;
    type->scale = (int32_t)places;
}

static int parse_field(parser *p, const json_t *json, tn_str space, const tn_avro_place *at,
                       tn_avro_field *out)
{
    tn_avro_place here = {at, {0}};
    int rc = TARN_OK;

    if (!json_is_object(json))
        TN_TRY(fail_at(p, TARN_E_CORRUPT, at, "a field that is not an object"));
    out->name = text_of(json_object_get(json, "name"));
    if (out->name.len == 0)
        TN_TRY(fail_at(p, TARN_E_CORRUPT, at, "a field without a name"));
    here.name = out->name;
    out->fallback = json_object_get(json, "default");
    out->doc = text_of(json_object_get(json, "doc"));
    TN_TRY(parse_type(p, json_object_get(json, "type"), space, &here, &out->type));
done:
    return rc;
}

static int parse_record(parser *p, const json_t *json, const tn_avro_place *at, tn_avro_type *type)
{
    const json_t *fields = json_object_get(json, "fields");
    size_t count = json_array_size(fields);
    tn_map names = {0};
    bool added;
    int rc = TARN_OK;

    if (!json_is_array(fields))
        TN_TRY(fail_at(p, TARN_E_CORRUPT, at, "a record without \"fields\""));
    type->fields = tn_arena_array(p->cx, p->arena, count, sizeof type->fields[0]);
    type->field_names = tn_arena_array(p->cx, p->arena, count, sizeof type->field_names[0]);
    if (type->fields == NULL || type->field_names == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        tn_avro_field *field = &type->fields[i];

        TN_TRY(parse_field(p, json_array_get(fields, i), type->space, at, field));
        if (tn_map_add(p->cx, &names, field->name, &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added)
            TN_TRY(fail_at(p, TARN_E_CORRUPT, &(tn_avro_place){at, field->name},
                           "a field stands twice"));
        type->field_names[i] = field->name;
        type->field_count++;
    }
done:
    tn_map_clear(&names);
    return rc;
}

static int parse_enum(parser *p, const json_t *json, const tn_avro_place *at, tn_avro_type *type)
{
    const json_t *symbols = json_object_get(json, "symbols");
    size_t count = json_array_size(symbols);

    if (!json_is_array(symbols))
        return fail_at(p, TARN_E_CORRUPT, at, "an enum without \"symbols\"");
    type->symbols = tn_arena_array(p->cx, p->arena, count, sizeof type->symbols[0]);
    if (type->symbols == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        type->symbols[i] = text_of(json_array_get(symbols, i));
        if (type->symbols[i].ptr == NULL)
            return fail_at(p, TARN_E_CORRUPT, at, "a symbol of an enum that is no text");
    }
    type->symbol_count = count;
    return TARN_OK;
}

static int parse_fixed(parser *p, const json_t *json, const tn_avro_place *at, tn_avro_type *type)
{
    const json_t *size = json_object_get(json, "size");
    json_int_t bytes = json_integer_value(size);

    if (!json_is_integer(size) || bytes < 0)
        return fail_at(p, TARN_E_CORRUPT, at, "a fixed without its \"size\"");
    if (bytes > TN_AVRO_FIXED_BYTES_MAX)
        return fail_at(p, TARN_E_LIMIT, at, "a fixed of more than 1 MiB");
    type->size = (uint32_t)bytes;
    return TARN_OK;
}

static int parse_named(parser *p, const json_t *json, enum tn_avro_kind kind, tn_str space,
                       const tn_avro_place *at, const tn_avro_type **out)
{
    tn_avro_type *type = NULL;
    int rc = TARN_OK;

    TN_TRY(new_type(p, kind, at, &type));
    TN_TRY(read_name(p, json, space, at, type));
    TN_TRY(begin_name(p, type, at));
    switch (kind) {
    case TN_AVRO_RECORD:
        TN_TRY(parse_record(p, json, at, type));
        break;
    case TN_AVRO_ENUM:
        TN_TRY(parse_enum(p, json, at, type));
        break;
    default:
        TN_TRY(parse_fixed(p, json, at, type));
        read_logical(json, type);
    }
    TN_TRY(charge(p, type, at));
    TN_TRY(end_name(p, type));
    *out = type;
done:
    return rc;
}

static int parse_many(parser *p, const json_t *json, enum tn_avro_kind kind, tn_str space,
                      const tn_avro_place *at, const tn_avro_type **out)
{
    const char *key = kind == TN_AVRO_ARRAY ? "items" : "values";
    tn_avro_place here = {at, tn_str_of(key)};
    tn_avro_type *type = NULL;
    int rc = TARN_OK;

    TN_TRY(new_type(p, kind, at, &type));
    type->branches = tn_arena_array(p->cx, p->arena, 1, sizeof type->branches[0]);
    if (type->branches == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(parse_type(p, json_object_get(json, key), space, &here, &type->branches[0]));
    type->branch_count = 1;
    TN_TRY(charge(p, type, at));
    *out = type;
done:
    return rc;
}

static int parse_union(parser *p, const json_t *json, tn_str space, const tn_avro_place *at,
                       const tn_avro_type **out)
{
    size_t count = json_array_size(json);
    tn_avro_type *type = NULL;
    int rc = TARN_OK;

    if (count == 0)
        TN_TRY(fail_at(p, TARN_E_CORRUPT, at, "a union of no types"));
    TN_TRY(new_type(p, TN_AVRO_UNION, at, &type));
    type->branches = tn_arena_array(p->cx, p->arena, count, sizeof type->branches[0]);
    if (type->branches == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        TN_TRY(parse_type(p, json_array_get(json, i), space, at, &type->branches[i]));
        if (type->branches[i]->kind == TN_AVRO_UNION)
            TN_TRY(fail_at(p, TARN_E_CORRUPT, at, "a union right inside a union"));
        type->branch_count++;
    }
    TN_TRY(charge(p, type, at));
    *out = type;
done:
    return rc;
}

/* A primitive type, or one that was defined before. `json` has its properties where it has some. */
static int parse_word(parser *p, tn_str word, const json_t *json, tn_str space,
                      const tn_avro_place *at, const tn_avro_type **out)
{
    int kind = kind_of(word);
    tn_avro_type *type = NULL;
    size_t *index;
    tn_str full;
    int rc = TARN_OK;

    if (kind >= 0) {
        TN_TRY(new_type(p, (enum tn_avro_kind)kind, at, &type));
        read_logical(json, type);
        TN_TRY(charge(p, type, at));
        *out = type;
        goto done;
    }
    if (tn_str_find(word, '.') < word.len)
        full = word;
    else
        TN_TRY(full_name(p, word, space, &full));
    index = tn_map_find(&p->named, full);
    if (index == NULL)
        index = tn_map_find(&p->named, word);
    if (index == NULL)
        TN_TRY(fail_at(p, TARN_E_CORRUPT, &(tn_avro_place){at, word}, "no such type"));
    if (*index == 0)
        TN_TRY(
            fail_at(p, TARN_E_UNSUPPORTED, &(tn_avro_place){at, word}, "a type that holds itself"));
    *out = p->types[*index - 1];
done:
    return rc;
}

static int parse_object(parser *p, const json_t *json, tn_str space, const tn_avro_place *at,
                        const tn_avro_type **out)
{
    static const struct {
        const char *word;
        enum tn_avro_kind kind;
    } definitions[] = {{"record", TN_AVRO_RECORD}, {"error", TN_AVRO_RECORD},
                       {"enum", TN_AVRO_ENUM},     {"fixed", TN_AVRO_FIXED},
                       {"array", TN_AVRO_ARRAY},   {"map", TN_AVRO_MAP}};
    const json_t *type = json_object_get(json, "type");
    tn_str word = text_of(type);

    if (type == NULL)
        return fail_at(p, TARN_E_CORRUPT, at, "an object without \"type\"");
    if (!json_is_string(type))
        return parse_type(p, type, space, at, out);
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        if (!tn_str_is(word, definitions[i].word))
            continue;
        if (definitions[i].kind == TN_AVRO_ARRAY || definitions[i].kind == TN_AVRO_MAP)
            return parse_many(p, json, definitions[i].kind, space, at, out);
        return parse_named(p, json, definitions[i].kind, space, at, out);
    }
    return parse_word(p, word, json, space, at, out);
}

static int parse_type(parser *p, const json_t *json, tn_str space, const tn_avro_place *at,
                      const tn_avro_type **out)
{
    int rc = TARN_OK;

    if (p->depth >= TN_AVRO_DEPTH_MAX * 2)
        return fail_at(p, TARN_E_LIMIT, at, "nested more than 64 levels deep");
    p->depth++;
    if (json_is_string(json))
        rc = parse_word(p, text_of(json), NULL, space, at, out);
    else if (json_is_array(json))
        rc = parse_union(p, json, space, at, out);
    else if (json_is_object(json))
        rc = parse_object(p, json, space, at, out);
    else
        rc = fail_at(p, TARN_E_CORRUPT, at, "a type is missing");
    p->depth--;
    return rc;
}

int tn_avro_schema_parse(tarn_cx *cx, tn_str text, const char *what, tn_avro_schema *out)
{
    tn_avro_schema schema = {0};
    parser p = {.cx = cx, .arena = &schema.arena, .what = what};
    int rc = TARN_OK;

    if (text.len > TN_AVRO_SCHEMA_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: an Avro schema of %zu bytes; tarn reads up to 64 MiB", what,
                text.len);
    TN_TRY(tn_json_parse(cx, text, what, &schema.json));
    TN_TRY(parse_type(&p, schema.json, (tn_str){0}, NULL, &schema.root));
    *out = schema;
    schema = (tn_avro_schema){0};
done:
    tn_map_clear(&p.named);
    tn_avro_schema_clear(&schema);
    return rc;
}

void tn_avro_schema_clear(tn_avro_schema *schema)
{
    tn_arena_clear(&schema->arena);
    json_decref(schema->json);
    *schema = (tn_avro_schema){0};
}

const tn_avro_type *tn_avro_plain(const tn_avro_type *type, bool *nullable)
{
    *nullable = type->kind == TN_AVRO_NULL;
    if (type->kind != TN_AVRO_UNION)
        return type;
    for (size_t i = 0; i < type->branch_count; i++)
        *nullable |= type->branches[i]->kind == TN_AVRO_NULL;
    if (type->branch_count == 1)
        return type->branches[0];
    if (type->branch_count == 2 && *nullable)
        return type->branches[type->branches[0]->kind == TN_AVRO_NULL];
    return type;
}

static bool same_branches(const tn_avro_type *a, const tn_avro_type *b)
{
    for (size_t i = 0; i < a->branch_count; i++) {
        bool found = false;

        for (size_t k = 0; k < b->branch_count && !found; k++)
            found = tn_avro_same(a->branches[i], b->branches[k]);
        if (!found)
            return false;
    }
    return true;
}

bool tn_avro_same(const tn_avro_type *a, const tn_avro_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->logical != b->logical || a->size != b->size ||
        a->field_count != b->field_count || a->branch_count != b->branch_count ||
        a->symbol_count != b->symbol_count)
        return false;
    if (a->logical == TN_AVRO_DECIMAL && (a->precision != b->precision || a->scale != b->scale))
        return false;
    for (size_t i = 0; i < a->symbol_count; i++)
        if (!tn_str_equal(a->symbols[i], b->symbols[i]))
            return false;
    for (size_t i = 0; i < a->field_count; i++)
        if (!tn_str_equal(a->fields[i].name, b->fields[i].name) ||
            !tn_avro_same(a->fields[i].type, b->fields[i].type))
            return false;
    return same_branches(a, b);
}
