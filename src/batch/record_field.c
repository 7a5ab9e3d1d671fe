/* Fields of rows as Java's toString prints them (Hudi: HoodieAvroUtils.getNestedFieldValAsString).
 * I1: times adjusted to UTC are the number that the table stores, in milliseconds or microseconds;
 *     other units are spelled in microseconds, as they are stored. With a zone they are text by its
 *     clock, to the millisecond. Times by the clock (not adjusted) always are numbers.
 * I2: binary has no spelling: Hudi's is that of a buffer's place, the same for all values. */
#include "batch/record_field.h"

#include <string.h>

#include "batch/digits.h"
#include "batch/java_text.h"
#include "batch/text.h"

static int64_t find_child(const struct ArrowSchema *schema, tn_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_is(name, schema->children[i]->name))
            return i;
    return -1;
}

/* Down from `schema` by the parts of `name`; the whole rest of a name is tried before its first
 * part. False where there is no such field. */
static bool walk(const struct ArrowSchema **schema, tn_str name, tn_record_field *field)
{
    while (field->depth < TN_RECORD_FIELD_DEPTH_MAX) {
        int64_t i = find_child(*schema, name);
        size_t dot = tn_str_find(name, '.');
        bool whole = i >= 0;

        if (!whole && dot < name.len)
            i = find_child(*schema, (tn_str){name.ptr, dot});
        if (i < 0)
            return false;
        *schema = (*schema)->children[i];
        field->index[field->depth++] = (uint32_t)i;
        if (whole)
            return true;
        if (strcmp((*schema)->format, "+s") != 0)
            return false;
        name = tn_str_from(name, dot + 1);
    }
    return false;
}

static bool has_spelling(const tn_type *type)
{
    switch (type->kind) {
    case TN_TYPE_NULL:
    case TN_TYPE_BOOL:
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_INT64:
    case TN_TYPE_UINT8:
    case TN_TYPE_UINT16:
    case TN_TYPE_UINT32:
    case TN_TYPE_UINT64:
    case TN_TYPE_FLOAT:
    case TN_TYPE_DOUBLE:
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_DECIMAL:
    case TN_TYPE_DATE32:
    case TN_TYPE_DATE64:
    case TN_TYPE_TIME32:
    case TN_TYPE_TIME64:
    case TN_TYPE_TIMESTAMP:
        return !type->dictionary;
    default:
        return false;
    }
}

int tn_record_field_bind(tarn_cx *cx, const struct ArrowSchema *schema, tn_str name,
                         const char *what, tn_record_field *out)
{
    const struct ArrowSchema *at = schema;
    tn_record_field field = {.name = name};
    tn_buf type = {0};
    int rc = TARN_OK;

    if (!walk(&at, name, &field))
        TN_FAIL(TARN_E_INVALID, "the %s field \"%.*s\" is not among the columns of the rows", what,
                TN_STR_ARG(name));
    TN_TRY(tn_type_of(cx, at, &field.type));
    if (!has_spelling(&field.type)) {
        tn_type_print(&type, at);
        TN_FAIL(TARN_E_UNSUPPORTED,
                "the %s field \"%.*s\" has the type %.*s, which has no spelling; use a column of "
                "text, numbers, dates or times",
                what, TN_STR_ARG(name), TN_STR_ARG(tn_buf_view(&type)));
    }
    *out = field;
done:
    tn_buf_clear(&type);
    return rc;
}

void tn_record_field_load(tn_record_field *field, const struct ArrowArray *batch)
{
    const struct ArrowArray *at = batch;
    int64_t base = batch->offset;

    field->has_nulls = false;
    for (size_t i = 0; i < field->depth; i++) {
        at = at->children[field->index[i]];
        base += at->offset;
        field->levels[i] = at;
        field->base[i] = base;
        field->has_nulls |= at->null_count != 0 && at->n_buffers > 0 && at->buffers[0] != NULL;
    }
}

tn_str tn_record_field_raw(const tn_record_field *field, int64_t row, uint8_t *scratch)
{
    const struct ArrowArray *array = tn_record_field_array(field);
    int64_t at = tn_record_field_at(field, row);
    size_t width = field->type.width;

    if (field->type.kind == TN_TYPE_BOOL) {
        *scratch = tn_bit(array->buffers[1], at);
        return (tn_str){(const char *)scratch, 1};
    }
    if (tn_text_is_utf8(field->type.kind))
        return tn_rows_bytes(&field->type, array, at);
    return (tn_str){(const char *)array->buffers[1] + (size_t)at * width, width};
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void time_text(const tn_record_field *field, int64_t value, tn_buf *out)
{
    char text[TN_JAVA_TEXT_BYTES_MAX];
    int64_t millis = value;

    switch (field->type.unit_digits) {
    case 0:
        if (__builtin_mul_overflow(value, (int64_t)1000, &millis))
            millis = value < 0 ? INT64_MIN / 2000 : INT64_MAX / 2000;
        break;
    case 6:
        millis = value / 1000;
        break;
    case 9:
        millis = value / 1000000;
        break;
    default:
        break;
    }
    /* Beyond these the offset of a zone, and the calendar, would not fit. */
    if (millis > INT64_MAX / 2000)
        millis = INT64_MAX / 2000;
    if (millis < INT64_MIN / 2000)
        millis = INT64_MIN / 2000;
    millis += (int64_t)tn_zone_offset(field->zone, floor_div(millis, 1000)) * 1000;
    tn_buf_add(out, text, tn_java_text_timestamp(millis, text));
}

static void timestamp(const tn_record_field *field, int64_t value, tn_buf *out)
{
    char text[24];

    if (field->zone != NULL && field->type.zone.len != 0) {
        time_text(field, value, out);
        return;
    }
    if (field->type.unit_digits == 9)
        value = floor_div(value, 1000);
    else if (field->type.unit_digits == 0 &&
             __builtin_mul_overflow(value, (int64_t)1000000, &value))
        value = value < 0 ? INT64_MIN : INT64_MAX;
    tn_buf_add(out, text, tn_digits_i64(text, value));
}

static void number(const tn_record_field *field, const uint8_t *data, int64_t at, tn_buf *out)
{
    char text[TN_JAVA_TEXT_BYTES_MAX];
    size_t len;

    if (field->type.kind == TN_TYPE_FLOAT) {
        len = tn_java_text_float(((const float *)(const void *)data)[at], text);
    } else if (field->type.kind == TN_TYPE_DOUBLE) {
        len = tn_java_text_double(((const double *)(const void *)data)[at], text);
    } else {
        tn_int256 value = tn_int256_le(data + (size_t)at * field->type.width, field->type.width);

        len = tn_java_text_decimal(&value, field->type.scale, text);
    }
    tn_buf_add(out, text, len);
}

void tn_record_field_text(const tn_record_field *field, int64_t row, tn_buf *out)
{
    const struct ArrowArray *array = tn_record_field_array(field);
    int64_t at = tn_record_field_at(field, row);
    char text[TN_JAVA_TEXT_BYTES_MAX];

    switch (field->type.kind) {
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
        tn_buf_str(out, tn_rows_bytes(&field->type, array, at));
        break;
    case TN_TYPE_BOOL:
        tn_buf_text(out, tn_bit(array->buffers[1], at) ? "true" : "false");
        break;
    case TN_TYPE_FLOAT:
    case TN_TYPE_DOUBLE:
    case TN_TYPE_DECIMAL:
        number(field, array->buffers[1], at, out);
        break;
    case TN_TYPE_DATE32:
        tn_buf_add(out, text, tn_java_text_date(((const int32_t *)array->buffers[1])[at], text));
        break;
    case TN_TYPE_DATE64:
        tn_buf_add(
            out, text,
            tn_java_text_date(floor_div(((const int64_t *)array->buffers[1])[at], 86400000), text));
        break;
    case TN_TYPE_TIMESTAMP:
        timestamp(field, ((const int64_t *)array->buffers[1])[at], out);
        break;
    case TN_TYPE_UINT64:
        tn_buf_add(out, text, tn_digits_u64(text, ((const uint64_t *)array->buffers[1])[at]));
        break;
    default:
        tn_buf_add(out, text, tn_digits_i64(text, tn_rows_integer(field->type.kind, array, at)));
        break;
    }
}
