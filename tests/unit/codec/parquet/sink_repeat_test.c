/* A column that repeats another: its chunks have the other's bytes while the values do, and the
 * values of each row are right in any case. */
#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "io/store_memory.h"
#include "unit/test.h"

#include <inttypes.h>

#define ROWS  50000
#define GROUP 20000

typedef struct pair_file {
    tn_store *store;
    struct ArrowSchema schema;
    tn_parquet file;
    tn_buf text; /* of the file */
} pair_file;

/* What row i has; `odd` is the first row where the two columns differ. */
static int spell(int64_t i, bool key, int64_t odd, char out[32])
{
    return snprintf(out, 32, "%s-%08" PRId64, key && i >= odd ? "other" : "row", i * 7919 % ROWS);
}

static void make_column(tarn_cx *cx, bool key, int64_t odd, int64_t first, int64_t rows,
                        struct ArrowArray *out)
{
    tn_block offsets = {0}, data = {0};
    int32_t *end;

    assert_ok(cx, tn_array_init(cx, out, rows, 3, 0));
    assert_ok(cx, tn_block_reserve(cx, &offsets, ((size_t)rows + 1) * 4));
    assert_ok(cx, tn_block_reserve(cx, &data, (size_t)rows * 32));
    offsets.len = ((size_t)rows + 1) * 4;
    end = (int32_t *)(void *)offsets.data;
    *end = 0;
    for (int64_t i = 0; i < rows; i++) {
        data.len += (size_t)spell(first + i, key, odd, (char *)data.data + data.len);
        *++end = (int32_t)data.len;
    }
    assert_ok(cx, tn_array_take_block(cx, out, 1, &offsets));
    assert_ok(cx, tn_array_take_block(cx, out, 2, &data));
}

/* Batches begin 3 rows before what is added of them. */
static void write_pairs(tarn_cx *cx, pair_file *f, const char *format, bool nullable, int64_t odd)
{
    tn_parquet_sink_options options = {.chunk = {.codec = TN_CODEC_ZSTD}, .group_rows = GROUP};
    tn_sink *file;
    tn_parquet_sink *sink;

    assert_ok(cx, tn_store_memory_open(cx, &f->store));
    assert_ok(cx, tn_field_init(cx, &f->schema, "+s", TN_STR(""), false, 2));
    assert_ok(cx, tn_field_init(cx, f->schema.children[0], format, TN_STR("key"), true, 0));
    assert_ok(cx, tn_field_init(cx, f->schema.children[1], format, TN_STR("field"), nullable, 0));
    assert_ok(cx, tn_store_create(cx, f->store, TN_STR("/f"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &f->schema, &options, &sink));
    tn_parquet_sink_repeat(sink, 0, 1);
    for (int64_t at = 0; at < ROWS; at += 7000) {
        int64_t rows = at + 7000 < ROWS ? 7000 : ROWS - at;
        struct ArrowArray batch;

        assert_ok(cx, tn_array_init(cx, &batch, rows, 1, 2));
        make_column(cx, true, odd, at - 3, rows + 3, batch.children[0]);
        make_column(cx, false, odd, at - 3, rows + 3, batch.children[1]);
        batch.offset = 3;
        assert_ok(cx, tn_parquet_sink_add(cx, sink, &batch));
        tn_array_release(&batch);
    }
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    assert_ok(cx, tn_store_get(cx, f->store, TN_STR("/f"), 1u << 24, &f->text));
    assert_ok(cx, tn_parquet_open(cx, f->store, TN_STR("/f"), &f->file));
}

static void close_pairs(pair_file *f)
{
    tn_parquet_close(&f->file);
    tn_buf_clear(&f->text);
    tn_field_release(&f->schema);
    tn_store_close(f->store);
}

static void check_rows(tarn_cx *cx, const pair_file *f, int64_t odd)
{
    tn_parquet_scan_options options = {0};
    struct ArrowArray batch;
    tn_parquet_scan *scan;
    int64_t first, at = 0;

    assert_ok(cx, tn_parquet_scan_open(cx, &f->file, &options, &scan));
    for (;;) {
        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        for (int64_t i = 0; i < batch.length; i++, at++)
            for (int c = 0; c < 2; c++) {
                const int32_t *ends = (const int32_t *)batch.children[c]->buffers[1] + i;
                char want[32];
                int len = spell(at, c == 0, odd, want);

                assert_int_equal(ends[1] - ends[0], len);
                assert_memory_equal((const char *)batch.children[c]->buffers[2] + ends[0], want,
                                    (size_t)len);
            }
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    assert_int_equal(at, ROWS);
    tn_parquet_scan_close(scan);
}

static bool same_bytes(const pair_file *f, size_t group)
{
    const tn_chunk_meta *a = &f->file.footer.groups[group].columns[0], *b = a + 1;

    assert_false(a->has_dictionary_page_offset);
    return a->compressed_bytes == b->compressed_bytes &&
           memcmp(f->text.data + a->data_page_offset, f->text.data + b->data_page_offset,
                  (size_t)a->compressed_bytes) == 0;
}

/* I1 of sink_repeat.c, wherever the columns begin to differ. */
static void test_sink_repeat__gives_the_values_of_each_row(void **state)
{
    static const int64_t odds[] = {ROWS, 0, 1, 6999, 7000, 30000, ROWS - 1};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof odds / sizeof odds[0]; i++) {
        pair_file f = {0};

        write_pairs(cx, &f, "u", true, odds[i]);
        check_rows(cx, &f, odds[i]);
        for (size_t g = 0, end = 0; g < f.file.footer.group_count; g++) {
            end += (size_t)f.file.footer.groups[g].rows;
            assert_int_equal(same_bytes(&f, g), end <= (size_t)odds[i]);
        }
        /* All groups are full, but the one that the difference has ended, and the last. */
        assert_in_range(f.file.footer.group_count, 3, 4);
        close_pairs(&f);
    }
    tarn_cx_close(cx);
}

/* Where levels or types differ the columns are what they are without it. */
static void test_sink_repeat__leaves_unlike_columns_alone(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    pair_file f = {0};

    (void)state;
    write_pairs(cx, &f, "u", false, ROWS);
    check_rows(cx, &f, ROWS);
    assert_false(same_bytes(&f, 0));
    close_pairs(&f);
    f = (pair_file){0};
    write_pairs(cx, &f, "z", true, ROWS);
    check_rows(cx, &f, ROWS);
    close_pairs(&f);
    tarn_cx_close(cx);
}
