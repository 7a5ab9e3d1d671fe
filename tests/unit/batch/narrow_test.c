/* Arrays made narrower: what fits is kept value by value, what does not is named. */
#include "batch/narrow.h"
#include "unit/batch/table.h"

static tarn_cx *cx_open(void)
{
    return tarn_cx_open(&(tarn_cx_options){.jobs = 1});
}

static void field(tarn_cx *cx, struct ArrowSchema *out, const char *format)
{
    assert_ok(cx, tn_field_init(cx, out, format, TN_STR("c"), true, 0));
}

static void test_narrow__units(void **state)
{
    static const struct {
        const char *from, *to;
        size_t width;
        int64_t values[3], want[3];
        const char *text; /* of the failure; NULL: none */
    } cases[] = {
        {"tsn:UTC", "tsu:UTC", 8, {1000, -2000, 0}, {1, -2, 0}, NULL},
        {"tsn:UTC", "tsu:UTC", 8, {1000, -2001, 0}, {0}, "row 12 of the input, column \"c\""},
        {"tss:", "tsm:", 8, {1, -1, 0}, {1000, -1000, 0}, NULL},
        {"ttn", "ttu", 8, {5000, 0, 1000}, {5, 0, 1}, NULL},
        {"tdm", "tdD", 8, {86400000, -86400000, 0}, {1, -1, 0}, NULL},
        {"tdm", "tdD", 8, {86400001, 0, 0}, {0}, "row 11 of the input"},
    };
    tarn_cx *cx = cx_open();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ArrowSchema to = {0};
        test_table table = {0};
        tn_type type;
        int rc;

        table_init(cx, &table, 1, 3);
        table_fixed(cx, &table, 0, "c", cases[i].from, cases[i].values, cases[i].width, 0);
        field(cx, &to, cases[i].to);
        rc = tn_narrow_cast(cx, table.schema.children[0], &to, 10, table.array.children[0]);
        if (cases[i].text != NULL) {
            assert_int_equal(rc, TARN_E_DATA);
            assert_non_null(strstr(tarn_cx_error(cx), cases[i].text));
        } else {
            assert_int_equal(rc, TARN_OK);
            assert_ok(cx, tn_type_of(cx, &to, &type));
            for (int64_t r = 0; r < 3; r++)
                assert_true(tn_rows_integer(type.width == 4 ? TN_TYPE_INT32 : TN_TYPE_INT64,
                                            table.array.children[0], r) == cases[i].want[r]);
        }
        tn_field_release(&to);
        table_clear(&table);
    }
    tarn_cx_close(cx);
}

/* A value that does not fit is passed over where its row is null. */
static void test_narrow__nulls(void **state)
{
    static const int64_t values[3] = {1000, 1, 3000};
    tarn_cx *cx = cx_open();
    struct ArrowSchema to = {0};
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 1, 3);
    table_fixed(cx, &table, 0, "c", "tsn:", values, 8, 2);
    field(cx, &to, "tsu:");
    assert_ok(cx, tn_narrow_cast(cx, table.schema.children[0], &to, 0, table.array.children[0]));
    assert_true(tn_rows_is_null(table.array.children[0], 1));
    assert_int_equal(tn_rows_integer(TN_TYPE_TIMESTAMP, table.array.children[0], 2), 3);
    table_clear(&table);
    table = (test_table){0};
    table_init(cx, &table, 1, 3);
    table_fixed(cx, &table, 0, "c", "tsn:", values, 8, 0);
    assert_fails(cx, TARN_E_DATA,
                 "row 2 of the input, column \"c\": the value 1 of timestamp[ns] does not fit "
                 "timestamp[us]; round or cast",
                 tn_narrow_cast(cx, table.schema.children[0], &to, 0, table.array.children[0]));
    tn_field_release(&to);
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_narrow__large_text(void **state)
{
    static const char *const words[3] = {"skipped", "", "näme"};
    static const int64_t numbers[2] = {-7, 12};
    tarn_cx *cx = cx_open();
    tn_type text = {.kind = TN_TYPE_UTF8};
    struct ArrowSchema to = {0}, large = {0};
    struct ArrowArray *array;
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 1, 3);
    table_text(cx, &table, 0, "c", "u", words, 0);
    array = table.array.children[0];
    field(cx, &to, "u");
    field(cx, &large, "U");
    assert_ok(cx, tn_unify_cast(cx, &to, &large, array));
    array->offset = 1;
    array->length = 2;
    assert_ok(cx, tn_narrow_cast(cx, &large, &to, 0, array));
    assert_int_equal(array->length, 2);
    assert_int_equal(tn_rows_bytes(&text, array, array->offset).len, 0);
    assert_true(tn_str_is(tn_rows_bytes(&text, array, array->offset + 1), "näme"));
    table_clear(&table);
    table = (test_table){0};
    table_init(cx, &table, 1, 2);
    table_fixed(cx, &table, 0, "c", "l", numbers, 8, 0);
    array = table.array.children[0];
    assert_ok(cx, tn_narrow_cast(cx, table.schema.children[0], &to, 0, array));
    assert_true(tn_str_is(tn_rows_bytes(&text, array, 0), "-7"));
    assert_true(tn_str_is(tn_rows_bytes(&text, array, 1), "12"));
    table_clear(&table);
    tn_field_release(&large);
    tn_field_release(&to);
    tarn_cx_close(cx);
}
