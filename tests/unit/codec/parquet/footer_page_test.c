/* The bytes of docs/format/parquet-footer.md, decoded and encoded. */
#include "unit/hex.h"

#include "codec/parquet/file.h"

static void test_footer_page__whole_file(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("parquet-footer.md", "whole-file");
    tn_arena arena = {0};
    tn_page_header header;
    tn_buf again = {0};
    uint64_t offset, length;
    bool short_input;
    tn_parquet file;

    (void)state;
    assert_ok(cx, tn_parquet_open_memory(cx, bytes.data, bytes.len, TN_STR("page"), &file));
    assert_int_equal(file.footer_offset, 25);
    assert_int_equal(file.footer.rows, 1);
    assert_int_equal(file.schema.leaf_count, 1);
    assert_true(tn_str_is(file.schema.leaves[0].dotted, "a"));
    assert_int_equal(file.schema.leaves[0].physical, TN_INT32);
    assert_ok(cx, tn_parquet_chunk_span(cx, &file, 0, 0, &offset, &length));
    assert_int_equal(offset, 4);
    assert_int_equal(length, 21);
    assert_ok(cx, tn_page_header_decode(cx, (tn_str){(char *)bytes.data + 4, 21}, &arena, &header,
                                        &short_input));
    assert_int_equal(header.header_bytes, 17);
    assert_int_equal(header.values, 1);
    assert_int_equal(header.compressed_bytes, 4);
    tn_page_header_encode(&again, &header);
    assert_int_equal(again.len, 17);
    assert_memory_equal(again.data, bytes.data + 4, 17);
    tn_buf_reset(&again);
    tn_footer_encode(&again, &file.footer);
    assert_int_equal(again.len, file.footer_bytes);
    assert_memory_equal(again.data, bytes.data + 25, again.len);
    tn_buf_clear(&again);
    tn_arena_clear(&arena);
    tn_parquet_close(&file);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_footer_page__column_index(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("parquet-footer.md", "column-index");
    tn_arena arena = {0};
    tn_column_index index;
    tn_buf again = {0};

    (void)state;
    assert_ok(cx, tn_column_index_decode(cx, tn_buf_view(&bytes), &arena, &index));
    assert_int_equal(index.pages, 2);
    assert_false(index.null_pages[0]);
    assert_true(index.null_pages[1]);
    assert_true(tn_str_is(index.min[0], "\5"));
    assert_true(tn_str_is(index.max[0], "\11"));
    assert_int_equal(index.boundary_order, TN_ASCENDING);
    assert_int_equal(index.null_counts[1], 3);
    tn_column_index_encode(&again, &index);
    assert_true(tn_str_equal(tn_buf_view(&again), tn_buf_view(&bytes)));
    tn_buf_clear(&again);
    tn_buf_clear(&bytes);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_footer_page__offset_index(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("parquet-footer.md", "offset-index");
    tn_arena arena = {0};
    tn_offset_index index;
    tn_buf again = {0};

    (void)state;
    assert_ok(cx, tn_offset_index_decode(cx, tn_buf_view(&bytes), &arena, &index));
    assert_int_equal(index.pages, 2);
    assert_int_equal(index.locations[1].offset, 104);
    assert_int_equal(index.locations[1].bytes, 100);
    assert_int_equal(index.locations[1].first_row, 7);
    tn_offset_index_encode(&again, &index);
    assert_true(tn_str_equal(tn_buf_view(&again), tn_buf_view(&bytes)));
    tn_buf_clear(&again);
    tn_buf_clear(&bytes);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_footer_page__bloom_header(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = hex_of_page("parquet-footer.md", "bloom-header");
    tn_buf again = {0};
    size_t used;
    int32_t size;

    (void)state;
    assert_ok(cx, tn_bloom_header_decode(cx, tn_buf_view(&bytes), &used, &size));
    assert_int_equal(used, bytes.len);
    assert_int_equal(size, 32);
    tn_bloom_header_encode(&again, 32);
    assert_true(tn_str_equal(tn_buf_view(&again), tn_buf_view(&bytes)));
    bytes.data[3] = 0x2c; /* the algorithm's member 2 */
    assert_fails(cx, TARN_E_UNSUPPORTED, "algorithm 2",
                 tn_bloom_header_decode(cx, tn_buf_view(&bytes), &used, &size));
    tn_buf_clear(&again);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}
