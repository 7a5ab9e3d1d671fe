/* Text files as streams: formats by name and by bytes, packings, and failures of the store. */
#include "unit/test.h"

#include "batch/type.h"
#include "codec/ndjson/ndjson_write.h"
#include "exec/exec_input.h"
#include "io/store_fault.h"
#include "io/store_memory.h"

/* {"a":1} and a line feed */
#define GZIP_A_1                                                                                   \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x54\xb2\x32\xac\xe5\x02\x00\x46\xa3\xe8" \
    "\x74\x08\x00\x00\x00"

static void test_exec_input__endings(void **state)
{
    static const struct {
        const char *path;
        enum tn_input_format want;
    } cases[] = {{"/a.csv", TN_INPUT_CSV},
                 {"/a.CSV", TN_INPUT_CSV},
                 {"/a.tsv.gz", TN_INPUT_CSV},
                 {"/a.ndjson", TN_INPUT_NDJSON},
                 {"/a.jsonl.zst", TN_INPUT_NDJSON},
                 {"/a.json.GZ", TN_INPUT_NDJSON},
                 {"/a.parquet", TN_INPUT_PARQUET},
                 {"/a.snappy.parquet", TN_INPUT_PARQUET},
                 {"/a", TN_INPUT_AUTO},
                 {"/csv", TN_INPUT_AUTO},
                 {".csv", TN_INPUT_AUTO},
                 {"/a.gz", TN_INPUT_AUTO},
                 {"/a.csv.bak", TN_INPUT_AUTO}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tn_exec_input_ending(tn_str_of(cases[i].path)) != cases[i].want)
            fail_msg("%s", cases[i].path);
}

static int read_path(tarn_cx *cx, tn_store *store, const char *path, enum tn_input_format format,
                     const tn_text_read_options *options, tn_buf *out)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_ndjson_writer *writer = NULL;
    int rc = TARN_OK;

    tn_buf_reset(out);
    TN_TRY(tn_exec_input_open(cx, store, tn_str_of(path), format, options, &stream));
    if (stream.get_schema(&stream, &schema) != 0)
        TN_TRY(tarn_cx_status(cx));
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0) {
            rc = tarn_cx_status(cx);
            assert_string_equal(stream.get_last_error(&stream), tarn_cx_error(cx));
            break;
        }
        if (batch.release == NULL)
            break;
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, batch.length, out));
        tn_array_release(&batch);
    }
done:
    tn_buf_u8(out, 0);
    tn_array_release(&batch);
    tn_ndjson_writer_close(writer);
    tn_field_release(&schema);
    if (stream.release != NULL)
        stream.release(&stream);
    return rc;
}

static void test_exec_input__by_bytes(void **state)
{
    static const struct {
        const char *path;
        tn_str bytes;
        enum tn_input_format format;
        int status;
        const char *want; /* rows, or a part of the text */
    } cases[] = {
        {"/lines", TN_STR("\xEF\xBB\xBF\n {\"a\":1}\n"), TN_INPUT_AUTO, TARN_OK, "{\"a\":1}\n"},
        {"/array", TN_STR("[{\"a\":1}]"), TN_INPUT_AUTO, TARN_OK, "{\"a\":1}\n"},
        {"/packed", TN_STR(GZIP_A_1), TN_INPUT_AUTO, TARN_OK, "{\"a\":1}\n"},
        {"/packed.csv.gz", TN_STR("a,b\n1,2\n"), TN_INPUT_AUTO, TARN_OK, "{\"a\":1,\"b\":2}\n"},
        {"/table", TN_STR("a,b\n1,x\n"), TN_INPUT_AUTO, TARN_OK, "{\"a\":1,\"b\":\"x\"}\n"},
        {"/tabs.tsv", TN_STR("a\tb\n1\tx\n"), TN_INPUT_AUTO, TARN_OK, "{\"a\":1,\"b\":\"x\"}\n"},
        {"/one", TN_STR("a\n1\n"), TN_INPUT_AUTO, TARN_E_INVALID, "say it with --format"},
        {"/one", TN_STR("a\n1\n"), TN_INPUT_CSV, TARN_OK, "{\"a\":1}\n"},
        {"/noise", TN_STR("\x01\x02,\x03"), TN_INPUT_AUTO, TARN_E_INVALID, "/noise: neither"},
        {"/x.json", TN_STR("a,b\n1,x\n"), TN_INPUT_AUTO, TARN_E_DATA, "/x.json: line 1"},
        {"/x.json", TN_STR("a,b\n1,x\n"), TN_INPUT_CSV, TARN_OK, "{\"a\":1,\"b\":\"x\"}\n"},
        {"/p", TN_STR("PAR1....PAR1"), TN_INPUT_AUTO, TARN_E_UNSUPPORTED, "give it as a file"},
        {"/empty.ndjson", TN_STR(""), TN_INPUT_AUTO, TARN_OK, ""},
        {"/empty", TN_STR(""), TN_INPUT_AUTO, TARN_OK, ""},
        {"/cut.ndjson.gz", (tn_str){GZIP_A_1, 20}, TN_INPUT_AUTO, TARN_E_CORRUPT,
         "/cut.ndjson.gz: byte 20 of the packed file"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_store *store = NULL;
        int rc;

        assert_ok(cx, tn_store_memory_open(cx, &store));
        assert_ok(cx, tn_store_put(cx, store, tn_str_of(cases[i].path), cases[i].bytes));
        rc = read_path(cx, store, cases[i].path, cases[i].format, NULL, &out);
        if (rc != cases[i].status)
            fail_msg("%s: %s", cases[i].path, tarn_cx_error(cx));
        if (rc == TARN_OK)
            assert_string_equal((char *)out.data, cases[i].want);
        else if (strstr(tarn_cx_error(cx), cases[i].want) == NULL)
            fail_msg("%s: %s", cases[i].path, tarn_cx_error(cx));
        tn_store_close(store);
    }
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

/* The n-th call of the store fails, for every n: a status with text, and nothing leaks. */
static void test_exec_input__store_fails(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_store *memory = NULL;
    tn_buf text = {0}, out = {0};
    uint64_t calls = 1;

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &memory));
    for (int i = 0; i < 60000; i++)
        tn_buf_print(&text, "{\"a\":%d}\n", i);
    assert_ok(cx, tn_store_put(cx, memory, TN_STR("/a"), tn_buf_view(&text)));
    for (uint64_t n = 0; n <= calls; n++) {
        tn_fault_plan plan = {.fail_at = n};
        tn_store *store = NULL;

        assert_ok(cx, tn_store_fault_open(cx, memory, &plan, &store));
        if (n == 0) {
            assert_ok(cx, read_path(cx, store, "/a", TN_INPUT_AUTO, NULL, &out));
            calls = tn_store_fault_calls(store);
            assert_true(calls >= 4);
        } else {
            assert_fails(cx, TARN_E_IO, NULL,
                         read_path(cx, store, "/a", TN_INPUT_AUTO, NULL, &out));
        }
        tn_store_close(store);
    }
    tn_store_close(memory);
    tn_buf_clear(&text);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}
