/* What must hold of an array that comes from outside before its buffers are read.
 * I1: after TARN_OK every offset, index and view of a valid slot leads into the lengths that the
 *     array and its children state.
 * Work is one pass over offsets, indices and views; plain values are not looked at. */
#include "batch/array.h"

#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "batch/format.h"

typedef struct checked {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    tn_format format;
    int64_t end; /* offset + length */
} checked;

static int fail(tarn_cx *cx, const struct ArrowSchema *schema, const char *what)
{
    return tn_fail(cx, TARN_E_INVALID, "the Arrow array of field \"%.200s\" %s",
                   schema->name != NULL ? schema->name : "", what);
}

static bool slot_valid(const checked *c, int64_t i)
{
    return c->array->null_count == 0 || c->array->n_buffers == 0 || tn_bit(c->array->buffers[0], i);
}

static int64_t offset_at(const void *offsets, bool large, int64_t i)
{
    return large ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
}

/* Offsets of lists and byte arrays: from slot `offset` to the end, never backwards, never past
 * `limit`. */
static int check_offsets(tarn_cx *cx, const checked *c, bool large, int64_t limit)
{
    const void *offsets = c->array->buffers[1];
    int64_t before;

    if (c->array->length == 0)
        return TARN_OK;
    if (offsets == NULL)
        return fail(cx, c->schema, "has no offsets");
    before = offset_at(offsets, large, c->array->offset);
    if (before < 0)
        return fail(cx, c->schema, "has a negative offset");
    for (int64_t i = c->array->offset + 1; i <= c->end; i++) {
        int64_t at = offset_at(offsets, large, i);

        if (at < before)
            return fail(cx, c->schema, "has offsets that run backwards");
        before = at;
    }
    if (before > limit)
        return fail(cx, c->schema, "has offsets past the end of its values");
    if (c->format.buffers == 3 && c->array->buffers[2] == NULL &&
        before > offset_at(offsets, large, c->array->offset))
        return fail(cx, c->schema, "has no values");
    return TARN_OK;
}

static int check_list_view(tarn_cx *cx, const checked *c, bool large)
{
    int64_t limit = c->array->children[0]->length;

    if (c->array->length != 0 && (c->array->buffers[1] == NULL || c->array->buffers[2] == NULL))
        return fail(cx, c->schema, "has no offsets or sizes");
    for (int64_t i = c->array->offset; i < c->end; i++) {
        int64_t at, size;

        if (!slot_valid(c, i))
            continue;
        at = offset_at(c->array->buffers[1], large, i);
        size = offset_at(c->array->buffers[2], large, i);
        if (at < 0 || size < 0 || at > limit || size > limit - at)
            return fail(cx, c->schema, "has a list outside its values");
    }
    return TARN_OK;
}

static int check_views(tarn_cx *cx, const checked *c)
{
    const struct ArrowArray *array = c->array;
    int64_t variadic = array->n_buffers - 3;
    const int64_t *sizes = variadic >= 0 ? array->buffers[array->n_buffers - 1] : NULL;
    const int32_t *views = array->buffers[1];

    if (array->length != 0 && views == NULL)
        return fail(cx, c->schema, "has no views");
    for (int64_t i = array->offset; i < c->end; i++) {
        const int32_t *view = views + i * 4;

        if (!slot_valid(c, i) || (view[0] >= 0 && view[0] <= 12))
            continue;
        if (view[0] < 0 || sizes == NULL || view[2] < 0 || view[2] >= variadic || view[3] < 0 ||
            array->buffers[2 + view[2]] == NULL || view[3] > sizes[view[2]] - view[0])
            return fail(cx, c->schema, "has a view outside its buffers");
    }
    return TARN_OK;
}

static bool index_in(const void *indices, enum tn_format_kind kind, int64_t i, int64_t limit)
{
    switch (kind) {
    case TN_FORMAT_INT8:
        return ((const int8_t *)indices)[i] >= 0 && ((const int8_t *)indices)[i] < limit;
    case TN_FORMAT_UINT8:
        return ((const uint8_t *)indices)[i] < limit;
    case TN_FORMAT_INT16:
        return ((const int16_t *)indices)[i] >= 0 && ((const int16_t *)indices)[i] < limit;
    case TN_FORMAT_UINT16:
        return ((const uint16_t *)indices)[i] < limit;
    case TN_FORMAT_INT32:
        return ((const int32_t *)indices)[i] >= 0 && ((const int32_t *)indices)[i] < limit;
    case TN_FORMAT_UINT32:
        return ((const uint32_t *)indices)[i] < limit;
    case TN_FORMAT_INT64:
        return ((const int64_t *)indices)[i] >= 0 && ((const int64_t *)indices)[i] < limit;
    case TN_FORMAT_UINT64:
        return ((const uint64_t *)indices)[i] < (uint64_t)limit;
    default:
        return false;
    }
}

static int check_any(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                     int depth);

static int check_dictionary(tarn_cx *cx, const checked *c, int depth)
{
    int rc;

    if (c->array->dictionary == NULL)
        return fail(cx, c->schema, "has no dictionary");
    rc = check_any(cx, c->schema->dictionary, c->array->dictionary, depth + 1);
    if (rc != TARN_OK)
        return rc;
    for (int64_t i = c->array->offset; i < c->end; i++)
        if (slot_valid(c, i) &&
            !index_in(c->array->buffers[1], c->format.kind, i, c->array->dictionary->length))
            return fail(cx, c->schema, "has an index outside its dictionary");
    return TARN_OK;
}

static int check_children(tarn_cx *cx, const checked *c, int depth)
{
    if (c->array->n_children != c->schema->n_children)
        return fail(cx, c->schema, "has another number of children than its schema");
    for (int64_t i = 0; i < c->array->n_children; i++) {
        int rc;

        if (c->array->children == NULL || c->array->children[i] == NULL)
            return fail(cx, c->schema, "lacks a child");
        rc = check_any(cx, c->schema->children[i], c->array->children[i], depth + 1);
        if (rc != TARN_OK)
            return rc;
    }
    return TARN_OK;
}

static int check_layout(tarn_cx *cx, const checked *c)
{
    const struct ArrowArray *array = c->array;
    int64_t limit;

    switch (c->format.kind) {
    case TN_FORMAT_BINARY:
    case TN_FORMAT_UTF8:
        return check_offsets(cx, c, false, INT32_MAX);
    case TN_FORMAT_LARGE_BINARY:
    case TN_FORMAT_LARGE_UTF8:
        return check_offsets(cx, c, true, INT64_MAX);
    case TN_FORMAT_BINARY_VIEW:
    case TN_FORMAT_UTF8_VIEW:
        return check_views(cx, c);
    case TN_FORMAT_LIST:
    case TN_FORMAT_MAP:
        return check_offsets(cx, c, false, array->children[0]->length);
    case TN_FORMAT_LARGE_LIST:
        return check_offsets(cx, c, true, array->children[0]->length);
    case TN_FORMAT_LIST_VIEW:
        return check_list_view(cx, c, false);
    case TN_FORMAT_LARGE_LIST_VIEW:
        return check_list_view(cx, c, true);
    case TN_FORMAT_FIXED_LIST:
        if (__builtin_mul_overflow(c->end, (int64_t)c->format.size, &limit) ||
            limit > array->children[0]->length)
            return fail(cx, c->schema, "is longer than its values");
        return TARN_OK;
    case TN_FORMAT_STRUCT:
        for (int64_t i = 0; i < array->n_children; i++)
            if (array->children[i]->length < c->end)
                return fail(cx, c->schema, "is longer than a child");
        return TARN_OK;
    case TN_FORMAT_NULL:
        return TARN_OK;
    default:
        if (array->length != 0 && c->format.width != 0 && array->buffers[1] == NULL)
            return fail(cx, c->schema, "has no values");
        if (array->length != 0 && c->format.kind == TN_FORMAT_BOOL && array->buffers[1] == NULL)
            return fail(cx, c->schema, "has no values");
        return TARN_OK;
    }
}

static bool children_fit(const checked *c)
{
    switch (c->format.kind) {
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
    case TN_FORMAT_LIST_VIEW:
    case TN_FORMAT_LARGE_LIST_VIEW:
    case TN_FORMAT_FIXED_LIST:
        return c->schema->n_children == 1;
    case TN_FORMAT_MAP:
        return c->schema->n_children == 1 && c->schema->children[0]->n_children == 2 &&
               strcmp(c->schema->children[0]->format, "+s") == 0;
    case TN_FORMAT_STRUCT:
        return true;
    default:
        return c->schema->n_children == 0;
    }
}

static int check_any(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                     int depth)
{
    checked c = {.schema = schema, .array = array};
    int rc;

    if (depth > TN_PARQUET_DEPTH_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "the Arrow schema is deeper than %d levels",
                       TN_PARQUET_DEPTH_MAX);
    rc = tn_format_parse(cx, schema->format, &c.format);
    if (rc != TARN_OK)
        return rc;
    if (c.format.kind == TN_FORMAT_UNION || c.format.kind == TN_FORMAT_RUN_END)
        return tn_fail(cx, TARN_E_UNSUPPORTED, "field \"%.200s\" is of type %s, which %s",
                       schema->name != NULL ? schema->name : "", tn_format_name(c.format.kind),
                       "tarn does not take; cast it first");
    if (array->release == NULL)
        return fail(cx, schema, "has been released");
    if (array->length < 0 || array->offset < 0 ||
        __builtin_add_overflow(array->length, array->offset, &c.end))
        return fail(cx, schema, "has a negative or overflowing length");
    if (array->n_buffers < c.format.buffers || (array->n_buffers > 0 && array->buffers == NULL))
        return fail(cx, schema, "has too few buffers");
    if (array->null_count > 0 && array->n_buffers > 0 && array->buffers[0] == NULL)
        return fail(cx, schema, "counts nulls but has no validity bitmap");
    if (!children_fit(&c))
        return fail(cx, schema, "has a schema of the wrong shape");
    rc = check_children(cx, &c, depth);
    if (rc == TARN_OK)
        rc = check_layout(cx, &c);
    if (rc == TARN_OK && schema->dictionary != NULL)
        rc = check_dictionary(cx, &c, depth);
    return rc;
}

int tn_array_check(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    return check_any(cx, schema, array, 0);
}
