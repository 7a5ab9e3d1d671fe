/* Finding rows in the table.
 *
 *   a wave of files ── footers are read in parallel; files and row groups are ruled out
 *                   ── the key column of what is left is read in parallel, by row group
 *                      (incoming_look.c)
 *
 * I1: what a row is given does not depend on which thread was faster.
 *
 * I2: footers held at a time do not follow the number of files. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "exec/incoming_tag.h"

#define WAVE_FILES 8 /* per thread */

/* --- a wave of files --- */

static int find_column(tarn_cx *cx, tn_candidate *c)
{
    const tn_node *node = tn_schema_column(&c->file.schema, TN_STR(TN_RECORD_KEY_COLUMN));
    const tn_leaf *leaf;

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
    const tn_tag *t = arg;
    tn_candidate *c = &t->wave[i];
    uint32_t partition = tn_look_partition(t, c);
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
    TN_TRY(find_column(cx, c));
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

static void close_wave(tn_tag *t)
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

static int deal_jobs(tarn_cx *cx, tn_tag *t)
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
                t->jobs[t->job_count++] =
                    (tn_tag_job){.candidate = (uint32_t)i, .group = (uint32_t)g};
    return TARN_OK;
}

static int collect(tarn_cx *cx, tn_tag *t)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < t->wave_count; i++) {
        t->counts.files++;
        t->counts.files_ruled_out += t->wave[i].ruled_out;
        t->counts.bytes_read += t->wave[i].bytes;
    }
    for (size_t i = 0; i < t->job_count; i++) {
        const tn_tag_job *j = &t->jobs[i];

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

static int scan_wave(tarn_cx *cx, tn_tag *t)
{
    int rc = TARN_OK;

    t->jobs = tn_calloc(cx, t->wave_count, sizeof *t->jobs);
    if (t->jobs == NULL)
        return TARN_E_NOMEM;
    t->job_count = t->wave_count;
    for (size_t i = 0; i < t->wave_count; i++) {
        t->jobs[i].bytes = t->wave[i].base->size_bytes;
        TN_TRY(tn_look_file(cx, t, &t->wave[i], &t->jobs[i]));
    }
done:
    return rc;
}

/* --- all files --- */

static int look_wave(tarn_cx *cx, tn_tag *t)
{
    int rc = TARN_OK;

    TN_TRY(tn_parallel(cx, t->wave_count, open_candidate, t));
    if (t->options->keys_of != NULL) {
        TN_TRY(scan_wave(cx, t));
    } else {
        TN_TRY(deal_jobs(cx, t));
        TN_TRY(tn_parallel(cx, t->job_count, tn_look_group, t));
    }
    TN_TRY(collect(cx, t));
done:
    close_wave(t);
    return rc;
}

static int look_files(tarn_cx *cx, tn_tag *t)
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
    tn_tag *t = arg;
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
static int look(tarn_cx *cx, tn_tag *t)
{
    tn_buf *extras = &t->keys->extras;
    int rc = look_files(cx, t);

    if (rc == TARN_OK && extras->len != 0)
        qsort(extras->data, extras->len / sizeof(tn_extra), sizeof(tn_extra), compare_extras);
    return rc;
}

static int tag_held(tarn_cx *cx, tn_tag *t)
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
    tn_tag *t = arg;

    t->counts = (tn_tag_counts){0};
    tn_buf_reset(&t->in->extras);
    tn_budget_give(cx, t->in->kept);
    t->in->kept = 0;
    return TARN_OK;
}

static int look_round(tarn_cx *cx, tn_keys *keys, void *arg)
{
    tn_tag *t = arg;

    t->keys = keys;
    return look(cx, t);
}

static int tag_spilled(tarn_cx *cx, tn_tag *t)
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
    tn_tag t = {.in = in, .options = options};
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
