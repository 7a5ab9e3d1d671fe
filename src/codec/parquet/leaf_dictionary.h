/* The values of a dictionary page. */
#ifndef TN_PARQUET_LEAF_DICTIONARY_H
#define TN_PARQUET_LEAF_DICTIONARY_H

#include "codec/parquet/decode_value.h"
#include "codec/parquet/page_read.h"

/* Decodes a dictionary page that was read. The values live in `room` and point into the page. *id
 * is a hash of what the page holds, so that it differs between dictionaries of different chunks and
 * files too; never 0. Failures lack the place. */
int tn_leaf_dictionary_decode(tarn_cx *cx, const tn_leaf *leaf, const tn_page *page, tn_lease *room,
                              tn_values *values, uint64_t *id);

#endif
