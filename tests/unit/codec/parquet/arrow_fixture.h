/* Test helper: Arrow values as text whatever their layout, and random schemas and arrays from a
 * seed. */
#ifndef TN_TEST_ARROW_FIXTURE_H
#define TN_TEST_ARROW_FIXTURE_H

#include "unit/test.h"

#include <inttypes.h>

#include "base/buf.h"
#include "batch/array.h"
#include "batch/field.h"
#include "batch/format.h"

static inline uint32_t fixture_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

static inline tn_format fixture_format(tarn_cx *cx, const struct ArrowSchema *schema)
{
    tn_format format = {0};

    assert_ok(cx, tn_format_parse(cx, schema->format, &format));
    return format;
}

/* --- values as text --- */

static inline void fixture_bytes(tn_buf *text, const uint8_t *bytes, size_t len)
{
    tn_buf_text(text, "x");
    for (size_t i = 0; i < len; i++)
        tn_buf_print(text, "%02x", bytes[i]);
}

static inline void fixture_print(tarn_cx *cx, tn_buf *text, const struct ArrowSchema *schema,
                                 const struct ArrowArray *array, int64_t i);

static inline void fixture_list(tarn_cx *cx, tn_buf *text, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, int64_t first, int64_t count)
{
    tn_buf_text(text, "[");
    for (int64_t j = 0; j < count; j++) {
        tn_buf_text(text, j != 0 ? "," : "");
        fixture_print(cx, text, schema->children[0], array->children[0], first + j);
    }
    tn_buf_text(text, "]");
}

static inline void fixture_struct(tarn_cx *cx, tn_buf *text, const struct ArrowSchema *schema,
                                  const struct ArrowArray *array, int64_t at)
{
    tn_buf_text(text, "{");
    for (int64_t j = 0; j < schema->n_children; j++) {
        tn_buf_text(text, j != 0 ? "," : "");
        fixture_print(cx, text, schema->children[j], array->children[j], at);
    }
    tn_buf_text(text, "}");
}

/* Decimals of any width and integers of any width print alike: by value. */
static inline void fixture_print(tarn_cx *cx, tn_buf *text, const struct ArrowSchema *schema,
                                 const struct ArrowArray *array, int64_t i)
{
    tn_format format = fixture_format(cx, schema);
    int64_t at = array->offset + i;
    const uint8_t *values = array->n_buffers > 1 ? array->buffers[1] : NULL;

    if (format.kind == TN_FORMAT_NULL ||
        (array->null_count != 0 && !tn_bit(array->buffers[0], at))) {
        tn_buf_text(text, "null");
        return;
    }
    switch (format.kind) {
    case TN_FORMAT_BOOL:
        tn_buf_text(text, tn_bit(values, at) ? "true" : "false");
        break;
    case TN_FORMAT_BINARY:
    case TN_FORMAT_UTF8: {
        const int32_t *offset = array->buffers[1];

        fixture_bytes(text, (const uint8_t *)array->buffers[2] + offset[at],
                      (size_t)(offset[at + 1] - offset[at]));
        break;
    }
    case TN_FORMAT_LARGE_BINARY:
    case TN_FORMAT_LARGE_UTF8: {
        const int64_t *offset = array->buffers[1];

        fixture_bytes(text, (const uint8_t *)array->buffers[2] + offset[at],
                      (size_t)(offset[at + 1] - offset[at]));
        break;
    }
    case TN_FORMAT_BINARY_VIEW:
    case TN_FORMAT_UTF8_VIEW: {
        const int32_t *view = (const int32_t *)(const void *)(values + 16 * at);

        fixture_bytes(text,
                      view[0] <= 12 ? (const uint8_t *)(view + 1)
                                    : (const uint8_t *)array->buffers[2 + view[2]] + view[3],
                      (size_t)view[0]);
        break;
    }
    case TN_FORMAT_LIST:
    case TN_FORMAT_MAP: {
        const int32_t *offset = array->buffers[1];

        fixture_list(cx, text, schema, array, offset[at], offset[at + 1] - offset[at]);
        break;
    }
    case TN_FORMAT_LARGE_LIST: {
        const int64_t *offset = array->buffers[1];

        fixture_list(cx, text, schema, array, offset[at], offset[at + 1] - offset[at]);
        break;
    }
    case TN_FORMAT_LIST_VIEW:
        fixture_list(cx, text, schema, array, ((const int32_t *)array->buffers[1])[at],
                     ((const int32_t *)array->buffers[2])[at]);
        break;
    case TN_FORMAT_FIXED_LIST:
        fixture_list(cx, text, schema, array, at * format.size, format.size);
        break;
    case TN_FORMAT_STRUCT:
        fixture_struct(cx, text, schema, array, at);
        break;
    case TN_FORMAT_DECIMAL: {
        uint8_t wide[32];
        size_t width = format.width;

        memcpy(wide, values + width * (size_t)at, width);
        memset(wide + width, (wide[width - 1] & 0x80) != 0 ? 0xFF : 0, 32 - width);
        fixture_bytes(text, wide, 32);
        break;
    }
    default:
        fixture_bytes(text, values + format.width * (size_t)at, format.width);
    }
}

/* All slots, a line each. */
static inline void fixture_lines(tarn_cx *cx, tn_buf *text, const struct ArrowSchema *schema,
                                 const struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->length; i++) {
        fixture_print(cx, text, schema, array, i);
        tn_buf_text(text, "\n");
    }
}

/* --- random schemas and arrays --- */

static inline void fixture_schema(tarn_cx *cx, uint64_t *seed, int depth, bool nullable,
                                  const char *name, struct ArrowSchema *out)
{
    static const char *const leaves[] = {"b",        "c",         "C",       "s",         "S",
                                         "i",        "I",         "l",       "L",         "e",
                                         "f",        "g",         "u",       "z",         "U",
                                         "Z",        "vu",        "w:5",     "n",         "tdD",
                                         "ttm",      "ttu",       "tsu:UTC", "tsn:",      "tDu",
                                         "d:9,2,32", "d:18,0,64", "d:20,5",  "d:50,3,256"};
    static const char *const nested[] = {"+l", "+L", "+s", "+m", "+w:2", "+vl"};
    bool leaf = depth == 0 || fixture_random(seed) % 3 == 0;
    const char *format = leaf ? leaves[fixture_random(seed) % (sizeof leaves / sizeof leaves[0])]
                              : nested[fixture_random(seed) % (sizeof nested / sizeof nested[0])];
    size_t children = leaf ? 0 : strcmp(format, "+s") == 0 ? 1 + fixture_random(seed) % 3 : 1;

    nullable = nullable || strcmp(format, "n") == 0;
    assert_ok(cx, tn_field_init(cx, out, format, tn_str_of(name), nullable, children));
    if (strcmp(format, "+m") == 0) {
        assert_ok(cx, tn_field_init(cx, out->children[0], "+s", TN_STR("entries"), false, 2));
        assert_ok(cx,
                  tn_field_init(cx, out->children[0]->children[0], "u", TN_STR("key"), false, 0));
        fixture_schema(cx, seed, depth - 1, fixture_random(seed) % 2 == 0, "value",
                       out->children[0]->children[1]);
        return;
    }
    for (size_t i = 0; i < children; i++) {
        char child[32];

        snprintf(child, sizeof child, "f%zu", i);
        fixture_schema(cx, seed, depth - 1, fixture_random(seed) % 3 != 0, child, out->children[i]);
    }
}

static inline void fixture_block(tarn_cx *cx, tn_block *block, size_t bytes, uint64_t *seed)
{
    assert_ok(cx, tn_block_reserve(cx, block, bytes));
    for (size_t i = 0; i < bytes; i++)
        block->data[i] = seed != NULL ? (uint8_t)fixture_random(seed) : 0;
    block->len = bytes;
}

/* Offsets of `slots` + 1 lists; gives where they end. A null slot may hold items: they are no part
 * of the value. */
static inline int64_t fixture_offsets(tarn_cx *cx, uint64_t *seed, bool large, int64_t slots,
                                      uint32_t most, tn_block *block)
{
    int64_t at = fixture_random(seed) % 3;
    size_t width = large ? 8 : 4;

    fixture_block(cx, block, (size_t)(slots + 1) * width, NULL);
    for (int64_t i = 0; i <= slots; i++) {
        memcpy(block->data + (size_t)i * width, &at, width);
        at += i < slots ? fixture_random(seed) % (most + 1) : 0;
    }
    return at;
}

static inline void fixture_views(tarn_cx *cx, uint64_t *seed, int64_t slots,
                                 struct ArrowArray *array)
{
    tn_block views = {0}, data = {0}, sizes = {0};
    int64_t size = 64;

    fixture_block(cx, &views, (size_t)slots * 16, NULL);
    fixture_block(cx, &data, (size_t)size, seed);
    fixture_block(cx, &sizes, 8, NULL);
    memcpy(sizes.data, &size, 8);
    for (int64_t i = 0; i < slots; i++) {
        int32_t view[4] = {(int32_t)(fixture_random(seed) % 25), 0, 0, 0};

        if (view[0] > 12)
            view[3] = (int32_t)(fixture_random(seed) % 30);
        else
            memset(view + 1, (int)('a' + fixture_random(seed) % 26), 12);
        memcpy(views.data + 16 * i, view, 16);
    }
    assert_ok(cx, tn_array_take_block(cx, array, 1, &views));
    assert_ok(cx, tn_array_take_block(cx, array, 2, &data));
    assert_ok(cx, tn_array_take_block(cx, array, 3, &sizes));
}

static inline void fixture_array(tarn_cx *cx, uint64_t *seed, const struct ArrowSchema *schema,
                                 int64_t length, struct ArrowArray *out);

/* Values of plain widths, small enough for what Parquet takes. */
static inline void fixture_fixed(tarn_cx *cx, uint64_t *seed, const tn_format *format,
                                 int64_t slots, struct ArrowArray *array)
{
    tn_block block = {0};

    fixture_block(cx, &block, (size_t)slots * format->width, seed);
    for (int64_t i = 0; format->kind == TN_FORMAT_DECIMAL && i < slots; i++) {
        uint8_t *value = block.data + (size_t)i * format->width;
        bool negative = fixture_random(seed) % 2 == 0;

        memset(value + 3, negative ? 0xFF : 0, format->width - 3);
    }
    assert_ok(cx, tn_array_take_block(cx, array, 1, &block));
}

static inline void fixture_lists(tarn_cx *cx, uint64_t *seed, const struct ArrowSchema *schema,
                                 const tn_format *format, int64_t slots, struct ArrowArray *array)
{
    bool large = format->kind == TN_FORMAT_LARGE_LIST;
    tn_block block = {0}, sizes = {0};
    int64_t items = slots * format->size;

    if (format->kind == TN_FORMAT_LIST_VIEW) {
        items = 7;
        fixture_block(cx, &block, (size_t)slots * 4, NULL);
        fixture_block(cx, &sizes, (size_t)slots * 4, NULL);
        for (int64_t i = 0; i < slots; i++) {
            int32_t first = (int32_t)(fixture_random(seed) % 7);
            int32_t size = (int32_t)(fixture_random(seed) % (8 - (uint32_t)first));

            memcpy(block.data + 4 * i, &first, 4);
            memcpy(sizes.data + 4 * i, &size, 4);
        }
        assert_ok(cx, tn_array_take_block(cx, array, 2, &sizes));
    } else if (format->kind != TN_FORMAT_FIXED_LIST) {
        items = fixture_offsets(cx, seed, large, slots, 3, &block);
    }
    if (format->kind != TN_FORMAT_FIXED_LIST)
        assert_ok(cx, tn_array_take_block(cx, array, 1, &block));
    fixture_array(cx, seed, schema->children[0], items, array->children[0]);
}

static inline void fixture_array(tarn_cx *cx, uint64_t *seed, const struct ArrowSchema *schema,
                                 int64_t length, struct ArrowArray *out)
{
    tn_format format = fixture_format(cx, schema);
    int64_t before = fixture_random(seed) % 4, slots = length + before;
    size_t buffers = format.buffers + (format.kind == TN_FORMAT_UTF8_VIEW ? 2 : 0);
    tn_block block = {0}, data = {0};

    assert_ok(cx, tn_array_init(cx, out, length, buffers, (size_t)schema->n_children));
    out->offset = before;
    if (tn_field_nullable(schema) && format.kind != TN_FORMAT_NULL &&
        fixture_random(seed) % 4 != 0) {
        fixture_block(cx, &block, (size_t)(slots + 7) / 8, seed);
        assert_ok(cx, tn_array_take_block(cx, out, 0, &block));
        out->null_count = -1;
    }
    switch (format.kind) {
    case TN_FORMAT_NULL:
        out->null_count = length;
        break;
    case TN_FORMAT_BOOL:
        fixture_block(cx, &block, (size_t)(slots + 7) / 8, seed);
        assert_ok(cx, tn_array_take_block(cx, out, 1, &block));
        break;
    case TN_FORMAT_BINARY:
    case TN_FORMAT_UTF8:
    case TN_FORMAT_LARGE_BINARY:
    case TN_FORMAT_LARGE_UTF8: {
        bool large = format.kind == TN_FORMAT_LARGE_BINARY || format.kind == TN_FORMAT_LARGE_UTF8;
        int64_t bytes = fixture_offsets(cx, seed, large, slots, 20, &block);

        fixture_block(cx, &data, (size_t)bytes, seed);
        assert_ok(cx, tn_array_take_block(cx, out, 1, &block));
        assert_ok(cx, tn_array_take_block(cx, out, 2, &data));
        break;
    }
    case TN_FORMAT_UTF8_VIEW:
        fixture_views(cx, seed, slots, out);
        break;
    case TN_FORMAT_STRUCT:
        for (int64_t i = 0; i < schema->n_children; i++)
            fixture_array(cx, seed, schema->children[i], slots, out->children[i]);
        break;
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
    case TN_FORMAT_LIST_VIEW:
    case TN_FORMAT_FIXED_LIST:
    case TN_FORMAT_MAP:
        fixture_lists(cx, seed, schema, &format, slots, out);
        break;
    default:
        fixture_fixed(cx, seed, &format, slots, out);
    }
}

#endif
