/* A rewrite whose rows come in the order of sort keys.
 * The keys of all rows are read first and give a permutation; then, for each output row group, a
 * few columns at a time are read whole into memory and their rows written in that order. Types stay
 * exactly as they are, since no row is ever built. The largest column must fit the memory budget;
 * where it does not, the task ends in a LIMIT that says so. Inputs are read again for each few
 * columns and row group: sorting pays with reading for its bounded memory.
 * I1: rows with equal keys keep the order of the inputs.
 * I2: nulls stand where the key says; NaN counts as greater than every number. */
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
} sort;

/* A run of leaves read whole in one pass over the inputs. */
typedef struct pass {
    sort *s;
    const uint32_t *leaves;
    size_t leaf_count;
    tn_sort_column *columns;
    const tn_wave *wave;
    bool hash;             /* row hashes are taken in this pass */
    uint64_t first, count; /* of the output row group */
} pass;

typedef struct column_sink {
    pass *p;
    size_t at;
    tn_buf scratch;
} column_sink;

static int take_batch(tarn_cx *cx, void *arg, const tn_leaf_batch *batch)
{
    column_sink *sink = arg;
    tn_sort_column *column = &sink->p->columns[sink->at];
    int rc = TARN_OK;

    if (sink->p->hash)
        TN_TRY(tn_sort_column_hash_rows(cx, column->leaf, batch, &sink->scratch,
                                        sink->p->s->row_hashes + column->rows));
    TN_TRY(tn_sort_column_add(cx, column, batch));
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
        if (p->wave->segments[k].rows != 0)
            TN_TRY(tn_leaf_map_segment(cx, r->store, &r->maps[leaf],
                                       &r->task->mappings[loaded->input->mapping][leaf], loaded,
                                       &p->wave->segments[k], take_batch, &sink));
    }
done:
    tn_buf_clear(&sink.scratch);
    return rc;
}

/* Reads the pass's leaves of all inputs into p->columns. */
static int read_pass(tarn_cx *cx, pass *p)
{
    tn_rewrite *r = p->s->r;
    tn_wave wave = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < p->leaf_count; i++)
        p->columns[i].leaf = &r->schema.leaves[p->leaves[i]];
    for (size_t g = 0; g < r->task->group_count; g++) {
        const tn_output_group *group = &r->task->groups[g];

        for (size_t at = 0; at < group->segment_count;) {
            TN_TRY(tn_wave_load(cx, r->store, r->task, group->segments + at,
                                group->segment_count - at, &wave));
            p->wave = &wave;
            TN_TRY(tn_parallel(cx, p->leaf_count, read_leaf, p));
            for (size_t i = 0; i < wave.loaded_count; i++)
                r->read_bytes += wave.loaded[i].len;
            at += wave.segment_count;
            tn_wave_clear(cx, &wave);
        }
    }
done:
    tn_wave_clear(cx, &wave);
    return rc;
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

static int make_order(tarn_cx *cx, sort *s)
{
    tn_rewrite *r = s->r;
    uint32_t *leaves = tn_arena_array(cx, &r->arena, s->key_count, sizeof *leaves);
    tn_sort_column *columns = tn_arena_array(cx, &r->arena, s->key_count, sizeof *columns);
    pass p = {.s = s, .leaves = leaves, .leaf_count = s->key_count, .columns = columns};
    int rc = TARN_OK;

    if (leaves == NULL || columns == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < s->key_count; i++)
        leaves[i] = (uint32_t)s->keys[i].leaf;
    rc = read_pass(cx, &p);
    for (size_t i = 0; i < s->key_count; i++)
        s->keys[i].column = columns[i];
    if (rc != TARN_OK)
        return rc;
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
        TN_TRY(tn_sort_column_gather_rows(cx, &p->columns[i], p->s->order + p->first + at, n,
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

/* One output row group: as many leaves at a time as there are jobs. */
static int write_group(tarn_cx *cx, sort *s, uint64_t first, uint64_t count)
{
    tn_rewrite *r = s->r;
    unsigned jobs = tn_cx_jobs(cx);
    uint32_t leaves[TN_JOBS_MAX];
    tn_sort_column columns[TN_JOBS_MAX] = {{0}};
    pass p = {.s = s, .leaves = leaves, .columns = columns, .first = first, .count = count};
    int rc = TARN_OK;

    p.hash = first == 0 && s->row_hashes != NULL;
    for (size_t l = 0; l < r->schema.leaf_count; l += p.leaf_count) {
        p.leaf_count = r->schema.leaf_count - l < jobs ? r->schema.leaf_count - l : jobs;
        for (size_t i = 0; i < p.leaf_count; i++)
            leaves[i] = (uint32_t)(l + i);
        TN_TRY(read_pass(cx, &p));
        TN_TRY(tn_parallel(cx, p.leaf_count, write_leaf, &p));
        for (size_t i = 0; i < p.leaf_count; i++)
            tn_sort_column_clear(cx, &columns[i]);
    }
    TN_TRY(tn_rewrite_row_group(cx, r, (int64_t)count, s->sorting, s->key_count));
done:
    for (size_t i = 0; i < TN_JOBS_MAX; i++)
        tn_sort_column_clear(cx, &columns[i]);
    return rc;
}

static int open_sort(tarn_cx *cx, sort *s)
{
    tn_rewrite *r = s->r;
    const tn_task_rewrite *task = r->task;
    int rc = TARN_OK;

    for (size_t g = 0; g < task->group_count; g++)
        s->rows += (uint64_t)task->groups[g].rows;
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
        s->row_hashes = tn_calloc(cx, s->rows, sizeof *s->row_hashes);
        if (s->row_hashes == NULL)
            return TARN_E_NOMEM;
    }
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
    if (s.order != NULL)
        tn_budget_give(cx, s.rows * sizeof *s.order);
    free(s.order);
    free(s.row_hashes);
    return rc;
}
