/* I1: `charged` is `cap` above TN_LEASE_FREE_BYTES, else 0. */
#include "codec/parquet/lease.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"

static void give_back(struct tn_budget *budget, uint64_t bytes)
{
    tarn_cx lender = {.budget = budget};

    if (bytes != 0)
        tn_budget_give(&lender, bytes);
}

int tn_lease_grow(tarn_cx *cx, tn_lease *lease, size_t bytes, size_t keep, const char *what)
{
    size_t cap = bytes < 256 ? 256 : bytes;
    uint64_t charge;
    uint8_t *data;
    int rc = TARN_OK;

    if (bytes <= lease->cap && lease->data != NULL)
        return TARN_OK;
    if (keep != 0 && cap < lease->cap + lease->cap / 2)
        cap = lease->cap + lease->cap / 2;
    charge = cap > TN_LEASE_FREE_BYTES ? cap : 0;
    if (charge != 0)
        TN_TRY(tn_budget_take(cx, charge, what));
    data = tn_alloc(cx, cap);
    if (data == NULL) {
        if (charge != 0)
            tn_budget_give(cx, charge);
        return TARN_E_NOMEM;
    }
    if (keep != 0)
        memcpy(data, lease->data, keep);
    tn_lease_clear(lease);
    *lease = (tn_lease){data, cap, charge, cx->budget};
done:
    return rc;
}

void tn_lease_clear(tn_lease *lease)
{
    free(lease->data);
    give_back(lease->budget, lease->charged);
    *lease = (tn_lease){0};
}
