/* Bytes of a file for decoders: in memory, or read from a store through a window. One thread at a
 * time. */
#ifndef TN_PARQUET_SOURCE_H
#define TN_PARQUET_SOURCE_H

#include "io/store.h"

typedef struct tn_source {
    const uint8_t *memory; /* in memory: the bytes from file offset `memory_offset` on */
    uint64_t memory_offset, memory_bytes;
    tn_file *file; /* else: borrowed */
    tn_buf window;
    uint64_t window_offset;
    size_t ahead_bytes; /* how much to read at once at least */
} tn_source;

tn_source tn_source_memory(const void *bytes, uint64_t len, uint64_t file_offset);
tn_source tn_source_file(tn_file *file, size_t ahead_bytes);
void tn_source_clear(tn_source *source);
/* `len` bytes at `offset` of the file, valid until the next call on this source; CORRUPT past the
 * end. */
int tn_source_view(tarn_cx *cx, tn_source *source, uint64_t offset, size_t len,
                   const uint8_t **out);

#endif
