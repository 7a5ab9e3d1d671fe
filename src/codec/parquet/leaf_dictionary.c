/* Decodes dictionary pages. I1: as many values as the header states are there, before memory is
 * taken for them. */
#include "codec/parquet/leaf_dictionary.h"

#include <inttypes.h>
#include <xxhash.h>

int tn_leaf_dictionary_decode(tarn_cx *cx, const tn_leaf *leaf, const tn_page *page, tn_lease *room,
                              tn_values *values, uint64_t *id)
{
    size_t n = (size_t)page->header.values;
    tn_value_decoder decoder = {0};
    const void *data;
    uint64_t hash;
    int rc = TARN_OK;

    if (page->header.encoding != TN_ENC_PLAIN && page->header.encoding != TN_ENC_PLAIN_DICTIONARY)
        TN_FAIL(TARN_E_CORRUPT, "a dictionary in encoding %" PRId32, page->header.encoding);
    if (n / 8 > page->len ||
        (leaf->physical != TN_BOOLEAN &&
         n > page->len / (leaf->physical == TN_BYTE_ARRAY ? 4 : tn_leaf_width(leaf))))
        TN_FAIL(TARN_E_CORRUPT, "a dictionary of %zu values in %zu bytes", n, page->len);
    tn_decode_value_begin(&decoder, leaf, TN_ENC_PLAIN, page->body, page->len, 0, NULL);
    TN_TRY(tn_decode_value_read(cx, &decoder, room, n, &data));
    hash = XXH3_64bits_withSeed(page->body, page->len, (uint64_t)leaf->physical << 32 | n);
    *values = (tn_values){data, (int64_t)n};
    *id = hash != 0 ? hash : 1;
done:
    tn_decode_value_clear(&decoder);
    return rc;
}
