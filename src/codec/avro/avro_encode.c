/* A tree of values as Avro's binary encoding (see avro_value.c for the bytes), and as JSON.
 *
 * I1: arrays and maps are one block, as Java's encoder writes them.
 * I2: of a union the first branch that the value fits is taken.
 * I3: recursion follows the type, never the value alone. */
#include "base/cursor.h"
#include "codec/avro/avro_place.h"
#include "codec/avro/avro_value.h"

static int wrong(tarn_cx *cx, const tn_avro_place *at, const char *text)
{
    return tn_fail_within(cx, tn_avro_place_fail(cx, TARN_E_INVALID, at, "field", text), "Avro");
}

static int encode(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value,
                  const tn_avro_place *at, tn_buf *out);

static void add_long(tn_buf *out, int64_t value)
{
    tn_buf_varint(out, tn_unzigzag(value));
}

static const tn_avro_value *member(const tn_avro_value *record, tn_str name, size_t guess)
{
    size_t count = record->as.many.count;

    if (guess < count && tn_str_equal(record->as.many.names[guess], name))
        return &record->as.many.items[guess];
    for (size_t i = 0; i < count; i++)
        if (tn_str_equal(record->as.many.names[i], name))
            return &record->as.many.items[i];
    return NULL;
}

static bool has_field(const tn_avro_type *type, tn_str name, size_t guess)
{
    if (guess < type->field_count && tn_str_equal(type->fields[guess].name, name))
        return true;
    for (size_t i = 0; i < type->field_count; i++)
        if (tn_str_equal(type->fields[i].name, name))
            return true;
    return false;
}

/* Whether the value may be written as this branch: a record may, whose fields it has. */
static bool fits(const tn_avro_type *type, const tn_avro_value *value)
{
    if (type->kind == TN_AVRO_LONG && value->kind == TN_AVRO_INT)
        return true;
    if (type->kind == TN_AVRO_INT && value->kind == TN_AVRO_LONG)
        return value->as.i == (int32_t)value->as.i;
    if (type->kind == TN_AVRO_DOUBLE || type->kind == TN_AVRO_FLOAT)
        return value->kind == TN_AVRO_DOUBLE || value->kind == TN_AVRO_FLOAT;
    if (type->kind != value->kind)
        return false;
    if (type->kind == TN_AVRO_FIXED)
        return value->as.text.len == type->size;
    if (type->kind == TN_AVRO_RECORD)
        for (size_t i = 0; i < value->as.many.count; i++)
            if (!has_field(type, value->as.many.names[i], i))
                return false;
    return true;
}

static int encode_union(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value,
                        const tn_avro_place *at, tn_buf *out)
{
    for (size_t i = 0; i < type->branch_count; i++) {
        if (!fits(type->branches[i], value))
            continue;
        add_long(out, (int64_t)i);
        return encode(cx, type->branches[i], value, at, out);
    }
    return wrong(cx, at, "no branch of the union takes the value");
}

/* A field that the value lacks. */
static int encode_missing(tarn_cx *cx, const tn_avro_field *field, const tn_avro_place *at,
                          tn_buf *out)
{
    const tn_avro_value null = {.kind = TN_AVRO_NULL};
    tn_avro_value fallback;
    tn_arena arena = {0};
    bool nullable;
    int rc = TARN_OK;

    (void)tn_avro_plain(field->type, &nullable);
    if (field->fallback != NULL && !json_is_null(field->fallback)) {
        TN_TRY(tn_avro_of_json(cx, field->type, field->fallback, &arena, &fallback));
        TN_TRY(encode(cx, field->type, &fallback, at, out));
    } else if (nullable) {
        TN_TRY(encode(cx, field->type, &null, at, out));
    } else {
        TN_TRY(wrong(cx, at, "it has no value, and no default"));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int encode_record(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value,
                         const tn_avro_place *at, tn_buf *out)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < type->field_count; i++) {
        tn_avro_place here = {at, type->fields[i].name};
        const tn_avro_value *found = member(value, type->fields[i].name, i);

        TN_TRY(found != NULL ? encode(cx, type->fields[i].type, found, &here, out)
                             : encode_missing(cx, &type->fields[i], &here, out));
    }
done:
    return rc;
}

static int encode_many(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value,
                       const tn_avro_place *at, tn_buf *out)
{
    int rc = TARN_OK;

    if (value->as.many.count != 0)
        add_long(out, (int64_t)value->as.many.count);
    for (size_t i = 0; i < value->as.many.count; i++) {
        tn_avro_place here = {at, TN_STR("[]")};

        if (type->kind == TN_AVRO_MAP) {
            here.name = value->as.many.names[i];
            add_long(out, (int64_t)here.name.len);
            tn_buf_str(out, here.name);
        }
        TN_TRY(encode(cx, type->branches[0], &value->as.many.items[i], &here, out));
    }
    add_long(out, 0);
done:
    return rc;
}

static void add_real(tn_buf *out, enum tn_avro_kind kind, double value)
{
    float narrow = (float)value;
    uint32_t bits32;
    uint64_t bits64;

    if (kind == TN_AVRO_FLOAT) {
        memcpy(&bits32, &narrow, sizeof bits32);
        tn_buf_u32le(out, bits32);
        return;
    }
    memcpy(&bits64, &value, sizeof bits64);
    tn_buf_u64le(out, bits64);
}

static int encode(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value,
                  const tn_avro_place *at, tn_buf *out)
{
    if (type->kind == TN_AVRO_UNION)
        return encode_union(cx, type, value, at, out);
    if (!fits(type, value) && type->kind != TN_AVRO_RECORD)
        return wrong(cx, at, "a value of another type");
    switch (type->kind) {
    case TN_AVRO_BOOLEAN:
        tn_buf_u8(out, value->as.truth);
        break;
    case TN_AVRO_ENUM:
        if (value->as.i < 0 || (uint64_t)value->as.i >= type->symbol_count)
            return wrong(cx, at, "a symbol that the enum has not");
        add_long(out, value->as.i);
        break;
    case TN_AVRO_INT:
    case TN_AVRO_LONG:
        add_long(out, value->as.i);
        break;
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        add_real(out, type->kind, value->as.d);
        break;
    case TN_AVRO_BYTES:
    case TN_AVRO_STRING:
        add_long(out, (int64_t)value->as.text.len);
        tn_buf_str(out, value->as.text);
        break;
    case TN_AVRO_FIXED:
        tn_buf_str(out, value->as.text);
        break;
    case TN_AVRO_RECORD:
        if (value->kind != TN_AVRO_RECORD && value->kind != TN_AVRO_MAP)
            return wrong(cx, at, "a value of another type");
        return encode_record(cx, type, value, at, out);
    case TN_AVRO_ARRAY:
    case TN_AVRO_MAP:
        return encode_many(cx, type, value, at, out);
    case TN_AVRO_NULL:
    case TN_AVRO_UNION:
        break;
    }
    return TARN_OK;
}

int tn_avro_encode(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value, tn_buf *out)
{
    size_t start = out->len;
    int rc = encode(cx, type, value, NULL, out);

    if (rc == TARN_OK)
        rc = tn_buf_check(cx, out);
    if (rc != TARN_OK)
        out->len = start;
    return rc;
}

/* ---- JSON */

void tn_avro_to_json(tn_json *json, const tn_avro_value *value)
{
    tn_buf key = {0};

    switch (value->kind) {
    case TN_AVRO_BOOLEAN:
        tn_json_bool(json, value->as.truth);
        break;
    case TN_AVRO_INT:
    case TN_AVRO_LONG:
    case TN_AVRO_ENUM:
        tn_json_i64(json, value->as.i);
        break;
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        tn_json_double(json, value->as.d);
        break;
    case TN_AVRO_STRING:
        tn_json_text(json, value->as.text);
        break;
    case TN_AVRO_BYTES:
    case TN_AVRO_FIXED:
        tn_json_base64(json, value->as.text);
        break;
    case TN_AVRO_RECORD:
    case TN_AVRO_MAP:
        tn_json_object(json);
        for (size_t i = 0; i < value->as.many.count; i++) {
            tn_buf_reset(&key);
            tn_buf_str(&key, value->as.many.names[i]);
            tn_buf_u8(&key, '\0');
            json->out->failed |= key.failed;
            if (key.failed)
                break;
            tn_json_key(json, (const char *)key.data);
            tn_avro_to_json(json, &value->as.many.items[i]);
        }
        tn_json_object_end(json);
        break;
    case TN_AVRO_ARRAY:
        tn_json_array(json);
        for (size_t i = 0; i < value->as.many.count; i++)
            tn_avro_to_json(json, &value->as.many.items[i]);
        tn_json_array_end(json);
        break;
    case TN_AVRO_NULL:
    case TN_AVRO_UNION:
        tn_json_null(json);
    }
    tn_buf_clear(&key);
}
