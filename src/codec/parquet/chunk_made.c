/* Chunks made by rule.
 *
 *   data page v1   [4: length][rep levels: one run] [4: length][def levels: one run] values
 *   SAME           values: [1: width 1] one run of index 0; before it a dictionary page of one
 * value SERIES         values: DELTA_BYTE_ARRAY, put together from a counter in text form
 *
 * I1: bounds, null counts and histograms are those that encoding the values would give.
 * I2: a page has at most PAGE_ROWS rows, a chunk of one value or of nulls as few pages as that
 *     allows: their size does not follow the rows. */
#include "codec/parquet/chunk_made.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/parquet/encode.h"
#include "codec/parquet/leaf_write_state.h"

#define PAGE_ROWS        (1 << 30)
#define SERIES_PAGE_ROWS 65536
#define STEP_ROWS        4096
#define NUMBER_DIGITS    20

static int check(tarn_cx *cx, const tn_leaf *leaf, const tn_made *made)
{
    bool right = made->kind == TN_MADE_NULL
                     ? leaf->max_def > 0
                     : leaf->physical == TN_BYTE_ARRAY && leaf->max_rep == 0 && leaf->max_def <= 1;

    if (right)
        return TARN_OK;
    return tn_fail(cx, TARN_E_INVALID, "column %.*s cannot hold %s", TN_STR_ARG(leaf->dotted),
                   made->kind == TN_MADE_NULL ? "nulls" : "text that follows a rule");
}

uint64_t tn_chunk_made_bytes(const tn_made *made, int64_t rows)
{
    uint64_t bytes = 128 + 2 * made->text.len;

    /* One or two digits a row, and lengths that compress well. */
    return made->kind == TN_MADE_SERIES ? bytes + (uint64_t)rows : bytes;
}

/* --- series --- */

/* A number in text, behind what stands before it. */
typedef struct counter {
    char digits[NUMBER_DIGITS + 1];
    size_t len;
} counter;

static void counter_set(counter *c, int64_t number)
{
    c->len = (size_t)snprintf(c->digits, sizeof c->digits, "%" PRId64, number);
}

/* One more; how many of the last digits differ now. Nines behind a digit that grows become zeros;
 * nines throughout give a number with one digit more. */
static size_t counter_step(counter *c)
{
    size_t nines = 0;

    while (nines < c->len && c->digits[c->len - 1 - nines] == '9')
        nines++;
    memset(c->digits + c->len - nines, '0', nines);
    if (nines < c->len) {
        c->digits[c->len - 1 - nines]++;
        return nines + 1;
    }
    c->digits[0] = '1';
    c->digits[c->len++] = '0';
    return c->len;
}

static int64_t power_of_ten(size_t exponent)
{
    int64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* The least or the greatest text among the decimal numbers of [first, last]: of those of one length
 * the order is that of numbers, and lengths are few. */
static int64_t series_bound(int64_t first, int64_t last, bool least)
{
    char best[NUMBER_DIGITS + 2], text[NUMBER_DIGITS + 2];
    int64_t found = least ? first : last;

    snprintf(best, sizeof best, "%" PRId64, found);
    for (size_t digits = 1; digits < 19; digits++) {
        int64_t from = digits == 1 ? 0 : power_of_ten(digits - 1), to = power_of_ten(digits) - 1;
        int64_t number;

        from = from > first ? from : first;
        to = to < last ? to : last;
        if (from > to)
            continue;
        number = least ? from : to;
        snprintf(text, sizeof text, "%" PRId64, number);
        if (least ? strcmp(text, best) < 0 : strcmp(text, best) > 0) {
            memcpy(best, text, sizeof best);
            found = number;
        }
    }
    return found;
}

/* DELTA_BYTE_ARRAY of `rows` values; *unencoded: their bytes. */
static int put_series(tarn_cx *cx, tn_buf *out, const tn_made *made, int64_t rows,
                      int64_t *unencoded)
{
    size_t n = (size_t)rows;
    tn_buf prefixes = {0}, lengths = {0}, suffixes = {0};
    int32_t *prefix = (int32_t *)(void *)tn_buf_extend(&prefixes, n * sizeof(int32_t));
    int32_t *length = (int32_t *)(void *)tn_buf_extend(&lengths, n * sizeof(int32_t));
    counter c;
    int rc = TARN_OK;

    if (prefix == NULL || length == NULL)
        TN_TRY(tn_fail_memory(cx));
    counter_set(&c, made->first);
    tn_buf_str(&suffixes, made->text);
    tn_buf_add(&suffixes, c.digits, c.len);
    prefix[0] = 0;
    length[0] = (int32_t)(made->text.len + c.len);
    *unencoded = length[0];
    for (size_t i = 1; i < n; i++) {
        size_t changed = counter_step(&c);

        prefix[i] = (int32_t)(made->text.len + c.len - changed);
        length[i] = (int32_t)changed;
        *unencoded += prefix[i] + length[i];
        tn_buf_add(&suffixes, c.digits + c.len - changed, changed);
    }
    tn_encode_delta32(out, prefix, n);
    tn_encode_delta32(out, length, n);
    TN_TRY(tn_buf_check(cx, &suffixes));
    tn_buf_str(out, tn_buf_view(&suffixes));
    TN_TRY(tn_buf_check(cx, out));
done:
    tn_buf_clear(&prefixes);
    tn_buf_clear(&lengths);
    tn_buf_clear(&suffixes);
    return rc;
}

/* --- pages --- */

static void put_levels(tn_buf *out, uint16_t value, uint16_t max, int64_t entries)
{
    size_t at = out->len;
    uint32_t len;

    if (max == 0)
        return;
    tn_buf_u32le(out, 0);
    tn_encode_run(out, value, (size_t)entries, tn_encode_width(max));
    if (out->failed)
        return;
    len = (uint32_t)(out->len - at - 4);
    memcpy(out->data + at, &len, 4);
}

static int add_dictionary(tarn_cx *cx, tn_chunk_writer *w, const tn_made *made)
{
    tn_ready_page page = {.header = {.type = TN_PAGE_DICTIONARY,
                                     .values = 1,
                                     .nulls = -1,
                                     .rows = -1,
                                     .encoding = TN_ENC_PLAIN}};
    tn_buf body = {0};
    int rc = TARN_OK;

    tn_buf_u32le(&body, (uint32_t)made->text.len);
    tn_buf_str(&body, made->text);
    TN_TRY(tn_buf_check(cx, &body));
    page.body = tn_buf_view(&body);
    TN_TRY(tn_chunk_writer_add_loose(cx, w, &page, 0));
done:
    tn_buf_clear(&body);
    return rc;
}

static int bound_text(tarn_cx *cx, tn_buf *out, const tn_made *made, int64_t number)
{
    tn_buf_reset(out);
    tn_buf_str(out, made->text);
    if (made->kind == TN_MADE_SERIES)
        tn_buf_print(out, "%" PRId64, number);
    return tn_buf_check(cx, out);
}

/* One page of the rows [made->first, made->first + rows). */
static int add_page(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf *leaf, const tn_made *made,
                    int64_t rows)
{
    bool null = made->kind == TN_MADE_NULL;
    int64_t *histogram = tn_calloc(cx, (size_t)leaf->max_rep + leaf->max_def + 2, 8), bytes = 0;
    tn_buf body = {0}, min = {0}, max = {0};
    tn_ready_page page = {.header = {.type = TN_PAGE_DATA,
                                     .values = (int32_t)rows,
                                     .nulls = -1,
                                     .rows = -1,
                                     .encoding = null ? TN_ENC_PLAIN
                                                 : made->kind == TN_MADE_SERIES
                                                     ? TN_ENC_DELTA_BYTE_ARRAY
                                                     : TN_ENC_RLE_DICTIONARY,
                                     .def_encoding = TN_ENC_RLE,
                                     .rep_encoding = TN_ENC_RLE},
                          .rows = rows,
                          .entries = rows,
                          .nulls = null ? rows : 0,
                          .has_bounds = !null,
                          .null_page = null,
                          .bounds_exact = true,
                          .has_nans = true};
    int rc = TARN_OK;

    if (histogram == NULL)
        return TARN_E_NOMEM;
    put_levels(&body, 0, leaf->max_rep, rows);
    put_levels(&body, null ? 0 : leaf->max_def, leaf->max_def, rows);
    if (made->kind == TN_MADE_SAME) {
        tn_buf_u8(&body, 1);
        tn_encode_run(&body, 0, (size_t)rows, 1);
        bytes = (int64_t)made->text.len * rows;
    }
    if (made->kind == TN_MADE_SERIES)
        TN_TRY(put_series(cx, &body, made, rows, &bytes));
    TN_TRY(tn_buf_check(cx, &body));
    if (!null) {
        int64_t last = made->first + rows - 1;

        TN_TRY(bound_text(cx, &min, made, series_bound(made->first, last, true)));
        TN_TRY(bound_text(cx, &max, made, series_bound(made->first, last, false)));
    }
    histogram[0] = rows;
    histogram[(size_t)leaf->max_rep + 1 + (null ? 0 : leaf->max_def)] = rows;
    page.rep_histogram = histogram;
    page.def_histogram = histogram + leaf->max_rep + 1;
    page.unencoded_bytes = leaf->physical == TN_BYTE_ARRAY ? bytes : -1;
    page.body = tn_buf_view(&body);
    page.min = tn_buf_view(&min);
    page.max = tn_buf_view(&max);
    TN_TRY(tn_chunk_writer_add_loose(cx, w, &page, 0));
done:
    tn_buf_clear(&body);
    tn_buf_clear(&min);
    tn_buf_clear(&max);
    free(histogram);
    return rc;
}

int tn_chunk_made(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                  const tn_made *made, int64_t rows, tn_encoded_chunk *out)
{
    tn_chunk_options own = {.codec = options->codec,
                            .level = options->level,
                            .crc = options->crc,
                            .bound_bytes_max = options->bound_bytes_max,
                            .no_dictionary = true};
    int64_t page_rows = made->kind == TN_MADE_SERIES ? SERIES_PAGE_ROWS : PAGE_ROWS;
    tn_made page = *made;
    tn_chunk_writer *w = NULL;
    int rc = TARN_OK;

    TN_TRY(check(cx, leaf, made));
    TN_TRY(tn_chunk_writer_open(cx, leaf, &own, &w));
    if (made->kind == TN_MADE_SAME && rows > 0)
        TN_TRY(add_dictionary(cx, w, made));
    for (int64_t at = 0, n; at < rows; at += n) {
        n = rows - at < page_rows ? rows - at : page_rows;
        page.first = made->first + at;
        TN_TRY(add_page(cx, w, leaf, &page, n));
    }
    TN_TRY(tn_chunk_writer_finish(cx, w, out));
done:
    tn_chunk_writer_close(w);
    return rc;
}

/* --- rows among others --- */

/* Values of `rows` rows as views into `text`. */
static int spell_series(tarn_cx *cx, const tn_made *made, int64_t rows, tn_buf *text, tn_buf *views)
{
    tn_view *view;
    size_t at = 0;
    counter c;
    int rc = TARN_OK;

    tn_buf_reset(text);
    tn_buf_reset(views);
    view = (tn_view *)(void *)tn_buf_extend(views, (size_t)rows * sizeof *view);
    TN_TRY(tn_buf_check(cx, views));
    counter_set(&c, made->first);
    for (int64_t i = 0; i < rows; i++) {
        if (i != 0)
            counter_step(&c);
        tn_buf_str(text, made->text);
        tn_buf_add(text, c.digits, c.len);
        view[i].len = (uint32_t)(made->text.len + c.len);
    }
    TN_TRY(tn_buf_check(cx, text));
    for (int64_t i = 0; i < rows; i++) {
        view[i].ptr = text->data + at;
        at += view[i].len;
    }
done:
    return rc;
}

int tn_chunk_made_add(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf *leaf, const tn_made *made,
                      int64_t rows)
{
    static const uint32_t zeros[STEP_ROWS];
    static const uint16_t levels[STEP_ROWS];
    const char *text_ptr = made->text.ptr != NULL ? made->text.ptr : "";
    tn_view same = {(const uint8_t *)text_ptr, (uint32_t)made->text.len};
    tn_made step = *made;
    tn_buf text = {0}, views = {0};
    int rc = TARN_OK;

    TN_TRY(check(cx, leaf, made));
    for (int64_t at = 0, n; at < rows; at += n) {
        tn_leaf_batch batch = {.all_present = made->kind != TN_MADE_NULL};

        n = rows - at < STEP_ROWS ? rows - at : STEP_ROWS;
        batch.rows = batch.entries = n;
        batch.rep = leaf->max_rep > 0 ? levels : NULL;
        if (made->kind == TN_MADE_NULL) {
            batch.def = levels;
        } else if (made->kind == TN_MADE_SAME) {
            /* Another id would do as well: the value is found again by its bytes. */
            batch.indices = zeros;
            batch.dictionary = (tn_values){&same, 1};
            batch.values.count = n;
        } else {
            step.first = made->first + at;
            TN_TRY(spell_series(cx, &step, n, &text, &views));
            batch.values = (tn_values){views.data, n};
        }
        TN_TRY(tn_chunk_writer_add(cx, w, &batch));
    }
done:
    tn_buf_clear(&text);
    tn_buf_clear(&views);
    return rc;
}
