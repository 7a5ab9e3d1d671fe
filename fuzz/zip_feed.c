/* Any bytes as a packed input: the same bytes and the same end however the feed cuts them. The
 * first byte is the step. */
#include <stdlib.h>

#include "base/buf.h"
#include "codec/zip/zip_feed.h"

#define PLAIN_MAX (8u << 20) /* a bomb is left there */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static int unpack(tarn_cx *cx, tn_str packed, size_t step, tn_buf *out)
{
    tn_feed *memory = NULL, *feed = NULL;
    const uint8_t *bytes;
    size_t len = 1;
    int rc = TARN_OK;

    must(tn_feed_open_memory(cx, packed.ptr, packed.len, step, TN_STR("x"), &memory) == TARN_OK);
    TN_TRY(tn_zip_feed_open(cx, memory, &feed));
    memory = NULL;
    while (len != 0 && out->len < PLAIN_MAX) {
        TN_TRY(tn_feed_next(cx, feed, &bytes, &len));
        tn_buf_add(out, bytes, len);
    }
done:
    must(rc == TARN_OK || tarn_cx_error(cx)[0] != '\0');
    tn_feed_close(feed);
    tn_feed_close(memory);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 256 << 20});
    size_t step = size > 0 ? 1 + data[0] % 64 : 1;
    tn_str packed = {(const char *)data + (size > 0), size - (size > 0)};
    tn_buf whole = {0}, cut = {0};
    int rc;

    must(cx != NULL);
    rc = unpack(cx, packed, 0, &whole);
    must(unpack(cx, packed, step, &cut) == rc);
    /* A broken stream may have given more of what was whole before it was found broken. */
    must(rc != TARN_OK || whole.len >= PLAIN_MAX ||
         tn_str_equal(tn_buf_view(&whole), tn_buf_view(&cut)));
    tn_buf_clear(&whole);
    tn_buf_clear(&cut);
    tarn_cx_close(cx);
    return 0;
}
