/* Rows that memory does not hold: pieces, each of one bucket, in one file that lives as long as the
 * process. */
#ifndef TN_EXEC_ROUTE_SPILL_H
#define TN_EXEC_ROUTE_SPILL_H

#include "io/store.h"
#include "tarn/batch.h"

typedef struct tn_spill_piece {
    uint64_t offset, bytes, checksum;
} tn_spill_piece;

typedef struct tn_spill {
    tn_store *store; /* borrowed, and so is the path */
    tn_str path;
    tn_sink *sink;
    bool made;
    uint64_t bytes;
} tn_spill;

/* Appends an array as tn_gather makes it (offset 0, no dictionaries). */
int tn_spill_pack(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                  tn_buf *out);
/* Writes packed pieces to the end of the file, which the first call creates. */
int tn_spill_write(tarn_cx *cx, tn_spill *spill, tn_str bytes);
/* After the last write. */
int tn_spill_finish(tarn_cx *cx, tn_spill *spill);
/* Reads a piece back. CORRUPT when it is not what was written. The children of *out live and die
 * with it: they are not to be moved out. */
int tn_spill_read(tarn_cx *cx, const tn_spill *spill, tn_file *file,
                  const struct ArrowSchema *schema, const tn_spill_piece *piece,
                  struct ArrowArray *out);
uint64_t tn_spill_checksum(tn_str bytes);
/* Removes the file. */
void tn_spill_clear(tarn_cx *cx, tn_spill *spill);

#endif
