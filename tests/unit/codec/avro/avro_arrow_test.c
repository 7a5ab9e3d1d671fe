/* Arrow columns and the Avro schema of a Hudi table. */
#include "unit/test.h"

#include "batch/field.h"
#include "batch/type.h"
#include "codec/avro/avro_arrow.h"

static void add(tarn_cx *cx, struct ArrowSchema *parent, size_t i, const char *format,
                const char *name, bool nullable, size_t children)
{
    assert_ok(cx,
              tn_field_init(cx, parent->children[i], format, tn_str_of(name), nullable, children));
}

/* Every kind of column in it, as Spark hands them over. */
static struct ArrowSchema make_schema(tarn_cx *cx)
{
    static const struct {
        const char *format, *name;
    } plain[] = {{"i", "id"},       {"b", "flag"},    {"l", "n"},        {"f", "f"},
                 {"g", "d"},        {"u", "s"},       {"z", "bin"},      {"tdD", "day"},
                 {"tsu:UTC", "at"}, {"tsu:", "wall"}, {"d:10,5", "dec"}, {"d:38,18", "wide"}};
    size_t count = sizeof plain / sizeof plain[0];
    struct ArrowSchema schema = {0}, *at;

    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, count + 3));
    for (size_t i = 0; i < count; i++)
        add(cx, &schema, i, plain[i].format, plain[i].name, i != 0, 0);
    add(cx, &schema, count, "+l", "arr", true, 1);
    at = schema.children[count];
    add(cx, at, 0, "+s", "item", true, 2);
    add(cx, at->children[0], 0, "u", "x", true, 0);
    add(cx, at->children[0], 1, "d:4,2", "y", false, 0);
    add(cx, &schema, count + 1, "+m", "map", true, 1);
    at = schema.children[count + 1];
    add(cx, at, 0, "+s", "entries", false, 2);
    add(cx, at->children[0], 0, "u", "key", false, 0);
    add(cx, at->children[0], 1, "g", "value", true, 0);
    add(cx, &schema, count + 2, "+s", "st", true, 1);
    at = schema.children[count + 2];
    add(cx, at, 0, "+s", "child", true, 1);
    add(cx, at->children[0], 0, "b", "z", true, 0);
    return schema;
}

#define NULLABLE(type) "[\"null\"," type "],\"default\":null}"
#define FIXED(column, size, precision, scale)                                                      \
    "{\"type\":\"fixed\",\"name\":\"fixed\",\"namespace\":\"hoodie.t__1.t__1_record." column       \
    "\",\"size\":" size ",\"logicalType\":\"decimal\",\"precision\":" precision                    \
    ",\"scale\":" scale "}"

static const char
    columns
        [] =
            "{\"name\":\"id\",\"type\":\"int\"},"
            "{\"name\":\"flag\",\"type\":" NULLABLE(
                "\"boolean\"") ","
                               "{\"name\":\"n\",\"type\":" NULLABLE(
                                   "\"long\"") ","
                                               "{\"name\":\"f\",\"type\":" NULLABLE(
                                                   "\"float\"") ","
                                                                "{\"name\":\"d\","
                                                                "\"type\":" NULLABLE(
                                                                    "\"double\"") ","
                                                                                  "{\"name\":\"s\","
                                                                                  "\"type\""
                                                                                  ":" NULLABLE(
                                                                                      "\"string\"") ","
                                                                                                    "{\"name\":\"bin\",\"type\":" NULLABLE(
                                                                                                        "\"bytes\"") ","
                                                                                                                     "{\"name\":\"day\",\"type\":" NULLABLE("{\"type\":\"int\",\"logicalType\":\"date\"}") ","
                                                                                                                                                                                                           "{\"name\":\"at\",\"type\":" NULLABLE("{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}") ","
                                                                                                                                                                                                                                                                                                             "{\"name\":\"wall\",\"type\":" NULLABLE("{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}") ","
                                                                                                                                                                                                                                                                                                                                                                                                                       "{\"name\":\"dec\",\"type\":" NULLABLE(FIXED("dec",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "5",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "10", "5")) ","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                "{\"name\":\"wide\",\"type\":" NULLABLE(FIXED(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "wide", "16", "38", "18")) ","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "{\"name\":\"arr\",\"type\":" NULLABLE("{\"type\":\"array\",\"items\":[\"null\",{\"type\":\"record\",\"name\":\"arr\","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "\"namespace\":\"hoodie.t__1.t__1_record\",\"fields\":[{\"name\":\"x\",\"type\":" NULLABLE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "\"string\"") ","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "{\"name\":\"y\",\"type\":" FIXED(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "arr.y",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "2", "4", "2") "}]}]}") ","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "{\"name\":\"map\",\"type\":" NULLABLE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "{\"type\":\"map\",\"values\":[\"null\",\"double\"]}") ","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "{\"name\":\"st\",\"type\":" NULLABLE("{\"type\":\"record\",\"name\":\"st\",\"namespace\":\"hoodie.t__1.t__1_record\","
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "\"fields\":[{\"name\":\"child\",\"type\":" NULLABLE("{\"type\":\"record\",\"name\":\"child\",\"namespace\":"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "\"hoodie.t__1.t__1_record.st\",\"fields\":[{\"name\":\"z\",\"type\":" NULLABLE("\"boolean\"") "]}") "]}");

static void test_avro_arrow__names(void **state)
{
    static const char head[] =
        "{\"type\":\"record\",\"name\":\"t__1_record\",\"namespace\":\"hoodie.t__1\",\"fields\":[";
    static const char meta[] = "{\"name\":\"_hoodie_commit_time\",\"type\":[\"null\",\"string\"],"
                               "\"doc\":\"\",\"default\":null},{\"name\":\"_hoodie_commit_seqno\"";
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = make_schema(cx), back = {0};
    tn_avro_schema parsed = {0};
    tn_buf out = {0}, want = {0}, again = {0};

    (void)state;
    tn_buf_print(&want, "%s%s]}", head, columns);
    assert_ok(cx, tn_avro_of_arrow(cx, &schema, TN_STR("t-1"), false, &out));
    tn_buf_u8(&out, '\0');
    tn_buf_u8(&want, '\0');
    assert_string_equal((char *)out.data, (char *)want.data);
    /* Parsed and printed it is the same text, and as Arrow the same columns again. */
    out.len--;
    assert_ok(cx, tn_avro_schema_parse(cx, tn_buf_view(&out), "t", &parsed));
    tn_avro_print(&again, parsed.root);
    assert_true(tn_str_equal(tn_buf_view(&out), tn_buf_view(&again)));
    assert_ok(cx, tn_avro_arrow_of(cx, parsed.root, &back));
    tn_buf_reset(&again);
    assert_ok(cx, tn_avro_of_arrow(cx, &back, TN_STR("t-1"), false, &again));
    assert_true(tn_str_equal(tn_buf_view(&out), tn_buf_view(&again)));
    tn_buf_reset(&out);
    assert_ok(cx, tn_avro_of_arrow(cx, &schema, TN_STR("t-1"), true, &out));
    assert_memory_equal(out.data + sizeof head - 1, meta, sizeof meta - 1);
    tn_avro_schema_clear(&parsed);
    tn_field_release(&schema);
    tn_field_release(&back);
    tn_buf_clear(&out);
    tn_buf_clear(&want);
    tn_buf_clear(&again);
    tarn_cx_close(cx);
}

static void test_avro_arrow__table_names(void **state)
{
    /* HoodieAvroUtils.sanitizeName of 1.0.2. */
    static const char *const cases[][2] = {
        {"my-table", "my__table"}, {"12ab", "__2ab"}, {"a--b.c", "a____b__c"},
        {"\xC3\xA9", "__"},        {"1", "__"},       {"_x", "_x"},
        {"-1-a", "__1__a"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    char want[128];

    (void)state;
    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 0));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf out = {0};

        snprintf(want, sizeof want,
                 "{\"type\":\"record\",\"name\":\"%s_record\",\"namespace\":\"hoodie.%s\","
                 "\"fields\":[]}",
                 cases[i][1], cases[i][1]);
        assert_ok(cx, tn_avro_of_arrow(cx, &schema, tn_str_of(cases[i][0]), false, &out));
        tn_buf_u8(&out, '\0');
        assert_string_equal((char *)out.data, want);
        tn_buf_clear(&out);
    }
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

static void test_avro_arrow__stored(void **state)
{
    static const struct {
        const char *format, *want, *part; /* want NULL: refused, with the part */
    } cases[] = {
        {"c", "i", NULL},
        {"s", "i", NULL},
        {"i", "i", NULL},
        {"C", "i", NULL},
        {"S", "i", NULL},
        {"I", "l", NULL},
        {"l", "l", NULL},
        {"e", "f", NULL},
        {"f", "f", NULL},
        {"g", "g", NULL},
        {"U", "u", NULL},
        {"Z", "z", NULL},
        {"w:4", "z", NULL},
        {"tdm", "tdD", NULL},
        {"tts", "ttm", NULL},
        {"ttn", "ttu", NULL},
        {"tss:", "tsm:", NULL},
        {"tsn:", "tsu:", NULL},
        {"tss:Asia/Tokyo", "tsm:UTC", NULL},
        {"tsn:+02:00", "tsu:UTC", NULL},
        {"d:9,2", "d:9,2", NULL},
        {"d:38,0,256", "d:38,0", NULL},
        {"d:39,0,256", NULL, "column \"c\": a Hudi table has no column of type decimal"},
        {"d:5,-2", NULL, "no column of type"},
        {"L", NULL, "no column of type uint64"},
        {"n", NULL, "no column of type null"},
        {"tDm", NULL, "no column of type duration"},
        {"tiM", NULL, "no column of type"},
        {"vu", NULL, "column \"c\""},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema schema = {0}, out = {0};

        assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
        add(cx, &schema, 0, cases[i].format, "c", true, 0);
        if (cases[i].want == NULL) {
            assert_fails(cx, TARN_E_UNSUPPORTED, cases[i].part,
                         tn_avro_arrow_stored(cx, &schema, &out));
        } else {
            assert_ok(cx, tn_avro_arrow_stored(cx, &schema, &out));
            assert_string_equal(out.children[0]->format, cases[i].want);
            assert_string_equal(out.children[0]->name, "c");
            assert_true(tn_field_nullable(out.children[0]));
        }
        tn_field_release(&schema);
        tn_field_release(&out);
    }
    tarn_cx_close(cx);
}

/* Bytes of a decimal by its digits, as Avro's fixed has them. */
static void test_avro_arrow__decimal_bytes(void **state)
{
    static const uint8_t want[] = {1,  1,  2,  2,  3,  3,  4,  4,  4,  5,  5,  6,  6,
                                   6,  7,  7,  8,  8,  9,  9,  9,  10, 10, 11, 11, 11,
                                   12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16};
    tarn_cx *cx = tarn_cx_open(NULL);
    char format[16], part[16];

    (void)state;
    for (int p = 1; p <= 38; p++) {
        struct ArrowSchema schema = {0};
        tn_buf out = {0};

        snprintf(format, sizeof format, "d:%d,0", p);
        snprintf(part, sizeof part, "\"size\":%d,", want[p - 1]);
        assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
        add(cx, &schema, 0, format, "c", false, 0);
        assert_ok(cx, tn_avro_of_arrow(cx, &schema, TN_STR("t"), false, &out));
        tn_buf_u8(&out, '\0');
        if (strstr((char *)out.data, part) == NULL)
            fail_msg("%d digits: %s lacks %s", p, (char *)out.data, part);
        tn_buf_clear(&out);
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}

static void test_avro_arrow__reads(void **state)
{
    static const struct {
        const char *avro, *part; /* part NULL: read, as the format below */
    } cases[] = {
        {"\"int\"", NULL},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}", NULL},
        {"{\"type\":\"string\",\"logicalType\":\"uuid\"}", NULL},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":3}", NULL},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":40,\"scale\":2}", NULL},
        {"[\"null\",\"int\",\"string\"]", "column \"c\": a union of several types"},
        {"\"null\"", "column \"c\": a column of nulls"},
    };
    static const char *const formats[] = {"i", "u", "u", "w:3", "d:40,2,256"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema out = {0};
        tn_avro_schema schema = {0};
        tn_buf text = {0};

        tn_buf_print(
            &text, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"c\",\"type\":%s}]}",
            cases[i].avro);
        assert_ok(cx, tn_avro_schema_parse(cx, tn_buf_view(&text), "t", &schema));
        if (cases[i].part != NULL) {
            assert_fails(cx, TARN_E_UNSUPPORTED, cases[i].part,
                         tn_avro_arrow_of(cx, schema.root, &out));
        } else {
            assert_ok(cx, tn_avro_arrow_of(cx, schema.root, &out));
            assert_string_equal(out.children[0]->format, formats[i]);
        }
        tn_field_release(&out);
        tn_avro_schema_clear(&schema);
        tn_buf_clear(&text);
    }
    tarn_cx_close(cx);
}

static void test_avro_arrow__bad_names(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_buf out = {0};

    (void)state;
    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
    add(cx, &schema, 0, "+s", "ok", true, 1);
    add(cx, schema.children[0], 0, "i", "not ok", true, 0);
    assert_fails(cx, TARN_E_INVALID, "column \"ok.not ok\": a column of a Hudi table",
                 tn_avro_of_arrow(cx, &schema, TN_STR("t"), false, &out));
    assert_int_equal(out.len, 0);
    tn_field_release(&schema);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}
