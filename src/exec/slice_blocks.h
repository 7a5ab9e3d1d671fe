/* Which blocks of a slice's logs are merged, and in which order. */
#ifndef TN_EXEC_SLICE_BLOCKS_H
#define TN_EXEC_SLICE_BLOCKS_H

#include "codec/log/log.h"
#include "task/slice.h"

typedef struct tn_slice_block {
    const tn_log *log;
    const tn_log_block *block;
} tn_slice_block;

typedef struct tn_slice_blocks {
    tn_arena arena;
    tn_log *logs; /* opened; their files are closed again */
    size_t log_count;
    tn_slice_block *blocks; /* of data and of deletes */
    size_t count;
    uint64_t content_bytes; /* of those */
    bool partial;           /* one of them holds a part of the columns */
} tn_slice_blocks;

/* Opens the logs, in parallel, and chooses. *out is the caller's to close, also after failures. */
int tn_slice_blocks_open(tarn_cx *cx, tn_store *store, const tn_slice_parts *parts,
                         tn_slice_blocks *out);
void tn_slice_blocks_close(tn_slice_blocks *blocks);
/* False: no block is torn. Else the text tells of those that were passed over. */
bool tn_slice_blocks_note(const tn_slice_blocks *blocks, char *text, size_t size);
/* The choice alone: fills blocks, count, content_bytes and partial from the logs. CORRUPT for a
 * block that does not say which instant wrote it, UNSUPPORTED for commands and kinds that are not
 * known; both name the file and the byte. */
int tn_slice_blocks_choose(tarn_cx *cx, const tn_slice_instants *instants, tn_slice_blocks *blocks);

#endif
