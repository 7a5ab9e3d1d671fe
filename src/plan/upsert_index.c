/* Inserts of a table with a bucket index: the key's hash decides, sizes do not matter
 * (format/writes.md 9).
 * I1: bucket b's file group has an id that begins with b in eight digits, and there is one such
 *     group in a partition.
 * I2: a partition with inserts has as many insert buckets as the index, in order; those that get
 *     no row make no file. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/upsert_parts.h"

#define DIGITS 8

static bool bucket_number(tn_str file_id, uint32_t *out)
{
    uint32_t number = 0;

    if (file_id.len < DIGITS)
        return false;
    for (size_t i = 0; i < DIGITS; i++) {
        if (file_id.ptr[i] < '0' || file_id.ptr[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(file_id.ptr[i] - '0');
    }
    *out = number;
    return true;
}

/* I1, for what is stored: *by_bucket is NULL where a bucket has no file group. */
static int files_by_bucket(tarn_cx *cx, const tn_upsert_planning *p, const tn_upsert_in *in,
                           const tn_base_file ***out)
{
    uint32_t buckets = p->plan->index_buckets, number = 0;
    const tn_base_file **by_bucket = tn_arena_array(cx, p->arena, buckets, sizeof *by_bucket);
    int rc = TARN_OK;

    if (by_bucket == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < in->file_count; i++) {
        const tn_base_file *file = in->files[i];

        if (!bucket_number(file->file_id, &number) || number >= buckets)
            TN_FAIL(
                TARN_E_INVALID,
                "partition \"%.*s\": file group %.*s is none of a bucket index with %u buckets; "
                "give hoodie.bucket.index.num.buckets as the table was written with it",
                TN_STR_ARG(in->path), TN_STR_ARG(file->file_id), buckets);
        if (by_bucket[number] != NULL)
            TN_FAIL(
                TARN_E_CORRUPT,
                "partition \"%.*s\": file groups %.*s and %.*s are both of bucket %u, so no row "
                "of it can be placed; cluster or rewrite the partition first",
                TN_STR_ARG(in->path), TN_STR_ARG(by_bucket[number]->file_id),
                TN_STR_ARG(file->file_id), number);
        by_bucket[number] = file;
    }
    *out = by_bucket;
done:
    return rc;
}

static int name_bucket(tarn_cx *cx, const tn_upsert_planning *p, tn_bucket *bucket, uint32_t number)
{
    tn_str random = bucket->file_id;

    assert(random.len > DIGITS);
    return tn_arena_print(cx, p->arena, &bucket->file_id, "%08u%.*s", number,
                          TN_STR_ARG(tn_str_from(random, DIGITS)));
}

int tn_upsert_index(tarn_cx *cx, tn_upsert_planning *p, const tn_upsert_in *in)
{
    bool fills = tn_upsert_fills_files(p->options) || p->options->operation == TN_OP_BULK_INSERT;
    uint32_t buckets = p->plan->index_buckets;
    const tn_base_file **files = NULL;
    int rc = TARN_OK;

    if (fills)
        TN_TRY(files_by_bucket(cx, p, in, &files));
    for (uint32_t i = 0; i < buckets; i++) {
        tn_bucket *bucket;

        if (fills && files[i] != NULL)
            TN_TRY(tn_upsert_bucket_of(cx, p, files[i], &bucket));
        else {
            TN_TRY(tn_upsert_bucket_new(cx, p, &bucket));
            TN_TRY(name_bucket(cx, p, bucket, i));
        }
        if (in->inserts > 0)
            bucket->inserts = in->inserts / buckets + (i < (uint64_t)in->inserts % buckets);
        TN_TRY(
            tn_arena_print(cx, p->arena, &bucket->why, "bucket %u of %u of the index", i, buckets));
        TN_TRY(tn_upsert_takes(cx, p, bucket));
    }
done:
    return rc;
}
