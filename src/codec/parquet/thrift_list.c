/* Lists and checked numbers on top of the compact protocol's reader.
 *
 * I1: an array is made after its count met the bytes left. */
#include "codec/parquet/thrift.h"

int32_t tn_thrift_take_count(tn_thrift *t, const tn_thrift_field *field, const char *why)
{
    int32_t value = 0;

    if (tn_thrift_take_i32(t, field, &value) && value < 0)
        tn_thrift_fault(t, why);
    return value;
}

int64_t tn_thrift_take_size(tn_thrift *t, const tn_thrift_field *field, const char *why)
{
    int64_t value = 0;

    if (tn_thrift_take_i64(t, field, &value) && value < 0)
        tn_thrift_fault(t, why);
    return value;
}

void tn_thrift_need(tn_thrift *t, bool there, const char *why)
{
    if (!there)
        tn_thrift_fault(t, why);
}

void tn_thrift_take_i64s(tn_thrift *t, const tn_thrift_field *field, int64_t **out, size_t *count)
{
    int64_t *list;
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_I64, 1, &n))
        return;
    list = tn_thrift_array(t, n, sizeof *list);
    for (size_t i = 0; i < n && list != NULL; i++)
        list[i] = tn_thrift_i64(t);
    *out = list;
    *count = n;
}

void tn_thrift_take_i32s(tn_thrift *t, const tn_thrift_field *field, int32_t **out, size_t *count)
{
    int32_t *list;
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_I32, 1, &n))
        return;
    list = tn_thrift_array(t, n, sizeof *list);
    for (size_t i = 0; i < n && list != NULL; i++)
        list[i] = tn_thrift_i32(t);
    *out = list;
    *count = n;
}

void tn_thrift_take_binaries(tn_thrift *t, const tn_thrift_field *field, tn_str **out,
                             size_t *count)
{
    tn_str *list;
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_BINARY, 1, &n))
        return;
    list = tn_thrift_array(t, n, sizeof *list);
    for (size_t i = 0; i < n && list != NULL; i++)
        list[i] = tn_thrift_binary(t);
    *out = list;
    *count = n;
}

void tn_thrift_take_bools(tn_thrift *t, const tn_thrift_field *field, bool **out, size_t *count)
{
    bool *list;
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_TRUE, 1, &n))
        return;
    list = tn_thrift_array(t, n, sizeof *list);
    for (size_t i = 0; i < n && list != NULL; i++)
        list[i] = tn_thrift_bool(t);
    *out = list;
    *count = n;
}
