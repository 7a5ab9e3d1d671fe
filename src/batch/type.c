/* Format strings of the Arrow C data interface.
 * I1: a type with `dictionary` describes the values, never the indices. */
#include "batch/type.h"

#include <stdlib.h>
#include <string.h>

typedef struct simple {
    const char *format;
    enum tn_type_kind kind;
    uint8_t width, unit_digits;
    const char *name;
} simple;

static const simple simples[] = {
    {"n", TN_TYPE_NULL, 0, 0, "null"},
    {"b", TN_TYPE_BOOL, 0, 0, "bool"},
    {"c", TN_TYPE_INT8, 1, 0, "int8"},
    {"s", TN_TYPE_INT16, 2, 0, "int16"},
    {"i", TN_TYPE_INT32, 4, 0, "int32"},
    {"l", TN_TYPE_INT64, 8, 0, "int64"},
    {"C", TN_TYPE_UINT8, 1, 0, "uint8"},
    {"S", TN_TYPE_UINT16, 2, 0, "uint16"},
    {"I", TN_TYPE_UINT32, 4, 0, "uint32"},
    {"L", TN_TYPE_UINT64, 8, 0, "uint64"},
    {"e", TN_TYPE_HALF, 2, 0, "halffloat"},
    {"f", TN_TYPE_FLOAT, 4, 0, "float"},
    {"g", TN_TYPE_DOUBLE, 8, 0, "double"},
    {"u", TN_TYPE_UTF8, 0, 0, "string"},
    {"U", TN_TYPE_LARGE_UTF8, 0, 0, "large_string"},
    {"z", TN_TYPE_BINARY, 0, 0, "binary"},
    {"Z", TN_TYPE_LARGE_BINARY, 0, 0, "large_binary"},
    {"tdD", TN_TYPE_DATE32, 4, 0, "date"},
    {"tdm", TN_TYPE_DATE64, 8, 3, "date64"},
    {"tts", TN_TYPE_TIME32, 4, 0, "time[s]"},
    {"ttm", TN_TYPE_TIME32, 4, 3, "time[ms]"},
    {"ttu", TN_TYPE_TIME64, 8, 6, "time[us]"},
    {"ttn", TN_TYPE_TIME64, 8, 9, "time[ns]"},
    {"tDs", TN_TYPE_DURATION, 8, 0, "duration[s]"},
    {"tDm", TN_TYPE_DURATION, 8, 3, "duration[ms]"},
    {"tDu", TN_TYPE_DURATION, 8, 6, "duration[us]"},
    {"tDn", TN_TYPE_DURATION, 8, 9, "duration[ns]"},
    {"tiM", TN_TYPE_INTERVAL_MONTHS, 4, 0, "interval[months]"},
    {"tiD", TN_TYPE_INTERVAL_DAY_TIME, 8, 0, "interval[day_time]"},
    {"tin", TN_TYPE_INTERVAL_MONTH_DAY_NANO, 16, 0, "interval[month_day_nano]"},
    {"+l", TN_TYPE_LIST, 0, 0, "list"},
    {"+L", TN_TYPE_LARGE_LIST, 0, 0, "large_list"},
    {"+s", TN_TYPE_STRUCT, 0, 0, "struct"},
    {"+m", TN_TYPE_MAP, 0, 0, "map"},
};

static const simple *simple_of(const char *format)
{
    for (size_t i = 0; i < sizeof simples / sizeof simples[0]; i++)
        if (strcmp(simples[i].format, format) == 0)
            return &simples[i];
    return NULL;
}

static bool parse_timestamp(const char *format, tn_type *out)
{
    static const char units[] = "smun";
    const char *unit = format[2] != '\0' ? strchr(units, format[2]) : NULL;

    if (unit == NULL || format[3] != ':')
        return false;
    *out = (tn_type){.kind = TN_TYPE_TIMESTAMP,
                     .width = 8,
                     .unit_digits = 3 * (int32_t)(unit - units),
                     .zone = tn_str_of(format + 4)};
    return true;
}

static bool parse_decimal(const char *format, tn_type *out)
{
    char *end;
    long precision = strtol(format + 2, &end, 10), scale, bits = 128;

    if (*end != ',')
        return false;
    scale = strtol(end + 1, &end, 10);
    if (*end == ',')
        bits = strtol(end + 1, &end, 10);
    if (*end != '\0' || precision < 1 || precision > 76 || scale < -76 || scale > 76 ||
        (bits != 32 && bits != 64 && bits != 128 && bits != 256))
        return false;
    *out = (tn_type){.kind = TN_TYPE_DECIMAL,
                     .width = (uint32_t)bits / 8,
                     .precision = (int32_t)precision,
                     .scale = (int32_t)scale};
    return true;
}

static bool parse_sized(const char *digits, enum tn_type_kind kind, tn_type *out)
{
    char *end;
    long width = strtol(digits, &end, 10);

    if (end == digits || *end != '\0' || width < 0 || width > INT32_MAX)
        return false;
    *out = (tn_type){.kind = kind, .width = (uint32_t)width};
    return true;
}

static bool parse_format(const char *format, tn_type *out)
{
    const simple *plain = simple_of(format);

    if (plain != NULL) {
        *out = (tn_type){
            .kind = plain->kind, .width = plain->width, .unit_digits = plain->unit_digits};
        return true;
    }
    if (strncmp(format, "ts", 2) == 0)
        return parse_timestamp(format, out);
    if (strncmp(format, "d:", 2) == 0)
        return parse_decimal(format, out);
    if (strncmp(format, "w:", 2) == 0)
        return parse_sized(format + 2, TN_TYPE_FIXED, out);
    if (strncmp(format, "+w:", 3) == 0)
        return parse_sized(format + 3, TN_TYPE_FIXED_LIST, out);
    return false;
}

int tn_type_of(tarn_cx *cx, const struct ArrowSchema *schema, tn_type *out)
{
    const struct ArrowSchema *values = schema->dictionary != NULL ? schema->dictionary : schema;
    tn_type type;

    if (!parse_format(values->format, &type))
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "column \"%s\": Arrow type \"%s\" is not one that tarn handles",
                       schema->name != NULL ? schema->name : "", values->format);
    type.dictionary = schema->dictionary != NULL;
    if (type.dictionary) {
        const simple *index = simple_of(schema->format);

        if (index == NULL || index->kind < TN_TYPE_INT8 || index->kind > TN_TYPE_UINT64)
            return tn_fail(cx, TARN_E_UNSUPPORTED,
                           "column \"%s\": Arrow type \"%s\" is not an index type",
                           schema->name != NULL ? schema->name : "", schema->format);
        type.index = index->kind;
    }
    *out = type;
    return TARN_OK;
}

bool tn_type_equal(const tn_type *a, const tn_type *b)
{
    return a->kind == b->kind && a->width == b->width && a->scale == b->scale &&
           a->precision == b->precision && a->unit_digits == b->unit_digits &&
           (a->zone.len == 0) == (b->zone.len == 0);
}

bool tn_type_is_fixed(enum tn_type_kind kind)
{
    switch (kind) {
    case TN_TYPE_NULL:
    case TN_TYPE_BOOL:
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
    case TN_TYPE_FIXED_LIST:
    case TN_TYPE_STRUCT:
    case TN_TYPE_MAP:
        return false;
    default:
        return true;
    }
}

static const char *unit_name(int32_t digits)
{
    return digits == 0 ? "s" : digits == 3 ? "ms" : digits == 6 ? "us" : "ns";
}

static void print_children(tn_buf *out, const struct ArrowSchema *schema, bool names)
{
    tn_buf_u8(out, '<');
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *child = schema->children[i];

        if (i > 0)
            tn_buf_text(out, ", ");
        if (names) {
            tn_buf_text(out, child->name != NULL ? child->name : "");
            tn_buf_text(out, ": ");
        }
        tn_type_print(out, child);
    }
    tn_buf_u8(out, '>');
}

void tn_type_print(tn_buf *out, const struct ArrowSchema *schema)
{
    const struct ArrowSchema *values = schema->dictionary != NULL ? schema->dictionary : schema;
    const simple *plain = simple_of(values->format);
    tn_type type;

    if (!parse_format(values->format, &type)) {
        tn_buf_text(out, values->format);
        return;
    }
    switch (type.kind) {
    case TN_TYPE_DECIMAL:
        tn_buf_print(out, "decimal(%d,%d)", (int)type.precision, (int)type.scale);
        return;
    case TN_TYPE_FIXED:
        tn_buf_print(out, "binary(%u)", (unsigned)type.width);
        return;
    case TN_TYPE_TIMESTAMP:
        tn_buf_print(out, "timestamp[%s%s%.*s]", unit_name(type.unit_digits),
                     type.zone.len != 0 ? ", " : "", TN_STR_ARG(type.zone));
        return;
    case TN_TYPE_FIXED_LIST:
        tn_buf_text(out, "list");
        print_children(out, values, false);
        return;
    case TN_TYPE_STRUCT:
        tn_buf_text(out, "struct");
        print_children(out, values, true);
        return;
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
        tn_buf_text(out, plain->name);
        print_children(out, values, false);
        return;
    case TN_TYPE_MAP:
        tn_buf_text(out, "map");
        if (values->n_children == 1)
            print_children(out, values->children[0], false);
        return;
    default:
        tn_buf_text(out, plain->name);
    }
}
