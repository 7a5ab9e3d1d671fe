/* What callbacks of streams return, and what it means. */
#include "unit/test.h"

#include <errno.h>

#include "batch/stream.h"

static const char *says_why(struct ArrowArrayStream *rows)
{
    return rows->private_data;
}

static void test_stream__failures_of_strangers_have_a_text(void **state)
{
    char why[] = "the network is gone";
    const struct {
        struct ArrowArrayStream rows;
        const char *want;
    } cases[] = {
        {{.get_last_error = says_why, .private_data = why}, "the network is gone"},
        {{.get_last_error = says_why}, "No space left on device"},
        {{0}, "No space left on device"},
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowArrayStream rows = cases[i].rows;

        assert_int_equal(tn_stream_status(cx, &rows, 0), TARN_OK);
        assert_int_equal(tn_stream_status(cx, &rows, ENOSPC), TARN_E_IO);
        if (strstr(tarn_cx_error(cx), cases[i].want) == NULL)
            fail_msg("got %s, want %s", tarn_cx_error(cx), cases[i].want);
        tn_cx_forget(cx);
    }
    tarn_cx_close(cx);
}

static void test_stream__own_failures_keep_status_and_text(void **state)
{
    static const struct {
        int status, want;
    } cases[] = {{TARN_E_NOMEM, ENOMEM},
                 {TARN_E_INVALID, EINVAL},
                 {TARN_E_NOTFOUND, ENOENT},
                 {TARN_E_CORRUPT, EIO}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowArrayStream rows = {0};
    char text[TN_ERROR_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_fail(cx, cases[i].status, "byte 7 of a file");
        assert_int_equal(tn_stream_fail(cx, text), cases[i].want);
        assert_string_equal(text, "byte 7 of a file");
        assert_int_equal(tn_stream_status(cx, &rows, EIO), cases[i].status);
        assert_string_equal(tarn_cx_error(cx), "byte 7 of a file");
        tn_cx_forget(cx);
    }
    tarn_cx_close(cx);
}
