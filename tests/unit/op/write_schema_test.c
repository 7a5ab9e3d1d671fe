/* Columns as people write them. */
#include "unit/test.h"

#include "op/write_op.h"

#include "batch/field.h"
#include "batch/type.h"

static void test_write_schema__texts(void **state)
{
    static const struct {
        const char *text, *want; /* types, or what the failure says */
        int status;
    } cases[] = {
        {"a:int", "a int32", TARN_OK},
        {"a:bigint,b:string , c : double", "a int64; b string; c double", TARN_OK},
        {"a INT, b STRING\nc Date", "a int32; b string; c date", TARN_OK},
        {"# columns\na:int # the first\n\nb:boolean\n# end\n", "a int32; b bool", TARN_OK},
        {"a:int,\nb:int", "a int32; b int32", TARN_OK},
        {"d:decimal(12,2),e:decimal,f:numeric(76,76)",
         "d decimal(12,2); e decimal(10,0); f decimal(76,76)", TARN_OK},
        {"t:timestamp,u:timestamptz,v:timestamp[ns, UTC],w:timestamp[ms]",
         "t timestamp[us]; u timestamp[us, UTC]; v timestamp[ns, UTC]; w timestamp[ms]", TARN_OK},
        {"`a,b`:int,\"c d\":varchar(20)", "a,b int32; c d string", TARN_OK},
        {"l:array<array<int>>, m:map<string,struct<x:int,y:list<double>>>",
         "l list<list<int32>>; m map<string, struct<x: int32, y: list<double>>>", TARN_OK},
        {"s:struct<a: int64, b: string>", "s struct<a: int64, b: string>", TARN_OK},
        {"a:int not null,b:bigint NOT NULL", "a int32!; b int64!", TARN_OK},
        {"k\xc3\xb6ln:smallint,x.y:binary", "k\xc3\xb6ln int16; x.y binary", TARN_OK},
        {"", "it ends where a column", TARN_E_INVALID},
        {"a", "it ends where a type", TARN_E_INVALID},
        {"a:", "it ends where a type", TARN_E_INVALID},
        {"a:integr", "at byte 3, \"integr\": expected a type", TARN_E_INVALID},
        {"a:int b:int", "expected \",\" or the end", TARN_E_INVALID},
        {"a:int,a:int", "\"a\" is there twice", TARN_E_INVALID},
        {"a:decimal(0,0)", "decimal(0,0)", TARN_E_INVALID},
        {"a:decimal(5,6)", "decimal(5,6)", TARN_E_INVALID},
        {"a:decimal(77,0)", "beyond the most there can be, 76", TARN_E_INVALID},
        {"a:decimal(99999999999999999999999999)", "beyond", TARN_E_INVALID},
        {"a:array<int", "\">\"", TARN_E_INVALID},
        {"a:map<int>", "between the types of keys and values", TARN_E_INVALID},
        {"a:timestamp[us, Europe/Berlin]", "\"UTC\"", TARN_E_INVALID},
        {"`a:int", "a name that its quote also ends", TARN_E_INVALID},
        {"``:int", "not empty", TARN_E_INVALID},
        {"a:int not", "\"null\" after \"not\"", TARN_E_INVALID},
        {"a:struct<>", "a column as name:type", TARN_E_INVALID},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema schema = {0};
        tn_buf got = {0};

        if (cases[i].status != TARN_OK) {
            assert_fails(cx, cases[i].status, cases[i].want,
                         tn_write_schema_parse(cx, tn_str_of(cases[i].text), &schema));
            assert_null(schema.release);
            continue;
        }
        assert_ok(cx, tn_write_schema_parse(cx, tn_str_of(cases[i].text), &schema));
        for (int64_t c = 0; c < schema.n_children; c++) {
            tn_buf_print(&got, "%s%s ", c > 0 ? "; " : "", schema.children[c]->name);
            tn_type_print(&got, schema.children[c]);
            if (!tn_field_nullable(schema.children[c]))
                tn_buf_u8(&got, '!');
        }
        tn_buf_u8(&got, '\0');
        assert_string_equal((char *)got.data, cases[i].want);
        tn_buf_clear(&got);
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}

static void test_write_schema__depth(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_buf text = {0};

    (void)state;
    tn_buf_text(&text, "a:");
    for (int i = 0; i < 1000; i++)
        tn_buf_text(&text, "array<");
    assert_fails(cx, TARN_E_LIMIT, "nested deeper",
                 tn_write_schema_parse(cx, tn_buf_view(&text), &schema));
    assert_null(schema.release);
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

/* Every cut of a good text ends in a status. */
static void test_write_schema__cut(void **state)
{
    static const char text[] =
        "a:map<string,struct<`x y`:decimal(12,2) not null,y:array<timestamp[us, UTC]>>>,b:int # c";
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        struct ArrowSchema schema = {0};
        char *copy = malloc(n + 1);

        memcpy(copy, text, n);
        (void)tn_write_schema_parse(cx, (tn_str){copy, n}, &schema);
        tn_field_release(&schema);
        free(copy);
    }
    tarn_cx_close(cx);
}
