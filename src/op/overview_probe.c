/* Looks at heartbeats, and compares the metadata table with the directories.
 *
 * I1: a metadata table that cannot be read is a fact, no failure.
 * I2: files alone are looked at: nothing is written, and nothing waits for a lock. */
#include "op/overview_probe.h"

#include <assert.h>

/* hoodie.client.heartbeat.interval_in_ms and …tolerable.misses, which a table does not tell. */
#define BEAT_FRESH_MS (60000ll * 2)

/* .hoodie/.heartbeat/<instant>: its modification time is the last beat. In order of names. */
static int find_alive(tarn_cx *cx, tn_hudi_view *view, tn_overview_probe *out)
{
    tn_entry *entries = NULL;
    size_t count = 0;
    tn_str folder;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &view->arena, view->root, TN_STR(".hoodie/.heartbeat"), &folder));
    TN_TRY(tn_store_list_or_none(cx, view->store, folder, &view->arena, &entries, &count));
    out->alive = tn_arena_array(cx, &view->arena, count + 1, sizeof *out->alive);
    if (out->alive == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        if (entries[i].stat.kind == TN_ENTRY_FILE &&
            out->now_ms - entries[i].stat.mtime_ns / 1000000 <= BEAT_FRESH_MS)
            out->alive[out->alive_count++] = entries[i].name;
done:
    return rc;
}

static bool is_fact(int rc)
{
    return rc == TARN_E_CORRUPT || rc == TARN_E_INVALID || rc == TARN_E_UNSUPPORTED ||
           rc == TARN_E_NOTFOUND;
}

static int keep_problem(tarn_cx *cx, tn_hudi_view *view, tn_overview_probe *out)
{
    int rc = tn_hudi_view_keep(cx, view, tn_str_of(tarn_cx_error(cx)), &out->listing_problem);

    tn_cx_forget(cx);
    return rc;
}

/* One that lags behind is compared all the same: the differences are what it has missed. */
static int compare_listing(tarn_cx *cx, tn_hudi_view *view, tn_overview_probe *out)
{
    tn_metadata *metadata = NULL;
    int rc = TARN_OK;

    TN_TRY(
        tn_metadata_open(cx, view->store, view->root, &view->config, &view->timeline, &metadata));
    if (metadata == NULL)
        goto done;
    rc = tn_metadata_current(cx, metadata);
    if (rc == TARN_E_CORRUPT)
        rc = keep_problem(cx, view, out);
    TN_TRY(rc);
    TN_TRY(
        tn_metadata_check(cx, metadata, &view->arena, &out->differences, &out->difference_count));
done:
    tn_metadata_close(metadata);
    return rc;
}

int tn_overview_probe_run(tarn_cx *cx, tn_hudi_view *view, const tn_slices *slices,
                          tn_overview_probe *out)
{
    tn_overview_probe made = {.now_ms = tn_cx_now_ms(cx)};
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(find_alive(cx, view, &made));
    if (slices != NULL)
        TN_TRY(tn_slices_warning(cx, slices, &view->arena, &made.moved));
    /* Metadata tables of versions below 6 are of another form, and are made anew by the upgrade. */
    if (view->config.metadata_table && view->config.version >= 6) {
        rc = compare_listing(cx, view, &made);
        if (rc == TARN_E_NOTFOUND)
            (void)tn_fail_within(cx, rc, "the table's properties list a metadata table");
        if (is_fact(rc))
            rc = keep_problem(cx, view, &made);
        TN_TRY(rc);
    }
    *out = made;
done:
    return rc;
}
