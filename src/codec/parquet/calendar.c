/* The hybrid calendar of old Java: Julian up to 1582-10-04, Gregorian from the next day,
 * 1582-10-15. I1: moving a value between the calendars keeps its year, month and day, and the order
 * of values.
 */
#include "codec/parquet/calendar.h"

#include <stdio.h>
#include <string.h>

#include "batch/moment.h"

/* Day number of 1970-01-01 counted from 1 March of the Julian year -4800. */
#define JULIAN_OF_1970 (2440588 + 32082)

static const tn_key_value *find(const tn_key_value *values, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (tn_str_is(values[i].key, key))
            return &values[i];
    return NULL;
}

/* Major and minor of "3.5.1" as 305; 0 where there is none. */
static unsigned version_of(const tn_key_value *value)
{
    unsigned major = 0, minor = 0;
    char text[32] = {0};

    if (value->value.len == 0)
        return 0;
    memcpy(text, value->value.ptr,
           value->value.len < sizeof text - 1 ? value->value.len : sizeof text - 1);
    sscanf(text, "%u.%u", &major, &minor);
    return major * 100 + minor;
}

tn_calendars tn_calendar_of(const tn_key_value *values, size_t count, tn_str created_by)
{
    static const char *const proleptic[] = {"parquet-cpp", "DuckDB", "parquet-rs", "Polars",
                                            "polars",      "tarn",   "Arrow2",     NULL};
    const tn_key_value *spark = find(values, count, TN_CALENDAR_SPARK_VERSION);
    const tn_key_value *zone = find(values, count, TN_CALENDAR_SPARK_ZONE);
    bool dates = find(values, count, TN_CALENDAR_SPARK_DATES) != NULL;
    bool int96 = find(values, count, TN_CALENDAR_SPARK_INT96) != NULL;
    tn_calendars out = {0};

    if (spark != NULL) {
        unsigned version = version_of(spark);

        out.dates = version < 300 || dates ? TN_CALENDAR_HYBRID : TN_CALENDAR_PROLEPTIC;
        out.int96 = version < 301 || int96 ? TN_CALENDAR_HYBRID : TN_CALENDAR_PROLEPTIC;
        if (zone != NULL)
            out.zone = zone->value;
        return out;
    }
    for (size_t i = 0; proleptic[i] != NULL; i++)
        if (tn_str_starts(created_by, tn_str_of(proleptic[i])))
            out.dates = out.int96 = TN_CALENDAR_PROLEPTIC;
    return out;
}

bool tn_calendar_zone_is_utc(tn_str zone)
{
    static const char *const names[] = {"UTC", "Etc/UTC", "GMT",     "Etc/GMT",   "Z",      "Zulu",
                                        "UCT", "GMT0",    "Etc/UCT", "Universal", "+00:00", NULL};

    for (size_t i = 0; names[i] != NULL; i++)
        if (tn_str_is(zone, names[i]))
            return true;
    return false;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t tn_calendar_proleptic_day(int64_t hybrid_day)
{
    int64_t day, year, month;

    if (hybrid_day >= TN_CALENDAR_GREGORIAN)
        return hybrid_day;
    /* Julian years that begin in March: 1461 days in four of them, 153 in five months. */
    day = hybrid_day + JULIAN_OF_1970;
    year = floor_div(4 * day + 3, 1461);
    day -= floor_div(1461 * year, 4);
    month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    return tn_days_of(year - 4800 + month / 10, (unsigned)(month + 3 - 12 * (month / 10)), 1) + day;
}

bool tn_calendar_proleptic_time(int64_t hybrid, int64_t day_units, int64_t *out)
{
    int64_t day = floor_div(hybrid, day_units), shift;

    if (day >= TN_CALENDAR_GREGORIAN) {
        *out = hybrid;
        return true;
    }
    shift = tn_calendar_proleptic_day(day) - day;
    return !__builtin_mul_overflow(shift, day_units, &shift) &&
           !__builtin_add_overflow(hybrid, shift, out);
}
