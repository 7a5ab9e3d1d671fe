/* NDJSON and CSV out: every form of value. */
#include "codec/ndjson/ndjson_write.h"

#include <math.h>

#include "codec/csv/csv_write.h"
#include "unit/batch/table.h"

static void make_rows(tarn_cx *cx, test_table *t)
{
    static const int32_t i[] = {-7, 0, 0};
    static const char *const s[] = {"a\"b\\\n\x01\xC3\xB6", NULL, ""};
    static const double d[] = {NAN, 0, 0.5};
    static const int32_t dt[] = {19723, 0, -719529};
    static const int64_t ts[] = {1704067200001, 0, -1};
    static const int64_t dec[] = {150, 0, 0, 0, -5, -1};
    static const char *const bin[] = {"\x01\x02", NULL, "abc"};
    static const int64_t du[] = {3723001, 0, -500};

    table_init(cx, t, 9, 3);
    table_fixed(cx, t, 0, "i", "i", i, 4, 2);
    table_text(cx, t, 1, "s, \"q\"", "u", s, 2);
    table_fixed(cx, t, 2, "d", "g", d, 8, 2);
    table_fixed(cx, t, 3, "dt", "tdD", dt, 4, 2);
    table_fixed(cx, t, 4, "ts", "tsm:UTC", ts, 8, 2);
    table_fixed(cx, t, 5, "dec", "d:10,2", dec, 16, 2);
    table_text(cx, t, 6, "bin", "z", bin, 2);
    table_fixed(cx, t, 7, "du", "tDm", du, 8, 2);
    table_bool(cx, t, 8, "b", 1, 2);
}

static void test_ndjson__forms(void **state)
{
    static const char want[] =
        "{\"i\":-7,\"s, \\\"q\\\"\":\"a\\\"b\\\\\\n\\u0001\xC3\xB6\",\"d\":\"NaN\","
        "\"dt\":\"2024-01-01\",\"ts\":\"2024-01-01T00:00:00.001Z\",\"dec\":1.50,\"bin\":\"AQI=\","
        "\"du\":\"PT3723.001S\",\"b\":true}\n"
        "{\"i\":null,\"s, \\\"q\\\"\":null,\"d\":null,\"dt\":null,\"ts\":null,\"dec\":null,"
        "\"bin\":null,\"du\":null,\"b\":null}\n"
        "{\"i\":0,\"s, \\\"q\\\"\":\"\",\"d\":0.5,\"dt\":\"-0001-12-31\","
        "\"ts\":\"1969-12-31T23:59:59.999Z\",\"dec\":-0.05,\"bin\":\"YWJj\",\"du\":\"PT-0.500S\","
        "\"b\":false}\n";
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_ndjson_writer *writer = NULL;
    test_table t = {0};
    tn_buf out = {0};

    (void)state;
    make_rows(cx, &t);
    assert_ok(cx, tn_ndjson_writer_open(cx, &t.schema, &writer));
    assert_ok(cx, tn_ndjson_writer_rows(cx, writer, &t.array, 0, 3, &out));
    tn_buf_u8(&out, 0);
    assert_string_equal((char *)out.data, want);
    tn_ndjson_writer_close(writer);
    tn_buf_clear(&out);
    table_clear(&t);
    tarn_cx_close(cx);
}

static void test_csv__forms(void **state)
{
    static const char want[] = "i,\"s, \"\"q\"\"\",d,dt,ts,dec,bin,du,b\n"
                               "-7,\"a\"\"b\\\n\x01\xC3\xB6\",NaN,2024-01-01,"
                               "2024-01-01T00:00:00.001Z,1.50,AQI=,PT3723.001S,true\n"
                               ",,,,,,,,\n"
                               "0,\"\",0.5,-0001-12-31,1969-12-31T23:59:59.999Z,-0.05,YWJj,"
                               "PT-0.500S,false\n";
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_csv_writer *writer = NULL;
    test_table t = {0};
    tn_buf out = {0};

    (void)state;
    make_rows(cx, &t);
    assert_ok(cx, tn_csv_writer_open(cx, &t.schema, &writer));
    assert_ok(cx, tn_csv_writer_header(cx, writer, &out));
    assert_ok(cx, tn_csv_writer_rows(cx, writer, &t.array, 0, 3, &out));
    tn_buf_u8(&out, 0);
    assert_string_equal((char *)out.data, want);
    tn_csv_writer_close(writer);
    tn_buf_clear(&out);
    table_clear(&t);
    tarn_cx_close(cx);
}

/* map<int32, list<string>> with a null list, an empty one, and a row that is null. */
static void make_map(tarn_cx *cx, test_table *t)
{
    struct ArrowSchema *map, *entries, *list;
    struct ArrowArray *array, *pairs, *lists;
    static const char *const words[] = {"x", NULL};
    test_table inner = {0};

    table_init(cx, t, 1, 3);
    map = t->schema.children[0];
    assert_ok(cx, tn_field_init(cx, map, "+m", TN_STR("m"), true, 1));
    entries = map->children[0];
    assert_ok(cx, tn_field_init(cx, entries, "+s", TN_STR("entries"), false, 2));
    assert_ok(cx, tn_field_init(cx, entries->children[0], "i", TN_STR("key"), false, 0));
    list = entries->children[1];
    assert_ok(cx, tn_field_init(cx, list, "+l", TN_STR("value"), true, 1));
    assert_ok(cx, tn_field_init(cx, list->children[0], "u", TN_STR("item"), true, 0));

    array = t->array.children[0];
    assert_ok(cx, tn_array_init(cx, array, 3, 2, 1));
    table_validity(cx, array, 3, 2);
    memcpy(table_buffer(cx, array, 1, 16), (int32_t[]){0, 2, 2, 3}, 16);
    pairs = array->children[0];
    assert_ok(cx, tn_array_init(cx, pairs, 3, 1, 2));
    assert_ok(cx, tn_array_init(cx, pairs->children[0], 3, 2, 0));
    memcpy(table_buffer(cx, pairs->children[0], 1, 12), (int32_t[]){1, 2, 3}, 12);
    lists = pairs->children[1];
    assert_ok(cx, tn_array_init(cx, lists, 3, 2, 1));
    table_validity(cx, lists, 3, 2);
    memcpy(table_buffer(cx, lists, 1, 16), (int32_t[]){0, 2, 2, 2}, 16);
    table_init(cx, &inner, 1, 2);
    table_text(cx, &inner, 0, "item", "u", words, 2);
    tn_array_move(inner.array.children[0], lists->children[0]);
    table_clear(&inner);
}

static void test_ndjson__maps_and_taken_rows(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_ndjson_writer *writer = NULL;
    struct ArrowArray taken = {0};
    test_table t = {0};
    tn_buf out = {0};

    (void)state;
    make_map(cx, &t);
    assert_ok(cx, tn_ndjson_writer_open(cx, &t.schema, &writer));
    assert_ok(cx, tn_ndjson_writer_rows(cx, writer, &t.array, 0, 3, &out));
    assert_ok(cx, tn_rows_filter(cx, &t.schema, &t.array, (uint8_t[]){0, 1, 1}, 2, &taken));
    assert_ok(cx, tn_array_check(cx, &t.schema, &taken));
    assert_ok(cx, tn_ndjson_writer_rows(cx, writer, &taken, 0, 2, &out));
    tn_array_release(&taken);
    assert_ok(cx, tn_rows_nulls(cx, &t.schema, 1, &taken));
    assert_ok(cx, tn_array_check(cx, &t.schema, &taken));
    tn_array_release(&taken);
    assert_ok(cx, tn_rows_take(cx, &t.schema, &t.array, (int64_t[]){2, 0, -1}, 3, &taken));
    assert_ok(cx, tn_ndjson_writer_rows(cx, writer, &taken, 0, 3, &out));
    tn_buf_u8(&out, 0);
    assert_string_equal((char *)out.data, "{\"m\":{\"1\":[\"x\",null],\"2\":null}}\n"
                                          "{\"m\":null}\n"
                                          "{\"m\":{\"3\":[]}}\n"
                                          "{\"m\":null}\n"
                                          "{\"m\":{\"3\":[]}}\n"
                                          "{\"m\":{\"3\":[]}}\n"
                                          "{\"m\":{\"1\":[\"x\",null],\"2\":null}}\n"
                                          "{\"m\":null}\n");
    tn_array_release(&taken);
    tn_ndjson_writer_close(writer);
    tn_buf_clear(&out);
    table_clear(&t);
    tarn_cx_close(cx);
}
