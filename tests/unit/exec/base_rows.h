/* Rows of a Hudi table for tests: every value follows from the key's number and a version, so that
 * a row read back tells whether it is whole.
 *
 *   five meta columns, id int64, ts int64?, txt string?, amount decimal(10,2)?, nums list<int64>?
 */
#ifndef TN_TEST_BASE_ROWS_H
#define TN_TEST_BASE_ROWS_H

#include "batch/field.h"
#include "batch/rows.h"
#include "codec/parquet/arrow.h"
#include "exec/base_file.h"
#include "io/store_memory.h"
#include "unit/test.h"

/* Texts of versions from BASE_WIDE on are that wide, too. */
enum { BASE_WIDE = 900, BASE_TEXT = 1024 };
enum { BASE_COLUMNS = 10, BASE_ID = 5, BASE_TS, BASE_TXT, BASE_AMOUNT, BASE_NUMS };

typedef struct base_row {
    int64_t key;
    int64_t version;
    int64_t ts; /* negative: null */
    const char *commit;
} base_row;

static inline void base_field(tarn_cx *cx, struct ArrowSchema *parent, int64_t c, const char *name,
                              const char *format, bool nullable, size_t children)
{
    assert_ok(cx,
              tn_field_init(cx, parent->children[c], format, tn_str_of(name), nullable, children));
}

static inline void base_schema(tarn_cx *cx, struct ArrowSchema *out)
{
    static const char *const meta[] = {"_hoodie_commit_time", "_hoodie_commit_seqno",
                                       "_hoodie_record_key", "_hoodie_partition_path",
                                       "_hoodie_file_name"};

    assert_ok(cx, tn_field_init(cx, out, "+s", TN_STR(""), false, BASE_COLUMNS));
    for (int64_t c = 0; c < 5; c++)
        base_field(cx, out, c, meta[c], "u", true, 0);
    base_field(cx, out, BASE_ID, "id", "l", false, 0);
    base_field(cx, out, BASE_TS, "ts", "l", true, 0);
    base_field(cx, out, BASE_TXT, "txt", "u", true, 0);
    base_field(cx, out, BASE_AMOUNT, "amount", "d:10,2", true, 0);
    base_field(cx, out, BASE_NUMS, "nums", "+l", true, 1);
    base_field(cx, out->children[BASE_NUMS], 0, "element", "l", true, 0);
}

static inline size_t base_key(int64_t key, char *out)
{
    return (size_t)sprintf(out, "key-%08lld", (long long)key);
}

static inline bool base_txt(int64_t key, int64_t version, char *out)
{
    int len = sprintf(out, "text %lld of %lld %.*s", (long long)version, (long long)key,
                      (int)(key % 40), "........................................");

    for (uint64_t i = 0, x = (uint64_t)key + 1; version >= BASE_WIDE && i < BASE_WIDE - 200; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        out[len++] = (char)('a' + (x >> 59) % 26);
        out[len] = '\0';
    }
    return (key + version) % 7 != 0;
}

static inline void base_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, const void *bytes,
                               size_t len)
{
    tn_block block = {0};

    assert_ok(cx, tn_block_reserve(cx, &block, len + 1));
    memcpy(block.data, bytes, len);
    block.len = len;
    assert_ok(cx, tn_array_take_block(cx, array, i, &block));
}

/* Text column; NULL: null. */
static inline void base_texts(tarn_cx *cx, struct ArrowArray *array, char *const *texts,
                              int64_t rows)
{
    int32_t *offsets = calloc((size_t)rows + 1, 4);
    uint8_t *bits = calloc(1, (size_t)rows / 8 + 1);
    tn_buf data = {0};

    assert_ok(cx, tn_array_init(cx, array, rows, 3, 0));
    for (int64_t i = 0; i < rows; i++) {
        if (texts[i] != NULL) {
            tn_bit_set(bits, i);
            tn_buf_text(&data, texts[i]);
        } else {
            array->null_count++;
        }
        offsets[i + 1] = (int32_t)data.len;
    }
    base_buffer(cx, array, 0, bits, (size_t)rows / 8 + 1);
    base_buffer(cx, array, 1, offsets, ((size_t)rows + 1) * 4);
    base_buffer(cx, array, 2, data.data != NULL ? data.data : (const uint8_t *)"", data.len);
    free(offsets);
    free(bits);
    tn_buf_clear(&data);
}

static inline void base_fixed(tarn_cx *cx, struct ArrowArray *array, const void *values,
                              const uint8_t *valid, size_t width, int64_t rows)
{
    assert_ok(cx, tn_array_init(cx, array, rows, 2, 0));
    base_buffer(cx, array, 1, values, width * (size_t)rows);
    if (valid == NULL)
        return;
    base_buffer(cx, array, 0, valid, (size_t)rows / 8 + 1);
    array->null_count = rows - tn_bits_count(valid, 0, rows);
}

static inline void base_fill(tarn_cx *cx, const base_row *of, int64_t n, struct ArrowArray *out)
{
    int64_t *longs = calloc((size_t)n * 4 + 2, 8);
    int32_t *offsets = calloc((size_t)n + 1, 4);
    uint8_t *valid = calloc(1, (size_t)n / 8 + 1);
    int32_t items = 0;

    for (int64_t i = 0; i < n; i++)
        longs[i] = of[i].key;
    base_fixed(cx, out->children[BASE_ID], longs, NULL, 8, n);
    for (int64_t i = 0; i < n; i++) {
        longs[i] = of[i].ts < 0 ? 0 : of[i].ts;
        if (of[i].ts >= 0)
            tn_bit_set(valid, i);
    }
    base_fixed(cx, out->children[BASE_TS], longs, valid, 8, n);
    memset(longs, 0, (size_t)n * 16);
    for (int64_t i = 0; i < n; i++) {
        longs[2 * i] = of[i].key * 100 + of[i].version;
        if (of[i].version % 2 != 0)
            longs[2 * i] = -longs[2 * i];
        longs[2 * i + 1] = longs[2 * i] < 0 ? -1 : 0;
    }
    memset(valid, 0xFF, (size_t)n / 8 + 1);
    base_fixed(cx, out->children[BASE_AMOUNT], longs, valid, 16, n);
    assert_ok(cx, tn_array_init(cx, out->children[BASE_NUMS], n, 2, 1));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < of[i].key % 4; k++)
            longs[items++] = of[i].key * 10 + k + of[i].version;
        offsets[i + 1] = items;
    }
    base_buffer(cx, out->children[BASE_NUMS], 1, offsets, ((size_t)n + 1) * 4);
    base_fixed(cx, out->children[BASE_NUMS]->children[0], longs, NULL, 8, items);
    free(longs);
    free(offsets);
    free(valid);
}

/* Rows as they come in: the key and partition columns filled, the other meta columns null. */
static inline void base_batch(tarn_cx *cx, const base_row *of, int64_t n, const char *partition,
                              struct ArrowArray *out)
{
    char **texts = calloc((size_t)n + 1, sizeof *texts), *all = malloc((size_t)n * BASE_TEXT + 1);

    assert_ok(cx, tn_array_init(cx, out, n, 1, BASE_COLUMNS));
    for (int64_t c = 0; c < 5; c++) {
        for (int64_t i = 0; i < n; i++) {
            texts[i] = c == 2 || c == 3 ? all + i * BASE_TEXT : NULL;
            if (c == 2)
                base_key(of[i].key, texts[i]);
            if (c == 3)
                strcpy(texts[i], partition);
        }
        base_texts(cx, out->children[c], texts, n);
    }
    for (int64_t i = 0; i < n; i++)
        texts[i] =
            base_txt(of[i].key, of[i].version, all + i * BASE_TEXT) ? all + i * BASE_TEXT : NULL;
    base_texts(cx, out->children[BASE_TXT], texts, n);
    base_fill(cx, of, n, out);
    free(texts);
    free(all);
}

/* --- reading back --- */

static inline void base_same_text(const struct ArrowArray *column, int64_t i, const char *want)
{
    const int32_t *offsets = (const int32_t *)column->buffers[1] + column->offset + i;
    tn_str text = {(const char *)column->buffers[2] + offsets[0],
                   (size_t)(offsets[1] - offsets[0])};

    if (want == NULL) {
        assert_true(tn_rows_is_null(column, column->offset + i));
        return;
    }
    assert_false(tn_rows_is_null(column, column->offset + i));
    if (!tn_str_is(text, want))
        fail_msg("row %lld: \"%.*s\", not \"%s\"", (long long)i, TN_STR_ARG(text), want);
}

static inline void base_same_row(const struct ArrowArray *rows, int64_t i, const base_row *want)
{
    const struct ArrowArray *nums = rows->children[BASE_NUMS], *items = nums->children[0];
    const int32_t *ends = (const int32_t *)nums->buffers[1] + nums->offset + i;
    int64_t amount = want->key * 100 + want->version, value;
    char text[BASE_TEXT];

    base_key(want->key, text);
    base_same_text(rows->children[2], i, text);
    assert_int_equal(((const int64_t *)rows->children[BASE_ID]->buffers[1])[i], want->key);
    if (want->ts < 0)
        assert_true(tn_rows_is_null(rows->children[BASE_TS], i));
    else
        assert_int_equal(((const int64_t *)rows->children[BASE_TS]->buffers[1])[i], want->ts);
    base_same_text(rows->children[BASE_TXT], i,
                   base_txt(want->key, want->version, text) ? text : NULL);
    memcpy(&value, (const uint8_t *)rows->children[BASE_AMOUNT]->buffers[1] + 16 * i, 8);
    assert_int_equal(value, want->version % 2 != 0 ? -amount : amount);
    assert_int_equal(ends[1] - ends[0], want->key % 4);
    for (int32_t k = 0; k < ends[1] - ends[0]; k++)
        assert_int_equal(((const int64_t *)items->buffers[1])[items->offset + ends[0] + k],
                         want->key * 10 + k + want->version);
}

#endif
