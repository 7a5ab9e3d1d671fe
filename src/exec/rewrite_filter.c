/* I1: a filter that is written holds every value of its chunk: each chunk's own filter, or the
 *     hashes of its values, went into it.
 * I2: a merged filter errs with TN_FILTER_FPP_MAX at most, by the bits set in it.
 * I3: a filter is worth no failure: without memory for its hashes there is none, which is told. */
#include "exec/rewrite_filter.h"

#include "base/budget.h"
#include "codec/parquet/bloom.h"

#define TN_FILTER_FPP_MAX 0.02 /* twice what a new one has */
#define TN_FILTER_STEP    (64u << 10)

static void forget(tarn_cx *cx, tn_rewrite_filter *filter)
{
    tn_budget_give(cx, filter->reserved_bytes);
    filter->reserved_bytes = 0;
    tn_buf_clear(&filter->merged);
    tn_buf_clear(&filter->hashes);
    filter->dictionary_id = 0;
    filter->broken = false;
}

void tn_rewrite_filter_clear(tarn_cx *cx, tn_rewrite_filter *filter)
{
    forget(cx, filter);
}

static bool make_room(tarn_cx *cx, tn_rewrite_filter *filter, uint64_t bytes)
{
    if (!tn_budget_try(cx, bytes)) {
        forget(cx, filter);
        filter->wanted = false;
        filter->again = false;
        filter->lost = "there is not enough memory for its values (--memory)";
        return false;
    }
    filter->reserved_bytes += bytes;
    return true;
}

static int take_filter(tarn_cx *cx, tn_rewrite_filter *filter, tn_str blocks)
{
    if (filter->merged.len == 0) {
        if (make_room(cx, filter, blocks.len))
            tn_buf_add(&filter->merged, blocks.ptr, blocks.len);
        return tn_buf_check(cx, &filter->merged);
    }
    filter->broken |= filter->merged.len != blocks.len;
    if (!filter->broken)
        tn_bloom_merge(filter->merged.data, blocks);
    return TARN_OK;
}

int tn_rewrite_filter_chunk(tarn_cx *cx, tn_rewrite_filter *filter, const tn_parquet *file,
                            size_t group, size_t leaf, bool *look)
{
    tn_arena arena = {0};
    bool present = false;
    tn_str blocks;
    int rc = TARN_OK;

    *look = filter->wanted && filter->by_values;
    if (!filter->wanted || filter->by_values || filter->broken)
        return TARN_OK;
    TN_TRY(tn_parquet_bloom(cx, file, group, leaf, &arena, &present, &blocks));
    filter->broken = !present;
    if (present)
        TN_TRY(take_filter(cx, filter, blocks));
done:
    tn_arena_clear(&arena);
    return rc;
}

static bool add_hashes(tarn_cx *cx, tn_rewrite_filter *filter, const tn_leaf *leaf,
                       const tn_values *values)
{
    size_t width = tn_leaf_width(leaf);
    const uint8_t *at = values->data;
    uint64_t want = filter->hashes.len + (uint64_t)values->count * sizeof(uint64_t);

    while (filter->reserved_bytes < want + filter->merged.len)
        if (!make_room(cx, filter, want > TN_FILTER_STEP ? want : TN_FILTER_STEP))
            return false;
    for (int64_t i = 0; i < values->count; i++, at += width) {
        const tn_view *view = (const tn_view *)(const void *)at;
        uint64_t hash = leaf->physical == TN_BYTE_ARRAY ? tn_bloom_hash(view->ptr, view->len)
                                                        : tn_bloom_hash(at, width);

        tn_buf_add(&filter->hashes, &hash, sizeof hash);
    }
    return true;
}

int tn_rewrite_filter_batch(tarn_cx *cx, tn_rewrite_filter *filter, const tn_leaf *leaf,
                            const tn_leaf_batch *batch)
{
    if (!filter->wanted || batch->values.count == 0)
        return TARN_OK;
    if (batch->indices == NULL) {
        if (!add_hashes(cx, filter, leaf, &batch->values))
            return TARN_OK;
    } else if (batch->dictionary_id != filter->dictionary_id || filter->dictionary_id == 0) {
        if (!add_hashes(cx, filter, leaf, &batch->dictionary))
            return TARN_OK;
        filter->dictionary_id = batch->dictionary_id;
    }
    return tn_buf_check(cx, &filter->hashes);
}

/* The filter of the hashes alone. */
static int build(tarn_cx *cx, tn_rewrite_filter *filter)
{
    uint64_t *hashes = (uint64_t *)(void *)filter->hashes.data;
    size_t distinct = tn_bloom_distinct(hashes, filter->hashes.len / sizeof *hashes);
    size_t size = tn_bloom_size(distinct, 0);
    uint8_t *blocks;

    tn_buf_clear(&filter->merged);
    if (distinct == 0 || !make_room(cx, filter, size))
        return TARN_OK;
    blocks = tn_buf_extend(&filter->merged, size);
    if (blocks == NULL)
        return tn_buf_check(cx, &filter->merged);
    memset(blocks, 0, size);
    for (size_t i = 0; i < distinct; i++)
        tn_bloom_insert(blocks, size, hashes[i]);
    return TARN_OK;
}

/* Puts what was seen decoded into the merged filter; false when that cannot serve. */
static bool merge_all(tn_rewrite_filter *filter)
{
    const uint64_t *hashes = (const uint64_t *)(const void *)filter->hashes.data;

    for (size_t i = 0; i < filter->hashes.len / sizeof *hashes; i++)
        tn_bloom_insert(filter->merged.data, filter->merged.len, hashes[i]);
    return tn_bloom_fpp(tn_buf_view(&filter->merged)) <= TN_FILTER_FPP_MAX;
}

int tn_rewrite_filter_end(tarn_cx *cx, tn_rewrite_filter *filter, tn_encoded_chunk *chunk)
{
    int rc = TARN_OK;

    if (!filter->wanted)
        goto done;
    if (filter->by_values || (filter->merged.len == 0 && !filter->broken)) {
        TN_TRY(build(cx, filter));
    } else if (filter->broken || !merge_all(filter)) {
        filter->again = filter->by_values = true;
        forget(cx, filter);
        goto done;
    }
    filter->again = false;
    if (filter->wanted && filter->merged.len != 0) {
        uint64_t bytes = filter->merged.len;

        tn_buf_clear(&chunk->bloom);
        chunk->bloom = filter->merged;
        filter->merged = (tn_buf){0};
        /* What is reserved for the filter goes with it, if the chunk can give it back. */
        if (chunk->budget != NULL) {
            filter->reserved_bytes -= bytes;
            chunk->reserved_bytes += bytes;
        }
    }
    forget(cx, filter);
done:
    return rc;
}
