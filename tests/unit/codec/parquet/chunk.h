/* Test helper: a column chunk put together page by page, and a tn_parquet around it. */
#ifndef TN_TEST_CHUNK_H
#define TN_TEST_CHUNK_H

#include "unit/codec/parquet/encoders.h"
#include "unit/codec/parquet/leaves.h"

#include <libdeflate.h>

#include "codec/parquet/decode_level.h"
#include "codec/zip/zip.h"

typedef struct test_chunk {
    tn_leaf leaf;
    tn_node node;
    tn_chunk_meta meta;
    tn_row_group_meta group;
    tn_parquet file;
    tn_buf bytes;
    tn_zip zip;
    bool crc;
    tn_page_location locations[256];
    tn_offset_index index;
} test_chunk;

static inline void chunk_init(test_chunk *chunk, enum tn_physical physical, uint16_t max_def,
                              uint16_t max_rep, int32_t codec)
{
    memset(chunk, 0, sizeof *chunk);
    chunk->leaf = (tn_leaf){.node = &chunk->node,
                            .physical = physical,
                            .type_length = 6,
                            .max_def = max_def,
                            .max_rep = max_rep,
                            .dotted = TN_STR("a.b")};
    chunk->meta = (tn_chunk_meta){.has_meta = true, .physical = (int32_t)physical, .codec = codec};
}

static inline void chunk_clear(test_chunk *chunk)
{
    tn_buf_clear(&chunk->bytes);
    tn_zip_clear(&chunk->zip);
}

/* Header and body as given; sizes and checksum are filled in where 0. */
static inline void chunk_page(test_chunk *chunk, tn_page_header header, tn_str plain, tn_str packed)
{
    if (header.uncompressed_bytes == 0)
        header.uncompressed_bytes = (int32_t)plain.len;
    if (header.compressed_bytes == 0)
        header.compressed_bytes = (int32_t)packed.len;
    if (chunk->crc && !header.has_crc) {
        header.has_crc = true;
        header.crc = libdeflate_crc32(0, packed.ptr, packed.len);
    }
    tn_page_header_encode(&chunk->bytes, &header);
    tn_buf_str(&chunk->bytes, packed);
}

/* A page whose body is packed by the chunk's codec, `levels` bytes (version 2) apart. */
static inline void chunk_packed(tarn_cx *cx, test_chunk *chunk, tn_page_header header, tn_str plain,
                                size_t levels)
{
    tn_buf packed = {0};

    if (chunk->meta.codec == TN_CODEC_NONE ||
        (header.type == TN_PAGE_DATA_V2 && !header.compressed)) {
        chunk_page(chunk, header, plain, plain);
        return;
    }
    tn_buf_add(&packed, plain.ptr, levels);
    if (header.type != TN_PAGE_DATA_V2 || plain.len != levels)
        assert_ok(cx, tn_zip_pack(cx, &chunk->zip, chunk->meta.codec, 0, tn_str_from(plain, levels),
                                  &packed));
    chunk_page(chunk, header, plain, tn_buf_view(&packed));
    tn_buf_clear(&packed);
}

static inline void chunk_dictionary(tarn_cx *cx, test_chunk *chunk, test_rng *rng, const void *data,
                                    size_t n)
{
    tn_buf body = {0};

    encode_values(&body, rng, &chunk->leaf, TN_ENC_PLAIN, data, n);
    chunk_packed(cx, chunk,
                 (tn_page_header){.type = TN_PAGE_DICTIONARY,
                                  .values = (int32_t)n,
                                  .nulls = -1,
                                  .rows = -1,
                                  .compressed = true},
                 tn_buf_view(&body), 0);
    tn_buf_clear(&body);
}

typedef struct test_page {
    bool v2, old_levels, not_packed;
    int encoding;
    const uint32_t *rep, *def; /* NULL where the leaf has none */
    size_t entries, rows;
    tn_str values; /* encoded */
} test_page;

static inline void chunk_levels(tn_buf *out, test_rng *rng, const test_page *page,
                                const uint32_t *levels, uint16_t max)
{
    unsigned width = tn_decode_level_width(max);
    tn_buf runs = {0};

    if (max == 0)
        return;
    if (page->old_levels && !page->v2) {
        encode_msb_first(out, levels, page->entries, width);
        return;
    }
    encode_hybrid(&runs, rng, levels, page->entries, width);
    if (!page->v2)
        tn_buf_u32le(out, (uint32_t)runs.len);
    tn_buf_str(out, tn_buf_view(&runs));
    tn_buf_clear(&runs);
}

static inline void chunk_data(tarn_cx *cx, test_chunk *chunk, test_rng *rng, const test_page *page)
{
    int levels_encoding = page->old_levels && !page->v2 ? TN_ENC_BIT_PACKED : TN_ENC_RLE;
    tn_page_header header = {.type = page->v2 ? TN_PAGE_DATA_V2 : TN_PAGE_DATA,
                             .values = (int32_t)page->entries,
                             .nulls = page->v2 ? 0 : -1,
                             .rows = page->v2 ? (int32_t)page->rows : -1,
                             .encoding = page->encoding,
                             .def_encoding = levels_encoding,
                             .rep_encoding = levels_encoding,
                             .compressed = !page->v2 || !page->not_packed};
    tn_page_location *location = &chunk->locations[chunk->index.pages];
    tn_buf body = {0};
    size_t levels;

    chunk_levels(&body, rng, page, page->rep, chunk->leaf.max_rep);
    levels = body.len;
    header.rep_bytes = page->v2 ? (int32_t)levels : 0;
    chunk_levels(&body, rng, page, page->def, chunk->leaf.max_def);
    if (page->v2 && test_below(rng, 5) == 0) /* a writer that counted values for rows */
        header.rows = header.values;
    header.def_bytes = page->v2 ? (int32_t)(body.len - levels) : 0;
    levels = page->v2 ? body.len : 0;
    tn_buf_str(&body, page->values);
    if (chunk->index.pages < 255) {
        location->offset = (int64_t)chunk->bytes.len;
        location->first_row = chunk->group.rows;
        chunk->index.pages++;
    }
    chunk_packed(cx, chunk, header, tn_buf_view(&body), levels);
    location->bytes = (int32_t)(chunk->bytes.len - (size_t)location->offset);
    chunk->meta.values += (int64_t)page->entries;
    chunk->group.rows += (int64_t)page->rows;
    tn_buf_clear(&body);
}

/* The file around it; the first byte of the chunk is byte 0. */
static inline void chunk_finish(test_chunk *chunk)
{
    chunk->meta.compressed_bytes = (int64_t)chunk->bytes.len;
    chunk->group.columns = &chunk->meta;
    chunk->group.column_count = 1;
    chunk->index.locations = chunk->locations;
    chunk->file = (tn_parquet){.path = TN_STR("dir/test.parquet"),
                               .size_bytes = chunk->bytes.len,
                               .memory = chunk->bytes.data};
    chunk->file.footer.groups = &chunk->group;
    chunk->file.footer.group_count = 1;
    chunk->file.schema.leaves = &chunk->leaf;
    chunk->file.schema.leaf_count = 1;
}

#endif
