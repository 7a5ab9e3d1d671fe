/* Every vector of tests/vectors/hive-distribute.json, which Hive's own classes gave. */
#include "batch/hive_hash.h"

#include <math.h>

#include "base/json.h"
#include "batch/moment.h"
#include "unit/batch/table.h"

#define VECTORS TARN_SOURCE_DIR "/tests/vectors/hive-distribute.json"

static void text_column(tarn_cx *cx, test_table *table, int64_t c, const char *value)
{
    struct ArrowArray *array = table->array.children[c];
    size_t len = value != NULL ? strlen(value) : 0;
    int32_t *offsets;
    char *data;

    assert_ok(cx, tn_field_init(cx, table->schema.children[c], "u", TN_STR("k"), true, 0));
    assert_ok(cx, tn_array_init(cx, array, 1, 3, 0));
    table_validity(cx, array, 1, value == NULL);
    offsets = table_buffer(cx, array, 1, 8);
    offsets[1] = (int32_t)len;
    data = table_buffer(cx, array, 2, len);
    memcpy(data, value != NULL ? value : "", len);
}

static void add_column(tarn_cx *cx, test_table *table, int64_t c, const char *type,
                       const json_t *value)
{
    int64_t whole = json_integer_value(value);
    int32_t small = (int32_t)whole;
    double real = json_real_value(value);
    tn_moment moment;

    if (strcmp(type, "string") == 0) {
        text_column(cx, table, c, json_is_null(value) ? NULL : json_string_value(value));
    } else if (strcmp(type, "int") == 0) {
        table_fixed(cx, table, c, "k", "i", &small, 4, 0);
    } else if (strcmp(type, "bigint") == 0) {
        table_fixed(cx, table, c, "k", "l", &whole, 8, 0);
    } else if (strcmp(type, "double") == 0) {
        table_fixed(cx, table, c, "k", "g", &real, 8, 0);
    } else if (strcmp(type, "boolean") == 0) {
        uint8_t bit = json_is_true(value);

        table_fixed(cx, table, c, "k", "b", &bit, 1, 0);
    } else if (strcmp(type, "date") == 0) {
        assert_true(tn_moment_parse(tn_str_of(json_string_value(value)), &moment));
        small = (int32_t)(moment.seconds / 86400);
        table_fixed(cx, table, c, "k", "tdD", &small, 4, 0);
    } else {
        fail_msg("a vector has a key of type %s", type);
    }
}

static uint32_t hash_row(tarn_cx *cx, const test_table *table)
{
    uint32_t hash = 0;

    for (int64_t c = 0; c < table->schema.n_children; c++) {
        tn_type type;

        assert_ok(cx, tn_hive_hash_check(cx, table->schema.children[c]));
        assert_ok(cx, tn_type_of(cx, table->schema.children[c], &type));
        tn_hive_hash_add(&type, table->array.children[c], 0, 1, &hash);
    }
    return hash;
}

static void check_vector(tarn_cx *cx, const json_t *vector)
{
    const json_t *key = json_object_get(vector, "key"), *types = json_object_get(vector, "types");
    char *text = json_dumps(vector, JSON_COMPACT);
    test_table table = {0};
    const char *count;
    json_t *reducer;
    uint32_t hash;

    table_init(cx, &table, (int64_t)json_array_size(key), 1);
    for (size_t c = 0; c < json_array_size(key); c++)
        add_column(cx, &table, (int64_t)c, json_string_value(json_array_get(types, c)),
                   json_array_get(key, c));
    hash = hash_row(cx, &table);
    if ((int32_t)hash != json_integer_value(json_object_get(vector, "hash")))
        fail_msg("%s: hash %d", text, (int32_t)hash);
    json_object_foreach(json_object_get(vector, "reducer"), count, reducer)
    {
        uint32_t got = tn_hive_hash_reducer(hash, (uint32_t)strtoul(count, NULL, 10));

        if (got != json_integer_value(reducer))
            fail_msg("%s: reducer %u of %s", text, got, count);
    }
    table_clear(&table);
    free(text);
}

static void test_hive_hash__agrees_with_every_vector(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    json_error_t error;
    json_t *file = json_load_file(VECTORS, JSON_ALLOW_NUL, &error), *vectors;

    (void)state;
    assert_non_null(file);
    vectors = json_object_get(file, "vectors");
    assert_true(json_array_size(vectors) >= 26);
    for (size_t i = 0; i < json_array_size(vectors); i++)
        check_vector(cx, json_array_get(vectors, i));
    json_decref(file);
    tarn_cx_close(cx);
}

static void test_hive_hash__follows_java_where_bits_differ(void **state)
{
    static const double nan_bits[] = {(double)NAN, -(double)NAN};
    static const float floats[] = {1.5f, -0.0f};
    static const int64_t millis[] = {-1, 86400000};
    static const uint8_t bytes[] = {200, 7};
    tarn_cx *cx = tarn_cx_open(NULL);
    test_table table = {0};
    uint32_t hashes[4][2] = {{0}};

    (void)state;
    table_init(cx, &table, 4, 2);
    table_fixed(cx, &table, 0, "d", "g", nan_bits, 8, 0);
    table_fixed(cx, &table, 1, "f", "f", floats, 4, 0);
    table_fixed(cx, &table, 2, "m", "tdm", millis, 8, 0);
    table_fixed(cx, &table, 3, "b", "C", bytes, 1, 2);
    for (int64_t c = 0; c < 4; c++) {
        tn_type type;

        assert_ok(cx, tn_type_of(cx, table.schema.children[c], &type));
        tn_hive_hash_add(&type, table.array.children[c], 0, 2, hashes[c]);
    }
    assert_int_equal(hashes[0][0], 0x7FF80000);
    assert_int_equal(hashes[0][1], 0x7FF80000);
    assert_int_equal(hashes[1][0], 0x3FC00000);
    assert_int_equal(hashes[1][1], 0x80000000);
    assert_int_equal(hashes[2][0], (uint32_t)-1);
    assert_int_equal(hashes[2][1], 1);
    assert_int_equal(hashes[3][0], 200);
    assert_int_equal(hashes[3][1], 0);
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_hive_hash__refuses_types_hive_hashes_otherwise(void **state)
{
    static const char *const formats[] = {"d:10,2", "tsu:", "z", "+s", "e", "ttm"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct ArrowSchema schema = {0};

        assert_ok(cx, tn_field_init(cx, &schema, formats[i], TN_STR("x"), true, 0));
        assert_fails(cx, TARN_E_UNSUPPORTED, "column \"x\"", tn_hive_hash_check(cx, &schema));
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}
