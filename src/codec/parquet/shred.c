/* Rows of Arrow arrays to entries of a leaf, field by field from the top.
 *
 * The state before a field is a list of entries (def, rep). Those that have come so far are live:
 * their def is `def`, the others ended above. The live ones stand, in order, for slots of the
 * field's array: consecutive ones from `base` on, or those in `index`.
 *
 * I1: an entry is live exactly when its definition level is `def`: an optional field raises the
 * live ones that are present, a list those that have items, and `def` rises with them. I2: while
 * every entry is live, the levels are not written down (`all_live`); while no list has been met,
 * there are no repetition levels. */
#include "codec/parquet/shred.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"

typedef struct state {
    tarn_cx *cx;
    tn_shredder *own;
    const tn_leaf *leaf;
    int64_t position;
    int64_t entries;
    bool all_live, repeated;
    unsigned level_turn, index_turn; /* which of the two buffers is current */
    uint16_t def, rep;
    int64_t live;
    bool indexed;
    int64_t base;
} state;

void tn_shredder_clear(tn_shredder *shredder)
{
    for (int i = 0; i < 2; i++) {
        tn_buf_clear(&shredder->def[i]);
        tn_buf_clear(&shredder->rep[i]);
        tn_buf_clear(&shredder->index[i]);
    }
    tn_buf_clear(&shredder->values);
}

static void *room(tn_buf *buf, int64_t count, size_t width)
{
    tn_buf_reset(buf);
    return tn_buf_extend(buf, (size_t)count * width);
}

static uint16_t *levels_of(tn_buf *pair, unsigned turn)
{
    return (uint16_t *)(void *)pair[turn].data;
}

static int64_t *index_of(const state *s)
{
    return (int64_t *)(void *)s->own->index[s->index_turn].data;
}

static inline int64_t live_slot(const state *s, const int64_t *index, int64_t k)
{
    return index != NULL ? index[k] : s->base + k;
}

/* Writes the definition levels down (I2). */
static int want_levels(state *s)
{
    uint16_t *def;

    if (!s->all_live)
        return TARN_OK;
    def = room(&s->own->def[s->level_turn], s->entries, sizeof *def);
    if (def == NULL)
        return tn_fail_memory(s->cx);
    for (int64_t i = 0; i < s->entries; i++)
        def[i] = s->def;
    s->all_live = false;
    return TARN_OK;
}

/* The row, counted from `position`, of the k-th live entry. */
static int64_t row_of(const state *s, int64_t k)
{
    const uint16_t *def = levels_of(s->own->def, s->level_turn);
    const uint16_t *rep = levels_of(s->own->rep, s->level_turn);
    int64_t row = -1;

    for (int64_t e = 0; e < s->entries; e++) {
        row += !s->repeated || rep[e] == 0;
        if ((s->all_live || def[e] == s->def) && k-- == 0)
            break;
    }
    return s->position + row;
}

static bool slot_valid(const struct ArrowArray *array, const tn_shred_step *step, int64_t slot)
{
    const struct ArrowArray *values = array->dictionary;
    int64_t at = array->offset + slot, index;

    if (array->null_count != 0 && !tn_bit(array->buffers[0], at))
        return false;
    if (!step->dictionary || values->null_count == 0 || values->buffers[0] == NULL)
        return true;
    switch (step->index.kind) {
    case TN_FORMAT_INT8:
    case TN_FORMAT_UINT8:
        index = ((const uint8_t *)array->buffers[1])[at];
        break;
    case TN_FORMAT_INT16:
    case TN_FORMAT_UINT16:
        index = ((const uint16_t *)array->buffers[1])[at];
        break;
    case TN_FORMAT_INT32:
    case TN_FORMAT_UINT32:
        index = ((const uint32_t *)array->buffers[1])[at];
        break;
    default:
        index = ((const int64_t *)array->buffers[1])[at];
    }
    return tn_bit(values->buffers[0], values->offset + index);
}

/* Whether slots may be null at all; a bitmap that is all ones counts as none. */
static bool may_be_null(const state *s, const struct ArrowArray *array, const tn_shred_step *step)
{
    if (step->format.kind == TN_FORMAT_NULL)
        return true;
    if (step->dictionary && array->dictionary->null_count != 0 &&
        array->dictionary->n_buffers > 0 && array->dictionary->buffers[0] != NULL)
        return true;
    if (array->null_count == 0 || array->n_buffers == 0 || array->buffers[0] == NULL)
        return false;
    return s->indexed ||
           tn_bits_count(array->buffers[0], array->offset + s->base, s->live) != s->live;
}

/* Ends the live entries whose slot is null. */
static int pass_optional(state *s, const struct ArrowArray *array, const tn_shred_step *step)
{
    const int64_t *index = s->indexed ? index_of(s) : NULL;
    bool all_null = step->format.kind == TN_FORMAT_NULL;
    uint16_t *def;
    int64_t *kept;
    int64_t k = 0, left = 0;
    int rc;

    if (!may_be_null(s, array, step)) {
        def = levels_of(s->own->def, s->level_turn);
        for (int64_t e = 0; !s->all_live && e < s->entries; e++)
            def[e] = (uint16_t)(def[e] + (def[e] == s->def));
        s->def++;
        return TARN_OK;
    }
    rc = want_levels(s);
    if (rc != TARN_OK)
        return rc;
    def = levels_of(s->own->def, s->level_turn);
    kept = room(&s->own->index[s->index_turn ^ 1], s->live, sizeof *kept);
    if (kept == NULL)
        return tn_fail_memory(s->cx);
    for (int64_t e = 0; e < s->entries; e++) {
        int64_t slot;

        if (def[e] != s->def)
            continue;
        slot = live_slot(s, index, k++);
        if (all_null || !slot_valid(array, step, slot))
            continue;
        def[e]++;
        kept[left++] = slot;
    }
    s->index_turn ^= 1;
    s->indexed = true;
    s->live = left;
    s->def++;
    return TARN_OK;
}

static int pass_required(state *s, const struct ArrowArray *array, const tn_shred_step *step)
{
    const int64_t *index = s->indexed ? index_of(s) : NULL;

    if (!may_be_null(s, array, step))
        return TARN_OK;
    for (int64_t k = 0; k < s->live; k++)
        if (step->format.kind == TN_FORMAT_NULL || !slot_valid(array, step, live_slot(s, index, k)))
            return tn_fail(s->cx, TARN_E_DATA,
                           "column \"%.*s\": row %" PRId64
                           " holds a null where the schema allows none",
                           TN_STR_ARG(s->leaf->dotted), row_of(s, k));
    return TARN_OK;
}

static inline void list_range(const struct ArrowArray *array, const tn_format *format, int64_t slot,
                              int64_t *first, int64_t *count)
{
    int64_t at = array->offset + slot;

    switch (format->kind) {
    case TN_FORMAT_LIST:
    case TN_FORMAT_MAP:
        *first = ((const int32_t *)array->buffers[1])[at];
        *count = ((const int32_t *)array->buffers[1])[at + 1] - *first;
        break;
    case TN_FORMAT_LARGE_LIST:
        *first = ((const int64_t *)array->buffers[1])[at];
        *count = ((const int64_t *)array->buffers[1])[at + 1] - *first;
        break;
    case TN_FORMAT_LIST_VIEW:
        *first = ((const int32_t *)array->buffers[1])[at];
        *count = ((const int32_t *)array->buffers[2])[at];
        break;
    case TN_FORMAT_LARGE_LIST_VIEW:
        *first = ((const int64_t *)array->buffers[1])[at];
        *count = ((const int64_t *)array->buffers[2])[at];
        break;
    default:
        *first = at * format->size;
        *count = format->size;
    }
}

typedef struct expansion {
    uint16_t *def, *rep;
    int64_t *index;
    int64_t entries, live;
} expansion;

static int size_expansion(state *s, const struct ArrowArray *array, const tn_format *format,
                          expansion *out)
{
    const int64_t *index = s->indexed ? index_of(s) : NULL;
    int64_t entries = s->entries, items = 0;
    unsigned turn = s->level_turn ^ 1;

    for (int64_t k = 0; k < s->live; k++) {
        int64_t first, count;

        list_range(array, format, live_slot(s, index, k), &first, &count);
        entries += count > 1 ? count - 1 : 0;
        items += count;
        /* List views may overlap, so their items are not bound by the child's length. */
        if (entries > INT64_C(1) << 31)
            return tn_fail(s->cx, TARN_E_LIMIT,
                           "column \"%.*s\": the lists near row %" PRId64
                           " hold more than 2^31 items; write smaller batches",
                           TN_STR_ARG(s->leaf->dotted), s->position);
    }
    out->def = room(&s->own->def[turn], entries, sizeof *out->def);
    out->rep = room(&s->own->rep[turn], entries, sizeof *out->rep);
    out->index = room(&s->own->index[s->index_turn ^ 1], items, sizeof *out->index);
    if (out->def == NULL || out->rep == NULL || out->index == NULL)
        return tn_fail_memory(s->cx);
    return TARN_OK;
}

/* Every live entry becomes one entry per item, or ends where its list is empty. */
static int pass_list(state *s, const struct ArrowArray *array, const tn_format *format)
{
    const int64_t *index = s->indexed ? index_of(s) : NULL;
    const uint16_t *def = levels_of(s->own->def, s->level_turn);
    const uint16_t *rep = levels_of(s->own->rep, s->level_turn);
    uint16_t item_rep = (uint16_t)(s->rep + 1), item_def = (uint16_t)(s->def + 1);
    expansion x = {0};
    int64_t k = 0;
    bool gapless = true;
    int rc = size_expansion(s, array, format, &x);

    if (rc != TARN_OK)
        return rc;
    for (int64_t e = 0; e < s->entries; e++) {
        bool live = s->all_live || def[e] == s->def;
        int64_t first = 0, count = 0;

        if (live)
            list_range(array, format, live_slot(s, index, k++), &first, &count);
        x.rep[x.entries] = s->repeated ? rep[e] : 0;
        if (count == 0) {
            x.def[x.entries++] = live ? s->def : def[e];
            continue;
        }
        gapless = gapless && (x.live == 0 || first == x.index[x.live - 1] + 1);
        for (int64_t j = 0; j < count; j++) {
            x.def[x.entries] = item_def;
            if (j != 0)
                x.rep[x.entries] = item_rep;
            x.entries++;
            x.index[x.live++] = first + j;
        }
    }
    s->level_turn ^= 1;
    s->index_turn ^= 1;
    s->all_live = x.entries == x.live;
    s->repeated = true;
    s->entries = x.entries;
    s->live = x.live;
    s->def = item_def;
    s->rep = item_rep;
    s->indexed = !gapless;
    s->base = gapless && x.live != 0 ? x.index[0] : 0;
    return TARN_OK;
}

/* A struct's children are addressed beyond its own offset. */
static void pass_struct(state *s, const struct ArrowArray *array)
{
    int64_t *index = s->indexed ? index_of(s) : NULL;

    s->base += array->offset;
    for (int64_t k = 0; index != NULL && array->offset != 0 && k < s->live; k++)
        index[k] += array->offset;
}

#define RESOLVE(type)                                                                              \
    do {                                                                                           \
        for (int64_t k = 0; k < s->live; k++)                                                      \
            to[k] = (int64_t)((const type *)                                                       \
                                  array->buffers[1])[array->offset + live_slot(s, index, k)];      \
    } while (0)

/* Slots of a dictionary-encoded array become slots of its dictionary. */
static int pass_dictionary(state *s, const struct ArrowArray *array, const tn_format *format)
{
    const int64_t *index = s->indexed ? index_of(s) : NULL;
    int64_t *to = room(&s->own->index[s->index_turn ^ 1], s->live, sizeof *to);

    if (to == NULL)
        return tn_fail_memory(s->cx);
    switch (format->kind) {
    case TN_FORMAT_INT8:
        RESOLVE(int8_t);
        break;
    case TN_FORMAT_UINT8:
        RESOLVE(uint8_t);
        break;
    case TN_FORMAT_INT16:
        RESOLVE(int16_t);
        break;
    case TN_FORMAT_UINT16:
        RESOLVE(uint16_t);
        break;
    case TN_FORMAT_INT32:
        RESOLVE(int32_t);
        break;
    case TN_FORMAT_UINT32:
        RESOLVE(uint32_t);
        break;
    default:
        RESOLVE(int64_t);
    }
    s->index_turn ^= 1;
    s->indexed = true;
    return TARN_OK;
}

static int pass_step(state *s, const struct ArrowArray *array, const tn_shred_step *step)
{
    int rc = step->nullable ? pass_optional(s, array, step) : pass_required(s, array, step);

    if (rc != TARN_OK)
        return rc;
    if (step->dictionary)
        return pass_dictionary(s, array, &step->index);
    switch (step->format.kind) {
    case TN_FORMAT_STRUCT:
        pass_struct(s, array);
        return TARN_OK;
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
    case TN_FORMAT_LIST_VIEW:
    case TN_FORMAT_LARGE_LIST_VIEW:
    case TN_FORMAT_FIXED_LIST:
    case TN_FORMAT_MAP:
        return pass_list(s, array, &step->format);
    default:
        return TARN_OK;
    }
}

int tn_shred_leaf(tarn_cx *cx, tn_shredder *shredder, const tn_leaf *leaf,
                  const tn_shred_path *path, const struct ArrowArray *batch, int64_t first,
                  int64_t rows, int64_t position, tn_leaf_batch *out)
{
    state s = {.cx = cx,
               .own = shredder,
               .leaf = leaf,
               .position = position,
               .entries = rows,
               .all_live = true,
               .live = rows,
               .base = batch->offset + first};
    const struct ArrowArray *array = batch;
    tn_leaf_batch result = {.rows = rows};
    int64_t bad;
    int rc = TARN_OK;

    for (size_t i = 0; i < path->count; i++) {
        array = array->children[path->steps[i].child];
        TN_TRY(pass_step(&s, array, &path->steps[i]));
    }
    assert(s.def == leaf->max_def && s.rep == leaf->max_rep);
    if (path->steps[path->count - 1].dictionary)
        array = array->dictionary;
    TN_TRY(tn_shred_values(cx, leaf, path, array, s.indexed ? index_of(&s) : NULL, s.base, s.live,
                           &shredder->values, &result.values, &bad));
    if (bad >= 0)
        TN_FAIL(TARN_E_DATA,
                "column \"%.*s\": the value in row %" PRId64 " does not fit its Parquet type",
                TN_STR_ARG(leaf->dotted), row_of(&s, bad));
    result.entries = s.entries;
    result.all_present = s.all_live;
    result.def = s.all_live ? NULL : levels_of(shredder->def, s.level_turn);
    result.rep = s.repeated ? levels_of(shredder->rep, s.level_turn) : NULL;
    *out = result;
done:
    return rc;
}
