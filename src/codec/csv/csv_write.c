/* Arrow batches as CSV.
 *     id,name,note
 *     7,"a ""b"", c",
 * I1: a field is quoted when it is empty text, holds a comma, quote, CR or LF, or begins or ends
 *     with a space; so null and empty text stay apart. */
#include "codec/csv/csv_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "batch/text.h"
#include "codec/ndjson/ndjson_write.h"

struct tn_csv_writer {
    const struct ArrowSchema *schema;
    tn_ndjson_writer *json; /* of nested values and dictionaries */
    tn_text_type *columns;
    size_t column_count;
};

int tn_csv_writer_open(tarn_cx *cx, const struct ArrowSchema *schema, tn_csv_writer **out)
{
    tn_csv_writer *writer = tn_calloc(cx, 1, sizeof *writer);
    int rc = TARN_OK;

    if (writer == NULL)
        return TARN_E_NOMEM;
    writer->schema = schema;
    writer->column_count = (size_t)schema->n_children;
    writer->columns = tn_calloc(cx, writer->column_count, sizeof *writer->columns);
    if (writer->columns == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < writer->column_count; i++)
        TN_TRY(tn_text_type_of(cx, schema->children[i], &writer->columns[i]));
    TN_TRY(tn_ndjson_writer_open(cx, schema, &writer->json));
    *out = writer;
    writer = NULL;
done:
    tn_csv_writer_close(writer);
    return rc;
}

void tn_csv_writer_close(tn_csv_writer *writer)
{
    if (writer == NULL)
        return;
    tn_ndjson_writer_close(writer->json);
    free(writer->columns);
    free(writer);
}

static bool needs_quotes(tn_str text)
{
    if (text.len == 0 || text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ')
        return true;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == ',' || text.ptr[i] == '"' || text.ptr[i] == '\n' || text.ptr[i] == '\r')
            return true;
    return false;
}

static void put_field(tn_buf *out, tn_str text)
{
    if (!needs_quotes(text)) {
        tn_buf_str(out, text);
        return;
    }
    tn_buf_u8(out, '"');
    while (text.len > 0) {
        size_t run = tn_str_find(text, '"');

        tn_buf_add(out, text.ptr, run);
        if (run < text.len)
            tn_buf_add(out, "\"\"", 2);
        text = tn_str_from(text, run + 1);
    }
    tn_buf_u8(out, '"');
}

int tn_csv_writer_header(tarn_cx *cx, const tn_csv_writer *writer, tn_buf *out)
{
    for (size_t i = 0; i < writer->column_count; i++) {
        if (i > 0)
            tn_buf_u8(out, ',');
        put_field(out, tn_str_of(writer->schema->children[i]->name));
    }
    tn_buf_u8(out, '\n');
    return tn_buf_check(cx, out);
}

/* Nested values and dictionaries go through JSON; a JSON string that comes out is its text again.
 */
static int put_json(tarn_cx *cx, const tn_csv_writer *writer, const struct ArrowArray *batch,
                    size_t column, int64_t at, tn_buf *out)
{
    tn_buf json = {0};
    tn_str text;
    int rc = TARN_OK;

    TN_TRY(tn_ndjson_writer_value(cx, writer->json, batch, column, at, &json));
    text = tn_buf_view(&json);
    if (!tn_str_is(text, "null"))
        put_field(out, text);
done:
    tn_buf_clear(&json);
    return rc;
}

static void put_scalar(const tn_text_type *of, const struct ArrowArray *array, int64_t at,
                       tn_buf *out)
{
    enum tn_text_form form;
    size_t len;

    if (tn_text_is_utf8(of->type.kind)) {
        put_field(out, tn_rows_bytes(&of->type, array, at));
        return;
    }
    if (!tn_buf_reserve(out, TN_TEXT_BYTES_MAX))
        return;
    len = tn_text_write(of, array, at, (char *)out->data + out->len, &form);
    if (form == TN_TEXT_BYTES) {
        tn_buf text = {0};
        tn_json json = tn_json_to(&text);

        tn_json_base64(&json, tn_rows_bytes(&of->type, array, at));
        out->failed |= text.failed;
        if (!text.failed)
            put_field(out, (tn_str){(char *)text.data + 1, text.len - 2});
        tn_buf_clear(&text);
    } else {
        out->len += len;
    }
}

static int put_column(tarn_cx *cx, const tn_csv_writer *writer, const struct ArrowArray *batch,
                      size_t column, int64_t row, tn_buf *out)
{
    const tn_text_type *of = &writer->columns[column];
    const struct ArrowArray *array = batch->children[column];
    int64_t at = array->offset + batch->offset + row;

    if (of->type.kind == TN_TYPE_NULL || tn_rows_is_null(array, at))
        return TARN_OK;
    if (of->type.dictionary) {
        const struct ArrowArray *values = array->dictionary;
        int64_t index = tn_rows_integer(of->type.index, array, at);

        if (index < 0 || index >= values->length || of->type.kind >= TN_TYPE_LIST)
            return put_json(cx, writer, batch, column, row, out);
        if (of->type.kind != TN_TYPE_NULL && !tn_rows_is_null(values, values->offset + index))
            put_scalar(of, values, values->offset + index, out);
        return TARN_OK;
    }
    if (of->type.kind >= TN_TYPE_LIST)
        return put_json(cx, writer, batch, column, row, out);
    put_scalar(of, array, at, out);
    return TARN_OK;
}

int tn_csv_writer_rows(tarn_cx *cx, const tn_csv_writer *writer, const struct ArrowArray *batch,
                       int64_t first, int64_t rows, tn_buf *out)
{
    int rc = TARN_OK;

    for (int64_t i = first; i < first + rows; i++) {
        for (size_t c = 0; c < writer->column_count; c++) {
            if (c > 0)
                tn_buf_u8(out, ',');
            TN_TRY(put_column(cx, writer, batch, c, i, out));
        }
        tn_buf_u8(out, '\n');
    }
    TN_TRY(tn_buf_check(cx, out));
done:
    return rc;
}
