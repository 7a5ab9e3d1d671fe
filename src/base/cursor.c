/* The reading cursor. tarn runs on little-endian machines only; the build checks it. */
#include "base/cursor.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tarn needs a little-endian machine");

uint64_t tn_cursor_varint(tn_cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = tn_cursor_u8(c);

        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return c->failed ? 0 : value;
    }
    c->failed = true;
    return 0;
}
