/* Time zones.
 *
 * A TZif file has two blocks; the second, of 64-bit times, is what is read: after its header of 44
 * bytes ("TZif", version, 15 unused, six counts) come the transition times (8 bytes each), the type
 * of each (1), the types (int32 offset, uint8 summer, uint8 name), names and leap seconds; then a
 * line with the rule for the time after the last transition: "CET-1CEST,M3.5.0,M10.5.0/3".
 *
 * I1: times[] ascends; offset i holds from times[i] on, `first` before times[0].
 * I2: after the last transition the rule decides, where there is one. */
#include "base/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"

#define ZONE_DIR        "/usr/share/zoneinfo"
#define FILE_BYTES_MAX  (1u << 20)
#define NAME_BYTES_MAX  128
#define HEADER_BYTES    44
#define DAY             86400
#define OFFSET_MAX      (18 * 3600)
#define OFFSET_FILE_MAX (26 * 3600)

/* When a rule changes, within a year. */
typedef struct change {
    enum { BY_WEEKDAY, BY_DAY_WITHOUT_LEAP, BY_DAY } how;
    int month, week, day; /* week 5: the last */
    int32_t time;         /* seconds after midnight, by the clock before the change */
} change;

struct tn_zone {
    char name[NAME_BYTES_MAX + 1];
    size_t count;
    int64_t *times;
    int32_t *offsets;
    int32_t first;
    bool has_rule, has_summer;
    int32_t standard, summer;
    change to_summer, to_standard;
};

/* A reader of the rule's text. */
typedef struct rule_text {
    const char *at, *end;
    bool bad;
} rule_text;

static bool take(rule_text *in, char c)
{
    if (in->at >= in->end || *in->at != c)
        return false;
    in->at++;
    return true;
}

static int take_number(rule_text *in, int max)
{
    int value = 0, digits = 0;

    while (in->at < in->end && *in->at >= '0' && *in->at <= '9' && digits < 4) {
        value = value * 10 + (*in->at++ - '0');
        digits++;
    }
    if (digits == 0 || value > max)
        in->bad = true;
    return in->bad ? 0 : value;
}

/* "[+-]h[h][:mm[:ss]]" in seconds. */
static int32_t take_time(rule_text *in, int hours_max)
{
    bool minus = take(in, '-');
    int32_t seconds;

    if (!minus)
        take(in, '+');
    seconds = take_number(in, hours_max) * 3600;
    if (take(in, ':'))
        seconds += take_number(in, 59) * 60;
    if (take(in, ':'))
        seconds += take_number(in, 59);
    return minus ? -seconds : seconds;
}

static void skip_name(rule_text *in)
{
    const char *from = in->at;

    if (take(in, '<')) {
        while (in->at < in->end && *in->at != '>')
            in->at++;
        in->bad |= !take(in, '>');
        return;
    }
    while (in->at < in->end && ((*in->at | 32) >= 'a' && (*in->at | 32) <= 'z'))
        in->at++;
    in->bad |= in->at - from < 3;
}

static change take_change(rule_text *in)
{
    change out = {.time = 2 * 3600};

    if (take(in, 'M')) {
        out.how = BY_WEEKDAY;
        out.month = take_number(in, 12);
        in->bad |= !take(in, '.') || out.month == 0;
        out.week = take_number(in, 5);
        in->bad |= !take(in, '.') || out.week == 0;
        out.day = take_number(in, 6);
    } else if (take(in, 'J')) {
        out.how = BY_DAY_WITHOUT_LEAP;
        out.day = take_number(in, 365);
        in->bad |= out.day == 0;
    } else {
        out.how = BY_DAY;
        out.day = take_number(in, 365);
    }
    if (take(in, '/'))
        out.time = take_time(in, 167);
    return out;
}

static bool parse_rule(tn_zone *zone, tn_str text)
{
    rule_text in = {text.ptr, text.ptr, false};

    if (text.len == 0)
        return true;
    in.end += text.len;
    skip_name(&in);
    zone->standard = -take_time(&in, 25);
    if (in.at < in.end) {
        skip_name(&in);
        zone->summer = zone->standard + 3600;
        if (in.at < in.end && *in.at != ',')
            zone->summer = -take_time(&in, 25);
        in.bad |= !take(&in, ',');
        zone->to_summer = take_change(&in);
        in.bad |= !take(&in, ',');
        zone->to_standard = take_change(&in);
        zone->has_summer = true;
    }
    zone->has_rule = !in.bad;
    return !in.bad && in.at == in.end;
}

static int32_t file_u32(tn_cursor *in)
{
    return (int32_t)__builtin_bswap32(tn_cursor_u32le(in));
}

/* Counts of a header: UT marks, standard marks, leap seconds, times, types, characters. */
static bool parse_header(tn_cursor *in, uint32_t counts[6])
{
    tn_str magic = tn_cursor_take(in, 4);

    tn_cursor_take(in, HEADER_BYTES - 4 - 24);
    for (int i = 0; i < 6; i++) {
        counts[i] = (uint32_t)file_u32(in);
        if (counts[i] > FILE_BYTES_MAX)
            return false;
    }
    return !in->failed && tn_str_is(magic, "TZif");
}

static size_t block_bytes(const uint32_t counts[6], size_t time)
{
    return counts[3] * (time + 1) + counts[4] * 6u + counts[5] + counts[2] * (time + 4) +
           counts[1] + counts[0];
}

static bool parse_types(tn_zone *zone, tn_cursor *in, const uint8_t *types, uint32_t count)
{
    for (uint32_t t = 0; t < count; t++) {
        int32_t offset = file_u32(in);

        tn_cursor_take(in, 2);
        if (in->failed || offset > OFFSET_FILE_MAX || offset < -OFFSET_FILE_MAX)
            return false;
        if (t == 0)
            zone->first = offset;
        for (size_t i = 0; i < zone->count; i++)
            if (types[i] == t)
                zone->offsets[i] = offset;
    }
    for (size_t i = 0; i < zone->count; i++)
        if (types[i] >= count || (i > 0 && zone->times[i] <= zone->times[i - 1]))
            return false;
    return count > 0;
}

/* False when it is no TZif file of version 2 or later. */
static int parse_file(tarn_cx *cx, tn_zone *zone, tn_str bytes, bool *good)
{
    tn_cursor in = tn_cursor_of(bytes.ptr, bytes.len);
    const uint8_t *times, *types;
    uint32_t counts[6];
    tn_str rule;
    int rc = TARN_OK;

    *good = false;
    if (!parse_header(&in, counts))
        goto done;
    tn_cursor_take(&in, block_bytes(counts, 4));
    if (!parse_header(&in, counts) || block_bytes(counts, 8) > tn_cursor_left(&in))
        goto done;
    zone->count = counts[3];
    times = tn_cursor_bytes(&in, (size_t)counts[3] * 8);
    types = tn_cursor_bytes(&in, counts[3]);
    zone->times = tn_calloc(cx, zone->count + 1, sizeof *zone->times);
    zone->offsets = tn_calloc(cx, zone->count + 1, sizeof *zone->offsets);
    if (zone->times == NULL || zone->offsets == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < zone->count; i++) {
        uint64_t raw;

        memcpy(&raw, times + 8 * i, sizeof raw);
        zone->times[i] = (int64_t)__builtin_bswap64(raw);
    }
    if (!parse_types(zone, &in, types, counts[4]))
        goto done;
    tn_cursor_take(&in, block_bytes(counts, 8) - (size_t)counts[3] * 9 - (size_t)counts[4] * 6);
    tn_cursor_take(&in, 1);
    if (in.failed)
        goto done;
    rule = tn_cursor_take(&in, tn_cursor_left(&in));
    rule.len = tn_str_find(rule, '\n');
    *good = parse_rule(zone, rule);
done:
    return rc;
}

/* Reads the whole file; an empty buffer when there is none. */
static int read_file(tarn_cx *cx, tn_str name, tn_buf *out)
{
    const char *dir = getenv("TZDIR");
    char path[1024];
    FILE *file;
    uint8_t *to;
    int rc = TARN_OK;

    if (dir == NULL || dir[0] == '\0')
        dir = ZONE_DIR;
    if (snprintf(path, sizeof path, "%s/%.*s", dir, TN_STR_ARG(name)) >= (int)sizeof path)
        goto done;
    file = fopen(path, "rbe");
    if (file == NULL)
        goto done;
    to = tn_buf_extend(out, FILE_BYTES_MAX);
    out->len = to != NULL ? fread(to, 1, FILE_BYTES_MAX, file) : 0;
    fclose(file);
    TN_TRY(tn_buf_check(cx, out));
done:
    return rc;
}

/* Names below the directory of zones, and none above it. */
static bool is_name(tn_str name)
{
    if (name.len == 0 || name.len > NAME_BYTES_MAX || name.ptr[0] == '/')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') &&
            strchr("/_+-", c) == NULL)
            return false;
    }
    return true;
}

static int two_digits(const char *at)
{
    return at[0] >= '0' && at[0] <= '9' && at[1] >= '0' && at[1] <= '9'
               ? (at[0] - '0') * 10 + (at[1] - '0')
               : -1;
}

/* "+8", "+08", "+08:00", "+0800". */
static bool parse_offset(tn_str text, int32_t *out)
{
    int hours, minutes = 0;
    char sign = text.len > 0 ? text.ptr[0] : '\0';

    if ((sign != '+' && sign != '-') || text.len < 2 || text.len > 6)
        return false;
    text = tn_str_from(text, 1);
    if (text.len == 1 || text.ptr[1] == ':') {
        hours = text.ptr[0] >= '0' && text.ptr[0] <= '9' ? text.ptr[0] - '0' : -1;
        text = tn_str_from(text, 1);
    } else {
        hours = two_digits(text.ptr);
        text = tn_str_from(text, 2);
    }
    if (text.len > 0 && text.ptr[0] == ':')
        text = tn_str_from(text, 1);
    else if (text.len == 1)
        return false;
    if (text.len != 0)
        minutes = text.len == 2 ? two_digits(text.ptr) : -1;
    if (hours < 0 || minutes < 0 || minutes > 59 || hours * 3600 + minutes * 60 > OFFSET_MAX)
        return false;
    *out = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return true;
}

static bool is_fixed(tn_str name, int32_t *offset)
{
    *offset = 0;
    if (tn_str_is(name, "UTC") || tn_str_is(name, "GMT") || tn_str_is(name, "Z") ||
        tn_str_is(name, "UT"))
        return true;
    if (tn_str_starts(name, TN_STR("GMT")))
        return parse_offset(tn_str_from(name, 3), offset);
    return parse_offset(name, offset);
}

static int zone_make(tarn_cx *cx, tn_str name, tn_zone **out)
{
    tn_zone *zone = tn_calloc(cx, 1, sizeof *zone);

    if (zone == NULL)
        return TARN_E_NOMEM;
    memcpy(zone->name, name.ptr, name.len);
    *out = zone;
    return TARN_OK;
}

int tn_zone_open_fixed(tarn_cx *cx, int32_t seconds, tn_zone **out)
{
    uint32_t size = seconds < 0 ? 0 - (uint32_t)seconds : (uint32_t)seconds;
    char name[16] = "UTC";

    if (seconds != 0)
        snprintf(name, sizeof name, "%c%02u:%02u", seconds < 0 ? '-' : '+', size / 3600 % 100,
                 size / 60 % 60);
    if (zone_make(cx, tn_str_of(name), out) != TARN_OK)
        return TARN_E_NOMEM;
    (*out)->first = seconds;
    return TARN_OK;
}

int tn_zone_parse(tarn_cx *cx, tn_str name, tn_str bytes, tn_zone **out)
{
    tn_zone *zone = NULL;
    bool good = false;
    int rc = TARN_OK;

    if (name.len > NAME_BYTES_MAX)
        name.len = NAME_BYTES_MAX;
    TN_TRY(zone_make(cx, name, &zone));
    TN_TRY(parse_file(cx, zone, bytes, &good));
    if (!good)
        TN_FAIL(TARN_E_CORRUPT,
                "the system's file of the time zone \"%.*s\" is damaged; install tzdata again",
                TN_STR_ARG(name));
    *out = zone;
    zone = NULL;
done:
    tn_zone_close(zone);
    return rc;
}

int tn_zone_open(tarn_cx *cx, tn_str name, tn_zone **out)
{
    tn_buf bytes = {0};
    int32_t offset;
    int rc = TARN_OK;

    if (is_fixed(name, &offset)) {
        TN_TRY(tn_zone_open_fixed(cx, offset, out));
        goto done;
    }
    if (!is_name(name))
        TN_FAIL(TARN_E_INVALID,
                "\"%.*s\" is no time zone; write UTC, an offset as GMT+02:00, or a region as "
                "Europe/Berlin",
                TN_STR_ARG(name));
    TN_TRY(read_file(cx, name, &bytes));
    if (bytes.len == 0)
        TN_FAIL(TARN_E_INVALID,
                "the system has no time zone \"%.*s\"; write UTC, an offset as GMT+02:00, or a "
                "region as Europe/Berlin (package tzdata)",
                TN_STR_ARG(name));
    TN_TRY(tn_zone_parse(cx, name, tn_buf_view(&bytes), out));
done:
    tn_buf_clear(&bytes);
    return rc;
}

void tn_zone_close(tn_zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->times);
    free(zone->offsets);
    free(zone);
}

tn_str tn_zone_name(const tn_zone *zone)
{
    return tn_str_of(zone->name);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to January 1st. */
static int64_t year_start(int64_t year)
{
    int64_t y = year - 1;
    int64_t leaps = (y >= 0 ? y / 4 : (y - 3) / 4) - (y >= 0 ? y / 100 : (y - 99) / 100) +
                    (y >= 0 ? y / 400 : (y - 399) / 400);

    return (year - 1970) * 365 + leaps - 477;
}

static int64_t year_of(int64_t seconds)
{
    int64_t days = seconds >= 0 ? seconds / DAY : (seconds - DAY + 1) / DAY;
    int64_t year = 1970 + days / 366;

    while (year_start(year + 1) <= days)
        year++;
    while (year_start(year) > days)
        year--;
    return year;
}

/* Local seconds of the change, by the clock before it. */
static int64_t change_at(const change *c, int64_t year)
{
    static const int starts[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int64_t day = year_start(year);
    int64_t first, last;

    if (c->how == BY_DAY)
        return (day + c->day) * DAY + c->time;
    if (c->how == BY_DAY_WITHOUT_LEAP)
        return (day + c->day - 1 + (is_leap(year) && c->day > 59)) * DAY + c->time;
    first = day + starts[c->month - 1] + (is_leap(year) && c->month > 2);
    last = day + starts[c->month] + (is_leap(year) && c->month > 1) - 1;
    /* 1970-01-01 was a Thursday. */
    first += (c->day - (first % 7 + 11) % 7 + 7) % 7;
    first += (c->week - 1) * 7;
    while (first > last)
        first -= 7;
    return first * DAY + c->time;
}

static int32_t rule_offset(const tn_zone *zone, int64_t seconds)
{
    int64_t year, summer, standard;
    bool is_summer;

    if (!zone->has_summer)
        return zone->standard;
    year = year_of(seconds + zone->standard);
    summer = change_at(&zone->to_summer, year) - zone->standard;
    standard = change_at(&zone->to_standard, year) - zone->summer;
    if (summer < standard)
        is_summer = seconds >= summer && seconds < standard;
    else
        is_summer = seconds >= summer || seconds < standard;
    return is_summer ? zone->summer : zone->standard;
}

int32_t tn_zone_offset(const tn_zone *zone, int64_t seconds)
{
    size_t low = 0, high = zone->count;

    if (zone->has_rule && (zone->count == 0 || seconds >= zone->times[zone->count - 1]))
        return rule_offset(zone, seconds);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (zone->times[middle] <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? zone->first : zone->offsets[low - 1];
}

bool tn_zone_offset_local(const tn_zone *zone, int64_t seconds, int32_t *offset)
{
    /* No zone changes twice within a day: these two hold before and after any change nearby. */
    int32_t before = tn_zone_offset(zone, seconds - DAY);
    int32_t after = tn_zone_offset(zone, seconds + DAY);

    if (tn_zone_offset(zone, seconds - before) == before) {
        *offset = before;
        return true;
    }
    *offset = after;
    return tn_zone_offset(zone, seconds - after) == after;
}
