/* Rows of one row group as ranges.
 *
 * I1: ranges ascend, are not empty and do not touch each other. */
#include "codec/parquet/row_set.h"

int tn_row_set_make(tarn_cx *cx, tn_arena *arena, size_t room, tn_row_set *out)
{
    out->count = 0;
    out->ranges = tn_arena_array(cx, arena, room, sizeof *out->ranges);
    return out->ranges != NULL ? TARN_OK : TARN_E_NOMEM;
}

void tn_row_set_add(tn_row_set *set, uint32_t group, int64_t first, int64_t rows)
{
    tn_row_range *last = set->count != 0 ? &set->ranges[set->count - 1] : NULL;

    if (rows <= 0)
        return;
    if (last != NULL && first <= last->first + last->rows) {
        int64_t end = first + rows;

        if (end > last->first + last->rows)
            last->rows = end - last->first;
        return;
    }
    set->ranges[set->count++] = (tn_row_range){.group = group, .first = first, .rows = rows};
}

int tn_row_set_both(tarn_cx *cx, tn_arena *arena, const tn_row_set *a, const tn_row_set *b,
                    tn_row_set *out)
{
    size_t i = 0;
    size_t j = 0;
    tn_row_set set;
    int rc = TARN_OK;

    TN_TRY(tn_row_set_make(cx, arena, a->count + b->count, &set));
    while (i < a->count && j < b->count) {
        const tn_row_range *x = &a->ranges[i];
        const tn_row_range *y = &b->ranges[j];
        int64_t first = x->first > y->first ? x->first : y->first;
        int64_t x_end = x->first + x->rows;
        int64_t y_end = y->first + y->rows;

        tn_row_set_add(&set, a->ranges[i].group, first, (x_end < y_end ? x_end : y_end) - first);
        if (x_end < y_end)
            i++;
        else
            j++;
    }
    *out = set;
done:
    return rc;
}

int tn_row_set_either(tarn_cx *cx, tn_arena *arena, const tn_row_set *a, const tn_row_set *b,
                      tn_row_set *out)
{
    size_t i = 0;
    size_t j = 0;
    tn_row_set set;
    int rc = TARN_OK;

    TN_TRY(tn_row_set_make(cx, arena, a->count + b->count, &set));
    while (i < a->count || j < b->count) {
        bool first = j == b->count || (i < a->count && a->ranges[i].first <= b->ranges[j].first);
        const tn_row_range *next = first ? &a->ranges[i++] : &b->ranges[j++];

        tn_row_set_add(&set, next->group, next->first, next->rows);
    }
    *out = set;
done:
    return rc;
}
