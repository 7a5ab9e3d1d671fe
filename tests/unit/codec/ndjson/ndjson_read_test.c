/* NDJSON in: values, types of a sample, bad records, boundaries, and back from what is written. */
#include "unit/alloc.h"
#include "unit/batch/table.h"
#include "unit/hex.h"

#include "codec/ndjson/ndjson_read.h"
#include "codec/ndjson/ndjson_write.h"

typedef struct reading {
    tn_text_read_options options;
    size_t step;
    tn_buf schema, rows; /* "a int64, b string" and NDJSON */
    tn_buf rejected, warned;
    int64_t batches;
} reading;

static int note_bad(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    reading *r = arg;

    tn_buf_print(&r->rejected, "%.*s:%llu:%.*s:%s|", TN_STR_ARG(bad->source),
                 (unsigned long long)bad->line, TN_STR_ARG(bad->column), bad->reason);
    return tn_buf_check(cx, &r->rejected);
}

static void note_warning(void *arg, const char *text)
{
    reading *r = arg;

    tn_buf_print(&r->warned, "%s|", text);
}

static void print_schema(const struct ArrowSchema *schema, tn_buf *out)
{
    tn_buf_reset(out);
    for (int64_t i = 0; i < schema->n_children; i++) {
        tn_buf_print(out, "%s%s ", i > 0 ? ", " : "", schema->children[i]->name);
        tn_type_print(out, schema->children[i]);
    }
    tn_buf_u8(out, 0);
}

static int read_feed(tarn_cx *cx, tn_feed *feed, reading *r)
{
    tn_ndjson_writer *writer = NULL;
    tn_ndjson_read *reader = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    TN_TRY(tn_ndjson_read_open(cx, feed, &r->options, &reader));
    TN_TRY(tn_ndjson_read_schema(cx, reader, &schema));
    print_schema(&schema, &r->schema);
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    for (;;) {
        TN_TRY(tn_ndjson_read_next(cx, reader, &batch));
        if (batch.length == 0)
            break;
        r->batches++;
        TN_TRY(tn_array_check(cx, &schema, &batch));
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, batch.length, &r->rows));
        tn_array_release(&batch);
    }
done:
    tn_buf_u8(&r->rows, 0);
    tn_buf_u8(&r->rejected, 0);
    tn_buf_u8(&r->warned, 0);
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_ndjson_writer_close(writer);
    tn_ndjson_read_close(reader);
    return rc;
}

static int read_text(tarn_cx *cx, tn_str text, reading *r)
{
    tn_feed *feed = NULL;
    int rc;

    r->rows.len = r->rejected.len = r->warned.len = 0;
    r->batches = 0;
    rc = tn_feed_open_memory(cx, text.ptr, text.len, r->step, TN_STR("in.ndjson"), &feed);
    if (rc == TARN_OK)
        rc = read_feed(cx, feed, r);
    tn_feed_close(feed);
    return rc;
}

static void reading_clear(reading *r)
{
    tn_buf_clear(&r->schema);
    tn_buf_clear(&r->rows);
    tn_buf_clear(&r->rejected);
    tn_buf_clear(&r->warned);
}

static const struct {
    const char *name, *text, *schema, *rows;
} good[] = {
    {"empty", "", "", ""},
    {"blank lines", "\n \t\r\n{\"a\":1}\n\n", "a int64", "{\"a\":1}\n"},
    {"no last line end, carriage returns", "{\"a\":1}\r\n{\"a\":2}", "a int64",
     "{\"a\":1}\n{\"a\":2}\n"},
    {"byte order mark", "\xEF\xBB\xBF{\"a\":1}\n", "a int64", "{\"a\":1}\n"},
    {"spaces", " { \"a\" : 1 , \"b\" : [ 1 , 2 ] } \n", "a int64, b list<int64>",
     "{\"a\":1,\"b\":[1,2]}\n"},
    {"any order, missing keys", "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n{\"b\":null}\n{}\n",
     "a int64, b string",
     "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n{\"a\":null,\"b\":null}\n"
     "{\"a\":null,\"b\":null}\n"},
    {"escapes", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"}\n",
     "a string", "{\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}\n"},
    {"escaped keys", "{\"\\u0061\":1}\n{\"a\":2}\n", "a int64", "{\"a\":1}\n{\"a\":2}\n"},
    {"NUL in text", "{\"a\":\"x\\u0000y\"}\n", "a string", "{\"a\":\"x\\u0000y\"}\n"},
    {"integers that a double would round, and -0",
     "{\"a\":0}\n{\"a\":-0}\n{\"a\":9223372036854775807}\n{\"a\":-9223372036854775808}\n",
     "a string", NULL},
    {"the largest integers", "{\"a\":9223372036854775807}\n{\"a\":-9223372036854775808}\n",
     "a int64", "{\"a\":9223372036854775807}\n{\"a\":-9223372036854775808}\n"},
    {"doubles", "{\"a\":1}\n{\"a\":0.1}\n{\"a\":-0}\n{\"a\":1E2}\n{\"a\":1e-300}\n", "a double",
     "{\"a\":1.0}\n{\"a\":0.1}\n{\"a\":-0.0}\n{\"a\":100.0}\n{\"a\":1e-300}\n"},
    {"NaN as tarn writes it", "{\"a\":\"NaN\"}\n{\"a\":1.5}\n{\"a\":\"-Infinity\"}\n", "a double",
     "{\"a\":\"NaN\"}\n{\"a\":1.5}\n{\"a\":\"-Infinity\"}\n"},
    {"NaN alone is text", "{\"a\":\"NaN\"}\n", "a string", "{\"a\":\"NaN\"}\n"},
    {"booleans", "{\"a\":true}\n{\"a\":null}\n{\"a\":false}\n", "a bool",
     "{\"a\":true}\n{\"a\":null}\n{\"a\":false}\n"},
    {"nulls alone", "{\"a\":null}\n", "a string", "{\"a\":null}\n"},
    {"dates", "{\"a\":\"2024-05-12\"}\n{\"a\":null}\n", "a date",
     "{\"a\":\"2024-05-12\"}\n{\"a\":null}\n"},
    {"dates and an empty text", "{\"a\":\"2024-05-12\"}\n{\"a\":\"\"}\n", "a string",
     "{\"a\":\"2024-05-12\"}\n{\"a\":\"\"}\n"},
    {"digits in quotes", "{\"a\":\"007\"}\n", "a string", "{\"a\":\"007\"}\n"},
    {"unlike values",
     "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":[1, 2]}\n{\"a\":{\"b\":null}}\n{\"a\":true}\n", "a string",
     "{\"a\":\"1\"}\n{\"a\":\"x\"}\n{\"a\":\"[1, 2]\"}\n{\"a\":\"{\\\"b\\\":null}\"}\n"
     "{\"a\":\"true\"}\n"},
    {"structs", "{\"s\":{\"x\":1}}\n{\"s\":null}\n{\"s\":{\"y\":[{\"z\":\"q\"}]}}\n",
     "s struct<x: int64, y: list<struct<z: string>>>",
     "{\"s\":{\"x\":1,\"y\":null}}\n{\"s\":null}\n{\"s\":{\"x\":null,\"y\":[{\"z\":\"q\"}]}}\n"},
    {"empty objects and arrays", "{\"a\":{},\"b\":[]}\n{\"a\":{},\"b\":[null]}\n",
     "a string, b list<string>", "{\"a\":\"{}\",\"b\":[]}\n{\"a\":\"{}\",\"b\":[null]}\n"},
    {"an array of records", "[ {\"a\":1},\n{\"a\":2 , \"b\":\"],}\\\"\"}\n ]\n",
     "a int64, b string", "{\"a\":1,\"b\":null}\n{\"a\":2,\"b\":\"],}\\\"\"}\n"},
    {"a record over many lines of an array", "\n[\n{\n\"a\"\n:\n[\n1\n]\n}\n]", "a list<int64>",
     "{\"a\":[1]}\n"},
    {"an empty array", " [ ] ", "", ""},
};

static void test_ndjson_read__values(void **state)
{
    static const size_t steps[] = {0, 1, 2, 3, 7};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            reading r = {.step = steps[s]};
            int rc = read_text(cx, tn_str_of(good[i].text), &r);

            if (rc != TARN_OK)
                fail_msg("%s: %s", good[i].name, tarn_cx_error(cx));
            if (strcmp((char *)r.schema.data, good[i].schema) != 0)
                fail_msg("%s: schema %s, want %s", good[i].name, (char *)r.schema.data,
                         good[i].schema);
            if (good[i].rows != NULL && strcmp((char *)r.rows.data, good[i].rows) != 0)
                fail_msg("%s: rows %s, want %s", good[i].name, (char *)r.rows.data, good[i].rows);
            reading_clear(&r);
        }
    }
    tarn_cx_close(cx);
}

static void test_ndjson_read__bad_records(void **state)
{
    static const struct {
        const char *line, *column, *reason;
    } cases[] = {
        {"{\"i\":1", "", "byte 7 of the record: the record ends in the middle of a value"},
        {"{\"i\":1}}", "", "byte 8 of the record: bytes follow the object"},
        {"{\"i\":1} {\"i\":2}", "", "bytes follow the object"},
        {"{\"i\":1,}", "", "byte 8 of the record: expected a key in double quotes"},
        {"{'i':1}", "", "expected a key in double quotes"},
        {"{\"i\" 1}", "", "expected \":\" after a key"},
        {"{\"i\":}", "i", "no JSON value"},
        {"{\"i\":01}", "i", "a number with leading zeros"},
        {"{\"i\":+1}", "i", "no JSON value"},
        {"{\"i\":1.}", "i", "a number that ends in its point"},
        {"{\"i\":1e}", "i", "a number without digits in its exponent"},
        {"{\"i\":-}", "i", "no JSON value"},
        {"{\"i\":NaN}", "i", "no JSON value"},
        {"{\"i\":nul}", "i", "no JSON value"},
        {"{\"i\":9223372036854775808}", "i", "\"9223372036854775808\" is no"},
        {"{\"i\":1.5}", "i", "\"1.5\" is no"},
        {"{\"i\":\"1\"}", "i", "1 stands where the column has int64"},
        {"{\"i\":\"a\\nb\"}", "i", "a?b stands where the column has int64"},
        {"{\"i\":true}", "i", "true stands where the column has int64"},
        {"{\"i\":[1]}", "i", "[1] stands where the column has int64"},
        {"{\"i\":{}}", "i", "{} stands where the column has int64"},
        {"{\"t\":\"x}", "t", "text without its closing quote"},
        {"{\"t\":\"\\x\"}", "t", "no such escape in text"},
        {"{\"t\":\"\\u12\"}", "t", "\\u wants four hexadecimal digits"},
        {"{\"t\":\"\\ud800\"}", "t", "half of a surrogate pair stands alone"},
        {"{\"t\":\"\\ud800\\u0041\"}", "t", "half of a surrogate pair stands alone"},
        {"{\"t\":\"\\udc00\"}", "t", "half of a surrogate pair stands alone"},
        {"{\"t\":\"a\tb\"}", "t", "a control character in text"},
        {"{\"t\":\"\xC0\xAF\"}", "t", "text is not UTF-8"},
        {"{\"t\":\"\xED\xA0\x80\"}", "t", "text is not UTF-8"},
        {"{\"\xFF\":1}", "", "text is not UTF-8"},
        {"{\"i\":1,\"i\":2}", "i", "the key comes twice in one object"},
        {"{\"new\":1}", "new", "this key first appears after the sample"},
        {"{\"new\":1,}", "", "byte 10 of the record"},
        {"{\"new\":01}", "new", "byte 8 of the record"},
        {"{\"new\":1} 2", "", "bytes follow the object"},
        {"{\"s\":{\"new\":[1,{}}}", "s.new", "expected \",\" or \"]\""},
        {"{\"l\":[1,\"x\"]}", "l[]", "x stands where the column has int64"},
        {"{\"l\":[1,2}", "l[]", "expected \",\" or \"]\""},
        {"{\"l\":3}", "l", "3 stands where the column has list<int64>"},
        {"{\"s\":{\"x\":1,\"q\":2}}", "s.q", "this key first appears after the sample"},
        {"{\"s\":{\"x\":\"y\"}}", "s.x", "y stands where the column has int64"},
        {"{\"s\":\"y\"}", "s", "y stands where the column has struct<x: int64>"},
        {"{\"d\":\"2024-02-30\"}", "d", "\"2024-02-30\" is no"},
        {"{\"d\":20240230}", "d", "20240230 stands where the column has date"},
        {"{\"r\":9007199254740993}", "r", "an integer that a double would round"},
        {"{\"r\":-99999999999999999999}", "r", "an integer that a double would round"},
        {"{\"r\":\"1.5\"}", "r", "1.5 stands where the column has double"},
        {"{\"b\":1}", "b", "1 stands where the column has bool"},
        {"{\"b\":\"true\"}", "b", "true stands where the column has bool"},
        {"[1]", "", "a record is an object in braces"},
        {"7", "", "a record is an object in braces"},
    };
    static const char first[] =
        "{\"i\":1,\"t\":\"x\",\"l\":[1],\"s\":{\"x\":1},\"d\":\"2024-01-01\","
        "\"b\":true,\"r\":0.5}\n";
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r = {.options = {.sample_bytes = 1}, .step = 200};
        tn_buf text = {0};
        char where[200];

        tn_buf_text(&text, first);
        tn_buf_text(&text, cases[i].line);
        tn_buf_text(&text, "\n{\"t\":\"after\"}\n");
        /* The sample is the first chunk: it must hold the first line alone. */
        r.step = strlen(first);
        snprintf(where, sizeof where,
                 "in.ndjson: line 2%s%s%s: ", cases[i].column[0] != '\0' ? ", column \"" : "",
                 cases[i].column, cases[i].column[0] != '\0' ? "\"" : "");
        assert_fails(cx, TARN_E_DATA, cases[i].reason, read_text(cx, tn_buf_view(&text), &r));
        if (strncmp(tarn_cx_error(cx), where, strlen(where)) != 0)
            fail_msg("case %zu: %s, want %s", i, tarn_cx_error(cx), where);
        assert_non_null(strstr(tarn_cx_error(cx), "--reject"));

        r.options.reject = note_bad;
        r.options.reject_arg = &r;
        assert_ok(cx, read_text(cx, tn_buf_view(&text), &r));
        snprintf(where, sizeof where, "in.ndjson:2:%s:", cases[i].column);
        if (strncmp((char *)r.rejected.data, where, strlen(where)) != 0)
            fail_msg("case %zu: %s, want %s", i, (char *)r.rejected.data, where);
        assert_non_null(strstr((char *)r.rejected.data, cases[i].reason));
        assert_string_equal(
            (char *)r.rows.data,
            "{\"i\":1,\"t\":\"x\",\"l\":[1],\"s\":{\"x\":1},\"d\":\"2024-01-01\",\"b\":true,"
            "\"r\":0.5}\n"
            "{\"i\":null,\"t\":\"after\",\"l\":null,\"s\":null,\"d\":null,\"b\":null,\"r\":null}"
            "\n");
        reading_clear(&r);
        tn_buf_clear(&text);
    }
    tarn_cx_close(cx);
}

static void test_ndjson_read__broken_arrays(void **state)
{
    static const struct {
        const char *text;
        int status;
        const char *why;
    } cases[] = {
        {"[{\"a\":1}", TARN_E_CORRUPT, "line 1: the array is cut off"},
        {"[{\"a\":1},\n{\"a\":", TARN_E_CORRUPT, "line 2: the array is cut off"},
        {"[{\"a\":1},]", TARN_E_DATA, "expected an object of the array"},
        {"[,{\"a\":1}]", TARN_E_DATA, "expected an object of the array"},
        {"[{\"a\":1}\n{\"a\":2}]", TARN_E_DATA, "line 2: expected \",\" or \"]\""},
        {"[{\"a\":1}]\n[{\"a\":2}]", TARN_E_DATA, "line 2: bytes follow the array"},
        {"[1]", TARN_E_DATA, "line 1: a record is an object in braces"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 0; step < 4; step++) {
            reading r = {.step = step};

            assert_fails(cx, cases[i].status, cases[i].why,
                         read_text(cx, tn_str_of(cases[i].text), &r));
            reading_clear(&r);
        }
    tarn_cx_close(cx);
}

static void make_schema(tarn_cx *cx, const char *const (*fields)[2], size_t count,
                        struct ArrowSchema *out)
{
    assert_ok(cx, tn_field_init(cx, out, "+s", TN_STR(""), false, count));
    for (size_t i = 0; i < count; i++) {
        const char *format = fields[i][1];
        bool required = format[0] == '!';

        assert_ok(cx, tn_field_init(cx, out->children[i], format + required,
                                    tn_str_of(fields[i][0]), !required, 0));
    }
}

static void test_ndjson_read__given_schema(void **state)
{
    static const char *const fields[][2] = {{"id", "!i"},      {"Name", "u"}, {"price", "d:10,2"},
                                            {"at", "tsm:UTC"}, {"f", "g"},    {"bin", "z"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    reading r = {0};
    struct ArrowSchema schema = {0};

    (void)state;
    make_schema(cx, fields, 6, &schema);
    r.options = (tn_text_read_options){.schema = &schema,
                                       .warn = note_warning,
                                       .warn_arg = &r,
                                       .reject = note_bad,
                                       .reject_arg = &r};
    assert_ok(cx, read_text(cx,
                            TN_STR("{\"name\":12,\"ID\":7,\"price\":1.50,\"at\":"
                                   "\"2024-01-01T00:00:00Z\",\"more\":{\"x\":[1]}}\n"
                                   "{\"more\":1,\"other\":2,\"id\":\"8\",\"price\":\"-0.05\","
                                   "\"f\":\"NaN\",\"bin\":\"AQI=\"}\n"
                                   "{\"name\":\"no id\"}\n"
                                   "{\"id\":null}\n"
                                   "{\"id\":2147483648}\n"
                                   "{\"id\":1,\"price\":1.505}\n"
                                   "{\"id\":1,\"bin\":5}\n"
                                   "{\"id\":7e0,\"Name\":null}\n"),
                            &r));
    assert_string_equal(
        (char *)r.rows.data,
        "{\"id\":7,\"Name\":\"12\",\"price\":1.50,\"at\":\"2024-01-01T00:00:00.000Z\",\"f\":null,"
        "\"bin\":null}\n"
        "{\"id\":8,\"Name\":null,\"price\":-0.05,\"at\":null,\"f\":\"NaN\",\"bin\":\"AQI=\"}\n"
        "{\"id\":7,\"Name\":null,\"price\":null,\"at\":null,\"f\":null,\"bin\":null}\n");
    assert_string_equal((char *)r.warned.data,
                        "in.ndjson: line 1: key \"more\" is no column and is left out|"
                        "in.ndjson: line 2: key \"other\" is no column and is left out|");
    assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:3:id:the key is missing"));
    assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:4:id:"));
    assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:5:id:\"2147483648\""));
    assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:6:price:\"1.505\""));
    assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:7:bin:5 stands"));
    tn_field_release(&schema);
    reading_clear(&r);
    tarn_cx_close(cx);
}

static void test_ndjson_read__open_schema(void **state)
{
    static const char *const fields[][2] = {{"id", "i"}, {"day", "u"}};
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    reading r = {0};

    (void)state;
    make_schema(cx, fields, 2, &schema);
    r.options = (tn_text_read_options){.schema = &schema, .schema_open = true};
    assert_ok(
        cx, read_text(cx, TN_STR("{\"x\":[1],\"day\":\"2024-01-01\",\"ID\":5,\"y\":true}\n"), &r));
    assert_string_equal((char *)r.schema.data, "id int32, day string, x list<int64>, y bool");
    assert_string_equal((char *)r.rows.data,
                        "{\"id\":5,\"day\":\"2024-01-01\",\"x\":[1],\"y\":true}\n");
    tn_field_release(&schema);
    reading_clear(&r);
    tarn_cx_close(cx);
}

static void test_ndjson_read__maps(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0}, *map, *entry;
    reading r = {0};

    (void)state;
    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
    map = schema.children[0];
    assert_ok(cx, tn_field_init(cx, map, "+m", TN_STR("m"), true, 1));
    entry = map->children[0];
    assert_ok(cx, tn_field_init(cx, entry, "+s", TN_STR("entries"), false, 2));
    assert_ok(cx, tn_field_init(cx, entry->children[0], "i", TN_STR("key"), false, 0));
    assert_ok(cx, tn_field_init(cx, entry->children[1], "u", TN_STR("value"), true, 0));
    r.options.schema = &schema;
    assert_ok(
        cx,
        read_text(cx, TN_STR("{\"m\":{\"1\":\"a\",\"2\":null}}\n{\"m\":{}}\n{\"m\":null}\n"), &r));
    assert_string_equal((char *)r.rows.data,
                        "{\"m\":{\"1\":\"a\",\"2\":null}}\n{\"m\":{}}\n{\"m\":null}\n");
    assert_fails(cx, TARN_E_DATA, "line 1, column \"m[]\": \"x\"",
                 read_text(cx, TN_STR("{\"m\":{\"x\":\"a\"}}\n"), &r));
    tn_field_release(&schema);
    reading_clear(&r);
    tarn_cx_close(cx);
}

static void test_ndjson_read__batches_and_limits(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_cx *small = tarn_cx_open(&(tarn_cx_options){.memory_bytes = 64 << 20});
    reading r = {.options = {.batch_rows = 10}};
    tn_buf text = {0}, want = {0};
    size_t len;

    (void)state;
    for (int i = 0; i < 25; i++)
        tn_buf_print(&text, "{\"a\":%d}\n", i);
    tn_buf_str(&want, tn_buf_view(&text));
    tn_buf_u8(&want, 0);
    assert_ok(cx, read_text(cx, tn_buf_view(&text), &r));
    assert_int_equal(r.batches, 3);
    assert_string_equal((char *)r.rows.data, (char *)want.data);

    tn_buf_reset(&text);
    for (int i = 0; i < 65; i++)
        tn_buf_text(&text, "{\"a\":");
    for (int i = 0; i < 65; i++)
        tn_buf_text(&text, "}");
    assert_fails(cx, TARN_E_DATA, NULL, read_text(cx, tn_buf_view(&text), &r));

    len = (16 << 20) + 100;
    tn_buf_reset(&text);
    tn_buf_text(&text, "{\"a\":\"");
    memset(tn_buf_extend(&text, len), 'x', len);
    r.step = 1 << 20;
    assert_fails(small, TARN_E_LIMIT, "line 1: a record of more than 16 MiB",
                 read_text(small, tn_buf_view(&text), &r));
    tarn_cx_close(small);
    tn_buf_clear(&text);
    tn_buf_clear(&want);
    reading_clear(&r);
    tarn_cx_close(cx);
}

/* Every cut of a good input: the records before it, and an error or nothing for the last. */
static void test_ndjson_read__cuts_and_flips(void **state)
{
    static const char text[] = "{\"a\":1,\"b\":\"x\\u00e9\",\"c\":[true,null],\"d\":{\"e\":1.5}}\n"
                               "{\"a\":2,\"b\":\"\xC3\xB6\",\"c\":[],\"d\":null}\n";
    tarn_cx *cx = tarn_cx_open(NULL);
    char copy[sizeof text];

    (void)state;
    for (size_t i = 0; i < sizeof text; i++) {
        reading r = {.step = 5};
        int rc = read_text(cx, (tn_str){text, i}, &r);

        assert_true(rc == TARN_OK || rc == TARN_E_DATA);
        reading_clear(&r);
    }
    for (size_t bit = 0; bit < (sizeof text - 1) * 8; bit++) {
        reading r = {.step = 5};
        int rc;

        memcpy(copy, text, sizeof text);
        copy[bit / 8] ^= (char)(1 << bit % 8);
        rc = read_text(cx, (tn_str){copy, sizeof text - 1}, &r);
        assert_true(rc == TARN_OK || rc == TARN_E_DATA || rc == TARN_E_CORRUPT);
        reading_clear(&r);
    }
    tarn_cx_close(cx);
}

static void test_ndjson_read__allocations_fail(void **state)
{
    static const char text[] = "{\"a\":1,\"b\":\"x\\u00e9\",\"c\":[true],\"d\":{\"e\":1.5}}\n"
                               "{\"a\":null,\"b\":\"\\n\",\"c\":[],\"d\":null}\n";
    /* Only the calling thread is watched. */
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    size_t total;

    (void)state;
    for (size_t n = 0, end = 1; n <= end; n++) {
        reading r = {.step = 7};
        int rc;

        tn_buf_reserve(&r.schema, 4096);
        tn_buf_reserve(&r.rows, 4096);
        tn_buf_reserve(&r.rejected, 4096);
        tn_buf_reserve(&r.warned, 4096);
        alloc_watch(n);
        rc = read_text(cx, tn_str_of(text), &r);
        total = alloc_unwatch();
        end = n == 0 ? total : end;
        assert_true(rc == TARN_OK || (n != 0 && rc == TARN_E_NOMEM));
        reading_clear(&r);
    }
    tarn_cx_close(cx);
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* A JSON value as tarn writes it, of a type that the sample gives back. */
static void random_value(uint64_t *state, int kind, tn_buf *out)
{
    static const char *const texts[] = {"a",  "", "\\\"q\\\"", "\\u0001", "\xC3\xB6\xE2\x82\xAC",
                                        "x y"};

    if (draw(state) % 5 == 0) {
        tn_buf_text(out, "null");
        return;
    }
    switch (kind) {
    case 0:
        tn_buf_print(out, "%lld",
                     (long long)((draw(state) << 31 | draw(state)) >> draw(state) % 60) *
                         (draw(state) % 2 ? -1 : 1));
        break;
    case 1:
        tn_buf_print(out, "%d.5", (int)(draw(state) % 1000));
        break;
    case 2:
        tn_buf_print(out, "\"%s\"", texts[draw(state) % 6]);
        break;
    case 3:
        tn_buf_text(out, draw(state) % 2 ? "true" : "false");
        break;
    case 4:
        tn_buf_print(out, "\"20%02d-0%d-1%d\"", (int)(draw(state) % 100),
                     (int)(draw(state) % 9) + 1, (int)(draw(state) % 10));
        break;
    case 5:
        tn_buf_u8(out, '[');
        for (uint64_t i = 0, n = draw(state) % 4; i < n; i++) {
            if (i > 0)
                tn_buf_u8(out, ',');
            random_value(state, 0, out);
        }
        tn_buf_u8(out, ']');
        break;
    default:
        tn_buf_text(out, "{\"x\":");
        random_value(state, 2, out);
        tn_buf_text(out, ",\"y\":");
        random_value(state, 5, out);
        tn_buf_u8(out, '}');
    }
}

/* Rows as the writer writes them come back byte for byte, however the feed cuts them. */
static void test_ndjson_read__round_trips(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        reading r = {.options = {.batch_rows = 1 + (int64_t)(seed * 7 % 50)},
                     .step = seed * 13 % 100};
        uint64_t random = seed;
        tn_buf text = {0};

        for (int row = 0; row < 100; row++) {
            for (int column = 0; column < 8; column++) {
                tn_buf_print(&text, "%s\"k%d\":", column == 0 ? "{" : ",", column);
                random_value(&random, (int)((seed + (uint64_t)column) % 7), &text);
            }
            tn_buf_text(&text, "}\n");
        }
        assert_ok(cx, read_text(cx, tn_buf_view(&text), &r));
        tn_buf_u8(&text, 0);
        assert_string_equal((char *)r.rows.data, (char *)text.data);
        reading_clear(&r);
        tn_buf_clear(&text);
    }
    tarn_cx_close(cx);
}

static void test_ndjson_read__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf record = hex_of_page("ndjson.md", "record");
    reading r = {0};

    (void)state;
    assert_ok(cx, read_text(cx, tn_buf_view(&record), &r));
    assert_string_equal((char *)r.schema.data, "a int64, b string");
    assert_string_equal((char *)r.rows.data, "{\"a\":1,\"b\":\"\xC3\xA9\"}\n");
    reading_clear(&r);
    tn_buf_clear(&record);
    tarn_cx_close(cx);
}

/* Blocks of many pieces: rows, bad records and warnings in the order of the input, with any number
 * of threads. */
static void test_ndjson_read__threads(void **state)
{
    static const char *const fields[][2] = {{"a", "l"}, {"t", "u"}};
    struct ArrowSchema schema = {0};
    tn_buf text = {0}, first[3] = {{0}};
    uint64_t rows = 0, bad = 0;

    (void)state;
    for (int i = 0; i < 12000; i++) {
        tn_buf_print(&text, i % 100 == 7 ? "{\"a\":\"x%d\"}\n" : "{\"a\":%d,\"t\":\"%040d\"", i, i);
        if (i % 100 != 7)
            tn_buf_print(&text, i % 1000 == 1 ? ",\"more%d\":1}\n\n" : "}\n", i / 1000);
        bad += i % 100 == 7;
        rows += i % 100 != 7;
    }
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        /* A small budget makes small pieces. */
        tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = jobs, .memory_bytes = 4 << 20});
        reading r = {.step = 10000};
        uint64_t lines = 0, told = 0;

        make_schema(cx, fields, 2, &schema);
        r.options = (tn_text_read_options){.schema = &schema,
                                           .warn = note_warning,
                                           .warn_arg = &r,
                                           .reject = note_bad,
                                           .reject_arg = &r,
                                           .batch_rows = 1000};
        assert_ok(cx, read_text(cx, tn_buf_view(&text), &r));
        for (const char *at = (char *)r.rows.data; (at = strchr(at, '\n')) != NULL; at++)
            lines++;
        for (const char *at = (char *)r.rejected.data; (at = strchr(at, '|')) != NULL; at++)
            told++;
        assert_int_equal(lines, rows);
        assert_int_equal(told, bad);
        if (jobs == 1) {
            tn_buf_str(&first[0], tn_buf_view(&r.rows));
            tn_buf_str(&first[1], tn_buf_view(&r.rejected));
            tn_buf_str(&first[2], tn_buf_view(&r.warned));
            /* A blank line follows every thousandth. */
            assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:9:a:\"x7\""));
            assert_non_null(strstr((char *)r.rejected.data, "in.ndjson:11920:a:\"x11907\""));
            assert_non_null(strstr((char *)r.warned.data, "line 2: key \"more0\""));
        }
        assert_true(tn_str_equal(tn_buf_view(&first[0]), tn_buf_view(&r.rows)));
        assert_true(tn_str_equal(tn_buf_view(&first[1]), tn_buf_view(&r.rejected)));
        assert_true(tn_str_equal(tn_buf_view(&first[2]), tn_buf_view(&r.warned)));
        r.options.reject = NULL;
        assert_fails(cx, TARN_E_DATA, "in.ndjson: line 9, column \"a\": \"x7\"",
                     read_text(cx, tn_buf_view(&text), &r));
        reading_clear(&r);
        tn_field_release(&schema);
        tarn_cx_close(cx);
    }
    for (int i = 0; i < 3; i++)
        tn_buf_clear(&first[i]);
    tn_buf_clear(&text);
}
