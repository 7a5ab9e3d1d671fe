/* Makes allocations fail, in any test program.
 *
 * Every test program is linked with --wrap for malloc, calloc, realloc, aligned_alloc and
 * posix_memalign, so the library's own calls pass through here (those inside shared libraries do
 * not). To sweep:
 *
 *     size_t total;
 *     alloc_watch(0);            // count only
 *     run();
 *     total = alloc_unwatch();
 *     for (size_t n = 1; n <= total; n++) {
 *         alloc_watch(n);        // the n-th allocation from here fails, once
 *         rc = run();
 *         alloc_unwatch();
 *         // rc is TARN_OK (the call could do without), or a status with text; nothing is lost
 *     }
 *
 * Leaks are found by the sanitizer at the end of the program. Only the calling thread is watched.
 */
#ifndef TN_TEST_ALLOC_H
#define TN_TEST_ALLOC_H

#include <stddef.h>

void alloc_watch(size_t fail_at);
/* Ends it; returns how many allocations there were. */
size_t alloc_unwatch(void);

#endif
