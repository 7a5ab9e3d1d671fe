/* The changes of one file group in one commit: what was logged, or what two versions of the group
 * differ in. A version that is missing has no rows: all of the other's are inserts, or deletes. */
#include "exec/cdc_read.h"

#include <assert.h>
#include <stdlib.h>

#include "batch/array.h"
#include "batch/field.h"
#include "exec/cdc_diff.h"
#include "exec/cdc_logged.h"

struct tn_cdc_read {
    tn_cdc_logged *logged; /* or */
    tn_cdc_diff *diff;
    tn_cdc_out out;
    bool ended;
};

int tn_cdc_read_schema(tarn_cx *cx, struct ArrowSchema *out)
{
    static const char *const names[] = {"op", "ts_ms", "before", "after"};
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, 4));
    for (int i = 0; i < 4; i++)
        TN_TRY(tn_field_init(cx, made.children[i], "u", tn_str_of(names[i]), i > 1, 0));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

int tn_cdc_read_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task, tn_cdc_read **out)
{
    tn_cdc_read *reader = tn_calloc(cx, 1, sizeof *reader);
    int rc = TARN_OK;

    if (reader == NULL)
        return TARN_E_NOMEM;
    assert(task->logged_count == 0 || (task->before == NULL && task->after == NULL));
    reader->out = (tn_cdc_out){.instant = task->instant, .bare_before = task->bare_before};
    if (task->logged_count > 0)
        TN_TRY(tn_cdc_logged_open(cx, store, task, &reader->logged));
    else
        TN_TRY(tn_cdc_diff_open(cx, store, task, &reader->diff));
    *out = reader;
    reader = NULL;
done:
    tn_cdc_read_close(reader);
    return rc;
}

int tn_cdc_read_next(tarn_cx *cx, tn_cdc_read *reader, struct ArrowArray *out)
{
    bool more = true;
    int rc = TARN_OK;

    if (!reader->ended) {
        TN_TRY(reader->logged != NULL ? tn_cdc_logged_next(cx, reader->logged, &reader->out, &more)
                                      : tn_cdc_diff_next(cx, reader->diff, &reader->out, &more));
        reader->ended = !more;
    }
    TN_TRY(tn_cdc_out_take(cx, &reader->out, out));
done:
    return rc;
}

void tn_cdc_read_counts(const tn_cdc_read *reader, tn_scan_counts *out)
{
    *out = (tn_scan_counts){0};
    if (reader->logged != NULL)
        out->files = tn_cdc_logged_files(reader->logged);
    else
        tn_cdc_diff_counts(reader->diff, out);
}

void tn_cdc_read_close(tn_cdc_read *reader)
{
    if (reader == NULL)
        return;
    tn_cdc_logged_close(reader->logged);
    tn_cdc_diff_close(reader->diff);
    tn_cdc_out_clear(&reader->out);
    free(reader);
}
