/* JSON documents on stdout, one per line.
 *
 * I1: every document opens with its kind and version. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "out_bytes.h"

static void quoted(struct out *out, const char *bytes, size_t len,
                   size_t (*escape)(const char *, size_t, size_t *, char *))
{
    char piece[OUT_BYTES_PIECE];
    size_t at = 0;

    out_bytes(out, "\"", 1);
    while (at < len) {
        size_t n = escape(bytes, len, &at, piece);

        out_bytes(out, piece, n);
    }
    out_bytes(out, "\"", 1);
}

static void begin(struct out_json *json, const char *key)
{
    if (json->comma)
        out_bytes(json->out, ",", 1);
    json->comma = true;
    if (key != NULL) {
        quoted(json->out, key, strlen(key), out_bytes_json);
        out_bytes(json->out, ":", 1);
    }
}

struct out_json out_json_open(struct out *out, const char *kind, int version)
{
    struct out_json json = {out, false};

    out_json_object(&json, NULL);
    out_json_text(&json, "kind", kind);
    out_json_i64(&json, "version", version);
    return json;
}

void out_json_close(struct out_json *json)
{
    out_bytes(json->out, "}\n", 2);
}

void out_json_object(struct out_json *json, const char *key)
{
    begin(json, key);
    out_bytes(json->out, "{", 1);
    json->comma = false;
}

void out_json_object_end(struct out_json *json)
{
    out_bytes(json->out, "}", 1);
    json->comma = true;
}

void out_json_array(struct out_json *json, const char *key)
{
    begin(json, key);
    out_bytes(json->out, "[", 1);
    json->comma = false;
}

void out_json_array_end(struct out_json *json)
{
    out_bytes(json->out, "]", 1);
    json->comma = true;
}

void out_json_i64(struct out_json *json, const char *key, int64_t value)
{
    begin(json, key);
    out_text(json->out, "%" PRId64, value);
}

void out_json_u64(struct out_json *json, const char *key, uint64_t value)
{
    begin(json, key);
    out_text(json->out, "%" PRIu64, value);
}

void out_json_double(struct out_json *json, const char *key, double value)
{
    char text[40];

    begin(json, key);
    if (!isfinite(value)) {
        const char *word = isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";

        quoted(json->out, word, strlen(word), out_bytes_json);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    out_bytes(json->out, text, strlen(text));
}

void out_json_bool(struct out_json *json, const char *key, bool value)
{
    begin(json, key);
    out_bytes(json->out, value ? "true" : "false", value ? 4 : 5);
}

void out_json_null(struct out_json *json, const char *key)
{
    begin(json, key);
    out_bytes(json->out, "null", 4);
}

void out_json_text(struct out_json *json, const char *key, const char *text)
{
    begin(json, key);
    if (text == NULL)
        out_bytes(json->out, "null", 4);
    else
        quoted(json->out, text, strlen(text), out_bytes_json);
}

void out_json_name(struct out_json *json, const char *key, const char *bytes, size_t len)
{
    begin(json, key);
    quoted(json->out, bytes, len, out_bytes_json_name);
}
