/* I1: nothing in a join points into a page: pages come and go while a row grows. Views of
 * dictionary values stay as they are, the dictionary outlives the join. */
#include "codec/parquet/leaf_join.h"

#include <stdlib.h>
#include <string.h>

void tn_leaf_join_reset(tn_leaf_join *join)
{
    for (size_t i = 0; i < join->block_count; i++)
        tn_lease_clear(&join->blocks[i]);
    join->block_count = 0;
    join->entries = join->count = 0;
}

void tn_leaf_join_clear(tn_leaf_join *join)
{
    tn_leaf_join_reset(join);
    free(join->blocks);
    tn_lease_clear(&join->rep);
    tn_lease_clear(&join->def);
    tn_lease_clear(&join->values);
    tn_lease_clear(&join->piece);
    *join = (tn_leaf_join){0};
}

/* Appends `size` bytes to a lease that holds `used`. */
static int append(tarn_cx *cx, tn_lease *lease, size_t used, const void *bytes, size_t size)
{
    int rc = TARN_OK;

    TN_TRY(tn_lease_grow(cx, lease, used + size, used, "a row that spans pages"));
    if (size != 0)
        memcpy(lease->data + used, bytes, size);
done:
    return rc;
}

static int add_block(tarn_cx *cx, tn_leaf_join *join, tn_lease **out)
{
    if (tn_grow(cx, &join->blocks, join->block_count, &join->block_cap, sizeof *join->blocks) !=
        TARN_OK)
        return TARN_E_NOMEM;
    *out = &join->blocks[join->block_count++];
    **out = (tn_lease){0};
    return TARN_OK;
}

/* Copies what the last n views point to. */
static int own_bytes(tarn_cx *cx, tn_leaf_join *join, size_t n)
{
    tn_view *views = (tn_view *)(void *)join->values.data + join->count;
    tn_lease *block = NULL;
    uint64_t bytes = 0;
    uint8_t *at;
    int rc = TARN_OK;

    for (size_t i = 0; i < n; i++)
        bytes += views[i].len;
    TN_TRY(add_block(cx, join, &block));
    TN_TRY(tn_lease_grow(cx, block, bytes, 0, "a row that spans pages"));
    at = block->data;
    for (size_t i = 0; i < n; i++) {
        if (views[i].len != 0)
            memcpy(at, views[i].ptr, views[i].len);
        views[i].ptr = at;
        at += views[i].len;
    }
done:
    return rc;
}

int tn_leaf_join_add(tarn_cx *cx, tn_leaf_join *join, const tn_leaf *leaf, tn_leaf_page *page,
                     size_t entries)
{
    size_t width = tn_leaf_width(leaf), n = tn_leaf_page_present(page, entries);
    const void *values;
    int rc = TARN_OK;

    TN_TRY(append(cx, &join->rep, join->entries * sizeof(uint16_t), tn_leaf_page_rep(page),
                  entries * sizeof(uint16_t)));
    TN_TRY(append(cx, &join->def, join->entries * sizeof(uint16_t), tn_leaf_page_def(page),
                  entries * sizeof(uint16_t)));
    TN_TRY(tn_decode_value_read(cx, &page->values, &join->piece, n, &values));
    TN_TRY(append(cx, &join->values, join->count * width, values, n * width));
    if (leaf->physical == TN_BYTE_ARRAY && !tn_decode_value_is_indices(&page->values))
        TN_TRY(own_bytes(cx, join, n));
    page->at += entries;
    join->entries += entries;
    join->count += n;
done:
    return rc;
}

void tn_leaf_join_batch(const tn_leaf_join *join, tn_leaf_batch *out)
{
    *out = (tn_leaf_batch){.rows = 1,
                           .entries = (int64_t)join->entries,
                           .rep = (const uint16_t *)(const void *)join->rep.data,
                           .def = (const uint16_t *)(const void *)join->def.data,
                           .all_present = join->entries == join->count,
                           .values = {join->values.data, (int64_t)join->count}};
}
