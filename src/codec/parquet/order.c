/* What the bounds of a file say.
 *
 * I1: what is not certain is unknown: a bound that is missing, malformed, NaN, out of order, of an
 *     undefined order or by a writer known to err is never given.
 * I2: where statistics contradict themselves nothing is taken from them, counts included.
 *
 * When bounds are believed (LogicalTypes.md, parquet.thrift "ColumnOrder", and what peers do):
 *   - min_value and max_value: only with a column order of TYPE_ORDER (1), or of
 *     IEEE_754_TOTAL_ORDER (2) for floats; without column_orders their meaning is undefined.
 *   - the deprecated min and max were compared as signed values by every writer, so they serve the
 *     types whose order is signed only; never byte arrays, whose bytes were compared as signed
 *     (PARQUET-686), and which parquet-mr before 1.8.0 even mixed up (PARQUET-251).
 *   - decimals that are byte arrays: not by parquet-cpp, nor by parquet-cpp-arrow before 4.0.0,
 *     which compared signed bytes (PARQUET-1655, PARQUET-2003); nor by Polars and ClickHouse, whose
 *     versions compared unsigned bytes when joining pages (pola-rs/polars#29347,
 *     ClickHouse/ClickHouse#83754; their texts do not tell which).
 *   - decimals of any kind: not by hyparquet, which stored unscaled values wrongly
 *     (hyparam/hyparquet-writer#38).
 *   - NaN as a bound makes both unknown: old writers compared through NaN. Without a count of NaNs
 *     there may be some.
 * A bound of +0.0 or -0.0 stands for both zeros: filters hold them equal. */
#include "codec/parquet/order.h"

#include <math.h>

#include "batch/rows.h"
#include "codec/parquet/writer.h"

/* The logical type, with the converted type where that alone is there; what an unknown logical type
 * means stays unknown. */
static int32_t logical_of(const tn_element *e)
{
    static const uint8_t of_converted[] = {
        [TN_UTF8] = TN_LOGICAL_STRING,
        [TN_MAP] = TN_LOGICAL_MAP,
        [TN_MAP_KEY_VALUE] = TN_LOGICAL_MAP,
        [TN_LIST] = TN_LOGICAL_LIST,
        [TN_ENUM] = TN_LOGICAL_ENUM,
        [TN_DECIMAL] = TN_LOGICAL_DECIMAL,
        [TN_DATE] = TN_LOGICAL_DATE,
        [TN_TIME_MILLIS] = TN_LOGICAL_TIME,
        [TN_TIME_MICROS] = TN_LOGICAL_TIME,
        [TN_TIMESTAMP_MILLIS] = TN_LOGICAL_TIMESTAMP,
        [TN_TIMESTAMP_MICROS] = TN_LOGICAL_TIMESTAMP,
        [TN_UINT_8] = TN_LOGICAL_INTEGER,
        [TN_UINT_16] = TN_LOGICAL_INTEGER,
        [TN_UINT_32] = TN_LOGICAL_INTEGER,
        [TN_UINT_64] = TN_LOGICAL_INTEGER,
        [TN_INT_8] = TN_LOGICAL_INTEGER,
        [TN_INT_16] = TN_LOGICAL_INTEGER,
        [TN_INT_32] = TN_LOGICAL_INTEGER,
        [TN_INT_64] = TN_LOGICAL_INTEGER,
        [TN_JSON] = TN_LOGICAL_JSON,
        [TN_BSON] = TN_LOGICAL_BSON,
    };

    if (e->logical != TN_LOGICAL_NONE || e->converted == TN_CONVERTED_NONE)
        return e->logical;
    if (e->converted < 0 || e->converted >= TN_INTERVAL)
        return -1;
    return of_converted[e->converted];
}

static bool is_unsigned(const tn_element *e)
{
    if (e->logical == TN_LOGICAL_INTEGER)
        return !e->is_signed;
    return e->logical == TN_LOGICAL_NONE && e->converted >= TN_UINT_8 && e->converted <= TN_UINT_64;
}

static enum tn_domain integer_domain(const tn_element *e, int32_t logical)
{
    switch (logical) {
    case TN_LOGICAL_NONE:
    case TN_LOGICAL_DATE:
    case TN_LOGICAL_TIME:
    case TN_LOGICAL_TIMESTAMP:
        return TN_DOMAIN_SIGNED;
    case TN_LOGICAL_INTEGER:
        return is_unsigned(e) ? TN_DOMAIN_UNSIGNED : TN_DOMAIN_SIGNED;
    case TN_LOGICAL_DECIMAL:
        return TN_DOMAIN_DECIMAL;
    default:
        return TN_DOMAIN_NONE;
    }
}

static enum tn_domain bytes_domain(const tn_leaf *leaf, int32_t logical)
{
    switch (logical) {
    case TN_LOGICAL_NONE:
    case TN_LOGICAL_STRING:
    case TN_LOGICAL_ENUM:
    case TN_LOGICAL_JSON:
    case TN_LOGICAL_BSON:
    case TN_LOGICAL_UUID:
        return TN_DOMAIN_BYTES;
    case TN_LOGICAL_DECIMAL:
        return TN_DOMAIN_DECIMAL;
    case TN_LOGICAL_FLOAT16:
        return leaf->physical == TN_FIXED && leaf->type_length == 2 ? TN_DOMAIN_FLOAT
                                                                    : TN_DOMAIN_NONE;
    default:
        return TN_DOMAIN_NONE;
    }
}

enum tn_domain tn_order_domain(const tn_leaf *leaf)
{
    const tn_element *e = leaf->node->element_meta;
    int32_t logical = logical_of(e);

    switch (leaf->physical) {
    case TN_BOOLEAN:
        return logical == TN_LOGICAL_NONE ? TN_DOMAIN_UNSIGNED : TN_DOMAIN_NONE;
    case TN_INT32:
    case TN_INT64:
        return integer_domain(e, logical);
    case TN_FLOAT:
    case TN_DOUBLE:
        return logical == TN_LOGICAL_NONE ? TN_DOMAIN_FLOAT : TN_DOMAIN_NONE;
    case TN_BYTE_ARRAY:
    case TN_FIXED:
        return bytes_domain(leaf, logical);
    case TN_INT96:
        break;
    }
    return TN_DOMAIN_NONE;
}

/* Decimal digits below the second of TIME and TIMESTAMP; -1: unknown. */
static int32_t unit_digits(const tn_element *e)
{
    if (e->logical == TN_LOGICAL_NONE)
        return e->converted == TN_TIME_MILLIS || e->converted == TN_TIMESTAMP_MILLIS ? 3 : 6;
    return e->unit >= TN_MILLIS && e->unit <= TN_NANOS ? e->unit * 3 : -1;
}

static bool matches_signed(const tn_element *e, int32_t logical, const tn_type *type)
{
    switch (type->kind) {
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_INT64:
        return logical == TN_LOGICAL_NONE || logical == TN_LOGICAL_INTEGER;
    case TN_TYPE_DATE32:
        return logical == TN_LOGICAL_DATE;
    case TN_TYPE_TIME32:
    case TN_TYPE_TIME64:
        return logical == TN_LOGICAL_TIME && type->unit_digits == unit_digits(e);
    case TN_TYPE_TIMESTAMP:
        return logical == TN_LOGICAL_TIMESTAMP && type->unit_digits == unit_digits(e);
    default:
        return false;
    }
}

bool tn_order_matches(const tn_leaf *leaf, const tn_type *type)
{
    const tn_element *e = leaf->node->element_meta;
    int32_t logical = logical_of(e);

    switch (tn_order_domain(leaf)) {
    case TN_DOMAIN_SIGNED:
        return matches_signed(e, logical, type);
    case TN_DOMAIN_UNSIGNED:
        if (leaf->physical == TN_BOOLEAN)
            return type->kind == TN_TYPE_BOOL;
        return type->kind >= TN_TYPE_UINT8 && type->kind <= TN_TYPE_UINT64;
    case TN_DOMAIN_FLOAT:
        return type->kind >= TN_TYPE_HALF && type->kind <= TN_TYPE_DOUBLE;
    case TN_DOMAIN_DECIMAL:
        return type->kind == TN_TYPE_DECIMAL && type->scale == e->scale;
    case TN_DOMAIN_BYTES:
        return type->kind >= TN_TYPE_UTF8 && type->kind <= TN_TYPE_FIXED;
    case TN_DOMAIN_NONE:
        break;
    }
    return false;
}

static bool decode_integer(const tn_leaf *leaf, tn_str plain, int64_t *out)
{
    int32_t narrow;

    if (leaf->physical == TN_INT64 && plain.len == 8) {
        memcpy(out, plain.ptr, 8);
        return true;
    }
    if (leaf->physical != TN_INT32 || plain.len != 4)
        return false;
    memcpy(&narrow, plain.ptr, 4);
    *out = narrow;
    return true;
}

static bool decode_unsigned(const tn_leaf *leaf, tn_str plain, uint64_t *out)
{
    int64_t value;

    if (leaf->physical == TN_BOOLEAN) {
        if (plain.len != 1 || (uint8_t)plain.ptr[0] > 1)
            return false;
        *out = (uint8_t)plain.ptr[0];
        return true;
    }
    if (!decode_integer(leaf, plain, &value))
        return false;
    *out = leaf->physical == TN_INT32 ? (uint32_t)value : (uint64_t)value;
    return true;
}

static bool decode_float(const tn_leaf *leaf, tn_str plain, double *out)
{
    uint16_t half;
    float single;

    if (leaf->physical == TN_DOUBLE && plain.len == 8) {
        memcpy(out, plain.ptr, 8);
        return true;
    }
    if (leaf->physical == TN_FLOAT && plain.len == 4) {
        memcpy(&single, plain.ptr, 4);
        *out = single;
        return true;
    }
    if (leaf->physical != TN_FIXED || plain.len != 2)
        return false;
    memcpy(&half, plain.ptr, 2);
    *out = tn_half_get(half);
    return true;
}

static bool decode_decimal(const tn_leaf *leaf, tn_str plain, tn_int256 *out)
{
    int64_t value;

    if (leaf->physical == TN_INT32 || leaf->physical == TN_INT64) {
        if (!decode_integer(leaf, plain, &value))
            return false;
        *out = tn_int256_of(value);
        return true;
    }
    if (plain.len == 0 || plain.len > 32 ||
        (leaf->physical == TN_FIXED && plain.len != leaf->type_length))
        return false;
    *out = tn_int256_be((const uint8_t *)plain.ptr, plain.len);
    return true;
}

bool tn_order_decode(const tn_leaf *leaf, tn_str plain, tn_filter_value *out)
{
    switch (tn_order_domain(leaf)) {
    case TN_DOMAIN_SIGNED:
        return decode_integer(leaf, plain, &out->i);
    case TN_DOMAIN_UNSIGNED:
        return decode_unsigned(leaf, plain, &out->u);
    case TN_DOMAIN_FLOAT:
        return decode_float(leaf, plain, &out->d);
    case TN_DOMAIN_DECIMAL:
        return decode_decimal(leaf, plain, &out->decimal);
    case TN_DOMAIN_BYTES:
        /* A bound of a fixed type may be shortened, so its length says nothing. */
        out->bytes = plain;
        return true;
    case TN_DOMAIN_NONE:
        break;
    }
    return false;
}

/* Writers whose decimals' bounds are known to be wrong in some versions. */
static bool decimals_doubtful(const tn_parquet *file, const tn_leaf *leaf)
{
    tn_writer writer = tn_writer_of(file->footer.created_by);
    bool bytes = leaf->physical == TN_BYTE_ARRAY || leaf->physical == TN_FIXED;

    if (tn_str_starts(writer.program, TN_STR("hyparquet")))
        return true;
    return bytes && (tn_str_is(writer.program, "parquet-cpp") ||
                     tn_writer_before(&writer, "parquet-cpp-arrow", 4, 0, 0) ||
                     tn_str_starts(writer.program, TN_STR("Polars")) ||
                     tn_str_starts(writer.program, TN_STR("ClickHouse")));
}

bool tn_order_trusted(const tn_parquet *file, const tn_leaf *leaf)
{
    enum tn_domain domain = tn_order_domain(leaf);
    int32_t order =
        leaf->index < file->footer.column_order_count ? file->footer.column_orders[leaf->index] : 0;

    if (domain == TN_DOMAIN_NONE)
        return false;
    if (domain == TN_DOMAIN_DECIMAL && decimals_doubtful(file, leaf))
        return false;
    return order == 1 || (order == 2 && domain == TN_DOMAIN_FLOAT);
}

bool tn_order_trusted_old(const tn_parquet *file, const tn_leaf *leaf)
{
    enum tn_domain domain = tn_order_domain(leaf);

    if (leaf->physical == TN_BYTE_ARRAY || leaf->physical == TN_FIXED)
        return false;
    if (domain == TN_DOMAIN_DECIMAL)
        return !decimals_doubtful(file, leaf);
    return domain == TN_DOMAIN_SIGNED || domain == TN_DOMAIN_FLOAT || leaf->physical == TN_BOOLEAN;
}

static void set_bounds(const tn_leaf *leaf, bool has_min, tn_str min, bool has_max, tn_str max,
                       tn_order_range *out)
{
    enum tn_domain domain = tn_order_domain(leaf);

    out->has_min = has_min && tn_order_decode(leaf, min, &out->min);
    out->has_max = has_max && tn_order_decode(leaf, max, &out->max);
    if (domain == TN_DOMAIN_FLOAT &&
        ((out->has_min && isnan(out->min.d)) || (out->has_max && isnan(out->max.d)))) {
        out->has_min = out->has_max = false;
        out->nan_free = false;
    }
    if (out->has_min && out->has_max && tn_filter_compare(domain, &out->min, &out->max) > 0)
        out->contradict = true;
}

/* Values that are certainly there: entries that are neither null nor NaN. 0 where unknown. */
static void settle(tn_order_range *range, bool bounded)
{
    if (range->has_nulls && (range->nulls < 0 || range->nulls > range->entries))
        range->contradict = true;
    /* All null, and yet with bounds. */
    if (range->has_nulls && range->nulls == range->entries && range->entries != 0 && bounded)
        range->contradict = true;
    if (range->contradict)
        *range = (tn_order_range){.contradict = true, .entries = range->entries};
    else
        range->empty = range->has_nulls && range->nulls == range->entries;
}

void tn_order_chunk(const tn_parquet *file, size_t group, const tn_leaf *leaf, tn_order_range *out)
{
    const tn_chunk_meta *chunk = &file->footer.groups[group].columns[leaf->index];
    const tn_statistics *s = &chunk->statistics;
    tn_order_range range = {.entries = chunk->values};
    bool bounded = s->has_min_value || s->has_max_value || s->has_min || s->has_max;

    if (leaf->max_def == 0) {
        range.has_nulls = true;
    } else if (chunk->has_statistics && s->has_null_count) {
        range.has_nulls = true;
        range.nulls = s->null_count;
    }
    range.nan_free = tn_order_domain(leaf) != TN_DOMAIN_FLOAT ||
                     (chunk->has_statistics && s->has_nan_count && s->nan_count == 0);
    if (chunk->has_statistics && (s->has_min_value || s->has_max_value)) {
        if (tn_order_trusted(file, leaf))
            set_bounds(leaf, s->has_min_value, s->min_value, s->has_max_value, s->max_value,
                       &range);
    } else if (chunk->has_statistics && tn_order_trusted_old(file, leaf)) {
        set_bounds(leaf, s->has_min, s->min, s->has_max, s->max, &range);
    }
    settle(&range, bounded);
    *out = range;
}

void tn_order_page(const tn_parquet *file, const tn_leaf *leaf, const tn_column_index *index,
                   size_t page, int64_t rows, tn_order_range *out)
{
    tn_order_range range = {.entries = rows};
    bool null_page = index->null_pages[page];
    bool bounded = index->min[page].len != 0 || index->max[page].len != 0;

    if (leaf->max_def == 0) {
        range.has_nulls = true;
        range.contradict = null_page && rows != 0;
    } else if (index->null_counts != NULL) {
        range.has_nulls = true;
        range.nulls = index->null_counts[page];
        range.contradict = null_page != (range.nulls == rows) && rows != 0;
    } else if (null_page) {
        range.has_nulls = true;
        range.nulls = rows;
    }
    range.nan_free = tn_order_domain(leaf) != TN_DOMAIN_FLOAT ||
                     (index->nan_counts != NULL && index->nan_counts[page] == 0);
    if (!null_page && tn_order_trusted(file, leaf))
        set_bounds(leaf, true, index->min[page], true, index->max[page], &range);
    settle(&range, null_page && bounded);
    *out = range;
}
