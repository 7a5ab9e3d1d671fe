#include "base/crc32c.h"

#include "base/cursor.h"
#include "unit/test.h"

/* The check value of the algorithm, and RFC 3720's examples. */
static void test_crc32c__known(void **state)
{
    uint8_t bytes[32] = {0};

    (void)state;
    assert_int_equal(tn_crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(tn_crc32c(0, bytes, 32), 0x8A9136AA);
    memset(bytes, 0xFF, sizeof bytes);
    assert_int_equal(tn_crc32c(0, bytes, 32), 0x62A8AB43);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(tn_crc32c(0, bytes, 32), 0x46DD794E);
    assert_int_equal(tn_crc32c(0, bytes, 0), 0);
    for (size_t cut = 0; cut <= sizeof bytes; cut++)
        assert_int_equal(tn_crc32c(tn_crc32c(0, bytes, cut), bytes + cut, sizeof bytes - cut),
                         0x46DD794E);
}

static void test_crc32c__cursor_big_endian(void **state)
{
    static const uint8_t bytes[] = {0x81, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0, 0};
    tn_cursor in = tn_cursor_of(bytes, sizeof bytes);

    (void)state;
    assert_true(tn_cursor_u64be(&in) == 0x8102030405060708u);
    assert_int_equal(tn_cursor_u32be(&in), 0);
    assert_true(in.failed);
    in = tn_cursor_of(bytes, sizeof bytes);
    assert_int_equal(tn_cursor_u32be(&in), 0x81020304u);
    assert_false(in.failed);
}
