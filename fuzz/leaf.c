/* Any bytes as a whole file, of which every leaf is read to the end: once all rows, once with rows
 * passed over between batches. */
#include "codec/parquet/leaf_read.h"

enum { ROWS_MAX = 1 << 16, CHUNKS_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t seen;

static void touch(const tn_leaf *leaf, const tn_leaf_batch *batch)
{
    const tn_values *values = batch->indices != NULL ? &batch->dictionary : &batch->values;

    for (int64_t i = 0; i < batch->values.count; i++) {
        size_t at = batch->indices != NULL ? batch->indices[i] : (size_t)i;

        if (leaf->physical == TN_BYTE_ARRAY) {
            tn_view view = ((const tn_view *)values->data)[at];

            seen = view.len != 0 ? (uint8_t)(view.ptr[0] + view.ptr[view.len - 1]) : 0;
        } else {
            seen = ((const uint8_t *)values->data)[at * tn_leaf_width(leaf)];
        }
    }
}

static void read_leaf(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf, bool skips)
{
    tn_leaf_read_options options = {.skip_crc = skips, .keep_dictionary = skips};
    tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
    int64_t left = file->footer.groups[group].rows, rows = 0;
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch = {0};
    tn_arena arena = {0};
    tn_offset_index index;
    bool present = false;
    int rc = TARN_OK;

    if (skips)
        rc = tn_parquet_offset_index(cx, file, group, leaf, &arena, &present, &index);
    if (rc == TARN_OK && present)
        options.pages = &index;
    rc = tn_leaf_reader_open(cx, file, group, leaf, &source, &options, &reader);
    while (rc == TARN_OK && rows < ROWS_MAX) {
        int64_t n = !skips ? 0 : left < 37 ? left : 37;

        rc = tn_leaf_reader_skip(cx, reader, n);
        if (rc == TARN_OK)
            rc = tn_leaf_reader_next(cx, reader, skips ? 5 : 1000, &batch);
        if (rc != TARN_OK || batch.rows == 0)
            break;
        touch(&file->schema.leaves[leaf], &batch);
        rows += batch.rows;
        left -= n + batch.rows;
    }
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    tn_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20, .seed = 1});
    tn_parquet file = {0};
    size_t chunks = 0;

    if (tn_parquet_open_memory(cx, data, size, TN_STR("fuzz"), &file) == TARN_OK) {
        for (size_t group = 0; group < file.footer.group_count; group++) {
            for (size_t leaf = 0; leaf < file.schema.leaf_count && chunks < CHUNKS_MAX; leaf++) {
                read_leaf(cx, &file, group, leaf, false);
                read_leaf(cx, &file, group, leaf, true);
                chunks++;
            }
        }
    }
    tn_parquet_close(&file);
    tarn_cx_close(cx);
    return 0;
}
