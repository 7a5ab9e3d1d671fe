/* Routing rows to buckets.
 *
 *   add ── memory: batches as they came, without partition columns, and a bucket number per row
 *       ── full: a run: the rows sorted by bucket (stable), gathered, and written as pieces of one
 *          bucket each to the spill file; memory is empty then
 *   end ── what is left in memory is sorted, not copied
 *   read, bucket by bucket ── its pieces in order of the runs, then its rows in memory, gathered
 *
 * Sorting is counting: it takes the rows of memory and the buckets there are, never their product.
 * Small batches are joined as they come, so that their structures do not outweigh their rows. Each
 * batch is sorted by bucket while it is in the processor's caches: what is gathered from it later
 * are runs of neighbours.
 *
 * I1: rows of a bucket keep the order in which they came: runs in order, within a run by arrival.
 * I2: what is held is charged to the budget; what memory takes at most is MEMORY_SHARE of it.
 * I3: between run and run nothing but pieces' places is held. */
#include "exec/exec_route.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/field.h"
#include "batch/gather.h"
#include "batch/stream.h"
#include "batch/unify.h"
#include "exec/route_keys.h"
#include "exec/route_spill.h"

#define MEMORY_SHARE(budget) ((budget) / 5 * 2)
#define ROW_BYTES            8 /* bucket and place in order, of each row held */
#define PIECE_ROWS           65536
#define PIECE_BYTES_MAX      (4ull << 20)
#define PIECE_BYTES_MIN      (64ull << 10)
#define PIECES_OF_MEMORY     16   /* so many, for each thread, fill what memory may hold */
#define SMALL_ROWS           4096 /* batches below it are joined */
#define JOINED_ROWS          32768
#define JOINED_BATCHES       256
#define LAST_PIECE           SIZE_MAX

typedef struct held {
    struct ArrowArray array;
    int64_t first; /* number of its first row among all that are held */
} held;

/* A piece of the spill file, and the next one of its bucket. */
typedef struct piece {
    tn_spill_piece place;
    size_t next;
} piece;

typedef struct chain {
    size_t first, last; /* pieces; LAST_PIECE: none */
} chain;

struct tn_route {
    tarn_cx home; /* gives back what was charged, and removes, at close */
    tn_arena arena;
    tn_store *store;
    const tn_write_plan *plan;
    struct ArrowSchema given,
        plain; /* with partition columns; as given, and without dictionaries */
    struct ArrowSchema rows, stored; /* without partition columns, likewise */
    bool dictionaries, ended;
    tn_route_keys keys;
    uint64_t memory_bytes, memory_max; /* charged */
    uint64_t piece_bytes;              /* of a piece, and of what one thread packs at a time */
    held *batches;
    size_t batch_count, batch_cap;
    size_t small_from; /* batches from here on are small and may be joined */
    tn_buf ids;        /* uint32_t per row held */
    int64_t row_count;
    uint64_t row_bytes, rows_seen; /* in memory form, of all rows */
    uint32_t *order;               /* rows held, sorted by bucket */
    size_t *starts;                /* where each bucket begins in it; one more than buckets */
    tn_spill spill;
    tn_buf pieces; /* piece */
    tn_buf chains; /* chain, per bucket */
    tn_route_bucket *buckets;
    uint32_t *numbers; /* of the buckets given out */
    size_t bucket_count;
};

/* --- opening and closing --- */

/* `from` without the partition columns. */
static int without_keys(tarn_cx *cx, const tn_route_keys *keys, const struct ArrowSchema *from,
                        struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    tn_buf metadata = {0};
    tn_str key, value;
    size_t count = 0, n = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < from->n_children; i++)
        count += !tn_route_keys_has(keys, i);
    TN_TRY(tn_field_init(cx, &made, from->format, tn_str_of(from->name), false, count));
    for (int32_t i = 0; tn_metadata_at(from->metadata, i, &key, &value); i++)
        tn_metadata_add(&metadata, key, value);
    TN_TRY(tn_field_set_metadata(cx, &made, &metadata));
    for (int64_t i = 0; i < from->n_children; i++)
        if (!tn_route_keys_has(keys, i))
            TN_TRY(tn_field_copy(cx, from->children[i], made.children[n++]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    tn_buf_clear(&metadata);
    return rc;
}

int tn_route_open(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                  const struct ArrowSchema *schema, tn_route **out)
{
    tn_route *route = tn_calloc(cx, 1, sizeof *route);
    uint64_t budget = tn_budget_bytes(cx);
    int rc = TARN_OK;

    if (route == NULL)
        return TARN_E_NOMEM;
    tn_cx_child(&route->home, cx);
    route->store = store;
    route->plan = plan;
    route->memory_max = MEMORY_SHARE(budget == UINT64_MAX ? TN_MEMORY_DEFAULT_BYTES : budget);
    route->piece_bytes = route->memory_max / PIECES_OF_MEMORY / tn_cx_jobs(cx);
    route->piece_bytes = route->piece_bytes > PIECE_BYTES_MAX   ? PIECE_BYTES_MAX
                         : route->piece_bytes < PIECE_BYTES_MIN ? PIECE_BYTES_MIN
                                                                : route->piece_bytes;
    route->spill = (tn_spill){.store = store};
    TN_TRY(
        tn_path_join(cx, &route->arena, plan->staging, TN_STR("rows.spill"), &route->spill.path));
    TN_TRY(tn_field_copy(cx, schema, &route->given));
    TN_TRY(tn_gather_plain(cx, schema, &route->plain, &route->dictionaries));
    TN_TRY(tn_route_keys_init(cx, plan, &route->plain, &route->keys));
    TN_TRY(without_keys(cx, &route->keys, &route->plain, &route->rows));
    TN_TRY(without_keys(cx, &route->keys, &route->given, &route->stored));
    *out = route;
    route = NULL;
done:
    tn_route_close(route);
    return rc;
}

static void drop_memory(tn_route *route)
{
    for (size_t i = 0; i < route->batch_count; i++)
        tn_array_release(&route->batches[i].array);
    route->batch_count = route->small_from = 0;
    route->row_count = 0;
    tn_buf_clear(&route->ids);
    free(route->order);
    free(route->starts);
    route->order = NULL;
    route->starts = NULL;
    tn_budget_give(&route->home, route->memory_bytes);
    route->memory_bytes = 0;
}

void tn_route_close(tn_route *route)
{
    if (route == NULL)
        return;
    drop_memory(route);
    free(route->batches);
    tn_spill_clear(&route->home, &route->spill);
    tn_buf_clear(&route->pieces);
    tn_buf_clear(&route->chains);
    tn_route_keys_clear(&route->keys);
    tn_field_release(&route->given);
    tn_field_release(&route->plain);
    tn_field_release(&route->rows);
    tn_field_release(&route->stored);
    tn_arena_clear(&route->arena);
    tn_cx_child_clear(&route->home);
    free(route);
}

const struct ArrowSchema *tn_route_schema(const tn_route *route)
{
    return &route->rows;
}

const struct ArrowSchema *tn_route_stored_schema(const tn_route *route)
{
    return route->dictionaries ? &route->stored : NULL;
}

uint64_t tn_route_spilled_bytes(const tn_route *route)
{
    return route->spill.bytes;
}

/* --- rows in memory, sorted --- */

static const uint32_t *ids_of(const tn_route *route)
{
    return (const uint32_t *)(const void *)route->ids.data;
}

/* Fills `order` and `starts`. */
static int sort_rows(tarn_cx *cx, tn_route *route)
{
    size_t buckets = tn_route_keys_count(&route->keys), sum = 0;
    const uint32_t *ids = ids_of(route);

    route->order = tn_alloc(cx, (size_t)route->row_count * sizeof route->order[0]);
    route->starts = tn_calloc(cx, buckets + 2, sizeof route->starts[0]);
    if (route->order == NULL || route->starts == NULL)
        return TARN_E_NOMEM;
    /* Counts stand two places on, so that filling leaves each start in its place. */
    for (int64_t i = 0; i < route->row_count; i++)
        route->starts[ids[i] + 2]++;
    for (size_t b = 0; b < buckets + 2; b++) {
        sum += route->starts[b];
        route->starts[b] = sum;
    }
    for (int64_t i = 0; i < route->row_count; i++)
        route->order[route->starts[ids[i] + 1]++] = (uint32_t)i;
    return TARN_OK;
}

/* The batch that holds row number `row`. */
static size_t batch_of(const tn_route *route, int64_t row)
{
    size_t low = 0, high = route->batch_count - 1;

    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (route->batches[middle].first <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* One part: the rows order[from .. end) that lie in one batch; *end moves there. */
static tn_gather_part part_of(const tn_route *route, size_t from, size_t *end, int64_t *take)
{
    const held *batch = &route->batches[batch_of(route, route->order[from])];
    int64_t shift = batch->array.offset - batch->first, past = batch->first + batch->array.length;
    tn_gather_part part = {.array = &batch->array, .first = route->order[from] + shift};
    size_t at = from;

    while (at < *end && route->order[at] < past) {
        take[at - from] = route->order[at] + shift;
        at++;
    }
    *end = at;
    part.count = (int64_t)(at - from);
    if (take[part.count - 1] - part.first + 1 != part.count)
        part.take = take;
    return part;
}

/* Rows order[from .. from + count) as one array. */
static int gather_rows(tarn_cx *cx, const tn_route *route, size_t from, size_t count,
                       struct ArrowArray *out)
{
    int64_t *take = tn_alloc(cx, count * sizeof *take);
    tn_buf parts = {0};
    size_t at = from;
    int rc = TARN_OK;

    if (take == NULL)
        return TARN_E_NOMEM;
    while (at < from + count) {
        size_t end = from + count;
        tn_gather_part part = part_of(route, at, &end, take + (at - from));

        tn_buf_add(&parts, &part, sizeof part);
        at = end;
    }
    TN_TRY(tn_buf_check(cx, &parts));
    TN_TRY(tn_gather(cx, &route->rows, (const tn_gather_part *)(const void *)parts.data,
                     parts.len / sizeof(tn_gather_part), out));
done:
    free(take);
    tn_buf_clear(&parts);
    return rc;
}

/* How many rows make a piece of a fair size. */
static size_t piece_rows(const tn_route *route)
{
    uint64_t each = route->rows_seen != 0 ? route->row_bytes / route->rows_seen : 0;
    uint64_t fit = route->piece_bytes / (each != 0 ? each : 1);

    return fit < 1 ? 1 : fit > PIECE_ROWS ? PIECE_ROWS : (size_t)fit;
}

/* --- spilling --- */

/* Pieces [first, first + count) of the run, packed one after the other. */
typedef struct load {
    size_t first, count;
    tn_buf bytes;
} load;

typedef struct cut {
    uint32_t bucket;
    size_t from, count; /* rows in `order` */
    tn_spill_piece place;
} cut;

/* While one wave of loads, one per thread, is packed, the wave before is written. */
typedef struct run {
    tn_route *route;
    cut *cuts;
    size_t cut_count;
    load *loads;          /* two waves of them */
    load *pack, *written; /* either */
    size_t written_count;
} run;

static int pack_load(tarn_cx *cx, size_t i, void *arg)
{
    run *r = arg;
    load *l = &r->pack[i];
    struct ArrowArray array = {0};
    int rc = TARN_OK;

    for (size_t k = l->first; k < l->first + l->count; k++) {
        size_t before = l->bytes.len;
        tn_str bytes;

        TN_TRY(gather_rows(cx, r->route, r->cuts[k].from, r->cuts[k].count, &array));
        TN_TRY(tn_spill_pack(cx, &r->route->rows, &array, &l->bytes));
        tn_array_release(&array);
        bytes = (tn_str){(const char *)l->bytes.data + before, l->bytes.len - before};
        r->cuts[k].place = (tn_spill_piece){before, bytes.len, tn_spill_checksum(bytes)};
    }
done:
    tn_array_release(&array);
    return rc;
}

/* Cuts the sorted rows into pieces of one bucket each. */
static int cut_run(tarn_cx *cx, run *r)
{
    const tn_route *route = r->route;
    size_t buckets = tn_route_keys_count(&route->keys), most = piece_rows(route), n = 0;

    for (size_t b = 0; b < buckets; b++)
        n += (route->starts[b + 1] - route->starts[b] + most - 1) / most;
    r->cuts = tn_calloc(cx, n, sizeof *r->cuts);
    if (r->cuts == NULL)
        return TARN_E_NOMEM;
    for (size_t b = 0; b < buckets; b++)
        for (size_t at = route->starts[b]; at < route->starts[b + 1];) {
            size_t rows = route->starts[b + 1] - at;

            rows = rows < most ? rows : most;
            r->cuts[r->cut_count++] = (cut){.bucket = (uint32_t)b, .from = at, .count = rows};
            at += rows;
        }
    assert(r->cut_count == n);
    return TARN_OK;
}

static int chain_piece(tarn_cx *cx, tn_route *route, const cut *c, uint64_t base)
{
    size_t number = route->pieces.len / sizeof(piece);
    piece made = {.place = c->place, .next = LAST_PIECE};
    chain *chains = (chain *)(void *)route->chains.data;
    piece *pieces;

    made.place.offset += base;
    tn_buf_add(&route->pieces, &made, sizeof made);
    if (route->pieces.failed)
        return tn_fail_memory(cx);
    pieces = (piece *)(void *)route->pieces.data;
    if (chains[c->bucket].first == LAST_PIECE)
        chains[c->bucket].first = number;
    else
        pieces[chains[c->bucket].last].next = number;
    chains[c->bucket].last = number;
    return TARN_OK;
}

/* Buckets that appeared since the last run begin without pieces. */
static int grow_chains(tarn_cx *cx, tn_route *route)
{
    static const chain none = {LAST_PIECE, LAST_PIECE};

    while (route->chains.len / sizeof(chain) < tn_route_keys_count(&route->keys) &&
           !route->chains.failed)
        tn_buf_add(&route->chains, &none, sizeof none);
    return tn_buf_check(cx, &route->chains);
}

/* The next pieces, about piece_bytes for each thread; *at moves past them. */
static size_t deal(run *r, size_t *at, unsigned jobs)
{
    const tn_route *route = r->route;
    uint64_t each = route->rows_seen != 0 ? route->row_bytes / route->rows_seen + 1 : 1;
    size_t n = 0;

    for (; n < jobs && *at < r->cut_count; n++) {
        load *l = &r->pack[n];
        uint64_t bytes = 0;

        l->first = *at;
        tn_buf_reset(&l->bytes);
        while (*at < r->cut_count && (*at == l->first || bytes < route->piece_bytes))
            bytes += r->cuts[(*at)++].count * each;
        l->count = *at - l->first;
    }
    return n;
}

static int write_loads(tarn_cx *cx, run *r)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < r->written_count; i++) {
        const load *l = &r->written[i];
        uint64_t base = r->route->spill.bytes;

        TN_TRY(tn_spill_write(cx, &r->route->spill, tn_buf_view(&l->bytes)));
        for (size_t k = l->first; k < l->first + l->count; k++)
            TN_TRY(chain_piece(cx, r->route, &r->cuts[k], base));
    }
done:
    return rc;
}

static int work_on_run(tarn_cx *cx, size_t i, void *arg)
{
    return i == 0 ? write_loads(cx, arg) : pack_load(cx, i - 1, arg);
}

/* Packs and writes all pieces. */
static int write_run(tarn_cx *cx, run *r, unsigned jobs)
{
    size_t at = 0, count;
    int rc = TARN_OK;

    r->pack = r->loads;
    r->written = r->loads + jobs;
    do {
        count = deal(r, &at, jobs);
        TN_TRY(tn_parallel(cx, count + 1, work_on_run, r));
        r->written = r->pack;
        r->written_count = count;
        r->pack = r->pack == r->loads ? r->loads + jobs : r->loads;
    } while (count != 0);
done:
    return rc;
}

/* Writes what memory holds as a run, and empties it. */
static int spill_run(tarn_cx *cx, tn_route *route)
{
    run r = {.route = route};
    unsigned jobs = tn_cx_jobs(cx);
    int rc = TARN_OK;

    if (route->row_count == 0)
        return TARN_OK;
    TN_TRY(sort_rows(cx, route));
    TN_TRY(grow_chains(cx, route));
    TN_TRY(cut_run(cx, &r));
    r.loads = tn_calloc(cx, 2 * (size_t)jobs, sizeof *r.loads);
    if (r.loads == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(write_run(cx, &r, jobs));
    drop_memory(route);
done:
    for (size_t i = 0; r.loads != NULL && i < 2 * (size_t)jobs; i++)
        tn_buf_clear(&r.loads[i].bytes);
    free(r.loads);
    free(r.cuts);
    return rc;
}

/* --- adding --- */

/* Reserves memory for a batch, spilling what is there when it must. */
static int charge(tarn_cx *cx, tn_route *route, uint64_t bytes)
{
    int rc = TARN_OK;

    if (route->memory_bytes + bytes > route->memory_max || !tn_budget_try(cx, bytes)) {
        TN_TRY(spill_run(cx, route));
        TN_TRY(tn_budget_take(cx, bytes, "rows on their way to their partitions"));
    }
    route->memory_bytes += bytes;
done:
    return rc;
}

/* The batch without the partition columns. */
static int strip_keys(tarn_cx *cx, const tn_route *route, struct ArrowArray *batch)
{
    struct ArrowArray made = {0};
    size_t n = 0;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, batch->length, 1, (size_t)route->rows.n_children));
    made.offset = batch->offset;
    for (int64_t i = 0; i < batch->n_children; i++)
        if (!tn_route_keys_has(&route->keys, i))
            tn_array_move(batch->children[i], made.children[n++]);
    tn_array_release(batch);
    tn_array_move(&made, batch);
done:
    tn_array_release(&made);
    return rc;
}

/* Where each row of a batch goes when they are sorted by bucket; NULL in *take when they are. */
static int sort_batch(tarn_cx *cx, const tn_route *route, const uint32_t *ids, int64_t rows,
                      int64_t shift, int64_t **take)
{
    size_t buckets = tn_route_keys_count(&route->keys), sum = 0;
    size_t *starts = NULL;
    int64_t sorted = 1;
    int rc = TARN_OK;

    *take = NULL;
    while (sorted < rows && ids[sorted - 1] <= ids[sorted])
        sorted++;
    if (sorted >= rows)
        return TARN_OK;
    starts = tn_calloc(cx, buckets + 1, sizeof *starts);
    *take = tn_alloc(cx, (size_t)rows * sizeof **take);
    if (starts == NULL || *take == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < rows; i++)
        starts[ids[i] + 1]++;
    for (size_t b = 0; b <= buckets; b++) {
        sum += starts[b];
        starts[b] = sum;
    }
    for (int64_t i = 0; i < rows; i++)
        (*take)[starts[ids[i]]++] = i + shift;
done:
    free(starts);
    return rc;
}

/* Sorts the rows of a held batch, and their numbers of buckets. */
static int cluster(tarn_cx *cx, tn_route *route, size_t i)
{
    held *batch = &route->batches[i];
    int64_t rows = batch->array.length, shift = batch->array.offset;
    uint32_t *ids = (uint32_t *)(void *)route->ids.data + batch->first, *sorted = NULL;
    struct ArrowArray made = {0};
    tn_gather_part part = {.array = &batch->array, .count = rows};
    int64_t *take;
    int rc = TARN_OK;

    TN_TRY(sort_batch(cx, route, ids, rows, shift, &take));
    if (take == NULL)
        return TARN_OK;
    part.take = take;
    sorted = tn_alloc(cx, (size_t)rows * sizeof *sorted);
    if (sorted == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_gather(cx, &route->rows, &part, 1, &made));
    for (int64_t k = 0; k < rows; k++)
        sorted[k] = ids[take[k] - shift];
    memcpy(ids, sorted, (size_t)rows * sizeof *sorted);
    tn_array_release(&batch->array);
    tn_array_move(&made, &batch->array);
done:
    tn_array_release(&made);
    free(sorted);
    free(take);
    return rc;
}

/* Joins the small batches at the end into one. */
static int join_small(tarn_cx *cx, tn_route *route)
{
    size_t from = route->small_from, count = route->batch_count - from;
    int rc = TARN_OK;

    if (count >= 2) {
        TN_TRY(tn_gather_join(cx, &route->rows, &route->batches[from].array, sizeof *route->batches,
                              count));
        route->batch_count = from + 1;
        TN_TRY(cluster(cx, route, from));
    }
done:
    route->small_from = route->batch_count;
    return rc;
}

static int hold(tarn_cx *cx, tn_route *route, struct ArrowArray *batch)
{
    bool large;

    if (tn_grow(cx, &route->batches, route->batch_count, &route->batch_cap,
                sizeof *route->batches) != TARN_OK)
        return TARN_E_NOMEM;
    route->batches[route->batch_count].first = route->row_count;
    route->row_count += batch->length;
    large = batch->length >= SMALL_ROWS;
    tn_array_move(batch, &route->batches[route->batch_count++].array);
    if (large) {
        route->small_from = route->batch_count;
        return cluster(cx, route, route->batch_count - 1);
    }
    if (route->small_from < route->batch_count &&
        (route->batch_count - route->small_from >= JOINED_BATCHES ||
         route->row_count - route->batches[route->small_from].first >= JOINED_ROWS))
        return join_small(cx, route);
    return TARN_OK;
}

/* A batch of foreign make becomes one that is safe to gather from. */
static int admit(tarn_cx *cx, const tn_route *route, struct ArrowArray *batch)
{
    int rc = TARN_OK;

    TN_TRY(tn_array_check(cx, &route->given, batch));
    if (batch->null_count != 0 && batch->n_buffers > 0 && batch->buffers[0] != NULL &&
        tn_bits_count(batch->buffers[0], batch->offset, batch->length) != batch->length)
        TN_FAIL(TARN_E_INVALID, "a batch of rows holds rows that are null as a whole");
    if (batch->length > UINT32_MAX / 2)
        TN_FAIL(TARN_E_LIMIT, "a batch of %lld rows is too large; give smaller ones",
                (long long)batch->length);
    if (route->dictionaries)
        TN_TRY(tn_unify_cast(cx, &route->given, &route->plain, batch));
done:
    return rc;
}

int tn_route_add(tarn_cx *cx, tn_route *route, struct ArrowArray *batch)
{
    uint64_t bytes;
    uint8_t *ids;
    int rc = TARN_OK;

    assert(!route->ended);
    TN_TRY(tn_cx_check(cx));
    TN_TRY(admit(cx, route, batch));
    if (batch->length == 0)
        goto done;
    bytes = tn_gather_bytes(&route->plain, batch);
    route->row_bytes += bytes;
    route->rows_seen += (uint64_t)batch->length;
    TN_TRY(charge(cx, route, bytes + ROW_BYTES * (uint64_t)batch->length));
    if (route->row_count + batch->length > UINT32_MAX)
        TN_TRY(spill_run(cx, route));
    ids = tn_buf_extend(&route->ids, (size_t)batch->length * sizeof(uint32_t));
    if (ids == NULL)
        TN_TRY(tn_fail_memory(cx));
    TN_TRY(tn_route_keys_number(cx, &route->keys, batch, (uint32_t *)(void *)ids));
    TN_TRY(strip_keys(cx, route, batch));
    TN_TRY(hold(cx, route, batch));
done:
    tn_array_release(batch);
    return rc;
}

/* --- the buckets --- */

typedef struct named {
    const tn_route_keys *keys;
    uint32_t number;
} named;

static int compare_named(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const tn_route_place *p = tn_route_keys_place(x->keys, x->number);
    const tn_route_place *q = tn_route_keys_place(y->keys, y->number);
    int order = tn_str_compare(tn_route_keys_path(x->keys, p->partition),
                               tn_route_keys_path(y->keys, q->partition));

    return order != 0 ? order : p->slot < q->slot ? -1 : p->slot > q->slot;
}

static int name_buckets(tarn_cx *cx, tn_route *route)
{
    size_t count = tn_route_keys_count(&route->keys);
    named *names = tn_calloc(cx, count, sizeof *names);
    int rc = TARN_OK;

    route->buckets = tn_arena_array(cx, &route->arena, count, sizeof route->buckets[0]);
    route->numbers = tn_arena_array(cx, &route->arena, count, sizeof route->numbers[0]);
    if (names == NULL || route->buckets == NULL || route->numbers == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        names[i] = (named){&route->keys, (uint32_t)i};
    qsort(names, count, sizeof *names, compare_named);
    for (size_t i = 0; i < count; i++) {
        const tn_route_place *place = tn_route_keys_place(&route->keys, names[i].number);
        double share = (double)place->rows / (double)route->rows_seen;

        route->numbers[i] = names[i].number;
        route->buckets[i] = (tn_route_bucket){
            .partition = tn_route_keys_path(&route->keys, place->partition),
            .slot = place->slot,
            .rows = place->rows,
            .bytes = (uint64_t)(share * (double)route->row_bytes),
        };
    }
    route->bucket_count = count;
done:
    free(names);
    return rc;
}

int tn_route_end(tarn_cx *cx, tn_route *route, const tn_route_bucket **buckets, size_t *count)
{
    int rc = TARN_OK;

    assert(!route->ended);
    route->ended = true;
    TN_TRY(join_small(cx, route));
    TN_TRY(grow_chains(cx, route));
    TN_TRY(sort_rows(cx, route));
    TN_TRY(tn_spill_finish(cx, &route->spill));
    TN_TRY(name_buckets(cx, route));
    *buckets = route->buckets;
    *count = route->bucket_count;
done:
    return rc;
}

/* --- reading --- */

struct tn_route_reader {
    const tn_route *route;
    size_t piece;     /* the next; LAST_PIECE: none */
    tn_file *file;    /* of the pieces, once one is read */
    size_t from, end; /* rows in `order` that are left */
};

int tn_route_reader_open(tarn_cx *cx, tn_route *route, size_t i, tn_route_reader **out)
{
    tn_route_reader *reader = tn_calloc(cx, 1, sizeof *reader);
    uint32_t number;

    assert(route->ended && i < route->bucket_count);
    if (reader == NULL)
        return TARN_E_NOMEM;
    number = route->numbers[i];
    reader->route = route;
    reader->piece = ((const chain *)(const void *)route->chains.data)[number].first;
    reader->from = route->starts[number];
    reader->end = route->starts[number + 1];
    *out = reader;
    return TARN_OK;
}

int tn_route_reader_next(tarn_cx *cx, tn_route_reader *reader, struct ArrowArray *out)
{
    const tn_route *route = reader->route;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (reader->piece != LAST_PIECE) {
        const piece *p = &((const piece *)(const void *)route->pieces.data)[reader->piece];

        if (reader->file == NULL)
            TN_TRY(tn_store_open_file(cx, route->store, route->spill.path, &reader->file));
        TN_TRY(tn_spill_read(cx, &route->spill, reader->file, &route->rows, &p->place, out));
        reader->piece = p->next;
    } else if (reader->from < reader->end) {
        size_t rows = reader->end - reader->from, most = piece_rows(route);

        rows = rows < most ? rows : most;
        TN_TRY(gather_rows(cx, route, reader->from, rows, out));
        reader->from += rows;
    } else {
        *out = (struct ArrowArray){0};
    }
done:
    return rc;
}

void tn_route_reader_close(tn_route_reader *reader)
{
    if (reader == NULL)
        return;
    tn_store_close_file(reader->file);
    free(reader);
}

/* --- the same as a stream --- */

typedef struct stream {
    tarn_cx *cx;
    tn_route_reader *reader;
    char error[TN_ERROR_TEXT_MAX];
} stream;

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(s->cx, &s->reader->route->rows, out) == TARN_OK
               ? 0
               : tn_stream_fail(s->cx, s->error);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_route_reader_next(s->cx, s->reader, out) == TARN_OK ? 0
                                                                  : tn_stream_fail(s->cx, s->error);
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    return ((stream *)self->private_data)->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;

    tn_route_reader_close(s->reader);
    free(s);
    self->release = NULL;
}

int tn_route_rows(tarn_cx *cx, tn_route *route, size_t i, struct ArrowArrayStream *out)
{
    stream *s = tn_calloc(cx, 1, sizeof *s);
    int rc = TARN_OK;

    if (s == NULL)
        return TARN_E_NOMEM;
    s->cx = cx;
    TN_TRY(tn_route_reader_open(cx, route, i, &s->reader));
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .get_last_error = stream_error,
                                     .release = stream_release,
                                     .private_data = s};
    s = NULL;
done:
    free(s);
    return rc;
}
