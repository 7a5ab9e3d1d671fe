/* Arrow fields of an Avro record, and the Arrow types that a Hudi table stores (the table of
 * avro_arrow.h).
 *
 * I1: what tn_avro_arrow_stored gives is what tn_avro_arrow_of makes of tn_avro_of_arrow's text,
 *     but for metadata and the names of list items and map entries. */
#include "codec/avro/avro_arrow.h"

#include <stdio.h>

#include "batch/field.h"
#include "batch/type.h"
#include "codec/avro/avro_place.h"

static int read_field(tarn_cx *cx, tn_str name, const tn_avro_type *type, const tn_avro_place *up,
                      struct ArrowSchema *out);

static int refuse(tarn_cx *cx, const tn_avro_place *at, const char *text)
{
    return tn_avro_place_fail(cx, TARN_E_UNSUPPORTED, at, "column", text);
}

/* ---- Avro to Arrow */

static void decimal_format(const tn_avro_type *type, char text[40])
{
    snprintf(text, 40, type->precision > 38 ? "d:%d,%d,256" : "d:%d,%d", type->precision,
             type->scale);
}

/* The format of a type without children; false for one that has some, or has no Arrow type. */
static bool format_of(const tn_avro_type *type, char text[40])
{
    static const char *const plain[] = {
        [TN_AVRO_BOOLEAN] = "b", [TN_AVRO_INT] = "i",    [TN_AVRO_LONG] = "l",
        [TN_AVRO_FLOAT] = "f",   [TN_AVRO_DOUBLE] = "g", [TN_AVRO_BYTES] = "z",
        [TN_AVRO_STRING] = "u",  [TN_AVRO_ENUM] = "u",   [TN_AVRO_UNION] = NULL};
    static const char *const logical[] = {[TN_AVRO_DATE] = "tdD",
                                          [TN_AVRO_TIME_MILLIS] = "ttm",
                                          [TN_AVRO_TIME_MICROS] = "ttu",
                                          [TN_AVRO_TIMESTAMP_MILLIS] = "tsm:UTC",
                                          [TN_AVRO_TIMESTAMP_MICROS] = "tsu:UTC",
                                          [TN_AVRO_LOCAL_TIMESTAMP_MILLIS] = "tsm:",
                                          [TN_AVRO_LOCAL_TIMESTAMP_MICROS] = "tsu:",
                                          [TN_AVRO_UUID] = "u"};

    if (type->logical == TN_AVRO_DECIMAL && type->precision <= 76)
        decimal_format(type, text);
    else if (type->logical == TN_AVRO_DECIMAL)
        return false;
    else if (type->logical != TN_AVRO_PLAIN)
        snprintf(text, 40, "%s", logical[type->logical]);
    else if (type->kind == TN_AVRO_FIXED)
        snprintf(text, 40, "w:%u", type->size);
    else if (plain[type->kind] != NULL)
        snprintf(text, 40, "%s", plain[type->kind]);
    else
        return false;
    return true;
}

static int read_record(tarn_cx *cx, tn_str name, const tn_avro_type *type, bool nullable,
                       const tn_avro_place *at, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", name, nullable, type->field_count));
    for (size_t i = 0; i < type->field_count; i++)
        TN_TRY(read_field(cx, type->fields[i].name, type->fields[i].type, at, made.children[i]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static int read_list(tarn_cx *cx, tn_str name, const tn_avro_type *type, bool nullable,
                     const tn_avro_place *at, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+l", name, nullable, 1));
    TN_TRY(read_field(cx, TN_STR("element"), type->branches[0], at, made.children[0]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static int read_map(tarn_cx *cx, tn_str name, const tn_avro_type *type, bool nullable,
                    const tn_avro_place *at, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+m", name, nullable, 1));
    TN_TRY(tn_field_init(cx, made.children[0], "+s", TN_STR("key_value"), false, 2));
    TN_TRY(tn_field_init(cx, made.children[0]->children[0], "u", TN_STR("key"), false, 0));
    TN_TRY(read_field(cx, TN_STR("value"), type->branches[0], at, made.children[0]->children[1]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static int read_field(tarn_cx *cx, tn_str name, const tn_avro_type *type, const tn_avro_place *up,
                      struct ArrowSchema *out)
{
    tn_avro_place at = {up, name};
    char format[40];
    bool nullable;

    type = tn_avro_plain(type, &nullable);
    switch (type->kind) {
    case TN_AVRO_RECORD:
        return read_record(cx, name, type, nullable, &at, out);
    case TN_AVRO_ARRAY:
        return read_list(cx, name, type, nullable, &at, out);
    case TN_AVRO_MAP:
        return read_map(cx, name, type, nullable, &at, out);
    case TN_AVRO_UNION:
        return refuse(cx, &at, "a union of several types has no column type here");
    case TN_AVRO_NULL:
        return refuse(cx, &at, "a column of nulls alone has no type here");
    default:
        break;
    }
    if (!format_of(type, format))
        return refuse(cx, &at, "a decimal of more than 76 digits");
    return tn_field_init(cx, out, format, name, nullable, 0);
}

int tn_avro_arrow_of(tarn_cx *cx, const tn_avro_type *record, struct ArrowSchema *out)
{
    bool nullable;

    record = tn_avro_plain(record, &nullable);
    if (record->kind != TN_AVRO_RECORD)
        return tn_fail(cx, TARN_E_UNSUPPORTED, "the Avro schema of a table has to be a record");
    return read_record(cx, TN_STR(""), record, false, NULL, out);
}

/* ---- what is stored */

static int store_field(tarn_cx *cx, const struct ArrowSchema *schema, const tn_avro_place *up,
                       struct ArrowSchema *out);

/* The stored format of a type without children; NULL: it has children, or is not stored. */
static const char *stored_format(const tn_type *type, char text[40])
{
    bool zone = type->zone.len != 0, fine = type->unit_digits > 3;

    switch (type->kind) {
    case TN_TYPE_BOOL:
        return "b";
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_UINT8:
    case TN_TYPE_UINT16:
        return "i";
    case TN_TYPE_INT64:
    case TN_TYPE_UINT32:
        return "l";
    case TN_TYPE_HALF:
    case TN_TYPE_FLOAT:
        return "f";
    case TN_TYPE_DOUBLE:
        return "g";
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
        return "u";
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
    case TN_TYPE_FIXED:
        return "z";
    case TN_TYPE_DATE32:
    case TN_TYPE_DATE64:
        return "tdD";
    case TN_TYPE_TIME32:
        return "ttm";
    case TN_TYPE_TIME64:
        return "ttu";
    case TN_TYPE_TIMESTAMP:
        return zone ? (fine ? "tsu:UTC" : "tsm:UTC") : fine ? "tsu:" : "tsm:";
    case TN_TYPE_DECIMAL:
        if (type->precision > 38 || type->scale < 0 || type->scale > type->precision)
            return NULL;
        snprintf(text, 40, "d:%d,%d", type->precision, type->scale);
        return text;
    default:
        return NULL;
    }
}

static int store_children(tarn_cx *cx, const struct ArrowSchema *schema, const char *format,
                          const tn_avro_place *at, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, format, tn_str_of(schema->name), tn_field_nullable(schema),
                         (size_t)schema->n_children));
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(store_field(cx, schema->children[i], at, made.children[i]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static bool keyed_by_text(const struct ArrowSchema *map)
{
    const struct ArrowSchema *key = map->children[0]->children[0];
    const char *format = key->dictionary != NULL ? key->dictionary->format : key->format;

    return strcmp(format, "u") == 0 || strcmp(format, "U") == 0;
}

static int refuse_type(tarn_cx *cx, const struct ArrowSchema *schema, const tn_avro_place *at)
{
    tn_buf text = {0};
    int rc;

    tn_buf_text(&text, "a Hudi table has no column of type ");
    tn_type_print(&text, schema);
    tn_buf_text(&text, "; cast it, or leave it out");
    tn_buf_u8(&text, '\0');
    rc = tn_buf_check(cx, &text);
    if (rc == TARN_OK)
        rc = refuse(cx, at, (const char *)text.data);
    tn_buf_clear(&text);
    return rc;
}

static int store_field(tarn_cx *cx, const struct ArrowSchema *schema, const tn_avro_place *up,
                       struct ArrowSchema *out)
{
    tn_avro_place at = {up, tn_str_of(schema->name)};
    const char *format;
    tn_type type;
    char text[40];
    int rc = tn_type_of(cx, schema, &type);

    if (rc == TARN_E_UNSUPPORTED)
        return refuse_type(cx, schema, &at);
    if (rc != TARN_OK)
        return rc;
    /* Of a dictionary the values count, which may have children of their own. */
    if (schema->dictionary != NULL &&
        (schema->dictionary->n_children != 0 || schema->dictionary->dictionary != NULL))
        return refuse_type(cx, schema, &at);
    switch (type.kind) {
    case TN_TYPE_STRUCT:
        return store_children(cx, schema, "+s", &at, out);
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
    case TN_TYPE_FIXED_LIST:
        return store_children(cx, schema, "+l", &at, out);
    case TN_TYPE_MAP:
        if (!keyed_by_text(schema))
            return refuse(cx, &at, "a Hudi table has maps with text keys alone; cast the keys");
        return store_children(cx, schema, "+m", &at, out);
    default:
        break;
    }
    format = stored_format(&type, text);
    if (format == NULL)
        return refuse_type(cx, schema, &at);
    return tn_field_init(cx, out, format, tn_str_of(schema->name), tn_field_nullable(schema), 0);
}

int tn_avro_arrow_stored(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(
        tn_field_init(cx, &made, "+s", tn_str_of(schema->name), false, (size_t)schema->n_children));
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(store_field(cx, schema->children[i], NULL, made.children[i]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}
