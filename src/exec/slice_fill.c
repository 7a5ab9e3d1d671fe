/* Joining versions of rows (SparkRecordMergingUtils, PartialUpdateHandler of Hudi 1.2.0).
 *
 *   blocks with a part of the columns   a field is that of the topmost version whose writer had it
 *   IGNORE_DEFAULTS, FILL_UNAVAILABLE   ... whose value does not stand for "as before"; where all
 *                                       do, that of the lowest version
 *   IGNORE_NULLS                        so for nulls; commit and file are those of the last version
 *
 * I1: a field that no version has is null.
 * I2: defaults are compared as Hudi on Spark compares them, by object: null, booleans, and integers
 *     that Java shares; texts and reals never are the default. */
#include "exec/slice_fill.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "batch/gather.h"

typedef struct fill {
    const tn_slice_map *map;
    const struct ArrowArray *base;
    const tn_slice_item *items;
    size_t count;
    struct ArrowArray *out;
} fill;

/* A version's place: NULL batch is none. */
typedef struct version {
    const struct ArrowArray *batch;
    int64_t row;
} version;

static bool is_blank(const fill *f, int64_t c, version v)
{
    const tn_slice_column *column = &f->map->columns->columns[c];
    const struct ArrowArray *array = v.batch->children[c];
    int64_t at = array->offset + v.row;

    if (column->blank == TN_BLANK_NULL)
        return tn_rows_is_null(array, at);
    if (column->blank == TN_BLANK_NEVER || tn_rows_is_null(array, at))
        return false;
    if (column->blank == TN_BLANK_TEXT)
        return tn_str_equal(tn_rows_bytes(&column->type, array, at),
                            f->map->columns->rules->unavailable);
    if (column->type.kind == TN_TYPE_BOOL)
        return tn_bit(array->buffers[1], at) == (column->number != 0);
    return tn_rows_integer(column->type.kind, array, at) == column->number;
}

/* Whether the search ends with this version; *best is what it has found so far. */
static bool settles(const fill *f, int64_t c, version v, const uint8_t *has, version *best)
{
    if (has != NULL && !has[c])
        return false;
    *best = v;
    return f->map->columns->rules->partial == TN_PARTIAL_NONE || !is_blank(f, c, v);
}

static version of_log(const fill *f, uint32_t batch, uint32_t row, const uint8_t **has)
{
    *has = f->map->batches[batch].has;
    return (version){&f->map->batches[batch].rows, row};
}

/* The version of the logs that came last: batches and their rows are in the order of the logs. */
static version latest(const fill *f, const tn_slice_entry *entry)
{
    uint32_t batch = entry->batch, row = entry->row;
    const uint8_t *has;

    for (uint32_t i = entry->more; i != TN_SLICE_NO_LINK; i = f->map->links[i].next) {
        const tn_slice_link *link = &f->map->links[i];

        if (link->batch > batch || (link->batch == batch && link->row > row)) {
            batch = link->batch;
            row = link->row;
        }
    }
    return of_log(f, batch, row, &has);
}

/* Where field c of an item comes from. */
static version find(const fill *f, const tn_slice_item *item, int64_t c)
{
    version best = {NULL, 0}, base = {f->base, item->base}, v;
    const tn_slice_entry *entry = item->entry;
    const uint8_t *has;

    if (f->map->columns->columns[c].of_latest)
        return latest(f, entry);
    if (item->base >= 0 && item->base_on_top && settles(f, c, base, NULL, &best))
        return best;
    v = of_log(f, entry->batch, entry->row, &has);
    if (settles(f, c, v, has, &best))
        return best;
    for (uint32_t i = entry->more; i != TN_SLICE_NO_LINK; i = f->map->links[i].next) {
        v = of_log(f, f->map->links[i].batch, f->map->links[i].row, &has);
        if (settles(f, c, v, has, &best))
            return best;
    }
    if (item->base >= 0 && !item->base_on_top)
        (void)settles(f, c, base, NULL, &best);
    return best;
}

static int fill_column(tarn_cx *cx, size_t c, void *arg)
{
    const fill *f = arg;
    const struct ArrowSchema *schema = f->map->columns->work.children[c];
    tn_gather_part *parts = tn_calloc(cx, f->count, sizeof *parts);
    int64_t *take = tn_alloc(cx, f->count * sizeof *take);
    struct ArrowArray none = {0};
    size_t n = 0;
    int rc = TARN_OK;

    if (parts == NULL || take == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_rows_nulls(cx, schema, 1, &none));
    for (size_t i = 0; i < f->count; i++) {
        version v = find(f, &f->items[i], (int64_t)c);
        const struct ArrowArray *array = v.batch != NULL ? v.batch->children[c] : &none;

        take[i] = array->offset + v.row;
        if (n == 0 || parts[n - 1].array != array)
            parts[n++] = (tn_gather_part){.array = array, .take = &take[i]};
        parts[n - 1].count++;
    }
    TN_TRY(tn_gather(cx, schema, parts, n, f->out->children[c]));
done:
    tn_array_release(&none);
    free(parts);
    free(take);
    return rc;
}

int tn_slice_fill(tarn_cx *cx, const tn_slice_map *map, const struct ArrowArray *base,
                  const tn_slice_item *items, size_t count, struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    fill f = {map, base, items, count, &made};
    int rc = TARN_OK;

    assert(count > 0);
    TN_TRY(tn_array_init(cx, &made, (int64_t)count, 1, (size_t)map->columns->needed_count));
    TN_TRY(tn_parallel(cx, (size_t)map->columns->needed_count, fill_column, &f));
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}
