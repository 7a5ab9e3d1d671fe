/* One schema for several inputs.
 * I1: the result does not depend on which input lacks a column, only on the order of names. */
#include "batch/unify.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool same_folded(tn_str a, tn_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (tolower((unsigned char)a.ptr[i]) != tolower((unsigned char)b.ptr[i]))
            return false;
    return true;
}

static int64_t exact_child(const struct ArrowSchema *schema, tn_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_equal(tn_str_of(schema->children[i]->name), name))
            return i;
    return -1;
}

/* The only child of that name without regard to case, or -1. */
static int64_t folded_child(const struct ArrowSchema *schema, tn_str name)
{
    int64_t found = -1;

    for (int64_t i = 0; i < schema->n_children; i++) {
        if (!same_folded(tn_str_of(schema->children[i]->name), name))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

int64_t tn_unify_child(const struct ArrowSchema *schema, tn_str name)
{
    int64_t exact = exact_child(schema, name);

    return exact >= 0 ? exact : folded_child(schema, name);
}

int64_t tn_unify_match(const struct ArrowSchema *of, int64_t i, const struct ArrowSchema *in)
{
    tn_str name = tn_str_of(of->children[i]->name);
    int64_t exact = exact_child(in, name);

    if (exact >= 0)
        return exact;
    return folded_child(of, name) == i ? folded_child(in, name) : -1;
}

bool tn_unify_same(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    tarn_cx scratch = {0};
    tn_type x, y;

    if ((a->dictionary != NULL) != (b->dictionary != NULL))
        return false;
    if (a->dictionary != NULL)
        return strcmp(a->format, b->format) == 0 && tn_unify_same(a->dictionary, b->dictionary);
    if (tn_type_of(&scratch, a, &x) != TARN_OK || tn_type_of(&scratch, b, &y) != TARN_OK ||
        !tn_type_equal(&x, &y) || a->n_children != b->n_children)
        return false;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (x.kind == TN_TYPE_STRUCT && strcmp(a->children[i]->name, b->children[i]->name) != 0)
            return false;
        if (!tn_unify_same(a->children[i], b->children[i]))
            return false;
    }
    return true;
}

static bool is_signed_int(enum tn_type_kind kind)
{
    return kind >= TN_TYPE_INT8 && kind <= TN_TYPE_INT64;
}

static bool is_unsigned_int(enum tn_type_kind kind)
{
    return kind >= TN_TYPE_UINT8 && kind <= TN_TYPE_UINT64;
}

static bool is_int(enum tn_type_kind kind)
{
    return is_signed_int(kind) || is_unsigned_int(kind);
}

static bool is_float(enum tn_type_kind kind)
{
    return kind == TN_TYPE_HALF || kind == TN_TYPE_FLOAT || kind == TN_TYPE_DOUBLE;
}

static const char *wider_int(const tn_type *a, const tn_type *b)
{
    static const char *const formats[] = {"c", "s", "i", "l"};
    bool a_unsigned = is_unsigned_int(a->kind), b_unsigned = is_unsigned_int(b->kind);
    uint32_t width = a->width > b->width ? a->width : b->width;

    if (a_unsigned != b_unsigned) {
        uint32_t needed = 2 * (a_unsigned ? a->width : b->width);

        width = width > needed ? width : needed;
    } else if (a_unsigned) {
        return width == 8 ? "L" : width == 4 ? "I" : width == 2 ? "S" : "C";
    }
    return width > 8 ? NULL : formats[width == 8 ? 3 : width == 4 ? 2 : width == 2 ? 1 : 0];
}

static const char *wider_decimal(const tn_type *a, const tn_type *b, char out[48])
{
    int32_t scale = a->scale > b->scale ? a->scale : b->scale;
    int32_t before = a->precision - a->scale > b->precision - b->scale ? a->precision - a->scale
                                                                       : b->precision - b->scale;
    int32_t precision = before + scale;

    if (precision > 76)
        return NULL;
    if (precision > 38 || a->width == 32 || b->width == 32)
        snprintf(out, 48, "d:%d,%d,256", (int)precision, (int)scale);
    else
        snprintf(out, 48, "d:%d,%d", (int)precision, (int)scale);
    return out;
}

/* The format of the finer unit; kinds are equal. */
static const char *finer(const tn_type *a, const struct ArrowSchema *a_field, const tn_type *b,
                         const struct ArrowSchema *b_field)
{
    if (a->kind == TN_TYPE_TIMESTAMP && (a->zone.len == 0) != (b->zone.len == 0))
        return NULL;
    return a->unit_digits >= b->unit_digits ? a_field->format : b_field->format;
}

static bool pair_is(const tn_type *a, const tn_type *b, enum tn_type_kind x, enum tn_type_kind y)
{
    return (a->kind == x && b->kind == y) || (a->kind == y && b->kind == x);
}

/* The common format of two types that are not nested, or NULL. */
static const char *common_format(const struct ArrowSchema *a_field,
                                 const struct ArrowSchema *b_field, const tn_type *a,
                                 const tn_type *b, char text[48])
{
    if (tn_type_equal(a, b))
        return a_field->format;
    if (is_int(a->kind) && is_int(b->kind))
        return wider_int(a, b);
    if ((is_int(a->kind) || is_float(a->kind)) && (is_int(b->kind) || is_float(b->kind)))
        return pair_is(a, b, TN_TYPE_HALF, TN_TYPE_FLOAT) ? "f" : "g";
    if (a->kind == TN_TYPE_DECIMAL && b->kind == TN_TYPE_DECIMAL)
        return wider_decimal(a, b, text);
    if (a->kind == b->kind && (a->kind == TN_TYPE_TIMESTAMP || a->kind == TN_TYPE_DURATION ||
                               a->kind == TN_TYPE_TIME32 || a->kind == TN_TYPE_TIME64))
        return finer(a, a_field, b, b_field);
    if (pair_is(a, b, TN_TYPE_TIME32, TN_TYPE_TIME64))
        return a->kind == TN_TYPE_TIME64 ? a_field->format : b_field->format;
    if (pair_is(a, b, TN_TYPE_UTF8, TN_TYPE_LARGE_UTF8))
        return "U";
    if (pair_is(a, b, TN_TYPE_BINARY, TN_TYPE_LARGE_BINARY))
        return "Z";
    if (pair_is(a, b, TN_TYPE_LIST, TN_TYPE_LARGE_LIST))
        return "+L";
    return NULL;
}

typedef struct unifier {
    tarn_cx *cx;
    tn_str a_name, b_name;
    tn_buf path; /* dotted, of the column at hand */
} unifier;

static int unify_field(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b,
                       struct ArrowSchema *out);

static int conflict(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    tn_buf a_type = {0}, b_type = {0};
    int rc;

    tn_type_print(&a_type, a);
    tn_type_print(&b_type, b);
    rc =
        tn_fail(u->cx, TARN_E_UNSUPPORTED,
                "column \"%.*s\" is %.*s in %.*s and %.*s in %.*s, which have no common type; read "
                "the files apart, or leave the column out",
                TN_STR_ARG(tn_buf_view(&u->path)), TN_STR_ARG(tn_buf_view(&a_type)),
                TN_STR_ARG(u->a_name), TN_STR_ARG(tn_buf_view(&b_type)), TN_STR_ARG(u->b_name));
    tn_buf_clear(&a_type);
    tn_buf_clear(&b_type);
    return rc;
}

/* Structs: the fields of both by name. */
static int unify_children(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b,
                          struct ArrowSchema *out)
{
    int64_t extra = 0, n;
    int rc = TARN_OK;

    for (int64_t i = 0; i < b->n_children; i++)
        extra += tn_unify_match(b, i, a) < 0;
    TN_TRY(tn_field_init(u->cx, out, "+s", tn_str_of(a->name),
                         tn_field_nullable(a) || tn_field_nullable(b),
                         (size_t)(a->n_children + extra)));
    for (n = 0; n < a->n_children; n++) {
        int64_t at = tn_unify_match(a, n, b);

        if (at >= 0) {
            TN_TRY(unify_field(u, a->children[n], b->children[at], out->children[n]));
        } else {
            TN_TRY(tn_field_copy(u->cx, a->children[n], out->children[n]));
            out->children[n]->flags |= ARROW_FLAG_NULLABLE;
        }
    }
    for (int64_t i = 0; i < b->n_children; i++) {
        if (tn_unify_match(b, i, a) >= 0)
            continue;
        TN_TRY(tn_field_copy(u->cx, b->children[i], out->children[n]));
        out->children[n++]->flags |= ARROW_FLAG_NULLABLE;
    }
done:
    return rc;
}

static int unify_elements(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b,
                          const char *format, struct ArrowSchema *out)
{
    int rc = TARN_OK;

    TN_TRY(tn_field_init(u->cx, out, format, tn_str_of(a->name),
                         tn_field_nullable(a) || tn_field_nullable(b), (size_t)a->n_children));
    for (int64_t i = 0; i < a->n_children; i++)
        TN_TRY(unify_field(u, a->children[i], b->children[i], out->children[i]));
done:
    return rc;
}

/* Dictionaries aside, as a plain field of the values. */
static int unify_plain(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b,
                       struct ArrowSchema *out)
{
    char text[48];
    const char *format;
    tn_type x, y;
    int rc = TARN_OK;

    TN_TRY(tn_type_of(u->cx, a, &x));
    TN_TRY(tn_type_of(u->cx, b, &y));
    if (x.kind == TN_TYPE_STRUCT && y.kind == TN_TYPE_STRUCT)
        return unify_children(u, a, b, out);
    format = common_format(a, b, &x, &y, text);
    if (format == NULL || a->n_children != b->n_children)
        return conflict(u, a, b);
    if (a->n_children > 0)
        return unify_elements(u, a, b, format, out);
    TN_TRY(tn_field_copy(
        u->cx, strcmp(format, b->format) == 0 && strcmp(format, a->format) != 0 ? b : a, out));
    if (strcmp(out->format, format) != 0) {
        tn_field_release(out);
        TN_TRY(tn_field_init(u->cx, out, format, tn_str_of(a->name), false, 0));
    }
done:
    return rc;
}

static int unify_values(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b,
                        struct ArrowSchema *out)
{
    if (strcmp(a->format, "n") == 0)
        return tn_field_copy(u->cx, b, out);
    if (strcmp(b->format, "n") == 0 || tn_unify_same(a, b))
        return tn_field_copy(u->cx, a, out);
    return unify_plain(u, a->dictionary != NULL ? a->dictionary : a,
                       b->dictionary != NULL ? b->dictionary : b, out);
}

static int unify_field(unifier *u, const struct ArrowSchema *a, const struct ArrowSchema *b,
                       struct ArrowSchema *out)
{
    struct ArrowSchema values = {0};
    size_t before = u->path.len;
    int rc = TARN_OK;

    if (before > 0)
        tn_buf_u8(&u->path, '.');
    tn_buf_text(&u->path, a->name);
    TN_TRY(unify_values(u, a, b, &values));
    if (strcmp(values.name, a->name) != 0) {
        /* The values' field may carry the name of b, or of a dictionary. */
        struct ArrowSchema named = {0};

        rc = tn_field_init(u->cx, &named, values.format, tn_str_of(a->name), true,
                           (size_t)values.n_children);
        for (int64_t i = 0; rc == TARN_OK && i < values.n_children; i++)
            tn_field_move(values.children[i], named.children[i]);
        if (rc == TARN_OK && values.dictionary != NULL)
            rc = tn_field_make_dictionary(u->cx, &named);
        if (rc == TARN_OK && values.dictionary != NULL)
            tn_field_move(values.dictionary, named.dictionary);
        tn_field_release(&values);
        tn_field_move(&named, &values);
        TN_TRY(rc);
    }
    values.flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    if (tn_field_nullable(a) || tn_field_nullable(b))
        values.flags |= ARROW_FLAG_NULLABLE;
    tn_field_move(&values, out);
    u->path.len = before;
done:
    tn_field_release(&values);
    return rc;
}

int tn_unify_fields(tarn_cx *cx, const struct ArrowSchema *a, tn_str a_name,
                    const struct ArrowSchema *b, tn_str b_name, struct ArrowSchema *out)
{
    unifier u = {.cx = cx, .a_name = a_name, .b_name = b_name};
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(unify_children(&u, a, b, &made));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    tn_buf_clear(&u.path);
    return rc;
}
