/* The bloom filter of a chunk written: made at the end, when the number of distinct values is
 * known, so that it is neither overfull nor wasteful.
 *
 * I1: A value of any row is in the filter. Values of pages by dictionary come from the dictionary,
 *     others from the hashes kept while they were added. */
#include <stdlib.h>

#include "codec/parquet/bloom.h"
#include "codec/parquet/leaf_write_state.h"

static void add_dictionary(tn_chunk_writer *w)
{
    for (uint32_t i = 0; i < w->dict.count; i++) {
        tn_view view = w->dict.views ? tn_dict_view(&w->dict, i)
                                     : (tn_view){w->dict.plain.data + i * w->dict.width,
                                                 (uint32_t)w->dict.width};
        uint64_t hash = tn_bloom_hash(view.ptr, view.len);

        tn_buf_add(&w->hashes, &hash, sizeof hash);
    }
}

int tn_write_filter(tarn_cx *cx, tn_chunk_writer *w, tn_buf *out)
{
    uint64_t *hash;
    uint8_t *blocks;
    size_t n, size, distinct;
    int rc = TARN_OK;

    if (!w->options.bloom || w->ready)
        goto done;
    if (w->dict_written > 0)
        add_dictionary(w);
    TN_TRY(tn_buf_check(cx, &w->hashes));
    hash = (uint64_t *)(void *)w->hashes.data;
    n = w->hashes.len / sizeof *hash;
    if (n == 0)
        goto done;
    distinct = tn_bloom_distinct(hash, n);
    size = tn_bloom_size(distinct, w->options.bloom_fpp);
    w->filter_bytes = size;
    TN_TRY(tn_chunk_writer_settle(cx, w));
    blocks = tn_buf_extend(out, size);
    TN_TRY(tn_buf_check(cx, out));
    memset(blocks, 0, size);
    for (size_t i = 0; i < distinct; i++)
        tn_bloom_insert(blocks, size, hash[i]);
done:
    return rc;
}
