/* One growing block of memory whose size counts against the budget once it is worth counting. */
#ifndef TN_PARQUET_LEASE_H
#define TN_PARQUET_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* Blocks up to this are not charged. */
#define TN_LEASE_FREE_BYTES (1u << 20)

/* Zeroed is empty and valid. */
typedef struct tn_lease {
    uint8_t *data;
    size_t cap;
    uint64_t charged;
    struct tn_budget *budget; /* that `charged` was taken from */
} tn_lease;

/* At least `bytes` of room, aligned for any type; `keep` of the old bytes survive. LIMIT when the
 * budget is short, naming `what`. The old block stays valid on failure. */
int tn_lease_grow(tarn_cx *cx, tn_lease *lease, size_t bytes, size_t keep, const char *what);
void tn_lease_clear(tn_lease *lease);

#endif
