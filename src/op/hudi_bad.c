/* Rows of inputs that have no record key or no partition path.
 * I1: with a file for rejects they go there and all other rows are written; without one the first
 *     of them ends the write, named by its input and line. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch/rows.h"
#include "exec/exec_print.h"
#include "op/hudi_op.h"

/* The failure of one row, which `cx` has the text of. */
static int tell(tarn_cx *cx, const tn_input_place *place, tn_str field)
{
    char text[TN_ERROR_TEXT_MAX], column[256] = "";

    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    if (field.len != 0)
        snprintf(column, sizeof column, ", column \"%.*s\"",
                 (int)(field.len < 200 ? field.len : 200), field.ptr);
    return tn_fail(cx, TARN_E_DATA,
                   "%.*s: %s %" PRIu64 "%s: %s; fix it, or pass it over with --reject FILE",
                   TN_STR_ARG(place->source), place->row != 0 ? "row" : "line",
                   place->row != 0 ? place->row : place->line, column, text);
}

static int reject(tarn_cx *cx, tn_hudi_write *w, const struct ArrowArray *batch, int64_t row,
                  const tn_input_place *place, tn_str field)
{
    char text[TN_ERROR_TEXT_MAX];
    tn_text_bad bad = {.source = place->source,
                       .line = place->line,
                       .row = place->row,
                       .column = field,
                       .reason = text};
    tn_buf values = {0};
    int rc = TARN_OK;

    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    tn_cx_forget(cx);
    TN_TRY(tn_exec_print_row(cx, &w->fit.to, batch, row, &values));
    TN_TRY(tn_buf_check(cx, &values));
    bad.values = tn_buf_view(&values);
    TN_TRY(tn_write_reject_add(cx, &w->reject, &bad));
    w->bad_rows++;
done:
    tn_buf_clear(&values);
    return rc;
}

/* keep[i] of each row; *kept rows. */
static int look_at_rows(tarn_cx *cx, tn_hudi_write *w, const struct ArrowArrayStream *rows,
                        const struct ArrowArray *batch, uint8_t *keep, int64_t *kept)
{
    int rc = TARN_OK;

    *kept = 0;
    for (int64_t row = 0; row < batch->length; row++) {
        tn_input_place place;
        tn_str field;

        rc = tn_record_key_row(cx, w->key, row, &field);
        keep[row] = rc == TARN_OK;
        *kept += rc == TARN_OK;
        if (rc == TARN_OK)
            continue;
        if (rc != TARN_E_DATA)
            goto done;
        tn_input_origin(rows, row, &place);
        if (w->given->reject == NULL)
            TN_TRY(tell(cx, &place, field));
        TN_TRY(reject(cx, w, batch, row, &place, field));
    }
done:
    return rc;
}

int tn_hudi_bad_rows(tarn_cx *cx, tn_hudi_write *w, const struct ArrowArrayStream *rows,
                     struct ArrowArray *batch, int64_t first_row, tn_record_keys *keys)
{
    uint8_t *keep = tn_alloc(cx, (size_t)batch->length + 1);
    struct ArrowArray made = {0};
    int64_t kept;
    int rc = TARN_OK;

    if (keep == NULL)
        return TARN_E_NOMEM;
    TN_TRY(look_at_rows(cx, w, rows, batch, keep, &kept));
    assert(kept < batch->length);
    TN_TRY(tn_rows_filter(cx, &w->fit.to, batch, keep, kept, &made));
    tn_array_release(batch);
    tn_array_move(&made, batch);
    TN_TRY(tn_record_key_batch(cx, w->key, batch, first_row + 1, keys));
done:
    tn_array_release(&made);
    free(keep);
    return rc;
}
