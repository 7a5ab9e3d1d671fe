/* Avro schemas as JSON, in the order of members that Java's Schema.toString has:
 *
 *   {"type":"record","name":N,"namespace":S,"doc":D,"fields":[…]}
 *   {"name":F,"type":T,"doc":D,"default":V}     a field
 *   {"type":"fixed","name":N,"namespace":S,"doc":D,"size":B,"logicalType":"decimal",
 *    "precision":P,"scale":S}
 *   {"type":"long","logicalType":"timestamp-micros"}
 *
 * I1: a namespace is written where it differs from the one around.
 * I2: a named type is written whole where it stands first. */
#include "base/map.h"
#include "codec/avro/avro_schema.h"

typedef struct printer {
    tn_json json;
    tn_map done; /* full names that were written */
    tarn_cx cx;  /* of the map alone: the buffer carries a failure */
} printer;

static const char *const kinds[] = {
    [TN_AVRO_NULL] = "null",   [TN_AVRO_BOOLEAN] = "boolean", [TN_AVRO_INT] = "int",
    [TN_AVRO_LONG] = "long",   [TN_AVRO_FLOAT] = "float",     [TN_AVRO_DOUBLE] = "double",
    [TN_AVRO_BYTES] = "bytes", [TN_AVRO_STRING] = "string",   [TN_AVRO_FIXED] = "fixed",
    [TN_AVRO_ENUM] = "enum",   [TN_AVRO_RECORD] = "record",   [TN_AVRO_ARRAY] = "array",
    [TN_AVRO_MAP] = "map",     [TN_AVRO_UNION] = "union"};

static const char *const logicals[] = {[TN_AVRO_DATE] = "date",
                                       [TN_AVRO_TIME_MILLIS] = "time-millis",
                                       [TN_AVRO_TIME_MICROS] = "time-micros",
                                       [TN_AVRO_TIMESTAMP_MILLIS] = "timestamp-millis",
                                       [TN_AVRO_TIMESTAMP_MICROS] = "timestamp-micros",
                                       [TN_AVRO_LOCAL_TIMESTAMP_MILLIS] = "local-timestamp-millis",
                                       [TN_AVRO_LOCAL_TIMESTAMP_MICROS] = "local-timestamp-micros",
                                       [TN_AVRO_DECIMAL] = "decimal",
                                       [TN_AVRO_UUID] = "uuid"};

static void print_type(printer *p, const tn_avro_type *type, tn_str space);

static void print_logical(printer *p, const tn_avro_type *type)
{
    if (type->logical == TN_AVRO_PLAIN)
        return;
    tn_json_put_text(&p->json, "logicalType", tn_str_of(logicals[type->logical]));
    if (type->logical != TN_AVRO_DECIMAL)
        return;
    tn_json_put_i64(&p->json, "precision", type->precision);
    tn_json_put_i64(&p->json, "scale", type->scale);
}

/* The union of a field, its null first, unless its default is a value of the branch that stands
 * first. */
static void print_union(printer *p, const tn_avro_type *type, tn_str space, bool as_is)
{
    tn_json_array(&p->json);
    for (size_t i = 0; i < type->branch_count && !as_is; i++)
        if (type->branches[i]->kind == TN_AVRO_NULL)
            print_type(p, type->branches[i], space);
    for (size_t i = 0; i < type->branch_count; i++)
        if (as_is || type->branches[i]->kind != TN_AVRO_NULL)
            print_type(p, type->branches[i], space);
    tn_json_array_end(&p->json);
}

static void print_field(printer *p, const tn_avro_field *field, tn_str space)
{
    bool nullable, valued = field->fallback != NULL && !json_is_null(field->fallback);

    (void)tn_avro_plain(field->type, &nullable);
    tn_json_object(&p->json);
    tn_json_put_text(&p->json, "name", field->name);
    tn_json_key(&p->json, "type");
    if (field->type->kind == TN_AVRO_UNION)
        print_union(p, field->type, space, valued);
    else
        print_type(p, field->type, space);
    if (field->doc.ptr != NULL)
        tn_json_put_text(&p->json, "doc", field->doc);
    if (valued || nullable) {
        tn_json_key(&p->json, "default");
        if (valued)
            tn_json_value(&p->json, field->fallback);
        else
            tn_json_null(&p->json);
    }
    tn_json_object_end(&p->json);
}

static void print_named(printer *p, const tn_avro_type *type, tn_str space)
{
    tn_json *json = &p->json;
    bool added;

    if (tn_map_add(&p->cx, &p->done, type->full, &added) == NULL) {
        json->out->failed = true;
        return;
    }
    if (!added) {
        tn_json_text(json, tn_str_equal(type->space, space) ? type->name : type->full);
        return;
    }
    tn_json_object(json);
    tn_json_put_text(json, "type", tn_str_of(kinds[type->kind]));
    tn_json_put_text(json, "name", type->name);
    if (!tn_str_equal(type->space, space))
        tn_json_put_text(json, "namespace", type->space);
    if (type->doc.ptr != NULL)
        tn_json_put_text(json, "doc", type->doc);
    switch (type->kind) {
    case TN_AVRO_FIXED:
        tn_json_put_u64(json, "size", type->size);
        print_logical(p, type);
        break;
    case TN_AVRO_ENUM:
        tn_json_key(json, "symbols");
        tn_json_array(json);
        for (size_t i = 0; i < type->symbol_count; i++)
            tn_json_text(json, type->symbols[i]);
        tn_json_array_end(json);
        break;
    default:
        tn_json_key(json, "fields");
        tn_json_array(json);
        for (size_t i = 0; i < type->field_count; i++)
            print_field(p, &type->fields[i], type->space);
        tn_json_array_end(json);
    }
    tn_json_object_end(json);
}

static void print_type(printer *p, const tn_avro_type *type, tn_str space)
{
    switch (type->kind) {
    case TN_AVRO_FIXED:
    case TN_AVRO_ENUM:
    case TN_AVRO_RECORD:
        print_named(p, type, space);
        return;
    case TN_AVRO_UNION:
        print_union(p, type, space, false);
        return;
    case TN_AVRO_ARRAY:
    case TN_AVRO_MAP:
        tn_json_object(&p->json);
        tn_json_put_text(&p->json, "type", tn_str_of(kinds[type->kind]));
        tn_json_key(&p->json, type->kind == TN_AVRO_ARRAY ? "items" : "values");
        print_type(p, type->branches[0], space);
        tn_json_object_end(&p->json);
        return;
    default:
        break;
    }
    if (type->logical == TN_AVRO_PLAIN) {
        tn_json_text(&p->json, tn_str_of(kinds[type->kind]));
        return;
    }
    tn_json_object(&p->json);
    tn_json_put_text(&p->json, "type", tn_str_of(kinds[type->kind]));
    print_logical(p, type);
    tn_json_object_end(&p->json);
}

void tn_avro_print(tn_buf *out, const tn_avro_type *type)
{
    printer p = {.json = tn_json_to(out)};

    print_type(&p, type, (tn_str){0});
    tn_map_clear(&p.done);
}
