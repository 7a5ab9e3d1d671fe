/* Ordering values of delete blocks, made columns like those of rows so that both compare alike.
 *
 *   wrapper of the block     column
 *   INT                      int8 int16 int32, date, time32
 *   LONG                     int64, time64, timestamp (in the column's own unit)
 *   FLOAT, DOUBLE, BOOLEAN   the same
 *   STRING, BYTES            utf8, binary
 *   DATE, LOCAL_DATE         date
 *   TIME, TIMESTAMP          time64, timestamp: microseconds
 *   DECIMAL                  decimal: scale 15 there
 *
 * I1: any other pair is of two classes to Java: such a delete stands above every value.
 * I2: the Integer 0, and none at all, go by commit time. */
#include "exec/slice_columns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPED_SCALE 15

typedef struct builder {
    const tn_type *type;
    tn_block data, bytes; /* values or offsets; of texts */
    uint8_t *valid;       /* a byte each */
    int64_t count;
} builder;

static void builder_clear(builder *b)
{
    tn_block_clear(&b->data);
    tn_block_clear(&b->bytes);
    free(b->valid);
}

static bool is_bytes(enum tn_type_kind kind)
{
    return kind == TN_TYPE_UTF8 || kind == TN_TYPE_BINARY;
}

static bool is_understood(const tn_type *type)
{
    switch (type->kind) {
    case TN_TYPE_BOOL:
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_INT64:
    case TN_TYPE_FLOAT:
    case TN_TYPE_DOUBLE:
    case TN_TYPE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_DATE32:
    case TN_TYPE_TIME32:
    case TN_TYPE_TIME64:
    case TN_TYPE_TIMESTAMP:
        return true;
    case TN_TYPE_DECIMAL:
        return type->width == 16;
    default:
        return false;
    }
}

static int add_bytes(tarn_cx *cx, tn_block *to, const void *bytes, size_t n)
{
    int rc = tn_block_reserve(cx, to, n);

    if (rc != TARN_OK)
        return rc;
    if (n != 0)
        memcpy(to->data + to->len, bytes, n);
    to->len += n;
    return TARN_OK;
}

/* A value, or its room where there is none. */
static int add_value(tarn_cx *cx, builder *b, const void *value, size_t n, bool valid)
{
    int32_t end;
    int rc = TARN_OK;

    b->valid[b->count++] = valid;
    if (!is_bytes(b->type->kind))
        return add_bytes(cx, &b->data, value, n);
    if (b->bytes.len + n > INT32_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "ordering values of deletes: more than 2 GiB in a block");
    TN_TRY(add_bytes(cx, &b->bytes, value, n));
    end = (int32_t)b->bytes.len;
    TN_TRY(add_bytes(cx, &b->data, &end, sizeof end));
done:
    return rc;
}

static int add_null(tarn_cx *cx, builder *b)
{
    static const uint8_t zeros[32];

    return add_value(cx, b, zeros,
                     is_bytes(b->type->kind) ? 0
                     : b->type->width        ? b->type->width
                                             : 1,
                     false);
}

/* From microseconds to the unit of the column. */
static int64_t of_micros(const tn_type *type, int64_t micros)
{
    int64_t nanos;

    switch (type->unit_digits) {
    case 0:
        return micros / 1000000 - (micros % 1000000 < 0);
    case 3:
        return micros / 1000 - (micros % 1000 < 0);
    case 9:
        if (__builtin_mul_overflow(micros, (int64_t)1000, &nanos))
            return micros < 0 ? INT64_MIN : INT64_MAX;
        return nanos;
    default:
        return micros;
    }
}

/* False: no such value of the column. */
static bool rescale(const tn_type *type, tn_str bytes, __int128 *out)
{
    unsigned __int128 value = 0;

    if (bytes.len == 0 || bytes.len > sizeof value || type->scale > WRAPPED_SCALE)
        return false;
    if ((uint8_t)bytes.ptr[0] & 0x80)
        value = ~value;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | (uint8_t)bytes.ptr[i];
    *out = (__int128)value;
    for (int32_t i = type->scale; i < WRAPPED_SCALE; i++) {
        if (*out % 10 != 0)
            return false;
        *out /= 10;
    }
    return true;
}

/* The integer that a wrapper holds for a column; false: I1. */
static bool integer_of(const tn_type *type, const tn_log_order *order, int64_t *out)
{
    enum tn_log_order_kind kind = order->kind;

    *out = order->i;
    switch (type->kind) {
    case TN_TYPE_BOOL:
        return kind == TN_LOG_ORDER_BOOLEAN;
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_TIME32:
        return kind == TN_LOG_ORDER_INT;
    case TN_TYPE_DATE32:
        return kind == TN_LOG_ORDER_INT || kind == TN_LOG_ORDER_DATE ||
               kind == TN_LOG_ORDER_LOCAL_DATE;
    case TN_TYPE_INT64:
        return kind == TN_LOG_ORDER_LONG;
    case TN_TYPE_TIME64:
        *out = kind == TN_LOG_ORDER_TIME ? of_micros(type, order->i) : order->i;
        return kind == TN_LOG_ORDER_LONG || kind == TN_LOG_ORDER_TIME;
    case TN_TYPE_TIMESTAMP:
        *out = kind == TN_LOG_ORDER_TIMESTAMP ? of_micros(type, order->i) : order->i;
        return kind == TN_LOG_ORDER_LONG || kind == TN_LOG_ORDER_TIMESTAMP;
    default:
        return false;
    }
}

/* Appends the value; *fits false, and a null appended: I1. */
static int add_order(tarn_cx *cx, builder *b, const tn_log_order *order, bool *fits)
{
    const tn_type *type = b->type;
    bool text = type->kind == TN_TYPE_UTF8;
    __int128 decimal;
    int64_t integer;
    float real;

    *fits = true;
    if (order->kind == TN_LOG_ORDER_NULL)
        return add_null(cx, b);
    if (is_bytes(type->kind) && order->kind == (text ? TN_LOG_ORDER_STRING : TN_LOG_ORDER_BYTES))
        return add_value(cx, b, order->bytes.ptr, order->bytes.len, true);
    if (type->kind == TN_TYPE_DOUBLE && order->kind == TN_LOG_ORDER_DOUBLE)
        return add_value(cx, b, &order->d, sizeof order->d, true);
    if (type->kind == TN_TYPE_FLOAT && order->kind == TN_LOG_ORDER_FLOAT) {
        real = (float)order->d;
        return add_value(cx, b, &real, sizeof real, true);
    }
    if (type->kind == TN_TYPE_DECIMAL && order->kind == TN_LOG_ORDER_DECIMAL &&
        rescale(type, order->bytes, &decimal))
        return add_value(cx, b, &decimal, sizeof decimal, true);
    if (integer_of(type, order, &integer))
        return add_value(cx, b, &integer, type->kind == TN_TYPE_BOOL ? 1 : type->width, true);
    *fits = false;
    return add_null(cx, b);
}

static int open_builder(tarn_cx *cx, const tn_slice_columns *columns, size_t i, size_t rows,
                        builder *b)
{
    int32_t first = 0;

    b->type = &columns->order_types[i];
    if (!is_understood(b->type))
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "the ordering column \"%s\" has a type whose values in delete blocks tarn "
                       "does not know",
                       columns->order_schema.children[i]->name);
    b->valid = tn_alloc(cx, rows);
    if (b->valid == NULL)
        return TARN_E_NOMEM;
    return is_bytes(b->type->kind) ? add_bytes(cx, &b->data, &first, sizeof first) : TARN_OK;
}

/* The parts of a delete's value, one for each ordering column; NULL: it has another number. */
static const tn_log_order *parts_of(const tn_log_order *order, size_t count)
{
    if (order->kind == TN_LOG_ORDER_LIST)
        return order->item_count == count ? order->items : NULL;
    return count == 1 ? order : NULL;
}

static int add_delete(tarn_cx *cx, const tn_slice_columns *columns, const tn_log_order *order,
                      builder *builders, uint8_t *standing)
{
    const tn_log_order *parts = parts_of(order, columns->order_count);
    bool always = tn_log_order_always(order), fits;
    int rc = TARN_OK;

    *standing = always ? TN_STANDS_ALWAYS : parts == NULL ? TN_STANDS_FOREIGN : TN_STANDS_BY_VALUE;
    for (size_t i = 0; i < columns->order_count; i++) {
        if (*standing != TN_STANDS_BY_VALUE) {
            TN_TRY(add_null(cx, &builders[i]));
            continue;
        }
        TN_TRY(add_order(cx, &builders[i], &parts[i], &fits));
        if (!fits)
            *standing = TN_STANDS_FOREIGN;
    }
done:
    return rc;
}

static int finish(tarn_cx *cx, builder *b, struct ArrowArray *out)
{
    size_t rows = (size_t)b->count;
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, b->count, is_bytes(b->type->kind) ? 3 : 2, 0));
    TN_TRY(tn_array_make_buffer(cx, out, 0, (rows + 7) / 8, &bits));
    tn_bits_pack(bits, 0, b->valid, b->count);
    out->null_count = b->count - tn_bits_count(bits, 0, b->count);
    if (b->type->kind == TN_TYPE_BOOL) {
        TN_TRY(tn_array_make_buffer(cx, out, 1, (rows + 7) / 8, &bits));
        tn_bits_pack(bits, 0, b->data.data, b->count);
    } else {
        TN_TRY(tn_array_take_block(cx, out, 1, &b->data));
    }
    if (is_bytes(b->type->kind))
        TN_TRY(tn_array_take_block(cx, out, 2, &b->bytes));
done:
    return rc;
}

int tn_slice_columns_delete_orders(tarn_cx *cx, const tn_slice_columns *columns,
                                   const tn_log_deletes *deletes, tn_slice_orders *out)
{
    size_t n = columns->order_count;
    builder *builders = tn_calloc(cx, n, sizeof *builders);
    struct ArrowArray batch = {0};
    uint8_t *standings;
    int rc = TARN_OK;

    if (builders == NULL)
        return TARN_E_NOMEM;
    standings = tn_realloc(cx, out->standings, deletes->count + 1, 1);
    if (standings == NULL)
        TN_TRY(TARN_E_NOMEM);
    out->standings = standings;
    for (size_t i = 0; i < n; i++)
        TN_TRY(open_builder(cx, columns, i, deletes->count, &builders[i]));
    for (size_t i = 0; i < deletes->count; i++)
        TN_TRY(add_delete(cx, columns, &deletes->orders[i], builders, &standings[i]));
    TN_TRY(tn_array_init(cx, &batch, (int64_t)deletes->count, 1, n));
    for (size_t i = 0; i < n; i++)
        TN_TRY(finish(cx, &builders[i], batch.children[i]));
    TN_TRY(tn_slice_orders_of(cx, columns, &batch, out));
done:
    for (size_t i = 0; i < n; i++)
        builder_clear(&builders[i]);
    free(builders);
    tn_array_release(&batch);
    return rc;
}
