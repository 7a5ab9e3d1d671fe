/* Arenas, maps and strings. */
#include "unit/test.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "unit/alloc.h"

static void test_arena__gives_zeroed_aligned_memory(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};

    (void)state;
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *block = tn_arena_take(cx, &arena, size);

        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xAA, size);
    }
    tn_arena_clear(&arena);
    assert_null(arena.block);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_arena__keeps_and_prints_text(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};
    char text[] = "abc";
    tn_str kept = {text, 2}, printed, empty = {NULL, 0};

    (void)state;
    assert_ok(cx, tn_arena_keep(cx, &arena, &kept));
    text[0] = 'x';
    assert_string_equal(kept.ptr, "ab");
    assert_ok(cx, tn_arena_keep(cx, &arena, &empty));
    assert_string_equal(empty.ptr, "");
    assert_ok(cx, tn_arena_print(cx, &arena, &printed, "%d-%s", 7, "x"));
    assert_string_equal(printed.ptr, "7-x");
    assert_int_equal(printed.len, 3);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_arena__refuses_what_cannot_be(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};

    (void)state;
    assert_null(tn_arena_take(cx, &arena, SIZE_MAX));
    assert_int_equal(tarn_cx_status(cx), TARN_E_NOMEM);
    tn_cx_forget(cx);
    assert_null(tn_arena_array(cx, &arena, SIZE_MAX / 2, 4));
    assert_int_equal(tarn_cx_status(cx), TARN_E_NOMEM);
    alloc_watch(1);
    assert_null(tn_arena_take(cx, &arena, 10));
    alloc_unwatch();
    assert_non_null(tn_arena_take(cx, &arena, 10));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_map__finds_what_was_added(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    static char keys[5000][8];
    tn_map map = {0};
    bool added;

    (void)state;
    assert_null(tn_map_find(&map, TN_STR("x")));
    for (size_t i = 0; i < 5000; i++) {
        snprintf(keys[i], sizeof keys[i], "%zu", i);
        *tn_map_add(cx, &map, tn_str_of(keys[i]), &added) = i * 3;
        assert_true(added);
    }
    assert_int_equal(map.count, 5000);
    for (size_t i = 0; i < 5000; i++) {
        const size_t *value = tn_map_find(&map, tn_str_of(keys[i]));

        assert_non_null(value);
        assert_int_equal(*value, i * 3);
    }
    assert_int_equal(*tn_map_add(cx, &map, TN_STR("17"), &added), 51);
    assert_false(added);
    assert_null(tn_map_find(&map, TN_STR("5000")));
    tn_map_clear(&map);
    tarn_cx_close(cx);
}

static void test_map__takes_the_empty_key(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_map map = {0};
    bool added;

    (void)state;
    *tn_map_add(cx, &map, (tn_str){NULL, 0}, &added) = 5;
    assert_true(added);
    assert_int_equal(*tn_map_find(&map, TN_STR("")), 5);
    tn_map_clear(&map);
    alloc_watch(1);
    assert_null(tn_map_add(cx, &map, TN_STR("a"), &added));
    alloc_unwatch();
    assert_int_equal(tarn_cx_status(cx), TARN_E_NOMEM);
    assert_int_equal(map.count, 0);
    tarn_cx_close(cx);
}

static void test_str__compares_bytes(void **state)
{
    (void)state;
    assert_true(tn_str_compare(TN_STR("a"), TN_STR("b")) < 0);
    assert_true(tn_str_compare(TN_STR("a"), TN_STR("ab")) < 0);
    assert_true(tn_str_compare(TN_STR("\xFF"), TN_STR("a")) > 0);
    assert_true(tn_str_compare(TN_STR(""), (tn_str){NULL, 0}) == 0);
    assert_true(tn_str_equal(TN_STR(""), (tn_str){NULL, 0}));
    assert_true(tn_str_starts(TN_STR("abc"), TN_STR("ab")));
    assert_false(tn_str_starts(TN_STR("a"), TN_STR("ab")));
    assert_true(tn_str_ends(TN_STR("abc"), TN_STR("bc")));
    assert_false(tn_str_ends(TN_STR("c"), TN_STR("bc")));
    assert_int_equal(tn_str_find(TN_STR("abc"), 'c'), 2);
    assert_int_equal(tn_str_find(TN_STR("abc"), 'x'), 3);
    assert_int_equal(tn_str_from(TN_STR("abc"), 9).len, 0);
}

static void test_str__knows_utf8(void **state)
{
    static const struct {
        const char *name, *bytes;
        bool good;
    } cases[] = {
        {"ascii", "abc", true},
        {"two bytes", "\xC3\xA9", true},
        {"three bytes", "\xE2\x82\xAC", true},
        {"four bytes", "\xF0\x9F\x98\x80", true},
        {"the last point", "\xF4\x8F\xBF\xBF", true},
        {"beyond it", "\xF4\x90\x80\x80", false},
        {"overlong slash", "\xC0\xAF", false},
        {"overlong, three bytes", "\xE0\x80\xAF", false},
        {"a surrogate", "\xED\xA0\x80", false},
        {"cut off", "\xE2\x82", false},
        {"a lone continuation", "\x80", false},
        {"five bytes", "\xF8\x88\x80\x80\x80", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tn_str_utf8(tn_str_of(cases[i].bytes)) != cases[i].good)
            fail_msg("%s", cases[i].name);
    assert_true(tn_str_utf8((tn_str){NULL, 0}));
}
