/* A writer's schema and wanted columns as steps. The columns are found by name in each record;
 * what is not wanted is skipped, runs of fixed length in one step.
 *
 * I1: there is a step for each field of the writer, in its order, and a column for each field
 *     wanted, in theirs.
 * I2: recursion follows both schemas at once; the writer's depth is bounded where it is parsed. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "batch/type.h"
#include "batch/widen.h"
#include "codec/avro/avro_rows_parts.h"

/* A wanted column and what it becomes. */
typedef struct target {
    const struct ArrowSchema *wanted;
    struct ArrowSchema *natural;
    tn_avro_column *column;
} target;

typedef struct compiler {
    tarn_cx *cx;
    tn_arena *arena;
} compiler;

static int compile(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step);

void tn_avro_step_print(tn_buf *out, const tn_avro_step *step)
{
    if (step == NULL || step->up == NULL)
        return;
    tn_avro_step_print(out, step->up);
    if (out->len != 0)
        tn_buf_u8(out, '.');
    tn_buf_str(out, step->name);
}

static const char *kind_name(const tn_avro_type *type)
{
    static const char *const names[] = {
        "null",   "boolean", "int",  "long",   "float", "double", "bytes",
        "string", "fixed",   "enum", "record", "array", "map",    "union of several types"};

    return names[type->kind];
}

/* `natural` NULL: the writer's kind is named instead. */
static int refuse(compiler *c, const tn_avro_step *step, const tn_avro_type *type,
                  const struct ArrowSchema *natural, const struct ArrowSchema *wanted)
{
    tn_buf place = {0}, from = {0}, to = {0};
    int rc;

    tn_avro_step_print(&place, step);
    if (natural != NULL)
        tn_type_print(&from, natural);
    else
        tn_buf_text(&from, kind_name(type));
    tn_type_print(&to, wanted);
    rc = tn_fail(c->cx, TARN_E_UNSUPPORTED,
                 "field \"%.*s\": data of type %.*s cannot be read as %.*s",
                 TN_STR_ARG(tn_buf_view(&place)), TN_STR_ARG(tn_buf_view(&from)),
                 TN_STR_ARG(tn_buf_view(&to)));
    tn_buf_clear(&place);
    tn_buf_clear(&from);
    tn_buf_clear(&to);
    return rc;
}

/* ---- what is not wanted */

/* True when every datum of the type takes the same bytes, and how many. */
static bool constant_bytes(const tn_avro_type *type, uint64_t *bytes)
{
    static const uint8_t sizes[] = {
        [TN_AVRO_BOOLEAN] = 1, [TN_AVRO_FLOAT] = 4, [TN_AVRO_DOUBLE] = 8};
    uint64_t sum = 0, one;

    switch (type->kind) {
    case TN_AVRO_NULL:
        break;
    case TN_AVRO_BOOLEAN:
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        sum = sizes[type->kind];
        break;
    case TN_AVRO_FIXED:
        sum = type->size;
        break;
    case TN_AVRO_RECORD:
        for (size_t i = 0; i < type->field_count; i++) {
            if (!constant_bytes(type->fields[i].type, &one))
                return false;
            sum += one;
        }
        break;
    default:
        return false;
    }
    *bytes = sum;
    return sum <= UINT32_MAX;
}

static void compile_skip(const tn_avro_type *type, tn_avro_step *step)
{
    uint64_t bytes;

    step->type = type;
    step->op = TN_OP_SKIP;
    if (constant_bytes(type, &bytes)) {
        step->op = TN_OP_SKIP_BYTES;
        step->size = (uint32_t)bytes;
    }
}

/* ---- columns */

static int take_items(compiler *c, tn_avro_step *step, size_t count)
{
    step->items = tn_arena_array(c->cx, c->arena, count, sizeof *step->items);
    if (step->items == NULL)
        return TARN_E_NOMEM;
    step->item_count = count;
    for (size_t i = 0; i < count; i++) {
        step->items[i].up = step;
        step->items[i].null_branch = TN_AVRO_NO_UNION;
    }
    return TARN_OK;
}

static int take_children(compiler *c, tn_avro_column *column, size_t count)
{
    column->children = tn_arena_array(c->cx, c->arena, count, sizeof *column->children);
    if (column->children == NULL)
        return TARN_E_NOMEM;
    column->child_count = count;
    return TARN_OK;
}

/* The column of a field that the writer lacks. */
static int set_missing(compiler *c, target t)
{
    tn_type type;
    int rc = TARN_OK;

    TN_TRY(tn_type_of(c->cx, t.wanted, &type));
    TN_TRY(tn_field_copy(c->cx, t.wanted, t.natural));
    t.column->shape = TN_SHAPE_MISSING;
    t.column->width = type.width != 0 ? type.width : 8;
done:
    return rc;
}

static bool same_but_case(tn_str a, tn_str b)
{
    return a.len == b.len && a.len != 0 && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* The field that column `column` means without regard to case, if it is the only one, and the only
 * column that could mean it; field_count: none. */
static size_t find_other_case(const tn_avro_type *record, const struct ArrowSchema *columns,
                              int64_t column)
{
    tn_str name = tn_str_of(columns->children[column]->name);
    size_t found = record->field_count;

    for (int64_t i = 0; i < columns->n_children; i++)
        if (i != column && same_but_case(tn_str_of(columns->children[i]->name), name))
            return record->field_count;
    for (size_t i = 0; i < record->field_count; i++) {
        if (!same_but_case(record->fields[i].name, name))
            continue;
        if (found != record->field_count)
            return record->field_count;
        found = i;
    }
    return found;
}

/* The field of the writer's record that a column means, looked for from `hint` on; field_count:
 * none. Columns mostly come in the writer's order. */
static size_t find_field(const tn_avro_type *record, const struct ArrowSchema *columns,
                         int64_t column, size_t hint)
{
    tn_str name = tn_str_of(columns->children[column]->name);

    for (size_t n = 0; n < record->field_count; n++) {
        size_t i = hint + n < record->field_count ? hint + n : hint + n - record->field_count;

        if (tn_str_equal(record->fields[i].name, name))
            return i;
    }
    return find_other_case(record, columns, column);
}

/* Puts skips of fixed length that follow one another into one. */
static void join_skips(tn_avro_step *step)
{
    size_t n = 0;

    for (size_t i = 0; i < step->item_count; i++) {
        tn_avro_step *item = &step->items[i], *last = n > 0 ? &step->items[n - 1] : NULL;

        if (item->op == TN_OP_SKIP_BYTES && last != NULL && last->op == TN_OP_SKIP_BYTES &&
            item->size <= UINT32_MAX - last->size)
            last->size += item->size;
        else
            step->items[n++] = *item;
    }
    /* Steps below have been told where theirs were. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < step->items[i].item_count; j++)
            step->items[i].items[j].up = &step->items[i];
    step->item_count = n;
}

static int compile_fields(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    tarn_cx *cx = c->cx;
    size_t hint = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < type->field_count; i++)
        step->items[i].name = type->fields[i].name;
    for (int64_t i = 0; i < t.wanted->n_children; i++) {
        target field = {t.wanted->children[i], t.natural->children[i], &t.column->children[i]};
        size_t at = find_field(type, t.wanted, i, hint);

        if (at == type->field_count || type->fields[at].type->kind == TN_AVRO_NULL) {
            TN_TRY(set_missing(c, field));
            continue;
        }
        if (step->items[at].to != NULL)
            TN_FAIL(TARN_E_INVALID, "column \"%s\" is asked for twice", field.wanted->name);
        TN_TRY(compile(c, type->fields[at].type, field, &step->items[at]));
        hint = at + 1;
    }
    for (size_t i = 0; i < type->field_count; i++)
        if (step->items[i].to == NULL)
            compile_skip(type->fields[i].type, &step->items[i]);
    join_skips(step);
done:
    return rc;
}

static int compile_record(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    int rc = TARN_OK;

    if (strcmp(t.wanted->format, "+s") != 0)
        return refuse(c, step, type, NULL, t.wanted);
    step->op = TN_OP_RECORD;
    t.column->shape = TN_SHAPE_STRUCT;
    TN_TRY(take_items(c, step, type->field_count));
    TN_TRY(take_children(c, t.column, (size_t)t.wanted->n_children));
    TN_TRY(tn_field_init(c->cx, t.natural, "+s", tn_str_of(t.wanted->name),
                         tn_field_nullable(t.wanted), (size_t)t.wanted->n_children));
    TN_TRY(compile_fields(c, type, t, step));
done:
    return rc;
}

static bool is_list(const struct ArrowSchema *schema)
{
    return (strcmp(schema->format, "+l") == 0 || strcmp(schema->format, "+L") == 0) &&
           schema->n_children == 1;
}

static int compile_array(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    int rc = TARN_OK;

    if (!is_list(t.wanted))
        return refuse(c, step, type, NULL, t.wanted);
    step->op = TN_OP_ARRAY;
    t.column->shape = TN_SHAPE_LIST;
    TN_TRY(take_items(c, step, 1));
    TN_TRY(take_children(c, t.column, 1));
    TN_TRY(tn_field_init(c->cx, t.natural, "+l", tn_str_of(t.wanted->name),
                         tn_field_nullable(t.wanted), 1));
    step->items[0].name = TN_STR("[]");
    TN_TRY(compile(c, type->branches[0],
                   (target){t.wanted->children[0], t.natural->children[0], &t.column->children[0]},
                   &step->items[0]));
done:
    return rc;
}

static bool is_map(const struct ArrowSchema *schema)
{
    return strcmp(schema->format, "+m") == 0 && schema->n_children == 1 &&
           schema->children[0]->n_children == 2 &&
           (strcmp(schema->children[0]->children[0]->format, "u") == 0 ||
            strcmp(schema->children[0]->children[0]->format, "U") == 0);
}

static int compile_map(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    static const tn_avro_type text = {.kind = TN_AVRO_STRING, .least_bytes = 1};
    const struct ArrowSchema *pair;
    int rc = TARN_OK;

    if (!is_map(t.wanted))
        return refuse(c, step, type, NULL, t.wanted);
    pair = t.wanted->children[0];
    step->op = TN_OP_MAP;
    t.column->shape = TN_SHAPE_LIST;
    t.column->map = true;
    TN_TRY(take_items(c, step, 2));
    TN_TRY(take_children(c, t.column, 2));
    TN_TRY(tn_field_init(c->cx, t.natural, "+m", tn_str_of(t.wanted->name),
                         tn_field_nullable(t.wanted), 1));
    TN_TRY(tn_field_init(c->cx, t.natural->children[0], "+s", tn_str_of(pair->name), false, 2));
    for (size_t i = 0; i < 2; i++) {
        step->items[i].name = i == 0 ? TN_STR("key") : TN_STR("value");
        TN_TRY(compile(c, i == 0 ? &text : type->branches[0],
                       (target){pair->children[i], t.natural->children[0]->children[i],
                                &t.column->children[i]},
                       &step->items[i]));
    }
done:
    return rc;
}

/* ---- single values */

static void set_decimal(const tn_avro_type *type, tn_avro_step *step, char format[40])
{
    step->op = type->kind == TN_AVRO_FIXED ? TN_OP_DECIMAL_FIXED : TN_OP_DECIMAL;
    step->size = type->size;
    step->to->shape = TN_SHAPE_FIXED;
    step->to->width = type->precision > 38 ? 32 : 16;
    snprintf(format, 40, type->precision > 38 ? "d:%d,%d,256" : "d:%d,%d", (int)type->precision,
             (int)type->scale);
}

/* Operation, shape and Arrow format of a type without children. */
static void set_value(const tn_avro_type *type, tn_avro_step *step, char format[40])
{
    static const struct {
        enum tn_avro_op op;
        enum tn_avro_shape shape;
        uint32_t width;
        const char *format;
    } plain[] = {
        [TN_AVRO_BOOLEAN] = {TN_OP_BOOLEAN, TN_SHAPE_BITS, 1, "b"},
        [TN_AVRO_INT] = {TN_OP_INT, TN_SHAPE_FIXED, 4, "i"},
        [TN_AVRO_LONG] = {TN_OP_LONG, TN_SHAPE_FIXED, 8, "l"},
        [TN_AVRO_FLOAT] = {TN_OP_FLOAT, TN_SHAPE_FIXED, 4, "f"},
        [TN_AVRO_DOUBLE] = {TN_OP_DOUBLE, TN_SHAPE_FIXED, 8, "g"},
        [TN_AVRO_BYTES] = {TN_OP_BYTES, TN_SHAPE_BYTES, 0, "z"},
        [TN_AVRO_STRING] = {TN_OP_BYTES, TN_SHAPE_BYTES, 0, "u"},
        [TN_AVRO_ENUM] = {TN_OP_ENUM, TN_SHAPE_BYTES, 0, "u"},
    };
    static const char *const logical[] = {[TN_AVRO_DATE] = "tdD",
                                          [TN_AVRO_TIME_MILLIS] = "ttm",
                                          [TN_AVRO_TIME_MICROS] = "ttu",
                                          [TN_AVRO_TIMESTAMP_MILLIS] = "tsm:UTC",
                                          [TN_AVRO_TIMESTAMP_MICROS] = "tsu:UTC",
                                          [TN_AVRO_LOCAL_TIMESTAMP_MILLIS] = "tsm:",
                                          [TN_AVRO_LOCAL_TIMESTAMP_MICROS] = "tsu:"};
    bool number = type->kind == TN_AVRO_INT || type->kind == TN_AVRO_LONG;

    if (type->logical == TN_AVRO_DECIMAL && type->precision <= 76) {
        set_decimal(type, step, format);
        return;
    }
    if (type->kind == TN_AVRO_FIXED) {
        step->op = TN_OP_FIXED;
        step->size = step->to->width = type->size;
        step->to->shape = TN_SHAPE_FIXED;
        snprintf(format, 40, "w:%u", (unsigned)type->size);
        return;
    }
    step->op = plain[type->kind].op;
    step->to->shape = plain[type->kind].shape;
    step->to->width = plain[type->kind].width;
    snprintf(format, 40, "%s",
             number && type->logical != TN_AVRO_PLAIN && type->logical < TN_AVRO_DECIMAL
                 ? logical[type->logical]
                 : plain[type->kind].format);
}

static int compile_value(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    char format[40];
    int rc = TARN_OK;

    set_value(type, step, format);
    /* Bytes of fixed length are mostly wanted as bytes: no cast for them. */
    if (step->op == TN_OP_FIXED && strcmp(t.wanted->format, "z") == 0) {
        step->op = TN_OP_FIXED_AS_BYTES;
        t.column->shape = TN_SHAPE_BYTES;
        snprintf(format, sizeof format, "z");
    }
    TN_TRY(tn_field_init(c->cx, t.natural, format, tn_str_of(t.wanted->name),
                         tn_field_nullable(t.wanted), 0));
    if (!tn_widen_able(t.natural, t.wanted))
        TN_TRY(refuse(c, step, type, t.natural, t.wanted));
done:
    return rc;
}

/* ---- unions */

/* Each branch a field of its own, as Spark has it. */
static int compile_members(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    int64_t field = 0;
    int rc = TARN_OK;

    step->op = TN_OP_MEMBERS;
    t.column->shape = TN_SHAPE_STRUCT;
    TN_TRY(take_items(c, step, type->branch_count));
    TN_TRY(take_children(c, t.column, (size_t)t.wanted->n_children));
    TN_TRY(tn_field_init(c->cx, t.natural, "+s", tn_str_of(t.wanted->name),
                         tn_field_nullable(t.wanted), (size_t)t.wanted->n_children));
    for (size_t i = 0, member = 0; i < type->branch_count; i++) {
        tn_avro_step *item = &step->items[i];
        target sub;
        char name[24];

        item->type = type->branches[i];
        if (item->type->kind == TN_AVRO_NULL) {
            item->op = TN_OP_NULL;
            continue;
        }
        snprintf(name, sizeof name, "member%zu", member++);
        item->name = item->type->full.len != 0 ? item->type->full : TN_STR("member");
        if (field >= t.wanted->n_children || strcmp(t.wanted->children[field]->name, name) != 0) {
            compile_skip(item->type, item); /* not asked for */
            continue;
        }
        sub = (target){t.wanted->children[field], t.natural->children[field],
                       &t.column->children[field]};
        field++;
        TN_TRY(compile(c, item->type, sub, item));
    }
    for (; field < t.wanted->n_children; field++)
        TN_TRY(set_missing(c, (target){t.wanted->children[field], t.natural->children[field],
                                       &t.column->children[field]}));
done:
    return rc;
}

/* The branch whose values hold those of all others that are not null; NULL: there is none. */
static const tn_avro_type *widest_branch(const tn_avro_type *type)
{
    const tn_avro_type *widest = NULL;

    for (size_t i = 0; i < type->branch_count; i++) {
        const tn_avro_type *branch = type->branches[i];
        bool plain = branch->logical == TN_AVRO_PLAIN;

        if (branch->kind == TN_AVRO_NULL)
            continue;
        if (!plain || branch->kind < TN_AVRO_INT || branch->kind > TN_AVRO_DOUBLE)
            return NULL;
        if (widest == NULL || branch->kind > widest->kind)
            widest = branch;
        /* Integers and floating point numbers have no common type that loses nothing. */
        if ((branch->kind <= TN_AVRO_LONG) != (widest->kind <= TN_AVRO_LONG))
            return NULL;
    }
    return widest;
}

static int compile_union(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    const tn_avro_type *widest = widest_branch(type);
    int rc = TARN_OK;

    if (strcmp(t.wanted->format, "+s") == 0)
        return compile_members(c, type, t, step);
    if (widest == NULL)
        return refuse(c, step, type, NULL, t.wanted);
    TN_TRY(compile_value(c, widest, t, step));
    step->op = TN_OP_UNION;
    TN_TRY(take_items(c, step, type->branch_count));
    for (size_t i = 0; i < type->branch_count; i++) {
        tn_avro_step *item = &step->items[i];
        enum tn_avro_kind kind = type->branches[i]->kind;

        item->to = t.column;
        item->type = type->branches[i];
        item->op = kind == TN_AVRO_NULL ? TN_OP_NULL
                   : kind == TN_AVRO_INT
                       ? (widest->kind == TN_AVRO_INT ? TN_OP_INT : TN_OP_INT_AS_LONG)
                   : kind == TN_AVRO_LONG ? TN_OP_LONG
                   : kind == TN_AVRO_FLOAT
                       ? (widest->kind == TN_AVRO_FLOAT ? TN_OP_FLOAT : TN_OP_FLOAT_AS_DOUBLE)
                       : TN_OP_DOUBLE;
    }
done:
    return rc;
}

/* Unwraps a union with null, or of one type. */
static const tn_avro_type *unwrap(const tn_avro_type *type, int *null_branch)
{
    *null_branch = TN_AVRO_NO_UNION;
    if (type->kind != TN_AVRO_UNION)
        return type;
    if (type->branch_count == 1 && type->branches[0]->kind != TN_AVRO_NULL) {
        *null_branch = TN_AVRO_NO_NULL;
        return type->branches[0];
    }
    for (int i = 0; type->branch_count == 2 && i < 2; i++) {
        if (type->branches[i]->kind == TN_AVRO_NULL &&
            type->branches[1 - i]->kind != TN_AVRO_NULL) {
            *null_branch = i;
            return type->branches[1 - i];
        }
    }
    return type;
}

static int compile(compiler *c, const tn_avro_type *type, target t, tn_avro_step *step)
{
    type = unwrap(type, &step->null_branch);
    step->to = t.column;
    step->type = type;
    t.column->nullable = tn_field_nullable(t.wanted);
    switch (type->kind) {
    case TN_AVRO_RECORD:
        return compile_record(c, type, t, step);
    case TN_AVRO_ARRAY:
        return compile_array(c, type, t, step);
    case TN_AVRO_MAP:
        return compile_map(c, type, t, step);
    case TN_AVRO_UNION:
        return compile_union(c, type, t, step);
    case TN_AVRO_NULL: /* items of an array */
        step->op = TN_OP_NULL;
        return set_missing(c, t);
    default:
        return compile_value(c, type, t, step);
    }
}

int tn_avro_rows_compile(tarn_cx *cx, tn_avro_rows *rows, const tn_avro_type *writer)
{
    compiler c = {.cx = cx, .arena = &rows->arena};
    int rc = TARN_OK;

    if (writer->kind != TN_AVRO_RECORD || strcmp(rows->wanted.format, "+s") != 0)
        TN_FAIL(TARN_E_UNSUPPORTED, "the Avro schema of rows has to be a record");
    rows->root.null_branch = TN_AVRO_NO_UNION;
    TN_TRY(compile(&c, writer, (target){&rows->wanted, &rows->natural, &rows->top}, &rows->root));
done:
    return rc;
}
