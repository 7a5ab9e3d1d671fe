/* Values of Arrow arrays as text.
 * I1: what is written is ASCII without quotes, backslashes or control characters. */
#include "batch/text.h"

#include <math.h>
#include <string.h>

#include "batch/digits.h"
#include "batch/moment.h"
#include "batch/number.h"

bool tn_text_is_utf8(enum tn_type_kind kind)
{
    return kind == TN_TYPE_UTF8 || kind == TN_TYPE_LARGE_UTF8;
}

int tn_text_type_of(tarn_cx *cx, const struct ArrowSchema *schema, tn_text_type *out)
{
    tn_text_type made = {0};
    int rc = tn_type_of(cx, schema, &made.type);

    if (rc != TARN_OK)
        return rc;
    made.uuid = made.type.kind == TN_TYPE_FIXED && made.type.width == 16 &&
                tn_str_is(tn_metadata_get(schema->metadata, "ARROW:extension:name"), "arrow.uuid");
    *out = made;
    return TARN_OK;
}

static size_t write_words(char *out, const char *text)
{
    size_t len = strlen(text);

    memcpy(out, text, len);
    return len;
}

static size_t write_float(char *out, double value, bool single, enum tn_text_form *form)
{
    if (isfinite(value))
        return single ? tn_digits_float(out, (float)value) : tn_digits_double(out, value);
    *form = TN_TEXT_WORDS;
    return write_words(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

static size_t write_uuid(char *out, const uint8_t *bytes)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[n++] = '-';
        out[n++] = hex[bytes[i] >> 4];
        out[n++] = hex[bytes[i] & 15];
    }
    return n;
}

/* "3723.001S" of a value in 10^-digits seconds. */
static size_t write_seconds(char *out, int64_t value, int digits)
{
    uint64_t unit = 1, size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, fraction;
    size_t n = 0;

    for (int i = 0; i < digits; i++)
        unit *= 10;
    if (value < 0)
        out[n++] = '-';
    n += tn_digits_u64(out + n, size / unit);
    fraction = size % unit;
    if (fraction != 0) {
        out[n++] = '.';
        while (digits-- > 0) {
            unit /= 10;
            out[n++] = (char)('0' + fraction / unit % 10);
        }
    }
    out[n++] = 'S';
    return n;
}

/* P[months]M[days]DT[seconds]S; at least "PT0S". */
static size_t write_interval(char *out, int32_t months, int32_t days, int64_t value, int digits)
{
    size_t n = 0;

    out[n++] = 'P';
    if (months != 0) {
        n += tn_digits_i64(out + n, months);
        out[n++] = 'M';
    }
    if (days != 0) {
        n += tn_digits_i64(out + n, days);
        out[n++] = 'D';
    }
    if (value != 0 || n == 1) {
        out[n++] = 'T';
        n += write_seconds(out + n, value, digits);
    }
    return n;
}

static size_t write_decimal(char *out, const tn_type *type, const uint8_t *bytes)
{
    tn_int256 value;
    int64_t small;

    if (type->width > 8 || type->scale != 0) {
        value = tn_int256_le(bytes, type->width);
        small = (int64_t)value.limb[0];
        if (type->scale != 0 || value.limb[1] != (small < 0 ? UINT64_MAX : 0) ||
            value.limb[2] != value.limb[1] || value.limb[3] != value.limb[1])
            return tn_number_write(&value, type->scale, out);
        return tn_digits_i64(out, small);
    }
    value = tn_int256_le(bytes, type->width);
    return tn_digits_i64(out, (int64_t)value.limb[0]);
}

static size_t write_month_day_nano(char *out, const uint8_t *bytes)
{
    int32_t months, days;
    int64_t nanos;

    memcpy(&months, bytes, 4);
    memcpy(&days, bytes + 4, 4);
    memcpy(&nanos, bytes + 8, 8);
    return write_interval(out, months, days, nanos, 9);
}

static size_t write_day_time(char *out, const uint8_t *bytes)
{
    int32_t days, millis;

    memcpy(&days, bytes, 4);
    memcpy(&millis, bytes + 4, 4);
    return write_interval(out, 0, days, millis, 3);
}

/* The types whose text is a string in JSON. */
static size_t write_quoted(const tn_text_type *of, const uint8_t *data, int64_t at, char *out,
                           enum tn_text_form *form)
{
    const tn_type *type = &of->type;
    const int64_t *words = (const int64_t *)(const void *)data;
    const int32_t *halves = (const int32_t *)(const void *)data;

    *form = TN_TEXT_WORDS;
    switch (type->kind) {
    case TN_TYPE_DATE32:
        return tn_moment_write_date(halves[at], out);
    case TN_TYPE_DATE64:
        if (words[at] % 86400000 == 0)
            return tn_moment_write_date(words[at] / 86400000, out);
        return tn_moment_write(words[at], 3, false, out);
    case TN_TYPE_TIME32:
        return tn_moment_write_time(halves[at], type->unit_digits, out);
    case TN_TYPE_TIME64:
        return tn_moment_write_time(words[at], type->unit_digits, out);
    case TN_TYPE_TIMESTAMP:
        return tn_moment_write(words[at], type->unit_digits, type->zone.len != 0, out);
    case TN_TYPE_DURATION:
        return write_interval(out, 0, 0, words[at], type->unit_digits);
    case TN_TYPE_INTERVAL_MONTHS:
        return write_interval(out, halves[at], 0, 0, 0);
    case TN_TYPE_INTERVAL_DAY_TIME:
        return write_day_time(out, data + at * 8);
    case TN_TYPE_INTERVAL_MONTH_DAY_NANO:
        return write_month_day_nano(out, data + at * 16);
    case TN_TYPE_FIXED:
        if (of->uuid)
            return write_uuid(out, data + at * 16);
        break;
    default:
        break;
    }
    *form = TN_TEXT_BYTES;
    return 0;
}

size_t tn_text_write(const tn_text_type *of, const struct ArrowArray *array, int64_t at, char *out,
                     enum tn_text_form *form)
{
    const tn_type *type = &of->type;
    const uint8_t *data = array->buffers[1];

    *form = TN_TEXT_BARE;
    switch (type->kind) {
    case TN_TYPE_BOOL:
        return write_words(out, tn_bit(data, at) ? "true" : "false");
    case TN_TYPE_INT8:
        return tn_digits_i64(out, ((const int8_t *)data)[at]);
    case TN_TYPE_INT16:
        return tn_digits_i64(out, ((const int16_t *)(const void *)data)[at]);
    case TN_TYPE_INT32:
        return tn_digits_i64(out, ((const int32_t *)(const void *)data)[at]);
    case TN_TYPE_INT64:
        return tn_digits_i64(out, ((const int64_t *)(const void *)data)[at]);
    case TN_TYPE_UINT8:
        return tn_digits_u64(out, data[at]);
    case TN_TYPE_UINT16:
        return tn_digits_u64(out, ((const uint16_t *)(const void *)data)[at]);
    case TN_TYPE_UINT32:
        return tn_digits_u64(out, ((const uint32_t *)(const void *)data)[at]);
    case TN_TYPE_UINT64:
        return tn_digits_u64(out, ((const uint64_t *)(const void *)data)[at]);
    case TN_TYPE_HALF:
        return write_float(out, tn_half_get(((const uint16_t *)(const void *)data)[at]), true,
                           form);
    case TN_TYPE_FLOAT:
        return write_float(out, (double)((const float *)(const void *)data)[at], true, form);
    case TN_TYPE_DOUBLE:
        return write_float(out, ((const double *)(const void *)data)[at], false, form);
    case TN_TYPE_DECIMAL:
        return write_decimal(out, type, data + (size_t)at * type->width);
    default:
        return write_quoted(of, data, at, out, form);
    }
}
