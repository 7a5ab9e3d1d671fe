/* DELTA_LENGTH_BYTE_ARRAY: all lengths by DELTA_BINARY_PACKED (32 bits), then all bytes.
 * DELTA_BYTE_ARRAY: the lengths of the prefixes shared with the value before, likewise, then the
 * suffixes as DELTA_LENGTH_BYTE_ARRAY. */
#include "codec/parquet/encode.h"

void tn_encode_delta_length(tn_buf *out, const tn_view *values, size_t count)
{
    tn_buf lengths = {0};
    size_t total = 0;
    uint8_t *to = tn_buf_extend(&lengths, count * sizeof(int32_t));

    if (to == NULL) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * 4, &values[i].len, 4);
        total += values[i].len;
    }
    tn_encode_delta32(out, (const int32_t *)(const void *)lengths.data, count);
    tn_buf_clear(&lengths);
    to = tn_buf_extend(out, total);
    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (values[i].len != 0)
            memcpy(to, values[i].ptr, values[i].len);
        to += values[i].len;
    }
}

static uint32_t shared_prefix(tn_view a, tn_view b)
{
    uint32_t n = a.len < b.len ? a.len : b.len, i = 0;

    while (i < n && a.ptr[i] == b.ptr[i])
        i++;
    return i;
}

void tn_encode_delta_bytes(tn_buf *out, const tn_view *values, size_t count)
{
    tn_buf prefixes = {0}, suffixes = {0};
    int32_t *prefix = (int32_t *)(void *)tn_buf_extend(&prefixes, (count + 1) * sizeof(int32_t));
    tn_view *suffix = (tn_view *)(void *)tn_buf_extend(&suffixes, (count + 1) * sizeof(tn_view));

    if (prefix != NULL && suffix != NULL) {
        for (size_t i = 0; i < count; i++) {
            uint32_t n = i != 0 ? shared_prefix(values[i - 1], values[i]) : 0;

            prefix[i] = (int32_t)n;
            suffix[i] = n != 0 ? (tn_view){values[i].ptr + n, values[i].len - n} : values[i];
        }
        tn_encode_delta32(out, prefix, count);
        tn_encode_delta_length(out, suffix, count);
    } else {
        out->failed = true;
    }
    tn_buf_clear(&prefixes);
    tn_buf_clear(&suffixes);
}
