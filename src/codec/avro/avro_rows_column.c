/* Columns under construction from Avro.
 * I1: blocks have room for `room` values (offsets: one more), and `len` of a block is not kept
 *     while values are added: it follows from `length`.
 * I2: children of a struct have its length and at least its room.
 * I3: the offset of position `length` is written before any value is. */
#include <assert.h>
#include <string.h>

#include "batch/widen.h"
#include "codec/avro/avro_rows_parts.h"

static size_t data_bytes(const tn_avro_column *c, int64_t values)
{
    switch (c->shape) {
    case TN_SHAPE_BITS:
        return (size_t)values;
    case TN_SHAPE_FIXED:
        return (size_t)values * c->width;
    case TN_SHAPE_BYTES:
    case TN_SHAPE_LIST:
        return ((size_t)values + 1) * sizeof(int32_t);
    default:
        return 0;
    }
}

static int32_t offset_at(const tn_avro_column *c, int64_t at)
{
    return c->data.data != NULL ? ((const int32_t *)(const void *)c->data.data)[at] : 0;
}

int tn_avro_column_reserve(tarn_cx *cx, tn_avro_column *c, int64_t more)
{
    int64_t room = c->length + more;
    bool first = c->data.data == NULL;
    int rc = TARN_OK;

    if (room <= c->room)
        return TARN_OK;
    if (room < c->room + c->room / 2)
        room = c->room + c->room / 2;
    if (c->shape == TN_SHAPE_MISSING) {
        c->room = room;
        return TARN_OK;
    }
    c->valid.len = (size_t)c->length;
    TN_TRY(tn_block_reserve(cx, &c->valid, (size_t)(room - c->length)));
    if (c->shape != TN_SHAPE_STRUCT) {
        c->data.len = first ? 0 : data_bytes(c, c->length);
        TN_TRY(tn_block_reserve(cx, &c->data, data_bytes(c, room) - c->data.len));
        if (first && (c->shape == TN_SHAPE_BYTES || c->shape == TN_SHAPE_LIST))
            ((int32_t *)(void *)c->data.data)[0] = 0;
    }
    for (size_t i = 0; c->shape == TN_SHAPE_STRUCT && i < c->child_count; i++)
        TN_TRY(tn_avro_column_reserve(cx, &c->children[i], room - c->children[i].length));
    c->room = room;
done:
    return rc;
}

void tn_avro_column_cut(tn_avro_column *c, int64_t length)
{
    if (c->length < length)
        return;
    c->length = length;
    if (c->shape == TN_SHAPE_BYTES)
        c->bytes.len = (size_t)offset_at(c, length);
    for (size_t i = 0; i < c->child_count; i++)
        tn_avro_column_cut(&c->children[i],
                           c->shape == TN_SHAPE_LIST ? offset_at(c, length) : length);
}

void tn_avro_column_clear(tn_avro_column *c)
{
    tn_block_clear(&c->valid);
    tn_block_clear(&c->data);
    tn_block_clear(&c->bytes);
    c->length = c->room = 0;
    for (size_t i = 0; i < c->child_count; i++)
        tn_avro_column_clear(&c->children[i]);
}

uint64_t tn_avro_column_bytes(const tn_avro_column *c)
{
    uint64_t values = (uint64_t)c->length, bytes = values + c->bytes.len;

    bytes += c->shape == TN_SHAPE_MISSING ? values * c->width : data_bytes(c, c->length);
    for (size_t i = 0; i < c->child_count; i++)
        bytes += tn_avro_column_bytes(&c->children[i]);
    return bytes;
}

/* ---- handing out */

/* Bytes of 0 and 1 as bits. */
static int pack(tarn_cx *cx, const uint8_t *from, int64_t count, struct ArrowArray *array, size_t i)
{
    uint8_t *bits;
    int rc = tn_array_make_buffer(cx, array, i, ((size_t)count + 7) / 8, &bits);

    if (rc == TARN_OK)
        tn_bits_pack(bits, 0, from, count);
    return rc;
}

static int64_t count_nulls(const uint8_t *valid, int64_t count)
{
    int64_t ones = 0;

    for (int64_t i = 0; i < count; i++)
        ones += valid[i];
    return count - ones;
}

static int take_validity(tarn_cx *cx, const tn_avro_column *c, struct ArrowArray *array)
{
    array->null_count = c->length > 0 ? count_nulls(c->valid.data, c->length) : 0;
    return array->null_count > 0 ? pack(cx, c->valid.data, c->length, array, 0) : TARN_OK;
}

static int take_block(tarn_cx *cx, struct ArrowArray *array, size_t i, tn_block *block, size_t len)
{
    block->len = block->data != NULL ? len : 0;
    return tn_array_take_block(cx, array, i, block);
}

static int take_offsets(tarn_cx *cx, tn_avro_column *c, struct ArrowArray *array)
{
    void *first;

    if (c->data.data == NULL) /* one offset, 0 */
        return tn_array_make_buffer(cx, array, 1, sizeof(int32_t), &first);
    return take_block(cx, array, 1, &c->data, data_bytes(c, c->length));
}

static int take_children(tarn_cx *cx, tn_avro_column *c, const struct ArrowSchema *natural,
                         struct ArrowArray *array)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < c->child_count; i++)
        TN_TRY(tn_avro_column_take(cx, &c->children[i], natural->children[i], array->children[i]));
done:
    return rc;
}

static int take_list(tarn_cx *cx, tn_avro_column *c, const struct ArrowSchema *natural,
                     struct ArrowArray *array)
{
    int64_t items = offset_at(c, c->length);
    int rc = TARN_OK;

    TN_TRY(take_offsets(cx, c, array));
    if (!c->map) {
        TN_TRY(take_children(cx, c, natural, array));
        goto done;
    }
    TN_TRY(tn_array_init(cx, array->children[0], items, 1, 2));
    TN_TRY(take_children(cx, c, natural->children[0], array->children[0]));
done:
    return rc;
}

static int take_made(tarn_cx *cx, tn_avro_column *c, const struct ArrowSchema *natural,
                     struct ArrowArray *out)
{
    static const uint8_t buffers[] = {[TN_SHAPE_BITS] = 2,
                                      [TN_SHAPE_FIXED] = 2,
                                      [TN_SHAPE_BYTES] = 3,
                                      [TN_SHAPE_LIST] = 2,
                                      [TN_SHAPE_STRUCT] = 1};
    struct ArrowArray array = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &array, c->length, buffers[c->shape], c->map ? 1 : c->child_count));
    TN_TRY(take_validity(cx, c, &array));
    switch (c->shape) {
    case TN_SHAPE_BITS:
        TN_TRY(pack(cx, c->data.data, c->length, &array, 1));
        break;
    case TN_SHAPE_FIXED:
        TN_TRY(take_block(cx, &array, 1, &c->data, data_bytes(c, c->length)));
        break;
    case TN_SHAPE_BYTES:
        TN_TRY(take_offsets(cx, c, &array));
        TN_TRY(take_block(cx, &array, 2, &c->bytes, c->bytes.len));
        break;
    case TN_SHAPE_LIST:
        TN_TRY(take_list(cx, c, natural, &array));
        break;
    default:
        TN_TRY(take_children(cx, c, natural, &array));
        break;
    }
    tn_array_move(&array, out);
done:
    tn_array_release(&array);
    return rc;
}

int tn_avro_column_take(tarn_cx *cx, tn_avro_column *c, const struct ArrowSchema *natural,
                        struct ArrowArray *out)
{
    int rc = c->shape == TN_SHAPE_MISSING ? tn_widen_missing(cx, natural, c->length, out)
                                          : take_made(cx, c, natural, out);

    tn_avro_column_clear(c);
    return rc;
}
