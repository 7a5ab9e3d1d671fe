/* CSV in: records and fields, nulls, headers, schemas, what is bad and how it is told. */
#include "codec/csv/csv_read.h"

#include "batch/type.h"
#include "codec/ndjson/ndjson_write.h"
#include "unit/hex.h"

/* What was read: the columns and their types, then a line of JSON a row, "reject ..." lines in
 * between; or the error. */
typedef struct result {
    tn_buf text;
    int64_t batches;
} result;

static int reject(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    result *r = arg;

    (void)cx;
    tn_buf_print(&r->text, "reject %llu,%llu %.*s: %s [%.*s]\n", (unsigned long long)bad->line,
                 (unsigned long long)bad->column_number, TN_STR_ARG(bad->column), bad->reason,
                 TN_STR_ARG(bad->record));
    return TARN_OK;
}

static void warn(void *arg, const char *text)
{
    result *r = arg;

    tn_buf_print(&r->text, "warn %s\n", text);
}

static int read_batches(tarn_cx *cx, tn_csv_read *reader, const struct ArrowSchema *schema,
                        result *r)
{
    tn_ndjson_writer *writer = NULL;
    struct ArrowArray batch = {0};
    int64_t rows;
    int rc = TARN_OK;

    TN_TRY(tn_ndjson_writer_open(cx, schema, &writer));
    do {
        TN_TRY(tn_csv_read_next(cx, reader, &batch));
        assert_ok(cx, tn_array_check(cx, schema, &batch));
        rows = batch.length;
        r->batches += rows != 0;
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, rows, &r->text));
        tn_array_release(&batch);
    } while (rows != 0);
done:
    tn_array_release(&batch);
    tn_ndjson_writer_close(writer);
    return rc;
}

static const char *read_all(tarn_cx *cx, tn_str csv, size_t step, tn_text_read_options options,
                            bool rejects, result *r)
{
    struct ArrowSchema schema = {0};
    tn_csv_read *reader = NULL;
    tn_feed *feed = NULL;
    int rc = TARN_OK;

    tn_buf_reset(&r->text);
    r->batches = 0;
    options.warn = warn;
    options.warn_arg = r;
    if (rejects) {
        options.reject = reject;
        options.reject_arg = r;
    }
    TN_TRY(tn_feed_open_memory(cx, csv.ptr, csv.len, step, TN_STR("f.csv"), &feed));
    TN_TRY(tn_csv_read_open(cx, feed, &options, &reader));
    TN_TRY(tn_csv_read_schema(cx, reader, &schema));
    for (int64_t i = 0; i < schema.n_children; i++) {
        tn_buf_print(&r->text, "%s%s ", i > 0 ? ", " : "", schema.children[i]->name);
        tn_type_print(&r->text, schema.children[i]);
    }
    tn_buf_u8(&r->text, '\n');
    TN_TRY(read_batches(cx, reader, &schema, r));
done:
    if (rc != TARN_OK)
        tn_buf_print(&r->text, "%s: %s\n", tarn_status_name(rc), tarn_cx_error(cx));
    tn_field_release(&schema);
    tn_csv_read_close(reader);
    tn_feed_close(feed);
    tn_buf_u8(&r->text, 0);
    assert_false(r->text.failed);
    return (const char *)r->text.data;
}

typedef struct read_case {
    const char *csv, *want;
    char delimiter;
    bool no_header, rejects;
    const char *null;
} read_case;

#define CASE(in, out, ...)                                                                         \
    {                                                                                              \
        .csv = (in), .want = (out), __VA_ARGS__                                                    \
    }

static void check_cases(const read_case *cases, size_t count)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    result r = {0};

    for (size_t i = 0; i < count; i++) {
        const read_case *c = &cases[i];
        tn_text_read_options options = {
            .delimiter = c->delimiter, .no_header = c->no_header, .null = tn_str_of(c->null)};

        for (size_t step = 0; step < 4; step++)
            assert_string_equal(read_all(cx, tn_str_of(c->csv), step, options, c->rejects, &r),
                                c->want);
    }
    tn_buf_clear(&r.text);
    tarn_cx_close(cx);
}

static void test_csv_read__records(void **state)
{
    static const read_case cases[] = {
        CASE("a,b\n1,x\n", "a int64, b string\n{\"a\":1,\"b\":\"x\"}\n"),
        CASE("a,b\r\n1,x\r\n2,y",
             "a int64, b string\n{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n"),
        CASE("a,b\r1,x\r2,\r", "a int64, b string\n{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n"),
        CASE("\xEF\xBB\xBF\"a\",b\n1,\n", "a int64, b string\n{\"a\":1,\"b\":null}\n"),
        CASE("a,b\n\"1\",\"x, \"\"y\"\"\n\r\nz\"\n,\"\"\n",
             "a int64, b string\n{\"a\":1,\"b\":\"x, "
             "\\\"y\\\"\\n\\r\\nz\"}\n{\"a\":null,\"b\":\"\"}\n"),
        CASE("a,b\n5\" pipe,it\"s\n",
             "a string, b string\n{\"a\":\"5\\\" pipe\",\"b\":\"it\\\"s\"}\n"),
        CASE("a,b\n\"\"\"\",\"\"\"\"\"\"\n",
             "a string, b string\n{\"a\":\"\\\"\",\"b\":\"\\\"\\\"\"}\n"),
        CASE("\n\na,b\n\n1,2\n\r\n\n3,4\n\n",
             "a int64, b int64\n{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n"),
        CASE("a\n\n1\n\n", "a int64\n{\"a\":null}\n{\"a\":1}\n{\"a\":null}\n"),
        CASE("a\r\n\r\n\"\"\r\nx\r\n", "a string\n{\"a\":null}\n{\"a\":\"\"}\n{\"a\":\"x\"}\n"),
        CASE("a,b\n", "a string, b string\n"),
        CASE("a,b", "a string, b string\n"),
        CASE("a\tb\n1,5\t\"\t\"\n", "a string, b string\n{\"a\":\"1,5\",\"b\":\"\\t\"}\n",
             .delimiter = '\t'),
        CASE("a;b\n1;2\n", "a int64, b int64\n{\"a\":1,\"b\":2}\n", .delimiter = ';'),
        CASE("1,x\n2,y\n",
             "column0 int64, column1 string\n{\"column0\":1,\"column1\":\"x\"}\n"
             "{\"column0\":2,\"column1\":\"y\"}\n",
             .no_header = true),
        CASE("\n7\n", "column0 int64\n{\"column0\":null}\n{\"column0\":7}\n", .no_header = true),
        CASE(",a,\n1,2,3\n",
             "column0 int64, a int64, column2 int64\n{\"column0\":1,\"a\":2,\"column2\":3}\n"),
        CASE("a,b\nNA,\n\"NA\",x\n7,NA\n",
             "a string, b string\n{\"a\":null,\"b\":\"\"}\n{\"a\":\"NA\",\"b\":\"x\"}\n"
             "{\"a\":\"7\",\"b\":null}\n",
             .null = "NA"),
        CASE("a,b\nNA,1\n7,\"\"\n8,\n",
             "a int64, b int64\n{\"a\":null,\"b\":1}\n{\"a\":7,\"b\":null}\n{\"a\":8,\"b\":null}\n",
             .null = "NA"),
        CASE("a,b\n2024-05-12,2024-05-12T10:00:00Z\n,2024-05-12 12:00+02:00\n",
             "a date, b timestamp[us, UTC]\n"
             "{\"a\":\"2024-05-12\",\"b\":\"2024-05-12T10:00:00.000000Z\"}\n"
             "{\"a\":null,\"b\":\"2024-05-12T10:00:00.000000Z\"}\n"),
        CASE("a,b\n007,true\n08,false\n",
             "a string, b bool\n{\"a\":\"007\",\"b\":true}\n{\"a\":\"08\",\"b\":false}\n"),
        CASE("a, b\n 1 , x \n", "a int64,  b string\n{\"a\":1,\" b\":\" x \"}\n"),
    };

    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void test_csv_read__refused(void **state)
{
    static const read_case cases[] = {
        CASE("", "DATA: f.csv: is empty: it has no header; give the columns with --schema\n"),
        CASE("\n\r\n",
             "DATA: f.csv: is empty: it has no header; give the columns with --schema\n"),
        CASE("",
             "DATA: f.csv: is empty: nothing tells its columns; give the columns with "
             "--schema\n",
             .no_header = true),
        CASE("\xFF\xFE\x61",
             "DATA: f.csv: is UTF-16; convert it to UTF-8, with iconv for example\n"),
        CASE("\na,b,a\n1,2,3\n", "DATA: f.csv: line 2: columns 1 and 3 are both named "
                                 "\"a\"; give them names of "
                                 "their own\n"),
        CASE("column1,\n1,2\n",
             "DATA: f.csv: line 1: columns 1 and 2 are both named \"column1\"; give them "
             "names of their own\n"),
        CASE("a,\xE4\n1,2\n", "DATA: f.csv: line 1: the name of column 2 is no UTF-8 "
                              "text; convert the file, "
                              "or read it without a header\n"),
        CASE("\"a\"x,b\n1,2\n", "DATA: f.csv: line 1: a name of the header goes on after "
                                "its closing quote\n"),
        CASE("a,b\n1,2\n3,\"x\ny\n4,5\n",
             "DATA: f.csv: line 3: a quote begins here and is never closed; close it, or "
             "double it where it is part of a text\n"),
        CASE("a,b\n1,2\n\"x\ny\",2\n\n5\n", "a string, b int64\nDATA: f.csv: line 6: has 1 "
                                            "field where the header has 2; fix "
                                            "it, or pass it over with --reject FILE\n"),
        CASE("a,b\n1,2,3\n", "a string, b string\nDATA: f.csv: line 2: has 3 fields "
                             "where the header has 2; "
                             "fix it, or pass it over with --reject FILE\n"),
        CASE("1,2\n1\n",
             "column0 int64, column1 int64\nDATA: f.csv: line 2: has 1 field where the "
             "first "
             "record has 2; fix it, or pass it over with --reject FILE\n",
             .no_header = true),
        CASE("a,b\n1,\"2\"x\n",
             "a string, b string\nDATA: f.csv: line 2: field 2 goes on after its closing "
             "quote; fix it, or pass it over with --reject FILE\n"),
        CASE(
            "a,b\n1,\"\xE4z\"\n",
            "a int64, b string\nDATA: f.csv: line 2, column 2 \"b\": \"?z\" is no UTF-8: "
            "its "
            "byte 1 is 0xE4 (the type is that of the first 1 row); fix it, give the column another "
            "type with --schema, or pass it over with --reject FILE\n"),
        CASE("a\n1\n",
             "INVALID: the delimiter of a CSV file is one ASCII character, neither a "
             "quote nor a line end\n",
             .delimiter = '"'),
    };

    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void test_csv_read__rejects(void **state)
{
    static const read_case cases[] = {
        CASE("a,b\n1,x\n2\n3,\"y\n\"\n\n4,5,6\n\"7\"7,8\n9,z\n",
             "a int64, b string\n"
             "reject 3,0 : has 1 field where the header has 2 [2]\n"
             "reject 7,0 : has 3 fields where the header has 2 [4,5,6]\n"
             "reject 8,0 : field 1 goes on after its closing quote [\"7\"7,8]\n"
             "{\"a\":1,\"b\":\"x\"}\n{\"a\":3,\"b\":\"y\\n\"}\n{\"a\":9,\"b\":\"z\"}\n",
             .rejects = true),
        CASE("a,b\r\n\xE4,x\r\n\r\ny,\"\xE4\"\r\n1\r\nz,\r\n\xE4,\xE4",
             "a string, b string\n"
             "reject 2,1 a: \"?\" is no UTF-8: its byte 1 is 0xE4 [\xE4,x]\n"
             "reject 4,2 b: \"?\" is no UTF-8: its byte 1 is 0xE4 [y,\"\xE4\"]\n"
             "reject 5,0 : has 1 field where the header has 2 [1]\n"
             "reject 7,1 a: \"?\" is no UTF-8: its byte 1 is 0xE4 [\xE4,\xE4]\n"
             "{\"a\":\"z\",\"b\":null}\n",
             .rejects = true),
    };

    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

/* ---- schemas */

static void make_schema(tarn_cx *cx, struct ArrowSchema *out)
{
    static const struct {
        const char *name, *format;
        bool nullable;
    } fields[] = {{"price", "d:6,2", true}, {"id", "i", false}, {"gone", "u", true}};

    assert_ok(cx, tn_field_init(cx, out, "+s", TN_STR(""), false, 3));
    for (size_t i = 0; i < 3; i++)
        assert_ok(cx, tn_field_init(cx, out->children[i], fields[i].format,
                                    tn_str_of(fields[i].name), fields[i].nullable, 0));
}

static void test_csv_read__schema(void **state)
{
    static const struct {
        const char *csv;
        bool open, no_header, rejects;
        const char *want;
    } cases[] = {
        {"id,x,price,y\n7,1,1.5,2\n", false, false, false,
         "warn f.csv: left out, as the schema lacks the columns: \"x\", \"y\"\n"
         "price decimal(6,2), id int32, gone string\n"
         "{\"price\":1.50,\"id\":7,\"gone\":null}\n"},
        {"id,x,price,y\n7,1,1.5,q\n", true, false, false,
         "price decimal(6,2), id int32, gone string, x int64, y string\n"
         "{\"price\":1.50,\"id\":7,\"gone\":null,\"x\":1,\"y\":\"q\"}\n"},
        {"1.5,7,a\n,8,\n", false, true, false,
         "price decimal(6,2), id int32, gone string\n"
         "{\"price\":1.50,\"id\":7,\"gone\":\"a\"}\n{\"price\":null,\"id\":8,\"gone\":null}\n"},
        {"1.5,7,a,9\n", true, true, false,
         "price decimal(6,2), id int32, gone string, column3 int64\n"
         "{\"price\":1.50,\"id\":7,\"gone\":\"a\",\"column3\":9}\n"},
        {"1.5,7\n", false, true, false,
         "price decimal(6,2), id int32, gone string\n"
         "DATA: f.csv: line 1: has 2 fields where the schema has 3; fix it, or pass it "
         "over with --reject FILE\n"},
        {"price\n1\n", false, false, false,
         "DATA: f.csv: has no column \"id\", and the schema lets it hold no nulls\n"},
        {"ID,Price,GONE,gonE\n7,2,a,b\n", false, false, false,
         "warn f.csv: left out, as the schema lacks the columns: \"GONE\", \"gonE\"\n"
         "price decimal(6,2), id int32, gone string\n"
         "{\"price\":2.00,\"id\":7,\"gone\":null}\n"},
        {"ID,id,Price\n1,2,3\n", false, false, false,
         "warn f.csv: left out, as the schema lacks the column: \"ID\"\n"
         "price decimal(6,2), id int32, gone string\n"
         "{\"price\":3.00,\"id\":2,\"gone\":null}\n"},
        {"", false, true, false, "price decimal(6,2), id int32, gone string\n"},
        {"id\n1\n\n2147483648\n\"\"\n", false, false, true,
         "price decimal(6,2), id int32, gone string\n"
         "reject 3,1 id: a null does not fit a column that has none []\n"
         "reject 4,1 id: \"2147483648\" is no number that int32 holds [2147483648]\n"
         "reject 5,1 id: a null does not fit a column that has none [\"\"]\n"
         "{\"price\":null,\"id\":1,\"gone\":null}\n"},
        {"id,price\nx,1.555\n1,12345.6\n1,1234.50\n", false, false, true,
         "price decimal(6,2), id int32, gone string\n"
         "reject 2,1 id: \"x\" is no number that int32 holds [x,1.555]\n"
         "reject 3,2 price: \"12345.6\" is no number that decimal(6,2) holds [1,12345.6]\n"
         "{\"price\":1234.50,\"id\":1,\"gone\":null}\n"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    result r = {0};

    (void)state;
    make_schema(cx, &schema);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_text_read_options options = {
            .schema = &schema, .schema_open = cases[i].open, .no_header = cases[i].no_header};

        assert_string_equal(read_all(cx, tn_str_of(cases[i].csv), 0, options, cases[i].rejects, &r),
                            cases[i].want);
    }
    tn_field_release(&schema);
    tn_buf_clear(&r.text);
    tarn_cx_close(cx);
}

static void test_csv_read__nested_types_are_refused(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_text_read_options options = {.schema = &schema};
    result r = {0};

    (void)state;
    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
    assert_ok(cx, tn_field_init(cx, schema.children[0], "+l", TN_STR("l"), true, 1));
    assert_ok(cx, tn_field_init(cx, schema.children[0]->children[0], "l", TN_STR("item"), true, 0));
    assert_string_equal(read_all(cx, TN_STR("l\n1\n"), 0, options, false, &r),
                        "UNSUPPORTED: f.csv: column \"l\" is nested in the schema, which CSV "
                        "cannot give; write it as NDJSON, or leave it out\n");
    assert_string_equal(read_all(cx, TN_STR("k\n1\n"), 0, options, false, &r),
                        "warn f.csv: left out, as the schema lacks the column: \"k\"\n"
                        "l list<int64>\n{\"l\":null}\n");
    tn_field_release(&schema);
    tn_buf_clear(&r.text);
    tarn_cx_close(cx);
}

/* The example of docs/format/csv.md. */
static void test_csv_read__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf csv = hex_of_page("csv.md", "csv");
    tn_text_read_options options = {0};
    result r = {0};

    (void)state;
    assert_string_equal(read_all(cx, tn_buf_view(&csv), 0, options, false, &r),
                        "a int64, b string\n{\"a\":7,\"b\":\"x \\\"y\\\"\"}\n"
                        "{\"a\":null,\"b\":\"\"}\n");
    tn_buf_clear(&csv);
    tn_buf_clear(&r.text);
    tarn_cx_close(cx);
}

/* ---- samples, batches, limits */

static void add_rows(tn_buf *csv, int first, int count)
{
    for (int i = first; i < first + count; i++)
        tn_buf_print(csv, "%d,\"name \"\"%d\"\"\",%d.5\n", i, i % 100, i);
}

/* A value that the sample does not show: the message says where the type comes from. */
static void test_csv_read__sample(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_text_read_options options = {.sample_bytes = 64};
    result r = {0};
    tn_buf csv = {0};

    (void)state;
    tn_buf_text(&csv, "a,b,c\n");
    add_rows(&csv, 10, 100);
    tn_buf_text(&csv, "12,x,\"12,50\"\n");
    read_all(cx, tn_buf_view(&csv), 7, options, false, &r);
    assert_non_null(strstr((char *)r.text.data, "a int64, b string, c double\n"));
    assert_non_null(
        strstr((char *)r.text.data,
               "DATA: f.csv: line 102, column 3 \"c\": \"12,50\" is no number that double "
               "holds (the type is that of the first 3 rows); fix it, give the column another type "
               "with --schema, or pass it over with --reject FILE\n"));
    options.sample_bytes = 0;
    read_all(cx, tn_buf_view(&csv), 0, options, false, &r);
    assert_non_null(strstr((char *)r.text.data, "a int64, b string, c string\n"));
    tn_buf_clear(&csv);
    tn_buf_clear(&r.text);
    tarn_cx_close(cx);
}

/* A look at the columns: what has no value is of no type; what a full sample cuts is not there. */
static void test_csv_read__sample_alone(void **state)
{
    static const struct {
        const char *csv;
        size_t sample_bytes, rows;
        const char *want;
    } cases[] = {
        {"a,b,c\n1,,x\n2,\"\",y\n", 0, 2, "struct<a: int32, b: null, c: string>"},
        {"a,b\n1,x\n2,\"y\n", 14, 1, "struct<a: int32, b: string>"},
        {"a,b\n1,2024-05-12\n2,2024-05-1", 28, 1, "struct<a: int32, b: date>"},
        {"a,b\n1,2024-05-12\n2,2024-05-1", 29, 2, "struct<a: int32, b: string>"},
        {"a,b\n1,2\n3,4\r", 12, 1, "struct<a: int32, b: int32>"},
        {"a,b\n1,3000000000\n3,-2147483648", 0, 2, "struct<a: int32, b: int64>"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_text_read_options options = {.sample_bytes = cases[i].sample_bytes};
        struct ArrowSchema schema = {0};
        tn_feed *feed = NULL;
        tn_buf types = {0};
        uint64_t rows = 0;

        assert_ok(cx, tn_feed_open_memory(cx, cases[i].csv, strlen(cases[i].csv), 0,
                                          TN_STR("f.csv"), &feed));
        assert_ok(cx, tn_csv_read_sample(cx, feed, &options, &schema, &rows));
        tn_type_print(&types, &schema);
        tn_buf_u8(&types, 0);
        assert_string_equal((char *)types.data, cases[i].want);
        assert_int_equal(rows, cases[i].rows);
        tn_buf_clear(&types);
        tn_field_release(&schema);
        tn_feed_close(feed);
    }
    tarn_cx_close(cx);
}

/* Types of a sample of another time: bad values are told so. */
static void test_csv_read__types_of_a_sample_before(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_text_read_options options = {.schema = &schema, .inferred_rows = 1234};
    result r = {0};

    (void)state;
    make_schema(cx, &schema);
    read_all(cx, TN_STR("id\nx\n"), 0, options, false, &r);
    assert_non_null(
        strstr((char *)r.text.data,
               "\"x\" is no number that int32 holds (the type is that of the first 1234 "
               "rows); fix it"));
    tn_buf_clear(&r.text);
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

/* Batches of any size, more than one piece of text, with and without threads: the same rows. */
static void test_csv_read__batches(void **state)
{
    static const tarn_cx_options four = {.jobs = 4};
    tarn_cx *cx = tarn_cx_open(NULL), *threads = tarn_cx_open(&four);
    tn_text_read_options options = {0};
    result r = {0}, want = {0};
    tn_buf csv = {0};

    (void)state;
    tn_buf_text(&csv, "a,b,c\n");
    for (int i = 0; i < 20; i++) {
        add_rows(&csv, i * 1000, 1000);
        tn_buf_text(&csv, "7\n\xE4,\n\n");
    }
    read_all(cx, tn_buf_view(&csv), 0, options, true, &want);
    assert_int_equal(want.batches, 1);
    read_all(threads, tn_buf_view(&csv), 12345, options, true, &r);
    assert_string_equal((char *)r.text.data, (char *)want.text.data);
    options.batch_rows = 7000;
    read_all(cx, tn_buf_view(&csv), 100, options, true, &r);
    assert_int_equal(r.batches, 3);
    assert_true(r.text.len == want.text.len);
    tn_buf_clear(&r.text);
    tn_buf_clear(&want.text);
    tn_buf_clear(&csv);
    tarn_cx_close(cx);
    tarn_cx_close(threads);
}
