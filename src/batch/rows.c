/* Rows of arrays, read one by one or taken into new arrays.
 * I1: every array made here owns its buffers, children and dictionary; nothing is shared.
 * I2: null slots of fixed-width buffers are zero, so that output is deterministic. */
#include "batch/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double tn_half_get(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;

    if (exponent == 31)
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

tn_str tn_rows_bytes(const tn_type *type, const struct ArrowArray *array, int64_t at)
{
    const char *data;

    if (type->kind == TN_TYPE_FIXED)
        return (tn_str){(const char *)array->buffers[1] + (size_t)at * type->width, type->width};
    data = array->buffers[2];
    if (type->kind == TN_TYPE_LARGE_UTF8 || type->kind == TN_TYPE_LARGE_BINARY) {
        const int64_t *offsets = array->buffers[1];

        return (tn_str){data + offsets[at], (size_t)(offsets[at + 1] - offsets[at])};
    } else {
        const int32_t *offsets = array->buffers[1];

        return (tn_str){data + offsets[at], (size_t)(offsets[at + 1] - offsets[at])};
    }
}

int64_t tn_rows_integer(enum tn_type_kind kind, const struct ArrowArray *array, int64_t at)
{
    const void *data = array->buffers[1];

    switch (kind) {
    case TN_TYPE_INT8:
        return ((const int8_t *)data)[at];
    case TN_TYPE_INT16:
        return ((const int16_t *)data)[at];
    case TN_TYPE_INT32:
    case TN_TYPE_DATE32:
    case TN_TYPE_TIME32:
        return ((const int32_t *)data)[at];
    case TN_TYPE_UINT8:
        return ((const uint8_t *)data)[at];
    case TN_TYPE_UINT16:
        return ((const uint16_t *)data)[at];
    case TN_TYPE_UINT32:
        return ((const uint32_t *)data)[at];
    default:
        return ((const int64_t *)data)[at];
    }
}

/* Allocates buffer i of an array, zeroed; NULL with NOMEM. */
static void *make_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, size_t bytes)
{
    tn_block block = {0};

    if (tn_block_reserve(cx, &block, bytes) != TARN_OK)
        return NULL;
    if (bytes != 0)
        memset(block.data, 0, bytes);
    block.len = bytes;
    if (tn_array_take_block(cx, array, i, &block) != TARN_OK)
        return NULL;
    return (void *)(uintptr_t)array->buffers[i];
}

static size_t bit_bytes(int64_t rows)
{
    return ((size_t)rows + 7) / 8;
}

/* Buffers of an array of the kind, validity included. */
static size_t buffer_count(const tn_type *type)
{
    if (type->dictionary)
        return 2;
    switch (type->kind) {
    case TN_TYPE_NULL:
        return 0;
    case TN_TYPE_STRUCT:
    case TN_TYPE_FIXED_LIST:
        return 1;
    case TN_TYPE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_LARGE_BINARY:
        return 3;
    default:
        return 2;
    }
}

static int make_array(tarn_cx *cx, const struct ArrowSchema *schema, const tn_type *type,
                      int64_t rows, struct ArrowArray *out)
{
    int rc = tn_array_init(cx, out, rows, buffer_count(type),
                           type->dictionary ? 0 : (size_t)schema->n_children);

    if (rc == TARN_OK && type->dictionary)
        rc = tn_array_make_dictionary(cx, out);
    return rc;
}

static size_t index_width(enum tn_type_kind kind)
{
    switch (kind) {
    case TN_TYPE_INT8:
    case TN_TYPE_UINT8:
        return 1;
    case TN_TYPE_INT16:
    case TN_TYPE_UINT16:
        return 2;
    case TN_TYPE_INT32:
    case TN_TYPE_UINT32:
        return 4;
    default:
        return 8;
    }
}

static bool is_large(enum tn_type_kind kind)
{
    return kind == TN_TYPE_LARGE_UTF8 || kind == TN_TYPE_LARGE_BINARY || kind == TN_TYPE_LARGE_LIST;
}

static int take_validity(tarn_cx *cx, const struct ArrowArray *array, const int64_t *take,
                         int64_t count, struct ArrowArray *out)
{
    uint8_t *bits = NULL;
    int64_t nulls = 0;

    for (int64_t i = 0; i < count; i++)
        nulls += take[i] < 0 || tn_rows_is_null(array, take[i]);
    out->length = count;
    out->null_count = nulls;
    if (nulls == 0)
        return TARN_OK;
    bits = make_buffer(cx, out, 0, bit_bytes(count));
    if (bits == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < count; i++)
        if (take[i] >= 0 && !tn_rows_is_null(array, take[i]))
            tn_bit_set(bits, i);
    return TARN_OK;
}

static int take_fixed(tarn_cx *cx, size_t width, const struct ArrowArray *array,
                      const int64_t *take, int64_t count, struct ArrowArray *out)
{
    const uint8_t *from = array->buffers[1];
    uint8_t *to = make_buffer(cx, out, 1, width * (size_t)count);

    if (to == NULL)
        return TARN_E_NOMEM;
    if (width == 8) {
        for (int64_t i = 0; i < count; i++)
            ((uint64_t *)(void *)to)[i] =
                take[i] < 0 ? 0 : ((const uint64_t *)(const void *)from)[take[i]];
    } else if (width == 4) {
        for (int64_t i = 0; i < count; i++)
            ((uint32_t *)(void *)to)[i] =
                take[i] < 0 ? 0 : ((const uint32_t *)(const void *)from)[take[i]];
    } else {
        for (int64_t i = 0; i < count; i++)
            if (take[i] >= 0)
                memcpy(to + (size_t)i * width, from + (size_t)take[i] * width, width);
    }
    return TARN_OK;
}

static int take_bool(tarn_cx *cx, const struct ArrowArray *array, const int64_t *take,
                     int64_t count, struct ArrowArray *out)
{
    uint8_t *to = make_buffer(cx, out, 1, bit_bytes(count));

    if (to == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < count; i++)
        if (take[i] >= 0 && tn_bit(array->buffers[1], take[i]))
            tn_bit_set(to, i);
    return TARN_OK;
}

static int take_bytes(tarn_cx *cx, const tn_type *type, const struct ArrowArray *array,
                      const int64_t *take, int64_t count, struct ArrowArray *out)
{
    bool large = is_large(type->kind);
    void *offsets = make_buffer(cx, out, 1, ((size_t)count + 1) * (large ? 8 : 4));
    size_t total = 0;
    char *to;

    if (offsets == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < count; i++) {
        if (take[i] >= 0 && !tn_rows_is_null(array, take[i]))
            total += tn_rows_bytes(type, array, take[i]).len;
        if (large)
            ((int64_t *)offsets)[i + 1] = (int64_t)total;
        else if (total <= INT32_MAX)
            ((int32_t *)offsets)[i + 1] = (int32_t)total;
        else
            return tn_fail(cx, TARN_E_LIMIT, "more than 2 GiB of text in one batch");
    }
    to = make_buffer(cx, out, 2, total);
    if (to == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < count; i++) {
        tn_str text;

        if (take[i] < 0 || tn_rows_is_null(array, take[i]))
            continue;
        text = tn_rows_bytes(type, array, take[i]);
        if (text.len != 0)
            memcpy(to, text.ptr, text.len);
        to += text.len;
    }
    return TARN_OK;
}

void tn_rows_list(const tn_type *type, const struct ArrowArray *array, int64_t at, int64_t *first,
                  int64_t *count)
{
    if (type->kind == TN_TYPE_LARGE_LIST) {
        *first = ((const int64_t *)array->buffers[1])[at];
        *count = ((const int64_t *)array->buffers[1])[at + 1] - *first;
    } else if (type->kind == TN_TYPE_FIXED_LIST) {
        *first = at * type->width;
        *count = type->width;
    } else {
        *first = ((const int32_t *)array->buffers[1])[at];
        *count = ((const int32_t *)array->buffers[1])[at + 1] - *first;
    }
}

/* Lists and maps: the elements of each row taken, null rows without any (fixed lists: nulls). */
static int take_list(tarn_cx *cx, const struct ArrowSchema *schema, const tn_type *type,
                     const struct ArrowArray *array, const int64_t *take, int64_t count,
                     struct ArrowArray *out)
{
    const struct ArrowArray *child = array->children[0];
    bool fixed = type->kind == TN_TYPE_FIXED_LIST, large = is_large(type->kind);
    int64_t *inner = NULL;
    int64_t total = 0, n = 0;
    void *offsets = NULL;
    int rc = TARN_OK;

    for (int64_t i = 0; i < count; i++) {
        int64_t first, len = fixed ? type->width : 0;

        if (take[i] >= 0 && !tn_rows_is_null(array, take[i]))
            tn_rows_list(type, array, take[i], &first, &len);
        total += len;
    }
    if (!fixed) {
        offsets = make_buffer(cx, out, 1, ((size_t)count + 1) * (large ? 8 : 4));
        if (offsets == NULL)
            return TARN_E_NOMEM;
    }
    inner = tn_alloc(cx, (size_t)total * sizeof *inner);
    if (inner == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < count; i++) {
        bool present = take[i] >= 0 && !tn_rows_is_null(array, take[i]);
        int64_t first = 0, len = fixed ? type->width : 0;

        if (present)
            tn_rows_list(type, array, take[i], &first, &len);
        for (int64_t k = 0; k < len; k++)
            inner[n++] = present ? child->offset + first + k : -1;
        if (large)
            ((int64_t *)offsets)[i + 1] = n;
        else if (offsets != NULL)
            ((int32_t *)offsets)[i + 1] = (int32_t)n;
    }
    TN_TRY(tn_rows_take(cx, schema->children[0], child, inner, n, out->children[0]));
done:
    free(inner);
    return rc;
}

static int take_struct(tarn_cx *cx, const struct ArrowSchema *schema,
                       const struct ArrowArray *array, const int64_t *take, int64_t count,
                       struct ArrowArray *out)
{
    int64_t *inner = tn_alloc(cx, (size_t)count * sizeof *inner);
    int rc = TARN_OK;

    if (inner == NULL)
        return TARN_E_NOMEM;
    for (int64_t c = 0; c < array->n_children; c++) {
        for (int64_t i = 0; i < count; i++)
            inner[i] = take[i] < 0 ? -1 : take[i] + array->children[c]->offset;
        TN_TRY(tn_rows_take(cx, schema->children[c], array->children[c], inner, count,
                            out->children[c]));
    }
done:
    free(inner);
    return rc;
}

static int take_dictionary(tarn_cx *cx, const struct ArrowSchema *schema, const tn_type *type,
                           const struct ArrowArray *array, const int64_t *take, int64_t count,
                           struct ArrowArray *out)
{
    const struct ArrowArray *values = array->dictionary;
    int64_t *all = NULL;
    int rc = TARN_OK;

    TN_TRY(take_fixed(cx, index_width(type->index), array, take, count, out));
    all = tn_alloc(cx, (size_t)values->length * sizeof *all);
    if (all == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < values->length; i++)
        all[i] = values->offset + i;
    TN_TRY(tn_rows_take(cx, schema->dictionary, values, all, values->length, out->dictionary));
done:
    free(all);
    return rc;
}

static int take_values(tarn_cx *cx, const struct ArrowSchema *schema, const tn_type *type,
                       const struct ArrowArray *array, const int64_t *take, int64_t count,
                       struct ArrowArray *out)
{
    if (type->dictionary)
        return take_dictionary(cx, schema, type, array, take, count, out);
    switch (type->kind) {
    case TN_TYPE_BOOL:
        return take_bool(cx, array, take, count, out);
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
        return take_bytes(cx, type, array, take, count, out);
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
    case TN_TYPE_FIXED_LIST:
    case TN_TYPE_MAP:
        return take_list(cx, schema, type, array, take, count, out);
    case TN_TYPE_STRUCT:
        return take_struct(cx, schema, array, take, count, out);
    default:
        return take_fixed(cx, type->width, array, take, count, out);
    }
}

int tn_rows_take(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                 const int64_t *take, int64_t count, struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    tn_type type;
    int rc = TARN_OK;

    TN_TRY(tn_type_of(cx, schema, &type));
    TN_TRY(make_array(cx, schema, &type, 0, &made));
    if (type.kind == TN_TYPE_NULL) {
        made.length = made.null_count = count;
    } else {
        TN_TRY(take_validity(cx, array, take, count, &made));
        TN_TRY(take_values(cx, schema, &type, array, take, count, &made));
    }
    *out = made;
    made = (struct ArrowArray){0};
done:
    tn_array_release(&made);
    return rc;
}

int tn_rows_filter(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                   const uint8_t *keep, int64_t kept, struct ArrowArray *out)
{
    int64_t *take = tn_alloc(cx, (size_t)kept * sizeof *take);
    int64_t n = 0;
    int rc = TARN_OK;

    if (take == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < array->length; i++)
        if (keep[i] != 0)
            take[n++] = array->offset + i;
    assert(n == kept);
    TN_TRY(tn_rows_take(cx, schema, array, take, n, out));
done:
    free(take);
    return rc;
}

/* Children of a null struct are null too, lists are empty, fixed lists hold nulls. */
static int fill_nulls(tarn_cx *cx, const struct ArrowSchema *schema, const tn_type *type,
                      int64_t rows, struct ArrowArray *out)
{
    size_t width = type->dictionary                   ? index_width(type->index)
                   : tn_type_is_fixed(type->kind)     ? type->width
                   : is_large(type->kind)             ? 8
                   : type->kind == TN_TYPE_FIXED_LIST ? 0
                                                      : 4;
    int64_t inner = type->kind == TN_TYPE_STRUCT       ? rows
                    : type->kind == TN_TYPE_FIXED_LIST ? rows * type->width
                                                       : 0;

    for (int64_t b = 0; b < out->n_buffers; b++) {
        size_t bytes = b == 0 ? bit_bytes(rows) : b == 1 ? width * ((size_t)rows + 1) : 0;

        if (make_buffer(cx, out, (size_t)b, bytes) == NULL)
            return TARN_E_NOMEM;
    }
    out->length = out->null_count = rows;
    for (int64_t c = 0; c < out->n_children; c++)
        if (tn_rows_nulls(cx, schema->children[c], inner, out->children[c]) != TARN_OK)
            return tarn_cx_status(cx);
    if (type->dictionary)
        return tn_rows_nulls(cx, schema->dictionary, 0, out->dictionary);
    return TARN_OK;
}

int tn_rows_nulls(tarn_cx *cx, const struct ArrowSchema *schema, int64_t rows,
                  struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    tn_type type;
    int rc = TARN_OK;

    TN_TRY(tn_type_of(cx, schema, &type));
    TN_TRY(make_array(cx, schema, &type, 0, &made));
    TN_TRY(fill_nulls(cx, schema, &type, rows, &made));
    *out = made;
    made = (struct ArrowArray){0};
done:
    tn_array_release(&made);
    return rc;
}
