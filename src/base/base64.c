/* Base64. */
#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static inline void encode_word(uint32_t word, uint8_t *to)
{
    to[0] = (uint8_t)alphabet[word >> 18];
    to[1] = (uint8_t)alphabet[word >> 12 & 63];
    to[2] = (uint8_t)alphabet[word >> 6 & 63];
    to[3] = (uint8_t)alphabet[word & 63];
}

void tn_base64_encode(tn_buf *out, tn_str bytes)
{
    const uint8_t *in = (const uint8_t *)bytes.ptr;
    size_t whole = bytes.len / 3, rest = bytes.len % 3;
    uint8_t *to = tn_buf_extend(out, 4 * (whole + (rest != 0)));

    if (to == NULL)
        return;
    for (size_t i = 0; i < whole; i++, in += 3, to += 4)
        encode_word((uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2], to);
    if (rest == 0)
        return;
    encode_word((uint32_t)in[0] << 16 | (rest > 1 ? (uint32_t)in[1] << 8 : 0), to);
    to[3] = '=';
    if (rest == 1)
        to[2] = '=';
}

/* The value of a character, and 1; 0: it is none of the alphabet. */
static const uint8_t values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64};

/* Negative: it is none of the alphabet. */
static inline int value_of(char c)
{
    return (int)values[(uint8_t)c] - 1;
}

/* The last two or three characters. */
static bool decode_rest(const char *in, size_t count, uint8_t *to)
{
    int a = value_of(in[0]), b = value_of(in[1]), c = count == 3 ? value_of(in[2]) : 0;

    if ((a | b | c) < 0)
        return false;
    to[0] = (uint8_t)(a << 2 | b >> 4);
    if (count == 3)
        to[1] = (uint8_t)(b << 4 | c >> 2);
    return true;
}

bool tn_base64_decode(tn_buf *out, tn_str text)
{
    const char *in = text.ptr;
    size_t whole, rest;
    uint8_t *to;

    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    whole = text.len / 4;
    rest = text.len % 4;
    if (rest == 1)
        return false;
    to = tn_buf_extend(out, 3 * whole + (rest != 0 ? rest - 1 : 0));
    if (to == NULL)
        return !out->failed;
    for (size_t i = 0; i < whole; i++, in += 4, to += 3) {
        int a = value_of(in[0]), b = value_of(in[1]), c = value_of(in[2]), d = value_of(in[3]);

        if ((a | b | c | d) < 0)
            return false;
        to[0] = (uint8_t)(a << 2 | b >> 4);
        to[1] = (uint8_t)(b << 4 | c >> 2);
        to[2] = (uint8_t)(c << 6 | d);
    }
    return rest == 0 || decode_rest(in, rest, to);
}
