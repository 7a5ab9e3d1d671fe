/* Hudi's timestamp-based key generator (TimestampBasedAvroKeyGenerator, HoodieDateTimeParser).
 * I1: zone `timezone`, where set, is that of input and output. Without an output zone numbers are
 *     printed in the zone of the process, texts in the one they were read in: that of the settings,
 *     else the offset in the text, else that of the process.
 * I2: a null is the number 1 of the unit; of texts, the first millisecond of 1970. */
#include "batch/path_time.h"

#include <stdlib.h>
#include <string.h>

#include "batch/joda.h"

#define PATTERNS_MAX 32

struct tn_path_time {
    tn_arena arena;
    bool text;
    int64_t multiply, divide; /* a number to milliseconds */
    tn_joda patterns[PATTERNS_MAX];
    size_t pattern_count;
    tn_joda output;
    tn_zone *input_zone, *output_zone, *process_zone; /* the first two NULL: none */
};

/* Java's TimeZone.getTimeZone takes what it does not know for GMT; here it is refused. */
static int open_zone(tarn_cx *cx, tn_str name, tn_zone **out)
{
    int rc = TARN_OK;

    while (name.len > 0 && name.ptr[0] == ' ')
        name = tn_str_from(name, 1);
    while (name.len > 0 && name.ptr[name.len - 1] == ' ')
        name.len--;
    if (name.len == 0)
        goto done;
    if (name.ptr[0] == '+' || name.ptr[0] == '-')
        TN_FAIL(TARN_E_INVALID,
                "the time zone \"%.*s\" of the key generator is GMT to Hudi; write GMT%.*s",
                TN_STR_ARG(name), TN_STR_ARG(name));
    TN_TRY(tn_zone_open(cx, name, out));
done:
    return rc;
}

static int set_scalar(tarn_cx *cx, tn_path_time *time, tn_str unit)
{
    static const struct unit {
        const char *name;
        int64_t multiply, divide;
    } units[] = {{"NANOSECONDS", 1, 1000000}, {"MICROSECONDS", 1, 1000}, {"MILLISECONDS", 1, 1},
                 {"SECONDS", 1000, 1},        {"MINUTES", 60000, 1},     {"HOURS", 3600000, 1},
                 {"DAYS", 86400000, 1}};
    char upper[16] = "SECONDS";
    int rc = TARN_OK;

    if (unit.len != 0 && unit.len < sizeof upper) {
        for (size_t i = 0; i < unit.len; i++)
            upper[i] =
                (char)(unit.ptr[i] >= 'a' && unit.ptr[i] <= 'z' ? unit.ptr[i] - 32 : unit.ptr[i]);
        upper[unit.len] = '\0';
    }
    for (size_t i = 0; unit.len < sizeof upper && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(upper, units[i].name) == 0) {
            time->multiply = units[i].multiply;
            time->divide = units[i].divide;
            goto done;
        }
    TN_FAIL(TARN_E_INVALID,
            "hoodie.keygen.timebased.timestamp.scalar.time.unit is \"%.*s\", and no unit of time; "
            "write SECONDS, MILLISECONDS, MICROSECONDS, NANOSECONDS, MINUTES, HOURS or DAYS",
            TN_STR_ARG(unit));
done:
    return rc;
}

static int set_patterns(tarn_cx *cx, tn_path_time *time, const tn_keygen_timebased *options)
{
    tn_str rest = options->input_format, delimiter = options->input_delimiter;
    int rc = TARN_OK;

    if (delimiter.len == 0)
        delimiter = TN_STR(",");
    if (delimiter.len > 1 || strchr("\\^$.|?*+()[]{}", delimiter.ptr[0]) != NULL)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "hoodie.keygen.timebased.input.dateformat.list.delimiter.regex is \"%.*s\"; tarn "
                "knows single characters only, not regular expressions",
                TN_STR_ARG(delimiter));
    if (rest.len == 0)
        TN_FAIL(TARN_E_INVALID, "hoodie.keygen.timebased.input.dateformat is not set, and times "
                                "that are text need it");
    while (rest.len != 0) {
        size_t end = tn_str_find(rest, delimiter.ptr[0]);
        tn_str one = {rest.ptr, end};

        rest = tn_str_from(rest, end + 1);
        while (one.len > 0 && one.ptr[0] == ' ')
            one = tn_str_from(one, 1);
        while (one.len > 0 && one.ptr[one.len - 1] == ' ')
            one.len--;
        if (time->pattern_count == PATTERNS_MAX)
            TN_FAIL(TARN_E_LIMIT,
                    "hoodie.keygen.timebased.input.dateformat has more than %d "
                    "patterns",
                    PATTERNS_MAX);
        TN_TRY(tn_joda_compile(cx, &time->arena, one, &time->patterns[time->pattern_count]));
        if (time->patterns[time->pattern_count].has_short_year)
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "the pattern \"%.*s\" reads years of two digits, whose century follows the "
                    "day it is read on; use yyyy",
                    TN_STR_ARG(one));
        time->pattern_count++;
    }
done:
    return rc;
}

static int set_zones(tarn_cx *cx, tn_path_time *time, const tn_keygen_timebased *options,
                     tn_str process_zone)
{
    bool one = options->zone.len != 0;
    int rc = TARN_OK;

    TN_TRY(open_zone(cx, one ? options->zone : options->input_zone, &time->input_zone));
    TN_TRY(open_zone(cx, one ? options->zone : options->output_zone, &time->output_zone));
    TN_TRY(tn_zone_open(cx, process_zone.len != 0 ? process_zone : TN_STR("UTC"),
                        &time->process_zone));
done:
    return rc;
}

int tn_path_time_open(tarn_cx *cx, const tn_keygen_timebased *options, tn_str process_zone,
                      tn_path_time **out)
{
    tn_path_time *time = tn_calloc(cx, 1, sizeof *time);
    int rc = TARN_OK;

    if (time == NULL)
        TN_TRY(TARN_E_NOMEM);
    time->multiply = time->divide = 1;
    switch (options->type) {
    case TN_KEYGEN_UNIX_TIMESTAMP:
        time->multiply = 1000;
        break;
    case TN_KEYGEN_EPOCH_MILLIS:
        break;
    case TN_KEYGEN_EPOCH_MICROS:
        time->divide = 1000;
        break;
    case TN_KEYGEN_SCALAR:
        TN_TRY(set_scalar(cx, time, options->scalar_unit));
        break;
    case TN_KEYGEN_DATE_STRING:
    case TN_KEYGEN_MIXED:
        time->text = true;
        TN_TRY(set_patterns(cx, time, options));
        break;
    default:
        TN_FAIL(TARN_E_INVALID, "hoodie.keygen.timebased.timestamp.type is not set, and a "
                                "timestamp-based key generator needs it");
    }
    if (options->output_format.len == 0)
        TN_FAIL(TARN_E_INVALID, "hoodie.keygen.timebased.output.dateformat is not set, and a "
                                "timestamp-based key generator needs it");
    TN_TRY(tn_joda_compile(cx, &time->arena, options->output_format, &time->output));
    TN_TRY(set_zones(cx, time, options, process_zone));
    *out = time;
    time = NULL;
done:
    tn_path_time_close(time);
    return rc;
}

void tn_path_time_close(tn_path_time *time)
{
    if (time == NULL)
        return;
    tn_zone_close(time->input_zone);
    tn_zone_close(time->output_zone);
    tn_zone_close(time->process_zone);
    tn_arena_clear(&time->arena);
    free(time);
}

bool tn_path_time_takes_text(const tn_path_time *time)
{
    return time->text;
}

void tn_path_time_millis(const tn_path_time *time, int64_t millis, tn_buf *out)
{
    tn_joda_print(&time->output, millis,
                  time->output_zone != NULL ? time->output_zone : time->process_zone, out);
}

/* TimeUnit.convert: towards zero, and the ends of the range where it does not fit. Dates beyond
 * what the calendar's arithmetic takes are cut there too. */
static int64_t to_millis(const tn_path_time *time, int64_t value)
{
    const int64_t most = INT64_MAX / 4;
    int64_t millis;

    if (__builtin_mul_overflow(value, time->multiply, &millis))
        millis = value < 0 ? -most : most;
    millis /= time->divide;
    return millis > most ? most : millis < -most ? -most : millis;
}

void tn_path_time_number(const tn_path_time *time, int64_t value, tn_buf *out)
{
    tn_path_time_millis(time, to_millis(time, value), out);
}

/* The instant of a local time in a zone; false where the clock skips it. */
static bool instant_of(int64_t local_ms, const tn_zone *zone, int64_t *millis)
{
    int64_t seconds = local_ms / 1000 - (local_ms % 1000 < 0);
    int32_t offset;

    if (!tn_zone_offset_local(zone, seconds, &offset))
        return false;
    *millis = local_ms - (int64_t)offset * 1000;
    return true;
}

bool tn_path_time_text(const tn_path_time *time, tn_str text, tn_buf *out)
{
    const tn_zone *zone = time->input_zone != NULL ? time->input_zone : time->process_zone;
    tn_joda_moment moment = {0};
    int64_t millis;
    bool found = false;

    for (size_t i = 0; i < time->pattern_count && !found; i++)
        found = tn_joda_parse(&time->patterns[i], text, &moment);
    if (!found)
        return false;
    if (moment.has_offset)
        millis = moment.local_ms - (int64_t)moment.offset * 1000;
    else if (!instant_of(moment.local_ms, zone, &millis))
        return false;
    if (time->output_zone != NULL) {
        zone = time->output_zone;
    } else if (moment.has_offset && time->input_zone == NULL) {
        tn_joda_print_at(&time->output, millis, moment.offset, out);
        return true;
    }
    tn_joda_print(&time->output, millis, zone, out);
    return true;
}

void tn_path_time_null(const tn_path_time *time, tn_buf *out)
{
    if (time->text)
        tn_path_time_millis(time, 1, out);
    else
        tn_path_time_number(time, 1, out);
}
