/* Routing of inserts.
 * I1: the arithmetic is that of UpsertPartitioner.getPartition, double for double: the hash modulo
 *     the number of planned inserts, as a fraction, is searched in the cumulative weights as
 *     Collections.binarySearch does. An exact hit stays where it is, so a fraction that equals the
 *     end of a bucket belongs to that bucket and not to the next; past the end is the first. */
#include "task/upsert_route.h"

#include <assert.h>

static int64_t floor_mod(int64_t value, int64_t by)
{
    int64_t rest = value % by;

    return rest < 0 ? rest + by : rest;
}

/* I1. */
static size_t search(const tn_upsert_plan *plan, const tn_upsert_partition *p, double fraction)
{
    const uint32_t *numbers = plan->insert_buckets + p->first_insert;
    size_t low = 0, high = p->insert_bucket_count; /* high is one past the last */

    while (low < high) {
        size_t mid = low + (high - 1 - low) / 2;
        double until = plan->buckets[numbers[mid]].until;

        if (until < fraction)
            low = mid + 1;
        else if (until > fraction)
            high = mid;
        else
            return mid;
    }
    return low < p->insert_bucket_count ? low : 0;
}

uint32_t tn_upsert_route(const tn_upsert_plan *plan, size_t partition, int64_t hash)
{
    const tn_upsert_partition *p = &plan->partitions[partition];
    int64_t inserts = p->inserts > 1 ? p->inserts : 1;

    assert(partition < plan->partition_count);
    assert(p->insert_bucket_count > 0);
    if (plan->index_buckets != 0) {
        assert(plan->index_buckets == p->insert_bucket_count);
        assert(hash >= 0 && hash < (int64_t)plan->index_buckets);
        return plan->insert_buckets[p->first_insert + (size_t)hash];
    }
    assert(plan->exact);
    return plan
        ->insert_buckets[p->first_insert +
                         search(plan, p, 1.0 * (double)floor_mod(hash, inserts) / (double)inserts)];
}
