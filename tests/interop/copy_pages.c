/* Copies a Parquet file page by page, without decoding values: each chunk's pages go through the
 * chunk writer as ready pages, with their bounds where the file has a column index.
 *
 *     interop_copy_pages FROM TO */
#include <stdio.h>
#include <stdlib.h>

#include "codec/parquet/file_write.h"
#include "codec/parquet/page_read.h"

typedef struct indexes {
    bool has_column, has_offset;
    tn_column_index column;
    tn_offset_index offset;
} indexes;

/* What the file's indexes know of data page `n`. */
static void describe(const tn_leaf *leaf, const indexes *known, size_t n, int64_t group_rows,
                     tn_ready_page *page)
{
    size_t pages = known->offset.pages;

    page->rows = (n + 1 < pages ? known->offset.locations[n + 1].first_row : group_rows) -
                 known->offset.locations[n].first_row;
    page->unencoded_bytes =
        known->offset.unencoded_bytes != NULL ? known->offset.unencoded_bytes[n] : -1;
    page->nulls = -1;
    if (!known->has_column)
        return;
    if (known->column.null_counts != NULL)
        page->nulls = known->column.null_counts[n];
    page->null_page = known->column.null_pages[n];
    page->has_bounds = !page->null_page;
    page->min = known->column.min[n];
    page->max = known->column.max[n];
    if (known->column.rep_histograms != NULL)
        page->rep_histogram = known->column.rep_histograms + n * (leaf->max_rep + 1u);
    if (known->column.def_histograms != NULL)
        page->def_histogram = known->column.def_histograms + n * (leaf->max_def + 1u);
}

static int copy_chunk(tarn_cx *cx, const tn_parquet *file, tn_source *source, size_t group,
                      size_t leaf, tn_encoded_chunk *out)
{
    const tn_leaf *meta = &file->schema.leaves[leaf];
    int64_t rows = file->footer.groups[group].rows;
    tn_chunk_options options = {.codec = file->footer.groups[group].columns[leaf].codec};
    tn_page_reader reader = {0};
    tn_chunk_writer *w = NULL;
    tn_arena arena = {0};
    indexes known = {0};
    size_t n = 0;
    bool ended;
    int rc = TARN_OK;

    TN_TRY(
        tn_parquet_column_index(cx, file, group, leaf, &arena, &known.has_column, &known.column));
    TN_TRY(
        tn_parquet_offset_index(cx, file, group, leaf, &arena, &known.has_offset, &known.offset));
    if (!known.has_offset)
        TN_FAIL(TARN_E_UNSUPPORTED, "the file has no offset index");
    TN_TRY(tn_page_reader_init(cx, &reader, file, group, leaf, source, true));
    TN_TRY(tn_chunk_writer_open(cx, meta, &options, &w));
    for (;;) {
        tn_ready_page page = {0};
        const uint8_t *body;

        TN_TRY(tn_page_reader_header(cx, &reader, &ended));
        if (ended)
            break;
        page.header = reader.header;
        TN_TRY(tn_source_view(cx, source, reader.at + reader.header.header_bytes,
                              (size_t)reader.header.compressed_bytes, &body));
        page.body = (tn_str){(const char *)body, (size_t)reader.header.compressed_bytes};
        if (page.header.type != TN_PAGE_DICTIONARY) {
            page.entries = page.header.values;
            describe(meta, &known, n++, rows, &page);
        }
        TN_TRY(tn_chunk_writer_add_page(cx, w, &page));
        tn_page_reader_pass(&reader);
    }
    TN_TRY(tn_chunk_writer_finish(cx, w, out));
done:
    tn_chunk_writer_close(w);
    tn_page_reader_clear(&reader);
    tn_arena_clear(&arena);
    return rc;
}

static int copy_group(tarn_cx *cx, const tn_parquet *file, tn_source *source, size_t group,
                      tn_parquet_writer *to)
{
    size_t n = file->schema.leaf_count;
    tn_encoded_chunk *chunks = tn_calloc(cx, n, sizeof *chunks);
    int rc = TARN_OK;

    if (chunks == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        TN_TRY(copy_chunk(cx, file, source, group, i, &chunks[i]));
    TN_TRY(tn_parquet_writer_row_group(cx, to, chunks, file->footer.groups[group].rows, NULL, 0));
done:
    for (size_t i = 0; i < n; i++)
        tn_encoded_chunk_clear(&chunks[i]);
    free(chunks);
    return rc;
}

static int run(tarn_cx *cx, const char *from, const char *to)
{
    tn_arena arena = {0};
    tn_store *store = NULL, *store_to = NULL;
    tn_str path, path_to;
    tn_parquet file = {0};
    tn_file *bytes = NULL;
    tn_source source = {0};
    tn_sink *sink = NULL;
    tn_parquet_writer *writer = NULL;
    tn_parquet_write_options options = {0};
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(from), &arena, &store, &path));
    TN_TRY(tn_store_locate(cx, tn_str_of(to), &arena, &store_to, &path_to));
    TN_TRY(tn_parquet_open(cx, store, path, &file));
    TN_TRY(tn_store_open_file(cx, store, path, &bytes));
    source = tn_source_file(bytes, 1 << 16);
    TN_TRY(tn_store_create(cx, store_to, path_to, &sink));
    options.key_values = file.footer.key_values;
    options.key_value_count = file.footer.key_value_count;
    TN_TRY(tn_parquet_writer_open(cx, sink, &file.schema, &options, &writer));
    for (size_t g = 0; g < file.footer.group_count; g++)
        TN_TRY(copy_group(cx, &file, &source, g, writer));
    TN_TRY(tn_parquet_writer_finish(cx, writer));
    TN_TRY(tn_store_finish(cx, sink));
done:
    tn_parquet_writer_close(writer);
    tn_store_close_sink(sink);
    tn_source_clear(&source);
    tn_store_close_file(bytes);
    tn_parquet_close(&file);
    tn_store_close(store);
    tn_store_close(store_to);
    tn_arena_clear(&arena);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    int rc;

    if (argc != 3 || cx == NULL)
        return 2;
    rc = run(cx, argv[1], argv[2]);
    if (rc != TARN_OK)
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}
