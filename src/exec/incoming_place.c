/* Rows dealt to their streams, each in its order.
 *
 *   updates  by row of the old file, then arrival: a radix sort of what counting dealt
 *   inserts  by arrival, which dealing keeps, or by key
 *
 * I1: a row goes to every stream that it has a place in, and to one stream of inserts where it is
 *     an insert. Deletes without a place go nowhere. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "base/pool.h"
#include "batch/record_key.h"
#include "exec/incoming_state.h"
#include "task/upsert_route.h"

#define NO_STREAM  UINT32_MAX
#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

typedef struct dealing {
    tn_incoming *in;
    const tn_place_options *options;
    uint32_t *file_streams;      /* per file of the tag's */
    uint32_t *partition_streams; /* per number of a partition; by key: which of the plan's */
    size_t partition_count;
    uint32_t *routes; /* per row: the bucket of an insert, where each goes by its key */
} dealing;

/* --- which stream --- */

static int match_files(tarn_cx *cx, dealing *d)
{
    const tn_upsert_plan *plan = d->options->plan;
    tn_map by_pointer = {0};
    int rc = TARN_OK;

    d->file_streams = tn_alloc(cx, d->in->file_count * sizeof *d->file_streams);
    if (d->file_streams == NULL)
        return TARN_E_NOMEM;
    for (size_t b = 0; b < plan->bucket_count; b++) {
        const tn_base_file *const *base = &plan->buckets[b].base;
        bool added;
        size_t *at;

        if (*base == NULL)
            continue;
        at = tn_map_add(cx, &by_pointer, (tn_str){(const char *)base, sizeof *base}, &added);
        if (at == NULL)
            TN_TRY(TARN_E_NOMEM);
        *at = b;
    }
    for (size_t f = 0; f < d->in->file_count; f++) {
        const size_t *at = tn_map_find(
            &by_pointer, (tn_str){(const char *)&d->in->files[f], sizeof d->in->files[f]});

        d->file_streams[f] = at != NULL ? (uint32_t)*at : NO_STREAM;
    }
done:
    tn_map_clear(&by_pointer);
    return rc;
}

static int match_partitions(tarn_cx *cx, dealing *d)
{
    const tn_upsert_plan *plan = d->options->plan;

    for (size_t p = 0; p < plan->partition_count; p++)
        if (plan->partitions[p].number >= d->partition_count)
            d->partition_count = (size_t)plan->partitions[p].number + 1;
    d->partition_streams = tn_alloc(cx, d->partition_count * sizeof *d->partition_streams);
    if (d->partition_streams == NULL)
        return TARN_E_NOMEM;
    memset(d->partition_streams, 0xff, d->partition_count * sizeof *d->partition_streams);
    for (size_t p = 0; p < plan->partition_count; p++)
        d->partition_streams[plan->partitions[p].number] =
            d->routes != NULL ? (uint32_t)p : (uint32_t)(plan->bucket_count + p);
    return TARN_OK;
}

static uint32_t partition_stream(const dealing *d, size_t row)
{
    uint32_t partition = d->in->facts.partitions[row];

    return partition < d->partition_count ? d->partition_streams[partition] : NO_STREAM;
}

/* The stream of an insert. */
static uint32_t insert_stream(const dealing *d, size_t row)
{
    return d->routes != NULL ? d->routes[row] : partition_stream(d, row);
}

static bool is_update(const dealing *d, size_t row)
{
    return d->in->facts.places != NULL && d->in->facts.places[row] != TN_NO_PLACE &&
           !(d->in->facts.flags[row] & TN_ROW_DROPPED);
}

static bool is_insert(const dealing *d, size_t row)
{
    uint8_t flags = d->in->facts.flags[row];

    return !(flags & (TN_ROW_DROPPED | TN_ROW_DELETE)) &&
           (flags & TN_ROW_MOVED || d->in->facts.places == NULL ||
            d->in->facts.places[row] == TN_NO_PLACE);
}

/* Where a bucket is chosen by the key, which is hashed once. */
static int route_held(tarn_cx *cx, size_t i, void *arg)
{
    const dealing *d = arg;
    const tn_place_options *o = d->options;
    const tn_held *held = &d->in->held[i];

    for (int64_t row = held->first; row < held->first + held->array.length; row++) {
        uint32_t partition = partition_stream(d, (size_t)row);
        tn_str key;

        d->routes[row] = NO_STREAM;
        if (!is_insert(d, (size_t)row) || partition == NO_STREAM ||
            o->plan->partitions[partition].insert_bucket_count == 0)
            continue;
        key = tn_incoming_key(d->in, row);
        d->routes[row] = tn_upsert_route(
            o->plan, partition,
            o->plan->index_buckets != 0
                ? tn_record_key_bucket(key, o->index_keys, o->index_key_count, o->index_fields,
                                       o->index_field_count, o->plan->index_buckets)
                : tn_record_key_md5(key));
    }
    return tn_cx_check(cx);
}

static int make_routes(tarn_cx *cx, dealing *d, uint64_t *charged)
{
    const tn_upsert_plan *plan = d->options->plan;
    uint64_t bytes = (uint64_t)d->in->facts.count * sizeof *d->routes;
    int rc = TARN_OK;

    if (!plan->exact && plan->index_buckets == 0)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, bytes, "buckets of rows", charged));
    d->routes = tn_alloc(cx, bytes);
    if (d->routes == NULL)
        return TARN_E_NOMEM;
done:
    return rc;
}

/* --- dealing --- */

static int stray(tarn_cx *cx, const char *what)
{
    return tn_fail(cx, TARN_E_INVALID, "the plan names no %s for a row; plan again", what);
}

static int count_update(tarn_cx *cx, dealing *d, uint64_t place)
{
    uint32_t stream = d->file_streams[TN_PLACE_FILE(place)];

    if (stream == NO_STREAM)
        return stray(cx, "bucket of the file");
    d->in->streams[stream].update_end++;
    return TARN_OK;
}

static int count_rows(tarn_cx *cx, dealing *d)
{
    const tn_extra *extras = (const tn_extra *)(const void *)d->in->extras.data;
    tn_incoming *in = d->in;
    int rc = TARN_OK;

    for (size_t i = 0; i < (size_t)in->facts.count; i++) {
        uint32_t stream;

        if (is_update(d, i))
            TN_TRY(count_update(cx, d, in->facts.places[i]));
        if (!is_insert(d, i))
            continue;
        stream = insert_stream(d, i);
        if (stream == NO_STREAM)
            TN_TRY(stray(cx, "partition"));
        in->streams[stream].insert_end++;
    }
    for (size_t i = 0; i < in->extras.len / sizeof *extras; i++)
        TN_TRY(count_update(cx, d, extras[i].place));
done:
    return rc;
}

/* Counts become ranges; `_end` grows again while rows are dealt. */
static void open_ranges(tn_incoming *in, size_t *updates, size_t *inserts)
{
    *updates = *inserts = 0;
    for (size_t s = 0; s < in->stream_count; s++) {
        tn_stream_range *range = &in->streams[s];

        range->update = *updates;
        range->insert = *inserts;
        *updates += range->update_end;
        *inserts += range->insert_end;
        range->update_end = range->update;
        range->insert_end = range->insert;
    }
}

static void deal_update(const dealing *d, size_t row, uint64_t place, bool deletes)
{
    tn_incoming *in = d->in;
    tn_stream_range *range = &in->streams[d->file_streams[TN_PLACE_FILE(place)]];

    in->updates[range->update_end++] = (tn_update){
        TN_PLACE_ROW(place), (uint32_t)row, deletes || (in->facts.flags[row] & TN_ROW_DELETE) != 0};
}

static void deal_rows(const dealing *d)
{
    const tn_extra *extras = (const tn_extra *)(const void *)d->in->extras.data;
    size_t extra = 0, extra_count = d->in->extras.len / sizeof *extras;
    tn_incoming *in = d->in;

    for (size_t i = 0; i < (size_t)in->facts.count; i++) {
        if (is_update(d, i))
            deal_update(d, i, in->facts.places[i], (in->facts.flags[i] & TN_ROW_MOVED) != 0);
        for (; extra < extra_count && extras[extra].row == i; extra++)
            deal_update(d, i, extras[extra].place, extras[extra].deletes);
        if (is_insert(d, i))
            in->inserts[in->streams[insert_stream(d, i)].insert_end++] = (uint32_t)i;
    }
}

/* --- order of updates --- */

/* Stable, by position; `spare` is as long. */
static void sort_updates(tn_update *updates, tn_update *spare, size_t count, int64_t most)
{
    tn_update *from = updates, *to = spare, *swap;

    for (unsigned shift = 0; most >> shift != 0; shift += DIGIT_BITS) {
        size_t starts[DIGITS + 1] = {0};

        for (size_t i = 0; i < count; i++)
            starts[((from[i].position >> shift) & (DIGITS - 1)) + 1]++;
        for (size_t k = 1; k <= DIGITS; k++)
            starts[k] += starts[k - 1];
        for (size_t i = 0; i < count; i++)
            to[starts[(from[i].position >> shift) & (DIGITS - 1)]++] = from[i];
        swap = from;
        from = to;
        to = swap;
    }
    if (from != updates)
        memcpy(updates, from, count * sizeof *updates);
}

static int order_updates(tarn_cx *cx, size_t stream, void *arg)
{
    const dealing *d = arg;
    const tn_stream_range *range = &d->in->streams[stream];
    tn_update *updates = d->in->updates + range->update, *spare;
    size_t count = range->update_end - range->update;
    uint64_t charged = 0;
    int64_t most = 0;
    bool sorted = true;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        sorted = sorted && updates[i].position >= most;
        most = updates[i].position > most ? updates[i].position : most;
    }
    if (sorted)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, count * sizeof *spare, "sorting rows by their place", &charged));
    spare = tn_alloc(cx, count * sizeof *spare);
    if (spare == NULL)
        TN_TRY(TARN_E_NOMEM);
    sort_updates(updates, spare, count, most);
    free(spare);
done:
    tn_budget_give(cx, charged);
    return rc;
}

/* --- order of inserts --- */

typedef struct keyed {
    uint64_t prefix; /* the first 8 bytes, big-endian */
    const char *key;
    uint32_t len, row;
} keyed;

static uint64_t prefix_of(tn_str key)
{
    uint8_t bytes[8] = {0};
    uint64_t value = 0;

    memcpy(bytes, key.ptr, key.len < sizeof bytes ? key.len : sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int order;

    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    order = tn_str_compare((tn_str){x->key, x->len}, (tn_str){y->key, y->len});
    return order != 0 ? order : x->row < y->row ? -1 : x->row > y->row;
}

static int order_inserts(tarn_cx *cx, size_t stream, void *arg)
{
    const dealing *d = arg;
    const tn_stream_range *range = &d->in->streams[stream];
    uint32_t *rows = d->in->inserts + range->insert;
    size_t count = range->insert_end - range->insert;
    uint64_t charged = 0;
    keyed *keys = NULL;
    int rc = TARN_OK;

    if (!d->options->sort || count < 2)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, count * sizeof *keys, "sorting rows by their key", &charged));
    keys = tn_alloc(cx, count * sizeof *keys);
    if (keys == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        tn_str key = tn_incoming_key(d->in, rows[i]);

        keys[i] = (keyed){prefix_of(key), key.ptr, (uint32_t)key.len, rows[i]};
    }
    qsort(keys, count, sizeof *keys, compare_keyed);
    for (size_t i = 0; i < count; i++)
        rows[i] = keys[i].row;
done:
    free(keys);
    tn_budget_give(cx, charged);
    return rc;
}

static int order_stream(tarn_cx *cx, size_t stream, void *arg)
{
    int rc = order_updates(cx, stream, arg);

    return rc == TARN_OK ? order_inserts(cx, stream, arg) : rc;
}

void tn_incoming_undeal(tn_incoming *in)
{
    free(in->streams);
    free(in->updates);
    free(in->inserts);
    in->streams = NULL;
    in->updates = NULL;
    in->inserts = NULL;
    tn_budget_give(&in->home, in->placed);
    in->placed = 0;
}

int tn_incoming_deal(tarn_cx *cx, tn_incoming *in, const tn_place_options *options)
{
    dealing d = {.in = in, .options = options};
    size_t updates, inserts;
    uint64_t charged = 0;
    int rc = TARN_OK;

    in->stream_count = options->plan->bucket_count + options->plan->partition_count;
    in->streams = tn_calloc(cx, in->stream_count, sizeof *in->streams);
    if (in->streams == NULL)
        return TARN_E_NOMEM;
    TN_TRY(match_files(cx, &d));
    TN_TRY(make_routes(cx, &d, &charged));
    TN_TRY(match_partitions(cx, &d));
    if (d.routes != NULL)
        TN_TRY(tn_parallel(cx, in->held_count, route_held, &d));
    TN_TRY(count_rows(cx, &d));
    open_ranges(in, &updates, &inserts);
    TN_TRY(tn_incoming_charge(cx, updates * sizeof *in->updates + inserts * sizeof *in->inserts,
                              "the order of rows", &in->placed));
    in->updates = tn_alloc(cx, updates * sizeof *in->updates);
    in->inserts = tn_alloc(cx, inserts * sizeof *in->inserts);
    if (in->updates == NULL || in->inserts == NULL)
        TN_TRY(TARN_E_NOMEM);
    deal_rows(&d);
    TN_TRY(tn_parallel(cx, in->stream_count, order_stream, &d));
done:
    free(d.file_streams);
    free(d.partition_streams);
    free(d.routes);
    tn_budget_give(cx, charged);
    return rc;
}

int tn_incoming_place(tarn_cx *cx, tn_incoming *in, const tn_place_options *options)
{
    int rc = TARN_OK;

    assert(in->plan == NULL);
    tn_incoming_drop_keys(in);
    TN_TRY(tn_incoming_seal(cx, in));
    rc = in->spilled ? TARN_OK : tn_incoming_deal(cx, in, options);
    if (rc == TARN_E_LIMIT) {
        tn_incoming_undeal(in);
        rc = tn_incoming_yield(cx, in);
    }
    TN_TRY(rc);
    if (in->spilled)
        TN_TRY(tn_incoming_make_runs(cx, in, options));
    in->sorted = options->sort;
    in->plan = options->plan;
done:
    return rc;
}

int64_t tn_incoming_stream_rows(const tn_incoming *in, size_t stream)
{
    size_t count, rows = 0;
    const tn_run_piece *pieces;
    const tn_stream_range *range;

    assert(in->plan != NULL && stream < in->stream_count);
    if (!in->spilled) {
        range = &in->streams[stream];
        return (int64_t)(range->update_end - range->update + range->insert_end - range->insert);
    }
    for (int inserts = 0; inserts < 2; inserts++) {
        pieces = tn_incoming_runs(in, stream, inserts != 0, &count);
        for (size_t i = 0; i < count; i++)
            rows += pieces[i].rows;
    }
    return (int64_t)rows;
}
