/* Rows of a write: taken, counted, summarised. incoming_state.h tells which file does what.
 *
 * I1: what is held is charged to the budget. */
#include "exec/incoming.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "batch/field.h"
#include "batch/gather.h"
#include "exec/incoming_state.h"

#define MEMORY_SHARE(budget) ((budget) / 5 * 2)
#define ROW_BYTES            8    /* partition and flags of each row, with room to grow */
#define SMALL_ROWS           4096 /* batches below it are joined */
#define JOINED_ROWS          32768
#define JOINED_BATCHES       256

static int check_options(tarn_cx *cx, const struct ArrowSchema *schema,
                         const tn_incoming_options *options)
{
    const struct ArrowSchema *key;

    assert(strcmp(schema->format, "+s") == 0);
    if (options->key_column >= schema->n_children)
        return tn_fail(cx, TARN_E_INVALID, "column %u is to be the record key, of %lld columns",
                       options->key_column, (long long)schema->n_children);
    key = schema->children[options->key_column];
    if (strcmp(key->format, "u") != 0)
        return tn_fail(cx, TARN_E_INVALID, "column \"%s\": record keys are utf8, not \"%s\"",
                       key->name != NULL ? key->name : "", key->format);
    return TARN_OK;
}

static int keep_options(tarn_cx *cx, tn_incoming *in, const tn_incoming_options *options)
{
    uint32_t *ordering = tn_arena_array(cx, &in->arena, options->ordering_count, sizeof *ordering);

    if (ordering == NULL)
        return TARN_E_NOMEM;
    in->options = *options;
    if (options->ordering_count != 0)
        memcpy(ordering, options->ordering, options->ordering_count * sizeof *ordering);
    in->options.ordering = ordering;
    return tn_arena_keep(cx, &in->arena, &in->options.staging);
}

int tn_incoming_open(tarn_cx *cx, tn_store *store, const struct ArrowSchema *schema,
                     const tn_incoming_options *options, tn_incoming **out)
{
    uint64_t budget = tn_budget_bytes(cx);
    tn_incoming *in;
    int rc = TARN_OK;

    in = tn_calloc(cx, 1, sizeof *in);
    if (in == NULL)
        return TARN_E_NOMEM;
    tn_cx_child(&in->home, cx);
    in->store = store;
    in->seed = tn_cx_random(cx);
    in->memory_max = MEMORY_SHARE(budget == UINT64_MAX ? TN_MEMORY_DEFAULT_BYTES : budget);
    TN_TRY(check_options(cx, schema, options));
    TN_TRY(keep_options(cx, in, options));
    TN_TRY(tn_field_copy(cx, schema, &in->schema));
    if (options->ordering_count != 0)
        TN_TRY(tn_ordering_open(cx, &in->schema, in->options.ordering, options->ordering_count,
                                &in->ordering));
    *out = in;
    in = NULL;
done:
    tn_incoming_close(cx, in);
    return rc;
}

void tn_incoming_close(tarn_cx *cx, tn_incoming *in)
{
    (void)cx;
    if (in == NULL)
        return;
    tn_incoming_drop_held(in);
    tn_incoming_drop_keys(in);
    free(in->held);
    free(in->files);
    tn_spill_clear(&in->home, &in->rows_file);
    tn_spill_clear(&in->home, &in->keys_file);
    tn_spill_clear(&in->home, &in->facts_file);
    tn_spill_clear(&in->home, &in->runs_file);
    if (in->made_staging)
        (void)tn_store_remove_dir(&in->home, in->store, in->options.staging);
    tn_buf_clear(&in->pieces);
    tn_buf_clear(&in->runs);
    tn_buf_clear(&in->extras);
    tn_incoming_undeal(in);
    if (in->ordering != NULL)
        tn_ordering_close(in->ordering);
    tn_budget_give(&in->home, in->kept);
    tn_field_release(&in->schema);
    tn_field_release(&in->marked);
    tn_arena_clear(&in->arena);
    tn_cx_child_clear(&in->home);
    free(in);
}

int64_t tn_incoming_rows(const tn_incoming *in)
{
    return in->rows;
}

uint64_t tn_incoming_spilled_bytes(const tn_incoming *in)
{
    return in->rows_file.bytes;
}

/* --- adding --- */

/* Joins the small batches at the end into one. */
static int join_small(tarn_cx *cx, tn_incoming *in)
{
    size_t from = in->small_from, count = in->held_count - from;
    int rc = TARN_OK;

    if (count >= 2) {
        TN_TRY(tn_gather_join(cx, &in->schema, &in->held[from].array, sizeof *in->held, count));
        in->held_count = from + 1;
    }
done:
    in->small_from = in->held_count;
    return rc;
}

static int hold(tarn_cx *cx, tn_incoming *in, struct ArrowArray *batch)
{
    bool small = batch->length < SMALL_ROWS;

    if (tn_grow(cx, &in->held, in->held_count, &in->held_cap, sizeof *in->held) != TARN_OK)
        return TARN_E_NOMEM;
    in->held[in->held_count].first = in->facts.count;
    in->facts.count += batch->length;
    in->rows += batch->length;
    tn_array_move(batch, &in->held[in->held_count++].array);
    if (!small) {
        in->small_from = in->held_count;
        return TARN_OK;
    }
    if (in->held_count - in->small_from >= JOINED_BATCHES ||
        in->facts.count - in->held[in->small_from].first >= JOINED_ROWS)
        return join_small(cx, in);
    return TARN_OK;
}

/* Room for `more` rows' partitions and flags. */
static int grow_facts(tarn_cx *cx, tn_incoming *in, size_t more)
{
    size_t need = (size_t)in->facts.count + more, cap = in->facts_cap + in->facts_cap / 2;
    void *grown;

    if (need <= in->facts_cap)
        return TARN_OK;
    cap = cap < need ? need : cap;
    grown = tn_realloc(cx, in->facts.partitions, cap, sizeof *in->facts.partitions);
    if (grown == NULL)
        return TARN_E_NOMEM;
    in->facts.partitions = grown;
    grown = tn_realloc(cx, in->facts.flags, cap, sizeof *in->facts.flags);
    if (grown == NULL)
        return TARN_E_NOMEM;
    in->facts.flags = grown;
    in->facts_cap = cap;
    return TARN_OK;
}

/* A batch of foreign make becomes one that is safe to gather from. */
static int admit(tarn_cx *cx, const tn_incoming *in, const struct ArrowArray *batch)
{
    const struct ArrowArray *keys;
    int rc = TARN_OK;

    TN_TRY(tn_array_check(cx, &in->schema, batch));
    if (batch->null_count != 0 && batch->n_buffers > 0 && batch->buffers[0] != NULL &&
        tn_bits_count(batch->buffers[0], batch->offset, batch->length) != batch->length)
        TN_FAIL(TARN_E_INVALID, "a batch of rows holds rows that are null as a whole");
    keys = batch->children[in->options.key_column];
    if (keys->null_count != 0 && keys->buffers[0] != NULL &&
        tn_bits_count(keys->buffers[0], keys->offset + batch->offset, batch->length) !=
            batch->length)
        TN_FAIL(TARN_E_INVALID, "a record key is null");
    if (batch->length > UINT32_MAX / 2)
        TN_FAIL(TARN_E_LIMIT, "a batch of %lld rows is too large; give smaller ones",
                (long long)batch->length);
done:
    return rc;
}

static void note_facts(tn_incoming *in, int64_t rows, const uint32_t *partitions,
                       const uint8_t *deletes)
{
    uint8_t *flags = in->facts.flags + in->facts.count;

    memcpy(in->facts.partitions + in->facts.count, partitions, (size_t)rows * sizeof *partitions);
    memset(flags, 0, (size_t)rows);
    for (int64_t i = 0; deletes != NULL && i < rows; i++)
        flags[i] = deletes[i] != 0 ? TN_ROW_DELETE : 0;
}

/* Reserves memory for a batch, putting aside what is held when it must. */
static int charge_batch(tarn_cx *cx, tn_incoming *in, uint64_t bytes, int64_t rows)
{
    int rc = TARN_OK;

    if (in->charged + bytes > in->memory_max || in->facts.count + rows >= UINT32_MAX ||
        !tn_budget_try(cx, bytes)) {
        TN_TRY(tn_incoming_spill(cx, in));
        TN_TRY(tn_budget_take(cx, bytes, "rows on their way to their files"));
    }
    in->charged += bytes;
done:
    return rc;
}

int tn_incoming_add(tarn_cx *cx, tn_incoming *in, struct ArrowArray *batch,
                    const uint32_t *partitions, const uint8_t *deletes)
{
    uint64_t bytes;
    int rc = TARN_OK;

    assert(!in->keyed && in->files == NULL && in->plan == NULL);
    TN_TRY(tn_cx_check(cx));
    TN_TRY(admit(cx, in, batch));
    if (batch->length == 0)
        goto done;
    bytes = tn_gather_bytes(&in->schema, batch);
    TN_TRY(charge_batch(cx, in, bytes + ROW_BYTES * (uint64_t)batch->length, batch->length));
    in->row_bytes += bytes;
    TN_TRY(grow_facts(cx, in, (size_t)batch->length));
    note_facts(in, batch->length, partitions, deletes);
    TN_TRY(hold(cx, in, batch));
done:
    tn_array_release(batch);
    return rc;
}

/* --- what was found --- */

typedef struct counting {
    tn_arena *arena;
    tn_incoming_summary sum;
    size_t cap; /* partitions that there is room for */
} counting;

static int make_room(tarn_cx *cx, counting *c, uint32_t partition)
{
    size_t cap = c->cap;
    int rc = TARN_OK;

    while (partition >= c->cap) {
        size_t more = cap;

        TN_TRY(tn_arena_grow(cx, c->arena, &c->sum.inserts, cap, &more, sizeof *c->sum.inserts));
        TN_TRY(tn_arena_grow(cx, c->arena, &c->sum.lost_deletes, cap, &cap,
                             sizeof *c->sum.lost_deletes));
        c->cap = cap;
    }
done:
    return rc;
}

static void count_row(counting *c, uint32_t partition, uint8_t flags, uint64_t place)
{
    if (flags & TN_ROW_DROPPED)
        return;
    if (place != TN_NO_PLACE)
        c->sum.updates[TN_PLACE_FILE(place)]++;
    if (place != TN_NO_PLACE && !(flags & TN_ROW_MOVED))
        return;
    if (flags & TN_ROW_DELETE)
        c->sum.lost_deletes[partition]++;
    else
        c->sum.inserts[partition]++;
}

static int count_rows(tarn_cx *cx, tn_row_facts *facts, void *arg)
{
    counting *c = arg;
    int rc = TARN_OK;

    for (size_t i = 0; i < (size_t)facts->count; i++) {
        uint32_t partition = facts->partitions[i];

        if (partition >= c->cap)
            TN_TRY(make_room(cx, c, partition));
        if (partition >= c->sum.partition_count)
            c->sum.partition_count = (size_t)partition + 1;
        count_row(c, partition, facts->flags[i],
                  facts->places != NULL ? facts->places[i] : TN_NO_PLACE);
    }
done:
    return rc;
}

int tn_incoming_summarise(tarn_cx *cx, tn_incoming *in, tn_arena *arena, tn_incoming_summary *out)
{
    const tn_extra *extras = (const tn_extra *)(const void *)in->extras.data;
    counting c = {.arena = arena, .sum = {.file_count = in->file_count}};
    int rc = TARN_OK;

    TN_TRY(tn_incoming_seal(cx, in));
    c.sum.updates = tn_arena_array(cx, arena, c.sum.file_count, sizeof *c.sum.updates);
    if (c.sum.updates == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_incoming_each(cx, in, 0, count_rows, &c));
    for (size_t i = 0; i < in->extras.len / sizeof *extras; i++)
        c.sum.updates[TN_PLACE_FILE(extras[i].place)]++;
    *out = c.sum;
done:
    return rc;
}
