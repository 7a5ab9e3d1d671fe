/* JSON writer and checked getters. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void before_value(tn_json *json)
{
    if (json->comma)
        tn_buf_u8(json->out, ',');
    json->comma = true;
}

static void open_with(tn_json *json, char bracket)
{
    before_value(json);
    tn_buf_u8(json->out, (uint8_t)bracket);
    json->comma = false;
}

static void close_with(tn_json *json, char bracket)
{
    tn_buf_u8(json->out, (uint8_t)bracket);
    json->comma = true;
}

void tn_json_object(tn_json *json)
{
    open_with(json, '{');
}

void tn_json_object_end(tn_json *json)
{
    close_with(json, '}');
}

void tn_json_array(tn_json *json)
{
    open_with(json, '[');
}

void tn_json_array_end(tn_json *json)
{
    close_with(json, ']');
}

static void add_escaped(tn_buf *out, uint8_t c)
{
    switch (c) {
    case '"':
        tn_buf_text(out, "\\\"");
        break;
    case '\\':
        tn_buf_text(out, "\\\\");
        break;
    case '\n':
        tn_buf_text(out, "\\n");
        break;
    case '\r':
        tn_buf_text(out, "\\r");
        break;
    case '\t':
        tn_buf_text(out, "\\t");
        break;
    default:
        if (c < 0x20 || c == 0x7F)
            tn_buf_print(out, "\\u%04x", c);
        else
            tn_buf_u8(out, c);
    }
}

/* Length of the well-formed sequence at `at`, 0 when there is none. */
static size_t sequence(const uint8_t *at, size_t left)
{
    size_t n = at[0] < 0x80 ? 1 : at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;

    return n <= left && tn_str_utf8((tn_str){(const char *)at, n}) ? n : 0;
}

static void add_string(tn_json *json, tn_str text, bool as_bytes)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    size_t left = text.len;

    before_value(json);
    tn_buf_u8(json->out, '"');
    while (left > 0) {
        size_t n = sequence(at, left);

        if (n == 0 || (as_bytes && (*at == '%' || *at == '\0'))) {
            if (as_bytes)
                tn_buf_print(json->out, "%%%02X", *at);
            else
                tn_buf_text(json->out, "\xEF\xBF\xBD");
            n = 1;
        } else if (n == 1) {
            add_escaped(json->out, *at);
        } else {
            tn_buf_add(json->out, at, n);
        }
        at += n;
        left -= n;
    }
    tn_buf_u8(json->out, '"');
}

void tn_json_key(tn_json *json, const char *key)
{
    add_string(json, tn_str_of(key), false);
    tn_buf_u8(json->out, ':');
    json->comma = false;
}

void tn_json_i64(tn_json *json, int64_t value)
{
    before_value(json);
    tn_buf_print(json->out, "%" PRId64, value);
}

void tn_json_u64(tn_json *json, uint64_t value)
{
    before_value(json);
    tn_buf_print(json->out, "%" PRIu64, value);
}

void tn_json_double(tn_json *json, double value)
{
    char text[40];

    before_value(json);
    if (isnan(value)) {
        tn_buf_text(json->out, "\"NaN\"");
        return;
    }
    if (isinf(value)) {
        tn_buf_text(json->out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (strpbrk(text, ".en") == NULL)
        strcat(text, ".0");
    tn_buf_text(json->out, text);
}

void tn_json_bool(tn_json *json, bool value)
{
    before_value(json);
    tn_buf_text(json->out, value ? "true" : "false");
}

void tn_json_null(tn_json *json)
{
    before_value(json);
    tn_buf_text(json->out, "null");
}

void tn_json_text(tn_json *json, tn_str text)
{
    add_string(json, text, false);
}

void tn_json_bytes(tn_json *json, tn_str bytes)
{
    add_string(json, bytes, true);
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void tn_json_base64(tn_json *json, tn_str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;

    before_value(json);
    tn_buf_u8(json->out, '"');
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t group = (uint32_t)at[i] << 16 | (n > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
                         (n > 2 ? at[i + 2] : 0u);
        char text[4] = {base64_digits[group >> 18], base64_digits[group >> 12 & 63],
                        n > 1 ? base64_digits[group >> 6 & 63] : '=',
                        n > 2 ? base64_digits[group & 63] : '='};

        tn_buf_add(json->out, text, 4);
    }
    tn_buf_u8(json->out, '"');
}

/* jansson bounds the depth of what it parses. */
void tn_json_value(tn_json *json, const json_t *value)
{
    const char *key;
    json_t *member;

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        tn_json_object(json);
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
        {
            tn_json_key(json, key);
            tn_json_value(json, member);
        }
        tn_json_object_end(json);
        break;
    case JSON_ARRAY:
        tn_json_array(json);
        for (size_t i = 0; i < json_array_size(value); i++)
            tn_json_value(json, json_array_get(value, i));
        tn_json_array_end(json);
        break;
    case JSON_STRING:
        tn_json_text(json, (tn_str){json_string_value(value), json_string_length(value)});
        break;
    case JSON_INTEGER:
        tn_json_i64(json, json_integer_value(value));
        break;
    case JSON_REAL:
        tn_json_double(json, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        tn_json_bool(json, json_is_true(value));
        break;
    case JSON_NULL:
        tn_json_null(json);
    }
}

void tn_json_put_i64(tn_json *json, const char *key, int64_t value)
{
    tn_json_key(json, key);
    tn_json_i64(json, value);
}

void tn_json_put_u64(tn_json *json, const char *key, uint64_t value)
{
    tn_json_key(json, key);
    tn_json_u64(json, value);
}

void tn_json_put_bool(tn_json *json, const char *key, bool value)
{
    tn_json_key(json, key);
    tn_json_bool(json, value);
}

void tn_json_put_text(tn_json *json, const char *key, tn_str text)
{
    tn_json_key(json, key);
    tn_json_text(json, text);
}

void tn_json_put_bytes(tn_json *json, const char *key, tn_str bytes)
{
    tn_json_key(json, key);
    tn_json_bytes(json, bytes);
}

int tn_json_parse(tarn_cx *cx, tn_str text, const char *what, json_t **out)
{
    json_error_t error;
    json_t *value =
        json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

    if (value == NULL)
        return tn_fail(cx, TARN_E_CORRUPT, "%s: line %d, column %d: not JSON: %s", what, error.line,
                       error.column, error.text);
    *out = value;
    return TARN_OK;
}

static int wrong(tarn_cx *cx, const char *key, const char *want)
{
    return tn_fail(cx, TARN_E_CORRUPT, "member \"%s\": missing, or not %s", key, want);
}

int tn_json_get_i64(tarn_cx *cx, const json_t *object, const char *key, int64_t *out)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value))
        return wrong(cx, key, "an integer");
    *out = json_integer_value(value);
    return TARN_OK;
}

int tn_json_get_bool(tarn_cx *cx, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_boolean(value))
        return wrong(cx, key, "true or false");
    *out = json_is_true(value);
    return TARN_OK;
}

int tn_json_get_text(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                     tn_str *out)
{
    const json_t *value = json_object_get(object, key);
    tn_str text;

    if (!json_is_string(value))
        return wrong(cx, key, "a string");
    text = (tn_str){json_string_value(value), json_string_length(value)};
    if (tn_arena_keep(cx, arena, &text) != TARN_OK)
        return TARN_E_NOMEM;
    *out = text;
    return TARN_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int tn_json_bytes_of(tarn_cx *cx, tn_arena *arena, const json_t *value, tn_str *out)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value), n = 0;
    char *bytes;

    if (text == NULL)
        return tn_fail(cx, TARN_E_CORRUPT, "not a string");
    bytes = tn_arena_take(cx, arena, len + 1);
    if (bytes == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%') {
            bytes[n++] = text[i];
            continue;
        }
        if (i + 2 >= len || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0)
            return tn_fail(cx, TARN_E_CORRUPT, "\"%s\": byte %zu: %% without two hex digits", text,
                           i);
        bytes[n++] = (char)(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
        i += 2;
    }
    *out = (tn_str){bytes, n};
    return TARN_OK;
}

int tn_json_get_bytes(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                      tn_str *out)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_string(value))
        return wrong(cx, key, "a string");
    return tn_json_bytes_of(cx, arena, value, out);
}

int tn_json_get_base64(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                       tn_str *out)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    size_t len = json_string_length(value), n = 0;
    uint32_t group = 0;
    char *bytes;

    if (text == NULL || len % 4 != 0)
        return wrong(cx, key, "base64");
    bytes = tn_arena_take(cx, arena, len / 4 * 3 + 1);
    if (bytes == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < len; i++) {
        const char *digit = text[i] != '\0' ? strchr(base64_digits, text[i]) : NULL;
        bool pad = text[i] == '=' && i + 2 >= len;

        if (digit == NULL && !pad)
            return wrong(cx, key, "base64");
        group = group << 6 | (pad ? 0 : (uint32_t)(digit - base64_digits));
        if (i % 4 != 3)
            continue;
        bytes[n++] = (char)(group >> 16);
        bytes[n++] = (char)(group >> 8);
        bytes[n++] = (char)group;
        group = 0;
    }
    n -= len >= 2 && text[len - 2] == '=' ? 2 : len >= 1 && text[len - 1] == '=' ? 1 : 0;
    *out = (tn_str){bytes, n};
    return TARN_OK;
}

int tn_json_get_array(tarn_cx *cx, const json_t *object, const char *key, json_t **out)
{
    json_t *value = json_object_get(object, key);

    if (!json_is_array(value))
        return wrong(cx, key, "an array");
    *out = value;
    return TARN_OK;
}

int tn_json_get_items(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                      size_t size, json_t **array, void *items, size_t *count)
{
    json_t *found = NULL;
    void *made;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_array(cx, object, key, &found));
    made = tn_arena_array(cx, arena, json_array_size(found), size);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    memcpy(items, &made, sizeof made);
    *count = json_array_size(found);
    *array = found;
done:
    return rc;
}

int tn_json_get_object(tarn_cx *cx, const json_t *object, const char *key, json_t **out)
{
    json_t *value = json_object_get(object, key);

    if (!json_is_object(value))
        return wrong(cx, key, "an object");
    *out = value;
    return TARN_OK;
}
