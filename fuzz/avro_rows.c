/* Avro records into columns: a schema, a NUL, then records, each behind a byte that is its length.
 * Any bytes end in a status; what comes out is a sound array, the same read whole or read while
 * every other column is skipped. */
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "codec/avro/avro_arrow.h"
#include "codec/avro/avro_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static __attribute__((noinline)) void fail(void)
{
    abort();
}

/* Reads all records; the rows taken, or -1. */
static int64_t read_all(tarn_cx *cx, const tn_avro_type *writer, const struct ArrowSchema *columns,
                        tn_str records)
{
    struct ArrowArray array = {0};
    tn_avro_rows *rows = NULL;
    int64_t count = -1;

    if (tn_avro_rows_open(cx, writer, columns, TN_STR("input"), &rows) != TARN_OK)
        return -1;
    while (records.len > 0) {
        size_t len = (uint8_t)records.ptr[0];

        records = tn_str_from(records, 1);
        len = len < records.len ? len : records.len;
        (void)tn_avro_rows_add(cx, rows, (tn_str){records.ptr, len});
        records = tn_str_from(records, len);
        if (tn_avro_rows_bytes(rows) > (16u << 20))
            break;
    }
    count = tn_avro_rows_count(rows);
    if (tn_avro_rows_take(cx, rows, &array) == TARN_OK) {
        if (array.length != count || tn_array_check(cx, columns, &array) != TARN_OK)
            fail();
        tn_array_release(&array);
    }
    if (tn_avro_rows_count(rows) != 0)
        fail();
    tn_avro_rows_close(rows);
    return count;
}

/* Every other column of `all`. */
static int pick(tarn_cx *cx, const struct ArrowSchema *all, struct ArrowSchema *out)
{
    int rc = tn_field_init(cx, out, "+s", TN_STR(""), false, (size_t)(all->n_children / 2));

    for (int64_t i = 0; rc == TARN_OK && i < all->n_children / 2; i++)
        rc = tn_field_copy(cx, all->children[2 * i + 1], out->children[i]);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    struct ArrowSchema columns = {0}, some = {0};
    tn_str input = {(const char *)data, size}, text;
    tn_avro_schema schema = {0};

    if (cx == NULL)
        return 0;
    text = (tn_str){input.ptr, tn_str_find(input, '\0')};
    if (tn_avro_schema_parse(cx, text, "input", &schema) == TARN_OK) {
        tn_str records = tn_str_from(input, text.len + 1);

        if (schema.root->weight < 1000 && tn_avro_arrow_of(cx, schema.root, &columns) == TARN_OK) {
            int64_t whole = read_all(cx, schema.root, &columns, records);

            /* A record that is read whole is also skipped whole. */
            if (pick(cx, &columns, &some) == TARN_OK && whole >= 0 && whole < 1000 &&
                read_all(cx, schema.root, &some, records) < whole)
                fail();
        }
        tn_avro_schema_clear(&schema);
    } else if (tarn_cx_error(cx)[0] == '\0') {
        fail();
    }
    tn_field_release(&columns);
    tn_field_release(&some);
    tarn_cx_close(cx);
    return 0;
}
