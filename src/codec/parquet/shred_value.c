/* Arrow values to physical values, densely.
 * I1: a value that its Parquet type cannot hold is reported, never cut.
 * I2: where the bytes are the same, in order and aligned, the array's own memory is lent. */
#include "codec/parquet/shred.h"

#include <string.h>

#define DAY_MILLIS 86400000ll

typedef struct gather {
    const struct ArrowArray *array;
    const int64_t *index;
    int64_t base, count;
} gather;

/* Slot i of what is gathered, in the array's buffers. */
static inline int64_t slot_of(const gather *g, int64_t i)
{
    return g->array->offset + (g->index != NULL ? g->index[i] : g->base + i);
}

static uint8_t *room_for(tn_buf *scratch, size_t bytes)
{
    tn_buf_reset(scratch);
    return tn_buf_extend(scratch, bytes);
}

static const void *copy_values(const gather *g, size_t width, size_t align, tn_buf *scratch)
{
    const uint8_t *from = g->array->buffers[1];
    uint8_t *to;

    if (g->index == NULL) {
        const uint8_t *first = from + (size_t)slot_of(g, 0) * width;

        if ((uintptr_t)first % align == 0)
            return first;
    }
    to = room_for(scratch, (size_t)g->count * width);
    if (to == NULL)
        return NULL;
    switch (width) {
    case 4:
        for (int64_t i = 0; i < g->count; i++)
            memcpy(to + 4 * i, from + 4 * slot_of(g, i), 4);
        break;
    case 8:
        for (int64_t i = 0; i < g->count; i++)
            memcpy(to + 8 * i, from + 8 * slot_of(g, i), 8);
        break;
    default:
        for (int64_t i = 0; i < g->count; i++)
            memcpy(to + width * (size_t)i, from + width * (size_t)slot_of(g, i), width);
    }
    return to;
}

static const void *bool_values(const gather *g, tn_buf *scratch)
{
    const uint8_t *bits = g->array->buffers[1];
    uint8_t *to = room_for(scratch, (size_t)g->count);

    for (int64_t i = 0; to != NULL && i < g->count; i++) {
        int64_t at = slot_of(g, i);

        to[i] = (bits[at >> 3] >> (at & 7)) & 1;
    }
    return to;
}

#define WIDEN(type)                                                                                \
    do {                                                                                           \
        for (int64_t i = 0; i < g->count; i++)                                                     \
            to[i] = ((const type *)from)[slot_of(g, i)];                                           \
    } while (0)

static const void *widen_values(const gather *g, enum tn_format_kind kind, tn_buf *scratch)
{
    const void *from = g->array->buffers[1];
    int32_t *to = (int32_t *)(void *)room_for(scratch, (size_t)g->count * 4);

    if (to == NULL)
        return NULL;
    if (kind == TN_FORMAT_INT8)
        WIDEN(int8_t);
    else if (kind == TN_FORMAT_UINT8)
        WIDEN(uint8_t);
    else if (kind == TN_FORMAT_INT16)
        WIDEN(int16_t);
    else
        WIDEN(uint16_t);
    return to;
}

static const void *seconds_values(const gather *g, size_t width, tn_buf *scratch, int64_t *bad)
{
    const uint8_t *from = g->array->buffers[1];
    uint8_t *to = room_for(scratch, (size_t)g->count * width);

    for (int64_t i = 0; to != NULL && i < g->count; i++) {
        bool overflow;

        if (width == 4) {
            int32_t value;

            memcpy(&value, from + 4 * slot_of(g, i), 4);
            overflow = __builtin_mul_overflow(value, 1000, &value);
            memcpy(to + 4 * i, &value, 4);
        } else {
            int64_t value;

            memcpy(&value, from + 8 * slot_of(g, i), 8);
            overflow = __builtin_mul_overflow(value, (int64_t)1000, &value);
            memcpy(to + 8 * i, &value, 8);
        }
        if (overflow && *bad < 0)
            *bad = i;
    }
    return to;
}

static const void *date64_values(const gather *g, tn_buf *scratch, int64_t *bad)
{
    const uint8_t *from = g->array->buffers[1];
    int32_t *to = (int32_t *)(void *)room_for(scratch, (size_t)g->count * 4);

    for (int64_t i = 0; to != NULL && i < g->count; i++) {
        int64_t value, days;

        memcpy(&value, from + 8 * slot_of(g, i), 8);
        days = value / DAY_MILLIS;
        if ((value % DAY_MILLIS != 0 || days < INT32_MIN || days > INT32_MAX) && *bad < 0)
            *bad = i;
        to[i] = (int32_t)days;
    }
    return to;
}

/* `width` little-endian bytes as `len` big-endian ones; false when that cuts digits or the sign. */
static bool decimal_value(const uint8_t *from, size_t width, uint8_t *to, size_t len)
{
    uint8_t fill = (from[width - 1] & 0x80) != 0 ? 0xFF : 0;

    for (size_t i = 0; i < len; i++)
        to[len - 1 - i] = i < width ? from[i] : fill;
    for (size_t i = len; i < width; i++)
        if (from[i] != fill)
            return false;
    return (to[0] & 0x80) == (fill & 0x80);
}

static const void *decimal_values(const gather *g, size_t width, size_t len, tn_buf *scratch,
                                  int64_t *bad)
{
    const uint8_t *from = g->array->buffers[1];
    uint8_t *to = room_for(scratch, (size_t)g->count * len);

    for (int64_t i = 0; to != NULL && i < g->count; i++)
        if (!decimal_value(from + (size_t)slot_of(g, i) * width, width, to + (size_t)i * len,
                           len) &&
            *bad < 0)
            *bad = i;
    return to;
}

/* A view's bytes: in place up to 12, else in a variadic buffer. */
static tn_view view_value(const struct ArrowArray *array, int64_t slot)
{
    const uint8_t *view = (const uint8_t *)array->buffers[1] + 16 * slot;
    int32_t len, buffer, offset;

    memcpy(&len, view, 4);
    if (len <= 12)
        return (tn_view){view + 4, (uint32_t)len};
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    return (tn_view){(const uint8_t *)array->buffers[2 + buffer] + offset, (uint32_t)len};
}

#define VIEWS(type)                                                                                \
    do {                                                                                           \
        for (int64_t i = 0; i < g->count; i++) {                                                   \
            int64_t at = slot_of(g, i);                                                            \
            type begin = ((const type *)g->array->buffers[1])[at];                                 \
            type end = ((const type *)g->array->buffers[1])[at + 1];                               \
            if (end - begin > INT32_MAX && *bad < 0)                                               \
                *bad = i;                                                                          \
            to[i] = (tn_view){data + begin, (uint32_t)(end - begin)};                              \
        }                                                                                          \
    } while (0)

static const void *byte_values(const gather *g, enum tn_format_kind kind, tn_buf *scratch,
                               int64_t *bad)
{
    static const uint8_t none[1] = {0};
    const uint8_t *data = g->array->n_buffers > 2 ? g->array->buffers[2] : NULL;
    tn_view *to = (tn_view *)(void *)room_for(scratch, (size_t)g->count * sizeof(tn_view));

    if (to == NULL)
        return NULL;
    data = data != NULL ? data : none; /* arrays of empty strings may lack the buffer */
    if (kind == TN_FORMAT_BINARY_VIEW || kind == TN_FORMAT_UTF8_VIEW) {
        for (int64_t i = 0; i < g->count; i++)
            to[i] = view_value(g->array, slot_of(g, i));
    } else if (kind == TN_FORMAT_LARGE_BINARY || kind == TN_FORMAT_LARGE_UTF8) {
        VIEWS(int64_t);
    } else {
        VIEWS(int32_t);
    }
    return to;
}

int tn_shred_values(tarn_cx *cx, const tn_leaf *leaf, const tn_shred_path *path,
                    const struct ArrowArray *array, const int64_t *index, int64_t base,
                    int64_t count, tn_buf *scratch, tn_values *out, int64_t *bad)
{
    static const uint64_t nothing = 0;
    const tn_format *format = &path->steps[path->count - 1].format;
    gather g = {array, index, base, count};
    const void *data = &nothing;

    *bad = -1;
    *out = (tn_values){&nothing, count};
    if (count == 0)
        return TARN_OK;
    switch (path->form) {
    case TN_SHRED_COPY:
        data =
            copy_values(&g, format->width, leaf->physical == TN_FIXED ? 1 : format->width, scratch);
        break;
    case TN_SHRED_BOOL:
        data = bool_values(&g, scratch);
        break;
    case TN_SHRED_WIDEN:
        data = widen_values(&g, format->kind, scratch);
        break;
    case TN_SHRED_SECONDS:
        data = seconds_values(&g, format->width, scratch, bad);
        break;
    case TN_SHRED_DATE64:
        data = date64_values(&g, scratch, bad);
        break;
    case TN_SHRED_DECIMAL:
        data = decimal_values(&g, format->width, leaf->type_length, scratch, bad);
        break;
    case TN_SHRED_BYTES:
        data = byte_values(&g, format->kind, scratch, bad);
        break;
    case TN_SHRED_NULL:
        break;
    }
    if (data == NULL)
        return tn_buf_check(cx, scratch);
    out->data = data;
    return TARN_OK;
}
