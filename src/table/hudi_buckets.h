/* What file groups show of a bucket index: Hudi stores neither that a table has one nor how many
 * buckets. */
#ifndef TN_TABLE_HUDI_BUCKETS_H
#define TN_TABLE_HUDI_BUCKETS_H

#include "table/hudi_slices.h"

/* "00000012-…": the bucket that a file group is; false: it is none. Ids of other indexes look so
 * about once in 400,000 times. */
bool tn_hudi_bucket_of(tn_str file_id, uint32_t *number);

typedef struct tn_hudi_buckets {
    uint32_t count;
    const tn_str *fields; /* that are hashed */
    size_t field_count;
} tn_hudi_buckets;
/* INVALID naming a file group that is none of so many buckets, by its number or by a key that it
 * has. Footers of a few files are read. */
int tn_hudi_buckets_check(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                          const tn_slices *slices, const tn_hudi_buckets *buckets);

#endif
