/* Any bytes as a whole file, all row groups of which are joined, leaf by leaf, by the ways that the
 * first byte allows, and the first of which is spliced: a row of it is deleted, or the first stands
 * there. Whatever can be read must join, and give the same levels and values. */
#include <stdlib.h>

#include "codec/parquet/chunk_join.h"
#include "codec/parquet/leaf_read.h"

enum { ROWS_MAX = 1 << 15, CHUNKS_MAX = 64, VALUES_BYTES_MAX = 8 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A column flattened: levels, and for each value its length and bytes. */
typedef struct column {
    tn_buf levels, lengths, bytes;
    int64_t rows, entries;
} column;

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void column_clear(column *c)
{
    tn_buf_clear(&c->levels);
    tn_buf_clear(&c->lengths);
    tn_buf_clear(&c->bytes);
    *c = (column){0};
}

static void take(column *c, const tn_leaf *leaf, const tn_leaf_batch *batch)
{
    size_t width = tn_leaf_width(leaf);

    for (int64_t i = 0; i < batch->entries; i++) {
        tn_buf_u16le(&c->levels, batch->rep != NULL ? batch->rep[i] : 0);
        tn_buf_u16le(&c->levels, batch->def != NULL ? batch->def[i] : leaf->max_def);
    }
    for (int64_t i = 0; i < batch->values.count; i++) {
        const tn_view *view = (const tn_view *)batch->values.data + i;
        const void *at = (const uint8_t *)batch->values.data + (size_t)i * width;
        uint32_t len = leaf->physical == TN_BYTE_ARRAY ? view->len : (uint32_t)width;

        tn_buf_u32le(&c->lengths, len);
        tn_buf_add(&c->bytes, leaf->physical == TN_BYTE_ARRAY ? view->ptr : at, len);
    }
    c->rows += batch->rows;
    c->entries += batch->entries;
}

/* *small false: more than is looked at. */
static int read_chunk(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf, column *out,
                      bool *small)
{
    tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    int rc = TARN_OK;

    *small = true;
    TN_TRY(tn_leaf_reader_open(cx, file, group, leaf, &source, NULL, &reader));
    for (;;) {
        TN_TRY(tn_leaf_reader_next(cx, reader, 1000, &batch));
        if (batch.rows == 0)
            break;
        take(out, &file->schema.leaves[leaf], &batch);
        *small = out->entries <= ROWS_MAX && out->bytes.len <= VALUES_BYTES_MAX;
        if (!*small)
            break;
    }
done:
    tn_leaf_reader_close(reader);
    return rc;
}

static int64_t shifted(int64_t offset)
{
    return offset + 4; /* no chunk begins before the magic */
}

/* Reads the joined chunk as the only one of a file that is not there. */
static void check_chunk(tarn_cx *cx, const tn_leaf *leaf, const tn_encoded_chunk *chunk,
                        const column *want)
{
    tn_leaf one = *leaf;
    tn_chunk_meta meta = chunk->meta;
    tn_row_group_meta group = {.columns = &meta, .column_count = 1, .rows = want->rows};
    tn_parquet file = {.path = TN_STR("joined"),
                       .footer = {.groups = &group, .group_count = 1, .rows = want->rows},
                       .schema = {.leaves = &one, .leaf_count = 1}};
    tn_buf bytes = {0};
    column got = {0};
    bool small;

    tn_buf_text(&bytes, "PAR1");
    for (size_t i = 0; i < chunk->piece_count; i++)
        tn_buf_str(&bytes, tn_buf_view(&chunk->pieces[i]));
    must(bytes.len == 4 + chunk->bytes && chunk->rows == want->rows);
    one.index = 0;
    meta.data_page_offset = shifted(meta.data_page_offset);
    meta.dictionary_page_offset = shifted(meta.dictionary_page_offset);
    file.memory = bytes.data;
    file.size_bytes = file.footer_offset = bytes.len;
    must(read_chunk(cx, &file, 0, 0, &got, &small) == TARN_OK && small);
    must(got.rows == want->rows && got.entries == want->entries);
    must(tn_str_equal(tn_buf_view(&got.levels), tn_buf_view(&want->levels)));
    must(tn_str_equal(tn_buf_view(&got.lengths), tn_buf_view(&want->lengths)));
    must(tn_str_equal(tn_buf_view(&got.bytes), tn_buf_view(&want->bytes)));
    column_clear(&got);
    tn_buf_clear(&bytes);
}

static tn_chunk_options options_of(uint8_t choice, int32_t codec)
{
    static const int32_t codecs[] = {TN_CODEC_NONE, TN_CODEC_SNAPPY, TN_CODEC_ZSTD};
    bool same =
        (choice & 3) == 0 && codec != TN_CODEC_LZO && codec >= 0 && codec <= TN_CODEC_LZ4_RAW;

    return (tn_chunk_options){.codec = same ? codec : codecs[(choice & 3) % 3],
                              .page_v2 = choice & 4,
                              .crc = choice & 8,
                              .dictionary_bytes_max = choice & 16 ? 60 : 0,
                              .page_rows = choice & 16 ? 50 : 4};
}

/* Rows in the place of others: always the first of the chunk. */
typedef struct first_row {
    tn_source source;
    tn_leaf_reader *reader;
    tn_leaf_batch batch;
} first_row;

static int give_first(tarn_cx *cx, void *arg, int64_t first, int64_t rows, tn_leaf_batch *out)
{
    (void)cx;
    must(first == 0 && rows == 1);
    *out = ((first_row *)arg)->batch;
    return TARN_OK;
}

/* What a splice of one row is to give. */
static int read_spliced(tarn_cx *cx, const tn_parquet *file, size_t leaf, int64_t at,
                        const tn_leaf_batch *with, column *out)
{
    tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    int64_t row = 0;
    int rc = TARN_OK;

    TN_TRY(tn_leaf_reader_open(cx, file, 0, leaf, &source, NULL, &reader));
    for (;; row += batch.rows) {
        TN_TRY(tn_leaf_reader_next(cx, reader, row < at ? at - row : row == at ? 1 : 1000, &batch));
        if (batch.rows == 0)
            break;
        if (row != at)
            take(out, &file->schema.leaves[leaf], &batch);
        else if (with != NULL)
            take(out, &file->schema.leaves[leaf], with);
    }
done:
    tn_leaf_reader_close(reader);
    return rc;
}

static void splice_leaf(tarn_cx *cx, const tn_parquet *file, size_t leaf, uint8_t choice)
{
    const tn_leaf *to = &file->schema.leaves[leaf];
    int64_t rows = file->footer.groups[0].rows;
    tn_chunk_options options = options_of(choice, file->footer.groups[0].columns[leaf].codec);
    first_row one = {.source = tn_source_memory(file->memory, file->size_bytes, 0)};
    tn_splice_row row = {.row = (choice >> 3) % (rows > 0 ? rows : 1),
                         .with = (choice & 32) != 0 ? 0 : -1};
    tn_splice splice = {.rows = &row, .count = 1, .give = give_first, .arg = &one};
    tn_source source = one.source;
    tn_join_part part = {.file = file, .leaf = leaf, .source = &source};
    tn_chunk_join *join = NULL;
    tn_encoded_chunk chunk = {0};
    tn_join_counts counts = {0};
    column want = {0};
    bool small;
    int read, spliced;

    read = read_chunk(cx, file, 0, leaf, &want, &small);
    if (rows == 0 || read != TARN_OK || !small ||
        tn_leaf_reader_open(cx, file, 0, leaf, &one.source, NULL, &one.reader) != TARN_OK ||
        tn_leaf_reader_next(cx, one.reader, 1, &one.batch) != TARN_OK || one.batch.rows != 1)
        goto done;
    must(tn_chunk_join_open(cx, to, &options, TN_JOIN_COPY, &join) == TARN_OK);
    spliced = tn_chunk_join_splice(cx, join, &part, &splice);
    if (spliced == TARN_OK)
        spliced = tn_chunk_join_finish(cx, join, &chunk, &counts);
    must(spliced == TARN_OK || spliced == TARN_E_LIMIT);
    column_clear(&want);
    must(read_spliced(cx, file, leaf, row.row, row.with == 0 ? &one.batch : NULL, &want) ==
         TARN_OK);
    if (spliced == TARN_OK && want.rows != 0)
        check_chunk(cx, to, &chunk, &want);
done:
    tn_leaf_reader_close(one.reader);
    tn_encoded_chunk_clear(&chunk);
    tn_chunk_join_close(join);
    column_clear(&want);
}

static void join_leaf(tarn_cx *cx, const tn_parquet *file, size_t leaf, uint8_t choice)
{
    size_t groups = file->footer.group_count < CHUNKS_MAX ? file->footer.group_count : CHUNKS_MAX;
    const tn_leaf *to = &file->schema.leaves[leaf];
    tn_chunk_options options = options_of(choice, file->footer.groups[0].columns[leaf].codec);
    int read = TARN_OK, joined = TARN_OK;
    tn_chunk_join *join = NULL;
    tn_encoded_chunk chunk = {0};
    tn_join_counts counts = {0};
    column want = {0};
    bool small = true;

    must(tn_chunk_join_open(cx, to, &options, (enum tn_join_way)((choice >> 5) % TN_JOIN_WAYS),
                            &join) == TARN_OK);
    for (size_t g = 0; g < groups && small && read == TARN_OK; g++)
        read = read_chunk(cx, file, g, leaf, &want, &small);
    for (size_t g = 0; g < groups && small && joined == TARN_OK; g++) {
        tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
        tn_join_part part = {.file = file, .group = g, .leaf = leaf, .source = &source};

        joined = tn_chunk_join_add(cx, join, &part);
    }
    if (small && joined == TARN_OK)
        joined = tn_chunk_join_finish(cx, join, &chunk, &counts);
    /* A page that is moved may need memory where one that is read in parts does not. */
    must(!small || read != TARN_OK || joined == TARN_OK || joined == TARN_E_LIMIT);
    if (small && read == TARN_OK && joined == TARN_OK)
        check_chunk(cx, to, &chunk, &want);
    tn_encoded_chunk_clear(&chunk);
    tn_chunk_join_close(join);
    column_clear(&want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20, .seed = 1});
    tn_parquet file = {0};

    if (size > 0 &&
        tn_parquet_open_memory(cx, data + 1, size - 1, TN_STR("fuzz"), &file) == TARN_OK &&
        file.footer.group_count > 0)
        for (size_t leaf = 0; leaf < file.schema.leaf_count && leaf < CHUNKS_MAX; leaf++) {
            join_leaf(cx, &file, leaf, data[0]);
            splice_leaf(cx, &file, leaf, data[0]);
        }
    tn_parquet_close(&file);
    tarn_cx_close(cx);
    return 0;
}
