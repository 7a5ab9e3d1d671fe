/* Texts in order. */
#include "unit/test.h"

#include "base/str.h"

static void test_str__sorted_texts_are_found(void **state)
{
    tn_str texts[] = {TN_STR("b"), TN_STR(""), TN_STR("ab"), TN_STR("a"), TN_STR("b")};

    (void)state;
    tn_str_sort(texts, 5);
    assert_true(tn_str_is(texts[0], ""));
    assert_true(tn_str_is(texts[1], "a"));
    assert_true(tn_str_is(texts[2], "ab"));
    assert_true(tn_str_is(texts[4], "b"));
    assert_true(tn_str_listed(texts, 5, TN_STR("ab")));
    assert_true(tn_str_listed(texts, 5, TN_STR("")));
    assert_false(tn_str_listed(texts, 5, TN_STR("aa")));
    assert_false(tn_str_listed(texts, 1, TN_STR("b")));
}

static void test_str__none_is_none(void **state)
{
    (void)state;
    tn_str_sort(NULL, 0);
    assert_false(tn_str_listed(NULL, 0, TN_STR("a")));
}
