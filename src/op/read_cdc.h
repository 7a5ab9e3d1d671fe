/* Change queries of a Hudi table. */
#ifndef TN_OP_READ_CDC_H
#define TN_OP_READ_CDC_H

#include "op/read_hudi.h"

/* `range` and `changes` of a reading whose timeline and latest slices are loaded. */
int tn_reading_changes(tarn_cx *cx, tn_reading *reading);
/* Whether the table logs its changes in this mode ("data_before_after"), which is that by default.
 */
bool tn_reading_cdc_mode(const tn_reading *reading, const char *mode);
/* Whether a read is a change query. */
bool tn_read_hudi_changes(const tn_read *read);
/* The stream of the changes, which owns `read` once this has succeeded. The columns of `read` are
 * all of the table's, the meta columns in front, and it has no condition: those of `options` are
 * for the rows of the stream. */
int tn_read_cdc_stream(tarn_cx *cx, tn_read *read, const tarn_read_options *options,
                       struct ArrowArrayStream *out);

#endif
