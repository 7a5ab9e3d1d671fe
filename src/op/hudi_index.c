/* Whether the index of a write is that of the table, which does not say it (Hudi stores nothing).
 * I1: rows are never placed where another index would not look for them. */
#include "op/hudi_op.h"
#include "table/hudi_buckets.h"

/* Whether the operation places rows in, or beside, file groups that stay. */
static bool places_rows(const tn_hudi_write *w)
{
    return w->op == TARN_OP_UPSERT || w->op == TARN_OP_INSERT || w->op == TARN_OP_BULK_INSERT ||
           w->op == TARN_OP_INSERT_OVERWRITE;
}

/* Files of the newest commit, where the partitions of the rows have none yet. */
static int newest_are_buckets(tarn_cx *cx, const tn_hudi_write *w, tn_str *file_id, bool *out)
{
    tn_arena arena = {0};
    int rc = TARN_OK;

    *out = false;
    for (size_t i = w->timeline->count; i-- > 0;) {
        const tn_instant *instant = &w->timeline->instants[i];
        tn_commit_metadata metadata = {0};
        uint32_t number;

        if (instant->state != TN_STATE_COMPLETED || !tn_instant_writes_data(instant))
            continue;
        TN_TRY(tn_timeline_commit(cx, w->store, w->timeline, instant, &arena, &metadata));
        *out = metadata.stat_count != 0;
        for (size_t k = 0; k < metadata.stat_count && *out; k++) {
            *out = tn_hudi_bucket_of(metadata.stats[k].file_id, &number);
            *file_id = metadata.stats[k].file_id;
        }
        if (metadata.stat_count != 0)
            break;
    }
    if (*out)
        TN_TRY(tn_arena_keep(cx, &w->log->arena, file_id));
done:
    tn_arena_clear(&arena);
    return rc;
}

static int check_plain(tarn_cx *cx, const tn_hudi_write *w)
{
    bool buckets = w->slices.slice_count != 0;
    tn_str file_id = {NULL, 0};
    uint32_t number;
    int rc = TARN_OK;

    for (size_t i = 0; i < w->slices.slice_count && buckets; i++) {
        file_id = w->slices.slices[i].base.file_id;
        buckets = tn_hudi_bucket_of(file_id, &number);
    }
    if (w->slices.slice_count == 0)
        TN_TRY(newest_are_buckets(cx, w, &file_id, &buckets));
    if (buckets)
        TN_FAIL(
            TARN_E_INVALID,
            "%.*s: its file groups are those of a bucket index (%.*s), whose readers and writers "
            "would not find rows that are placed without one; nothing was written: give --set "
            "hoodie.index.type=BUCKET and hoodie.bucket.index.num.buckets as its other writers "
            "do",
            TN_STR_ARG(w->root), TN_STR_ARG(file_id));
done:
    return rc;
}

int tn_hudi_index_check(tarn_cx *cx, const tn_hudi_write *w)
{
    tn_hudi_buckets buckets = {.count = (uint32_t)w->options.buckets,
                               .fields = w->options.hash_fields.items,
                               .field_count = w->options.hash_fields.count};

    if (!w->exists || !places_rows(w))
        return TARN_OK;
    if (w->options.index != TN_INDEX_BUCKET)
        return check_plain(cx, w);
    if (buckets.field_count == 0) {
        buckets.fields = w->config->keys;
        buckets.field_count = w->config->key_count;
    }
    return tn_hudi_buckets_check(cx, w->store, w->root, w->config, &w->slices, &buckets);
}
