/* Rows that were found in another partition than their own.
 *
 *   found at     move                       event time          becomes
 *   its own      any                        any                 an update there
 *   elsewhere    no, or it is a delete      any                 an update (or delete) there
 *   elsewhere    yes                        stored is greater   an update there, which will lose
 *   elsewhere    yes                        else                a delete there, and an insert into
 *                                                               its own partition (an update,
 *                                                               where it has a place in that, too)
 *
 * I1: a row that loses at one of its places moves nowhere.
 *
 * I2: of the table only the ordering columns of row groups with such places are read. */
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
    uint64_t place, row;
    uint64_t order; /* of the row; where values do not fit 8 bytes: where it stands in `texts` */
    bool lost;
} asked;

typedef struct settling {
    tn_incoming *in;
    uint64_t *orders;           /* of rows held, where values fit 8 bytes */
    tn_buf texts;               /* ordering values as bytes: length (4 bytes) and bytes */
    struct ArrowSchema columns; /* the ordering columns alone */
    uint32_t *numbers;          /* 0, 1, 2 … */
    tn_ordering *stored;        /* over `columns` */
    bool u64;
    asked *asked; /* by place, when answers are looked for */
    size_t asked_count, asked_cap;
    size_t *files; /* where each file's begin; one more than there are files with some */
    size_t file_count;
    size_t extra; /* those of rows before are behind */
    uint64_t charged;
    uint8_t *lost; /* per row, a bit */
    int64_t moved;
} settling;

static bool elsewhere(const tn_incoming *in, const tn_row_facts *facts, size_t i, uint64_t place)
{
    return in->files[TN_PLACE_FILE(place)]->partition != facts->partitions[i];
}

static tn_extra *extras_of(const tn_incoming *in)
{
    return (tn_extra *)(void *)in->extras.data;
}

/* Extras of a row; those of rows before it are passed. */
static tn_extra *pass_extras(settling *s, uint64_t row, size_t *count)
{
    size_t all = s->in->extras.len / sizeof(tn_extra), end;
    tn_extra *extras = extras_of(s->in);

    while (s->extra < all && extras[s->extra].row < row)
        s->extra++;
    for (end = s->extra; end < all && extras[end].row == row;)
        end++;
    *count = end - s->extra;
    return *count != 0 ? extras + s->extra : NULL;
}

static bool stays(const tn_row_facts *facts, size_t i)
{
    return facts->places[i] == TN_NO_PLACE ||
           (facts->flags[i] & (TN_ROW_DROPPED | TN_ROW_DELETE)) != 0;
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
    tn_buf numbers, text;
} values;

static bool loses(const settling *s, const asked *a, const struct ArrowArray *batch, int64_t at,
                  values *v)
{
    const uint8_t *mine;
    uint32_t len;

    if (s->u64)
        return a->order < ((const uint64_t *)(const void *)v->numbers.data)[at];
    mine = s->texts.data + a->order;
    memcpy(&len, mine, sizeof len);
    tn_buf_reset(&v->text);
    tn_ordering_bytes(s->stored, batch, at, &v->text);
    return tn_str_compare((tn_str){(const char *)mine + sizeof len, len}, tn_buf_view(&v->text)) <
           0;
}

/* Answers what lies in the batch; *at moves past it. */
static int answer_batch(tarn_cx *cx, const settling *s, const struct ArrowArray *batch,
                        int64_t first, size_t *at, size_t end, values *v)
{
    int rc = TARN_OK;

    if (s->u64) {
        tn_buf_reset(&v->numbers);
        if (tn_buf_extend(&v->numbers, (size_t)batch->length * sizeof(uint64_t)) == NULL)
            TN_TRY(tn_fail_memory(cx));
        TN_TRY(tn_ordering_u64(cx, s->stored, batch, (uint64_t *)(void *)v->numbers.data));
    }
    for (; *at < end && TN_PLACE_ROW(s->asked[*at].place) < first + batch->length; (*at)++)
        s->asked[*at].lost =
            loses(s, &s->asked[*at], batch, TN_PLACE_ROW(s->asked[*at].place) - first, v);
    TN_TRY(tn_buf_check(cx, &v->text));
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
    tn_buf_clear(&v.text);
    free(columns);
    free(present);
    free(groups);
    return rc;
}

static int compare_asked(const void *a, const void *b)
{
    const asked *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Where the places of each file begin. */
static int cut_files(tarn_cx *cx, settling *s)
{
    free(s->files);
    s->file_count = 0;
    s->files = tn_alloc(cx, (s->in->file_count + 1) * sizeof *s->files);
    if (s->files == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < s->asked_count; i++)
        if (i == 0 || TN_PLACE_FILE(s->asked[i].place) != TN_PLACE_FILE(s->asked[i - 1].place))
            s->files[s->file_count++] = i;
    s->files[s->file_count] = s->asked_count;
    return TARN_OK;
}

/* Answers what was asked so far, and forgets it. */
static int answer(tarn_cx *cx, settling *s)
{
    int rc = TARN_OK;

    if (s->asked_count == 0)
        return TARN_OK;
    qsort(s->asked, s->asked_count, sizeof *s->asked, compare_asked);
    TN_TRY(cut_files(cx, s));
    TN_TRY(tn_parallel(cx, s->file_count, answer_file, s));
    for (size_t i = 0; i < s->asked_count; i++)
        if (s->asked[i].lost)
            tn_bit_set(s->lost, (int64_t)s->asked[i].row);
    s->asked_count = 0;
    tn_buf_reset(&s->texts);
done:
    return rc;
}

/* --- asking --- */

/* The ordering value of row i, behind s->texts. */
static int keep_text(tarn_cx *cx, settling *s, const tn_row_facts *facts, size_t i)
{
    size_t at = s->texts.len, cap = s->texts.cap;
    uint32_t len = 0;
    int rc = TARN_OK;

    tn_buf_add(&s->texts, &len, sizeof len);
    if (facts->texts != NULL) {
        uint64_t from = i != 0 ? facts->orders[i - 1] : 0;

        tn_buf_add(&s->texts, facts->texts + from, (size_t)(facts->orders[i] - from));
    } else {
        const tn_held *held = tn_incoming_held(s->in, (int64_t)i);

        tn_ordering_bytes(s->in->ordering, &held->array, (int64_t)i - held->first, &s->texts);
    }
    TN_TRY(tn_buf_check(cx, &s->texts));
    len = (uint32_t)(s->texts.len - at - sizeof len);
    memcpy(s->texts.data + at, &len, sizeof len);
    TN_TRY(tn_incoming_charge(cx, s->texts.cap - cap, "rows that change their partition",
                              &s->charged));
done:
    return rc;
}

static int ask(tarn_cx *cx, settling *s, const tn_row_facts *facts, size_t i, uint64_t place)
{
    asked made = {.place = place, .row = (uint64_t)facts->first + i};
    size_t cap = s->asked_cap;
    int rc = TARN_OK;

    if (!elsewhere(s->in, facts, i, place))
        return TARN_OK;
    if (s->u64) {
        made.order = facts->orders != NULL ? facts->orders[i] : s->orders[i];
    } else {
        made.order = s->texts.len;
        TN_TRY(keep_text(cx, s, facts, i));
    }
    TN_TRY(tn_grow(cx, &s->asked, s->asked_count, &s->asked_cap, sizeof *s->asked));
    TN_TRY(tn_incoming_charge(cx, (s->asked_cap - cap) * sizeof *s->asked,
                              "rows that change their partition", &s->charged));
    s->asked[s->asked_count++] = made;
done:
    return rc;
}

static int ask_rows(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    settling *s = arg;
    int rc = TARN_OK;

    for (size_t i = 0; i < (size_t)facts->count; i++) {
        size_t count;
        const tn_extra *extras = pass_extras(s, (uint64_t)facts->first + i, &count);

        if (stays(facts, i))
            continue;
        TN_TRY(ask(cx, s, facts, i, facts->places[i]));
        for (size_t k = 0; k < count; k++)
            TN_TRY(ask(cx, s, facts, i, extras[k].place));
        if (s->asked_count * sizeof *s->asked + s->texts.len > s->in->memory_max / 2)
            TN_TRY(answer(cx, s));
    }
done:
    return rc;
}

static int order_held(tarn_cx *cx, size_t i, void *arg)
{
    settling *s = arg;
    const tn_held *held = &s->in->held[i];

    return tn_ordering_u64(cx, s->in->ordering, &held->array, s->orders + held->first);
}

static int find_losers(tarn_cx *cx, settling *s)
{
    size_t rows = (size_t)s->in->rows;
    int rc = TARN_OK;

    TN_TRY(bind_columns(cx, s));
    s->u64 = tn_ordering_is_u64(s->in->ordering);
    if (s->u64 && !s->in->spilled) {
        TN_TRY(tn_incoming_charge(cx, rows * sizeof *s->orders, "ordering values of rows",
                                  &s->charged));
        s->orders = tn_alloc(cx, rows * sizeof *s->orders);
        if (s->orders == NULL)
            TN_TRY(TARN_E_NOMEM);
        TN_TRY(tn_parallel(cx, s->in->held_count, order_held, s));
    }
    TN_TRY(tn_incoming_each(cx, s->in, TN_FACTS_KEYS, ask_rows, s));
    TN_TRY(answer(cx, s));
    s->extra = 0;
done:
    return rc;
}

/* --- moving --- */

/* True when the row goes to its own partition. */
static bool move_row(const tn_incoming *in, tn_row_facts *facts, size_t i, tn_extra *extras,
                     size_t count)
{
    uint64_t *place = &facts->places[i];
    bool moves = elsewhere(in, facts, i, *place), home = !moves;

    for (size_t k = 0; k < count; k++) {
        bool away = elsewhere(in, facts, i, extras[k].place);

        extras[k].deletes = away;
        moves = moves || away;
        /* The place that is an update, if there is one, stands with the row. */
        if (!away && !home) {
            uint64_t kept = extras[k].place;

            extras[k].place = *place;
            extras[k].deletes = true;
            *place = kept;
            home = true;
        }
    }
    if (!home)
        facts->flags[i] |= TN_ROW_MOVED;
    return moves;
}

static int move_rows(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    settling *s = arg;

    for (size_t i = 0; i < (size_t)facts->count; i++) {
        uint64_t row = (uint64_t)facts->first + i;
        size_t count;
        tn_extra *extras = pass_extras(s, row, &count);

        if (!stays(facts, i) && !tn_bit(s->lost, (int64_t)row))
            s->moved += move_row(s->in, facts, i, extras, count);
    }
    return tn_cx_check(cx);
}

int tn_incoming_settle_global(tarn_cx *cx, tn_incoming *in, bool move, bool event_time,
                              int64_t *moved)
{
    settling s = {.in = in};
    int rc = TARN_OK;

    assert(in->options.global && in->plan == NULL);
    *moved = 0;
    if (!move || in->rows == 0 || in->file_count == 0)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, (uint64_t)in->rows / 8 + 1, "rows that change their partition",
                              &s.charged));
    s.lost = tn_calloc(cx, (size_t)in->rows / 8 + 1, 1);
    if (s.lost == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (event_time && in->ordering != NULL)
        TN_TRY(find_losers(cx, &s));
    TN_TRY(tn_incoming_each(cx, in, TN_FACTS_WRITE, move_rows, &s));
    *moved = s.moved;
done:
    tn_budget_give(cx, s.charged);
    if (s.stored != NULL)
        tn_ordering_close(s.stored);
    tn_field_release(&s.columns);
    tn_buf_clear(&s.texts);
    free(s.numbers);
    free(s.orders);
    free(s.asked);
    free(s.files);
    free(s.lost);
    return rc;
}
