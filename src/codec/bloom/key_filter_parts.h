/* The inside of a key filter, shared by its two files. */
#ifndef TN_CODEC_KEY_FILTER_PARTS_H
#define TN_CODEC_KEY_FILTER_PARTS_H

#include "codec/bloom/key_filter.h"

#define TN_KEY_FILTER_JENKINS 0
#define TN_KEY_FILTER_MURMUR  1

struct tn_key_filter {
    enum tn_key_filter_kind kind;
    bool old_form; /* the text had no version: Jenkins */
    bool parsed;
    uint8_t hash_type;
    uint32_t hashes, bits;
    uint32_t row_keys, row_count; /* most keys of a row of a dynamic one; keys in the last row */
    uint64_t keys_max;
    bool bounded;
    uint32_t turn; /* the row that the next key of a bounded one goes to */
    uint32_t **rows;
    size_t count, cap;
    uint32_t **planes;
    size_t plane_count;
};

static inline size_t tn_key_filter_row_bytes(const tn_key_filter *filter)
{
    return ((size_t)filter->bits + 7) / 8;
}

static inline size_t tn_key_filter_row_words(const tn_key_filter *filter)
{
    return ((size_t)filter->bits + 31) / 32;
}

/* Another row without keys. */
int tn_key_filter_row_add(tarn_cx *cx, tn_key_filter *filter);

#endif
