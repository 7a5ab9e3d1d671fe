/* Incremental reads of a Hudi table: the commits of a range, what they wrote, and which of its rows
 * are theirs.
 *
 * I1: which rows are given follows from their commit times alone, so it is a condition among
 * others; the files that are read only have to hold all of them. */
#include "op/read_hudi.h"

#include <assert.h>

#include "table/archive.h"

static void quote(tn_buf *out, tn_str time)
{
    tn_buf_print(out, "'%.*s'", TN_STR_ARG(time));
}

/* I1. */
static int make_condition(tarn_cx *cx, tn_reading *r)
{
    const tn_query_range *range = &r->range;
    tn_buf text = {0};
    tn_str kept;
    int rc = TARN_OK;

    if (range->from_start && !range->by_bounds)
        goto done;
    if (range->from_start && range->rows_until.len == 0)
        goto done;
    if (range->by_bounds) {
        tn_buf_text(&text, "`_hoodie_commit_time` > ");
        quote(&text, range->rows_after);
        tn_buf_text(&text, " AND `_hoodie_commit_time` <= ");
        quote(&text, range->rows_until);
    } else {
        tn_buf_text(&text, "`_hoodie_commit_time` IN (");
        for (size_t i = 0; i < range->instant_count; i++) {
            tn_buf_text(&text, i > 0 ? ", " : "");
            quote(&text, range->instants[i]);
        }
        tn_buf_u8(&text, ')');
    }
    TN_TRY(tn_buf_check(cx, &text));
    kept = tn_buf_view(&text);
    TN_TRY(tn_arena_keep(cx, &r->read->arena, &kept));
    r->in_range = kept;
done:
    tn_buf_clear(&text);
    return rc;
}

/* The archived timeline, where the range needs it; *needed false: it does not, and *out stays as it
 * was. */
static int load_archive(tarn_cx *cx, const tn_reading *r, bool *needed, tn_timeline *out)
{
    tn_read *read = r->read;

    *needed = tn_query_range_needs(&r->timeline, r->since, r->until);
    if (!*needed)
        return TARN_OK;
    return tn_archive_load(cx, read->store, read->root, &r->config, &read->arena, out);
}

int tn_reading_range(tarn_cx *cx, tn_reading *r)
{
    tn_read *read = r->read;
    tn_slices_options options = {.v6_slices = r->v6_slices, .listing = TN_SLICES_METADATA};
    tn_timeline archive;
    bool needed;
    int rc = TARN_OK;

    assert(r->kind == TN_QUERY_INCREMENTAL);
    TN_TRY(tn_timeline_load(cx, read->store, read->root, &r->config, &read->arena, &r->timeline));
    TN_TRY(load_archive(cx, r, &needed, &archive));
    TN_TRY(tn_query_range_find(cx, &r->config, &r->timeline, needed ? &archive : NULL, r->since,
                               r->until, &read->arena, &r->range));
    if (r->range.note.len != 0)
        tn_reading_say(r, "%.*s", TN_STR_ARG(r->range.note));
    if (r->range.empty && r->timeline.count != 0)
        goto done;
    if (!r->range.empty)
        tn_query_range_slices(&r->range, &options); /* else this tells of a timeline that is lost */
    TN_TRY(tn_slices_load(cx, read->store, read->root, &r->config, &r->timeline, &options,
                          &read->arena, &r->slices));
    if (r->range.empty)
        goto done;
    TN_TRY(tn_query_range_instants(cx, &r->timeline, &r->range, r->slices.whole, &read->arena,
                                   &r->instants));
    TN_TRY(make_condition(cx, r));
done:
    return rc;
}
