#include "codec/text/text_lines.h"

#include "unit/test.h"

static void test_text_lines__runs(void **state)
{
    tn_text_lines lines = {0};

    (void)state;
    assert_int_equal(tn_text_lines_at(&lines, 0), 0);
    tn_text_lines_add(&lines, 0, 3, 2); /* lines 2, 3, 4 */
    tn_text_lines_add(&lines, 3, 1, 5); /* goes on */
    assert_int_equal(lines.runs.len, 16);
    tn_text_lines_add(&lines, 4, 1, 9); /* after an empty line or a bad record */
    tn_text_lines_add(&lines, 5, 2, 12);
    assert_int_equal(tn_text_lines_at(&lines, 0), 2);
    assert_int_equal(tn_text_lines_at(&lines, 3), 5);
    assert_int_equal(tn_text_lines_at(&lines, 4), 9);
    assert_int_equal(tn_text_lines_at(&lines, 6), 13);
    assert_int_equal(tn_text_lines_at(&lines, 7), 0);
    tn_text_lines_reset(&lines);
    assert_int_equal(tn_text_lines_at(&lines, 0), 0);
    tn_text_lines_clear(&lines);
}
