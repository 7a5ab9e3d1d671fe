/* Binds a parsed predicate to a schema: columns by name, literals by the column's type.
 * I1: negation is pushed down to the leaves.
 * I2: a literal that no value of the column's type equals becomes the neighbouring comparison, so
 * comparing is exact. */
#include "batch/field.h"
#include "batch/predicate_tree.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/moment.h"
#include "batch/number.h"

typedef struct binder {
    tarn_cx *cx;
    tn_arena *arena;
    const struct ArrowSchema *schema;
    tn_filter_column *columns;
    size_t count, cap;
    bool partial; /* columns that the schema lacks are unknown, not wrong */
} binder;

static bool same_folded(tn_str a, tn_str b);

/* Whether the schema has a column of exactly this name. */
static bool knows(const struct ArrowSchema *schema, tn_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_equal(tn_str_of(schema->children[i]->name), name))
            return true;
    return false;
}

static bool same_folded(tn_str a, tn_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (tolower((unsigned char)a.ptr[i]) != tolower((unsigned char)b.ptr[i]))
            return false;
    return true;
}

/* The child of a name: exact, else without regard to case if only one matches; -1: none. */
static int64_t child_of(const struct ArrowSchema *schema, tn_str name)
{
    int64_t found = -1;

    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_equal(tn_str_of(schema->children[i]->name), name))
            return i;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (!same_folded(tn_str_of(schema->children[i]->name), name))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static int join_parts(binder *b, const tn_str *parts, size_t count, tn_str *out)
{
    tn_buf text = {0};
    int rc;

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            tn_buf_u8(&text, '.');
        tn_buf_str(&text, parts[i]);
    }
    rc = tn_buf_check(b->cx, &text);
    *out = tn_buf_view(&text);
    if (rc == TARN_OK)
        rc = tn_arena_keep(b->cx, b->arena, out);
    tn_buf_clear(&text);
    return rc;
}

static int no_column(binder *b, const tn_operand *operand, tn_str dotted,
                     const struct ArrowSchema *within, tn_str asked)
{
    tn_buf list = {0};
    int rc;

    if (within->n_children == 0)
        return tn_fail(b->cx, TARN_E_INVALID,
                       "predicate: byte %zu: there is no column \"%.*s\": \"%s\" has no fields",
                       operand->at + 1, TN_STR_ARG(dotted),
                       within->name != NULL ? within->name : "");
    tn_field_print_hint(&list, within, asked);
    rc = tn_fail(b->cx, TARN_E_INVALID, "predicate: byte %zu: there is no column \"%.*s\"; %.*s",
                 operand->at + 1, TN_STR_ARG(dotted), TN_STR_ARG(tn_buf_view(&list)));
    tn_buf_clear(&list);
    return rc;
}

static enum tn_domain domain_of(const tn_type *type)
{
    switch (type->kind) {
    case TN_TYPE_BOOL:
    case TN_TYPE_UINT8:
    case TN_TYPE_UINT16:
    case TN_TYPE_UINT32:
    case TN_TYPE_UINT64:
        return TN_DOMAIN_UNSIGNED;
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_INT64:
    case TN_TYPE_DATE32:
    case TN_TYPE_DATE64:
    case TN_TYPE_TIME32:
    case TN_TYPE_TIME64:
    case TN_TYPE_TIMESTAMP:
    case TN_TYPE_DURATION:
        return TN_DOMAIN_SIGNED;
    case TN_TYPE_HALF:
    case TN_TYPE_FLOAT:
    case TN_TYPE_DOUBLE:
        return TN_DOMAIN_FLOAT;
    case TN_TYPE_DECIMAL:
        return TN_DOMAIN_DECIMAL;
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
    case TN_TYPE_FIXED:
        return TN_DOMAIN_BYTES;
    default:
        return TN_DOMAIN_NONE;
    }
}

/* Whether the operand names a column: a word in double quotes does only when there is one. */
static bool is_column(const binder *b, const tn_operand *operand)
{
    return operand->kind == TN_OPERAND_NAME ||
           (operand->kind == TN_OPERAND_WORD && child_of(b->schema, operand->parts[0]) >= 0);
}

/* Follows the parts; a whole dotted name that is a top-level column wins. */
static int follow(binder *b, const tn_operand *operand, tn_filter_column *column,
                  const struct ArrowSchema **leaf)
{
    const struct ArrowSchema *here = b->schema;
    int64_t whole = child_of(here, column->dotted);
    size_t levels = whole >= 0 ? 1 : operand->part_count;

    column->path = tn_arena_array(b->cx, b->arena, levels, sizeof(tn_str));
    column->index = tn_arena_array(b->cx, b->arena, levels, sizeof(uint32_t));
    if (column->path == NULL || column->index == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < levels; i++) {
        int64_t child = whole >= 0                            ? whole
                        : i > 0 && strcmp(here->format, "+s") ? -1
                                                              : child_of(here, operand->parts[i]);

        if (child < 0)
            return no_column(b, operand, column->dotted, here, operand->parts[i]);
        here = here->children[child];
        column->index[i] = (uint32_t)child;
        column->path[i] = tn_str_of(here->name);
        if (tn_arena_keep(b->cx, b->arena, &column->path[i]) != TARN_OK)
            return TARN_E_NOMEM;
    }
    column->path_count = levels;
    *leaf = here;
    return TARN_OK;
}

static int resolve(binder *b, const tn_operand *operand, uint32_t *out)
{
    tn_filter_column column = {0};
    const struct ArrowSchema *leaf = NULL;
    int rc = TARN_OK;

    TN_TRY(join_parts(b, operand->parts, operand->part_count, &column.dotted));
    for (size_t i = 0; i < b->count; i++)
        if (tn_str_equal(b->columns[i].dotted, column.dotted)) {
            *out = (uint32_t)i;
            return TARN_OK;
        }
    TN_TRY(follow(b, operand, &column, &leaf));
    TN_TRY(tn_type_of(b->cx, leaf, &column.type));
    TN_TRY(tn_arena_keep(b->cx, b->arena, &column.type.zone));
    column.domain = domain_of(&column.type);
    TN_TRY(tn_arena_grow(b->cx, b->arena, &b->columns, b->count, &b->cap, sizeof *b->columns));
    b->columns[b->count] = column;
    *out = (uint32_t)b->count++;
done:
    return rc;
}

static int mismatch(binder *b, const tn_operand *operand, const tn_filter_column *column,
                    const char *want)
{
    return tn_fail(b->cx, TARN_E_INVALID,
                   "predicate: byte %zu: column \"%.*s\" is compared with %s", operand->at + 1,
                   TN_STR_ARG(column->dotted), want);
}

/* Where a literal lies among the values of a column's type. */
typedef struct spot {
    tn_filter_value value; /* the literal, or the greatest value below it */
    bool exact;
    int beyond; /* -1 below, 1 above every value */
} spot;

/* An exact quantity in units of 10^-digits, floored, as a signed or unsigned value. */
static void spot_integer(enum tn_domain domain, const tn_int256 *floor, bool exact, spot *out)
{
    tn_int256 low = tn_int256_of(domain == TN_DOMAIN_UNSIGNED ? 0 : INT64_MIN);
    tn_int256 high =
        domain == TN_DOMAIN_UNSIGNED ? (tn_int256){{UINT64_MAX, 0, 0, 0}} : tn_int256_of(INT64_MAX);

    out->exact = exact;
    out->beyond = tn_int256_compare(floor, &low) < 0    ? -1
                  : tn_int256_compare(floor, &high) > 0 ? 1
                                                        : 0;
    if (domain == TN_DOMAIN_UNSIGNED)
        out->value.u = floor->limb[0];
    else
        out->value.i = (int64_t)floor->limb[0];
}

static int spot_number(binder *b, const tn_filter_column *column, const tn_operand *operand,
                       spot *out)
{
    tn_int256 floor;
    int beyond = 0;
    bool exact;
    int32_t scale = column->domain == TN_DOMAIN_DECIMAL ? column->type.scale : 0;

    if (operand->kind == TN_OPERAND_BOOL || operand->kind == TN_OPERAND_HEX ||
        !tn_number_floor(operand->text, scale, &floor, &exact, &beyond))
        return mismatch(b, operand, column, "a number, such as 42 or -1.5");
    if (column->domain == TN_DOMAIN_DECIMAL) {
        out->value.decimal = floor;
        out->exact = exact;
        out->beyond = beyond;
    } else {
        spot_integer(column->domain, &floor, exact, out);
        if (beyond != 0)
            out->beyond = beyond;
    }
    return TARN_OK;
}

static int spot_double(binder *b, const tn_filter_column *column, const tn_operand *operand,
                       spot *out)
{
    char text[512];
    char *end;

    if (operand->kind == TN_OPERAND_BOOL || operand->kind == TN_OPERAND_HEX ||
        operand->text.len == 0 || operand->text.len >= sizeof text)
        return mismatch(b, operand, column, "a number, such as 42 or -1.5");
    memcpy(text, operand->text.ptr, operand->text.len);
    text[operand->text.len] = '\0';
    out->value.d =
        column->type.kind == TN_TYPE_FLOAT ? (double)strtof(text, &end) : strtod(text, &end);
    if (end != text + operand->text.len || isspace((unsigned char)text[0]))
        return mismatch(b, operand, column, "a number, such as 42, -1.5, 'NaN' or 'Infinity'");
    out->exact = true;
    return TARN_OK;
}

static int spot_bool(binder *b, const tn_filter_column *column, const tn_operand *operand,
                     spot *out)
{
    bool text = operand->kind == TN_OPERAND_TEXT || operand->kind == TN_OPERAND_WORD;

    if (operand->kind != TN_OPERAND_BOOL &&
        !(text && (same_folded(operand->text, TN_STR("true")) ||
                   same_folded(operand->text, TN_STR("false")))))
        return mismatch(b, operand, column, "true or false");
    out->value.u = operand->kind == TN_OPERAND_BOOL ? operand->boolean
                                                    : same_folded(operand->text, TN_STR("true"));
    out->exact = true;
    return TARN_OK;
}

/* "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" as its 16 bytes. */
static bool parse_uuid(tn_str text, uint8_t *out)
{
    size_t n = 0;

    if (text.len != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        char c = (char)tolower((unsigned char)text.ptr[i]);

        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (c != '-')
                return false;
            continue;
        }
        if (!isxdigit((unsigned char)c))
            return false;
        out[n / 2] = (uint8_t)(out[n / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
        n++;
    }
    return true;
}

static int spot_bytes(binder *b, const tn_filter_column *column, const tn_operand *operand,
                      spot *out)
{
    if (operand->kind == TN_OPERAND_NUMBER || operand->kind == TN_OPERAND_BOOL)
        return mismatch(b, operand, column, "text: put it in single quotes");
    out->value.bytes = operand->text;
    out->exact = true;
    if (column->type.kind == TN_TYPE_FIXED && column->type.width == 16 && operand->text.len == 36) {
        uint8_t *uuid = tn_arena_take(b->cx, b->arena, 16);

        if (uuid == NULL)
            return TARN_E_NOMEM;
        if (parse_uuid(operand->text, uuid))
            out->value.bytes = (tn_str){(const char *)uuid, 16};
    }
    return TARN_OK;
}

/* floor(nanos / 10^(9 - digits)) */
static void spot_scaled(__int128 nanos, __int128 unit, spot *out)
{
    __int128 floor = nanos / unit, rest = nanos % unit;

    if (rest < 0) {
        rest += unit;
        floor--;
    }
    out->exact = rest == 0;
    out->beyond = floor < INT64_MIN ? -1 : floor > INT64_MAX ? 1 : 0;
    out->value.i = (int64_t)floor;
}

static int spot_moment(binder *b, const tn_filter_column *column, const tn_operand *operand,
                       spot *out)
{
    static const int64_t nanos_of[] = {1000000000, 1000000, 1000, 1};
    const tn_type *type = &column->type;
    bool text = operand->kind == TN_OPERAND_TEXT || operand->kind == TN_OPERAND_WORD;
    int64_t unit = type->kind == TN_TYPE_DATE32 ? 86400 * nanos_of[0]
                                                : nanos_of[type->unit_digits / 3],
            nanos;
    tn_moment moment;

    if (type->kind == TN_TYPE_TIME32 || type->kind == TN_TYPE_TIME64) {
        if (!text || !tn_moment_parse_time(operand->text, &nanos))
            return mismatch(b, operand, column, "a time, such as '10:30:00'");
        spot_scaled(nanos, unit, out);
        return TARN_OK;
    }
    if (!text || !tn_moment_parse(operand->text, &moment))
        return mismatch(b, operand, column,
                        type->kind == TN_TYPE_TIMESTAMP
                            ? "a time, such as '2024-05-12' or '2024-05-12T10:30:00'"
                            : "a date, such as '2024-05-12'");
    if (moment.has_zone && type->zone.len == 0)
        return mismatch(b, operand, column, "a time without a zone, because the column has none");
    spot_scaled((__int128)moment.seconds * 1000000000 + moment.nanos, unit, out);
    return TARN_OK;
}

static int spot_of(binder *b, const tn_filter_column *column, const tn_operand *operand, spot *out)
{
    *out = (spot){0};
    switch (column->domain) {
    case TN_DOMAIN_UNSIGNED:
        return column->type.kind == TN_TYPE_BOOL ? spot_bool(b, column, operand, out)
                                                 : spot_number(b, column, operand, out);
    case TN_DOMAIN_DECIMAL:
        return spot_number(b, column, operand, out);
    case TN_DOMAIN_FLOAT:
        return spot_double(b, column, operand, out);
    case TN_DOMAIN_BYTES:
        return spot_bytes(b, column, operand, out);
    case TN_DOMAIN_SIGNED:
        switch (column->type.kind) {
        case TN_TYPE_DATE32:
        case TN_TYPE_DATE64:
        case TN_TYPE_TIME32:
        case TN_TYPE_TIME64:
        case TN_TYPE_TIMESTAMP:
            return spot_moment(b, column, operand, out);
        default:
            return spot_number(b, column, operand, out);
        }
    case TN_DOMAIN_NONE:
        break;
    }
    return tn_fail(b->cx, TARN_E_INVALID,
                   "predicate: byte %zu: column \"%.*s\" is nested: only IS NULL, IS NOT NULL and "
                   "its fields by name.field can be asked",
                   operand->at + 1, TN_STR_ARG(column->dotted));
}

static enum tn_compare negate(enum tn_compare op)
{
    static const enum tn_compare other[] = {TN_NE, TN_EQ, TN_GE,    TN_GT,
                                            TN_LE, TN_LT, TN_NEVER, TN_ALWAYS};

    return other[op];
}

static enum tn_compare flip(enum tn_compare op)
{
    static const enum tn_compare other[] = {TN_EQ, TN_NE, TN_GT,     TN_GE,
                                            TN_LT, TN_LE, TN_ALWAYS, TN_NEVER};

    return other[op];
}

/* The comparison with the literal as one with a value of the column's type (I2). */
static enum tn_compare settle(enum tn_compare op, const spot *at)
{
    bool less = op == TN_LT || op == TN_LE;

    if (at->beyond == 0 && at->exact)
        return op;
    if (op == TN_EQ || op == TN_NE)
        return op == TN_EQ ? TN_NEVER : TN_ALWAYS;
    if (at->beyond != 0)
        return less == (at->beyond > 0) ? TN_ALWAYS : TN_NEVER;
    return less ? TN_LE : TN_GT;
}

static int make_node(binder *b, enum tn_filter_kind kind, size_t values, tn_filter_node **out)
{
    tn_filter_node *node = tn_arena_take(b->cx, b->arena, sizeof *node);

    if (node == NULL)
        return TARN_E_NOMEM;
    node->kind = kind;
    if (values > 0) {
        node->values = tn_arena_array(b->cx, b->arena, values, sizeof *node->values);
        if (node->values == NULL)
            return TARN_E_NOMEM;
    }
    *out = node;
    return TARN_OK;
}

static int make_const(binder *b, enum tn_truth truth, tn_filter_node **out)
{
    int rc = make_node(b, TN_FILTER_CONST, 0, out);

    if (rc == TARN_OK)
        (*out)->truth = truth;
    return rc;
}

static int need_column(binder *b, const tn_operand *operand, uint32_t *column)
{
    if (operand->kind != TN_OPERAND_NAME && operand->kind != TN_OPERAND_WORD)
        return tn_fail(b->cx, TARN_E_INVALID,
                       "predicate: byte %zu: a column is expected here, not a value",
                       operand->at + 1);
    return resolve(b, operand, column);
}

static int bind_compare(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out)
{
    const tn_operand *column_side = &in->operands[0], *literal = &in->operands[1];
    enum tn_compare op = in->op;
    tn_filter_node *node = NULL;
    uint32_t column;
    spot at;
    int rc = TARN_OK;
    tarn_cx *cx = b->cx;

    if (!is_column(b, column_side) && is_column(b, literal)) {
        column_side = &in->operands[1];
        literal = &in->operands[0];
        op = flip(op);
    }
    TN_TRY(need_column(b, column_side, &column));
    if (is_column(b, literal))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "predicate: byte %zu: \"%.*s\" is a column too; a column is compared with a value "
                "(put text in single quotes)",
                literal->at + 1, TN_STR_ARG(literal->parts[0]));
    if (literal->kind == TN_OPERAND_NULL)
        return make_const(b, TN_UNKNOWN, out);
    TN_TRY(spot_of(b, &b->columns[column], literal, &at));
    TN_TRY(make_node(b, TN_FILTER_COMPARE, 1, &node));
    node->column = column;
    node->op = settle(op, &at);
    if (negated)
        node->op = negate(node->op);
    node->values[0] = at.value;
    node->value_count = 1;
    *out = node;
done:
    return rc;
}

static void sort_values(enum tn_domain domain, tn_filter_value *values, size_t count);

static void merge_values(enum tn_domain domain, tn_filter_value *values, size_t half, size_t count,
                         tn_filter_value *spare)
{
    size_t a = 0, c = half, n = 0;

    while (a < half || c < count) {
        bool left =
            c >= count || (a < half && tn_filter_compare(domain, &values[a], &values[c]) <= 0);

        spare[n++] = values[left ? a++ : c++];
    }
    memcpy(values, spare, count * sizeof *values);
}

/* A merge sort in place of qsort, whose comparison could not know the domain. `values` has room for
 * twice `count`. */
static void sort_values(enum tn_domain domain, tn_filter_value *values, size_t count)
{
    tn_filter_value *spare = values + count;

    for (size_t run = 1; run < count; run *= 2)
        for (size_t at = 0; at + run < count; at += 2 * run)
            merge_values(domain, values + at, run, at + 2 * run < count ? 2 * run : count - at,
                         spare);
}

static int bind_in(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out)
{
    tn_filter_node *node = NULL;
    enum tn_domain domain;
    size_t n = 0;
    int rc = TARN_OK;

    TN_TRY(make_node(b, TN_FILTER_IN, 2 * in->operand_count, &node));
    TN_TRY(need_column(b, &in->operands[0], &node->column));
    domain = b->columns[node->column].domain;
    for (size_t i = 1; i < in->operand_count; i++) {
        const tn_operand *item = &in->operands[i];
        spot at;

        if (item->kind == TN_OPERAND_NAME)
            return tn_fail(b->cx, TARN_E_UNSUPPORTED,
                           "predicate: byte %zu: IN takes values; put text in single quotes",
                           item->at + 1);
        if (item->kind == TN_OPERAND_NULL) {
            node->with_null = true;
            continue;
        }
        TN_TRY(spot_of(b, &b->columns[node->column], item, &at));
        if (at.exact && at.beyond == 0)
            node->values[n++] = at.value;
    }
    sort_values(domain, node->values, n);
    for (size_t i = 0; i < n; i++)
        if (node->value_count == 0 ||
            tn_filter_compare(domain, &node->values[node->value_count - 1], &node->values[i]) != 0)
            node->values[node->value_count++] = node->values[i];
    node->negated = negated;
    *out = node;
done:
    return rc;
}

/* The bytes before the first wildcard, escapes taken away. */
static int like_prefix(binder *b, tn_str pattern, tn_str *out)
{
    char *bytes = tn_arena_take(b->cx, b->arena, pattern.len + 1);
    size_t n = 0;

    if (bytes == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < pattern.len && pattern.ptr[i] != '%' && pattern.ptr[i] != '_'; i++) {
        if (pattern.ptr[i] == '\\' && i + 1 < pattern.len)
            i++;
        bytes[n++] = pattern.ptr[i];
    }
    *out = (tn_str){bytes, n};
    return TARN_OK;
}

static int bind_like(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out)
{
    tn_filter_node *node = NULL;
    int rc = TARN_OK;

    TN_TRY(make_node(b, TN_FILTER_LIKE, 1, &node));
    TN_TRY(need_column(b, &in->operands[0], &node->column));
    if (b->columns[node->column].domain != TN_DOMAIN_BYTES)
        return mismatch(b, &in->operands[0], &b->columns[node->column],
                        "LIKE, which is for text only");
    node->values[0].bytes = in->operands[1].text;
    node->value_count = 1;
    node->negated = negated;
    TN_TRY(like_prefix(b, in->operands[1].text, &node->prefix));
    *out = node;
done:
    return rc;
}

static int bind_test(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out)
{
    const tn_operand *operand = &in->operands[0];
    tn_filter_node *node = NULL;
    uint32_t column;
    int rc = TARN_OK;

    if (operand->kind == TN_OPERAND_NULL)
        return make_const(b, TN_UNKNOWN, out);
    if (operand->kind == TN_OPERAND_BOOL)
        return make_const(b, operand->boolean != negated ? TN_TRUE : TN_FALSE, out);
    TN_TRY(need_column(b, operand, &column));
    if (b->columns[column].type.kind != TN_TYPE_BOOL)
        return mismatch(b, operand, &b->columns[column],
                        "nothing: only a boolean column stands alone");
    TN_TRY(make_node(b, TN_FILTER_COMPARE, 1, &node));
    node->column = column;
    node->op = negated ? TN_NE : TN_EQ;
    node->values[0].u = 1;
    node->value_count = 1;
    *out = node;
done:
    return rc;
}

static int bind(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out);

static int bind_chain(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out)
{
    bool is_and = (in->kind == TN_PREDICATE_AND) != negated;
    tn_filter_node *node = NULL;
    int rc = TARN_OK;

    TN_TRY(make_node(b, is_and ? TN_FILTER_AND : TN_FILTER_OR, 0, &node));
    node->children = tn_arena_array(b->cx, b->arena, in->child_count, sizeof *node->children);
    if (node->children == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < in->child_count; i++)
        TN_TRY(bind(b, in->children[i], negated, &node->children[i]));
    node->child_count = in->child_count;
    *out = node;
done:
    return rc;
}

/* Whether a leaf names a column that a partial schema does not know. */
static bool is_unknown(const binder *b, const tn_predicate *in)
{
    size_t operands = in->kind == TN_PREDICATE_COMPARE ? 2 : in->operand_count > 0 ? 1 : 0;
    bool any = false;

    if (!b->partial)
        return false;
    for (size_t i = 0; i < operands; i++) {
        const tn_operand *operand = &in->operands[i];

        if (operand->part_count > 1)
            return true;
        if (operand->part_count == 0)
            continue;
        if (knows(b->schema, operand->parts[0]))
            any = true;
        else if (operand->kind == TN_OPERAND_NAME)
            return true;
    }
    /* "a" = "b": neither is known here, so either may be a column of the files. */
    return !any && operands > 0 &&
           in->operands[0].part_count + (operands > 1 ? in->operands[1].part_count : 0) > 0;
}

static int bind(binder *b, const tn_predicate *in, bool negated, tn_filter_node **out)
{
    tn_filter_node *node = NULL;
    int rc = TARN_OK;

    if (in->kind >= TN_PREDICATE_TEST && is_unknown(b, in))
        return make_const(b, TN_TRUE, out);
    switch (in->kind) {
    case TN_PREDICATE_AND:
    case TN_PREDICATE_OR:
        return bind_chain(b, in, negated, out);
    case TN_PREDICATE_NOT:
        return bind(b, in->children[0], !negated, out);
    case TN_PREDICATE_TEST:
        return bind_test(b, in, negated, out);
    case TN_PREDICATE_COMPARE:
        return bind_compare(b, in, negated, out);
    case TN_PREDICATE_IN:
        return bind_in(b, in, negated, out);
    case TN_PREDICATE_LIKE:
        return bind_like(b, in, negated, out);
    case TN_PREDICATE_IS_NULL:
        break;
    }
    TN_TRY(make_node(b, TN_FILTER_IS_NULL, 0, &node));
    TN_TRY(need_column(b, &in->operands[0], &node->column));
    node->negated = negated;
    *out = node;
done:
    return rc;
}

static int bind_root(binder *b, const tn_predicate *predicate, tn_filter *out)
{
    tn_filter_node *root = NULL;
    int rc = bind(b, predicate, false, &root);

    if (rc == TARN_OK)
        *out = (tn_filter){.root = root, .columns = b->columns, .column_count = b->count};
    return rc;
}

int tn_predicate_bind(tarn_cx *cx, const tn_predicate *predicate, const struct ArrowSchema *schema,
                      tn_arena *arena, tn_filter *out)
{
    binder b = {.cx = cx, .arena = arena, .schema = schema};

    assert(predicate != NULL);
    return bind_root(&b, predicate, out);
}

int tn_predicate_bind_partial(tarn_cx *cx, const tn_predicate *predicate,
                              const struct ArrowSchema *schema, tn_arena *arena, tn_filter *out)
{
    binder b = {.cx = cx, .arena = arena, .schema = schema, .partial = true};

    assert(predicate != NULL);
    return bind_root(&b, predicate, out);
}
