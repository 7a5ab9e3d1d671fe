/* Avro data: decoding, encoding, damage, JSON. */
#include "unit/hex.h"

#include "codec/avro/avro_value.h"

typedef struct fixture {
    tarn_cx *cx;
    tn_avro_schema schema;
    tn_arena arena;
} fixture;

static fixture open_schema(const char *text)
{
    fixture f = {.cx = tarn_cx_open(NULL)};

    assert_ok(f.cx, tn_avro_schema_parse(f.cx, tn_str_of(text), "test", &f.schema));
    return f;
}

static void close_schema(fixture *f)
{
    tn_avro_schema_clear(&f->schema);
    tn_arena_clear(&f->arena);
    tarn_cx_close(f->cx);
}

static void assert_json(const tn_avro_value *value, const char *want)
{
    tn_buf out = {0};
    tn_json json = tn_json_to(&out);

    tn_avro_to_json(&json, value);
    tn_buf_u8(&out, '\0');
    assert_string_equal((char *)out.data, want);
    tn_buf_clear(&out);
}

#define RECORD(fields)    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"

static const char pair[] = RECORD(
    FIELD("s", "[\"null\",\"string\"]") "," FIELD("n", "{\"type\":\"array\",\"items\":\"int\"}"));

/* Bytes by the specification's examples, and what they mean. */
static const struct {
    const char *schema, *hex, *json;
} known[] = {
    {"\"null\"", "", "null"},
    {"\"boolean\"", "01", "true"},
    {"\"int\"", "00", "0"},
    {"\"int\"", "01", "-1"},
    {"\"int\"", "7F", "-64"},
    {"\"long\"", "80 01", "64"},
    {"\"long\"", "FF FF FF FF FF FF FF FF FF 01", "-9223372036854775808"},
    {"\"float\"", "00 00 C0 3F", "1.5"},
    {"\"double\"", "00 00 00 00 00 00 F8 3F", "1.5"},
    {"\"string\"", "06 66 6F 6F", "\"foo\""},
    {"\"bytes\"", "04 01 02", "\"AQI=\""},
    {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}", "01 02", "\"AQI=\""},
    {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}", "02", "1"},
    {"{\"type\":\"array\",\"items\":\"long\"}", "04 06 36 00", "[3,27]"},
    {"{\"type\":\"map\",\"values\":\"int\"}", "02 02 61 04 00", "{\"a\":2}"},
    {"[\"null\",\"string\"]", "00", "null"},
    {"[\"null\",\"string\"]", "02 02 61", "\"a\""},
    {RECORD(FIELD("s", "[\"null\",\"string\"]") "," FIELD(
         "n", "{\"type\":\"array\",\"items\":\"int\"}")),
     "02 06 61 62 63 02 54 00", "{\"s\":\"abc\",\"n\":[42]}"},
};

static void test_avro_value__bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        fixture f = open_schema(known[i].schema);
        tn_buf bytes = hex_of(known[i].hex), again = {0};
        tn_avro_value value;
        size_t used;

        assert_ok(f.cx, tn_avro_decode(f.cx, f.schema.root, tn_buf_view(&bytes), &f.arena, &used,
                                       &value));
        assert_int_equal(used, bytes.len);
        assert_json(&value, known[i].json);
        assert_ok(f.cx, tn_avro_encode(f.cx, f.schema.root, &value, &again));
        assert_true(tn_str_equal(tn_buf_view(&bytes), tn_buf_view(&again)));
        tn_buf_clear(&bytes);
        tn_buf_clear(&again);
        close_schema(&f);
    }
}

/* Several blocks, one of them with its size. */
static void test_avro_value__blocks(void **state)
{
    fixture f = open_schema("{\"type\":\"array\",\"items\":\"long\"}");
    tn_buf bytes = hex_of("02 06 03 04 36 38 00");
    tn_avro_value value;
    size_t used;

    (void)state;
    assert_ok(f.cx,
              tn_avro_decode(f.cx, f.schema.root, tn_buf_view(&bytes), &f.arena, &used, &value));
    assert_json(&value, "[3,27,28]");
    tn_buf_clear(&bytes);
    close_schema(&f);
}

static void test_avro_value__damage(void **state)
{
    static const struct {
        const char *schema, *hex;
        int status;
        const char *part;
    } cases[] = {
        {pair, "", TARN_E_CORRUPT, "byte 0: field \"s\": a number that is cut off"},
        {pair, "04", TARN_E_CORRUPT, "byte 1: field \"s\": a branch that the union has not"},
        {pair, "01", TARN_E_CORRUPT, "a branch that the union has not"},
        {pair, "02 06 61 62", TARN_E_CORRUPT, "byte 2: field \"s\": a length beyond the end"},
        {pair, "02 01", TARN_E_CORRUPT, "a length beyond the end"},
        {pair, "00 02 80", TARN_E_CORRUPT, "field \"n.[]\": a number that is cut off"},
        {pair, "00 FE FF FF FF 0F 02", TARN_E_CORRUPT, "a count beyond the end"},
        {pair, "00 FF FF FF FF FF FF FF FF FF 01 00", TARN_E_CORRUPT, "a count beyond the end"},
        {"\"int\"", "FE FF FF FF 1F", TARN_E_CORRUPT, "more than 32 bits"},
        {"\"long\"", "FF FF FF FF FF FF FF FF FF FF 01", TARN_E_CORRUPT, "longer than 10 bytes"},
        {"\"double\"", "00", TARN_E_CORRUPT, "the data ends within"},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}", "02", TARN_E_CORRUPT,
         "a symbol"},
        {"{\"type\":\"array\",\"items\":\"null\"}", "FE FF FF FF 0F 00", TARN_E_LIMIT,
         "empty items"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f = open_schema(cases[i].schema);
        tn_buf bytes = hex_of(cases[i].hex);
        tn_avro_value value;
        size_t used;

        assert_fails(
            f.cx, cases[i].status, cases[i].part,
            tn_avro_decode(f.cx, f.schema.root, tn_buf_view(&bytes), &f.arena, &used, &value));
        tn_buf_clear(&bytes);
        close_schema(&f);
    }
}

static void test_avro_value__members(void **state)
{
    fixture f = open_schema(pair);
    tn_buf bytes = hex_of("02 06 61 62 63 02 54 00");
    tn_avro_value value;
    size_t used;

    (void)state;
    assert_ok(f.cx,
              tn_avro_decode(f.cx, f.schema.root, tn_buf_view(&bytes), &f.arena, &used, &value));
    assert_true(tn_str_is(tn_avro_text(tn_avro_member(&value, "s")), "abc"));
    assert_int_equal(tn_avro_member(&value, "n")->as.many.count, 1);
    assert_int_equal(tn_avro_i64(&tn_avro_member(&value, "n")->as.many.items[0], 0), 42);
    assert_null(tn_avro_member(&value, "x"));
    assert_null(tn_avro_member(NULL, "x"));
    assert_null(tn_avro_text(tn_avro_member(&value, "n")).ptr);
    assert_int_equal(tn_avro_i64(NULL, -7), -7);
    tn_buf_clear(&bytes);
    close_schema(&f);
}

/* From JSON to bytes: missing members, defaults, unions, unknown members. */
static void test_avro_value__json(void **state)
{
    static const char schema[] = RECORD(FIELD(
        "s", "[\"null\",\"string\"]") ",{\"name\":\"v\",\"type\":[\"int\",\"null\"],\"default\":1},"
                                      "{\"name\":\"b\",\"type\":\"bytes\",\"default\":\"\\u00ff\"}"
                                      "," FIELD("d", "\"double\"") "," FIELD(
                                          "m",
                                          "{\"type\":\"map\",\"values\":[\"null\",\"long\"]}"));
    static const struct {
        const char *json, *hex, *part;
    } cases[] = {
        {"{\"d\":1.5,\"m\":{\"k\":5},\"other\":[1]}",
         "00 00 02 02 FF 00 00 00 00 00 00 F8 3F 02 02 6B 02 0A 00", NULL},
        {"{\"s\":\"x\",\"v\":null,\"b\":\"\",\"d\":2,\"m\":{}}",
         "02 02 78 02 00 00 00 00 00 00 00 00 40 00", NULL},
        {"{\"m\":{}}", NULL, "field \"d\": it has no value, and no default"},
        {"{\"d\":\"x\",\"m\":{}}", NULL, "member \"d\": a value of another type"},
        {"{\"d\":1,\"m\":{\"k\":\"x\"}}", NULL, "member \"m.k\": no branch"},
        {"{\"d\":1,\"m\":{},\"b\":\"\\u0100\"}", NULL, "member \"b\": bytes with a character"},
    };
    fixture f = open_schema(schema);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf got = {0};
        tn_avro_value value;
        json_t *json;
        int rc;

        assert_ok(f.cx, tn_json_parse(f.cx, tn_str_of(cases[i].json), "test", &json));
        rc = tn_avro_of_json(f.cx, f.schema.root, json, &f.arena, &value);
        if (rc == TARN_OK)
            rc = tn_avro_encode(f.cx, f.schema.root, &value, &got);
        if (cases[i].hex != NULL) {
            tn_buf want = hex_of(cases[i].hex);

            assert_ok(f.cx, rc);
            assert_true(tn_str_equal(tn_buf_view(&want), tn_buf_view(&got)));
            tn_buf_clear(&want);
        } else {
            assert_fails(f.cx, TARN_E_INVALID, cases[i].part, rc);
            assert_int_equal(got.len, 0);
        }
        tn_buf_clear(&got);
        json_decref(json);
    }
    close_schema(&f);
}

static void test_avro_value__refuses_other_types(void **state)
{
    fixture f = open_schema(pair);
    tn_str names[] = {TN_STR("s"), TN_STR("n")};
    tn_avro_value items[] = {{.kind = TN_AVRO_LONG, .as.i = 1}, {.kind = TN_AVRO_ARRAY}};
    tn_avro_value record = {.kind = TN_AVRO_RECORD, .as.many = {names, items, 2}};
    tn_buf out = {0};

    (void)state;
    assert_fails(f.cx, TARN_E_INVALID, "field \"s\": no branch",
                 tn_avro_encode(f.cx, f.schema.root, &record, &out));
    items[0] = (tn_avro_value){.kind = TN_AVRO_NULL};
    items[1] = (tn_avro_value){.kind = TN_AVRO_STRING};
    assert_fails(f.cx, TARN_E_INVALID, "field \"n\": a value of another type",
                 tn_avro_encode(f.cx, f.schema.root, &record, &out));
    tn_buf_clear(&out);
    close_schema(&f);
}
