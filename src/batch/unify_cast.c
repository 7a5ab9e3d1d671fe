/* Arrays turned into arrays of a wider type.
 * I1: no value changes; where the wider type cannot hold one, that is an error naming it.
 * I2: an array that needs no change is moved, not copied. */
#include "batch/unify.h"

#include <stdlib.h>
#include <string.h>

typedef struct pair {
    const struct ArrowSchema *from, *to;
    tn_type from_type, to_type;
} pair;

/* An array of the rows of `array`, its validity copied, offset 0. */
static int start(tarn_cx *cx, const struct ArrowArray *array, size_t buffers,
                 struct ArrowArray *out)
{
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, buffers, 0));
    out->null_count = array->null_count;
    if (array->null_count == 0 || array->buffers[0] == NULL) {
        out->null_count = 0;
        return TARN_OK;
    }
    TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)array->length + 7) / 8, &bits));
    tn_bits_copy(bits, 0, array->buffers[0], array->offset, array->length);
done:
    return rc;
}

/* Widening never makes a value larger than its type, so the low bytes are the value. */
static int cast_int(tarn_cx *cx, const pair *p, const struct ArrowArray *array,
                    struct ArrowArray *out)
{
    size_t width = p->to_type.width;
    uint8_t *to;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 2, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, width * (size_t)array->length, &to));
    for (int64_t i = 0; i < array->length; i++) {
        int64_t value = tn_rows_integer(p->from_type.kind, array, array->offset + i);

        memcpy(to + (size_t)i * width, &value, width);
    }
done:
    return rc;
}

static double number_at(const pair *p, const struct ArrowArray *array, int64_t at, bool *exact)
{
    const void *data = array->buffers[1];
    double value;

    *exact = true;
    switch (p->from_type.kind) {
    case TN_TYPE_HALF:
        return tn_half_get(((const uint16_t *)data)[at]);
    case TN_TYPE_FLOAT:
        return (double)((const float *)data)[at];
    case TN_TYPE_UINT64:
        value = (double)((const uint64_t *)data)[at];
        *exact = value < 18446744073709551616.0 && (uint64_t)value == ((const uint64_t *)data)[at];
        return value;
    default: {
        int64_t whole = tn_rows_integer(p->from_type.kind, array, at);

        value = (double)whole;
        *exact = value < 9223372036854775808.0 && (int64_t)value == whole;
        return value;
    }
    }
}

static int cast_float(tarn_cx *cx, const pair *p, const struct ArrowArray *array,
                      struct ArrowArray *out)
{
    bool single = p->to_type.kind == TN_TYPE_FLOAT, exact;
    void *to;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 2, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, p->to_type.width * (size_t)array->length, &to));
    for (int64_t i = 0; i < array->length; i++) {
        double value;

        if (tn_rows_is_null(array, array->offset + i))
            continue;
        value = number_at(p, array, array->offset + i, &exact);
        if (!exact)
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "column \"%s\": the integer %lld cannot be a double, which the column is "
                    "elsewhere, "
                    "without losing digits; cast it, or leave the column out",
                    p->to->name,
                    (long long)tn_rows_integer(p->from_type.kind, array, array->offset + i));
        if (single)
            ((float *)to)[i] = (float)value;
        else
            ((double *)to)[i] = value;
    }
done:
    return rc;
}

static bool multiply_int256(uint8_t *value, size_t width)
{
    unsigned carry = 0;
    bool negative = (value[width - 1] & 0x80) != 0;

    for (size_t i = 0; i < width; i++) {
        carry += value[i] * 10u;
        value[i] = (uint8_t)carry;
        carry >>= 8;
    }
    return ((value[width - 1] & 0x80) != 0) == negative;
}

static int cast_decimal(tarn_cx *cx, const pair *p, const struct ArrowArray *array,
                        struct ArrowArray *out)
{
    size_t from = p->from_type.width, width = p->to_type.width;
    uint8_t *to;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 2, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, width * (size_t)array->length, &to));
    for (int64_t i = 0; i < array->length; i++, to += width) {
        const uint8_t *value =
            (const uint8_t *)array->buffers[1] + (size_t)(array->offset + i) * from;
        bool fits = true;

        if (tn_rows_is_null(array, array->offset + i))
            continue;
        memset(to, (value[from - 1] & 0x80) != 0 ? 0xFF : 0, width);
        memcpy(to, value, from < width ? from : width);
        for (int32_t s = p->from_type.scale; s < p->to_type.scale; s++)
            fits = fits && multiply_int256(to, width);
        if (!fits)
            TN_FAIL(TARN_E_UNSUPPORTED, "column \"%s\": a decimal does not fit %d digits",
                    p->to->name, (int)p->to_type.precision);
    }
done:
    return rc;
}

static int cast_unit(tarn_cx *cx, const pair *p, const struct ArrowArray *array,
                     struct ArrowArray *out)
{
    int64_t factor = 1;
    size_t width = p->to_type.width;
    uint8_t *to;
    int rc = TARN_OK;

    for (int32_t d = p->from_type.unit_digits; d < p->to_type.unit_digits; d++)
        factor *= 10;
    TN_TRY(start(cx, array, 2, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, width * (size_t)array->length, &to));
    for (int64_t i = 0; i < array->length; i++) {
        int64_t value;

        if (tn_rows_is_null(array, array->offset + i))
            continue;
        value = tn_rows_integer(p->from_type.kind, array, array->offset + i);
        if (__builtin_mul_overflow(value, factor, &value))
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "column \"%s\": a time does not fit the finer unit of other files; read the "
                    "files apart, or leave the column out",
                    p->to->name);
        memcpy(to + (size_t)i * width, &value, width);
    }
done:
    return rc;
}

/* 32-bit offsets become 64-bit ones; text and children move. */
static int cast_large(tarn_cx *cx, const pair *p, struct ArrowArray *array, struct ArrowArray *out)
{
    bool list = p->to_type.kind == TN_TYPE_LARGE_LIST;
    const int32_t *from = array->buffers[1];
    int64_t *to;
    int rc = TARN_OK;

    if (list) {
        TN_TRY(tn_array_init(cx, out, array->length, 2, 1));
    } else {
        TN_TRY(tn_array_init(cx, out, array->length, 3, 0));
    }
    out->null_count = array->null_count;
    if (array->null_count != 0 && array->buffers[0] != NULL) {
        TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)array->length + 7) / 8, &to));
        tn_bits_copy((uint8_t *)to, 0, array->buffers[0], array->offset, array->length);
    }
    TN_TRY(tn_array_make_buffer(cx, out, 1, 8 * ((size_t)array->length + 1), &to));
    for (int64_t i = 0; i <= array->length; i++)
        to[i] = from[array->offset + i];
    if (list) {
        tn_array_move(array->children[0], out->children[0]);
    } else {
        size_t bytes = (size_t)to[array->length];
        void *text;

        TN_TRY(tn_array_make_buffer(cx, out, 2, bytes, &text));
        if (bytes != 0)
            memcpy(text, array->buffers[2], bytes);
    }
done:
    return rc;
}

static int cast_dictionary(tarn_cx *cx, const pair *p, struct ArrowArray *array,
                           struct ArrowArray *out)
{
    struct ArrowArray *values = array->dictionary;
    int64_t *take = tn_alloc(cx, (size_t)array->length * sizeof *take);
    int rc = TARN_OK;

    if (take == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < array->length; i++) {
        int64_t at = array->offset + i;

        take[i] = tn_rows_is_null(array, at)
                      ? -1
                      : values->offset + tn_rows_integer(p->from_type.index, array, at);
        if (take[i] >= values->offset + values->length)
            TN_FAIL(TARN_E_CORRUPT, "column \"%s\": a dictionary index is out of range",
                    p->to->name);
    }
    TN_TRY(tn_rows_take(cx, p->from->dictionary, values, take, array->length, out));
    TN_TRY(tn_unify_cast(cx, p->from->dictionary, p->to, out));
done:
    free(take);
    return rc;
}

/* Fields by name; the rows before the offset come along, since children are addressed from 0. */
static int cast_struct(tarn_cx *cx, const pair *p, struct ArrowArray *array, struct ArrowArray *out)
{
    int64_t whole = array->offset + array->length;
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, 1, (size_t)p->to->n_children));
    out->offset = array->offset;
    out->null_count = array->null_count;
    if (array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != NULL) {
        TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)whole + 7) / 8, &bits));
        memcpy(bits, array->buffers[0], ((size_t)whole + 7) / 8);
    }
    for (int64_t i = 0; i < p->to->n_children; i++) {
        int64_t at = tn_unify_match(p->to, i, p->from);

        if (at < 0) {
            TN_TRY(tn_rows_nulls(cx, p->to->children[i], whole, out->children[i]));
            continue;
        }
        TN_TRY(tn_unify_cast(cx, p->from->children[at], p->to->children[i], array->children[at]));
        tn_array_move(array->children[at], out->children[i]);
    }
done:
    return rc;
}

static bool is_list(enum tn_type_kind kind)
{
    return kind == TN_TYPE_LIST || kind == TN_TYPE_LARGE_LIST || kind == TN_TYPE_FIXED_LIST ||
           kind == TN_TYPE_MAP;
}

static int cast_new(tarn_cx *cx, const pair *p, struct ArrowArray *array, struct ArrowArray *out)
{
    enum tn_type_kind from = p->from_type.kind, to = p->to_type.kind;

    if (p->from_type.dictionary)
        return cast_dictionary(cx, p, array, out);
    if (from == TN_TYPE_NULL)
        return tn_rows_nulls(cx, p->to, array->length, out);
    if (to == TN_TYPE_STRUCT && from == TN_TYPE_STRUCT)
        return cast_struct(cx, p, array, out);
    if (to == TN_TYPE_FLOAT || to == TN_TYPE_DOUBLE)
        return cast_float(cx, p, array, out);
    if (to >= TN_TYPE_INT8 && to <= TN_TYPE_UINT64)
        return cast_int(cx, p, array, out);
    if (to == TN_TYPE_DECIMAL)
        return cast_decimal(cx, p, array, out);
    if (to == TN_TYPE_LARGE_UTF8 || to == TN_TYPE_LARGE_BINARY || to == TN_TYPE_LARGE_LIST)
        return cast_large(cx, p, array, out);
    if (to == TN_TYPE_TIMESTAMP || to == TN_TYPE_DURATION || to == TN_TYPE_TIME32 ||
        to == TN_TYPE_TIME64)
        return cast_unit(cx, p, array, out);
    return tn_fail(cx, TARN_E_UNSUPPORTED, "column \"%s\": no cast from Arrow \"%s\" to \"%s\"",
                   p->to->name, p->from->format, p->to->format);
}

int tn_unify_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                  struct ArrowArray *array)
{
    pair p = {.from = from, .to = to};
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    if (tn_unify_same(from, to))
        return TARN_OK;
    TN_TRY(tn_type_of(cx, from, &p.from_type));
    TN_TRY(tn_type_of(cx, to, &p.to_type));
    if (!p.from_type.dictionary && is_list(p.to_type.kind) && from->n_children == 1)
        TN_TRY(tn_unify_cast(cx, from->children[0], to->children[0], array->children[0]));
    if (!p.from_type.dictionary && p.from_type.kind == p.to_type.kind && is_list(p.to_type.kind))
        return TARN_OK;
    TN_TRY(cast_new(cx, &p, array, &made));
    tn_array_release(array);
    tn_array_move(&made, array);
done:
    tn_array_release(&made);
    return rc;
}
