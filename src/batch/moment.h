/* Dates and times between text and numbers: the proleptic Gregorian calendar, ISO 8601. */
#ifndef TN_BATCH_MOMENT_H
#define TN_BATCH_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct tn_moment {
    int64_t seconds; /* since 1970-01-01T00:00:00 */
    int32_t nanos;   /* 0 to 999,999,999 */
    bool has_time;   /* false: a date alone */
    bool has_zone;   /* a zone was written; seconds are then UTC */
} tn_moment;

/* "2024-05-12", "2024-05-12 10:00", "2024-05-12T10:00:00.5Z", "… +02:00"; years of more digits
 * carry a sign. False when it is none. */
bool tn_moment_parse(tn_str text, tn_moment *out);
/* "10:00", "10:00:00.123456789" as nanoseconds of the day. */
bool tn_moment_parse_time(tn_str text, int64_t *nanos);

int64_t tn_days_of(int64_t year, unsigned month, unsigned day);
void tn_days_civil(int64_t days, int64_t *year, unsigned *month, unsigned *day);

/* The writers give the number of bytes written, at most 48, without a NUL. */
size_t tn_moment_write_date(int64_t days, char *out);
/* `value` in units of 10^-digits seconds since 1970: "2024-05-12T10:00:00.000", with "Z" when utc.
 */
size_t tn_moment_write(int64_t value, int digits, bool utc, char *out);
/* Of the day, or a signed number of hours beyond it: "10:00:00.000". */
size_t tn_moment_write_time(int64_t value, int digits, char *out);

#endif
