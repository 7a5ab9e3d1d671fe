/* A whole Parquet file: opened, and then everything that its footer leads to besides pages: schema,
 * spans, statistics, page indexes, bloom filters. What open promised must hold. */
#include <stdlib.h>

#include "codec/parquet/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_chunk(tarn_cx *cx, const tn_parquet *file, size_t group, const tn_leaf *leaf)
{
    tn_arena arena = {0};
    tn_column_index index;
    tn_offset_index pages;
    tn_order_range range;
    uint64_t offset, bytes;
    tn_str blocks;
    bool there;

    if (tn_parquet_chunk_span(cx, file, group, leaf->index, &offset, &bytes) != TARN_OK)
        abort();
    if (bytes != 0 && (offset < 4 || offset + bytes > file->footer_offset))
        abort();
    tn_order_chunk(file, group, leaf, &range);
    if (tn_parquet_column_index(cx, file, group, leaf->index, &arena, &there, &index) != TARN_OK)
        abort();
    for (size_t i = 0; there && i < index.pages; i++)
        tn_order_page(file, leaf, &index, i, 10, &range);
    if (tn_parquet_offset_index(cx, file, group, leaf->index, &arena, &there, &pages) != TARN_OK)
        abort();
    if (tn_parquet_bloom(cx, file, group, leaf->index, &arena, &there, &blocks) != TARN_OK)
        abort();
    if (there && (blocks.len == 0 || blocks.len % 32 != 0))
        abort();
    tn_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_buf text = {0};
    tn_parquet file;

    if (cx == NULL)
        return 0;
    if (tn_parquet_open_memory(cx, data, size, TN_STR("fuzz"), &file) == TARN_OK) {
        for (size_t g = 0; g < file.footer.group_count; g++) {
            for (size_t i = 0; i < file.schema.leaf_count; i++)
                try_chunk(cx, &file, g, &file.schema.leaves[i]);
        }
        tn_schema_print(&text, &file.schema);
        tn_parquet_close(&file);
    } else if (tarn_cx_error(cx)[0] == '\0') {
        abort();
    }
    tn_buf_clear(&text);
    tarn_cx_close(cx);
    return 0;
}
