/* Brings the bytes of a rewrite's inputs into memory, a bounded wave at a time. */
#ifndef TN_EXEC_REWRITE_LOAD_H
#define TN_EXEC_REWRITE_LOAD_H

#include "codec/parquet/file.h"
#include "task/task.h"

/* One input, or one row group of a large one. */
typedef struct tn_loaded {
    const tn_task_input *input;
    uint32_t group;
    bool whole;  /* all of the file is in `bytes` */
    bool stream; /* too large for memory: leaves read through windows of their own */
    tn_parquet parquet;
    uint8_t *bytes; /* from file offset `base` on */
    uint64_t base, len;
    uint64_t reserved; /* of the memory budget */
} tn_loaded;

/* Consecutive segments of an output row group whose inputs are in memory together. */
typedef struct tn_wave {
    const tn_segment *segments;
    size_t segment_count;
    tn_loaded *loaded;
    size_t loaded_count;
    uint32_t *of_segment; /* index into loaded */
} tn_wave;

/* Loads as many of the `count` segments as fit (at least one), in parallel. CONFLICT when a file is
 * not the one the plan saw. */
int tn_wave_load(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task,
                 const tn_segment *segments, size_t count, tn_wave *out);
void tn_wave_clear(tarn_cx *cx, tn_wave *wave);

#endif
