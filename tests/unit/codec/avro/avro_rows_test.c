/* Avro records into columns. Bytes of whole records were made by fastavro 1.12. */
#include "codec/avro/avro_rows.h"

#include "batch/array.h"
#include "batch/field.h"
#include "codec/avro/avro_arrow.h"
#include "codec/ndjson/ndjson_write.h"
#include "unit/hex.h"

#define RECORD(fields)    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"

typedef struct fixture {
    tarn_cx *cx;
    tn_avro_schema writer, reader;
    struct ArrowSchema columns;
    tn_avro_rows *rows;
} fixture;

/* `reader` NULL: the writer's columns. */
static fixture open_schemas(const char *writer, const char *reader)
{
    fixture f = {.cx = tarn_cx_open(NULL)};

    assert_ok(f.cx, tn_avro_schema_parse(f.cx, tn_str_of(writer), "writer", &f.writer));
    assert_ok(f.cx, tn_avro_schema_parse(f.cx, tn_str_of(reader != NULL ? reader : writer),
                                         "reader", &f.reader));
    assert_ok(f.cx, tn_avro_arrow_of(f.cx, f.reader.root, &f.columns));
    return f;
}

static fixture open_rows(const char *writer, const char *reader)
{
    fixture f = open_schemas(writer, reader);

    assert_ok(f.cx, tn_avro_rows_open(f.cx, f.writer.root, &f.columns, TN_STR("here"), &f.rows));
    return f;
}

static void close_rows(fixture *f)
{
    tn_avro_rows_close(f->rows);
    tn_field_release(&f->columns);
    tn_avro_schema_clear(&f->writer);
    tn_avro_schema_clear(&f->reader);
    tarn_cx_close(f->cx);
}

static int add(fixture *f, const char *hex)
{
    tn_buf bytes = hex_of(hex);
    int rc = tn_avro_rows_add(f->cx, f->rows, tn_buf_view(&bytes));

    tn_buf_clear(&bytes);
    return rc;
}

/* What was added, as NDJSON; begins anew. */
static void assert_rows(fixture *f, const char *want)
{
    struct ArrowArray array = {0};
    tn_ndjson_writer *writer = NULL;
    tn_buf out = {0};

    assert_ok(f->cx, tn_avro_rows_take(f->cx, f->rows, &array));
    assert_ok(f->cx, tn_array_check(f->cx, &f->columns, &array));
    assert_ok(f->cx, tn_ndjson_writer_open(f->cx, &f->columns, &writer));
    assert_ok(f->cx, tn_ndjson_writer_rows(f->cx, writer, &array, 0, array.length, &out));
    tn_buf_u8(&out, 0);
    assert_string_equal((char *)out.data, want);
    assert_int_equal(tn_avro_rows_count(f->rows), 0);
    tn_ndjson_writer_close(writer);
    tn_array_release(&array);
    tn_buf_clear(&out);
}

#define ALL_TYPES                                                                                                             \
    RECORD(                                                                                                                   \
        FIELD("b", "\"boolean\"") "," FIELD("i", "\"int\"") "," FIELD("l", "\"long\"") "," FIELD("f", "\"float\"") "," FIELD( \
            "d",                                                                                                              \
            "\"double\"") "," FIELD("s",                                                                                      \
                                    "\"string\"") "," FIELD("y",                                                              \
                                                            "\"bytes\"") "," FIELD("x",                                       \
                                                                                   "{\"type"                                  \
                                                                                   "\":"                                      \
                                                                                   "\"fixed"                                  \
                                                                                   "\","                                      \
                                                                                   "\"name\""                                 \
                                                                                   ":\"X\","                                  \
                                                                                   "\"size\""                                 \
                                                                                   ":3}") "," FIELD("e",                      \
                                                                                                    "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"RED\",\"GREEN\"]}"))

#define LOGICAL(base, name) "{\"type\":\"" base "\",\"logicalType\":\"" name "\"}"
#define LOGICAL_TYPES                                                                                                                                                                                           \
    RECORD(FIELD("date", LOGICAL("int", "date")) "," FIELD("tm", LOGICAL("int", "time-millis")) "," FIELD("tu", LOGICAL("long", "time-micros")) "," FIELD("sm", LOGICAL("long", "timestamp-millis")) "," FIELD( \
        "su",                                                                                                                                                                                                   \
        LOGICAL(                                                                                                                                                                                                \
            "long",                                                                                                                                                                                             \
            "timestamp-micros")) "," FIELD("lm",                                                                                                                                                                \
                                           LOGICAL(                                                                                                                                                             \
                                               "long",                                                                                                                                                          \
                                               "local-"                                                                                                                                                         \
                                               "timestamp-"                                                                                                                                                     \
                                               "millis")) "," FIELD("lu",                                                                                                                                       \
                                                                    LOGICAL(                                                                                                                                    \
                                                                        "lon"                                                                                                                                   \
                                                                        "g",                                                                                                                                    \
                                                                        "loca"                                                                                                                                  \
                                                                        "l-"                                                                                                                                    \
                                                                        "time"                                                                                                                                  \
                                                                        "stam"                                                                                                                                  \
                                                                        "p-"                                                                                                                                    \
                                                                        "micr"                                                                                                                                  \
                                                                        "os")) "," FIELD("db",                                                                                                                  \
                                                                                         "{\""                                                                                                                  \
                                                                                         "typ"                                                                                                                  \
                                                                                         "e\""                                                                                                                  \
                                                                                         ":\""                                                                                                                  \
                                                                                         "byt"                                                                                                                  \
                                                                                         "es"                                                                                                                   \
                                                                                         "\","                                                                                                                  \
                                                                                         "\"l"                                                                                                                  \
                                                                                         "ogi"                                                                                                                  \
                                                                                         "cal"                                                                                                                  \
                                                                                         "Typ"                                                                                                                  \
                                                                                         "e\""                                                                                                                  \
                                                                                         ":\""                                                                                                                  \
                                                                                         "dec"                                                                                                                  \
                                                                                         "ima"                                                                                                                  \
                                                                                         "l\""                                                                                                                  \
                                                                                         ",\""                                                                                                                  \
                                                                                         "pre"                                                                                                                  \
                                                                                         "cis"                                                                                                                  \
                                                                                         "ion"                                                                                                                  \
                                                                                         "\":"                                                                                                                  \
                                                                                         "38,"                                                                                                                  \
                                                                                         "\"s"                                                                                                                  \
                                                                                         "cal"                                                                                                                  \
                                                                                         "e\""                                                                                                                  \
                                                                                         ":2"                                                                                                                   \
                                                                                         "}") "," FIELD("df",                                                                                                   \
                                                                                                        "{\"type\":\"fixed\",\"size\":5,\"name\":\"F\","                                                        \
                                                                                                        "\"logicalType\":\"decimal\",\"precision\":10,\"scale\":3}") "," FIELD("u",                             \
                                                                                                                                                                               LOGICAL(                         \
                                                                                                                                                                                   "string",                    \
                                                                                                                                                                                   "uuid")))

#define NESTED_TYPES                                                                               \
    RECORD(FIELD(                                                                                  \
        "p",                                                                                       \
        "[\"null\",{\"type\":\"record\",\"name\":\"P\",\"fields\":["                               \
        "{\"name\":\"a\",\"type\":[\"null\",\"int\"]},"                                            \
        "{\"name\":\"b\",\"type\":[\"string\",\"null\"]}]}]") "," FIELD("n",                       \
                                                                        "{\"type\":\"array\","     \
                                                                        "\"items\":[\"null\","     \
                                                                        "{\"type\":\"array\","     \
                                                                        "\"items\":\"int\"}]"      \
                                                                        "}") "," FIELD("m",        \
                                                                                       "[\"nu"     \
                                                                                       "ll\","     \
                                                                                       "{\"ty"     \
                                                                                       "pe\":"     \
                                                                                       "\"map"     \
                                                                                       "\","       \
                                                                                       "\"val"     \
                                                                                       "ues\""     \
                                                                                       ":["        \
                                                                                       "\"nul"     \
                                                                                       "l\","      \
                                                                                       "\"P\""     \
                                                                                       "]}]"))

#define WIDE_TYPES                                                                                 \
    RECORD(FIELD("i", "\"int\"") "," FIELD("l", "\"long\"") "," FIELD("f", "\"float\"") "," FIELD( \
        "d",                                                                                       \
        "\"double\"") "," FIELD("dt",                                                              \
                                LOGICAL("int",                                                     \
                                        "date")) "," FIELD("s",                                    \
                                                           "\"string\"") "," FIELD("y",            \
                                                                                   "\"bytes\""))
#define WIDE_BYTES "548180808080808020cdcc8c3f000000205fa002428cb502102031322e33343520046f6b"
#define NUMERIC(p, s)                                                                              \
    "[\"null\",{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":" p ",\"scale\":" s   \
    "}]"

static const char skipped[] = RECORD(FIELD(
    "a",
    "{\"type\":\"array\",\"items\":{\"type\":\"map\",\"values\":\"string\"}"
    "}") "," FIELD("b",
                   "[\"null\",{\"type\":\"fixed\",\"name\":\"G\","
                   "\"size\":2}]") "," FIELD("k",
                                             "\"int\"") "," FIELD("d1",
                                                                  "\"double\"") "," FIELD("f1",
                                                                                          "\"float"
                                                                                          "\"") "," FIELD("x1",
                                                                                                          "\"boolean\"") "," FIELD("z",
                                                                                                                                   "\"string\"") "," FIELD("e",
                                                                                                                                                           "{\"type\":"
                                                                                                                                                           "\"enum\",\"name\":"
                                                                                                                                                           "\"E\",\"symbols\":"
                                                                                                                                                           "[\"A\"]}") "," FIELD("last",
                                                                                                                                                                                 "\"long\""));

static const struct {
    const char *writer, *reader, *hex[4], *want;
} known[] = {
    {ALL_TYPES,
     NULL,
     {"010d8080808080400000c03f000000000000d0bf0668c3a90400ff61626302"},
     "{\"b\":true,\"i\":-7,\"l\":1099511627776,\"f\":1.5,\"d\":-0.25,\"s\":\"h\u00e9\","
     "\"y\":\"AP8=\",\"x\":\"YWJj\",\"e\":\"GREEN\"}\n"},
    {LOGICAL_TYPES,
     NULL,
     {"9eb6028ac4aa228aa0a39c8c028ed4f5c3ed63018ed4f5c3ed638ea098cfda8f8c0612bd12edc4f427dfc5ecff"
      "fffffa244866383164346661652d376465632d313164302d613736352d303061306339316536626636"},
     "{\"date\":\"2024-05-12\",\"tm\":\"10:00:00.005\",\"tu\":\"10:00:00.000005\","
     "\"sm\":\"2024-05-12T10:00:00.007Z\",\"su\":\"1969-12-31T23:59:59.999999Z\","
     "\"lm\":\"2024-05-12T10:00:00.007\",\"lu\":\"2024-05-12T10:00:00.000007\","
     "\"db\":-12345678901234567890.12,\"df\":-1.500,"
     "\"u\":\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"}\n"},
    {NESTED_TYPES,
     NULL,
     {"020202000278060204020400000200000204026b020002027a0000", "000000"},
     "{\"p\":{\"a\":1,\"b\":\"x\"},\"n\":[[1,2],null,[]],\"m\":{\"k\":{\"a\":null,\"b\":null},"
     "\"z\":null}}\n{\"p\":null,\"n\":[],\"m\":null}\n"},
    /* Blocks that say how many bytes they take. */
    {NESTED_TYPES,
     NULL,
     {"00 05 10 02 01 02 0e 00 00 02 00 00 02 01 06 02 7a 00 00"},
     "{\"p\":null,\"n\":[[7],null,[]],\"m\":{\"z\":null}}\n"},
    /* What is not wanted is skipped, wherever it stands, and columns come in the reader's order. */
    {skipped,
     RECORD(FIELD("last", "\"long\"") "," FIELD("none", "[\"null\",\"double\"]") "," FIELD(
         "zero", "\"int\"") "," FIELD("k", "\"int\"")),
     {"04020271027700000002616216000000000000f03f0000004000067a7a7a0005"},
     "{\"last\":-3,\"none\":null,\"zero\":0,\"k\":11}\n"},
    {skipped,
     RECORD(FIELD("z", "\"string\"")),
     {"04020271027700000002616216000000000000f03f0000004000067a7a7a0005"},
     "{\"z\":\"zzz\"}\n"},
    {NESTED_TYPES,
     RECORD(FIELD("m", "[\"null\",{\"type\":\"map\",\"values\":[\"null\",{\"type\":\"record\","
                       "\"name\":\"P\",\"fields\":[{\"name\":\"c\",\"type\":[\"null\",\"int\"]},"
                       "{\"name\":\"a\",\"type\":[\"null\",\"double\"]}]}]}]")),
     {"020202000278060204020400000200000204026b02020202027a0000"},
     "{\"m\":{\"k\":{\"c\":null,\"a\":1.0},\"z\":null}}\n"},
    /* The ways that a column may have been widened. */
    {WIDE_TYPES,
     RECORD(
         FIELD("i", "\"long\"") "," FIELD("l", "\"float\"") "," FIELD("f", "\"double\"") "," FIELD(
             "d",
             "\"string\"") "," FIELD("dt",
                                     "\"string\"") "," FIELD("s",
                                                             "\"bytes\"") "," FIELD("y",
                                                                                    "\"string\"")),
     {WIDE_BYTES},
     "{\"i\":42,\"l\":-9007199000000000.0,\"f\":1.1,\"d\":\"1.0E10\",\"dt\":\"2024-02-29\","
     "\"s\":\"IDEyLjM0NSA=\",\"y\":\"ok\"}\n"},
    {WIDE_TYPES,
     RECORD(FIELD("i", NUMERIC("4", "2")) "," FIELD("l", NUMERIC("18", "2")) "," FIELD(
         "f", NUMERIC("5", "0")) "," FIELD("d", NUMERIC("11", "0")) "," FIELD("s",
                                                                              NUMERIC("6", "2"))),
     {WIDE_BYTES},
     "{\"i\":42.00,\"l\":-9007199254740993.00,\"f\":1,\"d\":10000000000,\"s\":12.35}\n"},
    {WIDE_TYPES,
     RECORD(FIELD("i", "\"string\"") "," FIELD("f", "\"string\"")),
     {WIDE_BYTES},
     "{\"i\":\"42\",\"f\":\"1.1\"}\n"},
    /* Names that differ in case alone, where nothing else could be meant. */
    {RECORD(FIELD("Id", "\"int\"") "," FIELD("a", "\"int\"") "," FIELD("A", "\"int\"")),
     RECORD(FIELD("ID", "\"int\"") "," FIELD("A", "\"int\"")),
     {"020406"},
     "{\"ID\":1,\"A\":3}\n"},
    {RECORD(FIELD("a", "\"int\"") "," FIELD("b", "\"int\"") "," FIELD("B", "\"int\"")),
     RECORD(FIELD("a", "\"int\"") "," FIELD("A", "[\"null\",\"int\"]")),
     {"020406"},
     "{\"a\":1,\"A\":null}\n"},
    /* A field of nulls alone is one that is not there. */
    {RECORD(FIELD("a", "\"null\"") "," FIELD("b", "\"int\"")),
     RECORD(FIELD("a", "[\"null\",\"string\"]") "," FIELD("b", "[\"null\",\"int\"]")),
     {"04"},
     "{\"a\":null,\"b\":2}\n"},
};

static void test_avro_rows__known_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        fixture f = open_rows(known[i].writer, known[i].reader);

        for (size_t n = 0; n < 4 && known[i].hex[n] != NULL; n++)
            assert_ok(f.cx, add(&f, known[i].hex[n]));
        assert_rows(&f, known[i].want);
        close_rows(&f);
    }
}

#define UNION_TYPES                                                                                \
    RECORD(FIELD("o", "[\"string\",\"null\"]") "," FIELD("one", "[\"long\"]") "," FIELD(           \
        "w",                                                                                       \
        "[\"null\",\"int\",\"long\"]") "," FIELD("r",                                              \
                                                 "[\"double\",\"float\"]") "," FIELD("c",          \
                                                                                     "[\"null\","  \
                                                                                     "\"string\"," \
                                                                                     "{\"type\":"  \
                                                                                     "\"record\"," \
                                                                                     "\"name\":"   \
                                                                                     "\"Q\","      \
                                                                                     "\"fields\":" \
                                                                                     "[{\"name\":" \
                                                                                     "\"q\","      \
                                                                                     "\"type\":"   \
                                                                                     "\"int\"}]}," \
                                                                                     "\"boolean\"" \
                                                                                     "]"))

/* The branches of a union in any order, a union of one, and of several types. */
static void test_avro_rows__unions(void **state)
{
    static const char *const hex[] = {"000261000a04808080804000000000000000e03f020274",
                                      "020009020600000000000000d03f0412",
                                      "000000000000000000000000f03f00",
                                      "000000000000000000000000f03f0601", "0000000000020000004000"};
    fixture f = open_rows(
        UNION_TYPES,
        RECORD(FIELD("o", "[\"null\",\"string\"]") "," FIELD("one", "\"long\"") "," FIELD(
            "w",
            "[\"null\",\"long\"]") "," FIELD("r",
                                             "\"double\"") "," FIELD("c",
                                                                     "[\"null\",{\"type\":"
                                                                     "\"record\",\"name\":\"C\","
                                                                     "\"fields\":["
                                                                     "{\"name\":\"member0\","
                                                                     "\"type\":[\"null\","
                                                                     "\"string\"]},"
                                                                     "{\"name\":\"member1\","
                                                                     "\"type\":[\"null\",{\"type\":"
                                                                     "\"record\",\"name\":\"Q\","
                                                                     "\"fields\":[{\"name\":\"q\","
                                                                     "\"type\":\"int\"}]}]},"
                                                                     "{\"name\":\"member2\","
                                                                     "\"type\":[\"null\","
                                                                     "\"boolean\"]}]}]")));

    (void)state;
    for (size_t i = 0; i < sizeof hex / sizeof hex[0]; i++)
        assert_ok(f.cx, add(&f, hex[i]));
    assert_rows(&f, "{\"o\":\"a\",\"one\":5,\"w\":8589934592,\"r\":0.5,\"c\":{\"member0\":\"t\","
                    "\"member1\":null,\"member2\":null}}\n"
                    "{\"o\":null,\"one\":-5,\"w\":3,\"r\":0.25,\"c\":{\"member0\":null,"
                    "\"member1\":{\"q\":9},\"member2\":null}}\n"
                    "{\"o\":\"\",\"one\":0,\"w\":null,\"r\":1.0,\"c\":null}\n"
                    "{\"o\":\"\",\"one\":0,\"w\":null,\"r\":1.0,\"c\":{\"member0\":null,"
                    "\"member1\":null,\"member2\":true}}\n"
                    "{\"o\":\"\",\"one\":0,\"w\":null,\"r\":2.0,\"c\":null}\n");
    close_rows(&f);
}

/* A bad record leaves nothing behind, at no depth; those before and after it stay. */
static void test_avro_rows__bad_records_are_dropped(void **state)
{
    static const struct {
        const char *hex;
        int status;
        const char *part;
    } cases[] = {
        {"", TARN_E_CORRUPT, "here: Avro: byte 0: field \"p\": a number that is cut off"},
        {"04", TARN_E_CORRUPT, "field \"p\": a branch that the union has not"},
        {"02 02", TARN_E_CORRUPT, "field \"p.a\": a number that is cut off"},
        {"02 02 02 00 7f", TARN_E_CORRUPT, "field \"p.b\": a length beyond the end"},
        {"02 02 02 00 03", TARN_E_CORRUPT, "field \"p.b\": a length beyond the end"},
        {"02 02 02 00 02 78 06 02 04 02", TARN_E_CORRUPT, "field \"n.[]"},
        {"00 fe ff ff ff 0f 00", TARN_E_CORRUPT, "field \"n\": a count beyond the end"},
        {"00 01 ff ff ff ff ff ff ff ff ff ff 01", TARN_E_CORRUPT, "longer than 10 bytes"},
        {"00 03 7f 00 00 00", TARN_E_CORRUPT, "a block beyond the end"},
        {"00 03 02 00 00 00 00", TARN_E_CORRUPT, "a block of another size than it says"},
        {"00 02 02 02 80 80 80 80 10 00", TARN_E_CORRUPT, "an int of more than 32 bits"},
        {"00 00 02 02 02 6b 02 02 08", TARN_E_CORRUPT, "field \"m.value.b\": a number"},
        {"00 00 00 00", TARN_E_CORRUPT, "byte 3: the record ends here, and 1 bytes are left"},
    };
    fixture f = open_rows(NESTED_TYPES, NULL);

    (void)state;
    assert_ok(f.cx, add(&f, "020202000278060204020400000200000204026b020002027a0000"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_fails(f.cx, cases[i].status, cases[i].part, add(&f, cases[i].hex));
        assert_int_equal(tn_avro_rows_count(f.rows), 1);
    }
    assert_ok(f.cx, add(&f, "00 02 02 02 0e 00 00 00"));
    assert_rows(&f, "{\"p\":{\"a\":1,\"b\":\"x\"},\"n\":[[1,2],null,[]],\"m\":{\"k\":{\"a\":null,"
                    "\"b\":null},\"z\":null}}\n{\"p\":null,\"n\":[[7]],\"m\":null}\n");
    close_rows(&f);
}

/* Items that take no bytes could be any number of them. */
static void test_avro_rows__items_without_bytes_are_bounded(void **state)
{
    const char *writer = RECORD(FIELD("n", "{\"type\":\"array\",\"items\":{\"type\":\"record\","
                                           "\"name\":\"E\",\"fields\":[]}}"));
    const char *reader = RECORD(FIELD("n", "{\"type\":\"array\",\"items\":{\"type\":\"record\","
                                           "\"name\":\"E\",\"fields\":[{\"name\":\"a\",\"type\":"
                                           "[\"null\",\"int\"]}]}}"));
    fixture f = open_rows(writer, reader);
    int rc = TARN_OK;

    (void)state;
    assert_ok(f.cx, add(&f, "04 00"));
    assert_fails(f.cx, TARN_E_LIMIT, "empty items", add(&f, "fe ff ff ff 0f 00"));
    assert_fails(f.cx, TARN_E_LIMIT, "empty items", add(&f, "80 80 08 02 00"));
    assert_rows(&f, "{\"n\":[{\"a\":null},{\"a\":null}]}\n");
    for (int i = 0; i < 1000 && rc == TARN_OK; i++)
        rc = add(&f, "80 80 08 00"); /* 65,536 of them, time and again */
    assert_int_equal(rc, TARN_E_LIMIT);
    close_rows(&f);
}

/* Schemas without a way from the one to the other are refused by field and types. */
static void test_avro_rows__ways_that_are_none(void **state)
{
    static const struct {
        const char *writer, *reader, *part;
    } cases[] = {
        {"\"long\"", "\"int\"", "here: field \"a\": data of type int64 cannot be read as int32"},
        {"\"string\"", "\"int\"", "data of type string cannot be read as int32"},
        {"\"boolean\"", "\"string\"", "data of type bool cannot be read as string"},
        {"{\"type\":\"array\",\"items\":\"long\"}", "{\"type\":\"array\",\"items\":\"int\"}",
         "field \"a.[]\": data of type int64 cannot be read as int32"},
        {"{\"type\":\"array\",\"items\":\"long\"}", "\"string\"",
         "data of type array cannot be read as string"},
        {"{\"type\":\"map\",\"values\":\"long\"}", "{\"type\":\"array\",\"items\":\"int\"}",
         "data of type map cannot be read as list"},
        {"{\"type\":\"record\",\"name\":\"P\",\"fields\":[]}", "\"string\"",
         "data of type record cannot be read as string"},
        {"\"double\"", "\"float\"", "data of type double cannot be read as float"},
        {"[\"null\",\"int\",\"string\"]", "[\"null\",\"string\"]",
         "data of type union of several types cannot be read as string"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char writer[256], reader[256];
        fixture f;

        snprintf(writer, sizeof writer, RECORD(FIELD("a", "%s")), cases[i].writer);
        snprintf(reader, sizeof reader, RECORD(FIELD("a", "%s")), cases[i].reader);
        f = open_schemas(writer, reader);
        assert_fails(f.cx, TARN_E_UNSUPPORTED, cases[i].part,
                     tn_avro_rows_open(f.cx, f.writer.root, &f.columns, TN_STR("here"), &f.rows));
        close_rows(&f);
    }
}

static void test_avro_rows__null_where_none_is_allowed(void **state)
{
    fixture f = open_rows(RECORD(FIELD("a", "[\"null\",\"int\"]")), RECORD(FIELD("a", "\"int\"")));

    (void)state;
    assert_fails(f.cx, TARN_E_CORRUPT, "field \"a\": null, where the column allows none",
                 add(&f, "00"));
    assert_ok(f.cx, add(&f, "02 04"));
    assert_rows(&f, "{\"a\":2}\n");
    close_rows(&f);
}

/* Every start of a datum, and every byte of it changed, ends in a status. */
static void test_avro_rows__damage(void **state)
{
    tn_buf whole = hex_of("020202000278060204020400000200000204026b020002027a0000");
    fixture f = open_rows(NESTED_TYPES, NULL);

    (void)state;
    for (size_t len = 0; len < whole.len; len++) {
        uint8_t *exact = malloc(len + 1); /* so that a read beyond it is seen */

        memcpy(exact, whole.data, len);
        exact = realloc(exact, len > 0 ? len : 1);
        assert_int_not_equal(tn_avro_rows_add(f.cx, f.rows, (tn_str){(char *)exact, len}), TARN_OK);
        free(exact);
    }
    for (size_t bit = 0; bit < whole.len * 8; bit++) {
        whole.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        (void)tn_avro_rows_add(f.cx, f.rows, tn_buf_view(&whole));
        whole.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(tn_avro_rows_bytes(f.rows) > 0);
    tn_buf_clear(&whole);
    close_rows(&f);
}

/* Many rows in several batches: room grows, and offsets begin anew. */
static void test_avro_rows__batches(void **state)
{
    fixture f = open_rows(NESTED_TYPES, RECORD(FIELD("n", "{\"type\":\"array\",\"items\":[\"null\","
                                                          "{\"type\":\"array\",\"items\":\"long\"}"
                                                          "]}")));

    (void)state;
    for (int batch = 0; batch < 3; batch++) {
        struct ArrowArray array = {0};
        const int32_t *outer, *inner;

        for (int i = 0; i < 1000; i++)
            assert_ok(f.cx, add(&f, "020202000278060204020400000200000204026b020002027a0000"));
        assert_ok(f.cx, tn_avro_rows_take(f.cx, f.rows, &array));
        assert_ok(f.cx, tn_array_check(f.cx, &f.columns, &array));
        outer = array.children[0]->buffers[1];
        inner = array.children[0]->children[0]->buffers[1];
        assert_int_equal(outer[1000], 3000);
        assert_int_equal(inner[3000], 2000);
        assert_int_equal(
            ((const int64_t *)array.children[0]->children[0]->children[0]->buffers[1])[1999], 2);
        tn_array_release(&array);
    }
    assert_rows(&f, "");
    close_rows(&f);
}
