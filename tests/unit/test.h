/* What every test program includes. */
#ifndef TN_TEST_H
#define TN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"

static inline int test_text_has(const char *text, const char *part)
{
    return text[0] != '\0' && (part == NULL || strstr(text, part) != NULL);
}

/* Fails the test with the context's text. */
#define assert_ok(cx, expr)                                                                        \
    do {                                                                                           \
        int assert_rc_ = (expr);                                                                   \
        if (assert_rc_ != TARN_OK)                                                                 \
            fail_msg("%s: %s: %s", #expr, tarn_status_name(assert_rc_), tarn_cx_error(cx));        \
    } while (0)
/* Expects a status, and that the text holds `part` (NULL: any non-empty text). */
#define assert_fails(cx, want, part, expr)                                                         \
    do {                                                                                           \
        int assert_rc_ = (expr);                                                                   \
        if (assert_rc_ != (want))                                                                  \
            fail_msg("%s: got %s, want %s: %s", #expr, tarn_status_name(assert_rc_),               \
                     tarn_status_name(want), tarn_cx_error(cx));                                   \
        if (!test_text_has(tarn_cx_error(cx), (part)))                                             \
            fail_msg("%s: text \"%s\" lacks the part wanted", #expr, tarn_cx_error(cx));           \
    } while (0)

#endif
