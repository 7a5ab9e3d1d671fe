/* CRC-32C (Castagnoli, reflected; first and last value inverted), as HBase's files have it. */
#ifndef TN_BASE_CRC32C_H
#define TN_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of `len` bytes that follow those `crc` is of; 0 at the beginning. */
uint32_t tn_crc32c(uint32_t crc, const void *bytes, size_t len);

#endif
