/* Test helper: reads leaves of a Parquet file to the end, checks what a batch promises, and prints
 * levels and values as text: a line "repetition definition value" per entry, "-" for no value. */
#ifndef TN_TEST_LEAVES_H
#define TN_TEST_LEAVES_H

#include "unit/test.h"

#include "codec/parquet/file.h"
#include "codec/parquet/leaf_read.h"

typedef struct leaves_options {
    int64_t rows_max;     /* 0: 1000 */
    int64_t skip;         /* rows to pass over before the first batch, */
    int64_t skip_between; /* and before each other one */
    bool keep_dictionary, skip_crc, use_index;
    bool mark;       /* a line "@row" before each batch */
    tn_buf *text;    /* NULL: none */
    tn_store *store; /* read through a window of it; NULL: from memory */
    size_t ahead_bytes;
} leaves_options;

static inline uint8_t *leaves_load(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    uint8_t *bytes;
    long size;

    if (in == NULL)
        fail_msg("%s: cannot be opened", path);
    fseek(in, 0, SEEK_END);
    size = ftell(in);
    rewind(in);
    bytes = malloc(size > 0 ? (size_t)size : 1);
    assert_int_equal(fread(bytes, 1, (size_t)size, in), size);
    fclose(in);
    *len = (size_t)size;
    return bytes;
}

static inline void leaves_hex(tn_buf *text, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        tn_buf_print(text, "%02x", ((const uint8_t *)bytes)[i]);
}

static inline void leaves_value(tn_buf *text, const tn_leaf *leaf, const tn_values *values,
                                size_t i)
{
    switch (leaf->physical) {
    case TN_BOOLEAN:
        tn_buf_print(text, "%u", ((const uint8_t *)values->data)[i]);
        break;
    case TN_INT32:
        tn_buf_print(text, "%d", ((const int32_t *)values->data)[i]);
        break;
    case TN_INT64:
        tn_buf_print(text, "%lld", (long long)((const int64_t *)values->data)[i]);
        break;
    case TN_BYTE_ARRAY: {
        const tn_view *view = (const tn_view *)values->data + i;

        tn_buf_text(text, "x");
        leaves_hex(text, view->ptr, view->len);
        break;
    }
    default:
        tn_buf_text(text, "x");
        leaves_hex(text, (const uint8_t *)values->data + i * tn_leaf_width(leaf),
                   tn_leaf_width(leaf));
    }
}

/* Every promise of leaf.h. Touches all values, for the sanitizers. */
static inline void leaves_check(const tn_leaf *leaf, const tn_leaf_batch *batch, tn_buf *text)
{
    size_t value = 0, rows = 0;
    volatile uint8_t sum = 0;

    for (int64_t i = 0; i < batch->entries; i++) {
        unsigned rep = leaf->max_rep == 0 ? 0 : batch->rep[i];
        unsigned def = batch->def == NULL ? leaf->max_def : batch->def[i];

        assert_true(rep <= leaf->max_rep && def <= leaf->max_def);
        assert_true(!batch->all_present || def == leaf->max_def);
        assert_true(batch->def != NULL || batch->all_present);
        assert_true(i != 0 || rep == 0);
        rows += rep == 0;
        if (text != NULL)
            tn_buf_print(text, "%u %u ", rep, def);
        if (def == leaf->max_def) {
            const tn_values *values = batch->indices != NULL ? &batch->dictionary : &batch->values;
            size_t at = batch->indices != NULL ? batch->indices[value] : value;

            assert_true((int64_t)value < batch->values.count);
            assert_true((int64_t)at < values->count);
            if (text != NULL)
                leaves_value(text, leaf, values, at);
            if (leaf->physical == TN_BYTE_ARRAY) {
                tn_view view = ((const tn_view *)values->data)[at];

                if (view.len != 0)
                    sum = (uint8_t)(sum + view.ptr[0] + view.ptr[view.len - 1]);
            } else {
                sum = (uint8_t)(sum + ((const uint8_t *)values->data)[at * tn_leaf_width(leaf)]);
            }
            value++;
        } else if (text != NULL) {
            tn_buf_text(text, "-");
        }
        if (text != NULL)
            tn_buf_text(text, "\n");
    }
    assert_int_equal(rows, batch->rows);
    assert_int_equal(value, batch->values.count);
    assert_true((batch->dictionary_id != 0) == (batch->indices != NULL));
}

/* One leaf of one row group; *rows counts those given. */
static inline int leaves_read_one(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                                  const leaves_options *options, int64_t *rows)
{
    tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
    tn_leaf_read_options read = {.skip_crc = options->skip_crc,
                                 .keep_dictionary = options->keep_dictionary};
    int64_t left = file->footer.groups[group].rows, n = options->skip < left ? options->skip : left;
    int64_t rows_max = options->rows_max != 0 ? options->rows_max : 1000;
    tn_leaf_reader *reader = NULL;
    tn_offset_index index;
    tn_arena arena = {0};
    tn_file *open = NULL;
    tn_leaf_batch batch;
    bool present = false;
    int rc = TARN_OK;

    *rows = 0;
    if (options->store != NULL) {
        TN_TRY(tn_store_open_file(cx, options->store, file->path, &open));
        source = tn_source_file(open, options->ahead_bytes);
    }
    if (options->use_index)
        TN_TRY(tn_parquet_offset_index(cx, file, group, leaf, &arena, &present, &index));
    if (present)
        read.pages = &index;
    TN_TRY(tn_leaf_reader_open(cx, file, group, leaf, &source, &read, &reader));
    for (;;) {
        if (n != 0)
            TN_TRY(tn_leaf_reader_skip(cx, reader, n));
        left -= n;
        TN_TRY(tn_leaf_reader_next(cx, reader, rows_max, &batch));
        if (batch.rows == 0)
            break;
        assert_true(batch.rows <= rows_max);
        if (options->mark && options->text != NULL)
            tn_buf_print(options->text, "@%lld\n",
                         (long long)(file->footer.groups[group].rows - left));
        leaves_check(&file->schema.leaves[leaf], &batch, options->text);
        *rows += batch.rows;
        left -= batch.rows;
        n = options->skip_between < left ? options->skip_between : left;
    }
done:
    tn_leaf_reader_close(reader);
    tn_arena_clear(&arena);
    tn_source_clear(&source);
    tn_store_close_file(open);
    return rc;
}

/* All leaves of all groups; *rows sums those of the first leaf. */
static inline int leaves_read_all(tarn_cx *cx, const tn_parquet *file,
                                  const leaves_options *options, int64_t *rows)
{
    int rc = TARN_OK;

    *rows = 0;
    for (size_t group = 0; group < file->footer.group_count; group++) {
        for (size_t leaf = 0; leaf < file->schema.leaf_count; leaf++) {
            int64_t some;

            if (options->text != NULL)
                tn_buf_print(options->text, "leaf %.*s group %zu\n",
                             TN_STR_ARG(file->schema.leaves[leaf].dotted), group);
            TN_TRY(leaves_read_one(cx, file, group, leaf, options, &some));
            *rows += leaf == 0 ? some : 0;
        }
    }
done:
    return rc;
}

#endif
