/* Arrow batches as NDJSON.
 *     {"id":7,"name":"K\u00f6ln" (as UTF-8),"at":"2024-05-12T10:00:00.000Z","tags":["a",null]}
 * I1: a line is one object with every column, in order, and holds no raw newline.
 * I2: what a node needs is worked out once, at open; rows only follow it. */
#include "codec/ndjson/ndjson_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "batch/text.h"

typedef struct node {
    tn_text_type of;
    tn_str key; /* ,"name": with the comma */
    struct node *children;
    size_t child_count;
} node;

struct tn_ndjson_writer {
    tn_arena arena;
    node root;
};

static int make_key(tarn_cx *cx, tn_arena *arena, const char *name, tn_str *out)
{
    tn_buf text = {0};
    tn_json json = tn_json_to(&text);
    int rc;

    tn_buf_u8(&text, ',');
    tn_json_text(&json, tn_str_of(name != NULL ? name : ""));
    tn_buf_u8(&text, ':');
    rc = tn_buf_check(cx, &text);
    *out = tn_buf_view(&text);
    if (rc == TARN_OK)
        rc = tn_arena_keep(cx, arena, out);
    tn_buf_clear(&text);
    return rc;
}

static int make_node(tarn_cx *cx, tn_arena *arena, const struct ArrowSchema *schema, int depth,
                     node *out)
{
    const struct ArrowSchema *values = schema->dictionary != NULL ? schema->dictionary : schema;
    int rc = TARN_OK;

    if (depth > 2 * TN_PARQUET_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "column \"%s\": nested deeper than %d levels", schema->name,
                2 * TN_PARQUET_DEPTH_MAX);
    TN_TRY(make_key(cx, arena, schema->name, &out->key));
    TN_TRY(tn_text_type_of(cx, schema, &out->of));
    if (schema->dictionary != NULL)
        out->of.uuid = false;
    out->children = tn_arena_array(cx, arena, (size_t)values->n_children + 1, sizeof(node));
    if (out->children == NULL)
        TN_TRY(TARN_E_NOMEM);
    out->child_count = (size_t)values->n_children;
    for (size_t i = 0; i < out->child_count; i++)
        TN_TRY(make_node(cx, arena, values->children[i], depth + 1, &out->children[i]));
done:
    return rc;
}

int tn_ndjson_writer_open(tarn_cx *cx, const struct ArrowSchema *schema, tn_ndjson_writer **out)
{
    tn_ndjson_writer *writer = tn_calloc(cx, 1, sizeof *writer);
    int rc = TARN_OK;

    if (writer == NULL)
        return TARN_E_NOMEM;
    TN_TRY(make_node(cx, &writer->arena, schema, 0, &writer->root));
    *out = writer;
    writer = NULL;
done:
    tn_ndjson_writer_close(writer);
    return rc;
}

void tn_ndjson_writer_close(tn_ndjson_writer *writer)
{
    if (writer == NULL)
        return;
    tn_arena_clear(&writer->arena);
    free(writer);
}

/* Whether a byte of text stands for itself inside quotes. */
static inline bool is_plain(uint8_t c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

static void put_escape(tn_buf *out, uint8_t c)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *hit = c != 0 ? strchr(names, c) : NULL;

    if (hit != NULL) {
        tn_buf_u8(out, '\\');
        tn_buf_u8(out, (uint8_t)letters[hit - names]);
    } else {
        tn_buf_print(out, "\\u%04x", c);
    }
}

/* Length of the run at the start that stands for itself; *ascii false when a byte above 0x7F came.
 */
static size_t plain_run(const uint8_t *at, size_t len, bool *ascii)
{
    size_t i = 0;
    uint64_t high = 0;

    for (; i + 8 <= len; i += 8) {
        uint64_t w, quote, slash;

        memcpy(&w, at + i, 8);
        quote = w ^ 0x2222222222222222ull;
        slash = w ^ 0x5C5C5C5C5C5C5C5Cull;
        /* A byte below 0x20, or one that is zero after the xor, sets its high bit. */
        if ((((w - 0x2020202020202020ull) & ~w) | ((quote - 0x0101010101010101ull) & ~quote) |
             ((slash - 0x0101010101010101ull) & ~slash)) &
            0x8080808080808080ull)
            break;
        high |= w;
    }
    *ascii = (high & 0x8080808080808080ull) == 0;
    for (; i < len && is_plain(at[i]); i++)
        *ascii = *ascii && at[i] < 0x80;
    return i;
}

static void put_text(tn_buf *out, tn_str text)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    size_t left = text.len;
    bool ascii;

    tn_buf_u8(out, '"');
    if (!tn_str_utf8(text)) {
        tn_json json = tn_json_to(out);

        out->len--;
        tn_json_text(&json, text);
        return;
    }
    while (left > 0) {
        size_t run = plain_run(at, left, &ascii);

        tn_buf_add(out, at, run);
        at += run;
        left -= run;
        if (left > 0) {
            put_escape(out, *at++);
            left--;
        }
    }
    tn_buf_u8(out, '"');
}

static void put_base64(tn_buf *out, tn_str bytes)
{
    tn_json json = tn_json_to(out);

    tn_json_base64(&json, bytes);
}

static void put_value(const node *n, const struct ArrowArray *array, int64_t at, tn_buf *out);

/* Elements [first, first + count) of a child, which adds its own offset. */
static void put_list(const node *n, const struct ArrowArray *child, int64_t first, int64_t count,
                     tn_buf *out)
{
    tn_buf_u8(out, '[');
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            tn_buf_u8(out, ',');
        put_value(&n->children[0], child, child->offset + first + i, out);
    }
    tn_buf_u8(out, ']');
}

static void put_struct(const node *n, const struct ArrowArray *array, int64_t at, tn_buf *out)
{
    tn_buf_u8(out, '{');
    for (size_t c = 0; c < n->child_count; c++) {
        tn_str key = n->children[c].key;

        tn_buf_str(out, c > 0 ? key : tn_str_from(key, 1));
        put_value(&n->children[c], array->children[c], array->children[c]->offset + at, out);
    }
    tn_buf_u8(out, '}');
}

/* A key that is no text becomes the text of its value. */
static void put_key(const node *n, const struct ArrowArray *keys, int64_t at, tn_buf *out)
{
    size_t before = out->len;
    tn_buf value = {0};

    put_value(n, keys, at, out);
    if (out->failed || out->data[before] == '"')
        return;
    tn_buf_add(&value, out->data + before, out->len - before);
    out->len = before;
    out->failed |= value.failed;
    put_text(out, tn_buf_view(&value));
    tn_buf_clear(&value);
}

static void put_map(const node *n, const struct ArrowArray *entries, int64_t first, int64_t count,
                    tn_buf *out)
{
    const node *entry = &n->children[0];
    const struct ArrowArray *keys = entries->children[0], *values = entries->children[1];

    tn_buf_u8(out, '{');
    for (int64_t i = 0; i < count; i++) {
        int64_t at = entries->offset + first + i;

        if (i > 0)
            tn_buf_u8(out, ',');
        put_key(&entry->children[0], keys, keys->offset + at, out);
        tn_buf_u8(out, ':');
        put_value(&entry->children[1], values, values->offset + at, out);
    }
    tn_buf_u8(out, '}');
}

static void put_nested(const node *n, const struct ArrowArray *array, int64_t at, tn_buf *out)
{
    int64_t first, count;

    if (n->of.type.kind == TN_TYPE_STRUCT) {
        put_struct(n, array, at, out);
        return;
    }
    tn_rows_list(&n->of.type, array, at, &first, &count);
    if (n->of.type.kind == TN_TYPE_MAP && n->children[0].child_count == 2)
        put_map(n, array->children[0], first, count, out);
    else
        put_list(n, array->children[0], first, count, out);
}

static void put_null(tn_buf *out)
{
    tn_buf_add(out, "null", 4);
}

/* The value at a position of the dictionary. */
static void put_entry(const node *n, const struct ArrowArray *array, int64_t at, tn_buf *out)
{
    const struct ArrowArray *values = array->dictionary;
    int64_t index = tn_rows_integer(n->of.type.index, array, at);
    node plain = *n;

    plain.of.type.dictionary = false;
    if (index < 0 || index >= values->length)
        put_null(out); /* only a broken producer gives such an index; batches were checked */
    else
        put_value(&plain, values, values->offset + index, out);
}

static void put_value(const node *n, const struct ArrowArray *array, int64_t at, tn_buf *out)
{
    enum tn_type_kind kind = n->of.type.kind;
    enum tn_text_form form;
    size_t len;
    char *to;

    if (kind == TN_TYPE_NULL || tn_rows_is_null(array, at)) {
        put_null(out);
        return;
    }
    if (n->of.type.dictionary) {
        put_entry(n, array, at, out);
        return;
    }
    if (tn_text_is_utf8(kind)) {
        put_text(out, tn_rows_bytes(&n->of.type, array, at));
        return;
    }
    if (kind >= TN_TYPE_LIST) {
        put_nested(n, array, at, out);
        return;
    }
    if (out->cap - out->len < TN_TEXT_BYTES_MAX + 2 && !tn_buf_reserve(out, TN_TEXT_BYTES_MAX + 2))
        return;
    to = (char *)out->data + out->len;
    /* Written one byte in, so that a quote can come before it without moving. */
    len = tn_text_write(&n->of, array, at, to + 1, &form);
    if (form == TN_TEXT_BARE) {
        memmove(to, to + 1, len);
        out->len += len;
    } else if (form == TN_TEXT_WORDS) {
        to[0] = '"';
        to[len + 1] = '"';
        out->len += len + 2;
    } else {
        put_base64(out, tn_rows_bytes(&n->of.type, array, at));
    }
}

int tn_ndjson_writer_rows(tarn_cx *cx, const tn_ndjson_writer *writer,
                          const struct ArrowArray *batch, int64_t first, int64_t rows, tn_buf *out)
{
    assert(batch->n_children == (int64_t)writer->root.child_count);
    for (int64_t i = first; i < first + rows; i++) {
        put_struct(&writer->root, batch, batch->offset + i, out);
        tn_buf_u8(out, '\n');
    }
    return tn_buf_check(cx, out);
}

int tn_ndjson_writer_value(tarn_cx *cx, const tn_ndjson_writer *writer,
                           const struct ArrowArray *batch, size_t column, int64_t at, tn_buf *out)
{
    const struct ArrowArray *child = batch->children[column];

    put_value(&writer->root.children[column], child, child->offset + batch->offset + at, out);
    return tn_buf_check(cx, out);
}
