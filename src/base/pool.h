/* One pool of threads per operation. */
#ifndef TN_BASE_POOL_H
#define TN_BASE_POOL_H

#include <stddef.h>

#include "base/context.h"

typedef struct tn_pool tn_pool;

/* `jobs` threads work in all, the calling one included. NULL when threads or memory are short. */
tn_pool *tn_pool_open(unsigned jobs);
void tn_pool_close(tn_pool *pool);
unsigned tn_pool_jobs(const tn_pool *pool);

typedef int (*tn_job)(tarn_cx *cx, size_t i, void *arg);

/* Calls fn(child, i, arg) once for each i < n, in any order, on the pool of `cx`; inline, in order,
 * where it has none. After a failure no new i is started; the failure with the lowest i among those
 * met is the one reported. Returns when all calls have ended. A worker's child context has no pool:
 * nested calls run inline. */
int tn_parallel(tarn_cx *cx, size_t n, tn_job fn, void *arg);

#endif
