/* Rows of an input as rows of the directory they go into. */
#include "unit/batch/table.h"

#include "op/write_op.h"

#include "batch/type.h"

static tn_write_dir dir_of(tarn_cx *cx, const char *text)
{
    tn_write_dir dir = {.found = true, .has_schema = true};

    assert_ok(cx, tn_write_schema_parse(cx, tn_str_of(text), &dir.schema));
    return dir;
}

static void print_types(const struct ArrowSchema *schema, tn_buf *out)
{
    for (int64_t c = 0; c < schema->n_children; c++) {
        tn_buf_print(out, "%s%s ", c > 0 ? "; " : "", schema->children[c]->name);
        tn_type_print(out, schema->children[c]);
    }
    tn_buf_u8(out, '\0');
}

static void test_write_fit__types(void **state)
{
    static const struct {
        const char *from, *dir, *want;
        int status;
    } cases[] = {
        {"a:int,b:string", "a:bigint,b:string", "a int64; b string", TARN_OK},
        {"a:bigint,b:string", "a:int", "a int32; b string", TARN_OK},
        {"b:string,a:int", "a:int,c:double", "a int32; c double; b string", TARN_OK},
        {"A:int", "a:bigint", "a int64", TARN_OK},
        {"a:int", "a:double", "a double", TARN_OK},
        {"a:float", "a:double", "a double", TARN_OK},
        {"a:timestamp[ns]", "a:timestamp[us]", "a timestamp[us]", TARN_OK},
        {"a:timestamp[ms]", "a:timestamp[us]", "a timestamp[us]", TARN_OK},
        {"a:decimal(8,2)", "a:decimal(12,4)", "a decimal(12,4)", TARN_OK},
        {"a:struct<x:int,z:int>", "a:struct<x:int,y:int>", "a struct<x: int32, y: int32, z: int32>",
         TARN_OK},
        {"a:uint64", "a:bigint", "a int64", TARN_OK},
        {"a:double", "a:float", "column \"a\" is double in the input and float in lake",
         TARN_E_UNSUPPORTED},
        {"a:double", "a:bigint", "column \"a\" is double in the input and int64 in lake",
         TARN_E_UNSUPPORTED},
        {"a:string", "a:int", "column \"a\" is string in the input and int32 in lake",
         TARN_E_UNSUPPORTED},
        {"a:decimal(12,4)", "a:decimal(8,2)", "decimal(12,4) in the input and decimal(8,2)",
         TARN_E_UNSUPPORTED},
        {"a:timestamptz", "a:timestamp", "timestamp[us, UTC] in the input", TARN_E_UNSUPPORTED},
        {"a:struct<x:bigint>", "a:struct<x:int>", "struct<x: int64> in the input",
         TARN_E_UNSUPPORTED},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_write_dir dir = dir_of(cx, cases[i].dir);
        struct ArrowSchema from = {0};
        tn_write_fit fit = {0};
        tn_buf got = {0};

        assert_ok(cx, tn_write_schema_parse(cx, tn_str_of(cases[i].from), &from));
        if (cases[i].status != TARN_OK) {
            assert_fails(cx, cases[i].status, cases[i].want,
                         tn_write_fit_open(cx, &from, &dir, TN_STR("lake"), &fit));
        } else {
            assert_ok(cx, tn_write_fit_open(cx, &from, &dir, TN_STR("lake"), &fit));
            print_types(&fit.to, &got);
            assert_string_equal((char *)got.data, cases[i].want);
        }
        tn_write_fit_clear(&fit);
        tn_write_dir_clear(&dir);
        tn_field_release(&from);
        tn_buf_clear(&got);
    }
    tarn_cx_close(cx);
}

static void test_write_fit__values(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_write_dir dir = dir_of(cx, "late:string,n:int,t:timestamp[us]");
    int64_t numbers[] = {INT32_MIN, 7, INT32_MAX, INT64_MAX};
    int64_t times[] = {-3000, 5000, 0, 1000};
    tn_write_fit fit = {0};
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 2, 4);
    table_fixed(cx, &table, 0, "n", "l", numbers, 8,
                8); /* the last one is null: it may be anything */
    table_fixed(cx, &table, 1, "t", "tsn:", times, 8, 2);
    assert_ok(cx, tn_write_fit_open(cx, &table.schema, &dir, TN_STR("lake"), &fit));
    assert_ok(cx, tn_write_fit_batch(cx, &fit, &table.array));
    assert_int_equal(table.array.n_children, 3);
    assert_int_equal(table.array.children[0]->null_count, 4);
    assert_int_equal(((const int32_t *)table.array.children[1]->buffers[1])[0], INT32_MIN);
    assert_int_equal(((const int32_t *)table.array.children[1]->buffers[1])[1], 7);
    assert_int_equal(((const int32_t *)table.array.children[1]->buffers[1])[2], INT32_MAX);
    assert_true(tn_rows_is_null(table.array.children[1], 3));
    assert_int_equal(((const int64_t *)table.array.children[2]->buffers[1])[0], -3);
    assert_true(tn_rows_is_null(table.array.children[2], 1));
    assert_int_equal(((const int64_t *)table.array.children[2]->buffers[1])[3], 1);
    assert_int_equal(fit.rows, 4);
    table_clear(&table);
    tn_write_fit_clear(&fit);
    tn_write_dir_clear(&dir);
    tarn_cx_close(cx);
}

static void test_write_fit__bad_values(void **state)
{
    static const struct {
        const char *dir, *format, *want;
        int64_t bad;
    } cases[] = {
        {"n:int", "l", "row 13 of the input, column \"n\": the value does not fit int32",
         (int64_t)INT32_MAX + 1},
        {"n:int", "l", "does not fit int32", (int64_t)INT32_MIN - 1},
        {"n:bigint", "L", "does not fit int64", -1},
        {"n:uint8", "l", "does not fit uint8", -1},
        {"n:uint64", "l", "does not fit uint64", -1},
        {"n:timestamp[us]", "tsn:", "does not fit timestamp[us]", 1001},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_write_dir dir = dir_of(cx, cases[i].dir);
        int64_t values[] = {0, 0, cases[i].bad};
        tn_write_fit fit = {0};
        test_table table = {0};

        table_init(cx, &table, 1, 3);
        table_fixed(cx, &table, 0, "n", cases[i].format, values, 8, 0);
        assert_ok(cx, tn_write_fit_open(cx, &table.schema, &dir, TN_STR("lake"), &fit));
        fit.rows = 10;
        assert_fails(cx, TARN_E_DATA, cases[i].want, tn_write_fit_batch(cx, &fit, &table.array));
        /* A batch that does not show the row does not mind it. */
        table.array.length = 2;
        assert_ok(cx, tn_write_fit_batch(cx, &fit, &table.array));
        table_clear(&table);
        tn_write_fit_clear(&fit);
        tn_write_dir_clear(&dir);
    }
    tarn_cx_close(cx);
}

static void test_write_fit__dictionary(void **state)
{
    static const char *const words[] = {"Ulm", "K\xc3\xb6ln"};
    const int32_t indices[] = {1, 0, 1};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_write_fit fit = {0};
    test_table table = {0}, values = {0};

    (void)state;
    table_init(cx, &values, 1, 2);
    table_text(cx, &values, 0, "", "u", words, 0);
    table_init(cx, &table, 1, 3);
    table_fixed(cx, &table, 0, "city", "i", indices, 4, 0);
    assert_ok(cx, tn_field_make_dictionary(cx, table.schema.children[0]));
    assert_ok(cx, tn_array_make_dictionary(cx, table.array.children[0]));
    tn_field_move(values.schema.children[0], table.schema.children[0]->dictionary);
    tn_array_move(values.array.children[0], table.array.children[0]->dictionary);
    assert_ok(cx, tn_write_fit_open(cx, &table.schema, NULL, TN_STR("lake"), &fit));
    assert_string_equal(fit.to.children[0]->format, "u");
    assert_null(fit.to.children[0]->dictionary);
    assert_ok(cx, tn_write_fit_batch(cx, &fit, &table.array));
    assert_null(table.array.children[0]->dictionary);
    assert_memory_equal(table.array.children[0]->buffers[2], "K\xc3\xb6lnUlmK\xc3\xb6ln", 13);
    table_clear(&table);
    table_clear(&values);
    tn_write_fit_clear(&fit);
    tarn_cx_close(cx);
}
