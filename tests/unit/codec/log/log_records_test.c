/* Records of a block: the page's example, and lengths that lie. */
#include "unit/hex.h"

#include "codec/log/log.h"

static void test_log_records__page(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("hudi-log.md", "records");
    tn_log_records records;
    tn_str datum;
    bool more;

    (void)state;
    assert_ok(cx, tn_log_records_open(cx, tn_buf_view(&bytes), TN_STR("page"), &records));
    assert_int_equal(records.count, 2);
    assert_ok(cx, tn_log_records_next(cx, &records, &more, &datum));
    assert_true(more && tn_str_equal(datum, TN_STR("\x02\x02"
                                                   "a")));
    assert_ok(cx, tn_log_records_next(cx, &records, &more, &datum));
    assert_true(more && tn_str_equal(datum, TN_STR("\0")));
    assert_ok(cx, tn_log_records_next(cx, &records, &more, &datum));
    assert_false(more);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_log_records__damaged(void **state)
{
    static const struct {
        const char *hex, *text;
    } cases[] = {{"", "shorter than its count"},
                 {"00 00 00 03 00 00 00", "shorter than its count"},
                 {"00 00 00 03 00 00 00 01", "more records than bytes"},
                 {"00 00 00 03 ff ff ff ff 00 00 00 00", "more records than bytes"},
                 {"00 00 00 03 00 00 00 01 00 00 00 02 61", "does not fit"},
                 {"00 00 00 03 00 00 00 01 ff ff ff ff 61", "does not fit"},
                 {"00 00 00 03 00 00 00 01 00 00 00 01 61 62", "behind its last record"}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf bytes = hex_of(cases[i].hex);
        tn_log_records records = {0};
        tn_str datum;
        bool more = true;
        int rc = tn_log_records_open(cx, tn_buf_view(&bytes), TN_STR("f.log"), &records);

        while (rc == TARN_OK && more)
            rc = tn_log_records_next(cx, &records, &more, &datum);
        assert_fails(cx, TARN_E_CORRUPT, cases[i].text, rc);
        assert_non_null(strstr(tarn_cx_error(cx), "f.log"));
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}
