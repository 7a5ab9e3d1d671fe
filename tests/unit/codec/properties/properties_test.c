/* Properties text: Java's rules, and what Hudi writes. */
#include "unit/hex.h"

#include "codec/properties/properties.h"

typedef struct pair {
    const char *key, *value;
} pair;

static void check(const char *text, const pair *want, size_t count)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_properties got = {0};

    assert_ok(cx, tn_properties_parse(cx, tn_str_of(text), TN_STR("t"), &arena, &got));
    if (got.count != count)
        fail_msg("%s: %zu pairs, want %zu", text, got.count, count);
    for (size_t i = 0; i < count; i++)
        if (!tn_str_is(got.items[i].key, want[i].key) ||
            !tn_str_is(got.items[i].value, want[i].value))
            fail_msg("%s: pair %zu is \"%.*s\"=\"%.*s\", want \"%s\"=\"%s\"", text, i,
                     TN_STR_ARG(got.items[i].key), TN_STR_ARG(got.items[i].value), want[i].key,
                     want[i].value);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

/* What OpenJDK 17 makes of each text. */
static void test_properties__java_rules(void **state)
{
    static const struct {
        const char *text;
        pair want[3];
        size_t count;
    } cases[] = {
        {"", {{0}}, 0},
        {"\n \t\n# c\n  ! d\\\nk=v", {{"k", "v"}}, 1},
        {"a=1\nb:2\rc 3\r\n", {{"a", "1"}, {"b", "2"}, {"c", "3"}}, 3},
        {"a = 1\nb : 2\nc \t 3 ", {{"a", "1"}, {"b", "2"}, {"c", "3 "}}, 3},
        {"a==1\nb:=2\nc = = 3", {{"a", "=1"}, {"b", "=2"}, {"c", "= 3"}}, 3},
        {"a\nb=\n=c", {{"a", ""}, {"b", ""}, {"", "c"}}, 3},
        {"a\\ b\\=c\\:d=e", {{"a b=c:d", "e"}}, 1},
        {"a=x\\\n  y\\\n\tz", {{"a", "xyz"}}, 1},
        {"a=x\\\\\nb=y", {{"a", "x\\"}, {"b", "y"}}, 2},
        {"a=x\\\\\\\ny", {{"a", "x\\y"}}, 1},
        {"a=x\\\n# no comment", {{"a", "x# no comment"}}, 1},
        {"a=x\\\n\nb=y", {{"a", "x"}, {"b", "y"}}, 2},
        {"a=x\\", {{"a", "x"}}, 1},
        {"\\\nb=y", {{"b", "y"}}, 1},
        {"\\\n#b=y\n!c\nd", {{"d", ""}}, 1},
        {"\\", {{"", ""}}, 1},
        {"\\\n", {{"", ""}}, 1},
        {"\\\r\n", {{0}}, 0},
        {"a=\\t\\n\\r\\f\\q\\z", {{"a", "\t\n\r\fqz"}}, 1},
        {"a=\\u00e9\\u20AC\\uD83D\\ude00", {{"a", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}}, 1},
        {"a=\xE9", {{"a", "\xC3\xA9"}}, 1},
        {"a=\\ud83d!\\ude00", {{"a", "\xEF\xBF\xBD!\xEF\xBF\xBD"}}, 1},
        {"\\u0061=1\na=2", {{"a", "2"}}, 1},
        {"a=1\nb=2\na=3", {{"a", "3"}, {"b", "2"}}, 2},
        {"s={\"type\"\\:\"record\"}", {{"s", "{\"type\":\"record\"}"}}, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i].text, cases[i].want, cases[i].count);
}

static void test_properties__malformed(void **state)
{
    static const char *const cases[] = {"a=1\nb=\\u12", "a=1\nb=\\\n\\u12g4", "a=1\nb\\u=2"};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_properties got = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(cx, TARN_E_CORRUPT, "t/hoodie.properties: line 2: \\u without four",
                     tn_properties_parse(cx, tn_str_of(cases[i]), TN_STR("t/hoodie.properties"),
                                         &arena, &got));
    assert_int_equal(got.count, 0);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_properties__set(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_properties all = {0};

    (void)state;
    assert_ok(cx, tn_properties_parse(cx, TN_STR("a=1\nb=2\n"), TN_STR("t"), &arena, &all));
    assert_ok(cx, tn_properties_set(cx, &arena, &all, TN_STR("c"), TN_STR("3")));
    assert_ok(cx, tn_properties_set(cx, &arena, &all, TN_STR("a"), TN_STR("")));
    assert_ok(cx, tn_properties_set(cx, &arena, &all, TN_STR("b"), (tn_str){NULL, 0}));
    assert_ok(cx, tn_properties_set(cx, &arena, &all, TN_STR("x"), (tn_str){NULL, 0}));
    assert_int_equal(all.count, 2);
    assert_true(tn_str_is(tn_properties_get(&all, "a"), ""));
    assert_true(tn_str_is(tn_properties_get(&all, "c"), "3"));
    assert_null(tn_properties_get(&all, "b").ptr);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void check_print(const tn_properties *all, const char *comment, int64_t ms, const char *want)
{
    tn_buf out = {0};

    tn_properties_print(&out, all, tn_str_of(comment), ms);
    tn_buf_u8(&out, '\0');
    assert_string_equal((char *)out.data, want);
    tn_buf_clear(&out);
}

static void test_properties__prints(void **state)
{
    tn_property items[] = {
        {TN_STR("a b"), TN_STR(" x y ")},
        {TN_STR("k=:#!\\"), TN_STR("{\"t\":\"=\"}#!\\")},
        {TN_STR("\xC3\xA9"), TN_STR("~\x7F\t\n\r\f\xE2\x82\xAC\xF0\x9F\x98\x80")},
        {TN_STR("e"), TN_STR("")},
    };
    tn_properties all = {items, 4, 4};

    (void)state;
    check_print(&all, "", 0,
                "a\\ b=\\ x y \n"
                "k\\=\\:\\#\\!\\\\={\"t\"\\:\"\\=\"}\\#\\!\\\\\n"
                "\\u00E9=~\\u007F\\t\\n\\r\\f\\u20AC\\uD83D\\uDE00\n"
                "e=\n");
    all.count = 0;
    check_print(
        &all, "Properties saved on 2025-01-18T04:46:14.549423Z", 1737175574549,
        "#Properties saved on 2025-01-18T04:46:14.549423Z\n#Sat Jan 18 04:46:14 UTC 2025\n");
    check_print(&all, "a\nb", -1, "#a\n#b\n#Wed Dec 31 23:59:59 UTC 1969\n");
}

/* What is printed is read back, whatever it holds. */
static void test_properties__round_trips(void **state)
{
    static const char *const texts[] = {
        "",         " ",          "  a  ", "#",        "!a",   "=",   ":",
        "a\\",      "\\u",        "\n",    "\xC3\xBF", "\t a", "a=b", "\xF0\x9F\x98\x80",
        "\x01\x7F", "{\"a\":[1]}"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tn_property item = {tn_str_of(texts[i]), tn_str_of(texts[i])};
        tn_properties all = {&item, 1, 1}, back = {0};
        tn_arena arena = {0};
        tn_buf out = {0};

        tn_properties_print(&out, &all, TN_STR("c"), 0);
        assert_ok(cx, tn_properties_parse(cx, tn_buf_view(&out), TN_STR("t"), &arena, &back));
        assert_int_equal(back.count, 1);
        assert_true(tn_str_equal(back.items[0].key, item.key));
        assert_true(tn_str_equal(back.items[0].value, item.value));
        tn_buf_clear(&out);
        tn_arena_clear(&arena);
    }
    tarn_cx_close(cx);
}

static void test_properties__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf text = hex_of_page("properties.md", "properties");
    tn_arena arena = {0};
    tn_properties all = {0};
    tn_buf out = {0};

    (void)state;
    assert_ok(cx, tn_properties_parse(cx, tn_buf_view(&text), TN_STR("page"), &arena, &all));
    assert_int_equal(all.count, 3);
    assert_true(
        tn_str_is(tn_properties_get(&all, "hoodie.table.name"), "caf\xC3\xA9 \xF0\x9F\x98\x80"));
    assert_true(tn_str_is(tn_properties_get(&all, "a b"), "{\"x\":1}"));
    assert_true(tn_str_is(tn_properties_get(&all, "c"), "d"));
    /* The first two as Java writes them; the third is one of the forms that it reads. */
    all.count = 2;
    tn_properties_print(&out, &all, TN_STR("saved"), 0);
    assert_memory_equal(out.data, text.data, out.len);
    tn_buf_clear(&out);
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
