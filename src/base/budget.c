/* Memory reservations. I1: used never exceeds the whole. */
#include "base/budget.h"

#include <inttypes.h>
#include <stdlib.h>

struct tn_budget {
    uint64_t whole;
    _Atomic uint64_t used;
};

tn_budget *tn_budget_open(uint64_t bytes)
{
    tn_budget *budget = calloc(1, sizeof *budget);

    if (budget != NULL)
        budget->whole = bytes;
    return budget;
}

void tn_budget_close(tn_budget *budget)
{
    free(budget);
}

bool tn_budget_try(tarn_cx *cx, uint64_t bytes)
{
    tn_budget *budget = cx->budget;
    uint64_t used;

    if (budget == NULL)
        return true;
    used = atomic_load(&budget->used);
    do {
        if (bytes > budget->whole - used)
            return false;
    } while (!atomic_compare_exchange_weak(&budget->used, &used, used + bytes));
    return true;
}

int tn_budget_take(tarn_cx *cx, uint64_t bytes, const char *what)
{
    if (tn_budget_try(cx, bytes))
        return TARN_OK;
    return tn_fail(cx, TARN_E_LIMIT,
                   "%s needs %" PRIu64 " bytes, more than is left of the memory budget of %" PRIu64
                   " bytes; give more with --memory",
                   what, bytes, cx->budget->whole);
}

void tn_budget_give(tarn_cx *cx, uint64_t bytes)
{
    if (cx->budget != NULL)
        atomic_fetch_sub(&cx->budget->used, bytes);
}

uint64_t tn_budget_bytes(const tarn_cx *cx)
{
    return cx->budget != NULL ? cx->budget->whole : UINT64_MAX;
}
