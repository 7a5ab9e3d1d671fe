/* Escaping of bytes from outside: names hold any byte but "/" and NUL, terminals and JSON do not.
 *
 * I1: a piece never exceeds OUT_BYTES_PIECE, and each call moves on by at least one byte. */
#include "out_bytes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t out_bytes_utf8(const char *bytes, size_t len, size_t at)
{
    const unsigned char *b = (const unsigned char *)bytes + at;
    size_t left = len - at;
    size_t n;

    if (b[0] < 0x80)
        return 1;
    if (b[0] < 0xC2 || b[0] > 0xF4)
        return 0;
    n = b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
    if (left < n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    }
    /* overlong forms, surrogates, past U+10FFFF */
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) ||
        (b[0] == 0xF0 && b[1] < 0x90) || (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return n;
}

static size_t percent(unsigned char byte, char *piece)
{
    snprintf(piece, OUT_BYTES_PIECE, "%%%02X", byte);
    return 3;
}

size_t out_bytes_name(const char *bytes, size_t len, size_t *at, char *piece)
{
    unsigned char byte = (unsigned char)bytes[*at];
    size_t n = out_bytes_utf8(bytes, len, *at);
    /* U+0080 to U+009F are control characters of terminals as well */
    bool control = byte < 0x20 || byte == 0x7F ||
                   (n == 2 && byte == 0xC2 && (unsigned char)bytes[*at + 1] < 0xA0);

    if (n == 0 || control) {
        *at += 1;
        return percent(byte, piece);
    }
    memcpy(piece, bytes + *at, n);
    *at += n;
    return n;
}

static size_t json_ascii(unsigned char byte, char *piece)
{
    if (byte == '"' || byte == '\\') {
        piece[0] = '\\';
        piece[1] = (char)byte;
        return 2;
    }
    if (byte < 0x20) {
        snprintf(piece, OUT_BYTES_PIECE, "\\u%04x", byte);
        return 6;
    }
    piece[0] = (char)byte;
    return 1;
}

size_t out_bytes_json(const char *bytes, size_t len, size_t *at, char *piece)
{
    size_t n = out_bytes_utf8(bytes, len, *at);

    if (n == 1)
        return json_ascii((unsigned char)bytes[(*at)++], piece);
    if (n == 0) {
        memcpy(piece, "\xEF\xBF\xBD", 3);
        *at += 1;
        return 3;
    }
    memcpy(piece, bytes + *at, n);
    *at += n;
    return n;
}

/* Control characters are valid UTF-8, so the library's own JSON writes them as JSON does; the two
 * must agree on names. */
size_t out_bytes_json_name(const char *bytes, size_t len, size_t *at, char *piece)
{
    unsigned char byte = (unsigned char)bytes[*at];

    if (byte == '%' || out_bytes_utf8(bytes, len, *at) == 0) {
        *at += 1;
        return percent(byte, piece);
    }
    return out_bytes_json(bytes, len, at, piece);
}
