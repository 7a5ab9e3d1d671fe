/* Hive's hash of key columns (ObjectInspectorUtils.hashCode).
 * I1: arithmetic wraps at 32 bits, as Java's int does. */
#include "batch/hive_hash.h"

#include <math.h>
#include <string.h>

#define MILLIS_OF_DAY 86400000
#define JAVA_NAN32    0x7FC00000u
#define JAVA_NAN64    0x7FF8000000000000u

int tn_hive_hash_check(tarn_cx *cx, const struct ArrowSchema *column)
{
    tn_buf name = {0};
    tn_type type;
    int rc = TARN_OK;

    TN_TRY(tn_type_of(cx, column, &type));
    switch (type.kind) {
    case TN_TYPE_NULL:
    case TN_TYPE_BOOL:
    case TN_TYPE_INT8:
    case TN_TYPE_INT16:
    case TN_TYPE_INT32:
    case TN_TYPE_INT64:
    case TN_TYPE_UINT8:
    case TN_TYPE_UINT16:
    case TN_TYPE_UINT32:
    case TN_TYPE_UINT64:
    case TN_TYPE_FLOAT:
    case TN_TYPE_DOUBLE:
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_DATE32:
    case TN_TYPE_DATE64:
        break;
    default:
        tn_type_print(&name, column);
        TN_FAIL(
            TARN_E_UNSUPPORTED,
            "column \"%s\" of type %.*s cannot distribute rows; use a column of text, integers, "
            "floats, booleans or dates",
            column->name, TN_STR_ARG(tn_buf_view(&name)));
    }
done:
    tn_buf_clear(&name);
    return rc;
}

static uint32_t fold(uint64_t value)
{
    return (uint32_t)(value ^ value >> 32);
}

static uint32_t hash_bytes(tn_str text)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < text.len; i++)
        hash = 31 * hash + (uint32_t)(int32_t)(signed char)text.ptr[i];
    return hash;
}

static uint32_t hash_value(const tn_type *type, const struct ArrowArray *array, int64_t at)
{
    const void *data = array->buffers[1];
    uint32_t bits32;
    uint64_t bits64;

    switch (type->kind) {
    case TN_TYPE_BOOL:
        return tn_bit(data, at);
    case TN_TYPE_FLOAT:
        memcpy(&bits32, (const float *)data + at, sizeof bits32);
        return isnan(((const float *)data)[at]) ? JAVA_NAN32 : bits32;
    case TN_TYPE_DOUBLE:
        memcpy(&bits64, (const double *)data + at, sizeof bits64);
        return fold(isnan(((const double *)data)[at]) ? JAVA_NAN64 : bits64);
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
        return hash_bytes(tn_rows_bytes(type, array, at));
    case TN_TYPE_INT64:
    case TN_TYPE_UINT64:
        return fold(((const uint64_t *)data)[at]);
    case TN_TYPE_DATE32:
        return (uint32_t)((const int32_t *)data)[at];
    case TN_TYPE_DATE64: {
        int64_t value = ((const int64_t *)data)[at];

        return (uint32_t)(value / MILLIS_OF_DAY - (value % MILLIS_OF_DAY < 0));
    }
    default:
        return (uint32_t)tn_rows_integer(type->kind, array, at);
    }
}

void tn_hive_hash_add(const tn_type *type, const struct ArrowArray *array, int64_t first,
                      int64_t count, uint32_t *hashes)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t at = array->offset + first + i;
        bool null = type->kind == TN_TYPE_NULL || tn_rows_is_null(array, at);

        hashes[i] = 31 * hashes[i] + (null ? 0 : hash_value(type, array, at));
    }
}

uint32_t tn_hive_hash_reducer(uint32_t hash, uint32_t reducers)
{
    return (hash & 0x7FFFFFFFu) % reducers;
}
