/* Statistics of the metadata table as ranges of a column's type (HoodieColumnStats; ValueType).
 *
 * I1: a range holds every value that the file has, or it is not known. A bound between two values
 * of the column's unit or scale moves outwards. I2: Java orders text by UTF-16 units: bounds with
 * characters from U+E000 on, where that order and the one of bytes part, are not known.
 * I3: bounds of floating-point columns are never known: of a row group with a NaN Hudi takes 0 for
 *     both, and puts them together with those of other row groups (errata.md). */
#include "batch/number.h"
#include "plan/plan_skip.h"

#define TYPE_V1            0
#define TYPE_INT           3
#define TYPE_LONG          4
#define TYPE_BOOLEAN       2
#define TYPE_STRING        7
#define TYPE_DECIMAL       10
#define TYPE_DATE          12
#define V1_DECIMAL_SCALE   15
#define GREGORIAN_FROM_DAY (-141427) /* 1582-10-15; java.sql.Date counts otherwise before */
#define SCALE_MAX          38

/* ---- 256-bit numbers ---- */

static bool is_negative(const tn_int256 *value)
{
    return value->limb[3] >> 63 != 0;
}

static void times_ten(tn_int256 *value)
{
    unsigned __int128 carry = 0;

    for (int i = 0; i < 4; i++) {
        carry += (unsigned __int128)value->limb[i] * 10;
        value->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void add_one(tn_int256 *value)
{
    for (int i = 0; i < 4 && ++value->limb[i] == 0; i++)
        ;
}

/* At another scale; what lies between goes down for a lower bound, else up. */
static void rescale(tn_int256 *value, int32_t from, int32_t to, bool lower)
{
    bool negative = is_negative(value), rest = false;

    if (negative)
        tn_number_negate(value);
    for (; from < to; from++)
        times_ten(value);
    for (; from > to; from--)
        rest |= tn_number_divide10(value) != 0;
    if (rest && negative == lower)
        add_one(value);
    if (negative)
        tn_number_negate(value);
}

/* ---- bounds; false: not known ---- */

static bool whole_bound(const tn_metadata_stats *stats, const tn_avro_value *value, int64_t *out)
{
    if ((stats->wrapper != TN_METADATA_INT && stats->wrapper != TN_METADATA_LONG) ||
        (stats->type != TYPE_V1 && stats->type != TYPE_INT && stats->type != TYPE_LONG))
        return false;
    *out = value->as.i;
    return true;
}

static bool date_bound(const tn_metadata_stats *stats, const tn_avro_value *value, bool lower,
                       int64_t *out)
{
    *out = value->as.i;
    if (stats->type == TYPE_DATE)
        return stats->wrapper == TN_METADATA_INT;
    if (stats->type != TYPE_V1 ||
        (stats->wrapper != TN_METADATA_DATE && stats->wrapper != TN_METADATA_LOCAL_DATE) ||
        value->as.i < GREGORIAN_FROM_DAY)
        return false;
    /* Dates of Java depend on the zone of whoever made them. */
    *out += lower ? -1 : 1;
    return true;
}

/* Digits below the second that a time in the statistics has; -1: not told. */
static int stats_digits(const tn_filter_column *column, const tn_metadata_stats *stats)
{
    bool timestamp = column->type.kind == TN_TYPE_TIMESTAMP;

    if (stats->type != TYPE_V1) {
        if (stats->wrapper != TN_METADATA_INT && stats->wrapper != TN_METADATA_LONG)
            return -1;
        if (!timestamp)
            return stats->type == 13 ? 3 : stats->type == 14 ? 6 : -1;
        return stats->type < 15 || stats->type > 20 ? -1 : 3 * (1 + (stats->type - 15) % 3);
    }
    if (!timestamp)
        return stats->wrapper == TN_METADATA_TIME_MICROS ? 6 : -1;
    if (stats->wrapper == TN_METADATA_TIMESTAMP_MICROS)
        return column->type.zone.len != 0 ? 6 : -1;
    /* As the file has it, in a unit that is not told: Spark writes microseconds, and takes them for
     * such. */
    return stats->wrapper == TN_METADATA_LONG && column->type.unit_digits == 6 ? 6 : -1;
}

static bool time_bound(const tn_filter_column *column, const tn_metadata_stats *stats,
                       const tn_avro_value *value, bool lower, int64_t *out)
{
    int digits = stats_digits(column, stats);
    int64_t made = value->as.i, rest = 0;

    if (digits < 0)
        return false;
    for (; digits < column->type.unit_digits; digits++)
        if (__builtin_mul_overflow(made, 10, &made))
            return false;
    for (; digits > column->type.unit_digits; digits--) {
        rest |= made % 10;
        made = made / 10 - (made % 10 < 0); /* down */
    }
    *out = made + (rest != 0 && !lower);
    return true;
}

static bool signed_bound(const tn_filter_column *column, const tn_metadata_stats *stats,
                         const tn_avro_value *value, bool lower, int64_t *out)
{
    if (value->kind != TN_AVRO_INT && value->kind != TN_AVRO_LONG)
        return false;
    switch (column->type.kind) {
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_INT64:
        return whole_bound(stats, value, out);
    case TN_TYPE_DATE32:
        return date_bound(stats, value, lower, out);
    case TN_TYPE_TIME32:
    case TN_TYPE_TIME64:
    case TN_TYPE_TIMESTAMP:
        return time_bound(column, stats, value, lower, out);
    default:
        return false;
    }
}

static bool boolean_bound(const tn_filter_column *column, const tn_metadata_stats *stats,
                          const tn_avro_value *value, uint64_t *out)
{
    if (column->type.kind != TN_TYPE_BOOL || value->kind != TN_AVRO_BOOLEAN ||
        stats->wrapper != TN_METADATA_BOOLEAN ||
        (stats->type != TYPE_V1 && stats->type != TYPE_BOOLEAN))
        return false;
    *out = value->as.truth;
    return true;
}

/* I2 */
static bool text_bound(const tn_filter_column *column, const tn_metadata_stats *stats,
                       const tn_avro_value *value, tn_str *out)
{
    if ((column->type.kind != TN_TYPE_UTF8 && column->type.kind != TN_TYPE_LARGE_UTF8) ||
        stats->wrapper != TN_METADATA_STRING || value->kind != TN_AVRO_STRING ||
        (stats->type != TYPE_V1 && stats->type != TYPE_STRING))
        return false;
    for (size_t i = 0; i < value->as.text.len; i++)
        if ((uint8_t)value->as.text.ptr[i] >= 0xEE)
            return false;
    *out = value->as.text;
    return true;
}

/* The scale behind the "," of "15,2". */
static bool scale_of(tn_str info, int32_t *out)
{
    size_t at = tn_str_find(info, ',') + 1;
    int32_t scale = 0;

    if (at >= info.len || info.len - at > 3)
        return false;
    for (; at < info.len; at++) {
        if (info.ptr[at] < '0' || info.ptr[at] > '9')
            return false;
        scale = 10 * scale + (info.ptr[at] - '0');
    }
    *out = scale;
    return true;
}

static bool decimal_bound(const tn_filter_column *column, const tn_metadata_stats *stats,
                          const tn_avro_value *value, bool lower, tn_int256 *out)
{
    int32_t scale = V1_DECIMAL_SCALE;

    if ((value->kind != TN_AVRO_BYTES && value->kind != TN_AVRO_FIXED) || value->as.text.len == 0 ||
        value->as.text.len > sizeof(tn_int256))
        return false;
    if (stats->type == TYPE_V1
            ? stats->wrapper != TN_METADATA_DECIMAL
            : stats->type != TYPE_DECIMAL || stats->wrapper != TN_METADATA_BYTES ||
                  !scale_of(stats->type_info, &scale))
        return false;
    if (scale > SCALE_MAX || column->type.scale < 0 || column->type.scale > SCALE_MAX)
        return false;
    *out = tn_int256_be((const uint8_t *)value->as.text.ptr, value->as.text.len);
    rescale(out, scale, column->type.scale, lower);
    return true;
}

static bool bound(const tn_filter_column *column, const tn_metadata_stats *stats, bool lower,
                  tn_filter_value *out)
{
    const tn_avro_value *value = lower ? stats->min : stats->max;

    if (value == NULL)
        return false;
    switch (column->domain) {
    case TN_DOMAIN_SIGNED:
        return signed_bound(column, stats, value, lower, &out->i);
    case TN_DOMAIN_UNSIGNED:
        return boolean_bound(column, stats, value, &out->u);
    case TN_DOMAIN_FLOAT: /* I3 */
        return false;
    case TN_DOMAIN_DECIMAL:
        return decimal_bound(column, stats, value, lower, &out->decimal);
    case TN_DOMAIN_BYTES:
        return text_bound(column, stats, value, &out->bytes);
    case TN_DOMAIN_NONE:
        return false;
    }
    return false;
}

void tn_plan_skip_range(const tn_filter_column *column, const tn_metadata_stats *stats,
                        tn_filter_range *out)
{
    *out = (tn_filter_range){.entries = -1};
    if (stats->values < 0 || stats->nulls > stats->values)
        return;
    out->entries = stats->values;
    out->has_nulls = stats->nulls >= 0;
    out->nulls = out->has_nulls ? stats->nulls : 0;
    out->empty = out->has_nulls && stats->nulls == stats->values;
    out->nan_free = column->domain != TN_DOMAIN_FLOAT;
    if (out->empty)
        return;
    out->has_min = bound(column, stats, true, &out->min);
    out->has_max = bound(column, stats, false, &out->max);
    out->contradict =
        out->has_min && out->has_max && tn_filter_compare(column->domain, &out->min, &out->max) > 0;
}
