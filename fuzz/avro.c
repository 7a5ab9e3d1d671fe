/* Avro files: any bytes are read; what is read is printed, encoded, mapped to columns, and comes
 * back the same. */
#include <stdlib.h>
#include <string.h>

#include "batch/field.h"
#include "codec/avro/avro_arrow.h"
#include "codec/avro/avro_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static __attribute__((noinline)) void fail(void)
{
    abort();
}

/* Printed and parsed again a schema means the same, and prints the same. */
static void check_schema(tarn_cx *cx, const tn_avro_type *root)
{
    tn_avro_schema again = {0};
    struct ArrowSchema columns = {0}, stored = {0};
    tn_buf text = {0}, twice = {0};

    tn_avro_print(&text, root);
    /* JSON has no NUL in a text here, and names of fields may be anything. */
    if (tn_avro_schema_parse(cx, tn_buf_view(&text), "again", &again) == TARN_OK) {
        tn_avro_print(&twice, again.root);
        if (!tn_str_equal(tn_buf_view(&text), tn_buf_view(&twice)))
            fail();
        if (root->weight < 1000 && !tn_avro_same(root, again.root))
            fail();
    }
    if (root->weight < 1000 && tn_avro_arrow_of(cx, root, &columns) == TARN_OK) {
        tn_buf_reset(&text);
        if (tn_avro_arrow_stored(cx, &columns, &stored) == TARN_OK)
            (void)tn_avro_of_arrow(cx, &columns, TN_STR("t"), true, &text);
    }
    tn_field_release(&columns);
    tn_field_release(&stored);
    tn_avro_schema_clear(&again);
    tn_buf_clear(&text);
    tn_buf_clear(&twice);
}

static void check_record(tarn_cx *cx, const tn_avro_type *root, const tn_avro_value *record)
{
    tn_buf bytes = {0}, twice = {0}, text = {0};
    tn_json json = tn_json_to(&text);
    tn_arena arena = {0};
    tn_avro_value again;
    size_t used;

    tn_avro_to_json(&json, record);
    /* A union of one kind of branch twice may be encoded as the other one: then once more. */
    if (tn_avro_encode(cx, root, record, &bytes) == TARN_OK) {
        if (tn_avro_decode(cx, root, tn_buf_view(&bytes), &arena, &used, &again) != TARN_OK ||
            used != bytes.len)
            fail();
        if (tn_avro_encode(cx, root, &again, &twice) != TARN_OK ||
            !tn_str_equal(tn_buf_view(&bytes), tn_buf_view(&twice)))
            fail();
    }
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tn_buf_clear(&twice);
    tn_buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_avro_file file = {0};

    if (cx == NULL)
        return 0;
    if (tn_avro_file_read(cx, (tn_str){(const char *)data, size}, TN_STR("input"), &file) ==
        TARN_OK) {
        check_schema(cx, file.schema.root);
        for (size_t i = 0; i < file.record_count && i < 100; i++)
            check_record(cx, file.schema.root, &file.records[i]);
        tn_avro_file_clear(&file);
    } else if (tarn_cx_error(cx)[0] == '\0') {
        fail();
    }
    tarn_cx_close(cx);
    return 0;
}
