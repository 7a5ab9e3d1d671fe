/* The file before: its rows taken over, changed, deleted, in their order.
 *
 *   group ── no change in it ──> carried over as it is, or (small ones beside an open row group)
 *                                decoded into that
 *         ── changes ──────────> decoded batch by batch; each batch goes into the file up to the
 *                                last change that is known, the rest is held for the next call
 *
 * I1: rows stay in their order; a changed row stands where the stored one stood.
 * I2: which row wins is base_wins.c's to say.
 * I3: what is in memory of the file is one batch.
 * I4: row groups do not crumble: one that is rewritten, and is small then, goes on with a small
 *     neighbour behind it; a small last one goes on with the rows that are new.
 * I5: dates and times of the hybrid calendar become those of today's, as a reader of the file shows
 *     them: the new footer no longer names the old calendar, and no such row group is carried. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/gather.h"
#include "batch/rows.h"
#include "batch/unify.h"
#include "exec/base_state.h"

/* --- opening --- */

static int64_t column_of(const tn_parquet *file, const char *name)
{
    const tn_node *root = &file->schema.nodes[0];
    uint32_t at = root->first_child;

    for (uint32_t i = 0; i < root->child_count; i++) {
        if (tn_str_is(file->schema.nodes[at].name, name))
            return i;
        at = file->schema.nodes[at].next_sibling;
    }
    return -1;
}

/* Which columns of the file stand for which of the schema. */
static int match_columns(tarn_cx *cx, tn_base_writer *w)
{
    const struct ArrowSchema *schema = w->job->schema;
    tn_base_old *old = &w->old;
    size_t count = (size_t)schema->n_children;

    old->places = tn_arena_array(cx, &w->arena, count, sizeof old->places[0]);
    old->columns = tn_arena_array(cx, &w->arena, count, sizeof old->columns[0]);
    if (old->places == NULL || old->columns == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        int64_t at = tn_base_is_made(w->job, (int64_t)i)
                         ? -1
                         : column_of(&old->parquet, schema->children[i]->name);

        old->places[i] = at < 0 ? -1 : (int64_t)old->column_count;
        if (at >= 0)
            old->columns[old->column_count++] = (uint32_t)at;
    }
    return TARN_OK;
}

/* Columns are taken by what the format says of them: Arrow types of another writer's are its own
 * matter. */
static void forget_arrow_schema(tn_parquet *file)
{
    for (size_t i = 0; i < file->footer.key_value_count; i++)
        if (tn_str_is(file->footer.key_values[i].key, "ARROW:schema"))
            file->footer.key_values[i].key = (tn_str){0};
}

int tn_base_old_open(tarn_cx *cx, tn_base_writer *w)
{
    const tn_base_file *before = w->place.before;
    const tn_base_job *job = w->job;
    tn_base_old *old = &w->old;
    int rc = TARN_OK;

    TN_TRY(tn_store_open_file(cx, job->store, before->path, &old->bytes));
    TN_TRY(tn_parquet_open(cx, job->store, before->path, &old->parquet));
    if (before->size_bytes != 0 && old->parquet.size_bytes != before->size_bytes)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s has %" PRIu64 " bytes, and had %" PRIu64
                " when the write was planned; run it again",
                TN_STR_ARG(before->path), old->parquet.size_bytes, before->size_bytes);
    forget_arrow_schema(&old->parquet);
    w->keys.about += (uint64_t)old->parquet.footer.rows;
    w->counts.groups = old->parquet.footer.group_count;
    TN_TRY(match_columns(cx, w));
    TN_TRY(tn_read_calendar_init(cx, &old->parquet, &w->arena, &old->calendar));
    if (job->merge_mode == TN_MERGE_EVENT_TIME && job->ordering_count != 0)
        TN_TRY(
            tn_ordering_open(cx, job->schema, job->ordering, job->ordering_count, &old->ordering));
done:
    return rc;
}

void tn_base_old_close(tn_base_old *old)
{
    tn_parquet_scan_close(old->scan);
    tn_array_release(&old->held);
    tn_array_release(&old->waiting);
    tn_buf_clear(&old->waiting_positions);
    tn_buf_clear(&old->waiting_deletes);
    tn_base_few_clear(&old->few);
    tn_field_release(&old->scanned);
    tn_ordering_close(old->ordering);
    tn_store_close_file(old->bytes);
    tn_parquet_close(&old->parquet);
    tn_buf_clear(&old->runs);
    tn_buf_clear(&old->held_order);
    tn_buf_clear(&old->incoming_order);
    tn_buf_clear(&old->held_bytes);
    tn_buf_clear(&old->incoming_bytes);
    *old = (tn_base_old){0};
}

/* --- decoding --- */

static int64_t group_rows(const tn_base_old *old)
{
    return old->parquet.footer.groups[old->group].rows;
}

static int open_scan(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_old *old = &w->old;
    tn_parquet_scan_options options = {.columns = old->columns,
                                       .column_count = old->column_count,
                                       .groups = &old->group,
                                       .group_count = 1,
                                       .int96_micros = true,
                                       .int96_utc = true};
    int rc = TARN_OK;

    TN_TRY(tn_parquet_scan_open(cx, &old->parquet, &options, &old->scan));
    if (old->scanned.release == NULL)
        TN_TRY(tn_parquet_scan_schema(cx, old->scan, &old->scanned));
done:
    return rc;
}

/* A batch of the scan as one of the job's schema, in `held`. */
static int hold(tarn_cx *cx, tn_base_writer *w, struct ArrowArray *batch)
{
    const struct ArrowSchema *schema = w->job->schema;
    tn_base_old *old = &w->old;
    struct ArrowArray rows = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &rows, batch->length, 1, (size_t)schema->n_children));
    for (int64_t i = 0; i < schema->n_children; i++) {
        int64_t at = old->places[i];

        if (tn_base_is_made(w->job, i))
            continue;
        if (at < 0) {
            TN_TRY(tn_rows_nulls(cx, schema->children[i], batch->length, rows.children[i]));
            continue;
        }
        TN_TRY(tn_read_calendar_apply(cx, &old->calendar, old->columns[at],
                                      old->scanned.children[at], batch->children[at]));
        TN_TRY(
            tn_unify_cast(cx, old->scanned.children[at], schema->children[i], batch->children[at]));
        tn_array_move(batch->children[at], rows.children[i]);
    }
    tn_array_release(&old->held);
    tn_array_move(&rows, &old->held);
done:
    if (rc != TARN_OK)
        tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(old->parquet.path));
    tn_array_release(&rows);
    return rc;
}

/* The next batch of the group; *ended: there is none, and the group is done. */
static int next_batch(tarn_cx *cx, tn_base_writer *w, bool *ended)
{
    tn_base_old *old = &w->old;
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    if (old->scan == NULL)
        TN_TRY(open_scan(cx, w));
    TN_TRY(tn_parquet_scan_next(cx, old->scan, &batch, &old->held_first));
    *ended = batch.length == 0;
    if (!*ended) {
        TN_TRY(hold(cx, w, &batch));
        TN_TRY(tn_base_order_held(cx, old));
        goto done;
    }
    tn_array_release(&old->held);
    tn_parquet_scan_close(old->scan);
    old->scan = NULL;
    old->group_first += group_rows(old);
    old->group++;
done:
    tn_array_release(&batch);
    return rc;
}

/* --- rows --- */

int tn_base_add_run(tarn_cx *cx, tn_buf *runs, bool incoming, int64_t first, int64_t count)
{
    tn_base_run *last = NULL, run = {incoming, first, count};

    if (count == 0)
        return TARN_OK;
    if (runs->len != 0)
        last = (tn_base_run *)(void *)(runs->data + runs->len) - 1;
    if (last != NULL && last->incoming == incoming && last->first + last->count == first) {
        last->count += count;
        return TARN_OK;
    }
    tn_buf_add(runs, &run, sizeof run);
    return tn_buf_check(cx, runs);
}

static int put_runs(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *incoming)
{
    tn_base_old *old = &w->old;

    return tn_base_put_runs(cx, w, &old->held, incoming,
                            (const tn_base_run *)(const void *)old->runs.data,
                            old->runs.len / sizeof(tn_base_run));
}

/* What is held and not done goes into the file as it was. */
static int keep_held(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_old *old = &w->old;
    int64_t end = old->held_first + old->held.length;
    int rc = TARN_OK;

    if (old->held.release == NULL || old->at == end)
        return TARN_OK;
    tn_buf_reset(&old->runs);
    TN_TRY(tn_base_add_run(cx, &old->runs, false, old->at - old->held_first, end - old->at));
    TN_TRY(put_runs(cx, w, NULL));
    old->at = end;
done:
    return rc;
}

/* The rest of the group, decoded. */
static int keep_group(tarn_cx *cx, tn_base_writer *w)
{
    bool ended = false;
    int rc = TARN_OK;

    for (;;) {
        TN_TRY(keep_held(cx, w));
        TN_TRY(next_batch(cx, w, &ended));
        if (ended)
            break;
    }
done:
    return rc;
}

/* --- carrying over --- */

uint64_t tn_base_old_group_limit(const tn_base_writer *w)
{
    return w->job->group_bytes != 0 ? w->job->group_bytes : TN_BASE_GROUP_BYTES;
}

/* I4: less than three quarters of a row group. */
bool tn_base_old_small(const tn_base_writer *w, uint64_t bytes)
{
    return bytes < tn_base_old_group_limit(w) / 4 * 3;
}

uint64_t tn_base_old_group_bytes(const tn_base_old *old)
{
    const tn_row_group_meta *group = &old->parquet.footer.groups[old->group];
    uint64_t bytes = 0;

    for (size_t i = 0; i < group->column_count; i++)
        bytes += (uint64_t)group->columns[i].compressed_bytes;
    return bytes;
}

/* Leaves of row groups in which rows change: columns that are made are so for all rows. */
static int plan_splice(tarn_cx *cx, tn_base_writer *w, const tn_schema *schema)
{
    tn_base_old *old = &w->old;
    const tn_node *node = &schema->nodes[schema->nodes[0].first_child];

    old->splice = tn_arena_array(cx, &w->arena, schema->leaf_count, sizeof old->splice[0]);
    if (old->splice == NULL)
        return TARN_E_NOMEM;
    /* Rows that change may have values where the file has no column. */
    old->spliced = old->carried;
    for (size_t i = 0; i < schema->leaf_count; i++) {
        old->splice[i] = old->carry[i];
        if (i >= TN_META_COUNT)
            old->spliced = old->spliced && old->carry[i].from >= 0;
    }
    for (size_t i = 0; i < TN_META_COUNT; i++) {
        if (tn_base_is_made(w->job, (int64_t)i))
            old->splice[node->first_leaf] =
                (tn_carry_leaf){.from = -1, .made = tn_base_made_value(w, i)};
        else
            old->spliced = old->spliced && old->carry[node->first_leaf].from >= 0;
        node = &schema->nodes[node->next_sibling];
    }
    return TARN_OK;
}

int tn_base_old_plan(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_old *old = &w->old;
    const tn_schema *schema = tn_parquet_sink_schema(w->sink);
    const tn_node *node = &schema->nodes[schema->nodes[0].first_child];
    int rc = TARN_OK;

    TN_TRY(tn_carry_plan(cx, &old->parquet, schema, &w->arena, &old->carry, &old->carried));
    for (size_t i = 0; i < TN_META_COUNT; i++) {
        /* Partition paths are those that stand there. */
        if (i == TN_META_FILE || (tn_base_is_made(w->job, (int64_t)i) && !w->job->meta_fields))
            old->carry[node->first_leaf] =
                (tn_carry_leaf){.from = -1, .made = tn_base_made_value(w, i)};
        node = &schema->nodes[node->next_sibling];
    }
    TN_TRY(plan_splice(cx, w, schema));
done:
    return rc;
}

int tn_base_old_carry(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_old *old = &w->old;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_sink_flush(cx, w->sink));
    TN_TRY(tn_parquet_sink_carry(cx, w->sink, &old->parquet, old->bytes, old->group, old->carry));
    w->counts.groups_carried++;
    w->counts.bytes_carried += tn_base_old_group_bytes(old);
    old->at += group_rows(old);
    old->group_first += group_rows(old);
    old->group++;
done:
    return rc;
}

/* Decodes what is left of a group. A row group that is about as large as it should be stays one
 * (I4). */
static int take_group(tarn_cx *cx, tn_base_writer *w)
{
    uint64_t limit = tn_base_old_group_limit(w);
    int rc = TARN_OK;

    TN_TRY(keep_group(cx, w));
    tn_parquet_sink_cut_at(w->sink, limit);
    if (!tn_base_old_small(w, tn_parquet_sink_open_bytes(w->sink)))
        TN_TRY(tn_parquet_sink_flush(cx, w->sink));
done:
    return rc;
}

/* Before the first rows of a group are decoded. */
static void begin_group(tn_base_writer *w)
{
    uint64_t limit = tn_base_old_group_limit(w), most = limit + limit / 2;

    if (w->old.carried && tn_base_old_group_bytes(&w->old) <= most)
        tn_parquet_sink_cut_at(w->sink, most);
}

int tn_base_old_pass(tarn_cx *cx, tn_base_writer *w, bool joins)
{
    tn_base_old *old = &w->old;
    uint64_t open = tn_parquet_sink_open_bytes(w->sink);

    joins = joins || (open != 0 && tn_base_old_small(w, open));
    if (old->scan != NULL || !old->carried ||
        (joins && tn_base_old_small(w, tn_base_old_group_bytes(old)))) {
        if (old->scan == NULL)
            begin_group(w);
        return take_group(cx, w);
    }
    return tn_base_old_carry(cx, w);
}

/* --- changes --- */

/* Brings rows [i, n) of what comes in, all of them for the rows that are held, into the file, and
 * what stands before and between them. */
static int apply(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                 const int64_t *positions, const uint8_t *deletes, int64_t i, int64_t n)
{
    tn_base_old *old = &w->old;
    int rc = TARN_OK;

    tn_buf_reset(&old->runs);
    for (int64_t next; i < n; i = next) {
        int64_t stored = positions[i] - old->held_first, from = old->at - old->held_first, best;

        for (next = i + 1; next < n && positions[next] == positions[i]; next++)
            ;
        best = tn_base_winner(w, rows, deletes, i, next, stored);
        if (best < 0) {
            TN_TRY(tn_base_add_run(cx, &old->runs, false, from, stored - from + 1));
        } else {
            bool drop = deletes != NULL && deletes[best] != 0;

            TN_TRY(tn_base_add_run(cx, &old->runs, false, from, stored - from));
            if (!drop)
                TN_TRY(tn_base_add_run(cx, &old->runs, true, best, 1));
            w->updates += !drop;
            w->deletes += drop;
        }
        old->at = positions[i] + 1;
    }
    TN_TRY(tn_buf_check(cx, &old->held_bytes));
    TN_TRY(tn_buf_check(cx, &old->incoming_bytes));
    TN_TRY(put_runs(cx, w, rows));
done:
    return rc;
}

/* Makes the row at `position` one of those held. */
static int reach(tarn_cx *cx, tn_base_writer *w, int64_t position)
{
    tn_base_old *old = &w->old;
    bool ended;
    int rc = TARN_OK;

    if (position < old->at || position >= old->parquet.footer.rows)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: row %" PRId64 " was to be changed, of %" PRId64 " rows of which %" PRId64
                " are done; it was replaced meanwhile, or an index is wrong",
                TN_STR_ARG(old->parquet.path), position, old->parquet.footer.rows, old->at);
    while (old->group_first + group_rows(old) <= position)
        TN_TRY(tn_base_old_pass(cx, w, false));
    if (old->scan == NULL)
        begin_group(w);
    while (old->held.release == NULL || old->held_first + old->held.length <= position) {
        TN_TRY(keep_held(cx, w));
        TN_TRY(next_batch(cx, w, &ended));
        assert(!ended);
    }
done:
    return rc;
}

/* Rows whose positions are all known. */
static int change_rows(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                       const int64_t *positions, const uint8_t *deletes)
{
    tn_base_old *old = &w->old;
    int rc = TARN_OK;

    TN_TRY(tn_base_order_incoming(cx, old, rows));
    for (int64_t i = 0, n; i < rows->length; i = n) {
        int64_t end;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(reach(cx, w, positions[i]));
        end = old->held_first + old->held.length;
        for (n = i + 1; n < rows->length && positions[n] < end; n++)
            if (positions[n] < positions[n - 1])
                TN_FAIL(TARN_E_CORRUPT,
                        "%.*s: changes are not in the order of the rows: %" PRId64
                        " after %" PRId64,
                        TN_STR_ARG(old->parquet.path), positions[n], positions[n - 1]);
        TN_TRY(apply(cx, w, rows, positions, deletes, i, n));
    }
done:
    return rc;
}

/* --- rows that wait: those of the last position, which more may follow for --- */

int tn_base_old_flush(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_old *old = &w->old;
    const int64_t *positions = (const int64_t *)(const void *)old->waiting_positions.data;
    int rc = TARN_OK;

    if (old->waiting.release == NULL)
        return TARN_OK;
    TN_TRY(change_rows(cx, w, &old->waiting, positions, old->waiting_deletes.data));
    tn_array_release(&old->waiting);
    tn_buf_reset(&old->waiting_positions);
    tn_buf_reset(&old->waiting_deletes);
done:
    return rc;
}

/* Adds a copy of the first `count` rows. */
static int wait_rows(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows, int64_t first,
                     int64_t count, const int64_t *positions, const uint8_t *deletes)
{
    tn_base_old *old = &w->old;
    tn_gather_part parts[2] = {{.array = &old->waiting, .count = old->waiting.length},
                               {.array = rows, .first = rows->offset + first, .count = count}};
    size_t from = old->waiting.release == NULL;
    struct ArrowArray all = {0};
    int rc = TARN_OK;

    TN_TRY(tn_gather(cx, w->job->schema, parts + from, 2 - from, &all));
    tn_array_release(&old->waiting);
    tn_array_move(&all, &old->waiting);
    for (int64_t i = first; i < first + count; i++) {
        tn_buf_add(&old->waiting_positions, &positions[i], sizeof positions[i]);
        tn_buf_u8(&old->waiting_deletes, deletes != NULL && deletes[i] != 0);
    }
    TN_TRY(tn_buf_check(cx, &old->waiting_positions));
    TN_TRY(tn_buf_check(cx, &old->waiting_deletes));
done:
    tn_array_release(&all);
    return rc;
}

int tn_base_old_change(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                       const int64_t *positions, const uint8_t *deletes)
{
    tn_base_old *old = &w->old;
    int64_t first = 0, last = rows->length, waits = -1;
    struct ArrowArray part = *rows;
    int rc = TARN_OK;

    if (old->waiting.release != NULL)
        waits = ((const int64_t *)(const void *)old->waiting_positions.data)[0];
    while (first < last && positions[first] == waits)
        first++;
    if (first != 0)
        TN_TRY(wait_rows(cx, w, rows, 0, first, positions, deletes));
    if (first == last)
        goto done;
    TN_TRY(tn_base_old_flush(cx, w));
    while (last > first && positions[last - 1] == positions[rows->length - 1])
        last--;
    part.offset += first;
    part.length = last - first;
    part.null_count = 0;
    if (part.length != 0)
        TN_TRY(
            change_rows(cx, w, &part, positions + first, deletes != NULL ? deletes + first : NULL));
    TN_TRY(wait_rows(cx, w, rows, last, rows->length - last, positions, deletes));
done:
    return rc;
}

int tn_base_old_end(tarn_cx *cx, tn_base_writer *w, bool more)
{
    tn_base_old *old = &w->old;
    int rc = TARN_OK;

    if (old->ended)
        return TARN_OK;
    TN_TRY(tn_base_splice_end(cx, w, more));
    TN_TRY(tn_base_old_flush(cx, w));
    while (old->group < old->parquet.footer.group_count)
        TN_TRY(tn_base_old_pass(cx, w, more && old->group + 1 == old->parquet.footer.group_count));
    old->ended = true;
done:
    return rc;
}
