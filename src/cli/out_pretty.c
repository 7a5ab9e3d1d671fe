/* JSON text as it is, and for people.
 *
 * I1: the text is well-formed: the library made it. */
#include <string.h>

#include "out.h"

#define INDENT 2

void out_json_raw(struct out_json *json, const char *key, const char *text)
{
    if (text == NULL) {
        out_json_null(json, key);
        return;
    }
    /* What opens an array or object writes comma and key; its bracket is that of the text. */
    if (json->comma)
        out_bytes(json->out, ",", 1);
    if (key != NULL)
        out_text(json->out, "\"%s\":", key);
    out_bytes(json->out, text, strlen(text));
    json->comma = true;
}

static void new_line(struct out *out, size_t depth)
{
    out_text(out, "\n%*s", (int)(depth * INDENT), "");
}

/* The length of the text that begins at `at`, quotes included. */
static size_t text_length(const char *at)
{
    size_t n = 1;

    while (at[n] != '"' && at[n] != '\0')
        n += at[n] == '\\' && at[n + 1] != '\0' ? 2 : 1;
    return at[n] == '"' ? n + 1 : n;
}

static void print_cut(struct out *out, const char *at, size_t len, size_t text_max)
{
    size_t n = 0;

    if (text_max == 0 || len <= text_max + 2) {
        out_bytes(out, at, len);
        return;
    }
    /* Neither within an escape nor within a character. */
    while (n < text_max)
        n += at[n] == '\\' ? 2 : 1;
    while (n < len && (at[n] & 0xC0) == 0x80)
        n++;
    out_bytes(out, at, n < len - 1 ? n : len - 1);
    out_text(out, "…\" (%zu bytes)", len - 2);
}

void out_json_pretty(struct out *out, const char *text, size_t text_max)
{
    size_t depth = 0;

    for (const char *at = text; *at != '\0'; at++) {
        bool empty = (at[0] == '{' && at[1] == '}') || (at[0] == '[' && at[1] == ']');

        if (*at == '"') {
            size_t len = text_length(at);

            print_cut(out, at, len, text_max);
            at += len - 1;
        } else if (empty) {
            out_bytes(out, at, 2);
            at++;
        } else if (*at == '{' || *at == '[') {
            out_bytes(out, at, 1);
            new_line(out, ++depth);
        } else if (*at == '}' || *at == ']') {
            new_line(out, depth > 0 ? --depth : 0);
            out_bytes(out, at, 1);
        } else if (*at == ',') {
            out_bytes(out, at, 1);
            new_line(out, depth);
        } else {
            out_bytes(out, at, 1);
            if (*at == ':')
                out_bytes(out, " ", 1);
        }
    }
    out_text(out, "\n");
}
