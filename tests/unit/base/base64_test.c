#include "base/base64.h"

#include "unit/test.h"

/* RFC 4648, section 10. */
static const struct {
    const char *plain, *text;
} samples[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"},
               {"\xFB\xEF\xFF", "++//"}};

static void test_base64__samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        tn_str text = tn_str_of(samples[i].text);
        tn_buf out = {0};

        tn_buf_text(&out, "x");
        tn_base64_encode(&out, tn_str_of(samples[i].plain));
        assert_int_equal(out.len, text.len + 1);
        assert_memory_equal(out.data + 1, text.ptr, text.len);
        for (int padded = 1; padded >= 0; padded--) {
            while (!padded && text.len != 0 && text.ptr[text.len - 1] == '=')
                text.len--;
            tn_buf_reset(&out);
            tn_buf_text(&out, "x");
            assert_true(tn_base64_decode(&out, text));
            assert_int_equal(out.len, strlen(samples[i].plain) + 1);
            assert_memory_equal(out.data + 1, samples[i].plain, out.len - 1);
        }
        tn_buf_clear(&out);
    }
}

/* Every byte that is none of the alphabet, at every place; and lengths that no bytes have. */
static void test_base64__refuses(void **state)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    tn_buf out = {0};

    (void)state;
    for (int c = 0; c < 256; c++)
        for (size_t len = 2; len <= 7; len++)
            for (size_t at = 0; at < len && len != 5; at++) {
                char text[] = "AAAAAAA";
                bool good = c != 0 && strchr(alphabet, c) != NULL;

                text[at] = (char)c;
                if (c == '=' && at + 1 == len)
                    continue;
                tn_buf_reset(&out);
                assert_int_equal(tn_base64_decode(&out, (tn_str){text, len}), good);
            }
    assert_false(tn_base64_decode(&out, TN_STR("A")));
    assert_false(tn_base64_decode(&out, TN_STR("AAAAA==")));
    tn_buf_clear(&out);
}
