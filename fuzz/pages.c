/* Any bytes as one data page. The first bytes choose physical type, encoding, levels, page version
 * and how the page is read; the rest is its body. */
#include <string.h>

#include "codec/parquet/leaf_read.h"

enum { CHOICES = 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A leaf, a footer of one chunk, and the chunk's bytes: a dictionary of `data` when asked for, and
 * the page. */
typedef struct fuzz_chunk {
    tn_node node;
    tn_leaf leaf;
    tn_chunk_meta meta;
    tn_row_group_meta group;
    tn_parquet file;
    tn_buf bytes;
} fuzz_chunk;

static void add_page(tn_buf *out, tn_page_header *header, const uint8_t *body, size_t len)
{
    header->uncompressed_bytes = header->compressed_bytes = (int32_t)len;
    tn_page_header_encode(out, header);
    tn_buf_add(out, body, len);
}

static void build(fuzz_chunk *chunk, const uint8_t *choice, const uint8_t *body, size_t len)
{
    tn_page_header page = {.type = choice[0] & 8 ? TN_PAGE_DATA_V2 : TN_PAGE_DATA,
                           .values = choice[2] | (choice[3] & 0x1f) << 8,
                           .nulls = 0,
                           .rows = -1,
                           .encoding = choice[1] % 10,
                           .def_encoding = choice[4] & 64 ? TN_ENC_BIT_PACKED : TN_ENC_RLE,
                           .rep_encoding = choice[4] & 128 ? TN_ENC_BIT_PACKED : TN_ENC_RLE,
                           .rep_bytes = choice[6] & 15,
                           .def_bytes = choice[6] >> 4,
                           .compressed = false};
    tn_page_header dictionary = {.type = TN_PAGE_DICTIONARY,
                                 .values = choice[7] & 15,
                                 .nulls = -1,
                                 .rows = -1,
                                 .compressed = true};
    size_t dictionary_len = len < 64 ? len : 64;

    chunk->leaf = (tn_leaf){.node = &chunk->node,
                            .physical = (enum tn_physical)(choice[0] & 7),
                            .type_length = 1u + choice[5] % 20,
                            .max_def = choice[4] & 7,
                            .max_rep = choice[4] >> 3 & 3,
                            .dotted = TN_STR("a.b")};
    if (chunk->leaf.max_def < chunk->leaf.max_rep)
        chunk->leaf.max_def = chunk->leaf.max_rep;
    if (page.type == TN_PAGE_DATA_V2)
        page.rows = page.values;
    if (choice[7] & 128)
        add_page(&chunk->bytes, &dictionary, body, dictionary_len);
    add_page(&chunk->bytes, &page, body, len);
    if (choice[7] & 64) /* the same page again: rows may span the two */
        add_page(&chunk->bytes, &page, body, len);
    chunk->meta = (tn_chunk_meta){.has_meta = true,
                                  .physical = (int32_t)chunk->leaf.physical,
                                  .values = page.values * (choice[7] & 64 ? 2 : 1),
                                  .compressed_bytes = (int64_t)chunk->bytes.len};
    chunk->group =
        (tn_row_group_meta){.columns = &chunk->meta,
                            .column_count = 1,
                            .rows = chunk->leaf.max_rep == 0 ? chunk->meta.values : choice[8]};
    chunk->file.path = TN_STR("fuzz");
    chunk->file.size_bytes = chunk->bytes.len;
    chunk->file.memory = chunk->bytes.data;
    chunk->file.footer.groups = &chunk->group;
    chunk->file.footer.group_count = 1;
    chunk->file.schema.leaves = &chunk->leaf;
    chunk->file.schema.leaf_count = 1;
}

static volatile uint8_t seen;

static void touch(const tn_leaf *leaf, const tn_leaf_batch *batch)
{
    for (int64_t i = 0; i < batch->entries; i++) {
        seen = batch->def != NULL ? (uint8_t)batch->def[i] : 0;
        seen = batch->rep != NULL ? (uint8_t)batch->rep[i] : 0;
    }
    for (int64_t i = 0; i < batch->values.count; i++) {
        const tn_values *values = batch->indices != NULL ? &batch->dictionary : &batch->values;
        size_t at = batch->indices != NULL ? batch->indices[i] : (size_t)i;

        if (leaf->physical == TN_BYTE_ARRAY) {
            tn_view view = ((const tn_view *)values->data)[at];

            for (uint32_t k = 0; k < view.len; k++)
                seen = view.ptr[k];
        } else {
            const uint8_t *value = (const uint8_t *)values->data + at * tn_leaf_width(leaf);

            seen = value[0];
            seen = value[tn_leaf_width(leaf) - 1];
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_chunk chunk = {0};
    tn_leaf_reader *reader = NULL;
    tn_leaf_read_options options = {0};
    tn_leaf_batch batch = {0};
    tn_source source;
    tarn_cx *cx;
    int rc;

    if (size < CHOICES)
        return 0;
    cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20, .seed = 1});
    build(&chunk, data, data + CHOICES, size - CHOICES);
    options.keep_dictionary = (data[9] & 1) != 0;
    source = tn_source_memory(chunk.bytes.data, chunk.bytes.len, 0);
    rc = tn_leaf_reader_open(cx, &chunk.file, 0, 0, &source, &options, &reader);
    while (rc == TARN_OK) {
        if (data[9] & 2)
            rc = tn_leaf_reader_skip(cx, reader, data[9] >> 6);
        if (rc == TARN_OK)
            rc = tn_leaf_reader_next(cx, reader, 1 + (data[9] & 60) * 5, &batch);
        if (rc != TARN_OK || batch.rows == 0)
            break;
        touch(&chunk.leaf, &batch);
    }
    if (rc != TARN_OK && strstr(tarn_cx_error(cx), "fuzz") == NULL)
        __builtin_trap(); /* every failure names the file */
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    tn_buf_clear(&chunk.bytes);
    tarn_cx_close(cx);
    return 0;
}
