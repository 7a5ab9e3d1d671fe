/* Test helper: hexadecimal text as bytes, and blocks of it out of the pages of docs/format, which
 * open with "```hex NAME". "#" starts a comment that ends with its line. */
#ifndef TN_TEST_HEX_H
#define TN_TEST_HEX_H

#include "unit/test.h"

#include "base/buf.h"

static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Appends the bytes of `text`. */
static inline void hex_read(const char *text, size_t len, tn_buf *out)
{
    int high = -1;

    for (size_t i = 0; i < len; i++) {
        int digit = hex_digit(text[i]);

        if (text[i] == '#')
            while (i + 1 < len && text[i + 1] != '\n')
                i++;
        else if (digit >= 0 && high >= 0) {
            tn_buf_u8(out, (uint8_t)(high << 4 | digit));
            high = -1;
        } else if (digit >= 0) {
            high = digit;
        }
    }
    assert_int_equal(high, -1);
}

static inline tn_buf hex_of(const char *text)
{
    tn_buf out = {0};

    hex_read(text, strlen(text), &out);
    return out;
}

/* The block NAME of docs/format/PAGE, to be cleared. */
static inline tn_buf hex_of_page(const char *page, const char *name)
{
    char path[4096], mark[256];
    tn_buf text = {0};
    tn_buf out = {0};
    FILE *in;
    char *start, *end;
    int c;

    snprintf(path, sizeof path, "%s/docs/format/%s", TARN_SOURCE_DIR, page);
    snprintf(mark, sizeof mark, "```hex %s\n", name);
    in = fopen(path, "rb");
    if (in == NULL)
        fail_msg("%s cannot be read", path);
    while ((c = getc(in)) != EOF)
        tn_buf_u8(&text, (uint8_t)c);
    fclose(in);
    tn_buf_u8(&text, '\0');
    start = strstr((char *)text.data, mark);
    if (start == NULL)
        fail_msg("%s has no block %s", path, name);
    start += strlen(mark);
    end = strstr(start, "```");
    assert_non_null(end);
    hex_read(start, (size_t)(end - start), &out);
    tn_buf_clear(&text);
    return out;
}

#endif
