/* Columns under construction from text.
 * I1: a node with n values holds n * width bytes, or n + 1 offsets; its validity bits exist only
 *     once there was a null.
 * I2: the bits of a bitmap beyond its values are zero.
 * I3: a child of a struct has at least as many values as the struct, the child of a list at least
 *     as many as the last offset says; what it has beyond belongs to a row not yet complete.
 * I4: a value is appended whole or not at all. */
#include "codec/text/build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "batch/format.h"
#include "batch/real.h"
#include "batch/type.h"
#include "codec/text/build_value.h"

#define WHY_BYTES   512
#define SHOWN_BYTES 64 /* of a value in a message */

enum shape {
    SHAPE_NULL,
    SHAPE_BITS,
    SHAPE_FIXED,
    SHAPE_BYTES,
    SHAPE_LIST,
    SHAPE_FIXED_LIST,
    SHAPE_STRUCT
};

struct tn_build {
    const struct ArrowSchema *schema;
    tn_format type;
    enum shape shape;
    bool nullable, large, utf8, uuid, map;
    uint32_t width; /* SHAPE_FIXED: bytes of a value */
    int64_t length, nulls;
    tn_block valid, data, bytes; /* data: values, bits or offsets */
    tn_build *children;
    size_t child_count;
    tn_buf scratch; /* base64 taken back */
    char *why;
    struct ArrowSchema kept; /* of the root alone */
};

/* ---- the schema */

static const char *plain_format(const char *format)
{
    static const char *const views[][2] = {{"vu", "u"}, {"vz", "z"}, {"+vl", "+l"}, {"+vL", "+L"}};

    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        if (strcmp(format, views[i][0]) == 0)
            return views[i][1];
    return format;
}

/* The schema with dictionaries and views resolved. */
static int copy_plain(tarn_cx *cx, const struct ArrowSchema *from, int depth,
                      struct ArrowSchema *out)
{
    const struct ArrowSchema *values = from->dictionary != NULL ? from->dictionary : from;
    tn_str name = tn_str_of(from->name), key, value;
    struct ArrowSchema made = {0};
    tn_buf metadata = {0};
    int rc = TARN_OK;

    if (depth > TN_PARQUET_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "column \"%.*s\": types nested deeper than %d", TN_STR_ARG(name),
                TN_PARQUET_DEPTH_MAX);
    TN_TRY(tn_field_init(cx, &made, plain_format(values->format), name, tn_field_nullable(from),
                         (size_t)values->n_children));
    made.flags = from->flags & ~(int64_t)ARROW_FLAG_DICTIONARY_ORDERED;
    if (values != from)
        made.flags |= values->flags & ARROW_FLAG_MAP_KEYS_SORTED;
    for (int32_t i = 0; tn_metadata_at(from->metadata, i, &key, &value); i++)
        tn_metadata_add(&metadata, key, value);
    TN_TRY(tn_field_set_metadata(cx, &made, &metadata));
    for (int64_t i = 0; i < values->n_children; i++)
        TN_TRY(copy_plain(cx, values->children[i], depth + 1, made.children[i]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    tn_buf_clear(&metadata);
    return rc;
}

static int set_shape(tarn_cx *cx, tn_build *node)
{
    const struct ArrowSchema *schema = node->schema;
    tn_format *type = &node->type;
    bool long_offsets = type->kind == TN_FORMAT_LARGE_BINARY ||
                        type->kind == TN_FORMAT_LARGE_UTF8 || type->kind == TN_FORMAT_LARGE_LIST;

    node->large = long_offsets;
    switch (type->kind) {
    case TN_FORMAT_NULL:
        node->shape = SHAPE_NULL;
        return TARN_OK;
    case TN_FORMAT_BOOL:
        node->shape = SHAPE_BITS;
        return TARN_OK;
    case TN_FORMAT_BINARY:
    case TN_FORMAT_LARGE_BINARY:
        node->shape = SHAPE_BYTES;
        return TARN_OK;
    case TN_FORMAT_UTF8:
    case TN_FORMAT_LARGE_UTF8:
        node->shape = SHAPE_BYTES;
        node->utf8 = true;
        return TARN_OK;
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
        node->shape = SHAPE_LIST;
        return TARN_OK;
    case TN_FORMAT_MAP:
        node->shape = SHAPE_LIST;
        node->map = true;
        return TARN_OK;
    case TN_FORMAT_FIXED_LIST:
        node->shape = SHAPE_FIXED_LIST;
        return TARN_OK;
    case TN_FORMAT_STRUCT:
        node->shape = SHAPE_STRUCT;
        return TARN_OK;
    case TN_FORMAT_FIXED_BINARY:
        node->shape = SHAPE_FIXED;
        node->width = (uint32_t)type->size;
        node->uuid =
            type->size == 16 &&
            tn_str_is(tn_metadata_get(schema->metadata, "ARROW:extension:name"), "arrow.uuid");
        return TARN_OK;
    default:
        break;
    }
    node->shape = SHAPE_FIXED;
    node->width = type->width;
    if (type->width == 0 || type->kind >= TN_FORMAT_MONTHS)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "column \"%s\": values of type %s cannot be read from text", schema->name,
                       tn_format_name(type->kind));
    return TARN_OK;
}

static int push_offset(tarn_cx *cx, tn_build *node, int64_t offset);

/* One offset more than values, from the start. */
static int start_node(tarn_cx *cx, tn_build *node)
{
    if (node->shape == SHAPE_BYTES || node->shape == SHAPE_LIST)
        return push_offset(cx, node, 0);
    return TARN_OK;
}

static int open_node(tarn_cx *cx, const struct ArrowSchema *schema, tn_build *node)
{
    const struct ArrowSchema *holder = schema;
    int rc = TARN_OK;

    node->schema = schema;
    node->nullable = tn_field_nullable(schema);
    TN_TRY(tn_format_parse(cx, schema->format, &node->type));
    TN_TRY(set_shape(cx, node));
    if (node->map) {
        if (schema->n_children != 1 || schema->children[0]->n_children != 2)
            TN_FAIL(TARN_E_INVALID, "column \"%s\": a map needs a key and a value", schema->name);
        holder = schema->children[0];
    } else if (node->shape == SHAPE_LIST || node->shape == SHAPE_FIXED_LIST) {
        if (schema->n_children != 1)
            TN_FAIL(TARN_E_INVALID, "column \"%s\": a list needs one child", schema->name);
    }
    node->children = tn_calloc(cx, (size_t)holder->n_children, sizeof *node->children);
    if (node->children == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < holder->n_children; i++) {
        node->child_count++;
        TN_TRY(open_node(cx, holder->children[i], &node->children[i]));
    }
    if (node->map)
        node->children[0].nullable = false;
    TN_TRY(start_node(cx, node));
done:
    return rc;
}

static void clear_blocks(tn_build *node)
{
    tn_block_clear(&node->valid);
    tn_block_clear(&node->data);
    tn_block_clear(&node->bytes);
    node->length = node->nulls = 0;
}

static void clear_node(tn_build *node)
{
    for (size_t i = 0; i < node->child_count; i++)
        clear_node(&node->children[i]);
    free(node->children);
    clear_blocks(node);
    tn_buf_clear(&node->scratch);
    free(node->why);
}

int tn_build_open(tarn_cx *cx, const struct ArrowSchema *schema, tn_build **out)
{
    tn_build *build = tn_calloc(cx, 1, sizeof *build);
    int rc = TARN_OK;

    if (build == NULL)
        return TARN_E_NOMEM;
    if (strcmp(schema->format, "+s") != 0)
        TN_FAIL(TARN_E_INVALID, "rows need a struct as their schema, not \"%.64s\"",
                schema->format);
    TN_TRY(copy_plain(cx, schema, 0, &build->kept));
    TN_TRY(open_node(cx, &build->kept, build));
    *out = build;
    build = NULL;
done:
    tn_build_close(build);
    return rc;
}

void tn_build_close(tn_build *build)
{
    if (build == NULL)
        return;
    clear_node(build);
    tn_field_release(&build->kept);
    free(build);
}

tn_build *tn_build_child(tn_build *build, size_t i)
{
    assert(i < build->child_count);
    return &build->children[i];
}

const struct ArrowSchema *tn_build_schema(const tn_build *build)
{
    return build->schema;
}

/* ---- reasons */

/* Back to where a character begins, where `len` cuts one. */
static size_t whole_characters(const char *text, size_t len)
{
    while (len > 0 && ((uint8_t)text[len] & 0xC0) == 0x80)
        len--;
    return len;
}

/* The start of a value, quoted, on one line and as UTF-8. */
static void show_value(tn_buf *out, tn_str text)
{
    tn_str shown = text;

    if (text.len > SHOWN_BYTES)
        shown.len = whole_characters(text.ptr, SHOWN_BYTES);
    tn_buf_u8(out, '"');
    while (shown.len > 0) {
        size_t good = tn_str_utf8_prefix(shown);

        for (size_t i = 0; i < good; i++) {
            uint8_t c = (uint8_t)shown.ptr[i];

            tn_buf_u8(out, c >= 0x20 && c != 0x7F ? c : '?');
        }
        if (good < shown.len)
            tn_buf_u8(out, '?');
        shown = tn_str_from(shown, good + 1);
    }
    tn_buf_text(out, text.len > SHOWN_BYTES ? "\"..." : "\"");
}

static int set_why(tarn_cx *cx, tn_build *node, tn_buf *text, const char **why)
{
    size_t len;
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, text));
    if (node->why == NULL)
        node->why = tn_alloc(cx, WHY_BYTES);
    if (node->why == NULL)
        TN_TRY(TARN_E_NOMEM);
    len = text->len;
    if (len >= WHY_BYTES)
        len = whole_characters((const char *)text->data, WHY_BYTES - 1);
    memcpy(node->why, text->data, len);
    node->why[len] = '\0';
    *why = node->why;
done:
    return rc;
}

static void print_unfit(tn_buf *out, const tn_build *node, enum tn_value_fit fit)
{
    const char *wanted = tn_value_wanted(&node->type);
    bool number = strcmp(wanted, "number") == 0;

    switch (fit) {
    case TN_VALUE_FRACTION:
        tn_buf_text(out, number ? " has more digits below the point than "
                                : " has more digits below the second than ");
        tn_type_print(out, node->schema);
        tn_buf_text(out, " holds");
        break;
    case TN_VALUE_ZONE:
        tn_buf_text(out, " has a zone, and ");
        tn_type_print(out, node->schema);
        tn_buf_text(out, " has none");
        break;
    case TN_VALUE_NO_ZONE:
        tn_buf_text(out, " has no zone, which ");
        tn_type_print(out, node->schema);
        tn_buf_text(out, " needs");
        break;
    case TN_VALUE_TIME:
        tn_buf_text(out, " has a time of day, which a date does not hold");
        break;
    default:
        tn_buf_text(out, node->type.kind == TN_FORMAT_BOOL ? " is not " : " is no ");
        tn_buf_text(out, wanted);
        if (node->type.kind != TN_FORMAT_BOOL && node->type.kind != TN_FORMAT_FIXED_BINARY) {
            tn_buf_text(out, " that ");
            tn_type_print(out, node->schema);
            tn_buf_text(out, " holds");
        }
    }
}

static int refuse_value(tarn_cx *cx, tn_build *node, tn_str value, enum tn_value_fit fit,
                        const char **why)
{
    tn_buf text = {0};
    int rc;

    show_value(&text, value);
    print_unfit(&text, node, fit);
    rc = set_why(cx, node, &text, why);
    tn_buf_clear(&text);
    return rc;
}

/* "<value> <what> <the column's type>" */
static int refuse_type(tarn_cx *cx, tn_build *node, tn_str value, const char *what,
                       const char **why)
{
    tn_buf text = {0};
    int rc;

    show_value(&text, value);
    tn_buf_u8(&text, ' ');
    tn_buf_text(&text, what);
    tn_type_print(&text, node->schema);
    rc = set_why(cx, node, &text, why);
    tn_buf_clear(&text);
    return rc;
}

static int refuse_utf8(tarn_cx *cx, tn_build *node, tn_str value, size_t at, const char **why)
{
    tn_buf text = {0};
    int rc;

    show_value(&text, value);
    tn_buf_print(&text, " is no UTF-8: its byte %zu is 0x%02X", at + 1,
                 (unsigned)(uint8_t)value.ptr[at]);
    rc = set_why(cx, node, &text, why);
    tn_buf_clear(&text);
    return rc;
}

/* ---- appending */

static inline int reserve(tarn_cx *cx, tn_block *block, size_t more)
{
    if (more <= block->cap - block->len && block->data != NULL)
        return TARN_OK;
    return tn_block_reserve(cx, block, more);
}

/* Bit `at`, the one after the last; room for it first (I2). */
static inline int reserve_bit(tarn_cx *cx, tn_block *bits, int64_t at)
{
    int rc;

    if ((at & 7) != 0)
        return TARN_OK;
    rc = reserve(cx, bits, 1);
    if (rc == TARN_OK && (int64_t)bits->len == at >> 3)
        bits->data[bits->len++] = 0;
    return rc;
}

static void cut_bits(tn_block *bits, int64_t count)
{
    if (bits->data == NULL)
        return;
    bits->len = (size_t)((count + 7) >> 3);
    if ((count & 7) != 0)
        bits->data[bits->len - 1] &= (uint8_t)((1u << (count & 7)) - 1);
}

static int push_offset(tarn_cx *cx, tn_build *node, int64_t offset)
{
    size_t width = node->large ? 8 : 4;
    int32_t half = (int32_t)offset;
    int rc = TARN_OK;

    if (!node->large && offset > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT, "column \"%s\": a batch has more than 2 GiB of values",
                node->schema->name);
    TN_TRY(reserve(cx, &node->data, width));
    memcpy(node->data.data + node->data.len, node->large ? (void *)&offset : (void *)&half, width);
    node->data.len += width;
done:
    return rc;
}

static int64_t offset_at(const tn_build *node, int64_t at)
{
    if (node->large)
        return ((const int64_t *)(const void *)node->data.data)[at];
    return ((const int32_t *)(const void *)node->data.data)[at];
}

/* Room for the validity bit of the next value, where there are such bits; first of all, so that
 * what was appended before is never half a value (I4). */
static inline int reserve_valid(tarn_cx *cx, tn_build *node)
{
    return node->valid.data == NULL ? TARN_OK : reserve_bit(cx, &node->valid, node->length);
}

static inline void count_valid(tn_build *node)
{
    if (node->valid.data != NULL)
        tn_bit_set(node->valid.data, node->length);
    node->length++;
}

/* The bits of what came before the first null. */
static int start_nulls(tarn_cx *cx, tn_build *node)
{
    size_t bytes = (size_t)((node->length + 7) >> 3);
    int rc = tn_block_reserve(cx, &node->valid, bytes + 1);

    if (rc != TARN_OK)
        return rc;
    node->valid.len = bytes;
    tn_bits_fill(node->valid.data, 0, node->length, true);
    return TARN_OK;
}

/* A value of fixed width, for which there is room. */
static inline int push_word(tarn_cx *cx, tn_build *node, const void *value, size_t width)
{
    int rc = reserve_valid(cx, node);

    if (rc != TARN_OK)
        return rc;
    memcpy(node->data.data + node->data.len, value, width);
    node->data.len += width;
    count_valid(node);
    return TARN_OK;
}

static int push_fixed(tarn_cx *cx, tn_build *node, const void *value)
{
    int rc = reserve(cx, &node->data, node->width);

    return rc == TARN_OK ? push_word(cx, node, value, node->width) : rc;
}

static int push_bit(tarn_cx *cx, tn_build *node, bool value)
{
    int rc = TARN_OK;

    TN_TRY(reserve_valid(cx, node));
    TN_TRY(reserve_bit(cx, &node->data, node->length));
    if (value)
        tn_bit_set(node->data.data, node->length);
    count_valid(node);
done:
    return rc;
}

static int push_bytes(tarn_cx *cx, tn_build *node, tn_str value)
{
    int rc = TARN_OK;

    TN_TRY(reserve_valid(cx, node));
    TN_TRY(reserve(cx, &node->bytes, value.len));
    TN_TRY(push_offset(cx, node, (int64_t)(node->bytes.len + value.len)));
    if (value.len != 0)
        memcpy(node->bytes.data + node->bytes.len, value.ptr, value.len);
    node->bytes.len += value.len;
    count_valid(node);
done:
    return rc;
}

static int push_default(tarn_cx *cx, tn_build *node);

/* Buffers and children for a value that is null or stands below one. */
static int push_slot(tarn_cx *cx, tn_build *node)
{
    int64_t each = node->shape == SHAPE_STRUCT       ? 1
                   : node->shape == SHAPE_FIXED_LIST ? node->type.size
                                                     : 0;
    int rc = TARN_OK;

    switch (node->shape) {
    case SHAPE_BITS:
        TN_TRY(reserve_bit(cx, &node->data, node->length));
        break;
    case SHAPE_FIXED:
        TN_TRY(reserve(cx, &node->data, node->width));
        memset(node->data.data + node->data.len, 0, node->width);
        node->data.len += node->width;
        break;
    case SHAPE_BYTES:
    case SHAPE_LIST:
        TN_TRY(push_offset(cx, node, offset_at(node, node->length)));
        break;
    default:
        break;
    }
    for (size_t i = 0; i < node->child_count; i++)
        for (int64_t j = 0; j < each; j++)
            TN_TRY(push_default(cx, &node->children[i]));
done:
    return rc;
}

static int push_null(tarn_cx *cx, tn_build *node)
{
    int rc = TARN_OK;

    if (node->shape != SHAPE_NULL) {
        if (node->valid.data == NULL)
            TN_TRY(start_nulls(cx, node));
        TN_TRY(reserve_valid(cx, node));
        TN_TRY(push_slot(cx, node));
    }
    node->length++;
    node->nulls++;
done:
    return rc;
}

/* Below a null: nobody looks at it, but a column without nulls must not get one here. */
static int push_default(tarn_cx *cx, tn_build *node)
{
    int rc = TARN_OK;

    if (node->nullable || node->shape == SHAPE_NULL)
        return push_null(cx, node);
    TN_TRY(reserve_valid(cx, node));
    TN_TRY(push_slot(cx, node));
    count_valid(node);
done:
    return rc;
}

static int build_binary(tarn_cx *cx, tn_build *node, tn_str text, const char **why)
{
    tn_str plain = tn_value_trim(text);
    int rc = TARN_OK;

    tn_buf_reset(&node->scratch);
    if (!tn_base64_decode(&node->scratch, plain)) {
        TN_TRY(tn_buf_check(cx, &node->scratch));
        TN_TRY(refuse_type(cx, node, text, "is no base64, which stands for ", why));
    } else if (node->shape == SHAPE_BYTES) {
        TN_TRY(push_bytes(cx, node, tn_buf_view(&node->scratch)));
    } else if (node->scratch.len != node->width) {
        TN_TRY(refuse_type(cx, node, text, "is base64 of another length than ", why));
    } else {
        TN_TRY(push_fixed(cx, node, node->scratch.len != 0 ? (void *)node->scratch.data : ""));
    }
done:
    return rc;
}

int tn_build_text(tarn_cx *cx, tn_build *column, tn_str text, const char **why)
{
    uint8_t value[32];
    enum tn_value_fit fit;
    size_t good;

    *why = NULL;
    switch (column->shape) {
    case SHAPE_BYTES:
        if (!column->utf8)
            return build_binary(cx, column, text, why);
        good = tn_str_utf8_prefix(text);
        if (good != text.len)
            return refuse_utf8(cx, column, text, good, why);
        return push_bytes(cx, column, text);
    case SHAPE_FIXED:
        if (column->type.kind == TN_FORMAT_FIXED_BINARY && !column->uuid)
            return build_binary(cx, column, text, why);
        fit = tn_value_parse(&column->type, text, value);
        if (fit != TN_VALUE_FITS)
            return refuse_value(cx, column, text, fit, why);
        return push_fixed(cx, column, value);
    case SHAPE_BITS:
        fit = tn_value_parse(&column->type, text, value);
        if (fit != TN_VALUE_FITS)
            return refuse_value(cx, column, text, fit, why);
        return push_bit(cx, column, value[0] != 0);
    default:
        return refuse_type(cx, column, text, "is text where a value is wanted of type ", why);
    }
}

/* ---- many values */

/* What does not fit: its place, and something in its stead. */
static int push_unfit(tarn_cx *cx, tn_build *node, size_t place, tn_buf *bad)
{
    uint32_t at = (uint32_t)place;

    tn_buf_add(bad, &at, sizeof at);
    if (bad->failed)
        return tn_buf_check(cx, bad);
    return push_default(cx, node);
}

static int push_missing(tarn_cx *cx, tn_build *node, size_t place, tn_buf *bad)
{
    return node->nullable || node->shape == SHAPE_NULL ? push_null(cx, node)
                                                       : push_unfit(cx, node, place, bad);
}

/* Numbers as most people write them, without a call; then all others. */
static inline bool parse_short(const tn_format *type, tn_str text, void *out)
{
    return (type->kind == TN_FORMAT_INT64 && tn_value_short(text, out)) ||
           (type->kind == TN_FORMAT_DOUBLE && tn_real_short(text, out));
}

static int build_fixed(tarn_cx *cx, tn_build *node, const tn_str *texts, size_t count, tn_buf *bad)
{
    const tn_format type = node->type;
    union {
        uint8_t bytes[32];
        int64_t integer;
        double number;
    } value;
    int rc = TARN_OK;

    TN_TRY(tn_block_reserve(cx, &node->data, count * node->width));
    for (size_t i = 0; i < count; i++) {
        if (texts[i].ptr == NULL)
            TN_TRY(push_missing(cx, node, i, bad));
        else if (parse_short(&type, texts[i], &value))
            TN_TRY(push_word(cx, node, &value, 8));
        else if (tn_value_parse(&type, texts[i], &value) != TN_VALUE_FITS)
            TN_TRY(push_unfit(cx, node, i, bad));
        else if (node->width == 8)
            TN_TRY(push_word(cx, node, &value, 8));
        else
            TN_TRY(push_word(cx, node, &value, node->width));
    }
done:
    return rc;
}

/* A short text, without a call. */
static inline void copy_short(uint8_t *to, tn_str text)
{
    if (text.len > 16) {
        memcpy(to, text.ptr, text.len);
    } else if (text.len >= 8) {
        memcpy(to, text.ptr, 8);
        memcpy(to + text.len - 8, text.ptr + text.len - 8, 8);
    } else if (text.len >= 4) {
        memcpy(to, text.ptr, 4);
        memcpy(to + text.len - 4, text.ptr + text.len - 4, 4);
    } else {
        for (size_t i = 0; i < text.len; i++)
            to[i] = (uint8_t)text.ptr[i];
    }
}

/* A text for which there is room, at an offset that the column can hold. */
static inline int push_text(tarn_cx *cx, tn_build *node, tn_str text)
{
    int rc = reserve_valid(cx, node);

    if (rc != TARN_OK)
        return rc;
    copy_short(node->bytes.data + node->bytes.len, text);
    node->bytes.len += text.len;
    if (node->large) {
        int64_t end = (int64_t)node->bytes.len;

        memcpy(node->data.data + node->data.len, &end, sizeof end);
        node->data.len += sizeof end;
    } else {
        int32_t end = (int32_t)node->bytes.len;

        memcpy(node->data.data + node->data.len, &end, sizeof end);
        node->data.len += sizeof end;
    }
    count_valid(node);
    return TARN_OK;
}

static int build_utf8(tarn_cx *cx, tn_build *node, const tn_str *texts, size_t count, bool ascii,
                      tn_buf *bad)
{
    size_t bytes = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        bytes += texts[i].len;
    if (!node->large && bytes > (size_t)INT32_MAX - node->bytes.len)
        TN_FAIL(TARN_E_LIMIT, "column \"%s\": a batch has more than 2 GiB of values",
                node->schema->name);
    TN_TRY(tn_block_reserve(cx, &node->bytes, bytes));
    TN_TRY(tn_block_reserve(cx, &node->data, count * (node->large ? 8 : 4)));
    for (size_t i = 0; i < count; i++) {
        if (texts[i].ptr == NULL)
            TN_TRY(push_missing(cx, node, i, bad));
        else if (ascii || tn_str_utf8(texts[i]))
            TN_TRY(push_text(cx, node, texts[i]));
        else
            TN_TRY(push_unfit(cx, node, i, bad));
    }
done:
    return rc;
}

int tn_build_texts(tarn_cx *cx, tn_build *column, const tn_str *texts, size_t count, bool ascii,
                   tn_buf *bad)
{
    const char *why;
    int rc = TARN_OK;

    if (column->utf8)
        return build_utf8(cx, column, texts, count, ascii, bad);
    if (column->shape == SHAPE_FIXED &&
        (column->type.kind != TN_FORMAT_FIXED_BINARY || column->uuid))
        return build_fixed(cx, column, texts, count, bad);
    for (size_t i = 0; i < count; i++) {
        if (texts[i].ptr == NULL) {
            TN_TRY(push_missing(cx, column, i, bad));
            continue;
        }
        TN_TRY(tn_build_text(cx, column, texts[i], &why));
        if (why != NULL)
            TN_TRY(push_unfit(cx, column, i, bad));
    }
done:
    return rc;
}

int tn_build_bool(tarn_cx *cx, tn_build *column, bool value, const char **why)
{
    tn_str text = value ? TN_STR("true") : TN_STR("false");

    *why = NULL;
    if (column->shape == SHAPE_BITS)
        return push_bit(cx, column, value);
    if (column->utf8)
        return push_bytes(cx, column, text);
    return refuse_type(cx, column, text, "is a truth value where one is wanted of type ", why);
}

int tn_build_null(tarn_cx *cx, tn_build *column, const char **why)
{
    tn_buf text = {0};
    int rc;

    *why = NULL;
    if (column->nullable || column->shape == SHAPE_NULL)
        return push_null(cx, column);
    tn_buf_text(&text, "a null does not fit a column that has none");
    rc = set_why(cx, column, &text, why);
    tn_buf_clear(&text);
    return rc;
}

static int refuse_count(tarn_cx *cx, tn_build *node, int64_t count, const char **why)
{
    tn_buf text = {0};
    int rc;

    tn_buf_print(&text, "has %lld elements where a list of %d is wanted", (long long)count,
                 (int)node->type.size);
    rc = set_why(cx, node, &text, why);
    tn_buf_clear(&text);
    return rc;
}

int tn_build_nested(tarn_cx *cx, tn_build *column, int64_t count, const char **why)
{
    int rc = TARN_OK;

    *why = NULL;
    assert(column->shape >= SHAPE_LIST);
    if (column->shape == SHAPE_FIXED_LIST && count != column->type.size)
        return refuse_count(cx, column, count, why);
    TN_TRY(reserve_valid(cx, column));
    if (column->shape == SHAPE_LIST)
        TN_TRY(push_offset(cx, column, offset_at(column, column->length) + count));
    count_valid(column);
done:
    return rc;
}

/* ---- rows */

void tn_build_rows_add(tn_build *build, int64_t rows)
{
    assert(build->shape == SHAPE_STRUCT && build->valid.data == NULL);
    build->length += rows;
}

int64_t tn_build_rows(const tn_build *build)
{
    return build->length;
}

static int64_t child_rows(const tn_build *node, int64_t rows)
{
    return node->shape == SHAPE_LIST         ? offset_at(node, rows)
           : node->shape == SHAPE_FIXED_LIST ? rows * node->type.size
                                             : rows;
}

static void truncate_node(tn_build *node, int64_t rows)
{
    assert(rows >= 0 && rows <= node->length);
    if (node->shape == SHAPE_NULL)
        node->nulls = rows;
    else if (node->valid.data != NULL)
        node->nulls -=
            node->length - rows - tn_bits_count(node->valid.data, rows, node->length - rows);
    cut_bits(&node->valid, rows);
    switch (node->shape) {
    case SHAPE_BITS:
        cut_bits(&node->data, rows);
        break;
    case SHAPE_FIXED:
        node->data.len = (size_t)rows * node->width;
        break;
    case SHAPE_BYTES:
        node->bytes.len = (size_t)offset_at(node, rows);
        node->data.len = ((size_t)rows + 1) * (node->large ? 8 : 4);
        break;
    case SHAPE_LIST:
        node->data.len = ((size_t)rows + 1) * (node->large ? 8 : 4);
        break;
    default:
        break;
    }
    for (size_t i = 0; i < node->child_count; i++)
        truncate_node(&node->children[i], child_rows(node, rows));
    node->length = rows;
}

int tn_build_truncate(tarn_cx *cx, tn_build *build, int64_t rows)
{
    (void)cx;
    truncate_node(build, rows);
    return TARN_OK;
}

uint64_t tn_build_bytes(const tn_build *build)
{
    uint64_t bytes = build->valid.len + build->data.len + build->bytes.len;

    for (size_t i = 0; i < build->child_count; i++)
        bytes += tn_build_bytes(&build->children[i]);
    return bytes;
}

/* ---- handing out */

static int finish_node(tarn_cx *cx, tn_build *node, struct ArrowArray *out);

/* `rows` values of each child. */
static int finish_children(tarn_cx *cx, tn_build *node, int64_t rows, struct ArrowArray *array)
{
    for (size_t i = 0; i < node->child_count; i++) {
        int rc;

        assert(node->children[i].length == rows);
        rc = finish_node(cx, &node->children[i], array->children[i]);
        if (rc != TARN_OK)
            return rc;
    }
    return TARN_OK;
}

static int finish_node(tarn_cx *cx, tn_build *node, struct ArrowArray *out)
{
    static const uint8_t buffers[] = {
        [SHAPE_NULL] = 0, [SHAPE_BITS] = 2,       [SHAPE_FIXED] = 2, [SHAPE_BYTES] = 3,
        [SHAPE_LIST] = 2, [SHAPE_FIXED_LIST] = 1, [SHAPE_STRUCT] = 1};
    struct ArrowArray array = {0};
    size_t children = node->map ? 1 : node->child_count;
    int64_t rows = child_rows(node, node->length);
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &array, node->length, buffers[node->shape], children));
    array.null_count = node->nulls;
    if (node->nulls != 0 && node->shape != SHAPE_NULL)
        TN_TRY(tn_array_take_block(cx, &array, 0, &node->valid));
    if (buffers[node->shape] > 1)
        TN_TRY(tn_array_take_block(cx, &array, 1, &node->data));
    if (buffers[node->shape] > 2)
        TN_TRY(tn_array_take_block(cx, &array, 2, &node->bytes));
    if (node->map) {
        TN_TRY(tn_array_init(cx, array.children[0], rows, 1, node->child_count));
        TN_TRY(finish_children(cx, node, rows, array.children[0]));
    } else {
        TN_TRY(finish_children(cx, node, rows, &array));
    }
    tn_array_move(&array, out);
done:
    tn_array_release(&array);
    return rc;
}

static int restart_node(tarn_cx *cx, tn_build *node)
{
    int rc = TARN_OK;

    clear_blocks(node);
    TN_TRY(start_node(cx, node));
    for (size_t i = 0; i < node->child_count; i++)
        TN_TRY(restart_node(cx, &node->children[i]));
done:
    return rc;
}

int tn_build_finish(tarn_cx *cx, tn_build *build, struct ArrowArray *out)
{
    struct ArrowArray array = {0};
    int rc = TARN_OK;

    truncate_node(build, build->length);
    TN_TRY(finish_node(cx, build, &array));
    TN_TRY(restart_node(cx, build));
    tn_array_move(&array, out);
done:
    tn_array_release(&array);
    return rc;
}
