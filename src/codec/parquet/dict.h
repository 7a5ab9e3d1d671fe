/* The dictionary under construction of one column chunk: distinct values by their bytes (so -0.0
 * and 0.0 differ, and NaNs by payload), in order of first sight. Not thread-safe. Zeroed, with
 * `width` or `views` set, is empty and valid. */
#ifndef TN_PARQUET_DICT_H
#define TN_PARQUET_DICT_H

#include "codec/parquet/leaf.h"

typedef struct tn_dict {
    bool views;   /* BYTE_ARRAY; else `width` bytes a value */
    size_t width; /* never 0 unless `views` */
    tn_buf plain; /* the dictionary page's body: all values by PLAIN */
    tn_buf spans; /* views: uint32_t offset in `plain` of each value's length */
    uint32_t count;
    struct tn_dict_slot *slot;
    unsigned slot_bits;
} tn_dict;

void tn_dict_clear(tn_dict *dict);
/* Gives the index of each of `count` values, adding those that are new, until `plain` would pass
 * `bytes_max`; *done tells how many have got their index. */
int tn_dict_add(tarn_cx *cx, tn_dict *dict, const void *values, size_t count, uint64_t bytes_max,
                uint32_t *indices, size_t *done);
/* Makes room in the table for so many distinct values at once, instead of by doubling. */
int tn_dict_expect(tarn_cx *cx, tn_dict *dict, size_t distinct);
/* Forgets the values from index `count` on. */
int tn_dict_truncate(tarn_cx *cx, tn_dict *dict, uint32_t count);
/* Bytes held, for the memory budget. */
uint64_t tn_dict_bytes(const tn_dict *dict);

static inline tn_view tn_dict_view(const tn_dict *dict, uint32_t index)
{
    uint32_t at, len;

    memcpy(&at, dict->spans.data + (size_t)index * 4, 4);
    memcpy(&len, dict->plain.data + at, 4);
    return (tn_view){dict->plain.data + at + 4, len};
}

#endif
