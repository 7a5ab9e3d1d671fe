/* Rows filtered and projected, whatever they were read from.
 * I1: the filter sees all needed columns; only those of the result are copied, and only where some
 *     row is dropped. */
#include "exec/read_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "batch/rows.h"

/* A field below structs: null where one of them is. */
static int extract(tarn_cx *cx, const tn_scan_task *task, const tn_scan_project *item,
                   const struct ArrowArray *needed, struct ArrowArray *out)
{
    const struct ArrowSchema *field = task->needed->children[item->path[0]];
    const struct ArrowArray *here = needed->children[item->path[0]];
    int64_t *take = tn_alloc(cx, (size_t)needed->length * sizeof *take);
    int rc = TARN_OK;

    if (take == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < needed->length; i++)
        take[i] = here->offset + i;
    for (size_t level = 1; level < item->path_count; level++) {
        const struct ArrowArray *child = here->children[item->path[level]];

        for (int64_t i = 0; i < needed->length; i++)
            if (take[i] >= 0)
                take[i] = tn_rows_is_null(here, take[i]) ? -1 : take[i] + child->offset;
        here = child;
        field = field->children[item->path[level]];
    }
    TN_TRY(tn_rows_take(cx, field, here, take, needed->length, out));
done:
    free(take);
    return rc;
}

/* Takes the result's columns out of a batch of `needed`. A column asked for twice is copied. */
static int project(tarn_cx *cx, const tn_scan_task *task, struct ArrowArray *needed,
                   struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, needed->length, 1, task->project_count));
    for (size_t i = 0; i < task->project_count; i++) {
        const tn_scan_project *item = &task->project[i];
        bool again = item->path_count > 1;

        for (size_t k = i + 1; k < task->project_count && !again; k++)
            again = task->project[k].path[0] == item->path[0];
        if (again)
            TN_TRY(extract(cx, task, item, needed, made.children[i]));
        else
            tn_array_move(needed->children[item->path[0]], made.children[i]);
    }
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

typedef struct filtering {
    const struct ArrowSchema *schema;
    const uint8_t *keep;
    int64_t kept;
    struct ArrowArray *from, *to;
} filtering;

static int filter_column(tarn_cx *cx, size_t i, void *arg)
{
    filtering *f = arg;

    return tn_rows_filter(cx, f->schema->children[i], f->from->children[i], f->keep, f->kept,
                          f->to->children[i]);
}

/* The rows that are kept, column by column in parallel. */
static int keep_rows(tarn_cx *cx, const tn_scan_task *task, const uint8_t *keep, int64_t kept,
                     struct ArrowArray *batch)
{
    struct ArrowArray made = {0};
    filtering f = {task->result, keep, kept, batch, &made};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, kept, 1, (size_t)batch->n_children));
    TN_TRY(tn_parallel(cx, (size_t)batch->n_children, filter_column, &f));
    tn_array_release(batch);
    tn_array_move(&made, batch);
done:
    tn_array_release(&made);
    return rc;
}

/* Of the rows marked in `keep` those that are in `only`, too; gives their number. */
static int64_t narrow(uint8_t *keep, const uint8_t *only, int64_t rows)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < rows; i++) {
        keep[i] = keep[i] != 0 && only[i] == 1;
        kept += keep[i];
    }
    return kept;
}

int tn_read_rows_refine_some(tarn_cx *cx, const tn_scan_task *task, struct ArrowArray *needed,
                             const uint8_t *only, struct ArrowArray *out, tn_buf *which)
{
    struct ArrowArray made = {0};
    int64_t rows = needed->length, kept = rows;
    uint8_t *keep = NULL;
    int rc = TARN_OK;

    if (task->filter != NULL || only != NULL) {
        keep = tn_alloc(cx, (size_t)rows);
        if (keep == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    if (task->filter != NULL)
        TN_TRY(tn_filter_eval(cx, task->filter, needed, keep, &kept));
    else if (only != NULL)
        memset(keep, 1, (size_t)rows);
    if (only != NULL)
        kept = narrow(keep, only, rows);
    if (which != NULL && keep != NULL) {
        tn_buf_add(which, keep, (size_t)rows);
        TN_TRY(tn_buf_check(cx, which));
    }
    if (kept > 0) {
        TN_TRY(project(cx, task, needed, &made));
        if (kept < rows)
            TN_TRY(keep_rows(cx, task, keep, kept, &made));
        tn_array_move(&made, out);
    }
done:
    tn_array_release(&made);
    free(keep);
    return rc;
}

int tn_read_rows_refine(tarn_cx *cx, const tn_scan_task *task, struct ArrowArray *needed,
                        struct ArrowArray *out, tn_buf *which)
{
    return tn_read_rows_refine_some(cx, task, needed, NULL, out, which);
}
