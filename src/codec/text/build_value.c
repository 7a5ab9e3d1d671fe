/* Values of fixed width from text.
 * I1: nothing is rounded silently but floating point numbers, to the nearest: digits that a decimal
 *     or a time cannot hold must be zeros.
 * I2: integers may be written as any number that is one: "7", "+7", "7.0", "7e2". */
#include "codec/text/build_value.h"

#include <assert.h>
#include <string.h>

#include "batch/moment.h"
#include "batch/number.h"
#include "batch/real.h"

#define DAY_SECONDS 86400

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

tn_str tn_value_trim(tn_str text)
{
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = tn_str_from(text, 1);
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* The number times 10^scale as 256 bits. */
static enum tn_value_fit parse_exact(tn_str text, int32_t scale, tn_int256 *out)
{
    bool exact;
    int beyond;

    if (!tn_number_floor(text, scale, out, &exact, &beyond) || beyond != 0)
        return TN_VALUE_NONE;
    return exact ? TN_VALUE_FITS : TN_VALUE_FRACTION;
}

static bool parse_int64(tn_str text, int64_t *out)
{
    tn_int256 value;
    uint64_t high;

    if (tn_value_short(text, out))
        return true;
    if (parse_exact(text, 0, &value) != TN_VALUE_FITS)
        return false;
    high = (int64_t)value.limb[0] < 0 ? UINT64_MAX : 0;
    if (value.limb[1] != high || value.limb[2] != high || value.limb[3] != high)
        return false;
    *out = (int64_t)value.limb[0];
    return true;
}

static bool parse_uint64(tn_str text, uint64_t *out)
{
    tn_int256 value;
    int64_t small;

    if (tn_value_short(text, &small) && small >= 0) {
        *out = (uint64_t)small;
        return true;
    }
    if (parse_exact(text, 0, &value) != TN_VALUE_FITS || value.limb[1] != 0 || value.limb[2] != 0 ||
        value.limb[3] != 0)
        return false;
    *out = value.limb[0];
    return true;
}

static enum tn_value_fit parse_signed(const tn_format *type, tn_str text, void *out)
{
    int64_t value, limit = type->width < 8 ? 1ll << (8 * type->width - 1) : 0;

    if (!parse_int64(text, &value) || (limit != 0 && (value < -limit || value >= limit)))
        return TN_VALUE_NONE;
    memcpy(out, &value, type->width); /* little-endian: the low bytes */
    return TN_VALUE_FITS;
}

static enum tn_value_fit parse_unsigned(const tn_format *type, tn_str text, void *out)
{
    uint64_t value;

    if (!parse_uint64(text, &value) || (type->width < 8 && value >> (8 * type->width) != 0))
        return TN_VALUE_NONE;
    memcpy(out, &value, type->width);
    return TN_VALUE_FITS;
}

static bool is_word(tn_str text, const char *lower)
{
    if (text.len != strlen(lower))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] | 0x20) != lower[i])
            return false;
    return true;
}

static enum tn_value_fit parse_bool(tn_str text, uint8_t *out)
{
    if (is_word(text, "true") || tn_str_is(text, "1"))
        *out = 1;
    else if (is_word(text, "false") || tn_str_is(text, "0"))
        *out = 0;
    else
        return TN_VALUE_NONE;
    return TN_VALUE_FITS;
}

static enum tn_value_fit parse_decimal(const tn_format *type, tn_str text, void *out)
{
    tn_int256 value, limit = {{1, 0, 0, 0}}, size;
    enum tn_value_fit fit = parse_exact(text, type->scale, &value);
    bool negative;

    if (fit != TN_VALUE_FITS)
        return fit;
    negative = (int64_t)value.limb[3] < 0;
    size = value;
    for (int i = 0, carry = 1; negative && i < 4; i++) {
        size.limb[i] = ~size.limb[i] + (uint64_t)carry;
        carry = carry && size.limb[i] == 0;
    }
    for (int32_t i = 0; i < type->precision; i++) {
        unsigned __int128 carry = 0;

        for (int j = 0; j < 4; j++) {
            carry += (unsigned __int128)limit.limb[j] * 10;
            limit.limb[j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    if (tn_int256_compare(&size, &limit) >= 0)
        return TN_VALUE_NONE;
    memcpy(out, value.limb, (size_t)type->bit_width / 8);
    return TN_VALUE_FITS;
}

/* Most decimals: at most 18 digits of value, no exponent, no more digits than the scale. */
static bool parse_short_decimal(const tn_format *type, tn_str text, void *out)
{
    static const int64_t powers[] = {1ll,
                                     10ll,
                                     100ll,
                                     1000ll,
                                     10000ll,
                                     100000ll,
                                     1000000ll,
                                     10000000ll,
                                     100000000ll,
                                     1000000000ll,
                                     10000000000ll,
                                     100000000000ll,
                                     1000000000000ll,
                                     10000000000000ll,
                                     100000000000000ll,
                                     1000000000000000ll,
                                     10000000000000000ll,
                                     100000000000000000ll,
                                     1000000000000000000ll};
    bool negative = text.len > 0 && text.ptr[0] == '-', point = false;
    size_t at = negative, digits = 0;
    int32_t fraction = 0;
    int64_t value = 0, words[4];

    if (text.len > 18 || type->scale < 0 || type->scale > 18)
        return false;
    for (; at < text.len; at++) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[at] - '0';

        if (digit <= 9) {
            value = value * 10 + digit;
            fraction += point;
            digits++;
        } else if (text.ptr[at] == '.' && !point) {
            point = true;
        } else {
            return false;
        }
    }
    if (digits == 0 || fraction > type->scale ||
        __builtin_mul_overflow(value, powers[type->scale - fraction], &value) ||
        (type->precision <= 18 && value >= powers[type->precision]))
        return false;
    words[0] = negative ? -value : value;
    words[1] = words[2] = words[3] = words[0] < 0 ? -1 : 0;
    memcpy(out, words, (size_t)type->bit_width / 8);
    return true;
}

static int64_t unit_nanos(char unit)
{
    return unit == 's' ? 1000000000 : unit == 'm' ? 1000000 : unit == 'u' ? 1000 : 1;
}

/* seconds and nanos (0 to 999,999,999) in the unit. */
static enum tn_value_fit in_unit(int64_t seconds, int64_t nanos, char unit, int64_t *out)
{
    int64_t each = unit_nanos(unit);
    __int128 value;

    if (nanos % each != 0)
        return TN_VALUE_FRACTION;
    value = (__int128)seconds * (1000000000 / each) + nanos / each;
    if (value < INT64_MIN || value > INT64_MAX)
        return TN_VALUE_NONE;
    *out = (int64_t)value;
    return TN_VALUE_FITS;
}

static bool is_utc(tn_str zone)
{
    static const char *const names[] = {"UTC",     "Z",      "GMT",     "Etc/UTC", "Etc/GMT",
                                        "+00:00",  "-00:00", "+0000",   "+00",     "Zulu",
                                        "Etc/UCT", "UCT",    "Etc/Zulu"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tn_str_is(zone, names[i]))
            return true;
    return false;
}

static enum tn_value_fit parse_timestamp(const tn_format *type, tn_str text, void *out)
{
    enum tn_value_fit fit;
    tn_moment moment;
    int64_t value;

    if (!tn_moment_parse(text, &moment))
        return TN_VALUE_NONE;
    if (moment.has_zone && type->zone.len == 0)
        return TN_VALUE_ZONE;
    if (!moment.has_zone && type->zone.len != 0 && !is_utc(type->zone))
        return TN_VALUE_NO_ZONE;
    fit = in_unit(moment.seconds, moment.nanos, type->unit, &value);
    if (fit == TN_VALUE_FITS)
        memcpy(out, &value, sizeof value);
    return fit;
}

static enum tn_value_fit parse_date32(tn_str text, void *out)
{
    tn_moment moment;
    int64_t days;
    int32_t value;

    if (!tn_moment_parse(text, &moment))
        return TN_VALUE_NONE;
    if (moment.has_zone)
        return TN_VALUE_ZONE;
    days = moment.seconds / DAY_SECONDS;
    if (moment.seconds % DAY_SECONDS != 0 || moment.nanos != 0)
        return TN_VALUE_TIME;
    if (days < INT32_MIN || days > INT32_MAX)
        return TN_VALUE_NONE;
    value = (int32_t)days;
    memcpy(out, &value, sizeof value);
    return TN_VALUE_FITS;
}

/* Files of others hold date64 values with a time of day: what was read from there goes back. */
static enum tn_value_fit parse_date64(tn_str text, void *out)
{
    tn_format naive = {.unit = 'm'};

    return parse_timestamp(&naive, text, out);
}

static enum tn_value_fit parse_time(const tn_format *type, tn_str text, void *out)
{
    enum tn_value_fit fit;
    int64_t nanos, value;
    int32_t half;

    if (!tn_moment_parse_time(text, &nanos))
        return TN_VALUE_NONE;
    fit = in_unit(nanos / 1000000000, nanos % 1000000000, type->unit, &value);
    if (fit != TN_VALUE_FITS)
        return fit;
    half = (int32_t)value;
    if (type->width == 4)
        memcpy(out, &half, sizeof half);
    else
        memcpy(out, &value, sizeof value);
    return TN_VALUE_FITS;
}

/* One "-12.5X" of a duration at *at, in nanoseconds; *letter is the X. */
static bool take_part(tn_str text, size_t *at, __int128 *nanos, char *letter)
{
    bool negative = *at < text.len && text.ptr[*at] == '-';
    __int128 value = 0;
    int digits = 0, fraction = -1;

    *at += negative;
    for (; *at < text.len; ++*at) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[*at] - '0';

        if (digit > 9 && (text.ptr[*at] != '.' || fraction >= 0 || digits == 0))
            break;
        if (digit > 9) {
            fraction = 0;
            continue;
        }
        if (digits++ > 27)
            return false;
        fraction += fraction >= 0;
        value = value * 10 + digit;
    }
    if (digits == 0 || *at == text.len || fraction > 9 || fraction == 0)
        return false;
    for (int i = fraction < 0 ? 0 : fraction; i < 9; i++) {
        if (value > (__int128)1 << 120)
            return false;
        value *= 10;
    }
    *letter = text.ptr[(*at)++];
    if (fraction > 0 && *letter != 'S')
        return false;
    *nanos = negative ? -value : value;
    return true;
}

/* Where the parts of a duration may stand, in order: P1W2DT3H4M5S. */
static int64_t part_seconds(char letter, bool time)
{
    if (!time)
        return letter == 'W' ? 7 * DAY_SECONDS : letter == 'D' ? DAY_SECONDS : 0;
    return letter == 'H' ? 3600 : letter == 'M' ? 60 : letter == 'S' ? 1 : 0;
}

static bool parse_parts(tn_str text, size_t at, __int128 *total)
{
    int64_t last = INT64_MAX;
    bool time = false, any = false;

    while (at < text.len) {
        __int128 nanos;
        int64_t seconds;
        char letter;

        if (text.ptr[at] == 'T' && !time) {
            time = true;
            any = false;
            at++;
            continue;
        }
        if (!take_part(text, &at, &nanos, &letter))
            return false;
        seconds = part_seconds(letter, time);
        if (seconds == 0 || seconds >= last || nanos > (__int128)1 << 96 ||
            nanos < -((__int128)1 << 96))
            return false;
        last = seconds;
        *total += nanos * seconds;
        any = true;
    }
    return any;
}

static enum tn_value_fit parse_duration(const tn_format *type, tn_str text, void *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    __int128 total = 0, each = unit_nanos(type->unit);
    int64_t value;

    if (text.len < 3 || text.ptr[negative] != 'P' ||
        !parse_parts(text, (size_t)negative + 1, &total))
        return TN_VALUE_NONE;
    if (total % each != 0)
        return TN_VALUE_FRACTION;
    total = (negative ? -total : total) / each;
    if (total < INT64_MIN || total > INT64_MAX)
        return TN_VALUE_NONE;
    value = (int64_t)total;
    memcpy(out, &value, sizeof value);
    return TN_VALUE_FITS;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum tn_value_fit parse_uuid(tn_str text, uint8_t *out)
{
    uint8_t bytes[16];
    size_t at = 0;

    if (text.len != 36)
        return TN_VALUE_NONE;
    for (size_t i = 0; i < 16; i++) {
        int high, low;

        if (i == 4 || i == 6 || i == 8 || i == 10)
            if (text.ptr[at++] != '-')
                return TN_VALUE_NONE;
        high = hex(text.ptr[at]);
        low = hex(text.ptr[at + 1]);
        if (high < 0 || low < 0)
            return TN_VALUE_NONE;
        bytes[i] = (uint8_t)(high * 16 + low);
        at += 2;
    }
    memcpy(out, bytes, sizeof bytes);
    return TN_VALUE_FITS;
}

static enum tn_value_fit fit_if(bool fits)
{
    return fits ? TN_VALUE_FITS : TN_VALUE_NONE;
}

static enum tn_value_fit parse_real(const tn_format *type, tn_str text, void *out)
{
    double number;
    float single;
    uint16_t bits;
    bool fits;

    switch (type->kind) {
    case TN_FORMAT_HALF:
        fits = tn_real_half(text, &bits);
        memcpy(out, &bits, fits ? sizeof bits : 0);
        break;
    case TN_FORMAT_FLOAT:
        fits = tn_real_float(text, &single);
        memcpy(out, &single, fits ? sizeof single : 0);
        break;
    default:
        fits = tn_real_double(text, &number);
        memcpy(out, &number, fits ? sizeof number : 0);
    }
    return fit_if(fits);
}

enum tn_value_fit tn_value_parse(const tn_format *type, tn_str text, void *out)
{
    if (text.len > 0 && (is_blank(text.ptr[0]) || is_blank(text.ptr[text.len - 1])))
        text = tn_value_trim(text);
    switch (type->kind) {
    case TN_FORMAT_BOOL:
        return parse_bool(text, out);
    case TN_FORMAT_INT8:
    case TN_FORMAT_INT16:
    case TN_FORMAT_INT32:
    case TN_FORMAT_INT64:
        return parse_signed(type, text, out);
    case TN_FORMAT_UINT8:
    case TN_FORMAT_UINT16:
    case TN_FORMAT_UINT32:
    case TN_FORMAT_UINT64:
        return parse_unsigned(type, text, out);
    case TN_FORMAT_HALF:
    case TN_FORMAT_FLOAT:
    case TN_FORMAT_DOUBLE:
        return parse_real(type, text, out);
    case TN_FORMAT_DECIMAL:
        return parse_short_decimal(type, text, out) ? TN_VALUE_FITS
                                                    : parse_decimal(type, text, out);
    case TN_FORMAT_DATE32:
        return parse_date32(text, out);
    case TN_FORMAT_DATE64:
        return parse_date64(text, out);
    case TN_FORMAT_TIME32:
    case TN_FORMAT_TIME64:
        return parse_time(type, text, out);
    case TN_FORMAT_TIMESTAMP:
        return parse_timestamp(type, text, out);
    case TN_FORMAT_DURATION:
        return parse_duration(type, text, out);
    case TN_FORMAT_FIXED_BINARY:
        return parse_uuid(text, out);
    default:
        assert(!"a type that tn_build_open lets through");
        return TN_VALUE_NONE;
    }
}

const char *tn_value_wanted(const tn_format *type)
{
    switch (type->kind) {
    case TN_FORMAT_BOOL:
        return "true or false";
    case TN_FORMAT_DATE32:
    case TN_FORMAT_DATE64:
        return "date as in 2024-05-12";
    case TN_FORMAT_TIME32:
    case TN_FORMAT_TIME64:
        return "time as in 10:03:08";
    case TN_FORMAT_TIMESTAMP:
        return "time as in 2024-05-12T10:03:08";
    case TN_FORMAT_DURATION:
        return "duration as in PT3.5S";
    case TN_FORMAT_FIXED_BINARY:
        return "UUID";
    default:
        return "number";
    }
}
