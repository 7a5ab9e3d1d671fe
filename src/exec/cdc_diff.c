/* Compares the rows of a file group before and after a commit.
 *
 *   before   k1 k2 k3 k4 k5            both are read once, in step
 *   after    k1 k3 k4 k5 k6
 *               ^ k2 and k3 are no pair: each waits for its like, which comes a row later, or never
 *
 * Both versions have the rows of the same base file, or of one that was made from it, in one order;
 * so what waits is little: what was deleted, inserted, or stands between. What still waits at the
 * end has no like: before it is a delete, after it an insert.
 *
 * I1: a pair is an update unless all columns but the file's name are the same.
 * I2: a row of either version is in exactly one change, or in none.
 * I3: rows that wait are held against the memory budget. */
#include "exec/cdc_diff.h"

#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/map.h"

typedef struct waiting_row {
    tn_str key;
    tn_cdc_text text; /* cleared once it met its like */
} waiting_row;

/* Rows of one version without a like so far. */
typedef struct waiting {
    tn_map places; /* key -> index + 1; 0: met */
    tn_arena arena;
    waiting_row *rows;
    size_t count, cap, left, given; /* left: that wait still; given: handed out at the end */
    uint64_t bytes;
} waiting;

enum { BEFORE, AFTER, SIDES };

struct tn_cdc_diff {
    tn_cdc_source sources[SIDES];
    waiting waits[SIDES];
    tn_cdc_image image;
    tn_type *types; /* of the columns */
    const struct ArrowSchema *columns;
    tn_cdc_text texts[SIDES]; /* of the rows at hand */
    tarn_cx home;             /* whose budget holds what waits */
};

int tn_cdc_diff_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task, tn_cdc_diff **out)
{
    tn_cdc_diff *diff = tn_calloc(cx, 1, sizeof *diff);
    const tn_scan_task *scans[SIDES] = {task->before, task->after};
    int rc = TARN_OK;

    if (diff == NULL)
        return TARN_E_NOMEM;
    tn_cx_child(&diff->home, cx);
    diff->columns = task->columns;
    diff->types = tn_calloc(cx, (size_t)task->columns->n_children + 1, sizeof *diff->types);
    if (diff->types == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < task->columns->n_children; i++)
        TN_TRY(tn_type_of(cx, task->columns->children[i], &diff->types[i]));
    TN_TRY(tn_cdc_image_open(cx, task->columns, true, &diff->image));
    for (int side = 0; side < SIDES; side++) {
        TN_TRY(tn_cdc_source_open(cx, store, task, scans[side], &diff->sources[side]));
        TN_TRY(tn_cdc_source_next(cx, &diff->sources[side]));
    }
    *out = diff;
    diff = NULL;
done:
    if (diff != NULL)
        tn_cdc_diff_close(diff);
    return rc;
}

static int print(tarn_cx *cx, tn_cdc_diff *d, int side)
{
    const tn_cdc_source *s = &d->sources[side];

    return tn_cdc_image_print(cx, &d->image, &s->batch, s->at, &d->texts[side]);
}

/* ---- rows that wait */

static uint64_t cost_of(const waiting_row *row)
{
    return row->key.len + row->text.text.cap + sizeof *row + 32;
}

static int wait_for(tarn_cx *cx, tn_cdc_diff *d, int side)
{
    waiting *w = &d->waits[side];
    waiting_row row = {.key = d->sources[side].key};
    size_t *place;
    bool added;
    int rc = TARN_OK;

    TN_TRY(
        tn_cdc_image_print(cx, &d->image, &d->sources[side].batch, d->sources[side].at, &row.text));
    TN_TRY(tn_budget_take(cx, cost_of(&row), "comparing two versions of a file group"));
    w->bytes += cost_of(&row);
    TN_TRY(tn_arena_keep(cx, &w->arena, &row.key));
    TN_TRY(tn_grow(cx, &w->rows, w->count, &w->cap, sizeof *w->rows));
    place = tn_map_add(cx, &w->places, row.key, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    w->rows[w->count++] = row;
    row.text = (tn_cdc_text){0};
    *place = w->count;
    w->left++;
done:
    tn_cdc_text_clear(&row.text);
    return rc;
}

/* The row of `side` that has waited for the one at hand of the other side; NULL: none has. */
static waiting_row *met(tn_cdc_diff *d, int side)
{
    waiting *w = &d->waits[side];
    size_t *place;
    waiting_row *row;

    if (w->left == 0)
        return NULL;
    place = tn_map_find(&w->places, d->sources[1 - side].key);
    if (place == NULL || *place == 0)
        return NULL;
    row = &w->rows[*place - 1];
    *place = 0;
    w->left--;
    return row;
}

static void forget(tn_cdc_diff *d, int side, waiting_row *row)
{
    uint64_t cost = cost_of(row);

    tn_cdc_text_clear(&row->text);
    row->text = (tn_cdc_text){0};
    tn_budget_give(&d->home, cost);
    d->waits[side].bytes -= cost;
}

/* ---- pairs */

static int add_pair(tarn_cx *cx, tn_cdc_out *out, const tn_cdc_text *before,
                    const tn_cdc_text *after)
{
    return tn_cdc_text_equal(before, after) ? TARN_OK
                                            : tn_cdc_out_add(cx, out, TN_STR("u"), before, after);
}

/* The row at hand of `side` and its like, which waited on the other one. */
static int add_met(tarn_cx *cx, tn_cdc_diff *d, int side, waiting_row *like, tn_cdc_out *out)
{
    int rc = TARN_OK;

    TN_TRY(print(cx, d, side));
    TN_TRY(side == AFTER ? add_pair(cx, out, &like->text, &d->texts[AFTER])
                         : add_pair(cx, out, &d->texts[BEFORE], &like->text));
    forget(d, 1 - side, like);
    TN_TRY(tn_cdc_source_next(cx, &d->sources[side]));
done:
    return rc;
}

/* Without printing: most rows of a file did not change. */
static bool same_rows(tarn_cx *cx, const tn_cdc_diff *d)
{
    const tn_cdc_source *a = &d->sources[BEFORE], *b = &d->sources[AFTER];

    for (int64_t i = 0; i < d->columns->n_children; i++) {
        const struct ArrowArray *x = a->batch.children[i], *y = b->batch.children[i];

        if (i != TN_CDC_FILE_COLUMN && !tn_rows_equal(cx, &d->types[i], d->columns->children[i], x,
                                                      x->offset + a->batch.offset + a->at, y,
                                                      y->offset + b->batch.offset + b->at))
            return false;
    }
    return true;
}

static int add_heads(tarn_cx *cx, tn_cdc_diff *d, tn_cdc_out *out)
{
    int rc = TARN_OK;

    if (!same_rows(cx, d)) {
        TN_TRY(print(cx, d, BEFORE));
        TN_TRY(print(cx, d, AFTER));
        TN_TRY(add_pair(cx, out, &d->texts[BEFORE], &d->texts[AFTER]));
    }
    TN_TRY(tn_cdc_source_next(cx, &d->sources[BEFORE]));
    TN_TRY(tn_cdc_source_next(cx, &d->sources[AFTER]));
done:
    return rc;
}

/* ---- rows without a like */

static int add_alone(tarn_cx *cx, tn_cdc_out *out, int side, const tn_cdc_text *text)
{
    return side == BEFORE ? tn_cdc_out_add(cx, out, TN_STR("d"), text, NULL)
                          : tn_cdc_out_add(cx, out, TN_STR("i"), NULL, text);
}

/* The other side has no more rows, and none that waits for this one. */
static int add_head(tarn_cx *cx, tn_cdc_diff *d, int side, tn_cdc_out *out)
{
    int rc = TARN_OK;

    TN_TRY(print(cx, d, side));
    TN_TRY(add_alone(cx, out, side, &d->texts[side]));
    TN_TRY(tn_cdc_source_next(cx, &d->sources[side]));
done:
    return rc;
}

/* One step while there are rows. */
static int step(tarn_cx *cx, tn_cdc_diff *d, tn_cdc_out *out)
{
    const tn_cdc_source *s = d->sources;
    waiting_row *like;
    int rc = TARN_OK;

    for (int side = 0; side < SIDES; side++) {
        like = s[side].ended ? NULL : met(d, 1 - side);
        if (like != NULL)
            return add_met(cx, d, side, like, out);
    }
    if (s[BEFORE].ended || s[AFTER].ended)
        return add_head(cx, d, s[BEFORE].ended ? AFTER : BEFORE, out);
    if (tn_str_equal(s[BEFORE].key, s[AFTER].key))
        return add_heads(cx, d, out);
    for (int side = 0; side < SIDES; side++) {
        TN_TRY(wait_for(cx, d, side));
        TN_TRY(tn_cdc_source_next(cx, &d->sources[side]));
    }
done:
    return rc;
}

int tn_cdc_diff_next(tarn_cx *cx, tn_cdc_diff *diff, tn_cdc_out *out, bool *more)
{
    int rc = TARN_OK;

    *more = true;
    while (!diff->sources[BEFORE].ended || !diff->sources[AFTER].ended) {
        if (tn_cdc_out_full(out))
            return TARN_OK;
        TN_TRY(step(cx, diff, out));
    }
    for (int side = 0; side < SIDES; side++) {
        waiting *w = &diff->waits[side];

        for (; w->given < w->count; w->given++) {
            if (tn_cdc_out_full(out))
                return TARN_OK;
            if (w->rows[w->given].text.text.len > 0)
                TN_TRY(add_alone(cx, out, side, &w->rows[w->given].text));
        }
    }
    *more = false;
done:
    return rc;
}

void tn_cdc_diff_counts(const tn_cdc_diff *diff, tn_scan_counts *out)
{
    tn_scan_counts one;

    *out = (tn_scan_counts){0};
    for (int side = 0; side < SIDES; side++) {
        tn_cdc_source_counts(&diff->sources[side], &one);
        out->files += one.files;
        out->groups += one.groups;
        out->groups_read += one.groups_read;
        out->pages_dropped += one.pages_dropped;
        out->rows += one.rows;
        out->rows_read += one.rows_read;
    }
}

void tn_cdc_diff_close(tn_cdc_diff *diff)
{
    if (diff == NULL)
        return;
    for (int side = 0; side < SIDES; side++) {
        waiting *w = &diff->waits[side];

        for (size_t i = 0; i < w->count; i++)
            tn_cdc_text_clear(&w->rows[i].text);
        free(w->rows);
        tn_map_clear(&w->places);
        tn_arena_clear(&w->arena);
        tn_budget_give(&diff->home, w->bytes);
        tn_cdc_source_close(&diff->sources[side]);
        tn_cdc_text_clear(&diff->texts[side]);
    }
    tn_cdc_image_clear(&diff->image);
    free(diff->types);
    tn_cx_child_clear(&diff->home);
    free(diff);
}
