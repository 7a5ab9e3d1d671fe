#include "base/md5.h"

#include "unit/hex.h"

/* Of RFC 1321, and lengths around the ends of blocks. */
static void test_md5__digests(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
        {"0123456789012345678901234567890123456789012345678901234",
         "6e7a4fc92eb1c3f6e652425bcc8d44b5"},
        {"01234567890123456789012345678901234567890123456789012345",
         "8af270b2847610e742b0791b53648c09"},
        {"0123456789012345678901234567890123456789012345678901234567890123",
         "7f7bfd348709deeaace19e3f535f8c54"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf want = hex_of(cases[i].want);
        uint8_t got[16];

        tn_md5(tn_str_of(cases[i].text), got);
        assert_memory_equal(got, want.data, 16);
        tn_buf_clear(&want);
    }
}
