/* I1: equal entries give equal hashes however they are cut into batches, present levels or not,
 *     dictionary-encoded or not. */
#include "exec/rewrite_hash.h"

#include <xxhash.h>

#define TN_HASH_SCRATCH 16384

int tn_leaf_hash_init(tarn_cx *cx, tn_leaf_hash *hash)
{
    for (int i = 0; i < 3; i++) {
        hash->state[i] = XXH3_createState();
        if (hash->state[i] == NULL)
            return tn_fail_memory(cx);
        XXH3_64bits_reset(hash->state[i]);
    }
    return TARN_OK;
}

void tn_leaf_hash_clear(tn_leaf_hash *hash)
{
    for (int i = 0; i < 3; i++)
        if (hash->state[i] != NULL)
            XXH3_freeState(hash->state[i]);
    tn_buf_clear(&hash->scratch);
    *hash = (tn_leaf_hash){0};
}

static void flush(tn_leaf_hash *hash, void *state)
{
    XXH3_64bits_update(state, hash->scratch.data, hash->scratch.len);
    tn_buf_reset(&hash->scratch);
}

static void add_constant(tn_leaf_hash *hash, void *state, uint16_t level, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tn_buf_add(&hash->scratch, &level, sizeof level);
        if (hash->scratch.len >= TN_HASH_SCRATCH)
            flush(hash, state);
    }
    flush(hash, state);
}

static void add_values(tn_leaf_hash *hash, const tn_leaf *leaf, const tn_leaf_batch *batch)
{
    const uint8_t *data = batch->indices != NULL ? batch->dictionary.data : batch->values.data;
    size_t width = tn_leaf_width(leaf);

    if (leaf->physical != TN_BYTE_ARRAY && batch->indices == NULL) {
        if (batch->values.count != 0)
            XXH3_64bits_update(hash->state[2], data, (size_t)batch->values.count * width);
        return;
    }
    for (int64_t i = 0; i < batch->values.count; i++) {
        size_t at = batch->indices != NULL ? batch->indices[i] : (size_t)i;

        if (leaf->physical == TN_BYTE_ARRAY) {
            tn_view view = ((const tn_view *)(const void *)data)[at];

            tn_buf_add(&hash->scratch, &view.len, sizeof view.len);
            tn_buf_add(&hash->scratch, view.ptr, view.len);
        } else {
            tn_buf_add(&hash->scratch, data + at * width, width);
        }
        if (hash->scratch.len >= TN_HASH_SCRATCH)
            flush(hash, hash->state[2]);
    }
    flush(hash, hash->state[2]);
}

int tn_leaf_hash_add(tarn_cx *cx, tn_leaf_hash *hash, const tn_leaf *leaf,
                     const tn_leaf_batch *batch)
{
    hash->rows += batch->rows;
    if (leaf->max_def != 0) {
        if (batch->def == NULL || batch->all_present)
            add_constant(hash, hash->state[0], leaf->max_def, batch->entries);
        else
            XXH3_64bits_update(hash->state[0], batch->def,
                               (size_t)batch->entries * sizeof *batch->def);
    }
    if (leaf->max_rep != 0)
        XXH3_64bits_update(hash->state[1], batch->rep, (size_t)batch->entries * sizeof *batch->rep);
    add_values(hash, leaf, batch);
    return tn_buf_check(cx, &hash->scratch);
}

uint64_t tn_leaf_hash_value(const tn_leaf_hash *hash)
{
    uint64_t parts[4];

    for (int i = 0; i < 3; i++)
        parts[i] = XXH3_64bits_digest(hash->state[i]);
    parts[3] = (uint64_t)hash->rows;
    return XXH3_64bits(parts, sizeof parts);
}

uint64_t tn_leaf_hash_fold(uint64_t all, size_t i, uint64_t leaf)
{
    uint64_t parts[3] = {all, i, leaf};

    return XXH3_64bits(parts, sizeof parts);
}
