/* Keys of one file or row group are looked for among those of the round.
 *
 * I1: of several places of one key the least is taken: the first file in the order given, the first
 *     row of it. Threads put a place into its entry by an atomic minimum, so their order does not
 *     matter.
 *
 * I2: memory does not follow the length of a group: windows, pages and batches are bounded. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/budget.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/leaf_read.h"
#include "exec/incoming_tag.h"

#define BLOCK      256
#define BATCH_ROWS 8192
#define LOOK_BYTES (2ull << 20) /* of one thread: window, page, values; less in a small memory */
#define SPARSE     16           /* the window is so much smaller where pages are passed over */

/* --- hits --- */

/* What one thread needs for a run of keys. */
typedef struct sight {
    const tn_tag *t;
    const tn_candidate *candidate;
    tn_tag_job *job;
} sight;

/* I1. */
static void hit(const sight *l, uint32_t entry, int64_t row)
{
    _Atomic uint64_t *at = &l->t->keys->places[entry];
    uint64_t place = TN_PLACE_OF(l->candidate->number, row);
    uint64_t there = atomic_load_explicit(at, memory_order_relaxed);

    while (place < there)
        if (atomic_compare_exchange_weak_explicit(at, &there, place, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            place = there; /* the greater one is left over */
            break;
        }
    if (place != TN_NO_PLACE && l->t->options->duplicates_all) {
        tn_extra extra = {.row = entry, .place = place};

        tn_buf_add(&l->job->extras, &extra, sizeof extra);
    }
}

static void find_hashes(const sight *l, const tn_key_hash *hashes, const int64_t *rows,
                        size_t count)
{
    uint32_t entries[BLOCK];

    tn_keys_find(l->t->keys, hashes, count, entries);
    for (size_t i = 0; i < count; i++)
        if (entries[i] != UINT32_MAX)
            hit(l, entries[i], rows[i]);
}

/* --- the key column --- */

static void find_views(const sight *l, const tn_leaf *leaf, const tn_leaf_batch *batch,
                       int64_t first)
{
    const tn_view *values = batch->values.data;
    tn_key_hash hashes[BLOCK];
    int64_t rows[BLOCK];
    size_t n = 0;
    int64_t v = 0;

    for (int64_t i = 0; i < batch->entries; i++) {
        if (!batch->all_present && batch->def[i] != leaf->max_def)
            continue;
        hashes[n] =
            tn_keys_hash(l->t->in, values[v].ptr, values[v].len, l->candidate->base->partition);
        rows[n++] = first + i;
        v++;
        if (n == BLOCK) {
            find_hashes(l, hashes, rows, n);
            n = 0;
        }
    }
    find_hashes(l, hashes, rows, n);
    l->job->keys += v;
}

/* Entries of a dictionary's values; kept while batches have the same one. */
typedef struct dictionary {
    uint64_t id;
    uint32_t *entries;
    int64_t count;
} dictionary;

static int know_dictionary(tarn_cx *cx, const sight *l, const tn_leaf_batch *batch, dictionary *d)
{
    const tn_view *values = batch->dictionary.data;
    int64_t count = batch->dictionary.count;
    tn_key_hash hashes[BLOCK];

    if (d->entries != NULL && d->id == batch->dictionary_id)
        return TARN_OK;
    free(d->entries);
    d->entries = tn_alloc(cx, (size_t)count * sizeof *d->entries);
    if (d->entries == NULL)
        return TARN_E_NOMEM;
    for (int64_t from = 0; from < count; from += BLOCK) {
        size_t n = (size_t)(count - from < BLOCK ? count - from : BLOCK);

        for (size_t i = 0; i < n; i++)
            hashes[i] = tn_keys_hash(l->t->in, values[from + (int64_t)i].ptr,
                                     values[from + (int64_t)i].len, l->candidate->base->partition);
        tn_keys_find(l->t->keys, hashes, n, d->entries + from);
    }
    d->id = batch->dictionary_id;
    d->count = count;
    return TARN_OK;
}

static void find_indices(const sight *l, const tn_leaf *leaf, const tn_leaf_batch *batch,
                         int64_t first, const dictionary *d)
{
    int64_t v = 0;

    for (int64_t i = 0; i < batch->entries; i++) {
        if (!batch->all_present && batch->def[i] != leaf->max_def)
            continue;
        if (d->entries[batch->indices[v]] != UINT32_MAX)
            hit(l, d->entries[batch->indices[v]], first + i);
        v++;
    }
    l->job->keys += v;
}

/* Rows [first, first + rows) of the group; the reader stands at the first. */
static int look_rows(tarn_cx *cx, const sight *l, tn_leaf_reader *reader, int64_t group_first,
                     int64_t first, int64_t rows, dictionary *d)
{
    const tn_leaf *leaf = &l->candidate->file.schema.leaves[l->candidate->leaf];
    tn_leaf_batch batch;
    int rc = TARN_OK;

    while (rows > 0) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_leaf_reader_next(cx, reader, rows < BATCH_ROWS ? rows : BATCH_ROWS, &batch));
        if (batch.rows == 0)
            break;
        if (batch.indices != NULL) {
            TN_TRY(know_dictionary(cx, l, &batch, d));
            find_indices(l, leaf, &batch, group_first + first, d);
        } else {
            find_views(l, leaf, &batch, group_first + first);
        }
        first += batch.rows;
        rows -= batch.rows;
    }
done:
    return rc;
}

static int64_t group_first(const tn_parquet *file, size_t group)
{
    int64_t first = 0;

    for (size_t g = 0; g < group; g++)
        first += file->footer.groups[g].rows;
    return first;
}

static uint64_t pages_bytes(const tn_offset_index *index, const tn_few_rows *ranges, size_t count)
{
    uint64_t bytes = 0;

    for (size_t p = 0, r = 0; p < index->pages && r < count; p++) {
        while (r < count && ranges[r].first + ranges[r].rows <= index->locations[p].first_row)
            r++;
        if (r < count && ranges[r].first <= index->locations[p].first_row)
            bytes += (uint64_t)index->locations[p].bytes;
    }
    return bytes;
}

uint32_t tn_look_partition(const tn_tag *t, const tn_candidate *candidate)
{
    return t->in->options.global ? 0 : candidate->base->partition;
}

int tn_look_group(tarn_cx *cx, size_t i, void *arg)
{
    const tn_tag *t = arg;
    tn_tag_job *j = &t->jobs[i];
    const tn_candidate *candidate = &t->wave[j->candidate];
    const tn_parquet *file = &candidate->file;
    sight l = {t, candidate, j};
    tn_leaf_read_options options = {.keep_dictionary = true};
    tn_few_rows whole = {0, file->footer.groups[j->group].rows}, *ranges = &whole;
    size_t range_count = 0;
    tn_offset_index index = {0};
    tn_arena arena = {0};
    tn_file *bytes = NULL;
    tn_source source = {0};
    tn_leaf_reader *reader = NULL;
    dictionary d = {0};
    uint64_t charged = 0, offset, memory = t->in->memory_max / 4;
    int64_t at = 0, first = group_first(file, j->group);
    int rc = TARN_OK;

    memory = memory < LOOK_BYTES ? memory : LOOK_BYTES;
    TN_TRY(tn_incoming_charge(cx, memory, "reading keys of the table", &charged));
    if (t->few.keys != NULL)
        TN_TRY(tn_few_pages(cx, &t->few, tn_look_partition(t, candidate), candidate, j->group,
                            &arena, &index, &ranges, &range_count));
    if (index.pages != 0) {
        options.pages = &index;
        j->bytes = pages_bytes(&index, ranges, range_count);
    } else {
        range_count = 1;
        TN_TRY(tn_parquet_chunk_span(cx, file, j->group, candidate->leaf, &offset, &j->bytes));
    }
    if (range_count == 0)
        goto done;
    TN_TRY(tn_store_open_file(cx, t->in->store, candidate->base->path, &bytes));
    source = tn_source_file(bytes, (size_t)(memory / 2 / (index.pages != 0 ? SPARSE : 1)));
    TN_TRY(tn_leaf_reader_open(cx, file, j->group, candidate->leaf, &source, &options, &reader));
    for (size_t r = 0; r < range_count; r++) {
        if (ranges[r].first > at)
            TN_TRY(tn_leaf_reader_skip(cx, reader, ranges[r].first - at));
        TN_TRY(look_rows(cx, &l, reader, first, ranges[r].first, ranges[r].rows, &d));
        at = ranges[r].first + ranges[r].rows;
    }
    TN_TRY(tn_buf_check(cx, &j->extras));
done:
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    if (bytes != NULL)
        tn_store_close_file(bytes);
    free(d.entries);
    tn_arena_clear(&arena);
    tn_budget_give(cx, charged);
    return rc;
}

/* --- keys made of other columns --- */

static int scan_columns(tarn_cx *cx, const tn_tag *t, const tn_candidate *c, uint32_t *columns)
{
    for (size_t i = 0; i < t->options->key_column_count; i++) {
        const tn_node *root = c->file.schema.nodes, *node;
        tn_str name = tn_str_of(t->options->key_columns[i]);
        uint32_t n = 0;

        node = tn_schema_column(&c->file.schema, name);
        if (node == NULL)
            return tn_fail(cx, TARN_E_CORRUPT,
                           "%.*s: there is no column \"%.*s\", which record keys are made of",
                           TN_STR_ARG(c->file.path), TN_STR_ARG(name));
        for (uint32_t child = root->first_child; child != node->index;
             child = c->file.schema.nodes[child].next_sibling)
            n++;
        columns[i] = n;
    }
    return TARN_OK;
}

static int look_batch(tarn_cx *cx, const sight *l, const struct ArrowSchema *schema,
                      struct ArrowArray *batch, int64_t first)
{
    const tn_tag_options *options = l->t->options;
    const int32_t *offsets;
    const char *data;
    tn_key_hash hashes[BLOCK];
    int64_t rows[BLOCK];
    int rc = TARN_OK;

    TN_TRY(options->keys_of(cx, options->keys_arg, l->candidate->base, schema, batch, first, &data,
                            &offsets));
    for (int64_t from = 0; from < batch->length; from += BLOCK) {
        size_t n = (size_t)(batch->length - from < BLOCK ? batch->length - from : BLOCK);

        for (size_t i = 0; i < n; i++) {
            int64_t at = from + (int64_t)i;

            hashes[i] =
                tn_keys_hash(l->t->in, data + offsets[at], (size_t)(offsets[at + 1] - offsets[at]),
                             l->candidate->base->partition);
            rows[i] = first + at;
        }
        find_hashes(l, hashes, rows, n);
    }
    l->job->keys += batch->length;
done:
    return rc;
}

int tn_look_file(tarn_cx *cx, const tn_tag *t, const tn_candidate *c, tn_tag_job *j)
{
    uint32_t *columns = tn_alloc(cx, t->options->key_column_count * sizeof *columns);
    tn_parquet_scan_options options = {.column_count = t->options->key_column_count};
    tn_parquet_scan *scan = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    sight l = {t, c, j};
    int64_t first, rows = 1;
    int rc = TARN_OK;

    if (columns == NULL)
        return TARN_E_NOMEM;
    TN_TRY(scan_columns(cx, t, c, columns));
    options.columns = columns;
    TN_TRY(tn_parquet_scan_open(cx, &c->file, &options, &scan));
    TN_TRY(tn_parquet_scan_schema(cx, scan, &schema));
    while (rows > 0) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        rows = batch.length;
        if (rows > 0)
            TN_TRY(look_batch(cx, &l, &schema, &batch, first));
        tn_array_release(&batch);
    }
    TN_TRY(tn_buf_check(cx, &j->extras));
done:
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_parquet_scan_close(scan);
    free(columns);
    return rc;
}
