/* Which calendar the dates and times of a file count in. Spark before 3.0, and later ones when told
 * so, stored the hybrid calendar of old Java: Julian before 1582-10-15. The footer keys tell. */
#ifndef TN_PARQUET_CALENDAR_H
#define TN_PARQUET_CALENDAR_H

#include "codec/parquet/meta.h"

#define TN_CALENDAR_SPARK_VERSION "org.apache.spark.version"
#define TN_CALENDAR_SPARK_DATES   "org.apache.spark.legacyDateTime"
#define TN_CALENDAR_SPARK_INT96   "org.apache.spark.legacyINT96"
#define TN_CALENDAR_SPARK_ZONE    "org.apache.spark.timeZone"

/* Days since 1970-01-01: from GREGORIAN on both calendars agree, from ZONES on the two Java time
 * libraries agree on the offset of every zone, too. */
#define TN_CALENDAR_GREGORIAN (-141427) /* 1582-10-15 */
#define TN_CALENDAR_ZONES     (-25567)  /* 1900-01-01 */

enum tn_calendar { TN_CALENDAR_UNKNOWN, TN_CALENDAR_PROLEPTIC, TN_CALENDAR_HYBRID };
typedef struct tn_calendars {
    enum tn_calendar dates; /* of DATE and TIMESTAMP */
    enum tn_calendar int96;
    tn_str zone; /* of hybrid values */
} tn_calendars;

/* By the footer's keys and writer. `zone` points into `values`. */
tn_calendars tn_calendar_of(const tn_key_value *values, size_t count, tn_str created_by);
/* Whether days of this zone begin when those of UTC do, at all times. */
bool tn_calendar_zone_is_utc(tn_str zone);
/* The proleptic day of the same year, month and day. 29 February of a year that has none becomes
 * 1 March, as in Spark. */
int64_t tn_calendar_proleptic_day(int64_t hybrid_day);
/* The same for a time of `day_units` a day, whose days are those of UTC; false on overflow. */
bool tn_calendar_proleptic_time(int64_t hybrid, int64_t day_units, int64_t *out);

#endif
