/* Whether two values of Arrow arrays are the same.
 * I1: floats are compared by their bits: NaN is itself, and 0.0 is not -0.0. */
#include "batch/rows.h"

#include <string.h>

static bool equal_child(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *a,
                        int64_t i, const struct ArrowArray *b, int64_t j)
{
    tn_type type;

    return tn_type_of(cx, schema, &type) == TARN_OK &&
           tn_rows_equal(cx, &type, schema, a, a->offset + i, b, b->offset + j);
}

static bool equal_lists(tarn_cx *cx, const tn_type *type, const struct ArrowSchema *schema,
                        const struct ArrowArray *a, int64_t i, const struct ArrowArray *b,
                        int64_t j)
{
    int64_t first[2], count[2];

    tn_rows_list(type, a, i, &first[0], &count[0]);
    tn_rows_list(type, b, j, &first[1], &count[1]);
    if (count[0] != count[1])
        return false;
    for (int64_t k = 0; k < count[0]; k++)
        if (!equal_child(cx, schema->children[0], a->children[0], first[0] + k, b->children[0],
                         first[1] + k))
            return false;
    return true;
}

static bool equal_structs(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *a,
                          int64_t i, const struct ArrowArray *b, int64_t j)
{
    for (int64_t c = 0; c < schema->n_children; c++)
        if (!equal_child(cx, schema->children[c], a->children[c], i, b->children[c], j))
            return false;
    return true;
}

/* Values of one buffer. */
static bool equal_plain(const tn_type *type, const struct ArrowArray *a, int64_t i,
                        const struct ArrowArray *b, int64_t j)
{
    const uint8_t *x = a->buffers[1], *y = b->buffers[1];

    if (type->kind == TN_TYPE_BOOL)
        return tn_bit(x, i) == tn_bit(y, j);
    return memcmp(x + (size_t)i * type->width, y + (size_t)j * type->width, type->width) == 0;
}

static bool equal_entries(tarn_cx *cx, const tn_type *type, const struct ArrowSchema *schema,
                          const struct ArrowArray *a, int64_t i, const struct ArrowArray *b,
                          int64_t j)
{
    return equal_child(cx, schema->dictionary, a->dictionary, tn_rows_integer(type->index, a, i),
                       b->dictionary, tn_rows_integer(type->index, b, j));
}

bool tn_rows_equal(tarn_cx *cx, const tn_type *type, const struct ArrowSchema *schema,
                   const struct ArrowArray *a, int64_t i, const struct ArrowArray *b, int64_t j)
{
    if (type->kind == TN_TYPE_NULL)
        return true;
    if (tn_rows_is_null(a, i) || tn_rows_is_null(b, j))
        return tn_rows_is_null(a, i) && tn_rows_is_null(b, j);
    if (type->dictionary)
        return equal_entries(cx, type, schema, a, i, b, j);
    switch (type->kind) {
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
        return tn_str_equal(tn_rows_bytes(type, a, i), tn_rows_bytes(type, b, j));
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
    case TN_TYPE_FIXED_LIST:
    case TN_TYPE_MAP:
        return equal_lists(cx, type, schema, a, i, b, j);
    case TN_TYPE_STRUCT:
        return equal_structs(cx, schema, a, i, b, j);
    default:
        return equal_plain(type, a, i, b, j);
    }
}
