/* The inside of a context, and the two macros that steer control (style: section 6). */
#ifndef TN_BASE_CONTEXT_H
#define TN_BASE_CONTEXT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "tarn/context.h"

struct tn_pool;
struct tn_budget;

struct tarn_cx {
    int status;
    char text[TN_ERROR_TEXT_MAX];
    struct tn_pool *pool;     /* NULL: work runs inline; child contexts of workers have none */
    struct tn_budget *budget; /* shared by parent and children; NULL: unlimited */
    atomic_bool *cancel;      /* shared by parent and children */
    int64_t (*now_ms)(void *);
    void *now_arg;
    uint64_t id_state; /* of tn_cx_random; only the caller's thread draws from it */
    bool owner;        /* false for children */
    void *scratch;     /* tn_cx_scratch */
    void (*scratch_clear)(void *);
};

#define TN_TRY(expr)                                                                               \
    do {                                                                                           \
        if ((rc = (expr)) != TARN_OK)                                                              \
            goto done;                                                                             \
    } while (0)
#define TN_FAIL(code, ...)                                                                         \
    do {                                                                                           \
        rc = tn_fail(cx, (code), __VA_ARGS__);                                                     \
        goto done;                                                                                 \
    } while (0)

/* Stores status and text, returns the status. */
int tn_fail(tarn_cx *cx, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Puts "prefix: " before the text of the failure just met, whose status becomes `status`. */
int tn_fail_within(tarn_cx *cx, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int tn_fail_memory(tarn_cx *cx);
/* Forgets the last failure, for a caller that has dealt with it. */
void tn_cx_forget(tarn_cx *cx);

/* A child for a worker: same limits, budget, cancel flag and clock; own error text; no pool. */
void tn_cx_child(tarn_cx *child, const tarn_cx *parent);
void tn_cx_child_clear(tarn_cx *child);
/* Working memory that is dear to make and used by one thread at a time, such as the contexts of a
 * compression library: `size` bytes, zeroed at first use and kept until the context ends, when
 * `clear` is called on them. There is one kind per context. NULL with NOMEM in `cx`. */
void *tn_cx_scratch(tarn_cx *cx, size_t size, void (*clear)(void *));
/* TARN_E_CANCELLED with text when the caller asked to stop. Call it in loops over files, groups and
 * pages. */
int tn_cx_check(tarn_cx *cx);
int64_t tn_cx_now_ms(const tarn_cx *cx);
/* The next pseudo-random value of the context's seed (splitmix64). */
uint64_t tn_cx_random(tarn_cx *cx);
/* How many threads tn_parallel uses, at least 1. */
unsigned tn_cx_jobs(const tarn_cx *cx);

/* malloc and friends that set NOMEM. A size of 0 gives a valid pointer. Free with free(). */
void *tn_alloc(tarn_cx *cx, size_t size);
void *tn_calloc(tarn_cx *cx, size_t count, size_t size);
/* count * size, checked; on failure the old block stays valid. */
void *tn_realloc(tarn_cx *cx, void *block, size_t count, size_t size);
/* Makes room for one more in an array from these: `array` points to its pointer, which holds
 * `count` items in a room for *cap. The room doubles; what is new is not zeroed. */
int tn_grow(tarn_cx *cx, void *array, size_t count, size_t *cap, size_t size);

#endif
