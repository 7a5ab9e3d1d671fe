/* Brings the bytes of a rewrite's inputs into memory, a bounded wave at a time. */
#ifndef TN_EXEC_REWRITE_LOAD_H
#define TN_EXEC_REWRITE_LOAD_H

#include "codec/parquet/file.h"
#include "task/task.h"

/* Output leaves that a pass reads. */
typedef struct tn_wave_want {
    const uint32_t *leaves;
    size_t count;
} tn_wave_want;

/* Where one chunk lies in `bytes` of tn_loaded, and in its file. */
typedef struct tn_loaded_chunk {
    uint64_t at, offset, len;
} tn_loaded_chunk;

/* One input, or one row group of a large one. */
typedef struct tn_loaded {
    const tn_task_input *input;
    uint32_t group;
    bool whole;  /* all of the file is in `bytes` */
    bool stream; /* too large for memory: leaves read through windows of their own */
    tn_parquet parquet;
    uint8_t *bytes; /* from file offset `base` on, where `chunks` is NULL */
    uint64_t base, len;
    tn_loaded_chunk *chunks; /* per leaf of the file, where only some of them are in memory */
    uint64_t reserved;       /* of the memory budget */
    uint64_t read_bytes;     /* of the file, in all; of a streamed group as its leaves will */
} tn_loaded;

/* The bytes of one chunk that is in memory. */
tn_source tn_loaded_source(const tn_loaded *loaded, size_t leaf);

/* Consecutive segments of an output row group whose inputs are in memory together. */
typedef struct tn_wave {
    const tn_segment *segments;
    size_t segment_count;
    tn_loaded *loaded;
    size_t loaded_count;
    uint32_t *of_segment; /* index into loaded */
    tn_store *store;
    const tn_task_rewrite *task;
    tn_wave_want want;
    bool all; /* all leaves are wanted */
    uint64_t bytes_max;
} tn_wave;

/* Chooses as many of the `count` segments as fit (at least one), and reads nothing yet; only the
 * leaves wanted will be, unless the file is tiny or most are (`want` NULL: all). */
int tn_wave_open(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task,
                 const tn_wave_want *want, const tn_segment *segments, size_t count, tn_wave *out);
/* Reads loaded[i]; each once, by any thread. CONFLICT when a file is not the one the plan saw. */
int tn_wave_fetch(tarn_cx *cx, tn_wave *wave, size_t i);
/* Both, in parallel. */
int tn_wave_load(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task,
                 const tn_wave_want *want, const tn_segment *segments, size_t count, tn_wave *out);
void tn_wave_clear(tarn_cx *cx, tn_wave *wave);

#endif
