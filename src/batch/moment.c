/* Dates and times between text and numbers.
 * I1: every int64 of every unit has a text; years beyond 0000 to 9999 carry a sign. */
#include "batch/moment.h"

#include <string.h>

int64_t tn_days_of(int64_t year, unsigned month, unsigned day)
{
    int64_t era, y = month <= 2 ? year - 1 : year;
    int64_t year_of_era, day_of_year, day_of_era;

    era = (y >= 0 ? y : y - 399) / 400;
    year_of_era = y - era * 400;
    day_of_year = (153 * (int64_t)(month + (month > 2 ? -3u : 9u)) + 2) / 5 + (int64_t)day - 1;
    day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

void tn_days_civil(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    unsigned day_of_era = (unsigned)(z - era * 146097);
    unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned m = (5 * day_of_year + 2) / 153;

    *day = day_of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = (int64_t)year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

static bool digit(tn_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* Exactly two digits at *at. */
static bool two(tn_str text, size_t *at, unsigned *out)
{
    if (!digit(text, *at) || !digit(text, *at + 1))
        return false;
    *out = (unsigned)(text.ptr[*at] - '0') * 10 + (unsigned)(text.ptr[*at + 1] - '0');
    *at += 2;
    return true;
}

static bool is_at(tn_str text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

static unsigned month_days(int64_t year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static bool parse_date(tn_str text, size_t *at, int64_t *days)
{
    bool sign = is_at(text, *at, '-') || is_at(text, *at, '+');
    bool negative = sign && text.ptr[*at] == '-';
    int64_t year = 0;
    unsigned month, day;
    size_t first;

    *at += sign;
    for (first = *at; digit(text, *at) && *at - first < 7; ++*at)
        year = year * 10 + (text.ptr[*at] - '0');
    if (*at - first < 4 || (*at - first > 4 && !sign) || !is_at(text, *at, '-'))
        return false;
    ++*at;
    if (!two(text, at, &month) || !is_at(text, *at, '-'))
        return false;
    ++*at;
    if (negative)
        year = -year;
    if (!two(text, at, &day) || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    *days = tn_days_of(year, month, day);
    return true;
}

/* HH:MM[:SS[.fraction]] */
static bool parse_time(tn_str text, size_t *at, int64_t *seconds, int32_t *nanos)
{
    unsigned hour, minute, second = 0;
    int32_t fraction = 0;
    int digits = 0;

    if (!two(text, at, &hour) || !is_at(text, *at, ':'))
        return false;
    ++*at;
    if (!two(text, at, &minute))
        return false;
    if (is_at(text, *at, ':')) {
        ++*at;
        if (!two(text, at, &second))
            return false;
        if (is_at(text, *at, '.')) {
            for (++*at; digit(text, *at) && digits < 9; ++*at, digits++)
                fraction = fraction * 10 + (text.ptr[*at] - '0');
            if (digits == 0)
                return false;
            while (is_at(text, *at, '0'))
                ++*at;
        }
    }
    for (; digits < 9; digits++)
        fraction *= 10;
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
    *nanos = fraction;
    return true;
}

/* Z, or ±HH, ±HHMM, ±HH:MM; nothing is fine too. */
static bool parse_zone(tn_str text, size_t *at, bool *has_zone, int64_t *offset_seconds)
{
    unsigned hours, minutes = 0;
    int64_t sign;

    *offset_seconds = 0;
    *has_zone = false;
    if (is_at(text, *at, ' '))
        ++*at;
    if (*at == text.len)
        return true;
    *has_zone = true;
    if (is_at(text, *at, 'Z') || is_at(text, *at, 'z')) {
        ++*at;
        return true;
    }
    if (!is_at(text, *at, '+') && !is_at(text, *at, '-'))
        return false;
    sign = text.ptr[*at] == '-' ? -1 : 1;
    ++*at;
    if (!two(text, at, &hours))
        return false;
    if (is_at(text, *at, ':'))
        ++*at;
    if (*at < text.len && !two(text, at, &minutes))
        return false;
    if (hours > 18 || minutes > 59)
        return false;
    *offset_seconds = sign * ((int64_t)hours * 3600 + (int64_t)minutes * 60);
    return true;
}

/* The number of two digits, or 100 and more. */
static inline unsigned pair(const char *at)
{
    unsigned tens = (unsigned)(uint8_t)at[0] - '0', ones = (unsigned)(uint8_t)at[1] - '0';

    return tens <= 9 && ones <= 9 ? tens * 10 + ones : 100;
}

/* The rest of a time as most people write it: nothing, a fraction, "Z". */
static bool parse_short_end(tn_str text, size_t at, tn_moment *out)
{
    int32_t nanos = 0;
    int digits = 0;

    if (is_at(text, at, '.')) {
        for (at++; digit(text, at) && digits < 9; at++, digits++)
            nanos = nanos * 10 + (text.ptr[at] - '0');
        if (digits == 0)
            return false;
        for (; digits < 9; digits++)
            nanos *= 10;
    }
    out->nanos = nanos;
    if (is_at(text, at, 'Z')) {
        out->has_zone = true;
        at++;
    }
    return at == text.len;
}

/* The common forms at once: "2024-05-12", "2024-05-12 10:00:00.5Z". False for all others. */
static bool parse_short(tn_str text, tn_moment *out)
{
    const char *t = text.ptr;
    unsigned century, year, month, day, hour, minute, second;
    int64_t seconds;

    if (text.len < 10 || t[4] != '-' || t[7] != '-')
        return false;
    century = pair(t);
    year = pair(t + 2);
    month = pair(t + 5);
    day = pair(t + 8);
    if (century > 99 || year > 99 || month - 1 > 11 || day - 1 > 27)
        return false; /* days that not every month has are checked elsewhere */
    seconds = tn_days_of(century * 100 + year, month, day) * 86400;
    if (text.len == 10) {
        *out = (tn_moment){.seconds = seconds};
        return true;
    }
    if (text.len < 19 || (t[10] != ' ' && t[10] != 'T') || t[13] != ':' || t[16] != ':')
        return false;
    hour = pair(t + 11);
    minute = pair(t + 14);
    second = pair(t + 17);
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    *out = (tn_moment){.seconds = seconds + hour * 3600 + minute * 60 + second, .has_time = true};
    return parse_short_end(text, 19, out);
}

bool tn_moment_parse(tn_str text, tn_moment *out)
{
    tn_moment moment = {0};
    int64_t days, seconds = 0, offset = 0;
    size_t at = 0;

    if (parse_short(text, &moment)) {
        *out = moment;
        return true;
    }
    moment = (tn_moment){0};
    if (!parse_date(text, &at, &days))
        return false;
    if (at < text.len) {
        if (text.ptr[at] != ' ' && text.ptr[at] != 'T' && text.ptr[at] != 't')
            return false;
        at++;
        if (!parse_time(text, &at, &seconds, &moment.nanos) ||
            !parse_zone(text, &at, &moment.has_zone, &offset))
            return false;
        moment.has_time = true;
    }
    if (at != text.len)
        return false;
    moment.seconds = days * 86400 + seconds - offset;
    *out = moment;
    return true;
}

bool tn_moment_parse_time(tn_str text, int64_t *nanos)
{
    size_t at = 0;
    int64_t seconds;
    int32_t fraction;

    if (!parse_time(text, &at, &seconds, &fraction) || at != text.len)
        return false;
    *nanos = seconds * 1000000000 + fraction;
    return true;
}

static char *put_two(char *to, unsigned value)
{
    to[0] = (char)('0' + value / 10);
    to[1] = (char)('0' + value % 10);
    return to + 2;
}

/* At least `width` digits. */
static char *put_digits(char *to, uint64_t value, int width)
{
    char text[20];
    int n = 0;

    while (value > 0 || n < width) {
        text[n++] = (char)('0' + value % 10);
        value /= 10;
    }
    while (n > 0)
        *to++ = text[--n];
    return to;
}

size_t tn_moment_write_date(int64_t days, char *out)
{
    int64_t year;
    unsigned month, day;
    char *to = out;

    tn_days_civil(days, &year, &month, &day);
    if (year < 0 || year > 9999)
        *to++ = year < 0 ? '-' : '+';
    to = put_digits(to, (uint64_t)(year < 0 ? -year : year), 4);
    *to++ = '-';
    to = put_two(to, month);
    *to++ = '-';
    to = put_two(to, day);
    return (size_t)(to - out);
}

static int64_t power10(int digits)
{
    int64_t value = 1;

    while (digits-- > 0)
        value *= 10;
    return value;
}

static char *put_time(char *to, uint64_t seconds, uint64_t fraction, int digits)
{
    to = put_digits(to, seconds / 3600, 2);
    *to++ = ':';
    to = put_two(to, (unsigned)(seconds / 60 % 60));
    *to++ = ':';
    to = put_two(to, (unsigned)(seconds % 60));
    if (digits > 0) {
        *to++ = '.';
        to = put_digits(to, fraction, digits);
    }
    return to;
}

size_t tn_moment_write(int64_t value, int digits, bool utc, char *out)
{
    int64_t unit = power10(digits), seconds = value / unit, fraction = value % unit, days;
    char *to = out;

    if (fraction < 0) {
        fraction += unit;
        seconds--;
    }
    days = seconds / 86400;
    seconds %= 86400;
    if (seconds < 0) {
        seconds += 86400;
        days--;
    }
    to += tn_moment_write_date(days, to);
    *to++ = 'T';
    to = put_time(to, (uint64_t)seconds, (uint64_t)fraction, digits);
    if (utc)
        *to++ = 'Z';
    return (size_t)(to - out);
}

size_t tn_moment_write_time(int64_t value, int digits, char *out)
{
    uint64_t unit = (uint64_t)power10(digits);
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *to = out;

    if (value < 0)
        *to++ = '-';
    return (size_t)(put_time(to, size / unit, size % unit, digits) - out);
}
