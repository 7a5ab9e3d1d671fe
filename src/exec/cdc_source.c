/* One side of a change as rows with keys: a base file, or a slice with its logs.
 * I1: a row has a key, or the file is damaged. */
#include "exec/cdc_source.h"

#include <assert.h>

#include "batch/array.h"
#include "batch/rows.h"

#define KEY_COLUMN 2 /* _hoodie_record_key */

int tn_cdc_source_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task,
                       const tn_scan_task *scan, tn_cdc_source *out)
{
    int rc = TARN_OK;

    out->task = scan;
    out->at = -1;
    if (scan == NULL)
        return TARN_OK;
    if (task->keys != NULL) {
        out->options = (tn_record_key_options){
            .kind = TN_KEYGEN_NON_PARTITION, .keys = task->keys, .key_count = task->key_count};
        TN_TRY(tn_record_key_open(cx, &out->options, scan->result, &out->maker));
    }
    TN_TRY(tn_exec_read_open(cx, store, scan, &out->rows));
done:
    return rc;
}

static int next_batch(tarn_cx *cx, tn_cdc_source *s)
{
    int rc = TARN_OK;

    s->rows_before += s->batch.release != NULL ? s->batch.length : 0;
    tn_array_release(&s->batch);
    s->at = 0;
    TN_TRY(tn_exec_read_next(cx, s->rows, &s->batch));
    s->ended = s->batch.length == 0;
    if (!s->ended && s->maker != NULL)
        TN_TRY(tn_record_key_batch(cx, s->maker, &s->batch, s->rows_before, &s->keys));
done:
    return rc;
}

static int find_key(tarn_cx *cx, tn_cdc_source *s)
{
    const struct ArrowArray *column;
    const tn_type utf8 = {.kind = TN_TYPE_UTF8};
    int64_t at;

    if (s->maker != NULL) {
        const int32_t *offsets = s->keys.offsets;

        s->key =
            (tn_str){s->keys.data + offsets[s->at], (size_t)(offsets[s->at + 1] - offsets[s->at])};
        return TARN_OK;
    }
    column = s->batch.children[KEY_COLUMN];
    at = column->offset + s->batch.offset + s->at;
    if (tn_rows_is_null(column, at))
        return tn_fail(cx, TARN_E_CORRUPT, "%.*s: row %lld has no record key",
                       TN_STR_ARG(s->task->path), (long long)(s->rows_before + s->at));
    s->key = tn_rows_bytes(&utf8, column, at);
    return TARN_OK;
}

int tn_cdc_source_next(tarn_cx *cx, tn_cdc_source *source)
{
    int rc = TARN_OK;

    if (source->task == NULL)
        source->ended = true;
    if (source->ended)
        return TARN_OK;
    source->at++;
    if (source->batch.release == NULL || source->at == source->batch.length) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(next_batch(cx, source));
    }
    if (!source->ended)
        TN_TRY(find_key(cx, source));
done:
    return rc;
}

void tn_cdc_source_counts(const tn_cdc_source *source, tn_scan_counts *out)
{
    *out = (tn_scan_counts){0};
    if (source->rows != NULL)
        tn_exec_read_counts(source->rows, out);
}

void tn_cdc_source_close(tn_cdc_source *source)
{
    tn_array_release(&source->batch);
    tn_exec_read_close(source->rows);
    tn_record_key_close(source->maker);
    *source = (tn_cdc_source){0};
}
