/* Values of partition columns from texts.
 * I1: a text that is no value of its column's type is an error, never another value. */
#include "plan/scan_values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/moment.h"
#include "batch/number.h"

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

static int fill_text(tarn_cx *cx, const tn_scan_values *column, size_t rows, struct ArrowArray *out)
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

static int fill_fixed(tarn_cx *cx, const tn_scan_values *column, const tn_str *paths, size_t rows,
                      size_t width, struct ArrowArray *out)
{
    tn_block block = {0};
    int rc = TARN_OK;

    TN_TRY(make_block(cx, &block, width * (rows + 1)));
    for (size_t i = 0; i < rows; i++) {
        uint8_t slot[8] = {0};

        if (column->values[i].ptr == NULL)
            continue;
        if (!parse_value(column->type, column->values[i], slot))
            TN_FAIL(TARN_E_INVALID,
                    "partition \"%.*s\": \"%.*s\" is not a value of the type asked for column "
                    "\"%.*s\"; give it another with --partition-types",
                    TN_STR_ARG(paths[i]), TN_STR_ARG(column->values[i]), TN_STR_ARG(column->name));
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

static int fill_column(tarn_cx *cx, const tn_scan_values *column, const tn_str *paths, size_t rows,
                       struct ArrowSchema *schema, struct ArrowArray *array)
{
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
        TN_TRY(fill_fixed(cx, column, paths, rows, width, array));
done:
    tn_block_clear(&bits);
    return rc;
}

int tn_scan_values_make(tarn_cx *cx, const tn_scan_values *columns, size_t count,
                        const tn_str *paths, size_t rows, struct ArrowSchema *schema,
                        struct ArrowArray *values)
{
    struct ArrowSchema made = {0};
    struct ArrowArray array = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, count));
    TN_TRY(tn_array_init(cx, &array, (int64_t)rows, 1, count));
    for (size_t c = 0; c < count; c++)
        TN_TRY(fill_column(cx, &columns[c], paths, rows, made.children[c], array.children[c]));
    tn_field_move(&made, schema);
    tn_array_move(&array, values);
done:
    tn_field_release(&made);
    tn_array_release(&array);
    return rc;
}
