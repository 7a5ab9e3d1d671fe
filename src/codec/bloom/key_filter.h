/* Hudi's bloom filter over record keys, byte for byte (org.apache.hudi.common.bloom:
 * SimpleBloomFilter, HoodieDynamicBoundedBloomFilter; the page docs/format/key-filter.md has the
 * bytes). One thread writes; any number test. */
#ifndef TN_CODEC_KEY_FILTER_H
#define TN_CODEC_KEY_FILTER_H

#include "base/buf.h"

enum tn_key_filter_kind { TN_KEY_FILTER_SIMPLE = 1, TN_KEY_FILTER_DYNAMIC };

/* Fewest keys that a filter is sized for. */
#define TN_KEY_FILTER_KEYS_MIN 16

typedef struct tn_key_filter tn_key_filter;

/* Sized for `keys` (at least KEYS_MIN are taken) at rate `fpp`; keys_max is that of a dynamic one
 * (hoodie.bloom.index.filter.dynamic.max.entries). LIMIT for absurd sizes. */
int tn_key_filter_open(tarn_cx *cx, enum tn_key_filter_kind kind, uint64_t keys, double fpp,
                       uint64_t keys_max, tn_key_filter **out);
void tn_key_filter_close(tn_key_filter *filter);
/* Adds keys as Hudi would, in this order: key i is data[offsets[i] .. offsets[i + 1]) as in an
 * Arrow utf8 array. An empty key is INVALID. Several keys are hashed at once; pieces on the pool of
 * `cx`. */
int tn_key_filter_add(tarn_cx *cx, tn_key_filter *filter, const char *data, const int32_t *offsets,
                      int64_t count);
bool tn_key_filter_has(const tn_key_filter *filter, tn_str key);
/* The text of the footer key "org.apache.hudi.bloomfilter". */
int tn_key_filter_print(tarn_cx *cx, const tn_key_filter *filter, tn_buf *out);
/* From that text; `kind` by "hoodie_bloom_filter_type_code" (absent: SIMPLE). CORRUPT when it is no
 * filter. Also reads the old form (a positive first int: Jenkins), for which _has is always true.
 */
int tn_key_filter_parse(tarn_cx *cx, tn_str text, enum tn_key_filter_kind kind, tn_str path,
                        tn_key_filter **out);
/* How many keys more fit at its rate, given how many its file has; 0 for one that must not grow. */
uint64_t tn_key_filter_room(const tn_key_filter *filter, uint64_t keys_in_file);
/* Bytes of its printed form. */
uint64_t tn_key_filter_text_bytes(const tn_key_filter *filter);

#endif
