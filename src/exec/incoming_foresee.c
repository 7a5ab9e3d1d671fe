/* What merging will come to.
 * I1: each row counts once at each of its places, as exec/base_merge.c counts it. */
#include <assert.h>

#include "base/budget.h"
#include "batch/ordering.h"
#include "exec/incoming_stored.h"

typedef struct foreseeing {
    tn_incoming *in;
    tn_stored stored;
    bool ordered; /* stored rows may win */
    tn_incoming_outcome out;
    size_t extra; /* those of rows before are behind */
} foreseeing;

static void count(const foreseeing *f, uint64_t place, bool deletes)
{
    (deletes ? f->out.deleted : f->out.updated)[TN_PLACE_FILE(place)]++;
}

static void told(void *arg, const tn_asked *asked)
{
    const foreseeing *f = arg;

    if (asked->lost)
        f->out.unchanged[TN_PLACE_FILE(asked->place)]++;
    else
        count(f, asked->place, (f->in->facts.flags[asked->row] & TN_ROW_DELETE) != 0);
}

/* A row at one of its places; `gone`: what is stored there goes, whatever the row is. */
static int foresee_place(tarn_cx *cx, foreseeing *f, const tn_row_facts *facts, size_t i,
                         uint64_t place, bool gone)
{
    bool deletes = gone || (facts->flags[i] & TN_ROW_DELETE) != 0;
    bool none = false;

    if (f->ordered && deletes && !gone) {
        const tn_held *held = tn_incoming_held(f->in, (int64_t)i);

        none = tn_ordering_is_none(f->in->ordering, &held->array, (int64_t)i - held->first);
    }
    if (f->ordered && !gone && !none)
        return tn_stored_ask(cx, &f->stored, facts, i, place);
    count(f, place, deletes);
    return TARN_OK;
}

static int foresee_rows(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    foreseeing *f = arg;
    const tn_extra *extras = (const tn_extra *)(const void *)f->in->extras.data;
    size_t extra_count = f->in->extras.len / sizeof *extras;
    int rc = TARN_OK;

    assert(facts->first == 0);
    for (size_t i = 0; i < (size_t)facts->count; i++) {
        bool counts = facts->places != NULL && facts->places[i] != TN_NO_PLACE &&
                      (facts->flags[i] & TN_ROW_DROPPED) == 0;

        if (counts)
            TN_TRY(foresee_place(cx, f, facts, i, facts->places[i],
                                 (facts->flags[i] & TN_ROW_MOVED) != 0));
        for (; f->extra < extra_count && extras[f->extra].row <= i; f->extra++)
            if (counts && extras[f->extra].row == i)
                TN_TRY(foresee_place(cx, f, facts, i, extras[f->extra].place,
                                     extras[f->extra].deletes));
    }
done:
    return rc;
}

int tn_incoming_foresee(tarn_cx *cx, tn_incoming *in, bool event_time, tn_arena *arena,
                        tn_incoming_outcome *out, bool *known)
{
    foreseeing f = {.in = in, .ordered = event_time && in->ordering != NULL};
    int rc = TARN_OK;

    assert(in->plan == NULL);
    *known = !in->spilled;
    f.out.updated = tn_arena_array(cx, arena, in->file_count + 1, sizeof(int64_t));
    f.out.deleted = tn_arena_array(cx, arena, in->file_count + 1, sizeof(int64_t));
    f.out.unchanged = tn_arena_array(cx, arena, in->file_count + 1, sizeof(int64_t));
    if (f.out.updated == NULL || f.out.deleted == NULL || f.out.unchanged == NULL)
        return TARN_E_NOMEM;
    if (*known && in->rows != 0 && in->file_count != 0) {
        if (f.ordered)
            TN_TRY(tn_stored_open(cx, in, told, &f, &f.stored));
        TN_TRY(tn_incoming_each(cx, in, TN_FACTS_KEYS, foresee_rows, &f));
        if (f.ordered)
            TN_TRY(tn_stored_answer(cx, &f.stored));
    }
    *out = f.out;
done:
    tn_stored_clear(cx, &f.stored);
    return rc;
}
