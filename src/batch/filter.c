/* Evaluates bound predicates on batches.
 * I1: truth values are combined by minimum (AND) and maximum (OR); null inputs give TN_UNKNOWN.
 * I2: a null parent makes its child null: validity is taken along the whole path.
 * I3: a dictionary is tested once per entry, never once per row. */
#include "batch/filter.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/rows.h"

tn_int256 tn_int256_of(int64_t value)
{
    uint64_t sign = value < 0 ? UINT64_MAX : 0;

    return (tn_int256){{(uint64_t)value, sign, sign, sign}};
}

tn_int256 tn_int256_be(const uint8_t *bytes, size_t len)
{
    tn_int256 out = tn_int256_of(len > 0 && (bytes[0] & 0x80) != 0 ? -1 : 0);

    assert(len <= 32);
    for (size_t i = 0; i < len; i++) {
        size_t at = len - 1 - i;

        out.limb[i / 8] &= ~(0xFFull << (i % 8 * 8));
        out.limb[i / 8] |= (uint64_t)bytes[at] << (i % 8 * 8);
    }
    return out;
}

tn_int256 tn_int256_le(const uint8_t *bytes, size_t len)
{
    uint8_t turned[32];

    assert(len <= sizeof turned);
    for (size_t i = 0; i < len; i++)
        turned[i] = bytes[len - 1 - i];
    return tn_int256_be(turned, len);
}

int tn_int256_compare(const tn_int256 *a, const tn_int256 *b)
{
    int64_t a_top = (int64_t)a->limb[3], b_top = (int64_t)b->limb[3];

    if (a_top != b_top)
        return a_top < b_top ? -1 : 1;
    for (int i = 2; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static inline int compare_double(double a, double b)
{
    if (a < b)
        return -1;
    if (a > b)
        return 1;
    if (a == b)
        return 0;
    return isnan(a) ? (isnan(b) ? 0 : 1) : -1;
}

int tn_filter_compare(enum tn_domain domain, const tn_filter_value *a, const tn_filter_value *b)
{
    int order;

    switch (domain) {
    case TN_DOMAIN_SIGNED:
        return a->i < b->i ? -1 : a->i > b->i;
    case TN_DOMAIN_UNSIGNED:
        return a->u < b->u ? -1 : a->u > b->u;
    case TN_DOMAIN_FLOAT:
        return compare_double(a->d, b->d);
    case TN_DOMAIN_DECIMAL:
        return tn_int256_compare(&a->decimal, &b->decimal);
    case TN_DOMAIN_BYTES:
        order = tn_str_compare(a->bytes, b->bytes);
        return order < 0 ? -1 : order > 0;
    case TN_DOMAIN_NONE:
        break;
    }
    return 0;
}

static inline bool op_holds(enum tn_compare op, int order)
{
    switch (op) {
    case TN_EQ:
        return order == 0;
    case TN_NE:
        return order != 0;
    case TN_LT:
        return order < 0;
    case TN_LE:
        return order <= 0;
    case TN_GT:
        return order > 0;
    case TN_GE:
        return order >= 0;
    case TN_ALWAYS:
        return true;
    case TN_NEVER:
        return false;
    }
    return false;
}

static bool in_list(const tn_filter_node *node, enum tn_domain domain, const tn_filter_value *value)
{
    size_t low = 0, high = node->value_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = tn_filter_compare(domain, value, &node->values[mid]);

        if (order == 0)
            return true;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return false;
}

/* Bytes of the character at `at`: broken UTF-8 counts byte by byte. */
static size_t character(const char *at, size_t left)
{
    uint8_t c = (uint8_t)at[0];
    size_t n = c < 0xC0 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;

    return n <= left ? n : left;
}

/* Greedy with one way back: after a "%" fails, its run grows by one character. Linear for patterns
 * with one "%", bounded by text times pattern. */
static bool like(tn_str text, tn_str pattern)
{
    size_t t = 0, p = 0, star = SIZE_MAX, resume = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '%') {
            star = ++p;
            resume = t;
        } else if (p < pattern.len && pattern.ptr[p] == '_') {
            t += character(text.ptr + t, text.len - t);
            p++;
        } else if (p < pattern.len && pattern.ptr[p] == '\\' && p + 1 < pattern.len &&
                   pattern.ptr[p + 1] == text.ptr[t]) {
            t++;
            p += 2;
        } else if (p < pattern.len && pattern.ptr[p] != '\\' && pattern.ptr[p] == text.ptr[t]) {
            t++;
            p++;
        } else if (star != SIZE_MAX) {
            resume += character(text.ptr + resume, text.len - resume);
            t = resume;
            p = star;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '%')
        p++;
    return p == pattern.len;
}

bool tn_filter_holds(const tn_filter_node *node, enum tn_domain domain,
                     const tn_filter_value *value)
{
    switch (node->kind) {
    case TN_FILTER_COMPARE:
        if (node->op == TN_ALWAYS || node->op == TN_NEVER)
            return node->op == TN_ALWAYS;
        return op_holds(node->op, tn_filter_compare(domain, value, &node->values[0]));
    case TN_FILTER_IN:
        return in_list(node, domain, value) != node->negated;
    case TN_FILTER_LIKE:
        return like(value->bytes, node->values[0].bytes) != node->negated;
    default:
        return false;
    }
}

/* A leaf of the batch: its array, and where row 0 of the batch lies in it. */
typedef struct place {
    const struct ArrowArray *array;
    int64_t at;
} place;

/* Writes 1 for rows that are null on the way to the column or in it. */
static place walk(const tn_filter_column *column, const struct ArrowArray *batch, int64_t rows,
                  uint8_t *null)
{
    place here = {batch, batch->offset};

    memset(null, 0, (size_t)rows);
    for (size_t level = 0; level < column->path_count; level++) {
        const struct ArrowArray *child = here.array->children[column->index[level]];
        const uint8_t *bits;

        here.at += child->offset;
        here.array = child;
        bits = child->null_count != 0 && child->n_buffers > 0 ? child->buffers[0] : NULL;
        if (bits == NULL)
            continue;
        for (int64_t i = 0; i < rows; i++)
            null[i] |= !tn_bit(bits, here.at + i);
    }
    if (column->type.kind == TN_TYPE_NULL)
        memset(null, 1, (size_t)rows);
    return here;
}

static tn_filter_value value_at(const tn_type *type, const struct ArrowArray *array, int64_t at)
{
    tn_filter_value value = {0};
    const uint8_t *data = array->n_buffers > 1 ? array->buffers[1] : NULL;

    switch (type->kind) {
    case TN_TYPE_BOOL:
        value.u = tn_bit(data, at);
        break;
    case TN_TYPE_INT8:
        value.i = ((const int8_t *)data)[at];
        break;
    case TN_TYPE_INT16:
        value.i = ((const int16_t *)data)[at];
        break;
    case TN_TYPE_INT32:
    case TN_TYPE_DATE32:
    case TN_TYPE_TIME32:
        value.i = ((const int32_t *)data)[at];
        break;
    case TN_TYPE_INT64:
    case TN_TYPE_DATE64:
    case TN_TYPE_TIME64:
    case TN_TYPE_TIMESTAMP:
    case TN_TYPE_DURATION:
        value.i = ((const int64_t *)data)[at];
        break;
    case TN_TYPE_UINT8:
        value.u = data[at];
        break;
    case TN_TYPE_UINT16:
        value.u = ((const uint16_t *)data)[at];
        break;
    case TN_TYPE_UINT32:
        value.u = ((const uint32_t *)data)[at];
        break;
    case TN_TYPE_UINT64:
        value.u = ((const uint64_t *)data)[at];
        break;
    case TN_TYPE_HALF:
        value.d = tn_half_get(((const uint16_t *)data)[at]);
        break;
    case TN_TYPE_FLOAT:
        value.d = (double)((const float *)data)[at];
        break;
    case TN_TYPE_DOUBLE:
        value.d = ((const double *)data)[at];
        break;
    case TN_TYPE_DECIMAL:
        value.decimal = tn_int256_le(data + (size_t)at * type->width, type->width);
        break;
    default:
        value.bytes = tn_rows_bytes(type, array, at);
    }
    return value;
}

static void eval_generic(const tn_filter_node *node, const tn_filter_column *column,
                         const struct ArrowArray *array, int64_t at, int64_t rows, uint8_t *truth)
{
    for (int64_t i = 0; i < rows; i++) {
        tn_filter_value value;

        if (truth[i] == TN_UNKNOWN)
            continue;
        value = value_at(&column->type, array, at + i);
        truth[i] = tn_filter_holds(node, column->domain, &value) ? TN_TRUE : TN_FALSE;
    }
}

/* The hot comparisons, one loop per type and operator that a compiler can vectorise. Rows that are
 * null are overwritten afterwards. */
#define EVAL_LOOP(type, expr)                                                                      \
    do {                                                                                           \
        const type *values = (const type *)array->buffers[1] + at;                                 \
                                                                                                   \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            type v = values[i];                                                                    \
            out[i] = (uint8_t)((expr) ? TN_TRUE : TN_FALSE);                                       \
        }                                                                                          \
    } while (0)
#define EVAL_OPS(type, want)                                                                       \
    switch (op) {                                                                                  \
    case TN_EQ:                                                                                    \
        EVAL_LOOP(type, v == want);                                                                \
        return true;                                                                               \
    case TN_NE:                                                                                    \
        EVAL_LOOP(type, v != want);                                                                \
        return true;                                                                               \
    case TN_LT:                                                                                    \
        EVAL_LOOP(type, v < want);                                                                 \
        return true;                                                                               \
    case TN_LE:                                                                                    \
        EVAL_LOOP(type, v <= want);                                                                \
        return true;                                                                               \
    case TN_GT:                                                                                    \
        EVAL_LOOP(type, v > want);                                                                 \
        return true;                                                                               \
    case TN_GE:                                                                                    \
        EVAL_LOOP(type, v >= want);                                                                \
        return true;                                                                               \
    default:                                                                                       \
        return false;                                                                              \
    }

static bool eval_i32(enum tn_compare op, int32_t want, const struct ArrowArray *array, int64_t at,
                     int64_t rows, uint8_t *restrict out)
{
    EVAL_OPS(int32_t, want)
}

static bool eval_i64(enum tn_compare op, int64_t want, const struct ArrowArray *array, int64_t at,
                     int64_t rows, uint8_t *restrict out)
{
    EVAL_OPS(int64_t, want)
}

/* True when a fast loop did the work; `out` is then complete but for nulls. */
static bool eval_fast(const tn_filter_node *node, const tn_filter_column *column,
                      const struct ArrowArray *array, int64_t at, int64_t rows, uint8_t *out)
{
    int64_t want;

    if (node->kind != TN_FILTER_COMPARE || node->op == TN_ALWAYS || node->op == TN_NEVER ||
        column->domain != TN_DOMAIN_SIGNED)
        return false;
    want = node->values[0].i;
    if (column->type.width == 8)
        return eval_i64(node->op, want, array, at, rows, out);
    if (column->type.width == 4 && want >= INT32_MIN && want <= INT32_MAX)
        return eval_i32(node->op, (int32_t)want, array, at, rows, out);
    return false;
}

/* Tests each entry of the dictionary, then spreads the answers over the rows. */
static int eval_dictionary(tarn_cx *cx, const tn_filter_node *node, const tn_filter_column *column,
                           place where, int64_t rows, uint8_t *truth)
{
    const struct ArrowArray *values = where.array->dictionary;
    size_t count = (size_t)values->length;
    uint8_t *answers = tn_calloc(cx, count + 1, 1);
    int rc = TARN_OK;

    if (answers == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        if (tn_rows_is_null(values, values->offset + (int64_t)i))
            answers[i] = TN_UNKNOWN;
    eval_generic(node, column, values, values->offset, (int64_t)count, answers);
    for (int64_t i = 0; i < rows; i++) {
        int64_t index;

        if (truth[i] == TN_UNKNOWN)
            continue;
        index = tn_rows_integer(column->type.index, where.array, where.at + i);
        if (index < 0 || (size_t)index >= count)
            TN_FAIL(TARN_E_CORRUPT, "column \"%.*s\": dictionary index %lld of %zu entries",
                    TN_STR_ARG(column->dotted), (long long)index, count);
        truth[i] = answers[index];
    }
done:
    free(answers);
    return rc;
}

static int eval_leaf(tarn_cx *cx, const tn_filter *filter, const tn_filter_node *node,
                     const struct ArrowArray *batch, uint8_t *truth, uint8_t *null)
{
    const tn_filter_column *column = &filter->columns[node->column];
    int64_t rows = batch->length;
    place where = walk(column, batch, rows, null);

    if (node->kind == TN_FILTER_IS_NULL) {
        for (int64_t i = 0; i < rows; i++)
            truth[i] = (null[i] != 0) != node->negated ? TN_TRUE : TN_FALSE;
        return TARN_OK;
    }
    if (column->type.kind == TN_TYPE_NULL) {
        memset(truth, TN_UNKNOWN, (size_t)rows);
        return TARN_OK;
    }
    if (!column->type.dictionary && eval_fast(node, column, where.array, where.at, rows, truth)) {
        for (int64_t i = 0; i < rows; i++)
            truth[i] = null[i] != 0 ? TN_UNKNOWN : truth[i];
        return TARN_OK;
    }
    for (int64_t i = 0; i < rows; i++)
        truth[i] = null[i] != 0 ? TN_UNKNOWN : TN_FALSE;
    if (column->type.dictionary) {
        int rc = eval_dictionary(cx, node, column, where, rows, truth);

        if (rc != TARN_OK)
            return rc;
    } else {
        eval_generic(node, column, where.array, where.at, rows, truth);
    }
    if (node->kind == TN_FILTER_IN && node->with_null)
        for (int64_t i = 0; i < rows; i++)
            if (truth[i] == (node->negated ? TN_TRUE : TN_FALSE))
                truth[i] = TN_UNKNOWN;
    return TARN_OK;
}

/* `depth` was bounded when the text was parsed (TN_PREDICATE_DEPTH_MAX). */
static int eval_node(tarn_cx *cx, const tn_filter *filter, const tn_filter_node *node,
                     const struct ArrowArray *batch, uint8_t *truth, uint8_t *null)
{
    size_t rows = (size_t)batch->length;
    uint8_t *other = NULL;
    int rc = TARN_OK;

    if (node->kind == TN_FILTER_CONST) {
        memset(truth, (int)node->truth, rows);
        return TARN_OK;
    }
    if (node->kind != TN_FILTER_AND && node->kind != TN_FILTER_OR)
        return eval_leaf(cx, filter, node, batch, truth, null);
    TN_TRY(eval_node(cx, filter, node->children[0], batch, truth, null));
    other = tn_alloc(cx, rows);
    if (other == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t c = 1; c < node->child_count; c++) {
        TN_TRY(eval_node(cx, filter, node->children[c], batch, other, null));
        if (node->kind == TN_FILTER_AND)
            for (size_t i = 0; i < rows; i++)
                truth[i] = truth[i] < other[i] ? truth[i] : other[i];
        else
            for (size_t i = 0; i < rows; i++)
                truth[i] = truth[i] > other[i] ? truth[i] : other[i];
    }
done:
    free(other);
    return rc;
}

int tn_filter_eval(tarn_cx *cx, const tn_filter *filter, const struct ArrowArray *batch,
                   uint8_t *keep, int64_t *kept)
{
    size_t rows = (size_t)batch->length;
    uint8_t *null = tn_alloc(cx, rows);
    int64_t count = 0;
    int rc = TARN_OK;

    assert(filter->root != NULL);
    if (null == NULL)
        return TARN_E_NOMEM;
    TN_TRY(eval_node(cx, filter, filter->root, batch, keep, null));
    for (size_t i = 0; i < rows; i++) {
        keep[i] = keep[i] == TN_TRUE;
        count += keep[i];
    }
    *kept = count;
done:
    free(null);
    return rc;
}
