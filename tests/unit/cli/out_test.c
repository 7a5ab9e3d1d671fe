/* Words for people, and bytes from outside made harmless. */
#include "unit/test.h"

#include "out.h"
#include "out_bytes.h"

static void test_out__sizes(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *want;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {1048575, "1.0 MiB"},
        {UINT64_C(128) << 20, "128.0 MiB"},
        {UINT64_MAX, "16.0 EiB"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct out_word word;

        assert_string_equal(out_size(&word, cases[i].bytes), cases[i].want);
    }
}

static void test_out__counts_and_times(void **state)
{
    struct out_word word;

    (void)state;
    assert_string_equal(out_count(&word, 0), "0");
    assert_string_equal(out_count(&word, 999), "999");
    assert_string_equal(out_count(&word, 130000), "130,000");
    assert_string_equal(out_count(&word, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(out_duration(&word, 12), "12 ms");
    assert_string_equal(out_duration(&word, 2449), "2.4 s");
    assert_string_equal(out_duration(&word, 61000), "1 min 1 s");
    assert_string_equal(out_duration(&word, 3900000), "1 h 5 min");
    assert_string_equal(out_many(&word, 1, "file", NULL), "1 file");
    assert_string_equal(out_many(&word, 2000, "file", NULL), "2,000 files");
    assert_string_equal(out_many(&word, 0, "directory", "directories"), "0 directories");
}

static void escaped(const char *bytes, size_t len,
                    size_t (*escape)(const char *, size_t, size_t *, char *), const char *want)
{
    char got[256];
    size_t at = 0, to = 0;

    while (at < len)
        to += escape(bytes, len, &at, got + to);
    got[to] = '\0';
    assert_string_equal(got, want);
}

static void test_out__bytes_from_outside(void **state)
{
    (void)state;
    escaped("a%b\n\033[2J\xff\xc3\xa9", 11, out_bytes_name, "a%b%0A%1B[2J%FF\xc3\xa9");
    escaped("\xc2\x9bx", 3, out_bytes_name, "%C2%9Bx");
    escaped("q\"\\\n\xff", 5, out_bytes_json, "q\\\"\\\\\\u000a\xEF\xBF\xBD");
    escaped("q\"%\xff", 4, out_bytes_json_name, "q\\\"%25%FF");
    /* truncated, overlong, surrogate, past the end */
    escaped("\xe2\x82", 2, out_bytes_name, "%E2%82");
    escaped("\xc0\xaf", 2, out_bytes_name, "%C0%AF");
    escaped("\xed\xa0\x80", 3, out_bytes_name, "%ED%A0%80");
    escaped("\xf4\x90\x80\x80", 4, out_bytes_name, "%F4%90%80%80");
}
