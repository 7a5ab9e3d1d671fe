/* Rows of the inputs, fitted, into staged files. */
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/stream.h"
#include "exec/exec_write.h"
#include "op/write_op.h"

/* The rows of a write as a stream of its own. */
typedef struct passing {
    tarn_cx *cx;
    tn_write *w;
    struct ArrowArrayStream *rows;
    char error[TN_ERROR_TEXT_MAX];
} passing;

static int passing_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    passing *p = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(p->cx, &p->w->fit.to, out) == TARN_OK ? 0
                                                               : tn_stream_fail(p->cx, p->error);
}

static int passing_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    passing *p = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_write_next(p->cx, p->w, p->rows, out) == TARN_OK ? 0
                                                               : tn_stream_fail(p->cx, p->error);
}

static const char *passing_error(struct ArrowArrayStream *self)
{
    passing *p = self->private_data;

    return p->error;
}

static void passing_release(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

int tn_write_files_make(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows,
                        tn_write_file **files, size_t *count)
{
    passing p = {.cx = cx, .w = w, .rows = rows};
    struct ArrowArrayStream stream = {passing_schema, passing_next, passing_error, passing_release,
                                      &p};
    tn_write_files made = {0};
    tn_write_counts counts = {0};
    int rc = TARN_OK;

    TN_TRY(tn_exec_write_rows(cx, w->store, &w->plan, &stream, &w->arena, &made, &counts));
    for (size_t i = 0; i < made.count; i++)
        TN_TRY(tn_write_spelled(cx, w, &made.files[i].partition));
    w->log->report.spilled_bytes = counts.spilled_bytes;
    *files = made.files;
    *count = made.count;
done:
    return rc;
}
