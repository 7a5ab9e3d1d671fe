/* I1: row_entry and row_value have one number per row; both are empty where they would only count.
 * I2: a column without repetition keeps no levels before it meets an entry without a value.
 */
#include "exec/rewrite_column.h"

#include <xxhash.h>

#include "base/budget.h"

void tn_sort_column_clear(tarn_cx *cx, tn_sort_column *column)
{
    tn_buf_clear(&column->def);
    tn_buf_clear(&column->rep);
    tn_buf_clear(&column->values);
    tn_buf_clear(&column->bytes);
    tn_buf_clear(&column->row_entry);
    tn_buf_clear(&column->row_value);
    tn_budget_give(cx, column->reserved);
    *column = (tn_sort_column){0};
}

static void add_u64(tn_buf *buf, uint64_t value)
{
    tn_buf_add(buf, &value, sizeof value);
}

static uint16_t def_at(const tn_leaf *leaf, const tn_leaf_batch *batch, int64_t i)
{
    return batch->def == NULL || batch->all_present ? leaf->max_def : batch->def[i];
}

static const uint8_t *value_at(const tn_leaf *leaf, const tn_leaf_batch *batch, int64_t i)
{
    const uint8_t *data = batch->indices != NULL ? batch->dictionary.data : batch->values.data;
    size_t at = batch->indices != NULL ? batch->indices[i] : (size_t)i;

    return data + at * tn_leaf_width(leaf);
}

static bool needs_levels(const tn_leaf *leaf, const tn_leaf_batch *batch)
{
    return leaf->max_rep != 0 ||
           (leaf->max_def != 0 && batch->def != NULL && batch->values.count != batch->entries);
}

/* The levels of the rows before, which all had values. */
static int begin_levels(tarn_cx *cx, tn_sort_column *column)
{
    const tn_leaf *leaf = column->leaf;
    uint64_t rows = column->rows_max > column->rows ? column->rows_max : column->rows;
    int rc = TARN_OK;

    column->levels = true;
    if (leaf->max_rep != 0)
        return TARN_OK;
    if (!tn_buf_reserve(&column->def, rows * sizeof(uint16_t)) ||
        !tn_buf_reserve(&column->row_value, rows * sizeof(uint64_t)))
        return tn_fail_memory(cx);
    for (uint64_t i = 0; i < column->rows; i++) {
        tn_buf_add(&column->def, &leaf->max_def, sizeof(uint16_t));
        add_u64(&column->row_value, i);
    }
    return rc;
}

static void add_levels(tn_sort_column *column, const tn_leaf_batch *batch)
{
    const tn_leaf *leaf = column->leaf;
    uint64_t value = column->value_count;

    for (int64_t i = 0; i < batch->entries; i++) {
        uint16_t def = def_at(leaf, batch, i);

        if (leaf->max_rep != 0) {
            if (batch->rep[i] == 0)
                add_u64(&column->row_entry, column->entries + (uint64_t)i);
            tn_buf_add(&column->rep, &batch->rep[i], sizeof(uint16_t));
        }
        if (leaf->max_def != 0) {
            if (leaf->max_rep == 0 || batch->rep[i] == 0)
                add_u64(&column->row_value, value);
            tn_buf_add(&column->def, &def, sizeof def);
        }
        value += def == leaf->max_def;
    }
}

/* Where each row is one entry, exactly what it takes: growing by doubling would take more. */
static int make_room(tarn_cx *cx, tn_sort_column *column)
{
    const tn_leaf *leaf = column->leaf;
    size_t width = leaf->physical == TN_BYTE_ARRAY ? sizeof(uint64_t) : tn_leaf_width(leaf);

    return tn_buf_reserve(&column->values, column->rows_max * width) ? TARN_OK : tn_fail_memory(cx);
}

int tn_sort_column_add(tarn_cx *cx, tn_sort_column *column, const tn_leaf_batch *batch)
{
    const tn_leaf *leaf = column->leaf;
    size_t width = tn_leaf_width(leaf);
    uint64_t before = column->def.cap + column->rep.cap + column->values.cap + column->bytes.cap +
                      column->row_entry.cap + column->row_value.cap;
    uint64_t after;
    int rc = TARN_OK;

    if (column->rows == 0 && column->rows_max > 0 && leaf->max_rep == 0)
        TN_TRY(make_room(cx, column));
    if (!column->levels && needs_levels(leaf, batch))
        TN_TRY(begin_levels(cx, column));
    if (batch->entries != 0 && column->levels)
        add_levels(column, batch);
    for (int64_t i = 0; i < batch->values.count; i++) {
        const uint8_t *value = value_at(leaf, batch, i);

        if (leaf->physical == TN_BYTE_ARRAY) {
            tn_view view = *(const tn_view *)(const void *)value;

            add_u64(&column->values, column->bytes.len);
            tn_buf_add(&column->bytes, view.ptr, view.len);
        } else {
            tn_buf_add(&column->values, value, width);
        }
    }
    column->rows += (uint64_t)batch->rows;
    column->entries += (uint64_t)batch->entries;
    column->value_count += (uint64_t)batch->values.count;
    TN_TRY(tn_buf_check(cx, &column->values));
    TN_TRY(tn_buf_check(cx, &column->bytes));
    TN_TRY(tn_buf_check(cx, &column->def));
    TN_TRY(tn_buf_check(cx, &column->rep));
    TN_TRY(tn_buf_check(cx, &column->row_entry));
    TN_TRY(tn_buf_check(cx, &column->row_value));
    after = column->def.cap + column->rep.cap + column->values.cap + column->bytes.cap +
            column->row_entry.cap + column->row_value.cap;
    if (after > before) {
        TN_TRY(tn_budget_take(cx, after - before, "sorting a whole column in memory"));
        column->reserved += after - before;
    }
done:
    return rc;
}

static uint64_t u64_at(const tn_buf *buf, uint64_t i)
{
    uint64_t value;

    memcpy(&value, buf->data + i * sizeof value, sizeof value);
    return value;
}

static uint16_t u16_at(const tn_buf *buf, uint64_t i)
{
    uint16_t value;

    memcpy(&value, buf->data + i * sizeof value, sizeof value);
    return value;
}

static const uint8_t *stored_value(const tn_sort_column *column, uint64_t i, tn_view *view)
{
    uint64_t from, to;

    if (column->leaf->physical != TN_BYTE_ARRAY)
        return column->values.data + i * tn_leaf_width(column->leaf);
    from = u64_at(&column->values, i);
    to = i + 1 < column->value_count ? u64_at(&column->values, i + 1) : column->bytes.len;
    *view = (tn_view){column->bytes.data + from, (uint32_t)(to - from)};
    return (const uint8_t *)(const void *)view;
}

const void *tn_sort_column_value(const tn_sort_column *column, uint64_t row, tn_view *view)
{
    if (!column->levels || column->leaf->max_def == 0)
        return stored_value(column, row, view);
    if (u16_at(&column->def, row) != column->leaf->max_def)
        return NULL;
    return stored_value(column, u64_at(&column->row_value, row), view);
}

void tn_sort_column_gather_clear(tn_sort_column_gather *gather)
{
    tn_buf_clear(&gather->def);
    tn_buf_clear(&gather->rep);
    tn_buf_clear(&gather->values);
    *gather = (tn_sort_column_gather){0};
}

static void gather_row(const tn_sort_column *column, uint64_t row, tn_sort_column_gather *gather,
                       tn_leaf_batch *out)
{
    const tn_leaf *leaf = column->leaf;
    uint64_t entry = row, end = row + 1, value = row;

    if (leaf->max_rep != 0) {
        entry = u64_at(&column->row_entry, row);
        end = row + 1 < column->rows ? u64_at(&column->row_entry, row + 1) : column->entries;
    }
    if (leaf->max_def != 0 && column->levels)
        value = u64_at(&column->row_value, row);
    for (; entry < end; entry++) {
        uint16_t def = column->levels && leaf->max_def != 0 ? u16_at(&column->def, entry)
                                                            : (uint16_t)leaf->max_def;
        tn_view view;

        if (leaf->max_def != 0)
            tn_buf_add(&gather->def, &def, sizeof def);
        if (leaf->max_rep != 0)
            tn_buf_add(&gather->rep, column->rep.data + entry * sizeof(uint16_t), sizeof(uint16_t));
        if (def == leaf->max_def) {
            tn_buf_add(&gather->values, stored_value(column, value++, &view), tn_leaf_width(leaf));
            out->values.count++;
        }
        out->entries++;
    }
}

int tn_sort_column_gather_rows(tarn_cx *cx, const tn_sort_column *column, const uint32_t *rows,
                               size_t count, tn_sort_column_gather *gather, tn_leaf_batch *out)
{
    tn_leaf_batch batch = {.rows = (int64_t)count};
    int rc = TARN_OK;

    tn_buf_reset(&gather->def);
    tn_buf_reset(&gather->rep);
    tn_buf_reset(&gather->values);
    for (size_t i = 0; i < count; i++)
        gather_row(column, rows[i], gather, &batch);
    TN_TRY(tn_buf_check(cx, &gather->def));
    TN_TRY(tn_buf_check(cx, &gather->rep));
    TN_TRY(tn_buf_check(cx, &gather->values));
    batch.values.data = gather->values.data;
    batch.all_present = column->leaf->max_def == 0 || batch.values.count == batch.entries;
    if (column->leaf->max_def != 0)
        batch.def = (const uint16_t *)(const void *)gather->def.data;
    if (column->leaf->max_rep != 0)
        batch.rep = (const uint16_t *)(const void *)gather->rep.data;
    *out = batch;
done:
    return rc;
}

static void hash_into(uint64_t *row, const tn_buf *scratch, uint64_t seed)
{
    __atomic_fetch_add(row, XXH3_64bits_withSeed(scratch->data, scratch->len, seed),
                       __ATOMIC_RELAXED);
}

int tn_sort_column_hash_rows(tarn_cx *cx, const tn_leaf *leaf, const tn_leaf_batch *batch,
                             tn_buf *scratch, uint64_t *rows)
{
    size_t width = tn_leaf_width(leaf);
    int64_t value = 0, row = -1;

    tn_buf_reset(scratch);
    for (int64_t i = 0; i < batch->entries; i++) {
        uint16_t def = def_at(leaf, batch, i), rep = leaf->max_rep != 0 ? batch->rep[i] : 0;

        if (rep == 0) {
            if (row >= 0)
                hash_into(&rows[row], scratch, leaf->index + 1u);
            row++;
            tn_buf_reset(scratch);
        }
        tn_buf_add(scratch, &def, sizeof def);
        tn_buf_add(scratch, &rep, sizeof rep);
        if (def != leaf->max_def)
            continue;
        if (leaf->physical == TN_BYTE_ARRAY) {
            tn_view view = *(const tn_view *)(const void *)value_at(leaf, batch, value);

            tn_buf_add(scratch, &view.len, sizeof view.len);
            tn_buf_add(scratch, view.ptr, view.len);
        } else {
            tn_buf_add(scratch, value_at(leaf, batch, value), width);
        }
        value++;
    }
    if (row >= 0)
        hash_into(&rows[row], scratch, leaf->index + 1u);
    return tn_buf_check(cx, scratch);
}

uint64_t tn_sort_column_hash_fold(const uint64_t *rows, uint64_t count)
{
    uint64_t all = XXH3_64bits(&count, sizeof count);

    for (uint64_t i = 0; i < count; i++)
        all += XXH3_64bits(&rows[i], sizeof rows[i]);
    return all;
}
