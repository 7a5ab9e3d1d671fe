/* Ordering values made comparable.
 * I1: as 8 bytes: null is 0, and any value is at least 1. The 2^64 values of a 64-bit integer leave
 *     no room for null, so the two greatest of them count as equal.
 * I2: as bytes: each column is 0 for null, else 1 and its value: numbers big-endian with their sign
 *     turned, text and binary as they are. Of a column that others follow, zero bytes become 00 FF
 *     and 00 00 ends it, so that what follows decides only between equals. */
#include "batch/ordering.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "batch/filter.h"
#include "batch/rows.h"

#define SIGN            (1ull << 63)
#define SHORT_PRECISION 18 /* digits that fit 64 bits */

typedef struct column {
    uint32_t index;
    tn_type type;
} column;

struct tn_ordering {
    column *columns;
    size_t count;
    bool u64;
};

static bool is_bytes(enum tn_type_kind kind)
{
    return kind == TN_TYPE_UTF8 || kind == TN_TYPE_LARGE_UTF8 || kind == TN_TYPE_BINARY ||
           kind == TN_TYPE_LARGE_BINARY || kind == TN_TYPE_FIXED;
}

static bool is_wide_decimal(const tn_type *type)
{
    return type->kind == TN_TYPE_DECIMAL && type->precision > SHORT_PRECISION;
}

static bool is_known(const tn_type *type)
{
    if (type->dictionary)
        return false;
    return type->kind <= TN_TYPE_DURATION;
}

int tn_ordering_open(tarn_cx *cx, const struct ArrowSchema *schema, const uint32_t *columns,
                     size_t count, tn_ordering **out)
{
    tn_ordering *ordering = tn_calloc(cx, 1, sizeof *ordering);
    tn_buf name = {0};
    int rc = TARN_OK;

    if (ordering == NULL)
        TN_TRY(TARN_E_NOMEM);
    ordering->columns = tn_calloc(cx, count, sizeof *ordering->columns);
    if (ordering->columns == NULL)
        TN_TRY(TARN_E_NOMEM);
    ordering->count = count;
    ordering->u64 = count <= 1;
    for (size_t i = 0; i < count; i++) {
        const struct ArrowSchema *field = schema->children[columns[i]];
        column *c = &ordering->columns[i];

        c->index = columns[i];
        TN_TRY(tn_type_of(cx, field, &c->type));
        if (!is_known(&c->type)) {
            tn_type_print(&name, field);
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "the ordering column \"%s\" has the type %.*s, which has no order; use a "
                    "column of numbers, times or text",
                    field->name, TN_STR_ARG(tn_buf_view(&name)));
        }
        ordering->u64 &= !is_bytes(c->type.kind) && !is_wide_decimal(&c->type);
    }
    *out = ordering;
    ordering = NULL;
done:
    tn_ordering_close(ordering);
    tn_buf_clear(&name);
    return rc;
}

void tn_ordering_close(tn_ordering *ordering)
{
    if (ordering == NULL)
        return;
    free(ordering->columns);
    free(ordering);
}

bool tn_ordering_is_u64(const tn_ordering *ordering)
{
    return ordering->u64;
}

/* NaN greatest, -0.0 as 0.0; never 0. */
static uint64_t of_real(double value)
{
    uint64_t bits;

    if (isnan(value))
        return UINT64_MAX;
    if (value == 0)
        value = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

static uint64_t of_integer(int64_t value)
{
    uint64_t turned = (uint64_t)value ^ SIGN;

    return turned == UINT64_MAX ? turned : turned + 1;
}

static int64_t decimal_short(const tn_type *type, const uint8_t *data, int64_t at)
{
    tn_int256 value = tn_int256_le(data + (size_t)at * type->width, type->width);

    return (int64_t)value.limb[0];
}

/* Of a value that is not null and fits. */
static uint64_t value_u64(const tn_type *type, const struct ArrowArray *array, int64_t at)
{
    const void *data = array->buffers[1];
    uint64_t value;

    switch (type->kind) {
    case TN_TYPE_BOOL:
        return 1u + tn_bit(data, at);
    case TN_TYPE_UINT64:
        value = ((const uint64_t *)data)[at];
        return value == UINT64_MAX ? value : value + 1;
    case TN_TYPE_HALF:
        return of_real(tn_half_get(((const uint16_t *)data)[at]));
    case TN_TYPE_FLOAT:
        return of_real((double)((const float *)data)[at]);
    case TN_TYPE_DOUBLE:
        return of_real(((const double *)data)[at]);
    case TN_TYPE_DECIMAL:
        return of_integer(decimal_short(type, data, at));
    case TN_TYPE_DATE32:
        return of_integer(((const int32_t *)data)[at]);
    default:
        return of_integer(tn_rows_integer(type->kind, array, at));
    }
}

/* The usual columns: 64-bit integers and times without nulls. */
static void longs_u64(const int64_t *values, int64_t count, uint64_t *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = of_integer(values[i]);
}

int tn_ordering_u64(tarn_cx *cx, const tn_ordering *ordering, const struct ArrowArray *batch,
                    uint64_t *out)
{
    const struct ArrowArray *array;
    const column *c = ordering->columns;
    int64_t base;

    assert(ordering->u64);
    if (ordering->count == 0) {
        memset(out, 0, (size_t)batch->length * sizeof *out);
        return tn_cx_check(cx);
    }
    array = batch->children[c->index];
    base = batch->offset + array->offset;
    if (c->type.kind == TN_TYPE_NULL) {
        memset(out, 0, (size_t)batch->length * sizeof *out);
    } else if ((c->type.kind == TN_TYPE_INT64 || c->type.kind == TN_TYPE_TIMESTAMP) &&
               (array->null_count == 0 || array->buffers[0] == NULL)) {
        longs_u64((const int64_t *)array->buffers[1] + base, batch->length, out);
    } else {
        for (int64_t i = 0; i < batch->length; i++)
            out[i] = tn_rows_is_null(array, base + i) ? 0 : value_u64(&c->type, array, base + i);
    }
    return tn_cx_check(cx);
}

static void add_be(tn_buf *out, uint64_t value)
{
    value = __builtin_bswap64(value);
    tn_buf_add(out, &value, sizeof value);
}

static void add_decimal(tn_buf *out, const tn_type *type, const uint8_t *data, int64_t at)
{
    tn_int256 value = tn_int256_le(data + (size_t)at * type->width, type->width);

    add_be(out, value.limb[3] ^ SIGN);
    for (int i = 2; i >= 0; i--)
        add_be(out, value.limb[i]);
}

/* So that what follows does not count as part of the value. */
static void add_escaped(tn_buf *out, tn_str bytes)
{
    static const uint8_t zero[2] = {0, 0xFF}, end[2] = {0, 0};

    for (size_t i = 0; i < bytes.len;) {
        tn_str rest = tn_str_from(bytes, i);
        size_t n = tn_str_find(rest, '\0');

        tn_buf_add(out, rest.ptr, n);
        if (n < rest.len)
            tn_buf_add(out, zero, sizeof zero);
        i += n + 1;
    }
    tn_buf_add(out, end, sizeof end);
}

void tn_ordering_bytes(const tn_ordering *ordering, const struct ArrowArray *batch, int64_t row,
                       tn_buf *out)
{
    for (size_t i = 0; i < ordering->count; i++) {
        const column *c = &ordering->columns[i];
        const struct ArrowArray *array = batch->children[c->index];
        int64_t at = batch->offset + array->offset + row;

        if (c->type.kind == TN_TYPE_NULL || tn_rows_is_null(array, at)) {
            tn_buf_u8(out, 0);
            continue;
        }
        tn_buf_u8(out, 1);
        if (is_wide_decimal(&c->type))
            add_decimal(out, &c->type, array->buffers[1], at);
        else if (!is_bytes(c->type.kind))
            add_be(out, value_u64(&c->type, array, at));
        else if (i + 1 < ordering->count)
            add_escaped(out, tn_rows_bytes(&c->type, array, at));
        else
            tn_buf_str(out, tn_rows_bytes(&c->type, array, at));
    }
}

bool tn_ordering_is_none(const tn_ordering *ordering, const struct ArrowArray *batch, int64_t row)
{
    for (size_t i = 0; i < ordering->count; i++) {
        const struct ArrowArray *array = batch->children[ordering->columns[i].index];
        int64_t at = batch->offset + array->offset + row;

        if (tn_rows_is_null(array, at))
            continue;
        if (ordering->count != 1 || ordering->columns[i].type.kind != TN_TYPE_INT32 ||
            ((const int32_t *)array->buffers[1])[at] != 0)
            return false;
    }
    return true;
}
