/* Rows for tests of routing and writing: every value follows from the row's number, so that a row
 * read back tells whether it is whole.
 *
 *   id int64, dt string?, hour int32, txt string?, flag bool?, nums list<int64>?, s struct<a, b> */
#ifndef TN_TEST_ROWS_H
#define TN_TEST_ROWS_H

#include "batch/field.h"
#include "batch/rows.h"
#include "codec/parquet/arrow.h"
#include "io/store.h"
#include "task/write.h"
#include "unit/test.h"

typedef struct rows_shape {
    const char *const *names; /* values of dt; NULL: null */
    size_t name_count;
    int32_t hours;
    bool clustered;  /* dt changes slowly */
    bool dictionary; /* dt and txt are dictionary-encoded */
} rows_shape;

static inline size_t rows_name(const rows_shape *shape, int64_t id)
{
    if (shape->clustered)
        return (size_t)(id / 1000) % shape->name_count;
    return (size_t)((uint64_t)id * 0x9E3779B97F4A7C15u >> 40) % shape->name_count;
}

static inline int32_t rows_hour(const rows_shape *shape, int64_t id)
{
    return (int32_t)((uint64_t)id * 0xC2B2AE3D27D4EB4Fu >> 33) % shape->hours;
}

static inline size_t rows_text(int64_t id, char *out)
{
    return (size_t)sprintf(out, "%0*lld", (int)(id % 23) + 1, (long long)id);
}

static inline void rows_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, const void *bytes,
                               size_t len)
{
    tn_block block = {0};

    assert_ok(cx, tn_block_reserve(cx, &block, len + 1));
    memcpy(block.data, bytes, len);
    block.len = len;
    assert_ok(cx, tn_array_take_block(cx, array, i, &block));
}

/* --- the schema --- */

static inline void rows_field(tarn_cx *cx, struct ArrowSchema *parent, int64_t c, const char *name,
                              const char *format, bool nullable, size_t children)
{
    assert_ok(cx,
              tn_field_init(cx, parent->children[c], format, tn_str_of(name), nullable, children));
}

static inline void rows_schema(tarn_cx *cx, const rows_shape *shape, struct ArrowSchema *out)
{
    assert_ok(cx, tn_field_init(cx, out, "+s", TN_STR(""), false, 7));
    rows_field(cx, out, 0, "id", "l", false, 0);
    rows_field(cx, out, 1, "dt", shape->dictionary ? "i" : "u", true, 0);
    rows_field(cx, out, 2, "hour", "i", false, 0);
    rows_field(cx, out, 3, "txt", shape->dictionary ? "s" : "u", true, 0);
    rows_field(cx, out, 4, "flag", "b", true, 0);
    rows_field(cx, out, 5, "nums", "+l", true, 1);
    rows_field(cx, out->children[5], 0, "item", "l", false, 0);
    rows_field(cx, out, 6, "s", "+s", true, 2);
    rows_field(cx, out->children[6], 0, "a", "i", true, 0);
    rows_field(cx, out->children[6], 1, "b", "U", false, 0);
    for (int64_t c = 1; shape->dictionary && c <= 3; c += 2) {
        assert_ok(cx, tn_field_make_dictionary(cx, out->children[c]));
        assert_ok(cx, tn_field_init(cx, out->children[c]->dictionary, "u", TN_STR(""), true, 0));
    }
}

/* --- the columns --- */

static inline void rows_validity(tarn_cx *cx, struct ArrowArray *array, int64_t first, int64_t rows,
                                 int64_t every)
{
    uint8_t *bits = calloc(1, (size_t)rows / 8 + 1);

    for (int64_t i = 0; i < rows; i++)
        if ((first + i) % every != 0)
            tn_bit_set(bits, i);
        else
            array->null_count++;
    rows_buffer(cx, array, 0, bits, (size_t)rows / 8 + 1);
    free(bits);
}

static inline void rows_texts(tarn_cx *cx, struct ArrowArray *array, char *const *texts,
                              int64_t rows, bool large)
{
    tn_buf data = {0};
    int64_t *offsets = calloc((size_t)rows + 1, 8);

    for (int64_t i = 0; i < rows; i++) {
        tn_buf_text(&data, texts[i] != NULL ? texts[i] : "");
        offsets[i + 1] = (int64_t)data.len;
    }
    for (int64_t i = 0; !large && i <= rows; i++)
        ((int32_t *)(void *)offsets)[i] = (int32_t)offsets[i];
    rows_buffer(cx, array, 1, offsets, ((size_t)rows + 1) * (large ? 8 : 4));
    rows_buffer(cx, array, 2, data.data != NULL ? data.data : (const uint8_t *)"", data.len);
    free(offsets);
    tn_buf_clear(&data);
}

/* Texts as a column, or as indices of `width` bytes and a dictionary of each row's own value. */
static inline void rows_text_column(tarn_cx *cx, struct ArrowArray *array, char *const *texts,
                                    int64_t rows, size_t width)
{
    uint8_t *bits = calloc(1, (size_t)rows / 8 + 1);

    assert_ok(cx, tn_array_init(cx, array, rows, width != 0 ? 2 : 3, 0));
    for (int64_t i = 0; i < rows; i++)
        if (texts[i] != NULL)
            tn_bit_set(bits, i);
        else
            array->null_count++;
    rows_buffer(cx, array, 0, bits, (size_t)rows / 8 + 1);
    free(bits);
    if (width == 0) {
        rows_texts(cx, array, texts, rows, false);
        return;
    }
    {
        int32_t *indices = calloc((size_t)rows + 1, sizeof *indices);

        for (int64_t i = 0; i < rows; i++) {
            if (width == 4)
                indices[i] = (int32_t)i;
            else
                ((int16_t *)(void *)indices)[i] = (int16_t)i;
        }
        rows_buffer(cx, array, 1, indices, (size_t)rows * width);
        free(indices);
    }
    assert_ok(cx, tn_array_make_dictionary(cx, array));
    assert_ok(cx, tn_array_init(cx, array->dictionary, rows, 3, 0));
    rows_texts(cx, array->dictionary, texts, rows, false);
}

static inline void rows_fixed(tarn_cx *cx, struct ArrowArray *array, const void *values,
                              size_t width, int64_t rows)
{
    assert_ok(cx, tn_array_init(cx, array, rows, 2, 0));
    rows_buffer(cx, array, 1, values, width * (size_t)rows);
}

static inline void rows_lists(tarn_cx *cx, struct ArrowArray *array, int64_t first, int64_t rows)
{
    int32_t *offsets = calloc((size_t)rows + 1, sizeof *offsets);
    int64_t *items = calloc((size_t)rows * 5 + 1, sizeof *items);
    int32_t n = 0;

    assert_ok(cx, tn_array_init(cx, array, rows, 2, 1));
    rows_validity(cx, array, first, rows, 11);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < (first + i) % 5; k++)
            items[n++] = (first + i) * 10 + k;
        offsets[i + 1] = n;
    }
    rows_buffer(cx, array, 1, offsets, ((size_t)rows + 1) * 4);
    rows_fixed(cx, array->children[0], items, 8, n);
    free(offsets);
    free(items);
}

static inline void rows_structs(tarn_cx *cx, struct ArrowArray *array, int64_t first, int64_t rows,
                                char *const *texts)
{
    int32_t *a = calloc((size_t)rows + 1, sizeof *a);

    for (int64_t i = 0; i < rows; i++)
        a[i] = (int32_t)(first + i) * 3;
    assert_ok(cx, tn_array_init(cx, array, rows, 1, 2));
    rows_validity(cx, array, first, rows, 13);
    rows_fixed(cx, array->children[0], a, 4, rows);
    assert_ok(cx, tn_array_init(cx, array->children[1], rows, 3, 0));
    rows_texts(cx, array->children[1], texts, rows, true);
    free(a);
}

/* Rows [first, first + rows). */
static inline void rows_batch(tarn_cx *cx, const rows_shape *shape, int64_t first, int64_t rows,
                              struct ArrowArray *out)
{
    int64_t *ids = calloc((size_t)rows + 1, sizeof *ids);
    int32_t *hours = calloc((size_t)rows + 1, sizeof *hours);
    uint8_t *flags = calloc(1, (size_t)rows / 8 + 1);
    char **names = calloc((size_t)rows + 1, sizeof *names);
    char **texts = calloc((size_t)rows + 1, sizeof *texts);
    char **all = calloc((size_t)rows + 1, sizeof *all);
    char *text = malloc((size_t)rows * 32 + 1), *at = text;

    for (int64_t i = 0; i < rows; i++) {
        int64_t id = first + i;

        ids[i] = id;
        hours[i] = rows_hour(shape, id);
        if (id % 3 == 0)
            tn_bit_set(flags, i);
        names[i] = (char *)(uintptr_t)shape->names[rows_name(shape, id)];
        all[i] = at;
        texts[i] = id % 7 == 0 ? NULL : at;
        at += rows_text(id, at) + 1;
    }
    assert_ok(cx, tn_array_init(cx, out, rows, 1, 7));
    rows_fixed(cx, out->children[0], ids, 8, rows);
    rows_text_column(cx, out->children[1], names, rows, shape->dictionary ? 4 : 0);
    rows_fixed(cx, out->children[2], hours, 4, rows);
    rows_text_column(cx, out->children[3], texts, rows, shape->dictionary ? 2 : 0);
    assert_ok(cx, tn_array_init(cx, out->children[4], rows, 2, 0));
    rows_validity(cx, out->children[4], first, rows, 17);
    rows_buffer(cx, out->children[4], 1, flags, (size_t)rows / 8 + 1);
    rows_lists(cx, out->children[5], first, rows);
    rows_structs(cx, out->children[6], first, rows, all);
    free(ids);
    free(hours);
    free(flags);
    free(names);
    free(texts);
    free(all);
    free(text);
}

/* --- a stream of them --- */

typedef struct rows_source {
    tarn_cx *cx;
    const rows_shape *shape;
    int64_t rows, at;
    int64_t batch_rows; /* batches have up to so many; < 0: always so many */
    uint64_t seed;
    struct ArrowArrayStream stream;
} rows_source;

static inline int rows_get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    rows_source *source = self->private_data;

    rows_schema(source->cx, source->shape, out);
    return 0;
}

static inline int rows_get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    rows_source *source = self->private_data;
    int64_t most = source->batch_rows < 0 ? -source->batch_rows : source->batch_rows, rows;

    memset(out, 0, sizeof *out);
    if (source->at == source->rows)
        return 0;
    source->seed = source->seed * 6364136223846793005u + 1442695040888963407u;
    rows = source->batch_rows < 0 ? most : (int64_t)(source->seed >> 33) % most + 1;
    rows = rows < source->rows - source->at ? rows : source->rows - source->at;
    rows_batch(source->cx, source->shape, source->at, rows, out);
    source->at += rows;
    /* Some batches are windows into larger ones. */
    if (rows > 3 && source->seed >> 62 == 0) {
        tn_array_release(out);
        rows_batch(source->cx, source->shape, source->at - rows, rows + 2, out);
        out->length = rows;
    }
    return 0;
}

static inline const char *rows_last_error(struct ArrowArrayStream *self)
{
    (void)self;
    return NULL;
}

static inline void rows_release(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

static inline void rows_open(rows_source *source)
{
    source->stream = (struct ArrowArrayStream){.get_schema = rows_get_schema,
                                               .get_next = rows_get_next,
                                               .get_last_error = rows_last_error,
                                               .release = rows_release,
                                               .private_data = source};
}

/* --- what was written --- */

/* Row `i` of a batch read back holds what rows_batch made of its id, which is given back. Columns:
 * id, [dt, hour,] txt, flag, nums, s. */
static inline int64_t rows_check(const struct ArrowArray *batch, int64_t i, int64_t keys)
{
    const struct ArrowArray *txt = batch->children[1 + keys], *flag = batch->children[2 + keys];
    const struct ArrowArray *nums = batch->children[3 + keys], *s = batch->children[4 + keys];
    int64_t id = ((const int64_t *)batch->children[0]->buffers[1])[batch->children[0]->offset + i];
    const int32_t *offsets;
    char want[64];
    size_t len = rows_text(id, want);

    assert_int_equal(tn_rows_is_null(txt, txt->offset + i), id % 7 == 0);
    if (id % 7 != 0 && txt->dictionary == NULL) {
        offsets = (const int32_t *)txt->buffers[1] + txt->offset + i;
        assert_int_equal(offsets[1] - offsets[0], len);
        assert_memory_equal((const char *)txt->buffers[2] + offsets[0], want, len);
    }
    assert_int_equal(tn_rows_is_null(flag, flag->offset + i), id % 17 == 0);
    if (id % 17 != 0)
        assert_int_equal(tn_bit(flag->buffers[1], flag->offset + i), id % 3 == 0);
    assert_int_equal(tn_rows_is_null(nums, nums->offset + i), id % 11 == 0);
    offsets = (const int32_t *)nums->buffers[1] + nums->offset + i;
    if (id % 11 != 0) {
        const struct ArrowArray *items = nums->children[0];

        assert_int_equal(offsets[1] - offsets[0], id % 5);
        for (int64_t k = 0; k < id % 5; k++)
            assert_int_equal(((const int64_t *)items->buffers[1])[items->offset + offsets[0] + k],
                             id * 10 + k);
    }
    assert_int_equal(tn_rows_is_null(s, s->offset + i), id % 13 == 0);
    if (id % 13 != 0) {
        const struct ArrowArray *a = s->children[0];

        assert_int_equal(((const int32_t *)a->buffers[1])[a->offset + s->offset + i],
                         (int32_t)(id * 3));
    }
    return id;
}

/* Reads a staged file; appends the ids of its rows. */
static inline void rows_read(tarn_cx *cx, tn_store *store, tn_str path, int64_t keys, tn_buf *ids)
{
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    struct ArrowArray batch = {0};

    assert_ok(cx, tn_parquet_open(cx, store, path, &file));
    assert_ok(cx, tn_parquet_scan_open(cx, &file, NULL, &scan));
    for (;;) {
        int64_t first;

        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        for (int64_t i = 0; i < batch.length; i++) {
            int64_t id = rows_check(&batch, i, keys);

            tn_buf_add(ids, &id, sizeof id);
        }
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
}

#endif
