/* Filter and range of a file that follows another.
 *
 *   the old filter has room for the keys that are new   it is taken, and they are added
 *   else                                                one for all, made from the key column
 *
 * I1: keys of deleted rows may stay in a filter and within a range: both may say "perhaps" too
 *     often, never "no" for a key of the file. */
#include "batch/array.h"
#include "exec/base_state.h"

#define FILTER_KEY "org.apache.hudi.bloomfilter"

/* The filter of the footer when it can take the new keys; NULL: it cannot. */
static int take_filter(tarn_cx *cx, tn_base_writer *w, tn_key_filter **out)
{
    const tn_parquet *file = &w->old.parquet;
    tn_str text = tn_parquet_key_value(file, FILTER_KEY);
    tn_str type = tn_parquet_key_value(file, "hoodie_bloom_filter_type_code");
    enum tn_key_filter_kind kind =
        tn_str_is(type, "DYNAMIC_V0") ? TN_KEY_FILTER_DYNAMIC : TN_KEY_FILTER_SIMPLE;
    uint64_t rows = (uint64_t)file->footer.rows;
    tn_key_filter *filter = NULL;
    int rc = TARN_OK;

    if (text.len == 0 || kind != w->job->filter_kind || w->keys.filter != NULL)
        return TARN_OK;
    rc = tn_key_filter_parse(cx, text, kind, file->path, &filter);
    if (rc == TARN_E_CORRUPT) { /* The rows are whole, and a new one cures it. */
        tn_cx_forget(cx);
        return TARN_OK;
    }
    TN_TRY(rc);
    if (w->keys.count == 0 || tn_key_filter_room(filter, rows) >= w->keys.count) {
        *out = filter;
        filter = NULL;
    }
done:
    tn_key_filter_close(filter);
    return rc;
}

uint64_t tn_base_old_filter_bytes(const tn_base_writer *w)
{
    tn_base_keys all = w->keys;
    uint64_t kept = 0, made;

    if (w->old.bytes != NULL) {
        kept = tn_parquet_key_value(&w->old.parquet, FILTER_KEY).len;
        all.count += (uint64_t)w->old.parquet.footer.rows;
    }
    made = tn_base_keys_bytes(&all);
    return kept > made ? kept : made;
}

/* The keys of the whole old file. */
static int read_keys(tarn_cx *cx, tn_base_writer *w)
{
    tn_base_old *old = &w->old;
    int64_t place = old->places[TN_META_KEY], first;
    tn_parquet_scan_options options = {.column_count = 1};
    struct ArrowArray batch = {0};
    tn_parquet_scan *scan = NULL;
    int rc = TARN_OK;

    if (place < 0)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s has no column _hoodie_record_key",
                TN_STR_ARG(old->parquet.path));
    options.columns = &old->columns[place];
    TN_TRY(tn_parquet_scan_open(cx, &old->parquet, &options, &scan));
    for (;;) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        TN_TRY(tn_base_keys_add(cx, &w->keys, batch.children[0], 0, batch.length));
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_parquet_scan_close(scan);
    return rc;
}

int tn_base_old_keys(tarn_cx *cx, tn_base_writer *w)
{
    const tn_parquet *file = &w->old.parquet;
    tn_str min = tn_parquet_key_value(file, "hoodie_min_record_key");
    tn_str max = tn_parquet_key_value(file, "hoodie_max_record_key");
    tn_key_filter *filter = NULL;
    int rc = TARN_OK;

    if (file->footer.rows == 0)
        return TARN_OK;
    if (min.len != 0 && max.len != 0)
        TN_TRY(take_filter(cx, w, &filter));
    if (filter == NULL) {
        TN_TRY(read_keys(cx, w));
        goto done;
    }
    if (w->keys.count == 0)
        w->keys.same = tn_parquet_key_value(file, FILTER_KEY);
    rc = tn_base_keys_take(cx, &w->keys, filter);
    filter = NULL; /* taken, whatever came of it */
    TN_TRY(rc);
    TN_TRY(tn_base_keys_range(cx, &w->keys, min));
    TN_TRY(tn_base_keys_range(cx, &w->keys, max));
done:
    tn_key_filter_close(filter);
    return rc;
}
