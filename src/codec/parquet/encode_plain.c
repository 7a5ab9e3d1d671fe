/* PLAIN: values back to back, little-endian; BYTE_ARRAY with a length of four bytes before each;
 * BOOLEAN one bit each, lowest first.
 * Example: the strings "ab", "" are 02 00 00 00 61 62 00 00 00 00; true, false, true is 05. */
#include "codec/parquet/encode.h"

static void put_booleans(tn_buf *out, const uint8_t *values, size_t count)
{
    uint8_t *to = tn_buf_extend(out, (count + 7) / 8);

    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i += 8) {
        uint8_t bits = 0;

        for (size_t k = 0; k < 8 && i + k < count; k++)
            bits |= (uint8_t)((values[i + k] != 0) << k);
        to[i / 8] = bits;
    }
}

static void put_views(tn_buf *out, const tn_view *values, size_t count)
{
    size_t total = 4 * count;
    uint8_t *to;

    for (size_t i = 0; i < count; i++)
        total += values[i].len;
    to = tn_buf_extend(out, total);
    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        memcpy(to, &values[i].len, 4);
        if (values[i].len != 0)
            memcpy(to + 4, values[i].ptr, values[i].len);
        to += 4 + values[i].len;
    }
}

void tn_encode_plain(tn_buf *out, const tn_leaf *leaf, tn_values values)
{
    if (leaf->physical == TN_BOOLEAN)
        put_booleans(out, values.data, (size_t)values.count);
    else if (leaf->physical == TN_BYTE_ARRAY)
        put_views(out, values.data, (size_t)values.count);
    else
        tn_buf_add(out, values.data, (size_t)values.count * tn_leaf_width(leaf));
}
