/* Streams of rows that tarn reads, or hands out: what their callbacks return, and what that means.
 */
#ifndef TN_BATCH_STREAM_H
#define TN_BATCH_STREAM_H

#include "base/context.h"
#include "tarn/batch.h"

/* What a callback of `rows` returned, as a status. The text is the one it left in `cx` already (a
 * stream of tarn's own does), else the stream's own, else that of the errno. */
int tn_stream_status(tarn_cx *cx, struct ArrowArrayStream *rows, int error);
/* Inside a callback that fails: keeps the text of `cx` for get_last_error, and gives the errno to
 * return. */
int tn_stream_fail(tarn_cx *cx, char text[TN_ERROR_TEXT_MAX]);
/* The next batch that has rows; *out stays released at the end. What it held before is released.
 * CANCELLED where the caller asked to stop. */
int tn_stream_next(tarn_cx *cx, struct ArrowArrayStream *rows, struct ArrowArray *out);

#endif
