/* Avro files: the page's example, what we write, packed blocks, damage. */
#include "unit/hex.h"

#include "codec/avro/avro_file.h"
#include "codec/zip/zip.h"

static const char schema_text[] = "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\","
                                  "\"type\":[\"null\",\"string\"],"
                                  "\"default\":null},{\"name\":\"n\",\"type\":\"long\"}]}";

/* A file of one record {"a": "x", "n": 7}. */
static tn_buf make_file(tarn_cx *cx)
{
    tn_str names[] = {TN_STR("n"), TN_STR("a")};
    tn_avro_value items[] = {{.kind = TN_AVRO_LONG, .as.i = 7},
                             {.kind = TN_AVRO_STRING, .as.text = {"x", 1}}};
    tn_avro_value record = {.kind = TN_AVRO_RECORD, .as.many = {names, items, 2}};
    tn_avro_schema schema = {0};
    tn_buf out = {0};

    assert_ok(cx, tn_avro_schema_parse(cx, TN_STR(schema_text), "test", &schema));
    assert_ok(cx, tn_avro_file_write(cx, TN_STR(schema_text), schema.root, &record, &out));
    tn_avro_schema_clear(&schema);
    return out;
}

static void test_avro_file__round_trips(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.seed = 1});
    tn_buf bytes = make_file(cx), other = make_file(cx);
    tn_avro_file file = {0};

    (void)state;
    assert_memory_equal(bytes.data,
                        "Obj\x01\x02\x16"
                        "avro.schema",
                        17);
    assert_memory_not_equal(bytes.data + bytes.len - 16, other.data + other.len - 16, 16);
    assert_ok(cx, tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
    assert_int_equal(file.record_count, 1);
    assert_int_equal(tn_avro_i64(tn_avro_member(file.records, "n"), 0), 7);
    assert_true(tn_str_is(tn_avro_text(tn_avro_member(file.records, "a")), "x"));
    tn_avro_file_clear(&file);
    tn_buf_clear(&bytes);
    tn_buf_clear(&other);
    tarn_cx_close(cx);
}

static void test_avro_file__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("avro.md", "avro-file");
    tn_avro_file file = {0};

    (void)state;
    assert_ok(cx, tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("page"), &file));
    assert_int_equal(file.record_count, 2);
    assert_true(tn_str_is(tn_avro_text(tn_avro_member(&file.records[0], "s")), "abc"));
    assert_int_equal(tn_avro_member(&file.records[0], "n")->as.many.count, 1);
    assert_null(tn_avro_member(&file.records[1], "s"));
    assert_int_equal(tn_avro_member(&file.records[1], "n")->as.many.count, 0);
    tn_avro_file_clear(&file);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

/* Every cut of a file is a status, and so is every flipped bit that is not in data. */
static void test_avro_file__cut(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = make_file(cx);
    size_t header = bytes.len - 16 - 4 - 2; /* sync, record, two longs */

    (void)state;
    for (size_t len = 0; len < bytes.len; len++) {
        uint8_t *copy = malloc(len + 1);
        tn_avro_file file = {0};
        int rc;

        memcpy(copy, bytes.data, len);
        rc = tn_avro_file_read(cx, (tn_str){(char *)copy, len}, TN_STR("some/file.commit"), &file);
        if (len == header) {
            /* A header without blocks is a file of no records. */
            assert_ok(cx, rc);
            assert_int_equal(file.record_count, 0);
        } else {
            assert_fails(cx, TARN_E_CORRUPT, "some/file.commit: ", rc);
        }
        tn_avro_file_clear(&file);
        free(copy);
    }
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_avro_file__damage(void **state)
{
    static const struct {
        const char *hex;
        int status;
        const char *part;
    } cases[] = {
        {"", TARN_E_CORRUPT, "t: the file is empty"},
        {"7B 7D 00 00", TARN_E_CORRUPT, "t: byte 0: not an Avro file"},
        {"4F 62 6A 01 00 00000000000000000000000000000000", TARN_E_CORRUPT, "without avro.schema"},
        {"4F 62 6A 01 FE FF 03", TARN_E_CORRUPT, "more than 1,000 keys"},
        /* avro.schema {, no JSON */
        {"4F 62 6A 01 02 16 6176726F2E736368656D61 02 7B 00 00000000000000000000000000000000",
         TARN_E_CORRUPT, "damaged header: t: line 1"},
        /* avro.codec snappy */
        {"4F 62 6A 01 02 14 6176726F2E636F646563 0C 736E61707079 00", TARN_E_UNSUPPORTED,
         "codec \"snappy\""},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_avro_file file = {0};
    tn_buf bytes;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes = hex_of(cases[i].hex);
        assert_fails(cx, cases[i].status, cases[i].part,
                     tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
        tn_buf_clear(&bytes);
    }
    bytes = make_file(cx);
    bytes.data[bytes.len - 1] ^= 1;
    assert_fails(cx, TARN_E_CORRUPT, "does not end with the file's mark",
                 tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

/* Two blocks of longs, packed by deflate (one stored, one with fixed codes). */
static void test_avro_file__deflate(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of("4F 62 6A 01 04 16 6176726F2E736368656D61 0C 226C6F6E6722"
                          "14 6176726F2E636F646563 0E 6465666C617465 00"
                          "00112233445566778899AABBCCDDEEFF"
                          "04 0E 01 02 00 FD FF 06 36 00112233445566778899AABBCCDDEEFF"
                          "02 06 0B 01 00 00112233445566778899AABBCCDDEEFF");
    tn_avro_file file = {0};

    (void)state;
    assert_ok(cx, tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
    assert_int_equal(file.record_count, 3);
    assert_int_equal(file.records[0].as.i, 3);
    assert_int_equal(file.records[1].as.i, 27);
    assert_int_equal(file.records[2].as.i, 42);
    tn_avro_file_clear(&file);
    bytes.data[bytes.len - 16 - 3] = 0xFF; /* of the last block */
    assert_fails(cx, TARN_E_CORRUPT, "t: a block that ends at byte",
                 tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

/* Blocks of nothing: each is within bounds, all of them are not. */
static void test_avro_file__bounds_all_blocks_together(void **state)
{
    static const char *const block = "80 F1 04 00 00112233445566778899AABBCCDDEEFF"; /* 40,000 */
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_avro_file file = {0};
    tn_buf bytes = hex_of("4F 62 6A 01 02 16 6176726F2E736368656D61 0C 226E756C6C22 00"
                          "00112233445566778899AABBCCDDEEFF");

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tn_buf more = hex_of(block);

        tn_buf_str(&bytes, tn_buf_view(&more));
        tn_buf_clear(&more);
        if (i == 0) {
            assert_ok(cx, tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
            assert_int_equal(file.record_count, 40000);
            tn_avro_file_clear(&file);
        }
    }
    assert_fails(cx, TARN_E_LIMIT, "t: more than 65,536 records",
                 tn_avro_file_read(cx, tn_buf_view(&bytes), TN_STR("t"), &file));
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

/* What records before made counts for the next. */
static void test_avro_file__bounds_values_of_all_records(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of("06 00 00 00 00"); /* three longs */
    uint64_t values = TN_AVRO_ITEMS_MAX - 4;
    tn_avro_schema schema = {0};
    tn_avro_value value;
    tn_arena arena = {0};
    size_t used;

    (void)state;
    assert_ok(cx, tn_avro_schema_parse(cx, TN_STR("{\"type\":\"array\",\"items\":\"long\"}"), "t",
                                       &schema));
    assert_ok(cx, tn_avro_decode_next(cx, schema.root, tn_buf_view(&bytes), &arena, &values, &used,
                                      &value));
    assert_int_equal(values, TN_AVRO_ITEMS_MAX);
    assert_fails(
        cx, TARN_E_LIMIT, "more values than tarn reads",
        tn_avro_decode_next(cx, schema.root, tn_buf_view(&bytes), &arena, &values, &used, &value));
    assert_int_equal(values, TN_AVRO_ITEMS_MAX);
    tn_avro_schema_clear(&schema);
    tn_arena_clear(&arena);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}
