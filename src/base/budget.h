/* Memory reservations, lent through the context. Thread-safe. */
#ifndef TN_BASE_BUDGET_H
#define TN_BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

typedef struct tn_budget tn_budget;

tn_budget *tn_budget_open(uint64_t bytes);
void tn_budget_close(tn_budget *budget);

/* Reserves `bytes` or fails with TARN_E_LIMIT naming `what`, the wish and the way out (--memory).
 */
int tn_budget_take(tarn_cx *cx, uint64_t bytes, const char *what);
/* Reserves `bytes` if they are free now. */
bool tn_budget_try(tarn_cx *cx, uint64_t bytes);
void tn_budget_give(tarn_cx *cx, uint64_t bytes);
/* The whole budget; UINT64_MAX when there is none. */
uint64_t tn_budget_bytes(const tarn_cx *cx);

#endif
