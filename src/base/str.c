/* Strings as borrowed bytes. */
#include "base/str.h"

static size_t utf8_length(const uint8_t *at, size_t left)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = at[0] < 0x80         ? 1
               : (at[0] >> 5) == 6  ? 2
               : (at[0] >> 4) == 14 ? 3
               : (at[0] >> 3) == 30 ? 4
                                    : 0;
    uint32_t point;

    if (n == 1)
        return 1;
    if (n == 0 || n > left)
        return 0;
    point = at[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (at[i] & 0x3F);
    }
    if (point < lowest[n] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    return n;
}

bool tn_str_utf8(tn_str text)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    size_t left = text.len;

    while (left > 0) {
        size_t n = utf8_length(at, left);

        if (n == 0)
            return false;
        at += n;
        left -= n;
    }
    return true;
}
