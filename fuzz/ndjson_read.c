/* Any bytes as NDJSON: the same rows and the same end however the feed cuts them, whole arrays, and
 * rows that read back from what they are written as. The first byte chooses: bit 0 a sample of one
 * record, bit 1 bad records go aside, bit 2 an array's type for the column "a" is given, the rest
 * the step. */
#include <stdlib.h>

#include "batch/array.h"
#include "codec/ndjson/ndjson_read.h"
#include "codec/ndjson/ndjson_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static int pass(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    (void)cx;
    must(bad->reason[0] != '\0' && bad->line > 0);
    ++*(uint64_t *)arg;
    return TARN_OK;
}

static int read_all(tarn_cx *cx, tn_str text, size_t step, const tn_text_read_options *options,
                    tn_buf *out, struct ArrowSchema *schema)
{
    tn_ndjson_writer *writer = NULL;
    tn_ndjson_read *reader = NULL;
    struct ArrowArray batch = {0};
    tn_feed *feed = NULL;
    int rc = TARN_OK;

    must(tn_feed_open_memory(cx, text.ptr, text.len, step, TN_STR("x"), &feed) == TARN_OK);
    TN_TRY(tn_ndjson_read_open(cx, feed, options, &reader));
    must(tn_ndjson_read_schema(cx, reader, schema) == TARN_OK);
    must(tn_ndjson_writer_open(cx, schema, &writer) == TARN_OK);
    for (;;) {
        TN_TRY(tn_ndjson_read_next(cx, reader, &batch));
        if (batch.length == 0)
            break;
        must(tn_array_check(cx, schema, &batch) == TARN_OK);
        must(tn_ndjson_writer_rows(cx, writer, &batch, 0, batch.length, out) == TARN_OK);
        tn_array_release(&batch);
    }
done:
    must(rc == TARN_OK || tarn_cx_error(cx)[0] != '\0');
    tn_array_release(&batch);
    tn_ndjson_writer_close(writer);
    tn_ndjson_read_close(reader);
    tn_feed_close(feed);
    return rc;
}

static void give_schema(tarn_cx *cx, struct ArrowSchema *out)
{
    must(tn_field_init(cx, out, "+s", TN_STR(""), false, 1) == TARN_OK);
    must(tn_field_init(cx, out->children[0], "+l", TN_STR("a"), true, 1) == TARN_OK);
    must(tn_field_init(cx, out->children[0]->children[0], "d:20,3", TN_STR("item"), true, 0) ==
         TARN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20});
    uint8_t flags = size > 0 ? data[0] : 0;
    tn_str text = {(const char *)data + (size > 0), size - (size > 0)};
    struct ArrowSchema given = {0}, first = {0}, second = {0}, third = {0};
    uint64_t bad[3] = {0};
    tn_text_read_options options = {.sample_bytes = (flags & 1) != 0,
                                    .reject = (flags & 2) != 0 ? pass : NULL,
                                    .reject_arg = &bad[0],
                                    .batch_rows = 1 + (flags >> 6)};
    tn_buf whole = {0}, cut = {0}, again = {0};
    int rc;

    must(cx != NULL);
    give_schema(cx, &given);
    options.schema = (flags & 4) != 0 ? &given : NULL;
    /* A sample of one record ends where the first chunk does. */
    if (options.schema == NULL)
        options.sample_bytes = 0;
    rc = read_all(cx, text, 0, &options, &whole, &first);
    options.reject_arg = &bad[1];
    must(read_all(cx, text, 1 + (flags >> 3), &options, &cut, &second) == rc);
    must(bad[0] == bad[1] && tn_str_equal(tn_buf_view(&whole), tn_buf_view(&cut)));
    /* What was written is good, and says the same under the same schema. */
    options.reject = NULL;
    if (first.release != NULL)
        options.schema = &first;
    if (options.schema != NULL && first.n_children != 0) {
        must(read_all(cx, tn_buf_view(&whole), 0, &options, &again, &third) == TARN_OK);
        must(tn_str_equal(tn_buf_view(&whole), tn_buf_view(&again)));
    }
    tn_buf_clear(&whole);
    tn_buf_clear(&cut);
    tn_buf_clear(&again);
    tn_field_release(&given);
    tn_field_release(&first);
    tn_field_release(&second);
    tn_field_release(&third);
    tarn_cx_close(cx);
    return 0;
}
