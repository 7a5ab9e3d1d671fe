/* JSON as Avro values, by a type: the commits of older tables, and defaults of schemas.
 *
 * I1: the JSON is plain: a union's value stands without the name of its branch, as Jackson writes
 *     Hudi's classes; the first branch that it fits is taken.
 * I2: a record's value has the members that the JSON has, so what is missing takes its default when
 *     it is encoded.
 * I3: bytes are text whose characters, up to U+00FF, are the bytes: the form of defaults. */
#include "codec/avro/avro_value.h"

#include "codec/avro/avro_place.h"

static int wrong(tarn_cx *cx, const tn_avro_place *at, const char *text)
{
    return tn_avro_place_fail(cx, TARN_E_INVALID, at, "member", text);
}

static int convert(tarn_cx *cx, const tn_avro_type *type, const json_t *json,
                   const tn_avro_place *at, tn_arena *arena, tn_avro_value *out);

static int take_bytes(tarn_cx *cx, const json_t *json, const tn_avro_place *at, tn_arena *arena,
                      tn_str *out)
{
    const uint8_t *text = (const uint8_t *)json_string_value(json);
    size_t len = json_string_length(json), n = 0;
    char *bytes = tn_arena_take(cx, arena, len + 1);

    if (bytes == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < 0x80)
            bytes[n++] = (char)text[i];
        else if ((text[i] == 0xC2 || text[i] == 0xC3) && i + 1 < len) {
            bytes[n++] = (char)(text[i] << 6 | (text[i + 1] & 0x3F));
            i++;
        } else
            return wrong(cx, at, "bytes with a character beyond U+00FF");
    }
    *out = (tn_str){bytes, n};
    return TARN_OK;
}

static int take_members(tarn_cx *cx, const tn_avro_type *type, const json_t *json,
                        const tn_avro_place *at, tn_arena *arena, tn_avro_value *out)
{
    json_t *object = (json_t *)(uintptr_t)json, *found;
    size_t count = 0, most = type->kind == TN_AVRO_MAP ? json_object_size(json) : type->field_count;
    tn_str *names = tn_arena_array(cx, arena, most, sizeof names[0]);
    tn_avro_value *items = tn_arena_array(cx, arena, most, sizeof items[0]);
    const char *key;
    int rc = TARN_OK;

    if (names == NULL || items == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (type->kind == TN_AVRO_MAP) {
        json_object_foreach(object, key, found)
        {
            names[count] = tn_str_of(key);
            TN_TRY(tn_arena_keep(cx, arena, &names[count]));
            TN_TRY(convert(cx, type->branches[0], found, &(tn_avro_place){at, names[count]}, arena,
                           &items[count]));
            count++;
        }
    }
    for (size_t i = 0; i < type->field_count; i++) {
        tn_str name = type->fields[i].name;

        TN_TRY(tn_arena_keep(cx, arena, &name));
        found = json_object_get(object, name.ptr);
        if (found == NULL)
            continue;
        names[count] = name;
        TN_TRY(convert(cx, type->fields[i].type, found, &(tn_avro_place){at, name}, arena,
                       &items[count]));
        count++;
    }
    out->as.many.names = names;
    out->as.many.items = items;
    out->as.many.count = count;
done:
    return rc;
}

static int take_items(tarn_cx *cx, const tn_avro_type *type, const json_t *json,
                      const tn_avro_place *at, tn_arena *arena, tn_avro_value *out)
{
    size_t count = json_array_size(json);
    tn_avro_value *items = tn_arena_array(cx, arena, count, sizeof items[0]);
    int rc = TARN_OK;

    if (items == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        TN_TRY(convert(cx, type->branches[0], json_array_get(json, i),
                       &(tn_avro_place){at, TN_STR("[]")}, arena, &items[i]));
    out->as.many.items = items;
    out->as.many.count = count;
done:
    return rc;
}

/* Whether the JSON may be a value of the type, by its own kind. */
static bool may_be(const tn_avro_type *type, const json_t *json)
{
    switch (type->kind) {
    case TN_AVRO_NULL:
        return json_is_null(json);
    case TN_AVRO_BOOLEAN:
        return json_is_boolean(json);
    case TN_AVRO_INT:
        return json_is_integer(json) &&
               json_integer_value(json) == (int32_t)json_integer_value(json);
    case TN_AVRO_LONG:
        return json_is_integer(json);
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        return json_is_number(json);
    case TN_AVRO_BYTES:
    case TN_AVRO_STRING:
    case TN_AVRO_FIXED:
    case TN_AVRO_ENUM:
        return json_is_string(json);
    case TN_AVRO_RECORD:
    case TN_AVRO_MAP:
        return json_is_object(json);
    case TN_AVRO_ARRAY:
        return json_is_array(json);
    case TN_AVRO_UNION:
        break;
    }
    return false;
}

static int take_symbol(tarn_cx *cx, const tn_avro_type *type, const json_t *json,
                       const tn_avro_place *at, tn_avro_value *out)
{
    for (size_t i = 0; i < type->symbol_count; i++)
        if (tn_str_is(type->symbols[i], json_string_value(json))) {
            out->as.i = (int64_t)i;
            return TARN_OK;
        }
    return wrong(cx, at, "a symbol that the enum has not");
}

static int convert(tarn_cx *cx, const tn_avro_type *type, const json_t *json,
                   const tn_avro_place *at, tn_arena *arena, tn_avro_value *out)
{
    tn_avro_value value = {.kind = type->kind};
    int rc = TARN_OK;

    if (type->kind == TN_AVRO_UNION) {
        for (size_t i = 0; i < type->branch_count; i++)
            if (may_be(type->branches[i], json))
                return convert(cx, type->branches[i], json, at, arena, out);
        return wrong(cx, at, "no branch of the union takes the value");
    }
    if (!may_be(type, json))
        return wrong(cx, at, "a value of another type");
    switch (type->kind) {
    case TN_AVRO_BOOLEAN:
        value.as.truth = json_is_true(json);
        break;
    case TN_AVRO_INT:
    case TN_AVRO_LONG:
        value.as.i = json_integer_value(json);
        break;
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        value.as.d = json_number_value(json);
        break;
    case TN_AVRO_STRING:
        value.as.text = (tn_str){json_string_value(json), json_string_length(json)};
        TN_TRY(tn_arena_keep(cx, arena, &value.as.text));
        break;
    case TN_AVRO_BYTES:
    case TN_AVRO_FIXED:
        TN_TRY(take_bytes(cx, json, at, arena, &value.as.text));
        if (type->kind == TN_AVRO_FIXED && value.as.text.len != type->size)
            TN_TRY(wrong(cx, at, "a fixed of another size"));
        break;
    case TN_AVRO_ENUM:
        TN_TRY(take_symbol(cx, type, json, at, &value));
        break;
    case TN_AVRO_RECORD:
    case TN_AVRO_MAP:
        TN_TRY(take_members(cx, type, json, at, arena, &value));
        break;
    case TN_AVRO_ARRAY:
        TN_TRY(take_items(cx, type, json, at, arena, &value));
        break;
    case TN_AVRO_NULL:
    case TN_AVRO_UNION:
        break;
    }
    *out = value;
done:
    return rc;
}

int tn_avro_of_json(tarn_cx *cx, const tn_avro_type *type, const json_t *json, tn_arena *arena,
                    tn_avro_value *out)
{
    return convert(cx, type, json, NULL, arena, out);
}
