/* The wrapped allocators. */
#include "unit/alloc.h"

#include <errno.h>
#include <stdbool.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

static _Thread_local bool watching;
static _Thread_local size_t calls, fail_at_call;

void alloc_watch(size_t fail_at)
{
    watching = true;
    calls = 0;
    fail_at_call = fail_at;
}

size_t alloc_unwatch(void)
{
    watching = false;
    return calls;
}

static bool fails(void)
{
    return watching && ++calls == fail_at_call;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    return fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}
