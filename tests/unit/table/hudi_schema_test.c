#include "table/hudi_schema.h"

#include "batch/field.h"
#include "codec/avro/avro_arrow.h"
#include "unit/test.h"

/* The Arrow schema of a record with these fields of Avro. */
static void schema_of(tarn_cx *cx, const char *fields, struct ArrowSchema *out)
{
    char text[2048];
    tn_avro_schema schema = {0};

    snprintf(text, sizeof text, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[%s]}", fields);
    assert_ok(cx, tn_avro_schema_parse(cx, tn_str_of(text), "test", &schema));
    assert_ok(cx, tn_avro_arrow_of(cx, schema.root, out));
    tn_avro_schema_clear(&schema);
}

#define FIELD(name, type)    "{\"name\":\"" name "\",\"type\":" type "}"
#define OPTIONAL(name, type) "{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"default\":null}"
#define INT                  "\"int\""
#define LONG                 "\"long\""
#define FLOAT                "\"float\""
#define DOUBLE               "\"double\""
#define STRING               "\"string\""
#define STRUCT(fields)       "{\"type\":\"record\",\"name\":\"s\",\"fields\":[" fields "]}"
#define LIST(item)           "{\"type\":\"array\",\"items\":" item "}"

static void test_hudi_schema__evolves_as_hudi_allows(void **state)
{
    static const struct {
        const char *table, *rows;
        bool changed;
        const char *want;
    } cases[] = {
        {FIELD("a", INT), FIELD("a", INT), false, FIELD("a", INT)},
        {FIELD("a", INT), FIELD("a", LONG), true, FIELD("a", LONG)},
        {FIELD("a", LONG), FIELD("a", INT), false, FIELD("a", LONG)},
        {FIELD("a", LONG), FIELD("a", FLOAT), true, FIELD("a", FLOAT)},
        {OPTIONAL("a", FLOAT), OPTIONAL("a", DOUBLE), true, OPTIONAL("a", DOUBLE)},
        {FIELD("a", INT), FIELD("a", STRING), true, FIELD("a", STRING)},
        {FIELD("a", INT), FIELD("b", INT) "," FIELD("a", INT), true,
         FIELD("a", INT) "," OPTIONAL("b", INT)},
        {OPTIONAL("a", INT) "," FIELD("b", INT), FIELD("b", INT), false,
         OPTIONAL("a", INT) "," FIELD("b", INT)},
        {OPTIONAL("s", STRUCT(OPTIONAL("x", INT))),
         OPTIONAL("s", STRUCT(OPTIONAL("y", STRING) "," OPTIONAL("x", LONG))), true,
         OPTIONAL("s", STRUCT(OPTIONAL("x", LONG) "," OPTIONAL("y", STRING)))},
        {FIELD("l", LIST(INT)), FIELD("l", LIST(LONG)), true, FIELD("l", LIST(LONG))},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema table = {0}, rows = {0}, want = {0}, got = {0};
        tn_buf a = {0}, b = {0};
        bool changed;

        schema_of(cx, cases[i].table, &table);
        schema_of(cx, cases[i].rows, &rows);
        schema_of(cx, cases[i].want, &want);
        assert_ok(cx, tn_hudi_schema_evolve(cx, &table, &rows, &changed, &got));
        assert_int_equal(changed, cases[i].changed);
        assert_ok(cx, tn_avro_of_arrow(cx, &got, TN_STR("t"), true, &a));
        assert_ok(cx, tn_avro_of_arrow(cx, &want, TN_STR("t"), true, &b));
        if (!tn_str_equal(tn_buf_view(&a), tn_buf_view(&b)))
            fail_msg("case %zu: %.*s, want %.*s", i, TN_STR_ARG(tn_buf_view(&a)),
                     TN_STR_ARG(tn_buf_view(&b)));
        tn_field_release(&table);
        tn_field_release(&rows);
        tn_field_release(&want);
        tn_field_release(&got);
        tn_buf_clear(&a);
        tn_buf_clear(&b);
    }
    tarn_cx_close(cx);
}

static void test_hudi_schema__refuses_by_column_and_types(void **state)
{
    static const struct {
        const char *table, *rows;
        int status;
        const char *part;
    } cases[] = {
        {FIELD("a", STRING), FIELD("a", INT), TARN_E_UNSUPPORTED, "column a: the table has string"},
        {FIELD("a", INT), FIELD("a", "\"boolean\""), TARN_E_UNSUPPORTED, "column a"},
        {FIELD("a", INT), FIELD("b", INT), TARN_E_DATA, "column a: the rows lack it"},
        {FIELD("s", STRUCT(FIELD("x", INT))), FIELD("s", STRUCT(FIELD("x", "\"bytes\""))),
         TARN_E_UNSUPPORTED, "column s.x"},
        {FIELD("a", LIST(INT)), FIELD("a", INT), TARN_E_UNSUPPORTED, "list"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema table = {0}, rows = {0}, got = {0};
        bool changed;

        schema_of(cx, cases[i].table, &table);
        schema_of(cx, cases[i].rows, &rows);
        assert_fails(cx, cases[i].status, cases[i].part,
                     tn_hudi_schema_evolve(cx, &table, &rows, &changed, &got));
        assert_null(got.release);
        tn_field_release(&table);
        tn_field_release(&rows);
    }
    tarn_cx_close(cx);
}
