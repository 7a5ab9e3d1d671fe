/* Base64. */
#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void tn_base64_encode(tn_buf *out, tn_str bytes)
{
    const uint8_t *in = (const uint8_t *)bytes.ptr;

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t word = (uint32_t)in[i] << 16 | (n > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                        (n > 2 ? (uint32_t)in[i + 2] : 0);
        char text[4] = {alphabet[word >> 18], alphabet[(word >> 12) & 63],
                        n > 1 ? alphabet[(word >> 6) & 63] : '=',
                        n > 2 ? alphabet[word & 63] : '='};

        tn_buf_add(out, text, sizeof text);
    }
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool tn_base64_decode(tn_buf *out, tn_str text)
{
    uint32_t word = 0;
    unsigned bits = 0;

    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    if (text.len % 4 == 1)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(text.ptr[i]);

        if (value < 0)
            return false;
        word = word << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            tn_buf_u8(out, (uint8_t)(word >> bits));
        }
    }
    return !out->failed;
}
