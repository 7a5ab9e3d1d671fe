/* interop_read_csv FILE [text [DELIMITER]]: reads a CSV file and prints its rows as NDJSON, with
 * the types of its sample or, given "text", every column as text. Exit 1 with the message on a
 * failure. */
#include <stdio.h>

#include "batch/array.h"
#include "codec/csv/csv_read.h"
#include "codec/ndjson/ndjson_write.h"
#include "io/store.h"

/* The same columns, all of them text. */
static int make_text(tarn_cx *cx, const struct ArrowSchema *from, struct ArrowSchema *out)
{
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, "+s", TN_STR(""), false, (size_t)from->n_children));
    for (int64_t i = 0; i < from->n_children; i++)
        TN_TRY(
            tn_field_init(cx, out->children[i], "u", tn_str_of(from->children[i]->name), true, 0));
done:
    return rc;
}

static int find_columns(tarn_cx *cx, tn_store *store, tn_str path,
                        const tn_text_read_options *options, struct ArrowSchema *out)
{
    struct ArrowSchema sample = {0};
    tn_feed *feed = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_feed_open_file(cx, store, path, &feed));
    TN_TRY(tn_csv_read_sample(cx, feed, options, &sample, NULL));
    TN_TRY(make_text(cx, &sample, out));
done:
    tn_field_release(&sample);
    tn_feed_close(feed);
    return rc;
}

static int print_rows(tarn_cx *cx, tn_csv_read *reader)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_ndjson_writer *writer = NULL;
    tn_buf out = {0};
    int64_t rows;
    int rc = TARN_OK;

    TN_TRY(tn_csv_read_schema(cx, reader, &schema));
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    do {
        TN_TRY(tn_csv_read_next(cx, reader, &batch));
        rows = batch.length;
        tn_buf_reset(&out);
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, rows, &out));
        fwrite(out.data, 1, out.len, stdout);
        tn_array_release(&batch);
    } while (rows != 0);
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
    tn_text_read_options options = {0};
    struct ArrowSchema schema = {0};
    tn_csv_read *reader = NULL;
    tn_store *store = NULL;
    tn_feed *feed = NULL;
    int rc = TARN_OK;

    if (argc < 2 || cx == NULL)
        return 2;
    options.delimiter = argc > 3 ? argv[3][0] : '\0';
    TN_TRY(tn_store_local_open(cx, &store));
    if (argc > 2) {
        TN_TRY(find_columns(cx, store, tn_str_of(argv[1]), &options, &schema));
        options.schema = &schema;
    }
    TN_TRY(tn_feed_open_file(cx, store, tn_str_of(argv[1]), &feed));
    TN_TRY(tn_csv_read_open(cx, feed, &options, &reader));
    TN_TRY(print_rows(cx, reader));
done:
    if (rc != TARN_OK)
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tn_csv_read_close(reader);
    tn_feed_close(feed);
    tn_store_close(store);
    tn_field_release(&schema);
    tarn_cx_close(cx);
    return rc != TARN_OK;
}
