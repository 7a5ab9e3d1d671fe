/* Types of one leaf: what they mean, and which of two holds the values of both.
 * I1: the result holds every value of either side exactly. */
#include "table/unify_leaf.h"

static tn_meaning meaning_of_converted(const tn_element *e)
{
    switch (e->converted) {
    case TN_UTF8:
        return (tn_meaning){.kind = TN_LOGICAL_STRING};
    case TN_MAP:
    case TN_MAP_KEY_VALUE:
        return (tn_meaning){.kind = TN_LOGICAL_MAP};
    case TN_LIST:
        return (tn_meaning){.kind = TN_LOGICAL_LIST};
    case TN_ENUM:
        return (tn_meaning){.kind = TN_LOGICAL_ENUM};
    case TN_DECIMAL:
        return (tn_meaning){.kind = TN_LOGICAL_DECIMAL, .a = e->precision, .b = e->scale};
    case TN_DATE:
        return (tn_meaning){.kind = TN_LOGICAL_DATE};
    case TN_TIME_MILLIS:
    case TN_TIME_MICROS:
        return (tn_meaning){.kind = TN_LOGICAL_TIME,
                            .a = e->converted == TN_TIME_MILLIS ? TN_MILLIS : TN_MICROS,
                            .b = 1};
    case TN_TIMESTAMP_MILLIS:
    case TN_TIMESTAMP_MICROS:
        return (tn_meaning){.kind = TN_LOGICAL_TIMESTAMP,
                            .a = e->converted == TN_TIMESTAMP_MILLIS ? TN_MILLIS : TN_MICROS,
                            .b = 1};
    case TN_UINT_8:
    case TN_UINT_16:
    case TN_UINT_32:
    case TN_UINT_64:
        return (tn_meaning){.kind = TN_LOGICAL_INTEGER, .a = 8 << (e->converted - TN_UINT_8)};
    case TN_INT_8:
    case TN_INT_16:
    case TN_INT_32:
    case TN_INT_64:
        return (tn_meaning){
            .kind = TN_LOGICAL_INTEGER, .a = 8 << (e->converted - TN_INT_8), .b = 1};
    case TN_JSON:
        return (tn_meaning){.kind = TN_LOGICAL_JSON};
    case TN_BSON:
        return (tn_meaning){.kind = TN_LOGICAL_BSON};
    case TN_INTERVAL:
        return (tn_meaning){.kind = TN_MEANS_INTERVAL};
    default:
        return (tn_meaning){.kind = TN_LOGICAL_NONE};
    }
}

tn_meaning tn_unify_meaning(const tn_element *e)
{
    tn_meaning meaning = {.kind = e->logical, .raw = e->logical_raw};

    switch (e->logical) {
    case TN_LOGICAL_NONE:
        meaning = meaning_of_converted(e);
        break;
    case TN_LOGICAL_DECIMAL:
        meaning.a = e->precision;
        meaning.b = e->scale;
        break;
    case TN_LOGICAL_TIME:
    case TN_LOGICAL_TIMESTAMP:
        meaning.a = e->unit;
        meaning.b = e->adjusted_to_utc;
        break;
    case TN_LOGICAL_INTEGER:
        meaning.a = e->bit_width;
        meaning.b = e->is_signed;
        break;
    default:
        break;
    }
    /* A plain integer is a signed one of its width. */
    if (meaning.kind == TN_LOGICAL_NONE && !e->group &&
        (e->physical == TN_INT32 || e->physical == TN_INT64))
        meaning = (tn_meaning){
            .kind = TN_LOGICAL_INTEGER, .a = e->physical == TN_INT32 ? 32 : 64, .b = 1};
    return meaning;
}

static bool means_equal(const tn_meaning *a, const tn_meaning *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && tn_str_equal(a->raw, b->raw);
}

/* Takes over what `other` is, but not its name, place and repetition. */
static void take_type(tn_element *into, const tn_element *other)
{
    tn_element e = *other;

    e.name = into->name;
    e.repetition = into->repetition;
    e.has_field_id = into->has_field_id;
    e.field_id = into->field_id;
    *into = e;
}

/* Smallest number of bytes of a two's complement number that holds `precision` digits. */
static int32_t decimal_bytes(int32_t precision)
{
    return precision > 0 ? (int32_t)(precision * 3.3219280948873626 + 1) / 8 + 1 : 1;
}

static int decimal_rank(const tn_element *e)
{
    return e->physical == TN_INT32   ? 0
           : e->physical == TN_INT64 ? 1
           : e->physical == TN_FIXED ? 2
                                     : 3;
}

static const char *unify_decimal(tn_element *into, const tn_element *other, const tn_meaning *a,
                                 const tn_meaning *b, const tn_unify_options *options)
{
    int32_t precision = a->a > b->a ? a->a : b->a;
    tn_element wide;

    if (a->b != b->b)
        return "decimals of different scale";
    if (a->a != b->a && !options->widen)
        return "decimals of different precision (--widen allows it)";
    wide = decimal_rank(into) >= decimal_rank(other) ? *into : *other;
    if (wide.physical == TN_FIXED && into->physical == TN_FIXED && other->physical == TN_FIXED &&
        into->type_length > wide.type_length)
        wide.type_length = into->type_length;
    if (wide.physical == TN_FIXED && other->physical == TN_FIXED &&
        other->type_length > wide.type_length)
        wide.type_length = other->type_length;
    if ((wide.physical == TN_INT32 && precision > 9) ||
        (wide.physical == TN_INT64 && precision > 18)) {
        wide.physical = TN_FIXED;
        wide.type_length = 0;
    }
    if (wide.physical == TN_FIXED && wide.type_length < decimal_bytes(precision))
        wide.type_length = decimal_bytes(precision);
    wide.precision = precision;
    take_type(into, &wide);
    return NULL;
}

static bool plain_signed(const tn_meaning *m)
{
    return m->kind == TN_LOGICAL_INTEGER && m->b != 0;
}

/* Does the first integer type hold every value of the second? Where only its sign differs it must
 * be signed and have more bits. */
static bool holds(const tn_meaning *wide, const tn_meaning *other)
{
    return wide->b == other->b ? wide->a >= other->a : wide->b != 0 && wide->a > other->a;
}

static bool both(const tn_meaning *a, const tn_meaning *b, int32_t kind)
{
    return a->kind == kind && b->kind == kind;
}

/* Widenings that keep every value: narrower to wider integers, int32 and float to double,
 * timestamps in milliseconds to microseconds (what lies beyond those is found when it is met). */
static const char *widen(tn_element *into, const tn_element *other, const tn_meaning *a,
                         const tn_meaning *b)
{
    bool into_wider;

    if (both(a, b, TN_LOGICAL_INTEGER) && (holds(a, b) || holds(b, a))) {
        into_wider = holds(a, b);
    } else if (both(a, b, TN_LOGICAL_TIMESTAMP) && a->b == b->b && a->a != TN_NANOS &&
               b->a != TN_NANOS) {
        into_wider = a->a == TN_MICROS;
    } else if (into->physical == TN_DOUBLE && a->kind == TN_LOGICAL_NONE &&
               (other->physical == TN_INT32 ? plain_signed(b)
                                            : other->physical == TN_FLOAT && b->kind == 0)) {
        into_wider = true;
    } else if (other->physical == TN_DOUBLE && b->kind == TN_LOGICAL_NONE &&
               (into->physical == TN_INT32 ? plain_signed(a)
                                           : into->physical == TN_FLOAT && a->kind == 0)) {
        into_wider = false;
    } else {
        return "types that no widening makes one";
    }
    if (!into_wider)
        take_type(into, other);
    return NULL;
}

const char *tn_unify_leaf(tn_element *into, const tn_element *other,
                          const tn_unify_options *options)
{
    tn_meaning a = tn_unify_meaning(into), b = tn_unify_meaning(other);

    if (b.kind == TN_LOGICAL_UNKNOWN)
        return NULL;
    if (a.kind == TN_LOGICAL_UNKNOWN) {
        take_type(into, other);
        return NULL;
    }
    if (a.kind == TN_LOGICAL_DECIMAL && b.kind == TN_LOGICAL_DECIMAL) {
        if (means_equal(&a, &b) && into->physical == other->physical &&
            into->type_length == other->type_length)
            return NULL;
        return unify_decimal(into, other, &a, &b, options);
    }
    if (into->physical == other->physical &&
        (into->physical != TN_FIXED || into->type_length == other->type_length)) {
        if (means_equal(&a, &b))
            return NULL;
        if (a.kind == TN_LOGICAL_STRING && b.kind == TN_LOGICAL_ENUM)
            return NULL;
        if (a.kind == TN_LOGICAL_ENUM && b.kind == TN_LOGICAL_STRING) {
            take_type(into, other);
            return NULL;
        }
    }
    if (options->widen)
        return widen(into, other, &a, &b);
    return widen(&(tn_element){.physical = into->physical,
                               .converted = into->converted,
                               .logical = into->logical,
                               .bit_width = into->bit_width,
                               .is_signed = into->is_signed},
                 other, &a, &b) == NULL
               ? "types that differ in width (--widen allows it)"
               : "different types";
}

enum tn_cast tn_unify_leaf_cast(const tn_element *in, const tn_element *out)
{
    tn_meaning a = tn_unify_meaning(in), b = tn_unify_meaning(out);

    if (a.kind == TN_LOGICAL_UNKNOWN && b.kind != TN_LOGICAL_UNKNOWN)
        return TN_CAST_NULL;
    if (both(&a, &b, TN_LOGICAL_TIMESTAMP) && a.a == TN_MILLIS && b.a == TN_MICROS)
        return TN_CAST_MILLIS_MICROS;
    if (in->physical == out->physical &&
        (in->physical != TN_FIXED || in->type_length == out->type_length))
        return TN_CAST_NONE;
    if (both(&a, &b, TN_LOGICAL_INTEGER) && a.a == 32 && a.b == 0)
        return TN_CAST_UINT32_INT64;
    if (b.kind == TN_LOGICAL_DECIMAL)
        return TN_CAST_DECIMAL;
    if (in->physical == TN_FLOAT)
        return TN_CAST_FLOAT_DOUBLE;
    return out->physical == TN_DOUBLE ? TN_CAST_INT32_DOUBLE : TN_CAST_INT32_INT64;
}
