/* Kernels that are built twice, for processors with AVX2 and for all others; the loader picks one.
 * Not under the thread sanitizer: the picking runs before it is ready, and crashes. */
#ifndef TN_BASE_CLONES_H
#define TN_BASE_CLONES_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_THREAD__)
#define TN_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TN_CLONES
#endif

#endif
