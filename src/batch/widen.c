/* Columns as their table has them now: types are widened, fields are found by name.
 * I1: nulls stay null, and no row is added or lost.
 * I2: an array that needs no change is moved, not copied. */
#include "batch/widen.h"

#include <assert.h>
#include <string.h>

#include "batch/widen_value.h"

typedef struct change {
    const struct ArrowSchema *from, *to;
} change;

static bool is_list(enum tn_type_kind kind)
{
    return kind == TN_TYPE_LIST || kind == TN_TYPE_LARGE_LIST || kind == TN_TYPE_MAP;
}

/* ---- whether there is a way */

static bool able(const change *c);

static bool able_children(const change *c, bool by_name)
{
    for (int64_t i = 0; i < c->to->n_children; i++) {
        int64_t at = by_name ? tn_unify_match(c->to, i, c->from) : i;
        change child;

        if (at < 0)
            continue;
        child = (change){c->from->children[at], c->to->children[i]};
        if (!able(&child))
            return false;
    }
    return true;
}

static bool able(const change *c)
{
    tarn_cx scratch = {0};
    tn_type from, to;

    if (tn_unify_same(c->from, c->to))
        return true;
    if (tn_type_of(&scratch, c->from, &from) != TARN_OK ||
        tn_type_of(&scratch, c->to, &to) != TARN_OK || from.dictionary || to.dictionary)
        return false;
    if (from.kind == to.kind && (is_list(to.kind) || to.kind == TN_TYPE_STRUCT))
        return able_children(c, to.kind == TN_TYPE_STRUCT);
    if (from.kind == TN_TYPE_LIST && to.kind == TN_TYPE_LARGE_LIST)
        return able_children(c, false);
    return tn_widen_way_of(&from, &to) != TN_WIDEN_NONE;
}

bool tn_widen_able(const struct ArrowSchema *from, const struct ArrowSchema *to)
{
    return able(&(change){from, to});
}

bool tn_widen_keeps(const struct ArrowSchema *from, const struct ArrowSchema *to)
{
    tarn_cx scratch = {0};
    tn_type a, b;

    if (tn_unify_same(from, to))
        return true;
    /* Dictionaries and foreign types go another way, which changes no value. */
    if (tn_type_of(&scratch, from, &a) != TARN_OK || tn_type_of(&scratch, to, &b) != TARN_OK ||
        a.dictionary)
        return true;
    if (a.kind == b.kind && (is_list(a.kind) || a.kind == TN_TYPE_STRUCT)) {
        for (int64_t i = 0; i < to->n_children; i++) {
            int64_t at = a.kind == TN_TYPE_STRUCT ? tn_unify_match(to, i, from) : i;

            if (at >= 0 && !tn_widen_keeps(from->children[at], to->children[i]))
                return false;
        }
        return true;
    }
    switch (tn_widen_way_of(&a, &b)) {
    case TN_WIDEN_NONE:
    case TN_WIDEN_UNIFY:
        return true;
    case TN_WIDEN_REAL: /* a float's double is that of its text */
        return a.kind != TN_TYPE_FLOAT && a.kind != TN_TYPE_INT64;
    default:
        return false;
    }
}

/* ---- casting */

/* All values of an array at every depth that allows no null are there. */
static void forbid_nulls(const struct ArrowSchema *field, struct ArrowArray *array)
{
    if (!tn_field_nullable(field) && array->null_count != 0 && array->buffers[0] != NULL) {
        tn_bits_fill((uint8_t *)(uintptr_t)array->buffers[0], 0, array->length, true);
        array->null_count = 0;
    }
    for (int64_t i = 0; i < array->n_children; i++)
        forbid_nulls(field->children[i], array->children[i]);
}

int tn_widen_missing(tarn_cx *cx, const struct ArrowSchema *field, int64_t rows,
                     struct ArrowArray *out)
{
    int rc = tn_rows_nulls(cx, field, rows, out);

    if (rc == TARN_OK && field->dictionary == NULL)
        forbid_nulls(field, out);
    return rc;
}

static int cast(tarn_cx *cx, const change *c, struct ArrowArray *array);

/* Fields by name; the rows before the offset come along, since children are addressed from 0. */
static int cast_struct(tarn_cx *cx, const change *c, struct ArrowArray *array,
                       struct ArrowArray *out)
{
    int64_t whole = array->offset + array->length;
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, 1, (size_t)c->to->n_children));
    out->offset = array->offset;
    if (array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != NULL) {
        TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)whole + 7) / 8, &bits));
        memcpy(bits, array->buffers[0], ((size_t)whole + 7) / 8);
        out->null_count = array->null_count;
    }
    for (int64_t i = 0; i < c->to->n_children; i++) {
        int64_t at = tn_unify_match(c->to, i, c->from);

        if (at < 0) {
            TN_TRY(tn_widen_missing(cx, c->to->children[i], whole, out->children[i]));
            continue;
        }
        TN_TRY(cast(cx, &(change){c->from->children[at], c->to->children[i]}, array->children[at]));
        tn_array_move(array->children[at], out->children[i]);
    }
done:
    return rc;
}

/* The elements alone; of a map its entries, a struct of key and value whatever they are called. */
static int cast_elements(tarn_cx *cx, const change *c, bool map, struct ArrowArray *array)
{
    int rc = TARN_OK;

    if (!map)
        return cast(cx, &(change){c->from->children[0], c->to->children[0]}, array->children[0]);
    for (int64_t i = 0; i < 2; i++)
        TN_TRY(cast(cx,
                    &(change){c->from->children[0]->children[i], c->to->children[0]->children[i]},
                    array->children[0]->children[i]));
done:
    return rc;
}

/* A list of 32-bit offsets, its elements cast, as one of 64-bit ones. */
static int enlarge_list(tarn_cx *cx, struct ArrowArray *array, struct ArrowArray *out)
{
    const int32_t *from = array->buffers[1];
    int64_t *to;
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, array->length, 2, 1));
    if (array->null_count != 0 && array->buffers[0] != NULL) {
        TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)array->length + 7) / 8, &bits));
        tn_bits_copy(bits, 0, array->buffers[0], array->offset, array->length);
        out->null_count = array->null_count;
    }
    TN_TRY(tn_array_make_buffer(cx, out, 1, 8 * ((size_t)array->length + 1), &to));
    for (int64_t i = 0; i <= array->length; i++)
        to[i] = from[array->offset + i];
    tn_array_move(array->children[0], out->children[0]);
done:
    return rc;
}

static int cast(tarn_cx *cx, const change *c, struct ArrowArray *array)
{
    struct ArrowArray made = {0};
    enum tn_widen_way way;
    tn_type from, to;
    int rc = TARN_OK;

    assert(array->release != NULL);
    if (tn_unify_same(c->from, c->to))
        return TARN_OK;
    TN_TRY(tn_type_of(cx, c->from, &from));
    TN_TRY(tn_type_of(cx, c->to, &to));
    if (from.dictionary || to.dictionary)
        return tn_unify_cast(cx, c->from, c->to, array);
    if (from.kind == to.kind && is_list(to.kind))
        return cast_elements(cx, c, to.kind == TN_TYPE_MAP, array);
    way = tn_widen_way_of(&from, &to);
    if (from.kind == TN_TYPE_STRUCT && to.kind == TN_TYPE_STRUCT) {
        TN_TRY(cast_struct(cx, c, array, &made));
    } else if (from.kind == TN_TYPE_LIST && to.kind == TN_TYPE_LARGE_LIST) {
        TN_TRY(cast_elements(cx, c, false, array));
        TN_TRY(enlarge_list(cx, array, &made));
    } else if (way > TN_WIDEN_UNIFY) {
        TN_TRY(tn_widen_value(cx, way, &from, &to, c->to->name, array, &made));
    } else {
        return tn_unify_cast(cx, c->from, c->to, array);
    }
    tn_array_release(array);
    tn_array_move(&made, array);
done:
    tn_array_release(&made);
    return rc;
}

int tn_widen_cast(tarn_cx *cx, const struct ArrowSchema *from, const struct ArrowSchema *to,
                  struct ArrowArray *array)
{
    return cast(cx, &(change){from, to}, array);
}
