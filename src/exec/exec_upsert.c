/* Buckets in, base files out.
 *
 *   real sizing   a unit of work is one partition's buckets that take inserts, one after the other,
 *                 fed by the one stream of its inserts; or one bucket that takes none
 *   exact sizing  a unit is one bucket
 *
 * Units run in parallel, each in one thread, where memory allows; one that is larger than a
 * thread's share of all, or where memory is short, runs alone, its columns in parallel.
 *
 * I1: names, numbers and bytes follow from the plan and the rows, whatever thread was faster.
 * I2: a bucket without a row makes no file, nor does one of which all rows lose against the stored
 *     ones; every other one makes at least one. */
#include "exec/exec_upsert.h"

#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/array.h"
#include "exec/upsert_feed.h"
#include "task/data_name.h"

/* What a thread needs at least for a unit of any size; and the part of the budget that small units
 * may take in all. */
#define THREAD_MEMORY (64ull << 20)
#define SMALL_PART    8

/* What one bucket made: files in the order of their making. */
typedef struct made_files {
    tn_buf stats; /* tn_write_stat; texts in the unit's arena */
} made_files;

typedef struct unit {
    const tn_upsert_partition *partition; /* real sizing: its inserts; NULL: `bucket` alone */
    size_t bucket;
    uint64_t bytes; /* about */
    tn_str spare;   /* file id for rows that no bucket of the plan has room for */
    tn_arena arena;
    tn_base_counts counts;
} unit;

typedef struct upsert {
    tn_base_job *job;
    const tn_upsert_plan *plan;
    tn_incoming *in; /* NULL: `rows` */
    struct ArrowArrayStream *rows;
    made_files *made; /* per bucket, then per partition for its spare */
    unit *units;
    size_t unit_count, first; /* units from `first` on run in parallel */
} upsert;

/* --- one file --- */

static int keep_stat(tarn_cx *cx, made_files *made, const tn_write_stat *stat)
{
    tn_buf_add(&made->stats, stat, sizeof *stat);
    return tn_buf_check(cx, &made->stats);
}

static void add_counts(tn_base_counts *to, const tn_base_counts *from)
{
    to->unchanged += from->unchanged;
    to->groups += from->groups;
    to->groups_carried += from->groups_carried;
    to->bytes_carried += from->bytes_carried;
}

static int finish_file(tarn_cx *cx, unit *un, made_files *made, tn_base_writer *w)
{
    tn_base_counts counts;
    tn_write_stat stat;
    bool same;
    int rc = TARN_OK;

    TN_TRY(tn_base_writer_same(cx, w, &same, &counts)); /* I2 */
    if (!same) {
        TN_TRY(tn_base_writer_finish(cx, w, &un->arena, &stat, &counts));
        TN_TRY(keep_stat(cx, made, &stat));
    }
    add_counts(&un->counts, &counts);
done:
    return rc;
}

/* The rows that were planned for the bucket itself: updates, and with exact sizing inserts. */
static int take_own(tarn_cx *cx, tn_base_writer *w, tn_upsert_feed *own)
{
    int rc = TARN_OK;

    for (;;) {
        struct ArrowArray part;
        int64_t changes = 0;

        TN_TRY(tn_upsert_feed_fill(cx, own));
        if (own->left == 0)
            break;
        part = tn_upsert_feed_part(own, own->left);
        while (changes < part.length && own->positions != NULL && own->positions[changes] >= 0)
            changes++;
        if (changes > 0) {
            part.length = changes;
            TN_TRY(tn_base_writer_change(cx, w, &part, own->positions, own->deletes));
        } else {
            TN_TRY(tn_base_writer_add(cx, w, &part));
        }
        tn_upsert_feed_take(own, part.length);
    }
done:
    return rc;
}

/* Inserts until the file is full or there are no more. */
static int take_inserts(tarn_cx *cx, tn_base_writer *w, tn_upsert_feed *feed, uint64_t target)
{
    int rc = TARN_OK;

    for (;;) {
        struct ArrowArray part;
        int64_t fit;

        TN_TRY(tn_upsert_feed_fill(cx, feed));
        if (feed->left == 0)
            break;
        part = tn_upsert_feed_part(feed, feed->left);
        TN_TRY(tn_base_writer_fit(cx, w, target, &part, &fit));
        if (fit == 0)
            break;
        part.length = fit;
        TN_TRY(tn_base_writer_add(cx, w, &part));
        tn_upsert_feed_take(feed, fit);
    }
done:
    return rc;
}

/* --- one bucket --- */

static int open_own(tarn_cx *cx, const upsert *u, size_t bucket, tn_upsert_feed *own)
{
    if (u->in == NULL || tn_incoming_stream_rows(u->in, bucket) == 0)
        return TARN_OK;
    return tn_upsert_feed_open(cx, u->in, bucket, own);
}

/* A file that follows another, or an exact one: its own rows, then inserts of the feed (NULL:
 * none). */
static int write_bucket(tarn_cx *cx, const upsert *u, unit *un, size_t b, tn_upsert_feed *feed)
{
    const tn_bucket *bucket = &u->plan->buckets[b];
    tn_base_place place = {.partition = u->plan->partitions[bucket->partition].path,
                           .file_id =
                               bucket->base != NULL ? bucket->base->file_id : bucket->file_id,
                           .before = bucket->base,
                           .number = (uint32_t)b,
                           .keys_about = (uint64_t)bucket->inserts};
    tn_base_writer *w = NULL;
    tn_upsert_feed own = {0};
    int rc = TARN_OK;

    TN_TRY(open_own(cx, u, b, &own));
    if (feed != NULL && own.reader == NULL) {
        /* I2: nothing of its own, and no room or nothing to fill it. */
        TN_TRY(tn_upsert_feed_fill(cx, feed));
        if (feed->left == 0 || bucket->base->size_bytes >= bucket->target_bytes)
            goto done;
    } else if (own.reader == NULL) {
        goto done;
    }
    TN_TRY(tn_base_writer_open(cx, u->job, &place, &w));
    if (own.reader != NULL)
        TN_TRY(take_own(cx, w, &own));
    if (feed != NULL)
        TN_TRY(take_inserts(cx, w, feed, bucket->target_bytes));
    TN_TRY(finish_file(cx, un, &u->made[b], w));
done:
    tn_upsert_feed_close(cx, &own);
    tn_base_writer_close(cx, w);
    return rc;
}

/* New file groups for all that is left of the feed, cut at the target. The files share the number:
 * their ids tell them apart, and their sequence numbers go on. */
static int write_new(tarn_cx *cx, const upsert *u, unit *un, size_t index, tn_str file_id,
                     uint64_t target, uint64_t about, tn_upsert_feed *feed)
{
    tn_base_place place = {
        .partition = un->partition->path, .number = (uint32_t)index, .keys_about = about};
    tn_base_writer *w = NULL;
    int rc = TARN_OK;

    for (uint32_t roll = 0;; roll++) {
        TN_TRY(tn_upsert_feed_fill(cx, feed));
        if (feed->left == 0)
            break;
        place.file_id = file_id;
        if (roll != 0)
            TN_TRY(tn_data_name_next_id(cx, &un->arena, file_id, roll, &place.file_id));
        TN_TRY(tn_base_writer_open(cx, u->job, &place, &w));
        TN_TRY(take_inserts(cx, w, feed, target));
        TN_TRY(finish_file(cx, un, &u->made[index], w));
        place.first = tn_base_writer_next(w);
        tn_base_writer_close(cx, w);
        w = NULL;
    }
done:
    tn_base_writer_close(cx, w);
    return rc;
}

/* --- one unit --- */

/* The target of files that no bucket of the plan names. */
static uint64_t spare_target(const tn_upsert_plan *plan, const tn_upsert_partition *partition)
{
    uint64_t target = 0;

    for (size_t i = 0; i < partition->insert_bucket_count; i++) {
        const tn_bucket *bucket = &plan->buckets[plan->insert_buckets[partition->first_insert + i]];

        target = bucket->target_bytes > target ? bucket->target_bytes : target;
    }
    return target != 0 ? target : UINT64_MAX;
}

static int write_chain(tarn_cx *cx, const upsert *u, unit *un)
{
    const tn_upsert_plan *plan = u->plan;
    const tn_upsert_partition *partition = un->partition;
    size_t number = (size_t)(partition - plan->partitions);
    tn_upsert_feed feed = {.rows = u->rows};
    int rc = TARN_OK;

    if (u->in != NULL)
        TN_TRY(tn_upsert_feed_open(cx, u->in, plan->bucket_count + number, &feed));
    for (size_t i = 0; i < partition->insert_bucket_count; i++) {
        size_t b = plan->insert_buckets[partition->first_insert + i];
        const tn_bucket *bucket = &plan->buckets[b];

        if (bucket->base != NULL)
            TN_TRY(write_bucket(cx, u, un, b, &feed));
        else
            TN_TRY(write_new(cx, u, un, b, bucket->file_id, bucket->target_bytes, 0, &feed));
    }
    TN_TRY(write_new(cx, u, un, plan->bucket_count + number, un->spare,
                     spare_target(plan, partition), 0, &feed));
done:
    tn_upsert_feed_close(cx, &feed);
    return rc;
}

static int write_unit(tarn_cx *cx, const upsert *u, unit *un)
{
    if (un->partition != NULL)
        return write_chain(cx, u, un);
    return write_bucket(cx, u, un, un->bucket, NULL);
}

static int write_some(tarn_cx *cx, size_t i, void *arg)
{
    const upsert *u = arg;

    return write_unit(cx, u, &u->units[u->first + i]);
}

/* --- all of them --- */

static uint64_t bucket_bytes(const tn_upsert_plan *plan, const tn_bucket *bucket)
{
    double rows = (double)(bucket->updates + bucket->inserts);

    return (bucket->base != NULL ? bucket->base->size_bytes : 0) +
           (uint64_t)(rows * plan->record_bytes);
}

/* Whether the inserts of each bucket are its own: what is planned for it, or what the index says.
 */
static bool keeps_apart(const tn_upsert_plan *plan)
{
    return plan->exact || plan->index_buckets != 0;
}

static bool has_inserts(const upsert *u, size_t partition)
{
    return u->in == NULL ||
           tn_incoming_stream_rows(u->in, u->plan->bucket_count + partition) != 0 ||
           u->plan->partitions[partition].insert_bucket_count != 0;
}

static int list_units(tarn_cx *cx, upsert *u)
{
    const tn_upsert_plan *plan = u->plan;
    uint8_t *takes =
        tn_calloc(cx, plan->bucket_count + 1, 1); /* inserts, of its partition's chain */
    int rc = TARN_OK;

    u->units = tn_calloc(cx, plan->bucket_count + plan->partition_count, sizeof u->units[0]);
    u->made = tn_calloc(cx, plan->bucket_count + plan->partition_count, sizeof u->made[0]);
    if (takes == NULL || u->units == NULL || u->made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t p = 0; !keeps_apart(plan) && p < plan->partition_count; p++) {
        const tn_upsert_partition *partition = &plan->partitions[p];
        unit *un = &u->units[u->unit_count];

        if (!has_inserts(u, p))
            continue;
        u->unit_count++;
        un->partition = partition;
        for (size_t i = 0; i < partition->insert_bucket_count; i++)
            un->bytes += bucket_bytes(
                plan, &plan->buckets[plan->insert_buckets[partition->first_insert + i]]);
        /* Drawn here, by one thread in one order (I1). */
        TN_TRY(tn_data_name_new_id(cx, &un->arena, &un->spare));
    }
    for (size_t p = 0; !keeps_apart(plan) && p < plan->partition_count; p++)
        for (size_t i = 0; i < plan->partitions[p].insert_bucket_count; i++)
            takes[plan->insert_buckets[plan->partitions[p].first_insert + i]] = 1;
    for (size_t b = 0; b < plan->bucket_count; b++) {
        if (takes[b] != 0)
            continue;
        u->units[u->unit_count] =
            (unit){.bucket = b, .bytes = bucket_bytes(plan, &plan->buckets[b])};
        u->unit_count++;
    }
done:
    free(takes);
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    uint64_t x = ((const unit *)a)->bytes, y = ((const unit *)b)->bytes;

    return x > y ? -1 : x < y;
}

/* Large units first, alone; the rest in parallel. */
static int run_units(tarn_cx *cx, upsert *u)
{
    uint64_t budget = tn_budget_bytes(cx), jobs = tn_cx_jobs(cx), all = 0, most;
    int rc = TARN_OK;

    for (size_t i = 0; i < u->unit_count; i++)
        all += u->units[i].bytes;
    qsort(u->units, u->unit_count, sizeof u->units[0], by_bytes);
    most = budget / jobs >= THREAD_MEMORY ? all / jobs : budget / SMALL_PART / jobs;
    /* Key filters of large files, old and new, take about as much as the files. */
    if (most > budget / jobs)
        most = budget / jobs;
    while (u->first < u->unit_count &&
           (u->units[u->first].bytes > most || u->unit_count - u->first == 1)) {
        TN_TRY(write_unit(cx, u, &u->units[u->first]));
        u->first++;
    }
    TN_TRY(tn_parallel(cx, u->unit_count - u->first, write_some, u));
done:
    return rc;
}

static int keep_made(tarn_cx *cx, const upsert *u, tn_arena *arena, tn_upsert_made *out)
{
    size_t lists = u->plan->bucket_count + u->plan->partition_count, count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < lists; i++)
        count += u->made[i].stats.len / sizeof out->stats[0];
    out->stats = tn_arena_array(cx, arena, count, sizeof out->stats[0]);
    if (out->stats == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < lists; i++) {
        const tn_write_stat *stats = (const void *)u->made[i].stats.data;

        for (size_t k = 0; k < u->made[i].stats.len / sizeof *stats; k++) {
            tn_write_stat *stat = &out->stats[out->stat_count++];

            *stat = stats[k];
            TN_TRY(tn_arena_keep(cx, arena, &stat->partition));
            TN_TRY(tn_arena_keep(cx, arena, &stat->file_id));
            TN_TRY(tn_arena_keep(cx, arena, &stat->path));
            TN_TRY(tn_arena_keep(cx, arena, &stat->prev_instant));
            out->inserted += stat->inserts;
            out->updated += stat->updates;
            out->deleted += stat->deletes;
        }
    }
    for (size_t i = 0; i < u->unit_count; i++) {
        out->unchanged += u->units[i].counts.unchanged;
        out->groups += u->units[i].counts.groups;
        out->groups_carried += u->units[i].counts.groups_carried;
        out->bytes_carried += u->units[i].counts.bytes_carried;
    }
done:
    return rc;
}

static void clear(upsert *u)
{
    size_t lists = u->plan->bucket_count + u->plan->partition_count;

    for (size_t i = 0; u->made != NULL && i < lists; i++)
        tn_buf_clear(&u->made[i].stats);
    for (size_t i = 0; u->units != NULL && i < lists; i++)
        tn_arena_clear(&u->units[i].arena);
    free(u->made);
    free(u->units);
}

static int run(tarn_cx *cx, upsert *u, tn_arena *arena, tn_upsert_made *out)
{
    tn_upsert_made made = {0};
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(list_units(cx, u));
    TN_TRY(run_units(cx, u));
    TN_TRY(keep_made(cx, u, arena, &made));
    *out = made;
done:
    clear(u);
    return rc;
}

int tn_exec_upsert(tarn_cx *cx, tn_base_job *job, const tn_upsert_plan *plan, tn_incoming *in,
                   tn_arena *arena, tn_upsert_made *out)
{
    upsert u = {.job = job, .plan = plan, .in = in};

    return run(cx, &u, arena, out);
}

int tn_exec_upsert_stream(tarn_cx *cx, tn_base_job *job, const tn_upsert_plan *plan,
                          struct ArrowArrayStream *rows, tn_arena *arena, tn_upsert_made *out)
{
    upsert u = {.job = job, .plan = plan, .rows = rows};

    assert(plan->partition_count == 1 && !plan->exact);
    return run(cx, &u, arena, out);
}
