/* Finding rows in the table.
 *
 *   a wave of files ── footers are read in parallel; files and row groups are ruled out
 *                   ── the key column of what is left is read in parallel, by row group
 *
 * I1: of several places of one key the least is taken: the first file in the order given, the first
 *     row of it. Threads put a place into its entry by an atomic minimum, so their order does not
 *     matter. I2: footers held at a time do not follow the number of files. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/leaf_read.h"
#include "exec/incoming_tag.h"

#define WAVE_FILES 8 /* per thread */
#define BLOCK      256
#define BATCH_ROWS 8192
#define LOOK_BYTES (2ull << 20) /* of one thread: window, page, values; less in a small memory */
#define SPARSE     16           /* the window is so much smaller where pages are passed over */

typedef struct job {
    uint32_t candidate, group;
    tn_buf extras; /* tn_extra: places that were not the least */
    int64_t keys;
    uint64_t bytes;
} job;

typedef struct tag {
    tn_incoming *in;
    const tn_tag_options *options;
    tn_keys *keys; /* those of the round */
    tn_few few;
    tn_candidate *wave;
    size_t wave_count, wave_cap;
    job *jobs;
    size_t job_count;
    tn_tag_counts counts;
} tag;

/* --- hits --- */

/* What one thread needs for a run of keys. */
typedef struct sight {
    const tag *t;
    const tn_candidate *candidate;
    job *job;
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

/* Of the file, as the few keys are sorted. */
static uint32_t few_partition(const tag *t, const tn_candidate *candidate)
{
    return t->in->options.global ? 0 : candidate->base->partition;
}

static int look_group(tarn_cx *cx, size_t i, void *arg)
{
    const tag *t = arg;
    job *j = &t->jobs[i];
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
        TN_TRY(tn_few_pages(cx, &t->few, few_partition(t, candidate), candidate, j->group, &arena,
                            &index, &ranges, &range_count));
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

/* --- a wave of files --- */

static int find_column(tarn_cx *cx, const tn_incoming *in, tn_candidate *c)
{
    const tn_node *node = tn_schema_column(&c->file.schema, TN_STR(TN_RECORD_KEY_COLUMN));
    const tn_leaf *leaf;

    (void)in;
    if (node == NULL)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "%.*s: there is no column " TN_RECORD_KEY_COLUMN
                       ", although the table's files have their meta columns; rebuild the file or "
                       "roll back the commit that wrote it",
                       TN_STR_ARG(c->file.path));
    leaf = &c->file.schema.leaves[node->first_leaf];
    if (node->child_count != 0 || leaf->physical != TN_BYTE_ARRAY || leaf->max_rep != 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "%.*s: column " TN_RECORD_KEY_COLUMN " is no text; rebuild the file or "
                       "roll back the commit that wrote it",
                       TN_STR_ARG(c->file.path));
    c->leaf = leaf->index;
    return TARN_OK;
}

/* Reads a footer, and rules the file or groups of it out. */
static int open_candidate(tarn_cx *cx, size_t i, void *arg)
{
    const tag *t = arg;
    tn_candidate *c = &t->wave[i];
    uint32_t partition = few_partition(t, c);
    bool may = true;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, t->in->store, c->base->path, &c->file));
    c->open = true;
    c->bytes = c->file.footer_bytes;
    if (c->file.footer.rows >= TN_PLACE_ROWS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: %lld rows are too many for one file", TN_STR_ARG(c->file.path),
                (long long)c->file.footer.rows);
    if (t->options->keys_of != NULL)
        goto done;
    TN_TRY(find_column(cx, t->in, c));
    if (t->few.keys != NULL && t->options->use_filters)
        TN_TRY(tn_few_file(cx, &t->few, partition, c, t->options->ranges, &may));
    c->ruled_out = !may;
    c->groups = tn_calloc(cx, c->file.footer.group_count, sizeof *c->groups);
    if (c->groups == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t g = 0; may && g < c->file.footer.group_count; g++)
        c->groups[g] = c->file.footer.groups[g].rows != 0 &&
                       (t->few.keys == NULL || tn_few_group(&t->few, partition, c, g));
done:
    return rc;
}

static void close_wave(tag *t)
{
    for (size_t i = 0; i < t->wave_count; i++) {
        if (t->wave[i].open)
            tn_parquet_close(&t->wave[i].file);
        free(t->wave[i].groups);
    }
    for (size_t i = 0; i < t->job_count; i++)
        tn_buf_clear(&t->jobs[i].extras);
    free(t->jobs);
    t->jobs = NULL;
    t->job_count = t->wave_count = 0;
}

static int deal_jobs(tarn_cx *cx, tag *t)
{
    size_t count = 0;

    for (size_t i = 0; i < t->wave_count; i++)
        for (size_t g = 0; g < t->wave[i].file.footer.group_count; g++)
            count += t->wave[i].groups[g];
    t->jobs = tn_calloc(cx, count, sizeof *t->jobs);
    if (t->jobs == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < t->wave_count; i++)
        for (size_t g = 0; g < t->wave[i].file.footer.group_count; g++)
            if (t->wave[i].groups[g])
                t->jobs[t->job_count++] = (job){.candidate = (uint32_t)i, .group = (uint32_t)g};
    return TARN_OK;
}

static int collect(tarn_cx *cx, tag *t)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < t->wave_count; i++) {
        t->counts.files++;
        t->counts.files_ruled_out += t->wave[i].ruled_out;
        t->counts.bytes_read += t->wave[i].bytes;
    }
    for (size_t i = 0; i < t->job_count; i++) {
        const job *j = &t->jobs[i];

        t->counts.keys_read += j->keys;
        t->counts.bytes_read += j->bytes;
        TN_TRY(tn_incoming_charge(cx, j->extras.len, "rows that the table has several times",
                                  &t->keys->charged));
        tn_buf_add(&t->keys->extras, j->extras.data, j->extras.len);
    }
    TN_TRY(tn_buf_check(cx, &t->keys->extras));
done:
    return rc;
}

/* --- keys made of other columns --- */

static int scan_columns(tarn_cx *cx, const tag *t, const tn_candidate *c, uint32_t *columns)
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

/* One file on the calling thread: `keys_of` is called by one thread, decoding is parallel. */
static int scan_candidate(tarn_cx *cx, tag *t, tn_candidate *c, job *j)
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

static int scan_wave(tarn_cx *cx, tag *t)
{
    int rc = TARN_OK;

    t->jobs = tn_calloc(cx, t->wave_count, sizeof *t->jobs);
    if (t->jobs == NULL)
        return TARN_E_NOMEM;
    t->job_count = t->wave_count;
    for (size_t i = 0; i < t->wave_count; i++) {
        t->jobs[i].bytes = t->wave[i].base->size_bytes;
        TN_TRY(scan_candidate(cx, t, &t->wave[i], &t->jobs[i]));
    }
done:
    return rc;
}

/* --- all files --- */

static int look_wave(tarn_cx *cx, tag *t)
{
    int rc = TARN_OK;

    TN_TRY(tn_parallel(cx, t->wave_count, open_candidate, t));
    if (t->options->keys_of != NULL) {
        TN_TRY(scan_wave(cx, t));
    } else {
        TN_TRY(deal_jobs(cx, t));
        TN_TRY(tn_parallel(cx, t->job_count, look_group, t));
    }
    TN_TRY(collect(cx, t));
done:
    close_wave(t);
    return rc;
}

static int look_files(tarn_cx *cx, tag *t)
{
    int rc = TARN_OK;

    t->wave_cap = (size_t)tn_cx_jobs(cx) * WAVE_FILES;
    t->wave = tn_calloc(cx, t->wave_cap, sizeof *t->wave);
    if (t->wave == NULL)
        return TARN_E_NOMEM;
    for (size_t at = 0; at < t->in->file_count;) {
        memset(t->wave, 0, t->wave_cap * sizeof *t->wave);
        while (at < t->in->file_count && t->wave_count < t->wave_cap) {
            t->wave[t->wave_count++] = (tn_candidate){.base = t->in->files[at], .number = at};
            at++;
        }
        TN_TRY(look_wave(cx, t));
    }
done:
    free(t->wave);
    t->wave = NULL;
    return rc;
}

static int keep_files(tarn_cx *cx, tn_incoming *in, const tn_tag_options *options)
{
    if (options->file_count >= TN_PLACE_FILES_MAX)
        return tn_fail(cx, TARN_E_LIMIT,
                       "%zu files are too many for one write; write fewer "
                       "partitions at a time",
                       options->file_count);
    in->files = tn_alloc(cx, options->file_count * sizeof *in->files);
    if (in->files == NULL)
        return TARN_E_NOMEM;
    if (options->file_count != 0)
        memcpy(in->files, options->files, options->file_count * sizeof *in->files);
    in->file_count = options->file_count;
    return TARN_OK;
}

/* --- places of rows --- */

static int compare_extras(const void *a, const void *b)
{
    const tn_extra *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The first extra of an entry. */
static const tn_extra *extras_of(const tn_keys *keys, uint32_t entry, const tn_extra **end)
{
    const tn_extra *all = (const tn_extra *)(const void *)keys->extras.data;
    size_t low = 0, high = keys->extras.len / sizeof *all;

    *end = all + high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (all[middle].row < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return all + low;
}

static int take_extras(tarn_cx *cx, const tn_keys *keys, uint32_t entry, tn_row_facts *facts,
                       size_t i, tn_incoming *in)
{
    const tn_extra *end, *at = extras_of(keys, entry, &end);
    int rc = TARN_OK;

    for (; at < end && at->row == entry; at++) {
        tn_extra extra = {.row = (uint64_t)facts->first + i, .place = at->place};

        TN_TRY(tn_incoming_charge(cx, sizeof extra, "rows that the table has several times",
                                  &in->kept));
        tn_buf_add(&in->extras, &extra, sizeof extra);
        facts->flags[i] |= TN_ROW_SEVERAL;
    }
    TN_TRY(tn_buf_check(cx, &in->extras));
done:
    return rc;
}

/* Gives a row the place of its key. */
static int take_place(tarn_cx *cx, const tn_keys *keys, uint32_t entry, tn_row_facts *facts,
                      size_t i, void *arg)
{
    tag *t = arg;
    uint64_t place = atomic_load_explicit(&keys->places[entry], memory_order_relaxed);

    facts->places[i] = place;
    if (place == TN_NO_PLACE)
        return TARN_OK;
    t->counts.found++;
    return keys->extras.len != 0 ? take_extras(cx, keys, entry, facts, i, t->in) : TARN_OK;
}

/* --- rows held --- */

static int make_places(tarn_cx *cx, tn_incoming *in)
{
    size_t rows = (size_t)in->rows;
    int rc = TARN_OK;

    TN_TRY(tn_incoming_charge(cx, rows * sizeof *in->facts.places, "places of rows", &in->charged));
    in->facts.places = tn_alloc(cx, rows * sizeof *in->facts.places);
    TN_TRY(tn_incoming_charge(cx, rows * sizeof *in->keys.places, "places of keys",
                              &in->keys.charged));
    in->keys.places = tn_alloc(cx, rows * sizeof *in->keys.places);
    if (in->facts.places == NULL || in->keys.places == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < rows; i++) {
        in->facts.places[i] = TN_NO_PLACE;
        atomic_init(&in->keys.places[i], TN_NO_PLACE);
    }
done:
    return rc;
}

/* Looks for the keys of t->keys; their places and extras are then there. */
static int look(tarn_cx *cx, tag *t)
{
    tn_buf *extras = &t->keys->extras;
    int rc = look_files(cx, t);

    if (rc == TARN_OK && extras->len != 0)
        qsort(extras->data, extras->len / sizeof(tn_extra), sizeof(tn_extra), compare_extras);
    return rc;
}

static int tag_held(tarn_cx *cx, tag *t)
{
    tn_incoming *in = t->in;
    int rc = TARN_OK;

    t->keys = &in->keys;
    TN_TRY(make_places(cx, in));
    if (t->options->keys_of == NULL)
        TN_TRY(tn_few_init(cx, in, &t->few));
    TN_TRY(look(cx, t));
    for (size_t i = 0; i < (size_t)in->rows; i++)
        if (!(in->facts.flags[i] & TN_ROW_DROPPED))
            TN_TRY(take_place(cx, t->keys, in->same != NULL ? in->same[i] : (uint32_t)i, &in->facts,
                              i, t));
done:
    return rc;
}

/* --- rows put aside --- */

static int begin_round(tarn_cx *cx, void *arg)
{
    tag *t = arg;

    t->counts = (tn_tag_counts){0};
    tn_buf_reset(&t->in->extras);
    tn_budget_give(cx, t->in->kept);
    t->in->kept = 0;
    return TARN_OK;
}

static int look_round(tarn_cx *cx, tn_keys *keys, void *arg)
{
    tag *t = arg;

    t->keys = keys;
    return look(cx, t);
}

static int tag_spilled(tarn_cx *cx, tag *t)
{
    tn_round round = {.begin = begin_round, .work = look_round, .apply = take_place, .arg = t};
    tn_buf *extras = &t->in->extras;
    int rc = tn_incoming_rounds(cx, t->in, &round);

    /* Rows of one slice came before those of the next. */
    if (rc == TARN_OK && extras->len != 0)
        qsort(extras->data, extras->len / sizeof(tn_extra), sizeof(tn_extra), compare_extras);
    return rc;
}

/* As if none was looked for. */
static void forget_places(tn_incoming *in)
{
    free(in->facts.places);
    in->facts.places = NULL;
    for (int64_t i = 0; i < in->facts.count; i++)
        in->facts.flags[i] &= (uint8_t)~TN_ROW_SEVERAL;
}

int tn_incoming_tag(tarn_cx *cx, tn_incoming *in, const tn_tag_options *options,
                    tn_tag_counts *counts)
{
    tag t = {.in = in, .options = options};
    int rc = TARN_OK;

    assert(in->files == NULL && in->plan == NULL);
    TN_TRY(tn_incoming_seal(cx, in));
    TN_TRY(keep_files(cx, in, options));
    if (in->rows == 0 || in->file_count == 0) {
        *counts = (tn_tag_counts){.files = in->file_count};
        goto done;
    }
    TN_TRY(tn_incoming_make_keys(cx, in));
    rc = in->spilled ? TARN_OK : tag_held(cx, &t);
    if (rc == TARN_E_LIMIT) {
        tn_few_clear(cx, &t.few); /* it points to keys of rows held */
        forget_places(in);
        rc = tn_incoming_yield(cx, in);
    }
    TN_TRY(rc);
    if (in->spilled)
        TN_TRY(tag_spilled(cx, &t));
    *counts = t.counts;
done:
    tn_incoming_drop_keys(in);
    tn_few_clear(cx, &t.few);
    return rc;
}
