/* JSON taken from its text value by value, for documents of millions of values: no tree is made.
 *
 *     tn_json_reader r = tn_json_reader_of(text, "blocks.json", &arena);
 *     bool more;
 *     tn_str key;
 *
 *     TN_TRY(tn_json_read_open(cx, &r, '{'));
 *     while (TN_TRY(tn_json_read_member(cx, &r, &key, &more)), more)
 *         TN_TRY(tn_str_is(key, "len") ? tn_json_read_i64(cx, &r, &len) : tn_json_read_skip(cx,
 * &r)); TN_TRY(tn_json_read_end(cx, &r));
 *
 * Every failure is CORRUPT and names the document, line and column. The text must be UTF-8, which
 * tn_json_read_end makes sure of, if nothing before it did. */
#ifndef TN_BASE_JSON_READ_H
#define TN_BASE_JSON_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

#define TN_JSON_DEPTH_MAX 64

typedef struct tn_json_reader {
    const char *start, *at, *end;
    const char *name;
    tn_arena *arena; /* of texts */
    unsigned depth;
    bool first;     /* nothing was read yet of the object or array last opened */
    tn_map *shared; /* texts that were read before, for tn_json_read_shared; may be NULL */
} tn_json_reader;

tn_json_reader tn_json_reader_of(tn_str text, const char *name, tn_arena *arena);
/* CORRUPT at the place where the reader stands: "name: line 3, column 7: text". */
int tn_json_read_fail(tarn_cx *cx, const tn_json_reader *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first character of the next value: '{', '[', '"', '-', a digit, 't', 'f', 'n'; 0: the end. */
char tn_json_read_peek(tn_json_reader *r);
/* Begins an object '{' or an array '['. */
int tn_json_read_open(tarn_cx *cx, tn_json_reader *r, char bracket);
/* The key of the next member, whose value is to be read then; *more false: the object has ended. */
int tn_json_read_member(tarn_cx *cx, tn_json_reader *r, tn_str *key, bool *more);
/* Is there a next element, to be read then? False: the array has ended. */
int tn_json_read_element(tarn_cx *cx, tn_json_reader *r, bool *more);
int tn_json_read_i64(tarn_cx *cx, tn_json_reader *r, int64_t *out);
int tn_json_read_bool(tarn_cx *cx, tn_json_reader *r, bool *out);
/* A text in the arena, ended by a NUL that is not counted; one with a NUL in it is CORRUPT. */
int tn_json_read_text(tarn_cx *cx, tn_json_reader *r, tn_str *out);
/* The same, but equal texts are kept once. */
int tn_json_read_shared(tarn_cx *cx, tn_json_reader *r, tn_str *out);
int tn_json_read_skip(tarn_cx *cx, tn_json_reader *r);
/* Nothing may follow. */
int tn_json_read_end(tarn_cx *cx, tn_json_reader *r);

#endif
