/* Format strings of the Arrow C data interface. */
#include "batch/format.h"

#include <assert.h>
#include <string.h>

typedef struct plain_format {
    char text[4];
    enum tn_format_kind kind;
    char unit;
    uint8_t width, buffers;
} plain_format;

static const plain_format plain[] = {
    {"n", TN_FORMAT_NULL, 0, 0, 0},         {"b", TN_FORMAT_BOOL, 0, 0, 2},
    {"c", TN_FORMAT_INT8, 0, 1, 2},         {"C", TN_FORMAT_UINT8, 0, 1, 2},
    {"s", TN_FORMAT_INT16, 0, 2, 2},        {"S", TN_FORMAT_UINT16, 0, 2, 2},
    {"i", TN_FORMAT_INT32, 0, 4, 2},        {"I", TN_FORMAT_UINT32, 0, 4, 2},
    {"l", TN_FORMAT_INT64, 0, 8, 2},        {"L", TN_FORMAT_UINT64, 0, 8, 2},
    {"e", TN_FORMAT_HALF, 0, 2, 2},         {"f", TN_FORMAT_FLOAT, 0, 4, 2},
    {"g", TN_FORMAT_DOUBLE, 0, 8, 2},       {"z", TN_FORMAT_BINARY, 0, 0, 3},
    {"Z", TN_FORMAT_LARGE_BINARY, 0, 0, 3}, {"vz", TN_FORMAT_BINARY_VIEW, 0, 16, 2},
    {"u", TN_FORMAT_UTF8, 0, 0, 3},         {"U", TN_FORMAT_LARGE_UTF8, 0, 0, 3},
    {"vu", TN_FORMAT_UTF8_VIEW, 0, 16, 2},  {"tdD", TN_FORMAT_DATE32, 0, 4, 2},
    {"tdm", TN_FORMAT_DATE64, 'm', 8, 2},   {"tts", TN_FORMAT_TIME32, 's', 4, 2},
    {"ttm", TN_FORMAT_TIME32, 'm', 4, 2},   {"ttu", TN_FORMAT_TIME64, 'u', 8, 2},
    {"ttn", TN_FORMAT_TIME64, 'n', 8, 2},   {"tDs", TN_FORMAT_DURATION, 's', 8, 2},
    {"tDm", TN_FORMAT_DURATION, 'm', 8, 2}, {"tDu", TN_FORMAT_DURATION, 'u', 8, 2},
    {"tDn", TN_FORMAT_DURATION, 'n', 8, 2}, {"tiM", TN_FORMAT_MONTHS, 0, 4, 2},
    {"tiD", TN_FORMAT_DAY_TIME, 0, 8, 2},   {"tin", TN_FORMAT_MONTH_DAY_NANO, 0, 16, 2},
    {"+l", TN_FORMAT_LIST, 0, 0, 2},        {"+L", TN_FORMAT_LARGE_LIST, 0, 0, 2},
    {"+vl", TN_FORMAT_LIST_VIEW, 0, 0, 3},  {"+vL", TN_FORMAT_LARGE_LIST_VIEW, 0, 0, 3},
    {"+s", TN_FORMAT_STRUCT, 0, 0, 1},      {"+m", TN_FORMAT_MAP, 0, 0, 2},
    {"+r", TN_FORMAT_RUN_END, 0, 0, 0},
};

const char *tn_format_name(enum tn_format_kind kind)
{
    static const char *const names[] = {"null",
                                        "bool",
                                        "int8",
                                        "uint8",
                                        "int16",
                                        "uint16",
                                        "int32",
                                        "uint32",
                                        "int64",
                                        "uint64",
                                        "half_float",
                                        "float",
                                        "double",
                                        "decimal",
                                        "binary",
                                        "large_binary",
                                        "binary_view",
                                        "utf8",
                                        "large_utf8",
                                        "utf8_view",
                                        "fixed_size_binary",
                                        "date32",
                                        "date64",
                                        "time32",
                                        "time64",
                                        "timestamp",
                                        "duration",
                                        "interval[months]",
                                        "interval[day, time]",
                                        "interval[month, day, nano]",
                                        "list",
                                        "large_list",
                                        "list_view",
                                        "large_list_view",
                                        "fixed_size_list",
                                        "struct",
                                        "map",
                                        "union",
                                        "run_end_encoded"};

    assert(kind < sizeof names / sizeof names[0]);
    return names[kind];
}

/* A decimal number of at most nine digits at *at, perhaps negative. */
static bool take_number(const char **at, int32_t *out)
{
    const char *p = *at;
    bool negative = *p == '-';
    int32_t value = 0;
    int digits = 0;

    p += negative;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (++digits > 9)
            return false;
        value = value * 10 + (*p - '0');
    }
    *out = negative ? -value : value;
    *at = p;
    return digits > 0;
}

static bool parse_decimal(const char *at, tn_format *type)
{
    type->kind = TN_FORMAT_DECIMAL;
    type->bit_width = 128;
    if (!take_number(&at, &type->precision) || *at++ != ',' || !take_number(&at, &type->scale))
        return false;
    if (*at == ',') {
        at++;
        if (!take_number(&at, &type->bit_width))
            return false;
    }
    type->width = (uint32_t)type->bit_width / 8;
    type->buffers = 2;
    return *at == '\0' && type->precision > 0 &&
           ((type->bit_width == 32 && type->precision <= 9) ||
            (type->bit_width == 64 && type->precision <= 18) ||
            (type->bit_width == 128 && type->precision <= 38) ||
            (type->bit_width == 256 && type->precision <= 76));
}

static bool parse_sized(const char *at, enum tn_format_kind kind, tn_format *type)
{
    type->kind = kind;
    type->buffers = kind == TN_FORMAT_FIXED_BINARY ? 2 : 1;
    if (!take_number(&at, &type->size) || *at != '\0' || type->size < 0)
        return false;
    if (kind == TN_FORMAT_FIXED_BINARY)
        type->width = (uint32_t)type->size;
    return true;
}

static bool parse_timestamp(const char *format, tn_format *type)
{
    type->kind = TN_FORMAT_TIMESTAMP;
    type->width = 8;
    type->buffers = 2;
    type->unit = format[2];
    if (type->unit == '\0' || strchr("smun", type->unit) == NULL || format[3] != ':')
        return false;
    type->zone = tn_str_of(format + 4);
    return true;
}

static bool parse(const char *format, tn_format *type)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(format, plain[i].text) == 0) {
            type->kind = plain[i].kind;
            type->unit = plain[i].unit;
            type->width = plain[i].width;
            type->buffers = plain[i].buffers;
            return true;
        }
    }
    if (strncmp(format, "d:", 2) == 0)
        return parse_decimal(format + 2, type);
    if (strncmp(format, "w:", 2) == 0)
        return parse_sized(format + 2, TN_FORMAT_FIXED_BINARY, type);
    if (strncmp(format, "+w:", 3) == 0)
        return parse_sized(format + 3, TN_FORMAT_FIXED_LIST, type);
    if (strncmp(format, "ts", 2) == 0)
        return parse_timestamp(format, type);
    if (strncmp(format, "+ud:", 4) == 0 || strncmp(format, "+us:", 4) == 0) {
        type->kind = TN_FORMAT_UNION;
        return true;
    }
    return false;
}

int tn_format_parse(tarn_cx *cx, const char *format, tn_format *out)
{
    tn_format type = {0};

    if (format == NULL || !parse(format, &type))
        return tn_fail(cx, TARN_E_INVALID, "\"%.64s\" is no Arrow format",
                       format != NULL ? format : "");
    *out = type;
    return TARN_OK;
}
