/* Failures on their way through Arrow's stream interface, which knows an errno and a text.
 * I1: the status of a failure inside tarn survives the way out and in again: it stays in the
 *     context, and the errno is only what strangers see of it. */
#include "batch/stream.h"

#include <errno.h>
#include <string.h>

#include "batch/array.h"

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
    return status == TARN_E_NOMEM                              ? ENOMEM
           : status == TARN_E_INVALID || status == TARN_E_DATA ? EINVAL
           : status == TARN_E_NOTFOUND                         ? ENOENT
                                                               : EIO;
}

int tn_stream_next(tarn_cx *cx, struct ArrowArrayStream *rows, struct ArrowArray *out)
{
    int rc = TARN_OK;

    do {
        tn_array_release(out);
        TN_TRY(tn_cx_check(cx));
        tn_cx_forget(cx);
        TN_TRY(tn_stream_status(cx, rows, rows->get_next(rows, out)));
    } while (out->release != NULL && out->length == 0);
done:
    return rc;
}
