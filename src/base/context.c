/* The context.
 * I1: a child shares its parent's budget, cancel flag and clock, never its error text.
 * I2: only the owner frees what is shared. */
#include "base/context.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/pool.h"

static int64_t system_now_ms(void *arg)
{
    struct timespec now;

    (void)arg;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t system_seed(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec << 32) ^ (uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 40);
}

static unsigned jobs_of(const tarn_cx_options *options)
{
    long online;

    if (options->jobs != 0)
        return options->jobs > TN_JOBS_MAX ? TN_JOBS_MAX : options->jobs;
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > TN_JOBS_MAX ? TN_JOBS_MAX : (unsigned)online;
}

tarn_cx *tarn_cx_open(const tarn_cx_options *options)
{
    static const tarn_cx_options defaults = {0};
    tarn_cx *cx = calloc(1, sizeof *cx);
    unsigned jobs;

    if (cx == NULL)
        return NULL;
    if (options == NULL)
        options = &defaults;
    cx->owner = true;
    cx->now_ms = options->now_ms != NULL ? options->now_ms : system_now_ms;
    cx->now_arg = options->now_arg;
    cx->id_state = options->seed != 0 ? options->seed : system_seed();
    cx->cancel = calloc(1, sizeof *cx->cancel);
    cx->budget = tn_budget_open(options->memory_bytes != 0 ? options->memory_bytes
                                                           : TN_MEMORY_DEFAULT_BYTES);
    jobs = jobs_of(options);
    cx->pool = jobs > 1 ? tn_pool_open(jobs) : NULL;
    if (cx->cancel == NULL || cx->budget == NULL || (jobs > 1 && cx->pool == NULL)) {
        tarn_cx_close(cx);
        return NULL;
    }
    return cx;
}

void tarn_cx_close(tarn_cx *cx)
{
    if (cx == NULL || !cx->owner)
        return;
    tn_cx_child_clear(cx);
    tn_pool_close(cx->pool);
    tn_budget_close(cx->budget);
    free(cx->cancel);
    free(cx);
}

const char *tarn_cx_error(const tarn_cx *cx)
{
    return cx->text;
}

int tarn_cx_status(const tarn_cx *cx)
{
    return cx->status;
}

void tarn_cx_cancel(tarn_cx *cx)
{
    atomic_store(cx->cancel, true);
}

int tn_fail(tarn_cx *cx, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(cx->text, sizeof cx->text, format, args);
    va_end(args);
    cx->status = status;
    return status;
}

int tn_fail_within(tarn_cx *cx, int status, const char *format, ...)
{
    char prefix[TN_ERROR_TEXT_MAX / 2];
    size_t length, room;
    va_list args;

    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    length = strlen(prefix);
    room = sizeof cx->text - length - 3;
    if (strlen(cx->text) > room)
        cx->text[room] = '\0';
    memmove(cx->text + length + 2, cx->text, strlen(cx->text) + 1);
    memcpy(cx->text, prefix, length);
    memcpy(cx->text + length, ": ", 2);
    cx->status = status;
    return status;
}

int tn_fail_memory(tarn_cx *cx)
{
    return tn_fail(cx, TARN_E_NOMEM, "out of memory");
}

void tn_cx_forget(tarn_cx *cx)
{
    cx->status = TARN_OK;
    cx->text[0] = '\0';
}

void tn_cx_child(tarn_cx *child, const tarn_cx *parent)
{
    memset(child, 0, sizeof *child);
    child->budget = parent->budget;
    child->cancel = parent->cancel;
    child->now_ms = parent->now_ms;
    child->now_arg = parent->now_arg;
}

void tn_cx_child_clear(tarn_cx *child)
{
    if (child->scratch != NULL)
        child->scratch_clear(child->scratch);
    free(child->scratch);
    child->scratch = NULL;
}

void *tn_cx_scratch(tarn_cx *cx, size_t size, void (*clear)(void *))
{
    assert(cx->scratch == NULL || cx->scratch_clear == clear);
    if (cx->scratch == NULL) {
        cx->scratch = tn_calloc(cx, 1, size);
        cx->scratch_clear = clear;
    }
    return cx->scratch;
}

int tn_cx_check(tarn_cx *cx)
{
    if (cx->cancel != NULL && atomic_load_explicit(cx->cancel, memory_order_relaxed))
        return tn_fail(cx, TARN_E_CANCELLED, "stopped on request");
    return TARN_OK;
}

int64_t tn_cx_now_ms(const tarn_cx *cx)
{
    return cx->now_ms(cx->now_arg);
}

uint64_t tn_cx_random(tarn_cx *cx)
{
    uint64_t z = cx->id_state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

unsigned tn_cx_jobs(const tarn_cx *cx)
{
    return cx->pool != NULL ? tn_pool_jobs(cx->pool) : 1;
}

void *tn_alloc(tarn_cx *cx, size_t size)
{
    void *block = malloc(size != 0 ? size : 1);

    if (block == NULL)
        tn_fail_memory(cx);
    return block;
}

void *tn_calloc(tarn_cx *cx, size_t count, size_t size)
{
    void *block = calloc(count != 0 ? count : 1, size != 0 ? size : 1);

    if (block == NULL)
        tn_fail_memory(cx);
    return block;
}

void *tn_realloc(tarn_cx *cx, void *block, size_t count, size_t size)
{
    size_t bytes;
    void *grown = NULL;

    if (!__builtin_mul_overflow(count, size, &bytes))
        grown = realloc(block, bytes != 0 ? bytes : 1);
    if (grown == NULL)
        tn_fail_memory(cx);
    return grown;
}

int tn_grow(tarn_cx *cx, void *array, size_t count, size_t *cap, size_t size)
{
    size_t wanted = *cap != 0 ? *cap * 2 : 8;
    void *block;

    if (count < *cap)
        return TARN_OK;
    memcpy(&block, array, sizeof block);
    block = tn_realloc(cx, block, wanted, size);
    if (block == NULL)
        return TARN_E_NOMEM;
    memcpy(array, &block, sizeof block);
    *cap = wanted;
    return TARN_OK;
}
