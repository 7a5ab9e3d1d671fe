/* docs/format/hudi-base-file.md: chunks of the page's examples have the page's bytes; and chunks
 * made by rule are read as the values that the rule gives. */
#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "unit/codec/parquet/joins.h"
#include "unit/hex.h"

#include <inttypes.h>

typedef struct text_file {
    tn_store *store;
    struct ArrowSchema schema;
    tn_parquet file;
} text_file;

static void check_example(const char *name, const tn_made *made, int64_t rows)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf want = hex_of_page("hudi-base-file.md", name), got = {0};
    tn_chunk_options options = {0};
    tn_encoded_chunk chunk = {0};
    joins_schema schema;

    joins_schema_open(cx, &schema, JOINS_OPTIONAL,
                      (tn_element){.physical = TN_BYTE_ARRAY, .logical = TN_LOGICAL_STRING});
    assert_ok(cx, tn_chunk_made(cx, schema.leaf, &options, made, rows, &chunk));
    for (size_t i = 0; i < chunk.piece_count; i++)
        tn_buf_str(&got, tn_buf_view(&chunk.pieces[i]));
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.data, want.data, want.len);
    tn_encoded_chunk_clear(&chunk);
    joins_schema_close(&schema);
    tn_buf_clear(&got);
    tn_buf_clear(&want);
    tarn_cx_close(cx);
}

static void test_chunk_made__has_the_bytes_of_the_page(void **state)
{
    tn_made same = {.kind = TN_MADE_SAME, .text = TN_STR("dt=1")};
    tn_made series = {.kind = TN_MADE_SERIES, .text = TN_STR("20_0_"), .first = 8};
    tn_made null = {.kind = TN_MADE_NULL};

    (void)state;
    check_example("same", &same, 3);
    check_example("series", &series, 4);
    check_example("null", &null, 3);
}

/* --- through files --- */

static void spell(const tn_made *made, int64_t i, char out[64])
{
    snprintf(out, 64, "%.*s", TN_STR_ARG(made->text));
    if (made->kind == TN_MADE_SERIES)
        snprintf(out + made->text.len, 64 - made->text.len, "%" PRId64, made->first + i);
}

/* Texts of the rule as values. */
static void make_batch(tarn_cx *cx, const tn_made *made, int64_t first, int64_t rows,
                       struct ArrowArray *out)
{
    tn_block offsets = {0}, data = {0};
    int32_t *end;

    assert_ok(cx, tn_array_init(cx, out, rows, 1, 1));
    assert_ok(cx, tn_array_init(cx, out->children[0], rows, 3, 0));
    assert_ok(cx, tn_block_reserve(cx, &offsets, ((size_t)rows + 1) * 4));
    assert_ok(cx, tn_block_reserve(cx, &data, (size_t)rows * 64));
    offsets.len = ((size_t)rows + 1) * 4;
    end = (int32_t *)(void *)offsets.data;
    *end = 0;
    for (int64_t i = 0; i < rows; i++) {
        char text[64];

        spell(made, first + i, text);
        memcpy(data.data + data.len, text, strlen(text));
        data.len += strlen(text);
        *++end = (int32_t)data.len;
    }
    assert_ok(cx, tn_array_take_block(cx, out->children[0], 1, &offsets));
    assert_ok(cx, tn_array_take_block(cx, out->children[0], 2, &data));
}

/* A file of `rows` rows: by rule those of [from, to), as values the others. */
static void write_file(tarn_cx *cx, text_file *f, const tn_made *made, int64_t rows, int64_t from,
                       int64_t to)
{
    const int64_t ends[] = {from, to, rows};
    tn_parquet_sink_options options = {.chunk = {.codec = TN_CODEC_ZSTD}, .group_rows = 100000};
    tn_sink *file;
    tn_parquet_sink *sink;
    struct ArrowArray batch;
    int64_t at = 0;

    assert_ok(cx, tn_store_memory_open(cx, &f->store));
    assert_ok(cx, tn_field_init(cx, &f->schema, "+s", TN_STR(""), false, 1));
    assert_ok(cx, tn_field_init(cx, f->schema.children[0], "u", TN_STR("c"), true, 0));
    assert_ok(cx, tn_store_create(cx, f->store, TN_STR("/f"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &f->schema, &options, &sink));
    for (size_t i = 0; i < 3; i++) {
        tn_made rule = *made;

        rule.first += at;
        assert_ok(cx, tn_parquet_sink_make(cx, sink, 0, i == 1 ? &rule : NULL));
        make_batch(cx, made, at, ends[i] - at, &batch);
        assert_ok(cx, tn_parquet_sink_add(cx, sink, &batch));
        tn_array_release(&batch);
        at = ends[i];
    }
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    assert_ok(cx, tn_parquet_open(cx, f->store, TN_STR("/f"), &f->file));
}

static void close_file(text_file *f)
{
    tn_parquet_close(&f->file);
    tn_field_release(&f->schema);
    tn_store_close(f->store);
}

static void check_values(tarn_cx *cx, const text_file *f, const tn_made *made, int64_t rows)
{
    tn_parquet_scan_options options = {0};
    struct ArrowArray batch;
    tn_parquet_scan *scan;
    int64_t first, at = 0;

    assert_ok(cx, tn_parquet_scan_open(cx, &f->file, &options, &scan));
    for (;;) {
        const int32_t *ends;

        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        ends = batch.children[0]->buffers[1];
        for (int64_t i = 0; i < batch.length; i++, at++) {
            char text[64];

            spell(made, at, text);
            assert_int_equal(ends[i + 1] - ends[i], strlen(text));
            assert_memory_equal((const char *)batch.children[0]->buffers[2] + ends[i], text,
                                strlen(text));
        }
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    assert_int_equal(at, rows);
    tn_parquet_scan_close(scan);
}

/* I1 of chunk_made.c: bounds and counts are those of the values, however the rows came. */
static void test_chunk_made__is_read_as_its_values(void **state)
{
    static const tn_made rules[] = {
        {.kind = TN_MADE_SAME, .text = {"20260101000000000", 17}},
        {.kind = TN_MADE_SAME, .text = {"", 0}},
        {.kind = TN_MADE_SERIES, .text = {"20260101000000000_0_", 20}, .first = 0},
        {.kind = TN_MADE_SERIES, .text = {"x", 1}, .first = 95},
        {.kind = TN_MADE_SERIES, .text = {"", 0}, .first = 999999990}};
    static const int64_t cuts[][2] = {{0, 120000}, {0, 50000}, {70000, 120000}, {30, 31}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        text_file plain = {0};

        write_file(cx, &plain, &rules[r], 120000, 0, 0);
        for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
            text_file made = {0};

            write_file(cx, &made, &rules[r], 120000, cuts[c][0], cuts[c][1]);
            check_values(cx, &made, &rules[r], 120000);
            assert_int_equal(made.file.footer.group_count, plain.file.footer.group_count);
            for (size_t g = 0; g < made.file.footer.group_count; g++) {
                const tn_statistics *a = &made.file.footer.groups[g].columns[0].statistics;
                const tn_statistics *b = &plain.file.footer.groups[g].columns[0].statistics;

                assert_int_equal(a->null_count, b->null_count);
                assert_true(tn_str_equal(a->min_value, b->min_value));
                assert_true(tn_str_equal(a->max_value, b->max_value));
            }
            close_file(&made);
        }
        close_file(&plain);
    }
    tarn_cx_close(cx);
}
