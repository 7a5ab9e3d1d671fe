/* Values of one type as values of a wider one (the table of widen.h).
 * I1: nulls stay null; a value that the other type cannot hold, and text that is none, is an error
 *     naming column and value. */
#include "batch/widen_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "batch/java_text.h"
#include "batch/moment.h"
#include "batch/number.h"
#include "batch/real.h"
#include "batch/text.h"

typedef struct value_cast {
    const tn_type *from, *to;
    const char *name;
    const struct ArrowArray *array;
    struct ArrowArray *out;
} value_cast;

/* ---- ways */

static bool is_small_int(enum tn_type_kind kind)
{
    return kind == TN_TYPE_INT8 || kind == TN_TYPE_INT16 || kind == TN_TYPE_INT32;
}

static bool is_number(enum tn_type_kind kind)
{
    return is_small_int(kind) || kind == TN_TYPE_INT64 || kind == TN_TYPE_FLOAT ||
           kind == TN_TYPE_DOUBLE;
}

static bool is_unify(const tn_type *from, const tn_type *to)
{
    return tn_type_equal(from, to) || (is_small_int(from->kind) && to->kind == TN_TYPE_INT64) ||
           (from->kind == TN_TYPE_UTF8 && to->kind == TN_TYPE_LARGE_UTF8) ||
           (from->kind == TN_TYPE_BINARY && to->kind == TN_TYPE_LARGE_BINARY);
}

enum tn_widen_way tn_widen_way_of(const tn_type *from, const tn_type *to)
{
    enum tn_type_kind a = from->kind, b = to->kind;

    if (is_unify(from, to))
        return TN_WIDEN_UNIFY;
    if ((b == TN_TYPE_FLOAT && is_number(a) && a != TN_TYPE_DOUBLE) ||
        (b == TN_TYPE_DOUBLE && is_number(a)))
        return TN_WIDEN_REAL;
    if (b == TN_TYPE_UTF8 && (is_number(a) || a == TN_TYPE_DECIMAL || a == TN_TYPE_DATE32))
        return TN_WIDEN_TEXT;
    if (b == TN_TYPE_DECIMAL && (is_number(a) || a == TN_TYPE_DECIMAL || a == TN_TYPE_UTF8))
        return TN_WIDEN_DECIMAL;
    if (b == TN_TYPE_DATE32 && a == TN_TYPE_UTF8)
        return TN_WIDEN_DATE;
    if ((a == TN_TYPE_UTF8 && b == TN_TYPE_BINARY) || (a == TN_TYPE_BINARY && b == TN_TYPE_UTF8))
        return TN_WIDEN_BYTES;
    if (a == TN_TYPE_FIXED && (b == TN_TYPE_BINARY || b == TN_TYPE_UTF8))
        return TN_WIDEN_FIXED;
    if (a == TN_TYPE_TIMESTAMP && b == TN_TYPE_TIMESTAMP &&
        (from->zone.len != 0) == (to->zone.len != 0))
        return TN_WIDEN_UNIT;
    return TN_WIDEN_NONE;
}

/* ---- parts of all */

/* The validity of the rows. */
static int copy_validity(tarn_cx *cx, const value_cast *c)
{
    size_t bytes = ((size_t)c->array->length + 7) / 8;
    uint8_t *bits;
    int rc = TARN_OK;

    if (c->array->null_count == 0 || c->array->buffers[0] == NULL)
        return TARN_OK;
    TN_TRY(tn_array_make_buffer(cx, c->out, 0, bytes, &bits));
    tn_bits_copy(bits, 0, c->array->buffers[0], c->array->offset, c->array->length);
    c->out->null_count = c->array->null_count;
done:
    return rc;
}

/* A value that has no equal. */
static int refuse(tarn_cx *cx, const value_cast *c, tn_str value, const char *what)
{
    size_t shown = value.len < 64 ? value.len : 64;

    return tn_fail(
        cx, TARN_E_UNSUPPORTED,
        "column \"%s\": \"%.*s\" was written before the column changed its type, and %s; "
        "leave the column out, or read the table as of a time before that",
        c->name, (int)shown, value.ptr != NULL ? value.ptr : "", what);
}

static bool is_null(const value_cast *c, int64_t i)
{
    return tn_rows_is_null(c->array, c->array->offset + i);
}

static double double_at(const value_cast *c, int64_t i)
{
    int64_t at = c->array->offset + i;

    if (c->from->kind == TN_TYPE_FLOAT)
        return (double)((const float *)c->array->buffers[1])[at];
    if (c->from->kind == TN_TYPE_DOUBLE)
        return ((const double *)c->array->buffers[1])[at];
    return (double)tn_rows_integer(c->from->kind, c->array, at);
}

static tn_int256 decimal_at(const value_cast *c, int64_t i)
{
    size_t width = c->from->width;

    return tn_int256_le(
        (const uint8_t *)c->array->buffers[1] + (size_t)(c->array->offset + i) * width, width);
}

/* Text of a number or date, as Java prints it. */
static size_t print_value(const value_cast *c, int64_t i, char *out)
{
    int64_t at = c->array->offset + i;
    tn_int256 decimal;

    switch (c->from->kind) {
    case TN_TYPE_FLOAT:
        return tn_java_text_float(((const float *)c->array->buffers[1])[at], out);
    case TN_TYPE_DOUBLE:
        return tn_java_text_double(((const double *)c->array->buffers[1])[at], out);
    case TN_TYPE_DECIMAL:
        decimal = decimal_at(c, i);
        return tn_java_text_decimal(&decimal, c->from->scale, out);
    case TN_TYPE_DATE32:
        return tn_java_text_date(((const int32_t *)c->array->buffers[1])[at], out);
    default:
        return (size_t)snprintf(out, TN_JAVA_TEXT_BYTES_MAX, "%" PRId64,
                                tn_rows_integer(c->from->kind, c->array, at));
    }
}

/* ---- floating point */

/* The double that the float's text stands for. */
static double double_of_float(float value)
{
    char text[TN_JAVA_TEXT_BYTES_MAX];
    double exact = (double)value, read;

    if (!isfinite(value) || exact == rint(exact))
        return exact;
    return tn_real_double((tn_str){text, tn_java_text_float(value, text)}, &read) ? read : exact;
}

static int to_real(tarn_cx *cx, const value_cast *c)
{
    bool single = c->to->kind == TN_TYPE_FLOAT, integer = c->from->kind != TN_TYPE_FLOAT;
    void *values;
    int rc = TARN_OK;

    TN_TRY(tn_array_make_buffer(cx, c->out, 1, c->to->width * (size_t)c->array->length, &values));
    for (int64_t i = 0; i < c->array->length; i++) {
        int64_t at = c->array->offset + i;

        /* Straight from the integer: rounded once. */
        if (single)
            ((float *)values)[i] = (float)tn_rows_integer(c->from->kind, c->array, at);
        else if (integer)
            ((double *)values)[i] = double_at(c, i);
        else
            ((double *)values)[i] = double_of_float(((const float *)c->array->buffers[1])[at]);
    }
done:
    return rc;
}

/* ---- text */

static int to_text(tarn_cx *cx, const value_cast *c)
{
    tn_block offsets = {0}, text = {0};
    size_t bytes = sizeof(int32_t) * ((size_t)c->array->length + 1);
    int rc = TARN_OK;

    TN_TRY(tn_block_reserve(cx, &offsets, bytes));
    offsets.len = bytes;
    ((int32_t *)(void *)offsets.data)[0] = 0;
    for (int64_t i = 0; i < c->array->length; i++) {
        TN_TRY(tn_block_reserve(cx, &text, TN_JAVA_TEXT_BYTES_MAX));
        if (!is_null(c, i))
            text.len += print_value(c, i, (char *)text.data + text.len);
        if (text.len > INT32_MAX - TN_JAVA_TEXT_BYTES_MAX)
            TN_FAIL(TARN_E_LIMIT, "column \"%s\": a batch of values makes more than 2 GiB of text",
                    c->name);
        ((int32_t *)(void *)offsets.data)[i + 1] = (int32_t)text.len;
    }
    TN_TRY(tn_array_take_block(cx, c->out, 1, &offsets));
    TN_TRY(tn_array_take_block(cx, c->out, 2, &text));
done:
    tn_block_clear(&offsets);
    tn_block_clear(&text);
    return rc;
}

/* Offsets and bytes of the rows as they are: text and binary differ in name alone. */
static int copy_bytes(tarn_cx *cx, const value_cast *c)
{
    const int32_t *from = (const int32_t *)c->array->buffers[1] + c->array->offset;
    size_t count = (size_t)c->array->length, bytes;
    int32_t *to;
    uint8_t *data;
    int rc = TARN_OK;

    TN_TRY(tn_array_make_buffer(cx, c->out, 1, sizeof *to * (count + 1), &to));
    for (size_t i = 0; i <= count; i++)
        to[i] = from[i] - from[0];
    bytes = (size_t)to[count];
    TN_TRY(tn_array_make_buffer(cx, c->out, 2, bytes, &data));
    if (bytes != 0)
        memcpy(data, (const uint8_t *)c->array->buffers[2] + from[0], bytes);
done:
    return rc;
}

static int copy_fixed(tarn_cx *cx, const value_cast *c)
{
    size_t count = (size_t)c->array->length, width = c->from->width;
    int32_t *to;
    uint8_t *data;
    int rc = TARN_OK;

    if (width != 0 && count > (size_t)INT32_MAX / width)
        TN_FAIL(TARN_E_LIMIT, "column \"%s\": a batch of values takes more than 2 GiB", c->name);
    TN_TRY(tn_array_make_buffer(cx, c->out, 1, sizeof *to * (count + 1), &to));
    for (size_t i = 0; i <= count; i++)
        to[i] = (int32_t)(i * width);
    TN_TRY(tn_array_make_buffer(cx, c->out, 2, count * width, &data));
    if (count * width != 0)
        memcpy(data, (const uint8_t *)c->array->buffers[1] + (size_t)c->array->offset * width,
               count * width);
done:
    return rc;
}

/* ---- decimals */

static tn_int256 add_small(tn_int256 value, uint64_t add)
{
    for (int i = 0; i < 4; i++) {
        value.limb[i] += add;
        add = value.limb[i] < add;
    }
    return value;
}

/* Whether an unscaled value has at most `precision` digits. */
static bool fits_digits(const tn_int256 *value, int32_t precision)
{
    char text[96];
    size_t len = tn_number_write(value, 0, text);

    return len - (text[0] == '-') <= (size_t)precision;
}

/* The decimal nearest to a number's text, halves away from zero. False where there is none, or it
 * has too many digits. */
static bool round_text(const tn_type *to, tn_str text, tn_int256 *out)
{
    tn_str size = text;
    bool exact, negative = text.len > 0 && text.ptr[0] == '-';
    tn_int256 tenths;
    int beyond;
    char digits[96];
    size_t len;

    if (negative)
        size = tn_str_from(text, 1);
    if (!tn_number_floor(size, to->scale + 1, &tenths, &exact, &beyond) || beyond != 0)
        return false;
    /* The last digit of the size in tenths decides: five tenths go up. */
    tenths = add_small(tenths, 5);
    len = tn_number_write(&tenths, 0, digits + 1);
    digits[0] = '-';
    if (len <= 1) {
        *out = tn_int256_of(0);
        return true;
    }
    if (!tn_number_floor((tn_str){negative ? digits : digits + 1, len - 1 + negative}, 0, out,
                         &exact, &beyond))
        return false;
    return beyond == 0 && fits_digits(out, to->precision);
}

static tn_str trim(tn_str text)
{
    while (text.len > 0 && (uint8_t)text.ptr[0] <= ' ')
        text = tn_str_from(text, 1);
    while (text.len > 0 && (uint8_t)text.ptr[text.len - 1] <= ' ')
        text.len--;
    return text;
}

static int to_decimal(tarn_cx *cx, const value_cast *c)
{
    uint8_t *values;
    char printed[TN_JAVA_TEXT_BYTES_MAX];
    tn_int256 value;
    int rc = TARN_OK;

    TN_TRY(tn_array_make_buffer(cx, c->out, 1, c->to->width * (size_t)c->array->length, &values));
    for (int64_t i = 0; i < c->array->length; i++) {
        tn_str text = {printed, 0};

        if (is_null(c, i))
            continue;
        if (c->from->kind == TN_TYPE_UTF8)
            text = trim(tn_rows_bytes(c->from, c->array, c->array->offset + i));
        else if (c->from->kind == TN_TYPE_FLOAT) /* all digits of the float, as Spark has it */
            text.len = tn_java_text_double(double_at(c, i), printed);
        else
            text.len = print_value(c, i, printed);
        if (!round_text(c->to, text, &value))
            TN_TRY(refuse(cx, c, text, "is no number that its decimal type holds"));
        memcpy(values + (size_t)i * c->to->width, value.limb, c->to->width);
    }
done:
    return rc;
}

/* ---- dates and times */

/* A number of at most two digits. */
static bool parse_two(tn_str text, unsigned *out)
{
    unsigned value = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *out = value;
    return text.len == 1 || text.len == 2;
}

/* "2024-5-1", "2024-05-01": what java.sql.Date takes. A day that its month lacks counts on. */
static bool parse_date(tn_str text, int32_t *out)
{
    size_t dash = tn_str_find(text, '-'), next;
    tn_str rest = tn_str_from(text, dash + 1);
    unsigned high, low, month, day;

    next = tn_str_find(rest, '-');
    if (dash != 4 || next == rest.len || !parse_two((tn_str){text.ptr, 2}, &high) ||
        !parse_two((tn_str){text.ptr + 2, 2}, &low) ||
        !parse_two((tn_str){rest.ptr, next}, &month) ||
        !parse_two(tn_str_from(rest, next + 1), &day) || month < 1 || month > 12 || day < 1 ||
        day > 31)
        return false;
    *out = (int32_t)(tn_days_of((int64_t)high * 100 + low, month, 1) + (int64_t)day - 1);
    return true;
}

static int to_date(tarn_cx *cx, const value_cast *c)
{
    int32_t *values;
    int rc = TARN_OK;

    TN_TRY(tn_array_make_buffer(cx, c->out, 1, sizeof *values * (size_t)c->array->length, &values));
    for (int64_t i = 0; i < c->array->length; i++) {
        tn_str text;

        if (is_null(c, i))
            continue;
        text = tn_rows_bytes(c->from, c->array, c->array->offset + i);
        if (!parse_date(text, &values[i]))
            TN_TRY(refuse(cx, c, text, "is no date"));
    }
done:
    return rc;
}

static int64_t floor_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

static int to_unit(tarn_cx *cx, const value_cast *c)
{
    int32_t digits = c->to->unit_digits - c->from->unit_digits;
    int64_t factor = 1, *values;
    int rc = TARN_OK;

    for (int32_t d = 0; d < (digits < 0 ? -digits : digits); d++)
        factor *= 10;
    TN_TRY(tn_array_make_buffer(cx, c->out, 1, sizeof *values * (size_t)c->array->length, &values));
    for (int64_t i = 0; i < c->array->length; i++) {
        int64_t value = ((const int64_t *)c->array->buffers[1])[c->array->offset + i];

        if (digits < 0)
            values[i] = floor_divide(value, factor);
        else if (__builtin_mul_overflow(value, factor, &values[i]) && !is_null(c, i))
            TN_FAIL(TARN_E_UNSUPPORTED, "column \"%s\": a time does not fit the finer unit",
                    c->name);
    }
done:
    return rc;
}

int tn_widen_value(tarn_cx *cx, enum tn_widen_way way, const tn_type *from, const tn_type *to,
                   const char *name, const struct ArrowArray *array, struct ArrowArray *out)
{
    value_cast c = {from, to, name, array, out};
    size_t buffers = tn_text_is_utf8(to->kind) || to->kind == TN_TYPE_BINARY ? 3 : 2;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, buffers, 0));
    TN_TRY(copy_validity(cx, &c));
    switch (way) {
    case TN_WIDEN_REAL:
        return to_real(cx, &c);
    case TN_WIDEN_TEXT:
        return to_text(cx, &c);
    case TN_WIDEN_DECIMAL:
        return to_decimal(cx, &c);
    case TN_WIDEN_DATE:
        return to_date(cx, &c);
    case TN_WIDEN_BYTES:
        return copy_bytes(cx, &c);
    case TN_WIDEN_FIXED:
        return copy_fixed(cx, &c);
    default:
        return to_unit(cx, &c);
    }
done:
    return rc;
}
