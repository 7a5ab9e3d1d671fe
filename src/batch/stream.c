/* Failures on their way through Arrow's stream interface, which knows an errno and a text.
 * I1: the status of a failure inside tarn survives the way out and in again: it stays in the
 *     context, and the errno is only what strangers see of it. */
#include "batch/stream.h"

#include <errno.h>
#include <string.h>

int tn_stream_status(tarn_cx *cx, struct ArrowArrayStream *rows, int error)
{
    const char *text;

    if (error == 0)
        return TARN_OK;
    if (tarn_cx_status(cx) != TARN_OK)
        return tarn_cx_status(cx);
    text = rows->get_last_error != NULL ? rows->get_last_error(rows) : NULL;
    return tn_fail(cx, TARN_E_IO, "the stream of rows failed: %s",
                   text != NULL ? text : strerror(error));
}

int tn_stream_fail(tarn_cx *cx, char text[TN_ERROR_TEXT_MAX])
{
    int status = tarn_cx_status(cx);

    memcpy(text, cx->text, TN_ERROR_TEXT_MAX);
    return status == TARN_E_NOMEM      ? ENOMEM
           : status == TARN_E_INVALID  ? EINVAL
           : status == TARN_E_NOTFOUND ? ENOENT
                                       : EIO;
}
