/* Keys of a base file: filter and range.
 *
 * A filter is as large as the number of its keys asks for, and that is known when the last one has
 * come. Until then keys wait:
 *
 *   wait ── finish ──> a filter of exactly so many
 *   wait ── too many for the memory ──> a filter of as many as are expected; a dynamic one grows
 *
 * I1: every key added is in the filter that is printed, and within the range.
 * I2: keys compare as Java's strings do, by UTF-16 units: characters beyond U+FFFF come before
 *     U+E000 and those behind it. */
#include "exec/base_keys.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/budget.h"
#include "batch/array.h"

/* Keys wait in pieces, so that none is moved when one more comes; a third of the default memory
 * holds those of a file of uuids at the usual size. */
#define WAITING_BYTES_MAX (64u << 20)
#define WAITING_STEP      (1u << 20)
#define PIECE_BYTES       (2u << 20)
/* Of the budget; half of that where several files are written at once. */
#define WAITING_SHARE 3

static void drop_waiting(tarn_cx *cx, tn_base_keys *keys)
{
    for (size_t i = 0; i < keys->piece_count; i++) {
        tn_buf_clear(&keys->pieces[i].data);
        tn_buf_clear(&keys->pieces[i].offsets);
    }
    free(keys->pieces);
    keys->pieces = NULL;
    keys->piece_count = keys->piece_cap = 0;
    keys->waiting_bytes = 0;
    tn_budget_give(cx, keys->reserved);
    keys->reserved = 0;
}

void tn_base_keys_clear(tarn_cx *cx, tn_base_keys *keys)
{
    tn_key_filter_close(keys->filter);
    tn_buf_clear(&keys->min);
    tn_buf_clear(&keys->max);
    drop_waiting(cx, keys);
    *keys = (tn_base_keys){0};
}

/* --- range --- */

/* I2: only first bytes of characters are as great as EE, and F0 begins those of two units. */
static int compare(tn_str a, tn_str b)
{
    size_t n = a.len < b.len ? a.len : b.len, i = 0;
    unsigned x, y;

    if (n != 0 && memcmp(a.ptr, b.ptr, n) == 0)
        i = n;
    while (i < n && a.ptr[i] == b.ptr[i])
        i++;
    if (i == n)
        return a.len < b.len ? -1 : a.len > b.len;
    x = (uint8_t)a.ptr[i];
    y = (uint8_t)b.ptr[i];
    if (x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0))
        return x >= 0xF0 ? -1 : 1;
    return x < y ? -1 : 1;
}

static void hold(tn_buf *bound, tn_str key)
{
    tn_buf_reset(bound);
    tn_buf_str(bound, key);
}

int tn_base_keys_range(tarn_cx *cx, tn_base_keys *keys, tn_str key)
{
    int rc = TARN_OK;

    if (!keys->any || compare(key, tn_buf_view(&keys->min)) < 0)
        hold(&keys->min, key);
    if (!keys->any || compare(key, tn_buf_view(&keys->max)) > 0)
        hold(&keys->max, key);
    keys->any = true;
    TN_TRY(tn_buf_check(cx, &keys->min));
    TN_TRY(tn_buf_check(cx, &keys->max));
done:
    return rc;
}

static tn_str key_at(const char *data, const int32_t *offsets, int64_t i)
{
    return (tn_str){data + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
}

/* The bounds of a run first, so that the range is looked at twice and not once per key. */
static int widen(tarn_cx *cx, tn_base_keys *keys, const char *data, const int32_t *offsets,
                 int64_t rows)
{
    tn_str min = key_at(data, offsets, 0), max = min;
    int rc = TARN_OK;

    for (int64_t i = 1; i < rows; i++) {
        tn_str key = key_at(data, offsets, i);

        if (compare(key, max) > 0)
            max = key;
        else if (compare(key, min) < 0)
            min = key;
    }
    TN_TRY(tn_base_keys_range(cx, keys, min));
    TN_TRY(tn_base_keys_range(cx, keys, max));
done:
    return rc;
}

/* --- filter --- */

static int open_filter(tarn_cx *cx, tn_base_keys *keys, uint64_t count)
{
    const tn_base_job *job = keys->job;
    uint64_t max = job->filter_keys_max;

    count = job->filter_keys != 0 ? job->filter_keys : count;
    count = count < TN_KEY_FILTER_KEYS_MIN ? TN_KEY_FILTER_KEYS_MIN : count;
    /* One that is sized for its keys is no larger than they ask for, and may grow past that. */
    if (job->filter_keys == 0 && max < 2 * count)
        max = 2 * count;
    return tn_key_filter_open(cx, job->filter_kind, count, job->filter_fpp, max, &keys->filter);
}

/* All that waits goes into the filter. */
static int settle(tarn_cx *cx, tn_base_keys *keys)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < keys->piece_count; i++) {
        const tn_base_piece *piece = &keys->pieces[i];

        TN_TRY(tn_key_filter_add(cx, keys->filter, (const char *)piece->data.data,
                                 (const int32_t *)(const void *)piece->offsets.data,
                                 (int64_t)(piece->offsets.len / 4) - 1));
    }
    drop_waiting(cx, keys);
done:
    return rc;
}

static bool may_wait(tarn_cx *cx, tn_base_keys *keys, uint64_t more)
{
    uint64_t wanted = keys->waiting_bytes + more, most, step;

    if (wanted <= keys->reserved)
        return true;
    most = tn_budget_bytes(cx) / WAITING_SHARE / (cx->owner ? 1 : 2);
    most = most < WAITING_BYTES_MAX ? most : WAITING_BYTES_MAX;
    step = wanted - keys->reserved;
    step = step > WAITING_STEP ? step : WAITING_STEP;
    if (wanted > most || !tn_budget_try(cx, step))
        return false;
    keys->reserved += step;
    return true;
}

static int wait(tarn_cx *cx, tn_base_keys *keys, const char *data, const int32_t *offsets,
                int64_t rows)
{
    size_t bytes = (size_t)(offsets[rows] - offsets[0]);
    tn_base_piece *piece;
    int32_t shift, *to;
    int rc = TARN_OK;

    if (keys->piece_count == 0 || keys->pieces[keys->piece_count - 1].data.len >= PIECE_BYTES) {
        TN_TRY(
            tn_grow(cx, &keys->pieces, keys->piece_count, &keys->piece_cap, sizeof *keys->pieces));
        keys->pieces[keys->piece_count++] = (tn_base_piece){0};
        tn_buf_u32le(&keys->pieces[keys->piece_count - 1].offsets, 0);
    }
    piece = &keys->pieces[keys->piece_count - 1];
    TN_TRY(tn_buf_check(cx, &piece->offsets));
    shift = (int32_t)piece->data.len - offsets[0];
    tn_buf_add(&piece->data, data + offsets[0], bytes);
    TN_TRY(tn_buf_check(cx, &piece->data));
    to = (int32_t *)(void *)tn_buf_extend(&piece->offsets, (size_t)rows * 4);
    TN_TRY(tn_buf_check(cx, &piece->offsets));
    for (int64_t i = 0; i < rows; i++)
        to[i] = offsets[i + 1] + shift;
    keys->waiting_bytes += bytes + (uint64_t)rows * 4;
done:
    return rc;
}

int tn_base_keys_add(tarn_cx *cx, tn_base_keys *keys, const struct ArrowArray *column,
                     int64_t first, int64_t rows)
{
    const int32_t *offsets;
    const char *data;
    int rc = TARN_OK;

    if (rows == 0)
        return TARN_OK;
    first += column->offset;
    offsets = (const int32_t *)column->buffers[1] + first;
    data = column->buffers[2] != NULL ? column->buffers[2] : "";
    if (column->null_count != 0 && column->buffers[0] != NULL &&
        tn_bits_count(column->buffers[0], first, rows) != rows)
        TN_FAIL(TARN_E_INVALID, "a row without a record key cannot be written");
    TN_TRY(widen(cx, keys, data, offsets, rows));
    keys->count += (uint64_t)rows;
    if (keys->filter == NULL && keys->job->filter_keys == 0 &&
        may_wait(cx, keys, (uint64_t)(offsets[rows] - offsets[0]) + 4 * (uint64_t)rows + 4)) {
        TN_TRY(wait(cx, keys, data, offsets, rows));
        goto done;
    }
    if (keys->filter == NULL) {
        TN_TRY(open_filter(cx, keys, keys->about > keys->count ? keys->about : 2 * keys->count));
        TN_TRY(settle(cx, keys));
    }
    TN_TRY(tn_key_filter_add(cx, keys->filter, data, offsets, rows));
done:
    return rc;
}

int tn_base_keys_take(tarn_cx *cx, tn_base_keys *keys, tn_key_filter *filter)
{
    assert(keys->filter == NULL);
    keys->filter = filter;
    return settle(cx, keys);
}

uint64_t tn_base_keys_bytes(const tn_base_keys *keys)
{
    const double ln2 = 0.6931471805599453;
    double count = (double)(keys->job->filter_keys != 0 ? keys->job->filter_keys : keys->count);

    if (!keys->job->meta_fields)
        return 0;
    if (keys->filter != NULL)
        return tn_key_filter_text_bytes(keys->filter);
    count = count < TN_KEY_FILTER_KEYS_MIN ? TN_KEY_FILTER_KEYS_MIN : count;
    return (uint64_t)(count * -log(keys->job->filter_fpp) / (ln2 * ln2) / 8 * 4 / 3) + 64;
}

int tn_base_keys_finish(tarn_cx *cx, tn_base_keys *keys, tn_parquet_sink *sink)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    if (keys->filter == NULL) {
        TN_TRY(open_filter(cx, keys, keys->count));
        TN_TRY(settle(cx, keys));
    }
    if (keys->same.len == 0)
        TN_TRY(tn_key_filter_print(cx, keys->filter, &text));
    TN_TRY(tn_parquet_sink_key_value(cx, sink, TN_STR("org.apache.hudi.bloomfilter"),
                                     keys->same.len != 0 ? keys->same : tn_buf_view(&text)));
    if (keys->job->filter_kind == TN_KEY_FILTER_DYNAMIC)
        TN_TRY(tn_parquet_sink_key_value(cx, sink, TN_STR("hoodie_bloom_filter_type_code"),
                                         TN_STR("DYNAMIC_V0")));
    if (keys->any) {
        TN_TRY(tn_parquet_sink_key_value(cx, sink, TN_STR("hoodie_min_record_key"),
                                         tn_buf_view(&keys->min)));
        TN_TRY(tn_parquet_sink_key_value(cx, sink, TN_STR("hoodie_max_record_key"),
                                         tn_buf_view(&keys->max)));
    }
done:
    tn_buf_clear(&text);
    return rc;
}
