/* Which bucket an insert goes to, where every row has a bucket of its own: with exact sizing, and
 * with a bucket index (format/writes.md 2.3.3 and 9). */
#ifndef TN_TASK_UPSERT_ROUTE_H
#define TN_TASK_UPSERT_ROUTE_H

#include "task/upsert.h"

/* Index into plan->buckets for an insert of a partition that has insert buckets. `hash`: with exact
 * sizing tn_record_key_md5 of the key; with a bucket index tn_record_key_bucket of it. */
uint32_t tn_upsert_route(const tn_upsert_plan *plan, size_t partition, int64_t hash);

#endif
