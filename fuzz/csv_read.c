/* CSV: any bytes, under options that the first three bytes choose, give batches that fit their
 * schema, or a status with text; and the same however the bytes are cut.
 *     byte 0: delimiter and flags; byte 1: rows of a batch; byte 2: bytes of a sample */
#include <stdlib.h>
#include <string.h>

#include "codec/csv/csv_read.h"
#include "codec/ndjson/ndjson_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD_BYTES 3

static __attribute__((noinline)) void fail(void)
{
    abort();
}

static int reject(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    (void)cx;
    if (bad->line == 0 || bad->reason == NULL || bad->reason[0] == '\0')
        fail();
    tn_buf_print(arg, "%llu,%llu: %s [", (unsigned long long)bad->line,
                 (unsigned long long)bad->column_number, bad->reason);
    tn_buf_str(arg, bad->record);
    tn_buf_text(arg, "]\n");
    return TARN_OK;
}

static int read_batches(tarn_cx *cx, tn_csv_read *reader, int64_t batch_rows, tn_buf *out)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_ndjson_writer *writer = NULL;
    int64_t rows;
    int rc = TARN_OK;

    TN_TRY(tn_csv_read_schema(cx, reader, &schema));
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    do {
        TN_TRY(tn_csv_read_next(cx, reader, &batch));
        rows = batch.length;
        if (rows > batch_rows || tn_array_check(cx, &schema, &batch) != TARN_OK)
            fail();
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, rows, out));
        tn_array_release(&batch);
    } while (rows != 0);
done:
    tn_array_release(&batch);
    tn_ndjson_writer_close(writer);
    tn_field_release(&schema);
    return rc;
}

static void run(tarn_cx *cx, const tn_text_read_options *given, tn_str text, size_t step,
                tn_buf *out)
{
    tn_text_read_options options = *given;
    tn_csv_read *reader = NULL;
    tn_feed *feed = NULL;
    int rc = TARN_OK;

    options.reject_arg = out;
    TN_TRY(tn_feed_open_memory(cx, text.ptr, text.len, step, TN_STR("f"), &feed));
    TN_TRY(tn_csv_read_open(cx, feed, &options, &reader));
    TN_TRY(read_batches(cx, reader, options.batch_rows, out));
done:
    if (rc != TARN_OK && tarn_cx_error(cx)[0] == '\0')
        fail();
    if (rc != TARN_OK)
        tn_buf_text(out, tarn_cx_error(cx));
    tn_csv_read_close(reader);
    tn_feed_close(feed);
}

static void make_schema(tarn_cx *cx, struct ArrowSchema *out)
{
    static const struct {
        const char *name, *format;
    } fields[] = {{"a", "i"},   {"b", "d:9,2"}, {"c", "tsm:UTC"}, {"d", "u"},  {"e", "z"},
                  {"f", "tdD"}, {"g", "b"},     {"h", "e"},       {"i", "ttu"}};
    enum { COUNT = sizeof fields / sizeof fields[0] };

    if (tn_field_init(cx, out, "+s", TN_STR(""), false, COUNT) != TARN_OK)
        abort();
    for (size_t i = 0; i < COUNT; i++)
        if (tn_field_init(cx, out->children[i], fields[i].format, tn_str_of(fields[i].name), i != 3,
                          0) != TARN_OK)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {',', ';', '\t', 'a'};
    tn_text_read_options options = {0};
    struct ArrowSchema schema = {0};
    tn_buf whole = {0}, cut = {0};
    tarn_cx *cx;
    tn_str text;

    if (size < HEAD_BYTES)
        return 0;
    cx = tarn_cx_open(NULL);
    if (cx == NULL)
        abort();
    text = (tn_str){(const char *)data + HEAD_BYTES, size - HEAD_BYTES};
    options.delimiter = delimiters[data[0] & 3];
    options.no_header = (data[0] & 4) != 0;
    options.schema_open = (data[0] & 8) != 0;
    if ((data[0] & 16) != 0) {
        make_schema(cx, &schema);
        options.schema = &schema;
    }
    if ((data[0] & 32) != 0)
        options.null = TN_STR("NA");
    if ((data[0] & 64) != 0)
        options.reject = reject;
    options.batch_rows = 1 + data[1];
    options.sample_bytes = 1 + data[2];
    run(cx, &options, text, 0, &whole);
    run(cx, &options, text, 1 + data[1] % 13, &cut);
    if (!tn_str_equal(tn_buf_view(&whole), tn_buf_view(&cut)))
        fail();
    tn_buf_clear(&whole);
    tn_buf_clear(&cut);
    tn_field_release(&schema);
    tarn_cx_close(cx);
    return 0;
}
