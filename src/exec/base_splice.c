/* Row groups of the file before in which few rows change: pages without a change are copied.
 *
 *   changes of a row group ── few ──> wait until all of them are known
 *                                     ── worth it ──> who wins; the group is spliced by column
 *                                                     (chunk_splice.c)
 *                          ── many ──> base_merge.c, row by row
 *
 * I1: what becomes of a row does not depend on the way that was taken.
 * I2: what waits is bounded, in rows and in bytes; a group that is spliced has its encoded chunks
 * in memory, as one that is decoded has. I3: row groups do not crumble: where base_merge.c would
 * join the group with a neighbour, it is its to do. */
#include <stdlib.h>

#include "base/budget.h"
#include "batch/array.h"
#include "batch/field.h"
#include "batch/gather.h"
#include "batch/unify.h"
#include "exec/base_state.h"

#define FEW_ROWS  16384
#define FEW_BYTES (4u << 20)

void tn_base_few_clear(tn_base_few *few)
{
    tn_array_release(&few->rows);
    tn_buf_clear(&few->positions);
    tn_buf_clear(&few->deletes);
    *few = (tn_base_few){0};
}

static const int64_t *positions_of(const tn_base_few *few)
{
    return (const int64_t *)(const void *)few->positions.data;
}

/* --- is it worth it --- */

/* Pages of a leaf that rows of the file are in. */
static size_t pages_met(const tn_offset_index *index, const tn_base_few *few)
{
    const int64_t *positions = positions_of(few);
    int64_t last = -1;
    size_t met = 0, page = 0;

    for (int64_t i = 0; i < few->rows.length; i++) {
        int64_t row = positions[i] - few->first;

        while (page + 1 < index->pages && index->locations[page + 1].first_row <= row)
            page++;
        met += (int64_t)page != last;
        last = (int64_t)page;
    }
    return met;
}

/* Judged by the largest column: whether a quarter of its pages at least has no change. */
static int spares_pages(tarn_cx *cx, tn_base_writer *w, bool *spares)
{
    tn_base_old *old = &w->old;
    const tn_row_group_meta *group = &old->parquet.footer.groups[old->few.group];
    tn_offset_index index;
    tn_arena arena = {0};
    size_t largest = 0;
    bool present;
    int rc = TARN_OK;

    for (size_t i = 1; i < group->column_count; i++)
        if (group->columns[i].compressed_bytes > group->columns[largest].compressed_bytes)
            largest = i;
    TN_TRY(tn_parquet_offset_index(cx, &old->parquet, old->few.group, largest, &arena, &present,
                                   &index));
    *spares = present && pages_met(&index, &old->few) * 4 <= index.pages * 3;
done:
    tn_arena_clear(&arena);
    return rc;
}

/* Stands at the group that the changes are for; all before it is done. */
static int stand_at_group(tarn_cx *cx, tn_base_writer *w)
{
    int rc = TARN_OK;

    TN_TRY(tn_base_old_flush(cx, w));
    while (w->old.group < w->old.few.group)
        TN_TRY(tn_base_old_pass(cx, w, false));
done:
    return rc;
}

static int may_splice(tarn_cx *cx, tn_base_writer *w, bool joins, bool *may)
{
    tn_base_old *old = &w->old;
    bool last = old->few.group + 1 == old->parquet.footer.group_count;
    uint64_t limit = tn_base_old_group_limit(w), open, bytes;
    int rc = TARN_OK;

    *may = false;
    TN_TRY(stand_at_group(cx, w));
    bytes = tn_base_old_group_bytes(old);
    open = tn_parquet_sink_open_bytes(w->sink);
    if (old->scan != NULL || bytes > limit + limit / 2)
        goto done;
    /* I3 */
    if ((open != 0 && tn_base_old_small(w, open)) ||
        (tn_base_old_small(w, bytes) && (joins || !last)))
        goto done;
    TN_TRY(spares_pages(cx, w, may));
    if (*may && !tn_budget_try(cx, 2 * bytes)) /* I2 */
        *may = false;
    else if (*may)
        tn_budget_give(cx, 2 * bytes);
done:
    return rc;
}

/* --- who wins --- */

/* What became of the changes. */
typedef struct outcome {
    tn_buf rows; /* tn_splice_row */
    tn_buf runs; /* tn_base_run: of those that come in, rows that win */
    int64_t winners;
} outcome;

/* Changes [from, to) of the group. Where rows are ordered, their stored rows are held. */
static int judge(tarn_cx *cx, tn_base_writer *w, int64_t from, int64_t to, outcome *out)
{
    const tn_base_few *few = &w->old.few;
    const int64_t *positions = positions_of(few);
    const uint8_t *deletes = few->deletes.data;
    int rc = TARN_OK;

    for (int64_t i = from, next; i < to; i = next) {
        tn_splice_row row = {.row = positions[i] - few->first, .with = -1};
        int64_t best;

        for (next = i + 1; next < to && positions[next] == positions[i]; next++)
            ;
        best = tn_base_winner(w, &few->rows, deletes, i, next, positions[i] - w->old.held_first);
        if (best < 0)
            continue;
        if (deletes[best] == 0) {
            row.with = out->winners++;
            TN_TRY(tn_base_add_run(cx, &out->runs, true, best, 1));
        }
        w->updates += deletes[best] == 0;
        w->deletes += deletes[best] != 0;
        tn_buf_add(&out->rows, &row, sizeof row);
    }
    TN_TRY(tn_buf_check(cx, &out->rows));
done:
    return rc;
}

/* The stored rows of the changes, of which there are as many runs as ranges; their ordering columns
 * alone. */
static int open_stored(tarn_cx *cx, tn_base_writer *w, tn_parquet_scan **out)
{
    tn_base_old *old = &w->old;
    const tn_base_job *job = w->job;
    const int64_t *positions = positions_of(&old->few);
    int64_t count = old->few.rows.length;
    tn_parquet_scan_options options = {.int96_micros = true, .int96_utc = true};
    uint32_t *columns = tn_calloc(cx, job->ordering_count, sizeof *columns);
    tn_row_range *ranges = tn_calloc(cx, (size_t)count, sizeof *ranges);
    uint32_t group = (uint32_t)old->few.group;
    int rc = TARN_OK;

    if (columns == NULL || ranges == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < job->ordering_count; i++)
        columns[i] = old->columns[old->places[job->ordering[i]]];
    for (int64_t i = 0; i < count; i++) {
        tn_row_range *last = options.range_count != 0 ? &ranges[options.range_count - 1] : NULL;
        int64_t row = positions[i] - old->few.first;

        if (last != NULL && row < last->first + last->rows)
            continue;
        if (last != NULL && row == last->first + last->rows)
            last->rows++;
        else
            ranges[options.range_count++] = (tn_row_range){group, row, 1};
    }
    options.columns = columns;
    options.column_count = job->ordering_count;
    options.groups = &group;
    options.group_count = 1;
    options.ranges = ranges;
    TN_TRY(tn_parquet_scan_open(cx, &old->parquet, &options, out));
done:
    free(columns);
    free(ranges);
    return rc;
}

/* A batch of the ordering columns as one of the job's schema, in `held`. */
static int hold_ordering(tarn_cx *cx, tn_base_writer *w, const struct ArrowSchema *scanned,
                         struct ArrowArray *batch)
{
    const struct ArrowSchema *schema = w->job->schema;
    struct ArrowArray rows = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &rows, batch->length, 1, (size_t)schema->n_children));
    for (size_t i = 0; i < w->job->ordering_count; i++) {
        uint32_t column = w->job->ordering[i];

        TN_TRY(
            tn_unify_cast(cx, scanned->children[i], schema->children[column], batch->children[i]));
        tn_array_move(batch->children[i], rows.children[column]);
    }
    tn_array_release(&w->old.held);
    tn_array_move(&rows, &w->old.held);
    TN_TRY(tn_base_order_held(cx, &w->old));
done:
    tn_array_release(&rows);
    return rc;
}

/* Rows that are ordered: their stored rows are looked at first. */
static int judge_ordered(tarn_cx *cx, tn_base_writer *w, outcome *out)
{
    tn_base_old *old = &w->old;
    const int64_t *positions = positions_of(&old->few);
    int64_t at = 0, to, count = old->few.rows.length;
    struct ArrowSchema scanned = {0};
    struct ArrowArray batch = {0};
    tn_parquet_scan *scan = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_base_order_incoming(cx, old, &old->few.rows));
    TN_TRY(open_stored(cx, w, &scan));
    TN_TRY(tn_parquet_scan_schema(cx, scan, &scanned));
    while (at < count) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &old->held_first));
        if (batch.length == 0 || old->held_first > positions[at])
            TN_FAIL(TARN_E_CORRUPT, "%.*s: row %lld was to be changed, and is not there",
                    TN_STR_ARG(old->parquet.path), (long long)positions[at]);
        TN_TRY(hold_ordering(cx, w, &scanned, &batch));
        tn_array_release(&batch);
        for (to = at; to < count && positions[to] < old->held_first + old->held.length; to++)
            ;
        TN_TRY(judge(cx, w, at, to, out));
        at = to;
    }
    TN_TRY(tn_buf_check(cx, &old->held_bytes));
    TN_TRY(tn_buf_check(cx, &old->incoming_bytes));
done:
    tn_array_release(&old->held);
    tn_array_release(&batch);
    tn_field_release(&scanned);
    tn_parquet_scan_close(scan);
    return rc;
}

/* --- the group --- */

static int splice_rows(tarn_cx *cx, tn_base_writer *w, const outcome *what)
{
    tn_base_old *old = &w->old;
    int64_t rows = old->few.end - old->few.first;
    struct ArrowArray with = {0};
    tn_parquet_splice splice = {.from = &old->parquet,
                                .bytes = old->bytes,
                                .group = old->few.group,
                                .leaves = old->splice,
                                .rows = (const tn_splice_row *)(const void *)what->rows.data,
                                .row_count = what->rows.len / sizeof(tn_splice_row),
                                .with = &with};
    uint64_t copied;
    int rc = TARN_OK;

    TN_TRY(tn_base_number_rows(cx, w, false));
    TN_TRY(tn_base_mix_runs(cx, w, NULL, &old->few.rows,
                            (const tn_base_run *)(const void *)what->runs.data,
                            what->runs.len / sizeof(tn_base_run), &with));
    TN_TRY(tn_parquet_sink_splice(cx, w->sink, &splice, &copied));
    w->counts.bytes_carried += copied;
    old->at += rows;
    old->group_first += rows;
    old->group++;
done:
    tn_array_release(&with);
    return rc;
}

static int splice_group(tarn_cx *cx, tn_base_writer *w)
{
    outcome what = {0};
    int rc = TARN_OK;

    if (w->old.ordering != NULL)
        TN_TRY(judge_ordered(cx, w, &what));
    else
        TN_TRY(judge(cx, w, 0, w->old.few.rows.length, &what));
    if (what.rows.len == 0)
        TN_TRY(tn_base_old_carry(cx, w));
    else
        TN_TRY(splice_rows(cx, w, &what));
done:
    tn_buf_clear(&what.rows);
    tn_buf_clear(&what.runs);
    return rc;
}

/* The same; *short_of_memory: nothing of it was done. */
static int try_group(tarn_cx *cx, tn_base_writer *w, bool *short_of_memory)
{
    int64_t updates = w->updates, deletes = w->deletes, next = w->next;
    uint32_t group = (uint32_t)w->old.group;
    tn_base_counts counts = w->counts;
    uint64_t written;
    int rc = TARN_OK;

    *short_of_memory = false;
    TN_TRY(tn_parquet_sink_flush(cx, w->sink));
    written = w->file->written_bytes;
    rc = splice_group(cx, w);
    *short_of_memory =
        rc == TARN_E_LIMIT && w->old.group == group && w->file->written_bytes == written;
    if (!*short_of_memory)
        goto done;
    rc = TARN_OK;
    tn_cx_forget(cx);
    w->updates = updates;
    w->deletes = deletes;
    w->counts = counts;
    w->next = next;
done:
    return rc;
}

/* --- changes that wait --- */

static void forget_few(tn_base_few *few)
{
    tn_array_release(&few->rows);
    tn_buf_reset(&few->positions);
    tn_buf_reset(&few->deletes);
}

/* They turned out to be many, or were not worth it. */
static int change_few(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_few *few = &w->old.few;
    int rc = TARN_OK;

    few->open = false;
    if (few->rows.release == NULL)
        return TARN_OK;
    TN_TRY(tn_base_old_change(cx, w, &few->rows, positions_of(few), few->deletes.data));
    forget_few(few);
done:
    return rc;
}

int tn_base_splice_end(tarn_cx *cx, tn_base_writer *w, bool joins)
{
    tn_base_few *few = &w->old.few;
    bool may, short_of_memory = false;
    int rc = TARN_OK;

    if (few->rows.release == NULL)
        return TARN_OK;
    TN_TRY(may_splice(cx, w, joins, &may));
    if (may)
        TN_TRY(try_group(cx, w, &short_of_memory));
    if (!may || short_of_memory)
        return change_few(cx, w);
    forget_few(few);
done:
    return rc;
}

/* Makes `few` that of the row group of `position`. One that the file does not have, or that is
 * done, is left to who changes rows, and says so. */
static int turn_to(tarn_cx *cx, tn_base_writer *w, int64_t position)
{
    tn_base_old *old = &w->old;
    tn_base_few *few = &old->few;
    const tn_footer *footer = &old->parquet.footer;
    int rc = TARN_OK;

    if (position >= few->first && position < few->end)
        return TARN_OK;
    TN_TRY(tn_base_splice_end(cx, w, false));
    few->open = old->spliced && position >= few->end && position < footer->rows;
    few->group = few->end == 0 ? 0 : few->group + 1;
    few->first = few->end;
    while (few->open && few->group < footer->group_count) {
        few->end = few->first + footer->groups[few->group].rows;
        if (position < few->end)
            break;
        few->first = few->end;
        few->group++;
    }
    if (!few->open) {
        few->first = position;
        few->end = INT64_MAX;
    }
done:
    return rc;
}

/* Rows [first, first + count) of what comes in wait, too; *waits false: they are too many. */
static int wait_for(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows, int64_t first,
                    int64_t count, const int64_t *positions, const uint8_t *deletes, bool *waits)
{
    tn_base_few *few = &w->old.few;
    tn_gather_part parts[2] = {{.array = &few->rows, .count = few->rows.length},
                               {.array = rows, .first = rows->offset + first, .count = count}};
    size_t from = few->rows.release == NULL;
    int64_t last = from ? few->first : positions_of(few)[few->rows.length - 1];
    struct ArrowArray all = {0};
    int rc = TARN_OK;

    *waits = few->open && (from ? 0 : few->rows.length) + count <= FEW_ROWS;
    for (int64_t i = first; *waits && i < first + count; i++) {
        *waits = positions[i] >= last;
        last = positions[i];
    }
    if (!*waits)
        goto done;
    TN_TRY(tn_gather(cx, w->job->schema, parts + from, 2 - from, &all));
    tn_array_release(&few->rows);
    tn_array_move(&all, &few->rows);
    for (int64_t i = first; i < first + count; i++) {
        tn_buf_add(&few->positions, &positions[i], sizeof positions[i]);
        tn_buf_u8(&few->deletes, deletes != NULL && deletes[i] != 0);
    }
    TN_TRY(tn_buf_check(cx, &few->positions));
    TN_TRY(tn_buf_check(cx, &few->deletes));
    if (tn_gather_bytes(w->job->schema, &few->rows) > FEW_BYTES) /* I2 */
        TN_TRY(change_few(cx, w));
done:
    return rc;
}

int tn_base_splice_change(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                          const int64_t *positions, const uint8_t *deletes)
{
    int rc = TARN_OK;

    for (int64_t first = 0, next; first < rows->length; first = next) {
        struct ArrowArray part = *rows;
        bool waits;

        TN_TRY(turn_to(cx, w, positions[first]));
        for (next = first; next < rows->length && positions[next] < w->old.few.end; next++)
            if (positions[next] < w->old.few.first)
                break;
        TN_TRY(wait_for(cx, w, rows, first, next - first, positions, deletes, &waits));
        if (waits)
            continue;
        TN_TRY(change_few(cx, w));
        part.offset += first;
        part.length = next - first;
        part.null_count = 0;
        TN_TRY(tn_base_old_change(cx, w, &part, positions + first,
                                  deletes != NULL ? deletes + first : NULL));
    }
done:
    return rc;
}
