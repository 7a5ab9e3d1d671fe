/* The pull reader of JSON: values, what is refused and where, and what may be skipped. */
#include "base/json_read.h"
#include "unit/test.h"

typedef struct world {
    tarn_cx *cx;
    tn_arena arena;
    tn_json_reader r;
} world;

static world world_of(const char *text)
{
    world w = {.cx = tarn_cx_open(NULL)};

    w.r = tn_json_reader_of(tn_str_of(text), "doc", NULL);
    return w;
}

static void world_clear(world *w)
{
    tn_arena_clear(&w->arena);
    tarn_cx_close(w->cx);
}

static void test_json_read__numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
        const char *problem;
    } cases[] = {
        {"0", 0, NULL},
        {" -1 ", -1, NULL},
        {"9007199254740993", 9007199254740993, NULL},
        {"9223372036854775807", INT64_MAX, NULL},
        {"-9223372036854775808", INT64_MIN, NULL},
        {"9223372036854775808", 0, "doc: line 1, column 1: a number beyond 2^63"},
        {"-9223372036854775809", 0, "a number beyond"},
        {"99999999999999999999999", 0, "a number beyond"},
        {"1.0", 0, "a whole number should be here"},
        {"1e3", 0, "a whole number should be here"},
        {"1.", 0, "a digit after the point"},
        {"1e", 0, "an exponent"},
        {"01", 0, "begins with 0"},
        {"-", 0, "a number"},
        {"", 0, "it ends where"},
        {"\n  true", 0, "doc: line 2, column 3: a whole number"},
        {"\"1\"", 0, "a whole number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        world w = world_of(cases[i].text);
        int64_t got = 0;

        if (cases[i].problem == NULL) {
            assert_ok(w.cx, tn_json_read_i64(w.cx, &w.r, &got));
            assert_ok(w.cx, tn_json_read_end(w.cx, &w.r));
            assert_true(got == cases[i].want);
        } else {
            assert_fails(w.cx, TARN_E_CORRUPT, cases[i].problem,
                         tn_json_read_i64(w.cx, &w.r, &got));
        }
        world_clear(&w);
    }
}

static void test_json_read__texts(void **state)
{
    static const struct {
        const char *text, *want, *problem;
    } cases[] = {
        {"\"\"", "", NULL},
        {"\"a/b \xC3\xBC\"", "a/b \xC3\xBC", NULL},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", NULL},
        {"\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", NULL},
        {"\"\\u0000\"", NULL, "a NUL in it"},
        {"\"\\ud800\"", NULL, "half a pair"},
        {"\"\\ud800\\u0041\"", NULL, "half a pair"},
        {"\"\\udc00\\udc00\"", NULL, "half a pair"},
        {"\"\\x\"", NULL, "no escape"},
        {"\"\\u12\"", NULL, "no escape"},
        {"\"a\nb\"", NULL, "a control character"},
        {"\"a", NULL, "does not end"},
        {"\"a\\", NULL, "does not end"},
        {"\"a\\\"", NULL, "does not end"},
        {"1", NULL, "a text should be here"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        world w = world_of(cases[i].text);
        tn_str got;

        w.r.arena = &w.arena;
        if (cases[i].want != NULL) {
            assert_ok(w.cx, tn_json_read_text(w.cx, &w.r, &got));
            assert_string_equal(got.ptr, cases[i].want);
            assert_int_equal(got.len, strlen(cases[i].want));
        } else {
            assert_fails(w.cx, TARN_E_CORRUPT, cases[i].problem,
                         tn_json_read_text(w.cx, &w.r, &got));
        }
        world_clear(&w);
    }
}

static void test_json_read__equal_texts_are_kept_once(void **state)
{
    world w = world_of("[\"a\", \"b\", \"\\u0061\", \"\", \"\"]");
    tn_map shared = {0};
    tn_str got[5];
    bool more;

    (void)state;
    w.r.arena = &w.arena;
    w.r.shared = &shared;
    assert_ok(w.cx, tn_json_read_open(w.cx, &w.r, '['));
    for (int i = 0; i < 5; i++) {
        assert_ok(w.cx, tn_json_read_element(w.cx, &w.r, &more));
        assert_true(more);
        assert_ok(w.cx, tn_json_read_shared(w.cx, &w.r, &got[i]));
    }
    assert_ok(w.cx, tn_json_read_element(w.cx, &w.r, &more));
    assert_false(more);
    assert_ptr_equal(got[0].ptr, got[2].ptr);
    assert_ptr_equal(got[3].ptr, got[4].ptr);
    assert_string_equal(got[2].ptr, "a");
    assert_string_equal(got[1].ptr, "b");
    tn_map_clear(&shared);
    world_clear(&w);
}

/* Whole documents: what is JSON is skipped, what is not is refused. */
static void test_json_read__documents(void **state)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"{}", NULL},
        {" [ ] ", NULL},
        {"{\"a\": [1, -2.5e+7, true, false, null, \"x\\\"y\", {}], \"b\": {\"c\": []}}", NULL},
        {"[[[[]]], {}]", NULL},
        {"null", NULL},
        {"", "it ends where a value should be"},
        {"{", "it ends where"},
        {"[1 2]", "a comma or ]"},
        {"[1,]", "a value after the comma"},
        {"{\"a\" 1}", "a colon"},
        {"{\"a\": 1,}", "a value after the comma"},
        {"{a: 1}", "a text"},
        {"{\"a\": }", "a value"},
        {"[1]]", "the end should be here"},
        {"{]", "a text"},
        {"[}", "a value"},
        {"nul", "a value"},
        {"[\"\xFF\"]", "not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        world w = world_of(cases[i].text);
        int rc;

        w.r.arena = &w.arena;
        rc = tn_json_read_skip(w.cx, &w.r);
        if (rc == TARN_OK)
            rc = tn_json_read_end(w.cx, &w.r);
        if (cases[i].problem == NULL && rc != TARN_OK)
            fail_msg("%s: %s", cases[i].text, tarn_cx_error(w.cx));
        if (cases[i].problem != NULL &&
            (rc != TARN_E_CORRUPT || strstr(tarn_cx_error(w.cx), cases[i].problem) == NULL))
            fail_msg("%s: %d: %s", cases[i].text, rc, tarn_cx_error(w.cx));
        world_clear(&w);
    }
}

static void test_json_read__depth_is_bounded(void **state)
{
    char text[2 * TN_JSON_DEPTH_MAX + 3];

    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        int depth = TN_JSON_DEPTH_MAX + extra;
        world w;

        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        w = world_of(text);
        if (extra == 0)
            assert_ok(w.cx, tn_json_read_skip(w.cx, &w.r));
        else
            assert_fails(w.cx, TARN_E_CORRUPT, "levels deep", tn_json_read_skip(w.cx, &w.r));
        world_clear(&w);
    }
}
