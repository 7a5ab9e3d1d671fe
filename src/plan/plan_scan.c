/* Partition columns from paths.
 * I1: a type depends on all partitions of the directory, never on the filter. */
#include "plan/plan_scan.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "batch/moment.h"
#include "batch/number.h"

typedef struct key_column {
    tn_str name;
    enum tn_partition_type type;
    tn_str *values; /* per partition; ptr NULL: null */
} key_column;

typedef struct keys {
    tn_arena arena;
    tn_map numbers;
    key_column *columns;
    size_t count, cap;
} keys;

static int add_column(tarn_cx *cx, keys *k, tn_str name, size_t partitions, size_t *out)
{
    bool added;
    size_t *number = tn_map_add(cx, &k->numbers, name, &added);

    if (number == NULL)
        return TARN_E_NOMEM;
    if (!added) {
        *out = *number;
        return TARN_OK;
    }
    if (tn_grow(cx, &k->columns, k->count, &k->cap, sizeof *k->columns) != TARN_OK)
        return TARN_E_NOMEM;
    *number = k->count;
    k->columns[k->count] = (key_column){.name = name, .type = TN_PART_TEXT};
    k->columns[k->count].values = tn_arena_array(cx, &k->arena, partitions, sizeof(tn_str));
    if (k->columns[k->count].values == NULL)
        return TARN_E_NOMEM;
    *out = k->count++;
    return TARN_OK;
}

static int collect(tarn_cx *cx, const tn_dir *dir, keys *k)
{
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++) {
        tn_partition_value *values = NULL;
        size_t count = 0;

        if (dir->partitions[p].file_count == 0)
            continue;
        TN_TRY(tn_partition_parse(cx, &k->arena, dir->partitions[p].path, &values, &count));
        for (size_t i = 0; i < count; i++) {
            size_t column;

            TN_TRY(add_column(cx, k, values[i].name, dir->partition_count, &column));
            k->columns[column].values[p] = values[i].value;
        }
    }
    for (size_t c = 0; c < k->count; c++)
        k->columns[c].type = tn_partition_infer(k->columns[c].values, dir->partition_count);
done:
    return rc;
}

static const struct {
    const char *name;
    enum tn_partition_type type;
} type_names[] = {{"int", TN_PART_INT64},   {"bigint", TN_PART_INT64},
                  {"long", TN_PART_INT64},  {"double", TN_PART_DOUBLE},
                  {"date", TN_PART_DATE},   {"timestamp", TN_PART_TIMESTAMP},
                  {"bool", TN_PART_BOOL},   {"boolean", TN_PART_BOOL},
                  {"string", TN_PART_TEXT}, {"text", TN_PART_TEXT}};

static tn_str trimmed(tn_str text)
{
    while (text.len > 0 && isspace((unsigned char)text.ptr[0]))
        text = tn_str_from(text, 1);
    while (text.len > 0 && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* One "column=type" of the list. */
static int apply_type(tarn_cx *cx, keys *k, tn_str item)
{
    size_t equals = tn_str_find(item, '='), type = 0;
    tn_str name = trimmed((tn_str){item.ptr, equals}),
           word = trimmed(tn_str_from(item, equals + 1));
    size_t *number = tn_map_find(&k->numbers, name);

    if (equals == item.len)
        return tn_fail(cx, TARN_E_INVALID,
                       "partition types: \"%.*s\" is not of the form column=type",
                       TN_STR_ARG(item));
    while (type < sizeof type_names / sizeof type_names[0] &&
           !tn_str_is(word, type_names[type].name))
        type++;
    if (type == sizeof type_names / sizeof type_names[0])
        return tn_fail(cx, TARN_E_INVALID,
                       "partition types: \"%.*s\" is not a type; there are int, double, date, "
                       "timestamp, bool and string",
                       TN_STR_ARG(word));
    if (number == NULL)
        return tn_fail(cx, TARN_E_INVALID,
                       "partition types: no directory has a partition column \"%.*s\"",
                       TN_STR_ARG(name));
    k->columns[*number].type = type_names[type].type;
    return TARN_OK;
}

static int apply_types(tarn_cx *cx, keys *k, tn_str types)
{
    int rc = TARN_OK;

    while (types.len > 0) {
        size_t end = tn_str_find(types, ',');
        tn_str item = trimmed((tn_str){types.ptr, end});

        if (item.len > 0)
            TN_TRY(apply_type(cx, k, item));
        types = tn_str_from(types, end + 1);
    }
done:
    return rc;
}

static const char *format_of(enum tn_partition_type type)
{
    switch (type) {
    case TN_PART_INT64:
        return "l";
    case TN_PART_DOUBLE:
        return "g";
    case TN_PART_DATE:
        return "tdD";
    case TN_PART_TIMESTAMP:
        return "tsu:";
    case TN_PART_BOOL:
        return "b";
    case TN_PART_TEXT:
        break;
    }
    return "u";
}

static bool parse_int(tn_str text, int64_t *out)
{
    tn_int256 value, low = tn_int256_of(INT64_MIN), high = tn_int256_of(INT64_MAX);
    bool exact;
    int beyond;

    if (!tn_number_floor(text, 0, &value, &exact, &beyond) || !exact || beyond != 0 ||
        tn_int256_compare(&value, &low) < 0 || tn_int256_compare(&value, &high) > 0)
        return false;
    *out = (int64_t)value.limb[0];
    return true;
}

static bool parse_double(tn_str text, double *out)
{
    char plain[64], *end;

    if (text.len == 0 || text.len >= sizeof plain || isspace((unsigned char)text.ptr[0]))
        return false;
    memcpy(plain, text.ptr, text.len);
    plain[text.len] = '\0';
    *out = strtod(plain, &end);
    return end == plain + text.len;
}

/* A typed value as the bytes of its fixed-width slot; false when the text is none. */
static bool parse_value(enum tn_partition_type type, tn_str text, void *slot)
{
    tn_moment moment;
    int64_t micros;
    int32_t days;
    bool truth;

    switch (type) {
    case TN_PART_INT64:
        return parse_int(text, slot);
    case TN_PART_DOUBLE:
        return parse_double(text, slot);
    case TN_PART_DATE:
        if (!tn_moment_parse(text, &moment) || moment.has_time)
            return false;
        days = (int32_t)(moment.seconds / 86400);
        memcpy(slot, &days, sizeof days);
        return true;
    case TN_PART_TIMESTAMP:
        if (!tn_moment_parse(text, &moment) || moment.has_zone || moment.nanos % 1000 != 0)
            return false;
        micros = moment.seconds * 1000000 + moment.nanos / 1000;
        memcpy(slot, &micros, sizeof micros);
        return true;
    case TN_PART_BOOL:
        truth = tn_str_is(text, "true") || tn_str_is(text, "True") || tn_str_is(text, "TRUE");
        *(uint8_t *)slot = truth;
        return truth || tn_str_is(text, "false") || tn_str_is(text, "False") ||
               tn_str_is(text, "FALSE");
    case TN_PART_TEXT:
        break;
    }
    return false;
}

static int make_block(tarn_cx *cx, tn_block *block, size_t bytes)
{
    int rc = tn_block_reserve(cx, block, bytes + 8);

    if (rc == TARN_OK) {
        memset(block->data, 0, bytes + 8);
        block->len = bytes;
    }
    return rc;
}

static int fill_text(tarn_cx *cx, const key_column *column, size_t rows, struct ArrowArray *out)
{
    tn_block offsets = {0}, bytes = {0};
    size_t total = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < rows; i++)
        total += column->values[i].len;
    if (total > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT, "more than 2 GiB of partition values");
    TN_TRY(make_block(cx, &offsets, 4 * (rows + 1)));
    TN_TRY(make_block(cx, &bytes, total));
    total = 0;
    for (size_t i = 0; i < rows; i++) {
        if (column->values[i].len != 0)
            memcpy(bytes.data + total, column->values[i].ptr, column->values[i].len);
        total += column->values[i].len;
        ((int32_t *)(void *)offsets.data)[i + 1] = (int32_t)total;
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &offsets));
    TN_TRY(tn_array_take_block(cx, out, 2, &bytes));
done:
    tn_block_clear(&offsets);
    tn_block_clear(&bytes);
    return rc;
}

static int fill_fixed(tarn_cx *cx, const tn_dir *dir, const key_column *column, size_t width,
                      struct ArrowArray *out)
{
    tn_block block = {0};
    int rc = TARN_OK;

    TN_TRY(make_block(cx, &block, width * (dir->partition_count + 1)));
    for (size_t i = 0; i < dir->partition_count; i++) {
        uint8_t slot[8] = {0};

        if (column->values[i].ptr == NULL)
            continue;
        if (!parse_value(column->type, column->values[i], slot))
            TN_FAIL(TARN_E_INVALID,
                    "partition \"%.*s\": \"%.*s\" is not a value of the type asked for column "
                    "\"%.*s\"; give it another with --partition-types",
                    TN_STR_ARG(dir->partitions[i].path), TN_STR_ARG(column->values[i]),
                    TN_STR_ARG(column->name));
        if (column->type != TN_PART_BOOL)
            memcpy(block.data + i * width, slot, width);
        else if (slot[0] != 0)
            tn_bit_set(block.data, (int64_t)i);
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &block));
done:
    tn_block_clear(&block);
    return rc;
}

static int fill_column(tarn_cx *cx, const tn_dir *dir, const key_column *column,
                       struct ArrowSchema *schema, struct ArrowArray *array)
{
    size_t rows = dir->partition_count;
    size_t width = column->type == TN_PART_DATE ? 4 : column->type == TN_PART_BOOL ? 1 : 8;
    tn_block bits = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, schema, format_of(column->type), column->name, true, 0));
    TN_TRY(tn_array_init(cx, array, (int64_t)rows, column->type == TN_PART_TEXT ? 3 : 2, 0));
    TN_TRY(make_block(cx, &bits, rows / 8 + 1));
    for (size_t i = 0; i < rows; i++)
        if (column->values[i].ptr != NULL)
            tn_bit_set(bits.data, (int64_t)i);
        else
            array->null_count++;
    TN_TRY(tn_array_take_block(cx, array, 0, &bits));
    if (column->type == TN_PART_TEXT)
        TN_TRY(fill_text(cx, column, rows, array));
    else
        TN_TRY(fill_fixed(cx, dir, column, width, array));
done:
    tn_block_clear(&bits);
    return rc;
}

int tn_plan_scan_partitions(tarn_cx *cx, const tn_dir *dir, tn_str types,
                            struct ArrowSchema *schema, struct ArrowArray *values)
{
    struct ArrowSchema made = {0};
    struct ArrowArray rows = {0};
    keys k = {0};
    int rc = TARN_OK;

    assert(schema != NULL && values != NULL);
    TN_TRY(collect(cx, dir, &k));
    TN_TRY(apply_types(cx, &k, types));
    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, k.count));
    TN_TRY(tn_array_init(cx, &rows, (int64_t)dir->partition_count, 1, k.count));
    for (size_t c = 0; c < k.count; c++)
        TN_TRY(fill_column(cx, dir, &k.columns[c], made.children[c], rows.children[c]));
    tn_field_move(&made, schema);
    tn_array_move(&rows, values);
done:
    tn_field_release(&made);
    tn_array_release(&rows);
    tn_map_clear(&k.numbers);
    free(k.columns);
    tn_arena_clear(&k.arena);
    return rc;
}

void tn_plan_scan_drop(tn_dir *dir, const uint8_t *keep, int64_t *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < dir->partition_count; i++) {
        if (keep[i] == 0)
            continue;
        rows[n] = rows[i];
        dir->partitions[n++] = dir->partitions[i];
    }
    dir->partition_count = n;
}
