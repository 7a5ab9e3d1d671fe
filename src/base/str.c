/* Strings as borrowed bytes. */
#include "base/str.h"

#include <stdlib.h>

static int by_text(const void *a, const void *b)
{
    return tn_str_compare(*(const tn_str *)a, *(const tn_str *)b);
}

void tn_str_sort(tn_str *texts, size_t count)
{
    if (count != 0)
        qsort(texts, count, sizeof *texts, by_text);
}

bool tn_str_listed(const tn_str *sorted, size_t count, tn_str text)
{
    return count != 0 && bsearch(&text, sorted, count, sizeof *sorted, by_text) != NULL;
}

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

size_t tn_str_utf8_prefix(tn_str text)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    size_t left = text.len;

    while (left > 0) {
        size_t n;

        if (left >= 8) {
            uint64_t word;

            memcpy(&word, at, 8);
            if ((word & 0x8080808080808080u) == 0) {
                at += 8;
                left -= 8;
                continue;
            }
        }
        n = at[0] < 0x80 ? 1 : utf8_length(at, left);
        if (n == 0)
            break;
        at += n;
        left -= n;
    }
    return text.len - left;
}

bool tn_str_utf8(tn_str text)
{
    return tn_str_utf8_prefix(text) == text.len;
}
