/* Slices that a read need not open, by what the metadata table knows.
 *
 * I1: nothing is ruled out unless the metadata table listed the files, so that it is known to fit
 *     the snapshot; what cannot be read of it rules nothing out.
 * I2: the record index tells of the latest snapshot alone, and of that only when no commit came
 *     after the timeline was looked at. It has one place for a key of the whole table, as Hudi has.
 * I3: statistics are asked for columns that have had one name, and where enough slices are left to
 *     be worth it. */
#include "op/read_hudi.h"

#include <stdlib.h>

#include "plan/plan_skip.h"
#include "table/metadata.h"

#define SLICES_MIN 4 /* fewer are opened sooner than statistics are */

typedef struct skipping {
    tn_reading *r;
    tn_metadata *metadata;
    const tn_filter *filter;
    uint8_t *keep; /* of slices */
    tn_arena arena;
} skipping;

static size_t kept(const skipping *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->r->slices.slice_count; i++)
        n += s->keep[i];
    return n;
}

/* ---- the record index (I2) ---- */

static bool is_at(const tn_slice *slice, const tn_metadata_place *place)
{
    for (; place != NULL; place = place->next)
        if (tn_str_equal(slice->base.file_id, place->file_id) &&
            tn_str_equal(slice->base.partition_path, place->partition))
            return true;
    return false;
}

static int by_key(tarn_cx *cx, skipping *s)
{
    const tn_slices *slices = &s->r->slices;
    tn_metadata_place found[2];
    size_t hits = 0, places = 0, count;
    tn_str keys[2];
    int rc = TARN_OK;

    if (s->r->options->key == NULL || s->r->kind != TN_QUERY_SNAPSHOT || s->r->as_of.len != 0 ||
        !tn_metadata_has(s->metadata, "record_index") || tn_metadata_ahead(s->metadata))
        return TARN_OK;
    TN_TRY(tn_reading_spellings(cx, s->r, &s->arena, keys, &count));
    TN_TRY(tn_metadata_locate(cx, s->metadata, keys, count, &s->arena, found));
    for (size_t k = 0; k < count; k++) {
        for (const tn_metadata_place *at = &found[k]; found[k].found && at != NULL; at = at->next)
            places++;
        for (size_t i = 0; found[k].found && i < slices->slice_count; i++)
            hits += is_at(&slices->slices[i], &found[k]);
    }
    /* A place that is none of the snapshot's: the index does not fit. */
    if (hits != places)
        goto done;
    for (size_t i = 0; i < slices->slice_count; i++) {
        bool here = false;

        for (size_t k = 0; k < count; k++)
            here |= found[k].found && is_at(&slices->slices[i], &found[k]);
        if (!here)
            s->keep[i] = 0;
    }
done:
    return rc;
}

/* ---- statistics (I3) ---- */

static int hash_partitions(tarn_cx *cx, skipping *s, tn_str **out)
{
    const tn_slices *slices = &s->r->slices;
    tn_str *made = tn_arena_array(cx, &s->arena, slices->partition_count + 1, sizeof *made);
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < slices->partition_count; i++)
        TN_TRY(tn_metadata_partition_hash(cx, slices->partitions[i], &s->arena, &made[i]));
    *out = made;
done:
    return rc;
}

static int by_statistics(tarn_cx *cx, skipping *s)
{
    const tn_filter *filter = s->filter;
    tn_skip_column *columns;
    tn_str *hashes;
    size_t usable = 0, dropped;
    int rc = TARN_OK;

    if (kept(s) < SLICES_MIN || s->r->names.count != 0 ||
        !tn_metadata_has(s->metadata, "column_stats"))
        return TARN_OK;
    columns = tn_arena_array(cx, &s->arena, filter->column_count + 1, sizeof *columns);
    if (columns == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < filter->column_count; i++) {
        tn_metadata_stats *stats = NULL;

        if (!tn_plan_skip_column(&filter->columns[i]))
            continue;
        TN_TRY(tn_metadata_column(cx, s->metadata, false, filter->columns[i].dotted, &s->arena,
                                  &columns[i].usable, &stats, &columns[i].count));
        columns[i].stats = stats;
        usable += columns[i].usable;
    }
    if (usable == 0)
        goto done;
    TN_TRY(hash_partitions(cx, s, &hashes));
    TN_TRY(tn_plan_skip_slices(cx, filter, columns, &s->r->slices, hashes,
                               s->r->timeline.layout == 2, s->keep, &dropped));
done:
    return rc;
}

/* ---- */

/* A failure that leaves the read as it was. */
static bool may_pass(int rc)
{
    return rc != TARN_OK && rc != TARN_E_NOMEM && rc != TARN_E_CANCELLED;
}

int tn_reading_skip(tarn_cx *cx, tn_reading *r, const tn_predicate *where,
                    const struct ArrowSchema *all, uint8_t *keep)
{
    skipping s = {.r = r, .keep = keep};
    tn_filter filter;
    int rc = TARN_OK;

    if (where == NULL || !r->slices.listed ||
        (r->kind != TN_QUERY_SNAPSHOT && r->kind != TN_QUERY_OPTIMIZED))
        return TARN_OK;
    rc = tn_predicate_bind(cx, where, all, &s.arena, &filter);
    if (may_pass(rc)) { /* it is bound again, and refused then */
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    s.filter = &filter;
    rc = tn_metadata_open(cx, r->read->store, r->read->root, &r->config, &r->timeline, &s.metadata);
    if (rc == TARN_OK && s.metadata != NULL)
        rc = by_key(cx, &s);
    if (rc == TARN_OK && s.metadata != NULL)
        rc = by_statistics(cx, &s);
    if (may_pass(rc)) {
        tn_reading_say(r,
                       "indexes of the metadata table cannot be read, no file is ruled out by "
                       "them (%s)",
                       tarn_cx_error(cx));
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    tn_metadata_close(s.metadata);
    tn_arena_clear(&s.arena);
    return rc;
}
