/* Ordering values of stored rows beside those of rows that come in.
 *
 *   open -> ask (a row, a place) … -> answer -> clear
 *
 * I1: of the table only the ordering columns of row groups with such places are read.
 * I2: what was asked is answered by file and place, whatever the order of asking. */
#include "exec/incoming_stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/field.h"
#include "batch/ordering.h"
#include "batch/rows.h"
#include "batch/unify.h"
#include "codec/parquet/arrow.h"

/* A schema of the ordering columns, and how its rows compare. */
static int bind_columns(tarn_cx *cx, tn_stored *s)
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
static size_t find_columns(const tn_stored *s, const tn_parquet *file, uint32_t *columns,
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
static int fit_batch(tarn_cx *cx, const tn_stored *s, const struct ArrowSchema *from,
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

static bool loses(const tn_stored *s, const tn_asked *a, const struct ArrowArray *batch, int64_t at,
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
static int answer_batch(tarn_cx *cx, const tn_stored *s, const struct ArrowArray *batch,
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
static size_t pick_groups(const tn_stored *s, const tn_parquet *file, size_t at, size_t end,
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
    tn_stored *s = arg;
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
    const tn_asked *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Where the places of each file begin. */
static int cut_files(tarn_cx *cx, tn_stored *s)
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

int tn_stored_answer(tarn_cx *cx, tn_stored *s)
{
    int rc = TARN_OK;

    if (s->asked_count == 0)
        return TARN_OK;
    qsort(s->asked, s->asked_count, sizeof *s->asked, compare_asked);
    TN_TRY(cut_files(cx, s));
    TN_TRY(tn_parallel(cx, s->file_count, answer_file, s));
    for (size_t i = 0; i < s->asked_count; i++)
        s->told(s->arg, &s->asked[i]);
    s->asked_count = 0;
    tn_buf_reset(&s->texts);
done:
    return rc;
}

/* --- asking --- */

/* The ordering value of row i, behind s->texts. */
static int keep_text(tarn_cx *cx, tn_stored *s, const tn_row_facts *facts, size_t i)
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
    TN_TRY(
        tn_incoming_charge(cx, s->texts.cap - cap, "ordering values of stored rows", &s->charged));
done:
    return rc;
}

static int order_held(tarn_cx *cx, size_t i, void *arg)
{
    tn_stored *s = arg;
    const tn_held *held = &s->in->held[i];

    return tn_ordering_u64(cx, s->in->ordering, &held->array, s->orders + held->first);
}

int tn_stored_ask(tarn_cx *cx, tn_stored *s, const tn_row_facts *facts, size_t i, uint64_t place)
{
    tn_asked made = {.place = place, .row = (uint64_t)facts->first + i};
    size_t cap = s->asked_cap;
    int rc = TARN_OK;

    if (s->u64) {
        made.order = facts->orders != NULL ? facts->orders[i] : s->orders[i];
    } else {
        made.order = s->texts.len;
        TN_TRY(keep_text(cx, s, facts, i));
    }
    TN_TRY(tn_grow(cx, &s->asked, s->asked_count, &s->asked_cap, sizeof *s->asked));
    TN_TRY(tn_incoming_charge(cx, (s->asked_cap - cap) * sizeof *s->asked,
                              "ordering values of stored rows", &s->charged));
    s->asked[s->asked_count++] = made;
    if (s->asked_count * sizeof *s->asked + s->texts.len > s->in->memory_max / 2)
        TN_TRY(tn_stored_answer(cx, s));
done:
    return rc;
}

int tn_stored_open(tarn_cx *cx, tn_incoming *in, tn_stored_told told, void *arg, tn_stored *out)
{
    size_t rows = (size_t)in->rows;
    tn_stored s = {.in = in, .told = told, .arg = arg};
    int rc = TARN_OK;

    TN_TRY(bind_columns(cx, &s));
    s.u64 = tn_ordering_is_u64(in->ordering);
    if (s.u64 && !in->spilled) {
        TN_TRY(
            tn_incoming_charge(cx, rows * sizeof *s.orders, "ordering values of rows", &s.charged));
        s.orders = tn_alloc(cx, rows * sizeof *s.orders);
        if (s.orders == NULL)
            TN_TRY(TARN_E_NOMEM);
        TN_TRY(tn_parallel(cx, in->held_count, order_held, &s));
    }
    *out = s;
    s = (tn_stored){0};
done:
    tn_stored_clear(cx, &s);
    return rc;
}

void tn_stored_clear(tarn_cx *cx, tn_stored *s)
{
    tn_budget_give(cx, s->charged);
    if (s->stored != NULL)
        tn_ordering_close(s->stored);
    tn_field_release(&s->columns);
    tn_buf_clear(&s->texts);
    free(s->numbers);
    free(s->orders);
    free(s->asked);
    free(s->files);
    *s = (tn_stored){0};
}
