/* The values of one data page, whatever their encoding. */
#ifndef TN_PARQUET_DECODE_VALUE_H
#define TN_PARQUET_DECODE_VALUE_H

#include "codec/parquet/decode_delta.h"
#include "codec/parquet/decode_dictionary.h"
#include "codec/parquet/decode_plain.h"
#include "codec/parquet/leaf.h"
#include "codec/parquet/lease.h"

typedef struct tn_value_decoder {
    enum tn_physical physical;
    size_t width; /* tn_leaf_width */
    int32_t encoding;
    const tn_values *dictionary; /* NULL: none was met */
    const uint8_t *bytes;        /* of the values, borrowed */
    size_t len, base;
    bool opened;     /* bytes are looked at when the first value is wanted: a page of nulls may have
                        none */
    uint64_t passed; /* values to pass over before the next is read */
    tn_plain_decoder plain;
    tn_rle_decoder rle; /* dictionary indices, booleans */
    tn_delta_decoder delta;
    tn_delta_length_decoder lengths;
    tn_delta_bytes_decoder strings;
    size_t split_count, split_at; /* BYTE_STREAM_SPLIT */
    tn_lease room;                /* bytes of the strings given last */
} tn_value_decoder;

/* Starts a page; memory of an earlier one is used again. Zeroed is valid before the first. */
void tn_decode_value_begin(tn_value_decoder *decoder, const tn_leaf *leaf, int32_t encoding,
                           const uint8_t *bytes, size_t len, size_t base,
                           const tn_values *dictionary);
void tn_decode_value_clear(tn_value_decoder *decoder);
/* True when the page holds indices. */
bool tn_decode_value_is_indices(const tn_value_decoder *decoder);
/* Lowers *n (never below one) to what stays within bytes_max where values grow beyond the page. */
int tn_decode_value_fit(tarn_cx *cx, tn_value_decoder *decoder, uint64_t bytes_max, size_t *n);
/* The next n values: *out points into the page or into `into`. What views point to lives until the
 * next read of this decoder, or, for dictionary pages, as long as the dictionary. */
int tn_decode_value_read(tarn_cx *cx, tn_value_decoder *decoder, tn_lease *into, size_t n,
                         const void **out);
int tn_decode_value_indices(tarn_cx *cx, tn_value_decoder *decoder, tn_lease *into, size_t n,
                            const uint32_t **out);
/* Passes over n values, when the next is wanted. */
void tn_decode_value_skip(tn_value_decoder *decoder, uint64_t n);

#endif
