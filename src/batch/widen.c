/* Numbers as wider numbers, and as text.
 * I1: nulls stay null, and no row is added or lost. */
#include "batch/widen.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "batch/java_text.h"

static bool is_number(const tn_type *type)
{
    return type->kind == TN_TYPE_INT32 || type->kind == TN_TYPE_INT64 ||
           type->kind == TN_TYPE_FLOAT || type->kind == TN_TYPE_DOUBLE;
}

static double double_at(enum tn_type_kind kind, const struct ArrowArray *array, int64_t at)
{
    if (kind == TN_TYPE_FLOAT)
        return ((const float *)array->buffers[1])[at];
    if (kind == TN_TYPE_DOUBLE)
        return ((const double *)array->buffers[1])[at];
    return (double)tn_rows_integer(kind, array, at);
}

static size_t print_value(enum tn_type_kind kind, const struct ArrowArray *array, int64_t at,
                          char *out)
{
    if (kind == TN_TYPE_FLOAT)
        return tn_java_text_float(((const float *)array->buffers[1])[at], out);
    if (kind == TN_TYPE_DOUBLE)
        return tn_java_text_double(((const double *)array->buffers[1])[at], out);
    return (size_t)snprintf(out, TN_JAVA_TEXT_BYTES_MAX, "%" PRId64,
                            tn_rows_integer(kind, array, at));
}

static int copy_nulls(tarn_cx *cx, const struct ArrowArray *array, struct ArrowArray *out)
{
    size_t bytes = ((size_t)array->length + 7) / 8;
    tn_block bits = {0};
    int rc = TARN_OK;

    if (array->null_count == 0 || array->buffers[0] == NULL)
        return TARN_OK;
    TN_TRY(tn_block_reserve(cx, &bits, bytes + 1));
    tn_bits_copy(bits.data, 0, array->buffers[0], array->offset, array->length);
    bits.len = bytes;
    out->null_count = array->null_count;
    TN_TRY(tn_array_take_block(cx, out, 0, &bits));
done:
    tn_block_clear(&bits);
    return rc;
}

static int to_text(tarn_cx *cx, enum tn_type_kind kind, const struct ArrowArray *array,
                   struct ArrowArray *out)
{
    tn_block offsets = {0}, text = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, 3, 0));
    TN_TRY(copy_nulls(cx, array, out));
    TN_TRY(tn_block_reserve(cx, &offsets, 4 * ((size_t)array->length + 1)));
    offsets.len = 4 * ((size_t)array->length + 1);
    ((int32_t *)(void *)offsets.data)[0] = 0;
    for (int64_t i = 0; i < array->length; i++) {
        TN_TRY(tn_block_reserve(cx, &text, TN_JAVA_TEXT_BYTES_MAX));
        if (!tn_rows_is_null(array, array->offset + i))
            text.len += print_value(kind, array, array->offset + i, (char *)text.data + text.len);
        if (text.len > INT32_MAX - TN_JAVA_TEXT_BYTES_MAX)
            TN_FAIL(TARN_E_LIMIT, "a batch of numbers makes more than 2 GiB of text");
        ((int32_t *)(void *)offsets.data)[i + 1] = (int32_t)text.len;
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &offsets));
    TN_TRY(tn_array_take_block(cx, out, 2, &text));
done:
    tn_block_clear(&offsets);
    tn_block_clear(&text);
    return rc;
}

static int to_real(tarn_cx *cx, enum tn_type_kind kind, const struct ArrowArray *array, bool single,
                   struct ArrowArray *out)
{
    size_t width = single ? sizeof(float) : sizeof(double);
    tn_block values = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, 2, 0));
    TN_TRY(copy_nulls(cx, array, out));
    TN_TRY(tn_block_reserve(cx, &values, width * (size_t)array->length + 1));
    values.len = width * (size_t)array->length;
    for (int64_t i = 0; i < array->length; i++) {
        double value = double_at(kind, array, array->offset + i);
        float narrow = (float)value;

        /* Straight from the integer: rounded once. */
        if (single && kind != TN_TYPE_DOUBLE && kind != TN_TYPE_FLOAT)
            narrow = (float)tn_rows_integer(kind, array, array->offset + i);
        memcpy(values.data + (size_t)i * width, single ? (void *)&narrow : (void *)&value, width);
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &values));
done:
    tn_block_clear(&values);
    return rc;
}

int tn_widen_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                  struct ArrowArray *array)
{
    struct ArrowArray made = {0};
    tn_type have, want;
    int rc = TARN_OK;

    assert(array->release != NULL);
    TN_TRY(tn_type_of(cx, from, &have));
    TN_TRY(tn_type_of(cx, to, &want));
    if (!is_number(&have) || have.dictionary || tn_type_equal(&have, &want))
        return tn_unify_cast(cx, from, to, array);
    if (want.kind == TN_TYPE_UTF8)
        TN_TRY(to_text(cx, have.kind, array, &made));
    else if (want.kind == TN_TYPE_FLOAT && have.kind != TN_TYPE_DOUBLE)
        TN_TRY(to_real(cx, have.kind, array, true, &made));
    else if (want.kind == TN_TYPE_DOUBLE)
        TN_TRY(to_real(cx, have.kind, array, false, &made));
    else
        return tn_unify_cast(cx, from, to, array);
    tn_array_release(array);
    tn_array_move(&made, array);
done:
    tn_array_release(&made);
    return rc;
}
