/* Between the Avro schema of a Hudi table and Arrow fields.
 *
 *   Arrow                      Avro
 *   bool                       boolean
 *   int8 int16 int32 uint8 uint16   int        (read: int32)
 *   int64 uint32               long            (read: int64)
 *   half float                 float
 *   double                     double
 *   utf8 large_utf8            string          (dictionaries: their values)
 *   binary large_binary fixed_size_binary   bytes   (read: binary; fixed without decimal:
 * fixed_size_binary) date32 (date64)            int date time32[ms] / time64[us]    int time-millis
 * / long time-micros timestamp[ms|us, zone]     long timestamp-millis / -micros   (read: zone
 * "UTC") timestamp[ms|us]           long local-timestamp-millis / -micros timestamp[s], [ns] as
 * [ms], [us]: the values are to be cast before decimal128/256(p, s)       fixed of the fewest
 * bytes, decimal(p, s); p up to 38 list large_list fixed_size_list   array map<utf8, V> map (other
 * keys: UNSUPPORTED) struct                     record null, uint64, duration, interval, unions
 * UNSUPPORTED naming the column
 */
#ifndef TN_CODEC_AVRO_ARROW_H
#define TN_CODEC_AVRO_ARROW_H

#include "codec/avro/avro_schema.h"
#include "tarn/batch.h"

/* The Arrow struct schema of a record; *out is the caller's. UNSUPPORTED naming the field for
 * unions of more than one type beside null. */
int tn_avro_arrow_of(tarn_cx *cx, const tn_avro_type *record, struct ArrowSchema *out);
/* Appends the Avro JSON of a table named `table`: record "<table>_record" in "hoodie.<table>",
 * nested names as Hudi makes them (format/avro.md), all fields that Arrow calls nullable as
 * ["null",T] with default null. With `meta` the five meta columns stand first. A table name's
 * characters that Avro forbids become "_" as in Hudi. */
int tn_avro_of_arrow(tarn_cx *cx, const struct ArrowSchema *schema, tn_str table, bool meta,
                     tn_buf *out);
/* The schema that arrays of `schema` are cast to before they are written (the "read" column above).
 */
int tn_avro_arrow_stored(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out);

#endif
