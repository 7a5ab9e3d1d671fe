/* Small Arrow tables for tests: columns from C arrays, with nulls where told. */
#ifndef TN_TEST_TABLE_H
#define TN_TEST_TABLE_H

#include "batch/rows.h"
#include "unit/test.h"

typedef struct test_table {
    struct ArrowSchema schema;
    struct ArrowArray array;
} test_table;

static inline void table_init(tarn_cx *cx, test_table *table, int64_t columns, int64_t rows)
{
    assert_ok(cx, tn_field_init(cx, &table->schema, "+s", TN_STR(""), false, (size_t)columns));
    assert_ok(cx, tn_array_init(cx, &table->array, rows, 1, (size_t)columns));
    table->array.length = rows;
}

static inline void table_clear(test_table *table)
{
    tn_field_release(&table->schema);
    tn_array_release(&table->array);
}

static inline void *table_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, size_t bytes)
{
    tn_block block = {0};

    assert_ok(cx, tn_block_reserve(cx, &block, bytes + 1));
    memset(block.data, 0, bytes + 1);
    block.len = bytes;
    assert_ok(cx, tn_array_take_block(cx, array, i, &block));
    return (void *)(uintptr_t)array->buffers[i];
}

/* Bit i of `nulls` makes row i null. */
static inline void table_validity(tarn_cx *cx, struct ArrowArray *array, int64_t rows,
                                  uint64_t nulls)
{
    uint8_t *bits;

    array->length = rows;
    array->null_count = __builtin_popcountll(nulls);
    if (nulls == 0)
        return;
    bits = table_buffer(cx, array, 0, (size_t)rows / 8 + 1);
    for (int64_t i = 0; i < rows; i++)
        if ((nulls >> i & 1) == 0)
            tn_bit_set(bits, i);
}

static inline void table_fixed(tarn_cx *cx, test_table *table, int64_t c, const char *name,
                               const char *format, const void *values, size_t width, uint64_t nulls)
{
    int64_t rows = table->array.length;
    struct ArrowArray *array = table->array.children[c];

    assert_ok(cx, tn_field_init(cx, table->schema.children[c], format, tn_str_of(name), true, 0));
    assert_ok(cx, tn_array_init(cx, array, rows, 2, 0));
    table_validity(cx, array, rows, nulls);
    memcpy(table_buffer(cx, array, 1, width * (size_t)rows), values, width * (size_t)rows);
}

static inline void table_bool(tarn_cx *cx, test_table *table, int64_t c, const char *name,
                              uint8_t bits, uint64_t nulls)
{
    table_fixed(cx, table, c, name, "b", &(uint64_t[8]){bits}, 1, nulls);
}

static inline void table_text(tarn_cx *cx, test_table *table, int64_t c, const char *name,
                              const char *format, const char *const *values, uint64_t nulls)
{
    int64_t rows = table->array.length;
    struct ArrowArray *array = table->array.children[c];
    int32_t *offsets;
    size_t total = 0;
    char *bytes;

    assert_ok(cx, tn_field_init(cx, table->schema.children[c], format, tn_str_of(name), true, 0));
    assert_ok(cx, tn_array_init(cx, array, rows, 3, 0));
    table_validity(cx, array, rows, nulls);
    offsets = table_buffer(cx, array, 1, 4 * ((size_t)rows + 1));
    for (int64_t i = 0; i < rows; i++) {
        total += values[i] != NULL ? strlen(values[i]) : 0;
        offsets[i + 1] = (int32_t)total;
    }
    bytes = table_buffer(cx, array, 2, total);
    for (int64_t i = 0; i < rows; i++)
        if (values[i] != NULL)
            memcpy(bytes + offsets[i], values[i], strlen(values[i]));
}

#endif
