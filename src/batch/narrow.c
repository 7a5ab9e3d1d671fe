/* Arrays turned into arrays of a narrower type.
 * I1: no value changes; one that would is an error naming its row and column.
 * I2: an array that needs no change is moved, not copied.
 * I3: values that are null are never looked at. */
#include "batch/narrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/gather.h"

/* One array on its way. Rows are known at the top alone: below lists they are not (-1). */
typedef struct step {
    const struct ArrowSchema *from, *to;
    tn_type from_type, to_type;
    const char *column; /* name at the top */
    int64_t first_row;
} step;

static int cast(tarn_cx *cx, const step *above, const struct ArrowSchema *from,
                const struct ArrowSchema *to, int64_t first_row, struct ArrowArray *array);

static int no_fit(tarn_cx *cx, const step *s, int64_t i, int64_t value)
{
    tn_buf type = {0}, from = {0};
    char text[32];
    int rc;

    tn_type_print(&type, s->to);
    tn_type_print(&from, s->from);
    if (s->from_type.kind == TN_TYPE_UINT64)
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value);
    else
        snprintf(text, sizeof text, "%" PRId64, value);
    if (s->first_row >= 0)
        rc = tn_fail(cx, TARN_E_DATA,
                     "row %" PRId64 " of the input, column \"%s\": the value %s of %.*s does not "
                     "fit %.*s; round or cast the column in the input",
                     s->first_row + i + 1, s->column, text, TN_STR_ARG(tn_buf_view(&from)),
                     TN_STR_ARG(tn_buf_view(&type)));
    else
        rc = tn_fail(cx, TARN_E_DATA,
                     "column \"%s\": the value %s of %.*s in a list does not fit %.*s; round or "
                     "cast the column in the input",
                     s->column, text, TN_STR_ARG(tn_buf_view(&from)),
                     TN_STR_ARG(tn_buf_view(&type)));
    tn_buf_clear(&type);
    tn_buf_clear(&from);
    return rc;
}

/* An array of the rows of `array`, its validity copied, offset 0. */
static int start(tarn_cx *cx, const struct ArrowArray *array, size_t buffers, size_t children,
                 struct ArrowArray *out)
{
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, buffers, children));
    if (array->null_count == 0 || array->buffers[0] == NULL)
        return TARN_OK;
    out->null_count = array->null_count;
    TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)array->length + 7) / 8, &bits));
    tn_bits_copy(bits, 0, array->buffers[0], array->offset, array->length);
done:
    return rc;
}

/* Values divided, without a rest. */
static int divide(tarn_cx *cx, const step *s, const struct ArrowArray *array, int64_t divisor,
                  struct ArrowArray *out)
{
    size_t width = s->to_type.width;
    uint8_t *to;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 2, 0, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, width * (size_t)array->length, &to));
    for (int64_t i = 0; i < array->length; i++) {
        int64_t value;

        if (tn_rows_is_null(array, array->offset + i))
            continue;
        value = tn_rows_integer(s->from_type.kind, array, array->offset + i);
        /* Of 64 bits without sign the upper half has none with one. */
        if (s->from_type.kind == TN_TYPE_UINT64 && value < 0)
            TN_TRY(no_fit(cx, s, i, value));
        if (value % divisor != 0)
            TN_TRY(no_fit(cx, s, i, value));
        value /= divisor;
        if (width == 4 && (value < INT32_MIN || value > INT32_MAX))
            TN_TRY(no_fit(cx, s, i, value * divisor));
        memcpy(to + (size_t)i * width, &value, width);
    }
done:
    return rc;
}

static int too_long(tarn_cx *cx, const step *s)
{
    return tn_fail(cx, TARN_E_LIMIT,
                   "column \"%s\": a batch has more than 2 GiB of it; give smaller batches",
                   s->column);
}

/* 64-bit offsets become 32-bit ones, from 0. */
static int narrow_offsets(tarn_cx *cx, const step *s, const struct ArrowArray *array,
                          struct ArrowArray *out)
{
    const int64_t *from = (const int64_t *)array->buffers[1] + array->offset;
    int64_t base = array->length != 0 ? from[0] : 0;
    int32_t *to;
    int rc = TARN_OK;

    TN_TRY(tn_array_make_buffer(cx, out, 1, 4 * ((size_t)array->length + 1), &to));
    if (array->length != 0 && from[array->length] - base > INT32_MAX)
        TN_TRY(too_long(cx, s));
    for (int64_t i = 0; array->length != 0 && i <= array->length; i++)
        to[i] = (int32_t)(from[i] - base);
done:
    return rc;
}

static int narrow_bytes(tarn_cx *cx, const step *s, const struct ArrowArray *array,
                        struct ArrowArray *out)
{
    const int64_t *from = (const int64_t *)array->buffers[1] + array->offset;
    int64_t bytes = array->length != 0 ? from[array->length] - from[0] : 0;
    void *to;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 3, 0, out));
    TN_TRY(narrow_offsets(cx, s, array, out));
    TN_TRY(tn_array_make_buffer(cx, out, 2, (size_t)bytes, &to));
    if (bytes != 0)
        memcpy(to, (const char *)array->buffers[2] + from[0], (size_t)bytes);
done:
    return rc;
}

/* A list of any kind as one with 32-bit offsets, its elements gathered from 0 on. */
static int make_list(tarn_cx *cx, const step *s, struct ArrowArray *array, struct ArrowArray *out)
{
    struct ArrowArray *child = array->children[0];
    int64_t first = 0, last = 0, skip, count;
    int32_t *to;
    tn_gather_part part;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 2, 1, out));
    if (s->from_type.kind == TN_TYPE_LARGE_LIST) {
        TN_TRY(narrow_offsets(cx, s, array, out));
    } else {
        TN_TRY(tn_array_make_buffer(cx, out, 1, 4 * ((size_t)array->length + 1), &to));
        if ((int64_t)s->from_type.width * array->length > INT32_MAX)
            TN_TRY(too_long(cx, s));
        for (int64_t i = 0; i <= array->length; i++)
            to[i] = (int32_t)(i * (int64_t)s->from_type.width);
    }
    if (array->length != 0) {
        tn_rows_list(&s->from_type, array, array->offset, &first, &count);
        tn_rows_list(&s->from_type, array, array->offset + array->length - 1, &last, &skip);
        last += skip;
    }
    part = (tn_gather_part){.array = child, .first = child->offset + first, .count = last - first};
    TN_TRY(tn_gather(cx, s->from->children[0], &part, 1, out->children[0]));
    TN_TRY(cast(cx, s, s->from->children[0], s->to->children[0], -1, out->children[0]));
done:
    return rc;
}

/* Fields by name; the rows before the offset come along, since children are addressed from 0. */
static int cast_struct(tarn_cx *cx, const step *s, struct ArrowArray *array, struct ArrowArray *out)
{
    int64_t whole = array->offset + array->length;
    int64_t row = s->first_row >= 0 && array->offset == 0 ? s->first_row : -1;
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, 1, (size_t)s->to->n_children));
    out->offset = array->offset;
    if (array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != NULL) {
        out->null_count = array->null_count;
        TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)whole + 7) / 8, &bits));
        memcpy(bits, array->buffers[0], ((size_t)whole + 7) / 8);
    }
    for (int64_t i = 0; i < s->to->n_children; i++) {
        int64_t at = tn_unify_match(s->to, i, s->from);

        if (at < 0) {
            TN_TRY(tn_rows_nulls(cx, s->to->children[i], whole, out->children[i]));
            continue;
        }
        TN_TRY(cast(cx, s, s->from->children[at], s->to->children[i], row, array->children[at]));
        tn_array_move(array->children[at], out->children[i]);
    }
done:
    return rc;
}

static int print_integers(tarn_cx *cx, const step *s, const struct ArrowArray *array,
                          struct ArrowArray *out)
{
    tn_block text = {0};
    int32_t *offsets;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 3, 0, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, 4 * ((size_t)array->length + 1), &offsets));
    for (int64_t i = 0; i < array->length; i++) {
        if (!tn_rows_is_null(array, array->offset + i)) {
            TN_TRY(tn_block_reserve(cx, &text, 24));
            text.len +=
                (size_t)snprintf((char *)text.data + text.len, 24, "%" PRId64,
                                 tn_rows_integer(s->from_type.kind, array, array->offset + i));
        }
        if (text.len > INT32_MAX)
            TN_TRY(too_long(cx, s));
        offsets[i + 1] = (int32_t)text.len;
    }
    TN_TRY(tn_array_take_block(cx, out, 2, &text));
done:
    tn_block_clear(&text);
    return rc;
}

/* Values of one width as values of any. */
static int free_width(tarn_cx *cx, const step *s, const struct ArrowArray *array,
                      struct ArrowArray *out)
{
    size_t width = s->from_type.width;
    tn_block bytes = {0};
    int32_t *offsets;
    int rc = TARN_OK;

    TN_TRY(start(cx, array, 3, 0, out));
    TN_TRY(tn_array_make_buffer(cx, out, 1, 4 * ((size_t)array->length + 1), &offsets));
    for (int64_t i = 0; i < array->length; i++) {
        if (!tn_rows_is_null(array, array->offset + i) && width != 0) {
            tn_str value = tn_rows_bytes(&s->from_type, array, array->offset + i);

            TN_TRY(tn_block_reserve(cx, &bytes, width));
            memcpy(bytes.data + bytes.len, value.ptr, width);
            bytes.len += width;
        }
        if (bytes.len > INT32_MAX)
            TN_TRY(too_long(cx, s));
        offsets[i + 1] = (int32_t)bytes.len;
    }
    TN_TRY(tn_array_take_block(cx, out, 2, &bytes));
done:
    tn_block_clear(&bytes);
    return rc;
}

static int64_t power_of_ten(int32_t digits)
{
    int64_t value = 1;

    while (digits-- > 0)
        value *= 10;
    return value;
}

static bool is_integer(enum tn_type_kind kind)
{
    return kind >= TN_TYPE_INT8 && kind <= TN_TYPE_UINT64;
}

static bool has_unit(enum tn_type_kind kind)
{
    return kind == TN_TYPE_TIMESTAMP || kind == TN_TYPE_DURATION || kind == TN_TYPE_TIME32 ||
           kind == TN_TYPE_TIME64;
}

/* *done false: nothing to do but what tn_unify_cast does. */
static int cast_new(tarn_cx *cx, const step *s, struct ArrowArray *array, struct ArrowArray *out,
                    bool *did)
{
    enum tn_type_kind from = s->from_type.kind, to = s->to_type.kind;
    int32_t digits = s->from_type.unit_digits - s->to_type.unit_digits;

    *did = true;
    if (has_unit(from) && has_unit(to) && digits > 0)
        return divide(cx, s, array, power_of_ten(digits), out);
    if (from == TN_TYPE_UINT64 && to == TN_TYPE_INT64)
        return divide(cx, s, array, 1, out);
    if (from == TN_TYPE_DATE64 && to == TN_TYPE_DATE32)
        return divide(cx, s, array, 86400000, out);
    if ((from == TN_TYPE_LARGE_UTF8 && to == TN_TYPE_UTF8) ||
        (from == TN_TYPE_LARGE_BINARY && to == TN_TYPE_BINARY))
        return narrow_bytes(cx, s, array, out);
    if (from == TN_TYPE_FIXED && to == TN_TYPE_BINARY)
        return free_width(cx, s, array, out);
    if ((from == TN_TYPE_LARGE_LIST || from == TN_TYPE_FIXED_LIST) && to == TN_TYPE_LIST)
        return make_list(cx, s, array, out);
    if (is_integer(from) && from != TN_TYPE_UINT64 && to == TN_TYPE_UTF8)
        return print_integers(cx, s, array, out);
    if (from == TN_TYPE_STRUCT && to == TN_TYPE_STRUCT)
        return cast_struct(cx, s, array, out);
    *did = false;
    return TARN_OK;
}

static int cast(tarn_cx *cx, const step *above, const struct ArrowSchema *from,
                const struct ArrowSchema *to, int64_t first_row, struct ArrowArray *array)
{
    step s = {.from = from, .to = to, .first_row = first_row};
    struct ArrowArray made = {0};
    bool did;
    int rc = TARN_OK;

    if (tn_unify_same(from, to))
        return TARN_OK;
    s.column = above != NULL && above->column != NULL ? above->column : to->name;
    TN_TRY(tn_type_of(cx, from, &s.from_type));
    TN_TRY(tn_type_of(cx, to, &s.to_type));
    if (s.from_type.dictionary) {
        TN_TRY(tn_unify_cast(cx, from, from->dictionary, array));
        TN_TRY(cast(cx, above, from->dictionary, to, first_row, array));
        goto done;
    }
    if (s.from_type.kind == s.to_type.kind &&
        (s.to_type.kind == TN_TYPE_LIST || s.to_type.kind == TN_TYPE_LARGE_LIST ||
         s.to_type.kind == TN_TYPE_MAP)) {
        TN_TRY(cast(cx, &s, from->children[0], to->children[0], -1, array->children[0]));
        goto done;
    }
    TN_TRY(cast_new(cx, &s, array, &made, &did));
    if (!did) {
        TN_TRY(tn_unify_cast(cx, from, to, array));
        goto done;
    }
    tn_array_release(array);
    tn_array_move(&made, array);
done:
    tn_array_release(&made);
    return rc;
}

int tn_narrow_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                   int64_t first_row, struct ArrowArray *array)
{
    return cast(cx, NULL, from, to, first_row, array);
}
