/* Rows of several arrays as one.
 * I1: what is made owns its buffers, has offset 0, and no buffer is longer than its rows need.
 * I2: buffers hold at null slots what the source had, but for texts and lists taken one by one:
 * there a null one is empty. */
#include "batch/gather.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

/* Of an array's structures, beside its buffers. */
#define ARRAY_BYTES 256

typedef struct gather {
    const struct ArrowSchema *schema;
    tn_type type;
    const tn_gather_part *parts;
    size_t part_count;
    int64_t rows;
    struct ArrowArray *out;
} gather;

static int64_t position(const tn_gather_part *part, int64_t i)
{
    return part->take != NULL ? part->take[i] : part->first + i;
}

static bool is_large(enum tn_type_kind kind)
{
    return kind == TN_TYPE_LARGE_UTF8 || kind == TN_TYPE_LARGE_BINARY || kind == TN_TYPE_LARGE_LIST;
}

static bool is_bytes(enum tn_type_kind kind)
{
    return kind == TN_TYPE_UTF8 || kind == TN_TYPE_LARGE_UTF8 || kind == TN_TYPE_BINARY ||
           kind == TN_TYPE_LARGE_BINARY;
}

static void copy_bits(const tn_gather_part *part, const void *bits, uint8_t *to, int64_t at)
{
    if (part->take == NULL && bits != NULL) {
        tn_bits_copy(to, at, bits, part->first, part->count);
        return;
    }
    for (int64_t i = 0; i < part->count; i++)
        if (tn_bit(bits, position(part, i)))
            tn_bit_set(to, at + i);
}

static bool has_nulls(const tn_gather_part *part)
{
    return part->array->null_count != 0 && part->array->n_buffers > 0 &&
           part->array->buffers[0] != NULL;
}

static int gather_validity(tarn_cx *cx, const gather *g)
{
    size_t bytes = ((size_t)g->rows + 7) / 8;
    bool nulls = false;
    uint8_t *bits;
    int64_t at = 0;
    int rc = TARN_OK;

    for (size_t p = 0; p < g->part_count; p++)
        nulls = nulls || has_nulls(&g->parts[p]);
    if (!nulls)
        return TARN_OK;
    TN_TRY(tn_array_make_room(cx, g->out, 0, bytes, &bits));
    memset(bits, 0, bytes);
    for (size_t p = 0; p < g->part_count; p++) {
        const tn_gather_part *part = &g->parts[p];

        copy_bits(part, has_nulls(part) ? part->array->buffers[0] : NULL, bits, at);
        at += part->count;
    }
    g->out->null_count = g->rows - tn_bits_count(bits, 0, g->rows);
done:
    return rc;
}

static int gather_bool(tarn_cx *cx, const gather *g)
{
    size_t bytes = ((size_t)g->rows + 7) / 8;
    uint8_t *bits;
    int64_t at = 0;
    int rc = tn_array_make_room(cx, g->out, 1, bytes, &bits);

    if (rc != TARN_OK)
        return rc;
    memset(bits, 0, bytes);
    for (size_t p = 0; p < g->part_count; p++) {
        copy_bits(&g->parts[p], g->parts[p].array->buffers[1], bits, at);
        at += g->parts[p].count;
    }
    return TARN_OK;
}

static void take_fixed(const tn_gather_part *part, size_t width, uint8_t *to)
{
    const uint8_t *from = part->array->buffers[1];
    const int64_t *take = part->take;

    if (take == NULL) {
        memcpy(to, from + (size_t)part->first * width, (size_t)part->count * width);
    } else if (width == 8) {
        for (int64_t i = 0; i < part->count; i++)
            memcpy(to + (size_t)i * 8, from + (size_t)take[i] * 8, 8);
    } else if (width == 4) {
        for (int64_t i = 0; i < part->count; i++)
            memcpy(to + (size_t)i * 4, from + (size_t)take[i] * 4, 4);
    } else {
        for (int64_t i = 0; i < part->count; i++)
            memcpy(to + (size_t)i * width, from + (size_t)take[i] * width, width);
    }
}

static int gather_fixed(tarn_cx *cx, const gather *g)
{
    size_t width = g->type.width;
    uint8_t *to;
    int rc = tn_array_make_room(cx, g->out, 1, (size_t)g->rows * width, &to);

    for (size_t p = 0; rc == TARN_OK && p < g->part_count; p++) {
        if (g->parts[p].count != 0)
            take_fixed(&g->parts[p], width, to);
        to += (size_t)g->parts[p].count * width;
    }
    return rc;
}

static int64_t offset_at(const tn_type *type, const struct ArrowArray *array, int64_t at)
{
    return is_large(type->kind) ? ((const int64_t *)array->buffers[1])[at]
                                : ((const int32_t *)array->buffers[1])[at];
}

/* First element and length of the text or list at `at`; a null one is empty. */
static void extent(const tn_type *type, const struct ArrowArray *array, int64_t at, int64_t *first,
                   int64_t *len)
{
    *first = offset_at(type, array, at);
    *len = tn_rows_is_null(array, at) ? 0 : offset_at(type, array, at + 1) - *first;
}

/* Ends of `count` consecutive texts or lists, moved so that the first begins at `sum`. */
static void shift_offsets(const tn_type *type, const tn_gather_part *part, int64_t sum, uint8_t *to)
{
    int64_t shift = sum - offset_at(type, part->array, part->first);

    if (is_large(type->kind)) {
        const int64_t *from = (const int64_t *)part->array->buffers[1] + part->first + 1;

        for (int64_t i = 0; i < part->count; i++)
            ((int64_t *)(void *)to)[i] = from[i] + shift;
    } else {
        const int32_t *from = (const int32_t *)part->array->buffers[1] + part->first + 1;

        for (int64_t i = 0; i < part->count; i++)
            ((int32_t *)(void *)to)[i] = (int32_t)(from[i] + shift);
    }
}

/* The same for 32-bit offsets and a part without nulls. */
static int64_t take_plain_offsets(const tn_gather_part *part, int64_t sum, int32_t *to)
{
    const int32_t *offsets = part->array->buffers[1];
    const int64_t *take = part->take;

    for (int64_t i = 0; i < part->count && sum <= INT32_MAX; i++) {
        sum += offsets[take[i] + 1] - offsets[take[i]];
        to[i] = (int32_t)sum;
    }
    return sum;
}

/* Ends of the texts or lists at part->take, the first beginning at `sum`; gives the last end. */
static int64_t take_offsets(const tn_type *type, const tn_gather_part *part, int64_t sum,
                            uint8_t *to)
{
    bool large = is_large(type->kind);
    int64_t first, len;

    if (!large && !has_nulls(part))
        return take_plain_offsets(part, sum, (int32_t *)(void *)to);
    for (int64_t i = 0; i < part->count; i++) {
        extent(type, part->array, part->take[i], &first, &len);
        sum += len;
        if (large)
            ((int64_t *)(void *)to)[i] = sum;
        else
            ((int32_t *)(void *)to)[i] = (int32_t)sum;
        if (!large && sum > INT32_MAX)
            break;
    }
    return sum;
}

/* Where the elements of consecutive texts or lists lie. */
static void span_of(const tn_type *type, const tn_gather_part *part, int64_t *first, int64_t *len)
{
    *first = offset_at(type, part->array, part->first);
    *len = offset_at(type, part->array, part->first + part->count) - *first;
}

/* Writes the offsets; *total is the last. */
static int gather_offsets(tarn_cx *cx, const gather *g, int64_t *total)
{
    size_t width = is_large(g->type.kind) ? 8 : 4;
    int64_t sum = 0, first, len;
    uint8_t *to;
    int rc = TARN_OK;

    TN_TRY(tn_array_make_room(cx, g->out, 1, ((size_t)g->rows + 1) * width, &to));
    memset(to, 0, width);
    to += width;
    for (size_t p = 0; p < g->part_count; p++) {
        const tn_gather_part *part = &g->parts[p];

        if (part->count == 0)
            continue;
        if (part->take == NULL) {
            span_of(&g->type, part, &first, &len);
            if (width == 8 || sum + len <= INT32_MAX)
                shift_offsets(&g->type, part, sum, to);
            sum += len;
        } else {
            sum = take_offsets(&g->type, part, sum, to);
        }
        if (width == 4 && sum > INT32_MAX)
            TN_FAIL(TARN_E_LIMIT, "column \"%s\": more than 2 GiB in one batch",
                    g->schema->name != NULL ? g->schema->name : "");
        to += (size_t)part->count * width;
    }
    *total = sum;
done:
    return rc;
}

/* Bytes of the texts at part->take; gives where they end. */
static uint8_t *take_texts(const tn_type *type, const tn_gather_part *part, uint8_t *to)
{
    const uint8_t *from = part->array->buffers[2];
    const int32_t *offsets = part->array->buffers[1];
    const int64_t *take = part->take;
    int64_t first, len;

    if (!is_large(type->kind) && !has_nulls(part)) {
        for (int64_t i = 0; i < part->count; i++) {
            size_t bytes = (size_t)(offsets[take[i] + 1] - offsets[take[i]]);

            if (bytes != 0)
                memcpy(to, from + offsets[take[i]], bytes);
            to += bytes;
        }
        return to;
    }
    for (int64_t i = 0; i < part->count; i++) {
        extent(type, part->array, take[i], &first, &len);
        if (len != 0)
            memcpy(to, from + first, (size_t)len);
        to += len;
    }
    return to;
}

static int gather_text(tarn_cx *cx, const gather *g)
{
    int64_t total, first, len;
    uint8_t *to;
    int rc = TARN_OK;

    TN_TRY(gather_offsets(cx, g, &total));
    TN_TRY(tn_array_make_room(cx, g->out, 2, (size_t)total, &to));
    for (size_t p = 0; p < g->part_count; p++) {
        const tn_gather_part *part = &g->parts[p];
        const uint8_t *from = part->array->buffers[2];

        if (part->take == NULL && part->count != 0) {
            span_of(&g->type, part, &first, &len);
            if (len != 0)
                memcpy(to, from + first, (size_t)len);
            to += len;
        }
        if (part->take != NULL)
            to = take_texts(&g->type, part, to);
    }
done:
    return rc;
}

/* The elements of one part's lists as a part of the child; *take is the caller's to free. */
static int child_part(tarn_cx *cx, const gather *g, const tn_gather_part *part, int64_t **take,
                      tn_gather_part *out)
{
    const struct ArrowArray *child = part->array->children[0];
    bool fixed = g->type.kind == TN_TYPE_FIXED_LIST;
    int64_t total = 0, n = 0, first, len = g->type.width;

    if (part->take == NULL && part->count != 0) {
        if (fixed) {
            first = part->first * g->type.width;
            len = part->count * g->type.width;
        } else {
            span_of(&g->type, part, &first, &len);
        }
        *out = (tn_gather_part){.array = child, .first = child->offset + first, .count = len};
        return TARN_OK;
    }
    for (int64_t i = 0; i < part->count; i++) {
        if (!fixed)
            extent(&g->type, part->array, position(part, i), &first, &len);
        total += len;
    }
    *take = tn_alloc(cx, (size_t)total * sizeof **take);
    if (*take == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < part->count; i++) {
        first = position(part, i) * g->type.width;
        if (!fixed)
            extent(&g->type, part->array, position(part, i), &first, &len);
        for (int64_t k = 0; k < len; k++)
            (*take)[n++] = child->offset + first + k;
    }
    *out = (tn_gather_part){.array = child, .take = *take, .count = total};
    return TARN_OK;
}

static int gather_list(tarn_cx *cx, const gather *g)
{
    tn_gather_part *parts = tn_calloc(cx, g->part_count, sizeof *parts);
    int64_t **takes = tn_calloc(cx, g->part_count, sizeof *takes);
    int64_t total;
    int rc = TARN_OK;

    if (parts == NULL || takes == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (g->type.kind != TN_TYPE_FIXED_LIST)
        TN_TRY(gather_offsets(cx, g, &total));
    for (size_t p = 0; p < g->part_count; p++)
        TN_TRY(child_part(cx, g, &g->parts[p], &takes[p], &parts[p]));
    TN_TRY(tn_gather(cx, g->schema->children[0], parts, g->part_count, g->out->children[0]));
done:
    for (size_t p = 0; takes != NULL && p < g->part_count; p++)
        free(takes[p]);
    free(takes);
    free(parts);
    return rc;
}

/* The parts of one child of a struct; positions move by the child's offset. */
static int gather_child(tarn_cx *cx, size_t c, void *arg)
{
    const gather *g = arg;
    tn_gather_part *parts = tn_calloc(cx, g->part_count, sizeof *parts);
    int64_t **takes = tn_calloc(cx, g->part_count, sizeof *takes);
    int rc = TARN_OK;

    if (parts == NULL || takes == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t p = 0; p < g->part_count; p++) {
        const struct ArrowArray *child = g->parts[p].array->children[c];

        parts[p] = g->parts[p];
        parts[p].array = child;
        parts[p].first += child->offset;
        if (parts[p].take == NULL || child->offset == 0)
            continue;
        takes[p] = tn_alloc(cx, (size_t)parts[p].count * sizeof **takes);
        if (takes[p] == NULL)
            TN_TRY(TARN_E_NOMEM);
        for (int64_t i = 0; i < parts[p].count; i++)
            takes[p][i] = parts[p].take[i] + child->offset;
        parts[p].take = takes[p];
    }
    TN_TRY(tn_gather(cx, g->schema->children[c], parts, g->part_count, g->out->children[c]));
done:
    for (size_t p = 0; takes != NULL && p < g->part_count; p++)
        free(takes[p]);
    free(takes);
    free(parts);
    return rc;
}

static size_t buffers_of(enum tn_type_kind kind)
{
    if (kind == TN_TYPE_NULL)
        return 0;
    if (kind == TN_TYPE_STRUCT || kind == TN_TYPE_FIXED_LIST)
        return 1;
    return is_bytes(kind) ? 3 : 2;
}

static int gather_values(tarn_cx *cx, gather *g)
{
    switch (g->type.kind) {
    case TN_TYPE_NULL:
        g->out->null_count = g->rows;
        return TARN_OK;
    case TN_TYPE_BOOL:
        return gather_bool(cx, g);
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
        return gather_text(cx, g);
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
    case TN_TYPE_FIXED_LIST:
    case TN_TYPE_MAP:
        return gather_list(cx, g);
    case TN_TYPE_STRUCT:
        return tn_parallel(cx, (size_t)g->schema->n_children, gather_child, g);
    default:
        return gather_fixed(cx, g);
    }
}

int tn_gather(tarn_cx *cx, const struct ArrowSchema *schema, const tn_gather_part *parts,
              size_t part_count, struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    gather g = {.schema = schema, .parts = parts, .part_count = part_count, .out = &made};
    int rc = TARN_OK;

    assert(schema->dictionary == NULL);
    TN_TRY(tn_type_of(cx, schema, &g.type));
    for (size_t p = 0; p < part_count; p++)
        g.rows += parts[p].count;
    TN_TRY(tn_array_init(cx, &made, g.rows, buffers_of(g.type.kind), (size_t)schema->n_children));
    if (g.type.kind != TN_TYPE_NULL)
        TN_TRY(gather_validity(cx, &g));
    TN_TRY(gather_values(cx, &g));
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

/* --- sizes and schemas --- */

static uint64_t bytes_between(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              int64_t first, int64_t count)
{
    tarn_cx scratch = {0};
    uint64_t bytes = ARRAY_BYTES + (uint64_t)count / 8 + 64;
    int64_t from, to;
    tn_type type;

    if (tn_type_of(&scratch, schema, &type) != TARN_OK || type.kind == TN_TYPE_NULL || count == 0)
        return bytes;
    if (type.dictionary)
        return bytes + 8 * (uint64_t)count +
               bytes_between(schema->dictionary, array->dictionary, array->dictionary->offset,
                             array->dictionary->length);
    if (type.kind == TN_TYPE_STRUCT) {
        for (int64_t c = 0; c < schema->n_children; c++)
            bytes += bytes_between(schema->children[c], array->children[c],
                                   first + array->children[c]->offset, count);
        return bytes;
    }
    if (type.kind == TN_TYPE_FIXED_LIST)
        return bytes + bytes_between(schema->children[0], array->children[0],
                                     array->children[0]->offset + first * type.width,
                                     count * type.width);
    if (type.width != 0 || type.kind == TN_TYPE_BOOL)
        return bytes + (uint64_t)count * type.width + (uint64_t)count / 8 + 64;
    from = offset_at(&type, array, first);
    to = offset_at(&type, array, first + count);
    bytes += (uint64_t)(count + 1) * (is_large(type.kind) ? 8 : 4) + 64;
    if (is_bytes(type.kind))
        return bytes + (uint64_t)(to - from) + 64;
    return bytes + bytes_between(schema->children[0], array->children[0],
                                 array->children[0]->offset + from, to - from);
}

uint64_t tn_gather_bytes(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    return bytes_between(schema, array, array->offset, array->length);
}

/* A field without children, with the name, flags and metadata of `from` and the format of `values`.
 */
static int plain_field(tarn_cx *cx, const struct ArrowSchema *from,
                       const struct ArrowSchema *values, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    tn_buf metadata = {0};
    tn_str key, value;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, values->format, tn_str_of(from->name), false,
                         (size_t)values->n_children));
    made.flags = (from->flags & ARROW_FLAG_NULLABLE) | (values->flags & ARROW_FLAG_MAP_KEYS_SORTED);
    for (int32_t i = 0; tn_metadata_at(from->metadata, i, &key, &value); i++)
        tn_metadata_add(&metadata, key, value);
    TN_TRY(tn_field_set_metadata(cx, &made, &metadata));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    tn_buf_clear(&metadata);
    return rc;
}

int tn_gather_plain(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out,
                    bool *had)
{
    const struct ArrowSchema *values = schema->dictionary != NULL ? schema->dictionary : schema;
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    *had = *had || schema->dictionary != NULL;
    TN_TRY(plain_field(cx, schema, values, &made));
    for (int64_t c = 0; c < values->n_children; c++)
        TN_TRY(tn_gather_plain(cx, values->children[c], made.children[c], had));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

int tn_gather_join(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowArray *first,
                   size_t stride, size_t count)
{
    struct ArrowArray joined = {0};
    tn_gather_part *parts;
    int rc = TARN_OK;

    if (count < 2)
        return TARN_OK;
    parts = tn_calloc(cx, count, sizeof *parts);
    if (parts == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct ArrowArray *array = (const void *)((const char *)first + i * stride);

        parts[i] = (tn_gather_part){.array = array, .first = array->offset, .count = array->length};
    }
    TN_TRY(tn_gather(cx, schema, parts, count, &joined));
    for (size_t i = 0; i < count; i++)
        tn_array_release((void *)((char *)first + i * stride));
    tn_array_move(&joined, first);
done:
    free(parts);
    return rc;
}
