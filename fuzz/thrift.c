/* The decoders of Parquet's Thrift structures. The first byte chooses one, the rest is its input.
 * What decodes is encoded and decoded again: the second encoding must equal the first. */
#include <stdlib.h>

#include "codec/parquet/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static __attribute__((noinline)) void fail(void)
{
    abort();
}

static void expect_equal(const tn_buf *a, const tn_buf *b)
{
    if (a->failed || b->failed)
        return;
    if (!tn_str_equal(tn_buf_view(a), tn_buf_view(b)))
        fail();
}

/* Encrypted metadata is noticed, not kept, so such a footer cannot be written again. */
static bool all_readable(const tn_footer *footer)
{
    for (size_t g = 0; g < footer->group_count; g++) {
        for (size_t i = 0; i < footer->groups[g].column_count; i++) {
            if (!footer->groups[g].columns[i].has_meta)
                return false;
        }
    }
    return true;
}

static void try_footer(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_buf first = {0};
    tn_buf second = {0};
    tn_footer footer;

    if (tn_footer_decode(cx, bytes, arena, &footer) != TARN_OK || !all_readable(&footer))
        return;
    tn_footer_encode(&first, &footer);
    if (tn_footer_decode(cx, tn_buf_view(&first), arena, &footer) == TARN_OK)
        tn_footer_encode(&second, &footer);
    else
        fail();
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

static void try_page_header(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_page_header header;
    tn_buf first = {0};
    tn_buf second = {0};
    bool short_input;

    if (tn_page_header_decode(cx, bytes, arena, &header, &short_input) != TARN_OK)
        return;
    if (header.header_bytes > bytes.len)
        fail();
    tn_page_header_encode(&first, &header);
    if (tn_page_header_decode(cx, tn_buf_view(&first), arena, &header, &short_input) != TARN_OK)
        fail();
    tn_page_header_encode(&second, &header);
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

static void try_column_index(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_column_index index;
    tn_buf first = {0};
    tn_buf second = {0};

    if (tn_column_index_decode(cx, bytes, arena, &index) != TARN_OK)
        return;
    tn_column_index_encode(&first, &index);
    if (tn_column_index_decode(cx, tn_buf_view(&first), arena, &index) != TARN_OK)
        fail();
    tn_column_index_encode(&second, &index);
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

static void try_offset_index(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_offset_index index;
    tn_buf first = {0};
    tn_buf second = {0};

    if (tn_offset_index_decode(cx, bytes, arena, &index) != TARN_OK)
        return;
    tn_offset_index_encode(&first, &index);
    if (tn_offset_index_decode(cx, tn_buf_view(&first), arena, &index) != TARN_OK)
        fail();
    tn_offset_index_encode(&second, &index);
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_arena arena = {0};
    tn_str bytes;
    size_t header_bytes;
    int32_t filter_bytes;

    if (cx == NULL || size == 0) {
        tarn_cx_close(cx);
        return 0;
    }
    bytes = (tn_str){(const char *)data + 1, size - 1};
    switch (data[0] % 5) {
    case 0:
        try_footer(cx, bytes, &arena);
        break;
    case 1:
        try_page_header(cx, bytes, &arena);
        break;
    case 2:
        try_column_index(cx, bytes, &arena);
        break;
    case 3:
        try_offset_index(cx, bytes, &arena);
        break;
    default:
        tn_bloom_header_decode(cx, bytes, &header_bytes, &filter_bytes);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}
