/* JSON out and in. */
#include "unit/test.h"

#include <math.h>

#include "base/json.h"

static void assert_text(const tn_buf *buf, const char *want)
{
    if (!tn_str_is(tn_buf_view(buf), want))
        fail_msg("got %.*s, want %s", (int)buf->len, (const char *)buf->data, want);
}

static void test_json__writes_values(void **state)
{
    tn_buf buf = {0};
    tn_json json = tn_json_to(&buf);

    (void)state;
    tn_json_object(&json);
    tn_json_put_i64(&json, "a", INT64_MIN);
    tn_json_put_u64(&json, "b", UINT64_MAX);
    tn_json_put_bool(&json, "c", true);
    tn_json_key(&json, "d");
    tn_json_array(&json);
    tn_json_null(&json);
    tn_json_double(&json, 0.1);
    tn_json_double(&json, 3);
    tn_json_double(&json, NAN);
    tn_json_double(&json, -INFINITY);
    tn_json_array_end(&json);
    tn_json_key(&json, "e");
    tn_json_object(&json);
    tn_json_object_end(&json);
    tn_json_object_end(&json);
    assert_text(&buf, "{\"a\":-9223372036854775808,\"b\":18446744073709551615,\"c\":true,"
                      "\"d\":[null,0.1,3.0,\"NaN\",\"-Infinity\"],\"e\":{}}");
    tn_buf_clear(&buf);
}

static void test_json__escapes_text(void **state)
{
    tn_buf buf = {0};
    tn_json json = tn_json_to(&buf);

    (void)state;
    tn_json_text(&json, TN_STR("\"\\\n\t\x01%\xC3\xA9\xFF"));
    assert_text(&buf, "\"\\\"\\\\\\n\\t\\u0001%\xC3\xA9\xEF\xBF\xBD\"");
    tn_buf_clear(&buf);
}

static void test_json__keeps_any_bytes(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    char all[256];
    tn_str bytes = {all, sizeof all}, got;
    tn_buf buf = {0};
    tn_json json = tn_json_to(&buf);
    tn_arena arena = {0};
    json_t *object = NULL;

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)(255 - i);
    tn_json_object(&json);
    tn_json_key(&json, "b64");
    tn_json_base64(&json, bytes);
    tn_json_object_end(&json);
    assert_ok(cx, tn_json_parse(cx, tn_buf_view(&buf), "test", &object));
    assert_ok(cx, tn_json_get_base64(cx, &arena, object, "b64", &got));
    assert_true(tn_str_equal(got, bytes));
    json_decref(object);

    /* A NUL has no place in a name; all else has. */
    tn_buf_reset(&buf);
    json = tn_json_to(&buf);
    bytes.len = 255;
    tn_json_object(&json);
    tn_json_put_bytes(&json, "raw", bytes);
    tn_json_object_end(&json);
    assert_ok(cx, tn_json_parse(cx, tn_buf_view(&buf), "test", &object));
    assert_ok(cx, tn_json_get_bytes(cx, &arena, object, "raw", &got));
    assert_true(tn_str_equal(got, bytes));
    json_decref(object);
    tn_arena_clear(&arena);
    tn_buf_clear(&buf);
    tarn_cx_close(cx);
}

static void test_json__base64_of_every_length(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};

    (void)state;
    for (size_t n = 0; n < 10; n++) {
        tn_buf buf = {0};
        tn_json json = tn_json_to(&buf);
        json_t *object = NULL;
        tn_str got;

        tn_json_object(&json);
        tn_json_key(&json, "x");
        tn_json_base64(&json, (tn_str){"\x00\xFF\x10zyxwvut", n});
        tn_json_object_end(&json);
        assert_ok(cx, tn_json_parse(cx, tn_buf_view(&buf), "test", &object));
        assert_ok(cx, tn_json_get_base64(cx, &arena, object, "x", &got));
        assert_int_equal(got.len, n);
        assert_memory_equal(got.ptr, "\x00\xFF\x10zyxwvut", n);
        json_decref(object);
        tn_buf_clear(&buf);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_json__names_the_wrong_member(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};
    json_t *object = NULL, *inner;
    int64_t number;
    bool flag;
    tn_str text;

    (void)state;
    assert_ok(cx, tn_json_parse(cx, TN_STR("{\"a\": 1, \"s\": \"x%4\", \"b\": \"!!!!\"}"), "test",
                                &object));
    assert_ok(cx, tn_json_get_i64(cx, object, "a", &number));
    assert_int_equal(number, 1);
    assert_fails(cx, TARN_E_CORRUPT, "none", tn_json_get_i64(cx, object, "none", &number));
    assert_fails(cx, TARN_E_CORRUPT, "s", tn_json_get_i64(cx, object, "s", &number));
    assert_fails(cx, TARN_E_CORRUPT, "a", tn_json_get_bool(cx, object, "a", &flag));
    assert_fails(cx, TARN_E_CORRUPT, "a", tn_json_get_text(cx, &arena, object, "a", &text));
    assert_fails(cx, TARN_E_CORRUPT, "byte 1: %",
                 tn_json_get_bytes(cx, &arena, object, "s", &text));
    assert_fails(cx, TARN_E_CORRUPT, "b", tn_json_get_base64(cx, &arena, object, "b", &text));
    assert_fails(cx, TARN_E_CORRUPT, "a", tn_json_get_array(cx, object, "a", &inner));
    assert_fails(cx, TARN_E_CORRUPT, "a", tn_json_get_object(cx, object, "a", &inner));
    json_decref(object);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_json__names_the_place_of_a_mistake(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    json_t *object = NULL;

    (void)state;
    assert_fails(cx, TARN_E_CORRUPT, "the plan",
                 tn_json_parse(cx, TN_STR("{\"a\":\n 1,}"), "the plan", &object));
    assert_non_null(strstr(tarn_cx_error(cx), "line 2"));
    assert_fails(cx, TARN_E_CORRUPT, NULL,
                 tn_json_parse(cx, TN_STR("{\"a\":1,\"a\":2}"), "the plan", &object));
    assert_fails(cx, TARN_E_CORRUPT, NULL, tn_json_parse(cx, TN_STR(""), "the plan", &object));
    assert_null(object);
    tarn_cx_close(cx);
}

/* A parsed value is printed as it was, its members in their order. */
static void test_json__value(void **state)
{
    static const char text[] = "{\"z\":[1,-2,1.5,\"a\\\"b\",true,false,null],\"a\":{},\"m\":[]}";
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf out = {0};
    tn_json json = tn_json_to(&out);
    json_t *value = NULL;

    (void)state;
    assert_ok(cx, tn_json_parse(cx, TN_STR(text), "test", &value));
    tn_json_value(&json, value);
    tn_buf_u8(&out, '\0');
    assert_string_equal((char *)out.data, text);
    json_decref(value);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}
