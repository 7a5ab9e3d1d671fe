/* Time zones: fixed offsets, and regions by the TZif files of the system (RFC 8536). Immutable once
 * open: any number of threads may ask. */
#ifndef TN_BASE_ZONE_H
#define TN_BASE_ZONE_H

#include "base/context.h"
#include "base/str.h"

typedef struct tn_zone tn_zone;

/* "UTC", "GMT", "Z", "GMT+8", "GMT-03:30", "+05:30", "-0800", "Europe/Berlin". INVALID for a name
 * that is none. The files are those below $TZDIR, else /usr/share/zoneinfo. */
int tn_zone_open(tarn_cx *cx, tn_str name, tn_zone **out);
/* From the bytes of a TZif file of version 2 or later; CORRUPT when they are none. */
int tn_zone_parse(tarn_cx *cx, tn_str name, tn_str bytes, tn_zone **out);
/* `seconds` east of UTC, at most 18 hours. */
int tn_zone_open_fixed(tarn_cx *cx, int32_t seconds, tn_zone **out);
void tn_zone_close(tn_zone *zone);
/* Seconds east of UTC at an instant (seconds since 1970). */
int32_t tn_zone_offset(const tn_zone *zone, int64_t seconds);
/* The offset by which a local time (seconds since 1970-01-01T00:00 on the clock) becomes an
 * instant: the earlier instant where the clock shows it twice. False when the clock skips it. */
bool tn_zone_offset_local(const tn_zone *zone, int64_t seconds, int32_t *offset);
/* The name as given: for the formats that print it. */
tn_str tn_zone_name(const tn_zone *zone);

#endif
