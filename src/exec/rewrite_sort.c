/* A rewrite whose rows come in the order of sort keys.
 * The keys of all rows are read first and give a permutation; then, for each output row group, as
 * many columns at a time as two thirds of the memory budget hold are read whole into memory and
 * their rows written in that order. Types stay exactly as they are, since no row is ever built.
 * Columns stay in memory for the next row groups while there is room; the others are read again for
 * each: sorting pays with reading for its bounded memory. The largest column must fit the budget;
 * where it does not, the task ends in a LIMIT that says so. How large a column becomes is guessed
 * from footers. One that outgrows the pass is dropped and has its turn later, at last alone. I1:
 * rows with equal keys keep the order of the inputs. I2: nulls stand where the key says; NaN counts
 * as greater than every number. */
#define _GNU_SOURCE /* qsort_r */

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/pool.h"
#include "exec/rewrite.h"
#include "exec/rewrite_column.h"

#define TN_SORT_BATCH_ROWS 8192

typedef struct key {
    tn_sort_column column;
    size_t leaf;
    bool descending, nulls_last, is_unsigned, is_decimal, is_float16;
} key;

typedef struct sort {
    tn_rewrite *r;
    uint64_t rows;
    key *keys;
    size_t key_count;
    uint32_t *order; /* input row of each output row */
    uint64_t *row_hashes;
    tn_sorting_column *sorting;
    tn_segment
        *segments; /* of all row groups of the task, joined where the task cuts a row group */
    size_t segment_count;
    bool *hashed;            /* per leaf: its values are in row_hashes */
    tn_sort_column *columns; /* per leaf */
    bool *held;              /* per leaf: the column is in memory */
    struct pass *pass;       /* with arrays for all leaves */
    uint64_t *guesses;       /* per leaf: bytes of the column */
    uint64_t columns_max;    /* bytes of several columns together */
} sort;

/* Leaves read whole in one pass over the inputs. */
typedef struct pass {
    sort *s;
    uint32_t *leaves;
    size_t leaf_count;
    tn_sort_column **columns;
    bool *dropped;  /* per leaf of the pass: there was no room */
    uint64_t *seen; /* per leaf of the pass: rows read */
    const tn_wave *wave;
    uint64_t room;          /* for the columns together; UINT64_MAX: as the budget goes */
    _Atomic uint64_t taken; /* of it */
    uint64_t first, count;  /* of the output row group */
} pass;

typedef struct column_sink {
    pass *p;
    size_t at;
    tn_buf scratch;
} column_sink;

/* Makes room for the other columns of the pass. */
static void drop_column(tarn_cx *cx, pass *p, size_t at)
{
    p->dropped[at] = true;
    atomic_fetch_sub(&p->taken, p->columns[at]->reserved);
    tn_sort_column_clear(cx, p->columns[at]);
}

/* A dropped column is still hashed to its end: rows are hashed once, as they are read first. */
static int take_batch(tarn_cx *cx, void *arg, const tn_leaf_batch *batch)
{
    column_sink *sink = arg;
    pass *p = sink->p;
    size_t at = sink->at;
    tn_sort_column *column = p->columns[at];
    uint64_t before = column->reserved;
    int rc = TARN_OK;

    if (p->s->row_hashes != NULL && !p->s->hashed[p->leaves[at]])
        TN_TRY(tn_sort_column_hash_rows(cx, &p->s->r->schema.leaves[p->leaves[at]], batch,
                                        &sink->scratch, p->s->row_hashes + p->seen[at]));
    p->seen[at] += (uint64_t)batch->rows;
    if (p->dropped[at])
        goto done;
    rc = tn_sort_column_add(cx, column, batch);
    if (rc == TARN_OK)
        atomic_fetch_add(&p->taken, column->reserved - before);
    if (p->room != UINT64_MAX && (rc == TARN_E_LIMIT || (rc == TARN_OK && p->taken > p->room))) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        drop_column(cx, p, at);
    }
done:
    return rc;
}

static int read_leaf(tarn_cx *cx, size_t i, void *arg)
{
    pass *p = arg;
    tn_rewrite *r = p->s->r;
    size_t leaf = p->leaves[i];
    column_sink sink = {.p = p, .at = i};
    int rc = TARN_OK;

    for (size_t k = 0; k < p->wave->segment_count; k++) {
        const tn_loaded *loaded = &p->wave->loaded[p->wave->of_segment[k]];

        TN_TRY(tn_cx_check(cx));
        if (p->dropped[i] && (p->s->row_hashes == NULL || p->s->hashed[leaf]))
            break;
        if (p->wave->segments[k].rows != 0)
            TN_TRY(tn_leaf_map_segment(cx, r->store, &r->maps[leaf],
                                       &r->task->mappings[loaded->input->mapping][leaf], loaded,
                                       &p->wave->segments[k], take_batch, &sink));
    }
done:
    tn_buf_clear(&sink.scratch);
    return rc;
}

/* What a chunk takes as a column in memory, about. */
static uint64_t guess_column(const tn_leaf *leaf, const tn_chunk_meta *chunk, uint64_t rows)
{
    uint64_t values = (uint64_t)chunk->values, bytes = 0;

    if (leaf->max_rep != 0 ||
        (leaf->max_def != 0 && !(chunk->has_statistics && chunk->statistics.has_null_count &&
                                 chunk->statistics.null_count == 0)))
        bytes += rows * sizeof(uint64_t) + values * sizeof(uint16_t);
    if (leaf->max_rep != 0)
        bytes += rows * sizeof(uint64_t) + values * sizeof(uint16_t);
    if (leaf->physical != TN_BYTE_ARRAY)
        return bytes + values * tn_leaf_width(leaf);
    bytes += values * sizeof(uint64_t);
    /* Its bytes are in the pages as they are, or in a dictionary and then many times as much. */
    return bytes + ((uint64_t)chunk->uncompressed_bytes > values * 8
                        ? (uint64_t)chunk->uncompressed_bytes
                        : values * 8);
}

/* Adds the wave's part of each column. */
static void guess_wave(sort *s, const tn_wave *wave)
{
    const tn_rewrite *r = s->r;

    for (size_t k = 0; k < wave->segment_count; k++) {
        const tn_segment *segment = &wave->segments[k];
        const tn_loaded *loaded = &wave->loaded[wave->of_segment[k]];
        const tn_leaf_source *mapping = r->task->mappings[loaded->input->mapping];
        const tn_row_group_meta *group;

        if (segment->group >= loaded->parquet.footer.group_count || segment->rows <= 0)
            continue;
        group = &loaded->parquet.footer.groups[segment->group];
        for (size_t l = 0; l < r->schema.leaf_count; l++) {
            int32_t leaf = mapping[l].leaf;
            uint64_t bytes = (uint64_t)segment->rows * 10;

            if (leaf >= 0 && (size_t)leaf < group->column_count && group->rows > 0)
                bytes = (uint64_t)((double)guess_column(&r->schema.leaves[l], &group->columns[leaf],
                                                        (uint64_t)group->rows) *
                                   (double)segment->rows / (double)group->rows);
            s->guesses[l] += bytes;
        }
    }
}

/* Reads the pass's leaves of all inputs into p->columns, where there is room for them. */
static int read_pass(tarn_cx *cx, pass *p, bool guess)
{
    tn_rewrite *r = p->s->r;
    const tn_wave_want want = {p->leaves, p->leaf_count};
    tn_wave wave = {0};
    int rc = TARN_OK;

    p->taken = 0;
    for (size_t i = 0; i < p->leaf_count; i++) {
        *p->columns[i] =
            (tn_sort_column){.leaf = &r->schema.leaves[p->leaves[i]], .rows_max = p->s->rows};
        p->dropped[i] = false;
        p->seen[i] = 0;
    }
    for (size_t at = 0; p->leaf_count != 0 && at < p->s->segment_count;) {
        TN_TRY(tn_wave_load(cx, r->store, r->task, &want, p->s->segments + at,
                            p->s->segment_count - at, &wave));
        p->wave = &wave;
        if (guess)
            guess_wave(p->s, &wave);
        TN_TRY(tn_parallel(cx, p->leaf_count, read_leaf, p));
        for (size_t i = 0; i < wave.loaded_count; i++)
            r->read_bytes += wave.loaded[i].read_bytes;
        at += wave.segment_count;
        tn_wave_clear(cx, &wave);
    }
    for (size_t i = 0; i < p->leaf_count; i++)
        p->s->hashed[p->leaves[i]] = true;
done:
    tn_wave_clear(cx, &wave);
    return rc;
}

static int pass_init(tarn_cx *cx, sort *s, size_t leaves_max, pass *out)
{
    tn_arena *arena = &s->r->arena;

    *out = (pass){.s = s, .room = UINT64_MAX};
    out->leaves = tn_arena_array(cx, arena, leaves_max, sizeof *out->leaves);
    out->columns = tn_arena_array(cx, arena, leaves_max, sizeof *out->columns);
    out->dropped = tn_arena_array(cx, arena, leaves_max, sizeof *out->dropped);
    out->seen = tn_arena_array(cx, arena, leaves_max, sizeof *out->seen);
    return out->leaves != NULL && out->columns != NULL && out->dropped != NULL && out->seen != NULL
               ? TARN_OK
               : TARN_E_NOMEM;
}

static int find_key(tarn_cx *cx, const tn_rewrite *r, const tn_sort_key *want, key *out)
{
    for (size_t l = 0; l < r->schema.leaf_count; l++) {
        const tn_leaf *leaf = &r->schema.leaves[l];
        const tn_element *e = leaf->node->element_meta;

        if (!tn_str_equal(leaf->dotted, want->column))
            continue;
        if (leaf->max_rep != 0)
            return tn_fail(cx, TARN_E_INVALID,
                           "column \"%.*s\" repeats within a row; sort by another",
                           TN_STR_ARG(want->column));
        *out = (key){.leaf = l, .descending = want->descending, .nulls_last = want->nulls_last};
        out->is_decimal = e->logical == TN_LOGICAL_DECIMAL || e->converted == TN_DECIMAL;
        out->is_float16 = e->logical == TN_LOGICAL_FLOAT16;
        out->is_unsigned = e->logical == TN_LOGICAL_INTEGER
                               ? !e->is_signed
                               : e->converted >= TN_UINT_8 && e->converted <= TN_UINT_64;
        return TARN_OK;
    }
    return tn_fail(cx, TARN_E_INVALID,
                   "column \"%.*s\" to sort by is not among the columns; see tarn show for them",
                   TN_STR_ARG(want->column));
}

static int compare_doubles(double a, double b)
{
    if (a != a || b != b)
        return (a != a) - (b != b);
    return (a > b) - (a < b);
}

static double half_of(const uint8_t *bytes)
{
    unsigned bits = bytes[0] | (unsigned)bytes[1] << 8;
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;

    if (exponent == 31)
        value = fraction != 0 ? __builtin_nan("") : __builtin_inf();
    else if (exponent == 0)
        value = fraction / 16777216.0;
    else
        value = (1024 + fraction) / 1024.0 *
                (exponent >= 15 ? (double)(1u << (exponent - 15))
                                : 1.0 / (double)(1u << (15 - exponent)));
    return bits & 0x8000 ? -value : value;
}

static int compare_bytes(tn_view a, tn_view b)
{
    return tn_str_compare((tn_str){(const char *)a.ptr, a.len},
                          (tn_str){(const char *)b.ptr, b.len});
}

/* Two's complement, big-endian, any lengths. */
static int compare_decimals(tn_view a, tn_view b)
{
    uint32_t len = a.len > b.len ? a.len : b.len;
    uint8_t fill_a = a.len != 0 && (a.ptr[0] & 0x80) ? 0xff : 0;
    uint8_t fill_b = b.len != 0 && (b.ptr[0] & 0x80) ? 0xff : 0;

    if (fill_a != fill_b)
        return fill_a > fill_b ? -1 : 1;
    for (uint32_t i = 0; i < len; i++) {
        uint8_t x = i + a.len < len ? fill_a : a.ptr[i + a.len - len];
        uint8_t y = i + b.len < len ? fill_b : b.ptr[i + b.len - len];

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_int96(const uint32_t *a, const uint32_t *b)
{
    uint64_t nanos_a = a[0] | (uint64_t)a[1] << 32, nanos_b = b[0] | (uint64_t)b[1] << 32;

    if (a[2] != b[2])
        return (int32_t)a[2] < (int32_t)b[2] ? -1 : 1;
    return nanos_a < nanos_b ? -1 : nanos_a > nanos_b;
}

#define COMPARE_AS(type, a, b)                                                                     \
    do {                                                                                           \
        type x_, y_;                                                                               \
        memcpy(&x_, a, sizeof x_);                                                                 \
        memcpy(&y_, b, sizeof y_);                                                                 \
        return x_ < y_ ? -1 : x_ > y_;                                                             \
    } while (0)

static int compare_values(const key *k, const void *a, const void *b)
{
    const tn_leaf *leaf = k->column.leaf;
    float fa, fb;
    double da, db;
    uint32_t ia[3], ib[3];

    switch (leaf->physical) {
    case TN_BOOLEAN:
        return (int)*(const uint8_t *)a - (int)*(const uint8_t *)b;
    case TN_INT32:
        if (k->is_unsigned)
            COMPARE_AS(uint32_t, a, b);
        COMPARE_AS(int32_t, a, b);
    case TN_INT64:
        if (k->is_unsigned)
            COMPARE_AS(uint64_t, a, b);
        COMPARE_AS(int64_t, a, b);
    case TN_INT96:
        memcpy(ia, a, sizeof ia);
        memcpy(ib, b, sizeof ib);
        return compare_int96(ia, ib);
    case TN_FLOAT:
        memcpy(&fa, a, sizeof fa);
        memcpy(&fb, b, sizeof fb);
        return compare_doubles((double)fa, (double)fb);
    case TN_DOUBLE:
        memcpy(&da, a, sizeof da);
        memcpy(&db, b, sizeof db);
        return compare_doubles(da, db);
    case TN_BYTE_ARRAY:
        return k->is_decimal ? compare_decimals(*(const tn_view *)a, *(const tn_view *)b)
                             : compare_bytes(*(const tn_view *)a, *(const tn_view *)b);
    case TN_FIXED:
        if (k->is_float16)
            return compare_doubles(half_of(a), half_of(b));
        return k->is_decimal ? compare_decimals((tn_view){a, leaf->type_length},
                                                (tn_view){b, leaf->type_length})
                             : memcmp(a, b, leaf->type_length);
    }
    return 0;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    const sort *s = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    for (size_t i = 0; i < s->key_count; i++) {
        const key *k = &s->keys[i];
        tn_view view_x, view_y;
        const void *vx = tn_sort_column_value(&k->column, x, &view_x);
        const void *vy = tn_sort_column_value(&k->column, y, &view_y);
        int order;

        if (vx == NULL || vy == NULL) {
            if (vx == vy)
                continue;
            return ((vx == NULL) == k->nulls_last) ? 1 : -1;
        }
        order = compare_values(k, vx, vy);
        if (order != 0)
            return k->descending ? -order : order;
    }
    return x < y ? -1 : x > y;
}

/* Several keys may be one leaf: each has a column of its own. */
static int read_keys(tarn_cx *cx, sort *s)
{
    pass p;
    int rc = TARN_OK;

    TN_TRY(pass_init(cx, s, s->key_count, &p));
    p.leaf_count = s->key_count;
    for (size_t i = 0; i < s->key_count; i++) {
        p.leaves[i] = (uint32_t)s->keys[i].leaf;
        p.columns[i] = &s->keys[i].column;
    }
    rc = read_pass(cx, &p, true);
done:
    return rc;
}

static int make_order(tarn_cx *cx, sort *s)
{
    int rc = TARN_OK;

    TN_TRY(read_keys(cx, s));
    TN_TRY(tn_budget_take(cx, s->rows * sizeof *s->order, "the order of rows"));
    s->order = tn_alloc(cx, s->rows * sizeof *s->order);
    if (s->order == NULL) {
        tn_budget_give(cx, s->rows * sizeof *s->order);
        TN_TRY(TARN_E_NOMEM);
    }
    for (uint64_t i = 0; i < s->rows; i++)
        s->order[i] = (uint32_t)i;
    qsort_r(s->order, s->rows, sizeof *s->order, compare_rows, s);
done:
    for (size_t i = 0; i < s->key_count; i++)
        tn_sort_column_clear(cx, &s->keys[i].column);
    return rc;
}

static int write_leaf(tarn_cx *cx, size_t i, void *arg)
{
    pass *p = arg;
    tn_rewrite *r = p->s->r;
    size_t leaf = p->leaves[i];
    tn_chunk_options options = tn_rewrite_chunk_options(cx, r, leaf);
    tn_sort_column_gather gather = {0};
    int rc = TARN_OK;

    TN_TRY(tn_chunk_writer_open(cx, &r->schema.leaves[leaf], &options, &r->chunks[leaf]));
    for (uint64_t at = 0; at < p->count; at += TN_SORT_BATCH_ROWS) {
        uint64_t n = p->count - at < TN_SORT_BATCH_ROWS ? p->count - at : TN_SORT_BATCH_ROWS;
        tn_leaf_batch batch;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_sort_column_gather_rows(cx, p->columns[i], p->s->order + p->first + at, n,
                                          &gather, &batch));
        TN_TRY(tn_chunk_writer_add(cx, r->chunks[leaf], &batch));
    }
    TN_TRY(tn_chunk_writer_finish(cx, r->chunks[leaf], &r->encoded[leaf]));
    tn_chunk_writer_close(r->chunks[leaf]);
    r->chunks[leaf] = NULL;
done:
    tn_sort_column_gather_clear(&gather);
    return rc;
}

static uint64_t held_bytes(const sort *s)
{
    uint64_t bytes = 0;

    for (size_t l = 0; l < s->r->schema.leaf_count; l++)
        bytes += s->held[l] ? s->columns[l].reserved : 0;
    return bytes;
}

static void release(tarn_cx *cx, sort *s, size_t leaf)
{
    tn_sort_column_clear(cx, &s->columns[leaf]);
    s->held[leaf] = false;
}

/* The leaves still to be written that fit together. Where none does, or guesses were far off, one
 * alone: it may take what there is, and what is held for other row groups is read again. */
static void choose_leaves(tarn_cx *cx, sort *s, const bool *done, bool alone, pass *p)
{
    uint64_t held = held_bytes(s), guessed = 0;

    p->leaf_count = 0;
    for (size_t l = 0; l < s->r->schema.leaf_count; l++) {
        if (done[l])
            continue;
        if (p->leaf_count == 0)
            alone |= s->guesses[l] > s->columns_max || held + s->guesses[l] > s->columns_max;
        else if (alone || s->guesses[l] > s->columns_max ||
                 held + guessed + s->guesses[l] > s->columns_max)
            continue;
        guessed += s->guesses[l];
        p->leaves[p->leaf_count] = (uint32_t)l;
        p->columns[p->leaf_count++] = &s->columns[l];
    }
    p->room = alone ? UINT64_MAX : s->columns_max - held;
    for (size_t l = 0; alone && l < s->r->schema.leaf_count; l++)
        if (s->held[l])
            release(cx, s, l);
}

static int write_columns(tarn_cx *cx, pass *p, bool *done)
{
    sort *s = p->s;
    size_t n = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < p->leaf_count; i++) {
        if (p->dropped[i])
            continue;
        p->leaves[n] = p->leaves[i];
        p->columns[n++] = p->columns[i];
    }
    p->leaf_count = n;
    TN_TRY(tn_parallel(cx, n, write_leaf, p));
    for (size_t i = 0; i < n; i++)
        done[p->leaves[i]] = s->held[p->leaves[i]] = true;
done:
    return rc;
}

/* Held columns leave room for what is read beside them: half, or all where nothing else is read. */
static void hold_some(tarn_cx *cx, sort *s, bool all)
{
    uint64_t held = 0, max = all ? s->columns_max : s->columns_max / 2;

    for (size_t l = 0; l < s->r->schema.leaf_count; l++) {
        if (!s->held[l])
            continue;
        if (held + s->columns[l].reserved > max)
            release(cx, s, l);
        else
            held += s->columns[l].reserved;
    }
}

/* One output row group, as many leaves at a time as there is room for. */
static int write_group(tarn_cx *cx, sort *s, uint64_t first, uint64_t count)
{
    tn_rewrite *r = s->r;
    size_t leaf_count = r->schema.leaf_count, left = leaf_count;
    bool *done = tn_calloc(cx, leaf_count, sizeof *done), alone = false;
    pass p = *s->pass;
    int rc = TARN_OK;

    if (done == NULL)
        return TARN_E_NOMEM;
    p.first = first;
    p.count = count;
    p.leaf_count = 0;
    for (size_t l = 0; l < leaf_count; l++) {
        if (!s->held[l])
            continue;
        p.dropped[p.leaf_count] = false;
        p.leaves[p.leaf_count] = (uint32_t)l;
        p.columns[p.leaf_count++] = &s->columns[l];
    }
    TN_TRY(write_columns(cx, &p, done));
    for (left -= p.leaf_count; left != 0; left -= p.leaf_count) {
        choose_leaves(cx, s, done, alone, &p);
        TN_TRY(read_pass(cx, &p, false));
        TN_TRY(write_columns(cx, &p, done));
        /* Guesses were far off: one by one, then. */
        alone |= p.leaf_count == 0;
        hold_some(cx, s, left == p.leaf_count && left == leaf_count);
    }
    TN_TRY(tn_rewrite_row_group(cx, r, (int64_t)count, s->sorting, s->key_count));
done:
    free(done);
    return rc;
}

/* What several columns may take together: two thirds of the budget that order, hashes and the
 * encoded row group leave; less where other tasks run beside this one. */
static uint64_t room_for_columns(const tarn_cx *cx, const sort *s)
{
    uint64_t budget = tn_budget_bytes(cx), fixed = s->rows * sizeof *s->order;

    if (budget == UINT64_MAX)
        return budget / 4;
    fixed += s->row_hashes != NULL ? s->rows * sizeof *s->row_hashes : 0;
    fixed += s->r->task->group_bytes > 0 ? (uint64_t)s->r->task->group_bytes : 0;
    budget = budget > 2 * fixed ? budget - fixed : budget / 2;
    return tn_cx_jobs(cx) == 1 ? budget / 4 : budget / 3 * 2;
}

static int join_segments(tarn_cx *cx, sort *s)
{
    const tn_task_rewrite *task = s->r->task;
    size_t count = 0;

    for (size_t g = 0; g < task->group_count; g++)
        count += task->groups[g].segment_count;
    s->segments = tn_arena_array(cx, &s->r->arena, count, sizeof *s->segments);
    if (s->segments == NULL)
        return TARN_E_NOMEM;
    for (size_t g = 0; g < task->group_count; g++)
        for (size_t i = 0; i < task->groups[g].segment_count; i++) {
            const tn_segment *next = &task->groups[g].segments[i];
            tn_segment *last = s->segment_count != 0 ? &s->segments[s->segment_count - 1] : NULL;

            if (last != NULL && last->input == next->input && last->group == next->group &&
                last->first_row + last->rows == next->first_row)
                last->rows += next->rows;
            else
                s->segments[s->segment_count++] = *next;
        }
    return TARN_OK;
}

static int open_sort(tarn_cx *cx, sort *s)
{
    tn_rewrite *r = s->r;
    const tn_task_rewrite *task = r->task;
    int rc = TARN_OK;

    for (size_t g = 0; g < task->group_count; g++)
        s->rows += (uint64_t)task->groups[g].rows;
    TN_TRY(join_segments(cx, s));
    if (s->rows > UINT32_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "%" PRIu64 " rows are too many to sort as one file; give a smaller "
                "--target",
                s->rows);
    s->key_count = task->sort_count;
    s->keys = tn_arena_array(cx, &r->arena, s->key_count, sizeof *s->keys);
    s->sorting = tn_arena_array(cx, &r->arena, s->key_count, sizeof *s->sorting);
    if (s->keys == NULL || s->sorting == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < s->key_count; i++) {
        TN_TRY(find_key(cx, r, &task->sort[i], &s->keys[i]));
        s->sorting[i] = (tn_sorting_column){(int32_t)s->keys[i].leaf, s->keys[i].descending,
                                            !s->keys[i].nulls_last};
    }
    if (task->hash) {
        TN_TRY(tn_budget_take(cx, s->rows * sizeof *s->row_hashes, "the hashes of rows"));
        s->row_hashes = tn_calloc(cx, s->rows, sizeof *s->row_hashes);
        if (s->row_hashes == NULL) {
            tn_budget_give(cx, s->rows * sizeof *s->row_hashes);
            return TARN_E_NOMEM;
        }
    }
    s->columns_max = room_for_columns(cx, s);
    s->hashed = tn_arena_array(cx, &r->arena, r->schema.leaf_count, sizeof *s->hashed);
    s->columns = tn_arena_array(cx, &r->arena, r->schema.leaf_count, sizeof *s->columns);
    s->held = tn_arena_array(cx, &r->arena, r->schema.leaf_count, sizeof *s->held);
    s->guesses = tn_arena_array(cx, &r->arena, r->schema.leaf_count, sizeof *s->guesses);
    s->pass = tn_arena_array(cx, &r->arena, 1, sizeof *s->pass);
    if (s->hashed == NULL || s->columns == NULL || s->held == NULL || s->guesses == NULL ||
        s->pass == NULL)
        return TARN_E_NOMEM;
    TN_TRY(pass_init(cx, s, r->schema.leaf_count, s->pass));
done:
    return rc;
}

int tn_rewrite_sorted(tarn_cx *cx, tn_rewrite *r)
{
    sort s = {.r = r};
    uint64_t bytes = 0, groups, share;
    int rc = TARN_OK;

    TN_TRY(open_sort(cx, &s));
    TN_TRY(make_order(cx, &s));
    for (size_t i = 0; i < r->task->input_count; i++)
        bytes += r->task->inputs[i].file.size_bytes;
    groups = r->task->group_bytes > 0 ? bytes / (uint64_t)r->task->group_bytes + 1 : 1;
    if (r->task->group_rows > 0 && groups < s.rows / (uint64_t)r->task->group_rows + 1)
        groups = s.rows / (uint64_t)r->task->group_rows + 1;
    share = (s.rows + groups - 1) / groups;
    for (uint64_t at = 0; at < s.rows; at += share)
        TN_TRY(write_group(cx, &s, at, s.rows - at < share ? s.rows - at : share));
    r->rows_in = (int64_t)s.rows;
    if (s.row_hashes != NULL)
        r->hash_in = tn_sort_column_hash_fold(s.row_hashes, s.rows);
done:
    for (size_t l = 0; s.columns != NULL && l < r->schema.leaf_count; l++)
        tn_sort_column_clear(cx, &s.columns[l]);
    if (s.row_hashes != NULL)
        tn_budget_give(cx, s.rows * sizeof *s.row_hashes);
    if (s.order != NULL)
        tn_budget_give(cx, s.rows * sizeof *s.order);
    free(s.order);
    free(s.row_hashes);
    return rc;
}
