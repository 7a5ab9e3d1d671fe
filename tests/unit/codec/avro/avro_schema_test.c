/* Avro schemas: what is read, what is refused, and the text that Hudi writes. */
#include "unit/test.h"

#include "codec/avro/avro_schema.h"

/* As real Hudi 0.15.0 wrote it into a commit, but for fewer columns. */
static const char table_text[] =
    "{\"type\":\"record\",\"name\":\"t_record\",\"namespace\":\"hoodie.t\",\"fields\":["
    "{\"name\":\"_hoodie_commit_time\",\"type\":[\"null\",\"string\"],\"doc\":\"\",\"default\":"
    "null},"
    "{\"name\":\"id\",\"type\":\"int\"},"
    "{\"name\":\"d\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"fixed\",\"namespace\":"
    "\"hoodie.t.t_record.d\",\"size\":5,\"logicalType\":\"decimal\",\"precision\":10,\"scale\":5}],"
    "\"default\":null},"
    "{\"name\":\"at\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}],"
    "\"default\":null},"
    "{\"name\":\"a\",\"type\":[\"null\",{\"type\":\"array\",\"items\":[\"null\",{\"type\":"
    "\"record\","
    "\"name\":\"a\",\"namespace\":\"hoodie.t.t_record\",\"fields\":[{\"name\":\"x\",\"type\":["
    "\"null\","
    "\"string\"],\"default\":null}]}]}],\"default\":null},"
    "{\"name\":\"m\",\"type\":[\"null\",{\"type\":\"map\",\"values\":[\"null\",\"double\"]}],"
    "\"default\":null}]}";

static char *printed(const tn_avro_type *type)
{
    tn_buf out = {0};

    tn_avro_print(&out, type);
    tn_buf_u8(&out, '\0');
    assert_false(out.failed);
    return (char *)out.data;
}

static void check_print(tarn_cx *cx, const char *text, const char *want)
{
    tn_avro_schema schema = {0};
    char *got;

    assert_ok(cx, tn_avro_schema_parse(cx, tn_str_of(text), "test", &schema));
    got = printed(schema.root);
    assert_string_equal(got, want);
    free(got);
    tn_avro_schema_clear(&schema);
}

static void test_avro_schema__hudi_text(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    check_print(cx, table_text, table_text);
    tarn_cx_close(cx);
}

static void test_avro_schema__prints(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"\"int\"", "\"int\""},
        {"{\"type\":\"string\",\"avro.java.string\":\"String\"}", "\"string\""},
        {"{\"type\":{\"type\":\"string\"}}", "\"string\""},
        {"[\"int\",\"null\"]", "[\"null\",\"int\"]"},
        {"{\"type\":\"string\",\"logicalType\":\"uuid\"}",
         "{\"type\":\"string\",\"logicalType\":\"uuid\"}"},
        {"{\"type\":\"int\",\"logicalType\":\"uuid\"}", "\"int\""},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4}",
         "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":0}"},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":5}",
         "\"bytes\""},
        {"{\"type\":\"enum\",\"name\":\"a.b.E\",\"symbols\":[\"X\",\"Y\"]}",
         "{\"type\":\"enum\",\"name\":\"E\",\"namespace\":\"a.b\",\"symbols\":[\"X\",\"Y\"]}"},
        /* The create schema's order becomes that of commits; another default keeps its own. */
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":[\"int\","
         "\"null\"]},"
         "{\"name\":\"v\",\"type\":[\"int\",\"null\"],\"default\":1}]}",
         "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":[\"null\","
         "\"int\"],"
         "\"default\":null},{\"name\":\"v\",\"type\":[\"int\",\"null\"],\"default\":1}]}"},
        /* A name that was met is enough; the namespace around it is left out. */
        {"{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n\",\"fields\":["
         "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}},"
         "{\"name\":\"b\",\"type\":\"F\"},{\"name\":\"c\",\"type\":\"n.F\"},"
         "{\"name\":\"d\",\"type\":{\"type\":\"record\",\"name\":\"S\",\"namespace\":\"o\","
         "\"fields\":[{\"name\":\"e\",\"type\":\"n.F\"}]}}]}",
         "{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n\",\"fields\":["
         "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}},"
         "{\"name\":\"b\",\"type\":\"F\"},{\"name\":\"c\",\"type\":\"F\"},"
         "{\"name\":\"d\",\"type\":{\"type\":\"record\",\"name\":\"S\",\"namespace\":\"o\","
         "\"fields\":[{\"name\":\"e\",\"type\":\"n.F\"}]}}]}"},
        {"{\"type\":\"record\",\"name\":\"R\",\"doc\":\"why\",\"fields\":[{\"name\":\"a\",\"type\":"
         "{\"type\":\"map\",\"values\":\"long\"},\"default\":{\"k\":1}}]}",
         "{\"type\":\"record\",\"name\":\"R\",\"doc\":\"why\",\"fields\":[{\"name\":\"a\",\"type\":"
         "{\"type\":\"map\",\"values\":\"long\"},\"default\":{\"k\":1}}]}"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_print(cx, cases[i].text, cases[i].want);
    tarn_cx_close(cx);
}

static void test_avro_schema__refuses(void **state)
{
    static const struct {
        const char *text;
        int status;
        const char *part;
    } cases[] = {
        {"", TARN_E_CORRUPT, "not JSON"},
        {"7", TARN_E_CORRUPT, "a type is missing"},
        {"\"integer\"", TARN_E_CORRUPT, "field \"integer\": no such type"},
        {"[]", TARN_E_CORRUPT, "a union of no types"},
        {"[\"int\",[\"null\",\"long\"]]", TARN_E_CORRUPT, "a union right inside a union"},
        {"{\"name\":\"x\"}", TARN_E_CORRUPT, "an object without \"type\""},
        {"{\"type\":\"record\",\"fields\":[]}", TARN_E_CORRUPT, "without a name"},
        {"{\"type\":\"record\",\"name\":\"a b\",\"fields\":[]}", TARN_E_CORRUPT, "a name may hold"},
        {"{\"type\":\"record\",\"name\":\"a.\",\"fields\":[]}", TARN_E_CORRUPT, "a name may hold"},
        {"{\"type\":\"record\",\"name\":\"int\",\"fields\":[]}", TARN_E_CORRUPT, "primitive"},
        {"{\"type\":\"record\",\"name\":\"R\"}", TARN_E_CORRUPT, "without \"fields\""},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"R\"}]}",
         TARN_E_UNSUPPORTED, "field \"a.R\": a type that holds itself"},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},"
         "{\"name\":\"a\",\"type\":\"int\"}]}",
         TARN_E_CORRUPT, "field \"a\": a field stands twice"},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":"
         "\"array\","
         "\"items\":\"what\"}}]}",
         TARN_E_CORRUPT, "test: Avro schema: field \"a.items.what\": no such type"},
        {"{\"type\":\"fixed\",\"name\":\"F\"}", TARN_E_CORRUPT, "\"size\""},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":2000000}", TARN_E_LIMIT, "1 MiB"},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[1]}", TARN_E_CORRUPT, "no text"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_avro_schema schema = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(cx, cases[i].status, cases[i].part,
                     tn_avro_schema_parse(cx, tn_str_of(cases[i].text), "test", &schema));
    assert_null(schema.root);
    tarn_cx_close(cx);
}

/* References double the tree at each level: 2^40 types in 2 KB of text. */
static void test_avro_schema__bounds_the_tree(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_avro_schema schema = {0};
    tn_buf text = {0};

    (void)state;
    tn_buf_text(&text, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"f\",\"type\":"
                       "{\"type\":\"record\",\"name\":\"A0\",\"fields\":[]}}");
    for (int i = 1; i < 40; i++)
        tn_buf_print(
            &text,
            ",{\"name\":\"f%d\",\"type\":{\"type\":\"record\",\"name\":\"A%d\",\"fields\":[{"
            "\"name\":\"a\",\"type\":\"A%d\"},{\"name\":\"b\",\"type\":\"A%d\"}]}}",
            i, i, i - 1, i - 1);
    tn_buf_text(&text, "]}");
    assert_fails(cx, TARN_E_LIMIT, "more types than tarn reads",
                 tn_avro_schema_parse(cx, tn_buf_view(&text), "test", &schema));
    tn_buf_reset(&text);
    for (int i = 0; i < 70; i++)
        tn_buf_text(&text, "{\"type\":\"array\",\"items\":");
    tn_buf_text(&text, "\"int\"");
    for (int i = 0; i < 70; i++)
        tn_buf_u8(&text, '}');
    assert_fails(cx, TARN_E_LIMIT, "64 levels",
                 tn_avro_schema_parse(cx, tn_buf_view(&text), "test", &schema));
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

static bool same(tarn_cx *cx, const char *a, const char *b)
{
    tn_avro_schema left = {0}, right = {0};
    bool equal;

    assert_ok(cx, tn_avro_schema_parse(cx, tn_str_of(a), "a", &left));
    assert_ok(cx, tn_avro_schema_parse(cx, tn_str_of(b), "b", &right));
    equal = tn_avro_same(left.root, right.root);
    assert_int_equal(equal, tn_avro_same(right.root, left.root));
    tn_avro_schema_clear(&left);
    tn_avro_schema_clear(&right);
    return equal;
}

static void test_avro_schema__same(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    assert_true(same(cx, "[\"int\",\"null\"]", "[\"null\",\"int\"]"));
    assert_false(same(cx, "[\"int\",\"null\"]", "\"int\""));
    assert_false(same(cx, "\"long\"", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}"));
    assert_true(same(cx,
                     "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"x\",\"type\":"
                     "[\"null\",\"int\"],\"default\":null,\"doc\":\"d\"}]}",
                     "{\"type\":\"record\",\"name\":\"n.B\",\"fields\":[{\"name\":\"x\",\"type\":"
                     "[\"int\",\"null\"]}]}"));
    assert_false(same(cx,
                      "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"x\",\"type\":"
                      "\"int\"}]}",
                      "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"y\",\"type\":"
                      "\"int\"}]}"));
    assert_false(same(cx, "{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}",
                      "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}"));
    tarn_cx_close(cx);
}

static void test_avro_schema__plain(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_avro_schema schema = {0};
    bool nullable;

    (void)state;
    assert_ok(cx, tn_avro_schema_parse(cx, TN_STR("[\"long\",\"null\"]"), "t", &schema));
    assert_int_equal(tn_avro_plain(schema.root, &nullable)->kind, TN_AVRO_LONG);
    assert_true(nullable);
    tn_avro_schema_clear(&schema);
    assert_ok(cx, tn_avro_schema_parse(cx, TN_STR("[\"null\",\"long\",\"int\"]"), "t", &schema));
    assert_int_equal(tn_avro_plain(schema.root, &nullable)->kind, TN_AVRO_UNION);
    assert_true(nullable);
    tn_avro_schema_clear(&schema);
    tarn_cx_close(cx);
}
