/* JSON out: a sticky writer into a buffer. JSON in: jansson, with getters that check types and name
 * the place. Byte strings (names, paths): "%", NUL and what is not UTF-8 are written as %XX
 * (tn_json_bytes), and taken back by tn_json_bytes_get; text is written as it is, with U+FFFD for
 * broken UTF-8 (tn_json_text). */
#ifndef TN_BASE_JSON_H
#define TN_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

typedef struct tn_json {
    tn_buf *out;
    bool comma; /* the next value or key needs one before it */
} tn_json;

static inline tn_json tn_json_to(tn_buf *out)
{
    return (tn_json){out, false};
}

void tn_json_object(tn_json *json);
void tn_json_object_end(tn_json *json);
void tn_json_array(tn_json *json);
void tn_json_array_end(tn_json *json);
void tn_json_key(tn_json *json, const char *key);
void tn_json_i64(tn_json *json, int64_t value);
void tn_json_u64(tn_json *json, uint64_t value);
/* Shortest digits that read back equal; NaN and infinities as the strings "NaN", "Infinity",
 * "-Infinity". */
void tn_json_double(tn_json *json, double value);
void tn_json_bool(tn_json *json, bool value);
void tn_json_null(tn_json *json);
void tn_json_text(tn_json *json, tn_str text);
void tn_json_bytes(tn_json *json, tn_str bytes);
void tn_json_base64(tn_json *json, tn_str bytes);
/* A parsed value, members in their order. */
void tn_json_value(tn_json *json, const json_t *value);

/* key and value in one call */
void tn_json_put_i64(tn_json *json, const char *key, int64_t value);
void tn_json_put_u64(tn_json *json, const char *key, uint64_t value);
void tn_json_put_bool(tn_json *json, const char *key, bool value);
void tn_json_put_text(tn_json *json, const char *key, tn_str text);
void tn_json_put_bytes(tn_json *json, const char *key, tn_str bytes);

/* Parses one document; *out is the caller's, to json_decref. The failure names `what`, line and
 * column. */
int tn_json_parse(tarn_cx *cx, tn_str text, const char *what, json_t **out);
/* Members by key; CORRUPT naming the key when missing or of another type. Strings are copied into
 * the arena. */
int tn_json_get_i64(tarn_cx *cx, const json_t *object, const char *key, int64_t *out);
int tn_json_get_bool(tarn_cx *cx, const json_t *object, const char *key, bool *out);
int tn_json_get_text(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                     tn_str *out);
int tn_json_get_bytes(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                      tn_str *out);
int tn_json_get_base64(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                       tn_str *out);
int tn_json_get_array(tarn_cx *cx, const json_t *object, const char *key, json_t **out);
/* An array, and a zeroed place in the arena for each of its items, of `size` bytes: `items` points
 * to the pointer to them. */
int tn_json_get_items(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                      size_t size, json_t **array, void *items, size_t *count);
int tn_json_get_object(tarn_cx *cx, const json_t *object, const char *key, json_t **out);
/* A string value written by tn_json_bytes. */
int tn_json_bytes_of(tarn_cx *cx, tn_arena *arena, const json_t *value, tn_str *out);

#endif
