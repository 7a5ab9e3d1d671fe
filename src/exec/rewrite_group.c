/* The row groups of an output, in order, out of waves of inputs. While a wave is worked on, leaf by
 * leaf, the next one is read and the row group before is written: all as jobs of one step, so that
 * no thread waits for storage while there is work.
 *
 *   step n:  write group g - 1 | leaves of wave w | files of wave w + 1
 *
 * I1: at most two waves and two row groups are in memory; where the budget is too small for two row
 *     groups, one is written before the next is begun.
 * I2: the chunks of a row group are finished only after the group before has been written. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/pool.h"
#include "exec/rewrite.h"
#include "exec/rewrite_join.h"
#include "exec/rewrite_order.h"

#define TN_AHEAD_BUDGET_MIN (64ull << 20)

typedef struct pipe {
    tn_rewrite *r;
    tn_wave now, next;
    size_t group;      /* of `now` */
    size_t next_group; /* of `next`, and its first segment that is in no wave yet */
    size_t next_segment;
    int64_t unwritten;          /* rows of the group that is encoded and not written; -1: none */
    tn_rewrite_order order_now; /* of the group at work */
    tn_rewrite_order order_unwritten;
    uint64_t *weights; /* per leaf: bytes of its chunk in the group before */
    uint32_t *order;   /* leaves, the heaviest first */
    size_t write_jobs; /* 0 or 1 in this step */
} pipe;

static const tn_output_group *group_of(const pipe *p, size_t group)
{
    return &p->r->task->groups[group];
}

/* Row groups of files that are not read whole may be large: with little memory one at a time. */
static bool reads_ahead(tarn_cx *cx, const pipe *p)
{
    return tn_budget_bytes(cx) >= TN_AHEAD_BUDGET_MIN || p->now.loaded_count == 0 ||
           p->now.loaded[0].whole;
}

/* Chooses the files of the next wave, of the same row group or of one that follows. */
static int begin_next(tarn_cx *cx, pipe *p)
{
    const tn_task_rewrite *task = p->r->task;

    while (p->next_group < task->group_count &&
           p->next_segment == group_of(p, p->next_group)->segment_count) {
        p->next_group++;
        p->next_segment = 0;
    }
    if (p->next_group == task->group_count || !reads_ahead(cx, p))
        return TARN_OK;
    return tn_wave_open(cx, p->r->store, task, NULL,
                        group_of(p, p->next_group)->segments + p->next_segment,
                        group_of(p, p->next_group)->segment_count - p->next_segment, &p->next);
}

static int work_leaf(tarn_cx *cx, pipe *p, size_t leaf)
{
    tn_rewrite *r = p->r;
    int rc = TARN_OK;

    if (!tn_rewrite_leaf_is_open(r, leaf))
        TN_TRY(tn_rewrite_leaf_open(cx, r, leaf));
    for (size_t i = 0; i < p->now.segment_count; i++) {
        TN_TRY(tn_cx_check(cx));
        if (p->now.segments[i].rows != 0)
            TN_TRY(tn_rewrite_leaf_segment(cx, r, leaf, &p->now.loaded[p->now.of_segment[i]],
                                           &p->now.segments[i]));
    }
done:
    return rc;
}

static int write_group(tarn_cx *cx, pipe *p)
{
    int64_t rows = p->unwritten;

    p->unwritten = -1;
    return rows < 0 ? TARN_OK
                    : tn_rewrite_row_group(cx, p->r, rows, p->order_unwritten.columns,
                                           tn_rewrite_order_columns(&p->order_unwritten));
}

/* The order of jobs is that in which they are begun: the longest first. */
static int do_job(tarn_cx *cx, size_t i, void *arg)
{
    pipe *p = arg;
    size_t leaves = p->now.segment_count != 0 ? p->r->schema.leaf_count : 0;

    if (i < p->write_jobs)
        return write_group(cx, p);
    i -= p->write_jobs;
    if (i < leaves)
        return work_leaf(cx, p, p->order[i]);
    return tn_wave_fetch(cx, &p->next, i - leaves);
}

static int step(tarn_cx *cx, pipe *p)
{
    size_t leaves = p->now.segment_count != 0 ? p->r->schema.leaf_count : 0;

    p->write_jobs = p->unwritten >= 0;
    return tn_parallel(cx, p->write_jobs + leaves + p->next.loaded_count, do_job, p);
}

static int finish_leaf(tarn_cx *cx, size_t leaf, void *arg)
{
    pipe *p = arg;

    return tn_rewrite_leaf_finish(cx, p->r, leaf, group_of(p, p->group)->rows);
}

typedef struct again {
    pipe *p;
    tn_wave wave;
    uint32_t *leaves;
    size_t count;
} again;

static int look_leaf(tarn_cx *cx, size_t i, void *arg)
{
    again *a = arg;
    int rc = TARN_OK;

    for (size_t s = 0; s < a->wave.segment_count; s++)
        if (a->wave.segments[s].rows != 0)
            TN_TRY(tn_rewrite_leaf_look(cx, a->p->r, a->leaves[i],
                                        &a->wave.loaded[a->wave.of_segment[s]],
                                        &a->wave.segments[s]));
done:
    return rc;
}

static int end_filter(tarn_cx *cx, size_t i, void *arg)
{
    again *a = arg;
    tn_rewrite *r = a->p->r;

    return tn_rewrite_filter_end(cx, &r->filters[a->leaves[i]], &r->encoded[a->leaves[i]]);
}

/* Bloom filters that could not be merged are made of values: those columns of the row group are
 * read once more. From now on their values are looked at with the first reading. */
static int filters_again(tarn_cx *cx, pipe *p)
{
    const tn_output_group *group = group_of(p, p->group);
    again a = {.p = p};
    tn_wave_want want;
    int rc = TARN_OK;

    a.leaves = tn_calloc(cx, p->r->schema.leaf_count, sizeof *a.leaves);
    if (a.leaves == NULL)
        return TARN_E_NOMEM;
    for (size_t l = 0; l < p->r->schema.leaf_count; l++)
        if (p->r->filters[l].again)
            a.leaves[a.count++] = (uint32_t)l;
    want = (tn_wave_want){a.leaves, a.count};
    for (size_t at = 0; a.count != 0 && at < group->segment_count; at += a.wave.segment_count) {
        tn_wave_clear(cx, &a.wave);
        TN_TRY(tn_wave_load(cx, p->r->store, p->r->task, &want, group->segments + at,
                            group->segment_count - at, &a.wave));
        TN_TRY(tn_parallel(cx, a.count, look_leaf, &a));
        for (size_t i = 0; i < a.wave.loaded_count; i++)
            p->r->read_bytes += a.wave.loaded[i].read_bytes;
    }
    TN_TRY(tn_parallel(cx, a.count, end_filter, &a));
done:
    tn_wave_clear(cx, &a.wave);
    free(a.leaves);
    return rc;
}

static void sort_leaves(pipe *p)
{
    for (size_t i = 1; i < p->r->schema.leaf_count; i++) {
        uint32_t leaf = p->order[i];
        size_t k = i;

        for (; k > 0 && p->weights[p->order[k - 1]] < p->weights[leaf]; k--)
            p->order[k] = p->order[k - 1];
        p->order[k] = leaf;
    }
}

/* Is there room for another row group like the one just encoded, beside it? */
static bool fits_twice(tarn_cx *cx, const pipe *p)
{
    uint64_t bytes = 0;

    for (size_t l = 0; l < p->r->schema.leaf_count; l++)
        bytes += p->weights[l];
    return bytes <= tn_budget_bytes(cx) / 4;
}

/* Chunks of the row group at work become its encoded ones. */
static int end_group(tarn_cx *cx, pipe *p)
{
    tn_rewrite *r = p->r;
    int rc = TARN_OK;

    TN_TRY(tn_parallel(cx, r->schema.leaf_count, finish_leaf, p));
    TN_TRY(filters_again(cx, p));
    p->unwritten = group_of(p, p->group)->rows;
    tn_rewrite_order_clear(&p->order_unwritten);
    p->order_unwritten = p->order_now;
    p->order_now = (tn_rewrite_order){0};
    r->rows_in += p->unwritten;
    for (size_t l = 0; l < r->schema.leaf_count; l++)
        p->weights[l] = r->encoded[l].bytes;
    sort_leaves(p);
    if (!fits_twice(cx, p))
        TN_TRY(write_group(cx, p));
done:
    return rc;
}

/* The order of the wave's rows, behind those that came before. */
static int note_order(tarn_cx *cx, pipe *p)
{
    const tn_task_rewrite *task = p->r->task;
    int rc = TARN_OK;

    for (size_t i = 0; i < p->now.segment_count; i++) {
        const tn_loaded *loaded = &p->now.loaded[p->now.of_segment[i]];

        TN_TRY(tn_rewrite_order_add(cx, &p->order_now, task->mappings[loaded->input->mapping],
                                    task->leaf_count, loaded, &p->now.segments[i]));
    }
done:
    return rc;
}

/* The wave at work is done; the next one takes its place. */
static int advance(tarn_cx *cx, pipe *p, bool *more)
{
    /* Without a next wave the row group may go on, too: where nothing is read ahead. */
    bool group_ends = p->now.segment_count != 0 && p->next_group != p->group;
    int rc = TARN_OK;

    for (size_t i = 0; i < p->now.loaded_count; i++)
        p->r->read_bytes += p->now.loaded[i].read_bytes;
    TN_TRY(note_order(cx, p));
    tn_wave_clear(cx, &p->now);
    if (group_ends)
        TN_TRY(end_group(cx, p));
    p->now = p->next;
    p->next = (tn_wave){0};
    p->group = p->next_group;
    p->next_segment += p->now.segment_count;
    *more = p->now.segment_count != 0 || p->next_group < p->r->task->group_count;
done:
    return rc;
}

int tn_rewrite_groups(tarn_cx *cx, tn_rewrite *r)
{
    pipe p = {.r = r, .unwritten = -1};
    bool more = true;
    int rc = TARN_OK;

    p.weights = tn_calloc(cx, r->schema.leaf_count, sizeof *p.weights);
    p.order = tn_calloc(cx, r->schema.leaf_count, sizeof *p.order);
    if (p.weights == NULL || p.order == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t l = 0; l < r->schema.leaf_count; l++)
        p.order[l] = (uint32_t)l;
    while (more) {
        TN_TRY(begin_next(cx, &p));
        TN_TRY(step(cx, &p));
        TN_TRY(advance(cx, &p, &more));
    }
    TN_TRY(write_group(cx, &p));
done:
    tn_wave_clear(cx, &p.now);
    tn_wave_clear(cx, &p.next);
    tn_rewrite_order_clear(&p.order_now);
    tn_rewrite_order_clear(&p.order_unwritten);
    free(p.weights);
    free(p.order);
    return rc;
}
