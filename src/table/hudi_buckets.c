/* Bucket indexes, as far as files show them.
 * I1: what is refused is certain: a number that there is not, or a key whose hash is of another
 *     bucket than its file. */
#include "table/hudi_buckets.h"

#include <inttypes.h>

#include "batch/record_key.h"
#include "codec/parquet/file.h"

#define DIGITS     8
#define NUMBER_MAX 9999 /* more buckets than a partition has; random ids seldom begin so low */
#define FILES_MAX  4

bool tn_hudi_bucket_of(tn_str file_id, uint32_t *number)
{
    uint32_t made = 0;

    if (file_id.len <= DIGITS || file_id.ptr[DIGITS] != '-')
        return false;
    for (size_t i = 0; i < DIGITS; i++) {
        if (file_id.ptr[i] < '0' || file_id.ptr[i] > '9')
            return false;
        made = made * 10 + (uint32_t)(file_id.ptr[i] - '0');
    }
    *number = made;
    return made <= NUMBER_MAX;
}

static int check_key(tarn_cx *cx, tn_str root, const tn_hudi_config *config,
                     const tn_base_file *base, const tn_hudi_buckets *buckets, tn_str key,
                     uint32_t number)
{
    uint32_t made;

    if (key.len == 0)
        return TARN_OK;
    made = tn_record_key_bucket(key, config->keys, config->key_count, buckets->fields,
                                buckets->field_count, buckets->count);
    if (made == number)
        return TARN_OK;
    return tn_fail(
        cx, TARN_E_INVALID,
        "%.*s: the key \"%.*s\" is in file group %.*s, bucket %" PRIu32 ", and among %" PRIu32
        " buckets it would be of %" PRIu32
        ": give hoodie.bucket.index.num.buckets (and hash.field) as the table was written "
        "with",
        TN_STR_ARG(root), (int)(key.len < 60 ? key.len : 60), key.ptr, TN_STR_ARG(base->file_id),
        number, buckets->count, made);
}

static int check_file(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                      const tn_base_file *base, const tn_hudi_buckets *buckets, uint32_t number)
{
    tn_parquet parquet = {0};
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, store, base->path, &parquet));
    TN_TRY(check_key(cx, root, config, base, buckets,
                     tn_parquet_key_value(&parquet, "hoodie_min_record_key"), number));
    TN_TRY(check_key(cx, root, config, base, buckets,
                     tn_parquet_key_value(&parquet, "hoodie_max_record_key"), number));
done:
    tn_parquet_close(&parquet);
    return rc;
}

int tn_hudi_buckets_check(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                          const tn_slices *slices, const tn_hudi_buckets *buckets)
{
    size_t looked_at = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < slices->slice_count; i++) {
        const tn_base_file *base = &slices->slices[i].base;
        uint32_t number;

        if (!tn_hudi_bucket_of(base->file_id, &number) || number >= buckets->count)
            TN_FAIL(TARN_E_INVALID,
                    "%.*s: file group %.*s of partition \"%.*s\" is none of a bucket index with "
                    "%" PRIu32
                    " buckets: give the index and hoodie.bucket.index.num.buckets as the "
                    "table was written with",
                    TN_STR_ARG(root), TN_STR_ARG(base->file_id), TN_STR_ARG(base->partition_path),
                    buckets->count);
        if (base->name.len != 0 && looked_at++ < FILES_MAX)
            TN_TRY(check_file(cx, store, root, config, base, buckets, number));
    }
done:
    return rc;
}
