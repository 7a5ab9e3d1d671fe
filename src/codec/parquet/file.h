/* A Parquet file opened for reading: footer and schema, checked. Immutable after open; many threads
 * may use one. */
#ifndef TN_PARQUET_FILE_H
#define TN_PARQUET_FILE_H

#include "codec/parquet/schema.h"
#include "codec/parquet/source.h"
#include "io/store.h"

typedef struct tn_parquet {
    tn_arena arena;
    tn_str path; /* for messages; kept */
    uint64_t size_bytes;
    tn_footer footer;
    tn_schema schema;
    uint64_t footer_offset, footer_bytes; /* of the Thrift bytes */
    tn_store *store;                      /* borrowed; NULL when opened from memory */
    const uint8_t *memory;                /* borrowed; NULL when opened from a store */
} tn_parquet;

/* Opens and checks: magic at both ends, footer length, schema, chunk counts, types, offsets and
 * sizes within the file, row counts that add up. Encrypted data, and chunks in other files, are
 * UNSUPPORTED by name; a 0-byte file, one without magic, a cut one: CORRUPT with the place and a
 * hint. The last 64 KiB are read at first; a file not larger than that is read once. *out is the
 * caller's, to tn_parquet_close, also after failures (it is then empty). A codec number is not
 * checked here: unpacking is. */
int tn_parquet_open(tarn_cx *cx, tn_store *store, tn_str path, tn_parquet *out);
/* The same over bytes in memory, which must outlive it. */
int tn_parquet_open_memory(tarn_cx *cx, const void *bytes, size_t len, tn_str path,
                           tn_parquet *out);
void tn_parquet_close(tn_parquet *file);

/* First byte and length of a chunk's pages, dictionary included (handles zero, missing and wrong
 * dictionary offsets). */
int tn_parquet_chunk_span(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                          uint64_t *offset, uint64_t *bytes);
/* Indexes of a chunk; *present false when the file has none, or when it contradicts itself or the
 * footer. */
int tn_parquet_column_index(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                            tn_arena *arena, bool *present, tn_column_index *out);
int tn_parquet_offset_index(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                            tn_arena *arena, bool *present, tn_offset_index *out);
/* The bloom filter's blocks (32-byte multiples), in the arena. */
int tn_parquet_bloom(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                     tn_arena *arena, bool *present, tn_str *blocks);
/* The first value of a footer key, or {NULL, 0}. */
tn_str tn_parquet_key_value(const tn_parquet *file, const char *key);

#endif
