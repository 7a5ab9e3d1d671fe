/* The context: a caller's error text, limits, clock, cancel flag, threads and memory budget.
 * One per thread of the caller; a context never leads to a table or a store.
 *
 *     tarn_cx *cx = tarn_cx_open(NULL);
 *     if (tarn_merge(cx, ...) != TARN_OK) fprintf(stderr, "%s\n", tarn_cx_error(cx));
 *     tarn_cx_close(cx);
 */
#ifndef TARN_CONTEXT_H
#define TARN_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tarn_cx tarn_cx;

typedef struct tarn_cx_options {
    unsigned jobs; /* threads of one operation; 0: one per processor; 1: none but the caller's */
    uint64_t memory_bytes;     /* budget of row data and buffers; 0: 192 MiB */
    int64_t (*now_ms)(void *); /* milliseconds since 1970 UTC; NULL: the system clock */
    void *now_arg;
    uint64_t seed; /* of generated ids; 0: from the system */
} tarn_cx_options;

/* NULL only when memory is short. `options` may be NULL; it is copied. */
TARN_API tarn_cx *tarn_cx_open(const tarn_cx_options *options);
TARN_API void tarn_cx_close(tarn_cx *cx);

/* Text and status of the last failure; "" and TARN_OK before any. Valid until the next call with
 * `cx`. */
TARN_API const char *tarn_cx_error(const tarn_cx *cx);
TARN_API int tarn_cx_status(const tarn_cx *cx);

/* Asks running calls on `cx` to stop with TARN_E_CANCELLED. Safe from other threads and from signal
 * handlers. */
TARN_API void tarn_cx_cancel(tarn_cx *cx);

#ifdef __cplusplus
}
#endif
#endif
