/* Rows of an input as rows of the directory they go into.
 * I1: a column that the directory has gets the directory's type, so that new files read like the
 *     old ones; no value changes on the way, and one that would is an error naming row and column.
 * I2: what is written has no dictionaries: a batch is cut into many, and each would carry them. */
#include <stdlib.h>
#include <string.h>

#include "batch/unify.h"
#include "op/write_op.h"

void tn_write_fit_clear(tn_write_fit *fit)
{
    tn_field_release(&fit->from);
    tn_field_release(&fit->near);
    tn_field_release(&fit->to);
    free(fit->narrow);
    *fit = (tn_write_fit){0};
}

/* A copy with the values' types in the place of dictionaries, at every depth. */
static int copy_plain(tarn_cx *cx, const struct ArrowSchema *from, struct ArrowSchema *out)
{
    const struct ArrowSchema *values = from->dictionary != NULL ? from->dictionary : from;
    struct ArrowSchema made = {0};
    tn_buf metadata = {0};
    tn_str key, value;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, values->format, tn_str_of(from->name), false,
                         (size_t)values->n_children));
    made.flags = from->flags & ~(int64_t)ARROW_FLAG_DICTIONARY_ORDERED;
    for (int32_t i = 0; tn_metadata_at(from->metadata, i, &key, &value); i++)
        tn_metadata_add(&metadata, key, value);
    TN_TRY(tn_field_set_metadata(cx, &made, &metadata));
    for (int64_t i = 0; i < values->n_children; i++)
        TN_TRY(copy_plain(cx, values->children[i], made.children[i]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    tn_buf_clear(&metadata);
    return rc;
}

static bool is_integer(const tn_type *type)
{
    return type->kind >= TN_TYPE_INT8 && type->kind <= TN_TYPE_UINT64;
}

static bool has_unit(const tn_type *type)
{
    return type->kind == TN_TYPE_TIMESTAMP || type->kind == TN_TYPE_DURATION ||
           type->kind == TN_TYPE_TIME32 || type->kind == TN_TYPE_TIME64;
}

static bool is_time(const tn_type *type)
{
    return type->kind == TN_TYPE_TIME32 || type->kind == TN_TYPE_TIME64;
}

static bool is_large_pair(enum tn_type_kind a, enum tn_type_kind b)
{
    static const enum tn_type_kind pairs[][2] = {{TN_TYPE_UTF8, TN_TYPE_LARGE_UTF8},
                                                 {TN_TYPE_BINARY, TN_TYPE_LARGE_BINARY},
                                                 {TN_TYPE_LIST, TN_TYPE_LARGE_LIST}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if ((a == pairs[i][0] && b == pairs[i][1]) || (a == pairs[i][1] && b == pairs[i][0]))
            return true;
    return false;
}

/* Whether a file with `made` has in it all that one with `dir` has, as the same Parquet types: only
 * structs may have more fields. */
static bool same_in_file(const struct ArrowSchema *made, const struct ArrowSchema *dir)
{
    const struct ArrowSchema *a = made->dictionary != NULL ? made->dictionary : made;
    const struct ArrowSchema *b = dir->dictionary != NULL ? dir->dictionary : dir;
    tarn_cx scratch = {0};
    tn_type x, y;

    if (tn_type_of(&scratch, a, &x) != TARN_OK || tn_type_of(&scratch, b, &y) != TARN_OK)
        return false;
    if (y.kind == TN_TYPE_NULL)
        return true;
    if (!tn_type_equal(&x, &y) && !is_large_pair(x.kind, y.kind))
        return false;
    for (int64_t i = 0; i < b->n_children; i++) {
        int64_t at = x.kind == TN_TYPE_STRUCT ? tn_unify_match(b, i, a) : i;

        if (at < 0 || at >= a->n_children || !same_in_file(a->children[at], b->children[i]))
            return false;
    }
    return true;
}

/* Whether values of `from` may become ones of `to` where each is looked at. */
static bool can_narrow(const struct ArrowSchema *from, const struct ArrowSchema *to)
{
    tarn_cx scratch = {0};
    tn_type x, y;

    if (from->dictionary != NULL || to->dictionary != NULL ||
        tn_type_of(&scratch, from, &x) != TARN_OK || tn_type_of(&scratch, to, &y) != TARN_OK)
        return false;
    if (is_integer(&x) && is_integer(&y))
        return true;
    if (is_time(&x) && is_time(&y))
        return true;
    return x.kind == y.kind && has_unit(&x) && (x.zone.len == 0) == (y.zone.len == 0);
}

static int no_fit(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *dir,
                  tn_str dir_name)
{
    tn_buf a = {0}, b = {0};
    int rc;

    tn_type_print(&a, from);
    tn_type_print(&b, dir);
    rc = tn_fail(cx, TARN_E_UNSUPPORTED,
                 "column \"%s\" is %.*s in the input and %.*s in %.*s, which values are not "
                 "cast to; nothing was written: leave the column out with --columns, or cast it in "
                 "the input",
                 dir->name, TN_STR_ARG(tn_buf_view(&a)), TN_STR_ARG(tn_buf_view(&b)),
                 TN_STR_ARG(dir_name));
    tn_buf_clear(&a);
    tn_buf_clear(&b);
    return rc;
}

/* What a column that both have becomes. */
static int fit_column(tarn_cx *cx, tn_write_fit *fit, int64_t at, struct ArrowSchema *dir_column,
                      tn_str dir_name, struct ArrowSchema *out)
{
    struct ArrowSchema *from = fit->from.children[at];
    const struct ArrowSchema a = {
        .format = "+s", .name = "", .n_children = 1, .children = &dir_column};
    const struct ArrowSchema b = {.format = "+s", .name = "", .n_children = 1, .children = &from};
    struct ArrowSchema both = {0};
    int rc = tn_unify_fields(cx, &a, dir_name, &b, TN_STR("the input"), &both);

    if (rc == TARN_OK && same_in_file(both.children[0], dir_column)) {
        rc = copy_plain(cx, both.children[0], out);
    } else if (rc == TARN_OK || rc == TARN_E_UNSUPPORTED) {
        tn_cx_forget(cx);
        if (!can_narrow(from, dir_column))
            TN_TRY(no_fit(cx, from, dir_column, dir_name));
        TN_TRY(copy_plain(cx, dir_column, out));
        out->flags |= from->flags & ARROW_FLAG_NULLABLE;
        fit->narrow[at] = true;
        tn_field_release(fit->near.children[at]);
        TN_TRY(tn_field_copy(cx, out, fit->near.children[at]));
    }
done:
    tn_field_release(&both);
    return rc;
}

static int fit_columns(tarn_cx *cx, tn_write_fit *fit, const tn_write_dir *known, tn_str dir_name)
{
    const struct ArrowSchema *dir = &known->schema;
    int64_t extra = 0, n = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < fit->from.n_children; i++)
        extra += tn_unify_match(&fit->from, i, dir) < 0;
    TN_TRY(tn_field_init(cx, &fit->to, "+s", TN_STR(""), false, (size_t)(dir->n_children + extra)));
    for (; n < dir->n_children; n++) {
        int64_t at = tn_unify_match(dir, n, &fit->from);

        if (at >= 0) {
            TN_TRY(fit_column(cx, fit, at, dir->children[n], dir_name, fit->to.children[n]));
        } else {
            TN_TRY(copy_plain(cx, dir->children[n], fit->to.children[n]));
            fit->to.children[n]->flags |= ARROW_FLAG_NULLABLE;
        }
    }
    for (int64_t i = 0; i < fit->from.n_children; i++) {
        if (tn_unify_match(&fit->from, i, dir) >= 0)
            continue;
        TN_TRY(copy_plain(cx, fit->from.children[i], fit->to.children[n]));
        fit->to.children[n++]->flags |= ARROW_FLAG_NULLABLE;
    }
done:
    return rc;
}

/* The columns of a struct schema in the order of another, without a cast. */
static bool same_columns(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    if (a->n_children != b->n_children)
        return false;
    for (int64_t i = 0; i < a->n_children; i++)
        if (strcmp(a->children[i]->name, b->children[i]->name) != 0 ||
            !tn_unify_same(a->children[i], b->children[i]))
            return false;
    return true;
}

/* Readers refuse a file with two columns of one name, or give one of them. */
static int check_names(tarn_cx *cx, const struct ArrowSchema *from)
{
    tn_map names = {0};
    int rc = TARN_OK;

    if (from->n_children == 0)
        TN_FAIL(TARN_E_DATA, "the rows have no columns, and files need one; name the columns "
                                "that there may be with --schema");
    for (int64_t i = 0; i < from->n_children; i++) {
        bool added;

        if (tn_map_add(cx, &names, tn_str_of(from->children[i]->name), &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added)
            TN_FAIL(TARN_E_DATA,
                    "the rows have two columns \"%s\"; name each once, with --columns for example",
                    from->children[i]->name);
    }
done:
    tn_map_clear(&names);
    return rc;
}

int tn_write_fit_open(tarn_cx *cx, const struct ArrowSchema *from, const tn_write_dir *dir,
                      tn_str dir_name, tn_write_fit *out)
{
    tn_write_fit fit = {0};
    int rc = TARN_OK;

    TN_TRY(check_names(cx, from));
    TN_TRY(tn_field_copy(cx, from, &fit.from));
    TN_TRY(tn_field_copy(cx, from, &fit.near));
    fit.narrow = tn_calloc(cx, (size_t)from->n_children + 1, sizeof *fit.narrow);
    if (fit.narrow == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (dir != NULL && dir->has_schema)
        TN_TRY(fit_columns(cx, &fit, dir, dir_name));
    else
        TN_TRY(copy_plain(cx, from, &fit.to));
    fit.same = same_columns(&fit.from, &fit.to);
    *out = fit;
    fit = (tn_write_fit){0};
done:
    tn_write_fit_clear(&fit);
    return rc;
}

/* One column on its way to a narrower type. */
typedef struct narrowing {
    tn_type from, to;
    int64_t divisor, factor; /* between units of time */
} narrowing;

static int64_t power_of_ten(int32_t digits)
{
    int64_t value = 1;

    while (digits-- > 0)
        value *= 10;
    return value;
}

static bool fits_integer(const narrowing *n, int64_t value)
{
    bool huge = n->from.kind == TN_TYPE_UINT64 && value < 0; /* its bits, beyond INT64_MAX */

    switch (n->to.kind) {
    case TN_TYPE_INT8:
        return !huge && value >= INT8_MIN && value <= INT8_MAX;
    case TN_TYPE_INT16:
        return !huge && value >= INT16_MIN && value <= INT16_MAX;
    case TN_TYPE_INT32:
        return !huge && value >= INT32_MIN && value <= INT32_MAX;
    case TN_TYPE_INT64:
        return !huge;
    case TN_TYPE_UINT8:
        return !huge && value >= 0 && value <= UINT8_MAX;
    case TN_TYPE_UINT16:
        return !huge && value >= 0 && value <= UINT16_MAX;
    case TN_TYPE_UINT32:
        return !huge && value >= 0 && value <= (int64_t)UINT32_MAX;
    default:
        return huge || value >= 0;
    }
}

/* The value in the narrower type; false when it is none. */
static bool narrow_value(const narrowing *n, int64_t *value)
{
    if (is_integer(&n->to))
        return fits_integer(n, *value);
    if (n->divisor > 1) {
        if (*value % n->divisor != 0)
            return false;
        *value /= n->divisor;
    } else if (__builtin_mul_overflow(*value, n->factor, value)) {
        return false;
    }
    return n->to.width == 8 || (*value >= INT32_MIN && *value <= INT32_MAX);
}

/* Rows of the column that its batch does not show become zeros. */
static int narrow_values(tarn_cx *cx, const tn_write_fit *fit, const narrowing *n,
                         const struct ArrowSchema *to, const struct ArrowArray *batch,
                         const struct ArrowArray *array, struct ArrowArray *out)
{
    tn_block bits = {0}, values = {0};
    int64_t rows = array->length;
    tn_buf type = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, rows, 2, 0));
    TN_TRY(tn_block_reserve(cx, &values, (size_t)rows * n->to.width + 1));
    values.len = (size_t)rows * n->to.width;
    memset(values.data, 0, values.len);
    if (array->null_count != 0 && array->buffers[0] != NULL) {
        TN_TRY(tn_block_reserve(cx, &bits, (size_t)rows / 8 + 1));
        bits.len = ((size_t)rows + 7) / 8;
        tn_bits_copy(bits.data, 0, array->buffers[0], array->offset, rows);
        out->null_count = array->null_count;
        TN_TRY(tn_array_take_block(cx, out, 0, &bits));
    }
    for (int64_t i = batch->offset; i < batch->offset + batch->length && i < rows; i++) {
        int64_t value;

        if (tn_rows_is_null(array, array->offset + i))
            continue;
        value = tn_rows_integer(n->from.kind, array, array->offset + i);
        if (!narrow_value(n, &value)) {
            tn_type_print(&type, to);
            TN_FAIL(TARN_E_DATA,
                    "row %lld of the input, column \"%s\": the value does not fit %.*s, which the "
                    "directory has; nothing was written",
                    (long long)(fit->rows + i - batch->offset + 1), to->name,
                    TN_STR_ARG(tn_buf_view(&type)));
        }
        memcpy(values.data + (size_t)i * n->to.width, &value, n->to.width);
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &values));
done:
    tn_buf_clear(&type);
    tn_block_clear(&bits);
    tn_block_clear(&values);
    return rc;
}

static int narrow_column(tarn_cx *cx, const tn_write_fit *fit, int64_t column,
                         struct ArrowArray *batch)
{
    struct ArrowArray *array = batch->children[column];
    const struct ArrowSchema *to = fit->near.children[column];
    struct ArrowArray made = {0};
    narrowing n = {.divisor = 1, .factor = 1};
    int rc = TARN_OK;

    TN_TRY(tn_type_of(cx, fit->from.children[column], &n.from));
    TN_TRY(tn_type_of(cx, to, &n.to));
    n.divisor = power_of_ten(n.from.unit_digits - n.to.unit_digits);
    n.factor = power_of_ten(n.to.unit_digits - n.from.unit_digits);
    TN_TRY(narrow_values(cx, fit, &n, to, batch, array, &made));
    tn_array_release(array);
    tn_array_move(&made, array);
done:
    tn_array_release(&made);
    return rc;
}

int tn_write_fit_batch(tarn_cx *cx, tn_write_fit *fit, struct ArrowArray *batch)
{
    int rc = TARN_OK;

    for (int64_t i = 0; i < fit->from.n_children; i++)
        if (fit->narrow[i])
            TN_TRY(narrow_column(cx, fit, i, batch));
    if (!fit->same)
        TN_TRY(tn_unify_cast(cx, &fit->near, &fit->to, batch));
    fit->rows += batch->length;
done:
    return rc;
}
