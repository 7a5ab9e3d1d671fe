/* Levels and values to Arrow arrays.
 * I1: columns only hold whole rows between two calls of tn_assembly_append.
 * I2: a column's slots are counted by one leaf alone, the first below its field; where the other
 *     leaves below the same list count otherwise, the file is corrupt, and tn_column_take says so.
 * I3: taking a part leaves a column as if the rest alone had been appended. */
#include "codec/parquet/assemble.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_large(const tn_arrow_field *field)
{
    return field->format.kind == TN_FORMAT_LARGE_LIST ||
           field->format.kind == TN_FORMAT_LARGE_BINARY ||
           field->format.kind == TN_FORMAT_LARGE_UTF8;
}

static bool is_list(const tn_arrow_field *field)
{
    return field->format.kind == TN_FORMAT_LIST || field->format.kind == TN_FORMAT_LARGE_LIST ||
           field->format.kind == TN_FORMAT_MAP;
}

static size_t offset_width(const tn_arrow_field *field)
{
    return is_large(field) ? 8 : 4;
}

int tn_column_build(tarn_cx *cx, const tn_arrow_field *field, tn_arena *arena, tn_column *out)
{
    int rc = TARN_OK;

    *out = (tn_column){.field = field};
    out->children = tn_arena_array(cx, arena, field->child_count, sizeof out->children[0]);
    if (out->children == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; rc == TARN_OK && i < field->child_count; i++)
        rc = tn_column_build(cx, &field->children[i], arena, &out->children[i]);
    return rc;
}

void tn_column_clear(tn_column *column)
{
    tn_block_clear(&column->validity);
    tn_block_clear(&column->offsets);
    tn_block_clear(&column->data);
    column->slots = column->nulls = column->items = column->rows = 0;
    /* One whose building failed half way has no field, or no children yet. */
    for (size_t i = 0; column->children != NULL && i < column->field->child_count; i++)
        tn_column_clear(&column->children[i]);
}

int tn_assembly_init(tarn_cx *cx, const tn_parquet *file, const tn_leaf *leaf, tn_column *top,
                     tn_arena *arena, tn_assembly *out)
{
    tn_column *at = top;
    size_t count = 1;

    /* A map is two Arrow fields for one Parquet group, hence twice the depth. */
    *out = (tn_assembly){.leaf = leaf, .file = file};
    out->path =
        tn_arena_array(cx, arena, 2 * (size_t)TN_PARQUET_DEPTH_MAX + 2, sizeof(tn_column *));
    if (out->path == NULL)
        return TARN_E_NOMEM;
    out->path[0] = top;
    while (at->field->child_count != 0) {
        tn_column *next = at->children;

        for (size_t i = 1; i < at->field->child_count; i++)
            if (at->children[i].field->leaf <= leaf->index)
                next = &at->children[i];
        at = next;
        assert(count < 2 * (size_t)TN_PARQUET_DEPTH_MAX + 2);
        out->path[count++] = at;
    }
    out->path_count = count;
    while (out->owned_from < count - 1 && out->path[out->owned_from]->field->leaf != leaf->index)
        out->owned_from++;
    return TARN_OK;
}

void tn_assembly_clear(tn_assembly *assembly)
{
    free(assembly->present);
    assembly->present = NULL;
    assembly->present_cap = 0;
}

/* Adds validity bits of `count` slots; `bytes` NULL: all valid. */
static int add_validity(tarn_cx *cx, tn_column *column, const uint8_t *bytes, int64_t count,
                        int64_t nulls)
{
    size_t need = (size_t)((column->slots + count + 7) >> 3);
    int rc;

    if (nulls == 0 && column->nulls == 0)
        return TARN_OK;
    rc = tn_block_reserve(cx, &column->validity, need - column->validity.len);
    if (rc != TARN_OK)
        return rc;
    if (column->nulls == 0)
        tn_bits_fill(column->validity.data, 0, column->slots, true);
    if (nulls == 0)
        tn_bits_fill(column->validity.data, column->slots, count, true);
    else
        tn_bits_pack(column->validity.data, column->slots, bytes, count);
    column->validity.len = need;
    column->nulls += nulls;
    return TARN_OK;
}

static int reserve_offsets(tarn_cx *cx, tn_column *column, int64_t more)
{
    size_t width = offset_width(column->field);
    int rc = tn_block_reserve(cx, &column->offsets, (size_t)(more + 1) * width);

    if (rc == TARN_OK && column->offsets.len == 0) {
        memset(column->offsets.data, 0, width);
        column->offsets.len = width;
    }
    return rc;
}

static void put_offset(const tn_column *column, int64_t slot, int64_t value)
{
    if (is_large(column->field))
        ((int64_t *)(void *)column->offsets.data)[slot] = value;
    else
        ((int32_t *)(void *)column->offsets.data)[slot] = (int32_t)value;
}

static int64_t get_offset(const tn_column *column, int64_t slot)
{
    return is_large(column->field) ? ((const int64_t *)(const void *)column->offsets.data)[slot]
                                   : ((const int32_t *)(const void *)column->offsets.data)[slot];
}

static int too_large(tarn_cx *cx, const tn_assembly *a, const tn_slice *slice)
{
    return tn_fail(cx, TARN_E_LIMIT,
                   "%.*s: column \"%.*s\": row %" PRId64
                   " holds more than the 2 GiB that its Arrow type can address",
                   TN_STR_ARG(a->file->path), TN_STR_ARG(a->leaf->dotted), slice->position);
}

static int present_reserve(tarn_cx *cx, tn_assembly *a, int64_t count)
{
    uint8_t *grown;

    /* 8 bytes more: packing reads whole words. */
    if (a->present_cap >= (size_t)count + 8)
        return TARN_OK;
    grown = tn_realloc(cx, a->present, (size_t)count + 8, 1);
    if (grown == NULL)
        return TARN_E_NOMEM;
    a->present = grown;
    a->present_cap = (size_t)count + 8;
    return TARN_OK;
}

/* Slots of a struct: one per entry that begins one there. */
static int append_struct(tarn_cx *cx, tn_assembly *a, tn_column *column, const tn_slice *slice)
{
    const tn_arrow_field *field = column->field;
    const uint16_t *def = slice->batch->def, *rep = slice->batch->rep;
    int64_t count = 0, valid = 0;
    int rc;

    if (def == NULL && rep == NULL) {
        rc = add_validity(cx, column, NULL, slice->entries, 0);
        if (rc == TARN_OK)
            column->slots += slice->entries;
        return rc;
    }
    for (int64_t i = slice->entry; i < slice->entry + slice->entries; i++) {
        uint16_t d = def != NULL ? def[i] : a->leaf->max_def;
        bool begins = d >= field->slot_def && (rep == NULL || rep[i] <= field->slot_rep);
        bool is_valid = d >= field->valid_def;

        a->present[count] = is_valid;
        count += begins;
        valid += begins && is_valid;
    }
    rc = field->nullable ? add_validity(cx, column, a->present, count, count - valid) : TARN_OK;
    if (rc == TARN_OK)
        column->slots += count;
    return rc;
}

static int append_list(tarn_cx *cx, tn_assembly *a, tn_column *column, const tn_slice *slice)
{
    const tn_arrow_field *field = column->field;
    const uint16_t *def = slice->batch->def, *rep = slice->batch->rep;
    int64_t count = 0, valid = 0, items = column->items, slot = column->slots;
    bool large = is_large(field);
    int rc = reserve_offsets(cx, column, slice->entries);

    if (rc != TARN_OK)
        return rc;
    for (int64_t i = slice->entry; i < slice->entry + slice->entries; i++) {
        uint16_t d = def != NULL ? def[i] : a->leaf->max_def, r = rep[i];

        if (d < field->slot_def || r > field->item_rep)
            continue;
        if (r <= field->slot_rep) {
            bool is_valid = d >= field->valid_def;

            a->present[count++] = is_valid;
            valid += is_valid;
            put_offset(column, slot++, items);
        }
        items += d >= field->item_def;
    }
    if (!large && items > INT32_MAX)
        return too_large(cx, a, slice);
    rc = field->nullable ? add_validity(cx, column, a->present, count, count - valid) : TARN_OK;
    if (rc != TARN_OK)
        return rc;
    column->items = items;
    column->slots = slot;
    put_offset(column, slot, items);
    column->offsets.len = (size_t)(slot + 1) * offset_width(field);
    return TARN_OK;
}

/* Small copies without a call. */
static inline void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t a, b;

        memcpy(&a, from, 8);
        memcpy(&b, from + n - 8, 8);
        memcpy(to, &a, 8);
        memcpy(to + n - 8, &b, 8);
    } else if (n >= 4) {
        uint32_t a, b;

        memcpy(&a, from, 4);
        memcpy(&b, from + n - 4, 4);
        memcpy(to, &a, 4);
        memcpy(to + n - 4, &b, 4);
    } else if (n != 0) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

static inline const tn_view *view_at(const tn_leaf_batch *batch, int64_t i)
{
    return batch->indices != NULL ? &((const tn_view *)batch->dictionary.data)[batch->indices[i]]
                                  : &((const tn_view *)batch->values.data)[i];
}

static uint64_t view_bytes(const tn_leaf_batch *batch, int64_t first, int64_t count)
{
    uint64_t bytes = 0;

    for (int64_t i = first; i < first + count; i++)
        bytes += view_at(batch, i)->len;
    return bytes;
}

/* Offsets and data of byte arrays. Defined twice by the width of the offsets: this is where most of
 * the time of reading text goes. */
#define APPEND_VIEWS(type)                                                                         \
    do {                                                                                           \
        type *offset = (type *)(void *)column->offsets.data + column->slots + 1;                   \
        for (int64_t i = 0; i < slots; i++) {                                                      \
            if (all || a->present[i]) {                                                            \
                const tn_view *view = view_at(slice->batch, value++);                              \
                copy_bytes(data, view->ptr, view->len);                                            \
                data += view->len;                                                                 \
            }                                                                                      \
            offset[i] = (type)(data - column->data.data);                                          \
        }                                                                                          \
    } while (0)

static int append_bytes(tarn_cx *cx, tn_assembly *a, tn_column *column, const tn_slice *slice,
                        int64_t slots)
{
    uint64_t bytes = view_bytes(slice->batch, slice->value, slice->values);
    int64_t value = slice->value;
    bool all = slots == slice->values;
    uint8_t *data;
    int rc = TARN_OK;

    if (!is_large(column->field) && bytes > INT32_MAX - column->data.len)
        return too_large(cx, a, slice);
    TN_TRY(reserve_offsets(cx, column, slots));
    TN_TRY(tn_block_reserve(cx, &column->data, bytes));
    data = column->data.data + column->data.len;
    if (is_large(column->field))
        APPEND_VIEWS(int64_t);
    else
        APPEND_VIEWS(int32_t);
    column->offsets.len += (size_t)slots * offset_width(column->field);
    column->data.len += bytes;
done:
    return rc;
}

/* Moves dense values to their slots, from the last to the first, in place; slots without a value
 * become zero. */
#define SPREAD(type)                                                                               \
    do {                                                                                           \
        type *value = (type *)(void *)data;                                                        \
        int64_t i = slots, k = values;                                                             \
        while (k > 0 && k < i) {                                                                   \
            type is = present[--i];                                                                \
            k -= (int64_t)is;                                                                      \
            value[i] = value[k] & (type)(0 - is);                                                  \
        }                                                                                          \
        if (k == 0)                                                                                \
            memset(data, 0, (size_t)i * sizeof(type));                                             \
    } while (0)

static void spread_wide(uint8_t *data, size_t width, const uint8_t *present, int64_t slots,
                        int64_t values)
{
    for (int64_t i = slots - 1, k = values; i >= 0; i--) {
        if (present[i])
            memmove(data + (size_t)i * width, data + (size_t)--k * width, width);
        else
            memset(data + (size_t)i * width, 0, width);
    }
}

static void spread(uint8_t *data, size_t width, const uint8_t *present, int64_t slots,
                   int64_t values)
{
    switch (width) {
    case 1:
        SPREAD(uint8_t);
        break;
    case 2:
        SPREAD(uint16_t);
        break;
    case 4:
        SPREAD(uint32_t);
        break;
    case 8:
        SPREAD(uint64_t);
        break;
    default:
        spread_wide(data, width, present, slots, values);
    }
}

/* The row in the file of value `bad` of a slice. */
static int64_t row_of(const tn_assembly *a, const tn_slice *slice, int64_t bad)
{
    const tn_leaf_batch *batch = slice->batch;
    int64_t row = slice->position - (batch->rep != NULL), value = -1;

    if (batch->rep == NULL && batch->def == NULL)
        return slice->position + bad;
    for (int64_t i = slice->entry; i < slice->entry + slice->entries; i++) {
        row += batch->rep != NULL ? batch->rep[i] == 0 : i > slice->entry;
        value += batch->def == NULL || batch->def[i] == a->leaf->max_def;
        if (value == bad)
            break;
    }
    return row;
}

static int fail_value(tarn_cx *cx, const tn_assembly *a, const tn_slice *slice, int64_t bad)
{
    const tn_arrow_field *field = a->path[a->path_count - 1]->field;
    bool nanos = field->convert == TN_CONVERT_INT96 && field->format.unit == 'n';

    return tn_fail(cx, TARN_E_DATA,
                   "%.*s: column \"%.*s\": the value in row %" PRId64 " does not fit %s%s",
                   TN_STR_ARG(a->file->path), TN_STR_ARG(a->leaf->dotted), row_of(a, slice, bad),
                   tn_format_name(field->format.kind),
                   nanos ? " in nanoseconds (1677 to 2262); microseconds reach further" : "");
}

static int append_fixed(tarn_cx *cx, tn_assembly *a, tn_column *column, const tn_slice *slice,
                        int64_t slots)
{
    size_t width = column->field->format.width;
    int64_t hint = a->path_count == 1 && slice->rows_hint > slots ? slice->rows_hint : slots;
    uint8_t *data;
    int64_t bad = -1;
    int rc =
        tn_block_reserve(cx, &column->data, (size_t)(column->data.len == 0 ? hint : slots) * width);

    if (rc != TARN_OK)
        return rc;
    data = column->data.data + column->data.len;
    tn_convert_values(column->field, a->leaf, slice->batch, slice->value, slice->values, data,
                      &bad);
    if (bad >= 0)
        return fail_value(cx, a, slice, bad);
    if (slots != slice->values)
        spread(data, width, a->present, slots, slice->values);
    column->data.len += (size_t)slots * width;
    return TARN_OK;
}

/* Bits of booleans; each byte goes through `present`'s own spare half. */
static int append_bool(tarn_cx *cx, tn_assembly *a, tn_column *column, const tn_slice *slice,
                       int64_t slots)
{
    size_t need = (size_t)((column->slots + slots + 7) >> 3);
    uint8_t *bytes = NULL;
    int64_t bad = -1;
    int rc = TARN_OK;

    TN_TRY(tn_block_reserve(cx, &column->data, need - column->data.len));
    bytes = tn_alloc(cx, (size_t)slots + 8);
    if (bytes == NULL)
        TN_TRY(TARN_E_NOMEM);
    tn_convert_values(column->field, a->leaf, slice->batch, slice->value, slice->values, bytes,
                      &bad);
    if (slots != slice->values)
        spread(bytes, 1, a->present, slots, slice->values);
    tn_bits_pack(column->data.data, column->slots, bytes, slots);
    column->data.len = need;
done:
    free(bytes);
    return rc;
}

/* Which entries begin a slot of the leaf, and which of those have a value. */
static int64_t find_present(tn_assembly *a, const tn_arrow_field *field, const tn_slice *slice)
{
    const uint16_t *def = slice->batch->def + slice->entry;
    uint16_t max_def = a->leaf->max_def, slot_def = field->slot_def;
    uint8_t *present = a->present;
    int64_t count = 0;

    if (slot_def == 0) {
        for (int64_t i = 0; i < slice->entries; i++)
            present[i] = def[i] == max_def;
        return slice->entries;
    }
    for (int64_t i = 0; i < slice->entries; i++) {
        present[count] = def[i] == max_def;
        count += def[i] >= slot_def;
    }
    return count;
}

static int append_leaf(tarn_cx *cx, tn_assembly *a, tn_column *column, const tn_slice *slice)
{
    const tn_arrow_field *field = column->field;
    int64_t slots = slice->entries;
    int rc = TARN_OK;

    if (slice->batch->def != NULL && slice->values != slice->entries)
        slots = find_present(a, field, slice);
    assert(slots >= slice->values);
    if (field->key && slots != slice->values)
        TN_FAIL(TARN_E_DATA,
                "%.*s: column \"%.*s\": a map has a null key at or after row %" PRId64
                "; Arrow has no such maps",
                TN_STR_ARG(a->file->path), TN_STR_ARG(a->leaf->dotted), slice->position);
    switch (field->convert) {
    case TN_CONVERT_BYTES:
        TN_TRY(append_bytes(cx, a, column, slice, slots));
        break;
    case TN_CONVERT_BOOL:
        TN_TRY(append_bool(cx, a, column, slice, slots));
        break;
    case TN_CONVERT_NULL:
        if (slice->values != 0)
            TN_FAIL(TARN_E_CORRUPT,
                    "%.*s: column \"%.*s\" is annotated as always null but has a value in row "
                    "%" PRId64,
                    TN_STR_ARG(a->file->path), TN_STR_ARG(a->leaf->dotted), row_of(a, slice, 0));
        break;
    default:
        TN_TRY(append_fixed(cx, a, column, slice, slots));
    }
    if (field->nullable && field->convert != TN_CONVERT_NULL)
        TN_TRY(add_validity(cx, column, a->present, slots, slots - slice->values));
    column->slots += slots;
done:
    return rc;
}

int tn_assembly_append(tarn_cx *cx, tn_assembly *a, const tn_slice *slice)
{
    size_t last = a->path_count - 1;
    int rc = TARN_OK;

    TN_TRY(present_reserve(cx, a, slice->entries));
    for (size_t i = a->owned_from; i < last; i++) {
        tn_column *column = a->path[i];

        if (is_list(column->field))
            TN_TRY(append_list(cx, a, column, slice));
        else
            TN_TRY(append_struct(cx, a, column, slice));
        column->rows += slice->rows;
    }
    TN_TRY(append_leaf(cx, a, a->path[last], slice));
    a->path[last]->rows += slice->rows;
    a->rows += slice->rows;
done:
    return rc;
}

uint64_t tn_assembly_bytes(const tn_assembly *a)
{
    const tn_column *column = a->path[a->path_count - 1];

    return column->data.len + column->offsets.len;
}

uint64_t tn_assembly_cost(const tn_assembly *a, const tn_leaf_batch *batch, int64_t value,
                          int64_t values, int64_t entries)
{
    const tn_arrow_field *field = a->path[a->path_count - 1]->field;

    if (field->convert == TN_CONVERT_BYTES)
        return view_bytes(batch, value, values) + (uint64_t)entries * offset_width(field);
    return (uint64_t)entries * (field->format.width != 0 ? field->format.width : 1);
}

/* Leaves in `block` what stands from byte `at` on; what came before goes to `head`. */
static int split_block(tarn_cx *cx, tn_block *block, size_t at, tn_block *head)
{
    tn_block rest = {0};
    int rc = TARN_OK;

    assert(at <= block->len);
    if (at < block->len) {
        rc = tn_block_reserve(cx, &rest, block->len - at);
        if (rc != TARN_OK)
            return rc;
        memcpy(rest.data, block->data + at, block->len - at);
        rest.len = block->len - at;
    }
    *head = *block;
    head->len = at;
    *block = rest;
    return rc;
}

static int split_bits(tarn_cx *cx, tn_block *block, int64_t at, int64_t count, tn_block *head)
{
    tn_block rest = {0};

    if (block->len == 0)
        return TARN_OK;
    if (at < count) {
        int rc = tn_block_reserve(cx, &rest, (size_t)((count - at + 7) >> 3));

        if (rc != TARN_OK)
            return rc;
        tn_bits_copy(rest.data, 0, block->data, at, count - at);
        rest.len = (size_t)((count - at + 7) >> 3);
    }
    *head = *block;
    head->len = (size_t)((at + 7) >> 3);
    *block = rest;
    return TARN_OK;
}

static int take_validity(tarn_cx *cx, tn_column *column, int64_t slots, struct ArrowArray *array)
{
    tn_block head = {0};
    int64_t all = column->nulls;
    int rc = TARN_OK;

    if (all == 0)
        return TARN_OK;
    TN_TRY(split_bits(cx, &column->validity, slots, column->slots, &head));
    array->null_count = slots - tn_bits_count(head.data, 0, slots);
    column->nulls -= array->null_count;
    if (column->nulls == 0)
        tn_block_clear(&column->validity);
    if (array->null_count != 0)
        TN_TRY(tn_array_take_block(cx, array, 0, &head));
done:
    tn_block_clear(&head);
    return rc;
}

/* Offsets of the first `slots` slots; the rest is counted anew from 0. *items: where they end. */
static int take_offsets(tarn_cx *cx, tn_column *column, int64_t slots, struct ArrowArray *array,
                        int64_t *items)
{
    size_t width = offset_width(column->field);
    tn_block head = {0};
    int rc = TARN_OK;

    TN_TRY(reserve_offsets(cx, column, 0));
    *items = get_offset(column, slots);
    if (slots == column->slots) {
        head = column->offsets;
        column->offsets = (tn_block){0};
    } else {
        TN_TRY(split_block(cx, &column->offsets, (size_t)slots * width, &head));
        /* The last offset taken is the first of the rest as well; it is still in place. */
        head.len += width;
        for (int64_t i = 0; i <= column->slots - slots; i++)
            put_offset(column, i, get_offset(column, i) - *items);
    }
    TN_TRY(tn_array_take_block(cx, array, 1, &head));
done:
    tn_block_clear(&head);
    return rc;
}

static int take_leaf(tarn_cx *cx, tn_column *column, int64_t slots, struct ArrowArray *array)
{
    const tn_arrow_field *field = column->field;
    size_t place = field->convert == TN_CONVERT_BYTES ? 2 : 1;
    tn_block head = {0};
    int64_t bytes = slots * field->format.width;
    int rc = TARN_OK;

    if (field->convert == TN_CONVERT_NULL) {
        array->null_count = slots;
        goto done;
    }
    if (field->convert == TN_CONVERT_BYTES)
        TN_TRY(take_offsets(cx, column, slots, array, &bytes));
    if (field->convert == TN_CONVERT_BOOL)
        TN_TRY(split_bits(cx, &column->data, slots, column->slots, &head));
    else
        TN_TRY(split_block(cx, &column->data, (size_t)bytes, &head));
    TN_TRY(tn_array_take_block(cx, array, place, &head));
done:
    tn_block_clear(&head);
    return rc;
}

int tn_column_take(tarn_cx *cx, tn_column *column, int64_t rows, int64_t slots,
                   struct ArrowArray *out)
{
    const tn_arrow_field *field = column->field;
    struct ArrowArray array = {0};
    int64_t below = slots;
    int rc = TARN_OK;

    assert(rows <= column->rows);
    if (column->slots < slots || (rows == column->rows && column->slots != slots))
        TN_FAIL(TARN_E_CORRUPT,
                "field \"%.*s\": its columns disagree about how many items its lists have",
                TN_STR_ARG(field->name));
    TN_TRY(tn_array_init(cx, &array, slots, field->format.buffers, field->child_count));
    TN_TRY(take_validity(cx, column, slots, &array));
    if (field->child_count == 0)
        TN_TRY(take_leaf(cx, column, slots, &array));
    else if (is_list(field))
        TN_TRY(take_offsets(cx, column, slots, &array, &below));
    if (is_list(field))
        column->items -= below;
    for (size_t i = 0; i < field->child_count; i++)
        TN_TRY(tn_column_take(cx, &column->children[i], rows, below, array.children[i]));
    column->slots -= slots;
    column->rows -= rows;
    tn_array_move(&array, out);
done:
    tn_array_release(&array);
    return rc;
}
