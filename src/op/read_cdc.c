/* Change queries of a Hudi table: the commits of a range, where their changes are to be had, and
 * the stream of them.
 *
 *   range -> commits -> plan -> of each change the files of both versions -> rows
 *
 * I1: commits come in the order of their completion, so that who applies the changes in order ends
 *     with the rows of the table.
 * I2: the files of a change are looked for when its turn comes; one that was cleaned is told with
 *     the commit that needs it. */
#include "op/read_change.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "batch/array.h"
#include "batch/rows.h"
#include "batch/stream.h"
#include "exec/cdc_read.h"
#include "table/archive.h"

#define MODE_KEY "hoodie.table.cdc.supplemental.logging.mode"

/* ---- which commits ---- */

bool tn_reading_cdc_mode(const tn_reading *r, const char *mode)
{
    tn_str text = tn_properties_get(&r->config.all, MODE_KEY);
    size_t n = strlen(mode);

    if (text.len == 0)
        return strcmp(mode, "data_before_after") == 0;
    return text.len == n && strncasecmp(text.ptr, mode, n) == 0;
}

/* I1. */
static int compare_instants(const void *a, const void *b)
{
    const tn_instant *x = *(const tn_instant *const *)a, *y = *(const tn_instant *const *)b;
    int order = tn_str_compare(x->completion, y->completion);

    return order != 0 ? order : tn_str_compare(x->time, y->time);
}

static int load_commits(tarn_cx *cx, tn_reading *r, tn_cdc_commit **out, size_t *count)
{
    tn_arena *arena = &r->read->arena;
    size_t most = r->range.active_count, n = 0;
    const tn_instant **instants = tn_arena_array(cx, arena, most + 1, sizeof *instants);
    tn_cdc_commit *commits = tn_arena_array(cx, arena, most + 1, sizeof *commits);
    tn_commit_metadata *metadata = tn_arena_array(cx, arena, most + 1, sizeof *metadata);
    int rc = TARN_OK;

    if (instants == NULL || commits == NULL || metadata == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < most; i++) {
        instants[n] = tn_timeline_find_commit(&r->timeline, r->range.active[i]);
        n += instants[n] != NULL;
    }
    /* Before version 8 what completed when is not stored. */
    if (r->timeline.layout > 1 && n > 0)
        qsort(instants, n, sizeof *instants, compare_instants);
    for (size_t i = 0; i < n; i++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(
            tn_timeline_commit(cx, r->read->store, &r->timeline, instants[i], arena, &metadata[i]));
        commits[i] = (tn_cdc_commit){instants[i]->time, &metadata[i]};
    }
    *out = commits;
    *count = n;
done:
    return rc;
}

/* What left the active timeline, where the range begins before it; empty elsewhere. */
static int load_archive(tarn_cx *cx, tn_reading *r, tn_timeline *out)
{
    *out = (tn_timeline){0};
    if (r->since.len != 0 && tn_str_compare(r->since, r->timeline.start) >= 0)
        return TARN_OK;
    return tn_archive_load(cx, r->read->store, r->read->root, &r->config, &r->read->arena, out);
}

int tn_reading_changes(tarn_cx *cx, tn_reading *r)
{
    tn_cdc_commit *commits;
    tn_timeline archive;
    size_t count;
    int rc = TARN_OK;

    if (r->options->key != NULL)
        TN_FAIL(TARN_E_INVALID, "--key is for rows; changes of one are found with --where, by "
                                "what is in before and after");
    TN_TRY(load_archive(cx, r, &archive));
    TN_TRY(tn_query_changes_find(cx, &r->config, &r->timeline, &archive, r->since, r->until,
                                 &r->read->arena, &r->range));
    if (r->range.empty)
        goto done;
    TN_TRY(load_commits(cx, r, &commits, &count));
    TN_TRY(tn_plan_cdc(cx, commits, count, tn_reading_cdc_mode(r, "data_before_after"),
                       &r->read->arena, &r->changes, &r->change_count));
done:
    return rc;
}

/* ---- the stream ---- */

typedef struct stream {
    tn_read *read;
    const tn_reading *reading;
    tn_arena arena;
    struct ArrowSchema all; /* op, ts_ms, before, after */
    tn_read_columns columns;
    uint32_t *needed; /* where the columns of `columns.needed` are in `all` */
    size_t next;
    tn_read_before slices;
    tn_read_change change;
    tn_cdc_read *reader; /* of the change; NULL: none is open */
    uint64_t rows_left;
    char error[TN_ERROR_TEXT_MAX];
} stream;

static void close_change(stream *s)
{
    tn_scan_counts counts;

    if (s->reader != NULL) {
        tn_cdc_read_counts(s->reader, &counts);
        counts.rows_out = 0; /* rows of versions: changes are counted as they leave */
        tn_read_add_counts(s->read->counts, &counts);
    }
    tn_cdc_read_close(s->reader);
    s->reader = NULL;
    tn_read_change_close(&s->change);
}

static int explain(tarn_cx *cx, const stream *s, int rc)
{
    tn_str instant = s->reading->changes[s->next - 1].instant;

    if (rc != TARN_E_NOTFOUND)
        return rc;
    return tn_fail_within(cx, rc,
                          "the changes of commit %.*s cannot be told any more, a file was cleaned "
                          "that they need; begin behind it (--since %.*s)",
                          TN_STR_ARG(instant), TN_STR_ARG(instant));
}

static int open_change(tarn_cx *cx, stream *s)
{
    int rc = TARN_OK;

    TN_TRY(tn_read_change_open(cx, s->reading, &s->reading->changes[s->next++], &s->slices,
                               &s->change));
    if (s->change.task.logged_count == 0 && s->change.task.before == NULL &&
        s->change.task.after == NULL)
        goto done;
    TN_TRY(tn_cdc_read_open(cx, s->read->store, &s->change.task, &s->reader));
done:
    return explain(cx, s, rc);
}

/* The columns wanted of the rows that the condition is true for. */
static int select_rows(tarn_cx *cx, const stream *s, const struct ArrowArray *batch,
                       struct ArrowArray *out)
{
    const tn_read_columns *columns = &s->columns;
    size_t n = (size_t)columns->needed.n_children;
    struct ArrowArray *children[4], view = *batch, made = {0};
    uint8_t *keep = tn_alloc(cx, (size_t)batch->length + 1);
    int64_t kept = batch->length;
    int rc = TARN_OK;

    assert(n <= 4);
    if (keep == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        children[i] = batch->children[s->needed[i]];
    view.children = children;
    view.n_children = (int64_t)n;
    memset(keep, 1, (size_t)batch->length + 1);
    if (columns->filtered)
        TN_TRY(tn_filter_eval(cx, &columns->filter, &view, keep, &kept));
    TN_TRY(tn_array_init(cx, &made, kept, 1, columns->project_count));
    for (size_t c = 0; c < columns->project_count; c++) {
        uint32_t at = columns->project[c].path[0];

        TN_TRY(tn_rows_filter(cx, columns->needed.children[at], children[at], keep, kept,
                              made.children[c]));
    }
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    free(keep);
    return rc;
}

/* The next batch with rows; *out stays released at the end. */
static int next_batch(tarn_cx *cx, stream *s, struct ArrowArray *out)
{
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    while (out->release == NULL) {
        TN_TRY(tn_cx_check(cx));
        if (s->reader == NULL && s->next == s->reading->change_count)
            break;
        if (s->reader == NULL) {
            TN_TRY(open_change(cx, s));
            if (s->reader == NULL)
                close_change(s);
            continue;
        }
        TN_TRY(explain(cx, s, tn_cdc_read_next(cx, s->reader, &batch)));
        if (batch.length == 0)
            close_change(s);
        else
            TN_TRY(select_rows(cx, s, &batch, out));
        tn_array_release(&batch);
        if (out->release != NULL && out->length == 0)
            tn_array_release(out);
    }
done:
    tn_array_release(&batch);
    return rc;
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(s->read->cx, &s->columns.result, out) == TARN_OK
               ? 0
               : tn_stream_fail(s->read->cx, s->error);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    if (s->read->has_limit && s->rows_left == 0)
        return 0;
    if (next_batch(s->read->cx, s, out) != TARN_OK)
        return tn_stream_fail(s->read->cx, s->error);
    if (out->release != NULL && s->read->has_limit) {
        if ((uint64_t)out->length > s->rows_left)
            out->length = (int64_t)s->rows_left;
        s->rows_left -= (uint64_t)out->length;
    }
    if (out->release != NULL)
        s->read->counts->rows_out += (uint64_t)out->length;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;

    return s->error;
}

static void stream_free(stream *s)
{
    if (s == NULL)
        return;
    close_change(s);
    tn_read_before_clear(&s->slices);
    tn_read_columns_clear(&s->columns);
    tn_field_release(&s->all);
    tn_arena_clear(&s->arena);
    free(s);
}

static void stream_release(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    tn_read *read = s->read;

    stream_free(s);
    tn_read_close(read);
    self->release = NULL;
}

static int bind_columns(tarn_cx *cx, stream *s, const tarn_read_options *options)
{
    const tn_predicate *where = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_cdc_read_schema(cx, &s->all));
    if (options->where != NULL)
        TN_TRY(tn_predicate_parse(cx, tn_str_of(options->where), &s->arena, &where));
    TN_TRY(tn_read_columns_bind(cx, &s->arena, &s->all, options->columns, options->column_count,
                                where, &s->columns));
    s->needed =
        tn_arena_array(cx, &s->arena, (size_t)s->columns.needed.n_children + 1, sizeof *s->needed);
    if (s->needed == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < s->columns.needed.n_children; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (strcmp(s->columns.needed.children[i]->name, s->all.children[k]->name) == 0)
                s->needed[i] = k;
done:
    return rc;
}

bool tn_read_hudi_changes(const tn_read *read)
{
    return read->hudi->kind == TN_QUERY_CDC;
}

int tn_read_cdc_stream(tarn_cx *cx, tn_read *read, const tarn_read_options *options,
                       struct ArrowArrayStream *out)
{
    stream *s = tn_calloc(cx, 1, sizeof *s);
    int rc = TARN_OK;

    if (s == NULL)
        return TARN_E_NOMEM;
    s->read = read;
    s->reading = read->hudi;
    s->rows_left = read->limit;
    TN_TRY(bind_columns(cx, s, options));
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .get_last_error = stream_error,
                                     .release = stream_release,
                                     .private_data = s};
    s = NULL;
done:
    stream_free(s);
    return rc;
}
