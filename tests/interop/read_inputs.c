/* interop_read_inputs [--reject] [--where CONDITION] INPUT…: prints the rows of all inputs as
 * NDJSON, as a write takes them in; with --reject one line "rejected: LINE REASON" on standard
 * error for each bad record, else exit 1 with the message of the first. */
#include <stdio.h>

#include "batch/array.h"
#include "codec/ndjson/ndjson_write.h"
#include "op/input.h"

static int reject(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    (void)cx;
    (void)arg;
    fprintf(stderr, "rejected: %llu %s\n", (unsigned long long)bad->line, bad->reason);
    return TARN_OK;
}

static int print_rows(tarn_cx *cx, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_ndjson_writer *writer = NULL;
    tn_buf out = {0};
    int rc = TARN_OK;

    if (stream->get_schema(stream, &schema) != 0)
        return tarn_cx_status(cx);
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    for (;;) {
        if (stream->get_next(stream, &batch) != 0)
            TN_TRY(tarn_cx_status(cx));
        if (batch.release == NULL)
            break;
        tn_buf_reset(&out);
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, batch.length, &out));
        fwrite(out.data, 1, out.len, stdout);
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_buf_clear(&out);
    tn_ndjson_writer_close(writer);
    tn_field_release(&schema);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_input_options options = {0};
    struct ArrowArrayStream stream = {0};
    int first = 1, rc = TARN_OK;

    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++)
        if (strcmp(argv[first], "--reject") == 0)
            options.text.reject = reject;
        else if (strcmp(argv[first], "--where") == 0 && first + 1 < argc)
            options.where = argv[++first];
    if (cx == NULL || first == argc)
        return 2;
    options.paths = (const char *const *)argv + first;
    options.path_count = (size_t)(argc - first);
    TN_TRY(tn_input_open(cx, &options, &stream));
    rc = print_rows(cx, &stream);
    stream.release(&stream);
done:
    if (rc != TARN_OK)
        fprintf(stderr, "%s: %s\n", tarn_status_name(rc), tarn_cx_error(cx));
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}
