/* A slice merged.
 *
 *   logs ── blocks that count ── map of keys ─┐
 *   base file ── batch by batch ── probe ─────┴─> rows of the base ─> rows of the logs
 *                                                      └──────── a pass ────────┘
 *
 * What a base row meets in the map decides (finalMerge of Hudi 1.2.0):
 *   nothing                        the row stays
 *   a version that wins            the row goes; that version stands among the rows of the logs
 *   a version that loses           the row stays, and that version goes
 *   a version with gaps            a row is made of both
 *
 * I1: a key of the map meets one row of the base file, the first: Hudi does not merge into rows
 *     that have the same key.
 * I2: a map that grows beyond its share of the memory budget is given up before a row was given
 *     out; more passes are made then, each for a part of the keys by hash. A row of the base file
 *     is given out in the pass of its key.
 * I3: positions of rows, where every block has them for this very base file, stand for keys: then
 *     keys of the base file are not even decoded. As in Hudi they are believed, but for those
 *     beyond the file.
 * I4: conditions are asked of base rows before the merge only where versions of logs win whatever
 *     the base row holds. */
#include "exec/slice_read.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "exec/read_rows.h"
#include "exec/slice_fill.h"
#include "exec/slice_load.h"

#define AHEAD            8
#define FILL_ROWS        8192
#define PASSES_MAX       4096
#define WINDOW_BYTES_MAX (16u << 20)
#define WINDOW_BYTES_MIN (64u << 10)

enum stage { STAGE_BASE, STAGE_FILLED, STAGE_LOGS, STAGE_END };

typedef struct match {
    int64_t row;
    tn_slice_entry *entry;
} match;

struct tn_slice_read {
    tn_store *store;
    const tn_scan_task *task;
    tn_arena arena;
    tn_slice_columns columns;
    tn_slice_blocks blocks;
    tn_slice_map map;
    enum stage stage;
    tn_exec_read *base;                /* NULL: none, or not opened yet */
    struct ArrowSchema base_schema;    /* a view of columns.work */
    tn_scan_task base_task, kept_task; /* of rows that satisfy the condition already */
    tn_map keys;                       /* the only ones asked for */
    tn_filter key_filter;              /* that a base row has one of them */
    bool plain;                        /* no block counts: the base file alone */
    bool by_position;                  /* I3 */
    uint8_t *placed;                   /* a bit per row of the base file: the map has it */
    int64_t base_rows, base_at;        /* rows of the file; those before the next batch */
    size_t batch_at, entry_at;         /* what is given out next */
    struct ArrowArray waiting;         /* rows made of both, given out next */
    uint64_t reserved;                 /* of the budget */
    struct tn_budget *budget;          /* that it was taken from */
    tn_scan_counts counts;
    tn_slice_orders orders;
    match *matches;
    tn_slice_item *items;
    size_t match_cap, item_cap;
};

/* ---- opening */

static int make_base_task(tarn_cx *cx, tn_slice_read *r)
{
    size_t n = (size_t)r->columns.base_count;
    tn_scan_project *project = tn_arena_array(cx, &r->arena, n + 1, sizeof *project);
    uint32_t *indices = tn_arena_array(cx, &r->arena, n + 1, sizeof *indices);
    bool early = !r->columns.by_order && !r->map.fills && !r->by_position;

    if (r->by_position)
        n = (size_t)r->columns.placed_count;
    if (project == NULL || indices == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        indices[i] = (uint32_t)i;
        project[i] = (tn_scan_project){&indices[i], 1};
    }
    r->base_schema = r->columns.work;
    r->base_schema.n_children = (int64_t)n;
    r->base_task = *r->task;
    r->base_task.slice = NULL;
    r->base_task.needed = r->base_task.result = &r->base_schema;
    r->base_task.project = project;
    r->base_task.project_count = n;
    r->kept_task = *r->task;
    if (early)
        r->kept_task.filter = NULL; /* I4 */
    else
        r->base_task.filter = r->map.pick.keys != NULL ? &r->key_filter : NULL;
    return TARN_OK;
}

/* Where rows of certain keys are asked for, only these are merged. */
static int pick_keys(tarn_cx *cx, tn_slice_read *r)
{
    size_t n = r->task->record_key_count;
    int rc = TARN_OK;

    if (n == 0 || r->columns.key < 0)
        return TARN_OK;
    for (size_t i = 0; i < n; i++)
        if (tn_map_add(cx, &r->keys, r->task->record_keys[i], &(bool){false}) == NULL)
            return TARN_E_NOMEM;
    TN_TRY(tn_slice_columns_key_filter(cx, &r->columns, r->task->record_keys, n, &r->key_filter));
    r->map.pick.keys = &r->keys;
done:
    return rc;
}

/* What the map may hold. */
static uint64_t share(const tarn_cx *cx)
{
    uint64_t budget = tn_budget_bytes(cx);

    return budget == UINT64_MAX ? budget : budget / (cx->owner ? 2 : 8);
}

static void give_back(tn_slice_read *r)
{
    tarn_cx home = {.budget = r->budget};

    if (r->reserved != 0)
        tn_budget_give(&home, r->reserved);
    r->reserved = 0;
}

static bool reserve(tarn_cx *cx, tn_slice_read *r)
{
    uint64_t bytes = tn_slice_map_bytes(&r->map);

    if (!tn_budget_try(cx, bytes))
        return false;
    r->budget = cx->budget;
    r->reserved = bytes;
    return true;
}

/* Puts the way out behind the text of a damaged log, where it has none. */
static int damaged(tarn_cx *cx, int status)
{
    char text[TN_ERROR_TEXT_MAX / 2];

    if (status != TARN_E_CORRUPT || strstr(tarn_cx_error(cx), "restore") != NULL)
        return status;
    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%s: restore the log from a copy, or roll back the instant that wrote it", text);
}

/* Fills the map for its pass; *full: it does not fit. */
static int load(tarn_cx *cx, tn_slice_read *r, tn_slice_loaded *loaded)
{
    uint64_t bytes_max = share(cx), window = bytes_max / 4;
    tn_slice_load_options options = {.store = r->store, .blocks = &r->blocks};
    int rc = TARN_OK;

    options.bytes_max = bytes_max;
    options.by_position = r->by_position;
    options.base_rows = (uint64_t)r->base_rows;
    window = window > WINDOW_BYTES_MAX ? WINDOW_BYTES_MAX : window;
    options.window_bytes = window < WINDOW_BYTES_MIN ? WINDOW_BYTES_MIN : window;
    give_back(r);
    tn_slice_map_clear(&r->map);
    TN_TRY(damaged(cx, tn_slice_load(cx, &options, &r->map, loaded)));
    r->counts.rows_read += loaded->rows;
    loaded->full = loaded->full || !reserve(cx, r);
done:
    return rc;
}

/* I2. */
static int load_first(tarn_cx *cx, tn_slice_read *r, bool *misplaced)
{
    tn_slice_loaded loaded;
    int rc = TARN_OK;

    for (r->map.pick.passes = 1;;) {
        uint64_t more = 2;

        TN_TRY(load(cx, r, &loaded));
        *misplaced = loaded.misplaced;
        if (!loaded.full || loaded.misplaced)
            break;
        if (loaded.done_bytes != 0 && r->blocks.content_bytes / loaded.done_bytes >= more)
            more = r->blocks.content_bytes / loaded.done_bytes + 1;
        if (r->map.pick.passes * more > PASSES_MAX)
            TN_FAIL(TARN_E_LIMIT,
                    "%.*s and %zu more logs do not fit the memory budget, even part by part; give "
                    "more with --memory",
                    TN_STR_ARG(r->task->slice->logs[0].path), r->task->slice->log_count - 1);
        r->map.pick.passes *= (uint32_t)more;
    }
done:
    return rc;
}

static int open_base(tarn_cx *cx, tn_slice_read *r)
{
    r->stage = r->task->path.len != 0 ? STAGE_BASE : STAGE_FILLED;
    r->base_at = 0;
    if (r->stage != STAGE_BASE)
        return TARN_OK;
    tn_exec_read_close(r->base);
    r->base = NULL;
    return tn_exec_read_open(cx, r->store, &r->base_task, &r->base);
}

static int open_plain(tarn_cx *cx, tn_slice_read *r)
{
    r->plain = true;
    r->base_task = *r->task;
    r->base_task.slice = NULL;
    if (r->task->path.len == 0)
        return TARN_OK;
    return tn_exec_read_open(cx, r->store, &r->base_task, &r->base);
}

/* Whether all blocks have positions of rows of this base file. A condition that can be asked of
 * the base file alone is worth more. */
static bool may_place(const tn_slice_read *r)
{
    tn_str base = r->task->slice->base_instant;
    bool may = r->task->path.len != 0 && base.len != 0 && r->task->record_key_count == 0 &&
               (r->task->filter == NULL || r->columns.by_order || r->map.fills);

    for (size_t i = 0; i < r->blocks.count && may; i++) {
        const tn_log_block *block = r->blocks.blocks[i].block;

        may = block->positions.len != 0 && block->kind != TN_LOG_HFILE &&
              tn_str_equal(block->base_instant, base);
    }
    return may;
}

/* Marks the rows that the map has. */
static int mark_places(tarn_cx *cx, tn_slice_read *r)
{
    size_t bytes = (size_t)r->base_rows / 8 + 1;

    free(r->placed);
    r->placed = tn_calloc(cx, bytes, 1);
    if (r->placed == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < r->map.count; i++) {
        int64_t position;

        memcpy(&position, r->map.entries[i].key, sizeof position);
        assert(position >= 0 && position < r->base_rows);
        tn_bit_set(r->placed, position);
    }
    return TARN_OK;
}

/* By position, or by key; *misplaced: not by position. */
static int start_merge(tarn_cx *cx, tn_slice_read *r, bool *misplaced)
{
    tn_scan_counts counts;
    int rc = TARN_OK;

    *misplaced = false;
    TN_TRY(make_base_task(cx, r));
    TN_TRY(open_base(cx, r));
    if (r->by_position) {
        tn_exec_read_counts(r->base, &counts);
        r->base_rows = (int64_t)counts.rows;
    }
    TN_TRY(load_first(cx, r, misplaced));
    if (r->by_position && !*misplaced)
        TN_TRY(mark_places(cx, r));
done:
    return rc;
}

static int start(tarn_cx *cx, tn_slice_read *r)
{
    bool misplaced;
    int rc = TARN_OK;

    TN_TRY(damaged(cx, tn_slice_blocks_open(cx, r->store, r->task->slice, &r->blocks)));
    r->counts.files += r->blocks.log_count;
    if (r->blocks.count == 0)
        return open_plain(cx, r);
    TN_TRY(tn_slice_columns_open(cx, r->task, &r->columns));
    r->map = (tn_slice_map){.columns = &r->columns,
                            .fills = r->blocks.partial ||
                                     r->task->slice->rules->partial != TN_PARTIAL_NONE};
    TN_TRY(pick_keys(cx, r));
    r->by_position = may_place(r);
    TN_TRY(start_merge(cx, r, &misplaced));
    if (misplaced) {
        r->by_position = false;
        TN_TRY(start_merge(cx, r, &misplaced));
    }
done:
    return rc;
}

int tn_slice_read_open(tarn_cx *cx, tn_store *store, const tn_scan_task *task, tn_slice_read **out)
{
    tn_slice_read *r = tn_calloc(cx, 1, sizeof *r);
    int rc = TARN_OK;

    assert(task->slice != NULL && task->slice->rules != NULL);
    if (r == NULL)
        return TARN_E_NOMEM;
    r->store = store;
    r->task = task;
    TN_TRY(start(cx, r));
    *out = r;
    r = NULL;
done:
    tn_slice_read_close(r);
    return rc;
}

void tn_slice_read_close(tn_slice_read *r)
{
    if (r == NULL)
        return;
    give_back(r);
    tn_exec_read_close(r->base);
    tn_array_release(&r->waiting);
    tn_slice_map_clear(&r->map);
    tn_slice_blocks_close(&r->blocks);
    tn_slice_columns_close(&r->columns);
    tn_map_clear(&r->keys);
    tn_slice_orders_clear(&r->orders);
    tn_arena_clear(&r->arena);
    free(r->placed);
    free(r->matches);
    free(r->items);
    free(r);
}

void tn_slice_read_counts(const tn_slice_read *r, tn_scan_counts *out)
{
    tn_scan_counts base = {0};

    if (r->base != NULL)
        tn_exec_read_counts(r->base, &base);
    *out = r->counts;
    out->files += base.files;
    out->groups = base.groups;
    out->groups_read = base.groups_read;
    out->pages_dropped = base.pages_dropped;
    out->rows = base.rows;
    out->rows_read += base.rows_read;
    if (r->plain)
        out->rows_out = base.rows_out;
}

bool tn_slice_read_note(const tn_slice_read *r, char *text, size_t size)
{
    return tn_slice_blocks_note(&r->blocks, text, size) ||
           (r->base != NULL && tn_exec_read_note(r->base, text, size));
}

/* ---- rows of the base file */

/* The needed columns of a batch, which is released. */
static int cut(tarn_cx *cx, const tn_slice_read *r, struct ArrowArray *batch,
               struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, batch->length, 1, (size_t)r->columns.needed_count));
    for (int64_t i = 0; i < made.n_children; i++)
        tn_array_move(batch->children[i], made.children[i]);
    tn_array_move(&made, out);
done:
    tn_array_release(batch);
    return rc;
}

static tn_str key_at(const tn_slice_keys *keys, int64_t i)
{
    return (tn_str){keys->data + keys->offsets[i],
                    (size_t)(keys->offsets[i + 1] - keys->offsets[i])};
}

/* Finds the rows whose keys the logs have, too, and marks those of this pass in `keep`. */
static int probe(tarn_cx *cx, tn_slice_read *r, const struct ArrowArray *batch, uint8_t *keep,
                 size_t *count)
{
    char where[256];
    uint32_t hashes[AHEAD];
    tn_slice_keys keys;
    int rc = TARN_OK;

    *count = 0;
    snprintf(where, sizeof where, "%.*s", TN_STR_ARG(r->task->path));
    TN_TRY(tn_slice_columns_keys(cx, &r->columns, batch, where, &keys));
    for (int64_t at = 0; at < batch->length; at += AHEAD) {
        int64_t n = batch->length - at < AHEAD ? batch->length - at : AHEAD;

        for (int64_t i = 0; i < n; i++) {
            hashes[i] = tn_slice_hash(key_at(&keys, at + i));
            if (r->map.slot_count != 0)
                __builtin_prefetch(&r->map.slots[hashes[i] & (r->map.slot_count - 1)]);
        }
        for (int64_t i = 0; i < n; i++) {
            tn_slice_entry *entry;

            keep[at + i] = tn_slice_is_of_pass(&r->map.pick, hashes[i]);
            if (!keep[at + i])
                continue;
            entry = tn_slice_map_find(&r->map, key_at(&keys, at + i), hashes[i]);
            if (entry == NULL || (entry->flags & TN_SLICE_MET) != 0)
                continue;
            entry->flags |= TN_SLICE_MET;
            TN_TRY(tn_grow(cx, &r->matches, *count, &r->match_cap, sizeof *r->matches));
            r->matches[(*count)++] = (match){at + i, entry};
        }
    }
done:
    return rc;
}

/* The same by the positions of rows. */
static int probe_places(tarn_cx *cx, tn_slice_read *r, const struct ArrowArray *batch,
                        uint8_t *keep, size_t *count)
{
    int64_t rows = batch->length;
    int rc = TARN_OK;

    *count = 0;
    if (r->base_at + rows > r->base_rows)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: more rows than its footer says", TN_STR_ARG(r->task->path));
    memset(keep, 1, (size_t)rows);
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = r->base_at + i;
        tn_str key = {(const char *)&at, sizeof at};
        tn_slice_entry *entry;
        uint32_t hash;

        if (r->map.pick.passes == 1 && !tn_bit(r->placed, at))
            continue;
        hash = tn_slice_hash(key);
        keep[i] = tn_slice_is_of_pass(&r->map.pick, hash);
        entry = tn_slice_map_find(&r->map, key, hash);
        if (entry == NULL)
            continue;
        TN_TRY(tn_grow(cx, &r->matches, *count, &r->match_cap, sizeof *r->matches));
        r->matches[(*count)++] = (match){i, entry};
    }
    r->base_at += rows;
done:
    return rc;
}

static int add_item(tarn_cx *cx, tn_slice_read *r, const match *m, bool base_on_top, size_t *count)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &r->items, *count, &r->item_cap, sizeof *r->items));
    r->items[(*count)++] = (tn_slice_item){m->entry, m->row, base_on_top};
done:
    return rc;
}

/* Whether rows of the entry have gaps that a base row may fill. */
static bool has_gaps(const tn_slice_read *r, const tn_slice_entry *entry)
{
    if (!r->map.fills || entry->batch == TN_SLICE_NO_BATCH)
        return false;
    return r->columns.rules->partial != TN_PARTIAL_NONE || r->map.batches[entry->batch].has != NULL;
}

/* One base row and the entry that it met. */
static int settle(tarn_cx *cx, tn_slice_read *r, const match *m, uint8_t *keep, size_t *items)
{
    bool by_values = r->columns.rules->partial != TN_PARTIAL_NONE;
    int rc = TARN_OK;

    if (tn_slice_map_beats(&r->map, m->entry, &r->orders, (size_t)m->row)) {
        keep[m->row] = 0;
        if (has_gaps(r, m->entry))
            TN_TRY(add_item(cx, r, m, false, items));
    } else if (by_values && has_gaps(r, m->entry)) {
        keep[m->row] = 0;
        TN_TRY(add_item(cx, r, m, true, items));
    } else {
        tn_slice_map_drop(&r->map, m->entry);
    }
done:
    return rc;
}

/* Makes the rows of r->items and lets them wait. */
static int fill(tarn_cx *cx, tn_slice_read *r, const struct ArrowArray *base, size_t count)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    if (count == 0)
        return TARN_OK;
    TN_TRY(tn_slice_fill(cx, &r->map, base, r->items, count, &made));
    TN_TRY(tn_read_rows_refine(cx, r->task, &made, &r->waiting, NULL));
    for (size_t i = 0; i < count; i++)
        tn_slice_map_drop(&r->map, r->items[i].entry);
done:
    tn_array_release(&made);
    return rc;
}

/* A batch of the base file without the rows that logs replace; *out may stay empty. */
static int merge_batch(tarn_cx *cx, tn_slice_read *r, struct ArrowArray *batch,
                       struct ArrowArray *out)
{
    struct ArrowArray needed = {0};
    uint8_t *keep = tn_alloc(cx, (size_t)batch->length);
    size_t matches, items = 0;
    int rc = TARN_OK;

    if (keep == NULL)
        return TARN_E_NOMEM;
    TN_TRY(r->by_position ? probe_places(cx, r, batch, keep, &matches)
                          : probe(cx, r, batch, keep, &matches));
    if (matches > 0 && r->columns.by_order)
        TN_TRY(tn_slice_columns_orders(cx, &r->columns, batch, &r->orders));
    for (size_t i = 0; i < matches; i++)
        TN_TRY(settle(cx, r, &r->matches[i], keep, &items));
    TN_TRY(fill(cx, r, batch, items));
    TN_TRY(cut(cx, r, batch, &needed));
    TN_TRY(tn_read_rows_refine_some(cx, &r->kept_task, &needed,
                                    matches > 0 || r->map.pick.passes > 1 ? keep : NULL, out,
                                    NULL));
done:
    tn_array_release(&needed);
    free(keep);
    return rc;
}

static int next_of_base(tarn_cx *cx, tn_slice_read *r, struct ArrowArray *out)
{
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    TN_TRY(tn_exec_read_next(cx, r->base, &batch));
    if (batch.length == 0)
        r->stage = STAGE_FILLED;
    else
        TN_TRY(merge_batch(cx, r, &batch, out));
done:
    tn_array_release(&batch);
    return rc;
}

/* ---- rows of the logs */

static int next_of_logs(tarn_cx *cx, tn_slice_read *r, struct ArrowArray *out)
{
    struct ArrowArray needed = {0};
    tn_slice_batch *batch;
    int rc = TARN_OK;

    if (r->batch_at == r->map.batch_count) {
        r->stage = STAGE_END;
        return TARN_OK;
    }
    batch = &r->map.batches[r->batch_at++];
    if (memchr(batch->keep, TN_KEEP_ROW, (size_t)batch->rows.length) == NULL)
        return TARN_OK;
    TN_TRY(cut(cx, r, &batch->rows, &needed));
    TN_TRY(tn_read_rows_refine_some(cx, r->task, &needed, batch->keep, out, NULL));
done:
    tn_array_release(&needed);
    return rc;
}

/* Rows that are made of several versions of the logs, before the batches of those are cut. */
static int next_filled(tarn_cx *cx, tn_slice_read *r, struct ArrowArray *out)
{
    size_t count = 0;
    int rc = TARN_OK;

    for (; r->entry_at < r->map.count && count < FILL_ROWS; r->entry_at++) {
        tn_slice_entry *entry = &r->map.entries[r->entry_at];

        if (entry->batch != TN_SLICE_NO_BATCH && entry->more != TN_SLICE_NO_LINK)
            TN_TRY(add_item(cx, r, &(match){-1, entry}, false, &count));
    }
    TN_TRY(fill(cx, r, NULL, count));
    tn_array_move(&r->waiting, out);
    if (r->entry_at == r->map.count)
        r->stage = STAGE_LOGS;
done:
    return rc;
}

/* The next pass, when there is one. */
static int next_pass(tarn_cx *cx, tn_slice_read *r, bool *more)
{
    tn_slice_loaded loaded;
    int rc = TARN_OK;

    *more = r->map.pick.pass + 1 < r->map.pick.passes;
    if (!*more)
        return TARN_OK;
    r->map.pick.pass++;
    r->batch_at = r->entry_at = 0;
    TN_TRY(load(cx, r, &loaded));
    if (r->by_position)
        TN_TRY(mark_places(cx, r));
    if (loaded.full)
        TN_FAIL(TARN_E_LIMIT,
                "%.*s and %zu more logs do not fit the memory budget; give more with --memory",
                TN_STR_ARG(r->task->slice->logs[0].path), r->task->slice->log_count - 1);
    TN_TRY(open_base(cx, r));
done:
    return rc;
}

static int next_merged(tarn_cx *cx, tn_slice_read *r, struct ArrowArray *out, bool *more)
{
    if (r->waiting.release != NULL) {
        tn_array_move(&r->waiting, out);
        return TARN_OK;
    }
    switch (r->stage) {
    case STAGE_BASE:
        return next_of_base(cx, r, out);
    case STAGE_LOGS:
        return next_of_logs(cx, r, out);
    case STAGE_FILLED:
        return next_filled(cx, r, out);
    default:
        return next_pass(cx, r, more);
    }
}

int tn_slice_read_next(tarn_cx *cx, tn_slice_read *r, struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    bool more = !r->plain;
    int rc = TARN_OK;

    if (r->plain && r->base != NULL)
        return tn_exec_read_next(cx, r->base, out);
    while (more && made.length == 0) {
        tn_array_release(&made);
        TN_TRY(tn_cx_check(cx));
        TN_TRY(next_merged(cx, r, &made, &more));
    }
    r->counts.rows_out += (uint64_t)made.length;
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}
