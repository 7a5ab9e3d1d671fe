/* Rows that were found in another partition than their own.
 *
 *   found at     move                       event time          becomes
 *   its own      any                        any                 an update there
 *   elsewhere    no, or it is a delete      any                 an update (or delete) there
 *   elsewhere    yes                        stored is greater   an update there, which will lose
 *   elsewhere    yes                        else                a delete there, and an insert of
 * its own partition; an update where it has a place in that, too
 *
 * I1: a row that loses at one of its places moves nowhere. I2: of the table only the ordering
 *     columns of row groups with such places are read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/field.h"
#include "batch/ordering.h"
#include "batch/rows.h"
#include "batch/unify.h"
#include "codec/parquet/arrow.h"
#include "exec/incoming_state.h"

/* A place elsewhere, whose stored ordering value is asked for. */
typedef struct asked {
    uint64_t place;
    uint32_t row;
    bool lost;
} asked;

typedef struct settling {
    tn_incoming *in;
    bool move, event_time;
    uint64_t *orders;           /* of all rows, where values fit 8 bytes */
    struct ArrowSchema columns; /* the ordering columns alone */
    uint32_t *numbers;          /* 0, 1, 2 … */
    tn_ordering *stored;        /* over `columns` */
    asked *asked;               /* by place */
    size_t asked_count;
    size_t *files; /* where each file's begin; one more than there are files with some */
    size_t file_count;
    uint64_t charged;
    uint8_t *lost; /* per row, a bit */
} settling;

static bool elsewhere(const tn_incoming *in, size_t row, uint64_t place)
{
    return in->files[TN_PLACE_FILE(place)]->partition != in->facts.partitions[row];
}

static const tn_extra *extras_at(const tn_incoming *in, size_t i)
{
    return (const tn_extra *)(const void *)in->extras.data + i;
}

static size_t extra_count(const tn_incoming *in)
{
    return in->extras.len / sizeof(tn_extra);
}

static bool stays(const tn_incoming *in, size_t row)
{
    return in->facts.places[row] == TN_NO_PLACE ||
           (in->facts.flags[row] & (TN_ROW_DROPPED | TN_ROW_DELETE)) != 0;
}

/* --- stored ordering values --- */

static int compare_asked(const void *a, const void *b)
{
    const asked *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void ask(settling *s, size_t row, uint64_t place)
{
    if (!elsewhere(s->in, row, place))
        return;
    if (s->asked != NULL)
        s->asked[s->asked_count] = (asked){.place = place, .row = (uint32_t)row};
    s->asked_count++;
}

/* Counts, or fills, what is asked for. */
static void ask_all(settling *s)
{
    tn_incoming *in = s->in;

    s->asked_count = 0;
    for (size_t i = 0; i < (size_t)in->rows; i++)
        if (!stays(in, i))
            ask(s, i, in->facts.places[i]);
    for (size_t i = 0; i < extra_count(in); i++)
        if (!stays(in, extras_at(in, i)->row))
            ask(s, extras_at(in, i)->row, extras_at(in, i)->place);
}

static int order_held(tarn_cx *cx, size_t i, void *arg)
{
    settling *s = arg;
    const tn_held *held = &s->in->held[i];

    return tn_ordering_u64(cx, s->in->ordering, &held->array, s->orders + held->first);
}

/* A schema of the ordering columns, and how its rows compare. */
static int bind_columns(tarn_cx *cx, settling *s)
{
    const tn_incoming_options *o = &s->in->options;
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, o->ordering_count));
    s->numbers = tn_alloc(cx, o->ordering_count * sizeof *s->numbers);
    if (s->numbers == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < o->ordering_count; i++) {
        TN_TRY(tn_field_copy(cx, s->in->schema.children[o->ordering[i]], made.children[i]));
        made.children[i]->flags |= ARROW_FLAG_NULLABLE;
        s->numbers[i] = (uint32_t)i;
    }
    TN_TRY(tn_ordering_open(cx, &made, s->numbers, o->ordering_count, &s->stored));
    tn_field_move(&made, &s->columns);
done:
    tn_field_release(&made);
    return rc;
}

/* The ordering columns that a file has; `present[i]`: the i-th is there. */
static size_t find_columns(const settling *s, const tn_parquet *file, uint32_t *columns,
                           bool *present)
{
    size_t n = 0;

    for (int64_t i = 0; i < s->columns.n_children; i++) {
        const tn_node *nodes = file->schema.nodes;
        const tn_node *node =
            tn_schema_column(&file->schema, tn_str_of(s->columns.children[i]->name));
        uint32_t at = nodes[0].first_child, number = 0;

        present[i] = node != NULL;
        if (node == NULL)
            continue;
        for (; at != node->index; at = nodes[at].next_sibling)
            number++;
        columns[n++] = number;
    }
    return n;
}

/* A batch of what the file has as one of `columns`: cast, and nulls for what it lacks. */
static int fit_batch(tarn_cx *cx, const settling *s, const struct ArrowSchema *from,
                     const bool *present, struct ArrowArray *batch)
{
    struct ArrowArray made = {0};
    int64_t n = 0;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, batch->length, 1, (size_t)s->columns.n_children));
    made.offset = batch->offset;
    for (int64_t i = 0; i < s->columns.n_children; i++) {
        if (!present[i]) {
            TN_TRY(tn_rows_nulls(cx, s->columns.children[i], batch->offset + batch->length,
                                 made.children[i]));
            continue;
        }
        TN_TRY(tn_unify_cast(cx, from->children[n], s->columns.children[i], batch->children[n]));
        tn_array_move(batch->children[n++], made.children[i]);
    }
    tn_array_release(batch);
    tn_array_move(&made, batch);
done:
    tn_array_release(&made);
    return rc;
}

typedef struct values {
    tn_buf numbers, mine, theirs;
} values;

static bool loses(const settling *s, const asked *a, const struct ArrowArray *batch, int64_t at,
                  values *v)
{
    const tn_held *held;

    if (s->orders != NULL)
        return s->orders[a->row] < ((const uint64_t *)(const void *)v->numbers.data)[at];
    held = tn_incoming_held(s->in, a->row);
    tn_buf_reset(&v->mine);
    tn_buf_reset(&v->theirs);
    tn_ordering_bytes(s->in->ordering, &held->array, a->row - held->first, &v->mine);
    tn_ordering_bytes(s->stored, batch, at, &v->theirs);
    return tn_str_compare(tn_buf_view(&v->mine), tn_buf_view(&v->theirs)) < 0;
}

/* Answers what lies in the batch; *at moves past it. */
static int answer_batch(tarn_cx *cx, const settling *s, const struct ArrowArray *batch,
                        int64_t first, size_t *at, size_t end, values *v)
{
    int rc = TARN_OK;

    if (s->orders != NULL) {
        tn_buf_reset(&v->numbers);
        if (tn_buf_extend(&v->numbers, (size_t)batch->length * sizeof(uint64_t)) == NULL)
            TN_TRY(tn_fail_memory(cx));
        TN_TRY(tn_ordering_u64(cx, s->stored, batch, (uint64_t *)(void *)v->numbers.data));
    }
    for (; *at < end && TN_PLACE_ROW(s->asked[*at].place) < first + batch->length; (*at)++)
        s->asked[*at].lost =
            loses(s, &s->asked[*at], batch, TN_PLACE_ROW(s->asked[*at].place) - first, v);
    TN_TRY(tn_buf_check(cx, &v->mine));
    TN_TRY(tn_buf_check(cx, &v->theirs));
done:
    return rc;
}

/* Row groups that have places in asked[at .. end). */
static size_t pick_groups(const settling *s, const tn_parquet *file, size_t at, size_t end,
                          uint32_t *groups)
{
    int64_t past = 0;
    size_t n = 0;

    for (size_t g = 0; g < file->footer.group_count && at < end; g++) {
        size_t from = at;

        past += file->footer.groups[g].rows;
        while (at < end && TN_PLACE_ROW(s->asked[at].place) < past)
            at++;
        if (at != from)
            groups[n++] = (uint32_t)g;
    }
    return n;
}

static int answer_file(tarn_cx *cx, size_t i, void *arg)
{
    settling *s = arg;
    size_t at = s->files[i], end = s->files[i + 1], count;
    const tn_base_file *base = s->in->files[TN_PLACE_FILE(s->asked[at].place)];
    uint32_t *columns = NULL, *groups = NULL;
    bool *present = NULL;
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    tn_parquet_scan_options options = {0};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    values v = {0};
    int64_t first;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, s->in->store, base->path, &file));
    columns = tn_alloc(cx, (size_t)s->columns.n_children * sizeof *columns);
    present = tn_calloc(cx, (size_t)s->columns.n_children, sizeof *present);
    groups = tn_alloc(cx, file.footer.group_count * sizeof *groups);
    if (columns == NULL || present == NULL || groups == NULL)
        TN_TRY(TARN_E_NOMEM);
    count = find_columns(s, &file, columns, present);
    if (count == 0)
        goto done; /* null is lowest: nothing loses */
    options = (tn_parquet_scan_options){.columns = columns,
                                        .column_count = count,
                                        .groups = groups,
                                        .group_count = pick_groups(s, &file, at, end, groups)};
    TN_TRY(tn_parquet_scan_open(cx, &file, &options, &scan));
    TN_TRY(tn_parquet_scan_schema(cx, scan, &schema));
    while (at < end) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        TN_TRY(fit_batch(cx, s, &schema, present, &batch));
        TN_TRY(answer_batch(cx, s, &batch, first, &at, end, &v));
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    tn_buf_clear(&v.numbers);
    tn_buf_clear(&v.mine);
    tn_buf_clear(&v.theirs);
    free(columns);
    free(present);
    free(groups);
    return rc;
}

/* Where the places of each file begin. */
static int cut_files(tarn_cx *cx, settling *s)
{
    s->files = tn_alloc(cx, (s->in->file_count + 1) * sizeof *s->files);
    if (s->files == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < s->asked_count; i++)
        if (i == 0 || TN_PLACE_FILE(s->asked[i].place) != TN_PLACE_FILE(s->asked[i - 1].place))
            s->files[s->file_count++] = i;
    s->files[s->file_count] = s->asked_count;
    return TARN_OK;
}

static int find_losers(tarn_cx *cx, settling *s)
{
    size_t rows = (size_t)s->in->rows;
    int rc = TARN_OK;

    ask_all(s);
    if (s->asked_count == 0)
        goto done;
    TN_TRY(tn_incoming_charge(cx, s->asked_count * sizeof *s->asked + rows * sizeof *s->orders,
                              "rows that change their partition", &s->charged));
    s->asked = tn_alloc(cx, s->asked_count * sizeof *s->asked);
    if (s->asked == NULL)
        TN_TRY(TARN_E_NOMEM);
    ask_all(s);
    qsort(s->asked, s->asked_count, sizeof *s->asked, compare_asked);
    TN_TRY(cut_files(cx, s));
    TN_TRY(bind_columns(cx, s));
    if (tn_ordering_is_u64(s->in->ordering)) {
        s->orders = tn_alloc(cx, rows * sizeof *s->orders);
        if (s->orders == NULL)
            TN_TRY(TARN_E_NOMEM);
        TN_TRY(tn_parallel(cx, s->in->held_count, order_held, s));
    }
    TN_TRY(tn_parallel(cx, s->file_count, answer_file, s));
    for (size_t i = 0; i < s->asked_count; i++)
        if (s->asked[i].lost)
            s->lost[s->asked[i].row / 8] |= (uint8_t)(1u << s->asked[i].row % 8);
done:
    return rc;
}

/* --- moving --- */

/* Extras of the row from *at on; *at moves past them. */
static void pass_extras(const tn_incoming *in, size_t row, size_t *at, size_t *end)
{
    while (*at < extra_count(in) && extras_at(in, *at)->row < row)
        (*at)++;
    *end = *at;
    while (*end < extra_count(in) && extras_at(in, *end)->row == row)
        (*end)++;
}

/* True when the row goes to its own partition. */
static bool move_row(tn_incoming *in, size_t row, size_t from, size_t end)
{
    tn_extra *extras = (tn_extra *)(void *)in->extras.data;
    uint64_t *place = &in->facts.places[row];
    bool moves = elsewhere(in, row, *place), home = !moves;

    for (size_t i = from; i < end; i++) {
        bool away = elsewhere(in, row, extras[i].place);

        extras[i].deletes = away;
        moves = moves || away;
        /* The place that is an update, if there is one, stands with the row. */
        if (!away && !home) {
            uint64_t kept = extras[i].place;

            extras[i].place = *place;
            extras[i].deletes = true;
            *place = kept;
            home = true;
        }
    }
    if (!home)
        in->facts.flags[row] |= TN_ROW_MOVED;
    return moves;
}

int tn_incoming_settle_global(tarn_cx *cx, tn_incoming *in, bool move, bool event_time,
                              int64_t *moved)
{
    settling s = {.in = in, .move = move, .event_time = event_time};
    size_t extra = 0, end = 0;
    int rc = TARN_OK;

    assert(in->options.global && in->plan == NULL);
    *moved = 0;
    if (!move || in->facts.places == NULL)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, (uint64_t)in->rows / 8 + 1, "rows that change their partition",
                              &s.charged));
    s.lost = tn_calloc(cx, (size_t)in->rows / 8 + 1, 1);
    if (s.lost == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (event_time && in->ordering != NULL)
        TN_TRY(find_losers(cx, &s));
    for (size_t i = 0; i < (size_t)in->rows; i++) {
        pass_extras(in, i, &extra, &end);
        if (!stays(in, i) && !tn_bit(s.lost, (int64_t)i))
            *moved += move_row(in, i, extra, end);
        extra = end;
    }
done:
    tn_budget_give(cx, s.charged);
    if (s.stored != NULL)
        tn_ordering_close(s.stored);
    tn_field_release(&s.columns);
    free(s.numbers);
    free(s.orders);
    free(s.asked);
    free(s.files);
    free(s.lost);
    return rc;
}
