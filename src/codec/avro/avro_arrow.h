/* Between the Avro schema of a Hudi table and Arrow fields.
 *
 *   Arrow, as it comes                    Avro                                Arrow, as it is
 * stored bool                                  boolean                             bool int8 int16
 * int32 uint8 uint16         int                                 int32 int64 uint32 long int64 half
 * float, float                     float                               float double double double
 *   utf8 large_utf8                       string                              utf8
 *   binary large_binary fixed_binary      bytes                               binary
 *   date32 date64                         int date                            date32
 *   time32[s] time32[ms]                  int time-millis                     time32[ms]
 *   time64[us] time64[ns]                 long time-micros                    time64[us]
 *   timestamp[s|ms, zone]                 long timestamp-millis               timestamp[ms, UTC]
 *   timestamp[us|ns, zone]                long timestamp-micros               timestamp[us, UTC]
 *   timestamp[s|ms]                       long local-timestamp-millis         timestamp[ms]
 *   timestamp[us|ns]                      long local-timestamp-micros         timestamp[us]
 *   decimal(p, s), p up to 38             fixed of the fewest bytes, decimal  decimal128(p, s)
 *   list large_list fixed_size_list       array                               list
 *   map<utf8, V>                          map                                 map<utf8, V>
 *   struct                                record                              struct
 *   a dictionary                          what its values are                 what its values are
 *
 * Also read: fixed without decimal as fixed_size_binary, decimal on bytes, enum and uuid as utf8.
 * UNSUPPORTED naming the column: null, uint64, duration, interval, unions, maps with other keys.
 */
#ifndef TN_CODEC_AVRO_ARROW_H
#define TN_CODEC_AVRO_ARROW_H

#include "codec/avro/avro_schema.h"
#include "tarn/batch.h"

/* The Arrow struct schema of a record; *out is the caller's. UNSUPPORTED naming the field for
 * unions of more than one type beside null. */
int tn_avro_arrow_of(tarn_cx *cx, const tn_avro_type *record, struct ArrowSchema *out);
/* Appends the Avro JSON of a table named `table`: record "<table>_record" in "hoodie.<table>",
 * nested names as Hudi makes them (docs/format/avro.md), all fields that Arrow calls nullable as
 * ["null",T] with default null. With `meta` the five meta columns stand first. Of the table's name
 * each character that Avro forbids becomes "__", as in Hudi; a column with such a name is INVALID.
 */
int tn_avro_of_arrow(tarn_cx *cx, const struct ArrowSchema *schema, tn_str table, bool meta,
                     tn_buf *out);
/* The schema that arrays of `schema` are cast to before they are written (the last column above).
 */
int tn_avro_arrow_stored(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out);

#endif
