/* JSON text for people: captured from stdout. */
#include "unit/test.h"

#include <unistd.h>

#include "out.h"

static void check(const char *json, size_t text_max, const char *want)
{
    char path[] = "/tmp/tarn-pretty-XXXXXX", got[1024];
    int file = mkstemp(path), stdout_was = dup(STDOUT_FILENO);
    struct out *out = out_open();
    ssize_t n;

    assert_true(file >= 0 && stdout_was >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    out_json_pretty(out, json, text_max);
    assert_true(out_close(out));
    fflush(stdout);
    dup2(stdout_was, STDOUT_FILENO);
    close(stdout_was);
    n = pread(file, got, sizeof got - 1, 0);
    close(file);
    unlink(path);
    assert_true(n >= 0);
    got[n] = '\0';
    assert_string_equal(got, want);
}

static void test_out_pretty__indents(void **state)
{
    (void)state;
    check("1", 0, "1\n");
    check("{}", 0, "{}\n");
    check("{\"a\":[1,{\"b\":null}],\"c\":[],\"d\":\"x,{\\\"y\"}", 0,
          "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": [],\n"
          "  \"d\": \"x,{\\\"y\"\n}\n");
}

static void test_out_pretty__cuts(void **state)
{
    (void)state;
    check("\"12345\"", 5, "\"12345\"\n");
    check("\"123456\"", 5, "\"1234…\" (6 bytes)\n");
    /* not within an escape, nor within a character */
    check("\"abc\\u0001def\"", 5, "\"abc\\u…\" (12 bytes)\n");
    check("\"abc\xC3\xA9"
          "defgh\"",
          5, "\"abc\xC3\xA9…\" (10 bytes)\n");
}
